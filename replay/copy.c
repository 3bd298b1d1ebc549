/* copy.c: begins a replay with the first ticks of another: for cutting, and for going on otherwise.
 *
 * In: an opened replay, of any simulation revision. Out: its records, byte for byte, to another sink, and a
 * writer that stands behind them. Left out are the end, the index, and records that this version doesn't
 * know: what they say of the file may no longer be so. Cost: O(bytes).
 */
#include <string.h>

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

static PhxStatus copy_records(PhxReplayWriter *writer, const PhxReplay *from, uint32_t tick) {
    const bool all = tick == from->info.ticks;
    PhxReplayRecord record;
    for (uint64_t at = from->body; at < from->info.kept_bytes && writer->status == PHX_OK; at = record.next) {
        PhxStatus status = phx_replay_record_read(from->bytes, from->info.kept_bytes, at, &record, NULL);
        if (status != PHX_OK) return status;
        if (!wanted(writer, &record, tick, all)) {
            if (writer->ticks == tick && record.kind == PHX_REPLAY_KIND_HASHES) break;
            continue;
        }
        status = remember(writer, &record, writer->bytes + writer->used);
        if (status != PHX_OK) return status;
        phx_replay_frame_raw(writer, from->bytes + at, (size_t)(record.next - at));
    }
    return phx_replay_frame_flush(writer);
}

PhxStatus phx_replay_writer_continue(PhxReplaySink sink, const PhxReplay *from, uint32_t tick,
                                     const PhxAllocator *allocator, PhxReplayWriter **out, PhxError *error) {
    const PhxReplayInfo *info = &from->info;
    *out = NULL;
    if (!info->has_content)
        return phx_error_set(error, PHX_ERROR_TRUNCATED, info->fault.offset, "no tick was kept: %.200s",
                             info->fault.text);
    if (tick > info->ticks)
        return phx_error_set(error, PHX_ERROR_NOT_FOUND, 0, "tick %lu is beyond the end: %lu ticks were kept",
                             (unsigned long)tick, (unsigned long)info->ticks);
    PhxReplayWriter *writer = phx_replay_writer_make(sink, allocator);
    if (!writer) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "out of memory");
    writer->table_count = info->table_count;
    writer->tick_rate = info->settings.tick_rate;
    writer->root = info->start_root;
    memcpy(writer->tables, from->start_hashes, sizeof writer->tables);
    phx_replay_frame_raw(writer, from->bytes, (size_t)from->body);
    PhxStatus status = copy_records(writer, from, tick);
    if (status == PHX_OK) status = phx_replay_frame_tick_done(writer, true);
    if (status == PHX_OK) {
        *out = writer;
        return PHX_OK;
    }
    phx_replay_writer_destroy(writer);
    return phx_error_set(error, status, 0, "the ticks could not be copied: %s", phx_status_text(status));
}
