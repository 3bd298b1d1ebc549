/* bench_crowd_cli.c: phx bench crowd and phx bench tick as a person or a script meets them: one JSON object
 * with what it should have, equal roots for any number of threads, the judge against positions whose figures
 * are known, exit codes and what is said of bad input. How fast anything is is no matter for a test.
 */
#include "phx/cli.h"

#include "harness.h"
#include "run_phx.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* "%T/" in words is the scratch folder. */
static const char *expand(const char *words) {
    static char line[4000];
    size_t at = 0;
    for (; *words != 0; words++) {
        if (words[0] == '%' && words[1] == 'T') {
            at += (size_t)snprintf(line + at, sizeof line - at, "%s", test_scratch("bench-crowd-cli"));
            words++;
        } else {
            line[at++] = *words;
        }
    }
    line[at] = 0;
    return line;
}

static json_t *run_json(const char *words) {
    RunPhx run = run_phx(&(RunPhxOptions){0}, expand(words));
    CHECK_THAT(run.code == 0 && run.err[0] == 0, "phx %s: exit %d: %s", words, run.code, run.err);
    json_t *root = json_loads(run.out, JSON_REJECT_DUPLICATES, NULL);
    CHECK_THAT(json_is_object(root), "phx %s: %s", words, run.out);
    run_phx_release(&run);
    return root;
}

static double number(const json_t *root, const char *key) {
    const json_t *value = json_object_get(root, key);
    CHECK_THAT(json_is_number(value), "%s is missing", key);
    return json_number_value(value);
}

static const char *text(const json_t *root, const char *key) {
    const char *value = json_string_value(json_object_get(root, key));
    CHECK_THAT(value != NULL, "%s is missing", key);
    return value;
}

/* ---- playing */

static const char *const played[] = {"n",
                                     "steps",
                                     "threads",
                                     "agent_steps_per_s",
                                     "ms_per_step",
                                     "mean_ms_per_step",
                                     "arrived",
                                     "arrivable",
                                     "overlap_max_radii",
                                     "overlaps_per_agent_step",
                                     "wall_max_radii",
                                     "wall_unit_steps",
                                     "jitter_rest",
                                     "jitter_motion",
                                     "jitter_threshold"};

static void check_row(const json_t *row) {
    for (size_t i = 0; i < sizeof played / sizeof played[0]; i++) {
        const double value = number(row, played[i]);
        CHECK_THAT(isfinite(value) && value >= 0, "%s: %s is %g", text(row, "scenario"), played[i], value);
    }
    CHECK(number(row, "arrived") <= 1 && number(row, "arrivable") <= 1);
    CHECK(number(row, "agent_steps_per_s") > 0 && number(row, "jitter_threshold") > 0);
    CHECK_EQ(strlen(text(row, "root")), 16);
}

PHX_TEST(bench_crowd, plays_all_scenarios_alike_on_any_threads) {
    static const char *const names[] = {"circle", "blocks",   "random", "counterflow",
                                        "door",   "crossing", "point",  "packed"};
    enum { NAMES = sizeof names / sizeof names[0] };
    json_t *root = run_json("bench --json crowd --steps 25 --threads 1,3");
    const json_t *rows = json_object_get(root, "rows");
    CHECK_EQ(json_array_size(rows), 2 * NAMES);
    for (size_t i = 0; i < 2 * NAMES; i++) {
        const json_t *row = json_array_get(rows, i);
        CHECK_STR(text(row, "scenario"), names[i / 2]);
        CHECK_EQ(number(row, "threads"), i % 2 ? 3 : 1);
        CHECK_EQ(number(row, "steps"), 25);
        CHECK_STR(text(row, "root"), text(json_array_get(rows, i & ~(size_t)1), "root"));
        check_row(row);
    }
    json_decref(root);
    /* Of one scenario with one number of threads everything is at the top; the root is that of the row. */
    json_t *one = run_json("bench crowd --scenario random --n 300 --steps 60 --json"),
           *two = run_json("bench crowd --scenario random --n 300 --steps 60 --threads 2 --json"),
           *plain = run_json("bench crowd --scenario random --n 300 --steps 60 --plain --json"),
           *shorter = run_json("bench crowd --scenario random --n 300 --steps 59 --json");
    check_row(one);
    CHECK_EQ(number(one, "n"), 300);
    CHECK_EQ(number(one, "wall_max_radii"), 0);
    CHECK_STR(text(one, "root"), text(two, "root"));
    CHECK(strcmp(text(one, "root"), text(plain, "root")) != 0 &&
          json_is_true(json_object_get(plain, "plain")));
    CHECK(strcmp(text(one, "root"), text(shorter, "root")) != 0);
    json_decref(one);
    json_decref(two);
    json_decref(plain);
    json_decref(shorter);
}

PHX_TEST(bench_crowd, ends_by_itself_and_tells_of_rest_and_parting) {
    /* No number of steps: until all are there. */
    json_t *circle = run_json("bench crowd --scenario circle --n 20 --json");
    CHECK_EQ(number(circle, "arrived"), 1);
    CHECK_EQ(number(circle, "arrivable"), 1);
    CHECK(number(circle, "steps") > 20 && number(circle, "steps") < 4000);
    json_decref(circle);
    json_t *point = run_json("bench crowd --scenario point --steps 40 --json");
    CHECK(number(point, "apart_after_s") > 0 && number(point, "overlap_max_radii") > 0.9);
    CHECK_EQ(json_is_true(json_object_get(point, "met")), number(point, "apart_after_s") <= 1);
    json_decref(point);
    json_t *packed = run_json("bench crowd --scenario packed --steps 200 --json");
    CHECK_EQ(json_is_true(json_object_get(packed, "met")),
             number(packed, "deviation") <= number(packed, "deviation_target"));
    CHECK_EQ(number(packed, "wall_max_radii"), 0);
    json_decref(packed);
}

/* ---- judging */

static void put_double(FILE *file, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++, bits >>= 8) CHECK(putc((int)(bits & 0xff), file) != EOF);
}

static FILE *open_trace(const char *name) {
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", test_scratch("bench-crowd-cli"), name);
    FILE *file = fopen(path, "wb");
    CHECK_THAT(file != NULL, "%s", path);
    return file;
}

enum { FRAMES = 40, RATE = 4 };

/* Two units of radius 1 begin at one point, with their goals at (20, 0). Step s, from 1 on: they are 0.2 s
 * apart across the way, and go half a unit a step along it; the first sways by 0.1 to and fro from step 20
 * on. */
static void write_point(const char *name, bool sways) {
    FILE *file = open_trace(name);
    for (int s = 1; s <= FRAMES; s++)
        for (int unit = 0; unit < 2; unit++) {
            const double across = 0.1 * (s < 20 ? s : 20) * (unit ? 1 : -1);
            put_double(file, 0.5 * s);
            put_double(file, across + (sways && unit == 0 && s >= 20 && s % 2 ? -0.1 : 0));
        }
    CHECK(fclose(file) == 0);
}

PHX_TEST(bench_crowd, judges_positions_of_others) {
    write_point("straight.f64", false);
    write_point("swaying.f64", true);
    json_t *straight = run_json("bench crowd --scenario point --judge %T/straight.f64 --json"),
           *swaying = run_json("bench crowd --judge %T/swaying.f64 --scenario point --json");
    CHECK_EQ(number(straight, "n"), 2);
    CHECK_EQ(number(straight, "steps"), FRAMES);
    CHECK_EQ(number(straight, "arrived"), 1); /* 1.9 and 2.0 from the goal */
    /* Distances 0.2, 0.4 .. 2: at step s deep by 2 - 0.2 s radii, so that nine steps overlap. */
    CHECK(fabs(number(straight, "overlap_max_radii") - 1.8) < 1e-5);
    CHECK(fabs(number(straight, "overlaps_per_agent_step") - 9.0 / (2 * FRAMES)) < 1e-5);
    CHECK_EQ(number(straight, "apart_after_s"), 10.0 / RATE);
    CHECK_EQ(json_is_true(json_object_get(straight, "met")), false);
    CHECK_EQ(number(straight, "wall_max_radii"), 0);
    CHECK_EQ(number(straight, "jitter_motion"), 0);
    /* Acceleration across changes its side at each step but the first of the swaying. */
    CHECK(number(swaying, "jitter_motion") * 2 * FRAMES / RATE > 10);
    CHECK(number(swaying, "jitter_motion") * 2 * FRAMES / RATE < 24);
    CHECK(json_object_get(straight, "root") == NULL && json_object_get(straight, "threads") == NULL);
    json_decref(straight);
    json_decref(swaying);
}

/* Ten that stand still where they began, but for one that is 0.004 off in every second step; and one that
 * leaves through the wall. */
PHX_TEST(bench_crowd, judges_rest_and_walls) {
    static const double row[3] = {3, 4, 3};
    FILE *still = open_trace("still.f64"), *out = open_trace("out.f64");
    for (int s = 1; s <= FRAMES; s++) {
        for (int j = 0, unit = 0; j < 3; j++)
            for (int i = 0; i < (int)row[j]; i++, unit++) {
                const double x = (i + 0.5) * 3 / row[j] - 1.5, y = (j - 1) * 0.9;
                put_double(still, x + (unit == 4 && s % 2 ? 0.004 : 0));
                put_double(still, y);
                put_double(out, unit == 0 ? x - 0.05 * s : x);
                put_double(out, y);
            }
    }
    CHECK(fclose(still) == 0 && fclose(out) == 0);
    json_t *rest = run_json("bench crowd --scenario packed --judge %T/still.f64 --json"),
           *wall = run_json("bench crowd --scenario packed --judge %T/out.f64 --json");
    CHECK_EQ(number(rest, "arrived"), 1);
    CHECK(fabs(number(rest, "deviation") - 0.002) < 1e-6);
    CHECK_EQ(number(rest, "jitter_motion"), 0);
    CHECK(number(rest, "jitter_rest") > 0);
    /* At the end (-3, -0.9), beyond the wall from -1.5 to -2.5; deepest in its middle, 0.9 off its edges. */
    CHECK(fabs(number(wall, "arrived") - 0.9) < 1e-9);
    CHECK(number(wall, "wall_max_radii") > 1.9 && number(wall, "wall_max_radii") < 2.5);
    CHECK(number(wall, "wall_unit_steps") > 20);
    json_decref(rest);
    json_decref(wall);
}

/* ---- ticks */

PHX_TEST(bench_tick, measures_whole_ticks_by_phase) {
    json_t *root = run_json("bench tick --units 200,1000 --threads 1,2 --ticks 4 --json");
    const json_t *rows = json_object_get(root, "rows");
    CHECK_EQ(json_array_size(rows), 4);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i), *phases = json_object_get(row, "ms_by_phase");
        const char *key;
        json_t *value;
        double sum = 0;
        CHECK_EQ(number(row, "units"), i < 2 ? 200 : 1000);
        CHECK_EQ(number(row, "threads"), i % 2 + 1);
        CHECK_EQ(number(row, "moving"), number(row, "units")); /* all of them, to the end */
        CHECK(number(row, "wall_cells") > 0 && number(row, "ms_per_tick") > 0);
        json_object_foreach(json_object_get(row, "ms_by_phase"), key, value) sum += json_number_value(value);
        CHECK(number(phases, "orca") > 0 && number(phases, "fields") > 0 && number(phases, "hash") > 0);
        CHECK(number(phases, "orca") == number(row, "orca_ms") && sum >= number(row, "orca_ms"));
        const double ratio = number(row, "ms_per_tick") / number(row, "orca_ms") - 1;
        CHECK_THAT(fabs(ratio - number(row, "ratio")) < 1e-3 * (1 + ratio), "%g", ratio);
        CHECK(number(row, "ratio_with_crowd") <= number(row, "ratio"));
        CHECK_EQ(json_is_true(json_object_get(row, "met")), number(row, "ratio") <= number(row, "target"));
        CHECK_STR(text(row, "root"), text(json_array_get(rows, i & ~(size_t)1), "root"));
    }
    json_decref(root);
}

/* ---- wrong use */

typedef struct Case {
    const char *words;
    int code;
    const char *says; /* in the output for code 0, else in the error output */
} Case;

static const Case cases[] = {
    {"bench crowd --scenario square", 2,
     "square: there is none of that name; there are circle, blocks, random, "},
    {"bench crowd --scenario crossing --n 5", 2, "--n: 5: crossing can have 4 to 4 units"},
    {"bench crowd --scenario circle --n 1", 2, "--n: 1: circle can have 2 to 10000 units"},
    {"bench crowd --scenario counterflow --n 1000000000000", 2, "--n: 1000000000000: a number from 1"},
    {"bench crowd --scenario random --n 0", 2, "--n: 0: a number from 1"},
    {"bench crowd --n 100", 2, "--scenario NAME besides"},
    {"bench crowd --judge %T/straight.f64", 2, "--scenario NAME besides"},
    {"bench crowd --steps 0", 2, "--steps: 0: a number from 1"},
    {"bench crowd --threads 0", 2, "--threads: 0: numbers from 1"},
    {"bench crowd --scenario door --long", 2, "--long plays all scenarios"},
    {"bench crowd --scenario door --judge %T/x.f64 --plain", 2, "--judge plays nothing"},
    {"bench crowd --scenario door --judge %T/nowhere.f64", 2, "nowhere.f64: No such file or directory"},
    {"bench crowd --scenario door --judge %T", 2, ": Is a directory"},
    {"bench crowd --scenario door --judge %T/half.f64", 2,
     "half.f64: 40 bytes are not a whole number of frames"},
    {"bench crowd --scenario point --judge %T/half.f64", 2, "2 units takes 32 bytes a step"},
    {"bench crowd --scenario point --judge %T/empty.f64", 2, "empty.f64: 0 bytes are not"},
    {"bench crowd --scenario point --judge %T/nan.f64", 2, "nan.f64: step 1: unit 1: (1, "},
    {"bench crowd random", 2, "random: one argument too many"},
    {"bench tick --units 5", 2, "--units: 5: numbers from 10"},
    {"bench tick --units 100,x", 2, "--units: 100,x: numbers from 10"},
    {"bench tick --ticks 0", 2, "--ticks: 0: a number from 1"},
    {"bench tick --threads 1,,2", 2, "--threads: 1,,2: "},
    {"bench crowd --help", 0, "xamples:\n  phx bench crowd"},
    {"bench tick --help", 0, "xamples:\n  phx bench tick"},
    {"bench crowd --scenario packed --steps 30", 0, "standard deviation of positions over the last second "},
    {"bench crowd --scenario point --steps 3", 0, "accelerations above 0.5"},
    {"bench tick --units 50 --ticks 2", 0, "ms a tick by phase"}};

PHX_TEST(bench_crowd, exit_codes_and_what_is_said) {
    FILE *half = open_trace("half.f64"), *empty = open_trace("empty.f64"), *nan = open_trace("nan.f64");
    for (int i = 0; i < 5; i++) put_double(half, i);
    for (int i = 0; i < 4; i++) put_double(nan, i == 3 ? (double)NAN : i % 2 ? 0 : 1);
    CHECK(fclose(half) == 0 && fclose(empty) == 0 && fclose(nan) == 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        RunPhx run = run_phx(&(RunPhxOptions){0}, expand(cases[i].words));
        CHECK_THAT(run.code == cases[i].code, "phx %s: exit %d, not %d; it says: %s", cases[i].words,
                   run.code, cases[i].code, run.err);
        const char *where = cases[i].code == 0 ? run.out : run.err,
                   *other = cases[i].code == 0 ? run.err : run.out;
        CHECK_THAT(strstr(where, cases[i].says) != NULL, "phx %s says: %s", cases[i].words, where);
        CHECK_THAT(other[0] == 0, "phx %s says besides: %s", cases[i].words, other);
        run_phx_release(&run);
    }
    /* In JSON too. */
    RunPhx run = run_phx(&(RunPhxOptions){0}, "bench --json crowd --scenario square");
    json_t *root = json_loads(run.out, JSON_REJECT_DUPLICATES, NULL);
    CHECK_EQ(run.code, 2);
    CHECK_EQ(number(json_object_get(root, "error"), "exit"), 2);
    json_decref(root);
    run_phx_release(&run);
}
