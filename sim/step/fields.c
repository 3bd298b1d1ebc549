/* fields.c: the phase `fields` and the cache of flow fields, one field a goal cell, shared by every unit that
 * goes there.
 *
 * In: goals of the units under an order. Out: the field of each. Cost: a look-up a unit; a build for a goal
 * that is new. If more goals are live than the cache holds, the units are served in batches, and fields are
 * built again in every tick: slower, never different. Determinism: a field is a pure function of (terrain,
 * goal cell), so neither eviction nor laziness nor the order of builds can change what a unit is told. Each
 * job builds one entry and writes only that entry and its worker's scratch.
 */
#include "base/assert.h"
#include "base/bitset.h"
#include "step/sim_internal.h"

void phx_fields_layout(PhxFieldCache *cache, PhxArena *arena, uint32_t capacity, uint32_t width,
                       uint32_t height, uint32_t workers) {
    const bool real = arena->base != NULL;
    PhxFieldCache made = {.capacity = capacity};
    made.entry = PHX_ARENA_ARRAY(arena, PhxCachedField, capacity);
    made.entry_of_cell = PHX_ARENA_ARRAY(arena, uint16_t, (size_t)width * height);
    made.scratch = PHX_ARENA_ARRAY(arena, void *, workers);
    made.to_build = PHX_ARENA_ARRAY(arena, uint32_t, capacity);
    for (uint32_t i = 0; i < capacity; i++) {
        void *memory = phx_arena_push(arena, 1, phx_field_size(width, height));
        if (!real) continue;
        phx_field_init(&made.entry[i].field, width, height, memory);
        made.entry[i].goal = PHX_NAV_NO_CELL;
    }
    for (uint32_t i = 0; i < workers; i++) {
        void *memory = phx_arena_push(arena, 1, phx_field_scratch_size(width, height));
        if (real) made.scratch[i] = memory;
    }
    if (real) *cache = made;
}

static void forget(PhxFieldCache *cache, PhxCachedField *entry) {
    if (entry->goal != PHX_NAV_NO_CELL) cache->entry_of_cell[entry->goal] = 0;
    entry->goal = PHX_NAV_NO_CELL;
}

void phx_fields_clear(PhxSim *sim) {
    PhxFieldCache *cache = &sim->fields;
    cache->batch = 0;
    for (uint32_t i = 0; i < cache->capacity; i++) {
        forget(cache, &cache->entry[i]);
        cache->entry[i].last_used = 0;
    }
}

static uint32_t goal_cell(const PhxSim *sim, uint32_t slot) {
    const PhxNavGrid grid = phx_sim_grid(sim->world);
    return phx_nav_cell_clamped(&grid, sim->world->unit.goal_x[slot], sim->world->unit.goal_y[slot]);
}

const PhxField *phx_fields_of(const PhxSim *sim, uint32_t slot) {
    const uint32_t entry = sim->fields.entry_of_cell[goal_cell(sim, slot)];
    PHX_ASSERT(entry != 0, slot, sim->fields.batch);
    return &sim->fields.entry[entry - 1].field;
}

/* An empty entry, or the one that was used longest ago, but none of this batch; null if all are of this
 * batch. */
static PhxCachedField *take_entry(PhxFieldCache *cache) {
    PhxCachedField *oldest = NULL;
    for (uint32_t i = 0; i < cache->capacity; i++) {
        PhxCachedField *entry = &cache->entry[i];
        if (entry->goal == PHX_NAV_NO_CELL) return entry;
        if (entry->last_used != cache->batch && (!oldest || entry->last_used < oldest->last_used))
            oldest = entry;
    }
    if (oldest) forget(cache, oldest);
    return oldest;
}

/* Makes sure that a goal has an entry of this batch; false when the cache is full of this batch's. */
static bool claim_entry(PhxFieldCache *cache, uint32_t goal) {
    uint32_t index = cache->entry_of_cell[goal];
    if (index == 0) {
        PhxCachedField *entry = take_entry(cache);
        if (!entry) return false;
        entry->goal = goal;
        index = (uint32_t)(entry - cache->entry) + 1;
        cache->entry_of_cell[goal] = (uint16_t)index;
        cache->to_build[cache->build_count++] = index - 1;
    }
    cache->entry[index - 1].last_used = cache->batch;
    return true;
}

static void build_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    PhxSim *sim = context;
    const PhxNavGrid grid = phx_sim_grid(sim->world);
    for (uint32_t i = begin; i < end; i++) {
        PhxCachedField *entry = &sim->fields.entry[sim->fields.to_build[i]];
        /* A goal in a wall (possible only in a forged snapshot) or a sum beyond 32 bits leaves an empty
         * field: its units are told "no way" alike on every peer. */
        if (phx_field_build(&entry->field, &grid, PHX_FIELD_WEIGHTS_DEFAULT, &entry->goal, 1,
                            sim->fields.scratch[worker]) != PHX_OK)
            phx_field_init(&entry->field, grid.width, grid.height, entry->field.integration);
    }
}

uint32_t phx_fields_prepare(PhxSim *sim, const uint32_t *pending, uint32_t count) {
    PhxFieldCache *cache = &sim->fields;
    uint32_t later = 0;
    cache->batch++;
    cache->build_count = 0;
    sim->batch_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = pending[i];
        if (claim_entry(cache, goal_cell(sim, slot)))
            sim->batch[sim->batch_count++] = slot;
        else
            sim->later[later++] = slot; /* later <= i: reading and writing the same list is safe */
    }
    phx_parallel_for(&sim->jobs, cache->build_count, 1, build_range, sim);
    return later;
}

/* Lists the living and the moving units, and prepares the first batch of fields: in most matches, all. */
void phx_phase_fields(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    const PhxTable *units = &context->world->tables[PHX_TABLE_unit];
    (void)user;
    sim->living_count = sim->moving_count = 0;
    for (size_t s = phx_bitset_next(units->alive, units->used, 0); s < units->used;
         s = phx_bitset_next(units->alive, units->used, s + 1)) {
        sim->living[sim->living_count++] = (uint32_t)s;
        if (context->world->unit.activity[s] != 0) sim->moving[sim->moving_count++] = (uint32_t)s;
    }
    sim->later_count = phx_fields_prepare(sim, sim->moving, sim->moving_count);
}
