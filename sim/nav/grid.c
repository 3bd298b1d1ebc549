/* grid.c: positions to cells and back, and the nearest passable cell.
 *
 * In: a PhxNavGrid, a position or a cell. Out: cells, centres. Cost: constant; the nearest cell costs the
 * square of its distance. Determinism: integers; the nearest cell is ordered by (squared distance, index).
 */
#include <phalanx/nav.h>

#include "base/assert.h"
#include "nav/nearest.h"

const int8_t phx_flow_dx[8] = {1, 1, 0, -1, -1, -1, 0, 1};
const int8_t phx_flow_dy[8] = {0, 1, 1, 1, 0, -1, -1, -1};

uint32_t phx_nav_cell_at(const PhxNavGrid *grid, fix16_t x, fix16_t y) {
    const int32_t cx = phx_nav_floor(x), cy = phx_nav_floor(y);
    if (cx < 0 || cy < 0 || (uint32_t)cx >= grid->width || (uint32_t)cy >= grid->height)
        return PHX_NAV_NO_CELL;
    return (uint32_t)cy * grid->width + (uint32_t)cx;
}

uint32_t phx_nav_cell_clamped(const PhxNavGrid *grid, fix16_t x, fix16_t y) {
    return phx_nav_clamp_axis(y, grid->height) * grid->width + phx_nav_clamp_axis(x, grid->width);
}

PhxVec2 phx_nav_cell_center(const PhxNavGrid *grid, uint32_t cell) {
    PHX_ASSERT(cell < grid->width * grid->height, cell, grid->width * grid->height);
    const int32_t cx = (int32_t)(cell % grid->width), cy = (int32_t)(cell / grid->width);
    return (PhxVec2){cx * 65536 + PHX_NAV_HALF, cy * 65536 + PHX_NAV_HALF};
}

bool phx_nav_passable(const PhxNavGrid *grid, int32_t cx, int32_t cy) {
    if (cx < 0 || cy < 0 || (uint32_t)cx >= grid->width || (uint32_t)cy >= grid->height) return false;
    return grid->cost[(uint32_t)cy * grid->width + (uint32_t)cx] != PHX_NAV_IMPASSABLE;
}

uint32_t phx_nav_nearest_open(const PhxNavGrid *grid, uint32_t cell) {
    if (cell >= grid->width * grid->height) return PHX_NAV_NO_CELL;
    return phx_nav_nearest_unlike(grid->cost, grid->width, grid->height, cell % grid->width,
                                  cell / grid->width, PHX_NAV_IMPASSABLE);
}

typedef struct Nearest {
    const uint8_t *bytes;
    uint32_t width, height, cx, cy, cell;
    uint64_t distance_sq;
    uint8_t wall;
} Nearest;

static void consider(Nearest *nearest, int64_t x, int64_t y) {
    if (x < 0 || y < 0 || x >= nearest->width || y >= nearest->height) return;
    const uint32_t cell = (uint32_t)y * nearest->width + (uint32_t)x;
    if (nearest->bytes[cell] == nearest->wall) return;
    const int64_t dx = x - nearest->cx, dy = y - nearest->cy;
    const uint64_t distance_sq = (uint64_t)(dx * dx + dy * dy);
    if (distance_sq > nearest->distance_sq) return;
    if (distance_sq == nearest->distance_sq && cell > nearest->cell) return;
    nearest->distance_sq = distance_sq;
    nearest->cell = cell;
}

uint32_t phx_nav_nearest_unlike(const uint8_t *bytes, uint32_t width, uint32_t height, uint32_t cx,
                                uint32_t cy, uint8_t wall) {
    Nearest nearest = {bytes, width, height, cx, cy, PHX_NAV_NO_CELL, UINT64_MAX, wall};
    const int64_t last = width > height ? width : height, x = cx, y = cy;
    for (int64_t r = 0; r < last && (uint64_t)(r * r) <= nearest.distance_sq; r++) {
        /* what lies off the map isn't looked at, so that a narrow map costs its cells alone */
        const int64_t left = x > r ? x - r : 0, right = x + r < width ? x + r : width - 1;
        const int64_t top = y > r - 1 ? y - r + 1 : 0, bottom = y + r - 1 < height ? y + r - 1 : height - 1;
        for (int64_t i = left; i <= right && y - r >= 0; i++) consider(&nearest, i, y - r);
        for (int64_t i = left; i <= right && y + r < height; i++) consider(&nearest, i, y + r);
        for (int64_t i = top; i <= bottom && x - r >= 0; i++) consider(&nearest, x - r, i);
        for (int64_t i = top; i <= bottom && x + r < width; i++) consider(&nearest, x + r, i);
    }
    return nearest.cell;
}
