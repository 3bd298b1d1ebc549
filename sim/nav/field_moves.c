/* field_moves.c: first stage of a field: which steps exist.
 *
 * In: costs. Out, a byte a cell each: the allowed steps, and whether the passable cells of the 3x3 around
 * cost the same (then field_front.c needs to try few steps only). Cost: about 1 ns a cell: straight-line byte
 * operations over rows with a border, without branches, which compilers turn into vector code. Determinism: a
 * pure function of the costs.
 */
#include "nav/field_work.h"

#include <string.h>

/* 255 where `cost` is passable, else 0. */
static inline uint8_t open_mask(uint8_t cost) { return (uint8_t)(cost != PHX_NAV_IMPASSABLE ? 255 : 0); }
/* 255 where `other` is a wall or costs the same, else 0. */
static inline uint8_t same_mask(uint8_t cost, uint8_t other) {
    return (uint8_t)((other == cost) | (other == PHX_NAV_IMPASSABLE) ? 255 : 0);
}

static void copy_costs(PhxFieldWork *work, const PhxNavGrid *grid) {
    memset(work->cost, PHX_NAV_IMPASSABLE, work->cells);
    for (uint32_t y = 0; y < grid->height; y++)
        memcpy(work->cost + (size_t)(y + 1) * work->stride + 1, grid->cost + (size_t)y * grid->width,
               grid->width);
}

/* Smallest cost and largest cost below PHX_NAV_IMPASSABLE (0 if there is none). */
static void find_bounds(PhxFieldWork *work) {
    uint8_t low = PHX_NAV_IMPASSABLE, high = 0;
    for (uint32_t i = 0; i < work->cells; i++) {
        const uint8_t cost = work->cost[i], passable = cost & open_mask(cost);
        low = cost < low ? cost : low;
        high = passable > high ? passable : high;
    }
    work->min_cost = low;
    work->max_cost = high;
}

/* One row; the pointers are at the first cell behind the border of the row and of those above and below. */
static void find_row(uint32_t width, const uint8_t *restrict up, const uint8_t *restrict at,
                     const uint8_t *restrict down, uint8_t *restrict moves) {
    for (uint32_t x = 0; x < width; x++) {
        const uint8_t e = open_mask(at[x + 1]), w = open_mask(at[(int32_t)x - 1]);
        const uint8_t s = open_mask(down[x]), n = open_mask(up[x]);
        const uint8_t se = open_mask(down[x + 1]), sw = open_mask(down[(int32_t)x - 1]);
        const uint8_t ne = open_mask(up[x + 1]), nw = open_mask(up[(int32_t)x - 1]);
        moves[x] = (uint8_t)(((e & 1) | (e & s & se & 2) | (s & 4) | (s & w & sw & 8) | (w & 16) |
                              (w & n & nw & 32) | (n & 64) | (n & e & ne & 128)) &
                             open_mask(at[x]));
    }
}

static void find_plain_row(uint32_t width, const uint8_t *restrict up, const uint8_t *restrict at,
                           const uint8_t *restrict down, uint8_t *restrict plain) {
    for (uint32_t x = 0; x < width; x++) {
        const uint8_t c = at[x];
        plain[x] =
            (uint8_t)(same_mask(c, at[x + 1]) & same_mask(c, at[(int32_t)x - 1]) & same_mask(c, down[x]) &
                      same_mask(c, up[x]) & same_mask(c, down[x + 1]) & same_mask(c, down[(int32_t)x - 1]) &
                      same_mask(c, up[x + 1]) & same_mask(c, up[(int32_t)x - 1]));
    }
}

void phx_field_find_moves(PhxFieldWork *work, const PhxNavGrid *grid) {
    copy_costs(work, grid);
    find_bounds(work);
    memset(work->moves, 0, work->cells);
    if (work->min_cost == work->max_cost) memset(work->plain, 255, work->cells);
    for (uint32_t y = 1; y <= grid->height; y++) {
        const uint8_t *at = work->cost + (size_t)y * work->stride + 1;
        const size_t row = (size_t)y * work->stride + 1;
        find_row(work->width, at - work->stride, at, at + work->stride, work->moves + row);
        if (work->min_cost != work->max_cost)
            find_plain_row(work->width, at - work->stride, at, at + work->stride, work->plain + row);
    }
}
