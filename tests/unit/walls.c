/* walls.c: outlines of grids and polygons, the query, and the hard guarantee. */
#include <phalanx/walls.h>
#include <stdlib.h>

#include "base/arena.h"
#include "harness.h"

enum { ONE = 1 << 16 };

static PhxArena walls_of_grid(PhxWalls *walls, const PhxNavGrid *grid) {
    PhxArena arena = phx_arena_measure();
    const PhxWallsSize size = phx_walls_size_grid(grid);
    phx_walls_layout(walls, &arena, size);
    const size_t bytes = arena.used;
    CHECK_OK(phx_arena_create(&arena, phx_allocator_default(), bytes));
    phx_walls_layout(walls, &arena, size);
    CHECK_OK(phx_walls_build_grid(walls, grid));
    return arena;
}

static void random_grid(uint64_t *seed, PhxNavGrid *grid, uint8_t *cost, int64_t max_side, int64_t percent) {
    grid->width = (uint32_t)test_range(seed, 1, max_side);
    grid->height = (uint32_t)test_range(seed, 1, max_side);
    for (uint32_t i = 0; i < grid->width * grid->height; i++)
        cost[i] = test_range(seed, 0, 99) < percent ? PHX_NAV_IMPASSABLE : 1;
    grid->cost = cost;
}

static bool solid(const PhxNavGrid *grid, int64_t cx, int64_t cy) {
    return cx < 0 || cy < 0 || cx >= (int64_t)grid->width || cy >= (int64_t)grid->height ||
           grid->cost[cy * grid->width + cx] == PHX_NAV_IMPASSABLE;
}

/* Every unit edge between a solid and an open cell lies on exactly one segment, and no other edge does. */
static void check_cover(const PhxNavGrid *grid, const PhxWalls *walls, int round) {
    uint32_t edges = 0, covered = 0;
    for (int64_t y = -1; y <= (int64_t)grid->height; y++)
        for (int64_t x = -1; x <= (int64_t)grid->width; x++)
            edges += (uint32_t)(solid(grid, x, y) != solid(grid, x + 1, y)) +
                     (uint32_t)(solid(grid, x, y) != solid(grid, x, y + 1));
    for (uint32_t i = 0; i < walls->count; i++) {
        const PhxWall *w = &walls->wall[i], *next = &walls->wall[w->next];
        const int sx = (w->dir.x > 0) - (w->dir.x < 0), sy = (w->dir.y > 0) - (w->dir.y < 0);
        CHECK(walls->wall[w->next].prev == (int32_t)i && walls->wall[w->prev].next == (int32_t)i);
        CHECK(w->start.x + sx * w->length == next->start.x && w->start.y + sy * w->length == next->start.y);
        CHECK_EQ(next->convex, phx_dir_det(w->dir, next->dir) >= 0);
        CHECK(phx_dir_dot(w->dir, next->dir) == 0); /* maximal: never straight on */
        for (int64_t k = 0; k < w->length / ONE; k++) {
            /* the middle of the edge, in half cells, and the cells left and right of it */
            const int64_t mx = 2 * (w->start.x / ONE + sx * k) + sx,
                          my = 2 * (w->start.y / ONE + sy * k) + sy;
            const int64_t lx = mx - sy, ly = my + sx, rx = mx + sy, ry = my - sx;
            CHECK_THAT(solid(grid, (lx - (lx < 0)) / 2, (ly - (ly < 0)) / 2), "round %d", round);
            CHECK_THAT(!solid(grid, (rx - (rx < 0)) / 2, (ry - (ry < 0)) / 2), "round %d", round);
            covered++;
        }
    }
    CHECK_EQ(covered, edges);
}

/* The nearest segments by looking at all of them, in doubles-free arithmetic: axis-parallel ones are exact.
 */
static uint32_t brute_near(const PhxWalls *walls, PhxVec2 at, fix16_t range, uint32_t limit,
                           PhxWallNear *out) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < walls->count; i++) {
        const PhxWall *w = &walls->wall[i];
        const PhxVec2 a = w->start, b = walls->wall[w->next].start;
        if (phx_det32(w->dir.x >> 30, w->dir.y >> 30, at.x - a.x, at.y - a.y) >= 0) continue;
        const int64_t low_x = a.x < b.x ? a.x : b.x, high_x = a.x < b.x ? b.x : a.x;
        const int64_t low_y = a.y < b.y ? a.y : b.y, high_y = a.y < b.y ? b.y : a.y;
        const int64_t dx = at.x < low_x ? low_x - at.x : at.x > high_x ? at.x - high_x : 0;
        const int64_t dy = at.y < low_y ? low_y - at.y : at.y > high_y ? at.y - high_y : 0;
        const PhxWallNear item = {.distance_sq = (uint64_t)(dx * dx + dy * dy), .wall = i};
        if (item.distance_sq >= (uint64_t)range * (uint64_t)range) continue;
        uint32_t k = found < limit ? found++ : limit;
        for (; k > 0 && out[k - 1].distance_sq > item.distance_sq; k--)
            if (k < limit) out[k] = out[k - 1];
        if (k < limit) out[k] = item;
    }
    return found;
}

PHX_TEST(walls, outline_every_edge_of_a_grid_once_and_are_found_by_distance) {
    static uint8_t cost[40 * 40];
    for (int round = 0; round < 300; round++) {
        uint64_t seed = 5000 + (uint64_t)round;
        PhxNavGrid grid;
        random_grid(&seed, &grid, cost, 40, test_range(&seed, 0, 80));
        PhxWalls walls;
        PhxArena arena = walls_of_grid(&walls, &grid);
        check_cover(&grid, &walls, round);
        for (int q = 0; q < 20; q++) {
            const fix16_t x = (fix16_t)test_range(&seed, -2 * ONE, 42 * ONE);
            const PhxVec2 at = {x, (fix16_t)test_range(&seed, -2 * ONE, 42 * ONE)};
            const fix16_t most = (fix16_t)test_range(&seed, 1, 64 * ONE),
                          range = most >> test_range(&seed, 0, 5);
            PhxWallNear got[PHX_WALLS_MAX_NEAR], want[PHX_WALLS_MAX_NEAR];
            const uint32_t limit = (uint32_t)test_range(&seed, 1, PHX_WALLS_MAX_NEAR);
            const uint32_t found = phx_walls_nearest(&walls, at, range, limit, got);
            CHECK_EQ(found, brute_near(&walls, at, range, limit, want));
            for (uint32_t i = 0; i < found; i++)
                CHECK_THAT(got[i].wall == want[i].wall && got[i].distance_sq == want[i].distance_sq,
                           "round %d query %d", round, q);
        }
        phx_arena_destroy(&arena);
    }
}

PHX_TEST(walls, join_solid_cells_that_touch_by_a_corner) {
    const uint8_t cost[] = {255, 1, 1, 255};
    const PhxNavGrid grid = {2, 2, cost};
    PhxWalls walls;
    PhxArena arena = walls_of_grid(&walls, &grid);
    /* two open cells, each closed all around: outlines of four segments that never leave their cell */
    CHECK_EQ(walls.count, 8);
    for (uint32_t i = 0; i < walls.count; i++) {
        int32_t at = (int32_t)i;
        for (int k = 0; k < 4; k++) {
            CHECK_EQ(walls.wall[at].convex, 0);
            at = walls.wall[at].next;
        }
        CHECK_EQ(at, i);
    }
    phx_arena_destroy(&arena);
}

PHX_TEST(walls, take_polygons_and_refuse_bad_ones) {
    const PhxVec2 shape[] = {{0, 0},       {4 * ONE, 0},         {4 * ONE, 3 * ONE},
                             {0, 3 * ONE}, {10 * ONE, 10 * ONE}, {13 * ONE, 14 * ONE}};
    const uint32_t sizes[] = {4, 2};
    PhxWalls walls;
    PhxArena arena = phx_arena_measure();
    const PhxWallsSize size = phx_walls_size_polygons(shape, sizes, 2);
    phx_walls_layout(&walls, &arena, size);
    const size_t bytes = arena.used;
    CHECK_OK(phx_arena_create(&arena, phx_allocator_default(), bytes));
    phx_walls_layout(&walls, &arena, size);
    CHECK_OK(phx_walls_build_polygons(&walls, shape, sizes, 2));
    CHECK(walls.count == 6 && walls.wall[4].length == 5 * ONE && walls.wall[5].length == 5 * ONE);
    for (int i = 0; i < 6; i++) CHECK_EQ(walls.wall[i].convex, 1);
    PhxWallNear near[4];
    CHECK_EQ(phx_walls_nearest(&walls, phx_vec2(2 * ONE, -ONE), 2 * ONE, 4, near), 1);
    CHECK(near[0].wall == 0 && near[0].distance_sq == UINT64_C(1) << 32);
    CHECK_EQ(phx_walls_nearest(&walls, phx_vec2(2 * ONE, ONE), 2 * ONE, 4, near), 0); /* inside of the box */
    /* 5 along the slanted wall's normal (4, -3) / 5 from its middle: its right side */
    CHECK_EQ(phx_walls_nearest(&walls, phx_vec2(11 * ONE + ONE / 2 + 4 * ONE, 12 * ONE - 3 * ONE), 6 * ONE, 4,
                               near),
             1);
    CHECK(near[0].wall == 4);
    CHECK(near[0].distance_sq >> 32 == 25 || near[0].distance_sq >> 32 == 24); /* a rounded direction */
    const PhxVec2 bad[] = {{0, 0}, {255, 0}, {255, 9 * ONE}};
    const uint32_t three = 3, one = 1, many[] = {4, 3};
    CHECK_EQ(phx_walls_build_polygons(&walls, bad, &three, 1), PHX_ERROR_ARGUMENT);
    CHECK_EQ(walls.count, 0);
    CHECK_EQ(phx_walls_build_polygons(&walls, bad, &one, 1), PHX_ERROR_ARGUMENT);
    const PhxVec2 more[7] = {{0, 0},       {ONE, 0},     {ONE, ONE},    {0, ONE},
                             {2 * ONE, 0}, {3 * ONE, 0}, {3 * ONE, ONE}};
    CHECK_EQ(phx_walls_build_polygons(&walls, more, many, 2), PHX_ERROR_FULL);
    phx_arena_destroy(&arena);
}
