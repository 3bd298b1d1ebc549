/* cmd_replay.h: what the subcommands of phx replay share. Each is a function like those of commands.def: it
 * gets the words behind `phx replay` (argv[0] is its name) and returns an exit code.
 *
 * Exit codes: 0 done; 1 the thing checked is false (a divergence, a difference); 2 wrong use, or a replay
 * that is no good; 3 a replay that this program can't play: of another revision of the simulation, or with
 * other tables. Those that don't play (info, commands, cut, most of diff) work for every revision.
 */
#ifndef PHX_CMD_REPLAY_H
#define PHX_CMD_REPLAY_H

#include "phx/cli.h"

#include <phalanx/replay.h>

enum { PHX_EXIT_NOT_HERE = 3 };

#define PHX_REPLAY_COMMANDS(X)                                                                               \
    X(info, "what a replay holds: players, ticks, roots, records, keyframes, notes")                         \
    X(verify, "compute matches again and compare every hash and keyframe")                                   \
    X(seek, "go to a tick: its root and its tables' hashes")                                                 \
    X(dump, "the whole state at a tick, as text")                                                            \
    X(commands, "list the commands, decoded")                                                                \
    X(cut, "keep the first ticks; mend a replay whose recorder was killed")                                  \
    X(diff, "where two replays part: tick, table, column, row")                                              \
    X(fork, "begin a new match from a tick of an old one")                                                   \
    X(png, "draw the picture of a replay")

#define PHX_REPLAY_COMMAND(name, words) int phx_replay_cmd_##name(PhxCli *cli, int argc, const char **argv);
PHX_REPLAY_COMMANDS(PHX_REPLAY_COMMAND)
#undef PHX_REPLAY_COMMAND

/* Loads a replay and sets root.file. PHX_CLI_GO or a failure. A cut one is a good one; that it is garbled or
 * cut is said on standard error. */
int phx_replay_cmd_load(PhxCli *cli, const char *path, PhxReplay **out);

/* A world that plays a replay, and the threads it uses. */
typedef struct PhxReplayStage {
    PhxReplayPlayback *playback;
    PhxSim *sim;
    PhxJobs jobs;
    uint32_t threads;
} PhxReplayStage;
/* PHX_CLI_GO, PHX_EXIT_WRONG, or PHX_EXIT_NOT_HERE; with nothing to close. */
int phx_replay_cmd_stage(PhxCli *cli, const char *path, const PhxReplay *replay, int threads,
                         PhxReplayStage *out);
/* Says on standard error where a replay that isn't complete ends. */
void phx_replay_cmd_say_state(PhxCli *cli, const char *path, const PhxReplayInfo *info);
void phx_replay_cmd_stage_close(PhxReplayStage *stage);
/* Goes to a tick, with progress on a terminal. PHX_CLI_GO or a failure. */
int phx_replay_cmd_goto(PhxCli *cli, const char *path, PhxReplayStage *stage, uint32_t tick);

/* The tick that an option asks for; `text` null: the last one, or a failure where `option` has to be given.
 * PHX_CLI_GO or a failure: no number, or beyond the end. */
int phx_replay_cmd_tick(PhxCli *cli, const char *option, const char *text, const PhxReplay *replay,
                        uint32_t *out);

/* One line about a verification, without the file's name: "verified: 2000 ticks, root .., 9 keyframes". */
void phx_replay_cmd_verdict(const PhxReplayInfo *info, const PhxReplayVerification *result, char *text,
                            size_t size);
json_t *phx_replay_cmd_verdict_json(const PhxReplayInfo *info, const PhxReplayVerification *result);

#endif
