/* subject.c: see subject.h. Cost: that of the match; going back costs the ticks from the mark, or all. */
#include "bisect/subject.h"

#include <stdlib.h>
#include <string.h>

#include "step/sim_internal.h"

#define NO_MARK PHX_REPLAY_BEFORE_FIRST

static PhxStatus begin_match(PhxSubject *subject, PhxError *error) {
    const PhxSimConfig config = {.game = subject->options.game, .jobs = subject->jobs};
    PhxStatus status = phx_replay_playback_create(subject->replay, &config, &subject->playback, error);
    if (status != PHX_OK) return status;
    subject->sim = phx_replay_playback_sim(subject->playback);
    status = phx_replay_cursor_create(subject->replay, &subject->cursor);
    if (status == PHX_OK && subject->options.reload) status = phx_sim_clone(subject->sim, &subject->clone);
    subject->other = subject->clone;
    subject->tick = 0;
    if (status == PHX_OK) status = phx_tree_clock_begin(&subject->clock, subject->sim);
    return status == PHX_OK ? PHX_OK : phx_error_set(error, status, 0, "%s", phx_status_text(status));
}

static void end_match(PhxSubject *subject) {
    phx_sim_destroy(subject->clone);
    phx_replay_cursor_destroy(subject->cursor);
    phx_replay_playback_destroy(subject->playback);
    subject->clone = subject->sim = subject->other = NULL;
    subject->cursor = NULL;
    subject->playback = NULL;
}

PhxStatus phx_subject_open(PhxSubject *subject, const PhxSubjectOptions *options, const char *path,
                           PhxError *error) {
    *subject = (PhxSubject){.options = *options, .mark_tick = NO_MARK};
    PhxStatus status = phx_replay_load(path, 0, &subject->replay, error);
    if (status == PHX_OK && options->threads > 1) {
        status = phx_jobs_threads_create(options->threads, &subject->jobs);
        if (status != PHX_OK) (void)phx_error_set(error, status, 0, "no %u threads", options->threads);
    }
    if (status == PHX_OK) status = begin_match(subject, error);
    if (status != PHX_OK) phx_subject_close(subject);
    return status;
}

void phx_subject_close(PhxSubject *subject) {
    end_match(subject);
    phx_replay_close(subject->replay);
    if (subject->options.threads > 1 && subject->jobs.user) phx_jobs_threads_destroy(&subject->jobs);
    free(subject->mark);
    free(subject->snapshot);
    *subject = (PhxSubject){.mark_tick = NO_MARK};
}

static PhxStatus save(const PhxSim *sim, uint8_t **bytes, size_t *size) {
    const size_t needed = phx_sim_snapshot_size(sim);
    uint8_t *grown = realloc(*bytes, needed);
    if (!grown) return PHX_ERROR_MEMORY;
    *bytes = grown;
    return phx_sim_snapshot(sim, grown, needed, size);
}

/* What `cold` and `reload` do before a tick. */
static PhxStatus disturb(PhxSubject *subject, PhxError *error) {
    if (subject->options.cold) phx_sim_drop_derived(subject->sim, (uint8_t)(subject->tick * 37 + 1));
    if (!subject->options.reload) return PHX_OK;
    PhxStatus status = save(subject->sim, &subject->snapshot, &subject->snapshot_size);
    if (status != PHX_OK) return phx_error_set(error, status, 0, "%s", phx_status_text(status));
    status = phx_sim_restore(subject->other, subject->snapshot, subject->snapshot_size, error);
    if (status != PHX_OK) return status;
    PhxSim *swap = subject->sim;
    subject->sim = subject->other;
    subject->other = swap;
    return PHX_OK;
}

static void observe(void *user, uint32_t tick, uint32_t phase, const char *name, bool begin, uint64_t hash) {
    PhxSubject *subject = user;
    (void)tick, (void)name, (void)hash;
    if (!begin) phx_tree_clock_phase(&subject->clock, phase);
    subject->look(subject->look_user, subject, phase, begin);
}

PhxStatus phx_subject_step(PhxSubject *subject, PhxSubjectLook look, void *user, PhxError *error) {
    PhxReplayTick tick;
    if (!phx_replay_cursor_next(subject->cursor, &tick) || !tick.complete)
        return phx_error_set(error, PHX_ERROR_NOT_FOUND, subject->tick, "the replay ends before tick %lu",
                             (unsigned long)subject->tick);
    PhxStatus status = disturb(subject, error);
    if (status != PHX_OK) return status;
    phx_tree_clock_tick(&subject->clock);
    subject->look = look;
    subject->look_user = user;
    phx_sim_observe_phases(subject->sim, look ? observe : NULL, subject, false);
    status = phx_sim_step(subject->sim, tick.commands, tick.command_count);
    phx_sim_observe_phases(subject->sim, NULL, NULL, false);
    phx_tree_clock_tick(&subject->clock);
    if (status != PHX_OK)
        return phx_error_set(error, status, subject->tick, "tick %lu: %s", (unsigned long)subject->tick,
                             phx_status_text(status));
    subject->tick++;
    return PHX_OK;
}

PhxStatus phx_subject_mark(PhxSubject *subject) {
    subject->mark_tick = NO_MARK;
    const PhxStatus status = save(subject->sim, &subject->mark, &subject->mark_size);
    if (status == PHX_OK) subject->mark_tick = subject->tick;
    return status;
}

PhxStatus phx_subject_seek(PhxSubject *subject, uint32_t tick, bool afresh, PhxError *error) {
    PhxStatus status = PHX_OK;
    if (afresh || (subject->tick > tick && (subject->mark_tick == NO_MARK || subject->mark_tick > tick))) {
        end_match(subject);
        status = begin_match(subject, error);
    } else if (subject->tick > tick) {
        status = phx_sim_restore(subject->sim, subject->mark, subject->mark_size, error);
        subject->tick = subject->mark_tick;
        if (status == PHX_OK) status = phx_replay_cursor_seek(subject->cursor, subject->tick);
    }
    while (status == PHX_OK && subject->tick < tick) status = phx_subject_step(subject, NULL, NULL, error);
    return status;
}
