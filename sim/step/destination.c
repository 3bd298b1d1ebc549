/* destination.c: goals of orders that aren't one point: rows that orders share, and the phases `goals` and
 * `lean`.
 *
 * goals: where a unit's goal point lies that has several, or a target that moves: the nearest point; the
 * chased unit's position, when that is farther from the goal than the order's threshold. And units that stand
 * in closed cells, where something was built, get an order to leave them. lean: the directions of a blend's
 * other points, summed by weight. Cost: a few distances for a unit under such an order; for a blend a tile a
 * point. Determinism: goals is serial by slot; lean's jobs write their own units' rows; ties end in the lower
 * point. Rows count their users, so that one ends with the last order that leads to it.
 */
#include <string.h>

#include "base/bitset.h"
#include "step/sim_internal.h"

enum {
    LANES = PHX_COMMAND_POINT_LIMIT, /* points a row, as destination.def has it */
    LEAN_BITS = 12,                  /* of a direction that a sum of weights leaves out: 8 * 255 fits */
    CLOSE = 1 << 15                  /* raw: a chaser this near to its target has caught it */
};

static PhxTable *rows_of(PhxWorld *world) { return &world->tables[PHX_TABLE_destination]; }

PhxHandle phx_destination_make(PhxWorld *world, uint8_t mode, const PhxCommandPoint *points, uint32_t count,
                               fix16_t radius) {
    PhxDestinationTable *rows = &world->destination;
    const PhxHandle handle = phx_table_insert(rows_of(world));
    if (handle == PHX_HANDLE_NONE) return handle;
    const uint32_t row = phx_handle_slot(handle);
    rows->mode[row] = mode;
    rows->count[row] = (uint8_t)count;
    rows->radius[row] = radius;
    for (uint32_t i = 0; i < count; i++) {
        rows->x[row * LANES + i] = points[i].x;
        rows->y[row * LANES + i] = points[i].y;
        rows->weight[row * LANES + i] = points[i].weight;
    }
    return handle;
}

void phx_destination_hold(PhxWorld *world, PhxHandle destination) {
    const uint32_t row = phx_table_find(rows_of(world), destination);
    if (row != UINT32_MAX && world->destination.users[row] < UINT32_MAX) world->destination.users[row]++;
}

void phx_destination_drop(PhxWorld *world, PhxHandle destination) {
    const uint32_t row = phx_table_find(rows_of(world), destination);
    if (row == UINT32_MAX) return;
    if (world->destination.users[row] > 1)
        world->destination.users[row]--;
    else
        phx_table_remove(rows_of(world), row);
}

uint32_t phx_destination_of(const PhxWorld *world, uint32_t unit) {
    return phx_table_find(&world->tables[PHX_TABLE_destination], world->unit.destination[unit]);
}

static PhxVec2 position_of(const PhxWorld *world, uint32_t slot) {
    return phx_vec2(world->unit.pos_x[slot], world->unit.pos_y[slot]);
}

/* The goal of a unit with several points is the one nearest to it, as the crow flies: the field brings it to
 * the one that is nearest by the way, and there the two are the same. */
static void choose_nearest(PhxWorld *world, uint32_t slot, uint32_t row) {
    const PhxDestinationTable *rows = &world->destination;
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; i < rows->count[row] && i < LANES; i++) {
        const PhxVec2 point = {rows->x[row * LANES + i], rows->y[row * LANES + i]};
        const uint64_t distance_sq = phx_vec2_distance_sq(point, position_of(world, slot));
        if (distance_sq >= best) continue;
        best = distance_sq;
        world->unit.goal_x[slot] = point.x;
        world->unit.goal_y[slot] = point.y;
    }
}

static void end_chase(PhxSim *sim, uint32_t slot) {
    PhxOrder next;
    phx_sim_emit(sim, PHX_EVENT_TARGET_LOST, slot);
    if (phx_order_pop(sim->world, slot, &next))
        phx_order_begin(sim->world, slot, next);
    else
        phx_order_end(sim->world, slot);
}

static void follow(PhxSim *sim, uint32_t slot) {
    PhxWorld *world = sim->world;
    PhxUnitTable *units = &world->unit;
    const uint32_t target = phx_table_find(&world->tables[PHX_TABLE_unit], units->chase[slot]);
    if (target == UINT32_MAX) {
        end_chase(sim, slot);
        return;
    }
    const PhxVec2 there = position_of(world, target), goal = {units->goal_x[slot], units->goal_y[slot]};
    const int64_t threshold = units->chase_threshold[slot];
    if (phx_vec2_distance_sq(there, goal) > (uint64_t)(threshold * threshold)) {
        PhxAim aim = {.part = PHX_NAV_NO_CELL};
        if (phx_march_aim(sim, slot, there, &aim) && (aim.x != goal.x || aim.y != goal.y)) {
            units->goal_x[slot] = aim.x;
            units->goal_y[slot] = aim.y;
            units->best_distance[slot] = UINT32_MAX;
            units->way_x[slot] = units->way_y[slot] = 0;
        }
    }
    /* Who has caught up, or waits where the target was seen last, isn't stuck. */
    const int64_t reach = threshold + CLOSE + world->unit_type.radius[units->type[slot]] +
                          world->unit_type.radius[units->type[target]];
    if (phx_vec2_distance_sq(there, position_of(world, slot)) <= (uint64_t)(reach * reach))
        units->stalled[slot] = 0;
}

/* A unit that stands idle in a closed cell goes to the open one nearest to it. */
static void leave_closed_cell(PhxSim *sim, uint32_t slot) {
    PhxWorld *world = sim->world;
    const uint32_t layer = phx_layers_of(sim, slot);
    if (!phx_layers_is_ready(sim, layer)) return;
    const PhxVec2 at = position_of(world, slot);
    const PhxNavGrid plane = phx_routes_plane(sim->layers.routes, layer);
    const uint32_t size = phx_layers_size(sim, layer), cell = phx_cost_cell_of(&plane, size, at.x, at.y);
    if (plane.cost[cell] != PHX_NAV_IMPASSABLE || size > 1) return;
    const uint32_t open = phx_nav_nearest_open(&plane, cell);
    if (open == PHX_NAV_NO_CELL) return;
    const PhxVec2 center = phx_cost_center_of(&plane, size, open);
    phx_order_begin(world, slot,
                    (PhxOrder){.goal_x = center.x,
                               .goal_y = center.y,
                               .arrive_radius = world->unit_type.radius[world->unit.type[slot]]});
    world->unit.placed[slot] = 3; /* it isn't said to have arrived */
}

void phx_phase_goals(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    PhxWorld *world = context->world;
    const PhxTable *units = &world->tables[PHX_TABLE_unit];
    (void)user;
    for (size_t s = phx_bitset_next(units->alive, units->used, 0); s < units->used;
         s = phx_bitset_next(units->alive, units->used, s + 1)) {
        const uint32_t slot = (uint32_t)s;
        if (world->unit.activity[slot] == 0) {
            leave_closed_cell(sim, slot);
        } else if (world->unit.chase[slot] != PHX_HANDLE_NONE) {
            follow(sim, slot);
        } else if (world->unit.destination[slot] != PHX_HANDLE_NONE) {
            const uint32_t row = phx_destination_of(world, slot);
            if (row != UINT32_MAX && world->destination.mode[row] == PHX_DESTINATION_NEAREST)
                choose_nearest(world, slot, row);
        }
    }
}

static void lean_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxSim *sim = context;
    PhxUnitTable *units = &sim->world->unit;
    (void)worker;
    for (uint32_t i = begin; i < end; i++) {
        const uint32_t slot = sim->batch[i], row = phx_destination_of(sim->world, slot);
        const PhxUnitField field = phx_fields_of(sim, slot);
        if (!field.tile) continue;
        const PhxDir way = phx_tile_direction(field.tile, &field.plane, field.goal, field.at.x, field.at.y);
        const int64_t weight = sim->world->destination.weight[row * LANES + sim->lane];
        units->lean_x[slot] += (int32_t)phx_round_shift(way.x * weight, LEAN_BITS);
        units->lean_y[slot] += (int32_t)phx_round_shift(way.y * weight, LEAN_BITS);
    }
}

/* Lists the units under a blend that has a point `lane`. */
static uint32_t list_blends(PhxSim *sim, uint32_t lane) {
    const PhxWorld *world = sim->world;
    const PhxTable *units = &world->tables[PHX_TABLE_unit];
    uint32_t count = 0;
    for (size_t s = phx_bitset_next(units->alive, units->used, 0); s < units->used;
         s = phx_bitset_next(units->alive, units->used, s + 1)) {
        if (world->unit.activity[s] == 0 || world->unit.destination[s] == PHX_HANDLE_NONE) continue;
        const uint32_t row = phx_destination_of(world, (uint32_t)s);
        if (row == UINT32_MAX || world->destination.mode[row] != PHX_DESTINATION_BLEND) continue;
        if (lane < world->destination.count[row]) sim->later[count++] = (uint32_t)s;
    }
    return count;
}

void phx_phase_lean(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    PhxUnitTable *units = &context->world->unit;
    const uint32_t used = context->world->tables[PHX_TABLE_unit].used;
    (void)user;
    memset(units->lean_x, 0, used * sizeof *units->lean_x);
    memset(units->lean_y, 0, used * sizeof *units->lean_y);
    if (context->world->tables[PHX_TABLE_destination].live == 0) return;
    const PhxStatus status = phx_sim_derive_terrain(sim);
    if (status != PHX_OK) sim->trouble = status;
    for (sim->lane = 1; sim->lane < LANES; sim->lane++)
        for (uint32_t left = list_blends(sim, sim->lane); left > 0;) {
            left = phx_fields_prepare(sim, sim->later, left);
            phx_parallel_for(context->jobs, sim->batch_count, PHX_SIM_UNIT_GRAIN, lean_range, sim);
        }
    sim->lane = 0;
}
