/* replay_crash.c: whatever ends a recording, the file opens, says how many ticks it kept and what was lost,
 * and verifies. A recorder is killed at random moments, and by the step that it records; a file is cut at
 * every border of a record and at 1,000 random bytes (100 under a sanitizer). PHX_LONG=1: 200 kills instead
 * of 20 (10 under a sanitizer).
 */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit/replay_little.h"
#include "replay/record.h"

static const LittlePlan small = {.seed = 3, .side = 20, .units = 4, .keyframes = {.spacing = 25}};

/* ---- cut ---- */

/* Bytes of header and content: with fewer there is no match. */
static size_t begin_of(const LittleRecord *match) {
    PhxReplayRecord record;
    uint64_t at = PHX_REPLAY_PREAMBLE;
    do {
        CHECK_OK(phx_replay_record_read(match->bytes, match->size, at, &record, NULL));
        at = record.next;
    } while (record.kind != PHX_REPLAY_KIND_CONTENT);
    return (size_t)at;
}

/* What a cut file must say, and that its last state is the played one. `verify`: all of it, else by seeking.
 */
static void check_cut(const LittleRecord *match, size_t cut, bool verify) {
    PhxReplay *replay = little_open(match->bytes, cut);
    const PhxReplayInfo *info = phx_replay_info(replay);
    uint32_t ticks = 0;
    while (ticks < match->ticks && match->tick_end[ticks + 1] <= cut) ticks++;
    const bool begun = cut >= begin_of(match);
    CHECK_THAT(info->state == (cut == match->size ? PHX_REPLAY_COMPLETE : PHX_REPLAY_CUT), "cut at %zu", cut);
    CHECK_THAT(info->kept_bytes + info->lost_bytes == cut && info->lost_bytes < match->size, "cut at %zu",
               cut);
    if (begun) {
        CHECK_THAT(info->ticks == ticks, "cut at %zu: %u ticks, not %u", cut, info->ticks, ticks);
        CHECK_THAT(info->final_root == match->roots[ticks], "cut at %zu", cut);
        CHECK_THAT(cut == match->size || info->fault.offset == info->kept_bytes, "cut at %zu", cut);
        PhxReplayPlayback *playback = little_playback(replay);
        CHECK_OK(phx_replay_playback_seek(playback, ticks, NULL));
        CHECK_THAT(phx_sim_root(phx_replay_playback_sim(playback)) == match->roots[ticks], "cut at %zu", cut);
        CHECK_THAT(phx_replay_playback_stepped(playback) <= 25, "cut at %zu", cut);
        phx_replay_playback_destroy(playback);
    }
    if (verify) {
        const PhxReplayVerification result = little_verify(replay);
        CHECK_THAT(result.verdict == (begun ? PHX_REPLAY_VERIFIED : PHX_REPLAY_UNREADABLE), "cut at %zu: %s",
                   cut, result.error.text);
        CHECK_THAT(result.ticks == (begun ? ticks : 0) && result.keyframes == info->keyframes, "cut at %zu",
                   cut);
    }
    phx_replay_close(replay);
}

PHX_TEST(replay_crash, file_cut_at_any_border_or_byte_keeps_what_stands_before) {
    LittlePlan plan = small;
    plan.ticks = 150;
    LittleRecord match = little_record(plan);
    PhxReplayRecord record;
    uint64_t at = PHX_REPLAY_PREAMBLE, seed = 99;
    uint32_t borders = 0, keyframes = 0;
    for (; phx_replay_record_read(match.bytes, match.size, at, &record, NULL) == PHX_OK; borders++) {
        keyframes += record.kind == PHX_REPLAY_KIND_KEYFRAME;
        check_cut(&match, (size_t)record.offset, true);
        at = record.next;
        if (at == match.size) break;
    }
    check_cut(&match, match.size, true);
    CHECK(borders > 155 && keyframes == 6);
    const uint32_t cuts = test_count(100, 1000, 1000);
    for (uint32_t i = 0; i < cuts; i++)
        check_cut(&match, (size_t)test_range(&seed, 0, (int64_t)match.size - 1), i % 10 == 0);
    little_record_free(&match);
}

/* ---- killed ---- */

/* Plays and records into a file until somebody ends it; never returns. */
static void record_forever(const char *path, uint64_t seed) {
    size_t size;
    uint8_t *content = little_content(seed, small.side, small.units, &size);
    const PhxSimConfig config = {0};
    PhxCommand commands[4];
    uint8_t *bytes = malloc((size_t)4 * PHX_COMMAND_SIZE_LIMIT);
    PhxReplayWriter *writer;
    PhxReplayFile *file;
    PhxSim *sim;
    if (phx_sim_create(&config, content, size, NULL, &sim, NULL) != PHX_OK ||
        phx_replay_file_create(path, NULL, &file, NULL) != PHX_OK ||
        phx_replay_record_begin(phx_replay_file_sink(file), sim, content, size, NULL, &writer, NULL) !=
            PHX_OK)
        _exit(3);
    phx_replay_writer_keyframes(writer, &small.keyframes);
    while (phx_sim_tick(sim) < 100000) {
        const uint32_t count = little_commands(sim, seed, commands, bytes);
        if (phx_replay_record_step(writer, sim, commands, count) != PHX_OK) _exit(4);
    }
    _exit(5);
}

/* Until the recorder writes, however slow the machine, or for ten seconds. */
static void wait_for_bytes(const char *path) {
    struct stat file = {0};
    for (int i = 0; i < 10000 && (stat(path, &file) != 0 || file.st_size == 0); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

PHX_TEST(replay_crash, recorder_killed_at_any_moment_leaves_a_replay_that_verifies) {
    const uint32_t kills = test_count(10, 20, 200);
    uint64_t seed = 17, played = 0;
    uint32_t keyframes = 0;
    char path[4096];
    snprintf(path, sizeof path, "%s/killed.phxr", test_scratch("replay_crash"));
    for (uint32_t i = 0; i < kills; i++) {
        const struct timespec moment = {.tv_nsec = test_range(&seed, 0, 60000000)};
        int how;
        (void)remove(path);
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) record_forever(path, i);
        if (i % 8 != 0) wait_for_bytes(path); /* else it may be killed before */
        nanosleep(&moment, NULL);
        CHECK_EQ(kill(child, SIGKILL), 0);
        CHECK_EQ(waitpid(child, &how, 0), child);
        CHECK_THAT(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL, "kill %u: status %d", i, how);
        PhxReplay *replay;
        PhxError error = {0};
        const PhxStatus status = phx_replay_load(path, 0, &replay, &error);
        if (status == PHX_ERROR_IO) continue; /* killed before it made its file */
        CHECK_THAT(status == PHX_OK, "kill %u: %s", i, error.text);
        const PhxReplayInfo *info = phx_replay_info(replay);
        CHECK_THAT(info->state == PHX_REPLAY_CUT && info->fault.text[0], "kill %u", i);
        CHECK_THAT(info->kept_bytes + info->lost_bytes == info->bytes, "kill %u", i);
        if (info->has_content) {
            const PhxReplayVerification result = little_verify(replay);
            CHECK_THAT(result.verdict == PHX_REPLAY_VERIFIED && result.ticks == info->ticks, "kill %u: %s", i,
                       result.error.text);
            CHECK_THAT(result.keyframes == info->keyframes, "kill %u", i);
            played += info->ticks, keyframes += info->keyframes;
        }
        phx_replay_close(replay);
    }
    CHECK_THAT(played > kills * 10u && keyframes > 0, "%" PRIu64 " ticks, %u keyframes", played, keyframes);
}

/* ---- killed by the step ---- */

/* Loops of the sim that end the program once they are told to: a step that crashes. */
typedef struct Bomb {
    bool armed;
} Bomb;
static void explode(void *user, uint32_t count, uint32_t grain, PhxRangeFn fn, void *context) {
    const Bomb *bomb = user;
    (void)grain;
    if (bomb->armed) (void)raise(SIGKILL);
    if (count > 0) fn(context, 0, count, 0);
}

/* Records until a tick at or after `tick` that has commands, and dies in its step; never returns. */
static void record_until_step(const char *path, uint32_t tick, uint32_t flush_ticks) {
    size_t size;
    uint8_t *content = little_content(small.seed, small.side, small.units, &size);
    Bomb bomb = {0};
    const PhxSimConfig config = {.jobs = {.parallel_for = explode, .workers = 1, .user = &bomb}};
    const PhxReplayFileOptions options = {.flush_ticks = flush_ticks};
    PhxCommand commands[4];
    uint8_t *bytes = malloc((size_t)4 * PHX_COMMAND_SIZE_LIMIT);
    PhxReplayWriter *writer;
    PhxReplayFile *file;
    PhxSim *sim;
    if (phx_sim_create(&config, content, size, NULL, &sim, NULL) != PHX_OK ||
        phx_replay_file_create(path, &options, &file, NULL) != PHX_OK ||
        phx_replay_record_begin(phx_replay_file_sink(file), sim, content, size, NULL, &writer, NULL) !=
            PHX_OK)
        _exit(3);
    while (phx_sim_tick(sim) < 100000) {
        const uint32_t count = little_commands(sim, small.seed, commands, bytes);
        bomb.armed = count > 0 && phx_sim_tick(sim) >= tick;
        if (phx_replay_record_step(writer, sim, commands, count) != PHX_OK) _exit(4);
    }
    _exit(5);
}

PHX_TEST(replay_crash, step_that_kills_its_program_leaves_the_commands_that_did_it) {
    static const uint32_t ticks[] = {0, 30, 77}, flush_ticks[] = {0, 1000};
    char path[4096];
    snprintf(path, sizeof path, "%s/step.phxr", test_scratch("replay_crash"));
    for (size_t i = 0; i < 6; i++) {
        const uint32_t tick = ticks[i / 2];
        int how;
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) record_until_step(path, tick, flush_ticks[i % 2]);
        CHECK_EQ(waitpid(child, &how, 0), child);
        CHECK_THAT(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL, "case %zu: status %d", i, how);
        PhxReplay *replay;
        CHECK_OK(phx_replay_load(path, 0, &replay, NULL));
        const PhxReplayInfo *info = phx_replay_info(replay);
        CHECK_THAT(info->ticks >= tick && info->ticks < tick + 100, "case %zu: %u ticks", i, info->ticks);
        CHECK_THAT(info->pending_commands > 0 && info->lost_bytes == 0, "case %zu: %u commands", i,
                   info->pending_commands);
        /* They are those that the match gives at that tick. */
        PhxReplayPlayback *playback = little_playback(replay);
        PhxReplayCursor *cursor;
        PhxReplayTick last;
        PhxCommand commands[4];
        uint8_t *bytes = malloc((size_t)4 * PHX_COMMAND_SIZE_LIMIT);
        CHECK_OK(phx_replay_playback_seek(playback, info->ticks, NULL));
        const uint32_t count =
            little_commands(phx_replay_playback_sim(playback), small.seed, commands, bytes);
        CHECK_OK(phx_replay_cursor_create(replay, &cursor));
        CHECK_OK(phx_replay_cursor_seek(cursor, info->ticks));
        CHECK(phx_replay_cursor_next(cursor, &last) && !last.complete && last.command_count == count);
        uint64_t want = 0, found = 0;
        for (uint32_t c = 0; c < count; c++) {
            want += commands[c].size + commands[c].sequence + commands[c].bytes[0];
            found += last.commands[c].size + last.commands[c].sequence + last.commands[c].bytes[0];
        }
        CHECK_EQ(found, want);
        phx_replay_cursor_destroy(cursor);
        phx_replay_playback_destroy(playback);
        phx_replay_close(replay);
        free(bytes);
    }
}
