/* nav_sector.c: ground and front of single sectors, against the whole-map field and naive searches. */
#include "nav/sector.h"

#include "nav/field_work.h"
#include "nav_random.h"

static const PhxFieldWeights all_weights[] = {{10, 14}, {5741, 8119}, {1, 1}, {1, 2}, {3, 4}, {7, 14}};
enum { WEIGHTS = sizeof all_weights / sizeof all_weights[0] };

typedef struct Bench {
    PhxSectorGround ground;
    PhxSectorWork work;
} Bench;

static Bench *bench_make(int poison) {
    Bench *bench = malloc(sizeof *bench);
    memset(bench, poison, sizeof *bench);
    return bench;
}

static void fill_uniform(const TestMap *map, uint64_t *seed) {
    memset(map->cost, (int)test_range(seed, 1, 254), (size_t)map->grid.width * map->grid.height);
}

static uint32_t local_of(const PhxNavGrid *grid, uint32_t cell) {
    return phx_sector_local(cell % grid->width, cell / grid->width);
}

/* `order` holds each reached cell once, and behind a neighbour that gives it its sum, unless it is a seed. */
static void check_order(const Bench *bench, PhxFieldWeights weights, const uint64_t *seed_value, int map) {
    const PhxSectorWork *work = &bench->work;
    static uint32_t place[PHX_SECTOR_CELLS];
    uint32_t reached = 0;
    memset(place, 255, sizeof place);
    for (uint32_t i = 0; i < work->reached; i++) {
        const uint32_t cell = work->order[i];
        CHECK_THAT(place[cell] == UINT32_MAX, "map %d cell %u", map, cell);
        place[cell] = i;
        bool based = seed_value[cell] == work->sum[cell];
        for (int d = 0; d < 8 && !based; d++) {
            if (!(bench->ground.facts[cell] >> (PHX_FACT_MOVES + d) & 1)) continue;
            const uint32_t to = (uint32_t)((int)cell + phx_flow_dy[d] * PHX_SECTOR_SIDE + phx_flow_dx[d]);
            const uint64_t step =
                (uint64_t)(d % 2 ? weights.diagonal : weights.straight) * (bench->ground.facts[to] & 255);
            based = place[to] < i && work->sum[to] + step == work->sum[cell];
        }
        CHECK_THAT(based, "map %d cell %u", map, cell);
    }
    for (uint32_t c = 0; c < PHX_SECTOR_CELLS; c++) reached += work->sum[c] != PHX_FIELD_UNREACHED;
    CHECK_EQ(work->reached, reached);
}

PHX_TEST(sector, front_equals_the_field_of_a_map_of_one_sector) {
    uint64_t seed = 11;
    Bench *bench = bench_make(0x5a);
    uint64_t *zero = malloc(PHX_SECTOR_CELLS * sizeof *zero);
    uint32_t reached = 0;
    for (int i = 0; i < 400; i++) {
        const TestMap map = test_map_random(&seed, 64);
        if (i % 5 == 0) fill_uniform(&map, &seed);
        const PhxFieldWeights weights = all_weights[i % WEIGHTS];
        uint32_t goals[40];
        const uint32_t count = test_map_goals(&map, &seed, (uint32_t)test_range(&seed, 1, 40), goals);
        TestField made = test_field_make(&map.grid, i);
        phx_sector_ground(&bench->ground, &map.grid, 0);
        if (count) {
            PhxSectorSeed seeds[40];
            for (uint32_t c = 0; c < PHX_SECTOR_CELLS; c++) zero[c] = UINT64_MAX;
            for (uint32_t k = 0; k < count; k++) {
                seeds[k] = (PhxSectorSeed){(uint16_t)local_of(&map.grid, goals[k]), 0};
                zero[seeds[k].cell] = 0;
            }
            CHECK_OK(phx_field_build(&made.field, &map.grid, weights, goals, count, made.scratch));
            phx_sector_front(&bench->work, &bench->ground, weights, seeds, count);
            for (uint32_t c = 0; c < map.grid.width * map.grid.height; c++) {
                const uint32_t got = bench->work.sum[local_of(&map.grid, c)];
                CHECK_THAT(got == made.field.integration[c], "map %d cell %u: %u, not %u", i, c, got,
                           made.field.integration[c]);
                reached += got != PHX_FIELD_UNREACHED;
            }
            check_order(bench, weights, zero, i);
        }
        test_field_free(&made);
        free(map.cost);
    }
    CHECK(reached > 100000);
    free(zero);
    free(bench);
}

/* Sweeps until nothing changes. `sum` holds the seeds. */
static void naive_front(const PhxSectorGround *ground, PhxFieldWeights weights, uint64_t *sum) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t c = 0; c < PHX_SECTOR_CELLS; c++)
            for (int d = 0; d < 8; d++) {
                if (!(ground->facts[c] >> (PHX_FACT_MOVES + d) & 1)) continue;
                const uint32_t to = (uint32_t)((int)c + phx_flow_dy[d] * PHX_SECTOR_SIDE + phx_flow_dx[d]);
                if (sum[to] == UINT64_MAX) continue;
                const uint64_t way = sum[to] + (uint64_t)(d % 2 ? weights.diagonal : weights.straight) *
                                                   (ground->facts[to] & 255);
                if (way < sum[c]) sum[c] = way, changed = true;
            }
    }
}

/* Seeds of a random spread: alike, beyond the ring, or up to the end of 32 bits. */
PHX_TEST(sector, seeds_of_any_values_give_the_least_sums_and_none_wraps) {
    uint64_t seed = 12;
    Bench *bench = bench_make(0xa5);
    uint64_t *sum = malloc(PHX_SECTOR_CELLS * sizeof *sum), *start = malloc(PHX_SECTOR_CELLS * sizeof *start);
    static const int64_t spreads[] = {0, 30, 3000, 10000000, UINT32_MAX};
    uint32_t left_out = 0;
    for (int i = 0; i < 250; i++) {
        const TestMap map = test_map_random(&seed, 130);
        if (i % 3 == 0) fill_uniform(&map, &seed);
        const PhxFieldWeights weights = all_weights[i % WEIGHTS];
        const uint32_t sectors = phx_sector_count(map.grid.width, map.grid.height);
        phx_sector_ground(&bench->ground, &map.grid, (uint32_t)test_range(&seed, 0, sectors - 1));
        PhxSectorSeed seeds[300];
        const int64_t spread = spreads[test_range(&seed, 0, 4)];
        const int64_t base = test_range(&seed, 0, 1) ? UINT32_MAX - spread : 0;
        uint32_t count = 0;
        for (uint32_t c = 0; c < PHX_SECTOR_CELLS; c++) start[c] = UINT64_MAX;
        for (int64_t tries = test_range(&seed, 0, 300); tries > 0; tries--) {
            const uint16_t cell = (uint16_t)test_range(&seed, 0, PHX_SECTOR_CELLS - 1);
            if (bench->ground.region[cell] == PHX_SECTOR_REGION_NONE) continue;
            const uint32_t value = (uint32_t)(base + test_range(&seed, 0, spread));
            seeds[count++] = (PhxSectorSeed){cell, value};
            if (value != UINT32_MAX && value < start[cell]) start[cell] = value;
        }
        memcpy(sum, start, PHX_SECTOR_CELLS * sizeof *sum);
        naive_front(&bench->ground, weights, sum);
        phx_sector_front(&bench->work, &bench->ground, weights, seeds, count);
        for (uint32_t c = 0; c < PHX_SECTOR_CELLS; c++) {
            const uint32_t want = sum[c] >= UINT32_MAX ? PHX_FIELD_UNREACHED : (uint32_t)sum[c];
            CHECK_THAT(bench->work.sum[c] == want, "map %d cell %u: %u, not %u", i, c, bench->work.sum[c],
                       want);
            left_out += sum[c] != UINT64_MAX && sum[c] >= UINT32_MAX;
        }
        check_order(bench, weights, start, i);
        free(map.cost);
    }
    CHECK(left_out > 1000);
    free(sum);
    free(start);
    free(bench);
}

/* Labels by a flood of each cell in turn. */
static uint16_t naive_regions(const PhxNavGrid *grid, PhxSectorFrame frame, uint16_t *region) {
    static uint16_t stack[4 * PHX_SECTOR_CELLS + 4];
    uint16_t count = 0;
    memset(region, 255, PHX_SECTOR_CELLS * sizeof *region);
    for (int start = 0; start < PHX_SECTOR_CELLS; start++) {
        uint32_t depth = 0;
        stack[depth++] = (uint16_t)start;
        uint32_t took = 0;
        while (depth) {
            const int cell = stack[--depth], x = cell % 64, y = cell / 64;
            if (x >= (int)frame.width || y >= (int)frame.height || region[cell] != PHX_SECTOR_REGION_NONE ||
                grid->cost[(frame.y0 + (uint32_t)y) * grid->width + frame.x0 + (uint32_t)x] == 255)
                continue;
            region[cell] = count;
            took++;
            if (x > 0) stack[depth++] = (uint16_t)(cell - 1);
            if (x < 63) stack[depth++] = (uint16_t)(cell + 1);
            if (y > 0) stack[depth++] = (uint16_t)(cell - 64);
            if (y < 63) stack[depth++] = (uint16_t)(cell + 64);
        }
        count = (uint16_t)(count + (took > 0));
    }
    return count;
}

static void check_ground(const Bench *bench, const PhxNavGrid *grid, uint32_t sector) {
    static uint16_t region[PHX_SECTOR_CELLS];
    const PhxSectorGround *ground = &bench->ground;
    const PhxSectorFrame frame = phx_sector_frame(grid->width, grid->height, sector);
    CHECK(frame.x0 == frame.sx * 64 && frame.y0 == frame.sy * 64 && frame.width >= 1 && frame.height >= 1);
    CHECK_EQ(phx_sector_at(grid->width, frame.x0, frame.y0), sector);
    CHECK_EQ(ground->region_count, naive_regions(grid, frame, region));
    CHECK(memcmp(region, ground->region, sizeof region) == 0);
    uint32_t low = 255, high = 0, walls = 0;
    for (uint32_t c = 0; c < PHX_SECTOR_CELLS; c++) {
        const uint32_t x = frame.x0 + c % 64, y = frame.y0 + c / 64;
        const bool inside = c % 64 < frame.width && c / 64 < frame.height;
        const uint32_t cost = inside ? grid->cost[y * grid->width + x] : 255;
        CHECK_EQ(ground->facts[c] & 255, cost);
        CHECK_EQ(ground->open[c / 64] >> c % 64 & 1, cost != 255);
        if (!inside) continue;
        walls += cost == 255;
        low = cost < low ? cost : low;
        high = cost != 255 && cost > high ? cost : high;
    }
    CHECK(ground->min_cost == low && ground->max_cost == high);
    CHECK_EQ(ground->uniform, !walls && low == high ? low : 0);
}

PHX_TEST(sector, ground_knows_regions_bounds_and_uniform_sectors) {
    uint64_t seed = 13;
    Bench *bench = bench_make(0x77);
    uint32_t uniform = 0;
    for (int i = 0; i < 120; i++) {
        TestMap map = test_map_random(&seed, 200);
        if (i % 8 == 0) memset(map.cost, (int)test_range(&seed, 1, 255), map.grid.width * map.grid.height);
        for (uint32_t s = 0; s < phx_sector_count(map.grid.width, map.grid.height); s++) {
            phx_sector_ground(&bench->ground, &map.grid, s);
            check_ground(bench, &map.grid, s);
            uniform += bench->ground.uniform != 0;
        }
        free(map.cost);
    }
    CHECK(uniform > 10);
    free(bench);
}

/* A chessboard has most regions, a serpentine the longest way, an empty sector nothing. */
PHX_TEST(sector, extreme_grounds) {
    Bench *bench = bench_make(1);
    uint8_t *cost = malloc(PHX_SECTOR_CELLS);
    const PhxNavGrid grid = {64, 64, cost};
    for (int c = 0; c < PHX_SECTOR_CELLS; c++) cost[c] = (c + c / 64) % 2 ? 255 : 1;
    phx_sector_ground(&bench->ground, &grid, 0);
    check_ground(bench, &grid, 0);
    CHECK_EQ(bench->ground.region_count, 2048);
    for (int c = 0; c < PHX_SECTOR_CELLS; c++) {
        const int x = c % 64, y = c / 64;
        cost[c] = y % 2 == 0 || x == (y % 4 == 1 ? 63 : 0) ? 254 : 255;
    }
    phx_sector_ground(&bench->ground, &grid, 0);
    check_ground(bench, &grid, 0);
    const PhxSectorSeed seed = {0, 0};
    phx_sector_front(&bench->work, &bench->ground, (PhxFieldWeights){5741, 8119}, &seed, 1);
    CHECK_EQ(bench->work.reached, 64 * 32 + 32);
    CHECK_EQ(bench->work.sum[63 * 64], 254u * 5741u * (64 * 32 + 31));
    memset(cost, 255, PHX_SECTOR_CELLS);
    phx_sector_ground(&bench->ground, &grid, 0);
    check_ground(bench, &grid, 0);
    phx_sector_front(&bench->work, &bench->ground, all_weights[0], NULL, 0);
    CHECK_EQ(bench->work.reached, 0);
    free(cost);
    free(bench);
}
