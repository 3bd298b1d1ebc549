/* crowd.h: how masses of units flow through each other: each bends its way to where fewer come against it,
 * and doesn't press into those that are held up.
 *
 * ORCA sees the nearest few for a second or two; two masses that meet head-on have locked before it knows. So
 * the ground is cut into coarse cells; each knows how much of it bodies cover, which way they want to go, and
 * how many of them are held up. A unit looks ahead along its wish and along some directions beside it, to the
 * right first, and back even, where all before it comes against it; it takes the one with the least against
 * it. It looks twice: some cells ahead, where it has to find its way among others, and, over far cells, to
 * where a mass comes towards its own: the two part to the right of each other long before they meet. Streams
 * become lanes, circles turn. Before a cell that is dense and slow a unit slows down as well, as one does in
 * a queue: what stays loose goes on flowing, what is pressed locks. Besides, a unit that had to give way
 * returns to its way gently instead of at once, so that it doesn't shake.
 * Source of the idea of looking far ahead on a grid: Golas, Narain, Curtis, Lin, "Hybrid long-range collision
 * avoidance for crowd simulation", 2013; of crowds as densities on a grid: Narain, Golas, Curtis, Lin,
 * "Aggregate dynamics for dense crowd simulation", 2009; that speed falls with density: Weidmann,
 * "Transporttechnik der Fussgaenger", 1993. The choice among directions is ours.
 *
 * In: the spatial grid, velocities, preferred velocities, classes; per unit three columns of state. Out: the
 * preferred velocities, bent, and who sleeps. Cost: some 20 ns a unit for the cells; a unit looks anew 2.5
 * times a second.
 *
 * Determinism: integers. A job sums the cells of whole rows, nobody else adds to them, and sums don't depend
 * on an order; a unit reads cells and its own rows and writes only its own rows.
 */
#ifndef PHALANX_CROWD_H
#define PHALANX_CROWD_H

#include <phalanx/jobs.h>
#include <phalanx/nav.h>
#include <phalanx/orca.h>
#include <phalanx/spatial.h>
#include <phalanx/vec2.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PHX_CROWD_CELLS = 1 << 16, /* at most; where the crowd needs more, cells become larger */
    PHX_CROWD_GRAIN = 256,     /* rows a job; has no influence on the result */
    PHX_CROWD_KEEP = 7,        /* of `bend`: straight on, keeping to the right */
    PHX_CROWD_WAYS = 8         /* values of `bend` */
};

/* Of the bodies in a cell, Q16.16 of the cell: what they cover of it; the sum of that times the directions
 * they want; what belongs to those who are held up (all of a body that wants to go on and stands, half where
 * it goes at half the speed it wants), and to those who want nothing. How many move or want to. */
typedef struct PhxCrowdCell {
    int64_t area, x, y, held, rest, stirring;
} PhxCrowdCell;

/* What a unit wants: the direction, units a second, and how much of that it does, 0..1. Speed 0: nothing. */
typedef struct PhxCrowdWish {
    PhxDir way;
    fix16_t speed, pace;
} PhxCrowdWish;

/* Scratch that outlives a tick but carries nothing from one to the next. Fields are private to motion/. */
typedef struct PhxCrowdWork {
    uint32_t capacity;
    PhxCrowdCell *cell, *far;
    PhxCrowdWish *wish; /* by slot */
    uint32_t width, height, shift, far_width, far_height;
    uint32_t band_shift; /* of what a job sums */
    int32_t origin_x, origin_y;
} PhxCrowdWork;

/* Takes the memory from `arena` (measuring or real), for slots below `capacity`. */
void phx_crowd_layout(PhxCrowdWork *work, struct PhxArena *arena, uint32_t capacity);

/* One tick's task. Columns are by slot, raw Q16.16; velocities in units a second, |v| <= 64 each. */
typedef struct PhxCrowdScene {
    const PhxSpatial *spatial; /* built from this tick's positions; the rows in it are the units that count */
    const PhxNavGrid *solid;   /* a cell is one unit wide; null: no grid. Nobody looks into closed cells. */
    PhxVec2 solid_origin;      /* corner of its cell (0, 0) */
    const PhxOrcaClass *classes;
    const uint16_t *class_of; /* null: all of class 0 */
    uint32_t class_count;
    uint32_t tick, tick_rate;       /* rate: Hz, 1..1000 */
    const fix16_t *vel_x, *vel_y;   /* what the units do now */
    const fix16_t *goal_x, *goal_y; /* nobody looks beyond; null: no end */
    const uint8_t *leave;           /* not 0: this unit's wish is left as it is; null: none */
    fix16_t *pref_x, *pref_y;       /* in: the wish; out: the bent one */
    uint8_t *bend;                  /* state, 0..PHX_CROWD_WAYS-1; begins as 0 */
    fix16_t *sway;                  /* state: speed across its way; begins as 0 */
    /* State, begins as 0; null: nobody sleeps. A unit falls asleep when it stands, wants nothing and
     * avoidance left it so; it isn't solved then. It wakes when it wants something, is moved, or when another
     * one that moves or wants to is in the cells around its own. Who puts it elsewhere by other means sets 0.
     */
    uint8_t *asleep;
    PhxCrowdWork *work;
} PhxCrowdScene;

/* Before avoidance: bends the preferred velocities. */
void phx_crowd_bend(const PhxCrowdScene *scene, const PhxJobs *jobs);
/* After it: notes in `sway` how far the chosen velocities lead across the ways, for the next tick; who falls
 * asleep stands from now on. */
void phx_crowd_note(const PhxCrowdScene *scene, fix16_t *out_x, fix16_t *out_y, const PhxJobs *jobs);

#ifdef __cplusplus
}
#endif
#endif
