/* cmd_bench_crowd.c: phx bench crowd: crowds with a task under the engine's own avoidance: how fast, who
 * arrives, who overlaps, who shakes.
 *
 * The scenarios (trial.h) are those of the peer's program, with its parameters, starts and goals; so that a
 * peer's figures are of the same judge, --judge reads its positions. In: options. Out: a table, or one JSON
 * object: of one scenario with one number of threads its figures, else rows. Roots must be equal for all
 * numbers of threads; if they aren't, that is said, and the exit code is 1. Cost: some 20 s without options,
 * a few minutes with --long.
 */
#include "phx/cmd_bench_crowd.h"
#include "phx/cmd_bench.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 14, ROW_LIMIT = TASKS * PHX_BENCH_CROWD_THREADS, STEP_LIMIT = 1000000 };

static const PhxCliUsage usage = {
    .synopsis = "crowd",
    .about =
        "Plays crowds with a task, each unit straight to its goal, under the engine's avoidance alone, and\n"
        "measures speed, arrivals, overlaps, walls and shaking in one and the same run: circle, blocks, "
        "random,\n"
        "counterflow, door, crossing, point (two at one), packed. Parameters, starts and goals are those "
        "that\n"
        "the benchmarks of RVO2 have; its positions are judged alike by --judge, from a file of doubles: x "
        "and y\n"
        "of each unit after each step. Times are the processor's of one thread, the clock's of more.",
    .examples = "  phx bench crowd\n"
                "  phx bench crowd --scenario random --n 10000 --threads 1 --json\n"
                "  phx bench crowd --scenario counterflow --n 10000 --steps 600 --threads 1,2\n"
                "  phx bench crowd --scenario circle --n 250 --judge rvo2-circle.f64\n"
                "  phx bench crowd --long --json | jq '.rows[] | [.scenario, .n, .arrived]'\n",
    .least = 1,
    .most = 1};

/* `pair`: on one and two threads, where none are asked for. */
typedef struct Task {
    const char *name;
    uint32_t count; /* 0: the usual number */
    bool pair;
} Task;

static const Task usual[] = {{"circle", 0, false},      {"blocks", 0, false}, {"random", 0, false},
                             {"counterflow", 0, false}, {"door", 0, false},   {"crossing", 0, false},
                             {"point", 0, false},       {"packed", 0, false}, {NULL, 0, false}};

static const Task whole[] = {{"circle", 250, false},       {"circle", 1000, false},
                             {"blocks", 100, false},       {"blocks", 1000, false},
                             {"random", 1000, false},      {"random", 10000, true},
                             {"random", 50000, false},     {"counterflow", 1000, false},
                             {"counterflow", 10000, true}, {"door", 60, false},
                             {"crossing", 4, false},       {"point", 2, false},
                             {"packed", 10, false},        {NULL, 0, false}};

typedef struct Crowds {
    PhxCli *cli;
    char *scenario, *trace; /* null: all; played */
    long long count, steps; /* 0: the scenario's own */
    uint32_t threads[PHX_BENCH_CROWD_THREADS], thread_count;
    bool asked; /* for those threads */
    bool plain, lengthy;
    PhxBenchCrowdRow rows[ROW_LIMIT];
    uint32_t row_count;
} Crowds;

static int check_roots(Crowds *crowds, uint32_t first) {
    const PhxBenchCrowdRow *one = &crowds->rows[first];
    for (uint32_t i = first + 1; i < crowds->row_count; i++)
        if (crowds->rows[i].root != one->root)
            return phx_cli_false(crowds->cli,
                                 "%s, %" PRIu32 " units: the root with %" PRIu32 " threads is %016" PRIx64
                                 ", with %" PRIu32 " it is %016" PRIx64,
                                 one->name, one->count, crowds->rows[i].threads, crowds->rows[i].root,
                                 one->threads, one->root);
    return PHX_CLI_GO;
}

static int play(Crowds *crowds, const PhxTrial *scene, const uint32_t *threads, uint32_t count) {
    const uint32_t first = crowds->row_count;
    int code = PHX_CLI_GO;
    for (uint32_t i = 0; i < count && code == PHX_CLI_GO; i++) {
        PhxBenchCrowdRow *row = &crowds->rows[crowds->row_count];
        code =
            phx_bench_crowd_play(crowds->cli, scene, (uint32_t)crowds->steps, threads[i], crowds->plain, row);
        crowds->row_count += code == PHX_CLI_GO;
    }
    return code == PHX_CLI_GO ? check_roots(crowds, first) : code;
}

static int run_task(Crowds *crowds, const Task *task) {
    static const uint32_t pair[2] = {1, 2};
    PhxTrial scene;
    int code;
    if (!phx_trial_make(&scene, task->name, task->count)) {
        code = phx_cli_fail_status(crowds->cli, task->name, PHX_ERROR_MEMORY, NULL);
    } else if (crowds->trace != NULL) {
        code = phx_bench_crowd_judge(crowds->cli, &scene, crowds->trace, &crowds->rows[0]);
        crowds->row_count = code == PHX_CLI_GO;
    } else if (task->pair && !crowds->asked) {
        code = play(crowds, &scene, pair, 2);
    } else {
        code = play(crowds, &scene, crowds->threads, crowds->thread_count);
    }
    phx_trial_free(&scene);
    return code;
}

static int check_scenario(Crowds *crowds) {
    PhxTrialRange range;
    if (crowds->scenario == NULL) return PHX_CLI_GO;
    if (!phx_trial_range(crowds->scenario, &range))
        return phx_cli_fail(crowds->cli,
                            "--scenario: %.40s: there is none of that name; there are " PHX_TRIAL_NAMES,
                            crowds->scenario);
    if (crowds->count == 0 || (crowds->count >= range.least && crowds->count <= range.most))
        return PHX_CLI_GO;
    return phx_cli_fail(crowds->cli,
                        "--n: %lld: %s can have %" PRIu32 " to %" PRIu32
                        " units; leave the option out for %" PRIu32,
                        crowds->count, crowds->scenario, range.least, range.most, range.usual);
}

static int check_together(Crowds *crowds) {
    PhxCli *cli = crowds->cli;
    const bool one = crowds->scenario != NULL;
    if (!one && crowds->count != 0)
        return phx_cli_fail(cli, "--n is of one scenario: --scenario NAME besides; " PHX_TRIAL_NAMES);
    if (!one && crowds->trace != NULL)
        return phx_cli_fail(cli, "--judge needs to know whose starts and goals: --scenario NAME besides");
    if (one && crowds->lengthy)
        return phx_cli_fail(cli, "--long plays all scenarios: leave --scenario or --long out");
    if (crowds->trace != NULL && (crowds->asked || crowds->plain || crowds->steps != 0))
        return phx_cli_fail(cli, "--judge plays nothing: leave --threads, --plain and --steps out");
    return PHX_CLI_GO;
}

static int parse(Crowds *crowds, int argc, const char **argv) {
    PhxCli *cli = crowds->cli;
    char *threads = NULL;
    int plain = 0, lengthy = 0;
    crowds->count = crowds->steps = PHX_CLI_DEFAULT;
    const struct poptOption table[] = {
        {"scenario", 0, POPT_ARG_STRING, &crowds->scenario, 0, PHX_TRIAL_NAMES " (default: all)", "NAME"},
        {"n", 'n', POPT_ARG_LONGLONG, &crowds->count, 0, "units (default: the scenario's own)", "N"},
        {"steps", 0, POPT_ARG_LONGLONG, &crowds->steps, 0,
         "steps (default: the scenario's own; of some until all have arrived)", "N"},
        {"threads", 'j', POPT_ARG_STRING, &threads, 0, "numbers of threads, with commas between (default 1)",
         "LIST"},
        {"judge", 0, POPT_ARG_STRING, &crowds->trace, 0, "play nothing, judge the positions in this file",
         "TRACE"},
        {"plain", 0, POPT_ARG_NONE, &plain, 0, "without bending: ORCA alone", NULL},
        {"long", 0, POPT_ARG_NONE, &lengthy, 0, "all scenarios up to 50,000 units: some minutes", NULL},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO)
        code = phx_cli_optional(cli, "--steps", &crowds->steps, 1, STEP_LIMIT, "the scenario's own");
    if (code == PHX_CLI_GO)
        code = phx_cli_optional(cli, "--n", &crowds->count, 1, UINT32_MAX, "the scenario's own");
    if (code != PHX_CLI_GO) return code;
    crowds->plain = plain != 0, crowds->lengthy = lengthy != 0, crowds->asked = threads != NULL;
    code = check_together(crowds);
    if (code == PHX_CLI_GO) code = check_scenario(crowds);
    if (code != PHX_CLI_GO) return code;
    return phx_cli_list(cli, "--threads", threads ? threads : "1", 1, PHX_JOBS_WORKERS_MAX, crowds->threads,
                        PHX_BENCH_CROWD_THREADS, &crowds->thread_count);
}

static void set_json(const Crowds *crowds) {
    PhxCli *cli = crowds->cli;
    if (crowds->row_count == 0) return;
    if (crowds->plain) phx_cli_set(cli, "plain", json_true());
    if (crowds->trace != NULL) phx_cli_set(cli, "judged", json_string(crowds->trace));
    if (crowds->scenario != NULL && crowds->thread_count == 1) {
        phx_bench_crowd_json(&crowds->rows[0], cli->root);
        return;
    }
    json_t *rows = json_array();
    for (uint32_t i = 0; i < crowds->row_count; i++) {
        json_t *row = json_object();
        phx_bench_crowd_json(&crowds->rows[i], row);
        json_array_append_new(rows, row);
    }
    phx_cli_set(cli, "rows", rows);
}

int phx_bench_crowd(PhxCli *cli, int argc, const char **argv) {
    Crowds *crowds = calloc(1, sizeof *crowds);
    if (crowds == NULL) return phx_cli_fail_status(cli, "bench crowd", PHX_ERROR_MEMORY, NULL);
    crowds->cli = cli;
    int code = parse(crowds, argc, argv);
    if (code == PHX_CLI_GO) {
        const Task one[] = {{crowds->scenario, (uint32_t)crowds->count, false}, {NULL, 0, false}};
        const Task *tasks = crowds->scenario != NULL ? one : crowds->lengthy ? whole : usual;
        for (uint32_t i = 0; tasks[i].name != NULL && code == PHX_CLI_GO; i++)
            code = run_task(crowds, &tasks[i]);
        set_json(crowds);
        phx_bench_crowd_print(cli, crowds->rows, crowds->row_count);
        if (code == PHX_CLI_GO) code = PHX_EXIT_OK;
    }
    free(crowds);
    return code;
}
