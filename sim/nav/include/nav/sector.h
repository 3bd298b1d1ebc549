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

/* What every front in a sector needs to know of its cells; made once for many fronts. */
typedef struct PhxSectorGround {
    PhxSectorFrame frame;
    uint16_t region_count; /* 4-connected parts of the sector, labelled by their lowest cell's order */
    uint8_t uniform;       /* the one cost of all cells if there is neither wall nor another cost, else 0 */
    uint8_t min_cost, max_cost;                                    /* of the passable cells */
    uint16_t region[PHX_SECTOR_CELLS];                             /* labels; PHX_SECTOR_REGION_NONE */
    uint32_t facts[(PHX_SECTOR_SIDE + 2) * (PHX_SECTOR_SIDE + 2)]; /* with a border; as in field_work.h */
} PhxSectorGround;

void phx_sector_ground(PhxSectorGround *ground, const PhxNavGrid *grid, uint32_t sector);

typedef struct PhxSectorSeed {
    uint16_t cell;  /* local index of a passable cell */
    uint32_t value; /* what the way costs from there on */
} PhxSectorSeed;

/* Working memory of one front, and its result. */
typedef struct PhxSectorWork {
    uint32_t sum[PHX_SECTOR_CELLS];   /* the least of seed value + way; PHX_FIELD_UNREACHED */
    uint16_t order[PHX_SECTOR_CELLS]; /* reached cells, by rising bucket */
    uint32_t reached;
    uint32_t inner[(PHX_SECTOR_SIDE + 2) * (PHX_SECTOR_SIDE + 2) * 4]; /* the queue and what else it needs */
} PhxSectorWork;

/* Runs the front. A step that walks towards a seed costs weight * cost of the cell entered, as in nav.h. Sums
 * above UINT32_MAX - 1 are left out (the cell stays unreached). Seeds may be any number, in any order. */
void phx_sector_front(PhxSectorWork *work, const PhxSectorGround *ground, PhxFieldWeights weights,
                      const PhxSectorSeed *seeds, uint32_t count);

#endif
