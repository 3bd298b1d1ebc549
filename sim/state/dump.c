/* dump.c: the state as text, a line a value, for people and for diff tools. */
#include <inttypes.h>
#include <stdio.h>

#include "state/diff.h"

/* Q16.16 as a decimal with five places, rounded half away from zero, from the number's bits alone. */
static int format_fixed(char *text, size_t size, int64_t raw) {
    const uint64_t magnitude = (uint64_t)(raw < 0 ? -raw : raw);
    const uint64_t scaled = (magnitude * 100000 + 32768) >> 16;
    return snprintf(text, size, "%s%" PRIu64 ".%05" PRIu64, raw < 0 ? "-" : "", scaled / 100000,
                    scaled % 100000);
}

static void dump_value(const PhxTable *table, uint32_t c, uint32_t row, PhxDumpSink sink, void *user) {
    const PhxColumnDesc *desc = &table->desc->columns[c];
    const int digits = (int)(2 * phx_type_size(desc->type));
    const uint64_t mask = digits == 16 ? UINT64_MAX : ((uint64_t)1 << (4 * digits)) - 1;
    for (uint32_t lane = 0; lane < desc->lanes; lane++) {
        const uint64_t bits = phx_table_get(table, c, row, lane);
        char line[192], value[32], index[16] = "";
        if (desc->lanes > 1) snprintf(index, sizeof index, "[%u]", lane);
        if (desc->type == PHX_TYPE_FIX16)
            format_fixed(value, sizeof value, (int64_t)bits);
        else if (phx_type_signed(desc->type))
            snprintf(value, sizeof value, "%" PRId64, (int64_t)bits);
        else
            snprintf(value, sizeof value, "%" PRIu64, bits);
        const int length = snprintf(line, sizeof line, "%s[%u].%s%s = %s (0x%0*" PRIx64 ")\n",
                                    table->desc->name, row, desc->name, index, value, digits, bits & mask);
        sink(user, line, (size_t)length);
    }
}

static void dump_rows(const PhxTable *table, PhxDumpSink sink, void *user) {
    for (uint32_t row = 0; row < table->used; row++) {
        const bool alive = phx_table_alive(table, row);
        for (uint32_t c = 0; c < table->desc->column_count; c++)
            if (table->desc->columns[c].klass == PHX_CLASS_STATE && (alive || c == 0))
                dump_value(table, c, row, sink, user);
    }
}

/* "terrain.cost y=4 x=0..511 = 1" for each run of equal cells. */
static void dump_grid(const PhxTable *table, uint32_t c, PhxDumpSink sink, void *user) {
    for (uint32_t y = 0; y < table->height; y++) {
        for (uint32_t x = 0, end; x < table->width; x = end) {
            const uint64_t value = phx_table_get(table, c, y * table->width + x, 0);
            for (end = x + 1; end < table->width; end++)
                if (phx_table_get(table, c, y * table->width + end, 0) != value) break;
            char line[192];
            const int length =
                snprintf(line, sizeof line, "%s.%s y=%u x=%u..%u = %" PRId64 "\n", table->desc->name,
                         table->desc->columns[c].name, y, x, end - 1, (int64_t)value);
            sink(user, line, (size_t)length);
        }
    }
}

void phx_world_dump(const PhxWorld *world, PhxDumpSink sink, void *user) {
    for (uint32_t t = 0; t < world->table_count; t++) {
        const PhxTable *table = &world->tables[t];
        if (table->desc->kind != PHX_KIND_GRID) {
            dump_rows(table, sink, user);
            continue;
        }
        for (uint32_t c = 0; c < table->desc->column_count; c++)
            if (table->desc->columns[c].klass == PHX_CLASS_STATE) dump_grid(table, c, sink, user);
    }
}
