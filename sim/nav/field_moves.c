/* field_moves.c: first stage of a field: which steps exist.
 *
 * In: costs. Out: the facts of each cell, with the allowed steps (no diagonal ones where the weight of a
 * diagonal is 0), and sums that nothing has lowered yet.
 *
 * Cost: about 1 ns a cell: straight-line byte operations over rows with a border, without branches, which
 * compilers turn into vector code.
 *
 * Determinism: a pure function of the costs.
 */
#include "nav/field_work.h"

#include <string.h>

enum { LANES = 32 }; /* cells that are looked at together */

/* 255 where `cost` is passable, else 0. */
static inline uint8_t open_mask(uint8_t cost) { return (uint8_t)(cost != PHX_NAV_IMPASSABLE ? 255 : 0); }

/* Takes `count` cells into the bounds of as many lanes. */
static inline void widen(int count, const uint8_t *restrict cost, uint8_t *restrict low,
                         uint8_t *restrict high) {
    for (int k = 0; k < count; k++) {
        const uint8_t c = cost[k], passable = c & open_mask(c);
        low[k] = c < low[k] ? c : low[k];
        high[k] = passable > high[k] ? passable : high[k];
    }
}

/* Smallest cost, and largest below PHX_NAV_IMPASSABLE (255 and 0 if there is none). */
static void find_bounds(PhxFieldWork *work, const PhxNavGrid *grid) {
    uint8_t low[LANES], high[LANES];
    memset(low, PHX_NAV_IMPASSABLE, sizeof low);
    memset(high, 0, sizeof high);
    const size_t cells = (size_t)grid->width * grid->height, whole = cells - cells % LANES;
    for (size_t i = 0; i < whole; i += LANES) widen(LANES, grid->cost + i, low, high);
    widen((int)(cells - whole), grid->cost + whole, low, high);
    work->min_cost = PHX_NAV_IMPASSABLE;
    work->max_cost = 0;
    for (int k = 0; k < LANES; k++) {
        if (low[k] < work->min_cost) work->min_cost = low[k];
        if (high[k] > work->max_cost) work->max_cost = high[k];
    }
}

/* The allowed steps of one row. Pointers of their own for all nine cells, as compilers don't make the loop
 * wide otherwise. */
static void find_row(int32_t width, const uint8_t *restrict up_w, const uint8_t *restrict up,
                     const uint8_t *restrict up_e, const uint8_t *restrict at_w, const uint8_t *restrict at,
                     const uint8_t *restrict at_e, const uint8_t *restrict down_w,
                     const uint8_t *restrict down, const uint8_t *restrict down_e, uint8_t kinds,
                     uint8_t *restrict moves) {
    for (int32_t x = 0; x < width; x++) {
        const uint8_t e = open_mask(at_e[x]), w = open_mask(at_w[x]);
        const uint8_t s = open_mask(down[x]), n = open_mask(up[x]);
        const uint8_t se = open_mask(down_e[x]), sw = open_mask(down_w[x]);
        const uint8_t ne = open_mask(up_e[x]), nw = open_mask(up_w[x]);
        moves[x] = (uint8_t)(((e & 1) | (e & s & se & 2) | (s & 4) | (s & w & sw & 8) | (w & 16) |
                              (w & n & nw & 32) | (n & 64) | (n & e & ne & 128)) &
                             open_mask(at[x]) & kinds);
    }
}

/* `shown`: which bits of the cost the facts hold; `wall`: the sum of walls. */
static void fill_row(int32_t width, const uint8_t *restrict cost, const uint8_t *restrict moves,
                     uint8_t shown, uint32_t wall, uint32_t *restrict dist, uint16_t *restrict facts) {
    for (int32_t x = 0; x < width; x++) dist[x] = cost[x] == PHX_NAV_IMPASSABLE ? wall : PHX_FIELD_UNREACHED;
    for (int32_t x = 0; x < width; x++) facts[x] = (uint16_t)((cost[x] & shown) | moves[x] << PHX_FACT_MOVES);
}

/* The costs of row y of the map, -1 and height included, into a row with a border. */
static void load_row(const PhxNavGrid *grid, int64_t y, uint8_t *row) {
    if (y < 0 || y >= grid->height)
        memset(row, PHX_NAV_IMPASSABLE, grid->width);
    else
        memcpy(row, grid->cost + (size_t)y * grid->width, grid->width);
}

void phx_field_find_moves(PhxFieldWork *work, const PhxNavGrid *grid) {
    const uint32_t stride = work->stride;
    const int32_t width = (int32_t)work->width;
    find_bounds(work, grid);
    const uint32_t wall = work->min_cost == work->max_cost ? PHX_FIELD_UNREACHED : 0;
    const uint8_t shown = work->min_cost == work->max_cost ? 0 : 255, kinds = work->diagonal ? 255 : 0x55;
    /* three rows of costs, whose borders stay walls, then moves */
    memset(work->byte_rows, PHX_NAV_IMPASSABLE, (size_t)stride * 3);
    uint8_t *moves = work->byte_rows + 3 * (size_t)stride;
    load_row(grid, 0, work->byte_rows + 1);
    for (uint32_t y = 0; y < grid->height; y++) {
        const uint8_t *at = work->byte_rows + (size_t)(y % 3) * stride + 1;
        const uint8_t *up = work->byte_rows + (size_t)((y + 2) % 3) * stride + 1;
        uint8_t *down = work->byte_rows + (size_t)((y + 1) % 3) * stride + 1;
        load_row(grid, (int64_t)y + 1, down);
        find_row(width, up - 1, up, up + 1, at - 1, at, at + 1, down - 1, down, down + 1, kinds, moves);
        const size_t first = (size_t)(y + 1) * stride;
        fill_row(width, at, moves, shown, wall, work->dist + first + 1, work->facts + first + 1);
        work->dist[first] = work->dist[first + stride - 1] = 0;
        work->facts[first] = work->facts[first + stride - 1] = 0;
    }
    const size_t last = (size_t)(grid->height + 1) * stride;
    memset(work->dist, 0, stride * sizeof *work->dist);
    memset(work->facts, 0, stride * sizeof *work->facts);
    memset(work->dist + last, 0, stride * sizeof *work->dist);
    memset(work->facts + last, 0, stride * sizeof *work->facts);
}
