/* diff.c: see diff.h. Determinism: columns are compared in schema order, rows and lanes ascending. Cost:
 * equal columns are passed over by one memory comparison. */
#include "state/diff.h"

#include <string.h>

#include "base/assert.h"

static uint32_t diff_column(const PhxWorld *left, const PhxWorld *right, uint32_t t, uint32_t c,
                            PhxValueDifference *out, uint32_t capacity, uint32_t found) {
    const PhxTable *a = &left->tables[t], *b = &right->tables[t];
    const PhxColumnDesc *desc = &a->desc->columns[c];
    const uint32_t used = a->used > b->used ? a->used : b->used;
    if (memcmp(a->columns[c], b->columns[c], (size_t)used * desc->lanes * phx_type_size(desc->type)) == 0)
        return found;
    for (uint32_t row = 0; row < used; row++) {
        for (uint32_t lane = 0; lane < desc->lanes; lane++) {
            const uint64_t x = phx_table_get(a, c, row, lane), y = phx_table_get(b, c, row, lane);
            if (x == y) continue;
            if (found < capacity)
                out[found] = (PhxValueDifference){a->desc->name, desc->name, t, c, row, lane, x, y};
            found++;
        }
    }
    return found;
}

uint32_t phx_world_diff(const PhxWorld *left, const PhxWorld *right, PhxValueDifference *out,
                        uint32_t capacity) {
    uint32_t found = 0;
    PHX_ASSERT(left->schema_hash == right->schema_hash, left->table_count, right->table_count);
    for (uint32_t t = 0; t < left->table_count; t++) {
        PHX_ASSERT(left->tables[t].capacity == right->tables[t].capacity, t, left->tables[t].capacity);
        for (uint32_t c = 0; c < left->tables[t].desc->column_count; c++)
            if (left->tables[t].desc->columns[c].klass == PHX_CLASS_STATE)
                found = diff_column(left, right, t, c, out, capacity, found);
    }
    return found;
}
