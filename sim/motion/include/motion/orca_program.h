/* orca_program.h: the two-dimensional linear program of ORCA. Internal to motion/ and its tests. */
#ifndef PHX_MOTION_ORCA_PROGRAM_H
#define PHX_MOTION_ORCA_PROGRAM_H

#include "motion/orca_lines.h"

/* The velocity nearest to `preferred` with |v| <= max_speed in all `count` (<= PHX_ORCA_MAX_LINES)
 * half-planes. Where there is none: the one that minimises the largest violation of lines[hard..], with
 * lines[..hard) kept; where those alone have no common point, their largest violation is minimised first,
 * then that of the others at this price. `flags` (never null) gets PHX_ORCA_CROWDED and PHX_ORCA_WALLED
 * accordingly. |preferred| <= 2^12 units a second, max_speed 0..64. The result's length is <= max_speed.
 * Tolerance: no half-plane is violated by more than 2^-14 beyond the optimum, and the distance to `preferred`
 * (or the largest violation) is at most 2^-10 above the optimum. */
PhxVec2 phx_orca_program(const PhxOrcaLine *lines, uint32_t count, uint32_t hard, PhxVec2 preferred,
                         fix16_t max_speed, uint8_t *flags);

/* The same, where the half-planes behind the first `hard` are those of `count - hard` neighbours, made as
 * they are needed: most of them permit what the unit is about to do. `lines` has room for `count` and holds
 * the first `hard`; what it holds afterwards is no result. Where creep > 0 (raw, units
 * a second): the one nearest to `preferred` among those that violate nothing by `creep` more than
 * need be; nobody is pressed in farther than a sixth by that. */
PhxVec2 phx_orca_program_pairs(PhxOrcaLine *lines, uint32_t count, uint32_t hard, const PhxOrcaPairs *pairs,
                               PhxVec2 preferred, fix16_t max_speed, fix16_t creep, uint8_t *flags);

/* The half-plane in which a unit comes no nearer to neighbour i than an overlap of a sixth of both radii, if
 * that one does the same: it counts where a unit creeps. False: it can't come so near within a tick. */
bool phx_orca_contact_line(const PhxOrcaPairs *pairs, uint32_t i, int64_t max_speed, bool creeps,
                           PhxOrcaLine *out);

#endif
