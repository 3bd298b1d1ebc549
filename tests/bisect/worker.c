/* worker.c: a worker under good, bad and random requests; and the command line, with programs as sides. */
#include "phx/cli.h"

#include "match.h"

/* Answers of a worker to a text of requests, in malloc'ed memory. */
static char *answers(const char *requests, size_t size) {
    FILE *in = tmpfile(), *out = tmpfile();
    const PhxSubjectOptions options = {.threads = 1};
    CHECK(in && out && fwrite(requests, 1, size, in) == size);
    rewind(in);
    CHECK_EQ(phx_worker_serve(&options, in, out), 0);
    const long length = ftell(out);
    char *text = calloc(1, (size_t)length + 1);
    rewind(out);
    CHECK(fread(text, 1, (size_t)length, out) == (size_t)length);
    fclose(in), fclose(out);
    return text;
}

static uint32_t count_of(const char *text, const char *begin) {
    uint32_t count = strncmp(text, begin, strlen(begin)) == 0;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\n%s", begin);
    for (const char *at = strstr(text, wanted); at; at = strstr(at + 1, wanted)) count++;
    return count;
}

static char *ask(const char *path, const char *rest) {
    char requests[4096];
    const int length = snprintf(requests, sizeof requests, "hello 1\nopen %s\n%s", path, rest);
    CHECK(length > 0 && (size_t)length < sizeof requests);
    return answers(requests, (size_t)length);
}

PHX_TEST(worker, going_back_and_looking_inside_change_nothing) {
    const char *path = match_path("worker.phxr");
    match_record(path, 5, 60, UINT32_MAX);
    char *straight = ask(path, "play 50\n");
    char requests[1024];
    snprintf(requests, sizeof requests,
             "play 20\nplay 40\nseek 45\nseek 25\nseek 10\ntrace\ntrace\nseek 30\n"
             "stop %d begin\ncolumns\nvalue %d %d 4\nrows %d %d 0 99\nstop %d end\nvalue %d %d 4\n"
             "seek 30 afresh\nstop %d end\nseek 31\nplay 40 deep\nplay 50\nquit\n",
             MATCH_PHASE_prefer, PHX_TABLE_unit, MATCH_UNIT_pos_x, PHX_TABLE_unit, MATCH_UNIT_pos_x,
             MATCH_PHASE_integrate, PHX_TABLE_unit, MATCH_UNIT_pref_y, MATCH_PHASE_audit);
    char *jumps = ask(path, requests);
    CHECK_THAT(count_of(jumps, "error") == 0, "%s", jumps);
    CHECK_EQ(count_of(straight, "ok"), 3);
    /* The last line but "ok" is the state before tick 50. */
    const char *state = strstr(straight, "\nok 50 ");
    CHECK(state && strstr(jumps, state));
    free(straight), free(jumps);
}

PHX_TEST(worker, bad_requests_get_a_word_and_change_nothing) {
    const char *path = match_path("worker.phxr");
    match_record(path, 5, 60, UINT32_MAX);
    static const char closed[] = "play 3\nnonsense\n\nopen /nowhere/at/all\nhello 2\nvalue 1 1 1\n";
    char *text = answers(closed, sizeof closed - 1);
    CHECK_EQ(count_of(text, "error"), 6);
    CHECK_EQ(count_of(text, "ok"), 0);
    free(text);
    char requests[1024];
    snprintf(requests, sizeof requests,
             "play\nplay x\nplay 4294967296\nplay 9\nplay 3\nplay 12 deeper\nseek\nseek 99\nstop 3\n"
             "stop 77 end\nseek 9\nvalue %d 9 9\nvalue %d 99 0\nvalue %d 1 4000000000\nrows %d 1 7\n"
             "rows %d 1 4000000000 1\nstop 3 end\nstop 2 begin\nhash\nquit\n",
             PHX_TABLE_BUILTIN_COUNT, PHX_TABLE_unit, PHX_TABLE_unit, PHX_TABLE_unit, PHX_TABLE_unit);
    text = ask(path, requests);
    CHECK_THAT(count_of(text, "error") == 13, "%s", text);
    free(text);
    char *longest = malloc(9000);
    memset(longest, 'x', 9000);
    longest[8999] = '\n';
    text = answers(longest, 9000); /* a line without an end in sight: a word, and the end */
    CHECK_EQ(count_of(text, "error line"), 1);
    free(text), free(longest);
}

PHX_TEST(worker, random_requests_never_end_it) {
    static const char *const words[] = {"hello", "open",  "phases",  "tables", "hash",      "play", "seek",
                                        "trace", "stop",  "columns", "rows",   "value",     "deep", "afresh",
                                        "begin", "end",   "0",       "1",      "3",         "7",    "20",
                                        "59",    "99999", "-1",      "",       "4294967295"};
    const uint32_t rounds = test_count(60, 60, 2000);
    const char *path = match_path("worker.phxr");
    match_record(path, 5, 60, UINT32_MAX);
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        uint64_t dice = seed;
        char requests[8192];
        size_t at = (size_t)snprintf(requests, sizeof requests, "open %s\n", path);
        uint32_t lines = 1;
        while (at < 3000 && lines < 30) {
            for (int64_t n = test_range(&dice, 1, 5); n > 0; n--)
                at += (size_t)snprintf(requests + at, sizeof requests - at, "%s%s",
                                       words[test_range(&dice, 0, sizeof words / sizeof words[0] - 1)],
                                       n > 1 ? " " : "\n");
            lines++;
        }
        if (test_range(&dice, 0, 3) == 0)
            requests[test_range(&dice, 0, (int64_t)at - 2)] = (char)test_range(&dice, 32, 126);
        char *text = answers(requests, at);
        CHECK_THAT(count_of(text, "ok") + count_of(text, "error") <= lines + 1, "seed %" PRIu64, seed);
        CHECK_THAT(count_of(text, "ok") + count_of(text, "error") + 1 >= lines, "seed %" PRIu64 ": %s", seed,
                   text);
        free(text);
    }
}

/* ---- the command line */

typedef struct Said {
    int code;
    char *out, *err;
} Said;

static void forget(Said said) { free(said.out), free(said.err); }

static Said phx(const char *const *words) {
    const char *argv[20] = {"phx", "bisect"};
    int argc = 2, status;
    char path[600], errors[600];
    snprintf(path, sizeof path, "%s", match_path("out"));
    snprintf(errors, sizeof errors, "%s", match_path("err"));
    for (; words[argc - 2]; argc++) argv[argc] = words[argc - 2];
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (freopen(path, "w", stdout) == NULL || freopen(errors, "w", stderr) == NULL) _exit(99);
        const int code = phx_cli_main(argc, argv, NULL);
        fflush(NULL);
        _exit(code);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    return (Said){WIFEXITED(status) ? WEXITSTATUS(status) : 1000, test_read_file(path, NULL),
                  test_read_file(errors, NULL)};
}

static void expect(int code, const char *part, const char *const *words) {
    const Said said = phx(words);
    CHECK_THAT(said.code == code && (!part || strstr(said.out, part)), "exit %d, not %d: %s", said.code, code,
               said.out);
    forget(said);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

PHX_TEST(command_line, programs_as_sides_and_exit_codes_for_git_bisect) {
    const char *path = match_path("cli.phxr"), *other = match_path("cli-other.phxr");
    static const char good[] = PHX_WORKER_PROGRAM;
    char bad[1024];
    snprintf(bad, sizeof bad, "%s --fault 33,%d,%d,%d,7,0,4", PHX_WORKER_FAULTY, MATCH_PHASE_integrate,
             PHX_TABLE_unit, MATCH_UNIT_pos_x);
    match_record(path, 5, 60, UINT32_MAX);
    match_record(other, 6, 60, UINT32_MAX);
    expect(0, "agree on all 60 ticks", WORDS(path, "--left", good));
    expect(0, "\"verdict\": \"equal\"", WORDS(path, "--left", good, "--right", good, "--deep", "--json"));
    const Said said = phx(WORDS(path, "--left", good, "--right", bad, "--json"));
    CHECK_THAT(said.code == 1, "%s", said.out);
    json_t *root = json_loads(said.out, 0, NULL);
    CHECK_THAT(root, "%s", said.out);
    CHECK_EQ(json_integer_value(json_object_get(root, "tick")), 33);
    CHECK_STR(json_string_value(json_object_get(root, "phase")), "integrate");
    CHECK_STR(json_string_value(json_object_get(root, "replay_agrees_with")), "left");
    const json_t *value = json_array_get(json_object_get(root, "values"), 0);
    CHECK_STR(json_string_value(json_object_get(value, "column")), "pos_x");
    CHECK_EQ(json_integer_value(json_object_get(value, "row")), 7);
    CHECK(json_array_size(json_object_get(root, "inputs")) > 10);
    const char *text = json_string_value(json_object_get(root, "text"));
    CHECK(strstr(text, "unit.pos_x[7]"));
    CHECK(strstr(text, "part in tick 33 (the step from 33 to 34; the state after it is --tick 34 "));
    CHECK_EQ(json_array_size(json_object_get(root, "faults")), 0);
    /* Values are spelled alike: two digits a byte of the column, as in the text. */
    const char *const keys[] = {"left", "right"};
    for (int i = 0; i < 2; i++) {
        char spelled[64];
        const char *raw = json_string_value(json_object_get(value, keys[i]));
        CHECK_THAT(raw && strlen(raw) == 10 && strncmp(raw, "0x", 2) == 0, "%s", raw ? raw : "none");
        snprintf(spelled, sizeof spelled, i ? ", %s (" : "unit.pos_x[7] is %s (", raw);
        CHECK_THAT(strstr(text, spelled), "%s: %s", spelled, text);
    }
    json_decref(root);
    forget(said);
    expect(0, NULL, WORDS(path));
    expect(0, NULL, WORDS(path, path));
    expect(0, NULL, WORDS(path, "--self", "threads=2", "--ticks", "40"));
    expect(0, NULL, WORDS(path, "--self", "cold"));
    expect(0, NULL, WORDS(path, "--self", "reload", "--deep"));
    expect(125, NULL, WORDS(path, "--right", "/no/such/program"));
    expect(125, NULL, WORDS(path, "--right", "cat /dev/null"));
    expect(125, "right: no worker: it answered \"y\"", WORDS(path, "--right", "yes"));
    expect(125, "right: no worker: it answered \"hello 1\"", WORDS(path, "--right", "cat"));
    expect(125, NULL, WORDS(path, "--right", "sleep 30", "--timeout", "1"));
    expect(125, "content", WORDS(path, other));
    expect(2, NULL, WORDS("/no/such.phxr"));
    expect(2, NULL, WORDS(path, "--self", "cold", "--left", good));
    expect(2, NULL, WORDS(path, "--self", "threads=1"));
    expect(2, NULL, WORDS(path, "--deep"));
    expect(2, NULL, WORDS(path, path, path));
}

PHX_TEST(command_line, what_a_file_lacks_is_said_on_every_way_out) {
    const char *path = match_path("whole.phxr"), *damaged = match_path("damaged.phxr");
    static const char good[] = PHX_WORKER_PROGRAM;
    match_record(path, 5, 60, UINT32_MAX);
    const size_t size = match_file_size(path);
    for (int garbled = 0; garbled < 2; garbled++) {
        const int code = garbled ? 125 : 0;
        match_damage(path, damaged, garbled ? 0 : size * 3 / 4, garbled ? size * 3 / 4 : 0);
        const Said said = phx(WORDS(path, damaged, "--json"));
        json_t *root = json_loads(said.out, 0, NULL);
        CHECK_THAT(root && said.code == code, "exit %d: %s", said.code, said.out);
        const json_t *faults = json_object_get(root, "faults"), *fault = json_array_get(faults, 0);
        CHECK_EQ(json_array_size(faults), 1);
        CHECK_STR(json_string_value(json_object_get(fault, "file")), damaged);
        CHECK_STR(json_string_value(json_object_get(fault, "state")), garbled ? "garbled" : "cut");
        CHECK_EQ(json_integer_value(json_object_get(fault, "ticks")),
                 json_integer_value(json_object_get(root, "ticks")));
        const char *words = json_string_value(json_object_get(fault, "text"));
        CHECK(strstr(words, " ticks were kept, "));
        CHECK(strstr(json_string_value(json_object_get(root, "text")), words));
        CHECK_THAT(strstr(said.err, words), "%s", said.err);
        json_decref(root);
        forget(said);
        expect(code, " that it has (damaged.phxr: ", WORDS(damaged));
        expect(code, " that it has (damaged.phxr: ", WORDS(damaged, "--self", "cold"));
        expect(code, " that it has (damaged.phxr: ", WORDS(damaged, "--left", good));
        expect(0, "agree on all 5 ticks", WORDS(damaged, "--self", "cold", "--ticks", "5"));
    }
    match_damage(path, damaged, 20, 0);
    expect(125, NULL, WORDS(damaged, path));
    expect(0, "--tick t+1 of phx replay seek and dump", WORDS("--help"));
}
