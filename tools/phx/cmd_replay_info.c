/* cmd_replay_info.c: phx replay info: all that a replay says of itself, without a simulation. */
#include "phx/cmd_replay.h"

#include <inttypes.h>

static const PhxCliUsage usage = {
    .synopsis = "FILE",
    .about =
        "Lists what a replay holds: how the match was set up, its players, how many ticks were kept and "
        "what was\n"
        "lost, roots, records by kind, keyframes, and notes. Reads replays of every simulation revision.",
    .examples = "  phx replay info clash.phxr\n"
                "  phx replay info --json clash.phxr | jq .ticks\n",
    .least = 1,
    .most = 1};

static void print_time(const PhxCli *cli, uint64_t milliseconds) {
    phx_cli_print(cli, "%" PRIu64 ":%04.1f", milliseconds / 60000, (double)(milliseconds % 60000) / 1000);
}

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

static json_t *keyframes_json(const PhxReplay *replay, const PhxReplayInfo *info) {
    json_t *list = json_array();
    PhxReplaySnapshot keyframe;
    for (uint32_t i = 0; phx_replay_keyframe(replay, i, &keyframe); i++)
        json_array_append_new(list, json_pack("{s:I, s:I, s:I, s:b}", "tick", (json_int_t)keyframe.tick,
                                              "bytes", (json_int_t)keyframe.packed, "state_bytes",
                                              (json_int_t)keyframe.size, "readable", keyframe.readable));
    return json_pack("{s:b, s:I, s:o}", "indexed", info->indexed, "readable",
                     (json_int_t)info->keyframes_readable, "list", list);
}

static void print_keyframes(const PhxCli *cli, const PhxReplay *replay, const PhxReplayInfo *info) {
    PhxReplaySnapshot first, last;
    if (!phx_replay_keyframe(replay, 0, &first) || !phx_replay_keyframe(replay, info->keyframes - 1, &last))
        return;
    phx_cli_print(cli,
                  "  keyframes  %" PRIu32 ", at ticks %" PRIu32 " .. %" PRIu32 ", %s; the last takes %" PRIu32
                  " bytes for a state of %" PRIu32 "\n",
                  info->keyframes, first.tick, last.tick,
                  info->indexed ? "indexed" : "their index is missing and was made again", last.packed,
                  last.size);
    if (info->keyframes_readable < info->keyframes)
        phx_cli_print(cli, "             %" PRIu32 " of them can't be read by this program\n",
                      info->keyframes - info->keyframes_readable);
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
    phx_cli_set(cli, "content_readable", json_boolean(info->content_readable));
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
    phx_cli_set(cli, "keyframes", keyframes_json(replay, info));
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
    phx_cli_print(cli, "  content    %016" PRIx64 ", %" PRIu64 " bytes, ", info->content_hash,
                  info->content_bytes);
    if (info->content_readable)
        phx_cli_print(cli, "map %" PRIu32 " x %" PRIu32 ", room for %" PRIu32 " units\n", info->map_width,
                      info->map_height, info->unit_capacity);
    else
        phx_cli_print(cli, "packed as this program can't unpack\n");
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
    print_keyframes(cli, replay, info);
    print_notes(cli, replay);
    if (info->state == PHX_REPLAY_GARBLED || !info->has_content)
        return phx_cli_fail(cli, "%s: byte %" PRIu64 ": %s; %" PRIu64 " bytes lost", path, info->fault.offset,
                            info->fault.text, info->lost_bytes);
    if (info->state == PHX_REPLAY_CUT)
        phx_cli_note(cli, "%s: byte %" PRIu64 ": %s; %" PRIu64 " bytes lost", path, info->fault.offset,
                     info->fault.text, info->lost_bytes);
    return PHX_EXIT_OK;
}

int phx_replay_cmd_info(PhxCli *cli, int argc, const char **argv) {
    const struct poptOption options[] = {POPT_TABLEEND};
    PhxReplay *replay;
    int code = phx_cli_parse(cli, argc, argv, options, &usage);
    if (code == PHX_CLI_GO) code = phx_replay_cmd_load(cli, cli->arguments[0], &replay);
    if (code != PHX_CLI_GO) return code;
    code = replay_info(cli, cli->arguments[0], replay);
    phx_replay_close(replay);
    return code;
}
