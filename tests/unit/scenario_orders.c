/* scenario_orders.c: scripted orders on buildings and ground, and orders to units with other goals than a
 * point: what their text becomes, what is said of every way to get it wrong, and what they do in a world.
 */
#include "content/scenario.h"

#include "harness.h"

#include <phalanx/building.h>
#include <stdlib.h>

static const char *const good =
    "map: m\n"                                                                  /* 1 */
    "kinds: [{name: field}, {name: ash, letters: S}]\n"                         /* 2 */
    "players: [{name: Ash, team: 3}, {name: Birch, team: 5}]\n"                 /* 3 */
    "unit_types: [{name: man, radius: 0.4}]\n"                                  /* 4 */
    "buildings:\n"                                                              /* 5 */
    "  - {player: Ash, at: [20, 4], size: [2, 2], gate: true}\n"                /* 6 */
    "groups: [{name: a, player: Ash, count: 2, at: [5, 5]}]\n"                  /* 7 */
    "orders:\n"                                                                 /* 8 */
    "  - {tick: 4, player: Ash, gate: {at: [21, 5], open: all}}\n"              /* 9 */
    "  - {tick: 0, player: Birch, place: {at: [8, 9], size: [4, 3]}}\n"         /* 10 */
    "  - {tick: 0, player: 0, place: {at: [14, 9], gate: true}}\n"              /* 11 */
    "  - {tick: 1, player: Ash, gate: {at: [14, 9], open: [0, 15]}}\n"          /* 12 */
    "  - {tick: 2, player: Birch, raze: {at: [11, 11]}}\n"                      /* 13 */
    "  - {tick: 2, ground: {at: [0, 30], size: [32, 2], cost: 7, kind: ash}}\n" /* 14 */
    "  - {tick: 3, ground: {at: [1, 31], cost: 255}}\n"                         /* 15 */
    "  - {tick: 3, player: Ash, gate: {at: [14, 9], open: own}}\n"              /* 16 */
    "  - {tick: 3, player: Birch, raze: {at: [11, 11]}}\n"                      /* 17: nothing there */
    "  - {tick: 5, player: Ash, gate: {at: [20, 5], open: none}}\n"             /* 18 */
    "  - {tick: 5, player: Birch, raze: {at: [14, 9]}}\n";                      /* 19: not its own */

/* A good scenario with one piece changed; the result lives until the next call. */
static const char *with(const char *good_text, const char *find, const char *instead) {
    static char text[8192];
    const char *at = strstr(good_text, find);
    CHECK_THAT(at != NULL, "no \"%s\" in the good scenario", find);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good_text), good_text, instead, at + strlen(find));
    return text;
}

static PhxScenario *parse(const char *text) {
    PhxScenario *scenario;
    PhxYamlError error = {0};
    const PhxStatus status = phx_scenario_parse("good.yaml", text, strlen(text), &scenario, &error);
    CHECK_THAT(status == PHX_OK, "%s", error.text);
    return scenario;
}

enum { SIDE = 32, COMMANDS = 32 };

static PhxNavGrid open_map(void) {
    static uint8_t cost[SIDE * SIDE];
    memset(cost, 1, sizeof cost);
    return (PhxNavGrid){.width = SIDE, .height = SIDE, .cost = cost};
}

/* A world, and the commands of one tick. */
typedef struct Stage {
    PhxScenario *scenario;
    PhxSim *sim;
    PhxCommand commands[COMMANDS];
    uint8_t bytes[COMMANDS][PHX_COMMAND_SIZE_LIMIT];
    uint32_t count;
    uint32_t refused; /* events */
} Stage;

static void open_stage(Stage *stage, const char *text, bool foreign) {
    const PhxNavGrid map = open_map();
    void *blob;
    size_t size;
    PhxYamlError fault = {0};
    *stage = (Stage){.scenario = parse(text)};
    stage->scenario->foreign_map = foreign;
    CHECK_THAT(phx_scenario_build(stage->scenario, &map, &blob, &size, &fault) == PHX_OK, "%s", fault.text);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &stage->sim, NULL));
    free(blob);
}

static void close_stage(Stage *stage) {
    phx_sim_destroy(stage->sim);
    phx_scenario_destroy(stage->scenario);
}

static void take(void *user, uint8_t slot, const uint8_t *bytes, uint32_t size) {
    Stage *stage = user;
    CHECK(stage->count < COMMANDS);
    CHECK_OK(phx_command_check(bytes, size, slot, NULL));
    memcpy(stage->bytes[stage->count], bytes, size);
    stage->commands[stage->count] = (PhxCommand){
        .slot = slot, .sequence = stage->count, .bytes = stage->bytes[stage->count], .size = size};
    stage->count++;
}

static void step(Stage *stage) {
    stage->count = 0;
    phx_scenario_orders(stage->scenario, stage->sim, phx_sim_tick(stage->sim), take, stage);
    CHECK_OK(phx_sim_step(stage->sim, stage->commands, stage->count));
    uint32_t count;
    const PhxEvent *events = phx_sim_events(stage->sim, &count);
    for (uint32_t i = 0; i < count; i++) stage->refused += events[i].kind == PHX_EVENT_REFUSED;
}

static PhxBuildingInfo building_at(const Stage *stage, int32_t x, int32_t y) {
    PhxBuildingInfo info = {0};
    CHECK_THAT(phx_sim_building(stage->sim, phx_sim_building_at(stage->sim, x, y), &info),
               "tick %u: nothing at %d,%d", phx_sim_tick(stage->sim), x, y);
    return info;
}

PHX_TEST(scenario_orders, they_do_in_a_world_what_they_say) {
    static Stage stage;
    open_stage(&stage, good, false);
    CHECK_EQ(building_at(&stage, 21, 5).open_teams, 1 << 3);
    step(&stage); /* tick 0 */
    const PhxBuildingInfo house = building_at(&stage, 11, 11), gate = building_at(&stage, 14, 9);
    CHECK(house.cells.x0 == 8 && house.cells.y0 == 9 && house.cells.x1 == 12 && house.cells.y1 == 12);
    CHECK(house.player == 1 && !house.gate);
    CHECK(gate.cells.x1 == 15 && gate.cells.y1 == 10 && gate.player == 0 && gate.gate);
    CHECK_EQ(gate.open_teams, 1 << 3);
    step(&stage);
    CHECK_EQ(building_at(&stage, 14, 9).open_teams, 1 | 1 << 15);
    CHECK_EQ(stage.refused, 0);
    step(&stage); /* tick 2 */
    CHECK(phx_sim_building_at(stage.sim, 11, 11) == PHX_HANDLE_NONE);
    PhxNavGrid map = phx_sim_map(stage.sim);
    CHECK(map.cost[29 * SIDE] == 1 && map.cost[30 * SIDE] == 7 && map.cost[31 * SIDE + 31] == 7);
    CHECK_EQ(stage.commands[1].slot, PHX_SLOT_HOST);
    step(&stage); /* tick 3 */
    map = phx_sim_map(stage.sim);
    CHECK(map.cost[31 * SIDE + 1] == 255 && map.cost[31 * SIDE + 2] == 7);
    CHECK_EQ(building_at(&stage, 14, 9).open_teams, 1 << 3);
    CHECK_EQ(stage.refused, 1); /* no building there any more: said, and counted */
    step(&stage);
    CHECK_EQ(building_at(&stage, 20, 4).open_teams, 65535);
    step(&stage); /* tick 5 */
    CHECK_EQ(building_at(&stage, 20, 4).open_teams, 0);
    CHECK_EQ(building_at(&stage, 14, 9).player, 0);
    CHECK_EQ(stage.refused, 2);
    CHECK_EQ(stage.scenario->orders[6].ground_kind, 0); /* without a name: the first */
    CHECK_EQ(stage.scenario->orders[4].ground_kind, 1);
    close_stage(&stage);
    /* On another map the cells mean nothing. */
    open_stage(&stage, good, true);
    for (int tick = 0; tick < 6; tick++) {
        step(&stage);
        CHECK_EQ(stage.count, 0);
    }
    close_stage(&stage);
}

typedef struct Fault {
    const char *find, *instead, *message; /* the message's beginning behind the file's name */
} Fault;

static const Fault faults[] = {
    {"gate: {at: [21, 5], open: all}", "gates: {at: [21, 5]}",
     "9:28: gates: no such key in an order; there are: tick, player, group, groups, all, queued, move,"},
    {"player: Ash, gate: {at: [21", "gate: {at: [21",
     "9:5: place, raze and gate need the key player besides"},
    {"player: Ash, gate: {at: [21", "player: Elm, gate: {at: [21", "9:5: player \"Elm\": no player has this"},
    {"open: all", "open: some", "9:54: open: some: own, all or none is wanted, or a list of teams, as in"},
    {"open: all", "open: {a: 1}", "9:54: open: own, all or none is wanted"},
    {"open: all", "open: [16]", "9:55: open: 16: a whole number from 0 to 15 is wanted"},
    {", open: all", "", "9:34: open: missing: a gate order needs this key"},
    {"at: [21, 5], open", "open", "9:34: at: missing: a gate order needs this key"},
    {"{at: [21, 5], open: all}", "true", "9:34: gate: true: a gate order is wanted: a mapping of"},
    {"size: [4, 3]", "size: [4, 65]", "10:60: size: 65: a whole number from 1 to 64 is wanted"},
    {"size: [4, 3]", "size: 4", "10:56: size: 4: [x, y] is wanted, whole numbers of cells"},
    {"size: [4, 3]", "name: x", "10:50: name: no such key in a place order; there are: at, size, gate"},
    {"at: [8, 9]", "at: [8, 4096]", "10:46: at: 4096: a whole number from 0 to 4095 is wanted"},
    {"place: {at: [8, 9], size: [4, 3]}", "place: {at: [8, 9]}, stop: true",
     "10:5: an order needs one of the keys move, corner, scatter, "},
    {"place: {at: [8, 9], size: [4, 3]}", "stop: false", "10:5: an order needs one of the keys move, corner"},
    {"place: {at: [8, 9], size: [4, 3]}", "raze: {at: [8, 9], size: [4, 3]}",
     "10:49: size: no such key in a raze order; there are: at"},
    {"place: {at: [8, 9], size: [4, 3]}", "raze: {at: [8, 9]}, queued: true",
     "10:5: group, groups, all and queued are for orders to units: leave them out"},
    {"place: {at: [8, 9], size: [4, 3]}", "raze: {at: [8, 9]}, group: a",
     "10:5: group, groups, all and queued are for orders to units"},
    {"ground: {at: [0", "player: Ash, ground: {at: [0", "14:5: ground is changed by the host: leave the key"},
    {"cost: 7", "cost: 0", "14:58: cost: 0: a whole number from 1 to 255 is wanted"},
    {"cost: 7, ", "", "14:23: cost: missing: a ground order needs this key"},
    {"kind: ash", "kind: elm", "14:23: ground: kind \"elm\": no kind of ground has this name"},
    {"size: [32, 2]", "size: [32, 0]", "14:48: size: 0: a whole number from 1 to 4096 is wanted"},
};

static const char *const army =
    "map: m\n"                                                                                /* 1 */
    "players: [{name: Ash}, {name: Birch}]\n"                                                 /* 2 */
    "unit_types: [{name: man, radius: 0.4}]\n"                                                /* 3 */
    "groups:\n"                                                                               /* 4 */
    "  - {name: a, player: Ash, count: 2, at: [5, 5]}\n"                                      /* 5 */
    "  - {name: b, player: Birch, count: 3, at: [20, 20]}\n"                                  /* 6 */
    "orders:\n"                                                                               /* 7 */
    "  - {tick: 0, group: a, area: {at: [9.5, 8], radius: 2.5}, queued: true}\n"              /* 8 */
    "  - {tick: 0, group: b, nearest: [[3, 4], [30.5, 31]]}\n"                                /* 9 */
    "  - {tick: 0, group: a, blend: [{at: [1, 2], weight: 200}, {at: [31, 3], weight: 0}]}\n" /* 10 */
    "  - {tick: 0, group: a, chase: {group: b, unit: 2, threshold: 1.5}}\n"                   /* 11 */
    "  - {tick: 0, group: b, chase: {group: a}}\n";                                           /* 12 */

PHX_TEST(scenario_orders, goals_that_are_no_point_become_commands) {
    static Stage stage;
    PhxCommandData seen[5];
    open_stage(&stage, army, false);
    phx_scenario_orders(stage.scenario, stage.sim, 0, take, &stage);
    CHECK_EQ(stage.count, 5);
    for (int i = 0; i < 5; i++)
        CHECK_OK(phx_command_decode(stage.bytes[i], stage.commands[i].size, &seen[i], NULL));
    CHECK(seen[0].type == PHX_COMMAND_MOVE_AREA && seen[0].goal_x == 19 * 32768 &&
          seen[0].goal_y == 8 * 65536 && seen[0].radius == 5 * 32768 && seen[0].queued == 1);
    CHECK(seen[1].type == PHX_COMMAND_MOVE_NEAREST && seen[1].point_count == 2 && seen[1].unit_count == 3);
    CHECK(seen[1].points[1].x == 61 * 32768 && seen[1].points[1].y == 31 * 65536 &&
          stage.commands[1].slot == 1);
    CHECK(seen[2].type == PHX_COMMAND_MOVE_BLEND && seen[2].point_count == 2 && seen[2].queued == 0);
    CHECK(seen[2].points[0].weight == 200 && seen[2].points[0].y == 2 * 65536 &&
          seen[2].points[1].weight == 0);
    CHECK(seen[3].type == PHX_COMMAND_CHASE && seen[3].target == phx_sim_unit_handle(stage.sim, 4) &&
          seen[3].threshold == 3 * 32768);
    CHECK(seen[4].target == phx_sim_unit_handle(stage.sim, 0) && seen[4].threshold == 4 * 65536);
    CHECK_EQ(phx_command_unit(&seen[4], 2), phx_sim_unit_handle(stage.sim, 4));
    close_stage(&stage);
}

static void check_faults(const char *text, const Fault *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *changed = with(text, list[i].find, list[i].instead);
        PhxScenario *scenario;
        PhxYamlError error = {0};
        const PhxStatus status = phx_scenario_parse("bad.yaml", changed, strlen(changed), &scenario, &error);
        CHECK_THAT(status != PHX_OK && scenario == NULL, "fault %zu: \"%s\" was accepted", i,
                   list[i].instead);
        CHECK_EQ(error.status, status);
        char want[400];
        snprintf(want, sizeof want, "bad.yaml:%s", list[i].message);
        if (strncmp(error.text, want, strlen(want)) != 0) {
            fprintf(stderr, "fault %zu\n", i);
            CHECK_STR(error.text, want);
        }
    }
}

static const Fault army_faults[] = {
    {"radius: 2.5", "radius: 32.5", "8:54: radius: 32.5: a number from 0 to 32 is wanted"},
    {", radius: 2.5", "", "8:31: radius: missing: an area order needs this key"},
    {"at: [9.5, 8]", "at: 9", "8:36: at: 9: [x, y] is wanted"},
    {"[[3, 4], [30.5, 31]]", "[]", "9:34: nearest: a list with at least one entry is wanted"},
    {"[[3, 4], [30.5, 31]]", "[3, 4]", "9:35: nearest: 3: [x, y] is wanted"},
    {"[3, 4]", "[3, y]", "9:39: nearest: y: a number from -8192 to 8191.99998 is wanted"},
    {"[[3, 4], [30.5, 31]]", "[[1, 1], [1, 1], [1, 1], [1, 1], [1, 1], [1, 1], [1, 1], [1, 1], [1, 1]]",
     "9:34: nearest: 9 entries are too many: at most 8"},
    {"weight: 200", "weight: 256", "10:54: weight: 256: a whole number from 0 to 255 is wanted"},
    {", weight: 0", "", "10:60: weight: missing: a point of a blend needs this key"},
    {"{at: [31, 3], weight: 0}", "[31, 3]", "10:60: a point of a blend is wanted: a mapping"},
    {"group: b, unit: 2", "group: c, unit: 2", "11:32: chase: group \"c\": no group has this name"},
    {"unit: 2", "unit: 3", "11:32: chase: unit: 3: group \"b\" has the units 0 to 2"},
    {"threshold: 1.5", "threshold: 65", "11:63: threshold: 65: a number from 0 to 64 is wanted"},
    {"chase: {group: a}", "chase: {unit: 1}", "12:32: group: missing: a chase order needs this key"},
    {"chase: {group: a}", "chase: {group: a}, move: [1, 1]", "12:5: an order needs one of the keys move"},
    {"group: b, chase: {group: a}", "chase: {group: a}",
     "12:5: an order needs one of the keys group, groups"},
};

PHX_TEST(scenario_orders, each_fault_is_named_with_its_place_and_a_remedy) {
    check_faults(good, faults, sizeof faults / sizeof faults[0]);
    check_faults(army, army_faults, sizeof army_faults / sizeof army_faults[0]);
}

/* What only the map tells. */
PHX_TEST(scenario_orders, cells_beyond_the_map_are_an_error_with_their_line) {
    static const Fault beyond[] = {
        {"at: [8, 9], size: [4, 3]", "at: [29, 9], size: [4, 3]",
         "good.yaml:10:5: at: 4 x 3 cells at 29,9 leave the map m of 32 x 32"},
        {"at: [11, 11]", "at: [11, 32]",
         "good.yaml:13:5: at: 1 x 1 cells at 11,32 leave the map m of 32 x 32"},
        {"at: [21, 5]", "at: [32, 5]", "good.yaml:9:5: at: 1 x 1 cells at 32,5 leave the map m"},
        {"at: [0, 30], size: [32, 2]", "at: [0, 30], size: [32, 3]",
         "good.yaml:14:5: at: 32 x 3 cells at 0,30 leave the map m"},
        {"at: [9.5, 8]", "at: [9.5, 32]", "good.yaml:8:5: area: the goal is off the map m of 32 x 32"},
        {"[30.5, 31]", "[-1, 31]", "good.yaml:9:5: nearest: the goal is off the map m of 32 x 32"},
        {"at: [31, 3]", "at: [32, 3]", "good.yaml:10:5: blend: the goal is off the map m of 32 x 32"}};
    const PhxNavGrid map = open_map();
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        PhxScenario *scenario = parse(with(i < 4 ? good : army, beyond[i].find, beyond[i].instead));
        void *blob;
        size_t size;
        PhxYamlError error = {0};
        CHECK_EQ(phx_scenario_build(scenario, &map, &blob, &size, &error), PHX_ERROR_RANGE);
        if (strncmp(error.text, beyond[i].message, strlen(beyond[i].message)) != 0)
            CHECK_STR(error.text, beyond[i].message);
        phx_scenario_destroy(scenario);
    }
}
