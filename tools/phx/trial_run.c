/* trial_run.c: see trial_run.h.
 *
 * Each step: wishes (straight at the goal, no longer than what is left; not timed, as the peer's program
 * doesn't either), then, timed: the spatial grid, avoidance, and the move along the walls. The judge and the
 * root are outside of the time.
 */
#include "phx/trial_run.h"

#include <math.h>
#include <phalanx/hash.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "phx/cli.h"

enum { GRAIN = 256 };

static fix16_t raw(double value) { return (fix16_t)lround(value * 65536); }

static void lay_out(PhxTrialRun *run, PhxArena *arena) {
    const uint32_t count = run->scene->count;
    fix16_t **columns[] = {&run->x,      &run->y,      &run->goal_x, &run->goal_y, &run->vel_x, &run->vel_y,
                           &run->pref_x, &run->pref_y, &run->out_x,  &run->out_y,  &run->sway};
    phx_spatial_layout(&run->spatial, arena, count);
    run->bend = PHX_ARENA_ARRAY(arena, uint8_t, count);
    phx_crowd_layout(&run->crowd, arena, count);
    phx_orca_layout(&run->work, arena, count, 1);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        *columns[i] = PHX_ARENA_ARRAY(arena, fix16_t, count);
    run->at = PHX_ARENA_ARRAY(arena, PhxTrialPoint, count);
    run->bytes = PHX_ARENA_ARRAY(arena, uint8_t, 8 + 16 * (size_t)count);
}

static bool make_walls(PhxTrialRun *run) {
    const PhxTrial *scene = run->scene;
    PhxVec2 corner[4 * PHX_TRIAL_BOXES];
    uint32_t sizes[PHX_TRIAL_BOXES];
    if (scene->boxes == 0) return true;
    for (uint32_t b = 0; b < scene->boxes; b++) {
        const PhxTrialBox *box = &scene->box[b];
        sizes[b] = 4;
        corner[4 * b + 0] = phx_vec2(raw(box->x0), raw(box->y0));
        corner[4 * b + 1] = phx_vec2(raw(box->x1), raw(box->y0));
        corner[4 * b + 2] = phx_vec2(raw(box->x1), raw(box->y1));
        corner[4 * b + 3] = phx_vec2(raw(box->x0), raw(box->y1));
    }
    run->walled = phx_walls_create_polygons(&run->walls, phx_allocator_default(), corner, sizes,
                                            scene->boxes) == PHX_OK;
    return run->walled;
}

/* A grid of unit cells for looking ahead: closed where a box covers the centre. It reaches so far beyond
 * boxes, starts and goals. */
static bool make_ground(PhxTrialRun *run) {
    enum { MARGIN = 32 };
    const PhxTrial *scene = run->scene;
    if (scene->boxes == 0) return true;
    double low_x = 1e9, low_y = 1e9, high_x = -1e9, high_y = -1e9;
    for (uint32_t b = 0; b < scene->boxes; b++) {
        const PhxTrialBox *box = &scene->box[b];
        low_x = fmin(low_x, box->x0), low_y = fmin(low_y, box->y0);
        high_x = fmax(high_x, box->x1), high_y = fmax(high_y, box->y1);
    }
    for (uint32_t i = 0; i < scene->count; i++) {
        const PhxTrialPoint *a = &scene->start[i], *z = &scene->goal[i];
        low_x = fmin(low_x, fmin(a->x, z->x)), low_y = fmin(low_y, fmin(a->y, z->y));
        high_x = fmax(high_x, fmax(a->x, z->x)), high_y = fmax(high_y, fmax(a->y, z->y));
    }
    const double x0 = floor(low_x) - MARGIN, y0 = floor(low_y) - MARGIN;
    const uint32_t width = (uint32_t)(high_x - x0) + MARGIN, height = (uint32_t)(high_y - y0) + MARGIN;
    run->closed = calloc((size_t)width * height, 1);
    if (!run->closed) return false;
    run->ground = (PhxNavGrid){.width = width, .height = height, .cost = run->closed};
    run->ground_origin = phx_vec2(raw(x0), raw(y0));
    for (uint32_t i = 0; i < width * height; i++) {
        const double x = x0 + i % width + 0.5, y = y0 + (double)(i / width) + 0.5;
        run->closed[i] = 1;
        for (uint32_t b = 0; b < scene->boxes; b++) {
            const PhxTrialBox *box = &scene->box[b];
            if (x >= box->x0 && x <= box->x1 && y >= box->y0 && y <= box->y1)
                run->closed[i] = PHX_NAV_IMPASSABLE;
        }
    }
    return true;
}

static void note_positions(PhxTrialRun *run) {
    for (uint32_t i = 0; i < run->scene->count; i++)
        run->at[i] = (PhxTrialPoint){run->x[i] / 65536.0, run->y[i] / 65536.0};
}

bool phx_trial_run_begin(PhxTrialRun *run, const PhxTrial *scene, PhxJobs jobs, uint32_t step_limit) {
    *run = (PhxTrialRun){.scene = scene, .jobs = jobs, .preferred = raw(scene->preferred)};
    PhxArena arena = phx_arena_measure();
    lay_out(run, &arena);
    run->ns = calloc(step_limit, sizeof *run->ns);
    run->memory = calloc(1, sizeof(PhxArena));
    if (!run->ns || !run->memory ||
        phx_arena_create(run->memory, phx_allocator_default(), arena.used) != PHX_OK) {
        free(run->memory);
        run->memory = NULL;
        phx_trial_run_end(run);
        return false;
    }
    lay_out(run, run->memory);
    if (!make_walls(run) || !make_ground(run)) {
        phx_trial_run_end(run);
        return false;
    }
    for (uint32_t i = 0; i < scene->count; i++) {
        run->x[i] = raw(scene->start[i].x), run->y[i] = raw(scene->start[i].y);
        run->goal_x[i] = raw(scene->goal[i].x), run->goal_y[i] = raw(scene->goal[i].y);
    }
    run->class = (PhxOrcaClass){.radius = raw(scene->radius),
                                .max_speed = raw(scene->fastest),
                                .neighbour_range = raw(scene->range),
                                .horizon = raw(scene->horizon),
                                .wall_horizon = raw(scene->wall_horizon),
                                .neighbours = scene->neighbours};
    note_positions(run);
    return true;
}

void phx_trial_run_end(PhxTrialRun *run) {
    if (run->walled) phx_walls_destroy(&run->walls);
    if (run->memory) phx_arena_destroy(run->memory);
    free(run->memory);
    free(run->closed);
    free(run->ns);
    *run = (PhxTrialRun){0};
}

static void wish(PhxTrialRun *run) {
    for (uint32_t i = 0; i < run->scene->count; i++) {
        const PhxVec2 to = {run->goal_x[i] - run->x[i], run->goal_y[i] - run->y[i]};
        const PhxVec2 preferred = phx_vec2_clamp_length(to, run->preferred);
        run->pref_x[i] = preferred.x, run->pref_y[i] = preferred.y;
    }
}

static void move_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    PhxTrialRun *run = context;
    const int64_t rate = run->scene->rate;
    (void)worker;
    for (uint32_t i = begin; i < end; i++) {
        const PhxVec2 from = {run->x[i], run->y[i]};
        const PhxVec2 by = {(fix16_t)phx_div_round(run->out_x[i], rate),
                            (fix16_t)phx_div_round(run->out_y[i], rate)};
        const PhxVec2 to =
            run->walled ? phx_walls_stop(&run->walls, from, by, run->class.radius) : phx_vec2_add(from, by);
        run->x[i] = to.x, run->y[i] = to.y;
        run->vel_x[i] = run->out_x[i], run->vel_y[i] = run->out_y[i];
    }
}

static void step(PhxTrialRun *run) {
    const PhxOrcaScene scene = {.spatial = &run->spatial,
                                .walls = run->walled ? &run->walls : NULL,
                                .vel_x = run->vel_x,
                                .vel_y = run->vel_y,
                                .pref_x = run->pref_x,
                                .pref_y = run->pref_y,
                                .classes = &run->class,
                                .class_count = 1,
                                .tick_rate = run->scene->rate,
                                .out_x = run->out_x,
                                .out_y = run->out_y,
                                .work = &run->work};
    phx_spatial_build(&run->spatial, &run->jobs, run->x, run->y, NULL, run->scene->count,
                      run->class.neighbour_range);
    const PhxCrowdScene crowd = {.spatial = &run->spatial,
                                 .solid = run->closed ? &run->ground : NULL,
                                 .solid_origin = run->ground_origin,
                                 .classes = &run->class,
                                 .class_count = 1,
                                 .tick = run->steps,
                                 .tick_rate = run->scene->rate,
                                 .vel_x = run->vel_x,
                                 .vel_y = run->vel_y,
                                 .goal_x = run->goal_x,
                                 .goal_y = run->goal_y,
                                 .pref_x = run->pref_x,
                                 .pref_y = run->pref_y,
                                 .bend = run->bend,
                                 .sway = run->sway,
                                 .work = &run->crowd};
    if (!run->plain) phx_crowd_bend(&crowd, &run->jobs);
    phx_orca_run(&scene, &run->jobs);
    if (!run->plain) phx_crowd_note(&crowd, run->out_x, run->out_y, &run->jobs);
    phx_parallel_for(&run->jobs, run->scene->count, GRAIN, move_range, run);
}

/* The root so far and what the step left, little-endian, so that it is the same on every platform. */
static void chain_root(PhxTrialRun *run) {
    const fix16_t *columns[] = {run->x, run->y, run->vel_x, run->vel_y};
    uint8_t *to = run->bytes;
    phx_store_u64(to, run->root);
    to += 8;
    for (int c = 0; c < 4; c++)
        for (uint32_t i = 0; i < run->scene->count; i++, to += 4) phx_store_u32(to, (uint32_t)columns[c][i]);
    run->root = phx_hash_bytes(run->bytes, (size_t)(to - run->bytes));
}

void phx_trial_run_step(PhxTrialRun *run) {
    wish(run);
    const bool one = run->jobs.workers <= 1;
    const uint64_t begin = one ? phx_cli_cpu() : phx_cli_now();
    step(run);
    run->ns[run->steps++] = (one ? phx_cli_cpu() : phx_cli_now()) - begin;
    note_positions(run);
    chain_root(run);
}

uint64_t phx_trial_run_root(const PhxTrialRun *run) { return run->root; }
