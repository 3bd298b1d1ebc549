/* scenario.h: a match written down for people: one YAML file with map, players, unit types, groups of units,
 * and orders or bots; and how it becomes a content blob and commands.
 *
 * In: bytes of YAML (scenario_parse: no file system), then the map that it names. Out: a PhxScenario; the
 * blob through phalanx/content.h; each tick's commands, encoded. Numbers become fixed point exactly
 * (phx_fix_parse), never through a double. Faults are said as "file:line:column: key: value: what and
 * remedy". Cost: linear in the text; building is a few passes over the map. Determinism: the blob is a
 * function of the bytes of scenario and map and of the overrides alone.
 */
#ifndef PHX_TOOLS_SCENARIO_H
#define PHX_TOOLS_SCENARIO_H

#include <phalanx/command.h>
#include <phalanx/content.h>
#include <phalanx/formation.h>
#include <phalanx/sim.h>

#include "content/ground.h"
#include "content/moving_ai.h"
#include "content/yaml_tree.h"

enum {
    PHX_SCENARIO_TYPE_LIMIT = 64,
    PHX_SCENARIO_PROFILE_LIMIT = 31, /* besides "plain", which there always is */
    PHX_SCENARIO_BUILDING_LIMIT = 4096,
    PHX_SCENARIO_MODIFIER_LIMIT = 1024,
    PHX_SCENARIO_GROUP_LIMIT = 1024,
    PHX_SCENARIO_ORDER_LIMIT = 10000,
    PHX_SCENARIO_GOAL_LIMIT = 1 << 22, /* goals of units of their own, in all orders */
    PHX_SCENARIO_NAME = 64,            /* bytes of names that stay in the scenario, with the zero */
    PHX_SCENARIO_UNIT_LIMIT = 1 << 20
};

/* Where something is: a point, the walkable place nearest to a corner of the map, or (groups only) anywhere
 * in a rectangle. World units; a corner's point is filled in by phx_scenario_build. */
typedef enum PhxPlaceKind { PHX_PLACE_POINT, PHX_PLACE_CORNER, PHX_PLACE_SCATTER } PhxPlaceKind;
typedef struct PhxPlace {
    PhxPlaceKind kind;
    PhxCorner corner;
    fix16_t x, y;           /* point; scatter: the lower end */
    fix16_t high_x, high_y; /* scatter: the upper end */
} PhxPlace;

typedef struct PhxScenarioPlayer {
    char name[17];
    uint8_t team;
    char bot[17]; /* "idle" where the file names none */
} PhxScenarioPlayer;

typedef struct PhxScenarioGroup {
    char name[PHX_SCENARIO_NAME];
    uint8_t player;
    uint16_t type;
    uint32_t count;
    PhxPlace place;
    uint32_t columns; /* of the block; 0: about a square */
    fix16_t spacing;  /* between centres, world units; negative: three radii */
    PhxAngle facing;
    uint8_t mood, behaviour; /* PhxMood, PhxBehaviour */
    uint16_t flock;          /* 0: none */
    uint32_t first_unit;     /* slot of the first of `count` units; set by phx_scenario_build */
    uint32_t line, column;
} PhxScenarioGroup;

/* What is ordered: of units, from PLACE on of buildings and ground. */
typedef enum PhxScenarioOrderKind {
    PHX_SCENARIO_MOVE,
    PHX_SCENARIO_AREA,
    PHX_SCENARIO_NEAREST,
    PHX_SCENARIO_BLEND,
    PHX_SCENARIO_CHASE,
    PHX_SCENARIO_STOP,
    PHX_SCENARIO_BEHAVE,
    PHX_SCENARIO_FLOCK,
    PHX_SCENARIO_FORM,
    PHX_SCENARIO_MARCH,
    PHX_SCENARIO_PLACE,
    PHX_SCENARIO_RAZE,
    PHX_SCENARIO_GATE,
    PHX_SCENARIO_GROUND
} PhxScenarioOrderKind;

typedef struct PhxScenarioOrder {
    PhxScenarioOrderKind kind;
    uint32_t tick;
    uint8_t player; /* PHX_SLOT_HOST for GROUND */
    bool queued;
    PhxPlace goal;       /* MOVE, AREA */
    uint32_t first_goal; /* scatter: the units' own goals in `goals`, set by phx_scenario_build */
    uint32_t first_group, group_count; /* in group_list; all of the player's units: every group of its */
    fix16_t radius;                    /* AREA: world units */
    uint32_t point_count;              /* NEAREST, BLEND */
    PhxCommandPoint points[PHX_COMMAND_POINT_LIMIT];
    uint32_t target_group, target_unit; /* CHASE: unit of that group, from 0 */
    fix16_t threshold;                  /* CHASE: world units */
    uint8_t mood, behaviour;            /* BEHAVE: as in the command */
    uint16_t flock;                     /* FLOCK: as in the command */
    uint8_t shape, pattern, turns;      /* FORM: as in the command; its goal is `goal` */
    PhxAngle facing;                    /* FORM */
    fix16_t form_width, gap;            /* FORM: world units */
    uint8_t lane_spread;                /* MARCH: percent; its goal is `goal` */
    uint16_t cell_x, cell_y;            /* RAZE, GATE: the building on this cell */
    uint16_t width, height;             /* PLACE, GROUND: cells, from the one above */
    bool gate;                          /* PLACE: a gate */
    uint16_t open_teams;                /* GATE */
    uint8_t ground_cost, ground_kind;   /* GROUND */
    uint32_t line, column;
} PhxScenarioOrder;

/* How units of a class weigh the kinds of ground (phalanx/cost.h). Its slot in the content is one more than
 * its index: slot 0 is "plain". */
typedef struct PhxScenarioProfile {
    char name[17];
    PhxCostProfile def;
} PhxScenarioProfile;

typedef struct PhxScenarioBuilding {
    PhxBuildingDef def;
    uint32_t line, column;
} PhxScenarioBuilding;

typedef struct PhxScenarioModifier {
    PhxCostModifier def;
    uint32_t line, column;
} PhxScenarioModifier;

/* A shape of formations of the scenario's own. */
enum { PHX_SCENARIO_PATTERN_LIMIT = 16, PHX_SCENARIO_PATTERN_SLOTS = 128 };
typedef struct PhxScenarioPattern {
    char name[17];
    PhxFormationSlot slots[PHX_SCENARIO_PATTERN_SLOTS];
    uint32_t slot_count, line, column;
} PhxScenarioPattern;

/* Letters of a map that can have a kind of ground: ground twice, swamp, water, trees. */
#define PHX_SCENARIO_LETTERS ".GSWT"

typedef struct PhxScenario {
    char file[256]; /* for messages */
    char name[PHX_SCENARIO_NAME];
    char map[512];        /* as written: relative to the scenario's file */
    char height_map[512]; /* as written; "": none */
    char map_file[512];   /* for messages: the path that was read; "" where there was none */
    PhxSettings settings;
    uint32_t ticks;                         /* how long a run of it is */
    uint32_t unit_capacity, order_capacity; /* 0: chosen by phx_scenario_build */
    uint32_t field_cache;     /* tiles of flow fields that a run of it should keep, 0: the default; speed and
                                 memory only */
    PhxMovingAiCosts terrain; /* what entering a cell costs, by its letter in the map */
    bool foreign_map; /* the map isn't its own: groups and goals that don't fit go to the nearest place that
                         does; heights, buildings, modifiers and orders on cells are left out */
    char kind_names[PHX_COST_KINDS][17];
    uint32_t kind_count;
    uint8_t letter_kinds[sizeof PHX_SCENARIO_LETTERS]; /* kind of each letter's ground */
    PhxScenarioProfile profiles[PHX_SCENARIO_PROFILE_LIMIT];
    uint32_t profile_count;
    uint32_t density_period; /* ticks; 0: density isn't counted */
    PhxScenarioBuilding *buildings;
    uint32_t building_count;
    PhxScenarioModifier *modifiers;
    uint32_t modifier_count;
    PhxScenarioPattern *patterns;
    uint32_t pattern_count;
    /* Of the map that was read, a byte a cell; null: flat, and all ground of kind 0. Set by
     * phx_scenario_load, or by a caller of phx_scenario_build, and freed with the scenario. */
    uint8_t *kind_grid, *height_grid;
    PhxScenarioPlayer players[PHX_PLAYER_LIMIT];
    uint32_t player_count;
    PhxUnitTypeDef types[PHX_SCENARIO_TYPE_LIMIT]; /* name: in type_names */
    char type_names[PHX_SCENARIO_TYPE_LIMIT][17];
    uint32_t type_count;
    PhxScenarioGroup *groups;
    uint32_t group_count;
    PhxScenarioOrder *orders; /* by tick, then as written */
    uint32_t order_count;
    uint32_t *group_list;
    uint32_t group_list_count;
    uint32_t unit_count;
    PhxVec2 *goals;
    uint32_t goal_count;
} PhxScenario;

/* Reads the text alone: the map isn't opened. `name` is what messages call the file. Errors:
 * PHX_ERROR_FORMAT, _RANGE, _LIMIT, _NOT_FOUND (a name that nothing has), _MEMORY, each with a message. On
 * failure *out is null. */
PHX_MUST_USE PhxStatus phx_scenario_parse(const char *name, const void *bytes, size_t size, PhxScenario **out,
                                          PhxYamlError *error);
void phx_scenario_destroy(PhxScenario *scenario); /* null is fine */

/* Places the units, sets each group's first_unit and the points of corners, and makes the blob, for the
 * caller to free(). With scenario->foreign_map what doesn't fit goes to the nearest place on the largest
 * piece of ground; else a unit of an `at` that stands in a wall is an error that names the group. Errors:
 * PHX_ERROR_RANGE, _NOT_FOUND (no ground, no room), _LIMIT, _MEMORY, each with a message. */
PHX_MUST_USE PhxStatus phx_scenario_build(PhxScenario *scenario, const PhxNavGrid *map, void **blob,
                                          size_t *size, PhxYamlError *error);

/* What a command line may change in a scenario. A zeroed structure changes nothing. */
typedef struct PhxScenarioChanges {
    const char *map; /* path of another map, or null */
    bool has_seed;
    uint64_t seed;
    uint32_t ticks; /* 0: as it is, or four times as long on another map, where ways may be longer */
} PhxScenarioChanges;

/* A scenario with its map and blob, from files. */
typedef struct PhxScenarioFile {
    PhxScenario *scenario;
    char *letters; /* of the map, width x height, for pictures */
    uint32_t width, height;
    void *blob;
    size_t blob_size;
} PhxScenarioFile;

/* Reads the scenario at `path`, its map (relative to the scenario's folder, or changes->map as it is), and
 * builds the blob. `changes` may be null. Errors as those of parse and build, and PHX_ERROR_IO. On failure
 * *out is all zero. */
PHX_MUST_USE PhxStatus phx_scenario_load(const char *path, const PhxScenarioChanges *changes,
                                         PhxScenarioFile *out, PhxYamlError *error);
/* The same for a scenario whose bytes were read already (a pipe can be read once only). */
PHX_MUST_USE PhxStatus phx_scenario_load_bytes(const char *path, const void *bytes, size_t size,
                                               const PhxScenarioChanges *changes, PhxScenarioFile *out,
                                               PhxYamlError *error);
void phx_scenario_unload(PhxScenarioFile *file);

/* Gets one encoded command of a player; `bytes` is valid during the call only. */
typedef void (*PhxScenarioEmit)(void *user, uint8_t slot, const uint8_t *bytes, uint32_t size);

/* The scripted orders of one tick, in the order of the file; orders of more units than a command holds become
 * several. Handles of units are those of tick 0: a command that names dead units is a counted no-op. A
 * building is the one that stands on its order's cell in `sim`, as it is now; where none does, the command
 * names no building and is a counted no-op too. The scenario must have been built. */
void phx_scenario_orders(const PhxScenario *scenario, const PhxSim *sim, uint32_t tick, PhxScenarioEmit emit,
                         void *user);

#endif
