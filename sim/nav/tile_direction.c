/* tile_direction.c: what a tile says to a unit.
 *
 * In: a tile, the plane that it was built for, positions Q16.16. Out: unit vectors Q2.30, costs, codes.
 *
 * In sight: straight to the goal's point. Elsewhere the wishes of the up to four cells of the sector that
 * surround the position are weighted bilinearly: each is the direction from the position to the cell's aim,
 * or its arrow; a cell that no step from the own cell leads to, or whose wish is more than 90 degrees off the
 * own arrow, doesn't count. Then, if a step of 1 unit would touch a wall, the direction is turned as little
 * as keeps the step off it; if that doesn't lead along the own arrow, the arrow itself is told. So from any
 * position a straight step of up to 1 unit touches passable cells only, and has a positive part along the own
 * arrow. Ground that costs more than the own cell and the one that the arrow leads to is avoided like a wall
 * where that can be; else a way that grazes it would lead over it. Cost: constant, at most seven roots (about
 * 60 ns); in walls, the square of the distance to the nearest passable cell. Determinism: integers; ties by a
 * fixed order.
 */
#include "nav/nearest.h"
#include "nav/sector.h"
#include "nav/tile_place.h"
#include "nav/tile_spot.h"

/* Components of the directions, Q30: 2^30 / sqrt 2. */
enum { STRAIGHT = 1 << 30, DIAGONAL = 759250125, UNIT = 65536 };

typedef PhxTilePlace Place;

static PhxDir arrow(uint8_t code) {
    const int32_t length = code % 2 ? DIAGONAL : STRAIGHT;
    return phx_dir(phx_flow_dx[code] * length, phx_flow_dy[code] * length);
}

static uint32_t local_at(int32_t cx, int32_t cy) { return phx_sector_local((uint32_t)cx, (uint32_t)cy); }

/* Whether a cell beside the own one lies in the same sector, and in the map. */
static bool in_sector(const Place *place, int32_t cx, int32_t cy) {
    const uint32_t other = ((uint32_t)cx ^ (uint32_t)place->cx) | ((uint32_t)cy ^ (uint32_t)place->cy);
    return other < PHX_SECTOR_SIDE && (uint32_t)cx < place->plane->width &&
           (uint32_t)cy < place->plane->height;
}

/* Whether the part of a direction along the own arrow is positive. */
static bool leads_on(const Place *place, int64_t x, int64_t y) {
    return x * phx_flow_dx[place->own] + y * phx_flow_dy[place->own] > 0;
}

/* Whether a part of a direction along the own arrow is large: it is within 60 degrees of a straight arrow, or
 * 69 of a diagonal one. On ground of several costs an aim farther off may lie on another way that costs
 * about the same; who changed from one to the other and back would never arrive. */
static bool leads_straight_on(const Place *place, PhxDir direction) {
    return (int64_t)direction.x * phx_flow_dx[place->own] + (int64_t)direction.y * phx_flow_dy[place->own] >=
           STRAIGHT / 2;
}

/* Whether the passable ones of the cells E, S, W and N of the own one cost what it costs. */
static bool is_even(const Place *place) {
    const PhxNavGrid *plane = place->plane;
    const uint8_t own = plane->cost[(uint32_t)place->cy * plane->width + (uint32_t)place->cx];
    for (uint32_t d = 0; d < 8; d += 2) {
        const uint32_t x = (uint32_t)(place->cx + phx_flow_dx[d]), y = (uint32_t)(place->cy + phx_flow_dy[d]);
        if (x >= plane->width || y >= plane->height) continue;
        const uint8_t cost = plane->cost[y * plane->width + x];
        if (cost != own && cost != PHX_NAV_IMPASSABLE) return false;
    }
    return true;
}

/* Where a cell aims, in 1/16 of cells from the map's origin; two aims at one place are one spot. */
typedef struct Aim {
    int32_t x, y;
    bool some; /* false: it has none and follows its arrow */
} Aim;

static Aim aim_of(const Place *place, int32_t cx, int32_t cy, uint32_t local) {
    const uint16_t aim = place->tile->aim[local];
    if (aim == PHX_TILE_AIM_NONE) return (Aim){0, 0, false};
    Aim at = {.some = true};
    phx_tile_aim_at(place->tile, place->plane->width, aim, (uint32_t)cx, (uint32_t)cy, &at.x, &at.y);
    return at;
}

/* The direction from the position to where a cell aims; the own arrow where that leads elsewhere. Places in
 * the map and their differences are below 2^28. */
static PhxDir to_aim(const Place *place, Aim aim) {
    enum { SCALE = UNIT / PHX_SPOT_UNIT };
    PhxDir direction;
    (void)phx_vec2_normalize(phx_vec2(aim.x * SCALE - place->x, aim.y * SCALE - place->y), &direction);
    if (leads_straight_on(place, direction)) return direction;
    return leads_on(place, direction.x, direction.y) && is_even(place) ? direction : arrow(place->own);
}

/* Weighted sum of wishes, in units of 2^-36; of the own wish, the weight alone. */
typedef struct Blend {
    int64_t x, y, own;
} Blend;

enum { WEIGHT_SHIFT = 14 }; /* of a weight, before it is multiplied */

static void blend_add(Blend *sum, PhxDir wish, int64_t weight) {
    sum->x += (wish.x >> 8) * weight;
    sum->y += (wish.y >> 8) * weight;
}

/* The blend of the surrounding cells. Weights sum to 2^32, of which the own is at least a quarter. */
static PhxDir blend(const Place *place) {
    const int32_t off_x = place->x - (place->cx * UNIT + PHX_NAV_HALF);
    const int32_t off_y = place->y - (place->cy * UNIT + PHX_NAV_HALF);
    const int32_t sx = off_x < 0 ? -1 : 1, sy = off_y < 0 ? -1 : 1;
    const int64_t fx = off_x * sx, fy = off_y * sy;
    const int64_t weight[3] = {fx * (UNIT - fy), (UNIT - fx) * fy, fx * fy};
    const int32_t nx[3] = {place->cx + sx, place->cx, place->cx + sx};
    const int32_t ny[3] = {place->cy, place->cy + sy, place->cy + sy};
    const Aim aim = aim_of(place, place->cx, place->cy, place->local);
    /* a far aim is the same for whichever cell has it, and so is none */
    const uint32_t told = place->tile->aim[place->local], far = told & PHX_TILE_AIM_FAR ? told : UINT32_MAX;
    const PhxDir own = aim.some ? to_aim(place, aim) : arrow(place->own);
    Blend sum = {0, 0, (UNIT - fx) * (UNIT - fy) >> WEIGHT_SHIFT};
    bool alike = true;
    for (int i = 0; i < 3; i++) {
        if (!in_sector(place, nx[i], ny[i])) continue;
        const uint32_t n = local_at(nx[i], ny[i]);
        const uint8_t code = place->tile->flow[n] & PHX_FLOW_CODE;
        if (code >= PHX_FLOW_GOAL) continue;
        const Aim other = place->tile->aim[n] == far ? aim : aim_of(place, nx[i], ny[i], n);
        if (other.some && aim.some && other.x == aim.x && other.y == aim.y) {
            sum.own += weight[i] >> WEIGHT_SHIFT;
            continue;
        }
        if (i == 2 && (!phx_nav_passable(place->plane, nx[i], place->cy) ||
                       !phx_nav_passable(place->plane, place->cx, ny[i])))
            continue;
        const PhxDir wish = other.some ? to_aim(place, other) : arrow(code);
        if (!leads_on(place, wish.x, wish.y)) continue;
        alike = false;
        blend_add(&sum, wish, weight[i] >> WEIGHT_SHIFT);
    }
    if (alike) return own;
    blend_add(&sum, own, sum.own);
    PhxDir direction;
    const PhxVec2 wide = phx_vec2((fix16_t)phx_round_shift(sum.x, 12), (fix16_t)phx_round_shift(sum.y, 12));
    (void)phx_vec2_normalize(wide, &direction);
    return direction;
}

/* Which way a step of 1 unit leaves a cell along an axis: -1, 0 or 1. Its ends count as outside. */
static int32_t leaves(fix16_t position, int32_t cell, int32_t direction) {
    const int64_t at = position - (int64_t)cell * UNIT, end = at + phx_round_shift(direction, 14);
    if (direction > 0 && end >= UNIT) return 1;
    return direction < 0 && end < 0 ? -1 : 0;
}

static uint8_t cost_at(const Place *place, int32_t cx, int32_t cy) {
    return place->plane->cost[(uint32_t)cy * place->plane->width + (uint32_t)cx];
}

/* A unit vector whose part along one axis is just what a step of 1 unit stays in the cell with. `at`: offset
 * in the cell, 0..65535; signs: of the direction along this axis and the other one. */
static PhxDir slide(int32_t at, int32_t sign, int32_t other_sign, bool along_x) {
    const int64_t room = (int64_t)(sign > 0 ? UNIT - 1 - at : at) << (PHX_DIR_BITS - 16);
    const int64_t rest = phx_isqrt64((uint64_t)(((int64_t)1 << 2 * PHX_DIR_BITS) - room * room));
    const int32_t own = (int32_t)(sign * room), other = (int32_t)(other_sign * rest);
    return along_x ? phx_dir(own, other) : phx_dir(other, own);
}

/* Whether a cell may be entered: it costs at most `limit`, which is less than a wall does. */
static bool may_enter(const Place *place, int32_t cx, int32_t cy, uint8_t limit) {
    const PhxNavGrid *plane = place->plane;
    if (cx < 0 || cy < 0 || (uint32_t)cx >= plane->width || (uint32_t)cy >= plane->height) return false;
    return plane->cost[(uint32_t)cy * plane->width + (uint32_t)cx] <= limit;
}

/* Whether a step of up to 1 unit touches only cells that may be entered. */
static bool is_safe(const Place *place, PhxDir direction, uint8_t limit) {
    const int32_t cx = place->cx, cy = place->cy;
    const int32_t sx = leaves(place->x, cx, direction.x), sy = leaves(place->y, cy, direction.y);
    return (sx == 0 || may_enter(place, cx + sx, cy, limit)) &&
           (sy == 0 || may_enter(place, cx, cy + sy, limit)) &&
           (sx == 0 || sy == 0 || may_enter(place, cx + sx, cy + sy, limit));
}

/* Whether a quarter of a direction at least goes along the own arrow: what slides on the spot, back and forth
 * between two cells, would never arrive. */
static bool leads_well(const Place *place, PhxDir direction) {
    return (int64_t)direction.x * phx_flow_dx[place->own] + (int64_t)direction.y * phx_flow_dy[place->own] >=
           STRAIGHT / 4;
}

/* Turns a direction so far that a step of 1 unit ends before the cell's edge, in x or in y; the one of the
 * two that is nearer to what was wanted. False if none of them will do. */
static bool turn_aside(const Place *place, PhxDir *direction, uint8_t limit) {
    const int32_t sx = direction->x < 0 ? -1 : 1, sy = direction->y < 0 ? -1 : 1;
    const PhxDir within[2] = {slide(place->x - place->cx * UNIT, sx, sy, true),
                              slide(place->y - place->cy * UNIT, sy, sx, false)};
    const PhxDir wanted = *direction;
    int64_t most = INT64_MIN;
    for (int i = 0; i < 2; i++) {
        if (!is_safe(place, within[i], limit) || !leads_well(place, within[i])) continue;
        const int64_t along = phx_dir_dot(within[i], wanted);
        if (along <= most) continue;
        most = along;
        *direction = within[i];
    }
    return most != INT64_MIN;
}

/* Keeps a step of 1 unit off walls; and, if that can be, off cells that cost more than the own one and the
 * one that the arrow leads to. */
static PhxDir keep_off_walls(const Place *place, PhxDir direction) {
    enum { PASSABLE = PHX_NAV_IMPASSABLE - 1 };
    const int32_t cx = place->cx, cy = place->cy, dx = phx_flow_dx[place->own], dy = phx_flow_dy[place->own];
    const uint8_t own = cost_at(place, cx, cy), next = cost_at(place, cx + dx, cy + dy);
    const uint8_t limit = own > next ? own : next;
    if (is_safe(place, direction, limit)) return direction;
    PhxDir turned = direction;
    if (turn_aside(place, &turned, limit)) return turned;
    if (is_safe(place, direction, PASSABLE)) return direction;
    return turn_aside(place, &turned, PASSABLE) ? turned : arrow(place->own);
}

static PhxDir out_of_wall(const Place *place) {
    const uint32_t cell =
        phx_nav_nearest_open(place->plane, phx_nav_cell_clamped(place->plane, place->at.x, place->at.y));
    if (cell == PHX_NAV_NO_CELL) return phx_dir(0, 0);
    const PhxVec2 to = phx_nav_cell_center(place->plane, cell);
    PhxDir direction;
    (void)phx_vec2_normalize(phx_vec2(phx_fix_sub(to.x, place->at.x), phx_fix_sub(to.y, place->at.y)),
                             &direction);
    return direction;
}

/* Straight to the goal's point, if that lies in the goal's cell, else to the cell's centre. */
static PhxDir to_goal(const Place *place, uint32_t goal, PhxVec2 point) {
    if (phx_nav_cell_at(place->plane, point.x, point.y) != goal)
        point = phx_nav_cell_center(place->plane, goal);
    PhxDir direction;
    const PhxVec2 way = phx_vec2(point.x - place->x, point.y - place->y);
    const uint32_t length = phx_vec2_normalize(way, &direction);
    /* a step of 1 unit could pass the point */
    return length > UNIT ? direction : keep_off_walls(place, direction);
}

static fix16_t clamp(fix16_t position, uint32_t from, uint32_t cells) {
    const int64_t low = (int64_t)from * UNIT, high = ((int64_t)from + cells) * UNIT - 1;
    return (fix16_t)(position < low ? low : position > high ? high : position);
}

PhxDir phx_tile_place_direction(const PhxTilePlace *place, PhxVec2 goal_point) {
    if (place->own == PHX_FLOW_WALL) return out_of_wall(place);
    if (place->own >= PHX_FLOW_GOAL) return phx_dir(0, 0);
    if (!place->in_sight) return keep_off_walls(place, blend(place));
    const uint32_t goal = phx_tile_aim_spot(place->tile, place->plane->width, place->tile->aim[place->local],
                                            (uint32_t)place->cx, (uint32_t)place->cy);
    return to_goal(place, goal, goal_point);
}

/* Any position, moved into the tile's sector. */
static Place place_at(const PhxTile *tile, const PhxNavGrid *plane, const PhxSectorFrame *frame, PhxVec2 at) {
    const fix16_t x = clamp(at.x, frame->x0, frame->width), y = clamp(at.y, frame->y0, frame->height);
    return phx_tile_place(tile, plane, x / UNIT, y / UNIT, at);
}

PhxDir phx_tile_direction(const PhxTile *tile, const PhxNavGrid *plane, PhxVec2 goal_point, fix16_t x,
                          fix16_t y) {
    PhxDir direction;
    const PhxVec2 at = {x, y};
    phx_tile_directions(tile, plane, 1, &goal_point, &at, &direction);
    return direction;
}

void phx_tile_directions(const PhxTile *tile, const PhxNavGrid *plane, uint32_t count,
                         const PhxVec2 *goal_points, const PhxVec2 *at, PhxDir *out) {
    const PhxSectorFrame frame = phx_sector_frame(plane->width, plane->height, tile->sector);
    for (uint32_t i = 0; i < count; i++) {
        const Place place = place_at(tile, plane, &frame, at[i]);
        out[i] = phx_tile_place_direction(&place, goal_points[i]);
    }
}

/* The local index of a map cell, if it lies in the tile's sector; else PHX_NAV_NO_CELL. */
static uint32_t local_of(const PhxTile *tile, const PhxNavGrid *plane, uint32_t cell) {
    const uint32_t cx = cell % plane->width, cy = cell / plane->width;
    if (cy >= plane->height || phx_sector_at(plane->width, cx, cy) != tile->sector) return PHX_NAV_NO_CELL;
    return phx_sector_local(cx, cy);
}

uint64_t phx_tile_cost(const PhxTile *tile, const PhxNavGrid *plane, uint32_t cell) {
    const uint32_t local = local_of(tile, plane, cell);
    return local == PHX_NAV_NO_CELL ? UINT64_MAX : phx_tile_cost_in(tile, local);
}

uint8_t phx_tile_flow(const PhxTile *tile, const PhxNavGrid *plane, uint32_t cell, bool *in_sight) {
    const uint32_t local = local_of(tile, plane, cell);
    const uint8_t flow = local == PHX_NAV_NO_CELL ? PHX_FLOW_WALL : tile->flow[local];
    if (in_sight) *in_sight = (flow & PHX_FLOW_SIGHT) != 0;
    return flow & PHX_FLOW_CODE;
}
