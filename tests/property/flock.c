/* flock.c: what flockmates make of preferred velocities: what doubles say, one by one where cells hold one
 * each, and in its figures where they hold many; the same on any number of threads; work that is bounded
 * however dense the crowd.
 */
#include <phalanx/flock.h>

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "harness.h"

enum { ONE = 1 << 16, MOST = 6000, CLASSES = 2, RATE = 20 };

typedef struct Stage {
    PhxArena arena;
    PhxSpatial spatial;
    PhxFlockWork work;
    PhxFlockScene scene;
    PhxFlockClass classes[CLASSES];
    uint32_t count;
    fix16_t x[MOST], y[MOST], vel_x[MOST], vel_y[MOST], pref_x[MOST], pref_y[MOST];
    uint16_t class_of[MOST];
    uint32_t flock[MOST];
} Stage;

/* Units of speed 2 of flock 1, at rest at the origin. */
static Stage *open_stage(uint32_t count) {
    Stage *stage = calloc(1, sizeof *stage);
    CHECK(stage != NULL);
    stage->count = count;
    for (int i = 0; i < CLASSES; i++) stage->classes[i] = phx_flock_class_default(2 * ONE);
    for (uint32_t i = 0; i < MOST; i++) stage->flock[i] = 1;
    stage->arena = phx_arena_measure();
    for (int pass = 0; pass < 2; pass++) {
        phx_spatial_layout(&stage->spatial, &stage->arena, MOST);
        phx_flock_layout(&stage->work, &stage->arena, MOST);
        const size_t bytes = stage->arena.used;
        if (pass == 0) CHECK_OK(phx_arena_create(&stage->arena, phx_allocator_default(), bytes));
    }
    stage->scene = (PhxFlockScene){.spatial = &stage->spatial,
                                   .classes = stage->classes,
                                   .class_count = CLASSES,
                                   .class_of = stage->class_of,
                                   .flock = stage->flock,
                                   .vel_x = stage->vel_x,
                                   .vel_y = stage->vel_y,
                                   .pref_x = stage->pref_x,
                                   .pref_y = stage->pref_y,
                                   .work = &stage->work};
    return stage;
}

static void close_stage(Stage *stage) {
    phx_arena_destroy(&stage->arena);
    free(stage);
}

static void run(Stage *stage, const PhxJobs *jobs) {
    phx_spatial_build(&stage->spatial, jobs, stage->x, stage->y, NULL, stage->count, 6 * ONE);
    phx_flock_run(&stage->scene, jobs);
}

static fix16_t random_in(uint64_t *seed, fix16_t low, fix16_t high) {
    return low + (fix16_t)(test_random(seed) % (uint64_t)((int64_t)high - low + 1));
}

typedef struct Plane {
    double x, y;
} Plane;

static Plane clamp_plane(Plane v, double max) {
    const double length = hypot(v.x, v.y);
    if (length > max) v.x *= max / length, v.y *= max / length;
    return v;
}

/* A crowd in doubles, with the class's numbers in units. */
typedef struct Crowd {
    uint32_t count;
    Plane at[MOST], velocity[MOST], wish[MOST];
    uint32_t flock[MOST];
    double weight[PHX_FLOCK_RULES], near, far, force, speed;
} Crowd;

/* What unit i prefers instead of its wish: every pair is looked at. */
static Plane naive(const Crowd *crowd, uint32_t i) {
    Plane apart = {0, 0}, mean = {0, 0}, middle = {0, 0}, change = {0, 0};
    uint32_t company = 0;
    for (uint32_t j = 0; j < crowd->count; j++) {
        if (j == i || crowd->flock[j] != crowd->flock[i]) continue;
        const Plane from = {crowd->at[i].x - crowd->at[j].x, crowd->at[i].y - crowd->at[j].y};
        const double distance = hypot(from.x, from.y);
        if (distance < crowd->near && distance > 0) {
            apart.x += from.x / distance * (1 - distance / crowd->near);
            apart.y += from.y / distance * (1 - distance / crowd->near);
        }
        if (distance >= crowd->far) continue;
        company++;
        mean.x += crowd->velocity[j].x, mean.y += crowd->velocity[j].y;
        middle.x -= from.x, middle.y -= from.y;
    }
    apart = clamp_plane(apart, 1);
    const double total = crowd->weight[0] + crowd->weight[1] + crowd->weight[2] + crowd->weight[3];
    change.x = crowd->weight[0] * apart.x * crowd->speed,
    change.y = crowd->weight[0] * apart.y * crowd->speed;
    if (company > 0) {
        const Plane home = clamp_plane((Plane){middle.x / company, middle.y / company}, crowd->far);
        change.x += crowd->weight[1] * (mean.x / company - crowd->wish[i].x);
        change.y += crowd->weight[1] * (mean.y / company - crowd->wish[i].y);
        change.x += crowd->weight[2] * home.x * crowd->speed / crowd->far;
        change.y += crowd->weight[2] * home.y * crowd->speed / crowd->far;
    }
    change = clamp_plane((Plane){change.x / total, change.y / total}, crowd->force);
    return clamp_plane((Plane){crowd->wish[i].x + change.x, crowd->wish[i].y + change.y}, crowd->speed);
}

static double units(fix16_t raw) { return (double)raw / ONE; }

static void copy_crowd(Crowd *crowd, const Stage *stage) {
    const PhxFlockClass *class = &stage->classes[0];
    crowd->count = stage->count;
    for (uint32_t i = 0; i < stage->count; i++) {
        crowd->at[i] = (Plane){units(stage->x[i]), units(stage->y[i])};
        crowd->velocity[i] = (Plane){units(stage->vel_x[i]), units(stage->vel_y[i])};
        crowd->wish[i] = (Plane){units(stage->pref_x[i]), units(stage->pref_y[i])};
        crowd->flock[i] = stage->flock[i];
    }
    for (int r = 0; r < PHX_FLOCK_RULES; r++) crowd->weight[r] = units(class->weight[r]);
    crowd->near = units(class->near_radius), crowd->far = units(class->far_radius);
    crowd->force = units(class->force), crowd->speed = units(class->speed);
}

static void random_velocity(Stage *stage, uint32_t i, uint64_t *seed) {
    const PhxVec2 one = phx_dir_scale(phx_dir_of_angle((PhxAngle)test_random(seed)), 2 * ONE),
                  two = phx_dir_scale(phx_dir_of_angle((PhxAngle)test_random(seed)),
                                      random_in(seed, ONE, 2 * ONE));
    stage->vel_x[i] = one.x, stage->vel_y[i] = one.y;
    stage->pref_x[i] = two.x, stage->pref_y[i] = two.y;
}

/* Cells of both levels are two units wide here, and hold one unit at most: then nothing is approximate. */
PHX_TEST(flock, is_what_every_pair_says_where_cells_hold_one) {
    const PhxJobs serial = phx_jobs_serial();
    static Crowd crowd;
    uint64_t changed = 0;
    for (uint64_t trial = 0; trial < 60; trial++) {
        uint64_t seed = trial;
        Stage *stage = open_stage(196);
        for (int c = 0; c < CLASSES; c++) {
            PhxFlockClass *class = &stage->classes[c];
            class->near_radius = random_in(&seed, 3 * ONE + 1, 6 * ONE);
            class->far_radius = trial % 2 ? 6 * ONE : class->near_radius;
            class->force = random_in(&seed, 0, 3 * ONE);
            for (int r = 0; r < PHX_FLOCK_RULES; r++) class->weight[r] = random_in(&seed, 0, 4 * ONE);
            class->weight[PHX_FLOCK_SEEK] += 1;
            stage->classes[1] = stage->classes[0];
        }
        for (uint32_t i = 0; i < stage->count; i++) {
            const fix16_t away = trial % 3 == 0 ? 8162 * ONE : trial % 3 == 1 ? -8192 * ONE : -14 * ONE;
            stage->x[i] = away + (fix16_t)(i % 14) * 2 * ONE + random_in(&seed, 0, 2 * ONE - 1);
            stage->y[i] = -away - (trial % 3 == 1) * 28 * ONE + (fix16_t)(i / 14) * 2 * ONE +
                          random_in(&seed, 0, 2 * ONE - 1);
            if (trial % 3 == 0) stage->y[i] -= 28 * ONE;
            stage->flock[i] = (uint32_t)(test_random(&seed) % 3) * (trial % 4 ? 1 : 0xfffff);
            stage->class_of[i] = (uint16_t)(i % 2);
            random_velocity(stage, i, &seed);
        }
        copy_crowd(&crowd, stage);
        run(stage, &serial);
        for (uint32_t i = 0; i < stage->count; i++) {
            const Plane want = stage->flock[i] == 0 ? crowd.wish[i] : naive(&crowd, i);
            const double off = hypot(units(stage->pref_x[i]) - want.x, units(stage->pref_y[i]) - want.y);
            CHECK_THAT(off < 0.0005, "seed %" PRIu64 " unit %u: off by %g", trial, i, off);
            changed += hypot(want.x - crowd.wish[i].x, want.y - crowd.wish[i].y) > 0.1;
        }
        close_stage(stage);
    }
    CHECK(changed > 1000);
}

/* With the usual radii and many in a cell, the change is near that of pairs: within 6% of the force, in
 * the root of the mean square. */
PHX_TEST(flock, is_near_what_every_pair_says_where_cells_hold_many) {
    const PhxJobs serial = phx_jobs_serial();
    static Crowd crowd;
    for (uint64_t trial = 0; trial < 8; trial++) {
        uint64_t seed = trial + 50;
        Stage *stage = open_stage(800);
        const fix16_t width = (fix16_t)(22 + 6 * trial) * ONE;
        for (uint32_t i = 0; i < stage->count; i++) {
            stage->x[i] = random_in(&seed, 0, width), stage->y[i] = random_in(&seed, 0, width);
            random_velocity(stage, i, &seed);
        }
        copy_crowd(&crowd, stage);
        run(stage, &serial);
        double off = 0, size = 0;
        for (uint32_t i = 0; i < stage->count; i++) {
            const Plane want = naive(&crowd, i);
            off += pow(units(stage->pref_x[i]) - want.x, 2) + pow(units(stage->pref_y[i]) - want.y, 2);
            size += pow(want.x - crowd.wish[i].x, 2) + pow(want.y - crowd.wish[i].y, 2);
        }
        if (getenv("PHX_VERBOSE"))
            printf("800 units on %g: off by %.3f, of a change of %.3f\n", units(width), sqrt(off / 800),
                   sqrt(size / 800));
        CHECK_THAT(sqrt(off / 800) < 0.06 * crowd.force, "seed %" PRIu64 ": %g", trial, sqrt(off / 800));
        close_stage(stage);
    }
}

/* ---- what emerges */

typedef struct Figures {
    double order;   /* 1: all go one way, 0: all ways alike */
    double radius;  /* root mean square distance from the middle */
    double nearest; /* mean distance of the nearest flockmate */
    double closest; /* of any two */
} Figures;

static Figures judge(const Crowd *crowd) {
    Figures figures = {.closest = INFINITY};
    Plane way = {0, 0}, middle = {0, 0};
    for (uint32_t i = 0; i < crowd->count; i++) {
        const double speed = hypot(crowd->velocity[i].x, crowd->velocity[i].y);
        if (speed > 0) way.x += crowd->velocity[i].x / speed, way.y += crowd->velocity[i].y / speed;
        middle.x += crowd->at[i].x / crowd->count, middle.y += crowd->at[i].y / crowd->count;
    }
    figures.order = hypot(way.x, way.y) / crowd->count;
    for (uint32_t i = 0; i < crowd->count; i++) {
        double nearest = INFINITY;
        for (uint32_t j = 0; j < crowd->count; j++)
            if (j != i)
                nearest =
                    fmin(nearest, hypot(crowd->at[i].x - crowd->at[j].x, crowd->at[i].y - crowd->at[j].y));
        figures.nearest += nearest / crowd->count;
        figures.closest = fmin(figures.closest, nearest);
        figures.radius +=
            (pow(crowd->at[i].x - middle.x, 2) + pow(crowd->at[i].y - middle.y, 2)) / crowd->count;
    }
    figures.radius = sqrt(figures.radius);
    return figures;
}

/* Each wants to go on as fast as it can, wherever it goes now. */
static Plane go_on(Plane velocity, double speed) {
    const double length = hypot(velocity.x, velocity.y);
    return length > 0 ? (Plane){velocity.x / length * speed, velocity.y / length * speed} : (Plane){speed, 0};
}

static void step_crowd(Crowd *crowd) {
    static Plane next[MOST];
    for (uint32_t i = 0; i < crowd->count; i++) crowd->wish[i] = go_on(crowd->velocity[i], crowd->speed);
    for (uint32_t i = 0; i < crowd->count; i++) next[i] = naive(crowd, i);
    for (uint32_t i = 0; i < crowd->count; i++) {
        crowd->velocity[i] = next[i];
        crowd->at[i].x += next[i].x / RATE, crowd->at[i].y += next[i].y / RATE;
    }
}

static void step_stage(Stage *stage) {
    const PhxJobs serial = phx_jobs_serial();
    for (uint32_t i = 0; i < stage->count; i++) {
        PhxDir way;
        if (phx_vec2_normalize(phx_vec2(stage->vel_x[i], stage->vel_y[i]), &way) == 0)
            way = phx_dir(1 << 30, 0);
        const PhxVec2 wish = phx_dir_scale(way, 2 * ONE);
        stage->pref_x[i] = wish.x, stage->pref_y[i] = wish.y;
    }
    run(stage, &serial);
    for (uint32_t i = 0; i < stage->count; i++) {
        stage->vel_x[i] = stage->pref_x[i], stage->vel_y[i] = stage->pref_y[i];
        stage->x[i] += stage->vel_x[i] / RATE, stage->y[i] += stage->vel_y[i] / RATE;
    }
}

/* The same beginning, once by cells and once by pairs. */
static void check_emergence(uint32_t count, fix16_t width, uint64_t trial) {
    static Crowd crowd, own;
    uint64_t seed = trial;
    Stage *stage = open_stage(count);
    for (uint32_t i = 0; i < count; i++) {
        stage->x[i] = random_in(&seed, 0, width), stage->y[i] = random_in(&seed, 0, width);
        random_velocity(stage, i, &seed);
    }
    copy_crowd(&crowd, stage);
    for (uint32_t t = 0; t < 30 * RATE; t++) {
        step_crowd(&crowd);
        step_stage(stage);
    }
    copy_crowd(&own, stage);
    const Figures want = judge(&crowd), got = judge(&own);
    if (getenv("PHX_VERBOSE"))
        printf("%u units on %g, seed %" PRIu64 ": order %.3f (pairs %.3f), radius %.2f (%.2f), nearest %.2f "
               "(%.2f), closest %.2f (%.2f)\n",
               count, units(width), trial, got.order, want.order, got.radius, want.radius, got.nearest,
               want.nearest, got.closest, want.closest);
    CHECK_THAT(got.order > 0.95 && want.order > 0.95, "seed %" PRIu64 ": %g, %g", trial, got.order,
               want.order);
    CHECK_THAT(fabs(got.radius / want.radius - 1) < 0.25, "seed %" PRIu64 ": %g, %g", trial, got.radius,
               want.radius);
    CHECK_THAT(fabs(got.nearest / want.nearest - 1) < 0.05, "seed %" PRIu64 ": %g, %g", trial, got.nearest,
               want.nearest);
    CHECK_THAT(got.nearest > 1.5 && got.closest > 1, "seed %" PRIu64 ": %g, %g", trial, got.nearest,
               got.closest);
    /* a disc of units that are as far apart as they like to be has half of this radius, less than twice */
    CHECK_THAT(got.radius < got.nearest * sqrt(count), "seed %" PRIu64 ": %g", trial, got.radius);
    close_stage(stage);
}

PHX_TEST(flock, aligns_keeps_together_and_apart) {
    check_emergence(12, 8 * ONE, 1);
    check_emergence(100, 16 * ONE, 2);
    check_emergence(300, 12 * ONE, 3);
    check_emergence(80, 14 * ONE, 4);
    check_emergence(100, 14 * ONE, 5);
}

/* ---- threads and work */

PHX_TEST(flock, is_the_same_on_any_threads_and_bounded_in_work) {
    static fix16_t first_x[MOST], first_y[MOST];
    for (uint64_t trial = 0; trial < 4; trial++) {
        for (uint32_t threads = 1; threads <= 8; threads++) {
            if (threads > 3 && threads < 8) continue;
            uint64_t seed = trial + 100;
            PhxJobs jobs;
            Stage *stage = open_stage(MOST);
            /* from a crowd of 0.4 a square unit to all on one spot */
            const fix16_t width = trial == 3 ? 0 : (fix16_t)(122 >> 2 * trial) * ONE;
            for (uint32_t i = 0; i < MOST; i++) {
                stage->x[i] = random_in(&seed, -width / 2, width - width / 2);
                stage->y[i] = random_in(&seed, -width / 2, width - width / 2);
                stage->flock[i] = (uint32_t)(test_random(&seed) % 5) << 16 | 7;
                stage->class_of[i] = (uint16_t)(test_random(&seed) % CLASSES);
                random_velocity(stage, i, &seed);
            }
            stage->classes[1].near_radius = ONE, stage->classes[1].far_radius = 5 * ONE;
            CHECK_OK(phx_jobs_threads_create(threads, &jobs));
            run(stage, &jobs);
            phx_jobs_threads_destroy(&jobs);
            if (threads == 1) {
                memcpy(first_x, stage->pref_x, sizeof first_x),
                    memcpy(first_y, stage->pref_y, sizeof first_y);
            }
            CHECK_THAT(memcmp(first_x, stage->pref_x, sizeof first_x) == 0 &&
                           memcmp(first_y, stage->pref_y, sizeof first_y) == 0,
                       "seed %" PRIu64 " threads %u", trial, threads);
            /* Each cell is there once and spans a third of the radius: a window has 49 at most. */
            const PhxFlockLevel *levels[] = {&stage->work.near, &stage->work.far};
            for (int l = 0; l < 2; l++) {
                CHECK(levels[l]->reach <= 3);
                uint32_t members = 0;
                for (uint32_t c = 0; c < levels[l]->cell_count; c++) {
                    CHECK(c == 0 || levels[l]->cell[c].key > levels[l]->cell[c - 1].key);
                    CHECK(levels[l]->cell[c].first == members);
                    members += levels[l]->cell[c].count;
                }
                CHECK_EQ(members, MOST);
            }
            close_stage(stage);
        }
    }
}
