/* copy.c: begins a replay with the first ticks of another: for cutting, for going on otherwise, and for
 * packing it otherwise.
 *
 * In: an opened replay, of any simulation revision. Out: its records, byte for byte, to another sink, and a
 * writer that stands behind them; content and snapshots are packed anew, and keyframes left out, where that
 * is asked for. Left out are always the end, the index, and records that this version doesn't know: what they
 * say of the file may no longer be so. Cost: O(bytes).
 */
#include <string.h>

#include "replay/pack.h"
#include "replay/writer.h"

/* What the writer has to remember of a record that was copied. */
static PhxStatus remember(PhxReplayWriter *writer, const PhxReplayRecord *record, uint64_t offset) {
    PhxReader reader = phx_reader_make(record->payload, record->length);
    switch (record->kind) {
    case PHX_REPLAY_KIND_COMMANDS:
        writer->pending = true;
        return PHX_OK;
    case PHX_REPLAY_KIND_HASHES:
        writer->root = phx_replay_get_hashes(&reader).root;
        writer->pending = writer->all = false;
        writer->ticks++;
        return phx_replay_hashes_apply(&reader, writer->tables, writer->table_count, false);
    case PHX_REPLAY_KIND_PLAYER:
        writer->slots |= 1u << (phx_replay_get_player(&reader).slot & 31);
        return PHX_OK;
    case PHX_REPLAY_KIND_KEYFRAME:
        writer->all = true;
        writer->spent += record->next - record->offset;
        return phx_replay_places_add(&writer->keyframes, &writer->allocator,
                                     (PhxReplayPlace){.tick = writer->ticks, .offset = offset});
    default:
        return PHX_OK;
    }
}

/* What stands behind the last tick that is wanted, was written before it was known how that tick went on; it
 * belongs to the copy only where the copy is of everything. Players stand before the first tick. */
static bool wanted(const PhxReplayWriter *writer, const PhxReplayRecord *record, uint32_t tick, bool all) {
    switch (record->kind) {
    case PHX_REPLAY_KIND_PLAYER:
        return true;
    case PHX_REPLAY_KIND_COMMANDS:
    case PHX_REPLAY_KIND_HASHES:
        return writer->ticks < tick;
    case PHX_REPLAY_KIND_NOTE:
    case PHX_REPLAY_KIND_EVIDENCE:
    case PHX_REPLAY_KIND_KEYFRAME:
        return writer->ticks < tick || all;
    default:
        return false;
    }
}

/* Writes a keyframe or evidence in another encoding. False: it has to be copied as it is, because its bytes
 * can't be unpacked. The status is the writer's. */
static bool repack(PhxReplayWriter *writer, const PhxReplayRecord *record) {
    const uint8_t wanted_encoding = phx_replay_pack_encoding(writer->packing);
    PhxReader reader = phx_reader_make(record->payload, record->length);
    PhxReplayEvidenceFields fields;
    const bool keyframe = record->kind == PHX_REPLAY_KIND_KEYFRAME;
    if (keyframe) {
        const PhxReplayKeyframeFields found = phx_replay_get_keyframe(&reader);
        fields = (PhxReplayEvidenceFields){
            .tick = found.tick, .root = found.root, .size = found.size, .encoding = found.encoding};
    } else {
        fields = phx_replay_get_evidence(&reader);
    }
    const uint8_t *packed = record->payload + reader.at;
    const size_t left = phx_reader_left(&reader);
    if (fields.encoding == wanted_encoding || fields.size == 0 || fields.size > PHX_REPLAY_SNAPSHOT_LIMIT ||
        !phx_replay_pack_known(fields.encoding) ||
        !phx_replay_pack_may_hold(fields.encoding, packed, left, fields.size))
        return false;
    uint8_t *bytes = phx_replay_room(writer, &writer->snapshot, fields.size);
    if (!bytes) {
        writer->status = PHX_ERROR_MEMORY;
        return true;
    }
    if (phx_replay_unpack(fields.encoding, packed, left, bytes, fields.size) != PHX_OK) return false;
    if (phx_replay_frame_flush(writer) != PHX_OK) return true;
    const PhxStatus status = keyframe ? phx_replay_writer_keyframe(writer, fields.root, bytes, fields.size)
                                      : phx_replay_writer_evidence(writer, fields.slot, fields.tick,
                                                                   fields.root, bytes, fields.size);
    if (writer->status == PHX_OK) writer->status = status;
    return true;
}

static PhxStatus copy_records(PhxReplayWriter *writer, const PhxReplay *from, uint32_t tick,
                              const PhxReplayCopyOptions *options) {
    const bool all = tick == from->info.ticks;
    PhxReplayRecord record;
    for (uint64_t at = from->body; at < from->info.kept_bytes && writer->status == PHX_OK; at = record.next) {
        PhxStatus status = phx_replay_record_read(from->bytes, from->info.kept_bytes, at, &record, NULL);
        if (status != PHX_OK) return status;
        if (!wanted(writer, &record, tick, all)) {
            if (writer->ticks == tick && record.kind == PHX_REPLAY_KIND_HASHES) break;
            continue;
        }
        const bool keyframe = record.kind == PHX_REPLAY_KIND_KEYFRAME;
        const bool snapshot = keyframe || record.kind == PHX_REPLAY_KIND_EVIDENCE;
        if (keyframe && options->no_keyframes) continue;
        if (options->repack && snapshot && repack(writer, &record)) continue;
        status = remember(writer, &record, writer->bytes + writer->used);
        if (status != PHX_OK) return status;
        phx_replay_frame_raw(writer, from->bytes + at, (size_t)(record.next - at));
    }
    return phx_replay_frame_flush(writer);
}

/* Signature, version, header and content. */
static PhxStatus copy_beginning(PhxReplayWriter *writer, const PhxReplay *from, bool anew) {
    PhxReplayRecord header;
    if (!anew) {
        phx_replay_frame_raw(writer, from->bytes, (size_t)from->body);
        return writer->status;
    }
    const PhxStatus status =
        phx_replay_record_read(from->bytes, from->info.kept_bytes, PHX_REPLAY_PREAMBLE, &header, NULL);
    if (status != PHX_OK) return status;
    phx_replay_frame_raw(writer, from->bytes, (size_t)header.next);
    return phx_replay_writer_content(writer, from->content, from->content_size);
}

/* May the replay be packed so by this build? */
static PhxStatus check_packing(const PhxReplay *from, const PhxReplayCopyOptions *options, PhxError *error) {
    if (!options->repack) return PHX_OK;
    const PhxStatus status = phx_replay_pack_allowed(options->packing);
    if (status == PHX_ERROR_VERSION)
        return phx_error_set(error, status, 0, "this build lacks Zstandard, and can't pack with it");
    if (status != PHX_OK) return phx_error_set(error, status, 0, "no such packing");
    if (from->info.content_readable) return PHX_OK;
    return phx_error_set(error, PHX_ERROR_VERSION, PHX_REPLAY_PREAMBLE, "%s", phx_replay_pack_lacking);
}

PhxStatus phx_replay_writer_copy(PhxReplaySink sink, const PhxReplay *from, uint32_t tick,
                                 const PhxReplayCopyOptions *options, const PhxAllocator *allocator,
                                 PhxReplayWriter **out, PhxError *error) {
    const PhxReplayInfo *info = &from->info;
    *out = NULL;
    if (!info->has_content)
        return phx_error_set(error, PHX_ERROR_TRUNCATED, info->fault.offset, "no tick was kept: %.200s",
                             info->fault.text);
    if (tick > info->ticks)
        return phx_error_set(error, PHX_ERROR_NOT_FOUND, 0, "tick %lu is beyond the end: %lu ticks were kept",
                             (unsigned long)tick, (unsigned long)info->ticks);
    PhxStatus status = check_packing(from, options, error);
    if (status != PHX_OK) return status;
    PhxReplayWriter *writer = phx_replay_writer_make(sink, allocator);
    if (!writer) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "out of memory");
    writer->table_count = info->table_count;
    writer->tick_rate = info->settings.tick_rate;
    writer->root = info->start_root;
    memcpy(writer->tables, from->start_hashes, sizeof writer->tables);
    writer->packing = options->repack ? options->packing : PHX_REPLAY_PACK_BEST;
    status = copy_beginning(writer, from, options->repack);
    if (status == PHX_OK) status = copy_records(writer, from, tick, options);
    if (status == PHX_OK) status = phx_replay_frame_tick_done(writer, true);
    if (status == PHX_OK) {
        *out = writer;
        return PHX_OK;
    }
    phx_replay_writer_destroy(writer);
    return phx_error_set(error, status, 0, "the ticks could not be copied: %s", phx_status_text(status));
}

PhxStatus phx_replay_writer_continue(PhxReplaySink sink, const PhxReplay *from, uint32_t tick,
                                     const PhxAllocator *allocator, PhxReplayWriter **out, PhxError *error) {
    return phx_replay_writer_copy(sink, from, tick, &(PhxReplayCopyOptions){0}, allocator, out, error);
}

PhxStatus phx_replay_writer_repack(PhxReplaySink sink, const PhxReplay *from, uint32_t tick,
                                   PhxReplayPacking packing, const PhxAllocator *allocator,
                                   PhxReplayWriter **out, PhxError *error) {
    const PhxReplayCopyOptions options = {.repack = true, .packing = packing};
    return phx_replay_writer_copy(sink, from, tick, &options, allocator, out, error);
}
