/* cmd_run.c: phx run: a scenario or a blob, played in this process. */
#include "phx/solo.h"
#include "picture/picture.h"

#include <errno.h>
#include <inttypes.h>
#include <phalanx/replay.h>
#include <stdio.h>

typedef struct Options {
    long long ticks, field_cache;
    int threads, trace, reload, drop;
    char *seed, *map, *replay, *png, *bot;
} Options;

typedef struct Running {
    PhxCli *cli;
    Options options;
    uint32_t ticks;
    bool ends_early; /* --ticks was given */
    PhxSoloContent content;
    PhxSolo solo;
    PhxTrails *trails;
    PhxReplayFile *file;
    PhxReplayWriter *writer;
    json_t *trace; /* with --trace --json */
} Running;

static const PhxCliUsage usage = {
    .synopsis = "SCENARIO|BLOB",
    .about =
        "Plays a match in this process: the scripted orders and the bots of a scenario, as fast as it goes.\n"
        "Prints the ticks, the root hash of the state, the units that arrived, and milliseconds a tick by\n"
        "phase. The root depends on scenario, map and seed alone: not on --threads, --reload, --drop.",
    .examples = "  phx run tests/scenario/duel.yaml\n"
                "  phx run tests/scenario/clash.yaml --replay clash.phxr --png clash.png\n"
                "  phx run tests/scenario/clash.yaml --map ~/maps/Aftershock.map --ticks 500\n"
                "  phx run tests/scenario/door.yaml --threads 2 --json | jq -r .root\n"
                "  phx run tests/scenario/duel.yaml --ticks 3 --trace\n",
    .least = 1,
    .most = 1};

static int parse(Running *running, int argc, const char **argv) {
    Options *o = &running->options;
    *o = (Options){.threads = 1, .ticks = PHX_CLI_DEFAULT, .field_cache = PHX_CLI_DEFAULT};
    const struct poptOption table[] = {
        {"ticks", 't', POPT_ARG_LONGLONG, &o->ticks, 0,
         "play N ticks; 0 only looks at tick 0 (default: the scenario's own end)", "N"},
        {"threads", 'j', POPT_ARG_INT, &o->threads, 0, "compute with N threads (default 1)", "N"},
        {"seed", 's', POPT_ARG_STRING, &o->seed, 0, "another seed of all random draws", "N"},
        {"map", 'm', POPT_ARG_STRING, &o->map, 0,
         "play on this .map; groups go to the nearest places that fit", "FILE"},
        {"bot", 'b', POPT_ARG_STRING, &o->bot, 0, "this bot for every player: idle, corner, wander, mason",
         "NAME"},
        {"replay", 'r', POPT_ARG_STRING, &o->replay, 0, "write a replay", "FILE"},
        {"png", 'p', POPT_ARG_STRING, &o->png, 0, "draw the map with the units' trails at the end", "FILE"},
        {"trace", 0, POPT_ARG_NONE, &o->trace, 0,
         "print a hash of all columns after every phase of every tick", NULL},
        {"reload", 0, POPT_ARG_NONE, &o->reload, 0,
         "before every tick, go through a snapshot into another world", NULL},
        {"drop", 0, POPT_ARG_NONE, &o->drop, 0, "before every tick, throw away all that is derived", NULL},
        {"field-cache", 0, POPT_ARG_LONGLONG, &o->field_cache, 0,
         "tiles of flow fields kept (default: the scenario's, or 64 MiB of them)", "N"},
        POPT_TABLEEND};
    PhxCli *cli = running->cli;
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    running->ends_early = o->ticks != PHX_CLI_DEFAULT;
    if (code == PHX_CLI_GO)
        code = phx_cli_optional(cli, "--ticks", &o->ticks, 0, 100000000, "the scenario's own end");
    if (code == PHX_CLI_GO) code = phx_cli_range(cli, "--threads", o->threads, 1, PHX_JOBS_WORKERS_MAX);
    if (code == PHX_CLI_GO)
        code = phx_cli_optional(cli, "--field-cache", &o->field_cache, 1, 4096,
                                "the scenario's, or 64 MiB of them");
    if (code == PHX_CLI_GO) code = phx_cli_writable(cli, o->replay);
    if (code == PHX_CLI_GO) code = phx_cli_writable_picture(cli, o->png);
    return code;
}

static void print_trace(void *user, uint32_t tick, uint32_t phase, const char *name, bool begin,
                        uint64_t hash) {
    Running *running = user;
    (void)phase;
    if (begin) return;
    phx_cli_print(running->cli, "%" PRIu32 " %s %016" PRIx64 "\n", tick, name, hash);
    if (running->trace == NULL) return;
    json_t *line = json_object();
    json_object_set_new(line, "tick", json_integer(tick));
    json_object_set_new(line, "phase", json_string(name));
    json_object_set_new(line, "hash", phx_cli_hash_json(hash));
    json_array_append_new(running->trace, line);
}

static int open_recorders(Running *running) {
    PhxCli *cli = running->cli;
    const Options *o = &running->options;
    if (o->png != NULL && (running->trails = phx_trails_create(running->solo.sim)) == NULL)
        return phx_cli_fail_status(cli, o->png, PHX_ERROR_MEMORY, NULL);
    if (o->replay == NULL) return PHX_CLI_GO;
    PhxError error = {0};
    /* In a batch run the file may lag behind by a second of the match. */
    const PhxReplayFileOptions lazy = {.flush_ticks = running->content.info.settings.tick_rate};
    PhxStatus status = phx_replay_file_create(o->replay, &lazy, &running->file, &error);
    if (status == PHX_OK)
        status = phx_replay_record_begin(phx_replay_file_sink(running->file), running->solo.sim,
                                         running->content.blob, running->content.blob_size, NULL,
                                         &running->writer, &error);
    if (status == PHX_OK) return PHX_CLI_GO;
    return phx_cli_fail_replay(cli, o->replay, status, phx_replay_file_fault(running->file),
                               running->file == NULL, &error);
}

static int fail_recording(const Running *running, PhxStatus status) {
    return phx_cli_fail_replay(running->cli, running->options.replay, status,
                               phx_replay_file_fault(running->file), true, NULL);
}

static int open_all(Running *running) {
    PhxCli *cli = running->cli;
    const Options *o = &running->options;
    PhxScenarioChanges changes = {.map = o->map, .has_seed = o->seed != NULL, .ticks = (uint32_t)o->ticks};
    int code = o->seed != NULL ? phx_cli_u64(cli, "--seed", o->seed, &changes.seed) : PHX_CLI_GO;
    if (code == PHX_CLI_GO) code = phx_solo_content_open(cli, cli->arguments[0], &changes, &running->content);
    if (code != PHX_CLI_GO) return code;
    running->ticks = running->ends_early ? (uint32_t)o->ticks : running->content.ticks;
    const PhxSoloOptions options = {.threads = (uint32_t)o->threads,
                                    .field_cache = (uint32_t)o->field_cache,
                                    .reload = o->reload != 0,
                                    .drop = o->drop != 0,
                                    .bot = o->bot,
                                    .observer = o->trace ? print_trace : NULL,
                                    .observer_user = running,
                                    .trace = o->trace != 0};
    if (o->trace && cli->json) running->trace = json_array();
    code = phx_solo_open(&running->solo, cli, &running->content, &options);
    return code == PHX_CLI_GO ? open_recorders(running) : code;
}

static int play(Running *running) {
    PhxSolo *solo = &running->solo;
    for (uint32_t tick = 0; tick < running->ticks; tick++) {
        const PhxCommand *commands;
        uint32_t count;
        int code = phx_solo_collect(solo, &commands, &count);
        if (code == PHX_CLI_GO) code = phx_solo_disturb(solo);
        if (code != PHX_CLI_GO) return code;
        PhxStatus status =
            running->writer ? phx_replay_writer_commands(running->writer, commands, count) : PHX_OK;
        if (status != PHX_OK) return fail_recording(running, status);
        const uint64_t begin = phx_cli_now();
        status = phx_sim_step(solo->sim, commands, count);
        if (status != PHX_OK) return phx_cli_fail_status(running->cli, "step", status, NULL);
        phx_solo_count(solo, phx_cli_now() - begin);
        if (running->writer != NULL)
            status = phx_replay_writer_hashes(running->writer, phx_sim_root(solo->sim),
                                              phx_sim_table_hashes(solo->sim));
        if (running->writer != NULL && status == PHX_OK)
            status = phx_replay_record_keyframe(running->writer, solo->sim);
        if (status != PHX_OK) return fail_recording(running, status);
        phx_trails_record(running->trails, solo->sim);
        phx_cli_progress(running->cli, tick + 1, running->ticks, running->content.title);
    }
    return PHX_CLI_GO;
}

static int write_files(Running *running) {
    PhxCli *cli = running->cli;
    const Options *o = &running->options;
    if (running->writer != NULL) {
        PhxStatus status = phx_replay_writer_end(running->writer);
        const PhxStatus closed = phx_replay_file_close(running->file);
        const int fault = errno;
        running->file = NULL;
        if (status == PHX_OK) status = closed;
        if (status != PHX_OK) return phx_cli_fail_replay(cli, o->replay, status, fault, true, NULL);
        phx_cli_set(cli, "replay", json_string(o->replay));
    }
    if (o->png == NULL) return PHX_CLI_GO;
    char note[128];
    snprintf(note, sizeof note, "%" PRIu32 " ticks, root %016" PRIx64, running->ticks,
             phx_sim_root(running->solo.sim));
    const PhxPictureOptions picture = {
        .title = running->content.title, .note = note, .letters = running->content.file.letters};
    PhxError error = {0};
    const PhxStatus status =
        phx_picture_write_png(o->png, running->solo.sim, running->trails, &picture, &error);
    if (status != PHX_OK) return phx_cli_fail_status(cli, o->png, status, &error);
    phx_cli_set(cli, "png", json_string(o->png));
    return PHX_CLI_GO;
}

static void report_json(Running *running) {
    PhxCli *cli = running->cli;
    const PhxSolo *solo = &running->solo;
    const PhxContentInfo *info = &running->content.info;
    phx_cli_set(cli, "scenario", json_string(running->content.title));
    phx_cli_set(cli, "ticks", json_integer(running->ticks));
    phx_cli_set(cli, "root", phx_cli_hash_json(phx_sim_root(solo->sim)));
    phx_cli_set(cli, "units", json_integer(phx_sim_units(solo->sim).live));
    phx_cli_set(cli, "arrived", json_integer(solo->arrived));
    phx_cli_set(cli, "ms_by_phase", phx_cli_phases_json(&solo->phases, running->ticks));
    phx_cli_set(cli, "threads", json_integer(running->options.threads));
    phx_cli_set(cli, "seconds", json_real((double)solo->step_ns / 1e9));
    phx_cli_set(cli, "tick_rate", json_integer(info->settings.tick_rate));
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, info->settings.match_key);
    phx_cli_set(cli, "seed", json_string(seed));
    phx_cli_set(cli, "width", json_integer(info->width));
    phx_cli_set(cli, "height", json_integer(info->height));
    phx_cli_set(cli, "content_hash", phx_cli_hash_json(info->content_hash));
    phx_cli_set(cli, "commands", json_integer((json_int_t)solo->input.total));
    json_t *events = json_object();
    for (PhxEventKind kind = 0; kind < PHX_EVENT_KIND_COUNT; kind++)
        json_object_set_new(events, phx_event_name(kind), json_integer((json_int_t)solo->events[kind]));
    phx_cli_set(cli, "events", events);
    phx_cli_set(cli, "state_bytes", json_integer((json_int_t)phx_sim_state_bytes(solo->sim)));
    if (running->trace != NULL) phx_cli_set(cli, "trace", json_incref(running->trace));
}

static void report_text(const Running *running) {
    const PhxCli *cli = running->cli;
    const PhxSolo *solo = &running->solo;
    const double seconds = (double)solo->step_ns / 1e9;
    phx_cli_print(cli,
                  "%s: %" PRIu32 " ticks at %u a second, %" PRIu32 " x %" PRIu32 " cells, %" PRIu32
                  " units, %d thread%s\n",
                  running->content.title, running->ticks, running->content.info.settings.tick_rate,
                  running->content.info.width, running->content.info.height, phx_sim_units(solo->sim).live,
                  running->options.threads, running->options.threads == 1 ? "" : "s");
    phx_cli_print(cli, "root     %016" PRIx64 "\n", phx_sim_root(solo->sim));
    phx_cli_print(cli, "arrived  %" PRIu32 " of %" PRIu32 " units\n", solo->arrived,
                  phx_sim_units(solo->sim).live);
    phx_cli_print(cli, "time     %.3f s, %.0f agent-steps a second\n", seconds,
                  seconds > 0 ? (double)solo->agent_steps / seconds : 0);
    phx_cli_phases_print(cli, &solo->phases, running->ticks);
    if (running->options.replay != NULL) phx_cli_print(cli, "replay   %s\n", running->options.replay);
    if (running->options.png != NULL) phx_cli_print(cli, "picture  %s\n", running->options.png);
}

static int report(Running *running) {
    report_json(running);
    report_text(running);
    const uint64_t audit = phx_sim_audit_failures(running->solo.sim);
    if (audit == 0) return PHX_EXIT_OK;
    return phx_cli_false(
        running->cli,
        "%" PRIu64 " blocks of a grid changed without a mark: a phase of the game forgets phx_grid_touch",
        audit);
}

int phx_cmd_run(PhxCli *cli, int argc, const char **argv) {
    Running running = {.cli = cli};
    int code = parse(&running, argc, argv);
    if (code != PHX_CLI_GO) return code;
    code = open_all(&running);
    if (code == PHX_CLI_GO) code = play(&running);
    if (code == PHX_CLI_GO) code = write_files(&running);
    if (code == PHX_CLI_GO) code = report(&running);
    phx_trails_destroy(running.trails);
    phx_replay_writer_destroy(running.writer);
    (void)phx_replay_file_close(running.file);
    if (running.solo.cli != NULL) phx_solo_close(&running.solo);
    phx_solo_content_close(&running.content);
    json_decref(running.trace);
    return code;
}
