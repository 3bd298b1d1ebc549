/* assign_parts.h: the parts of the assignment of units to slots. Internal to motion/ and its tests.
 *
 * A part is one rank: n units and m >= n slots, each in the order of their ids, at coordinates that are
 * relative to the lowest of all and rounded to a power of two, so that sums of costs fit 64 bits.
 */
#ifndef PHX_MOTION_ASSIGN_PARTS_H
#define PHX_MOTION_ASSIGN_PARTS_H

#include <phalanx/assign.h>

enum {
    PHX_ASSIGN_EXACT_BITS = 29, /* coordinates of the exact solver are below 2^29: costs below 2^59 */
    PHX_ASSIGN_NEAR_BITS = 20,  /* of the other one: below 2^20, costs below 2^41 */
    PHX_ASSIGN_LINKS = 7,       /* neighbours of a slot, between which units may change over */
    PHX_ASSIGN_WANTED = 8,      /* slots that a unit bids for */
    PHX_ASSIGN_NONE = 0xffff,   /* no unit, no slot */
};

/* Slots by number; units are in the middle of each from a cost's point of view: see assign_exact.c. */
typedef struct PhxAssignExact {
    int64_t price[PHX_ASSIGN_SLOTS], distance[PHX_ASSIGN_SLOTS];
    uint16_t owner[PHX_ASSIGN_SLOTS], from[PHX_ASSIGN_SLOTS], list[PHX_ASSIGN_SLOTS];
    uint8_t state[PHX_ASSIGN_SLOTS];
    uint16_t next[PHX_ASSIGN_EXACT];
} PhxAssignExact;

/* A grid over the slots: cells of 2^shift steps. */
typedef struct PhxAssignCells {
    uint32_t shift, width, height;
} PhxAssignCells;

typedef struct PhxAssignNear {
    PhxAssignCells cells;
    int64_t slack; /* potentials fall by more than this, or not at all */
    uint16_t unit_by[2][PHX_ASSIGN_UNITS], slot_by[2][PHX_ASSIGN_SLOTS]; /* in order of x and of y */
    uint16_t spare[PHX_ASSIGN_SLOTS], bucket[1 << (PHX_ASSIGN_NEAR_BITS / 2)];
    uint16_t kept[PHX_ASSIGN_SLOTS], other[PHX_ASSIGN_UNITS];
    uint16_t cell_of[PHX_ASSIGN_SLOTS], cell_start[PHX_ASSIGN_SLOTS + 1], in_cell[PHX_ASSIGN_SLOTS];
    uint8_t side[PHX_ASSIGN_SLOTS], stale[PHX_ASSIGN_SLOTS];
    uint16_t link[PHX_ASSIGN_SLOTS][PHX_ASSIGN_LINKS], wanted[PHX_ASSIGN_UNITS][PHX_ASSIGN_WANTED];
    uint16_t owner[PHX_ASSIGN_SLOTS], from[PHX_ASSIGN_SLOTS], mark[PHX_ASSIGN_SLOTS];
    int64_t weight[PHX_ASSIGN_SLOTS][PHX_ASSIGN_LINKS], potential[PHX_ASSIGN_SLOTS];
} PhxAssignNear;

/* One rank's task. */
typedef struct PhxAssignPart {
    uint32_t n, m;
    const PhxVec2 *unit, *slot;
    uint16_t *slot_of; /* out, by unit */
} PhxAssignPart;

/* n <= PHX_ASSIGN_EXACT; coordinates below 2^PHX_ASSIGN_EXACT_BITS. */
void phx_assign_exact(PhxAssignExact *work, const PhxAssignPart *part);
/* Coordinates below 2^PHX_ASSIGN_NEAR_BITS. link: which slots are near each other, before the others. halves:
 * a first assignment; auction: another, false where a unit has no slot near it; cycles: makes what is in
 * slot_of better. */
void phx_assign_link(PhxAssignNear *work, const PhxAssignPart *part);
void phx_assign_halves(PhxAssignNear *work, const PhxAssignPart *part);
bool phx_assign_auction(PhxAssignNear *work, const PhxAssignPart *part, uint16_t *slot_of);
void phx_assign_cycles(PhxAssignNear *work, const PhxAssignPart *part);

static inline int64_t phx_assign_cost(PhxVec2 a, PhxVec2 b) {
    const int64_t x = (int64_t)a.x - b.x, y = (int64_t)a.y - b.y;
    return x * x + y * y;
}

#endif
