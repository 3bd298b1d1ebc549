/* cmd_bench_nav_map.c: maps and services for phx bench nav. See cmd_bench_nav.h. */
#include "phx/cmd_bench_nav.h"

#include "nav/sector.h"

#include <phalanx/rng.h>
#include <stdlib.h>
#include <string.h>

enum { WALL_PERCENT = 20, COST_MOST = 20, PURPOSE = 0x6e6176, SMOOTH = 24, ROOM = 14 };

static uint32_t draw(uint64_t seed, uint32_t what, uint32_t index, uint32_t bound) {
    return phx_random_below(phx_random(seed, PURPOSE + what, index, 0, 0), bound);
}

/* Costs at the corners of squares of SMOOTH cells, between them bilinear. */
static uint8_t smooth_cost(uint64_t seed, uint32_t x, uint32_t y) {
    const uint32_t column = x / SMOOTH, row = y / SMOOTH, fx = x % SMOOTH, fy = y % SMOOTH;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t corner = (row + (i >> 1)) * 4096 + column + (i & 1);
        const uint32_t weight = (i & 1 ? fx : SMOOTH - fx) * (i >> 1 ? fy : SMOOTH - fy);
        sum += weight * (1 + draw(seed, 1, corner, COST_MOST));
    }
    return (uint8_t)(sum / (SMOOTH * SMOOTH));
}

static void fill(PhxBenchMap *map, uint32_t x0, uint32_t y0, uint32_t width, uint32_t height, uint8_t cost) {
    for (uint32_t y = y0; y < y0 + height && y < map->side; y++)
        for (uint32_t x = x0; x < x0 + width && x < map->side; x++)
            map->cost[(size_t)y * map->side + x] = cost;
}

/* Four by four rooms with a door in each wall. */
static void make_rooms(PhxBenchMap *map, uint64_t seed, uint32_t sector, uint32_t x0, uint32_t y0) {
    const uint32_t first = 3, length = 4 * ROOM + 1;
    for (uint32_t i = 0; i <= 4; i++) {
        fill(map, x0 + first + i * ROOM, y0 + first, 1, length, PHX_NAV_IMPASSABLE);
        fill(map, x0 + first, y0 + first + i * ROOM, length, 1, PHX_NAV_IMPASSABLE);
    }
    for (uint32_t i = 0; i <= 4; i++)
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t at = first + k * ROOM + 2, line = first + i * ROOM;
            const uint32_t index = sector * 64 + i * 4 + k, wide = 2 + draw(seed, 2, index, 2);
            fill(map, x0 + line, y0 + at + draw(seed, 3, index, ROOM - 6), 1, wide, 1);
            fill(map, x0 + at + draw(seed, 4, index, ROOM - 6), y0 + line, wide, 1, 1);
        }
}

/* A dozen blocks of 3 to 10 cells. */
static void make_blocks(PhxBenchMap *map, uint64_t seed, uint32_t sector, uint32_t x0, uint32_t y0) {
    for (uint32_t i = 0; i < 12; i++) {
        const uint32_t index = sector * 64 + i, width = 3 + draw(seed, 5, index, 8),
                       height = 3 + draw(seed, 6, index, 8);
        fill(map, x0 + 2 + draw(seed, 7, index, PHX_SECTOR_SIDE - width - 4),
             y0 + 2 + draw(seed, 8, index, PHX_SECTOR_SIDE - height - 4), width, height, PHX_NAV_IMPASSABLE);
    }
}

static void make_mixed(PhxBenchMap *map, uint64_t seed) {
    memset(map->cost, 1, (size_t)map->side * map->side);
    for (uint32_t sector = 0; sector < phx_sector_count(map->side, map->side); sector++) {
        const PhxSectorFrame frame = phx_sector_frame(map->side, map->side, sector);
        const uint32_t kind = draw(seed, 9, sector, 4);
        if (kind == 0) make_rooms(map, seed, sector, frame.x0, frame.y0);
        if (kind == 1) make_blocks(map, seed, sector, frame.x0, frame.y0);
    }
}

PhxBenchMap phx_bench_map(uint32_t side, PhxBenchGround ground, uint64_t seed) {
    PhxBenchMap map = {.side = side, .cost = malloc((size_t)side * side)};
    if (map.cost == NULL) return map;
    map.grid = (PhxNavGrid){.width = side, .height = side, .cost = map.cost};
    for (uint32_t c = 0; c < side * side && ground != PHX_BENCH_MIXED; c++) {
        map.cost[c] = 1;
        if (ground == PHX_BENCH_WALLS && draw(seed, 0, c, 100) < WALL_PERCENT)
            map.cost[c] = PHX_NAV_IMPASSABLE;
        if (ground == PHX_BENCH_RANDOM) map.cost[c] = (uint8_t)(1 + draw(seed, 0, c, COST_MOST));
        if (ground == PHX_BENCH_SMOOTH) map.cost[c] = smooth_cost(seed, c % side, c / side);
    }
    if (ground == PHX_BENCH_MIXED) make_mixed(&map, seed);
    return map;
}

void phx_bench_map_free(PhxBenchMap *map) {
    free(map->cost);
    *map = (PhxBenchMap){0};
}

uint32_t phx_bench_map_open(const PhxBenchMap *map, uint32_t x, uint32_t y) {
    return phx_nav_nearest_open(&map->grid, y * map->side + x);
}

/* Services. */

static void *count_allocate(void *user, size_t size) {
    PhxBenchService *service = user;
    const PhxAllocator system = phx_allocator_default();
    void *memory = system.allocate(system.user, size);
    if (memory == NULL) return NULL;
    service->bytes += size;
    if (service->bytes > service->peak) service->peak = service->bytes;
    return memory;
}

static void count_release(void *user, void *memory, size_t size) {
    PhxBenchService *service = user;
    const PhxAllocator system = phx_allocator_default();
    service->bytes -= size;
    system.release(system.user, memory, size);
}

static void copy_ground(void *user, uint32_t layer, PhxCellRect rect, uint8_t *plane) {
    const PhxBenchMap *map = ((const PhxBenchService *)user)->map;
    (void)layer;
    for (int32_t y = rect.y0; y < rect.y1; y++) {
        const size_t at = (size_t)y * map->side + (size_t)rect.x0;
        memcpy(plane + at, map->cost + at, (size_t)(rect.x1 - rect.x0));
    }
}

static uint32_t list_goal(void *user, uint32_t layer, uint64_t goal, uint32_t *cells) {
    const PhxBenchService *service = user;
    (void)layer;
    cells[0] = service->goals[goal];
    return 1;
}

PhxStatus phx_bench_service_open(PhxBenchService *service, PhxBenchMap *map, PhxJobs jobs,
                                 size_t cache_bytes) {
    *service = (PhxBenchService){.map = map, .jobs = jobs};
    const PhxRoutesConfig config = {.width = map->side,
                                    .height = map->side,
                                    .weights = PHX_FIELD_WEIGHTS_DEFAULT,
                                    .allocator = {count_allocate, count_release, service},
                                    .workers = jobs.workers,
                                    .cache_bytes = cache_bytes,
                                    .compose = copy_ground,
                                    .goals = list_goal,
                                    .user = service};
    const PhxStatus status = phx_routes_create(&config, &service->routes);
    return status == PHX_OK ? phx_routes_open(service->routes, 0, &service->jobs) : status;
}

void phx_bench_service_close(PhxBenchService *service) {
    phx_routes_destroy(service->routes);
    service->routes = NULL;
}

/* A random cell that a way joins with the middle of the map. */
static uint32_t random_cell(const PhxBenchService *service, uint64_t seed, uint32_t index) {
    const PhxBenchMap *map = service->map;
    const uint32_t cells = map->side * map->side;
    const uint32_t middle = phx_bench_map_open(map, map->side / 2, map->side / 2);
    const uint32_t part = phx_routes_part(service->routes, 0, middle);
    for (uint32_t i = 0; i < 1000; i++) {
        const uint32_t cell = phx_random_below(phx_random(seed, PURPOSE + 10, index, 0, i), cells);
        if (map->cost[cell] != PHX_NAV_IMPASSABLE && phx_routes_part(service->routes, 0, cell) == part)
            return cell;
    }
    return middle;
}

void phx_bench_service_people(PhxBenchService *service, uint32_t goals, uint32_t units, uint64_t seed) {
    service->goal_count = goals;
    service->unit_count = units;
    for (uint32_t g = 0; g < goals; g++) {
        service->goals[g] = random_cell(service, seed, g);
        for (uint32_t u = 0; u < units; u++)
            service->units[g][u] = random_cell(service, seed, 1000 + g * PHX_BENCH_UNITS + u);
    }
}

PhxStatus phx_bench_service_ask(PhxBenchService *service) {
    PhxRoutes *routes = service->routes;
    const uint32_t total = service->goal_count * service->unit_count;
    for (uint32_t asked = 0; asked < total;) {
        phx_routes_begin(routes);
        for (; asked < total; asked++) {
            const uint32_t g = asked / service->unit_count, u = asked % service->unit_count;
            uint32_t tile;
            if (!phx_routes_claim(routes, 0, g, service->units[g][u], &tile)) break;
        }
        const PhxStatus status = phx_routes_build(routes, &service->jobs);
        if (status != PHX_OK) return status;
    }
    return PHX_OK;
}
