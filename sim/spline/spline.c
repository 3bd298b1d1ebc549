/* spline.c: see spline.h: making a spline, and its points and derivatives.
 *
 * A point is the sum of the piece's degree + 1 control points, weighted by the basis functions, which the
 * recurrence of Cox and de Boor gives without recursion: each of a degree is a blend of two of the degree
 * below, by (u - t_i) / (t_{i+s} - t_i) = (u - t_i) times the kept reciprocal, in Q31. Weights are Q32 and
 * sum to one by construction, as the sum is of differences from the first point; each errs by some 2^-32, a
 * difference is below 2^30 raw. Derivatives go through de Boor's scheme instead, d_i = d_{i-1} + part (d_i -
 * d_{i-1}), in Q24: they may be large.
 */
#include <phalanx/spline.h>

#include "base/arena.h"
#include "base/assert.h"
#include "spline/spline_internal.h"

enum {
    RATE_BITS = 24, /* of derivatives */
    INVERSE_BITS = 63,
    KNOT_MAX = PHX_SPLINE_COORDINATE_MAX * PHX_FIX_ONE
};
static const int64_t rate_max = (int64_t)1 << 57;

typedef struct Wide {
    int64_t x, y, z;
} Wide;

void phx_spline_layout(PhxSpline *spline, PhxArena *arena, uint32_t capacity, uint32_t degree_max) {
    PHX_ASSERT(capacity >= 1 && capacity <= PHX_SPLINE_POINTS_MAX, capacity, 0);
    PHX_ASSERT(degree_max >= 1 && degree_max <= PHX_SPLINE_DEGREE_MAX, degree_max, 0);
    const size_t points = (size_t)capacity + degree_max, knots = points + degree_max + 1;
    *spline = (PhxSpline){.capacity = capacity, .degree_max = degree_max};
    spline->point = PHX_ARENA_ARRAY(arena, PhxSplinePoint, points);
    spline->knot = PHX_ARENA_ARRAY(arena, fix16_t, knots);
    spline->inverse = PHX_ARENA_ARRAY(arena, uint64_t, knots * degree_max);
}

bool phx_spline_is_inside(PhxSplinePoint p) {
    return p.x >= -KNOT_MAX && p.x <= KNOT_MAX && p.y >= -KNOT_MAX && p.y <= KNOT_MAX && p.z >= -KNOT_MAX &&
           p.z <= KNOT_MAX;
}

/* Knots rise, none is there more than degree + 1 times, inside of the domain at most degree times. */
static PhxStatus check_knots(const fix16_t *knots, uint32_t count, uint32_t degree) {
    uint32_t same = 0;
    for (uint32_t i = 0; i < count + degree + 1; i++) {
        if (knots[i] < -KNOT_MAX || knots[i] > KNOT_MAX) return PHX_ERROR_RANGE;
        if (i > 0 && knots[i] < knots[i - 1]) return PHX_ERROR_RANGE;
        same = i > 0 && knots[i] == knots[i - 1] ? same + 1 : 1;
        const bool inside = knots[i] > knots[degree] && knots[i] < knots[count];
        if (same > degree + !inside) return PHX_ERROR_RANGE;
    }
    return knots[degree] < knots[count] ? PHX_OK : PHX_ERROR_RANGE;
}

void phx_spline_rebuild(PhxSpline *spline, uint32_t first, uint32_t last) {
    const uint32_t knots = spline->count + spline->degree + 1;
    for (uint32_t i = first > spline->degree ? first - spline->degree : 0; i <= last && i < knots; i++)
        for (uint32_t s = 1; s <= spline->degree; s++) {
            const uint64_t length =
                i + s < knots ? (uint64_t)((int64_t)spline->knot[i + s] - spline->knot[i]) : 0;
            spline->inverse[(size_t)i * spline->degree_max + s - 1] =
                length ? ((UINT64_C(1) << INVERSE_BITS) + length / 2) / length : 0;
        }
}

static fix16_t knot_of_kind(PhxSplineKind kind, uint32_t degree, uint32_t count, uint32_t i) {
    const int64_t whole = (int64_t)i - degree;
    if (kind == PHX_SPLINE_PERIODIC) return (fix16_t)(whole * PHX_FIX_ONE);
    const int64_t last = (int64_t)count - degree;
    return (fix16_t)((whole < 0 ? 0 : whole > last ? last : whole) * PHX_FIX_ONE);
}

PhxStatus phx_spline_set(PhxSpline *spline, PhxSplineKind kind, uint32_t degree, const PhxSplinePoint *points,
                         uint32_t count, const fix16_t *knots) {
    if (degree < 1 || degree > spline->degree_max || count < degree + 1 || !points) return PHX_ERROR_ARGUMENT;
    if (kind > PHX_SPLINE_GIVEN || (kind == PHX_SPLINE_GIVEN) != (knots != NULL)) return PHX_ERROR_ARGUMENT;
    if (count > spline->capacity) return PHX_ERROR_LIMIT;
    for (uint32_t i = 0; i < count; i++)
        if (!phx_spline_is_inside(points[i])) return PHX_ERROR_RANGE;
    if (!knots && count > PHX_SPLINE_COORDINATE_MAX) return PHX_ERROR_RANGE;
    const PhxStatus status = knots ? check_knots(knots, count, degree) : PHX_OK;
    if (status != PHX_OK) return status;
    spline->degree = degree;
    spline->own = count;
    spline->periodic = kind == PHX_SPLINE_PERIODIC;
    spline->count = count + (spline->periodic ? degree : 0);
    for (uint32_t i = 0; i < spline->count; i++) spline->point[i] = points[i % count];
    for (uint32_t i = 0; i < spline->count + degree + 1; i++)
        spline->knot[i] = knots ? knots[i] : knot_of_kind(kind, degree, count, i);
    phx_spline_rebuild(spline, 0, spline->count + degree);
    return PHX_OK;
}

fix16_t phx_spline_begin(const PhxSpline *spline) { return spline->knot[spline->degree]; }
fix16_t phx_spline_end(const PhxSpline *spline) { return spline->knot[spline->count]; }

uint32_t phx_spline_piece(const PhxSpline *spline, fix16_t u, uint32_t hint) {
    const fix16_t *knot = spline->knot;
    uint32_t low = spline->degree, high = spline->count - 1;
    if (hint >= low && hint <= high && knot[hint] <= u && u < knot[hint + 1]) return hint;
    const int64_t guess =
        low + (((int64_t)u - knot[low]) >> PHX_FIX_BITS); /* where a piece is one unit long */
    if (guess >= low && guess <= high && knot[guess] <= u && u < knot[guess + 1]) return (uint32_t)guess;
    while (knot[high] == knot[high + 1]) high--; /* the last piece that has a length */
    while (low < high) {
        const uint32_t middle = (low + high + 1) / 2;
        if (knot[middle] <= u)
            low = middle;
        else
            high = middle - 1;
    }
    while (knot[low] == knot[low + 1]) low++; /* u before the first */
    return low;
}

static fix16_t clamp_to(const PhxSpline *spline, fix16_t u) {
    const fix16_t begin = phx_spline_begin(spline), end = phx_spline_end(spline);
    return u < begin ? begin : u > end ? end : u;
}

/* a + (b - a) part / 2^32, for |b - a| < 2^62 and part in 0..2^32. */
static inline int64_t between(int64_t a, int64_t b, uint64_t part) {
    const int64_t d = b - a, high = d >> 32;
    const uint64_t low = (uint64_t)d & UINT32_MAX;
    return a + high * (int64_t)part + (int64_t)((low * part + (UINT64_C(1) << 31)) >> 32);
}

/* (u - t_i) / (t_{i+s} - t_i) in Q32; u, in Q32 itself, lies between the two. */
static inline uint64_t part_of(const PhxSpline *spline, uint32_t i, uint32_t s, int64_t u) {
    const uint64_t from = (uint64_t)(u - (int64_t)spline->knot[i] * PHX_FIX_ONE);
    const uint64_t inverse = spline->inverse[(size_t)i * spline->degree_max + s - 1];
    /* 2^63 at most, with what lies below a raw unit of the parameter */
    const uint64_t part = (from >> PHX_FIX_BITS) * inverse + (from & 65535) * (inverse >> PHX_FIX_BITS);
    return (part + (UINT64_C(1) << 30)) >> 31;
}

/* The stage of de Boor's scheme that blends over s knot spans. */
static inline void run_stage(const PhxSpline *spline, Wide *d, uint32_t degree, uint32_t s, uint32_t piece,
                             int64_t u) {
    for (uint32_t j = degree; j > degree - s; j--) {
        const uint64_t part = part_of(spline, piece - degree + j, s, u);
        d[j].x = between(d[j - 1].x, d[j].x, part);
        d[j].y = between(d[j - 1].y, d[j].y, part);
        d[j].z = between(d[j - 1].z, d[j].z, part);
    }
}

/* De Boor's scheme over d[0..degree], the control points (or those of a derivative) that end at `piece`. */
static inline Wide run_scheme(const PhxSpline *spline, Wide *d, uint32_t degree, uint32_t piece, int64_t u) {
    for (uint32_t s = degree; s >= 1; s--) run_stage(spline, d, degree, s, piece, u);
    return d[degree];
}

/* The same in Q31. `fine`: u has a part below a raw unit. */
static inline uint64_t part31_of(const PhxSpline *spline, uint32_t i, uint32_t s, int64_t u, bool fine) {
    const uint64_t from = (uint64_t)(u - (int64_t)spline->knot[i] * PHX_FIX_ONE);
    const uint64_t inverse = spline->inverse[(size_t)i * spline->degree_max + s - 1];
    uint64_t part = (from >> PHX_FIX_BITS) * inverse + (UINT64_C(1) << 31);
    if (fine) part += (from & 65535) * (inverse >> PHX_FIX_BITS);
    return part >> 32;
}

/* Weights of a piece's control points but for the first, in Q32: w[1..degree]. */
static inline void weigh(const PhxSpline *spline, uint32_t degree, uint32_t piece, int64_t u, bool fine,
                         uint64_t *w) {
    w[0] = UINT64_C(1) << 32;
    for (uint32_t s = 1; s <= degree; s++) {
        uint64_t carried = 0;
        for (uint32_t r = 0; r < s; r++) {
            const uint64_t part = part31_of(spline, piece + 1 - s + r, s, u, fine);
            const uint64_t on = (w[r] * part + (UINT64_C(1) << 30)) >> 31; /* 2^32 * 2^31 */
            w[r] = carried + w[r] - on;
            carried = on;
        }
        w[s] = carried;
    }
}

/* |b - a| <= 2^30, and the weights together are at most 1: below 2^62. */
static inline PhxSplinePoint blend(const PhxSpline *spline, uint32_t degree, uint32_t piece, int64_t u,
                                   bool fine) {
    uint64_t w[PHX_SPLINE_DEGREE_MAX + 1];
    const PhxSplinePoint *p = spline->point + (piece - degree);
    weigh(spline, degree, piece, u, fine, w);
    int64_t x = 0, y = 0, z = 0;
    for (uint32_t j = 1; j <= degree; j++) {
        x += (int64_t)w[j] * ((int64_t)p[j].x - p[0].x);
        y += (int64_t)w[j] * ((int64_t)p[j].y - p[0].y);
        z += (int64_t)w[j] * ((int64_t)p[j].z - p[0].z);
    }
    return (PhxSplinePoint){(fix16_t)(p[0].x + phx_round_shift(x, 32)),
                            (fix16_t)(p[0].y + phx_round_shift(y, 32)),
                            (fix16_t)(p[0].z + phx_round_shift(z, 32))};
}

static inline PhxSplinePoint blend_any(const PhxSpline *spline, uint32_t piece, int64_t u, bool fine) {
    switch (spline->degree) { /* the degree as a constant: its loops are unrolled */
    case 1:
        return blend(spline, 1, piece, u, fine);
    case 2:
        return blend(spline, 2, piece, u, fine);
    case 3:
        return blend(spline, 3, piece, u, fine);
    case 4:
        return blend(spline, 4, piece, u, fine);
    default:
        return blend(spline, 5, piece, u, fine);
    }
}

PhxSplinePoint phx_spline_point_in(const PhxSpline *spline, uint32_t piece, int64_t u) {
    return blend_any(spline, piece, u, true);
}

PhxSplinePoint phx_spline_point(const PhxSpline *spline, fix16_t u) {
    const fix16_t at = clamp_to(spline, u);
    return blend_any(spline, phx_spline_piece(spline, at, 0), (int64_t)at * PHX_FIX_ONE, false);
}

void phx_spline_weights(const PhxSpline *spline, uint32_t piece, int64_t u, uint64_t *weights) {
    weigh(spline, spline->degree, piece, u, true, weights);
}

/* Point k of them is the polar form of the piece with its left knot degree - k times and its right one k
 * times for arguments (Ramshaw 1989): de Boor's scheme with another parameter a stage. */
void phx_spline_bezier(const PhxSpline *spline, uint32_t piece, PhxSplineRate *out) {
    const uint32_t degree = spline->degree;
    const int64_t left = (int64_t)spline->knot[piece] * PHX_FIX_ONE,
                  right = (int64_t)spline->knot[piece + 1] * PHX_FIX_ONE;
    for (uint32_t k = 0; k <= degree; k++) {
        Wide d[PHX_SPLINE_DEGREE_MAX + 1];
        for (uint32_t j = 0; j <= degree; j++) {
            const PhxSplinePoint *p = &spline->point[piece - degree + j];
            d[j] = (Wide){(int64_t)p->x * (1 << (RATE_BITS - PHX_FIX_BITS)),
                          (int64_t)p->y * (1 << (RATE_BITS - PHX_FIX_BITS)),
                          (int64_t)p->z * (1 << (RATE_BITS - PHX_FIX_BITS))};
        }
        for (uint32_t s = degree; s >= 1; s--) run_stage(spline, d, degree, s, piece, s > k ? left : right);
        out[k] = (PhxSplineRate){d[degree].x, d[degree].y, d[degree].z};
    }
}

static int64_t saturated(int64_t v) { return v > rate_max ? rate_max : v < -rate_max ? -rate_max : v; }

/* factor * difference / length, where both have 16 fraction bits, in Q24; |difference| <= 2^30. */
static int64_t slope(int64_t difference, int64_t length, uint32_t factor) {
    return length ? phx_div_round(difference * factor * (1 << RATE_BITS), length) : 0;
}

/* factor * difference * 2^16 / length: a difference of rates over a length of knots. */
static int64_t slope_of_rates(int64_t difference, int64_t length, uint32_t factor) {
    if (length == 0) return 0;
    const int64_t risen = difference * factor; /* <= 2^58 * 4 */
    if (phx_abs64(risen) < UINT64_C(1) << 46) return phx_div_round(risen * PHX_FIX_ONE, length);
    const int64_t whole = risen / length;
    if (phx_abs64(whole) >= (uint64_t)rate_max >> PHX_FIX_BITS) return whole < 0 ? -rate_max : rate_max;
    return whole * PHX_FIX_ONE + phx_div_round(risen % length * PHX_FIX_ONE, length);
}

/* The control points of the first derivative that piece needs, d[1..degree]: those of knots i .. i + degree.
 */
static void derive(const PhxSpline *spline, uint32_t piece, Wide *d) {
    const uint32_t degree = spline->degree, first = piece - degree;
    for (uint32_t j = 1; j <= degree; j++) {
        const PhxSplinePoint *a = &spline->point[first + j - 1], *b = a + 1;
        const int64_t length = (int64_t)spline->knot[first + j + degree] - spline->knot[first + j];
        d[j] = (Wide){saturated(slope((int64_t)b->x - a->x, length, degree)),
                      saturated(slope((int64_t)b->y - a->y, length, degree)),
                      saturated(slope((int64_t)b->z - a->z, length, degree))};
    }
}

/* Of those, the ones of the second, d[2..degree]. */
static void derive_again(const PhxSpline *spline, uint32_t piece, Wide *d) {
    const uint32_t degree = spline->degree, first = piece - degree;
    for (uint32_t j = degree; j >= 2; j--) {
        const int64_t length = (int64_t)spline->knot[first + j + degree - 1] - spline->knot[first + j];
        d[j] = (Wide){saturated(slope_of_rates(d[j].x - d[j - 1].x, length, degree - 1)),
                      saturated(slope_of_rates(d[j].y - d[j - 1].y, length, degree - 1)),
                      saturated(slope_of_rates(d[j].z - d[j - 1].z, length, degree - 1))};
    }
}

PhxSplineRate phx_spline_first_in(const PhxSpline *spline, uint32_t piece, int64_t u) {
    Wide d[PHX_SPLINE_DEGREE_MAX + 1];
    derive(spline, piece, d);
    const Wide first = run_scheme(spline, d + 1, spline->degree - 1, piece, u);
    return (PhxSplineRate){first.x, first.y, first.z};
}

PhxSplineSample phx_spline_sample_in(const PhxSpline *spline, uint32_t piece, int64_t u) {
    PhxSplineSample out = {.point = phx_spline_point_in(spline, piece, u),
                           .first = phx_spline_first_in(spline, piece, u)};
    if (spline->degree < 2) return out;
    Wide d[PHX_SPLINE_DEGREE_MAX + 1];
    derive(spline, piece, d);
    derive_again(spline, piece, d);
    const Wide second = run_scheme(spline, d + 2, spline->degree - 2, piece, u);
    out.second = (PhxSplineRate){second.x, second.y, second.z};
    return out;
}

PhxSplineSample phx_spline_sample(const PhxSpline *spline, fix16_t u) {
    const fix16_t at = clamp_to(spline, u);
    return phx_spline_sample_in(spline, phx_spline_piece(spline, at, 0), (int64_t)at * PHX_FIX_ONE);
}
