/* schema.c: the engine's tables as descriptors, the check of a descriptor, and the hash of a schema.
 *
 * Determinism: the schema's hash is over names, kinds, types, lanes, classes and ranges in declared order,
 * each as canonical bytes; descriptions in words don't count.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/hash_stream.h"
#include "state/world.h"

#define PHX_TABLE_BEGIN(kind, name, Struct, doc) static const PhxColumnDesc name##_columns[] = {
#define PHX_COLUMN(type, name, lanes, klass, low, high, unit)                                                \
    {#name, PHX_TYPE_##type, lanes, PHX_CLASS_##klass, low, high, unit},
#define PHX_TABLE_END(name, Struct)                                                                          \
    }                                                                                                        \
    ;                                                                                                        \
    _Static_assert(sizeof(Struct) / sizeof(void *) == sizeof name##_columns / sizeof name##_columns[0],      \
                   "every member of " #Struct " is a column");
#include "tables/schema.def"

static const PhxTableDesc builtin[] = {
#define PHX_TABLE_BEGIN(kind, name, Struct, doc)                                                             \
    {#name, PHX_KIND_##kind, name##_columns, sizeof name##_columns / sizeof name##_columns[0], doc},
#define PHX_COLUMN(type, name, lanes, klass, low, high, unit)
#define PHX_TABLE_END(name, Struct)
#include "tables/schema.def"
};

_Static_assert(sizeof builtin / sizeof builtin[0] == PHX_TABLE_BUILTIN_COUNT, "one descriptor a table");

static const struct {
    uint8_t size;
    bool is_signed;
} types[PHX_TYPE_COUNT] = {
#define TYPE_ROW(name, ctype, bytes, is_signed) {bytes, is_signed},
    PHX_TYPE_LIST(TYPE_ROW)
#undef TYPE_ROW
};

#define TYPE_ASSERT(name, ctype, bytes, is_signed)                                                           \
    _Static_assert(sizeof(ctype) == bytes, #name " has its stated size");
PHX_TYPE_LIST(TYPE_ASSERT)
#undef TYPE_ASSERT

const PhxTableDesc *phx_schema_builtin(uint32_t table) { return &builtin[table]; }
uint32_t phx_type_size(PhxType type) { return types[type].size; }
bool phx_type_signed(PhxType type) { return types[type].is_signed; }

static bool name_is_good(const char *name) {
    if (!name || !*name || strlen(name) > 32) return false;
    for (const char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_')) return false;
    return true;
}

static bool range_is_good(const PhxColumnDesc *column) {
    if (column->low > column->high) return false;
    if (types[column->type].size == 8) return column->low == INT64_MIN && column->high == INT64_MAX;
    const unsigned bits = 8u * types[column->type].size;
    const int64_t low = types[column->type].is_signed ? -((int64_t)1 << (bits - 1)) : 0;
    const int64_t high =
        types[column->type].is_signed ? ((int64_t)1 << (bits - 1)) - 1 : ((int64_t)1 << bits) - 1;
    return column->low >= low && column->high <= high;
}

static bool starts_as_its_kind(const PhxTableDesc *desc) {
    static const char *const first[] = {"generation", "next"};
    static const PhxType first_type[] = {PHX_TYPE_U32, PHX_TYPE_HANDLE};
    const uint32_t wanted = desc->kind == PHX_KIND_ROWS ? 1 : desc->kind == PHX_KIND_CHILD ? 2 : 0;
    if (desc->column_count < wanted) return false;
    for (uint32_t i = 0; i < wanted; i++) {
        const PhxColumnDesc *column = &desc->columns[i];
        if (strcmp(column->name, first[i]) != 0 || column->type != first_type[i]) return false;
        if (column->lanes != 1 || column->klass != PHX_CLASS_STATE) return false;
    }
    return true;
}

PhxStatus phx_schema_check(const PhxTableDesc *desc, PhxError *error) {
    if (!desc || !name_is_good(desc->name))
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "a table's name is 1 to 32 of a-z, 0-9 and _");
    if (desc->column_count == 0 || desc->column_count > PHX_SCHEMA_COLUMN_LIMIT || !desc->columns)
        return phx_error_set(error, PHX_ERROR_LIMIT, 0, "table %s: 1 to %d columns", desc->name,
                             PHX_SCHEMA_COLUMN_LIMIT);
    if ((unsigned)desc->kind > PHX_KIND_GRID || !starts_as_its_kind(desc))
        return phx_error_set(
            error, PHX_ERROR_ARGUMENT, 0,
            "table %s: rows begin with U32 generation, child blocks with generation and HANDLE next",
            desc->name);
    for (uint32_t i = 0; i < desc->column_count; i++) {
        const PhxColumnDesc *column = &desc->columns[i];
        if (!name_is_good(column->name))
            return phx_error_set(error, PHX_ERROR_ARGUMENT, i, "table %s: column %u has a bad name",
                                 desc->name, i);
        if ((unsigned)column->type >= PHX_TYPE_COUNT || (unsigned)column->klass > PHX_CLASS_SCRATCH ||
            column->lanes == 0 || column->lanes > 256 ||
            (desc->kind == PHX_KIND_GRID && column->lanes != 1) || !range_is_good(column))
            return phx_error_set(error, PHX_ERROR_ARGUMENT, i,
                                 "column %s.%s: bad type, class, lanes or range", desc->name, column->name);
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(desc->columns[j].name, column->name) == 0)
                return phx_error_set(error, PHX_ERROR_ARGUMENT, i, "column %s.%s is declared twice",
                                     desc->name, column->name);
    }
    return PHX_OK;
}

static void feed_name(PhxHashStream *stream, const char *name) {
    phx_hash_stream_feed(stream, name, strlen(name) + 1);
}

static void feed_number(PhxHashStream *stream, uint64_t value) {
    uint8_t bytes[8];
    phx_store_u64(bytes, value);
    phx_hash_stream_feed(stream, bytes, sizeof bytes);
}

uint64_t phx_schema_hash(const PhxTableSpec *specs, uint32_t count) {
    PhxHashStream stream;
    phx_hash_stream_begin(&stream);
    for (uint32_t t = 0; t < count; t++) {
        const PhxTableDesc *desc = specs[t].desc;
        feed_name(&stream, desc->name);
        feed_number(&stream, (uint64_t)desc->kind);
        feed_number(&stream, desc->column_count);
        for (uint32_t c = 0; c < desc->column_count; c++) {
            const PhxColumnDesc *column = &desc->columns[c];
            feed_name(&stream, column->name);
            feed_number(&stream, (uint64_t)column->type);
            feed_number(&stream, column->lanes);
            feed_number(&stream, (uint64_t)column->klass);
            feed_number(&stream, (uint64_t)column->low);
            feed_number(&stream, (uint64_t)column->high);
        }
    }
    return phx_hash_stream_end(&stream);
}
