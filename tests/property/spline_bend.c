/* spline_bend.c: distances of a formation by the bend of its way (phalanx/formation_bend.h): the formula in
 * doubles, monotonic, without a jump; files on the inside of a bend keep their distance along their own way.
 */
#include <math.h>
#include <phalanx/formation_bend.h>
#include <phalanx/spline_path.h>

#include "base/arena.h"
#include "harness.h"

enum { ONE = 65536 };

static double oracle(double k, double v, double w) {
    const double inner = fmin(0.75, fmin(k, 4) * w / 2);
    return fmin(2, 0.9 - 1 + 1 / (1 - inner) + fmin(1, v * v * fmin(k, 4) / 16) / 4);
}

PHX_TEST(formation_bend, factor_follows_the_bend) {
    uint64_t seed = 3;
    for (int i = 0; i < 200000; i++) {
        const uint32_t k = (uint32_t)test_range(&seed, 0, i % 2 ? ONE / 4 : 6 * ONE);
        const fix16_t v = (fix16_t)test_range(&seed, 0, i % 3 ? 4 * ONE : 64 * ONE),
                      w = (fix16_t)test_range(&seed, 0, i % 5 ? 16 * ONE : 64 * ONE);
        const fix16_t is = phx_formation_bend(k, v, w);
        const double want = oracle(k / 65536.0, v / 65536.0, w / 65536.0);
        CHECK_THAT(fabs(is / 65536.0 - want) < 0x1p-14, "k %u v %d w %d: %g, not %g", k, v, w, is / 65536.0,
                   want);
        CHECK(phx_formation_bend(k + 1 + (uint32_t)test_range(&seed, 0, ONE), v, w) >= is);
        CHECK(phx_formation_bend(k, v + (fix16_t)test_range(&seed, 0, ONE), w) >= is);
        CHECK(phx_formation_bend(k, v, w + (fix16_t)test_range(&seed, 0, ONE)) >= is);
        /* no jump: a raw unit of the curvature changes it by what its slope allows */
        CHECK(phx_formation_bend(k + 1, v, w) - is <= 16 * 32 + 64 * 64 / 64 + 2);
    }
    CHECK(phx_formation_bend(0, 64 * ONE, 64 * ONE) == PHX_FORMATION_BEND_TIGHT);
    CHECK(phx_formation_bend(UINT32_MAX, INT32_MAX, INT32_MAX) == PHX_FORMATION_BEND_OPEN);
    CHECK(phx_formation_bend(UINT32_MAX, INT32_MIN, INT32_MIN) == PHX_FORMATION_BEND_TIGHT);
}

PHX_TEST(formation_bend, bodies_never_overlap) {
    uint64_t seed = 5;
    for (int i = 0; i < 100000; i++) {
        const fix16_t gap = (fix16_t)test_range(&seed, 0, 64 * ONE),
                      wide = (fix16_t)test_range(&seed, 0, 32 * ONE),
                      factor = (fix16_t)test_range(&seed, PHX_FORMATION_BEND_TIGHT, PHX_FORMATION_BEND_OPEN);
        const double want = fmax(0, ((double)gap + wide) * factor / ONE - wide);
        const fix16_t is = phx_formation_bend_gap(gap, wide, factor);
        CHECK(is >= 0 && fabs(is - want) <= 1);
    }
    CHECK(phx_formation_bend_gap(INT32_MIN, INT32_MIN, INT32_MIN) == 0 &&
          phx_formation_bend_gap(INT32_MAX, 0, INT32_MAX) > 0);
}

/* Along a real curve: two ranks one behind the other, their distance along the middle opened by the factor.
 * Their innermost files are never nearer than they are on a straight, as far as the factor may go. */
PHX_TEST(formation_bend, inner_files_keep_their_distance) {
    PhxArena arena = phx_arena_measure();
    PhxSpline s;
    PhxSplineLengths l;
    for (int pass = 0; pass < 2; pass++) {
        phx_spline_layout(&s, &arena, 32, 3);
        phx_spline_lengths_layout(&l, &arena, &s);
        if (pass == 0) CHECK_OK(phx_arena_create(&arena, phx_allocator_default(), arena.used));
    }
    PhxSplinePoint points[24];
    for (int i = 0; i < 24; i++)
        points[i] = (PhxSplinePoint){i * 8 * ONE, (fix16_t)(26 * sin(i * 0.5) * ONE), 0};
    CHECK_OK(phx_spline_set(&s, PHX_SPLINE_CLAMPED, 3, points, 24, NULL));
    phx_spline_measure(&l, &s);
    const double width = 6, pitch = 2;
    double tightest = 1e9, loosest = 0, without = 1e9;
    for (int64_t at = (int64_t)10 << 24; at < phx_spline_length(&l) - ((int64_t)10 << 24); at += 1 << 22) {
        PhxSplineSample sample[2];
        const PhxSplinePlace here = phx_spline_place(&l, &s, at);
        sample[0] = phx_spline_sample_in(&s, here.piece, here.u);
        const double factor =
            phx_formation_bend(phx_spline_curvature(&sample[0]), 2 * ONE, (fix16_t)(width * ONE)) / 65536.0;
        for (int opened = 0; opened <= 1; opened++) {
            const PhxSplinePlace there =
                phx_spline_place(&l, &s, at + (int64_t)(pitch * (opened ? factor : 1) * (1 << 24)));
            sample[1] = phx_spline_sample_in(&s, there.piece, there.u);
            for (int side = -1; side <= 1; side += 2) {
                double x[2], y[2];
                for (int i = 0; i < 2; i++) {
                    const double dx = (double)sample[i].first.x, dy = (double)sample[i].first.y,
                                 r = side * width / 2 / hypot(dx, dy);
                    x[i] = sample[i].point.x / 65536.0 - r * dy, y[i] = sample[i].point.y / 65536.0 + r * dx;
                }
                const double apart = hypot(x[1] - x[0], y[1] - y[0]) / pitch;
                if (opened) tightest = fmin(tightest, apart), loosest = fmax(loosest, factor);
                if (!opened) without = fmin(without, apart);
            }
        }
    }
    printf("inner files: %.3f of their distance, %.3f without; the factor is at most %.3f\n", tightest,
           without, loosest);
    CHECK(tightest > 0.8 && without < 0.75 && loosest > 1.2);
    phx_arena_destroy(&arena);
}
