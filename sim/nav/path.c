/* path.c: the path of a search that is done: corners, cells, costs, waypoints.
 *
 * In: nodes with parents. Out: a PhxPath. From a node's parent to the node leads a diagonal piece and then a
 * straight one, either of them perhaps empty; so a path is given by its corners. Cost: linear in the cells
 * that are asked for, and smoothing's (path_smooth.c).
 *
 * Costs: that paths compare as with the root of 2. Of two paths with s and s' straight, d and d' diagonal
 * steps, let a = s - s' and b = d' - d; the first is shorter exactly if a < b root(2). With the convergent
 * p / q = 54608393 / 38613965, a q < b p says the same if |b| < q: the error |b| |p - q root(2)| is then less
 * than q |p' - q' root(2)|, with the convergent p' / q' before it, and no fraction with a smaller denominator
 * than q is nearer to the root than that one: |a - b root(2)| >= |p' - q' root(2)|. A map has at most 2^24
 * cells, which is less than q.
 *
 * Determinism: integers; a pure function of the nodes.
 */
#include "nav/astar.h"
#include "nav/path_smooth.h"

/* ---- corners */

static uint32_t distance(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

/* Where a path from `from` turns on its way to `to`: behind the diagonal piece. */
static uint32_t turn_between(uint32_t from, uint32_t to, uint32_t width) {
    const uint32_t fx = from % width, fy = from / width, tx = to % width, ty = to / width;
    const uint32_t dx = distance(fx, tx), dy = distance(fy, ty), k = dx < dy ? dx : dy;
    return (ty > fy ? fy + k : fy - k) * width + (tx > fx ? fx + k : fx - k);
}

const uint32_t *phx_astar_corners(PhxPathSearch *search, uint32_t index, uint32_t *count) {
    /* The open list isn't needed any more: its memory holds eight cells for each node. */
    uint32_t *corner = (uint32_t *)(void *)search->heap;
    uint32_t at = 2 * search->node_capacity + 1;
    *count = 0;
    for (;; index = search->node[index].parent) {
        const PhxAstarNode *node = &search->node[index];
        const uint32_t cell = phx_astar_cell(search, node);
        corner[--at] = cell;
        ++*count;
        if (node->parent == index) return corner + at;
        const uint32_t from = phx_astar_cell(search, &search->node[node->parent]);
        const uint32_t turn = turn_between(from, cell, search->width);
        if (turn == cell || turn == from) continue;
        corner[--at] = turn;
        ++*count;
    }
}

/* ---- cells */

/* Writes the steps from a corner to the next, the first cell left out, and counts them. */
static void list_steps(PhxPath *path, uint32_t from, uint32_t to, uint32_t width) {
    const uint32_t fx = from % width, fy = from / width, tx = to % width, ty = to / width;
    const uint32_t dx = distance(fx, tx), dy = distance(fy, ty), steps = dx > dy ? dx : dy;
    const uint32_t step = (tx > fx ? 1u : tx < fx ? ~0u : 0u) + (ty > fy ? width : ty < fy ? 0u - width : 0u);
    if (dx && dy)
        path->diagonals += steps;
    else
        path->straights += steps;
    for (uint32_t i = 1; i <= steps && path->cell_count < path->cell_capacity; i++)
        path->cells[path->cell_count++] = from + step * i;
}

static void list_cells(PhxPath *path, const uint32_t *corner, uint32_t count, uint32_t width) {
    if (path->cell_capacity) path->cells[path->cell_count++] = corner[0];
    for (uint32_t i = 1; i < count; i++) list_steps(path, corner[i - 1], corner[i], width);
    path->cells_cut = path->cell_capacity != 0 && path->cell_count <= path->straights + path->diagonals;
}

/* ---- the path */

static void clear(PhxPath *path) {
    path->cell_count = path->waypoint_count = 0;
    path->cells_cut = path->waypoints_cut = false;
    path->reach = PHX_PATH_WHOLE;
    path->end = PHX_NAV_NO_CELL;
    path->cost = 0;
    path->straights = path->diagonals = path->expanded = 0;
}

void phx_path_take(PhxPathSearch *search, PhxPath *path) {
    PHX_ASSERT(search->ground && search->done, search->ground != NULL, search->done);
    const PhxPathGround *ground = search->ground;
    const uint32_t last = search->reach == PHX_PATH_LIMIT ? search->nearest : search->slot[search->goal];
    uint32_t count;
    const uint32_t *corner = phx_astar_corners(search, last, &count);
    clear(path);
    path->reach = search->reach;
    path->end = phx_astar_cell(search, &search->node[last]);
    path->cost = search->node[last].g * (search->jumps ? ground->least : 1);
    path->expanded = search->expanded;
    list_cells(path, corner, count, search->width);
    if (path->waypoint_capacity) phx_path_smooth(ground, corner, count, search->query.radius, path);
}

PhxStatus phx_path_find(PhxPathSearch *search, const PhxPathGround *ground, const PhxPathQuery *query,
                        PhxPath *path) {
    clear(path);
    const PhxStatus status = phx_path_begin(search, ground, query);
    if (status) return status;
    (void)phx_path_run(search, UINT32_MAX);
    phx_path_take(search, path);
    return PHX_OK;
}
