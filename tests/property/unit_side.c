/* unit_side.c: what units do with fields: orders with more goals than one point, samples, speed on ground,
 * being stuck, ways out of closed cells, exact ends, and walls at the limits of speed.
 */
#include <phalanx/content.h>
#include <phalanx/walls.h>
#include <stdlib.h>

#include "harness.h"
#include "step/sim_internal.h"

enum { SIDE = 48, MOST = 64 };

typedef struct Stage {
    uint8_t cost[SIDE * SIDE], kind[SIDE * SIDE];
    PhxUnitTypeDef type;
    uint16_t rate; /* ticks a second */
    uint32_t units;
    double x[MOST], y[MOST];
    uint8_t player[MOST];
    PhxSimConfig config;
} Stage;

static fix16_t fixed(double v) { return (fix16_t)(v * 65536.0 + (v < 0 ? -0.5 : 0.5)); }

static Stage stage_of(uint32_t units) {
    Stage stage = {.type = phx_content_unit_type_default(), .rate = 20, .units = units};
    stage.type.name = "walker";
    memset(stage.cost, 1, sizeof stage.cost);
    return stage;
}

static void wall(Stage *stage, int x0, int y0, int x1, int y1) {
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) stage->cost[y * SIDE + x] = 255;
}

static PhxSim *raise(const Stage *stage) {
    const PhxSettings settings = {5, stage->rate, 1, 2};
    const PhxCostProfile profile = {.speed_percent = {0, 50, 200}};
    PhxUnitTypeDef def = stage->type;
    PhxContentBuilder *builder;
    PhxError error = {0};
    PhxSim *sim;
    uint16_t type;
    CHECK_OK(phx_content_begin(&settings, SIDE, SIDE, stage->cost, stage->units, 64, &builder, &error));
    CHECK_OK(phx_content_set_kinds(builder, stage->kind, &error));
    CHECK_OK(phx_content_add_profile(builder, "walkers", &profile, &def.profile, &error));
    CHECK_OK(phx_content_add_player(builder, "one", 0, &error));
    CHECK_OK(phx_content_add_player(builder, "two", 1, &error));
    CHECK_OK(phx_content_add_unit_type(builder, &def, &type, &error));
    for (uint32_t i = 0; i < stage->units; i++) {
        const PhxStatus status = phx_content_add_unit(builder, type, stage->player[i], fixed(stage->x[i]),
                                                      fixed(stage->y[i]), 0, &error);
        CHECK_THAT(status == PHX_OK, "%s", error.text);
    }
    size_t size = phx_content_size(builder);
    uint8_t *blob = malloc(size);
    CHECK_OK(phx_content_write(builder, blob, size, &size));
    phx_content_end(builder);
    const PhxStatus status = phx_sim_create(&stage->config, blob, size, NULL, &sim, &error);
    CHECK_THAT(status == PHX_OK, "%s", error.text);
    free(blob);
    return sim;
}

static void pass(PhxSim *sim, uint32_t ticks) {
    for (uint32_t t = 0; t < ticks; t++) CHECK_OK(phx_sim_step(sim, NULL, 0));
}

/* Gives a command to units first .. first + count - 1, in a tick of its own. */
static void give(PhxSim *sim, PhxCommandData command, uint32_t first, uint32_t count) {
    uint8_t bytes[PHX_COMMAND_SIZE_LIMIT];
    PhxHandle handles[MOST];
    size_t size;
    for (uint32_t i = 0; i < count; i++) handles[i] = phx_sim_unit_handle(sim, first + i);
    command.units = handles, command.unit_count = (uint16_t)count;
    CHECK_OK(phx_command_encode(&command, bytes, sizeof bytes, &size));
    const uint8_t slot =
        command.type == PHX_COMMAND_GROUND ? PHX_SLOT_HOST : phx_sim_units(sim).player[first];
    CHECK_OK(phx_sim_step(sim, &(PhxCommand){slot, phx_sim_tick(sim), (uint32_t)size, bytes}, 1));
}

static PhxCommandData move_to(double x, double y) {
    return (PhxCommandData){.type = PHX_COMMAND_MOVE, .goal_x = fixed(x), .goal_y = fixed(y)};
}

static double gap(const PhxSim *sim, uint32_t unit, double x, double y) {
    const PhxUnitView units = phx_sim_units(sim);
    const double dx = units.pos_x[unit] / 65536.0 - x, dy = units.pos_y[unit] / 65536.0 - y;
    return dx * dx + dy * dy;
}

static uint32_t events_of(const PhxSim *sim, PhxEventKind kind) {
    uint32_t count, found = 0;
    const PhxEvent *events = phx_sim_events(sim, &count);
    for (uint32_t i = 0; i < count; i++) found += events[i].kind == kind;
    return found;
}

/* Steps until nobody is under an order; the ticks it took. */
static uint32_t until_idle(PhxSim *sim, uint32_t limit) {
    for (uint32_t t = 0; t < limit; t++) {
        const PhxUnitView units = phx_sim_units(sim);
        uint32_t busy = 0;
        for (uint32_t i = 0; i < units.used; i++) busy += units.activity[i] != 0;
        if (busy == 0) return t;
        CHECK_OK(phx_sim_step(sim, NULL, 0));
    }
    CHECK_THAT(false, "not at rest after %u ticks", limit);
    return limit;
}

/* Thirty units in the west; two rooms behind a wall with doors in the east. */
static Stage crowd_stage(uint8_t period) {
    Stage stage = stage_of(30);
    stage.type.sample_period = period;
    for (uint32_t i = 0; i < 30; i++) stage.x[i] = 3.5 + i % 5 * 1.5, stage.y[i] = 12.5 + i / 5 * 2.0;
    for (uint32_t i = 24; i < 30; i++) stage.player[i] = 1;
    wall(&stage, 20, 0, 22, 10), wall(&stage, 20, 13, 22, 34), wall(&stage, 20, 37, 22, SIDE);
    for (uint32_t c = 0; c < SIDE * SIDE; c++) stage.kind[c] = (uint8_t)(c % SIDE / 7 % 3);
    return stage;
}

/* Every kind of order, at ticks of its own. */
static void crowd_orders(PhxSim *sim, uint32_t tick) {
    const PhxCommandData area = {
        .type = PHX_COMMAND_MOVE_AREA, .goal_x = fixed(36), .goal_y = fixed(12), .radius = fixed(5)};
    PhxCommandData nearest = {.type = PHX_COMMAND_MOVE_NEAREST,
                              .point_count = 3,
                              .points = {{fixed(30.5), fixed(6.5), 0},
                                         {fixed(30.5), fixed(40.5), 0},
                                         {fixed(4.5), fixed(30.5), 0}}};
    PhxCommandData blend = nearest;
    if (tick == 0) give(sim, area, 0, 8);
    if (tick == 2) give(sim, nearest, 8, 10);
    blend.type = PHX_COMMAND_MOVE_BLEND;
    for (int i = 0; i < 3; i++) blend.points[i].weight = (uint8_t)(200 - 60 * i);
    if (tick == 4) give(sim, blend, 18, 6);
    const PhxCommandData chase = {
        .type = PHX_COMMAND_CHASE, .target = phx_sim_unit_handle(sim, 0), .threshold = fixed(3)};
    if (tick == 6) give(sim, chase, 24, 5);
    nearest.queued = 1;
    if (tick == 8) give(sim, nearest, 0, 4);
    if (tick == 10) give(sim, move_to(10, 5), 29, 1);
}

enum { CROWD_TICKS = 500 };

static void run_crowd(PhxSim **sim, uint64_t *roots, uint32_t ticks, bool compare, int how) {
    uint8_t *snapshot = malloc(2 * phx_sim_snapshot_size(*sim));
    for (uint32_t t = 0; t < ticks; t++) {
        size_t size;
        PhxError error = {0};
        if (how == 1) {
            CHECK_OK(phx_sim_snapshot(*sim, snapshot, 2 * phx_sim_snapshot_size(*sim), &size));
            CHECK_THAT(phx_sim_restore(*sim, snapshot, size, &error) == PHX_OK, "%s", error.text);
        }
        if (how == 2) phx_sim_drop_derived(*sim, (uint8_t)(t * 77));
        const uint32_t before = phx_sim_tick(*sim);
        crowd_orders(*sim, t);
        if (phx_sim_tick(*sim) == before) CHECK_OK(phx_sim_step(*sim, NULL, 0));
        if (compare)
            CHECK_THAT(roots[t] == phx_sim_root(*sim), "tick %u, way %d", t, how);
        else
            roots[t] = phx_sim_root(*sim);
    }
    free(snapshot);
}

PHX_TEST(unit_side, orders_of_every_kind_are_the_same_on_any_threads_reloaded_and_with_nothing_kept) {
    static uint64_t roots[CROWD_TICKS];
    for (int period = 1; period <= 5; period += 4) {
        const uint32_t ticks = getenv("PHX_LONG") ? CROWD_TICKS : period == 1 ? 300 : 160;
        Stage stage = crowd_stage((uint8_t)period);
        PhxSim *sim = raise(&stage);
        run_crowd(&sim, roots, ticks, false, 0);
        CHECK(sim->world->tables[PHX_TABLE_destination].live > 0 || period == 5);
        phx_sim_destroy(sim);
        for (uint32_t threads = 2, way = 0; way < 5; way++, threads = threads == 3 ? 8 : threads + 1) {
            const bool threaded = way < 3;
            stage.config = (PhxSimConfig){0};
            if (threaded) CHECK_OK(phx_jobs_threads_create(threads, &stage.config.jobs));
            sim = raise(&stage);
            run_crowd(&sim, roots, ticks, true, threaded ? 0 : (int)way - 2);
            phx_sim_destroy(sim);
            if (threaded) phx_jobs_threads_destroy(&stage.config.jobs);
        }
    }
}

PHX_TEST(unit_side, areas_and_nearest_points_are_reached_and_their_rows_end) {
    Stage stage = crowd_stage(1);
    PhxSim *sim = raise(&stage);
    for (uint32_t t = 0; t < 6; t++) crowd_orders(sim, t);
    CHECK_EQ(sim->world->tables[PHX_TABLE_destination].live, 3);
    until_idle(sim, 3000);
    for (uint32_t i = 0; i < 8; i++)
        CHECK_THAT(gap(sim, i, 36, 12) <= 5.0 * 5.0, "unit %u is not in the area", i);
    for (uint32_t i = 8; i < 18; i++) /* all began in the west: the third point's way is the cheapest */
        CHECK_THAT(gap(sim, i, 4.5, 30.5) <= 4.0 * 4.0, "unit %u is not at the nearest point", i);
    for (uint32_t i = 18; i < 24; i++)
        CHECK_THAT(gap(sim, i, 30.5, 6.5) <= 4.0 * 4.0, "unit %u of the blend is not at point 0", i);
    CHECK_EQ(sim->world->tables[PHX_TABLE_destination].live, 0);
    /* A stop, a new order and a leaving player end them, too. */
    static const uint32_t again[] = {8, 2, 4};
    give(sim, move_to(5, 5), 0, 8);
    for (int i = 0; i < 3; i++) crowd_orders(sim, again[i]);
    CHECK_EQ(sim->world->tables[PHX_TABLE_destination].live, 3);
    CHECK(sim->world->tables[PHX_TABLE_order].live > 0);
    give(sim, (PhxCommandData){.type = PHX_COMMAND_STOP}, 0, 20);
    give(sim, move_to(5, 5), 20, 4);
    CHECK_EQ(sim->world->tables[PHX_TABLE_destination].live, 0);
    CHECK_EQ(sim->world->tables[PHX_TABLE_order].live, 0);
    phx_sim_destroy(sim);
}

PHX_TEST(unit_side, a_chase_moves_its_goal_beyond_the_threshold_only_and_ends_with_its_target) {
    Stage stage = stage_of(2);
    stage.x[0] = 4.5, stage.y[0] = 24.5, stage.x[1] = 10.5, stage.y[1] = 24.5, stage.player[1] = 1;
    PhxSim *sim = raise(&stage);
    const PhxUnitTable *units = &sim->world->unit;
    uint32_t moved = 0, lost = 0;
    const double threshold = 4;
    give(sim,
         (PhxCommandData){
             .type = PHX_COMMAND_CHASE, .target = phx_sim_unit_handle(sim, 1), .threshold = fixed(threshold)},
         0, 1);
    give(sim, move_to(40.5, 24.5), 1, 1);
    for (int t = 0; t < 500; t++) {
        const PhxVec2 was = {units->goal_x[0], units->goal_y[0]};
        const double off = gap(sim, 1, was.x / 65536.0, was.y / 65536.0);
        pass(sim, 1);
        if (units->goal_x[0] == was.x && units->goal_y[0] == was.y) {
            CHECK_THAT(off <= threshold * threshold, "tick %d: the goal stayed", t);
        } else {
            CHECK_THAT(off > threshold * threshold, "tick %d: the goal was moved", t);
            moved++;
        }
    }
    CHECK_THAT(moved >= 5 && moved <= 8, "moved %u times over 30 units", moved);
    CHECK(units->activity[0] == 1 && gap(sim, 0, 40.5, 24.5) < 5.0 * 5.0);
    phx_table_remove(&sim->world->tables[PHX_TABLE_unit], 1);
    CHECK_OK(phx_sim_step(sim, NULL, 0));
    lost = events_of(sim, PHX_EVENT_TARGET_LOST);
    CHECK_EQ(lost, 1);
    CHECK(units->activity[0] == 0 && units->chase[0] == PHX_HANDLE_NONE);
    give(sim, (PhxCommandData){.type = PHX_COMMAND_CHASE, .target = phx_handle_make(1, 1)}, 0, 1);
    CHECK_EQ(units->activity[0], 0); /* too late */
    phx_sim_destroy(sim);
}

/* Point 1 draws the units into a pocket that is open to the side they come from. */
PHX_TEST(unit_side, a_blend_leans_and_its_basins_are_left) {
    Stage stage = stage_of(6);
    for (uint32_t i = 0; i < 6; i++) stage.x[i] = 4.5 + i % 2 * 2, stage.y[i] = 20.5 + i / 2 * 2;
    wall(&stage, 24, 14, 26, 34), wall(&stage, 14, 14, 24, 16), wall(&stage, 14, 32, 24, 34);
    PhxSim *sim = raise(&stage);
    PhxCommandData blend = {.type = PHX_COMMAND_MOVE_BLEND,
                            .point_count = 2,
                            .points = {{fixed(40.5), fixed(24.5), 100}, {fixed(22.5), fixed(24.5), 140}}};
    give(sim, blend, 0, 6);
    bool leaned = false;
    for (int t = 0; t < 3000; t++) {
        const PhxUnitView units = phx_sim_units(sim);
        for (uint32_t i = 0; i < 6; i++)
            leaned = leaned || (units.pos_x[i] > fixed(14.5) && units.pos_x[i] < fixed(24) &&
                                units.pos_y[i] > fixed(16) && units.pos_y[i] < fixed(32));
        CHECK_OK(phx_sim_step(sim, NULL, 0));
    }
    CHECK(leaned);
    CHECK_EQ(until_idle(sim, 1), 0);
    for (uint32_t i = 0; i < 6; i++) CHECK_THAT(gap(sim, i, 40.5, 24.5) < 3.0 * 3.0, "unit %u", i);
    CHECK_EQ(sim->world->tables[PHX_TABLE_destination].live, 0);
    phx_sim_destroy(sim);
}

PHX_TEST(unit_side, a_sample_lasts_its_period_and_period_1_stores_only_ways_around_crowds) {
    for (uint32_t period = 1; period <= 9; period += 4) {
        Stage stage = crowd_stage((uint8_t)period);
        PhxSim *sim = raise(&stage);
        const PhxUnitTable *units = &sim->world->unit;
        int32_t was[MOST][2] = {{0}};
        uint32_t kept = 0, changed = 0, stalled[MOST] = {0};
        give(sim, move_to(36.5, 30.5), 0, 24);
        for (uint32_t t = 0; t < 1500; t++) {
            const uint32_t tick = phx_sim_tick(sim);
            CHECK_OK(phx_sim_step(sim, NULL, 0));
            for (uint32_t i = 0; i < 24; i++) {
                const bool same = units->way_x[i] == was[i][0] && units->way_y[i] == was[i][1];
                const bool unset = (was[i][0] | was[i][1]) == 0 || (units->way_x[i] | units->way_y[i]) == 0;
                const bool due = (tick + i) % period == 0 || units->stalled[i] + 1u >= stage.rate;
                CHECK_THAT(same || unset || due || units->stalled[i] == 0, "period %u tick %u unit %u",
                           period, tick, i);
                if (!same && !unset && (tick + i) % period != 0) changed++;
                kept += same && !unset;
                was[i][0] = units->way_x[i], was[i][1] = units->way_y[i];
                const bool held_up = stalled[i] >= stage.rate && units->activity[i] != 0;
                if (period == 1) CHECK(held_up || (units->way_x[i] | units->way_y[i]) == 0);
                stalled[i] = units->stalled[i];
            }
        }
        CHECK_THAT(period == 1 || (kept > 1000 && changed * 10 < kept), "period %u: %u kept, %u changed",
                   period, kept, changed);
        until_idle(sim, 1000);
        for (uint32_t i = 0; i < 24; i++) CHECK_THAT(gap(sim, i, 36.5, 30.5) < 25, "unit %u", i);
        phx_sim_destroy(sim);
    }
}

PHX_TEST(unit_side, ground_sets_the_pace) {
    Stage stage = stage_of(1);
    stage.x[0] = 1.5, stage.y[0] = 24.5;
    for (uint32_t c = 0; c < SIDE * SIDE; c++) stage.kind[c] = c % SIDE < 16 ? 0 : c % SIDE < 32 ? 1 : 2;
    PhxSim *sim = raise(&stage);
    const PhxUnitTable *units = &sim->world->unit;
    double most[3] = {0};
    give(sim, move_to(46.5, 24.5), 0, 1);
    for (int t = 0; t < 1000; t++) {
        const int32_t x = units->pos_x[0] >> 16;
        pass(sim, 1);
        if (x == units->pos_x[0] >> 16 && (x % 16) > 2) { /* past the change of speed */
            const double speed = units->vel_x[0] / 65536.0;
            if (speed > most[x / 16]) most[x / 16] = speed;
        }
    }
    const double speed = stage.type.speed / 65536.0, wanted[3] = {speed, speed / 2, 2 * speed};
    for (int k = 0; k < 3; k++)
        CHECK_THAT(most[k] > 0.97 * wanted[k] && most[k] < 1.001 * wanted[k], "kind %d: %f of %f", k, most[k],
                   wanted[k]);
    CHECK_EQ(units->activity[0], 0);
    phx_sim_destroy(sim);
}

/* A corridor of one cell, and somebody who stands in it. */
PHX_TEST(unit_side, who_finds_no_way_gives_up_and_who_finds_one_forgets_it) {
    for (int plugged = 0; plugged < 2; plugged++) {
        Stage stage = stage_of(2);
        stage.x[0] = 10.5, stage.y[0] = 24.5, stage.x[1] = 24.5, stage.y[1] = 24.5, stage.player[1] = 1;
        wall(&stage, 20, 0, 30, 24), wall(&stage, 20, 25, 30, SIDE);
        PhxSim *sim = raise(&stage);
        const PhxUnitTable *units = &sim->world->unit;
        uint32_t blocked = 0, gave_up = 0, most = 0;
        give(sim, move_to(40.5, 24.5), 0, 1);
        for (uint32_t t = 0; t < 16000 && units->activity[0] != 0; t++) {
            if (t == 1500 && !plugged) give(sim, move_to(44.5, 10.5), 1, 1);
            CHECK_OK(phx_sim_step(sim, NULL, 0));
            if (t < 1500 || plugged) /* it is held there, and not pushed out */
                units->pos_x[1] = fixed(24.5), units->pos_y[1] = fixed(24.5);
            blocked += events_of(sim, PHX_EVENT_BLOCKED);
            gave_up += events_of(sim, PHX_EVENT_GAVE_UP);
            if (units->stuck[0] > most) most = units->stuck[0];
        }
        CHECK_THAT(most > 3 && blocked > 0, "stuck %u times", most);
        CHECK_EQ(gave_up, plugged);
        CHECK(units->activity[0] == 0 && units->stuck[0] == 0 && units->detour[0] == 0);
        CHECK((gap(sim, 0, 40.5, 24.5) < 0.01) == !plugged);
        phx_sim_destroy(sim);
    }
}

/* Ground closes over units, idle ones and others; they leave it for the nearest open cell. */
PHX_TEST(unit_side, closed_cells_are_left_by_the_nearest_way) {
    Stage stage = stage_of(9);
    for (uint32_t i = 0; i < 9; i++) stage.x[i] = 14.5 + i % 3 * 9, stage.y[i] = 14.5 + i / 3 * 9;
    PhxSim *sim = raise(&stage);
    give(sim, move_to(4.5, 4.5), 0, 1);
    give(sim,
         (PhxCommandData){.type = PHX_COMMAND_GROUND,
                          .cell_x = 8,
                          .cell_y = 8,
                          .width = 32,
                          .height = 32,
                          .ground_cost = 255},
         0, 1);
    const PhxNavGrid map = phx_sim_map(sim);
    const PhxUnitView units = phx_sim_units(sim);
    uint32_t first_out[9] = {0};
    for (uint32_t t = 1; t < 400; t++) {
        pass(sim, 1);
        for (uint32_t i = 0; i < 9; i++) {
            const uint32_t cell = phx_nav_cell_clamped(&map, units.pos_x[i], units.pos_y[i]);
            if (first_out[i] == 0 && map.cost[cell] != 255) first_out[i] = t;
        }
    }
    until_idle(sim, 400);
    for (uint32_t i = 0; i < 9; i++) {
        CHECK_THAT(first_out[i] > 0, "unit %u is in the wall", i);
        CHECK_THAT(phx_walls_clear(&map, phx_vec2(units.pos_x[i], units.pos_y[i]), stage.type.radius),
                   "unit %u touches it", i);
    }
    CHECK(gap(sim, 0, 4.5, 4.5) < 0.01);
    /* The one in the middle, at 23.5: north, west, east and south are about as far; north and west are nearer
     * by a cell, and north has the lower index. */
    CHECK_THAT(units.pos_y[4] < fixed(8) && units.pos_x[4] > fixed(20) && units.pos_x[4] < fixed(27), "%f %f",
               units.pos_x[4] / 65536.0, units.pos_y[4] / 65536.0);
    phx_sim_destroy(sim);
}

/* A building on a unit beside a wall: the cell behind the wall is the nearest open one, and yet it leaves on
 * its own side, however large the building; where no cell of its side is left, it stays. */
PHX_TEST(unit_side, nobody_is_carried_through_a_wall_by_a_building) {
    for (int sealed = 0; sealed < 2; sealed++) {
        Stage stage = stage_of(1);
        wall(&stage, 20, 0, 21, SIDE);
        if (sealed) wall(&stage, 3, 3, 20, 4), wall(&stage, 3, 20, 20, 21), wall(&stage, 3, 3, 4, 21);
        stage.x[0] = 19.5, stage.y[0] = 12.5;
        PhxSim *sim = raise(&stage);
        const PhxNavGrid map = phx_sim_map(sim);
        const PhxUnitView units = phx_sim_units(sim);
        give(sim,
             (PhxCommandData){.type = PHX_COMMAND_PLACE, .cell_x = 4, .cell_y = 4, .width = 16, .height = 16},
             0, 0);
        CHECK_EQ(events_of(sim, PHX_EVENT_BUILT), 1);
        for (uint32_t t = 0; t < 200; t++) {
            CHECK_THAT(units.pos_x[0] < fixed(20), "sealed %d: it is at %f", sealed,
                       units.pos_x[0] / 65536.0);
            pass(sim, 1);
        }
        const bool inside =
            units.pos_x[0] > fixed(4) && units.pos_y[0] > fixed(4) && units.pos_y[0] < fixed(20);
        CHECK_EQ(inside, sealed == 1);
        if (!sealed)
            CHECK(phx_walls_clear(&map, phx_vec2(units.pos_x[0], units.pos_y[0]), stage.type.radius));
        phx_sim_destroy(sim);
    }
}

PHX_TEST(unit_side, a_unit_alone_ends_at_the_very_point) {
    uint64_t seed = 3;
    for (int round = 0; round < 12; round++) {
        Stage stage = stage_of(1);
        stage.rate = (uint16_t)(round % 3 == 0 ? 10 : round % 3 == 1 ? 20 : 60);
        stage.type.speed = (1 + round % 4) * 65536;
        stage.x[0] = 3.5, stage.y[0] = 3.5;
        PhxSim *sim = raise(&stage);
        const double x = (double)test_range(&seed, 1 << 16, 47 << 16) / 65536,
                     y = (double)test_range(&seed, 1 << 16, 47 << 16) / 65536;
        give(sim, move_to(x, y), 0, 1);
        until_idle(sim, 6000);
        CHECK_THAT(gap(sim, 0, x, y) <= 0.04 * 0.04, "round %d: (%f, %f), off by the root of %f", round, x, y,
                   gap(sim, 0, x, y));
        phx_sim_destroy(sim);
    }
}

/* Walls of one cell, closed all around; the fastest and slowest ticks that there are. */
PHX_TEST(unit_side, no_speed_and_no_tick_takes_a_unit_through_a_wall) {
    static const uint16_t rates[] = {1, 3, 10, 1000};
    for (int r = 0; r < 4; r++) {
        Stage stage = stage_of(40);
        uint64_t seed = 100 + (uint64_t)r;
        stage.rate = rates[r];
        stage.type.speed = 64 * 65536, stage.type.acceleration = 4096 * 65536;
        stage.type.turn_rate = 16 * 65536;
        stage.type.radius = r == 1 ? 4096 : fixed(0.4);
        wall(&stage, 15, 0, 16, SIDE), wall(&stage, 31, 0, 32, SIDE);
        for (int i = 0; i < 60; i++) {
            const int x = (int)test_range(&seed, 0, SIDE - 1), y = (int)test_range(&seed, 0, SIDE - 1);
            if (x % 2 || y % 2) wall(&stage, x, y, x + 1, y + 1);
        }
        for (uint32_t i = 0, c = 0; i < 40; c += 2) {
            const uint32_t x = c % SIDE, y = c / SIDE * 2;
            if (x % 2 || stage.cost[y * SIDE + x] == 255) continue;
            stage.x[i] = x + 0.5, stage.y[i] = y + 0.5, i++;
        }
        PhxSim *sim = raise(&stage);
        const PhxUnitView units = phx_sim_units(sim);
        const PhxNavGrid map = phx_sim_map(sim);
        int32_t side[40];
        double way = 0;
        for (uint32_t i = 0; i < 40; i++) side[i] = (units.pos_x[i] >> 16) / 16;
        for (uint32_t t = 0; t < 400; t++) {
            if (t % 20 == 0)
                give(sim,
                     move_to((double)test_range(&seed, 0, SIDE - 1) + 0.5,
                             (double)test_range(&seed, 0, SIDE - 1) + 0.5),
                     (t / 20 % 2) * 20, 20);
            pass(sim, 1);
            for (uint32_t i = 0; i < 40; i++) {
                const PhxVec2 at = {units.pos_x[i], units.pos_y[i]};
                CHECK_THAT((at.x >> 16) / 16 == side[i] && phx_walls_clear(&map, at, stage.type.radius),
                           "rate %u tick %u unit %u at %f, %f", rates[r], t, i, at.x / 65536.0,
                           at.y / 65536.0);
                way += phx_vec2_length(phx_vec2(at.x - units.prev_x[i], at.y - units.prev_y[i])) / 65536.0;
            }
        }
        CHECK_THAT(way > 300, "rate %u: %f", rates[r], way);
        phx_sim_destroy(sim);
    }
}
