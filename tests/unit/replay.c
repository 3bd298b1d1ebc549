/* replay.c: writer and reader against a model of what was recorded: round trip, cuts, contradictions, files.
 */
#if defined(__unix__)
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "base/bytes.h"
#include "replay/record.h"
#include "replay_sample.h"

PHX_TEST(replay, what_was_recorded_is_read_back) {
    SampleMatch *match = sample_match(1, SAMPLE_TICKS);
    SampleSink sink = sample_record(match, 2, true), other = sample_record(match, 3, true);
    CHECK_EQ(sink.size, other.size); /* the order in which commands come in leaves no trace */
    CHECK(memcmp(sink.bytes, other.bytes, sink.size) == 0);
    PhxReplay *replay;
    CHECK_OK(phx_replay_open(sink.bytes, sink.size, NULL, &replay, NULL));
    sample_compare(replay, match, SAMPLE_TICKS);
    const PhxReplayInfo *info = phx_replay_info(replay);
    CHECK_STR(phx_replay_state_name(info->state), "complete");
    CHECK(info->fault.status == PHX_OK && info->lost_bytes == 0 && info->kept_bytes == sink.size &&
          info->has_content);
    CHECK(info->sim_revision == PHX_SIM_REVISION && info->schema_hash == 11 && info->content_hash == 12);
    CHECK(info->settings.match_key == 5 && info->settings.tick_rate == 20 && info->settings.input_delay == 3);
    CHECK_EQ(info->milliseconds, SAMPLE_TICKS * 50);
    CHECK(info->start_root == match->start_root && info->final_root == match->tick[SAMPLE_TICKS - 1].root);
    CHECK(memcmp(phx_replay_start_hashes(replay), match->start_tables, sizeof match->start_tables) == 0);
    CHECK_EQ(info->table_count, SAMPLE_TABLES);
    for (uint32_t t = 0; t < SAMPLE_TABLES; t++) CHECK_STR(info->table_names[t], sample_names[t]);
    size_t size;
    CHECK(memcmp(phx_replay_content(replay, &size), match->content, sizeof match->content) == 0);
    CHECK_EQ(size, sizeof match->content);
    uint64_t commands = 0, host = 0, bytes = 0, busiest = 0, slot0 = 0;
    for (uint32_t t = 0; t < SAMPLE_TICKS; t++) {
        commands += match->tick[t].count;
        if (match->tick[t].count > busiest) busiest = match->tick[t].count;
        for (uint32_t c = 0; c < match->tick[t].count; c++) {
            host += match->tick[t].commands[c].slot == PHX_SLOT_HOST;
            slot0 += match->tick[t].commands[c].slot == 0;
            bytes += match->tick[t].commands[c].size;
        }
    }
    CHECK(info->commands == commands && info->command_bytes == bytes && info->busiest_commands == busiest);
    CHECK(info->host_commands == host && info->players[0].commands == slot0 && info->other_commands == 0);
    CHECK(info->player_count == 4 && info->players[0].listed && !info->players[1].listed);
    CHECK_STR(info->players[3].name, "Zo\xc3\xab");
    uint64_t by_kind = PHX_REPLAY_PREAMBLE, position = 0;
    for (uint32_t k = 0; k < PHX_REPLAY_KIND_LIMIT; k++) by_kind += info->kinds[k].bytes;
    CHECK_EQ(by_kind, sink.size);
    CHECK_EQ(info->notes, 1 + SAMPLE_TICKS / 50);
    PhxReplayNote note;
    CHECK(phx_replay_note_next(replay, &position, &note) && note.kind == PHX_REPLAY_NOTE_RECORDER);
    for (uint32_t n = 1; n < info->notes; n++) {
        CHECK(phx_replay_note_next(replay, &position, &note));
        CHECK(note.tick == n * 50 - 1 && note.slot == 3);
        CHECK_STR(note.text, "halfway ? there");
    }
    CHECK(!phx_replay_note_next(replay, &position, &note));
    phx_replay_close(replay);
    free(sink.bytes), free(other.bytes), free(match);
}

/* Opens the first `cut` bytes, and asks for exactly what lies before the last border. */
static void check_cut(const SampleSink *sink, const SampleMatch *match, size_t cut) {
    uint32_t ticks = 0;
    size_t border = cut < PHX_REPLAY_PREAMBLE ? 0 : PHX_REPLAY_PREAMBLE;
    for (uint32_t t = 1; t < sink->tick_end_count; t++)
        if (sink->tick_ends[t] <= cut) ticks = t;
    for (uint32_t b = 0; b < sink->border_count; b++)
        if (sink->borders[b] <= cut) border = sink->borders[b];
    uint8_t *bytes = malloc(cut + 1); /* a block of just that size, for AddressSanitizer to watch */
    memcpy(bytes, sink->bytes, cut);
    PhxReplay *replay;
    CHECK_OK(phx_replay_open(cut ? bytes : NULL, cut, NULL, &replay, NULL));
    const PhxReplayInfo *info = phx_replay_info(replay);
    CHECK_THAT(info->state == (cut == sink->size ? PHX_REPLAY_COMPLETE : PHX_REPLAY_CUT), "cut %zu", cut);
    CHECK_THAT(info->kept_bytes == border && info->lost_bytes == cut - border, "cut %zu, border %zu", cut,
               border);
    CHECK_THAT((info->fault.status == PHX_OK) == (cut == sink->size), "cut %zu", cut);
    CHECK_THAT(info->ticks == ticks, "cut %zu: %u ticks, not %u", cut, info->ticks, ticks);
    sample_compare(replay, match, ticks);
    phx_replay_close(replay);
    free(bytes);
}

PHX_TEST(replay, cut_anywhere_keeps_the_whole_prefix) {
    SampleMatch *match = sample_match(4, SAMPLE_TICKS);
    SampleSink sink = sample_record(match, 5, true);
    uint64_t seed = 6;
    for (size_t cut = 0; cut <= 1024; cut++) check_cut(&sink, match, cut);
    for (uint32_t b = 0; b < sink.border_count; b++)
        for (int d = -1; d <= 1; d++)
            if (sink.borders[b] + (size_t)d <= sink.size)
                check_cut(&sink, match, sink.borders[b] + (size_t)d);
    for (int i = 0; i < 1000; i++) check_cut(&sink, match, (size_t)test_range(&seed, 0, (int64_t)sink.size));
    free(sink.bytes), free(match);
}

/* ---- records with right checksums and wrong contents ---- */

typedef struct Forge {
    uint8_t bytes[8192];
    PhxWriter writer;
} Forge;

/* Signature, header and content of a sample match, copied from a real recording. */
static void forge_begin(Forge *forge) {
    SampleMatch *match = sample_match(7, 0);
    SampleSink sink = {0};
    PhxReplayWriter *writer;
    const PhxReplayMatch description = sample_description(match);
    CHECK_OK(phx_replay_writer_create(sample_sink(&sink), &description, NULL, &writer));
    phx_replay_writer_destroy(writer);
    forge->writer = phx_writer_make(forge->bytes, sizeof forge->bytes);
    phx_write_bytes(&forge->writer, sink.bytes, sink.size);
    free(sink.bytes), free(match);
}

static void forge_record(Forge *forge, uint8_t type, const void *payload, size_t size) {
    phx_replay_record_write(&forge->writer, type, payload, (uint32_t)size);
}

static void forge_hashes(Forge *forge, uint32_t tick, uint64_t mask, uint32_t hashes) {
    uint8_t payload[1024];
    PhxWriter writer = phx_writer_make(payload, sizeof payload);
    phx_replay_put_hashes(&writer, &(PhxReplayHashesFields){.tick = tick, .root = 1000 + tick});
    phx_write_varint(&writer, mask);
    for (uint32_t i = 0; i < hashes; i++) phx_write_u64(&writer, i);
    forge_record(forge, PHX_REPLAY_TYPE_HASHES, payload, writer.at);
}

/* `count` as said; the commands that are there: two, of (slot, sequence) a and b. */
static void forge_commands(Forge *forge, uint32_t tick, uint16_t count, uint8_t slot_a, uint8_t slot_b,
                           uint64_t size_b) {
    uint8_t payload[64];
    PhxWriter writer = phx_writer_make(payload, sizeof payload);
    phx_replay_put_commands(&writer, &(PhxReplayCommandsFields){.tick = tick, .count = count});
    phx_write_u8(&writer, slot_a), phx_write_varint(&writer, 9), phx_write_varint(&writer, 1),
        phx_write_u8(&writer, 2);
    phx_write_u8(&writer, slot_b), phx_write_varint(&writer, 9), phx_write_varint(&writer, size_b);
    phx_write_u8(&writer, 2);
    forge_record(forge, PHX_REPLAY_TYPE_COMMANDS, payload, writer.at);
}

static void forge_end(Forge *forge, uint32_t ticks, uint64_t root, int64_t shift) {
    uint8_t payload[64];
    PhxWriter writer = phx_writer_make(payload, sizeof payload);
    const uint64_t offset = forge->writer.at + (uint64_t)shift;
    phx_replay_put_end(&writer, &(PhxReplayEndFields){.ticks = ticks, .root = root, .offset = offset});
    forge_record(forge, PHX_REPLAY_TYPE_END, payload, writer.at);
}

static void forge_player(Forge *forge, uint8_t slot) {
    const uint8_t payload[] = {slot, 0, 'B'};
    forge_record(forge, PHX_REPLAY_TYPE_PLAYER, payload, sizeof payload);
}

/* Records that contradict header, content and one good tick (its root 1000). */
static const struct {
    const char *what;
    enum { AS_HASHES, AS_COMMANDS, AS_END, AS_PLAYER } as;
    uint64_t a, b, c, d, e; /* what the forger of that record takes */
} contradictions[] = {
    {"a tick again", AS_HASHES, 0, 0, 0, 0, 0},
    {"a tick too far", AS_HASHES, 2, 0, 0, 0, 0},
    {"a table that isn't there", AS_HASHES, 1, 1u << SAMPLE_TABLES, 0, 0, 0},
    {"all tables there could be", AS_HASHES, 1, UINT64_MAX, 64, 0, 0},
    {"a hash too few", AS_HASHES, 1, 3, 1, 0, 0},
    {"a hash too many", AS_HASHES, 1, 3, 3, 0, 0},
    {"another tick's commands", AS_COMMANDS, 2, 2, 0, 1, 1},
    {"commands out of order", AS_COMMANDS, 1, 2, 1, 0, 1},
    {"a command twice", AS_COMMANDS, 1, 2, 1, 1, 1},
    {"more commands than counted", AS_COMMANDS, 1, 1, 0, 1, 1},
    {"fewer commands than counted", AS_COMMANDS, 1, 4096, 0, 1, 1},
    {"more commands than a tick may have", AS_COMMANDS, 1, 4097, 0, 1, 1},
    {"a size out of all bounds", AS_COMMANDS, 1, 2, 0, 1, UINT64_MAX},
    {"a size beyond the record", AS_COMMANDS, 1, 2, 0, 1, PHX_COMMAND_SIZE_LIMIT},
    {"an end with other ticks", AS_END, 2, 1000, 0, 0, 0},
    {"an end with another root", AS_END, 1, 1001, 0, 0, 0},
    {"an end in another place", AS_END, 1, 1000, 1, 0, 0},
    {"a player after a tick", AS_PLAYER, 0, 0, 0, 0, 0},
};
static const struct {
    const char *what;
    uint8_t type;
    uint8_t size;
    uint8_t payload[16];
} raw_contradictions[] = {
    {"a padded varint", PHX_REPLAY_TYPE_HASHES, 14, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0}},
    {"hashes too short", PHX_REPLAY_TYPE_HASHES, 11, {1}},
    {"no command", PHX_REPLAY_TYPE_COMMANDS, 6, {1}},
    {"a sequence of 2^32",
     PHX_REPLAY_TYPE_COMMANDS,
     13,
     {1, 0, 0, 0, 1, 0, 3, 0x80, 0x80, 0x80, 0x80, 0x10, 0}},
    {"an end too short", PHX_REPLAY_TYPE_END, 5, {1}},
    {"a note too short", PHX_REPLAY_TYPE_NOTE, 3, {1}},
    {"a note of another tick", PHX_REPLAY_TYPE_NOTE, 7, {9, 0, 0, 0, 0, 0, 'x'}},
    {"a header again", PHX_REPLAY_TYPE_HEADER, 14, {1}},
    {"content again", PHX_REPLAY_TYPE_CONTENT, 14, {0}},
    {"a record that is needed and not known", 0x40, 14, {0}},
};
enum { CONTRADICTIONS = sizeof contradictions / sizeof contradictions[0] };
enum { RAW_CONTRADICTIONS = sizeof raw_contradictions / sizeof raw_contradictions[0] };

static const char *forge_contradiction(Forge *forge, size_t i) {
    if (i >= CONTRADICTIONS) {
        i -= CONTRADICTIONS;
        forge_record(forge, raw_contradictions[i].type, raw_contradictions[i].payload,
                     raw_contradictions[i].size);
        return raw_contradictions[i].what;
    }
    const uint64_t a = contradictions[i].a, b = contradictions[i].b, c = contradictions[i].c,
                   d = contradictions[i].d;
    switch (contradictions[i].as) {
    case AS_HASHES:
        forge_hashes(forge, (uint32_t)a, b, (uint32_t)c);
        break;
    case AS_COMMANDS:
        forge_commands(forge, (uint32_t)a, (uint16_t)b, (uint8_t)c, (uint8_t)d, contradictions[i].e);
        break;
    case AS_END:
        forge_end(forge, (uint32_t)a, b, (int64_t)c);
        break;
    case AS_PLAYER:
        forge_player(forge, (uint8_t)a);
        break;
    }
    return contradictions[i].what;
}

PHX_TEST(replay, records_that_contradict_those_before_end_what_is_kept) {
    static Forge forge;
    for (size_t i = 0; i < CONTRADICTIONS + RAW_CONTRADICTIONS; i++) {
        PhxReplay *replay;
        PhxReplayCursor *cursor;
        SampleMemory memory = {0};
        const PhxAllocator allocator = sample_allocator(&memory);
        forge_begin(&forge);
        forge_hashes(&forge, 0, 1, 1);
        const size_t good = forge.writer.at;
        const char *what = forge_contradiction(&forge, i);
        CHECK_EQ(forge.writer.status, PHX_OK);
        CHECK_OK(phx_replay_open(forge.bytes, forge.writer.at, &allocator, &replay, NULL));
        const PhxReplayInfo *info = phx_replay_info(replay);
        CHECK_THAT(info->state == PHX_REPLAY_GARBLED, "%s: %s", what, phx_replay_state_name(info->state));
        CHECK_THAT(info->ticks == 1 && info->kept_bytes == good && info->fault.offset == good, "%s", what);
        CHECK_THAT(strstr(info->fault.text, "record at byte") != NULL, "%s: %s", what, info->fault.text);
        CHECK_THAT(memory.pieces <= 2 && memory.largest < 32768, "%s: %zu bytes", what, memory.largest);
        CHECK_OK(phx_replay_cursor_create(replay, &cursor));
        CHECK_THAT(memory.held < 65536, "%s: %zu bytes", what, memory.held);
        phx_replay_cursor_destroy(cursor);
        phx_replay_close(replay);
        CHECK_EQ(memory.held, 0);
    }
}

PHX_TEST(replay, later_versions_may_add_records_and_bytes_behind_the_end_are_refused) {
    static Forge forge;
    PhxReplay *replay;
    forge_begin(&forge);
    forge_player(&forge, 0);
    forge_record(&forge, 0xc0, "a keyframe, say", 15);
    forge_hashes(&forge, 0, 1, 1);
    forge_record(&forge, 0xff, NULL, 0);
    forge_end(&forge, 1, 1000, 0);
    CHECK_OK(phx_replay_open(forge.bytes, forge.writer.at, NULL, &replay, NULL));
    const PhxReplayInfo *info = phx_replay_info(replay);
    CHECK_STR(phx_replay_state_name(info->state), "complete");
    CHECK(info->ticks == 1 && info->kinds[PHX_REPLAY_KIND_UNKNOWN].count == 2);
    phx_replay_close(replay);
    const size_t whole = forge.writer.at;
    forge_record(&forge, 0xff, NULL, 0);
    for (size_t size = whole + 1; size <= forge.writer.at; size++) {
        CHECK_OK(phx_replay_open(forge.bytes, size, NULL, &replay, NULL));
        info = phx_replay_info(replay);
        CHECK(info->state != PHX_REPLAY_COMPLETE && info->ticks == 1 && info->lost_bytes == size - whole);
        phx_replay_close(replay);
    }
    forge_begin(&forge); /* a player twice, and one that can't be */
    forge_player(&forge, 15);
    const size_t good = forge.writer.at;
    for (int again = 1; again >= 0; again--) {
        forge.writer.at = good;
        forge_player(&forge, again ? 15 : 16);
        CHECK_OK(phx_replay_open(forge.bytes, forge.writer.at, NULL, &replay, NULL));
        CHECK(phx_replay_info(replay)->state == PHX_REPLAY_GARBLED &&
              phx_replay_info(replay)->fault.offset == good);
        phx_replay_close(replay);
    }
}

PHX_TEST(replay, what_is_no_replay_is_refused_by_name) {
    PhxReplay *replay;
    PhxError error = {0};
    SampleMatch *match = sample_match(8, 3);
    SampleSink sink = sample_record(match, 1, true);
    CHECK_EQ(phx_replay_open("PHXC\1\0 and so on", 16, NULL, &replay, &error), PHX_ERROR_FORMAT);
    CHECK(!replay && strstr(error.text, "no Phalanx replay"));
    sink.bytes[8] = 2;
    CHECK_EQ(phx_replay_open(sink.bytes, sink.size, NULL, &replay, &error), PHX_ERROR_VERSION);
    CHECK(!replay && strstr(error.text, "version 2"));
    free(sink.bytes), free(match);
}

/* ---- the writer ---- */

PHX_TEST(replay, writer_holds_what_it_took_first_and_stops_at_the_first_failed_write) {
    SampleMatch *match = sample_match(9, SAMPLE_TICKS);
    SampleSink whole = sample_record(match, 1, true);
    const PhxReplayMatch description = sample_description(match);
    uint64_t seed = 3;
    for (int round = 0; round < 60; round++) {
        SampleSink sink = {.fail_at = (size_t)test_range(&seed, 1, (int64_t)whole.size - 1)};
        SampleMemory memory = {0};
        const PhxAllocator allocator = sample_allocator(&memory);
        PhxReplayWriter *writer = NULL;
        PhxStatus status = phx_replay_writer_create(sample_sink(&sink), &description, &allocator, &writer);
        const size_t pieces = memory.pieces; /* the writer, and what the content was packed in */
        CHECK(pieces <= 2 && memory.largest < 65536);
        CHECK_EQ(status == PHX_OK, writer != NULL);
        for (uint32_t t = 0; t < SAMPLE_TICKS && writer; t++) {
            const SampleTick *tick = &match->tick[t];
            const PhxStatus first = phx_replay_writer_commands(writer, tick->commands, tick->count);
            const PhxStatus second = phx_replay_writer_hashes(writer, tick->root, tick->tables);
            CHECK(status == PHX_OK || (first == PHX_ERROR_IO && second == PHX_ERROR_IO)); /* it sticks */
            if (second != PHX_OK) sink.fail_at = 0, status = second; /* though the sink would work again */
        }
        if (status != PHX_OK && writer) CHECK_EQ(phx_replay_writer_end(writer), PHX_ERROR_IO);
        CHECK_EQ(memory.pieces, pieces);
        phx_replay_writer_destroy(writer);
        CHECK_EQ(memory.held, 0);
        PhxReplay *replay;
        CHECK_OK(phx_replay_open(sink.bytes, sink.size, NULL, &replay, NULL));
        CHECK_STR(phx_replay_state_name(phx_replay_info(replay)->state), "cut");
        phx_replay_close(replay);
        free(sink.bytes);
    }
    free(whole.bytes), free(match);
}

PHX_TEST(replay, writer_refuses_what_it_cannot_record) {
    SampleMatch *match = sample_match(10, 2);
    SampleSink sink = {0};
    PhxReplayWriter *writer;
    PhxReplayMatch description = sample_description(match);
    const char *const bad_names[SAMPLE_TABLES] = {"match", "", "c", "d", "e", "f", "g"};
    description.table_names = bad_names;
    CHECK_EQ(phx_replay_writer_create(sample_sink(&sink), &description, NULL, &writer), PHX_ERROR_ARGUMENT);
    CHECK(!writer && sink.size == 0);
    description = sample_description(match);
    CHECK_OK(phx_replay_writer_create(sample_sink(&sink), &description, NULL, &writer));
    const size_t size = sink.size;
    const uint8_t byte = 1;
    const PhxCommand twins[] = {{.slot = 1, .sequence = 5, .size = 1, .bytes = &byte},
                                {.slot = 0, .sequence = 5, .size = 1, .bytes = &byte},
                                {.slot = 1, .sequence = 5, .size = 0}};
    const PhxCommand huge = {.slot = 1, .size = PHX_COMMAND_SIZE_LIMIT + 1, .bytes = match->pool};
    CHECK_EQ(phx_replay_writer_commands(writer, twins, 3), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_replay_writer_commands(writer, &huge, 1), PHX_ERROR_LIMIT);
    CHECK_EQ(phx_replay_writer_commands(writer, twins, PHX_TICK_COMMAND_LIMIT + 1), PHX_ERROR_LIMIT);
    CHECK_EQ(phx_replay_writer_player(writer, 16, 0, "x"), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_replay_writer_player(writer, 0, 0, "seventeen letters"), PHX_ERROR_ARGUMENT);
    CHECK_EQ(sink.size, size);
    CHECK_OK(phx_replay_writer_player(writer, 0, 0, ""));
    CHECK_EQ(phx_replay_writer_player(writer, 0, 0, "x"), PHX_ERROR_STATE);
    CHECK_OK(phx_replay_writer_commands(writer, twins, 2));
    CHECK_EQ(phx_replay_writer_commands(writer, twins, 2), PHX_ERROR_STATE);
    CHECK_EQ(phx_replay_writer_end(writer), PHX_ERROR_STATE);
    CHECK_OK(phx_replay_writer_hashes(writer, 1, match->tick[0].tables));
    CHECK_EQ(phx_replay_writer_player(writer, 1, 0, "x"), PHX_ERROR_STATE);
    CHECK_OK(phx_replay_writer_end(writer));
    CHECK_EQ(phx_replay_writer_hashes(writer, 1, match->tick[0].tables), PHX_ERROR_STATE);
    CHECK_EQ(phx_replay_writer_end(writer), PHX_ERROR_STATE);
    phx_replay_writer_destroy(writer);
    free(sink.bytes), free(match);
}

/* The largest tick that the limits allow: 4,096 commands, some of the largest size. */
PHX_TEST(replay, the_busiest_tick_is_kept) {
    SampleMatch *match = sample_match(11, 1);
    SampleSink sink = {0};
    PhxReplayWriter *writer;
    PhxReplay *replay;
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    static PhxCommand commands[PHX_TICK_COMMAND_LIMIT];
    static uint8_t large[PHX_COMMAND_SIZE_LIMIT];
    for (size_t i = 0; i < sizeof large; i++) large[i] = (uint8_t)(i * 31);
    for (uint32_t i = 0; i < PHX_TICK_COMMAND_LIMIT; i++)
        commands[i] = (PhxCommand){.slot = (uint8_t)(15 - i / 256),
                                   .sequence = UINT32_MAX - i % 256,
                                   .size = i % 64 ? i % 3 : PHX_COMMAND_SIZE_LIMIT,
                                   .bytes = large};
    const PhxReplayMatch description = sample_description(match);
    CHECK_OK(phx_replay_writer_create(sample_sink(&sink), &description, NULL, &writer));
    CHECK_OK(phx_replay_writer_commands(writer, commands, PHX_TICK_COMMAND_LIMIT));
    CHECK_OK(phx_replay_writer_hashes(writer, 1, match->tick[0].tables));
    CHECK_OK(phx_replay_writer_end(writer));
    phx_replay_writer_destroy(writer);
    CHECK_OK(phx_replay_open(sink.bytes, sink.size, NULL, &replay, NULL));
    CHECK_STR(phx_replay_state_name(phx_replay_info(replay)->state), "complete");
    CHECK_OK(phx_replay_cursor_create(replay, &cursor));
    CHECK(phx_replay_cursor_next(cursor, &tick) && tick.command_count == PHX_TICK_COMMAND_LIMIT);
    for (uint32_t i = 0; i < PHX_TICK_COMMAND_LIMIT; i++) {
        const PhxCommand *got = &tick.commands[i], *want = &commands[PHX_TICK_COMMAND_LIMIT - 1 - i];
        CHECK_THAT(got->slot == want->slot && got->sequence == want->sequence && got->size == want->size,
                   "%u", i);
        CHECK(memcmp(got->bytes, large, got->size) == 0);
    }
    phx_replay_cursor_destroy(cursor);
    phx_replay_close(replay);
    free(sink.bytes), free(match);
}

/* ---- files ---- */

static const char *scratch_path(const char *name) {
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", test_scratch("replay"), name);
    return path;
}

PHX_TEST(replay, file_holds_every_tick_as_soon_as_it_is_flushed) {
    SampleMatch *match = sample_match(12, 30);
    const PhxReplayMatch description = sample_description(match);
    const char *path = scratch_path("flushed.phxr");
    for (uint32_t every = 1; every <= 7; every += 3) {
        const PhxReplayFileOptions options = {.flush_ticks = every, .sync = every == 4};
        PhxReplayFile *file;
        PhxReplayWriter *writer;
        PhxReplay *replay;
        uint64_t shuffle = 1;
        CHECK_OK(phx_replay_file_create(path, &options, &file, NULL));
        CHECK_OK(phx_replay_writer_create(phx_replay_file_sink(file), &description, NULL, &writer));
        for (uint32_t t = 0; t <= match->ticks; t++) {
            CHECK_OK(phx_replay_load(path, 0, &replay, NULL));
            CHECK_THAT(phx_replay_info(replay)->ticks >= t / every * every, "tick %u, flushed every %u", t,
                       every);
            phx_replay_close(replay);
            if (t < match->ticks) sample_write_tick(writer, &match->tick[t], &shuffle);
        }
        CHECK_OK(phx_replay_writer_end(writer));
        phx_replay_writer_destroy(writer);
        CHECK_OK(phx_replay_file_close(file));
        CHECK_OK(phx_replay_load(path, 0, &replay, NULL));
        CHECK_STR(phx_replay_state_name(phx_replay_info(replay)->state), "complete");
        sample_compare(replay, match, match->ticks);
        phx_replay_close(replay);
    }
    PhxReplay *replay;
    PhxError error = {0};
    CHECK_EQ(phx_replay_load(path, 100, &replay, &error), PHX_ERROR_LIMIT);
    CHECK(!replay && strstr(error.text, "flushed.phxr"));
    CHECK_EQ(phx_replay_load(scratch_path("nowhere.phxr"), 0, &replay, &error), PHX_ERROR_IO);
    CHECK(!replay && strstr(error.text, "nowhere.phxr"));
    CHECK_EQ(phx_replay_load(test_source("LICENSE"), 0, &replay, &error), PHX_ERROR_FORMAT);
    CHECK(!replay && strstr(error.text, "LICENSE"));
    PhxReplayFile *file;
    CHECK_EQ(phx_replay_file_create(scratch_path("no/such/folder.phxr"), NULL, &file, &error), PHX_ERROR_IO);
    CHECK(!file && strstr(error.text, "folder.phxr"));
    free(match);
}

#if defined(__unix__)
/* A sink that passes on to a file's until a given number of bytes, and dies in the middle of a write. */
typedef struct Killer {
    PhxReplaySink file;
    size_t left;
} Killer;
static PhxStatus killer_write(void *user, const void *bytes, size_t size) {
    Killer *killer = user;
    if (size >= killer->left) {
        (void)killer->file.write(killer->file.user, bytes, killer->left);
        (void)killer->file.tick_done(killer->file.user,
                                     true); /* the half-written record does reach the file */
        raise(SIGKILL);
    }
    killer->left -= size;
    return killer->file.write(killer->file.user, bytes, size);
}
static PhxStatus killer_tick_done(void *user, bool now) {
    Killer *killer = user;
    return killer->file.tick_done(killer->file.user, now);
}

static void record_until_killed(const SampleMatch *match, const char *path, size_t moment) {
    PhxReplayFile *file;
    PhxReplayWriter *writer;
    uint64_t shuffle = 1;
    const PhxReplayMatch description = sample_description(match);
    if (phx_replay_file_create(path, NULL, &file, NULL) != PHX_OK) _exit(1);
    Killer killer = {.file = phx_replay_file_sink(file), .left = moment};
    const PhxReplaySink sink = {.write = killer_write, .tick_done = killer_tick_done, .user = &killer};
    if (phx_replay_writer_create(sink, &description, NULL, &writer) != PHX_OK) _exit(1);
    for (uint32_t t = 0; t < match->ticks; t++) sample_write_tick(writer, &match->tick[t], &shuffle);
    _exit(1);
}

PHX_TEST(replay, recorder_killed_in_the_middle_of_a_write_loses_that_record_alone) {
    SampleMatch *match = sample_match(13, SAMPLE_TICKS);
    SampleSink whole = {0};
    PhxReplayWriter *writer;
    uint64_t seed = 14, shuffle = 1;
    const PhxReplayMatch description = sample_description(match);
    CHECK_OK(phx_replay_writer_create(sample_sink(&whole), &description, NULL, &writer));
    for (uint32_t t = 0; t < match->ticks; t++) sample_write_tick(writer, &match->tick[t], &shuffle);
    phx_replay_writer_destroy(writer);
    char path[1024];
    snprintf(path, sizeof path, "%s", scratch_path("killed.phxr"));
    for (int round = 0; round < 24; round++) {
        const size_t moment = (size_t)test_range(&seed, 1, (int64_t)whole.size - 1);
        const pid_t child = fork();
        if (child == 0) record_until_killed(match, path, moment);
        int status = 0;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
              WTERMSIG(status) == SIGKILL);
        uint32_t ticks = 0;
        for (uint32_t t = 1; t < whole.tick_end_count; t++)
            if (whole.tick_ends[t] <= moment) ticks = t;
        PhxReplay *replay;
        CHECK_OK(phx_replay_load(path, 0, &replay, NULL));
        CHECK_EQ(phx_replay_info(replay)->bytes, moment);
        CHECK_STR(phx_replay_state_name(phx_replay_info(replay)->state), "cut");
        sample_compare(replay, match, ticks);
        phx_replay_close(replay);
    }
    free(whole.bytes), free(match);
}
#endif

/* ---- text and document ---- */

PHX_TEST(replay, text_from_a_file_is_made_fit_for_a_terminal) {
    static const struct {
        const char *from, *want;
    } cases[] = {{"plain", "plain"},
                 {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xae",
                  "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xae"},
                 {"\x1b[2J\n\t\x7f", "?[2J???"},
                 {"\xc2\x9b[2J", "??[2J"},          /* a control character of two bytes */
                 {"\xc0\xaf\xe0\x80\xaf", "?????"}, /* longer than it must be */
                 {"\xed\xa0\x80", "???"},           /* half of a surrogate pair */
                 {"\xf4\x90\x80\x80", "????"},      /* beyond Unicode */
                 {"\xe2\x82", "??"},                /* cut off */
                 {"\xff\xfe", "??"}};
    char text[64];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        phx_replay_text_clean(text, sizeof text, (const uint8_t *)cases[i].from, strlen(cases[i].from));
        CHECK_STR(text, cases[i].want);
    }
    phx_replay_text_clean(text, 4, (const uint8_t *)"ab\xe2\x82\xac", 5); /* no half of a character */
    CHECK_STR(text, "ab");
}

typedef struct Text {
    char bytes[16384];
    size_t length;
} Text;
static void collect(void *user, const char *bytes, size_t length) {
    Text *text = user;
    CHECK(text->length + length < sizeof text->bytes);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

PHX_TEST(replay, format_document_holds_the_table_that_the_manifest_gives) {
    static Text table;
    char *document = test_read_file(test_source("replay/FORMAT.md"), NULL);
    CHECK(document);
    phx_replay_document(collect, &table);
    if (!strstr(document, table.bytes)) {
        printf("%s", table.bytes); /* to be put into FORMAT.md */
        phx_test_fail(__FILE__, __LINE__, "replay/FORMAT.md doesn't hold the table above");
    }
    free(document);
}
