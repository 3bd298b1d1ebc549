/* room.h: where units that were sent to one point find places there, and which way leads to them.
 *
 * In: the ground, an anchor (the goal), a body radius, and what occupies the ground (units that stand, and
 * places that were promised). A lattice of points, finer than a body, covers the ground around the anchor.
 * Out: the radius of the disc, cut by walls, that the group fills at a packing of 80%; which points are
 * vacant for such a body; and for every point the way to the vacant one that is best from there: near, and
 * near the anchor. A way may lead over places of the same group (they move up), at a higher cost, and over
 * nothing else. Memory: laid out once, for one room at a time. Cost: linear in the points of the disc that
 * the group fills, its margin and what occupies them; at most PHX_ROOM_SIDE^2. Determinism: integers; every
 * tie ends in a lattice index or a slot. DERIVED.
 */
#ifndef PHX_STEP_ROOM_H
#define PHX_STEP_ROOM_H

#include <phalanx/cost.h>
#include <phalanx/nav.h>

#include "base/arena.h"

enum {
    PHX_ROOM_SIDE = 256, /* lattice points a side of the window */
    PHX_ROOM_POINTS = PHX_ROOM_SIDE * PHX_ROOM_SIDE,
    PHX_ROOM_LEVELS = 1 << 15, /* values of ways, in tenths of a lattice step */
    PHX_ROOM_SCALE = 10        /* value of a lattice step */
};
#define PHX_ROOM_NONE UINT32_MAX /* no point, no owner, no way */

/* What the group can stand on: what stops its bodies, and the cost plane of its layer, for bodies of `size`.
 */
typedef struct PhxRoomGround {
    PhxNavGrid solid, plane;
    uint32_t size;
} PhxRoomGround;

typedef struct PhxRoom {
    PhxRoomGround ground;
    PhxVec2 anchor, base;   /* world; base: of lattice point 0 */
    fix16_t radius;         /* of the bodies */
    uint32_t spacing;       /* raw, a power of two */
    uint32_t spacing_shift; /* of which power */
    uint32_t start;         /* the lattice point nearest to the anchor where such a body can stand, or none */
    uint32_t disc;          /* radius that the group fills at 80%, lattice steps times 4 */
    uint32_t flooded;       /* radius of the disc and its margin, lattice steps times 4 */
    uint8_t *open;          /* bits, by point: room.c */
    uint16_t *
        quarters; /* of a point that the flood reached: its distance from the anchor, lattice steps times 4 */
    uint32_t *value;                  /* value of the way; PHX_ROOM_NONE: no way */
    uint32_t *owner;                  /* slot of the unit whose place covers the point, or none */
    uint32_t *gap;                    /* squared distance to that place, raw / 16, for the nearest to win */
    uint32_t *next, *prev, *head;     /* buckets of points by value; empty between calls */
    uint64_t *used;                   /* bit set of buckets that held a point */
    uint32_t *touched, touched_count; /* points that aren't as after layout */
} PhxRoom;

/* `room` null or an arena without memory: measures. */
void phx_room_layout(PhxRoom *room, PhxArena *arena);
/* Half the side of the window for bodies of this radius, raw: what lies farther off is no part of a room. */
fix16_t phx_room_reach(fix16_t radius);
/* Begins a room: floods the open ground around the anchor until a disc is found that holds bodies of the sum
 * of squared radii `area` (Q32.32) at a packing of 80%, and a margin around it. */
void phx_room_begin(PhxRoom *room, const PhxRoomGround *ground, PhxVec2 anchor, fix16_t radius,
                    uint64_t area);
/* Radius of the disc and its margin, raw: what lies farther off has no influence. */
fix16_t phx_room_flooded(const PhxRoom *room);
/* Something of `radius` stands or will stand at `spot`. `yields`: a unit of the same group and radius, which
 * can move up. */
void phx_room_occupy(PhxRoom *room, PhxVec2 spot, fix16_t radius, uint32_t slot, bool yields);
/* Finds the ways, when all is occupied that is. */
void phx_room_solve(PhxRoom *room);

/* The point that stands for a body at `at`: near it, vacant if there is one; none if there is none. */
uint32_t phx_room_point(const PhxRoom *room, PhxVec2 at);
/* Whether `at` is farther from the anchor than anyone should stand; and whether a way leads from there to a
 * place that isn't. */
bool phx_room_outside(const PhxRoom *room, PhxVec2 at);
bool phx_room_has_place_inside(const PhxRoom *room, PhxVec2 at);
PhxVec2 phx_room_position(const PhxRoom *room, uint32_t point);
/* Whether a body can stand at `at`, were nobody else there. */
bool phx_room_can_stand(const PhxRoom *room, PhxVec2 at);
bool phx_room_vacant(const PhxRoom *room, uint32_t point);
/* The next point of the way, or `point` itself where a way ends. */
uint32_t phx_room_next(const PhxRoom *room, uint32_t point);

#endif
