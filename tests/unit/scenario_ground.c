/* scenario_ground.c: what a scenario says of its ground: kinds, heights, profiles, buildings, modifiers; and
 * the pictures of heights. */
#include "content/height_map.h"
#include "content/scenario.h"

#include "harness.h"
#include "step/sim_internal.h"

#include <stdlib.h>

static const char *const good =
    "map: m.map\n"                                                                         /* 1 */
    "height_map: m.pgm\n"                                                                  /* 2 */
    "density_period: 10\n"                                                                 /* 3 */
    "terrain: {trees: 4, swamp: 2}\n"                                                      /* 4 */
    "kinds:\n"                                                                             /* 5 */
    "  - {name: field}\n"                                                                  /* 6 */
    "  - {name: road, letters: G}\n"                                                       /* 7 */
    "  - {name: wild, letters: TS}\n"                                                      /* 8 */
    "profiles:\n"                                                                          /* 9 */
    "  - {name: wheels, cost: {road: 50, wild: 255}, speed: {road: 150}, slope_cost: 2,\n" /* 10 */
    "     slope_limit: 5, margin_cost: 3, margin_width: 2, density_cost: 1}\n"             /* 11 */
    "  - {name: hunters, cost: {wild: 25}, smoothing: gauss}\n"                            /* 12 */
    "players: [{name: Ash, team: 3}, {name: Birch, team: 0}]\n"                            /* 13 */
    "unit_types:\n"                                                                        /* 14 */
    "  - {name: cart, profile: wheels, sample_period: 4}\n"                                /* 15 */
    "  - {name: hunter, profile: hunters}\n"                                               /* 16 */
    "  - {name: soldier, profile: plain}\n"                                                /* 17 */
    "buildings:\n"                                                                         /* 18 */
    "  - {player: Ash, at: [2, 1], size: [3, 2]}\n"                                        /* 19 */
    "  - {player: Ash, at: [6, 1], gate: true}\n"                                          /* 20 */
    "  - {player: 1, at: [7, 1], gate: true, open_teams: [0, 5, 15]}\n"                    /* 21 */
    "  - {player: 1, at: [8, 1], gate: true, open_teams: []}\n"                            /* 22 */
    "modifiers:\n"                                                                         /* 23 */
    "  - {at: [3.5, -4], radius: 6.5, strength: -40}\n"                                    /* 24 */
    "  - {at: [1, 2], radius: 64, strength: 253, teams: [1, 2]}\n"                         /* 25 */
    "groups:\n"                                                                            /* 26 */
    "  - {player: Ash, type: soldier, count: 1, at: [3.5, 6.5]}\n";                        /* 27 */

/* `good` with one piece changed; the result lives until the next call. */
static const char *with(const char *find, const char *instead) {
    static char text[8192];
    const char *at = strstr(good, find);
    CHECK_THAT(at != NULL, "no \"%s\" in the good scenario", find);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, instead, at + strlen(find));
    return text;
}

static PhxScenario *parse(const char *text) {
    PhxScenario *scenario;
    PhxYamlError error = {0};
    const PhxStatus status = phx_scenario_parse("good.yaml", text, strlen(text), &scenario, &error);
    CHECK_THAT(status == PHX_OK, "%s", error.text);
    return scenario;
}

PHX_TEST(scenario_ground, every_key_arrives_where_it_belongs) {
    PhxScenario *scenario = parse(good);
    CHECK_STR(scenario->height_map, "m.pgm");
    CHECK_EQ(scenario->density_period, 10);
    CHECK_EQ(scenario->kind_count, 3);
    CHECK_STR(scenario->kind_names[1], "road");
    const uint8_t letter_kinds[5] = {0, 1, 2, 0, 2}; /* . G S W T */
    CHECK(memcmp(scenario->letter_kinds, letter_kinds, 5) == 0);
    CHECK_EQ(scenario->profile_count, 2);
    const PhxCostProfile wheels = {.kind_percent = {0, 50, 255},
                                   .speed_percent = {0, 150},
                                   .slope_cost = 2,
                                   .slope_limit = 5,
                                   .margin_cost = 3,
                                   .margin_width = 2,
                                   .density_cost = 1};
    const PhxCostProfile hunters = {.kind_percent = {0, 0, 25}, .smoothing = 2};
    CHECK_STR(scenario->profiles[0].name, "wheels");
    CHECK(memcmp(&scenario->profiles[0].def, &wheels, sizeof wheels) == 0);
    CHECK(memcmp(&scenario->profiles[1].def, &hunters, sizeof hunters) == 0);
    CHECK(scenario->types[0].profile == 1 && scenario->types[1].profile == 2 &&
          scenario->types[2].profile == 0);
    CHECK(scenario->types[0].sample_period == 4 && scenario->types[1].sample_period == 1);
    CHECK_EQ(scenario->building_count, 4);
    const PhxBuildingDef *house = &scenario->buildings[0].def;
    CHECK(house->x == 2 && house->y == 1 && house->width == 3 && house->height == 2 && house->player == 0);
    CHECK(house->gate == 0 && house->open_teams == 0);
    const PhxBuildingDef *gate = &scenario->buildings[1].def;
    CHECK(gate->width == 1 && gate->height == 1 && gate->gate == 1);
    CHECK_EQ(gate->open_teams, 1 << 3); /* its owner's team */
    CHECK_EQ(scenario->buildings[2].def.open_teams, 1 | 1 << 5 | 1 << 15);
    CHECK_EQ(scenario->buildings[2].def.player, 1);
    CHECK_EQ(scenario->buildings[3].def.open_teams, 0);
    CHECK_EQ(scenario->modifier_count, 2);
    const PhxCostModifier *road = &scenario->modifiers[0].def, *fear = &scenario->modifiers[1].def;
    CHECK(road->x == 7 * 32768 && road->y == -4 * 65536 && road->radius == 13 * 32768);
    CHECK(road->strength == -40 && road->teams == 65535);
    CHECK(fear->strength == 253 && fear->radius == 64 * 65536 && fear->teams == 6);
    phx_scenario_destroy(scenario);
    /* Without kinds there is one, "ground", for the percents to name. */
    scenario =
        parse("map: x\nplayers: [{name: A}]\nprofiles: [{name: p, cost: {ground: 254}, smoothing: mean}]\n"
              "unit_types: [{name: u, profile: p}]\ngroups: [{player: A, count: 1, at: [1, 1]}]\n");
    CHECK(scenario->profiles[0].def.kind_percent[0] == 254 && scenario->profiles[0].def.smoothing == 1);
    phx_scenario_destroy(scenario);
}

typedef struct Fault {
    const char *find, *instead, *message; /* the message's beginning behind the file's name */
} Fault;

static const Fault faults[] = {
    {"density_period: 10", "density_period: 1001",
     "3:17: density_period: 1001: a whole number from 0 to 1000"},
    {"letters: G", "letters: \"G@\"",
     "7:5: letters: G@: letters of a map are wanted that units may pass: .GSWT"},
    {"letters: G", "letters: GT", "8:5: letters: TS: T has a kind already"},
    {"name: road", "name: field", "7:5: two entries have the name \"field\""},
    {"letters: G", "letter: G", "7:18: letter: no such key in a kind of ground; there are: name, letters"},
    {"cost: {road", "cost: {rode", "10:27: rode: no such key in cost; there are: field, road, wild"},
    {"cost: {road: 50", "cost: {road: 0", "10:33: road: 0: a whole number from 1 to 255 is wanted"},
    {"cost: {wild: 25}", "cost: 7", "12:27: cost: 7: cost is wanted: a mapping"},
    {"speed: {road: 150}", "speed: {road: 256}", "10:63: road: 256: a whole number from 1 to 255"},
    {"margin_width: 2", "margin_width: 5", "11:52: margin_width: 5: a whole number from 0 to 4"},
    {"smoothing: gauss", "smoothing: soft", "12:5: smoothing: soft: none, mean or gauss is wanted"},
    {"name: hunters", "name: wheels", "12:5: two entries have the name \"wheels\""},
    {"name: hunters", "name: plain", "12:5: \"plain\" is the profile that is always there"},
    {"profile: wheels", "profile: sleds", "15:5: profile \"sleds\": no profile has this name"},
    {"sample_period: 4", "sample_period: 0", "15:50: sample_period: 0: a whole number from 1 to 255"},
    {"{player: Ash, at: [2, 1]", "{player: Oak, at: [2, 1]", "19:5: player \"Oak\": no player has this name"},
    {"at: [2, 1]", "at: [2.5, 1]", "19:24: at: 2.5: a whole number from 0 to 4095 is wanted"},
    {"at: [2, 1]", "at: [2]", "19:23: at: [x, y] is wanted, whole numbers of cells"},
    {"at: [2, 1]", "at: [2, [1]]", "19:27: at: a whole number is wanted"},
    {"at: [2, 1], ", "", "19:5: at: missing: a building needs this key"},
    {"size: [3, 2]", "size: [3, 65]", "19:41: size: 65: a whole number from 1 to 64 is wanted"},
    {"size: [3, 2]", "open_teams: [1]", "19:5: open_teams: only a gate opens: add gate: true"},
    {"[0, 5, 15]", "[0, 16]", "21:57: open_teams: 16: a whole number from 0 to 15 is wanted"},
    {"[0, 5, 15]", "0", "21:53: open_teams: 0: a list of teams is wanted, as in [0, 2]"},
    {"strength: -40", "strength: -254", "24:44: strength: -254: a whole number from -253 to 253 is wanted"},
    {"strength: -40", "strength: 254", "24:44: strength: 254: a whole number from -253 to 253 is wanted"},
    {"strength: -40", "strength: -", "24:44: strength: -: a whole number from -253 to 253 is wanted"},
    {"strength: -40", "strength: +4", "24:44: strength: +4: a whole number"},
    {"strength: -40", "strength: -99999999999999999999", "24:44: strength: -99999999999999999999: a whole"},
    {"radius: 6.5", "radius: 64.1", "24:29: radius: 64.1: a number from 0 to 64 is wanted"},
    {"radius: 6.5, ", "", "24:5: radius: missing: a modifier needs this key"},
    {"teams: [1, 2]", "teams: [1, x]", "25:56: teams: x: a whole number from 0 to 15"},
};

PHX_TEST(scenario_ground, each_fault_is_named_with_its_place_and_a_remedy) {
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const char *text = with(faults[i].find, faults[i].instead);
        PhxScenario *scenario;
        PhxYamlError error = {0};
        const PhxStatus status = phx_scenario_parse("bad.yaml", text, strlen(text), &scenario, &error);
        CHECK_THAT(status != PHX_OK && scenario == NULL, "fault %zu: \"%s\" was accepted", i,
                   faults[i].instead);
        CHECK_EQ(error.status, status);
        char want[400];
        snprintf(want, sizeof want, "bad.yaml:%s", faults[i].message);
        if (strncmp(error.text, want, strlen(want)) != 0) {
            fprintf(stderr, "fault %zu\n", i);
            CHECK_STR(error.text, want);
        }
    }
    /* One more than there may be. */
    char text[4096] = "map: x\nprofiles: [";
    for (int i = 0; i <= PHX_SCENARIO_PROFILE_LIMIT; i++)
        snprintf(text + strlen(text), 32, "{name: p%d},", i);
    snprintf(
        text + strlen(text), 128,
        "]\nplayers: [{name: A}]\nunit_types: [{name: u}]\ngroups: [{player: A, count: 1, at: [1, 1]}]\n");
    PhxScenario *scenario;
    PhxYamlError error = {0};
    CHECK_EQ(phx_scenario_parse("x", text, strlen(text), &scenario, &error), PHX_ERROR_LIMIT);
    CHECK_STR(error.text, "x:2:11: profiles: 32 entries are too many: at most 31");
}

/* Files of a scenario in a folder of its own. */
static const char *file_path(const char *folder, const char *name) {
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put_file(const char *folder, const char *name, const char *text) {
    FILE *file = fopen(file_path(folder, name), "wb");
    CHECK(file != NULL);
    CHECK_EQ(fwrite(text, 1, strlen(text), file), strlen(text));
    CHECK_EQ(fclose(file), 0);
}

static const char *const map_text = "type octile\nheight 8\nwidth 10\nmap\n"
                                    "..........\n"
                                    "..........\n"
                                    "..........\n"
                                    "GGGGGGGGGG\n"
                                    "..........\n"
                                    ".....TTT..\n"
                                    "W....TTS..\n"
                                    "@O........\n";
static const char *const heights_text = "P2 # heights\n10 8\n9\n"
                                        "0 0 0 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0 0 9\n"
                                        "1 1 1 1 1 1 1 1 1 1\n0 0 0 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0 0 0\n"
                                        "0 0 0 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0 0 0\n";

PHX_TEST(scenario_ground, files_become_tables_of_the_world) {
    char folder[512];
    snprintf(folder, sizeof folder, "%s", test_scratch("scenario_ground"));
    put_file(folder, "m.map", map_text);
    put_file(folder, "m.pgm", heights_text);
    put_file(folder, "good.yaml", good);
    PhxScenarioFile file;
    PhxYamlError fault = {0};
    CHECK_THAT(phx_scenario_load(file_path(folder, "good.yaml"), NULL, &file, &fault) == PHX_OK, "%s",
               fault.text);
    CHECK_EQ(file.letters[30], '.'); /* a road is ground in pictures */
    CHECK_EQ(file.letters[71], '@');
    PhxSim *sim;
    PhxError error = {0};
    CHECK_THAT(phx_sim_create(&(PhxSimConfig){0}, file.blob, file.blob_size, NULL, &sim, &error) == PHX_OK,
               "%s", error.text);
    const PhxWorld *world = sim->world;
    CHECK_EQ(world->match.density_period[0], 10);
    CHECK_EQ(world->terrain.cost[55], 4);
    CHECK_EQ(world->terrain.cost[67], 2);
    CHECK_EQ(world->terrain.cost[60], 255);
    CHECK_EQ(world->terrain.cost[30], 1);
    CHECK(world->terrain.kind[30] == 1 && world->terrain.kind[55] == 2 && world->terrain.kind[67] == 2);
    CHECK(world->terrain.kind[0] == 0 && world->terrain.kind[60] == 0 && world->terrain.kind[70] == 0);
    CHECK(world->terrain.height[29] == 9 && world->terrain.height[30] == 1 && world->terrain.height[40] == 0);
    CHECK_EQ(world->tables[PHX_TABLE_cost_profile].used, 3);
    CHECK_STR((const char *)world->cost_profile.name + 16, "wheels");
    CHECK_EQ(world->cost_profile.kind_percent[16 + 1], 50);
    CHECK_EQ(world->cost_profile.speed_percent[16 + 1], 150);
    CHECK(world->unit_type.profile[0] == 1 && world->unit_type.sample_period[0] == 4);
    CHECK_EQ(world->tables[PHX_TABLE_building].used, 4);
    CHECK(world->building.x[0] == 2 && world->building.width[0] == 3 && world->building.gate[1] == 1);
    CHECK_EQ(world->building.open_teams[1], 8);
    CHECK_EQ(world->tables[PHX_TABLE_modifier].used, 2);
    CHECK_EQ(world->modifier.strength[0], -40);
    phx_sim_destroy(sim);
    phx_scenario_unload(&file);
    /* On another map heights, buildings and modifiers stay away; kinds follow its letters. */
    put_file(folder, "other.map", "type octile\nheight 2\nwidth 4\nmap\n..GT\n....\n");
    char other[600];
    snprintf(other, sizeof other, "%s", file_path(folder, "other.map"));
    const PhxScenarioChanges changes = {.map = other};
    CHECK_THAT(phx_scenario_load(file_path(folder, "good.yaml"), &changes, &file, &fault) == PHX_OK, "%s",
               fault.text);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, file.blob, file.blob_size, NULL, &sim, &error));
    CHECK(sim->world->terrain.kind[2] == 1 && sim->world->terrain.kind[3] == 2);
    CHECK_EQ(sim->world->tables[PHX_TABLE_building].used, 0);
    CHECK_EQ(sim->world->tables[PHX_TABLE_modifier].used, 0);
    phx_sim_destroy(sim);
    phx_scenario_unload(&file);
}

static void check_load_fails(const char *folder, const char *text, PhxStatus status, const char *message) {
    char want[1200];
    PhxScenarioFile file;
    PhxYamlError error = {0};
    put_file(folder, "bad.yaml", text);
    CHECK_EQ(phx_scenario_load(file_path(folder, "bad.yaml"), NULL, &file, &error), status);
    CHECK(file.scenario == NULL && file.blob == NULL && file.letters == NULL);
    snprintf(want, sizeof want, "%s/%s", folder, message);
    if (strncmp(error.text, want, strlen(want)) != 0) CHECK_STR(error.text, want);
}

PHX_TEST(scenario_ground, what_does_not_fit_the_map_is_an_error_with_its_line) {
    const char *folder = test_scratch("s"); /* short, as messages are cut at the front */
    char kept[512];
    snprintf(kept, sizeof kept, "%s", folder);
    put_file(kept, "m.map", map_text);
    put_file(kept, "m.pgm", heights_text);
    put_file(kept, "small.pgm", "P2 9 8 9 0");
    check_load_fails(kept, with("at: [2, 1]", "at: [8, 3]"), PHX_ERROR_RANGE,
                     "bad.yaml:19:5: a building of 3 x 2 cells at 8,3 leaves the map of 10 x 8");
    check_load_fails(kept, with("at: [7, 1]", "at: [4, 2]"), PHX_ERROR_RANGE,
                     "bad.yaml:21:5: a building at 4,2 lies on the one at 2,1");
    check_load_fails(
        kept, with("at: [3.5, 6.5]", "at: [3.5, 3.3]"), PHX_ERROR_RANGE,
        "bad.yaml:27:5: group \"(unnamed)\" at [3.5, 3.3]: unit 0 of 1 at [3.5, 3.3] is off the map");
    check_load_fails(kept, with("m.pgm", "none.pgm"), PHX_ERROR_IO, "none.pgm: No such file or directory");
    check_load_fails(kept, with("m.pgm", "small.pgm"), PHX_ERROR_RANGE,
                     "small.pgm, line 1: the picture has 9 x 8 pixels, the map 10 x 8 cells");
}

PHX_TEST(scenario_ground, units_begin_where_their_profile_can_stand) {
    /* The north half is wild; a house fills the middle of the south half. */
    uint8_t cost[32 * 32], kind[32 * 32];
    memset(cost, 1, sizeof cost);
    for (int c = 0; c < 32 * 32; c++) kind[c] = c < 16 * 32;
    const char *text =
        "map: x\nkinds: [{name: field}, {name: wild, letters: T}]\nplayers: [{name: A}]\n"
        "profiles: [{name: wheels, cost: {wild: 255}}, {name: deer, cost: {field: 255}}]\n"
        "unit_types: [{name: cart, profile: wheels}, {name: doe, profile: deer}, {name: man}]\n"
        "buildings: [{player: A, at: [8, 20], size: [16, 8]}, {player: A, at: [0, 31], gate: true}]\n"
        "groups:\n- {name: c, player: A, type: cart, count: 40, corner: north_west}\n"
        "- {name: d, player: A, type: doe, count: 40, scatter: [0, 0, 32, 32]}\n"
        "- {name: m, player: A, type: man, count: 60, scatter: [0, 0, 32, 32]}\n"
        "- {name: g, player: A, type: man, count: 1, corner: south_west}\n"
        "orders: [{tick: 1, group: d, corner: south_east}, {tick: 1, group: c, scatter: [0, 0, 32, 32]}]\n";
    PhxScenario *scenario = parse(text);
    scenario->kind_grid = malloc(sizeof kind);
    memcpy(scenario->kind_grid, kind, sizeof kind);
    const PhxNavGrid map = {.width = 32, .height = 32, .cost = cost};
    void *blob;
    size_t size;
    PhxYamlError fault = {0};
    CHECK_THAT(phx_scenario_build(scenario, &map, &blob, &size, &fault) == PHX_OK, "%s", fault.text);
    PhxSim *sim;
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &sim, NULL));
    const PhxUnitView units = phx_sim_units(sim);
    CHECK_EQ(units.live, 141);
    for (uint32_t i = 0; i < 141; i++) {
        const double x = units.pos_x[i] / 65536.0, y = units.pos_y[i] / 65536.0, r = 0.4 - 1e-4;
        CHECK_THAT(x + r <= 8 || x - r >= 24 || y + r <= 20 || y - r >= 28, "unit %u in the house", i);
        CHECK_THAT(x - r >= 1 || y + r <= 31, "unit %u in the gate", i);
        if (i < 40) CHECK_THAT(y - r >= 16, "cart %u in the wild", i);
        if (i >= 40 && i < 80) CHECK_THAT(y + r <= 16, "doe %u afield", i);
    }
    /* Goals are where the first group's profile can stand. */
    CHECK_EQ(scenario->orders[0].goal.x, 31 * 65536 + 32768);
    CHECK_EQ(scenario->orders[0].goal.y, 15 * 65536 + 32768);
    for (uint32_t i = 0; i < scenario->goal_count; i++) CHECK(scenario->goals[i].y >= 16 * 65536 + 26214);
    phx_sim_destroy(sim);
    free(blob);
    /* A profile that finds no ground at all is named. */
    memset(scenario->kind_grid, 0, sizeof kind);
    CHECK_EQ(phx_scenario_build(scenario, &map, &blob, &size, &fault), PHX_ERROR_NOT_FOUND);
    CHECK_STR(fault.text, "good.yaml: map: x: no unit of profile \"deer\" fits anywhere on this map");
    phx_scenario_destroy(scenario);
}

PHX_TEST(scenario_ground, pictures_of_heights_are_read_in_every_spelling) {
    const struct {
        const char *bytes;
        size_t size;
    } pictures[] = {{"P2\n3 2\n255\n0 1 2\n253 254 255\n", 29},
                    {"P2 3 2 255 0 1 2 253 254 255", 28},
                    {"P2#a\n# b 7\n3#c\n2 255\n\t0 1\r\n2#d\n253 254 255 # e", 47},
                    {"P5\n3 2\n255\n\0\1\2\375\376\377", 17},
                    {"P5\n#x\n3 2 255\n\0\1\2\375\376\377and more", 28}};
    const uint8_t want[6] = {0, 1, 2, 253, 254, 255};
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++) {
        uint8_t got[7] = {0, 0, 0, 0, 0, 0, 77};
        PhxError error = {0};
        CHECK_THAT(phx_height_map_read(pictures[i].bytes, pictures[i].size, "h", 3, 2, got, &error) == PHX_OK,
                   "picture %zu: %s", i, error.text);
        CHECK(memcmp(got, want, 6) == 0 && got[6] == 77);
    }
}

PHX_TEST(scenario_ground, faults_of_pictures_are_named_and_garbled_ones_give_a_status) {
    const struct {
        const char *text;
        PhxStatus status;
        const char *message;
    } bad[] = {
        {"", PHX_ERROR_FORMAT, "h, line 1: this is no grey picture in PGM: it has to begin with P2 or P5"},
        {"P6 3 2 255 ", PHX_ERROR_FORMAT, "h, line 1: this is no grey picture"},
        {"P23 2 255 0 0 0 0 0 0", PHX_ERROR_FORMAT, "h, line 1: this is no grey picture"},
        {"P2\n3", PHX_ERROR_TRUNCATED, "h, line 2: the picture ends where the height should be"},
        {"P2\n3 x 9", PHX_ERROR_FORMAT, "h, line 2: the height has to be a whole number"},
        {"P2\n2 3\n9", PHX_ERROR_RANGE, "h, line 3: the picture has 2 x 3 pixels, the map 3 x 2 cells"},
        {"P2 99999999999999999999 2 9", PHX_ERROR_RANGE, "h, line 1: the picture has"},
        {"P2 3 2 256 ", PHX_ERROR_RANGE, "h, line 1: the greatest value is 256; 1 to 255 is wanted"},
        {"P2 3 2 0 ", PHX_ERROR_RANGE, "h, line 1: the greatest value is 0;"},
        {"P2 3 2 9\n1 2 3\n4 10 6", PHX_ERROR_RANGE,
         "h, line 3: pixel 1, 1 has the value 10, but the greatest"},
        {"P2 3 2 9\n1 2 3\n4 -1 6", PHX_ERROR_FORMAT, "h, line 3: a pixel has to be a whole number"},
        {"P2 3 2 9\n1 2 3\n4 5", PHX_ERROR_TRUNCATED, "h, line 3: the picture ends where a pixel should be"},
        {"P2 3 2 9\n1 2 3\n4 5 6 7", PHX_ERROR_FORMAT, "h, line 3: there is more behind the last pixel"},
        {"P5 3 2 9", PHX_ERROR_TRUNCATED, "h, line 1: the picture has fewer than its 6 pixels"},
        {"P5 3 2 9\n\1\1\1\1\1", PHX_ERROR_TRUNCATED, "h, line 1: the picture has fewer than its 6 pixels"},
        {"P5 3 2 9\n\1\1\1\1\1\12", PHX_ERROR_RANGE, "h, line 1: pixel 2, 1 has the value 10"},
    };
    uint8_t got[6];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        PhxError error = {0};
        CHECK_THAT(phx_height_map_read(bad[i].text, strlen(bad[i].text), "h", 3, 2, got, &error) ==
                       bad[i].status,
                   "picture %zu: %s", i, error.text);
        if (strncmp(error.text, bad[i].message, strlen(bad[i].message)) != 0)
            CHECK_STR(error.text, bad[i].message);
    }
    const char *const whole[] = {"P2 # x\n3 2\n9\n1 2 3\n4 5 6\n", "P5 3 2 9\n\1\2\3\4\5\6"};
    uint64_t seed = 8;
    for (int i = 0; i < 20000; i++) {
        const char *text = whole[i % 2];
        const size_t length = strlen(text), kept = (size_t)test_range(&seed, 0, (int64_t)length);
        char *exact = malloc(kept + 1); /* so that a sanitizer sees a read beyond */
        memcpy(exact, text, kept);
        for (int64_t k = test_range(&seed, 0, 2); k > 0 && kept > 0; k--)
            exact[test_range(&seed, 0, (int64_t)kept - 1)] ^= (char)(1 << test_range(&seed, 0, 7));
        PhxError error = {0};
        const PhxStatus status = phx_height_map_read(exact, kept, NULL, 3, 2, got, &error);
        CHECK((status == PHX_OK) == (error.text[0] == 0));
        free(exact);
    }
}
