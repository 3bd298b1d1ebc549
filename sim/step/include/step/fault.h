/* fault.h: a planted fault, for tests of what has to find one. Compiled only where PHX_FAULT_HOOK is defined;
 * a release build has no trace of it.
 *
 * In: one place in time (tick, phase) and in the state (table, column, row, lane, bit). Effect: that bit is
 * flipped right after the phase ran, as by a wrong write of the phase or by a bad memory cell. A grid's block
 * is marked as changed, as every write to it does; an unmarked write is the rolling audit's business.
 */
#ifndef PHX_STEP_FAULT_H
#define PHX_STEP_FAULT_H

#include "state/world.h"

typedef struct PhxFault {
    uint32_t tick, phase;             /* the tick being computed, and the index of the phase in it */
    uint32_t table, column;           /* indices in the world's schema */
    uint32_t row, lane, bit;          /* row or cell; `bit` counts from the lowest */
    uint32_t struck;                  /* out: how often it was planted */
    uint64_t value_before, value_now; /* out: as phx_table_get gives them */
} PhxFault;

/* From now on every sim of this process has this fault; null: none. Borrowed until the next call. */
void phx_fault_plan(PhxFault *fault);

/* Called by the loop over phases. A fault outside of the world's tables is ignored. */
void phx_fault_strike(PhxWorld *world, uint32_t tick, uint32_t phase);

#endif
