/* portals_blocks.c: the blocks of sectors, built in batches on all threads.
 *
 * In: a list of sectors, whose portals are chosen. Out: their blocks, and which of them differ from before.
 * An allocator isn't for use by several threads: so the calling thread reserves room for as many sectors as
 * fit a batch, each with the most edges that it could have; jobs fill it, each its own sectors; the calling
 * thread then copies what is used into blocks of the right size.
 *
 * Determinism: a block is a pure function of the grid; batches and threads can't change one.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "nav/portals_data.h"

enum { BATCH_BYTES = 2 << 20, BATCH_SECTORS = 1024 };

typedef struct Batch {
    PhxPortals *portals;
    const PhxNavGrid *grid;
    const uint32_t *sectors;
    PhxPortalBlock *block; /* one a sector of the batch, in the batch's memory */
    uint32_t count;
    void *memory;
    size_t size;
} Batch;

size_t phx_portals_lay_block(PhxPortalBlock *block, uint32_t vertices, uint32_t edges, uint32_t live,
                             void *memory) {
    unsigned char *at = memory;
    size_t used = 0;
    block->memory = memory;
    block->vertex = at ? (PhxPortalVertex *)(void *)(at + used) : NULL;
    used += vertices * sizeof *block->vertex;
    block->cost = at ? (uint32_t *)(void *)(at + used) : NULL;
    used += edges * sizeof *block->cost;
    block->start = at ? (uint16_t *)(void *)(at + used) : NULL;
    used += (vertices + 1) * sizeof *block->start;
    block->live_cell = at ? (uint16_t *)(void *)(at + used) : NULL;
    used += live * sizeof *block->live_cell;
    block->to = at ? at + used : NULL;
    used += edges;
    used = (used + 63) & ~(size_t)63;
    block->size = used;
    return used;
}

static size_t most_bytes(uint32_t vertices) {
    PhxPortalBlock measured;
    return phx_portals_lay_block(&measured, vertices, vertices ? vertices * (vertices - 1) : 0, vertices,
                                 NULL);
}

static void fill_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    Batch *batch = context;
    for (uint32_t i = begin; i < end; i++)
        phx_portals_fill_block(batch->portals, batch->grid, batch->sectors[i], &batch->block[i],
                               &batch->portals->scratch[worker]);
}

static bool same_vertex(const PhxPortalVertex *a, const PhxPortalVertex *b) {
    return a->cell == b->cell && a->side == b->side;
}

static bool same_vertices(const PhxPortalBlock *a, const PhxPortalBlock *b) {
    if (a->vertex_count != b->vertex_count) return false;
    for (uint32_t v = 0; v < a->vertex_count; v++)
        if (!same_vertex(&a->vertex[v], &b->vertex[v])) return false;
    return true;
}

/* What a route or a tile can notice: neither the partners' numbers nor the regions' labels. */
static bool same_block(const PhxPortalBlock *a, const PhxPortalBlock *b) {
    if (!same_vertices(a, b) || a->edge_count != b->edge_count || a->live_count != b->live_count)
        return false;
    for (uint32_t v = 0; v < a->vertex_count; v++)
        if (a->vertex[v].out_cost != b->vertex[v].out_cost || a->vertex[v].cost != b->vertex[v].cost ||
            a->vertex[v].live != b->vertex[v].live)
            return false;
    return memcmp(a->start, b->start, (a->vertex_count + 1) * sizeof *a->start) == 0 &&
           memcmp(a->live_cell, b->live_cell, a->live_count * sizeof *a->live_cell) == 0 &&
           memcmp(a->to, b->to, a->edge_count) == 0 &&
           memcmp(a->cost, b->cost, a->edge_count * sizeof *a->cost) == 0;
}

/* Replaces a sector's block by a copy of `made`. */
static PhxStatus keep(PhxPortals *portals, uint32_t sector, const PhxPortalBlock *made, uint64_t *changed) {
    PhxPortalBlock *block = &portals->block[sector], fresh = *made;
    if (block->memory) {
        if (!same_vertices(block, made)) phx_bitset_add(portals->renumbered, sector);
        if (changed && !same_block(block, made)) phx_bitset_add(changed, sector);
    }
    const size_t size =
        phx_portals_lay_block(&fresh, made->vertex_count, made->edge_count, made->live_count, NULL);
    void *memory = block->memory;
    if (size != block->size || !memory) {
        memory = portals->allocator.allocate(portals->allocator.user, size);
        if (!memory) return PHX_ERROR_MEMORY;
        if (block->memory) portals->allocator.release(portals->allocator.user, block->memory, block->size);
        portals->block_bytes += size - block->size;
    }
    phx_portals_lay_block(&fresh, made->vertex_count, made->edge_count, made->live_count, memory);
    memcpy(fresh.vertex, made->vertex, made->vertex_count * sizeof *made->vertex);
    memcpy(fresh.cost, made->cost, made->edge_count * sizeof *made->cost);
    memcpy(fresh.start, made->start, (made->vertex_count + 1) * sizeof *made->start);
    memcpy(fresh.live_cell, made->live_cell, made->live_count * sizeof *made->live_cell);
    memcpy(fresh.to, made->to, made->edge_count);
    *block = fresh;
    return PHX_OK;
}

/* How many of the sectors fit a batch (one at least), and the bytes that they take. */
static uint32_t fit(const PhxPortals *portals, const uint32_t *sectors, uint32_t count, size_t *bytes) {
    size_t used = 0;
    uint32_t taken = 0;
    while (taken < count && taken < BATCH_SECTORS) {
        const size_t more =
            most_bytes(phx_portals_count_vertices(portals, sectors[taken])) + sizeof(PhxPortalBlock);
        if (taken > 0 && used + more > BATCH_BYTES) break;
        used += more;
        taken++;
    }
    *bytes = used + 64;
    return taken;
}

static void lay_batch(Batch *batch) {
    size_t used = (batch->count * sizeof *batch->block + 63) & ~(size_t)63;
    batch->block = batch->memory;
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint32_t vertices = phx_portals_count_vertices(batch->portals, batch->sectors[i]);
        used += phx_portals_lay_block(&batch->block[i], vertices, vertices ? vertices * (vertices - 1) : 0,
                                      vertices, (unsigned char *)batch->memory + used);
        batch->block[i].vertex_count = vertices;
    }
    PHX_ASSERT(used <= batch->size, used, batch->size);
}

PhxStatus phx_portals_rebuild(PhxPortals *portals, const PhxNavGrid *grid, const uint32_t *sectors,
                              uint32_t count, const PhxJobs *jobs, uint64_t *changed) {
    PhxStatus status = PHX_OK;
    Batch batch = {.portals = portals, .grid = grid};
    for (uint32_t done = 0; done < count && !status; done += batch.count) {
        size_t bytes = 0;
        batch.sectors = sectors + done;
        batch.count = fit(portals, batch.sectors, count - done, &bytes);
        if (bytes > batch.size) {
            if (batch.memory) portals->allocator.release(portals->allocator.user, batch.memory, batch.size);
            batch.size = bytes;
            batch.memory = portals->allocator.allocate(portals->allocator.user, bytes);
            if (!batch.memory) return PHX_ERROR_MEMORY;
        }
        lay_batch(&batch);
        phx_parallel_for(jobs, batch.count, 4, fill_range, &batch);
        for (uint32_t i = 0; i < batch.count && !status; i++)
            status = keep(portals, batch.sectors[i], &batch.block[i], changed);
    }
    if (batch.memory) portals->allocator.release(portals->allocator.user, batch.memory, batch.size);
    return status;
}
