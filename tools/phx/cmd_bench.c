/* cmd_bench.c: phx bench: what a tick costs, for scenarios and thread counts.
 *
 * Each row is one run from tick 0: the mean over its ticks of the time inside phx_sim_step, by phase. Roots
 * of one scenario must be equal for all thread counts; if they aren't, that is said, and the exit code is 1.
 * The time of the processor is given besides that of the clock, since a busy machine changes it less.
 */
#include "phx/solo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREAD_COUNTS = 16, ROW_LIMIT = PHX_CLI_ARGUMENT_LIMIT * THREAD_COUNTS };

static const PhxCliUsage usage = {
    .synopsis = "[SCENARIO|BLOB...]",
    .about =
        "Plays scenarios and measures: milliseconds a tick by phase, agent-steps a second (units times ticks "
        "by\n"
        "the time inside the step), bytes of state, and the root hash, for each number of threads. Without "
        "a\n"
        "scenario: those of tests/scenario that are made for it. Absolute times hold for one machine at one\n"
        "moment; compare ratios of one run.",
    .examples = "  phx bench\n"
                "  phx bench tests/scenario/crowd1000.yaml --threads 1,2 --ticks 1000\n"
                "  phx bench tests/scenario/clash.yaml --json | jq '.rows[0].ms_by_phase'\n",
    .least = 0,
    .most = PHX_CLI_ARGUMENT_LIMIT - 1};

static const char *const own_scenarios[] = {"tests/scenario/crowd1000.yaml", "tests/scenario/clash.yaml",
                                            "tests/scenario/door.yaml", "tests/scenario/melee8.yaml"};

typedef struct Row {
    char title[PHX_SCENARIO_NAME];
    uint32_t threads, ticks, units, arrived;
    uint64_t root, ns, cpu_ns, agent_steps;
    size_t state_bytes, memory_bytes;
    PhxCliPhases phases;
} Row;

typedef struct Bench {
    PhxCli *cli;
    int ticks, field_cache;
    uint32_t threads[THREAD_COUNTS], thread_count;
    Row *rows;
    uint32_t row_count;
} Bench;

static int measure(Bench *bench, const PhxSoloContent *content, uint32_t threads) {
    PhxCli *cli = bench->cli;
    PhxSolo solo;
    const PhxSoloOptions options = {.threads = threads, .field_cache = (uint32_t)bench->field_cache};
    int code = phx_solo_open(&solo, cli, content, &options);
    if (code != PHX_CLI_GO) return code;
    char words[128];
    snprintf(words, sizeof words, "%s, threads %" PRIu32, content->title, threads);
    for (uint32_t tick = 0; tick < content->ticks && code == PHX_CLI_GO; tick++) {
        code = phx_solo_step(&solo);
        phx_cli_progress(cli, tick + 1, content->ticks, words);
    }
    Row *row = &bench->rows[bench->row_count++];
    *row = (Row){.threads = threads,
                 .ticks = content->ticks,
                 .units = phx_sim_units(solo.sim).live,
                 .arrived = solo.arrived,
                 .root = phx_sim_root(solo.sim),
                 .ns = solo.step_ns,
                 .cpu_ns = solo.cpu_ns,
                 .agent_steps = solo.agent_steps,
                 .state_bytes = phx_sim_state_bytes(solo.sim),
                 .memory_bytes = phx_sim_memory_bytes(solo.sim),
                 .phases = solo.phases};
    memcpy(row->title, content->title, sizeof row->title);
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

static void print_table(const Bench *bench) {
    const PhxCli *cli = bench->cli;
    phx_cli_print(cli, "%-12s %7s %6s %6s %7s %9s %11s %14s %12s  %s\n", "scenario", "threads", "ticks",
                  "units", "arrived", "ms/tick", "cpu ms/tick", "agent-steps/s", "state bytes", "root");
    for (uint32_t i = 0; i < bench->row_count; i++) {
        const Row *row = &bench->rows[i];
        phx_cli_print(cli,
                      "%-12s %7" PRIu32 " %6" PRIu32 " %6" PRIu32 " %7" PRIu32
                      " %9.4f %11.4f %14.0f %12zu  %016" PRIx64 "\n",
                      row->title, row->threads, row->ticks, row->units, row->arrived, ms(row->ns, row->ticks),
                      ms(row->cpu_ns, row->ticks), steps_a_second(row), row->state_bytes, row->root);
    }
    if (bench->row_count == 0) return;
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
        json_object_set_new(entry, "ms_by_phase", phx_cli_phases_json(&row->phases, row->ticks));
        json_object_set_new(entry, "agent_steps_per_second", json_real(steps_a_second(row)));
        json_object_set_new(entry, "state_bytes", json_integer((json_int_t)row->state_bytes));
        json_object_set_new(entry, "memory_bytes", json_integer((json_int_t)row->memory_bytes));
        json_object_set_new(entry, "root", phx_cli_hash_json(row->root));
        json_array_append_new(list, entry);
    }
    phx_cli_set(bench->cli, "rows", list);
}

static int parse(Bench *bench, int argc, const char **argv) {
    char *threads = NULL;
    const struct poptOption table[] = {{"threads", 'j', POPT_ARG_STRING, &threads, 0,
                                        "numbers of threads, with commas between (default 1,2)", "LIST"},
                                       {"ticks", 't', POPT_ARG_INT, &bench->ticks, 0,
                                        "ticks of each run (default: the scenario's own)", "N"},
                                       {"field-cache", 0, POPT_ARG_INT, &bench->field_cache, 0,
                                        "flow fields kept (default: the scenario's, or 16)", "N"},
                                       POPT_TABLEEND};
    int code = phx_cli_parse(bench->cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO) code = phx_cli_range(bench->cli, "--ticks", bench->ticks, 0, 100000000);
    if (code == PHX_CLI_GO) code = phx_cli_range(bench->cli, "--field-cache", bench->field_cache, 0, 4096);
    if (code != PHX_CLI_GO) return code;
    return phx_cli_list(bench->cli, "--threads", threads ? threads : "1,2", 1, PHX_JOBS_WORKERS_MAX,
                        bench->threads, THREAD_COUNTS, &bench->thread_count);
}

int phx_cmd_bench(PhxCli *cli, int argc, const char **argv) {
    Bench bench = {.cli = cli};
    int code = parse(&bench, argc, argv);
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
