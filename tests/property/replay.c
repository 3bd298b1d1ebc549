/* replay.c: random replays with random damage. Every flipped bit is found in the record in which it lies;
 * whatever else is done to the bytes, reading ends with a word and with bounded memory. PHX_LONG=1: ten times
 * as many.
 */
#include "replay/record.h"

#include "../unit/replay_sample.h"

static size_t campaign(size_t count) {
    const char *campaign_is_long = getenv("PHX_LONG");
    return campaign_is_long && strcmp(campaign_is_long, "1") == 0 ? count * 10 : count;
}

/* Every snapshot unpacks into the room that it asks for, or is refused; it never does more. */
static void read_snapshots(const PhxReplay *replay, uint64_t seed) {
    PhxReplaySnapshot snapshot;
    uint64_t position = 0;
    uint32_t evidence = 0, keyframes = 0;
    while (phx_replay_keyframe(replay, keyframes, &snapshot) ||
           phx_replay_evidence_next(replay, &position, &snapshot)) {
        *(keyframes < phx_replay_info(replay)->keyframes ? &keyframes : &evidence) += 1;
        const size_t room = snapshot.size < 5000 ? snapshot.size : 5000;
        uint8_t *bytes = malloc(room + 1);
        const PhxStatus status = phx_replay_snapshot_read(replay, &snapshot, bytes, room);
        CHECK_THAT(status == PHX_OK || status == PHX_ERROR_FORMAT ||
                       (status == PHX_ERROR_FULL && snapshot.size > room) ||
                       (status == PHX_ERROR_VERSION && !snapshot.readable),
                   "seed %" PRIu64 ": %s", seed, phx_status_name(status));
        free(bytes);
    }
    CHECK_THAT(keyframes == phx_replay_info(replay)->keyframes &&
                   evidence == phx_replay_info(replay)->evidence,
               "seed %" PRIu64, seed);
}

/* Opens, walks over everything, and checks what must hold for any bytes. */
static PhxReplayInfo read_whatever(const uint8_t *bytes, size_t size, uint64_t seed) {
    SampleMemory memory = {0};
    const PhxAllocator allocator = sample_allocator(&memory);
    PhxReplay *replay;
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    PhxReplayNote note;
    PhxReplayInfo info = {0};
    PhxError error = {0};
    const PhxStatus status = phx_replay_open(bytes, size, &allocator, &replay, &error);
    if (status != PHX_OK) {
        CHECK_THAT(!replay && error.status == status && error.text[0], "seed %" PRIu64, seed);
        CHECK_EQ(memory.held, 0);
        info.fault = error;
        return info;
    }
    info = *phx_replay_info(replay);
    CHECK_THAT(info.kept_bytes + info.lost_bytes == size, "seed %" PRIu64, seed);
    CHECK_THAT((info.state == PHX_REPLAY_COMPLETE) == (info.fault.status == PHX_OK), "seed %" PRIu64, seed);
    CHECK_THAT(info.fault.offset <= size, "seed %" PRIu64, seed);
    CHECK_OK(phx_replay_cursor_create(replay, &cursor));
    CHECK_THAT(memory.held <= 65536 + size * (sizeof(PhxCommand) / 3 + 65), "seed %" PRIu64 ": %zu bytes",
               seed, memory.held);
    uint32_t ticks = 0, notes = 0;
    uint64_t commands = 0, position = 0;
    while (phx_replay_cursor_next(cursor, &tick)) {
        if (!tick.complete) CHECK_EQ(tick.command_count, info.pending_commands);
        if (!tick.complete) continue;
        CHECK_EQ(tick.tick, ticks++);
        commands += tick.command_count;
    }
    while (phx_replay_note_next(replay, &position, &note)) notes++;
    CHECK_THAT(ticks == info.ticks && commands == info.commands && notes == info.notes, "seed %" PRIu64,
               seed);
    read_snapshots(replay, seed);
    for (uint64_t n = 0; n < 3 && ticks > 0; n++) { /* by way of the keyframes */
        const uint32_t to = (uint32_t)((seed + n * 977) % ticks);
        CHECK_OK(phx_replay_cursor_seek(cursor, to));
        CHECK_THAT(phx_replay_cursor_next(cursor, &tick) && tick.tick == to, "seed %" PRIu64, seed);
    }
    phx_replay_cursor_destroy(cursor);
    phx_replay_close(replay);
    CHECK_EQ(memory.held, 0);
    return info;
}

PHX_TEST(replay_property, a_flipped_bit_is_found_in_the_record_in_which_it_lies) {
    uint64_t seed = 100;
    const size_t flips = campaign(10000);
    SampleMatch *match = NULL;
    SampleSink sink = {0};
    for (size_t i = 0; i < flips; i++) {
        if (i % 1000 == 0) {
            free(sink.bytes), free(match);
            match = sample_match(seed + i, SAMPLE_TICKS / 4);
            sink = sample_record(match, i, true);
        }
        const uint64_t drawn = seed;
        const size_t at = (size_t)test_range(&seed, 0, (int64_t)sink.size - 1);
        const uint8_t bit = (uint8_t)(1u << test_range(&seed, 0, 7));
        sink.bytes[at] ^= bit;
        const PhxReplayInfo info = read_whatever(sink.bytes, sink.size, drawn);
        sink.bytes[at] ^= bit;
        uint32_t ticks = 0;
        size_t begin = PHX_REPLAY_PREAMBLE;
        for (uint32_t b = 0; b < sink.border_count; b++)
            if (sink.borders[b] <= at) begin = sink.borders[b];
        for (uint32_t t = 1; t < sink.tick_end_count; t++)
            if (sink.tick_ends[t] <= at) ticks = t;
        if (at < PHX_REPLAY_PREAMBLE) {
            CHECK_THAT(info.bytes == 0 && info.fault.status != PHX_OK, "seed %" PRIu64 ", byte %zu", drawn,
                       at);
            continue;
        }
        CHECK_THAT(info.state == PHX_REPLAY_GARBLED, "seed %" PRIu64 ", byte %zu: %s", drawn, at,
                   phx_replay_state_name(info.state));
        CHECK_THAT(info.fault.offset == begin, "seed %" PRIu64 ", byte %zu: record at %zu, not %" PRIu64,
                   drawn, at, begin, info.fault.offset);
        CHECK_THAT(info.ticks == ticks, "seed %" PRIu64 ", byte %zu: %u ticks, not %u", drawn, at, info.ticks,
                   ticks);
    }
    free(sink.bytes), free(match);
}

/* Changes a record's payload and gives it a right checksum: what lies behind the checksum is no less careful.
 */
static void reforge(uint8_t *bytes, size_t size, uint64_t *seed) {
    PhxReplayRecord record;
    uint64_t at = PHX_REPLAY_PREAMBLE, chosen = at, seen = 0;
    while (at < size && phx_replay_record_read(bytes, size, at, &record, NULL) == PHX_OK) {
        if ((uint64_t)test_range(seed, 0, (int64_t)seen++) == 0) chosen = at;
        at = record.next;
    }
    if (phx_replay_record_read(bytes, size, chosen, &record, NULL) != PHX_OK || record.length == 0) return;
    uint8_t payload[16384];
    if (record.length > sizeof payload) return;
    memcpy(payload, record.payload, record.length);
    const size_t first = (size_t)test_range(seed, 0, record.length - 1),
                 count = (size_t)test_range(seed, 1, 4);
    for (size_t i = first; i < first + count && i < record.length; i++)
        payload[i] = test_range(seed, 0, 1) ? (uint8_t)test_random(seed)
                                            : (uint8_t)(payload[i] + test_range(seed, -1, 1));
    const uint8_t type = test_range(seed, 0, 19) ? record.type : (uint8_t)test_random(seed);
    PhxWriter writer = phx_writer_make(bytes + chosen, size - chosen);
    phx_replay_record_write(&writer, type, payload, record.length);
}

PHX_TEST(replay_property, forged_records_spliced_and_torn_bytes_end_with_a_word) {
    uint64_t seed = 200;
    const size_t rounds = campaign(4000);
    SampleMatch *match = sample_match(21, SAMPLE_TICKS / 4);
    const SampleSink sink = sample_record(match, 1, true);
    uint8_t *bytes = malloc(sink.size * 2);
    uint32_t cut = 0, garbled = 0, complete = 0;
    for (size_t i = 0; i < rounds; i++) {
        const uint64_t drawn = seed;
        size_t size = sink.size;
        memcpy(bytes, sink.bytes, size);
        for (int64_t n = test_range(&seed, 1, 3); n > 0; n--) {
            const size_t from = (size_t)test_range(&seed, 12, (int64_t)size - 1);
            const size_t to = (size_t)test_range(&seed, 12, (int64_t)size - 1);
            switch (test_range(&seed, 0, 5)) {
            case 0:
                memmove(bytes + to, bytes + from, size - (from > to ? from : to));
                break;
            case 1:
                size = from + 1;
                break;
            case 2:
                memset(bytes + from, 0, size - from);
                break; /* a disk that lost the last blocks */
            default:
                reforge(bytes, size, &seed);
                break;
            }
        }
        const PhxReplayInfo info = read_whatever(bytes, size, drawn);
        cut += info.state == PHX_REPLAY_CUT, garbled += info.state == PHX_REPLAY_GARBLED;
        complete += info.state == PHX_REPLAY_COMPLETE && info.bytes;
    }
    CHECK(cut > rounds / 50 && garbled > rounds / 10 && complete > rounds / 100); /* each way was taken */
    free(bytes), free(sink.bytes), free(match);
}
