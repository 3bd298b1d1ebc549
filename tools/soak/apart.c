/* apart.c: work in a child process. See apart.h. */
#include "soak/apart.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(PhxApartWork work, void *context, void *answer, size_t size, uint32_t seconds, int to) {
    /* Processor time, not the clock's: a busy machine must not look like an endless loop. */
    const struct rlimit limit = {seconds, seconds + 1};
    (void)setrlimit(RLIMIT_CPU, &limit);
    work(context, answer);
    const char *from = answer;
    while (size > 0) {
        const ssize_t wrote = write(to, from, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) _exit(99);
        from += wrote, size -= (size_t)wrote;
    }
    _exit(0);
}

static size_t read_all(int from, char *to, size_t size) {
    size_t used = 0;
    while (used < size) {
        const ssize_t got = read(from, to + used, size - used);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        used += (size_t)got;
    }
    return used;
}

PhxStatus phx_apart(PhxApartWork work, void *context, void *answer, size_t size, uint32_t seconds,
                    char *death) {
    int ends[2], state = 0;
    death[0] = 0;
    memset(answer, 0, size);
    if (pipe(ends) != 0) return PHX_ERROR_IO;
    fflush(stdout); /* else the child would print it again */
    fflush(stderr);
    const pid_t id = fork();
    if (id < 0) {
        close(ends[0]);
        close(ends[1]);
        return PHX_ERROR_IO;
    }
    if (id == 0) {
        close(ends[0]);
        child(work, context, answer, size, seconds, ends[1]);
    }
    close(ends[1]);
    const size_t got = read_all(ends[0], answer, size);
    close(ends[0]);
    while (waitpid(id, &state, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0 && got == size) return PHX_OK;
    if (WIFSIGNALED(state) && (WTERMSIG(state) == SIGXCPU || WTERMSIG(state) == SIGKILL)) {
        snprintf(death, 64, "no end after %u seconds", (unsigned)seconds);
        return PHX_ERROR_TIMEOUT;
    }
    if (WIFSIGNALED(state))
        snprintf(death, 64, "signal %d", WTERMSIG(state));
    else
        snprintf(death, 64, "exit code %d", WEXITSTATUS(state));
    return PHX_ERROR_STATE;
}
