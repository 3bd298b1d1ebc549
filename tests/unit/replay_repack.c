/* replay_repack.c: replays packed with Zstandard and not packed: what a build without Zstandard makes of
 * them, what turns one into the other, and content that lies about its size. The frames are put together
 * here, of blocks that aren't compressed (RFC 8878, 3.1.1), so that every build has some.
 */
#include "replay/pack.h"
#include "replay/record.h"
#include "replay_little.h"

static const LittlePlan plan = {
    .seed = 31, .side = 24, .units = 8, .ticks = 120, .keyframes = {.spacing = 40, .budget = UINT64_MAX}};

static bool zstd(void) { return phx_replay_pack_known(PHX_REPLAY_ZSTD); }

/* One frame that holds `size` bytes as they are; `claim` is the size that it says it holds. */
static size_t put_frame(uint8_t *to, const uint8_t *from, size_t size, uint32_t claim) {
    enum { BLOCK = 128 * 1024 };
    PhxWriter writer = phx_writer_make(to, size + 64);
    phx_write_u32(&writer, 0xfd2fb528);
    phx_write_u8(&writer, 0xa0); /* a single segment, its size in 4 bytes */
    phx_write_u32(&writer, claim);
    for (size_t at = 0; at < size; at += BLOCK) {
        const size_t length = size - at < BLOCK ? size - at : BLOCK;
        const uint32_t head = (uint32_t)length << 3 | (at + length == size);
        const uint8_t bytes[3] = {head & 255, head >> 8 & 255, (uint8_t)(head >> 16)};
        phx_write_bytes(&writer, bytes, sizeof bytes);
        phx_write_bytes(&writer, from + at, length);
    }
    CHECK_OK(writer.status);
    return writer.at;
}

/* The same replay in other packing, written by the library. */
static LittleRecord repacked(const LittleRecord *match, PhxReplayPacking packing) {
    LittleRecord out = {0};
    PhxReplayWriter *writer;
    PhxError error = {0};
    PhxReplay *replay = little_open(match->bytes, match->size);
    const uint32_t ticks = phx_replay_info(replay)->ticks;
    const PhxStatus status =
        phx_replay_writer_repack(little_sink(&out), replay, ticks, packing, NULL, &writer, &error);
    CHECK_THAT(status == PHX_OK, "%s", error.text);
    CHECK_OK(phx_replay_writer_end(writer));
    CHECK_EQ(phx_replay_writer_bytes(writer), out.size);
    phx_replay_writer_destroy(writer);
    phx_replay_close(replay);
    return out;
}

/* A replay that isn't packed, with its content in a frame that claims to hold `frame_size` bytes, in a record
 * that claims `size`; it ends before its index, because offsets have moved. */
static LittleRecord framed(const LittleRecord *raw, const LittleRecord *match, uint32_t size,
                           uint32_t frame_size) {
    LittleRecord out = {.capacity = raw->size + match->content_size + 256};
    PhxReplayRecord record;
    out.bytes = malloc(out.capacity);
    uint8_t *payload = malloc(match->content_size + 256);
    memcpy(out.bytes, raw->bytes, PHX_REPLAY_PREAMBLE);
    PhxWriter writer = phx_writer_make(out.bytes, out.capacity);
    writer.at = PHX_REPLAY_PREAMBLE;
    for (uint64_t at = PHX_REPLAY_PREAMBLE; at < raw->size; at = record.next) {
        CHECK_OK(phx_replay_record_read(raw->bytes, raw->size, at, &record, NULL));
        if (record.kind == PHX_REPLAY_KIND_INDEX) break;
        if (record.kind != PHX_REPLAY_KIND_CONTENT) {
            phx_replay_record_write(&writer, record.type, record.payload, record.length);
            continue;
        }
        PhxWriter inside = phx_writer_make(payload, match->content_size + 256);
        phx_write_u8(&inside, PHX_REPLAY_ZSTD);
        phx_write_u32(&inside, size);
        const size_t used = put_frame(payload + inside.at, match->content, match->content_size, frame_size);
        phx_replay_record_write(&writer, record.type, payload, (uint32_t)(inside.at + used));
    }
    CHECK_OK(writer.status);
    out.size = writer.at;
    free(payload);
    return out;
}

static void check_whole(const LittleRecord *record, const LittleRecord *match, bool packed) {
    PhxReplay *replay = little_open(record->bytes, record->size);
    const PhxReplayInfo *info = phx_replay_info(replay);
    const PhxReplayVerification result = little_verify(replay);
    PhxReplaySnapshot keyframe;
    size_t size;
    CHECK_THAT(info->state == PHX_REPLAY_COMPLETE && info->indexed && info->content_readable, "%s",
               info->fault.text);
    CHECK(info->ticks == match->ticks && info->keyframes == 3 && info->keyframes_readable == 3);
    CHECK_THAT(result.verdict == PHX_REPLAY_VERIFIED && result.keyframes == 3, "%s", result.error.text);
    CHECK_EQ(result.computed_root, match->roots[match->ticks]);
    const void *content = phx_replay_content(replay, &size);
    CHECK(size == match->content_size && memcmp(content, match->content, size) == 0);
    for (uint32_t i = 0; phx_replay_keyframe(replay, i, &keyframe); i++)
        CHECK_THAT((keyframe.packed < keyframe.size) == packed, "keyframe %u: %u of %u", i, keyframe.packed,
                   keyframe.size);
    phx_replay_close(replay);
}

PHX_TEST(replay_repack, replay_is_unpacked_and_packed_again_without_a_trace) {
    LittleRecord match = little_record(plan);
    LittleRecord none = repacked(&match, PHX_REPLAY_PACK_NONE), again = repacked(&none, PHX_REPLAY_PACK_BEST);
    check_whole(&match, &match, zstd());
    check_whole(&none, &match, false);
    CHECK_THAT((2 * none.size > 3 * match.size) == zstd(), "%zu, packed %zu", none.size, match.size);
    CHECK_EQ(again.size, match.size);
    CHECK(memcmp(again.bytes, match.bytes, match.size) == 0);
    free(none.bytes), free(again.bytes);
    little_record_free(&match);
}

PHX_TEST(replay_repack, recorder_asked_not_to_pack_writes_for_every_build) {
    LittleRecord match = little_record(plan), none = repacked(&match, PHX_REPLAY_PACK_NONE), out = {0};
    const PhxSimConfig config = {0};
    PhxCommand commands[4];
    uint8_t *bytes = malloc((size_t)4 * PHX_COMMAND_SIZE_LIMIT);
    PhxReplayWriter *writer;
    PhxSim *sim;
    CHECK_OK(phx_sim_create(&config, match.content, match.content_size, NULL, &sim, NULL));
    CHECK_EQ(phx_replay_record_begin_packed(little_sink(&out), sim, match.content, match.content_size,
                                            (PhxReplayPacking)3, NULL, &writer, NULL),
             PHX_ERROR_ARGUMENT);
    CHECK(!writer && out.size == 0);
    CHECK_OK(phx_replay_record_begin_packed(little_sink(&out), sim, match.content, match.content_size,
                                            PHX_REPLAY_PACK_NONE, NULL, &writer, NULL));
    phx_replay_writer_keyframes(writer, &plan.keyframes);
    for (uint32_t t = 0; t < plan.ticks; t++) {
        const uint32_t count = little_commands(sim, plan.seed, commands, bytes);
        CHECK_OK(phx_replay_record_step(writer, sim, commands, count));
    }
    CHECK_OK(phx_replay_writer_end(writer));
    CHECK(out.size == none.size && memcmp(out.bytes, none.bytes, out.size) == 0);
    phx_replay_writer_destroy(writer);
    phx_sim_destroy(sim);
    free(bytes), free(none.bytes), free(out.bytes);
    little_record_free(&match);
}

/* What a build without Zstandard does with content that it can't look into: all but to play it. */
PHX_TEST(replay_repack, packed_content_is_listed_and_cut_by_every_build_and_played_with_zstandard) {
    LittleRecord match = little_record(plan), raw = repacked(&match, PHX_REPLAY_PACK_NONE), out = {0};
    const uint32_t size = (uint32_t)match.content_size;
    LittleRecord packed = framed(&raw, &match, size, size);

    PhxReplay *replay = little_open(packed.bytes, packed.size);
    const PhxReplayInfo *info = phx_replay_info(replay);
    const PhxReplayVerification result = little_verify(replay);
    PhxReplayPlayback *playback;
    PhxReplayWriter *writer;
    PhxError error = {0};
    CHECK(info->has_content && info->content_readable == zstd() && info->content_bytes == size);
    CHECK(info->ticks == match.ticks && info->player_count == 2 && info->keyframes == 3);
    CHECK_EQ((phx_replay_content(replay, NULL) != NULL), zstd());
    CHECK_OK(phx_replay_writer_continue(little_sink(&out), replay, 50, NULL, &writer, NULL));
    CHECK_OK(phx_replay_writer_end(writer));
    phx_replay_writer_destroy(writer);
    PhxReplay *cut = little_open(out.bytes, out.size);
    CHECK(phx_replay_info(cut)->state == PHX_REPLAY_COMPLETE && phx_replay_info(cut)->ticks == 50);
    CHECK_EQ(phx_replay_info(cut)->content_bytes, size);
    out.size = 0;
    const PhxStatus unpacked =
        phx_replay_writer_repack(little_sink(&out), replay, 50, PHX_REPLAY_PACK_NONE, NULL, &writer, &error);
    phx_replay_writer_destroy(writer);
    if (zstd()) {
        CHECK_OK(unpacked);
        CHECK_THAT(result.verdict == PHX_REPLAY_VERIFIED && result.ticks == match.ticks, "%s",
                   result.error.text);
    } else {
        CHECK(unpacked == PHX_ERROR_VERSION && out.size == 0 && strstr(error.text, "--pack none"));
        CHECK_THAT(result.verdict == PHX_REPLAY_NOT_VERIFIABLE && result.error.status == PHX_ERROR_VERSION &&
                       strstr(result.error.text, "packed with Zstandard, which this build lacks") &&
                       strstr(result.error.text, "`phx replay cut FILE -o OUT --pack none`"),
                   "%s", result.error.text);
        CHECK_EQ(phx_replay_playback_create(replay, NULL, &playback, NULL), PHX_ERROR_VERSION);
        CHECK_EQ(phx_replay_writer_repack(little_sink(&out), replay, 50, PHX_REPLAY_PACK_ZSTD, NULL, &writer,
                                          NULL),
                 PHX_ERROR_VERSION);
    }
    phx_replay_close(cut), phx_replay_close(replay);
    free(packed.bytes), free(raw.bytes), free(out.bytes);
    little_record_free(&match);
}

typedef struct Memory {
    size_t largest;
} Memory;
static void *allocate(void *user, size_t size) {
    Memory *memory = user;
    if (size > memory->largest) memory->largest = size;
    return phx_allocator_default().allocate(NULL, size);
}
static void release(void *user, void *block, size_t size) {
    (void)user;
    phx_allocator_default().release(NULL, block, size);
}

PHX_TEST(replay_repack, content_that_lies_about_its_size_gets_no_memory) {
    LittleRecord match = little_record(plan), raw = repacked(&match, PHX_REPLAY_PACK_NONE);
    const uint32_t size = (uint32_t)match.content_size, huge = PHX_REPLAY_CONTENT_LIMIT;
    const struct {
        uint32_t size, frame_size;
        bool everywhere; /* every build sees it, else those that can look into the frame */
    } cases[] = {{0, size, true},
                 {huge + 1, huge + 1, true},
                 {huge, huge, true},
                 {size + 1, size, false},
                 {size, size + 1, false},
                 {size + 1, size + 1, false},
                 {size - 1, size - 1, false}};
    CHECK(huge / PHX_REPLAY_ZSTD_GAIN > size + 64);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        LittleRecord forged = framed(&raw, &match, cases[i].size, cases[i].frame_size);
        Memory memory = {0};
        const PhxAllocator allocator = {.allocate = allocate, .release = release, .user = &memory};
        PhxReplay *replay;
        CHECK_OK(phx_replay_open(forged.bytes, forged.size, &allocator, &replay, NULL));
        const PhxReplayInfo *info = phx_replay_info(replay);
        CHECK_THAT(memory.largest < (size_t)size + 65536, "case %zu: %zu bytes", i, memory.largest);
        CHECK_THAT(info->has_content == (!cases[i].everywhere && !zstd()), "case %zu", i);
        CHECK_THAT(info->has_content || (info->state == PHX_REPLAY_GARBLED && info->ticks == 0 &&
                                         strstr(info->fault.text, "content record")),
                   "case %zu: %s", i, info->fault.text);
        phx_replay_close(replay);
        free(forged.bytes);
    }
    free(raw.bytes);
    little_record_free(&match);
}
