/* field.c: flow fields: sizes, memory, the checks of a build and its three stages.
 *
 * In: grid, weights, goals, scratch memory. Out: the exact integration and flow of every cell. Cost: linear;
 * see field_moves.c, field_front.c, field_wave.c and field_flow.c for the stages. Determinism: each stage is
 * a pure function of grid, weights and the set of goals; scratch memory is written before it is read. Source
 * of flow fields: Emerson, Crowd Pathfinding and Steering Using Flow Field Tiles (Game AI Pro, 2013).
 */
#include <phalanx/nav.h>

#include <string.h>

#include "base/arena.h"
#include "base/assert.h"
#include "nav/field_work.h"

size_t phx_field_size(uint32_t width, uint32_t height) {
    return (size_t)width * height * (sizeof(uint32_t) + sizeof(uint8_t));
}

static void clear(PhxField *field) {
    const size_t cells = (size_t)field->width * field->height;
    memset(field->integration, 255, cells * sizeof *field->integration);
    memset(field->flow, PHX_FLOW_NONE, cells);
}

void phx_field_init(PhxField *field, uint32_t width, uint32_t height, void *memory) {
    PHX_ASSERT(width >= 1 && width <= PHX_NAV_MAX_SIDE, width, PHX_NAV_MAX_SIDE);
    PHX_ASSERT(height >= 1 && height <= PHX_NAV_MAX_SIDE, height, PHX_NAV_MAX_SIDE);
    const size_t cells = (size_t)width * height;
    *field = (PhxField){width, height, PHX_FIELD_WEIGHTS_DEFAULT, memory,
                        (uint8_t *)memory + cells * sizeof(uint32_t)};
    clear(field);
}

/* A piece of `count` elements at the end of what was laid; null while measuring. Pieces are aligned to 8. */
static void *lay(unsigned char *base, size_t *used, size_t count, size_t size) {
    void *piece = base ? base + *used : NULL;
    *used += (count * size + 7) & ~(size_t)7;
    return piece;
}

size_t phx_field_work_lay(PhxFieldWork *work, uint32_t width, uint32_t height, void *scratch) {
    *work = (PhxFieldWork){.width = width, .height = height, .stride = width + 2};
    work->cells = work->stride * (height + 2);
    /* Every cell once, a chunk that isn't full in each bucket, one that is being emptied, and chunk 0, which
     * stands for none; that always suffices after a requeue. An eighth of the cells more makes requeues rare.
     */
    const size_t cells = (size_t)width * height;
    const size_t chunks = (cells + cells / 8) / PHX_FRONT_CHUNK_CELLS + 2 * PHX_FRONT_MAX_RING + 20;
    work->pool_chunks = (uint32_t)chunks;
    size_t used = 0;
    work->occupied = lay(scratch, &used, PHX_FRONT_MAX_RING / 64, sizeof *work->occupied);
    work->buckets = lay(scratch, &used, 2 * PHX_FRONT_MAX_RING, sizeof *work->buckets);
    work->dist = lay(scratch, &used, work->cells, sizeof *work->dist);
    work->facts = lay(scratch, &used, work->cells, sizeof *work->facts);
    work->reached = lay(scratch, &used, cells + 4, sizeof *work->reached);
    work->pool = lay(scratch, &used, chunks * PHX_FRONT_CHUNK, sizeof *work->pool);
    work->sum_rows = lay(scratch, &used, (size_t)work->stride * 6, sizeof *work->sum_rows);
    work->byte_rows = lay(scratch, &used, (size_t)work->stride * 5, 1);
    return used;
}

size_t phx_field_scratch_size(uint32_t width, uint32_t height) {
    PhxFieldWork work;
    return phx_field_work_lay(&work, width, height, NULL);
}

static PhxStatus check_arguments(const PhxField *field, const PhxNavGrid *grid, PhxFieldWeights weights,
                                 const uint32_t *goals, uint32_t goal_count) {
    if (grid->width != field->width || grid->height != field->height || goal_count == 0)
        return PHX_ERROR_ARGUMENT;
    const bool octile = weights.diagonal >= weights.straight && weights.diagonal <= 2u * weights.straight;
    if (weights.straight == 0 || (weights.diagonal != 0 && !octile)) return PHX_ERROR_ARGUMENT;
    const uint32_t cells = grid->width * grid->height;
    for (uint32_t i = 0; i < goal_count; i++)
        if (goals[i] >= cells) return PHX_ERROR_RANGE;
    for (uint32_t i = 0; i < goal_count; i++)
        if (grid->cost[goals[i]] == PHX_NAV_IMPASSABLE) return PHX_ERROR_STATE;
    return PHX_OK;
}

/* Whether a cell was left out for its sum: it has none, and one step leads from it to a cell that has one. */
static bool is_cut_off(const PhxFieldWork *work, const int32_t offset[8], uint32_t at) {
    if (work->dist[at] != PHX_FIELD_UNREACHED) return false;
    for (int d = 0; d < 8; d++)
        if (work->facts[at] >> (PHX_FACT_MOVES + d) & 1 &&
            work->dist[at + (uint32_t)offset[d]] != PHX_FIELD_UNREACHED)
            return true;
    return false;
}

static bool any_cut_off(const PhxFieldWork *work) {
    int32_t offset[8];
    phx_field_work_offsets(work, offset);
    for (uint32_t cell = 0; cell < work->cells; cell++)
        if (is_cut_off(work, offset, cell)) return true;
    return false;
}

PhxStatus phx_field_build_within(PhxField *field, const PhxNavGrid *grid, PhxFieldWeights weights,
                                 const uint32_t *goals, uint32_t goal_count, void *scratch,
                                 PhxFieldPool *pool) {
    const PhxStatus status = check_arguments(field, grid, weights, goals, goal_count);
    if (status) return status;
    PhxFieldWork work;
    (void)phx_field_work_lay(&work, grid->width, grid->height, scratch);
    if (pool->limit) work.pool_chunks = pool->limit;
    work.straight = weights.straight;
    work.diagonal = weights.diagonal;
    work.cost = grid->cost;
    phx_field_find_moves(&work, grid);
    if (work.min_cost == 0) return PHX_ERROR_RANGE;
    if (work.min_cost == work.max_cost)
        phx_field_run_front(&work, goals, goal_count);
    else
        phx_field_run_wave(&work, goals, goal_count);
    pool->chunks = work.fresh;
    pool->requeues = work.requeues;
    field->weights = weights;
    if (work.full) {
        clear(field);
        return PHX_ERROR_FULL;
    }
    if (work.overflow && any_cut_off(&work)) {
        clear(field);
        return PHX_ERROR_LIMIT;
    }
    phx_field_point_flow(&work, field);
    for (uint32_t i = 0; i < goal_count; i++) field->flow[goals[i]] = PHX_FLOW_GOAL;
    return PHX_OK;
}

PhxStatus phx_field_build(PhxField *field, const PhxNavGrid *grid, PhxFieldWeights weights,
                          const uint32_t *goals, uint32_t goal_count, void *scratch) {
    PhxFieldPool pool = {0};
    return phx_field_build_within(field, grid, weights, goals, goal_count, scratch, &pool);
}
