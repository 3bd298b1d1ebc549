/* unit_controller.h: what a body can do in a tick: turn, speed up, slow down before its goal, move.
 *
 * Pure functions of one unit's values; units a second and Q16.16 throughout. Determinism: integers, symmetric
 * rounding.
 */
#ifndef PHX_MOTION_UNIT_CONTROLLER_H
#define PHX_MOTION_UNIT_CONTROLLER_H

#include <phalanx/trig.h>
#include <phalanx/vec2.h>

/* Limits of a type of unit. */
typedef struct PhxUnitLimits {
    fix16_t speed;        /* units a second, 0 .. 64 */
    fix16_t acceleration; /* units a second squared, > 0, .. 4096 */
    int32_t turn_rate;    /* binary angle a second, > 0 */
    uint32_t tick_rate;   /* Hz, 1 .. 1000 */
} PhxUnitLimits;

typedef struct PhxSteering {
    PhxVec2 preferred; /* velocity */
    PhxAngle heading;  /* after this tick's turn */
} PhxSteering;

/* Turns `heading` towards `wish` by at most a tick's turn, and prefers to go that way: at full speed when
 * facing it, by the cosine of what is left to turn otherwise (0 from a quarter turn on). `distance` (raw
 * Q16.16, >= 0) is what is left to the goal: the speed is at most what braking brings to rest within it, and
 * what covers it in one tick. A wish of (0, 0): no velocity, no turn. */
PhxSteering phx_unit_steer(const PhxUnitLimits *limits, PhxAngle heading, PhxDir wish, uint32_t distance);

/* The velocity nearest to `wanted` that can be reached from `velocity` within a tick. */
PhxVec2 phx_unit_accelerate(const PhxUnitLimits *limits, PhxVec2 velocity, PhxVec2 wanted);

/* Way of one tick: velocity / tick_rate, rounded to nearest, half away from zero. */
PhxVec2 phx_unit_displacement(PhxVec2 velocity, uint32_t tick_rate);

#endif
