/* walls.c: outlines of grids and polygons, and the query, against walls made slowly and never cut. */
#include <phalanx/walls.h>
#include <stdlib.h>

#include "harness.h"
#include "motion/orca_lines.h"
#include "motion/walls_sector.h"
#include "walls_oracle.h"

enum { ONE = 1 << 16, SIDE = 200 };

static void random_grid(uint64_t *seed, PhxNavGrid *grid, uint8_t *cost, int64_t max_side) {
    grid->width = (uint32_t)test_range(seed, 1, max_side);
    grid->height = (uint32_t)test_range(seed, 1, max_side);
    grid->cost = cost;
    const int64_t kind = test_range(seed, 0, 3), percent = test_range(seed, 0, kind == 0 ? 80 : 3);
    for (uint32_t i = 0; i < grid->width * grid->height; i++)
        cost[i] = test_range(seed, 0, 99) < percent ? PHX_NAV_IMPASSABLE : (uint8_t)test_range(seed, 1, 254);
    for (int i = 0; kind > 1 && i < 30; i++) { /* long straight walls, and halls */
        const int64_t x = test_range(seed, 0, grid->width - 1), y = test_range(seed, 0, grid->height - 1);
        const int64_t most = test_range(seed, 1, 180), w = most >> test_range(seed, 0, 7),
                      h = kind == 2 ? 1 : w / 4;
        const bool turn = test_range(seed, 0, 1);
        const uint8_t value = test_range(seed, 0, 3) ? PHX_NAV_IMPASSABLE : 1;
        for (int64_t cy = y; cy <= y + (turn ? w : h) && cy < grid->height; cy++)
            for (int64_t cx = x; cx <= x + (turn ? h : w) && cx < grid->width; cx++)
                cost[cy * grid->width + cx] = value;
    }
}

/* The pieces of all sectors, put together, are the oracle's segments: each edge once, ends alike. */
static void check_pieces(const PhxWalls *walls, const Oracle *oracle, int round) {
    static PhxWall piece[2 * 65 * 64];
    int64_t length = 0, wanted = 0, real_ends = 0;
    uint32_t count = 0;
    for (uint32_t s = 0; s < walls->sectors_x * walls->sectors_y; s++) {
        const uint32_t n = phx_walls_of_sector(walls, s, piece, sizeof piece / sizeof *piece);
        count += n;
        for (uint32_t i = 0; i < n; i++) {
            length += piece[i].length;
            real_ends += (piece[i].at_start != PHX_WALL_CUT) + (piece[i].at_end != PHX_WALL_CUT);
            const PhxWall *whole = oracle_holding(oracle, &piece[i]);
            CHECK_THAT(whole, "round %d sector %u piece %u", round, s, i);
            const bool first = phx_vec2_equal(whole->start, piece[i].start),
                       last = phx_vec2_equal(whole->end, piece[i].end);
            CHECK_EQ(piece[i].at_start, first ? whole->at_start : PHX_WALL_CUT);
            CHECK_EQ(piece[i].at_end, last ? whole->at_end : PHX_WALL_CUT);
        }
    }
    for (uint32_t i = 0; i < oracle->count; i++) wanted += oracle->wall[i].length;
    CHECK_EQ(count, walls->count);
    CHECK_EQ(length, wanted);
    CHECK_EQ(real_ends, 2 * oracle->count);
}

/* An end is the oracle's, or out of sight and marked as cut. */
static void check_end(PhxVec2 got, PhxVec2 want, uint8_t joint, uint8_t want_joint, PhxDir dir,
                      PhxDir want_dir, PhxVec2 at, int round) {
    if (joint != PHX_WALL_CUT) {
        CHECK_THAT(phx_vec2_equal(got, want) && joint == want_joint, "round %d", round);
        CHECK(dir.x == want_dir.x && dir.y == want_dir.y);
    } else {
        CHECK_THAT(phx_abs64(got.x - at.x) > PHX_WALLS_SIGHT || phx_abs64(got.y - at.y) > PHX_WALLS_SIGHT,
                   "round %d", round);
    }
}

/* Returns how many of the segments found are longer than a sector. */
static uint32_t check_query(const PhxWalls *walls, Oracle *oracle, uint64_t *seed, int round) {
    uint32_t joined = 0;
    const int64_t width = walls->width * ONE, height = walls->height * ONE;
    fix16_t x = (fix16_t)test_range(seed, -2 * ONE, width + 2 * ONE),
            y = (fix16_t)test_range(seed, -2 * ONE, height + 2 * ONE);
    if (test_range(seed, 0, 1)) { /* near a border of sectors, or on it */
        const fix16_t side = ONE << walls->sector_shift, off = (fix16_t)test_range(seed, -2, 2) * (ONE / 4);
        if (test_range(seed, 0, 1))
            x = (fix16_t)test_range(seed, 0, walls->sectors_x) * side + off;
        else
            y = (fix16_t)test_range(seed, 0, walls->sectors_y) * side + off;
    }
    const PhxVec2 at = {x, y};
    const fix16_t most = (fix16_t)test_range(seed, 1, 64 * ONE), range = most >> test_range(seed, 0, 5);
    PhxWallNear got[PHX_WALLS_MAX_NEAR], want[PHX_WALLS_MAX_NEAR];
    const uint32_t limit = (uint32_t)test_range(seed, 1, PHX_WALLS_MAX_NEAR);
    const uint32_t found = phx_walls_nearest(walls, at, range, limit, got);
    CHECK_EQ(found, oracle_near(oracle, at, range, limit, want));
    for (uint32_t i = 0; i < found; i++) {
        const PhxWall a = phx_walls_get(walls, &got[i]), *b = &oracle->wall[want[i].place];
        CHECK_THAT(got[i].distance_sq == want[i].distance_sq && a.dir.x == b->dir.x && a.dir.y == b->dir.y,
                   "round %d", round);
        joined += a.length > ONE << walls->sector_shift;
        check_end(a.start, b->start, a.at_start, b->at_start, a.prev_dir, b->prev_dir, at, round);
        check_end(a.end, b->end, a.at_end, b->at_end, a.next_dir, b->next_dir, at, round);
    }
    /* what ORCA makes of them is the same to the last bit */
    const fix16_t vx = (fix16_t)test_range(seed, -3 * ONE, 3 * ONE),
                  vy = (fix16_t)test_range(seed, -ONE, ONE);
    const PhxOrcaBody body = {
        .position = at, .velocity = {vx, vy}, .radius = (fix16_t)test_range(seed, ONE / 16, 2 * ONE)};
    const PhxWalls uncut = {.count = oracle->count, .wall = oracle->wall};
    const int64_t inv = test_range(seed, 1 << 26, (int64_t)1 << 32);
    PhxOrcaLine line[PHX_WALLS_MAX_NEAR], other[PHX_WALLS_MAX_NEAR];
    const uint32_t lines = phx_orca_wall_lines(&body, inv, walls, got, found, line);
    CHECK_EQ(phx_orca_wall_lines(&body, inv, &uncut, want, found, other), lines);
    for (uint32_t i = 0; i < lines; i++)
        CHECK_THAT(line[i].offset == other[i].offset && line[i].normal.x == other[i].normal.x &&
                       line[i].normal.y == other[i].normal.y,
                   "round %d line %u", round, i);
    return joined;
}

PHX_TEST(walls, of_sectors_act_as_if_nothing_were_cut) {
    static uint8_t cost[SIDE * SIDE];
    static Oracle oracle;
    const PhxJobs serial = phx_jobs_serial();
    const int rounds = getenv("PHX_LONG") ? 10000 : 500;
    uint32_t pieces = 0, segments = 0, joined = 0;
    for (int round = 0; round < rounds; round++) {
        uint64_t seed = 5000 + (uint64_t)round;
        PhxNavGrid grid;
        random_grid(&seed, &grid, cost, round % 5 ? 70 : SIDE);
        const uint32_t shift = (uint32_t)test_range(&seed, 3, 6);
        PhxWalls walls;
        CHECK_OK(phx_walls_create_grid_cut(&walls, phx_allocator_default(), &grid, &serial, shift));
        oracle_make(&oracle, &grid);
        check_pieces(&walls, &oracle, round);
        for (int q = 0; q < 40; q++) joined += check_query(&walls, &oracle, &seed, round);
        pieces += walls.count, segments += oracle.count;
        phx_walls_destroy(&walls);
    }
    printf("%u segments in %u pieces; %u answers joined some\n", segments, pieces, joined);
    CHECK(pieces > segments && joined > 5000);
}

PHX_TEST(walls, join_solid_cells_that_touch_by_a_corner) {
    const uint8_t cost[] = {255, 1, 1, 255};
    const PhxNavGrid grid = {2, 2, cost};
    const PhxJobs serial = phx_jobs_serial();
    PhxWalls walls;
    CHECK_OK(phx_walls_create_grid(&walls, phx_allocator_default(), &grid, &serial));
    /* two open cells, each closed all around: segments that never leave their cell */
    PhxWall wall[8];
    CHECK_EQ(phx_walls_of_sector(&walls, 0, wall, 8), 8);
    for (int i = 0; i < 8; i++)
        CHECK(wall[i].at_start == PHX_WALL_CONCAVE && wall[i].at_end == PHX_WALL_CONCAVE &&
              wall[i].length == ONE);
    phx_walls_destroy(&walls);
}

PHX_TEST(walls, take_polygons_and_refuse_bad_ones) {
    const PhxVec2 shape[] = {{0, 0},       {4 * ONE, 0},         {4 * ONE, 3 * ONE},
                             {0, 3 * ONE}, {10 * ONE, 10 * ONE}, {13 * ONE, 14 * ONE}};
    const uint32_t sizes[] = {4, 2};
    const PhxAllocator allocator = phx_allocator_default();
    PhxWalls walls;
    CHECK_OK(phx_walls_create_polygons(&walls, allocator, shape, sizes, 2));
    PhxWall wall[6];
    CHECK_EQ(phx_walls_of_sector(&walls, 0, wall, 6), 6);
    CHECK(wall[4].length == 5 * ONE && wall[5].length == 5 * ONE);
    for (int i = 0; i < 6; i++)
        CHECK(wall[i].at_start == PHX_WALL_CONVEX && wall[i].at_end == PHX_WALL_CONVEX);
    PhxWallNear near[4];
    CHECK_EQ(phx_walls_nearest(&walls, phx_vec2(2 * ONE, -ONE), 2 * ONE, 4, near), 1);
    CHECK(near[0].place == 0 && near[0].distance_sq == UINT64_C(1) << 32);
    CHECK_EQ(phx_walls_nearest(&walls, phx_vec2(2 * ONE, ONE), 2 * ONE, 4, near), 0); /* inside of the box */
    /* 5 along the slanted wall's normal (4, -3) / 5 from its middle: its right side */
    CHECK_EQ(phx_walls_nearest(&walls, phx_vec2(11 * ONE + ONE / 2 + 4 * ONE, 12 * ONE - 3 * ONE), 6 * ONE, 4,
                               near),
             1);
    CHECK(near[0].place == 4);
    CHECK(near[0].distance_sq >> 32 == 25 || near[0].distance_sq >> 32 == 24); /* a rounded direction */
    phx_walls_destroy(&walls);
    const PhxVec2 bad[] = {{0, 0}, {255, 0}, {255, 9 * ONE}};
    const uint32_t three = 3, one = 1;
    CHECK_EQ(phx_walls_create_polygons(&walls, allocator, bad, &three, 1), PHX_ERROR_ARGUMENT);
    CHECK_EQ(walls.count, 0);
    CHECK_EQ(phx_walls_create_polygons(&walls, allocator, bad, &one, 1), PHX_ERROR_ARGUMENT);
    CHECK_OK(phx_walls_create_polygons(&walls, allocator, bad, &one, 0));
    CHECK_EQ(phx_walls_nearest(&walls, phx_vec2(0, 0), ONE, 4, near), 0);
    phx_walls_destroy(&walls);
    const PhxNavGrid none = {0, 5, NULL};
    const PhxJobs serial = phx_jobs_serial();
    CHECK_EQ(phx_walls_create_grid(&walls, allocator, &none, &serial), PHX_ERROR_ARGUMENT);
}
