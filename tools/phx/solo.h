/* solo.h: a match in one process: content from a scenario or a blob, every player's orders and bot, one
 * world. What phx run and phx bench share.
 *
 * Commands are encoded when they are given and executed in decoded form, as in a network match. Orders and
 * bots that give more than a tick may hold wait, in order, for the next tick.
 */
#ifndef PHX_SOLO_H
#define PHX_SOLO_H

#include "bots/bots.h"
#include "content/scenario.h"
#include "phx/cli.h"

/* Content and what belongs to it. */
typedef struct PhxSoloContent {
    char title[PHX_SCENARIO_NAME]; /* the scenario's name, or the blob's file name */
    PhxScenarioFile file;          /* scenario is null where the file was a blob */
    void *loaded;                  /* the blob's bytes where it came from a file */
    const void *blob;
    size_t blob_size;
    PhxContentInfo info;
    uint32_t ticks; /* the scenario's own length; 1000 for a blob */
} PhxSoloContent;

/* A scenario's YAML or a blob, told apart by the blob's first bytes. `changes`: as for phx_scenario_load; of
 * them a blob takes the seed and ticks. PHX_CLI_GO or a failure, with nothing to close. */
int phx_solo_content_open(PhxCli *cli, const char *path, const PhxScenarioChanges *changes,
                          PhxSoloContent *out);
/* The same from the file's bytes, of malloc, which it takes whatever it returns. */
int phx_solo_content_take(PhxCli *cli, const char *path, void *bytes, size_t size,
                          const PhxScenarioChanges *changes, PhxSoloContent *out);
/* A PhxCliLimit: a scenario's text is shorter than a blob may be. */
size_t phx_solo_content_limit(const void *head, size_t size);
void phx_solo_content_close(PhxSoloContent *content);

typedef struct PhxSoloOptions {
    uint32_t threads;     /* 1 .. */
    uint32_t field_cache; /* tiles; 0: the default */
    bool reload,
        drop;        /* before each tick: into another world by a snapshot; throw away all that is derived */
    const char *bot; /* of every player; null: the scenario's own, idle for a blob */
    PhxPhaseObserver observer; /* hears the phases, with hashes when `trace`; may be null */
    void *observer_user;
    bool trace;
} PhxSoloOptions;

/* Commands that wait for their tick. */
typedef struct PhxSoloInput {
    const PhxBot *bots[PHX_PLAYER_LIMIT];    /* null: none */
    uint32_t sequence[PHX_PLAYER_LIMIT + 1]; /* the last: of the host */
    PhxCommand *commands;                    /* bytes: offsets in `bytes` until they are given out */
    size_t *offsets;
    uint32_t count, capacity;
    uint8_t *bytes;
    size_t used, size;
    uint64_t total; /* given so far */
    bool failed;    /* memory ended */
    uint8_t slot;   /* whose commands are being collected */
} PhxSoloInput;

typedef struct PhxSolo {
    PhxCli *cli;
    const PhxSoloContent *content;
    PhxSoloOptions options;
    PhxJobs jobs;
    PhxSim *sim;
    PhxSim *other;     /* of --reload: the two take turns */
    uint8_t *snapshot; /* of --reload */
    size_t snapshot_size;
    PhxSoloInput input;
    PhxCliPhases phases;
    uint64_t step_ns, cpu_ns; /* spent in steps: of the clock; of the processor, by phx_solo_step alone */
    uint64_t agent_steps;     /* living units, summed over ticks */
    uint64_t events[PHX_EVENT_KIND_COUNT]; /* so far */
    uint8_t *has_arrived;                  /* by unit slot */
    uint32_t arrived;                      /* units that have arrived at least once */
} PhxSolo;

/* PHX_CLI_GO or a failure, with nothing to close. `content` must outlive the match. */
int phx_solo_open(PhxSolo *solo, PhxCli *cli, const PhxSoloContent *content, const PhxSoloOptions *options);
/* The commands of the next tick, in *count; they live until the next call. PHX_CLI_GO or a failure. */
int phx_solo_collect(PhxSolo *solo, const PhxCommand **commands, uint32_t *count);
/* Before the step: what --reload and --drop do. PHX_CLI_GO or a failure. */
int phx_solo_disturb(PhxSolo *solo);
/* Counts events after a step that took `ns`. */
void phx_solo_count(PhxSolo *solo, uint64_t ns);
/* The three above and phx_sim_step. */
int phx_solo_step(PhxSolo *solo);
void phx_solo_close(PhxSolo *solo);

#endif
