/* path_ground.c: makes the boards of a ground from a grid, and keeps them when cells change.
 *
 * In: costs. Out: a bit a cell by rows and by columns, the least and the greatest cost of each row and of the
 * map. Cost: some 2 ns a cell; columns are made of rows by transposing blocks of 64 x 64 bits in registers
 * (Warren, Hacker's Delight, 2012, section 7-3).
 *
 * Determinism: a pure function of the grid. The version counts builds, so it's no part of a result: it only
 * tells what is out of date.
 */
#include "nav/path_ground.h"

#include <string.h>

#include "base/arena.h"
#include "base/assert.h"

static uint32_t stride_of(uint32_t cells) { return cells / 64 + 3; }

PhxPathGround *phx_path_ground_layout(PhxArena *arena, uint32_t width, uint32_t height) {
    PHX_ASSERT(width >= 1 && width <= PHX_NAV_MAX_SIDE, width, PHX_NAV_MAX_SIDE);
    PHX_ASSERT(height >= 1 && height <= PHX_NAV_MAX_SIDE, height, PHX_NAV_MAX_SIDE);
    PhxPathGround made = {.width = width, .height = height};
    PhxPathGround *ground = PHX_ARENA_ARRAY(arena, PhxPathGround, 1);
    made.rows.stride = stride_of(width);
    made.columns.stride = stride_of(height);
    const size_t row_words = (size_t)made.rows.stride * (height + 2),
                 column_words = (size_t)made.columns.stride * (width + 2);
    made.rows.bits = PHX_ARENA_ARRAY(arena, uint64_t, row_words);
    made.columns.bits = PHX_ARENA_ARRAY(arena, uint64_t, column_words);
    made.low = PHX_ARENA_ARRAY(arena, uint8_t, height);
    made.high = PHX_ARENA_ARRAY(arena, uint8_t, height);
    made.first_run = PHX_ARENA_ARRAY(arena, uint32_t, height + 1);
    made.run = PHX_ARENA_ARRAY(arena, PhxPathRun, (size_t)((width + 1) / 2) * height);
    if (!ground) return NULL;
    memset(made.rows.bits, 255, row_words * sizeof *made.rows.bits);
    memset(made.columns.bits, 255, column_words * sizeof *made.columns.bits);
    *ground = made;
    return ground;
}

/* ---- rows */

static bool has_zero(const uint8_t *cost, size_t count) {
    uint8_t found = 0;
    for (size_t i = 0; i < count; i++) found |= (uint8_t)(cost[i] == 0);
    return found;
}

static void fill_row(PhxPathGround *ground, uint32_t y) {
    const uint8_t *cost = ground->cost + (size_t)y * ground->width;
    uint64_t *line = ground->rows.bits + (size_t)(y + 1) * ground->rows.stride + PHX_PATH_RIM / 64;
    uint8_t low = PHX_NAV_IMPASSABLE, high = 0;
    for (uint32_t x = 0; x < ground->width; x += 64) {
        const uint32_t count = ground->width - x < 64 ? ground->width - x : 64;
        uint64_t word = count < 64 ? ~(uint64_t)0 << count : 0;
        for (uint32_t k = 0; k < count; k++) {
            const uint8_t c = cost[x + k], wall = c == PHX_NAV_IMPASSABLE;
            word |= (uint64_t)wall << k;
            low = c < low ? c : low;
            high = !wall && c > high ? c : high;
        }
        line[x / 64] = word;
    }
    ground->low[y] = low;
    ground->high[y] = high;
}

/* ---- columns */

/* Bit i of word j becomes bit j of word i. */
static void transpose(uint64_t block[64]) {
    uint64_t mask = UINT64_C(0x00000000ffffffff);
    for (uint32_t half = 32; half; half /= 2, mask ^= mask << half)
        for (uint32_t k = 0; k < 64; k = ((k | half) + 1) & ~half) {
            const uint64_t swapped = (block[k] >> half ^ block[k | half]) & mask;
            block[k] ^= swapped << half;
            block[k | half] ^= swapped;
        }
}

/* The columns of the block of 64 x 64 cells whose corner is (x, y), multiples of 64, from its rows. */
static void fill_block(PhxPathGround *ground, uint32_t x, uint32_t y) {
    uint64_t block[64];
    const uint64_t *row = ground->rows.bits + (size_t)(y + 1) * ground->rows.stride + (PHX_PATH_RIM + x) / 64;
    for (uint32_t i = 0; i < 64; i++)
        block[i] = y + i < ground->height ? row[(size_t)i * ground->rows.stride] : ~(uint64_t)0;
    transpose(block);
    uint64_t *column =
        ground->columns.bits + (size_t)(x + 1) * ground->columns.stride + (PHX_PATH_RIM + y) / 64;
    for (uint32_t i = 0; i < 64 && x + i < ground->width; i++)
        column[(size_t)i * ground->columns.stride] = block[i];
}

/* ---- */

static void fill(PhxPathGround *ground, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1) {
    for (uint32_t y = y0; y < y1; y++) fill_row(ground, y);
    for (uint32_t y = y0 / 64 * 64; y < y1; y += 64)
        for (uint32_t x = x0 / 64 * 64; x < x1; x += 64) fill_block(ground, x, y);
    ground->least = PHX_NAV_IMPASSABLE;
    ground->most = 0;
    for (uint32_t y = 0; y < ground->height; y++) {
        if (ground->low[y] < ground->least) ground->least = ground->low[y];
        if (ground->high[y] > ground->most) ground->most = ground->high[y];
    }
    phx_path_find_parts(ground);
    ground->version++;
}

PhxStatus phx_path_ground_build(PhxPathGround *ground, const PhxNavGrid *grid) {
    if (grid->width != ground->width || grid->height != ground->height) return PHX_ERROR_ARGUMENT;
    if (has_zero(grid->cost, (size_t)grid->width * grid->height)) return PHX_ERROR_RANGE;
    ground->cost = grid->cost;
    fill(ground, 0, 0, ground->width, ground->height);
    return PHX_OK;
}

/* A bound of a rectangle, moved into the map. */
static uint32_t clip(int32_t at, uint32_t side) {
    return at < 0 ? 0 : (uint32_t)at > side ? side : (uint32_t)at;
}

PhxStatus phx_path_ground_update(PhxPathGround *ground, PhxCellRect rect) {
    if (!ground->cost) return PHX_ERROR_STATE;
    const uint32_t x0 = clip(rect.x0, ground->width), x1 = clip(rect.x1, ground->width),
                   y0 = clip(rect.y0, ground->height), y1 = clip(rect.y1, ground->height);
    if (x0 >= x1 || y0 >= y1) return PHX_OK;
    for (uint32_t y = y0; y < y1; y++)
        if (has_zero(ground->cost + (size_t)y * ground->width + x0, x1 - x0)) return PHX_ERROR_RANGE;
    fill(ground, x0, y0, x1, y1);
    return PHX_OK;
}

uint64_t phx_path_ground_version(const PhxPathGround *ground) { return ground->version; }

PhxNavGrid phx_path_ground_grid(const PhxPathGround *ground) {
    return (PhxNavGrid){ground->width, ground->height, ground->cost};
}
