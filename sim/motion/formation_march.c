/* formation_march.c: a formation's frame: points in it, the ground beside its way, its next step.
 *
 * Cost: some arithmetic; the room beside a way a look at a cell each half unit. Determinism: integers,
 * symmetric rounding: a mirrored formation marches alike.
 */
#include <phalanx/formation.h>

enum {
    RADIAN = 10430,     /* binary angles */
    SHARP = 4096,       /* binary angle: turning takes all of the speed */
    LEAST = 16,         /* of the speed, a part that turning always may take */
    BEND = PHX_FIX_ONE, /* a trail's direction is that over so much to both sides */
    STEP = PHX_FIX_ONE / 2,
    REACH = 64 * PHX_FIX_ONE,
    AHEAD = 32 * PHX_FIX_ONE
};

PhxVec2 phx_formation_to_world(PhxVec2 anchor, PhxAngle facing, PhxVec2 at) {
    const PhxDir forward = phx_dir_of_angle(facing);
    return phx_vec2_add(anchor, phx_vec2_add(phx_dir_scale(forward, at.x),
                                             phx_dir_scale(phx_dir_turn_quarter(forward), at.y)));
}

PhxVec2 phx_formation_to_frame(PhxVec2 anchor, PhxAngle facing, PhxVec2 world) {
    const PhxDir forward = phx_dir_of_angle(facing);
    const PhxVec2 offset = phx_vec2_sub(world, anchor);
    return phx_vec2((fix16_t)phx_vec2_dot_dir(offset, forward),
                    (fix16_t)phx_vec2_dot_dir(offset, phx_dir_turn_quarter(forward)));
}

void phx_formation_trail_measure(PhxFormationTrail *trail) {
    trail->length[0] = 0;
    for (uint32_t i = 1; i < trail->count; i++)
        trail->length[i] =
            trail->length[i - 1] + phx_vec2_length(phx_vec2_sub(trail->point[i], trail->point[i - 1]));
}

/* The point of a trail `depth` (raw, >= 0) behind its anchor. */
static PhxVec2 trail_point(const PhxFormationTrail *trail, fix16_t depth) {
    uint32_t i = 1;
    PhxDir back;
    while (i + 1 < trail->count && trail->length[i] < (uint32_t)depth) i++;
    (void)phx_vec2_normalize(phx_vec2_sub(trail->point[i], trail->point[i - 1]), &back);
    return phx_vec2_add(trail->point[i - 1], phx_dir_scale(back, depth - (fix16_t)trail->length[i - 1]));
}

PhxVec2 phx_formation_trail_place(const PhxFormationTrail *trail, PhxVec2 at, PhxVec2 *middle,
                                  PhxDir *forward) {
    const fix16_t depth = at.x < 0 ? -at.x : 0, before = depth > BEND ? depth - BEND : 0;
    const PhxVec2 point = trail_point(trail, depth);
    *forward = phx_dir(0, 0);
    (void)phx_vec2_normalize(phx_vec2_sub(trail_point(trail, before), trail_point(trail, depth + BEND)),
                             forward);
    if (middle) *middle = point;
    return phx_vec2_add(point, phx_dir_scale(phx_dir_turn_quarter(*forward), at.y));
}

static bool is_open(const PhxNavGrid *grid, PhxVec2 at) {
    const uint32_t cell = phx_nav_cell_at(grid, at.x, at.y);
    return cell != PHX_NAV_NO_CELL && grid->cost[cell] != PHX_NAV_IMPASSABLE;
}

/* How far a ray is free, in steps. */
static fix16_t free_along(const PhxNavGrid *grid, PhxVec2 at, PhxDir way, fix16_t reach) {
    fix16_t far = 0;
    while (far < reach && is_open(grid, phx_vec2_add(at, phx_dir_scale(way, far + STEP)))) far += STEP;
    return far < reach ? far : reach;
}

PhxFormationRoom phx_formation_room(const PhxNavGrid *grid, PhxVec2 at, PhxDir way, fix16_t reach,
                                    fix16_t ahead) {
    const PhxDir right = phx_dir_turn_quarter(way);
    if (reach > REACH) reach = REACH;
    if (ahead > AHEAD) ahead = AHEAD;
    PhxFormationRoom room = {2 * reach, reach, reach};
    for (fix16_t s = 0; s <= ahead; s += STEP) {
        const PhxVec2 point = phx_vec2_add(at, phx_dir_scale(way, s));
        if (!is_open(grid, point)) break;
        const fix16_t to_right = free_along(grid, point, right, reach),
                      to_left = free_along(grid, point, phx_dir_neg(right), reach);
        if (to_left + to_right < room.width) room = (PhxFormationRoom){to_left + to_right, to_left, to_right};
    }
    return room;
}

/* What is left of a speed as the last straggler falls back, from an eighth of a pitch on; 0 at two. */
static fix16_t waiting_speed(fix16_t speed, fix16_t lag, fix16_t pitch) {
    const fix16_t slack = pitch / 8, stop = 2 * pitch;
    if (lag <= slack) return speed;
    if (lag >= stop) return 0;
    return (fix16_t)phx_div_round((int64_t)speed * (stop - lag), stop - slack);
}

/* Near its goal it covers what is left in half a second, and so comes to rest without a jolt. */
static fix16_t arriving_speed(fix16_t speed, uint32_t distance) {
    return distance < (uint32_t)speed / 2 ? (fix16_t)(2 * distance) : speed;
}

PhxFormationStep phx_formation_march(const PhxFormationMarch *march) {
    PhxFormationStep step = {0};
    const int32_t left = phx_angle_diff(march->facing, march->wanted);
    const int32_t amount = left < 0 ? -left : left, share = amount > SHARP ? SHARP : amount;
    const fix16_t speed = waiting_speed(march->speed, march->lag, march->pitch);
    const fix16_t turning = (fix16_t)((int64_t)speed * share / SHARP);
    if (amount > 0 && speed > 0) {
        const fix16_t brisk = turning > speed / LEAST ? turning : speed / LEAST;
        /* of the outermost slot; a small frame turns as if it were a pitch wide */
        const int64_t reach = march->reach > march->pitch ? march->reach : march->pitch;
        int64_t turn = (int64_t)brisk * RADIAN / reach / march->tick_rate;
        if (turn < 1) turn = 1;
        if (turn > amount) turn = amount;
        step.turn = (int32_t)(left < 0 ? -turn : turn);
    }
    step.velocity = phx_dir_scale(
        march->way,
        arriving_speed(step.turn != 0 && turning < speed / LEAST ? speed - speed / LEAST : speed - turning,
                       march->distance));
    return step;
}

PhxVec2 phx_formation_slot_velocity(const PhxFormationStep *step, PhxVec2 offset, uint32_t tick_rate) {
    const int64_t turn = (int64_t)step->turn * tick_rate; /* binary angles a second */
    const PhxVec2 wheel = {phx_fix_saturate(phx_div_round(-(int64_t)offset.y * turn, RADIAN)),
                           phx_fix_saturate(phx_div_round((int64_t)offset.x * turn, RADIAN))};
    return phx_vec2_add(step->velocity, wheel);
}
