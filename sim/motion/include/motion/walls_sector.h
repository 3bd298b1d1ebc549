/* walls_sector.h: how a grid's segments are kept, a sector at a time. Internal to motion/ and its tests.
 *
 * A segment is a word, relative to its sector; sorted, it is in order of (axis, line, lower end):
 *   bit 24      axis: 0 horizontal, 1 vertical
 *   bits 17-23  line: the coordinate across, 0..64 (64 in the last sector of the map only)
 *   bits 11-16  lower end
 *   bits 5-10   length - 1
 *   bit 4       1: the solid lies behind the line (at the higher coordinate)
 *   bits 2-3    PhxWallJoint at the lower end
 *   bits 0-1    the same at the higher end
 */
#ifndef PHX_MOTION_WALLS_SECTOR_H
#define PHX_MOTION_WALLS_SECTOR_H

#include <phalanx/walls.h>

enum {
    PHX_WALL_AXIS = 24,
    PHX_WALL_LINE = 17,
    PHX_WALL_LOW = 11,
    PHX_WALL_LENGTH = 5,
    PHX_WALL_SOLID_BEHIND = 1 << 4,
    PHX_WALL_JOINT_LOW = 2,
    PHX_WALL_BUCKET_SHIFT = 2, /* a bucket is 4 cells wide */
    PHX_WALL_BUCKETS = 16,     /* a side of a sector */
    PHX_WALL_STARTS = 258,     /* 16 * 16 + 1, and one to keep what follows aligned */
    PHX_WALL_PLACE_SHIFT = 14, /* a place is sector << 14 | index; a sector has at most 2 * 65 * 64 pieces */
};

/* A sector. The block holds `count` words, PHX_WALL_STARTS uint16_t (where each bucket's items begin) and
 * `items` uint16_t (indices of words, ascending in each bucket); null where there are no walls. */
typedef struct PhxWallSector {
    uint32_t *block, *fresh; /* fresh: of an update that isn't finished */
    uint32_t bytes, fresh_bytes;
    uint32_t count, items, fresh_count, fresh_items;
    uint32_t own; /* 0: the base's sector counts */
} PhxWallSector;

static inline uint32_t phx_wall_line(uint32_t word) { return word >> PHX_WALL_LINE & 127; }
static inline uint32_t phx_wall_low(uint32_t word) { return word >> PHX_WALL_LOW & 63; }
static inline uint32_t phx_wall_length(uint32_t word) { return (word >> PHX_WALL_LENGTH & 63) + 1; }

static inline const uint16_t *phx_wall_starts(const PhxWallSector *sector) {
    return (const uint16_t *)(sector->block + sector->count);
}
/* The sector that counts. */
static inline const PhxWallSector *phx_wall_sector(const PhxWalls *walls, uint32_t index) {
    const PhxWallSector *own = &walls->sector[index];
    return own->own || !walls->base ? own : &walls->base->sector[index];
}

/* Counts a sector's walls and items into fresh_count and fresh_items. */
void phx_wall_sector_count(PhxWalls *walls, const PhxNavGrid *grid, uint32_t index);
/* Fills the sector's block, which has room for fresh_count and fresh_items; count and items become these. */
void phx_wall_sector_fill(PhxWalls *walls, const PhxNavGrid *grid, uint32_t index);

/* walls_polygons.c: gives back what polygons took; how much that is. */
void phx_walls_release_polygons(PhxWalls *walls);
size_t phx_walls_polygon_bytes(const PhxWalls *walls);

/* phx_walls_create_grid with smaller sectors: 2^shift cells a side, shift 3..6. For tests of the cuts. */
PHX_MUST_USE PhxStatus phx_walls_create_grid_cut(PhxWalls *walls, PhxAllocator allocator,
                                                 const PhxNavGrid *grid, const PhxJobs *jobs, uint32_t shift);

#endif
