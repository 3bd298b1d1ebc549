/* cmd_bench_nav_sectors.c: phx bench nav: sector routes: a hundred goals' tiles, a large map's load and its
 * first order, and what it all holds in memory.
 */
#include "phx/cmd_bench_nav.h"

#include "nav/sector.h"

#include <stdlib.h>
#include <string.h>

enum {
    LARGE = 4096,
    LARGE_CACHE = 64 << 20,
    FIRST_CACHE = 32 << 20, /* with planes and graph it stays within FIRST_LIMIT */
    FIRST_LIMIT = 64 << 20,
    ROOMY_CACHE = 128 << 20,
    MIDDLE = 1024,
    GOALS = 100,
    GOALS_BRIEF = 10,
    UNITS = 8,
    SEED = 11
};

/* A hundred goals, each with units all over the map: routes, rings and tiles of a first tick. */
static int measure_goals(const PhxBenchNav *nav, PhxBenchMap *map, const char *name, uint32_t threads,
                         PhxBenchSpent *one) {
    PhxBenchService service;
    PhxBenchSpent best = {0};
    PhxJobs jobs;
    uint64_t built = 0;
    const int code = phx_cli_jobs_begin(nav->bench->cli, threads, &jobs);
    if (code != PHX_CLI_GO) return code;
    PhxStatus status = phx_bench_service_open(&service, map, jobs, ROOMY_CACHE);
    if (status == PHX_OK)
        phx_bench_service_people(&service, nav->bench->brief ? GOALS_BRIEF : GOALS, UNITS, SEED);
    for (int i = 0; i < (nav->bench->brief ? 1 : 2) && status == PHX_OK; i++) {
        phx_routes_drop(service.routes);
        const uint64_t before = phx_routes_use(service.routes).tiles_built;
        const PhxBenchSpent begun = phx_bench_begin(threads);
        status = phx_bench_service_ask(&service);
        phx_bench_end(begun, &best);
        built = phx_routes_use(service.routes).tiles_built - before;
    }
    if (status == PHX_OK) {
        if (threads == 1) *one = best;
        const double ms = phx_bench_ms(&best), ns = ms * 1e6 / ((double)built * PHX_SECTOR_CELLS);
        json_t *values = phx_bench_spent_json(&best, one);
        json_object_set_new(values, "ns_per_cell", json_real(ns));
        json_object_set_new(values, "side", json_integer(map->side));
        json_object_set_new(values, "goals", json_integer(service.goal_count));
        json_object_set_new(values, "units",
                            json_integer((json_int_t)service.goal_count * service.unit_count));
        json_object_set_new(values, "tiles", json_integer((json_int_t)built));
        json_object_set_new(values, "bytes",
                            json_integer((json_int_t)phx_routes_use(service.routes).cache_peak));
        phx_bench_add(nav->bench, name, values, 0, 0,
                      "%.0f ms, %u tiles, %.1f ns a cell of a tile; %.2f times one thread's speed", ms,
                      (unsigned)built, ns, phx_bench_speedup(&best, one));
    }
    phx_bench_service_close(&service);
    phx_cli_jobs_end(&jobs, threads);
    return status == PHX_OK ? PHX_CLI_GO : phx_cli_fail_status(nav->bench->cli, name, status, NULL);
}

/* A large map: load, and the first order. */

static void add_load(const PhxBenchNav *nav, const char *name, const PhxBenchService *service,
                     const PhxBenchSpent *spent, const PhxBenchSpent *one) {
    const PhxRoutesUse use = phx_routes_use(service->routes);
    const double ms = phx_bench_ms(spent), side = service->map->side;
    json_t *values = phx_bench_spent_json(spent, one);
    json_object_set_new(values, "ns_per_cell", json_real(ms * 1e6 / (side * side)));
    json_object_set_new(values, "side", json_integer(service->map->side));
    json_object_set_new(values, "sectors", json_integer(use.sectors));
    json_object_set_new(values, "portals", json_integer(use.portals));
    json_object_set_new(values, "bytes", json_integer((json_int_t)use.graph_bytes));
    json_object_set_new(values, "plane_bytes", json_integer((json_int_t)use.plane_bytes));
    /* Threads are measured by the clock, which other programs turn too: no target. */
    phx_bench_add(nav->bench, name, values, ms, spent->threads == 1 ? 2000 : 0,
                  "%.0f ms, %.1f ns a cell, %u portals, graph %.1f MiB; %.2f times one thread's speed", ms,
                  ms * 1e6 / (side * side), (unsigned)use.portals, (double)use.graph_bytes / (1 << 20),
                  phx_bench_speedup(spent, one));
}

static int measure_load(const PhxBenchNav *nav, PhxBenchMap *map, const char *name, uint32_t threads,
                        PhxBenchSpent *one) {
    PhxBenchService service;
    PhxBenchSpent spent = {0};
    PhxJobs jobs;
    const int code = phx_cli_jobs_begin(nav->bench->cli, threads, &jobs);
    if (code != PHX_CLI_GO) return code;
    const PhxBenchSpent begun = phx_bench_begin(threads);
    const PhxStatus status = phx_bench_service_open(&service, map, jobs, LARGE_CACHE);
    phx_bench_end(begun, &spent);
    if (threads == 1) *one = spent;
    if (status == PHX_OK) add_load(nav, name, &service, &spent, one);
    phx_bench_service_close(&service);
    phx_cli_jobs_end(&jobs, threads);
    return status == PHX_OK ? PHX_CLI_GO : phx_cli_fail_status(nav->bench->cli, name, status, NULL);
}

/* What a first order costs: in its own tick, which is the route over the whole map and the tile under the
 * unit; and all the tiles on the way together, which are built as the unit comes to them, a sector at a time.
 */
typedef struct FirstOrder {
    uint64_t first_ns, way_ns;
    uint32_t tiles;
} FirstOrder;

/* From sector to sector along the arrows; the tiles' time alone is counted. */
static PhxStatus follow(PhxBenchService *service, uint32_t cell, FirstOrder *out) {
    const PhxNavGrid *grid = &service->map->grid;
    const PhxTile *tile = NULL;
    uint32_t sector = UINT32_MAX;
    for (uint32_t steps = 0; steps < grid->width * grid->height; steps++) {
        const uint32_t here = phx_sector_at(grid->width, cell % grid->width, cell / grid->width);
        if (here != sector) {
            uint32_t id;
            const uint64_t begin = phx_cli_cpu();
            phx_routes_begin(service->routes);
            if (!phx_routes_claim(service->routes, 0, 0, cell, &id)) return PHX_ERROR_FULL;
            const PhxStatus status = phx_routes_build(service->routes, &service->jobs);
            if (status != PHX_OK) return status;
            tile = phx_routes_tile(service->routes, id);
            out->way_ns += phx_cli_cpu() - begin;
            if (out->tiles++ == 0) out->first_ns = out->way_ns;
            sector = here;
        }
        bool seen;
        const uint8_t code = phx_tile_flow(tile, grid, cell, &seen);
        if (code == PHX_FLOW_GOAL) return PHX_OK;
        if (code >= 8) return PHX_ERROR_NOT_FOUND;
        cell = (uint32_t)((int64_t)cell + phx_flow_dy[code] * (int64_t)grid->width + phx_flow_dx[code]);
    }
    return PHX_ERROR_LIMIT;
}

static void add_first(const PhxBenchNav *nav, const PhxBenchService *service, const FirstOrder *best,
                      size_t before) {
    const PhxRoutesUse use = phx_routes_use(service->routes);
    const double ms = (double)best->first_ns / 1e6, way = (double)best->way_ns / 1e6;
    json_t *values = json_pack("{s:f, s:f, s:f, s:i, s:i, s:i}", "ms", ms, "first_tile_ms", ms, "way_ms", way,
                               "side", (int)service->map->side, "tiles", (int)best->tiles, "threads", 1);
    json_object_set_new(values, "bytes", json_integer((json_int_t)use.cache_peak));
    json_object_set_new(values, "all_bytes", json_integer((json_int_t)service->peak));
    json_object_set_new(values, "bytes_before", json_integer((json_int_t)before));
    json_object_set_new(values, "bytes_target", json_integer(FIRST_LIMIT));
    json_object_set_new(values, "bytes_met", json_boolean(service->peak <= FIRST_LIMIT));
    phx_bench_add(nav->bench, "first_order_4096", values, ms, 30,
                  "%.1f ms in its tick, %.1f MiB in all%s; %.0f ms for all %u tiles on the way", ms,
                  (double)service->peak / (1 << 20), service->peak <= FIRST_LIMIT ? "" : " (more than 64)",
                  way, best->tiles);
}

static int measure_first(const PhxBenchNav *nav, PhxBenchMap *map) {
    PhxBenchService service;
    FirstOrder best = {.first_ns = UINT64_MAX, .way_ns = UINT64_MAX};
    size_t before = 0;
    PhxStatus status = phx_bench_service_open(&service, map, phx_jobs_serial(), FIRST_CACHE);
    if (status == PHX_OK) {
        service.goal_count = 1;
        service.goals[0] = phx_bench_map_open(map, map->side - 2, map->side - 2);
        before = service.bytes;
    }
    for (int i = 0; i < (nav->bench->brief ? 1 : 3) && status == PHX_OK; i++) {
        FirstOrder order = {0};
        phx_routes_drop(service.routes);
        status = follow(&service, phx_bench_map_open(map, 1, 1), &order);
        if (order.first_ns < best.first_ns) best.first_ns = order.first_ns;
        if (order.way_ns < best.way_ns) best.way_ns = order.way_ns;
        best.tiles = order.tiles;
    }
    if (status == PHX_OK) add_first(nav, &service, &best, before);
    phx_bench_service_close(&service);
    return status == PHX_OK ? PHX_CLI_GO
                            : phx_cli_fail_status(nav->bench->cli, "first_order_4096", status, NULL);
}

int phx_bench_nav_first(const PhxBenchNav *nav) {
    PhxBenchMap map = phx_bench_map(nav->bench->brief ? MIDDLE : LARGE, PHX_BENCH_MIXED, SEED);
    PhxBenchSpent one = {0};
    phx_cli_progress(nav->bench->cli, 0, 4, "a map of 4096 x 4096");
    int code = map.cost != NULL ? measure_load(nav, &map, "load_4096", 1, &one)
                                : phx_cli_fail_status(nav->bench->cli, "load_4096", PHX_ERROR_MEMORY, NULL);
    phx_cli_progress(nav->bench->cli, 1, 4, "a map of 4096 x 4096");
    if (code == PHX_CLI_GO) code = measure_load(nav, &map, "load_4096_threads2", 2, &one);
    phx_cli_progress(nav->bench->cli, 2, 4, "a map of 4096 x 4096");
    if (code == PHX_CLI_GO) code = measure_first(nav, &map);
    phx_bench_map_free(&map);
    return code;
}

/* Memory: a load that wants ten times the cap. */

static PhxStatus load_cache(PhxBenchMap *map, size_t cache_bytes, uint32_t goals, PhxRoutesUse *use) {
    PhxBenchService service;
    PhxStatus status = phx_bench_service_open(&service, map, phx_jobs_serial(), cache_bytes);
    if (status == PHX_OK) {
        phx_bench_service_people(&service, goals, UNITS, SEED);
        status = phx_bench_service_ask(&service);
        *use = phx_routes_use(service.routes);
    }
    phx_bench_service_close(&service);
    return status;
}

static int measure_memory(const PhxBenchNav *nav, PhxBenchMap *map) {
    const uint32_t goals = nav->bench->brief ? GOALS_BRIEF : 30;
    PhxRoutesUse roomy = {0}, tight = {0};
    PhxStatus status = load_cache(map, ROOMY_CACHE, goals, &roomy);
    const size_t cap = roomy.cache_peak / 10;
    if (status == PHX_OK) status = load_cache(map, cap, goals, &tight);
    if (status != PHX_OK) return phx_cli_fail_status(nav->bench->cli, "memory", status, NULL);
    const double sector = (double)tight.graph_bytes / tight.sectors;
    phx_bench_add(nav->bench, "memory",
                  json_pack("{s:f, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:i}", "bytes_per_sector", sector,
                            "bytes_per_tile", (json_int_t)tight.tile_bytes, "cap_bytes", (json_int_t)cap,
                            "wanted_bytes", (json_int_t)roomy.cache_peak, "bytes",
                            (json_int_t)tight.cache_peak, "evicted", (json_int_t)tight.tiles_evicted, "ratio",
                            (double)tight.cache_peak / (double)cap, "limit_bytes",
                            (json_int_t)tight.cache_limit, "threads", 1),
                  (double)tight.cache_peak / (double)cap, 1,
                  "%.0f bytes a sector, %zu a tile; %.1f MiB in use of a cap of %.1f, wanted were %.1f",
                  sector, tight.tile_bytes, (double)tight.cache_peak / (1 << 20), (double)cap / (1 << 20),
                  (double)roomy.cache_peak / (1 << 20));
    return PHX_CLI_GO;
}

int phx_bench_nav_tiles(const PhxBenchNav *nav) {
    PhxBenchMap map = phx_bench_map(MIDDLE, PHX_BENCH_MIXED, SEED);
    PhxBenchSpent one = {0};
    phx_cli_progress(nav->bench->cli, 0, 3, "tiles of a hundred goals");
    int code = map.cost != NULL
                   ? measure_goals(nav, &map, "goals_100_tiles", 1, &one)
                   : phx_cli_fail_status(nav->bench->cli, "goals_100_tiles", PHX_ERROR_MEMORY, NULL);
    phx_cli_progress(nav->bench->cli, 1, 3, "tiles of a hundred goals");
    if (code == PHX_CLI_GO) code = measure_goals(nav, &map, "goals_100_tiles_threads2", 2, &one);
    phx_cli_progress(nav->bench->cli, 2, 3, "tiles of a hundred goals");
    if (code == PHX_CLI_GO) code = measure_memory(nav, &map);
    phx_bench_map_free(&map);
    return code;
}
