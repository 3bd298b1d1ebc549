/* routes.h: flow fields for armies on maps up to 4096 x 4096: sectors, portals, and a cache of field tiles.
 *
 * A layer is a cost plane of the whole map, for one cost profile, team and size of unit (phalanx/cost.h says
 * how one is composed); it has a portal graph. A goal set is named by a 64-bit number of the caller's, who
 * expands it to cells. What a unit is told depends on (layer, goal set, its sector) and the planes as they
 * stand, and on nothing else: not on what is in the cache, when it came there, or on which thread it was
 * built. Usage in a tick: touch (what changed), refresh, then batches of claim + build + read.
 *
 * Memory: what phx_routes_create was told, plus planes and graphs, and some 600 KiB a worker; all from the
 * allocator given. Create, open and refresh allocate; batches never do. Threads: calls are made by one thread
 * (part and nearest too: they remember what they looked at); refresh and build use the jobs. phx_tile_* only
 * read.
 */
#ifndef PHALANX_ROUTES_H
#define PHALANX_ROUTES_H

#include <phalanx/allocator.h>
#include <phalanx/jobs.h>
#include <phalanx/nav.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PhxRoutes PhxRoutes;
typedef struct PhxTile PhxTile;

/* A rectangle of cells: x0 <= x < x1, y0 <= y < y1. Empty where x0 >= x1 or y0 >= y1. */
typedef struct PhxCellRect {
    int32_t x0, y0, x1, y1;
} PhxCellRect;

enum {
    PHX_ROUTES_LAYER_LIMIT = 4096,
    PHX_ROUTES_GOAL_LIMIT = 4096 /* cells of one goal set */
};

typedef struct PhxRoutesConfig {
    uint32_t width, height; /* cells, 1..4096 */
    PhxFieldWeights weights;
    PhxAllocator allocator;
    uint32_t workers;   /* of the jobs handed to refresh and build */
    size_t cache_bytes; /* of tiles, rings and routes; at least one tile is always kept. Never a result */
    /* Fills `plane` (the map's, row by row) in `rect` for a layer: 1..254, PHX_NAV_IMPASSABLE. Called from
     * several threads at once for different rects. */
    void (*compose)(void *user, uint32_t layer, PhxCellRect rect, uint8_t *plane);
    uint32_t reach; /* a cell of a plane depends on no input farther than so many cells */
    /* Expands a goal set into at most PHX_ROUTES_GOAL_LIMIT cells, any order; returns how many. Cells that
     * are walls of the layer are left out by the service. May depend on the layer's plane (phx_routes_plane)
     * and on what never changes: it is asked again when the plane has changed. */
    uint32_t (*goals)(void *user, uint32_t layer, uint64_t goal, uint32_t *cells);
    void *user;
} PhxRoutesConfig;

/* Errors: PHX_ERROR_ARGUMENT, PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_routes_create(const PhxRoutesConfig *config, PhxRoutes **out);
void phx_routes_destroy(PhxRoutes *routes); /* null is fine */

/* Composes a layer and builds its graph, if that isn't done yet. A composed cost of 0 counts as 1. Errors:
 * PHX_ERROR_MEMORY, PHX_ERROR_LIMIT (no such layer). */
PHX_MUST_USE PhxStatus phx_routes_open(PhxRoutes *routes, uint32_t layer, const PhxJobs *jobs);
/* The plane of an open layer. */
PhxNavGrid phx_routes_plane(const PhxRoutes *routes, uint32_t layer);
/* Equal for two cells of an open layer exactly if a way joins them; PHX_NAV_NO_CELL for walls. */
uint32_t phx_routes_part(const PhxRoutes *routes, uint32_t layer, uint32_t cell);
/* The cell nearest to `wanted` that a way joins with `from` (ties: the lowest index); PHX_NAV_NO_CELL if
 * `from` is a wall. */
uint32_t phx_routes_nearest(const PhxRoutes *routes, uint32_t layer, uint32_t from, uint32_t wanted);

/* Notes that inputs of the planes changed in a rectangle (beyond the map: clipped). */
void phx_routes_touch(PhxRoutes *routes, PhxCellRect rect);
/* Recomposes what was touched, in all open layers; where cells really changed, the graph is updated, the
 * routes are repaired, and the tiles that depend on it are dropped, or shifted where all their costs moved by
 * one amount. Errors: PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_routes_refresh(PhxRoutes *routes, const PhxJobs *jobs);
/* Drops all tiles and routes (planes and graphs stay). Never changes a result. */
void phx_routes_drop(PhxRoutes *routes);
/* Closes all layers, and drops everything. */
void phx_routes_close(PhxRoutes *routes);
bool phx_routes_is_open(const PhxRoutes *routes, uint32_t layer);

/* Batches. A batch names the tiles it wants; those that fit into the cache together are built together, on
 * all threads, and stay until the next begin. */
void phx_routes_begin(PhxRoutes *routes);
/* The tile of (layer, goal set) for the sector of `cell`. False: the cache is full of this batch's tiles; ask
 * again in the next batch. The first claim of a batch always succeeds. */
bool phx_routes_claim(PhxRoutes *routes, uint32_t layer, uint64_t goal, uint32_t cell, uint32_t *tile);
/* Allocates nothing. Errors: what solving a route gives; none is known that could occur. */
PHX_MUST_USE PhxStatus phx_routes_build(PhxRoutes *routes, const PhxJobs *jobs);
/* Valid from build on until the next begin, refresh, open or drop. */
const PhxTile *phx_routes_tile(const PhxRoutes *routes, uint32_t tile);

/* What a tile says to a unit at (x, y), which lies in its sector (else: moved to the nearest cell of it). As
 * phx_field_direction; in a cell in sight of a goal straight to `goal_point`, if that lies in the goal's
 * cell. */
PhxDir phx_tile_direction(const PhxTile *tile, const PhxNavGrid *plane, PhxVec2 goal_point, fix16_t x,
                          fix16_t y);
/* The same for many units. */
void phx_tile_directions(const PhxTile *tile, const PhxNavGrid *plane, uint32_t count,
                         const PhxVec2 *goal_points, const PhxVec2 *at, PhxDir *out);
/* Cost of the way from a cell of the tile's sector; UINT64_MAX: none. */
uint64_t phx_tile_cost(const PhxTile *tile, const PhxNavGrid *plane, uint32_t cell);
/* The flow code of a cell (nav.h), and whether all of the cell sees the goal. */
uint8_t phx_tile_flow(const PhxTile *tile, const PhxNavGrid *plane, uint32_t cell, bool *in_sight);

/* For a viewer: what a layer says of a goal set, as plain arrays of the whole map, row by row. Null members
 * are left out. */
typedef struct PhxRoutesLayers {
    uint64_t *cost; /* of the way; UINT64_MAX: none */
    uint8_t *flow;  /* codes of nav.h */
    uint8_t *sight; /* 1: all of the cell sees a goal, or is one */
    PhxDir
        *direction; /* what a unit at the cell's centre is told that wants to the middle of a goal's cell */
} PhxRoutesLayers;
/* Fills the arrays from the tiles of all sectors, in as many batches as the cache needs; ends the present
 * batch. Changes no result. Errors: PHX_ERROR_MEMORY. Cost: that of all tiles. */
PHX_MUST_USE PhxStatus phx_routes_layers(PhxRoutes *routes, uint32_t layer, uint64_t goal,
                                         const PhxJobs *jobs, const PhxRoutesLayers *out);
/* One side of a portal: a cell, the cell across the border, and the exact cost of the way from the first over
 * the portal graph; UINT64_MAX: none. */
typedef struct PhxRoutesPortal {
    uint32_t cell, partner;
    uint64_t cost;
} PhxRoutesPortal;
/* Fills `out` (room for `limit`; may be null for 0) with an open layer's portals, by sector, and *count with
 * how many there are. Errors: PHX_ERROR_MEMORY. Cost: that of a route over the whole graph. */
PHX_MUST_USE PhxStatus phx_routes_portals(const PhxRoutes *routes, uint32_t layer, uint64_t goal,
                                          PhxRoutesPortal *out, uint32_t limit, uint32_t *count);

typedef struct PhxRoutesUse {
    size_t plane_bytes, graph_bytes, cache_bytes; /* in use now */
    size_t cache_peak, cache_limit;
    size_t tile_bytes, ring_bytes, route_bytes; /* of one; route: the largest among the layers */
    uint64_t tiles_built, routes_solved, routes_repaired, tiles_evicted;
    uint64_t tiles_shifted; /* by changes that only moved all their costs by one amount */
    uint32_t layers, portals, sectors;
} PhxRoutesUse;
PhxRoutesUse phx_routes_use(const PhxRoutes *routes);

#ifdef __cplusplus
}
#endif
#endif
