/* sight_window.c: which cells around a goal see it with all of their square.
 *
 * In: a grid, a goal. Out: a bit a cell: whether the unit square of the cell slides straight to the goal's
 * through cells of the goal's cost only. That is so exactly if the segment of the two centres doesn't meet
 * the open 2 x 2 square around the centre of any other cell (such cells, and what lies beyond the map, are
 * called walls here).
 *
 * Each of the eight octants is swept by columns u = 1, 2, ... away from the goal, with v from 0 to u across;
 * the rays are told by their slope v / u. What is still lit is a list of closed intervals of slopes with
 * rational ends. The walls of a column take away the open interval between the tangents at their square,
 * which counts from the next column on; in its own column a wall darkens itself and the next cell farther
 * out, which rests against it (no ray of the octant reaches the others before the column's end). The
 * intervals of walls beside each other overlap, so that a run of them is taken away at once. A wall
 * beside the goal leaves the one ray along it. Intervals of one slope stay: two walls may leave a gap of just
 * a square's width. A column is a word, bit v; only what may be lit of it is looked at. Ground of one cost as
 * far as the window goes is found before: all of it sees the goal. Cost: 1 us a goal in the open, up to 20
 * where walls stand far off. Determinism: exact products of integers below 2^15.
 */
#include <string.h>

#include "base/bitset.h"
#include "nav/tile.h"

enum { INTERVALS = PHX_SIGHT_REACH + 2 };

/* A slope v / u; u = 0: infinite. */
typedef struct Slope {
    int32_t v, u;
} Slope;
typedef struct Lit {
    Slope low, high;
} Lit;
typedef struct Sweep {
    const PhxNavGrid *grid;
    PhxSightWindow *window;
    int32_t x, y;           /* the goal */
    int32_t ux, uy, vx, vy; /* the octant's axes */
    int32_t u_most, v_most; /* how far the map goes along them */
    uint8_t cost;
    uint32_t count;
    Lit lit[INTERVALS];
} Sweep;

static int compare(Slope a, Slope b) {
    const int32_t left = a.v * b.u, right = b.v * a.u;
    return left < right ? -1 : left > right;
}

/* Bits from..to, 0 <= from; to <= 63. */
static uint64_t bits_between(int32_t from, int32_t to) {
    return from > to ? 0 : ~(uint64_t)0 >> (63 - to) >> from << from;
}

/* The walls among the cells from..to of a column that lies in the map. */
static uint64_t walls_of(const Sweep *sweep, int32_t u, int32_t from, int32_t to) {
    const int32_t width = (int32_t)sweep->grid->width, last = to < sweep->v_most ? to : sweep->v_most;
    const uint8_t *goal = sweep->grid->cost + (sweep->y * width + sweep->x);
    const uint8_t *at = goal + (u * (sweep->uy * width + sweep->ux));
    const int32_t step = sweep->vy * width + sweep->vx;
    const uint8_t cost = sweep->cost;
    uint64_t walls = last < to ? bits_between(last + 1, to) : 0;
    for (int32_t v = from; v <= last; v++) walls |= (uint64_t)(at[v * step] != cost) << v;
    return walls;
}

static uint64_t reversed(uint64_t bits) {
    bits = (bits >> 1 & UINT64_C(0x5555555555555555)) | (bits & UINT64_C(0x5555555555555555)) << 1;
    bits = (bits >> 2 & UINT64_C(0x3333333333333333)) | (bits & UINT64_C(0x3333333333333333)) << 2;
    bits = (bits >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (bits & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    bits = (bits >> 8 & UINT64_C(0x00ff00ff00ff00ff)) | (bits & UINT64_C(0x00ff00ff00ff00ff)) << 8;
    bits = (bits >> 16 & UINT64_C(0x0000ffff0000ffff)) | (bits & UINT64_C(0x0000ffff0000ffff)) << 16;
    return bits >> 32 | bits << 32;
}

/* Sets cells v of a column, which may be a row of the window or a column of it. */
static void mark(const Sweep *sweep, int32_t u, uint64_t cells) {
    uint64_t(*rows)[2] = sweep->window->rows;
    if (sweep->vx) {
        uint64_t *row = rows[PHX_SIGHT_REACH + u * sweep->uy];
        if (sweep->vx < 0) {
            row[0] |= reversed(cells); /* bit v is column REACH - v */
        } else {
            row[0] |= cells << 63;
            row[1] |= cells >> 1;
        }
        return;
    }
    const uint32_t x = (uint32_t)(PHX_SIGHT_REACH + u * sweep->ux);
    for (; cells; cells &= cells - 1) {
        const int32_t v = (int32_t)phx_bit_lowest(cells);
        rows[PHX_SIGHT_REACH + v * sweep->vy][x / 64] |= (uint64_t)1 << x % 64;
    }
}

/* Takes the open interval (low, high) of slopes out of what is lit. */
static void darken(Sweep *sweep, Slope low, Slope high) {
    Lit kept[INTERVALS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < sweep->count; i++) {
        const Lit lit = sweep->lit[i];
        if (compare(lit.high, low) <= 0 || compare(lit.low, high) >= 0) {
            kept[count++] = lit;
            continue;
        }
        if (compare(lit.low, low) <= 0) kept[count++] = (Lit){lit.low, low};
        if (compare(lit.high, high) >= 0) kept[count++] = (Lit){high, lit.high};
    }
    memcpy(sweep->lit, kept, count * sizeof *kept);
    sweep->count = count;
}

/* The cells of a column whose slope is lit. */
static uint64_t lit_of(const Sweep *sweep, int32_t u) {
    uint64_t cells = 0;
    for (uint32_t i = 0; i < sweep->count; i++) {
        const Slope low = sweep->lit[i].low, high = sweep->lit[i].high;
        const int32_t from = low.v == 0 ? 0 : (low.v * u + low.u - 1) / low.u;
        const int32_t to = high.v == high.u ? u : high.v * u / high.u;
        cells |= bits_between(from, to);
    }
    return cells;
}

static void sweep_octant(Sweep *sweep) {
    sweep->count = 1;
    sweep->lit[0] = (Lit){{0, 1}, {1, 1}};
    if (sweep->v_most < 1 || walls_of(sweep, 0, 1, 1)) darken(sweep, (Slope){0, 1}, (Slope){1, 0});
    const int32_t most = sweep->u_most < PHX_SIGHT_REACH ? sweep->u_most : PHX_SIGHT_REACH;
    for (int32_t u = 1; u <= most && sweep->count; u++) {
        /* the squares of other walls don't meet what is lit */
        const Slope low = sweep->lit[0].low, high = sweep->lit[sweep->count - 1].high;
        const int32_t from = low.v == 0 ? 0 : low.v * (u - 1) / low.u - 1;
        int32_t to = high.v == high.u ? u + 1 : high.v * (u + 1) / high.u + 2;
        if (to > u + 1) to = u + 1;
        if (to > PHX_SIGHT_REACH) to = PHX_SIGHT_REACH;
        uint64_t walls = walls_of(sweep, u, from < 0 ? 0 : from, to);
        mark(sweep, u, lit_of(sweep, u) & ~walls & ~(walls << 1));
        while (walls) {
            const int32_t first = (int32_t)phx_bit_lowest(walls);
            const uint64_t open = ~walls >> first;
            const int32_t behind = open ? first + (int32_t)phx_bit_lowest(open) : 64;
            const Slope tangent = first > 0 ? (Slope){first - 1, u + 1} : (Slope){-1, 1};
            darken(sweep, tangent, (Slope){behind, u - 1});
            walls &= ~bits_between(first, behind - 1);
        }
    }
}

/* The rows or columns of the map before and behind the goal, as far as the window goes. */
static int32_t reach_of(int32_t cells) { return cells < PHX_SIGHT_REACH ? cells : PHX_SIGHT_REACH; }

/* Fills the window if all of it that lies in the map costs the same. */
static bool fill_even(const Sweep *sweep) {
    const PhxNavGrid *grid = sweep->grid;
    const int32_t west = reach_of(sweep->x), east = reach_of((int32_t)grid->width - 1 - sweep->x);
    const int32_t north = reach_of(sweep->y), south = reach_of((int32_t)grid->height - 1 - sweep->y);
    for (int32_t y = -north; y <= south; y++) {
        const uint8_t *row = grid->cost + ((sweep->y + y) * (int32_t)grid->width + sweep->x - west);
        uint8_t other = 0;
        for (int32_t x = 0; x <= west + east; x++) other |= (uint8_t)(row[x] ^ sweep->cost);
        if (other) return false;
    }
    for (int32_t y = -north; y <= south; y++) {
        uint64_t *row = sweep->window->rows[PHX_SIGHT_REACH + y];
        row[0] = bits_between(PHX_SIGHT_REACH - west, PHX_SIGHT_REACH);
        row[1] = east > 0 ? bits_between(0, east - 1) : 0;
    }
    return true;
}

static void build_window(PhxSightWindow *window, const PhxNavGrid *grid, uint32_t goal) {
    static const int8_t axes[8][4] = {{1, 0, 0, 1}, {1, 0, 0, -1}, {-1, 0, 0, 1}, {-1, 0, 0, -1},
                                      {0, 1, 1, 0}, {0, 1, -1, 0}, {0, -1, 1, 0}, {0, -1, -1, 0}};
    memset(window, 0, sizeof *window);
    window->goal = goal;
    Sweep sweep = {.grid = grid, .window = window, .cost = grid->cost[goal]};
    sweep.x = (int32_t)(goal % grid->width);
    sweep.y = (int32_t)(goal / grid->width);
    if (fill_even(&sweep)) return;
    /* how far the map goes east, west, south and north */
    const int32_t most[2][2] = {{(int32_t)grid->width - 1 - sweep.x, sweep.x},
                                {(int32_t)grid->height - 1 - sweep.y, sweep.y}};
    for (uint32_t i = 0; i < 8; i++) {
        sweep.ux = axes[i][0], sweep.uy = axes[i][1], sweep.vx = axes[i][2], sweep.vy = axes[i][3];
        sweep.u_most = sweep.ux ? most[0][sweep.ux < 0] : most[1][sweep.uy < 0];
        sweep.v_most = sweep.vx ? most[0][sweep.vx < 0] : most[1][sweep.vy < 0];
        sweep_octant(&sweep);
    }
    window->rows[PHX_SIGHT_REACH][PHX_SIGHT_REACH / 64] |= (uint64_t)1 << PHX_SIGHT_REACH % 64;
}

void phx_sight_build(PhxSight *sight, const PhxNavGrid *grid, const uint32_t *goals, uint32_t count) {
    sight->count = count <= PHX_SIGHT_GOALS ? count : 0;
    for (uint32_t i = 0; i < sight->count; i++) build_window(&sight->window[i], grid, goals[i]);
}

bool phx_sight_sees(const PhxSightWindow *window, uint32_t map_width, uint32_t cx, uint32_t cy) {
    const uint32_t x = cx - window->goal % map_width + PHX_SIGHT_REACH;
    const uint32_t y = cy - window->goal / map_width + PHX_SIGHT_REACH;
    if (x >= PHX_SIGHT_SIDE || y >= PHX_SIGHT_SIDE) return false;
    return window->rows[y][x / 64] >> x % 64 & 1;
}
