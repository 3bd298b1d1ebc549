/* spline_path.c: paths smoothed by splines (phalanx/spline_path.h, phalanx/spline_walls.h): what is said to
 * be clear is clear wherever one looks, corners that can't be rounded stay, ground is judged as doubles do.
 */
#include <math.h>
#include <phalanx/path.h>
#include <phalanx/spline_path.h>
#include <phalanx/spline_walls.h>
#include <phalanx/walls.h>

#include "base/arena.h"
#include "harness.h"

enum { CAPACITY = 2048, ONE = 65536, SIDE = 48 };

typedef struct Fixture {
    PhxArena arena;
    PhxSpline spline;
    uint8_t pieces[CAPACITY + PHX_SPLINE_DEGREE_MAX];
    uint8_t cost[SIDE * SIDE];
    PhxNavGrid grid;
    uint64_t seed;
} Fixture;

static Fixture *fixture_make(uint64_t seed) {
    static Fixture f;
    memset(&f, 0, sizeof f);
    f.arena = phx_arena_measure();
    phx_spline_layout(&f.spline, &f.arena, CAPACITY, PHX_SPLINE_DEGREE_MAX);
    const size_t size = f.arena.used;
    CHECK_OK(phx_arena_create(&f.arena, phx_allocator_default(), size));
    phx_spline_layout(&f.spline, &f.arena, CAPACITY, PHX_SPLINE_DEGREE_MAX);
    f.grid = (PhxNavGrid){SIDE, SIDE, f.cost};
    f.seed = seed;
    return &f;
}

/* A map with a share of walls, in 1/100. */
static void scatter_walls(Fixture *f, int64_t share) {
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        f->cost[i] = test_range(&f->seed, 0, 99) < share ? PHX_NAV_IMPASSABLE : 1;
}

static double off_segment(double px, double py, double ax, double ay, double bx, double by) {
    const double dx = bx - ax, dy = by - ay, square = dx * dx + dy * dy;
    const double part = square > 0 ? fmax(0, fmin(1, ((px - ax) * dx + (py - ay) * dy) / square)) : 0;
    return hypot(px - ax - part * dx, py - ay - part * dy);
}

static double point_off_cell(double px, double py, double x, double y) {
    return hypot(fmax(0, fmax(x - px, px - x - ONE)), fmax(0, fmax(y - py, py - y - ONE)));
}

/* From a segment to a square, raw: convex, so that ternary search along the segment finds it. */
static double segment_off_cell(PhxVec2 a, PhxVec2 b, double x, double y) {
    double low = 0, high = 1;
    for (int i = 0; i < 100; i++) {
        const double one = low + (high - low) / 3, two = high - (high - low) / 3;
        const double at_one = point_off_cell(a.x + one * ((double)b.x - a.x), a.y + one * ((double)b.y - a.y),
                                             x, y),
                     at_two = point_off_cell(a.x + two * ((double)b.x - a.x), a.y + two * ((double)b.y - a.y),
                                             x, y);
        if (at_one <= at_two)
            high = two;
        else
            low = one;
    }
    return point_off_cell(a.x + low * ((double)b.x - a.x), a.y + low * ((double)b.y - a.y), x, y);
}

/* The distance from the nearest wall or border. */
static double room_of(const Fixture *f, PhxVec2 a, PhxVec2 b) {
    double least =
        fmin(fmin(fmin(a.x, b.x), fmin(a.y, b.y)), SIDE * (double)ONE - fmax(fmax(a.x, b.x), fmax(a.y, b.y)));
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            if (f->cost[y * SIDE + x] == PHX_NAV_IMPASSABLE)
                least = fmin(least, segment_off_cell(a, b, x * (double)ONE, y * (double)ONE));
    return least;
}

static PhxVec2 random_place(Fixture *f) {
    return phx_vec2((fix16_t)test_range(&f->seed, 0, SIDE * ONE),
                    (fix16_t)test_range(&f->seed, 0, SIDE * ONE));
}

PHX_TEST(spline_path, ground_is_judged_as_doubles_do) {
    Fixture *f = fixture_make(3);
    uint32_t clear = 0, shut = 0;
    const uint32_t sets = test_count(40, 600, 10000);
    for (uint32_t set = 0; set < sets; set++) {
        if (set % 20 == 0) scatter_walls(f, test_range(&f->seed, 0, 3));
        const PhxVec2 a = random_place(f);
        PhxVec2 b = random_place(f);
        if (set % 3 == 0)
            b = phx_vec2_add(a, phx_vec2((fix16_t)test_range(&f->seed, -3 * ONE, 3 * ONE),
                                         (fix16_t)test_range(&f->seed, -3, 3)));
        if (set % 7 == 0) b = a;
        const double room = room_of(f, a, b);
        for (int k = -1; k <= 1; k++) {
            const double radius =
                k == 0 ? (double)test_range(&f->seed, 1, 2 * ONE) : floor(room) + (k > 0 ? 2 : -1);
            if (radius < 1 || radius > 32 * ONE || fabs(radius - room) < 0.01) continue;
            const bool is = phx_spline_walls_clear(&f->grid, a, b, (fix16_t)radius);
            CHECK_THAT(is == (room >= radius), "set %" PRIu32 ": %d,%d to %d,%d: room %.2f, radius %.0f", set,
                       a.x, a.y, b.x, b.y, room, radius);
            CHECK(is == phx_spline_walls_clear(&f->grid, b, a, (fix16_t)radius));
            if (phx_vec2_equal(a, b)) CHECK(is == phx_walls_clear(&f->grid, a, (fix16_t)radius));
            clear += is, shut += !is;
        }
    }
    CHECK(clear > sets / 3 && shut > sets / 3);
    /* just touching is free, a raw unit more isn't: beside a wall, and at its corner (3, 4, 5) */
    memset(f->cost, 1, sizeof f->cost);
    f->cost[10 * SIDE + 10] = PHX_NAV_IMPASSABLE;
    const PhxVec2 from = phx_vec2(5 * ONE, 9 * ONE), to = phx_vec2(20 * ONE, 9 * ONE);
    CHECK(phx_spline_walls_clear(&f->grid, from, to, ONE) &&
          !phx_spline_walls_clear(&f->grid, from, to, ONE + 1));
    const PhxVec2 p = phx_vec2(10 * ONE - 4 * 13, 10 * ONE - 3 * 13), aside = phx_vec2(3 * ONE, -4 * ONE);
    const PhxVec2 c = phx_vec2_add(p, aside), d = phx_vec2_sub(p, aside);
    CHECK(phx_spline_walls_clear(&f->grid, c, d, 65) && !phx_spline_walls_clear(&f->grid, c, d, 66));
    phx_arena_destroy(&f->arena);
}

PHX_TEST(spline_path, bezier_points_hold_their_piece) {
    Fixture *f = fixture_make(5);
    double worst = 0;
    for (uint32_t set = 0; set < 300; set++) {
        const uint32_t degree = 1 + set % 5, count = degree + 1 + (uint32_t)test_range(&f->seed, 0, 20);
        PhxSplinePoint points[32];
        fix16_t knots[40];
        for (uint32_t i = 0; i < count; i++)
            points[i] = (PhxSplinePoint){(fix16_t)test_range(&f->seed, -512 * ONE, 512 * ONE),
                                         (fix16_t)test_range(&f->seed, -512 * ONE, 512 * ONE), (fix16_t)i};
        for (uint32_t i = 0, at = 0; i < count + degree + 1; i++) {
            knots[i] = (fix16_t)at;
            at += (uint32_t)test_range(&f->seed, 0, 4) ? (uint32_t)test_range(&f->seed, 1, 3 * ONE) : 1;
        }
        CHECK_OK(phx_spline_set(&f->spline, set % 2 ? PHX_SPLINE_GIVEN : PHX_SPLINE_CLAMPED, degree, points,
                                count, set % 2 ? knots : NULL));
        for (uint32_t piece = degree; piece < count; piece++) {
            PhxSplineRate bezier[6];
            phx_spline_bezier(&f->spline, piece, bezier);
            const int64_t left = (int64_t)f->spline.knot[piece] * ONE,
                          wide = (int64_t)f->spline.knot[piece + 1] * ONE - left;
            for (int k = 0; k <= 16; k++) {
                const double t = k / 16.0;
                double b[6][2];
                for (uint32_t i = 0; i <= degree; i++)
                    b[i][0] = (double)bezier[i].x / 256, b[i][1] = (double)bezier[i].y / 256;
                for (uint32_t s = 0; s < degree; s++)
                    for (uint32_t i = 0; i + s < degree; i++)
                        for (int c = 0; c < 2; c++) b[i][c] += t * (b[i + 1][c] - b[i][c]);
                const PhxSplinePoint p = phx_spline_point_in(&f->spline, piece, left + wide / 16 * k);
                worst = fmax(worst, fmax(fabs(b[0][0] - p.x), fabs(b[0][1] - p.y)));
            }
        }
    }
    printf("a piece and its Bezier points: at most %.3f raw units apart\n", worst);
    CHECK(worst <= 1.3);
    phx_arena_destroy(&f->arena);
}

/* A path of straight lines that are clear for the radius, as a search would give one: each goes as far as the
 * disc gets in some direction. */
static uint32_t random_path(Fixture *f, fix16_t radius, PhxVec2 *waypoints, uint32_t most) {
    uint32_t count = 0;
    for (int tries = 0; tries < 400 && count == 0; tries++) {
        waypoints[0] = random_place(f);
        count = phx_walls_clear(&f->grid, waypoints[0], radius);
    }
    for (int tries = 0; tries < 200 && count > 0 && count < most; tries++) {
        const PhxDir dir = phx_dir_of_angle((PhxAngle)test_range(&f->seed, 0, 65535));
        fix16_t far = (fix16_t)test_range(&f->seed, ONE / 4, 20 * ONE);
        const PhxVec2 from = waypoints[count - 1];
        while (far > ONE / 8 &&
               !phx_spline_walls_clear(&f->grid, from, phx_vec2_add(from, phx_dir_scale(dir, far)), radius))
            far -= far / 8;
        if (far > ONE / 8) waypoints[count++] = phx_vec2_add(from, phx_dir_scale(dir, far));
    }
    return count;
}

/* A corridor of cells with turns, in a map that is solid but for it: no more room than there has to be. */
static uint32_t corridor(Fixture *f, PhxVec2 *waypoints, uint32_t most) {
    int64_t x = test_range(&f->seed, 1, SIDE - 2), y = test_range(&f->seed, 1, SIDE - 2);
    uint32_t count = 0;
    memset(f->cost, PHX_NAV_IMPASSABLE, sizeof f->cost);
    for (uint32_t leg = 0; count < most; leg++) {
        const int64_t far = test_range(&f->seed, 1, 12) * (test_range(&f->seed, 0, 1) ? 1 : -1);
        waypoints[count++] = phx_vec2((fix16_t)(x * ONE + ONE / 2), (fix16_t)(y * ONE + ONE / 2));
        for (int64_t k = 0; k <= llabs(far); k++) {
            f->cost[y * SIDE + x] = 1;
            int64_t *along = leg % 2 ? &x : &y;
            const int64_t next = *along + (far > 0 ? 1 : -1);
            if (k < llabs(far) && next > 0 && next < SIDE - 1) *along = next;
        }
        const PhxVec2 now = phx_vec2((fix16_t)(x * ONE + ONE / 2), (fix16_t)(y * ONE + ONE / 2));
        if (phx_vec2_equal(now, waypoints[count - 1])) count--;
    }
    return count;
}

static double off_path(const PhxVec2 *waypoints, uint32_t count, PhxSplinePoint p) {
    double least = 1e18;
    for (uint32_t i = 0; i + 1 < count; i++)
        least = fmin(least, off_segment(p.x, p.y, waypoints[i].x, waypoints[i].y, waypoints[i + 1].x,
                                        waypoints[i + 1].y));
    return least;
}

static PhxSplinePoint point_at(const Fixture *f, uint32_t piece, int k, int of) {
    const int64_t left = (int64_t)f->spline.knot[piece] * ONE,
                  right = (int64_t)f->spline.knot[piece + 1] * ONE;
    return phx_spline_point_in(&f->spline, piece, left + (right - left) / of * k);
}

/* Looks along the whole curve: it hangs together, curves keep clear, the rest lies on the path. */
static void check_smooth(const Fixture *f, const PhxSplinePathSpec *spec, uint32_t set, uint32_t *kinds) {
    PhxSplinePoint was = f->spline.point[0];
    CHECK(was.x == spec->waypoints[0].x && was.y == spec->waypoints[0].y);
    for (uint32_t piece = f->spline.degree; piece < f->spline.count; piece++) {
        const uint8_t kind = f->pieces[piece];
        kinds[kind]++;
        CHECK((kind == PHX_SPLINE_PIECE_EMPTY) == (f->spline.knot[piece] == f->spline.knot[piece + 1]));
        if (kind == PHX_SPLINE_PIECE_EMPTY) continue;
        for (int k = 0; k <= 64; k++) {
            const PhxSplinePoint p = point_at(f, piece, k, 64);
            if (k == 0)
                CHECK_THAT(abs(p.x - was.x) <= 2 && abs(p.y - was.y) <= 2,
                           "set %" PRIu32 ": a gap at piece %" PRIu32, set, piece);
            if (kind == PHX_SPLINE_PIECE_CURVE)
                CHECK_THAT(phx_walls_clear(&f->grid, phx_vec2(p.x, p.y), spec->radius),
                           "set %" PRIu32 ", degree %" PRIu32 ": piece %" PRIu32 " in a wall", set,
                           spec->degree, piece);
            else
                CHECK_THAT(off_path(spec->waypoints, spec->count, p) <= 3,
                           "set %" PRIu32 ", degree %" PRIu32 ": piece %" PRIu32 " leaves the path by %g",
                           set, spec->degree, piece, off_path(spec->waypoints, spec->count, p));
            was = p;
        }
    }
    const PhxVec2 end = spec->waypoints[spec->count - 1];
    CHECK(was.x == end.x && was.y == end.y);
}

PHX_TEST(spline_path, smooth_paths_keep_clear_of_walls) {
    Fixture *f = fixture_make(7);
    uint32_t kinds[3] = {0}, corners = 0;
    const uint32_t sets = test_count(60, 1000, 20000);
    for (uint32_t set = 0; set < sets; set++) {
        PhxVec2 waypoints[24];
        if (set % 10 < 6) scatter_walls(f, test_range(&f->seed, 0, 30));
        const fix16_t radius = (fix16_t)test_range(&f->seed,
                                                   set % 10 > 7   ? ONE / 2
                                                   : set % 10 > 5 ? ONE / 2 - 2500
                                                                  : ONE / 16,
                                                   ONE / 2);
        const uint32_t most = (uint32_t)test_range(&f->seed, 2, 24);
        const uint32_t count =
            set % 10 > 5 ? corridor(f, waypoints, most) : random_path(f, radius, waypoints, most);
        if (count < 2) continue;
        const PhxSplinePathSpec spec = {.waypoints = waypoints,
                                        .count = count,
                                        .degree = 1 + set % 5,
                                        .radius = radius,
                                        .reach = (fix16_t)test_range(&f->seed, 1, 6 * ONE),
                                        .spacing =
                                            set % 3 ? (fix16_t)test_range(&f->seed, ONE / 4, 4 * ONE) : 0,
                                        .ground = {phx_spline_walls_clear, &f->grid}};
        const uint32_t points = phx_spline_path_points(&spec);
        CHECK_OK(phx_spline_path_smooth(&f->spline, &spec, f->pieces));
        CHECK_EQ(f->spline.own, points);
        check_smooth(f, &spec, set, kinds);
        corners += count - 2;
        /* the control points' distance, where it was asked for */
        for (uint32_t i = 1; spec.spacing && spec.degree > 1 && i < points; i++) {
            const PhxSplinePoint a = f->spline.point[i - 1], b = f->spline.point[i];
            CHECK(hypot((double)a.x - b.x, (double)a.y - b.y) <= fmax(spec.spacing, spec.reach) * 8 + 4);
        }
        /* the spline that it is, is one that phx_spline_set takes, with the same points */
        if (set % 10 == 1) {
            static PhxSplinePoint point[CAPACITY];
            static fix16_t knot[CAPACITY + 8];
            memcpy(point, f->spline.point, points * sizeof *point);
            memcpy(knot, f->spline.knot, (points + spec.degree + 1) * sizeof *knot);
            const fix16_t u = (fix16_t)test_range(&f->seed, 0, phx_spline_end(&f->spline));
            const PhxSplinePoint before = phx_spline_point(&f->spline, u);
            CHECK_OK(phx_spline_set(&f->spline, PHX_SPLINE_GIVEN, spec.degree, point, points, knot));
            const PhxSplinePoint after = phx_spline_point(&f->spline, u);
            CHECK(before.x == after.x && before.y == after.y);
        }
    }
    printf("%" PRIu32 " corners: pieces %" PRIu32 " on the path, %" PRIu32 " curves, %" PRIu32 " empty\n",
           corners, kinds[1], kinds[2], kinds[0]);
    CHECK(kinds[0] > sets / 4 && kinds[1] > sets && kinds[2] > sets);
    phx_arena_destroy(&f->arena);
}

/* Paths that a search found, which hug the corners of walls: pieces keep clear, and the way is no longer than
 * the path. */
PHX_TEST(spline_path, paths_of_a_search_are_smoothed) {
    Fixture *f = fixture_make(21);
    PhxArena arena = phx_arena_measure();
    PhxPathGround *ground = NULL;
    PhxPathSearch *search = NULL;
    PhxSplineLengths lengths;
    for (int pass = 0; pass < 2; pass++) {
        ground = phx_path_ground_layout(&arena, SIDE, SIDE);
        search = phx_path_search_layout(&arena, SIDE * SIDE, 0);
        phx_spline_lengths_layout(&lengths, &arena, &f->spline);
        if (pass == 0) CHECK_OK(phx_arena_create(&arena, phx_allocator_default(), arena.used));
    }
    uint32_t kinds[3] = {0}, corners = 0, found = 0;
    double saved = 0;
    const uint32_t sets = test_count(60, 600, 10000);
    for (uint32_t set = 0; set < sets; set++) {
        PhxVec2 waypoints[64];
        if (set % 20 == 0) {
            scatter_walls(f, test_range(&f->seed, 2, 25));
            CHECK_OK(phx_path_ground_build(ground, &f->grid));
        }
        const PhxPathQuery query = {(uint32_t)test_range(&f->seed, 0, SIDE * SIDE - 1),
                                    (uint32_t)test_range(&f->seed, 0, SIDE * SIDE - 1),
                                    (fix16_t)test_range(&f->seed, ONE / 8, ONE / 2), 0};
        PhxPath path = {.waypoints = waypoints, .waypoint_capacity = 64};
        if (phx_path_find(search, ground, &query, &path) != PHX_OK || path.waypoint_count < 2) continue;
        const PhxSplinePathSpec spec = {waypoints,
                                        path.waypoint_count,
                                        2 + set % 4,
                                        query.radius,
                                        4 * ONE,
                                        8 * ONE,
                                        {phx_spline_walls_clear, &f->grid}};
        for (uint32_t i = 0; i + 1 < spec.count; i++)
            CHECK(phx_spline_walls_clear(&f->grid, waypoints[i], waypoints[i + 1], query.radius));
        CHECK_OK(phx_spline_path_smooth(&f->spline, &spec, f->pieces));
        check_smooth(f, &spec, set, kinds);
        double straight = 0;
        for (uint32_t i = 1; i < spec.count; i++)
            straight += hypot((double)waypoints[i].x - waypoints[i - 1].x,
                              (double)waypoints[i].y - waypoints[i - 1].y);
        phx_spline_measure(&lengths, &f->spline);
        const double length = (double)phx_spline_length(&lengths) / 256;
        CHECK_THAT(length <= straight * (1 + 0x1p-12) + 4, "set %" PRIu32 ": %g units, the path %g", set,
                   length / ONE, straight / ONE);
        saved += (straight - length) / ONE;
        corners += spec.count - 2, found++;
    }
    printf("%" PRIu32 " paths, %" PRIu32 " corners: pieces %" PRIu32 " on the path, %" PRIu32
           " curves, %" PRIu32 " empty; %.2f units saved\n",
           found, corners, kinds[1], kinds[2], kinds[0], saved);
    CHECK(found > sets / 2 && kinds[2] > corners / 2);
    phx_arena_destroy(&arena), phx_arena_destroy(&f->arena);
}

/* Open ground: every corner is rounded, as far as it may be; a corridor as wide as the unit: none. */
PHX_TEST(spline_path, corners_are_rounded_where_there_is_room) {
    Fixture *f = fixture_make(9);
    const PhxVec2 waypoints[4] = {
        {5 * ONE, 5 * ONE}, {25 * ONE, 5 * ONE}, {25 * ONE, 25 * ONE}, {5 * ONE, 25 * ONE}};
    PhxSplinePathSpec spec = {waypoints, 4, 3, ONE / 2, 4 * ONE, 0, {phx_spline_walls_clear, &f->grid}};
    for (spec.degree = 1; spec.degree <= 5; spec.degree++) {
        uint32_t kinds[3] = {0};
        memset(f->cost, 1, sizeof f->cost);
        CHECK_OK(phx_spline_path_smooth(&f->spline, &spec, f->pieces));
        check_smooth(f, &spec, spec.degree, kinds);
        CHECK_EQ(kinds[2], 2 * (spec.degree - 1));
        CHECK_EQ(kinds[0], 0);
        double most = 0; /* from the corner; the triangle of its own points bounds it */
        for (uint32_t piece = spec.degree; piece < f->spline.count; piece++)
            for (int k = 0; k <= 32 && f->pieces[piece] == PHX_SPLINE_PIECE_CURVE; k++)
                most = fmax(most, off_path(waypoints, 4, point_at(f, piece, k, 32)) / ONE);
        printf("degree %" PRIu32 ": %.3f units from the path\n", spec.degree, most);
        CHECK(spec.degree == 1 ? most == 0 : most > 0.3 && most < 4 / sqrt(2));
        /* a wall inside of the first corner only: that one is decided by itself */
        memset(kinds, 0, sizeof kinds);
        f->cost[5 * SIDE + 24] =
            PHX_NAV_IMPASSABLE; /* half a unit from the legs: [24,25) x [5,6) touches them */
        f->cost[6 * SIDE + 23] = PHX_NAV_IMPASSABLE;
        f->cost[5 * SIDE + 24] = 1;
        CHECK_OK(phx_spline_path_smooth(&f->spline, &spec, f->pieces));
        check_smooth(f, &spec, spec.degree, kinds);
        CHECK(spec.degree == 1 || kinds[2] >= spec.degree - 1);
        /* the corridor: walls everywhere but on the path */
        memset(kinds, 0, sizeof kinds);
        memset(f->cost, PHX_NAV_IMPASSABLE, sizeof f->cost);
        for (int i = 4; i <= 25; i++)
            f->cost[5 * SIDE + i] = f->cost[25 * SIDE + i] = f->cost[i * SIDE + 25] = 1;
        const PhxVec2 middle[4] = {{11 * ONE / 2, 11 * ONE / 2},
                                   {51 * ONE / 2, 11 * ONE / 2},
                                   {51 * ONE / 2, 51 * ONE / 2},
                                   {11 * ONE / 2, 51 * ONE / 2}};
        PhxSplinePathSpec tight = spec;
        tight.waypoints = middle;
        CHECK_OK(phx_spline_path_smooth(&f->spline, &tight, f->pieces));
        check_smooth(f, &tight, spec.degree, kinds);
        CHECK_EQ(kinds[2], 0);
        CHECK_EQ(kinds[0], 2 * (spec.degree - 1));
        bool through = false;
        for (uint32_t piece = spec.degree; piece < f->spline.count; piece++)
            if (f->pieces[piece] != PHX_SPLINE_PIECE_EMPTY) {
                const PhxSplinePoint p = point_at(f, piece, 1, 1);
                through |= p.x == middle[1].x && p.y == middle[1].y;
            }
        CHECK(through);
    }
    phx_arena_destroy(&f->arena);
}

/* The speed along a smooth path: what makes a constant one is the table of lengths. */
PHX_TEST(spline_path, followers_keep_their_speed_on_smooth_paths) {
    Fixture *f = fixture_make(11);
    PhxArena arena = phx_arena_measure();
    PhxSplineLengths lengths;
    phx_spline_lengths_layout(&lengths, &arena, &f->spline);
    const size_t size = arena.used;
    CHECK_OK(phx_arena_create(&arena, phx_allocator_default(), size));
    phx_spline_lengths_layout(&lengths, &arena, &f->spline);
    const PhxVec2 waypoints[5] = {
        {0, 0}, {200 * ONE, 7 * ONE}, {203 * ONE, 60 * ONE}, {100 * ONE, 300 * ONE}, {0, 310 * ONE}};
    for (uint32_t degree = 2; degree <= 5; degree++)
        for (int fine = 0; fine <= 1; fine++) {
            const PhxSplinePathSpec spec = {waypoints,          5,           degree, ONE / 2, 16 * ONE,
                                            fine ? 8 * ONE : 0, {NULL, NULL}};
            CHECK_OK(phx_spline_path_smooth(&f->spline, &spec, f->pieces));
            phx_spline_measure(&lengths, &f->spline);
            PhxSplineFollower follower = {0, false};
            PhxSplinePoint was = f->spline.point[0];
            double least = 1e9, most = 0;
            while (
                !(phx_spline_follow(&lengths, PHX_SPLINE_ONCE, (1 << 24) / 2, &follower) & PHX_SPLINE_DONE)) {
                const PhxSplinePlace place = phx_spline_place(&lengths, &f->spline, follower.at);
                const PhxSplinePoint is = phx_spline_point_in(&f->spline, place.piece, place.u);
                const double step = hypot((double)is.x - was.x, (double)is.y - was.y);
                least = fmin(least, step), most = fmax(most, step);
                was = is;
            }
            printf("degree %" PRIu32 ": steps of %.5f to %.5f units\n", degree, least / ONE, most / ONE);
            CHECK(most / least < 1.005);
        }
    phx_arena_destroy(&arena), phx_arena_destroy(&f->arena);
}

PHX_TEST(spline_path, bad_input_changes_nothing) {
    Fixture *f = fixture_make(13);
    memset(f->cost, 1, sizeof f->cost);
    PhxVec2 w[4] = {{ONE, ONE}, {9 * ONE, ONE}, {9 * ONE, 9 * ONE}, {ONE, 9 * ONE}};
    const PhxSplinePathSpec good = {w, 4, 3, ONE / 2, 2 * ONE, ONE, {phx_spline_walls_clear, &f->grid}};
    CHECK_OK(phx_spline_path_smooth(&f->spline, &good, f->pieces));
    const uint32_t own = f->spline.own;
    const PhxSplinePoint was = phx_spline_point(&f->spline, 5 * ONE + 77);
    PhxSplinePathSpec bad[12];
    for (int i = 0; i < 12; i++) bad[i] = good;
    bad[0].count = 1, bad[1].count = 0, bad[2].waypoints = NULL, bad[3].degree = 0, bad[4].degree = 6;
    bad[5].radius = 0, bad[6].radius = 16 * ONE + 1, bad[7].reach = 0, bad[8].spacing = -1;
    bad[9].spacing = ONE / 4 - 1, bad[10].radius = -ONE, bad[11].reach = INT32_MIN;
    for (int i = 0; i < 12; i++) {
        CHECK_THAT(phx_spline_path_smooth(&f->spline, &bad[i], f->pieces) == PHX_ERROR_ARGUMENT, "%d", i);
        CHECK_EQ(phx_spline_path_points(&bad[i]), 0);
    }
    CHECK_EQ(phx_spline_path_smooth(&f->spline, &good, NULL), PHX_ERROR_ARGUMENT);
    const PhxVec2 kept = w[2];
    w[2] = w[1]; /* a leg without length */
    CHECK_EQ(phx_spline_path_smooth(&f->spline, &good, f->pieces), PHX_ERROR_RANGE);
    w[2].x += ONE / 16 - 1;
    CHECK_EQ(phx_spline_path_smooth(&f->spline, &good, f->pieces), PHX_ERROR_RANGE);
    w[2] = phx_vec2(9 * ONE, 8192 * ONE + 1);
    CHECK_EQ(phx_spline_path_smooth(&f->spline, &good, f->pieces), PHX_ERROR_RANGE);
    w[2] = phx_vec2(8192 * ONE, -8192 * ONE); /* too many control points */
    CHECK_EQ(phx_spline_path_smooth(&f->spline, &good, f->pieces), PHX_ERROR_LIMIT);
    w[2] = kept;
    const PhxSplinePoint is = phx_spline_point(&f->spline, 5 * ONE + 77);
    CHECK(own == f->spline.own && is.x == was.x && is.y == was.y);
    CHECK(phx_spline_path_points(&good) == own);
    phx_arena_destroy(&f->arena);
}
