/* walls_build.c: from the cells of a map, or from polygons, to linked segments in buckets.
 *
 * In: a grid of costs, or vertices. Out: PhxWalls. Cost: two scans of the grid (one across it), a binary
 * search a segment for its successor, and a counting sort of segments into buckets.
 *
 * Determinism: segments are numbered by the scan: horizontal ones by (y, x), then vertical ones by (x, y).
 * Buckets list indices in ascending order. Nothing depends on memory or time.
 */
#include <phalanx/walls.h>
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"
#include "motion/walls_buckets.h"

enum {
    CELL_BITS = 16,
    BUCKET_BITS = 19, /* 8 units */
    MIN_EDGE = 256,
    DIR_ONE = 1 << 30,
};

static bool solid(const PhxNavGrid *grid, int32_t cx, int32_t cy) {
    if (cx < 0 || cy < 0 || cx >= (int32_t)grid->width || cy >= (int32_t)grid->height) return true;
    return grid->cost[(size_t)cy * grid->width + (size_t)cx] == PHX_NAV_IMPASSABLE;
}

/* A scan along grid lines. Without walls it only counts. */
typedef struct Scan {
    const PhxNavGrid *grid;
    PhxWalls *walls; /* null: count only */
    uint32_t count, items;
} Scan;

/* Which way the edge between two cells runs: +1 or -1 along its axis, 0 where both are solid or both open.
 * The solid lies on the left: along +x that is +y, along +y it is -x. */
static int edge_sense(const PhxNavGrid *grid, bool horizontal, int32_t line, int32_t at) {
    const bool before = horizontal ? solid(grid, at, line - 1) : solid(grid, line - 1, at);
    const bool after = horizontal ? solid(grid, at, line) : solid(grid, line, at);
    if (before == after) return 0;
    return horizontal == after ? 1 : -1;
}

/* A run of edges on `line` from `low` to `high` (cells). */
static void emit_run(Scan *scan, bool horizontal, int32_t line, int32_t low, int32_t high, int sense) {
    const uint32_t index = scan->count++;
    scan->items += (uint32_t)((high >> (BUCKET_BITS - CELL_BITS)) - (low >> (BUCKET_BITS - CELL_BITS)) + 1);
    if (!scan->walls || index >= scan->walls->capacity) return;
    const int32_t from = (sense > 0 ? low : high) * (1 << CELL_BITS), across = line * (1 << CELL_BITS);
    scan->walls->wall[index] = (PhxWall){
        .start = horizontal ? phx_vec2(from, across) : phx_vec2(across, from),
        .dir = horizontal ? phx_dir(sense * DIR_ONE, 0) : phx_dir(0, sense * DIR_ONE),
        .length = (high - low) * (1 << CELL_BITS),
        .next = PHX_WALLS_NONE,
        .prev = PHX_WALLS_NONE,
    };
}

static void scan_lines(Scan *scan, bool horizontal) {
    const int32_t lines = (int32_t)(horizontal ? scan->grid->height : scan->grid->width);
    const int32_t cells = (int32_t)(horizontal ? scan->grid->width : scan->grid->height);
    for (int32_t line = 0; line <= lines; line++) {
        int sense = 0;
        int32_t low = 0;
        for (int32_t at = 0; at <= cells; at++) {
            const int here = at < cells ? edge_sense(scan->grid, horizontal, line, at) : 0;
            if (here == sense) continue;
            if (sense != 0) emit_run(scan, horizontal, line, low, at, sense);
            sense = here;
            low = at;
        }
    }
}

PhxWallsSize phx_walls_size_grid(const PhxNavGrid *grid) {
    Scan scan = {.grid = grid};
    scan_lines(&scan, true);
    scan_lines(&scan, false);
    const uint32_t buckets_x = (grid->width >> (BUCKET_BITS - CELL_BITS)) + 1;
    const uint32_t buckets_y = (grid->height >> (BUCKET_BITS - CELL_BITS)) + 1;
    return (PhxWallsSize){.walls = scan.count, .buckets = buckets_x * buckets_y, .items = scan.items};
}

void phx_walls_layout(PhxWalls *walls, PhxArena *arena, PhxWallsSize size) {
    *walls = (PhxWalls){.capacity = size.walls, .bucket_capacity = size.buckets, .item_capacity = size.items};
    walls->wall = PHX_ARENA_ARRAY(arena, PhxWall, size.walls);
    walls->bucket_start = PHX_ARENA_ARRAY(arena, uint32_t, (size_t)size.buckets + 1);
    walls->bucket_item = PHX_ARENA_ARRAY(arena, uint32_t, size.items);
}

/* The order of segments on one axis: by line, then by the lower end. */
static int32_t wall_line(const PhxWall *wall) { return wall->dir.x ? wall->start.y : wall->start.x; }
static int32_t wall_low(const PhxWall *wall) {
    const int32_t from = wall->dir.x ? wall->start.x : wall->start.y;
    return wall->dir.x + wall->dir.y > 0 ? from : from - wall->length;
}

/* The segment of walls[begin, end), all of one axis, that starts at (line, at) with the given sense; or none.
 */
static int32_t find_start(const PhxWalls *walls, uint32_t begin, uint32_t end, int32_t line, int32_t at,
                          int sense) {
    uint32_t low = begin, high = end;
    while (low < high) { /* the first one behind (line, at) */
        const uint32_t middle = low + (high - low) / 2;
        const PhxWall *wall = &walls->wall[middle];
        const bool behind = wall_line(wall) > line || (wall_line(wall) == line && wall_low(wall) > at);
        if (behind)
            high = middle;
        else
            low = middle + 1;
    }
    for (uint32_t i = low; i > begin && i + 2 > low;
         i--) { /* it begins at `at`, or ends there coming from below */
        const PhxWall *wall = &walls->wall[i - 1];
        const int32_t from = wall->dir.x ? wall->start.x : wall->start.y;
        if (wall_line(wall) == line && from == at && (wall->dir.x + wall->dir.y > 0) == (sense > 0))
            return (int32_t)(i - 1);
    }
    return PHX_WALLS_NONE;
}

/* A segment goes on at its end with a turn: to the right where there is such a one (there the solid cells of
 * a corner touch, and count as joined), else to the left. */
static void link_runs(PhxWalls *walls, uint32_t horizontals) {
    for (uint32_t i = 0; i < walls->count; i++) {
        PhxWall *wall = &walls->wall[i];
        const bool horizontal = i < horizontals;
        const int sense = wall->dir.x + wall->dir.y > 0 ? 1 : -1;
        const int32_t across = wall_line(wall),
                      end = (horizontal ? wall->start.x : wall->start.y) + sense * wall->length;
        /* right of +x is -y, right of +y is +x */
        const int right = horizontal ? -sense : sense;
        const uint32_t begin = horizontal ? horizontals : 0, stop = horizontal ? walls->count : horizontals;
        int32_t next = find_start(walls, begin, stop, end, across, right);
        const bool turns_right = next != PHX_WALLS_NONE;
        if (!turns_right) next = find_start(walls, begin, stop, end, across, -right);
        PHX_ASSERT(next != PHX_WALLS_NONE, i, end);
        wall->next = next;
        walls->wall[next].prev = (int32_t)i;
        walls->wall[next].convex = !turns_right;
    }
}

/* Calls for each bucket that a segment's bounding box touches. A null `cursor` only counts. */
static uint32_t spread(const PhxWalls *walls, uint32_t index, uint32_t *counts, uint32_t *cursor) {
    const PhxWall *wall = &walls->wall[index];
    const PhxVec2 a = wall->start, b = walls->wall[wall->next].start;
    const PhxWallsWindow window = {
        .first_x = (uint32_t)((a.x < b.x ? a.x : b.x) - walls->origin_x) >> walls->bucket_shift,
        .last_x = (uint32_t)((a.x < b.x ? b.x : a.x) - walls->origin_x) >> walls->bucket_shift,
        .first_y = (uint32_t)((a.y < b.y ? a.y : b.y) - walls->origin_y) >> walls->bucket_shift,
        .last_y = (uint32_t)((a.y < b.y ? b.y : a.y) - walls->origin_y) >> walls->bucket_shift,
    };
    uint32_t items = 0;
    for (uint32_t by = window.first_y; by <= window.last_y; by++)
        for (uint32_t bx = window.first_x; bx <= window.last_x; bx++, items++) {
            const uint32_t bucket = by * walls->buckets_x + bx;
            if (counts) counts[bucket]++;
            if (cursor) walls->bucket_item[cursor[bucket]++] = index;
        }
    return items;
}

static void sort_into_buckets(PhxWalls *walls) {
    const uint32_t buckets = walls->buckets_x * walls->buckets_y;
    uint32_t *start = walls->bucket_start;
    memset(start, 0, sizeof *start * ((size_t)buckets + 1));
    for (uint32_t i = 0; i < walls->count; i++) spread(walls, i, start, NULL);
    uint32_t sum = 0;
    for (uint32_t b = 0; b <= buckets; b++) {
        const uint32_t items = start[b];
        start[b] = sum;
        sum += items;
    }
    for (uint32_t i = 0; i < walls->count; i++) spread(walls, i, NULL, start);
    memmove(start + 1, start, sizeof *start * buckets);
    start[0] = 0;
}

PhxStatus phx_walls_build_grid(PhxWalls *walls, const PhxNavGrid *grid) {
    walls->count = 0;
    const PhxWallsSize size = phx_walls_size_grid(grid);
    if (size.walls > walls->capacity || size.buckets > walls->bucket_capacity ||
        size.items > walls->item_capacity)
        return PHX_ERROR_FULL;
    Scan scan = {.grid = grid, .walls = walls};
    scan_lines(&scan, true);
    const uint32_t horizontals = scan.count;
    scan_lines(&scan, false);
    walls->count = scan.count;
    walls->origin_x = walls->origin_y = 0;
    walls->bucket_shift = BUCKET_BITS;
    walls->buckets_x = (grid->width >> (BUCKET_BITS - CELL_BITS)) + 1;
    walls->buckets_y = (grid->height >> (BUCKET_BITS - CELL_BITS)) + 1;
    link_runs(walls, horizontals);
    sort_into_buckets(walls);
    return PHX_OK;
}

/* Origin and buckets of polygons: as many as make a bucket 8 units wide, at most 256 x 256. */
static void fit_buckets(PhxWalls *walls, const PhxVec2 *vertices, uint32_t total) {
    int32_t low_x = 0, low_y = 0, high_x = 0, high_y = 0;
    for (uint32_t i = 0; i < total; i++) {
        const PhxVec2 v = vertices[i];
        low_x = i == 0 || v.x < low_x ? v.x : low_x;
        low_y = i == 0 || v.y < low_y ? v.y : low_y;
        high_x = i == 0 || v.x > high_x ? v.x : high_x;
        high_y = i == 0 || v.y > high_y ? v.y : high_y;
    }
    uint32_t shift = BUCKET_BITS;
    while ((uint32_t)(high_x - low_x) >> shift > 255 || (uint32_t)(high_y - low_y) >> shift > 255) shift++;
    walls->origin_x = low_x, walls->origin_y = low_y;
    walls->bucket_shift = shift;
    walls->buckets_x = ((uint32_t)(high_x - low_x) >> shift) + 1;
    walls->buckets_y = ((uint32_t)(high_y - low_y) >> shift) + 1;
}

static uint32_t vertex_total(const uint32_t *sizes, uint32_t count) {
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++) total += sizes[i];
    return total;
}

PhxWallsSize phx_walls_size_polygons(const PhxVec2 *vertices, const uint32_t *sizes, uint32_t count) {
    const uint32_t total = vertex_total(sizes, count);
    PhxWalls walls = {0};
    fit_buckets(&walls, vertices, total);
    PhxWallsSize size = {.walls = total, .buckets = walls.buckets_x * walls.buckets_y};
    PhxWall pair[2];
    walls.wall = pair;
    for (uint32_t p = 0, first = 0; p < count; first += sizes[p++])
        for (uint32_t i = 0; i < sizes[p]; i++) {
            pair[0] = (PhxWall){.start = vertices[first + i], .next = 1};
            pair[1] = (PhxWall){.start = vertices[first + (i + 1) % sizes[p]]};
            size.items += spread(&walls, 0, NULL, NULL);
        }
    return size;
}

/* One closed outline from walls->count on. */
static PhxStatus add_polygon(PhxWalls *walls, const PhxVec2 *vertices, uint32_t size) {
    if (size < 2) return PHX_ERROR_ARGUMENT;
    const uint32_t first = walls->count;
    for (uint32_t i = 0; i < size; i++) {
        PhxWall *wall = &walls->wall[first + i];
        const PhxVec2 edge = phx_vec2_sub(vertices[(i + 1) % size], vertices[i]);
        *wall = (PhxWall){.start = vertices[i]};
        wall->length = (fix16_t)phx_vec2_normalize(edge, &wall->dir);
        wall->next = (int32_t)(first + (i + 1) % size);
        wall->prev = (int32_t)(first + (i + size - 1) % size);
        if (wall->length < MIN_EDGE) return PHX_ERROR_ARGUMENT;
    }
    for (uint32_t i = first; i < first + size; i++) {
        PhxWall *wall = &walls->wall[i];
        wall->convex = phx_dir_det(walls->wall[wall->prev].dir, wall->dir) >= 0;
    }
    walls->count += size;
    return PHX_OK;
}

PhxStatus phx_walls_build_polygons(PhxWalls *walls, const PhxVec2 *vertices, const uint32_t *sizes,
                                   uint32_t count) {
    walls->count = 0;
    const PhxWallsSize size = phx_walls_size_polygons(vertices, sizes, count);
    if (size.walls > walls->capacity || size.buckets > walls->bucket_capacity ||
        size.items > walls->item_capacity)
        return PHX_ERROR_FULL;
    for (uint32_t p = 0, first = 0; p < count; first += sizes[p++]) {
        const PhxStatus status = add_polygon(walls, vertices + first, sizes[p]);
        if (status != PHX_OK) {
            walls->count = 0;
            return status;
        }
    }
    fit_buckets(walls, vertices, size.walls);
    sort_into_buckets(walls);
    return PHX_OK;
}
