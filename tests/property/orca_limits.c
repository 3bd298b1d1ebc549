/* orca_limits.c: whole ticks at the stated limits: radii, speeds, horizons, rates, positions at the edge of
 * the world, crowds on one spot. Nothing overflows (run it under UBSan), and no result is faster than its
 * class allows.
 */
#include <math.h>
#include <phalanx/orca.h>
#include <stdlib.h>

#include "base/arena.h"
#include "harness.h"
#include "motion/orca_lines.h"
#include "motion/orca_program.h"

enum { ONE = 1 << 16, UNITS = 120, CLASSES = 4, BOX = 4 };

typedef struct Scene {
    PhxSpatial spatial;
    PhxOrcaWork work;
    PhxWalls walls;
} Scene;

/* One of the extremes, or anything between. */
static fix16_t pick(uint64_t *seed, fix16_t low, fix16_t high) {
    switch (test_range(seed, 0, 3)) {
    case 0:
        return low;
    case 1:
        return high;
    case 2:
        return (fix16_t)(low + test_range(seed, 0, 3));
    default:
        return (fix16_t)test_range(seed, low, high);
    }
}

static void make_class(uint64_t *seed, bool ordinary, PhxOrcaClass *c) {
    c->acceleration = test_range(seed, 0, 1) ? pick(seed, 1, ordinary ? 100 * ONE : 4096 * ONE) : 0;
    if (ordinary) {
        c->radius = (fix16_t)test_range(seed, ONE / 4, ONE);
        c->max_speed = (fix16_t)test_range(seed, ONE, 4 * ONE);
        c->neighbour_range = (fix16_t)test_range(seed, 4 * ONE, 16 * ONE);
        c->horizon = (fix16_t)test_range(seed, ONE / 2, 10 * ONE);
        c->wall_horizon = ONE;
        c->neighbours = 10;
        return;
    }
    c->radius = pick(seed, 1 << 12, 16 * ONE);
    c->max_speed = pick(seed, 0, 64 * ONE);
    c->neighbour_range = pick(seed, 0, 64 * ONE);
    c->horizon = pick(seed, 1 << 12, 1024 * ONE);
    c->wall_horizon = pick(seed, 1 << 12, 1024 * ONE);
    c->neighbours = (uint32_t)test_range(seed, 0, 16);
}

static void make_units(uint64_t *seed, fix16_t column[6][UNITS], const uint16_t *class_of,
                       const PhxOrcaClass *classes, PhxVec2 middle) {
    const fix16_t spread = pick(seed, 0, 60 * ONE);
    for (int i = 0; i < UNITS; i++) {
        column[0][i] = (fix16_t)(middle.x + test_range(seed, -spread, spread));
        column[1][i] = (fix16_t)(middle.y + test_range(seed, -spread, spread));
        for (int c = 2; c < 6; c += 2) {
            const fix16_t speed = c == 2 ? classes[class_of[i]].max_speed : 64 * ONE;
            const fix16_t x = pick(seed, -speed, speed), y = pick(seed, -speed, speed);
            const PhxVec2 v = phx_vec2_clamp_length(phx_vec2(x, y), speed);
            column[c][i] = v.x, column[c + 1][i] = v.y;
        }
    }
}

/* The velocity of one row with every half-plane made and worked through. */
static PhxVec2 solve_eagerly(const PhxOrcaScene *scene, uint32_t row, uint8_t *flags) {
    const uint32_t slot = scene->spatial->slot[row];
    const PhxOrcaBody *self = &scene->work->body[row];
    const PhxOrcaReach *reach = &scene->work->reach[self->class_of];
    PhxOrcaLine lines[PHX_ORCA_MAX_LINES];
    PhxWallNear walls[PHX_WALLS_MAX_NEAR];
    PhxNear near[PHX_ORCA_MAX_NEIGHBOURS];
    uint32_t found =
        phx_walls_nearest(scene->walls, self->position, reach->wall_range, PHX_WALLS_MAX_NEAR, walls);
    const uint32_t hard =
        phx_orca_wall_lines(self, reach->inv_wall_horizon, scene->walls, walls, found, lines);
    found = phx_spatial_nearest(scene->spatial, self->position, reach->range, slot, reach->neighbours, near);
    const PhxOrcaPairs pairs = {.self = self,
                                .bodies = scene->work->body,
                                .near = near,
                                .slot = slot,
                                .horizon = reach->horizon,
                                .inv_horizon = reach->inv_horizon,
                                .max_speed = reach->max_speed,
                                .inv_tick = (int64_t)scene->tick_rate << PHX_ORCA_INV_BITS};
    for (uint32_t i = 0; i < found; i++) lines[hard + i] = phx_orca_pair_line(&pairs, i);
    const PhxVec2 wish = {scene->pref_x[slot], scene->pref_y[slot]};
    return phx_orca_program(lines, hard + found, hard, wish, reach->max_speed, flags);
}

/* No unit changes its velocity by more than it can, unless it was too fast. */
static void check_change(const PhxOrcaScene *scene, uint32_t slot, fix16_t change, int round) {
    const double speed = scene->classes[scene->class_of[slot]].max_speed;
    const double was = hypot(scene->vel_x[slot], scene->vel_y[slot]);
    const double by = hypot((double)scene->out_x[slot] - scene->vel_x[slot],
                            (double)scene->out_y[slot] - scene->vel_y[slot]);
    CHECK_THAT(was > speed || by <= change + 4.0, "round %d unit %u: %g of %d", round, slot, by, change);
    CHECK_THAT(hypot(scene->out_x[slot], scene->out_y[slot]) <= speed + change + 4.0, "round %d unit %u",
               round, slot);
}

/* Leaving half-planes out changed nothing, and no unit is too fast. Returns how many were crowded. */
static int check_results(const PhxOrcaScene *scene, int round) {
    int crowded = 0;
    for (uint32_t row = 0; row < UNITS; row++) {
        const uint32_t slot = scene->spatial->slot[row];
        const PhxVec2 got = {scene->out_x[slot], scene->out_y[slot]};
        const PhxOrcaReach *reach = &scene->work->reach[scene->class_of[slot]];
        if (reach->change > 0 && reach->change < 2 * reach->max_speed) {
            check_change(scene, slot, reach->change, round);
            continue;
        }
        uint8_t flags;
        const PhxVec2 want = solve_eagerly(scene, row, &flags);
        /* the fallback makes all half-planes, and minds contacts besides, of which the eager program knows
         * none */
        CHECK_THAT(scene->flags[slot] == flags && (flags & PHX_ORCA_CROWDED || phx_vec2_equal(got, want)),
                   "round %d unit %u", round, slot);
        const fix16_t speed = scene->classes[scene->class_of[slot]].max_speed;
        CHECK_THAT(phx_vec2_length_sq(got) <= (uint64_t)speed * (uint64_t)speed, "round %d unit %u", round,
                   slot);
        crowded += flags & PHX_ORCA_CROWDED;
    }
    return crowded;
}

PHX_TEST(orca_limits, hold_over_whole_ticks) {
    static fix16_t column[6][UNITS], out_x[UNITS], out_y[UNITS];
    static uint8_t flags[UNITS];
    const int rounds = getenv("PHX_LONG") ? 20000 : 1500;
    int crowded = 0;
    for (int round = 0; round < rounds; round++) {
        uint64_t seed = 70000 + (uint64_t)round;
        const fix16_t edge = 8192 * ONE - 60 * ONE;
        const fix16_t middle_x = pick(&seed, -edge, edge), middle_y = pick(&seed, -edge, edge);
        const PhxVec2 middle = {middle_x, middle_y};
        PhxOrcaClass classes[CLASSES];
        uint16_t class_of[UNITS];
        for (int i = 0; i < CLASSES; i++) make_class(&seed, round % 2, &classes[i]);
        for (int i = 0; i < UNITS; i++) class_of[i] = (uint16_t)test_range(&seed, 0, CLASSES - 1);
        make_units(&seed, column, class_of, classes, middle);
        /* a box near the units with one side that crosses the world */
        const fix16_t w = pick(&seed, ONE / 64, 30 * ONE),
                      left = test_range(&seed, 0, 1) ? -8192 * ONE : middle.x - w;
        const PhxVec2 box[BOX] = {
            {left, middle.y + w},
            {middle.x + w, middle.y + w},
            {middle.x + w, middle.y + 2 * w < 8192 * ONE ? middle.y + 2 * w : 8192 * ONE},
            {left, middle.y + 3 * (w / 2)}};
        const uint32_t size = BOX;
        Scene s = {0};
        PhxArena arena = phx_arena_measure();
        for (int pass = 0; pass < 2; pass++) {
            phx_spatial_layout(&s.spatial, &arena, UNITS);
            phx_orca_layout(&s.work, &arena, UNITS, CLASSES);
            const size_t bytes = arena.used;
            if (pass == 0) CHECK_OK(phx_arena_create(&arena, phx_allocator_default(), bytes));
        }
        const PhxStatus status = phx_walls_create_polygons(&s.walls, phx_allocator_default(), box, &size, 1);
        CHECK_THAT(status == PHX_OK || w < ONE / 2, "round %d", round);
        const PhxJobs serial = phx_jobs_serial();
        phx_spatial_build(&s.spatial, &serial, column[0], column[1], NULL, UNITS,
                          phx_orca_range(classes, CLASSES));
        const PhxOrcaScene scene = {.spatial = &s.spatial,
                                    .walls = &s.walls,
                                    .vel_x = column[2],
                                    .vel_y = column[3],
                                    .pref_x = column[4],
                                    .pref_y = column[5],
                                    .class_of = class_of,
                                    .classes = classes,
                                    .class_count = CLASSES,
                                    .tick_rate = (uint32_t)pick(&seed, 1, 1000),
                                    .out_x = out_x,
                                    .out_y = out_y,
                                    .flags = flags,
                                    .work = &s.work};
        phx_orca_run(&scene, &serial);
        crowded += check_results(&scene, round);
        phx_walls_destroy(&s.walls);
        phx_arena_destroy(&arena);
    }
    printf("%d units were crowded\n", crowded);
    CHECK(crowded > rounds);
}
