/* orca.c: one tick of collision avoidance over all units: gather, neighbours, half-planes, program.
 *
 * In: a scene (columns by slot, the spatial grid, walls). Out: a velocity by slot.
 * Cost: gathering reads each column once; solving reads the grid's rows and the bodies of the neighbours,
 * which lie close together in memory, as rows are in order of cells.
 *
 * Determinism: gather writes body[row] from slot[row]; solve reads bodies, grid and walls, none of which it
 * writes, and writes the output of slot[row], a slot having one row. So any split and any order of calls
 * gives the same bits. The order of neighbours and of walls is total (distance, then slot or index).
 */
#include <phalanx/orca.h>

#include "base/arena.h"
#include "base/assert.h"
#include "motion/orca_row.h"

enum {
    RADIUS_MIN = 1 << 12,
    RADIUS_MAX = 16 << 16,
    SPEED_MAX = 64 << 16,
    ACCELERATION_MAX = 4096 << 16,
    HORIZON_MIN = 1 << 12,
    HORIZON_MAX = 1024 << 16,
};

static fix16_t clamp(fix16_t value, fix16_t low, fix16_t high) {
    return value < low ? low : value > high ? high : value;
}

void phx_orca_layout(PhxOrcaWork *work, PhxArena *arena, uint32_t capacity, uint32_t class_capacity) {
    *work = (PhxOrcaWork){.capacity = capacity, .class_capacity = class_capacity};
    work->body = PHX_ARENA_ARRAY(arena, PhxOrcaBody, capacity);
    work->reach = PHX_ARENA_ARRAY(arena, PhxOrcaReach, class_capacity);
}

fix16_t phx_orca_range(const PhxOrcaClass *classes, uint32_t class_count) {
    fix16_t range = 0;
    for (uint32_t i = 0; i < class_count; i++)
        if (classes[i].neighbour_range > range) range = classes[i].neighbour_range;
    return clamp(range, 0, PHX_SPATIAL_MAX_RANGE);
}

static PhxOrcaReach reach_of(const PhxOrcaClass *c, uint32_t tick_rate) {
    PhxOrcaReach reach = {.radius = clamp(c->radius, RADIUS_MIN, RADIUS_MAX),
                          .max_speed = clamp(c->max_speed, 0, SPEED_MAX),
                          .range = clamp(c->neighbour_range, 0, PHX_SPATIAL_MAX_RANGE),
                          .neighbours = c->neighbours};
    if (reach.neighbours > PHX_ORCA_MAX_NEIGHBOURS) reach.neighbours = PHX_ORCA_MAX_NEIGHBOURS;
    if (c->acceleration > 0) {
        reach.change = (fix16_t)phx_div_round(clamp(c->acceleration, 1, ACCELERATION_MAX), tick_rate);
        if (reach.change == 0) reach.change = 1;
    }
    const fix16_t horizon = clamp(c->horizon, HORIZON_MIN, HORIZON_MAX);
    const fix16_t wall_horizon = clamp(c->wall_horizon, HORIZON_MIN, HORIZON_MAX);
    reach.horizon = horizon;
    reach.inv_horizon = phx_div_round((int64_t)1 << 46, horizon);
    reach.file_horizon = clamp(horizon / PHX_ORCA_FILE_HORIZON, HORIZON_MIN, HORIZON_MAX);
    reach.inv_file_horizon = phx_div_round((int64_t)1 << 46, reach.file_horizon);
    reach.inv_wall_horizon = phx_div_round((int64_t)1 << 46, wall_horizon);
    /* what can be touched within the horizon: <= 2^22 * 2^26 >> 16 */
    const int64_t touch = ((int64_t)reach.max_speed * wall_horizon >> 16) + reach.radius;
    reach.wall_range = touch > PHX_SPATIAL_MAX_RANGE ? PHX_SPATIAL_MAX_RANGE : (fix16_t)touch;
    return reach;
}

void phx_orca_prepare(const PhxOrcaScene *scene) {
    PHX_ASSERT(scene->class_count >= 1 && scene->class_count <= scene->work->class_capacity,
               scene->class_count, 0);
    PHX_ASSERT(scene->spatial->count <= scene->work->capacity, scene->spatial->count, scene->work->capacity);
    PHX_ASSERT(scene->tick_rate >= 1 && scene->tick_rate <= 1000, scene->tick_rate, 0);
    for (uint32_t i = 0; i < scene->class_count; i++)
        scene->work->reach[i] = reach_of(&scene->classes[i], scene->tick_rate);
}

void phx_orca_gather(const PhxOrcaScene *scene, uint32_t begin, uint32_t end) {
    const PhxSpatial *spatial = scene->spatial;
    PhxOrcaWork *work = scene->work;
    for (uint32_t row = begin; row < end; row++) {
        const uint32_t slot = spatial->slot[row];
        const uint32_t class_of = scene->class_of ? scene->class_of[slot] : 0;
        PHX_ASSERT(class_of < scene->class_count, class_of, scene->class_count);
        PhxOrcaBody *body = &work->body[row];
        *body = (PhxOrcaBody){.position = spatial->position[row],
                              .velocity = {scene->vel_x[slot], scene->vel_y[slot]},
                              .radius = work->reach[class_of].radius,
                              .class_of = (uint16_t)class_of,
                              .weight = PHX_ORCA_WEIGHT};
        if (scene->avoid && !(scene->close && scene->close[slot]))
            body->shell = clamp(scene->avoid[slot] - body->radius, 0, RADIUS_MAX - body->radius);
        if (scene->weight)
            body->weight =
                scene->weight[slot] < PHX_ORCA_WEIGHT_MAX ? scene->weight[slot] : PHX_ORCA_WEIGHT_MAX;
    }
}

/* The walls that stop a unit; null: none. */
static const PhxWalls *walls_of(const PhxOrcaScene *scene, uint32_t slot) {
    if (!scene->wall_sets) return scene->walls;
    PHX_ASSERT(scene->wall_set_of[slot] < scene->wall_set_count, scene->wall_set_of[slot],
               scene->wall_set_count);
    return scene->wall_sets[scene->wall_set_of[slot]];
}

void phx_orca_row_collect(const PhxOrcaScene *scene, uint32_t row, PhxOrcaRow *out) {
    const uint32_t slot = scene->spatial->slot[row];
    const PhxOrcaBody *self = &scene->work->body[row];
    const PhxOrcaReach *reach = &scene->work->reach[self->class_of];
    out->self = self;
    out->walls = walls_of(scene, slot);
    out->met = out->hard = 0;
    const bool asleep = scene->asleep && scene->asleep[slot];
    if (out->walls && !asleep) {
        out->met =
            phx_walls_nearest(out->walls, self->position, reach->wall_range, PHX_WALLS_MAX_NEAR, out->beside);
        out->hard =
            phx_orca_wall_lines(self, reach->inv_wall_horizon, out->walls, out->beside, out->met, out->lines);
    }
    out->found = self->weight == 0 || asleep
                     ? 0 /* it avoids nobody */
                     : phx_spatial_nearest(scene->spatial, self->position, reach->range, slot,
                                           reach->neighbours, out->near);
    out->pairs = (PhxOrcaPairs){.self = self,
                                .bodies = scene->work->body,
                                .near = out->near,
                                .slot = slot,
                                .horizon = reach->horizon,
                                .inv_horizon = reach->inv_horizon,
                                .max_speed = reach->max_speed,
                                .inv_tick = (int64_t)scene->tick_rate << PHX_ORCA_INV_BITS};
    if (scene->close && scene->close[slot] == PHX_ORCA_IN_FILE) {
        out->pairs.horizon = reach->file_horizon;
        out->pairs.inv_horizon = reach->inv_file_horizon;
    }
    out->preferred = phx_vec2(scene->pref_x[slot], scene->pref_y[slot]);
    out->max_speed = reach->max_speed;
    if (scene->top_speed && scene->top_speed[slot] > 0)
        out->max_speed = clamp(scene->top_speed[slot], 0, SPEED_MAX);
    out->change = reach->change < 2 * out->max_speed && !asleep ? reach->change : 0;
    out->creep = scene->creep ? out->max_speed / 16 * scene->creep[slot] : 0;
}

/* Where not every velocity can be reached: the same program of changes of velocity. Their disc is that of the
 * acceleration; the greatest speed is a half-plane then, the tangent where the unit is fastest, kept like a
 * wall. */
static PhxVec2 solve_change(PhxOrcaRow *row, uint8_t *flags) {
    const PhxVec2 from = row->self->velocity;
    const int64_t speed = phx_vec2_length(from);
    for (uint32_t i = 0; i < row->hard; i++) row->lines[i] = phx_orca_line_from(row->lines[i], from);
    uint32_t hard = row->hard;
    PhxDir ahead;
    if (speed + row->change > row->max_speed && phx_vec2_normalize(from, &ahead) > 0) {
        /* whoever is too fast brakes as hard as it can */
        const int64_t most = row->max_speed - speed > -row->change ? row->max_speed - speed : -row->change;
        row->lines[hard++] = (PhxOrcaLine){phx_dir_neg(ahead), (fix16_t)-most};
    }
    row->pairs.origin = from;
    const PhxVec2 change =
        phx_orca_program_pairs(row->lines, hard + row->found, hard, &row->pairs,
                               phx_vec2_sub(row->preferred, from), row->change, row->creep, flags);
    return phx_vec2_clamp_length(phx_vec2_add(from, change), row->max_speed + row->change);
}

PhxVec2 phx_orca_row_solve(PhxOrcaRow *row, uint8_t *flags) {
    if (row->change > 0) return solve_change(row, flags);
    return phx_orca_program_pairs(row->lines, row->hard + row->found, row->hard, &row->pairs, row->preferred,
                                  row->max_speed, row->creep, flags);
}

static void solve_row(const PhxOrcaScene *scene, uint32_t row) {
    const uint32_t slot = scene->spatial->slot[row];
    PhxOrcaRow collected;
    uint8_t flags;
    phx_orca_row_collect(scene, row, &collected);
    const PhxVec2 velocity = phx_orca_row_solve(&collected, &flags);
    scene->out_x[slot] = velocity.x;
    scene->out_y[slot] = velocity.y;
    if (scene->flags) scene->flags[slot] = flags;
}

void phx_orca_solve(const PhxOrcaScene *scene, uint32_t begin, uint32_t end) {
    for (uint32_t row = begin; row < end; row++) solve_row(scene, row);
}

static void gather_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    phx_orca_gather(context, begin, end);
}

static void solve_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    phx_orca_solve(context, begin, end);
}

void phx_orca_run(const PhxOrcaScene *scene, const PhxJobs *jobs) {
    PhxOrcaScene copy = *scene; /* the context of a job isn't const */
    phx_orca_prepare(&copy);
    phx_parallel_for(jobs, copy.spatial->count, PHX_ORCA_GRAIN * 16, gather_range, &copy);
    phx_parallel_for(jobs, copy.spatial->count, PHX_ORCA_GRAIN, solve_range, &copy);
}
