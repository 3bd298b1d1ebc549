/* math_trig.c: sine, cosine and headings over all angles against long double. */
#include <math.h>
#include <phalanx/trig.h>
#include <stdlib.h>

#include "harness.h"

static const long double turn = 6.283185307179586476925286766559005768L;

PHX_TEST(math_trig, case_28_sine_keeps_its_bound_and_is_monotonic_over_all_angles) {
    long double worst = 0;
    for (int32_t a = 0; a < 65536; a++) {
        const int32_t sine = phx_sin((PhxAngle)a);
        const long double error = fabsl(sine - ldexpl(sinl(turn * (long double)a / 65536), 30));
        if (error > worst) worst = error;
        CHECK_THAT(error <= 0.76L, "angle %d: %d, %Lf units off", a, sine, error);
        CHECK_EQ(phx_sin((PhxAngle)-a), -sine);
        CHECK_EQ(phx_sin((PhxAngle)(32768 - a)), sine);
        CHECK_EQ(phx_cos((PhxAngle)(a - 16384)), sine);
        CHECK_EQ(phx_cos((PhxAngle)(16384 - a)), sine);
        const int32_t next = phx_sin((PhxAngle)(a + 1));
        const bool rising = a < 16384 || a >= 49152;
        CHECK_THAT(rising ? next > sine : next < sine, "angle %d: %d, then %d", a, sine, next);
    }
    CHECK_EQ(phx_sin(0), 0);
    CHECK_EQ(phx_sin(16384), PHX_DIR_ONE);
    CHECK_EQ(phx_sin(32768), 0);
    CHECK_EQ(phx_sin(49152), -PHX_DIR_ONE);
    CHECK_EQ(phx_cos(0), PHX_DIR_ONE);
    CHECK_EQ(phx_cos(16384), 0);
    CHECK_EQ(phx_cos(32768), -PHX_DIR_ONE);
    CHECK_EQ(phx_cos(49152), 0);
    CHECK(worst > 0.5L); /* the oracle is at work */
}

static void check_heading(int64_t x, int64_t y) {
    const uint32_t got = phx_angle_of(x, y);
    long double truth = atan2l((long double)y, (long double)x) * 65536 / turn;
    long double error = fabsl((long double)got - truth);
    if (error > 32768) error = fabsl(error - 65536);
    CHECK_THAT(error <= 0.52L, "(%" PRId64 ", %" PRId64 "): %u, %Lf off", x, y, (unsigned)got, error);
    if (x == INT64_MIN || y == INT64_MIN) return;
    CHECK_EQ(phx_angle_of(-y, x), (got + 16384) & 0xffff);
    CHECK_EQ(phx_angle_of(-x, -y), (got + 32768) & 0xffff);
    CHECK_EQ(phx_angle_of(x, -y), (65536 - got) & 0xffff);
    CHECK_EQ(phx_angle_of(y, x), (16384 - got) & 0xffff); /* mirrored at the diagonal */
}

PHX_TEST(math_trig, case_28_heading_of_any_vector_keeps_its_bound_and_symmetry) {
    CHECK_EQ(phx_angle_of(0, 0), 0);
    /* clang-format off */
    const int64_t edges[] = {
        INT64_MIN, INT64_MIN + 1, -((int64_t)1 << 39), -((int64_t)1 << 39) + 1, INT32_MIN, -65536, -1, 0,
        1, 2, 3, 65535, 65536, INT32_MAX, ((int64_t)1 << 39) - 1, (int64_t)1 << 39,
        ((int64_t)1 << 39) + 1, (int64_t)1 << 62, INT64_MAX - 1, INT64_MAX,
    };
    /* clang-format on */
    enum { EDGES = sizeof edges / sizeof edges[0] };
    for (int i = 0; i < EDGES; i++)
        for (int j = 0; j < EDGES; j++)
            if (edges[i] || edges[j]) check_heading(edges[i], edges[j]);
    for (int64_t y = -60; y <= 60; y++)
        for (int64_t x = -60; x <= 60; x++)
            if (x || y) check_heading(x, y);
    uint64_t seed = 28;
    const int count = getenv("PHX_LONG") ? 20000000 : 200000;
    for (int i = 0; i < count; i++) {
        const unsigned drop = (unsigned)(test_random(&seed) % 62);
        const int64_t x = (int64_t)test_random(&seed) / ((int64_t)1 << drop),
                      y = (int64_t)test_random(&seed) / ((int64_t)1 << drop);
        if (x || y) check_heading(x, y);
    }
    for (int32_t a = 0; a < 65536; a++) { /* there and back; and never backwards around the circle */
        CHECK_EQ(phx_angle_of(phx_cos((PhxAngle)a), phx_sin((PhxAngle)a)), a);
    }
    for (int64_t y = 0, last = 0; y <= 1 << 20; y++) {
        const int64_t now = phx_angle_of(1 << 20, y);
        CHECK_THAT(now >= last && now <= last + 1, "y %" PRId64, y);
        last = now;
    }
}

PHX_TEST(math_trig, turning_takes_the_shorter_way_and_half_a_turn_goes_up) {
    for (uint32_t from = 0; from < 65536; from += 4095)
        for (uint32_t to = 0; to < 65536; to++) {
            const int32_t diff = phx_angle_diff((PhxAngle)from, (PhxAngle)to);
            CHECK(diff >= -32768 && diff <= 32767 && (uint16_t)(from + (uint32_t)diff) == to);
            const uint32_t steps[] = {0, 1, 100, 32767, 32768, 65536, UINT32_MAX};
            for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
                const uint16_t got = phx_angle_approach((PhxAngle)from, (PhxAngle)to, steps[i]);
                const int64_t way = diff == -32768 ? 32768 : diff; /* signed way to go */
                const int64_t limit = steps[i], gone = way > limit ? limit : way < -limit ? -limit : way;
                CHECK_EQ(got, (from + (uint32_t)gone) & 0xffff);
            }
        }
}
