/* unit_controller.c: see unit_controller.h.
 * Cost: one angle_of a moving unit and tick, and near its point one square root. Determinism: integers only;
 * reads nothing but its arguments.
 */
#include "motion/unit_controller.h"

/* The unit's speed, or what is left of it near the point: at most the largest from which `acceleration`
 * brings to rest within `distance`, sqrt(2 a d). Q16.16 times Q16.16 is Q32.32, whose root is Q16.16. Bound:
 * 2 * 2^28 * 2^31 = 2^60. Far off that is above the unit's own speed, which its square tells without a root.
 */
static fix16_t speed_for(const PhxUnitLimits *limits, uint32_t distance) {
    const uint64_t braking_sq = 2u * (uint64_t)limits->acceleration * distance;
    const int64_t one_tick = (int64_t)distance * limits->tick_rate; /* below 2^31 * 1000 */
    int64_t speed = limits->speed;
    if (speed > 0 && braking_sq < (uint64_t)speed * (uint64_t)speed) speed = phx_isqrt64(braking_sq);
    if (one_tick < speed) speed = one_tick;
    return (fix16_t)speed;
}

PhxSteering phx_unit_steer(const PhxUnitLimits *limits, PhxAngle heading, PhxDir wish, uint32_t distance) {
    if (wish.x == 0 && wish.y == 0) return (PhxSteering){{0, 0}, heading};
    const PhxAngle wanted = phx_angle_of(wish.x, wish.y);
    const uint32_t turn = (uint32_t)limits->turn_rate / limits->tick_rate;
    const PhxAngle faced = phx_angle_approach(heading, wanted, turn > 0 ? turn : 1);
    const fix16_t speed = speed_for(limits, distance);
    if (faced == wanted) return (PhxSteering){phx_dir_scale(wish, speed), faced};
    const int32_t along = phx_cos((PhxAngle)phx_angle_diff(faced, wanted));
    const fix16_t slowed = along > 0 ? (fix16_t)phx_round_shift((int64_t)speed * along, PHX_DIR_BITS) : 0;
    return (PhxSteering){phx_dir_scale(phx_dir_of_angle(faced), slowed), faced};
}

PhxVec2 phx_unit_accelerate(const PhxUnitLimits *limits, PhxVec2 velocity, PhxVec2 wanted) {
    const fix16_t step = (fix16_t)phx_div_round(limits->acceleration, limits->tick_rate);
    const PhxVec2 change = phx_vec2_clamp_length(phx_vec2_sub(wanted, velocity), step > 0 ? step : 1);
    return phx_vec2_add(velocity, change);
}

PhxVec2 phx_unit_displacement(PhxVec2 velocity, uint32_t tick_rate) {
    return (PhxVec2){(fix16_t)phx_div_round(velocity.x, tick_rate),
                     (fix16_t)phx_div_round(velocity.y, tick_rate)};
}
