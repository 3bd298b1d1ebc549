/* math_symmetry.c: a mirrored or turned input gives the mirrored or turned result, bit for bit, in every
 * kernel: what a mirrored match needs to round alike.
 */
#include <phalanx/vec2.h>
#include <stdlib.h>

#include "harness.h"

static int32_t spread(uint64_t *seed, unsigned bits) {
    const int32_t v = (int32_t)(test_random(seed) >> (64 - bits + test_random(seed) % bits));
    return test_random(seed) & 1 ? -v : v;
}

static void check_scalars(int32_t a, int32_t b) {
    const int32_t div = phx_fix_div(a, b);
    if (div > -INT32_MAX && div < INT32_MAX) CHECK_EQ(phx_fix_div(-a, b), -div);
    const int32_t mul = phx_fix_mul(a, b);
    if (mul > -INT32_MAX && mul < INT32_MAX) { /* where it doesn't saturate: the ends of the range differ */
        CHECK_EQ(phx_fix_mul(-a, b), -mul);
        CHECK_EQ(phx_fix_mul(a, -b), -mul);
    }
    for (unsigned bits = 1; bits < 62; bits += 3)
        CHECK_EQ(phx_round_shift(-(int64_t)a * b, bits), -phx_round_shift((int64_t)a * b, bits));
    if (b != 0) {
        CHECK_EQ(phx_div_round(-(int64_t)a, b), -phx_div_round(a, b));
        CHECK_EQ(phx_div_round(a, -(int64_t)b), -phx_div_round(a, b));
    }
    char plus[PHX_FIX_TEXT], minus[PHX_FIX_TEXT];
    (void)phx_fix_format(abs(a), plus, sizeof plus);
    (void)phx_fix_format(-abs(a), minus, sizeof minus);
    if (a != 0) {
        CHECK_EQ(minus[0], '-');
        CHECK_STR(minus + 1, plus);
    }
}

/* The eight symmetries of the square, as the signs and the swap that each applies. */
static PhxVec2 moved(PhxVec2 v, int symmetry) {
    const PhxVec2 s = symmetry & 4 ? phx_vec2(v.y, v.x) : v;
    return phx_vec2(symmetry & 1 ? -s.x : s.x, symmetry & 2 ? -s.y : s.y);
}

static void check_vectors(PhxVec2 v, PhxVec2 w, int32_t factor) {
    PhxDir dir;
    const uint32_t length = phx_vec2_normalize(v, &dir);
    const PhxVec2 d = phx_vec2(dir.x, dir.y), scaled = phx_dir_scale(dir, factor),
                  clamped = phx_vec2_clamp_length(v, abs(factor));
    for (int symmetry = 0; symmetry < 8; symmetry++) {
        const PhxVec2 mv = moved(v, symmetry), mw = moved(w, symmetry);
        PhxDir mdir;
        CHECK_EQ(phx_vec2_normalize(mv, &mdir), length);
        CHECK_THAT(phx_vec2_equal(phx_vec2(mdir.x, mdir.y), moved(d, symmetry)), "(%d, %d) by %d", v.x, v.y,
                   symmetry);
        CHECK(phx_vec2_equal(phx_dir_scale(mdir, factor), moved(scaled, symmetry)));
        CHECK_THAT(phx_vec2_equal(phx_vec2_clamp_length(mv, abs(factor)), moved(clamped, symmetry)),
                   "(%d, %d) to %d by %d", v.x, v.y, factor, symmetry);
        CHECK_EQ(phx_vec2_dot(mv, mw), phx_vec2_dot(v, w));
        CHECK_EQ(phx_vec2_dot_dir(mw, mdir), phx_vec2_dot_dir(w, dir));
        const bool flips = (symmetry & 1) ^ (symmetry >> 1 & 1) ^
                           (symmetry >> 2 & 1); /* a mirror changes the sense of turning */
        CHECK_EQ(phx_vec2_det(mv, mw), flips ? -phx_vec2_det(v, w) : phx_vec2_det(v, w));
        CHECK_EQ(phx_vec2_det_dir(mw, mdir), flips ? -phx_vec2_det_dir(w, dir) : phx_vec2_det_dir(w, dir));
    }
}

PHX_TEST(math_symmetry, every_kernel_commutes_with_the_symmetries_of_the_square) {
    uint64_t seed = 31;
    const int count = getenv("PHX_LONG") ? 10000000 : 100000;
    for (int i = 0; i < count; i++) {
        check_scalars(spread(&seed, 31), spread(&seed, 31));
        const unsigned bits = i % 3 == 0 ? 31 : i % 3 == 1 ? 30 : 12;
        check_vectors(phx_vec2(spread(&seed, bits), spread(&seed, bits)),
                      phx_vec2(spread(&seed, bits), spread(&seed, bits)), spread(&seed, 31));
    }
    for (int32_t y = -40; y <= 40; y++)
        for (int32_t x = -40; x <= 40; x++) check_vectors(phx_vec2(x, y), phx_vec2(y + 1, x - 1), x * y);
}
