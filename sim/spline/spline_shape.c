/* spline_shape.c: see spline.h: speed, curvature and heading of a sample.
 *
 * Vectors of any size are brought to 30 bits first, with the shift kept; the rest is exact products in 64
 * bits.
 */
#include <phalanx/spline.h>
#include <phalanx/vec2.h>

enum { BITS = 30, RATE_BITS = 24 };

typedef struct Scaled {
    int64_t x, y, z; /* below 2^30 in size */
    int shift;       /* the vector is this times 2^shift */
} Scaled;

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static int64_t moved(int64_t v, int shift) {
    return shift > 0 ? phx_round_shift(v, (unsigned)shift) : v * ((int64_t)1 << -shift);
}

static Scaled scaled(const PhxSplineRate *r) {
    const uint64_t size = larger(larger(phx_abs64(r->x), phx_abs64(r->y)), phx_abs64(r->z));
    if (size == 0) return (Scaled){0, 0, 0, 0};
    const int shift = 64 - (int)phx_leading_zeros64(size) - (BITS - 1); /* a carry of rounding has room */
    return (Scaled){moved(r->x, shift), moved(r->y, shift), moved(r->z, shift), shift};
}

/* Below 2^31. */
static uint64_t length_of(int64_t x, int64_t y, int64_t z) {
    return phx_isqrt64((uint64_t)(x * x + y * y + z * z));
}

/* v * 2^shift, saturated to 32 bits. */
static uint32_t raised(uint64_t v, int shift) {
    if (shift <= 0) {
        const uint64_t less = shift > -64 ? v >> -shift : 0;
        return less > UINT32_MAX ? UINT32_MAX : (uint32_t)less;
    }
    return v == 0                                             ? 0
           : shift >= 32 || v > (uint64_t)UINT32_MAX >> shift ? UINT32_MAX
                                                              : (uint32_t)(v << shift);
}

uint32_t phx_spline_speed(const PhxSplineRate *first) {
    const Scaled a = scaled(first);
    return raised(length_of(a.x, a.y, a.z), a.shift - (RATE_BITS - PHX_FIX_BITS));
}

uint32_t phx_spline_curvature(const PhxSplineSample *sample) {
    const Scaled a = scaled(&sample->first), b = scaled(&sample->second);
    const uint64_t speed = length_of(a.x, a.y, a.z);
    if (speed == 0) return 0;
    /* the cross product is below 2^61; half of its bits are enough */
    const PhxSplineRate cross = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    const Scaled c = scaled(&cross);
    const uint64_t bend = length_of(c.x, c.y, c.z); /* times 2^(c.shift + a.shift + b.shift) */
    /* bend / speed^3 in three divisions, each with 30 bits more; speed is in [2^28, 2^31) */
    uint64_t q = (bend << 30) / speed;
    q = (q << 30) / speed;
    q = (q << 30) / speed;
    /* units: (Q24 * Q24) / Q24^3 = 2^24 too few; to Q16 */
    return raised(q, c.shift + a.shift + b.shift - 3 * a.shift - 90 + RATE_BITS + PHX_FIX_BITS);
}

PhxAngle phx_spline_heading(const PhxSplineRate *first, PhxAngle otherwise) {
    const PhxSplineRate flat = {first->x, first->y, 0};
    const Scaled a = scaled(&flat);
    if ((a.x | a.y) == 0) return otherwise;
    return phx_angle_of((fix16_t)a.x, (fix16_t)a.y);
}
