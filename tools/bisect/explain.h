/* explain.h: which single value of a state, changed a little, gives a hash that someone else recorded? */
#ifndef PHX_BISECT_EXPLAIN_H
#define PHX_BISECT_EXPLAIN_H

#include "bisect/bisect.h"

/* Bytes that may be hashed in one search: a second or two. */
#define PHX_EXPLAIN_BUDGET ((uint64_t)6 << 30)

/* Tries each value of the table with one bit flipped, and with up to 8 raw units added or taken. True: `left`
 * of *found is the sim's value and `right` the one that gives the hash `wanted` (64 bits: no accident). The
 * sim's state is the same afterwards. *budget: bytes that may yet be hashed; 0 afterwards: not all was tried.
 */
bool phx_explain_table(PhxSim *sim, uint32_t table, uint64_t wanted, uint64_t *budget, PhxBisectValue *found);

#endif
