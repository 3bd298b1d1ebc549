/* net.h: lockstep matches. A PhxHost orders the commands of all players into turns; a PhxPeer is one player's
 * side.
 *
 *   peer, each frame:
 *     phx_peer_update(peer, now);
 *     while (phx_peer_poll(peer, &event)) ...
 *     if (it is time for the next turn and phx_peer_next_turn(peer, &turn))
 *         for each tick of the turn: step(commands of the tick), phx_peer_report_hash(peer, tick, root,
 * tables, n); phx_peer_submit(peer, offset, bytes, size) whenever the player orders something.
 *
 * Star: peers talk to the host only. A turn is `ticks_per_turn` ticks. Taking turn T closes a side's input
 * for turn T + delay (the commands submitted since it took turn T - 1); the host seals a turn when every
 * active player's input for it is in, and sends it to all. Nobody executes a turn that isn't sealed, and a
 * sealed turn never changes, so every side executes the same commands on the same ticks. The first `delay`
 * turns have no players' commands.
 *
 * Waiting is bounded: a missing player is named in WAITING, and after drop_ms is dropped: the host puts the
 * game's leave command for it (config.leave_command) into its own slot, in the first turn that lacks the
 * player's input. Each stage (connecting, handshake, lobby, loading, input, end) has its own limit.
 *
 * Hashes: each side reports the root hash after each tick it completed; the host compares a tick when all
 * active players (and the referee) have reported it, so that no lagging or unconfirmed state raises an alarm.
 * On the first mismatch it fetches the tick's table hashes and tells all sides (DESYNC); then, where the game
 * can answer (PhxNetTree), it walks down the hash tree and tells all sides which value differs (LOCATED). The
 * match goes on; ending it is the game's choice.
 *
 * Time is microseconds from any origin, passed in, not going backwards. Same calls, times and datagrams give
 * the same turns, events and datagrams. All memory is allocated by create. Not thread-safe: one thread at a
 * time per object.
 */
#ifndef PHALANX_NET_H
#define PHALANX_NET_H

#include <phalanx/allocator.h>
#include <phalanx/net_limits.h>
#include <phalanx/net_transport.h>
#include <phalanx/net_turn.h>
#include <phalanx/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What must be equal on all sides before tick 0. The handshake names the first that differs, in this order,
 * after the protocol version. The game fills it from the simulation, its content and the match's settings. */
typedef struct PhxNetContract {
    uint32_t revision; /* simulation revision */
    uint64_t schema;   /* schema hash */
    uint64_t content;  /* content hash */
    uint64_t settings; /* match settings hash */
} PhxNetContract;

/* What the library asks of the game. Stateless: the answer depends on the arguments alone. `user` is passed
 * through. */
typedef struct PhxNetGame {
    void *user;
    /* Whether the bytes are a well-formed command for which `slot` may speak. Null: anything may. */
    bool (*command_valid)(void *user, uint8_t slot, const uint8_t *bytes, size_t size);
    /* Writes the command that makes player `slot` leave, at most `capacity` bytes; returns its size, 0 for
     * none. Null: none. Asked on the host only. */
    size_t (*leave_command)(void *user, uint8_t slot, PhxNetReason reason, uint8_t *out, size_t capacity);
} PhxNetGame;

/* Limits of waiting, in milliseconds; 0 takes the default in brackets. */
typedef struct PhxNetTimes {
    uint32_t connect_ms; /* [10000] peer: until the transport is up; host: until HELLO came; peer: until the
                            answer */
    uint32_t lobby_ms;   /* [600000] host: until all expected players joined; else the match ends */
    uint32_t load_ms;    /* [120000] until everybody is ready; who isn't is dropped (leaves in turn 0) */
    uint32_t notice_ms;  /* [500] a missing player is named after this long, and again each time it passes */
    uint32_t drop_ms;    /* [30000] a player whose input is missing this long is dropped */
    uint32_t silence_ms; /* [10000] a link on which nothing came in for this long is lost */
    uint32_t end_ms; /* [10000] after the final turn: until all hashes are in, then until all was received */
} PhxNetTimes;

typedef struct PhxHostConfig {
    PhxNetContract contract;
    PhxNetGame game;
    PhxNetTree tree; /* of the referee's states; all-null where there is none */
    PhxNetTimes times;
    uint32_t players;        /* player slots, 1..PHX_NET_PLAYERS_MAX; the match starts when all are taken */
    uint32_t ticks_per_turn; /* 1..PHX_NET_TICKS_PER_TURN_MAX */
    uint32_t delay;          /* turns of input delay, 1..PHX_NET_DELAY_MAX */
    uint32_t tick_rate;      /* Hz, told to the peers for their pacing; not used here */
    uint64_t match_key;      /* told to the peers (seed of the match's random numbers); not used here */
    bool mend; /* sides that differ from a majority with the referee in it are sent the referee's state, once
                  a match; comparing then goes on, and the ticks between count as not agreed */
    bool referee;     /* the host executes turns too, and reports hashes */
    uint8_t own_slot; /* the player slot that the host plays itself (needs referee); PHX_NET_NO_SLOT: none */
    uint32_t
        final_ticks; /* the match ends after this many ticks; 0: only by phx_host_end or when all have left */
} PhxHostConfig;

typedef struct PhxPeerConfig {
    PhxNetContract contract;
    PhxNetGame game; /* leave_command isn't used */
    PhxNetTree tree;
    PhxNetTimes times;
    uint8_t wanted_slot;             /* a free slot's number, or PHX_NET_NO_SLOT: the lowest free one */
    bool manual_ready;               /* phx_peer_ready says that the world is loaded; false: said at once */
    char name[PHX_NET_NAME_MAX + 1]; /* zero-terminated */
} PhxPeerConfig;

/* Defaults: contract zero, 2 players, 1 tick a turn, delay 2, 20 Hz, relay only. */
PhxHostConfig phx_host_config_default(void);
/* Defaults: contract zero, any slot, empty name, ready at once. */
PhxPeerConfig phx_peer_config_default(void);

typedef enum PhxNetStage {
    PHX_NET_STAGE_CONNECTING, /* peer: the transport isn't up, or HELLO wasn't answered */
    PHX_NET_STAGE_LOBBY,
    PHX_NET_STAGE_LOADING,
    PHX_NET_STAGE_RUNNING,
    PHX_NET_STAGE_ENDING, /* the final turn is sealed; last hashes and byes */
    PHX_NET_STAGE_ENDED,  /* nothing is sent or received any more; turns that are there can still be taken */
    PHX_NET_STAGE_COUNT
} PhxNetStage;
const char *phx_net_stage_name(PhxNetStage stage);

typedef struct PhxNetStatistics {
    uint64_t packets_in, packets_out, bytes_in, bytes_out; /* datagrams handed to and by the transport */
    uint64_t packets_bad;                                  /* datagrams dropped: checksum, format */
    uint64_t resent_bytes;                                 /* stream bytes sent more than once */
    uint64_t commands_refused;
    uint64_t events_dropped;
    uint32_t round_trip_us; /* smoothed; host: the largest of its links; 0: not yet measured */
} PhxNetStatistics;

typedef struct PhxHost PhxHost;
typedef struct PhxPeer PhxPeer;

/* Creates a host over a transport, which stays the caller's and must outlive the host.
 * Errors: PHX_ERROR_ARGUMENT (`error`, may be null, says which field), PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_host_create(const PhxHostConfig *config, PhxTransport transport,
                                       PhxAllocator allocator, PhxHost **out, PhxError *error);
void phx_host_destroy(PhxHost *host); /* null is allowed; tells nobody: end the match first */

/* Takes in what came, seals turns, sends. Call often (each frame, or when datagrams come). */
void phx_host_update(PhxHost *host, uint64_t now);
/* The oldest event, or false. */
bool phx_host_poll(PhxHost *host, PhxNetEvent *out);
PhxNetStage phx_host_stage(const PhxHost *host);
/* Players in the match or in the lobby, as a mask. */
uint32_t phx_host_players(const PhxHost *host);
/* The name that a player gave; "" where there is none. */
const char *phx_host_player_name(const PhxHost *host, uint8_t slot);

/* The host's own slot (pause, speed, a leave): executed in the next turn that is sealed, at its tick `offset`
 * (0..ticks_per_turn-1). Errors: PHX_ERROR_ARGUMENT (offset, size), PHX_ERROR_FULL (limits per turn),
 * PHX_ERROR_FORMAT (the game calls it malformed), PHX_ERROR_STATE (not running). `sequence` (may be null)
 * gets the command's number. */
PHX_MUST_USE PhxStatus phx_host_submit(PhxHost *host, uint32_t offset, const void *bytes, size_t size,
                                       uint32_t *sequence);
/* As a player (own_slot): like phx_peer_submit. */
PHX_MUST_USE PhxStatus phx_host_submit_own(PhxHost *host, uint32_t offset, const void *bytes, size_t size,
                                           uint32_t *sequence);
/* Referee only: the next sealed turn, or false. The host doesn't seal far ahead of a referee that takes none.
 */
bool phx_host_next_turn(PhxHost *host, PhxTurn *out);
/* Referee only: see phx_peer_report_hash. */
PHX_MUST_USE PhxStatus phx_host_report_hash(PhxHost *host, uint32_t tick, uint64_t root,
                                            const uint64_t *tables, uint32_t count);
/* Drops a player: its leave command comes in the first turn that lacks its input. Errors:
 * PHX_ERROR_NOT_FOUND. */
PHX_MUST_USE PhxStatus phx_host_drop(PhxHost *host, uint8_t slot, PhxNetReason reason);
/* Ends the match in good order after `ticks` ticks in all, or after the next turn where that is later. Before
 * the match runs, it ends at once. Then update until the stage is ENDED. */
void phx_host_end(PhxHost *host, uint32_t ticks);
/* Number of ticks that all sides agreed on, and the root after the last of them (`root` may be null). After
 * MENDED it counts on from the tick named there. */
uint32_t phx_host_agreed(const PhxHost *host, uint64_t *root);
void phx_host_statistics(const PhxHost *host, PhxNetStatistics *out);

/* Creates a peer and joins. Same rules as phx_host_create. */
PHX_MUST_USE PhxStatus phx_peer_create(const PhxPeerConfig *config, PhxTransport transport,
                                       PhxAllocator allocator, PhxPeer **out, PhxError *error);
void phx_peer_destroy(PhxPeer *peer); /* null is allowed; tells nobody: leave first */
void phx_peer_update(PhxPeer *peer, uint64_t now);
bool phx_peer_poll(PhxPeer *peer, PhxNetEvent *out);
PhxNetStage phx_peer_stage(const PhxPeer *peer);

/* What the host said in its welcome; zero before the lobby. */
typedef struct PhxMatchInfo {
    uint8_t slot; /* one's own */
    uint32_t players, ticks_per_turn, delay, tick_rate;
    uint64_t match_key;
} PhxMatchInfo;
PhxMatchInfo phx_peer_match(const PhxPeer *peer);

/* The world is loaded (config.manual_ready). */
void phx_peer_ready(PhxPeer *peer);
/* Submits a command for tick `offset` (0..ticks_per_turn-1) of the turn that is closed when the next turn is
 * taken. It is executed when it comes back in a turn, never before, by its sender too. Errors:
 * PHX_ERROR_ARGUMENT (offset, size), PHX_ERROR_FORMAT (the game calls it malformed), PHX_ERROR_FULL (limits
 * per turn: try again after the next turn), PHX_ERROR_STATE (not running). `sequence` (may be null) gets the
 * number that it will carry. */
PHX_MUST_USE PhxStatus phx_peer_submit(PhxPeer *peer, uint32_t offset, const void *bytes, size_t size,
                                       uint32_t *sequence);
/* The next turn, or false while it isn't there. Taking it says that the one before was executed. */
bool phx_peer_next_turn(PhxPeer *peer, PhxTurn *out);
/* Sealed turns that are waiting to be taken: more than a few mean that this side lags and should run faster.
 */
uint32_t phx_peer_turns_waiting(const PhxPeer *peer);
/* The root after a tick, ticks ascending by one from 0; `tables` (copied) are its `count` (<=
 * PHX_NET_TABLES_MAX) table hashes, kept for PHX_NET_HASH_HISTORY ticks. Errors: PHX_ERROR_ARGUMENT (tick out
 * of order, count). */
PHX_MUST_USE PhxStatus phx_peer_report_hash(PhxPeer *peer, uint32_t tick, uint64_t root,
                                            const uint64_t *tables, uint32_t count);
/* Leaves in good order: update until the stage is ENDED (the host's bye, or its limit). */
void phx_peer_leave(PhxPeer *peer);
/* As last told by the host; see phx_host_agreed. */
uint32_t phx_peer_agreed(const PhxPeer *peer, uint64_t *root);
void phx_peer_statistics(const PhxPeer *peer, PhxNetStatistics *out);

#ifdef __cplusplus
}
#endif
#endif
