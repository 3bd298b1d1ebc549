/* subject.h: a match that is being looked into: a replay played by this build in a stated way, forward and
 * back, with a look into each phase.
 *
 * The recorder's keyframes are never used: they are the recorder's state, and what is wanted is what this
 * build computes. The only state that is come back to is one that this subject itself computed (the mark), or
 * tick 0. Going back to the mark drops what is derived from the state (caches); going back to tick 0 doesn't
 * in effect, for everything is then played again as before.
 */
#ifndef PHX_BISECT_SUBJECT_H
#define PHX_BISECT_SUBJECT_H

#include <phalanx/replay.h>

#include "bisect/tree.h"

typedef struct PhxSubjectOptions {
    const PhxGame *game; /* null: none */
    uint32_t threads;    /* 1 .. 64; 1 is serial */
    bool cold;           /* before each tick: throw away all that is derived, and poison it */
    bool reload;         /* before each tick: into another world by a snapshot */
} PhxSubjectOptions;

typedef struct PhxSubject PhxSubject;
/* Called in a tick that is stepped with a look, before and after each phase. The world may be read. */
typedef void (*PhxSubjectLook)(void *user, PhxSubject *subject, uint32_t phase, bool begin);

struct PhxSubject {
    PhxSubjectOptions options;
    PhxReplay *replay;
    PhxReplayPlayback *playback; /* owns one of the two sims */
    PhxReplayCursor *cursor;
    PhxJobs jobs;
    PhxSim *sim, *other, *clone; /* the match; of `reload`, the one it goes into; which of them is ours */
    uint8_t *snapshot;           /* of `reload` */
    size_t snapshot_size;
    uint32_t tick; /* ticks played: the match stands before this tick */
    uint8_t *mark;
    size_t mark_size;
    uint32_t mark_tick; /* PHX_REPLAY_BEFORE_FIRST: there is no mark */
    PhxTreeClock clock; /* which scratch columns hold something now */
    PhxSubjectLook look;
    void *look_user;
};

/* Loads a replay and stands before tick 0. Errors: those of phx_replay_load and phx_replay_playback_create.
 */
PHX_MUST_USE PhxStatus phx_subject_open(PhxSubject *subject, const PhxSubjectOptions *options,
                                        const char *path, PhxError *error);
void phx_subject_close(PhxSubject *subject);

/* The next tick. `look` may be null. Errors: PHX_ERROR_NOT_FOUND (no tick is left), those of phx_sim_step and
 * of saving and loading. */
PHX_MUST_USE PhxStatus phx_subject_step(PhxSubject *subject, PhxSubjectLook look, void *user,
                                        PhxError *error);
/* Remembers this state. Errors: PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_subject_mark(PhxSubject *subject);
/* To the state before `tick`; `afresh`: from tick 0 of a new world, whatever was remembered. */
PHX_MUST_USE PhxStatus phx_subject_seek(PhxSubject *subject, uint32_t tick, bool afresh, PhxError *error);

#endif
