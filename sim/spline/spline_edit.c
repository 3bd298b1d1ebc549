/* spline_edit.c: see spline.h: control points moved, inserted and taken away.
 *
 * Boehm: a knot u in piece k makes points k - p + 1 .. k anew, Q_i = P_{i-1} + (u - t_i) / (t_{i+p} - t_i)
 * (P_i - P_{i-1}); those before stay, those behind move up by one. A periodic spline is seen as one without
 * an end, whose point n + i is point i: a knot more in each turn.
 */
#include <phalanx/spline.h>

#include "spline/spline_internal.h"

/* The points that a periodic spline has again at its end. */
static void wrap_points(PhxSpline *spline) {
    for (uint32_t i = spline->own; i < spline->count; i++) spline->point[i] = spline->point[i % spline->own];
}

PhxStatus phx_spline_move(PhxSpline *spline, uint32_t i, PhxSplinePoint to) {
    if (i >= spline->own) return PHX_ERROR_ARGUMENT;
    if (!phx_spline_is_inside(to)) return PHX_ERROR_RANGE;
    for (uint32_t k = i; k < spline->count; k += spline->own) spline->point[k] = to;
    return PHX_OK;
}

void phx_spline_support(const PhxSpline *spline, uint32_t i, fix16_t *from, fix16_t *to) {
    const fix16_t begin = phx_spline_begin(spline), end = phx_spline_end(spline);
    *from = begin, *to = end;
    if (i >= spline->own || (spline->periodic && i < spline->degree)) return;
    const fix16_t first = spline->knot[i], last = spline->knot[i + spline->degree + 1];
    *from = first > begin ? first : begin;
    *to = last < end ? last : end;
}

static fix16_t lerp(fix16_t a, fix16_t b, int64_t over, int64_t length) {
    return (fix16_t)(a + phx_div_round(((int64_t)b - a) * over, length)); /* 2^30 * 2^30 */
}

/* The point of a periodic or an open spline, by an index of the endless sequence; |i| small. */
static PhxSplinePoint point_at(const PhxSpline *spline, uint32_t i) { return spline->point[i % spline->own]; }

/* Q_i of a knot u in piece k. */
static PhxSplinePoint inserted(const PhxSpline *spline, uint32_t i, uint32_t piece, fix16_t u) {
    const uint32_t degree = spline->degree;
    if (i <= piece - degree) return point_at(spline, i);
    const PhxSplinePoint a = point_at(spline, i - 1);
    if (i > piece) return a;
    const PhxSplinePoint b = point_at(spline, i);
    const int64_t over = (int64_t)u - spline->knot[i],
                  length = (int64_t)spline->knot[i + degree] - spline->knot[i];
    return (PhxSplinePoint){lerp(a.x, b.x, over, length), lerp(a.y, b.y, over, length),
                            lerp(a.z, b.z, over, length)};
}

/* How often u is a knot. */
static uint32_t times_of(const PhxSpline *spline, fix16_t u) {
    uint32_t times = 0;
    for (uint32_t i = 0; i < spline->count + spline->degree + 1; i++) times += spline->knot[i] == u;
    return times;
}

static void insert_open(PhxSpline *spline, uint32_t piece, fix16_t u) {
    const uint32_t degree = spline->degree;
    PhxSplinePoint fresh[PHX_SPLINE_DEGREE_MAX];
    for (uint32_t j = 0; j < degree; j++) fresh[j] = inserted(spline, piece - degree + 1 + j, piece, u);
    for (uint32_t i = spline->count; i > piece; i--) spline->point[i] = spline->point[i - 1];
    for (uint32_t j = 0; j < degree; j++) spline->point[piece - degree + 1 + j] = fresh[j];
    for (uint32_t i = spline->count + degree + 1; i > piece + 1; i--) spline->knot[i] = spline->knot[i - 1];
    spline->knot[piece + 1] = u;
    spline->own++, spline->count++;
    phx_spline_rebuild(spline, piece + 1, spline->count + degree);
}

static void insert_periodic(PhxSpline *spline, uint32_t piece, fix16_t u) {
    const uint32_t degree = spline->degree, own = spline->own;
    const int64_t period = (int64_t)phx_spline_end(spline) - phx_spline_begin(spline);
    /* New points that are made anew: by index of the endless sequence piece - degree + 1 .. piece. */
    PhxSplinePoint fresh[PHX_SPLINE_DEGREE_MAX];
    for (uint32_t j = 0; j < degree; j++) fresh[j] = inserted(spline, piece - degree + 1 + j, piece, u);
    /* Those behind piece move up; of indices beyond the own ones, the turn before is meant, which begins
     * anew. */
    for (uint32_t i = own; i > piece; i--) spline->point[i] = spline->point[i - 1];
    for (uint32_t j = 0; j < degree; j++) spline->point[(piece - degree + 1 + j) % (own + 1)] = fresh[j];
    for (uint32_t i = own + degree; i > piece + 1; i--) spline->knot[i] = spline->knot[i - 1];
    /* One turn of knots, t_degree .. t_{degree + own}, now has one more. */
    spline->knot[piece + 1] = u;
    spline->own = own + 1, spline->count = own + 1 + degree;
    for (uint32_t i = 0; i < degree; i++)
        spline->knot[degree - 1 - i] = (fix16_t)(spline->knot[degree + own - i] - period);
    for (uint32_t i = degree + own + 1; i < spline->count + degree + 1; i++)
        spline->knot[i] = (fix16_t)(spline->knot[i - own - 1] + period);
    wrap_points(spline);
    phx_spline_rebuild(spline, 0, spline->count + degree);
}

PhxStatus phx_spline_insert(PhxSpline *spline, fix16_t u) {
    if (u <= phx_spline_begin(spline) || u >= phx_spline_end(spline)) return PHX_ERROR_RANGE;
    if (times_of(spline, u) >= spline->degree) return PHX_ERROR_RANGE;
    if (spline->own >= spline->capacity) return PHX_ERROR_FULL;
    const uint32_t piece = phx_spline_piece(spline, u, 0);
    if (spline->periodic)
        insert_periodic(spline, piece, u);
    else
        insert_open(spline, piece, u);
    return PHX_OK;
}

PhxStatus phx_spline_remove(PhxSpline *spline, uint32_t i) {
    const uint32_t degree = spline->degree;
    if (i >= spline->own) return PHX_ERROR_ARGUMENT;
    if (spline->periodic || spline->own <= degree + 1) return PHX_ERROR_STATE;
    uint32_t gone = i + (degree + 1) / 2; /* a knot inside of the domain: the ends stay */
    gone = gone <= degree ? degree + 1 : gone >= spline->count ? spline->count - 1 : gone;
    for (uint32_t k = i; k + 1 < spline->count; k++) spline->point[k] = spline->point[k + 1];
    for (uint32_t k = gone; k < spline->count + degree; k++) spline->knot[k] = spline->knot[k + 1];
    spline->own--, spline->count--;
    phx_spline_rebuild(spline, gone > degree ? gone - degree : 0, spline->count + degree);
    return PHX_OK;
}
