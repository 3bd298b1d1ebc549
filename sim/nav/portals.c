/* portals.c: the portal graph: memory, building, and updates after a change.
 *
 * In: grids and lists of changed sectors. Out: see portals.h. Build: labels of all sectors, then portals of
 * all borders, then blocks (portals_place.c, portals_blocks.c). Update: a changed cell can move the portals
 * on its sector's borders; so the sector is built anew, and each neighbour whose border got other portals.
 * Around them, vertices may have another cost across or a partner with another number.
 *
 * Cost: build: a front a vertex cell of sectors that aren't uniform. Update: that of the sectors in question,
 * and a pass over the vertices. Determinism: a sector's block is a pure function of the grid; the numbering
 * is that of sides and positions, whatever came before.
 */
#include "nav/portals.h"

#include <string.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/bitset.h"
#include "nav/portals_data.h"

typedef struct Whole {
    PhxPortals *portals;
    const PhxNavGrid *grid;
} Whole;

static PhxPortals *lay(PhxArena *arena, uint32_t sectors, uint32_t workers) {
    PhxPortals *portals = PHX_ARENA_ARRAY(arena, PhxPortals, 1);
    PhxPortals unused, *at = portals ? portals : &unused;
    at->block = PHX_ARENA_ARRAY(arena, PhxPortalBlock, sectors);
    at->label = phx_arena_push(arena, sectors, sizeof *at->label);
    at->mask = phx_arena_push(arena, sectors, sizeof *at->mask);
    at->first = PHX_ARENA_ARRAY(arena, uint32_t, sectors + 1);
    at->first_live = PHX_ARENA_ARRAY(arena, uint32_t, sectors + 1);
    at->list = PHX_ARENA_ARRAY(arena, uint32_t, sectors);
    at->touched = PHX_ARENA_ARRAY(arena, uint64_t, phx_bitset_words(sectors));
    at->renumbered = PHX_ARENA_ARRAY(arena, uint64_t, phx_bitset_words(sectors));
    for (int i = 0; i < 2; i++) at->marks[i] = PHX_ARENA_ARRAY(arena, uint64_t, phx_bitset_words(sectors));
    at->scratch = PHX_ARENA_ARRAY(arena, PhxPortalScratch, workers);
    return portals;
}

PhxStatus phx_portals_create(PhxPortals **out, PhxAllocator allocator, uint32_t width, uint32_t height,
                             PhxFieldWeights weights, uint32_t workers) {
    *out = NULL;
    PHX_ASSERT(width >= 1 && width <= PHX_NAV_MAX_SIDE, width, PHX_NAV_MAX_SIDE);
    PHX_ASSERT(height >= 1 && height <= PHX_NAV_MAX_SIDE, height, PHX_NAV_MAX_SIDE);
    PHX_ASSERT(workers >= 1, workers, 0);
    if (weights.straight == 0 || weights.straight > PHX_PORTAL_STRAIGHT_MAX ||
        weights.diagonal < weights.straight || weights.diagonal > 2u * weights.straight)
        return PHX_ERROR_ARGUMENT;
    const uint32_t sectors = phx_sector_count(width, height);
    PhxArena arena = phx_arena_measure();
    (void)lay(&arena, sectors, workers);
    const PhxStatus status = phx_arena_create(&arena, allocator, arena.used);
    if (status) return status;
    PhxPortals *portals = lay(&arena, sectors, workers);
    portals->allocator = allocator;
    portals->memory = arena.base;
    portals->memory_size = arena.size;
    portals->width = width;
    portals->height = height;
    portals->across = phx_sectors_across(width);
    portals->sectors = sectors;
    portals->workers = workers;
    portals->weights = weights;
    *out = portals;
    return PHX_OK;
}

void phx_portals_destroy(PhxPortals *portals) {
    if (!portals) return;
    const PhxAllocator allocator = portals->allocator;
    for (uint32_t i = 0; i < portals->sectors; i++)
        if (portals->block[i].memory)
            allocator.release(allocator.user, portals->block[i].memory, portals->block[i].size);
    if (portals->grown) allocator.release(allocator.user, portals->grown, portals->grown_size);
    allocator.release(allocator.user, portals->memory, portals->memory_size);
}

/* The arrays whose length is that of vertices or live regions. Returns the bytes. */
static size_t lay_grown(PhxPortals *portals, uint32_t vertices, uint32_t live, void *memory) {
    PhxArena arena = phx_arena_measure();
    arena.base = memory;
    if (memory) arena.size = portals->grown_size;
    portals->sector_of = PHX_ARENA_ARRAY(&arena, uint16_t, vertices);
    portals->part = PHX_ARENA_ARRAY(&arena, uint32_t, live);
    for (uint32_t i = 0; i < portals->workers; i++) {
        PhxPortalScratch *scratch = &portals->scratch[i];
        scratch->queue.next = PHX_ARENA_ARRAY(&arena, uint32_t, vertices);
        scratch->queue.prev = PHX_ARENA_ARRAY(&arena, uint32_t, vertices);
        scratch->queue.where = PHX_ARENA_ARRAY(&arena, uint8_t, vertices);
        scratch->old = PHX_ARENA_ARRAY(&arena, uint64_t, vertices);
        scratch->lost = PHX_ARENA_ARRAY(&arena, uint64_t, phx_bitset_words(vertices));
    }
    return arena.used;
}

/* Room for the present vertices, with some to spare. */
static PhxStatus grow(PhxPortals *portals) {
    const uint32_t vertices = phx_portals_total(portals), live = portals->first_live[portals->sectors];
    if (portals->grown && vertices <= portals->vertex_room && live <= portals->live_room) return PHX_OK;
    if (portals->grown)
        portals->allocator.release(portals->allocator.user, portals->grown, portals->grown_size);
    portals->grown = NULL;
    portals->vertex_room = vertices + vertices / 16 + 64;
    portals->live_room = live + live / 16 + 64;
    portals->grown_size = lay_grown(portals, portals->vertex_room, portals->live_room, NULL);
    portals->grown = portals->allocator.allocate(portals->allocator.user, portals->grown_size);
    if (!portals->grown) return PHX_ERROR_MEMORY;
    memset(portals->grown, 0, portals->grown_size);
    (void)lay_grown(portals, portals->vertex_room, portals->live_room, portals->grown);
    return PHX_OK;
}

/* Numbers vertices and live regions of all sectors, and finds the parts. */
static PhxStatus number(PhxPortals *portals) {
    uint32_t vertices = 0, live = 0;
    for (uint32_t i = 0; i < portals->sectors; i++) {
        portals->first[i] = vertices;
        portals->first_live[i] = live;
        vertices += portals->block[i].vertex_count;
        live += portals->block[i].live_count;
    }
    portals->first[portals->sectors] = vertices;
    portals->first_live[portals->sectors] = live;
    const PhxStatus status = grow(portals);
    if (status) return status;
    for (uint32_t i = 0; i < portals->sectors; i++)
        for (uint32_t v = portals->first[i]; v < portals->first[i + 1]; v++)
            portals->sector_of[v] = (uint16_t)i;
    phx_portals_find_parts(portals);
    portals->version++;
    return PHX_OK;
}

static void label_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const Whole *whole = context;
    (void)worker;
    for (uint32_t i = begin; i < end; i++) phx_portals_label(whole->portals, whole->grid, i);
}

static void choose_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const Whole *whole = context;
    (void)worker;
    for (uint32_t i = begin; i < end; i++)
        for (unsigned side = 0; side < 2; side++)
            whole->portals->mask[i][side] = phx_portals_choose(whole->portals, whole->grid, i, side);
}

PhxStatus phx_portals_build(PhxPortals *portals, const PhxNavGrid *grid, const PhxJobs *jobs) {
    PHX_ASSERT(grid->width == portals->width && grid->height == portals->height, grid->width, grid->height);
    PHX_ASSERT(jobs->workers <= portals->workers, jobs->workers, portals->workers);
    if (memchr(grid->cost, 0, (size_t)grid->width * grid->height)) return PHX_ERROR_RANGE;
    Whole whole = {portals, grid};
    phx_parallel_for(jobs, portals->sectors, 16, label_range, &whole);
    phx_parallel_for(jobs, portals->sectors, 16, choose_range, &whole);
    for (uint32_t i = 0; i < portals->sectors; i++) portals->list[i] = i;
    memset(portals->renumbered, 255, phx_bitset_words(portals->sectors) * sizeof *portals->renumbered);
    const PhxStatus status = phx_portals_rebuild(portals, grid, portals->list, portals->sectors, jobs, NULL);
    return status ? status : number(portals);
}

static bool has_zero(const PhxNavGrid *grid, uint32_t sector) {
    const PhxSectorFrame frame = phx_sector_frame(grid->width, grid->height, sector);
    for (uint32_t y = 0; y < frame.height; y++)
        if (memchr(grid->cost + (size_t)(frame.y0 + y) * grid->width + frame.x0, 0, frame.width)) return true;
    return false;
}

/* Chooses the portals anew on all borders of a sector; marks the sectors at borders that got others. */
static void choose_around(PhxPortals *portals, const PhxNavGrid *grid, uint32_t sector, uint64_t *rebuild) {
    for (unsigned side = 0; side < 4; side++) {
        const uint32_t other = phx_portals_neighbour(portals, sector, side);
        if (other == UINT32_MAX) continue;
        const uint32_t owner = side < 2 ? sector : other;
        const uint64_t mask = phx_portals_choose(portals, grid, owner, side % 2);
        if (mask == portals->mask[owner][side % 2]) continue;
        portals->mask[owner][side % 2] = mask;
        phx_bitset_add(rebuild, sector);
        phx_bitset_add(rebuild, other);
    }
}

static void mark_neighbours(const PhxPortals *portals, uint32_t sector, uint64_t *marks) {
    for (unsigned side = 0; side < 4; side++) {
        const uint32_t other = phx_portals_neighbour(portals, sector, side);
        if (other != UINT32_MAX) phx_bitset_add(marks, other);
    }
}

/* Costs across and partners' numbers of a sector whose own vertices stay. Whether a cost changed. */
static bool refresh(PhxPortals *portals, const PhxNavGrid *grid, uint32_t sector) {
    PhxPortalVertex fresh[PHX_PORTAL_MAX_VERTICES];
    PhxPortalBlock *block = &portals->block[sector];
    bool differs = false;
    phx_portals_fill_vertices(portals, grid, sector, fresh);
    for (uint32_t v = 0; v < block->vertex_count; v++) {
        PhxPortalVertex *vertex = &block->vertex[v];
        differs |= vertex->out_cost != fresh[v].out_cost;
        vertex->out_cost = fresh[v].out_cost;
        vertex->partner = fresh[v].partner;
    }
    return differs;
}

static uint32_t list_marks(PhxPortals *portals, const uint64_t *marks) {
    uint32_t count = 0;
    for (size_t i = phx_bitset_next(marks, portals->sectors, 0); i < portals->sectors;
         i = phx_bitset_next(marks, portals->sectors, i + 1))
        portals->list[count++] = (uint32_t)i;
    return count;
}

PhxStatus phx_portals_update(PhxPortals *portals, const PhxNavGrid *grid, const uint32_t *sectors,
                             uint32_t count, const PhxJobs *jobs, uint64_t *changed) {
    const size_t words = phx_bitset_words(portals->sectors) * sizeof *changed;
    memset(changed, 0, words);
    PHX_ASSERT(jobs->workers <= portals->workers, jobs->workers, portals->workers);
    PHX_ASSERT(portals->version > 0, count, 0);
    for (uint32_t i = 0; i < count; i++)
        if (has_zero(grid, sectors[i])) return PHX_ERROR_RANGE;
    uint64_t *rebuild = portals->marks[0], *around = portals->marks[1];
    memset(portals->renumbered, 0, words);
    memset(portals->touched, 0, words);
    memset(rebuild, 0, words);
    memset(around, 0, words);
    for (uint32_t i = 0; i < count; i++) {
        phx_portals_label(portals, grid, sectors[i]);
        phx_bitset_add(rebuild, sectors[i]);
        phx_bitset_add(portals->touched, sectors[i]);
    }
    for (uint32_t i = 0; i < count; i++) choose_around(portals, grid, sectors[i], rebuild);
    const uint32_t rebuilt = list_marks(portals, rebuild);
    for (uint32_t i = 0; i < rebuilt; i++) mark_neighbours(portals, portals->list[i], around);
    PhxStatus status = phx_portals_rebuild(portals, grid, portals->list, rebuilt, jobs, changed);
    if (status) return status;
    for (size_t i = phx_bitset_next(around, portals->sectors, 0); i < portals->sectors;
         i = phx_bitset_next(around, portals->sectors, i + 1))
        if (!phx_bitset_get(rebuild, i) && refresh(portals, grid, (uint32_t)i)) phx_bitset_add(changed, i);
    return number(portals);
}

size_t phx_portals_bytes(const PhxPortals *portals) {
    return portals->memory_size + portals->grown_size + portals->block_bytes;
}

uint32_t phx_portals_vertex_count(const PhxPortals *portals, uint32_t sector) {
    return portals->block[sector].vertex_count;
}

const PhxPortalVertex *phx_portals_vertices(const PhxPortals *portals, uint32_t sector) {
    return portals->block[sector].vertex;
}
