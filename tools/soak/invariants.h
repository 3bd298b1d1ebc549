/* invariants.h: what must be true of a world after any tick, whatever its commands were.
 *
 * In: a world before and after a step. Out: the first thing that isn't so, in words. Cost: a look at each
 * unit and event. Determinism: reads only.
 */
#ifndef PHX_TOOLS_SOAK_INVARIANTS_H
#define PHX_TOOLS_SOAK_INVARIANTS_H

#include <phalanx/sim.h>

typedef struct PhxInvariants {
    uint32_t *cell; /* of each unit slot before the step; PHX_NAV_NO_CELL: not alive, or in a wall */
    uint8_t *seen;  /* kinds of event that a unit slot had in this tick, a bit each */
    uint32_t capacity, used;
} PhxInvariants;

PHX_MUST_USE PhxStatus phx_invariants_begin(PhxInvariants *invariants, uint32_t unit_capacity);
void phx_invariants_end(PhxInvariants *invariants);

/* Before the step. */
void phx_invariants_note(PhxInvariants *invariants, const PhxSim *sim);
/* After it: false and `text` where a unit stands off the map, its centre went from a clear cell into one
 * that is a wall, it has an event of one kind twice, or a grid was written without a mark. */
bool phx_invariants_hold(PhxInvariants *invariants, const PhxSim *sim, char *text, size_t size);

#endif
