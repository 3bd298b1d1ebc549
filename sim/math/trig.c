/* trig.c: sine, cosine, the angle of a vector, turning towards an angle. Contracts and determinism: trig.h.
 *
 * Sine: a = 64 hi + lo within a quarter, and sin(A + b) = sin A - sin A (1 - cos b) + cos A sin b, where b
 * is below 0.35 degrees: both corrections are small, so that products of 32-bit tables carry them to 2^-40
 * and the only errors that count are the coarse entry's (a quarter of a unit) and the last rounding (half
 * of one).
 * Angle: the ratio of the smaller to the larger component in Q24, and the arctangent by chords of 1/256.
 */
#include <phalanx/trig.h>

#include <phalanx/fixed.h>

#include "math/tables.h"

/* Sine of `angle` in 0..16384, Q2.30. */
static uint32_t sine_of_quarter(uint32_t angle) {
    const uint32_t hi = angle / PHX_SINE_FINE, lo = angle % PHX_SINE_FINE;
    const uint64_t sine = phx_sine_coarse[hi], cosine = phx_sine_coarse[PHX_SINE_STEPS - hi];
    const uint64_t up = cosine * phx_sine_fine[lo] >> 27, down = sine * phx_versine_fine[lo] >> 37;
    return (uint32_t)(((sine << 9) + up - down + (1u << 9)) >> 10); /* Q40 to Q30 */
}

int32_t phx_sin(PhxAngle angle) {
    const uint32_t within = angle % PHX_ANGLE_QUARTER;
    const int32_t sine =
        (int32_t)sine_of_quarter(angle & PHX_ANGLE_QUARTER ? PHX_ANGLE_QUARTER - within : within);
    return angle & PHX_ANGLE_HALF ? -sine : sine;
}

int32_t phx_cos(PhxAngle angle) { return phx_sin((PhxAngle)(angle + PHX_ANGLE_QUARTER)); }

/* atan(low / high) in binary angles (0..8192), for 0 <= low <= high, high > 0. */
static uint32_t angle_of_octant(uint64_t low, uint64_t high) {
    if (high >> 39) { /* keep 39 bits: the ratio moves by less than 2^-38 */
        const unsigned excess = 25 - phx_leading_zeros64(high);
        low >>= excess, high >>= excess;
    }
    const uint32_t ratio = (uint32_t)((low << 24) / high);
    const uint32_t *entry = &phx_atan_table[ratio >> 16];
    const uint64_t step = (uint64_t)(entry[1] - entry[0]) * (ratio & 0xffffu);
    return (entry[0] + (uint32_t)(step >> 16) + 0x8000u) >> 16;
}

PhxAngle phx_angle_of(int64_t x, int64_t y) {
    const uint64_t ax = phx_abs64(x), ay = phx_abs64(y);
    if ((ax | ay) == 0) return 0;
    uint32_t angle = ay > ax ? PHX_ANGLE_QUARTER - angle_of_octant(ax, ay) : angle_of_octant(ay, ax);
    if (x < 0) angle = PHX_ANGLE_HALF - angle;
    return (PhxAngle)(y < 0 ? 0u - angle : angle);
}

PhxAngle phx_angle_approach(PhxAngle from, PhxAngle to, uint32_t max_step) {
    const uint32_t ahead = ((uint32_t)to - from) & 0xffffu;
    if (ahead <= PHX_ANGLE_HALF) return (PhxAngle)(from + (ahead < max_step ? ahead : max_step));
    const uint32_t back = 65536u - ahead;
    return (PhxAngle)(from - (back < max_step ? back : max_step));
}
