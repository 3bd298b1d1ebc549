/* side.h: one of the two sides of a bisection: a worker in a process of its own, asked line by line.
 *
 * A worker may die or hang, for what it computes may be just what is wrong. Then the side is dead and says
 * why; phx_side_start brings up another one. POSIX: fork, pipes, poll. Only processes started here are ever
 * ended, by their own process group.
 */
#ifndef PHX_BISECT_SIDE_H
#define PHX_BISECT_SIDE_H

#include <phalanx/status.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "bisect/worker.h"

/* Which worker. With `command`, a program in the words of a shell; else a fork of this process that calls
 * `prepare` (may be null), and then phx_worker_serve. */
typedef struct PhxSideSpec {
    const char *name; /* "left", "threads 8": how it is spoken of */
    const char *command;
    PhxSubjectOptions options;
    void (*prepare)(void *user);
    void *user;
    uint32_t timeout_ms; /* for one line of an answer; 0: ten minutes */
} PhxSideSpec;

typedef struct PhxSide {
    PhxSideSpec spec;
    pid_t process; /* 0: none */
    int to, from;
    bool dead; /* ended, hung or spoke nonsense: `why` says it */
    char why[256];
    uint32_t lines;    /* of the present answer */
    size_t begin, end; /* of what is read and not yet taken */
    char buffer[PHX_WORKER_LINE * 2];
} PhxSide;

/* Starts the worker. False: dead, with `why`. */
bool phx_side_start(PhxSide *side);
/* Sends one request; its line feed is added. False: dead. */
bool phx_side_ask(PhxSide *side, const char *format, ...) PHX_PRINTF(2, 3);
/* The next line of the answer, without its line feed, or null: dead. It lives until the next call. */
char *phx_side_line(PhxSide *side);
/* Reads the answer's lines up to its last one. True for "ok": *rest (may be null) is what stands behind it.
 * False: dead, or refused; `why` has the worker's words then. */
bool phx_side_finish(PhxSide *side, char **rest);
/* The same for the answer to `hello`, which is a single line: a program that says anything else is no worker,
 * and is dead at once. */
bool phx_side_greeting(PhxSide *side, char **rest);
/* Ends the worker. Fine for one that was never started. */
void phx_side_end(PhxSide *side);

#endif
