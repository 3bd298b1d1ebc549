/* scenario_feelings.c: moods, behaviours and what units feel: from a scenario's text into a world, by the
 * content and by orders, and what is said of every way to get it wrong.
 */
#include <phalanx/feelings.h>
#include <stdlib.h>

#include "content/scenario.h"
#include "harness.h"
#include "step/sim_internal.h"

static const char *const good =
    "map: m\n"                                                                                   /* 1 */
    "players: [{name: Ash}, {name: Birch}]\n"                                                    /* 2 */
    "unit_types:\n"                                                                              /* 3 */
    "  - {name: man}\n"                                                                          /* 4 */
    "  - {name: dog, avoid_ratio: 1, weight: 3, feelings: {mood_rate: 4, range: 9, neighbours: " /* 5 */
    "16, cohesion: 0.5, berth: 2.25, spread: 64, clip: 3, guard_spacing: 0.25, patrol_spacing: 1, "
    "calm: {path_bias: 0.75}, alert: {radius: 1.5, speed: 0.5}, panicked: {radius: 4, speed: 2, path_bias: "
    "0}}}\n"
    "groups:\n"                                                                            /* 6 */
    "  - {name: a, player: Ash, type: man, count: 2, at: [5, 5], mood: alert}\n"           /* 7 */
    "  - {name: b, player: Birch, type: dog, count: 3, at: [20, 20], behaviour: patrol}\n" /* 8 */
    "orders:\n"                                                                            /* 9 */
    "  - {tick: 0, groups: [b], behave: {mood: panicked}}\n"                               /* 10 */
    "  - {tick: 1, group: a, behave: {mood: calm, behaviour: guard}}\n"                    /* 11 */
    "  - {tick: 2, player: Birch, all: true, behave: {mood: alert, behaviour: none}}\n"    /* 12 */
    "  - {tick: 3, group: b, behave: {behaviour: guard}}\n";                               /* 13 */

enum { SIDE = 32 };

static PhxScenario *parse(const char *text) {
    PhxScenario *scenario;
    PhxYamlError error = {0};
    const PhxStatus status = phx_scenario_parse("good.yaml", text, strlen(text), &scenario, &error);
    CHECK_THAT(status == PHX_OK, "%s", error.text);
    return scenario;
}

static PhxSim *raise(PhxScenario *scenario) {
    static uint8_t cost[SIDE * SIDE];
    const PhxNavGrid map = {.width = SIDE, .height = SIDE, .cost = cost};
    void *blob;
    size_t size;
    PhxSim *sim;
    PhxYamlError fault = {0};
    memset(cost, 1, sizeof cost);
    CHECK_THAT(phx_scenario_build(scenario, &map, &blob, &size, &fault) == PHX_OK, "%s", fault.text);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &sim, NULL));
    free(blob);
    return sim;
}

static void give(void *user, uint8_t slot, const uint8_t *bytes, uint32_t size) {
    CHECK_OK(phx_command_check(bytes, size, slot, NULL));
    CHECK_OK(phx_sim_step(user, &(PhxCommand){.slot = slot, .bytes = bytes, .size = size}, 1));
}

static void check_manners(const PhxSim *sim, uint32_t first, uint32_t count, int mood, int behaviour) {
    for (uint32_t i = first; i < first + count; i++)
        CHECK_THAT(sim->world->unit.mood[i] == mood && sim->world->unit.behaviour[i] == behaviour,
                   "tick %u unit %u: %d, %d", phx_sim_tick(sim), i, sim->world->unit.mood[i],
                   sim->world->unit.behaviour[i]);
}

PHX_TEST(scenario_feelings, arrive_in_a_world_by_content_and_by_orders) {
    PhxScenario *scenario = parse(good);
    PhxSim *sim = raise(scenario);
    const PhxUnitTypeTable *types = &sim->world->unit_type;
    CHECK(types->avoid_ratio[1] == 65536 && types->weight[1] == 3 && types->mood_rate[1] == 4 * 65536);
    CHECK(types->feel_range[1] == 9 * 65536 && types->feel_neighbours[1] == 16);
    CHECK(types->cohesion[1] == 32768 && types->berth[1] == 9 * 16384 && types->spread[1] == 64 * 65536);
    CHECK(types->force_clip[1] == 3 * 65536 && types->guard_spacing[1] == 16384 &&
          types->patrol_spacing[1] == 65536);
    const fix16_t bias[] = {49152, 45875, 0}, radius[] = {65536, 98304, 4 * 65536},
                  speed[] = {65536, 32768, 2 * 65536};
    for (int m = 0; m < 3; m++)
        CHECK(types->path_bias[3 + m] == bias[m] && types->radius_factor[3 + m] == radius[m] &&
              types->speed_factor[3 + m] == speed[m]);
    /* What isn't said is the module's own default. */
    const PhxFeelingsClass usual = phx_feelings_class_default(types->radius[0], types->speed[0]);
    CHECK(types->avoid_ratio[0] == usual.avoid_ratio && types->weight[0] == usual.weight &&
          types->mood_rate[0] == usual.mood_rate && types->feel_range[0] == usual.range &&
          types->feel_neighbours[0] == usual.neighbours && types->spread[0] == usual.spread);
    CHECK(types->cohesion[0] == 0 && types->berth[0] == 0 && types->force_clip[0] == usual.clip);
    CHECK(types->guard_spacing[0] == usual.spacing[1] && types->patrol_spacing[0] == usual.spacing[2]);
    for (int m = 0; m < 3; m++)
        CHECK(types->path_bias[m] == usual.path_bias[m] &&
              types->radius_factor[m] == usual.radius_factor[m] &&
              types->speed_factor[m] == usual.speed_factor[m]);
    check_manners(sim, 0, 2, PHX_MOOD_ALERT, PHX_BEHAVIOUR_NONE);
    check_manners(sim, 2, 3, PHX_MOOD_CALM, PHX_BEHAVIOUR_PATROL);
    for (uint32_t tick = 0; tick < 4; tick++) phx_scenario_orders(scenario, sim, tick, give, sim);
    CHECK_EQ(phx_sim_tick(sim), 4);
    check_manners(sim, 0, 2, PHX_MOOD_CALM, PHX_BEHAVIOUR_GUARD);
    check_manners(sim, 2, 3, PHX_MOOD_ALERT, PHX_BEHAVIOUR_GUARD);
    CHECK_EQ(sim->world->match.commands_executed[0], 4);
    /* Only one's own units; the dead and others' are counted. */
    uint8_t bytes[64];
    size_t size;
    const PhxHandle units[] = {phx_sim_unit_handle(sim, 0), phx_sim_unit_handle(sim, 2),
                               phx_handle_make(2, 7)};
    CHECK_OK(phx_command_encode(&(PhxCommandData){.type = PHX_COMMAND_BEHAVE,
                                                  .mood = PHX_MOOD_PANICKED,
                                                  .behaviour = PHX_BEHAVE_KEEP,
                                                  .unit_count = 3,
                                                  .units = units},
                                bytes, sizeof bytes, &size));
    give(sim, 1, bytes, (uint32_t)size);
    check_manners(sim, 0, 2, PHX_MOOD_CALM, PHX_BEHAVIOUR_GUARD);
    check_manners(sim, 2, 1, PHX_MOOD_PANICKED, PHX_BEHAVIOUR_GUARD);
    check_manners(sim, 3, 2, PHX_MOOD_ALERT, PHX_BEHAVIOUR_GUARD);
    CHECK_EQ(sim->world->match.commands_late[0], 2);
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
}

static const struct Fault {
    const char *find, *instead, *message; /* the message's beginning behind the file's name */
} faults[] = {
    {"avoid_ratio: 1", "avoid_ratio: 0.9", "5:30: avoid_ratio: 0.9: a number from 1 to 4 is wanted"},
    {"weight: 3", "weight: 16", "5:41: weight: 16: a whole number from 0 to 15 is wanted"},
    {"{mood_rate: 4, range: 9", "{mood_rate: 0, range: 9",
     "5:66: mood_rate: 0: a number from 0.0625 to 64 is wanted"},
    {"cohesion: 0.5", "cohesoin: 0.5",
     "5:95: cohesoin: no such key in feelings; there are: mood_rate, range, neighbours, cohesion, berth,"},
    {"calm: {path_bias: 0.75}", "calm: {bias: 1}",
     "5:191: bias: no such key in a mood; there are: path_bias, radius, speed"},
    {"calm: {path_bias: 0.75}", "calm: 1", "5:190: calm: 1: a mood is wanted: a mapping of"},
    {"radius: 1.5", "radius: 0.5", "5:225: radius: 0.5: a number from 1 to 4 is wanted"},
    {"mood: alert}\n", "mood: angry}\n", "7:5: mood \"angry\": calm, alert or panicked is wanted"},
    {"behaviour: patrol}\n", "behaviour: patroll}\n",
     "8:5: behaviour \"patroll\": none, guard or patrol is wanted"},
    {"{mood: panicked}", "{mood: panic}", "10:36: behave: mood \"panic\": calm, alert or panicked is wanted"},
    {"{mood: panicked}", "{}", "10:36: behave: a behave order needs mood or behaviour, or both"},
    {"{mood: panicked}", "panicked", "10:36: behave: panicked: a behave order is wanted: a mapping of"},
    {"{mood: panicked}", "{mood: [alert]}", "10:43: mood: a single value is wanted, not a list or mapping"},
    {"{mood: panicked}", "{modo: alert}", "10:37: modo: no such key in a behave order; there are: mood, beh"},
    {"behave: {mood: panicked}", "behave: {mood: alert}, queued: true",
     "10:5: moods and behaviours change at once: behave can't be queued"},
    {"behave: {mood: panicked}", "behave: {mood: alert}, stop: true",
     "10:5: an order needs one of the keys move, corner, scatter, "},
    {"groups: [b], behave", "behave", "10:5: an order needs one of the keys group, groups, all: true"},
};

PHX_TEST(scenario_feelings, each_fault_is_named_with_its_place_and_a_remedy) {
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
        CHECK(scenario == NULL);
        snprintf(want, sizeof want, "bad.yaml:%s", faults[i].message);
        if (strncmp(error.text, want, strlen(want)) != 0) CHECK_STR(error.text, want);
    }
}

/* A whole sim: a panicked crowd at rest spreads, faces where it runs, and rests again; the calm stay where
 * they are; radius and weight are there for whoever avoids. */
PHX_TEST(scenario_feelings, a_crowd_that_panics_spreads_in_a_world) {
    static const char text[] = "map: m\n"
                               "players: [{name: Ash}]\n"
                               "unit_types: [{name: man}]\n"
                               "groups:\n"
                               "  - {name: a, player: Ash, count: 9, at: [12, 12], spacing: 0.9}\n"
                               "  - {name: b, player: Ash, count: 4, at: [27, 27], spacing: 0.9}\n"
                               "orders: [{tick: 0, group: a, behave: {mood: panicked}}]\n";
    PhxScenario *scenario = parse(text);
    PhxSim *sim = raise(scenario);
    const PhxUnitTable *units = &sim->world->unit;
    fix16_t was_x[13], was_y[13], last_speed = 0;
    memcpy(was_x, units->pos_x, sizeof was_x);
    memcpy(was_y, units->pos_y, sizeof was_y);
    for (uint32_t tick = 0; tick < 300; tick++) {
        if (tick == 0)
            phx_scenario_orders(scenario, sim, 0, give, sim);
        else
            CHECK_OK(phx_sim_step(sim, NULL, 0));
        for (uint32_t i = 0; i < 13; i++) {
            CHECK_EQ(units->weight[i], 8);
            CHECK(units->avoid[i] >= 26214 && units->avoid[i] <= 26214 * 2.53);
        }
        last_speed = 0;
        for (uint32_t i = 0; i < 9; i++) {
            const fix16_t speed = (fix16_t)phx_vec2_length(phx_vec2(units->vel_x[i], units->vel_y[i]));
            if (speed > last_speed) last_speed = speed;
            CHECK_THAT(speed <= 2.5 * 65536, "tick %u unit %u", tick, i);
        }
    }
    CHECK(last_speed < 65536 / 3);
    for (uint32_t i = 0; i < 9; i++) {
        CHECK(units->avoid[i] > 26214 * 2.51 && units->top_speed[i] == 5 * 32768);
        for (uint32_t k = 0; k < i; k++) {
            const PhxVec2 apart = {units->pos_x[i] - units->pos_x[k], units->pos_y[i] - units->pos_y[k]};
            CHECK_THAT(phx_vec2_length(apart) > 2 * 65536, "units %u and %u", i, k);
        }
    }
    for (uint32_t i = 9; i < 13; i++)
        CHECK(units->pos_x[i] == was_x[i] && units->pos_y[i] == was_y[i] && units->top_speed[i] == 0);
    /* The corner of the block that lay in the north-west ran there, and looks there. */
    CHECK(units->pos_x[0] < was_x[0] - 2 * 65536 && units->pos_y[0] < was_y[0] - 2 * 65536);
    CHECK(units->heading[0] > 32768 && units->heading[0] < 49152);
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
}
