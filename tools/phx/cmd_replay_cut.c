/* cmd_replay_cut.c: phx replay cut and fork: replays that begin with the first ticks of another.
 *
 * cut ends there, and so mends a replay whose recorder was killed; it also packs a replay otherwise. fork
 * goes on: with the recorded commands of the players that it isn't told to replace, and with bots in place of
 * the others. What they write can be verified from tick 0 like any other replay; no snapshot is inside that
 * has to be believed.
 */
#include "bots/bots.h"
#include "phx/cmd_replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- a file that begins with the first ticks */

typedef struct Copy {
    const char *path; /* to write */
    char part[4096];  /* where it is written: beside it, until it is complete */
    bool plain;       /* a file or none yet; else a device or a pipe, which is written itself */
    PhxReplayFile *file;
    PhxReplayWriter *writer;
} Copy;

static bool same_file(const char *a, const char *b) { return strcmp(a, b) == 0; }

static int copy_failed(PhxCli *cli, const Copy *copy, PhxStatus status, const PhxError *error) {
    const int fault = phx_replay_file_fault(copy->file);
    if (status == PHX_ERROR_IO && fault != 0) return phx_cli_fail(cli, "%s: %s", copy->path, strerror(fault));
    return phx_cli_fail_status(cli, copy->file ? copy->path : copy->part, status, error);
}

static int copy_begin(PhxCli *cli, const char *from, const char *to, const PhxReplay *replay, uint32_t tick,
                      const PhxReplayCopyOptions *options, Copy *copy) {
    PhxError error = {0};
    const PhxReplayFileOptions lazy = {.flush_ticks = 100};
    *copy = (Copy){.path = to};
    if (to == NULL) return phx_cli_fail(cli, "-o: the file to write is missing; phx %s --help", cli->command);
    if (same_file(from, to)) return phx_cli_fail(cli, "-o: %s: this is the replay that is read", to);
    if (!phx_replay_info(replay)->has_content)
        return phx_cli_fail(cli, "%s: no tick was kept: %s", from, phx_replay_info(replay)->fault.text);
    struct stat about;
    copy->plain = stat(to, &about) != 0 || S_ISREG(about.st_mode);
    const int length = snprintf(copy->part, sizeof copy->part, "%s%s", to, copy->plain ? ".part" : "");
    if (length < 0 || (size_t)length >= sizeof copy->part)
        return phx_cli_fail(cli, "-o: %.60s..: the path is too long", to);
    PhxStatus status = phx_replay_file_create(copy->part, &lazy, &copy->file, &error);
    if (status == PHX_OK)
        status = phx_replay_writer_copy(phx_replay_file_sink(copy->file), replay, tick, options, NULL,
                                        &copy->writer, &error);
    if (status == PHX_OK) return PHX_CLI_GO;
    return copy_failed(cli, copy, status, &error);
}

static int copy_note(PhxCli *cli, Copy *copy, const char *text) {
    const PhxStatus status =
        phx_replay_writer_note(copy->writer, PHX_REPLAY_NOTE_TEXT, PHX_REPLAY_NO_SLOT, text);
    return status == PHX_OK ? PHX_CLI_GO : copy_failed(cli, copy, status, NULL);
}

/* Ends the file where `code` says that all went well, and closes it. What stood at `path` is replaced only
 * by a whole one. */
static int copy_end(PhxCli *cli, Copy *copy, int code) {
    PhxStatus status = PHX_OK;
    const bool begun = copy->file != NULL;
    if (code == PHX_CLI_GO) {
        phx_cli_set(cli, "replay", json_string(copy->path));
        phx_cli_set(cli, "ticks", json_integer(phx_replay_writer_ticks(copy->writer)));
        status = phx_replay_writer_end(copy->writer);
        phx_cli_set(cli, "bytes", json_integer((json_int_t)phx_replay_writer_bytes(copy->writer)));
    }
    phx_replay_writer_destroy(copy->writer);
    const PhxStatus closed = phx_replay_file_close(copy->file);
    const int fault = errno;
    if (code == PHX_CLI_GO && status == PHX_OK) status = closed;
    if (code == PHX_CLI_GO && status != PHX_OK)
        code = phx_cli_fail(cli, "%s: %s", copy->path, fault ? strerror(fault) : phx_status_text(status));
    if (copy->plain && code == PHX_CLI_GO && rename(copy->part, copy->path) != 0)
        code = phx_cli_fail(cli, "%s: %s", copy->path, strerror(errno));
    if (copy->plain && code != PHX_CLI_GO && begun) remove(copy->part);
    return code == PHX_CLI_GO ? PHX_EXIT_OK : code;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- cut */

static const PhxCliUsage cut_usage = {
    .synopsis = "FILE -o OUT [--to T] [--pack none|zstd] [--no-keyframes]",
    .about =
        "Writes a replay of the first T ticks, with their keyframes and notes, an index and an end. "
        "Without --to all\n"
        "ticks that were kept: so a replay whose recorder was killed, or which is garbled towards its end, "
        "is mended.\n"
        "--pack writes content and keyframes packed otherwise: with `none`, builds without Zstandard can "
        "play "
        "the replay. --no-keyframes leaves the keyframes out: a smaller file, whose every jump plays from "
        "tick "
        "0.\n"
        "Works for replays of every simulation revision.",
    .examples = "  phx replay cut clash.phxr --to 500 -o begin.phxr\n"
                "  phx replay cut killed.phxr -o mended.phxr\n"
                "  phx replay cut clash.phxr --pack none --no-keyframes -o everywhere.phxr\n",
    .least = 1,
    .most = 1};

/* Says what was cut, unless all of a whole replay is kept. */
static int note_cut(PhxCli *cli, Copy *copy, const char *path, const PhxReplayInfo *info, uint32_t tick) {
    char text[512];
    if (tick == info->ticks && info->state == PHX_REPLAY_COMPLETE) return PHX_CLI_GO;
    snprintf(text, sizeof text, "cut from %.300s: %" PRIu32 " of %" PRIu32 " ticks, which was %s",
             base_name(path), tick, info->ticks, phx_replay_state_name(info->state));
    return copy_note(cli, copy, text);
}

static int read_packing(PhxCli *cli, const char *text, PhxReplayCopyOptions *options) {
    options->repack = text != NULL;
    if (text == NULL) return PHX_CLI_GO;
    if (strcmp(text, "none") != 0 && strcmp(text, "zstd") != 0)
        return phx_cli_fail(cli, "--pack: %.60s: none or zstd", text);
    options->packing = strcmp(text, "none") == 0 ? PHX_REPLAY_PACK_NONE : PHX_REPLAY_PACK_ZSTD;
    return PHX_CLI_GO;
}

int phx_replay_cmd_cut(PhxCli *cli, int argc, const char **argv) {
    int no_keyframes = 0;
    char *to = NULL, *out = NULL, *pack = NULL;
    const struct poptOption options[] = {
        {"to", 0, POPT_ARG_STRING, &to, 0, "ticks to keep (all that are whole)", "T"},
        {"output", 'o', POPT_ARG_STRING, &out, 0, "the replay to write", "OUT"},
        {"pack", 0, POPT_ARG_STRING, &pack, 0, "content and keyframes: none, zstd (as they are)", "HOW"},
        {"no-keyframes", 0, POPT_ARG_NONE, &no_keyframes, 0, "leave the keyframes out", NULL},
        POPT_TABLEEND};
    PhxReplay *replay;
    PhxReplayCopyOptions how = {0};
    Copy copy = {0};
    uint32_t tick;
    int code = phx_cli_parse(cli, argc, argv, options, &cut_usage);
    if (code == PHX_CLI_GO) code = read_packing(cli, pack, &how);
    if (code == PHX_CLI_GO) code = phx_replay_cmd_load(cli, cli->arguments[0], &replay);
    if (code != PHX_CLI_GO) return code;
    how.no_keyframes = no_keyframes != 0;
    const char *path = cli->arguments[0];
    const PhxReplayInfo *info = phx_replay_info(replay);
    code = phx_replay_cmd_tick(cli, "--to", to, replay, &tick);
    if (code == PHX_CLI_GO) code = copy_begin(cli, path, out, replay, tick, &how, &copy);
    if (code == PHX_CLI_GO) code = note_cut(cli, &copy, path, info, tick);
    code = copy_end(cli, &copy, code);
    if (code == PHX_EXIT_OK)
        phx_cli_print(cli, "%s: %" PRIu32 " ticks of the %" PRIu32 " in %s (%s, %" PRIu64 " bytes lost)\n",
                      out, tick, info->ticks, path, phx_replay_state_name(info->state), info->lost_bytes);
    phx_replay_close(replay);
    return code;
}

/* ---- fork */

static const PhxCliUsage fork_usage = {
    .synopsis = "FILE --at T -o OUT [--ticks N] [--bot SLOT=NAME,...]",
    .about =
        "Begins a new match from tick T of an old one, and plays it N ticks further. A player named in "
        "--bot is played by\n"
        "that bot (NAME alone: all of them); the others go on with the commands that were recorded for "
        "them, as far as\n"
        "there are some. OUT holds the old ticks too, and verifies from tick 0. With --ticks 0 it ends at "
        "tick T.\n"
        "The old ticks are verified first: exits 1, and writes nothing, where this program computes another "
        "match.",
    .examples = "  phx replay fork clash.phxr --at 500 --ticks 1000 --bot 1=wander -o other.phxr\n"
                "  phx replay fork clash.phxr --at 500 --ticks 1000 --bot wander -o bots.phxr\n"
                "  phx replay diff clash.phxr other.phxr\n",
    .least = 1,
    .most = 1};

typedef struct Fork {
    PhxCli *cli;
    const PhxReplay *replay;
    PhxReplayStage stage;
    PhxReplayCursor *cursor; /* over the recorded commands */
    Copy copy;
    const PhxBot *bots[PHX_PLAYER_LIMIT]; /* null: the recorded commands */
    uint32_t sequence[PHX_PLAYER_LIMIT];  /* of the next command that a bot gives */
    uint32_t count;                       /* of this tick */
    PhxCommand commands[PHX_TICK_COMMAND_LIMIT];
    size_t at[PHX_TICK_COMMAND_LIMIT]; /* where a bot's bytes are; SIZE_MAX: they are the replay's */
    uint8_t *bytes;
    size_t used, size;
    uint64_t refused; /* commands of bots beyond what a tick may have */
    uint8_t slot;     /* whose bot gives commands */
} Fork;

static int set_bot(Fork *fork, uint32_t players, const char *slot, const char *name) {
    const PhxBot *bot = phx_bot_find(name);
    uint64_t number = 0;
    if (bot == NULL)
        return phx_cli_fail(fork->cli, "--bot: %.60s: no such bot; phx run --help lists them", name);
    if (slot != NULL) {
        const int code = phx_cli_u64(fork->cli, "--bot", slot, &number);
        if (code != PHX_CLI_GO) return code;
        if (number >= players)
            return phx_cli_fail(fork->cli, "--bot: %.20s: the match has the players 0 to %" PRIu32, slot,
                                players ? players - 1 : 0);
    }
    for (uint32_t i = 0; i < players; i++)
        if (slot == NULL || i == number) fork->bots[i] = bot;
    return PHX_CLI_GO;
}

/* "wander", or "0=wander,1=idle". */
static int set_bots(Fork *fork, const char *text) {
    const uint32_t players = phx_replay_info(fork->replay)->player_count;
    char copy[512];
    if (text == NULL) return PHX_CLI_GO;
    if (strlen(text) >= sizeof copy) return phx_cli_fail(fork->cli, "--bot: this is too long");
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, ","); word != NULL; word = strtok(NULL, ",")) {
        char *equals = strchr(word, '=');
        if (equals != NULL) *equals = 0;
        const int code = set_bot(fork, players, equals ? word : NULL, equals ? equals + 1 : word);
        if (code != PHX_CLI_GO) return code;
    }
    return PHX_CLI_GO;
}

static void take_bot_command(void *user, const uint8_t *bytes, uint32_t size) {
    Fork *fork = user;
    if (fork->used + size > fork->size) {
        const size_t larger = 2 * (fork->used + size) + 65536;
        uint8_t *moved = realloc(fork->bytes, larger);
        if (moved != NULL) {
            fork->bytes = moved;
            fork->size = larger;
        }
    }
    if (fork->count == PHX_TICK_COMMAND_LIMIT || size > PHX_COMMAND_SIZE_LIMIT ||
        fork->used + size > fork->size) {
        fork->refused++;
        return;
    }
    memcpy(fork->bytes + fork->used, bytes, size);
    fork->at[fork->count] = fork->used;
    fork->commands[fork->count++] =
        (PhxCommand){.slot = fork->slot, .sequence = fork->sequence[fork->slot]++, .size = size};
    fork->used += size;
}

/* The recorded commands of the next tick, but for those of players that a bot replaces. */
static void take_recorded(Fork *fork) {
    PhxReplayTick tick;
    if (!phx_replay_cursor_next(fork->cursor, &tick)) return;
    for (uint32_t i = 0; i < tick.command_count; i++) {
        const PhxCommand *command = &tick.commands[i];
        if (command->slot < PHX_PLAYER_LIMIT && fork->bots[command->slot] != NULL) continue;
        fork->at[fork->count] = SIZE_MAX;
        fork->commands[fork->count++] = *command;
    }
}

static int fork_step(Fork *fork) {
    fork->count = 0;
    fork->used = 0;
    take_recorded(fork);
    for (uint8_t slot = 0; slot < PHX_PLAYER_LIMIT; slot++) {
        PhxPlayerInfo player;
        if (fork->bots[slot] == NULL || !phx_sim_player(fork->stage.sim, slot, &player) || player.left)
            continue;
        fork->slot = slot;
        fork->bots[slot]->run(fork->stage.sim, slot, phx_sim_tick(fork->stage.sim), take_bot_command, fork);
    }
    for (uint32_t i = 0; i < fork->count; i++)
        if (fork->at[i] != SIZE_MAX) fork->commands[i].bytes = fork->bytes + fork->at[i];
    const PhxStatus status =
        phx_replay_record_step(fork->copy.writer, fork->stage.sim, fork->commands, fork->count);
    return status == PHX_OK ? PHX_CLI_GO : copy_failed(fork->cli, &fork->copy, status, NULL);
}

/* Bots go on counting where their slots' commands ended; leaves the cursor at `tick`. */
static int count_sequences(Fork *fork, uint32_t tick) {
    PhxReplayTick passed;
    PhxStatus status = phx_replay_cursor_create(fork->replay, &fork->cursor);
    if (status != PHX_OK) return phx_cli_fail_status(fork->cli, fork->copy.path, status, NULL);
    for (uint32_t t = 0; t < tick && phx_replay_cursor_next(fork->cursor, &passed); t++)
        for (uint32_t i = 0; i < passed.command_count; i++) {
            const PhxCommand *command = &passed.commands[i];
            if (command->slot < PHX_PLAYER_LIMIT && command->sequence >= fork->sequence[command->slot])
                fork->sequence[command->slot] = command->sequence + 1;
        }
    return PHX_CLI_GO;
}

static int fork_play(Fork *fork, const char *path, uint32_t tick, uint32_t ticks) {
    char text[512];
    int code = phx_replay_cmd_goto(fork->cli, path, &fork->stage, tick);
    if (code == PHX_CLI_GO) code = count_sequences(fork, tick);
    snprintf(text, sizeof text, "forked from %.300s at tick %" PRIu32, base_name(path), tick);
    if (code == PHX_CLI_GO) code = copy_note(fork->cli, &fork->copy, text);
    for (uint32_t t = 0; t < ticks && code == PHX_CLI_GO; t++) {
        code = fork_step(fork);
        phx_cli_progress(fork->cli, t + 1, ticks, "ticks played");
    }
    return code;
}

static int fork_report(Fork *fork, const char *path, uint32_t tick) {
    PhxCli *cli = fork->cli;
    phx_cli_set(cli, "at", json_integer(tick));
    phx_cli_set(cli, "root", phx_cli_hash_json(phx_sim_root(fork->stage.sim)));
    phx_cli_set(cli, "refused", json_integer((json_int_t)fork->refused));
    phx_cli_print(cli, "%s: %s up to tick %" PRIu32 ", %" PRIu32 " ticks in all, root %016" PRIx64 "\n",
                  fork->copy.path, path, tick, phx_sim_tick(fork->stage.sim), phx_sim_root(fork->stage.sim));
    if (fork->refused > 0)
        phx_cli_note(cli, "%" PRIu64 " commands of bots were more than a tick may hold", fork->refused);
    return PHX_EXIT_OK;
}

/* ---- what a fork goes on from */

typedef struct Memory {
    uint8_t *bytes;
    size_t size, capacity;
} Memory;

static PhxStatus write_memory(void *user, const void *bytes, size_t size) {
    Memory *memory = user;
    if (memory->size + size > memory->capacity) {
        const size_t capacity = 2 * (memory->size + size) + 65536;
        uint8_t *larger = realloc(memory->bytes, capacity);
        if (larger == NULL) return PHX_ERROR_MEMORY;
        memory->bytes = larger;
        memory->capacity = capacity;
    }
    memcpy(memory->bytes + memory->size, bytes, size);
    memory->size += size;
    return PHX_OK;
}

/* Verifies the first `tick` ticks alone. */
static PhxStatus verify_beginning(Fork *fork, uint32_t tick, Memory *memory, PhxReplay **beginning,
                                  PhxReplayVerification *result) {
    const PhxReplaySink sink = {.write = write_memory, .user = memory};
    const PhxSimConfig config = {.game = fork->cli->game, .jobs = fork->stage.jobs};
    PhxReplayWriter *writer;
    PhxStatus status = phx_replay_writer_continue(sink, fork->replay, tick, NULL, &writer, NULL);
    if (status != PHX_OK) return status;
    status = phx_replay_writer_end(writer);
    phx_replay_writer_destroy(writer);
    if (status == PHX_OK) status = phx_replay_open(memory->bytes, memory->size, NULL, beginning, NULL);
    return status == PHX_OK ? phx_replay_verify(*beginning, &config, NULL, NULL, result) : status;
}

/* A match that goes on from ticks which this program computes otherwise would mix two histories, and no one
 * could verify it. */
static int check_beginning(Fork *fork, const char *path, uint32_t tick) {
    Memory memory = {0};
    PhxReplay *beginning = NULL;
    PhxReplayVerification result;
    char text[512];
    int code = PHX_CLI_GO;
    const PhxStatus status = verify_beginning(fork, tick, &memory, &beginning, &result);
    if (status != PHX_OK) {
        code = phx_cli_fail_status(fork->cli, path, status, NULL);
    } else if (result.verdict != PHX_REPLAY_VERIFIED) {
        const PhxReplayInfo *info = phx_replay_info(beginning);
        phx_replay_cmd_verdict(info, &result, text, sizeof text);
        json_t *verdict = phx_replay_cmd_verdict_json(info, &result);
        json_object_update(fork->cli->root, verdict);
        json_decref(verdict);
        code = result.verdict == PHX_REPLAY_DIVERGED
                   ? phx_cli_false(fork->cli, "%s: no fork at tick %" PRIu32 ": %s", path, tick, text)
                   : phx_cli_fail(fork->cli, "%s: no fork at tick %" PRIu32 ": %s", path, tick, text);
    }
    phx_replay_close(beginning);
    free(memory.bytes);
    return code;
}

static int fork_with(Fork *fork, const char *path, const char *out, uint32_t tick, uint32_t ticks,
                     int threads) {
    int code = phx_replay_cmd_stage(fork->cli, path, fork->replay, threads, &fork->stage);
    if (code != PHX_CLI_GO) return code;
    code = check_beginning(fork, path, tick);
    if (code == PHX_CLI_GO)
        code = copy_begin(fork->cli, path, out, fork->replay, tick, &(PhxReplayCopyOptions){0}, &fork->copy);
    if (code == PHX_CLI_GO) code = fork_play(fork, path, tick, ticks);
    code = copy_end(fork->cli, &fork->copy, code);
    if (code == PHX_EXIT_OK) code = fork_report(fork, path, tick);
    phx_replay_cursor_destroy(fork->cursor);
    phx_replay_cmd_stage_close(&fork->stage);
    return code;
}

int phx_replay_cmd_fork(PhxCli *cli, int argc, const char **argv) {
    int threads = 1, ticks = 0;
    char *at = NULL, *out = NULL, *bot = NULL;
    const struct poptOption options[] = {
        {"at", 0, POPT_ARG_STRING, &at, 0, "the tick from which the new match goes on", "T"},
        {"output", 'o', POPT_ARG_STRING, &out, 0, "the replay to write", "OUT"},
        {"ticks", 'n', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &ticks, 0, "ticks to play from there", "N"},
        {"bot", 0, POPT_ARG_STRING, &bot, 0, "who plays instead of the recorded players", "SLOT=NAME,..."},
        {"threads", 0, POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &threads, 0, "threads that play it", "N"},
        POPT_TABLEEND};
    PhxReplay *replay;
    uint32_t tick;
    int code = phx_cli_parse(cli, argc, argv, options, &fork_usage);
    if (code == PHX_CLI_GO) code = phx_cli_range(cli, "--ticks", ticks, 0, 100000000);
    if (code == PHX_CLI_GO && at == NULL)
        code = phx_cli_fail(cli, "--at: the tick is missing; phx replay fork --help");
    if (code == PHX_CLI_GO) code = phx_replay_cmd_load(cli, cli->arguments[0], &replay);
    if (code != PHX_CLI_GO) return code;
    Fork *fork = calloc(1, sizeof *fork);
    if (fork != NULL) {
        fork->cli = cli;
        fork->replay = replay;
        code = phx_replay_cmd_tick(cli, "--at", at, replay, &tick);
        if (code == PHX_CLI_GO) code = set_bots(fork, bot);
        if (code == PHX_CLI_GO)
            code = fork_with(fork, cli->arguments[0], out, tick, (uint32_t)ticks, threads);
        free(fork->bytes);
        free(fork);
    } else {
        code = phx_cli_fail_status(cli, "fork", PHX_ERROR_MEMORY, NULL);
    }
    phx_replay_close(replay);
    return code;
}
