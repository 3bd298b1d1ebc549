/* message.c: the codec, expanded from messages.def. Each kind of field has one writer and one reader below;
 * the manifest does the rest, so that encoder and decoder cannot disagree about a field. */
#include "wire/message.h"

#include <string.h>

static const char *const message_names[] = {
    "NONE",
#define PHX_MESSAGE(name, NAME) #NAME,
#define PHX_FIELD(name, KIND, field)
#define PHX_MESSAGE_END(name)
#include "wire/messages.def"
};
_Static_assert(sizeof message_names / sizeof message_names[0] == PHX_MESSAGE_COUNT,
               "a name for each message");

const char *phx_message_name(PhxMessageType type) {
    return (unsigned)type < PHX_MESSAGE_COUNT ? message_names[type] : "UNKNOWN";
}

/* Fixed-width kinds. */
static void write_U8(PhxWriter *writer, uint8_t value) { phx_write_u8(writer, value); }
static void write_U16(PhxWriter *writer, uint16_t value) { phx_write_u16(writer, value); }
static void write_U32(PhxWriter *writer, uint32_t value) { phx_write_u32(writer, value); }
static void write_U64(PhxWriter *writer, uint64_t value) { phx_write_u64(writer, value); }
static uint8_t read_U8(PhxReader *reader) { return phx_read_u8(reader); }
static uint16_t read_U16(PhxReader *reader) { return phx_read_u16(reader); }
static uint32_t read_U32(PhxReader *reader) { return phx_read_u32(reader); }
static uint64_t read_U64(PhxReader *reader) { return phx_read_u64(reader); }

static void writer_fail(PhxWriter *writer, PhxStatus status) {
    if (writer->status == PHX_OK) writer->status = status;
}

/* A varint that must not exceed `limit`. */
static uint32_t read_bounded(PhxReader *reader, uint32_t limit) {
    const uint64_t value = phx_read_varint(reader);
    if (value <= limit) return (uint32_t)value;
    phx_reader_fail(reader, PHX_ERROR_LIMIT);
    return 0;
}

static void write_TEXT(PhxWriter *writer, PhxText text) {
    if (text.size > PHX_NET_TEXT_MAX) writer_fail(writer, PHX_ERROR_LIMIT);
    phx_write_varint(writer, text.size);
    phx_write_bytes(writer, text.data, text.size);
}

static PhxText read_TEXT(PhxReader *reader) {
    const uint32_t size = read_bounded(reader, PHX_NET_TEXT_MAX);
    const uint8_t *data = phx_read_span(reader, size);
    return (PhxText){data, data ? size : 0};
}

static void write_BYTES(PhxWriter *writer, PhxBytes bytes) {
    if (bytes.size > PHX_NET_STATE_PIECE_MAX) writer_fail(writer, PHX_ERROR_LIMIT);
    phx_write_varint(writer, bytes.size);
    phx_write_bytes(writer, bytes.data, bytes.size);
}

static PhxBytes read_BYTES(PhxReader *reader) {
    const uint32_t size = read_bounded(reader, PHX_NET_STATE_PIECE_MAX);
    const uint8_t *data = phx_read_span(reader, size);
    return (PhxBytes){data, data ? size : 0};
}

static void write_U64S(PhxWriter *writer, PhxU64s values) {
    if (values.count > PHX_NET_HASH_BATCH) writer_fail(writer, PHX_ERROR_LIMIT);
    phx_write_varint(writer, values.count);
    phx_write_bytes(writer, values.data, (size_t)values.count * 8);
}

static PhxU64s read_U64S(PhxReader *reader) {
    const uint32_t count = read_bounded(reader, PHX_NET_HASH_BATCH);
    const uint8_t *data = phx_read_span(reader, (size_t)count * 8);
    return (PhxU64s){data, data ? count : 0};
}

static void write_COMMANDS(PhxWriter *writer, PhxCommands commands) {
    if (commands.count > PHX_WIRE_COMMANDS_MAX) writer_fail(writer, PHX_ERROR_LIMIT);
    phx_write_varint(writer, commands.count);
    phx_write_bytes(writer, commands.data, commands.size);
}

static PhxCommands read_COMMANDS(PhxReader *reader) {
    const uint32_t count = read_bounded(reader, PHX_WIRE_COMMANDS_MAX);
    const size_t begin = reader->at;
    for (uint32_t i = 0; i < count && reader->status == PHX_OK; i++) {
        PhxNetCommand command;
        phx_wire_command_read(reader, &command);
    }
    if (reader->status != PHX_OK) return (PhxCommands){NULL, 0, 0};
    return (PhxCommands){reader->data + begin, (uint32_t)(reader->at - begin), count};
}

void phx_wire_command_write(PhxWriter *writer, const PhxNetCommand *command) {
    phx_write_u8(writer, (uint8_t)command->tick);
    phx_write_u8(writer, command->slot);
    phx_write_varint(writer, command->sequence);
    phx_write_varint(writer, command->size);
    phx_write_bytes(writer, command->bytes, command->size);
}

void phx_wire_command_read(PhxReader *reader, PhxNetCommand *out) {
    out->tick = phx_read_u8(reader);
    out->slot = phx_read_u8(reader);
    out->sequence = read_bounded(reader, UINT32_MAX);
    out->size = (uint16_t)read_bounded(reader, PHX_NET_COMMAND_MAX);
    out->bytes = phx_read_span(reader, out->size);
    const bool slot_ok = out->slot < PHX_NET_PLAYERS_MAX || out->slot == PHX_NET_HOST_SLOT;
    if (out->tick >= PHX_NET_TICKS_PER_TURN_MAX || !slot_ok || out->size == 0)
        phx_reader_fail(reader, PHX_ERROR_RANGE);
}

/* One function a message each way, so that each has its fields in the manifest's order. */
#define PHX_MESSAGE(name, NAME)                                                                              \
    static void encode_##name(PhxWriter *writer, const PhxMessage *message) {                                \
        (void)message;                                                                                       \
        phx_write_u8(writer, PHX_MESSAGE_##NAME);
#define PHX_FIELD(name, KIND, field) write_##KIND(writer, message->name.field);
#define PHX_MESSAGE_END(name)        }
#include "wire/messages.def"

#define PHX_MESSAGE(name, NAME)                                                                              \
    static void decode_##name(PhxReader *reader, PhxMessage *message) {                                      \
        (void)reader;                                                                                        \
        message->name.end_ = 0;
#define PHX_FIELD(name, KIND, field) message->name.field = read_##KIND(reader);
#define PHX_MESSAGE_END(name)        }
#include "wire/messages.def"

void phx_message_encode(PhxWriter *writer, const PhxMessage *message) {
    switch (message->type) {
#define PHX_MESSAGE(name, NAME)                                                                              \
    case PHX_MESSAGE_##NAME:                                                                                 \
        encode_##name(writer, message);                                                                      \
        break;
#define PHX_FIELD(name, KIND, field)
#define PHX_MESSAGE_END(name)
#include "wire/messages.def"
    case PHX_MESSAGE_NONE:
    case PHX_MESSAGE_COUNT:
        writer_fail(writer, PHX_ERROR_ARGUMENT);
    }
}

static void decode_fields(PhxReader *reader, PhxMessage *message) {
    switch (message->type) {
#define PHX_MESSAGE(name, NAME)                                                                              \
    case PHX_MESSAGE_##NAME:                                                                                 \
        decode_##name(reader, message);                                                                      \
        break;
#define PHX_FIELD(name, KIND, field)
#define PHX_MESSAGE_END(name)
#include "wire/messages.def"
    case PHX_MESSAGE_NONE:
    case PHX_MESSAGE_COUNT:
        phx_reader_fail(reader, PHX_ERROR_FORMAT);
    }
}

/* A HELLO of another protocol may look otherwise behind its version, so the version is looked at first. */
static bool foreign_hello(const uint8_t *data, size_t size, PhxMessage *out) {
    PhxReader reader = phx_reader_make(data, size);
    if (phx_read_u8(&reader) != PHX_MESSAGE_HELLO) return false;
    const uint32_t protocol = phx_read_u32(&reader);
    if (reader.status != PHX_OK || protocol == PHX_NET_PROTOCOL) return false;
    out->type = PHX_MESSAGE_HELLO;
    out->hello.protocol = protocol;
    return true;
}

PhxStatus phx_message_decode(const uint8_t *data, size_t size, PhxMessage *out, PhxError *error) {
    memset(out, 0, sizeof *out);
    if (foreign_hello(data, size, out))
        return phx_error_set(error, PHX_ERROR_VERSION, 1, "protocol version %u here, %u there",
                             PHX_NET_PROTOCOL, (unsigned)out->hello.protocol);
    PhxReader reader = phx_reader_make(data, size);
    const uint8_t type = phx_read_u8(&reader);
    out->type = type < PHX_MESSAGE_COUNT ? (PhxMessageType)type : PHX_MESSAGE_NONE;
    if (reader.status == PHX_OK) decode_fields(&reader, out);
    const PhxStatus status = phx_reader_finish(&reader);
    if (status == PHX_OK) return PHX_OK;
    phx_error_set(error, status, reader.at, "message %s (%u), %zu bytes: %s", phx_message_name(out->type),
                  (unsigned)type, size, phx_status_text(status));
    out->type = PHX_MESSAGE_NONE;
    return status;
}

uint64_t phx_wire_u64_at(const PhxU64s *values, uint32_t i) {
    PhxReader reader = phx_reader_make(values->data + (size_t)i * 8, 8);
    return phx_read_u64(&reader);
}

void phx_wire_text_copy(PhxText text, char *out, size_t capacity) {
    size_t n = 0;
    for (; n + 1 < capacity && n < text.size; n++) {
        const uint8_t c = text.data[n];
        out[n] = (char)(c >= 0x20 && c != 0x7f ? c : '?'); /* UTF-8 passes; control characters don't */
    }
    out[n] = 0;
}

PhxText phx_wire_text(const char *string) {
    const size_t size = strlen(string);
    return (PhxText){(const uint8_t *)string, size < PHX_NET_TEXT_MAX ? (uint32_t)size : PHX_NET_TEXT_MAX};
}
