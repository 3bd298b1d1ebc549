/* cmd_replay_state.c: phx replay seek, dump and png: the state at a tick: its hashes, all of it as text, and
 * its picture. */
#include "phx/cmd_replay.h"
#include "picture/picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- seek */

static const PhxCliUsage seek_usage = {
    .synopsis = "FILE --tick T",
    .about =
        "Goes to tick T (as many ticks computed), by way of the nearest keyframe, and prints the root and "
        "the hashes of\n"
        "the tables. Exits 1 where the root isn't the recorded one.\n"
        "What happens in tick t shows at --tick t+1: a desync at tick 50 is seen at 51.",
    .examples = "  phx replay seek clash.phxr --tick 1234\n"
                "  phx replay seek clash.phxr --tick 0 --json | jq .root\n",
    .least = 1,
    .most = 1};

static void print_tables(PhxCli *cli, const PhxSim *sim) {
    const uint64_t *hashes = phx_sim_table_hashes(sim);
    json_t *tables = json_object();
    for (uint32_t t = 0; t < phx_sim_table_count(sim); t++) {
        phx_cli_print(cli, "%-16s %016" PRIx64 "\n", phx_sim_table_name(sim, t), hashes[t]);
        json_object_set_new(tables, phx_sim_table_name(sim, t), phx_cli_hash_json(hashes[t]));
    }
    phx_cli_set(cli, "tables", tables);
}

/* The root that the replay says the state at `tick` has. */
static PhxStatus recorded_root(const PhxReplay *replay, uint32_t tick, uint64_t *root) {
    PhxReplayCursor *cursor;
    PhxReplayTick before;
    *root = phx_replay_info(replay)->start_root;
    if (tick == 0) return PHX_OK;
    PhxStatus status = phx_replay_cursor_create(replay, &cursor);
    if (status != PHX_OK) return status;
    status = phx_replay_cursor_seek(cursor, tick - 1);
    if (status == PHX_OK && phx_replay_cursor_next(cursor, &before)) *root = before.root;
    phx_replay_cursor_destroy(cursor);
    return status;
}

/* The recorder's own state at `tick`, which it kept because sides disagreed. */
static bool find_recorded(const PhxReplay *replay, uint32_t tick, uint64_t root, PhxReplaySnapshot *out) {
    uint64_t position = 0;
    while (phx_replay_evidence_next(replay, &position, out))
        if (out->tick == tick && out->root == root) return true;
    return false;
}

static int not_recorded(PhxCli *cli, const char *path, const PhxReplay *replay, const PhxSim *sim,
                        uint64_t recorded) {
    PhxReplaySnapshot snapshot;
    const bool kept = find_recorded(replay, phx_sim_tick(sim), recorded, &snapshot);
    return phx_cli_false(cli,
                         "%s: the recorded root of tick %" PRIu32 " is %016" PRIx64
                         ", and this program computes %016" PRIx64
                         ", whose state this is; phx replay verify names the first tick that differs%s",
                         path, phx_sim_tick(sim), recorded, phx_sim_root(sim),
                         kept ? "; the recorded state was kept: phx replay dump --recorded" : "");
}

/* Says that a seek passed over a keyframe: the file is partly false, and the way was longer. */
static void say_passed(PhxCli *cli, const char *path, const PhxReplay *replay, const PhxReplayStage *stage) {
    const uint32_t tick = phx_sim_tick(stage->sim);
    PhxReplaySnapshot keyframe;
    if (!phx_replay_keyframe_before(replay, tick, &keyframe)) return;
    if (phx_replay_playback_stepped(stage->playback) <= tick - keyframe.tick) return;
    phx_cli_note(cli,
                 "%s: the keyframe of tick %" PRIu32 " at byte %" PRIu64
                 " was passed over: it doesn't unpack to a state with the root that its record has",
                 path, keyframe.tick, keyframe.position);
}

static int report_state(PhxCli *cli, const char *path, const PhxReplay *replay, PhxReplayStage *stage,
                        bool as_recorded) {
    (void)as_recorded;
    const uint32_t tick = phx_sim_tick(stage->sim);
    const uint64_t root = phx_sim_root(stage->sim), steps = phx_replay_playback_stepped(stage->playback);
    uint64_t recorded;
    const PhxStatus status = recorded_root(replay, tick, &recorded);
    if (status != PHX_OK) return phx_cli_fail_status(cli, path, status, NULL);
    phx_cli_set(cli, "tick", json_integer(tick));
    phx_cli_set(cli, "root", phx_cli_hash_json(root));
    phx_cli_set(cli, "recorded_root", phx_cli_hash_json(recorded));
    phx_cli_set(cli, "steps", json_integer((json_int_t)steps));
    phx_cli_print(cli, "tick %" PRIu32 ", root %016" PRIx64 ", %" PRIu64 " ticks computed from %s\n", tick,
                  root, steps, steps == tick ? "the beginning" : "a keyframe");
    print_tables(cli, stage->sim);
    return root == recorded ? PHX_EXIT_OK : not_recorded(cli, path, replay, stage->sim, recorded);
}

/* ---- what the three share */

typedef int (*At)(PhxCli *cli, const char *path, const PhxReplay *replay, PhxReplayStage *stage,
                  bool as_recorded);

/* Options, the replay, and a world at --tick; then `at`. `recorded`: of --recorded; null where it isn't
 * offered. */
static int at_tick(PhxCli *cli, int argc, const char **argv, const PhxCliUsage *usage, At at, int *recorded) {
    int threads = 1;
    char *text = NULL;
    const struct poptOption options[] = {
        {"tick", 't', POPT_ARG_STRING, &text, 0, "the tick (the last one)", "T"},
        {"threads", 0, POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &threads, 0, "threads that play it", "N"},
        {recorded ? "recorded" : NULL, 0, POPT_ARG_NONE, recorded, 0, "the state that the recorder kept",
         NULL},
        POPT_TABLEEND};
    PhxReplay *replay;
    PhxReplayStage stage;
    uint32_t tick = 0;
    int code = phx_cli_parse(cli, argc, argv, options, usage);
    if (code == PHX_CLI_GO) code = phx_replay_cmd_load(cli, cli->arguments[0], &replay);
    if (code != PHX_CLI_GO) return code;
    const char *path = cli->arguments[0];
    code = phx_replay_cmd_stage(cli, path, replay, threads, &stage);
    if (code == PHX_CLI_GO) {
        code = phx_replay_cmd_tick(cli, "--tick", text, replay, &tick);
        if (code == PHX_CLI_GO) code = phx_replay_cmd_goto(cli, path, &stage, tick);
        if (code == PHX_CLI_GO) {
            say_passed(cli, path, replay, &stage);
            code = at(cli, path, replay, &stage, recorded != NULL && *recorded != 0);
        }
        phx_replay_cmd_stage_close(&stage);
    }
    phx_replay_close(replay);
    return code;
}

int phx_replay_cmd_seek(PhxCli *cli, int argc, const char **argv) {
    return at_tick(cli, argc, argv, &seek_usage, report_state, NULL);
}

/* ---- dump */

static const PhxCliUsage dump_usage = {
    .synopsis = "FILE --tick T [--recorded]",
    .about =
        "Prints the whole state at tick T, a line a value; two dumps can be compared with diff(1). It is the "
        "state that\n"
        "this program computes: exits 1 where its root isn't the recorded one. --recorded prints the "
        "recorder's own, if a\n"
        "desync made it keep that.\n"
        "What happens in tick t shows at --tick t+1: a desync at tick 50 is seen at 51.",
    .examples = "  phx replay dump clash.phxr --tick 1234 >1234.txt\n"
                "  phx replay dump clash.phxr --tick 0 | grep '^unit\\[3\\]'\n",
    .least = 1,
    .most = 1};

/* Text that grows; lines of --json. */
typedef struct Lines {
    json_t *list;
    char *text;
    size_t used, capacity;
    bool failed;
} Lines;

static void write_text(void *user, const char *text, size_t length) {
    (void)user;
    fwrite(text, 1, length, stdout);
}

static void collect_text(void *user, const char *text, size_t length) {
    Lines *lines = user;
    if (lines->used + length > lines->capacity) {
        const size_t capacity = 2 * (lines->used + length) + 4096;
        char *larger = realloc(lines->text, capacity);
        lines->failed |= larger == NULL;
        if (larger == NULL) return;
        lines->text = larger;
        lines->capacity = capacity;
    }
    memcpy(lines->text + lines->used, text, length);
    lines->used += length;
    char *begin = lines->text, *end;
    while ((end = memchr(begin, '\n', lines->used - (size_t)(begin - lines->text))) != NULL) {
        json_array_append_new(lines->list, json_stringn(begin, (size_t)(end - begin)));
        begin = end + 1;
    }
    lines->used -= (size_t)(begin - lines->text);
    memmove(lines->text, begin, lines->used);
}

/* Puts the recorder's state in the place of the computed one. PHX_CLI_GO or a failure. */
static int take_recorded(PhxCli *cli, const char *path, const PhxReplay *replay, PhxSim *sim, uint64_t root) {
    const uint32_t tick = phx_sim_tick(sim);
    PhxReplaySnapshot snapshot;
    PhxError error = {0};
    if (phx_sim_root(sim) == root) return PHX_CLI_GO;
    if (!find_recorded(replay, tick, root, &snapshot))
        return phx_cli_fail(cli, "--recorded: %s holds no state that its recorder kept of tick %" PRIu32,
                            path, tick);
    if (snapshot.size > phx_sim_state_bytes(sim) + PHX_REPLAY_SNAPSHOT_EXTRA)
        return phx_cli_fail_status(cli, path, PHX_ERROR_FORMAT, NULL);
    void *bytes = malloc(snapshot.size);
    PhxStatus status = bytes == NULL ? PHX_ERROR_MEMORY : PHX_OK;
    if (status == PHX_OK) status = phx_replay_snapshot_read(replay, &snapshot, bytes, snapshot.size);
    if (status == PHX_OK) status = phx_sim_restore(sim, bytes, snapshot.size, &error);
    free(bytes);
    if (status != PHX_OK) return phx_cli_fail_status(cli, path, status, &error);
    if (phx_sim_root(sim) == root && phx_sim_tick(sim) == tick) return PHX_CLI_GO;
    return phx_cli_fail(cli, "%s: the state kept at byte %" PRIu64 " isn't that of its record", path,
                        snapshot.position);
}

static int print_lines(PhxCli *cli, const char *path, const PhxSim *sim) {
    Lines lines = {.list = json_array()};
    phx_sim_dump(sim, collect_text, &lines);
    free(lines.text);
    phx_cli_set(cli, "lines", lines.list);
    return lines.failed ? phx_cli_fail_status(cli, path, PHX_ERROR_MEMORY, NULL) : PHX_CLI_GO;
}

static int dump_state(PhxCli *cli, const char *path, const PhxReplay *replay, PhxReplayStage *stage,
                      bool as_recorded) {
    PhxSim *sim = stage->sim;
    uint64_t recorded;
    int code = PHX_CLI_GO;
    const PhxStatus status = recorded_root(replay, phx_sim_tick(sim), &recorded);
    if (status != PHX_OK) return phx_cli_fail_status(cli, path, status, NULL);
    if (as_recorded) code = take_recorded(cli, path, replay, sim, recorded);
    if (code != PHX_CLI_GO) return code;
    phx_cli_set(cli, "tick", json_integer(phx_sim_tick(sim)));
    phx_cli_set(cli, "root", phx_cli_hash_json(phx_sim_root(sim)));
    phx_cli_set(cli, "recorded_root", phx_cli_hash_json(recorded));
    if (cli->json)
        code = print_lines(cli, path, sim);
    else
        phx_sim_dump(sim, write_text, NULL);
    if (code != PHX_CLI_GO) return code;
    return phx_sim_root(sim) == recorded ? PHX_EXIT_OK : not_recorded(cli, path, replay, sim, recorded);
}

int phx_replay_cmd_dump(PhxCli *cli, int argc, const char **argv) {
    int recorded = 0;
    return at_tick(cli, argc, argv, &dump_usage, dump_state, &recorded);
}

/* ---- png */

static const PhxCliUsage png_usage = {
    .synopsis = "FILE OUT",
    .about = "Plays the replay and draws its map, units and trails (an SVG where OUT ends in .svg).",
    .examples = "  phx replay png clash.phxr clash.png\n"
                "  phx replay png clash.phxr early.svg --tick 300\n",
    .least = 2,
    .most = 2};

static int draw(PhxCli *cli, const char *path, const char *out, PhxReplayStage *stage, uint32_t tick,
                uint64_t recorded) {
    PhxError error = {0};
    PhxSim *sim = stage->sim;
    PhxTrails *trails = phx_trails_create(sim);
    PhxStatus status = trails ? PHX_OK : PHX_ERROR_MEMORY;
    while (!status && phx_sim_tick(sim) < tick) {
        status = phx_replay_playback_step(stage->playback, NULL);
        phx_trails_record(trails, sim);
        phx_cli_progress(cli, phx_sim_tick(sim), tick, "ticks played");
    }
    const PhxPictureOptions picture = {.title = path};
    if (!status) status = phx_picture_write_png(out, sim, trails, &picture, &error);
    phx_trails_destroy(trails);
    if (status) return phx_cli_fail_status(cli, out, status, &error);
    if (phx_sim_root(sim) != recorded)
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

int phx_replay_cmd_png(PhxCli *cli, int argc, const char **argv) {
    int threads = 1;
    char *text = NULL;
    const struct poptOption options[] = {
        {"tick", 't', POPT_ARG_STRING, &text, 0, "up to this tick (the last one)", "T"},
        {"threads", 0, POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &threads, 0, "threads that play it", "N"},
        POPT_TABLEEND};
    PhxReplay *replay;
    PhxReplayStage stage;
    uint32_t tick = 0;
    int code = phx_cli_parse(cli, argc, argv, options, &png_usage);
    if (code == PHX_CLI_GO) code = phx_cli_writable_picture(cli, cli->arguments[1]);
    if (code == PHX_CLI_GO) code = phx_replay_cmd_load(cli, cli->arguments[0], &replay);
    if (code != PHX_CLI_GO) return code;
    const char *path = cli->arguments[0];
    uint64_t recorded = 0;
    code = phx_replay_cmd_tick(cli, "--tick", text, replay, &tick);
    if (code == PHX_CLI_GO) {
        const PhxStatus status = recorded_root(replay, tick, &recorded);
        if (status != PHX_OK) code = phx_cli_fail_status(cli, path, status, NULL);
    }
    if (code == PHX_CLI_GO) code = phx_replay_cmd_stage(cli, path, replay, threads, &stage);
    if (code == PHX_CLI_GO) {
        code = draw(cli, path, cli->arguments[1], &stage, tick, recorded);
        phx_replay_cmd_stage_close(&stage);
    }
    phx_replay_close(replay);
    return code;
}
