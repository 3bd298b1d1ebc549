/* tree.h: the hash tree of a world at any moment of a tick: phase, column, range of rows, value.
 *
 * Different from the root of a tick, scratch columns take part here, as far as they mean something: from the
 * phase of this tick that declares to write them until the tick ends, and in living rows. What an earlier
 * tick, a poisoned cache or a fresh world left in them is nobody's value, and two sides may differ in it.
 * All hashes are over canonical bytes (little-endian), so that builds of any byte order can be compared.
 */
#ifndef PHX_BISECT_TREE_H
#define PHX_BISECT_TREE_H

#include <phalanx/sim.h>

#include "state/world.h"

enum { PHX_TREE_PHASE_LIMIT = 64, PHX_TREE_WORDS = (PHX_SCHEMA_COLUMN_LIMIT + 63) / 64 };

/* Which scratch columns were written so far in this tick: a bit a column. */
typedef struct PhxTreeClock {
    uint64_t written[PHX_SCHEMA_TABLE_LIMIT][PHX_TREE_WORDS];
    uint64_t writes[PHX_TREE_PHASE_LIMIT][PHX_SCHEMA_TABLE_LIMIT]
                   [PHX_TREE_WORDS]; /* scratch columns that a phase declares */
} PhxTreeClock;

/* Errors: PHX_ERROR_LIMIT (phases). */
PHX_MUST_USE PhxStatus phx_tree_clock_begin(PhxTreeClock *clock, const PhxSim *sim);
void phx_tree_clock_tick(PhxTreeClock *clock);                  /* a tick begins, or has ended */
void phx_tree_clock_phase(PhxTreeClock *clock, uint32_t phase); /* a phase has ended */

/* Does a column take part now? */
bool phx_tree_counts(const PhxTreeClock *clock, const PhxSim *sim, uint32_t table, uint32_t column);
/* Hash of a column; 0 where it doesn't take part. */
uint64_t phx_tree_column(const PhxTreeClock *clock, PhxSim *sim, uint32_t table, uint32_t column);
/* Hash of all columns, and of those of STATE alone. */
typedef struct PhxTreeHash {
    uint64_t all, state;
} PhxTreeHash;
PhxTreeHash phx_tree_hash(const PhxTreeClock *clock, PhxSim *sim);
/* Hash of the rows begin .. end - 1 of a column (cells of a grid, row-major); rows beyond the table's
 * capacity are left out. */
uint64_t phx_tree_rows(const PhxTreeClock *clock, const PhxSim *sim, uint32_t table, uint32_t column,
                       uint32_t begin, uint32_t end);
/* One value, raw bits sign-extended; 0 where the column doesn't take part or the row can't be. */
uint64_t phx_tree_value(const PhxTreeClock *clock, const PhxSim *sim, uint32_t table, uint32_t column,
                        uint32_t row, uint32_t lane);

#endif
