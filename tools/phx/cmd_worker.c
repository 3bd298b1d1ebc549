/* cmd_worker.c: phx worker: this build as a side of a bisection, with the game's tables and phases. */
#include "bisect/worker.h"
#include "phx/cli.h"

#include <stdio.h>

static const PhxCliUsage usage = {
    .synopsis = "",
    .about = "Plays a replay and answers questions about it on standard input and output, a line each\n"
             "(tools/bisect/PROTOCOL.md). phx bisect starts two of them; phx-worker is the same as a small\n"
             "program of its own, for foreign builds.",
    .examples = "  phx bisect match.phxr --left 'phx worker' --right 'qemu-aarch64 ./phx-worker'\n",
    .least = 0,
    .most = 0};

int phx_cmd_worker(PhxCli *cli, int argc, const char **argv) {
    int threads = 1, cold = 0, reload = 0;
    const struct poptOption options[] = {
        {"threads", 'j', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &threads, 0, "threads of the simulation",
         "N"},
        {"cold", 0, POPT_ARG_NONE, &cold, 0, "throw away all that is derived before each tick", NULL},
        {"reload", 0, POPT_ARG_NONE, &reload, 0, "save and load the state before each tick", NULL},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, options, &usage);
    if (code == PHX_CLI_GO) code = phx_cli_range(cli, "--threads", threads, 1, PHX_CLI_THREAD_LIMIT);
    if (code != PHX_CLI_GO) return code;
    const PhxSubjectOptions subject = {
        .game = cli->game, .threads = (uint32_t)threads, .cold = cold != 0, .reload = reload != 0};
    return phx_worker_serve(&subject, stdin, stdout) == 0 ? PHX_EXIT_OK : PHX_EXIT_WRONG;
}
