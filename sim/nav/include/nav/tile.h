/* tile.h: the flow of one sector towards one set of goals.
 *
 * What a tile says, exactly. Let A(T) be the front in sector T from all its vertices with their route values
 * (and from the goals in T at 0). The tile of sector S is the front in S, seeded at every cell of S from
 * which a step, straight or diagonal, leads into a neighbouring sector T that S leads to; the seed's value is
 * the step plus A(T) of the cell entered; and at the goals in S with 0. S leads to T if some vertex of S on
 * that border has its least way through T, and, so that short ways cost little more than the best, if S or T
 * holds a goal. As A never lies below the tile's own values, the sum falls along each arrow, across borders
 * too: there is no circle, and no basin but the goals. Units may cross a border anywhere, not only at
 * portals. Steps over a sector's corner into the diagonal sector are left out.
 *
 * Ring: the values of A(T) along the four borders of T, which is all that a neighbour needs. Aim: the
 * farthest point of a cell's way that it reaches in a straight line over cells of its own cost, so that units
 * don't walk in eight directions only (tile_aim.c). Sight: cells that see a goal (sight_window.c).
 *
 * DERIVED: a pure function of (grid, weights, goals, sector). What a ring depends on: the cells of its sector
 * and those around it, its vertices with their values, at which of them the way leads across, and the goals;
 * a tile: its cells and those around them, the rings that are given, the goals, and the sight windows.
 */
#ifndef PHX_NAV_TILE_H
#define PHX_NAV_TILE_H

#include <phalanx/routes.h>

#include "nav/portals.h"

enum {
    PHX_TILE_AIM_NONE = 0xffff, /* a cell without aim follows its arrow */
    PHX_TILE_AIM_FAR = 0x8000, /* bit: the rest is an index into `aims`; else the aim is near (tile_spot.h) */
    PHX_TILE_FAR_LIMIT = 256,  /* far aims of one tile */
    PHX_TILE_BANDS = 8,        /* bases of one tile */
    PHX_FLOW_SIGHT = 16,       /* bit in a flow code: all of the cell sees a goal, its aim */
    PHX_FLOW_BAND = 5,         /* shift: the upper three bits of a flow code are the base of its sum */
    PHX_FLOW_CODE = 15,        /* mask of the code itself */
    PHX_SIGHT_REACH = 63,      /* cells around a goal that may see it */
    PHX_SIGHT_SIDE = 2 * PHX_SIGHT_REACH + 1,
    PHX_SIGHT_GOALS = 16 /* sets of more goals have no sight */
};

/* A spot: a map cell, and in the bits above it where in the cell (tile_spot.h): 0 its centre, 1..4 close to
 * its corner SE, SW, NW, NE. Cells of the largest map take 24 bits. */
enum { PHX_SPOT_CORNER = 24, PHX_SPOT_CELL = (1 << PHX_SPOT_CORNER) - 1 };

/* A(T) along the borders of a sector: 0 E, 1 S, 2 W, 3 N, by rising x or y. Aim: a spot, PHX_NAV_NO_CELL
 * where the value is PHX_ROUTE_UNREACHED; rest: what the any-angle way costs from the aim on, in 1/256;
 * light: how much of it the cell sees, 0..255. */
typedef struct PhxTileRing {
    uint64_t value[4][PHX_SECTOR_SIDE];
    uint64_t rest[4][PHX_SECTOR_SIDE];
    uint32_t aim[4][PHX_SECTOR_SIDE];
    uint8_t light[4][PHX_SECTOR_SIDE];
} PhxTileRing;

struct PhxTile {
    uint32_t sector;
    uint32_t bands;
    uint64_t base[PHX_TILE_BANDS];  /* cost = base of the cell's band + sum. Several only where parts of the
                                       sector lie farther than 2^32 apart */
    uint32_t sum[PHX_SECTOR_CELLS]; /* PHX_FIELD_UNREACHED */
    uint8_t flow[PHX_SECTOR_CELLS]; /* codes of nav.h, with sight and band; arrows may leave the sector */
    uint16_t aim[PHX_SECTOR_CELLS];
    uint32_t aim_count, aims[PHX_TILE_FAR_LIMIT]; /* spots */
};

/* Who sees one goal: bit (x - goal x + REACH) of row (y - goal y + REACH). A cell is set exactly if its unit
 * square slides straight to the goal's through cells of the goal's cost only. */
typedef struct PhxSightWindow {
    uint32_t goal;
    uint64_t rows[PHX_SIGHT_SIDE][2];
} PhxSightWindow;
typedef struct PhxSight {
    uint32_t count;
    PhxSightWindow window[PHX_SIGHT_GOALS];
} PhxSight;

/* Fills `sight` for passable goals; more than PHX_SIGHT_GOALS give none. Depends on the cells within
 * PHX_SIGHT_REACH of the goals. Cost: 1 us a goal in the open, up to 20. */
void phx_sight_build(PhxSight *sight, const PhxNavGrid *grid, const uint32_t *goals, uint32_t count);
bool phx_sight_sees(const PhxSightWindow *window, uint32_t map_width, uint32_t cx, uint32_t cy);

/* What all tiles and rings of one set of goals are built from. */
typedef struct PhxTileTask {
    const PhxNavGrid *grid;
    const PhxPortals *portals;
    const PhxRoute *route; /* solved for the sectors asked for; a tile itself doesn't read it */
    PhxFieldWeights weights;
    const uint32_t *goals; /* passable cells, each once, any order */
    uint32_t goal_count;
    const PhxSight *sight; /* null: none */
} PhxTileTask;

/* A spot with its cell, its place in 1/16 of cells, and the rest of the way from there. */
typedef struct PhxTileSpot {
    uint32_t spot;
    int32_t x, y;
    int16_t cell_x, cell_y;
    uint64_t rest;
} PhxTileSpot;

/* A goal that cells of the sector may see: where it is, its number in the sight, its cost. */
typedef struct PhxTileView {
    uint32_t x, y, index, cost;
} PhxTileView;

enum {
    PHX_TILE_STRIDE = PHX_SECTOR_SIDE + 2, /* rows with a border of one cell */
    PHX_TILE_BORDERED = PHX_TILE_STRIDE * PHX_TILE_STRIDE,
    PHX_TILE_WAY_COST = 8, /* shifts in a way */
    PHX_TILE_WAY_SPOT = 16,
    PHX_TILE_SEEDS = PHX_SECTOR_CELLS + 4 * PHX_SECTOR_SIDE,
    PHX_TILE_SPOTS = PHX_SECTOR_CELLS + 8 * PHX_SECTOR_SIDE + 1
};

/* Working memory of one build; its content matters neither before nor after. One for each worker. */
typedef struct PhxTileWork {
    PhxSectorGround ground;
    PhxSectorWork front;
    uint32_t seed_count, spot_count, outer_spots;
    PhxSectorSeed seeds[PHX_TILE_SEEDS];
    uint64_t seed_values[PHX_TILE_SEEDS];
    uint64_t base[PHX_SECTOR_CELLS];   /* of each region: its least seed */
    uint8_t exits[4][PHX_SECTOR_SIDE]; /* of border cells: directions of steps to rings */
    uint64_t
        length[PHX_TILE_BORDERED];    /* any-angle cost, 1/256; UINT64_MAX: as the straight way to the aim */
    uint32_t way[PHX_TILE_BORDERED];  /* light, cost, and a spot's index, 0 where no way is known yet */
    uint16_t turn[PHX_TILE_BORDERED]; /* the spot that the cell itself is; 0: none yet */
    uint8_t cost[PHX_TILE_BORDERED];  /* of the map, the border's too */
    PhxTileSpot spots[PHX_TILE_SPOTS];
    uint16_t spot_number[PHX_TILE_SPOTS],
        goal_number[PHX_SIGHT_GOALS]; /* among the far ones of the tile, plus 1 */
    uint32_t view_count;
    PhxTileView views[PHX_SIGHT_GOALS];
    uint8_t band[PHX_SECTOR_CELLS];  /* of each region */
    uint64_t most[PHX_SECTOR_CELLS]; /* largest value of each region */
} PhxTileWork;

/* Whose rings the tile of a sector needs, as it leads there: bit 0 E, 1 S, 2 W, 3 N. The route must cover the
 * sector and its neighbours' facing vertices, as it does when it covers the sector. */
uint8_t phx_tile_neighbours(const PhxTileTask *task, uint32_t sector);
/* The sector on a side; PHX_NAV_NO_CELL beyond the map's edge. */
uint32_t phx_tile_neighbour(const PhxNavGrid *grid, uint32_t sector, uint32_t side);

/* The ring of a sector; the route must cover it. Cost: as a tile. */
void phx_tile_ring_build(PhxTileRing *ring, const PhxTileTask *task, uint32_t sector, PhxTileWork *work);
/* The tile of a sector. `rings`: of the neighbours E, S, W, N that phx_tile_neighbours names, null for the
 * others. Sums within one region fit as long as diagonal weight * largest cost < 2^32 / 4096; seeds
 * farther than that off are left out, as no least way uses them. */
void phx_tile_build(PhxTile *tile, const PhxTileTask *task, uint32_t sector,
                    const PhxTileRing *const rings[4], PhxTileWork *work);

/* Proves the tiles of all sectors (tiles[sector]) of one set of goals: goals are 0; within a tile the sum
 * falls along each arrow by exactly the step, over a border by the step or more; no arrow leads into a wall
 * or through a corner; no passable cell beside a reached one is unreached. So there is no circle, no basin
 * but the goals, and every cell that a way joins with a goal has one. `error` (may be null) names the cell.
 * A cell farther than the bases of its
 * tile can tell is checked but for its cost. Errors: PHX_ERROR_MISMATCH. Cost: linear; for tests and tools.
 */
PHX_MUST_USE PhxStatus phx_tiles_check(const PhxTile *const *tiles, const PhxNavGrid *grid,
                                       PhxFieldWeights weights, const uint32_t *goals, uint32_t goal_count,
                                       PhxError *error);

#endif
