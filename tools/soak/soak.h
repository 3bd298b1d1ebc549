/* soak.h: random matches that try the engine's limits, and what to do with one that fails.
 *
 * In: a seed. Out: a match (content at the edges of its ranges, and a stream of commands of which many are
 * wrong), its run beside worlds that must equal it, and, where it fails, the fewest commands that still do,
 * as a replay and as text. Cost: a match is some hundred ticks of up to two hundred units in five worlds.
 * Determinism: everything follows from the seed.
 */
#ifndef PHX_TOOLS_SOAK_SOAK_H
#define PHX_TOOLS_SOAK_SOAK_H

#include <phalanx/content.h>

#include "soak/stream.h"
#include "soak/synctest.h"

typedef struct PhxSoakMatch {
    uint64_t seed;
    void *blob;
    size_t blob_size;
    PhxContentInfo info;
    uint32_t ticks, units, players, types;
    PhxStream stream;
    PhxSyncOptions sync; /* which worlds run beside, and how often one is loaded */
    /* A test's own condition: called after each tick in which all was equal; true is a failure. May be null.
     */
    bool (*planted)(void *user, const PhxSim *sim);
    void *planted_user;
} PhxSoakMatch;

/* `game` may be null. Errors: those of the content builder, PHX_ERROR_MEMORY. On failure *out is all zero. */
PHX_MUST_USE PhxStatus phx_soak_make(uint64_t seed, const PhxGame *game, PhxSoakMatch *out, PhxError *error);
void phx_soak_free(PhxSoakMatch *match);
/* random_match.c: content and its measures; random_commands.c: the stream for them. */
PHX_MUST_USE PhxStatus phx_soak_make_content(PhxSoakMatch *match, PhxError *error);
PHX_MUST_USE PhxStatus phx_soak_make_commands(PhxSoakMatch *match);

typedef struct PhxSoakRun {
    PhxSyncFault fault;   /* kind PHX_SYNC_EQUAL: none */
    PhxStatus status;     /* else than PHX_OK: the match couldn't be run (memory); `fault` says nothing */
    uint32_t ticks;       /* that were played */
    uint64_t comparisons; /* worlds times ticks */
    uint64_t agent_steps; /* living units, summed over ticks of the straight world */
    uint64_t root;        /* of the straight world at the end */
    uint32_t executed, malformed, late, full; /* commands, as the world counted them */
    uint32_t arrived;
} PhxSoakRun;

/* The straight world at tick 0. Errors: those of phx_sim_create. */
PHX_MUST_USE PhxStatus phx_soak_world(const PhxSoakMatch *match, PhxSim **out);

/* Plays the first `ticks` ticks of the match with the given commands. */
void phx_soak_run(const PhxSoakMatch *match, const PhxStream *stream, uint32_t ticks, PhxSoakRun *out);
/* The same in a process of its own: a crash, or no end after `seconds`, is a fault of kind PHX_SYNC_CRASH. */
void phx_soak_run_apart(const PhxSoakMatch *match, const PhxStream *stream, uint32_t ticks, uint32_t seconds,
                        PhxSoakRun *out);

typedef struct PhxSoakMinimised {
    PhxStream stream;
    PhxSoakRun run; /* of that stream */
    uint32_t ticks; /* that are needed: up to the one that fails */
    uint32_t tests;
    bool minimal;
} PhxSoakMinimised;
typedef void (*PhxSoakProgress)(void *user, uint32_t tests, uint32_t commands);
/* The fewest commands with which the match fails in the same kind and way, by at most `test_limit` runs.
 * `progress` may be null. Errors: PHX_ERROR_MEMORY, PHX_ERROR_STATE (it doesn't fail a second time). */
PHX_MUST_USE PhxStatus phx_soak_minimise(const PhxSoakMatch *match, const PhxSoakRun *failed,
                                         uint32_t test_limit, uint32_t seconds, PhxSoakProgress progress,
                                         void *user, PhxSoakMinimised *out);

/* Writes PREFIX.phxr and PREFIX.txt; the text ends with the line that repeats the failure. Errors:
 * PHX_ERROR_IO, _MEMORY, with words. */
PHX_MUST_USE PhxStatus phx_soak_write(const PhxSoakMatch *match, const PhxSoakMinimised *minimised,
                                      const char *prefix, PhxError *error);
/* "phx synctest PREFIX.phxr --every 3 ...": the line that repeats the failure; null-terminated. */
void phx_soak_repeat_line(const PhxSoakMatch *match, const char *prefix, char *text, size_t size);

#endif
