/* walls_stop.c: a disc among walls that are polygons: its way ends where it would touch one.
 *
 * In: walls, where the disc is, where it wants to. Out: where it may go: along the walls it would touch.
 * Method: the way is cut into pieces of at most half a radius, so that no thin wall is jumped; after each
 * piece the disc is pushed off what it touches, straight away from the nearest point, a few times where there
 * are several; where that doesn't free it, the piece isn't walked. Cost: one query where no wall is within
 * reach. Determinism: integers; walls in order of (squared distance, rank).
 */
#include <phalanx/walls.h>

#include "motion/kernels.h"

enum { PUSHES = 4, NEAR = 8 };

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

/* Pushes a disc off the walls that it touches; true: it touches none then. */
static bool push_off(const PhxWalls *walls, fix16_t radius, PhxVec2 *at) {
    PhxWallNear near[NEAR];
    for (int push = 0; push < PUSHES; push++) {
        if (phx_walls_nearest(walls, *at, radius, NEAR, near) == 0) return true;
        const PhxWall wall = phx_walls_get(walls, &near[0]);
        PhxDir out;
        const PhxVec2 away = away_from(&wall, *at);
        const uint32_t distance = phx_vec2_normalize(away, &out);
        if (distance == 0) return false;
        const fix16_t by = radius - (fix16_t)distance + 2; /* two raw units for rounding */
        *at = phx_vec2_add(*at, phx_dir_scale(out, by));
    }
    return phx_walls_nearest(walls, *at, radius, 1, near) == 0;
}

PhxVec2 phx_walls_stop(const PhxWalls *walls, PhxVec2 from, PhxVec2 displacement, fix16_t radius) {
    PhxWallNear near;
    const int64_t length = phx_vec2_length(displacement), reach = length + radius;
    const PhxVec2 to = phx_vec2_add(from, displacement);
    if (reach <= (int64_t)64 * PHX_FIX_ONE && phx_walls_nearest(walls, from, (fix16_t)reach, 1, &near) == 0)
        return to;
    const int64_t pieces = 2 * length / radius + 1;
    PhxVec2 at = from, was = phx_vec2(0, 0);
    for (int64_t piece = 1; piece <= pieces; piece++) {
        const PhxVec2 part = {(fix16_t)phx_div_round((int64_t)displacement.x * piece, pieces),
                              (fix16_t)phx_div_round((int64_t)displacement.y * piece, pieces)};
        PhxVec2 next = phx_vec2_add(at, phx_vec2_sub(part, was));
        was = part;
        if (push_off(walls, radius, &next)) at = next;
    }
    return at;
}
