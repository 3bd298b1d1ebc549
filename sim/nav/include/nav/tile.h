/* tile.h: the flow of one sector towards one set of goals.
 *
 * What a tile says, exactly. Let A(T) be the front in sector T from all its vertices with their route values
 * (and from the goals in T at 0). The tile of sector S is the front in S, seeded at every cell of S from
 * which a step, straight or diagonal, leads into a neighbouring sector T that some vertex of S on that border
 * has its least way through; the seed's value is the step plus A(T) of the cell entered; and at the goals in
 * S with 0. As A never lies below the tile's own values, the sum falls along each arrow, across borders too:
 * there is no circle, and no basin but the goals. Units may cross a border anywhere, not only at portals.
 * Ring: the values of A(T) along the four borders of T, which is all that a neighbour needs. DERIVED: a pure
 * function of (grid, weights, goals, sector).
 */
#ifndef PHX_NAV_TILE_H
#define PHX_NAV_TILE_H

#include "nav/portals.h"

enum {
    PHX_TILE_AIM_NONE = 255,  /* a cell without aim follows its arrow */
    PHX_TILE_AIM_LIMIT = 255, /* aims of one tile */
    PHX_FLOW_SIGHT = 16,      /* bit in a flow code: all of the cell sees a goal, its aim */
    PHX_FLOW_CODE = 15        /* mask of the code itself */
};

/* A(T) along the borders of a sector: 0 E, 1 S, 2 W, 3 N, by rising x or y; and where the way from there
 * leads in a straight line (aim: map cell; PHX_NAV_NO_CELL: unknown). */
typedef struct PhxTileRing {
    uint64_t value[4][PHX_SECTOR_SIDE]; /* PHX_ROUTE_UNREACHED */
    uint32_t aim[4][PHX_SECTOR_SIDE];
} PhxTileRing;

typedef struct PhxTile {
    uint32_t sector;
    uint64_t base;                  /* integration = base + sum */
    uint32_t sum[PHX_SECTOR_CELLS]; /* PHX_FIELD_UNREACHED */
    uint8_t flow[PHX_SECTOR_CELLS]; /* codes of nav.h, with PHX_FLOW_SIGHT; arrows may leave the sector */
    uint8_t aim[PHX_SECTOR_CELLS];  /* index into aims: the farthest point of the way in a straight line */
    uint32_t aim_count, aims[PHX_TILE_AIM_LIMIT]; /* map cells */
} PhxTile;

#endif
