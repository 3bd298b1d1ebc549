/* sight.c: the exact line of sight over the grid.
 *
 * In: two positions Q16.16. Out: whether every cell that the segment touches is passable. The segment is
 * followed from grid line to grid line (Amanatides, Woo: A Fast Voxel Traversal Algorithm, 1987); which line
 * comes next is decided by a product of integers below 2^62 instead of accumulated fractions, so that nothing
 * is rounded. Cost: one step a cell. Determinism: exact integers; a to b and b to a give the same answer.
 */
#include <phalanx/nav.h>

#include "nav/nearest.h"

/* One axis of the walk: where we are, which way, how many grid lines are still to be crossed, and the
 * distance from the segment's start to the next of them. */
typedef struct Axis {
    int32_t cell, step, left;
    int64_t reach, span; /* raw; span is the length of the segment along this axis */
} Axis;

static Axis axis_make(int32_t from, int32_t to) {
    const int32_t cell = phx_nav_floor(from), last = phx_nav_floor(to);
    Axis axis = {.cell = cell, .step = last >= cell ? 1 : -1};
    axis.left = (last - cell) * axis.step;
    axis.span = to >= from ? (int64_t)to - from : (int64_t)from - to;
    axis.reach = axis.step > 0 ? ((int64_t)cell + 1) * 65536 - from : from - (int64_t)cell * 65536;
    return axis;
}

static void axis_advance(Axis *axis) {
    axis->cell += axis->step;
    axis->left--;
    axis->reach += 65536;
}

/* Negative: the next line is one of x; positive: of y; 0: both at one point. */
static int next_line(const Axis *x, const Axis *y) {
    if (x->left == 0) return 1;
    if (y->left == 0) return -1;
    /* reach_x / span_x against reach_y / span_y; both spans are positive, as lines are left to be crossed */
    const int64_t a = x->reach * y->span, b = y->reach * x->span;
    return a < b ? -1 : a > b;
}

bool phx_nav_line_of_sight(const PhxNavGrid *grid, PhxVec2 a, PhxVec2 b) {
    Axis x = axis_make(a.x, b.x), y = axis_make(a.y, b.y);
    if (!phx_nav_passable(grid, x.cell, y.cell)) return false;
    /* looked at first, so that a segment that leaves the map ends here and none longer than the map is walked
     */
    if (!phx_nav_passable(grid, phx_nav_floor(b.x), phx_nav_floor(b.y))) return false;
    while (x.left > 0 || y.left > 0) {
        const int order = next_line(&x, &y);
        if (order == 0 && (!phx_nav_passable(grid, x.cell + x.step, y.cell) ||
                           !phx_nav_passable(grid, x.cell, y.cell + y.step)))
            return false;
        if (order <= 0) axis_advance(&x);
        if (order >= 0) axis_advance(&y);
        if (!phx_nav_passable(grid, x.cell, y.cell)) return false;
    }
    return true;
}
