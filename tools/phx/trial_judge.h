/* trial_judge.h: how well a crowd moved: overlaps, walls, arrivals, shaking. The same for ours and for a
 * peer's positions.
 *
 * Measures, over all units and steps:
 *   - overlap: how deep two discs lie in each other, in radii; pairs deeper than 0.001 count as overlapping;
 *   - apart: the first step after which no two overlap;
 *   - deviation, where all stand: of a unit's positions in the last second from their mean, the root of the
 * mean square, of the unit that has the largest;
 *   - walls: how deep a disc lies in a box, in radii;
 *   - jitter: sign changes of the lateral acceleration above a threshold, per unit and second. Lateral:
 * across the direction to the goal for a unit that is farther from it than its preferred speed goes in a
 * second (in motion), along x for the others (at rest). Threshold: half its preferred speed a second, each
 * second; smaller ones are no change.
 */
#ifndef PHX_TRIAL_JUDGE_H
#define PHX_TRIAL_JUDGE_H

#include "phx/trial.h"

typedef struct PhxTrialMark { /* a unit as the step before saw it */
    double x, y, vel_x, vel_y;
    int8_t sign[2]; /* of the last lateral acceleration above the threshold: in motion, at rest */
} PhxTrialMark;

typedef struct PhxTrialJudge {
    const PhxTrial *scene;
    PhxTrialMark *mark;
    int32_t *head, *next; /* of a grid of cells two radii wide */
    uint32_t heads, steps;
    uint32_t apart;                          /* step; 0: never so far */
    double overlap_max, wall_max, wall_hits; /* radii, radii, unit-steps */
    double overlaps, unit_steps;
    PhxTrialPoint
        *recent; /* the positions of the last second, a row a step; null: it isn't a scene of rest */
    double changes[2], seconds[2]; /* in motion, at rest */
} PhxTrialJudge;

bool phx_trial_judge_begin(PhxTrialJudge *judge, const PhxTrial *scene); /* false: no memory */
void phx_trial_judge_end(PhxTrialJudge *judge);
/* Looks at the positions after a step; the first call gives the starts. `walls` counts boxes too. */
void phx_trial_judge_step(PhxTrialJudge *judge, const PhxTrialPoint *at);
uint32_t phx_trial_arrived(const PhxTrial *scene, const PhxTrialPoint *at);
/* The share of the units that can have arrived after so many steps at their preferred speed on the straight
 * line: nobody's crowd can do better without hurrying. */
double phx_trial_arrivable(const PhxTrial *scene, uint32_t steps);
double phx_trial_threshold(const PhxTrial *scene); /* of jitter: units a second, each second */
double phx_trial_jitter(const PhxTrialJudge *judge, bool at_rest);
double phx_trial_deviation(const PhxTrialJudge *judge); /* units; 0 where not all stand */
double phx_trial_overlaps(const PhxTrialJudge *judge);  /* overlapping pairs per agent-step */

#endif
