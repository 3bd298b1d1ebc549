/* replay_seek.c: hash(seek to t) is hash(played to t), for every t and for random jumps, and no jump costs
 * more than a spacing of keyframes. Matches of 2,000 and of 20,000 ticks, under a sanitizer of 1,000 and
 * 5,000.
 */
#include "../unit/replay_little.h"

/* The most steps that a jump from `now` to `tick` may take: from the last keyframe before the goal. */
static uint64_t most_steps(const PhxReplay *replay, uint32_t now, uint32_t tick) {
    PhxReplaySnapshot keyframe;
    uint32_t from = phx_replay_keyframe_before(replay, tick, &keyframe) ? keyframe.tick : 0;
    if (now <= tick && now > from) from = now;
    return tick - from;
}

static void jump(const LittleRecord *match, const PhxReplay *replay, PhxReplayPlayback *playback,
                 uint32_t tick) {
    PhxError error = {0};
    PhxSim *sim = phx_replay_playback_sim(playback);
    const uint32_t now = phx_sim_tick(sim);
    const uint64_t before = phx_replay_playback_stepped(playback), most = most_steps(replay, now, tick);
    const PhxStatus status = phx_replay_playback_seek(playback, tick, &error);
    CHECK_THAT(status == PHX_OK, "seed %" PRIu64 ", from %u to %u: %s", match->seed, now, tick, error.text);
    CHECK_THAT(phx_sim_tick(sim) == tick && phx_sim_root(sim) == match->roots[tick],
               "seed %" PRIu64 ", from %u to %u: at %u", match->seed, now, tick, phx_sim_tick(sim));
    CHECK_THAT(phx_replay_playback_stepped(playback) - before == most, "seed %" PRIu64 ", from %u to %u",
               match->seed, now, tick);
}

PHX_TEST(replay_seek, every_tick_forward_and_backward_is_the_played_one) {
    const uint32_t ticks = test_count(1000, 2000, 2000), jumped = ticks * 5 / 8, left = jumped + 200;
    LittleRecord match = little_record((LittlePlan){.seed = 7, .side = 24, .units = 6, .ticks = ticks});
    PhxReplay *replay = little_open(match.bytes, match.size);
    PhxReplayPlayback *playback = little_playback(replay);
    const PhxReplayInfo *info = phx_replay_info(replay);
    CHECK(info->state == PHX_REPLAY_COMPLETE && info->indexed);
    CHECK_THAT(info->keyframes >= ticks / 200 - 1 && info->keyframes == info->keyframes_readable, "%u",
               info->keyframes);
    for (uint32_t t = 0; t <= ticks; t++) jump(&match, replay, playback, t);
    for (uint32_t t = ticks; t > 0; t -= t % 3 ? 1 : 2) jump(&match, replay, playback, t - 1);
    for (uint32_t t = 0; t <= ticks; t++) { /* each from far away */
        if (t % 8 == 0) jump(&match, replay, playback, t & 8 ? 0 : ticks);
        jump(&match, replay, playback, t);
    }
    /* After a jump it goes on as it was recorded, and tells the same. */
    jump(&match, replay, playback, jumped);
    for (uint32_t t = jumped; t < left; t++) {
        PhxReplayTick tick;
        CHECK_OK(phx_replay_playback_step(playback, &tick));
        const PhxSim *sim = phx_replay_playback_sim(playback);
        CHECK_THAT(tick.tick == t && tick.root == match.roots[t + 1] && tick.root == phx_sim_root(sim),
                   "tick %u", t);
        CHECK_THAT(memcmp(tick.table_hashes, phx_sim_table_hashes(sim), info->table_count * 8) == 0,
                   "tick %u", t);
    }
    CHECK_EQ(phx_replay_playback_seek(playback, ticks + 1, NULL), PHX_ERROR_NOT_FOUND);
    CHECK_EQ(phx_sim_tick(phx_replay_playback_sim(playback)), left);
    phx_replay_playback_destroy(playback);
    phx_replay_close(replay);
    little_record_free(&match);
}

/* The cursor finds every tick with all its hashes, by way of the keyframes. */
static void check_cursor(const LittleRecord *match, const PhxReplay *replay, uint64_t *seed) {
    const uint32_t tables = phx_replay_info(replay)->table_count;
    uint64_t(*hashes)[PHX_REPLAY_TABLE_LIMIT] = calloc(match->ticks, sizeof *hashes);
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    CHECK_OK(phx_replay_cursor_create(replay, &cursor));
    for (uint32_t t = 0; phx_replay_cursor_next(cursor, &tick); t++)
        memcpy(hashes[t], tick.table_hashes, tables * sizeof(uint64_t));
    for (int i = 0; i < 1000; i++) {
        const uint32_t t = (uint32_t)test_range(seed, 0, match->ticks - 1);
        CHECK_OK(phx_replay_cursor_seek(cursor, t));
        CHECK_THAT(phx_replay_cursor_next(cursor, &tick) && tick.tick == t, "tick %u", t);
        CHECK_THAT(tick.root == match->roots[t + 1], "tick %u", t);
        CHECK_THAT(memcmp(tick.table_hashes, hashes[t], tables * sizeof(uint64_t)) == 0, "tick %u", t);
    }
    CHECK_OK(phx_replay_cursor_seek(cursor, match->ticks));
    CHECK(!phx_replay_cursor_next(cursor, &tick));
    CHECK_EQ(phx_replay_cursor_seek(cursor, match->ticks + 1), PHX_ERROR_NOT_FOUND);
    phx_replay_cursor_destroy(cursor);
    free(hashes);
}

PHX_TEST(replay_seek, random_jumps_in_a_long_match_are_the_played_ticks) {
    const uint32_t ticks = test_count(5000, 20000, 20000), jumps = test_count(300, 1000, 1000);
    LittleRecord match = little_record((LittlePlan){.seed = 11, .side = 24, .units = 5, .ticks = ticks});
    PhxReplay *replay = little_open(match.bytes, match.size);
    PhxReplayPlayback *playback = little_playback(replay);
    PhxReplaySnapshot keyframe, before = {0};
    uint64_t seed = 5;
    for (uint32_t i = 0; phx_replay_keyframe(replay, i, &keyframe); i++) {
        const uint32_t least = 200, spacing = keyframe.tick - before.tick, grown = keyframe.tick / 64;
        CHECK_THAT(spacing >= least && spacing <= (least > grown ? least : grown) + 1,
                   "keyframe %u at tick %u, %u after the last", i, keyframe.tick, spacing);
        before = keyframe;
    }
    CHECK(ticks - before.tick <= ticks / 64 + 200);
    for (uint32_t i = 0; i < jumps; i++) {
        const int64_t near = phx_sim_tick(phx_replay_playback_sim(playback));
        const int64_t to = i % 4 ? test_range(&seed, 0, ticks) : near + test_range(&seed, -30, 30);
        jump(&match, replay, playback, (uint32_t)(to < 0 ? 0 : to > ticks ? ticks : to));
    }
    check_cursor(&match, replay, &seed);
    phx_replay_playback_destroy(playback);
    const PhxReplayVerification result = little_verify(replay);
    CHECK(result.verdict == PHX_REPLAY_VERIFIED && result.ticks == ticks);
    CHECK_EQ(result.keyframes, phx_replay_info(replay)->keyframes);
    phx_replay_close(replay);
    little_record_free(&match);
}
