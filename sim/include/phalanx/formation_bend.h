/* formation_bend.h: how close a formation stands by the bend of its way: tight on straights, open in bends.
 *
 * In a bend of curvature k the files at half the width w inside of the middle have a way that is shorter by
 * k w / 2: files that keep their places along the middle come closer there by so much. So distances are
 * divided by what is left, and a little more is given where the speed throws bodies outwards.
 *
 * In: curvature (phx_spline_curvature), speed, width. Out: a factor for the distances of slots. Cost: a
 * division. Determinism: integers; a pure function.
 */
#ifndef PHALANX_FORMATION_BEND_H
#define PHALANX_FORMATION_BEND_H

#include <phalanx/fixed.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PHX_FORMATION_BEND_TIGHT = 58982,           /* 0.9, Q16.16: on a straight */
    PHX_FORMATION_BEND_OPEN = 2 * PHX_FIX_ONE,  /* at most */
    PHX_FORMATION_BEND_FORCE = 16 * PHX_FIX_ONE /* units / s^2 at which speed opens by a quarter: the most */
};

/* The factor, Q16.16, TIGHT .. OPEN: TIGHT - 1 + 1 / (1 - k w / 2) + min(1, v^2 k / FORCE) / 4. `curvature`:
 * Q16.16 of 1 / units, any; `speed` (units a second) and `width` (units): 0..64, and taken to lie there. It
 * rises with each of them, without a jump; on a straight it is TIGHT. Error: 2^-14. */
fix16_t phx_formation_bend(uint32_t curvature, fix16_t speed, fix16_t width);

/* The gap between bodies that the factor makes of one: the distance of two bodies' centres, `diameter` +
 * `gap` (each 0..64 units), times `factor`, less `diameter`; never below 0, so that bodies don't overlap
 * however tight it is. */
fix16_t phx_formation_bend_gap(fix16_t gap, fix16_t diameter, fix16_t factor);

#ifdef __cplusplus
}
#endif
#endif
