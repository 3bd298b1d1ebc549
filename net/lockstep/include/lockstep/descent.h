/* descent.h: the host's walk down the hash tree of the first tick whose roots differ.
 *
 * In: the table that differs, the answers of all sides, in pieces. Out: one question after the other, then
 * the lowest column, and the lowest cell of it, in which the answers differ, and each side's value. Each
 * round goes down from what the round before found, so that a column of N cells takes a round for the
 * columns, one for ranges of about sqrt N cells (none where N is small) and one for values: with the tables'
 * round, four. A side that gives no answer, or one of another length than the lowest side's that answered,
 * plays no part in the round. Cost: O(values). Memory: what init took from the arena: PHX_NET_TREE_VALUES_MAX
 * values a side. Determinism: a pure state machine; the lowest place is taken, whatever order answers came
 * in.
 */
#ifndef PHX_LOCKSTEP_DESCENT_H
#define PHX_LOCKSTEP_DESCENT_H

#include <phalanx/net_tree.h>

#include "lockstep/agreement.h"

enum {
    PHX_DESCENT_DIRECT_MAX = 512, /* cells whose values are asked for without ranges first */
    PHX_DESCENT_ROUNDS_MAX = 8    /* more than any column needs: a bound on what forged sizes can cause */
};

typedef struct PhxDescent {
    bool asking; /* question and round are to be answered */
    uint8_t round;
    PhxNetTreeQuestion question;
    uint32_t side_rows;                     /* sides that have room for answers */
    uint32_t asked, answered;               /* bit i: side i (bit 16: referee) */
    uint32_t totals[PHX_AGREEMENT_SIDES];   /* of the answer, as its first piece says */
    uint32_t received[PHX_AGREEMENT_SIDES]; /* values that came so far */
    uint64_t *values;                       /* side_rows rows of PHX_NET_TREE_VALUES_MAX */
    uint16_t column;                        /* found; PHX_NET_NO_COLUMN: not */
    uint32_t cell;                          /* found; PHX_NET_NO_CELL: not */
    uint32_t value_mask;                    /* cell found: sides that gave its value */
    uint64_t value[PHX_AGREEMENT_SIDES];
} PhxDescent;

/* For `players` player slots and a referee. The arena may be a measuring one. */
void phx_descent_init(PhxDescent *descent, uint32_t players, PhxArena *arena);
/* Begins: the first question is asked of all `sides`. */
void phx_descent_begin(PhxDescent *descent, uint32_t tick, uint16_t table, uint32_t sides);
/* Takes one piece of a side's answer. Pieces of an older round, and of sides that aren't asked, are passed
 * over. False: it breaks the rules (pieces out of order, or too many values). */
PHX_MUST_USE bool phx_descent_answer(PhxDescent *descent, uint32_t side, uint8_t round, uint32_t total,
                                     uint32_t at, const PhxU64s *values);
/* All sides of `there` that were asked have answered. */
bool phx_descent_complete(const PhxDescent *descent, uint32_t there);
/* Ends the round with what is there. Then `asking` is true and there is a new question for all sides, or it
 * is false and the walk has ended. */
void phx_descent_conclude(PhxDescent *descent);

#endif
