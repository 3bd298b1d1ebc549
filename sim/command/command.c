/* command.c: commands to bytes and back, expanded from command.def.
 *
 * In: bytes from anywhere. Out: values in their ranges, or a status that says what and where. Cost: linear in
 * the bytes; nothing is allocated. Determinism: pure functions of the bytes.
 */
#include <phalanx/command.h>

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "state/world.h"

typedef struct CommandDesc {
    uint8_t type;
    const char *name;
    bool host_only;
    unsigned lists; /* bits: what follows the fields, in this order */
} CommandDesc;

typedef struct FieldDesc {
    uint8_t command; /* type */
    const char *name;
    PhxType type;
    size_t offset; /* in PhxCommandData */
    int64_t low, high;
} FieldDesc;

enum { WHO_PLAYER = false, WHO_HOST = true };
enum { HAS_POINTS = 1, HAS_UNITS = 2 };
enum { LIST_ALONE = 0, LIST_UNITS = HAS_UNITS, LIST_POINTS = HAS_POINTS | HAS_UNITS };
enum { COORDINATE = 8192 << 16 }; /* of a point: below it, and not below its negative */

static const CommandDesc commands[] = {
#define PHX_COMMAND(TYPE, name, who, list) {PHX_COMMAND_##TYPE, #name, WHO_##who, LIST_##list},
#define PHX_FIELD(TYPE, member, type, low, high)
#include "command.def"
};

static const FieldDesc fields[] = {
#define PHX_COMMAND(TYPE, name, who, list)
#define PHX_FIELD(TYPE, member, type, low, high)                                                             \
    {PHX_COMMAND_##TYPE, #member, PHX_TYPE_##type, offsetof(PhxCommandData, member), low, high},
#include "command.def"
};

#define PHX_COMMAND(TYPE, name, who, list)
#define PHX_FIELD(TYPE, member, type, low, high)                                                             \
    _Static_assert(sizeof(((PhxCommandData *)0)->member) == sizeof(PhxTypeOf_##type),                        \
                   #member " has its type");
#include "command.def"

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0], FIELD_COUNT = sizeof fields / sizeof fields[0] };

static const CommandDesc *find_command(uint8_t type) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].type == type) return &commands[i];
    return NULL;
}

const char *phx_command_name(uint8_t type) {
    const CommandDesc *desc = find_command(type);
    return desc ? desc->name : "unknown";
}

/* The types of fields that there are; bytes and ranges are handled as 64-bit values. */
static int64_t load_member(const PhxCommandData *command, const FieldDesc *field) {
    const unsigned char *at = (const unsigned char *)command + field->offset;
    switch (field->type) {
#define LOAD_CASE(name, ctype, bytes, is_signed)                                                             \
    case PHX_TYPE_##name: {                                                                                  \
        ctype value;                                                                                         \
        memcpy(&value, at, sizeof value);                                                                    \
        return (int64_t)value;                                                                               \
    }
        PHX_TYPE_LIST(LOAD_CASE)
#undef LOAD_CASE
    case PHX_TYPE_COUNT:
        break;
    }
    return 0;
}

static void store_member(PhxCommandData *command, const FieldDesc *field, int64_t value) {
    unsigned char *at = (unsigned char *)command + field->offset;
    switch (field->type) {
#define STORE_CASE(name, ctype, bytes, is_signed)                                                            \
    case PHX_TYPE_##name: {                                                                                  \
        const ctype stored = (ctype)value;                                                                   \
        memcpy(at, &stored, sizeof stored);                                                                  \
        break;                                                                                               \
    }
        PHX_TYPE_LIST(STORE_CASE)
#undef STORE_CASE
    case PHX_TYPE_COUNT:
        break;
    }
}

static void write_value(PhxWriter *writer, PhxType type, int64_t value) {
    switch (phx_type_size(type)) {
    case 1:
        phx_write_u8(writer, (uint8_t)value);
        break;
    case 2:
        phx_write_u16(writer, (uint16_t)value);
        break;
    case 4:
        phx_write_u32(writer, (uint32_t)value);
        break;
    default:
        phx_write_u64(writer, (uint64_t)value);
        break;
    }
}

static int64_t read_value(PhxReader *reader, PhxType type) {
    switch (phx_type_size(type)) {
    case 1:
        return phx_read_u8(reader);
    case 2:
        return phx_read_u16(reader);
    case 4: {
        const uint32_t bits = phx_read_u32(reader);
        return phx_type_signed(type) ? (int64_t)(int32_t)bits : (int64_t)bits;
    }
    default:
        return (int64_t)phx_read_u64(reader);
    }
}

static bool is_coordinate(int64_t raw) { return raw >= -COORDINATE && raw < COORDINATE; }

static PhxStatus write_points(const PhxCommandData *command, PhxWriter *writer) {
    if (command->point_count < 1 || command->point_count > PHX_COMMAND_POINT_LIMIT) return PHX_ERROR_LIMIT;
    phx_write_u8(writer, command->point_count);
    for (uint32_t i = 0; i < command->point_count; i++) {
        const PhxCommandPoint *point = &command->points[i];
        if (!is_coordinate(point->x) || !is_coordinate(point->y)) return PHX_ERROR_RANGE;
        phx_write_u32(writer, (uint32_t)point->x);
        phx_write_u32(writer, (uint32_t)point->y);
        phx_write_u8(writer, point->weight);
    }
    return PHX_OK;
}

PhxStatus phx_command_encode(const PhxCommandData *command, void *buffer, size_t capacity, size_t *size) {
    const CommandDesc *desc = find_command(command->type);
    if (!desc) return PHX_ERROR_ARGUMENT;
    if ((desc->lists & HAS_UNITS) && command->unit_count > PHX_COMMAND_UNIT_LIMIT) return PHX_ERROR_LIMIT;
    PhxWriter writer = phx_writer_make(buffer, capacity);
    phx_write_u8(&writer, command->type);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (fields[i].command != command->type) continue;
        const int64_t value = load_member(command, &fields[i]);
        if (value < fields[i].low || value > fields[i].high) return PHX_ERROR_RANGE;
        write_value(&writer, fields[i].type, value);
    }
    if (desc->lists & HAS_POINTS) {
        const PhxStatus status = write_points(command, &writer);
        if (status != PHX_OK) return status;
    }
    if (desc->lists & HAS_UNITS) {
        phx_write_u16(&writer, command->unit_count);
        for (uint32_t i = 0; i < command->unit_count; i++) phx_write_u64(&writer, command->units[i]);
    }
    *size = writer.at;
    return writer.status;
}

static PhxStatus decode_fields(PhxReader *reader, PhxCommandData *out, PhxError *error) {
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (fields[i].command != out->type) continue;
        const uint64_t offset = reader->at;
        const int64_t value = read_value(reader, fields[i].type);
        if (reader->status != PHX_OK) break;
        if (value < fields[i].low || value > fields[i].high)
            return phx_error_set(error, PHX_ERROR_RANGE, offset,
                                 "command %s: %s is %" PRId64 ", its range is %" PRId64 " to %" PRId64,
                                 phx_command_name(out->type), fields[i].name, value, fields[i].low,
                                 fields[i].high);
        store_member(out, &fields[i], value);
    }
    if (reader->status != PHX_OK)
        return phx_error_set(error, reader->status, reader->at, "command %s is cut short",
                             phx_command_name(out->type));
    return PHX_OK;
}

static PhxStatus decode_points(PhxReader *reader, PhxCommandData *out, PhxError *error) {
    const uint8_t count = phx_read_u8(reader);
    if (reader->status == PHX_OK && (count < 1 || count > PHX_COMMAND_POINT_LIMIT))
        return phx_error_set(error, PHX_ERROR_LIMIT, reader->at,
                             "command %s names %u points; 1 to %d are allowed", phx_command_name(out->type),
                             count, PHX_COMMAND_POINT_LIMIT);
    for (uint32_t i = 0; i < count && reader->status == PHX_OK; i++) {
        const uint64_t offset = reader->at;
        PhxCommandPoint *point = &out->points[i];
        point->x = (fix16_t)phx_read_u32(reader);
        point->y = (fix16_t)phx_read_u32(reader);
        point->weight = phx_read_u8(reader);
        if (!is_coordinate(point->x) || !is_coordinate(point->y))
            return phx_error_set(error, PHX_ERROR_RANGE, offset,
                                 "command %s: point %u is not within 8192 units", phx_command_name(out->type),
                                 i);
    }
    if (reader->status != PHX_OK)
        return phx_error_set(error, reader->status, reader->at, "command %s is cut short",
                             phx_command_name(out->type));
    out->point_count = count;
    return PHX_OK;
}

PhxStatus phx_command_decode(const void *bytes, size_t size, PhxCommandData *out, PhxError *error) {
    PhxReader reader = phx_reader_make(bytes, size);
    *out = (PhxCommandData){.type = phx_read_u8(&reader)};
    if (reader.status != PHX_OK)
        return phx_error_set(error, reader.status, 0, "a command has at least one byte");
    const CommandDesc *desc = find_command(out->type);
    if (!desc) return phx_error_set(error, PHX_ERROR_FORMAT, 0, "there is no command of type %u", out->type);
    PhxStatus status = decode_fields(&reader, out, error);
    if (status == PHX_OK && (desc->lists & HAS_POINTS)) status = decode_points(&reader, out, error);
    if (status != PHX_OK) return status;
    if (desc->lists & HAS_UNITS) {
        out->unit_count = phx_read_u16(&reader);
        if (out->unit_count > PHX_COMMAND_UNIT_LIMIT)
            return phx_error_set(error, PHX_ERROR_LIMIT, reader.at, "command %s names %u units, at most %d",
                                 desc->name, out->unit_count, PHX_COMMAND_UNIT_LIMIT);
        out->unit_bytes = phx_read_span(&reader, (size_t)8 * out->unit_count);
    }
    status = phx_reader_finish(&reader);
    if (status != PHX_OK)
        return phx_error_set(error, status, reader.at, "command %s: %s", desc->name, phx_status_text(status));
    return PHX_OK;
}

PhxHandle phx_command_unit(const PhxCommandData *command, uint32_t i) {
    PhxReader reader = phx_reader_make(command->unit_bytes + (size_t)8 * i, 8);
    return phx_read_u64(&reader);
}

PhxStatus phx_command_check(const void *bytes, size_t size, uint8_t slot, PhxError *error) {
    if (size == 0 || size > PHX_COMMAND_SIZE_LIMIT)
        return phx_error_set(error, PHX_ERROR_LIMIT, 0, "a command has 1 to %d bytes, not %zu",
                             PHX_COMMAND_SIZE_LIMIT, size);
    if (slot != PHX_SLOT_HOST && slot >= PHX_PLAYER_LIMIT)
        return phx_error_set(error, PHX_ERROR_STATE, 0, "slot %u is no player's", slot);
    if (*(const uint8_t *)bytes >= PHX_COMMAND_GAME_FIRST) return PHX_OK;
    PhxCommandData command;
    const PhxStatus status = phx_command_decode(bytes, size, &command, error);
    if (status != PHX_OK) return status;
    if (find_command(command.type)->host_only != (slot == PHX_SLOT_HOST))
        return phx_error_set(error, PHX_ERROR_STATE, 0, "slot %u may not give the command %s", slot,
                             phx_command_name(command.type));
    return PHX_OK;
}
