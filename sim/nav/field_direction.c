/* field_direction.c: the direction that a flow field gives at any position.
 *
 * In: a built field, a position Q16.16. Out: a unit vector Q2.30, or zero. Cost: constant (about 45 ns); in
 * walls, the square of the distance to the nearest passable cell.
 *
 * Why it never leads into a wall: what the surrounding cells want is blended, then a component is taken off
 * if the cell on that side is a wall; if both are left and the cell between them diagonally is a wall, only
 * the one along the cell's own arrow stays. So every cell that a step of up to 1 unit can touch is passable.
 * Why it always leads on: only arrows within 90 degrees of the cell's own count, whose weight is at least
 * 1/4; so the blend has a positive part along the own arrow, and as that arrow leads to a passable cell,
 * taking off what points into a wall leaves that part. Determinism: integers; each rounding is symmetric
 * about zero.
 */
#include <phalanx/nav.h>

#include "nav/nearest.h"

/* Components of the directions, Q16: 65536 / sqrt 2 = 46341. */
enum { STRAIGHT = 65536, DIAGONAL = 46341 };

typedef struct Wish {
    int64_t x, y;
} Wish;

static uint8_t flow_at(const PhxField *field, int32_t cx, int32_t cy) {
    if (cx < 0 || cy < 0 || (uint32_t)cx >= field->width || (uint32_t)cy >= field->height)
        return PHX_FLOW_WALL;
    return field->flow[(uint32_t)cy * field->width + (uint32_t)cx];
}

static bool is_open(const PhxField *field, int32_t cx, int32_t cy) {
    return flow_at(field, cx, cy) != PHX_FLOW_WALL;
}

static void wish_add(Wish *wish, uint8_t code, int64_t weight) {
    const int64_t length = code % 2 ? DIAGONAL : STRAIGHT;
    wish->x += phx_flow_dx[code] * length * weight;
    wish->y += phx_flow_dy[code] * length * weight;
}

/* Adds the arrow of the cell (sx, sy) beside (cx, cy), if it counts there. sx, sy: -1, 0 or 1. */
static void add_neighbour(const PhxField *field, Wish *wish, int32_t cx, int32_t cy, int32_t sx, int32_t sy,
                          uint8_t own, int64_t weight) {
    const uint8_t code = flow_at(field, cx + sx, cy + sy);
    if (code >= PHX_FLOW_GOAL) return;
    if (!is_open(field, cx + sx, cy) || !is_open(field, cx, cy + sy)) return;
    const unsigned apart = (unsigned)(code - own) & 7u;
    if (apart > 2 && apart < 6) return;
    wish_add(wish, code, weight);
}

/* Takes off what would lead from cell (cx, cy) into a wall. */
static void keep_off_walls(const PhxField *field, Wish *wish, int32_t cx, int32_t cy, uint8_t own) {
    const int32_t sx = wish->x > 0 ? 1 : -1, sy = wish->y > 0 ? 1 : -1;
    if (!is_open(field, cx + sx, cy)) wish->x = 0;
    if (!is_open(field, cx, cy + sy)) wish->y = 0;
    if (wish->x == 0 || wish->y == 0 || is_open(field, cx + sx, cy + sy)) return;
    if (phx_flow_dx[own] == sx)
        wish->y = 0;
    else
        wish->x = 0;
}

static PhxDir out_of_wall(const PhxField *field, fix16_t x, fix16_t y) {
    const uint32_t cx = phx_nav_clamp_axis(x, field->width), cy = phx_nav_clamp_axis(y, field->height);
    const uint32_t cell =
        phx_nav_nearest_unlike(field->flow, field->width, field->height, cx, cy, PHX_FLOW_WALL);
    if (cell == PHX_NAV_NO_CELL) return (PhxDir){0, 0};
    const fix16_t to_x = (fix16_t)(cell % field->width * 65536 + PHX_NAV_HALF);
    const fix16_t to_y = (fix16_t)(cell / field->width * 65536 + PHX_NAV_HALF);
    PhxDir direction;
    (void)phx_vec2_normalize((PhxVec2){phx_fix_sub(to_x, x), phx_fix_sub(to_y, y)}, &direction);
    return direction;
}

PhxDir phx_field_direction(const PhxField *field, fix16_t x, fix16_t y) {
    const int32_t cx = phx_nav_floor(x), cy = phx_nav_floor(y);
    const uint8_t own = flow_at(field, cx, cy);
    if (own == PHX_FLOW_WALL) return out_of_wall(field, x, y);
    if (own >= PHX_FLOW_GOAL) return (PhxDir){0, 0};
    /* How far the position lies from the cell's centre, on which side: 0..32768 */
    const int32_t off_x = x - (cx * 65536 + PHX_NAV_HALF), off_y = y - (cy * 65536 + PHX_NAV_HALF);
    const int32_t sx = off_x < 0 ? -1 : 1, sy = off_y < 0 ? -1 : 1;
    const int64_t fx = off_x * sx, fy = off_y * sy;
    Wish wish = {0, 0};
    wish_add(&wish, own, (65536 - fx) * (65536 - fy));
    add_neighbour(field, &wish, cx, cy, sx, 0, own, fx * (65536 - fy));
    add_neighbour(field, &wish, cx, cy, 0, sy, own, (65536 - fx) * fy);
    add_neighbour(field, &wish, cx, cy, sx, sy, own, fx * fy);
    keep_off_walls(field, &wish, cx, cy, own);
    /* weights sum to at most 2^32 and lengths are below 2^16 + 1: 18 bits less fit 31 */
    PhxDir direction;
    const PhxVec2 sum = {(fix16_t)phx_round_shift(wish.x, 18), (fix16_t)phx_round_shift(wish.y, 18)};
    (void)phx_vec2_normalize(sum, &direction);
    return direction;
}
