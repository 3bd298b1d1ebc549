/* room.h: where units that were sent to one point find places there, and which way leads to them.
 *
 * In: the ground, an anchor (the goal), a body radius, and what occupies the ground (units that stand, and
 * places that were promised). A lattice of points, finer than a body, covers the ground around the anchor.
 * Out: the radius of the disc, cut by walls, that the group fills at a packing of 80%; which points are
 * vacant for such a body; and for every point the way to the vacant one that is best from there: near, and
 * near the anchor. A way may lead over places of the same group (they move up), at a higher cost, and over
 * nothing else. Memory: laid out once, for one room at a time. Cost: at most linear in the points of the disc
 * that the group fills, its margin and what occupies them, PHX_ROOM_SIDE^2. A room remembers what it was made
 * of: while the ground is the same its flood is kept, and while nobody takes or leaves a place its ways are;
 * both are compared whole, so that nothing has to be said when they change. Ways are sought no farther than
 * they are asked for. Determinism: integers; every tie ends in a lattice index or a slot. DERIVED: what is
 * kept has no influence on an answer.
 */
#ifndef PHX_STEP_ROOM_H
#define PHX_STEP_ROOM_H

#include <phalanx/cost.h>
#include <phalanx/nav.h>

#include "base/arena.h"

enum {
    PHX_ROOM_SIDE = 256, /* lattice points a side of the window */
    PHX_ROOM_POINTS = PHX_ROOM_SIDE * PHX_ROOM_SIDE,
    PHX_ROOM_LEVELS = 1 << 15,   /* values of ways, in tenths of a lattice step */
    PHX_ROOM_SCALE = 10,         /* value of a lattice step */
    PHX_ROOM_CELLS = 160 * 160,  /* of ground that a room remembers; it keeps no flood of more */
    PHX_ROOM_OCCUPANTS = 1 << 12 /* that a room remembers; it keeps no ways around more */
};
#define PHX_ROOM_NONE UINT32_MAX /* no point, no owner, no way */

/* What the group can stand on: what stops its bodies, and the cost plane of its layer, for bodies of `size`.
 */
typedef struct PhxRoomGround {
    PhxNavGrid solid, plane;
    uint32_t size;
} PhxRoomGround;

/* Something that stands or will stand somewhere. */
typedef struct PhxRoomOccupant {
    uint32_t slot;
    PhxVec2 spot;
    fix16_t radius;
    bool yields;
} PhxRoomOccupant;

typedef struct PhxRoom {
    PhxRoomGround ground;
    PhxVec2 anchor, base;   /* world; base: of lattice point 0 */
    fix16_t radius;         /* of the bodies */
    uint32_t spacing;       /* raw, a power of two */
    uint32_t spacing_shift; /* of which power */
    uint32_t start;         /* the lattice point nearest to the anchor where such a body can stand, or none */
    uint32_t disc;          /* radius that the group fills at 80%, lattice steps times 4 */
    uint32_t flooded;       /* radius of the disc and its margin, lattice steps times 4 */
    uint64_t wanted;        /* points that the disc holds */
    uint8_t *open;          /* bits, by point: room.c */
    /* Of a point that the flood reached: its distance from the anchor in quarters of a step; then its price:
     * value of a way that ends there. */
    uint16_t *price;
    uint16_t *reached, *places; /* points: as the flood came by; by price, those where a body can stand */
    uint32_t reached_count, place_count;
    uint32_t i0, j0, i1, j1; /* lattice coordinates that hold all that the flood reached */
    uint32_t *owner;         /* slot of the unit whose place covers the point; undefined where none does */
    uint32_t *gap;           /* squared distance to that place, raw / 16, for the nearest to win */
    uint16_t *value;         /* of the way, as far as it was sought; UINT16_MAX: none yet */
    uint32_t *next, *prev, *head; /* buckets of points by value */
    uint64_t *used;               /* bit set of buckets that may hold a point */
    uint32_t level, fresh;        /* ways below this value are final; the next of `places` to begin at */
    uint8_t *seen;                /* what the flood saw of the cells around, row by row; 1 solid, 2 closed */
    PhxCellRect seen_cells;
    PhxRoomOccupant *occupants, *told; /* by slot, those that the ways lead around; those told since begin */
    uint32_t occupant_count, told_count;
    bool ground_known, ways_known; /* seen, occupants say what the flood, the ways were made of */
    bool overflowed;               /* more were told than can be remembered */
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
/* Between begin and solve: something of `radius` stands or will stand at `spot`. `yields`: a unit of the same
 * group and radius, which can move up. A slot is told once. */
void phx_room_tell(PhxRoom *room, PhxVec2 spot, fix16_t radius, uint32_t slot, bool yields);
/* All is told: from now on ways can be asked for. */
void phx_room_solve(PhxRoom *room);
/* After solve: one of the group takes a place. Ways stay as they are, but none ends there any more. */
void phx_room_take(PhxRoom *room, PhxVec2 place, uint32_t slot);

/* The point that stands for a body at `at`: near it, vacant if there is one; none if there is none. */
uint32_t phx_room_point(PhxRoom *room, PhxVec2 at);
/* Value of the way from a point that phx_room_point gave. */
uint32_t phx_room_value(PhxRoom *room, uint32_t point);
/* Whether `at` is farther from the anchor than anyone should stand; and whether a way leads from there to a
 * place that isn't. */
bool phx_room_outside(const PhxRoom *room, PhxVec2 at);
bool phx_room_has_place_inside(PhxRoom *room, PhxVec2 at);
PhxVec2 phx_room_position(const PhxRoom *room, uint32_t point);
/* Whether a body can stand at `at`, were nobody else there. */
bool phx_room_can_stand(const PhxRoom *room, PhxVec2 at);
bool phx_room_vacant(const PhxRoom *room, uint32_t point);
/* The next point of the way, or `point` itself where a way ends. */
uint32_t phx_room_next(PhxRoom *room, uint32_t point);

#endif
