/* retreat.c: where a unit backs out to that meets another one in a passage too narrow for both.
 *
 * In: the cells around the unit (those that its body fits in), where the other one is. Out: the centre of the
 * nearest cell, on ways that lead away from the other one, that has open cells on half of its sides: the
 * mouth of the passage, a bay, a crossing; or, where a bend hides that, the last cell on the way there that
 * is in straight sight. Method: a breadth-first search over a window of cells. Cost: at most its 41 x 41
 * cells, and only when a unit begins to back out. Determinism: cells are taken in the order of (steps,
 * direction); integers.
 */
#include "step/sim_internal.h"

enum {
    REACH = 20, /* cells to each side */
    WINDOW = 2 * REACH + 1,
    WIDE = 5, /* of the 8 cells around: then two have room */
    NOWHERE = UINT16_MAX
};

/* The search: cells of the window by index, where each was reached from. */
typedef struct Search {
    PhxNavGrid grid;
    int32_t x, y;                   /* of the unit's cell */
    int32_t step;                   /* cells from one place to the next: a body's width */
    uint16_t from[WINDOW * WINDOW]; /* NOWHERE: not reached */
    uint16_t queue[WINDOW * WINDOW];
    uint32_t head, tail;
} Search;

static int32_t column_of(const Search *s, uint16_t at) { return s->x + at % WINDOW - REACH; }
static int32_t row_of(const Search *s, uint16_t at) { return s->y + at / WINDOW - REACH; }

static PhxVec2 center_of(const Search *s, uint16_t at) {
    return phx_nav_cell_center(&s->grid,
                               (uint32_t)row_of(s, at) * s->grid.width + (uint32_t)column_of(s, at));
}

/* Whether a step leads from an open cell to one, past no corner. */
static bool leads(const Search *s, int32_t x, int32_t y, int32_t dx, int32_t dy) {
    return phx_nav_passable(&s->grid, x + dx, y + dy) && phx_nav_passable(&s->grid, x + dx, y) &&
           phx_nav_passable(&s->grid, x, y + dy);
}

static bool is_wide(const Search *s, uint16_t at) {
    int32_t open = 0;
    for (int code = 0; code < 8; code++)
        open += leads(s, column_of(s, at), row_of(s, at), s->step * phx_flow_dx[code],
                      s->step * phx_flow_dy[code]);
    return open >= WIDE;
}

/* Reaches the neighbours of a cell that are farther from `away` than it is; each step is one cell. */
static void spread(Search *s, uint16_t at, PhxVec2 away) {
    const uint64_t distance_sq = phx_vec2_distance_sq(center_of(s, at), away);
    for (int code = 0; code < 8; code++) {
        const int32_t dx = phx_flow_dx[code], dy = phx_flow_dy[code], wx = at % WINDOW + dx,
                      wy = at / WINDOW + dy;
        if (wx < 0 || wy < 0 || wx >= WINDOW || wy >= WINDOW) continue;
        const uint16_t next = (uint16_t)(wy * WINDOW + wx);
        if (s->from[next] != NOWHERE || !leads(s, column_of(s, at), row_of(s, at), dx, dy)) continue;
        if (phx_vec2_distance_sq(center_of(s, next), away) <= distance_sq) continue;
        s->from[next] = at;
        s->queue[s->tail++] = next;
    }
}

bool phx_unit_retreat(const PhxSim *sim, uint32_t slot, PhxVec2 away, PhxVec2 *out) {
    enum { OWN = REACH * WINDOW + REACH };
    const PhxUnitTable *units = &sim->world->unit;
    const PhxVec2 at = {units->pos_x[slot], units->pos_y[slot]};
    Search s = {.grid = phx_barriers_grid(sim, slot)};
    const uint32_t own = phx_nav_cell_clamped(&s.grid, at.x, at.y);
    s.x = (int32_t)(own % s.grid.width), s.y = (int32_t)(own / s.grid.width);
    s.step = (int32_t)phx_cost_size_of(sim->world->unit_type.radius[units->type[slot]]);
    for (uint32_t i = 0; i < WINDOW * WINDOW; i++) s.from[i] = NOWHERE;
    if (is_wide(&s, OWN)) return false;
    s.from[OWN] = OWN;
    s.queue[s.tail++] = OWN;
    uint16_t found = NOWHERE;
    while (s.head < s.tail && found == NOWHERE) {
        const uint16_t cell = s.queue[s.head++];
        if (is_wide(&s, cell)) found = cell;
        spread(&s, cell, away);
    }
    if (found == NOWHERE) return false;
    while (s.from[found] != OWN && !phx_nav_line_of_sight(&s.grid, at, center_of(&s, found)))
        found = s.from[found];
    *out = center_of(&s, found);
    return true;
}
