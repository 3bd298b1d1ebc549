/* nav_field.c: fields of random maps against a naive search in 64 bits, and what must not change them. */
#include <phalanx/jobs.h>
#include <phalanx/nav.h>

#include "nav/field_work.h"
#include "nav_random.h"

static const PhxFieldWeights all_weights[] = {{10, 14}, {5741, 8119}, {1, 1},    {1, 2}, {3, 4},
                                              {7, 14},  {10, 0},      {5741, 0}, {1, 0}};
enum { WEIGHTS = sizeof all_weights / sizeof all_weights[0] };
static const int dx8[8] = {1, 1, 0, -1, -1, -1, 0, 1}, dy8[8] = {0, 1, 1, 1, 0, -1, -1, -1};

/* The cell in direction d, or -1 where the step isn't allowed. */
static int64_t step_to(const PhxNavGrid *grid, PhxFieldWeights weights, uint32_t cell, int d) {
    if (d % 2 && weights.diagonal == 0) return -1;
    const int64_t x = cell % grid->width, y = cell / grid->width, tx = x + dx8[d], ty = y + dy8[d];
    if (tx < 0 || ty < 0 || tx >= grid->width || ty >= grid->height) return -1;
    const int64_t to = ty * grid->width + tx;
    if (grid->cost[to] == 255 || grid->cost[cell] == 255) return -1;
    if (d % 2 && (grid->cost[y * grid->width + tx] == 255 || grid->cost[ty * grid->width + x] == 255))
        return -1;
    return to;
}

static uint64_t step_cost(const PhxNavGrid *grid, PhxFieldWeights weights, int64_t to, int d) {
    return (uint64_t)(d % 2 ? weights.diagonal : weights.straight) * grid->cost[to];
}

/* Bellman-Ford: sweeps over all cells until nothing changes. */
static uint64_t *naive_sums(const PhxNavGrid *grid, PhxFieldWeights weights, const uint32_t *goals,
                            uint32_t count) {
    const uint32_t cells = grid->width * grid->height;
    uint64_t *sum = malloc(cells * sizeof *sum);
    for (uint32_t c = 0; c < cells; c++) sum[c] = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) sum[goals[i]] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t c = 0; c < cells; c++)
            for (int d = 0; d < 8; d++) {
                const int64_t to = step_to(grid, weights, c, d);
                if (to < 0 || sum[to] == UINT64_MAX) continue;
                const uint64_t way = sum[to] + step_cost(grid, weights, to, d);
                if (way < sum[c]) sum[c] = way, changed = true;
            }
    }
    return sum;
}

static int naive_code(const PhxNavGrid *grid, PhxFieldWeights weights, const uint64_t *sum, uint32_t cell) {
    if (grid->cost[cell] == 255) return PHX_FLOW_WALL;
    if (sum[cell] == 0) return PHX_FLOW_GOAL;
    if (sum[cell] == UINT64_MAX) return PHX_FLOW_NONE;
    int best = PHX_FLOW_NONE;
    uint64_t least = UINT64_MAX;
    for (int d = 0; d < 8; d++) {
        const int64_t to = step_to(grid, weights, cell, d);
        if (to < 0 || sum[to] == UINT64_MAX || sum[to] + step_cost(grid, weights, to, d) >= least) continue;
        least = sum[to] + step_cost(grid, weights, to, d);
        best = d;
    }
    return best;
}

PHX_TEST(field, equals_a_naive_search_on_random_maps) {
    uint64_t seed = 1;
    uint32_t reached = 0;
    for (int i = 0; i < 400; i++) {
        const TestMap map = test_map_random(&seed, 40);
        const PhxFieldWeights weights = all_weights[i % WEIGHTS];
        uint32_t goals[200];
        const uint32_t count =
            test_map_goals(&map, &seed, (uint32_t)test_range(&seed, 1, i % 4 ? 3 : 200), goals);
        TestField made = test_field_make(&map.grid, i);
        if (count) {
            CHECK_OK(phx_field_build(&made.field, &map.grid, weights, goals, count, made.scratch));
            uint64_t *sum = naive_sums(&map.grid, weights, goals, count);
            for (uint32_t c = 0; c < map.grid.width * map.grid.height; c++) {
                const uint32_t want = sum[c] == UINT64_MAX ? PHX_FIELD_UNREACHED : (uint32_t)sum[c];
                CHECK_THAT(made.field.integration[c] == want, "map %d cell %u: %u, not %u", i, c,
                           made.field.integration[c], want);
                const int code = naive_code(&map.grid, weights, sum, c);
                CHECK_THAT(made.field.flow[c] == code, "map %d cell %u: code %u, not %d", i, c,
                           made.field.flow[c], code);
                reached += want != PHX_FIELD_UNREACHED;
            }
            free(sum);
            PhxError error = {0};
            CHECK_THAT(!phx_field_check(&made.field, &map.grid, &error), "map %d: %s", i, error.text);
        }
        test_field_free(&made);
        free(map.cost);
    }
    CHECK(reached > 20000);
}

PHX_TEST(field, neither_order_of_goals_nor_memory_nor_a_full_pool_changes_it) {
    uint64_t seed = 2;
    uint32_t all_requeues = 0, failures = 0;
    for (int i = 0; i < 150; i++) {
        const TestMap map = test_map_random(&seed, 90);
        const PhxFieldWeights weights = all_weights[i % WEIGHTS];
        uint32_t goals[500];
        const uint32_t count = test_map_goals(&map, &seed, (uint32_t)test_range(&seed, 1, 500), goals);
        TestField a = test_field_make(&map.grid, 0), b = test_field_make(&map.grid, 0xff);
        if (count) {
            CHECK_OK(phx_field_build(&a.field, &map.grid, weights, goals, count, a.scratch));
            for (uint32_t k = count; k > 1; k--) {
                const uint32_t j = (uint32_t)test_range(&seed, 0, k - 1), swap = goals[k - 1];
                goals[k - 1] = goals[j], goals[j] = swap;
            }
            PhxFieldPool pool = {0};
            CHECK_OK(phx_field_build_within(&b.field, &map.grid, weights, goals, count, b.scratch, &pool));
            CHECK(pool.requeues == 0 && test_field_equal(&a.field, &b.field));
            /* With one chunk less than it took, the pool runs out. Some chunks may hold only what stayed
             * behind in late buckets; then a requeue finds room, where costs are all alike. */
            pool.limit = pool.chunks - 1;
            phx_field_init(&b.field, map.grid.width, map.grid.height, b.memory);
            const PhxStatus status =
                phx_field_build_within(&b.field, &map.grid, weights, goals, count, b.scratch, &pool);
            CHECK(status == PHX_OK || status == PHX_ERROR_FULL);
            CHECK(pool.requeues > 0 || status == PHX_ERROR_FULL);
            all_requeues += status == PHX_OK;
            failures += status != PHX_OK;
            if (status != PHX_OK) phx_field_init(&a.field, map.grid.width, map.grid.height, a.memory);
            CHECK_THAT(test_field_equal(&a.field, &b.field), "map %d, %u requeues", i, pool.requeues);
        }
        test_field_free(&a), test_field_free(&b);
        free(map.cost);
    }
    fprintf(stderr, "%u builds with requeues, %u without room\n", all_requeues, failures);
    CHECK(all_requeues >= 10);
}

enum { FIELDS = 16 };
typedef struct Batch {
    TestMap map;
    uint32_t goals[FIELDS];
    TestField fields[FIELDS];
    PhxStatus status[FIELDS];
} Batch;

static void build_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    Batch *batch = context;
    (void)worker;
    for (uint32_t i = begin; i < end; i++)
        batch->status[i] =
            phx_field_build(&batch->fields[i].field, &batch->map.grid, all_weights[i % WEIGHTS],
                            &batch->goals[i], 1, batch->fields[i].scratch);
}

PHX_TEST(field, builds_on_several_threads_equal_those_on_one) {
    uint64_t seed = 3;
    Batch serial, threaded;
    serial.map = test_map_random(&seed, 200);
    while (test_map_goals(&serial.map, &seed, FIELDS, serial.goals) == 0)
        serial.map = test_map_random(&seed, 200);
    threaded = serial;
    for (int i = 0; i < FIELDS; i++) {
        serial.fields[i] = test_field_make(&serial.map.grid, 1);
        threaded.fields[i] = test_field_make(&serial.map.grid, 2);
    }
    build_range(&serial, 0, FIELDS, 0);
    PhxJobs jobs;
    CHECK_OK(phx_jobs_threads_create(4, &jobs));
    phx_parallel_for(&jobs, FIELDS, 1, build_range, &threaded);
    phx_jobs_threads_destroy(&jobs);
    for (int i = 0; i < FIELDS; i++) {
        CHECK_OK(serial.status[i]);
        CHECK_OK(threaded.status[i]);
        CHECK(test_field_equal(&serial.fields[i].field, &threaded.fields[i].field));
        test_field_free(&serial.fields[i]), test_field_free(&threaded.fields[i]);
    }
    free(serial.map.cost);
}
