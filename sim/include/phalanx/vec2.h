/* vec2.h: vectors of the plane. Q16.16 vectors, Q2.30 directions, and their products in 64 bits.
 *
 * Range: any component is allowed unless a line says otherwise, and nothing here is undefined. Positions
 * lie within +-8192 units (raw +-2^29), so that a difference of two is at most 2^30 raw and its square sums
 * fit with room.
 * Cost: inline, without division; on x86-64 normalize 51 instructions, 64 with the length; dir_scale 13.
 * Determinism: integers only; each rounding is symmetric about zero, so that a vector mirrored at either
 * axis, or with its components swapped, gives the mirrored or swapped result bit for bit.
 */
#ifndef PHALANX_VEC2_H
#define PHALANX_VEC2_H

#include <phalanx/fixed.h>
#include <phalanx/trig.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A point or a displacement in world units, Q16.16. */
typedef struct PhxVec2 {
    fix16_t x, y;
} PhxVec2;

/* A unit direction, Q2.30; (0, 0) stands for none. */
typedef struct PhxDir {
    int32_t x, y;
} PhxDir;

static inline PhxVec2 phx_vec2(fix16_t x, fix16_t y) {
    PhxVec2 v;
    v.x = x, v.y = y;
    return v;
}
static inline PhxDir phx_dir(int32_t x, int32_t y) {
    PhxDir d;
    d.x = x, d.y = y;
    return d;
}

/* Sum, difference, opposite. A result beyond Q16.16 wraps: keep operands within +-2^30 raw. */
static inline PhxVec2 phx_vec2_add(PhxVec2 a, PhxVec2 b) {
    return phx_vec2((fix16_t)((uint32_t)a.x + (uint32_t)b.x), (fix16_t)((uint32_t)a.y + (uint32_t)b.y));
}
static inline PhxVec2 phx_vec2_sub(PhxVec2 a, PhxVec2 b) {
    return phx_vec2((fix16_t)((uint32_t)a.x - (uint32_t)b.x), (fix16_t)((uint32_t)a.y - (uint32_t)b.y));
}
static inline PhxVec2 phx_vec2_neg(PhxVec2 v) {
    return phx_vec2((fix16_t)(0u - (uint32_t)v.x), (fix16_t)(0u - (uint32_t)v.y));
}
static inline bool phx_vec2_equal(PhxVec2 a, PhxVec2 b) { return a.x == b.x && a.y == b.y; }
static inline bool phx_vec2_is_zero(PhxVec2 v) { return (v.x | v.y) == 0; }

/* v * factor (Q16.16), rounded, saturating. */
static inline PhxVec2 phx_vec2_scale(PhxVec2 v, fix16_t factor) {
    return phx_vec2(phx_fix_mul(v.x, factor), phx_fix_mul(v.y, factor));
}

/* x1 * y1 + x2 * y2 and x1 * y2 - x2 * y1 of 32-bit factors, exact: they fit unless all four are INT32_MIN
 * (then the sum wraps). */
static inline int64_t phx_dot32(int32_t ax, int32_t ay, int32_t bx, int32_t by) {
    return (int64_t)((uint64_t)((int64_t)ax * bx) + (uint64_t)((int64_t)ay * by));
}
static inline int64_t phx_det32(int32_t ax, int32_t ay, int32_t bx, int32_t by) {
    return (int64_t)((uint64_t)((int64_t)ax * by) - (uint64_t)((int64_t)ay * bx));
}

/* Dot product and determinant (z of the cross product: > 0 where b lies clockwise of a on a map with y down),
 * Q32.32, exact. */
static inline int64_t phx_vec2_dot(PhxVec2 a, PhxVec2 b) { return phx_dot32(a.x, a.y, b.x, b.y); }
static inline int64_t phx_vec2_det(PhxVec2 a, PhxVec2 b) { return phx_det32(a.x, a.y, b.x, b.y); }
/* The same of two directions, Q4.60; and of a vector with a direction, in raw Q16.16, rounded. The last two
 * are the lengths of v along the direction and across it. */
static inline int64_t phx_dir_dot(PhxDir a, PhxDir b) { return phx_dot32(a.x, a.y, b.x, b.y); }
static inline int64_t phx_dir_det(PhxDir a, PhxDir b) { return phx_det32(a.x, a.y, b.x, b.y); }
static inline int64_t phx_vec2_dot_dir(PhxVec2 v, PhxDir d) {
    return phx_round_shift(phx_dot32(v.x, v.y, d.x, d.y), PHX_DIR_BITS);
}
static inline int64_t phx_vec2_det_dir(PhxVec2 v, PhxDir d) {
    return phx_round_shift(phx_det32(v.x, v.y, d.x, d.y), PHX_DIR_BITS);
}

/* |v|^2, Q32.32, exact; at most 2^63. */
static inline uint64_t phx_vec2_length_sq(PhxVec2 v) {
    return (uint64_t)((int64_t)v.x * v.x) + (uint64_t)((int64_t)v.y * v.y);
}
/* |v| raw Q16.16, rounded down; below 2^31 where the components are below 2^30 * sqrt 2. */
static inline uint32_t phx_vec2_length(PhxVec2 v) { return phx_isqrt64(phx_vec2_length_sq(v)); }
/* |a - b|^2; any two points within +-2^30 raw. */
static inline uint64_t phx_vec2_distance_sq(PhxVec2 a, PhxVec2 b) {
    return phx_vec2_length_sq(phx_vec2_sub(a, b));
}

/* phx_vec2_normalize for the null vector, and for lengths of 2^30 raw (16384 units) and more. */
uint32_t phx_vec2_normalize_rare(PhxVec2 v, PhxDir *out);

/* The direction of v, and its length (as phx_vec2_length). For the null vector: (0, 0) and 0. Each component
 * is at most 1 unit of 2^-30 from the truth, and exactly +-2^30 on an axis. Inlined, a caller that drops the
 * length doesn't pay for it. The scale is odd and a component below 2^30, so that no product lies halfway
 * between two results: rounding half up is then symmetric about zero. */
static inline uint32_t phx_vec2_normalize(PhxVec2 v, PhxDir *out) {
    const uint64_t length_sq = phx_vec2_length_sq(v);
    if (length_sq - 1 >= ((uint64_t)1 << 60) - 1) return phx_vec2_normalize_rare(v, out);
    const unsigned half_shift = phx_leading_zeros64(length_sq) / 2;
    const uint64_t n = length_sq << (2 * half_shift);
    const uint64_t r = phx_rsqrt(n);
    const int64_t scale = (int64_t)(r << (half_shift - 2) | 1); /* 2^62 / length */
    out->x = (int32_t)((v.x * scale + ((int64_t)1 << 31)) >> 32);
    out->y = (int32_t)((v.y * scale + ((int64_t)1 << 31)) >> 32);
    const uint64_t s = ((n >> 32) * r) >> 32 >> half_shift; /* less than 1 below the root */
    return (uint32_t)(s + (uint64_t)(length_sq - s * s > 2 * s));
}

/* direction * length, rounded to nearest, half away from zero. length > INT32_MIN. */
static inline PhxVec2 phx_dir_scale(PhxDir direction, fix16_t length) {
    return phx_vec2((fix16_t)phx_round_shift((int64_t)direction.x * length, PHX_DIR_BITS),
                    (fix16_t)phx_round_shift((int64_t)direction.y * length, PHX_DIR_BITS));
}
/* The direction a quarter turn on: +x becomes +y. */
static inline PhxDir phx_dir_turn_quarter(PhxDir d) { return phx_dir(-d.y, d.x); }
static inline PhxDir phx_dir_neg(PhxDir d) { return phx_dir(-d.x, -d.y); }
/* The direction of a heading. */
static inline PhxDir phx_dir_of_angle(PhxAngle angle) { return phx_dir(phx_cos(angle), phx_sin(angle)); }

/* v itself where |v| <= max, else a vector of its direction, each component rounded towards zero from max
 * times the direction: never longer than max, at most 2 raw shorter. max <= 0 gives (0, 0). */
PhxVec2 phx_vec2_clamp_length(PhxVec2 v, fix16_t max);

#ifdef __cplusplus
}
#endif
#endif
