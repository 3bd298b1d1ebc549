/* formation_rows.h: what the shapes of a formation share; private to motion/.
 *
 * Determinism: plain values, worked out from how many units of each rank there are and their largest bodies.
 */
#ifndef PHX_MOTION_FORMATION_ROWS_H
#define PHX_MOTION_FORMATION_ROWS_H

#include <phalanx/formation.h>

/* The units of one rank. */
typedef struct PhxFormationRank {
    uint32_t count;
    fix16_t radius; /* of the largest; 0 where count is 0 */
    fix16_t pitch;  /* between centres in a row; even, so that its half is exact */
} PhxFormationRank;

/* Slots of rings around the origin. False: they reach too far. */
bool phx_formation_rings(const PhxFormationRank ranks[PHX_FORMATION_RANKS], fix16_t gap,
                         PhxFormationSlot *slots);
/* Slots of a pattern. Errors: PHX_ERROR_FULL, PHX_ERROR_RANGE. */
PHX_MUST_USE PhxStatus phx_formation_pattern(const PhxFormationSpec *spec,
                                             const PhxFormationRank ranks[PHX_FORMATION_RANKS],
                                             PhxFormationSlot *slots);

#endif
