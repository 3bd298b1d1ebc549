/* field_sight.c: sight over a whole field: units that see a goal walk straight to it.
 *
 * In: a grid, goals, a field of them. Out: for each cell which goal all of it sees, and directions that use
 * that. Why a unit in such a cell may walk straight to any point of the goal's cell: the cell's square slides
 * there through cells of one cost (sight_window.c), so every segment between the two squares lies in these.
 * Cost: about 100 us a goal; a direction is a look more.
 *
 * Determinism: exact integers; of several goals seen the nearest counts, ties: the lowest cell index.
 */
#include <phalanx/nav.h>

#include <string.h>

#include "nav/field_work.h"
#include "nav/tile.h"

_Static_assert(sizeof(PhxSight) <= 4u * PHX_FRONT_MAX_RING * PHX_FRONT_CHUNK,
               "scratch memory of a field holds the windows of sight, on maps of any size");

static uint64_t distance_sq(uint32_t width, uint32_t a, uint32_t b) {
    const int64_t dx = (int64_t)(a % width) - b % width, dy = (int64_t)(a / width) - b / width;
    return (uint64_t)(dx * dx + dy * dy);
}

/* Whether goal `index` is nearer to a cell than the one that it is said to see. */
static bool is_nearer(const PhxNavGrid *grid, const uint32_t *goals, uint32_t cell, uint32_t index,
                      uint8_t other) {
    if (other == PHX_FIELD_SIGHT_NONE) return true;
    const uint64_t here = distance_sq(grid->width, cell, goals[index]),
                   there = distance_sq(grid->width, cell, goals[other]);
    return here != there ? here < there : goals[index] < goals[other];
}

static uint32_t lowest(uint32_t at) { return at > PHX_SIGHT_REACH ? at - PHX_SIGHT_REACH : 0; }
static uint32_t highest(uint32_t at, uint32_t size) {
    return at + PHX_SIGHT_REACH < size ? at + PHX_SIGHT_REACH : size - 1;
}

static void mark_goal(const PhxNavGrid *grid, const PhxSightWindow *window, const uint32_t *goals,
                      uint32_t index, uint8_t *sight) {
    const uint32_t x = goals[index] % grid->width, y = goals[index] / grid->width;
    for (uint32_t cy = lowest(y); cy <= highest(y, grid->height); cy++)
        for (uint32_t cx = lowest(x); cx <= highest(x, grid->width); cx++) {
            const uint32_t cell = cy * grid->width + cx;
            if (phx_sight_sees(window, grid->width, cx, cy) &&
                is_nearer(grid, goals, cell, index, sight[cell]))
                sight[cell] = (uint8_t)index;
        }
}

PhxStatus phx_field_sight(const PhxNavGrid *grid, const uint32_t *goals, uint32_t goal_count, uint8_t *sight,
                          void *scratch) {
    const uint32_t cells = grid->width * grid->height;
    if (goal_count == 0) return PHX_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < goal_count; i++)
        if (goals[i] >= cells) return PHX_ERROR_RANGE;
    for (uint32_t i = 0; i < goal_count; i++)
        if (grid->cost[goals[i]] == PHX_NAV_IMPASSABLE) return PHX_ERROR_STATE;
    memset(sight, PHX_FIELD_SIGHT_NONE, cells);
    PhxSight *windows = scratch;
    phx_sight_build(windows, grid, goals, goal_count);
    for (uint32_t i = 0; i < windows->count; i++) mark_goal(grid, &windows->window[i], goals, i, sight);
    return PHX_OK;
}

PhxDir phx_field_direction_in_sight(const PhxField *field, const uint8_t *sight, const uint32_t *goals,
                                    PhxVec2 goal_point, fix16_t x, fix16_t y) {
    const PhxNavGrid grid = {field->width, field->height, NULL}; /* for the place of cells alone */
    const uint32_t cell = phx_nav_cell_at(&grid, x, y);
    if (cell == PHX_NAV_NO_CELL || sight[cell] == PHX_FIELD_SIGHT_NONE)
        return phx_field_direction(field, x, y);
    const uint32_t goal = goals[sight[cell]];
    const bool in_goal = phx_nav_cell_at(&grid, goal_point.x, goal_point.y) == goal;
    const PhxVec2 to = in_goal ? goal_point : phx_nav_cell_center(&grid, goal);
    PhxDir direction;
    (void)phx_vec2_normalize(phx_vec2_sub(to, phx_vec2(x, y)), &direction);
    return direction;
}

void phx_field_directions(const PhxField *field, const uint8_t *sight, const uint32_t *goals, uint32_t count,
                          const PhxVec2 *goal_points, const PhxVec2 *at, PhxDir *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = sight ? phx_field_direction_in_sight(field, sight, goals, goal_points[i], at[i].x, at[i].y)
                       : phx_field_direction(field, at[i].x, at[i].y);
}
