/* trial_run.h: a crowd of trial.h under the engine's own avoidance, step by step, timed. */
#ifndef PHX_TRIAL_RUN_H
#define PHX_TRIAL_RUN_H

#include <phalanx/crowd.h>
#include <phalanx/jobs.h>
#include <phalanx/orca.h>

#include "base/arena.h"
#include "phx/trial.h"

typedef struct PhxTrialRun {
    const PhxTrial *scene;
    PhxJobs jobs;
    void *memory;
    PhxSpatial spatial;
    PhxOrcaWork work;
    PhxCrowdWork crowd;
    PhxOrcaClass class;
    PhxWalls walls;
    bool walled;
    uint8_t *closed; /* of the ground that a crowd sees; null: no walls */
    PhxNavGrid ground;
    PhxVec2 ground_origin;
    fix16_t *x, *y, *goal_x, *goal_y, *vel_x, *vel_y, *pref_x, *pref_y, *out_x, *out_y;
    fix16_t *sway;
    uint8_t *bend;
    fix16_t preferred; /* raw */
    bool plain;        /* ORCA alone, without bending */
    PhxTrialPoint *at; /* where all are, for the judge */
    uint8_t *bytes;    /* of a step's positions and velocities, for the root */
    uint64_t root;
    uint64_t *ns; /* a step: the processor's with one thread, the clock's with more */
    uint32_t steps;
} PhxTrialRun;

/* False: no memory. */
bool phx_trial_run_begin(PhxTrialRun *run, const PhxTrial *scene, PhxJobs jobs, uint32_t step_limit);
void phx_trial_run_step(PhxTrialRun *run);
void phx_trial_run_end(PhxTrialRun *run);
/* Of the positions and velocities after each step so far: the same for any number of threads, on every
 * platform. */
uint64_t phx_trial_run_root(const PhxTrialRun *run);

#endif
