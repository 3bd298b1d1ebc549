/* net_turn.h: what the lockstep library hands to a game: turns of commands, and events.
 *
 * To this library a command is opaque bytes and a hash is 64 bits; it knows nothing of the simulation.
 */
#ifndef PHALANX_NET_TURN_H
#define PHALANX_NET_TURN_H

#include <phalanx/net_limits.h>
#include <phalanx/net_tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One command, as every side executes it. */
typedef struct PhxNetCommand {
    uint32_t tick;        /* the tick at whose beginning it is executed */
    uint32_t sequence;    /* rises within a slot; the order within (tick, slot) */
    const uint8_t *bytes; /* as submitted; valid until the next turn is taken */
    uint16_t size;        /* 1..PHX_NET_COMMAND_MAX */
    uint8_t slot;         /* player, or PHX_NET_HOST_SLOT */
} PhxNetCommand;

/* A turn whose commands are final and equal on all sides: step the ticks first_tick .. first_tick + ticks
 * - 1. */
typedef struct PhxTurn {
    uint32_t turn;
    uint32_t first_tick;
    uint32_t ticks; /* ticks per turn; fewer in the last turn of a match */
    const PhxNetCommand
        *commands; /* canonical order: (tick, slot, sequence); valid until the next turn is taken */
    uint32_t count;
} PhxTurn;

/* The commands of one tick of a turn: their number, and through `first` where they begin in turn->commands.
 */
uint32_t phx_turn_commands(const PhxTurn *turn, uint32_t tick, const PhxNetCommand **first);

/* Why a player or a match went. */
typedef enum PhxNetReason {
    PHX_NET_REASON_NONE,
    PHX_NET_REASON_LEFT,     /* the player chose to */
    PHX_NET_REASON_LOST,     /* the connection went or was silent for too long */
    PHX_NET_REASON_TIMEOUT,  /* a stage's limit passed: input, loading, lobby */
    PHX_NET_REASON_FAULT,    /* bytes that break the protocol, or a send queue that overflowed */
    PHX_NET_REASON_REFUSED,  /* the handshake; the event's text names what differs */
    PHX_NET_REASON_FINISHED, /* the match's final tick was executed by all */
    PHX_NET_REASON_DESYNC,   /* the match ended while states differed */
    PHX_NET_REASON_COUNT
} PhxNetReason;
const char *phx_net_reason_text(PhxNetReason reason);

typedef enum PhxNetEventType {
    PHX_NET_EVENT_NONE,
    PHX_NET_EVENT_JOINED,  /* slot, text = name: a player came into the lobby (peer: also oneself) */
    PHX_NET_EVENT_REFUSED, /* status, text: host: somebody was refused; peer: oneself, and the peer has ended
                            */
    PHX_NET_EVENT_LOADING, /* the lobby is full: prepare the world, then say ready */
    PHX_NET_EVENT_STARTED, /* mask = players of the match */
    PHX_NET_EVENT_WAITING, /* mask = players whose input (or readiness) is missing; turn, elapsed_ms, limit_ms
                            */
    PHX_NET_EVENT_RESUMED, /* nobody is waited for any more */
    PHX_NET_EVENT_LEFT,    /* slot, reason: will be executed as the leave command in `turn` */
    PHX_NET_EVENT_BAD_INPUT, /* host: slot: a command that the game calls malformed was refused; value = how
                                many so far */
    PHX_NET_EVENT_DESYNC,    /* tick, table, mask, root[], value_mask, values[]: see below */
    PHX_NET_EVENT_LOCATED,   /* after DESYNC: the walk down the hash tree has ended. All that DESYNC gave, and
                                column, cell; values[] are then the cell's */
    PHX_NET_EVENT_MENDED,    /* mask = sides that went over to the majority's state; hashes are compared again
                                from `tick` on */
    PHX_NET_EVENT_ENDED, /* reason, text; tick = ticks of the match, agreed_tick, agreed_root: nothing follows
                          */
    PHX_NET_EVENT_COUNT
} PhxNetEventType;
const char *phx_net_event_name(PhxNetEventType type);

enum { PHX_NET_NO_TABLE = 0xffff };

typedef struct PhxNetEvent {
    PhxNetEventType type;
    PhxNetReason reason;
    uint8_t slot;
    uint16_t table;  /* desync: lowest table that differs; PHX_NET_NO_TABLE: roots differ and no table does */
    uint16_t column; /* located: lowest column that differs; PHX_NET_NO_COLUMN: not found out */
    uint32_t cell;   /* located: lowest cell of it that differs; PHX_NET_NO_CELL: not found out */
    uint32_t turn, tick; /* desync: the first tick whose roots differ, i.e. state after that tick */
    uint32_t mask;       /* bit i = player i; bit 31 = the host as referee */
    uint32_t elapsed_ms, limit_ms;
    int32_t status; /* a PhxStatus */
    uint64_t value;
    uint32_t agreed_ticks; /* ticks 0 .. agreed_ticks - 1 had equal roots on all sides */
    uint64_t agreed_root;  /* root after tick agreed_ticks - 1; 0 where agreed_ticks is 0 */
    /* Desync: what each side had after `tick`; index PHX_NET_PLAYERS_MAX is the referee. Only entries whose
     * bit is in `mask` count. values[] are hashes of `table`, or the cell's values where a cell is named;
     * sides in `mask` but not in `value_mask` could not say. */
    uint32_t value_mask;
    uint64_t root[PHX_NET_PLAYERS_MAX + 1];
    uint64_t values[PHX_NET_PLAYERS_MAX + 1];
    char text[PHX_NET_TEXT_MAX + 1]; /* one line for a person; may be empty */
} PhxNetEvent;

#define PHX_NET_REFEREE_BIT (UINT32_C(1) << 31)

/* The sides of a desync (DESYNC or LOCATED) that are of one mind and more than half of all in `mask`, the
 * referee counted in; 0 where no root has a majority. Those outside of a majority have diverged. Without one
 * nobody is to blame: which side is right is decided by computing the match from its commands. */
uint32_t phx_net_majority(const PhxNetEvent *desync);

#ifdef __cplusplus
}
#endif
#endif
