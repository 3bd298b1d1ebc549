/* tree.c: see tree.h. Cost: a column's bytes; of a grid, its dirty blocks. */
#include "bisect/tree.h"

#include <string.h>

#include "base/bitset.h"
#include "base/bytes.h"
#include "base/hash_stream.h"
#include "state/hash.h"
#include "step/sim_internal.h"

/* Is "table.column" one of the words of `list`? */
static bool lists(const char *list, const char *table, const char *column) {
    const size_t table_length = strlen(table), column_length = strlen(column);
    for (const char *at = list ? list : ""; *at;) {
        const size_t length = strcspn(at, " ");
        if (length == table_length + 1 + column_length && strncmp(at, table, table_length) == 0 &&
            at[table_length] == '.' && strncmp(at + table_length + 1, column, column_length) == 0)
            return true;
        at += length;
        at += strspn(at, " ");
    }
    return false;
}

static const PhxColumnDesc *column_of(const PhxSim *sim, uint32_t table, uint32_t column) {
    return &sim->world->tables[table].desc->columns[column];
}

PhxStatus phx_tree_clock_begin(PhxTreeClock *clock, const PhxSim *sim) {
    memset(clock, 0, sizeof *clock);
    if (sim->phase_count > PHX_TREE_PHASE_LIMIT) return PHX_ERROR_LIMIT;
    for (uint32_t p = 0; p < sim->phase_count; p++)
        for (uint32_t t = 0; t < sim->world->table_count; t++)
            for (uint32_t c = 0; c < sim->world->tables[t].desc->column_count; c++)
                if (column_of(sim, t, c)->klass == PHX_CLASS_SCRATCH &&
                    lists(sim->phases[p].writes, sim->world->tables[t].desc->name,
                          column_of(sim, t, c)->name))
                    phx_bitset_add(clock->writes[p][t], c);
    return PHX_OK;
}

void phx_tree_clock_tick(PhxTreeClock *clock) { memset(clock->written, 0, sizeof clock->written); }

void phx_tree_clock_phase(PhxTreeClock *clock, uint32_t phase) {
    for (uint32_t t = 0; t < PHX_SCHEMA_TABLE_LIMIT; t++)
        for (uint32_t w = 0; w < PHX_TREE_WORDS; w++) clock->written[t][w] |= clock->writes[phase][t][w];
}

bool phx_tree_counts(const PhxTreeClock *clock, const PhxSim *sim, uint32_t table, uint32_t column) {
    const PhxColumnClass klass = column_of(sim, table, column)->klass;
    if (klass == PHX_CLASS_SCRATCH) return phx_bitset_get(clock->written[table], column);
    return klass == PHX_CLASS_STATE;
}

uint64_t phx_tree_value(const PhxTreeClock *clock, const PhxSim *sim, uint32_t table, uint32_t column,
                        uint32_t row, uint32_t lane) {
    const PhxTable *rows = &sim->world->tables[table];
    if (row >= rows->capacity || !phx_tree_counts(clock, sim, table, column)) return 0;
    if (column_of(sim, table, column)->klass == PHX_CLASS_SCRATCH && rows->alive &&
        !phx_table_alive(rows, row))
        return 0;
    return phx_table_get(rows, column, row, lane);
}

uint64_t phx_tree_rows(const PhxTreeClock *clock, const PhxSim *sim, uint32_t table, uint32_t column,
                       uint32_t begin, uint32_t end) {
    const uint32_t capacity = sim->world->tables[table].capacity;
    const uint32_t lanes = column_of(sim, table, column)->lanes;
    PhxHashStream stream;
    uint8_t bytes[8 * 64];
    size_t filled = 0;
    phx_hash_stream_begin(&stream);
    for (uint32_t row = begin; row < end && row < capacity; row++)
        for (uint32_t lane = 0; lane < lanes; lane++) {
            phx_store_u64(bytes + filled, phx_tree_value(clock, sim, table, column, row, lane));
            filled += 8;
            if (filled < sizeof bytes) continue;
            phx_hash_stream_feed(&stream, bytes, filled);
            filled = 0;
        }
    phx_hash_stream_feed(&stream, bytes, filled);
    return phx_hash_stream_end(&stream);
}

uint64_t phx_tree_column(const PhxTreeClock *clock, PhxSim *sim, uint32_t table, uint32_t column) {
    if (!phx_tree_counts(clock, sim, table, column)) return 0;
    if (column_of(sim, table, column)->klass == PHX_CLASS_STATE)
        return phx_world_hash_column(sim->world, table, column);
    return phx_tree_rows(clock, sim, table, column, 0, sim->world->tables[table].used);
}

static void feed(PhxHashStream *stream, uint64_t number) {
    uint8_t bytes[8];
    phx_store_u64(bytes, number);
    phx_hash_stream_feed(stream, bytes, sizeof bytes);
}

PhxTreeHash phx_tree_hash(const PhxTreeClock *clock, PhxSim *sim) {
    PhxHashStream all, state;
    phx_hash_stream_begin(&all);
    phx_hash_stream_begin(&state);
    for (uint32_t t = 0; t < sim->world->table_count; t++) {
        feed(&state, sim->world->tables[t].used);
        for (uint32_t c = 0; c < sim->world->tables[t].desc->column_count; c++) {
            const uint64_t hash = phx_tree_column(clock, sim, t, c);
            if (column_of(sim, t, c)->klass == PHX_CLASS_STATE) feed(&state, hash);
            if (column_of(sim, t, c)->klass == PHX_CLASS_SCRATCH) feed(&all, hash);
        }
    }
    const uint64_t of_state = phx_hash_stream_end(&state);
    feed(&all, of_state);
    return (PhxTreeHash){phx_hash_stream_end(&all), of_state};
}
