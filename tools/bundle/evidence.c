/* evidence.c: see evidence.h. */
#include "bundle/evidence.h"

#include <stdlib.h>
#include <string.h>

enum { RECORD_LIMIT = 1 << 30 };

/* A state before tick `tick`. */
typedef struct Kept {
    uint8_t *bytes;
    size_t size, capacity;
    uint32_t tick;
    bool there;
} Kept;

struct PhxEvidence {
    const PhxSim *sim; /* the match; for its schema */
    const void *content;
    size_t content_size;
    PhxEvidenceOptions options;
    uint32_t every, slots; /* each `every`-th tick is kept, the last `slots` of them */
    Kept *ring;
    uint8_t *record; /* the replay */
    size_t record_size, record_capacity;
    PhxReplayWriter *writer;
    bool kept, exact;
    uint32_t tick; /* kept: the tick that was asked for */
    Kept before, after;
    PhxStateView view; /* of `after` */
    bool view_ok;
};

/* ---- memory */

static bool reserve(uint8_t **bytes, size_t *capacity, size_t wanted) {
    if (wanted <= *capacity) return true;
    const size_t grown = *capacity + *capacity / 2 > wanted ? *capacity + *capacity / 2 : wanted;
    uint8_t *more = realloc(*bytes, grown);
    if (!more) return false;
    *bytes = more;
    *capacity = grown;
    return true;
}

static PhxStatus take_snapshot(Kept *kept, const PhxSim *sim) {
    kept->there = false;
    if (!reserve(&kept->bytes, &kept->capacity, phx_sim_snapshot_size(sim))) return PHX_ERROR_MEMORY;
    const PhxStatus status = phx_sim_snapshot(sim, kept->bytes, kept->capacity, &kept->size);
    kept->tick = phx_sim_tick(sim);
    kept->there = status == PHX_OK;
    return status;
}

static bool copy_kept(Kept *to, const Kept *from) {
    if (!reserve(&to->bytes, &to->capacity, from->size)) return false;
    memcpy(to->bytes, from->bytes, from->size);
    to->size = from->size;
    to->tick = from->tick;
    to->there = true;
    return true;
}

static PhxStatus record_write(void *user, const void *bytes, size_t size) {
    PhxEvidence *evidence = user;
    if (size > RECORD_LIMIT - evidence->record_size) return PHX_ERROR_LIMIT;
    if (!reserve(&evidence->record, &evidence->record_capacity, evidence->record_size + size))
        return PHX_ERROR_MEMORY;
    memcpy(evidence->record + evidence->record_size, bytes, size);
    evidence->record_size += size;
    return PHX_OK;
}

/* ---- life */

PhxStatus phx_evidence_create(const PhxSim *sim, const void *content, size_t content_size,
                              const PhxEvidenceOptions *options, PhxEvidence **out, PhxError *error) {
    *out = NULL;
    PhxEvidence *evidence = calloc(1, sizeof *evidence);
    if (!evidence) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "no memory for evidence");
    evidence->sim = sim;
    evidence->content = content;
    evidence->content_size = content_size;
    evidence->options = *options;
    const size_t memory = options->memory ? options->memory : PHX_EVIDENCE_MEMORY;
    const size_t most = memory / (phx_sim_state_bytes(sim) + 1);
    const uint32_t span = options->ticks ? options->ticks : 1;
    const uint32_t affordable = most < 2 ? 2 : most > span + 1 ? span + 1 : (uint32_t)most;
    evidence->every = (span + affordable - 2) / (affordable - 1);
    if (evidence->every == 0) evidence->every = 1;
    evidence->slots = span / evidence->every + 2;
    evidence->ring = calloc(evidence->slots, sizeof *evidence->ring);
    PhxStatus status = evidence->ring ? PHX_OK : PHX_ERROR_MEMORY;
    const PhxReplaySink sink = {.write = record_write, .user = evidence};
    if (status == PHX_OK)
        status = phx_replay_record_begin(sink, sim, content, content_size, NULL, &evidence->writer, error);
    if (status == PHX_OK) {
        phx_replay_writer_keyframes(evidence->writer, &(PhxReplayKeyframeOptions){.none = true});
        status = take_snapshot(&evidence->ring[0], sim);
    }
    if (status != PHX_OK) {
        phx_evidence_destroy(evidence);
        return status;
    }
    *out = evidence;
    return PHX_OK;
}

void phx_evidence_destroy(PhxEvidence *evidence) {
    if (!evidence) return;
    phx_replay_writer_destroy(evidence->writer);
    for (uint32_t i = 0; i < evidence->slots && evidence->ring; i++) free(evidence->ring[i].bytes);
    free(evidence->ring);
    free(evidence->record);
    free(evidence->before.bytes);
    free(evidence->after.bytes);
    free(evidence);
}

static Kept *slot_of(const PhxEvidence *evidence, uint32_t tick) {
    return &evidence->ring[tick / evidence->every % evidence->slots];
}

PhxStatus phx_evidence_tick(PhxEvidence *evidence, const PhxSim *sim, const PhxCommand *commands,
                            uint32_t count) {
    const uint32_t tick = phx_sim_tick(sim);
    const PhxStatus status = phx_replay_record_tick(evidence->writer, sim, commands, count);
    /* What comes after the desync is no evidence of it; its commands may be needed to mend. */
    if (status != PHX_OK || evidence->kept || tick % evidence->every != 0) return status;
    return take_snapshot(slot_of(evidence, tick), sim);
}

/* ---- keeping */

/* Steps a sim to the state before `tick`, with the recorded commands. `same`: with the recorded roots, too.
 */
static PhxStatus step_to(PhxSim *replica, PhxReplayCursor *cursor, uint32_t tick, bool same) {
    PhxStatus status = phx_replay_cursor_seek(cursor, phx_sim_tick(replica));
    while (status == PHX_OK && phx_sim_tick(replica) < tick) {
        PhxReplayTick recorded;
        if (!phx_replay_cursor_next(cursor, &recorded)) return PHX_ERROR_NOT_FOUND;
        status = phx_sim_step(replica, recorded.commands, recorded.command_count);
        if (status == PHX_OK && same && phx_sim_root(replica) != recorded.root) return PHX_ERROR_MISMATCH;
    }
    return status;
}

/* The states before and after `tick`, each where it isn't there, by a replica that begins at the last
 * snapshot. */
static PhxStatus compute_again(const PhxEvidence *evidence, uint32_t tick, Kept *before, Kept *after) {
    const Kept *from = slot_of(evidence, tick);
    const PhxSettings settings = phx_sim_settings(evidence->sim);
    PhxReplay *replay = NULL;
    PhxReplayCursor *cursor = NULL;
    PhxSim *replica = NULL;
    if (!from->there || from->tick != tick - tick % evidence->every) return PHX_ERROR_NOT_FOUND;
    PhxStatus status = phx_replay_open(evidence->record, evidence->record_size, NULL, &replay, NULL);
    if (status == PHX_OK) status = phx_replay_cursor_create(replay, &cursor);
    if (status == PHX_OK)
        status = phx_sim_create(&evidence->options.replica, evidence->content, evidence->content_size,
                                &settings, &replica, NULL);
    if (status == PHX_OK) status = phx_sim_restore(replica, from->bytes, from->size, NULL);
    if (status == PHX_OK) status = step_to(replica, cursor, tick, true);
    if (status == PHX_OK && !before->there) status = take_snapshot(before, replica);
    if (status == PHX_OK && !after->there) status = step_to(replica, cursor, tick + 1, true);
    if (status == PHX_OK && !after->there) status = take_snapshot(after, replica);
    phx_sim_destroy(replica);
    phx_replay_cursor_destroy(cursor);
    phx_replay_close(replay);
    return status;
}

/* The state before `tick` as it was, where the ring has it. */
static void copy_exact(const PhxEvidence *evidence, uint32_t tick, Kept *out) {
    const Kept *exact = slot_of(evidence, tick);
    if (exact->there && exact->tick == tick) (void)copy_kept(out, exact);
}

void phx_evidence_keep(PhxEvidence *evidence, uint32_t tick) {
    if (evidence->kept || tick >= phx_replay_writer_ticks(evidence->writer)) return;
    evidence->kept = true;
    evidence->tick = tick;
    copy_exact(evidence, tick, &evidence->before);
    copy_exact(evidence, tick + 1, &evidence->after);
    evidence->exact = evidence->before.there && evidence->after.there;
    /* Where this fails, what isn't there stays so. */
    if (!evidence->exact) (void)compute_again(evidence, tick, &evidence->before, &evidence->after);
    evidence->view_ok =
        evidence->after.there && phx_state_view(evidence->sim, evidence->after.bytes, evidence->after.size,
                                                &evidence->view, NULL) == PHX_OK;
}

static PhxStatus catch_up(const PhxEvidence *evidence, PhxSim *sim, uint32_t tick) {
    PhxReplay *replay = NULL;
    PhxReplayCursor *cursor = NULL;
    PhxStatus status = phx_replay_open(evidence->record, evidence->record_size, NULL, &replay, NULL);
    if (status == PHX_OK) status = phx_replay_cursor_create(replay, &cursor);
    if (status == PHX_OK) status = step_to(sim, cursor, tick, false);
    phx_replay_cursor_destroy(cursor);
    phx_replay_close(replay);
    return status;
}

PhxStatus phx_evidence_mend(const PhxEvidence *evidence, PhxSim *sim, const void *state, size_t size,
                            PhxError *error) {
    const uint32_t tick = phx_sim_tick(sim);
    Kept own = {0};
    if (!evidence->kept || tick <= evidence->tick)
        return phx_error_set(error, PHX_ERROR_STATE, 0, "no desync to mend");
    PhxStatus status = take_snapshot(&own, sim);
    if (status == PHX_OK) status = phx_sim_restore(sim, state, size, error);
    if (status == PHX_OK) {
        status = phx_sim_tick(sim) == evidence->tick + 1 ? catch_up(evidence, sim, tick) : PHX_ERROR_MISMATCH;
        if (status != PHX_OK) {
            (void)phx_error_set(error, status, 0, "the state leads nowhere: %s", phx_status_text(status));
            if (phx_sim_restore(sim, own.bytes, own.size, NULL) != PHX_OK)
                (void)phx_error_set(error, status, 0, "and this side's own state can't be taken back");
        }
    }
    free(own.bytes);
    return status;
}

bool phx_evidence_exact(const PhxEvidence *evidence) { return evidence->exact; }

static PhxBundleState state_of(const PhxEvidence *evidence, const Kept *kept) {
    PhxStateView view;
    if (!kept->there) return (PhxBundleState){0};
    const PhxStatus status = phx_state_view(evidence->sim, kept->bytes, kept->size, &view, NULL);
    return (PhxBundleState){kept->bytes, kept->size, status == PHX_OK ? view.root : 0};
}

bool phx_evidence_contents(const PhxEvidence *evidence, PhxBundleContents *out) {
    *out = (PhxBundleContents){.slot = PHX_REPLAY_NO_SLOT};
    if (!evidence->kept) return false;
    out->tick = evidence->tick;
    out->before = state_of(evidence, &evidence->before);
    out->after = state_of(evidence, &evidence->after);
    return true;
}

PhxStatus phx_evidence_write(const PhxEvidence *evidence, const char *path, const PhxBundleContents *contents,
                             PhxError *error) {
    PhxReplay *replay;
    PhxStatus status = phx_replay_open(evidence->record, evidence->record_size, NULL, &replay, error);
    if (status != PHX_OK) return status;
    status = phx_bundle_write(path, replay, contents, error);
    phx_replay_close(replay);
    return status;
}

/* ---- the tree */

static void tree_keep(void *user, uint32_t tick) { phx_evidence_keep(user, tick); }

static uint32_t tree_size(void *user, const PhxNetTreeQuestion *question) {
    const PhxEvidence *evidence = user;
    if (!evidence->kept || question->tick != evidence->tick || !evidence->view_ok) return 0;
    const PhxStateView *view = &evidence->view;
    if (question->level == PHX_NET_TREE_COLUMNS) return 2 * phx_state_columns(view, question->table);
    const uint64_t cells = phx_state_cells(view, question->table, question->column);
    if (question->first >= cells || question->count > cells - question->first) return 0;
    if (question->level == PHX_NET_TREE_VALUES) return question->count;
    return (question->count - 1) / question->span + 1;
}

static uint64_t tree_value(const PhxStateView *view, const PhxNetTreeQuestion *question, uint32_t i) {
    if (question->level == PHX_NET_TREE_COLUMNS) {
        const uint64_t cells = phx_state_cells(view, question->table, i / 2);
        return i % 2 ? cells : phx_state_hash(view, question->table, i / 2, 0, cells);
    }
    if (question->level == PHX_NET_TREE_VALUES)
        return phx_state_value(view, question->table, question->column, (uint64_t)question->first + i);
    const uint32_t at = i * question->span, left = question->count - at;
    return phx_state_hash(view, question->table, question->column, (uint64_t)question->first + at,
                          left < question->span ? left : question->span);
}

static void tree_values(void *user, const PhxNetTreeQuestion *question, uint32_t at, uint32_t count,
                        uint64_t *out) {
    const PhxEvidence *evidence = user;
    for (uint32_t i = 0; i < count; i++) out[i] = tree_value(&evidence->view, question, at + i);
}

PhxNetTree phx_evidence_tree(PhxEvidence *evidence) {
    return (PhxNetTree){.user = evidence, .keep = tree_keep, .size = tree_size, .values = tree_values};
}
