/* path_sight.c: whether a disc slides straight from a cell to a cell.
 *
 * In: a ground, two cells, a radius. Out: yes or no, exactly. The grid is the layer of the disc's size n
 * (cost.h): its walls are those of the ground, grown by a square of half-side (n - 1) / 2. A disc of radius r
 * keeps clear of the ground wherever a disc of radius r - (n - 1) / 2 keeps clear of the layer's walls, since
 * a disc lies within a square and a smaller disc around each of its points. That rest is at most half a cell.
 *
 * Method: the line goes along its longer axis from column to column; in each, four cells may be as near as
 * half a cell: the one that it's in at the column's beginning, the one before and the two behind. A wall
 * among them stops the disc if the line goes through it, or if one of its corners is nearer to the line than
 * the radius. Coordinates are halves of a cell, so that centres and corners are integers; a cross product is
 * compared with radius times length by their squares.
 *
 * Cost: some 2 ns a column, and 5 for each wall beside the line. Determinism: exact integers below 2^58. The
 * same from b to a, as the question is of geometry alone.
 */
#include "base/bitset.h"
#include "nav/path_ground.h"

/* A line in coordinates of its own: u along the longer axis, v along the other, both growing, in cells. */
typedef struct Line {
    const PhxPathGround *ground;
    int32_t x, y;           /* where it begins */
    int32_t ux, uy, vx, vy; /* the axes */
    int64_t u, v;           /* where it ends: 0 <= v <= u */
    uint64_t length_sq;     /* cells squared */
    uint64_t near_sq;       /* (2 radius)^2, Q32 */
} Line;

static Line line_make(const PhxPathGround *ground, uint32_t a, uint32_t b, fix16_t radius) {
    const int32_t width = (int32_t)ground->width, ax = (int32_t)a % width, ay = (int32_t)a / width,
                  dx = (int32_t)b % width - ax, dy = (int32_t)b / width - ay;
    const int32_t sx = dx < 0 ? -1 : 1, sy = dy < 0 ? -1 : 1;
    const int64_t wide = sx * dx, high = sy * dy;
    const int64_t rest = (int64_t)radius - (int64_t)(phx_cost_size_of(radius) - 1) * 32768;
    const uint64_t near = (uint64_t)(rest < 32768 ? rest : 32768);
    Line line = {.ground = ground, .x = ax, .y = ay};
    if (wide >= high)
        line.ux = sx, line.vy = sy, line.u = wide, line.v = high;
    else
        line.uy = sy, line.vx = sx, line.u = high, line.v = wide;
    line.length_sq = (uint64_t)(wide * wide + high * high);
    line.near_sq = 4 * near * near;
    return line;
}

/* Whether a corner, in halves of a cell from the beginning, lies beside the line and nearer than the radius.
 */
static bool is_near(const Line *line, int64_t u, int64_t v) {
    const int64_t along = u * line->u + v * line->v;
    if (along < 0 || (uint64_t)along > 2 * line->length_sq) return false;
    const uint64_t cross = phx_abs64(line->u * v - line->v * u);
    if (cross * cross >= line->length_sq) return false; /* half a cell or more */
    return cross * cross << 32 < line->near_sq * line->length_sq;
}

/* Whether the wall (i, j) stops the disc. Ends lie in the middle of open cells, half a cell or more away. */
static bool stops(const Line *line, int64_t i, int64_t j) {
    const int64_t u = 2 * i, v = 2 * j;
    /* the corners farthest to both sides of the line */
    const int64_t above = line->u * (v + 1) - line->v * (u - 1),
                  below = line->u * (v - 1) - line->v * (u + 1);
    if (above > 0 && below < 0) return true;
    return is_near(line, u - 1, v - 1) || is_near(line, u - 1, v + 1) || is_near(line, u + 1, v - 1) ||
           is_near(line, u + 1, v + 1);
}

static bool is_shut(const Line *line, int64_t i, int64_t j) {
    const int32_t u = (int32_t)i, v = (int32_t)j;
    return phx_path_shut(line->ground, line->x + u * line->ux + v * line->vx,
                         line->y + u * line->uy + v * line->vy);
}

static uint8_t cost_at(const Line *line, int64_t i, int64_t j) {
    const int32_t u = (int32_t)i, v = (int32_t)j;
    const int32_t x = line->x + u * line->ux + v * line->vx, y = line->y + u * line->uy + v * line->vy;
    return line->ground->cost[(uint32_t)y * line->ground->width + (uint32_t)x];
}

/* The cell of a column that the line is in where the column begins: (v (2 i - 1) + u) / 2 u, kept from column
 * to column. It grows by one at most. */
typedef struct Entry {
    int64_t cell, rest;
} Entry;

static Entry entry_first(const Line *line) { return (Entry){0, line->u - line->v}; }

static inline Entry entry_next(const Line *line, Entry entry) {
    entry.rest += 2 * line->v;
    if (entry.rest >= 2 * line->u) {
        entry.rest -= 2 * line->u;
        entry.cell++;
    }
    return entry;
}

bool phx_path_clear(const PhxPathGround *ground, uint32_t a, uint32_t b, fix16_t radius) {
    const Line line = line_make(ground, a, b, radius);
    if (is_shut(&line, 0, 0) || is_shut(&line, line.u, line.v)) return false;
    const PhxPathBoard *board = line.ux ? &ground->columns : &ground->rows;
    const bool along = line.vx + line.vy > 0; /* whether v grows as the bits of a line of the board do */
    const int32_t from = line.ux ? line.y : line.x;
    const ptrdiff_t step = line.ux + line.uy > 0 ? (ptrdiff_t)board->stride : -(ptrdiff_t)board->stride;
    const uint64_t *column = phx_path_line(board, line.ux ? line.x : line.y);
    Entry entry = entry_first(&line);
    for (int64_t i = 0;; i++) {
        /* the cells from one before to two behind the entry */
        const int32_t j = (int32_t)entry.cell, first = along ? from + j - 1 : from - j - 2;
        for (uint64_t walls = phx_path_window(column, (uint32_t)(first + PHX_PATH_RIM)) & 15; walls;
             walls &= walls - 1) {
            const int32_t bit = (int32_t)phx_bit_lowest(walls);
            if (stops(&line, i, along ? j - 1 + bit : j + 2 - bit)) return false;
        }
        if (i == line.u) return true;
        column += step;
        entry = entry_next(&line, entry);
    }
}

bool phx_path_clear_within(const PhxPathGround *ground, uint32_t a, uint32_t b, fix16_t radius,
                           uint8_t most) {
    if (!phx_path_clear(ground, a, b, radius)) return false;
    const Line line = line_make(ground, a, b, radius);
    Entry entry = entry_first(&line);
    for (int64_t i = 0; i <= line.u; i++) {
        const Entry next = entry_next(&line, entry);
        const int64_t last = i < line.u ? next.cell : line.v;
        for (int64_t k = entry.cell; k <= last; k++)
            if (cost_at(&line, i, k) > most) return false;
        entry = next;
    }
    return true;
}
