/* cmd_replay.c: phx replay info|verify|png: what a replay holds; whether this build computes the same match;
 * its picture.
 *
 * Exit codes of verify are PhxReplayVerdict: 0 verified, 1 diverged, 2 unreadable, 3 not verifiable by this
 * revision. A replay that was cut by a crash is a good one up to the cut: it is said, and isn't a failure. A
 * garbled one is.
 */
#include "phx/cli.h"
#include "picture/picture.h"

#include <inttypes.h>
#include <phalanx/replay.h>
#include <stdio.h>
#include <string.h>

static const PhxCliUsage usage = {
    .synopsis = "info FILE | verify FILE | png FILE OUT",
    .about =
        "info lists what a replay holds. verify computes the match again and compares the root and table "
        "hashes of\n"
        "every tick; it exits 0 (verified), 1 (diverged: the first tick and its tables are named), 2 "
        "(unreadable)\n"
        "or 3 (recorded by another revision of the simulation). png plays the replay and draws its picture\n"
        "(an SVG where OUT ends in .svg).",
    .examples = "  phx replay info clash.phxr\n"
                "  phx replay verify clash.phxr --threads 2 && echo the same match\n"
                "  phx replay png clash.phxr clash.png\n",
    .least = 2,
    .most = 3};

static void print_time(const PhxCli *cli, uint64_t milliseconds) {
    phx_cli_print(cli, "%" PRIu64 ":%04.1f", milliseconds / 60000, (double)(milliseconds % 60000) / 1000);
}

/* ---- info */

static json_t *settings_json(const PhxSettings *settings) {
    return json_pack("{s:o, s:i, s:i, s:i}", "match_key", phx_cli_hash_json(settings->match_key), "tick_rate",
                     settings->tick_rate, "ticks_per_turn", settings->ticks_per_turn, "input_delay",
                     settings->input_delay);
}

static json_t *players_json(const PhxReplayInfo *info) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < info->player_count; i++) {
        const PhxReplayPlayer *player = &info->players[i];
        if (!player->listed && !player->commands) continue;
        json_array_append_new(list,
                              json_pack("{s:i, s:s*, s:i, s:I, s:I}", "slot", (int)i, "name", player->name,
                                        "team", player->team, "commands", (json_int_t)player->commands,
                                        "command_bytes", (json_int_t)player->command_bytes));
    }
    return list;
}

static json_t *notes_json(const PhxReplay *replay) {
    json_t *list = json_array();
    PhxReplayNote note;
    uint64_t position = 0;
    while (phx_replay_note_next(replay, &position, &note))
        json_array_append_new(list, json_pack("{s:I, s:s, s:i, s:s*}", "tick", (json_int_t)note.tick, "kind",
                                              phx_replay_note_name(note.kind), "slot", note.slot, "text",
                                              note.text));
    return list;
}

static json_t *records_json(const PhxReplayInfo *info) {
    json_t *object = json_object();
    const char *name;
    for (uint32_t kind = 0; kind < PHX_REPLAY_KIND_LIMIT && (name = phx_replay_kind_name(kind)); kind++)
        if (info->kinds[kind].count)
            json_object_set_new(object, name,
                                json_pack("{s:I, s:I}", "count", (json_int_t)info->kinds[kind].count, "bytes",
                                          (json_int_t)info->kinds[kind].bytes));
    return object;
}

static void info_json(PhxCli *cli, const PhxReplay *replay, const PhxReplayInfo *info) {
    json_t *tables = json_array();
    phx_cli_set(cli, "state", json_string(phx_replay_state_name(info->state)));
    phx_cli_set(cli, "bytes", json_integer((json_int_t)info->bytes));
    phx_cli_set(cli, "kept_bytes", json_integer((json_int_t)info->kept_bytes));
    phx_cli_set(cli, "lost_bytes", json_integer((json_int_t)info->lost_bytes));
    phx_cli_set(cli, "version", json_integer(info->version));
    phx_cli_set(cli, "revision", json_integer(info->sim_revision));
    phx_cli_set(cli, "schema", phx_cli_hash_json(info->schema_hash));
    phx_cli_set(cli, "content", phx_cli_hash_json(info->content_hash));
    phx_cli_set(cli, "content_bytes", json_integer((json_int_t)info->content_bytes));
    phx_cli_set(cli, "settings", settings_json(&info->settings));
    phx_cli_set(cli, "width", json_integer(info->map_width));
    phx_cli_set(cli, "height", json_integer(info->map_height));
    phx_cli_set(cli, "ticks", json_integer(info->ticks));
    phx_cli_set(cli, "milliseconds", json_integer((json_int_t)info->milliseconds));
    phx_cli_set(cli, "start_root", phx_cli_hash_json(info->start_root));
    phx_cli_set(cli, "root", phx_cli_hash_json(info->final_root));
    phx_cli_set(cli, "commands", json_integer((json_int_t)info->commands));
    phx_cli_set(cli, "command_bytes", json_integer((json_int_t)info->command_bytes));
    phx_cli_set(cli, "host_commands", json_integer((json_int_t)info->host_commands));
    phx_cli_set(cli, "pending_commands", json_integer(info->pending_commands));
    for (uint32_t i = 0; i < info->table_count; i++)
        json_array_append_new(tables, json_string(info->table_names[i]));
    phx_cli_set(cli, "tables", tables);
    phx_cli_set(cli, "players", players_json(info));
    phx_cli_set(cli, "records", records_json(info));
    phx_cli_set(cli, "notes", notes_json(replay));
}

static void print_notes(const PhxCli *cli, const PhxReplay *replay) {
    PhxReplayNote note;
    uint64_t position = 0;
    while (phx_replay_note_next(replay, &position, &note)) {
        phx_cli_print(cli, "  note       tick %" PRIu32 ", %s", note.tick, phx_replay_note_name(note.kind));
        if (note.slot < PHX_PLAYER_LIMIT) phx_cli_print(cli, ", player %u", note.slot);
        phx_cli_print(cli, ": %s\n", note.text);
    }
}

static void print_header(const PhxCli *cli, const PhxReplayInfo *info) {
    phx_cli_print(cli, "  length     %" PRIu32 " ticks, ", info->ticks);
    print_time(cli, info->milliseconds);
    phx_cli_print(cli, " at %u Hz; turns of %u ticks, input delay %u turns\n", info->settings.tick_rate,
                  info->settings.ticks_per_turn, info->settings.input_delay);
    phx_cli_print(cli,
                  "  made by    simulation revision %" PRIu32 ", format %" PRIu32 ", schema %016" PRIx64 "\n",
                  info->sim_revision, info->version, info->schema_hash);
    phx_cli_print(cli,
                  "  content    %016" PRIx64 ", %" PRIu64 " bytes, map %" PRIu32 " x %" PRIu32
                  ", room for %" PRIu32 " units\n",
                  info->content_hash, info->content_bytes, info->map_width, info->map_height,
                  info->unit_capacity);
    phx_cli_print(cli, "  roots      %016" PRIx64 " at the start, %016" PRIx64 " after the last tick\n",
                  info->start_root, info->final_root);
    for (uint32_t i = 0; i < info->player_count; i++) {
        const PhxReplayPlayer *player = &info->players[i];
        if (player->listed || player->commands)
            phx_cli_print(cli,
                          "  player %-3" PRIu32 " %s, team %u: %" PRIu64 " commands, %" PRIu64 " bytes\n", i,
                          player->name, player->team, player->commands, player->command_bytes);
    }
    if (info->host_commands) phx_cli_print(cli, "  host       %" PRIu64 " commands\n", info->host_commands);
    if (info->pending_commands)
        phx_cli_print(cli, "  pending    %" PRIu32 " commands of a tick that was never completed\n",
                      info->pending_commands);
    phx_cli_print(cli, "  tables    ");
    for (uint32_t i = 0; i < info->table_count; i++) phx_cli_print(cli, " %s", info->table_names[i]);
    phx_cli_print(cli, "\n");
}

static int replay_info(PhxCli *cli, const char *path, const PhxReplay *replay) {
    const PhxReplayInfo *info = phx_replay_info(replay);
    const char *name;
    info_json(cli, replay, info);
    phx_cli_print(cli, "%s: %s, %" PRIu64 " bytes\n", path, phx_replay_state_name(info->state), info->bytes);
    if (info->has_header) print_header(cli, info);
    for (uint32_t kind = 0; kind < PHX_REPLAY_KIND_LIMIT && (name = phx_replay_kind_name(kind)); kind++)
        if (info->kinds[kind].count)
            phx_cli_print(cli, "  records    %-10s %8" PRIu32 "  %10" PRIu64 " bytes\n", name,
                          info->kinds[kind].count, info->kinds[kind].bytes);
    print_notes(cli, replay);
    if (info->state == PHX_REPLAY_GARBLED || !info->has_content)
        return phx_cli_fail(cli, "%s: byte %" PRIu64 ": %s; %" PRIu64 " bytes lost", path, info->fault.offset,
                            info->fault.text, info->lost_bytes);
    if (info->state == PHX_REPLAY_CUT)
        phx_cli_note(cli, "%s: byte %" PRIu64 ": %s; %" PRIu64 " bytes lost", path, info->fault.offset,
                     info->fault.text, info->lost_bytes);
    return PHX_EXIT_OK;
}

/* ---- verify */

static void progress(void *user, uint32_t done, uint32_t ticks) {
    phx_cli_progress(user, done, ticks, "ticks verified");
}

static void verification_json(PhxCli *cli, const PhxReplayVerification *result) {
    phx_cli_set(cli, "verdict", json_string(phx_replay_verdict_name(result->verdict)));
    phx_cli_set(cli, "ticks", json_integer(result->ticks));
    if (result->verdict == PHX_REPLAY_VERIFIED)
        phx_cli_set(cli, "root", phx_cli_hash_json(result->computed_root));
    if (result->verdict != PHX_REPLAY_DIVERGED) return;
    json_t *tables = json_array();
    for (uint32_t i = 0; i < result->difference_count; i++) {
        const PhxReplayTableDifference *difference = &result->differences[i];
        json_array_append_new(tables, json_pack("{s:s, s:o, s:o}", "name", difference->name, "recorded",
                                                phx_cli_hash_json(difference->recorded), "computed",
                                                phx_cli_hash_json(difference->computed)));
    }
    phx_cli_set(cli, "tick",
                json_integer(result->tick == PHX_REPLAY_BEFORE_FIRST ? -1 : (json_int_t)result->tick));
    phx_cli_set(cli, "recorded_root", phx_cli_hash_json(result->recorded_root));
    phx_cli_set(cli, "computed_root", phx_cli_hash_json(result->computed_root));
    phx_cli_set(cli, "tables", tables);
}

/* Names the first tick that differs, and every table of it. */
static int say_diverged(PhxCli *cli, const char *path, const PhxReplayVerification *result) {
    char when[40], tables[256] = "no table (the recorded root contradicts its own tables)";
    size_t used = 0;
    if (result->tick == PHX_REPLAY_BEFORE_FIRST)
        snprintf(when, sizeof when, "before tick 0");
    else
        snprintf(when, sizeof when, "at tick %" PRIu32, result->tick);
    for (uint32_t i = 0; i < result->difference_count && used + 1 < sizeof tables; i++)
        used += (size_t)snprintf(tables + used, sizeof tables - used, "%s%s", i ? ", " : "table ",
                                 result->differences[i].name);
    return phx_cli_false(cli, "%s: diverges %s in %s: recorded root %016" PRIx64 ", computed %016" PRIx64,
                         path, when, tables, result->recorded_root, result->computed_root);
}

static int replay_verify(PhxCli *cli, const char *path, const PhxReplay *replay, const PhxSimConfig *config) {
    const PhxReplayInfo *info = phx_replay_info(replay);
    PhxReplayVerification result;
    const PhxStatus status = phx_replay_verify(replay, config, progress, cli, &result);
    if (status) return phx_cli_fail_status(cli, path, status, NULL);
    phx_cli_progress(cli, 1, 1, "");
    phx_cli_set(cli, "state", json_string(phx_replay_state_name(info->state)));
    verification_json(cli, &result);
    switch (result.verdict) {
    case PHX_REPLAY_VERIFIED:
        phx_cli_print(cli, "%s: verified: %" PRIu32 " ticks, root %016" PRIx64 "\n", path, result.ticks,
                      result.computed_root);
        if (info->state != PHX_REPLAY_COMPLETE)
            phx_cli_note(cli, "%s: the replay is %s at byte %" PRIu64 ": %s", path,
                         phx_replay_state_name(info->state), info->fault.offset, info->fault.text);
        return PHX_EXIT_OK;
    case PHX_REPLAY_DIVERGED:
        return say_diverged(cli, path, &result);
    default:
        break;
    }
    (void)phx_cli_fail(cli, "%s: %s: %s", path, phx_replay_verdict_name(result.verdict), result.error.text);
    return (int)result.verdict;
}

/* ---- png */

static int draw(PhxCli *cli, const char *path, const char *out, PhxReplayPlayback *playback,
                const PhxReplayInfo *info) {
    PhxError error = {0};
    PhxSim *sim = phx_replay_playback_sim(playback);
    PhxTrails *trails = phx_trails_create(sim);
    PhxStatus status = trails ? PHX_OK : PHX_ERROR_MEMORY;
    while (!status && !phx_replay_playback_done(playback)) {
        status = phx_replay_playback_step(playback, NULL);
        phx_trails_record(trails, sim);
        phx_cli_progress(cli, phx_sim_tick(sim), info->ticks, "ticks played");
    }
    const PhxPictureOptions picture = {.title = path};
    if (!status) status = phx_picture_write_png(out, sim, trails, &picture, &error);
    phx_trails_destroy(trails);
    if (status) return phx_cli_fail_status(cli, out, status, &error);
    if (phx_sim_root(sim) != info->final_root)
        phx_cli_note(cli,
                     "%s: this build plays another match than was recorded; phx replay verify names the tick",
                     path);
    phx_cli_set(cli, "png", json_string(out));
    phx_cli_set(cli, "ticks", json_integer(phx_sim_tick(sim)));
    phx_cli_set(cli, "root", phx_cli_hash_json(phx_sim_root(sim)));
    phx_cli_print(cli, "%s: tick %" PRIu32 ", root %016" PRIx64 "\n", out, phx_sim_tick(sim),
                  phx_sim_root(sim));
    return PHX_EXIT_OK;
}

static int replay_png(PhxCli *cli, const char *path, const char *out, const PhxReplay *replay,
                      const PhxSimConfig *config) {
    PhxReplayPlayback *playback = NULL;
    PhxError error = {0};
    const PhxStatus status = phx_replay_playback_create(replay, config, &playback, &error);
    if (status) return phx_cli_fail_status(cli, path, status, &error);
    const int code = draw(cli, path, out, playback, phx_replay_info(replay));
    phx_replay_playback_destroy(playback);
    return code;
}

static int with_threads(PhxCli *cli, int threads, bool verify, const char *path, const PhxReplay *replay) {
    PhxSimConfig config = {.game = cli->game};
    const int code = phx_cli_jobs_begin(cli, (uint32_t)threads, &config.jobs);
    if (code != PHX_CLI_GO) return code;
    const int result = verify ? replay_verify(cli, path, replay, &config)
                              : replay_png(cli, path, cli->arguments[2], replay, &config);
    phx_cli_jobs_end(&config.jobs, (uint32_t)threads);
    return result;
}

int phx_cmd_replay(PhxCli *cli, int argc, const char **argv) {
    int threads = 1;
    const struct poptOption options[] = {
        {"threads", 'j', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &threads, 0, "threads that play it", "N"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, options, &usage);
    if (code != PHX_CLI_GO) return code;
    const char *word = cli->arguments[0], *path = cli->arguments[1];
    const bool info = strcmp(word, "info") == 0, verify = strcmp(word, "verify") == 0,
               png = strcmp(word, "png") == 0;
    if (!info && !verify && !png)
        return phx_cli_fail(cli, "%s: info, verify or png is wanted; phx replay --help", word);
    if (cli->argument_count != (png ? 3u : 2u))
        return phx_cli_fail(cli, png ? "png needs a replay and the file to draw" : "%s takes one file", word);
    PhxReplay *replay;
    PhxError error = {0};
    const PhxStatus status = phx_replay_load(path, 0, &replay, &error);
    if (status) return phx_cli_fail_status(cli, path, status, &error);
    phx_cli_set(cli, "file", json_string(path));
    code = info ? replay_info(cli, path, replay) : with_threads(cli, threads, verify, path, replay);
    phx_replay_close(replay);
    return code;
}
