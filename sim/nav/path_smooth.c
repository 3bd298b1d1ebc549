/* path_smooth.c: from the corners of a path over cells to waypoints with straight lines between them.
 *
 * In: corners, a radius. Out: waypoints. From each waypoint the line goes to the farthest corner that it
 * leads to without touching a wall, corners looked at in turn, and beyond that as far as a bisection finds
 * along the next piece. A waypoint whose neighbours see each other goes. A line is as long as PHX_PATH_SIGHT
 * along an axis at most, or one piece of the path. Where costs differ a line takes only ground that is no
 * dearer than the cheapest of the piece that it replaces: then it costs no more.
 *
 * Cost: a line of sight for each corner and each bisection. Determinism: exact lines, in a fixed order.
 */
#include "nav/path_smooth.h"

#include "nav/path_ground.h"

typedef struct Smoothing {
    const PhxPathGround *ground;
    PhxPath *path;
    fix16_t radius;
    uint32_t last, before; /* cells of the last two waypoints; before: PHX_NAV_NO_CELL where there is one */
} Smoothing;

static bool is_even(const PhxPathGround *ground) { return ground->least == ground->most; }

static bool is_far(uint32_t a, uint32_t b, uint32_t width) {
    const int32_t w = (int32_t)width, dx = (int32_t)a % w - (int32_t)b % w,
                  dy = (int32_t)a / w - (int32_t)b / w;
    return dx > PHX_PATH_SIGHT || dx < -PHX_PATH_SIGHT || dy > PHX_PATH_SIGHT || dy < -PHX_PATH_SIGHT;
}

/* Steps from a corner to the next, and what one adds to a cell. */
static uint32_t piece_of(uint32_t from, uint32_t to, uint32_t width, uint32_t *step) {
    const int32_t w = (int32_t)width, dx = (int32_t)to % w - (int32_t)from % w,
                  dy = (int32_t)to / w - (int32_t)from / w;
    *step = (dx > 0 ? 1u : dx < 0 ? ~0u : 0u) + (dy > 0 ? width : dy < 0 ? 0u - width : 0u);
    const int32_t wide = dx < 0 ? -dx : dx, high = dy < 0 ? -dy : dy;
    return (uint32_t)(wide > high ? wide : high);
}

/* The least cost on a piece, `least` included. */
static uint8_t least_on(const PhxPathGround *ground, uint32_t from, uint32_t to, uint8_t least) {
    uint32_t step;
    const uint32_t steps = piece_of(from, to, ground->width, &step);
    if (is_even(ground)) return ground->most;
    for (uint32_t i = 0; i <= steps; i++)
        if (ground->cost[from + step * i] < least) least = ground->cost[from + step * i];
    return least;
}

static bool sees(const Smoothing *smoothing, uint32_t from, uint32_t to, uint8_t most) {
    const PhxPathGround *ground = smoothing->ground;
    if (is_far(from, to, ground->width)) return false;
    return is_even(ground) ? phx_path_clear(ground, from, to, smoothing->radius)
                           : phx_path_clear_within(ground, from, to, smoothing->radius, most);
}

/* How many steps of the piece behind what is seen can be seen too. */
static uint32_t see_on(const Smoothing *smoothing, uint32_t from, uint32_t corner, uint32_t next,
                       uint8_t most) {
    uint32_t step, low = 0, high = piece_of(corner, next, smoothing->ground->width, &step);
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (sees(smoothing, from, corner + step * middle, most))
            low = middle;
        else
            high = middle;
    }
    return corner + step * low;
}

static void put(Smoothing *smoothing, uint32_t cell) {
    PhxPath *path = smoothing->path;
    const PhxPathGround *ground = smoothing->ground;
    const PhxNavGrid grid = phx_path_ground_grid(ground);
    if (path->waypoints_cut) return;
    if (smoothing->before != PHX_NAV_NO_CELL && is_even(ground) &&
        sees(smoothing, smoothing->before, cell, ground->most))
        path->waypoint_count--;
    else
        smoothing->before = smoothing->last;
    smoothing->last = cell;
    if (path->waypoint_count < path->waypoint_capacity)
        path->waypoints[path->waypoint_count++] =
            phx_cost_center_of(&grid, phx_cost_size_of(smoothing->radius), cell);
    else
        path->waypoints_cut = true;
}

void phx_path_smooth(const PhxPathGround *ground, const uint32_t *corner, uint32_t count, fix16_t radius,
                     PhxPath *path) {
    Smoothing smoothing = {ground, path, radius, PHX_NAV_NO_CELL, PHX_NAV_NO_CELL};
    uint32_t at = corner[0],
             seen = 0; /* the last waypoint, and a corner that it sees; it lies at or behind */
    put(&smoothing, at);
    while (seen + 1 < count) {
        uint8_t least = least_on(ground, at, corner[seen + 1], PHX_NAV_IMPASSABLE);
        for (seen++; seen + 1 < count; seen++) {
            const uint8_t with = least_on(ground, corner[seen], corner[seen + 1], least);
            if (!sees(&smoothing, at, corner[seen + 1], with)) {
                least = with;
                break;
            }
            least = with;
        }
        at = seen + 1 < count ? see_on(&smoothing, at, corner[seen], corner[seen + 1], least) : corner[seen];
        put(&smoothing, at);
    }
}
