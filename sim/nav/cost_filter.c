/* cost_filter.c: the last stages of a cost plane: smoothing, and the greatest value under a large unit.
 *
 * Smoothing: the weighted mean of the passable ones among the 3 x 3 cells around a passable cell, half
 * rounded up; it lies between the least and the greatest of them, so it closes nothing; walls stay. Growing:
 * the maximum over an n x n block is that of columns after that of rows; the maximum over n in a line is that
 * of two runs of the greatest power of two up to n, and a run is the maximum of two runs of half its length
 * (the sparse table of range maximum queries, used with one length): bytes side by side, no branch, 5 steps
 * for n = 32. Cost: under 1 ns a cell and direction. Determinism: integers.
 */
#include <string.h>

#include "base/assert.h"
#include "nav/cost_work.h"

/* 2^16 / d rounded up: s * this >> 16 is s / d for every s up to 4080 and d up to 16, as 4080 * 15 < 2^16. */
static const uint16_t reciprocal[17] = {0,    0,    32768, 21846, 16384, 13108, 10923, 9363, 8192,
                                        7282, 6554, 5958,  5462,  5042,  4682,  4370,  4096};

/* Weighted sums of a column's three cells: values and weights of the passable ones. */
static void sum_columns(const uint8_t *restrict above, const uint8_t *restrict here,
                        const uint8_t *restrict below, uint16_t middle, int32_t count,
                        uint16_t *restrict value, uint16_t *restrict weight) {
    for (int32_t i = 0; i < count; i++) {
        const uint16_t a = above[i] != 255, h = here[i] != 255 ? middle : 0, b = below[i] != 255;
        value[i] = (uint16_t)(above[i] * a + here[i] * h + below[i] * b);
        weight[i] = (uint16_t)(a + h + b);
    }
}

static void smooth_row(const uint16_t *restrict value, const uint16_t *restrict weight, uint32_t middle,
                       int32_t count, uint8_t *restrict row) {
    for (int32_t i = 0; i < count; i++) {
        if (row[i] == 255) continue;
        const uint32_t sum = value[i] + value[i + 1] * middle + value[i + 2];
        const uint32_t by = weight[i] + weight[i + 1] * middle + weight[i + 2];
        row[i] = (uint8_t)(by == 1 ? sum : (sum + by / 2) * reciprocal[by] >> 16);
    }
}

void phx_cost_smooth(const PhxCostWindow *window, PhxCellRect inner) {
    const uint16_t middle = window->profile->smoothing == 2 ? 2 : 1;
    const int32_t count = inner.x1 - inner.x0, wide = count + 2, x = inner.x0;
    if (phx_cost_rect_empty(inner)) return;
    PHX_ASSERT(count <= PHX_COST_VALUES, count, PHX_COST_VALUES);
    uint8_t above[PHX_COST_VALUES + 2], here[PHX_COST_VALUES + 2]; /* as they were before */
    uint16_t value[PHX_COST_VALUES + 2], weight[PHX_COST_VALUES + 2];
    memcpy(above, phx_cost_window_at(window, x - 1, inner.y0 - 1), (size_t)wide);
    for (int32_t y = inner.y0; y < inner.y1; y++) {
        memcpy(here, phx_cost_window_at(window, x - 1, y), (size_t)wide);
        sum_columns(above, here, phx_cost_window_at(window, x - 1, y + 1), middle, wide, value, weight);
        smooth_row(value, weight, middle, count, phx_cost_window_at(window, x, y));
        memcpy(above, here, (size_t)wide);
    }
}

/* out[i] = max(out[i], later[i]). */
static inline void raise(uint8_t *restrict out, const uint8_t *restrict later, int32_t count) {
    for (int32_t i = 0; i < count; i++) out[i] = later[i] > out[i] ? later[i] : out[i];
}

/* A row of `count` + size - 1 bytes: the first `count` become the maximum over themselves and the size - 1
 * behind. */
static void grow_row(uint8_t *row, int32_t count, int32_t size) {
    uint8_t shifted[PHX_COST_WINDOW];
    const int32_t whole = count + size - 1;
    int32_t run = 1;
    for (; 2 * run <= size; run *= 2) {
        memcpy(shifted, row + run, (size_t)(whole - run));
        raise(row, shifted, whole - 2 * run + 1);
    }
    memcpy(shifted, row + size - run, (size_t)count);
    raise(row, shifted, count);
}

void phx_cost_grow(const PhxCostWindow *window, PhxCellRect inner, uint32_t size, uint8_t *plane,
                   uint32_t width) {
    const int32_t n = (int32_t)size, low = (n - 1) / 2, count = inner.x1 - inner.x0;
    const int32_t rows = inner.y1 - inner.y0, whole = rows + n - 1;
    PHX_ASSERT(count <= PHX_COST_BLOCK, count, PHX_COST_BLOCK);
    uint8_t *first = phx_cost_window_at(window, inner.x0 - low, inner.y0 - low);
    for (int32_t y = 0; y < whole; y++) grow_row(first + (size_t)y * window->stride, count, n);
    int32_t run = 1;
    for (; 2 * run <= n; run *= 2)
        for (int32_t y = 0; y + 2 * run <= whole; y++)
            raise(first + (size_t)y * window->stride, first + (size_t)(y + run) * window->stride, count);
    for (int32_t y = 0; y < rows; y++) {
        uint8_t *row = first + (size_t)y * window->stride;
        if (n > run) raise(row, first + (size_t)(y + n - run) * window->stride, count);
        memcpy(plane + (size_t)(inner.y0 + y) * width + (size_t)inner.x0, row, (size_t)count);
    }
}
