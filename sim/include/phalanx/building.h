/* building.h: ground that changes during a match: buildings and gates, the ground itself, and discs that make
 * it dearer or cheaper; and the question, asked beforehand, what a building would do.
 *
 * A building closes its cells to everyone; a gate lets the teams in its mask through. Units that a change
 * leaves inside of closed cells walk out by themselves, to the nearest open cell that a straight walk over
 * the map's open ground leads to; none is lost, and nobody is carried through a wall of the map (who has no
 * such cell stays until there is one). Players do all this by the commands PLACE, RAZE and GATE, the host by
 * GROUND; a game's own commands and phases call the functions below that take a PhxSim that isn't const: they
 * change state, so only while a tick is being computed, from the function of a command or a phase (which has
 * to declare the columns), on the thread that runs it. What they change is seen by ways from the next tick at
 * the latest.
 *
 * A command that can't be carried out is counted (match.commands_full where a table was full, else
 * match.commands_late) and said (PHX_EVENT_REFUSED). Determinism: all answers are pure functions of the
 * state, so they are the same on every peer.
 */
#ifndef PHALANX_BUILDING_H
#define PHALANX_BUILDING_H

#include <phalanx/cost.h>
#include <phalanx/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PHX_BUILDING_SIDE_LIMIT = 64,  /* cells */
    PHX_PLACEMENT_PLACE_LIMIT = 64 /* places of one question */
};

/* Why a building isn't placed, or another change not made. Where several reasons hold, the first of them. */
typedef enum PhxPlacementReason {
    PHX_PLACEMENT_LEGAL,    /* nothing is in the way */
    PHX_PLACEMENT_PLAYER,   /* nobody plays in that slot */
    PHX_PLACEMENT_SIZE,     /* a side isn't 1 .. 64 cells */
    PHX_PLACEMENT_OUTSIDE,  /* the footprint leaves the map */
    PHX_PLACEMENT_GROUND,   /* a cell of it is impassable ground (cost 255) */
    PHX_PLACEMENT_OCCUPIED, /* it lies on another building */
    PHX_PLACEMENT_FULL,     /* there is no room for one building more */
    PHX_PLACEMENT_GONE,     /* there is no such building any more */
    PHX_PLACEMENT_FOREIGN,  /* it is another player's */
    PHX_PLACEMENT_NO_GATE,  /* it is no gate */
    PHX_PLACEMENT_REASON_COUNT
} PhxPlacementReason;

/* A sentence without a full stop; "unknown" for what is no reason. */
const char *phx_placement_reason_text(PhxPlacementReason reason);

typedef struct PhxBuildingInfo {
    PhxCellRect cells;   /* 1 .. 64 cells a side */
    uint8_t player;      /* slot of its owner */
    bool gate;           /* its owner may open and shut it */
    uint16_t open_teams; /* bit t: units of team t walk through; 0 of what is no gate */
} PhxBuildingInfo;

/* Buildings by slot, 0 .. used - 1; PHX_HANDLE_NONE and false where none lives. */
uint32_t phx_sim_building_used(const PhxSim *sim);
PhxHandle phx_sim_building_handle(const PhxSim *sim, uint32_t slot);
bool phx_sim_building(const PhxSim *sim, PhxHandle building, PhxBuildingInfo *out);
/* The building on a cell, or PHX_HANDLE_NONE; any values are allowed. */
PhxHandle phx_sim_building_at(const PhxSim *sim, int32_t cx, int32_t cy);

/* Places a building, if that is legal, in the lowest free slot; *out (may be null) gets its handle, else
 * PHX_HANDLE_NONE. `open_teams` counts for gates only. Units may stand on the footprint. */
PhxPlacementReason phx_sim_place_building(PhxSim *sim, const PhxBuildingInfo *building, PhxHandle *out);
/* Takes a building away, whosever it is. PHX_PLACEMENT_LEGAL or _GONE. */
PhxPlacementReason phx_sim_raze_building(PhxSim *sim, PhxHandle building);
/* Sets the teams that walk through a gate: 0 shuts it. PHX_PLACEMENT_LEGAL, _GONE or _NO_GATE. */
PhxPlacementReason phx_sim_set_gate(PhxSim *sim, PhxHandle building, uint16_t open_teams);
/* Sets cost (1 .. 255) and kind (0 .. 15) of the ground in a rectangle, clipped to the map; buildings stay.
 * False where a value is out of its range; nothing is changed then. Cost: linear in the cells. */
bool phx_sim_set_ground(PhxSim *sim, PhxCellRect cells, uint8_t cost, uint8_t kind);

/* Modifiers: a fear around a strong enemy, the pull of a road or a mine. Values out of the range that
 * modifier.def and cost.h state are refused: PHX_HANDLE_NONE or false. PHX_HANDLE_NONE also when there are
 * 1024 of them. set moves one or changes its strength; false: it is gone. */
PhxHandle phx_sim_add_modifier(PhxSim *sim, const PhxCostModifier *modifier);
bool phx_sim_set_modifier(PhxSim *sim, PhxHandle handle, const PhxCostModifier *modifier);
bool phx_sim_remove_modifier(PhxSim *sim, PhxHandle handle);
bool phx_sim_modifier(const PhxSim *sim, PhxHandle handle, PhxCostModifier *out);

/* What would happen if a building were placed now? `places`: points (world units) that should stay joined for
 * units of a type and a team; null where place_count is 0. `displaced` (may be null): room for handles. */
typedef struct PhxPlacementQuestion {
    PhxBuildingInfo building;
    uint16_t unit_type;
    uint8_t team;
    const PhxVec2 *places;
    uint32_t place_count; /* 0 .. PHX_PLACEMENT_PLACE_LIMIT */
    PhxHandle *displaced;
    uint32_t displaced_capacity;
} PhxPlacementQuestion;

typedef struct PhxPlacement {
    PhxPlacementReason reason; /* as phx_sim_place_building would say; where not LEGAL, the rest is 0 */
    uint32_t displaced_count;  /* units, of teams it isn't open for, whose disc meets the footprint; the first
                                  of them, by ascending slot, are in `displaced` */
    uint64_t sealed; /* bit i: place i is cut off: a unit of the type could stand there and can't any more, or
                        no way joins it any more with the lowest-numbered place that it was joined with before
                        (of those where one can still stand) */
} PhxPlacement;

/* Changes nothing, caches neither. Exact for all units of the type. Cost: linear in buildings and units; a
 * search over cells only where the building parts what lies around it, as far as it takes to find a way
 * around or the end of the smaller part. Errors: PHX_ERROR_RANGE (no such unit type, team over 15, a place
 * off the map), PHX_ERROR_LIMIT (too many places), PHX_ERROR_MEMORY (for the search; given back before the
 * return). */
PHX_MUST_USE PhxStatus phx_sim_placement(const PhxSim *sim, const PhxPlacementQuestion *question,
                                         PhxPlacement *out);

#ifdef __cplusplus
}
#endif
#endif
