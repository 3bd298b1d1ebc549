/* math_vec2.c: products, lengths, directions against 128-bit integers and long double. */
#include <math.h>
#include <phalanx/vec2.h>
#include <stdlib.h>

#include "harness.h"

__extension__ typedef __int128 Int128;

/* clang-format off */
static const int32_t edges[] = {
    INT32_MIN, INT32_MIN + 1, -0x5a827999, -0x40000001, -0x40000000, -0x3fffffff, -46341, -65536, -3, -2,
    -1, 0, 1, 2, 3, 5, 46340, 65536, 0x20000000, 0x3fffffff, 0x40000000, 0x40000001, 0x5a827999,
    INT32_MAX - 1, INT32_MAX,
};
/* clang-format on */
enum { EDGES = sizeof edges / sizeof edges[0] };

/* A component whose magnitude is as likely small as large, at most 2^(32 - least). */
static int32_t spread(uint64_t *seed, unsigned least) {
    const unsigned drop = 32 + least + (unsigned)(test_random(seed) % (31 - least));
    const int64_t v = (int64_t)(test_random(seed) >> drop);
    return (int32_t)(test_random(seed) & 1 ? -v : v);
}

static void check_products(PhxVec2 a, PhxVec2 b) {
    const Int128 dot = (Int128)a.x * b.x + (Int128)a.y * b.y, det = (Int128)a.x * b.y - (Int128)a.y * b.x;
    if (dot <= INT64_MAX) CHECK_EQ(phx_vec2_dot(a, b), (int64_t)dot);
    if (det <= INT64_MAX && det >= INT64_MIN) CHECK_EQ(phx_vec2_det(a, b), (int64_t)det);
    CHECK(phx_vec2_length_sq(a) == (uint64_t)((Int128)a.x * a.x + (Int128)a.y * a.y));
    CHECK_EQ(phx_vec2_add(a, b).x, (int32_t)((uint32_t)a.x + (uint32_t)b.x));
    CHECK_EQ(phx_vec2_sub(a, b).y, (int32_t)((uint32_t)a.y - (uint32_t)b.y));
}

static long double check_direction(PhxVec2 v) {
    PhxDir dir = {77, 77};
    const uint64_t length_sq = phx_vec2_length_sq(v);
    const uint64_t length = phx_vec2_normalize(v, &dir);
    CHECK_THAT(length * length <= length_sq && length_sq - length * length <= 2 * length, "(%d, %d)", v.x,
               v.y);
    CHECK_EQ(phx_vec2_length(v), length);
    if (length_sq == 0) {
        CHECK(dir.x == 0 && dir.y == 0);
        return 0;
    }
    const long double exact = sqrtl((long double)length_sq);
    const long double ex = fabsl(dir.x - ldexpl(v.x, 30) / exact),
                      ey = fabsl(dir.y - ldexpl(v.y, 30) / exact);
    const long double bound = length_sq >> 62 ? 2 : 1;
    CHECK_THAT(ex <= bound && ey <= bound, "(%d, %d): (%d, %d), off by %Lf and %Lf", v.x, v.y, dir.x, dir.y,
               ex, ey);
    if (v.y == 0) CHECK_EQ(dir.x, v.x < 0 ? -PHX_DIR_ONE : PHX_DIR_ONE);
    return length_sq >> 62 ? 0 : ex > ey ? ex : ey;
}

static void check_clamp(PhxVec2 v, fix16_t max) {
    const PhxVec2 got = phx_vec2_clamp_length(v, max);
    if (max <= 0) {
        CHECK(phx_vec2_is_zero(got));
        return;
    }
    const uint64_t max_sq = (uint64_t)max * (uint64_t)max, length_sq = phx_vec2_length_sq(v);
    if (length_sq <= max_sq) {
        CHECK(phx_vec2_equal(v, got));
        return;
    }
    const long double exact = sqrtl((long double)length_sq);
    CHECK_THAT(phx_vec2_length_sq(got) <= max_sq, "(%d, %d) to %d: (%d, %d)", v.x, v.y, max, got.x, got.y);
    CHECK_THAT(sqrtl((long double)phx_vec2_length_sq(got)) >= max - 5.0L, "(%d, %d) to %d: (%d, %d)", v.x,
               v.y, max, got.x, got.y);
    CHECK_THAT(fabsl(got.x - v.x * (long double)max / exact) < 5 &&
                   fabsl(got.y - v.y * (long double)max / exact) < 5,
               "(%d, %d) to %d: (%d, %d)", v.x, v.y, max, got.x, got.y);
}

PHX_TEST(math_vec2, products_and_sums_over_all_pairs_of_edges_and_random_ones) {
    for (int i = 0; i < EDGES * EDGES; i++)
        for (int j = 0; j < EDGES * EDGES; j++)
            check_products(phx_vec2(edges[i / EDGES], edges[i % EDGES]),
                           phx_vec2(edges[j / EDGES], edges[j % EDGES]));
    uint64_t seed = 11;
    for (int i = 0; i < 100000; i++) {
        const PhxVec2 a = {spread(&seed, 1), spread(&seed, 1)}, b = {spread(&seed, 1), spread(&seed, 1)};
        check_products(a, b);
        PhxDir dir;
        (void)phx_vec2_normalize(b, &dir);
        const long double along = ((long double)a.x * dir.x + (long double)a.y * dir.y) / PHX_DIR_ONE;
        const long double across = ((long double)a.x * dir.y - (long double)a.y * dir.x) / PHX_DIR_ONE;
        CHECK(fabsl((long double)phx_vec2_dot_dir(a, dir) - along) <= 0.5L);
        CHECK(fabsl((long double)phx_vec2_det_dir(a, dir) - across) <= 0.5L);
        const PhxVec2 scaled = phx_dir_scale(dir, a.x);
        CHECK(fabsl(scaled.x - (long double)dir.x * a.x / PHX_DIR_ONE) <= 0.5L);
        CHECK(fabsl(scaled.y - (long double)dir.y * a.x / PHX_DIR_ONE) <= 0.5L);
        CHECK_EQ(phx_vec2_scale(a, b.x).y, phx_fix_mul(a.y, b.x));
        const PhxDir turned = phx_dir_turn_quarter(dir);
        CHECK_EQ(phx_dir_dot(dir, turned), 0);
        CHECK(phx_dir_det(dir, turned) >= 0);
    }
}

PHX_TEST(math_vec2, direction_is_within_a_unit_and_length_is_the_exact_floor) {
    for (int i = 0; i < EDGES; i++)
        for (int j = 0; j < EDGES; j++) check_direction(phx_vec2(edges[i], edges[j]));
    for (int32_t y = 0; y <= 300; y++)
        for (int32_t x = -300; x <= 300; x++) check_direction(phx_vec2(x, y));
    uint64_t seed = 12;
    long double worst = 0;
    const int count = getenv("PHX_LONG") ? 50000000 : 1000000;
    for (int i = 0; i < count; i++) {
        const PhxVec2 v = {spread(&seed, 0), i % 7 ? spread(&seed, 0) : 0};
        const long double error = check_direction(v);
        if (error > worst) worst = error;
    }
    CHECK_THAT(worst > 0.5L && worst <= 1, "worst %Lf", worst);
    for (int64_t x = 1; x <= INT32_MAX; x += 9973) check_direction(phx_vec2((int32_t)x, 0));
}

PHX_TEST(math_vec2, clamped_length_never_exceeds_its_limit) {
    for (int i = 0; i < EDGES; i++)
        for (int j = 0; j < EDGES; j++)
            for (int k = 0; k < EDGES; k++) check_clamp(phx_vec2(edges[i], edges[j]), edges[k]);
    uint64_t seed = 13;
    for (int i = 0; i < 500000; i++)
        check_clamp(phx_vec2(spread(&seed, 0), spread(&seed, 0)), (fix16_t)abs(spread(&seed, 0)));
    for (int32_t max = 1; max <= 300; max++)
        for (int32_t y = 0; y < 60; y++)
            for (int32_t x = -60; x < 60; x++) check_clamp(phx_vec2(x * 7, y * 7), max);
}
