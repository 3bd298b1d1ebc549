/* sim.h: a match as a pure function of settings, content and commands.
 *
 * Life of a world: create from a content blob; step with commands; look at it through const queries;
 * snapshot, restore and clone as often as you like; destroy. All calls are plain functions of their
 * arguments: no global, no clock, no input or output. Different PhxSim objects may be used on different
 * threads; one object by one thread at a time.
 */
#ifndef PHALANX_SIM_H
#define PHALANX_SIM_H

#include <phalanx/allocator.h>
#include <phalanx/command.h>
#include <phalanx/fixed.h>
#include <phalanx/handle.h>
#include <phalanx/jobs.h>
#include <phalanx/nav.h>
#include <phalanx/schema.h>
#include <phalanx/status.h>
#include <phalanx/trig.h>
#include <phalanx/vec2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change of a golden: replays of another revision cannot be verified by this one. */
#define PHX_SIM_REVISION 4u
/* Version of this interface: major, minor. */
#define PHX_API_VERSION_MAJOR 0
#define PHX_API_VERSION_MINOR 1

typedef struct PhxSim PhxSim;

/* Settings of a match: what may differ between two matches on the same content. */
typedef struct PhxSettings {
    uint64_t match_key;      /* seed of every random draw */
    uint16_t tick_rate;      /* ticks a second, 1 .. 1000 */
    uint16_t ticks_per_turn; /* of lockstep; 1 .. 16; does not change the simulation */
    uint16_t
        input_delay; /* turns from giving a command to its turn, 1 .. 64; does not change the simulation */
} PhxSettings;

enum { PHX_SETTINGS_BYTES = 14 };
/* Canonical bytes of settings, little-endian in declared order. */
void phx_settings_encode(const PhxSettings *settings, uint8_t bytes[PHX_SETTINGS_BYTES]);
/* Errors: PHX_ERROR_RANGE, naming the field. */
PHX_MUST_USE PhxStatus phx_settings_decode(const uint8_t bytes[PHX_SETTINGS_BYTES], PhxSettings *out,
                                           PhxError *error);

/* What happened in a tick: a result, not state. */
typedef enum PhxEventKind {
    PHX_EVENT_ARRIVED,     /* the unit reached the goal of its order */
    PHX_EVENT_BLOCKED,     /* the unit has made no progress for two seconds; it keeps trying */
    PHX_EVENT_UNREACHABLE, /* the order's goal can't be reached: the unit goes as near as it can */
    PHX_EVENT_LEFT,        /* player `player` left the match */
    PHX_EVENT_GAVE_UP,     /* the unit found no way on for long, and stands */
    PHX_EVENT_TARGET_LOST, /* the unit that it chased is no more */
    PHX_EVENT_BUILT,       /* `building` was placed by `player` */
    PHX_EVENT_RAZED,       /* `building`, which was `player`'s, is gone */
    PHX_EVENT_GATE,        /* the gate `building` lets other teams through than before */
    PHX_EVENT_REFUSED,     /* a building of `player`'s wasn't placed, or nothing changed: see `reason` */
    PHX_EVENT_KIND_COUNT
} PhxEventKind;

typedef struct PhxEvent {
    PhxEventKind kind;
    uint8_t player;
    PhxHandle unit;     /* PHX_HANDLE_NONE where the event isn't about a unit */
    fix16_t x, y;       /* the unit's position; the middle of the building or of the ground */
    PhxHandle building; /* of BUILT, RAZED and GATE; as the command named it, of REFUSED; else none */
    uint8_t reason;     /* of REFUSED: a PhxPlacementReason (building.h) */
} PhxEvent;

const char *phx_event_name(PhxEventKind kind);

/* What a phase of the tick sees. `sim` serves queries; a phase changes columns that it declares, and no
 * others. */
typedef struct PhxPhaseContext {
    PhxSim *sim;
    PhxWorld *world;
    const PhxJobs *jobs;
    uint32_t tick; /* the tick being computed: match.tick before it is raised */
} PhxPhaseContext;

/* `reads` and `writes`: columns as "table.column", separated by spaces. `after`: the phase it follows. */
typedef struct PhxPhaseDesc {
    const char *name;
    void (*run)(const PhxPhaseContext *context, void *user);
    const char *reads, *writes;
    const char *after;
} PhxPhaseDesc;

/* A game's own command: `check` is stateless; `execute` runs in the phase "commands" and gets only what
 * passed. */
typedef struct PhxGameCommand {
    uint8_t type; /* PHX_COMMAND_GAME_FIRST .. 255, the command's first byte */
    const char *name;
    PhxStatus (*check)(const uint8_t *bytes, size_t size, uint8_t slot);
    void (*execute)(const PhxPhaseContext *context, const uint8_t *bytes, size_t size, uint8_t slot,
                    void *user);
} PhxGameCommand;

/* What a game adds. The arrays and names must outlive the sim; `user` is handed to phases and commands. */
typedef struct PhxGame {
    const PhxTableSpec *tables;
    uint32_t table_count;
    const PhxPhaseDesc *phases;
    uint32_t phase_count;
    const PhxGameCommand *commands;
    uint32_t command_count;
    void *user;
} PhxGame;

/* About what a tile of a flow field (64 x 64 cells) takes, with its part of routes and tables. */
#define PHX_FIELD_TILE_BYTES ((size_t)32 << 10)

/* A zeroed config is a good one: C library's allocator, no threads, no game, default cache. */
typedef struct PhxSimConfig {
    PhxAllocator allocator;   /* all-null: the default */
    PhxJobs jobs;             /* all-null: serial. Must outlive the sim. */
    const PhxGame *game;      /* null: none. Must outlive the sim. */
    size_t field_cache_bytes; /* what flow fields that are kept may take, but at least one tile of one is;
                                 0: 64 MiB, less on small maps. Changes speed and memory, never a result. */
} PhxSimConfig;

/* Creates the world of tick 0. `settings` null: those inside the blob. `error` may be null.
 * Errors: PHX_ERROR_FORMAT, _TRUNCATED, _RANGE, _VERSION, _LIMIT, _MISMATCH (schema) for the blob, with text
 * and offset; PHX_ERROR_ARGUMENT for config or game; PHX_ERROR_MEMORY. On failure *out is null. */
PHX_MUST_USE PhxStatus phx_sim_create(const PhxSimConfig *config, const void *content, size_t content_size,
                                      const PhxSettings *settings, PhxSim **out, PhxError *error);
void phx_sim_destroy(PhxSim *sim); /* null is fine */

/* A command of one tick. `bytes` is read during the call only. */
typedef struct PhxCommand {
    uint8_t slot;      /* player slot, or PHX_SLOT_HOST */
    uint32_t sequence; /* rises within a slot */
    uint32_t size;     /* bytes */
    const uint8_t *bytes;
} PhxCommand;

enum { PHX_TICK_COMMAND_LIMIT = 4096 };

/* Computes one tick. Commands are executed in the order (slot, sequence), whatever order they come in; the
 * host's slot is last. Two commands with equal (slot, sequence): PHX_ERROR_ARGUMENT and no tick. More than
 * PHX_TICK_COMMAND_LIMIT, or 2^32 - 1 ticks done: PHX_ERROR_LIMIT and no tick. A malformed or late command is
 * a counted no-op. PHX_ERROR_MEMORY, possible only where the ground changed: the world may be between two
 * ticks; destroy it, or restore a snapshot into it, and don't go on. */
PHX_MUST_USE PhxStatus phx_sim_step(PhxSim *sim, const PhxCommand *commands, uint32_t count);

/* Ticks computed so far; hashes of the state as it stands (computed by step, restore and create). */
uint32_t phx_sim_tick(const PhxSim *sim);
uint64_t phx_sim_root(const PhxSim *sim);
uint32_t phx_sim_table_count(const PhxSim *sim);
const char *phx_sim_table_name(const PhxSim *sim, uint32_t table); /* null out of range */
const uint64_t *phx_sim_table_hashes(const PhxSim *sim);           /* table_count of them */
uint64_t phx_sim_schema_hash(const PhxSim *sim);
PhxSettings phx_sim_settings(const PhxSim *sim);

/* Events of the last tick, in the order they happened (by phase, then unit). Valid until the next call that
 * changes the sim. At most one of each kind a unit and tick. */
const PhxEvent *phx_sim_events(const PhxSim *sim, uint32_t *count);

/* Units by slot, 0 .. used - 1; slot i is alive where generation[i] is odd. Valid until the sim is destroyed,
 * values until it changes. prev_*: position before the last tick, for interpolation; equal to pos_* after a
 * restore and for a unit born in this tick. */
typedef struct PhxUnitView {
    uint32_t used, live;
    const uint32_t *generation;
    const fix16_t *pos_x, *pos_y, *prev_x, *prev_y, *vel_x, *vel_y;
    const fix16_t *goal_x, *goal_y;
    const PhxAngle *heading;
    const uint16_t *type;
    const uint8_t *player, *activity; /* activity: 0 idle, 1 moving, 2 blocked */
    const uint8_t *mood, *behaviour;  /* PhxMood, PhxBehaviour (phalanx/mood.h) */
    const uint16_t *flock;            /* which of its player's flocks (phalanx/flock.h); 0: none */
    const fix16_t *avoid;             /* avoidance radius, 0 before the first tick */
} PhxUnitView;
PhxUnitView phx_sim_units(const PhxSim *sim);
PhxHandle phx_sim_unit_handle(const PhxSim *sim, uint32_t slot); /* PHX_HANDLE_NONE if not alive */

typedef struct PhxUnitTypeInfo {
    char name[17];
    fix16_t radius, speed;
} PhxUnitTypeInfo;
bool phx_sim_unit_type(const PhxSim *sim, uint32_t type, PhxUnitTypeInfo *out);

typedef struct PhxPlayerInfo {
    char name[17];
    uint8_t team;
    bool left;
    uint32_t arrived; /* arrivals so far */
} PhxPlayerInfo;
bool phx_sim_player(const PhxSim *sim, uint32_t slot, PhxPlayerInfo *out);

/* The map as it stands. */
PhxNavGrid phx_sim_map(const PhxSim *sim);

/* Which way a unit at (x, y) would walk to (goal_x, goal_y): computed aside, for bots and pictures; the state
 * and its caches stay as they are. Errors: PHX_ERROR_NOT_FOUND where there is no way, PHX_ERROR_RANGE off the
 * map, PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_sim_query_direction(const PhxSim *sim, fix16_t goal_x, fix16_t goal_y, fix16_t x,
                                               fix16_t y, PhxDir *out);

/* Snapshot: the canonical bytes of all STATE, with schema hash and root. Restore needs a sim of the same
 * schema and capacities; on failure the sim is as it was. Errors of restore: PHX_ERROR_MISMATCH (schema,
 * capacities, root), _FORMAT, _TRUNCATED, _RANGE (column named), each with text. */
size_t phx_sim_snapshot_size(const PhxSim *sim);
PHX_MUST_USE PhxStatus phx_sim_snapshot(const PhxSim *sim, void *buffer, size_t capacity, size_t *size);
PHX_MUST_USE PhxStatus phx_sim_restore(PhxSim *sim, const void *bytes, size_t size, PhxError *error);
/* An independent copy with the same config. */
PHX_MUST_USE PhxStatus phx_sim_clone(const PhxSim *sim, PhxSim **out);

/* Throws away all that is derived and fills it with `poison`: no later hash changes. For tests. */
void phx_sim_drop_derived(PhxSim *sim, uint8_t poison);

/* Called at the start (`hash` 0, begin true) and end of each phase; at the end with the hash of all columns,
 * scratch included, when `trace` was asked for, else 0. Null ends it. The callback must not touch the sim. */
typedef void (*PhxPhaseObserver)(void *user, uint32_t tick, uint32_t phase, const char *name, bool begin,
                                 uint64_t hash);
void phx_sim_observe_phases(PhxSim *sim, PhxPhaseObserver observer, void *user, bool trace);
uint32_t phx_sim_phase_count(const PhxSim *sim);
const char *phx_sim_phase_name(const PhxSim *sim, uint32_t phase);

/* Why the unit of a slot chose its velocity in the last tick, or, asked by an observer after the phase orca,
 * in this one: neighbours, half-planes and who made them, preferred and chosen velocity, what fallback was
 * taken (phalanx/orca.h). Exact until the sim is stepped again. False, and nothing is written, where no
 * choice was made that it could explain: the unit wasn't there, the match is paused, or the state was just
 * created, restored or cloned. Changes nothing. */
struct PhxOrcaExplanation;
bool phx_sim_explain_unit(const PhxSim *sim, uint32_t slot, struct PhxOrcaExplanation *out);

/* Bytes of state (capacity) and of all memory that the sim holds. */
size_t phx_sim_state_bytes(const PhxSim *sim);
size_t phx_sim_memory_bytes(const PhxSim *sim);

/* Grid blocks that were found changed without a mark by the rolling audit: always 0, or a program error. */
uint64_t phx_sim_audit_failures(const PhxSim *sim);

/* Fills at most min(capacity, 64) differences in schema order, and returns how many there are between two
 * sims of the same schema and capacities; 0 when equal. left and right: raw values, sign-extended. */
typedef struct PhxDifference {
    const char *table, *column;
    uint32_t table_index, column_index, row, lane;
    uint64_t left, right;
} PhxDifference;
uint32_t phx_sim_diff(const PhxSim *left, const PhxSim *right, PhxDifference *out, uint32_t capacity);

/* Text dump of the whole state, a line a value: "unit[3].pos_x = 12.5 (0x000c8000)". */
typedef void (*PhxTextSink)(void *user, const char *text, size_t length);
void phx_sim_dump(const PhxSim *sim, PhxTextSink sink, void *user);

#ifdef __cplusplus
}
#endif
#endif
