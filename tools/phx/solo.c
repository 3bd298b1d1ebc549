/* solo.c: a match in one process. See solo.h. */
#include "phx/solo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Content. */

static int open_blob(PhxCli *cli, const char *path, const PhxScenarioChanges *changes, PhxSoloContent *out) {
    if (changes->map != NULL)
        return phx_cli_fail(cli, "--map: %s is a compiled blob, its map is inside", path);
    PhxError error = {0};
    const PhxStatus status = phx_content_info(out->loaded, out->blob_size, &out->info, &error);
    if (status != PHX_OK) return phx_cli_fail_status(cli, path, status, &error);
    const char *slash = strrchr(path, '/');
    snprintf(out->title, sizeof out->title, "%s", slash ? slash + 1 : path);
    out->blob = out->loaded;
    if (changes->has_seed) out->info.settings.match_key = changes->seed;
    out->ticks = changes->ticks ? changes->ticks : 1000;
    return PHX_CLI_GO;
}

static int open_scenario(PhxCli *cli, const char *path, const PhxScenarioChanges *changes,
                         PhxSoloContent *out) {
    PhxYamlError fault = {0};
    const PhxStatus loaded =
        phx_scenario_load_bytes(path, out->loaded, out->blob_size, changes, &out->file, &fault);
    free(out->loaded);
    out->loaded = NULL;
    if (loaded != PHX_OK) return phx_cli_fail(cli, "%s", fault.text);
    PhxError error = {0};
    const PhxStatus status = phx_content_info(out->file.blob, out->file.blob_size, &out->info, &error);
    if (status != PHX_OK) return phx_cli_fail_status(cli, path, status, &error);
    snprintf(out->title, sizeof out->title, "%s", out->file.scenario->name);
    out->blob = out->file.blob;
    out->blob_size = out->file.blob_size;
    out->ticks = out->file.scenario->ticks;
    return PHX_CLI_GO;
}

static bool is_blob(const void *bytes, size_t size) { return size >= 4 && memcmp(bytes, "PHXC", 4) == 0; }

size_t phx_solo_content_limit(const void *head, size_t size) {
    return is_blob(head, size) ? PHX_CLI_FILE_LIMIT : PHX_YAML_SIZE_LIMIT;
}

int phx_solo_content_open(PhxCli *cli, const char *path, const PhxScenarioChanges *changes,
                          PhxSoloContent *out) {
    void *bytes;
    size_t size;
    const int code = phx_cli_load_by(cli, path, phx_solo_content_limit, &bytes, &size);
    return code == PHX_CLI_GO ? phx_solo_content_take(cli, path, bytes, size, changes, out) : code;
}

int phx_solo_content_take(PhxCli *cli, const char *path, void *bytes, size_t size,
                          const PhxScenarioChanges *changes, PhxSoloContent *out) {
    *out = (PhxSoloContent){.loaded = bytes, .blob_size = size};
    const int code =
        is_blob(bytes, size) ? open_blob(cli, path, changes, out) : open_scenario(cli, path, changes, out);
    if (code != PHX_CLI_GO) phx_solo_content_close(out);
    return code;
}

void phx_solo_content_close(PhxSoloContent *content) {
    phx_scenario_unload(&content->file);
    free(content->loaded);
    *content = (PhxSoloContent){0};
}

/* Input. */

static void add_command(PhxSoloInput *input, uint8_t slot, const uint8_t *bytes, uint32_t size) {
    if (input->count == input->capacity) {
        const uint32_t capacity = 2 * input->capacity + 64;
        PhxCommand *commands = realloc(input->commands, capacity * sizeof *commands);
        if (commands != NULL) input->commands = commands;
        size_t *offsets = realloc(input->offsets, capacity * sizeof *offsets);
        if (offsets != NULL) input->offsets = offsets;
        if (commands == NULL || offsets == NULL) {
            input->failed = true;
            return;
        }
        input->capacity = capacity;
    }
    if (input->used + size > input->size) {
        const size_t larger_size = 2 * (input->used + size) + 4096;
        uint8_t *larger = realloc(input->bytes, larger_size);
        if (larger == NULL) {
            input->failed = true;
            return;
        }
        input->bytes = larger;
        input->size = larger_size;
    }
    memcpy(input->bytes + input->used, bytes, size);
    input->offsets[input->count] = input->used;
    input->commands[input->count++] =
        (PhxCommand){.slot = slot,
                     .sequence = input->sequence[slot < PHX_PLAYER_LIMIT ? slot : PHX_PLAYER_LIMIT]++,
                     .size = size};
    input->used += size;
    input->total++;
}

static void take_order(void *user, uint8_t slot, const uint8_t *bytes, uint32_t size) {
    add_command(user, slot, bytes, size);
}

static void take_bot(void *user, const uint8_t *bytes, uint32_t size) {
    PhxSoloInput *input = user;
    add_command(input, input->slot, bytes, size);
}

/* Drops the commands that the last tick executed. */
static void drop_given(PhxSoloInput *input) {
    const uint32_t given = input->count < PHX_TICK_COMMAND_LIMIT ? input->count : PHX_TICK_COMMAND_LIMIT;
    const uint32_t left = input->count - given;
    const size_t from = left > 0 ? input->offsets[given] : input->used;
    if (given == 0) return;
    memmove(input->bytes, input->bytes + from, input->used - from);
    memmove(input->commands, input->commands + given, left * sizeof *input->commands);
    for (uint32_t i = 0; i < left; i++) input->offsets[i] = input->offsets[i + given] - from;
    input->used -= from;
    input->count = left;
}

int phx_solo_collect(PhxSolo *solo, const PhxCommand **commands, uint32_t *count) {
    PhxSoloInput *input = &solo->input;
    const uint32_t tick = phx_sim_tick(solo->sim);
    drop_given(input);
    if (solo->content->file.scenario != NULL)
        phx_scenario_orders(solo->content->file.scenario, solo->sim, tick, take_order, input);
    for (uint8_t slot = 0; slot < PHX_PLAYER_LIMIT; slot++) {
        if (input->bots[slot] == NULL) continue;
        input->slot = slot;
        input->bots[slot]->run(solo->sim, slot, tick, take_bot, input);
    }
    if (input->failed) return phx_cli_fail_status(solo->cli, "commands", PHX_ERROR_MEMORY, NULL);
    *count = input->count < PHX_TICK_COMMAND_LIMIT ? input->count : PHX_TICK_COMMAND_LIMIT;
    for (uint32_t i = 0; i < *count; i++) input->commands[i].bytes = input->bytes + input->offsets[i];
    *commands = input->commands;
    return PHX_CLI_GO;
}

/* The match. */

static int choose_bots(PhxSolo *solo) {
    PhxPlayerInfo player;
    for (uint32_t slot = 0; slot < PHX_PLAYER_LIMIT && phx_sim_player(solo->sim, slot, &player); slot++) {
        const PhxScenario *scenario = solo->content->file.scenario;
        const char *name = solo->options.bot ? solo->options.bot
                           : scenario        ? scenario->players[slot].bot
                                             : "idle";
        solo->input.bots[slot] = phx_bot_find(name);
        if (solo->input.bots[slot] != NULL) continue;
        char known[200] = "";
        uint32_t count;
        const PhxBot *bots = phx_bots(&count);
        for (uint32_t i = 0, at = 0; i < count && at < sizeof known; i++)
            at += (uint32_t)snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", bots[i].name);
        return phx_cli_fail(solo->cli, "%s: player \"%s\": bot: %s: no such bot; there are: %s",
                            solo->content->title, player.name, name, known);
    }
    return PHX_CLI_GO;
}

static int create_sim(PhxSolo *solo, PhxSim **out) {
    const PhxScenario *scenario = solo->content->file.scenario;
    const uint32_t asked = solo->options.field_cache;
    const uint32_t tiles = asked || scenario == NULL ? asked : scenario->field_cache;
    const PhxSimConfig config = {
        .jobs = solo->jobs, .game = solo->cli->game, .field_cache_bytes = tiles * PHX_FIELD_TILE_BYTES};
    PhxError error = {0};
    const PhxStatus status = phx_sim_create(&config, solo->content->blob, solo->content->blob_size,
                                            &solo->content->info.settings, out, &error);
    return status == PHX_OK ? PHX_CLI_GO
                            : phx_cli_fail_status(solo->cli, solo->content->title, status, &error);
}

static int create_all(PhxSolo *solo) {
    int code = create_sim(solo, &solo->sim);
    if (code == PHX_CLI_GO && solo->options.reload) code = create_sim(solo, &solo->other);
    if (code != PHX_CLI_GO) return code;
    solo->has_arrived = calloc(solo->content->info.unit_capacity + 1, 1);
    if (solo->options.reload) {
        solo->snapshot_size = phx_sim_snapshot_size(solo->sim);
        solo->snapshot = malloc(solo->snapshot_size);
    }
    if (solo->has_arrived == NULL || (solo->options.reload && solo->snapshot == NULL))
        return phx_cli_fail_status(solo->cli, solo->content->title, PHX_ERROR_MEMORY, NULL);
    return choose_bots(solo);
}

int phx_solo_open(PhxSolo *solo, PhxCli *cli, const PhxSoloContent *content, const PhxSoloOptions *options) {
    *solo = (PhxSolo){.cli = cli, .content = content, .options = *options};
    int code = phx_cli_jobs_begin(cli, options->threads, &solo->jobs);
    if (code != PHX_CLI_GO) return code;
    code = create_all(solo);
    if (code != PHX_CLI_GO) {
        phx_solo_close(solo);
        return code;
    }
    phx_cli_phases_begin(&solo->phases, solo->sim, options->observer, options->observer_user, options->trace);
    if (solo->other != NULL) phx_cli_phases_follow(&solo->phases, solo->other, options->trace);
    return PHX_CLI_GO;
}

/* The state goes through its bytes into the other world, whose derived data are of another moment. */
static int reload(PhxSolo *solo) {
    size_t size = phx_sim_snapshot_size(solo->sim);
    if (size > solo->snapshot_size) {
        uint8_t *larger = realloc(solo->snapshot, size);
        if (larger == NULL) return phx_cli_fail_status(solo->cli, "--reload", PHX_ERROR_MEMORY, NULL);
        solo->snapshot = larger;
        solo->snapshot_size = size;
    }
    PhxError error = {0};
    PhxStatus status = phx_sim_snapshot(solo->sim, solo->snapshot, solo->snapshot_size, &size);
    if (status == PHX_OK) status = phx_sim_restore(solo->other, solo->snapshot, size, &error);
    if (status != PHX_OK) return phx_cli_fail_status(solo->cli, "--reload", status, &error);
    PhxSim *swap = solo->sim;
    solo->sim = solo->other;
    solo->other = swap;
    return PHX_CLI_GO;
}

int phx_solo_disturb(PhxSolo *solo) {
    if (solo->options.reload) {
        const int code = reload(solo);
        if (code != PHX_CLI_GO) return code;
    }
    /* Another poison for each tick, so that no value of it can happen to be right. */
    if (solo->options.drop) phx_sim_drop_derived(solo->sim, (uint8_t)(phx_sim_tick(solo->sim) * 37 + 0xff));
    return PHX_CLI_GO;
}

void phx_solo_count(PhxSolo *solo, uint64_t ns) {
    solo->step_ns += ns;
    solo->agent_steps += phx_sim_units(solo->sim).live;
    uint32_t count;
    const PhxEvent *events = phx_sim_events(solo->sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind < PHX_EVENT_KIND_COUNT) solo->events[events[i].kind]++;
        const uint32_t slot = phx_handle_slot(events[i].unit);
        if (events[i].kind != PHX_EVENT_ARRIVED || slot >= solo->content->info.unit_capacity) continue;
        solo->arrived += !solo->has_arrived[slot];
        solo->has_arrived[slot] = 1;
    }
}

int phx_solo_step(PhxSolo *solo) {
    const PhxCommand *commands;
    uint32_t count;
    int code = phx_solo_collect(solo, &commands, &count);
    if (code == PHX_CLI_GO) code = phx_solo_disturb(solo);
    if (code != PHX_CLI_GO) return code;
    const uint64_t begin = phx_cli_now(), cpu = phx_cli_cpu();
    const PhxStatus status = phx_sim_step(solo->sim, commands, count);
    solo->cpu_ns += phx_cli_cpu() - cpu;
    if (status != PHX_OK) return phx_cli_fail_status(solo->cli, "step", status, NULL);
    phx_solo_count(solo, phx_cli_now() - begin);
    return PHX_CLI_GO;
}

void phx_solo_close(PhxSolo *solo) {
    phx_sim_destroy(solo->sim);
    phx_sim_destroy(solo->other);
    free(solo->snapshot);
    free(solo->has_arrived);
    free(solo->input.commands);
    free(solo->input.offsets);
    free(solo->input.bytes);
    phx_cli_jobs_end(&solo->jobs, solo->options.threads);
    *solo = (PhxSolo){0};
}
