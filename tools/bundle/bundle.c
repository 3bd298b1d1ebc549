/* bundle.c: see bundle.h. */
#include "bundle/bundle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading */

/* The first pair of consecutive states of one side. A single state is the one before (the one after is lost
 * where a fault didn't repeat itself), unless no tick of the replay follows it. */
static bool find_states(PhxBundle *bundle) {
    PhxReplaySnapshot first, next;
    uint64_t position = 0;
    if (!phx_replay_evidence_next(bundle->replay, &position, &first)) return false;
    bundle->slot = first.slot;
    while (!bundle->has_after && phx_replay_evidence_next(bundle->replay, &position, &next)) {
        if (next.slot != first.slot || next.tick != first.tick + 1) continue;
        bundle->after = next;
        bundle->has_after = true;
    }
    if (!bundle->has_after && first.tick > 0 && first.tick == phx_replay_info(bundle->replay)->ticks) {
        bundle->after = first;
        bundle->has_after = true;
        bundle->tick = first.tick - 1;
        return true;
    }
    bundle->before = first;
    bundle->has_before = true;
    bundle->tick = first.tick;
    return true;
}

PhxStatus phx_bundle_open(const char *path, PhxBundle *out, PhxError *error) {
    memset(out, 0, sizeof *out);
    PhxStatus status = phx_replay_load(path, 0, &out->replay, error);
    if (status != PHX_OK) return status;
    if (find_states(out)) return PHX_OK;
    phx_bundle_close(out);
    return phx_error_set(error, PHX_ERROR_NOT_FOUND, 0, "%.150s: no evidence of a desync in it", path);
}

void phx_bundle_close(PhxBundle *bundle) {
    phx_replay_close(bundle->replay);
    memset(bundle, 0, sizeof *bundle);
}

PhxStatus phx_bundle_state(const PhxBundle *bundle, const PhxReplaySnapshot *snapshot, size_t limit,
                           uint8_t **bytes, size_t *size) {
    *bytes = NULL;
    *size = snapshot->size;
    if (snapshot->size > limit) return PHX_ERROR_LIMIT;
    uint8_t *buffer = malloc(snapshot->size ? snapshot->size : 1);
    if (!buffer) return PHX_ERROR_MEMORY;
    const PhxStatus status = phx_replay_snapshot_read(bundle->replay, snapshot, buffer, snapshot->size);
    if (status == PHX_OK)
        *bytes = buffer;
    else
        free(buffer);
    return status;
}

/* ---- writing */

static PhxStatus append_state(PhxReplayWriter *writer, uint8_t slot, uint32_t tick,
                              const PhxBundleState *state) {
    if (!state->bytes) return PHX_OK;
    return phx_replay_writer_evidence(writer, slot, tick, state->root, state->bytes, state->size);
}

PhxStatus phx_bundle_append(PhxReplayWriter *writer, const PhxBundleContents *contents) {
    PhxStatus status = PHX_OK;
    for (uint32_t i = 0; i < contents->note_count && status == PHX_OK; i++)
        status = phx_replay_writer_note(writer, PHX_REPLAY_NOTE_DESYNC, contents->notes[i].slot,
                                        contents->notes[i].text);
    if (status == PHX_OK) status = append_state(writer, contents->slot, contents->tick, &contents->before);
    if (status == PHX_OK) status = append_state(writer, contents->slot, contents->tick + 1, &contents->after);
    return status;
}

static PhxStatus write_file(const char *path, const PhxReplay *replay, const PhxBundleContents *contents,
                            PhxError *error) {
    PhxReplayFile *file;
    PhxReplayWriter *writer = NULL;
    PhxStatus status = phx_replay_file_create(path, NULL, &file, error);
    if (status != PHX_OK) return status;
    status = phx_replay_writer_continue(phx_replay_file_sink(file), replay, contents->tick + 1, NULL, &writer,
                                        error);
    if (status == PHX_OK) status = phx_bundle_append(writer, contents);
    if (status == PHX_OK) status = phx_replay_writer_end(writer);
    phx_replay_writer_destroy(writer);
    const PhxStatus closed = phx_replay_file_close(file);
    if (status == PHX_OK) status = closed;
    if (status != PHX_OK && error && error->status == PHX_OK)
        return phx_error_set(error, status, 0, "%.150s: %s", path, phx_status_text(status));
    return status;
}

PhxStatus phx_bundle_write(const char *path, const PhxReplay *replay, const PhxBundleContents *contents,
                           PhxError *error) {
    PhxError unheard = {0};
    if (!error) error = &unheard;
    *error = (PhxError){0};
    const size_t length = strlen(path);
    char *beside = malloc(length + 5);
    if (!beside) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "no memory for a bundle");
    memcpy(beside, path, length);
    memcpy(beside + length, ".tmp", 5);
    PhxStatus status = write_file(beside, replay, contents, error);
    if (status == PHX_OK && rename(beside, path) != 0)
        status = phx_error_set(error, PHX_ERROR_IO, 0, "%.150s: %s", path, strerror(errno));
    if (status != PHX_OK) (void)remove(beside);
    free(beside);
    return status;
}
