/* bundle.h: a side's evidence of a desync, in one file.
 *
 * A bundle is a replay (replay/FORMAT.md): the match as that side played it from tick 0 to the first tick
 * whose roots differ, commands and hashes of each tick, and behind it two evidence records: that side's state
 * before this tick, on which all agreed, and after it. Notes say what each side's root was and, where it was
 * found out, its value. So everything that reads a replay reads a bundle; `phx replay verify` computes the
 * commands again and so decides whether this side is right: its last tick is verified, or diverged.
 * A replay whose recorder saw the desync has the same evidence records, and is read here just as well.
 */
#ifndef PHX_BUNDLE_BUNDLE_H
#define PHX_BUNDLE_BUNDLE_H

#include <phalanx/replay.h>

typedef struct PhxBundle {
    PhxReplay *replay; /* owned; header, content, commands, hashes and notes are read through it */
    uint32_t tick;     /* the first tick whose roots differed: its commands lead from `before` to `after` */
    uint8_t slot;      /* whose states these are: player slot, PHX_SLOT_HOST, PHX_REPLAY_NO_SLOT: the
                          recorder's own, of unknown slot */
    bool has_before, has_after;
    PhxReplaySnapshot before; /* of tick `tick`: the last state that all sides agreed on */
    PhxReplaySnapshot after;  /* of tick `tick` + 1: the diverged one */
} PhxBundle;

/* Reads a file. Errors: those of phx_replay_load; PHX_ERROR_NOT_FOUND where the replay holds no evidence. On
 * failure *out is zeroed. */
PHX_MUST_USE PhxStatus phx_bundle_open(const char *path, PhxBundle *out, PhxError *error);
void phx_bundle_close(PhxBundle *bundle); /* a zeroed one is fine */
/* The snapshot's bytes in malloc'ed memory, for the caller to free: to be looked into by phx_state_view or
 * given to phx_sim_restore. `limit`: the most bytes that will be allocated (phx_sim_state_bytes +
 * PHX_REPLAY_SNAPSHOT_EXTRA is right). Errors: PHX_ERROR_LIMIT, PHX_ERROR_MEMORY, those of
 * phx_replay_snapshot_read. On failure *bytes is null. */
PHX_MUST_USE PhxStatus phx_bundle_state(const PhxBundle *bundle, const PhxReplaySnapshot *snapshot,
                                        size_t limit, uint8_t **bytes, size_t *size);

/* One line that goes into a bundle as a note of kind DESYNC. */
typedef struct PhxBundleNote {
    uint8_t slot; /* whom it is about: player slot, PHX_SLOT_HOST, PHX_REPLAY_NO_SLOT */
    const char *text;
} PhxBundleNote;

/* A state that goes into a bundle; bytes null: it could not be kept. */
typedef struct PhxBundleState {
    const uint8_t *bytes;
    size_t size;
    uint64_t root;
} PhxBundleState;

typedef struct PhxBundleContents {
    uint32_t tick;
    uint8_t slot;
    PhxBundleState before, after;
    const PhxBundleNote *notes;
    uint32_t note_count;
} PhxBundleContents;

/* Writes the first tick + 1 ticks of `replay` and the evidence beside `path`, and renames it, so that there
 * never is half a bundle. Errors: PHX_ERROR_NOT_FOUND (the replay has fewer ticks), PHX_ERROR_IO,
 * PHX_ERROR_MEMORY, with text. */
PHX_MUST_USE PhxStatus phx_bundle_write(const char *path, const PhxReplay *replay,
                                        const PhxBundleContents *contents, PhxError *error);
/* Appends notes and evidence to a replay that is being written; its writer must stand beyond `tick`. Errors:
 * those of the writer. */
PHX_MUST_USE PhxStatus phx_bundle_append(PhxReplayWriter *writer, const PhxBundleContents *contents);

#endif
