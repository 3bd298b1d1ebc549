/* vec2.c: the cases of vec2.h that aren't hot enough to be inlined. Contracts and determinism: vec2.h. */
#include <phalanx/vec2.h>

/* One component of a long vector: |v| * r, rounded, with its sign. r is 2^32 / length in Q31. */
static int32_t normalize_component(fix16_t v, uint64_t r, unsigned bits) {
    const int32_t magnitude = (int32_t)((phx_abs64(v) * r + ((uint64_t)1 << (bits - 1))) >> bits);
    return v < 0 ? -magnitude : magnitude;
}

uint32_t phx_vec2_normalize_rare(PhxVec2 v, PhxDir *out) {
    *out = phx_dir(0, 0);
    const uint64_t length_sq = phx_vec2_length_sq(v);
    if (length_sq == 0) return 0;
    const unsigned half_shift = phx_leading_zeros64(length_sq) / 2;
    const uint64_t r = (phx_rsqrt(length_sq << (2 * half_shift)) + 1) >> 1;
    *out =
        phx_dir(normalize_component(v.x, r, 33 - half_shift), normalize_component(v.y, r, 33 - half_shift));
    return phx_isqrt64(length_sq);
}

/* One component of direction * length, towards zero. */
static fix16_t scale_down(int32_t direction, fix16_t length) {
    const int64_t product = (int64_t)(phx_abs64(direction) * (uint64_t)length >> PHX_DIR_BITS);
    return (fix16_t)(direction < 0 ? -product : product);
}

static fix16_t towards_zero(fix16_t v) { return v > 0 ? v - 1 : v < 0 ? v + 1 : 0; }

PhxVec2 phx_vec2_clamp_length(PhxVec2 v, fix16_t max) {
    if (max <= 0) return phx_vec2(0, 0);
    const uint64_t max_sq = (uint64_t)max * (uint64_t)max;
    if (phx_vec2_length_sq(v) <= max_sq) return v;
    PhxDir direction;
    (void)phx_vec2_normalize(v, &direction);
    PhxVec2 clamped = phx_vec2(scale_down(direction.x, max), scale_down(direction.y, max));
    /* The direction's own error may leave a unit too much where the length is large. Both components shrink,
     * which keeps a swapped or mirrored vector's result swapped or mirrored. */
    while (phx_vec2_length_sq(clamped) > max_sq)
        clamped = phx_vec2(towards_zero(clamped.x), towards_zero(clamped.y));
    return clamped;
}
