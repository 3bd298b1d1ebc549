/* replay.c: public bug reports about replays that told another story than the match, as tests under their
 * numbers (tests/cases/README.md).
 */
#include <phalanx/replay.h>
#include <stdlib.h>

#include "harness.h"
#include "little_match.h"

enum { SIDE = 32, UNITS = 16, TICKS = 160, LEAVES_AT = 60 };

typedef struct Bytes {
    uint8_t *data;
    size_t size, capacity;
} Bytes;

static PhxStatus append(void *user, const void *data, size_t size) {
    Bytes *to = user;
    if (to->size + size > to->capacity) {
        to->capacity = 2 * (to->size + size);
        to->data = realloc(to->data, to->capacity);
    }
    memcpy(to->data + to->size, data, size);
    to->size += size;
    return PHX_OK;
}

/* The commands of a tick, the host's leave for player 1 among them; `given` counts them. */
static uint32_t commands_of(const PhxSim *sim, PhxCommand commands[5], uint8_t *bytes, bool leaves) {
    uint32_t count = little_commands(sim, 77, commands, bytes);
    if (!leaves || phx_sim_tick(sim) != LEAVES_AT) return count;
    const PhxCommandData leave = {.type = PHX_COMMAND_LEAVE, .slot = 1};
    uint8_t *at = bytes + (size_t)4 * PHX_COMMAND_SIZE_LIMIT;
    size_t size;
    CHECK_OK(phx_command_encode(&leave, at, PHX_COMMAND_SIZE_LIMIT, &size));
    commands[count++] = (PhxCommand){PHX_SLOT_HOST, 1u << 20, (uint32_t)size, at};
    return count;
}

typedef struct Match {
    uint8_t *blob;
    size_t size;
    Bytes file;
    uint64_t roots[TICKS];
    uint32_t given;
    uint32_t given_at[TICKS];
} Match;

static Match play_and_record(bool leaves) {
    Match match = {0};
    PhxSim *sim;
    PhxReplayWriter *writer;
    PhxError error = {0};
    uint8_t *bytes = malloc((size_t)5 * PHX_COMMAND_SIZE_LIMIT);
    match.blob = little_content(77, SIDE, UNITS, &match.size);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, match.blob, match.size, NULL, &sim, &error));
    CHECK_OK(phx_replay_record_begin((PhxReplaySink){.write = append, .user = &match.file}, sim, match.blob,
                                     match.size, NULL, &writer, &error));
    for (uint32_t t = 0; t < TICKS; t++) {
        PhxCommand commands[5];
        match.given_at[t] = commands_of(sim, commands, bytes, leaves);
        match.given += match.given_at[t];
        CHECK_OK(phx_replay_record_step(writer, sim, commands, match.given_at[t]));
        match.roots[t] = phx_sim_root(sim);
    }
    CHECK_OK(phx_replay_writer_end(writer));
    phx_replay_writer_destroy(writer);
    phx_sim_destroy(sim);
    free(bytes);
    return match;
}

static PhxReplay *open_match(const Match *match) {
    PhxReplay *replay;
    PhxError error = {0};
    CHECK_THAT(phx_replay_open(match->file.data, match->file.size, NULL, &replay, &error) == PHX_OK, "%s",
               error.text);
    return replay;
}

static void end(Match *match) {
    free(match->blob);
    free(match->file.data);
}

/* Case 13 (FAF fa 63): replays diverged where a player left. Leaving is a command of its tick; without it
 * the match is another one from exactly that tick on. */
PHX_TEST(case_13, a_replay_holds_the_leaving_of_a_player_and_verifies_past_it) {
    Match with = play_and_record(true), without = play_and_record(false);
    PhxReplayVerification result;
    PhxReplay *replay = open_match(&with);
    CHECK_OK(phx_replay_verify(replay, NULL, NULL, NULL, &result));
    CHECK_EQ(result.verdict, PHX_REPLAY_VERIFIED);
    CHECK_EQ(result.ticks, TICKS);
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    uint32_t leaves = 0;
    CHECK_OK(phx_replay_cursor_create(replay, &cursor));
    while (phx_replay_cursor_next(cursor, &tick))
        for (uint32_t i = 0; i < tick.command_count; i++) {
            if (tick.commands[i].slot != PHX_SLOT_HOST || tick.commands[i].bytes[0] != PHX_COMMAND_LEAVE)
                continue;
            CHECK_EQ(tick.tick, LEAVES_AT);
            leaves++;
        }
    CHECK_EQ(leaves, 1);
    for (uint32_t t = 0; t < TICKS; t++)
        CHECK_THAT((with.roots[t] == without.roots[t]) == (t < LEAVES_AT), "tick %u", t);
    phx_replay_cursor_destroy(cursor);
    phx_replay_close(replay);
    end(&with);
    end(&without);
}

/* Case 29 (LockstepFramework 88): commands were replayed two frames early, and recorded a second time while
 * they were replayed. A replay of a replay is the same file. */
PHX_TEST(case_29, commands_are_replayed_on_their_tick_and_recording_a_replay_doubles_nothing) {
    Match match = play_and_record(true);
    PhxReplay *replay = open_match(&match);
    PhxReplayCursor *cursor;
    PhxReplayWriter *writer;
    PhxReplayTick tick;
    PhxSim *sim;
    PhxError error = {0};
    Bytes second = {0};
    uint32_t replayed = 0;
    CHECK(match.given > 5);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, match.blob, match.size, NULL, &sim, &error));
    CHECK_OK(phx_replay_record_begin((PhxReplaySink){.write = append, .user = &second}, sim, match.blob,
                                     match.size, NULL, &writer, &error));
    CHECK_OK(phx_replay_cursor_create(replay, &cursor));
    while (phx_replay_cursor_next(cursor, &tick)) {
        CHECK_EQ(tick.tick, phx_sim_tick(sim));
        CHECK_EQ(tick.command_count, match.given_at[tick.tick]);
        replayed += tick.command_count;
        CHECK_OK(phx_replay_record_step(writer, sim, tick.commands, tick.command_count));
        CHECK_THAT(phx_sim_root(sim) == match.roots[tick.tick], "tick %u", tick.tick);
    }
    CHECK_OK(phx_replay_writer_end(writer));
    CHECK_EQ(replayed, match.given);
    CHECK(second.size == match.file.size && memcmp(second.data, match.file.data, second.size) == 0);
    phx_replay_cursor_destroy(cursor);
    phx_replay_writer_destroy(writer);
    phx_sim_destroy(sim);
    phx_replay_close(replay);
    free(second.data);
    end(&match);
}

static PhxReplayPlayback *playback_of(const PhxReplay *replay) {
    PhxReplayPlayback *playback;
    PhxError error = {0};
    CHECK_OK(phx_replay_playback_create(replay, NULL, &playback, &error));
    return playback;
}

static void play(PhxReplayPlayback *playback, const Match *match, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++) {
        PhxReplayTick tick;
        CHECK_OK(phx_replay_playback_step(playback, &tick));
        CHECK_THAT(phx_sim_root(phx_replay_playback_sim(playback)) == match->roots[tick.tick], "tick %u",
                   tick.tick);
    }
}

/* Case 31 (widelands 6094): a replay that was restarted in one process diverged. */
PHX_TEST(case_31, a_replay_restarted_in_one_process_plays_the_same) {
    Match match = play_and_record(true), other = play_and_record(false);
    PhxReplay *replay = open_match(&match), *another = open_match(&other);
    PhxReplayPlayback *first = playback_of(replay);
    play(first, &match, TICKS / 2); /* left in the middle, and still there while it is restarted */
    PhxReplayPlayback *second = playback_of(replay), *beside = playback_of(another);
    for (uint32_t t = 0; t < TICKS; t++) {
        play(second, &match, 1);
        play(beside, &other, 1);
    }
    phx_replay_playback_destroy(second);
    play(first, &match, TICKS / 2);
    phx_replay_playback_destroy(first);
    first = playback_of(replay);
    play(first, &match, TICKS);
    phx_replay_playback_destroy(first);
    phx_replay_playback_destroy(beside);
    phx_replay_close(replay);
    phx_replay_close(another);
    end(&match);
    end(&other);
}
