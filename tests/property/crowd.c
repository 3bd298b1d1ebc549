/* crowd.c: bending a crowd's ways (phalanx/crowd.h) is the same for every split and turn, leaves alone what
 * needs no bending, changes ways gently, and stays within its bounds at the limits of the world (run it under
 * UBSan).
 */
#include <math.h>
#include <phalanx/crowd.h>

#include "base/arena.h"
#include "harness.h"

enum {
    ONE = 1 << 16,
    EDGE = 8192 * ONE,
    UNITS = 3000,
    CLASSES = 4,
    RETURN = 29, /* 64ths of its speed by which a unit's speed across its way changes in a second */
    SIDE = 128   /* units: what is turned; a multiple of every cell that a crowd there can have */
};

typedef struct Units {
    uint32_t count;
    fix16_t x[UNITS], y[UNITS], vel_x[UNITS], vel_y[UNITS], goal_x[UNITS], goal_y[UNITS], pref_x[UNITS],
        pref_y[UNITS], out_x[UNITS], out_y[UNITS], sway[UNITS];
    uint16_t class_of[UNITS];
    uint8_t leave[UNITS], bend[UNITS];
} Units;

typedef struct Fixture {
    PhxArena arena;
    PhxSpatial spatial;
    PhxCrowdWork work;
} Fixture;

static Fixture fixture_make(void) {
    Fixture f = {.arena = phx_arena_measure()};
    phx_spatial_layout(&f.spatial, &f.arena, UNITS);
    phx_crowd_layout(&f.work, &f.arena, UNITS);
    const size_t size = f.arena.used;
    CHECK_OK(phx_arena_create(&f.arena, phx_allocator_default(), size));
    phx_spatial_layout(&f.spatial, &f.arena, UNITS);
    phx_crowd_layout(&f.work, &f.arena, UNITS);
    return f;
}

static PhxCrowdScene scene_of(Fixture *f, Units *u, const PhxOrcaClass *classes, uint32_t class_count) {
    return (PhxCrowdScene){.spatial = &f->spatial,
                           .classes = classes,
                           .class_of = u->class_of,
                           .class_count = class_count,
                           .tick_rate = 20,
                           .vel_x = u->vel_x,
                           .vel_y = u->vel_y,
                           .goal_x = u->goal_x,
                           .goal_y = u->goal_y,
                           .pref_x = u->pref_x,
                           .pref_y = u->pref_y,
                           .bend = u->bend,
                           .sway = u->sway,
                           .work = &f->work};
}

static void bend(PhxCrowdScene *scene, Fixture *f, const Units *u, const PhxJobs *jobs) {
    const PhxJobs serial = phx_jobs_serial();
    phx_spatial_build(&f->spatial, &serial, u->x, u->y, NULL, u->count, 5 * ONE);
    phx_crowd_bend(scene, jobs);
}

static fix16_t random_in(uint64_t *seed, fix16_t low, fix16_t high) {
    return (fix16_t)test_range(seed, low, high);
}

static void random_velocity(uint64_t *seed, fix16_t speed, fix16_t *x, fix16_t *y) {
    const fix16_t vx = random_in(seed, -speed, speed), vy = random_in(seed, -speed, speed);
    const PhxVec2 v = phx_vec2_clamp_length(phx_vec2(vx, vy), speed);
    *x = v.x, *y = v.y;
}

static uint32_t common_divisor(uint32_t a, uint32_t b) { return b ? common_divisor(b, a % b) : a; }

/* Runs the ranges of a loop in a shuffled order and in other sizes than asked for. */
static void shuffled_for(void *user, uint32_t count, uint32_t grain, PhxRangeFn fn, void *context) {
    uint64_t *seed = user;
    const uint32_t piece = (uint32_t)test_range(seed, 1, grain), pieces = (count + piece - 1) / piece;
    uint32_t step = (uint32_t)test_range(seed, 1, pieces);
    while (common_divisor(step, pieces) != 1) step--;
    for (uint32_t i = 0, at = step % pieces; i < pieces; i++, at = (at + step) % pieces) {
        const uint32_t begin = at * piece;
        fn(context, begin, count - begin > piece ? begin + piece : count, 0);
    }
}

/* Two crowds that walk into each other, with some who go across and some who stand. */
static void make_flows(uint64_t *seed, Units *u, const PhxOrcaClass *class) {
    u->count = UNITS - (uint32_t)test_range(seed, 0, 300);
    for (uint32_t i = 0; i < u->count; i++) {
        const int64_t kind = test_range(seed, 0, 19);
        const fix16_t speed = random_in(seed, class->max_speed / 2, class->max_speed);
        const fix16_t side = i % 2 ? ONE : -ONE;
        u->x[i] = (side == ONE ? 4 : -44) * ONE + random_in(seed, 0, 40 * ONE);
        u->y[i] = random_in(seed, -25 * ONE, 25 * ONE);
        u->goal_x[i] = -60 * side, u->goal_y[i] = u->y[i];
        u->pref_x[i] = kind ? side == ONE ? -speed : speed : 0;
        u->pref_y[i] = kind == 1 ? speed / 2 : 0;
        u->vel_x[i] = u->pref_x[i], u->vel_y[i] = u->pref_y[i];
        u->class_of[i] = 0, u->leave[i] = kind == 2, u->bend[i] = 0, u->sway[i] = 0;
    }
}

/* A tick of a crowd whose avoidance gives a little to the sides. */
static void play_tick(PhxCrowdScene *scene, Fixture *f, Units *u, const PhxJobs *jobs) {
    static fix16_t wish_x[UNITS], wish_y[UNITS];
    memcpy(wish_x, u->pref_x, sizeof wish_x), memcpy(wish_y, u->pref_y, sizeof wish_y);
    bend(scene, f, u, jobs);
    for (uint32_t i = 0; i < u->count; i++) {
        const int32_t give = (int32_t)((i * 7 + scene->tick) % 5) - 2;
        u->out_x[i] = u->pref_x[i] - u->pref_y[i] / 16 * give;
        u->out_y[i] = u->pref_y[i] + u->pref_x[i] / 16 * give;
    }
    phx_crowd_note(scene, u->out_x, u->out_y, jobs);
    for (uint32_t i = 0; i < u->count; i++) {
        u->x[i] += u->out_x[i] / 20, u->y[i] += u->out_y[i] / 20;
        u->vel_x[i] = u->out_x[i], u->vel_y[i] = u->out_y[i];
    }
    memcpy(u->pref_x, wish_x, sizeof wish_x), memcpy(u->pref_y, wish_y, sizeof wish_y);
    scene->tick++;
}

/* Any number of threads, any order and any size of ranges; and streams part to the right. */
PHX_TEST(crowd, equal_bits_for_any_split) {
    static Units reference, other;
    const PhxOrcaClass class = {.radius = ONE / 2, .max_speed = 2 * ONE};
    const uint32_t threads[] = {1, 2, 3, 8};
    PhxJobs jobs[6];
    uint64_t order = 5;
    for (int t = 0; t < 4; t++) CHECK_OK(phx_jobs_threads_create(threads[t], &jobs[t]));
    jobs[4] = jobs[5] = (PhxJobs){.parallel_for = shuffled_for, .workers = 1, .user = &order};
    const PhxJobs serial = phx_jobs_serial();
    Fixture f = fixture_make(), g = fixture_make();
    uint32_t right = 0, left = 0;
    for (uint32_t set = 0; set < test_count(1, 4, 40); set++) {
        for (int way = 0; way < 6; way++) {
            uint64_t seed = 100 + set;
            make_flows(&seed, &reference, &class);
            other = reference;
            PhxCrowdScene one = scene_of(&f, &reference, &class, 1), two = scene_of(&g, &other, &class, 1);
            one.leave = reference.leave, two.leave = other.leave;
            for (int tick = 0; tick < 60; tick++) {
                play_tick(&one, &f, &reference, &serial);
                play_tick(&two, &g, &other, &jobs[way]);
                CHECK_THAT(memcmp(&reference, &other, sizeof reference) == 0,
                           "set %" PRIu32 " jobs %d tick %d", set, way, tick);
            }
        }
        for (uint32_t i = 0; i < reference.count; i++) {
            right += reference.bend[i] == 1 || reference.bend[i] >= 3;
            left += reference.bend[i] == 2;
            CHECK(!reference.leave[i] || reference.bend[i] == 0);
        }
    }
    printf("%u go to the right of their way, %u to the left\n", right, left);
    CHECK(right > UNITS / 4 && right > 2 * left);
    for (int t = 0; t < 4; t++) phx_jobs_threads_destroy(&jobs[t]);
    phx_arena_destroy(&f.arena);
    phx_arena_destroy(&g.arena);
}

/* Nothing comes against them: one alone, and many that go the same way at speeds of their own. */
PHX_TEST(crowd, leaves_alone_who_meets_nobody) {
    static Units u, was;
    Fixture f = fixture_make();
    const PhxJobs serial = phx_jobs_serial();
    for (uint32_t round = 0; round < test_count(100, 500, 5000); round++) {
        uint64_t seed = 900 + round;
        const PhxOrcaClass class = {.radius = random_in(&seed, ONE / 16, 4 * ONE), .max_speed = 4 * ONE};
        const int32_t span = 100 * class.radius, dx = (int32_t)test_range(&seed, -255, 255),
                      dy = (int32_t)test_range(&seed, -255, 255);
        u.count = round % 3 ? (uint32_t)test_range(&seed, 2, 600) : 1;
        for (uint32_t i = 0; i < u.count; i++) {
            const int32_t speed = (int32_t)test_range(&seed, 200, 700);
            u.x[i] = random_in(&seed, -span, span), u.y[i] = random_in(&seed, -span, span);
            u.pref_x[i] = u.vel_x[i] = u.out_x[i] = dx * speed;
            u.pref_y[i] = u.vel_y[i] = u.out_y[i] = dy * speed;
            u.class_of[i] = 0, u.bend[i] = 0, u.sway[i] = 0;
        }
        was = u;
        PhxCrowdScene scene = scene_of(&f, &u, &class, 1);
        scene.goal_x = scene.goal_y = NULL;
        scene.tick_rate = (uint32_t)test_range(&seed, 1, 1000);
        for (scene.tick = 0; scene.tick < 4; scene.tick++) {
            bend(&scene, &f, &u, &serial);
            phx_crowd_note(&scene, u.out_x, u.out_y, &serial);
            CHECK_THAT(memcmp(&u, &was, sizeof u) == 0, "round %" PRIu32 " tick %" PRIu32, round, scene.tick);
        }
    }
    phx_arena_destroy(&f.arena);
}

/* Units turned by a quarter, +x to +y, within the square from 0 to the last raw unit before SIDE. */
static void turn_units(Units *u) {
    const fix16_t last = SIDE * ONE - 1;
    for (uint32_t i = 0; i < u->count; i++) {
        fix16_t *const place[2][2] = {{u->x + i, u->y + i}, {u->goal_x + i, u->goal_y + i}};
        fix16_t *const vector[3][2] = {
            {u->vel_x + i, u->vel_y + i}, {u->pref_x + i, u->pref_y + i}, {u->out_x + i, u->out_y + i}};
        for (int k = 0; k < 2; k++) {
            const fix16_t x = *place[k][0];
            *place[k][0] = last - *place[k][1], *place[k][1] = x;
        }
        for (int k = 0; k < 3; k++) {
            const fix16_t x = *vector[k][0];
            *vector[k][0] = -*vector[k][1], *vector[k][1] = x;
        }
    }
}

static void turn_ground(uint8_t *cost) {
    static uint8_t old[SIDE * SIDE];
    memcpy(old, cost, sizeof old);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) cost[x * SIDE + SIDE - 1 - y] = old[y * SIDE + x];
}

static void make_square(uint64_t *seed, Units *u, const PhxOrcaClass *classes, uint8_t *cost) {
    const fix16_t last = SIDE * ONE - 1, low = random_in(seed, 0, last / 2),
                  high = low + random_in(seed, 2 * ONE, last / 2); /* a crowd in a part of it, dense or not */
    u->count = (uint32_t)test_range(seed, 3, 400);
    for (uint32_t i = 0; i < u->count; i++) {
        const uint16_t class = (uint16_t)test_range(seed, 0, CLASSES - 1);
        const fix16_t speed = classes[class].max_speed;
        u->class_of[i] = class;
        u->x[i] = i == 0 ? 0 : i == 1 ? last : random_in(seed, low, high); /* the first two span the square */
        u->y[i] = i == 0 ? 0 : i == 1 ? last : random_in(seed, low, high);
        u->goal_x[i] = random_in(seed, 0, last), u->goal_y[i] = random_in(seed, 0, last);
        random_velocity(seed, speed, &u->pref_x[i], &u->pref_y[i]);
        random_velocity(seed, speed, &u->vel_x[i], &u->vel_y[i]);
        random_velocity(seed, speed, &u->out_x[i], &u->out_y[i]);
        u->bend[i] = (uint8_t)test_range(seed, 0, PHX_CROWD_WAYS - 1);
        u->sway[i] = random_in(seed, -speed, speed);
    }
    const int64_t percent = test_range(seed, 0, 20);
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        cost[i] = test_range(seed, 0, 99) < percent ? PHX_NAV_IMPASSABLE : 1;
}

/* Cells begin at the crowd's lowest corner, so a scene whose sides aren't whole cells has other cells when it
 * is turned; here they are. */
PHX_TEST(crowd, turns_with_its_scene_by_quarters) {
    static Units begun, u, turned;
    static uint8_t cost[SIDE * SIDE];
    Fixture f = fixture_make();
    const PhxJobs serial = phx_jobs_serial();
    uint32_t ways[PHX_CROWD_WAYS] = {0};
    for (uint32_t round = 0; round < test_count(60, 500, 10000); round++) {
        uint64_t seed = 7000 + round;
        PhxOrcaClass classes[CLASSES];
        for (int i = 0; i < CLASSES; i++)
            classes[i] = (PhxOrcaClass){.radius = random_in(&seed, ONE / 8, round % 2 ? ONE : 5 * ONE),
                                        .max_speed = random_in(&seed, ONE, 8 * ONE)};
        make_square(&seed, &begun, classes, cost);
        const PhxNavGrid grid = {.width = SIDE, .height = SIDE, .cost = cost};
        PhxCrowdScene scene = scene_of(&f, &u, classes, CLASSES);
        scene.tick_rate = (uint32_t)test_range(&seed, 1, 60), scene.tick = (uint32_t)test_range(&seed, 0, 99);
        if (test_range(&seed, 0, 1)) scene.solid = &grid;
        if (test_range(&seed, 0, 1)) scene.goal_x = scene.goal_y = NULL;
        for (int quarter = 0; quarter < 4; quarter++) {
            if (quarter) turn_units(&begun), turn_units(&turned), turn_ground(cost);
            u = begun;
            bend(&scene, &f, &u, &serial);
            phx_crowd_note(&scene, u.out_x, u.out_y, &serial);
            if (quarter == 0) turned = u;
            CHECK_THAT(memcmp(&turned, &u, sizeof u) == 0, "round %" PRIu32 " quarter %d", round, quarter);
        }
        for (uint32_t i = 0; i < u.count; i++) ways[u.bend[i]]++;
    }
    for (int k = 0; k < PHX_CROWD_WAYS; k++) CHECK_THAT(ways[k] > 1000, "way %d: %" PRIu32, k, ways[k]);
    phx_arena_destroy(&f.arena);
}

/* One of the ends, a little beside, or anything between. */
static fix16_t pick(uint64_t *seed, fix16_t low, fix16_t high) {
    switch (test_range(seed, 0, 4)) {
    case 0:
        return low;
    case 1:
        return high;
    default:
        return random_in(seed, low, high);
    }
}

static void make_limits(uint64_t *seed, Units *u, const PhxOrcaClass *classes, bool wild) {
    const uint32_t most = test_range(seed, 0, 9) ? 200 : UNITS;
    const fix16_t spread = pick(seed, 0, 2 * EDGE), low_x = pick(seed, -EDGE, EDGE - spread),
                  low_y = pick(seed, -EDGE, EDGE - spread);
    const PhxVec2 stream = {pick(seed, -64 * ONE, 64 * ONE), pick(seed, -64 * ONE, 64 * ONE)};
    u->count = test_range(seed, 0, 9) ? (uint32_t)test_range(seed, 1, most) : 1;
    for (uint32_t i = 0; i < u->count; i++) {
        const uint16_t class = (uint16_t)test_range(seed, 0, CLASSES - 1);
        const fix16_t speed = classes[class].max_speed;
        const PhxVec2 wish = phx_vec2_clamp_length(stream, speed);
        u->class_of[i] = class;
        u->x[i] = pick(seed, low_x, low_x + spread), u->y[i] = pick(seed, low_y, low_y + spread);
        u->goal_x[i] = pick(seed, -EDGE, EDGE), u->goal_y[i] = pick(seed, -EDGE, EDGE);
        random_velocity(seed, speed, &u->pref_x[i], &u->pref_y[i]);
        random_velocity(seed, 64 * ONE, &u->vel_x[i], &u->vel_y[i]);
        random_velocity(seed, 64 * ONE, &u->out_x[i], &u->out_y[i]);
        if (i % 3) u->pref_x[i] = i % 3 == 1 ? wish.x : -wish.x, u->pref_y[i] = i % 3 == 1 ? wish.y : -wish.y;
        u->leave[i] = test_range(seed, 0, 9) == 0;
        u->bend[i] = (uint8_t)test_range(seed, 0, test_range(seed, 0, 3) ? PHX_CROWD_WAYS - 1 : 255);
        u->sway[i] = wild ? pick(seed, INT32_MIN, INT32_MAX) : pick(seed, -64 * ONE, 64 * ONE);
    }
}

/* What bending did to each unit, against its wish in doubles. Returns how many it changed. */
static uint32_t check_bounds(const PhxCrowdScene *scene, const Units *was, const Units *u, uint32_t round) {
    uint32_t changed = 0;
    for (uint32_t i = 0; i < u->count; i++) {
        const double wx = was->pref_x[i], wy = was->pref_y[i], x = u->pref_x[i], y = u->pref_y[i];
        const double wish = hypot(wx, wy), ahead = wx * was->vel_x[i] + wy * was->vel_y[i];
        /* what is kept of it: no more than the wish, and none where the way has turned away from it */
        const double sway = u->bend[i] == 0 && ahead <= 0 ? 0 : fmin(fmax(was->sway[i], -wish), wish);
        CHECK_THAT(was->bend[i] >= PHX_CROWD_WAYS || u->bend[i] < PHX_CROWD_WAYS, "round %" PRIu32, round);
        CHECK_EQ(u->sway[i], was->sway[i]);
        if (x == wx && y == wy) continue;
        changed++;
        CHECK_THAT(!was->leave[i] && wish > 0, "round %" PRIu32 " unit %" PRIu32, round, i);
        CHECK_THAT(hypot(x, y) <= hypot(wish, sway) + 2, "round %" PRIu32 " unit %" PRIu32, round, i);
        /* no quicker across its way than it is let, unless it's there already */
        const double across = (wx * y - wy * x) / wish, most = wish * RETURN / 64 / scene->tick_rate + 1;
        CHECK_THAT(fabs(across - sway) <= most + 2, "round %" PRIu32 " unit %" PRIu32 ": from %g to %g",
                   round, i, sway, across);
        CHECK_THAT(fabs(across) <= fmax(wish, fabs(sway)) + 2, "round %" PRIu32 " unit %" PRIu32, round, i);
    }
    return changed;
}

PHX_TEST(crowd, stays_within_its_bounds_at_the_limits) {
    static Units u, was;
    static uint8_t cost[SIDE * SIDE];
    Fixture f = fixture_make();
    const PhxJobs serial = phx_jobs_serial();
    uint32_t changed = 0;
    for (uint32_t round = 0; round < test_count(300, 1500, 30000); round++) {
        uint64_t seed = 40000 + round;
        PhxOrcaClass classes[CLASSES];
        for (int i = 0; i < CLASSES; i++)
            classes[i] = (PhxOrcaClass){.radius = pick(&seed, ONE / 16, 16 * ONE),
                                        .max_speed = pick(&seed, 0, 64 * ONE)};
        const bool wild = test_range(&seed, 0, 9) == 0; /* a state that no tick leaves behind */
        make_limits(&seed, &u, classes, wild);
        const int64_t percent = test_range(&seed, 0, 100);
        for (uint32_t i = 0; i < SIDE * SIDE; i++)
            cost[i] = test_range(&seed, 0, 99) < percent ? PHX_NAV_IMPASSABLE : 1;
        const PhxNavGrid grid = {.width = SIDE, .height = SIDE, .cost = cost};
        PhxCrowdScene scene = scene_of(&f, &u, classes, CLASSES);
        scene.leave = u.leave;
        scene.tick_rate = (uint32_t)pick(&seed, 1, 1000), scene.tick = (uint32_t)test_random(&seed);
        if (test_range(&seed, 0, 1)) scene.solid = &grid;
        if (test_range(&seed, 0, 1)) scene.goal_x = scene.goal_y = NULL;
        was = u;
        bend(&scene, &f, &u, &serial);
        if (!wild) changed += check_bounds(&scene, &was, &u, round);
        phx_crowd_note(&scene, u.out_x, u.out_y, &serial);
        for (uint32_t i = 0; i < u.count; i++)
            CHECK_THAT(fabs((double)u.sway[i]) <= hypot(u.out_x[i], u.out_y[i]) + 1,
                       "round %" PRIu32 " unit %" PRIu32, round, i);
    }
    printf("%u wishes were bent\n", changed);
    CHECK(changed > 10000);
    phx_arena_destroy(&f.arena);
}

/* A state out of range is back in it as soon as a unit has looked, and nothing else. */
PHX_TEST(crowd, comes_back_from_a_state_out_of_range) {
    static Units u;
    Fixture f = fixture_make();
    const PhxJobs serial = phx_jobs_serial();
    const PhxOrcaClass class = {.radius = ONE / 2, .max_speed = 2 * ONE};
    for (uint32_t rate = 1; rate <= 60; rate += 59) {
        uint64_t seed = 3 + rate;
        make_flows(&seed, &u, &class);
        for (uint32_t i = 0; i < u.count; i++) u.bend[i] = (uint8_t)test_range(&seed, 0, 255), u.leave[i] = 0;
        PhxCrowdScene scene = scene_of(&f, &u, &class, 1);
        scene.tick_rate = rate;
        for (uint32_t tick = 0; tick < rate * 2 / 5 + 1; tick++) play_tick(&scene, &f, &u, &serial);
        for (uint32_t i = 0; i < u.count; i++) CHECK_THAT(u.bend[i] < PHX_CROWD_WAYS, "unit %" PRIu32, i);
    }
    phx_arena_destroy(&f.arena);
}

/* Over a second, ways change across by no more than RETURN / 64 of the wish, whatever the rate. */
PHX_TEST(crowd, changes_ways_gently) {
    static Units u;
    Fixture f = fixture_make();
    const PhxJobs serial = phx_jobs_serial();
    const PhxOrcaClass class = {.radius = ONE / 2, .max_speed = 2 * ONE};
    const uint32_t rates[] = {1, 4, 20, 60, 250};
    for (int r = 0; r < 5; r++) {
        uint64_t seed = 60 + (uint64_t)r;
        make_flows(&seed, &u, &class);
        u.count = 600;
        for (uint32_t i = 0; i < u.count; i++) u.pref_y[i] = 0;
        PhxCrowdScene scene = scene_of(&f, &u, &class, 1);
        scene.tick_rate = rates[r];
        static fix16_t wish[UNITS], before[UNITS];
        double fastest = 0;
        memcpy(wish, u.pref_x, sizeof wish);
        for (uint32_t tick = 0; tick < 3 * rates[r]; tick++) {
            if (tick % rates[r] == 0) memcpy(before, u.sway, sizeof before);
            bend(&scene, &f, &u, &serial);
            memcpy(u.out_x, u.pref_x, sizeof u.out_x), memcpy(u.out_y, u.pref_y, sizeof u.out_y);
            phx_crowd_note(&scene, u.out_x, u.out_y, &serial);
            for (uint32_t i = 0; i < u.count; i++) {
                const double most = fabs((double)wish[i]) * RETURN / 64 + 3 * rates[r];
                const double by = fabs((double)u.sway[i] - before[i]);
                CHECK_THAT(by <= most, "rate %" PRIu32 " tick %" PRIu32 " unit %" PRIu32, rates[r], tick, i);
                fastest = fmax(fastest, by / (fabs((double)wish[i]) + 1));
                u.pref_x[i] = wish[i], u.pref_y[i] = 0;
            }
            scene.tick++;
        }
        CHECK_THAT(fastest > 0.3, "rate %" PRIu32 " bends by %g of the wish a second", rates[r], fastest);
    }
    phx_arena_destroy(&f.arena);
}
