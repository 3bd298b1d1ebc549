/* trig.h: headings and directions. Binary angles, sine and cosine, the angle of a vector.
 *
 * In: PhxAngle, a turn in 65536 parts (0 = +x, 16384 = +y, which is down on a map).
 * Out: Q2.30 (2^30 = 1.0).
 * Cost: sine two table loads and two multiplications; angle_of one 64-bit division and one table step.
 * Determinism: the tables are constants (sim/math/tables.c), written by tools/trigtable, which proves the
 * bounds below over all inputs; there is no cache. Everything is folded into one octant or quarter first,
 * so that mirrored and turned inputs give mirrored and turned results exactly.
 */
#ifndef PHALANX_TRIG_H
#define PHALANX_TRIG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint16_t PhxAngle;

#define PHX_ANGLE_QUARTER 16384
#define PHX_ANGLE_HALF    32768
#define PHX_DIR_BITS      30
#define PHX_DIR_ONE       ((int32_t)1 << PHX_DIR_BITS)

/* Sine and cosine in Q2.30. At most 0.76 units of 2^-30 from the truth, exact at multiples of 90 degrees,
 * strictly monotonic on each quarter; sin(-a) = -sin(a), cos(a) = sin(a + 16384), cos(-a) = cos(a). */
int32_t phx_sin(PhxAngle angle);
int32_t phx_cos(PhxAngle angle);

/* The heading of the vector (x, y), any unit; (0, 0) gives 0. At most 0.52 of a binary angle from the truth,
 * with the rounding to a whole one. Exact on axes and diagonals; angle_of(x, -y) = -angle_of(x, y), and a
 * quarter turn of the vector adds exactly 16384. */
PhxAngle phx_angle_of(int64_t x, int64_t y);

/* The turn that leads from `a` to `b` on the shorter way: (b - a) in [-32768, 32767]. */
static inline int32_t phx_angle_diff(PhxAngle a, PhxAngle b) {
    return (int32_t)((((uint32_t)b - (uint32_t)a + PHX_ANGLE_HALF) & 0xffffu)) - PHX_ANGLE_HALF;
}

/* `from`, turned towards `to` on the shorter way by at most `max_step`; exactly half a turn goes in the
 * positive direction. */
PhxAngle phx_angle_approach(PhxAngle from, PhxAngle to, uint32_t max_step);

#ifdef __cplusplus
}
#endif
#endif
