/* snapshot.c: the keyframes and the evidence of an opened replay, and the list in which keyframes are found.
 *
 * In: a PhxReplay, whose records were checked when it was opened. Out: where snapshots lie, and their bytes.
 * Cost: a search is O(log keyframes); reading unpacks. Nothing is allocated but the list, which holds what
 * was found in the bytes and grows by doubling.
 */
#include <string.h>

#include "replay/pack.h"
#include "replay/record.h"

PhxStatus phx_replay_places_add(PhxReplayPlaces *places, const PhxAllocator *memory, PhxReplayPlace place) {
    if (places->count >= PHX_REPLAY_INDEX_LIMIT) return PHX_ERROR_LIMIT;
    if (places->count == places->capacity) {
        PhxReplayPlaces larger = {.count = places->count,
                                  .capacity = places->capacity ? 2 * places->capacity : 32};
        larger.places = memory->allocate(memory->user, larger.capacity * sizeof *larger.places);
        if (!larger.places) return PHX_ERROR_MEMORY;
        if (places->count) memcpy(larger.places, places->places, places->count * sizeof *places->places);
        phx_replay_places_free(places, memory);
        *places = larger;
    }
    places->places[places->count++] = place;
    return PHX_OK;
}

void phx_replay_places_free(PhxReplayPlaces *places, const PhxAllocator *memory) {
    if (places->places)
        memory->release(memory->user, places->places, places->capacity * sizeof *places->places);
    *places = (PhxReplayPlaces){0};
}

/* A snapshot's record, with its bytes in *bytes. */
static bool describe(const PhxReplay *replay, uint64_t at, PhxReplaySnapshot *out, const uint8_t **bytes,
                     uint8_t *encoding, uint64_t *next) {
    PhxReplayRecord record;
    if (phx_replay_record_read(replay->bytes, replay->info.kept_bytes, at, &record, NULL) != PHX_OK)
        return false;
    PhxReader reader = phx_reader_make(record.payload, record.length);
    *next = record.next;
    *out = (PhxReplaySnapshot){.slot = PHX_REPLAY_NO_SLOT, .position = at};
    if (record.kind == PHX_REPLAY_KIND_KEYFRAME) {
        const PhxReplayKeyframeFields fields = phx_replay_get_keyframe(&reader);
        out->tick = fields.tick, out->root = fields.root, out->size = fields.size;
        *encoding = fields.encoding;
    } else if (record.kind == PHX_REPLAY_KIND_EVIDENCE) {
        const PhxReplayEvidenceFields fields = phx_replay_get_evidence(&reader);
        out->tick = fields.tick, out->root = fields.root, out->size = fields.size;
        out->slot = fields.slot;
        *encoding = fields.encoding;
    } else {
        return false;
    }
    out->packed = (uint32_t)phx_reader_left(&reader);
    out->readable = phx_replay_pack_known(*encoding);
    *bytes = record.payload + reader.at;
    return true;
}

bool phx_replay_keyframe(const PhxReplay *replay, uint32_t number, PhxReplaySnapshot *out) {
    const uint8_t *bytes;
    uint8_t encoding;
    uint64_t next;
    return number < replay->keyframes.count &&
           describe(replay, replay->keyframes.places[number].offset, out, &bytes, &encoding, &next);
}

bool phx_replay_keyframe_before(const PhxReplay *replay, uint32_t tick, PhxReplaySnapshot *out) {
    const PhxReplayPlaces *places = &replay->keyframes;
    uint32_t low = 0, high = places->count; /* the first beyond `tick` lies in low .. high */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (places->places[middle].tick <= tick)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0)
        if (phx_replay_keyframe(replay, --low, out) && out->readable) return true;
    return false;
}

bool phx_replay_evidence_next(const PhxReplay *replay, uint64_t *position, PhxReplaySnapshot *out) {
    PhxReplayRecord record;
    const uint8_t *bytes;
    uint8_t encoding;
    if (!replay->info.has_content) return false;
    if (*position < replay->body) *position = replay->body;
    while (*position < replay->info.kept_bytes &&
           phx_replay_record_read(replay->bytes, replay->info.kept_bytes, *position, &record, NULL) ==
               PHX_OK) {
        const uint64_t at = *position;
        *position = record.next;
        if (record.kind == PHX_REPLAY_KIND_EVIDENCE)
            return describe(replay, at, out, &bytes, &encoding, position);
    }
    return false;
}

PhxStatus phx_replay_snapshot_read(const PhxReplay *replay, const PhxReplaySnapshot *snapshot, void *buffer,
                                   size_t capacity) {
    PhxReplaySnapshot found;
    const uint8_t *bytes;
    uint8_t encoding;
    uint64_t next;
    if (snapshot->position >= replay->info.kept_bytes ||
        !describe(replay, snapshot->position, &found, &bytes, &encoding, &next))
        return PHX_ERROR_FORMAT;
    if (found.size > capacity) return PHX_ERROR_FULL;
    return phx_replay_unpack(encoding, bytes, found.packed, buffer, found.size);
}
