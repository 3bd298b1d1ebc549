/* sim_internal.h: what a PhxSim is made of; private to step, content and tests.
 *
 * The world holds all state. Everything else here is either a result of the last tick (events, previous
 * positions, hashes) or derived from the state and thrown away at will (walls, components, fields, the
 * spatial grid, lists).
 */
#ifndef PHX_STEP_SIM_INTERNAL_H
#define PHX_STEP_SIM_INTERNAL_H

#include <phalanx/assign.h>
#include <phalanx/cost.h>
#include <phalanx/crowd.h>
#include <phalanx/feelings.h>
#include <phalanx/flock.h>
#include <phalanx/formation.h>
#include <phalanx/orca.h>
#include <phalanx/routes.h>
#include <phalanx/sim.h>
#include <phalanx/spatial.h>
#include <phalanx/walls.h>

#include "base/arena.h"
#include "command/queue.h"
#include "nav/tile_place.h"
#include "nav/window.h"
#include "state/world.h"
#include "step/room.h"

enum {
    PHX_SIM_PHASE_LIMIT = 64,
    PHX_SIM_TYPE_LIMIT = 256,   /* rows of unit_type */
    PHX_SIM_PROFILE_LIMIT = 32, /* rows of cost_profile */
    PHX_SIM_BUILDING_LIMIT = 4096,
    PHX_SIM_MODIFIER_LIMIT = 1024,
    PHX_SIM_DESTINATION_LIMIT = 1024,
    PHX_SIM_FORMATION_LIMIT = 256,
    PHX_SIM_MARCH_LIMIT = 64,
    PHX_SIM_ROUTES = 3,        /* of a march, as march.def has it */
    PHX_SIM_ROUTE_POINTS = 24, /* of a route, as march.def has it */
    PHX_SIM_PATTERN_LIMIT = 16,
    PHX_SIM_PATTERN_SLOTS = 128,
    PHX_SIM_EVENTS_A_UNIT = 5, /* arrived, blocked, unreachable, gave up, target lost: one of each */
    /* Left: at most once a player; of buildings: one a command. A game's own calls beyond that go unsaid. */
    PHX_SIM_EVENTS_BESIDES = PHX_PLAYER_LIMIT + PHX_TICK_COMMAND_LIMIT,
    PHX_SIM_ROOMS = 4,       /* groups whose rooms are kept from tick to tick */
    PHX_SIM_UNIT_GRAIN = 256 /* units a job; has no influence on the result */
};

/* One phase of the tick, the engine's or a game's. */
typedef struct PhxPhase {
    const char *name, *reads, *writes;
    void (*run)(const PhxPhaseContext *context, void *user);
    void *user;
    bool runs_while_paused;
} PhxPhase;

/* What the layers of the sector routes are composed of, as it was last seen. DERIVED (layers.c). */
typedef struct PhxLayers {
    PhxRoutes *routes;
    PhxCostProfile profile[PHX_SIM_PROFILE_LIMIT];
    uint8_t type_profile[PHX_SIM_TYPE_LIMIT], type_size[PHX_SIM_TYPE_LIMIT];
    uint16_t type_first[PHX_SIM_TYPE_LIMIT]; /* the first type of the same profile and size */
    uint8_t team_first[PHX_PLAYER_LIMIT];    /* the lowest team to which the ground is the same */
    bool teams_known;
    uint64_t ready[PHX_ROUTES_LAYER_LIMIT / 64]; /* bits: layers of the units that lived at the last update */
    PhxCostBuilding *building_row, *buildings;   /* a slot each; those that stand */
    PhxCostModifier *modifier_row, *modifiers;
    uint32_t building_rows, building_count, modifier_rows, modifier_count;
} PhxLayers;

/* What stops bodies. DERIVED (barriers.c): a set of teams for which the same gates are open is named by its
 * lowest team. */
typedef struct PhxBarriers {
    uint8_t *cells[PHX_PLAYER_LIMIT]; /* planes: 1 open, 255 solid; null: not made */
    PhxWalls walls[PHX_PLAYER_LIMIT];
    const PhxWalls *sets[PHX_PLAYER_LIMIT]; /* the same walls, as ORCA wants them */
    uint8_t team_set[PHX_PLAYER_LIMIT];
    uint8_t *set_of;   /* a unit slot */
    uint64_t *touched; /* bits: blocks of cells */
} PhxBarriers;

/* What a field tells one unit: a tile of its layer. Positions are in the layer's coordinates
 * (phalanx/cost.h).
 */
typedef struct PhxUnitField {
    const PhxTile *tile; /* null: no field */
    PhxNavGrid plane;
    uint32_t cell;  /* the unit's, in the layer */
    int32_t cx, cy; /* the same */
    PhxVec2 at, goal;
} PhxUnitField;

/* A unit that looks for a place at its goal. */
typedef struct PhxSeeker {
    fix16_t goal_x, goal_y, radius;
    uint32_t slot;
    uint8_t profile, player;
} PhxSeeker;

/* What the phase `formation` works with. DERIVED in each tick. */
typedef struct PhxFormationWork {
    uint32_t *member; /* unit slots by formation, then slot */
    uint32_t first[PHX_SIM_FORMATION_LIMIT + 1];
    uint32_t tile[PHX_SIM_FORMATION_LIMIT];
    PhxDir way[PHX_SIM_FORMATION_LIMIT]; /* of the anchor; (0, 0): it stands */
    bool trails;                         /* the formation in hand follows its trail */
    PhxFormationTrail trail;
    PhxFormationSlot *slots; /* of the formation in hand */
    PhxFormationSlot pattern[PHX_SIM_PATTERN_SLOTS];
    fix16_t *radius;
    uint8_t *rank, *slot_rank;
    PhxVec2 *at, *slot_at;
    uint32_t *id, *slot_of;
    PhxAssignWork *assign;
} PhxFormationWork;

/* A unit in its lane, in order of rows, routes and files, the first in front. */
typedef struct PhxLaneWalker {
    uint8_t row, route, file;
    int32_t along; /* how far it has come along its route, raw */
    uint32_t slot;
} PhxLaneWalker;

/* A unit or a route, and how far it lies to the right of the way. */
typedef struct PhxLaneAside {
    int64_t aside; /* raw */
    uint32_t id;
} PhxLaneAside;

/* A route of a march, measured anew in each tick. DERIVED. */
typedef struct PhxLaneRoute {
    uint32_t row, route, count;
    uint32_t rear;                    /* the point that its last walker walks to; `count`: there is none */
    int32_t narrow_begin, narrow_end; /* the way to the first and last narrow point, raw; 0: there is none */
    int32_t from[PHX_SIM_ROUTE_POINTS]; /* the way from the first point to each, raw */
    PhxDir way[PHX_SIM_ROUTE_POINTS];   /* along the line that ends in each; of the first: as of the second */
    PhxDir
        side[PHX_SIM_ROUTE_POINTS]; /* to the right of each, halfway between the two lines that meet there */
} PhxLaneRoute;

struct PhxLanePlanner; /* lanes_plan.c */

struct PhxSim {
    PhxArena arena; /* holds this struct and everything it points to but world and walls */
    PhxAllocator allocator;
    PhxJobs jobs;
    const PhxGame *game; /* null: none */
    size_t field_cache_bytes;
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

    /* DERIVED from terrain, buildings and modifiers. */
    PhxBarriers barriers;
    PhxLayers layers;
    PhxStatus trouble; /* what went wrong inside a tick: memory */

    /* DERIVED in each tick. */
    PhxOrcaClass classes[PHX_SIM_TYPE_LIMIT];
    uint32_t class_count;
    PhxFeelingsClass feelings[PHX_SIM_TYPE_LIMIT];
    PhxFlockClass flocks[PHX_SIM_TYPE_LIMIT];
    fix16_t even_speed[PHX_SIM_TYPE_LIMIT]; /* of a type that goes as fast on any ground, else -1 */
    PhxSpatial spatial;
    PhxOrcaWork orca;
    PhxCrowdWork crowd;
    PhxFlockWork flock;
    PhxFormationWork formations;
    PhxLaneRoute *lane_routes;      /* PHX_SIM_ROUTES a row of table march */
    PhxLaneAside *asides;           /* scratch of a plan */
    PhxLaneWalker *walkers;         /* those that a lane leads in this tick */
    struct PhxLanePlanner *planner; /* made with the first plan */
    uint32_t *flock_of;             /* a unit slot: its flock among all players', while it goes with it */
    bool chosen;                    /* what the last choice of velocities was made from is still there */
    uint32_t *living, living_count; /* slots of living units, ascending */
    uint32_t *moving, moving_count; /* slots of units under an order, ascending */
    PhxSeeker *seekers;             /* by group, then slot */
    uint32_t *groups, group_count;  /* first seeker of each group, and one more */
    PhxRoom rooms[PHX_SIM_ROOMS];   /* kept from tick to tick; what they keep changes no answer */
    PhxSeeker room_group[PHX_SIM_ROOMS];           /* one of the group that a room was made for last */
    uint64_t room_clock, room_used[PHX_SIM_ROOMS]; /* ticks counted; in which it was used last */
    bool room_taken[PHX_SIM_ROOMS];                /* by a group of this tick */
    uint8_t *group_room;                           /* a group: its room in this tick, or none */
    PhxWindowWork *windows;                        /* a worker */
    uint32_t *batch, batch_count;                  /* those of `moving` whose tile is in the cache */
    uint32_t *tile;                                /* a unit slot: its tile, of those in `batch` */
    uint32_t *coasting, coasting_count;            /* those that go on as they were told last */
    uint32_t lane;                                 /* of blends: the point whose field is asked now */
    uint32_t *later, later_count;                  /* those that wait for a later batch */

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

/* terrain.c: brings up to date what is derived from the ground: walls, layers. Errors: PHX_ERROR_MEMORY (done
 * by the next call). */
PHX_MUST_USE PhxStatus phx_sim_derive_terrain(PhxSim *sim);
PhxNavGrid phx_sim_grid(const PhxWorld *world);
/* Says that cells changed of what cost planes are composed of; what is derived from them is made anew by the
 * next phx_sim_derive_terrain. Clipped to the map. Buildings and modifiers are seen without it, and so are
 * cells of terrain that phx_grid_touch (not phx_grid_mark) was called for. */
void phx_sim_touch(PhxSim *sim, PhxCellRect cells);

/* barriers.c: update: Errors: PHX_ERROR_MEMORY (made by the next call). */
void phx_barriers_layout(PhxBarriers *barriers, PhxArena *arena, uint32_t width, uint32_t height,
                         uint32_t units);
void phx_barriers_touch(PhxSim *sim, PhxCellRect cells);
PHX_MUST_USE PhxStatus phx_barriers_update(PhxSim *sim);
void phx_barriers_drop(PhxSim *sim); /* frees all of it */
size_t phx_barriers_bytes(const PhxSim *sim);
/* The plane that stops a unit, as of the last update. */
PhxNavGrid phx_barriers_grid(const PhxSim *sim, uint32_t unit);

/* layers.c: layers. */
void phx_layers_layout(PhxLayers *ground, PhxArena *arena);
PHX_MUST_USE PhxStatus phx_layers_create(PhxSim *sim, size_t cache_bytes);
void phx_layers_note(PhxSim *sim);
PHX_MUST_USE PhxStatus phx_layers_update(PhxSim *sim);
/* The layer of units of a type and team, or of a unit; and its size. Others than ready ones may not be used:
 * whether they are open depends on what was. */
uint32_t phx_layers_find(const PhxSim *sim, uint32_t type, uint32_t team);
uint32_t phx_layers_of(const PhxSim *sim, uint32_t unit);
uint32_t phx_layers_size(const PhxSim *sim, uint32_t layer);
bool phx_layers_is_ready(const PhxSim *sim, uint32_t layer);

/* fields.c: the field to a unit's goal. The unit must be in sim->batch. */
PhxUnitField phx_fields_of(const PhxSim *sim, uint32_t slot);
/* retreat.c: where a unit in a narrow place backs out to, away from `away`, in world units. False: it stands
 * in a wide place, or none is near. */
bool phx_unit_retreat(const PhxSim *sim, uint32_t slot, PhxVec2 away, PhxVec2 *out);

/* way_out.c: where a unit that stands in the solid, or is wedged, stands after this tick. `solid`: what stops
 * it. */
PhxVec2 phx_unit_way_out(const PhxSim *sim, uint32_t slot, const PhxNavGrid *solid, PhxVec2 at);
/* crowded.c: the way of a unit that is held up where others rest, around them. False: it isn't, or there is
 * none.
 */
bool phx_crowded_direction(const PhxSim *sim, uint32_t slot, const PhxUnitField *field, uint32_t worker,
                           PhxDir *way);
/* Cells of a set of goals, as the routes ask for them. */
uint32_t phx_goals_expand(const PhxSim *sim, uint32_t layer, uint64_t goal, uint32_t *cells);
/* Takes the units of `pending` (ascending slots) whose tiles fit into the cache together into sim->batch,
 * builds what is missing, and leaves the others, still ascending, in sim->later; returns how many those are.
 */
uint32_t phx_fields_prepare(PhxSim *sim, const uint32_t *pending, uint32_t count);

/* build.c: the commands PLACE, RAZE, GATE and GROUND. */
void phx_build_execute(PhxSim *sim, const PhxCommandData *command, uint8_t player);

/* move.c: whether a unit under an order asks its field for the way in this tick, or goes on as it was told.
 */
bool phx_unit_asks(const PhxWorld *world, uint32_t slot);
/* The greatest speed of a calm unit on the ground that it stands on, units a second. */
fix16_t phx_unit_ground_speed(const PhxWorld *world, uint32_t slot);
/* The task of the phase orca; `work` is sim->orca, or a copy for those who only read. */
PhxOrcaScene phx_sim_orca_scene(const PhxSim *sim, PhxOrcaWork *work);

/* move.c: what a unit's body can do, in its mood and on its ground; after the phase prefer, until the next
 * ground changes. */
struct PhxUnitLimits;
struct PhxUnitLimits phx_unit_limits(const PhxSim *sim, uint32_t slot);

/* formation_slots.c: scratch. */
void phx_formations_layout(PhxFormationWork *work, PhxArena *arena, uint32_t units);
/* The slots of `count` units in a formation's shape, into work->slots. Errors: those of phx_formation_layout.
 */
PHX_MUST_USE PhxStatus phx_formation_slots(PhxSim *sim, uint32_t row, const uint32_t *members, uint32_t count,
                                           fix16_t limit, PhxFormationExtent *extent);
/* Whether a formation whose slots are in work->slots follows its trail, and the trail; into work. */
void phx_formation_follow_trail(PhxSim *sim, uint32_t row, const PhxFormationExtent *extent);
/* Where slot i of the formation in hand is; what sees it (the anchor, or the trail beside it), and which way
 * it faces there. */
PhxVec2 phx_formation_place(const PhxSim *sim, uint32_t row, uint32_t i, PhxVec2 *middle, PhxDir *forward);
/* Gives the slots of the formation in hand to its members, by where they are now. */
void phx_formation_give_slots(PhxSim *sim, uint32_t row);
fix16_t phx_formation_within(fix16_t v); /* the nearest coordinate within the world */
/* formation_form.c: the command FORM. */
void phx_form_execute(PhxSim *sim, const PhxCommandData *command, uint8_t player);
/* formation_lead.c: wishes of the members of a row whose slots are in work->slots, and whose frame makes a
 * step; how far the last straggler is from its slot. */
void phx_formation_lead(PhxSim *sim, uint32_t row, const PhxFormationStep *step);
fix16_t phx_formation_lag(PhxSim *sim, uint32_t row);

/* orders.c: the order of a unit and the queue behind it. */
typedef struct PhxOrder {
    fix16_t goal_x, goal_y, arrive_radius;
    PhxHandle destination; /* none, or a row that counts this order among its users */
    PhxHandle chase;       /* none, or the unit to follow */
    fix16_t chase_threshold;
} PhxOrder;
/* Makes it the present order; the one before is over. */
void phx_order_begin(PhxWorld *world, uint32_t unit, PhxOrder order);
/* The present order is over; the unit stands. */
void phx_order_end(PhxWorld *world, uint32_t unit);
bool phx_order_push(PhxWorld *world, uint32_t unit, PhxOrder order); /* false: the table is full */
bool phx_order_pop(PhxWorld *world, uint32_t unit, PhxOrder *out);   /* false: the queue is empty */
void phx_order_clear(PhxWorld *world, uint32_t unit); /* drops the queue, not the present order */

/* destination.c: rows that orders share. make: a row without users, PHX_HANDLE_NONE where the table is full;
 * hold: one more user; drop: one less, and with the last the row ends. Handles of no row are let be. */
enum {
    PHX_DESTINATION_NEAREST,
    PHX_DESTINATION_AREA,
    PHX_DESTINATION_BLEND,
    PHX_DESTINATION_LANES
}; /* destination.mode */
PhxHandle phx_destination_make(PhxWorld *world, uint8_t mode, const PhxCommandPoint *points, uint32_t count,
                               fix16_t radius);
void phx_destination_hold(PhxWorld *world, PhxHandle destination);
void phx_destination_drop(PhxWorld *world, PhxHandle destination);
/* The row of the unit's present order, or UINT32_MAX. */
uint32_t phx_destination_of(const PhxWorld *world, uint32_t unit);

/* lanes_plan.c: plans for the marches that wait for one, as far as this tick's credit goes. Errors:
 * PHX_ERROR_MEMORY. drop: frees the planner. */
PHX_MUST_USE PhxStatus phx_lanes_serve(PhxSim *sim);
void phx_lanes_drop(PhxSim *sim);
size_t phx_lanes_bytes(const PhxSim *sim);
/* The lines of a route that lead over a wall of the layer by which it was planned, a bit each: p, to point p.
 */
uint32_t phx_lanes_cut_lines(const PhxSim *sim, uint32_t row, uint32_t route);
/* lanes_share.c: routes, files and side offsets of all units that march under a row whose plan was just made;
 * of one that comes later. */
void phx_lanes_share(PhxSim *sim, uint32_t row, const uint32_t *members, uint32_t count);
void phx_lanes_join(PhxSim *sim, uint32_t row, uint32_t slot);
/* lanes.c: a point of a route; and the row of table march under which a unit goes, or UINT32_MAX. */
static inline uint32_t phx_lanes_point(uint32_t row, uint32_t route, uint32_t point) {
    return (row * PHX_SIM_ROUTES + route) * PHX_SIM_ROUTE_POINTS + point;
}
uint32_t phx_lanes_row_of(const PhxWorld *world, uint32_t slot);

/* march.c: the commands that send units somewhere. */
void phx_march_execute(PhxSim *sim, const PhxCommandData *command, uint8_t player);
/* The slot of a unit of a command that lives and belongs to the player, or UINT32_MAX, counted. */
uint32_t phx_command_own_unit(PhxWorld *world, const PhxCommandData *command, uint32_t i, uint8_t player);
/* Where a unit goes that is sent to a point: there, or to the nearest cell that it can reach. False: it can't
 * be sent at all. */
typedef struct PhxAim {
    uint32_t layer, part; /* what it holds for; part PHX_NAV_NO_CELL: nothing yet */
    fix16_t x, y;
    bool reachable;
} PhxAim;
bool phx_march_aim(const PhxSim *sim, uint32_t slot, PhxVec2 point, PhxAim *aim);

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
