/* unstick.c: the phase `unstick`: who has made no progress for a while makes room, or tries another way.
 *
 * Two units that press against each other and a wall can hold each other for ever: each keeps what the other
 * needs. So one has the right of way: the one with less of its way left (equal: the lower slot). A stalled
 * unit that touches a stalled one with the right of way backs out of its way, to the next place where both
 * have room (sim/step/retreat.c), and waits there until the other one may have come by; those behind it do
 * the same for it, so that a whole file backs out. Where there is no such place, it steps to the neighbouring
 * one that is farthest from the other. A stalled unit that waits for no one is stuck: it steps aside, the
 * side chosen by its slot and by how often it tried. Counts and places are state and end with progress. In:
 * positions, what is left of the ways. Out: detours. Cost: a query of neighbours for each stalled unit.
 * Determinism: serial, by ascending slot, as a count that one unit begins anew is read of others; neighbours
 * are ordered by (distance, slot).
 */
#include "motion/unit_controller.h"
#include "step/sim_internal.h"

enum {
    NEAR = 8,         /* neighbours that are looked at */
    TOUCH = 1 << 13,  /* raw: bodies this near touch */
    LONGEST = 4,      /* seconds of a detour */
    LONGEST_WAY = 15, /* seconds that a way back may take */
    GROWTH = 8,       /* tries for a second more of detour */
};

static fix16_t radius_of(const PhxWorld *world, uint32_t slot) {
    return world->unit_type.radius[world->unit.type[slot]];
}

static bool has_right_of_way(const PhxUnitTable *units, uint32_t other, uint32_t slot) {
    if (units->left[other] != units->left[slot]) return units->left[other] < units->left[slot];
    return other < slot;
}

/* The nearest unit that this one touches and that has the right of way, or UINT32_MAX. */
static uint32_t whom_to_yield(const PhxSim *sim, uint32_t slot) {
    const PhxUnitTable *units = &sim->world->unit;
    const PhxVec2 at = {units->pos_x[slot], units->pos_y[slot]};
    const int64_t radius = radius_of(sim->world, slot), wide = 4 * radius + TOUCH;
    PhxNear near[NEAR];
    const uint32_t count = phx_spatial_nearest(
        &sim->spatial, at, wide < PHX_SPATIAL_MAX_RANGE ? (fix16_t)wide : PHX_SPATIAL_MAX_RANGE, slot, NEAR,
        near);
    uint32_t moving = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t other = near[i].slot;
        const int64_t touch = radius + radius_of(sim->world, other) + TOUCH;
        if (near[i].distance_sq > (uint64_t)(touch * touch) || units->activity[other] == 0) continue;
        if (!has_right_of_way(units, other, slot)) continue;
        if (units->stalled[other] >= sim->world->match.tick_rate[0]) return other;
        moving = other;
    }
    return moving;
}

/* Centres of the cells around a unit's own, a body's width away, where it can stand: the one farthest from
 * `from`; equal: the lowest direction. False: there is none. */
static bool place_away(const PhxSim *sim, uint32_t slot, PhxVec2 from, PhxVec2 *out) {
    const PhxUnitTable *units = &sim->world->unit;
    const PhxNavGrid grid = phx_barriers_grid(sim, slot);
    const fix16_t radius = radius_of(sim->world, slot);
    const int32_t step = (int32_t)phx_cost_size_of(radius);
    const uint32_t own = phx_nav_cell_clamped(&grid, units->pos_x[slot], units->pos_y[slot]);
    const int32_t x = (int32_t)(own % grid.width), y = (int32_t)(own / grid.width);
    uint64_t best = 0;
    for (int code = 0; code < 8; code++) {
        const int32_t cx = x + step * phx_flow_dx[code], cy = y + step * phx_flow_dy[code];
        if (!phx_nav_passable(&grid, cx, cy)) continue;
        if (!phx_nav_passable(&grid, cx, y) || !phx_nav_passable(&grid, x, cy)) continue;
        const PhxVec2 place = phx_nav_cell_center(&grid, (uint32_t)cy * grid.width + (uint32_t)cx);
        const uint64_t distance_sq = phx_vec2_distance_sq(place, from);
        if (distance_sq <= best) continue;
        best = distance_sq;
        *out = place;
    }
    return best > 0;
}

/* What a unit steps aside from when it is stuck and none is in its way: a point beside it, on one side or the
 * other, or before it. */
static PhxVec2 obstacle_of(const PhxUnitTable *units, uint32_t slot) {
    static const uint16_t turns[4] = {PHX_ANGLE_QUARTER, 3 * PHX_ANGLE_QUARTER, 0, PHX_ANGLE_HALF};
    const PhxAngle angle = (PhxAngle)(units->heading[slot] + turns[(slot + units->stuck[slot]) % 4]);
    return phx_vec2_add(phx_vec2(units->pos_x[slot], units->pos_y[slot]),
                        phx_dir_scale(phx_dir_of_angle(angle), PHX_FIX_ONE));
}

static uint8_t one_more(uint8_t count) { return count < UINT8_MAX ? (uint8_t)(count + 1) : count; }

static uint32_t seconds_of(uint32_t tries) {
    return 1 + tries / GROWTH < LONGEST ? 1 + tries / GROWTH : LONGEST;
}

static void begin_detour(const PhxSim *sim, uint32_t slot, PhxVec2 to, uint32_t ticks) {
    PhxUnitTable *units = &sim->world->unit;
    units->detour[slot] = (uint16_t)(ticks < UINT16_MAX ? ticks : UINT16_MAX);
    units->detour_x[slot] = to.x;
    units->detour_y[slot] = to.y;
}

/* Whether two come towards each other: who only waits in one queue with another stays there. */
static bool are_opposed(const PhxUnitTable *units, uint32_t slot, uint32_t other) {
    return (int64_t)units->pref_x[slot] * units->pref_x[other] +
               (int64_t)units->pref_y[slot] * units->pref_y[other] <
           0;
}

/* Half as long again as the way back takes, and a while: then the other one may have come by. */
static void yield_to(const PhxSim *sim, uint32_t slot, uint32_t other) {
    PhxUnitTable *units = &sim->world->unit;
    const uint32_t rate = sim->world->match.tick_rate[0], tries = units->yielded[slot];
    const PhxVec2 at = {units->pos_x[slot], units->pos_y[slot]},
                  from = {units->pos_x[other], units->pos_y[other]};
    PhxVec2 to;
    uint32_t ticks = seconds_of(tries) * rate;
    if (are_opposed(units, slot, other) && phx_unit_retreat(sim, slot, from, &to)) {
        const uint64_t way = phx_vec2_length(phx_vec2_sub(to, at)),
                       speed = (uint32_t)phx_unit_limits(sim, slot).speed;
        const uint64_t back = speed > 0 ? way * rate / speed : 0; /* 2^22 * 1000 */
        ticks += (uint32_t)(back < LONGEST_WAY * rate ? back * 3 / 2 : LONGEST_WAY * rate);
    } else if (!place_away(sim, slot, from, &to)) {
        return;
    }
    begin_detour(sim, slot, to, ticks);
}

static void unstick_unit(const PhxSim *sim, uint32_t slot) {
    PhxUnitTable *units = &sim->world->unit;
    const uint32_t rate = sim->world->match.tick_rate[0];
    if (units->activity[slot] == 0 || units->detour[slot] > 0 || units->stalled[slot] < rate) return;
    const uint32_t other = whom_to_yield(sim, slot);
    if (other != UINT32_MAX) {
        if (units->stalled[other] < rate) return; /* it moves, so this one will too */
        yield_to(sim, slot, other);
        units->yielded[slot] = one_more(units->yielded[slot]);
    } else if (units->stalled[slot] >= 2 * rate) {
        PhxVec2 to;
        if (place_away(sim, slot, obstacle_of(units, slot), &to))
            begin_detour(sim, slot, to, seconds_of(units->stuck[slot]) * rate);
        units->stuck[slot] = one_more(units->stuck[slot]);
        units->stalled[slot] =
            (uint16_t)rate; /* the next time is later, where there was no room for a detour */
    }
}

void phx_phase_unstick(const PhxPhaseContext *context, void *user) {
    const PhxSim *sim = context->sim;
    (void)user;
    for (uint32_t i = 0; i < sim->moving_count; i++) unstick_unit(sim, sim->moving[i]);
}
