/* cmd_bench.c: phx bench: what a tick costs, for scenarios and thread counts.
 *
 * Each row is one run from tick 0: mean and median over its ticks of the time inside phx_sim_step, and the
 * mean by phase. The median leaves out the ticks in which the machine did something else. Roots
 * of one scenario must be equal for all thread counts; if they aren't, that is said, and the exit code is 1.
 * The time of the processor is given besides that of the clock, since a busy machine changes it less. A
 * peer's program isn't built here: its figure, measured in the same session, is given by --peer-ms, and each
 * row says how many times as long this tick takes.
 */
#include "phx/cmd_bench.h"
#include "phx/solo.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREAD_COUNTS = 16, ROW_LIMIT = PHX_CLI_ARGUMENT_LIMIT * THREAD_COUNTS };

static const PhxCliUsage usage = {
    .synopsis = "[SCENARIO|BLOB... | hash|replay|nav|assign|flock|spline|all | crowd | tick | path]",
    .about =
        "Plays scenarios and measures: milliseconds a tick by phase, agent-steps a second (units times ticks "
        "by\n"
        "the time inside the step), bytes of state, and the root hash, for each number of threads. Without "
        "a\n"
        "scenario: those of tests/scenario that are made for it. Absolute times hold for one machine at one\n"
        "moment; compare ratios of one run: the median of the processor's time a tick with --peer-ms, what\n"
        "another program needed for the same in the same session. The words hash, replay, nav, assign, "
        "flock, spline "
        "and all "
        "measure\n"
        "parts of the engine instead: phx bench all --help; crowd plays crowds with a task, tick whole "
        "ticks "
        "of\n"
        "large crowds, and path solves problems of grid search: phx bench crowd --help, phx bench tick "
        "--help,\n"
        "phx bench path --help.",
    .examples = "  phx bench\n"
                "  phx bench all\n"
                "  phx bench tests/scenario/crowd1000.yaml --threads 1,2 --ticks 1000\n"
                "  phx bench tests/scenario/crowd1000.yaml --threads 1 --peer-ms 2.65 --peer-name RVO2\n"
                "  phx bench tests/scenario/clash.yaml --json | jq '.rows[0].ms_by_phase'\n",
    .least = 0,
    .most = PHX_CLI_ARGUMENT_LIMIT - 1};

static const char *const own_scenarios[] = {"tests/scenario/crowd1000.yaml", "tests/scenario/clash.yaml",
                                            "tests/scenario/door.yaml", "tests/scenario/melee8.yaml"};

typedef struct Row {
    char title[PHX_SCENARIO_NAME];
    uint32_t threads, ticks, units, arrived;
    uint64_t root, ns, cpu_ns, agent_steps;
    uint64_t median_ns, median_cpu_ns; /* of one tick */
    size_t state_bytes, memory_bytes;
    PhxCliPhases phases;
} Row;

typedef struct Bench {
    PhxCli *cli;
    long long ticks, field_cache;
    double peer_ms; /* 0: no peer */
    char *peer_name;
    uint32_t threads[THREAD_COUNTS], thread_count;
    Row *rows;
    uint32_t row_count;
} Bench;

static int by_size(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Sorts the values; an even number of them: the mean of the middle two. */
static uint64_t median(uint64_t *values, uint32_t count) {
    if (count == 0) return 0;
    qsort(values, count, sizeof *values, by_size);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Plays the match; ns[t] and cpu[t] become the times of tick t. */
static int play(PhxSolo *solo, uint64_t *ns, uint64_t *cpu) {
    const PhxSoloContent *content = solo->content;
    int code = PHX_CLI_GO;
    char words[128];
    snprintf(words, sizeof words, "%s, threads %" PRIu32, content->title, solo->options.threads);
    for (uint32_t tick = 0; tick < content->ticks && code == PHX_CLI_GO; tick++) {
        const uint64_t ns_before = solo->step_ns, cpu_before = solo->cpu_ns;
        code = phx_solo_step(solo);
        ns[tick] = solo->step_ns - ns_before;
        cpu[tick] = solo->cpu_ns - cpu_before;
        phx_cli_progress(solo->cli, tick + 1, content->ticks, words);
    }
    return code;
}

static int measure(Bench *bench, const PhxSoloContent *content, uint32_t threads) {
    PhxCli *cli = bench->cli;
    PhxSolo solo;
    const PhxSoloOptions options = {.threads = threads, .field_cache = (uint32_t)bench->field_cache};
    int code = phx_solo_open(&solo, cli, content, &options);
    if (code != PHX_CLI_GO) return code;
    uint64_t *ns = malloc((content->ticks + 1) * sizeof *ns),
             *cpu = malloc((content->ticks + 1) * sizeof *cpu);
    if (ns != NULL && cpu != NULL)
        code = play(&solo, ns, cpu);
    else
        code = phx_cli_fail_status(cli, "bench", PHX_ERROR_MEMORY, NULL);
    if (code != PHX_CLI_GO) {
        free(ns);
        free(cpu);
        phx_solo_close(&solo);
        return code;
    }
    Row *row = &bench->rows[bench->row_count++];
    *row = (Row){.threads = threads,
                 .ticks = content->ticks,
                 .units = phx_sim_units(solo.sim).live,
                 .arrived = solo.arrived,
                 .root = phx_sim_root(solo.sim),
                 .ns = solo.step_ns,
                 .cpu_ns = solo.cpu_ns,
                 .median_ns = median(ns, content->ticks),
                 .median_cpu_ns = median(cpu, content->ticks),
                 .agent_steps = solo.agent_steps,
                 .state_bytes = phx_sim_state_bytes(solo.sim),
                 .memory_bytes = phx_sim_memory_bytes(solo.sim),
                 .phases = solo.phases};
    memcpy(row->title, content->title, sizeof row->title);
    free(ns);
    free(cpu);
    phx_solo_close(&solo);
    return code;
}

static int measure_scenario(Bench *bench, const char *path) {
    PhxSoloContent content;
    const PhxScenarioChanges changes = {.ticks = (uint32_t)bench->ticks};
    int code = phx_solo_content_open(bench->cli, path, &changes, &content);
    if (code != PHX_CLI_GO) return code;
    const uint32_t first = bench->row_count;
    for (uint32_t i = 0; i < bench->thread_count && code == PHX_CLI_GO; i++)
        code = measure(bench, &content, bench->threads[i]);
    for (uint32_t i = first + 1; i < bench->row_count && code == PHX_CLI_GO; i++)
        if (bench->rows[i].root != bench->rows[first].root)
            code = phx_cli_false(bench->cli,
                                 "%s: the root with %" PRIu32 " threads is %016" PRIx64 ", with %" PRIu32
                                 " it is %016" PRIx64,
                                 content.title, bench->rows[i].threads, bench->rows[i].root,
                                 bench->rows[first].threads, bench->rows[first].root);
    phx_solo_content_close(&content);
    return code;
}

static double ms(uint64_t ns, uint32_t ticks) { return ticks == 0 ? 0 : (double)ns / 1e6 / ticks; }

static double steps_a_second(const Row *row) {
    return row->ns == 0 ? 0 : (double)row->agent_steps * 1e9 / (double)row->ns;
}

static double peer_ratio(const Bench *bench, const Row *row) {
    return ms(row->median_cpu_ns, 1) / bench->peer_ms;
}

static void print_peer(const Bench *bench) {
    if (bench->peer_ms == 0) return;
    const char *name = bench->peer_name ? bench->peer_name : "the peer";
    phx_cli_print(bench->cli, "\nmedian processor time of a whole tick against %g ms of %s\n", bench->peer_ms,
                  name);
    for (uint32_t i = 0; i < bench->row_count; i++) {
        const Row *row = &bench->rows[i];
        phx_cli_print(bench->cli, "%-12s %7" PRIu32 " %9.4f ms: %.3f times %s's\n", row->title, row->threads,
                      ms(row->median_cpu_ns, 1), peer_ratio(bench, row), name);
    }
}

static void print_table(const Bench *bench) {
    const PhxCli *cli = bench->cli;
    if (bench->row_count == 0) return;
    phx_cli_print(cli, "%-12s %7s %6s %6s %7s %9s %9s %11s %9s %14s %12s  %s\n", "scenario", "threads",
                  "ticks", "units", "arrived", "ms/tick", "median", "cpu ms/tick", "median", "agent-steps/s",
                  "state bytes", "root");
    for (uint32_t i = 0; i < bench->row_count; i++) {
        const Row *row = &bench->rows[i];
        phx_cli_print(cli,
                      "%-12s %7" PRIu32 " %6" PRIu32 " %6" PRIu32 " %7" PRIu32
                      " %9.4f %9.4f %11.4f %9.4f %14.0f %12zu  %016" PRIx64 "\n",
                      row->title, row->threads, row->ticks, row->units, row->arrived, ms(row->ns, row->ticks),
                      ms(row->median_ns, 1), ms(row->cpu_ns, row->ticks), ms(row->median_cpu_ns, 1),
                      steps_a_second(row), row->state_bytes, row->root);
    }
    print_peer(bench);
    /* The phases are the engine's and the game's: alike in all rows. */
    const PhxCliPhases *phases = &bench->rows[0].phases;
    phx_cli_print(cli, "\nms a tick by phase\n%-12s %7s", "scenario", "threads");
    for (uint32_t p = 0; p < phases->count; p++)
        phx_cli_print(cli, " %10.10s", phases->names[p] ? phases->names[p] : "?");
    phx_cli_print(cli, "\n");
    for (uint32_t i = 0; i < bench->row_count; i++) {
        const Row *row = &bench->rows[i];
        phx_cli_print(cli, "%-12s %7" PRIu32, row->title, row->threads);
        for (uint32_t p = 0; p < phases->count; p++)
            phx_cli_print(cli, " %10.4f", ms(row->phases.ns[p], row->ticks));
        phx_cli_print(cli, "\n");
    }
}

static void set_json(const Bench *bench) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < bench->row_count; i++) {
        const Row *row = &bench->rows[i];
        json_t *entry = json_object();
        json_object_set_new(entry, "scenario", json_string(row->title));
        json_object_set_new(entry, "threads", json_integer(row->threads));
        json_object_set_new(entry, "ticks", json_integer(row->ticks));
        json_object_set_new(entry, "units", json_integer(row->units));
        json_object_set_new(entry, "arrived", json_integer(row->arrived));
        json_object_set_new(entry, "ms_per_tick", json_real(ms(row->ns, row->ticks)));
        json_object_set_new(entry, "cpu_ms_per_tick", json_real(ms(row->cpu_ns, row->ticks)));
        json_object_set_new(entry, "median_ms_per_tick", json_real(ms(row->median_ns, 1)));
        json_object_set_new(entry, "median_cpu_ms_per_tick", json_real(ms(row->median_cpu_ns, 1)));
        if (bench->peer_ms > 0)
            json_object_set_new(entry, "times_the_peer", json_real(peer_ratio(bench, row)));
        json_object_set_new(entry, "ms_by_phase", phx_cli_phases_json(&row->phases, row->ticks));
        json_object_set_new(entry, "agent_steps_per_second", json_real(steps_a_second(row)));
        json_object_set_new(entry, "state_bytes", json_integer((json_int_t)row->state_bytes));
        json_object_set_new(entry, "memory_bytes", json_integer((json_int_t)row->memory_bytes));
        json_object_set_new(entry, "root", phx_cli_hash_json(row->root));
        json_array_append_new(list, entry);
    }
    phx_cli_set(bench->cli, "rows", list);
    if (bench->peer_ms > 0)
        phx_cli_set(bench->cli, "peer",
                    json_pack("{s:s*, s:f}", "name", bench->peer_name, "ms", bench->peer_ms));
}

static int read_peer(Bench *bench, const char *text) {
    if (text == NULL && bench->peer_name == NULL) return PHX_CLI_GO;
    if (text == NULL) return phx_cli_fail(bench->cli, "--peer-name needs --peer-ms X besides");
    char *end;
    bench->peer_ms = strtod(text, &end);
    if (end != text && *end == 0 && isfinite(bench->peer_ms) && bench->peer_ms > 0) return PHX_CLI_GO;
    return phx_cli_fail(bench->cli, "--peer-ms: %.40s: a number of milliseconds above 0 is wanted", text);
}

/* The scenarios of this project are found from its own folder alone. */
static int find_own(Bench *bench) {
    for (size_t i = 0; i < sizeof own_scenarios / sizeof own_scenarios[0]; i++)
        if (access(own_scenarios[i], R_OK) != 0)
            return phx_cli_fail(
                bench->cli,
                "%s: %s; without a scenario phx bench plays those of the project's folder: run "
                "it there, or name a scenario: phx bench SCENARIO",
                own_scenarios[i], strerror(errno));
    return PHX_CLI_GO;
}

static int parse(Bench *bench, int argc, const char **argv) {
    char *threads = NULL, *peer = NULL;
    bench->ticks = bench->field_cache = PHX_CLI_DEFAULT;
    const struct poptOption table[] = {
        {"threads", 'j', POPT_ARG_STRING, &threads, 0,
         "numbers of threads, with commas between (default 1,2)", "LIST"},
        {"ticks", 't', POPT_ARG_LONGLONG, &bench->ticks, 0, "ticks of each run (default: the scenario's own)",
         "N"},
        {"field-cache", 0, POPT_ARG_LONGLONG, &bench->field_cache, 0,
         "tiles of flow fields kept (default: the scenario's, or 64 MiB of them)", "N"},
        {"peer-ms", 0, POPT_ARG_STRING, &peer, 0, "compare with another program's milliseconds a tick", "X"},
        {"peer-name", 0, POPT_ARG_STRING, &bench->peer_name, 0, "what that program is called", "NAME"},
        POPT_TABLEEND};
    int code = phx_cli_parse(bench->cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO)
        code = phx_cli_optional(bench->cli, "--ticks", &bench->ticks, 1, 100000000, "the scenario's own");
    if (code == PHX_CLI_GO)
        code = phx_cli_optional(bench->cli, "--field-cache", &bench->field_cache, 1, 4096,
                                "the scenario's, or 64 MiB of them");
    if (code == PHX_CLI_GO) code = read_peer(bench, peer);
    if (code != PHX_CLI_GO) return code;
    return phx_cli_list(bench->cli, "--threads", threads ? threads : "1,2", 1, PHX_JOBS_WORKERS_MAX,
                        bench->threads, THREAD_COUNTS, &bench->thread_count);
}

int phx_cmd_bench(PhxCli *cli, int argc, const char **argv) {
    if (phx_bench_asks(argc, argv, "crowd")) return phx_bench_crowd(cli, argc, argv);
    if (phx_bench_asks(argc, argv, "tick")) return phx_bench_tick(cli, argc, argv);
    if (phx_bench_asks(argc, argv, "path")) return phx_bench_path(cli, argc, argv);
    if (phx_bench_asks_figures(argc, argv)) return phx_bench_figures(cli, argc, argv);
    Bench bench = {.cli = cli};
    int code = parse(&bench, argc, argv);
    if (code == PHX_CLI_GO && cli->argument_count == 0) code = find_own(&bench);
    if (code != PHX_CLI_GO) return code;
    bench.rows = calloc(ROW_LIMIT, sizeof *bench.rows);
    if (bench.rows == NULL) return phx_cli_fail_status(cli, "bench", PHX_ERROR_MEMORY, NULL);
    for (uint32_t i = 0; i < cli->argument_count && code == PHX_CLI_GO; i++)
        code = measure_scenario(&bench, cli->arguments[i]);
    for (size_t i = 0;
         cli->argument_count == 0 && i < sizeof own_scenarios / sizeof own_scenarios[0] && code == PHX_CLI_GO;
         i++)
        code = measure_scenario(&bench, own_scenarios[i]);
    set_json(&bench);
    print_table(&bench);
    free(bench.rows);
    return code == PHX_CLI_GO ? PHX_EXIT_OK : code;
}
