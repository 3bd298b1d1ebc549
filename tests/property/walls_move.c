/* walls_move.c: a disc never enters a wall, whatever it is told to do. */
#include <phalanx/walls.h>
#include <stdlib.h>

#include "harness.h"

enum { ONE = 1 << 16, SIDE = 24 };

static bool solid(const PhxNavGrid *grid, int64_t cx, int64_t cy) {
    return cx < 0 || cy < 0 || cx >= (int64_t)grid->width || cy >= (int64_t)grid->height ||
           grid->cost[cy * grid->width + cx] == PHX_NAV_IMPASSABLE;
}

/* Squared distance to the nearest solid cell by looking at all cells around, and past the border. */
static int64_t clearance_sq(const PhxNavGrid *grid, PhxVec2 at) {
    int64_t best = INT64_MAX;
    for (int64_t cy = -2; cy <= (int64_t)grid->height + 1; cy++)
        for (int64_t cx = -2; cx <= (int64_t)grid->width + 1; cx++) {
            if (!solid(grid, cx, cy)) continue;
            const int64_t x0 = cx * ONE, y0 = cy * ONE;
            const int64_t dx = at.x < x0 ? x0 - at.x : at.x > x0 + ONE ? at.x - x0 - ONE : 0;
            const int64_t dy = at.y < y0 ? y0 - at.y : at.y > y0 + ONE ? at.y - y0 - ONE : 0;
            if (dx * dx + dy * dy < best) best = dx * dx + dy * dy;
        }
    return best;
}

/* Marks the open cells that a walker without width reaches, diagonals only between two open cells. */
static void flood(const PhxNavGrid *grid, uint32_t from, uint8_t *mark) {
    static uint32_t stack[SIDE * SIDE];
    uint32_t depth = 0;
    memset(mark, 0, SIDE * SIDE);
    mark[from] = 1;
    stack[depth++] = from;
    while (depth) {
        const uint32_t cell = stack[--depth];
        const int64_t x = cell % grid->width, y = cell / grid->width;
        for (int i = 0; i < 4; i++) {
            const int64_t nx = x + (i == 0) - (i == 1), ny = y + (i == 2) - (i == 3);
            if (solid(grid, nx, ny) || mark[ny * grid->width + nx]) continue;
            mark[ny * grid->width + nx] = 1;
            stack[depth++] = (uint32_t)(ny * grid->width + nx);
        }
    }
}

static void make_grid(uint64_t *seed, PhxNavGrid *grid, uint8_t *cost) {
    *grid = (PhxNavGrid){.width = SIDE, .height = SIDE, .cost = cost};
    const int64_t percent = test_range(seed, 0, 45);
    for (int i = 0; i < SIDE * SIDE; i++)
        cost[i] = test_range(seed, 0, 99) < percent ? PHX_NAV_IMPASSABLE : 1;
}

static PhxVec2 random_vec(uint64_t *seed, int64_t low, int64_t high) {
    const fix16_t x = (fix16_t)test_range(seed, low, high), y = (fix16_t)test_range(seed, low, high);
    return phx_vec2(x, y);
}

static uint32_t cell_at(const PhxNavGrid *grid, PhxVec2 at) {
    return (uint32_t)(at.y / ONE) * grid->width + (uint32_t)(at.x / ONE);
}

PHX_TEST(walls_move, a_clear_disc_stays_clear_and_on_its_side) {
    static uint8_t cost[SIDE * SIDE], mark[SIDE * SIDE];
    const int grids = getenv("PHX_LONG") ? 10000 : 1000;
    uint32_t blocked = 0, moved = 0;
    for (int g = 0; g < grids; g++) {
        uint64_t seed = 31000 + (uint64_t)g;
        PhxNavGrid grid;
        make_grid(&seed, &grid, cost);
        const fix16_t size = (fix16_t)test_range(&seed, 1 << 12, ONE * 2),
                      radius = size >> test_range(&seed, 0, 2);
        const fix16_t r = radius < 1 << 12 ? 1 << 12 : radius;
        PhxVec2 at = {0, 0};
        bool placed = false;
        for (int tries = 0; tries < 200 && !placed; tries++) {
            at = random_vec(&seed, 0, SIDE * ONE - 1);
            placed = clearance_sq(&grid, at) >= (int64_t)r * r;
        }
        if (!placed) continue;
        flood(&grid, cell_at(&grid, at), mark);
        for (int step = 0; step < 100; step++) {
            /* up to 64 units in one call: the fastest unit at one tick a second */
            const fix16_t reach = test_range(&seed, 0, 9) ? r * 2 : (fix16_t)test_range(&seed, 0, 45 * ONE);
            const PhxVec2 by = random_vec(&seed, -reach, reach);
            const PhxVec2 to = phx_walls_move(&grid, at, by, r);
            CHECK_THAT(clearance_sq(&grid, to) >= (int64_t)r * r, "grid %d step %d radius %d", g, step, r);
            CHECK_THAT(mark[cell_at(&grid, to)], "grid %d step %d: passed a wall", g, step);
            CHECK(phx_walls_clear(&grid, to, r));
            blocked += !phx_vec2_equal(to, phx_vec2_add(at, by));
            moved += !phx_vec2_equal(to, at);
            at = to;
        }
    }
    printf("%u moves came through, %u were cut\n", moved, blocked);
    CHECK(moved > 10000 && blocked > 10000);
}

/* A disc that begins in a wall: never deeper; where there is room, out. */
PHX_TEST(walls_move, a_disc_in_a_wall_comes_out_and_never_goes_deeper) {
    static uint8_t cost[SIDE * SIDE];
    int freed = 0, wide = 0;
    for (int g = 0; g < 2000; g++) {
        uint64_t seed = 62000 + (uint64_t)g;
        PhxNavGrid grid;
        make_grid(&seed, &grid, cost);
        const fix16_t r = (fix16_t)test_range(&seed, 1 << 12, ONE);
        PhxVec2 at = random_vec(&seed, 0, SIDE * ONE - 1);
        const bool in_open_cell = !solid(&grid, at.x / ONE, at.y / ONE);
        const int64_t first = clearance_sq(&grid, at);
        if (first >= (int64_t)r * r) continue;
        bool room = true; /* for a radius up to a half: walls may be in the cells to the left only */
        for (int64_t dy = -1; dy <= 1; dy++)
            for (int64_t dx = 0; dx <= 1; dx++)
                room = room && !solid(&grid, at.x / ONE + dx, at.y / ONE + dy);
        int64_t depth = first;
        for (int tick = 0; tick < 60; tick++) {
            const PhxVec2 by = random_vec(&seed, -r, r);
            at = phx_walls_move(&grid, at, by, r);
            const int64_t now = clearance_sq(&grid, at), full = (int64_t)r * r;
            if (in_open_cell) CHECK_THAT(now >= (depth < full ? depth : full), "grid %d tick %d", g, tick);
            depth = now;
        }
        wide += room;
        freed += depth >= (int64_t)r * r;
        if (room && r <= ONE / 2) CHECK_THAT(depth >= (int64_t)r * r, "grid %d: not freed", g);
        if (r <= ONE / 4)
            CHECK_THAT(!solid(&grid, at.x / ONE, at.y / ONE), "grid %d: centre still in a wall", g);
    }
    printf("%d freed, %d had room for certain\n", freed, wide);
    CHECK(freed > 500 && wide > 20);
}

/* The centre of the open cell nearest to a point, by looking at all of them; false: there is none. */
static bool nearest_center(const PhxNavGrid *grid, PhxVec2 at, PhxVec2 *center) {
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; i < grid->width * grid->height; i++) {
        const PhxVec2 c = phx_nav_cell_center(grid, i);
        if (grid->cost[i] == PHX_NAV_IMPASSABLE || phx_vec2_distance_sq(at, c) >= best) continue;
        best = phx_vec2_distance_sq(at, c);
        *center = c;
    }
    return best < UINT64_MAX;
}

/* A building is placed on units, or a gate shut on them: whatever they want, they come out by the shortest
 * way, in as many calls as it has units, and are clear of it soon after. */
PHX_TEST(walls_move, a_disc_under_a_building_of_any_size_comes_out) {
    enum { WIDE = 160, MARGIN = 12 };
    static uint8_t cost[WIDE * WIDE];
    int calls = 0, longest = 0;
    for (int g = 0; g < 400; g++) {
        uint64_t seed = 9000 + (uint64_t)g;
        const PhxNavGrid grid = {WIDE, WIDE, cost};
        memset(cost, 1, sizeof cost);
        const int64_t w = test_range(&seed, 1, g % 2 ? 32 : WIDE - 2 * MARGIN),
                      h = test_range(&seed, 1, g % 2 ? 32 : WIDE - 2 * MARGIN);
        const int64_t x = test_range(&seed, MARGIN, WIDE - MARGIN - w),
                      y = test_range(&seed, MARGIN, WIDE - MARGIN - h);
        for (int64_t cy = y; cy < y + h; cy++) memset(cost + cy * WIDE + x, 255, (size_t)w);
        if (g % 4 == 0) cost[test_range(&seed, y, y + h - 1) * WIDE + x + w / 2] = 1; /* a yard or niche */
        const fix16_t r = (fix16_t)test_range(&seed, 1 << 12, g % 3 ? ONE : 4 * ONE);
        const fix16_t at_x = (fix16_t)test_range(&seed, x * ONE, (x + w) * ONE - 1);
        PhxVec2 at = {at_x, (fix16_t)test_range(&seed, y * ONE, (y + h) * ONE - 1)}, center = at;
        int k = 0;
        while (solid(&grid, at.x / ONE, at.y / ONE)) {
            CHECK(nearest_center(&grid, at, &center));
            const PhxVec2 way = phx_vec2_sub(center, at);
            const PhxVec2 to = phx_walls_move(&grid, at, random_vec(&seed, -r, r), r);
            CHECK_THAT(phx_vec2_equal(to, phx_vec2_add(at, phx_vec2_clamp_length(way, r > ONE ? r : ONE))),
                       "building %d call %d", g, k);
            at = to;
            CHECK_THAT(++k <= (w < h ? w : h) / 2 + 2, "building %d", g);
        }
        longest = k > longest ? k : longest;
        calls += k;
        const int64_t cx = at.x / ONE, cy = at.y / ONE;
        const bool yard = cx >= x && cx < x + w && cy >= y && cy < y + h; /* may be too narrow */
        for (k = 0; k < 8 && !phx_walls_clear(&grid, at, r); k++)
            at = phx_walls_move(&grid, at, phx_vec2(0, 0), r);
        CHECK_THAT(yard || phx_walls_clear(&grid, at, r), "building %d radius %d", g, r);
    }
    printf("%d calls, %d for one disc at most\n", calls, longest);
    memset(cost, 255, sizeof cost);
    const PhxNavGrid full = {WIDE, WIDE, cost};
    const PhxVec2 at = {WIDE / 2 * ONE, WIDE / 2 * ONE};
    CHECK(phx_vec2_equal(phx_walls_move(&full, at, phx_vec2(ONE, 0), ONE), at));
}

PHX_TEST(walls_move, slides_along_walls_and_round_corners) {
    uint8_t cost[10 * 10];
    memset(cost, 1, sizeof cost);
    for (int x = 3; x < 7; x++) cost[5 * 10 + x] = PHX_NAV_IMPASSABLE;
    const PhxNavGrid grid = {10, 10, cost};
    const fix16_t r = ONE / 2;
    /* against the wall's upper side (y = 5), aslant: all of x, none of y */
    PhxVec2 at = {4 * ONE, 5 * ONE - r};
    at = phx_walls_move(&grid, at, phx_vec2(ONE, ONE), r);
    CHECK_EQ(at.x, 5 * ONE);
    CHECK_EQ(at.y, 5 * ONE - r);
    /* on, past the corner (7, 5), and down its other side */
    for (int i = 0; i < 8; i++) at = phx_walls_move(&grid, at, phx_vec2(ONE / 2, ONE / 2), r);
    CHECK(at.x > 7 * ONE && at.y > 6 * ONE);
    /* into a corner of the map: stays, touching both borders */
    at = phx_vec2(ONE, ONE);
    for (int i = 0; i < 8; i++) at = phx_walls_move(&grid, at, phx_vec2(-ONE, -ONE), r);
    CHECK(at.x == r && at.y == r);
}

/* Case 20: through the corner that two solid cells share, by path rule and by motion. */
PHX_TEST(walls_move, case_20_nothing_passes_between_two_cells_that_touch_by_a_corner) {
    for (int turn = 0; turn < 2; turn++) {
        uint8_t cost[4 * 4];
        memset(cost, 1, sizeof cost);
        for (int i = 0; i < 4; i++) cost[i * 4 + (turn ? 3 - i : i)] = PHX_NAV_IMPASSABLE;
        const PhxNavGrid grid = {4, 4, cost};
        for (int k = 1; k < 400; k++) {
            const fix16_t r = 1 << 12;
            PhxVec2 at = {turn ? ONE / 2 : 3 * ONE + ONE / 2, ONE / 2};
            const PhxVec2 goal = {turn ? 3 * ONE + ONE / 2 : ONE / 2, 3 * ONE + ONE / 2};
            uint64_t seed = (uint64_t)k;
            for (int i = 0; i < 40; i++) {
                PhxDir d;
                phx_vec2_normalize(phx_vec2_sub(goal, at), &d);
                PhxVec2 by = phx_dir_scale(d, (fix16_t)test_range(&seed, 1, k * 300));
                by.x += (fix16_t)test_range(&seed, -300, 300);
                at = phx_walls_move(&grid, at, by, r);
                CHECK_THAT(turn ? (at.x + at.y) / ONE < 4 : at.x > at.y, "k %d step %d", k, i);
            }
        }
    }
}
