/* move.c: the phases prefer, grid, crowd, orca and integrate: from wishes to positions.
 *
 * In: goals, fields, positions and velocities of the last tick. Out: preferred velocities, velocities,
 * positions. Cost: linear in the units. Determinism: each parallel loop reads columns that no range of it
 * writes, and writes only the rows of its own units, so that neither the split nor the order of ranges can
 * change a bit.
 */
#include <string.h>

#include "motion/unit_controller.h"
#include "step/sim_internal.h"

enum {
    KINDS = PHX_COST_KINDS,
    LANES = PHX_COMMAND_POINT_LIMIT,
    LANE_NARROW = 2, /* unit.lane */
    CREEP = 2,       /* sixteenths of a unit's speed */
    LEAN_BITS = 12,  /* as destination.c has it */
};

static fix16_t speed_at(const PhxWorld *world, uint32_t type, uint32_t percent) {
    fix16_t speed = world->unit_type.speed[type];
    if (percent != 0 && percent != 100) /* 0 stands for 100 */
        speed = phx_fix_saturate(phx_div_round((int64_t)speed * percent, 100));
    return speed < 64 * PHX_FIX_ONE ? speed : 64 * PHX_FIX_ONE;
}

static const uint8_t *percents_of(const PhxWorld *world, uint32_t type) {
    return &world->cost_profile.speed_percent[world->unit_type.profile[type] * KINDS];
}

fix16_t phx_unit_ground_speed(const PhxWorld *world, uint32_t slot) {
    const uint32_t type = world->unit.type[slot];
    const PhxNavGrid grid = phx_sim_grid(world);
    const uint32_t cell = phx_nav_cell_clamped(&grid, world->unit.pos_x[slot], world->unit.pos_y[slot]);
    return speed_at(world, type, percents_of(world, type)[world->terrain.kind[cell]]);
}

/* Which types needn't ask what ground they stand on. */
static void note_even_speeds(PhxSim *sim) {
    for (uint32_t t = 0; t < sim->world->tables[PHX_TABLE_unit_type].used; t++) {
        const uint8_t *percents = percents_of(sim->world, t);
        bool even = true;
        for (uint32_t k = 1; k < KINDS; k++) even = even && percents[k] == percents[0];
        sim->even_speed[t] = even ? speed_at(sim->world, t, percents[0]) : -1;
    }
}

/* What a unit's body can do, in its mood and on the ground that it stands on. */
PhxUnitLimits phx_unit_limits(const PhxSim *sim, uint32_t slot) {
    const PhxWorld *world = sim->world;
    const PhxUnitTypeTable *types = &world->unit_type;
    const uint32_t type = world->unit.type[slot];
    const fix16_t factor =
        phx_feelings_at(&types->speed_factor[type * PHX_MOOD_COUNT], world->unit.mood_level[slot]);
    const fix16_t even = sim->even_speed[type];
    fix16_t speed = even >= 0 ? even : phx_unit_ground_speed(world, slot);
    if (factor != PHX_FIX_ONE) speed = phx_fix_mul(speed, factor);
    if (speed > 64 * PHX_FIX_ONE) speed = 64 * PHX_FIX_ONE;
    return (PhxUnitLimits){speed, types->acceleration[type], types->turn_rate[type],
                           world->match.tick_rate[0]};
}

static PhxVec2 position_of(const PhxWorld *world, uint32_t slot) {
    return phx_vec2(world->unit.pos_x[slot], world->unit.pos_y[slot]);
}

bool phx_unit_asks(const PhxWorld *world, uint32_t slot) {
    const PhxUnitTable *units = &world->unit;
    const uint32_t period = world->unit_type.sample_period[units->type[slot]];
    if (period <= 1 || (units->way_x[slot] | units->way_y[slot]) == 0) return true;
    if (units->stalled[slot] >= world->match.tick_rate[0]) return true; /* perhaps it was told too long ago */
    return (world->match.tick[0] + slot) % period == 0;
}

/* What a unit's field tells it, and where in its tile the unit is; `straight`: in the cell of its goal, so
 * that it walks straight to the point. */
typedef struct Look {
    const PhxUnitField *field; /* null: it doesn't ask in this tick; then the rest isn't set */
    PhxTilePlace place;        /* set if the field has a tile */
    bool straight;
} Look;

static void look_up(Look *look, const PhxUnitField *field) {
    look->field = field;
    look->straight = false;
    if (!field || !field->tile) return;
    look->place = phx_tile_place(field->tile, &field->plane, field->cx, field->cy, field->at);
    look->straight = look->place.own == PHX_FLOW_GOAL;
}

/* Which way a blend leads: the sum of its points' directions by weight, where that doesn't lead away from the
 * first point or into a wall. A unit that was stuck follows the first point's field alone. */
static PhxDir blended(const PhxSim *sim, uint32_t slot, const PhxUnitField *field, PhxDir way) {
    const PhxWorld *world = sim->world;
    const uint32_t row = phx_destination_of(world, slot);
    if (row == UINT32_MAX || world->destination.mode[row] != PHX_DESTINATION_BLEND) return way;
    if (world->unit.stuck[slot] > 0) return way;
    const int64_t weight = world->destination.weight[row * LANES];
    const PhxVec2 sum = {(fix16_t)(phx_round_shift(way.x * weight, LEAN_BITS) + world->unit.lean_x[slot]),
                         (fix16_t)(phx_round_shift(way.y * weight, LEAN_BITS) + world->unit.lean_y[slot])};
    PhxDir mixed;
    if (phx_vec2_normalize(sum, &mixed) == 0 || phx_dir_dot(mixed, way) <= 0) return way;
    const PhxVec2 ahead = phx_vec2_add(field->at, phx_dir_scale(mixed, PHX_FIX_ONE));
    return phx_nav_line_of_sight(&field->plane, field->at, ahead) ? mixed : way;
}

/* Which way the field leads a unit; (0, 0) in the goal's cell and where there is no way. From a closed cell
 * straight to the nearest open one. */
static PhxDir field_direction_of(const PhxSim *sim, uint32_t slot, const Look *look) {
    const PhxUnitField *field = look->field;
    if (!field->tile) return phx_dir(0, 0);
    if (field->plane.cost[field->cell] == PHX_NAV_IMPASSABLE) {
        PhxDir out = {0, 0};
        const uint32_t open = phx_nav_nearest_open(&field->plane, field->cell);
        if (open != PHX_NAV_NO_CELL)
            (void)phx_vec2_normalize(phx_vec2_sub(phx_nav_cell_center(&field->plane, open), field->at), &out);
        return out;
    }
    return blended(sim, slot, field, phx_tile_place_direction(&look->place, field->goal));
}

/* For the one purpose of seeing progress: 64 times the field's cost, and inside the goal's cell the distance
 * in units of 2^-6 (at most 91, so always below a neighbouring cell's 640). */
static uint32_t progress_measure(const PhxUnitTable *units, uint32_t slot, const Look *look,
                                 uint32_t distance) {
    if (units->aim[slot] == 2) return units->aim_left[slot];
    if (units->aim[slot] != 0 || look->straight) return distance >> 10;
    const uint64_t cost =
        look->field->tile ? phx_tile_cost_in(look->field->tile, look->place.local) : UINT64_MAX;
    return cost < UINT32_MAX / 64 ? (uint32_t)cost * 64 : UINT32_MAX - 1;
}

static void note_progress(PhxUnitTable *units, uint32_t slot, uint32_t measure) {
    units->left[slot] = measure;
    if (measure < units->best_distance[slot]) {
        units->best_distance[slot] = measure;
        units->stalled[slot] = 0;
        units->stuck[slot] = 0;
        units->yielded[slot] = 0;
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

static Wish wish_to(PhxVec2 at, PhxVec2 point) {
    Wish wish = {.stops = true};
    wish.distance = phx_vec2_normalize(phx_vec2_sub(point, at), &wish.way);
    return wish;
}

/* Along its lane; what the field said last is forgotten. */
static Wish wish_in_lane(PhxUnitTable *units, uint32_t slot, PhxVec2 at) {
    Wish wish = wish_to(at, phx_vec2(units->lane_x[slot], units->lane_y[slot]));
    wish.stops = false;
    units->way_x[slot] = units->way_y[slot] = 0;
    return wish;
}

/* By the aim, if it has one; else along its lane, as the field says, or as it said last. */
static Wish wish_for(const PhxSim *sim, uint32_t slot, const Look *look, uint32_t worker) {
    PhxUnitTable *units = &sim->world->unit;
    const PhxVec2 at = position_of(sim->world, slot);
    const bool samples = sim->world->unit_type.sample_period[units->type[slot]] > 1;
    if (!samples && units->aim[slot] != 0) units->way_x[slot] = units->way_y[slot] = 0;
    if (units->aim[slot] != 0) {
        Wish wish = wish_to(at, phx_vec2(units->aim_x[slot], units->aim_y[slot]));
        wish.stops = units->aim[slot] != 2;
        return wish;
    }
    if (units->lane[slot] != 0) return wish_in_lane(units, slot, at);
    Wish wish = wish_to(at, phx_vec2(units->goal_x[slot], units->goal_y[slot]));
    if (!look->field) {
        wish.way = phx_dir(units->way_x[slot], units->way_y[slot]);
        return wish;
    }
    const bool around = !look->straight && phx_crowded_direction(sim, slot, look->field, worker, &wish.way);
    if (!look->straight && !around) wish.way = field_direction_of(sim, slot, look);
    const bool kept = !look->straight && (around || samples);
    units->way_x[slot] = kept ? wish.way.x : 0;
    units->way_y[slot] = kept ? wish.way.y : 0;
    return wish;
}

/* `field` null: the unit doesn't ask for it in this tick. */
static void prefer_unit(const PhxSim *sim, uint32_t slot, const PhxUnitField *field, uint32_t worker) {
    PhxUnitTable *units = &sim->world->unit;
    PhxUnitLimits limits = phx_unit_limits(sim, slot);
    const bool waits = units->lane[slot] != 0 && units->lane_pace[slot] < limits.speed / 2;
    Look look;
    look_up(&look, field);
    Wish wish = wish_for(sim, slot, &look, worker);
    note_progress(units, slot,
                  field || units->aim[slot] != 0 ? progress_measure(units, slot, &look, wish.distance)
                                                 : units->best_distance[slot]);
    if (waits) units->stalled[slot] = 0; /* for its turn */
    if (units->lane[slot] != 0 && units->lane_pace[slot] < limits.speed)
        limits.speed = units->lane_pace[slot];
    if (units->detour[slot] > 0) { /* to its end, where the unit waits until the time is over */
        if (--units->detour[slot] == 0) units->stalled[slot] = 0; /* a new try */
        wish = wish_to(position_of(sim->world, slot), phx_vec2(units->detour_x[slot], units->detour_y[slot]));
    }
    const PhxSteering steering =
        phx_unit_steer(&limits, units->heading[slot], wish.way, wish.stops ? wish.distance : INT32_MAX);
    units->pref_x[slot] = steering.preferred.x;
    units->pref_y[slot] = steering.preferred.y;
    units->heading[slot] = steering.heading;
    units->creep[slot] = units->stalled[slot] >= sim->world->match.tick_rate[0] ? CREEP : 0;
}

static PhxUnitField field_ahead(const PhxSim *sim, uint32_t slot) {
    const PhxUnitField field = phx_fields_of(sim, slot);
    if (field.tile) phx_tile_prefetch(field.tile, field.cx, field.cy, field.at);
    return field;
}

/* Tiles are many and large, so the memory of those some units ahead is asked for in time. */
static void prefer_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    enum { AHEAD = 8 };
    const PhxSim *sim = context;
    PhxUnitField fields[AHEAD];
    for (uint32_t i = begin; i < end && i < begin + AHEAD; i++)
        fields[i % AHEAD] = field_ahead(sim, sim->batch[i]);
    for (uint32_t i = begin; i < end; i++) {
        prefer_unit(sim, sim->batch[i], &fields[i % AHEAD], worker);
        if (end - i > AHEAD) fields[i % AHEAD] = field_ahead(sim, sim->batch[i + AHEAD]);
    }
}

static void coast_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxSim *sim = context;
    for (uint32_t i = begin; i < end; i++) prefer_unit(sim, sim->coasting[i], NULL, worker);
}

/* Preferred velocities: none for the idle, along the field for the others, batch by batch. */
void phx_phase_prefer(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    PhxUnitTable *units = &context->world->unit;
    const uint32_t used = context->world->tables[PHX_TABLE_unit].used;
    (void)user;
    memset(units->pref_x, 0, used * sizeof *units->pref_x);
    memset(units->pref_y, 0, used * sizeof *units->pref_y);
    memset(units->creep, 0, used * sizeof *units->creep);
    note_even_speeds(sim);
    phx_parallel_for(context->jobs, sim->coasting_count, PHX_SIM_UNIT_GRAIN, coast_range, sim);
    for (;;) {
        phx_parallel_for(context->jobs, sim->batch_count, PHX_SIM_UNIT_GRAIN, prefer_range, sim);
        if (sim->later_count == 0) break;
        sim->later_count = phx_fields_prepare(sim, sim->later, sim->later_count);
    }
}

/* The speed of a type on the ground where it is fastest. */
static fix16_t fastest_of(const PhxWorld *world, uint32_t type) {
    const uint8_t *percents = &world->cost_profile.speed_percent[world->unit_type.profile[type] * KINDS];
    uint32_t most = 100;
    for (uint32_t k = 0; k < KINDS; k++)
        if (percents[k] > most) most = percents[k];
    const int64_t speed = phx_div_round((int64_t)world->unit_type.speed[type] * most, 100);
    return speed < 64 * PHX_FIX_ONE ? (fix16_t)speed : 64 * PHX_FIX_ONE;
}

/* How far a type looks for neighbours: as its row says, but at least as far as it takes to see the largest
 * body a quarter second before the two touch; else large bodies would first be seen when one is inside the
 * other. */
static fix16_t range_of(const PhxWorld *world, uint32_t type, fix16_t largest, fix16_t fastest) {
    const PhxUnitTypeTable *types = &world->unit_type;
    const int64_t least =
        (int64_t)types->radius[type] + largest + ((int64_t)fastest_of(world, type) + fastest) / 4;
    if (least <= types->neighbour_range[type]) return types->neighbour_range[type];
    return least < PHX_SPATIAL_MAX_RANGE ? (fix16_t)least : PHX_SPATIAL_MAX_RANGE;
}

/* Classes for ORCA from the unit types, and the spatial grid of this tick's positions. */
void phx_phase_grid(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    const PhxUnitTypeTable *types = &context->world->unit_type;
    const uint32_t used = context->world->tables[PHX_TABLE_unit_type].used;
    fix16_t largest = 0, fastest = 0;
    (void)user;
    for (uint32_t t = 0; t < used; t++) {
        const fix16_t speed = fastest_of(context->world, t);
        if (types->radius[t] > largest) largest = types->radius[t];
        if (speed > fastest) fastest = speed;
    }
    for (uint32_t t = 0; t < used; t++)
        sim->classes[t] = (PhxOrcaClass){
            .radius = types->radius[t],
            .max_speed = fastest_of(context->world, t),
            .neighbour_range = range_of(context->world, t, largest, fastest),
            .horizon = types->horizon[t],
            .wall_horizon = types->wall_horizon[t],
            .neighbours = types->neighbours[t],
            .acceleration = types->acceleration[t],
        };
    sim->class_count = used;
    phx_spatial_build(&sim->spatial, context->jobs, context->world->unit.pos_x, context->world->unit.pos_y,
                      sim->living, sim->living_count, phx_orca_range(sim->classes, used));
}

PhxOrcaScene phx_sim_orca_scene(const PhxSim *sim, PhxOrcaWork *work) {
    const PhxUnitTable *units = &sim->world->unit;
    return (PhxOrcaScene){
        .spatial = &sim->spatial,
        .walls = &sim->barriers.walls[0],
        .wall_sets = sim->barriers.sets,
        .wall_set_of = sim->barriers.set_of,
        .wall_set_count = PHX_PLAYER_LIMIT,
        .vel_x = units->vel_x,
        .vel_y = units->vel_y,
        .pref_x = units->pref_x,
        .pref_y = units->pref_y,
        .avoid = units->avoid,
        .close = units->close,
        .weight = units->weight,
        .top_speed = units->top_speed,
        .asleep = units->asleep,
        .creep = units->creep,
        .class_of = units->type,
        .classes = sim->classes,
        .class_count = sim->class_count,
        .tick_rate = sim->world->match.tick_rate[0],
        .out_x = units->next_x,
        .out_y = units->next_y,
        .work = work,
    };
}

static PhxCrowdScene crowd_scene(const PhxSim *sim, PhxCrowdWork *work, const PhxNavGrid *ground) {
    const PhxUnitTable *units = &sim->world->unit;
    return (PhxCrowdScene){
        .spatial = &sim->spatial,
        .solid = ground,
        .classes = sim->classes,
        .class_of = units->type,
        .class_count = sim->class_count,
        .tick = sim->world->match.tick[0],
        .tick_rate = sim->world->match.tick_rate[0],
        .vel_x = units->vel_x,
        .vel_y = units->vel_y,
        .goal_x = units->goal_x,
        .goal_y = units->goal_y,
        .leave = units->close,
        .pref_x = units->pref_x,
        .pref_y = units->pref_y,
        .bend = units->bend,
        .sway = units->sway,
        .asleep = units->asleep,
        .work = work,
    };
}

/* Who stands, goes to its place, makes a detour or is led by its formation is left alone; the others bend
 * their ways past each other.
 */
void phx_phase_crowd(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    PhxUnitTable *units = &context->world->unit;
    const PhxNavGrid ground = phx_sim_grid(context->world);
    const uint32_t rate = context->world->match.tick_rate[0];
    (void)user;
    for (uint32_t i = 0; i < sim->living_count; i++) {
        const uint32_t slot = sim->living[i];
        units->close[slot] = units->activity[slot] == 0 || units->aim[slot] != 0 || units->detour[slot] > 0 ||
                             units->led[slot] != 0;
        if (units->lane[slot] == LANE_NARROW) units->close[slot] = PHX_ORCA_IN_FILE;
        /* who was held up for long is let through */
        if (units->weight[slot] > 1 && units->stalled[slot] >= 2 * rate && units->activity[slot] != 0)
            units->weight[slot] = 1;
    }
    const PhxCrowdScene scene = crowd_scene(sim, &sim->crowd, &ground);
    if (sim->living_count > 0) phx_crowd_bend(&scene, context->jobs);
}

/* The velocity nearest to the preferred one that keeps clear of units and walls. */
void phx_phase_orca(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    (void)user;
    const PhxOrcaScene scene = phx_sim_orca_scene(sim, &sim->orca);
    if (sim->living_count > 0) {
        const PhxCrowdScene crowd = crowd_scene(sim, &sim->crowd, NULL);
        phx_orca_run(&scene, context->jobs);
        phx_crowd_note(&crowd, scene.out_x, scene.out_y, context->jobs);
    }
    sim->chosen = true;
}

/* The velocity a unit really had in this tick: the wanted one, or what a wall left of it; others avoid it by
 * this. Bound: a step of at most 16 units times 1000 Hz, cut to the type's speed. */
static PhxVec2 real_velocity(const PhxUnitLimits *limits, PhxVec2 wanted, PhxVec2 way, PhxVec2 done) {
    if (phx_vec2_equal(way, done)) return wanted;
    const PhxVec2 real = {phx_fix_saturate((int64_t)done.x * limits->tick_rate),
                          phx_fix_saturate((int64_t)done.y * limits->tick_rate)};
    return phx_vec2_clamp_length(real, limits->speed);
}

/* One step as far as walls let it. A unit whose centre is in the solid, or that is wedged so that it can't
 * move at all, walks out instead. */
static PhxVec2 step_of(const PhxSim *sim, uint32_t slot, PhxVec2 at, PhxVec2 way, fix16_t radius) {
    const PhxNavGrid grid = phx_barriers_grid(sim, slot);
    if (grid.cost[phx_nav_cell_clamped(&grid, at.x, at.y)] == PHX_NAV_IMPASSABLE)
        return phx_unit_way_out(sim, slot, &grid, at);
    const PhxVec2 to = phx_walls_move(&grid, at, way, radius);
    if (!phx_vec2_equal(to, at) || phx_walls_clear(&grid, at, radius)) return to;
    return phx_unit_way_out(sim, slot, &grid, at);
}

static void integrate_unit(const PhxSim *sim, uint32_t slot) {
    PhxWorld *world = sim->world;
    PhxUnitTable *units = &world->unit;
    const PhxUnitLimits limits = phx_unit_limits(sim, slot);
    const PhxVec2 at = {units->pos_x[slot], units->pos_y[slot]};
    const PhxVec2 was = {units->vel_x[slot], units->vel_y[slot]};
    const PhxVec2 wanted =
        phx_vec2_clamp_length(phx_vec2(units->next_x[slot], units->next_y[slot]), limits.speed);
    const PhxVec2 velocity = phx_unit_accelerate(&limits, was, wanted);
    const PhxVec2 way = phx_unit_displacement(velocity, limits.tick_rate);
    const fix16_t radius = world->unit_type.radius[units->type[slot]];
    const PhxVec2 to = step_of(sim, slot, at, way, radius);
    units->pos_x[slot] = to.x;
    units->pos_y[slot] = to.y;
    const PhxVec2 real = real_velocity(&limits, velocity, way, phx_vec2_sub(to, at));
    units->vel_x[slot] = real.x;
    units->vel_y[slot] = real.y;
}

static void integrate_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxSim *sim = context;
    (void)worker;
    for (uint32_t i = begin; i < end; i++) integrate_unit(sim, sim->living[i]);
}

/* Velocities within the limits of acceleration, and the move itself, which no wall lets through. */
void phx_phase_integrate(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    (void)user;
    note_even_speeds(sim);
    phx_parallel_for(context->jobs, sim->living_count, PHX_SIM_UNIT_GRAIN, integrate_range, sim);
}
