/* Assignment of units to slots: equal to brute force to 8 (with its tie rule), to a Hungarian oracle to 64,
 * and near that oracle's optimum at 1,024; ranks, order of input, crossings, bad input. */
#include <math.h>
#include <phalanx/assign.h>

#include "base/arena.h"
#include "harness.h"

enum { ONE = 65536, UNITS = PHX_ASSIGN_UNITS, SLOTS = PHX_ASSIGN_SLOTS };

typedef struct Scene {
    uint32_t n, m;
    PhxVec2 unit[UNITS], slot[SLOTS];
    uint32_t unit_id[UNITS], slot_id[SLOTS], slot_of[UNITS];
    uint8_t unit_rank[UNITS], slot_rank[SLOTS];
} Scene;

static PhxArena arena;
static PhxAssignWork *work;
static Scene scene;

static void begin(void) {
    PhxArena measure = phx_arena_measure();
    (void)phx_assign_layout(&measure);
    CHECK_OK(phx_arena_create(&arena, phx_allocator_default(), measure.used));
    work = phx_assign_layout(&arena);
    memset(&scene, 0, sizeof scene);
}

static void end(void) { phx_arena_destroy(&arena); }

static PhxStatus solve(bool ids, bool ranks) {
    const PhxAssignSet units = {scene.n, scene.unit, ids ? scene.unit_id : NULL,
                                ranks ? scene.unit_rank : NULL};
    const PhxAssignSet slots = {scene.m, scene.slot, ids ? scene.slot_id : NULL,
                                ranks ? scene.slot_rank : NULL};
    return phx_assign_solve(work, &units, &slots, scene.slot_of);
}

static int64_t cost(uint32_t unit, uint32_t slot) {
    const int64_t x = (int64_t)scene.unit[unit].x - scene.slot[slot].x,
                  y = (int64_t)scene.unit[unit].y - scene.slot[slot].y;
    return x * x + y * y;
}

static double total(void) {
    double sum = 0;
    for (uint32_t i = 0; i < scene.n; i++) sum += (double)cost(i, scene.slot_of[i]);
    return sum;
}

/* Every unit has a slot of its own, of its rank. */
static void check_valid(uint64_t seed, bool ranks) {
    static bool taken[SLOTS];
    memset(taken, 0, sizeof taken);
    for (uint32_t i = 0; i < scene.n; i++) {
        const uint32_t slot = scene.slot_of[i];
        CHECK_THAT(slot < scene.m && !taken[slot], "seed %" PRIu64 " unit %u slot %u", seed, i, slot);
        CHECK_THAT(!ranks || scene.unit_rank[i] == scene.slot_rank[slot], "seed %" PRIu64 " unit %u", seed,
                   i);
        taken[slot] = true;
    }
}

/* A random order of 0..count-1, and ids that ascend along it. */
static void shuffle(uint64_t *seed, uint32_t *order, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) order[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t j = (uint32_t)(test_random(seed) % i), kept = order[i - 1];
        order[i - 1] = order[j], order[j] = kept;
    }
}

/* Brute force: units in the order of their ids, slots likewise; the first of the cheapest remains. */
typedef struct Brute {
    uint32_t unit_by_id[8], slot_by_id[10], now[8], best_of[8], used;
    int64_t best;
} Brute;

static void try_all(Brute *brute, uint32_t depth, int64_t sum) {
    if (sum >= brute->best) return;
    if (depth == scene.n) {
        brute->best = sum;
        memcpy(brute->best_of, brute->now, sizeof brute->now);
        return;
    }
    for (uint32_t j = 0; j < scene.m; j++) {
        if (brute->used >> j & 1) continue;
        brute->used |= 1u << j;
        brute->now[brute->unit_by_id[depth]] = brute->slot_by_id[j];
        try_all(brute, depth + 1, sum + cost(brute->unit_by_id[depth], brute->slot_by_id[j]));
        brute->used &= ~(1u << j);
    }
}

static void fill_small(uint64_t *seed) {
    const uint32_t span = test_random(seed) % 3 == 0 ? 1u << 28 : test_random(seed) % 2 ? 4 : 1;
    scene.n = 1 + (uint32_t)(test_random(seed) % 8);
    scene.m = scene.n + (uint32_t)(test_random(seed) % (11 - scene.n));
    if (scene.m > 9) scene.m = 9;
    for (uint32_t i = 0; i < scene.n; i++)
        scene.unit[i] = (PhxVec2){(fix16_t)(test_random(seed) % span), (fix16_t)(test_random(seed) % span)};
    for (uint32_t i = 0; i < scene.m; i++)
        scene.slot[i] = (PhxVec2){(fix16_t)(test_random(seed) % span), (fix16_t)(test_random(seed) % span)};
}

PHX_TEST(assign, equals_brute_force_to_eight_and_its_tie_rule) {
    begin();
    for (uint64_t trial = 0; trial < 1500; trial++) {
        uint64_t seed = trial;
        Brute brute = {.best = INT64_MAX};
        fill_small(&seed);
        shuffle(&seed, brute.unit_by_id, scene.n);
        shuffle(&seed, brute.slot_by_id, scene.m);
        for (uint32_t i = 0; i < scene.n; i++) scene.unit_id[brute.unit_by_id[i]] = 7 * i;
        for (uint32_t i = 0; i < scene.m; i++) scene.slot_id[brute.slot_by_id[i]] = UINT32_MAX - scene.m + i;
        try_all(&brute, 0, 0);
        CHECK_OK(solve(true, false));
        check_valid(trial, false);
        for (uint32_t i = 0; i < scene.n; i++)
            CHECK_THAT(scene.slot_of[i] == brute.best_of[i], "seed %" PRIu64 " n %u m %u unit %u: %u, not %u",
                       trial, scene.n, scene.m, i, scene.slot_of[i], brute.best_of[i]);
    }
    end();
}

/* The Hungarian method with potentials of both sides, in doubles: sums of integers below 2^53 are exact. */
static double hungarian(void) {
    static double of_unit[UNITS + 1], of_slot[SLOTS + 1], least[SLOTS + 1];
    static uint32_t match[SLOTS + 1], way[SLOTS + 1];
    static bool seen[SLOTS + 1];
    memset(of_unit, 0, sizeof of_unit), memset(of_slot, 0, sizeof of_slot), memset(match, 0, sizeof match);
    for (uint32_t i = 1; i <= scene.n; i++) {
        uint32_t at = 0;
        match[0] = i;
        for (uint32_t j = 0; j <= scene.m; j++) least[j] = INFINITY, seen[j] = false;
        do {
            uint32_t next = 0;
            double delta = INFINITY;
            seen[at] = true;
            for (uint32_t j = 1; j <= scene.m; j++) {
                if (seen[j]) continue;
                const double c = (double)cost(match[at] - 1, j - 1) - of_unit[match[at]] - of_slot[j];
                if (c < least[j]) least[j] = c, way[j] = at;
                if (least[j] < delta) delta = least[j], next = j;
            }
            for (uint32_t j = 0; j <= scene.m; j++)
                if (seen[j])
                    of_unit[match[j]] += delta, of_slot[j] -= delta;
                else
                    least[j] -= delta;
            at = next;
        } while (match[at] != 0);
        for (; at != 0; at = way[at]) match[at] = match[way[at]];
    }
    double sum = 0;
    for (uint32_t j = 1; j <= scene.m; j++)
        if (match[j]) sum += (double)cost(match[j] - 1, j - 1);
    return sum;
}

/* Where the i-th of `count` stands, in units. */
typedef enum Shape { GRID, LINE, FILE4, CIRCLE, WEDGE, RANDOM, POINT, SCATTERED, SHAPES } Shape;
static const char *const shape_name[SHAPES] = {"grid",  "line",   "files of 4", "circle",
                                               "wedge", "random", "one point",  "grid, scattered"};

static PhxVec2 stand(Shape shape, uint32_t i, uint32_t count, uint64_t *seed) {
    const uint32_t side = (uint32_t)ceil(sqrt(count));
    const double random_x = (double)(test_random(seed) % ONE) / ONE,
                 random_y = (double)(test_random(seed) % ONE) / ONE, turn = i * 6.283185307179586 / count;
    const uint32_t row = (uint32_t)((sqrt(8.0 * i + 1) - 1) / 2);
    double x = 0, y = 0;
    switch (shape) {
    case GRID:
        x = i % side, y = i / side;
        break;
    case LINE:
        x = i;
        break;
    case FILE4:
        x = i % 4, y = i / 4;
        break;
    case CIRCLE:
        x = cos(turn) * count / 6.283185307179586, y = sin(turn) * count / 6.283185307179586;
        break;
    case WEDGE:
        x = i - row * (row + 1) / 2.0 - row / 2.0, y = row;
        break;
    case RANDOM:
        x = random_x * side, y = random_y * side;
        break;
    case SCATTERED:
        x = i % side + 1.5 * random_x, y = i / side + 1.5 * random_y;
        break;
    case POINT:
    case SHAPES:
        break;
    }
    return (PhxVec2){(fix16_t)lrint(x * ONE), (fix16_t)lrint(y * ONE)};
}

static void fill(Shape from, Shape to, uint32_t n, uint32_t m, double away, uint64_t *seed) {
    scene.n = n, scene.m = m;
    for (uint32_t i = 0; i < n; i++) scene.unit[i] = stand(from, i, n, seed);
    for (uint32_t j = 0; j < m; j++) {
        scene.slot[j] = stand(to, j, m, seed);
        scene.slot[j].x += (fix16_t)(away * ONE);
    }
}

PHX_TEST(assign, equals_a_hungarian_oracle_to_64) {
    begin();
    for (uint64_t trial = 0; trial < 150; trial++) {
        uint64_t seed = trial + 1000;
        const uint32_t n = trial % 3 == 0 ? 64 : 1 + (uint32_t)(test_random(&seed) % 64);
        const uint32_t m = trial % 50 == 7 ? SLOTS : n + (uint32_t)(test_random(&seed) % 3 * 17);
        fill((Shape)(test_random(&seed) % SHAPES), (Shape)(test_random(&seed) % SHAPES), n, m,
             (double)(trial % 4 * 30), &seed);
        CHECK_OK(solve(false, false));
        check_valid(trial, false);
        const double want = hungarian();
        CHECK_THAT(total() == want, "seed %" PRIu64 " n %u m %u: %.17g, not %.17g", trial, n, m, total(),
                   want);
    }
    end();
}

static void check_near(Shape from, Shape to, uint32_t n, uint32_t m, double away, uint64_t seed) {
    uint64_t state = seed;
    fill(from, to, n, m, away, &state);
    CHECK_OK(solve(false, false));
    check_valid(seed, false);
    const double best = hungarian(), got = total();
    if (getenv("PHX_VERBOSE"))
        printf("%s to %s, %u on %u, %g away, seed %" PRIu64 ": %.3f%% above the optimum\n", shape_name[from],
               shape_name[to], n, m, away, seed, best > 0 ? 100 * (got / best - 1) : got);
    CHECK_THAT(got <= 1.05 * best, "%s to %s, %u on %u, seed %" PRIu64 ": %.3f%% above the optimum",
               shape_name[from], shape_name[to], n, m, seed, 100 * (got / best - 1));
}

PHX_TEST(assign, is_within_five_percent_at_1024) {
    const bool all = getenv("PHX_LONG") != NULL;
    begin();
    check_near(GRID, LINE, 1024, 1024, 0, 1);
    check_near(CIRCLE, WEDGE, 1024, 1024, 0, 1);
    check_near(GRID, GRID, 1024, 1024, 0, 1);
    check_near(POINT, WEDGE, 1024, 1024, 0, 1);
    check_near(SCATTERED, GRID, 1024, 1024, 0, 1);
    check_near(SCATTERED, GRID, 700, 1024, 0, 1);
    check_near(RANDOM, GRID, 1000, 1024, 20, 1);
    for (uint64_t seed = 0; seed < (all ? 40 : 4); seed++) check_near(RANDOM, GRID, 1024, 1024, 0, seed);
    for (uint64_t seed = 0; all && seed < SHAPES * SHAPES; seed++) {
        check_near((Shape)(seed % SHAPES), (Shape)(seed / SHAPES), 1024, 1024, 0, seed);
        check_near((Shape)(seed % SHAPES), (Shape)(seed / SHAPES), 200, 210, 10, seed);
        check_near((Shape)(seed % SHAPES), (Shape)(seed / SHAPES), 1024, 2048, 40, seed);
    }
    end();
}
