/* arrive.c: the phase `arrive`: who has reached a goal, who is blocked, and what order comes next.
 *
 * A unit has arrived
 *   - when it stands at its goal or at the place that was promised to it there (settle.c), or within half its
 * radius of the place and has made no progress for a second;
 *   - when more orders wait and it is inside the group's disc: a waypoint is passed, not settled on;
 *   - when it was stuck again and again near its goal and no place is left there.
 * A unit that has been stalled for two seconds elsewhere is blocked: said once, and it keeps trying
 * (unstick.c); in the end it gives up. A chase ends with its target alone. Cost: a distance a moving unit.
 * Determinism: serial, by ascending slot; so are the events and the counts.
 */
#include "step/sim_internal.h"

enum {
    EXACT = 1 << 11, /* raw: a goal is reached at this distance */
    PATIENCE = 20,   /* times that a unit was stuck near its goal, without progress */
    GIVE_UP = 100    /* times that a unit was stuck without progress */
};

static fix16_t radius_of(const PhxWorld *world, uint32_t slot) {
    return world->unit_type.radius[world->unit.type[slot]];
}

/* Within this distance of its goal a unit that gets no farther has arrived, raw Q16.16: the disc may be cut
 * by walls, or filled by others. */
static int64_t patience_radius(const PhxWorld *world, uint32_t slot) {
    return 2 * (int64_t)world->unit.arrive_radius[slot] + 4 * PHX_FIX_ONE;
}

/* A goal with another order behind it is passed at this distance. */
static int64_t passing_radius(const PhxWorld *world, uint32_t slot) {
    const uint32_t row = phx_destination_of(world, slot);
    const int64_t group = world->unit.arrive_radius[slot];
    if (row == UINT32_MAX || world->destination.mode[row] != PHX_DESTINATION_AREA) return group;
    return world->destination.radius[row] > group ? world->destination.radius[row] : group;
}

static bool has_arrived(const PhxWorld *world, uint32_t slot) {
    const PhxUnitTable *units = &world->unit;
    if (units->chase[slot] != PHX_HANDLE_NONE) return false;     /* ends with its target */
    if (units->formation[slot] != PHX_HANDLE_NONE) return false; /* all of it arrive at once */
    const bool placed = units->placed[slot] == 1 || units->placed[slot] == 2;
    const PhxVec2 to_goal = {(placed ? units->place_x[slot] : units->goal_x[slot]) - units->pos_x[slot],
                             (placed ? units->place_y[slot] : units->goal_y[slot]) - units->pos_y[slot]};
    const int64_t distance = phx_vec2_length(to_goal);
    if (units->orders[slot] != PHX_HANDLE_NONE) return distance <= passing_radius(world, slot);
    if (distance <= EXACT && (placed || units->aim[slot] == 0)) return true;
    const bool stalled = units->stalled[slot] >= world->match.tick_rate[0];
    if (stalled && placed && distance <= radius_of(world, slot) / 2) return true;
    return units->aim[slot] == 0 && units->stuck[slot] >= PATIENCE &&
           distance <= patience_radius(world, slot);
}

static void begin_next(PhxWorld *world, uint32_t slot) {
    PhxOrder next;
    if (phx_order_pop(world, slot, &next))
        phx_order_begin(world, slot, next);
    else
        phx_order_end(world, slot);
}

static void finish_order(PhxSim *sim, uint32_t slot) {
    PhxWorld *world = sim->world;
    if (world->unit.placed[slot] < 2) {
        phx_sim_emit(sim, PHX_EVENT_ARRIVED, slot);
        world->player.arrived[world->unit.player[slot]]++;
    }
    world->unit.placed[slot] = 1;
    begin_next(world, slot);
}

/* What being stuck leads to: a unit leaves a blend of fields for good, and gives up in the end: true. */
static bool answer_stuck(PhxSim *sim, uint32_t slot) {
    PhxWorld *world = sim->world;
    PhxUnitTable *units = &world->unit;
    const uint32_t row = phx_destination_of(world, slot);
    if (row != UINT32_MAX && world->destination.mode[row] == PHX_DESTINATION_BLEND) {
        phx_destination_drop(world, units->destination[slot]);
        units->destination[slot] = PHX_HANDLE_NONE;
    }
    if (units->stuck[slot] < GIVE_UP) return false;
    phx_sim_emit(sim, PHX_EVENT_GAVE_UP, slot);
    units->placed[slot] = 0;
    begin_next(world, slot);
    return true;
}

/* A place that can't be reached for long is given back, and another one looked for. */
static void give_place_back(PhxUnitTable *units, uint32_t slot) {
    units->placed[slot] = units->placed[slot] == 2 ? 3 : 0;
    units->best_distance[slot] = UINT32_MAX;
    units->stalled[slot] = 0;
}

void phx_phase_arrive(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    PhxUnitTable *units = &context->world->unit;
    const uint32_t patience = 2u * context->world->match.tick_rate[0]; /* at most 2000 ticks */
    (void)user;
    for (uint32_t i = 0; i < sim->moving_count; i++) {
        const uint32_t slot = sim->moving[i];
        if (units->activity[slot] == 0) continue; /* its formation arrived in this tick */
        if (has_arrived(context->world, slot)) {
            finish_order(sim, slot);
        } else if (units->stuck[slot] > 0 && answer_stuck(sim, slot)) {
            continue;
        } else if ((units->placed[slot] == 1 || units->placed[slot] == 2) &&
                   units->stalled[slot] >= patience) {
            give_place_back(units, slot);
        } else if (units->stalled[slot] == 0) {
            units->activity[slot] = 1;
        } else if (units->stalled[slot] >= patience && units->activity[slot] != 2) {
            units->activity[slot] = 2;
            phx_sim_emit(sim, PHX_EVENT_BLOCKED, slot);
        }
    }
}
