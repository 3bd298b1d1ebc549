/* cmd_bench_nav_fields.c: phx bench nav: fields of whole maps, one goal; and a hundred goals at once, as a
 * hundred fields and as one.
 */
#include "phx/cmd_bench_nav.h"

#include <phalanx/rng.h>
#include <stdlib.h>

/* Memory for fields of one size: one field and one scratch a worker. */
typedef struct FieldRun {
    PhxField field[2];
    void *memory[2], *scratch[2];
    uint32_t workers;
} FieldRun;

static void free_run(FieldRun *run) {
    for (uint32_t i = 0; i < run->workers; i++) {
        free(run->memory[i]);
        free(run->scratch[i]);
    }
}

static PhxStatus make_run(FieldRun *run, uint32_t side, uint32_t workers) {
    *run = (FieldRun){.workers = workers};
    for (uint32_t i = 0; i < workers; i++) {
        run->memory[i] = malloc(phx_field_size(side, side));
        run->scratch[i] = malloc(phx_field_scratch_size(side, side));
        if (run->memory[i] == NULL || run->scratch[i] == NULL) {
            free_run(run);
            return PHX_ERROR_MEMORY;
        }
        phx_field_init(&run->field[i], side, side, run->memory[i]);
    }
    return PHX_OK;
}

/* Whole maps, one goal. */

static PhxStatus build_often(FieldRun *run, const PhxBenchMap *map, uint32_t runs, uint64_t *best) {
    const uint32_t goal = phx_bench_map_open(map, map->side / 2, map->side / 2);
    *best = UINT64_MAX;
    for (uint32_t i = 0; i < runs; i++) {
        const uint64_t begin = phx_cli_cpu();
        const PhxStatus status =
            phx_field_build(&run->field[0], &map->grid, PHX_FIELD_WEIGHTS_DEFAULT, &goal, 1, run->scratch[0]);
        const uint64_t spent = phx_cli_cpu() - begin;
        if (status != PHX_OK) return status;
        if (spent < *best) *best = spent;
    }
    return PHX_OK;
}

static void add_field(const PhxBenchNav *nav, const char *name, const FieldRun *run, uint64_t best,
                      double target) {
    const PhxField *field = &run->field[0];
    const uint32_t cells = field->width * field->height;
    const double ns = (double)best / cells, copy = nav->copy_ns * PHX_BENCH_FIELD_BYTES;
    uint32_t reached = 0;
    for (uint32_t c = 0; c < cells; c++) reached += field->integration[c] != PHX_FIELD_UNREACHED;
    const size_t bytes =
        phx_field_size(field->width, field->height) + phx_field_scratch_size(field->width, field->height);
    phx_bench_add(nav->bench, name,
                  json_pack("{s:f, s:f, s:i, s:i, s:I, s:i, s:f, s:f}", "ns_per_cell", ns, "ms",
                            (double)best / 1e6, "side", (int)field->width, "reached", (int)reached, "bytes",
                            (json_int_t)bytes, "threads", 1, "copy_ns_per_cell", copy, "ratio", ns / copy),
                  ns, target, "%.2f ns a cell, %.2f ms, %.0f MiB with scratch; %.1f times the copy of a cell",
                  ns, (double)best / 1e6, (double)bytes / (1 << 20), ns / copy);
}

int phx_bench_nav_fields(const PhxBenchNav *nav) {
    static const struct {
        const char *name;
        uint32_t side;
        PhxBenchGround ground;
        double target; /* ns a cell */
    } fields[] = {
        {"full_512_uniform", 512, PHX_BENCH_UNIFORM, 0},    {"full_512_walls20", 512, PHX_BENCH_WALLS, 0},
        {"full_1024_uniform", 1024, PHX_BENCH_UNIFORM, 0},  {"full_1024_walls20", 1024, PHX_BENCH_WALLS, 0},
        {"full_1024_weighted", 1024, PHX_BENCH_RANDOM, 25}, {"full_1024_smooth", 1024, PHX_BENCH_SMOOTH, 25}};
    enum { COUNT = sizeof fields / sizeof fields[0] };
    for (int i = 0; i < COUNT; i++) {
        PhxBenchMap map = phx_bench_map(fields[i].side, fields[i].ground, 1);
        FieldRun run = {0};
        uint64_t best = 0;
        phx_cli_progress(nav->bench->cli, (uint64_t)i, COUNT, "whole fields");
        PhxStatus status = map.cost != NULL ? make_run(&run, map.side, 1) : PHX_ERROR_MEMORY;
        if (status == PHX_OK) status = build_often(&run, &map, nav->bench->brief ? 1 : 9, &best);
        if (status == PHX_OK) add_field(nav, fields[i].name, &run, best, fields[i].target);
        free_run(&run);
        phx_bench_map_free(&map);
        if (status != PHX_OK) return phx_cli_fail_status(nav->bench->cli, fields[i].name, status, NULL);
    }
    return PHX_CLI_GO;
}

/* A hundred goals. */

enum { MANY = 100, MANY_BRIEF = 10, MANY_SIDE = 512 };

typedef struct Many {
    FieldRun run;
    PhxBenchMap map;
    uint32_t goals[MANY], count; /* goals in use */
    PhxStatus status[MANY];
} Many;

/* Each index is a field of its own, built in its worker's memory: no range reads what another one writes. */
static void build_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    Many *many = context;
    for (uint32_t i = begin; i < end; i++)
        many->status[i] =
            phx_field_build(&many->run.field[worker], &many->map.grid, PHX_FIELD_WEIGHTS_DEFAULT,
                            &many->goals[i], 1, many->run.scratch[worker]);
}

static PhxStatus worst_of(const Many *many) {
    for (uint32_t i = 0; i < many->count; i++)
        if (many->status[i] != PHX_OK) return many->status[i];
    return PHX_OK;
}

/* One pass over all goals. */
static int measure_many(const PhxBenchNav *nav, Many *many, const char *name, uint32_t threads,
                        PhxBenchSpent *one) {
    PhxCli *cli = nav->bench->cli;
    PhxBenchSpent best = {0};
    PhxJobs jobs;
    const int code = phx_cli_jobs_begin(cli, threads, &jobs);
    if (code != PHX_CLI_GO) return code;
    for (int i = 0; i < (nav->bench->brief ? 1 : 2); i++) {
        const PhxBenchSpent begun = phx_bench_begin(threads);
        phx_parallel_for(&jobs, many->count, 1, build_range, many);
        phx_bench_end(begun, &best);
    }
    phx_cli_jobs_end(&jobs, threads);
    const PhxStatus status = worst_of(many);
    if (status != PHX_OK) return phx_cli_fail_status(cli, name, status, NULL);
    if (threads == 1) *one = best;
    const double ms = phx_bench_ms(&best), ns = ms * 1e6 / ((double)many->count * MANY_SIDE * MANY_SIDE);
    json_t *values = phx_bench_spent_json(&best, one);
    json_object_set_new(values, "ns_per_cell", json_real(ns));
    json_object_set_new(values, "side", json_integer(MANY_SIDE));
    json_object_set_new(values, "goals", json_integer(many->count));
    json_object_set_new(values, "bytes",
                        json_integer((json_int_t)phx_field_size(MANY_SIDE, MANY_SIDE) * many->count));
    phx_bench_add(nav->bench, name, values, 0, 0,
                  "%u fields of %d x %d in %.0f ms, %.2f ns a cell; %.2f times one thread's speed",
                  many->count, MANY_SIDE, MANY_SIDE, ms, ns, phx_bench_speedup(&best, one));
    return PHX_CLI_GO;
}

/* One field to the nearest of them all. */
static int measure_nearest(const PhxBenchNav *nav, Many *many) {
    uint64_t best = UINT64_MAX;
    PhxStatus status = PHX_OK;
    for (uint32_t i = 0; i < (nav->bench->brief ? 1u : 7u) && status == PHX_OK; i++) {
        const uint64_t begin = phx_cli_cpu();
        status = phx_field_build(&many->run.field[0], &many->map.grid, PHX_FIELD_WEIGHTS_DEFAULT, many->goals,
                                 many->count, many->run.scratch[0]);
        const uint64_t spent = phx_cli_cpu() - begin;
        if (spent < best) best = spent;
    }
    if (status != PHX_OK) return phx_cli_fail_status(nav->bench->cli, "goals_100_nearest", status, NULL);
    add_field(nav, "goals_100_nearest", &many->run, best, 0);
    return PHX_CLI_GO;
}

int phx_bench_nav_goals(const PhxBenchNav *nav) {
    PhxCli *cli = nav->bench->cli;
    Many many = {.map = phx_bench_map(MANY_SIDE, PHX_BENCH_MIXED, 1),
                 .count = nav->bench->brief ? MANY_BRIEF : MANY};
    PhxStatus status = many.map.cost != NULL ? make_run(&many.run, MANY_SIDE, 2) : PHX_ERROR_MEMORY;
    PhxBenchSpent one = {0};
    for (uint32_t i = 0; i < many.count && status == PHX_OK; i++)
        many.goals[i] =
            phx_bench_map_open(&many.map, phx_random_below(phx_random(1, 0x676f, i, 0, 0), MANY_SIDE),
                               phx_random_below(phx_random(1, 0x676f, i, 0, 1), MANY_SIDE));
    phx_cli_progress(cli, 0, 3, "a hundred goals");
    int code = status == PHX_OK ? measure_many(nav, &many, "goals_100", 1, &one)
                                : phx_cli_fail_status(cli, "goals_100", status, NULL);
    phx_cli_progress(cli, 1, 3, "a hundred goals");
    if (code == PHX_CLI_GO) code = measure_many(nav, &many, "goals_100_threads2", 2, &one);
    if (code == PHX_CLI_GO) code = measure_nearest(nav, &many);
    free_run(&many.run);
    phx_bench_map_free(&many.map);
    return code;
}
