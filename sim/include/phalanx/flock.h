/* flock.h: what the other units of its flock make of the velocity that a unit prefers.
 *
 * Source: Reynolds, "Flocks, herds, and schools: a distributed behavioral model", 1987. Three rules ask for
 * a change of the velocity, and the unit's own way, a path's or a field's, asks for none:
 *
 *   separation  away from each flockmate that is nearer than the near radius, the more the nearer: at the
 *               radius nothing, at no distance as fast as the unit goes, which is the most in all.
 *   alignment   to how flockmates within the far radius go, in the mean.
 *   cohesion    to where they are in the mean: from a far radius away as fast as the unit goes.
 *
 * The change is the mean of the four by their weights, but no longer than the force of the class, and the
 * preferred velocity becomes no longer than the unit's greatest speed. What walls and avoidance make of it is
 * later and not touched by this. Who has no flockmate within its radii, or wants to stand, prefers what it
 * did.
 *
 * Flockmates aren't looked at one by one: the members of a flock are sorted into cells of at least a third of
 * the greatest radius, and each cell with members counts as that many at their mean position, with their mean
 * velocity; at most 7 x 7 cells for separation and as many for the rest, however dense the crowd is, so that
 * the cost is linear in the units. Of its own cell a unit leaves itself out, and sees up to 7 others there as
 * they are. Where bodies have room, changes are within 5% of the force of what all pairs would say, in the
 * root of the mean square (tests/property/flock.c).
 *
 * Cost: two linear sorts of the members, and 0.4 to 0.9 us each; who is in no flock costs one test.
 *
 * Determinism: integers, symmetric rounding. Sums over members don't depend on an order; a row reads cells
 * and writes only itself. So neither split nor order of calls can change a bit. Cells lie at multiples of
 * their size from the corner of the world, wherever units are.
 */
#ifndef PHALANX_FLOCK_H
#define PHALANX_FLOCK_H

#include <phalanx/jobs.h>
#include <phalanx/spatial.h>
#include <phalanx/vec2.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct PhxArena;

typedef enum PhxFlockRule {
    PHX_FLOCK_SEPARATION,
    PHX_FLOCK_ALIGNMENT,
    PHX_FLOCK_COHESION,
    PHX_FLOCK_SEEK,
    PHX_FLOCK_RULES
} PhxFlockRule;

enum {
    PHX_FLOCK_RADIUS_MAX = 64 << 16, /* raw */
    PHX_FLOCK_SPEED_MAX = 64 << 16,  /* of speeds, forces and weights, raw */
    PHX_FLOCK_GRAIN = 64,            /* cells a job; has no influence on the result */
};

/* What the units of one class have in common. phx_flock_run clamps all fields to the ranges stated. */
typedef struct PhxFlockClass {
    fix16_t weight[PHX_FLOCK_RULES]; /* 0..64; all zero: units of this class keep their ways */
    fix16_t near_radius, far_radius; /* units between centres, 0..64: of separation; of the other two */
    fix16_t force;                   /* units a second, 0..64: the preferred velocity changes by at most */
    fix16_t speed;                   /* units a second, 0..64; only where the scene has no `speed` */
} PhxFlockClass;

/* A class of the given speed with the usual values: weights 2, 1, 1 and 1.5, radii 3 and 8, and a force as
 * great as the speed. */
PhxFlockClass phx_flock_class_default(fix16_t speed);

/* The members of one flock in one cell. */
typedef struct PhxFlockCell {
    uint64_t key;          /* flock, row, column */
    uint32_t first, count; /* of `member` */
    int64_t x, y;          /* sums of positions, raw */
    int64_t vel_x, vel_y;  /* sums of velocities, raw */
    PhxVec2 middle;        /* mean position */
} PhxFlockCell;

typedef struct PhxFlockLevel {
    PhxFlockCell *cell; /* by key */
    uint32_t *member;   /* slots, by cell */
    uint32_t cell_count, shift;
    int32_t reach; /* cells on each side that a radius spans */
} PhxFlockLevel;

/* Scratch that outlives a tick but carries nothing from one to the next. Fields are private to motion/. */
typedef struct PhxFlockWork {
    uint32_t capacity;
    PhxFlockLevel near, far;
    uint64_t *key[2];
    uint32_t *slot[2];
    PhxVec2 *velocity, *centre; /* by slot: what flockmates do in the mean; the way to their middle */
    uint8_t *company;           /* by slot: whether there are any within the far radius */
    fix16_t *speed;             /* by slot: the caller's, where it keeps the scene's `speed` nowhere else */
} PhxFlockWork;

/* Takes the memory from `arena` (measuring or real), for slots below `capacity`: some 190 bytes each. */
void phx_flock_layout(PhxFlockWork *work, struct PhxArena *arena, uint32_t capacity);

/* One tick's task. Columns are by slot. */
typedef struct PhxFlockScene {
    const PhxSpatial *spatial; /* built from this tick's positions; the rows in it are the units that count */
    PhxFlockClass *classes;
    uint32_t class_count;     /* >= 1 */
    const uint16_t *class_of; /* null: all of class 0; each < class_count */
    const uint32_t *flock;    /* units of one number are flockmates; 0: in none, neither led nor followed */
    const fix16_t *vel_x, *vel_y; /* units a second, |v| <= 64 each */
    const fix16_t *speed;         /* greatest speed, units a second, 0..64; null: the class's */
    fix16_t *pref_x, *pref_y;     /* in and out: units a second, |v| <= 64 */
    PhxFlockWork *work;
} PhxFlockScene;

/* The whole task. */
void phx_flock_run(PhxFlockScene *scene, const PhxJobs *jobs);

#ifdef __cplusplus
}
#endif
#endif
