/* cmd_bench.h: what the figures of phx bench share: phx bench hash, replay, nav, assign, flock, spline, all.
 *
 * A figure is one case: a name, a JSON object of numbers, and a line for a person. Times are the processor's,
 * medians of many ticks and the best of several runs, since another program can only add to them; what counts
 * are ratios of one session.
 */
#ifndef PHX_CMD_BENCH_H
#define PHX_CMD_BENCH_H

#include "phx/cli.h"

enum { PHX_BENCH_CASES = 64, PHX_BENCH_LINE = 120 };

typedef struct PhxBenchCase {
    const char *name;
    char line[PHX_BENCH_LINE];
    double target; /* at most; 0: none */
    bool met;
} PhxBenchCase;

typedef struct PhxBench {
    PhxCli *cli;
    const char *scenario; /* of the match that is recorded */
    uint32_t ticks;       /* of it */
    bool brief;           /* fewer ticks and runs: to see that it works, not to measure */
    const char *peer;     /* a program that measures splines of its own; null: none */
    bool lengthy;         /* more of them, where chance has a part */
    PhxBenchCase cases[PHX_BENCH_CASES];
    uint32_t count;
} PhxBench;

/* Adds a case; `values` goes into the JSON object under `name`, with "target" and "met" where `target` isn't
 * 0: met if value <= target. */
void phx_bench_add(PhxBench *bench, const char *name, json_t *values, double value, double target,
                   const char *format, ...) PHX_PRINTF(6, 7);
/* Sorts; an even number of values: the mean of the middle two; none: 0. */
uint64_t phx_bench_median(uint64_t *values, uint32_t count);

/* Each adds its cases. PHX_CLI_GO, or a failure that was said. */
int phx_bench_hash(PhxBench *bench);
int phx_bench_replay(PhxBench *bench);
int phx_bench_nav(PhxBench *bench);
int phx_bench_assign(PhxBench *bench);
int phx_bench_flock(PhxBench *bench);
int phx_bench_spline(PhxBench *bench);

/* Whether the words of phx bench ask for figures ("hash", "replay", "nav", "assign", "flock", "spline",
 * "all", perhaps behind options that take no value), and the command that prints them. */
bool phx_bench_asks_figures(int argc, const char **argv);
int phx_bench_figures(PhxCli *cli, int argc, const char **argv);

/* phx bench crowd, phx bench tick and phx bench path have options of their own. */
int phx_bench_crowd(PhxCli *cli, int argc, const char **argv);
int phx_bench_tick(PhxCli *cli, int argc, const char **argv);
int phx_bench_path(PhxCli *cli, int argc, const char **argv);
/* Whether the first word, behind options that take no value, is this one. */
bool phx_bench_asks(int argc, const char **argv, const char *word);

#endif
