/* synctest.h: one match in several worlds at once, which must stay equal tick by tick.
 *
 * In: a world (the straight one), its content, and each tick's commands. Beside it run worlds that differ in
 * what must not matter: one that is loaded from the straight world's snapshot every N ticks, worlds with
 * other numbers of threads, one whose caches are thrown away, one whose fresh memory is full of a given byte.
 * After each tick roots, tables, values and events are compared, and the straight world's invariants looked
 * at. Out: the first thing that differs, down to table, column, row and both values.
 * Cost: a step and a comparison of hashes a world and tick, and a snapshot and a restore every N ticks.
 * Determinism: compared is what the simulation gives; no clock is read.
 */
#ifndef PHX_TOOLS_SOAK_SYNCTEST_H
#define PHX_TOOLS_SOAK_SYNCTEST_H

#include <phalanx/sim.h>

enum { PHX_SYNC_THREADS_LIMIT = 8, PHX_SYNC_WORLD_LIMIT = PHX_SYNC_THREADS_LIMIT + 3 };

typedef struct PhxSyncOptions {
    uint32_t every; /* ticks from one load (and drop of caches) to the next; 0: no world is loaded */
    uint32_t threads[PHX_SYNC_THREADS_LIMIT], thread_count;
    bool cold;   /* a world whose derived data are thrown away */
    bool poison; /* a world with memory full of poison_byte, and dropped caches filled with it */
    uint8_t poison_byte;
    const PhxGame *game;  /* of all worlds; may be null */
    uint32_t field_cache; /* tiles kept by the worlds beside the straight one; 0: the default */
} PhxSyncOptions;

typedef enum PhxSyncKind {
    PHX_SYNC_EQUAL,      /* nothing is wrong */
    PHX_SYNC_DIFFERENCE, /* two worlds differ in state */
    PHX_SYNC_EVENTS,     /* the states are equal, the events of the tick aren't */
    PHX_SYNC_RESTORE,    /* a world's own snapshot was refused */
    PHX_SYNC_STEP,       /* a step failed in one world alone */
    PHX_SYNC_INVARIANT,  /* the straight world breaks a rule (invariants.h) */
    PHX_SYNC_CRASH,      /* the program that stepped died, or hung (apart.h) */
    PHX_SYNC_PLANTED,    /* a test's own condition */
    PHX_SYNC_KIND_COUNT
} PhxSyncKind;
const char *phx_sync_kind_name(PhxSyncKind kind); /* "equal", "difference" ..; never null */

/* Plain values, so that it can go through a pipe. */
typedef struct PhxSyncFault {
    PhxSyncKind kind;
    uint32_t tick; /* in whose step it came up: phx_sim_tick before that step */
    char way[48];  /* the world that differs: "loaded every tick", "3 threads"; "" for the straight one */
    uint64_t root, other_root; /* after the step: straight, and that world */
    /* The first difference of a value; table is "" where there is none. */
    char table[64], column[64];
    uint32_t row, lane, differences;
    uint64_t value, other_value;
    char text[400]; /* all of it in a sentence */
} PhxSyncFault;

typedef struct PhxSync PhxSync;

/* `straight` is borrowed and must be at tick 0 of `content` with `settings`. Errors: those of phx_sim_create,
 * PHX_ERROR_ARGUMENT (too many threads), PHX_ERROR_MEMORY. On failure *out is null. */
PHX_MUST_USE PhxStatus phx_sync_create(PhxSim *straight, const void *content, size_t content_size,
                                       const PhxSettings *settings, const PhxSyncOptions *options,
                                       PhxSync **out, PhxError *error);
void phx_sync_destroy(PhxSync *sync); /* null is fine; the straight world stays */

uint32_t phx_sync_world_count(const PhxSync *sync); /* besides the straight one */
const char *phx_sync_way(const PhxSync *sync, uint32_t world);
uint64_t phx_sync_comparisons(const PhxSync *sync); /* worlds times ticks, so far */

/* One tick in all worlds. PHX_OK with fault->kind PHX_SYNC_EQUAL or the first fault; after a fault the
 * worlds are of no more use. Errors: those of phx_sim_step, where all worlds agree on them; PHX_ERROR_MEMORY.
 */
PHX_MUST_USE PhxStatus phx_sync_step(PhxSync *sync, const PhxCommand *commands, uint32_t count,
                                     PhxSyncFault *fault);

#endif
