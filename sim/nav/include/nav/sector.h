/* sector.h: the map in sectors of 64 x 64 cells, and the exact front inside one sector.
 *
 * Sectors are numbered row by row; those at the right and lower edge may be smaller. A cell inside a sector
 * has a local index ly * 64 + lx, whatever the sector's size. Front: Dijkstra's algorithm from weighted
 * seeds, confined to the sector, with the same steps, weights and rule for corners as a whole-map field
 * (nav.h). Memory: the caller owns all of it; nothing here allocates. Determinism: sums are least values over
 * all ways; `order` is a pure function of ground, weights and the list of seeds.
 */
#ifndef PHX_NAV_SECTOR_H
#define PHX_NAV_SECTOR_H

#include <phalanx/nav.h>

enum {
    PHX_SECTOR_SHIFT = 6,
    PHX_SECTOR_SIDE = 1 << PHX_SECTOR_SHIFT,
    PHX_SECTOR_CELLS = PHX_SECTOR_SIDE * PHX_SECTOR_SIDE,
    PHX_SECTOR_RING = 1024,         /* buckets: enough for any weights and costs */
    PHX_SECTOR_REGION_NONE = 0xffff /* label of walls and of cells outside of the map */
};

/* Where a sector lies in its map. */
typedef struct PhxSectorFrame {
    uint32_t sector, sx, sy; /* number; column and row of sectors */
    uint32_t x0, y0;         /* its first cell */
    uint32_t width, height;  /* 1..64 */
} PhxSectorFrame;

static inline uint32_t phx_sectors_across(uint32_t cells) {
    return (cells + PHX_SECTOR_SIDE - 1) >> PHX_SECTOR_SHIFT;
}
static inline uint32_t phx_sector_count(uint32_t width, uint32_t height) {
    return phx_sectors_across(width) * phx_sectors_across(height);
}
/* The sector of cell (cx, cy), and the cell's local index. */
static inline uint32_t phx_sector_at(uint32_t width, uint32_t cx, uint32_t cy) {
    return (cy >> PHX_SECTOR_SHIFT) * phx_sectors_across(width) + (cx >> PHX_SECTOR_SHIFT);
}
static inline uint32_t phx_sector_local(uint32_t cx, uint32_t cy) {
    return ((cy & (PHX_SECTOR_SIDE - 1)) << PHX_SECTOR_SHIFT) | (cx & (PHX_SECTOR_SIDE - 1));
}
PhxSectorFrame phx_sector_frame(uint32_t width, uint32_t height, uint32_t sector);

/* What every front in a sector needs to know of its cells; made once for many fronts. Arrays are by local
 * index; cells of the square of 64 x 64 that lie outside of the map are walls. */
typedef struct PhxSectorGround {
    PhxSectorFrame frame;
    uint16_t region_count; /* 4-connected parts of the sector, labelled by their lowest cell's order */
    uint8_t uniform;       /* the one cost of all cells if there is neither wall nor another cost, else 0 */
    uint8_t min_cost, max_cost;        /* of the passable cells; 255 and 0 if there is none */
    uint64_t open[PHX_SECTOR_SIDE];    /* passable cells: a word a row, bit lx */
    uint16_t region[PHX_SECTOR_CELLS]; /* labels; PHX_SECTOR_REGION_NONE */
    uint32_t
        facts[PHX_SECTOR_CELLS]; /* cost and allowed steps, as in field_work.h; no step leaves the sector */
} PhxSectorGround;

/* Costs 2 ns a cell. */
void phx_sector_ground(PhxSectorGround *ground, const PhxNavGrid *grid, uint32_t sector);

typedef struct PhxSectorSeed {
    uint16_t cell;  /* local index of a passable cell */
    uint32_t value; /* what the way costs from there on */
} PhxSectorSeed;

/* Working memory of one front, and its result. About 210 KiB, of which a front touches some 60: not for the
 * stack. Nothing has to be set before. */
typedef struct PhxSectorWork {
    uint32_t sum[PHX_SECTOR_CELLS];   /* the least of seed value + way; PHX_FIELD_UNREACHED */
    uint16_t order[PHX_SECTOR_CELLS]; /* reached cells, by rising bucket: the next cell of a best way to a
                                         seed comes before */
    uint32_t reached;                 /* length of `order` */
    /* the queue (sector_front.c) */
    uint8_t arrived[PHX_SECTOR_CELLS];       /* directions in which best ways enter a cell */
    uint32_t pool[PHX_SECTOR_CELLS * 9 + 2]; /* entries: one a seed, and one a neighbour of each cell */
    uint16_t ring[2][PHX_SECTOR_RING];       /* newest entry of each bucket; 0: empty */
    uint64_t occupied[PHX_SECTOR_RING / 64];
    uint16_t list[PHX_SECTOR_CELLS + 1]; /* becomes `order` */
    uint64_t seeds[PHX_SECTOR_CELLS];    /* value << 16 | cell, ascending */
} PhxSectorWork;

/* Runs the front. A step that walks towards a seed costs weight * cost of the cell entered, as in nav.h. Sums
 * above UINT32_MAX - 1 are left out (the cell stays unreached). Seeds may be any number, in any order,
 * several in a cell; one with value PHX_FIELD_UNREACHED counts for nothing. Costs are 1..255. */
void phx_sector_front(PhxSectorWork *work, const PhxSectorGround *ground, PhxFieldWeights weights,
                      const PhxSectorSeed *seeds, uint32_t count);

#endif
