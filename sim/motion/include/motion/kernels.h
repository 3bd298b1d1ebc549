/* kernels.h: the reciprocal of a length, for use with more than one numerator. Internal to motion/.
 *
 * phx_vec2_normalize gives a direction; here the same reciprocal also scales a radius, a leg or an offset.
 * Method: the estimate of <phalanx/fixed.h> (relative error 2^-17) and one step of Newton.
 * Determinism: integers; rounding is symmetric about zero.
 */
#ifndef PHX_MOTION_KERNELS_H
#define PHX_MOTION_KERNELS_H

#include <phalanx/fixed.h>

#include "motion/orca_lines.h"

/* 1 / sqrt(s) = mantissa * 2^(half_shift - 63), relative error below 2^-30. */
typedef struct PhxReciprocal {
    int64_t mantissa; /* in [2^31, 2^32] */
    unsigned half_shift;
} PhxReciprocal;

/* s > 0. */
static inline PhxReciprocal phx_reciprocal_sqrt(uint64_t s) {
    const unsigned shift = phx_leading_zeros64(s) & ~1u;
    const uint64_t n = s << shift;
    const uint64_t r1 = phx_rsqrt_estimate(n);        /* Q20, from below, in [2^20, 2^21] */
    const uint64_t lack = 0u - (n >> 25) * (r1 * r1); /* 1 - n r1^2 in Q79, in [0, 2^-16] */
    /* r1 / sqrt(1 - lack) = r1 (1 + lack / 2 + ..): Q20 * Q36, halved to Q31; the rest is below 2^-33 */
    const uint64_t r2 = (r1 << 11) + ((r1 * (lack >> 43) + ((uint64_t)1 << 25)) >> 26);
    return (PhxReciprocal){.mantissa = (int64_t)r2, .half_shift = shift / 2};
}

/* x / sqrt(s) * 2^bits, rounded, for bits <= 30 and |x| <= 2^30. */
static inline int64_t phx_reciprocal_scale(int64_t x, PhxReciprocal r, unsigned bits) {
    return phx_round_shift(x * r.mantissa, 63 - bits - r.half_shift);
}

/* (x, y) / sqrt(s), the direction of a vector with x^2 + y^2 <= s: Q30, each component at most 1.5 units from
 * the truth. The shifts are constant, which saves a third of the instructions of two calls of
 * phx_reciprocal_scale. */
static inline PhxDir phx_reciprocal_dir(int64_t x, int64_t y, PhxReciprocal r) {
    /* x * 2^half_shift <= sqrt(n) and mantissa / 2 = 2^62 / sqrt(n): products up to 2^62 and a little */
    const int64_t up = (int64_t)1 << r.half_shift, m = (r.mantissa + 1) >> 1;
    return phx_dir((int32_t)phx_round_shift(x * up * m, 32), (int32_t)phx_round_shift(y * up * m, 32));
}

static inline fix16_t phx_orca_clamp_offset(int64_t offset) {
    if (offset > PHX_ORCA_OFFSET_MAX) return PHX_ORCA_OFFSET_MAX;
    return offset < -PHX_ORCA_OFFSET_MAX ? -PHX_ORCA_OFFSET_MAX : (fix16_t)offset;
}

#endif
