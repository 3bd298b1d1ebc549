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
        const Shape from = (Shape)(seed % SHAPES), to = (Shape)(seed / SHAPES);
        if (to == RANDOM || to == SCATTERED) continue; /* no formation */
        check_near(from, to, 1024, 1024, 0, seed);
        check_near(from, to, 200, 210, 10, seed);
        check_near(from, to, 1024, 1100, 40, seed);
    }
    end();
}

/* Everything handed in shuffled, with the same ids: everyone has the same slot. */
static void check_order(uint32_t n, uint32_t m, uint64_t seed) {
    static Scene first;
    static uint32_t unit_order[UNITS], slot_order[SLOTS];
    uint64_t state = seed;
    fill(seed % 2 ? RANDOM : GRID, WEDGE, n, m, 5, &state);
    for (uint32_t i = 0; i < n; i++) {
        scene.unit_id[i] = 3 * i + 1;
        scene.unit_rank[i] = (uint8_t)(i % 3 == 0 ? 200 : i % 3);
    }
    for (uint32_t j = 0; j < m; j++) {
        scene.slot_id[j] = 5 * j;
        scene.slot_rank[j] = (uint8_t)(j % 3 == 0 ? 200 : j % 3);
    }
    CHECK_OK(solve(true, true));
    check_valid(seed, true);
    first = scene;
    shuffle(&state, unit_order, n);
    shuffle(&state, slot_order, m);
    for (uint32_t i = 0; i < n; i++) {
        scene.unit[i] = first.unit[unit_order[i]];
        scene.unit_id[i] = first.unit_id[unit_order[i]];
        scene.unit_rank[i] = first.unit_rank[unit_order[i]];
    }
    for (uint32_t j = 0; j < m; j++) {
        scene.slot[j] = first.slot[slot_order[j]];
        scene.slot_id[j] = first.slot_id[slot_order[j]];
        scene.slot_rank[j] = first.slot_rank[slot_order[j]];
    }
    CHECK_OK(solve(true, true));
    for (uint32_t i = 0; i < n; i++)
        CHECK_THAT(scene.slot_id[scene.slot_of[i]] == first.slot_id[first.slot_of[unit_order[i]]],
                   "seed %" PRIu64 " unit %u", seed, i);
}

PHX_TEST(assign, ranks_stay_apart_and_the_order_of_input_has_no_influence) {
    begin();
    for (uint64_t seed = 0; seed < 12; seed++) check_order(150, 150 + (uint32_t)seed, seed);
    for (uint64_t seed = 0; seed < 6; seed++) check_order(900, 900 + 60 * (uint32_t)seed, seed);
    /* Each rank by itself is optimal. */
    for (uint64_t trial = 0; trial < 40; trial++) {
        static Scene whole;
        uint64_t seed = trial;
        fill(RANDOM, CIRCLE, 120, 128, 3, &seed);
        for (uint32_t i = 0; i < scene.n; i++) scene.unit_rank[i] = (uint8_t)(i % 2);
        for (uint32_t j = 0; j < scene.m; j++) scene.slot_rank[j] = (uint8_t)(j % 2);
        CHECK_OK(solve(false, true));
        check_valid(trial, true);
        whole = scene;
        for (uint8_t rank = 0; rank < 2; rank++) {
            double got = 0;
            scene.n = scene.m = 0;
            for (uint32_t i = 0; i < whole.n; i++) {
                if (whole.unit_rank[i] != rank) continue;
                scene.unit[scene.n++] = whole.unit[i];
                const PhxVec2 to = whole.slot[whole.slot_of[i]];
                got += pow((double)to.x - whole.unit[i].x, 2) + pow((double)to.y - whole.unit[i].y, 2);
            }
            for (uint32_t j = 0; j < whole.m; j++)
                if (whole.slot_rank[j] == rank) scene.slot[scene.m++] = whole.slot[j];
            CHECK_THAT(got == hungarian(), "seed %" PRIu64 " rank %u: %g", trial, rank, got);
        }
        scene = whole;
    }
    end();
}

/* ---- ways */

static int64_t side_of(PhxVec2 a, PhxVec2 b, PhxVec2 p) {
    return ((int64_t)b.x - a.x) * ((int64_t)p.y - a.y) - ((int64_t)b.y - a.y) * ((int64_t)p.x - a.x);
}

static bool cross(PhxVec2 a, PhxVec2 b, PhxVec2 c, PhxVec2 d) {
    const int64_t c_side = side_of(a, b, c), d_side = side_of(a, b, d), a_side = side_of(c, d, a),
                  b_side = side_of(c, d, b);
    return ((c_side > 0) != (d_side > 0)) && ((a_side > 0) != (b_side > 0)) && c_side != 0 && d_side != 0 &&
           a_side != 0 && b_side != 0;
}

/* Pairs of straight ways that cross, and the least distance of two units that go at once and arrive at once,
 * over the least at the beginning or the end. */
static uint32_t crossings(double *least) {
    uint32_t count = 0;
    *least = INFINITY;
    for (uint32_t i = 0; i < scene.n; i++)
        for (uint32_t k = 0; k < i; k++) {
            const PhxVec2 a = scene.unit[i], b = scene.slot[scene.slot_of[i]], c = scene.unit[k],
                          d = scene.slot[scene.slot_of[k]];
            count += cross(a, b, c, d);
            const double ux = (double)a.x - c.x, uy = (double)a.y - c.y, sx = (double)b.x - d.x,
                         sy = (double)b.y - d.y;
            const double ends = fmin(hypot(ux, uy), hypot(sx, sy));
            if (ends == 0) continue;
            const double vx = sx - ux, vy = sy - uy, vv = vx * vx + vy * vy;
            const double t = vv > 0 ? fmin(1, fmax(0, -(ux * vx + uy * vy) / vv)) : 0;
            *least = fmin(*least, hypot(ux + t * vx, uy + t * vy) / ends);
        }
    return count;
}

PHX_TEST(assign, ways_of_an_optimal_assignment_do_not_meet_and_few_cross) {
    uint32_t crossed = 0, by_number = 0;
    begin();
    for (uint64_t trial = 0; trial < SHAPES * SHAPES; trial++) {
        uint64_t seed = trial;
        double least;
        fill((Shape)(trial % SHAPES), (Shape)(trial / SHAPES), 64, 64, (double)(trial % 2 * 20), &seed);
        CHECK_OK(solve(false, false));
        const uint32_t count = crossings(&least);
        CHECK_THAT(least > 0.7071, "seed %" PRIu64 ": %g", trial, least);
        crossed += count;
        for (uint32_t i = 0; i < 64; i++) scene.slot_of[i] = i;
        by_number += crossings(&least);
    }
    if (getenv("PHX_VERBOSE"))
        printf("of %u pairs %u cross; handed out by number, %u\n", SHAPES * SHAPES * 64 * 63 / 2, crossed,
               by_number);
    CHECK(crossed * 5 < by_number * 2 && crossed * 14 < SHAPES * SHAPES * 64 * 63 / 2);
    uint64_t seed = 9;
    double least;
    fill(RANDOM, GRID, 1024, 1024, 0, &seed);
    CHECK_OK(solve(false, false));
    crossed = crossings(&least);
    if (getenv("PHX_VERBOSE"))
        printf("random to grid, 1,024: %u of %u pairs cross\n", crossed, 1024 * 1023 / 2);
    CHECK(crossed < 1024);
    end();
}

PHX_TEST(assign, bad_input_is_a_status_and_changes_nothing) {
    uint64_t seed = 1;
    begin();
    fill(GRID, WEDGE, 100, 110, 0, &seed);
    for (uint32_t i = 0; i < 100; i++) scene.unit_id[i] = i, scene.slot_of[i] = 12345;
    for (uint32_t j = 0; j < 110; j++) scene.slot_id[j] = j;
    scene.n = 0;
    CHECK_EQ(solve(true, true), PHX_ERROR_ARGUMENT);
    scene.n = UNITS + 1;
    CHECK_EQ(solve(false, false), PHX_ERROR_LIMIT);
    scene.n = 100, scene.m = SLOTS + 1;
    CHECK_EQ(solve(false, false), PHX_ERROR_LIMIT);
    scene.m = 99;
    CHECK_EQ(solve(true, true), PHX_ERROR_FULL);
    scene.m = 0;
    CHECK_EQ(solve(true, true), PHX_ERROR_FULL);
    scene.m = 110;
    for (uint32_t j = 0; j < 50; j++) scene.slot_rank[j] = 1;
    scene.unit_rank[7] = 2; /* a rank without slots */
    CHECK_EQ(solve(true, true), PHX_ERROR_FULL);
    scene.unit_rank[7] = 1; /* 99 units, 60 slots */
    CHECK_EQ(solve(true, true), PHX_ERROR_FULL);
    for (uint32_t i = 0; i < 45; i++) scene.unit_rank[i] = 1;
    scene.unit_id[99] = 3;
    CHECK_OK(solve(true, true)); /* of another rank */
    for (uint32_t i = 0; i < 100; i++) scene.slot_of[i] = 12345;
    scene.unit_id[99] = 98;
    CHECK_EQ(solve(true, true), PHX_ERROR_ARGUMENT);
    scene.unit_id[99] = 99, scene.slot_id[109] = 70;
    CHECK_EQ(solve(true, true), PHX_ERROR_ARGUMENT);
    scene.slot_id[109] = 109, scene.slot[3].y = 8192 * ONE + 1;
    CHECK_EQ(solve(true, true), PHX_ERROR_ARGUMENT);
    scene.slot[3].y = 0, scene.unit[3].x = INT32_MIN;
    CHECK_EQ(solve(true, true), PHX_ERROR_ARGUMENT);
    for (uint32_t i = 0; i < 100; i++) CHECK_EQ(scene.slot_of[i], 12345);
    /* The ends of the world are in it, for both solvers. */
    for (uint32_t n = 2; n <= 1000; n += 998) {
        scene.n = scene.m = n;
        for (uint32_t i = 0; i < n; i++) {
            const fix16_t far = i % 2 ? 8192 * ONE : -8192 * ONE;
            scene.unit[i] = (PhxVec2){far, -far};
            scene.slot[i] = (PhxVec2){far, i % 4 < 2 ? far : -far};
        }
        CHECK_OK(solve(false, false));
        check_valid(n, false);
    }
    end();
}
