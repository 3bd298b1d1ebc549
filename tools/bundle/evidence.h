/* evidence.h: what a side of a match remembers, so that a desync can be proved and looked into.
 *
 * In: the sim after each tick, and the tick's commands. Kept: the whole match as a replay in memory (commands
 * and hashes: about 80 bytes a tick and the commands' own), and snapshots of the last ticks. Out: the states
 * before and after the tick at which sides differed; answers about their hash tree (PhxNetTree); a bundle.
 *
 * How far back: a host judges a tick when all sides have reported it, and no side can be further ahead of
 * another than the input delay, so a ring of (delay + 3) turns holds every tick that can still be asked for.
 * It holds each tick exactly, as it was, while its bytes stay below `memory`; beyond that only every n-th
 * tick, and the others are computed again from the one before and the commands. What is computed again is
 * compared with the root that this side had: where it differs, the fault of this side doesn't repeat itself,
 * and the state is not given out rather than a wrong one.
 *
 * Cost: a tick's is one copy of the used state.
 */
#ifndef PHX_BUNDLE_EVIDENCE_H
#define PHX_BUNDLE_EVIDENCE_H

#include <phalanx/net_tree.h>

#include "bundle/bundle.h"
#include "bundle/view.h"

enum {
    PHX_EVIDENCE_MEMORY = 128 << 20
}; /* the most that snapshots may take, where every row is in use; the default */

typedef struct PhxEvidenceOptions {
    uint32_t ticks;       /* how far back; phx_evidence_span gives it */
    size_t memory;        /* bytes of snapshots; 0: PHX_EVIDENCE_MEMORY */
    PhxSimConfig replica; /* of the sim in which ticks are computed again; zeroed is fine */
} PhxEvidenceOptions;

static inline uint32_t phx_evidence_span(uint32_t ticks_per_turn, uint32_t delay) {
    return (delay + 3) * ticks_per_turn + 2;
}

typedef struct PhxEvidence PhxEvidence;

/* `sim` is at tick 0, `content` is the blob it was created from and is borrowed. Errors: PHX_ERROR_MEMORY,
 * those of phx_replay_record_begin. */
PHX_MUST_USE PhxStatus phx_evidence_create(const PhxSim *sim, const void *content, size_t content_size,
                                           const PhxEvidenceOptions *options, PhxEvidence **out,
                                           PhxError *error);
void phx_evidence_destroy(PhxEvidence *evidence); /* null is fine */
/* After each step, before its hashes are reported. Errors: PHX_ERROR_MEMORY, PHX_ERROR_LIMIT (the replay in
 * memory is longer than 1 GiB). */
PHX_MUST_USE PhxStatus phx_evidence_tick(PhxEvidence *evidence, const PhxSim *sim, const PhxCommand *commands,
                                         uint32_t count);
/* Keeps the states before and after `tick`, whatever is forgotten later. The first call counts. */
void phx_evidence_keep(PhxEvidence *evidence, uint32_t tick);
/* For a host's or peer's config; lives as long as the evidence. */
PhxNetTree phx_evidence_tree(PhxEvidence *evidence);

/* What was kept: tick, before, after (bytes null where they could not be had); slot and notes are the
 * caller's to fill. False: phx_evidence_keep wasn't called. The bytes live as long as the evidence. */
bool phx_evidence_contents(const PhxEvidence *evidence, PhxBundleContents *out);
/* The states are exact, not computed again. */
bool phx_evidence_exact(const PhxEvidence *evidence);
/* Goes over to `state`, an agreeing side's after the kept tick: the sim, which has gone on since, takes it
 * and computes the ticks since then again with the recorded commands, so that it stands at the same tick as
 * before. On failure the sim is as it was. Errors: PHX_ERROR_STATE (nothing was kept), PHX_ERROR_MISMATCH
 * (another tick's state), those of phx_sim_restore and phx_sim_step. */
PHX_MUST_USE PhxStatus phx_evidence_mend(const PhxEvidence *evidence, PhxSim *sim, const void *state,
                                         size_t size, PhxError *error);
/* Writes a bundle of the match up to contents->tick. Errors: those of phx_bundle_write. */
PHX_MUST_USE PhxStatus phx_evidence_write(const PhxEvidence *evidence, const char *path,
                                          const PhxBundleContents *contents, PhxError *error);

#endif
