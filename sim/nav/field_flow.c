/* field_flow.c: third stage of a field: the arrows.
 *
 * In: exact sums, allowed steps, costs. Out: the field's integration and flow. As the sums are exact, the
 * least sum[n] + step cost over the neighbours n equals the cell's own sum; so an arrow is the lowest allowed
 * direction with equality. An allowed step from a reached cell leads to a reached cell, and their sums differ
 * by one step at most, so that the wrap of unsigned sums can't feign equality. Cost: about 2 ns a cell: rows
 * without branches, which compilers turn into vector code. Determinism: a pure function of the sums; ties go
 * to the lowest code.
 */
#include "nav/field_work.h"

#include <string.h>

/* Sums of the ways that enter a cell by a straight and by a diagonal step, for one row with its border. */
static void enter_row(uint32_t count, const uint32_t *restrict dist, const uint8_t *restrict cost,
                      uint32_t straight, uint32_t diagonal, uint32_t *restrict by_straight,
                      uint32_t *restrict by_diagonal) {
    for (uint32_t x = 0; x < count; x++) {
        by_straight[x] = dist[x] + straight * cost[x];
        by_diagonal[x] = dist[x] + diagonal * cost[x];
    }
}

/* The allowed directions with equality, as bits. Pointers at the first cell behind the border; s: straight,
 * d: diagonal; 0 the row above, 1 this row, 2 the row below. */
static void equal_row(uint32_t width, const uint32_t *restrict dist, const uint32_t *restrict d0,
                      const uint32_t *restrict s0, const uint32_t *restrict s1, const uint32_t *restrict s2,
                      const uint32_t *restrict d2, uint8_t *restrict bits) {
    for (uint32_t x = 0; x < width; x++) {
        const uint32_t sum = dist[x];
        const int32_t i = (int32_t)x;
        bits[x] =
            (uint8_t)((s1[i + 1] == sum ? 1 : 0) | (d2[i + 1] == sum ? 2 : 0) | (s2[i] == sum ? 4 : 0) |
                      (d2[i - 1] == sum ? 8 : 0) | (s1[i - 1] == sum ? 16 : 0) | (d0[i - 1] == sum ? 32 : 0) |
                      (s0[i] == sum ? 64 : 0) | (d0[i + 1] == sum ? 128 : 0));
    }
}

/* Bits to codes: the index of the lowest bit, PHX_FLOW_NONE where there is none, PHX_FLOW_WALL in walls. */
static void code_row(uint32_t width, const uint8_t *restrict cost, const uint8_t *restrict moves,
                     const uint8_t *restrict bits, uint8_t *restrict flow) {
    for (uint32_t x = 0; x < width; x++) {
        const uint8_t set = bits[x] & moves[x], low = (uint8_t)(set & (0u - set));
        const uint8_t code = (uint8_t)((low & 0xaa ? 1 : 0) | (low & 0xcc ? 2 : 0) | (low & 0xf0 ? 4 : 0));
        const uint8_t none = cost[x] == PHX_NAV_IMPASSABLE ? PHX_FLOW_WALL : PHX_FLOW_NONE;
        flow[x] = set ? code : none;
    }
}

static void enter(PhxFieldWork *work, uint32_t y) {
    uint32_t *by_straight = work->rows + (size_t)(y % 3) * 2 * work->stride;
    const size_t row = (size_t)y * work->stride;
    enter_row(work->stride, work->dist + row, work->cost + row, work->straight, work->diagonal, by_straight,
              by_straight + work->stride);
}

void phx_field_point_flow(PhxFieldWork *work, PhxField *field) {
    const uint32_t width = work->width, stride = work->stride;
    enter(work, 0);
    enter(work, 1);
    for (uint32_t y = 1; y <= work->height; y++) {
        enter(work, y + 1);
        const uint32_t *above = work->rows + (size_t)((y - 1) % 3) * 2 * stride + 1;
        const uint32_t *here = work->rows + (size_t)(y % 3) * 2 * stride + 1;
        const uint32_t *below = work->rows + (size_t)((y + 1) % 3) * 2 * stride + 1;
        const size_t from = (size_t)y * stride + 1, to = (size_t)(y - 1) * width;
        /* `arrived` has done its work in the sums; its row takes the bits */
        equal_row(width, work->dist + from, above + stride, above, here, below, below + stride,
                  work->arrived + from);
        code_row(width, work->cost + from, work->moves + from, work->arrived + from, field->flow + to);
        memcpy(field->integration + to, work->dist + from, width * sizeof *field->integration);
    }
}
