/* nav_window.c: windows of fine cells lead around resting bodies where there is room, and to the goal over
 * random maps, whatever the order of the bodies.
 */
#include <phalanx/rng.h>
#include <phalanx/walls.h>

#include "nav/window.h"
#include "nav_tiles.h"

enum { SIDE = 60, BODY_MOST = 64 };

static const fix16_t radius = 26214; /* 0.4 */

typedef struct Walk {
    PhxVec2 at;
    int64_t most_aside; /* largest |y - start's y|, raw */
    int64_t deepest;    /* largest overlap with a body, raw */
    uint32_t steps;
    bool there;
} Walk;

static PhxVec2 tenths(int32_t x, int32_t y) { return (PhxVec2){x * 65536 / 10, y * 65536 / 10}; }

static void note(Walk *walk, PhxVec2 start, const PhxWindowView *view) {
    const int64_t aside =
        walk->at.y > start.y ? (int64_t)walk->at.y - start.y : (int64_t)start.y - walk->at.y;
    if (aside > walk->most_aside) walk->most_aside = aside;
    for (uint32_t b = 0; b < view->body_count; b++) {
        const int64_t apart = phx_vec2_length(phx_vec2_sub(walk->at, view->bodies[b].at));
        const int64_t depth = (int64_t)radius + view->bodies[b].radius - apart;
        if (depth > walk->deepest) walk->deepest = depth;
    }
}

/* Walks in steps of a tenth along the window's direction. */
static Walk walk_from(PhxWindowWork *work, const PhxWindowView *asked, PhxVec2 start, uint32_t most) {
    PhxWindowView view = *asked;
    Walk walk = {.at = start};
    while (walk.steps < most) {
        view.at = walk.at;
        const PhxVec2 left = phx_vec2_sub(view.goal, walk.at);
        if ((walk.there = phx_vec2_length(left) < 65536 / 2)) break;
        const PhxDir direction = phx_window_direction(work, &view);
        if (direction.x == 0 && direction.y == 0) break;
        walk.at = phx_walls_move(view.ground, walk.at, phx_dir_scale(direction, 6554), radius);
        walk.steps++;
        note(&walk, start, &view);
    }
    return walk;
}

static PhxWindowView view_of(const TestTiles *all, const PhxTile *tile, PhxVec2 goal, uint32_t level) {
    return (PhxWindowView){.ground = &all->grid,
                           .plane = &all->grid,
                           .size = 1,
                           .tile = tile,
                           .goal = goal,
                           .radius = radius,
                           .level = level,
                           .crowd_cost = 40};
}

/* A line of bodies across the way: without a gap the way leads around, with one through it. */
PHX_TEST(nav_window, leads_around_resting_bodies) {
    static uint8_t cost[SIDE * SIDE];
    memset(cost, 1, sizeof cost);
    const PhxNavGrid grid = {SIDE, SIDE, cost};
    TestTiles all;
    test_tiles_make(&all, &grid, PHX_FIELD_WEIGHTS_DEFAULT);
    const uint32_t goal_cell = 30 * SIDE + 50;
    test_tiles_aim(&all, &goal_cell, 1);
    PhxWindowBody bodies[BODY_MOST];
    PhxWindowWork *work = malloc(sizeof *work);
    const PhxVec2 start = tenths(205, 305);
    for (uint32_t level = 1; level <= 2; level++) {
        PhxWindowView view = view_of(&all, test_tiles_sector(&all, 0), tenths(505, 305), level);
        const Walk straight = walk_from(work, &view, start, 1000);
        CHECK(straight.there && straight.most_aside < 65536 / 2 && straight.steps < 310);
        view.bodies = bodies;
        for (int32_t i = 0; i < 11; i++)
            bodies[view.body_count++] = (PhxWindowBody){tenths(240, 265 + 8 * i), radius};
        const Walk around = walk_from(work, &view, start, 1000);
        CHECK(around.there);
        CHECK(around.most_aside > 4 * 65536);
        CHECK(around.deepest < 65536 / 4); /* a fine cell's diagonal at most */
        for (uint32_t i = 5; i < view.body_count; i++) bodies[i].at.y += 65536 * 5 / 4;
        const Walk through = walk_from(work, &view, start, 1000);
        CHECK(through.there);
        CHECK(through.most_aside < 2 * 65536);
        CHECK(through.deepest < 65536 / 4);
    }
    free(work);
    test_tiles_free(&all);
}

static void random_map(uint64_t seed, uint8_t *cost) {
    for (uint32_t c = 0; c < SIDE * SIDE; c++)
        cost[c] = phx_random_below(phx_random(seed, 1, c, 0, 0), 100) < 15 ? PHX_NAV_IMPASSABLE : 1;
}

static uint32_t random_open(const PhxNavGrid *grid, uint64_t seed, uint32_t draw) {
    return phx_nav_nearest_open(grid, phx_random_below(phx_random(seed, 2, draw, 0, 0), SIDE * SIDE));
}

/* On random maps the window alone leads to every goal that the tile knows a way to. */
PHX_TEST(nav_window, leads_to_the_goal_on_random_maps) {
    static uint8_t cost[SIDE * SIDE];
    const PhxNavGrid grid = {SIDE, SIDE, cost};
    PhxWindowWork *work = malloc(sizeof *work);
    const uint32_t maps = test_count(5, 12, 12);
    uint32_t walked = 0;
    for (uint64_t seed = 1; seed <= maps; seed++) {
        random_map(seed, cost);
        TestTiles all;
        test_tiles_make(&all, &grid, PHX_FIELD_WEIGHTS_DEFAULT);
        const uint32_t goal = random_open(&grid, seed, 0);
        test_tiles_aim(&all, &goal, 1);
        const PhxTile *tile = test_tiles_sector(&all, 0);
        for (uint32_t i = 1; i <= 6; i++) {
            const uint32_t from = random_open(&grid, seed, i);
            if (phx_tile_cost(tile, &grid, from) == UINT64_MAX) continue;
            const PhxWindowView view = view_of(&all, tile, phx_nav_cell_center(&grid, goal), 1 + i % 2);
            const Walk walk = walk_from(work, &view, phx_nav_cell_center(&grid, from), 4000);
            CHECK_THAT(walk.there, "seed %llu, walk %u ended at %d,%d", (unsigned long long)seed, i,
                       walk.at.x, walk.at.y);
            walked++;
        }
        test_tiles_free(&all);
    }
    CHECK(walked > maps * 4);
    free(work);
}

/* The order of the bodies is nothing; a unit too large has no window; a goal without a way gives none. */
PHX_TEST(nav_window, order_and_limits) {
    static uint8_t cost[SIDE * SIDE];
    random_map(77, cost);
    const PhxNavGrid grid = {SIDE, SIDE, cost};
    TestTiles all;
    test_tiles_make(&all, &grid, PHX_FIELD_WEIGHTS_DEFAULT);
    const uint32_t goal = random_open(&grid, 77, 0);
    test_tiles_aim(&all, &goal, 1);
    PhxWindowBody bodies[BODY_MOST], turned[BODY_MOST];
    for (uint32_t i = 0; i < BODY_MOST; i++) {
        bodies[i] = (PhxWindowBody){phx_nav_cell_center(&grid, random_open(&grid, 78, i)), radius};
        turned[BODY_MOST - 1 - i] = bodies[i];
    }
    PhxWindowWork *work = malloc(sizeof *work);
    PhxWindowView view = view_of(&all, test_tiles_sector(&all, 0), phx_nav_cell_center(&grid, goal), 2);
    for (uint32_t i = 0; i < 40; i++) {
        view.at = phx_nav_cell_center(&grid, random_open(&grid, 79, i));
        view.body_count = BODY_MOST;
        view.bodies = bodies;
        memset(work, (int)i, sizeof *work);
        const PhxDir one = phx_window_direction(work, &view);
        view.bodies = turned;
        const PhxDir other = phx_window_direction(work, &view);
        CHECK(one.x == other.x && one.y == other.y);
    }
    view.radius = PHX_WINDOW_RADIUS_LIMIT + 1;
    const PhxDir none = phx_window_direction(work, &view);
    CHECK(none.x == 0 && none.y == 0);
    free(work);
    test_tiles_free(&all);
}
