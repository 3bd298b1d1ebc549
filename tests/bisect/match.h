/* match.h: little matches recorded to files, with or without a planted fault, for the tests of bisect. */
#ifndef PHX_TEST_BISECT_MATCH_H
#define PHX_TEST_BISECT_MATCH_H

#include <phalanx/replay.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bisect/bisect.h"
#include "harness.h"
#include "little_match.h"
#include "step/fault.h"
#include "step/sim_internal.h"

enum { MATCH_SIDE = 32, MATCH_UNITS = 14, MATCH_TICKS = 100 };

/* Where the engine's phases and the columns of its table of units are, for faults in them. */
enum {
#define PHX_PHASE(name, paused, reads, writes) MATCH_PHASE_##name,
#include "../../sim/step/phases.def"
    MATCH_PHASE_COUNT
};
enum {
#define PHX_TABLE_BEGIN(kind, name, Struct, doc)
#define PHX_COLUMN(type, name, lanes, klass, low, high, unit) MATCH_UNIT_##name,
#define PHX_TABLE_END(name, Struct)
#include "../../sim/state/tables/unit.def"
};
#undef PHX_TABLE_BEGIN
#undef PHX_COLUMN
#undef PHX_TABLE_END

/* The state as evidence of a desync, as a recorder that saw one keeps it. */
static inline void match_keep(PhxReplayWriter *writer, const PhxSim *sim) {
    size_t size;
    uint8_t *state = malloc(phx_sim_snapshot_size(sim));
    CHECK_OK(phx_sim_snapshot(sim, state, phx_sim_snapshot_size(sim), &size));
    CHECK_OK(phx_replay_writer_evidence(writer, PHX_REPLAY_NO_SLOT, phx_sim_tick(sim), phx_sim_root(sim),
                                        state, size));
    free(state);
}

/* Plays the match of a seed and writes its replay. `skew`: from this tick on the commands are those of
 * another seed; `keep`: the state after this tick is kept as evidence; UINT32_MAX: never. */
static inline void match_record_with(const char *path, uint64_t seed, uint32_t ticks, uint32_t skew,
                                     uint32_t keep) {
    PhxReplayFile *file;
    PhxReplayWriter *writer;
    PhxCommand commands[4];
    PhxSim *sim;
    PhxError error = {0};
    size_t size;
    uint8_t *blob = little_content(seed, MATCH_SIDE, MATCH_UNITS, &size);
    uint8_t *bytes = malloc((size_t)4 * PHX_COMMAND_SIZE_LIMIT);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &sim, &error));
    CHECK_OK(phx_replay_file_create(path, NULL, &file, &error));
    CHECK_OK(phx_replay_record_begin(phx_replay_file_sink(file), sim, blob, size, NULL, &writer, &error));
    for (uint32_t t = 0; t < ticks; t++) {
        const uint32_t count = little_commands(sim, t >= skew ? seed + 1000 : seed, commands, bytes);
        CHECK_OK(phx_replay_record_step(writer, sim, commands, count));
        if (t == keep) match_keep(writer, sim);
    }
    CHECK_OK(phx_replay_writer_end(writer));
    phx_replay_writer_destroy(writer);
    CHECK_OK(phx_replay_file_close(file));
    phx_sim_destroy(sim);
    free(bytes), free(blob);
}

static inline void match_record(const char *path, uint64_t seed, uint32_t ticks, uint32_t skew) {
    match_record_with(path, seed, ticks, skew, UINT32_MAX);
}

/* The same with a fault, in a process of its own. False where that process died. */
static inline bool match_record_faulty(const char *path, uint64_t seed, uint32_t ticks, uint32_t keep,
                                       PhxFault *fault) {
    int status;
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        phx_fault_plan(fault);
        match_record_with(path, seed, ticks, UINT32_MAX, keep);
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The first `size` bytes of a file (0: all) into another one, with the byte at `flip` (0: none) changed. */
static inline void match_damage(const char *from, const char *to, size_t size, size_t flip) {
    size_t all;
    char *bytes = test_read_file(from, &all);
    FILE *file = fopen(to, "wb");
    CHECK(bytes && file && size <= all && flip < all);
    if (flip) bytes[flip] = (char)(bytes[flip] ^ 0x10);
    if (size == 0) size = all;
    CHECK(fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    free(bytes);
}

static inline size_t match_file_size(const char *path) {
    size_t size;
    free(test_read_file(path, &size));
    return size;
}

static inline const char *match_path(const char *name) {
    static char paths[64][600];
    static int next;
    char *path = paths[next++ % 64];
    snprintf(path, sizeof paths[0], "%s/%s", test_scratch("bisect"), name);
    return path;
}

/* In the worker's process. What it says when a fault kills it is no news. */
static inline void match_plant(void *user) {
    if (freopen("/dev/null", "w", stderr) == NULL) _exit(9);
    phx_fault_plan(user);
}

/* A plan over one replay, both sides this build; the right one with the fault, if there is one. */
static inline PhxBisectPlan match_plan(const char *path, PhxFault *fault) {
    PhxBisectPlan plan = {.replays = {path, path}};
    for (int i = 0; i < 2; i++)
        plan.sides[i] =
            (PhxSideSpec){.name = i ? "right" : "left", .options = {.threads = 1}, .timeout_ms = 20000};
    if (fault) plan.sides[1].prepare = match_plant, plan.sides[1].user = fault;
    return plan;
}

#endif
