/* trial_judge.h: how well a crowd moved: overlaps, walls, arrivals, shaking. The same for ours and for a
 * peer's positions.
 *
 * Measures, over all units and steps:
 *   - overlap: how deep two discs lie in each other, in radii; pairs deeper than 0.001 count as overlapping;
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
    double overlap_max, wall_max, wall_hits; /* radii, radii, unit-steps */
    double overlaps, unit_steps;
    double changes[2], seconds[2]; /* in motion, at rest */
} PhxTrialJudge;

bool phx_trial_judge_begin(PhxTrialJudge *judge, const PhxTrial *scene); /* false: no memory */
void phx_trial_judge_end(PhxTrialJudge *judge);
/* Looks at the positions after a step; the first call gives the starts. `walls` counts boxes too. */
void phx_trial_judge_step(PhxTrialJudge *judge, const PhxTrialPoint *at);
uint32_t phx_trial_arrived(const PhxTrial *scene, const PhxTrialPoint *at);
double phx_trial_jitter(const PhxTrialJudge *judge, bool at_rest);
double phx_trial_overlaps(const PhxTrialJudge *judge); /* overlapping pairs per agent-step */

#endif
