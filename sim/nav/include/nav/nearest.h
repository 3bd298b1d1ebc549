/* nearest.h: the search around a cell that grids and fields share.
 *
 * In: a byte a cell, and the byte that marks a wall. Out: the nearest cell that is none. Rings of growing
 * Chebyshev radius r are looked at until no farther ring can hold a nearer cell (r * r > best). Cost: the
 * square of the distance. Determinism: the order (squared distance, index) is total, so that the order of the
 * search doesn't matter.
 */
#ifndef PHX_NAV_NEAREST_H
#define PHX_NAV_NEAREST_H

#include <stdint.h>

/* The cell nearest to (cx, cy), which lies in the map, whose byte isn't `wall`; equal distances: the lowest
 * index. PHX_NAV_NO_CELL if there is none. `bytes` holds width * height bytes. */
uint32_t phx_nav_nearest_unlike(const uint8_t *bytes, uint32_t width, uint32_t height, uint32_t cx,
                                uint32_t cy, uint8_t wall);

/* Half a cell, and floor(position) for any sign without shifting a negative number. */
enum { PHX_NAV_HALF = 32768 };
static inline int32_t phx_nav_floor(int32_t position) {
    return position >= 0 ? position / 65536 : -1 - (-1 - position) / 65536;
}

/* The cell coordinate of a position along one side of `cells` cells, clamped into the map. */
static inline uint32_t phx_nav_clamp_axis(int32_t position, uint32_t cells) {
    const int32_t at = phx_nav_floor(position);
    return at < 0 ? 0 : (uint32_t)at >= cells ? cells - 1 : (uint32_t)at;
}

#endif
