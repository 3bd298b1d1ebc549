/* math.c: fixed-point kernels against 128-bit arithmetic. Case numbers are those of the public fault reports
 * that the project collects.
 */
#include <phalanx/fixed.h>
#include <stdlib.h>

#include "harness.h"

__extension__ typedef __int128 Int128;

/* clang-format off */
static const int32_t edges32[] = {
    INT32_MIN, INT32_MIN + 1, INT32_MIN + 2, -0x40000001, -0x40000000, -0x3fffffff, -11863283,
    -181 * 65536 - 1, -181 * 65536, -65537, -65536, -65535, -32769, -32768, -32767, -257, -256, -3, -2,
    -1, 0, 1, 2, 3, 256, 257, 32767, 32768, 32769, 65535, 65536, 65537, 131072, -131072,
    393216, 1 << 20, 181 * 65536, 181 * 65536 + 1,
    11863283, 0x3fffffff, 0x40000000, 0x40000001, INT32_MAX - 1, INT32_MAX,
};
/* clang-format on */
enum { EDGES32 = sizeof edges32 / sizeof edges32[0] };

/* clang-format off */
static const int64_t edges64[] = {
    INT64_MIN, INT64_MIN + 1, -((int64_t)1 << 62) - 1, -((int64_t)1 << 62), -((int64_t)1 << 47),
    -0x80000001ll, -0x80000000ll, -98305, -98304, -98303, -65536, -32769, -32768, -32767, -3, -2, -1, 0,
    1, 2, 3, 32767, 32768, 32769, 65536, 98303, 98304, 98305, 0x7fffffffll, 0x80000000ll,
    (int64_t)1 << 47, (int64_t)1 << 62, ((int64_t)1 << 62) + 1, INT64_MAX - 1, INT64_MAX,
};
/* clang-format on */
enum { EDGES64 = sizeof edges64 / sizeof edges64[0] };

static Int128 abs128(Int128 v) { return v < 0 ? -v : v; }

/* num / den, half away from zero. */
static Int128 oracle_div(Int128 num, Int128 den) {
    const Int128 magnitude = (2 * abs128(num) + abs128(den)) / (2 * abs128(den));
    return (num < 0) != (den < 0) ? -magnitude : magnitude;
}
static int32_t oracle_saturate(Int128 v) {
    return (int32_t)(v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v);
}

static void check_fix_pair(int32_t a, int32_t b) {
    const int32_t mul = phx_fix_mul(a, b), div = phx_fix_div(a, b);
    const Int128 exact_mul = oracle_div((Int128)a * b, 65536);
    CHECK_THAT(mul == oracle_saturate(exact_mul), "mul of %d and %d: %d", a, b, mul);
    if (b == 0) {
        CHECK_EQ(div, a > 0 ? INT32_MAX : a < 0 ? INT32_MIN : 0);
    } else {
        CHECK_THAT(div == oracle_saturate(oracle_div((Int128)a * 65536, b)), "div of %d and %d: %d", a, b,
                   div);
    }
    CHECK_EQ(phx_fix_add(a, b), oracle_saturate((Int128)a + b));
    CHECK_EQ(phx_fix_sub(a, b), oracle_saturate((Int128)a - b));
}

static void check_div_round(int64_t num, int64_t den) {
    const Int128 exact = oracle_div(num, den);
    CHECK_THAT(phx_div_round(num, den) == (exact > INT64_MAX ? INT64_MAX : (int64_t)exact),
               "%" PRId64 " / %" PRId64 ": %" PRId64, num, den, phx_div_round(num, den));
}

static void check_round_shift(int64_t v) {
    for (unsigned bits = 1; bits <= 62; bits++) {
        if (phx_abs64(v) > (uint64_t)INT64_MAX - ((uint64_t)1 << (bits - 1))) continue;
        CHECK_THAT(phx_round_shift(v, bits) == (int64_t)oracle_div(v, (Int128)1 << bits), "%" PRId64 " by %u",
                   v, bits);
    }
}

/* A value whose magnitude is as likely small as large. */
static int64_t spread(uint64_t *seed, unsigned bits) {
    const unsigned drop = 64 - bits + (unsigned)(test_random(seed) % bits);
    const int64_t magnitude = (int64_t)(test_random(seed) >> drop);
    return test_random(seed) & 1 ? -magnitude : magnitude;
}

PHX_TEST(math, case_27_each_operation_over_all_pairs_of_edges) {
    for (int i = 0; i < EDGES32; i++)
        for (int j = 0; j < EDGES32; j++) check_fix_pair(edges32[i], edges32[j]);
    for (int i = 0; i < EDGES64; i++) {
        check_round_shift(edges64[i]);
        CHECK(phx_abs64(edges64[i]) == (uint64_t)abs128(edges64[i]));
        CHECK_EQ(phx_fix_saturate(edges64[i]), oracle_saturate(edges64[i]));
        for (int j = 0; j < EDGES64; j++)
            if (edges64[j] != 0) check_div_round(edges64[i], edges64[j]);
    }
    /* What was reported: 1 / the smallest negatives, the minimum / -1, zero divisors. */
    CHECK_EQ(phx_fix_div(1, INT32_MIN), 0);
    CHECK_EQ(phx_fix_div(fix16_one, -1), INT32_MIN);
    CHECK_EQ(phx_fix_div(INT32_MIN, -fix16_one), INT32_MAX);
    CHECK_EQ(phx_fix_div(INT32_MIN, -1), INT32_MAX);
    CHECK_EQ(phx_fix_div(0, 0), 0);
    CHECK_EQ(phx_div_round(INT64_MIN, -1), INT64_MAX);
}

PHX_TEST(math, operations_on_random_pairs_equal_the_oracle) {
    uint64_t seed = 27;
    const int count = getenv("PHX_LONG") ? 30000000 : 300000;
    for (int i = 0; i < count; i++) {
        check_fix_pair((int32_t)spread(&seed, 31), (int32_t)spread(&seed, 31));
        const int64_t den = spread(&seed, 63);
        if (den != 0) check_div_round(spread(&seed, 63), den);
        const int64_t v = spread(&seed, 63);
        const unsigned bits = 1 + (unsigned)(test_random(&seed) % 62);
        if (phx_abs64(v) <= (uint64_t)INT64_MAX - ((uint64_t)1 << (bits - 1)))
            CHECK_THAT(phx_round_shift(v, bits) == (int64_t)oracle_div(v, (Int128)1 << bits),
                       "%" PRId64 " by %u", v, bits);
    }
}

static void check_isqrt(uint64_t v) {
    const uint64_t root = phx_isqrt64(v);
    const bool low_enough = root * root <= v, high_enough = v - root * root <= 2 * root;
    CHECK_THAT(low_enough && high_enough, "v %" PRIu64 ": %" PRIu64, v, root);
}

/* All squares and their neighbours are where a floor can fail: below a square, on it. */
PHX_TEST(math, square_root_is_the_exact_floor) {
    uint64_t seed = 5;
    for (uint64_t v = 0; v < 70000; v++) check_isqrt(v);
    for (unsigned bit = 0; bit < 64; bit++)
        for (uint64_t d = 0; d < 3; d++)
            check_isqrt(((uint64_t)1 << bit) + d), check_isqrt(((uint64_t)1 << bit) - d);
    for (uint64_t d = 0; d < 1000; d++) check_isqrt(UINT64_MAX - d);
    for (uint64_t prefix = 128; prefix < 512; prefix++) /* both ends of each bucket of the table */
        for (unsigned shift = 1; shift < 56; shift++)
            for (uint64_t d = 0; d < 4; d++)
                check_isqrt((prefix << shift) + d), check_isqrt((prefix << shift) - d);
    const uint64_t step = getenv("PHX_LONG") ? 1 : 1999;
    for (uint64_t root = 1; root <= UINT32_MAX; root += step) {
        const uint64_t square = root * root;
        CHECK_THAT(phx_isqrt64(square) == root && phx_isqrt64(square - 1) == root - 1, "root %" PRIu64, root);
        if (root < UINT32_MAX) CHECK_THAT(phx_isqrt64(square + 2 * root) == root, "root %" PRIu64, root);
    }
    for (int i = 0; i < 500000; i++) check_isqrt(test_random(&seed) >> (test_random(&seed) % 64));
}

PHX_TEST(math, fixed_square_root_is_nearest) {
    uint64_t seed = 6;
    CHECK_EQ(phx_fix_sqrt(-1), 0);
    CHECK_EQ(phx_fix_sqrt(INT32_MIN), 0);
    for (int64_t x = 0, i = 0; x <= INT32_MAX; i++) {
        const int64_t root = phx_fix_sqrt((fix16_t)x), n = x << 16;
        /* (root - 1/2)^2 <= n < (root + 1/2)^2; equality is impossible, the squares being quarters. */
        CHECK_THAT(root * root - root < n || root == 0, "x %" PRId64 ": %" PRId64, x, root);
        CHECK_THAT(n <= root * root + root, "x %" PRId64 ": %" PRId64, x, root);
        x = i < 70000 ? i : x + test_range(&seed, 1, 20000);
    }
    CHECK_EQ(phx_fix_sqrt(INT32_MAX), 11863283);
}
