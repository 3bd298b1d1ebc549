/* follower.h: one executing side's half of lockstep: a peer's, or the host's own as a referee or player.
 *
 * In: TURN messages in order, the local player's commands, root and table hashes of executed ticks.
 * Out: turns to execute, the INPUT message that taking a turn closes, HASHES messages.
 * Cost: O(bytes) a turn. Memory: what init took from the arena.
 * Determinism: a pure state machine. A local command is executed only in the form that comes back in a turn.
 */
#ifndef PHX_LOCKSTEP_FOLLOWER_H
#define PHX_LOCKSTEP_FOLLOWER_H

#include "base/arena.h"
#include "lockstep/queue.h"
#include "lockstep/sequencer.h"
#include "wire/message.h"

enum {
    /* Bytes of sealed turns that wait to be taken: the longest two, or very many usual ones. */
    PHX_FOLLOWER_TURNS_BYTES = 2 * (PHX_WIRE_MESSAGE_MAX + PHX_QUEUE_RECORD_HEAD),
};

typedef struct PhxFollower {
    uint32_t ticks_per_turn, delay, final_ticks; /* final_ticks UINT32_MAX: open end */
    uint8_t slot;                                /* PHX_NET_NO_SLOT: never submits */
    PhxQueue turns;                              /* TURN messages, whole */
    uint32_t next_in, next_out;                  /* turn that comes next; turn to take next */
    uint8_t *current;                            /* the turn that was taken: what the view points into */
    PhxNetCommand *view;

    uint8_t *input; /* commands for the next INPUT, encoded */
    uint32_t input_size, input_count, input_bytes, next_sequence;

    uint64_t *roots;  /* ring of PHX_NET_HASH_HISTORY */
    uint64_t *tables; /* ring, PHX_NET_TABLES_MAX little-endian values a tick */
    uint8_t *table_counts;
    uint32_t hashed, sent; /* ticks whose hashes were reported here; and went into a HASHES message */
} PhxFollower;

/* Takes its memory from the arena (which may be a measuring one); begin sets the match. */
void phx_follower_init(PhxFollower *follower, PhxArena *arena);
void phx_follower_begin(PhxFollower *follower, uint8_t slot, uint32_t ticks_per_turn, uint32_t delay);
/* Queues a command. Errors: PHX_ERROR_ARGUMENT, PHX_ERROR_FORMAT (the game calls it malformed),
 * PHX_ERROR_FULL. */
PHX_MUST_USE PhxStatus phx_follower_submit(PhxFollower *follower, PhxCommandValidFn valid, void *user,
                                           uint32_t offset, const void *bytes, size_t size,
                                           uint32_t *sequence);
/* Takes a TURN message in (whole, as decoded into `turn`). Errors: PHX_ERROR_FORMAT (not the next turn, or an
 * order that isn't canonical). The caller has seen phx_follower_full false. */
PHX_MUST_USE PhxStatus phx_follower_turn(PhxFollower *follower, const uint8_t *message, size_t size,
                                         const PhxMessage *turn);
/* No room for a further turn of the greatest size: leave it where it is. */
bool phx_follower_full(const PhxFollower *follower);
/* Takes the next turn. `input` gets the INPUT message (at most 16 + PHX_WIRE_INPUT_MAX bytes; nothing for a
 * side without a slot). False: no turn is there. */
bool phx_follower_next_turn(PhxFollower *follower, PhxTurn *out, PhxWriter *input);
/* Errors: PHX_ERROR_ARGUMENT (not the next tick, or above PHX_NET_TABLES_MAX). */
PHX_MUST_USE PhxStatus phx_follower_report(PhxFollower *follower, uint32_t tick, uint64_t root,
                                           const uint64_t *tables, uint32_t count);
/* Writes a HASHES message of the next roots that weren't sent; false: none. */
bool phx_follower_hashes(PhxFollower *follower, PhxWriter *message);
/* The table hashes of a tick, if they are still kept; else a count of 0. */
PhxU64s phx_follower_tables(const PhxFollower *follower, uint32_t tick);

#endif
