/* nav_euclid.h: the true shortest way of a point among walls, in doubles: the oracle of any-angle walks.
 *
 * A* over the convex corners of walls and the goal. What a corner sees is found by cones of lines: an
 * interval that is seen on one grid line is cut by the walls below it and projected onto the next line.
 * Corners may be touched; nothing passes between two walls that touch diagonally. Written without any code of
 * the engine but the costs.
 */
#ifndef PHX_TEST_NAV_EUCLID_H
#define PHX_TEST_NAV_EUCLID_H

#include <math.h>
#include <phalanx/nav.h>
#include <stdlib.h>
#include <string.h>

typedef struct EuclidEntry {
    double key;
    uint32_t corner;
} EuclidEntry;

typedef struct Euclid {
    PhxNavGrid grid;
    double *best; /* length to each lattice point */
    uint8_t *done;
    uint32_t *parent, *touched, touched_count;
    EuclidEntry *heap;
    size_t heap_count, heap_capacity;
    double goal_x, goal_y, goal_best;
    /* the point that is being expanded */
    double x, y, length;
    int up; /* -1: looking up, with y mirrored; 1: down */
    uint32_t at;
    uint64_t cones;
} Euclid;

static inline bool euclid_open(const Euclid *e, int x, int y) {
    return x >= 0 && y >= 0 && x < (int)e->grid.width && y < (int)e->grid.height &&
           e->grid.cost[(uint32_t)y * e->grid.width + (uint32_t)x] != PHX_NAV_IMPASSABLE;
}

static inline void euclid_make(Euclid *e, const PhxNavGrid *grid) {
    memset(e, 0, sizeof *e);
    e->grid = *grid;
    const size_t points = (size_t)(grid->width + 1) * (grid->height + 1);
    e->best = malloc(points * sizeof *e->best);
    for (size_t i = 0; i < points; i++) e->best[i] = HUGE_VAL;
    e->done = calloc(points, 1);
    e->parent = malloc(points * sizeof *e->parent);
    e->touched = malloc(points * sizeof *e->touched);
}

static inline void euclid_free(Euclid *e) {
    free(e->best), free(e->done), free(e->parent), free(e->touched), free(e->heap);
}

static inline void euclid_push(Euclid *e, uint32_t corner, double key) {
    if (e->heap_count == e->heap_capacity) {
        e->heap_capacity = e->heap_capacity ? 2 * e->heap_capacity : 1024;
        e->heap = realloc(e->heap, e->heap_capacity * sizeof *e->heap);
    }
    size_t i = e->heap_count++;
    for (; i && e->heap[(i - 1) / 2].key > key; i = (i - 1) / 2) e->heap[i] = e->heap[(i - 1) / 2];
    e->heap[i] = (EuclidEntry){key, corner};
}

static inline EuclidEntry euclid_pop(Euclid *e) {
    const EuclidEntry top = e->heap[0], last = e->heap[--e->heap_count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= e->heap_count) break;
        if (child + 1 < e->heap_count && e->heap[child + 1].key < e->heap[child].key) child++;
        if (e->heap[child].key >= last.key) break;
        e->heap[i] = e->heap[child];
        i = child;
    }
    if (e->heap_count) e->heap[i] = last;
    return top;
}

/* A corner with one wall among its four cells: the only points where a shortest way turns. */
static inline bool euclid_is_corner(const Euclid *e, int x, int y) {
    return euclid_open(e, x, y) + euclid_open(e, x - 1, y) + euclid_open(e, x, y - 1) +
               euclid_open(e, x - 1, y - 1) ==
           3;
}

static inline void euclid_see(Euclid *e, int x, int y) {
    if (!euclid_is_corner(e, x, y)) return;
    const uint32_t corner = (uint32_t)y * (e->grid.width + 1) + (uint32_t)x;
    const double length = e->length + hypot(x - e->x, y - e->y);
    if (e->done[corner] || length >= e->best[corner] - 1e-12) return;
    if (e->best[corner] == HUGE_VAL) e->touched[e->touched_count++] = corner;
    e->best[corner] = length;
    e->parent[corner] = e->at;
    const double key = length + hypot(x - e->goal_x, y - e->goal_y);
    if (key < e->goal_best) euclid_push(e, corner, key);
}

/* Whether the cell (x, row) of the mirrored or plain rows is open. `row` counts along the view. */
static inline bool euclid_row_open(const Euclid *e, int x, int line) {
    return euclid_open(e, x, e->up < 0 ? line - 1 : line);
}

/* What lies beyond the interval [a, b] of the grid line `line`, seen from (x, y). */
static inline void euclid_cone(Euclid *e, int line, double a, double b) {
    e->cones++;
    const int next = line + e->up;
    for (int x = (int)floor(a); x <= (int)ceil(b) - 1 || x == (int)floor(a);) {
        if (!euclid_row_open(e, x, line)) {
            x++;
            if (x > b) break;
            continue;
        }
        int from = x, to = x + 1;
        while (euclid_row_open(e, from - 1, line)) from--;
        while (euclid_row_open(e, to, line)) to++;
        const double left = a > from ? a : from, right = b < to ? b : to;
        if (right - left > 1e-11) {
            const double goal_row = e->up < 0 ? line - 0.5 : line + 0.5;
            if (fabs(e->goal_y - goal_row) < 0.25 && e->goal_x > from && e->goal_x < to) {
                const double cross = e->x + (e->goal_x - e->x) * (line - e->y) / (e->goal_y - e->y);
                if (cross >= left - 1e-9 && cross <= right + 1e-9) {
                    const double length = e->length + hypot(e->goal_x - e->x, e->goal_y - e->y);
                    if (length < e->goal_best) e->goal_best = length;
                }
            }
            const double scale = (next - e->y) / (line - e->y);
            double low = e->x + (left - e->x) * scale, high = e->x + (right - e->x) * scale;
            low = low < from ? from : low;
            high = high > to ? to : high;
            if (fabs(low - round(low)) < 1e-9) low = round(low);
            if (fabs(high - round(high)) < 1e-9) high = round(high);
            if (high - low > 1e-11) {
                for (int c = (int)ceil(low); c <= high; c++) euclid_see(e, c, next);
                euclid_cone(e, next, low, high);
            }
        }
        x = to;
        if (x > b) break;
    }
}

/* The corners seen along the grid line of a lattice point. */
static inline void euclid_along(Euclid *e, int step) {
    const int y = (int)e->y;
    for (int x = (int)e->x;; x += step) {
        const int cell = step > 0 ? x : x - 1;
        const bool above = euclid_open(e, cell, y - 1), below = euclid_open(e, cell, y);
        if (!above && !below) return;
        const int to = x + step, beyond = step > 0 ? to : to - 1;
        euclid_see(e, to, y);
        const bool above_on = euclid_open(e, beyond, y - 1), below_on = euclid_open(e, beyond, y);
        if (!(above && above_on) && !(below && below_on)) return;
    }
}

/* All that is seen from (x, y): a lattice point, or the centre of a cell. */
static inline void euclid_expand(Euclid *e) {
    const bool lattice = e->y == floor(e->y);
    for (e->up = -1; e->up <= 1; e->up += 2) {
        int line = (int)floor(e->y);
        const int cell_line = lattice ? line : e->up < 0 ? line + 1 : line; /* the line before the cell row */
        int from = (int)ceil(e->x), to = (int)floor(e->x);
        while (euclid_row_open(e, from - 1, cell_line)) from--;
        while (euclid_row_open(e, to, cell_line)) to++;
        if (to <= from) continue;
        const double goal_row = e->up < 0 ? cell_line - 0.5 : cell_line + 0.5;
        if (fabs(e->goal_y - goal_row) < 0.25 && e->goal_x > from && e->goal_x < to) {
            const double length = e->length + hypot(e->goal_x - e->x, e->goal_y - e->y);
            if (length < e->goal_best) e->goal_best = length;
        }
        line = cell_line + e->up;
        for (int c = from; c <= to; c++) euclid_see(e, c, line);
        euclid_cone(e, line, from, to);
    }
    if (lattice) {
        euclid_along(e, 1);
        euclid_along(e, -1);
    }
}

/* Length of the shortest way between the centres of two cells; HUGE_VAL: none. */
static inline double euclid_length(Euclid *e, uint32_t start, uint32_t goal) {
    for (uint32_t i = 0; i < e->touched_count; i++) {
        e->best[e->touched[i]] = HUGE_VAL;
        e->done[e->touched[i]] = 0;
    }
    e->touched_count = 0;
    e->heap_count = 0;
    e->goal_x = goal % e->grid.width + 0.5;
    e->goal_y = goal / e->grid.width + 0.5;
    e->goal_best = start == goal ? 0 : HUGE_VAL;
    e->x = start % e->grid.width + 0.5;
    e->y = start / e->grid.width + 0.5;
    e->length = 0;
    e->at = UINT32_MAX;
    euclid_expand(e);
    while (e->heap_count) {
        const EuclidEntry top = euclid_pop(e);
        if (top.key >= e->goal_best) break;
        if (e->done[top.corner]) continue;
        e->done[top.corner] = 1;
        e->at = top.corner;
        e->x = top.corner % (e->grid.width + 1);
        e->y = top.corner / (e->grid.width + 1);
        e->length = e->best[top.corner];
        euclid_expand(e);
    }
    return e->goal_best;
}

#endif
