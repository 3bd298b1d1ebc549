/* spatial.c: the uniform grid over positions and its nearest-neighbour query.
 *
 * In: columns of positions and the living slots. Out: rows in order of (cell, slot) with their positions.
 * Cost: build O(rows + cells), all but the sums over cells spread over the jobs; query O(rows in the cells
 * that its circle touches).
 *
 * Determinism: the list of slots is cut into pieces, as many as there are workers; each counts its rows by
 * cell, and then knows where its first row of each cell goes: behind those of the pieces before it. So rows
 * lie in order of (cell, slot) however many pieces there are. The query keeps the least keys of a total
 * order, (squared distance, slot) in one integer, so that the order of visiting rows plays no part.
 */
#include <phalanx/spatial.h>
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"

enum {
    SLOT_BITS = 20,    /* PHX_SPATIAL_MAX_ROWS = 2^20 */
    PIECE_ROWS = 1024, /* a piece of fewer isn't worth its own wake-up */
    PIECES_MAX = 8,
    CHUNK = 32, /* rows that a query looks at between two sorts */
};

void phx_spatial_layout(PhxSpatial *spatial, PhxArena *arena, uint32_t capacity) {
    PHX_ASSERT(capacity <= PHX_SPATIAL_MAX_ROWS, capacity, 0);
    *spatial = (PhxSpatial){.capacity = capacity, .max_cells = PHX_SPATIAL_MAX_CELLS};
    spatial->cell_start = PHX_ARENA_ARRAY(arena, uint32_t, (size_t)PHX_SPATIAL_MAX_CELLS + 1);
    spatial->slot = PHX_ARENA_ARRAY(arena, uint32_t, capacity);
    spatial->row_of = PHX_ARENA_ARRAY(arena, uint32_t, capacity);
    spatial->position = PHX_ARENA_ARRAY(arena, PhxVec2, capacity);
    spatial->cell_of = PHX_ARENA_ARRAY(arena, uint32_t, capacity);
    spatial->next_row = PHX_ARENA_ARRAY(arena, uint32_t, PHX_SPATIAL_MAX_CELLS);
}

typedef struct Box {
    int32_t low_x, low_y, high_x, high_y;
} Box;

typedef struct BuildTask {
    PhxSpatial *spatial;
    const fix16_t *x, *y;
    const uint32_t *slots;
    uint32_t count, pieces;
    Box box[PIECES_MAX]; /* by piece */
} BuildTask;

static uint32_t task_slot(const BuildTask *task, uint32_t i) { return task->slots ? task->slots[i] : i; }

/* Where a piece of the list begins; pieces: its end. */
static uint32_t piece_begin(const BuildTask *task, uint32_t piece) {
    return (uint32_t)((uint64_t)task->count * piece / task->pieces);
}

static uint64_t cells_of(uint64_t span_x, uint64_t span_y, uint32_t shift) {
    return ((span_x >> shift) + 1) * ((span_y >> shift) + 1);
}

/* A cell is a power of two wide: half to once the range, so that a circle touches 3 to 5 rows of cells; less
 * where it would hold more than 3 rows on the average, as the nearest few are then near; more where there
 * would be too many. */
static uint32_t fit_shift(uint64_t span_x, uint64_t span_y, uint32_t count, fix16_t range,
                          uint32_t max_cells) {
    uint32_t shift = 14;
    while (shift < 22 && (int64_t)2 << shift <= range) shift++;
    while (shift > 14 && count > 3 * cells_of(span_x, span_y, shift)) shift--;
    while (cells_of(span_x, span_y, shift) > max_cells) shift++;
    return shift;
}

static void find_boxes(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    BuildTask *task = context;
    (void)worker;
    for (uint32_t piece = begin; piece < end; piece++) {
        int32_t low_x = INT32_MAX, low_y = INT32_MAX, high_x = INT32_MIN, high_y = INT32_MIN;
        for (uint32_t i = piece_begin(task, piece), last = piece_begin(task, piece + 1); i < last; i++) {
            const uint32_t slot = task_slot(task, i);
            PHX_ASSERT(slot < task->spatial->capacity, slot, task->spatial->capacity);
            const int32_t x = task->x[slot], y = task->y[slot];
            low_x = x < low_x ? x : low_x;
            high_x = x > high_x ? x : high_x;
            low_y = y < low_y ? y : low_y;
            high_y = y > high_y ? y : high_y;
        }
        task->box[piece] = (Box){low_x, low_y, high_x, high_y};
    }
}

/* From the boxes of all pieces: origin, size and shift. */
static void fit_cells(const BuildTask *task, fix16_t range) {
    PhxSpatial *s = task->spatial;
    Box all = task->box[0];
    for (uint32_t piece = 1; piece < task->pieces; piece++) {
        const Box *box = &task->box[piece];
        all.low_x = box->low_x < all.low_x ? box->low_x : all.low_x;
        all.low_y = box->low_y < all.low_y ? box->low_y : all.low_y;
        all.high_x = box->high_x > all.high_x ? box->high_x : all.high_x;
        all.high_y = box->high_y > all.high_y ? box->high_y : all.high_y;
    }
    s->origin_x = all.low_x;
    s->origin_y = all.low_y;
    const uint64_t span_x = (uint64_t)((int64_t)all.high_x - all.low_x),
                   span_y = (uint64_t)((int64_t)all.high_y - all.low_y);
    s->cell_shift = fit_shift(span_x, span_y, task->count, range, s->max_cells);
    s->width = (uint32_t)(span_x >> s->cell_shift) + 1;
    s->height = (uint32_t)(span_y >> s->cell_shift) + 1;
}

/* The cell of each row, and how many rows of the piece each cell has. */
static void count_rows(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const BuildTask *task = context;
    PhxSpatial *s = task->spatial;
    const uint32_t cells = s->width * s->height;
    (void)worker;
    for (uint32_t piece = begin; piece < end; piece++) {
        uint32_t *rows = s->next_row + (size_t)piece * cells;
        memset(rows, 0, sizeof *rows * cells);
        for (uint32_t i = piece_begin(task, piece), last = piece_begin(task, piece + 1); i < last; i++) {
            const uint32_t slot = task_slot(task, i);
            const uint32_t cx = (uint32_t)((int64_t)task->x[slot] - s->origin_x) >> s->cell_shift;
            const uint32_t cy = (uint32_t)((int64_t)task->y[slot] - s->origin_y) >> s->cell_shift;
            const uint32_t cell = cy * s->width + cx;
            s->cell_of[i] = cell;
            rows[cell]++;
        }
    }
}

/* From counts to the row where each cell begins, and in it the rows of each piece. */
static void sum_rows(const BuildTask *task) {
    PhxSpatial *s = task->spatial;
    const uint32_t cells = s->width * s->height, pieces = task->pieces;
    uint32_t start = 0;
    for (uint32_t c = 0; c < cells; c++) {
        uint32_t *next = s->next_row + c;
        uint32_t rows = *next;
        s->cell_start[c] = *next = start;
        start += rows;
        for (uint32_t piece = 1; piece < pieces; piece++) {
            next += cells;
            rows = *next;
            *next = start;
            start += rows;
        }
    }
    s->cell_start[cells] = start;
}

static void scatter_rows(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const BuildTask *task = context;
    PhxSpatial *s = task->spatial;
    (void)worker;
    for (uint32_t piece = begin; piece < end; piece++) {
        uint32_t *next = s->next_row + (size_t)piece * s->width * s->height;
        for (uint32_t i = piece_begin(task, piece), last = piece_begin(task, piece + 1); i < last; i++) {
            const uint32_t slot = task_slot(task, i), row = next[s->cell_of[i]]++;
            s->slot[row] = slot;
            s->row_of[slot] = row;
            s->position[row] = (PhxVec2){task->x[slot], task->y[slot]};
        }
    }
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

void phx_spatial_build(PhxSpatial *spatial, const PhxJobs *jobs, const fix16_t *x, const fix16_t *y,
                       const uint32_t *slots, uint32_t count, fix16_t range) {
    PHX_ASSERT(count <= spatial->capacity, count, spatial->capacity);
    spatial->count = count;
    spatial->width = spatial->height = 0;
    if (count == 0) return;
    BuildTask task = {.spatial = spatial, .x = x, .y = y, .slots = slots, .count = count};
    task.pieces = least(least(jobs->workers, PIECES_MAX), (count - 1) / PIECE_ROWS + 1);
    phx_parallel_for(jobs, task.pieces, 1, find_boxes, &task);
    fit_cells(&task, range);
    task.pieces = least(task.pieces, spatial->max_cells / (spatial->width * spatial->height));
    phx_parallel_for(jobs, task.pieces, 1, count_rows, &task);
    sum_rows(&task);
    phx_parallel_for(jobs, task.pieces, 1, scatter_rows, &task);
}

/* One axis of a window; false where it lies beside the grid. */
static bool clip_axis(int64_t at, int64_t range, int32_t origin, uint32_t shift, uint32_t size,
                      uint32_t *first, uint32_t *last) {
    const int64_t low = at - range - origin, high = at + range - origin;
    if (high < 0) return false;
    const uint64_t from = low < 0 ? 0 : (uint64_t)low >> shift, to = (uint64_t)high >> shift;
    if (from >= size) return false;
    *first = (uint32_t)from;
    *last = to < size ? (uint32_t)to : size - 1;
    return true;
}

bool phx_spatial_window(const PhxSpatial *s, PhxVec2 at, fix16_t range, PhxSpatialWindow *out) {
    return clip_axis(at.x, range, s->origin_x, s->cell_shift, s->width, &out->first_x, &out->last_x) &&
           clip_axis(at.y, range, s->origin_y, s->cell_shift, s->height, &out->first_y, &out->last_y);
}

/* A key is (squared distance, slot). The first `sorted` keys are ascending; those behind, up to `found`,
 * aren't. `bound` is the largest key that may still enter (and a few with its distance do, until the next
 * sort): it falls as soon as `limit` keys are there. */
typedef struct NearestQuery {
    int64_t x, y;
    uint64_t bound;
    uint32_t exclude, limit, found, sorted;
    uint64_t key[PHX_SPATIAL_MAX_NEAREST + CHUNK];
} NearestQuery;

/* Sorts the keys in and drops those behind `limit`. */
static void settle(NearestQuery *query) {
    uint64_t *key = query->key;
    uint32_t kept = query->sorted;
    for (uint32_t next = query->sorted; next < query->found; next++) {
        const uint64_t entering = key[next];
        if (kept == query->limit && entering > key[kept - 1]) continue;
        uint32_t i = kept < query->limit ? kept++ : kept - 1;
        for (; i > 0 && key[i - 1] > entering; i--) key[i] = key[i - 1];
        key[i] = entering;
    }
    query->sorted = query->found = kept;
    if (kept < query->limit) return;
    /* the last key itself can't come again, so that a bound of 0 may stand for "less than 0" */
    query->bound = key[kept - 1] - (key[kept - 1] > 0);
}

/* Appends what is near enough, without a branch on it: in a sparse crowd half of the rows are, unpredictably.
 */
static void scan_rows(const PhxSpatial *s, NearestQuery *query, uint32_t begin, uint32_t end) {
    while (begin < end) {
        const uint32_t stop = end - begin > CHUNK ? begin + CHUNK : end;
        const uint64_t bound_sq = query->bound >> SLOT_BITS;
        uint32_t found = query->found;
        for (; begin < stop; begin++) {
            /* |dx| and |dy| <= 2^31, so that the sum of squares stays below 2^63; bound_sq < 2^44 */
            const int64_t dx = s->position[begin].x - query->x, dy = s->position[begin].y - query->y;
            const uint64_t distance_sq = (uint64_t)(dx * dx) + (uint64_t)(dy * dy);
            const uint32_t slot = s->slot[begin];
            query->key[found] = distance_sq << SLOT_BITS | slot;
            found += (uint32_t)(distance_sq <= bound_sq) & (uint32_t)(slot != query->exclude);
        }
        query->found = found;
        if (found >= query->limit) settle(query);
    }
}

/* Squared distance from the query to the strip of cells cy; zero inside of it. */
static uint64_t strip_distance_sq(const PhxSpatial *s, const NearestQuery *query, uint32_t cy) {
    const int64_t low = s->origin_y + ((int64_t)cy << s->cell_shift),
                  high = low + ((int64_t)1 << s->cell_shift) - 1;
    const int64_t d = query->y < low ? low - query->y : query->y > high ? query->y - high : 0;
    return (uint64_t)(d * d);
}

/* As soon as the limit is reached, only cells within the distance of the last one found count. */
static void narrow(const PhxSpatial *s, const NearestQuery *query, PhxSpatialWindow *window) {
    const int64_t reach = (int64_t)phx_isqrt64(query->bound >> SLOT_BITS) + 1;
    uint32_t first, last;
    if (!clip_axis(query->x, reach, s->origin_x, s->cell_shift, s->width, &first, &last)) return;
    window->first_x = first > window->first_x ? first : window->first_x;
    window->last_x = last < window->last_x ? last : window->last_x;
}

static void scan_strip(const PhxSpatial *s, NearestQuery *query, PhxSpatialWindow *window, uint32_t cy) {
    const uint32_t *start = s->cell_start + (size_t)cy * s->width;
    const uint64_t bound = query->bound;
    scan_rows(s, query, start[window->first_x], start[window->last_x + 1]);
    if (query->bound != bound) narrow(s, query, window);
}

/* From the strip of the query's own cell up and down in turn, each way as long as a strip can hold something
 * nearer. */
static void scan_window(const PhxSpatial *s, NearestQuery *query, PhxSpatialWindow *window) {
    const int64_t own = (query->y - s->origin_y) / ((int64_t)1 << s->cell_shift);
    const int64_t first = window->first_y, last = window->last_y;
    int64_t up = own < first ? first : own > last ? last : own, down = up + 1;
    bool more_up = true, more_down = down <= last;
    while (more_up || more_down) {
        if (more_up) {
            scan_strip(s, query, window, (uint32_t)up--);
            more_up = up >= first && strip_distance_sq(s, query, (uint32_t)up) <= query->bound >> SLOT_BITS;
        }
        if (more_down && strip_distance_sq(s, query, (uint32_t)down) <= query->bound >> SLOT_BITS) {
            scan_strip(s, query, window, (uint32_t)down++);
            more_down = down <= last;
        } else {
            more_down = false;
        }
    }
}

uint32_t phx_spatial_nearest(const PhxSpatial *s, PhxVec2 at, fix16_t range, uint32_t exclude, uint32_t limit,
                             PhxNear *out) {
    PHX_ASSERT(limit <= PHX_SPATIAL_MAX_NEAREST && range <= PHX_SPATIAL_MAX_RANGE, limit, range);
    PhxSpatialWindow window;
    if (limit == 0 || range <= 0 || !phx_spatial_window(s, at, range, &window)) return 0;
    NearestQuery query; /* its keys are left alone */
    query.x = at.x, query.y = at.y;
    query.exclude = exclude, query.limit = limit;
    query.found = query.sorted = 0;
    /* (2^44 << 20) - 1 is the largest key when the range is 64 units: the wrap is meant */
    query.bound = ((uint64_t)range * (uint64_t)range << SLOT_BITS) - 1;
    scan_window(s, &query, &window);
    settle(&query);
    for (uint32_t i = 0; i < query.found; i++) {
        const uint32_t slot = (uint32_t)(query.key[i] & (PHX_SPATIAL_MAX_ROWS - 1));
        out[i] = (PhxNear){.distance_sq = query.key[i] >> SLOT_BITS, .slot = slot, .row = s->row_of[slot]};
    }
    return query.found;
}
