/* spline_way.c: see spline_way.h: a way that bends by itself.
 *
 * Whether a bend is still wanted is judged on the base, whose parameters are those of the bent way, so that
 * it doesn't end what made it; whether one more is, on the way as it is bent: what is overtaken slowly needs
 * more than one. Bends that lie over one another end in the opposite order; phx_spline_evade_end says so, and
 * what can't end yet is tried again in the next watch.
 */
#include <phalanx/spline_way.h>

#include "base/arena.h"
#include "spline/spline_internal.h"

void phx_spline_way_layout(PhxSplineWay *way, PhxArena *arena, uint32_t capacity, uint32_t degree_max) {
    phx_spline_layout(&way->base, arena, capacity, degree_max);
    phx_spline_layout(&way->bent, arena, capacity + PHX_SPLINE_WAY_BENDS, degree_max);
    phx_spline_lengths_layout(&way->base_lengths, arena, &way->base);
    phx_spline_lengths_layout(&way->bent_lengths, arena, &way->bent);
}

/* The bent way becomes the base. */
static void straighten(PhxSplineWay *way) {
    const PhxSpline *from = &way->base;
    PhxSpline *to = &way->bent;
    const uint32_t knots = from->count + from->degree + 1;
    to->degree = from->degree, to->own = from->own, to->count = from->count, to->periodic = from->periodic;
    for (uint32_t i = 0; i < from->count; i++) to->point[i] = from->point[i];
    for (uint32_t i = 0; i < knots; i++) to->knot[i] = from->knot[i];
    phx_spline_rebuild(to, 0, knots - 1);
    phx_spline_measure(&way->bent_lengths, to);
}

PhxStatus phx_spline_way_set(PhxSplineWay *way, const PhxSplinePathSpec *spec, uint8_t *pieces) {
    const PhxStatus status = phx_spline_path_smooth(&way->base, spec, pieces);
    if (status != PHX_OK) return status;
    phx_spline_measure(&way->base_lengths, &way->base);
    straighten(way);
    return PHX_OK;
}

PhxStatus phx_spline_way_restore(PhxSplineWay *way, const PhxSplineWayState *state) {
    straighten(way);
    if (state->count > PHX_SPLINE_WAY_BENDS) return PHX_ERROR_RANGE;
    for (uint32_t i = 0; i < state->count; i++)
        if (phx_spline_evade_again(&way->bent, &state->bend[i].evasion) != PHX_OK) {
            straighten(way);
            return PHX_ERROR_MISMATCH;
        }
    phx_spline_measure(&way->bent_lengths, &way->bent);
    if (state->at >= 0 && state->at <= phx_spline_length(&way->bent_lengths)) return PHX_OK;
    straighten(way);
    return PHX_ERROR_RANGE;
}

static PhxSplinePlace place_of(const PhxSplineWay *way, const PhxSplineWayState *state) {
    return phx_spline_place(&way->bent_lengths, &way->bent, state->at);
}

/* Whether the two can't come as near as `leave` within the horizon, however the way turns: a bound that costs
 * next to nothing. Products below 2^31 * 2^23. */
static bool is_far(const PhxSplineWatch *watch, PhxSplinePoint at, const PhxSplineObstacle *body) {
    const int64_t speed = (int64_t)watch->speed + phx_vec2_length(body->velocity),
                  way = (speed * watch->horizon >> PHX_FIX_BITS) + PHX_FIX_ONE / 16;
    return (int64_t)phx_vec2_length(phx_vec2_sub(body->at, phx_vec2(at.x, at.y))) >
           way + watch->radius + body->radius + watch->leave;
}

/* The threat to the follower's parameter on the base, where nothing is bent. */
static bool still_needed(const PhxSplineWay *way, const PhxSplineWayState *state, const PhxSplineWatch *watch,
                         const PhxSplineObstacle *body, int32_t side) {
    const PhxSplinePlace place = place_of(way, state);
    const fix16_t raw = (fix16_t)(place.u >> PHX_FIX_BITS);
    const PhxSplinePlace on_base = {phx_spline_piece(&way->base, raw, 0), place.u};
    if (is_far(watch, phx_spline_point_in(&way->base, on_base.piece, place.u), body)) return false;
    PhxSplineWatch here = *watch;
    here.at = phx_spline_length_at(&way->base_lengths, &way->base, on_base);
    here.side = side;
    return phx_spline_threat(&way->base_lengths, &way->base, &here, body).needed;
}

static bool stands_in(const PhxSplineWay *way, const PhxSplineWayState *state,
                      const PhxSplineEvasion *evasion) {
    const int64_t u = place_of(way, state).u;
    fix16_t from, to;
    phx_spline_evade_support(&way->bent, evasion, &from, &to);
    return u > (int64_t)from * PHX_FIX_ONE && u < (int64_t)to * PHX_FIX_ONE;
}

static const PhxSplineMover *mover_of(const PhxSplineMover *movers, uint32_t count, uint64_t id) {
    for (uint32_t i = 0; i < count; i++)
        if (movers[i].id == id) return &movers[i];
    return NULL;
}

/* Whether bend i went. */
static bool end_bend(PhxSplineWay *way, PhxSplineWayState *state, uint32_t i) {
    const PhxSplineEvasion *evasion = &state->bend[i].evasion;
    if (stands_in(way, state, evasion)) return false;
    const PhxSplineAnchor anchor = phx_spline_anchor(&way->bent_lengths, &way->bent, state->at);
    if (phx_spline_evade_end(&way->bent, evasion) != PHX_OK) return false;
    phx_spline_measure(&way->bent_lengths, &way->bent);
    state->at = phx_spline_anchor_find(&way->bent_lengths, &way->bent, &anchor);
    state->count--;
    for (uint32_t k = i; k < state->count; k++) state->bend[k] = state->bend[k + 1];
    state->bend[state->count] = (PhxSplineWayBend){0};
    return true;
}

/* A knot near u that isn't close to another one, so that no piece becomes short; false where there's no room:
 * knots of a base are one apart. */
static bool find_knot(const PhxSpline *spline, fix16_t *u) {
    const fix16_t *knot = spline->knot + phx_spline_piece(spline, *u, 0);
    const fix16_t length = knot[1] - knot[0], edge = length / 4;
    if (length < PHX_FIX_ONE / 3) return false;
    if (*u < knot[0] + edge) *u = knot[0] + edge;
    if (*u > knot[1] - edge) *u = knot[1] - edge;
    return true;
}

/* Whether the way bends once more for the mover from now on: judged on the way as it is bent. */
static bool begin_bend(PhxSplineWay *way, PhxSplineWayState *state, const PhxSplineWatch *watch,
                       const PhxSplineMover *mover, const PhxSplineGround *ground) {
    PhxSplineWatch here = *watch;
    here.at = state->at, here.side = 0;
    if (is_far(watch, phx_spline_way_sample(way, state).point, &mover->body)) return false;
    PhxSplineThreat threat = phx_spline_threat(&way->bent_lengths, &way->bent, &here, &mover->body);
    if (!threat.needed || !find_knot(&way->bent, &threat.u)) return false;
    const PhxSplineBend bend = {&threat, &here, &mover->body, ground, state->at};
    const PhxSplineAnchor anchor = phx_spline_anchor(&way->bent_lengths, &way->bent, state->at);
    PhxSplineWayBend *fresh = &state->bend[state->count];
    *fresh = (PhxSplineWayBend){.id = mover->id, .side = threat.side};
    const bool made =
        phx_spline_evade_threat(&way->bent, &way->bent_lengths, &bend, &fresh->evasion) == PHX_OK;
    state->at = made ? phx_spline_anchor_find(&way->bent_lengths, &way->bent, &anchor) : state->at;
    if (made && !stands_in(way, state, &fresh->evasion)) {
        state->count++;
        return true;
    }
    if (made) { /* under the follower's feet: not there */
        (void)!phx_spline_evade_end(&way->bent, &fresh->evasion);
        phx_spline_measure(&way->bent_lengths, &way->bent);
        state->at = phx_spline_anchor_find(&way->bent_lengths, &way->bent, &anchor);
    }
    *fresh = (PhxSplineWayBend){0};
    return false;
}

uint32_t phx_spline_way_watch(PhxSplineWay *way, PhxSplineWayState *state, const PhxSplineWatch *watch,
                              const PhxSplineMover *movers, uint32_t count, const PhxSplineGround *ground) {
    uint32_t changes = 0;
    for (uint32_t i = state->count; i-- > 0;) {
        const PhxSplineMover *mover = mover_of(movers, count, state->bend[i].id);
        if (mover && still_needed(way, state, watch, &mover->body, state->bend[i].side)) continue;
        changes += end_bend(way, state, i);
    }
    for (uint32_t i = 0; i < count && state->count < PHX_SPLINE_WAY_BENDS; i++)
        changes += begin_bend(way, state, watch, &movers[i], ground);
    return changes;
}

bool phx_spline_way_walk(const PhxSplineWay *way, PhxSplineWayState *state, int64_t by) {
    PhxSplineFollower follower = {state->at, false};
    const uint32_t events = phx_spline_follow(&way->bent_lengths, PHX_SPLINE_ONCE, by, &follower);
    state->at = follower.at;
    return (events & PHX_SPLINE_DONE) != 0;
}

PhxSplineSample phx_spline_way_sample(const PhxSplineWay *way, const PhxSplineWayState *state) {
    const PhxSplinePlace place = place_of(way, state);
    return phx_spline_sample_in(&way->bent, place.piece, place.u);
}
