/* feelings_sim.c: feelings in whole sims: the same on any threads, reloaded and with nothing kept; what moods
 * and behaviours do to units that walk.
 */
#include <math.h>
#include <phalanx/jobs.h>
#include <stdlib.h>

#include "content/scenario.h"
#include "harness.h"
#include "step/sim_internal.h"

enum { SIDE = 48, ONE = 1 << 16 };

/* A sim of a scenario's text, on open ground. */
static PhxSim *raise(const char *text, const PhxSimConfig *config, PhxScenario **scenario) {
    static uint8_t cost[SIDE * SIDE];
    const PhxNavGrid map = {.width = SIDE, .height = SIDE, .cost = cost};
    void *blob;
    size_t size;
    PhxSim *sim;
    PhxYamlError fault = {0};
    memset(cost, 1, sizeof cost);
    CHECK_THAT(phx_scenario_parse("test.yaml", text, strlen(text), scenario, &fault) == PHX_OK, "%s",
               fault.text);
    CHECK_THAT(phx_scenario_build(*scenario, &map, &blob, &size, &fault) == PHX_OK, "%s", fault.text);
    CHECK_OK(phx_sim_create(config, blob, size, NULL, &sim, NULL));
    free(blob);
    return sim;
}

enum { COMMANDS = 16 };
typedef struct Turn {
    PhxCommand commands[COMMANDS];
    uint8_t bytes[COMMANDS][PHX_COMMAND_SIZE_LIMIT];
    uint32_t count;
} Turn;

static void take(void *user, uint8_t slot, const uint8_t *bytes, uint32_t size) {
    Turn *turn = user;
    CHECK(turn->count < COMMANDS);
    memcpy(turn->bytes[turn->count], bytes, size);
    turn->commands[turn->count] = (PhxCommand){slot, turn->count, size, turn->bytes[turn->count]};
    turn->count++;
}

/* One tick, with the scenario's orders. */
static void step(PhxSim *sim, const PhxScenario *scenario) {
    static Turn turn;
    turn.count = 0;
    phx_scenario_orders(scenario, sim, phx_sim_tick(sim), take, &turn);
    CHECK_OK(phx_sim_step(sim, turn.commands, turn.count));
}

static const char *const crowd =
    "map: m\n"
    "players: [{name: Ash}, {name: Birch}, {name: Cedar, team: 0}]\n"
    "unit_types:\n"
    "  - {name: man, feelings: {cohesion: 0.5, berth: 6, alert: {speed: 0.75}}}\n"
    "  - {name: ox, radius: 0.7, weight: 12, feelings: {berth: 2, clip: 8, panicked: {radius: 2.5, speed: "
    "2}}}\n"
    "  - {name: plain}\n"
    "groups:\n"
    "  - {name: a, player: Ash, type: man, count: 30, at: [10, 10]}\n"
    "  - {name: b, player: Birch, type: ox, count: 16, at: [36, 12]}\n"
    "  - {name: c, player: Cedar, type: man, count: 20, at: [12, 36], mood: alert, behaviour: patrol}\n"
    "  - {name: d, player: Birch, type: plain, count: 20, at: [36, 36], behaviour: guard}\n"
    "orders:\n"
    "  - {tick: 0, group: a, move: [38, 38]}\n"
    "  - {tick: 0, group: b, move: [8, 38]}\n"
    "  - {tick: 5, group: c, area: {at: [24, 24], radius: 6}}\n"
    "  - {tick: 20, group: d, move: [24, 20]}\n"
    "  - {tick: 40, group: a, behave: {mood: panicked}}\n"
    "  - {tick: 60, group: b, behave: {mood: alert, behaviour: guard}}\n"
    "  - {tick: 90, group: c, behave: {mood: panicked, behaviour: none}}\n"
    "  - {tick: 110, group: a, behave: {mood: calm, behaviour: patrol}}\n"
    "  - {tick: 130, group: d, behave: {behaviour: patrol, mood: alert}}\n"
    "  - {tick: 150, group: b, behave: {mood: panicked}}\n"
    "  - {tick: 150, group: c, behave: {mood: calm}}\n";

PHX_TEST(feelings_sim, threads_reloading_and_dropping_change_nothing) {
    enum { TICKS = 200, SPLIT = 120 };
    static uint64_t roots[TICKS];
    for (int how = 0; how < 4; how++) { /* plain, threads, reloaded, dropped */
        PhxJobs jobs = phx_jobs_serial();
        PhxScenario *scenario;
        if (how == 1) CHECK_OK(phx_jobs_threads_create(3, &jobs));
        PhxSim *sim = raise(crowd, &(PhxSimConfig){.jobs = jobs}, &scenario);
        const size_t room = 2 * phx_sim_snapshot_size(sim);
        uint8_t *snapshot = malloc(room);
        CHECK(snapshot != NULL);
        for (uint32_t t = 0; t < TICKS; t++) {
            size_t size;
            if (how == 2) {
                CHECK_OK(phx_sim_snapshot(sim, snapshot, room, &size));
                CHECK_OK(phx_sim_restore(sim, snapshot, size, NULL));
            }
            if (how == 3) phx_sim_drop_derived(sim, (uint8_t)(t * 77));
            step(sim, scenario);
            if (how == 0) roots[t] = phx_sim_root(sim);
            CHECK_THAT(roots[t] == phx_sim_root(sim), "tick %u, way %d", t, how);
        }
        if (how == 1) phx_jobs_threads_destroy(&jobs);
        free(snapshot);
        phx_sim_destroy(sim);
        phx_scenario_destroy(scenario);
    }
}

/* A walker slows down and speeds up with its mood, and its radius and level never jump. */
PHX_TEST(feelings_sim, a_walker_changes_with_its_mood) {
    PhxScenario *scenario;
    PhxSim *sim = raise("map: m\n"
                        "players: [{name: Ash}]\n"
                        "unit_types: [{name: man, feelings: {alert: {speed: 0.5}, panicked: {speed: 1}}}]\n"
                        "groups: [{name: a, player: Ash, count: 1, at: [4, 24]}]\n"
                        "orders:\n"
                        "  - {tick: 0, group: a, move: [44, 24]}\n"
                        "  - {tick: 60, group: a, behave: {mood: alert}}\n"
                        "  - {tick: 120, group: a, behave: {mood: panicked}}\n"
                        "  - {tick: 180, group: a, behave: {mood: calm, behaviour: patrol}}\n",
                        &(PhxSimConfig){0}, &scenario);
    const PhxUnitTable *units = &sim->world->unit;
    const struct Point {
        uint32_t tick;
        double speed, radius;
    } points[] = {{59, 2, 0.56}, {110, 1, 0.672}, {175, 2, 1.008}, {240, 2, 0.65}};
    fix16_t radius = 0, speed = 0;
    for (uint32_t t = 0, p = 0; p < 4; t++) {
        step(sim, scenario);
        const fix16_t now = (fix16_t)phx_vec2_length(phx_vec2(units->vel_x[0], units->vel_y[0]));
        if (t > 0) CHECK_THAT(abs(units->avoid[0] - radius) <= 2 * 26214 / 20 + 1, "tick %u", t);
        if (t > 30) CHECK_THAT(abs(now - speed) <= ONE / 10 + 3, "tick %u: %d after %d", t, now, speed);
        radius = units->avoid[0], speed = now;
        if (t != points[p].tick) continue;
        CHECK_THAT(abs(speed - (fix16_t)(points[p].speed * ONE)) < 8, "tick %u: speed %d", t, speed);
        CHECK_THAT(abs(radius - (fix16_t)(points[p].radius * ONE)) < 8, "tick %u: radius %d", t, radius);
        p++;
    }
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
}

/* The least distance at which one unit passes another that stands beside its way. */
static double pass_by(const char *berth, const char *player) {
    char text[1024];
    PhxScenario *scenario;
    snprintf(text, sizeof text,
             "map: m\n"
             "players: [{name: Ash}, {name: Birch}]\n"
             "unit_types: [{name: man, feelings: {berth: %s, cohesion: 1}}]\n"
             "groups:\n"
             "  - {name: a, player: Ash, count: 1, at: [6, 24]}\n"
             "  - {name: b, player: %s, count: 1, at: [20, 25.5]}\n"
             "orders: [{tick: 0, group: a, move: [40, 24]}]\n",
             berth, player);
    PhxSim *sim = raise(text, &(PhxSimConfig){0}, &scenario);
    const PhxUnitTable *units = &sim->world->unit;
    double least = 1e9;
    for (int t = 0; t < 450; t++) {
        step(sim, scenario);
        const PhxVec2 apart = {units->pos_x[0] - units->pos_x[1], units->pos_y[0] - units->pos_y[1]};
        const double now = phx_vec2_length(apart) / 65536.0;
        if (now < least) least = now;
    }
    CHECK_EQ(units->activity[0], 0);
    CHECK(abs(units->pos_x[0] - 40 * ONE) < ONE / 2 && abs(units->pos_y[0] - 24 * ONE) < ONE / 2);
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
    return least;
}

PHX_TEST(feelings_sim, enemies_are_passed_in_a_wider_berth_than_friends) {
    const double plain = pass_by("0", "Birch"), wide = pass_by("6", "Birch"), friend = pass_by("6", "Ash");
    printf("passed at %.3f, an enemy at %.3f, a friend at %.3f\n", plain, wide, friend);
    CHECK(wide > plain + 0.3 && friend < plain + 0.01 && friend > plain - 0.01);
}

/* How near two units that walk side by side have come to each other on the way. */
static double side_by_side(const char *cohesion) {
    char text[1024];
    PhxScenario *scenario;
    snprintf(text, sizeof text,
             "map: m\n"
             "players: [{name: Ash}]\n"
             "unit_types: [{name: man, feelings: {cohesion: %s}}]\n"
             "groups:\n"
             "  - {name: a, player: Ash, count: 1, at: [6, 22]}\n"
             "  - {name: b, player: Ash, count: 1, at: [6, 25]}\n"
             "orders:\n"
             "  - {tick: 0, group: a, move: [40, 22]}\n"
             "  - {tick: 0, group: b, move: [40, 25]}\n",
             cohesion);
    PhxSim *sim = raise(text, &(PhxSimConfig){0}, &scenario);
    const PhxUnitTable *units = &sim->world->unit;
    double least = 1e9;
    for (int t = 0; t < 450; t++) {
        step(sim, scenario);
        const PhxVec2 apart = {units->pos_x[0] - units->pos_x[1], units->pos_y[0] - units->pos_y[1]};
        const double now = phx_vec2_length(apart) / 65536.0;
        if (now < least) least = now;
    }
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(units->activity[i], 0);
        CHECK(abs(units->pos_x[i] - 40 * ONE) < ONE / 2 &&
              abs(units->pos_y[i] - (22 + 3 * i) * ONE) < ONE / 2);
    }
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
    return least;
}

/* They arrive where they were sent all the same. */
PHX_TEST(feelings_sim, friends_draw_near_on_the_way) {
    const double alone = side_by_side("0"), together = side_by_side("1");
    printf("side by side %.3f apart, friends %.3f\n", alone, together);
    CHECK(alone > 2.99 && together < 2 && together > 0.9);
}

/* Who guards and stands is switched off, who goes to guard isn't; one who leaves guarding is on again. */
PHX_TEST(feelings_sim, a_guard_that_stands_is_switched_off) {
    PhxScenario *scenario;
    PhxSim *sim = raise("map: m\n"
                        "players: [{name: Ash}]\n"
                        "unit_types: [{name: man, weight: 5}]\n"
                        "groups: [{name: a, player: Ash, count: 1, at: [10, 24], behaviour: guard}]\n"
                        "orders:\n"
                        "  - {tick: 10, group: a, move: [16, 24]}\n"
                        "  - {tick: 150, group: a, behave: {behaviour: none}}\n",
                        &(PhxSimConfig){0}, &scenario);
    const PhxUnitTable *units = &sim->world->unit;
    for (uint32_t t = 0; t < 160; t++) {
        step(sim, scenario);
        const bool on = t >= 150 || (t >= 10 && units->activity[0] != 0);
        if (t < 10 || t > 20)
            CHECK_THAT(units->weight[0] == (on ? 5 : 0) || units->activity[0] == 0, "tick %u", t);
        if (t == 30) CHECK_EQ(units->weight[0], 5);
        if (t == 149) CHECK_EQ(units->weight[0], 0);
        if (t == 149) CHECK_EQ(units->avoid[0], 26214 + 13107 / 2);
    }
    CHECK_EQ(units->weight[0], 5);
    CHECK(abs(units->pos_x[0] - 16 * ONE) < ONE / 2);
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
}

/* Mean distance of pairs of units first .. first + count - 1. */
static double mean_distance(const PhxUnitTable *units, uint32_t first, uint32_t count) {
    double sum = 0;
    for (uint32_t a = first; a < first + count; a++)
        for (uint32_t b = first; b < a; b++)
            sum += hypot((double)(units->pos_x[a] - units->pos_x[b]),
                         (double)(units->pos_y[a] - units->pos_y[b])) /
                   ONE;
    return sum / (count * (count - 1) / 2.0);
}

/* The scenario `market`, as its first lines tell it. */
PHX_TEST(feelings_sim, a_market_panics_and_gathers_again) {
    enum { VILLAGERS = 100, POST = 100, OLD = 105, NEW = 106, PATROL = 107, ALL = 119 };
    PhxScenarioFile file;
    PhxYamlError fault = {0};
    PhxSim *sim;
    CHECK_THAT(phx_scenario_load(test_source("tests/scenario/market.yaml"), NULL, &file, &fault) == PHX_OK,
               "%s", fault.text);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, file.blob, file.blob_size, NULL, &sim, NULL));
    const PhxUnitTable *units = &sim->world->unit;
    double before = 0, during = 0;
    uint32_t relieved = 0;
    for (uint32_t t = 0; t < 2000; t++) {
        step(sim, file.scenario);
        if (t == 299) before = mean_distance(units, 0, VILLAGERS);
        if (t == 499) during = mean_distance(units, 0, VILLAGERS);
        for (uint32_t i = POST; i < POST + 5; i++)
            CHECK_THAT(units->weight[i] == 0, "tick %u guard %u", t, i);
        relieved += (units->weight[OLD] == 0 && units->activity[OLD] != 0) ||
                    (units->weight[NEW] == 0 && units->activity[NEW] != 0);
    }
    printf("villagers %.2f apart, panicked %.2f, at last %.2f; %u ticks of changing over\n", before, during,
           mean_distance(units, 0, VILLAGERS), relieved);
    CHECK(during > before + 3 && mean_distance(units, 0, VILLAGERS) < before);
    for (uint32_t i = 0; i < ALL; i++) CHECK_EQ(units->mood[i], i < PATROL ? PHX_MOOD_CALM : PHX_MOOD_ALERT);
    for (uint32_t i = POST; i < ALL; i++) CHECK_THAT(units->activity[i] == 0, "unit %u", i);
    phx_sim_destroy(sim);
    phx_scenario_unload(&file);
}

/* One unit walks 28 units straight through where another stands, with a behaviour; how near they came, and
 * how far the other was moved. */
static double walk_through(const char *behaviour, fix16_t *moved) {
    char text[1024];
    PhxScenario *scenario;
    snprintf(text, sizeof text,
             "map: m\n"
             "players: [{name: Ash}, {name: Birch}]\n"
             "unit_types: [{name: man}]\n"
             "groups:\n"
             "  - {name: a, player: Ash, count: 1, at: [24, 24], behaviour: %s}\n"
             "  - {name: b, player: Birch, count: 1, at: [10, 24.1]}\n"
             "orders: [{tick: 0, group: b, move: [38, 24.1]}]\n",
             behaviour);
    PhxSim *sim = raise(text, &(PhxSimConfig){0}, &scenario);
    const PhxUnitTable *units = &sim->world->unit;
    double least = 1e9;
    *moved = 0;
    for (int t = 0; t < 500; t++) {
        step(sim, scenario);
        const PhxVec2 apart = {units->pos_x[0] - units->pos_x[1], units->pos_y[0] - units->pos_y[1]},
                      way = {units->pos_x[0] - 24 * ONE, units->pos_y[0] - 24 * ONE};
        const fix16_t far = (fix16_t)phx_vec2_length(way);
        least = fmin(least, phx_vec2_length(apart) / 65536.0);
        if (far > *moved) *moved = far;
    }
    CHECK(units->activity[1] == 0 && abs(units->pos_x[1] - 38 * ONE) < ONE / 2);
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
    return least;
}

/* A guard stays where it is, and is gone around; another steps aside. */
PHX_TEST(feelings_sim, a_standing_guard_is_gone_around) {
    fix16_t guard_moved, other_moved;
    const double guard = walk_through("guard", &guard_moved), other = walk_through("none", &other_moved);
    printf("a guard is passed at %.3f and moves %d raw; another at %.3f and %d\n", guard, guard_moved, other,
           other_moved);
    CHECK_EQ(guard_moved, 0);
    CHECK(other_moved > ONE / 100);
    CHECK(guard > 0.79 && other > 0.79);
}

/* Two guards change over: each goes where the other comes from. They lose no time over each other. */
PHX_TEST(feelings_sim, guards_change_over_without_holding_each_other_up) {
    PhxScenario *scenario;
    PhxSim *sim = raise("map: m\n"
                        "players: [{name: Ash}]\n"
                        "unit_types: [{name: man}]\n"
                        "groups:\n"
                        "  - {name: a, player: Ash, count: 1, at: [24, 24], behaviour: guard, facing: 0}\n"
                        "  - {name: b, player: Ash, count: 1, at: [14, 24], behaviour: guard}\n"
                        "orders:\n"
                        "  - {tick: 0, group: b, move: [24, 24]}\n"
                        "  - {tick: 80, group: a, move: [14, 24]}\n",
                        &(PhxSimConfig){0}, &scenario);
    const PhxUnitTable *units = &sim->world->unit;
    uint32_t came = 0, went = 0;
    for (uint32_t t = 0; t < 260; t++) {
        step(sim, scenario);
        if (came == 0 && t > 1 && units->activity[1] == 0) came = t;
        if (went == 0 && t > 81 && units->activity[0] == 0) went = t;
        if (t < 80)
            CHECK_THAT(units->pos_x[0] == 24 * ONE && units->pos_y[0] == 24 * ONE, "tick %u: %d %d", t,
                       units->pos_x[0], units->pos_y[0]);
    }
    printf("one came after %u ticks, the other went in %u\n", came, went - 80);
    CHECK(came > 0 && came < 125 && went > 0 && went - 80 < 125); /* 10 units at 2 a second: 100 ticks */
    CHECK(abs(units->pos_x[1] - 24 * ONE) < ONE && abs(units->pos_x[0] - 14 * ONE) < ONE / 2);
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
}
