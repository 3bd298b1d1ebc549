/* scenario.c: what a scenario's text becomes, and what is said of every way to get it wrong. */
#include "content/scenario.h"

#include "harness.h"

#include <stdlib.h>

static const char *const good =
    "name: small\n"                                                                 /* 1 */
    "map: duel.map\n"                                                               /* 2 */
    "seed: 0xffffffffffffffff\n"                                                    /* 3 */
    "tick_rate: 25\n"                                                               /* 4 */
    "ticks: 300\n"                                                                  /* 5 */
    "terrain: {swamp: 3, trees: 9}\n"                                               /* 6 */
    "players:\n"                                                                    /* 7 */
    "  - {name: Ash, team: 0, bot: corner}\n"                                       /* 8 */
    "  - {name: Birch, team: 1}\n"                                                  /* 9 */
    "unit_types:\n"                                                                 /* 10 */
    "  - {name: soldier, radius: 0.3, speed: 2.5, turn_rate: 90}\n"                 /* 11 */
    "  - {name: scout}\n"                                                           /* 12 */
    "groups:\n"                                                                     /* 13 */
    "  - {name: a, player: Ash, type: soldier, count: 5, at: [8, 32], columns: 2, " /* 14 */
    "spacing: 1.25, facing: -90}\n"                                                 /* 14 */
    "  - {name: b, player: 1, type: scout, count: 3, corner: south_east}\n"         /* 15 */
    "orders:\n"                                                                     /* 16 */
    "  - {tick: 9, group: b, move: [3.5, 4.00001], queued: true}\n"                 /* 17 */
    "  - {tick: 2, player: Ash, all: true, stop: true}\n";                          /* 18 */

/* `good` with one piece changed; the result lives until the next call. */
static const char *with(const char *find, const char *instead) {
    static char text[4096];
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

PHX_TEST(scenario, every_key_arrives_where_it_belongs) {
    PhxScenario *scenario = parse(good);
    CHECK_STR(scenario->name, "small");
    CHECK_STR(scenario->map, "duel.map");
    CHECK(scenario->settings.match_key == UINT64_MAX);
    CHECK_EQ(scenario->settings.tick_rate, 25);
    CHECK_EQ(scenario->ticks, 300);
    CHECK_EQ(scenario->terrain.ground, 1);
    CHECK_EQ(scenario->terrain.swamp, 3);
    CHECK_EQ(scenario->terrain.trees, 9);
    CHECK_EQ(scenario->player_count, 2);
    CHECK_STR(scenario->players[0].bot, "corner");
    CHECK_STR(scenario->players[1].bot, "idle");
    CHECK_EQ(scenario->type_count, 2);
    CHECK_EQ(scenario->types[0].radius, 19661); /* 0.3 * 65536 = 19660.8, nearest */
    CHECK_EQ(scenario->types[0].speed, 163840);
    CHECK_EQ(scenario->types[0].turn_rate, 16384); /* a quarter of a turn a second */
    CHECK_STR(scenario->types[0].name, "soldier");
    CHECK_EQ(scenario->types[1].radius, phx_content_unit_type_default().radius);
    CHECK_EQ(scenario->group_count, 2);
    CHECK_EQ(scenario->unit_count, 8);
    const PhxScenarioGroup *a = &scenario->groups[0], *b = &scenario->groups[1];
    CHECK(a->player == 0 && a->type == 0 && a->count == 5 && a->columns == 2);
    CHECK_EQ(a->spacing, 81920);
    CHECK_EQ(a->facing, 49152); /* -90 degrees */
    CHECK(a->place.kind == PHX_PLACE_POINT && a->place.x == 8 * 65536 && a->place.y == 32 * 65536);
    CHECK(b->player == 1 && b->type == 1 && b->spacing < 0);
    CHECK(b->place.kind == PHX_PLACE_CORNER && b->place.corner == PHX_CORNER_SOUTH_EAST);
    /* By tick, whatever the order in the file. */
    CHECK_EQ(scenario->order_count, 2);
    const PhxScenarioOrder *stop = &scenario->orders[0], *move = &scenario->orders[1];
    CHECK(stop->tick == 2 && stop->kind == PHX_SCENARIO_STOP && stop->player == 0 && stop->group_count == 1);
    CHECK(move->tick == 9 && move->queued && move->player == 1 && move->group_count == 1);
    CHECK_EQ(move->goal.x, 229376);
    CHECK_EQ(move->goal.y,
             262145); /* 4.00001 is 262144.655 raw: a double of it is no nearer, a float would be */
    phx_scenario_destroy(scenario);
}

typedef struct Fault {
    const char *find, *instead, *message; /* the message's beginning behind the file's name */
} Fault;

static const Fault faults[] = {
    {"name: small", "nmae: small", "1:1: nmae: no such key in a scenario; there are: name, map, seed,"},
    {"map: duel.map\n", "", "1:1: map: missing: a scenario needs this key"},
    {"seed: 0xffffffffffffffff", "seed: 0x1ffffffffffffffff",
     "3:7: seed: 0x1ffffffffffffffff: a whole number from 0 to"},
    {"seed: 0xffffffffffffffff", "seed: -1", "3:7: seed: -1: a whole number"},
    {"seed: 0xffffffffffffffff", "seed: \"7\"", "3:7: seed: 7: a whole number"},
    {"tick_rate: 25", "tick_rate: 0", "4:12: tick_rate: 0: a whole number from 1 to 1000 is wanted"},
    {"tick_rate: 25", "tick_rate: 25.0", "4:12: tick_rate: 25.0: a whole number from 1 to 1000 is wanted"},
    {"tick_rate: 25", "tick_rate: [25]", "4:12: tick_rate: a single value is wanted"},
    {"ticks: 300", "tick_rate: 30", "5:1: tick_rate: the key is there already, on line 4"},
    {"swamp: 3", "swamp: 256", "6:18: swamp: 256: a whole number from 1 to 255 is wanted"},
    {"terrain: {swamp: 3, trees: 9}", "terrain: flat", "6:10: terrain: flat: terrain is wanted: a mapping"},
    {"  - {name: Ash, team: 0, bot: corner}\n  - {name: Birch, team: 1}\n", "  []\n",
     "8:3: players: a list with at least one"},
    {"name: Birch", "name: Ash", "9:5: two entries have the name \"Ash\""},
    {"name: Birch", "name: Birch of the long name",
     "9:12: name: Birch of the long name: text of 1 to 16 bytes is wanted"},
    {"name: Birch", "name: \"Bi\\nrch\"", "9:12: name: Bi\nrch: text without control characters"},
    {"name: Birch", "name: \"Bi\\0rch\"", "9:12: text with a zero character"},
    {"team: 1", "team: one", "9:25: team: one: a whole number from 0 to 15 is wanted"},
    {"radius: 0.3", "radius: 0.01", "11:29: radius: 0.01: a number from 0.0625 to 16 is wanted"},
    {"radius: 0.3", "radius: 1e1", "11:29: radius: 1e1: a number from 0.0625 to 16 is wanted"},
    {"radius: 0.3", "radius: .3", "11:29: radius: .3: a number"},
    {"radius: 0.3", "radius: 99999999", "11:29: radius: 99999999: a number"},
    {"radius: 0.3", "radius: ", "11:29: radius: : a number"},
    {"name: scout", "speed: 3", "12:5: name: missing: a unit type needs this key"},
    {"player: Ash, type", "player: Oak, type", "14:5: player \"Oak\": no player has this name or slot"},
    {"player: 1", "player: 2", "15:5: player \"2\": no player has this name or slot"},
    {"type: soldier", "type: archer", "14:5: type \"archer\": no unit type has this name"},
    {"type: soldier, ", "", "14:5: type: missing: a group needs this key where there are several"},
    {"count: 5", "count: 0", "14:50: count: 0: a whole number from 1 to 1048576 is wanted"},
    {"count: 5, ", "", "14:5: count: missing: a group needs this key"},
    {"count: 3", "count: 1048576", "15:5: more than 1048576 units in all"},
    {"at: [8, 32]", "at: [8, 32, 1]", "14:57: at: [x, y] is wanted"},
    {"at: [8, 32]", "at: [8, 9000]", "14:61: at: 9000: a number from -8192 to 8191.99998 is wanted"},
    {"at: [8, 32]", "corner: north",
     "14:61: corner: north: one of north_west, north_east, south_west, south_east"},
    {"at: [8, 32]", "scatter: [5, 5, 4, 9]", "14:62: scatter: the low end has to be below the high end"},
    {"at: [8, 32], ", "", "14:5: a group needs one of the keys at, corner, scatter"},
    {"corner: south_east", "corner: south_east, at: [1, 2]",
     "15:5: a group needs one of the keys at, corner, scatter, and one"},
    {"facing: -90", "facing: -361", "14:101: facing: -361: a number from -360 to 360 is wanted"},
    {"name: b,", "name: a,", "15:5: two entries have the name \"a\""},
    {"group: b,", "group: c,", "17:5: group \"c\": no group has this name"},
    {"group: b,", "", "17:5: an order needs one of the keys group, groups, all: true"},
    {"group: b,", "groups: [b, a],", "17:27: a: group \"a\" isn't of player \"Birch\""},
    {"move: [3.5, 4.00001]", "stop: true", "17:5: stop drops all orders: it can't be queued"},
    {"move: [3.5, 4.00001], ", "", "17:5: an order needs one of the keys move, corner, scatter, area"},
    {"queued: true", "queued: yes", "17:55: queued: yes: true or false is wanted"},
    {"player: Ash, all", "all", "18:5: all: true needs the key player besides"},
    {"tick: 9", "tick: 4294967296", "17:12: tick: 4294967296: a whole number from 0 to 4294967294"},
    {"team: 0", "team: &x 0", "8:23: anchors and aliases"},
    {"team: 0", "team: *x", "8:23: anchors and aliases"},
    {"team: 0", "team: !!int 0", "8:23: tags (!) are not allowed"},
    {"team: 0", "team: {a: [{a: [{a: [{a: [0]}]}]}]}", "8:37: nested too deeply (at most 8 levels)"},
    {"team: 0", "[team]: 0", "8:17: a key has to be plain text"},
    {"orders:", "---\norders:", "16:1: a second document"},
    {"orders:", "\torders:", "16:1: found character that cannot start any token"},
    {"groups:\n", "groups: }\n", "13:9: did not find expected node content"},
};

PHX_TEST(scenario, each_fault_is_named_with_its_place_and_a_remedy) {
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const char *text = with(faults[i].find, faults[i].instead);
        PhxScenario *scenario;
        PhxYamlError error = {0};
        const PhxStatus status = phx_scenario_parse("dir/bad.yaml", text, strlen(text), &scenario, &error);
        CHECK_THAT(status != PHX_OK && scenario == NULL, "fault %zu: \"%s\" was accepted", i,
                   faults[i].instead);
        CHECK_EQ(error.status, status);
        char want[400];
        snprintf(want, sizeof want, "dir/bad.yaml:%s", faults[i].message);
        if (strncmp(error.text, want, strlen(want)) != 0) {
            fprintf(stderr, "fault %zu\n", i);
            CHECK_STR(error.text, want);
        }
    }
}

PHX_TEST(scenario, texts_that_are_no_scenario_at_all) {
    const struct {
        const char *text, *message;
    } texts[] = {{"", "x: the file is empty"},
                 {"# only a remark\n", "x: the file is empty"},
                 {"- a\n- b\n", "x:1:1: the file has to be a mapping"},
                 {"just words", "x:1:1: the file has to be a mapping"},
                 {"name: \xff\xfe\n", "x: byte 6: invalid leading UTF-8 octet: UTF-8 text is wanted"},
                 {"a: 'open", "x:1:9: found unexpected end of stream"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        PhxScenario *scenario;
        PhxYamlError error = {0};
        CHECK(phx_scenario_parse("x", texts[i].text, strlen(texts[i].text), &scenario, &error) != PHX_OK);
        if (strncmp(error.text, texts[i].message, strlen(texts[i].message)) != 0)
            CHECK_STR(error.text, texts[i].message);
    }
    /* Too long, and too many keys; a null error is fine. */
    char *long_text = malloc(PHX_YAML_SIZE_LIMIT + 1);
    CHECK(long_text != NULL);
    memset(long_text, ' ', PHX_YAML_SIZE_LIMIT + 1);
    PhxScenario *scenario;
    CHECK_EQ(phx_scenario_parse("x", long_text, PHX_YAML_SIZE_LIMIT + 1, &scenario, NULL), PHX_ERROR_LIMIT);
    size_t at = 0;
    for (int key = 0; key < 70; key++) at += (size_t)snprintf(long_text + at, 32, "k%d: 1\n", key);
    PhxYamlError error = {0};
    CHECK_EQ(phx_scenario_parse("x", long_text, at, &scenario, &error), PHX_ERROR_LIMIT);
    CHECK_STR(error.text, "x:65:1: too many keys in one mapping (at most 64)");
    /* As many values as fit into a file's bytes. */
    at = 0;
    at += (size_t)snprintf(long_text, 32, "players: [");
    while (at + 3 < PHX_YAML_SIZE_LIMIT) long_text[at++] = '0', long_text[at++] = ',';
    long_text[at++] = ']';
    CHECK_EQ(phx_scenario_parse("x", long_text, at, &scenario, &error), PHX_ERROR_LIMIT);
    CHECK(strstr(error.text, "too many values") != NULL);
    free(long_text);
}

/* A map of open ground with a rim, and a wall that leaves a small room in the north-west corner shut off. */
enum { SIDE = 48 };
static PhxNavGrid walled_map(uint8_t *cost) {
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const bool rim = x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1;
            const bool room = (x == 8 && y <= 8) || (y == 8 && x <= 8);
            cost[y * SIDE + x] = rim || room ? PHX_NAV_IMPASSABLE : 1;
        }
    return (PhxNavGrid){.width = SIDE, .height = SIDE, .cost = cost};
}

static PhxSim *build_sim(PhxScenario *scenario, const PhxNavGrid *map) {
    void *blob;
    size_t size;
    PhxYamlError fault = {0};
    CHECK_THAT(phx_scenario_build(scenario, map, &blob, &size, &fault) == PHX_OK, "%s", fault.text);
    PhxSim *sim;
    PhxError error = {0};
    const PhxSimConfig config = {.game = NULL};
    CHECK_THAT(phx_sim_create(&config, blob, size, NULL, &sim, &error) == PHX_OK, "%s", error.text);
    free(blob);
    return sim;
}

/* No two bodies overlap, and no body touches a wall: in doubles, over all pairs and cells. */
static void check_placed(const PhxSim *sim, double least_distance) {
    const PhxUnitView units = phx_sim_units(sim);
    const PhxNavGrid map = phx_sim_map(sim);
    for (uint32_t i = 0; i < units.used; i++) {
        PhxUnitTypeInfo type;
        CHECK(phx_sim_unit_type(sim, units.type[i], &type));
        const double x = units.pos_x[i] / 65536.0, y = units.pos_y[i] / 65536.0,
                     radius = type.radius / 65536.0;
        for (uint32_t j = 0; j < i; j++) {
            const double dx = units.pos_x[j] / 65536.0 - x, dy = units.pos_y[j] / 65536.0 - y;
            CHECK_THAT(dx * dx + dy * dy >= least_distance * least_distance - 1e-9, "units %u and %u", i, j);
        }
        for (uint32_t cell = 0; cell < map.width * map.height; cell++) {
            if (map.cost[cell] != PHX_NAV_IMPASSABLE) continue;
            const double cx = cell % map.width, cy = cell / map.width;
            const double dx = x < cx ? cx - x : x > cx + 1 ? x - cx - 1 : 0;
            const double dy = y < cy ? cy - y : y > cy + 1 ? y - cy - 1 : 0;
            CHECK_THAT(dx * dx + dy * dy >= radius * radius - 1e-9, "unit %u at %f, %f and wall %u", i, x, y,
                       cell);
        }
    }
}

PHX_TEST(scenario, groups_stand_where_there_is_room_for_them) {
    uint8_t cost[SIDE * SIDE];
    const PhxNavGrid map = walled_map(cost);
    PhxScenario *scenario =
        parse("map: x\nplayers: [{name: A}]\nunit_types:\n"
              "- {name: small, radius: 0.4}\n- {name: big, radius: 1.7}\n"
              "groups:\n"
              "- {name: c, player: A, type: small, count: 40, corner: north_west, spacing: 1.3}\n"
              "- {name: d, player: A, type: big, count: 6, corner: north_west}\n"
              "- {name: s, player: A, type: small, count: 60, scatter: [20, 20, 40, 40]}\n"
              "- {name: b, player: A, type: small, count: 7, at: [40, 10], columns: 3, spacing: 2}\n");
    PhxSim *sim = build_sim(scenario, &map);
    CHECK_EQ(phx_sim_units(sim).live, 113);
    check_placed(sim, 0.8);
    const PhxUnitView units = phx_sim_units(sim);
    /* The closed room is nearer to the corner, but no part of the large piece. */
    for (uint32_t i = 0; i < 46; i++) CHECK(units.pos_x[i] > 9 * 65536 || units.pos_y[i] > 9 * 65536);
    /* The first stands on the cell nearest to the corner where the widest body, of 1.7, would: beyond the
     * room's wall at 9 and the rim at 1. */
    CHECK_EQ(units.pos_x[scenario->groups[0].first_unit], 11 * 65536 + 32768);
    CHECK_EQ(units.pos_y[scenario->groups[0].first_unit], 3 * 65536 + 32768);
    for (uint32_t i = 0; i < 60; i++) {
        const uint32_t unit = scenario->groups[2].first_unit + i;
        CHECK(units.pos_x[unit] >= 20 * 65536 && units.pos_x[unit] < 40 * 65536);
        CHECK(units.pos_y[unit] >= 20 * 65536 && units.pos_y[unit] < 40 * 65536);
    }
    /* The block: three columns, three rows, its middle at [40, 10]. */
    for (uint32_t i = 0; i < 7; i++) {
        const uint32_t unit = scenario->groups[3].first_unit + i;
        CHECK_EQ(units.pos_x[unit], (38 + 2 * (int)(i % 3)) * 65536);
        CHECK_EQ(units.pos_y[unit], (8 + 2 * (int)(i / 3)) * 65536);
    }
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
}

PHX_TEST(scenario, a_place_without_room_is_an_error_at_home_and_moved_abroad) {
    uint8_t cost[SIDE * SIDE];
    const PhxNavGrid map = walled_map(cost);
    const char *text =
        "map: x\nplayers: [{name: A}]\nunit_types: [{name: u, radius: 0.4}]\n"
        "groups: [{name: g, player: A, count: 9, at: [8.5, 4], spacing: 1}]\n"
        "orders: [{tick: 0, group: g, move: [100, 5]}, {tick: 0, group: g, corner: south_west}]\n";
    PhxScenario *scenario = parse(text);
    void *blob;
    size_t size;
    PhxYamlError error = {0};
    CHECK_EQ(phx_scenario_build(scenario, &map, &blob, &size, &error), PHX_ERROR_RANGE);
    CHECK(blob == NULL);
    const char *want = "good.yaml:4:10: group \"g\" at [8.5, 4]: unit 1 of 9 at [8.5, 3] is off the map x or "
                       "touches impassable";
    if (strncmp(error.text, want, strlen(want)) != 0) CHECK_STR(error.text, want);
    /* Beyond all maps: the place as it was written. */
    scenario->groups[0].place.x = -5 * 65536;
    CHECK_EQ(phx_scenario_build(scenario, &map, &blob, &size, &error), PHX_ERROR_RANGE);
    CHECK_THAT(strstr(error.text, "group \"g\" at [-5, 4]: unit 0 of 9 is off the map x ") != NULL, "%s",
               error.text);
    scenario->groups[0].place.x = 17 * 32768;
    scenario->foreign_map = true;
    PhxSim *sim = build_sim(scenario, &map);
    check_placed(sim, 1.0);
    /* The goal off the map became the nearest open cell, the corner a cell of the same piece. */
    CHECK_EQ(scenario->orders[0].goal.x, 46 * 65536 + 32768);
    CHECK_EQ(scenario->orders[0].goal.y, 4 * 65536 + 32768); /* as near as row 5: the lower index */
    CHECK_EQ(scenario->orders[1].goal.x, 1 * 65536 + 32768);
    CHECK_EQ(scenario->orders[1].goal.y, 46 * 65536 + 32768);
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
    /* More than the map holds. */
    scenario = parse("map: x\nplayers: [{name: A}]\nunit_types: [{name: u, radius: 2}]\n"
                     "groups: [{name: g, player: A, count: 500, corner: north_east}]\n");
    CHECK_EQ(phx_scenario_build(scenario, &map, &blob, &size, &error), PHX_ERROR_NOT_FOUND);
    CHECK(strstr(error.text, "count: 500: the map x has no room for so many") != NULL);
    /* The map that was read in its stead is the one to name. */
    snprintf(scenario->map_file, sizeof scenario->map_file, "other/y.map");
    CHECK_EQ(phx_scenario_build(scenario, &map, &blob, &size, &error), PHX_ERROR_NOT_FOUND);
    CHECK(strstr(error.text, "the map other/y.map has no room") != NULL);
    phx_scenario_destroy(scenario);
    /* No ground at all. */
    memset(cost, PHX_NAV_IMPASSABLE, sizeof cost);
    scenario = parse("map: x\nplayers: [{name: A}]\nunit_types: [{name: u}]\n"
                     "groups: [{name: g, player: A, count: 1, corner: north_east}]\n");
    CHECK_EQ(phx_scenario_build(scenario, &map, &blob, &size, &error), PHX_ERROR_NOT_FOUND);
    CHECK(strstr(error.text, "map: x: no unit fits anywhere on this map") != NULL);
    phx_scenario_destroy(scenario);
}

typedef struct Seen {
    uint32_t commands, units;
    uint8_t slot;
    PhxCommandData last;
    PhxHandle first_unit;
    uint8_t bytes[PHX_COMMAND_SIZE_LIMIT];
} Seen;

static void see(void *user, uint8_t slot, const uint8_t *bytes, uint32_t size) {
    Seen *seen = user;
    CHECK_OK(phx_command_check(bytes, size, slot, NULL));
    memcpy(seen->bytes, bytes, size);
    CHECK_OK(phx_command_decode(seen->bytes, size, &seen->last, NULL));
    seen->slot = slot;
    seen->units += seen->last.unit_count;
    if (seen->commands++ == 0) seen->first_unit = phx_command_unit(&seen->last, 0);
}

PHX_TEST(scenario, orders_become_commands_for_the_units_that_they_mean) {
    uint8_t cost[SIDE * SIDE];
    const PhxNavGrid map = walled_map(cost);
    PhxScenario *scenario =
        parse("map: x\nplayers: [{name: A}, {name: B}]\nunit_types: [{name: u, radius: 0.1}]\n"
              "groups: [{name: g, player: A, count: 4, at: [20, 20]},\n"
              "         {name: h, player: B, count: 1500, scatter: [10, 10, 47, 47]}]\n"
              "orders: [{tick: 3, player: B, all: true, move: [5, 20]},\n"
              "         {tick: 5, group: g, scatter: [10, 10, 40, 40], queued: true},\n"
              "         {tick: 5, group: g, stop: true}]\n");
    PhxSim *sim = build_sim(scenario, &map);
    for (uint32_t i = 0; i < 2; i++) /* generation 1 is what the world gave */
        CHECK(phx_sim_unit_handle(sim, scenario->groups[i].first_unit) ==
              phx_handle_make(scenario->groups[i].first_unit, 1));
    Seen seen = {0};
    phx_scenario_orders(scenario, sim, 2, see, &seen);
    CHECK_EQ(seen.commands, 0);
    phx_scenario_orders(scenario, sim, 3, see, &seen);
    CHECK_EQ(seen.commands, (1500 + PHX_COMMAND_UNIT_LIMIT - 1) / PHX_COMMAND_UNIT_LIMIT);
    CHECK_EQ(seen.units, 1500);
    CHECK_EQ(seen.slot, 1);
    CHECK(seen.first_unit == phx_handle_make(4, 1));
    CHECK(seen.last.type == PHX_COMMAND_MOVE && seen.last.goal_x == 5 * 65536 && !seen.last.queued);
    seen = (Seen){0};
    phx_scenario_orders(scenario, sim, 5, see, &seen);
    CHECK(seen.commands == 5 && seen.units == 8 && seen.slot == 0); /* a goal each, then one stop */
    CHECK_EQ(seen.last.type, PHX_COMMAND_STOP);
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
}

PHX_TEST(scenario, the_same_text_gives_the_same_bytes_and_another_seed_others) {
    uint8_t cost[SIDE * SIDE];
    const PhxNavGrid map = walled_map(cost);
    void *blobs[3];
    size_t sizes[3];
    for (int i = 0; i < 3; i++) {
        PhxScenario *scenario = parse("map: x\nseed: 5\nplayers: [{name: A}]\nunit_types: [{name: u}]\n"
                                      "groups: [{player: A, count: 30, scatter: [10, 10, 40, 40]}]\n");
        if (i == 2) scenario->settings.match_key = 6;
        CHECK_OK(phx_scenario_build(scenario, &map, &blobs[i], &sizes[i], NULL));
        phx_scenario_destroy(scenario);
    }
    CHECK(sizes[0] == sizes[1] && memcmp(blobs[0], blobs[1], sizes[0]) == 0);
    PhxContentInfo first, other;
    CHECK_OK(phx_content_info(blobs[0], sizes[0], &first, NULL));
    CHECK_OK(phx_content_info(blobs[2], sizes[2], &other, NULL));
    CHECK(first.content_hash != other.content_hash);
    for (int i = 0; i < 3; i++) free(blobs[i]);
}

/* Every piece of the input leads to a status: what parses is built too. */
static void try_bytes(const char *bytes, size_t size, const PhxNavGrid *map) {
    PhxScenario *scenario;
    PhxYamlError error = {0};
    if (phx_scenario_parse("f", bytes, size, &scenario, &error) != PHX_OK) {
        CHECK(error.status != PHX_OK && error.text[0] == 'f');
        return;
    }
    void *blob = NULL;
    size_t blob_size;
    if (scenario->unit_count <= 2000 && scenario->unit_capacity <= 4096 && scenario->order_capacity <= 4096)
        if (phx_scenario_build(scenario, map, &blob, &blob_size, &error) != PHX_OK)
            CHECK(error.text[0] == 'f');
    free(blob);
    phx_scenario_destroy(scenario);
}

PHX_TEST(scenario, cut_and_garbled_text_gives_a_status) {
    uint8_t cost[SIDE * SIDE];
    const PhxNavGrid map = walled_map(cost);
    size_t size;
    char *text = test_read_file(test_source("tests/scenario/duel.yaml"), &size);
    CHECK(text != NULL);
    for (size_t cut = 0; cut <= size && cut <= 1024; cut++) try_bytes(text, cut, &map);
    const int flips = getenv("PHX_LONG") ? 200000 : 10000;
    char *bad = malloc(size);
    CHECK(bad != NULL);
    uint64_t seed = 20;
    for (int i = 0; i < flips; i++) {
        memcpy(bad, text, size);
        for (int64_t k = test_range(&seed, 1, 3); k > 0; k--)
            bad[test_range(&seed, 0, (int64_t)size - 1)] ^= (char)(1 << test_range(&seed, 0, 7));
        try_bytes(bad, size, &map);
    }
    free(bad);
    free(text);
}
