/* spline_way.c: a way that bends by itself (phalanx/spline_way.h): followers never jump, walls are kept, a
 * state that was saved makes the same bits again, and when all is past the way is what it was.
 */
#include <math.h>
#include <phalanx/spline_walls.h>
#include <phalanx/spline_way.h>

#include "base/arena.h"
#include "harness.h"

enum { CAPACITY = 128, ONE = 65536, SIDE = 100, RATE = 20, MOVERS = 8 };

typedef struct Fixture {
    PhxArena arena;
    PhxSplineWay way, again;
    PhxSplineWayState state;
    uint8_t pieces[CAPACITY + 5], cost[SIDE * SIDE];
    PhxNavGrid grid;
    PhxSplineMover movers[MOVERS];
    uint64_t seed;
} Fixture;

static Fixture *fixture_make(uint64_t seed) {
    static Fixture f;
    memset(&f, 0, sizeof f);
    f.arena = phx_arena_measure();
    for (int pass = 0; pass < 2; pass++) {
        phx_spline_way_layout(&f.way, &f.arena, CAPACITY, PHX_SPLINE_DEGREE_MAX);
        phx_spline_way_layout(&f.again, &f.arena, CAPACITY, PHX_SPLINE_DEGREE_MAX);
        if (pass == 0) CHECK_OK(phx_arena_create(&f.arena, phx_allocator_default(), f.arena.used));
    }
    memset(f.cost, 1, sizeof f.cost);
    f.grid = (PhxNavGrid){SIDE, SIDE, f.cost};
    f.seed = seed;
    return &f;
}

static bool same_spline(const PhxSpline *a, const PhxSpline *b) {
    return a->count == b->count && a->degree == b->degree &&
           memcmp(a->point, b->point, a->count * sizeof *a->point) == 0 &&
           memcmp(a->knot, b->knot, (a->count + a->degree + 1) * sizeof *a->knot) == 0;
}

static bool same_lengths(const PhxSplineLengths *a, const PhxSplineLengths *b) {
    return a->pieces == b->pieces &&
           memcmp(a->at, b->at, sizeof *a->at * (a->pieces * PHX_SPLINE_STRETCHES + 1)) == 0;
}

static void set_way(Fixture *f, uint32_t degree) {
    const PhxVec2 w[4] = {
        {5 * ONE, 50 * ONE}, {45 * ONE, 50 * ONE}, {60 * ONE, 40 * ONE}, {95 * ONE, 40 * ONE}};
    const PhxSplinePathSpec spec = {w, 4, degree, ONE, 8 * ONE, 7 * ONE, {phx_spline_walls_clear, &f->grid}};
    CHECK_OK(phx_spline_way_set(&f->way, &spec, f->pieces));
    CHECK_OK(phx_spline_way_set(&f->again, &spec, f->pieces));
    CHECK(same_spline(&f->way.base, &f->way.bent));
    memset(&f->state, 0, sizeof f->state);
}

static void random_movers(Fixture *f) {
    for (uint32_t i = 0; i < MOVERS; i++) {
        f->movers[i].id = i + 1;
        f->movers[i].body.at.x = (fix16_t)test_range(&f->seed, 20 * ONE, 90 * ONE);
        f->movers[i].body.at.y = (fix16_t)test_range(&f->seed, 20 * ONE, 70 * ONE);
        f->movers[i].body.velocity.x = (fix16_t)test_range(&f->seed, -ONE, ONE);
        f->movers[i].body.velocity.y = (fix16_t)test_range(&f->seed, -ONE, ONE);
        f->movers[i].body.radius = (fix16_t)test_range(&f->seed, ONE / 4, ONE);
    }
}

static const PhxSplineWatch watch = {
    .speed = 2 * ONE, .radius = ONE, .horizon = 8 * ONE, .enter = ONE / 2, .leave = ONE, .most = 6 * ONE};

/* One tick, with a watch in every fifth; what must hold in each. Returns whether the follower stands at the
 * end. */
static bool tick(Fixture *f, int t, uint32_t count, const PhxSplineGround *ground, uint32_t *changes) {
    const PhxSplinePoint before = phx_spline_way_sample(&f->way, &f->state).point;
    const uint32_t now =
        t % 5 ? 0 : phx_spline_way_watch(&f->way, &f->state, &watch, f->movers, count, ground);
    const PhxSplinePoint after = phx_spline_way_sample(&f->way, &f->state).point;
    CHECK_THAT(abs(after.x - before.x) <= 256 && abs(after.y - before.y) <= 256, "%d,%d to %d,%d", before.x,
               before.y, after.x, after.y);
    if (now > 0) { /* what is derived is a pure function of what is state */
        CHECK_OK(phx_spline_way_restore(&f->again, &f->state));
        CHECK(same_spline(&f->way.bent, &f->again.bent) &&
              same_lengths(&f->way.bent_lengths, &f->again.bent_lengths));
    }
    *changes += now;
    const bool done = phx_spline_way_walk(&f->way, &f->state, ((int64_t)2 << 24) / RATE);
    const PhxSplinePoint on = phx_spline_way_sample(&f->way, &f->state).point;
    CHECK(hypot((double)on.x - after.x, (double)on.y - after.y) <= 2.01 * ONE / RATE);
    if (ground && ground->clear)
        CHECK(phx_spline_walls_clear(&f->grid, phx_vec2(on.x, on.y), phx_vec2(on.x, on.y), ONE - 4));
    for (uint32_t i = 0; i < count; i++) {
        PhxSplineObstacle *body = &f->movers[i].body;
        body->at.x += body->velocity.x / RATE, body->at.y += body->velocity.y / RATE;
    }
    return done;
}

static double gap_of(const Fixture *f, uint32_t count) {
    const PhxSplinePoint p = phx_spline_way_sample(&f->way, &f->state).point;
    double least = 1e18;
    for (uint32_t i = 0; i < count; i++) {
        const PhxSplineObstacle *body = &f->movers[i].body;
        least = fmin(least, hypot((double)p.x - body->at.x, (double)p.y - body->at.y) - ONE - body->radius);
    }
    return least / ONE;
}

PHX_TEST(spline_way, followers_never_jump_and_ways_come_back) {
    Fixture *f = fixture_make(3);
    const uint32_t sets = test_count(4, 20, 400);
    uint32_t changes = 0, bent = 0;
    const PhxSplineGround ground = {phx_spline_walls_clear, &f->grid};
    for (uint32_t set = 0; set < sets; set++) {
        memset(f->cost, 1, sizeof f->cost);
        for (int i = 0; i < SIDE && set % 2; i++) /* a wall on one side of the first leg */
            f->cost[46 * SIDE + i] = i < 40 ? PHX_NAV_IMPASSABLE : 1;
        set_way(f, 2 + set % 4);
        random_movers(f);
        for (int t = 0; t < 60 * RATE; t++) {
            if (tick(f, t, MOVERS, &ground, &changes)) break;
            bent += f->state.count;
        }
        /* all go; what the follower stands in ends when it may */
        for (int t = 0; t < 3; t++) (void)phx_spline_way_watch(&f->way, &f->state, &watch, NULL, 0, NULL);
        f->state.at = phx_spline_length(&f->way.bent_lengths);
        for (int t = 0; t < 4; t++) (void)phx_spline_way_watch(&f->way, &f->state, &watch, NULL, 0, NULL);
        CHECK_THAT(f->state.count == 0 && same_spline(&f->way.base, &f->way.bent),
                   "set %" PRIu32 ": %" PRIu32 " bends are left", set, f->state.count);
    }
    printf("%" PRIu32 " sets: %" PRIu32 " evasions began or ended, %.2f at once\n", sets, changes,
           bent / (sets * 50.0 * RATE));
    CHECK(changes > sets);
    phx_arena_destroy(&f->arena);
}

/* One mover that crosses the way at a random place and time: with and without evading it. */
PHX_TEST(spline_way, what_crosses_the_way_is_evaded) {
    Fixture *f = fixture_make(5);
    const uint32_t sets = test_count(10, 100, 2000);
    uint32_t hits = 0, kept = 0, worst_changes = 0;
    for (uint32_t set = 0; set < sets; set++) {
        double least[2] = {1e18, 1e18};
        PhxSplineMover mover = {.id = 7};
        const double angle = (double)test_range(&f->seed, 0, 6283) / 1000,
                     speed = (double)test_range(&f->seed, 0, 1200) / 1000;
        const double seconds = (double)test_range(&f->seed, 12000, 40000) / 1000;
        set_way(f, 3);
        f->state.at = (int64_t)(2 * seconds * (1 << 24));
        const PhxSplinePoint meet = phx_spline_way_sample(&f->way, &f->state).point;
        mover.body.radius = ONE;
        mover.body.velocity =
            phx_vec2((fix16_t)(speed * cos(angle) * ONE), (fix16_t)(speed * sin(angle) * ONE));
        mover.body.at = phx_vec2(meet.x - (fix16_t)(mover.body.velocity.x * seconds),
                                 meet.y - (fix16_t)(mover.body.velocity.y * seconds));
        for (int evades = 0; evades <= 1; evades++) {
            uint32_t changes = 0;
            set_way(f, 3);
            f->movers[0] = mover;
            bool done = false;
            for (int t = 0; t < 60 * RATE && !done; t++) {
                least[evades] = fmin(least[evades], gap_of(f, 1));
                PhxSplineMover *m = &f->movers[0];
                if (evades) {
                    done = tick(f, t, 1, NULL, &changes);
                } else {
                    done = phx_spline_way_walk(&f->way, &f->state, ((int64_t)2 << 24) / RATE);
                    m->body.at.x += m->body.velocity.x / RATE, m->body.at.y += m->body.velocity.y / RATE;
                }
            }
            if (changes > worst_changes) worst_changes = changes;
        }
        hits += least[0] < 0, kept += least[0] < 0 && least[1] >= 0;
    }
    printf("%" PRIu32 " movers on a way: %" PRIu32 " would be hit, %" PRIu32
           " of them are evaded; at most %" PRIu32 " changes for one\n",
           sets, hits, kept, worst_changes);
    CHECK(hits > sets * 9 / 10 && kept * 100 >= hits * 90 && worst_changes <= 4 * PHX_SPLINE_WAY_BENDS);
    phx_arena_destroy(&f->arena);
}

PHX_TEST(spline_way, records_of_other_ways_are_refused) {
    Fixture *f = fixture_make(7);
    uint32_t changes = 0;
    set_way(f, 3);
    f->movers[0] = (PhxSplineMover){1, {{30 * ONE, 50 * ONE}, {0, 0}, ONE}};
    for (int t = 0; f->state.count == 0; t++) CHECK(!tick(f, t, 1, NULL, &changes));
    const PhxSplineWayState good = f->state;
    CHECK_OK(phx_spline_way_restore(&f->again, &good));
    for (int i = 0; i < 10; i++) {
        PhxSplineWayState bad = good;
        PhxSplineEvasion *e = &bad.bend[0].evasion;
        if (i == 0) e->u++;
        if (i == 1) e->degree = 2;
        if (i == 2) e->point = 3;
        if (i == 3) e->was[0].x++;
        if (i == 4) e->made[(e->point + 1) % 3].y++;
        if (i == 5) e->made[e->point].x = INT32_MAX;
        if (i == 6) e->u = INT32_MIN;
        if (i == 9) e->knot[6]++;
        if (i == 7) bad.count = PHX_SPLINE_WAY_BENDS + 1;
        if (i == 8) bad.at = INT64_MAX;
        const PhxStatus status = phx_spline_way_restore(&f->again, &bad);
        CHECK_THAT(status == (i < 7 || i > 8 ? PHX_ERROR_MISMATCH : PHX_ERROR_RANGE), "%d: %d", i, status);
        CHECK(same_spline(&f->again.base, &f->again.bent));
    }
    const PhxVec2 w[2] = {{0, 0}, {0, 0}};
    const PhxSplinePathSpec spec = {w, 2, 3, ONE, ONE, 0, {NULL, NULL}};
    CHECK_EQ(phx_spline_way_set(&f->way, &spec, f->pieces), PHX_ERROR_RANGE);
    CHECK_OK(phx_spline_way_restore(&f->way, &good));
    phx_arena_destroy(&f->arena);
}
