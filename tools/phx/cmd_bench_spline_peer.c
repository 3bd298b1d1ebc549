/* cmd_bench_spline_peer.c: what another program measured of splines, in the same session.
 *
 * In: a program, which is run once with the number of evaluations as its argument and prints a line a figure,
 * "name   12.3 ns ...". Out: the nanoseconds of the lines that are asked for. The program isn't part of the
 * project: tinyspline's calls and a plain de Boor in doubles, say.
 */
#include "phx/cmd_bench_spline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE = 512, NOT_FOUND = 127 };

/* The line "name   12.3 ns": true where it begins with `name`, behind spaces. */
static bool read_figure(const char *line, const char *name, double *ns) {
    line += strspn(line, " ");
    if (strncmp(line, name, strlen(name)) != 0) return false;
    const char *unit = strstr(line, " ns");
    if (unit == NULL) return false;
    const char *from = unit;
    while (from > line && from[-1] != ' ') from--;
    char *end;
    *ns = strtod(from, &end);
    return end == unit && *ns > 0;
}

static pid_t begin(const char *program, const char *evaluations, FILE **output) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    fflush(stdout); /* else the child would print it again */
    const pid_t id = fork();
    if (id == 0) {
        if (dup2(ends[1], STDOUT_FILENO) >= 0) {
            close(ends[0]), close(ends[1]);
            execlp(program, program, evaluations, (char *)NULL);
        }
        _exit(NOT_FOUND);
    }
    close(ends[1]);
    *output = id > 0 ? fdopen(ends[0], "r") : NULL;
    if (*output == NULL) close(ends[0]);
    return id;
}

int phx_bench_spline_peer(PhxBench *bench, PhxSplinePeer *figures, uint32_t count) {
    char line[LINE];
    int state = 0;
    FILE *output = NULL;
    const pid_t id = begin(bench->peer, bench->brief ? "2000" : "200000", &output);
    while (output && fgets(line, sizeof line, output))
        for (uint32_t i = 0; i < count; i++)
            if (figures[i].ns == 0 && read_figure(line, figures[i].line, &figures[i].ns)) break;
    if (output) fclose(output);
    while (id > 0 && waitpid(id, &state, 0) < 0 && errno == EINTR) continue;
    if (id < 0 || !WIFEXITED(state) || WEXITSTATUS(state) != 0)
        return phx_cli_fail(bench->cli,
                            "--peer %s: it couldn't be run, or failed; a program that measures is wanted",
                            bench->peer);
    for (uint32_t i = 0; i < count; i++)
        if (figures[i].ns == 0)
            return phx_cli_fail(bench->cli, "--peer %s: it printed no line \"%s ... X ns\"", bench->peer,
                                figures[i].line);
    return PHX_CLI_GO;
}
