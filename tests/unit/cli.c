/* cli.c: the command line as a person or a script meets it: exit codes, help, messages, JSON, files. Each
 * call runs in a process of its own, with its outputs in files. */
#include "phx/cli.h"

#include "harness.h"
#include "run_phx.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef RunPhx Result;

static void release(Result *result) { run_phx_release(result); }

/* Bytes that a file of the next calls may have, as on a full disk; 0: no limit. */
static rlim_t file_limit;

static void limit_files(void) {
    if (file_limit == 0) return;
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {.rlim_cur = file_limit, .rlim_max = file_limit};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(98);
}

static Result phx(const char *words) { return run_phx(&(RunPhxOptions){.in_child = limit_files}, words); }

/* "%S" becomes the folder of the scenarios, "%T" a scratch folder. */
static const char *expand(const char *words) {
    static char line[2048];
    size_t at = 0;
    for (; *words != 0; words++) {
        if (words[0] != '%') {
            line[at++] = *words;
            continue;
        }
        const char *path = *++words == 'S' ? test_source("tests/scenario") : test_scratch("cli-files");
        at += (size_t)snprintf(line + at, sizeof line - at, "%s", path);
    }
    line[at] = 0;
    return line;
}

static void write_file(const char *name, const char *text, size_t size) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", test_scratch("cli-files"), name);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(text, 1, size, file) == size);
    fclose(file);
}

typedef struct Case {
    const char *words;
    int code;
    const char *says; /* in the output for code 0, else in the error output */
} Case;

static const Case cases[] = {
    {"", 2, "usage: phx COMMAND"},
    {"--help", 0, "usage: phx COMMAND"},
    {"--version", 0, "simulation revision"},
    {"fly", 2, "fly: no such command; phx --help lists them"},
    {"run", 2, "an argument is missing: phx run SCENARIO|BLOB"},
    {"run a b", 2, "b: one argument too many"},
    {"run --nonsense", 2, "--nonsense: unknown option"},
    {"run --ticks", 2, "--ticks: missing argument"},
    {"run --ticks x a.yaml", 2, "x: invalid numeric value"},
    {"run --ticks -1 a.yaml", 2, "--ticks: -1: a number from 0 to 100000000 is wanted"},
    {"run --ticks -9223372036854775808 a.yaml", 2, "number too large or too small"},
    {"run --field-cache 0 a.yaml", 2,
     "--field-cache: 0: a number from 1 to 4096 is wanted; leave the option out"},
    {"run --ticks 0 %S/duel.yaml", 0, "duel: 0 ticks at 20"},
    {"bench --ticks 0 a.yaml", 2, "--ticks: 0: a number from 1 to 100000000 is wanted; leave the option out"},
    {"bench --field-cache 0 a.yaml", 2, "--field-cache: 0: a number from 1"},
    {"synctest --ticks 0 a.yaml", 2, "--ticks: 0: a number from 1"},
    {"synctest --field-cache 0 a.yaml", 2, "--field-cache: 0: a number from 1"},
    {"soak --seconds 0", 2, "--seconds: 0: a number from 1"},
    {"soak --matches 0", 2, "--matches: 0: a number from 1"},
    {"soak --matches 1 --out /nowhere", 2, "--out: /nowhere: No such file or directory"},
#ifdef PHX_CLI_NET
    {"host --players 0 a.yaml", 2, "--players: 0: a number from 1 to 16 is wanted; leave the option out"},
    {"host --delay 0 a.yaml", 2, "--delay: 0: a number from 1"},
    {"host --ticks 0 a.yaml", 2, "--ticks: 0: a number from 1"},
    {"host --ticks-per-turn 0 a.yaml", 2, "--ticks-per-turn: 0: a number from 1"},
    {"host --png x.gif a.yaml", 2, "x.gif: pictures are written as .png or .svg"},
    {"host --bundle /nowhere/x a.yaml", 2, "/nowhere/x: No such file or directory"},
    {"host --wait 1 --address 203.0.113.1 %S/duel.yaml", 2,
     "no UDP socket on 203.0.113.1, port 0: this machine has no"},
#endif
#ifdef PHX_CLI_NET
    {"join a.yaml --connect a:b:9", 2, "--connect: a:b:9: HOST:PORT is wanted, with one colon"},
    {"join a.yaml --connect a", 2, "--connect: a: HOST:PORT is wanted, with one colon"},
    {"join a.yaml --connect a:", 2, "--connect: a:: behind the colon a port from 1 to 65535 is wanted"},
    {"join a.yaml --connect a:65536", 2, "--connect: a:65536: behind the colon a port"},
    {"join a.yaml --connect a:9 --png /nowhere/x.png", 2, "/nowhere/x.png: No such file or directory"},
    {"join %S/duel.yaml --connect 127.0.0.1:9 --desync-drill -1", 2, "--desync-drill: -1: a whole number"},
#endif
    {"bisect --ticks 0 --self cold a.phxr", 2, "--ticks: 0: a number from 1"},
    {"replay commands --slot -1 a.phxr", 2,
     "--slot: -1: a number from 0 to 255 is wanted; leave the option out"},
    {"run /dev/zero", 2, "/dev/zero: larger than 1048576 bytes"},
    {"run --ticks 2 --png %T/x.gif %S/duel.yaml", 2,
     "x.gif: pictures are written as .png or .svg: give the file"},
    {"run --ticks 2 --replay /dev/full %S/duel.yaml", 2, "phx run: /dev/full: No space left on device"},
    {"run --map %T/rock.map %S/duel.yaml", 2, "rock.map: no unit fits anywhere on this map"},
    {"bench --peer-name RVO2 a.yaml", 2, "--peer-name needs --peer-ms"},
    {"bench --peer-ms 0 a.yaml", 2, "--peer-ms: 0: a number of milliseconds above 0 is wanted"},
    {"bench --peer-ms 1x a.yaml", 2, "--peer-ms: 1x: a number"},
    {"bench --threads 1 --ticks 9 --peer-ms 2 --peer-name RVO2 %S/duel.yaml", 0, "times RVO2's"},
    {"replay info %T/bad.yaml", 2, "replay info: %T/bad.yaml: this is no Phalanx replay"},
    {"replay verify %T/bad.yaml", 2, "replay verify: %T/bad.yaml: this is no Phalanx replay"},
    {"replay info /dev/zero", 2, "/dev/zero: this is no Phalanx replay"},
    {"run --threads 0 a.yaml", 2, "--threads: 0: a number from 1 to 64 is wanted"},
    {"run --seed 1x %S/duel.yaml", 2, "--seed: 1x: a whole number"},
    {"run /nowhere.yaml", 2, "/nowhere.yaml: No such file or directory"},
    {"run --map /nowhere.map %S/duel.yaml", 2, "/nowhere.map: No such file or directory"},
    {"run --bot nobody %S/duel.yaml", 2, "bot: nobody: no such bot; there are: idle, corner, wander, mason"},
    {"run --ticks 2 --replay /nowhere/x.phxr %S/duel.yaml", 2, "/nowhere/x.phxr"},
    {"run --ticks 2 --png /nowhere/x.png %S/duel.yaml", 2, "/nowhere/x.png"},
    {"run %T/bad.yaml", 2, "bad.yaml:2:12: tick_rate: 0: a whole number from 1 to 1000 is wanted"},
    {"run %T/bad.phxc", 2, "bad.phxc: "},
    {"run --ticks 3 %S/duel.yaml", 0, "root     "},
    {"content", 2, "an action is missing"},
    {"content fly", 2, "fly: compile, info or make-map is wanted"},
    {"content compile %S/duel.yaml", 2, "--output is missing"},
    {"content compile %S/duel.yaml -o /nowhere/x.phxc", 2, "/nowhere/x.phxc"},
    {"content compile %S/duel.yaml -o %T/duel.phxc", 0, "24 of at most 24"},
    {"content compile %T/duel.phxc -o %T/again.phxc", 2, "this is a blob already"},
    {"content info %T/duel.phxc", 0, "64 x 64 cells"},
    {"content info --map x %T/duel.phxc", 2, "--map: unknown option"},
    {"run --map %S/duel.map %T/duel.phxc", 2, "its map is inside"},
    {"content info /nowhere", 2, "/nowhere: No such file"},
    {"content make-map", 2, "--output is missing"},
    {"content make-map --size 63 -o %T/made.map", 2, "--size: 63: a number from 64 to 2048 is wanted"},
    {"content make-map --size 64 -o %T/made.map", 0, "64 x 64 cells"},
    {"run --ticks 2 --map %T/made.map %S/duel.yaml", 0, "64 x 64 cells, 24 units"},
    {"bench --threads 1,a %S/duel.yaml", 2, "--threads: 1,a: numbers from 1 to 64"},
    {"bench --threads 0 %S/duel.yaml", 2, "--threads: 0: numbers from 1 to 64"},
    {"bench --threads 1,2 --ticks 20 %S/duel.yaml", 0, "duel               2"},
};

PHX_TEST(cli, exit_codes_and_what_is_said) {
    const char bad[] = "map: duel.map\ntick_rate: 0\n";
    write_file("bad.yaml", bad, sizeof bad - 1);
    const char rock[] = "type octile\nheight 2\nwidth 2\nmap\n@@\n@@\n";
    write_file("rock.map", rock, sizeof rock - 1);
    write_file("bad.phxc", "PHXC\1\0garbage", 13);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Result result = phx(expand(cases[i].words));
        CHECK_THAT(result.code == cases[i].code, "phx %s: exit %d, not %d; it says: %s", cases[i].words,
                   result.code, cases[i].code, result.err);
        const char *where = cases[i].code == 0 ? result.out : result.err,
                   *other = cases[i].code == 0 ? result.err : result.out;
        CHECK_THAT(strstr(where, expand(cases[i].says)) != NULL, "phx %s says: %s", cases[i].words, where);
        CHECK_THAT(other[0] == 0, "phx %s says besides: %s", cases[i].words, other);
        release(&result);
    }
}

PHX_TEST(cli, each_command_helps) {
    const char *const commands[] = {
#define PHX_CLI_COMMAND(name, words) #name,
#include "phx/commands.def"
        "content compile", "content info", "content make-map"};
    Result all = phx("--help");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char words[64];
        snprintf(words, sizeof words, "%s --help", commands[i]);
        Result result = phx(words);
        CHECK_THAT(result.code == 0 && result.err[0] == 0, "phx %s: %s", words, result.err);
        CHECK_THAT(strncmp(result.out, "usage: phx ", 11) == 0 && strstr(result.out, commands[i]) != NULL,
                   "phx %s: %s", words, result.out);
        CHECK_THAT(strstr(result.out, "xamples:\n  phx ") != NULL, "phx %s has no example", words);
        CHECK_THAT(strstr(result.out, "Usage:") == NULL, "phx %s: a second line of usage", words);
        if (strchr(commands[i], ' ') == NULL) CHECK(strstr(all.out, commands[i]) != NULL);
        release(&result);
    }
    release(&all);
}

/* The whole output as one JSON object. */
static json_t *run_json(const char *words, int code) {
    Result result = phx(expand(words));
    CHECK_THAT(result.code == code, "phx %s: exit %d: %s", words, result.code, result.err);
    json_error_t error;
    json_t *root = json_loads(result.out, JSON_REJECT_DUPLICATES, &error);
    CHECK_THAT(json_is_object(root), "phx %s: %s: %s", words, error.text, result.out);
    release(&result);
    return root;
}

static void check_keys(const json_t *root, const char *words, const char *keys) {
    char list[256];
    snprintf(list, sizeof list, "%s", keys);
    for (char *key = strtok(list, " "); key != NULL; key = strtok(NULL, " "))
        CHECK_THAT(json_object_get(root, key) != NULL, "phx %s: no key \"%s\"", words, key);
}

static const char *root_of(const json_t *root) {
    const char *text = json_string_value(json_object_get(root, "root"));
    CHECK(text != NULL && strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16);
    return text;
}

PHX_TEST(cli, json_is_one_object_and_nothing_else) {
    const char *const words[] = {"run --json --ticks 5 %S/duel.yaml",
                                 "run --json --ticks 2 --trace %S/duel.yaml",
                                 "content compile --json %S/duel.yaml -o %T/json.phxc",
                                 "content info --json %S/duel.yaml",
                                 "content make-map --json --size 64 -o %T/json.map",
                                 "bench --json --ticks 5 --threads 1,2 %S/duel.yaml"};
    const char *const keys[] = {"ticks root units arrived ms_by_phase threads seconds scenario seed events",
                                "ticks root trace",
                                "output bytes content_hash schema_hash root units players unit_types",
                                "width height units tick_rate seed",
                                "output size open_cells",
                                "rows"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        json_t *root = run_json(words[i], 0);
        check_keys(root, words[i], keys[i]);
        if (i < 2) CHECK(json_is_object(json_object_get(root, "ms_by_phase")));
        if (i == 5) {
            const json_t *rows = json_object_get(root, "rows");
            CHECK_EQ(json_array_size(rows), 2);
            check_keys(json_array_get(rows, 1), words[i],
                       "scenario threads ticks ms_by_phase agent_steps_per_second state_bytes root");
            CHECK_STR(root_of(json_array_get(rows, 0)), root_of(json_array_get(rows, 1)));
        }
        json_decref(root);
    }
    /* A failure is an object too, and says the same as standard error. */
    json_t *root = run_json("run --json /nowhere.yaml", 2);
    CHECK_STR(json_string_value(json_object_get(json_object_get(root, "error"), "message")),
              "/nowhere.yaml: No such file or directory");
    json_decref(root);
    /* Reals without the noise of binary fractions. */
    Result bench = phx(expand("bench --json --ticks 5 --threads 1 --peer-ms 3.1 --peer-name P %S/duel.yaml"));
    for (const char *at = bench.out; (at = strchr(at, '.')) != NULL;) {
        const char *digits = ++at;
        while (isdigit((unsigned char)*at)) at++;
        CHECK_THAT(at - digits <= 9, "%s", bench.out);
    }
    CHECK(strstr(bench.out, "\"times_the_peer\": ") != NULL);
    CHECK(strstr(bench.out, "\"median_cpu_ms_per_tick\": ") != NULL);
    CHECK(strstr(bench.out, "\"ms\": 3.1\n") != NULL);
    release(&bench);
}

/* Wherever --json stands, and however early it fails. */
PHX_TEST(cli, each_failure_is_a_json_object_too) {
    static const char *const words[] = {"run X --bogus --json",
                                        "run --json X --bogus",
                                        "run X --ticks x --json",
                                        "run X Y --json",
                                        "run --json",
                                        "run X --json --ticks",
                                        "run --json \xff\xfe.yaml",
                                        "content foo --json",
                                        "content --json",
                                        "content info --bogus --json",
                                        "replay foo --json",
                                        "replay --json",
                                        "replay info --bogus X --json",
                                        "synctest --bogus --json",
                                        "soak --bogus --json",
                                        "bisect --bogus --json",
                                        "nosuch --json",
                                        "--json"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        json_t *root = run_json(words[i], 2);
        const json_t *error = json_object_get(root, "error");
        CHECK_THAT(json_string_value(json_object_get(error, "message")) != NULL, "phx %s", words[i]);
        CHECK_EQ(json_integer_value(json_object_get(error, "exit")), 2);
        json_decref(root);
    }
    /* Behind -- it is an argument, and behind an option its value. */
    static const char *const others[] = {"run X -- --json", "run --map --json"};
    for (size_t i = 0; i < 2; i++) {
        Result result = phx(others[i]);
        CHECK_THAT(result.code == 2 && result.out[0] == 0, "phx %s: %s", others[i], result.out);
        release(&result);
    }
    /* Help is text. */
    Result help = phx("content --help --json");
    CHECK(help.code == 0 && strncmp(help.out, "usage: ", 7) == 0 && strchr(help.out, '{') == NULL);
    release(&help);
}

PHX_TEST(cli, content_counts_what_lies_on_the_map) {
    const struct {
        const char *key;
        json_int_t count;
    } counts[] = {{"profiles", 4}, {"buildings", 10},      {"gates", 3}, {"modifiers", 4},
                  {"units", 204},  {"density_period", 50}, {"kinds", 5}, {"orders", 56}};
    json_t *content = run_json("content info --json %S/siege.yaml", 0);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        CHECK_THAT(json_integer_value(json_object_get(content, counts[i].key)) == counts[i].count, "%s",
                   counts[i].key);
    json_decref(content);
}

PHX_TEST(cli, no_ticks_leave_the_world_of_tick_0) {
    json_t *none = run_json("run --json --ticks 0 %S/duel.yaml", 0);
    json_t *content = run_json("content info --json %S/duel.yaml", 0);
    CHECK_STR(root_of(none), root_of(content));
    CHECK_EQ(json_integer_value(json_object_get(none, "ticks")), 0);
    json_decref(none);
    json_decref(content);
}

static char *scratch_file(const char *name) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", test_scratch("cli-files"), name);
    return test_read_file(path, NULL);
}

/* A full disk leaves the old picture, and of a replay what there was room for. */
PHX_TEST(cli, a_full_disk_is_named_and_leaves_no_half_a_picture) {
    write_file("old.png", "old", 3);
    file_limit = 4096;
    Result picture = phx(expand("run --ticks 2 --png %T/old.png %S/duel.yaml"));
    Result replay = phx(expand("run --ticks 2000 --bot wander --replay %T/full.phxr %S/duel.yaml"));
    file_limit = 0;
    CHECK_THAT(picture.code == 2 && strstr(picture.err, "old.png: File too large") != NULL, "%s",
               picture.err);
    char *old = scratch_file("old.png"), *part = scratch_file("old.png.part");
    CHECK(old != NULL && strcmp(old, "old") == 0 && part == NULL);
    free(old);
    CHECK_THAT(replay.code == 2 && strstr(replay.err, "full.phxr: File too large; the replay is cut") != NULL,
               "%s", replay.err);
    Result info = phx(expand("replay info %T/full.phxr"));
    CHECK_THAT(info.code == 0 && strstr(info.out, "full.phxr: cut, ") != NULL, "%s%s", info.out, info.err);
    release(&picture);
    release(&replay);
    release(&info);
}

PHX_TEST(cli, bytes_behind_a_whole_replay_are_called_so) {
    char path[600];
    snprintf(path, sizeof path, "%s/whole.phxr", test_scratch("cli-files"));
    json_decref(run_json("run --json --ticks 9 --replay %T/whole.phxr %S/duel.yaml", 0));
    /* Too few for a record, and enough for one. */
    for (int more = 3; more <= 60; more += 57) {
        FILE *file = fopen(path, "ab");
        CHECK(file != NULL);
        for (int i = 0; i < more - (more > 3) * 3; i++) fputc('x', file);
        fclose(file);
        char says[64];
        snprintf(says, sizeof says, ": %d bytes after the end record", more);
        Result info = phx(expand("replay info %T/whole.phxr")),
               verify = phx(expand("replay verify %T/whole.phxr"));
        CHECK_THAT(info.code == 2 && strstr(info.err, says) != NULL, "%s", info.err);
        CHECK_THAT(verify.code == 2 && strstr(verify.err, says) != NULL, "%s", verify.err);
        CHECK_THAT(strstr(info.out, "9 ticks") != NULL, "%s", info.out);
        release(&info);
        release(&verify);
    }
}

/* Read once: a pipe has its bytes once only. */
PHX_TEST(cli, scenarios_come_through_pipes_as_well) {
    char path[600], map[600], words[2048];
    snprintf(path, sizeof path, "%s/pipe", test_scratch("cli-files"));
    snprintf(map, sizeof map, "%s", test_source("tests/scenario/duel.map"));
    char *text = test_read_file(test_source("tests/scenario/duel.yaml"), NULL);
    json_t *from_file = run_json("run --json --ticks 20 %S/duel.yaml", 0);
    static const char *const commands[] = {"run --json", "synctest --json"};
    for (size_t i = 0; i < 2; i++) {
        unlink(path);
        CHECK(mkfifo(path, 0600) == 0);
        const pid_t writer = fork();
        if (writer == 0) {
            FILE *pipe = fopen(path, "wb");
            /* Whole lines, the map by its full path. */
            for (const char *line = text; line != NULL && *line != 0;
                 line = strchr(line, '\n'), line += line != NULL)
                if (strncmp(line, "map:", 4) == 0)
                    fprintf(pipe, "map: %s\n", map);
                else
                    fprintf(pipe, "%.*s\n", (int)strcspn(line, "\n"), line);
            fclose(pipe);
            _exit(0);
        }
        snprintf(words, sizeof words, "%s --ticks 20 %s", commands[i], path);
        json_t *root = run_json(words, 0);
        CHECK_STR(root_of(root), root_of(from_file));
        json_decref(root);
        CHECK(waitpid(writer, NULL, 0) == writer);
    }
    json_decref(from_file);
    free(text);
}

PHX_TEST(cli, the_root_depends_on_scenario_and_seed_alone) {
    const char *const same[] = {
        "run --json --ticks 60 --bot wander %S/duel.yaml",
        "run --json --ticks 60 --bot wander --threads 3 %S/duel.yaml",
        "run --json --ticks 60 --bot wander --reload %S/duel.yaml",
        "run --json --ticks 60 --bot wander --drop --field-cache 1 %S/duel.yaml",
        "run --json --ticks 60 --bot wander --trace --png %T/x.png --replay %T/x.phxr %S/duel.yaml"};
    json_t *first = run_json(same[0], 0);
    for (size_t i = 1; i < sizeof same / sizeof same[0]; i++) {
        json_t *other = run_json(same[i], 0);
        CHECK_STR(root_of(other), root_of(first));
        json_decref(other);
    }
    json_t *other = run_json("run --json --ticks 60 --bot wander --seed 9 %S/duel.yaml", 0);
    CHECK(strcmp(root_of(other), root_of(first)) != 0);
    json_decref(other);
    json_decref(first);
    Result verified = phx(expand("replay verify %T/x.phxr"));
    CHECK_THAT(verified.code == 0, "%s", verified.err);
    release(&verified);
    /* A blob plays like the scenario that it was made from, where the orders are a bot's. */
    json_decref(run_json("content compile --json %S/melee8.yaml -o %T/melee8.phxc", 0));
    json_t *blob = run_json("run --json --ticks 50 --bot wander %T/melee8.phxc", 0);
    json_t *text = run_json("run --json --ticks 50 %S/melee8.yaml", 0);
    CHECK_STR(root_of(blob), root_of(text));
    json_decref(blob);
    json_decref(text);
}

PHX_TEST(cli, a_trace_has_a_line_for_each_phase_and_tick) {
    Result result = phx(expand("run --ticks 4 --trace %S/duel.yaml"));
    CHECK_EQ(result.code, 0);
    unsigned lines[4] = {0}, tick;
    char phase[64];
    unsigned long long hash;
    for (const char *at = result.out; at != NULL && sscanf(at, "%u %63s %16llx", &tick, phase, &hash) == 3;) {
        CHECK(tick < 4);
        lines[tick]++;
        at = strchr(at, '\n');
        if (at != NULL) at++;
    }
    CHECK(lines[0] >= 5 && lines[1] == lines[0] && lines[2] == lines[0] && lines[3] == lines[0]);
    release(&result);
}
