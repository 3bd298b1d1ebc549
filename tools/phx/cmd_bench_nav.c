/* cmd_bench_nav.c: phx bench nav: what flow fields cost: whole maps, a hundred goals, buildings that come and
 * go, the first order across a large map, memory. Each beside what the machine needs to copy memory.
 */
#include "phx/cmd_bench_nav.h"

#include <stdlib.h>
#include <string.h>

enum { COPY_BYTES = 64 << 20 };

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

PhxBenchSpent phx_bench_begin(uint32_t threads) {
    return (PhxBenchSpent){phx_cli_now(), phx_cli_cpu(), threads};
}

void phx_bench_end(PhxBenchSpent begun, PhxBenchSpent *best) {
    const PhxBenchSpent spent = {phx_cli_now() - begun.clock, phx_cli_cpu() - begun.cpu, begun.threads};
    if (best->threads == 0 || spent.clock < best->clock) *best = spent;
}

double phx_bench_ms(const PhxBenchSpent *spent) {
    return (double)(spent->threads == 1 ? spent->cpu : spent->clock) / 1e6;
}

double phx_bench_speedup(const PhxBenchSpent *spent, const PhxBenchSpent *one) {
    return spent->clock > 0 ? (double)one->clock / (double)spent->clock : 0;
}

json_t *phx_bench_spent_json(const PhxBenchSpent *spent, const PhxBenchSpent *one) {
    return json_pack("{s:f, s:f, s:f, s:i, s:f}", "ms", phx_bench_ms(spent), "clock_ms",
                     (double)spent->clock / 1e6, "cpu_ms", (double)spent->cpu / 1e6, "threads",
                     (int)spent->threads, "speedup", phx_bench_speedup(spent, one));
}

int phx_bench_nav(PhxBench *bench) {
    static int (*const parts[])(const PhxBenchNav *) = {phx_bench_nav_fields, phx_bench_nav_goals,
                                                        phx_bench_nav_tiles, phx_bench_nav_edit,
                                                        phx_bench_nav_first};
    enum { COUNT = sizeof parts / sizeof parts[0] };
    PhxBenchNav nav = {.bench = bench};
    int code = measure_copy(bench, bench->brief ? 1 : 5, &nav.copy_ns);
    if (code != PHX_CLI_GO) return code;
    phx_bench_add(bench, "memory_copy",
                  json_pack("{s:f, s:f, s:i, s:i}", "ns_per_byte", nav.copy_ns, "ns_per_cell",
                            nav.copy_ns * PHX_BENCH_FIELD_BYTES, "bytes", COPY_BYTES, "threads", 1),
                  0, 0, "%.3f ns a byte, %d MiB at a time; %.2f ns the %d bytes of a field's cell",
                  nav.copy_ns, COPY_BYTES >> 20, nav.copy_ns * PHX_BENCH_FIELD_BYTES, PHX_BENCH_FIELD_BYTES);
    for (int i = 0; i < COUNT && code == PHX_CLI_GO; i++) code = parts[i](&nav);
    phx_cli_progress(bench->cli, 1, 1, "flow fields");
    return code;
}
