/* spline_walls.c: see spline_walls.h: a disc that slides along a straight line, against the cells of a grid.
 *
 * A solid cell stops the disc if the line goes through it, if an end of the line is nearer to it than the
 * radius, or if one of its corners lies beside the line and nearer than the radius: there is no other way for
 * a segment to be near a square. Rows that the swept disc touches are looked at, in each the columns that it
 * may touch there. Products of two 64-bit numbers are compared in 128 bits.
 *
 * Cost: linear in the cells looked at. Determinism: exact; the answer doesn't depend on their order.
 */
#include <phalanx/spline_walls.h>

enum { CELL = PHX_FIX_ONE };

typedef struct Sweep {
    PhxVec2 a, b;
    int64_t dx, dy;
    uint64_t length_sq, radius_sq;
} Sweep;

typedef struct Product {
    uint64_t high, low;
} Product;

static Product product(uint64_t a, uint64_t b) {
    const uint64_t al = a & UINT32_MAX, ah = a >> 32, bl = b & UINT32_MAX, bh = b >> 32;
    const uint64_t low = al * bl, one = ah * bl + (low >> 32), two = al * bh + (one & UINT32_MAX);
    return (Product){ah * bh + (one >> 32) + (two >> 32), two << 32 | (low & UINT32_MAX)};
}

static bool is_less(Product a, Product b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }

static int64_t floor_cell(int64_t raw) { return raw >= 0 ? raw / CELL : -((-raw + CELL - 1) / CELL); }

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Whether a point is nearer to the square at (x, y) than the radius. */
static bool point_near(const Sweep *sweep, PhxVec2 p, int64_t x, int64_t y) {
    const int64_t dx = larger(larger(x - p.x, p.x - x - CELL), 0),
                  dy = larger(larger(y - p.y, p.y - y - CELL), 0);
    return (uint64_t)(dx * dx) + (uint64_t)(dy * dy) < sweep->radius_sq;
}

/* Whether a corner lies beside the line and nearer than the radius. */
static bool corner_near(const Sweep *sweep, int64_t x, int64_t y) {
    const int64_t vx = x - sweep->a.x, vy = y - sweep->a.y; /* below 2^31 */
    const int64_t along = vx * sweep->dx + vy * sweep->dy;
    if (along < 0 || (uint64_t)along > sweep->length_sq) return false;
    const uint64_t cross = phx_abs64(sweep->dx * vy - sweep->dy * vx);
    return is_less(product(cross, cross), product(sweep->radius_sq, sweep->length_sq));
}

/* Whether the line, with ends outside of the square, goes through it: its corners lie on both sides of the
 * line, and the boxes overlap. */
static bool goes_through(const Sweep *sweep, int64_t x, int64_t y) {
    if (larger(sweep->a.x, sweep->b.x) <= x || smaller(sweep->a.x, sweep->b.x) >= x + CELL) return false;
    if (larger(sweep->a.y, sweep->b.y) <= y || smaller(sweep->a.y, sweep->b.y) >= y + CELL) return false;
    const int64_t at = sweep->dx * (y - sweep->a.y) - sweep->dy * (x - sweep->a.x);
    const int64_t right = at - sweep->dy * CELL, down = at + sweep->dx * CELL,
                  both = at - sweep->dy * CELL + sweep->dx * CELL;
    const int64_t least = smaller(smaller(at, right), smaller(down, both)),
                  most = larger(larger(at, right), larger(down, both));
    return least < 0 && most > 0;
}

static bool stops(const Sweep *sweep, int64_t x, int64_t y) {
    return point_near(sweep, sweep->a, x, y) || point_near(sweep, sweep->b, x, y) ||
           goes_through(sweep, x, y) || corner_near(sweep, x, y) || corner_near(sweep, x + CELL, y) ||
           corner_near(sweep, x, y + CELL) || corner_near(sweep, x + CELL, y + CELL);
}

/* The least and most x of the line where y is in [low, high], a raw unit more to either side. */
static void span_of(const Sweep *sweep, int64_t low, int64_t high, int64_t *from, int64_t *to) {
    const PhxVec2 top = sweep->dy < 0 ? sweep->b : sweep->a, end = sweep->dy < 0 ? sweep->a : sweep->b;
    const int64_t down = (int64_t)end.y - top.y, across = (int64_t)end.x - top.x;
    int64_t first = top.x, last = end.x;
    if (low > top.y && down > 0) first = top.x + phx_div_round(across * (smaller(low, end.y) - top.y), down);
    if (high < end.y && down > 0) last = top.x + phx_div_round(across * (larger(high, top.y) - top.y), down);
    *from = smaller(first, last) - 1;
    *to = larger(first, last) + 1;
}

bool phx_spline_walls_clear(const void *ground, PhxVec2 a, PhxVec2 b, fix16_t radius) {
    const PhxNavGrid *grid = ground;
    Sweep sweep = {.a = a, .b = b, .dx = (int64_t)b.x - a.x, .dy = (int64_t)b.y - a.y};
    sweep.length_sq = (uint64_t)(sweep.dx * sweep.dx) + (uint64_t)(sweep.dy * sweep.dy);
    sweep.radius_sq = (uint64_t)radius * (uint64_t)radius;
    const int64_t left = smaller(a.x, b.x) - radius, top = smaller(a.y, b.y) - radius,
                  right = larger(a.x, b.x) + radius, bottom = larger(a.y, b.y) + radius;
    if (left < 0 || top < 0 || right > (int64_t)grid->width * CELL || bottom > (int64_t)grid->height * CELL)
        return false;
    const int64_t last_row = smaller(floor_cell(bottom), (int64_t)grid->height - 1);
    for (int64_t row = floor_cell(top); row <= last_row; row++) {
        int64_t from, to;
        span_of(&sweep, row * CELL - radius, row * CELL + CELL + radius, &from, &to);
        const int64_t last = smaller(floor_cell(to + radius), (int64_t)grid->width - 1);
        for (int64_t column = larger(floor_cell(from - radius), 0); column <= last; column++)
            if (grid->cost[(uint32_t)row * grid->width + (uint32_t)column] == PHX_NAV_IMPASSABLE &&
                stops(&sweep, column * CELL, row * CELL))
                return false;
    }
    return true;
}
