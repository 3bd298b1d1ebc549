/* keyframe.c: writes snapshots into a replay, when it is time for one, and their index at the end.
 *
 * In: the canonical bytes of a state. Out: KEYFRAME, EVIDENCE and INDEX records. Cost: packing, O(bytes), a
 * few milliseconds for ten thousand units; the distance between keyframes grows in proportion to the match,
 * so that their number is about 64 + 64 ln(ticks / (64 spacing)).
 * Determinism: when a keyframe is due depends on the bytes of those before, and so on the packer's version;
 * what a keyframe says doesn't.
 */
#include "replay/writer.h"

enum {
    SPACING_SECONDS = 10,
    GROWTH = 64, /* spacing: this share of the ticks so far */
    BUDGET = 512 * 1024
};

void phx_replay_writer_keyframes(PhxReplayWriter *writer, const PhxReplayKeyframeOptions *options) {
    writer->options = options ? *options : (PhxReplayKeyframeOptions){0};
}

/* What the match has earned for keyframes so far, in bytes. */
static uint64_t earned(const PhxReplayWriter *writer) {
    const uint64_t budget = writer->options.budget ? writer->options.budget : BUDGET;
    const uint64_t minute = 60 * (uint64_t)(writer->tick_rate ? writer->tick_rate : 1);
    return budget / minute >= UINT64_MAX / UINT32_MAX
               ? UINT64_MAX
               : budget / minute * writer->ticks + budget % minute * writer->ticks / minute;
}

bool phx_replay_writer_keyframe_due(const PhxReplayWriter *writer) {
    if (writer->options.none || writer->ended || writer->pending || writer->status != PHX_OK) return false;
    const uint32_t count = writer->keyframes.count;
    if (count >= PHX_REPLAY_INDEX_LIMIT) return false;
    const uint32_t last = count > 0 ? writer->keyframes.places[count - 1].tick : 0;
    const uint32_t least =
        writer->options.spacing ? writer->options.spacing : SPACING_SECONDS * writer->tick_rate;
    const uint32_t grown = writer->ticks / GROWTH;
    if (writer->ticks - last < (least > grown ? least : grown)) return false;
    return writer->ticks > last && writer->spent <= earned(writer);
}

static PhxStatus may_snapshot(const PhxReplayWriter *writer, const void *snapshot, size_t size) {
    const PhxStatus status = phx_replay_writer_may(writer);
    if (status != PHX_OK) return status;
    if (!snapshot || size == 0) return PHX_ERROR_ARGUMENT;
    return size > PHX_REPLAY_SNAPSHOT_LIMIT ? PHX_ERROR_LIMIT : PHX_OK;
}

PhxStatus phx_replay_writer_keyframe(PhxReplayWriter *writer, uint64_t root, const void *snapshot,
                                     size_t size) {
    uint8_t bytes[PHX_REPLAY_FIXED_LIMIT];
    PhxReplayKeyframeFields fields = {.tick = writer->ticks, .root = root, .size = (uint32_t)size};
    PhxReplayPlaces *places = &writer->keyframes;
    size_t packed;
    PhxStatus status = may_snapshot(writer, snapshot, size);
    if (status != PHX_OK) return status;
    if (root != writer->root) return PHX_ERROR_ARGUMENT;
    if (writer->pending) return PHX_ERROR_STATE;
    if (places->count > 0 && places->places[places->count - 1].tick == writer->ticks) return PHX_ERROR_STATE;
    const uint8_t *payload =
        phx_replay_writer_pack(writer, snapshot, size, size - 1, &packed, &fields.encoding);
    if (!payload) return PHX_ERROR_MEMORY;
    status = phx_replay_places_add(places, &writer->allocator,
                                   (PhxReplayPlace){.tick = writer->ticks, .offset = writer->bytes});
    if (status != PHX_OK) return status;
    PhxWriter fixed = phx_writer_make(bytes, sizeof bytes);
    phx_replay_put_keyframe(&fixed, &fields);
    writer->all = true;
    writer->spent += PHX_REPLAY_FRAME + fixed.at + packed;
    return phx_replay_frame_small(writer, PHX_REPLAY_TYPE_KEYFRAME, &fixed, payload, packed);
}

PhxStatus phx_replay_writer_evidence(PhxReplayWriter *writer, uint8_t slot, uint32_t tick, uint64_t root,
                                     const void *snapshot, size_t size) {
    uint8_t bytes[PHX_REPLAY_FIXED_LIMIT];
    PhxReplayEvidenceFields fields = {.tick = tick, .slot = slot, .root = root, .size = (uint32_t)size};
    size_t packed;
    const PhxStatus status = may_snapshot(writer, snapshot, size);
    if (status != PHX_OK) return status;
    if (tick > writer->ticks) return PHX_ERROR_ARGUMENT;
    const uint8_t *payload =
        phx_replay_writer_pack(writer, snapshot, size, size - 1, &packed, &fields.encoding);
    if (!payload) return PHX_ERROR_MEMORY;
    PhxWriter fixed = phx_writer_make(bytes, sizeof bytes);
    phx_replay_put_evidence(&fixed, &fields);
    if (phx_replay_frame_small(writer, PHX_REPLAY_TYPE_EVIDENCE, &fixed, payload, packed) != PHX_OK)
        return writer->status;
    return phx_replay_frame_tick_done(writer, true);
}

PhxStatus phx_replay_writer_index(PhxReplayWriter *writer, uint64_t *offset) {
    enum { ENTRY = 12 };
    uint8_t bytes[PHX_REPLAY_FIXED_LIMIT];
    const PhxReplayPlaces *places = &writer->keyframes;
    *offset = 0;
    if (places->count == 0) return writer->status;
    *offset = writer->bytes;
    PhxWriter fixed = phx_writer_make(bytes, sizeof bytes);
    phx_replay_put_index(&fixed, &(PhxReplayIndexFields){.count = places->count});
    phx_replay_frame_begin(writer, PHX_REPLAY_TYPE_INDEX, fixed.at + (size_t)places->count * ENTRY);
    phx_replay_frame_put(writer, bytes, fixed.at);
    for (uint32_t i = 0; i < places->count; i++) {
        PhxWriter entry = phx_writer_make(bytes, sizeof bytes);
        phx_write_u32(&entry, places->places[i].tick);
        phx_write_u64(&entry, places->places[i].offset);
        phx_replay_frame_put(writer, bytes, entry.at);
    }
    return phx_replay_frame_end(writer);
}
