/* replay_keyframe.c: when keyframes are written and what they cost; that nobody believes them; the index;
 * evidence; and replays that begin with another's ticks.
 */
#include "replay/pack.h"
#include "replay/record.h"
#include "replay_little.h"

static const LittlePlan plan = {
    .seed = 21, .side = 24, .units = 8, .ticks = 200, .keyframes = {.spacing = 40}};

/* ---- the budget, without a simulation ---- */

static PhxStatus swallow(void *user, const void *bytes, size_t size) {
    (void)bytes;
    *(uint64_t *)user += size;
    return PHX_OK;
}

typedef struct Schedule {
    uint32_t count, last, widest;
    uint64_t bytes; /* of keyframes */
} Schedule;

/* Writes a match of noise, with a snapshot of `size` random bytes whenever one is due. */
static Schedule schedule(const PhxReplayKeyframeOptions *options, uint32_t ticks, size_t size) {
    const char *const names[] = {"unit"};
    const uint64_t tables[] = {1};
    uint64_t bytes = 0, seed = 4;
    const PhxReplayMatch match = {.settings = {.tick_rate = 20, .ticks_per_turn = 1, .input_delay = 1},
                                  .table_count = 1,
                                  .table_names = names,
                                  .table_hashes = tables,
                                  .content = "x",
                                  .content_size = 1};
    PhxReplayWriter *writer;
    Schedule out = {0};
    uint8_t *snapshot = malloc(size);
    for (size_t i = 0; i < size; i++) snapshot[i] = (uint8_t)test_random(&seed);
    CHECK_OK(
        phx_replay_writer_create((PhxReplaySink){.write = swallow, .user = &bytes}, &match, NULL, &writer));
    phx_replay_writer_keyframes(writer, options);
    for (uint32_t t = 1; t <= ticks; t++) {
        CHECK_OK(phx_replay_writer_hashes(writer, t, tables));
        if (!phx_replay_writer_keyframe_due(writer)) continue;
        const uint64_t before = bytes;
        CHECK_OK(phx_replay_writer_keyframe(writer, t, snapshot, size));
        CHECK(!phx_replay_writer_keyframe_due(writer));
        out.bytes += bytes - before;
        out.count++;
        if (out.widest < t - out.last) out.widest = t - out.last;
        out.last = t;
    }
    phx_replay_writer_destroy(writer);
    free(snapshot);
    return out;
}

PHX_TEST(replay_keyframe, spacing_grows_with_the_match_and_bytes_keep_to_the_budget) {
    const Schedule none = schedule(&(PhxReplayKeyframeOptions){.none = true}, 5000, 100);
    CHECK_EQ(none.count, 0);
    const Schedule plain = schedule(NULL, 100000, 1000);
    /* 200 ticks apart up to tick 12,800, then a 64th of the match: 64 + 64 ln(100000 / 12800) = 195 */
    CHECK_THAT(plain.count > 180 && plain.count < 205, "%u", plain.count);
    CHECK_THAT(plain.widest <= 100000 / 64 + 1 && plain.widest > 1400, "%u", plain.widest);
    const Schedule twice = schedule(NULL, 200000, 1000);
    CHECK_THAT(twice.count - plain.count >= 40 && twice.count - plain.count <= 50, "%u", twice.count);
    const Schedule dense = schedule(&(PhxReplayKeyframeOptions){.spacing = 1}, 600, 10);
    CHECK_THAT(dense.count > 100, "%u", dense.count);
    /* 20,000 ticks are 16.67 minutes; a keyframe is ten times what its minute earns */
    const uint64_t budget = 30000;
    const Schedule poor = schedule(&(PhxReplayKeyframeOptions){.budget = budget}, 20000, 300000);
    CHECK_THAT(poor.count >= 1 && poor.bytes <= budget * 20000 / 1200 + 300100, "%u, %" PRIu64, poor.count,
               poor.bytes);
    CHECK_THAT(poor.bytes > budget * 20000 / 1200 / 2, "%" PRIu64, poor.bytes);
    CHECK_EQ(schedule(&(PhxReplayKeyframeOptions){.budget = UINT64_MAX}, 4000, 10).count, 20);
}

PHX_TEST(replay_keyframe, writer_refuses_what_is_no_keyframe) {
    LittleRecord match = little_record(plan), out = {0};
    PhxReplay *replay = little_open(match.bytes, match.size);
    const uint64_t root = match.roots[100];
    const PhxCommand command = {.slot = 0, .sequence = 1, .size = 1, .bytes = (const uint8_t *)"x"};
    PhxReplayWriter *writer;
    CHECK_OK(phx_replay_writer_continue(little_sink(&out), replay, 100, NULL, &writer, NULL));
    CHECK_EQ(phx_replay_writer_keyframe(writer, root + 1, "snapshot", 8), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_replay_writer_keyframe(writer, root, NULL, 8), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_replay_writer_keyframe(writer, root, "", 0), PHX_ERROR_ARGUMENT);
    CHECK_EQ(phx_replay_writer_evidence(writer, 1, 101, root, "snapshot", 8), PHX_ERROR_ARGUMENT);
    CHECK_OK(phx_replay_writer_keyframe(writer, root, "snapshot", 8));
    CHECK_EQ(phx_replay_writer_keyframe(writer, root, "snapshot", 8), PHX_ERROR_STATE); /* twice */
    CHECK_OK(phx_replay_writer_commands(writer, &command, 1));
    CHECK_EQ(phx_replay_writer_keyframe(writer, root, "snapshot", 8), PHX_ERROR_STATE); /* in a tick */
    phx_replay_writer_destroy(writer);
    phx_replay_close(replay);
    little_record_free(&match), free(out.bytes);
}

/* ---- nobody believes a keyframe ---- */

/* A copy of a replay whose `number`th keyframe says something else. With null `snapshot`, its encoding is one
 * that nobody knows. Without `index`, the copy ends before its index. */
static LittleRecord forge(const LittleRecord *match, uint32_t number, const uint8_t *snapshot, size_t size) {
    LittleRecord out = {0};
    PhxReplayRecord record;
    uint32_t seen = 0;
    out.bytes = malloc(match->size + size + 64);
    memcpy(out.bytes, match->bytes, PHX_REPLAY_PREAMBLE);
    PhxWriter writer = phx_writer_make(out.bytes, match->size + size + 64);
    writer.at = PHX_REPLAY_PREAMBLE;
    for (uint64_t at = PHX_REPLAY_PREAMBLE; at < match->size; at = record.next) {
        CHECK_OK(phx_replay_record_read(match->bytes, match->size, at, &record, NULL));
        if (record.kind == PHX_REPLAY_KIND_INDEX) break;
        if (record.kind != PHX_REPLAY_KIND_KEYFRAME || seen++ != number) {
            phx_replay_record_write(&writer, record.type, record.payload, record.length);
            continue;
        }
        PhxReader reader = phx_reader_make(record.payload, record.length);
        PhxReplayKeyframeFields fields = phx_replay_get_keyframe(&reader);
        fields.encoding = snapshot ? PHX_REPLAY_PLAIN : 9;
        if (snapshot) fields.size = (uint32_t)size;
        uint8_t *payload = malloc(size + 64);
        PhxWriter inside = phx_writer_make(payload, size + 64);
        phx_replay_put_keyframe(&inside, &fields);
        phx_write_bytes(&inside, snapshot ? (const void *)snapshot : "?", snapshot ? size : 1);
        phx_replay_record_write(&writer, record.type, payload, (uint32_t)inside.at);
        free(payload);
    }
    CHECK_OK(writer.status);
    out.size = writer.at;
    return out;
}

/* The state after `tick` ticks, with one unit moved by a hair where `change`. */
static uint8_t *state_at(const PhxReplay *replay, uint32_t tick, size_t *size) {
    PhxReplayPlayback *playback = little_playback(replay);
    CHECK_OK(phx_replay_playback_seek(playback, tick, NULL));
    const PhxSim *sim = phx_replay_playback_sim(playback);
    const size_t room = phx_sim_snapshot_size(sim);
    uint8_t *bytes = malloc(room);
    CHECK_OK(phx_sim_snapshot(sim, bytes, room, size));
    phx_replay_playback_destroy(playback);
    return bytes;
}

static void check_seek(const PhxReplay *replay, const LittleRecord *match, uint32_t tick, uint64_t steps) {
    PhxReplayPlayback *playback = little_playback(replay);
    CHECK_OK(phx_replay_playback_seek(playback, tick, NULL));
    CHECK_THAT(phx_sim_root(phx_replay_playback_sim(playback)) == match->roots[tick], "tick %u", tick);
    CHECK_EQ(phx_replay_playback_stepped(playback), steps);
    CHECK_OK(phx_replay_playback_seek(playback, tick - 1, NULL));
    CHECK_THAT(phx_sim_root(phx_replay_playback_sim(playback)) == match->roots[tick - 1], "tick %u", tick);
    phx_replay_playback_destroy(playback);
}

PHX_TEST(replay_keyframe, one_that_lies_is_named_and_passed_over) {
    LittleRecord match = little_record(plan);
    PhxReplay *replay = little_open(match.bytes, match.size);
    PhxReplaySnapshot third;
    size_t size, other_size;
    CHECK(phx_replay_info(replay)->keyframes == 4 + 1 && phx_replay_info(replay)->indexed);
    CHECK(phx_replay_keyframe(replay, 2, &third) && third.tick == 120 && third.root == match.roots[120]);
    uint8_t *state = state_at(replay, 120, &size), *other = state_at(replay, 119, &other_size);
    uint8_t *read = malloc(third.size);
    CHECK_EQ(third.size, size);
    CHECK_OK(phx_replay_snapshot_read(replay, &third, read, size));
    CHECK(memcmp(read, state, size) == 0);
    CHECK_EQ(phx_replay_snapshot_read(replay, &third, read, size - 1), PHX_ERROR_FULL);
    check_seek(replay, &match, 130, 10);

    struct {
        const char *what;
        uint8_t *bytes;
        size_t size;
        PhxReplayVerdict verdict;
    } lies[] = {{"another tick's state", other, other_size, PHX_REPLAY_DIVERGED},
                {"cut bytes", state, size - 1, PHX_REPLAY_DIVERGED},
                {"no state", (uint8_t *)(uintptr_t) "no state", 8, PHX_REPLAY_DIVERGED},
                {"an encoding that nobody knows", NULL, 0, PHX_REPLAY_VERIFIED}};
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        LittleRecord forged = forge(&match, 2, lies[i].bytes, lies[i].size);
        PhxReplay *liar = little_open(forged.bytes, forged.size);
        const PhxReplayVerification result = little_verify(liar);
        const bool known = lies[i].bytes != NULL;
        CHECK(phx_replay_info(liar)->ticks == 200 && !phx_replay_info(liar)->indexed);
        CHECK_EQ(phx_replay_info(liar)->keyframes_readable, known ? 5 : 4);
        CHECK_THAT(result.verdict == lies[i].verdict, "%s: %s", lies[i].what, result.error.text);
        CHECK_THAT(result.keyframe_differs == known && result.keyframes_passed == !known, "%s", lies[i].what);
        CHECK_THAT(result.keyframes == (known ? 2 : 4), "%s: %u", lies[i].what, result.keyframes);
        if (known)
            CHECK_THAT(result.tick == 120 && result.error.offset == third.position &&
                           strstr(result.error.text, "keyframe") && strstr(result.error.text, "120"),
                       "%s: %s", lies[i].what, result.error.text);
        if (i == 0) CHECK(result.difference_count > 0);
        check_seek(liar, &match, 130, 50); /* from the one before */
        check_seek(liar, &match, 165, 5);
        phx_replay_close(liar);
        free(forged.bytes);
    }
    free(state), free(other), free(read);
    phx_replay_close(replay);
    little_record_free(&match);
}

/* All keyframes gone bad, and none at all: everything is reached from tick 0. */
PHX_TEST(replay_keyframe, replay_without_a_good_keyframe_plays_from_its_content) {
    LittlePlan bare = plan;
    bare.keyframes.none = true;
    LittleRecord match = little_record(bare), with = little_record(plan);
    PhxReplay *replay = little_open(match.bytes, match.size);
    CHECK(phx_replay_info(replay)->keyframes == 0 && !phx_replay_info(replay)->indexed &&
          phx_replay_info(replay)->state == PHX_REPLAY_COMPLETE);
    check_seek(replay, &match, 130, 130);
    phx_replay_close(replay);
    LittleRecord bad = forge(&with, 0, NULL, 0);
    for (uint32_t i = 1; i < 5; i++) {
        LittleRecord next = forge(&bad, i, NULL, 0);
        free(bad.bytes);
        bad = next;
    }
    replay = little_open(bad.bytes, bad.size);
    CHECK_EQ(phx_replay_info(replay)->keyframes_readable, 0);
    check_seek(replay, &match, 130, 130);
    const PhxReplayVerification result = little_verify(replay);
    CHECK(result.verdict == PHX_REPLAY_VERIFIED && result.keyframes_passed == 5 && result.keyframes == 0);
    phx_replay_close(replay);
    free(bad.bytes);
    little_record_free(&match), little_record_free(&with);
}

/* ---- index and contradictions ---- */

/* Changes bits of a byte of the `number`th record of a kind, counted from its payload's beginning, and mends
 * the checksum; returns where the record is. */
static uint64_t edit_byte(uint8_t *bytes, size_t size, uint32_t kind, uint32_t number, size_t byte,
                          uint8_t bits) {
    PhxReplayRecord record;
    for (uint64_t at = PHX_REPLAY_PREAMBLE; at < size; at = record.next) {
        CHECK_OK(phx_replay_record_read(bytes, size, at, &record, NULL));
        if (record.kind != kind || number-- > 0) continue;
        uint8_t *payload = malloc(record.length);
        memcpy(payload, record.payload, record.length);
        payload[byte] ^= bits;
        PhxWriter writer = phx_writer_make(bytes + at, size - (size_t)at);
        phx_replay_record_write(&writer, record.type, payload, record.length);
        free(payload);
        return at;
    }
    phx_test_fail(__FILE__, __LINE__, "no such record");
}

PHX_TEST(replay_keyframe, index_and_keyframes_that_contradict_are_named) {
    static const struct {
        uint32_t kind;
        size_t byte;
        const char *word;
    } cases[] = {{PHX_REPLAY_KIND_INDEX, 0, "other keyframes"}, /* count */
                 {PHX_REPLAY_KIND_INDEX, 4, "other keyframes"}, /* a tick */
                 {PHX_REPLAY_KIND_INDEX, 9, "other keyframes"}, /* an offset */
                 {PHX_REPLAY_KIND_END, 12, "its index"},        /* where the index is */
                 {PHX_REPLAY_KIND_KEYFRAME, 0, "another tick"}, {PHX_REPLAY_KIND_KEYFRAME, 5, "another root"},
                 {PHX_REPLAY_KIND_CONTENT, 0, "encoding"}};
    LittleRecord match = little_record(plan);
    uint8_t *bytes = malloc(match.size);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(bytes, match.bytes, match.size);
        const uint64_t at =
            edit_byte(bytes, match.size, cases[i].kind, 0, cases[i].byte,
                      cases[i].kind == PHX_REPLAY_KIND_CONTENT ? 2 : 1); /* an unknown encoding */
        PhxReplay *replay = little_open(bytes, match.size);
        const PhxReplayInfo *info = phx_replay_info(replay);
        CHECK_THAT(info->state == PHX_REPLAY_GARBLED && info->fault.offset == at, "case %zu", i);
        CHECK_THAT(strstr(info->fault.text, cases[i].word), "case %zu: %s", i, info->fault.text);
        if (cases[i].kind != PHX_REPLAY_KIND_CONTENT) CHECK(info->ticks >= 40);
        phx_replay_close(replay);
    }
    free(bytes);
    little_record_free(&match);
}

/* ---- copies, and what stands beside the ticks ---- */

static PhxReplayVerification check_copy(const LittleRecord *match, const LittleRecord *out, uint32_t ticks,
                                        uint32_t keyframes) {
    PhxReplay *copy = little_open(out->bytes, out->size);
    const PhxReplayInfo *info = phx_replay_info(copy);
    CHECK_THAT(info->state == PHX_REPLAY_COMPLETE && info->ticks == ticks, "%s", info->fault.text);
    CHECK(info->player_count == 2 && info->final_root == match->roots[ticks]);
    CHECK_THAT(info->keyframes == keyframes && info->indexed == (keyframes > 0), "%u", info->keyframes);
    const PhxReplayVerification result = little_verify(copy);
    CHECK_THAT(result.verdict == PHX_REPLAY_VERIFIED && result.keyframes == keyframes, "%s",
               result.error.text);
    phx_replay_close(copy);
    return result;
}

PHX_TEST(replay_keyframe, first_ticks_are_copied_and_ended) {
    LittleRecord match = little_record(plan);
    PhxReplay *replay = little_open(match.bytes, match.size);
    PhxReplayWriter *writer;
    PhxError error = {0};
    const uint32_t ticks[] = {0, 1, 40, 41, 120, 199, 200};
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        LittleRecord out = {0};
        CHECK_OK(phx_replay_writer_continue(little_sink(&out), replay, ticks[i], NULL, &writer, NULL));
        CHECK_EQ(phx_replay_writer_ticks(writer), ticks[i]);
        CHECK_OK(phx_replay_writer_end(writer));
        phx_replay_writer_destroy(writer);
        check_copy(&match, &out, ticks[i], ticks[i] == 200 ? 5 : ticks[i] ? (ticks[i] - 1) / 40 : 0);
        CHECK_EQ(out.size == match.size, ticks[i] == 200); /* all of it is the same file */
        if (out.size == match.size) CHECK(memcmp(out.bytes, match.bytes, out.size) == 0);
        free(out.bytes);
    }
    LittleRecord out = {0};
    CHECK_EQ(phx_replay_writer_continue(little_sink(&out), replay, 201, NULL, &writer, &error),
             PHX_ERROR_NOT_FOUND);
    CHECK(!writer && out.size == 0 && strstr(error.text, "201"));
    phx_replay_close(replay);
    replay = little_open(match.bytes, match.tick_end[77] + 20); /* killed in tick 77: repaired */
    CHECK_OK(phx_replay_writer_continue(little_sink(&out), replay, 77, NULL, &writer, &error));
    CHECK_OK(phx_replay_writer_end(writer));
    phx_replay_writer_destroy(writer);
    check_copy(&match, &out, 77, 1);
    phx_replay_close(replay);
    free(out.bytes);
    little_record_free(&match);
}

PHX_TEST(replay_keyframe, match_goes_on_otherwise_from_any_tick) {
    LittleRecord match = little_record(plan);
    PhxReplay *replay = little_open(match.bytes, match.size);
    const uint32_t forks[] = {0, 40, 133, 200};
    PhxCommand commands[4];
    uint8_t *bytes = malloc((size_t)4 * PHX_COMMAND_SIZE_LIMIT);
    for (size_t i = 0; i < sizeof forks / sizeof forks[0]; i++) {
        LittleRecord out = {0};
        PhxReplayWriter *writer;
        PhxReplayPlayback *playback = little_playback(replay);
        CHECK_OK(phx_replay_writer_continue(little_sink(&out), replay, forks[i], NULL, &writer, NULL));
        phx_replay_writer_keyframes(writer, &plan.keyframes);
        CHECK_OK(phx_replay_playback_seek(playback, forks[i], NULL));
        PhxSim *sim = phx_replay_playback_sim(playback);
        for (uint32_t t = 0; t < 100; t++) {
            const uint32_t count = little_commands(sim, 1000 + plan.seed, commands, bytes);
            CHECK_OK(phx_replay_record_step(writer, sim, commands, count));
        }
        CHECK_OK(phx_replay_writer_end(writer));
        phx_replay_writer_destroy(writer);
        PhxReplay *fork = little_open(out.bytes, out.size);
        const PhxReplayVerification result = little_verify(fork);
        CHECK_THAT(result.verdict == PHX_REPLAY_VERIFIED && result.ticks == forks[i] + 100, "fork at %u: %s",
                   forks[i], result.error.text);
        CHECK(result.computed_root == phx_sim_root(sim) && result.keyframes >= 2);
        CHECK(forks[i] == 200 ||
              result.computed_root != match.roots[forks[i] + 100 > 200 ? 200 : forks[i] + 100]);
        phx_replay_close(fork);
        phx_replay_playback_destroy(playback);
        free(out.bytes);
    }
    free(bytes);
    phx_replay_close(replay);
    little_record_free(&match);
}

PHX_TEST(replay_keyframe, evidence_of_a_desync_is_kept_beside_the_match) {
    LittleRecord match = little_record(plan), out = {0};
    PhxReplay *replay = little_open(match.bytes, match.size);
    size_t size;
    uint8_t *state = state_at(replay, 100, &size), *read = malloc(size);
    PhxReplayWriter *writer;
    CHECK_OK(phx_replay_writer_continue(little_sink(&out), replay, 101, NULL, &writer, NULL));
    CHECK_OK(phx_replay_writer_evidence(writer, 1, 100, 77, state, size));
    CHECK_OK(phx_replay_writer_evidence(writer, PHX_REPLAY_NO_SLOT, 101, 78, "raw", 3));
    CHECK_OK(phx_replay_writer_end(writer));
    phx_replay_writer_destroy(writer);
    check_copy(&match, &out, 101, 2);
    PhxReplay *copy = little_open(out.bytes, out.size);
    PhxReplaySnapshot evidence;
    uint64_t position = 0;
    CHECK_EQ(phx_replay_info(copy)->evidence, 2);
    CHECK(phx_replay_evidence_next(copy, &position, &evidence));
    CHECK(evidence.slot == 1 && evidence.tick == 100 && evidence.root == 77 && evidence.size == size);
    CHECK_OK(phx_replay_snapshot_read(copy, &evidence, read, size));
    CHECK(memcmp(read, state, size) == 0);
    CHECK(phx_replay_evidence_next(copy, &position, &evidence));
    CHECK(evidence.slot == PHX_REPLAY_NO_SLOT && evidence.tick == 101 && evidence.root == 78);
    CHECK_OK(phx_replay_snapshot_read(copy, &evidence, read, size));
    CHECK(evidence.size == 3 && memcmp(read, "raw", 3) == 0);
    CHECK(!phx_replay_evidence_next(copy, &position, &evidence));
    phx_replay_close(copy);
    phx_replay_close(replay);
    free(state), free(read), free(out.bytes);
    little_record_free(&match);
}
