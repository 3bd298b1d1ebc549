/* codec.c: see codec.h. Cost: one copy of the used rows; decoding adds one pass of range checks. */
#include "state/codec.h"

#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "canonical.h"
#include "state/hash.h"

static const uint8_t magic[4] = {'P', 'H', 'X', 'S'};

static bool saved(const PhxColumnDesc *column) { return column->klass == PHX_CLASS_STATE; }

static size_t used_bytes(const PhxTable *table, uint32_t column) {
    const PhxColumnDesc *desc = &table->desc->columns[column];
    return (size_t)table->used * desc->lanes * phx_type_size(desc->type);
}

static bool is_grid(const PhxTable *table) { return table->desc->kind == PHX_KIND_GRID; }

static bool is_even(const PhxTable *table, uint32_t column) {
    const size_t size = phx_type_size(table->desc->columns[column].type), bytes = used_bytes(table, column);
    const unsigned char *cells = table->columns[column];
    return memcmp(cells, cells + size, bytes - size) == 0; /* each cell equals the next */
}

static size_t encoded_bytes(const PhxTable *table, uint32_t column) {
    if (!is_grid(table)) return used_bytes(table, column);
    return 1 + (is_even(table, column) ? phx_type_size(table->desc->columns[column].type)
                                       : used_bytes(table, column));
}

size_t phx_world_encoded_size(const PhxWorld *world) {
    size_t size = PHX_CODEC_HEADER_BYTES + 8;
    for (uint32_t t = 0; t < world->table_count; t++) {
        const PhxTable *table = &world->tables[t];
        size += PHX_CODEC_TABLE_BYTES;
        for (uint32_t c = 0; c < table->desc->column_count; c++)
            if (saved(&table->desc->columns[c])) size += encoded_bytes(table, c);
    }
    return size;
}

static void encode_column(const PhxTable *table, uint32_t column, PhxWriter *writer) {
    const uint32_t size = phx_type_size(table->desc->columns[column].type);
    const bool even = is_grid(table) && is_even(table, column);
    const size_t bytes = even ? size : used_bytes(table, column);
    if (is_grid(table)) phx_write_u8(writer, even ? PHX_CODEC_EVEN : PHX_CODEC_CELLS);
    if (writer->status != PHX_OK || bytes > writer->capacity - writer->at) {
        if (writer->status == PHX_OK) writer->status = PHX_ERROR_FULL;
        return;
    }
    if (writer->data) canonical_copy(writer->data + writer->at, table->columns[column], bytes / size, size);
    writer->at += bytes;
}

void phx_world_encode(const PhxWorld *world, uint64_t root, PhxWriter *writer) {
    phx_write_bytes(writer, magic, sizeof magic);
    phx_write_u16(writer, PHX_CODEC_VERSION);
    phx_write_u16(writer, (uint16_t)world->table_count);
    phx_write_u64(writer, world->schema_hash);
    for (uint32_t t = 0; t < world->table_count; t++) {
        const PhxTable *table = &world->tables[t];
        phx_write_u32(writer, world->specs[t].rows);
        phx_write_u32(writer, world->specs[t].width);
        phx_write_u32(writer, world->specs[t].height);
        phx_write_u32(writer, table->used);
        for (uint32_t c = 0; c < table->desc->column_count; c++)
            if (saved(&table->desc->columns[c])) encode_column(table, c, writer);
    }
    phx_write_u64(writer, root);
}

static PhxStatus decode_header(const PhxWorld *world, PhxReader *reader, PhxError *error) {
    const uint8_t *found = phx_read_span(reader, sizeof magic);
    const uint16_t version = phx_read_u16(reader);
    const uint16_t tables = phx_read_u16(reader);
    const uint64_t schema = phx_read_u64(reader);
    if (reader->status != PHX_OK)
        return phx_error_set(error, reader->status, reader->at, "a snapshot's header is cut short");
    if (memcmp(found, magic, sizeof magic) != 0)
        return phx_error_set(error, PHX_ERROR_FORMAT, reader->at,
                             "not a snapshot: it does not begin with PHXS");
    if (version != PHX_CODEC_VERSION)
        return phx_error_set(error, PHX_ERROR_VERSION, reader->at, "snapshot version %u; this build reads %d",
                             version, PHX_CODEC_VERSION);
    if (tables != world->table_count || schema != world->schema_hash)
        return phx_error_set(error, PHX_ERROR_MISMATCH, reader->at,
                             "snapshot of another schema (%016" PRIx64 " with %u tables; here %016" PRIx64
                             " with %u)",
                             schema, tables, world->schema_hash, world->table_count);
    return PHX_OK;
}

/* The first of `count` elements from `at` on that is outside of its column's range, or `count`. */
static size_t first_out_of_range(const PhxTable *table, uint32_t column, size_t at, size_t count) {
    const PhxColumnDesc *desc = &table->desc->columns[column];
    switch (desc->type) {
    case PHX_TYPE_U64:
    case PHX_TYPE_HANDLE:
    case PHX_TYPE_COUNT:
        return count; /* every value is in range */
#define SCAN_CASE(name, ctype)                                                                               \
    case PHX_TYPE_##name: {                                                                                  \
        const ctype *values = (const ctype *)table->columns[column] + at;                                    \
        for (size_t i = 0; i < count; i++)                                                                   \
            if (values[i] < desc->low || values[i] > desc->high) return i;                                   \
        return count;                                                                                        \
    }
        SCAN_CASE(U8, uint8_t)
        SCAN_CASE(U16, uint16_t)
        SCAN_CASE(U32, uint32_t)
        SCAN_CASE(I32, int32_t)
        SCAN_CASE(FIX16, fix16_t)
        SCAN_CASE(ANGLE, uint16_t)
#undef SCAN_CASE
    }
    return count;
}

/* The first of a dead row's elements that isn't zero, or `lanes`. */
static size_t first_not_zero(const PhxTable *table, uint32_t column, uint32_t row, size_t lanes) {
    size_t lane = 0;
    while (lane < lanes && phx_table_get(table, column, row, (uint32_t)lane) == 0) lane++;
    return lane;
}

static PhxStatus refuse_value(const PhxTable *table, uint32_t column, uint32_t row, uint32_t lane, bool alive,
                              uint64_t offset, PhxError *error) {
    const PhxColumnDesc *desc = &table->desc->columns[column];
    return phx_error_set(
        error, PHX_ERROR_RANGE, offset, "%s[%u].%s[%u] is %" PRId64 ": %s %" PRId64 " to %" PRId64 " (%s)",
        table->desc->name, row, desc->name, lane, (int64_t)phx_table_get(table, column, row, lane),
        alive ? "its range is" : "a dead row is zero, not in", desc->low, desc->high, desc->unit);
}

/* Every living value in its range, every dead one zero. */
static PhxStatus check_column(const PhxTable *table, uint32_t column, uint64_t offset, PhxError *error) {
    const size_t lanes = table->desc->columns[column].lanes;
    if (table->desc->kind == PHX_KIND_GRID) {
        const size_t bad = first_out_of_range(table, column, 0, table->used);
        return bad == table->used ? PHX_OK
                                  : refuse_value(table, column, (uint32_t)bad, 0, true, offset, error);
    }
    if (column == 0) return PHX_OK; /* a generation is right as it is */
    for (uint32_t row = 0; row < table->used; row++) {
        const bool alive = phx_generation_alive(table->generation[row]);
        const size_t bad = alive ? first_out_of_range(table, column, row * lanes, lanes)
                                 : first_not_zero(table, column, row, lanes);
        if (bad != lanes) return refuse_value(table, column, row, (uint32_t)bad, alive, offset, error);
    }
    return PHX_OK;
}

static PhxStatus refuse_form(const PhxTable *table, uint32_t column, uint64_t offset, PhxError *error) {
    return phx_error_set(error, PHX_ERROR_FORMAT, offset,
                         "%s.%s is not in the one form that a grid's column has: one value where all cells "
                         "are equal, else all cells",
                         table->desc->name, table->desc->columns[column].name);
}

/* The cells of a grid's column, in the one form that they are written in. */
static PhxStatus decode_cells(PhxTable *table, uint32_t column, PhxReader *reader, PhxError *error) {
    const uint32_t size = phx_type_size(table->desc->columns[column].type);
    const uint64_t offset = reader->at;
    const uint8_t form = phx_read_u8(reader);
    const uint8_t *bytes = phx_read_span(reader, form == PHX_CODEC_EVEN ? size : used_bytes(table, column));
    if (!bytes)
        return phx_error_set(error, reader->status, reader->at, "cut short in %s.%s", table->desc->name,
                             table->desc->columns[column].name);
    unsigned char *cells = table->columns[column];
    if (form == PHX_CODEC_EVEN) {
        canonical_copy(cells, bytes, 1, size);
        for (size_t c = 1; c < table->used; c++) memcpy(cells + c * size, cells, size);
        return PHX_OK;
    }
    canonical_copy(cells, bytes, table->used, size);
    return form == PHX_CODEC_CELLS && !is_even(table, column) ? PHX_OK
                                                              : refuse_form(table, column, offset, error);
}

static PhxStatus decode_rows(PhxTable *table, uint32_t column, PhxReader *reader, PhxError *error) {
    const PhxColumnDesc *desc = &table->desc->columns[column];
    const uint8_t *bytes = phx_read_span(reader, used_bytes(table, column));
    if (!bytes)
        return phx_error_set(error, reader->status, reader->at, "cut short in %s.%s", table->desc->name,
                             desc->name);
    canonical_copy(table->columns[column], bytes, (size_t)table->used * desc->lanes,
                   phx_type_size(desc->type));
    return PHX_OK;
}

static PhxStatus decode_table(PhxWorld *world, uint32_t t, PhxReader *reader, PhxError *error) {
    PhxTable *table = &world->tables[t];
    const PhxTableSpec *spec = &world->specs[t];
    const uint32_t rows = phx_read_u32(reader), width = phx_read_u32(reader), height = phx_read_u32(reader);
    const uint32_t used = phx_read_u32(reader);
    if (reader->status == PHX_OK && (rows != spec->rows || width != spec->width || height != spec->height))
        return phx_error_set(
            error, PHX_ERROR_MISMATCH, reader->at,
            "table %s holds %u rows, %u x %u cells; this world's holds %u rows, %u x %u cells",
            table->desc->name, rows, width, height, spec->rows, spec->width, spec->height);
    if (reader->status == PHX_OK && (used > table->capacity || (width != 0 && used != table->capacity)))
        return phx_error_set(error, PHX_ERROR_FORMAT, reader->at, "table %s uses %u of %u rows",
                             table->desc->name, used, table->capacity);
    table->used = used;
    for (uint32_t c = 0; c < table->desc->column_count; c++) {
        if (!saved(&table->desc->columns[c])) continue;
        const uint64_t offset = reader->at;
        PhxStatus status =
            is_grid(table) ? decode_cells(table, c, reader, error) : decode_rows(table, c, reader, error);
        if (status == PHX_OK) status = check_column(table, c, offset, error);
        if (status != PHX_OK) return status;
    }
    if (width == 0 && used > 0 && table->generation[used - 1] == 0)
        return phx_error_set(error, PHX_ERROR_FORMAT, reader->at,
                             "table %s: its last used row was never used", table->desc->name);
    return PHX_OK;
}

PhxStatus phx_world_decode(PhxWorld *world, PhxReader *reader, uint64_t *root, PhxError *error) {
    phx_world_clear(world);
    PhxStatus status = decode_header(world, reader, error);
    for (uint32_t t = 0; t < world->table_count && status == PHX_OK; t++)
        status = decode_table(world, t, reader, error);
    if (status == PHX_OK) {
        const uint64_t wanted = phx_read_u64(reader);
        phx_world_rederive(world);
        *root = phx_world_hash(world, NULL);
        if (reader->status != PHX_OK)
            status = phx_error_set(error, reader->status, reader->at, "the snapshot's root hash is missing");
        else if (*root != wanted)
            status = phx_error_set(error, PHX_ERROR_MISMATCH, reader->at,
                                   "the snapshot says root %016" PRIx64 ", its state has %016" PRIx64, wanted,
                                   *root);
    }
    if (status != PHX_OK) phx_world_clear(world);
    return status;
}
