/* building.c: public bug reports about ground that changes under units on their way, as tests under their
 * numbers (tests/cases/README.md).
 */
#include <phalanx/building.h>
#include <phalanx/content.h>
#include <stdlib.h>

#include "harness.h"
#include "step/sim_internal.h"

enum { SIDE = 40, WALL = 20, GATE_X = 18, GATE_WIDTH = 4, HOLE = 3, UNITS = 20 };

/* A wall across the map in row 20, with a gate of four cells in the middle and a hole at the left edge. */
static PhxSim *make_sim(uint16_t open_teams) {
    const PhxSettings settings = {22, 20, 1, 2};
    const PhxBuildingDef gate = {
        .x = GATE_X, .y = WALL, .width = GATE_WIDTH, .height = 1, .gate = 1, .open_teams = open_teams};
    PhxUnitTypeDef def = phx_content_unit_type_default();
    uint8_t cost[SIDE * SIDE];
    PhxContentBuilder *builder;
    PhxError error = {0};
    PhxSim *sim;
    uint16_t type;
    memset(cost, 1, sizeof cost);
    for (int x = HOLE; x < SIDE; x++)
        cost[WALL * SIDE + x] = x < GATE_X || x >= GATE_X + GATE_WIDTH ? 255 : 1;
    CHECK_OK(phx_content_begin(&settings, SIDE, SIDE, cost, UNITS, 64, &builder, &error));
    CHECK_OK(phx_content_add_player(builder, "one", 0, &error));
    def.name = "footman";
    CHECK_OK(phx_content_add_unit_type(builder, &def, &type, &error));
    CHECK_OK(phx_content_add_building(builder, &gate, &error));
    for (int i = 0; i < UNITS; i++)
        CHECK_OK(phx_content_add_unit(builder, type, 0, (15 + i % 5 * 2) << 16, (8 + i / 5 * 2) << 16, 16384,
                                      &error));
    size_t size = phx_content_size(builder);
    uint8_t *blob = malloc(size);
    CHECK_OK(phx_content_write(builder, blob, size, &size));
    phx_content_end(builder);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &sim, &error));
    free(blob);
    return sim;
}

static void give(PhxSim *sim, const PhxCommandData *data) {
    uint8_t bytes[PHX_COMMAND_SIZE_LIMIT];
    size_t size;
    CHECK_OK(phx_command_encode(data, bytes, sizeof bytes, &size));
    CHECK_OK(phx_sim_step(sim, &(PhxCommand){0, 0, (uint32_t)size, bytes}, 1));
}

static void send_all(PhxSim *sim, double x, double y, bool queued) {
    PhxHandle units[UNITS];
    for (uint32_t u = 0; u < UNITS; u++) units[u] = phx_sim_unit_handle(sim, u);
    give(sim, &(PhxCommandData){.type = PHX_COMMAND_MOVE,
                                .goal_x = (fix16_t)(x * 65536),
                                .goal_y = (fix16_t)(y * 65536),
                                .queued = queued,
                                .unit_count = UNITS,
                                .units = units});
}

static void switch_gate(PhxSim *sim, uint16_t open_teams) {
    give(sim, &(PhxCommandData){.type = PHX_COMMAND_GATE,
                                .building = phx_sim_building_handle(sim, 0),
                                .open_teams = open_teams});
}

/* -1 before the wall, 0 in its row (with the centre), 1 behind it. */
static int side_of(const PhxUnitView *units, uint32_t u) {
    const int32_t row = units->pos_y[u] >> 16;
    return row < WALL ? -1 : row > WALL;
}

static uint32_t count_idle(const PhxSim *sim) {
    const PhxUnitView units = phx_sim_units(sim);
    uint32_t idle = 0;
    for (uint32_t u = 0; u < UNITS; u++) idle += units.activity[u] == 0;
    return idle;
}

/* Runs until all stand. While the gate is shut, no centre stays in it for more than half a second, and none
 * enters its cells from outside. Returns how many came through the hole. */
static uint32_t run_with_gate(PhxSim *sim, bool shut, uint32_t limit) {
    uint32_t in_gate[UNITS] = {0}, through_hole = 0;
    bool came[UNITS] = {false}; /* through the hole */
    int before[UNITS];
    const PhxUnitView units = phx_sim_units(sim);
    for (uint32_t u = 0; u < UNITS; u++) before[u] = side_of(&units, u);
    for (uint32_t t = 0; count_idle(sim) < UNITS; t++) {
        CHECK_THAT(t < limit, "%u of %u units stand after %u ticks", count_idle(sim), UNITS, t);
        CHECK_OK(phx_sim_step(sim, NULL, 0));
        for (uint32_t u = 0; u < UNITS; u++) {
            const int now = side_of(&units, u);
            const bool hole = units.pos_x[u] < HOLE << 16;
            came[u] = came[u] || (now == 0 && hole);
            CHECK_THAT(!shut || now != 0 || before[u] == 0 || hole, "tick %u: unit %u went into a shut gate",
                       t, u);
            CHECK_THAT(before[u] * now >= 0, "tick %u: unit %u jumped the wall", t, u);
            in_gate[u] = shut && now == 0 && !hole ? in_gate[u] + 1 : 0;
            CHECK_THAT(in_gate[u] <= 10, "tick %u: unit %u is stuck in the gate", t, u);
            before[u] = now;
        }
    }
    for (uint32_t u = 0; u < UNITS; u++) through_hole += came[u];
    return through_hole;
}

/* A turn takes a second: so long that a unit faces any other way. */
static void let_turn(PhxSim *sim) {
    for (int t = 0; t < 11; t++) CHECK_OK(phx_sim_step(sim, NULL, 0));
}

/* Case 22 (OpenRA 16863): a gate shuts while units walk through it. */
PHX_TEST(case_22, a_gate_shuts_and_units_turn_to_the_way_around_at_once) {
    PhxSim *sim = make_sim(1);
    const PhxUnitView units = phx_sim_units(sim);
    uint32_t behind = 0, turned = 0, ticks = 0;
    send_all(sim, 20.5, 33.5, false);
    while (behind < 6) {
        CHECK_OK(phx_sim_step(sim, NULL, 0));
        CHECK(++ticks < 400);
        behind = 0;
        for (uint32_t u = 0; u < UNITS; u++) behind += side_of(&units, u) > 0;
    }
    switch_gate(sim, 0);
    let_turn(sim);
    for (uint32_t u = 0; u < UNITS; u++) { /* the one way on is to the left */
        if (side_of(&units, u) >= 0 || units.pos_y[u] > 19 << 16) continue;
        CHECK_THAT(sim->world->unit.pref_x[u] < 0, "unit %u still wants to the gate", u);
        turned++;
    }
    CHECK(turned > 3);
    const uint32_t hole = run_with_gate(sim, true, 3000);
    CHECK_THAT(hole >= turned && hole <= UNITS - 6, "%u went around, %u had turned", hole, turned);
    for (uint32_t u = 0; u < UNITS; u++) CHECK(side_of(&units, u) > 0);
    phx_sim_destroy(sim);
}

PHX_TEST(case_22, a_gate_opens_and_units_on_the_way_around_turn_to_it_at_once) {
    PhxSim *sim = make_sim(0);
    const PhxUnitView units = phx_sim_units(sim);
    uint32_t turned = 0;
    send_all(sim, 20.5, 33.5, false);
    for (int t = 0; t < 50; t++) CHECK_OK(phx_sim_step(sim, NULL, 0));
    for (uint32_t u = 0; u < UNITS; u++) CHECK(side_of(&units, u) < 0 && sim->world->unit.pref_x[u] < 0);
    switch_gate(sim, 0xffff);
    let_turn(sim);
    for (uint32_t u = 0; u < UNITS; u++) {
        if (units.pos_x[u] > 17 << 16 || units.pos_x[u] < 12 << 16) continue;
        if (sim->world->unit.bend[u] != 0) continue; /* it lets others by for a moment */
        CHECK_THAT(sim->world->unit.pref_x[u] > 0, "unit %u still goes around", u);
        turned++;
    }
    CHECK(turned > 3);
    CHECK_EQ(run_with_gate(sim, false, 3000), 0);
    for (uint32_t u = 0; u < UNITS; u++) CHECK(side_of(&units, u) > 0);
    phx_sim_destroy(sim);
}

/* How many units were told once that their goal can't be reached, in this tick; nobody twice. */
static uint32_t count_told(const PhxSim *sim, uint32_t told[UNITS]) {
    uint32_t count, found = 0;
    const PhxEvent *events = phx_sim_events(sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind != PHX_EVENT_UNREACHABLE) continue;
        told[phx_handle_slot(events[i].unit)]++;
        found++;
    }
    return found;
}

/* All stand, were told once if they were under way, and are within `far` of a point, outside of a rectangle.
 */
static void check_stopped_near(PhxSim *sim, const uint32_t told[UNITS], const bool under_way[UNITS], double x,
                               double y, double far, PhxCellRect outside) {
    const PhxUnitView units = phx_sim_units(sim);
    CHECK_EQ(count_idle(sim), UNITS);
    for (uint32_t u = 0; u < UNITS; u++) {
        const double ux = units.pos_x[u] / 65536.0, uy = units.pos_y[u] / 65536.0;
        CHECK_THAT(told[u] == under_way[u], "unit %u was told %u times", u, told[u]);
        CHECK_THAT((ux - x) * (ux - x) + (uy - y) * (uy - y) < far * far, "unit %u stopped at %f,%f", u, ux,
                   uy);
        CHECK_THAT(ux < outside.x0 || uy < outside.y0 || ux > outside.x1 || uy > outside.y1,
                   "unit %u stands in it at %f,%f", u, ux, uy);
    }
}

/* Places a building; who was under way before? */
static void place(PhxSim *sim, uint16_t x, uint16_t y, uint16_t width, uint16_t height, uint32_t told[UNITS],
                  bool under_way[UNITS]) {
    const PhxUnitView units = phx_sim_units(sim);
    for (uint32_t u = 0; u < UNITS; u++) under_way[u] = units.activity[u] != 0;
    give(sim, &(PhxCommandData){
                  .type = PHX_COMMAND_PLACE, .cell_x = x, .cell_y = y, .width = width, .height = height});
    (void)count_told(sim, told);
}

static void run_and_listen(PhxSim *sim, uint32_t ticks, uint32_t told[UNITS]) {
    for (uint32_t t = 0; t < ticks && count_idle(sim) < UNITS; t++) {
        CHECK_OK(phx_sim_step(sim, NULL, 0));
        (void)count_told(sim, told);
    }
}

/* Case 26 (Recoil 374): a building comes to lie on the goal, now or before a queued order is begun. */
PHX_TEST(case_26, a_goal_that_is_built_over_is_approached_and_said_once) {
    for (int queued = 0; queued < 2; queued++) {
        PhxSim *sim = make_sim(1);
        uint32_t told[UNITS] = {0}, there = 0;
        bool under_way[UNITS];
        send_all(sim, 20.5, queued ? 18.5 : 33.5, false);
        if (queued) send_all(sim, 20.5, 33.5, true);
        for (int t = 0; t < 20; t++) CHECK_OK(phx_sim_step(sim, NULL, 0));
        place(sim, 17, 31, 6, 6, told, under_way);
        CHECK_EQ(phx_sim_building_used(sim), 2);
        run_and_listen(sim, 3000, told);
        for (uint32_t u = 0; u < UNITS; u++) CHECK(under_way[u]);
        check_stopped_near(sim, told, under_way, 20.5, 33.5, 9, (PhxCellRect){17, 31, 23, 37});
        give(sim, &(PhxCommandData){.type = PHX_COMMAND_RAZE, .building = phx_sim_building_handle(sim, 1)});
        memset(told, 0, sizeof told);
        send_all(sim, 20.5, 8.5, false); /* and back: a building closes on those who stand there already */
        while (there < 5) {
            const PhxUnitView units = phx_sim_units(sim);
            run_and_listen(sim, 1, told);
            there = 0;
            for (uint32_t u = 0; u < UNITS; u++) there += units.pos_y[u] < 10 << 16;
            CHECK(phx_sim_tick(sim) < 6000);
        }
        for (uint32_t u = 0; u < UNITS; u++) CHECK_EQ(told[u], 0);
        place(sim, 17, 5, 6, 6, told, under_way);
        run_and_listen(sim, 3000, told);
        check_stopped_near(sim, told, under_way, 20.5, 8.5, 9, (PhxCellRect){17, 5, 23, 11});
        phx_sim_destroy(sim);
    }
}

/* A wall is built around the goal: it can't be reached, though it is open ground itself. */
PHX_TEST(case_26, a_goal_that_is_walled_in_is_approached_and_said_once) {
    PhxSim *sim = make_sim(1);
    uint32_t told[UNITS] = {0};
    bool under_way[UNITS];
    send_all(sim, 20.5, 33.5, false);
    place(sim, 17, 30, 7, 1, told, under_way);
    place(sim, 17, 36, 7, 1, told, under_way);
    place(sim, 17, 31, 1, 5, told, under_way);
    place(sim, 23, 31, 1, 5, told, under_way);
    run_and_listen(sim, 3000, told);
    check_stopped_near(sim, told, under_way, 20.5, 33.5, 9, (PhxCellRect){17, 30, 24, 37});
    phx_sim_destroy(sim);
}
