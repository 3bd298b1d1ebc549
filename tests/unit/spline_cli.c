/* spline_cli.c: phx spline draw as a person or a script meets it: samples as JSON, pictures, and what is said
 * of every way to get a file wrong.
 */
#include <jansson.h>
#include <math.h>
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
