/* ground.c: standing room and connected pieces of a map. See ground.h. */
#include "content/ground.h"

#include <stdlib.h>
#include <string.h>

enum { GROUND_REACH = 17 /* cells from the centre's cell that a body of radius 16 can touch */ };

/* Cells to the nearest wall or border along the row, 0 for a wall, at most GROUND_REACH + 1. */
static void row_distances(const uint8_t *cost, uint32_t width, uint8_t *out) {
    uint32_t run = 0;
    for (uint32_t x = 0; x < width; x++) {
        run = cost[x] == PHX_NAV_IMPASSABLE ? 0 : run + 1;
        out[x] = (uint8_t)(run > GROUND_REACH ? GROUND_REACH + 1 : run);
    }
    run = 0;
    for (uint32_t x = width; x-- > 0;) {
        run = cost[x] == PHX_NAV_IMPASSABLE ? 0 : run + 1;
        if (run < out[x]) out[x] = (uint8_t)run;
    }
}

/* How many cells to the left and right of the centre's column a body touches in the row `rows` away; -1 for
 * none. A body whose rim only touches a cell's edge doesn't touch the cell. */
static int32_t touched_columns(fix16_t radius, int32_t rows) {
    const int64_t dy = rows == 0 ? 0 : (int64_t)rows * PHX_FIX_ONE - PHX_FIX_ONE / 2;
    const int64_t square = (int64_t)radius * radius;
    if (dy * dy >= square) return rows == 0 ? 0 : -1;
    int32_t columns = 0;
    for (;; columns++) {
        const int64_t dx = (int64_t)(columns + 1) * PHX_FIX_ONE - PHX_FIX_ONE / 2;
        if (dx * dx + dy * dy >= square) return columns;
    }
}

static void find_room(PhxGround *ground, const PhxNavGrid *grid, fix16_t radius, uint8_t *distance) {
    const uint32_t width = ground->width, height = ground->height;
    for (uint32_t y = 0; y < height; y++)
        row_distances(grid->cost + (size_t)y * width, width, distance + (size_t)y * width);
    memset(ground->fits, 1, (size_t)width * height);
    for (int32_t row = -GROUND_REACH; row <= GROUND_REACH; row++) {
        const int32_t columns = touched_columns(radius, row < 0 ? -row : row);
        if (columns < 0) continue;
        for (uint32_t y = 0; y < height; y++) {
            const int64_t other = (int64_t)y + row;
            uint8_t *fits = ground->fits + (size_t)y * width;
            if (other < 0 || other >= height) {
                memset(fits, 0, width);
                continue;
            }
            const uint8_t *from = distance + (size_t)other * width;
            for (uint32_t x = 0; x < width; x++) fits[x] &= from[x] > columns;
        }
    }
}

/* The neighbours over an edge that are in the map: at most 4, ascending. */
static uint32_t neighbours_of(const PhxGround *ground, uint32_t cell, uint32_t out[4]) {
    const uint32_t x = cell % ground->width, y = cell / ground->width;
    uint32_t count = 0;
    if (y > 0) out[count++] = cell - ground->width;
    if (x > 0) out[count++] = cell - 1;
    if (x + 1 < ground->width) out[count++] = cell + 1;
    if (y + 1 < ground->height) out[count++] = cell + ground->width;
    return count;
}

static uint32_t flood(PhxGround *ground, uint32_t from, uint32_t number) {
    uint32_t head = 0, tail = 0;
    ground->queue[tail++] = from;
    ground->piece[from] = number;
    while (head < tail) {
        uint32_t next[4];
        const uint32_t count = neighbours_of(ground, ground->queue[head++], next);
        for (uint32_t i = 0; i < count; i++) {
            if (!ground->fits[next[i]] || ground->piece[next[i]] != 0) continue;
            ground->piece[next[i]] = number;
            ground->queue[tail++] = next[i];
        }
    }
    return tail;
}

static void find_pieces(PhxGround *ground) {
    uint32_t number = 0;
    for (uint32_t cell = 0; cell < ground->width * ground->height; cell++) {
        if (!ground->fits[cell] || ground->piece[cell] != 0) continue;
        const uint32_t cells = flood(ground, cell, ++number);
        if (cells <= ground->largest_cells) continue;
        ground->largest = number;
        ground->largest_cells = cells;
    }
}

PhxStatus phx_ground_create(const PhxNavGrid *grid, fix16_t radius, PhxGround **out) {
    *out = NULL;
    if (grid->width < 1 || grid->width > PHX_NAV_MAX_SIDE || grid->height < 1 ||
        grid->height > PHX_NAV_MAX_SIDE || radius < 0 || radius > 16 * PHX_FIX_ONE)
        return PHX_ERROR_ARGUMENT;
    const size_t cells = (size_t)grid->width * grid->height;
    PhxGround *ground = calloc(1, sizeof *ground);
    uint8_t *distance = malloc(cells);
    if (ground != NULL) {
        *ground = (PhxGround){.width = grid->width, .height = grid->height};
        ground->fits = malloc(cells);
        ground->piece = calloc(cells, sizeof *ground->piece);
        ground->queue = malloc(cells * sizeof *ground->queue);
    }
    if (ground == NULL || distance == NULL || ground->fits == NULL || ground->piece == NULL ||
        ground->queue == NULL) {
        free(distance);
        phx_ground_destroy(ground);
        return PHX_ERROR_MEMORY;
    }
    find_room(ground, grid, radius, distance);
    free(distance);
    find_pieces(ground);
    *out = ground;
    return PHX_OK;
}

void phx_ground_destroy(PhxGround *ground) {
    if (ground == NULL) return;
    free(ground->fits);
    free(ground->piece);
    free(ground->queue);
    free(ground->seen);
    free(ground);
}

uint32_t phx_ground_nearest(const PhxGround *ground, uint32_t piece, fix16_t x, fix16_t y) {
    uint32_t best = PHX_NAV_NO_CELL, cell = 0;
    uint64_t best_square = UINT64_MAX;
    if (piece == 0) return best;
    for (uint32_t cy = 0; cy < ground->height; cy++) {
        const int64_t dy = (int64_t)cy * PHX_FIX_ONE + PHX_FIX_ONE / 2 - y;
        for (uint32_t cx = 0; cx < ground->width; cx++, cell++) {
            if (ground->piece[cell] != piece) continue;
            const int64_t dx = (int64_t)cx * PHX_FIX_ONE + PHX_FIX_ONE / 2 - x;
            const uint64_t square = (uint64_t)(dx * dx) + (uint64_t)(dy * dy);
            if (square >= best_square) continue;
            best_square = square;
            best = cell;
        }
    }
    return best;
}

PhxStatus phx_ground_spread(PhxGround *ground, uint32_t from, PhxGroundVisit visit, void *user) {
    const size_t cells = (size_t)ground->width * ground->height;
    if (ground->seen == NULL) ground->seen = malloc(cells);
    if (ground->seen == NULL) return PHX_ERROR_MEMORY;
    memset(ground->seen, 0, cells);
    uint32_t head = 0, tail = 0;
    ground->queue[tail++] = from;
    ground->seen[from] = 1;
    while (head < tail) {
        const uint32_t cell = ground->queue[head++];
        if (!visit(user, cell)) break;
        uint32_t next[4];
        const uint32_t count = neighbours_of(ground, cell, next);
        for (uint32_t i = 0; i < count; i++) {
            if (!ground->fits[next[i]] || ground->seen[next[i]]) continue;
            ground->seen[next[i]] = 1;
            ground->queue[tail++] = next[i];
        }
    }
    return PHX_OK;
}

const char *phx_corner_name(PhxCorner corner) {
    static const char *const names[PHX_CORNER_COUNT] = {"north_west", "north_east", "south_west",
                                                        "south_east"};
    return corner < PHX_CORNER_COUNT ? names[corner] : "?";
}

uint32_t phx_ground_corner(const PhxGround *ground, uint32_t piece, PhxCorner corner) {
    const bool east = corner == PHX_CORNER_NORTH_EAST || corner == PHX_CORNER_SOUTH_EAST;
    const bool south = corner == PHX_CORNER_SOUTH_WEST || corner == PHX_CORNER_SOUTH_EAST;
    return phx_ground_nearest(ground, piece, east ? (fix16_t)(ground->width * PHX_FIX_ONE) : 0,
                              south ? (fix16_t)(ground->height * PHX_FIX_ONE) : 0);
}
