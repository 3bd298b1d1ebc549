/* spline_points.c: points made even and smooth (phalanx/spline_points.h), and rails (phalanx/spline_rail.h),
 * against the same in doubles; bad input changes nothing.
 */
#include <math.h>
#include <phalanx/spline_path.h>
#include <phalanx/spline_points.h>
#include <phalanx/spline_rail.h>

#include "base/arena.h"
#include "harness.h"

enum { MOST = 300, ONE = 65536 };

/* One draw a statement: the order within an expression is the compiler's. */
static void random_points(uint64_t *seed, PhxSplinePoint *p, uint32_t count, int64_t wide) {
    for (uint32_t i = 0; i < count; i++) {
        p[i].x = (fix16_t)test_range(seed, -wide, wide);
        p[i].y = (fix16_t)test_range(seed, -wide, wide);
        p[i].z = (fix16_t)test_range(seed, -wide, wide);
        if (i > 0 && test_range(seed, 0, 9) == 0) p[i] = p[i - 1]; /* a leg without length */
    }
}

static double apart(PhxSplinePoint a, PhxSplinePoint b) {
    return sqrt(pow((double)a.x - b.x, 2) + pow((double)a.y - b.y, 2) + pow((double)a.z - b.z, 2));
}

/* The point at a length along the line, in doubles. */
static void along(const PhxSplinePoint *p, uint32_t count, bool closed, double far, double *out) {
    const uint32_t legs = closed ? count : count - 1;
    for (uint32_t i = 0; i < legs; i++) {
        const PhxSplinePoint a = p[i], b = p[(i + 1) % count];
        const double wide = apart(a, b);
        if (far <= wide || i + 1 == legs) {
            const double part = wide > 0 ? far / wide : 0;
            out[0] = a.x + part * ((double)b.x - a.x), out[1] = a.y + part * ((double)b.y - a.y);
            out[2] = a.z + part * ((double)b.z - a.z);
            return;
        }
        far -= wide;
    }
}

PHX_TEST(spline_points, steps_are_equal) {
    uint64_t seed = 3;
    double worst = 0;
    const uint32_t sets = test_count(40, 400, 10000);
    for (uint32_t set = 0; set < sets; set++) {
        PhxSplinePoint p[MOST], out[MOST];
        const bool closed = set % 2;
        const uint32_t count = (uint32_t)test_range(&seed, 3, 60),
                       wanted = (uint32_t)test_range(&seed, 3, MOST);
        random_points(&seed, p, count, set % 5 ? 100 * ONE : 8192 * ONE);
        double length = closed ? apart(p[count - 1], p[0]) : 0;
        for (uint32_t i = 1; i < count; i++) length += apart(p[i - 1], p[i]);
        CHECK(fabs((double)phx_spline_line_length(p, count, closed) / 256 - length) <
              0.01 * count + length * 0x1p-31);
        if (length == 0) continue;
        CHECK_OK(phx_spline_resample(p, count, closed, out, wanted));
        for (uint32_t i = 0; i < wanted; i++) {
            double want[3];
            along(p, count, closed, length * i / (closed ? wanted : wanted - 1), want);
            const double off =
                fmax(fabs(out[i].x - want[0]), fmax(fabs(out[i].y - want[1]), fabs(out[i].z - want[2])));
            worst = fmax(worst, off);
            CHECK_THAT(off <= 3, "set %" PRIu32 ": point %" PRIu32 " is %g raw units off", set, i, off);
        }
        CHECK(apart(out[0], p[0]) == 0 && (closed || apart(out[wanted - 1], p[count - 1]) == 0));
        const fix16_t spacing = (fix16_t)test_range(&seed, ONE / 4, 300 * ONE);
        const uint32_t n = phx_spline_resample_count(p, count, closed, spacing), least = closed ? 3 : 2;
        const double steps = n - !closed;
        CHECK(n >= least &&
              (n > PHX_SPLINE_POINTS_MAX || n == least || fabs(length / spacing - steps) <= 0.501));
    }
    printf("resampled points: at most %.2f raw units off\n", worst);
}

PHX_TEST(spline_points, waves_go_and_bends_stay) {
    uint64_t seed = 5;
    double worst = 0;
    for (uint32_t set = 0; set < 200; set++) {
        PhxSplinePoint p[MOST];
        static double d[2][MOST][3];
        const bool closed = set % 2;
        const uint32_t count = (uint32_t)test_range(&seed, 3, 60),
                       passes = (uint32_t)test_range(&seed, 0, 30);
        random_points(&seed, p, count, 100 * ONE);
        const PhxSplinePoint ends[2] = {p[0], p[count - 1]};
        for (uint32_t i = 0; i < count; i++) d[0][i][0] = p[i].x, d[0][i][1] = p[i].y, d[0][i][2] = p[i].z;
        for (uint32_t k = 0; k < 2 * passes; k++) {
            const double part = k % 2 ? -34734 / 65536.0 : 0.5;
            for (uint32_t i = 0; i < count; i++)
                for (int c = 0; c < 3; c++) {
                    const double mean =
                        (d[k % 2][(i + count - 1) % count][c] + d[k % 2][(i + 1) % count][c]) / 2;
                    const bool held = !closed && (i == 0 || i + 1 == count);
                    d[1 - k % 2][i][c] = d[k % 2][i][c] + (held ? 0 : part * (mean - d[k % 2][i][c]));
                }
        }
        CHECK_OK(phx_spline_smooth(p, count, closed, passes));
        for (uint32_t i = 0; i < count; i++) {
            const double off =
                fmax(fabs(p[i].x - d[0][i][0]), fmax(fabs(p[i].y - d[0][i][1]), fabs(p[i].z - d[0][i][2])));
            worst = fmax(worst, off / (passes + 1));
            CHECK_THAT(off <= 3 * passes + 1, "set %" PRIu32 ": %g raw units off", set, off);
        }
        if (!closed) CHECK(apart(p[0], ends[0]) == 0 && apart(p[count - 1], ends[1]) == 0);
    }
    printf("smooth points: at most %.2f raw units off a pass\n", worst);
    /* a circle with waves keeps its size and loses them */
    PhxSplinePoint p[200];
    for (int i = 0; i < 200; i++) {
        const double a = i * 2 * M_PI / 200, r = 50 + (i % 2 ? 1 : -1);
        p[i] = (PhxSplinePoint){(fix16_t)(r * cos(a) * ONE), (fix16_t)(r * sin(a) * ONE), 0};
    }
    CHECK_OK(phx_spline_smooth(p, 200, true, 40));
    double low = 1e9, high = 0;
    for (int i = 0; i < 200; i++)
        low = fmin(low, hypot(p[i].x, p[i].y) / ONE), high = fmax(high, hypot(p[i].x, p[i].y) / ONE);
    printf("a circle of 50 with waves of 1: from %.3f to %.3f afterwards\n", low, high);
    CHECK(low > 49.9 && high < 50.2 && high - low < 0.02);
}

PHX_TEST(spline_points, bad_input_changes_nothing) {
    PhxSplinePoint p[4] = {{0, 0, 0}, {ONE, 0, 0}, {ONE, ONE, 0}, {7, 7, 7}}, out[4] = {{1, 2, 3}};
    const PhxSplinePoint was[4] = {p[0], p[1], p[2], p[3]};
    CHECK_EQ(phx_spline_resample(NULL, 4, false, out, 4), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_resample(p, 4, false, NULL, 4), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_resample(p, 1, false, out, 4), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_resample(p, 2, true, out, 4), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_resample(p, 4, false, out, 1), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_resample(p, 4, true, out, 2), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_resample(p, 4, false, out, PHX_SPLINE_POINTS_MAX + 1), PHX_ERROR_LIMIT);
    CHECK_EQ(phx_spline_smooth(p, 1, false, 1), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_smooth(p, 2, true, 1), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_smooth(NULL, 4, true, 1), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_smooth(p, 4, true, PHX_SPLINE_PASSES_MAX + 1), PHX_ERROR_ARGUMENT);
    p[1] = p[2] = p[3] = p[0];
    CHECK_EQ(phx_spline_resample(p, 4, false, out, 4), PHX_ERROR_RANGE); /* no length */
    memcpy(p, was, sizeof p);
    p[2].z = 8192 * ONE + 1;
    CHECK_EQ(phx_spline_resample(p, 4, false, out, 4), PHX_ERROR_RANGE);
    CHECK_EQ(phx_spline_smooth(p, 4, false, 1), PHX_ERROR_RANGE);
    p[2].z = 0;
    CHECK(!memcmp(p, was, sizeof p) && out[0].x == 1 && out[0].y == 2 && out[0].z == 3);
    /* at the border nothing goes beyond it */
    for (int i = 0; i < 4; i++) p[i] = (PhxSplinePoint){(i % 2 ? 1 : -1) * 8192 * ONE, 8192 * ONE, 0};
    CHECK_OK(phx_spline_smooth(p, 4, true, PHX_SPLINE_PASSES_MAX));
    for (int i = 0; i < 4; i++) CHECK(abs(p[i].x) <= 8192 * ONE && abs(p[i].y) <= 8192 * ONE);
    CHECK_EQ(phx_spline_resample_count(p, 4, false, 0), 2);
    CHECK_EQ(phx_spline_resample_count(p, 4, true, INT32_MIN), 3);
}

typedef struct Rails {
    PhxArena arena;
    PhxSpline eye, target;
    PhxSplineLengths eye_lengths, target_lengths;
} Rails;

static void lay_out(Rails *r) {
    phx_spline_layout(&r->eye, &r->arena, 64, 5), phx_spline_layout(&r->target, &r->arena, 64, 5);
    phx_spline_lengths_layout(&r->eye_lengths, &r->arena, &r->eye);
    phx_spline_lengths_layout(&r->target_lengths, &r->arena, &r->target);
}

static double off_dir(PhxSplineDir d, double x, double y, double z) {
    const double size = sqrt(x * x + y * y + z * z), one = 1 << 30;
    return size == 0 ? fmax(abs(d.x), fmax(abs(d.y), abs(d.z)))
                     : fmax(fabs(d.x - x / size * one),
                            fmax(fabs(d.y - y / size * one), fabs(d.z - z / size * one)));
}

PHX_TEST(spline_rail, directions_equal_doubles) {
    uint64_t seed = 7;
    double worst = 0;
    for (int i = 0; i < 200000; i++) {
        const int bits = (int)test_range(&seed, 0, 57);
        const int64_t most = (int64_t)1 << bits;
        const PhxSplineRate v = {test_range(&seed, -most, most), i % 7 ? test_range(&seed, -most, most) : 0,
                                 i % 5 ? test_range(&seed, -most, most) : 0};
        const PhxSplineDir d = phx_spline_dir(&v);
        worst = fmax(worst, off_dir(d, (double)v.x, (double)v.y, (double)v.z));
        const PhxSplineRate back = {-v.x, -v.y, -v.z};
        const PhxSplineDir e = phx_spline_dir(&back);
        CHECK(d.x == -e.x && d.y == -e.y && d.z == -e.z);
    }
    printf("directions: at most %.2f units of 2^-30 off\n", worst);
    CHECK(worst <= 3);
}

PHX_TEST(spline_rail, views_follow_time_alone) {
    Rails r = {.arena = phx_arena_measure()};
    uint64_t seed = 11;
    lay_out(&r);
    CHECK_OK(phx_arena_create(&r.arena, phx_allocator_default(), r.arena.used));
    lay_out(&r);
    for (uint32_t set = 0; set < 60; set++) {
        PhxSplinePoint p[64];
        random_points(&seed, p, 30, 50 * ONE);
        CHECK_OK(phx_spline_set(&r.eye, PHX_SPLINE_CLAMPED, 2 + set % 4, p, 30, NULL));
        random_points(&seed, p, 12, 50 * ONE);
        CHECK_OK(phx_spline_set(&r.target, PHX_SPLINE_CLAMPED, 3, p, 12, NULL));
        phx_spline_measure(&r.eye_lengths, &r.eye), phx_spline_measure(&r.target_lengths, &r.target);
        const double length = (double)phx_spline_length(&r.eye_lengths);
        const PhxSplineRail rail = {&r.eye,
                                    &r.eye_lengths,
                                    set % 2 ? &r.target : NULL,
                                    set % 2 ? &r.target_lengths : NULL,
                                    (PhxSplineMode)(set % 3),
                                    (fix16_t)test_range(&seed, 1, 100 * ONE),
                                    0};
        CHECK_OK(phx_spline_rail_check(&rail));
        const uint64_t whole = phx_spline_rail_time(&rail);
        CHECK(fabs((double)whole - length / 256 / rail.speed * 1e6) <= 1.5);
        for (int k = 0; k < 40; k++) {
            const uint64_t time = (uint64_t)test_range(&seed, 0, 3 * (int64_t)whole);
            const PhxSplineView view = phx_spline_rail_at(&rail, time);
            /* the length by unfolding, in doubles */
            double far = (double)time * rail.speed * 256 / 1e6;
            bool back = false;
            if (rail.mode == PHX_SPLINE_ONCE) far = fmin(far, length);
            if (rail.mode == PHX_SPLINE_LOOP) far = fmod(far, length);
            if (rail.mode == PHX_SPLINE_PING_PONG) {
                far = fmod(far, 2 * length);
                back = far > length;
                far = back ? 2 * length - far : far;
            }
            if (fabs(far - length) < 4 || far < 4) continue; /* a rounding may turn it over */
            CHECK_THAT(fabs((double)view.length - far) < 2, "set %" PRIu32 ", time %" PRIu64, set, time);
            CHECK(view.backwards == back);
            const PhxSplinePlace place = phx_spline_place(&r.eye_lengths, &r.eye, view.length);
            const PhxSplineSample s = phx_spline_sample_in(&r.eye, place.piece, place.u);
            CHECK(apart(s.point, view.at) == 0);
            const double sign = back ? -1 : 1;
            CHECK(off_dir(view.along, sign * (double)s.first.x, sign * (double)s.first.y,
                          sign * (double)s.first.z) <= 3);
            if (!rail.target) CHECK(off_dir(view.look, view.along.x, view.along.y, view.along.z) <= 5);
            if (rail.target) {
                const double share =
                    (double)view.length / length * (double)phx_spline_length(&r.target_lengths);
                const PhxSplinePlace to = phx_spline_place(&r.target_lengths, &r.target, (int64_t)share);
                const PhxSplinePoint t = phx_spline_point_in(&r.target, to.piece, to.u);
                CHECK(off_dir(view.look, (double)t.x - view.at.x, (double)t.y - view.at.y,
                              (double)t.z - view.at.z) < 8.0 / fmax(1, apart(t, view.at)) * (1 << 30) + 3);
            }
            const double heading = atan2(view.look.y, view.look.x) / M_PI * 32768;
            CHECK(fabs(remainder(view.heading - heading, 65536)) <= 1);
        }
        CHECK(
            phx_spline_rail_at(&(PhxSplineRail){&r.eye, &r.eye_lengths, NULL, NULL, PHX_SPLINE_ONCE, ONE, 0},
                               (uint64_t)1 << 42)
                .done);
        PhxSplineRail bad[6] = {rail, rail, rail, rail, rail, rail};
        bad[0].eye = NULL, bad[1].eye_lengths = NULL, bad[2].mode = (PhxSplineMode)3;
        bad[3].speed = 0, bad[4].start = -1, bad[5].start = phx_spline_length(&r.eye_lengths) + 1;
        for (int i = 0; i < 6; i++)
            CHECK_EQ(phx_spline_rail_check(&bad[i]), i < 3 ? PHX_ERROR_ARGUMENT : PHX_ERROR_RANGE);
    }
    phx_arena_destroy(&r.arena);
}

/* FNV-1a over numbers, byte by byte from the lowest. */
static void mix(uint64_t *hash, int64_t value) {
    for (int i = 0; i < 8; i++)
        *hash = (*hash ^ ((uint64_t)value >> (8 * i) & 255)) * UINT64_C(0x100000001b3);
}

static void mix_point(uint64_t *hash, PhxSplinePoint p) { mix(hash, p.x), mix(hash, p.y), mix(hash, p.z); }

/* A wall of one cell in the way: integers alone. */
static bool beside_a_pillar(const void *at, PhxVec2 a, PhxVec2 b, fix16_t radius) {
    const PhxVec2 *pillar = at;
    const int64_t low_x = (a.x < b.x ? a.x : b.x) - radius, high_x = (a.x > b.x ? a.x : b.x) + radius,
                  low_y = (a.y < b.y ? a.y : b.y) - radius, high_y = (a.y > b.y ? a.y : b.y) + radius;
    return high_x <= pillar->x || low_x >= pillar->x + ONE || high_y <= pillar->y || low_y >= pillar->y + ONE;
}

/* The bits of everything that splines give, which no compiler, flag or processor changes. */
PHX_TEST(spline_points, results_have_these_bits_everywhere) {
    Rails r = {.arena = phx_arena_measure()};
    uint64_t seed = 20, hash = UINT64_C(0xcbf29ce484222325);
    lay_out(&r);
    CHECK_OK(phx_arena_create(&r.arena, phx_allocator_default(), r.arena.used));
    lay_out(&r);
    for (uint32_t set = 0; set < 60; set++) {
        PhxVec2 w[6];
        uint8_t pieces[64 + 5];
        PhxSplinePoint p[40], out[100];
        for (uint32_t i = 0; i < 6; i++) {
            w[i].x = (fix16_t)(10 * (int)i * ONE + (int)test_range(&seed, 0, 5 * ONE));
            w[i].y = (fix16_t)test_range(&seed, -20 * ONE, 20 * ONE);
        }
        const PhxVec2 pillar = phx_vec2(w[2].x - ONE / 2, w[2].y + ONE / 8);
        const PhxSplinePathSpec spec = {w, 6, 1 + set % 5, ONE / 2, 4 * ONE, 0, {beside_a_pillar, &pillar}};
        CHECK_OK(phx_spline_path_smooth(&r.eye, &spec, pieces));
        CHECK_OK(phx_spline_path_smooth(&r.target, &spec, pieces));
        for (uint32_t i = r.eye.degree; i < r.eye.count; i++)
            mix(&hash, pieces[i]), mix(&hash, r.eye.knot[i]);
        phx_spline_measure(&r.eye_lengths, &r.eye), phx_spline_measure(&r.target_lengths, &r.target);
        const PhxSplineObstacle o = {w[3], phx_vec2(-ONE / 3, ONE / 7), ONE};
        const PhxSplineWatch watch = {
            phx_spline_length(&r.eye_lengths) / 9, 2 * ONE, ONE, 9 * ONE, ONE, 2 * ONE, 8 * ONE, 0};
        const PhxSplineThreat threat = phx_spline_threat(&r.eye_lengths, &r.eye, &watch, &o);
        mix(&hash, threat.gap), mix(&hash, threat.at), mix(&hash, threat.side), mix(&hash, threat.by.x),
            mix(&hash, threat.by.y);
        const PhxSplineAnchor anchor =
            phx_spline_anchor(&r.eye_lengths, &r.eye, phx_spline_length(&r.eye_lengths) / 2);
        const PhxSplineBend bend = {&threat, &watch, &o, NULL, watch.at};
        PhxSplineEvasion evasion;
        if (threat.needed) mix(&hash, phx_spline_evade_threat(&r.eye, &r.eye_lengths, &bend, &evasion));
        mix(&hash, phx_spline_anchor_find(&r.eye_lengths, &r.eye, &anchor));
        mix(&hash, phx_spline_start(&r.eye_lengths, PHX_SPLINE_LOOP, 7, set).at);
        const PhxSplineRail rail = {
            &r.eye, &r.eye_lengths, &r.target, &r.target_lengths, PHX_SPLINE_PING_PONG, 3 * ONE + 1, 0};
        for (uint64_t time = 0; time < 40000000; time += 1234567) {
            const PhxSplineView view = phx_spline_rail_at(&rail, time);
            mix_point(&hash, view.at), mix(&hash, view.along.x), mix(&hash, view.along.y),
                mix(&hash, view.look.x);
            mix(&hash, view.heading), mix(&hash, view.u);
        }
        random_points(&seed, p, 40, 900 * ONE);
        CHECK_OK(phx_spline_smooth(p, 40, set % 2, 7));
        CHECK_OK(phx_spline_resample(p, 40, set % 2, out, 100));
        for (int i = 0; i < 100; i++) mix_point(&hash, out[i]);
    }
    CHECK_THAT(hash == UINT64_C(0x661bcaa3f5941c5a), "0x%016" PRIx64, hash);
    phx_arena_destroy(&r.arena);
}
