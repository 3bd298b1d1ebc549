/* walls_stop.c: a disc among walls that are polygons: its way ends where it would touch one.
 *
 * In: walls, where the disc is, where it wants to. Out: where it may go: along the walls it would touch.
 * Method: the way is cut into pieces of at most half a radius, so that no thin wall is jumped; after each
 * piece the disc is pushed off what it touches, straight away from the nearest point, a few times where there
 * are several; where that doesn't free it, or takes its centre through a wall (which can be where it lay in
 * one by more than half a radius), the piece isn't walked, and the disc is only pushed off where it stands.
 * A thin wall has two sides, and who stands on its line sees neither: polygons are looked at from beside too.
 * Cost: one query where no wall is within reach, three among polygons; two more for each piece with a push.
 * Determinism: integers; walls in order of (squared distance, rank); crossings by exact products.
 */
#include <phalanx/walls.h>

#include "motion/kernels.h"

enum {
    PUSHES = 4,
    BESIDE = 3, /* raw: whatever line goes through a point, one of two such steps along the axes is off it */
    RANGE_MAX = 64 * PHX_FIX_ONE - 2 * BESIDE, /* of a query */
};

/* Where walls are looked at from: the point, and for polygons two beside it. */
static int views_of(const PhxWalls *walls) { return walls->sector ? 1 : 3; }

static PhxVec2 view(PhxVec2 at, int i) {
    return phx_vec2(at.x + (i == 1 ? BESIDE : 0), at.y + (i == 2 ? BESIDE : 0));
}

/* The point of a wall nearest to `at`, as a vector from there to `at`; raw, |.| < 2^24. */
static PhxVec2 away_from(const PhxWall *wall, PhxVec2 at) {
    const int64_t px = (int64_t)at.x - wall->start.x, py = (int64_t)at.y - wall->start.y;
    const int64_t along = phx_round_shift(px * wall->dir.x + py * wall->dir.y, 30); /* 2^24 * 2^30 */
    if (along <= 0) return phx_vec2((fix16_t)px, (fix16_t)py);
    if (along >= wall->length) return phx_vec2_sub(at, wall->end);
    const int64_t side = phx_round_shift(px * wall->dir.y - py * wall->dir.x, 30);
    return phx_vec2((fix16_t)phx_round_shift(side * wall->dir.y, 30),
                    (fix16_t)phx_round_shift(-side * wall->dir.x, 30));
}

/* The nearest wall within the range (< 64 units), seen from the point or, where none is, from beside it. */
static bool nearest_wall(const PhxWalls *walls, PhxVec2 at, fix16_t range, PhxWallNear *near) {
    if (phx_walls_nearest(walls, at, range, 1, near) > 0) return true;
    for (int i = 1; i < views_of(walls); i++) {
        if (phx_walls_nearest(walls, view(at, i), range + BESIDE, 1, near) == 0) continue;
        const PhxWall wall = phx_walls_get(walls, near);
        if (phx_vec2_length(away_from(&wall, at)) < (uint32_t)range) return true;
    }
    return false;
}

/* Pushes a disc off the walls that it touches; true: it touches none then. */
static bool push_off(const PhxWalls *walls, fix16_t radius, PhxVec2 *at, bool *pushed) {
    PhxWallNear near;
    *pushed = false;
    for (int push = 0; push < PUSHES; push++) {
        if (!nearest_wall(walls, *at, radius, &near)) return true;
        const PhxWall wall = phx_walls_get(walls, &near);
        PhxDir out;
        const PhxVec2 away = away_from(&wall, *at);
        const uint32_t distance = phx_vec2_normalize(away, &out);
        if (distance == 0) return false;
        const fix16_t by = radius - (fix16_t)distance + 2; /* two raw units for rounding */
        *at = phx_vec2_add(*at, phx_dir_scale(out, by));
        *pushed = true;
    }
    return !nearest_wall(walls, *at, radius, &near);
}

/* On which side of the line from a to b: > 0 left, 0 on it; differences < 2^30, products < 2^60. */
static int64_t side_of(PhxVec2 a, PhxVec2 b, PhxVec2 at) {
    return ((int64_t)b.x - a.x) * ((int64_t)at.y - a.y) - ((int64_t)b.y - a.y) * ((int64_t)at.x - a.x);
}

static bool opposite(int64_t a, int64_t b) { return (a <= 0 && b >= 0) || (a >= 0 && b <= 0); }

/* Whether a centre that goes straight from `from` to `to` changes the side of a wall; who can't tell, as the
 * way is too long or too many walls are near, says yes. */
static bool crosses(const PhxWalls *walls, PhxVec2 from, PhxVec2 to) {
    PhxWallNear near[PHX_WALLS_MAX_NEAR];
    const fix16_t reach = (fix16_t)phx_vec2_length(phx_vec2_sub(to, from)) + 2 * BESIDE;
    if (reach > RANGE_MAX) return true;
    for (int i = 0; i < views_of(walls); i++) {
        const uint32_t found = phx_walls_nearest(walls, view(from, i), reach, PHX_WALLS_MAX_NEAR, near);
        if (found == PHX_WALLS_MAX_NEAR) return true;
        for (uint32_t k = 0; k < found; k++) {
            const PhxWall wall = phx_walls_get(walls, &near[k]);
            const int64_t after = side_of(wall.start, wall.end, to);
            if (opposite(side_of(wall.start, wall.end, from), after) &&
                opposite(side_of(from, to, wall.start), side_of(from, to, wall.end)))
                return true;
        }
    }
    return false;
}

/* From `at` to `next` and off what it touches there; false, and no step, where that can't be. */
static bool step_to(const PhxWalls *walls, fix16_t radius, PhxVec2 next, PhxVec2 *at) {
    bool pushed;
    if (!push_off(walls, radius, &next, &pushed)) return false;
    if (pushed && crosses(walls, *at, next)) return false;
    *at = next;
    return true;
}

PhxVec2 phx_walls_stop(const PhxWalls *walls, PhxVec2 from, PhxVec2 displacement, fix16_t radius) {
    PhxWallNear near;
    const int64_t length = phx_vec2_length(displacement), reach = length + radius;
    const PhxVec2 to = phx_vec2_add(from, displacement);
    if (reach < RANGE_MAX && !nearest_wall(walls, from, (fix16_t)reach, &near)) return to;
    const int64_t pieces = 2 * length / radius + 1;
    PhxVec2 at = from, was = phx_vec2(0, 0);
    for (int64_t piece = 1; piece <= pieces; piece++) {
        const PhxVec2 part = {(fix16_t)phx_div_round((int64_t)displacement.x * piece, pieces),
                              (fix16_t)phx_div_round((int64_t)displacement.y * piece, pieces)};
        const PhxVec2 by = phx_vec2_sub(part, was);
        was = part;
        if (!step_to(walls, radius, phx_vec2_add(at, by), &at)) (void)step_to(walls, radius, at, &at);
    }
    return at;
}
