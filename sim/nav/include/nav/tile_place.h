/* tile_place.h: a position in a tile: worked out once, asked several things.
 *
 * In: a tile, the plane that it was built for, a position. Out: what the functions of <phalanx/routes.h> of
 * the same names say. Cost: three loads from the tile to make one; see tile_direction.c for directions.
 * Determinism: pure functions of their arguments.
 */
#ifndef PHX_NAV_TILE_PLACE_H
#define PHX_NAV_TILE_PLACE_H

#include "base/prefetch.h"
#include "nav/sector.h"
#include "nav/tile.h"

typedef struct PhxTilePlace {
    const PhxTile *tile;
    const PhxNavGrid *plane;
    PhxVec2 at;     /* as given */
    fix16_t x, y;   /* moved into the cell */
    int32_t cx, cy; /* the cell, in the map */
    uint32_t local; /* and in the sector */
    uint8_t own;    /* code of its flow */
    bool in_sight;  /* all of it sees a goal */
} PhxTilePlace;

/* The cell (cx, cy) of the tile's sector is the one that `at` lies in, or the nearest to it where `at` lies
 * outside of the sector. `plane` must stay where it is. */
static inline PhxTilePlace phx_tile_place(const PhxTile *tile, const PhxNavGrid *plane, int32_t cx,
                                          int32_t cy, PhxVec2 at) {
    const int32_t low_x = cx * 65536, low_y = cy * 65536;
    const uint32_t local = phx_sector_local((uint32_t)cx, (uint32_t)cy);
    PhxTilePlace place = {.tile = tile, .plane = plane, .at = at, .cx = cx, .cy = cy, .local = local};
    place.x = at.x < low_x ? low_x : at.x > low_x + 65535 ? low_x + 65535 : at.x;
    place.y = at.y < low_y ? low_y : at.y > low_y + 65535 ? low_y + 65535 : at.y;
    place.own = tile->flow[local] & PHX_FLOW_CODE;
    place.in_sight = (tile->flow[local] & PHX_FLOW_SIGHT) != 0;
    return place;
}

/* Asks for what the functions here will read of a tile for a position in the cell (cx, cy). */
static inline void phx_tile_prefetch(const PhxTile *tile, int32_t cx, int32_t cy, PhxVec2 at) {
    const uint32_t local = phx_sector_local((uint32_t)cx, (uint32_t)cy);
    const uint32_t down = local + PHX_SECTOR_SIDE, up = local - PHX_SECTOR_SIDE;
    const uint32_t beside = ((uint32_t)at.y & 0x8000u ? down : up) & (PHX_SECTOR_CELLS - 1);
    PHX_PREFETCH(&tile->flow[local]);
    PHX_PREFETCH(&tile->flow[beside]);
    PHX_PREFETCH(&tile->aim[local]);
    PHX_PREFETCH(&tile->aim[beside]);
    PHX_PREFETCH(&tile->sum[local]);
    PHX_PREFETCH(&tile->base[0]);
}

/* As phx_tile_direction. */
PhxDir phx_tile_place_direction(const PhxTilePlace *place, PhxVec2 goal_point);

/* As phx_tile_cost, of a cell of the sector by its local index. */
static inline uint64_t phx_tile_cost_in(const PhxTile *tile, uint32_t local) {
    if (tile->sum[local] == PHX_FIELD_UNREACHED) return UINT64_MAX;
    return tile->base[tile->flow[local] >> PHX_FLOW_BAND] + tile->sum[local];
}

#endif
