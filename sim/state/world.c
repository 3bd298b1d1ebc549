/* world.c: storage of all tables in one arena, and the birth and death of rows. See world.h. */
#include "state/world.h"

#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"

static size_t column_bytes(const PhxTable *table, uint32_t column) {
    const PhxColumnDesc *desc = &table->desc->columns[column];
    return (size_t)table->capacity * desc->lanes * phx_type_size(desc->type);
}

static void lay_out_table(PhxArena *arena, PhxTable *table, const PhxTableSpec *spec) {
    const PhxTableDesc *desc = spec->desc;
    const bool grid = desc->kind == PHX_KIND_GRID;
    const uint32_t blocks_x = (spec->width + PHX_GRID_BLOCK - 1) / PHX_GRID_BLOCK;
    const uint32_t blocks_y = (spec->height + PHX_GRID_BLOCK - 1) / PHX_GRID_BLOCK;
    const size_t blocks = (size_t)blocks_x * blocks_y;
    PhxTable made = {.desc = desc, .width = spec->width, .height = spec->height};
    made.capacity = grid ? spec->width * spec->height : spec->rows;
    made.blocks_x = blocks_x, made.blocks_y = blocks_y;
    made.columns = PHX_ARENA_ARRAY(arena, void *, desc->column_count);
    for (uint32_t c = 0; c < desc->column_count; c++) {
        void *storage = phx_arena_push(arena, 1, column_bytes(&made, c));
        if (made.columns) made.columns[c] = storage;
    }
    if (grid) {
        made.dirty = PHX_ARENA_ARRAY(arena, uint64_t, phx_bitset_words(blocks));
        made.touched = PHX_ARENA_ARRAY(arena, uint64_t, phx_bitset_words(blocks));
        made.block_hash = PHX_ARENA_ARRAY(arena, uint64_t, blocks * desc->column_count);
        made.column_hash = PHX_ARENA_ARRAY(arena, uint64_t, desc->column_count);
    } else {
        made.alive = PHX_ARENA_ARRAY(arena, uint64_t, phx_bitset_words(made.capacity));
        if (made.columns) made.generation = made.columns[0];
    }
    if (table) *table = made;
}

/* The same function measures and lays out: `world` is null while measuring. */
static void lay_out(PhxArena *arena, const PhxTableSpec *specs, uint32_t count, PhxWorld **out) {
    PhxWorld *world = phx_arena_push(arena, 1, sizeof(PhxWorld));
    PhxTable *tables = PHX_ARENA_ARRAY(arena, PhxTable, count);
    PhxTableSpec *copies = PHX_ARENA_ARRAY(arena, PhxTableSpec, count);
    for (uint32_t t = 0; t < count; t++) {
        lay_out_table(arena, tables ? &tables[t] : NULL, &specs[t]);
        if (copies) copies[t] = specs[t];
    }
    if (!world) return;
    world->tables = tables;
    world->specs = copies;
    world->table_count = count;
    *out = world;
}

static void bind_typed_tables(PhxWorld *world) {
    void **column;
#define PHX_TABLE_BEGIN(kind, table, Struct, doc)                                                            \
    {                                                                                                        \
        Struct *typed = &world->table;                                                                       \
        column = world->tables[PHX_TABLE_##table].columns;
#define PHX_COLUMN(type, name, lanes, klass, low, high, unit) typed->name = *column++;
#define PHX_TABLE_END(table, Struct)                          }
#include "tables/schema.def"
}

static PhxStatus check_specs(const PhxTableSpec *specs, uint32_t count, PhxError *error) {
    if (count < PHX_TABLE_BUILTIN_COUNT || count > PHX_SCHEMA_TABLE_LIMIT)
        return phx_error_set(error, PHX_ERROR_LIMIT, 0, "a world has %d to %d tables, not %u",
                             PHX_TABLE_BUILTIN_COUNT, PHX_SCHEMA_TABLE_LIMIT, count);
    for (uint32_t t = 0; t < count; t++) {
        const PhxTableSpec *spec = &specs[t];
        if (t < PHX_TABLE_BUILTIN_COUNT) PHX_ASSERT(spec->desc == phx_schema_builtin(t), t, 0);
        const PhxStatus status = phx_schema_check(spec->desc, error);
        if (status != PHX_OK) return status;
        const bool grid = spec->desc->kind == PHX_KIND_GRID;
        const bool fits = grid
                              ? spec->rows == 0 && spec->width >= 1 && spec->width <= PHX_SCHEMA_GRID_LIMIT &&
                                    spec->height >= 1 && spec->height <= PHX_SCHEMA_GRID_LIMIT
                              : spec->width == 0 && spec->height == 0 && spec->rows >= 1 &&
                                    spec->rows <= PHX_SCHEMA_ROW_LIMIT;
        if (!fits)
            return phx_error_set(error, PHX_ERROR_LIMIT, t,
                                 "table %s: rows 1 to %d, or a grid of 1 to %d cells a side",
                                 spec->desc->name, PHX_SCHEMA_ROW_LIMIT, PHX_SCHEMA_GRID_LIMIT);
        for (uint32_t u = 0; u < t; u++)
            if (strcmp(specs[u].desc->name, spec->desc->name) == 0)
                return phx_error_set(error, PHX_ERROR_ARGUMENT, t, "table %s is declared twice",
                                     spec->desc->name);
    }
    return PHX_OK;
}

PhxStatus phx_world_create(PhxAllocator allocator, const PhxTableSpec *specs, uint32_t count, PhxWorld **out,
                           PhxError *error) {
    *out = NULL;
    PhxStatus status = check_specs(specs, count, error);
    if (status != PHX_OK) return status;
    PhxArena arena = phx_arena_measure();
    lay_out(&arena, specs, count, out);
    const size_t size = arena.used;
    status = phx_arena_create(&arena, allocator, size);
    if (status != PHX_OK) return phx_error_set(error, status, 0, "no memory for a world of %zu bytes", size);
    lay_out(&arena, specs, count, out);
    PhxWorld *world = *out;
    world->arena = arena;
    world->schema_hash = phx_schema_hash(specs, count);
    bind_typed_tables(world);
    phx_world_rederive(world);
    return PHX_OK;
}

void phx_world_destroy(PhxWorld *world) {
    if (!world) return;
    PhxArena arena = world->arena; /* the world lies inside its own arena */
    phx_arena_destroy(&arena);
}

void phx_world_clear(PhxWorld *world) {
    for (uint32_t t = 0; t < world->table_count; t++) {
        PhxTable *table = &world->tables[t];
        for (uint32_t c = 0; c < table->desc->column_count; c++)
            memset(table->columns[c], 0, column_bytes(table, c));
    }
    phx_world_rederive(world);
}

static void rederive_rows(PhxTable *table) {
    memset(table->alive, 0, phx_bitset_words(table->capacity) * sizeof(uint64_t));
    table->used = table->live = 0;
    for (uint32_t slot = 0; slot < table->capacity; slot++) {
        if (table->generation[slot] != 0) table->used = slot + 1;
        if (!phx_generation_alive(table->generation[slot])) continue;
        phx_bitset_add(table->alive, slot);
        table->live++;
    }
    table->first_free = 0;
}

static void rederive_grid(PhxTable *table) {
    const size_t blocks = (size_t)table->blocks_x * table->blocks_y;
    table->used = table->capacity;
    table->live = 0;
    table->revision++;
    table->any_dirty = true;
    memset(table->dirty, 0xff, phx_bitset_words(blocks) * sizeof(uint64_t));
    memset(table->touched, 0xff, phx_bitset_words(blocks) * sizeof(uint64_t));
}

static void rederive_table(PhxTable *table) {
    if (table->desc->kind == PHX_KIND_GRID)
        rederive_grid(table);
    else
        rederive_rows(table);
}

void phx_world_rederive(PhxWorld *world) {
    for (uint32_t t = 0; t < world->table_count; t++) rederive_table(&world->tables[t]);
}

void phx_world_copy(PhxWorld *to, const PhxWorld *from) {
    PHX_ASSERT(to->schema_hash == from->schema_hash, to->table_count, from->table_count);
    phx_world_copy_tables(to, from, to->table_count);
}

/* Copies the rows of a block that differ; whether there were any. */
static bool copy_block(PhxTable *to, const PhxTable *from, uint32_t column, uint32_t bx, uint32_t by) {
    const size_t cell = column_bytes(to, column) / to->capacity;
    const uint32_t x0 = bx * PHX_GRID_BLOCK, y0 = by * PHX_GRID_BLOCK;
    const size_t across = to->width - x0 < PHX_GRID_BLOCK ? to->width - x0 : PHX_GRID_BLOCK;
    bool differs = false;
    for (uint32_t y = y0; y < to->height && y < y0 + PHX_GRID_BLOCK; y++) {
        const size_t at = ((size_t)y * to->width + x0) * cell;
        unsigned char *into = (unsigned char *)to->columns[column] + at;
        const unsigned char *out_of = (const unsigned char *)from->columns[column] + at;
        if (memcmp(into, out_of, across * cell) == 0) continue;
        memcpy(into, out_of, across * cell);
        differs = true;
    }
    return differs;
}

static void copy_grid(PhxTable *to, const PhxTable *from) {
    for (uint32_t by = 0; by < to->blocks_y; by++)
        for (uint32_t bx = 0; bx < to->blocks_x; bx++) {
            bool differs = false;
            for (uint32_t c = 0; c < to->desc->column_count; c++)
                if (copy_block(to, from, c, bx, by)) differs = true;
            if (differs) phx_grid_touch(to, bx * PHX_GRID_BLOCK, by * PHX_GRID_BLOCK);
        }
}

void phx_world_copy_tables(PhxWorld *to, const PhxWorld *from, uint32_t count) {
    for (uint32_t t = 0; t < count; t++) {
        PhxTable *table = &to->tables[t];
        PHX_ASSERT(table->desc == from->tables[t].desc, t, 0);
        PHX_ASSERT(table->capacity == from->tables[t].capacity, t, table->capacity);
        /* Blocks that are equal already are left alone: what was derived from them still holds. */
        if (table->desc->kind == PHX_KIND_GRID) {
            copy_grid(table, &from->tables[t]);
            continue;
        }
        for (uint32_t c = 0; c < table->desc->column_count; c++)
            memcpy(table->columns[c], from->tables[t].columns[c], column_bytes(table, c));
        rederive_table(table);
    }
}

void phx_world_poison(PhxWorld *world, uint8_t byte) {
    for (uint32_t t = 0; t < world->table_count; t++) {
        PhxTable *table = &world->tables[t];
        for (uint32_t c = 0; c < table->desc->column_count; c++)
            if (table->desc->columns[c].klass != PHX_CLASS_STATE)
                memset(table->columns[c], byte, column_bytes(table, c));
    }
}

size_t phx_world_state_bytes(const PhxWorld *world) {
    size_t bytes = 0;
    for (uint32_t t = 0; t < world->table_count; t++)
        for (uint32_t c = 0; c < world->tables[t].desc->column_count; c++)
            if (world->tables[t].desc->columns[c].klass == PHX_CLASS_STATE)
                bytes += column_bytes(&world->tables[t], c);
    return bytes;
}

uint32_t phx_world_table_index(const PhxWorld *world, const char *table) {
    for (uint32_t t = 0; t < world->table_count; t++)
        if (strcmp(world->tables[t].desc->name, table) == 0) return t;
    return UINT32_MAX;
}

uint32_t phx_table_column_index(const PhxTable *table, const char *column) {
    for (uint32_t c = 0; c < table->desc->column_count; c++)
        if (strcmp(table->desc->columns[c].name, column) == 0) return c;
    return UINT32_MAX;
}

PhxTable *phx_world_table(PhxWorld *world, const char *table) {
    const uint32_t index = phx_world_table_index(world, table);
    return index == UINT32_MAX ? NULL : &world->tables[index];
}

void *phx_world_column(PhxWorld *world, const char *table, const char *column) {
    const PhxTable *found = phx_world_table(world, table);
    const uint32_t index = found ? phx_table_column_index(found, column) : UINT32_MAX;
    return index == UINT32_MAX ? NULL : found->columns[index];
}

uint32_t phx_table_used(const PhxTable *table) { return table->used; }

int phx_table_alive(const PhxTable *table, uint32_t slot) {
    return table->alive && slot < table->used && phx_bitset_get(table->alive, slot);
}

/* The lowest slot that is dead and whose generation can still rise to an odd value, or `capacity`. */
static uint32_t lowest_free(PhxTable *table) {
    for (uint32_t slot = table->first_free; slot < table->capacity; slot++) {
        if (phx_bitset_get(table->alive, slot) || table->generation[slot] >= UINT32_MAX - 1) continue;
        table->first_free = slot;
        return slot;
    }
    table->first_free = table->capacity;
    return table->capacity;
}

PhxHandle phx_table_insert(PhxTable *table) {
    PHX_ASSERT(table->desc->kind != PHX_KIND_GRID, table->desc->kind, 0);
    const uint32_t slot = lowest_free(table);
    if (slot == table->capacity) return PHX_HANDLE_NONE;
    table->generation[slot]++;
    phx_bitset_add(table->alive, slot);
    table->first_free = slot + 1;
    table->live++;
    if (slot >= table->used) table->used = slot + 1;
    return phx_handle_make(slot, table->generation[slot]);
}

void phx_table_remove(PhxTable *table, uint32_t slot) {
    PHX_ASSERT(phx_table_alive(table, slot), slot, table->used);
    const uint32_t generation = table->generation[slot] + 1;
    for (uint32_t c = 0; c < table->desc->column_count; c++) {
        const size_t row_bytes = column_bytes(table, c) / table->capacity;
        memset((unsigned char *)table->columns[c] + row_bytes * slot, 0, row_bytes);
    }
    table->generation[slot] = generation;
    phx_bitset_remove(table->alive, slot);
    table->live--;
    if (slot < table->first_free) table->first_free = slot;
}

uint32_t phx_table_find(const PhxTable *table, PhxHandle handle) {
    const uint32_t slot = phx_handle_slot(handle);
    if (!phx_table_alive(table, slot) || table->generation[slot] != phx_handle_generation(handle))
        return UINT32_MAX;
    return slot;
}

void phx_grid_mark(PhxTable *table, uint32_t x, uint32_t y) {
    PHX_ASSERT(x < table->width && y < table->height, x, y);
    phx_bitset_add(table->dirty, (size_t)(y / PHX_GRID_BLOCK) * table->blocks_x + x / PHX_GRID_BLOCK);
    table->any_dirty = true;
    table->revision++;
}

void phx_grid_touch(PhxTable *table, uint32_t x, uint32_t y) {
    phx_grid_mark(table, x, y);
    phx_bitset_add(table->touched, (size_t)(y / PHX_GRID_BLOCK) * table->blocks_x + x / PHX_GRID_BLOCK);
}

uint64_t phx_table_get(const PhxTable *table, uint32_t column, uint32_t row, uint32_t lane) {
    const PhxColumnDesc *desc = &table->desc->columns[column];
    const size_t at = (size_t)row * desc->lanes + lane;
    switch (desc->type) {
#define GET_CASE(name, ctype, bytes, is_signed)                                                              \
    case PHX_TYPE_##name:                                                                                    \
        return (uint64_t)(int64_t)((const ctype *)table->columns[column])[at];
        PHX_TYPE_LIST(GET_CASE)
#undef GET_CASE
    case PHX_TYPE_COUNT:
        break;
    }
    return 0;
}

void phx_table_set(PhxTable *table, uint32_t column, uint32_t row, uint32_t lane, uint64_t bits) {
    const PhxColumnDesc *desc = &table->desc->columns[column];
    const size_t at = (size_t)row * desc->lanes + lane;
    switch (desc->type) {
#define SET_CASE(name, ctype, bytes, is_signed)                                                              \
    case PHX_TYPE_##name:                                                                                    \
        ((ctype *)table->columns[column])[at] = (ctype)bits;                                                 \
        break;
        PHX_TYPE_LIST(SET_CASE)
#undef SET_CASE
    case PHX_TYPE_COUNT:
        break;
    }
}
