/* spline.c: B-splines (phalanx/spline.h) against reference values computed in doubles (../shared/spline) and
 * against a de Boor in doubles here; edits change nothing outside of their support, bit for bit; bad input
 * changes nothing.
 */
#include <math.h>
#include <phalanx/spline.h>

#include "base/arena.h"
#include "harness.h"

enum { POINTS = 256, LINE = 512, ONE = 65536 };

typedef struct Fixture {
    PhxArena arena;
    PhxSpline spline;
} Fixture;

static Fixture fixture_make(void) {
    Fixture f = {.arena = phx_arena_measure()};
    phx_spline_layout(&f.spline, &f.arena, POINTS, PHX_SPLINE_DEGREE_MAX);
    const size_t size = f.arena.used;
    CHECK_OK(phx_arena_create(&f.arena, phx_allocator_default(), size));
    phx_spline_layout(&f.spline, &f.arena, POINTS, PHX_SPLINE_DEGREE_MAX);
    return f;
}

static void fixture_end(Fixture *f) { phx_arena_destroy(&f->arena); }

static FILE *open_data(const char *name) {
    char relative[64];
    snprintf(relative, sizeof relative, "spline/%s", name);
    FILE *file = fopen(test_shared(relative), "r");
    CHECK(file != NULL);
    char line[LINE];
    CHECK(fgets(line, sizeof line, file) != NULL); /* names of columns */
    return file;
}

typedef struct Curve {
    char name[64], kind[32];
    uint32_t degree, count, knots;
    PhxSplinePoint point[POINTS];
    fix16_t knot[POINTS + 8];
} Curve;

static uint32_t read_curves(Curve *curves, uint32_t most) {
    char line[LINE], name[64];
    uint32_t count = 0;
    unsigned i;
    int x, y, z;
    FILE *file = open_data("curves.csv");
    while (fgets(line, sizeof line, file) && count < most) {
        Curve *c = &curves[count++];
        memset(c, 0, sizeof *c);
        CHECK(sscanf(line, "%63[^,],%31[^,],%u,%u,%u", c->name, c->kind, &c->degree, &c->count, &c->knots) ==
              5);
    }
    fclose(file);
    file = open_data("control_points.csv");
    while (fgets(line, sizeof line, file)) {
        CHECK(sscanf(line, "%63[^,],%u,%d,%d,%d", name, &i, &x, &y, &z) == 5);
        for (uint32_t c = 0; c < count; c++)
            if (!strcmp(curves[c].name, name)) curves[c].point[i] = (PhxSplinePoint){x, y, z};
    }
    fclose(file);
    file = open_data("knots.csv");
    while (fgets(line, sizeof line, file)) {
        CHECK(sscanf(line, "%63[^,],%u,%d", name, &i, &x) == 3);
        for (uint32_t c = 0; c < count; c++)
            if (!strcmp(curves[c].name, name)) curves[c].knot[i] = x;
    }
    fclose(file);
    return count;
}

static void set_curve(PhxSpline *spline, const Curve *c) {
    const PhxSplineKind kind = !strcmp(c->kind, "clamped")    ? PHX_SPLINE_CLAMPED
                               : !strcmp(c->kind, "periodic") ? PHX_SPLINE_PERIODIC
                                                              : PHX_SPLINE_GIVEN;
    CHECK_OK(phx_spline_set(spline, kind, c->degree, c->point, c->count,
                            kind == PHX_SPLINE_GIVEN ? c->knot : NULL));
    CHECK_EQ(spline->count + spline->degree + 1, c->knots);
    for (uint32_t i = 0; i < c->knots; i++)
        CHECK_THAT(spline->knot[i] == c->knot[i], "%s: knot %" PRIu32, c->name, i);
}

/* The largest difference of neighbouring control points that a piece has, times the degree, over its length.
 */
static double scale_of(const PhxSpline *spline, uint32_t piece) {
    double most = 0;
    for (uint32_t i = piece - spline->degree; i < piece; i++) {
        const PhxSplinePoint a = spline->point[i], b = spline->point[i + 1];
        most =
            fmax(most, fmax(fabs((double)b.x - a.x), fmax(fabs((double)b.y - a.y), fabs((double)b.z - a.z))));
    }
    return most / ONE * spline->degree / ((spline->knot[piece + 1] - (double)spline->knot[piece]) / ONE);
}

static double worst3(double a, double b, double c) { return fmax(fabs(a), fmax(fabs(b), fabs(c))); }

static double rate(int64_t v) { return (double)v / (1 << 24); }

PHX_TEST(spline, values_equal_the_reference) {
    static Curve curves[64];
    const uint32_t count = read_curves(curves, 64);
    Fixture f = fixture_make();
    FILE *file = open_data("eval.csv");
    char line[LINE], name[64], current[64] = "";
    double worst[3][6] = {{0}}, bend = 0;
    uint32_t rows = 0;
    while (fgets(line, sizeof line, file)) {
        int u;
        unsigned degree;
        double p[3], d[3], dd[3], k;
        CHECK(sscanf(line, "%63[^,],%u,%d,%*[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", name, &degree, &u,
                     &p[0], &p[1], &p[2], &d[0], &d[1], &d[2], &dd[0], &dd[1], &dd[2], &k) == 13);
        if (strcmp(name, current) != 0)
            for (uint32_t c = 0; c < count; c++)
                if (!strcmp(curves[c].name, name)) set_curve(&f.spline, &curves[c]);
        strcpy(current, name);
        const PhxSplineSample s = phx_spline_sample(&f.spline, u);
        const uint32_t piece = phx_spline_piece(&f.spline, u, 0);
        const double scale = scale_of(&f.spline, piece);
        const double length = (f.spline.knot[piece + 1] - (double)f.spline.knot[piece]) / ONE;
        const double off = worst3(s.point.x - p[0] * ONE, s.point.y - p[1] * ONE, s.point.z - p[2] * ONE);
        const double first =
            worst3(rate(s.first.x) - d[0], rate(s.first.y) - d[1], rate(s.first.z) - d[2]) / scale;
        const double second =
            worst3(rate(s.second.x) - dd[0], rate(s.second.y) - dd[1], rate(s.second.z) - dd[2]) /
            (scale / length);
        CHECK_THAT(off <= 1, "%s, u %d: %g raw units off", name, u, off);
        CHECK_THAT(first <= 0x1p-12 && second <= 0x1p-10, "%s, u %d: derivatives %g, %g off", name, u, first,
                   second);
        const double curved = fabs(phx_spline_curvature(&s) / 65536.0 - k);
        CHECK_THAT(curved <= 0x1p-12 * k + 1.5 / ONE, "%s, u %d: curvature %g, off by %g", name, u, k,
                   curved);
        const double speed = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        CHECK_THAT(fabs(phx_spline_speed(&s.first) / 65536.0 - speed) <= speed * 0x1p-20 + 2.0 / ONE,
                   "%s, u %d: speed", name, u);
        worst[0][degree] = fmax(worst[0][degree], off), worst[1][degree] = fmax(worst[1][degree], first);
        worst[2][degree] = fmax(worst[2][degree], second), bend = fmax(bend, curved - 0x1p-12 * k);
        rows++;
    }
    fclose(file);
    for (int degree = 1; degree <= 5; degree++)
        printf("degree %d: at most %.3f raw units off, first derivative 2^%.1f, second 2^%.1f of its scale\n",
               degree, worst[0][degree], log2(worst[1][degree]), degree < 2 ? -99 : log2(worst[2][degree]));
    CHECK(rows > 8000);
    fixture_end(&f);
}

PHX_TEST(spline, inserted_knots_equal_the_reference) {
    static Curve curves[64];
    static struct {
        uint32_t knots[2], points[2], times, degree;
        fix16_t u, knot[2][POINTS];
        PhxSplinePoint point[2][POINTS];
        char curve[64];
    } cases[11];
    read_curves(curves, 64);
    char line[LINE], name[64], stage[16];
    unsigned c, degree, times, i;
    int u, x, y, z;
    FILE *file = open_data("insertion.csv");
    while (fgets(line, sizeof line, file)) {
        CHECK(sscanf(line, "%u,%63[^,],%u,%d,%*[^,],%u,%15[^,],%u,%*[^,],%*[^,],%*[^,],%d,%d,%d", &c, name,
                     &degree, &u, &times, stage, &i, &x, &y, &z) == 10);
        const int after = stage[0] == 'a';
        CHECK(c <= 10 && i < POINTS);
        strcpy(cases[c].curve, name);
        cases[c].degree = degree, cases[c].times = times, cases[c].u = u;
        cases[c].point[after][i] = (PhxSplinePoint){x, y, z};
        if (i >= cases[c].points[after]) cases[c].points[after] = i + 1;
    }
    fclose(file);
    file = open_data("insertion_knots.csv");
    while (fgets(line, sizeof line, file)) {
        CHECK(sscanf(line, "%u,%15[^,],%u,%d", &c, stage, &i, &x) == 4);
        cases[c].knot[stage[0] == 'a'][i] = x;
        if (i >= cases[c].knots[stage[0] == 'a']) cases[c].knots[stage[0] == 'a'] = i + 1;
    }
    fclose(file);
    for (c = 1; c <= 10; c++) {
        Fixture f = fixture_make();
        const bool periodic = strstr(cases[c].curve, "periodic") != NULL;
        CHECK_OK(phx_spline_set(&f.spline, periodic ? PHX_SPLINE_PERIODIC : PHX_SPLINE_GIVEN, cases[c].degree,
                                cases[c].point[0], cases[c].points[0], periodic ? NULL : cases[c].knot[0]));
        for (uint32_t k = 0; k < cases[c].times; k++) CHECK_OK(phx_spline_insert(&f.spline, cases[c].u));
        CHECK_EQ(f.spline.own, cases[c].points[1]);
        CHECK_EQ(f.spline.count + f.spline.degree + 1, cases[c].knots[1]);
        for (i = 0; i < cases[c].knots[1]; i++)
            CHECK_THAT(f.spline.knot[i] == cases[c].knot[1][i], "case %u: knot %u", c, i);
        for (i = 0; i < f.spline.own; i++) {
            const PhxSplinePoint a = f.spline.point[i], b = cases[c].point[1][i];
            CHECK_THAT(abs(a.x - b.x) <= 2 && abs(a.y - b.y) <= 2 && abs(a.z - b.z) <= 2,
                       "case %u: point %u is %d, %d, %d; %d, %d, %d is right", c, i, a.x, a.y, a.z, b.x, b.y,
                       b.z);
        }
        fixture_end(&f);
    }
}

/* A spline of any kind; `knots` has room for POINTS + 8. */
static PhxSplineKind random_spline(uint64_t *seed, PhxSpline *spline) {
    PhxSplinePoint points[POINTS];
    fix16_t knots[POINTS + 8];
    const uint32_t degree = (uint32_t)test_range(seed, 1, 5),
                   count = (uint32_t)test_range(seed, degree + 1, 60);
    const PhxSplineKind kind = (PhxSplineKind)test_range(seed, 0, 2);
    const int64_t wide = test_range(seed, 0, 3) ? 512 * ONE : 8192 * ONE;
    for (uint32_t i = 0; i < count; i++)
        points[i] =
            (PhxSplinePoint){(fix16_t)test_range(seed, -wide, wide), (fix16_t)test_range(seed, -wide, wide),
                             (fix16_t)test_range(seed, -wide, wide)};
    fix16_t at = (fix16_t)test_range(seed, -100 * ONE, 100 * ONE);
    for (uint32_t i = 0; i < count + degree + 1; i++) {
        knots[i] = at;
        const bool again = degree > 1 && test_range(seed, 0, 9) == 0 && (i < 1 || knots[i - 1] != at);
        if (!again) at += (fix16_t)test_range(seed, 1, test_range(seed, 0, 5) ? 2 * ONE : 3);
    }
    CHECK_OK(phx_spline_set(spline, kind, degree, points, count, kind == PHX_SPLINE_GIVEN ? knots : NULL));
    return kind;
}

static void oracle(const PhxSpline *spline, fix16_t u, double *out) {
    const uint32_t degree = spline->degree, piece = phx_spline_piece(spline, u, 0);
    double d[6][3];
    for (uint32_t j = 0; j <= degree; j++) {
        const PhxSplinePoint p = spline->point[piece - degree + j];
        d[j][0] = p.x, d[j][1] = p.y, d[j][2] = p.z;
    }
    for (uint32_t s = degree; s >= 1; s--)
        for (uint32_t j = degree; j > degree - s; j--) {
            const double from = spline->knot[piece - degree + j], to = spline->knot[piece - degree + j + s];
            const double part = (u - from) / (to - from);
            for (int c = 0; c < 3; c++) d[j][c] = d[j - 1][c] + part * (d[j][c] - d[j - 1][c]);
        }
    memcpy(out, d[degree], sizeof d[degree]);
}

static fix16_t random_parameter(uint64_t *seed, const PhxSpline *spline) {
    return (fix16_t)test_range(seed, phx_spline_begin(spline), phx_spline_end(spline));
}

PHX_TEST(spline, points_are_within_a_raw_unit_of_the_truth) {
    uint64_t seed = 41;
    Fixture f = fixture_make();
    const uint32_t sets = test_count(60, 600, 20000);
    double most = 0;
    for (uint32_t set = 0; set < sets; set++) {
        random_spline(&seed, &f.spline);
        for (int k = 0; k < 50; k++) {
            const fix16_t u = random_parameter(&seed, &f.spline);
            const PhxSplinePoint p = phx_spline_point(&f.spline, u);
            double want[3];
            oracle(&f.spline, u, want);
            const double off = worst3(p.x - want[0], p.y - want[1], p.z - want[2]);
            CHECK_THAT(off <= 1, "set %" PRIu32 ", u %d: %g raw units off", set, u, off);
            most = fmax(most, off);
        }
    }
    printf("at most %.3f raw units off\n", most);
    fixture_end(&f);
}

static bool same_point(PhxSplinePoint a, PhxSplinePoint b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static bool same_rate(PhxSplineRate a, PhxSplineRate b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static bool same_sample(const PhxSplineSample *a, const PhxSplineSample *b) {
    return same_point(a->point, b->point) && same_rate(a->first, b->first) && same_rate(a->second, b->second);
}

PHX_TEST(spline, a_moved_point_changes_its_support_alone) {
    uint64_t seed = 7;
    Fixture f = fixture_make();
    const uint32_t sets = test_count(60, 400, 10000);
    uint32_t changed = 0;
    for (uint32_t set = 0; set < sets; set++) {
        random_spline(&seed, &f.spline);
        const uint32_t i = (uint32_t)test_range(&seed, 0, f.spline.own - 1);
        fix16_t u[200], from, to;
        PhxSplineSample before[200];
        for (int k = 0; k < 200; k++) {
            u[k] = random_parameter(&seed, &f.spline);
            before[k] = phx_spline_sample(&f.spline, u[k]);
        }
        phx_spline_support(&f.spline, i, &from, &to);
        CHECK_OK(phx_spline_move(&f.spline, i, (PhxSplinePoint){-17 * ONE, 4711, 8192 * ONE}));
        for (int k = 0; k < 200; k++) {
            const PhxSplineSample after = phx_spline_sample(&f.spline, u[k]);
            const bool same = same_sample(&after, &before[k]);
            CHECK_THAT(same || (u[k] >= from && u[k] <= to), "set %" PRIu32 ": u %d outside of %d..%d", set,
                       u[k], from, to);
            changed += !same;
        }
        const PhxSplinePoint there = {-17 * ONE, 4711, 8192 * ONE};
        CHECK(same_point(f.spline.point[i], there));
    }
    CHECK(changed > sets);
    fixture_end(&f);
}

PHX_TEST(spline, an_inserted_knot_leaves_the_curve) {
    uint64_t seed = 11;
    Fixture f = fixture_make();
    const uint32_t sets = test_count(60, 400, 10000);
    for (uint32_t set = 0; set < sets; set++) {
        random_spline(&seed, &f.spline);
        const fix16_t begin = phx_spline_begin(&f.spline), end = phx_spline_end(&f.spline);
        double want[60][3];
        fix16_t u[60];
        uint32_t added = 0;
        for (int k = 0; k < 60; k++)
            u[k] = random_parameter(&seed, &f.spline), oracle(&f.spline, u[k], want[k]);
        for (int n = 0; n < 6; n++)
            added += phx_spline_insert(&f.spline, random_parameter(&seed, &f.spline)) == PHX_OK;
        CHECK(phx_spline_begin(&f.spline) == begin && phx_spline_end(&f.spline) == end);
        for (int k = 0; k < 60; k++) {
            const PhxSplinePoint p = phx_spline_point(&f.spline, u[k]);
            /* each new point is rounded to half a unit, and so are those made of it */
            const double off = worst3(p.x - want[k][0], p.y - want[k][1], p.z - want[k][2]);
            CHECK_THAT(off <= 1 + 0.5 * added, "set %" PRIu32 ", u %d: %g raw units after %" PRIu32 " knots",
                       set, u[k], off, added);
        }
    }
    fixture_end(&f);
}

PHX_TEST(spline, a_removed_point_leaves_what_is_far_from_it) {
    uint64_t seed = 13;
    Fixture f = fixture_make();
    uint32_t removed = 0;
    for (uint32_t set = 0; set < 200; set++) {
        random_spline(&seed, &f.spline);
        const uint32_t i = (uint32_t)test_range(&seed, 0, f.spline.own - 1), own = f.spline.own;
        const uint32_t low = i > 6 ? i - 6 : 0, high = i + 13;
        const fix16_t from = f.spline.knot[low],
                      to = high < f.spline.count + f.spline.degree ? f.spline.knot[high] : INT32_MAX;
        fix16_t u[50];
        PhxSplinePoint before[50];
        for (int k = 0; k < 50; k++)
            u[k] = random_parameter(&seed, &f.spline), before[k] = phx_spline_point(&f.spline, u[k]);
        const PhxStatus status = phx_spline_remove(&f.spline, i);
        CHECK_EQ(status != PHX_OK, f.spline.periodic || own == f.spline.degree + 1);
        CHECK_EQ(f.spline.own, own - (status == PHX_OK));
        removed += status == PHX_OK;
        for (int k = 0; k < 50; k++)
            CHECK(same_point(phx_spline_point(&f.spline, u[k]), before[k]) || (u[k] >= from && u[k] <= to));
    }
    CHECK(removed > 50);
    fixture_end(&f);
}

static void measure_made(Fixture *f, PhxArena *arena, PhxSplineLengths *lengths) {
    *arena = phx_arena_measure();
    phx_spline_lengths_layout(lengths, arena, &f->spline);
    const size_t size = arena->used;
    CHECK_OK(phx_arena_create(arena, phx_allocator_default(), size));
    phx_spline_lengths_layout(lengths, arena, &f->spline);
}

PHX_TEST(spline, lengths_equal_the_reference) {
    static Curve curves[64];
    const uint32_t count = read_curves(curves, 64);
    Fixture f = fixture_make();
    PhxArena arena;
    PhxSplineLengths lengths;
    measure_made(&f, &arena, &lengths);
    FILE *file = open_data("arclength.csv");
    char line[LINE], name[64], current[64] = "";
    double worst = 0, worst_place = 0;
    uint32_t rows = 0;
    while (fgets(line, sizeof line, file)) {
        int u;
        double s;
        CHECK(sscanf(line, "%63[^,],%d,%*[^,],%lf", name, &u, &s) == 3);
        if (strcmp(name, current) != 0) {
            for (uint32_t c = 0; c < count; c++)
                if (!strcmp(curves[c].name, name)) set_curve(&f.spline, &curves[c]);
            phx_spline_measure(&lengths, &f.spline);
        }
        strcpy(current, name);
        /* the place at that length is where the curve is at u */
        const PhxSplinePlace place = phx_spline_place(&lengths, &f.spline, (int64_t)(s * (1 << 24)));
        const PhxSplinePoint is = phx_spline_point_in(&f.spline, place.piece, place.u);
        double want[3];
        oracle(&f.spline, u, want);
        const double whole = (double)phx_spline_length(&lengths) / (1 << 24);
        const double off = worst3(is.x - want[0], is.y - want[1], is.z - want[2]) / ONE / whole;
        CHECK_THAT(off <= 0x1p-14, "%s: at length %g (u %d) %g of the length off", name, s, u, off);
        worst_place = fmax(worst_place, off);
        if (u == phx_spline_end(&f.spline)) {
            CHECK_THAT(fabs(whole / s - 1) < 0x1p-14, "%s: %g units long, %g is right", name, whole, s);
            worst = fmax(worst, fabs(whole / s - 1));
        }
        rows++;
    }
    fclose(file);
    printf("lengths: at most 2^%.1f off; places 2^%.1f of the length\n", log2(worst), log2(worst_place));
    CHECK(rows == 800);
    phx_arena_destroy(&arena);
    fixture_end(&f);
}

PHX_TEST(spline, edits_are_measured_where_they_are) {
    uint64_t seed = 23;
    Fixture f = fixture_make();
    PhxArena arena[2];
    PhxSplineLengths again, anew;
    measure_made(&f, &arena[0], &again), measure_made(&f, &arena[1], &anew);
    for (uint32_t set = 0; set < 200; set++) {
        random_spline(&seed, &f.spline);
        phx_spline_measure(&again, &f.spline);
        for (int k = 0; k < 3; k++) {
            const uint32_t i = (uint32_t)test_range(&seed, 0, f.spline.own - 1);
            PhxSplinePoint to = f.spline.point[i];
            to.x /= 2, to.y = -to.y, to.z += ONE / 3 - (to.z > 0 ? ONE : 0);
            CHECK_OK(phx_spline_move(&f.spline, i, to));
            phx_spline_measure_again(&again, &f.spline, i);
            phx_spline_measure(&anew, &f.spline);
            CHECK_EQ(again.pieces, anew.pieces);
            CHECK_THAT(!memcmp(again.at, anew.at, sizeof *anew.at * (anew.pieces * PHX_SPLINE_STRETCHES + 1)),
                       "set %" PRIu32 ": point %" PRIu32, set, i);
        }
    }
    phx_arena_destroy(&arena[0]), phx_arena_destroy(&arena[1]);
    fixture_end(&f);
}

/* An ellipse whose curvature has a tenfold range, speed 2 units a second, 20 ticks a second: every step is as
 * long as the others. */
PHX_TEST(spline, followers_keep_their_speed) {
    Fixture f = fixture_make();
    PhxArena arena;
    PhxSplineLengths lengths;
    PhxSplinePoint points[48];
    for (int i = 0; i < 48; i++)
        points[i] =
            (PhxSplinePoint){(fix16_t)(46 * cos(i * 0.131) * ONE), (fix16_t)(20 * sin(i * 0.131) * ONE), 0};
    for (uint32_t degree = 2; degree <= 5; degree++) {
        CHECK_OK(phx_spline_set(&f.spline, PHX_SPLINE_CLAMPED, degree, points, 48, NULL));
        measure_made(&f, &arena, &lengths);
        phx_spline_measure(&lengths, &f.spline);
        PhxSplineFollower follower = {0, false};
        const int64_t way = (2 << 24) / 20;
        PhxSplinePoint was = phx_spline_point(&f.spline, 0);
        double least = 1e9, most = 0, low = 1e9, high = 0;
        while (!(phx_spline_follow(&lengths, PHX_SPLINE_ONCE, way, &follower) & PHX_SPLINE_DONE)) {
            const PhxSplinePlace place = phx_spline_place(&lengths, &f.spline, follower.at);
            const PhxSplineSample is = phx_spline_sample_in(&f.spline, place.piece, place.u);
            const double step =
                sqrt(pow(is.point.x - was.x, 2) + pow(is.point.y - was.y, 2) + pow(is.point.z - was.z, 2));
            const double bend = phx_spline_curvature(&is) / 65536.0;
            least = fmin(least, step), most = fmax(most, step), low = fmin(low, bend),
            high = fmax(high, bend);
            was = is.point;
        }
        printf("degree %" PRIu32 ": steps of %.5f to %.5f units, curvature %.4f to %.4f\n", degree,
               least / ONE, most / ONE, low, high);
        CHECK(most / least < 1.005 && high > 10 * low);
        phx_arena_destroy(&arena);
    }
    fixture_end(&f);
}

PHX_TEST(spline, followers_say_when_they_come_to_an_end) {
    Fixture f = fixture_make();
    PhxArena arena;
    PhxSplineLengths lengths;
    const PhxSplinePoint line[2] = {{0, 0, 0}, {10 * ONE, 0, 0}};
    CHECK_OK(phx_spline_set(&f.spline, PHX_SPLINE_CLAMPED, 1, line, 2, NULL));
    measure_made(&f, &arena, &lengths);
    phx_spline_measure(&lengths, &f.spline);
    const int64_t length = phx_spline_length(&lengths), unit = length / 10;
    CHECK(llabs(length - ((int64_t)10 << 24)) <= 16);
    PhxSplineFollower a = {0, false};
    CHECK_EQ(phx_spline_follow(&lengths, PHX_SPLINE_ONCE, 9 * unit, &a), 0);
    CHECK_EQ(phx_spline_follow(&lengths, PHX_SPLINE_ONCE, 9 * unit, &a), PHX_SPLINE_AT_END | PHX_SPLINE_DONE);
    CHECK_EQ(phx_spline_follow(&lengths, PHX_SPLINE_ONCE, unit, &a), PHX_SPLINE_DONE);
    CHECK(a.at == length);
    a = (PhxSplineFollower){0, false};
    CHECK_EQ(phx_spline_follow(&lengths, PHX_SPLINE_LOOP, 7 * unit, &a), 0);
    CHECK_EQ(phx_spline_follow(&lengths, PHX_SPLINE_LOOP, 7 * unit, &a),
             PHX_SPLINE_AT_END | PHX_SPLINE_AT_BEGIN);
    CHECK(a.at == 14 * unit - length);
    a = (PhxSplineFollower){0, false};
    CHECK_EQ(phx_spline_follow(&lengths, PHX_SPLINE_PING_PONG, 7 * unit, &a), 0);
    CHECK_EQ(phx_spline_follow(&lengths, PHX_SPLINE_PING_PONG, 7 * unit, &a), PHX_SPLINE_AT_END);
    CHECK(a.backwards && a.at == 2 * length - 14 * unit);
    CHECK_EQ(phx_spline_follow(&lengths, PHX_SPLINE_PING_PONG, 7 * unit, &a), PHX_SPLINE_AT_BEGIN);
    CHECK(!a.backwards && a.at == 21 * unit - 2 * length);
    CHECK_EQ(phx_spline_follow(&lengths, PHX_SPLINE_PING_PONG, 20 * unit + 9, &a),
             PHX_SPLINE_AT_END | PHX_SPLINE_AT_BEGIN);
    /* a curve without length */
    const PhxSplinePoint dot[2] = {{ONE, ONE, 0}, {ONE, ONE, 0}};
    CHECK_OK(phx_spline_set(&f.spline, PHX_SPLINE_CLAMPED, 1, dot, 2, NULL));
    phx_spline_measure(&lengths, &f.spline);
    a = (PhxSplineFollower){0, false};
    CHECK_EQ(phx_spline_follow(&lengths, PHX_SPLINE_LOOP, unit, &a), 0);
    const PhxSplinePlace place = phx_spline_place(&lengths, &f.spline, unit);
    CHECK(same_point(phx_spline_point_in(&f.spline, place.piece, place.u), dot[0]));
    phx_arena_destroy(&arena);
    fixture_end(&f);
}

PHX_TEST(spline, bad_input_changes_nothing) {
    Fixture f = fixture_make();
    PhxSplinePoint p[8] = {{0, 0, 0},       {ONE, 0, 0}, {ONE, ONE, 0}, {0, ONE, 0},
                           {5 * ONE, 0, 0}, {0, 0, 0},   {1, 1, 1},     {2, 2, 2}};
    const fix16_t good[12] = {0, 0, 0, 0, ONE, 2 * ONE, 3 * ONE, 4 * ONE, 5 * ONE, 5 * ONE, 5 * ONE, 5 * ONE};
    PhxSpline *s = &f.spline;
    CHECK_OK(phx_spline_set(s, PHX_SPLINE_GIVEN, 3, p, 8, good));
    const PhxSplineSample was = phx_spline_sample(s, 2 * ONE + 77);
    fix16_t bad[12];
    static const struct {
        uint32_t at;
        fix16_t value;
    } wrong[] = {{5, 3 * ONE + 1}, {6, ONE}, {0, INT32_MIN}, {11, 8192 * ONE + 1}, {4, -1}, {11, 4 * ONE}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        memcpy(bad, good, sizeof bad);
        bad[wrong[i].at] = wrong[i].value;
        CHECK_EQ(phx_spline_set(s, PHX_SPLINE_GIVEN, 3, p, 8, bad), PHX_ERROR_RANGE);
    }
    for (int i = 4; i < 8; i++) memcpy(bad, good, sizeof bad), bad[4] = bad[5] = bad[6] = bad[7] = ONE;
    CHECK_EQ(phx_spline_set(s, PHX_SPLINE_GIVEN, 3, p, 8, bad), PHX_ERROR_RANGE); /* four times inside */
    memset(bad, 0, sizeof bad);
    CHECK_EQ(phx_spline_set(s, PHX_SPLINE_GIVEN, 3, p, 8, bad), PHX_ERROR_RANGE); /* no length */
    CHECK_EQ(phx_spline_set(s, PHX_SPLINE_CLAMPED, 3, p, 3, NULL), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_set(s, PHX_SPLINE_CLAMPED, 0, p, 8, NULL), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_set(s, PHX_SPLINE_CLAMPED, 6, p, 8, NULL), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_set(s, PHX_SPLINE_CLAMPED, 3, NULL, 8, NULL), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_set(s, PHX_SPLINE_CLAMPED, 3, p, 8, good), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_set(s, PHX_SPLINE_GIVEN, 3, p, 8, NULL), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_set(s, PHX_SPLINE_CLAMPED, 3, p, POINTS + 1, NULL), PHX_ERROR_LIMIT);
    p[3].y = 8192 * ONE + 1;
    CHECK_EQ(phx_spline_set(s, PHX_SPLINE_CLAMPED, 3, p, 8, NULL), PHX_ERROR_RANGE);
    CHECK_EQ(phx_spline_move(s, 3, p[3]), PHX_ERROR_RANGE);
    CHECK_EQ(phx_spline_move(s, 8, p[0]), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_remove(s, 8), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_spline_insert(s, 0), PHX_ERROR_RANGE);
    CHECK_EQ(phx_spline_insert(s, 5 * ONE), PHX_ERROR_RANGE);
    CHECK_EQ(phx_spline_insert(s, INT32_MAX), PHX_ERROR_RANGE);
    const PhxSplineSample is = phx_spline_sample(s, 2 * ONE + 77);
    CHECK(same_sample(&was, &is) && s->own == 8);
    for (int k = 0; k < 2; k++) CHECK_OK(phx_spline_insert(s, 3 * ONE));
    CHECK_EQ(phx_spline_insert(s, 3 * ONE), PHX_ERROR_RANGE); /* three times already */
    /* parameters outside are the ends */
    CHECK(same_point(phx_spline_point(s, INT32_MIN), phx_spline_point(s, 0)));
    CHECK(same_point(phx_spline_point(s, INT32_MAX), phx_spline_point(s, 5 * ONE)));
    CHECK(same_point(phx_spline_point(s, 0), p[0]) && same_point(phx_spline_point(s, 5 * ONE), p[7]));
    while (s->own < POINTS) CHECK_OK(phx_spline_insert(s, (fix16_t)(s->own * 1000 + 5)));
    CHECK_EQ(phx_spline_insert(s, 4321), PHX_ERROR_FULL);
    fixture_end(&f);
}
