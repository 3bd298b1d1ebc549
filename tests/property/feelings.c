/* feelings.c: what moods, behaviours and company make of preferred velocities: nothing where there is nothing
 * to feel, forces as long as doubles say, symmetric, smooth, within the limits, whatever the threads.
 */
#include <phalanx/feelings.h>

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "harness.h"

enum { ONE = 1 << 16, MOST = 160, CLASSES = 4, RATE = 20 };

/* A scene of up to MOST units, with columns of its own. */
typedef struct Stage {
    PhxArena arena;
    PhxSpatial spatial;
    PhxFeelingsScene scene;
    PhxFeelingsClass classes[CLASSES];
    uint32_t count;
    fix16_t x[MOST], y[MOST], pref_x[MOST], pref_y[MOST], vel_x[MOST], vel_y[MOST], post_x[MOST],
        post_y[MOST];
    fix16_t level[MOST], avoid[MOST], speed[MOST];
    uint16_t class_of[MOST];
    uint8_t mood[MOST], behaviour[MOST], owner[MOST], team[16], moving[MOST], arriving[MOST], weight[MOST];
} Stage;

/* All units of a class of radius 0.4 and speed 2, of one owner, calm, at rest at the origin. */
static Stage *open_stage(uint32_t count) {
    Stage *stage = calloc(1, sizeof *stage);
    CHECK(stage != NULL);
    stage->count = count;
    for (int i = 0; i < CLASSES; i++) stage->classes[i] = phx_feelings_class_default(26214, 2 * ONE);
    for (uint8_t i = 0; i < 16; i++) stage->team[i] = i;
    stage->arena = phx_arena_measure();
    for (int pass = 0; pass < 2; pass++) {
        phx_spatial_layout(&stage->spatial, &stage->arena, MOST);
        const size_t bytes = stage->arena.used;
        if (pass == 0) CHECK_OK(phx_arena_create(&stage->arena, phx_allocator_default(), bytes));
    }
    stage->scene = (PhxFeelingsScene){.spatial = &stage->spatial,
                                      .classes = stage->classes,
                                      .class_count = CLASSES,
                                      .tick_rate = RATE,
                                      .class_of = stage->class_of,
                                      .mood = stage->mood,
                                      .behaviour = stage->behaviour,
                                      .owner = stage->owner,
                                      .team = stage->team,
                                      .moving = stage->moving,
                                      .arriving = stage->arriving,
                                      .vel_x = stage->vel_x,
                                      .vel_y = stage->vel_y,
                                      .post_x = stage->post_x,
                                      .post_y = stage->post_y,
                                      .mood_level = stage->level,
                                      .avoid = stage->avoid,
                                      .pref_x = stage->pref_x,
                                      .pref_y = stage->pref_y,
                                      .weight = stage->weight};
    return stage;
}

static void close_stage(Stage *stage) {
    phx_arena_destroy(&stage->arena);
    free(stage);
}

static void build(Stage *stage) {
    const PhxJobs serial = phx_jobs_serial();
    phx_spatial_build(&stage->spatial, &serial, stage->x, stage->y, NULL, stage->count, 6 * ONE);
}

static void feel(Stage *stage) {
    const PhxJobs serial = phx_jobs_serial();
    build(stage);
    phx_feelings_run(&stage->scene, &serial);
}

static PhxVec2 preferred(const Stage *stage, uint32_t i) {
    return phx_vec2(stage->pref_x[i], stage->pref_y[i]);
}

static fix16_t units(double value) { return (fix16_t)lround(value * ONE); }

static void put(Stage *stage, uint32_t i, double x, double y) {
    stage->x[i] = units(x), stage->y[i] = units(y);
}

static double distance_between(const Stage *stage, uint32_t a, uint32_t b) {
    return hypot((double)(stage->x[a] - stage->x[b]), (double)(stage->y[a] - stage->y[b])) / ONE;
}

/* Moves every unit by what it prefers. */
static void advance(Stage *stage) {
    for (uint32_t i = 0; i < stage->count; i++) {
        stage->vel_x[i] = stage->pref_x[i], stage->vel_y[i] = stage->pref_y[i];
        stage->x[i] += (fix16_t)phx_div_round(stage->pref_x[i], RATE);
        stage->y[i] += (fix16_t)phx_div_round(stage->pref_y[i], RATE);
    }
}

/* The calm of a class without forces aren't touched, however near others are; nor is anyone whom nobody is
 * near, whatever he feels, unless he was faster than his mood allows. */
PHX_TEST(feelings, without_forces_a_velocity_stays_bit_for_bit) {
    Stage *stage = open_stage(MOST);
    uint64_t seed = 1;
    for (int round = 0; round < 400; round++) {
        const bool alone = round % 2;
        for (uint32_t i = 0; i < MOST; i++) {
            const double angle = (double)test_range(&seed, 0, 1 << 20),
                         length = (double)test_range(&seed, 0, 2 * ONE);
            stage->x[i] = alone ? (fix16_t)(i * 7 * ONE) : (fix16_t)test_range(&seed, 0, 8 * ONE);
            stage->y[i] = alone ? 0 : (fix16_t)test_range(&seed, 0, 8 * ONE);
            stage->pref_x[i] = (fix16_t)(length * cos(angle)),
            stage->pref_y[i] = (fix16_t)(length * sin(angle));
            stage->class_of[i] = (uint16_t)test_range(&seed, 0, 1);
            stage->owner[i] = (uint8_t)test_range(&seed, 0, 3);
            stage->moving[i] = (stage->pref_x[i] | stage->pref_y[i]) != 0;
            stage->mood[i] = alone ? (uint8_t)test_range(&seed, 0, 2) : 0;
            stage->behaviour[i] = alone ? (uint8_t)test_range(&seed, 0, 2) : 0;
            stage->avoid[i] = stage->level[i] = 0;
        }
        stage->classes[1].avoid_ratio = ONE;
        stage->classes[1].cohesion = stage->classes[1].berth = alone ? 3 * ONE : 0;
        Stage before = *stage;
        feel(stage);
        for (uint32_t i = 0; i < MOST; i++) {
            CHECK_THAT(phx_vec2_equal(preferred(stage, i), preferred(&before, i)), "round %d unit %u", round,
                       i);
            if (alone) continue;
            CHECK_EQ(stage->avoid[i],
                     stage->class_of[i] || !stage->moving[i] ? 26214 : 36699); /* 0.4, 0.56 */
            CHECK(stage->weight[i] == 8 && stage->level[i] == 0);
        }
    }
    close_stage(stage);
}

/* One panicked unit at rest beside another: the force is the oracle's at every distance, never above the clip
 * nor the greatest speed, never grows with the distance, and ends at the range without a jump. */
PHX_TEST(feelings, forces_are_clipped_inverse_squares_at_every_distance) {
    Stage *stage = open_stage(2);
    const double clips[] = {0.5, 2.25, 4, 64};
    for (int c = 0; c < 4; c++) {
        fix16_t last = 100 * ONE;
        stage->classes[0].clip = units(clips[c]);
        for (fix16_t distance = 0; distance < 7 * ONE; distance += distance < 64 ? 1 : distance / 50) {
            const double gap = distance / 65536.0 - 2 * 26214 / 65536.0,
                         near = gap < 1 / 16.0 ? 1 / 16.0 : gap, end = 6 - 2 * 26214 / 65536.0;
            double want = near < end ? 8 / (near * near) - 8 / (end * end) : 0;
            want = fmin(want, fmin(clips[c], 2.5));
            stage->x[0] = 3 * ONE + distance, stage->x[1] = 3 * ONE;
            stage->mood[0] = PHX_MOOD_PANICKED, stage->level[0] = PHX_FEELINGS_LEVEL_MAX;
            stage->pref_x[0] = stage->pref_y[0] = 0;
            feel(stage);
            const PhxVec2 got = preferred(stage, 0);
            const fix16_t length = (fix16_t)phx_vec2_length(got);
            CHECK_THAT(fabs(length - want * ONE) <= 4, "distance %d: %d, not %f", distance, length,
                       want * ONE);
            CHECK(length <= units(clips[c]) && length <= units(2.5) && length <= last + 3);
            CHECK(phx_vec2_is_zero(preferred(stage, 1))); /* who is calm stays */
            if (distance > 0) CHECK(got.x >= 0 && got.y == 0);
            if (distance >= 6 * ONE) CHECK_EQ(length, 0);
            last = length;
        }
    }
    /* On one spot: opposite ways. */
    stage->x[0] = stage->x[1], stage->mood[1] = PHX_MOOD_PANICKED, stage->level[1] = PHX_FEELINGS_LEVEL_MAX;
    for (int i = 0; i < 2; i++) stage->pref_x[i] = stage->pref_y[i] = 0;
    feel(stage);
    CHECK(phx_vec2_equal(preferred(stage, 0), phx_vec2_neg(preferred(stage, 1))));
    CHECK(phx_vec2_length(preferred(stage, 0)) > 2 * ONE);
    close_stage(stage);
}

/* Everything that a scene may hold, within a small field. */
static void fill_at_random(Stage *stage, uint64_t *seed) {
    for (int i = 0; i < CLASSES; i++) {
        PhxFeelingsClass *c = &stage->classes[i];
        *c = phx_feelings_class_default((fix16_t)test_range(seed, ONE / 8, ONE),
                                        (fix16_t)test_range(seed, ONE, 4 * ONE));
        c->cohesion = i % 2 ? (fix16_t)test_range(seed, 0, 4 * ONE) : 0;
        c->berth = i / 2 ? (fix16_t)test_range(seed, 0, 8 * ONE) : 0;
        c->neighbours = (uint8_t)test_range(seed, 1, 16);
        c->weight = (uint8_t)test_range(seed, 0, 15);
    }
    for (uint32_t i = 0; i < stage->count; i++) {
        stage->x[i] = (fix16_t)test_range(seed, -8 * ONE, 8 * ONE),
        stage->y[i] = (fix16_t)test_range(seed, -8 * ONE, 8 * ONE);
        stage->class_of[i] = (uint16_t)test_range(seed, 0, CLASSES - 1);
        stage->moving[i] = (uint8_t)test_range(seed, 0, 1);
        stage->arriving[i] = (uint8_t)(test_range(seed, 0, 4) == 0);
        const PhxVec2 path = phx_vec2_clamp_length(phx_vec2((fix16_t)test_range(seed, -2 * ONE, 2 * ONE),
                                                            (fix16_t)test_range(seed, -2 * ONE, 2 * ONE)),
                                                   stage->classes[stage->class_of[i]].speed);
        stage->pref_x[i] = stage->moving[i] ? path.x : 0, stage->pref_y[i] = stage->moving[i] ? path.y : 0;
        const PhxVec2 velocity = test_range(seed, 0, 3) ? path : phx_vec2_neg(path);
        stage->vel_x[i] = velocity.x, stage->vel_y[i] = velocity.y;
        stage->post_x[i] = stage->x[test_range(seed, 0, i)],
        stage->post_y[i] = stage->y[test_range(seed, 0, i)];
        stage->mood[i] = (uint8_t)test_range(seed, 0, 2);
        stage->behaviour[i] = (uint8_t)test_range(seed, 0, 2);
        stage->owner[i] = (uint8_t)test_range(seed, 0, 2);
        stage->level[i] = (fix16_t)test_range(seed, 0, PHX_FEELINGS_LEVEL_MAX);
        stage->avoid[i] = (fix16_t)test_range(seed, 0, ONE);
    }
}

/* One of the eight symmetries of the square: bits mirror x, mirror y, swap. */
static void turn(fix16_t *x, fix16_t *y, uint32_t count, uint32_t symmetry) {
    for (uint32_t i = 0; i < count; i++) {
        if (symmetry & 1) x[i] = -x[i];
        if (symmetry & 2) y[i] = -y[i];
        const fix16_t old = x[i];
        if (symmetry & 4) x[i] = y[i], y[i] = old;
    }
}

static bool same_results(const Stage *a, const Stage *b) {
    const size_t words = a->count * sizeof(fix16_t);
    return !memcmp(a->pref_x, b->pref_x, words) && !memcmp(a->pref_y, b->pref_y, words) &&
           !memcmp(a->level, b->level, words) && !memcmp(a->avoid, b->avoid, words) &&
           !memcmp(a->speed, b->speed, words) && !memcmp(a->weight, b->weight, a->count);
}

PHX_TEST(feelings, a_scene_turned_or_mirrored_gives_the_result_turned_likewise) {
    Stage *stage = open_stage(MOST), *turned = open_stage(MOST);
    for (int round = 0; round < 160; round++) {
        uint64_t seed = 3000 + (uint64_t)round, again = seed;
        const uint32_t symmetry = (uint32_t)round % 8;
        fill_at_random(stage, &seed);
        fill_at_random(turned, &again);
        turn(turned->x, turned->y, MOST, symmetry);
        turn(turned->pref_x, turned->pref_y, MOST, symmetry);
        turn(turned->vel_x, turned->vel_y, MOST, symmetry);
        turn(turned->post_x, turned->post_y, MOST, symmetry);
        feel(stage);
        feel(turned);
        turn(stage->pref_x, stage->pref_y, MOST, symmetry);
        CHECK_THAT(same_results(stage, turned), "round %d", round);
    }
    close_stage(stage);
    close_stage(turned);
}

PHX_TEST(feelings, threads_and_the_order_of_rows_change_nothing) {
    Stage *whole = open_stage(MOST), *split = open_stage(MOST);
    PhxJobs jobs;
    CHECK_OK(phx_jobs_threads_create(3, &jobs));
    for (int round = 0; round < 100; round++) {
        uint64_t seed = 5000 + (uint64_t)round, again = seed;
        fill_at_random(whole, &seed);
        feel(whole);
        fill_at_random(split, &again);
        build(split);
        if (round % 2) {
            phx_feelings_run(&split->scene, &jobs);
        } else {
            phx_feelings_prepare(&split->scene);
            for (uint32_t end = MOST; end > 0;) {
                const uint32_t begin = (uint32_t)test_range(&seed, 0, end - 1);
                phx_feelings_solve(&split->scene, begin, end);
                end = begin;
            }
        }
        CHECK_THAT(same_results(whole, split), "round %d", round);
    }
    phx_jobs_threads_destroy(&jobs);
    close_stage(whole);
    close_stage(split);
}

/* Radius and speed follow the mood without a jump: from 1 to 1.8 times within a second, and back. */
PHX_TEST(feelings, radius_and_speed_follow_the_mood_smoothly) {
    Stage *stage = open_stage(1);
    stage->scene.speed = stage->speed;
    const uint8_t moods[] = {PHX_MOOD_PANICKED, PHX_MOOD_CALM, PHX_MOOD_ALERT, PHX_MOOD_PANICKED,
                             PHX_MOOD_ALERT};
    const double radius[] = {1.8, 1, 1.2, 1.8, 1.2}, speed[] = {2.5, 2, 2, 2.5, 2};
    const double calm = 0.4 * 1.4;
    stage->moving[0] = 1;
    feel(stage);
    CHECK_EQ(stage->avoid[0], stage->classes[0].calm_radius); /* at once, when it comes into being */
    CHECK(fabs(stage->avoid[0] - calm * ONE) < 2);
    for (int m = 0; m < 5; m++) {
        fix16_t last = stage->avoid[0], last_speed = stage->level[0] == 0 ? 2 * ONE : stage->speed[0];
        stage->mood[0] = moods[m];
        for (int tick = 0; tick < 30; tick++) {
            stage->speed[0] = 2 * ONE;
            feel(stage);
            /* two moods a second, and the steeper slope, of alert to panicked: 0.6 and 0.25 a mood */
            CHECK_THAT(abs(stage->avoid[0] - last) <= calm * 0.6 * 2 / RATE * ONE + 3, "mood %d tick %d", m,
                       tick);
            CHECK_THAT(abs(stage->speed[0] - last_speed) <= 2 * 0.25 * 2 / RATE * ONE + 3, "mood %d tick %d",
                       m, tick);
            last = stage->avoid[0], last_speed = stage->speed[0];
            if (tick < 5 && (m == 0 || m == 1)) CHECK(fabs(last - radius[m] * calm * ONE) > ONE / 8);
        }
        CHECK_THAT(fabs(last - radius[m] * calm * ONE) < 4, "mood %d: %d", m, last);
        CHECK(abs(last_speed - units(speed[m])) < 3);
    }
    /* A behaviour changes the radius smoothly too: half the spacing beside the body. */
    for (int b = PHX_BEHAVIOUR_GUARD; b <= PHX_BEHAVIOUR_PATROL; b++) {
        stage->mood[0] = 0, stage->behaviour[0] = (uint8_t)b;
        for (int tick = 0; tick < 40; tick++) {
            const fix16_t last = stage->avoid[0];
            feel(stage);
            CHECK(abs(stage->avoid[0] - last) <= 2 * 26214 / RATE + 1);
        }
        CHECK(abs(stage->avoid[0] - units(0.4 + (b == PHX_BEHAVIOUR_GUARD ? 0.1 : 0.25))) <= 2);
    }
    /* At rest, and on the last steps to a place, the body counts, and a guard's spacing; in panic all does.
     */
    for (int how = 0; how < 8; how++) {
        const bool guards = how & 1, panicked = how & 2;
        stage->moving[0] = how >> 2 & 1, stage->arriving[0] = stage->moving[0];
        stage->behaviour[0] = guards ? PHX_BEHAVIOUR_GUARD : PHX_BEHAVIOUR_NONE;
        stage->mood[0] = panicked ? PHX_MOOD_PANICKED : PHX_MOOD_ALERT;
        for (int tick = 0; tick < 60; tick++) {
            const fix16_t last = stage->avoid[0];
            stage->speed[0] = 2 * ONE;
            feel(stage);
            CHECK(abs(stage->avoid[0] - last) <= 2 * 26214 / RATE + 1);
        }
        const double rest = guards ? 0.5 : 0.4, full = (guards ? 0.5 : calm) * 1.8;
        CHECK_THAT(abs(stage->avoid[0] - units(panicked ? full : rest)) <= 4, "way %d: %d", how,
                   stage->avoid[0]);
    }
    close_stage(stage);
}

/* A crowd that panics spreads until nobody is in range; its speed ends without a jump. */
PHX_TEST(feelings, the_panicked_spread_and_come_to_rest) {
    Stage *stage = open_stage(40);
    uint64_t seed = 9;
    for (uint32_t i = 0; i < 40; i++)
        put(stage, i, (double)test_range(&seed, 0, 4000) / 1000, (double)test_range(&seed, 0, 4000) / 1000);
    memset(stage->mood, PHX_MOOD_PANICKED, sizeof stage->mood);
    double before = 0, nearest = 0;
    for (int tick = 0; tick <= 600; tick++) {
        double mean = 0, least = 1e9;
        for (uint32_t a = 0; a < 40; a++)
            for (uint32_t b = 0; b < a; b++) {
                mean += distance_between(stage, a, b) / 780;
                least = fmin(least, distance_between(stage, a, b));
            }
        if (tick % 20 == 0) {
            CHECK_THAT(mean > before - 0.01 && least > nearest - 0.05,
                       "tick %d: mean %f after %f, least %f after %f", tick, mean, before, least, nearest);
            before = mean, nearest = least;
        }
        memset(stage->pref_x, 0, sizeof stage->pref_x);
        memset(stage->pref_y, 0, sizeof stage->pref_y);
        feel(stage);
        for (uint32_t i = 0; i < 40; i++) CHECK(phx_vec2_length(preferred(stage, i)) <= 5 * ONE / 2);
        advance(stage);
    }
    printf("panicked: mean distance %.2f, least %.2f\n", before, nearest);
    CHECK(before > 12 && nearest > 3);
    for (uint32_t i = 0; i < 40; i++) CHECK(phx_vec2_length(preferred(stage, i)) < ONE / 4);
    close_stage(stage);
}

/* Unit 0 walks east past unit 1, which stands a little beside its way; returns their least distance. */
static double pass_by(uint8_t other_owner, bool strangers, double cohesion, double berth) {
    Stage *stage = open_stage(2);
    stage->classes[0].cohesion = units(cohesion), stage->classes[0].berth = units(berth);
    stage->owner[1] = other_owner;
    if (strangers) stage->scene.owner = NULL;
    put(stage, 0, 0, 0);
    put(stage, 1, 10, 1.5);
    stage->moving[0] = 1;
    double least = 1e9;
    for (int tick = 0; tick < 300; tick++) {
        stage->pref_x[0] = 2 * ONE, stage->pref_y[0] = 0;
        feel(stage);
        CHECK(phx_vec2_is_zero(preferred(stage, 1))); /* the calm who stand don't stir */
        CHECK(stage->pref_x[0] >= 2 * ONE * 0.4 - 4); /* the path keeps its share */
        advance(stage);
        least = fmin(least, distance_between(stage, 0, 1));
    }
    CHECK(stage->x[0] > 20 * ONE);
    close_stage(stage);
    return least;
}

PHX_TEST(feelings, enemies_get_a_wider_berth_than_strangers_and_friends_none) {
    const double stranger = pass_by(1, true, 1, 4), enemy = pass_by(1, false, 1, 4),
                 friend = pass_by(0, false, 1, 4), wide = pass_by(1, false, 1, 16);
    printf("least distance: stranger %.3f enemy %.3f wide %.3f friend %.3f\n", stranger, enemy, wide, friend);
    CHECK(fabs(stranger - 1.5) < 0.01);
    CHECK(enemy > stranger + 0.2 && wide > enemy + 0.2);
    CHECK(fabs(friend - stranger) < 0.001); /* one that stands draws nobody */
}

/* Two friends side by side close up to where their avoidance discs touch, and stay there, without swaying. */
PHX_TEST(feelings, friends_on_the_way_keep_together) {
    Stage *stage = open_stage(2);
    stage->classes[0].cohesion = ONE / 2;
    put(stage, 0, 0, 0);
    put(stage, 1, 0, 3);
    double last = 3;
    for (int tick = 0; tick < 1200; tick++) {
        for (int i = 0; i < 2; i++) stage->moving[i] = 1, stage->pref_x[i] = 2 * ONE, stage->pref_y[i] = 0;
        feel(stage);
        advance(stage);
        const double now = distance_between(stage, 0, 1);
        CHECK_THAT(now <= last + 1e-4, "tick %d: %f after %f", tick, now, last);
        last = now;
    }
    printf("friends: %.3f apart\n", last);
    CHECK(last < 1.3 && last > 2 * 0.4 * 1.4 - 0.01);
    /* Those that come towards each other, or across, aren't drawn, nor those about to take their places. */
    for (int across = 0; across < 3; across++) {
        stage->arriving[0] = stage->arriving[1] = across == 2;
        put(stage, 0, 0, 0);
        put(stage, 1, 2, 1);
        for (int tick = 0; tick < 20; tick++) {
            stage->vel_x[0] = 2 * ONE, stage->vel_y[0] = 0;
            stage->vel_x[1] = across == 2 ? 2 * ONE : across ? 0 : -2 * ONE;
            stage->vel_y[1] = across == 1 ? -2 * ONE : 0;
            for (uint32_t i = 0; i < 2; i++)
                stage->pref_x[i] = stage->vel_x[i], stage->pref_y[i] = stage->vel_y[i];
            feel(stage);
            for (uint32_t i = 0; i < 2; i++)
                CHECK(stage->pref_x[i] == stage->vel_x[i] && stage->pref_y[i] == stage->vel_y[i]);
            advance(stage);
        }
    }
    close_stage(stage);
}

/* A guard that stands: weight 0, an avoidance radius that others see. Guards that stand too close part to
 * their spacing and rest; one that comes to relieve another isn't moved by it, nor moves it. */
PHX_TEST(feelings, guards_stand_have_their_spacing_and_change_over) {
    Stage *stage = open_stage(3);
    for (int i = 0; i < 3; i++) stage->behaviour[i] = PHX_BEHAVIOUR_GUARD;
    put(stage, 0, 0, 0);
    put(stage, 1, 0, 0);
    put(stage, 2, 0.5, 0.1);
    fix16_t last[3];
    for (int tick = 0; tick < 600; tick++) {
        for (int i = 0; i < 3; i++) stage->pref_x[i] = stage->pref_y[i] = 0;
        feel(stage);
        for (int i = 0; i < 3; i++) CHECK(stage->weight[i] == 0 && stage->avoid[i] >= 26214 + 13107 / 2);
        if (tick > 300)
            CHECK(phx_vec2_is_zero(preferred(stage, 0)) || phx_vec2_length(preferred(stage, 0)) < 32);
        for (int i = 0; i < 3; i++) last[i] = stage->x[i];
        advance(stage);
    }
    for (uint32_t a = 0; a < 3; a++) {
        CHECK_EQ(stage->x[a], last[a]);
        for (uint32_t b = 0; b < a; b++) CHECK(distance_between(stage, a, b) > 0.8 + 0.2 - 0.01);
    }
    /* Unit 1 comes to where unit 0 is, who goes the way unit 1 comes from, straight through it; unit 2, an
     * enemy's guard, stands by. */
    stage->owner[2] = 1;
    stage->classes[0].berth = 4 * ONE;
    for (int stays = 0; stays < 2; stays++) {
        put(stage, 0, 0, 0);
        put(stage, 1, stays ? 4 : 2, 0);
        put(stage, 2, 0, -20);
        int relieved = 0;
        for (int tick = 0; tick < 40; tick++) {
            for (uint32_t i = 0; i < 2; i++) {
                stage->moving[i] = i == 1 || !stays;
                stage->pref_x[i] = !stage->moving[i] ? 0 : i ? -2 * ONE : 2 * ONE, stage->pref_y[i] = 0;
                stage->post_x[i] = i == 1 || stays ? 0 : 10 * ONE, stage->post_y[i] = 0;
            }
            stage->pref_x[2] = stage->pref_y[2] = 0;
            feel(stage);
            const bool near = !stays && distance_between(stage, 0, 1) < 0.8 + 1.5 && stage->x[0] < units(2.3);
            CHECK(abs(stage->pref_x[1]) == 2 * ONE && stage->pref_y[1] == 0 && stage->pref_y[0] == 0);
            CHECK_THAT(stage->weight[1] == (near ? 0 : 8), "tick %d", tick);
            CHECK_THAT(stage->weight[0] == (near || stays ? 0 : 8), "tick %d", tick);
            CHECK(stage->weight[2] == 0);
            relieved += near;
            advance(stage);
        }
        CHECK(stays ? relieved == 0 : relieved > 15);
    }
    /* Who passes by a guard, another guard bound for elsewhere too, avoids it. */
    put(stage, 1, 0.85, 0);
    for (int i = 0; i < 2; i++)
        put(stage, (uint32_t)i, 0.85 * i, 0), stage->post_x[i] = stage->post_y[i] = i * 9 * ONE;
    stage->moving[0] = 0, stage->moving[1] = 1;
    feel(stage);
    CHECK(stage->weight[0] == 0 && stage->weight[1] == 8);
    /* And a guard that panics is none. */
    stage->mood[0] = PHX_MOOD_PANICKED, stage->level[0] = PHX_FEELINGS_LEVEL_MAX;
    stage->pref_x[0] = stage->pref_y[0] = 0;
    feel(stage);
    CHECK(stage->weight[0] == 8 && !phx_vec2_is_zero(preferred(stage, 0)));
    close_stage(stage);
}

static fix16_t pick(uint64_t *seed, fix16_t low, fix16_t high) {
    switch (test_range(seed, 0, 3)) {
    case 0:
        return low;
    case 1:
        return high;
    case 2:
        return (fix16_t)(low + test_range(seed, 0, 3));
    default:
        return (fix16_t)test_range(seed, low, high);
    }
}

/* A class at its limits and beyond them: prepare clamps. */
static void extreme_class(uint64_t *seed, PhxFeelingsClass *c, bool wild) {
    fix16_t *const fields[] = {&c->radius, &c->avoid_ratio, &c->speed,     &c->mood_rate,
                               &c->range,  &c->cohesion,    &c->berth,     &c->spread,
                               &c->clip,   &c->spacing[1],  &c->spacing[2]};
    const fix16_t high = wild ? INT32_MAX : 64 * ONE;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        *fields[i] = pick(seed, wild ? INT32_MIN : 0, high);
    for (int m = 0; m < PHX_MOOD_COUNT; m++) {
        c->path_bias[m] = pick(seed, 0, wild ? INT32_MAX : ONE);
        c->radius_factor[m] = pick(seed, wild ? INT32_MIN : ONE, wild ? INT32_MAX : 4 * ONE);
        c->speed_factor[m] = pick(seed, wild ? INT32_MIN : 0, wild ? INT32_MAX : 4 * ONE);
    }
    c->neighbours = (uint8_t)test_range(seed, 0, wild ? 255 : 16);
    c->weight = (uint8_t)test_range(seed, 0, wild ? 255 : 15);
}

PHX_TEST(feelings, limits_of_all_inputs_hold) {
    Stage *stage = open_stage(MOST);
    stage->scene.speed = stage->speed;
    const int rounds = getenv("PHX_LONG") ? 20000 : 1000;
    for (int round = 0; round < rounds; round++) {
        uint64_t seed = 90000 + (uint64_t)round;
        const fix16_t edge = 8192 * ONE - 60 * ONE, spread = pick(&seed, 0, 59 * ONE);
        const fix16_t middle_x = pick(&seed, -edge, edge), middle_y = pick(&seed, -edge, edge);
        for (int i = 0; i < CLASSES; i++) extreme_class(&seed, &stage->classes[i], round % 3 == 0);
        for (uint32_t i = 0; i < MOST; i++) {
            stage->x[i] = (fix16_t)(middle_x + test_range(&seed, -spread, spread));
            stage->y[i] = (fix16_t)(middle_y + test_range(&seed, -spread, spread));
            const PhxVec2 v = phx_vec2_clamp_length(
                phx_vec2(pick(&seed, -64 * ONE, 64 * ONE), pick(&seed, -64 * ONE, 64 * ONE)), 64 * ONE);
            stage->pref_x[i] = v.x, stage->pref_y[i] = v.y;
            stage->vel_x[i] = v.y / (int32_t)test_range(&seed, 1, 3), stage->vel_y[i] = v.x / 2;
            stage->post_x[i] = pick(&seed, -8192 * ONE, 8192 * ONE - 1);
            stage->post_y[i] = pick(&seed, -8192 * ONE, 8192 * ONE - 1);
            stage->level[i] = pick(&seed, 0, PHX_FEELINGS_LEVEL_MAX),
            stage->avoid[i] = pick(&seed, 0, 16 * ONE);
            stage->speed[i] = pick(&seed, 0, 64 * ONE);
            stage->class_of[i] = (uint16_t)test_range(&seed, 0, CLASSES - 1);
            stage->mood[i] = (uint8_t)test_range(&seed, 0, 3),
            stage->behaviour[i] = (uint8_t)test_range(&seed, 0, 3);
            stage->owner[i] = (uint8_t)test_range(&seed, 0, 15),
            stage->moving[i] = (uint8_t)test_range(&seed, 0, 1);
        }
        stage->scene.tick_rate = (uint32_t)pick(&seed, 1, 1000);
        Stage before = *stage;
        feel(stage);
        for (uint32_t i = 0; i < MOST; i++) {
            const PhxFeelingsClass *c = &stage->classes[stage->class_of[i]];
            CHECK_THAT(stage->level[i] >= 0 && stage->level[i] <= PHX_FEELINGS_LEVEL_MAX, "round %d", round);
            CHECK_THAT(stage->avoid[i] > 0 && stage->avoid[i] <= 16 * ONE, "round %d", round);
            CHECK_THAT(before.avoid[i] > 0 || stage->avoid[i] >= c->radius, "round %d", round);
            CHECK_THAT(stage->speed[i] >= 0 && stage->speed[i] <= 64 * ONE && stage->weight[i] <= 15,
                       "round %d", round);
            const fix16_t most = phx_feelings_stirred(&before.scene, i) ? stage->speed[i] : 64 * ONE;
            const PhxVec2 v = preferred(stage, i);
            CHECK_THAT(phx_vec2_length_sq(v) <= (uint64_t)((int64_t)most * most) ||
                           phx_vec2_equal(v, preferred(&before, i)),
                       "round %d unit %u", round, i);
        }
    }
    close_stage(stage);
}
