/* cmd_replay.c: phx replay WORD: finds the subcommand, and what they all need: loading, playing, ticks. */
#include "phx/cmd_replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct Word {
    const char *name, *full, *words;
    PhxCliRun run;
} Word;

static const Word words[] = {
#define PHX_REPLAY_COMMAND(name, words) {#name, "replay " #name, words, phx_replay_cmd_##name},
    PHX_REPLAY_COMMANDS(PHX_REPLAY_COMMAND)};
enum { WORD_COUNT = sizeof words / sizeof words[0] };

static void print_usage(FILE *to) {
    fprintf(to, "usage: phx replay WORD [OPTION...] FILE...\n\n");
    for (size_t i = 0; i < WORD_COUNT; i++) fprintf(to, "  %-9s %s\n", words[i].name, words[i].words);
    fprintf(to, "\n  phx replay WORD --help    options and examples of a word\n\n"
                "Examples:\n"
                "  phx replay info clash.phxr\n"
                "  phx replay verify -j 2 replays/ && echo all are the same matches\n"
                "  phx replay seek clash.phxr --tick 1234\n\n"
                "Exit: 0 done, 1 the thing checked is false (a divergence, a difference), 2 wrong use or a "
                "replay that is\n"
                "no good, 3 a replay that this program can't play: of another simulation revision, or with "
                "other tables.\n");
}

static const Word *find_word(const char *name) {
    for (size_t i = 0; i < WORD_COUNT; i++)
        if (strcmp(words[i].name, name) == 0) return &words[i];
    return NULL;
}

int phx_cmd_replay(PhxCli *cli, int argc, const char **argv) {
    const char *sorted[PHX_CLI_ARGUMENT_LIMIT];
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        cli->json = 0;
        return PHX_EXIT_OK;
    }
    /* Options may stand before the word. */
    int at = 1;
    while (at < argc && argv[at][0] == '-' && find_word(argv[at]) == NULL) at++;
    const Word *word = at < argc ? find_word(argv[at]) : NULL;
    if (word == NULL)
        return phx_cli_fail(cli,
                            "%s: info, verify, seek, dump, commands, cut, diff, fork or png is wanted; "
                            "phx replay --help",
                            at < argc ? argv[at] : "a word is missing");
    if (argc + 1 >= PHX_CLI_ARGUMENT_LIMIT)
        return phx_cli_fail(cli, "too many arguments: name a folder instead of its files");
    int count = 0;
    sorted[count++] = word->name;
    for (int i = 1; i < argc; i++)
        if (i != at) sorted[count++] = argv[i];
    sorted[count] = NULL;
    cli->command = word->full;
    return word->run(cli, count, sorted);
}

int phx_replay_cmd_load(PhxCli *cli, const char *path, PhxReplay **out) {
    PhxError error = {0};
    const PhxStatus status = phx_replay_load(path, 0, out, &error);
    if (status != PHX_OK) return phx_cli_fail_status(cli, path, status, &error);
    phx_cli_set(cli, "file", json_string(path));
    return PHX_CLI_GO;
}

void phx_replay_cmd_say_state(PhxCli *cli, const char *path, const PhxReplayInfo *info) {
    if (info->state == PHX_REPLAY_COMPLETE) return;
    phx_cli_note(
        cli, "%s: the replay is %s at byte %" PRIu64 ": %" PRIu32 " ticks were kept, %" PRIu64 " bytes lost",
        path, phx_replay_state_name(info->state), info->fault.offset, info->ticks, info->lost_bytes);
}

int phx_replay_cmd_stage(PhxCli *cli, const char *path, const PhxReplay *replay, int threads,
                         PhxReplayStage *out) {
    PhxError error = {0};
    const PhxReplayInfo *info = phx_replay_info(replay);
    *out = (PhxReplayStage){.threads = threads > 0 ? (uint32_t)threads : 0};
    const int code = phx_cli_jobs_begin(cli, out->threads, &out->jobs);
    if (code != PHX_CLI_GO) return code;
    const PhxSimConfig config = {.game = cli->game, .jobs = out->jobs};
    const PhxStatus status = phx_replay_playback_create(replay, &config, &out->playback, &error);
    if (status != PHX_OK) {
        phx_cli_jobs_end(&out->jobs, out->threads);
        (void)phx_cli_fail_status(cli, path, status, &error);
        const bool other = info->has_content && (status == PHX_ERROR_VERSION || status == PHX_ERROR_MISMATCH);
        return other ? PHX_EXIT_NOT_HERE : PHX_EXIT_WRONG;
    }
    out->sim = phx_replay_playback_sim(out->playback);
    phx_replay_cmd_say_state(cli, path, info);
    return PHX_CLI_GO;
}

void phx_replay_cmd_stage_close(PhxReplayStage *stage) {
    phx_replay_playback_destroy(stage->playback);
    phx_cli_jobs_end(&stage->jobs, stage->threads);
}

int phx_replay_cmd_goto(PhxCli *cli, const char *path, PhxReplayStage *stage, uint32_t tick) {
    PhxError error = {0};
    const PhxStatus status = phx_replay_playback_seek(stage->playback, tick, &error);
    return status == PHX_OK ? PHX_CLI_GO : phx_cli_fail_status(cli, path, status, &error);
}

int phx_replay_cmd_tick(PhxCli *cli, const char *option, const char *text, const PhxReplay *replay,
                        uint32_t *out) {
    const uint32_t ticks = phx_replay_info(replay)->ticks;
    uint64_t tick = ticks;
    if (text != NULL) {
        const int code = phx_cli_u64(cli, option, text, &tick);
        if (code != PHX_CLI_GO) return code;
    }
    if (tick > ticks)
        return phx_cli_fail(cli, "%s: %" PRIu64 ": the replay has the ticks 0 to %" PRIu32, option, tick,
                            ticks);
    *out = (uint32_t)tick;
    return PHX_CLI_GO;
}
