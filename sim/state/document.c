/* document.c: the schema as a page for people, generated from the same lines as everything else. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "state/diff.h"

static const char *const type_names[PHX_TYPE_COUNT] = {
#define TYPE_NAME(name, ctype, bytes, is_signed) #name,
    PHX_TYPE_LIST(TYPE_NAME)
#undef TYPE_NAME
};
static const char *const class_names[] = {"STATE", "DERIVED", "SCRATCH"};
static const char *const kind_names[] = {"rows", "child blocks", "grid"};

static void put(PhxDumpSink sink, void *user, const char *text) { sink(user, text, strlen(text)); }

static void format_bound(char *text, size_t size, const PhxColumnDesc *column, int64_t bound) {
    if (column->type == PHX_TYPE_FIX16) {
        const uint64_t magnitude = (uint64_t)(bound < 0 ? -bound : bound);
        const uint64_t scaled = (magnitude * 100000 + 32768) >> 16;
        snprintf(text, size, "%s%" PRIu64 ".%05" PRIu64, bound < 0 ? "-" : "", scaled / 100000,
                 scaled % 100000);
    } else if (phx_type_size(column->type) == 8) {
        snprintf(text, size, "any");
    } else {
        snprintf(text, size, "%" PRId64, bound);
    }
}

static void document_table(const PhxTableDesc *desc, PhxDumpSink sink, void *user) {
    char line[512];
    snprintf(line, sizeof line,
             "### %s (%s)\n\n%s.\n\n| column | type | lanes | class | low | high | meaning |\n"
             "| --- | --- | --- | --- | --- | --- | --- |\n",
             desc->name, kind_names[desc->kind], desc->doc);
    put(sink, user, line);
    for (uint32_t c = 0; c < desc->column_count; c++) {
        const PhxColumnDesc *column = &desc->columns[c];
        char low[32], high[32];
        format_bound(low, sizeof low, column, column->low);
        format_bound(high, sizeof high, column, column->high);
        snprintf(line, sizeof line, "| %s | %s | %u | %s | %s | %s | %s |\n", column->name,
                 type_names[column->type], column->lanes, class_names[column->klass], low, high,
                 column->unit);
        put(sink, user, line);
    }
    put(sink, user, "\n");
}

void phx_schema_document(const PhxTableSpec *specs, uint32_t count, PhxDumpSink sink, void *user) {
    for (uint32_t t = 0; t < count; t++) document_table(specs[t].desc, sink, user);
}
