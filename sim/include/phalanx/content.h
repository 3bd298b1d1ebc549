/* content.h: the canonical content blob: map, unit types, players and first units, capacities and default
 * settings.
 *
 * A blob is made once, by a builder, from plain values; every peer and every replay carries the same bytes,
 * and their hash is the content's name. Layout (little-endian): "PHXC", u16 version, settings, u16 width, u16
 * height, u32 unit capacity, u32 order capacity, then the world of tick 0 in the snapshot encoding.
 */
#ifndef PHALANX_CONTENT_H
#define PHALANX_CONTENT_H

#include <phalanx/cost.h>
#include <phalanx/mood.h>
#include <phalanx/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PhxContentBuilder PhxContentBuilder;

/* Values outside of a column's range (sim/state/tables) are refused by name. */
typedef struct PhxUnitTypeDef {
    const char *name;              /* 1 to 16 bytes of UTF-8 */
    fix16_t radius;                /* world units */
    fix16_t speed;                 /* units a second */
    fix16_t acceleration;          /* units a second squared */
    int32_t turn_rate;             /* binary angle a second, 65536 is a turn */
    uint8_t neighbours;            /* 0 .. 16 */
    fix16_t neighbour_range;       /* units */
    fix16_t horizon, wall_horizon; /* seconds */
    uint8_t profile;               /* cost profile; 0 is the plain one that each content has */
    uint8_t sample_period;         /* ticks, 1 .. 255: how often a unit asks its field */
    /* Avoidance, moods and behaviours; arrays by PhxMood. What they do: phalanx/feelings.h. */
    fix16_t avoid_ratio;             /* 1 .. 4: avoidance radius to body radius; walls are met by the body */
    uint8_t weight;                  /* 0 .. 15: share in avoiding others, against theirs; 0: avoids nobody */
    fix16_t mood_rate;               /* moods a second, 1/16 .. 64: so fast a mood follows another at most */
    fix16_t path_bias[3];            /* 0 .. 1: share of the path in the preferred velocity */
    fix16_t radius_factor[3];        /* 1 .. 4: of the avoidance radius */
    fix16_t speed_factor[3];         /* 0 .. 4: of the speed */
    uint8_t feel_neighbours;         /* 0 .. 16: the nearest are felt */
    fix16_t feel_range;              /* units, 0 .. 64 */
    fix16_t cohesion, berth, spread; /* units a second at a gap of one unit, 0 .. 64: draw of friends going
 the same way, push of
                                        enemies, push of anyone on the panicked */
    fix16_t force_clip;              /* units a second, 0 .. 64: one neighbour's draw or push at most */
    fix16_t guard_spacing, patrol_spacing; /* units between bodies, 0 .. 16 */
    /* What it does in a flock: phalanx/flock.h. */
    fix16_t flock_weight[4];       /* 0 .. 64: of separation, alignment, cohesion and its own way */
    fix16_t flock_near, flock_far; /* units, 0 .. 64: of separation; of alignment and cohesion */
    fix16_t flock_force;           /* units a second, 0 .. 64 */
    uint8_t rank;                  /* in formations, 0 .. 15: 0 stands in front (phalanx/formation.h) */
} PhxUnitTypeDef;

/* A building or a gate: cells x .. x + width - 1, y .. y + height - 1. */
typedef struct PhxBuildingDef {
    uint16_t x, y, width, height; /* cells; at most 64 x 64 */
    uint8_t player;
    uint8_t gate;        /* 1: its owner may open and shut it */
    uint16_t open_teams; /* bit t: team t walks through; only for gates */
} PhxBuildingDef;

/* A common foot soldier: radius 0.4, speed 2, acceleration 8, a turn a second, 10 neighbours within 6,
 * horizons of 2 s and 0.5 s, avoidance radius 1.4 times the body's (1.8 times that, and speed 1.25 times,
 * when panicked), weight 8, path bias 0.7, no draw of friends and no push of enemies, spacing 0.2 on guard
 * and 0.5 on patrol, in a flock weights of 2, 1, 1 and 1.5, radii of 3 and 8 and a force of 2, of rank 0; the
 * name is for the caller to set. */
PhxUnitTypeDef phx_content_unit_type_default(void);

/* `cost`: width x height, row-major, 1 .. 254 or 255 impassable. Unit and order capacities bound the tables
 * for the whole match: 1 .. 2^20. Errors: PHX_ERROR_ARGUMENT, _RANGE, _LIMIT, _MEMORY. */
PHX_MUST_USE PhxStatus phx_content_begin(const PhxSettings *settings, uint32_t width, uint32_t height,
                                         const uint8_t *cost, uint32_t unit_capacity, uint32_t order_capacity,
                                         PhxContentBuilder **out, PhxError *error);
/* Player slots are given in order, 0 first. */
PHX_MUST_USE PhxStatus phx_content_add_player(PhxContentBuilder *builder, const char *name, uint8_t team,
                                              PhxError *error);
PHX_MUST_USE PhxStatus phx_content_add_unit_type(PhxContentBuilder *builder, const PhxUnitTypeDef *def,
                                                 uint16_t *index, PhxError *error);
/* Optional grids, width x height, row-major: kinds of ground (0..15), heights. Errors: PHX_ERROR_RANGE. */
PHX_MUST_USE PhxStatus phx_content_set_kinds(PhxContentBuilder *builder, const uint8_t *kind,
                                             PhxError *error);
PHX_MUST_USE PhxStatus phx_content_set_heights(PhxContentBuilder *builder, const uint8_t *height,
                                               PhxError *error);
/* How often terrain.density is counted, ticks; 0 (as after begin): never. */
PHX_MUST_USE PhxStatus phx_content_set_density_period(PhxContentBuilder *builder, uint32_t ticks,
                                                      PhxError *error);
/* Profile 0, "plain", is there from the beginning: every kind of ground at 100 percent, nothing added. */
PHX_MUST_USE PhxStatus phx_content_add_profile(PhxContentBuilder *builder, const char *name,
                                               const PhxCostProfile *profile, uint8_t *index,
                                               PhxError *error);
/* A shape of formations of the game's own, which the command FORM names by its index: 1 .. 128 slots in the
 * order they are filled, each at `at` from the anchor (x forward, y to the right) for units of its rank;
 * radii don't count. At most 16. Errors: PHX_ERROR_RANGE, PHX_ERROR_LIMIT. */
struct PhxFormationSlot;
PHX_MUST_USE PhxStatus phx_content_add_pattern(PhxContentBuilder *builder, const char *name,
                                               const struct PhxFormationSlot *slots, uint32_t count,
                                               uint8_t *index, PhxError *error);
/* A building must lie on open ground of the map, off other buildings; units given later must stand clear of
 * it. */
PHX_MUST_USE PhxStatus phx_content_add_building(PhxContentBuilder *builder, const PhxBuildingDef *def,
                                                PhxError *error);
PHX_MUST_USE PhxStatus phx_content_add_modifier(PhxContentBuilder *builder, const PhxCostModifier *modifier,
                                                PhxError *error);
/* A unit must stand on the map with its whole body on passable cells. */
PHX_MUST_USE PhxStatus phx_content_add_unit(PhxContentBuilder *builder, uint16_t type, uint8_t player,
                                            fix16_t x, fix16_t y, PhxAngle heading, PhxError *error);
/* How a unit feels and what it does at the beginning; `unit` counts as they were added, from 0. After
 * phx_content_add_unit: calm, none. Errors: PHX_ERROR_RANGE. */
PHX_MUST_USE PhxStatus phx_content_set_behaviour(PhxContentBuilder *builder, uint32_t unit, PhxMood mood,
                                                 PhxBehaviour behaviour, PhxError *error);
/* Of which of its player's flocks it is at the beginning; after phx_content_add_unit: 0, none. Errors:
 * PHX_ERROR_RANGE. */
PHX_MUST_USE PhxStatus phx_content_set_flock(PhxContentBuilder *builder, uint32_t unit, uint16_t flock,
                                             PhxError *error);
/* Bytes of the blob; write it into a buffer of at least that size. */
size_t phx_content_size(const PhxContentBuilder *builder);
PHX_MUST_USE PhxStatus phx_content_write(const PhxContentBuilder *builder, void *buffer, size_t capacity,
                                         size_t *size);
void phx_content_end(PhxContentBuilder *builder); /* null is fine */

/* What a blob says of itself, without making a world. Checks the header, not the tables (phx_sim_create
 * does). */
typedef struct PhxContentInfo {
    PhxSettings settings;
    uint32_t width, height, unit_capacity, order_capacity;
    uint64_t content_hash; /* XXH3-64 of the whole blob but for its settings */
} PhxContentInfo;
PHX_MUST_USE PhxStatus phx_content_info(const void *blob, size_t size, PhxContentInfo *out, PhxError *error);

#ifdef __cplusplus
}
#endif
#endif
