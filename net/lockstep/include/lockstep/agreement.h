/* agreement.h: the host's comparison of all sides' root hashes, tick by tick.
 *
 * In: roots after ticks, from each side in order; who no longer counts. Out: how far all agree; the first
 * tick at which they don't; then, from the sides' table hashes of that tick, which table differs. A tick is
 * judged when every side that counts has reported it: only executed ticks are reported, and a side that lags
 * delays the judgement and raises no alarm. Judging goes in order, so that the mismatch found is the first.
 * Cost: O(sides) a tick. Memory: what init took from the arena.
 * Determinism: a pure state machine.
 */
#ifndef PHX_LOCKSTEP_AGREEMENT_H
#define PHX_LOCKSTEP_AGREEMENT_H

#include "base/arena.h"
#include "wire/message.h"

enum {
    PHX_AGREEMENT_REFEREE = PHX_NET_PLAYERS_MAX, /* the referee's index; its bit in masks is bit 31 */
    PHX_AGREEMENT_SIDES = PHX_NET_PLAYERS_MAX + 1,
};

typedef enum PhxAgreementState {
    PHX_AGREEMENT_EQUAL,    /* so far */
    PHX_AGREEMENT_ASKING,   /* roots differ; table hashes are being fetched */
    PHX_AGREEMENT_REPORTED, /* the report was given */
} PhxAgreementState;

typedef struct PhxAgreement {
    PhxAgreementState state;
    uint32_t sides;                     /* bit i: side i counts (bit 16: referee) */
    uint32_t next[PHX_AGREEMENT_SIDES]; /* the tick that a side reports next */
    uint64_t *roots; /* ring of PHX_NET_HASH_HISTORY ticks, a row of PHX_AGREEMENT_SIDES each */
    uint32_t agreed; /* ticks 0 .. agreed - 1 are equal */
    uint64_t agreed_root;
    uint32_t tick;     /* ASKING: the tick that differs */
    uint32_t asked;    /* sides that had a root at that tick */
    uint32_t answered; /* sides that gave table hashes, or said that they have none */
    uint8_t *tables;   /* a row of 8 * PHX_NET_TABLES_MAX bytes a side */
    uint8_t table_counts[PHX_AGREEMENT_SIDES];
} PhxAgreement;

typedef struct PhxDesync {
    uint32_t tick;
    uint16_t table;            /* the lowest that differs, or PHX_NET_NO_TABLE */
    uint32_t mask, table_mask; /* bit i: side i (bit 16: referee) */
    uint64_t root[PHX_AGREEMENT_SIDES], table_hash[PHX_AGREEMENT_SIDES];
} PhxDesync;

void phx_agreement_init(PhxAgreement *agreement, PhxArena *arena);
void phx_agreement_start(PhxAgreement *agreement, uint32_t sides);
/* Roots of consecutive ticks. Errors: PHX_ERROR_FORMAT (not the side's next tick), PHX_ERROR_FULL (some other
 * side lags PHX_NET_HASH_HISTORY ticks behind: phx_agreement_laggards says which; nothing was taken). */
PHX_MUST_USE PhxStatus phx_agreement_report(PhxAgreement *agreement, uint32_t side, uint32_t tick,
                                            uint64_t root);
/* Sides that are at the very tick that everything waits for. */
uint32_t phx_agreement_laggards(const PhxAgreement *agreement);
/* A side that left no longer counts, from the tick that is judged next. */
void phx_agreement_remove(PhxAgreement *agreement, uint32_t side);
/* Judges what can be judged. True: the state became ASKING now. */
bool phx_agreement_advance(PhxAgreement *agreement);
/* A side's table hashes of the tick in question; count 0: it has none any more. */
void phx_agreement_tables(PhxAgreement *agreement, uint32_t side, uint32_t tick, const PhxU64s *hashes);
/* All that still count have answered. */
bool phx_agreement_complete(const PhxAgreement *agreement);
/* Ends the asking with what is there, and fills the report. */
void phx_agreement_conclude(PhxAgreement *agreement, PhxDesync *out);
/* REPORTED, and all sides are equal again from `tick` on, which none of them has reported yet: judging goes
 * on there. */
void phx_agreement_resume(PhxAgreement *agreement, uint32_t tick);
/* The tick after the last that any side has reported. */
uint32_t phx_agreement_reported(const PhxAgreement *agreement);
/* Every side that counts has reported ticks 0 .. ticks - 1. */
bool phx_agreement_all_reported(const PhxAgreement *agreement, uint32_t ticks);

#endif
