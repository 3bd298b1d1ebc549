/* controller.c: the body's limits, against doubles: turning, speeding up, braking, mirrored alike. */
#include <math.h>

#include "harness.h"
#include "motion/unit_controller.h"

static PhxUnitLimits random_limits(uint64_t *seed) {
    return (PhxUnitLimits){(fix16_t)test_range(seed, 655, 64 * 65536),
                           (fix16_t)test_range(seed, 655, 4096 * 65536),
                           (int32_t)test_range(seed, 182, 65536 * 16), (uint32_t)test_range(seed, 1, 1000)};
}

PHX_TEST(controller, speed_keeps_to_the_limit_to_braking_and_to_one_tick) {
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        const PhxUnitLimits limits = random_limits(&seed);
        const PhxAngle heading = (PhxAngle)test_random(&seed);
        const PhxDir wish = phx_dir_of_angle((PhxAngle)test_random(&seed));
        const uint32_t distance = (uint32_t)test_range(&seed, 0, test_range(&seed, 1, (int64_t)1 << 30));
        const PhxSteering steering = phx_unit_steer(&limits, heading, wish, distance);
        const double speed = hypot(steering.preferred.x, steering.preferred.y) / 65536;
        const double braking = sqrt(2.0 * (limits.acceleration / 65536.0) * (distance / 65536.0));
        const double slack = 2.0 / 65536;
        CHECK_THAT(speed <= limits.speed / 65536.0 + slack, "case %d", i);
        CHECK_THAT(speed <= braking + slack, "case %d: %f > %f", i, speed, braking);
        CHECK_THAT(speed <= distance / 65536.0 * limits.tick_rate + slack, "case %d", i);
        /* it turns the shorter way, and no further than a tick allows */
        const uint32_t turn = (uint32_t)limits.turn_rate / limits.tick_rate;
        const int32_t turned = phx_angle_diff(heading, steering.heading);
        CHECK_THAT((uint32_t)(turned < 0 ? -turned : turned) <= (turn > 0 ? turn : 1), "case %d", i);
        const PhxAngle wanted = phx_angle_of(wish.x, wish.y);
        const int32_t before = phx_angle_diff(heading, wanted),
                      after = phx_angle_diff(steering.heading, wanted);
        CHECK_THAT((after < 0 ? -after : after) <= (before < 0 ? -before : before), "case %d", i);
        if (after <= -16384 || after >= 16384)
            CHECK_THAT(speed <= slack, "case %d: moves while facing away", i);
    }
    const PhxUnitLimits limits = {65536, 65536, 65536, 20};
    const PhxSteering none = phx_unit_steer(&limits, 77, phx_dir(0, 0), 65536);
    CHECK(none.heading == 77 && none.preferred.x == 0 && none.preferred.y == 0);
}

PHX_TEST(controller, velocity_changes_by_no_more_than_the_acceleration_and_comes_as_near_as_it_can) {
    uint64_t seed = 2;
    for (int i = 0; i < 200000; i++) {
        const PhxUnitLimits limits = random_limits(&seed);
        const int64_t most = 64 * 65536;
        const PhxVec2 was = {(fix16_t)test_range(&seed, -most, most),
                             (fix16_t)test_range(&seed, -most, most)};
        const PhxVec2 wanted = {(fix16_t)test_range(&seed, -most, most),
                                (fix16_t)test_range(&seed, -most, most)};
        const PhxVec2 now = phx_unit_accelerate(&limits, was, wanted);
        const double step = fmax(1, round((double)limits.acceleration / limits.tick_rate));
        const double change = hypot((double)now.x - was.x, (double)now.y - was.y);
        const double wish = hypot((double)wanted.x - was.x, (double)wanted.y - was.y);
        CHECK_THAT(change <= step + 1e-6, "case %d: %f > %f", i, change, step);
        if (wish <= step) CHECK_THAT(now.x == wanted.x && now.y == wanted.y, "case %d", i);
        if (wish > step) CHECK_THAT(change >= step - 3, "case %d: %f of %f", i, change, step);
        /* mirrored, it rounds alike */
        const PhxVec2 mirror = phx_unit_accelerate(&limits, phx_vec2_neg(was), phx_vec2_neg(wanted));
        CHECK(phx_vec2_equal(mirror, phx_vec2_neg(now)));
        const PhxVec2 way = phx_unit_displacement(was, limits.tick_rate);
        CHECK(fabs(way.x - (double)was.x / limits.tick_rate) <= 0.5);
        CHECK(phx_vec2_equal(phx_unit_displacement(phx_vec2_neg(was), limits.tick_rate), phx_vec2_neg(way)));
    }
}
