/* spline_evade.c: see spline_path.h: evasion points, and whether one is wanted.
 *
 * A knot more at u leaves the curve and brings a control point whose support is short; the one of the new
 * points that weighs most at u is moved by the wanted distance over its weight, which moves the curve at u by
 * that distance, and elsewhere by no more than the control point itself. Undoing needs the degree - 1 points
 * that were there before, and nothing else. Cost: an insertion; a threat 33 places at a length.
 * Determinism: integers; a pure function of the arguments.
 */
#include "spline/spline_internal.h"

enum {
    MOMENTS = 32,
    TRIALS = 6, /* three sizes to either side */
    WEIGHT_BITS = 32,
    LENGTH_BITS = 24,
    SPEED_MOST = 64 * PHX_FIX_ONE,
    HORIZON_MOST = 60 * PHX_FIX_ONE,
    SIZE_MOST = 64 * PHX_FIX_ONE
};

static bool same_point(PhxSplinePoint a, PhxSplinePoint b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* The knot of an evasion, the last one of its value: index of the piece behind it. 0: there is none. */
static uint32_t knot_of(const PhxSpline *spline, fix16_t u) {
    uint32_t low = spline->degree, high = spline->count;
    while (low < high) {
        const uint32_t half = (low + high + 1) / 2;
        if (spline->knot[half] <= u)
            low = half;
        else
            high = half - 1;
    }
    return low > spline->degree && spline->knot[low] == u ? low : 0;
}

/* Whether an evasion's knot has the neighbours that it had. */
static bool same_knots(const PhxSpline *spline, uint32_t knot, const PhxSplineEvasion *evasion) {
    for (uint32_t i = 0; i < 2 * spline->degree + 1; i++)
        if (spline->knot[knot - spline->degree + i] != evasion->knot[i]) return false;
    return true;
}

/* Points first .. first + degree - 1 become the degree - 1 that were there, and the knot goes. */
static void take_out(PhxSpline *spline, uint32_t knot, const PhxSplinePoint *was) {
    const uint32_t degree = spline->degree, first = knot - degree;
    for (uint32_t i = 0; i + 1 < degree; i++) spline->point[first + i] = was[i];
    for (uint32_t i = knot - 1; i + 1 < spline->count; i++) spline->point[i] = spline->point[i + 1];
    for (uint32_t i = knot; i < spline->count + degree; i++) spline->knot[i] = spline->knot[i + 1];
    spline->own--, spline->count--;
    phx_spline_rebuild(spline, knot, spline->count + degree);
}

/* Whether the pieces that control point i supports are clear. */
static bool support_clear(const PhxSpline *spline, uint32_t i, const PhxSplineGround *ground,
                          fix16_t radius) {
    const uint32_t degree = spline->degree, first = i > degree ? i : degree;
    for (uint32_t piece = first; piece <= i + degree && piece < spline->count; piece++)
        if (!phx_spline_piece_clear(spline, piece, ground, radius)) return false;
    return true;
}

/* The place in made[] of the point that weighs most at the knot, and its weight, Q32. */
static uint32_t heaviest(const PhxSpline *spline, uint32_t knot, uint64_t *weight) {
    uint64_t weights[PHX_SPLINE_DEGREE_MAX + 1];
    uint32_t best = 0;
    phx_spline_weights(spline, knot, (int64_t)spline->knot[knot] * PHX_FIX_ONE, weights);
    for (uint32_t i = 1; i < spline->degree; i++)
        if (weights[i] > weights[best]) best = i;
    *weight = weights[best];
    return best;
}

/* by / weight, from half of the weight on: never more than twice. */
static int64_t over(fix16_t by, uint64_t weight) {
    return phx_div_round((int64_t)by * (1 << 20), (int64_t)(weight >> (WEIGHT_BITS - 20)));
}

PhxStatus phx_spline_evade(PhxSpline *spline, fix16_t u, PhxVec2 by, const PhxSplineGround *ground,
                           fix16_t radius, PhxSplineEvasion *evasion) {
    const uint32_t degree = spline->degree;
    if (spline->periodic) return PHX_ERROR_STATE;
    PhxSplineEvasion made = {.u = u, .degree = degree};
    const uint32_t piece = phx_spline_piece(spline, u, 0);
    for (uint32_t i = 0; i + 1 < degree; i++) made.was[i] = spline->point[piece - degree + 1 + i];
    const PhxStatus status = phx_spline_insert(spline, u);
    if (status != PHX_OK) return status;
    const uint32_t knot = piece + 1, first = knot - degree;
    uint64_t weight;
    made.point = heaviest(spline, knot, &weight);
    const PhxSplinePoint at = spline->point[first + made.point];
    const int64_t x = at.x + over(by.x, weight), y = at.y + over(by.y, weight);
    const PhxSplinePoint to = {phx_fix_saturate(x), phx_fix_saturate(y), at.z};
    const bool inside = phx_spline_is_inside(to);
    if (inside) spline->point[first + made.point] = to;
    if (!inside || (ground && !support_clear(spline, first + made.point, ground, radius))) {
        take_out(spline, knot, made.was);
        return inside ? PHX_ERROR_STATE : PHX_ERROR_RANGE;
    }
    for (uint32_t i = 0; i < degree; i++) made.made[i] = spline->point[first + i];
    for (uint32_t i = 0; i < 2 * degree + 1; i++) made.knot[i] = spline->knot[knot - degree + i];
    *evasion = made;
    return PHX_OK;
}

PhxStatus phx_spline_evade_end(PhxSpline *spline, const PhxSplineEvasion *evasion) {
    const uint32_t degree = spline->degree, knot = knot_of(spline, evasion->u);
    if (evasion->u >= phx_spline_end(spline) || spline->periodic || evasion->degree != degree || knot == 0 ||
        spline->own <= degree + 1)
        return PHX_ERROR_NOT_FOUND;
    for (uint32_t i = 0; i < degree; i++)
        if (!same_point(spline->point[knot - degree + i], evasion->made[i])) return PHX_ERROR_NOT_FOUND;
    if (!same_knots(spline, knot, evasion)) return PHX_ERROR_NOT_FOUND;
    take_out(spline, knot, evasion->was);
    return PHX_OK;
}

PhxStatus phx_spline_evade_again(PhxSpline *spline, const PhxSplineEvasion *evasion) {
    const uint32_t degree = spline->degree;
    if (spline->periodic || evasion->degree != degree || evasion->point >= degree) return PHX_ERROR_MISMATCH;
    if (!phx_spline_is_inside(evasion->made[evasion->point])) return PHX_ERROR_MISMATCH;
    const uint32_t piece = phx_spline_piece(spline, evasion->u, 0), first = piece + 1 - degree;
    for (uint32_t i = 0; i + 1 < degree; i++)
        if (!same_point(spline->point[first + i], evasion->was[i])) return PHX_ERROR_MISMATCH;
    const PhxStatus status = phx_spline_insert(spline, evasion->u);
    if (status != PHX_OK) return status;
    bool same = same_knots(spline, piece + 1, evasion);
    for (uint32_t i = 0; i < degree; i++)
        same &= i == evasion->point || same_point(spline->point[first + i], evasion->made[i]);
    if (same)
        spline->point[first + evasion->point] = evasion->made[evasion->point];
    else
        take_out(spline, piece + 1, evasion->was);
    return same ? PHX_OK : PHX_ERROR_MISMATCH;
}

void phx_spline_evade_support(const PhxSpline *spline, const PhxSplineEvasion *evasion, fix16_t *from,
                              fix16_t *to) {
    const uint32_t knot = evasion->degree == spline->degree ? knot_of(spline, evasion->u) : 0;
    *from = *to = evasion->u;
    if (knot > 0 && evasion->point < spline->degree)
        phx_spline_support(spline, knot - spline->degree + evasion->point, from, to);
}

typedef struct Moment {
    PhxVec2 follower, between; /* between: from the follower to the obstacle */
    PhxSplinePlace place;
    int64_t at;
} Moment;

static fix16_t limited(fix16_t v, fix16_t most) { return v < 0 ? 0 : v > most ? most : v; }

/* Moment k of 0..MOMENTS. */
static Moment moment_of(const PhxSplineLengths *lengths, const PhxSpline *spline, const PhxSplineWatch *watch,
                        const PhxSplineObstacle *obstacle, uint32_t k) {
    const int64_t time = (int64_t)limited(watch->horizon, HORIZON_MOST) * k / MOMENTS; /* Q16 seconds */
    const int64_t way = time * limited(watch->speed, SPEED_MOST) >> (2 * PHX_FIX_BITS - LENGTH_BITS);
    const int64_t length = phx_spline_length(lengths);
    Moment moment = {.at = watch->at < 0 ? way : watch->at + way};
    if (moment.at > length) moment.at = length;
    moment.place = phx_spline_place(lengths, spline, moment.at);
    const PhxSplinePoint p = phx_spline_point_in(spline, moment.place.piece, moment.place.u);
    moment.follower = phx_vec2(p.x, p.y);
    const PhxVec2 moved = {phx_fix_saturate(phx_round_shift(obstacle->velocity.x * time, PHX_FIX_BITS)),
                           phx_fix_saturate(phx_round_shift(obstacle->velocity.y * time, PHX_FIX_BITS))};
    moment.between = phx_vec2_add(phx_vec2_sub(obstacle->at, moment.follower), moved);
    return moment;
}

/* 1 or -1: the side on which the two pass anyway, if by half of what is wanted; else behind an obstacle that
 * goes across; to the right of one that doesn't. `passes` is how far aside of the follower its line leads,
 * and `turned` whether a step to the right makes that larger. */
static int32_t side_of(int64_t passes, bool turned, int64_t apart, int64_t crosses) {
    if (2 * (int64_t)phx_abs64(passes) >= apart || (crosses == 0 && passes != 0))
        return (passes > 0) == turned ? 1 : -1;
    return crosses > 0 ? -1 : 1;
}

/* How far aside the way has to go there so that `leave` remains, and to which side. Seen from the follower
 * the obstacle goes along a line, `line` its way between two moments. A step aside moves that line by the
 * part of the step that is across. */
static void step_aside(PhxSplineThreat *threat, const PhxSpline *spline, const PhxSplineWatch *watch,
                       const PhxSplineObstacle *obstacle, const Moment *nearest, PhxVec2 line) {
    const PhxSplineRate first = phx_spline_first_in(spline, nearest->place.piece, nearest->place.u);
    const PhxDir ahead = phx_dir_of_angle(phx_spline_heading(&first, 0)), right = phx_dir_turn_quarter(ahead);
    PhxDir along = phx_dir_neg(ahead);
    if (!phx_vec2_is_zero(line)) (void)phx_vec2_normalize(line, &along);
    const PhxDir across = phx_dir_turn_quarter(along);
    const int64_t passes = phx_vec2_dot_dir(nearest->between, across); /* raw */
    const int64_t part = phx_round_shift(phx_dir_dot(right, across), PHX_DIR_BITS),
                  size = part < 0 ? -part : part;
    const int64_t apart = (int64_t)watch->radius + obstacle->radius + watch->leave;
    threat->side = side_of(passes, part < 0, apart, phx_vec2_dot_dir(obstacle->velocity, right));
    if (watch->side != 0) threat->side = watch->side > 0 ? 1 : -1;
    const int64_t wanted = apart - ((threat->side > 0) == (part < 0) ? passes : -passes);
    int64_t aside = phx_div_round(wanted * PHX_DIR_ONE, size > PHX_DIR_ONE / 2 ? size : PHX_DIR_ONE / 2);
    const int64_t most = limited(watch->most, SIZE_MOST);
    aside = aside < 0 ? 0 : aside > most ? most : aside;
    threat->by = phx_dir_scale(threat->side > 0 ? right : phx_dir_neg(right), (fix16_t)aside);
}

PhxSplineThreat phx_spline_threat(const PhxSplineLengths *lengths, const PhxSpline *spline,
                                  const PhxSplineWatch *watch, const PhxSplineObstacle *obstacle) {
    Moment was = moment_of(lengths, spline, watch, obstacle, 0), nearest = was;
    PhxVec2 line = {0, 0};
    PhxSplineThreat threat = {0};
    int64_t least = phx_vec2_length(was.between);
    for (uint32_t k = 1; k <= MOMENTS; k++) {
        const Moment now = moment_of(lengths, spline, watch, obstacle, k);
        const int64_t off = phx_spline_off_segment(was.between, now.between, phx_vec2(0, 0));
        if (off < least) {
            least = off;
            nearest = phx_vec2_length(now.between) < phx_vec2_length(was.between) ? now : was;
            line = phx_vec2_sub(now.between, was.between);
            threat.later = k == MOMENTS && now.at < phx_spline_length(lengths);
        }
        was = now;
    }
    threat.at = nearest.at;
    threat.u = (fix16_t)(nearest.place.u >> PHX_FIX_BITS);
    const int64_t gap = least - watch->radius - obstacle->radius;
    threat.gap = phx_fix_saturate(gap);
    threat.needed = watch->side != 0 ? gap < watch->leave : gap < watch->enter && !threat.later;
    if (threat.needed) step_aside(&threat, spline, watch, obstacle, &nearest, line);
    return threat;
}

/* The gap that an evasion by `by` leaves; INT32_MIN where there can't be one. The spline keeps it. */
static fix16_t try_evasion(PhxSpline *spline, PhxSplineLengths *lengths, const PhxSplineBend *bend,
                           PhxVec2 by, PhxSplineEvasion *evasion) {
    PhxSplineWatch watch = *bend->watch;
    watch.at = bend->at;
    if (phx_spline_evade(spline, bend->threat->u, by, bend->ground, watch.radius, evasion) != PHX_OK)
        return INT32_MIN;
    phx_spline_measure(lengths, spline);
    return phx_spline_threat(lengths, spline, &watch, bend->obstacle).gap;
}

PhxStatus phx_spline_evade_threat(PhxSpline *spline, PhxSplineLengths *lengths, const PhxSplineBend *bend,
                                  PhxSplineEvasion *evasion) {
    const PhxSplineThreat *threat = bend->threat;
    const fix16_t most = limited(bend->watch->most, SIZE_MOST);
    fix16_t best = threat->gap;
    PhxVec2 best_by = {0, 0};
    for (int32_t k = 0; k < TRIALS; k++) {
        const fix16_t part = (fix16_t)((2 + k % 3) * (k < 3 ? PHX_FIX_ONE / 2 : -PHX_FIX_ONE / 2));
        PhxSplineEvasion made;
        PhxVec2 by = phx_vec2_clamp_length(phx_vec2_scale(threat->by, part), most);
        const fix16_t gap = try_evasion(spline, lengths, bend, by, &made);
        if (gap == INT32_MIN) continue;
        if (gap >= bend->watch->enter) {
            *evasion = made;
            return PHX_OK;
        }
        if (gap > best) best = gap, best_by = by;
        take_out(spline, knot_of(spline, made.u), made.was);
    }
    const bool found = !phx_vec2_is_zero(best_by);
    if (found) (void)try_evasion(spline, lengths, bend, best_by, evasion);
    if (!found) phx_spline_measure(lengths, spline);
    return found ? PHX_OK : PHX_ERROR_STATE;
}
