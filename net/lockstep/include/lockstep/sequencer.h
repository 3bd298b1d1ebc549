/* sequencer.h: the host's half of lockstep: everybody's input for a turn in, one sealed turn out.
 *
 * In: each player's INPUT messages (one for each turn, in order), the host's own commands, who left, the
 * time. Out: TURN messages, canonical: (tick offset, slot, sequence), the host's slot last; which players are
 * waited for and for how long; who is gone since which turn. A turn is sealed when each player has its input
 * in or has left; the first `delay` turns need none. A player who left is still heard in the turns for which
 * its input is in; the first turn without it carries the leave command. Cost: sealing is O(n log n) in the
 * commands of the turn. Memory: what init took from the arena. Determinism: a pure state machine; sorted by a
 * total order, since sequences are unique within a slot.
 */
#ifndef PHX_LOCKSTEP_SEQUENCER_H
#define PHX_LOCKSTEP_SEQUENCER_H

#include "base/arena.h"
#include "lockstep/queue.h"
#include "wire/message.h"

typedef bool (*PhxCommandValidFn)(void *user, uint8_t slot, const uint8_t *bytes, size_t size);
typedef size_t (*PhxLeaveCommandFn)(void *user, uint8_t slot, PhxNetReason reason, uint8_t *out,
                                    size_t capacity);

typedef struct PhxSequencerConfig {
    uint32_t players, ticks_per_turn, delay;
    uint32_t final_ticks;            /* 0: open end */
    PhxCommandValidFn command_valid; /* may be null */
    PhxLeaveCommandFn leave_command; /* may be null */
    void *user;
} PhxSequencerConfig;

typedef enum PhxSequencerPlayer {
    PHX_SEQUENCER_ABSENT, /* not in the match */
    PHX_SEQUENCER_ACTIVE,
    PHX_SEQUENCER_LEAVING, /* nothing more comes from it */
    PHX_SEQUENCER_GONE     /* its leave command is sealed */
} PhxSequencerPlayer;

typedef struct PhxSequencerSlot {
    PhxSequencerPlayer state;
    PhxNetReason reason;
    PhxQueue inputs;    /* records: u32 turn, u32 count, commands */
    uint32_t next_turn; /* turn of the next INPUT */
    uint32_t next_sequence;
    uint32_t refused;   /* malformed commands */
    uint32_t left_turn; /* GONE: the turn with the leave command */
} PhxSequencerSlot;

typedef struct PhxSequencer {
    PhxSequencerConfig config;
    PhxSequencerSlot *slots; /* config.players */
    uint32_t next_turn;      /* the turn to be sealed next */
    uint32_t final_turns;    /* turns in all; UINT32_MAX: open end */
    uint64_t blocked_since;  /* when next_turn became the next */
    uint8_t *host_commands;  /* the host's own for next_turn, encoded */
    uint32_t host_size, host_count, host_sequence;
    PhxNetCommand *sorted; /* PHX_WIRE_COMMANDS_MAX */
    uint8_t *scratch;      /* PHX_WIRE_MESSAGE_MAX: a filtered input, the sorted commands */
    uint8_t *leave_bytes;  /* leave commands while a turn is sealed */
} PhxSequencer;

/* Takes its memory from the arena, which may be a measuring one. */
void phx_sequencer_init(PhxSequencer *sequencer, const PhxSequencerConfig *config, PhxArena *arena);
/* The match begins, with the players of `mask`. */
void phx_sequencer_start(PhxSequencer *sequencer, uint32_t mask, uint64_t now);
/* Takes an INPUT in. Malformed commands are left out and counted in `refused`. Errors: PHX_ERROR_STATE (the
 * slot isn't active; nothing happened), PHX_ERROR_FORMAT (turn, slot, sequence or offset out of order),
 * PHX_ERROR_LIMIT (above the limits of a turn), PHX_ERROR_FULL (further ahead than the delay allows). */
PHX_MUST_USE PhxStatus phx_sequencer_input(PhxSequencer *sequencer, uint8_t slot, uint32_t turn,
                                           const PhxCommands *commands);
/* A command of the host's own slot, for the next turn. Errors: PHX_ERROR_ARGUMENT, PHX_ERROR_FULL,
 * PHX_ERROR_FORMAT. */
PHX_MUST_USE PhxStatus phx_sequencer_submit(PhxSequencer *sequencer, uint32_t offset, const uint8_t *bytes,
                                            size_t size, uint32_t *sequence);
/* An active player leaves or is dropped. False: it wasn't active. */
bool phx_sequencer_leave(PhxSequencer *sequencer, uint8_t slot, PhxNetReason reason);
/* How many turns it takes in all until every leaving player's leave command is sealed. */
uint32_t phx_sequencer_last_leave(const PhxSequencer *sequencer);
/* Ends the match after `ticks` ticks or after what is sealed, whichever is later; returns how many. */
uint32_t phx_sequencer_end(PhxSequencer *sequencer, uint32_t ticks);
/* All turns are sealed. */
bool phx_sequencer_finished(const PhxSequencer *sequencer);
/* Players whose input for the next turn is missing, as a mask. */
uint32_t phx_sequencer_missing(const PhxSequencer *sequencer);
/* Active players. */
uint32_t phx_sequencer_active(const PhxSequencer *sequencer);
/* Seals the next turn if nobody is missing: writes the TURN message (at most PHX_WIRE_MESSAGE_MAX bytes) and
 * returns true. `gone` gets the mask of players whose leave command is in it. */
bool phx_sequencer_seal(PhxSequencer *sequencer, uint64_t now, PhxWriter *message, uint32_t *gone);

#endif
