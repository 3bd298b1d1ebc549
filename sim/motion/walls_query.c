/* walls_query.c: the wall segments near a point.
 *
 * In: walls in buckets, a point, a range. Out: segments whose open side the point is on, nearest first.
 * Cost: the entries of the buckets that the range touches; none in the open.
 *
 * Determinism: the answer is the first of a total order, (squared distance, index); a segment that lies in
 * several buckets is met several times and kept once.
 */
#include <phalanx/walls.h>

#include "base/assert.h"
#include "motion/walls_buckets.h"

/* First and last bucket of one axis; false where the range misses them all. */
static bool clip_axis(int64_t at, int64_t range, int32_t origin, uint32_t shift, uint32_t size,
                      uint32_t *first, uint32_t *last) {
    const int64_t low = at - range - origin, high = at + range - origin;
    if (high < 0) return false;
    const uint64_t from = low < 0 ? 0 : (uint64_t)low >> shift, to = (uint64_t)high >> shift;
    if (from >= size) return false;
    *first = (uint32_t)from;
    *last = to < size ? (uint32_t)to : size - 1;
    return true;
}

/* Squared distance from the point to a segment; false where the point isn't on its open side.
 * Differences are at most 2^31 raw, products with directions 2^62. */
static bool distance_to(const PhxWalls *walls, const PhxWall *wall, PhxVec2 at, uint64_t *distance_sq) {
    const int64_t rx = (int64_t)at.x - wall->start.x, ry = (int64_t)at.y - wall->start.y;
    const int64_t beside = phx_round_shift(wall->dir.x * ry - wall->dir.y * rx, 30);
    if (beside >= 0) return false;
    const int64_t along = phx_round_shift(wall->dir.x * rx + wall->dir.y * ry, 30);
    if (along < 0) {
        *distance_sq = (uint64_t)(rx * rx) + (uint64_t)(ry * ry);
    } else if (along > wall->length) {
        const PhxVec2 end = walls->wall[wall->next].start;
        const int64_t ex = (int64_t)at.x - end.x, ey = (int64_t)at.y - end.y;
        *distance_sq = (uint64_t)(ex * ex) + (uint64_t)(ey * ey);
    } else {
        *distance_sq = (uint64_t)(beside * beside);
    }
    return true;
}

static bool before(const PhxWallNear *a, const PhxWallNear *b) {
    return a->distance_sq != b->distance_sq ? a->distance_sq < b->distance_sq : a->wall < b->wall;
}

/* Puts `item` into its place among the `found` in `out`; returns how many there are then. */
static uint32_t insert(PhxWallNear *out, uint32_t found, uint32_t limit, PhxWallNear item) {
    uint32_t at = found;
    while (at > 0 && before(&item, &out[at - 1])) at--;
    if (at == limit || (at > 0 && out[at - 1].wall == item.wall)) return found;
    const uint32_t count = found < limit ? found + 1 : limit;
    for (uint32_t i = count - 1; i > at; i--) out[i] = out[i - 1];
    out[at] = item;
    return count;
}

uint32_t phx_walls_nearest(const PhxWalls *walls, PhxVec2 at, fix16_t range, uint32_t limit,
                           PhxWallNear *out) {
    PHX_ASSERT(limit <= PHX_WALLS_MAX_NEAR, limit, 0);
    if (walls->count == 0 || range <= 0 || limit == 0) return 0;
    PhxWallsWindow w;
    if (!clip_axis(at.x, range, walls->origin_x, walls->bucket_shift, walls->buckets_x, &w.first_x,
                   &w.last_x) ||
        !clip_axis(at.y, range, walls->origin_y, walls->bucket_shift, walls->buckets_y, &w.first_y,
                   &w.last_y))
        return 0;
    const uint64_t range_sq = (uint64_t)range * (uint64_t)range;
    uint32_t found = 0;
    for (uint32_t by = w.first_y; by <= w.last_y; by++) {
        const uint32_t *start = walls->bucket_start + (size_t)by * walls->buckets_x;
        for (uint32_t item = start[w.first_x]; item < start[w.last_x + 1]; item++) {
            PhxWallNear near = {.wall = walls->bucket_item[item]};
            if (!distance_to(walls, &walls->wall[near.wall], at, &near.distance_sq)) continue;
            if (near.distance_sq < range_sq) found = insert(out, found, limit, near);
        }
    }
    return found;
}
