/* playback.c: plays a replay: a world from its settings and content, stepped with its commands, or put where
 * a keyframe says.
 *
 * In: an opened replay and a config. Out: a sim at any tick.
 * Cost: that of the ticks between the keyframe and the goal, and a restore.
 * Determinism: the sim is given what the recorder's sim was given; a keyframe is the recorder's state at its
 * tick, which phx_replay_verify holds against the computed one.
 */
#include <phalanx/content.h>
#include <string.h>

#include "replay/pack.h"
#include "replay/playback.h"

/* Why a replay makes no world, as far as it says itself; PHX_OK where nothing is known against it. */
static PhxStatus check_header(const PhxReplay *replay, PhxReplayVerdict *verdict, PhxError *error) {
    const PhxReplayInfo *info = &replay->info;
    PhxContentInfo content;
    *verdict = PHX_REPLAY_UNREADABLE;
    if (!info->has_content)
        return phx_error_set(error, info->fault.status, info->fault.offset, "no tick was kept: %.200s",
                             info->fault.text);
    *verdict = PHX_REPLAY_NOT_VERIFIABLE;
    if (info->sim_revision != PHX_SIM_REVISION)
        return phx_error_set(error, PHX_ERROR_VERSION, PHX_REPLAY_PREAMBLE,
                             "recorded by simulation revision %lu; this program has revision %lu",
                             (unsigned long)info->sim_revision, (unsigned long)PHX_SIM_REVISION);
    if (!info->content_readable)
        return phx_error_set(error, PHX_ERROR_VERSION, PHX_REPLAY_PREAMBLE, "%s", phx_replay_pack_lacking);
    const PhxStatus status = phx_content_info(replay->content, replay->content_size, &content, error);
    *verdict = status == PHX_ERROR_VERSION ? PHX_REPLAY_NOT_VERIFIABLE : PHX_REPLAY_UNREADABLE;
    if (status != PHX_OK) return status;
    if (content.content_hash != info->content_hash)
        return phx_error_set(error, PHX_ERROR_MISMATCH, replay->body,
                             "the content's hash is %016llx, and the header says %016llx",
                             (unsigned long long)content.content_hash,
                             (unsigned long long)info->content_hash);
    return PHX_OK;
}

static PhxStatus check_tables(const PhxReplay *replay, const PhxSim *sim, PhxError *error) {
    const PhxReplayInfo *info = &replay->info;
    bool equal =
        phx_sim_schema_hash(sim) == info->schema_hash && phx_sim_table_count(sim) == info->table_count;
    for (uint32_t t = 0; t < info->table_count && equal; t++)
        equal = strcmp(phx_sim_table_name(sim, t), info->table_names[t]) == 0;
    if (equal) return PHX_OK;
    return phx_error_set(error, PHX_ERROR_MISMATCH, PHX_REPLAY_PREAMBLE,
                         "recorded with other tables: schema %016llx, and this program has %016llx",
                         (unsigned long long)info->schema_hash, (unsigned long long)phx_sim_schema_hash(sim));
}

PhxStatus phx_replay_playback_make(const PhxReplay *replay, const PhxSimConfig *config,
                                   PhxReplayPlayback **out, PhxReplayVerdict *verdict, PhxError *error) {
    const PhxSimConfig plain = {0};
    const PhxAllocator memory = replay->allocator;
    *out = NULL;
    PhxStatus status = check_header(replay, verdict, error);
    if (status != PHX_OK) return status;
    PhxReplayPlayback *playback = memory.allocate(memory.user, sizeof *playback);
    if (!playback) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "out of memory");
    *playback =
        (PhxReplayPlayback){.replay = replay, .allocator = memory, .config = config ? *config : plain};
    status = phx_replay_cursor_create(replay, &playback->cursor);
    if (status != PHX_OK) (void)phx_error_set(error, status, 0, "out of memory");
    if (status == PHX_OK)
        status = phx_sim_create(&playback->config, replay->content, replay->content_size,
                                &replay->info.settings, &playback->sim, error);
    *verdict = status == PHX_ERROR_MISMATCH || status == PHX_ERROR_VERSION ? PHX_REPLAY_NOT_VERIFIABLE
                                                                           : PHX_REPLAY_UNREADABLE;
    if (status == PHX_OK) {
        *verdict = PHX_REPLAY_NOT_VERIFIABLE;
        status = check_tables(replay, playback->sim, error);
    }
    if (status == PHX_OK)
        *out = playback;
    else
        phx_replay_playback_destroy(playback);
    return status;
}

PhxStatus phx_replay_playback_create(const PhxReplay *replay, const PhxSimConfig *config,
                                     PhxReplayPlayback **out, PhxError *error) {
    PhxReplayVerdict verdict;
    return phx_replay_playback_make(replay, config, out, &verdict, error);
}

PhxSim *phx_replay_playback_sim(PhxReplayPlayback *playback) { return playback->sim; }

bool phx_replay_playback_done(const PhxReplayPlayback *playback) {
    return phx_sim_tick(playback->sim) >= playback->replay->info.ticks;
}

PhxStatus phx_replay_playback_step(PhxReplayPlayback *playback, PhxReplayTick *recorded) {
    PhxReplayTick tick;
    if (phx_replay_playback_done(playback)) return PHX_ERROR_NOT_FOUND;
    if (!phx_replay_cursor_next(playback->cursor, &tick) || !tick.complete) return PHX_ERROR_STATE;
    if (recorded) *recorded = tick;
    playback->stepped++;
    return phx_sim_step(playback->sim, tick.commands, tick.command_count);
}

uint64_t phx_replay_playback_stepped(const PhxReplayPlayback *playback) { return playback->stepped; }

uint8_t *phx_replay_playback_room(PhxReplayPlayback *playback, size_t size) {
    if (size <= playback->room_size) return playback->room;
    const PhxAllocator memory = playback->allocator;
    if (playback->room) memory.release(memory.user, playback->room, playback->room_size);
    playback->room = memory.allocate(memory.user, size);
    playback->room_size = playback->room ? size : 0;
    return playback->room;
}

/* The state before tick 0 comes from the content, by way of another world, so that the sim stays the same
 * object. */
static PhxStatus restart(PhxReplayPlayback *playback, PhxError *error) {
    const PhxReplay *replay = playback->replay;
    PhxSim *fresh;
    PhxStatus status = phx_sim_create(&playback->config, replay->content, replay->content_size,
                                      &replay->info.settings, &fresh, error);
    if (status != PHX_OK) return status;
    size_t size = phx_sim_snapshot_size(fresh);
    uint8_t *bytes = phx_replay_playback_room(playback, size);
    if (bytes) {
        status = phx_sim_snapshot(fresh, bytes, size, &size);
        if (status == PHX_OK) status = phx_sim_restore(playback->sim, bytes, size, error);
    } else {
        status = phx_error_set(error, PHX_ERROR_MEMORY, 0, "out of memory");
    }
    phx_sim_destroy(fresh);
    if (status == PHX_OK) phx_replay_cursor_rewind(playback->cursor);
    return status;
}

PhxStatus phx_replay_playback_unpack(PhxReplayPlayback *playback, const PhxReplaySnapshot *snapshot,
                                     uint8_t **bytes) {
    *bytes = NULL;
    if (snapshot->size > phx_sim_state_bytes(playback->sim) + PHX_REPLAY_SNAPSHOT_EXTRA)
        return PHX_ERROR_FORMAT;
    *bytes = phx_replay_playback_room(playback, snapshot->size);
    if (!*bytes) return PHX_ERROR_MEMORY;
    return phx_replay_snapshot_read(playback->replay, snapshot, *bytes, snapshot->size);
}

/* The state of a keyframe into the sim. False, with the sim as it was, where the keyframe is no good; and
 * with it changed where its state isn't what its record says, which *changed tells. */
static bool jump(PhxReplayPlayback *playback, const PhxReplaySnapshot *keyframe, bool *changed) {
    uint8_t *bytes;
    if (phx_replay_playback_unpack(playback, keyframe, &bytes) != PHX_OK) return false;
    if (phx_sim_restore(playback->sim, bytes, keyframe->size, NULL) != PHX_OK) return false;
    *changed = true;
    if (phx_sim_root(playback->sim) != keyframe->root || phx_sim_tick(playback->sim) != keyframe->tick)
        return false;
    phx_replay_cursor_jump(playback->cursor,
                           (PhxReplayPlace){.tick = keyframe->tick, .offset = keyframe->position});
    return true;
}

/* Brings the sim to the best place from which `tick` is reached by stepping. */
static PhxStatus approach(PhxReplayPlayback *playback, uint32_t tick, PhxError *error) {
    const uint32_t now = phx_sim_tick(playback->sim);
    PhxReplaySnapshot keyframe;
    bool lost = now > tick; /* the sim isn't on the way to the goal */
    uint32_t below = tick;
    while (phx_replay_keyframe_before(playback->replay, below, &keyframe)) {
        if (!lost && keyframe.tick <= now) return PHX_OK;
        if (jump(playback, &keyframe, &lost)) return PHX_OK;
        if (keyframe.tick == 0) break;
        below = keyframe.tick - 1;
    }
    return lost ? restart(playback, error) : PHX_OK;
}

PhxStatus phx_replay_playback_seek(PhxReplayPlayback *playback, uint32_t tick, PhxError *error) {
    if (tick > playback->replay->info.ticks)
        return phx_error_set(error, PHX_ERROR_NOT_FOUND, 0, "tick %lu is beyond the end: %lu ticks were kept",
                             (unsigned long)tick, (unsigned long)playback->replay->info.ticks);
    PhxStatus status = approach(playback, tick, error);
    while (status == PHX_OK && phx_sim_tick(playback->sim) < tick) {
        status = phx_replay_playback_step(playback, NULL);
        if (status != PHX_OK)
            (void)phx_error_set(error, status, 0, "tick %lu can't be played: %s",
                                (unsigned long)phx_sim_tick(playback->sim), phx_status_text(status));
    }
    return status;
}

void phx_replay_playback_destroy(PhxReplayPlayback *playback) {
    if (!playback) return;
    phx_sim_destroy(playback->sim);
    phx_replay_cursor_destroy(playback->cursor);
    if (playback->room)
        playback->allocator.release(playback->allocator.user, playback->room, playback->room_size);
    playback->allocator.release(playback->allocator.user, playback, sizeof *playback);
}
