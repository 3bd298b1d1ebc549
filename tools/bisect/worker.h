/* worker.h: a build that answers questions about a replay, a line at a time (PROTOCOL.md).
 *
 * In: requests. Out: answers. It is what `phx worker` and phx-worker run, and what `phx bisect` starts two
 * of. It holds one match at a time. Bad requests get a word back and change nothing.
 */
#ifndef PHX_BISECT_WORKER_H
#define PHX_BISECT_WORKER_H

#include <stdio.h>

#include "bisect/subject.h"

enum {
    PHX_WORKER_VERSION = 1,    /* of the protocol */
    PHX_WORKER_REQUEST = 4096, /* bytes of a request with its line feed */
    PHX_WORKER_LINE = 8192,    /* bytes of a line of an answer with its line feed */
    PHX_WORKER_ROOTS = 64      /* roots in one line of an answer to `play` */
};

/* Answers until `quit` or the end of `in`. 0, or 2 where reading or writing failed. */
int phx_worker_serve(const PhxSubjectOptions *options, FILE *in, FILE *out);

/* The program phx-worker: options, then phx_worker_serve. 0 or 2. */
int phx_worker_main(int argc, char **argv);

#endif
