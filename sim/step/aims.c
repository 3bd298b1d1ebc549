/* aims.c: the phase `aims`: goals that can't be reached any more, because a building lies on them, a gate
 * shut, or ground closed, are moved to the nearest cell that can, and that is said.
 *
 * In: what the fields say in this tick. Out: new goals of the units that no way leads to theirs, or whose
 * goal lies in a closed cell of their layer. A unit in a closed cell walks out first, and is asked from the
 * cell that it walks to. So an order ends as near to its goal as it can, and stays that way when the ground
 * opens again. Units that follow another, and those with several goals, have goals that change by themselves.
 * Cost: a look at a cell for each moving unit; a search for each that lost its way, shared by those beside it
 * that lost the same. Determinism: serial, by ascending slot; a pure function of the state in this tick.
 */
#include "step/sim_internal.h"

/* Where units of one layer and one connected part of it go instead of a cell. */
typedef struct NewAim {
    uint32_t layer, part, wanted;
    PhxVec2 point;
} NewAim;

static bool has_one_goal(const PhxUnitTable *units, uint32_t slot) {
    return units->destination[slot] == PHX_HANDLE_NONE && units->chase[slot] == PHX_HANDLE_NONE &&
           units->led[slot] == 0;
}

/* The cheap question: the goal's cell is closed, or the field knew no way (or one too long to be told). */
static bool may_be_lost(const PhxUnitTable *units, uint32_t slot, const PhxNavGrid *plane, uint32_t wanted) {
    return plane->cost[wanted] == PHX_NAV_IMPASSABLE || units->left[slot] >= UINT32_MAX - 1;
}

static void turn_to(PhxSim *sim, uint32_t slot, PhxVec2 point) {
    PhxUnitTable *units = &sim->world->unit;
    units->goal_x[slot] = point.x;
    units->goal_y[slot] = point.y;
    units->best_distance[slot] = UINT32_MAX;
    units->stalled[slot] = 0;
    units->stuck[slot] = 0;
    units->yielded[slot] = 0;
    units->way_x[slot] = units->way_y[slot] = 0;
    units->detour[slot] = 0;
    units->placed[slot] = 0;
    phx_sim_emit(sim, PHX_EVENT_UNREACHABLE, slot);
}

static void check_unit(PhxSim *sim, uint32_t slot, NewAim *aim) {
    const PhxUnitTable *units = &sim->world->unit;
    const PhxRoutes *routes = sim->layers.routes;
    const uint32_t layer = phx_layers_of(sim, slot), size = phx_layers_size(sim, layer);
    if (!has_one_goal(units, slot) || !phx_layers_is_ready(sim, layer)) return;
    const PhxNavGrid plane = phx_routes_plane(routes, layer);
    const uint32_t wanted = phx_cost_cell_of(&plane, size, units->goal_x[slot], units->goal_y[slot]);
    if (!may_be_lost(units, slot, &plane, wanted)) return;
    const uint32_t from =
        phx_nav_nearest_open(&plane, phx_cost_cell_of(&plane, size, units->pos_x[slot], units->pos_y[slot]));
    if (from == PHX_NAV_NO_CELL) return;
    const uint32_t part = phx_routes_part(routes, layer, from);
    if (phx_routes_part(routes, layer, wanted) == part) return;
    if (layer != aim->layer || part != aim->part || wanted != aim->wanted)
        *aim = (NewAim){layer, part, wanted,
                        phx_cost_center_of(&plane, size, phx_routes_nearest(routes, layer, from, wanted))};
    turn_to(sim, slot, aim->point);
}

void phx_phase_aims(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    NewAim aim = {.part = PHX_NAV_NO_CELL};
    (void)user;
    for (uint32_t i = 0; i < sim->moving_count; i++) check_unit(sim, sim->moving[i], &aim);
}
