/* walls_move.c: the hard guarantee against walls. Whatever velocity was chosen, the disc ends where it may.
 *
 * In: the grid, a disc, a displacement. Out: its new position. Method: the displacement is cut into pieces of
 * at most min(radius, 1 unit) / 2. A piece whose end is clear is taken. Otherwise the end is moved out of the
 * nearest solid cell along the normal, so that the disc slides; where that doesn't help, one axis at a time;
 * else the disc stops. Each new position is accepted only by an exact integer test: it is no nearer to a
 * solid cell than before, or clear. A piece being shorter than the radius, two clear positions can't lie on
 * the two sides of a corner point or a cell. Cost: the cells under the swept box, if all are open; else the
 * cells under the disc, a few times a piece.
 *
 * Determinism: integers; a pure function of the cells near the disc. Nearest cells are chosen by (squared
 * distance, y, x). Pieces are differences of rounded fractions of the displacement, so that they add up to it
 * exactly.
 */
#include <phalanx/walls.h>
#include <string.h>

enum {
    CELL = 1 << 16,
    PIECE_MAX = CELL / 2,
    PUSHES = 4,  /* cells that one piece is moved out of */
    FREEING = 4, /* pieces by which a disc that begins in a wall is moved out in one call */
    RESCUE = 8,  /* cells: how far a centre in a wall looks for an open one at first */
    RADIUS_MIN = 1 << 12,
    RADIUS_MAX = 16 << 16,
};

static int32_t cell_of(int64_t raw) { return (int32_t)(raw >= 0 ? raw / CELL : -((-raw + CELL - 1) / CELL)); }

static bool solid(const PhxNavGrid *grid, int32_t cx, int32_t cy) {
    if (cx < 0 || cy < 0 || cx >= (int32_t)grid->width || cy >= (int32_t)grid->height) return true;
    return grid->cost[(size_t)cy * grid->width + (size_t)cx] == PHX_NAV_IMPASSABLE;
}

/* From the interval of cell `c` to a coordinate: negative before it, positive behind it, 0 within. */
static int64_t gap(int64_t at, int32_t c) {
    const int64_t low = (int64_t)c * CELL;
    return at < low ? at - low : at > low + CELL ? at - low - CELL : 0;
}

/* The solid cell nearest to a point, if strictly nearer than the radius. */
typedef struct Nearest {
    uint64_t distance_sq; /* radius^2 where there is none */
    int64_t dx, dy;       /* from the cell to the point */
    int32_t cx, cy;
    bool found;
} Nearest;

static Nearest nearest_solid(const PhxNavGrid *grid, PhxVec2 at, fix16_t radius) {
    Nearest nearest = {.distance_sq = (uint64_t)radius * (uint64_t)radius};
    const int32_t last_x = cell_of((int64_t)at.x + radius), last_y = cell_of((int64_t)at.y + radius);
    for (int32_t cy = cell_of((int64_t)at.y - radius); cy <= last_y; cy++)
        for (int32_t cx = cell_of((int64_t)at.x - radius); cx <= last_x; cx++) {
            if (!solid(grid, cx, cy)) continue;
            const int64_t dx = gap(at.x, cx), dy = gap(at.y, cy);
            const uint64_t distance_sq = (uint64_t)(dx * dx) + (uint64_t)(dy * dy);
            if (distance_sq >= nearest.distance_sq) continue;
            nearest =
                (Nearest){.distance_sq = distance_sq, .dx = dx, .dy = dy, .cx = cx, .cy = cy, .found = true};
        }
    return nearest;
}

bool phx_walls_clear(const PhxNavGrid *grid, PhxVec2 at, fix16_t radius) {
    return !nearest_solid(grid, at, radius).found;
}

static bool box_is_open(const PhxNavGrid *grid, PhxVec2 a, PhxVec2 b, fix16_t radius) {
    const int32_t first_x = cell_of((int64_t)(a.x < b.x ? a.x : b.x) - radius);
    const int32_t last_x = cell_of((int64_t)(a.x < b.x ? b.x : a.x) + radius);
    const int32_t first_y = cell_of((int64_t)(a.y < b.y ? a.y : b.y) - radius);
    const int32_t last_y = cell_of((int64_t)(a.y < b.y ? b.y : a.y) + radius);
    for (int32_t cy = first_y; cy <= last_y; cy++)
        for (int32_t cx = first_x; cx <= last_x; cx++)
            if (solid(grid, cx, cy)) return false;
    return true;
}

/* The nearest way out of a cell that the point is in or on the edge of: across the side with the least way
 * whose neighbour is open; sides in order left, right, low, high. */
static PhxVec2 leave_cell(const PhxNavGrid *grid, PhxVec2 at, const Nearest *in, fix16_t radius) {
    const int64_t x = (int64_t)in->cx * CELL, y = (int64_t)in->cy * CELL;
    const int64_t way[4] = {at.x - x, x + CELL - at.x, at.y - y, y + CELL - at.y};
    const bool open[4] = {!solid(grid, in->cx - 1, in->cy), !solid(grid, in->cx + 1, in->cy),
                          !solid(grid, in->cx, in->cy - 1), !solid(grid, in->cx, in->cy + 1)};
    int best = -1;
    for (int i = 0; i < 4; i++)
        if (open[i] && (best < 0 || way[i] < way[best])) best = i;
    switch (best) {
    case 0:
        return phx_vec2((fix16_t)(x - radius), at.y);
    case 1:
        return phx_vec2((fix16_t)(x + CELL + radius), at.y);
    case 2:
        return phx_vec2(at.x, (fix16_t)(y - radius));
    case 3:
        return phx_vec2(at.x, (fix16_t)(y + CELL + radius));
    default:
        return at;
    }
}

/* Out of the nearest solid cell, along the shortest way, until the disc only touches it; a few cells in turn.
 */
static PhxVec2 push_out(const PhxNavGrid *grid, PhxVec2 at, fix16_t radius) {
    for (int i = 0; i < PUSHES; i++) {
        const Nearest n = nearest_solid(grid, at, radius);
        if (!n.found) break;
        if (n.dx == 0 && n.dy == 0) {
            at = leave_cell(grid, at, &n, radius);
        } else if (n.dy == 0) {
            at.x += (fix16_t)((n.dx > 0 ? radius : -radius) - n.dx);
        } else if (n.dx == 0) {
            at.y += (fix16_t)((n.dy > 0 ? radius : -radius) - n.dy);
        } else {
            /* from the corner, 2 raw more than the radius, so that rounding doesn't bring it back */
            PhxDir out;
            phx_vec2_normalize(phx_vec2((fix16_t)n.dx, (fix16_t)n.dy), &out);
            const PhxVec2 from_corner = phx_dir_scale(out, radius + 2);
            at.x += (fix16_t)(from_corner.x - n.dx);
            at.y += (fix16_t)(from_corner.y - n.dy);
        }
    }
    return at;
}

/* The rule of steps for a centre: into an open cell; diagonally only between two open ones. */
static bool centre_may_step(const PhxNavGrid *grid, PhxVec2 from, PhxVec2 to) {
    const int32_t ax = cell_of(from.x), ay = cell_of(from.y), bx = cell_of(to.x), by = cell_of(to.y);
    return !solid(grid, bx, by) && !solid(grid, ax, by) && !solid(grid, bx, ay);
}

/* Whether the disc may go from `from` to `to` in one piece: not deeper than it was, and not past anything. */
static bool may_move(const PhxNavGrid *grid, PhxVec2 from, PhxVec2 to, fix16_t radius) {
    const int64_t limit = radius < CELL ? radius : CELL;
    if (phx_vec2_distance_sq(from, to) > (uint64_t)(limit * limit)) return false;
    const Nearest after = nearest_solid(grid, to, radius);
    if (!after.found && phx_walls_clear(grid, from, radius)) return true;
    return centre_may_step(grid, from, to) &&
           after.distance_sq >= nearest_solid(grid, from, radius).distance_sq;
}

/* Takes one piece, or as much of it as the walls leave. False where nothing is left. */
static bool move_piece(const PhxNavGrid *grid, PhxVec2 *at, PhxVec2 piece, fix16_t radius) {
    const PhxVec2 along_x = phx_vec2(piece.x, 0), along_y = phx_vec2(0, piece.y);
    const bool x_first = phx_abs64(piece.x) >= phx_abs64(piece.y);
    const PhxVec2 tries[3] = {piece, x_first ? along_x : along_y, x_first ? along_y : along_x};
    for (int i = 0; i < 3; i++) {
        if (phx_vec2_is_zero(tries[i])) continue;
        const PhxVec2 to = push_out(grid, phx_vec2_add(*at, tries[i]), radius);
        if (phx_vec2_equal(to, *at) || !may_move(grid, *at, to, radius)) continue;
        *at = to;
        return true;
    }
    return false;
}

/* The search for the open cell whose centre is nearest to a point. */
typedef struct Search {
    const PhxNavGrid *grid;
    PhxVec2 at;
    uint64_t best; /* squared distance; ties: lower y, then x */
    int32_t cx, cy;
    bool found;
} Search;

static void offer(Search *s, int32_t cx, int32_t cy) {
    const PhxVec2 center = phx_vec2(cx * CELL + CELL / 2, cy * CELL + CELL / 2);
    const uint64_t distance_sq = phx_vec2_distance_sq(s->at, center);
    if (s->found &&
        (distance_sq > s->best || (distance_sq == s->best && (cy > s->cy || (cy == s->cy && cx > s->cx)))))
        return;
    *s = (Search){s->grid, s->at, distance_sq, cx, cy, true};
}

static bool eight_solid(const uint8_t *cost) {
    uint64_t word;
    memcpy(&word, cost, sizeof word);
    return word == UINT64_MAX;
}

/* The first open cell of a row at or to the right of `from`, up to `last`; and to the left, down to `first`.
 */
static void search_row(Search *s, int32_t cy, int32_t first, int32_t from, int32_t last) {
    const uint8_t *row = s->grid->cost + (size_t)cy * s->grid->width;
    int32_t right = from;
    while (right <= last && row[right] == PHX_NAV_IMPASSABLE)
        right += right + 7 <= last && eight_solid(row + right) ? 8 : 1;
    if (right <= last) offer(s, right, cy);
    int32_t left = from - 1;
    while (left >= first && row[left] == PHX_NAV_IMPASSABLE)
        left -= left - 7 >= first && eight_solid(row + left - 7) ? 8 : 1;
    if (left >= first) offer(s, left, cy);
}

static int32_t clamp_cell(int64_t cell, uint32_t size) {
    return cell < 0 ? 0 : cell >= (int64_t)size ? (int32_t)size - 1 : (int32_t)cell;
}

/* Squares of rising size about the point's cell. Cells outside of one of half side h are farther than
 * h + 1/2. */
static Search nearest_open(const PhxNavGrid *grid, PhxVec2 at) {
    Search s = {.grid = grid, .at = at};
    const int32_t own_x = cell_of(at.x), own_y = cell_of(at.y);
    const int32_t from = clamp_cell(own_x, grid->width);
    for (int64_t half = RESCUE;; half *= 2) {
        const int32_t first_x = clamp_cell(own_x - half, grid->width),
                      last_x = clamp_cell(own_x + half, grid->width);
        const int32_t first_y = clamp_cell(own_y - half, grid->height),
                      last_y = clamp_cell(own_y + half, grid->height);
        for (int32_t cy = first_y; cy <= last_y; cy++) search_row(&s, cy, first_x, from, last_x);
        const uint64_t sure = (uint64_t)half * CELL + CELL / 2;
        const bool all = first_x == 0 && first_y == 0 && last_x == (int32_t)grid->width - 1 &&
                         last_y == (int32_t)grid->height - 1;
        if (all || (s.found && s.best <= sure * sure)) return s;
    }
}

/* A centre in a wall: towards the centre of the nearest open cell. */
static PhxVec2 rescue(const PhxNavGrid *grid, PhxVec2 at, fix16_t radius) {
    const Search s = nearest_open(grid, at);
    if (!s.found) return at;
    const PhxVec2 way = phx_vec2_sub(phx_vec2(s.cx * CELL + CELL / 2, s.cy * CELL + CELL / 2), at);
    return phx_vec2_add(at, phx_vec2_clamp_length(way, radius > CELL ? radius : CELL));
}

/* A disc that begins in a wall is moved out piece by piece, as far as the place is wide enough. */
static PhxVec2 free_disc(const PhxNavGrid *grid, PhxVec2 at, fix16_t radius) {
    const fix16_t step = (radius < CELL ? radius : CELL) / 2;
    for (int i = 0; i < FREEING && !phx_walls_clear(grid, at, radius); i++) {
        const PhxVec2 out = phx_vec2_sub(push_out(grid, at, radius), at);
        const PhxVec2 to = phx_vec2_add(at, phx_vec2_clamp_length(out, step));
        if (!may_move(grid, at, to, radius)) break;
        at = to;
    }
    return at;
}

PhxVec2 phx_walls_move(const PhxNavGrid *grid, PhxVec2 from, PhxVec2 displacement, fix16_t radius) {
    radius = radius < RADIUS_MIN ? RADIUS_MIN : radius > RADIUS_MAX ? RADIUS_MAX : radius;
    const PhxVec2 target = phx_vec2_add(from, displacement);
    if (box_is_open(grid, from, target, radius)) return target;
    if (solid(grid, cell_of(from.x), cell_of(from.y))) return rescue(grid, from, radius);
    PhxVec2 at = free_disc(grid, from, radius);
    const int64_t piece_max = radius / 2 < PIECE_MAX ? radius / 2 : PIECE_MAX;
    const int64_t pieces = phx_vec2_length(displacement) / piece_max + 1;
    PhxVec2 done = {0, 0};
    for (int64_t i = 1; i <= pieces; i++) {
        const PhxVec2 reached = {(fix16_t)phx_div_round(displacement.x * i, pieces),
                                 (fix16_t)phx_div_round(displacement.y * i, pieces)};
        if (!move_piece(grid, &at, phx_vec2_sub(reached, done), radius)) break;
        done = reached;
    }
    return at;
}
