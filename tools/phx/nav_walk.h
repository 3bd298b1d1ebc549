/* nav_walk.h: ways through a field, walked: from cell to cell along the arrows, and as a point that goes
 * where the smooth direction leads. For phx nav path.
 *
 * In: a field of the whole map, or sector routes, and a cell. Out: points and lengths. A point's step is a
 * quarter of a cell, less than what could take it through a wall. Cost: linear in the way; by sectors a tile
 * for each sector on it.
 */
#ifndef PHX_NAV_WALK_H
#define PHX_NAV_WALK_H

#include "phx/nav_layers.h"

typedef struct PhxNavWay {
    bool arrived;
    double length;   /* cells: a diagonal step is sqrt 2 */
    uint64_t cost;   /* of the steps, where it goes from cell to cell */
    uint32_t end;    /* the goal's cell */
    PhxVec2 *points; /* of malloc */
    uint32_t count, capacity;
    uint32_t tiles; /* whose sectors it went through */
} PhxNavWay;

/* Who says where to go: exactly one of them. */
typedef struct PhxNavGuide {
    const PhxField *field;
    PhxNavSectors *sectors;
} PhxNavGuide;

/* Along the arrows. Not arrived: from there no way leads to a goal. Errors: PHX_ERROR_MEMORY, and those of
 * the routes; the way is then empty. */
PHX_MUST_USE PhxStatus phx_nav_walk_cells(PhxNavInput *input, PhxNavGuide guide, uint32_t from,
                                          PhxNavWay *out);
/* As a point, from the middle of the cell to the middle of the goal's. Not arrived besides: it stood still,
 * or went more than four times the map's cells. */
PHX_MUST_USE PhxStatus phx_nav_walk_smooth(PhxNavInput *input, PhxNavGuide guide, uint32_t from, uint32_t end,
                                           PhxNavWay *out);
void phx_nav_way_close(PhxNavWay *way);

#endif
