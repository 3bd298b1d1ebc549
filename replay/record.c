/* record.c: see record.h. What the manifest gives, and the checks of a single record. */
#include "replay/record.h"

#include <phalanx/hash.h>
#include <string.h>

const uint8_t phx_replay_signature[PHX_REPLAY_SIGNATURE_SIZE] = {0x89, 'P', 'H', 'X', 'R', '\r', '\n', 0x1a};

#define WRITE_U8  phx_write_u8
#define WRITE_U16 phx_write_u16
#define WRITE_U32 phx_write_u32
#define WRITE_U64 phx_write_u64
#define READ_U8   phx_read_u8
#define READ_U16  phx_read_u16
#define READ_U32  phx_read_u32
#define READ_U64  phx_read_u64

#define PHX_REPLAY_RECORD_BEGIN(NAME, name, Struct, number, limit, doc)                                      \
    void phx_replay_put_##name(PhxWriter *writer, const Struct *fields) {
#define PHX_REPLAY_FIELD(type, name, doc)               WRITE_##type(writer, fields->name);
#define PHX_REPLAY_RECORD_END(NAME, name, Struct, rest) }
#include "../format/records.def"

#define PHX_REPLAY_RECORD_BEGIN(NAME, name, Struct, number, limit, doc)                                      \
    Struct phx_replay_get_##name(PhxReader *reader) {                                                        \
        Struct fields;
#define PHX_REPLAY_FIELD(type, name, doc) fields.name = READ_##type(reader);
#define PHX_REPLAY_RECORD_END(NAME, name, Struct, rest)                                                      \
    return fields;                                                                                           \
    }
#include "../format/records.def"

typedef struct Kind {
    const char *name;
    uint32_t limit;
    uint8_t type;
} Kind;

static const Kind kinds[PHX_REPLAY_KIND_COUNT] = {
#define PHX_REPLAY_RECORD_BEGIN(NAME, name, Struct, number, limit, doc) {#name, limit, number},
#define PHX_REPLAY_FIELD(type, name, doc)
#define PHX_REPLAY_RECORD_END(NAME, name, Struct, rest)
#include "../format/records.def"
    {"unknown", UINT32_MAX, 0},
};

const char *phx_replay_kind_name(uint32_t kind) {
    return kind < PHX_REPLAY_KIND_COUNT ? kinds[kind].name : NULL;
}
uint32_t phx_replay_kind_limit(uint32_t kind) { return kinds[kind].limit; }

uint32_t phx_replay_kind_of(uint8_t type) {
    for (uint32_t k = 0; k < PHX_REPLAY_KIND_UNKNOWN; k++)
        if (kinds[k].type == type) return k;
    return PHX_REPLAY_KIND_UNKNOWN;
}

PhxStatus phx_replay_record_read(const uint8_t *bytes, uint64_t size, uint64_t offset, PhxReplayRecord *out,
                                 PhxError *error) {
    const uint64_t left = size - offset;
    const unsigned long long at = offset, end = size;
    if (left < PHX_REPLAY_HEAD)
        return phx_error_set(error, PHX_ERROR_TRUNCATED, offset,
                             "the bytes end at %llu, inside of the head of the record at byte %llu", end, at);
    PhxReader reader = phx_reader_make(bytes + offset, PHX_REPLAY_HEAD);
    *out = (PhxReplayRecord){.offset = offset, .type = phx_read_u8(&reader)};
    out->length = phx_read_u32(&reader);
    out->kind = phx_replay_kind_of(out->type);
    out->payload = bytes + offset + PHX_REPLAY_HEAD;
    out->next = offset + PHX_REPLAY_FRAME + out->length;
    const char *name = phx_replay_kind_name(out->kind);
    if (out->kind == PHX_REPLAY_KIND_UNKNOWN && out->type < PHX_REPLAY_TYPE_SKIPPABLE)
        return phx_error_set(error, PHX_ERROR_VERSION, offset,
                             "the record at byte %llu has type 0x%02x, which this version doesn't know", at,
                             out->type);
    if (out->length > phx_replay_kind_limit(out->kind))
        return phx_error_set(error, PHX_ERROR_FORMAT, offset,
                             "the %s record at byte %llu has a length of %lu bytes, more than %lu", name, at,
                             (unsigned long)out->length, (unsigned long)phx_replay_kind_limit(out->kind));
    if (left < PHX_REPLAY_FRAME || left - PHX_REPLAY_FRAME < out->length)
        return phx_error_set(error, PHX_ERROR_TRUNCATED, offset,
                             "the bytes end at %llu, inside of the %s record at byte %llu", end, name, at);
    PhxReader tail = phx_reader_make(out->payload + out->length, 4);
    const uint32_t stored = phx_read_u32(&tail);
    const uint32_t computed = (uint32_t)phx_hash_bytes(bytes + offset, PHX_REPLAY_HEAD + (size_t)out->length);
    if (stored != computed)
        return phx_error_set(error, PHX_ERROR_FORMAT, offset,
                             "the %s record at byte %llu is garbled: checksum %08lx, not %08lx", name, at,
                             (unsigned long)computed, (unsigned long)stored);
    return PHX_OK;
}

void phx_replay_record_write(PhxWriter *writer, uint8_t type, const void *payload, uint32_t length) {
    const size_t begin = writer->at;
    phx_write_u8(writer, type);
    phx_write_u32(writer, length);
    phx_write_bytes(writer, payload, length);
    if (writer->status != PHX_OK || !writer->data) return;
    phx_write_u32(writer, (uint32_t)phx_hash_bytes(writer->data + begin, writer->at - begin));
}

bool phx_replay_command_next(PhxReplayCommandWalk *walk, PhxCommand *out) {
    if (walk->left == 0) return false;
    walk->left--;
    const uint8_t slot = phx_read_u8(&walk->reader);
    const uint64_t sequence = phx_read_varint(&walk->reader);
    const uint64_t size = phx_read_varint(&walk->reader);
    if (sequence > UINT32_MAX || size > PHX_COMMAND_SIZE_LIMIT)
        phx_reader_fail(&walk->reader, PHX_ERROR_RANGE);
    const uint8_t *bytes = phx_read_span(&walk->reader, (size_t)(size <= PHX_COMMAND_SIZE_LIMIT ? size : 0));
    const uint64_t key = (uint64_t)slot << 32 | (sequence & UINT32_MAX);
    if (walk->started && key <= walk->previous) phx_reader_fail(&walk->reader, PHX_ERROR_FORMAT);
    walk->started = true;
    walk->previous = key;
    if (walk->reader.status != PHX_OK) return false;
    *out = (PhxCommand){.slot = slot, .sequence = (uint32_t)sequence, .size = (uint32_t)size, .bytes = bytes};
    return true;
}

PhxStatus phx_replay_hashes_apply(PhxReader *reader, uint64_t *tables, uint32_t table_count, bool all) {
    const uint64_t mask = phx_read_varint(reader);
    const uint64_t every = table_count < 64 ? ((uint64_t)1 << table_count) - 1 : UINT64_MAX;
    if (all && mask != every) phx_reader_fail(reader, PHX_ERROR_FORMAT);
    if (table_count < 64 && mask >> table_count != 0) phx_reader_fail(reader, PHX_ERROR_RANGE);
    for (uint32_t t = 0; t < table_count && reader->status == PHX_OK; t++)
        if (mask >> t & 1) tables[t] = phx_read_u64(reader);
    return phx_reader_finish(reader);
}

/* Bytes of the UTF-8 sequence at `s`, 0 where it isn't one (Unicode 15, table 3-7) or is a control character.
 */
static size_t utf8_length(const uint8_t *s, size_t left) {
    if (s[0] < 0x80) return s[0] >= 0x20 && s[0] != 0x7f;
    const size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || left < length) return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    const bool too_low = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    const bool too_high = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    const bool control = s[0] == 0xc2 && s[1] < 0xa0;
    return too_low || too_high || control ? 0 : length;
}

void phx_replay_text_clean(char *to, size_t capacity, const uint8_t *from, size_t size) {
    size_t used = 0;
    for (size_t i = 0; i < size;) {
        const size_t length = utf8_length(from + i, size - i);
        if (used + (length ? length : 1) >= capacity) break;
        if (length)
            memcpy(to + used, from + i, length);
        else
            to[used] = '?';
        used += length ? length : 1;
        i += length ? length : 1;
    }
    to[used] = 0;
}
