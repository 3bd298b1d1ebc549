/* spline_cli.c: phx spline as a person or a script meets it: samples as JSON, pictures, points made even and
 * smooth, rails, and what is said of every way to get a file wrong.
 */
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "run_phx.h"

static const char *path_of(const char *name) {
    static char path[2100];
    snprintf(path, sizeof path, "%s/%s", test_scratch("spline"), name);
    return path;
}

static const char *write_file(const char *text) {
    const char *path = path_of("spline.yaml");
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

static RunPhx draw(const char *text, const char *options) {
    char words[4000];
    snprintf(words, sizeof words, "spline draw %s%s%s", write_file(text), options[0] ? " " : "", options);
    return run_phx(&(RunPhxOptions){0}, words);
}

static const char *write_named(const char *name, const char *text) {
    const char *path = path_of(name);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

/* phx spline WORD FILE OPTIONS on a file of this name with this text. */
static RunPhx spline(const char *word, const char *name, const char *text, const char *options) {
    char words[4000];
    snprintf(words, sizeof words, "spline %s %s%s%s", word, write_named(name, text), options[0] ? " " : "",
             options);
    return run_phx(&(RunPhxOptions){0}, words);
}

static double at(const json_t *root, const char *key, size_t i, size_t k) {
    const json_t *sample = json_array_get(json_object_get(root, "samples"), i);
    return json_number_value(json_array_get(json_object_get(sample, key), k));
}

PHX_TEST(spline_cli, samples_lie_at_equal_lengths) {
    RunPhx run = draw("degree: 2\npoints: [[0, 0], [10, 0], [10, 10, 4], [0, 10]]\n", "--samples 51 --json");
    CHECK_EQ(run.code, 0);
    json_t *root = json_loads(run.out, 0, NULL);
    CHECK(root && json_array_size(json_object_get(root, "samples")) == 51);
    CHECK_EQ(json_integer_value(json_object_get(root, "pieces")), 2);
    CHECK(at(root, "point", 0, 0) == 0 && at(root, "point", 50, 0) == 0 && at(root, "point", 50, 1) == 10);
    const double length = json_number_value(json_object_get(root, "length"));
    for (size_t i = 1; i < 51; i++) {
        double square = 0;
        for (size_t k = 0; k < 3; k++)
            square += pow(at(root, "point", i, k) - at(root, "point", i - 1, k), 2);
        CHECK_THAT(fabs(sqrt(square) / (length / 50) - 1) < 0.01, "sample %zu", i);
    }
    json_decref(root);
    run_phx_release(&run);
}

PHX_TEST(spline_cli, pictures_are_written) {
    static const char *const texts[] = {
        "degree: 3\nkind: periodic\npoints: [[0, 0], [10, 0], [10, 10], [0, 10], [-5, 5]]\n",
        "degree: 1\nkind: given\npoints: [[0, 0], [1, 1], [2, 0]]\nknots: [0, 0, 0.5, 3, 3]\n",
        "points: [[5, 5], [5, 5], [5, 5], [5, 5]]\n"};
    static const char *const endings[] = {"svg", "png"};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            char options[3000], name[32];
            snprintf(name, sizeof name, "spline.%s", endings[k]);
            snprintf(options, sizeof options, "--out %s", path_of(name));
            RunPhx run = draw(texts[i], options);
            CHECK_THAT(run.code == 0, "%d: %s", i, run.err);
            char head[8] = {0};
            FILE *file = fopen(path_of(name), "rb");
            CHECK(file && fread(head, 1, 7, file) == 7);
            fclose(file);
            CHECK(!memcmp(head, k == 0 ? "<?xml v" : "\x89PNG\r\n\x1a", 7));
            unlink(path_of(name));
            run_phx_release(&run);
        }
}

PHX_TEST(spline_cli, every_fault_is_named) {
    static const struct {
        const char *text, *options, *said;
    } wrong[] = {
        {"points: [[0, 0], [1, 1], [2, 0]]\n", "", "has 3 points; degree 3 needs 4 or more"},
        {"degree: 6\npoints: []\n", "", ":1:9: 6: a degree from 1 to 5"},
        {"kind: open\n", "", ":1:7: open: clamped, periodic or given"},
        {"color: red\n", "", ":1:1: color: degree, kind, points or knots"},
        {"points:\n  - [0, 0]\n  - [1]\n", "", ":3:5: a point is [x, y]"},
        {"points:\n  - [0, 0]\n  - [1, x]\n", "", ":3:9: x: a number"},
        {"points:\n  - [0, 9000]\n", "", ":2:9: 9000: a number from -8192 to 8192"},
        {"points: 7\n", "", ":1:9: 7: a list of points"},
        {"degree: 1\nkind: given\npoints: [[0, 0], [1, 1]]\nknots: [0, 0, 1]\n", "",
         "has 3 knots; 2 points of"},
        {"degree: 1\nkind: given\npoints: [[0, 0], [1, 1]]\nknots: [0, 1, 0, 1]\n", "",
         ":4:15: 0: knots don't fall"},
        {"degree: 1\nkind: given\npoints: [[0, 0], [1, 1]]\nknots: [0, 0, 0, 1]\n", "", "too often"},
        {"degree: 1\npoints: [[0, 0], [1, 1]]\nknots: [0, 0, 1, 1]\n", "", "knots are for kind: given"},
        {"degree: 1\npoints: [[0, 0], [1, 1]]\n", "--samples 1", "--samples 1: a number from 2"},
        {"degree: 1\npoints: [[0, 0], [1, 1]]\n", "--out x.gif", "x.gif"},
        {"points: [[0, 0\n", "", "spline.yaml"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        RunPhx run = draw(wrong[i].text, wrong[i].options);
        CHECK_THAT(run.code == 2 && strstr(run.err, wrong[i].said), "%zu: %d, %s", i, run.code, run.err);
        run_phx_release(&run);
    }
    static const char *const words[] = {"spline", "spline paint x", "spline draw",
                                        "spline draw no-such.yaml"};
    for (int i = 0; i < 4; i++) {
        RunPhx run = run_phx(&(RunPhxOptions){0}, words[i]);
        CHECK_THAT(run.code == 2, "%s", words[i]);
        run_phx_release(&run);
    }
    RunPhx run = run_phx(&(RunPhxOptions){0}, "spline --help");
    CHECK(run.code == 0 && strstr(run.out, "phx spline draw"));
    run_phx_release(&run);
}

static const char *const square =
    "degree: 2\nkind: periodic\npoints:\n  - [0, 0]\n  - [8, 0]\n  - [8, 8]\n  - [0, 8]\n";

PHX_TEST(spline_cli, points_are_made_even) {
    RunPhx run = spline("resample", "line.csv", "x,y,z\n0,0,0\r\n\n 3 , 0,0\n3,4,0", "--count 8");
    CHECK_STR(run.out, "x,y,z\n0,0,0\n1,0,0\n2,0,0\n3,0,0\n3,1,0\n3,2,0\n3,3,0\n3,4,0\n");
    run_phx_release(&run);
    run = spline("resample", "square.yaml", square, "--spacing 4.1");
    CHECK_STR(run.out, "degree: 2\nkind: periodic\npoints:\n  - [0, 0]\n  - [4, 0]\n  - [8, 0]\n  - [8, 4]\n"
                       "  - [8, 8]\n  - [4, 8]\n  - [0, 8]\n  - [0, 4]\n");
    run_phx_release(&run);
    char options[3000];
    snprintf(options, sizeof options, "--spacing 1 --out %s", path_of("even.csv"));
    run = spline("resample", "line.csv", "0,0\n0,3\n", options);
    CHECK(run.code == 0 && run.out[0] == 0);
    run_phx_release(&run);
    char *text = test_read_file(path_of("even.csv"), NULL);
    CHECK_STR(text, "x,y\n0,0\n0,1\n0,2\n0,3\n");
    free(text);
    run = spline("smooth", "line.csv", "0,0\n1,1\n2,-1\n3,0\n", "--passes 0");
    CHECK_STR(run.out, "x,y\n0,0\n1,1\n2,-1\n3,0\n");
    run_phx_release(&run);
    /* straight and even points stay; knots are kept */
    run =
        spline("smooth", "line.yaml",
               "degree: 1\nkind: given\npoints: [[0, 0], [1, 1], [2, 2]]\nknots: [0, 0, 1, 2.5, 2.5]\n", "");
    CHECK_STR(
        run.out,
        "degree: 1\nkind: given\npoints:\n  - [0, 0]\n  - [1, 1]\n  - [2, 2]\nknots:\n  - 0\n  - 0\n  - 1\n"
        "  - 2.5\n  - 2.5\n");
    run_phx_release(&run);
    run = spline("smooth", "square.yaml", square, "--json");
    json_t *root = json_loads(run.out, 0, NULL);
    CHECK(run.code == 0 && json_array_size(json_object_get(root, "points")) == 4);
    json_decref(root);
    run_phx_release(&run);
}

PHX_TEST(spline_cli, rails_go_by_time) {
    RunPhx run = spline("sample", "line.yaml", "degree: 1\npoints: [[0, 0], [0, 3]]\n", "--speed 2 --rate 2");
    CHECK_STR(run.out, "time,x,y,z,tangent_x,tangent_y,tangent_z,look_x,look_y,look_z,heading\n"
                       "0.000000,0,0,0,0,1,0,0,1,0,90\n0.500000,0,1,0,0,1,0,0,1,0,90\n"
                       "1.000000,0,2,0,0,1,0,0,1,0,90\n1.500000,0,3,0,0,1,0,0,1,0,90\n");
    run_phx_release(&run);
    char options[3000];
    snprintf(options, sizeof options, "--json --mode ping-pong --look %s",
             write_named("look.yaml", "degree: 1\npoints: [[4, 0], [4, 3]]\n"));
    run = spline("sample", "line.yaml", "degree: 1\npoints: [[0, 0], [0, 3]]\n", options);
    json_t *root = json_loads(run.out, 0, NULL);
    const json_t *frames = json_object_get(root, "frames");
    CHECK(run.code == 0 && json_array_size(frames) == 6 * 30 + 1);
    for (size_t i = 0; i < 181; i++) {
        const json_t *frame = json_array_get(frames, i);
        const double time = json_number_value(json_object_get(frame, "time"));
        const double y = json_number_value(json_array_get(json_object_get(frame, "point"), 1));
        CHECK_THAT(fabs(y - (time < 3 ? time : 6 - time)) < 0.001, "%zu", i);
        CHECK(json_number_value(json_array_get(json_object_get(frame, "look"), 0)) > 0.999);
    }
    json_decref(root);
    run_phx_release(&run);
}

PHX_TEST(spline_cli, every_fault_of_points_and_rails_is_named) {
    static const struct {
        const char *word, *name, *text, *options, *said;
    } wrong[] = {
        {"resample", "a.csv", "0,0\n1,nan\n", "--count 3", "a.csv:2: 1,nan: x,y or x,y,z"},
        {"resample", "a.csv", "0,0\n1\n", "--count 3", "a.csv:2: 1: x,y"},
        {"resample", "a.csv", "0,0\n1,2,3,4\n", "--count 3", "a.csv:2: 1,2,3,4: x,y"},
        {"resample", "a.csv", "0,0\n1,1e5\n", "--count 3", "1,1e5: x,y"},
        {"resample", "a.csv", "0,0\n1,9000\n", "--count 3", "1,9000: x,y"},
        {"resample", "a.csv", "0,0\n1,\n", "--count 3", "a.csv:2: 1,: x,y"},
        {"resample", "a.csv", "", "--count 3", "has 0 points; 2 or more"},
        {"resample", "a.csv", "0,0\n", "--count 3", "has 1 points; 2 or more"},
        {"resample", "a.csv", "1,1\n1,1\n", "--count 3", "all points are one"},
        {"resample", "a.csv", "0,0\n1,1\n", "", "either --spacing or --count"},
        {"resample", "a.csv", "0,0\n1,1\n", "--count 3 --spacing 1", "either --spacing or --count"},
        {"resample", "a.csv", "0,0\n1,1\n", "--count 1", "--count 1: a number from 2 to 4096"},
        {"resample", "a.csv", "0,0\n1,1\n", "--count 5000", "--count 5000: a number from 2 to 4096"},
        {"resample", "a.csv", "0,0\n1,1\n", "--spacing 0", "--spacing 0: a number above 0"},
        {"resample", "a.csv", "0,0\n1,1\n", "--spacing inf", "--spacing inf: a number above 0"},
        {"resample", "a.csv", "0,0\n8000,1\n", "--spacing 0.1", "more than 4096 points"},
        {"resample", "a.yaml", "kind: periodic\npoints: [[0, 0], [1, 1]]\n", "--count 5",
         "has 2 points; 3 or more"},
        {"resample", "a.yaml", "kind: given\ndegree: 1\npoints: [[0, 0], [1, 1]]\nknots: [0, 0, 1, 1]\n",
         "--count 5", "knots belong to the points"},
        {"smooth", "a.csv", "0,0\n1,1\n", "--passes 1001", "--passes 1001: a number from 0 to 1000"},
        {"smooth", "a.csv", "0,0\n1,1\n", "--passes -1", "--passes"},
        {"smooth", "a.yaml", "points: [[0, 0], [1, x]]\n", "", ":1:22: x: a number"},
        {"sample", "a.csv", "0,0\n1,1\n", "", "has 2 points; degree 3 needs 4"},
        {"sample", "a.yaml", "degree: 1\npoints: [[0, 0], [1, 1]]\n", "--speed 0",
         "--speed 0: a number above 0"},
        {"sample", "a.yaml", "degree: 1\npoints: [[0, 0], [1, 1]]\n", "--speed nan",
         "--speed nan: a number above 0"},
        {"sample", "a.yaml", "degree: 1\npoints: [[0, 0], [1, 1]]\n", "--rate 0",
         "--rate 0: a number from 1"},
        {"sample", "a.yaml", "degree: 1\npoints: [[0, 0], [1, 1]]\n", "--mode back",
         "--mode back: once, loop"},
        {"sample", "a.yaml", "degree: 1\npoints: [[0, 0], [1, 1]]\n", "--seconds -3",
         "--seconds -3: a number above 0"},
        {"sample", "a.yaml", "degree: 1\npoints: [[0, 0], [1, 1]]\n", "--seconds 9999 --rate 1000",
         "frames; at most 100000"},
        {"sample", "a.yaml", "degree: 1\npoints: [[0, 0], [1, 1]]\n", "--look no-such.yaml", "no-such.yaml"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        RunPhx run = spline(wrong[i].word, wrong[i].name, wrong[i].text, wrong[i].options);
        CHECK_THAT(run.code == 2 && strstr(run.err, wrong[i].said), "%zu: %d, %s", i, run.code, run.err);
        run_phx_release(&run);
    }
}

/* A program that prints as the one that measures tinyspline does. */
PHX_TEST(spline_cli, another_programs_figures_stand_beside_ours) {
    const char *path =
        write_named("peer", "#!/bin/sh\necho 'tinyspline: degree 3'\n"
                            "echo '  ts_bspline_eval + copy result (x)   90.5 ns   1 /s (best 1.0 ns)'\n"
                            "echo '  ts_bspline_eval only (x)   1000000.25 ns   1 /s'\n"
                            "echo '  plain C de Boor   0.001 ns'\n");
    CHECK(chmod(path, 0700) == 0);
    char words[3000];
    snprintf(words, sizeof words, "bench spline --brief --json --peer %s", path);
    RunPhx run = run_phx(&(RunPhxOptions){0}, words);
    CHECK_THAT(run.code == 0, "%s", run.err);
    json_t *root = json_loads(run.out, 0, NULL);
    static const struct {
        const char *name;
        double ns;
    } cases[] = {{"spline_peer_copy", 90.5}, {"spline_peer_eval", 1000000.25}, {"spline_peer_plain", 0.001}};
    for (int i = 0; i < 3; i++) {
        const json_t *one = json_object_get(root, cases[i].name);
        const double ns = json_number_value(json_object_get(one, "ns"));
        CHECK(fabs(json_number_value(json_object_get(one, "peer_ns")) / cases[i].ns - 1) < 1e-4 && ns > 0);
        CHECK(fabs(json_number_value(json_object_get(one, "ratio")) * cases[i].ns / ns - 1) < 1e-4);
        if (i > 0) CHECK(json_is_true(json_object_get(one, "met")) == (i == 1));
    }
    json_decref(root);
    run_phx_release(&run);
    static const char *const wrong[] = {
        "bench spline --brief --peer /no/such/program", "bench spline --brief --peer true",
        "bench spline --brief --peer false", "bench assign --brief --peer true"};
    for (int i = 0; i < 4; i++) {
        run = run_phx(&(RunPhxOptions){0}, wrong[i]);
        CHECK_THAT(run.code == 2 && strstr(run.err, "--peer"), "%d: %d, %s", i, run.code, run.err);
        run_phx_release(&run);
    }
}
