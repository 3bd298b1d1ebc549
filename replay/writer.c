/* writer.c: appends the records of a match to a sink, as it runs.
 *
 * In: settings and content once, then commands and hashes tick by tick. Out: bytes to the sink, a whole
 * record at a time unless it is larger than the buffer; records once given are never touched again. Cost:
 * O(bytes); one block of memory that doesn't depend on the match. A tick without commands in which three of
 * six tables changed takes 46 bytes. Determinism: commands are sorted by (slot, sequence), which no two
 * share.
 */
#include <string.h>

#include "base/assert.h"
#include "base/sort.h"
#include "replay/pack.h"
#include "replay/writer.h"

static bool place_less(const PhxReplayCommandPlace *a, const PhxReplayCommandPlace *b) { return *a < *b; }
PHX_DEFINE_SORT(sort_places, PhxReplayCommandPlace, place_less)

static void give(PhxReplayWriter *writer, const void *bytes, size_t size) {
    if (writer->status != PHX_OK || size == 0) return;
    writer->status = writer->sink.write(writer->sink.user, bytes, size);
    if (writer->status == PHX_OK) writer->bytes += size;
}

PhxStatus phx_replay_frame_flush(PhxReplayWriter *writer) {
    give(writer, writer->buffer, writer->used);
    writer->used = 0;
    return writer->status;
}

void phx_replay_frame_raw(PhxReplayWriter *writer, const void *bytes, size_t size) {
    if (size > PHX_REPLAY_BUFFER_SIZE - writer->used) (void)phx_replay_frame_flush(writer);
    if (size > PHX_REPLAY_BUFFER_SIZE) {
        give(writer, bytes, size);
        return;
    }
    if (size) memcpy(writer->buffer + writer->used, bytes, size);
    writer->used += size;
}

/* Bytes of the present record, which the checksum covers. */
void phx_replay_frame_put(PhxReplayWriter *writer, const void *bytes, size_t size) {
    PHX_ASSERT(size <= writer->record, size, writer->record);
    writer->record -= size;
    phx_hash_stream_feed(&writer->hash, bytes, size);
    phx_replay_frame_raw(writer, bytes, size);
}

void phx_replay_frame_begin(PhxReplayWriter *writer, uint8_t type, size_t length) {
    uint8_t head[PHX_REPLAY_HEAD];
    PhxWriter bytes = phx_writer_make(head, sizeof head);
    phx_write_u8(&bytes, type);
    phx_write_u32(&bytes, (uint32_t)length);
    phx_hash_stream_begin(&writer->hash);
    writer->record = sizeof head + length;
    phx_replay_frame_put(writer, head, sizeof head);
}

PhxStatus phx_replay_frame_end(PhxReplayWriter *writer) {
    uint8_t checksum[4];
    PHX_ASSERT(writer->record == 0, writer->record, 0);
    phx_store_u32(checksum, (uint32_t)phx_hash_stream_end(&writer->hash));
    phx_replay_frame_raw(writer, checksum, sizeof checksum);
    (void)phx_replay_frame_flush(writer);
    return writer->status;
}

PhxStatus phx_replay_frame_tick_done(PhxReplayWriter *writer, bool now) {
    if (writer->status == PHX_OK && writer->sink.tick_done)
        writer->status = writer->sink.tick_done(writer->sink.user, now);
    return writer->status;
}

PhxStatus phx_replay_frame_small(PhxReplayWriter *writer, uint8_t type, const PhxWriter *fixed,
                                 const void *rest, size_t length) {
    phx_replay_frame_begin(writer, type, fixed->at + length);
    phx_replay_frame_put(writer, fixed->data, fixed->at);
    phx_replay_frame_put(writer, rest, length);
    return phx_replay_frame_end(writer);
}

/* ---- the beginning ---- */

static bool name_is_fit(const char *name) {
    const size_t length = name ? strlen(name) : 0;
    if (length < 1 || length > PHX_REPLAY_NAME_LIMIT) return false;
    for (size_t i = 0; i < length; i++)
        if (name[i] <= ' ' || name[i] > '~') return false;
    return true;
}

static PhxStatus check_match(const PhxReplayMatch *match) {
    if (match->table_count > PHX_REPLAY_TABLE_LIMIT) return PHX_ERROR_ARGUMENT;
    for (uint32_t t = 0; t < match->table_count; t++)
        if (!name_is_fit(match->table_names[t])) return PHX_ERROR_ARGUMENT;
    if (!match->content || match->content_size == 0) return PHX_ERROR_ARGUMENT;
    if (match->content_size > PHX_REPLAY_CONTENT_LIMIT) return PHX_ERROR_LIMIT;
    return phx_replay_pack_allowed(match->packing);
}

static void put_header(PhxReplayWriter *writer, const PhxReplayMatch *match) {
    uint8_t settings[PHX_SETTINGS_BYTES], bytes[8192];
    phx_settings_encode(&match->settings, settings);
    const PhxReplayHeaderFields fields = {.sim_revision = match->sim_revision,
                                          .schema_hash = match->schema_hash,
                                          .content_hash = match->content_hash,
                                          .settings_hash = phx_hash_bytes(settings, sizeof settings),
                                          .root = match->root,
                                          .table_count = (uint8_t)match->table_count};
    PhxWriter payload = phx_writer_make(bytes, sizeof bytes);
    phx_replay_put_header(&payload, &fields);
    phx_write_bytes(&payload, settings, sizeof settings);
    for (uint32_t t = 0; t < match->table_count; t++) {
        const size_t length = strlen(match->table_names[t]);
        phx_write_u64(&payload, match->table_hashes[t]);
        phx_write_u8(&payload, (uint8_t)length);
        phx_write_bytes(&payload, match->table_names[t], length);
    }
    PHX_ASSERT(payload.status == PHX_OK, payload.status, match->table_count);
    phx_replay_frame_begin(writer, PHX_REPLAY_TYPE_HEADER, payload.at);
    phx_replay_frame_put(writer, bytes, payload.at);
}

const uint8_t *phx_replay_writer_pack(PhxReplayWriter *writer, const uint8_t *bytes, size_t size, size_t most,
                                      size_t *packed, uint8_t *encoding) {
    *encoding = phx_replay_pack_encoding(writer->packing);
    if (*encoding != PHX_REPLAY_PLAIN) {
        uint8_t *room = phx_replay_room(writer, &writer->pack, size);
        if (!room) return NULL;
        *packed = phx_replay_pack(*encoding, bytes, size, room, most);
        if (*packed > 0) return room;
    }
    *encoding = PHX_REPLAY_PLAIN;
    *packed = size;
    return bytes;
}

PhxStatus phx_replay_writer_content(PhxReplayWriter *writer, const uint8_t *content, size_t size) {
    enum { SIZE_BYTES = 4 }; /* of the size that stands before packed content */
    uint8_t bytes[PHX_REPLAY_FIXED_LIMIT], encoding;
    size_t packed;
    PhxWriter fixed = phx_writer_make(bytes, sizeof bytes);
    const size_t most = size > SIZE_BYTES ? size - SIZE_BYTES - 1 : 0;
    const uint8_t *rest = phx_replay_writer_pack(writer, content, size, most, &packed, &encoding);
    if (!rest) return writer->status = PHX_ERROR_MEMORY;
    phx_replay_put_content(&fixed, &(PhxReplayContentFields){.encoding = encoding});
    if (encoding != PHX_REPLAY_PLAIN) phx_write_u32(&fixed, (uint32_t)size);
    return phx_replay_frame_small(writer, PHX_REPLAY_TYPE_CONTENT, &fixed, rest, packed);
}

static PhxStatus write_beginning(PhxReplayWriter *writer, const PhxReplayMatch *match) {
    uint8_t version[4];
    phx_replay_frame_raw(writer, phx_replay_signature, sizeof phx_replay_signature);
    phx_store_u32(version, PHX_REPLAY_VERSION);
    phx_replay_frame_raw(writer, version, sizeof version);
    put_header(writer, match);
    if (phx_replay_frame_end(writer) != PHX_OK) return writer->status;
    if (phx_replay_writer_content(writer, match->content, match->content_size) != PHX_OK)
        return writer->status;
    return phx_replay_frame_tick_done(writer, true);
}

PhxReplayWriter *phx_replay_writer_make(PhxReplaySink sink, const PhxAllocator *allocator) {
    const PhxAllocator memory = allocator ? *allocator : phx_allocator_default();
    PhxReplayWriter *writer = memory.allocate(memory.user, sizeof *writer);
    if (!writer) return NULL;
    memset(writer, 0, sizeof *writer);
    writer->sink = sink;
    writer->allocator = memory;
    return writer;
}

PhxStatus phx_replay_writer_create(PhxReplaySink sink, const PhxReplayMatch *match,
                                   const PhxAllocator *allocator, PhxReplayWriter **out) {
    *out = NULL;
    const PhxStatus fit = check_match(match);
    if (fit != PHX_OK) return fit;
    PhxReplayWriter *writer = phx_replay_writer_make(sink, allocator);
    if (!writer) return PHX_ERROR_MEMORY;
    writer->table_count = match->table_count;
    writer->tick_rate = match->settings.tick_rate;
    writer->packing = match->packing;
    writer->root = match->root;
    if (match->table_count)
        memcpy(writer->tables, match->table_hashes, match->table_count * sizeof(uint64_t));
    const PhxStatus status = write_beginning(writer, match);
    if (status == PHX_OK)
        *out = writer;
    else
        phx_replay_writer_destroy(writer);
    return status;
}

static void room_free(PhxReplayWriter *writer, PhxReplayRoom *room) {
    if (room->bytes) writer->allocator.release(writer->allocator.user, room->bytes, room->capacity);
    *room = (PhxReplayRoom){0};
}

uint8_t *phx_replay_room(PhxReplayWriter *writer, PhxReplayRoom *room, size_t size) {
    if (size <= room->capacity) return room->bytes;
    room_free(writer, room);
    room->bytes = writer->allocator.allocate(writer->allocator.user, size);
    if (room->bytes) room->capacity = size;
    return room->bytes;
}

void phx_replay_writer_destroy(PhxReplayWriter *writer) {
    if (!writer) return;
    room_free(writer, &writer->snapshot);
    room_free(writer, &writer->pack);
    phx_replay_places_free(&writer->keyframes, &writer->allocator);
    writer->allocator.release(writer->allocator.user, writer, sizeof *writer);
}

/* ---- the match ---- */

PhxStatus phx_replay_writer_may(const PhxReplayWriter *writer) {
    if (writer->status != PHX_OK) return writer->status;
    return writer->ended ? PHX_ERROR_STATE : PHX_OK;
}

PhxStatus phx_replay_writer_player(PhxReplayWriter *writer, uint8_t slot, uint8_t team, const char *name) {
    uint8_t bytes[PHX_REPLAY_FIXED_LIMIT];
    const PhxStatus status = phx_replay_writer_may(writer);
    if (status != PHX_OK) return status;
    if (slot >= PHX_PLAYER_LIMIT || !name || strlen(name) > 16) return PHX_ERROR_ARGUMENT;
    if (writer->ticks > 0 || writer->pending || writer->slots >> slot & 1) return PHX_ERROR_STATE;
    writer->slots |= 1u << slot;
    PhxWriter fixed = phx_writer_make(bytes, sizeof bytes);
    phx_replay_put_player(&fixed, &(PhxReplayPlayerFields){.slot = slot, .team = team});
    return phx_replay_frame_small(writer, PHX_REPLAY_TYPE_PLAYER, &fixed, name, strlen(name));
}

PhxStatus phx_replay_writer_note(PhxReplayWriter *writer, PhxReplayNoteKind kind, uint8_t slot,
                                 const char *text) {
    uint8_t bytes[PHX_REPLAY_FIXED_LIMIT];
    const PhxStatus status = phx_replay_writer_may(writer);
    if (status != PHX_OK) return status;
    if ((unsigned)kind >= PHX_REPLAY_NOTE_COUNT || !text) return PHX_ERROR_ARGUMENT;
    const size_t length = strlen(text) < PHX_REPLAY_TEXT_LIMIT ? strlen(text) : PHX_REPLAY_TEXT_LIMIT;
    PhxWriter fixed = phx_writer_make(bytes, sizeof bytes);
    phx_replay_put_note(&fixed,
                        &(PhxReplayNoteFields){.tick = writer->ticks, .kind = (uint8_t)kind, .slot = slot});
    if (phx_replay_frame_small(writer, PHX_REPLAY_TYPE_NOTE, &fixed, text, length) != PHX_OK)
        return writer->status;
    return phx_replay_frame_tick_done(writer, true);
}

/* Fills writer->places in canonical order and says how many bytes the commands take. */
static PhxStatus arrange(PhxReplayWriter *writer, const PhxCommand *commands, uint32_t count, size_t *size) {
    PhxWriter measure = phx_writer_make(NULL, 0);
    for (uint32_t i = 0; i < count; i++) {
        if (commands[i].size > PHX_COMMAND_SIZE_LIMIT) return PHX_ERROR_LIMIT;
        phx_write_u8(&measure, commands[i].slot);
        phx_write_varint(&measure, commands[i].sequence);
        phx_write_varint(&measure, commands[i].size);
        phx_write_bytes(&measure, commands[i].bytes, commands[i].size);
        writer->places[i] = (uint64_t)commands[i].slot << 44 | (uint64_t)commands[i].sequence << 12 | i;
    }
    sort_places(writer->places, count);
    for (uint32_t i = 1; i < count; i++)
        if (writer->places[i] >> 12 == writer->places[i - 1] >> 12) return PHX_ERROR_ARGUMENT;
    *size = measure.at;
    return PHX_OK;
}

PhxStatus phx_replay_writer_commands(PhxReplayWriter *writer, const PhxCommand *commands, uint32_t count) {
    uint8_t bytes[PHX_REPLAY_FIXED_LIMIT];
    size_t size = 0;
    PhxStatus status = phx_replay_writer_may(writer);
    if (status != PHX_OK || count == 0) return status;
    if (writer->pending) return PHX_ERROR_STATE;
    if (count > PHX_TICK_COMMAND_LIMIT) return PHX_ERROR_LIMIT;
    status = arrange(writer, commands, count, &size);
    if (status != PHX_OK) return status;
    PhxWriter fixed = phx_writer_make(bytes, sizeof bytes);
    phx_replay_put_commands(&fixed,
                            &(PhxReplayCommandsFields){.tick = writer->ticks, .count = (uint16_t)count});
    phx_replay_frame_begin(writer, PHX_REPLAY_TYPE_COMMANDS, fixed.at + size);
    phx_replay_frame_put(writer, bytes, fixed.at);
    for (uint32_t i = 0; i < count; i++) {
        const PhxCommand *command = &commands[writer->places[i] & (PHX_TICK_COMMAND_LIMIT - 1)];
        PhxWriter head = phx_writer_make(bytes, sizeof bytes);
        phx_write_u8(&head, command->slot);
        phx_write_varint(&head, command->sequence);
        phx_write_varint(&head, command->size);
        phx_replay_frame_put(writer, bytes, head.at);
        phx_replay_frame_put(writer, command->bytes, command->size);
    }
    writer->pending = true;
    if (phx_replay_frame_end(writer) != PHX_OK) return writer->status;
    /* On their way to the disk now: their step may be the last thing that this program does. */
    return phx_replay_frame_tick_done(writer, true);
}

PhxStatus phx_replay_writer_hashes(PhxReplayWriter *writer, uint64_t root, const uint64_t *tables) {
    uint8_t bytes[1024];
    uint64_t mask = 0;
    const PhxStatus status = phx_replay_writer_may(writer);
    if (status != PHX_OK) return status;
    if (writer->ticks == UINT32_MAX - 1) return PHX_ERROR_STATE;
    for (uint32_t t = 0; t < writer->table_count; t++)
        if (writer->all || tables[t] != writer->tables[t]) mask |= (uint64_t)1 << t;
    PhxWriter payload = phx_writer_make(bytes, sizeof bytes);
    phx_replay_put_hashes(&payload, &(PhxReplayHashesFields){.tick = writer->ticks, .root = root});
    phx_write_varint(&payload, mask);
    for (uint32_t t = 0; t < writer->table_count; t++)
        if (mask >> t & 1) phx_write_u64(&payload, writer->tables[t] = tables[t]);
    PHX_ASSERT(payload.status == PHX_OK, payload.status, writer->table_count);
    phx_replay_frame_begin(writer, PHX_REPLAY_TYPE_HASHES, payload.at);
    phx_replay_frame_put(writer, bytes, payload.at);
    if (phx_replay_frame_end(writer) != PHX_OK) return writer->status;
    writer->root = root;
    writer->pending = writer->all = false;
    writer->ticks++;
    return phx_replay_frame_tick_done(writer, false);
}

PhxStatus phx_replay_writer_end(PhxReplayWriter *writer) {
    uint8_t bytes[PHX_REPLAY_FIXED_LIMIT];
    const PhxStatus status = phx_replay_writer_may(writer);
    if (status != PHX_OK) return status;
    if (writer->pending) return PHX_ERROR_STATE;
    PhxReplayEndFields fields = {.ticks = writer->ticks, .root = writer->root};
    if (phx_replay_writer_index(writer, &fields.index) != PHX_OK) return writer->status;
    fields.offset = writer->bytes;
    PhxWriter fixed = phx_writer_make(bytes, sizeof bytes);
    phx_replay_put_end(&fixed, &fields);
    writer->ended = true;
    if (phx_replay_frame_small(writer, PHX_REPLAY_TYPE_END, &fixed, "", 0) != PHX_OK) return writer->status;
    return phx_replay_frame_tick_done(writer, true);
}

uint32_t phx_replay_writer_ticks(const PhxReplayWriter *writer) { return writer->ticks; }
uint64_t phx_replay_writer_bytes(const PhxReplayWriter *writer) { return writer->bytes; }
