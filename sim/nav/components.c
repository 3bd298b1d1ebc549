/* components.c: which cells can reach each other, and the reachable cell nearest to a goal. See
 * nav/components.h.
 *
 * Method: a scan in index order; each cell that has no label yet starts a fill over its four neighbours. A
 * diagonal step needs both side cells open, so that four neighbours decide reachability for eight directions
 * too. Cost: linear in cells. Determinism: a pure function of the grid; labels rise in order of their lowest
 * cell.
 */
#include "nav/components.h"

#include "base/assert.h"

static uint32_t fill(const PhxNavGrid *grid, uint32_t *label, uint32_t *stack, uint32_t start,
                     uint32_t name) {
    const uint32_t width = grid->width, cells = grid->width * grid->height;
    uint32_t depth = 0, size = 0;
    stack[depth++] = start;
    label[start] = name;
    while (depth > 0) {
        const uint32_t cell = stack[--depth], x = cell % width;
        const uint32_t near[4] = {x > 0 ? cell - 1 : cells, x + 1 < width ? cell + 1 : cells,
                                  cell >= width ? cell - width : cells, cell + width}; /* >= cells: none */
        size++;
        for (int i = 0; i < 4; i++) {
            if (near[i] >= cells || label[near[i]] != PHX_COMPONENT_NONE ||
                grid->cost[near[i]] == PHX_NAV_IMPASSABLE)
                continue;
            label[near[i]] = name;
            stack[depth++] = near[i];
        }
    }
    return size;
}

uint32_t phx_components_build(const PhxNavGrid *grid, uint32_t *label, uint32_t *stack, uint32_t *largest) {
    const uint32_t cells = grid->width * grid->height;
    uint32_t count = 0, most = 0;
    *largest = PHX_COMPONENT_NONE;
    for (uint32_t c = 0; c < cells; c++) label[c] = PHX_COMPONENT_NONE;
    for (uint32_t c = 0; c < cells; c++) {
        if (label[c] != PHX_COMPONENT_NONE || grid->cost[c] == PHX_NAV_IMPASSABLE) continue;
        const uint32_t size = fill(grid, label, stack, c, count);
        if (size > most) most = size, *largest = count;
        count++;
    }
    return count;
}

typedef struct Nearest {
    uint64_t distance_sq;
    uint32_t cell;
} Nearest;

static void look_at(const PhxNavGrid *grid, const uint32_t *label, uint32_t component, int64_t gx, int64_t gy,
                    int64_t x, int64_t y, Nearest *best) {
    if (x < 0 || y < 0 || x >= (int64_t)grid->width || y >= (int64_t)grid->height) return;
    const uint32_t cell = (uint32_t)y * grid->width + (uint32_t)x;
    if (label[cell] != component) return;
    const uint64_t distance_sq = (uint64_t)((x - gx) * (x - gx) + (y - gy) * (y - gy));
    if (distance_sq < best->distance_sq || (distance_sq == best->distance_sq && cell < best->cell))
        *best = (Nearest){distance_sq, cell};
}

uint32_t phx_components_nearest(const PhxNavGrid *grid, const uint32_t *label, uint32_t component,
                                uint32_t goal) {
    const int64_t gx = goal % grid->width, gy = goal / grid->width;
    const int64_t reach = grid->width > grid->height ? grid->width : grid->height;
    Nearest best = {UINT64_MAX, PHX_NAV_NO_CELL};
    PHX_ASSERT(goal < grid->width * grid->height, goal, grid->width);
    /* Squares of growing half-width; a find on one can only be beaten within the circle through its corners.
     */
    for (int64_t r = 0; r <= reach && (uint64_t)(r * r) <= best.distance_sq; r++) {
        for (int64_t i = -r; i <= r; i++) {
            look_at(grid, label, component, gx, gy, gx + i, gy - r, &best);
            look_at(grid, label, component, gx, gy, gx + i, gy + r, &best);
            look_at(grid, label, component, gx, gy, gx - r, gy + i, &best);
            look_at(grid, label, component, gx, gy, gx + r, gy + i, &best);
        }
    }
    return best.cell;
}
