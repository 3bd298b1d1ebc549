/* feelings.h: what moods, behaviours, friends and enemies make of the velocity that a unit prefers.
 *
 * In: the spatial grid, preferred velocities (a path's, a field's, whoever made them), and by slot: mood,
 * behaviour, class, whose unit it is, how it moves. Out, by slot: the preferred velocity, the avoidance
 * radius, the responsibility that the unit takes in avoiding others, the greatest speed.
 *
 *   mood        A unit's level goes to that of its mood by a bounded step a tick, and radius, speed and the
 *               share of the path follow the level, so that nothing jumps. The panicked run from whoever is
 *               near.
 *   friends     of one team that go the same way draw each other slightly, sideways and ahead but not
 *               back, down to where their avoidance discs touch.
 *   enemies     push a moving unit out of their way, so that it keeps a wider berth.
 *   behaviour   says how far apart bodies are kept: a guard's side by side, a patrol's on the way. A guard
 *               that stands avoids nobody, but is an obstacle to others; guards of one team that stand too
 *               close to each other part until they have their spacing; and of two that change over (one is
 *               bound for where the other is, who goes elsewhere) neither avoids anybody as long as they are
 *               beside each other.
 *
 * The avoidance radius is wider than the body on the way alone. Who stands, or takes its place, keeps others
 * off by its body (a guard by its spacing too), so that groups pack as close as their places lie; only panic
 * widens it there. It grows and shrinks by at most two body radii a second.
 *
 * Forces are inverse squares of the gap between two bodies, less what is left of them at the end of the range
 * (so that whoever comes into range changes nothing by that), each clipped, and so is their sum. Their share
 * of the velocity grows with the sum: where it's as long as the greatest speed, the path's share is path_bias
 * and the forces' the rest; where it's zero, the velocity stays as it was, bit for bit.
 *
 * Cost: a unit that is calm, without behaviour and of a class without forces costs one test and the writing
 * of its outputs; others a query and about two divisions a neighbour.
 *
 * Determinism: integers, symmetric rounding. A row's result is a pure function of columns that the call
 * doesn't write and of its own old row; neighbours come in order of (distance, slot). So neither split nor
 * order of calls can change a bit, and a scene turned by quarter turns or mirrored gives the result turned
 * likewise (but for units on one spot, which part in a direction drawn from their slots).
 */
#ifndef PHALANX_FEELINGS_H
#define PHALANX_FEELINGS_H

#include <phalanx/jobs.h>
#include <phalanx/mood.h>
#include <phalanx/spatial.h>
#include <phalanx/vec2.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PHX_FEELINGS_NEIGHBOURS = 16,       /* at most so many are felt */
    PHX_FEELINGS_LEVEL_MAX = 2 << 16,   /* of a unit's mood: 0 calm, 1.0 alert, 2.0 panicked, Q16.16 */
    PHX_FEELINGS_RADIUS_MAX = 16 << 16, /* of bodies and avoidance, raw */
    PHX_FEELINGS_SPEED_MAX = 64 << 16,  /* raw */
    PHX_FEELINGS_WEIGHT_MAX = 15,       /* of responsibility */
    PHX_FEELINGS_GRAIN = 256,           /* rows a job; has no influence on the result */
};

/* What the units of one class have in common. phx_feelings_prepare clamps all fields to the ranges stated. */
typedef struct PhxFeelingsClass {
    fix16_t radius;      /* of the body, units, 1/16..16 */
    fix16_t avoid_ratio; /* avoidance radius to body, on the way, calm, without behaviour: 1..4 */
    fix16_t speed;       /* units a second, 0..64, while calm; only where the scene has no `speed` */
    fix16_t mood_rate;   /* steps from mood to mood a second, 1/16..64 */
    fix16_t range;       /* units between centres, 0..64: others at this distance or more aren't felt */
    fix16_t cohesion, berth, spread;       /* units a second at a gap of one unit, 0..64: the draw of friends;
                                              the push of enemies; and, panicked, of whoever is near */
    fix16_t clip;                          /* units a second, 0..64: of one neighbour at most */
    fix16_t path_bias[PHX_MOOD_COUNT];     /* share of the path in the velocity, 0..1 */
    fix16_t radius_factor[PHX_MOOD_COUNT]; /* of the avoidance radius, 1..4 */
    fix16_t speed_factor[PHX_MOOD_COUNT];  /* of the greatest speed, 0..4 */
    fix16_t spacing[PHX_BEHAVIOUR_COUNT];  /* units between bodies, 0..16; of NONE: not used */
    uint8_t neighbours;                    /* 0..16: the nearest are felt */
    uint8_t weight;                        /* 0..15: responsibility in avoiding others; 0: avoids nobody */
    /* Set by phx_feelings_prepare. */
    fix16_t calm_radius; /* for avoidance */
    bool feels;          /* even while calm and without behaviour */
} PhxFeelingsClass;

/* A class of the given body and speed with the usual values: ratio 1.4, bias 0.7 (0.35 panicked), radius 1.8
 * times and speed 1.25 times when panicked, spacing 0.2 on guard and 0.5 on patrol; no cohesion, no berth. */
PhxFeelingsClass phx_feelings_class_default(fix16_t radius, fix16_t speed);

/* One tick's task. Columns are by slot. */
typedef struct PhxFeelingsScene {
    const PhxSpatial *spatial; /* built from this tick's positions; the rows in it are the units that count */
    PhxFeelingsClass *classes;
    uint32_t class_count;     /* >= 1 */
    uint32_t tick_rate;       /* Hz, 1..1000 */
    const uint16_t *class_of; /* null: all of class 0; each < class_count */
    const uint8_t *mood;      /* PhxMood; null: all calm */
    const uint8_t *behaviour; /* PhxBehaviour; null: none */
    const uint8_t *owner;     /* null: all are strangers, neither friends nor enemies */
    const uint8_t *team;      /* by owner; null: each owner is a team */
    const uint8_t *moving;    /* 0: it stands and has nowhere to go; null: all move */
    const uint8_t *arriving; /* not 0: it goes to a place of its own at its goal, and friends draw it no more;
                                null: nobody does */
    const fix16_t *vel_x, *vel_y;   /* units a second, |v| <= 64 each; null: all friends go the same way */
    const fix16_t *post_x, *post_y; /* raw: where it goes, or stands; null: nowhere */
    fix16_t *mood_level;            /* in and out: Q16.16, 0..PHX_FEELINGS_LEVEL_MAX */
    fix16_t *avoid;                 /* in and out: avoidance radius, raw; 0: not known yet */
    fix16_t *pref_x, *pref_y;       /* in and out: units a second, |v| <= 64 */
    fix16_t *speed;                 /* in: greatest speed while calm, units a second, 0..64; out: in its mood.
                                       Null: the class's. Of units that feel nothing it isn't touched. */
    uint8_t *weight;                /* out */
    fix16_t widest; /* body and half a guard's spacing, of all classes; set by phx_feelings_prepare */
} PhxFeelingsScene;

/* The whole task: prepare, then solve all rows. */
void phx_feelings_run(PhxFeelingsScene *scene, const PhxJobs *jobs);

/* Its parts, for those who schedule by themselves. prepare: once, serially. solve: rows begin..end-1 of the
 * grid, in any ranges, in any order, on any thread. */
void phx_feelings_prepare(PhxFeelingsScene *scene);
void phx_feelings_solve(const PhxFeelingsScene *scene, uint32_t begin, uint32_t end);

/* Whether a unit of a prepared scene feels anything, and isn't left as it is. */
static inline bool phx_feelings_stirred(const PhxFeelingsScene *scene, uint32_t slot) {
    return scene->mood_level[slot] != 0 || (scene->mood && scene->mood[slot] != 0) ||
           (scene->behaviour && scene->behaviour[slot] != 0) ||
           scene->classes[scene->class_of ? scene->class_of[slot] : 0].feels;
}

/* A value that depends on the mood, at a level between moods: linear, rounded to nearest. Values within
 * +-2^30 of each other. */
static inline fix16_t phx_feelings_at(const fix16_t *by_mood, fix16_t level) {
    if (level <= 0) return by_mood[PHX_MOOD_CALM];
    if (level >= PHX_FEELINGS_LEVEL_MAX) return by_mood[PHX_MOOD_PANICKED];
    const fix16_t *from = &by_mood[level >> 16];
    return (fix16_t)(from[0] + phx_round_shift((int64_t)(from[1] - from[0]) * (level & 0xffff), 16));
}

#ifdef __cplusplus
}
#endif
#endif
