/* verify.c: computes a replay's match again and holds all that was recorded of it against the result.
 *
 * In: an opened replay and a config. Out: a verdict, and what differs first. Cost: that of the match, and for
 * each keyframe a snapshot and an unpacking.
 * Determinism: the sim is given what the recorder's sim was given; nothing recorded is trusted but the input.
 */
#include <string.h>

#include "replay/playback.h"

const char *phx_replay_verdict_name(PhxReplayVerdict verdict) {
    static const char *const names[] = {"verified", "diverged", "unreadable", "not verifiable"};
    return (unsigned)verdict < sizeof names / sizeof names[0] ? names[verdict] : "unknown";
}

/* Names the tables that differ, all of them in the structure and as many as fit in the text. */
static void describe_divergence(PhxReplayVerification *out) {
    char tables[160] = "";
    size_t used = 0;
    for (uint32_t d = 0; d < out->difference_count; d++) {
        const size_t length = strlen(out->differences[d].name);
        if (used + length + 3 > sizeof tables) break;
        if (used) tables[used++] = ',', tables[used++] = ' ';
        memcpy(tables + used, out->differences[d].name, length + 1);
        used += length;
    }
    const char *what = out->difference_count == 0 ? "root alone" : tables;
    if (out->tick == PHX_REPLAY_BEFORE_FIRST)
        phx_error_set(&out->error, PHX_ERROR_MISMATCH, 0, "diverged before tick 0: %s", what);
    else
        phx_error_set(&out->error, PHX_ERROR_MISMATCH, out->tick, "diverged at tick %lu: %s",
                      (unsigned long)out->tick, what);
}

static uint32_t list_differences(const PhxReplay *replay, const uint64_t *recorded, const uint64_t *computed,
                                 PhxReplayTableDifference *out) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < replay->info.table_count; t++)
        if (recorded[t] != computed[t])
            out[count++] = (PhxReplayTableDifference){.table = t,
                                                      .name = replay->info.table_names[t],
                                                      .recorded = recorded[t],
                                                      .computed = computed[t]};
    return count;
}

/* True where root and tables are as recorded; else fills the verdict. */
static bool compare(const PhxReplay *replay, const PhxSim *sim, uint32_t tick, uint64_t root,
                    const uint64_t *tables, PhxReplayVerification *out) {
    const uint64_t *computed = phx_sim_table_hashes(sim);
    out->recorded_root = root;
    out->computed_root = phx_sim_root(sim);
    out->difference_count = list_differences(replay, tables, computed, out->differences);
    if (out->difference_count == 0 && root == out->computed_root) return true;
    out->verdict = PHX_REPLAY_DIVERGED;
    out->tick = tick;
    describe_divergence(out);
    return false;
}

/* A keyframe that isn't the computed state. Which tables differ is asked of a third world, where it makes
 * one.
 */
static PhxStatus keyframe_differs(PhxReplayPlayback *playback, const PhxReplaySnapshot *keyframe,
                                  const uint8_t *bytes, PhxReplayVerification *out) {
    PhxSim *other;
    PhxError why = {0};
    const PhxStatus status = phx_sim_clone(playback->sim, &other);
    if (status != PHX_OK) return status;
    out->verdict = PHX_REPLAY_DIVERGED;
    out->tick = keyframe->tick;
    out->keyframe_differs = true;
    out->recorded_root = keyframe->root;
    out->computed_root = phx_sim_root(playback->sim);
    if (phx_sim_restore(other, bytes, keyframe->size, &why) == PHX_OK) {
        out->difference_count = list_differences(playback->replay, phx_sim_table_hashes(other),
                                                 phx_sim_table_hashes(playback->sim), out->differences);
        if (out->difference_count > 0)
            (void)phx_error_set(&why, PHX_ERROR_MISMATCH, 0, "table %s differs", out->differences[0].name);
        else
            (void)phx_error_set(&why, PHX_ERROR_MISMATCH, 0, "its bytes differ");
    }
    phx_error_set(&out->error, PHX_ERROR_MISMATCH, keyframe->position,
                  "the keyframe at byte %llu isn't the state at its tick %lu: %.120s",
                  (unsigned long long)keyframe->position, (unsigned long)keyframe->tick, why.text);
    phx_sim_destroy(other);
    return PHX_OK;
}

/* Compares the keyframe of the sim's tick, if there is one, with the sim, byte for byte: a snapshot is
 * canonical. *next is the number of the keyframe that comes next. */
static PhxStatus check_keyframe(PhxReplayPlayback *playback, uint32_t *next, PhxReplayVerification *out) {
    PhxReplaySnapshot keyframe;
    uint8_t *recorded, *computed;
    if (!phx_replay_keyframe(playback->replay, *next, &keyframe) ||
        keyframe.tick != phx_sim_tick(playback->sim))
        return PHX_OK;
    ++*next;
    if (!keyframe.readable) {
        out->keyframes_passed++;
        return PHX_OK;
    }
    PhxStatus status = phx_replay_playback_unpack(playback, &keyframe, &recorded);
    if (status == PHX_ERROR_MEMORY) return status;
    if (status != PHX_OK) {
        out->verdict = PHX_REPLAY_UNREADABLE;
        phx_error_set(&out->error, PHX_ERROR_FORMAT, keyframe.position,
                      "the keyframe at byte %llu, of tick %lu, doesn't unpack",
                      (unsigned long long)keyframe.position, (unsigned long)keyframe.tick);
        return PHX_OK;
    }
    size_t size = phx_sim_snapshot_size(playback->sim);
    computed = playback->allocator.allocate(playback->allocator.user, size);
    if (!computed) return PHX_ERROR_MEMORY;
    const size_t capacity = size;
    status = phx_sim_snapshot(playback->sim, computed, capacity, &size);
    const bool equal = size == keyframe.size && memcmp(recorded, computed, size) == 0;
    playback->allocator.release(playback->allocator.user, computed, capacity);
    if (status != PHX_OK) return status;
    if (!equal) return keyframe_differs(playback, &keyframe, recorded, out);
    out->keyframes++;
    return PHX_OK;
}

static PhxStatus verify_ticks(PhxReplayPlayback *playback, PhxReplayProgress progress, void *user,
                              PhxReplayVerification *out) {
    const PhxReplay *replay = playback->replay;
    PhxReplayTick tick;
    uint32_t keyframe = 0;
    if (!compare(replay, playback->sim, PHX_REPLAY_BEFORE_FIRST, replay->info.start_root,
                 replay->start_hashes, out))
        return PHX_OK;
    out->verdict = PHX_REPLAY_VERIFIED;
    PhxStatus status = check_keyframe(playback, &keyframe, out);
    while (status == PHX_OK && out->verdict == PHX_REPLAY_VERIFIED && !phx_replay_playback_done(playback)) {
        status = phx_replay_playback_step(playback, &tick);
        if (status != PHX_OK) break;
        if (!compare(replay, playback->sim, tick.tick, tick.root, tick.table_hashes, out)) return PHX_OK;
        out->ticks++;
        if (progress) progress(user, out->ticks, replay->info.ticks);
        status = check_keyframe(playback, &keyframe, out);
    }
    if (status != PHX_OK || out->verdict != PHX_REPLAY_VERIFIED) return status;
    out->verdict = replay->info.state == PHX_REPLAY_GARBLED ? PHX_REPLAY_UNREADABLE : PHX_REPLAY_VERIFIED;
    out->error = replay->info.fault;
    return PHX_OK;
}

PhxStatus phx_replay_verify(const PhxReplay *replay, const PhxSimConfig *config, PhxReplayProgress progress,
                            void *user, PhxReplayVerification *out) {
    PhxReplayPlayback *playback;
    memset(out, 0, sizeof *out);
    PhxStatus status = phx_replay_playback_make(replay, config, &playback, &out->verdict, &out->error);
    if (status == PHX_ERROR_MEMORY || status == PHX_ERROR_ARGUMENT) return status;
    if (status != PHX_OK) return PHX_OK;
    status = verify_ticks(playback, progress, user, out);
    phx_replay_playback_destroy(playback);
    return status;
}
