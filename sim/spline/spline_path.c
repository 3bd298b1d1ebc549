/* spline_path.c: see spline_path.h: a path over waypoints as a spline that rounds its corners.
 *
 * Every corner has degree - 1 control points of its own on either leg, so that all pieces that round it
 * depend on them alone: it is tried and decided by itself. Legs have further points in between, evenly; all
 * pieces that need points of one leg only lie on it. A corner that can't be rounded gets its knot `degree`
 * times, which makes the curve pass through it; the number of control points is the same either way.
 *
 * In: the spec. Out: control points, knots, kinds of pieces. Cost: linear in control points, and the pieces
 * of each corner up to three times. Determinism: corners are tried in order, wider before narrower.
 */
#include "spline/spline_internal.h"

enum {
    LEG_LEAST = PHX_FIX_ONE / 16,
    SPACING_LEAST = PHX_FIX_ONE / 4,
    RADIUS_MOST = 16 * PHX_FIX_ONE,
    LEVELS = 3 /* reaches that are tried, each half of the one before */
};

/* A leg of the path. */
typedef struct Leg {
    PhxVec2 from, to;
    PhxDir dir;
    fix16_t length;
    fix16_t before, behind; /* reach of the corners at its beginning and end; 0: there is none */
    uint32_t fill;          /* points between those of the corners */
} Leg;

static Leg leg_of(const PhxSplinePathSpec *spec, uint32_t i) {
    Leg leg = {.from = spec->waypoints[i], .to = spec->waypoints[i + 1]};
    leg.length = (fix16_t)phx_vec2_normalize(phx_vec2_sub(leg.to, leg.from), &leg.dir);
    const fix16_t most = (fix16_t)((int64_t)leg.length * 3 / 8),
                  reach = spec->reach < most ? spec->reach : most;
    if (spec->degree > 1 && i > 0) leg.before = reach;
    if (spec->degree > 1 && i + 2 < spec->count) leg.behind = reach;
    const fix16_t free = leg.length - leg.before - leg.behind;
    if (spec->spacing > 0) leg.fill = (uint32_t)((free - 1) / spec->spacing);
    if (spec->count == 2 && leg.fill + 1 < spec->degree) leg.fill = spec->degree - 1;
    return leg;
}

/* Control points that belong to a leg, with the waypoint at its end. */
static uint32_t points_of(const PhxSplinePathSpec *spec, uint32_t i) {
    const Leg leg = leg_of(spec, i);
    const uint32_t own = spec->degree - 1;
    return (leg.before ? own : 0) + leg.fill + (leg.behind ? own : 0) + 1;
}

static PhxStatus check(const PhxSplinePathSpec *spec, uint32_t degree_max) {
    if (!spec->waypoints || spec->count < 2 || spec->degree < 1 || spec->degree > degree_max)
        return PHX_ERROR_ARGUMENT;
    if (spec->radius <= 0 || spec->radius > RADIUS_MOST || spec->reach <= 0 || spec->spacing < 0 ||
        (spec->spacing > 0 && spec->spacing < SPACING_LEAST))
        return PHX_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < spec->count; i++) {
        const PhxVec2 p = spec->waypoints[i];
        if (!phx_spline_is_inside((PhxSplinePoint){p.x, p.y, 0})) return PHX_ERROR_RANGE;
        if (i > 0 && phx_vec2_length(phx_vec2_sub(p, spec->waypoints[i - 1])) < LEG_LEAST)
            return PHX_ERROR_RANGE;
    }
    return PHX_OK;
}

/* Saturated: more than a spline can have is too many all the same. */
static uint32_t count_points(const PhxSplinePathSpec *spec) {
    uint32_t points = 1;
    for (uint32_t i = 0; i + 1 < spec->count && points <= PHX_SPLINE_POINTS_MAX; i++)
        points += points_of(spec, i);
    return points;
}

uint32_t phx_spline_path_points(const PhxSplinePathSpec *spec) {
    return check(spec, PHX_SPLINE_DEGREE_MAX) == PHX_OK ? count_points(spec) : 0;
}

static PhxSplinePoint on_leg(PhxVec2 from, PhxDir dir, int64_t far) {
    const PhxVec2 p = phx_vec2_add(from, phx_dir_scale(dir, (fix16_t)far));
    return (PhxSplinePoint){p.x, p.y, 0};
}

/* Own point k of 1..own of a corner: from half of the reach to all of it, evenly. */
static int64_t own_far(fix16_t reach, int64_t k, int64_t own) {
    return own == 1 ? reach : (int64_t)reach * (own - 2 + k) / (2 * own - 2);
}

/* The own points of a corner, beside control point j, at a reach to either side. */
static void place_corner(PhxSpline *spline, uint32_t j, const Leg *in, const Leg *out, uint32_t level) {
    const uint32_t own = spline->degree - 1;
    for (uint32_t k = 1; k <= own; k++) {
        spline->point[j - k] = on_leg(in->to, phx_dir_neg(in->dir), own_far(in->behind >> level, k, own));
        spline->point[j + k] = on_leg(out->from, out->dir, own_far(out->before >> level, k, own));
    }
}

/* All control points, corners at their widest. */
static void place_points(PhxSpline *spline, const PhxSplinePathSpec *spec) {
    const uint32_t own = spec->degree - 1;
    uint32_t at = 0;
    spline->point[at++] = (PhxSplinePoint){spec->waypoints[0].x, spec->waypoints[0].y, 0};
    for (uint32_t i = 0; i + 1 < spec->count; i++) {
        const Leg leg = leg_of(spec, i);
        const int64_t free = (int64_t)leg.length - leg.before - leg.behind;
        at += leg.before ? own : 0;
        for (uint32_t k = 1; k <= leg.fill; k++)
            spline->point[at++] = on_leg(leg.from, leg.dir, leg.before + free * k / (leg.fill + 1));
        at += leg.behind ? own : 0;
        spline->point[at++] = (PhxSplinePoint){leg.to.x, leg.to.y, 0};
    }
    at = 0;
    for (uint32_t i = 0; i + 2 < spec->count; i++) {
        const Leg in = leg_of(spec, i), out = leg_of(spec, i + 1);
        at += points_of(spec, i);
        if (own > 0) place_corner(spline, at, &in, &out, 0);
    }
}

/* Knots one apart, and `degree` times at the corners whose pieces say PATH. */
static void place_knots(PhxSpline *spline, const uint8_t *pieces) {
    const uint32_t degree = spline->degree, count = spline->count;
    uint32_t same = 0; /* knots that are still to be those of a corner */
    fix16_t at = 0;
    for (uint32_t i = 0; i < count + degree + 1; i++) {
        if (i > degree && i <= count && same == 0) at += PHX_FIX_ONE;
        if (same > 0) same--;
        if (pieces && i > 0 && i < count && pieces[i - 1] == PHX_SPLINE_PIECE_PATH) same = degree - 1;
        spline->knot[i] = at;
    }
    phx_spline_rebuild(spline, 0, count + degree);
}

static bool corner_clear(const PhxSpline *spline, const PhxSplinePathSpec *spec, uint32_t j) {
    for (uint32_t piece = j + 1; piece < j + spline->degree; piece++)
        if (!phx_spline_piece_clear(spline, piece, &spec->ground, spec->radius)) return false;
    return true;
}

/* pieces[j] of each corner j becomes CURVE or PATH; of other points EMPTY. */
static void decide_corners(PhxSpline *spline, const PhxSplinePathSpec *spec, uint8_t *pieces) {
    uint32_t j = 0;
    for (uint32_t i = 0; i < spline->count; i++) pieces[i] = PHX_SPLINE_PIECE_EMPTY;
    for (uint32_t i = 0; i + 2 < spec->count; i++) {
        const Leg in = leg_of(spec, i), out = leg_of(spec, i + 1);
        bool clear = false;
        j += points_of(spec, i);
        for (uint32_t level = 0; level < LEVELS && spec->degree > 1 && !clear; level++) {
            place_corner(spline, j, &in, &out, level);
            clear = corner_clear(spline, spec, j);
        }
        pieces[j] = clear ? PHX_SPLINE_PIECE_CURVE : PHX_SPLINE_PIECE_PATH;
    }
}

/* From what corners are to what pieces are: backwards, as a piece needs points before it alone. */
static void name_pieces(const PhxSpline *spline, uint8_t *pieces) {
    const uint32_t degree = spline->degree;
    for (uint32_t piece = spline->count - 1; piece >= degree; piece--) {
        uint8_t kind = PHX_SPLINE_PIECE_PATH;
        for (uint32_t j = piece - degree + 1; j < piece; j++)
            if (pieces[j] == PHX_SPLINE_PIECE_CURVE) kind = PHX_SPLINE_PIECE_CURVE;
        pieces[piece] = spline->knot[piece] == spline->knot[piece + 1] ? PHX_SPLINE_PIECE_EMPTY : kind;
    }
}

PhxStatus phx_spline_path_smooth(PhxSpline *spline, const PhxSplinePathSpec *spec, uint8_t *pieces) {
    const PhxStatus status = pieces ? check(spec, spline->degree_max) : PHX_ERROR_ARGUMENT;
    if (status != PHX_OK) return status;
    const uint32_t points = count_points(spec);
    if (points > spline->capacity || points > PHX_SPLINE_COORDINATE_MAX) return PHX_ERROR_LIMIT;
    spline->degree = spec->degree;
    spline->own = spline->count = points;
    spline->periodic = false;
    place_points(spline, spec);
    place_knots(spline, NULL);
    decide_corners(spline, spec, pieces);
    place_knots(spline, pieces);
    name_pieces(spline, pieces);
    return PHX_OK;
}
