/* hash.c: see hash.h. Cost: one pass over the used rows of each column, and over dirty blocks of grids. */
#include "state/hash.h"

#include <string.h>

#include "base/bitset.h"
#include "base/bytes.h"
#include "base/hash_stream.h"
#include "canonical.h"

enum { CHUNK = 4096 }; /* bytes turned at a time on a big-endian machine */

static uint64_t hash_run(const void *data, size_t count, uint32_t size) {
    if (!PHX_BIG_ENDIAN || size == 1) return phx_hash_bytes(data, count * size);
    PhxHashStream stream;
    unsigned char chunk[CHUNK];
    phx_hash_stream_begin(&stream);
    for (size_t at = 0; at < count;) {
        const size_t left = count - at;
        const size_t part = left < CHUNK / size ? left : CHUNK / size;
        canonical_copy(chunk, (const unsigned char *)data + at * size, part, size);
        phx_hash_stream_feed(&stream, chunk, part * size);
        at += part;
    }
    return phx_hash_stream_end(&stream);
}

/* Cells of one block, row by row, as one run. */
static uint64_t hash_block(const PhxTable *table, uint32_t column, uint32_t block) {
    const uint32_t size = phx_type_size(table->desc->columns[column].type);
    const uint32_t x0 = block % table->blocks_x * PHX_GRID_BLOCK,
                   y0 = block / table->blocks_x * PHX_GRID_BLOCK;
    const uint32_t w = table->width - x0 < PHX_GRID_BLOCK ? table->width - x0 : PHX_GRID_BLOCK;
    const uint32_t h = table->height - y0 < PHX_GRID_BLOCK ? table->height - y0 : PHX_GRID_BLOCK;
    unsigned char cells[PHX_GRID_BLOCK * PHX_GRID_BLOCK * 8];
    for (uint32_t y = 0; y < h; y++) {
        const size_t from = ((size_t)(y0 + y) * table->width + x0) * size;
        canonical_copy(cells + (size_t)y * w * size, (const unsigned char *)table->columns[column] + from, w,
                       size);
    }
    return phx_hash_bytes(cells, (size_t)w * h * size);
}

static void refresh_grid(PhxTable *table) {
    const size_t blocks = (size_t)table->blocks_x * table->blocks_y;
    if (!table->any_dirty) return;
    for (size_t b = phx_bitset_next(table->dirty, blocks, 0); b < blocks;
         b = phx_bitset_next(table->dirty, blocks, b + 1))
        for (uint32_t c = 0; c < table->desc->column_count; c++)
            table->block_hash[c * blocks + b] = hash_block(table, c, (uint32_t)b);
    for (uint32_t c = 0; c < table->desc->column_count; c++)
        table->column_hash[c] = hash_run(table->block_hash + c * blocks, blocks, 8);
    memset(table->dirty, 0, phx_bitset_words(blocks) * sizeof(uint64_t));
    table->any_dirty = false;
}

uint64_t phx_world_hash_column(PhxWorld *world, uint32_t index, uint32_t column) {
    PhxTable *table = &world->tables[index];
    if (table->desc->kind == PHX_KIND_GRID) {
        refresh_grid(table);
        return table->column_hash[column];
    }
    const PhxColumnDesc *desc = &table->desc->columns[column];
    return hash_run(table->columns[column], (size_t)table->used * desc->lanes, phx_type_size(desc->type));
}

static uint64_t hash_table(PhxWorld *world, uint32_t index, bool scratch) {
    const PhxTable *table = &world->tables[index];
    uint8_t bytes[8 * (PHX_SCHEMA_COLUMN_LIMIT + 1)];
    size_t at = 8;
    phx_store_u64(bytes, table->used);
    for (uint32_t c = 0; c < table->desc->column_count; c++) {
        const PhxColumnClass klass = table->desc->columns[c].klass;
        if (klass == PHX_CLASS_DERIVED || (klass == PHX_CLASS_SCRATCH && !scratch)) continue;
        phx_store_u64(bytes + at, phx_world_hash_column(world, index, c));
        at += 8;
    }
    return phx_hash_bytes(bytes, at);
}

static uint64_t hash_tables(PhxWorld *world, uint64_t *table_hashes, bool scratch) {
    uint8_t bytes[8 * PHX_SCHEMA_TABLE_LIMIT];
    for (uint32_t t = 0; t < world->table_count; t++) {
        const uint64_t hash = hash_table(world, t, scratch);
        if (table_hashes) table_hashes[t] = hash;
        phx_store_u64(bytes + (size_t)8 * t, hash);
    }
    return phx_hash_bytes(bytes, (size_t)8 * world->table_count);
}

uint64_t phx_world_hash(PhxWorld *world, uint64_t *table_hashes) {
    return hash_tables(world, table_hashes, false);
}

uint64_t phx_world_hash_phase(PhxWorld *world) { return hash_tables(world, NULL, true); }

static uint64_t audit_strip(const PhxTable *table, uint32_t strip) {
    const uint32_t blocks = table->blocks_x * table->blocks_y;
    uint64_t failures = 0;
    for (uint32_t x = 0; x < table->blocks_x; x++) {
        const uint32_t block = strip * table->blocks_x + x;
        if (phx_bitset_get(table->dirty, block)) continue;
        for (uint32_t c = 0; c < table->desc->column_count; c++)
            failures += hash_block(table, c, block) != table->block_hash[(size_t)c * blocks + block];
    }
    return failures;
}

void phx_world_audit(PhxWorld *world) {
    const uint32_t turn = world->audit_turn++;
    if (turn % PHX_AUDIT_PERIOD != 0) return;
    for (uint32_t t = 0; t < world->table_count; t++) {
        const PhxTable *table = &world->tables[t];
        if (table->desc->kind != PHX_KIND_GRID) continue;
        world->audit_failures += audit_strip(table, turn / PHX_AUDIT_PERIOD % table->blocks_y);
    }
}
