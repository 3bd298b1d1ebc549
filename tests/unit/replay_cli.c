/* replay_cli.c: phx replay as a person or a script meets it: every word on a whole replay, on one whose
 * recorder was killed, and on what is none; exit codes that tell verified, diverged, unreadable and another
 * revision apart.
 */
#include <phalanx/replay.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "phx/cli.h"
#include "replay/pack.h"
#include "replay/record.h"
#include "run_phx.h"

enum { TICKS = 500 };

typedef RunPhx Result;

static const char *folder(void) {
    static char path[512];
    if (path[0] == 0) snprintf(path, sizeof path, "%s", test_scratch("replay_cli"));
    return path;
}

static const char *in_folder(const char *name) {
    static char path[2][600];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder(), name);
    return path[turn];
}

static Result phx(const char *words) {
    return run_phx(&(RunPhxOptions){.outputs = folder(), .folder = folder()}, words);
}

/* Runs it, wants an exit code, and a word in what it says (on standard output for 0, else on either). */
static void wants(const char *words, int code, const char *says) {
    Result result = phx(words);
    CHECK_THAT(result.code == code, "phx %s: exit %d: %s%s", words, result.code, result.out, result.err);
    const bool said = strstr(result.out, says) || (code != 0 && strstr(result.err, says));
    CHECK_THAT(said, "phx %s: \"%s\" in: %s%s", words, says, result.out, result.err);
    run_phx_release(&result);
}

/* Wants a word on standard error, whatever the exit code. */
static void warns(const char *words, int code, const char *says) {
    Result result = phx(words);
    CHECK_THAT(result.code == code && strstr(result.err, says), "phx %s: exit %d, \"%s\" in: %s", words,
               result.code, says, result.err);
    run_phx_release(&result);
}

/* Runs it with --json; its object is the caller's. */
static json_t *object_of(const char *words, int code) {
    json_error_t error;
    Result result = phx(words);
    CHECK_THAT(result.code == code, "phx %s: exit %d: %s", words, result.code, result.err);
    json_t *object = json_loads(result.out, 0, &error);
    CHECK_THAT(object, "phx %s: %s: %s", words, error.text, result.out);
    run_phx_release(&result);
    return object;
}

static json_int_t number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    CHECK_THAT(json_is_integer(value), "%s", key);
    return json_integer_value(value);
}

static const char *text(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    CHECK_THAT(json_is_string(value), "%s", key);
    return json_string_value(value);
}

static void write_bytes(const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(in_folder(name), "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size);
    CHECK_EQ(fclose(file), 0);
}

static uint8_t *whole_replay(size_t *size) {
    uint8_t *bytes = (uint8_t *)test_read_file(in_folder("whole.phxr"), size);
    if (bytes) return bytes;
    char words[900];
    snprintf(words, sizeof words, "run %s --ticks %d --bot wander --replay whole.phxr --json",
             test_source("tests/scenario/duel.yaml"), TICKS);
    wants(words, 0, "root");
    bytes = (uint8_t *)test_read_file(in_folder("whole.phxr"), size);
    CHECK(bytes);
    return bytes;
}

/* Changes one byte of the first record of a kind behind `after`, and mends the checksum. */
static void forge(uint8_t *bytes, size_t size, uint32_t kind, uint32_t number_of, size_t byte) {
    PhxReplayRecord record;
    for (uint64_t at = PHX_REPLAY_PREAMBLE; at < size; at = record.next) {
        CHECK_OK(phx_replay_record_read(bytes, size, at, &record, NULL));
        if (record.kind != kind || number_of-- > 0) continue;
        uint8_t *payload = malloc(record.length);
        memcpy(payload, record.payload, record.length);
        payload[byte] ^= 1;
        PhxWriter writer = phx_writer_make(bytes + at, size - (size_t)at);
        phx_replay_record_write(&writer, record.type, payload, record.length);
        free(payload);
        return;
    }
    phx_test_fail(__FILE__, __LINE__, "no such record");
}

PHX_TEST(replay_cli, every_word_has_help_with_examples_and_refuses_wrong_use) {
    static const struct {
        const char *word, *rest;
    } words[] = {{"info", ""},     {"verify", ""},        {"seek", ""},        {"dump", ""},
                 {"commands", ""}, {"cut", " -o x.phxr"}, {"diff", " y.phxr"}, {"fork", " --at 1 -o x.phxr"},
                 {"png", " y.png"}};
    char line[200];
    wants("replay --help", 0, "usage: phx replay WORD");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        snprintf(line, sizeof line, "replay %s --help", words[i].word);
        wants(line, 0, "Examples:\n  phx replay ");
        snprintf(line, sizeof line, "replay %s", words[i].word);
        wants(line, 2, "an argument is missing");
        snprintf(line, sizeof line, "replay %s --nonsense x", words[i].word);
        wants(line, 2, "unknown option");
        snprintf(line, sizeof line, "replay %s nowhere.phxr%s", words[i].word, words[i].rest);
        wants(line, 2, "nowhere.phxr: No such file");
    }
    wants("replay", 2, "a word is missing");
    wants("replay play x.phxr", 2, "play: info, verify, seek");
}

PHX_TEST(replay_cli, words_agree_about_a_whole_replay) {
    size_t size;
    free(whole_replay(&size));
    json_t *info = object_of("replay info whole.phxr --json", 0);
    json_t *verified = object_of("replay --json verify whole.phxr", 0); /* an option may stand first */
    json_t *listed = object_of("replay commands --json whole.phxr", 0);
    json_t *last = object_of("replay seek whole.phxr --json", 0);
    json_t *early = object_of("replay seek whole.phxr --tick 333 --json", 0);
    json_t *dump = object_of("replay dump whole.phxr --tick 333 --json", 0);
    CHECK_STR(text(info, "state"), "complete");
    CHECK_EQ(number(info, "ticks"), TICKS);
    CHECK_STR(text(verified, "verdict"), "verified");
    CHECK_EQ(number(verified, "ticks"), TICKS);
    CHECK_STR(text(verified, "root"), text(info, "root"));
    CHECK_STR(text(last, "root"), text(info, "root"));
    CHECK_EQ(number(last, "tick"), TICKS);
    CHECK_EQ(number(verified, "keyframes"), 2);
    CHECK_EQ(number(listed, "count"), number(info, "commands"));
    CHECK_EQ((json_int_t)json_array_size(json_object_get(listed, "commands")), number(info, "commands"));
    CHECK_EQ(number(early, "steps"), 133);
    CHECK_STR(text(early, "root"), text(early, "recorded_root"));
    CHECK_STR(text(dump, "root"), text(early, "root"));
    CHECK(json_array_size(json_object_get(dump, "lines")) > 100);
    wants("replay dump whole.phxr --tick 333", 0, "match[0].tick = 333");
    wants("replay commands whole.phxr --to 50", 0, "move to (");
    wants("replay commands whole.phxr --from 9 --to 99999", 2, "the replay has the ticks 0 to 500");
    wants("replay commands whole.phxr --from 9 --to 8", 2, "--from: 9 is behind --to 8");
    warns("replay commands whole.phxr --slot 7", 0, "slot 7 is no player of this match, which has 2");
    wants("replay seek --help", 0, "a desync at tick 50 is seen at 51");
    wants("replay dump --help", 0, "a desync at tick 50 is seen at 51");
    wants("replay seek whole.phxr --tick 501", 2, "the replay has the ticks 0 to 500");
    wants("replay info whole.phxr", 0, "keyframes  2, at ticks 200 .. 400, indexed");
    json_decref(info), json_decref(verified), json_decref(listed), json_decref(last), json_decref(early);
    json_decref(dump);
}

PHX_TEST(replay_cli, killed_recorder_s_replay_serves_every_word_and_is_mended) {
    size_t size;
    uint8_t *bytes = whole_replay(&size);
    uint64_t seed = 3;
    for (int i = 0; i < 4; i++) {
        const size_t cut = (size_t)test_range(&seed, (int64_t)size / 2, (int64_t)size - 40);
        write_bytes("killed.phxr", bytes, cut);
        json_t *info = object_of("replay info killed.phxr --json", 0);
        json_t *verified = object_of("replay verify killed.phxr --json", 0);
        CHECK_STR(text(info, "state"), "cut");
        CHECK(number(info, "ticks") > TICKS / 4 && number(info, "ticks") < TICKS + 1);
        CHECK_EQ(number(verified, "ticks"), number(info, "ticks"));
        CHECK_EQ(number(verified, "lost_bytes"), number(info, "lost_bytes"));
        CHECK(strstr(text(verified, "fault"), "bytes end at"));
        json_t *last = object_of("replay seek killed.phxr --json -q", 0);
        CHECK_STR(text(last, "root"), text(info, "root"));
        wants("replay dump killed.phxr --tick 100 -q", 0, "match[0].tick = 100");
        wants("replay commands killed.phxr", 0, "move to (");
        warns("replay commands killed.phxr", 0, "the replay is cut at byte");
        json_t *commands = object_of("replay commands killed.phxr --json -q", 0);
        CHECK(strstr(text(commands, "fault"), "bytes end at"));
        json_decref(commands);
        wants("replay diff whole.phxr killed.phxr", 0, "equal: ");
        wants("replay fork killed.phxr --at 60 --ticks 20 -o forked.phxr", 0, "80 ticks in all");
        if (i == 0) wants("replay png killed.phxr x.png --tick 5 --threads 2", 0, "x.png: tick 5");
        wants("replay cut killed.phxr -o mended.phxr", 0, "bytes lost");
        json_t *mended = object_of("replay verify mended.phxr --json", 0);
        CHECK_STR(text(mended, "state"), "complete");
        CHECK_EQ(number(mended, "ticks"), number(info, "ticks"));
        CHECK_STR(text(mended, "root"), text(info, "root"));
        json_decref(info), json_decref(verified), json_decref(last), json_decref(mended);
    }
    free(bytes);
}

PHX_TEST(replay_cli, cut_packs_a_replay_otherwise_and_back) {
    size_t size, none_size, back_size;
    uint8_t *bytes = whole_replay(&size);
    wants("replay cut whole.phxr --pack none -o none.phxr", 0, "500 ticks of the 500");
    uint8_t *none = (uint8_t *)test_read_file(in_folder("none.phxr"), &none_size);
    json_t *verified = object_of("replay verify none.phxr --json", 0);
    json_t *info = object_of("replay info whole.phxr --json", 0);
    CHECK_STR(text(verified, "root"), text(info, "root"));
    CHECK_EQ(number(verified, "keyframes"), 2);
    if (phx_replay_pack_known(PHX_REPLAY_ZSTD)) {
        CHECK_THAT(none_size > size, "%zu, packed %zu", none_size, size);
        wants("replay cut none.phxr --pack zstd -o back.phxr", 0, "500 ticks of the 500");
        uint8_t *back = (uint8_t *)test_read_file(in_folder("back.phxr"), &back_size);
        CHECK(back_size == size && memcmp(back, bytes, size) == 0);
        free(back);
    } else {
        CHECK(none_size == size && memcmp(none, bytes, size) == 0);
        write_bytes("back.phxr", bytes, size);
        wants("replay cut none.phxr --pack zstd -o back.phxr", 2, "this build lacks Zstandard");
        uint8_t *back = (uint8_t *)test_read_file(in_folder("back.phxr"), &back_size);
        CHECK(back_size == size && memcmp(back, bytes, size) == 0); /* what stood there stands */
        free(back);
    }
    /* Without keyframes: the same match in fewer bytes, and any jump still arrives. */
    size_t bare_size;
    wants("replay cut whole.phxr --no-keyframes -o bare.phxr", 0, "500 ticks of the 500");
    free(test_read_file(in_folder("bare.phxr"), &bare_size));
    CHECK_THAT(bare_size < size, "%zu, with keyframes %zu", bare_size, size);
    json_t *bare = object_of("replay verify bare.phxr --json", 0);
    CHECK_STR(text(bare, "root"), text(info, "root"));
    CHECK_EQ(number(bare, "keyframes"), 0);
    wants("replay cut none.phxr --no-keyframes --pack none -o bare.phxr", 0, "500 ticks of the 500");
    json_decref(bare);
    bare = object_of("replay verify bare.phxr --json", 0);
    CHECK_EQ(number(bare, "keyframes"), 0);
    CHECK_EQ(number(bare, "ticks"), 500);
    json_decref(bare);
    CHECK(access(in_folder("none.phxr.part"), F_OK) != 0 && access(in_folder("back.phxr.part"), F_OK) != 0);
    wants("replay cut whole.phxr -o missing/x.phxr", 2, "missing/x.phxr.part: No such file");
    wants("replay cut whole.phxr --to 9 -o /dev/null", 0, "9 ticks of the 500");
    wants("replay cut whole.phxr --pack lzma -o x.phxr", 2, "--pack: lzma: none or zstd");
    free(bytes), free(none);
    json_decref(verified), json_decref(info);
}

PHX_TEST(replay_cli, verify_tells_four_verdicts_apart_in_many_files_at_a_time) {
    static const char *const names[] = {"good", "diverged", "garbled", "other", "liar"};
    size_t size;
    uint8_t *bytes = whole_replay(&size), *copy = malloc(size);
    char dir[700];
    snprintf(dir, sizeof dir, "mkdir -p %s && rm -f %s/*", in_folder("many"), in_folder("many"));
    CHECK_EQ(system(dir), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[64];
        memcpy(copy, bytes, size);
        if (i == 1) forge(copy, size, PHX_REPLAY_KIND_HASHES, 123, 20);
        if (i == 2) copy[size / 2] ^= 4;
        if (i == 3) forge(copy, size, PHX_REPLAY_KIND_HEADER, 0, 0);
        if (i == 4) forge(copy, size, PHX_REPLAY_KIND_KEYFRAME, 1, 12); /* the size of the snapshot */
        snprintf(name, sizeof name, "many/%s.phxr", names[i]);
        write_bytes(name, copy, size);
    }
    wants("replay verify many/good.phxr", 0, "verified: 500 ticks");
    wants("replay verify many/diverged.phxr", 1, "diverges at tick 123");
    wants("replay verify many/garbled.phxr", 2, "unreadable");
    wants("replay verify many/other.phxr", 3, "revision");
    wants("replay verify many/liar.phxr", 2, "keyframe");
    wants("replay seek many/other.phxr", 3, "revision");
    wants("replay commands many/other.phxr", 0, "move to (");
    wants("replay cut many/other.phxr --to 9 -o many/x.txt", 0, "9 ticks of the 500");
    wants("replay seek many/liar.phxr --tick 450 --quiet", 0, "250 ticks computed from a keyframe");
    warns("replay seek many/liar.phxr --tick 450", 0, "the keyframe of tick 400 at byte");
    warns("replay seek many/liar.phxr --tick 450", 0, "was passed over");
    wants("replay fork many/liar.phxr --at 450 -o many/x.txt", 2, "no fork at tick 450: unreadable");
    wants("replay verify many/good.phxr many/other.phxr", 3, "2 files: 1 verified");
    wants("replay verify many/other.phxr many/garbled.phxr", 2,
          "0 verified, 0 diverged, 1 unreadable, 1 not");
    Result one = phx("replay verify many"), three = phx("replay verify -j 3 many");
    CHECK_EQ(one.code, 1);
    CHECK_EQ(three.code, 1);
    CHECK_STR(one.out, three.out); /* the same lines in the same order */
    CHECK_THAT(strstr(one.out, "many/diverged.phxr: diverges at tick 123 in table") &&
                   strstr(one.out, "many/good.phxr: verified: ") &&
                   strstr(one.out, "5 files: 1 verified, 1 diverged, 2 unreadable, 1 not verifiable here\n"),
               "%s", one.out);
    json_t *object = object_of("replay verify --json -j 2 many nowhere.phxr", 1);
    CHECK_EQ(json_array_size(json_object_get(object, "files")), 6);
    CHECK_EQ(number(json_object_get(object, "summary"), "unreadable"), 3);
    CHECK(strstr(text(json_array_get(json_object_get(object, "files"), 0), "reason"), "tick 123"));
    CHECK(strstr(text(json_array_get(json_object_get(object, "files"), 5), "reason"), "No such file"));
    json_decref(object);
    free(one.out), free(one.err), free(three.out), free(three.err), free(bytes), free(copy);
}

PHX_TEST(replay_cli, fork_goes_on_alike_or_otherwise_and_diff_names_where) {
    size_t size;
    free(whole_replay(&size));
    wants("replay fork whole.phxr --at 200 --ticks 100 -o same.phxr", 0, "300 ticks in all");
    wants("replay diff whole.phxr same.phxr", 0, "equal: 300 ticks");
    wants("replay fork whole.phxr --at 200 --ticks 100 --bot 1=idle -o other.phxr", 0, "300 ticks in all");
    wants("replay verify -j 2 same.phxr other.phxr", 0, "2 verified");
    json_t *diff = object_of("replay diff whole.phxr other.phxr --json", 1);
    json_t *listed = object_of("replay commands whole.phxr --from 200 --slot 1 --json", 0);
    const json_t *first = json_array_get(json_object_get(listed, "commands"), 0);
    CHECK_EQ(number(diff, "commands_tick"), number(first, "tick")); /* the first that isn't given any more */
    CHECK(number(diff, "tick") >= number(diff, "commands_tick"));
    CHECK(json_array_size(json_object_get(diff, "tables")) > 0);
    CHECK(number(diff, "difference_count") > 0);
    json_t *difference = json_array_get(json_object_get(diff, "differences"), 0);
    CHECK(text(difference, "table")[0] && text(difference, "column")[0]);
    CHECK(strcmp(text(difference, "a"), text(difference, "b")) != 0);
    uint32_t checked = 0;
    for (size_t i = 0; i < json_array_size(json_object_get(diff, "differences")); i++) {
        difference = json_array_get(json_object_get(diff, "differences"), i);
        const bool heading = strcmp(text(difference, "column"), "heading") == 0;
        if (!heading && strncmp(text(difference, "column"), "vel_", 4) != 0) continue;
        const size_t digits = heading ? 4 : 8; /* two for each byte, also of what is below zero */
        CHECK_EQ(strlen(text(difference, "a")), 2 + digits);
        CHECK_EQ(strlen(text(difference, "b")), 2 + digits);
        checked++;
    }
    CHECK(checked > 0);
    wants("replay fork whole.phxr --at 200 -o at.phxr", 0, "200 ticks in all");
    wants("replay info at.phxr", 0, "forked from whole.phxr at tick 200");
    wants("replay fork whole.phxr --at 200 -o whole.phxr", 2, "this is the replay that is read");
    wants("replay fork whole.phxr --at 200", 2, "-o: the file to write is missing");
    wants("replay fork whole.phxr -o x.phxr", 2, "--at: the tick is missing");
    wants("replay fork whole.phxr --at 9 -o x.phxr --bot 7=wander", 2, "the match has the players 0 to 1");
    wants("replay fork whole.phxr --at 9 -o x.phxr --bot nobody", 2, "nobody: no such bot");
    json_decref(diff), json_decref(listed);
}

/* Two recordings of the same commands with other hashes: the tick and the table are named, and whose side
 * this program is on. */
PHX_TEST(replay_cli, diff_says_which_of_two_recordings_is_computed_here) {
    size_t size;
    uint8_t *bytes = whole_replay(&size);
    forge(bytes, size, PHX_REPLAY_KIND_HASHES, 77, 4); /* the root */
    write_bytes("forged.phxr", bytes, size);
    wants("replay diff whole.phxr forged.phxr", 1, "hashes differ first at tick 77, in: the root alone");
    wants("replay diff whole.phxr forged.phxr", 1, "this program computes what whole.phxr says");
    json_t *diff = object_of("replay diff forged.phxr whole.phxr --json", 1);
    CHECK_STR(text(diff, "computed_here"), "b");
    json_decref(diff);
    forge(bytes, size, PHX_REPLAY_KIND_HEADER, 0, 0);
    write_bytes("revision.phxr", bytes, size);
    wants("replay diff whole.phxr revision.phxr", 1, "different simulation revisions");
    free(bytes);
}

/* whole.phxr's first 99 ticks, then the hashes of another match's tick 99, and that match's state behind it
 * as evidence: what a recorder leaves whose machine went astray. */
static void write_astray(const char *name) {
    size_t size;
    PhxReplay *whole, *other;
    PhxReplayPlayback *playback;
    PhxReplayFile *file;
    PhxReplayWriter *writer;
    free(whole_replay(&size));
    wants("replay fork whole.phxr --at 0 --ticks 100 --bot idle -o idle.phxr", 0, "100 ticks in all");
    CHECK_OK(phx_replay_load(in_folder("whole.phxr"), 0, &whole, NULL));
    CHECK_OK(phx_replay_load(in_folder("idle.phxr"), 0, &other, NULL));
    CHECK_OK(phx_replay_playback_create(other, NULL, &playback, NULL));
    CHECK_OK(phx_replay_playback_seek(playback, 100, NULL));
    const PhxSim *sim = phx_replay_playback_sim(playback);
    uint8_t *bytes = malloc(phx_sim_snapshot_size(sim));
    CHECK_OK(phx_sim_snapshot(sim, bytes, phx_sim_snapshot_size(sim), &size));
    CHECK_OK(phx_replay_file_create(in_folder(name), NULL, &file, NULL));
    CHECK_OK(phx_replay_writer_continue(phx_replay_file_sink(file), whole, 99, NULL, &writer, NULL));
    CHECK_OK(phx_replay_writer_hashes(writer, phx_sim_root(sim), phx_sim_table_hashes(sim)));
    CHECK_OK(phx_replay_writer_evidence(writer, PHX_REPLAY_NO_SLOT, 100, phx_sim_root(sim), bytes, size));
    CHECK_OK(phx_replay_writer_end(writer));
    phx_replay_writer_destroy(writer);
    CHECK_OK(phx_replay_file_close(file));
    free(bytes);
    phx_replay_playback_destroy(playback);
    phx_replay_close(whole), phx_replay_close(other);
}

PHX_TEST(replay_cli, state_that_the_recorder_did_not_have_is_never_given_for_its_own) {
    write_astray("astray.phxr");
    json_t *idle = object_of("replay dump idle.phxr --tick 100 --json", 0);
    json_t *whole = object_of("replay dump whole.phxr --tick 100 --json", 0);
    json_t *computed = object_of("replay dump astray.phxr --tick 100 --json", 1);
    json_t *recorded = object_of("replay dump astray.phxr --tick 100 --recorded --json", 0);
    CHECK(json_equal(json_object_get(computed, "lines"), json_object_get(whole, "lines")));
    CHECK(json_equal(json_object_get(recorded, "lines"), json_object_get(idle, "lines")));
    CHECK_STR(text(computed, "recorded_root"), text(idle, "root"));
    CHECK_STR(text(recorded, "root"), text(idle, "root"));
    warns("replay dump astray.phxr --tick 100", 1, text(whole, "root"));
    warns("replay dump astray.phxr --tick 100", 1, text(idle, "root"));
    warns("replay seek astray.phxr --tick 100", 1, "was kept: phx replay dump --recorded");
    wants("replay dump astray.phxr --tick 99 --recorded", 0, "match[0].tick = 99"); /* alike there */
    json_decref(idle), json_decref(whole), json_decref(computed), json_decref(recorded);

    json_t *refused = object_of("replay fork astray.phxr --at 100 --ticks 5 -o never.phxr --json", 1);
    CHECK_EQ(number(refused, "tick"), 99);
    CHECK(json_array_size(json_object_get(refused, "tables")) > 0);
    warns("replay fork astray.phxr --at 100 -o never.phxr", 1, "no fork at tick 100: diverges at tick 99 in");
    CHECK(access(in_folder("never.phxr"), F_OK) != 0);
    wants("replay fork astray.phxr --at 99 --ticks 5 -o fine.phxr", 0, "104 ticks in all");
    json_decref(refused);

    wants("replay diff whole.phxr astray.phxr", 1, "phx bisect whole.phxr astray.phxr names");
    wants("bisect whole.phxr astray.phxr", 1, "unit.");
}
