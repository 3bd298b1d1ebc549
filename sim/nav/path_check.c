/* path_check.c: the proof of a path, for tests and tools.
 *
 * In: a grid, a query, a path. Out: PHX_OK, or the first step or line that breaks a rule (path.h). That no
 * path is cheaper isn't proved: tests compare costs with an exhaustive search. Written without the code of
 * the search: each step is looked up in the grid, and each wall around a line is held against it by its
 * distance: a
 * disc touches a square exactly if its centre lies in the square grown by the radius along one axis, or
 * within the radius of a corner.
 *
 * Cost: linear in the steps, and in the cells around the lines. Determinism: exact integers: raw coordinates
 * are less than 2^29 apart, so that their products have 58 bits.
 */
#include <phalanx/path.h>

typedef struct Check {
    const PhxNavGrid *grid;
    const PhxPathQuery *query;
    const PhxPath *path;
    PhxError *error;
} Check;

static PhxStatus fail(const Check *check, uint32_t index, const char *what) {
    return phx_error_set(check->error, PHX_ERROR_MISMATCH, index, "path of %lu cells, %lu waypoints: %s",
                         (unsigned long)check->path->cell_count, (unsigned long)check->path->waypoint_count,
                         what);
}

/* ---- steps */

/* The direction of a step between neighbouring cells; 8 if it is none. */
static uint32_t direction_of(const Check *check, uint32_t from, uint32_t to) {
    const int32_t width = (int32_t)check->grid->width;
    const int32_t dx = (int32_t)to % width - (int32_t)from % width,
                  dy = (int32_t)to / width - (int32_t)from / width;
    uint32_t d = 0;
    while (d < 8 && (phx_flow_dx[d] != dx || phx_flow_dy[d] != dy)) d++;
    return d;
}

static bool may_step(const Check *check, uint32_t from, uint32_t d) {
    const int32_t x = (int32_t)(from % check->grid->width), y = (int32_t)(from / check->grid->width);
    return phx_nav_passable(check->grid, x + phx_flow_dx[d], y + phx_flow_dy[d]) &&
           phx_nav_passable(check->grid, x + phx_flow_dx[d], y) &&
           phx_nav_passable(check->grid, x, y + phx_flow_dy[d]);
}

static PhxStatus check_cells(const Check *check) {
    const PhxPath *path = check->path;
    const uint32_t cells = check->grid->width * check->grid->height;
    uint64_t cost = 0;
    uint32_t steps[2] = {0, 0};
    if (path->cell_count == 0) return fail(check, 0, "no cells");
    if (path->cells[0] != check->query->start) return fail(check, 0, "it doesn't begin at the start");
    for (uint32_t i = 1; i < path->cell_count; i++) {
        if (path->cells[i] >= cells) return fail(check, i, "a cell outside of the map");
        const uint32_t d = direction_of(check, path->cells[i - 1], path->cells[i]);
        if (d == 8) return fail(check, i, "a step that isn't to a neighbour");
        if (!may_step(check, path->cells[i - 1], d)) return fail(check, i, "a step through a wall");
        steps[d % 2]++;
        cost += (d % 2 ? PHX_PATH_DIAGONAL : PHX_PATH_STRAIGHT) * check->grid->cost[path->cells[i]];
    }
    if (path->cells_cut) return PHX_OK;
    if (path->cells[path->cell_count - 1] != path->end)
        return fail(check, path->cell_count - 1, "another end");
    if (steps[0] != path->straights || steps[1] != path->diagonals)
        return fail(check, 0, "other numbers of steps");
    return cost == path->cost ? PHX_OK : fail(check, 0, "another cost");
}

/* ---- lines */

/* A line between the centres of two cells, and the radius that the layer of walls leaves. */
typedef struct Line {
    int64_t x, y;   /* cells */
    int64_t dx, dy; /* cells */
    int64_t rest;   /* raw */
} Line;

/* Whether the line meets the open rectangle of these half-sides (raw) around the cell (x, y). The moments at
 * which it is inside along an axis are fractions low / low_of .. high / high_of. */
static bool meets(const Line *line, int64_t x, int64_t y, int64_t half_x, int64_t half_y) {
    int64_t low = 0, low_of = 1, high = 1, high_of = 1;
    bool open = false; /* whether one of the ends is an open one */
    const int64_t d[2] = {line->dx * 65536, line->dy * 65536},
                  off[2] = {(x - line->x) * 65536, (y - line->y) * 65536}, half[2] = {half_x, half_y};
    for (int i = 0; i < 2; i++) {
        if (d[i] == 0) {
            if (off[i] - half[i] >= 0 || off[i] + half[i] <= 0) return false;
            continue;
        }
        const int64_t size = d[i] < 0 ? -d[i] : d[i], from = (d[i] < 0 ? -off[i] : off[i]) - half[i],
                      to = from + 2 * half[i];
        if (from * low_of >= low * size) low = from, low_of = size, open = true;
        if (to * high_of <= high * size) high = to, high_of = size, open = true;
    }
    return open ? low * high_of < high * low_of : low * high_of <= high * low_of;
}

/* Whether a point, in halves of a cell from the line's beginning, is nearer to the line than the rest. */
static bool is_near(const Line *line, int64_t x, int64_t y) {
    const int64_t length_sq = line->dx * line->dx + line->dy * line->dy, along = x * line->dx + y * line->dy;
    if (along < 0 || along > 2 * length_sq) return false; /* the ends lie in the middle of open cells */
    const int64_t cross = line->dx * y - line->dy * x;
    if (cross * cross >= length_sq) return false; /* half a cell away or more, which no rest is */
    return (uint64_t)(cross * cross) << 32 < (uint64_t)(4 * line->rest * line->rest) * (uint64_t)length_sq;
}

static bool touches(const Line *line, int64_t x, int64_t y) {
    if (meets(line, x, y, 32768 + line->rest, 32768) || meets(line, x, y, 32768, 32768 + line->rest))
        return true;
    const int64_t u = 2 * (x - line->x), v = 2 * (y - line->y);
    return is_near(line, u - 1, v - 1) || is_near(line, u + 1, v - 1) || is_near(line, u - 1, v + 1) ||
           is_near(line, u + 1, v + 1);
}

/* Whether a wall within two cells of the part of the line that lies in row y touches the disc. */
static bool is_row_free(const PhxNavGrid *grid, const Line *line, int64_t y) {
    const int64_t rows = line->dy < 0 ? -line->dy : line->dy, wide = line->dx < 0 ? -line->dx : line->dx;
    int64_t near = 0, far = wide; /* how far along x the line may have come */
    if (rows > 0) {
        const int64_t done = line->dy < 0 ? line->y - y : y - line->y;
        near = (done - 2) * wide / rows, far = (done + 2) * wide / rows + 1;
    }
    near = near < 0 ? 0 : near, far = far > wide ? wide : far;
    const int64_t from = line->dx < 0 ? line->x - far : line->x + near,
                  to = line->dx < 0 ? line->x - near : line->x + far;
    for (int64_t x = from - 2; x <= to + 2; x++)
        if (!phx_nav_passable(grid, (int32_t)x, (int32_t)y) && touches(line, x, y)) return false;
    return true;
}

static PhxStatus check_line(const Check *check, uint32_t index, uint32_t from, uint32_t to) {
    const uint32_t width = check->grid->width;
    Line line = {from % width, from / width, 0, 0, 0};
    line.dx = (int64_t)(to % width) - line.x, line.dy = (int64_t)(to / width) - line.y;
    line.rest = (int64_t)check->query->radius - (int64_t)(phx_cost_size_of(check->query->radius) - 1) * 32768;
    if (line.rest > 32768) line.rest = 32768;
    if (check->grid->cost[from] == PHX_NAV_IMPASSABLE || check->grid->cost[to] == PHX_NAV_IMPASSABLE)
        return fail(check, index, "a waypoint in a wall");
    const int64_t end = line.y + line.dy, low = line.y < end ? line.y : end,
                  high = line.y < end ? end : line.y;
    for (int64_t y = low - 1; y <= high + 1; y++)
        if (!is_row_free(check->grid, &line, y)) return fail(check, index, "a line touches a wall");
    return PHX_OK;
}

static PhxStatus check_waypoints(const Check *check) {
    const PhxPath *path = check->path;
    const uint32_t size = phx_cost_size_of(check->query->radius);
    uint32_t before = 0;
    if (path->waypoint_count == 0) return fail(check, 0, "no waypoints");
    for (uint32_t i = 0; i < path->waypoint_count; i++) {
        const PhxVec2 at = path->waypoints[i];
        const uint32_t cell = phx_cost_cell_of(check->grid, size, at.x, at.y);
        const PhxVec2 center = phx_cost_center_of(check->grid, size, cell);
        if (center.x != at.x || center.y != at.y)
            return fail(check, i, "a waypoint that is no cell's centre");
        if (i == 0 && cell != check->query->start) return fail(check, 0, "a waypoint that isn't the start");
        if (i > 0) {
            const PhxStatus status = check_line(check, i, before, cell);
            if (status) return status;
        }
        before = cell;
    }
    if (!path->waypoints_cut && before != path->end)
        return fail(check, path->waypoint_count - 1, "the last waypoint isn't the end");
    return PHX_OK;
}

PhxStatus phx_path_check(const PhxNavGrid *grid, const PhxPathQuery *query, const PhxPath *path,
                         PhxError *error) {
    const Check check = {grid, query, path, error};
    PhxStatus status = PHX_OK;
    if (path->cell_capacity) status = check_cells(&check);
    if (!status && path->waypoint_capacity) status = check_waypoints(&check);
    return status;
}
