/* flock.c: flocks in a world: from a scenario's text and by orders, what is said of ways to get it wrong, and
 * that a flock on its way keeps together, keeps out of walls, arrives, and is the same on any threads.
 */
#include <phalanx/flock.h>
#include <stdlib.h>

#include "content/scenario.h"
#include "harness.h"
#include "step/sim_internal.h"

enum { ONE = 65536, WIDTH = 96, HEIGHT = 48, UNITS = 60 };

static PhxScenario *parse(const char *text) {
    PhxScenario *scenario;
    PhxYamlError error = {0};
    const PhxStatus status = phx_scenario_parse("good.yaml", text, strlen(text), &scenario, &error);
    CHECK_THAT(status == PHX_OK, "%s", error.text);
    return scenario;
}

/* A world with a wall across its middle, open in rows 20 to 27, and threads of its own. */
static PhxSim *raise(PhxScenario *scenario, const PhxJobs *jobs) {
    static uint8_t cost[WIDTH * HEIGHT];
    const PhxNavGrid map = {.width = WIDTH, .height = HEIGHT, .cost = cost};
    void *blob;
    size_t size;
    PhxSim *sim;
    PhxYamlError fault = {0};
    memset(cost, 1, sizeof cost);
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 46; x < 49 && (y < 20 || y > 27); x++) cost[y * WIDTH + x] = PHX_NAV_IMPASSABLE;
    CHECK_THAT(phx_scenario_build(scenario, &map, &blob, &size, &fault) == PHX_OK, "%s", fault.text);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){.jobs = *jobs}, blob, size, NULL, &sim, NULL));
    free(blob);
    return sim;
}

static void give(void *user, uint8_t slot, const uint8_t *bytes, uint32_t size) {
    CHECK_OK(phx_command_check(bytes, size, slot, NULL));
    CHECK_OK(phx_sim_step(user, &(PhxCommand){.slot = slot, .bytes = bytes, .size = size}, 1));
}

static const char *const good =
    "map: m\n"                                                                                      /* 1 */
    "players: [{name: Ash}, {name: Birch}]\n"                                                       /* 2 */
    "unit_types:\n"                                                                                 /* 3 */
    "  - {name: man}\n"                                                                             /* 4 */
    "  - {name: bird, flocking: {separation: 3, alignment: 0.5, cohesion: 0, seek: 64, near: 2.5, " /* 5 */
    "far: 12, force: 1.25}}\n"
    "groups:\n"                                                                   /* 6 */
    "  - {name: a, player: Ash, type: man, count: 2, at: [5, 5], flock: 65535}\n" /* 7 */
    "  - {name: b, player: Birch, type: bird, count: 3, at: [20, 20]}\n"          /* 8 */
    "orders:\n"                                                                   /* 9 */
    "  - {tick: 0, groups: [b], flock: 3}\n"                                      /* 10 */
    "  - {tick: 1, player: Ash, all: true, flock: 0}\n";                          /* 11 */

static void check_flock(const PhxSim *sim, uint32_t first, uint32_t count, int flock) {
    for (uint32_t i = first; i < first + count; i++)
        CHECK_THAT(sim->world->unit.flock[i] == flock, "tick %u unit %u: %d", phx_sim_tick(sim), i,
                   sim->world->unit.flock[i]);
}

PHX_TEST(flock, arrives_in_a_world_by_content_and_by_orders) {
    const PhxJobs serial = phx_jobs_serial();
    PhxScenario *scenario = parse(good);
    PhxSim *sim = raise(scenario, &serial);
    const PhxUnitTypeTable *types = &sim->world->unit_type;
    const fix16_t weights[] = {3 * ONE, ONE / 2, 0, 64 * ONE};
    for (int r = 0; r < PHX_FLOCK_RULES; r++) CHECK_EQ(types->flock_weight[4 + r], weights[r]);
    CHECK(types->flock_near[1] == 5 * ONE / 2 && types->flock_far[1] == 12 * ONE);
    CHECK_EQ(types->flock_force[1], 5 * ONE / 4);
    /* What isn't said is the module's own default. */
    const PhxFlockClass usual = phx_flock_class_default(types->speed[0]);
    for (int r = 0; r < PHX_FLOCK_RULES; r++) CHECK_EQ(types->flock_weight[r], usual.weight[r]);
    CHECK(types->flock_near[0] == usual.near_radius && types->flock_far[0] == usual.far_radius);
    CHECK_EQ(types->flock_force[0], usual.force);
    check_flock(sim, 0, 2, 65535);
    check_flock(sim, 2, 3, 0);
    phx_scenario_orders(scenario, sim, 0, give, sim);
    check_flock(sim, 2, 3, 3);
    phx_scenario_orders(scenario, sim, 1, give, sim);
    check_flock(sim, 0, 2, 0);
    /* Only one's own units; the dead and others' are counted. */
    uint8_t bytes[64];
    size_t size;
    const PhxHandle units[] = {phx_sim_unit_handle(sim, 0), phx_sim_unit_handle(sim, 2),
                               phx_handle_make(2, 7)};
    CHECK_OK(phx_command_encode(
        &(PhxCommandData){.type = PHX_COMMAND_FLOCK, .flock = 9, .unit_count = 3, .units = units}, bytes,
        sizeof bytes, &size));
    give(sim, 1, bytes, (uint32_t)size);
    check_flock(sim, 0, 2, 0);
    check_flock(sim, 2, 1, 9);
    check_flock(sim, 3, 2, 3);
    CHECK_EQ(sim->world->match.commands_late[0], 2);
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
}

static const struct Fault {
    const char *find, *instead, *message; /* the message's beginning behind the file's name */
} faults[] = {
    {"separation: 3", "separation: 65", "5:41: separation: 65: a number from 0 to 64 is wanted"},
    {"seek: 64", "seek: -1", "5:79: seek: -1: a number from 0 to 64 is wanted"},
    {"near: 2.5", "nearest: 2.5",
     "5:83: nearest: no such key in flocking; there are: separation, alignment, cohesion, seek, near, far"},
    {"flock: 65535", "flock: 65536", "7:68: flock: 65536: a whole number from 0 to 65535 is wanted"},
    {"flock: 3", "flock: x", "10:35: flock: x: a whole number from"},
    {"flock: 3", "flock: 3, queued: true", "10:5: flocks change at once: flock can't be queued"},
    {"flock: 3", "flock: 3, stop: true", "10:5: an order needs one of the keys move, corner, scatter, "},
};

PHX_TEST(flock, each_fault_in_a_scenario_is_named_with_its_place_and_a_remedy) {
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

/* ---- on the way */

typedef struct Journey {
    double spread; /* root mean square distance from the middle of those on their way, at half time */
    double order;  /* 1: all that move go one way */
    double nearest;
    uint32_t arrived, ticks;
    uint64_t root; /* of all ticks */
} Journey;

static void judge(const PhxSim *sim, Journey *journey) {
    const PhxUnitTable *units = &sim->world->unit;
    double x = 0, y = 0, way_x = 0, way_y = 0, spread = 0, nearest = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < UNITS; i++) x += units->pos_x[i], y += units->pos_y[i];
    x /= UNITS, y /= UNITS;
    for (uint32_t i = 0; i < UNITS; i++) {
        const double dx = units->pos_x[i] - x, dy = units->pos_y[i] - y;
        const double speed = phx_vec2_length(phx_vec2(units->vel_x[i], units->vel_y[i]));
        spread += dx * dx + dy * dy;
        double best = 1e30;
        for (uint32_t k = 0; k < UNITS; k++) {
            const PhxVec2 apart = {units->pos_x[i] - units->pos_x[k], units->pos_y[i] - units->pos_y[k]};
            const double distance = phx_vec2_length(apart);
            if (k != i && distance < best) best = distance;
        }
        nearest += best / ONE / UNITS;
        if (speed < ONE / 2) continue;
        way_x += units->vel_x[i] / speed, way_y += units->vel_y[i] / speed;
        count++;
    }
    journey->spread = phx_isqrt64((uint64_t)(spread / UNITS)) / (double)ONE;
    journey->order =
        count == 0 ? 0 : phx_isqrt64((uint64_t)(way_x * way_x + way_y * way_y) << 20) / 1024.0 / count;
    journey->nearest = nearest;
}

static Journey travel(const char *text, uint32_t threads, uint32_t half) {
    Journey journey = {0};
    PhxJobs jobs;
    CHECK_OK(phx_jobs_threads_create(threads, &jobs));
    PhxScenario *scenario = parse(text);
    PhxSim *sim = raise(scenario, &jobs);
    const PhxUnitTable *units = &sim->world->unit;
    const PhxNavGrid map = phx_sim_map(sim);
    while (journey.arrived < UNITS && journey.ticks < 2400) {
        if (journey.ticks == 0)
            phx_scenario_orders(scenario, sim, 0, give, sim);
        else
            CHECK_OK(phx_sim_step(sim, NULL, 0));
        journey.ticks++;
        if (journey.ticks == half) judge(sim, &journey);
        journey.root = journey.root * 31 + phx_sim_root(sim);
        journey.arrived = 0;
        for (uint32_t i = 0; i < UNITS; i++) {
            CHECK_THAT(phx_walls_clear(&map, phx_vec2(units->pos_x[i], units->pos_y[i]), 26214 - 2),
                       "tick %u unit %u is in a wall", journey.ticks, i);
            journey.arrived += units->activity[i] == 0;
        }
    }
    phx_sim_destroy(sim);
    phx_scenario_destroy(scenario);
    phx_jobs_threads_destroy(&jobs);
    return journey;
}

PHX_TEST(flock, on_its_way_keeps_together_keeps_clear_of_walls_and_arrives) {
    static const char text[] = "map: m\n"
                               "players: [{name: Ash}]\n"
                               "unit_types: [{name: man}]\n"
                               "groups:\n"
                               "  - {name: a, player: Ash, count: 60, scatter: [2, 2, 30, 46], flock: %d}\n"
                               "orders: [{tick: 0, group: a, move: [86, 24]}]\n";
    char apart[512], flock[512];
    snprintf(apart, sizeof apart, text, 0);
    snprintf(flock, sizeof flock, text, 1);
    const Journey alone = travel(apart, 1, 500), together = travel(flock, 1, 500);
    if (getenv("PHX_VERBOSE"))
        printf("alone: spread %.2f, order %.3f, nearest %.2f, %u ticks; in a flock: %.2f, %.3f, %.2f, %u\n",
               alone.spread, alone.order, alone.nearest, alone.ticks, together.spread, together.order,
               together.nearest, together.ticks);
    CHECK_EQ(alone.arrived, UNITS);
    CHECK_EQ(together.arrived, UNITS);
    CHECK(together.order > 0.95 && together.spread < 1.1 * alone.spread);
    CHECK(together.nearest > 1.3 && together.nearest > 1.3 * alone.nearest);
    CHECK(together.ticks < 1.1 * alone.ticks);
    for (uint32_t threads = 2; threads <= 8; threads += threads == 3 ? 5 : 1)
        CHECK_THAT(travel(flock, threads, 500).root == together.root, "threads %u", threads);
}
