/* walls_polygons.c: walls of free shape, given by their vertices.
 *
 * In: closed polygons. Out: PhxWalls with one array of segments and one of buckets. Cost: linear in segments
 * and in the buckets that their boxes touch.
 *
 * Determinism: segments are numbered as the vertices are; buckets list them in ascending order.
 */
#include <string.h>

#include "base/arena.h"
#include "motion/walls_sector.h"

enum {
    BUCKET_BITS = 19, /* 8 units */
    MIN_EDGE = 256,
};

/* Calls for each bucket that a segment's bounding box touches. Without counts and cursor it only counts. */
static uint32_t spread(const PhxWalls *walls, const PhxWall *wall, uint32_t index, uint32_t *counts,
                       uint32_t *cursor) {
    const PhxVec2 a = wall->start, b = wall->end;
    const uint32_t shift = walls->bucket_shift;
    const uint32_t first_x = (uint32_t)((a.x < b.x ? a.x : b.x) - walls->origin_x) >> shift;
    const uint32_t last_x = (uint32_t)((a.x < b.x ? b.x : a.x) - walls->origin_x) >> shift;
    const uint32_t first_y = (uint32_t)((a.y < b.y ? a.y : b.y) - walls->origin_y) >> shift;
    const uint32_t last_y = (uint32_t)((a.y < b.y ? b.y : a.y) - walls->origin_y) >> shift;
    uint32_t items = 0;
    for (uint32_t by = first_y; by <= last_y; by++)
        for (uint32_t bx = first_x; bx <= last_x; bx++, items++) {
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
    for (uint32_t i = 0; i < walls->count; i++) spread(walls, &walls->wall[i], i, start, NULL);
    uint32_t sum = 0;
    for (uint32_t b = 0; b <= buckets; b++) {
        const uint32_t items = start[b];
        start[b] = sum;
        sum += items;
    }
    for (uint32_t i = 0; i < walls->count; i++) spread(walls, &walls->wall[i], i, NULL, start);
    memmove(start + 1, start, sizeof *start * buckets);
    start[0] = 0;
}

/* Origin and buckets: as many as make a bucket 8 units wide, at most 256 x 256. */
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

/* One closed outline from walls->count on. */
static PhxStatus add_polygon(PhxWalls *walls, const PhxVec2 *vertices, uint32_t size) {
    PhxWall *wall = walls->wall + walls->count;
    for (uint32_t i = 0; i < size; i++) {
        const PhxVec2 end = vertices[(i + 1) % size];
        wall[i] = (PhxWall){.start = vertices[i], .end = end};
        wall[i].length = (fix16_t)phx_vec2_normalize(phx_vec2_sub(end, vertices[i]), &wall[i].dir);
        if (wall[i].length < MIN_EDGE) return PHX_ERROR_ARGUMENT;
    }
    for (uint32_t i = 0; i < size; i++) {
        PhxWall *next = &wall[(i + 1) % size];
        next->prev_dir = wall[i].dir;
        wall[i].next_dir = next->dir;
        wall[i].at_end = next->at_start =
            phx_dir_det(wall[i].dir, next->dir) >= 0 ? PHX_WALL_CONVEX : PHX_WALL_CONCAVE;
    }
    walls->count += size;
    return PHX_OK;
}

/* The arrays' memory is one block that begins at `wall`. */
static size_t lay(PhxWalls *walls, uint32_t total, unsigned char *base) {
    const size_t starts = (size_t)walls->buckets_x * walls->buckets_y + 1;
    const size_t start_at = sizeof(PhxWall) * total, item_at = start_at + sizeof(uint32_t) * starts;
    if (base) {
        walls->wall = (PhxWall *)(void *)base;
        walls->bucket_start = (uint32_t *)(void *)(base + start_at);
        walls->bucket_item = (uint32_t *)(void *)(base + item_at);
    }
    return item_at + sizeof(uint32_t) * walls->items;
}

static uint32_t count_items(const PhxWalls *walls, const PhxVec2 *vertices, const uint32_t *sizes,
                            uint32_t count) {
    uint32_t items = 0;
    for (uint32_t p = 0; p < count; vertices += sizes[p++])
        for (uint32_t i = 0; i < sizes[p]; i++) {
            const PhxWall edge = {.start = vertices[i], .end = vertices[(i + 1) % sizes[p]]};
            items += spread(walls, &edge, 0, NULL, NULL);
        }
    return items;
}

PhxStatus phx_walls_create_polygons(PhxWalls *walls, PhxAllocator allocator, const PhxVec2 *vertices,
                                    const uint32_t *sizes, uint32_t count) {
    *walls = (PhxWalls){0};
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (sizes[i] < 2) return PHX_ERROR_ARGUMENT;
        total += sizes[i];
    }
    if (total == 0) return PHX_OK;
    walls->allocator = allocator;
    fit_buckets(walls, vertices, total);
    walls->items = count_items(walls, vertices, sizes, count);
    unsigned char *memory = allocator.allocate(allocator.user, lay(walls, total, NULL));
    if (!memory) {
        *walls = (PhxWalls){0};
        return PHX_ERROR_MEMORY;
    }
    lay(walls, total, memory);
    for (uint32_t p = 0; p < count; vertices += sizes[p++]) {
        const PhxStatus status = add_polygon(walls, vertices, sizes[p]);
        if (status == PHX_OK) continue;
        walls->count = total; /* of which the block's size is told */
        phx_walls_destroy(walls);
        return status;
    }
    sort_into_buckets(walls);
    return PHX_OK;
}

void phx_walls_release_polygons(PhxWalls *walls) {
    walls->allocator.release(walls->allocator.user, walls->wall, phx_walls_polygon_bytes(walls));
}

size_t phx_walls_polygon_bytes(const PhxWalls *walls) {
    PhxWalls copy = *walls;
    return walls->wall ? lay(&copy, walls->count, NULL) : 0;
}
