/* match.h: one process's side of a network match: its world, its recorders, and its player.
 *
 * phx host and phx join differ in whom they talk to; what a turn does to a world is the same for both and
 * stands here. Clocks, files and the network stay outside of the simulation: it gets the commands of a tick
 * and nothing else.
 */
#ifndef PHX_MATCH_H
#define PHX_MATCH_H

#include "bots/bots.h"
#include "bundle/evidence.h"
#include "content/scenario.h"
#include "phx/cli.h"
#include "picture/picture.h"

#include <phalanx/content.h>
#include <phalanx/net.h>
#include <phalanx/replay.h>

enum {
    PHX_MATCH_TURN_COMMANDS = (PHX_NET_PLAYERS_MAX + 1) * PHX_NET_TURN_COMMANDS_MAX,
    PHX_MATCH_TURN_BYTES = (PHX_NET_PLAYERS_MAX + 1) * PHX_NET_TURN_BYTES_MAX,
    PHX_MATCH_OUTBOX_BYTES = 1 << 18, /* commands that wait for room in a turn */
    PHX_MATCH_STILL_SECONDS = 2       /* nobody moved for this long: the match may end */
};

/* What a match is made of, and what it leaves behind. Zero or null: not wanted. */
typedef struct PhxMatchPlan {
    const char *title;   /* of the scenario */
    const void *content; /* the blob; borrowed as long as the match is open */
    size_t content_size;
    const char *letters; /* the map's, for the picture */
    PhxSettings settings;
    uint32_t threads;
    const char *replay, *png; /* files to write */
    bool trails;              /* record them (png needs it) */
    bool evidence;            /* keep what a desync must be proved with */
    uint32_t side;            /* which side of a desync this is: player slot, PHX_NET_PLAYERS_MAX the host as
                                 referee, PHX_NET_NO_SLOT none */
    const char *bundle;       /* file for the evidence; null: desync-<tick>-<side>.bundle */
} PhxMatchPlan;

/* A fault made on purpose, on this side alone. */
typedef struct PhxMatchDrill {
    bool wanted, changes_cell; /* changes_cell false: the caller executes a command that no one else has */
    uint32_t tick, table, column, row;
} PhxMatchDrill;

/* The world and its recorders. */
typedef struct PhxMatch {
    PhxCli *cli;
    PhxMatchPlan plan;
    PhxJobs jobs;
    PhxSim *sim;
    PhxContentInfo content;
    PhxCliPhases phases;
    PhxTrails *trails;
    PhxReplayFile *file;
    PhxReplayWriter *writer;
    PhxEvidence *evidence;
    PhxMatchDrill drill;
    PhxNetEvent desync; /* the first, with all that is known of it by now; type NONE: none */
    uint8_t *mending;   /* a state that is being received, mending_size bytes of room */
    size_t mending_size;
    char bundle[512];     /* where its evidence lies; "": nowhere */
    bool broken;          /* the replay couldn't be written any more: said once, exit code 2 at the end */
    uint8_t *has_arrived; /* by unit slot: it has reached a goal at least once */
    uint32_t wait_said;   /* ms of waiting for a player from which on it is said again */
    bool moved;           /* some unit has moved since tick 0 */
    uint32_t still_since; /* first tick since which no unit moves */
    uint64_t began;       /* ns, when the first tick was stepped; 0: none yet */
    uint64_t stepped_ns;  /* spent in steps */
} PhxMatch;

/* Creates world, threads and files. PHX_CLI_GO or an exit code, with all closed again. */
int phx_match_open(PhxMatch *match, PhxCli *cli, const PhxMatchPlan *plan);
/* One tick: records and steps. `commands` in any order. PHX_CLI_GO or an exit code. */
int phx_match_step(PhxMatch *match, const PhxCommand *commands, uint32_t count);
/* Ends the replay and draws the picture. PHX_CLI_GO or an exit code. */
int phx_match_finish(PhxMatch *match);
/* Frees everything; a match that wasn't opened is fine if zeroed. */
void phx_match_close(PhxMatch *match);
/* A remark in the replay, if there is one. */
void phx_match_note(PhxMatch *match, PhxReplayNoteKind kind, uint8_t slot, const char *text);

typedef struct PhxMatchCount {
    uint32_t units, arrived, idle;
} PhxMatchCount;
/* Units alive, of them those that have arrived at least once, and those without orders; of a player, or of
 * all (PHX_PLAYER_LIMIT). */
PhxMatchCount phx_match_count(const PhxMatch *match, uint32_t player);
/* All units are idle and have been for PHX_MATCH_STILL_SECONDS, and some have moved before. */
bool phx_match_still(const PhxMatch *match);
double phx_match_ms_per_tick(const PhxMatch *match);
/* Units, times and files, for a person and into the JSON object: ticks, root, units, arrived, threads, ms,
 * players. */
void phx_match_report(PhxMatch *match);

/* ---- The network's side. */

/* What the handshake compares: revision, schema, content, and of the settings the tick rate alone: match key,
 * ticks a turn and delay are the host's to choose and are told to the peers. */
PhxNetContract phx_match_contract(const PhxMatch *match);
/* Commands are checked by phx_command_check, leave commands encoded by phx_command_encode. Stateless. */
PhxNetGame phx_match_game(void);

/* A turn, copied out of the network's buffers, so that its ticks can be stepped while hashes and new commands
 * go in. */
typedef struct PhxMatchTurn {
    uint32_t first_tick, ticks, count;
    PhxCommand commands[PHX_MATCH_TURN_COMMANDS];
    uint32_t tick_of[PHX_MATCH_TURN_COMMANDS];
    uint8_t bytes[PHX_MATCH_TURN_BYTES];
} PhxMatchTurn;
/* False where it exceeds the limits above, which the network's own limits exclude. */
bool phx_match_turn_copy(PhxMatchTurn *out, const PhxTurn *turn);
/* The commands of a tick; they stand together. */
const PhxCommand *phx_match_turn_commands(const PhxMatchTurn *turn, uint32_t tick, uint32_t *count);

/* Gives a command to the network: phx_peer_submit, phx_host_submit_own or phx_host_submit. */
typedef PhxStatus (*PhxMatchSubmit)(void *user, uint32_t offset, const void *bytes, size_t size);

/* Commands that a player gave and that wait for room in a turn, in order. Moves of more units than fit a
 * datagram's command are split. */
typedef struct PhxMatchOutbox {
    uint8_t bytes[PHX_MATCH_OUTBOX_BYTES]; /* u16 size, bytes; again and again */
    size_t begin, end;
    uint64_t given, lost; /* commands; lost: the outbox was full, or the network refused them */
} PhxMatchOutbox;
/* A PhxBotEmit; `user` is the outbox. */
void phx_match_outbox_add(void *user, const uint8_t *bytes, uint32_t size);
/* Submits what fits at `offset`; the rest stays. */
void phx_match_outbox_flush(PhxMatchOutbox *outbox, PhxMatchSubmit submit, void *user, uint32_t offset);

/* A player's own thinking at one tick, before it is stepped: the scenario's orders for its slot, then its
 * bot's, into the outbox. `bot` may be null. Slot PHX_SLOT_HOST: the host's orders. */
void phx_match_think(const PhxMatch *match, const PhxScenario *scenario, const PhxBot *bot, uint8_t slot,
                     PhxMatchOutbox *outbox);

/* Notes for events that host and peers share: left, waiting, desync. A desync is kept in match->desync. */
void phx_match_event(PhxMatch *match, const PhxNetEvent *event);
/* Why a match ended, in words: the event's own text where it says more than its reason. */
const char *phx_match_why(const PhxNetEvent *event);
/* "player 1" with its name, "the host"; `text` gets it. */
const char *phx_match_slot_name(const PhxMatch *match, uint32_t slot, char text[40]);

/* ---- Desyncs. */

/* Begins to keep evidence, at tick 0. PHX_CLI_GO or an exit code. */
int phx_match_evidence_begin(PhxMatch *match);
/* After each step. Where memory ends, evidence is given up, which is said, and the match goes on. */
void phx_match_evidence_tick(PhxMatch *match, const PhxCommand *commands, uint32_t count);
/* Answers of this match about its hash tree, for the network; also before it is opened. */
PhxNetTree phx_match_tree(PhxMatch *match);
/* DESYNC, LOCATED, MENDED: says where and who, and writes the bundle. */
void phx_match_desync_event(PhxMatch *match, const PhxNetEvent *event);
/* The match has ended: what is known of a desync by now is all. */
void phx_match_desync_end(PhxMatch *match);
/* Sets root.desync and says it; PHX_EXIT_FALSE. */
int phx_match_say_desync(PhxMatch *match);
/* TICK or TICK:TABLE.COLUMN:ROW; null: no drill. The match is open. PHX_CLI_GO or a failure. */
int phx_match_drill_set(PhxMatch *match, const char *text);
/* Flips the lowest bit of the cell, in this world alone. */
void phx_match_drill_strike(PhxMatch *match);

/* Bytes and datagrams, for a person and as root.wire. `ticks`: how long the match was (a relay's own world
 * stands still); `milliseconds`: of the clock. */
void phx_match_report_wire(PhxMatch *match, const PhxNetStatistics *statistics, uint32_t ticks,
                           uint64_t milliseconds);

/* From now on SIGINT and SIGTERM only raise a flag; the second one ends the process as usual. */
void phx_match_catch_signals(void);
bool phx_match_interrupted(void);

/* When the next turn is due. Rate 0: always. A side that fell behind catches up, but not by more than a
 * second. */
typedef struct PhxMatchPace {
    uint64_t turn_ns; /* 0: as fast as turns come */
    uint64_t next;
} PhxMatchPace;
PhxMatchPace phx_match_pace(uint32_t tick_rate, uint32_t ticks_per_turn);
bool phx_match_due(const PhxMatchPace *pace, uint64_t now);
void phx_match_took(PhxMatchPace *pace, uint64_t now);
/* Milliseconds to sleep until the next turn is due, at most 20. */
uint32_t phx_match_sleep(const PhxMatchPace *pace, uint64_t now);

#endif
