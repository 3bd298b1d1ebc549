/* side.c: see side.h. */
#include "bisect/side.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    DEFAULT_TIMEOUT_MS = 600000,
    GRACE_MS = 200,
    LOWEST_FILE = 3,
    FILES = 256,
    EXIT_NO_SHELL = 127,
    LINES = 65536
};

static bool die(PhxSide *side, const char *why) {
    if (!side->dead) snprintf(side->why, sizeof side->why, "%s", why);
    side->dead = true;
    return false;
}

/* In the new process: standard input and output are the pipes, and nothing else is left open. */
static void become_worker(const PhxSide *side, int in, int out) {
    (void)setpgid(0, 0);
    (void)signal(SIGPIPE, SIG_DFL);
    if (side->spec.command) {
        if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0) _exit(EXIT_NO_SHELL);
        for (int file = LOWEST_FILE; file < FILES; file++) (void)close(file);
        (void)execl("/bin/sh", "sh", "-c", side->spec.command, (char *)NULL);
        _exit(EXIT_NO_SHELL);
    }
    for (int file = LOWEST_FILE; file < FILES; file++)
        if (file != in && file != out) (void)close(file);
    FILE *input = fdopen(in, "r"), *output = fdopen(out, "w");
    if (!input || !output) _exit(2);
    if (side->spec.prepare) side->spec.prepare(side->spec.user);
    _exit(phx_worker_serve(&side->spec.options, input, output));
}

bool phx_side_start(PhxSide *side) {
    int down[2], up[2];
    phx_side_end(side);
    side->dead = false;
    side->begin = side->end = 0;
    (void)signal(SIGPIPE, SIG_IGN); /* a dead worker is an answer, not the end of this program */
    fflush(NULL);
    if (pipe(down) != 0) return die(side, "no pipe could be made");
    if (pipe(up) != 0) {
        (void)close(down[0]), (void)close(down[1]);
        return die(side, "no pipe could be made");
    }
    side->process = fork();
    if (side->process == 0) become_worker(side, down[0], up[1]);
    (void)close(down[0]), (void)close(up[1]);
    side->to = down[1];
    side->from = up[0];
    if (side->process < 0) {
        (void)close(side->to), (void)close(side->from);
        side->process = 0;
        return die(side, "no process could be started");
    }
    (void)setpgid(side->process, side->process); /* whichever of the two comes first */
    return true;
}

bool phx_side_ask(PhxSide *side, const char *format, ...) {
    char line[PHX_WORKER_REQUEST];
    va_list list;
    if (side->dead) return false;
    side->lines = 0;
    va_start(list, format);
    const int length = vsnprintf(line, sizeof line - 1, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= sizeof line - 1) return die(side, "a request is too long");
    line[length] = '\n';
    for (size_t at = 0; at <= (size_t)length;) {
        const ssize_t wrote = write(side->to, line + at, (size_t)length + 1 - at);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return die(side, "the worker ended");
        at += (size_t)wrote;
    }
    return true;
}

/* Reads more bytes behind those that wait. */
static bool fill(PhxSide *side) {
    if (side->begin > 0) {
        memmove(side->buffer, side->buffer + side->begin, side->end - side->begin);
        side->end -= side->begin;
        side->begin = 0;
    }
    if (side->end == sizeof side->buffer) return die(side, "a line of the answer is too long");
    struct pollfd wait = {.fd = side->from, .events = POLLIN};
    const uint32_t limit = side->spec.timeout_ms ? side->spec.timeout_ms : DEFAULT_TIMEOUT_MS;
    int ready;
    do ready = poll(&wait, 1, (int)limit);
    while (ready < 0 && errno == EINTR);
    if (ready == 0) return die(side, "the worker gives no answer");
    const ssize_t got = read(side->from, side->buffer + side->end, sizeof side->buffer - side->end);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return die(side, "the worker ended");
    side->end += (size_t)got;
    return true;
}

char *phx_side_line(PhxSide *side) {
    while (!side->dead) {
        char *at = side->buffer + side->begin;
        char *feed = memchr(at, '\n', side->end - side->begin);
        if (!feed) {
            if (!fill(side)) break;
            continue;
        }
        *feed = 0;
        if (feed > at && feed[-1] == '\r') feed[-1] = 0;
        side->begin = (size_t)(feed + 1 - side->buffer);
        if (++side->lines > LINES) {
            (void)die(side, "the answer has no end");
            break;
        }
        if (memchr(at, 0, (size_t)(feed - at)) == NULL || feed[-1] == 0) return at;
        (void)die(side, "the answer has a zero in it");
    }
    return NULL;
}

/* Is it the last line of an answer? Then *good says which. */
static bool is_last(PhxSide *side, char *line, char **rest, bool *good) {
    *good = strcmp(line, "ok") == 0 || strncmp(line, "ok ", 3) == 0;
    if (*good) {
        if (rest) *rest = line + (line[2] ? 3 : 2);
        return true;
    }
    if (strncmp(line, "error ", 6) != 0) return false;
    snprintf(side->why, sizeof side->why, "%.250s", line + 6);
    return true;
}

bool phx_side_finish(PhxSide *side, char **rest) {
    bool good;
    for (;;) {
        char *line = phx_side_line(side);
        if (!line) return false;
        if (is_last(side, line, rest, &good)) return good;
    }
}

bool phx_side_greeting(PhxSide *side, char **rest) {
    char *line = phx_side_line(side), why[100];
    bool good;
    if (!line) return false;
    if (is_last(side, line, rest, &good)) return good;
    for (char *at = line; *at; at++)
        if (*at < ' ' || *at > '~') *at = '?';
    snprintf(why, sizeof why, "it answered \"%.60s\"", line);
    return die(side, why);
}

static bool wait_for(pid_t process, uint32_t milliseconds) {
    for (uint32_t t = 0;; t++) {
        const pid_t gone = waitpid(process, NULL, WNOHANG);
        if (gone == process || (gone < 0 && errno != EINTR)) return true;
        if (t >= milliseconds) return false;
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

void phx_side_end(PhxSide *side) {
    if (side->process <= 0) return;
    (void)close(side->to); /* the end of its input: a worker that is well ends by itself */
    (void)close(side->from);
    if (!wait_for(side->process, side->dead ? 0 : GRACE_MS)) {
        (void)kill(-side->process, SIGKILL);
        while (waitpid(side->process, NULL, 0) < 0 && errno == EINTR) continue;
    }
    side->process = 0;
}
