/* portals_data.h: the inside of a portal graph, for portals_*.c and route_*.c only.
 *
 * Each sector has a block of memory of its own: vertices, edges, and the regions that have vertices ("live").
 * An edge is stored at its end: row b lists (a, cost of walking from a to b), so that a search from the goals
 * outwards reads rows. Vertices and live regions of all sectors together are numbered by prefix sums
 * (`first`, `first_live`).
 */
#ifndef PHX_NAV_PORTALS_DATA_H
#define PHX_NAV_PORTALS_DATA_H

#include "nav/portals.h"

enum { PHX_PORTAL_MAX_VERTICES = 4 * PHX_SECTOR_SIDE };

/* Pointers lead into `memory`, of `size` bytes. */
typedef struct PhxPortalBlock {
    uint32_t vertex_count, edge_count, live_count;
    PhxPortalVertex *vertex;
    uint32_t *cost;      /* of an edge */
    uint16_t *start;     /* vertex_count + 1: where a vertex' row begins */
    uint16_t *live_cell; /* lowest cell of each live region (local index), ascending */
    uint8_t *to;         /* the vertex that an edge is walked from */
    void *memory;
    size_t size;
} PhxPortalBlock;

/* The queue of a search (route_queue.c): vertices by value. Arrays are by vertex. */
typedef struct PhxRouteQueue {
    const uint64_t *value;
    uint32_t *next, *prev; /* of the list that a vertex is in */
    uint8_t *where;        /* its bucket, or PHX_ROUTE_QUEUE_NONE */
    uint64_t last;         /* value of the last vertex taken: none in the queue is below */
    uint64_t occupied;     /* bit b: bucket b isn't empty */
    uint32_t head[64];
} PhxRouteQueue;
enum { PHX_ROUTE_QUEUE_NONE = 255 };

/* What a worker needs. */
typedef struct PhxPortalScratch {
    PhxSectorGround ground;
    PhxSectorWork work;
    uint32_t toward[PHX_PORTAL_MAX_VERTICES * PHX_PORTAL_MAX_VERTICES]; /* costs between vertices */
    PhxSectorSeed seed[PHX_SECTOR_CELLS];
    PhxRouteQueue queue;
    uint64_t *old;  /* values before a repair */
    uint64_t *lost; /* bits: vertices whose way is gone */
} PhxPortalScratch;

struct PhxPortals {
    PhxAllocator allocator;
    void *memory; /* of this struct and what doesn't grow */
    size_t memory_size;
    uint32_t width, height, across, sectors, workers;
    PhxFieldWeights weights;
    PhxPortalBlock *block;                 /* a sector each */
    uint16_t (*label)[4][PHX_SECTOR_SIDE]; /* part of the strip that a border cell is in, by side */
    uint64_t (*mask)[2];                   /* positions of the portals on a sector's border E and S */
    uint32_t *first, *first_live;          /* sectors + 1 */
    uint64_t *renumbered;                  /* sectors whose vertices the last update changed */
    uint64_t *touched;                     /* sectors whose cells the last update was told of */
    uint32_t *list;                        /* sectors; for update */
    uint64_t *marks[2];                    /* sector bits; for update */
    PhxPortalScratch *scratch;             /* a worker each */
    size_t block_bytes;
    /* what grows with the vertices: one block */
    void *grown;
    size_t grown_size;
    uint32_t vertex_room, live_room;
    uint16_t *sector_of; /* a vertex each */
    uint32_t *part;      /* a live region each: the lowest live region of its part */
    uint32_t version;    /* counts builds and updates */
};

static inline uint32_t phx_portals_total(const PhxPortals *portals) {
    return portals->first[portals->sectors];
}

/* The sector across a side, or UINT32_MAX at the map's edge. */
static inline uint32_t phx_portals_neighbour(const PhxPortals *portals, uint32_t sector, unsigned side) {
    const uint32_t sx = sector % portals->across;
    if (side == 0) return sx + 1 < portals->across ? sector + 1 : UINT32_MAX;
    if (side == 1) return sector + portals->across < portals->sectors ? sector + portals->across : UINT32_MAX;
    if (side == 2) return sx > 0 ? sector - 1 : UINT32_MAX;
    return sector >= portals->across ? sector - portals->across : UINT32_MAX;
}

/* Positions of the portals on a side. */
static inline uint64_t phx_portals_mask(const PhxPortals *portals, uint32_t sector, unsigned side) {
    if (side < 2) return portals->mask[sector][side];
    const uint32_t other = phx_portals_neighbour(portals, sector, side);
    return other == UINT32_MAX ? 0 : portals->mask[other][side - 2];
}

/* portals_place.c */

/* Parts of the strips along the four borders. */
void phx_portals_label(PhxPortals *portals, const PhxNavGrid *grid, uint32_t sector);
/* The portals on the border E (side 0) or S (1) of a sector, from the labels of both sides and the
 * costs along it. */
uint64_t phx_portals_choose(const PhxPortals *portals, const PhxNavGrid *grid, uint32_t sector,
                            unsigned side);
uint32_t phx_portals_count_vertices(const PhxPortals *portals, uint32_t sector);
/* Fills the vertices but for `region` and `live`, from the masks and the grid. */
void phx_portals_fill_vertices(const PhxPortals *portals, const PhxNavGrid *grid, uint32_t sector,
                               PhxPortalVertex *vertex);

/* portals_edges.c: fills a block that has room for vertex_count vertices and their most edges. */
void phx_portals_fill_block(const PhxPortals *portals, const PhxNavGrid *grid, uint32_t sector,
                            PhxPortalBlock *block, PhxPortalScratch *scratch);

/* portals_blocks.c */

/* Lays the arrays of a block into `memory` (null: measures). Returns the bytes. */
size_t phx_portals_lay_block(PhxPortalBlock *block, uint32_t vertices, uint32_t edges, uint32_t live,
                             void *memory);
/* Builds the blocks of `count` sectors (ascending) anew, on all threads. `changed` (may be null) gets the
 * bits of those that differ; portals->renumbered of those whose vertices lie elsewhere. Errors:
 * PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_portals_rebuild(PhxPortals *portals, const PhxNavGrid *grid,
                                           const uint32_t *sectors, uint32_t count, const PhxJobs *jobs,
                                           uint64_t *changed);

/* portals_parts.c: fills part[]. */
void phx_portals_find_parts(PhxPortals *portals);

/* route_queue.c */

/* Empties the queue, for vertices 0 .. count - 1, whose values lie in `value` and aren't below `last`. */
void phx_route_queue_clear(PhxRouteQueue *queue, const uint64_t *value, uint32_t count, uint64_t last);
/* Takes a vertex up, or moves it after its value fell. */
void phx_route_queue_put(PhxRouteQueue *queue, uint32_t vertex);
/* Takes out a vertex of least value; UINT32_MAX if there is none. */
uint32_t phx_route_queue_take(PhxRouteQueue *queue);

#endif
