/* routes_work.h: what a PhxRoutes is made of. For the files of nav only (and their tests).
 *
 * The cache is one block of memory, cut into chunks of the size of a tile. A tile takes one chunk; rings
 * share chunks; a route takes a run of chunks beside each other. An entry is named by a slot: its first chunk
 * times PHX_ROUTES_RINGS, plus its place in the chunk. A hash index leads from (kind, layer, goal set,
 * sector) to the slot. Chunks are given up in the order of their stamps, which tell when they were last
 * wanted; stamps from `pin` on belong to the present batch and stay. Nothing of all this can be seen from
 * outside: what an entry holds is a pure function of its name and the planes.
 */
#ifndef PHX_NAV_ROUTES_WORK_H
#define PHX_NAV_ROUTES_WORK_H

#include <phalanx/routes.h>

#include "base/arena.h"
#include "nav/portals.h"
#include "nav/tile.h"

enum {
    PHX_ROUTES_CHUNK = (int)((sizeof(PhxTile) + 63) / 64 * 64),           /* bytes */
    PHX_ROUTES_RINGS = (int)(PHX_ROUTES_CHUNK / (int)sizeof(PhxTileRing)) /* rings of one chunk */
};
#define PHX_ROUTES_NONE UINT32_MAX

typedef enum PhxRoutesKind {
    PHX_ROUTES_FREE, /* also: no entry */
    PHX_ROUTES_ROUTE,
    PHX_ROUTES_RING,
    PHX_ROUTES_TILE
} PhxRoutesKind;

/* The name of an entry; `sector` is 0 for routes. */
typedef struct PhxRoutesKey {
    uint64_t goal;
    uint32_t sector;
    uint16_t layer;
    uint8_t kind;
} PhxRoutesKey;

/* By how much values and lengths of ways were shifted, modulo 2^64. */
typedef struct PhxRoutesShift {
    uint64_t value, rest;
} PhxRoutesShift;

/* What a ring says along one border, as far as that matters to the tile across: while `version` is the same,
 * only shifts came to pass, of which `shift` is the sum. No two rings ever have a version in common. */
typedef struct PhxRoutesStrip {
    uint64_t version;
    PhxRoutesShift shift;
} PhxRoutesStrip;

typedef struct PhxRoutesEntry {
    PhxRoutesKey key;
    uint32_t next;  /* in the chain of its hash; PHX_ROUTES_NONE ends it */
    uint64_t stamp; /* of a ring: as of a chunk */
    uint8_t sides;  /* of a tile: bit i: it was made from the ring of the neighbour i (E, S, W, N) */
    /* A change came since: a ring is built anew when it is wanted, a tile looked at again. */
    bool doubtful;
    bool filled; /* of a ring: it holds one, if perhaps of before a change */
    /* Of a ring: where the sector's vertices have their least way across: a word a side, a bit a cell of the
     * border. */
    uint64_t leads[4];
    PhxRoutesStrip strip[4]; /* of a ring: its borders; of a tile: those that it was made from */
} PhxRoutesEntry;

typedef struct PhxRoutesChunk {
    uint64_t stamp;         /* when what it holds was last wanted; 0: free */
    uint32_t first, length; /* of the run that it belongs to; length counts in the first chunk only */
    uint8_t kind, used;     /* used: rings in it */
} PhxRoutesChunk;

/* Memory within a run, for a route's own pieces: they are never given back one by one. */
typedef struct PhxRoutesPieces {
    unsigned char *at, *end;
} PhxRoutesPieces;

/* A route, at the beginning of its run, and what else belongs to a set of goals. */
typedef struct PhxRoutesRoute {
    PhxRoute *route;             /* null without goals */
    uint32_t goal_count, *goals; /* passable, ascending, each once */
    PhxSight *sight;             /* has room for those goals that have a window */
    /* Sector bits: to be solved for; of which the last repair changed values; and the view of goals; and
     * those whose ways across may be others, as vertices or values there or in the sectors beside became
     * others. */
    uint64_t *wanted, *moved, *seen, *doubted;
    uint32_t pending; /* chain of the batch's tiles to build, by index; PHX_ROUTES_NONE ends it */
    PhxRoutesPieces pieces;
    PhxStatus status; /* of the last solving or repair */
    bool solved;      /* solving has begun, and sight is built */
    bool gone;        /* found by a refresh to have other goals */
} PhxRoutesRoute;

typedef enum PhxRoutesFate {
    PHX_ROUTES_BUILD, /* is built */
    PHX_ROUTES_CHECK, /* is there, but doubtful: its rings decide whether it is built */
    PHX_ROUTES_KEPT,
    PHX_ROUTES_SHIFTED
} PhxRoutesFate;

/* A tile that this batch has to build, or to look at again. */
typedef struct PhxRoutesPending {
    uint32_t slot, route; /* the tile; the chunk of its route */
    uint32_t next;        /* pending tile of the same route */
    uint32_t rings[4];    /* slots; PHX_ROUTES_NONE: the tile doesn't lead to that neighbour */
    PhxRoutesFate fate;
} PhxRoutesPending;

typedef struct PhxRoutesLayer {
    uint8_t *plane; /* null: not open */
    PhxPortals *portals;
    size_t route_bytes; /* what a route over the present graph takes */
    bool broken;        /* memory ran out in a refresh: composed and built from nothing by the next */
} PhxRoutesLayer;

typedef struct PhxRoutesCache {
    uint32_t chunk_count, chunks_used, chunks_peak, chunks_pinned;
    uint32_t rings_free;   /* places in chunks of rings */
    unsigned char *memory; /* chunk_count * PHX_ROUTES_CHUNK bytes; not cleared */
    PhxRoutesChunk *chunk;
    PhxRoutesEntry *entry;
    uint32_t *head, head_mask;     /* first entry of a hash */
    uint64_t clock, pin, ring_pin; /* stamps from `pin` on stay; of rings: from ring_pin on */
    uint64_t tiles_evicted;
    /* Lists that hold at most what the cache holds: tiles to build; chunks of routes; slots of rings. */
    PhxRoutesPending *pending;
    uint32_t *solve, *rings;
    size_t bytes; /* of memory and tables */
    PhxArena arena;
} PhxRoutesCache;

/* What a worker needs to solve and build. */
typedef struct PhxRoutesScratch {
    PhxTileWork tile;
    PhxSight sight;
    PhxTileRing ring;
    uint8_t old[PHX_SECTOR_CELLS]; /* a piece of a plane before it was composed anew */
} PhxRoutesScratch;

/* The regions of a sector that was asked for, and the parts they belong to; PHX_NAV_NO_CELL: not asked yet.
 */
enum { PHX_ROUTES_PARTS = 16 };
typedef struct PhxRoutesParts {
    uint32_t layer, sector;
    bool known;
    uint16_t region[PHX_SECTOR_CELLS];
    uint32_t part[PHX_SECTOR_CELLS / 2];
} PhxRoutesParts;

struct PhxRoutes {
    PhxArena arena; /* holds this struct and all that follows but layers and cache */
    PhxRoutesConfig config;
    uint32_t sectors, across;
    size_t words; /* of a set of sectors */
    PhxRoutesLayer layer[PHX_ROUTES_LAYER_LIMIT];
    PhxRoutesCache cache;
    PhxRoutesScratch *scratch; /* a worker */
    PhxRoutesParts *parts;     /* PHX_ROUTES_PARTS; forgotten when a plane changes */

    uint32_t pending_count, solve_count, ring_count; /* of the cache's lists */
    uint32_t first, last;                            /* those of `pending` that are being built */
    uint32_t *goal_cells;                            /* PHX_ROUTES_GOAL_LIMIT */

    /* Changes. */
    PhxCellRect *touched; /* a sector: what is to be composed anew */
    bool any_touched, any_broken;
    uint32_t *boxes, box_count; /* sectors whose `touched` isn't empty, ascending */
    PhxCellRect *differs;       /* for each of these, in the layer at hand: the cells that became others */
    uint32_t *changed, changed_count; /* sectors of such cells, ascending */
    uint64_t *near_changed;           /* sector bits: a cell of it or beside it became another */
    uint64_t *graph_changed;          /* sector bits: vertices or edges */

    size_t probed;     /* bytes that a trial asked for */
    uint64_t versions; /* of strips that were given so far */
    uint64_t tiles_built, tiles_shifted, routes_solved, routes_repaired;
};

static inline PhxNavGrid phx_routes_grid(const PhxRoutes *routes, uint32_t layer) {
    return (PhxNavGrid){routes->config.width, routes->config.height, routes->layer[layer].plane};
}
static inline PhxRoutesRoute *phx_routes_route_at(const PhxRoutes *routes, uint32_t chunk) {
    return (PhxRoutesRoute *)(void *)(routes->cache.memory + (size_t)chunk * PHX_ROUTES_CHUNK);
}
static inline PhxTileTask phx_routes_task(const PhxRoutes *routes, uint32_t layer, const PhxNavGrid *grid,
                                          const PhxRoutesRoute *r) {
    return (PhxTileTask){
        grid,    routes->layer[layer].portals, r->route, routes->config.weights, r->goals, r->goal_count,
        r->sight};
}

/* routes.c: makes the cache large enough for a tile of every open layer; drops everything if it has to be
 * made anew. Errors: PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_routes_fit_cache(PhxRoutes *routes);
/* Composes a rectangle of a layer's plane; a cost of 0 becomes 1. */
void phx_routes_compose(const PhxRoutes *routes, uint32_t layer, PhxCellRect rect);
/* Composes all of a layer and builds its graph. Errors: PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_routes_build_layer(PhxRoutes *routes, uint32_t layer, const PhxJobs *jobs);
/* routes_batch.c: drops the tiles of a batch that were never built, and ends it. */
void phx_routes_abandon(PhxRoutes *routes);
/* Where the vertices of a sector have their least way across. */
void phx_routes_leads(const PhxRoutes *routes, uint32_t layer, const PhxRoutesRoute *r, uint32_t sector,
                      uint64_t leads[4]);
/* routes_judge.c: after the routes of a layer were repaired: of its rings and tiles, drops those that can't
 * be of use any more, shifts rings if that is all that the change did, and doubts what may have become other.
 */
void phx_routes_judge(PhxRoutes *routes, uint32_t layer);
/* Puts a ring that was built into an entry that may hold an older one, and tells its strips; `version`: a new
 * one. */
void phx_routes_renew_ring(PhxRoutesEntry *entry, PhxTileRing *ring, const PhxTileRing *built,
                           uint64_t version);
/* What becomes of a doubtful tile whose rings are as they should be: PHX_ROUTES_BUILD; or it is as if it were
 * made anew: _KEPT, or _SHIFTED, which it is then. */
PhxRoutesFate phx_routes_settle_tile(const PhxRoutes *routes, const PhxRoutesPending *pending);
/* routes_reach.c: forgets what is known of parts. */
void phx_routes_forget_parts(PhxRoutes *routes);
/* Notes how large a route over a layer's graph is. Errors: PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_routes_measure_route(PhxRoutes *routes, uint32_t layer);
/* routes_goals.c: expands a set of goals into goal_cells: passable, ascending, each once; how many. */
uint32_t phx_routes_expand(PhxRoutes *routes, uint32_t layer, uint64_t goal);
/* Chunks of a route to so many goals. */
uint32_t phx_routes_run_length(const PhxRoutes *routes, uint32_t layer, uint32_t goal_count);
/* Makes the route of a set of goals, pinned; its chunk, or PHX_ROUTES_NONE: no room. */
uint32_t phx_routes_add_route(PhxRoutes *routes, uint32_t layer, uint64_t goal);
#endif
