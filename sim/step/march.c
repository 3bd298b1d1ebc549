/* march.c: the commands that send units somewhere: to a point, into an area, to the nearest of several
 * points, along a blend of fields, after another unit.
 *
 * In: a command. Out: orders of its units. Cost: linear in the units; a goal that can't be reached adds a
 * search for the nearest reachable cell, once for each layer and connected part that the units stand in.
 * Determinism: units are served in the command's order; a row of table destination is shared by all of them.
 */
#include "step/sim_internal.h"

static void count(uint32_t *counter) {
    if (*counter < UINT32_MAX) ++*counter;
}

/* Radius of the disc that holds the command's units at a packing of 0.8: sqrt(sum of squared radii / 0.8).
 * Bound: 500 units of radius 2^20: below 2^49 / 0.8. */
static fix16_t group_radius(PhxWorld *world, const PhxCommandData *command, uint8_t player) {
    const PhxTable *units = &world->tables[PHX_TABLE_unit];
    uint64_t area = 0;
    for (uint32_t i = 0; i < command->unit_count; i++) {
        const uint32_t slot = phx_table_find(units, phx_command_unit(command, i));
        if (slot == UINT32_MAX || world->unit.player[slot] != player) continue;
        const uint64_t radius = (uint64_t)world->unit_type.radius[world->unit.type[slot]];
        area += radius * radius;
    }
    return (fix16_t)phx_isqrt64(area + area / 4);
}

/* The open cell of its layer that a unit stands in or next to; PHX_NAV_NO_CELL: none, on a map of walls. */
static uint32_t open_cell_of(const PhxSim *sim, uint32_t slot, uint32_t layer) {
    const PhxUnitTable *units = &sim->world->unit;
    const PhxNavGrid plane = phx_routes_plane(sim->layers.routes, layer);
    return phx_nav_nearest_open(&plane, phx_cost_cell_of(&plane, phx_layers_size(sim, layer),
                                                         units->pos_x[slot], units->pos_y[slot]));
}

bool phx_march_aim(const PhxSim *sim, uint32_t slot, PhxVec2 point, PhxAim *aim) {
    const uint32_t layer = phx_layers_of(sim, slot);
    if (!phx_layers_is_ready(sim, layer)) return false; /* the unit was born in this tick */
    const uint32_t from = open_cell_of(sim, slot, layer);
    if (from == PHX_NAV_NO_CELL) return false;
    const PhxRoutes *routes = sim->layers.routes;
    const uint32_t part = phx_routes_part(routes, layer, from);
    if (part == aim->part && layer == aim->layer) return true;
    const PhxNavGrid plane = phx_routes_plane(routes, layer);
    const uint32_t size = phx_layers_size(sim, layer),
                   wanted = phx_cost_cell_of(&plane, size, point.x, point.y);
    const bool on_map = phx_nav_cell_at(&plane, point.x, point.y) != PHX_NAV_NO_CELL;
    *aim = (PhxAim){layer, part, point.x, point.y, true};
    if (on_map && phx_routes_part(routes, layer, wanted) == part) return true;
    const PhxVec2 center = phx_cost_center_of(&plane, size, phx_routes_nearest(routes, layer, from, wanted));
    *aim = (PhxAim){layer, part, center.x, center.y, false};
    return true;
}

static void give(PhxSim *sim, uint32_t slot, bool queued, PhxOrder order) {
    PhxWorld *world = sim->world;
    phx_destination_hold(world, order.destination);
    if (!queued || world->unit.activity[slot] == 0) {
        phx_order_clear(world, slot);
        phx_order_begin(world, slot, order);
    } else if (!phx_order_push(world, slot, order)) {
        phx_destination_drop(world, order.destination);
        count(&world->match.commands_full[0]);
    }
}

/* The goals of a command, as points; for a chase, where the target is. False: there is no target. */
static uint32_t points_of(const PhxWorld *world, const PhxCommandData *command, PhxCommandPoint *points) {
    const uint32_t target = phx_table_find(&world->tables[PHX_TABLE_unit], command->target);
    if (command->type == PHX_COMMAND_MOVE_NEAREST || command->type == PHX_COMMAND_MOVE_BLEND) {
        for (uint32_t i = 0; i < command->point_count; i++) points[i] = command->points[i];
        return command->point_count;
    }
    points[0] = (PhxCommandPoint){command->goal_x, command->goal_y, 1};
    if (command->type != PHX_COMMAND_CHASE) return 1;
    if (target == UINT32_MAX) return 0;
    points[0] = (PhxCommandPoint){world->unit.pos_x[target], world->unit.pos_y[target], 1};
    return 1;
}

/* A destination with a row of table march, which asks for a plan; none where either table is full. */
static PhxHandle lanes_for(PhxWorld *world, const PhxCommandData *command) {
    const PhxCommandPoint goal = {command->goal_x, command->goal_y, 1};
    const PhxHandle lanes = phx_table_insert(&world->tables[PHX_TABLE_march]);
    if (lanes == PHX_HANDLE_NONE) return lanes;
    const PhxHandle made = phx_destination_make(world, PHX_DESTINATION_LANES, &goal, 1, 0);
    const uint32_t row = phx_handle_slot(lanes);
    if (made == PHX_HANDLE_NONE) {
        phx_table_remove(&world->tables[PHX_TABLE_march], row);
        return made;
    }
    world->destination.march[phx_handle_slot(made)] = lanes;
    world->march.destination[row] = made;
    world->march.asked[row] = world->match.tick[0];
    world->march.spread[row] = command->lane_spread;
    return made;
}

/* The row for a command that needs one; none for the others, and where the table is full. */
static PhxHandle destination_for(PhxWorld *world, const PhxCommandData *command) {
    const PhxCommandPoint center = {command->goal_x, command->goal_y, 1};
    switch (command->type) {
    case PHX_COMMAND_MOVE_AREA:
        return phx_destination_make(world, PHX_DESTINATION_AREA, &center, 1, command->radius);
    case PHX_COMMAND_MOVE_NEAREST:
        return phx_destination_make(world, PHX_DESTINATION_NEAREST, command->points, command->point_count, 0);
    case PHX_COMMAND_MOVE_BLEND:
        return phx_destination_make(world, PHX_DESTINATION_BLEND, command->points, command->point_count, 0);
    case PHX_COMMAND_MARCH:
        return lanes_for(world, command);
    default:
        return PHX_HANDLE_NONE;
    }
}

/* The first of the points that a unit can reach; where there is none, the nearest it can come to the first. A
 * blend has only one goal. Within an area any cell will do. */
static bool choose_aim(const PhxSim *sim, const PhxCommandData *command, uint32_t slot,
                       const PhxCommandPoint *points, uint32_t point_count, PhxAim *aims, PhxAim *out) {
    if (!phx_march_aim(sim, slot, phx_vec2(points[0].x, points[0].y), &aims[0])) return false;
    *out = aims[0];
    for (uint32_t i = 1; i < point_count && command->type == PHX_COMMAND_MOVE_NEAREST && !out->reachable; i++)
        if (phx_march_aim(sim, slot, phx_vec2(points[i].x, points[i].y), &aims[i]) && aims[i].reachable)
            *out = aims[i];
    if (command->type == PHX_COMMAND_MOVE_AREA && !out->reachable) {
        const PhxVec2 to = {out->x - points[0].x, out->y - points[0].y};
        out->reachable = phx_vec2_length(to) <= (uint32_t)command->radius;
    }
    return true;
}

void phx_march_execute(PhxSim *sim, const PhxCommandData *command, uint8_t player) {
    PhxWorld *world = sim->world;
    PhxAim aims[PHX_COMMAND_POINT_LIMIT], aim;
    PhxCommandPoint points[PHX_COMMAND_POINT_LIMIT];
    const uint32_t point_count = points_of(world, command, points);
    const fix16_t radius = group_radius(world, command, player);
    for (uint32_t i = 0; i < PHX_COMMAND_POINT_LIMIT; i++) aims[i] = (PhxAim){.part = PHX_NAV_NO_CELL};
    if (point_count == 0) {
        count(&world->match.commands_late[0]);
        return;
    }
    const PhxHandle row = destination_for(world, command);
    phx_destination_hold(world, row); /* until all have their orders */
    for (uint32_t i = 0; i < command->unit_count; i++) {
        const uint32_t slot = phx_command_own_unit(world, command, i, player);
        if (slot == UINT32_MAX || !choose_aim(sim, command, slot, points, point_count, aims, &aim)) continue;
        PhxOrder order = {.goal_x = aim.x, .goal_y = aim.y, .arrive_radius = radius};
        if (aim.reachable) order.destination = row;
        if (command->type == PHX_COMMAND_CHASE) {
            if (phx_handle_slot(command->target) == slot) continue; /* nobody chases himself */
            order.chase = command->target;
            order.chase_threshold = command->threshold;
        }
        give(sim, slot, command->queued, order);
        if (!aim.reachable) phx_sim_emit(sim, PHX_EVENT_UNREACHABLE, slot);
    }
    phx_destination_drop(world, row);
}
