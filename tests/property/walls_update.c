/* walls_update.c: walls after any edits are the walls of a map built so, to the last byte; with overlays for
 * teams, and where memory fails.
 */
#include <stdlib.h>

#include "harness.h"
#include "motion/walls_sector.h"

enum { SIDE = 300 };

static bool same_sector(const PhxWallSector *a, const PhxWallSector *b) {
    if (a->count != b->count) return false;
    if (a->count == 0) return true;
    return a->items == b->items &&
           memcmp(a->block, b->block, a->count * 4 + (PHX_WALL_STARTS + a->items) * 2) == 0;
}

static void check_as_new(const PhxWalls *walls, const PhxNavGrid *grid, int edit) {
    const PhxJobs serial = phx_jobs_serial();
    PhxWalls made;
    CHECK_OK(phx_walls_create_grid_cut(&made, phx_allocator_default(), grid, &serial, walls->sector_shift));
    uint32_t own = 0;
    for (uint32_t s = 0; s < made.sectors_x * made.sectors_y; s++) {
        CHECK_THAT(same_sector(phx_wall_sector(walls, s), &made.sector[s]), "edit %d sector %u", edit, s);
        CHECK(!walls->sector[s].fresh);
        own += walls->sector[s].count;
    }
    CHECK_EQ(walls->count, own);
    if (!walls->base) CHECK_EQ(walls->count, made.count);
    phx_walls_destroy(&made);
}

/* A rectangle, often beyond the map, empty or thin; filled by one of: closed, open, noise. */
static PhxCellRect random_edit(uint64_t *seed, const PhxNavGrid *grid, uint8_t *cost) {
    const int32_t x = (int32_t)test_range(seed, -3, grid->width + 2),
                  y = (int32_t)test_range(seed, -3, grid->height + 2);
    const int32_t most_w = (int32_t)test_range(seed, 0, 130), w = most_w >> test_range(seed, 0, 7);
    const int32_t most_h = (int32_t)test_range(seed, 0, 130), h = most_h >> test_range(seed, 0, 7);
    const int64_t kind = test_range(seed, 0, 2);
    for (int32_t cy = y < 0 ? 0 : y; cy < y + h && cy < (int32_t)grid->height; cy++)
        for (int32_t cx = x < 0 ? 0 : x; cx < x + w && cx < (int32_t)grid->width; cx++)
            cost[cy * (int32_t)grid->width + cx] =
                kind == 0 || (kind == 1 && test_range(seed, 0, 1)) ? PHX_NAV_IMPASSABLE : 1;
    return (PhxCellRect){x, y, x + w, y + h};
}

PHX_TEST(walls_update, equals_building_anew_after_any_edits) {
    static uint8_t cost[SIDE * SIDE];
    const int maps = 10, edits = getenv("PHX_LONG") ? 3000 : 250;
    PhxJobs jobs;
    CHECK_OK(phx_jobs_threads_create(3, &jobs));
    uint32_t made = 0;
    for (int map = 0; map < maps; map++) {
        uint64_t seed = 700 + (uint64_t)map;
        const uint32_t width = (uint32_t)test_range(&seed, 1, SIDE);
        const PhxNavGrid grid = {width, (uint32_t)test_range(&seed, 1, SIDE), cost};
        memset(cost, map % 3 ? 1 : PHX_NAV_IMPASSABLE, sizeof cost);
        PhxWalls walls;
        CHECK_OK(phx_walls_create_grid_cut(&walls, phx_allocator_default(), &grid, &jobs, map % 2 ? 6 : 4));
        for (int edit = 0; edit < edits; edit++, made++) {
            const PhxCellRect rect = random_edit(&seed, &grid, cost);
            CHECK_OK(phx_walls_update_grid(&walls, &grid, rect, &jobs));
            check_as_new(&walls, &grid, edit);
        }
        phx_walls_destroy(&walls);
    }
    printf("%u edits\n", made);
    phx_jobs_threads_destroy(&jobs);
}

/* A team's walls: the ground's, with other gates. They keep only the sectors that differ. */
PHX_TEST(walls_update, of_a_team_share_what_is_the_same) {
    static uint8_t ground[SIDE * SIDE], team[SIDE * SIDE];
    const PhxJobs serial = phx_jobs_serial();
    uint64_t seed = 88;
    const PhxNavGrid all = {SIDE, SIDE, ground}, own = {SIDE, SIDE, team};
    memset(ground, 1, sizeof ground);
    memset(team, 1, sizeof team);
    PhxWalls base, over;
    CHECK_OK(phx_walls_create_grid(&base, phx_allocator_default(), &all, &serial));
    CHECK_OK(phx_walls_create_over(&over, phx_allocator_default(), &base));
    check_as_new(&over, &own, -1);
    for (int edit = 0; edit < 300; edit++) {
        const int64_t x = test_range(&seed, 0, SIDE - 9), y = test_range(&seed, 0, SIDE - 9);
        const int64_t w = test_range(&seed, 1, 8), h = test_range(&seed, 1, 8),
                      kind = test_range(&seed, 0, 3);
        for (int64_t cy = y; cy < y + h; cy++)
            for (int64_t cx = x; cx < x + w; cx++) {
                ground[cy * SIDE + cx] = kind < 3 ? PHX_NAV_IMPASSABLE : 1;
                team[cy * SIDE + cx] =
                    kind == 0 ? 1 : ground[cy * SIDE + cx]; /* a gate that is open for it */
            }
        const PhxCellRect rect = {(int32_t)x, (int32_t)y, (int32_t)(x + w), (int32_t)(y + h)};
        CHECK_OK(phx_walls_update_grid(&base, &all, rect, &serial));
        CHECK_OK(phx_walls_update_grid(&over, &own, rect, &serial));
        check_as_new(&base, &all, edit);
        check_as_new(&over, &own, edit);
    }
    for (uint32_t s = 0; s < over.sectors_x * over.sectors_y; s++)
        CHECK(!over.sector[s].own || !same_sector(&over.sector[s], &base.sector[s]));
    /* all gates shut: nothing of its own is left */
    memcpy(team, ground, sizeof team);
    const PhxCellRect whole = {0, 0, SIDE, SIDE};
    CHECK(over.count > 0);
    CHECK_OK(phx_walls_update_grid(&over, &own, whole, &serial));
    CHECK_EQ(over.count, 0);
    CHECK_EQ(phx_walls_bytes(&over), sizeof(PhxWallSector) * over.sectors_x * over.sectors_y);
    phx_walls_destroy(&over);
    phx_walls_destroy(&base);
}

/* An allocator that gives `left` more blocks, and counts what is out. */
typedef struct Meter {
    int64_t left, blocks, bytes, taken;
} Meter;

static void *meter_allocate(void *user, size_t size) {
    Meter *meter = user;
    if (meter->left <= 0) return NULL;
    meter->left--, meter->blocks++, meter->taken++;
    meter->bytes += (int64_t)size;
    return phx_allocator_default().allocate(NULL, size);
}

static void meter_release(void *user, void *memory, size_t size) {
    Meter *meter = user;
    meter->blocks--;
    meter->bytes -= (int64_t)size;
    phx_allocator_default().release(NULL, memory, size);
}

PHX_TEST(walls_update, without_memory_leaves_the_walls_as_they_were) {
    static uint8_t cost[SIDE * SIDE], old[SIDE * SIDE];
    Meter meter = {.left = 1 << 30};
    const PhxAllocator allocator = {meter_allocate, meter_release, &meter};
    const PhxJobs serial = phx_jobs_serial();
    const PhxNavGrid grid = {SIDE, SIDE, cost}, before = {SIDE, SIDE, old};
    uint64_t seed = 4;
    PhxWalls walls;
    for (int blocks = 0; blocks < 26; blocks++) { /* 25 sectors and their table */
        for (int i = 0; i < SIDE * SIDE; i++) cost[i] = test_range(&seed, 0, 9) ? 1 : PHX_NAV_IMPASSABLE;
        meter.left = blocks;
        CHECK_EQ(phx_walls_create_grid(&walls, allocator, &grid, &serial), PHX_ERROR_MEMORY);
        CHECK(meter.blocks == 0 && meter.bytes == 0 && walls.count == 0);
    }
    meter.left = 1 << 30;
    CHECK_OK(phx_walls_create_grid(&walls, allocator, &grid, &serial));
    int failed = 0;
    for (int edit = 0; edit < 600; edit++) {
        memcpy(old, cost, sizeof old);
        const PhxCellRect rect = random_edit(&seed, &grid, cost);
        meter.left = test_range(&seed, 0, 1);
        if (phx_walls_update_grid(&walls, &grid, rect, &serial) != PHX_OK) {
            failed++;
            check_as_new(&walls, &before, edit);
            meter.left = 1 << 30;
            CHECK_OK(phx_walls_update_grid(&walls, &grid, rect, &serial));
        }
        check_as_new(&walls, &grid, edit);
        CHECK_EQ(phx_walls_bytes(&walls), meter.bytes);
    }
    printf("%d updates failed\n", failed);
    CHECK(failed > 5);
    /* a wall moved to and fro in its sector takes no memory */
    const PhxCellRect rect = {20, 20, 24, 24};
    for (int i = 0; i < 20; i++) {
        for (int32_t y = rect.y0; y < rect.y1; y++) memset(cost + y * SIDE + rect.x0, i % 2 ? 1 : 255, 4);
        if (i == 2) meter.taken = 0;
        CHECK_OK(phx_walls_update_grid(&walls, &grid, rect, &serial));
    }
    CHECK_EQ(meter.taken, 0);
    phx_walls_destroy(&walls);
    CHECK(meter.blocks == 0 && meter.bytes == 0);
}
