/* playback.c: plays a replay: a world from its settings and content, stepped with its commands; and verifies
 * it.
 *
 * In: an opened replay and a config. Out: a sim at any tick, going forward; or a verdict.
 * Cost: that of the match.
 * Determinism: the sim is given what the recorder's sim was given; nothing recorded is trusted but the input.
 */
#include <phalanx/content.h>
#include <string.h>

#include "replay/record.h"

struct PhxReplayPlayback {
    const PhxReplay *replay;
    PhxAllocator allocator;
    PhxReplayCursor *cursor;
    PhxSim *sim;
    PhxSimConfig config;
};

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

/* As phx_replay_playback_create, and says what a failure means to a verifier. */
static PhxStatus create(const PhxReplay *replay, const PhxSimConfig *config, PhxReplayPlayback **out,
                        PhxReplayVerdict *verdict, PhxError *error) {
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
    return create(replay, config, out, &verdict, error);
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
    return phx_sim_step(playback->sim, tick.commands, tick.command_count);
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
    const PhxAllocator memory = playback->allocator;
    uint8_t *bytes = memory.allocate(memory.user, size);
    if (bytes) {
        size_t written;
        status = phx_sim_snapshot(fresh, bytes, size, &written);
        if (status == PHX_OK) status = phx_sim_restore(playback->sim, bytes, written, error);
        memory.release(memory.user, bytes, size);
    } else {
        status = phx_error_set(error, PHX_ERROR_MEMORY, 0, "out of memory");
    }
    phx_sim_destroy(fresh);
    if (status == PHX_OK) phx_replay_cursor_rewind(playback->cursor);
    return status;
}

PhxStatus phx_replay_playback_seek(PhxReplayPlayback *playback, uint32_t tick, PhxError *error) {
    PhxStatus status = PHX_OK;
    if (tick > playback->replay->info.ticks)
        return phx_error_set(error, PHX_ERROR_NOT_FOUND, 0, "tick %lu is beyond the end: %lu ticks were kept",
                             (unsigned long)tick, (unsigned long)playback->replay->info.ticks);
    if (tick < phx_sim_tick(playback->sim)) status = restart(playback, error);
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
    playback->allocator.release(playback->allocator.user, playback, sizeof *playback);
}

/* ---- verification ---- */

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

/* True where root and tables are as recorded; else fills the verdict. */
static bool compare(const PhxReplay *replay, const PhxSim *sim, uint32_t tick, uint64_t root,
                    const uint64_t *tables, PhxReplayVerification *out) {
    const uint64_t *computed = phx_sim_table_hashes(sim);
    out->recorded_root = root;
    out->computed_root = phx_sim_root(sim);
    for (uint32_t t = 0; t < replay->info.table_count; t++)
        if (tables[t] != computed[t])
            out->differences[out->difference_count++] =
                (PhxReplayTableDifference){.table = t,
                                           .name = replay->info.table_names[t],
                                           .recorded = tables[t],
                                           .computed = computed[t]};
    if (out->difference_count == 0 && root == out->computed_root) return true;
    out->verdict = PHX_REPLAY_DIVERGED;
    out->tick = tick;
    describe_divergence(out);
    return false;
}

static PhxStatus verify_ticks(PhxReplayPlayback *playback, PhxReplayProgress progress, void *user,
                              PhxReplayVerification *out) {
    const PhxReplay *replay = playback->replay;
    PhxReplayTick tick;
    if (!compare(replay, playback->sim, PHX_REPLAY_BEFORE_FIRST, replay->info.start_root,
                 replay->start_hashes, out))
        return PHX_OK;
    while (!phx_replay_playback_done(playback)) {
        const PhxStatus status = phx_replay_playback_step(playback, &tick);
        if (status != PHX_OK) return status;
        if (!compare(replay, playback->sim, tick.tick, tick.root, tick.table_hashes, out)) return PHX_OK;
        out->ticks++;
        if (progress) progress(user, out->ticks, replay->info.ticks);
    }
    out->verdict = replay->info.state == PHX_REPLAY_GARBLED ? PHX_REPLAY_UNREADABLE : PHX_REPLAY_VERIFIED;
    out->error = replay->info.fault;
    return PHX_OK;
}

PhxStatus phx_replay_verify(const PhxReplay *replay, const PhxSimConfig *config, PhxReplayProgress progress,
                            void *user, PhxReplayVerification *out) {
    PhxReplayPlayback *playback;
    memset(out, 0, sizeof *out);
    PhxStatus status = create(replay, config, &playback, &out->verdict, &out->error);
    if (status == PHX_ERROR_MEMORY || status == PHX_ERROR_ARGUMENT) return status;
    if (status != PHX_OK) return PHX_OK;
    status = verify_ticks(playback, progress, user, out);
    phx_replay_playback_destroy(playback);
    return status;
}
