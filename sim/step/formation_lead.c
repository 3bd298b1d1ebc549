/* formation_lead.c: what a formation asks of its members: the velocity of their slots, and what brings them
 * there.
 *
 * In: a frame, its step, the members' positions. Out: preferred velocities and headings of those who are led;
 * goals of those who aren't. A slot that the anchor doesn't see (it lies in a wall, or behind one) is drawn
 * in to the last point on the line to it that it sees. A member that doesn't see its slot, or is far from it,
 * isn't led: its field leads it to where the anchor was a short while ago, until it sees its slot again. Who
 * is led may go as fast as its body can, to catch up. Walls and other units are the affair of later phases.
 * Cost: two lines of sight a member. Determinism: serial, members ascending; each writes its own row alone.
 */
#include "motion/unit_controller.h"
#include "step/sim_internal.h"

enum {
    FAR = 24 * PHX_FIX_ONE,  /* who is farther from its slot isn't led */
    RALLY = 4 * PHX_FIX_ONE, /* the rally follows the anchor when it is so far from it */
    PRESS = PHX_FIX_ONE,     /* who is farther from its slot may press past others */
    CREEP = 1,               /* sixteenths of its speed */
    CREEP_LATE = 2,          /* the same, when it has been waited for */
    WAITED = 2,              /* seconds */
    HALVINGS = 6,
    LATE = 4 /* seconds that one who isn't led may be held up before it's no longer waited for */
};

/* Where a member's slot is, drawn in to what is seen from its row's middle. */
static PhxVec2 target_of(const PhxSim *sim, uint32_t row, uint32_t slot, const PhxNavGrid *solid,
                         uint32_t count, PhxDir *forward) {
    const uint32_t own = sim->world->unit.formation_slot[slot];
    PhxVec2 middle;
    const PhxVec2 at = phx_formation_place(sim, row, own < count ? own : 0, &middle, forward);
    if (phx_nav_line_of_sight(solid, middle, at)) return at;
    const PhxVec2 offset = phx_vec2_sub(at, middle);
    PhxVec2 seen = middle;
    fix16_t share = 0;
    for (int i = 1; i <= HALVINGS; i++) {
        const fix16_t more = share + (PHX_FIX_ONE >> i);
        const PhxVec2 point = phx_vec2_add(middle, phx_vec2_scale(offset, more));
        if (!phx_nav_line_of_sight(solid, middle, point)) continue;
        share = more;
        seen = point;
    }
    return seen;
}

static PhxVec2 position_of(const PhxWorld *world, uint32_t slot) {
    return phx_vec2(world->unit.pos_x[slot], world->unit.pos_y[slot]);
}

static uint32_t count_of(const PhxSim *sim, uint32_t row) {
    return sim->formations.first[row + 1] - sim->formations.first[row];
}

/* Of those who are led, how far the last is behind; and of those who aren't, unless they are held up. */
fix16_t phx_formation_lag(PhxSim *sim, uint32_t row) {
    const PhxWorld *world = sim->world;
    const uint32_t count = count_of(sim, row), *members = sim->formations.member + sim->formations.first[row];
    const PhxNavGrid solid = phx_barriers_grid(sim, members[0]);
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = members[i];
        if (world->unit.led[slot] == 0 &&
            world->unit.stalled[slot] >= LATE * (uint32_t)world->match.tick_rate[0])
            continue;
        PhxDir forward;
        const PhxVec2 target = target_of(sim, row, slot, &solid, count, &forward);
        const uint32_t far = phx_vec2_length(phx_vec2_sub(target, position_of(world, slot)));
        if (far > most) most = far;
    }
    return phx_fix_saturate(most);
}

/* From the velocity of its slot and how far it is from it: half a second's way of what is left, and no more
 * than its acceleration can bring to rest. */
static PhxVec2 wanted_velocity(const PhxUnitLimits *limits, PhxVec2 slot_velocity, PhxVec2 error) {
    const fix16_t gain = 2 * PHX_FIX_ONE;
    fix16_t safe = limits->speed > 0 ? phx_fix_div(limits->acceleration, limits->speed) : gain;
    if (safe > gain) safe = gain;
    return phx_vec2_clamp_length(phx_vec2_add(slot_velocity, phx_vec2_scale(error, safe)), limits->speed);
}

/* Small corrections are made sideways or backwards; for longer ways a unit turns to where it goes. */
static void steer(PhxUnitTable *units, uint32_t slot, PhxUnitLimits limits, PhxVec2 wanted, PhxAngle facing) {
    PhxDir way;
    const uint32_t speed = phx_vec2_normalize(wanted, &way);
    if (speed < (uint32_t)limits.speed / 4) {
        const uint32_t turn = (uint32_t)limits.turn_rate / limits.tick_rate;
        units->heading[slot] = phx_angle_approach(units->heading[slot], facing, turn > 0 ? turn : 1);
        units->pref_x[slot] = wanted.x;
        units->pref_y[slot] = wanted.y;
        return;
    }
    limits.speed = (fix16_t)speed;
    const PhxSteering steering = phx_unit_steer(&limits, units->heading[slot], way, INT32_MAX);
    units->heading[slot] = steering.heading;
    units->pref_x[slot] = steering.preferred.x;
    units->pref_y[slot] = steering.preferred.y;
}

static void send(PhxUnitTable *units, uint32_t slot, PhxVec2 to) {
    if (units->goal_x[slot] == to.x && units->goal_y[slot] == to.y) return;
    units->goal_x[slot] = to.x;
    units->goal_y[slot] = to.y;
    units->best_distance[slot] = UINT32_MAX;
    units->way_x[slot] = units->way_y[slot] = 0;
}

static void lead_unit(PhxUnitTable *units, uint32_t slot) {
    units->led[slot] = 1;
    units->activity[slot] = 1;
    units->best_distance[slot] = UINT32_MAX;
    units->stalled[slot] = units->detour[slot] = 0;
    units->stuck[slot] = units->yielded[slot] = 0;
    units->way_x[slot] = units->way_y[slot] = 0;
    units->aim[slot] = 0;
    units->creep[slot] = 0;
}

void phx_formation_lead(PhxSim *sim, uint32_t row, const PhxFormationStep *step) {
    PhxFormationTable *rows = &sim->world->formation;
    PhxUnitTable *units = &sim->world->unit;
    const uint32_t count = count_of(sim, row), *members = sim->formations.member + sim->formations.first[row];
    const PhxNavGrid solid = phx_barriers_grid(sim, members[0]);
    const PhxVec2 anchor = {rows->x[row], rows->y[row]};
    const fix16_t speed = phx_fix_saturate(phx_vec2_length(step->velocity));
    const PhxVec2 rally = {rows->rally_x[row], rows->rally_y[row]};
    if (phx_vec2_distance_sq(rally, anchor) > (uint64_t)RALLY * RALLY) {
        rows->rally_x[row] = anchor.x;
        rows->rally_y[row] = anchor.y;
    }
    const bool is_late = rows->waited[row] >= WAITED * (uint32_t)sim->world->match.tick_rate[0];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = members[i];
        PhxDir forward;
        const PhxVec2 at = position_of(sim->world, slot),
                      target = target_of(sim, row, slot, &solid, count, &forward),
                      error = phx_vec2_sub(target, at);
        if (phx_vec2_length_sq(error) > (uint64_t)FAR * FAR || !phx_nav_line_of_sight(&solid, at, target)) {
            units->led[slot] = 0;
            send(units, slot, phx_vec2(rows->rally_x[row], rows->rally_y[row]));
            continue;
        }
        lead_unit(units, slot);
        if (phx_vec2_length_sq(error) > (uint64_t)PRESS * PRESS)
            units->creep[slot] = is_late ? CREEP_LATE : CREEP;
        units->goal_x[slot] = rows->goal_x[row];
        units->goal_y[slot] = rows->goal_y[row];
        const PhxUnitLimits limits = phx_unit_limits(sim, slot);
        const PhxVec2 velocity =
            sim->formations.trails
                ? phx_dir_scale(forward, speed)
                : phx_formation_slot_velocity(step, phx_vec2_sub(target, anchor), limits.tick_rate);
        steer(units, slot, limits, wanted_velocity(&limits, velocity, error),
              phx_angle_of(forward.x, forward.y));
    }
}
