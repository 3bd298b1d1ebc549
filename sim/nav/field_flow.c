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

/* One row with its border: sums of the ways that enter a cell by a straight and by a diagonal step. */
static void enter_row(int32_t count, const uint32_t *restrict dist, const uint8_t *restrict cost,
                      uint32_t straight, uint32_t diagonal, uint32_t *restrict by_straight,
                      uint32_t *restrict by_diagonal) {
    for (int32_t x = 0; x < count; x++) {
        by_straight[x] = dist[x] + straight * cost[x];
        by_diagonal[x] = dist[x] + diagonal * cost[x];
    }
}

/* The allowed steps as a row of their own. */
static void moves_row(int32_t width, const uint16_t *restrict facts, uint8_t *restrict moves) {
    for (int32_t x = 0; x < width; x++) moves[x] = (uint8_t)(facts[x] >> PHX_FACT_MOVES);
}

/* The integration where costs differ: there the sums of walls are 0, and their facts the cost alone. */
static void integration_row(int32_t width, const uint32_t *restrict dist, const uint16_t *restrict facts,
                            uint32_t *restrict integration) {
    for (int32_t x = 0; x < width; x++)
        integration[x] = dist[x] | (facts[x] == PHX_NAV_IMPASSABLE ? PHX_FIELD_UNREACHED : 0);
}

/* The directions with equality, as bits. s: by straight, d: by diagonal steps; 0 the row above, 1 this one, 2
 * the row below; pointers at the first cell behind the border. */
static void equal_row(int32_t width, const uint32_t *restrict integration, const uint32_t *restrict d0,
                      const uint32_t *restrict s0, const uint32_t *restrict s1, const uint32_t *restrict s2,
                      const uint32_t *restrict d2, uint8_t *restrict bits) {
    for (int32_t x = 0; x < width; x++) {
        const uint32_t sum = integration[x];
        bits[x] =
            (uint8_t)((s1[x + 1] == sum ? 1 : 0) | (d2[x + 1] == sum ? 2 : 0) | (s2[x] == sum ? 4 : 0) |
                      (d2[x - 1] == sum ? 8 : 0) | (s1[x - 1] == sum ? 16 : 0) | (d0[x - 1] == sum ? 32 : 0) |
                      (s0[x] == sum ? 64 : 0) | (d0[x + 1] == sum ? 128 : 0));
    }
}

/* 255 for any value but 0. */
static inline uint8_t mask(uint32_t value) { return (uint8_t)(value ? 255 : 0); }

/* Bits to codes: the index of the lowest bit, PHX_FLOW_NONE where there is none, PHX_FLOW_WALL in walls. */
static void code_row(int32_t width, const uint8_t *restrict cost, const uint8_t *restrict moves,
                     const uint8_t *restrict bits, uint8_t *restrict flow) {
    for (int32_t x = 0; x < width; x++) {
        const uint8_t set = bits[x] & moves[x], low = (uint8_t)(set & (0u - set));
        const uint8_t code = (mask(low & 0xaa) & 1) | (mask(low & 0xcc) & 2) | (mask(low & 0xf0) & 4);
        const uint8_t any = mask(set), open = mask(cost[x] ^ PHX_NAV_IMPASSABLE);
        const uint8_t none = (uint8_t)((open & PHX_FLOW_NONE) | (~open & PHX_FLOW_WALL));
        flow[x] = (uint8_t)((any & code) | (~any & none));
    }
}

/* The costs of row y, counted with the border, in a row with a border. */
static uint8_t *costs_of(const PhxFieldWork *work, uint32_t y) {
    return work->byte_rows + (size_t)(y % 3) * work->stride;
}

static void enter(const PhxFieldWork *work, uint32_t y) {
    uint32_t *by_straight = work->sum_rows + (size_t)(y % 3) * 2 * work->stride;
    uint8_t *cost = costs_of(work, y);
    if (y > 0 && y <= work->height) memcpy(cost + 1, work->cost + (size_t)(y - 1) * work->width, work->width);
    enter_row((int32_t)work->stride, work->dist + (size_t)y * work->stride, cost, work->straight,
              work->diagonal, by_straight, by_straight + work->stride);
}

void phx_field_point_flow(PhxFieldWork *work, PhxField *field) {
    const uint32_t stride = work->stride;
    const int32_t width = (int32_t)work->width;
    uint8_t *moves = work->byte_rows + 3 * (size_t)stride, *bits = moves + stride;
    memset(work->byte_rows, PHX_NAV_IMPASSABLE, (size_t)stride * 3);
    enter(work, 0);
    enter(work, 1);
    for (uint32_t y = 1; y <= work->height; y++) {
        enter(work, y + 1);
        const uint32_t *above = work->sum_rows + (size_t)((y - 1) % 3) * 2 * stride + 1;
        const uint32_t *here = work->sum_rows + (size_t)(y % 3) * 2 * stride + 1;
        const uint32_t *below = work->sum_rows + (size_t)((y + 1) % 3) * 2 * stride + 1;
        const size_t first = (size_t)y * stride + 1;
        const uint8_t *cost = costs_of(work, y) + 1;
        uint32_t *integration = field->integration + (size_t)(y - 1) * work->width;
        moves_row(width, work->facts + first, moves);
        if (work->min_cost == work->max_cost)
            memcpy(integration, work->dist + first, work->width * sizeof *integration);
        else
            integration_row(width, work->dist + first, work->facts + first, integration);
        equal_row(width, integration, above + stride, above, here, below, below + stride, bits);
        code_row(width, cost, moves, bits, field->flow + (size_t)(y - 1) * work->width);
    }
}
