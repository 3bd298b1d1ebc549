/* replay.c: libFuzzer over the replay reader: whatever the bytes, opening, info, notes and the walk over all
 * ticks end.
 *
 * Links: phalanx_replay, and through it content, step and what they stand on. Build with clang,
 * PHX_FUZZERS=ON and PHX_SANITIZE=address,undefined; run: fuzz_replay -max_len=65536 [corpus folder]. A
 * replay of any match, and its first bytes, make good seeds.
 *
 * Each input is read twice: as it is, and with every checksum put right, so that the fuzzer gets past them.
 * (What follows from the content of a replay belongs to the fuzzer of the content.)
 */
#include <phalanx/hash.h>
#include <stdlib.h>
#include <string.h>

#include "replay/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_snapshots(const PhxReplay *replay) {
    static uint8_t room[1 << 16];
    PhxReplaySnapshot snapshot;
    uint64_t position = 0;
    uint32_t keyframes = 0, evidence = 0;
    for (; phx_replay_keyframe(replay, keyframes, &snapshot); keyframes++)
        if (phx_replay_snapshot_read(replay, &snapshot, room, sizeof room) == PHX_ERROR_MEMORY) abort();
    for (; phx_replay_evidence_next(replay, &position, &snapshot); evidence++)
        if (phx_replay_snapshot_read(replay, &snapshot, room, sizeof room) == PHX_ERROR_MEMORY) abort();
    if (keyframes != phx_replay_info(replay)->keyframes || evidence != phx_replay_info(replay)->evidence)
        abort();
}

static void read_all(const uint8_t *bytes, size_t size) {
    PhxReplay *replay;
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    PhxReplayNote note;
    PhxError error = {0};
    uint64_t position = 0;
    uint32_t ticks = 0, notes = 0;
    if (phx_replay_open(bytes, size, NULL, &replay, &error) != PHX_OK) {
        if (replay || error.text[0] == 0) abort();
        return;
    }
    const PhxReplayInfo *info = phx_replay_info(replay);
    if (info->kept_bytes + info->lost_bytes != size || info->fault.offset > size) abort();
    if (phx_replay_cursor_create(replay, &cursor) == PHX_OK) {
        while (phx_replay_cursor_next(cursor, &tick))
            if (tick.complete) ticks++;
        if (ticks != info->ticks) abort();
        phx_replay_cursor_destroy(cursor);
    }
    read_snapshots(replay);
    while (phx_replay_note_next(replay, &position, &note)) notes++;
    if (notes != info->notes) abort();
    phx_replay_close(replay);
}

static void mend_checksums(uint8_t *bytes, size_t size) {
    const uint8_t version[4] = {PHX_REPLAY_VERSION};
    size_t at = PHX_REPLAY_PREAMBLE;
    if (size < at) return;
    memcpy(bytes, phx_replay_signature, sizeof phx_replay_signature);
    memcpy(bytes + sizeof phx_replay_signature, version, sizeof version);
    while (size - at >= PHX_REPLAY_FRAME) {
        PhxReader reader = phx_reader_make(bytes + at + 1, 4);
        const uint32_t length = phx_read_u32(&reader);
        if (length > size - at - PHX_REPLAY_FRAME) return;
        phx_store_u32(bytes + at + PHX_REPLAY_HEAD + length,
                      (uint32_t)phx_hash_bytes(bytes + at, PHX_REPLAY_HEAD + length));
        at += PHX_REPLAY_FRAME + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_all(data, size);
    uint8_t *bytes = malloc(size + 1);
    if (!bytes) return 0;
    if (size) memcpy(bytes, data, size);
    mend_checksums(bytes, size);
    read_all(bytes, size);
    free(bytes);
    return 0;
}
