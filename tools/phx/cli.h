/* cli.h: what all subcommands of phx share: options, exit codes, JSON, progress, files, threads, time by
 * phase.
 *
 * A subcommand is one file cmd_<name>.c and one line in commands.def. It gets the words behind its name
 * (argv[0] is the name) and returns an exit code. A game's own program calls phx_cli_main with its PhxGame
 * and has the same commands over its own tables and phases.
 *
 * Standard output holds results alone: text, or with --json one object and nothing else. Messages and
 * progress go to standard error, progress only when that is a terminal. Clocks and floating point are used
 * here for measuring and never reach the simulation.
 */
#ifndef PHX_CLI_H
#define PHX_CLI_H

#include <jansson.h>
#include <limits.h>
#include <phalanx/sim.h>
#include <popt.h>

enum {
    PHX_EXIT_OK = 0,    /* done; the thing checked is true */
    PHX_EXIT_FALSE = 1, /* done; the thing checked is false: a divergence, a failed verification */
    PHX_EXIT_WRONG = 2, /* wrong use or bad input */
    PHX_CLI_GO = -1     /* phx_cli_parse: carry on */
};

enum {
    PHX_CLI_OWNED_LIMIT = 64,
    PHX_CLI_ARGUMENT_LIMIT = 64,
    PHX_CLI_PHASE_LIMIT = 64,
    PHX_CLI_THREAD_LIMIT = 64,
    PHX_CLI_FILE_LIMIT = 1 << 28 /* bytes of a file that a command reads, unless it says otherwise */
};

typedef struct PhxCli {
    const char *command; /* name of the subcommand */
    const PhxGame *game; /* what the program adds to the engine; null: nothing */
    int json;      /* --json: `root` is printed at the end, and nothing else on standard output; it counts
                      from the first word on, so that a wrong option before it is told in JSON too */
    int quiet;     /* --quiet: no progress and no notes */
    bool terminal; /* standard error is a terminal */
    json_t *root;  /* the object of --json; never null; fill it whether or not --json was given */
    const char *arguments[PHX_CLI_ARGUMENT_LIMIT]; /* words that are no options; null behind the last */
    uint32_t argument_count;
    void *owned[PHX_CLI_OWNED_LIMIT]; /* freed at the end: popt's copies of strings */
    uint32_t owned_count;
    uint64_t progress_at; /* monotonic ns of the last progress line; 0: none is on the screen */
} PhxCli;

typedef int (*PhxCliRun)(PhxCli *cli, int argc, const char **argv);
#define PHX_CLI_COMMAND(name, words) int phx_cmd_##name(PhxCli *cli, int argc, const char **argv);
#include "phx/commands.def"

/* The whole program: finds the subcommand, runs it, prints the JSON object. Returns the exit code. `game` may
 * be null and must outlive the call. */
int phx_cli_main(int argc, const char **argv, const PhxGame *game);

/* What --help says besides the options, which popt prints. */
typedef struct PhxCliUsage {
    const char *synopsis; /* "SCENARIO|BLOB": what follows the options */
    const char *about;    /* a few sentences */
    const char *examples; /* lines "  phx run tests/scenario/duel.yaml\n" */
    uint32_t least, most; /* arguments that are no options */
} PhxCliUsage;

/* Reads the options of a subcommand. `options` is a table that ends with POPT_TABLEEND; --json, --quiet and
 * --help are added. Strings that popt copied are freed by phx_cli_main. Returns PHX_CLI_GO, or the exit code
 * with which the subcommand has to return (--help: 0, wrong use: 2, already said). */
int phx_cli_parse(PhxCli *cli, int argc, const char **argv, const struct poptOption *options,
                  const PhxCliUsage *usage);

/* Says "phx run: ..." on standard error, sets root.error to {"message", "exit"}, and returns PHX_EXIT_WRONG.
 * Say which file, line and value it is, and the remedy. */
int phx_cli_fail(PhxCli *cli, const char *format, ...) PHX_PRINTF(2, 3);
/* The same for a failed call of the library: `what` is a file or an action; uses error->text where there is
 * one, and names `what` once if that begins with it. */
int phx_cli_fail_status(PhxCli *cli, const char *what, PhxStatus status, const PhxError *error);
/* The thing checked is false: the same words, and PHX_EXIT_FALSE. */
int phx_cli_false(PhxCli *cli, const char *format, ...) PHX_PRINTF(2, 3);
/* PHX_CLI_GO if low <= value <= high, else a failure that names the option and the range. */
int phx_cli_range(PhxCli *cli, const char *option, long long value, long long low, long long high);
/* The same for a number that may be left out: an option of POPT_ARG_LONGLONG that begins as PHX_CLI_DEFAULT,
 * a number that popt refuses. It becomes 0 where it wasn't given; a number out of range, 0 too if low is
 * above it, is a failure that says what leaving it out means: "for the scenario's own". */
#define PHX_CLI_DEFAULT LLONG_MIN
int phx_cli_optional(PhxCli *cli, const char *option, long long *value, long long low, long long high,
                     const char *otherwise);
/* A whole unsigned 64-bit number, decimal or 0x. PHX_CLI_GO, or a failure that names the option. */
int phx_cli_u64(PhxCli *cli, const char *option, const char *text, uint64_t *out);
/* A comma-separated list of numbers, each within low .. high: "1,2". PHX_CLI_GO or a failure. */
int phx_cli_list(PhxCli *cli, const char *option, const char *text, uint32_t low, uint32_t high,
                 uint32_t *out, uint32_t limit, uint32_t *count);

/* Text for a person on standard output; nothing with --json. */
void phx_cli_print(const PhxCli *cli, const char *format, ...) PHX_PRINTF(2, 3);
/* A line on standard error; nothing with --quiet. Clears a progress line first. */
void phx_cli_note(PhxCli *cli, const char *format, ...) PHX_PRINTF(2, 3);
/* "words: done of total" at most ten times a second, on a terminal only. done >= total removes the line. */
void phx_cli_progress(PhxCli *cli, uint64_t done, uint64_t total, const char *words);

/* Sets root.<key>; the hash is written as 16 hex digits. */
void phx_cli_set(PhxCli *cli, const char *key, json_t *value); /* takes the reference */
json_t *phx_cli_hash_json(uint64_t hash);

/* A whole file in malloc'ed memory with a zero behind its last byte, for the caller to free. PHX_CLI_GO, or a
 * failure: not there, not readable, larger than `limit` bytes. */
int phx_cli_load(PhxCli *cli, const char *path, size_t limit, void **bytes, size_t *size);
/* The same, with a limit that depends on the first bytes (at most 64 KiB of them are looked at): an endless
 * input is left before it fills the memory. */
typedef size_t (*PhxCliLimit)(const void *head, size_t size);
int phx_cli_load_by(PhxCli *cli, const char *path, PhxCliLimit limit_of, void **bytes, size_t *size);
/* Whether an output can be written, before any work is done for it; null is fine. Nothing is left behind, and
 * nothing that is there is changed. A picture's name has to end in .png or .svg besides. PHX_CLI_GO or a
 * failure. */
int phx_cli_writable(PhxCli *cli, const char *path);
int phx_cli_writable_picture(PhxCli *cli, const char *path);
/* A replay that couldn't be written: `fault` is the system's errno or 0. `begun`: ticks are in the file;
 * otherwise it is removed. Returns PHX_EXIT_WRONG. */
int phx_cli_fail_replay(PhxCli *cli, const char *path, PhxStatus status, int fault, bool begun,
                        const PhxError *error);
/* Writes a file beside `path` and renames it, so that there never is half a file. PHX_CLI_GO or a failure. */
int phx_cli_store(PhxCli *cli, const char *path, const void *bytes, size_t size);

/* Threads for a sim: 1 is serial. PHX_CLI_GO or a failure. End them after the sim is destroyed. */
int phx_cli_jobs_begin(PhxCli *cli, uint32_t threads, PhxJobs *out);
void phx_cli_jobs_end(PhxJobs *jobs, uint32_t threads);

/* Monotonic nanoseconds since some fixed moment. */
uint64_t phx_cli_now(void);
/* Nanoseconds of processor time that all threads of this process have used: what a busy machine doesn't
 * change much. */
uint64_t phx_cli_cpu(void);

/* Time by phase. The timer lives in the caller's memory as long as the sim is stepped; `next` (may be null)
 * hears the same calls, with hashes when `trace`. */
typedef struct PhxCliPhases {
    uint64_t ns[PHX_CLI_PHASE_LIMIT];
    const char *names[PHX_CLI_PHASE_LIMIT];
    uint32_t count;
    uint64_t begun;
    PhxPhaseObserver next;
    void *next_user;
} PhxCliPhases;
void phx_cli_phases_begin(PhxCliPhases *phases, PhxSim *sim, PhxPhaseObserver next, void *next_user,
                          bool trace);
/* Another sim's phases count too (of a match that goes from one world into another). */
void phx_cli_phases_follow(PhxCliPhases *phases, PhxSim *sim, bool trace);
/* An object {phase: ms a tick, ..., "total": ...}; ticks 0: all zero. */
json_t *phx_cli_phases_json(const PhxCliPhases *phases, uint64_t ticks);
/* The same as a table for a person, on standard output. */
void phx_cli_phases_print(const PhxCli *cli, const PhxCliPhases *phases, uint64_t ticks);

#endif
