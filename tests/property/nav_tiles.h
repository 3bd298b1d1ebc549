/* nav_tiles.h: all tiles of one set of goals on one map, built when asked for, for the tests of nav. */
#ifndef PHX_TEST_NAV_TILES_H
#define PHX_TEST_NAV_TILES_H

#include <stdlib.h>

#include "harness.h"
#include "nav/tile.h"

typedef struct TestTiles {
    PhxNavGrid grid;
    PhxFieldWeights weights;
    PhxPortals *portals;
    PhxRoute *route; /* null before the first goals */
    PhxSight *sight;
    PhxTileWork *work;
    PhxTileTask task;
    uint32_t sectors;
    PhxTileRing **rings;
    PhxTile **tiles;
} TestTiles;

static inline void test_tiles_make(TestTiles *all, const PhxNavGrid *grid, PhxFieldWeights weights) {
    const PhxJobs jobs = phx_jobs_serial();
    *all = (TestTiles){.grid = *grid, .weights = weights};
    all->sectors = phx_sector_count(grid->width, grid->height);
    CHECK_OK(
        phx_portals_create(&all->portals, phx_allocator_default(), grid->width, grid->height, weights, 1));
    CHECK_OK(phx_portals_build(all->portals, grid, &jobs));
    all->sight = malloc(sizeof *all->sight);
    all->work = malloc(sizeof *all->work);
    memset(all->work, 0xa5, sizeof *all->work);
    all->rings = calloc(all->sectors, sizeof *all->rings);
    all->tiles = calloc(all->sectors, sizeof *all->tiles);
}

static inline void test_tiles_drop(TestTiles *all) {
    for (uint32_t s = 0; s < all->sectors; s++) {
        free(all->rings[s]), free(all->tiles[s]);
        all->rings[s] = NULL, all->tiles[s] = NULL;
    }
    if (all->route) phx_route_destroy(all->route, phx_allocator_default());
    all->route = NULL;
}

static inline void test_tiles_free(TestTiles *all) {
    test_tiles_drop(all);
    phx_portals_destroy(all->portals);
    free(all->sight), free(all->work), free(all->rings), free(all->tiles);
}

/* Goals: passable, ascending; kept by the caller. */
static inline void test_tiles_aim(TestTiles *all, const uint32_t *goals, uint32_t count) {
    test_tiles_drop(all);
    CHECK_OK(phx_route_create(&all->route, phx_allocator_default(), all->portals));
    CHECK_OK(phx_route_solve(all->route, all->portals, &all->grid, goals, count, true, NULL, 0));
    phx_sight_build(all->sight, &all->grid, goals, count);
    all->task = (PhxTileTask){&all->grid, all->portals, all->route, all->weights, goals, count, all->sight};
}

static inline const PhxTile *test_tiles_sector(TestTiles *all, uint32_t sector) {
    if (all->tiles[sector]) return all->tiles[sector];
    const PhxTileRing *rings[4] = {0};
    const uint8_t sides = phx_tile_neighbours(&all->task, sector);
    for (uint32_t side = 0; side < 4; side++) {
        if (!(sides >> side & 1)) continue;
        const uint32_t beside = phx_tile_neighbour(&all->grid, sector, side);
        if (!all->rings[beside]) {
            all->rings[beside] = malloc(sizeof(PhxTileRing));
            phx_tile_ring_build(all->rings[beside], &all->task, beside, all->work);
        }
        rings[side] = all->rings[beside];
    }
    all->tiles[sector] = malloc(sizeof(PhxTile));
    memset(all->tiles[sector], 0x5a, sizeof(PhxTile));
    phx_tile_build(all->tiles[sector], &all->task, sector, rings, all->work);
    return all->tiles[sector];
}

static inline const PhxTile *test_tiles_at(TestTiles *all, uint32_t cell) {
    return test_tiles_sector(all,
                             phx_sector_at(all->grid.width, cell % all->grid.width, cell / all->grid.width));
}

#endif
