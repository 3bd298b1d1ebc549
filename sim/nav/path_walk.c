/* path_walk.c: which waypoint a walker goes to.
 *
 * In: waypoints, a position. Out: how far it has come. A waypoint is behind a walker who stands near it or
 * beyond the line through it, so nobody is ever sent back. Cost: some ns a waypoint. Determinism: exact
 * integers: differences of positions within +-8192 units have 31 bits, sums of their products 62.
 */
#include <phalanx/path.h>

#include "base/assert.h"

static int64_t dot(int64_t ax, int64_t ay, int64_t bx, int64_t by) { return ax * bx + ay * by; }

bool phx_path_passed(PhxVec2 before, PhxVec2 waypoint, PhxVec2 at, fix16_t radius) {
    const int64_t dx = (int64_t)at.x - waypoint.x, dy = (int64_t)at.y - waypoint.y;
    if (dot(dx, dy, dx, dy) <= (int64_t)radius * radius) return true;
    return dot(dx, dy, (int64_t)waypoint.x - before.x, (int64_t)waypoint.y - before.y) >= 0;
}

uint32_t phx_path_advance(const PhxVec2 *waypoints, uint32_t count, uint32_t next, PhxVec2 at,
                          fix16_t radius) {
    if (count == 0) return 0;
    PHX_ASSERT(next >= 1 || count == 1, next, count);
    while (next + 1 < count && phx_path_passed(waypoints[next - 1], waypoints[next], at, radius)) next++;
    return next < count ? next : count - 1;
}
