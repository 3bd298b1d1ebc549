/* run_phx.h: the command line as a person or a script meets it: `phx WORDS` in a process of its own, with its
 * outputs in files. For tests of the tools; links phx_cli.
 */
#ifndef PHX_RUN_PHX_H
#define PHX_RUN_PHX_H

#include <phalanx/sim.h>

typedef struct RunPhx {
    int code;        /* exit code, or 1000 + the signal that ended it */
    char *out, *err; /* what it wrote, zero-terminated, of malloc */
} RunPhx;

/* Where and how it runs. Zeroed: in this folder, with the engine alone. */
typedef struct RunPhxOptions {
    const char *outputs;    /* folder for the files that catch the outputs; null: a scratch folder */
    const char *folder;     /* to run in; null: this one */
    const PhxGame *game;    /* whose program it is; null: phx itself */
    void (*in_child)(void); /* called there before anything else; null: nothing */
} RunPhxOptions;

/* `words` are separated by single spaces, at most 30 of them, 4,000 bytes in all. */
RunPhx run_phx(const RunPhxOptions *options, const char *words);
void run_phx_release(RunPhx *run);

#endif
