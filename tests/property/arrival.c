/* arrival.c: whole matches of a few units that have to get past each other and through a door: all arrive,
 * and none is ever inside a wall or on its other side. Cases 23, 24 and 26 of public reports among them.
 */
#include <phalanx/content.h>
#include <phalanx/walls.h>
#include <stdlib.h>

#include "harness.h"
#include "step/sim_internal.h"

typedef struct Walker {
    double x, y, goal_x, goal_y; /* world units */
} Walker;

static fix16_t fixed(double v) { return (fix16_t)(v * 65536.0 + (v < 0 ? -0.5 : 0.5)); }

/* A sim with one type of unit (radius in units) and one player per walker group of 1; walls where `cost` is
 * 255. */
static PhxSim *make_sim(const uint8_t *cost, uint32_t side, const Walker *walkers, uint32_t count,
                        double radius) {
    const PhxSettings settings = {7, 20, 1, 2};
    PhxUnitTypeDef def = phx_content_unit_type_default();
    PhxContentBuilder *builder;
    PhxError error = {0};
    PhxSim *sim;
    uint16_t type;
    def.name = "walker", def.radius = fixed(radius);
    CHECK_OK(phx_content_begin(&settings, side, side, cost, count, 16, &builder, &error));
    CHECK_OK(phx_content_add_player(builder, "one", 0, &error));
    CHECK_OK(phx_content_add_unit_type(builder, &def, &type, &error));
    for (uint32_t i = 0; i < count; i++) {
        const PhxAngle heading =
            phx_angle_of(fixed(walkers[i].goal_x - walkers[i].x), fixed(walkers[i].goal_y - walkers[i].y));
        const PhxStatus status =
            phx_content_add_unit(builder, type, 0, fixed(walkers[i].x), fixed(walkers[i].y), heading, &error);
        CHECK_THAT(status == PHX_OK, "%s", error.text);
    }
    size_t size = phx_content_size(builder);
    uint8_t *blob = malloc(size);
    CHECK_OK(phx_content_write(builder, blob, size, &size));
    phx_content_end(builder);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &sim, &error));
    free(blob);
    return sim;
}

/* One move order a walker, all in tick 0. */
static void order_all(PhxSim *sim, const Walker *walkers, uint32_t count) {
    static uint8_t bytes[64][32];
    PhxCommand commands[64];
    for (uint32_t i = 0; i < count; i++) {
        const PhxHandle unit = phx_sim_unit_handle(sim, i);
        const PhxCommandData move = {.type = PHX_COMMAND_MOVE,
                                     .goal_x = fixed(walkers[i].goal_x),
                                     .goal_y = fixed(walkers[i].goal_y),
                                     .unit_count = 1,
                                     .units = &unit};
        size_t size;
        CHECK_OK(phx_command_encode(&move, bytes[i], sizeof bytes[i], &size));
        commands[i] = (PhxCommand){0, i, (uint32_t)size, bytes[i]};
    }
    CHECK_OK(phx_sim_step(sim, commands, count));
}

/* Steps until all have arrived; in each tick no unit may touch a wall. Returns the ticks. */
static uint32_t run_until_arrived(PhxSim *sim, const Walker *walkers, uint32_t count, double radius,
                                  uint32_t limit, const char *name) {
    uint32_t idle = 0;
    order_all(sim, walkers, count);
    while (idle < count) {
        const PhxUnitView units = phx_sim_units(sim);
        const PhxNavGrid map = phx_sim_map(sim);
        CHECK_THAT(phx_sim_tick(sim) < limit, "%s: %u of %u arrived after %u ticks", name, idle, count,
                   limit);
        CHECK_OK(phx_sim_step(sim, NULL, 0));
        idle = 0;
        for (uint32_t i = 0; i < count; i++) {
            idle += units.activity[i] == 0;
            CHECK_THAT(phx_walls_clear(&map, phx_vec2(units.pos_x[i], units.pos_y[i]), fixed(radius)),
                       "%s: tick %u unit %u is in a wall at %d,%d", name, phx_sim_tick(sim), i,
                       units.pos_x[i], units.pos_y[i]);
        }
    }
    return phx_sim_tick(sim);
}

static void check_near_goals(const PhxSim *sim, const Walker *walkers, uint32_t count, double within) {
    const PhxUnitView units = phx_sim_units(sim);
    for (uint32_t i = 0; i < count; i++) {
        const double dx = units.pos_x[i] / 65536.0 - walkers[i].goal_x,
                     dy = units.pos_y[i] / 65536.0 - walkers[i].goal_y;
        CHECK_THAT(dx * dx + dy * dy <= within * within, "unit %u ended %f,%f from its goal", i, dx, dy);
    }
}

static uint8_t *open_ground(uint32_t side) {
    uint8_t *cost = malloc((size_t)side * side);
    memset(cost, 1, (size_t)side * side);
    return cost;
}

static void run_open(const char *name, const Walker *walkers, uint32_t count, uint32_t limit) {
    uint8_t *cost = open_ground(48);
    PhxSim *sim = make_sim(cost, 48, walkers, count, 0.4);
    const uint32_t ticks = run_until_arrived(sim, walkers, count, 0.4, limit, name);
    check_near_goals(sim, walkers, count, 1.2);
    printf("%s: %u units in %u ticks\n", name, count, ticks);
    phx_sim_destroy(sim);
    free(cost);
}

PHX_TEST(arrival, head_on_pairs_pass_case_24) {
    const Walker exact[2] = {{8, 24, 40, 24}, {40, 24, 8, 24}};
    const Walker off[2] = {{8, 24, 40, 24.1}, {40, 24.1, 8, 24}};
    const Walker diagonal[2] = {{8, 8, 40, 40}, {40, 40, 8, 8}};
    run_open("head-on, exactly", exact, 2, 800);
    run_open("head-on, a little off", off, 2, 800);
    run_open("head-on, diagonally", diagonal, 2, 800);
}

PHX_TEST(arrival, four_and_eight_on_a_circle_cross) {
    static const double around[8][2] = {
        {1, 0},           {0, 1}, {-1, 0}, {0, -1}, {0.7071, 0.7071}, {-0.7071, 0.7071}, {-0.7071, -0.7071},
        {0.7071, -0.7071}};
    Walker walkers[8];
    for (int i = 0; i < 8; i++)
        walkers[i] = (Walker){24 + 15 * around[i][0], 24 + 15 * around[i][1], 24 - 15 * around[i][0],
                              24 - 15 * around[i][1]};
    run_open("four on a circle", walkers, 4, 1200);
    run_open("eight on a circle", walkers, 8, 1200);
}

PHX_TEST(arrival, two_at_the_very_same_point_part_case_23) {
    const Walker walkers[2] = {{10, 24, 38, 20}, {10, 24, 38, 28}};
    const Walker same[2] = {{10, 24, 38, 24}, {10, 24, 38, 24}};
    run_open("one point, two goals", walkers, 2, 800);
    run_open("one point, one goal", same, 2, 800);
}

PHX_TEST(arrival, sixty_pass_a_door_both_ways_and_none_passes_the_wall) {
    uint8_t *cost = open_ground(80);
    Walker walkers[60];
    for (uint32_t y = 0; y < 80; y++) /* a wall two thick with a gap of three */
        if (y < 38 || y > 40) cost[y * 80 + 39] = cost[y * 80 + 40] = 255;
    for (int k = 0; k < 60; k++) {
        const int side = k < 30 ? -1 : 1, i = k % 30;
        const double x = 40 + side * (8 + 2.5 * (i / 6)), y = 39.5 - 7.5 + 3 * (i % 6);
        walkers[k] = (Walker){x, y, 40 - side * (18 + 2.0 * (i / 6)), 39.5 - 7.5 + 3 * (i % 6)};
    }
    PhxSim *sim = make_sim(cost, 80, walkers, 60, 0.4);
    const uint32_t ticks = run_until_arrived(sim, walkers, 60, 0.4, 6000, "door");
    check_near_goals(sim, walkers, 60, 3.0);
    printf("door of 3: 60 units in %u ticks\n", ticks);
    phx_sim_destroy(sim);
    free(cost);
}

/* Four that were pressed into the bend of a passage as wide as one body, each a little inside of the next: no
 * velocity parts them all, and yet they get out. */
PHX_TEST(arrival, wedged_units_creep_out_of_a_bend) {
    static const char *const bend[8] = {"################", "#####......#####", "#####.##########",
                                        "#####..#########", "######.........#", "#######.########",
                                        "#######........#", "################"};
    enum { SIDE = 16 };
    static const Walker wedged[4] = {
        {5.4, 3.6, 10.5, 1.5}, {6.09, 3.4, 9.5, 1.5}, {6.6, 3.91, 8.5, 1.5}, {6.43, 4.6, 7.5, 1.5}};
    uint8_t *cost = malloc(SIDE * SIDE);
    memset(cost, 255, SIDE * SIDE);
    for (uint32_t i = 0; i < 8 * SIDE; i++)
        if (bend[i / SIDE][i % SIDE] == '.') cost[i] = 1;
    PhxSim *sim = make_sim(cost, SIDE, wedged, 4, 0.4);
    const uint32_t ticks = run_until_arrived(sim, wedged, 4, 0.4, 1200, "bend");
    check_near_goals(sim, wedged, 4, 2.5);
    printf("bend: 4 units in %u ticks\n", ticks);
    phx_sim_destroy(sim);
    free(cost);
}

PHX_TEST(arrival, a_goal_in_a_wall_or_on_an_island_is_approached_and_said_case_26) {
    uint8_t *cost = open_ground(48);
    for (uint32_t y = 20; y < 30; y++) /* a ring of wall around an island of open cells */
        for (uint32_t x = 30; x < 40; x++)
            if (y == 20 || y == 29 || x == 30 || x == 39) cost[y * 48 + x] = 255;
    const Walker walkers[2] = {{10, 24, 35, 25},
                               {10, 30, 30.5, 25.5}}; /* onto the island; into the wall itself */
    PhxSim *sim = make_sim(cost, 48, walkers, 2, 0.4);
    uint32_t count;
    order_all(sim, walkers, 2);
    const PhxEvent *events = phx_sim_events(sim, &count);
    CHECK_EQ(count, 2);
    CHECK(events[0].kind == PHX_EVENT_UNREACHABLE && events[1].kind == PHX_EVENT_UNREACHABLE);
    const PhxUnitView units = phx_sim_units(sim);
    for (int t = 0; t < 600; t++) CHECK_OK(phx_sim_step(sim, NULL, 0));
    CHECK(units.activity[0] == 0 && units.activity[1] == 0);
    /* Of the cells outside, (40, 25) and (35, 30) are nearest to cell (35, 25); the former has the lower
     * index. */
    const Walker ends[2] = {{0, 0, 40.5, 25.5}, {0, 0, 29.5, 25.5}};
    check_near_goals(sim, ends, 2, 0.8);
    phx_sim_destroy(sim);
    free(cost);
}

static uint32_t nearest_to(const PhxUnitView *units, uint32_t count, double x, double y) {
    uint32_t best = 0;
    double least = 1e9;
    for (uint32_t i = 0; i < count; i++) {
        const double dx = units->pos_x[i] / 65536.0 - x, dy = units->pos_y[i] / 65536.0 - y;
        if (dx * dx + dy * dy < least) least = dx * dx + dy * dy, best = i;
    }
    return best;
}

/* Two hundred units to one point: no push war; a minute after the last has arrived all rest. */
PHX_TEST(arrival, two_hundred_to_one_point_settle_and_rest) {
    enum { COUNT = 200, AREA = 64 };
    static Walker walkers[COUNT];
    uint8_t *cost = open_ground(AREA);
    PhxHandle handles[COUNT];
    uint8_t bytes[PHX_COMMAND_SIZE_LIMIT];
    PhxVec2 before[COUNT] = {{0, 0}};
    size_t size;
    for (uint32_t i = 0; i < COUNT; i++) /* from two sides */
        walkers[i] = (Walker){i % 2 ? 3.5 + i / 20 : 60.5 - i / 20, 12.5 + i % 20 * 2, 32, 32};
    PhxSim *sim = make_sim(cost, AREA, walkers, COUNT, 0.4);
    const PhxUnitView units = phx_sim_units(sim);
    for (uint32_t i = 0; i < COUNT; i++) handles[i] = phx_sim_unit_handle(sim, i);
    const PhxCommandData move = {.type = PHX_COMMAND_MOVE,
                                 .goal_x = fixed(32),
                                 .goal_y = fixed(32),
                                 .unit_count = COUNT,
                                 .units = handles};
    CHECK_OK(phx_command_encode(&move, bytes, sizeof bytes, &size));
    CHECK_OK(phx_sim_step(sim, &(PhxCommand){0, 0, (uint32_t)size, bytes}, 1));
    uint32_t idle = 0, arrivals = 0, count;
    while (idle < COUNT) {
        CHECK_THAT(phx_sim_tick(sim) < 3000, "%u of %u settled", idle, COUNT);
        const PhxEvent *events = phx_sim_events(sim, &count);
        for (uint32_t i = 0; i < count; i++) arrivals += events[i].kind == PHX_EVENT_ARRIVED;
        CHECK_OK(phx_sim_step(sim, NULL, 0));
        idle = 0;
        for (uint32_t i = 0; i < COUNT; i++) idle += units.activity[i] == 0;
    }
    const PhxEvent *events = phx_sim_events(sim, &count);
    for (uint32_t i = 0; i < count; i++) arrivals += events[i].kind == PHX_EVENT_ARRIVED;
    CHECK_EQ(arrivals, COUNT); /* once each, whoever moved up for others */
    printf("two hundred: settled in %u ticks\n", phx_sim_tick(sim));
    for (int t = 0; t < 60 * 20; t++) CHECK_OK(phx_sim_step(sim, NULL, 0));
    for (uint32_t i = 0; i < COUNT; i++) before[i] = phx_vec2(units.pos_x[i], units.pos_y[i]);
    for (int t = 0; t < 20; t++) CHECK_OK(phx_sim_step(sim, NULL, 0));
    for (uint32_t i = 0; i < COUNT; i++) {
        const PhxVec2 at = {units.pos_x[i], units.pos_y[i]};
        const double dx = at.x / 65536.0 - 32, dy = at.y / 65536.0 - 32;
        CHECK_THAT(phx_vec2_distance_sq(at, before[i]) <= (uint64_t)fixed(0.004) * (uint64_t)fixed(0.004),
                   "unit %u moves", i);
        CHECK_THAT(sim->world->unit.asleep[i] == 1, "unit %u doesn't sleep", i);
        /* the disc that holds them at 80% has a radius of 6.32 */
        CHECK_THAT(dx * dx + dy * dy <= 1.3 * 6.33 * 1.3 * 6.33, "unit %u is %f, %f off", i, dx, dy);
    }
    /* One walks out of their midst: those it pushes wake, nobody walks off, and all sleep again. */
    const PhxCommandData out = {.type = PHX_COMMAND_MOVE,
                                .goal_x = fixed(55),
                                .goal_y = fixed(32),
                                .unit_count = 1,
                                .units = &handles[nearest_to(&units, COUNT, 32, 32)]};
    CHECK_OK(phx_command_encode(&out, bytes, sizeof bytes, &size));
    CHECK_OK(phx_sim_step(sim, &(PhxCommand){0, 0, (uint32_t)size, bytes}, 1));
    uint32_t woken = 0, slept = 0;
    for (int t = 0; t < 60 * 20; t++) {
        CHECK_OK(phx_sim_step(sim, NULL, 0));
        for (uint32_t i = 0; i < COUNT; i++) woken += sim->world->unit.asleep[i] == 0;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const double dx = units.pos_x[i] / 65536.0 - 32, dy = units.pos_y[i] / 65536.0 - 32;
        slept += sim->world->unit.asleep[i];
        CHECK_THAT(phx_handle_slot(out.units[0]) == i || dx * dx + dy * dy <= 9.5 * 9.5, "unit %u walked off",
                   i);
    }
    CHECK_THAT(slept == COUNT && woken > 20, "%u sleep, %u times awake", slept, woken);
    phx_sim_destroy(sim);
    free(cost);
}
