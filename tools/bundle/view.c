/* view.c: see view.h. The layout read here is that of sim/state/codec.c. */
#include "bundle/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash_stream.h"
#include "state/codec.h"
#include "step/sim_internal.h"

static const PhxTable *table_of(const PhxSim *sim, uint32_t table) { return &sim->world->tables[table]; }

static PhxStatus read_header(const PhxSim *sim, PhxReader *reader, PhxError *error) {
    const uint8_t *magic = phx_read_span(reader, 4);
    const uint16_t version = phx_read_u16(reader), tables = phx_read_u16(reader);
    const uint64_t schema = phx_read_u64(reader);
    if (reader->status != PHX_OK)
        return phx_error_set(error, reader->status, reader->at, "a snapshot's header is cut short");
    if (memcmp(magic, "PHXS", 4) != 0)
        return phx_error_set(error, PHX_ERROR_FORMAT, 0, "not a snapshot: it does not begin with PHXS");
    if (version != PHX_CODEC_VERSION)
        return phx_error_set(error, PHX_ERROR_VERSION, 4, "snapshot version %u; this build reads %d", version,
                             PHX_CODEC_VERSION);
    if (tables != sim->world->table_count || schema != sim->world->schema_hash)
        return phx_error_set(error, PHX_ERROR_MISMATCH, 8, "snapshot of another schema (%016" PRIx64 ")",
                             schema);
    return PHX_OK;
}

static bool is_grid(const PhxTable *table) { return table->desc->kind == PHX_KIND_GRID; }

/* Bytes of the values of a column of `used` rows; 0 for what isn't saved. `form`: of a grid's. */
static size_t column_bytes(const PhxTable *table, uint32_t column, uint32_t used, uint8_t form) {
    const PhxColumnDesc *desc = &table->desc->columns[column];
    if (desc->klass != PHX_CLASS_STATE) return 0;
    const uint32_t rows = is_grid(table) && form == PHX_CODEC_EVEN ? 1 : used;
    return (size_t)rows * desc->lanes * phx_type_size(desc->type);
}

/* Passes a column, which is all there or stops the reader. False: of a form that there isn't. */
static bool pass_column(const PhxTable *table, uint32_t column, uint32_t used, PhxReader *reader) {
    const bool has_form = is_grid(table) && table->desc->columns[column].klass == PHX_CLASS_STATE;
    const uint8_t form = has_form ? phx_read_u8(reader) : PHX_CODEC_CELLS;
    (void)phx_read_span(reader, column_bytes(table, column, used, form));
    return form == PHX_CODEC_EVEN || form == PHX_CODEC_CELLS;
}

PhxStatus phx_state_view(const PhxSim *sim, const void *bytes, size_t size, PhxStateView *out,
                         PhxError *error) {
    *out = (PhxStateView){.sim = sim, .bytes = bytes, .size = size, .tables = sim->world->table_count};
    PhxReader reader = phx_reader_make(bytes, size);
    const PhxStatus status = read_header(sim, &reader, error);
    if (status != PHX_OK) return status;
    for (uint32_t t = 0; t < out->tables && reader.status == PHX_OK; t++) {
        const PhxTable *table = table_of(sim, t);
        const PhxTableSpec *spec = &sim->world->specs[t];
        const uint32_t rows = phx_read_u32(&reader), width = phx_read_u32(&reader),
                       height = phx_read_u32(&reader), used = phx_read_u32(&reader);
        if (reader.status != PHX_OK) break;
        if (rows != spec->rows || width != spec->width || height != spec->height || used > table->capacity)
            return phx_error_set(error, PHX_ERROR_MISMATCH, reader.at, "table %s has another capacity",
                                 table->desc->name);
        out->used[t] = used;
        out->columns_at[t] = reader.at;
        for (uint32_t c = 0; c < table->desc->column_count; c++)
            if (!pass_column(table, c, used, &reader))
                return phx_error_set(error, PHX_ERROR_FORMAT, reader.at, "%s.%s has a form that there isn't",
                                     table->desc->name, table->desc->columns[c].name);
    }
    out->root = phx_read_u64(&reader);
    const PhxStatus end = phx_reader_finish(&reader);
    return end == PHX_OK ? PHX_OK : phx_error_set(error, end, reader.at, "a snapshot of another length");
}

uint32_t phx_state_columns(const PhxStateView *view, uint32_t table) {
    return table < view->tables ? table_of(view->sim, table)->desc->column_count : 0;
}

const PhxColumnDesc *phx_state_column(const PhxSim *sim, uint32_t table, uint32_t column) {
    if (table >= sim->world->table_count) return NULL;
    const PhxTableDesc *desc = table_of(sim, table)->desc;
    return column < desc->column_count ? &desc->columns[column] : NULL;
}

uint64_t phx_state_cells(const PhxStateView *view, uint32_t table, uint32_t column) {
    const PhxColumnDesc *desc = phx_state_column(view->sim, table, column);
    if (!desc || desc->klass != PHX_CLASS_STATE) return 0;
    return (uint64_t)table_of(view->sim, table)->capacity * desc->lanes;
}

/* The saved elements of a column. */
typedef struct Cells {
    const uint8_t *bytes;
    uint64_t count; /* those behind are zero */
    uint32_t size;
    bool is_signed, even; /* even: one lies there for all */
} Cells;

static Cells cells_of(const PhxStateView *view, uint32_t table, uint32_t column) {
    const PhxColumnDesc *desc = phx_state_column(view->sim, table, column);
    if (!desc || desc->klass != PHX_CLASS_STATE) return (Cells){.size = 1};
    const PhxTable *of = table_of(view->sim, table);
    const uint32_t used = view->used[table];
    PhxReader reader = phx_reader_make(view->bytes, view->size); /* all that it passes was passed before */
    reader.at = view->columns_at[table];
    for (uint32_t c = 0; c < column; c++) (void)pass_column(of, c, used, &reader);
    const bool even = is_grid(of) && phx_read_u8(&reader) == PHX_CODEC_EVEN;
    return (Cells){.bytes = view->bytes + reader.at,
                   .count = (uint64_t)used * desc->lanes,
                   .size = phx_type_size(desc->type),
                   .is_signed = phx_type_signed(desc->type),
                   .even = even};
}

static uint64_t cell_value(const Cells *cells, uint64_t cell) {
    if (cell >= cells->count) return 0;
    const uint8_t *from = cells->bytes + (cells->even ? 0 : cell * cells->size);
    uint64_t bits = 0;
    for (uint32_t b = 0; b < cells->size; b++) bits |= (uint64_t)from[b] << (8 * b);
    if (cells->is_signed && cells->size < 8 && bits >> (8 * cells->size - 1))
        bits |= UINT64_MAX << (8 * cells->size);
    return bits;
}

uint64_t phx_state_value(const PhxStateView *view, uint32_t table, uint32_t column, uint64_t cell) {
    const Cells cells = cells_of(view, table, column);
    return cell_value(&cells, cell);
}

uint64_t phx_state_hash(const PhxStateView *view, uint32_t table, uint32_t column, uint64_t first,
                        uint64_t count) {
    const Cells cells = cells_of(view, table, column);
    const uint64_t all = phx_state_cells(view, table, column);
    const uint64_t left = first < all ? all - first : 0, end = first + (count < left ? count : left);
    PhxHashStream stream;
    uint8_t bytes[8 * 64];
    size_t filled = 0;
    phx_hash_stream_begin(&stream);
    for (uint64_t cell = first; cell < end; cell++) {
        phx_store_u64(bytes + filled, cell_value(&cells, cell));
        filled += 8;
        if (filled < sizeof bytes) continue;
        phx_hash_stream_feed(&stream, bytes, filled);
        filled = 0;
    }
    phx_hash_stream_feed(&stream, bytes, filled);
    return phx_hash_stream_end(&stream);
}

void phx_state_cell_words(const PhxSim *sim, uint32_t table, uint32_t column, uint32_t cell, char *text,
                          size_t size) {
    const PhxColumnDesc *desc = phx_state_column(sim, table, column);
    if (!desc) {
        snprintf(text, size, "table %" PRIu32 ", column %" PRIu32, table, column);
        return;
    }
    const PhxTable *of = table_of(sim, table);
    const char *name = of->desc->name;
    const uint32_t row = cell / desc->lanes;
    if (is_grid(of) && of->width != 0)
        snprintf(text, size, "%s.%s of cell (%" PRIu32 ", %" PRIu32 ")", name, desc->name, row % of->width,
                 row / of->width);
    else if (desc->lanes > 1)
        snprintf(text, size, "%s.%s[%" PRIu32 "] of %s %" PRIu32, name, desc->name, cell % desc->lanes, name,
                 row);
    else
        snprintf(text, size, "%s.%s of %s %" PRIu32, name, desc->name, name, row);
}

void phx_state_value_words(const PhxSim *sim, uint32_t table, uint32_t column, uint64_t value, char *text,
                           size_t size) {
    const PhxColumnDesc *desc = phx_state_column(sim, table, column);
    const uint32_t bytes = desc ? phx_type_size(desc->type) : 8;
    const uint64_t mask = bytes < 8 ? (UINT64_C(1) << (8 * bytes)) - 1 : UINT64_MAX;
    snprintf(text, size, "0x%0*" PRIx64, (int)(2 * bytes), value & mask);
}
