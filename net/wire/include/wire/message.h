/* message.h: the messages of messages.def as types, with their encoder and decoder.
 *
 * In: bytes of a stream, whole messages (lockstep/link.h cuts them). Out: a PhxMessage whose texts, hashes
 * and commands point into those bytes: nothing is copied or allocated. Cost: one pass over the bytes. A
 * decoded message is within every limit of net_limits.h, so that its user loops over counts without a check.
 * Encoding what was decoded gives the same bytes.
 */
#ifndef PHX_WIRE_MESSAGE_H
#define PHX_WIRE_MESSAGE_H

#include <phalanx/net_limits.h>
#include <phalanx/net_turn.h>

#include "base/bytes.h"

typedef enum PhxMessageType {
    PHX_MESSAGE_NONE,
#define PHX_MESSAGE(name, NAME) PHX_MESSAGE_##NAME,
#define PHX_FIELD(name, KIND, field)
#define PHX_MESSAGE_END(name)
#include "wire/messages.def"
    PHX_MESSAGE_COUNT
} PhxMessageType;

enum {
    /* Commands of one turn: each player's, the host's own and a leave for each player. */
    PHX_WIRE_COMMANDS_MAX = (PHX_NET_PLAYERS_MAX + 1) * PHX_NET_TURN_COMMANDS_MAX + PHX_NET_PLAYERS_MAX,
    PHX_WIRE_COMMAND_HEAD = 9, /* most bytes before a command's own: offset 1, slot 1, sequence 5, size 2 */
    PHX_WIRE_INPUT_MAX = PHX_NET_TURN_BYTES_MAX + PHX_NET_TURN_COMMANDS_MAX * PHX_WIRE_COMMAND_HEAD,
    /* Bytes of a message without its length; the longest is a full TURN. */
    PHX_WIRE_MESSAGE_MAX = 16 + (PHX_NET_PLAYERS_MAX + 1) * PHX_WIRE_INPUT_MAX +
                           PHX_NET_PLAYERS_MAX * (PHX_NET_LEAVE_MAX + PHX_WIRE_COMMAND_HEAD),
    PHX_WIRE_LENGTH_MAX = 3, /* bytes of the length before a message */
};

typedef struct PhxText {
    const uint8_t *data;
    uint32_t size;
} PhxText;

/* Bytes that only the game understands. */
typedef struct PhxBytes {
    const uint8_t *data;
    uint32_t size;
} PhxBytes;

/* Little-endian values, in place. */
typedef struct PhxU64s {
    const uint8_t *data;
    uint32_t count;
} PhxU64s;

/* Commands, encoded; phx_wire_command_next walks over them. */
typedef struct PhxCommands {
    const uint8_t *data;
    uint32_t size, count;
} PhxCommands;

#define PHX_WIRE_TYPE_U8       uint8_t
#define PHX_WIRE_TYPE_U16      uint16_t
#define PHX_WIRE_TYPE_U32      uint32_t
#define PHX_WIRE_TYPE_U64      uint64_t
#define PHX_WIRE_TYPE_TEXT     PhxText
#define PHX_WIRE_TYPE_BYTES    PhxBytes
#define PHX_WIRE_TYPE_U64S     PhxU64s
#define PHX_WIRE_TYPE_COMMANDS PhxCommands

typedef struct PhxMessage {
    PhxMessageType type;
    union {
#define PHX_MESSAGE(name, NAME)      struct {
#define PHX_FIELD(name, KIND, field) PHX_WIRE_TYPE_##KIND field;
#define PHX_MESSAGE_END(name)                                                                                \
    char end_; /* a message may have no field */                                                             \
    }                                                                                                        \
    name;
#include "wire/messages.def"
    };
} PhxMessage;

/* "HELLO"; never null. */
const char *phx_message_name(PhxMessageType type);

/* Writes type and fields. A value above its limit is PHX_ERROR_LIMIT in writer->status. */
void phx_message_encode(PhxWriter *writer, const PhxMessage *message);

/* Decodes `size` bytes, all of them. Errors: PHX_ERROR_FORMAT, PHX_ERROR_TRUNCATED, PHX_ERROR_LIMIT,
 * PHX_ERROR_RANGE, and PHX_ERROR_VERSION for a HELLO of another protocol, of which only hello.protocol is
 * filled. `error` says the message and the offset. */
PHX_MUST_USE PhxStatus phx_message_decode(const uint8_t *data, size_t size, PhxMessage *out, PhxError *error);

/* Appends one command: `command->tick` is here the tick's offset in its turn. */
void phx_wire_command_write(PhxWriter *writer, const PhxNetCommand *command);
/* Reads one, checked against every limit; faults go into reader->status. */
void phx_wire_command_read(PhxReader *reader, PhxNetCommand *out);
/* The canonical order within a turn: (tick, slot, sequence), total since a sequence is unique within its
 * slot. */
static inline bool phx_wire_command_before(const PhxNetCommand *a, const PhxNetCommand *b) {
    if (a->tick != b->tick) return a->tick < b->tick;
    if (a->slot != b->slot) return a->slot < b->slot;
    return a->sequence < b->sequence;
}
/* A reader over the commands of a decoded message, of which `count` reads succeed. */
static inline PhxReader phx_wire_commands(const PhxCommands *commands) {
    return phx_reader_make(commands->data, commands->size);
}

/* The i-th value. */
uint64_t phx_wire_u64_at(const PhxU64s *values, uint32_t i);
/* Copies a text as a zero-terminated string; bytes that aren't printable become '?'. */
void phx_wire_text_copy(PhxText text, char *out, size_t capacity);
PhxText phx_wire_text(const char *string);

#endif
