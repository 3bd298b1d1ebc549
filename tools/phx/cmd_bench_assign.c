/* cmd_bench_assign.c: phx bench assign and phx bench flock: units that take slots, and units that flock.
 *
 * An assignment is measured by its time, and by how far its cost, the sum of squared distances, lies above
 * the least there is, which the Hungarian method with potentials of both sides finds (in doubles, n n m
 * steps: some tenths of a second at 1,024). A flock is measured by its time a unit, at several sizes and
 * densities, as it is to be linear in the units however dense they are.
 */
#include "phx/cmd_bench.h"

#include <math.h>
#include <phalanx/assign.h>
#include <phalanx/flock.h>
#include <phalanx/rng.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { ONE = 65536, UNITS = PHX_ASSIGN_UNITS, SEEDS = 8, KEY = 0x61737367, FLOCK_RUNS = 5 };
#define TURN 6.283185307179586

/* ---- shapes */

typedef enum Shape { GRID, LINE, FILES, CIRCLE, WEDGE, SCATTERED, RANDOM } Shape;

static double random_part(uint64_t seed, uint32_t i, uint32_t draw) {
    return (double)(phx_random(KEY, draw, i, (uint32_t)seed, 0) >> 40) / (1 << 24);
}

/* Where number i of `count` stands, neighbours one unit apart. */
static PhxVec2 stand(Shape shape, uint32_t i, uint32_t count, uint64_t seed) {
    const uint32_t side = (uint32_t)ceil(sqrt(count)), row = (uint32_t)((sqrt(8.0 * i + 1) - 1) / 2);
    const double turn = TURN * i / count, radius = count / TURN;
    double x = i % side, y = i / side;
    switch (shape) {
    case GRID:
        break;
    case LINE:
        x = i, y = 0;
        break;
    case FILES:
        x = i % 4, y = i / 4;
        break;
    case CIRCLE:
        x = cos(turn) * radius, y = sin(turn) * radius;
        break;
    case WEDGE:
        x = i - row * (row + 1) / 2.0 - row / 2.0, y = row;
        break;
    case SCATTERED:
        x += 1.5 * random_part(seed, i, 0), y += 1.5 * random_part(seed, i, 1);
        break;
    case RANDOM:
        x = side * random_part(seed, i, 0), y = side * random_part(seed, i, 1);
        break;
    }
    return (PhxVec2){(fix16_t)lrint(x * ONE), (fix16_t)lrint(y * ONE)};
}

/* ---- assignment */

typedef struct Task {
    uint32_t n, m;
    PhxVec2 unit[UNITS], slot[UNITS];
    uint32_t slot_of[UNITS];
    double of_unit[UNITS + 1], of_slot[UNITS + 1], least[UNITS + 1]; /* the Hungarian method's */
    uint32_t match[UNITS + 1], way[UNITS + 1];
    bool seen[UNITS + 1];
} Task;

static double cost(const Task *task, uint32_t unit, uint32_t slot) {
    const double x = (double)task->unit[unit].x - task->slot[slot].x,
                 y = (double)task->unit[unit].y - task->slot[slot].y;
    return x * x + y * y;
}

/* Lets a unit in along a shortest path of changes; numbers count from 1, 0 is none. */
static void let_in(Task *task, uint32_t unit) {
    uint32_t at = 0;
    task->match[0] = unit;
    for (uint32_t j = 0; j <= task->m; j++) task->least[j] = INFINITY, task->seen[j] = false;
    do {
        uint32_t next = 0;
        double step = INFINITY;
        task->seen[at] = true;
        for (uint32_t j = 1; j <= task->m; j++) {
            if (task->seen[j]) continue;
            const uint32_t i = task->match[at];
            const double reduced = cost(task, i - 1, j - 1) - task->of_unit[i] - task->of_slot[j];
            if (reduced < task->least[j]) task->least[j] = reduced, task->way[j] = at;
            if (task->least[j] < step) step = task->least[j], next = j;
        }
        for (uint32_t j = 0; j <= task->m; j++)
            if (task->seen[j])
                task->of_unit[task->match[j]] += step, task->of_slot[j] -= step;
            else
                task->least[j] -= step;
        at = next;
    } while (task->match[at] != 0);
    for (; at != 0; at = task->way[at]) task->match[at] = task->match[task->way[at]];
}

static double optimum(Task *task) {
    double sum = 0;
    memset(task->of_unit, 0, sizeof task->of_unit);
    memset(task->of_slot, 0, sizeof task->of_slot);
    memset(task->match, 0, sizeof task->match);
    for (uint32_t i = 1; i <= task->n; i++) let_in(task, i);
    for (uint32_t j = 1; j <= task->m; j++)
        if (task->match[j] != 0) sum += cost(task, task->match[j] - 1, j - 1);
    return sum;
}

typedef struct Case {
    const char *name;
    Shape from, to;
    uint32_t n, m;
    double away;
    double target; /* ms */
} Case;

static const Case assign_cases[] = {
    {"assign_64", RANDOM, GRID, 64, 64, 20, 0},
    {"assign_grid_line", GRID, LINE, UNITS, UNITS, 0, 2},
    {"assign_circle_wedge", CIRCLE, WEDGE, UNITS, UNITS, 0, 2},
    {"assign_grid_files", GRID, FILES, UNITS, UNITS, 50, 2},
    {"assign_random_grid", RANDOM, GRID, UNITS, UNITS, 0, 2},
    {"assign_scattered_grid", SCATTERED, GRID, UNITS, UNITS, 0, 2},
    {"assign_spare_slots", SCATTERED, GRID, UNITS - 100, UNITS, 0, 2},
    {"assign_in_place", GRID, GRID, UNITS, UNITS, 0, 2},
};

/* Above the optimum, in percent, of what lies in slot_of; 0 where the optimum is 0 and this, too. */
static double percent_above(Task *task) {
    double sum = 0;
    for (uint32_t i = 0; i < task->n; i++) sum += cost(task, i, task->slot_of[i]);
    const double best = optimum(task);
    return sum == best ? 0 : 100 * (sum / best - 1);
}

static PhxStatus measure(const Case *one, uint32_t seeds, PhxAssignWork *work, Task *task, uint64_t *median,
                         double *mean, double *worst) {
    uint64_t times[SEEDS];
    *mean = *worst = 0;
    for (uint32_t seed = 0; seed < seeds; seed++) {
        for (uint32_t i = 0; i < task->n; i++) task->unit[i] = stand(one->from, i, task->n, seed);
        for (uint32_t j = 0; j < task->m; j++) {
            task->slot[j] = stand(one->to, j, task->m, seed);
            task->slot[j].x += (fix16_t)lrint(one->away * ONE);
        }
        const PhxAssignSet units = {.count = task->n, .at = task->unit},
                           slots = {.count = task->m, .at = task->slot};
        times[seed] = UINT64_MAX;
        for (int run = 0; run < 5; run++) {
            const uint64_t begin = phx_cli_cpu();
            const PhxStatus status = phx_assign_solve(work, &units, &slots, task->slot_of);
            const uint64_t spent = phx_cli_cpu() - begin;
            if (status != PHX_OK) return status;
            if (spent < times[seed]) times[seed] = spent;
        }
        const double above = percent_above(task);
        *mean += above / seeds;
        if (above > *worst) *worst = above;
    }
    *median = phx_bench_median(times, seeds);
    return PHX_OK;
}

int phx_bench_assign(PhxBench *bench) {
    PhxArena arena = phx_arena_measure();
    (void)phx_assign_layout(&arena);
    Task *task = calloc(1, sizeof *task);
    PhxStatus status =
        task == NULL ? PHX_ERROR_MEMORY : phx_arena_create(&arena, phx_allocator_default(), arena.used);
    PhxAssignWork *work = status == PHX_OK ? phx_assign_layout(&arena) : NULL;
    for (size_t i = 0; i < sizeof assign_cases / sizeof assign_cases[0] && status == PHX_OK; i++) {
        const Case *one = &assign_cases[i];
        const bool chance = one->from == RANDOM || one->from == SCATTERED;
        const uint32_t seeds = bench->brief || !chance ? 1 : SEEDS;
        uint64_t median = 0;
        double mean = 0, worst = 0;
        task->n = bench->brief ? one->n / 4 : one->n, task->m = bench->brief ? one->m / 4 : one->m;
        phx_cli_progress(bench->cli, (uint32_t)i, sizeof assign_cases / sizeof assign_cases[0], one->name);
        status = measure(one, seeds, work, task, &median, &mean, &worst);
        const double ms = (double)median / 1e6;
        phx_bench_add(bench, one->name,
                      json_pack("{s:f, s:f, s:f, s:i, s:i, s:i}", "ms", ms, "percent", mean, "worst_percent",
                                worst, "units", (int)task->n, "slots", (int)task->m, "threads", 1),
                      ms, one->target,
                      "%.3f ms, %u units on %u slots; above the optimum by %.2f%%, at worst %.2f%%", ms,
                      task->n, task->m, mean, worst);
    }
    if (work != NULL) phx_arena_destroy(&arena);
    free(task);
    return status == PHX_OK ? PHX_CLI_GO : phx_cli_fail_status(bench->cli, "assign", status, NULL);
}

/* ---- flocks */

typedef struct Flock {
    PhxArena arena;
    PhxSpatial spatial;
    PhxFlockWork work;
    fix16_t *x, *y, *vel_x, *vel_y, *pref_x, *pref_y;
    uint32_t *flock;
} Flock;

static void lay_out(Flock *flock, PhxArena *arena, uint32_t count) {
    fix16_t **columns[] = {&flock->x,     &flock->y,      &flock->vel_x,
                           &flock->vel_y, &flock->pref_x, &flock->pref_y};
    phx_spatial_layout(&flock->spatial, arena, count);
    phx_flock_layout(&flock->work, arena, count);
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
        *columns[c] = PHX_ARENA_ARRAY(arena, fix16_t, count);
    flock->flock = PHX_ARENA_ARRAY(arena, uint32_t, count);
}

/* Units of one flock at random, `density` to the square unit. */
static void scatter(Flock *flock, uint32_t count, double density) {
    const PhxJobs serial = phx_jobs_serial();
    const double side = sqrt(count / density);
    for (uint32_t i = 0; i < count; i++) {
        const PhxDir way = phx_dir_of_angle((PhxAngle)(65535 * random_part(1, i, 2)));
        const PhxVec2 velocity = phx_dir_scale(way, 2 * ONE);
        flock->x[i] = (fix16_t)lrint(side * random_part(1, i, 0) * ONE);
        flock->y[i] = (fix16_t)lrint(side * random_part(1, i, 1) * ONE);
        flock->vel_x[i] = flock->pref_x[i] = velocity.x;
        flock->vel_y[i] = flock->pref_y[i] = velocity.y;
        flock->flock[i] = 1;
    }
    phx_spatial_build(&flock->spatial, &serial, flock->x, flock->y, NULL, count, 6 * ONE);
}

static PhxStatus measure_flock(uint32_t count, double density, uint32_t runs, uint64_t *best) {
    const PhxJobs serial = phx_jobs_serial();
    Flock flock = {0};
    PhxArena arena = phx_arena_measure();
    lay_out(&flock, &arena, count);
    const PhxStatus status = phx_arena_create(&arena, phx_allocator_default(), arena.used);
    if (status != PHX_OK) return status;
    lay_out(&flock, &arena, count);
    scatter(&flock, count, density);
    PhxFlockClass class = phx_flock_class_default(2 * ONE);
    PhxFlockScene scene = {.spatial = &flock.spatial,
                           .classes = &class,
                           .class_count = 1,
                           .flock = flock.flock,
                           .vel_x = flock.vel_x,
                           .vel_y = flock.vel_y,
                           .pref_x = flock.pref_x,
                           .pref_y = flock.pref_y,
                           .work = &flock.work};
    *best = UINT64_MAX;
    for (uint32_t run = 0; run < runs; run++) {
        const uint64_t begin = phx_cli_cpu();
        phx_flock_run(&scene, &serial);
        const uint64_t spent = phx_cli_cpu() - begin;
        if (spent < *best) *best = spent;
    }
    phx_arena_destroy(&arena);
    return PHX_OK;
}

int phx_bench_flock(PhxBench *bench) {
    static const struct {
        const char *name;
        uint32_t count;
        double density;
    } cases[] = {{"flock_1000", 1000, 0.5},
                 {"flock_10000", 10000, 0.5},
                 {"flock_50000", 50000, 0.5},
                 {"flock_10000_dense", 10000, 2},
                 {"flock_10000_pressed", 10000, 50}};
    uint64_t first = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t count = bench->brief ? cases[i].count / 10 : cases[i].count;
        uint64_t best = 0;
        const PhxStatus status = measure_flock(count, cases[i].density, bench->brief ? 1 : FLOCK_RUNS, &best);
        if (status != PHX_OK) return phx_cli_fail_status(bench->cli, "flock", status, NULL);
        const double ns = (double)best / count;
        if (i == 0) first = best / count;
        const double ratio = first > 0 ? ns / (double)first : 0;
        phx_bench_add(
            bench, cases[i].name,
            json_pack("{s:f, s:f, s:f, s:i, s:f, s:i}", "ms", (double)best / 1e6, "ns_per_unit", ns, "ratio",
                      ratio, "units", (int)count, "density", cases[i].density, "threads", 1),
            ratio, 0, "%.3f ms, %.0f ns a unit, %.2f times as in the first; %u units, %g to the square unit",
            (double)best / 1e6, ns, ratio, count, cases[i].density);
    }
    return PHX_CLI_GO;
}
