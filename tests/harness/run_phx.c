/* run_phx.c: see run_phx.h. */
#include "run_phx.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "phx/cli.h"

enum { WORDS = 32, LINE = 4096, PATH = 2100 };

static int split(char *line, const char **argv) {
    int argc = 1;
    for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
        CHECK(argc < WORDS - 1);
        argv[argc++] = word;
    }
    return argc;
}

static void be_phx(const RunPhxOptions *options, int argc, const char **argv, const char *out,
                   const char *err) {
    if (options->folder && chdir(options->folder) != 0) _exit(99);
    if (!freopen(out, "w", stdout) || !freopen(err, "w", stderr)) _exit(99);
    if (options->in_child) options->in_child();
    const int code = phx_cli_main(argc, argv, options->game);
    fflush(NULL);
#ifdef PHX_CRITERION
    _exit(code); /* not the runner's own business at exit */
#else
    exit(code); /* with the sanitizers' look for leaks */
#endif
}

RunPhx run_phx(const RunPhxOptions *options, const char *words) {
    char line[LINE], out[PATH], err[PATH];
    const char *argv[WORDS] = {"phx"};
    const char *folder = options->outputs ? options->outputs : test_scratch("run-phx");
    int status;
    snprintf(out, sizeof out, "%s/out.txt", folder);
    snprintf(err, sizeof err, "%s/err.txt", folder);
    CHECK(snprintf(line, sizeof line, "%s", words) < LINE);
    const int argc = split(line, argv);
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) be_phx(options, argc, argv, out, err);
    while (waitpid(child, &status, 0) < 0) CHECK(errno == EINTR);
    const RunPhx run = {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status),
                        test_read_file(out, NULL), test_read_file(err, NULL)};
    CHECK(run.out != NULL && run.err != NULL);
    return run;
}

void run_phx_release(RunPhx *run) {
    free(run->out);
    free(run->err);
}
