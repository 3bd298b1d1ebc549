/* cmd_bench_nav.c: phx bench nav: what a whole flow field costs, ns a cell on one thread, on open ground and
 * among random walls, beside what the machine needs to copy a byte of memory.
 */
#include "phx/cmd_bench.h"

#include <phalanx/nav.h>
#include <phalanx/rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_BYTES = 64 << 20, WALL_PERCENT = 20 };

/* ns a byte, the best of `runs`. Buffers are far larger than any cache. */
static int measure_copy(PhxBench *bench, uint32_t runs, double *ns) {
    uint8_t *from = malloc(COPY_BYTES), *to = malloc(COPY_BYTES);
    uint64_t best = UINT64_MAX;
    if (from != NULL && to != NULL) {
        memset(from, 7, COPY_BYTES);
        memset(to, 9, COPY_BYTES);
        for (uint32_t i = 0; i < runs; i++) {
            from[i] = (uint8_t)(i + 1);
            const uint64_t begin = phx_cli_cpu();
            memcpy(to, from, COPY_BYTES);
            const uint64_t spent = phx_cli_cpu() - begin;
            /* What was copied is looked at, so that no compiler leaves the copy out. */
            if (to[i] == (uint8_t)(i + 1) && spent < best) best = spent;
        }
        *ns = (double)best / COPY_BYTES;
    }
    free(from);
    free(to);
    return best != UINT64_MAX ? PHX_CLI_GO
                              : phx_cli_fail_status(bench->cli, "memory copy", PHX_ERROR_MEMORY, NULL);
}

typedef struct FieldRun {
    uint8_t *cost;
    void *memory, *scratch;
    PhxField field;
    uint64_t best;    /* ns of a build */
    uint32_t reached; /* cells */
} FieldRun;

static PhxStatus build_fields(FieldRun *run, uint32_t side, bool walls, uint32_t runs) {
    const uint32_t cells = side * side;
    if (run->cost == NULL || run->memory == NULL || run->scratch == NULL) return PHX_ERROR_MEMORY;
    for (uint32_t c = 0; c < cells; c++) {
        const bool wall = walls && phx_random_below(phx_random(1, 0x6e6176, c, side, 0), 100) < WALL_PERCENT;
        run->cost[c] = wall ? PHX_NAV_IMPASSABLE : 1;
    }
    const PhxNavGrid grid = {.width = side, .height = side, .cost = run->cost};
    const uint32_t goal = phx_nav_nearest_open(&grid, side / 2 * side + side / 2);
    phx_field_init(&run->field, side, side, run->memory);
    run->best = UINT64_MAX;
    for (uint32_t i = 0; i < runs; i++) {
        const uint64_t begin = phx_cli_cpu();
        const PhxStatus status =
            phx_field_build(&run->field, &grid, PHX_FIELD_WEIGHTS_DEFAULT, &goal, 1, run->scratch);
        const uint64_t spent = phx_cli_cpu() - begin;
        if (status != PHX_OK) return status;
        if (spent < run->best) run->best = spent;
    }
    for (uint32_t c = 0; c < cells; c++) run->reached += run->field.integration[c] != PHX_FIELD_UNREACHED;
    return PHX_OK;
}

static int measure_field(PhxBench *bench, const char *name, uint32_t side, bool walls, double copy_ns) {
    const double cells = (double)side * side;
    FieldRun run = {.cost = malloc((size_t)side * side),
                    .memory = malloc(phx_field_size(side, side)),
                    .scratch = malloc(phx_field_scratch_size(side, side))};
    const PhxStatus status = build_fields(&run, side, walls, bench->brief ? 1 : 7);
    if (status == PHX_OK) {
        const double ns = (double)run.best / cells;
        phx_bench_add(bench, name,
                      json_pack("{s:f, s:f, s:i, s:i, s:i, s:f, s:f}", "ns_per_cell", ns, "ms",
                                (double)run.best / 1e6, "side", (int)side, "reached", (int)run.reached,
                                "threads", 1, "copy_ns_per_byte", copy_ns, "ratio", ns / copy_ns),
                      0, 0, "%.2f ns a cell, %.2f ms; %.1f times the copy of a byte (%.3f ns)", ns,
                      (double)run.best / 1e6, ns / copy_ns, copy_ns);
    }
    free(run.cost);
    free(run.memory);
    free(run.scratch);
    return status == PHX_OK ? PHX_CLI_GO : phx_cli_fail_status(bench->cli, name, status, NULL);
}

int phx_bench_nav(PhxBench *bench) {
    static const struct {
        const char *name;
        uint32_t side;
        bool walls;
    } fields[] = {{"nav_512_open", 512, false},
                  {"nav_512_walls", 512, true},
                  {"nav_1024_open", 1024, false},
                  {"nav_1024_walls", 1024, true}};
    enum { COUNT = sizeof fields / sizeof fields[0] };
    double copy_ns = 0;
    int code = measure_copy(bench, bench->brief ? 1 : 5, &copy_ns);
    if (code != PHX_CLI_GO) return code;
    phx_bench_add(bench, "memory_copy",
                  json_pack("{s:f, s:i, s:i}", "ns_per_byte", copy_ns, "bytes", COPY_BYTES, "threads", 1), 0,
                  0, "%.3f ns a byte, %d MiB at a time", copy_ns, COPY_BYTES >> 20);
    for (int i = 0; i < COUNT && code == PHX_CLI_GO; i++) {
        phx_cli_progress(bench->cli, (uint64_t)i, COUNT, "flow fields");
        code = measure_field(bench, fields[i].name, fields[i].side, fields[i].walls, copy_ns);
    }
    phx_cli_progress(bench->cli, COUNT, COUNT, "flow fields");
    return code;
}
