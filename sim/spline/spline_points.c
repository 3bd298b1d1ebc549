/* spline_points.c: see spline_points.h: equal steps along a line, and points made smooth.
 *
 * Determinism: integers; a leg's length is a square root in Q24 of an exact sum, places on it are proportions
 * rounded to nearest.
 */
#include <phalanx/spline_points.h>

#include "spline/spline_internal.h"

enum { LENGTH_BITS = 24, PART_BITS = 30, HALF = 32768, BACK = -34734 /* -0.53 */ };

/* Of a leg, Q24: below 2^39. The root of a square of up to 2^62 raw, with up to 8 bits more where there is
 * room for them. */
static int64_t leg_length(PhxSplinePoint a, PhxSplinePoint b) {
    const int64_t dx = (int64_t)b.x - a.x, dy = (int64_t)b.y - a.y, dz = (int64_t)b.z - a.z;
    const uint64_t square = (uint64_t)(dx * dx) + (uint64_t)(dy * dy) + (uint64_t)(dz * dz); /* <= 3 * 2^60 */
    if (square == 0) return 0;
    unsigned shift = phx_leading_zeros64(square) / 2;
    if (shift > LENGTH_BITS - PHX_FIX_BITS) shift = LENGTH_BITS - PHX_FIX_BITS;
    return (int64_t)phx_isqrt64(square << (2 * shift)) << (LENGTH_BITS - PHX_FIX_BITS - shift);
}

int64_t phx_spline_line_length(const PhxSplinePoint *points, uint32_t count, bool closed) {
    int64_t length = 0;
    for (uint32_t i = 0; i + 1 < count; i++) length += leg_length(points[i], points[i + 1]);
    return closed && count > 1 ? length + leg_length(points[count - 1], points[0]) : length;
}

uint32_t phx_spline_resample_count(const PhxSplinePoint *points, uint32_t count, bool closed,
                                   fix16_t spacing) {
    const uint32_t least = closed ? 3 : 2;
    if (spacing <= 0) return least;
    const int64_t step = (int64_t)spacing * (1 << (LENGTH_BITS - PHX_FIX_BITS));
    const int64_t steps = (phx_spline_line_length(points, count, closed) + step / 2) / step;
    const int64_t wanted = steps + !closed;
    return wanted > PHX_SPLINE_POINTS_MAX ? PHX_SPLINE_POINTS_MAX + 1
           : wanted < least               ? least
                                          : (uint32_t)wanted;
}

static PhxStatus check(const PhxSplinePoint *points, uint32_t count, bool closed) {
    if (!points || count < (closed ? 3u : 2u)) return PHX_ERROR_ARGUMENT;
    if (count > PHX_SPLINE_POINTS_MAX) return PHX_ERROR_LIMIT;
    for (uint32_t i = 0; i < count; i++)
        if (!phx_spline_is_inside(points[i])) return PHX_ERROR_RANGE;
    return PHX_OK;
}

/* a + (b - a) far / length, 0 <= far <= length < 2^39. */
static PhxSplinePoint on_leg(PhxSplinePoint a, PhxSplinePoint b, int64_t far, int64_t length) {
    while (length >= (int64_t)1 << 32) length >>= 1, far >>= 1;
    const int64_t part = length > 0 ? phx_div_round(far * (1 << PART_BITS), length) : 0;
    return (PhxSplinePoint){(fix16_t)(a.x + phx_round_shift(((int64_t)b.x - a.x) * part, PART_BITS)),
                            (fix16_t)(a.y + phx_round_shift(((int64_t)b.y - a.y) * part, PART_BITS)),
                            (fix16_t)(a.z + phx_round_shift(((int64_t)b.z - a.z) * part, PART_BITS))};
}

/* length * k / of without overflow: length < 2^56, k <= of <= 2^17. */
static int64_t share_of(int64_t length, uint32_t k, uint32_t of) {
    return length / of * k + length % of * k / of;
}

PhxStatus phx_spline_resample(const PhxSplinePoint *points, uint32_t count, bool closed, PhxSplinePoint *out,
                              uint32_t wanted) {
    const PhxStatus status = check(points, count, closed);
    if (status != PHX_OK) return status;
    if (!out || wanted < (closed ? 3u : 2u)) return PHX_ERROR_ARGUMENT;
    if (wanted > PHX_SPLINE_POINTS_MAX) return PHX_ERROR_LIMIT;
    const int64_t length = phx_spline_line_length(points, count, closed);
    if (length == 0) return PHX_ERROR_RANGE;
    const uint32_t steps = closed ? wanted : wanted - 1, legs = closed ? count : count - 1;
    uint32_t leg = 0;
    int64_t begin = 0, wide = leg_length(points[0], points[1]);
    for (uint32_t i = 0; i < wanted; i++) {
        const int64_t at = share_of(length, i, steps);
        while (leg + 1 < legs && at > begin + wide) {
            begin += wide;
            leg++;
            wide = leg_length(points[leg], points[(leg + 1) % count]);
        }
        out[i] = on_leg(points[leg], points[(leg + 1) % count], at - begin, wide);
    }
    if (!closed) out[wanted - 1] = points[count - 1];
    return PHX_OK;
}

static fix16_t limited(int64_t v) {
    const int64_t most = PHX_SPLINE_COORDINATE_MAX * (int64_t)PHX_FIX_ONE;
    return (fix16_t)(v < -most ? -most : v > most ? most : v);
}

/* v + part ((before + after) / 2 - v), part in Q16. */
static fix16_t drawn(fix16_t before, fix16_t v, fix16_t after, int64_t part) {
    const int64_t pull = (int64_t)before + after - 2 * (int64_t)v;
    return limited(v + phx_round_shift(pull * part, PHX_FIX_BITS + 1));
}

static void draw_all(PhxSplinePoint *points, uint32_t count, bool closed, int64_t part) {
    const PhxSplinePoint first = points[0];
    PhxSplinePoint before = closed ? points[count - 1] : first;
    for (uint32_t i = closed ? 0 : 1; i + (closed ? 0 : 1) < count; i++) {
        const PhxSplinePoint is = points[i], after = i + 1 < count ? points[i + 1] : first;
        points[i] =
            (PhxSplinePoint){drawn(before.x, is.x, after.x, part), drawn(before.y, is.y, after.y, part),
                             drawn(before.z, is.z, after.z, part)};
        before = is;
    }
}

PhxStatus phx_spline_smooth(PhxSplinePoint *points, uint32_t count, bool closed, uint32_t passes) {
    const PhxStatus status = check(points, count, closed);
    if (status != PHX_OK) return status;
    if (passes > PHX_SPLINE_PASSES_MAX) return PHX_ERROR_ARGUMENT;
    for (uint32_t k = 0; k < passes; k++) {
        draw_all(points, count, closed, HALF);
        draw_all(points, count, closed, BACK);
    }
    return PHX_OK;
}
