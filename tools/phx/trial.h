/* trial.h: crowds with a task, as the literature and the peers' programs measure them: starts, goals,
 * walls, limits.
 *
 * The same parameters, seeds and goal rules as the peer's program has, so that both face the same task:
 * circle, blocks, random, counterflow, and the small ones door, crossing, one point, packed. Lengths are
 * doubles here and become Q16.16 once, when the crowd begins; nothing of this reaches the simulation.
 */
#ifndef PHX_TRIAL_H
#define PHX_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PHX_TRIAL_BOXES = 8 }; /* boxes */

typedef struct PhxTrialPoint {
    double x, y;
} PhxTrialPoint;

typedef struct PhxTrialBox {
    double x0, y0, x1, y1;
} PhxTrialBox;

typedef struct PhxTrial {
    const char *name;
    uint32_t count; /* of units */
    PhxTrialPoint *start, *goal;
    PhxTrialBox box[PHX_TRIAL_BOXES]; /* solid */
    uint32_t boxes;
    double radius, preferred, fastest; /* units; units a second */
    double range, horizon, wall_horizon;
    uint32_t rate, neighbours; /* steps a second */
    double arrived_within;     /* of the goal */
    double passed_x; /* door: a unit has arrived when it is so far beyond the middle; 0: by the goal */
    bool stands;     /* all begin at their goals */
    uint32_t steps;  /* that the peer's figures are given for; 0: until all have arrived */
} PhxTrial;

/* How many units a scenario can have: the positions of more would be out of the simulation's range, or the
 * peer's program defines no other number. */
typedef struct PhxTrialRange {
    uint32_t least, most, usual;
} PhxTrialRange;
bool phx_trial_range(const char *name, PhxTrialRange *range); /* false: there is none of that name */

/* The scenario of that name with about `count` units (0: its usual number; counterflow has an even one);
 * false: there is none of that name, `count` is out of its range, or no memory. Free it in any case. */
bool phx_trial_make(PhxTrial *scene, const char *name, uint32_t count);
void phx_trial_free(PhxTrial *scene);

/* The names, with commas between. */
#define PHX_TRIAL_NAMES "circle, blocks, random, counterflow, door, crossing, point, packed"

#endif
