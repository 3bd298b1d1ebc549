/* bench_cli.c: phx bench hash, replay, nav, assign, flock, spline and all, as a person or a script meets
 * them: one JSON object with a key a case, a table, exit codes. What the figures are is no matter for a test;
 * that they are there, are of the right things and agree with each other is.
 */
#include "phx/cli.h"

#include "harness.h"
#include "run_phx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs `phx WORDS` in the project's folder; its standard output lies in *text, for the caller to free. */
static int phx(const char *words, char **text) {
    char folder[2048];
    snprintf(folder, sizeof folder, "%s", test_source(""));
    RunPhx run = run_phx(&(RunPhxOptions){.folder = folder}, words);
    *text = run.out;
    free(run.err);
    return run.code;
}

static double number(const json_t *root, const char *name, const char *key) {
    const json_t *value = json_object_get(json_object_get(root, name), key);
    CHECK_THAT(json_is_number(value), "%s.%s is missing", name, key);
    return json_number_value(value);
}

static json_t *parse(const char *text) {
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL); /* refuses what stands behind the object */
    CHECK_THAT(json_is_object(root), "no JSON object: %s", text);
    return root;
}

/* `target`: the key of the value that must not be above "target"; null: the case has none. */
static const struct {
    const char *name, *keys[7], *target;
} cases[] = {
    {"hash_1000", {"ms", "tick_ms", "ratio", "units", "moving", "threads"}, "ratio"},
    {"hash_10000", {"ms", "tick_ms", "ratio", "units", "moving", "threads"}, "ratio"},
    {"hash_at_rest", {"ms", "small_ms", "ratio", "side", "threads"}, "ratio"},
    {"replay_keyframes", {"bytes", "bytes_per_minute", "minutes", "players", "ticks"}, NULL},
    {"replay_plain", {"bytes", "bytes_per_minute", "minutes", "players", "ticks"}, NULL},
    {"replay_verify", {"ms", "ms_per_tick", "ticks", "threads"}, NULL},
    {"replay_seek", {"ratio", "worst_ratio", "ms", "ticks_mean", "ticks_worst", "jumps"}, NULL},
    {"replay_bisect_builds", {"ratio", "ms", "tick", "threads"}, "ratio"},
    {"replay_bisect_files", {"ratio", "ms", "tick", "threads"}, "ratio"},
    {"memory_copy", {"ns_per_byte", "ns_per_cell", "bytes", "threads"}, NULL},
    {"full_512_uniform", {"ns_per_cell", "ms", "reached", "threads", "ratio", "side", "bytes"}, NULL},
    {"full_512_walls20", {"ns_per_cell", "ms", "reached", "threads", "ratio", "side", "bytes"}, NULL},
    {"full_1024_uniform", {"ns_per_cell", "ms", "reached", "threads", "ratio", "side", "bytes"}, NULL},
    {"full_1024_walls20", {"ns_per_cell", "ms", "reached", "threads", "ratio", "side", "bytes"}, NULL},
    {"full_1024_weighted", {"ns_per_cell", "ms", "reached", "threads", "side", "bytes"}, "ns_per_cell"},
    {"full_1024_smooth", {"ns_per_cell", "ms", "reached", "threads", "side", "bytes"}, "ns_per_cell"},
    {"goals_100", {"ns_per_cell", "ms", "clock_ms", "cpu_ms", "threads", "goals", "bytes"}, NULL},
    {"goals_100_threads2", {"ns_per_cell", "ms", "clock_ms", "cpu_ms", "speedup", "goals", "bytes"}, NULL},
    {"goals_100_nearest", {"ns_per_cell", "ms", "reached", "threads", "ratio", "side", "bytes"}, NULL},
    {"goals_100_tiles", {"ns_per_cell", "ms", "clock_ms", "cpu_ms", "threads", "tiles", "bytes"}, NULL},
    {"goals_100_tiles_threads2", {"ms", "clock_ms", "cpu_ms", "speedup", "tiles", "units", "bytes"}, NULL},
    {"memory",
     {"bytes_per_sector", "bytes_per_tile", "cap_bytes", "wanted_bytes", "bytes", "ratio"},
     "ratio"},
    {"edit_1024", {"ms", "worst_ms", "ratio", "worst_ratio", "fields_ms", "ratio_anew", "bytes"}, "ratio"},
    {"load_4096", {"ms", "ns_per_cell", "sectors", "portals", "bytes", "plane_bytes", "threads"}, "ms"},
    {"load_4096_threads2", {"ms", "clock_ms", "cpu_ms", "speedup", "sectors", "portals", "bytes"}, NULL},
    {"first_order_4096", {"ms", "first_tile_ms", "way_ms", "tiles", "side", "bytes", "all_bytes"}, "ms"},
    {"assign_64", {"ms", "units", "slots", "threads"}, NULL},
    {"assign_grid_line", {"ms", "units", "slots", "threads"}, "ms"},
    {"assign_circle_wedge", {"ms", "units", "slots", "threads"}, "ms"},
    {"assign_grid_files", {"ms", "units", "slots", "threads"}, "ms"},
    {"assign_random_grid", {"ms", "units", "slots", "threads"}, "ms"},
    {"assign_scattered_grid", {"ms", "units", "slots", "threads"}, "ms"},
    {"assign_spare_slots", {"ms", "units", "slots", "threads"}, "ms"},
    {"assign_in_place", {"ms", "units", "slots", "threads"}, "ms"},
    {"flock_1000", {"ms", "ns_per_unit", "ratio", "units", "density", "threads"}, NULL},
    {"flock_10000", {"ms", "ns_per_unit", "ratio", "units", "density", "threads"}, NULL},
    {"flock_50000", {"ms", "ns_per_unit", "ratio", "units", "density", "threads"}, NULL},
    {"flock_10000_dense", {"ms", "ns_per_unit", "ratio", "units", "density", "threads"}, NULL},
    {"flock_10000_pressed", {"ms", "ns_per_unit", "ratio", "units", "density", "threads"}, NULL},
    {"spline_degree_1", {"ns", "ratio", "points", "threads"}, NULL},
    {"spline_degree_2", {"ns", "ratio", "points", "threads"}, NULL},
    {"spline_cubic", {"ns", "ratio", "points", "threads"}, "ratio"},
    {"spline_degree_4", {"ns", "ratio", "points", "threads"}, NULL},
    {"spline_degree_5", {"ns", "ratio", "points", "threads"}, NULL},
    {"spline_sample", {"ns", "ratio", "points", "threads"}, NULL},
    {"spline_place", {"ns", "ratio", "points", "threads"}, NULL},
    {"spline_edit", {"ns", "ratio", "points", "threads"}, NULL}};
enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

PHX_TEST(bench, all_prints_one_object_with_a_key_a_case) {
    char *text;
    CHECK_EQ(phx("bench --json all --brief", &text), 0);
    json_t *root = parse(text);
    CHECK_EQ(json_object_size(root), CASE_COUNT);
    for (int i = 0; i < CASE_COUNT; i++) {
        for (int k = 0; k < 7 && cases[i].keys[k] != NULL; k++) {
            const double value = number(root, cases[i].name, cases[i].keys[k]);
            CHECK_THAT(isfinite(value) && value > 0, "%s.%s is %g", cases[i].name, cases[i].keys[k], value);
        }
        const json_t *met = json_object_get(json_object_get(root, cases[i].name), "met");
        CHECK_EQ(json_is_boolean(met), cases[i].target != NULL);
        if (cases[i].target != NULL)
            CHECK_EQ(json_is_true(met),
                     number(root, cases[i].name, cases[i].target) <= number(root, cases[i].name, "target"));
    }
    /* The crowds move, and the recording has the players and keyframes it should. */
    CHECK(number(root, "hash_1000", "moving") > 900 && number(root, "hash_10000", "moving") > 9000);
    CHECK_EQ(number(root, "replay_keyframes", "players"), 8);
    CHECK_EQ(number(root, "replay_keyframes", "ticks"), 400);
    CHECK(number(root, "replay_keyframes", "keyframes") > 0);
    CHECK_EQ(number(root, "replay_plain", "keyframes"), 0);
    CHECK(number(root, "replay_plain", "bytes") < number(root, "replay_keyframes", "bytes"));
    CHECK_EQ(number(root, "replay_bisect_builds", "tick"), 300);
    CHECK_EQ(number(root, "replay_bisect_files", "tick"), 300);
    /* All open cells are reached; random walls of a fifth leave most of the rest connected. */
    CHECK_EQ(number(root, "full_512_uniform", "reached"), 512 * 512);
    CHECK(number(root, "full_512_walls20", "reached") < 512 * 512 * 0.82);
    CHECK(number(root, "full_512_walls20", "reached") > 512 * 512 * 0.70);
    const double ns = number(root, "full_1024_uniform", "ns_per_cell");
    CHECK(fabs(ns * 1024 * 1024 / 1e6 - number(root, "full_1024_uniform", "ms")) < 1e-3 * (1 + ns));
    /* The load wants ten times the cap, which holds; all tiles are the same on two threads. */
    CHECK(number(root, "memory", "wanted_bytes") >= 10 * number(root, "memory", "cap_bytes"));
    CHECK(number(root, "memory", "bytes") <= number(root, "memory", "cap_bytes"));
    CHECK(number(root, "memory", "evicted") > 0);
    CHECK_EQ(number(root, "goals_100_tiles", "tiles"), number(root, "goals_100_tiles_threads2", "tiles"));
    CHECK_EQ(number(root, "goals_100_tiles_threads2", "threads"), 2);
    CHECK(number(root, "edit_1024", "worst_ms") >= number(root, "edit_1024", "ms"));
    CHECK_EQ(number(root, "edit_1024", "goals"), 20);
    /* The first order's own tick is a part of the whole way, and its memory holds planes, graph and cache. */
    CHECK_EQ(number(root, "first_order_4096", "ms"), number(root, "first_order_4096", "first_tile_ms"));
    CHECK(number(root, "first_order_4096", "way_ms") > number(root, "first_order_4096", "ms"));
    CHECK(number(root, "first_order_4096", "all_bytes") > number(root, "first_order_4096", "bytes"));
    CHECK(number(root, "first_order_4096", "all_bytes") <= number(root, "first_order_4096", "bytes_target"));
    CHECK_EQ(number(root, "first_order_4096", "bytes_target"), 64 << 20);
    /* What an assignment costs is no matter of the machine. */
    CHECK_EQ(number(root, "assign_64", "worst_percent"), 0);
    CHECK(number(root, "assign_random_grid", "worst_percent") <= 5);
    json_decref(root);
    free(text);
}

PHX_TEST(bench, words_options_and_wrong_use) {
    static const char *const wrong[] = {"bench nav hash",
                                        "bench nav --ticks 500",
                                        "bench all --ticks 5",
                                        "bench replay --ticks 0",
                                        "bench hash --scenario x.yaml",
                                        "bench replay --brief --scenario no-such-file.yaml",
                                        "bench nothing-of-that-name",
                                        "bench nav --threads 2",
                                        "bench nav --brief --long"};
    char *text;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char words[200];
        CHECK_THAT(phx(wrong[i], &text) == 2, "%s", wrong[i]);
        free(text);
        snprintf(words, sizeof words, "%s --json", wrong[i]);
        CHECK_THAT(phx(words, &text) == 2, "%s", words);
        json_t *root = parse(text);
        CHECK_THAT(number(root, "error", "exit") == 2, "%s", words);
        json_decref(root);
        free(text);
    }
    CHECK_EQ(phx("bench replay --brief", &text), 0);
    CHECK(strstr(text, "replay_verify") != NULL && strstr(text, "hash_1000") == NULL);
    free(text);
    CHECK_EQ(phx("bench all --help", &text), 0);
    CHECK(strstr(text, "Examples:") != NULL && strstr(text, "phx bench hash --json") != NULL);
    free(text);
    /* Scenarios are measured as ever. */
    CHECK_EQ(phx("bench tests/scenario/duel.yaml --threads 1 --ticks 20 --json", &text), 0);
    json_t *root = parse(text);
    CHECK_EQ(json_array_size(json_object_get(root, "rows")), 1);
    json_decref(root);
    free(text);
}
