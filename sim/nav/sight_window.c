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
 * out, which rests against it (no ray of the octant reaches the others before the column's end). A wall
 * beside the goal leaves the one ray along it. Intervals of one slope stay: two walls may leave a gap of just
 * a square's width. Cost: about 100 us a goal. Determinism: exact products of integers below 2^15.
 */
#include <string.h>

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
    uint8_t cost;
    uint32_t count;
    Lit lit[INTERVALS];
} Sweep;

static int compare(Slope a, Slope b) {
    const int32_t left = a.v * b.u, right = b.v * a.u;
    return left < right ? -1 : left > right;
}

static bool is_wall(const Sweep *sweep, int32_t u, int32_t v) {
    const int32_t x = sweep->x + u * sweep->ux + v * sweep->vx, y = sweep->y + u * sweep->uy + v * sweep->vy;
    if (x < 0 || y < 0 || x >= (int32_t)sweep->grid->width || y >= (int32_t)sweep->grid->height) return true;
    return sweep->grid->cost[(uint32_t)y * sweep->grid->width + (uint32_t)x] != sweep->cost;
}

static void mark(const Sweep *sweep, int32_t u, int32_t v) {
    const uint32_t x = (uint32_t)(PHX_SIGHT_REACH + u * sweep->ux + v * sweep->vx);
    const uint32_t y = (uint32_t)(PHX_SIGHT_REACH + u * sweep->uy + v * sweep->vy);
    sweep->window->rows[y][x / 64] |= (uint64_t)1 << x % 64;
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

/* Whether a slope is lit, the intervals being looked through from *from on. */
static bool is_lit(const Sweep *sweep, Slope slope, uint32_t *from) {
    while (*from < sweep->count && compare(sweep->lit[*from].high, slope) < 0) ++*from;
    return *from < sweep->count && compare(sweep->lit[*from].low, slope) <= 0;
}

static void sweep_octant(Sweep *sweep) {
    sweep->count = 1;
    sweep->lit[0] = (Lit){{0, 1}, {1, 1}};
    if (is_wall(sweep, 0, 1)) darken(sweep, (Slope){0, 1}, (Slope){1, 0});
    for (int32_t u = 1; u <= PHX_SIGHT_REACH && sweep->count; u++) {
        uint32_t from = 0;
        bool below = false;
        for (int32_t v = 0; v <= u; v++) {
            const bool wall = is_wall(sweep, u, v);
            if (!wall && !below && is_lit(sweep, (Slope){v, u}, &from)) mark(sweep, u, v);
            below = wall;
        }
        for (int32_t v = 0; v <= u + 1; v++) {
            if (!is_wall(sweep, u, v)) continue;
            const Slope low = v > 0 ? (Slope){v - 1, u + 1} : (Slope){-1, 1};
            darken(sweep, low, (Slope){v + 1, u - 1});
        }
    }
}

static void build_window(PhxSightWindow *window, const PhxNavGrid *grid, uint32_t goal) {
    static const int8_t axes[8][4] = {{1, 0, 0, 1}, {1, 0, 0, -1}, {-1, 0, 0, 1}, {-1, 0, 0, -1},
                                      {0, 1, 1, 0}, {0, 1, -1, 0}, {0, -1, 1, 0}, {0, -1, -1, 0}};
    memset(window, 0, sizeof *window);
    window->goal = goal;
    Sweep sweep = {.grid = grid, .window = window, .cost = grid->cost[goal]};
    sweep.x = (int32_t)(goal % grid->width);
    sweep.y = (int32_t)(goal / grid->width);
    for (uint32_t i = 0; i < 8; i++) {
        sweep.ux = axes[i][0], sweep.uy = axes[i][1], sweep.vx = axes[i][2], sweep.vy = axes[i][3];
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
