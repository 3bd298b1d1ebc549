/* cmd_bench_crowd.h: what the parts of phx bench crowd share: a row is one scenario with one number of
 * threads, or one judged file. All its figures come from one and the same run.
 */
#ifndef PHX_CMD_BENCH_CROWD_H
#define PHX_CMD_BENCH_CROWD_H

#include "phx/cli.h"
#include "phx/trial_judge.h"

enum { PHX_BENCH_CROWD_THREADS = 16, PHX_BENCH_CROWD_STEPS = 40000 }; /* until all have arrived, at most */

typedef struct PhxBenchCrowdRow {
    const char *name;
    uint32_t count, steps, threads; /* threads 0: judged */
    double ms_median, ms_mean;      /* a step; the processor's of one thread, the clock's of more */
    double arrived, arrivable;      /* shares */
    double overlap_max, overlaps, wall_max, wall_hits;
    double jitter_motion, jitter_rest, threshold;
    double deviation; /* where `stands` */
    bool stands;
    double apart; /* seconds until the first step without an overlap, 0: never; of the scenario point */
    uint64_t root;
} PhxBenchCrowdRow;

/* Plays it; `steps` 0: as many as the scenario says. PHX_CLI_GO or a failure. */
int phx_bench_crowd_play(PhxCli *cli, const PhxTrial *scene, uint32_t steps, uint32_t threads, bool plain,
                         PhxBenchCrowdRow *row);
/* Judges the positions in a file: after each step x and y of each unit, as little-endian doubles, and nothing
 * else. PHX_CLI_GO or a failure. */
int phx_bench_crowd_judge(PhxCli *cli, const PhxTrial *scene, const char *path, PhxBenchCrowdRow *row);
/* Tables for a person. */
void phx_bench_crowd_print(const PhxCli *cli, const PhxBenchCrowdRow *rows, uint32_t count);
/* Sets the figures of a row in `object`. */
void phx_bench_crowd_json(const PhxBenchCrowdRow *row, json_t *object);

#endif
