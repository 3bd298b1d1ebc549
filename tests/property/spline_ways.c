/* spline_ways.c: what happens on a way (phalanx/spline_path.h, phalanx/spline.h): evasion points and their
 * end, bit for bit; obstacles against brute force in doubles; followers that keep their place through edits,
 * begin at seeded places, and say when they come to an end; detail by numbers.
 */
#include <math.h>
#include <phalanx/rng.h>
#include <phalanx/spline_path.h>
#include <phalanx/spline_walls.h>

#include "base/arena.h"
#include "harness.h"

enum { POINTS = 128, ONE = 65536, SIDE = 64 };

typedef struct Fixture {
    PhxArena arena;
    PhxSpline spline, base;
    PhxSplineLengths lengths, base_lengths;
    uint64_t seed;
} Fixture;

static void lay_out(Fixture *f) {
    phx_spline_layout(&f->spline, &f->arena, POINTS, PHX_SPLINE_DEGREE_MAX);
    phx_spline_layout(&f->base, &f->arena, POINTS, PHX_SPLINE_DEGREE_MAX);
    phx_spline_lengths_layout(&f->lengths, &f->arena, &f->spline);
    phx_spline_lengths_layout(&f->base_lengths, &f->arena, &f->base);
}

static Fixture fixture_make(uint64_t seed) {
    Fixture f = {.arena = phx_arena_measure(), .seed = seed};
    lay_out(&f);
    const size_t size = f.arena.used;
    CHECK_OK(phx_arena_create(&f.arena, phx_allocator_default(), size));
    lay_out(&f);
    return f;
}

/* A way that goes on along x, with bends. */
static uint32_t random_way(Fixture *f, uint32_t degree, PhxSplinePoint *points) {
    const uint32_t count = degree + 1 + (uint32_t)test_range(&f->seed, 0, 40);
    fix16_t x = (fix16_t)test_range(&f->seed, -100 * ONE, 0);
    for (uint32_t i = 0; i < count; i++) {
        points[i] = (PhxSplinePoint){x, (fix16_t)test_range(&f->seed, -9 * ONE, 9 * ONE), 0};
        x += (fix16_t)test_range(&f->seed, ONE / 4, 12 * ONE);
    }
    return count;
}

typedef struct Copy {
    uint32_t own, count;
    PhxSplinePoint point[POINTS + 8];
    fix16_t knot[POINTS + 16];
    uint64_t inverse[(POINTS + 16) * 5];
} Copy;

static void copy_of(const PhxSpline *s, Copy *copy) {
    memset(copy, 0, sizeof *copy);
    copy->own = s->own, copy->count = s->count;
    memcpy(copy->point, s->point, s->count * sizeof *s->point);
    memcpy(copy->knot, s->knot, (s->count + s->degree + 1) * sizeof *s->knot);
    for (uint32_t i = 0; i < s->count + s->degree + 1; i++)
        for (uint32_t k = 0; k < s->degree; k++)
            copy->inverse[i * 5 + k] = s->inverse[(size_t)i * s->degree_max + k];
}

static bool is_copy(const PhxSpline *s, const Copy *was) {
    static Copy is;
    copy_of(s, &is);
    return memcmp(&is, was, sizeof is) == 0;
}

static PhxSplinePoint at(const PhxSpline *s, fix16_t u) { return phx_spline_point(s, u); }

/* Another evasion, perhaps over the first: that can't go before it, unless it lies elsewhere, and then the
 * other one is what it would be by itself. Both are gone afterwards. */
static void put_another(Fixture *f, const PhxSplineEvasion *one, PhxVec2 by, bool first_goes) {
    static Copy between, left;
    PhxSplineEvasion two, alone;
    const fix16_t u = (fix16_t)test_range(&f->seed, 1, phx_spline_end(&f->spline) - 1);
    copy_of(&f->spline, &between);
    const bool again = phx_spline_evade(&f->spline, u, by, NULL, 0, &two) == PHX_OK;
    const PhxStatus early = again && first_goes ? phx_spline_evade_end(&f->spline, one) : PHX_ERROR_NOT_FOUND;
    CHECK(early == PHX_OK || early == PHX_ERROR_NOT_FOUND);
    if (early == PHX_OK) {
        copy_of(&f->spline, &left);
        CHECK_OK(phx_spline_evade(&f->base, u, by, NULL, 0, &alone));
        CHECK_THAT(is_copy(&f->base, &left), "u %d", u);
        CHECK_OK(phx_spline_evade_end(&f->base, &alone));
    }
    if (again) CHECK_OK(phx_spline_evade_end(&f->spline, &two));
    if (early == PHX_OK) return;
    CHECK(is_copy(&f->spline, &between));
    CHECK_OK(phx_spline_evade_end(&f->spline, one));
}

PHX_TEST(spline_ways, an_evasion_bends_what_it_supports) {
    Fixture f = fixture_make(17);
    static Copy before;
    const uint32_t sets = test_count(60, 1000, 20000);
    double reached = 0, beside = 0;
    for (uint32_t set = 0; set < sets; set++) {
        PhxSplinePoint points[POINTS];
        const uint32_t degree = 1 + set % 5, count = random_way(&f, degree, points);
        CHECK_OK(phx_spline_set(&f.spline, PHX_SPLINE_CLAMPED, degree, points, count, NULL));
        CHECK_OK(phx_spline_set(&f.base, PHX_SPLINE_CLAMPED, degree, points, count, NULL));
        copy_of(&f.spline, &before);
        const fix16_t end = phx_spline_end(&f.spline), u = (fix16_t)test_range(&f.seed, 1, end - 1);
        const PhxVec2 by = {(fix16_t)test_range(&f.seed, -4 * ONE, 4 * ONE),
                            (fix16_t)test_range(&f.seed, -4 * ONE, 4 * ONE)};
        PhxSplineEvasion one;
        const PhxStatus status = phx_spline_evade(&f.spline, u, by, NULL, 0, &one);
        if (status != PHX_OK) { /* a knot of degree 1, say */
            CHECK(status == PHX_ERROR_RANGE && is_copy(&f.spline, &before));
            continue;
        }
        const PhxSplinePoint was = at(&f.base, u), is = at(&f.spline, u);
        reached = fmax(reached, fmax(fabs((double)is.x - was.x - by.x), fabs((double)is.y - was.y - by.y)));
        /* what moved by more than rounding lies in degree + 1 pieces; what is farther has the same bits */
        const uint32_t knot = phx_spline_piece(&f.spline, u, 0);
        const uint32_t moved = knot - degree + one.point;
        const fix16_t from = f.spline.knot[moved], to = f.spline.knot[moved + degree + 1];
        const fix16_t first = f.spline.knot[knot - degree],
                      last = f.spline.knot[knot + degree < f.spline.count ? knot + degree : f.spline.count];
        for (int k = 0; k < 200; k++) {
            const fix16_t v = (fix16_t)(end / 199.0 * k);
            const PhxSplinePoint a = at(&f.base, v), b = at(&f.spline, v);
            const int off = abs(a.x - b.x) > abs(a.y - b.y) ? abs(a.x - b.x) : abs(a.y - b.y);
            if (v < from || v > to) CHECK_THAT(off <= 2, "set %" PRIu32 ": %d off at %d", set, off, v);
            if (v < first || v > last)
                CHECK_THAT(off == 0, "set %" PRIu32 ": %d off at %d, far away", set, off, v);
            beside = fmax(beside, hypot((double)a.x - b.x, (double)a.y - b.y) / fmax(hypot(by.x, by.y), ONE));
        }
        put_another(&f, &one, by, set % 2);
        CHECK_THAT(is_copy(&f.spline, &before), "set %" PRIu32 ", degree %" PRIu32 ": something is left", set,
                   degree);
        CHECK_EQ(phx_spline_evade_end(&f.spline, &one), PHX_ERROR_NOT_FOUND);
    }
    printf("an evasion: at most %.2f raw units beside the wanted place; nothing moves more than %.2f times "
           "as far\n",
           reached, beside);
    CHECK(reached <= 3 && beside < 2);
    phx_arena_destroy(&f.arena);
}

PHX_TEST(spline_ways, an_evasion_asks_for_room) {
    Fixture f = fixture_make(19);
    static Copy before;
    static uint8_t cost[SIDE * SIDE];
    memset(cost, 1, sizeof cost);
    for (int x = 0; x < SIDE; x++) cost[20 * SIDE + x] = PHX_NAV_IMPASSABLE;
    const PhxNavGrid grid = {SIDE, SIDE, cost};
    const PhxSplineGround ground = {phx_spline_walls_clear, &grid};
    PhxSplinePoint points[12];
    for (int i = 0; i < 12; i++) points[i] = (PhxSplinePoint){(2 + 5 * i) * ONE, 24 * ONE, 0};
    for (uint32_t degree = 1; degree <= 5; degree++) {
        PhxSplineEvasion evasion;
        CHECK_OK(phx_spline_set(&f.spline, PHX_SPLINE_CLAMPED, degree, points, 12, NULL));
        copy_of(&f.spline, &before);
        const fix16_t u = phx_spline_end(&f.spline) / 2 + 777;
        CHECK_EQ(phx_spline_evade(&f.spline, u, phx_vec2(0, -4 * ONE), &ground, ONE, &evasion),
                 PHX_ERROR_STATE);
        CHECK(is_copy(&f.spline, &before));
        CHECK_EQ(phx_spline_evade(&f.spline, u, phx_vec2(0, INT32_MAX), NULL, ONE, &evasion),
                 PHX_ERROR_RANGE);
        CHECK_EQ(phx_spline_evade(&f.spline, 0, phx_vec2(0, ONE), NULL, ONE, &evasion), PHX_ERROR_RANGE);
        CHECK_EQ(phx_spline_evade(&f.spline, INT32_MAX, phx_vec2(0, ONE), NULL, ONE, &evasion),
                 PHX_ERROR_RANGE);
        CHECK_EQ(phx_spline_evade(&f.spline, INT32_MIN, phx_vec2(0, ONE), NULL, ONE, &evasion),
                 PHX_ERROR_RANGE);
        CHECK(is_copy(&f.spline, &before));
        CHECK_OK(phx_spline_evade(&f.spline, u, phx_vec2(0, -ONE), &ground, ONE, &evasion));
        for (uint32_t i = 0; i < 1000; i++) {
            const PhxSplinePoint p = at(&f.spline, (fix16_t)(phx_spline_end(&f.spline) / 1000 * (int)i));
            CHECK(p.y >= 22 * ONE);
        }
        PhxSplineEvasion other = evasion;
        other.u = phx_spline_end(&f.spline);
        CHECK_EQ(phx_spline_evade_end(&f.spline, &other), PHX_ERROR_NOT_FOUND);
        other = evasion, other.made[0].x++;
        CHECK_EQ(phx_spline_evade_end(&f.spline, &other), PHX_ERROR_NOT_FOUND);
        CHECK_OK(phx_spline_evade_end(&f.spline, &evasion));
        CHECK(is_copy(&f.spline, &before));
        CHECK_OK(phx_spline_set(&f.spline, PHX_SPLINE_PERIODIC, degree, points, 12, NULL));
        copy_of(&f.spline, &before);
        CHECK_EQ(phx_spline_evade(&f.spline, u, phx_vec2(0, ONE), NULL, ONE, &evasion), PHX_ERROR_STATE);
        CHECK(is_copy(&f.spline, &before));
    }
    phx_arena_destroy(&f.arena);
}

static PhxSplinePoint place_of(const PhxSplineLengths *l, const PhxSpline *s, int64_t length) {
    const PhxSplinePlace place = phx_spline_place(l, s, length);
    return phx_spline_point_in(s, place.piece, place.u);
}

/* The farthest that control points of the follower's piece move, and one insertion's rounding. */
PHX_TEST(spline_ways, followers_keep_their_place_through_edits) {
    Fixture f = fixture_make(23);
    const uint32_t sets = test_count(100, 2000, 40000);
    uint32_t touched = 0, still = 0;
    double besides = 0, turned = 0;
    for (uint32_t set = 0; set < sets; set++) {
        PhxSplinePoint points[POINTS];
        const uint32_t degree = 1 + set % 5, count = random_way(&f, degree, points);
        const PhxSplineKind kind = set % 7 ? PHX_SPLINE_CLAMPED : PHX_SPLINE_PERIODIC;
        CHECK_OK(phx_spline_set(&f.spline, kind, degree, points, count, NULL));
        phx_spline_measure(&f.lengths, &f.spline);
        const int64_t length = test_range(&f.seed, 0, phx_spline_length(&f.lengths));
        const PhxSplinePoint was = place_of(&f.lengths, &f.spline, length);
        const PhxSplinePlace place = phx_spline_place(&f.lengths, &f.spline, length);
        const int64_t again = phx_spline_length_at(&f.lengths, &f.spline, place);
        turned = fmax(turned, (double)llabs(again - length) / (1 << 24));
        const PhxSplineAnchor anchor = phx_spline_anchor(&f.lengths, &f.spline, length);
        double moved = 0;
        bool mine = false;
        if (set % 3 == 0) { /* a point moves */
            const uint32_t i = (uint32_t)test_range(&f.seed, 0, count - 1);
            PhxSplinePoint to = points[i];
            to.x += (fix16_t)test_range(&f.seed, -3 * ONE, 3 * ONE),
                to.y += (fix16_t)test_range(&f.seed, -3 * ONE, 3 * ONE);
            for (uint32_t k = place.piece - degree; k <= place.piece; k++) mine |= k % count == i;
            moved = mine ? hypot((double)to.x - points[i].x, (double)to.y - points[i].y) : 0;
            CHECK_OK(phx_spline_move(&f.spline, i, to));
        } else if (set % 3 == 1) { /* a knot is put in: the curve stays */
            mine = true;
            (void)!phx_spline_insert(&f.spline, (fix16_t)test_range(&f.seed, 0, phx_spline_end(&f.spline)));
        } else if (kind == PHX_SPLINE_CLAMPED) { /* an evasion */
            static Copy before;
            PhxSplineEvasion evasion;
            const PhxVec2 by = {0, (fix16_t)test_range(&f.seed, -3 * ONE, 3 * ONE)};
            copy_of(&f.spline, &before);
            if (phx_spline_evade(&f.spline, (fix16_t)test_range(&f.seed, 1, phx_spline_end(&f.spline) - 1),
                                 by, NULL, 0, &evasion) == PHX_OK) {
                const uint32_t knot = phx_spline_piece(&f.spline, evasion.u, 0);
                mine = place.piece + degree >= knot - 1 && place.piece <= knot + degree;
                moved = mine ? 2 * fabs((double)by.y) : 0;
            }
        }
        phx_spline_measure(&f.lengths, &f.spline);
        const int64_t now = phx_spline_anchor_find(&f.lengths, &f.spline, &anchor);
        const PhxSplinePoint is = place_of(&f.lengths, &f.spline, now);
        const double jump = hypot((double)is.x - was.x, (double)is.y - was.y);
        if (!mine)
            CHECK_THAT(jump == 0, "set %" PRIu32 ", degree %" PRIu32 ": jumps by %g raw units, untouched",
                       set, degree, jump);
        CHECK_THAT(jump <= moved + 256, "set %" PRIu32 ", degree %" PRIu32 ": jumps by %g of %g", set, degree,
                   jump, moved);
        besides = fmax(besides, jump - moved);
        touched += mine, still += !mine;
    }
    printf("a length, its place, its length again: at most %.6f units apart\n", turned);
    printf("edits: a follower jumps by what its points moved and at most %.1f raw units\n", besides);
    CHECK(turned < 0x1p-10 && touched > sets / 5 && still > sets / 5);
    phx_arena_destroy(&f.arena);
}

/* The least gap by many small steps in doubles. */
static double brute_gap(const Fixture *f, const PhxSplineWatch *w, const PhxSplineObstacle *o) {
    double least = 1e18;
    for (int k = 0; k <= 400; k++) {
        const double t = w->horizon / (double)ONE * k / 400;
        const PhxSplinePoint p = place_of(&f->base_lengths, &f->base, w->at + (int64_t)(t * w->speed * 256));
        least = fmin(least, hypot(o->at.x + t * o->velocity.x - p.x, o->at.y + t * o->velocity.y - p.y));
    }
    return least - w->radius - o->radius;
}

PHX_TEST(spline_ways, threats_are_those_of_brute_force) {
    Fixture f = fixture_make(29);
    const uint32_t sets = test_count(40, 400, 10000);
    uint32_t needed = 0, begun = 0, kept = 0;
    double worst = 0;
    for (uint32_t set = 0; set < sets; set++) {
        PhxSplinePoint points[POINTS];
        const uint32_t degree = 2 + set % 4, count = random_way(&f, degree, points);
        CHECK_OK(phx_spline_set(&f.base, PHX_SPLINE_CLAMPED, degree, points, count, NULL));
        phx_spline_measure(&f.base_lengths, &f.base);
        PhxSplineWatch w = {.at = test_range(&f.seed, 0, phx_spline_length(&f.base_lengths)),
                            .speed = (fix16_t)test_range(&f.seed, 0, 4 * ONE),
                            .radius = (fix16_t)test_range(&f.seed, 0, 2 * ONE),
                            .horizon = (fix16_t)test_range(&f.seed, 0, 5 * ONE),
                            .enter = ONE / 2,
                            .leave = ONE,
                            .most = 16 * ONE,
                            .side = (int32_t)test_range(&f.seed, -1, 1)};
        const PhxSplinePoint near = place_of(&f.base_lengths, &f.base, w.at);
        const PhxSplineObstacle o = {{near.x + (fix16_t)test_range(&f.seed, -9 * ONE, 9 * ONE),
                                      near.y + (fix16_t)test_range(&f.seed, -9 * ONE, 9 * ONE)},
                                     {(fix16_t)test_range(&f.seed, -3 * ONE, 3 * ONE),
                                      (fix16_t)test_range(&f.seed, -3 * ONE, 3 * ONE)},
                                     (fix16_t)test_range(&f.seed, ONE / 4, 2 * ONE)};
        const PhxSplineThreat threat = phx_spline_threat(&f.base_lengths, &f.base, &w, &o);
        const double gap = brute_gap(&f, &w, &o);
        worst = fmax(worst, fabs(threat.gap - gap) / ONE);
        CHECK_THAT(fabs(threat.gap - gap) < 0.1 * ONE, "set %" PRIu32 ": gap %g, not %g", set,
                   threat.gap / 65536.0, gap / ONE);
        CHECK_EQ(threat.needed, w.side ? threat.gap < w.leave : threat.gap < w.enter && !threat.later);
        CHECK(threat.needed ? threat.side == 1 || threat.side == -1
                            : threat.side == 0 && phx_vec2_is_zero(threat.by));
        if (threat.needed && w.side) CHECK_EQ(threat.side, w.side);
        needed += threat.needed;
        if (!threat.needed || w.side) continue;
        begun++;
        /* aside by so much, it passes by at the wanted distance, or would but for the limits */
        const double before = w.speed ? (double)(threat.at - w.at) / 256 / w.speed : 0, step = 1.0 / 64;
        double least = 1e18;
        for (double t = fmax(0, before - 1); t < before + 1; t += step) {
            const PhxSplinePoint p = place_of(&f.base_lengths, &f.base, w.at + (int64_t)(t * w.speed * 256));
            least = fmin(least, hypot(o.at.x + t * o.velocity.x - p.x - threat.by.x,
                                      o.at.y + t * o.velocity.y - p.y - threat.by.y));
        }
        kept += least >= 0.9 * ((double)w.radius + o.radius + w.leave);
    }
    printf("threats: %" PRIu32 " of %" PRIu32 ", gaps at most %.3f units from brute force; %" PRIu32
           " of %" PRIu32 " steps aside suffice\n",
           needed, sets, worst, kept, begun);
    CHECK(needed > sets / 10 && needed < sets && kept * 4 > begun * 3);
    phx_arena_destroy(&f.arena);
}

/* A group of radius 2 on its way meets what crosses it: it bends its way, comes back to it, and touches
 * nothing, with one beginning and one end of the evasion. */
static void walk(Fixture *f, PhxSplineObstacle o, bool evades, double *least, uint32_t *changes,
                 double *jump) {
    enum { RATE = 20 };
    PhxSplinePoint points[25];
    for (int i = 0; i < 25; i++) points[i] = (PhxSplinePoint){i * 8 * ONE, (i / 3 % 2) * ONE, 0};
    CHECK_OK(phx_spline_set(&f->base, PHX_SPLINE_CLAMPED, 3, points, 25, NULL));
    CHECK_OK(phx_spline_set(&f->spline, PHX_SPLINE_CLAMPED, 3, points, 25, NULL));
    phx_spline_measure(&f->base_lengths, &f->base), phx_spline_measure(&f->lengths, &f->spline);
    PhxSplineFollower follower = {0, false};
    PhxSplineWatch w = {.speed = 2 * ONE,
                        .radius = 2 * ONE,
                        .horizon = 10 * ONE,
                        .enter = ONE / 2,
                        .leave = ONE,
                        .most = 8 * ONE};
    PhxSplineEvasion evasion;
    PhxSplinePoint was = points[0];
    *least = 1e18, *changes = 0, *jump = 0;
    for (int tick = 0; tick < 90 * RATE; tick++) {
        const PhxSplinePlace place = phx_spline_place(&f->lengths, &f->spline, follower.at);
        const uint32_t piece = phx_spline_piece(&f->base, (fix16_t)(place.u / ONE), 0);
        w.at = phx_spline_length_at(&f->base_lengths, &f->base, (PhxSplinePlace){piece, place.u});
        const PhxSplineThreat threat = phx_spline_threat(&f->base_lengths, &f->base, &w, &o);
        if (evades && threat.needed != (w.side != 0)) {
            const PhxSplineAnchor anchor = phx_spline_anchor(&f->lengths, &f->spline, follower.at);
            fix16_t from, to;
            if (threat.needed) {
                const PhxSplineBend bend = {&threat, &w, &o, NULL, follower.at};
                CHECK_OK(phx_spline_evade_threat(&f->spline, &f->lengths, &bend, &evasion));
            }
            phx_spline_evade_support(&f->spline, &evasion, &from, &to);
            const bool inside = place.u > (int64_t)from * ONE && place.u < (int64_t)to * ONE;
            /* none begins or ends under the follower's feet */
            if (threat.needed == inside) {
                CHECK_OK(phx_spline_evade_end(&f->spline, &evasion));
                phx_spline_measure(&f->lengths, &f->spline);
            }
            if (!inside) {
                w.side = threat.side;
                follower.at = phx_spline_anchor_find(&f->lengths, &f->spline, &anchor);
                ++*changes;
            }
        }
        (void)phx_spline_follow(&f->lengths, PHX_SPLINE_ONCE, ((int64_t)2 << 24) / RATE, &follower);
        const PhxSplinePoint is = place_of(&f->lengths, &f->spline, follower.at);
        *jump = fmax(*jump, hypot((double)is.x - was.x, (double)is.y - was.y) / ONE);
        *least =
            fmin(*least, (hypot((double)is.x - o.at.x, (double)is.y - o.at.y) - w.radius - o.radius) / ONE);
        was = is;
        o.at.x += o.velocity.x / RATE, o.at.y += o.velocity.y / RATE;
    }
}

PHX_TEST(spline_ways, groups_evade_what_crosses_their_way) {
    Fixture f = fixture_make(31);
    static const PhxSplineObstacle obstacles[] = {
        {{80 * ONE, 40 * ONE}, {0, -ONE}, ONE}, /* crosses */
        {{80 * ONE, -39 * ONE}, {0, ONE}, ONE}, /* from the other side */
        {{90 * ONE, ONE / 2}, {0, 0}, 2 * ONE}, /* stands on it */
        {{150 * ONE, ONE}, {-ONE, 0}, ONE},     /* head-on */
    };
    for (size_t i = 0; i < sizeof obstacles / sizeof obstacles[0]; i++) {
        double without, with, jump;
        uint32_t changes;
        walk(&f, obstacles[i], false, &without, &changes, &jump);
        walk(&f, obstacles[i], true, &with, &changes, &jump);
        printf("obstacle %zu: gap %.2f without an evasion, %.2f with, %" PRIu32
               " changes, steps of at most %.3f units\n",
               i, without, with, changes, jump);
        CHECK(without < 0 && with > 0 && changes == 2 && jump < 0.1005);
    }
    phx_arena_destroy(&f.arena);
}

PHX_TEST(spline_ways, followers_begin_where_their_seed_says) {
    Fixture f = fixture_make(37);
    PhxSplinePoint points[POINTS];
    const uint32_t count = random_way(&f, 3, points);
    CHECK_OK(phx_spline_set(&f.spline, PHX_SPLINE_CLAMPED, 3, points, count, NULL));
    phx_spline_measure(&f.lengths, &f.spline);
    const int64_t length = phx_spline_length(&f.lengths);
    uint32_t tenth[10] = {0}, back = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        const PhxSplineFollower a = phx_spline_start(&f.lengths, PHX_SPLINE_PING_PONG, 4711, i),
                                b = phx_spline_start(&f.lengths, PHX_SPLINE_ONCE, 4711, i);
        CHECK(a.at == b.at && !b.backwards && a.at >= 0 && a.at < length);
        tenth[a.at * 10 / length]++;
        back += a.backwards;
    }
    for (int i = 0; i < 10; i++) CHECK_THAT(abs((int)tenth[i] - 1000) < 150, "%d: %" PRIu32, i, tenth[i]);
    CHECK(back > 4700 && back < 5300);
    CHECK(phx_spline_start(&f.lengths, PHX_SPLINE_LOOP, 1, 2).at !=
          phx_spline_start(&f.lengths, PHX_SPLINE_LOOP, 2, 2).at);
    for (uint32_t n = 1; n < 300; n = n * 3 / 2 + 1)
        for (fix16_t scatter = -ONE; scatter <= 2 * ONE; scatter += ONE / 4) {
            const double part = fmin(1, fmax(0, scatter / (double)ONE)), slot = (double)length / n;
            for (uint32_t i = 0; i < n; i++) {
                const double is =
                    (double)phx_spline_start_spaced(&f.lengths, PHX_SPLINE_LOOP, 5, i, n, scatter).at;
                CHECK(is >= (slot - 1) * i - 1 && is <= slot * (i + part) + 1 && is < (double)length);
            }
        }
    CHECK(phx_spline_start_spaced(&f.lengths, PHX_SPLINE_LOOP, 5, 3, 0, ONE).at == 0);
    phx_arena_destroy(&f.arena);
}

/* Where a follower is and what it meets, unfolded: counted along an endless line. */
PHX_TEST(spline_ways, followers_meet_the_ends_that_lie_on_their_way) {
    Fixture f = fixture_make(41);
    const PhxSplinePoint line[2] = {{0, 0, 0}, {10 * ONE, 0, 0}};
    CHECK_OK(phx_spline_set(&f.spline, PHX_SPLINE_CLAMPED, 1, line, 2, NULL));
    phx_spline_measure(&f.lengths, &f.spline);
    const int64_t length = phx_spline_length(&f.lengths);
    for (uint32_t set = 0; set < 200000; set++) {
        const PhxSplineMode mode = (PhxSplineMode)(set % 3);
        PhxSplineFollower a = {test_range(&f.seed, 0, mode == PHX_SPLINE_LOOP ? length - 1 : length), false};
        if (mode == PHX_SPLINE_PING_PONG) a.backwards = a.at > 0 && test_range(&f.seed, 0, 1);
        if (mode == PHX_SPLINE_PING_PONG && a.at == length) a.backwards = true;
        if (set % 11 == 0) a.at = 0, a.backwards = false;
        const int64_t way = set % 5 == 0   ? length * test_range(&f.seed, 0, 3)
                            : set % 7 == 0 ? length - a.at
                                           : test_range(&f.seed, 0, 4 * length);
        const int64_t turn = mode == PHX_SPLINE_PING_PONG ? 2 * length : length;
        const int64_t from = a.backwards ? turn - a.at : a.at, to = from + way;
        uint32_t want = 0;
        if (mode == PHX_SPLINE_ONCE) {
            if (to >= length) want = PHX_SPLINE_DONE | (from < length ? PHX_SPLINE_AT_END : 0);
        } else {
            /* ends lie at length + k * turn, beginnings at k * turn; those in (from, to] are met */
            const int64_t ends = (to + turn - length) / turn - (from + turn - length) / turn,
                          begins = to / turn - from / turn;
            want = (ends > 0 ? PHX_SPLINE_AT_END : 0u) | (begins > 0 ? PHX_SPLINE_AT_BEGIN : 0u);
        }
        const PhxSplineFollower was = a;
        const uint32_t is = phx_spline_follow(&f.lengths, mode, way, &a);
        CHECK_THAT(is == want,
                   "mode %d, from %" PRId64 "%s by %" PRId64 " of %" PRId64 ": events %" PRIu32
                   ", not %" PRIu32,
                   mode, was.at, was.backwards ? " back" : "", way, length, is, want);
        const int64_t rest = to % turn;
        const int64_t place = mode == PHX_SPLINE_ONCE ? (to < length ? to : length)
                              : rest <= length        ? rest
                                                      : turn - rest;
        CHECK_THAT(a.at == place, "mode %d, from %" PRId64 " by %" PRId64, mode, was.at, way);
    }
    phx_arena_destroy(&f.arena);
}

PHX_TEST(spline_ways, detail_follows_numbers_alone) {
    PhxSplineDetail was = phx_spline_detail(0);
    CHECK(was.degree == 3 && was.spacing == ONE);
    for (uint32_t units = 1; units < 10000; units++) {
        const PhxSplineDetail is = phx_spline_detail(units);
        CHECK(is.degree <= was.degree && is.spacing >= was.spacing && is.degree >= 1);
        CHECK((is.spacing != was.spacing) == (units == 65 || units == 513 || units == 4097));
        was = is;
    }
    CHECK(phx_spline_detail(UINT32_MAX).spacing == 8 * ONE);
    uint64_t seed = 43;
    for (int i = 0; i < 10000; i++) {
        const fix16_t spacing = (fix16_t)test_range(&seed, 1, 8 * ONE);
        const int64_t length = test_range(&seed, 0, (int64_t)spacing * 256 * 1000);
        const uint32_t samples = phx_spline_samples(length, spacing);
        CHECK(samples >= 2 && (double)length / (samples - 1) <= spacing * 256.0);
        CHECK(samples == 2 || (double)length / (samples - 2) > spacing * 256.0);
    }
    CHECK(phx_spline_samples(INT64_MAX / 4, 1) == PHX_SPLINE_POINTS_MAX && phx_spline_samples(5, 0) == 2);
}
