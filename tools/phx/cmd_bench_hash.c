/* cmd_bench_hash.c: phx bench hash: what the hash of the state costs in each tick.
 *
 * The crowds are made here: units at a tenth of a unit a cell on open ground, in eight groups that cross each
 * other's ways, so that all of them move while they are measured. The maps at rest hold the same hundred
 * units without an order; what differs is the map alone. The phase "hash" is timed; the rolling audit of the
 * map is a phase of its own (`phx run` lists what it costs), for it has more to look at on a larger map.
 */
#include "phx/cmd_bench.h"

#include <phalanx/content.h>
#include <phalanx/rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARM_TICKS = 10, /* flow fields are made in the first one */
    CHUNK = 125,     /* units of an order */
    PLACES = 8,      /* goals */
    SPACING = 3,     /* cells from a unit to the next */
    REST_UNITS = 100,
    RATE = 20, /* ticks a second */
    CALIBRATION = 1001,
    WINDOW = 64,       /* ticks that are taken together */
    WINDOW_LIMIT = 64, /* of one run */
    COMMAND_LIMIT = 128
};
#define ONE ((fix16_t)65536)

typedef struct Timer {
    uint64_t begun, spent; /* in the phase hash, of the last tick */
} Timer;

typedef struct World {
    PhxSim *sim;
    Timer timer;
    uint64_t hash_ns, tick_ns; /* a tick, the best of the runs' medians; UINT64_MAX: none yet */
    uint64_t hashes[WINDOW_LIMIT], ticks[WINDOW_LIMIT]; /* of a run: means of each window */
} World;

static void observe(void *user, uint32_t tick, uint32_t phase, const char *name, bool begin, uint64_t hash) {
    Timer *timer = user;
    (void)tick, (void)phase, (void)hash;
    if (strcmp(name, "hash") != 0) return;
    if (begin)
        timer->begun = phx_cli_cpu();
    else
        timer->spent = phx_cli_cpu() - timer->begun;
}

/* What it costs to ask the clock, which lies in every time that is taken. */
static uint64_t clock_cost(void) {
    static uint64_t costs[CALIBRATION];
    for (uint32_t i = 0; i < CALIBRATION; i++) {
        const uint64_t begin = phx_cli_cpu();
        costs[i] = phx_cli_cpu() - begin;
    }
    return phx_bench_median(costs, CALIBRATION);
}

/* ---- worlds */

/* Units stand in rows from a corner on, each a little off its place. */
static PhxStatus add_units(PhxContentBuilder *builder, uint32_t units, uint32_t columns, PhxError *error) {
    PhxUnitTypeDef soldier = phx_content_unit_type_default();
    uint16_t type = 0;
    soldier.name = "soldier";
    PhxStatus status = phx_content_add_player(builder, "Crowd", 0, error);
    if (status == PHX_OK) status = phx_content_add_unit_type(builder, &soldier, &type, error);
    for (uint32_t i = 0; i < units && status == PHX_OK; i++) {
        const uint64_t draw = phx_random(1, 0x68617368, i, 0, 0);
        const uint32_t x = 2 + i % columns * SPACING, y = 2 + i / columns * SPACING;
        status =
            phx_content_add_unit(builder, type, 0, (fix16_t)(x * 65536 + (draw & 0xffff)),
                                 (fix16_t)(y * 65536 + (draw >> 16 & 0xffff)), (PhxAngle)(draw >> 32), error);
    }
    return status;
}

static PhxStatus create_from(PhxContentBuilder *builder, PhxSim **out, PhxError *error) {
    size_t size = phx_content_size(builder);
    void *blob = malloc(size);
    if (blob == NULL) return PHX_ERROR_MEMORY;
    PhxStatus status = phx_content_write(builder, blob, size, &size);
    const PhxSimConfig config = {0};
    if (status == PHX_OK) status = phx_sim_create(&config, blob, size, NULL, out, error);
    free(blob);
    return status;
}

/* An open map, `side` cells wide and high. */
static int open_world(PhxBench *bench, World *world, uint32_t side, uint32_t units) {
    const PhxSettings settings = {.match_key = 1, .tick_rate = RATE, .ticks_per_turn = 1, .input_delay = 1};
    PhxContentBuilder *builder = NULL;
    PhxError error = {0};
    uint8_t *cost = malloc((size_t)side * side);
    PhxStatus status = PHX_ERROR_MEMORY;
    *world = (World){.hash_ns = UINT64_MAX, .tick_ns = UINT64_MAX};
    if (cost != NULL) {
        memset(cost, 1, (size_t)side * side);
        status = phx_content_begin(&settings, side, side, cost, units, units, &builder, &error);
    }
    if (status == PHX_OK) status = add_units(builder, units, (side - 4) / SPACING, &error);
    if (status == PHX_OK) status = create_from(builder, &world->sim, &error);
    phx_content_end(builder);
    free(cost);
    if (status != PHX_OK) return phx_cli_fail_status(bench->cli, "hash", status, &error);
    phx_sim_observe_phases(world->sim, observe, &world->timer, false);
    return PHX_CLI_GO;
}

/* ---- measuring */

/* The first tick's orders: each group to one of eight places on the map's border. */
static PhxStatus order_all(PhxSim *sim, uint32_t side, uint32_t units) {
    static uint8_t bytes[COMMAND_LIMIT][PHX_COMMAND_SIZE_LIMIT];
    static PhxCommand commands[COMMAND_LIMIT];
    static const uint8_t at[PLACES][2] = {{0, 0}, {2, 2}, {2, 0}, {0, 2}, {1, 0}, {1, 2}, {0, 1}, {2, 1}};
    uint32_t count = 0;
    for (uint32_t first = 0; first < units && count < COMMAND_LIMIT; first += CHUNK, count++) {
        PhxHandle handles[CHUNK];
        const uint32_t left = units - first < CHUNK ? units - first : CHUNK;
        const uint8_t *place = at[(count * 5 + 3) % PLACES];
        for (uint32_t i = 0; i < left; i++) handles[i] = phx_sim_unit_handle(sim, first + i);
        const PhxCommandData move = {.type = PHX_COMMAND_MOVE,
                                     .goal_x = (fix16_t)(2 + place[0] * (side - 5) / 2) * ONE,
                                     .goal_y = (fix16_t)(2 + place[1] * (side - 5) / 2) * ONE,
                                     .unit_count = (uint16_t)left,
                                     .units = handles};
        size_t size;
        const PhxStatus status = phx_command_encode(&move, bytes[count], sizeof bytes[count], &size);
        if (status != PHX_OK) return status;
        commands[count] =
            (PhxCommand){.slot = 0, .sequence = count, .size = (uint32_t)size, .bytes = bytes[count]};
    }
    return phx_sim_step(sim, commands, count);
}

/* `ticks`: a multiple of WINDOW. What is done in some ticks only counts in each window alike. */
static PhxStatus measure(World *world, uint32_t ticks, uint64_t cost) {
    const uint32_t windows = ticks / WINDOW;
    for (uint32_t w = 0; w < windows; w++) {
        uint64_t hash = 0, tick = 0;
        for (uint32_t t = 0; t < WINDOW; t++) {
            const uint64_t begin = phx_cli_cpu();
            const PhxStatus status = phx_sim_step(world->sim, NULL, 0);
            const uint64_t spent = phx_cli_cpu() - begin;
            if (status != PHX_OK) return status;
            /* Around the phase the clock is asked twice more within the tick. */
            tick += spent > 3 * cost ? spent - 3 * cost : 0;
            hash += world->timer.spent > cost ? world->timer.spent - cost : 0;
        }
        world->hashes[w] = hash / WINDOW;
        world->ticks[w] = tick / WINDOW;
    }
    const uint64_t hash = phx_bench_median(world->hashes, windows),
                   tick = phx_bench_median(world->ticks, windows);
    if (hash < world->hash_ns) world->hash_ns = hash;
    if (tick < world->tick_ns) world->tick_ns = tick;
    return PHX_OK;
}

static uint32_t moving(const PhxSim *sim) {
    const PhxUnitView view = phx_sim_units(sim);
    uint32_t count = 0;
    for (uint32_t i = 0; i < view.used; i++) count += view.activity[i] == 1;
    return count;
}

static int measure_crowd(PhxBench *bench, const char *name, uint32_t side, uint32_t units, uint32_t ticks) {
    const uint32_t runs = bench->brief ? 1 : 3;
    World *world = malloc(sizeof *world);
    if (world == NULL) return phx_cli_fail_status(bench->cli, "hash", PHX_ERROR_MEMORY, NULL);
    int code = open_world(bench, world, side, units);
    if (code == PHX_CLI_GO) {
        const uint64_t cost = clock_cost();
        PhxStatus status = order_all(world->sim, side, units);
        for (uint32_t t = 1; t < WARM_TICKS && status == PHX_OK; t++)
            status = phx_sim_step(world->sim, NULL, 0);
        for (uint32_t run = 0; run < runs && status == PHX_OK; run++) {
            phx_cli_progress(bench->cli, run, runs, name);
            status = measure(world, bench->brief ? WINDOW : ticks, cost);
        }
        phx_cli_progress(bench->cli, runs, runs, name);
        if (status != PHX_OK) code = phx_cli_fail_status(bench->cli, name, status, NULL);
    }
    if (code == PHX_CLI_GO) {
        const double hash = (double)world->hash_ns / 1e6, tick = (double)world->tick_ns / 1e6;
        const double share = tick > 0 ? hash / tick : 0;
        phx_bench_add(bench, name,
                      json_pack("{s:i, s:i, s:f, s:f, s:f, s:i}", "units", (int)units, "moving",
                                (int)moving(world->sim), "ms", hash, "tick_ms", tick, "ratio", share,
                                "threads", 1),
                      share, 0.03, "%.4f ms of a tick's %.3f ms: %.2f%%; %u of %u units move", hash, tick,
                      share * 100, (unsigned)moving(world->sim), (unsigned)units);
    }
    phx_sim_destroy(world->sim);
    free(world);
    return code;
}

/* The two worlds take turns, so that a change of the machine's mood meets both. */
static int measure_rest(PhxBench *bench) {
    const uint32_t runs = bench->brief ? 1 : 5, ticks = bench->brief ? WINDOW : 8 * WINDOW;
    World *small = calloc(1, sizeof *small), *large = calloc(1, sizeof *large);
    int code = PHX_CLI_GO;
    if (small == NULL || large == NULL)
        code = phx_cli_fail_status(bench->cli, "hash", PHX_ERROR_MEMORY, NULL);
    if (code == PHX_CLI_GO) code = open_world(bench, small, 256, REST_UNITS);
    if (code == PHX_CLI_GO) code = open_world(bench, large, bench->brief ? 512 : 4096, REST_UNITS);
    if (code == PHX_CLI_GO) {
        const uint64_t cost = clock_cost();
        PhxStatus status = PHX_OK;
        for (uint32_t run = 0; run < runs && status == PHX_OK; run++) {
            phx_cli_progress(bench->cli, run, runs, "maps at rest");
            status = measure(small, ticks, cost);
            if (status == PHX_OK) status = measure(large, ticks, cost);
        }
        phx_cli_progress(bench->cli, runs, runs, "maps at rest");
        if (status != PHX_OK) code = phx_cli_fail_status(bench->cli, "hash", status, NULL);
    }
    if (code == PHX_CLI_GO) {
        const double a = (double)small->hash_ns / 1e6, b = (double)large->hash_ns / 1e6;
        const double ratio = a > 0 ? b / a : 0;
        phx_bench_add(bench, "hash_at_rest",
                      json_pack("{s:f, s:f, s:f, s:f, s:i, s:f, s:i}", "ms", b, "small_ms", a, "tick_ms",
                                (double)large->tick_ns / 1e6, "small_tick_ms", (double)small->tick_ns / 1e6,
                                "side", (int)phx_sim_map(large->sim).width, "ratio", ratio, "threads", 1),
                      ratio, 1.2, "%.4f ms a tick at %u x %u cells, %.4f ms at 256 x 256: %.2f times", b,
                      (unsigned)phx_sim_map(large->sim).width, (unsigned)phx_sim_map(large->sim).height, a,
                      ratio);
    }
    if (small != NULL) phx_sim_destroy(small->sim);
    if (large != NULL) phx_sim_destroy(large->sim);
    free(small);
    free(large);
    return code;
}

int phx_bench_hash(PhxBench *bench) {
    int code = measure_crowd(bench, "hash_1000", 100, 1000, 4 * WINDOW);
    if (code == PHX_CLI_GO) code = measure_crowd(bench, "hash_10000", 310, 10000, 3 * WINDOW);
    return code == PHX_CLI_GO ? measure_rest(bench) : code;
}
