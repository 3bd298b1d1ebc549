/* tile_spot.h: spots, the points that units aim at, in 1/16 of a cell; and the parts of a tile's build. For
 * the files tile_*.c only.
 */
#ifndef PHX_NAV_TILE_SPOT_H
#define PHX_NAV_TILE_SPOT_H

#include "nav/field_work.h"
#include "nav/tile.h"

enum {
    PHX_SPOT_UNIT = 16, /* spots are measured in 1/16 of a cell */
    PHX_SPOT_NEAR = 1   /* how far a corner's spot keeps off the cell's edges */
};

/* Where a spot lies along an axis, from the map's origin. `far`: it is at the cell's upper end. */
static inline int32_t phx_spot_along(int32_t cell, uint32_t corner, bool far) {
    return cell * PHX_SPOT_UNIT + (corner == 0 ? PHX_SPOT_UNIT / 2
                                   : far       ? PHX_SPOT_UNIT - PHX_SPOT_NEAR
                                               : PHX_SPOT_NEAR);
}
static inline int32_t phx_spot_x(uint32_t spot, uint32_t map_width) {
    const uint32_t corner = spot >> PHX_SPOT_CORNER;
    return phx_spot_along((int32_t)((spot & PHX_SPOT_CELL) % map_width), corner, corner == 1 || corner == 4);
}
static inline int32_t phx_spot_y(uint32_t spot, uint32_t map_width) {
    const uint32_t corner = spot >> PHX_SPOT_CORNER;
    return phx_spot_along((int32_t)((spot & PHX_SPOT_CELL) / map_width), corner, corner <= 2);
}

/* Near aims: 15 bits: corner, and how far the spot's cell lies from the cell itself, -32..31 along each axis.
 */
enum { PHX_AIM_NEAR = 32, PHX_AIM_X = 0, PHX_AIM_Y = 6, PHX_AIM_CORNER = 12 };

/* The spot at which a cell of a tile aims. `aim` isn't PHX_TILE_AIM_NONE; (cx, cy): the cell, in the map. */
static inline uint32_t phx_tile_aim_spot(const PhxTile *tile, uint32_t map_width, uint16_t aim, uint32_t cx,
                                         uint32_t cy) {
    if (aim & PHX_TILE_AIM_FAR) return tile->aims[aim & (PHX_TILE_FAR_LIMIT - 1)];
    const uint32_t x = cx + ((uint32_t)aim >> PHX_AIM_X & 63u) - PHX_AIM_NEAR;
    const uint32_t y = cy + ((uint32_t)aim >> PHX_AIM_Y & 63u) - PHX_AIM_NEAR;
    return (y * map_width + x) | (uint32_t)(aim >> PHX_AIM_CORNER) << PHX_SPOT_CORNER;
}

/* The same, as its place in 1/16 of cells; two spots are the same if and only if their places are. */
static inline void phx_tile_aim_at(const PhxTile *tile, uint32_t map_width, uint16_t aim, uint32_t cx,
                                   uint32_t cy, int32_t *x, int32_t *y) {
    uint32_t corner = (uint32_t)aim >> PHX_AIM_CORNER;
    if (aim & PHX_TILE_AIM_FAR) {
        const uint32_t spot = tile->aims[aim & (PHX_TILE_FAR_LIMIT - 1)];
        corner = spot >> PHX_SPOT_CORNER;
        cx = (spot & PHX_SPOT_CELL) % map_width;
        cy = (spot & PHX_SPOT_CELL) / map_width;
    } else {
        cx += ((uint32_t)aim >> PHX_AIM_X & 63u) - PHX_AIM_NEAR;
        cy += ((uint32_t)aim >> PHX_AIM_Y & 63u) - PHX_AIM_NEAR;
    }
    *x = phx_spot_along((int32_t)cx, corner, corner == 1 || corner == 4);
    *y = phx_spot_along((int32_t)cy, corner, corner <= 2);
}

/* Index with border of a local index. */
static inline uint32_t phx_tile_bordered(uint32_t local) {
    return ((local >> PHX_SECTOR_SHIFT) + 1) * PHX_TILE_STRIDE + (local & (PHX_SECTOR_SIDE - 1)) + 1;
}
/* The bordered index of the i-th cell across a side, and the local index of the one before it. */
static inline uint32_t phx_tile_outer(const PhxSectorFrame *frame, uint32_t side, uint32_t i) {
    switch (side) {
    case 0:
        return (i + 1) * PHX_TILE_STRIDE + frame->width + 1;
    case 1:
        return (frame->height + 1) * PHX_TILE_STRIDE + i + 1;
    case 2:
        return (i + 1) * PHX_TILE_STRIDE;
    default:
        return i + 1;
    }
}
static inline uint32_t phx_tile_inner(const PhxSectorFrame *frame, uint32_t side, uint32_t i) {
    switch (side) {
    case 0:
        return i << PHX_SECTOR_SHIFT | (frame->width - 1);
    case 1:
        return (frame->height - 1) << PHX_SECTOR_SHIFT | i;
    case 2:
        return i << PHX_SECTOR_SHIFT;
    default:
        return i;
    }
}
static inline uint32_t phx_tile_border_length(const PhxSectorFrame *frame, uint32_t side) {
    return side % 2 ? frame->width : frame->height;
}

/* One build: a ring's (rings is null) or a tile's. */
typedef struct PhxTileBuild {
    const PhxTileTask *task;
    PhxTileWork *work;
    const PhxTileRing *const *rings;
    int32_t offset[8]; /* of the directions, in bordered indices */
} PhxTileBuild;

/* Makes the ground and the costs, and empties the list of seeds. tile_front.c. */
void phx_tile_begin(PhxTileBuild *build, uint32_t sector);
/* Adds the goals in the sector; the sector's vertices; the steps into the neighbours. */
void phx_tile_seed_goals(PhxTileBuild *build);
void phx_tile_seed_vertices(PhxTileBuild *build);
void phx_tile_seed_rings(PhxTileBuild *build);
/* Runs the front; each region's sums are relative to its least seed, base[region]. */
void phx_tile_run(PhxTileBuild *build);
/* The steps from a reached cell over the borders to rings, reached on their side: bits, their directions; and
 * what the rings say of the cells entered. Known once the rings are seeded. */
uint32_t phx_tile_exits(const PhxTileBuild *build, uint32_t local, uint64_t value[8]);

/* The any-angle ways of all reached cells: spots, aim, length, light. tile_aim.c. */
void phx_tile_find_aims(PhxTileBuild *build);

#endif
