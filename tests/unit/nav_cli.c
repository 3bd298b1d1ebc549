/* nav_cli.c: phx nav as a person or a script meets it: figures, pictures of the right size, proofs, lengths
 * that are known beforehand, and what is said of bad input; the checker of arrays against arrays that were
 * spoilt; and the arrays against the tiles that they were copied from.
 */
#include "phx/nav_walk.h"

#include "harness.h"
#include "run_phx.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nav/tile.h"

static RunPhx phx(const char *words) { return run_phx(&(RunPhxOptions){.folder = test_source("")}, words); }

/* A scratch file's path; four at a time. */
static const char *scratch(const char *name) {
    static char paths[4][1200];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_scratch("nav-cli"), name);
    return path;
}

static void write_text(const char *name, const char *text) {
    FILE *file = fopen(scratch(name), "wb");
    CHECK(file != NULL && fwrite(text, 1, strlen(text), file) == strlen(text) && fclose(file) == 0);
}

/* A map of open ground with a wall around the cells from 20,20 to 30,30, and a gap two cells wide. */
static void write_maps(void) {
    enum { WIDTH = 150, HEIGHT = 140 };
    static char text[64 + HEIGHT * (WIDTH + 1)];
    for (int island = 0; island < 2; island++) {
        size_t at = (size_t)snprintf(text, 64, "type octile\nheight %d\nwidth %d\nmap\n", HEIGHT, WIDTH);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                const bool rim = ((x == 20 || x == 30) && y >= 20 && y <= 30) ||
                                 ((y == 20 || y == 30) && x >= 20 && x <= 30);
                text[at++] = rim && (island || x != 30 || (y != 25 && y != 26)) ? '@' : '.';
            }
            text[at++] = '\n';
        }
        text[at] = 0;
        write_text(island ? "island.map" : "gap.map", text);
    }
    write_text("one.map", "type octile\nheight 1\nwidth 1\nmap\n.\n");
    write_text("row.map", "type octile\nheight 1\nwidth 9\nmap\n..S..T...\n");
    write_text("rock.map", "type octile\nheight 2\nwidth 2\nmap\n@@\n@@\n");
    write_text("short.map", "type octile\nheight 3\nwidth 2\nmap\n..\n.x\n..\n");
}

/* One way to and fro over a swamp of half a million cells: at --weights 5741,8119 it costs more than 2^32. */
static void write_serpentine(void) {
    enum { SIDE = 1024 };
    char *text = malloc(64 + SIDE * (SIDE + 1));
    CHECK(text != NULL);
    size_t at = (size_t)snprintf(text, 64, "type octile\nheight %d\nwidth %d\nmap\n", SIDE, SIDE);
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++)
            text[at++] = y % 2 == 0 || (y % 4 == 1 ? x == SIDE - 1 : x == 0) ? 'S' : '@';
        text[at++] = '\n';
    }
    text[at] = 0;
    write_text("serpentine.map", text);
    free(text);
}

/* "%T/" in words is the scratch folder. */
static const char *expand(const char *words) {
    static char line[4000];
    size_t at = 0;
    for (; *words != 0; words++) {
        if (words[0] == '%' && words[1] == 'T') {
            at += (size_t)snprintf(line + at, sizeof line - at, "%s", test_scratch("nav-cli"));
            words++;
        } else {
            line[at++] = *words;
        }
    }
    line[at] = 0;
    return line;
}

typedef struct Case {
    const char *words;
    int code;
    const char *says; /* in the output for code 0, else in the error output */
} Case;

static const Case cases[] = {
    {"nav", 2, "a word is missing: field, check or path is wanted"},
    {"nav fly", 2, "fly: field, check or path is wanted; phx nav --help"},
    {"nav field", 2, "an argument is missing: phx nav field MAP"},
    {"nav field %T/gap.map", 2, "--goal is missing: --goal X,Y, a cell of the map"},
    {"nav check %T/gap.map", 2, "--goal is missing"},
    {"nav path %T/gap.map --from 3,3 --to 5,5 --width 0", 2,
     "--width: 0: of a group, above 0 and at most 1024 cells"},
    {"nav path %T/gap.map --from 3,3 --to 5,5 --width wide", 2, "--width: wide"},
    {"nav path tests/scenario/lanes.map --from 20,28 --to 84,28 --width 12", 0,
     "route 2: 70.50 cells long, room for centres where it is narrowest 1.88"},
    {"nav path tests/scenario/lanes.map --from 20,28 --to 84,28", 0, "smoothed 67.20, 4 waypoints"},
    {"nav path %T/gap.map --to 3,3", 2, "--from is missing: --from X,Y"},
    {"nav path %T/gap.map --from 3,3", 2, "--to is missing: --to X,Y"},
    {"nav field /nowhere.map --goal 1,1", 2, "/nowhere.map: No such file or directory"},
    {"nav field /dev/zero --goal 1,1", 2, "/dev/zero: larger than"},
    {"nav field %T/short.map --goal 1,1", 2, "short.map: map, line 6, column 2: unknown letter 'x'; use"},
    {"nav field %T/gap.map --goal 200,3", 2,
     "--goal: 200,3: outside of the map, whose cells go from 0,0 to 149,139; the nearest open cell is 149,3"},
    {"nav field %T/gap.map --goal 20,20", 2, "--goal: 20,20: a wall; the nearest open cell is 20,19"},
    {"nav field %T/gap.map --goal 29,25 --radius 2", 2,
     "29,25: too narrow for this size; the nearest open cell is"},
    {"nav field %T/rock.map --goal 1,1", 2, "1,1: a wall, and %T/rock.map has no open cell for this size"},
    {"nav field %T/rock.map --goal 3,3", 2, "whose cells go from 0,0 to 1,1\n"},
    {"nav field %T/gap.map --goal 3", 2, "--goal: 3: a cell X,Y is wanted, two whole numbers with a comma"},
    {"nav field %T/gap.map --goal 3,-1", 2, "--goal: 3,-1: a cell X,Y is wanted"},
    {"nav field %T/gap.map --goal 3,4x", 2, "--goal: 3,4x: a cell X,Y is wanted"},
    {"nav field %T/gap.map --goal 99999999999999999999,4", 2, "a cell X,Y is wanted"},
    {"nav field %T/gap.map --goal 3,4,0,5", 2, "--goal: 3,4,0,5: the area is empty"},
    {"nav field %T/gap.map --goal 300,4,2,5", 2, "--goal: 300,4,2,5: outside of the map"},
    {"nav field %T/gap.map --goal 20,20,5,1", 2, "--goal: 20,20,5,1: a wall; the nearest open cell is"},
    {"nav field %T/gap.map --goal 0,0,100,100", 2, "--goal: more than 4096 cells"},
    {"nav field %T/gap.map --goal 3,3 --layer heat", 2,
     "--layer: heat: no such layer; there are: cost, integration, flow, los, portals"},
    {"nav field %T/gap.map --goal 3,3 --radius 17", 2,
     "--radius: 17: a radius from 0.0625 to 16 cells is wanted"},
    {"nav field %T/gap.map --goal 3,3 --radius x", 2, "--radius: x: a radius"},
    {"nav field %T/gap.map --goal 3,3 --weights 10,21", 2, "--weights: 10,21: two whole numbers S,D"},
    {"nav field %T/gap.map --goal 3,3 --weights 0,0", 2, "--weights: 0,0: two whole numbers"},
    {"nav field %T/gap.map --goal 3,3 --png %T/x.gif", 2, "x.gif: pictures are written as .png or .svg"},
    {"nav field %T/gap.map --goal 3,3 --png /nowhere/x.png", 2, "/nowhere/x.png: No such file or directory"},
    {"nav field %T/gap.map --goal 3,3 --scale 0 --png %T/x.png", 2, "--scale: 0: a number from 1 to 64"},
    {"nav field %T/gap.map --goal 3,3 --view 1,2,3 --png %T/x.png", 2, "--view: 1,2,3: X,Y,W,H is wanted"},
    {"nav field %T/gap.map --goal 3,3 --view 1,2,0,3 --png %T/x.png", 2, "--view: 1,2,0,3: X,Y,W,H"},
    {"nav field %T/gap.map --goal 3,3 --whole --sectors", 2, "--whole and --sectors: one of them"},
    {"nav field %T/gap.map --goal 3,3 --whole --layer portals", 2, "a field of the whole map has no portals"},
    {"nav field %T/gap.map --goal 3,3 --threads 0", 2, "--threads: 0: a number from 1 to 64"},
    {"nav check %T/gap.map --goal 3,3 --threads 65", 2, "--threads: 65: a number from 1 to 64"},
    {"nav path %T/gap.map --from 3,3 --to 25,20", 2, "--to: 25,20: a wall; the nearest open cell is 25,19"},
    {"nav path %T/gap.map --from 3,3,1,1 --to 5,5", 2, "--from: 3,3,1,1: a cell X,Y is wanted"},
    {"nav path %T/island.map --from 3,3 --to 25,25", 1, "no way leads there, for units of radius 0.5"},
    {"nav path %T/gap.map --from 3,3 --to 25,25 --radius 1.5", 1,
     "no way leads there, for units of radius 1.5"},
    {"nav path %T/gap.map --from 3,3 --to 25,25 --radius 1", 0, "3,3 to 25,25: exact "},
    {"nav path %T/one.map --from 0,0 --to 0,0", 0, "exact 0.00 cells long"},
    {"nav path %T/row.map --from 0,0 --to 4,0", 0,
     "exact 4.00 cells long, cost 5.0; by sectors 4.00, cost 5.0"},
    {"nav check %T/one.map --goal 0,0", 0, "both fields hold: 1 of 1 open cells"},
    {"nav check %T/row.map --goal 0,0", 0, "both fields hold: 5 of 8 open cells"},
    {"nav check %T/gap.map --goal 25,25", 0, "no fault in 9 tiles"},
    {"nav check %T/island.map --goal 25,25 -j 2", 0, "both fields hold: 81 of "},
    {"nav check tests/scenario/duel.yaml --goal 9,9 --goal 50,50,3,3 --radius 1.5", 0, "both fields hold"},
    {"nav field tests/scenario/siege.yaml --layer cost --type nobody", 2,
     "--type: nobody: no such type of unit in tests/scenario/siege.yaml; there are: soldier, cart, ram"},
    {"nav field tests/scenario/siege.yaml --layer cost --type 3", 2, "--type: 3: no such type of unit"},
    {"nav field tests/scenario/siege.yaml --layer cost --team 1", 2, "--team needs --type"},
    {"nav field tests/scenario/siege.yaml --layer cost --type cart --team 16", 2,
     "--team: 16: a number from 0"},
    {"nav field tests/scenario/siege.yaml --layer cost --type cart --radius 1", 2, "has a radius of its own"},
    {"nav field tests/scenario/siege.yaml --layer cost --tick 5", 2,
     "is no replay: it has its first tick alone"},
    {"nav field %T/gap.map --layer cost --type cart", 2, "is a map without units; give --radius, or name a"},
    {"nav path tests/scenario/siege.yaml --type soldier --from 105,41 --to 30,40", 0,
     "105,41 to 30,40: exact"},
    {"nav path tests/scenario/siege.yaml --type soldier --team 1 --from 105,41 --to 30,40", 1,
     "no way leads there, for soldier of team 1"},
    {"nav check tests/scenario/siege.yaml --type ram --goal 60,40 --goal 104,20", 0, "both fields hold"},
    {"nav check %T/serpentine.map --goal 0,0", 0, "both fields hold: 524800 of 524800"},
    {"nav check %T/serpentine.map --goal 0,0 --weights 5741,8119", 0, "costs pass the 32 bits of a whole"},
    {"nav field %T/serpentine.map --goal 0,0 --weights 5741,8119 --whole", 2, "more than the 32 bits of a"},
    {"nav field %T/serpentine.map --goal 0,0 --weights 5741,8119", 0, "ways cost up to 1049598.0 cells"},
    {"nav field %T/gap.map --layer cost", 0, "20962 cells"},
    {"nav field %T/gap.map --goal 3,3 --goal 3,3 --goal 2,2,2,2", 0, "4 goal cells"}};

PHX_TEST(nav_cli, exit_codes_and_what_is_said) {
    write_maps();
    write_serpentine();
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
    static const char *const helps[] = {"nav --help", "nav field --help", "nav check --help",
                                        "nav path --help"};
    for (size_t i = 0; i < sizeof helps / sizeof helps[0]; i++) {
        RunPhx run = phx(helps[i]);
        CHECK_THAT(run.code == 0 && strstr(run.out, "xamples:\n  phx nav ") != NULL, "phx %s", helps[i]);
        run_phx_release(&run);
    }
}

/* JSON. */

static json_t *run_json(const char *words, int code) {
    RunPhx run = phx(expand(words));
    CHECK_THAT(run.code == code, "phx %s: exit %d: %s", words, run.code, run.err);
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

static double of_way(const json_t *root, const char *way, const char *key) {
    return number(json_object_get(root, way), key);
}

PHX_TEST(nav_cli, figures_are_right_and_the_same_for_any_threads) {
    write_maps();
    json_t *root = run_json("nav field %T/island.map --goal 3,3 --json", 0);
    CHECK_EQ(number(root, "width"), 150);
    CHECK_EQ(number(root, "height"), 140);
    CHECK_EQ(number(root, "open_cells"), 150 * 140 - 40);
    CHECK_EQ(number(root, "unreached"), 81);
    CHECK_EQ(number(root, "reached"), 150 * 140 - 40 - 81);
    CHECK_EQ(number(root, "sectors"), 9);
    CHECK(number(root, "tiles") >= 9 && number(root, "portals") > 0 && number(root, "tile_bytes") > 4096);
    /* From the far corner 136 diagonal and 10 straight steps, and a little more around the walls. */
    CHECK(number(root, "largest_cost") >= 201.6 && number(root, "largest_cost") < 201.6 * 1.05);
    json_t *two = run_json("nav field %T/island.map --goal 3,3 --json --threads 2", 0);
    CHECK(number(root, "mean_cost") == number(two, "mean_cost"));
    json_decref(two);
    json_decref(root);
    root = run_json("nav field %T/island.map --goal 3,3 --json --whole --layer los", 0);
    CHECK_EQ(number(root, "reached"), 150 * 140 - 40 - 81);
    CHECK(number(root, "largest_cost") == 201.6 && number(root, "in_sight") > 10000 &&
          number(root, "in_sight") < 150 * 140 - 40 - 81 - 500);
    json_decref(root);
    root = run_json("nav check tests/scenario/clash.map --goal 61,35 --json", 0);
    CHECK(json_is_true(json_object_get(root, "holds")));
    CHECK(number(root, "ratio_mean") >= 1 && number(root, "ratio_mean") <= 1.03);
    CHECK(number(root, "ratio_worst") <= 1.15);
    json_decref(root);
    root = run_json("nav path %T/island.map --json --from 3,3 --to 25,25", 1);
    CHECK_EQ(number(json_object_get(root, "error"), "exit"), 1);
    json_decref(root);
}

PHX_TEST(nav_cli, ways_have_the_lengths_that_geometry_gives) {
    write_maps();
    json_t *root = run_json("nav path %T/gap.map --json --from 40,50 --to 140,50", 0);
    for (int i = 0; i < 3; i++) {
        const char *const ways[] = {"exact", "sectors", "walked"};
        CHECK_THAT(fabs(of_way(root, ways[i], "length") - 100) < 0.05, "%s", ways[i]);
    }
    CHECK_EQ(of_way(root, "exact", "cost"), 100);
    json_decref(root);
    /* 30 diagonal and 60 straight steps; a unit walks straight, but for a little at the borders of sectors.
     */
    root = run_json("nav path %T/gap.map --json --from 40,40 --to 130,70 --weights 5741,8119", 0);
    CHECK(fabs(of_way(root, "exact", "length") - (60 + 30 * sqrt(2))) < 0.01);
    CHECK(of_way(root, "sectors", "length") >= 60 + 30 * sqrt(2) - 0.01);
    CHECK(of_way(root, "walked", "length") >= number(root, "straight_line") - 0.3);
    CHECK(of_way(root, "walked", "length") <= 1.02 * number(root, "straight_line"));
    CHECK(fabs(number(root, "straight_line") - hypot(90, 30)) < 1e-3);
    json_decref(root);
    /* Around the walls to the gap. */
    root = run_json("nav path %T/gap.map --json --from 10,25 --to 25,25", 0);
    CHECK(number(root, "straight_line") == 15 && of_way(root, "exact", "length") > 30);
    CHECK(of_way(root, "walked", "length") < of_way(root, "exact", "length"));
    json_decref(root);
}

/* Pictures. */

static uint32_t big_endian(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The PNG has the size that was told; it holds more than one colour if its bytes are many. */
static void check_png(const char *name, const json_t *told, uint32_t cells_wide, uint32_t cells_high,
                      uint32_t scale) {
    size_t size;
    unsigned char *bytes = (unsigned char *)test_read_file(scratch(name), &size);
    CHECK_THAT(bytes != NULL && size > 2000 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0, "%s", name);
    const uint32_t width = big_endian(bytes + 16), height = big_endian(bytes + 20);
    CHECK_EQ(number(told, "width"), width);
    CHECK_EQ(number(told, "height"), height);
    CHECK_THAT(width >= cells_wide * scale + 40 && height >= cells_high * scale + 100 &&
                   (width <= cells_wide * scale + 60 || width < 700) && height <= cells_high * scale + 160,
               "%s: %" PRIu32 " x %" PRIu32, name, width, height);
    free(bytes);
}

PHX_TEST(nav_cli, each_layer_is_drawn_at_its_size) {
    static const char *const layers[] = {"cost", "integration", "flow", "los", "portals"};
    write_maps();
    for (int i = 0; i < 5; i++)
        for (int whole = 0; whole < 2; whole++) {
            if (whole && strcmp(layers[i], "portals") == 0) continue;
            char words[400];
            snprintf(words, sizeof words,
                     "nav field %%T/gap.map --goal 100,20 --goal 25,25,2,2 --layer %s --png %%T/layer.png "
                     "--scale 5 "
                     "--json%s",
                     layers[i], whole ? " --whole" : "");
            json_t *root = run_json(words, 0);
            CHECK_STR(json_string_value(json_object_get(root, "layer")), layers[i]);
            check_png("layer.png", json_object_get(root, "png"), 150, 140, 5);
            json_decref(root);
        }
    json_t *root =
        run_json("nav field %T/gap.map --goal 100,20 --view 90,10,200,30 --png %T/view.png --scale 20 "
                 "--json",
                 0);
    check_png("view.png", json_object_get(root, "png"), 60, 30, 20);
    json_decref(root);
    root = run_json("nav field tests/scenario/duel.yaml --goal 9,9 --layer cost --png %T/duel.png --json", 0);
    check_png("duel.png", json_object_get(root, "png"), 64, 64, 18);
    json_decref(root);
    root = run_json("nav path %T/gap.map --from 3,3 --to 25,25 --png %T/way.svg --json", 0);
    char *text = test_read_file(scratch("way.svg"), NULL);
    CHECK(text != NULL && strncmp(text, "<?xml", 5) == 0);
    free(text);
    json_decref(root);
}

PHX_TEST(nav_cli, blobs_and_replays_are_maps_too) {
    RunPhx run = phx(expand("content compile tests/scenario/duel.yaml -o %T/duel.phxc"));
    CHECK_EQ(run.code, 0);
    run_phx_release(&run);
    run = phx(expand("run tests/scenario/duel.yaml --ticks 5 --replay %T/duel.phxr"));
    CHECK_EQ(run.code, 0);
    run_phx_release(&run);
    json_t *yaml = run_json("nav field tests/scenario/duel.yaml --goal 9,9 --json", 0),
           *blob = run_json("nav field %T/duel.phxc --goal 9,9 --json", 0),
           *replay = run_json("nav field %T/duel.phxr --goal 9,9 --json", 0);
    CHECK(number(yaml, "mean_cost") == number(blob, "mean_cost") &&
          number(yaml, "mean_cost") == number(replay, "mean_cost"));
    CHECK_EQ(number(replay, "open_cells"), number(yaml, "open_cells"));
    json_decref(yaml);
    /* Ground that changes: a replay at a tick. A barricade is placed, walls stand open or shut. */
    run = phx(expand("run tests/scenario/siege.yaml --ticks 500 --replay %T/siege.phxr"));
    CHECK_EQ(run.code, 0);
    run_phx_release(&run);
    json_t *first = run_json("nav field %T/siege.phxr --layer cost --type soldier --json", 0),
           *later = run_json("nav field %T/siege.phxr --layer cost --type soldier --tick 500 --json", 0);
    CHECK_EQ(number(first, "open_cells"), 8254);
    CHECK(number(later, "open_cells") != 8254);
    json_decref(first);
    json_decref(later);
    run = phx(expand("nav field %T/siege.phxr --layer cost --tick 501"));
    CHECK(run.code == 2 && strstr(run.err, "--tick: 501") != NULL);
    run_phx_release(&run);
    json_decref(blob);
    json_decref(replay);
}

/* Arrays. */

typedef struct Fixture {
    PhxCli cli;
    PhxNavInput input;
    PhxNavSectors sectors;
    PhxNavLayers layers;
} Fixture;

/* A map of 150 x 140 with random walls and costs, three goals. */
static void open_fixture(Fixture *fixture, uint64_t seed, size_t cache_bytes) {
    static uint8_t ground[150 * 140];
    static uint32_t goals[3];
    for (size_t i = 0; i < sizeof ground; i++) {
        const uint64_t value = test_random(&seed);
        ground[i] = value % 5 == 0 ? PHX_NAV_IMPASSABLE : (uint8_t)(1 + (value >> 8) % 9);
    }
    for (uint32_t i = 0; i < 3; i++) {
        goals[i] = 2000 + 7001 * i;
        ground[goals[i]] = 1;
    }
    *fixture = (Fixture){.cli = {.command = "test", .root = json_object()}};
    fixture->input = (PhxNavInput){.cli = &fixture->cli,
                                   .path = "made",
                                   .ground = ground,
                                   .plane = ground,
                                   .grid = {.width = 150, .height = 140, .cost = ground},
                                   .weights = PHX_FIELD_WEIGHTS_DEFAULT,
                                   .goals = goals,
                                   .goal_count = 3};
    CHECK_EQ(phx_nav_sectors_open(&fixture->input, 1, cache_bytes, &fixture->sectors), PHX_CLI_GO);
    const PhxNavWanted all = {.sight = true, .direction = true, .portals = true};
    CHECK_EQ(phx_nav_layers_sectors(&fixture->sectors, all, &fixture->layers), PHX_CLI_GO);
}

static void close_fixture(Fixture *fixture) {
    phx_nav_layers_close(&fixture->layers);
    phx_nav_sectors_close(&fixture->sectors);
    json_decref(fixture->cli.root);
}

/* One array of a tile's sector, cell by cell. */
static void check_tile(Fixture *fixture, uint32_t sector) {
    const PhxNavGrid *grid = &fixture->input.grid;
    const PhxSectorFrame frame = phx_sector_frame(grid->width, grid->height, sector);
    uint32_t id;
    phx_routes_begin(fixture->sectors.routes);
    CHECK(phx_routes_claim(fixture->sectors.routes, 0, 0, frame.y0 * grid->width + frame.x0, &id));
    CHECK_OK(phx_routes_build(fixture->sectors.routes, &fixture->sectors.jobs));
    const PhxTile *tile = phx_routes_tile(fixture->sectors.routes, id);
    for (uint32_t y = frame.y0; y < frame.y0 + frame.height; y++)
        for (uint32_t x = frame.x0; x < frame.x0 + frame.width; x++) {
            const uint32_t cell = y * grid->width + x;
            bool seen;
            CHECK_EQ(fixture->layers.flow[cell], phx_tile_flow(tile, grid, cell, &seen));
            CHECK_EQ(fixture->layers.sight[cell], seen || fixture->layers.flow[cell] == PHX_FLOW_GOAL);
            CHECK(fixture->layers.cost[cell] == phx_tile_cost(tile, grid, cell));
            const PhxVec2 at = phx_nav_cell_center(grid, cell);
            const PhxDir dir = phx_tile_direction(tile, grid, (PhxVec2){-65536, -65536}, at.x, at.y);
            CHECK(fixture->layers.direction[cell].x == dir.x && fixture->layers.direction[cell].y == dir.y);
        }
}

PHX_TEST(nav_cli, arrays_are_the_tiles_for_any_cache) {
    Fixture roomy, tight;
    open_fixture(&roomy, 3, 0);
    open_fixture(&tight, 3, 1); /* at least one tile is always kept */
    const size_t cells = 150 * 140;
    CHECK(memcmp(roomy.layers.cost, tight.layers.cost, cells * sizeof *roomy.layers.cost) == 0);
    CHECK(memcmp(roomy.layers.flow, tight.layers.flow, cells) == 0);
    CHECK(memcmp(roomy.layers.sight, tight.layers.sight, cells) == 0);
    CHECK(memcmp(roomy.layers.direction, tight.layers.direction, cells * sizeof *roomy.layers.direction) ==
          0);
    for (uint32_t sector = 0; sector < 9; sector++) check_tile(&roomy, sector);
    /* Portals join cells side by side in different sectors, each with its counterpart; no way from a portal's
     * cell is cheaper by the graph than the tile's, which may leave it. */
    CHECK(roomy.layers.portal_count > 50);
    for (uint32_t i = 0; i < roomy.layers.portal_count; i++) {
        const PhxRoutesPortal portal = roomy.layers.portals[i];
        const uint32_t x = portal.cell % 150, y = portal.cell / 150, ox = portal.partner % 150,
                       oy = portal.partner / 150;
        uint32_t back = 0;
        CHECK((x == ox && (y + 1 == oy || oy + 1 == y)) || (y == oy && (x + 1 == ox || ox + 1 == x)));
        CHECK(phx_sector_at(150, x, y) != phx_sector_at(150, ox, oy));
        for (uint32_t k = 0; k < roomy.layers.portal_count; k++)
            back += roomy.layers.portals[k].cell == portal.partner &&
                    roomy.layers.portals[k].partner == portal.cell;
        CHECK_EQ(back, 1);
        CHECK((portal.cost == UINT64_MAX) == (roomy.layers.cost[portal.cell] == UINT64_MAX));
        CHECK(portal.cost >= roomy.layers.cost[portal.cell]);
    }
    close_fixture(&tight);
    close_fixture(&roomy);
}

/* Some cell with an arrow, far from the goals. */
static uint32_t some_cell(const Fixture *fixture, uint64_t *seed) {
    for (;;) {
        const uint32_t cell = (uint32_t)(test_random(seed) % (150 * 140));
        if (fixture->layers.flow[cell] < 8 && fixture->layers.cost[cell] > 500) return cell;
    }
}

PHX_TEST(nav_cli, the_checker_sees_each_kind_of_fault) {
    Fixture fixture;
    PhxNavLayers *layers = &fixture.layers;
    char text[200];
    uint64_t seed = 5;
    open_fixture(&fixture, 4, 0);
    CHECK(phx_nav_layers_hold(&fixture.input, layers, text, sizeof text));
    for (int round = 0; round < 300; round++) {
        const uint32_t cell = some_cell(&fixture, &seed);
        const uint64_t cost = layers->cost[cell];
        const uint8_t flow = layers->flow[cell];
        switch (round % 6) {
        case 0: /* dearer or cheaper than its arrow says: what leads to it or leads on breaks */
            layers->cost[cell] = 1;
            break;
        case 1:
            layers->flow[cell] = PHX_FLOW_NONE;
            break;
        case 2:
            layers->cost[cell] = UINT64_MAX;
            break;
        case 3:
            layers->flow[cell] = PHX_FLOW_WALL;
            break;
        case 4:
            layers->flow[cell] = PHX_FLOW_GOAL;
            break;
        default: /* back where it came from: uphill, or into a wall */
            layers->flow[cell] = (uint8_t)((flow + 4) % 8);
        }
        CHECK_THAT(!phx_nav_layers_hold(&fixture.input, layers, text, sizeof text), "round %d cell %" PRIu32,
                   round, cell);
        CHECK_THAT(strncmp(text, "cell ", 5) == 0, "%s", text);
        layers->cost[cell] = cost;
        layers->flow[cell] = flow;
    }
    CHECK(phx_nav_layers_hold(&fixture.input, layers, text, sizeof text));
    const uint32_t goal = fixture.input.goals[1];
    layers->cost[goal] = 1;
    CHECK(!phx_nav_layers_hold(&fixture.input, layers, text, sizeof text));
    layers->cost[goal] = 0;
    layers->flow[goal] = 0;
    CHECK(!phx_nav_layers_hold(&fixture.input, layers, text, sizeof text) &&
          strstr(text, "not marked as one"));
    close_fixture(&fixture);
}
