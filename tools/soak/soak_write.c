/* soak_write.c: a failure written down: a replay, a text for a person, and the line that repeats it. */
#include <inttypes.h>
#include <phalanx/replay.h>
#include <stdio.h>
#include <stdlib.h>

#include "soak/apart.h"
#include "soak/soak.h"

void phx_soak_repeat_line(const PhxSoakMatch *match, const char *prefix, char *text, size_t size) {
    const PhxSyncOptions *sync = &match->sync;
    int used = snprintf(text, size, "phx synctest %s.phxr", prefix);
    if (sync->every > 0 && used >= 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, " --every %" PRIu32, sync->every);
    for (uint32_t i = 0; i < sync->thread_count && used >= 0 && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%" PRIu32, i ? "," : " --threads ",
                         sync->threads[i]);
    if (used >= 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, "%s", sync->cold ? " --cold" : "");
    if (sync->poison && used >= 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, " --poison 0x%02x", sync->poison_byte);
    if (sync->field_cache > 0 && used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, " --field-cache %" PRIu32, sync->field_cache);
}

typedef struct Recording {
    const PhxSoakMatch *match;
    const PhxSoakMinimised *minimised;
    const char *path;
} Recording;

typedef struct Recorded {
    PhxStatus status;
    PhxError error;
} Recorded;

static PhxStatus record_ticks(const Recording *recording, PhxReplayWriter *writer, PhxSim *sim) {
    uint32_t at = 0;
    PhxStatus status = PHX_OK;
    PhxCommand *commands = malloc(PHX_TICK_COMMAND_LIMIT * sizeof *commands);
    if (commands == NULL) return PHX_ERROR_MEMORY;
    for (uint32_t tick = 0; tick < recording->minimised->ticks && status == PHX_OK; tick++) {
        const uint32_t count =
            phx_stream_take(&recording->minimised->stream, &at, tick, commands, PHX_TICK_COMMAND_LIMIT);
        status = phx_replay_record_step(writer, sim, commands, count);
    }
    free(commands);
    return status == PHX_OK ? phx_replay_writer_end(writer) : status;
}

/* Each write goes to the system at once: the commands of a step that crashes are what it is all about. */
static PhxStatus write_through(void *user, const void *bytes, size_t size) {
    return fwrite(bytes, 1, size, user) == size && fflush(user) == 0 ? PHX_OK : PHX_ERROR_IO;
}

/* In a process of its own, as a match that crashes does so here too; what was flushed until then stays. */
static void record(void *context, void *answer) {
    const Recording *recording = context;
    const PhxSoakMatch *match = recording->match;
    Recorded *out = answer;
    PhxSim *sim = NULL;
    PhxReplayWriter *writer = NULL;
    FILE *file = fopen(recording->path, "wb");
    out->status = file != NULL ? phx_soak_world(match, &sim) : PHX_ERROR_IO;
    if (out->status == PHX_OK)
        out->status = phx_replay_record_begin((PhxReplaySink){.write = write_through, .user = file}, sim,
                                              match->blob, match->blob_size, NULL, &writer, &out->error);
    if (out->status == PHX_OK) out->status = record_ticks(recording, writer, sim);
    phx_replay_writer_destroy(writer);
    if (file != NULL && fclose(file) != 0 && out->status == PHX_OK) out->status = PHX_ERROR_IO;
    phx_sim_destroy(sim);
}

static void write_unit_list(FILE *to, const PhxCommandData *data) {
    enum { SHOWN = 24 };
    fprintf(to, ", %u units:", data->unit_count);
    for (uint32_t i = 0; i < data->unit_count && i < SHOWN; i++) {
        const PhxHandle unit = phx_command_unit(data, i);
        fprintf(to, " %" PRIu32, phx_handle_slot(unit));
        if (phx_handle_generation(unit) != 1)
            fprintf(to, "(generation %" PRIu32 ")", phx_handle_generation(unit));
    }
    if (data->unit_count > SHOWN) fprintf(to, " ..");
}

/* Cells and buildings, as far as the command names any. */
static void write_building(FILE *to, const PhxCommandData *data) {
    const uint32_t slot = phx_handle_slot(data->building), generation = phx_handle_generation(data->building);
    if (data->type == PHX_COMMAND_PLACE || data->type == PHX_COMMAND_GROUND)
        fprintf(to, " of %u x %u cells at %u,%u", data->width, data->height, data->cell_x, data->cell_y);
    if (data->type == PHX_COMMAND_PLACE && data->gate) fputs(", a gate", to);
    if (data->type == PHX_COMMAND_GROUND) fprintf(to, ": cost %u, kind %u", data->ground_cost, data->kind);
    if (data->type == PHX_COMMAND_RAZE) fprintf(to, " of %" PRIu32 ":%" PRIu32, slot, generation);
    if (data->type == PHX_COMMAND_GATE)
        fprintf(to, " %" PRIu32 ":%" PRIu32 " open for teams %04x", slot, generation, data->open_teams);
}

static void write_command(FILE *to, const PhxSoakMatch *match, const PhxStream *stream,
                          const PhxStreamCommand *command) {
    const uint8_t *bytes = stream->bytes + command->offset;
    PhxCommandData data;
    PhxError error = {0};
    fprintf(to, "tick %" PRIu32 ", slot %u, sequence %" PRIu32 ": ", command->tick, command->slot,
            command->sequence);
    if (phx_command_decode(bytes, command->size, &data, &error) != PHX_OK) {
        fprintf(to, "malformed (%s):", error.text);
        for (uint32_t i = 0; i < command->size && i < 64; i++) fprintf(to, " %02x", bytes[i]);
        fprintf(to, "%s\n", command->size > 64 ? " .." : "");
        return;
    }
    const bool has_slot = command->slot < match->players || command->slot == PHX_SLOT_HOST;
    if (!has_slot || phx_command_check(bytes, command->size, command->slot, NULL) != PHX_OK)
        fputs("not this slot's to give: ", to);
    fputs(phx_command_name(data.type), to);
    if (data.type == PHX_COMMAND_MOVE) {
        char x[PHX_FIX_TEXT], y[PHX_FIX_TEXT];
        phx_fix_format(data.goal_x, x, sizeof x);
        phx_fix_format(data.goal_y, y, sizeof y);
        fprintf(to, " to %s, %s%s", x, y, data.queued ? ", queued" : "");
    }
    if (data.type == PHX_COMMAND_LEAVE) fprintf(to, " of player %u", data.slot);
    if (data.type == PHX_COMMAND_PAUSE) fputs(data.on ? " on" : " off", to);
    write_building(to, &data);
    if (data.type == PHX_COMMAND_MOVE || data.type == PHX_COMMAND_STOP) write_unit_list(to, &data);
    fputc('\n', to);
}

static PhxStatus write_text(const PhxSoakMatch *match, const PhxSoakMinimised *minimised, const char *prefix,
                            const char *path, PhxError *error) {
    char line[512];
    FILE *to = fopen(path, "w");
    if (to == NULL) return phx_error_set(error, PHX_ERROR_IO, 0, "%s: can't be written", path);
    fprintf(to,
            "seed %" PRIu64 ", content %016" PRIx64 ": %" PRIu32 " x %" PRIu32
            " cells, %u ticks a second, %" PRIu32 " units, %" PRIu32 " players\n%s\n%" PRIu32 " of %" PRIu32
            " commands are needed%s:\n",
            match->seed, match->info.content_hash, match->info.width, match->info.height,
            match->info.settings.tick_rate, match->units, match->players, minimised->run.fault.text,
            minimised->stream.count, match->stream.count,
            minimised->minimal ? ", none can be left out" : " (perhaps fewer: the search was ended)");
    for (uint32_t i = 0; i < minimised->stream.count; i++)
        write_command(to, match, &minimised->stream, &minimised->stream.commands[i]);
    phx_soak_repeat_line(match, prefix, line, sizeof line);
    fprintf(to, "all commands: phx soak --seed %" PRIu64 " --matches 1\nrepeat: %s\n", match->seed, line);
    const bool failed = ferror(to) != 0;
    if (fclose(to) != 0 || failed) return phx_error_set(error, PHX_ERROR_IO, 0, "%s: not written", path);
    return PHX_OK;
}

PhxStatus phx_soak_write(const PhxSoakMatch *match, const PhxSoakMinimised *minimised, const char *prefix,
                         PhxError *error) {
    char path[1024], death[64];
    Recorded recorded;
    snprintf(path, sizeof path, "%s.phxr", prefix);
    Recording recording = {match, minimised, path};
    const PhxStatus status = phx_apart(record, &recording, &recorded, sizeof recorded, 600, death);
    if (status == PHX_OK && recorded.status != PHX_OK)
        return phx_error_set(error, recorded.status, 0, "%s: %s", path,
                             recorded.error.text[0] ? recorded.error.text : phx_status_text(recorded.status));
    if (status == PHX_ERROR_IO) return phx_error_set(error, status, 0, "%s: no process to write it", path);
    snprintf(path, sizeof path, "%s.txt", prefix);
    return write_text(match, minimised, prefix, path, error);
}
