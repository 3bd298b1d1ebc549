/* rng.c: random numbers: fixed values, independence of order, distribution. */
#include <math.h>
#include <phalanx/rng.h>

#include "harness.h"

PHX_TEST(rng, values_are_fixed_and_draws_know_no_order) {
    /* Computed once by an independent program (Python integers) from the definition in rng.h. */
    CHECK(phx_random(0, 0, 0, 0, 0) == UINT64_C(0x2130748aaac80268));
    CHECK(phx_random(1, 2, 3, 4, 5) == UINT64_C(0xeeebcada625d50b5));
    CHECK(phx_random(UINT64_MAX, UINT32_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX) ==
          UINT64_C(0xd6fa02381ad9733a));
    CHECK(phx_random(UINT64_C(0x0123456789abcdef), 7, UINT64_C(0x100000002), 1000, 1) ==
          UINT64_C(0xc3a37a2a9c48d9c2));
    uint64_t forward[1000];
    for (uint32_t i = 0; i < 1000; i++) forward[i] = phx_random(9, 1, i, 50, i % 3);
    for (uint32_t i = 1000; i-- > 0;) {
        (void)phx_random(9, 2, i, 50, 0);
        CHECK(phx_random(9, 1, i, 50, i % 3) == forward[i]);
    }
}

/* One argument at a time runs through 2^16 values: each bit of the result is set about half the time, each
 * bit flips about half the time between neighbours and bytes are uniform (chi squared). */
static void check_stream(int argument) {
    enum { COUNT = 65536 };
    uint32_t ones[64] = {0}, flips[64] = {0}, bytes[8][256] = {{0}};
    uint64_t last = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint64_t v = argument == 0   ? phx_random(i, 1, 1, 1, 1)
                           : argument == 1 ? phx_random(1, i, 1, 1, 1)
                           : argument == 2 ? phx_random(1, 1, i, 1, 1)
                           : argument == 3 ? phx_random(1, 1, (uint64_t)i << 32 | 7, 1, 1)
                           : argument == 4 ? phx_random(1, 1, 1, i, 1)
                                           : phx_random(1, 1, 1, 1, i);
        for (int bit = 0; bit < 64; bit++) {
            ones[bit] += (uint32_t)(v >> bit & 1);
            flips[bit] += (uint32_t)((v ^ last) >> bit & 1);
        }
        for (int byte = 0; byte < 8; byte++) bytes[byte][v >> (8 * byte) & 255]++;
        last = v;
    }
    for (int bit = 0; bit < 64; bit++) { /* standard deviation 128; 6 of them */
        CHECK_THAT(ones[bit] > COUNT / 2 - 768 && ones[bit] < COUNT / 2 + 768, "argument %d bit %d", argument,
                   bit);
        CHECK_THAT(flips[bit] > COUNT / 2 - 768 && flips[bit] < COUNT / 2 + 768, "argument %d bit %d",
                   argument, bit);
    }
    for (int byte = 0; byte < 8; byte++) { /* 255 degrees of freedom: mean 255, standard deviation 22.6 */
        double chi = 0;
        for (int k = 0; k < 256; k++) chi += (bytes[byte][k] - 256.0) * (bytes[byte][k] - 256.0) / 256.0;
        CHECK_THAT(chi > 140 && chi < 400, "argument %d byte %d chi %f", argument, byte, chi);
    }
}

PHX_TEST(rng, each_argument_alone_gives_a_uniform_stream) {
    for (int argument = 0; argument < 6; argument++) check_stream(argument);
    /* Arguments aren't interchangeable: swapped values, other numbers. */
    CHECK(phx_random(1, 2, 3, 4, 5) != phx_random(1, 2, 3, 5, 4));
    CHECK(phx_random(1, 2, 3, 4, 5) != phx_random(1, 4, 3, 2, 5));
    CHECK(phx_random(1, 2, 3, 4, 5) != phx_random(3, 2, 1, 4, 5));
    CHECK(phx_random(0, 0, 0, 0, 1) != phx_random(0, 0, 0, 1, 0));
}

PHX_TEST(rng, below_keeps_its_bound_and_is_uniform) {
    __extension__ typedef unsigned __int128 UInt128;
    uint64_t seed = 8;
    uint32_t count[10] = {0};
    const uint32_t bounds[] = {0, 1, 2, 3, 10, 65536, 0x7fffffffu, 0x80000000u, UINT32_MAX};
    for (int i = 0; i < 100000; i++) {
        const uint64_t v = i == 0 ? 0 : i == 1 ? UINT64_MAX : test_random(&seed);
        for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
            const uint32_t got = phx_random_below(v, bounds[b]);
            CHECK(got == (uint32_t)((UInt128)v * bounds[b] >> 64));
            CHECK(bounds[b] == 0 ? got == 0 : got < bounds[b]);
        }
        count[phx_random_below(phx_random(1, 2, 3, 4, (uint32_t)i), 10)]++;
    }
    for (int k = 0; k < 10; k++) CHECK(count[k] > 9500 && count[k] < 10500);
}
