/* explain.c: see explain.h. Most desyncs begin in one value: a rounding that is one unit off, a flipped bit.
 * A replay keeps the hash of each table, and one that matches in 64 bits is the proof.
 */
#include "bisect/explain.h"

#include <phalanx/hash.h>
#include <string.h>

#include "base/bytes.h"
#include "state/hash.h"
#include "step/sim_internal.h"

enum { DELTA = 8 };

typedef struct Search {
    PhxSim *sim;
    PhxTable *table;
    uint32_t index;
    uint64_t wanted, *budget;
    uint64_t columns[PHX_SCHEMA_COLUMN_LIMIT];
} Search;

static bool is_state(const Search *search, uint32_t column) {
    return search->table->desc->columns[column].klass == PHX_CLASS_STATE;
}

/* The table's hash as state/hash.h describes it. */
static uint64_t combine(const Search *search) {
    uint8_t bytes[8 * (PHX_SCHEMA_COLUMN_LIMIT + 1)];
    size_t at = 8;
    phx_store_u64(bytes, search->table->used);
    for (uint32_t c = 0; c < search->table->desc->column_count; c++) {
        if (!is_state(search, c)) continue;
        phx_store_u64(bytes + at, search->columns[c]);
        at += 8;
    }
    return phx_hash_bytes(bytes, at);
}

static void set(const Search *search, uint32_t column, uint32_t row, uint32_t lane, uint64_t value) {
    phx_table_set(search->table, column, row, lane, value);
    if (search->table->desc->kind == PHX_KIND_GRID)
        phx_grid_touch(search->table, row % search->table->width, row / search->table->width);
}

/* Bytes that one try hashes. */
static uint64_t cost_of(const Search *search, uint32_t column) {
    const PhxColumnDesc *desc = &search->table->desc->columns[column];
    if (search->table->desc->kind != PHX_KIND_GRID)
        return 256 + (uint64_t)search->table->used * desc->lanes * phx_type_size(desc->type);
    return 256 + (uint64_t)PHX_GRID_BLOCK * PHX_GRID_BLOCK * phx_type_size(desc->type) +
           (uint64_t)8 * search->table->blocks_x * search->table->blocks_y;
}

static bool try_value(Search *search, uint32_t column, uint32_t row, uint32_t lane, uint64_t value) {
    const uint64_t cost = cost_of(search, column);
    if (*search->budget < cost) {
        *search->budget = 0;
        return false;
    }
    *search->budget -= cost;
    set(search, column, row, lane, value);
    search->columns[column] = phx_world_hash_column(search->sim->world, search->index, column);
    return combine(search) == search->wanted;
}

/* Tries the changes of one value; the last one stays set where it fits. */
static bool try_changes(Search *search, uint32_t column, uint32_t row, uint32_t lane) {
    const uint64_t value = phx_table_get(search->table, column, row, lane);
    const uint32_t bits = 8 * phx_type_size(search->table->desc->columns[column].type);
    for (uint32_t bit = 0; bit < bits; bit++)
        if (try_value(search, column, row, lane, value ^ (uint64_t)1 << bit)) return true;
    for (uint64_t delta = 1; delta <= DELTA; delta++)
        if (try_value(search, column, row, lane, value + delta) ||
            try_value(search, column, row, lane, value - delta))
            return true;
    set(search, column, row, lane, value);
    return false;
}

static bool search_column(Search *search, uint32_t column, PhxBisectValue *found) {
    const PhxColumnDesc *desc = &search->table->desc->columns[column];
    static const char *const types[] = {
#define TYPE_NAME(name, ctype, bytes, is_signed) #name,
        PHX_TYPE_LIST(TYPE_NAME)
#undef TYPE_NAME
    };
    const uint64_t hash = search->columns[column];
    for (uint32_t row = 0; row<search->table->used && * search->budget> 0; row++)
        for (uint32_t lane = 0; lane < desc->lanes; lane++) {
            const uint64_t before = phx_table_get(search->table, column, row, lane);
            if (!try_changes(search, column, row, lane)) continue;
            *found = (PhxBisectValue){.row = row, .lane = lane, .left = before, .differs = true};
            found->right = phx_table_get(search->table, column, row, lane);
            snprintf(found->table, sizeof found->table, "%.39s", search->table->desc->name);
            snprintf(found->column, sizeof found->column, "%.39s", desc->name);
            snprintf(found->type, sizeof found->type, "%s", types[desc->type]);
            set(search, column, row, lane, before);
            return true;
        }
    search->columns[column] = hash;
    return false;
}

bool phx_explain_table(PhxSim *sim, uint32_t table, uint64_t wanted, uint64_t *budget,
                       PhxBisectValue *found) {
    Search search = {
        .sim = sim, .table = &sim->world->tables[table], .index = table, .wanted = wanted, .budget = budget};
    bool done = false;
    for (uint32_t c = 0; c < search.table->desc->column_count; c++)
        if (is_state(&search, c)) search.columns[c] = phx_world_hash_column(sim->world, table, c);
    for (uint32_t c = 0; c < search.table->desc->column_count && !done; c++)
        if (is_state(&search, c)) done = search_column(&search, c, found);
    return done;
}
