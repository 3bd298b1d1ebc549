/* diff.h: what differs between two worlds, and what a world holds, in words. */
#ifndef PHX_STATE_DIFF_H
#define PHX_STATE_DIFF_H

#include "state/world.h"

typedef struct PhxValueDifference {
    const char *table, *column;
    uint32_t table_index, column_index, row, lane;
    uint64_t left, right; /* raw bits, sign-extended */
} PhxValueDifference;

/* Compares the STATE of two worlds of one schema, in schema order, rows ascending; fills at most `capacity`
 * entries and returns how many differences there are. Rows beyond one side's `used` count as zero there. */
uint32_t phx_world_diff(const PhxWorld *left, const PhxWorld *right, PhxValueDifference *out,
                        uint32_t capacity);

typedef void (*PhxDumpSink)(void *user, const char *text, size_t length);

/* "unit[3].pos_x = 12.5 (0x000c8000)", a line a value of a living row; a grid as runs of equal cells of a
 * row. */
void phx_world_dump(const PhxWorld *world, PhxDumpSink sink, void *user);

/* The documentation table of a schema as Markdown, one section a table. */
void phx_schema_document(const PhxTableSpec *specs, uint32_t count, PhxDumpSink sink, void *user);

#endif
