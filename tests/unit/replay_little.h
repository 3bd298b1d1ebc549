/* replay_little.h: real matches of the little world, recorded into memory, with the root of every tick. */
#ifndef PHX_TEST_REPLAY_LITTLE_H
#define PHX_TEST_REPLAY_LITTLE_H

#include <phalanx/replay.h>
#include <stdlib.h>

#include "harness.h"
#include "little_match.h"

typedef struct LittleRecord {
    uint64_t seed;
    uint32_t ticks, done; /* planned, recorded */
    uint8_t *content;
    size_t content_size;
    uint8_t *bytes; /* the replay */
    size_t size, capacity;
    uint64_t *roots;  /* [t]: of the state at tick t; ticks + 1 of them */
    size_t *tick_end; /* [t]: bytes of the replay when t ticks were complete */
} LittleRecord;

static inline PhxStatus little_write(void *user, const void *bytes, size_t size) {
    LittleRecord *record = user;
    if (record->size + size > record->capacity) {
        record->capacity = (record->size + size) * 2;
        record->bytes = realloc(record->bytes, record->capacity);
        CHECK(record->bytes);
    }
    memcpy(record->bytes + record->size, bytes, size);
    record->size += size;
    return PHX_OK;
}

static inline PhxStatus little_tick_done(void *user, bool now) {
    LittleRecord *record = user;
    if (!now && record->tick_end) record->tick_end[++record->done] = record->size;
    return PHX_OK;
}

static inline PhxReplaySink little_sink(LittleRecord *record) {
    return (PhxReplaySink){.write = little_write, .tick_done = little_tick_done, .user = record};
}

typedef struct LittlePlan {
    uint64_t seed;
    uint32_t side, units, ticks;
    PhxReplayKeyframeOptions keyframes;
} LittlePlan;

static inline LittleRecord little_record(LittlePlan plan) {
    LittleRecord record = {.seed = plan.seed, .ticks = plan.ticks};
    const PhxSimConfig config = {0};
    PhxReplayWriter *writer;
    PhxSim *sim;
    PhxCommand commands[4];
    uint8_t *bytes = malloc((size_t)4 * PHX_COMMAND_SIZE_LIMIT);
    record.content = little_content(plan.seed, plan.side, plan.units, &record.content_size);
    record.roots = calloc(plan.ticks + 1, sizeof *record.roots);
    record.tick_end = calloc(plan.ticks + 1, sizeof *record.tick_end);
    CHECK_OK(phx_sim_create(&config, record.content, record.content_size, NULL, &sim, NULL));
    CHECK_OK(phx_replay_record_begin(little_sink(&record), sim, record.content, record.content_size, NULL,
                                     &writer, NULL));
    phx_replay_writer_keyframes(writer, &plan.keyframes);
    record.tick_end[0] = record.size;
    record.roots[0] = phx_sim_root(sim);
    for (uint32_t t = 0; t < plan.ticks; t++) {
        const uint32_t count = little_commands(sim, plan.seed, commands, bytes);
        CHECK_OK(phx_replay_record_step(writer, sim, commands, count));
        record.roots[t + 1] = phx_sim_root(sim);
    }
    CHECK_OK(phx_replay_writer_end(writer));
    CHECK_EQ(phx_replay_writer_bytes(writer), record.size);
    phx_replay_writer_destroy(writer);
    phx_sim_destroy(sim);
    free(bytes);
    return record;
}

static inline void little_record_free(LittleRecord *record) {
    free(record->content), free(record->bytes), free(record->roots), free(record->tick_end);
}

static inline PhxReplay *little_open(const uint8_t *bytes, size_t size) {
    PhxReplay *replay;
    PhxError error = {0};
    const PhxStatus status = phx_replay_open(bytes, size, NULL, &replay, &error);
    CHECK_THAT(status == PHX_OK, "%s", error.text);
    return replay;
}

static inline PhxReplayPlayback *little_playback(const PhxReplay *replay) {
    PhxReplayPlayback *playback;
    PhxError error = {0};
    const PhxStatus status = phx_replay_playback_create(replay, NULL, &playback, &error);
    CHECK_THAT(status == PHX_OK, "%s", error.text);
    return playback;
}

static inline PhxReplayVerification little_verify(const PhxReplay *replay) {
    PhxReplayVerification result;
    CHECK_OK(phx_replay_verify(replay, NULL, NULL, NULL, &result));
    return result;
}

#endif
