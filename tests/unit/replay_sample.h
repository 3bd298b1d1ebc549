/* replay_sample.h: made-up matches for the tests of the replay: a model of what was recorded, a sink into
 * memory that notes where records and ticks end, and an allocator that counts. No simulation takes part.
 */
#ifndef PHX_TEST_REPLAY_SAMPLE_H
#define PHX_TEST_REPLAY_SAMPLE_H

#include <phalanx/replay.h>
#include <stdlib.h>

#include "harness.h"

enum { SAMPLE_TICKS = 160, SAMPLE_TABLES = 7, SAMPLE_COMMANDS = 40, SAMPLE_RECORDS = 4 * SAMPLE_TICKS + 16 };

/* Bytes in memory, and the offsets at which a write ended (a record of less than 16 KiB is one write). */
typedef struct SampleSink {
    uint8_t *bytes;
    size_t size, capacity;
    size_t borders[SAMPLE_RECORDS];
    uint32_t border_count;
    size_t tick_ends[SAMPLE_TICKS + 1]; /* [0]: where the beginning ends */
    uint32_t tick_end_count;
    size_t fail_at; /* the write that would pass this size fails; 0: none */
} SampleSink;

static inline PhxStatus sample_write(void *user, const void *bytes, size_t size) {
    SampleSink *sink = user;
    if (sink->fail_at && sink->size + size > sink->fail_at) return PHX_ERROR_IO;
    if (sink->size + size > sink->capacity) {
        sink->capacity = (sink->size + size) * 2;
        sink->bytes = realloc(sink->bytes, sink->capacity);
    }
    memcpy(sink->bytes + sink->size, bytes, size);
    sink->size += size;
    if (sink->border_count < SAMPLE_RECORDS) sink->borders[sink->border_count++] = sink->size;
    return PHX_OK;
}

static inline PhxStatus sample_tick_done(void *user, bool now) {
    SampleSink *sink = user;
    if ((!now || sink->tick_end_count == 0) && sink->tick_end_count <= SAMPLE_TICKS)
        sink->tick_ends[sink->tick_end_count++] = sink->size;
    return PHX_OK;
}

static inline PhxReplaySink sample_sink(SampleSink *sink) {
    return (PhxReplaySink){.write = sample_write, .tick_done = sample_tick_done, .user = sink};
}

/* Counts what is held and the largest single piece. */
typedef struct SampleMemory {
    size_t held, largest, pieces;
} SampleMemory;
static inline void *sample_allocate(void *user, size_t size) {
    SampleMemory *memory = user;
    memory->held += size;
    memory->pieces++;
    if (size > memory->largest) memory->largest = size;
    void *block = phx_allocator_default().allocate(NULL, size);
    if (block) memset(block, 0xa5, size); /* nothing may rely on fresh memory being clear */
    return block;
}
static inline void sample_release(void *user, void *block, size_t size) {
    SampleMemory *memory = user;
    memory->held -= size;
    phx_allocator_default().release(NULL, block, size);
}
static inline PhxAllocator sample_allocator(SampleMemory *memory) {
    return (PhxAllocator){.allocate = sample_allocate, .release = sample_release, .user = memory};
}

/* What was recorded. */
typedef struct SampleTick {
    uint32_t count;
    PhxCommand commands[SAMPLE_COMMANDS]; /* canonical order */
    uint64_t root, tables[SAMPLE_TABLES];
} SampleTick;
typedef struct SampleMatch {
    uint32_t ticks;
    uint64_t start_root, start_tables[SAMPLE_TABLES];
    uint8_t content[700];
    SampleTick tick[SAMPLE_TICKS];
    uint8_t pool[4096]; /* bytes of the commands */
} SampleMatch;

static const char *const sample_names[SAMPLE_TABLES] = {"match", "player",  "unit_type", "unit",
                                                        "order", "terrain", "x"};

static inline void sample_tick_make(SampleMatch *match, uint32_t t, uint64_t *seed) {
    SampleTick *tick = &match->tick[t];
    const uint64_t *before = t ? match->tick[t - 1].tables : match->start_tables;
    for (uint32_t i = 0; i < SAMPLE_TABLES; i++)
        tick->tables[i] = test_range(seed, 0, 2) ? before[i] : test_random(seed);
    tick->root = test_random(seed);
    const int64_t most = test_range(seed, 0, 9) == 0 ? SAMPLE_COMMANDS : 3;
    tick->count = test_range(seed, 0, 1) ? (uint32_t)test_range(seed, 0, most) : 0;
    for (uint32_t c = 0; c < tick->count; c++) {
        const uint32_t size = (uint32_t)test_range(seed, 0, test_range(seed, 0, 20) ? 40 : 300);
        const bool host = c + 1 == tick->count && test_range(seed, 0, 4) == 0;
        tick->commands[c] =
            (PhxCommand){.slot = host ? PHX_SLOT_HOST : (uint8_t)(c / 3),
                         .sequence = (uint32_t)(UINT32_MAX - 3 * SAMPLE_TICKS * 4 + t * 9 + c % 3),
                         .size = size,
                         .bytes = match->pool + test_range(seed, 0, 3000)};
    }
}

static inline SampleMatch *sample_match(uint64_t seed, uint32_t ticks) {
    SampleMatch *match = calloc(1, sizeof *match);
    match->ticks = ticks;
    match->start_root = test_random(&seed);
    for (size_t i = 0; i < SAMPLE_TABLES; i++) match->start_tables[i] = test_random(&seed);
    /* Half of it noise, half of it a pattern, so that it is packed. */
    for (size_t i = 0; i < sizeof match->content; i++)
        match->content[i] =
            i % 2 || i < 350 ? (uint8_t)(i < 350 ? test_random(&seed) : 7) : (uint8_t)(i % 16);
    for (size_t i = 0; i < sizeof match->pool; i++) match->pool[i] = (uint8_t)test_random(&seed);
    for (uint32_t t = 0; t < ticks; t++) sample_tick_make(match, t, &seed);
    return match;
}

static inline PhxReplayMatch sample_description(const SampleMatch *match) {
    return (PhxReplayMatch){
        .sim_revision = PHX_SIM_REVISION,
        .schema_hash = 11,
        .content_hash = 12,
        .settings = {.match_key = 5, .tick_rate = 20, .ticks_per_turn = 2, .input_delay = 3},
        .table_count = SAMPLE_TABLES,
        .table_names = sample_names,
        .root = match->start_root,
        .table_hashes = match->start_tables,
        .content = match->content,
        .content_size = sizeof match->content};
}

/* Commands are handed over in an order drawn from `shuffle`. */
static inline void sample_write_tick(PhxReplayWriter *writer, const SampleTick *tick, uint64_t *shuffle) {
    PhxCommand commands[SAMPLE_COMMANDS];
    memcpy(commands, tick->commands, sizeof commands);
    for (uint32_t i = tick->count; i > 1; i--) {
        const uint32_t j = (uint32_t)test_range(shuffle, 0, (int64_t)i - 1);
        const PhxCommand swap = commands[i - 1];
        commands[i - 1] = commands[j], commands[j] = swap;
    }
    CHECK_OK(phx_replay_writer_commands(writer, commands, tick->count));
    CHECK_OK(phx_replay_writer_hashes(writer, tick->root, tick->tables));
}

static inline SampleSink sample_record(const SampleMatch *match, uint64_t shuffle, bool end) {
    static const uint8_t zeros[1000];
    SampleSink sink = {0};
    PhxReplayWriter *writer;
    const PhxReplayMatch description = sample_description(match);
    CHECK_OK(phx_replay_writer_create(sample_sink(&sink), &description, NULL, &writer));
    CHECK_OK(phx_replay_writer_player(writer, 0, 1, "Ada"));
    CHECK_OK(phx_replay_writer_player(writer, 3, 2, "Zo\xc3\xab"));
    CHECK_OK(phx_replay_writer_note(writer, PHX_REPLAY_NOTE_RECORDER, PHX_REPLAY_NO_SLOT, "a test"));
    for (uint32_t t = 0; t < match->ticks; t++) {
        if (t % 50 == 49)
            CHECK_OK(phx_replay_writer_note(writer, PHX_REPLAY_NOTE_TEXT, 3, "halfway \x01 there"));
        sample_write_tick(writer, &match->tick[t], &shuffle);
        if (t % 40 == 15) /* from random bytes, and of some that pack well */
            CHECK_OK(phx_replay_writer_keyframe(writer, match->tick[t].root,
                                                t % 80 == 15 ? match->pool : zeros, 1000));
        if (t % 40 == 33) CHECK_OK(phx_replay_writer_evidence(writer, 3, t - 2, 99, match->pool + t, 1 + t));
    }
    if (end) CHECK_OK(phx_replay_writer_end(writer));
    CHECK_EQ(phx_replay_writer_bytes(writer), sink.size);
    CHECK_EQ(phx_replay_writer_ticks(writer), match->ticks);
    phx_replay_writer_destroy(writer);
    return sink;
}

/* The first `ticks` ticks of the replay are those of the model, and there are no more. */
static inline void sample_compare(const PhxReplay *replay, const SampleMatch *match, uint32_t ticks) {
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    CHECK_EQ(phx_replay_info(replay)->ticks, ticks);
    CHECK_OK(phx_replay_cursor_create(replay, &cursor));
    for (uint32_t t = 0; t < ticks; t++) {
        const SampleTick *want = &match->tick[t];
        CHECK_THAT(phx_replay_cursor_next(cursor, &tick), "tick %u", t);
        CHECK_THAT(tick.complete && tick.tick == t && tick.root == want->root, "tick %u", t);
        CHECK_THAT(memcmp(tick.table_hashes, want->tables, sizeof want->tables) == 0, "tick %u", t);
        CHECK_EQ(tick.command_count, want->count);
        for (uint32_t c = 0; c < want->count; c++) {
            const PhxCommand *a = &tick.commands[c], *b = &want->commands[c];
            CHECK_THAT(a->slot == b->slot && a->sequence == b->sequence && a->size == b->size, "tick %u, %u",
                       t, c);
            CHECK_THAT(memcmp(a->bytes, b->bytes, a->size) == 0, "tick %u, command %u", t, c);
        }
    }
    const uint32_t pending = phx_replay_info(replay)->pending_commands;
    CHECK_EQ(phx_replay_cursor_next(cursor, &tick), pending > 0);
    if (pending && ticks < SAMPLE_TICKS) {
        CHECK(!tick.complete && tick.tick == ticks && tick.command_count == pending);
        CHECK_EQ(pending, match->tick[ticks].count);
        CHECK(!phx_replay_cursor_next(cursor, &tick));
    }
    phx_replay_cursor_destroy(cursor);
}

#endif
