/* area.c: the cells of a goal area, for fields and goal sets.
 *
 * In: a disc or a rectangle. Out: its passable cells, by rising index. Cost: one look a cell of its bounding
 * box. Determinism: exact integers; a pure function of the grid and the area.
 */
#include <phalanx/nav.h>

#include "nav/nearest.h"

/* The list being written. */
typedef struct Listing {
    uint32_t *cells;
    uint32_t limit, count;
} Listing;

static void add(Listing *listing, uint32_t cell) {
    if (listing->count < listing->limit) listing->cells[listing->count] = cell;
    listing->count++;
}

uint32_t phx_nav_cells_in_rect(const PhxNavGrid *grid, int32_t x0, int32_t y0, int32_t x1, int32_t y1,
                               uint32_t limit, uint32_t *cells) {
    Listing listing = {cells, limit, 0};
    const int32_t width = (int32_t)grid->width, height = (int32_t)grid->height;
    for (int32_t cy = y0 > 0 ? y0 : 0; cy < y1 && cy < height; cy++)
        for (int32_t cx = x0 > 0 ? x0 : 0; cx < x1 && cx < width; cx++)
            if (phx_nav_passable(grid, cx, cy)) add(&listing, (uint32_t)(cy * width + cx));
    return listing.count;
}

uint32_t phx_nav_cells_in_disc(const PhxNavGrid *grid, PhxVec2 center, fix16_t radius, uint32_t limit,
                               uint32_t *cells) {
    Listing listing = {cells, limit, 0};
    const int64_t reach = radius > 0 ? radius : 0;
    const uint32_t own = phx_nav_cell_at(grid, center.x, center.y);
    const uint32_t first_x = phx_nav_clamp_axis(phx_fix_saturate(center.x - reach), grid->width);
    const uint32_t last_x = phx_nav_clamp_axis(phx_fix_saturate(center.x + reach), grid->width);
    const uint32_t first_y = phx_nav_clamp_axis(phx_fix_saturate(center.y - reach), grid->height);
    const uint32_t last_y = phx_nav_clamp_axis(phx_fix_saturate(center.y + reach), grid->height);
    for (uint32_t cy = first_y; cy <= last_y; cy++)
        for (uint32_t cx = first_x; cx <= last_x; cx++) {
            const uint32_t cell = cy * grid->width + cx;
            if (grid->cost[cell] == PHX_NAV_IMPASSABLE) continue;
            const uint64_t distance_sq = phx_vec2_distance_sq(center, phx_nav_cell_center(grid, cell));
            if (cell == own || distance_sq <= (uint64_t)(reach * reach)) add(&listing, cell);
        }
    return listing.count;
}
