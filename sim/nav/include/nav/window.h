/* window.h: a finer piece of a field around one unit, in half or quarter cells, with the bodies that rest
 * there.
 *
 * Where units crowd, cells of a whole unit are too coarse to lead one between bodies and walls. A window is
 * 64 x 64 fine cells around a unit, cut to its sector. Fine cells are closed where the unit's disc would be
 * in a wall, and dearer where it would overlap a resting body. Its front begins at the rim, with the tile's
 * costs, and at the goal if that lies inside; so it leads out where the tile does, but around what stands in
 * the way. Cost: about 4,096 fine cells a call; asked for by units that are stuck, not by all. DERIVED: a
 * pure function of what the view names; nothing is kept. Memory: the caller's, one a worker.
 */
#ifndef PHX_NAV_WINDOW_H
#define PHX_NAV_WINDOW_H

#include <phalanx/cost.h>

#include "nav/tile.h"

enum {
    PHX_WINDOW_SIDE = PHX_SECTOR_SIDE,   /* fine cells */
    PHX_WINDOW_RADIUS_LIMIT = 2 * 65536, /* of the unit, raw; larger ones have no window */
    PHX_WINDOW_LEVEL_LIMIT = 2,          /* a cell is 2^level fine cells wide: half, quarter */
    PHX_WINDOW_LOOK_AHEAD = 24           /* fine cells along the way, for a straight line */
};

/* A body that rests; world units. */
typedef struct PhxWindowBody {
    PhxVec2 at;
    fix16_t radius;
} PhxWindowBody;

typedef struct PhxWindowView {
    const PhxNavGrid *ground;    /* the plane of size 1: where walls are */
    const PhxNavGrid *plane;     /* the plane of the unit's size, */
    uint32_t size;               /* that size, 1..32, */
    const PhxTile *tile;         /* and the tile of the sector the unit is in */
    PhxVec2 goal;                /* its exact goal, world units */
    PhxVec2 at;                  /* the unit */
    fix16_t radius;              /* > 0 */
    uint32_t level;              /* 1 half cells, 2 quarter cells */
    const PhxWindowBody *bodies; /* any order; none is the unit itself */
    uint32_t body_count;
    uint8_t crowd_cost; /* added to a fine cell in which the unit would overlap a resting body */
} PhxWindowView;

/* Working memory; its content matters neither before nor after. */
typedef struct PhxWindowWork {
    PhxSectorGround ground;
    PhxSectorWork front;
    uint8_t cost[PHX_WINDOW_SIDE * PHX_WINDOW_SIDE];    /* row by row, as wide as the window */
    uint8_t crowded[PHX_WINDOW_SIDE * PHX_WINDOW_SIDE]; /* 1: the unit would overlap a body there */
    uint8_t free[PHX_WINDOW_SIDE * PHX_WINDOW_SIDE];    /* 1, or impassable for walls and bodies alike */
    PhxSectorSeed seed[4 * PHX_WINDOW_SIDE + 1];
    uint64_t seed_value[4 * PHX_WINDOW_SIDE + 1];
} PhxWindowWork;

/* Where the unit should walk: a unit vector Q2.30; zero where the window knows no way, or the unit is larger
 * than PHX_WINDOW_RADIUS_LIMIT. */
PhxDir phx_window_direction(PhxWindowWork *work, const PhxWindowView *view);

#endif
