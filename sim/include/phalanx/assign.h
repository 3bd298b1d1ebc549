/* assign.h: which unit of a group takes which slot of a formation.
 *
 * In: where the units are, where the slots are, and of each its id and its rank (a class: melee, archers).
 * Out: for each unit a slot of its own, of the unit's rank. There may be more slots than units; who is left
 * over is a slot.
 *
 * What is minimised is the sum of squared distances, for three reasons. Of two units with the slots they got,
 * (u1 - u2) . (s1 - s2) >= 0 then holds, or they would better change over: so units that all go straight and
 * arrive together don't meet, but stay farther from each other than the less of their distances at the
 * beginning and at the end divided by the root of two (Turpin, Michael, Kumar, "CAPT: Concurrent assignment
 * and planning of trajectories for multiple robots", 2014, theorem 1). The longest way is short, as a long
 * one costs more than several short ones: where a soldier falls, the file moves up by one each, whereas sums
 * of plain distances can't tell that from one who runs past all others. And a shift of the whole formation
 * doesn't change who goes where, as long as all slots are taken. With sums of plain distances no two straight
 * ways would cross, but units would meet: in 64 changes of shape of 64 units, 7% of the pairs of ways cross
 * with squares, at different times, and no pair of units that go at once comes nearer than 0.6 of the spacing
 * (0.8% do at one speed for all); with plain distances no ways cross, yet 2.3% (2.6%) of the pairs come that
 * near, the longest way is 14% longer, and the mean 0.8% shorter.
 *
 * Ranks are solved one by one. To PHX_ASSIGN_EXACT units of a rank: optimal, by shortest augmenting paths
 * (Kuhn, "The Hungarian method for the assignment problem", 1955; Jonker, Volgenant, "A shortest augmenting
 * path algorithm for dense and sparse linear assignment problems", 1987). Above: an assignment by halving
 * both sets in turn, or by an auction where slots are to spare, made better along cycles of neighbouring
 * slots within a bounded number of steps. Measured against the optimum, from and to grids, lines, files,
 * circles and wedges, from crowds at random and from places left by up to 1.5 spacings, with 200 and 1,024
 * units, as many slots or some more, it's at most 1.8% above, and mostly less than 0.3%
 * (tests/property/assign.c); proved is only that it's no worse than what it begins with. Slots that lie at
 * random themselves cost more: some 13%.
 *
 * The tie rule: among assignments of equal cost the one is taken in which the unit of the least id has the
 * slot of the least id that any of them gives it, then the unit of the next id, and so on: so that the result
 * is unique. (Above PHX_ASSIGN_EXACT changes are tried in a fixed order, of ids and places, and made at
 * once.) Where units and slots of a rank together extend over 8,192 units or more along an axis (16 units
 * above PHX_ASSIGN_EXACT), positions are first rounded down to a power of two of raw units that leaves 29
 * (20) bits, so that sums fit 64 bits.
 *
 * Determinism: integers, serial, no clock: bounds are counted in steps. Units and slots are put in the order
 * of their ids first, so that the order they are handed in has no influence.
 */
#ifndef PHALANX_ASSIGN_H
#define PHALANX_ASSIGN_H

#include <phalanx/status.h>
#include <phalanx/vec2.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct PhxArena;

enum {
    PHX_ASSIGN_EXACT = 64,   /* to so many units of a rank the result is optimal */
    PHX_ASSIGN_UNITS = 1024, /* at most */
    PHX_ASSIGN_SLOTS = 2048, /* at most */
};

/* The units, or the slots. Not owned; arrays of `count`. */
typedef struct PhxAssignSet {
    uint32_t count;
    const PhxVec2 *at;   /* world units, within +-8192 */
    const uint32_t *id;  /* each once; any numbers; null: 0, 1, 2 ... */
    const uint8_t *rank; /* null: all of rank 0 */
} PhxAssignSet;

/* Scratch, that carries nothing from one call to the next. Private to motion/. */
typedef struct PhxAssignWork PhxAssignWork;

/* Takes the scratch from `arena` (measuring, then null is returned, or real): about 280 KiB. One a thread. */
PhxAssignWork *phx_assign_layout(struct PhxArena *arena);

/* Fills slot_of[i], for i < units->count, with the index (not the id) of unit i's slot in `slots`. Cost: n
 * units and m slots: at most about n n m steps to PHX_ASSIGN_EXACT; above, about (n + m) log (n + m) and then
 * a number of steps linear in m.
 * Errors, with slot_of untouched: PHX_ERROR_ARGUMENT for no units, a position outside of the world, or an id
 * that comes twice among units or among slots; PHX_ERROR_LIMIT for more units or slots than stated above;
 * PHX_ERROR_FULL where a rank has more units than slots. */
PHX_MUST_USE PhxStatus phx_assign_solve(PhxAssignWork *work, const PhxAssignSet *units,
                                        const PhxAssignSet *slots, uint32_t *slot_of);

#ifdef __cplusplus
}
#endif
#endif
