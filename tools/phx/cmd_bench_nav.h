/* cmd_bench_nav.h: what the cases of phx bench nav share: made maps, memory that is counted, and a service of
 * sector routes with units that ask it.
 */
#ifndef PHX_CMD_BENCH_NAV_H
#define PHX_CMD_BENCH_NAV_H

#include "phx/cmd_bench.h"

#include <phalanx/routes.h>

/* What the machine needs to copy memory; every figure stands beside it. */
typedef struct PhxBenchNav {
    PhxBench *bench;
    double copy_ns; /* a byte */
} PhxBenchNav;

/* What a piece of work took on one thread or on several. */
typedef struct PhxBenchSpent {
    uint64_t clock, cpu; /* ns; before it is done: when it began */
    uint32_t threads;
} PhxBenchSpent;
PhxBenchSpent phx_bench_begin(uint32_t threads);
/* Keeps the better one, by the clock. */
void phx_bench_end(PhxBenchSpent begun, PhxBenchSpent *best);
/* Milliseconds: the processor's for one thread, the clock's for several. */
double phx_bench_ms(const PhxBenchSpent *spent);
/* An object with ms, clock_ms, cpu_ms, threads, speedup: against `one`, the same on one thread. */
json_t *phx_bench_spent_json(const PhxBenchSpent *spent, const PhxBenchSpent *one);
double phx_bench_speedup(const PhxBenchSpent *spent, const PhxBenchSpent *one);

enum {
    PHX_BENCH_FIELD_BYTES = 5, /* a cell of a whole field: its cost and its arrow */
    PHX_BENCH_GOALS = 128,
    PHX_BENCH_UNITS = 64 /* of a goal */
};

/* Square maps. The same seed gives the same map everywhere. */
typedef struct PhxBenchMap {
    uint32_t side;
    uint8_t *cost; /* of malloc; null: no memory */
    PhxNavGrid grid;
} PhxBenchMap;
typedef enum PhxBenchGround {
    PHX_BENCH_UNIFORM,
    PHX_BENCH_WALLS,  /* a fifth of the cells, at random */
    PHX_BENCH_RANDOM, /* costs 1..20, each cell for itself */
    PHX_BENCH_SMOOTH, /* costs 1..20 that rise and fall over some dozen cells */
    PHX_BENCH_MIXED   /* sectors of 64 cells: half open, a quarter with rooms and doors, a quarter with blocks
                       */
} PhxBenchGround;
PhxBenchMap phx_bench_map(uint32_t side, PhxBenchGround ground, uint64_t seed);
void phx_bench_map_free(PhxBenchMap *map);
/* The open cell nearest to (x, y). */
uint32_t phx_bench_map_open(const PhxBenchMap *map, uint32_t x, uint32_t y);

/* A service over a map, whose memory is counted, with goals and units that stand all over the map. */
typedef struct PhxBenchService {
    PhxBenchMap *map;
    PhxRoutes *routes;
    PhxJobs jobs;
    uint32_t goals[PHX_BENCH_GOALS], goal_count;
    uint32_t units[PHX_BENCH_GOALS][PHX_BENCH_UNITS], unit_count; /* cells from which a way leads there */
    size_t bytes, peak;                                           /* of the allocator */
} PhxBenchService;
/* Creates the routes and opens layer 0. */
PHX_MUST_USE PhxStatus phx_bench_service_open(PhxBenchService *service, PhxBenchMap *map, PhxJobs jobs,
                                              size_t cache_bytes);
void phx_bench_service_close(PhxBenchService *service);
/* Goals and units at random cells of the part that holds the map's middle. */
void phx_bench_service_people(PhxBenchService *service, uint32_t goals, uint32_t units, uint64_t seed);
/* The tiles under all units, in as many batches as the cache needs. */
PHX_MUST_USE PhxStatus phx_bench_service_ask(PhxBenchService *service);

/* The parts of phx bench nav. */
int phx_bench_nav_fields(const PhxBenchNav *nav);
int phx_bench_nav_goals(const PhxBenchNav *nav);
int phx_bench_nav_edit(const PhxBenchNav *nav);
int phx_bench_nav_first(const PhxBenchNav *nav);
int phx_bench_nav_tiles(const PhxBenchNav *nav);

#endif
