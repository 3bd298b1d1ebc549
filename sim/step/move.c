/* move.c: the phases prefer, grid, orca and integrate: from wishes to positions.
 *
 * In: goals, fields, positions and velocities of the last tick. Out: preferred velocities, velocities,
 * positions. Cost: linear in the units. Determinism: each parallel loop reads columns that no range of it
 * writes, and writes only the rows of its own units, so that neither the split nor the order of ranges can
 * change a bit.
 */
#include <string.h>

#include "motion/unit_controller.h"
#include "step/sim_internal.h"

static PhxUnitLimits limits_of(const PhxWorld *world, uint32_t slot) {
    const PhxUnitTypeTable *types = &world->unit_type;
    const uint32_t type = world->unit.type[slot];
    return (PhxUnitLimits){types->speed[type], types->acceleration[type], types->turn_rate[type],
                           world->match.tick_rate[0]};
}

static PhxVec2 position_of(const PhxWorld *world, uint32_t slot) {
    return phx_vec2(world->unit.pos_x[slot], world->unit.pos_y[slot]);
}

/* Which way the field leads a unit; (0, 0) in the goal's cell and where there is no way. */
static PhxDir field_direction_of(const PhxSim *sim, uint32_t slot) {
    const PhxUnitField field = phx_fields_of(sim, slot);
    if (!field.tile) return phx_dir(0, 0);
    return phx_tile_direction(field.tile, &field.plane, field.goal, field.at.x, field.at.y);
}

/* Whether a unit is in the cell of its goal, and walks straight to the point. */
static bool in_goal_cell(const PhxSim *sim, uint32_t slot) {
    const PhxUnitField field = phx_fields_of(sim, slot);
    bool in_sight;
    return field.tile && phx_tile_flow(field.tile, &field.plane, field.cell, &in_sight) == PHX_FLOW_GOAL;
}

/* Cost of the way to the goal, in tenths of a cell; UINT64_MAX: none. */
static uint64_t cost_to_goal(const PhxSim *sim, uint32_t slot) {
    const PhxUnitField field = phx_fields_of(sim, slot);
    return field.tile ? phx_tile_cost(field.tile, &field.plane, field.cell) : UINT64_MAX;
}

/* For the one purpose of seeing progress: 64 times the field's cost, and inside the goal's cell the distance
 * in units of 2^-6 (at most 91, so always below a neighbouring cell's 640). */
static uint32_t progress_measure(const PhxSim *sim, uint32_t slot, uint32_t distance) {
    if (sim->world->unit.aim[slot] == 2) return sim->world->unit.aim_left[slot];
    if (sim->world->unit.aim[slot] != 0 || in_goal_cell(sim, slot)) return distance >> 10;
    const uint64_t cost = cost_to_goal(sim, slot);
    return cost < UINT32_MAX / 64 ? (uint32_t)cost * 64 : UINT32_MAX - 1;
}

static void note_progress(PhxUnitTable *units, uint32_t slot, uint32_t measure) {
    units->left[slot] = measure;
    if (measure < units->best_distance[slot]) {
        units->best_distance[slot] = measure;
        units->stalled[slot] = 0;
        units->stuck[slot] = 0;
    } else if (units->stalled[slot] < UINT16_MAX) {
        units->stalled[slot]++;
    }
}

/* Where a unit wants to go now, how far it is to the point that it goes to, and whether it stops there. */
typedef struct Wish {
    PhxDir way;
    uint32_t distance;
    bool stops;
} Wish;

static Wish wish_for(const PhxSim *sim, uint32_t slot) {
    const PhxUnitTable *units = &sim->world->unit;
    const PhxVec2 at = position_of(sim->world, slot);
    const bool aimed = units->aim[slot] != 0;
    const PhxVec2 goal = aimed ? phx_vec2(units->aim_x[slot], units->aim_y[slot])
                               : phx_vec2(units->goal_x[slot], units->goal_y[slot]);
    Wish wish = {.stops = units->aim[slot] != 2};
    wish.distance = phx_vec2_normalize(phx_vec2_sub(goal, at), &wish.way);
    if (!aimed && !in_goal_cell(sim, slot)) wish.way = field_direction_of(sim, slot);
    return wish;
}

/* The same during a detour: to its end, where the unit waits until the time is over. */
static Wish wish_of_detour(const PhxUnitTable *units, uint32_t slot) {
    const PhxVec2 to = {units->detour_x[slot] - units->pos_x[slot],
                        units->detour_y[slot] - units->pos_y[slot]};
    Wish wish = {.stops = true};
    wish.distance = phx_vec2_normalize(to, &wish.way);
    return wish;
}

static void prefer_unit(const PhxSim *sim, uint32_t slot) {
    PhxUnitTable *units = &sim->world->unit;
    const PhxUnitLimits limits = limits_of(sim->world, slot);
    Wish wish = wish_for(sim, slot);
    note_progress(units, slot, progress_measure(sim, slot, wish.distance));
    if (units->detour[slot] > 0) {
        if (--units->detour[slot] == 0) units->stalled[slot] = 0; /* a new try */
        wish = wish_of_detour(units, slot);
    }
    const PhxSteering steering =
        phx_unit_steer(&limits, units->heading[slot], wish.way, wish.stops ? wish.distance : INT32_MAX);
    units->pref_x[slot] = steering.preferred.x;
    units->pref_y[slot] = steering.preferred.y;
    units->heading[slot] = steering.heading;
}

static void prefer_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxSim *sim = context;
    (void)worker;
    for (uint32_t i = begin; i < end; i++) prefer_unit(sim, sim->batch[i]);
}

/* Preferred velocities: none for the idle, along the field for the others, batch by batch. */
void phx_phase_prefer(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    PhxUnitTable *units = &context->world->unit;
    const uint32_t used = context->world->tables[PHX_TABLE_unit].used;
    (void)user;
    memset(units->pref_x, 0, used * sizeof *units->pref_x);
    memset(units->pref_y, 0, used * sizeof *units->pref_y);
    for (;;) {
        phx_parallel_for(context->jobs, sim->batch_count, PHX_SIM_UNIT_GRAIN, prefer_range, sim);
        if (sim->later_count == 0) break;
        sim->later_count = phx_fields_prepare(sim, sim->later, sim->later_count);
    }
}

/* Classes for ORCA from the unit types, and the spatial grid of this tick's positions. */
void phx_phase_grid(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    const PhxUnitTypeTable *types = &context->world->unit_type;
    const uint32_t used = context->world->tables[PHX_TABLE_unit_type].used;
    (void)user;
    for (uint32_t t = 0; t < used; t++)
        sim->classes[t] = (PhxOrcaClass){
            .radius = types->radius[t],
            .max_speed = types->speed[t],
            .neighbour_range = types->neighbour_range[t],
            .horizon = types->horizon[t],
            .wall_horizon = types->wall_horizon[t],
            .neighbours = types->neighbours[t],
        };
    sim->class_count = used;
    phx_spatial_build(&sim->spatial, context->jobs, context->world->unit.pos_x, context->world->unit.pos_y,
                      sim->living, sim->living_count, phx_orca_range(sim->classes, used));
}

/* The velocity nearest to the preferred one that keeps clear of units and walls. */
void phx_phase_orca(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    const PhxUnitTable *units = &context->world->unit;
    (void)user;
    const PhxOrcaScene scene = {
        .spatial = &sim->spatial,
        .walls = &sim->barriers.walls[0],
        .wall_sets = sim->barriers.sets,
        .wall_set_of = sim->barriers.set_of,
        .wall_set_count = PHX_PLAYER_LIMIT,
        .vel_x = units->vel_x,
        .vel_y = units->vel_y,
        .pref_x = units->pref_x,
        .pref_y = units->pref_y,
        .class_of = units->type,
        .classes = sim->classes,
        .class_count = sim->class_count,
        .tick_rate = context->world->match.tick_rate[0],
        .out_x = units->next_x,
        .out_y = units->next_y,
        .work = &sim->orca,
    };
    if (sim->living_count > 0) phx_orca_run(&scene, context->jobs);
}

/* The velocity a unit really had in this tick: the wanted one, or what a wall left of it; others avoid it by
 * this. Bound: a step of at most 16 units times 1000 Hz, cut to the type's speed. */
static PhxVec2 real_velocity(const PhxUnitLimits *limits, PhxVec2 wanted, PhxVec2 way, PhxVec2 done) {
    if (phx_vec2_equal(way, done)) return wanted;
    const PhxVec2 real = {phx_fix_saturate((int64_t)done.x * limits->tick_rate),
                          phx_fix_saturate((int64_t)done.y * limits->tick_rate)};
    return phx_vec2_clamp_length(real, limits->speed);
}

static void integrate_unit(PhxWorld *world, const PhxNavGrid *grid, uint32_t slot) {
    PhxUnitTable *units = &world->unit;
    const PhxUnitLimits limits = limits_of(world, slot);
    const PhxVec2 at = {units->pos_x[slot], units->pos_y[slot]};
    const PhxVec2 was = {units->vel_x[slot], units->vel_y[slot]};
    const PhxVec2 wanted = {units->next_x[slot], units->next_y[slot]};
    const PhxVec2 velocity = phx_unit_accelerate(&limits, was, wanted);
    const PhxVec2 way = phx_unit_displacement(velocity, limits.tick_rate);
    const PhxVec2 to = phx_walls_move(grid, at, way, world->unit_type.radius[units->type[slot]]);
    units->pos_x[slot] = to.x;
    units->pos_y[slot] = to.y;
    const PhxVec2 real = real_velocity(&limits, velocity, way, phx_vec2_sub(to, at));
    units->vel_x[slot] = real.x;
    units->vel_y[slot] = real.y;
}

static void integrate_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxSim *sim = context;
    (void)worker;
    for (uint32_t i = begin; i < end; i++) {
        const PhxNavGrid grid = phx_barriers_grid(sim, sim->living[i]);
        integrate_unit(sim->world, &grid, sim->living[i]);
    }
}

/* Velocities within the limits of acceleration, and the move itself, which no wall lets through. */
void phx_phase_integrate(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    (void)user;
    phx_parallel_for(context->jobs, sim->living_count, PHX_SIM_UNIT_GRAIN, integrate_range, sim);
}
