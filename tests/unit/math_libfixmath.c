/* math_libfixmath.c: fixed-point kernels against the compiled functions of libfixmath, wherever those are
 * defined (its sign for "overflow" is in band and excluded) and rounded to nearest.
 */
#include <libfixmath/fix16.h>
#include <phalanx/fixed.h>
#include <stdlib.h>

#include "harness.h"

static void check_pair(fix16_t a, fix16_t b) {
    const fix16_t mul = fix16_mul(a, b), div = fix16_div(a, b);
    if (mul != fix16_overflow)
        CHECK_THAT(phx_fix_mul(a, b) == mul, "mul of %d and %d: library %d", a, b, mul);
    if (div == fix16_overflow) return;
    /* The library's quotient is one raw too large, by magnitude, for some divisors above 16.0. */
    const int64_t more = (int64_t)phx_abs64(div) - (int64_t)phx_abs64(phx_fix_div(a, b));
    CHECK_THAT(more == 0 || (more == 1 && phx_abs64(b) > 1 << 20), "div of %d and %d: library %d", a, b, div);
}

PHX_TEST(math_libfixmath, products_and_quotients_equal_the_library) {
    const fix16_t edges[] = {INT32_MIN,   INT32_MIN + 1,
                             -0x40000000, -65537,
                             -65536,      -65535,
                             -32769,      -32768,
                             -3,          -2,
                             -1,          0,
                             1,           2,
                             3,           32767,
                             32768,       32769,
                             65535,       65536,
                             65537,       1 << 20,
                             11863283,    0x40000000,
                             INT32_MAX};
    enum { EDGES = sizeof edges / sizeof edges[0] };
    for (int i = 0; i < EDGES; i++)
        for (int j = 0; j < EDGES; j++) check_pair(edges[i], edges[j]);
    uint64_t seed = 16;
    const int count = getenv("PHX_LONG") ? 30000000 : 500000;
    for (int i = 0; i < count; i++) { /* magnitudes as likely small as large */
        const fix16_t a = (fix16_t)(test_random(&seed) >> (33 + test_random(&seed) % 31));
        const fix16_t b = (fix16_t)(test_random(&seed) >> (33 + test_random(&seed) % 31));
        check_pair(i & 1 ? -a : a, i & 2 ? -b : b);
    }
}

PHX_TEST(math_libfixmath, square_roots_equal_the_library) {
    uint64_t seed = 17;
    for (int64_t x = 0, i = 0; x <= INT32_MAX; i++, x += i < 100000 ? 1 : test_range(&seed, 1, 10000)) {
        /* The library rounds some roots down by mistake, from 16384.0 on. */
        const int64_t less = (int64_t)phx_fix_sqrt((fix16_t)x) - fix16_sqrt((fix16_t)x);
        CHECK_THAT(less == 0 || (less == 1 && x >= 1 << 30), "x %" PRId64 ": %" PRId64 " less", x, less);
    }
}

/* Whatever text the library writes of a value, with 5 decimals, reads back as that value by ours. */
PHX_TEST(math_libfixmath, text_of_the_library_reads_back) {
    uint64_t seed = 18;
    for (int i = 0; i < 200000; i++) {
        const fix16_t value = (fix16_t)(uint32_t)test_random(&seed) / (1 << test_random(&seed) % 31);
        char text[16];
        fix16_t back = 0;
        fix16_to_str(value, text, 5);
        CHECK_THAT(phx_fix_parse(text, strlen(text), &back) == PHX_OK && back == value, "%d: \"%s\"", value,
                   text);
        char ours[PHX_FIX_TEXT];
        (void)phx_fix_format(value, ours, sizeof ours);
        CHECK_THAT(fix16_from_str(ours) - value <= 1 && value - fix16_from_str(ours) <= 1, "%d: \"%s\"",
                   value, ours);
    }
}
