/* sim_internal.h: what a PhxSim is made of; private to step, content and tests.
 *
 * The world holds all state. Everything else here is either a result of the last tick (events, previous
 * positions, hashes) or derived from the state and thrown away at will (walls, components, fields, the
 * spatial grid, lists).
 */
#ifndef PHX_STEP_SIM_INTERNAL_H
#define PHX_STEP_SIM_INTERNAL_H

#include <phalanx/cost.h>
#include <phalanx/orca.h>
#include <phalanx/routes.h>
#include <phalanx/sim.h>
#include <phalanx/spatial.h>
#include <phalanx/walls.h>

#include "base/arena.h"
#include "command/queue.h"
#include "state/world.h"
#include "step/room.h"

enum {
    PHX_SIM_PHASE_LIMIT = 64,
    PHX_SIM_TYPE_LIMIT = 256,   /* rows of unit_type */
    PHX_SIM_PROFILE_LIMIT = 32, /* rows of cost_profile */
    PHX_SIM_BUILDING_LIMIT = 4096,
    PHX_SIM_MODIFIER_LIMIT = 1024,
    PHX_SIM_DESTINATION_LIMIT = 1024,
    PHX_SIM_EVENTS_A_UNIT = 4, /* arrived, blocked, unreachable, gave up: one of each */
    /* Left: at most once a player; of buildings: one a command. A game's own calls beyond that go unsaid. */
    PHX_SIM_EVENTS_BESIDES = PHX_PLAYER_LIMIT + PHX_TICK_COMMAND_LIMIT,
    PHX_SIM_UNIT_GRAIN = 256, /* units a job; has no influence on the result */
    PHX_SIM_FIELD_CACHE_DEFAULT = 256,
    PHX_SIM_FIELD_CACHE_LIMIT = 4096
};

/* One phase of the tick, the engine's or a game's. */
typedef struct PhxPhase {
    const char *name, *reads, *writes;
    void (*run)(const PhxPhaseContext *context, void *user);
    void *user;
    bool runs_while_paused;
} PhxPhase;

/* A flow field to one goal cell. DERIVED: a pure function of terrain and goal. */
typedef struct PhxCachedField {
    PhxField field;
    uint32_t goal;      /* PHX_NAV_NO_CELL: the entry is empty */
    uint32_t last_used; /* batch number; decides eviction, and nothing else */
} PhxCachedField;

typedef struct PhxFieldCache {
    uint32_t capacity, batch;
    PhxCachedField *entry;
    uint16_t *entry_of_cell; /* a cell: entry + 1 of the field with that goal, 0 for none */
    void **scratch;          /* a worker: memory for one build */
    uint32_t *to_build;      /* entries of this batch that must be built */
    uint32_t build_count;
} PhxFieldCache;

/* A unit that looks for a place at its goal. */
typedef struct PhxSeeker {
    fix16_t goal_x, goal_y, radius;
    uint32_t slot;
} PhxSeeker;

struct PhxSim {
    PhxArena arena; /* holds this struct and everything it points to but world and walls */
    PhxAllocator allocator;
    PhxJobs jobs;
    const PhxGame *game; /* null: none */
    uint32_t field_cache_wanted;
    PhxSettings settings;
    PhxWorld *world;
    PhxWorld *spare; /* what restore decodes into; made by the first restore */

    /* Results of the last tick. */
    uint64_t root, *table_hashes;
    PhxEvent *events;
    uint32_t event_count, event_capacity;
    uint32_t event_besides; /* those of event_count that aren't about units */
    uint8_t *event_kinds;   /* a unit slot: kinds of its events in this tick, a bit each */
    fix16_t *prev_x, *prev_y;

    /* Phases and who watches them. */
    PhxPhase phases[PHX_SIM_PHASE_LIMIT];
    uint32_t phase_count;
    PhxPhaseObserver observer;
    void *observer_user;
    bool trace;

    /* DERIVED from terrain. */
    uint32_t terrain_revision; /* of which the next three are made */
    PhxWalls walls;
    uint32_t *component, *component_stack;
    PhxFieldCache fields;

    /* DERIVED in each tick. */
    PhxOrcaClass classes[PHX_SIM_TYPE_LIMIT];
    uint32_t class_count;
    PhxSpatial spatial;
    PhxOrcaWork orca;
    uint32_t *living, living_count; /* slots of living units, ascending */
    uint32_t *moving, moving_count; /* slots of units under an order, ascending */
    PhxSeeker *seekers;             /* by group, then slot */
    uint32_t *groups;               /* first seeker of each group, and one more */
    PhxRoom *rooms;                 /* a worker */
    uint32_t *batch, batch_count;   /* those of `moving` whose field is in the cache */
    uint32_t *later, later_count;   /* those that wait for a later batch */

    /* The commands of the tick being computed, in canonical order. */
    const PhxCommand *commands;
    PhxQueuedCommand *queue;
    uint32_t command_count;
};

/* phases.c: fills sim->phases from phases.def and the game. Errors: PHX_ERROR_ARGUMENT, PHX_ERROR_LIMIT. */
PHX_MUST_USE PhxStatus phx_phases_collect(PhxSim *sim, PhxError *error);
void phx_phases_run(PhxSim *sim);

#define PHX_PHASE(name, paused, reads, writes)                                                               \
    void phx_phase_##name(const PhxPhaseContext *context, void *user);
#include "../../phases.def"

/* terrain.c: makes walls and components for the terrain as it stands, and empties the field cache, if the
 * terrain's revision says so. Errors: PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_sim_derive_terrain(PhxSim *sim);
PhxNavGrid phx_sim_grid(const PhxWorld *world);
/* Must follow each change of what cost planes are composed of (terrain, buildings, modifiers): what is
 * derived from it is made anew before it is used again. Clipped to the map. */
void phx_sim_touch(PhxSim *sim, PhxCellRect cells);

/* fields.c: the cache's memory, its emptying, and batches. */
void phx_fields_layout(PhxFieldCache *cache, PhxArena *arena, uint32_t capacity, uint32_t width,
                       uint32_t height, uint32_t workers);
void phx_fields_clear(PhxSim *sim);
/* The field to a unit's goal, which must be in the cache. */
const PhxField *phx_fields_of(const PhxSim *sim, uint32_t slot);
/* Takes the units of `pending` (ascending slots) whose fields fit into the cache together into sim->batch,
 * builds what is missing, and leaves the others, still ascending, in sim->later; returns how many those are.
 */
uint32_t phx_fields_prepare(PhxSim *sim, const uint32_t *pending, uint32_t count);

/* build.c: the commands PLACE, RAZE, GATE and GROUND. */
void phx_build_execute(PhxSim *sim, const PhxCommandData *command, uint8_t player);

/* orders.c: the order of a unit and the queue behind it. */
typedef struct PhxOrder {
    fix16_t goal_x, goal_y, arrive_radius;
} PhxOrder;
void phx_order_begin(PhxWorld *world, uint32_t unit, PhxOrder order);
bool phx_order_push(PhxWorld *world, uint32_t unit, PhxOrder order); /* false: the table is full */
bool phx_order_pop(PhxWorld *world, uint32_t unit, PhxOrder *out);   /* false: the queue is empty */
void phx_order_clear(PhxWorld *world, uint32_t unit); /* drops the queue, not the present order */

/* inspect.c: events about a unit, and about anything else. */
void phx_sim_emit(PhxSim *sim, PhxEventKind kind, uint32_t unit);
void phx_sim_emit_besides(PhxSim *sim, PhxEvent event);
void phx_sim_refresh_hashes(PhxSim *sim);

/* settings.c */
PHX_MUST_USE PhxStatus phx_settings_check(const PhxSettings *settings, PhxError *error);

/* create.c: specs of the engine's tables for given capacities; PHX_TABLE_BUILTIN_COUNT of them. */
void phx_sim_builtin_specs(PhxTableSpec *specs, uint32_t width, uint32_t height, uint32_t units,
                           uint32_t orders);
/* Do the state's references hold (types and players of units)? Errors: PHX_ERROR_RANGE with text. */
PHX_MUST_USE PhxStatus phx_sim_check_references(const PhxWorld *world, PhxError *error);

#endif
