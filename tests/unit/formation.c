/* formation.c: formations from a scenario's text and by orders, what is said of ways to get it wrong, and phx
 * formation draw as a person or a script meets it.
 */
#include <jansson.h>
#include <phalanx/formation.h>
#include <stdlib.h>

#include "content/scenario.h"
#include "harness.h"
#include "run_phx.h"
#include "step/sim_internal.h"

enum { ONE = 65536, SIDE = 64 };

static const char *const good =
    "map: m\n"                                                          /* 1 */
    "players: [{name: Ash}]\n"                                          /* 2 */
    "unit_types:\n"                                                     /* 3 */
    "  - {name: sword}\n"                                               /* 4 */
    "  - {name: bow, rank: 15, radius: 0.3}\n"                          /* 5 */
    "groups:\n"                                                         /* 6 */
    "  - {name: a, player: Ash, type: sword, count: 8, at: [10, 10]}\n" /* 7 */
    "  - {name: b, player: Ash, type: bow, count: 4, at: [10, 16]}\n"   /* 8 */
    "orders:\n"                                                         /* 9 */
    "  - {tick: 0, groups: [a, b], form: {shape: wedge, at: [40, 30], facing: 90, width: 9, gap: 1}}\n" /* 10
                                                                                                         */
    "  - {tick: 1, groups: [a], form: {shape: circle, at: [20.5, 20]}}\n" /* 11 */
    "  - {tick: 2, groups: [a, b], form: {shape: arrow, at: [40, 40]}}\n"
    "  - {tick: 3, groups: [b], form: {shape: short, at: [40, 40]}}\n"
    "patterns:\n"                                          /* 14 */
    "  - {name: short, slots: [{at: [0, 0], rank: 15}]}\n" /* 15 */
    "  - name: arrow\n"                                    /* 16 */
    "    slots: [{at: [0, 0]}, {at: [-1, 1]}, {at: [-1, -1]}, {at: [-2, 2]}, {at: [-2, -2]}, {at: [-3, 3]}, "
    "{at: [-3, -3]}, {at: [-3, 0]}, {at: [-1, 0], rank: 15}, {at: [-2, 0], rank: 15}, "
    "{at: [-2, 1], rank: 15}, {at: [-2, -1], rank: 15}]\n";

static PhxScenario *parse(const char *text) {
    PhxScenario *scenario;
    PhxYamlError error = {0};
    const PhxStatus status = phx_scenario_parse("good.yaml", text, strlen(text), &scenario, &error);
    CHECK_THAT(status == PHX_OK, "%s", error.text);
    return scenario;
}

static void give(void *user, uint8_t slot, const uint8_t *bytes, uint32_t size) {
    CHECK_OK(phx_command_check(bytes, size, slot, NULL));
    CHECK_OK(phx_sim_step(user, &(PhxCommand){.slot = slot, .bytes = bytes, .size = size}, 1));
}

PHX_TEST(formation_scenario, comes_from_content_and_by_orders) {
    static uint8_t cost[SIDE * SIDE];
    const PhxNavGrid map = {.width = SIDE, .height = SIDE, .cost = cost};
    void *blob;
    size_t size;
    PhxSim *sim;
    PhxYamlError fault = {0};
    PhxScenario *scenario = parse(good);
    memset(cost, 1, sizeof cost);
    CHECK_THAT(phx_scenario_build(scenario, &map, &blob, &size, &fault) == PHX_OK, "%s", fault.text);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &sim, NULL));
    free(blob);
    const PhxFormationTable *rows = &sim->world->formation;
    CHECK(sim->world->unit_type.rank[0] == 0 && sim->world->unit_type.rank[1] == 15);
    phx_scenario_orders(scenario, sim, 0, give, sim);
    CHECK_EQ(sim->world->tables[PHX_TABLE_formation].live, 1);
    CHECK(rows->shape[0] == PHX_FORMATION_WEDGE && rows->goal_x[0] == 40 * ONE &&
          rows->goal_y[0] == 30 * ONE);
    CHECK(rows->turns[0] == 1 && rows->goal_facing[0] == PHX_ANGLE_QUARTER && rows->members[0] == 12);
    CHECK(rows->width[0] == 9 * ONE && rows->gap[0] == ONE);
    phx_scenario_orders(scenario, sim, 1, give, sim);
    CHECK(rows->shape[1] == PHX_FORMATION_CIRCLE && rows->goal_x[1] == 41 * ONE / 2 && rows->turns[1] == 0);
    CHECK(rows->width[1] == 0 && rows->gap[1] == PHX_FORMATION_GAP);
    CHECK(rows->members[0] == 4 && rows->members[1] == 8); /* those who left, and those who are left */
    phx_scenario_orders(scenario, sim, 2, give, sim);
    uint32_t row = 0;
    while (rows->shape[row] != PHX_FORMATION_PATTERN) row++;
    CHECK(rows->members[row] == 12 && rows->pattern[row] == 1);
    for (int t = 0; t < 1500; t++) CHECK_OK(phx_sim_step(sim, NULL, 0));
    const PhxFormationPatternTable *patterns = &sim->world->formation_pattern;
    bool taken[12] = {false};
    for (uint32_t i = 0; i < 12; i++) { /* each in the slot of a lane of its rank */
        const PhxVec2 at =
            phx_formation_to_frame(phx_vec2(40 * ONE, 40 * ONE), rows->facing[row],
                                   phx_vec2(sim->world->unit.pos_x[i], sim->world->unit.pos_y[i]));
        uint32_t lane = 0;
        while (lane < 12 && (abs(at.x - patterns->forward[128 + lane]) > ONE / 8 ||
                             abs(at.y - patterns->right[128 + lane]) > ONE / 8))
            lane++;
        CHECK_THAT(lane < 12 && !taken[lane], "unit %u at %d %d", i, at.x, at.y);
        CHECK_EQ(patterns->rank[128 + lane], i < 8 ? 0 : 15);
        taken[lane] = true;
    }
    const uint32_t full = sim->world->match.commands_full[0];
    phx_scenario_orders(scenario, sim, 3, give, sim); /* four, and one slot */
    CHECK(sim->world->match.commands_full[0] == full + 1);
    CHECK(sim->world->unit.formation[8] == sim->world->unit.formation[0]);
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
}

static const struct Fault {
    const char *find, *instead, *message; /* the message's beginning behind the file's name */
} faults[] = {
    {"rank: 15", "rank: 16", "5:23: rank: 16: a whole number from 0 to 15 is wanted"},
    {"shape: wedge", "shape: star",
     "10:37: form: shape \"star\": column, line, rectangle, wedge or circle is wanted, "
     "or a pattern's name"},
    {"name: arrow", "name: short", "16:5: "},
    {"[{at: [0, 0], rank: 15}]", "[{at: [0, 5000], rank: 15}]", "15:36: at: "},
    {"shape: circle, ", "", "11:34: shape: missing: a form order needs this key"},
    {"width: 9", "width: 1025", "10:85: width: 1025: a number from 0 to 1024 is wanted"},
    {"width: 9", "depth: 9",
     "10:78: depth: no such key in a form order; there are: shape, at, facing, width, gap"},
    {"gap: 1}", "gap: 17}", "10:93: gap: 17: a number from 0 to 16 is wanted"},
    {"[20.5, 20]}", "[20.5, 20]}, queued: true",
     "11:5: a formation begins where its units are: form can't be queued"},
};

PHX_TEST(formation_scenario, each_fault_is_named_with_its_place_and_a_remedy) {
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char text[4096], want[400];
        const char *at = strstr(good, faults[i].find);
        PhxScenario *scenario;
        PhxYamlError error = {0};
        CHECK_THAT(at != NULL, "no \"%s\"", faults[i].find);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, faults[i].instead,
                 at + strlen(faults[i].find));
        CHECK_THAT(phx_scenario_parse("bad.yaml", text, strlen(text), &scenario, &error) != PHX_OK,
                   "\"%s\" was accepted", faults[i].instead);
        snprintf(want, sizeof want, "bad.yaml:%s", faults[i].message);
        if (strncmp(error.text, want, strlen(want)) != 0) CHECK_STR(error.text, want);
    }
}

static RunPhx phx(const char *words) {
    char folder[1100];
    snprintf(folder, sizeof folder, "%s", test_scratch("formation"));
    return run_phx(&(RunPhxOptions){.folder = folder}, words);
}

static void write_text(const char *name, const char *text) {
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", test_scratch("formation"), name);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(text, 1, strlen(text), file) == strlen(text) && fclose(file) == 0);
}

PHX_TEST(formation_cli, draws_slots_and_who_takes_them) {
    write_text("pattern.txt", "0 0 0\n-1 -1 0\n-1 1 0\n\n-2 0 1\n");
    write_text("starts.txt", "-9 1\n-9 -1\n-9 0\n-12 0\n");
    RunPhx run =
        phx("formation draw pattern --pattern pattern.txt --units 3,1 --facing 90 --at 10,20 --starts "
            "starts.txt --out p.svg --json");
    CHECK_THAT(run.code == 0, "%s", run.err);
    json_t *root = json_loads(run.out, 0, NULL);
    const json_t *slots = json_object_get(root, "slots");
    CHECK_EQ(json_array_size(slots), 4);
    bool seen[4] = {false};
    for (size_t i = 0; i < 4; i++) {
        const json_int_t unit = json_integer_value(json_object_get(json_array_get(slots, i), "unit"));
        CHECK(unit >= 0 && unit < 4 && !seen[unit]);
        seen[unit] = true;
    }
    CHECK_EQ(json_integer_value(json_object_get(json_array_get(slots, 3), "unit")),
             3); /* the one of rank 1 */
    CHECK_STR(json_string_value(json_object_get(json_array_get(slots, 1), "x")), "11");
    CHECK_STR(json_string_value(json_object_get(json_array_get(slots, 1), "y")), "19");
    json_decref(root);
    run_phx_release(&run);
    for (int shape = 0; shape < PHX_FORMATION_PATTERN; shape++) {
        char words[200];
        snprintf(words, sizeof words,
                 "formation draw %s --units 20,8 --radius 0.4,0.3 --scatter 5 --out s.png",
                 phx_formation_shape_name((PhxFormationShape)shape));
        run = phx(words);
        CHECK_THAT(run.code == 0 && strstr(run.out, "of 28 units: ") != NULL, "%s%s", run.out, run.err);
        run_phx_release(&run);
    }
}

PHX_TEST(formation_cli, bad_words_end_with_2_and_a_remedy) {
    static const char *const bad[][2] = {
        {"", "an argument is missing"},
        {"star", "star: column, line, rectangle, wedge, circle or pattern is wanted"},
        {"line --units 0", "a formation needs a unit"},
        {"line --units 600,600", "at most 1024 units"},
        {"line --units 1,2,x", "numbers from 0 to 1024"},
        {"line --radius 17", "--radius 17: a number from 0.0625 to 16 is wanted"},
        {"line --radius 1,2", "has more numbers than --units has ranks"},
        {"line --width 0.5", "a wider one is wanted"},
        {"line --gap -1", "--gap -1: a number from 0 to 16 is wanted"},
        {"line --at 5", "X,Y is wanted"},
        {"line --facing east", "--facing east: a number from -360 to 360 is wanted"},
        {"line --out line.gif", "written as .png or .svg"},
        {"line --scatter 1 --starts pattern.txt", "one of them is wanted"},
        {"line --pattern pattern.txt", "is for the shape pattern"},
        {"line --starts nowhere.txt", "nowhere.txt"},
        {"line --units 2 --starts long.txt", "long.txt:3: at most 2 lines are wanted"},
        {"line --units 9 --starts long.txt", "has 3 lines; 9 units need one each"},
        {"pattern", "--pattern FILE is missing"},
        {"pattern --pattern long.txt --units 9", "add lines, or take fewer units"},
        {"pattern --pattern near.txt --units 2", "move them apart"},
        {"pattern --pattern words.txt --units 2", "words.txt:2: a line is X Y RANK"},
    };
    write_text("pattern.txt", "0 0 0\n");
    write_text("long.txt", "0 0\n1 1\n2 2\n");
    write_text("near.txt", "0 0 0\n0 0.5 0\n");
    write_text("words.txt", "0 0 0\n1 two 0\n");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char words[200];
        snprintf(words, sizeof words, "formation draw %s", bad[i][0]);
        RunPhx run = phx(words);
        CHECK_THAT(run.code == 2 && strstr(run.err, bad[i][1]) != NULL, "%s: %d %s", words, run.code,
                   run.err);
        run_phx_release(&run);
    }
}
