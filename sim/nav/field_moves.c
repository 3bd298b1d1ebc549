/* field_moves.c: first stage of a field: which steps exist.
 *
 * In: costs. Out, a byte a cell each: the allowed steps, and whether the cell is plain: its passable
 * neighbours E, S, W and N cost the same as it (then field_front.c needs to try few steps only).
 *
 * Cost: about 1 ns a cell: straight-line byte operations over rows with a border, without branches, which
 * compilers turn into vector code.
 *
 * Determinism: a pure function of the costs.
 */
#include "nav/field_work.h"

#include <string.h>

/* 255 where `cost` is passable, else 0. */
static inline uint8_t open_mask(uint8_t cost) { return (uint8_t)(cost != PHX_NAV_IMPASSABLE ? 255 : 0); }
/* 255 where `other` is a wall or costs the same, else 0. */
static inline uint8_t same_mask(uint8_t cost, uint8_t other) {
    return (uint8_t)(((other == cost) | (other == PHX_NAV_IMPASSABLE)) ? 255 : 0);
}

/* Smallest cost, and largest below PHX_NAV_IMPASSABLE (255 and 0 if there is none). */
static void find_bounds(PhxFieldWork *work, const PhxNavGrid *grid) {
    uint8_t low = PHX_NAV_IMPASSABLE, high = 0;
    const int32_t cells = (int32_t)(grid->width * grid->height);
    for (int32_t i = 0; i < cells; i++) {
        const uint8_t cost = grid->cost[i], passable = cost & open_mask(cost);
        low = cost < low ? cost : low;
        high = passable > high ? passable : high;
    }
    work->min_cost = low;
    work->max_cost = high;
}

/* The allowed steps of one row. The pointers are at its first cell and at those above and below, in rows with
 * a border. */
static void find_row(int32_t width, const uint8_t *restrict up, const uint8_t *restrict at,
                     const uint8_t *restrict down, uint8_t *restrict moves) {
    for (int32_t x = 0; x < width; x++) {
        const uint8_t e = open_mask(at[x + 1]), w = open_mask(at[x - 1]);
        const uint8_t s = open_mask(down[x]), n = open_mask(up[x]);
        const uint8_t se = open_mask(down[x + 1]), sw = open_mask(down[x - 1]);
        const uint8_t ne = open_mask(up[x + 1]), nw = open_mask(up[x - 1]);
        moves[x] = (uint8_t)(((e & 1) | (e & s & se & 2) | (s & 4) | (s & w & sw & 8) | (w & 16) |
                              (w & n & nw & 32) | (n & 64) | (n & e & ne & 128)) &
                             open_mask(at[x]));
    }
}

static void find_plain_row(int32_t width, const uint8_t *restrict up, const uint8_t *restrict at,
                           const uint8_t *restrict down, uint8_t *restrict plain) {
    for (int32_t x = 0; x < width; x++) {
        const uint8_t c = at[x];
        plain[x] = (uint8_t)(same_mask(c, at[x + 1]) & same_mask(c, at[x - 1]) & same_mask(c, down[x]) &
                             same_mask(c, up[x]));
    }
}

static void fill_row(int32_t width, const uint8_t *restrict cost, const uint8_t *restrict moves,
                     const uint8_t *restrict plain, PhxFieldCell *restrict cell) {
    for (int32_t x = 0; x < width; x++) {
        cell[x].dist = PHX_FIELD_UNREACHED;
        cell[x].facts =
            (uint32_t)cost[x] | (uint32_t)moves[x] << PHX_FACT_MOVES | (uint32_t)plain[x] << PHX_FACT_PLAIN;
    }
}

static const PhxFieldCell border = {PHX_FIELD_UNREACHED, PHX_NAV_IMPASSABLE};

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
    const bool even = work->min_cost == work->max_cost;
    /* three rows of costs, whose borders stay walls, then moves and plain */
    memset(work->byte_rows, PHX_NAV_IMPASSABLE, (size_t)stride * 5);
    uint8_t *moves = work->byte_rows + 3 * (size_t)stride, *plain = moves + stride;
    load_row(grid, 0, work->byte_rows + 1);
    for (uint32_t y = 0; y < grid->height; y++) {
        const uint8_t *at = work->byte_rows + (size_t)(y % 3) * stride + 1;
        const uint8_t *up = work->byte_rows + (size_t)((y + 2) % 3) * stride + 1;
        uint8_t *down = work->byte_rows + (size_t)((y + 1) % 3) * stride + 1;
        load_row(grid, (int64_t)y + 1, down);
        find_row(width, up, at, down, moves);
        if (!even) find_plain_row(width, up, at, down, plain);
        PhxFieldCell *cell = work->cell + (size_t)(y + 1) * stride;
        fill_row(width, at, moves, plain, cell + 1);
        cell[0] = cell[stride - 1] = border;
    }
    PhxFieldCell *last = work->cell + (size_t)(grid->height + 1) * stride;
    for (uint32_t x = 0; x < stride; x++) work->cell[x] = last[x] = border;
}
