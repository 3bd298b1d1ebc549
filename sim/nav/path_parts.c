/* path_parts.c: which cells of a ground a path joins, and the reachable cell nearest to a goal.
 *
 * In: the rows of a ground. Out: its runs, open cells beside each other in a row, each with its part: equal
 * numbers exactly where a path joins two runs. A diagonal step needs both side cells open, so that runs are
 * joined exactly where they overlap in neighbouring rows. Sets are merged under their lowest run (Galler,
 * Fischer, An Improved Equivalence Algorithm, 1964), with paths halved.
 *
 * Cost: a look at each word of the rows, and nearly linear in the runs, of which there are far fewer than
 * cells. Determinism: a pure function of the rows; a part's number is that of its first run.
 */
#include "base/bitset.h"
#include "nav/path_ground.h"

/* ---- runs */

/* The first cell from `x` on that is a wall (`wall`) or open; the width, or more, where there is none. */
static uint32_t next_of(const uint64_t *line, uint32_t x, uint32_t width, bool wall) {
    for (uint32_t at = x + PHX_PATH_RIM; at < width + PHX_PATH_RIM; at = at / 64 * 64 + 64) {
        const uint64_t word = (wall ? line[at / 64] : ~line[at / 64]) >> at % 64;
        if (word) return at + phx_bit_lowest(word) - PHX_PATH_RIM;
    }
    return width;
}

static uint32_t list_runs(PhxPathGround *ground, uint32_t y, uint32_t count) {
    const uint64_t *line = phx_path_line(&ground->rows, (int32_t)y);
    const uint32_t width = ground->width;
    for (uint32_t x = next_of(line, 0, width, false); x < width;) {
        const uint32_t end = next_of(line, x, width, true);
        ground->run[count] = (PhxPathRun){(uint16_t)x, (uint16_t)(end - 1), count};
        count++;
        x = next_of(line, end, width, false);
    }
    return count;
}

/* ---- parts */

static uint32_t root_of(PhxPathRun *run, uint32_t i) {
    while (run[i].part != i) {
        run[i].part = run[run[i].part].part;
        i = run[i].part;
    }
    return i;
}

static void join(PhxPathRun *run, uint32_t a, uint32_t b) {
    a = root_of(run, a);
    b = root_of(run, b);
    if (a < b) run[b].part = a;
    if (b < a) run[a].part = b;
}

/* Joins the runs upper.. of a row with the runs lower..end of the next. */
static void join_rows(PhxPathRun *run, uint32_t upper, uint32_t lower, uint32_t end) {
    const uint32_t upper_end = lower;
    while (upper < upper_end && lower < end) {
        const PhxPathRun *a = &run[upper], *b = &run[lower];
        if (a->from <= b->to && b->from <= a->to) join(run, upper, lower);
        if (a->to < b->to)
            upper++;
        else
            lower++;
    }
}

void phx_path_find_parts(PhxPathGround *ground) {
    uint32_t count = 0;
    for (uint32_t y = 0; y < ground->height; y++) {
        ground->first_run[y] = count;
        count = list_runs(ground, y, count);
        if (y > 0) join_rows(ground->run, ground->first_run[y - 1], ground->first_run[y], count);
    }
    ground->first_run[ground->height] = count;
    /* a root is no higher than what is below it, so that its number is final when it is asked for */
    for (uint32_t i = 0; i < count; i++) ground->run[i].part = ground->run[ground->run[i].part].part;
}

/* ---- questions */

/* The first run of a row that ends at x or behind; the end of the row's runs if none does. */
static uint32_t run_at(const PhxPathGround *ground, uint32_t x, uint32_t y) {
    uint32_t low = ground->first_run[y], high = ground->first_run[y + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ground->run[middle].to < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* PHX_NAV_NO_CELL for a wall. */
static uint32_t part_of(const PhxPathGround *ground, uint32_t cell) {
    const uint32_t x = cell % ground->width, y = cell / ground->width, i = run_at(ground, x, y);
    return i < ground->first_run[y + 1] && ground->run[i].from <= x ? ground->run[i].part : PHX_NAV_NO_CELL;
}

bool phx_path_joined(const PhxPathGround *ground, uint32_t a, uint32_t b) {
    const uint32_t part = part_of(ground, a);
    return part != PHX_NAV_NO_CELL && part == part_of(ground, b);
}

typedef struct Nearest {
    uint64_t distance_sq;
    uint32_t cell;
} Nearest;

static void consider(const PhxPathGround *ground, uint32_t gx, uint32_t gy, uint32_t x, uint32_t y,
                     Nearest *best) {
    const int64_t dx = (int64_t)x - gx, dy = (int64_t)y - gy;
    const uint64_t distance_sq = (uint64_t)(dx * dx + dy * dy);
    const uint32_t cell = y * ground->width + x;
    if (distance_sq < best->distance_sq || (distance_sq == best->distance_sq && cell < best->cell))
        *best = (Nearest){distance_sq, cell};
}

/* The cells of a part in row y that are nearest to column gx, on both sides. */
static void look_at_row(const PhxPathGround *ground, uint32_t part, uint32_t gx, uint32_t gy, uint32_t y,
                        Nearest *best) {
    const uint32_t first = ground->first_run[y], end = ground->first_run[y + 1], at = run_at(ground, gx, y);
    for (uint32_t i = at; i < end; i++) {
        if (ground->run[i].part != part) continue;
        consider(ground, gx, gy, ground->run[i].from > gx ? ground->run[i].from : gx, y, best);
        break;
    }
    for (uint32_t i = at; i > first; i--) {
        if (ground->run[i - 1].part != part) continue;
        consider(ground, gx, gy, ground->run[i - 1].to, y, best);
        break;
    }
}

uint32_t phx_path_nearest(const PhxPathGround *ground, uint32_t from, uint32_t wanted) {
    const uint32_t part = part_of(ground, from), gx = wanted % ground->width, gy = wanted / ground->width;
    Nearest best = {UINT64_MAX, PHX_NAV_NO_CELL};
    if (part == PHX_NAV_NO_CELL) return PHX_NAV_NO_CELL;
    for (uint32_t d = 0; d < ground->height && (uint64_t)d * d <= best.distance_sq; d++) {
        if (d <= gy) look_at_row(ground, part, gx, gy, gy - d, &best);
        if (d > 0 && gy + d < ground->height) look_at_row(ground, part, gx, gy, gy + d, &best);
    }
    return best.cell;
}
