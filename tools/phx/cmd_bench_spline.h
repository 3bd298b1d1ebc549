/* cmd_bench_spline.h: what the files of phx bench spline share. */
#ifndef PHX_CMD_BENCH_SPLINE_H
#define PHX_CMD_BENCH_SPLINE_H

#include "phx/cmd_bench.h"

/* A figure of another program. */
typedef struct PhxSplinePeer {
    const char *name;  /* of the case */
    const char *line;  /* that its line begins with */
    const char *words; /* for a person */
    double target;     /* of ours over its: at most */
    double ns;         /* 0: not read yet */
} PhxSplinePeer;

/* Runs bench->peer and reads its figures. PHX_CLI_GO, or a failure that was said. */
int phx_bench_spline_peer(PhxBench *bench, PhxSplinePeer *figures, uint32_t count);

#endif
