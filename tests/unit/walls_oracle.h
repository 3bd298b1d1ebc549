/* walls_oracle.h: the segments of a grid in one list, never cut, by a plain scan of all edges. For tests of
 * walls.
 */
#ifndef PHX_TEST_WALLS_ORACLE_H
#define PHX_TEST_WALLS_ORACLE_H

#include <phalanx/walls.h>

#include "harness.h"

enum { ORACLE_LIMIT = 100000, ORACLE_ONE = 1 << 16 };

typedef struct Oracle {
    uint32_t count;
    PhxWall wall[ORACLE_LIMIT]; /* horizontal ones by (y, x), then vertical ones by (x, y) */
} Oracle;

static inline bool oracle_solid(const PhxNavGrid *grid, int64_t cx, int64_t cy) {
    return cx < 0 || cy < 0 || cx >= (int64_t)grid->width || cy >= (int64_t)grid->height ||
           grid->cost[cy * grid->width + cx] == PHX_NAV_IMPASSABLE;
}

/* +1 or -1: which way the segment at edge `at` of a grid line runs; 0: no wall. */
static inline int oracle_sense(const PhxNavGrid *grid, bool vertical, int64_t line, int64_t at) {
    const bool before = vertical ? oracle_solid(grid, line - 1, at) : oracle_solid(grid, at, line - 1);
    const bool after = vertical ? oracle_solid(grid, line, at) : oracle_solid(grid, at, line);
    return before == after ? 0 : vertical == before ? 1 : -1;
}

/* Whether a segment starts at (x, y) in direction (dx, dy). */
static inline bool oracle_starts(const PhxNavGrid *grid, int64_t x, int64_t y, int dx, int dy) {
    const bool vertical = dy != 0;
    const int sense = dx + dy;
    const int64_t line = vertical ? x : y, at = (vertical ? y : x) - (sense < 0);
    const int64_t lines = vertical ? grid->width : grid->height,
                  cells = vertical ? grid->height : grid->width;
    return line >= 0 && line <= lines && at >= 0 && at < cells &&
           oracle_sense(grid, vertical, line, at) == sense;
}

static inline void oracle_add(Oracle *o, const PhxNavGrid *grid, bool vertical, int64_t line, int64_t low,
                              int64_t high, int sense) {
    CHECK(o->count < ORACLE_LIMIT);
    const int64_t from = sense > 0 ? low : high, to = sense > 0 ? high : low;
    const int dx = vertical ? 0 : sense, dy = vertical ? sense : 0;
    PhxWall *w = &o->wall[o->count++];
    const int64_t sx = vertical ? line : from, sy = vertical ? from : line, ex = vertical ? line : to,
                  ey = vertical ? to : line;
    /* at the end: to the right, (-dy, dx) turned back, if a segment starts there, else to the left. At the
     * start: from one that turned to the right into this one, else from one that turned to the left. */
    const bool right = oracle_starts(grid, ex, ey, dy, -dx);
    const bool came_right = oracle_starts(grid, sx + dy, sy - dx, -dy, dx);
    CHECK(right || oracle_starts(grid, ex, ey, -dy, dx));
    CHECK(came_right || oracle_starts(grid, sx - dy, sy + dx, dy, -dx));
    *w = (PhxWall){.start = {(fix16_t)(sx * ORACLE_ONE), (fix16_t)(sy * ORACLE_ONE)},
                   .end = {(fix16_t)(ex * ORACLE_ONE), (fix16_t)(ey * ORACLE_ONE)},
                   .dir = {dx * (1 << 30), dy * (1 << 30)},
                   .length = (fix16_t)((high - low) * ORACLE_ONE),
                   .at_start = came_right ? PHX_WALL_CONCAVE : PHX_WALL_CONVEX,
                   .at_end = right ? PHX_WALL_CONCAVE : PHX_WALL_CONVEX};
    w->next_dir = right ? phx_dir(w->dir.y, -w->dir.x) : phx_dir(-w->dir.y, w->dir.x);
    w->prev_dir = came_right ? phx_dir(-w->dir.y, w->dir.x) : phx_dir(w->dir.y, -w->dir.x);
}

static inline void oracle_make(Oracle *o, const PhxNavGrid *grid) {
    o->count = 0;
    for (int vertical = 0; vertical < 2; vertical++) {
        const int64_t lines = vertical ? grid->width : grid->height,
                      cells = vertical ? grid->height : grid->width;
        for (int64_t line = 0; line <= lines; line++)
            for (int64_t at = 0, low = 0; at < cells; low = at) {
                const int sense = oracle_sense(grid, vertical, line, at);
                while (at < cells && oracle_sense(grid, vertical, line, at) == sense) at++;
                if (sense) oracle_add(o, grid, vertical, line, low, at, sense);
            }
    }
}

/* The segment that a piece is of; null: none. */
static inline const PhxWall *oracle_holding(const Oracle *o, const PhxWall *piece) {
    for (uint32_t i = 0; i < o->count; i++) {
        const PhxWall *w = &o->wall[i];
        if (w->dir.x != piece->dir.x || w->dir.y != piece->dir.y) continue;
        const bool vertical = w->dir.y != 0;
        if (vertical ? w->start.x != piece->start.x : w->start.y != piece->start.y) continue;
        const fix16_t sense = w->dir.x + w->dir.y > 0 ? 1 : -1;
        const fix16_t into = (vertical ? piece->start.y - w->start.y : piece->start.x - w->start.x) * sense;
        if (into >= 0 && into + piece->length <= w->length) return w;
    }
    return NULL;
}

/* phx_walls_nearest by looking at all of them; place and rank are indices. */
static inline uint32_t oracle_near(const Oracle *o, PhxVec2 at, fix16_t range, uint32_t limit,
                                   PhxWallNear *out) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        const PhxVec2 a = o->wall[i].start, b = o->wall[i].end;
        if (phx_det32(o->wall[i].dir.x >> 30, o->wall[i].dir.y >> 30, at.x - a.x, at.y - a.y) >= 0) continue;
        const int64_t low_x = a.x < b.x ? a.x : b.x, high_x = a.x < b.x ? b.x : a.x;
        const int64_t low_y = a.y < b.y ? a.y : b.y, high_y = a.y < b.y ? b.y : a.y;
        const int64_t dx = at.x < low_x ? low_x - at.x : at.x > high_x ? at.x - high_x : 0;
        const int64_t dy = at.y < low_y ? low_y - at.y : at.y > high_y ? at.y - high_y : 0;
        const PhxWallNear item = {(uint64_t)(dx * dx + dy * dy), i, i};
        if (item.distance_sq >= (uint64_t)range * (uint64_t)range) continue;
        uint32_t k = found < limit ? found++ : limit;
        for (; k > 0 && out[k - 1].distance_sq > item.distance_sq; k--)
            if (k < limit) out[k] = out[k - 1];
        if (k < limit) out[k] = item;
    }
    return found;
}

#endif
