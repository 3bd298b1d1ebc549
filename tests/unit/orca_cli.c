/* orca_cli.c: phx orca explain as a person or a script meets it: that it explains the match which phx run
 * plays, the same from a scenario and from its replay; pictures of the right size; and what is said of bad
 * input.
 */
#include "harness.h"
#include "run_phx.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static RunPhx phx(const char *words) { return run_phx(&(RunPhxOptions){.folder = test_source("")}, words); }

/* A scratch file's path; four at a time. */
static const char *scratch(const char *name) {
    static char paths[4][1200];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_scratch("orca-cli"), name);
    return path;
}

/* "%T/" in words is the scratch folder. */
static const char *expand(const char *words) {
    static char line[4000];
    size_t at = 0;
    for (; *words != 0; words++) {
        if (words[0] == '%' && words[1] == 'T') {
            at += (size_t)snprintf(line + at, sizeof line - at, "%s", test_scratch("orca-cli"));
            words++;
        } else {
            line[at++] = *words;
        }
    }
    line[at] = 0;
    return line;
}

static void run_ok(const char *words) {
    RunPhx run = phx(expand(words));
    CHECK_THAT(run.code == 0, "phx %s: exit %d: %s", words, run.code, run.err);
    run_phx_release(&run);
}

static json_t *run_json(const char *words) {
    RunPhx run = phx(expand(words));
    CHECK_THAT(run.code == 0 && run.err[0] == 0, "phx %s: exit %d: %s", words, run.code, run.err);
    json_t *root = json_loads(run.out, JSON_REJECT_DUPLICATES, NULL);
    CHECK_THAT(json_is_object(root), "phx %s: %s", words, run.out);
    run_phx_release(&run);
    return root;
}

static void write_replay(void) {
    run_ok("run tests/scenario/melee8.yaml --ticks 300 --replay %T/melee.phxr");
}

typedef struct Case {
    const char *words;
    int code;
    const char *says; /* in the output for code 0, else in the error output */
} Case;

static const Case cases[] = {
    {"orca", 2, "a word is missing: explain is wanted; phx orca --help"},
    {"orca fly", 2, "fly: explain is wanted"},
    {"orca explain", 2, "an argument is missing: phx orca explain"},
    {"orca explain tests/scenario/duel.yaml --tick 3", 2, "--unit is missing: --unit N, the slot of a unit"},
    {"orca explain tests/scenario/duel.yaml --unit x --tick 3", 2, "--unit: x: "},
    {"orca explain tests/scenario/duel.yaml --unit 99999999999 --tick 3", 2, "no match has so many units"},
    {"orca explain tests/scenario/duel.yaml --unit 3 --tick 0", 2, "--tick: 0: nothing was chosen before"},
    {"orca explain tests/scenario/duel.yaml --unit 3 --tick -1", 2, "--tick: -1"},
    {"orca explain tests/scenario/duel.yaml --unit 3 --tick 100000001", 2,
     "--tick: 100000001: a tick from 1"},
    {"orca explain tests/scenario/duel.yaml --unit 4000 --tick 3", 2,
     "--unit: 4000: not alive at tick 3 of tests/scenario/duel.yaml; its "},
    {"orca explain tests/scenario/duel.yaml --unit 3 --tick 3 --svg %T/x.png", 2,
     "x.png: a name that ends in .svg is wanted"},
    {"orca explain tests/scenario/duel.yaml --unit 3 --tick 3 --png %T/x.gif", 2,
     "x.gif: pictures are written as .png or .svg"},
    {"orca explain tests/scenario/duel.yaml --unit 3 --tick 3 --png /nowhere/x.png", 2,
     "/nowhere/x.png: No such file or directory"},
    {"orca explain tests/scenario/duel.yaml --unit 3 --tick 3 --svg /nowhere/x.svg", 2,
     "/nowhere/x.svg: No such file or directory"},
    {"orca explain tests/scenario/duel.yaml --unit 3 --tick 3 --threads 0", 2,
     "--threads: 0: a number from 1"},
    {"orca explain tests/scenario/duel.yaml --unit 3 --tick 3 --seed x", 2, "--seed: x"},
    {"orca explain tests/scenario/duel.yaml --unit 3 --tick 3 --bot nobody", 2, "nobody: no such bot"},
    {"orca explain /nowhere.yaml --unit 3 --tick 3", 2, "/nowhere.yaml: No such file or directory"},
    {"orca explain tests/scenario/duel.map --unit 3 --tick 3", 2, "duel.map: a map without units"},
    {"orca explain %T/melee.phxr --unit 3 --tick 301", 2, "--tick: 301: "},
    {"orca explain %T/melee.phxr --unit 3 --tick 301", 2, "melee.phxr has the ticks 1 to 300"},
    {"orca explain %T/melee.phxr --unit 3 --tick 3 --seed 4", 2, "--seed: "},
    {"orca explain %T/melee.phxr --unit 3", 0, "melee.phxr: tick 300: unit 3, "},
    {"orca explain tests/scenario/duel.yaml --unit 3 --tick 1 -j 2", 0, "duel.yaml: tick 1: unit 3, "},
    {"orca explain tests/scenario/duel.yaml --unit worst --tick 20", 0, "  fallback   "}};

PHX_TEST(orca_cli, exit_codes_and_what_is_said) {
    write_replay();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        RunPhx run = phx(expand(cases[i].words));
        CHECK_THAT(run.code == cases[i].code, "phx %s: exit %d, not %d; it says: %s", cases[i].words,
                   run.code, cases[i].code, run.err);
        const char *where = cases[i].code == 0 ? run.out : run.err,
                   *other = cases[i].code == 0 ? run.err : run.out;
        CHECK_THAT(strstr(where, expand(cases[i].says)) != NULL, "phx %s says: %s", cases[i].words, where);
        CHECK_THAT(other[0] == 0, "phx %s says besides: %s", cases[i].words, other);
        run_phx_release(&run);
    }
    static const char *const helps[] = {"orca --help", "orca explain --help"};
    for (size_t i = 0; i < sizeof helps / sizeof helps[0]; i++) {
        RunPhx run = phx(helps[i]);
        CHECK_THAT(run.code == 0 && strstr(run.out, "xamples:\n  phx orca ") != NULL, "phx %s", helps[i]);
        run_phx_release(&run);
    }
}

/* JSON. */

static double number(const json_t *root, const char *key) {
    const json_t *value = json_object_get(root, key);
    CHECK_THAT(json_is_number(value), "%s is missing", key);
    return json_number_value(value);
}

static double of_pair(const json_t *root, const char *key, size_t i) {
    const json_t *value = json_array_get(json_object_get(root, key), i);
    CHECK_THAT(json_is_number(value), "%s is missing", key);
    return json_number_value(value);
}

static const char *text(const json_t *root, const char *key) {
    const char *value = json_string_value(json_object_get(root, key));
    CHECK_THAT(value != NULL, "%s is missing", key);
    return value;
}

/* What is said, with six digits, fits together: how far the chosen velocity is outside, who comes first,
 * where a wall is. */
static void check_lines(const json_t *root) {
    const json_t *lines = json_object_get(root, "lines");
    double most[2] = {0, 0}, before[2] = {0, 0};
    CHECK(json_is_array(lines));
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        const bool wall = strcmp(text(line, "source"), "wall") == 0;
        const double outside = number(line, "offset") -
                               of_pair(line, "normal", 0) * of_pair(root, "chosen", 0) -
                               of_pair(line, "normal", 1) * of_pair(root, "chosen", 1);
        CHECK(fabs(outside - number(line, "outside")) < 2e-4);
        CHECK(fabs(hypot(of_pair(line, "normal", 0), of_pair(line, "normal", 1)) - 1) < 1e-5);
        CHECK(wall ? before[1] == 0 : true); /* walls come first */
        CHECK(number(line, "distance") >= before[!wall]);
        before[!wall] = number(line, "distance");
        most[!wall] = fmax(most[!wall], outside);
        if (wall) continue;
        const double x = of_pair(line, "position", 0) - of_pair(root, "position", 0),
                     y = of_pair(line, "position", 1) - of_pair(root, "position", 1);
        CHECK(fabs(hypot(x, y) - number(line, "distance")) < 1e-3);
        for (size_t k = 0; k < 2; k++)
            CHECK(fabs(of_pair(root, "velocity", k) - of_pair(line, "velocity", k) -
                       of_pair(line, "relative_velocity", k)) < 1e-3);
    }
    CHECK(fabs(most[0] - number(root, "wall_violation")) < 2e-4);
    CHECK(fabs(most[1] - number(root, "violation")) < 2e-4);
    if (strcmp(text(root, "fallback"), "none") == 0) CHECK(most[0] < 1e-3 && most[1] < 1e-3);
}

PHX_TEST(orca_cli, explains_the_match_that_is_played) {
    write_replay();
    json_t *run = run_json("run tests/scenario/melee8.yaml --ticks 250 --json");
    uint32_t walls = 0, lines = 0;
    for (uint32_t unit = 0; unit < 96; unit += 10) {
        char words[300];
        snprintf(words, sizeof words, "orca explain %%T/melee.phxr --unit %" PRIu32 " --tick 250 --json",
                 unit);
        json_t *root = run_json(words);
        CHECK_STR(text(root, "root"), text(run, "root"));
        CHECK_EQ(number(root, "tick"), 250);
        CHECK_EQ(number(root, "unit"), unit);
        CHECK(fabs(of_pair(root, "chosen_raw", 0) / 65536 - of_pair(root, "chosen", 0)) < 1e-4);
        CHECK(hypot(of_pair(root, "chosen", 0), of_pair(root, "chosen", 1)) <=
              number(root, "max_speed") + 2e-4);
        check_lines(root);
        lines += (uint32_t)json_array_size(json_object_get(root, "lines"));
        walls += number(root, "walls_near") > 0;
        if (unit == 40) { /* from the scenario, with other threads: word for word but for the file */
            snprintf(words, sizeof words,
                     "orca explain tests/scenario/melee8.yaml -j 3 --unit %" PRIu32 " --tick 250 --json",
                     unit);
            json_t *scenario = run_json(words);
            json_object_set_new(scenario, "file", json_string(text(root, "file")));
            CHECK(json_equal(scenario, root));
            json_decref(scenario);
        }
        json_decref(root);
    }
    printf("%" PRIu32 " half-planes, walls near %" PRIu32 "\n", lines, walls);
    CHECK(lines > 15 && walls > 0);
    /* The worst one is at least as bad as any of them. */
    json_t *worst = run_json("orca explain tests/scenario/crowd1000.yaml --unit worst --tick 40 --json"),
           *other = run_json("orca explain tests/scenario/crowd1000.yaml --unit 500 --tick 40 --json");
    CHECK(number(worst, "violation") >= number(other, "violation"));
    check_lines(worst);
    json_decref(worst);
    json_decref(other);
    json_decref(run);
}

/* Pictures. */

static uint32_t big_endian(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

PHX_TEST(orca_cli, pictures_have_their_size_and_are_written_whole) {
    write_replay();
    RunPhx both =
        phx(expand("orca explain %T/melee.phxr --unit 23 --tick 200 --png %T/why.png --svg %T/why.svg"));
    CHECK(both.code == 0 && strstr(both.out, expand("%T/why.svg, 1000 x 588 pixels")) != NULL &&
          strstr(both.out, "why.png, 1000 x 588 pixels") != NULL);
    run_phx_release(&both);
    run_ok("orca explain tests/scenario/crowd1000.yaml --unit worst --tick 30 --png %T/crowd.svg");
    size_t size;
    unsigned char *png = (unsigned char *)test_read_file(scratch("why.png"), &size);
    CHECK(png != NULL && size > 8000 && memcmp(png, "\x89PNG\r\n\x1a\n", 8) == 0);
    CHECK_EQ(big_endian(png + 16), 1000);
    CHECK_EQ(big_endian(png + 20), 588);
    free(png);
    static const char *const names[] = {"why.svg", "crowd.svg"};
    for (int i = 0; i < 2; i++) {
        char *svg = test_read_file(scratch(names[i]), &size);
        CHECK_THAT(svg != NULL && strncmp(svg, "<?xml", 5) == 0 && strstr(svg, "</svg>") != NULL, "%s",
                   names[i]);
        CHECK_THAT(strstr(svg, "width=\"1000") != NULL, "%s", names[i]);
        free(svg);
    }
    /* A full disk: a failure, and nothing that looks like a picture. */
    if (access("/dev/full", W_OK) != 0) return;
    RunPhx run = phx(expand("orca explain %T/melee.phxr --unit 23 --tick 200 --png /dev/full"));
    CHECK_THAT(run.code == 2 && strstr(run.err, "/dev/full: ") != NULL, "exit %d: %s", run.code, run.err);
    run_phx_release(&run);
}
