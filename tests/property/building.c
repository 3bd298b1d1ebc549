/* building.c: buildings, gates, ground and modifiers change while units march:
 * the match stays a pure function of its commands, nobody is left in a wall,
 * and what is taken away again leaves nothing behind. Matches of 100 ticks, under
 * a sanitizer of 50; with PHX_LONG=1 five seeds instead of one.
 */
#include <phalanx/building.h>
#include <phalanx/content.h>
#include <phalanx/walls.h>
#include <stdlib.h>

#include "harness.h"
#include "step/sim_internal.h"

enum { SIDE = 72, PLAYERS = 3, UNITS = 60, TICKS_MOST = 100, MOST = 16 };

static const uint8_t teams[PLAYERS] = {0, 0, 1};

/* Two walls across the map, with doors, and some rubble. */
static uint8_t ground_at(uint32_t x, uint32_t y, uint64_t *seed) {
    if (y == 24 || y == 48) return x % 18 < 5 ? 1 : 255;
    const uint64_t dice = test_random(seed) % 100;
    return dice < 2 ? 255 : dice < 12 ? 4 : 1;
}

static void add_types(PhxContentBuilder *builder) {
    PhxUnitTypeDef def = phx_content_unit_type_default();
    PhxCostProfile profile = {.density_cost = 3, .margin_cost = 4, .margin_width = 2, .smoothing = 1};
    PhxError error = {0};
    uint16_t type;
    profile.kind_percent[2] = 255; /* can't pass water */
    CHECK_OK(phx_content_add_profile(builder, "wheels", &profile, &def.profile, &error));
    def.name = "wagon", def.radius = 58982;
    CHECK_OK(phx_content_add_unit_type(builder, &def, &type, &error));
    def = phx_content_unit_type_default();
    def.name = "footman";
    CHECK_OK(phx_content_add_unit_type(builder, &def, &type, &error));
}

static void add_things(PhxContentBuilder *builder, uint64_t seed) {
    const PhxBuildingDef gate = {
        .x = 18, .y = 24, .width = 5, .height = 1, .player = 0, .gate = 1, .open_teams = 1};
    const PhxCostModifier fear = {36 << 16, 36 << 16, 12 << 16, 90, 2};
    PhxError error = {0};
    for (uint8_t p = 0; p < PLAYERS; p++) CHECK_OK(phx_content_add_player(builder, "p", teams[p], &error));
    add_types(builder);
    CHECK_OK(phx_content_set_density_period(builder, 8, &error));
    CHECK_OK(phx_content_add_building(builder, &gate, &error));
    CHECK_OK(phx_content_add_modifier(builder, &fear, &error));
    for (uint32_t placed = 0, tries = 0; placed < UNITS; tries++) {
        CHECK(tries < 100000);
        const fix16_t x = (fix16_t)test_range(&seed, 0, SIDE << 16);
        const fix16_t y = (fix16_t)test_range(&seed, 0, SIDE << 16);
        if (phx_content_add_unit(builder, placed % 5 != 0, (uint8_t)(placed % PLAYERS), x, y, 0, NULL) ==
            PHX_OK)
            placed++;
    }
}

static PhxSim *make_sim(const PhxSimConfig *config, uint64_t seed) {
    const PhxSettings settings = {seed, 20, 1, 2};
    uint8_t cost[SIDE * SIDE], kind[SIDE * SIDE];
    PhxContentBuilder *builder;
    PhxSim *sim;
    PhxError error = {0};
    for (uint32_t c = 0; c < SIDE * SIDE; c++) {
        cost[c] = ground_at(c % SIDE, c / SIDE, &seed);
        kind[c] = c % SIDE / 8 == 6 ? 2 : (uint8_t)(test_random(&seed) % 2);
    }
    CHECK_OK(phx_content_begin(&settings, SIDE, SIDE, cost, UNITS, 64, &builder, &error));
    CHECK_OK(phx_content_set_kinds(builder, kind, &error));
    add_things(builder, seed);
    size_t size = phx_content_size(builder);
    uint8_t *blob = malloc(size);
    CHECK_OK(phx_content_write(builder, blob, size, &size));
    phx_content_end(builder);
    const PhxStatus status = phx_sim_create(config, blob, size, NULL, &sim, &error);
    CHECK_THAT(status == PHX_OK, "%s", error.text);
    free(blob);
    return sim;
}

/* A list of commands of one tick. */
typedef struct Orders {
    PhxCommand list[MOST];
    uint8_t bytes[MOST][PHX_COMMAND_SIZE_LIMIT];
    uint32_t count;
} Orders;

static void give(Orders *orders, uint8_t slot, const PhxCommandData *data) {
    size_t size;
    CHECK(orders->count < MOST);
    CHECK_OK(phx_command_encode(data, orders->bytes[orders->count], PHX_COMMAND_SIZE_LIMIT, &size));
    orders->list[orders->count] =
        (PhxCommand){slot, orders->count, (uint32_t)size, orders->bytes[orders->count]};
    orders->count++;
}

static void give_move(Orders *orders, const PhxSim *sim, uint8_t player, uint64_t *seed) {
    PhxHandle units[UNITS];
    PhxCommandData data = {.type = PHX_COMMAND_MOVE, .units = units, .queued = test_random(seed) % 4 == 0};
    for (uint32_t u = player; u < UNITS; u += PLAYERS) units[data.unit_count++] = phx_sim_unit_handle(sim, u);
    data.goal_x = (fix16_t)test_range(seed, 0, SIDE << 16);
    data.goal_y = (fix16_t)test_range(seed, 0, SIDE << 16);
    give(orders, player, &data);
}

static uint16_t roll(uint64_t *seed, uint32_t low, uint32_t high) {
    return (uint16_t)test_range(seed, low, high);
}

/* On a unit, or anywhere. */
static void give_place(Orders *orders, const PhxSim *sim, uint64_t *seed) {
    const PhxUnitView units = phx_sim_units(sim);
    PhxCommandData data = {.type = PHX_COMMAND_PLACE, .gate = roll(seed, 0, 2) == 0};
    const uint32_t unit = roll(seed, 0, UNITS - 1);
    const bool near = roll(seed, 0, 3) > 0;
    data.width = roll(seed, 1, 6);
    data.height = roll(seed, 1, 6);
    const int32_t x = near ? (units.pos_x[unit] >> 16) - data.width / 2 : roll(seed, 0, SIDE - 1);
    const int32_t y = near ? (units.pos_y[unit] >> 16) - data.height / 2 : roll(seed, 0, SIDE - 1);
    data.cell_x = (uint16_t)(x < 0 ? 0 : x);
    data.cell_y = (uint16_t)(y < 0 ? 0 : y);
    give(orders, (uint8_t)roll(seed, 0, PLAYERS - 1), &data);
}

/* Razes or switches one of the buildings; now and then another's, or one that
 * is gone. */
static void give_change(Orders *orders, const PhxSim *sim, bool raze, uint64_t *seed) {
    const uint32_t used = phx_sim_building_used(sim);
    PhxBuildingInfo info = {.player = 0};
    const PhxHandle building = used ? phx_sim_building_handle(sim, (uint32_t)(test_random(seed) % used)) : 0;
    (void)phx_sim_building(sim, building, &info);
    const uint8_t player = test_random(seed) % 10 ? info.player : (uint8_t)(test_random(seed) % PLAYERS);
    give(orders, player,
         &(PhxCommandData){.type = raze ? PHX_COMMAND_RAZE : PHX_COMMAND_GATE,
                           .building = building,
                           .open_teams = roll(seed, 0, 3)});
}

static void give_ground(Orders *orders, uint64_t *seed) {
    static const uint8_t costs[] = {1, 1, 3, 254, 255};
    PhxCommandData data = {.type = PHX_COMMAND_GROUND, .kind = (uint8_t)roll(seed, 0, 2)};
    data.cell_x = roll(seed, 0, SIDE - 1);
    data.cell_y = roll(seed, 0, SIDE - 1);
    data.width = roll(seed, 1, 8);
    data.height = roll(seed, 1, 4);
    data.ground_cost = costs[roll(seed, 0, sizeof costs - 1)];
    give(orders, PHX_SLOT_HOST, &data);
}

static int match_ticks(void) { return (int)test_count(50, TICKS_MOST, TICKS_MOST); }

/* A pure function of the seed and the state. */
static void step(PhxSim *sim, uint64_t seed, bool ground) {
    Orders *orders = malloc(sizeof *orders);
    const uint32_t tick = phx_sim_tick(sim);
    seed = seed * 1000003 + tick;
    orders->count = 0;
    for (uint8_t p = 0; p < PLAYERS; p++)
        if (tick == 0 || test_random(&seed) % 50 == 0) give_move(orders, sim, p, &seed);
    if (test_random(&seed) % 4 == 0) give_place(orders, sim, &seed);
    if (test_random(&seed) % 8 == 0) give_change(orders, sim, true, &seed);
    if (test_random(&seed) % 6 == 0) give_change(orders, sim, false, &seed);
    if (ground && test_random(&seed) % 20 == 0) give_ground(orders, &seed);
    CHECK_OK(phx_sim_step(sim, orders->list, orders->count));
    free(orders);
}

static void record(PhxSim *sim, uint64_t seed, uint64_t *roots) {
    const int ticks = match_ticks();
    for (int t = 0; t < ticks; t++) {
        step(sim, seed, true);
        roots[t] = phx_sim_root(sim);
    }
}

static void check_root(const PhxSim *sim, const uint64_t *roots, uint64_t seed, int t, const char *how) {
    CHECK_THAT(phx_sim_root(sim) == roots[t], "seed %" PRIu64 " tick %d, %s", seed, t, how);
}

PHX_TEST(building, changes_under_way_are_the_same_on_any_threads_with_any_cache) {
    static const uint32_t threads[] = {2, 3, 8}, caches[] = {1, 100000, 1u << 26};
    const int ticks = match_ticks();
    uint64_t roots[TICKS_MOST];
    PhxSim *sim = make_sim(&(PhxSimConfig){0}, 1);
    record(sim, 1, roots);
    phx_sim_destroy(sim);
    for (int i = 0; i < 3; i++) {
        PhxSimConfig config = {.field_cache_bytes = caches[i]};
        CHECK_OK(phx_jobs_threads_create(threads[i], &config.jobs));
        sim = make_sim(&config, 1);
        for (int t = 0; t < ticks; t++) {
            step(sim, 1, true);
            check_root(sim, roots, 1, t, "threads and cache");
            if (t % 40 != 25) continue;
            PhxSim *clone; /* go on with a clone */
            CHECK_OK(phx_sim_clone(sim, &clone));
            phx_sim_destroy(sim);
            sim = clone;
        }
        CHECK_EQ(phx_sim_audit_failures(sim), 0);
        phx_sim_destroy(sim);
        phx_jobs_threads_destroy(&config.jobs);
    }
}

PHX_TEST(building, changes_under_way_outlive_a_reload_and_a_drop_at_every_tick) {
    for (uint64_t seed = 2; seed <= test_count(2, 2, 6); seed++) {
        static const uint8_t poison[] = {0x00, 0xff, 0x5a};
        const int ticks = match_ticks();
        uint64_t roots[TICKS_MOST];
        PhxSim *sim = make_sim(&(PhxSimConfig){0}, seed), *other = make_sim(&(PhxSimConfig){0}, seed + 100);
        record(sim, seed, roots);
        phx_sim_destroy(sim);
        sim = make_sim(&(PhxSimConfig){0}, seed);
        uint8_t *snapshot = malloc(phx_sim_snapshot_size(sim) * 2);
        for (int t = 0; t < ticks; t++) { /* two sims in turn: what each has derived
                                             is of two ticks ago */
            size_t size;
            PhxError error = {0};
            CHECK_OK(phx_sim_snapshot(sim, snapshot, phx_sim_snapshot_size(sim), &size));
            CHECK_THAT(phx_sim_restore(other, snapshot, size, &error) == PHX_OK, "%s", error.text);
            PhxSim *swap = sim;
            sim = other, other = swap;
            step(sim, seed, true);
            check_root(sim, roots, seed, t, "reloaded");
        }
        free(snapshot);
        phx_sim_destroy(other);
        phx_sim_destroy(sim);
        sim = make_sim(&(PhxSimConfig){0}, seed);
        for (int t = 0; t < ticks; t++) {
            phx_sim_drop_derived(sim, poison[t % 3]);
            step(sim, seed, true);
            check_root(sim, roots, seed, t, "dropped");
        }
        phx_sim_destroy(sim);
    }
}

/* Whether a unit's disc reaches into a cell that is closed for its team: a
 * wall, or a building. */
static bool in_closed_cell(const PhxSim *sim, uint32_t unit) {
    const PhxUnitView units = phx_sim_units(sim);
    const PhxNavGrid map = phx_sim_map(sim);
    PhxUnitTypeInfo type;
    PhxPlayerInfo player;
    CHECK(phx_sim_unit_type(sim, units.type[unit], &type) &&
          phx_sim_player(sim, units.player[unit], &player));
    uint8_t cost[SIDE * SIDE];
    memcpy(cost, map.cost, sizeof cost);
    for (uint32_t b = 0; b < phx_sim_building_used(sim); b++) {
        PhxBuildingInfo info;
        if (!phx_sim_building(sim, phx_sim_building_handle(sim, b), &info)) continue;
        if (info.open_teams >> player.team & 1) continue;
        for (int32_t y = info.cells.y0; y < info.cells.y1; y++)
            memset(cost + y * SIDE + info.cells.x0, 255, (size_t)(info.cells.x1 - info.cells.x0));
    }
    const PhxNavGrid closed = {SIDE, SIDE, cost};
    return !phx_walls_clear(&closed, phx_vec2(units.pos_x[unit], units.pos_y[unit]), type.radius);
}

/* A building of 6 cells a side holds a centre at most 3 cells from its rim;
 * with the radius of the largest unit that is 4 ticks of a unit each, and a few
 * more for those whose way is taken by the next building. */
PHX_TEST(building, no_unit_stays_in_a_closed_cell_longer_than_it_needs_to_walk_out) {
    enum { PATIENCE = 8 };
    uint32_t inside[UNITS] = {0}, longest = 0, times = 0, kinds[PHX_EVENT_KIND_COUNT] = {0};
    PhxSim *sim = make_sim(&(PhxSimConfig){0}, 5);
    for (int t = 0; t < 400; t++) {
        uint32_t count;
        step(sim, 5, false);
        const PhxEvent *events = phx_sim_events(sim, &count);
        for (uint32_t i = 0; i < count; i++) kinds[events[i].kind]++;
        for (uint32_t u = 0; u < UNITS; u++) {
            inside[u] = in_closed_cell(sim, u) ? inside[u] + 1 : 0;
            times += inside[u] == 1;
            if (inside[u] > longest) longest = inside[u];
            CHECK_THAT(inside[u] <= PATIENCE, "tick %d: unit %u stays in a wall", t, u);
        }
    }
    printf("%u units were caught; the longest way out took %u ticks; %u built, "
           "%u razed, %u gates, %u refused\n",
           times, longest, kinds[PHX_EVENT_BUILT], kinds[PHX_EVENT_RAZED], kinds[PHX_EVENT_GATE],
           kinds[PHX_EVENT_REFUSED]);
    CHECK(times > 10 && kinds[PHX_EVENT_BUILT] > 50 && kinds[PHX_EVENT_RAZED] > 20);
    CHECK(kinds[PHX_EVENT_GATE] > 2 && kinds[PHX_EVENT_REFUSED] > 20);
    phx_sim_destroy(sim);
}

/* One command by itself, and the tick's events that aren't about units. */
static uint32_t one(PhxSim *sim, uint8_t slot, const PhxCommandData *data, PhxEvent *event) {
    uint8_t bytes[64];
    size_t size;
    uint32_t count, found = 0;
    CHECK_OK(phx_command_encode(data, bytes, sizeof bytes, &size));
    const PhxCommand command = {slot, 0, (uint32_t)size, bytes};
    CHECK_OK(phx_sim_step(sim, &command, 1));
    const PhxEvent *events = phx_sim_events(sim, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].unit == PHX_HANDLE_NONE) *event = events[i], found++;
    return found;
}

static void check_refused(PhxSim *sim, uint8_t slot, const PhxCommandData *data, PhxPlacementReason reason) {
    const uint32_t late = sim->world->match.commands_late[0], full = sim->world->match.commands_full[0];
    PhxEvent event;
    CHECK_THAT(one(sim, slot, data, &event) == 1 && event.kind == PHX_EVENT_REFUSED, "%s",
               phx_placement_reason_text(reason));
    CHECK_THAT(event.reason == reason && event.player == slot && event.building == data->building,
               "%s, not %s", phx_placement_reason_text(event.reason), phx_placement_reason_text(reason));
    CHECK_EQ(sim->world->match.commands_late[0], late + (reason != PHX_PLACEMENT_FULL));
    CHECK_EQ(sim->world->match.commands_full[0], full + (reason == PHX_PLACEMENT_FULL));
}

PHX_TEST(building, commands_that_come_too_late_or_are_not_the_players_are_counted_and_said) {
    PhxSim *sim = make_sim(&(PhxSimConfig){0}, 7);
    PhxEvent event;
    CHECK_EQ(one(sim, PHX_SLOT_HOST,
                 &(PhxCommandData){.type = PHX_COMMAND_GROUND, .width = SIDE, .height = 9, .ground_cost = 1},
                 &event),
             0);
    const PhxCommandData place = {
        .type = PHX_COMMAND_PLACE, .cell_x = 2, .cell_y = 3, .width = 4, .height = 5, .gate = 1};
    CHECK_EQ(one(sim, 1, &place, &event), 1);
    CHECK(event.kind == PHX_EVENT_BUILT && event.player == 1 && event.x == 4 << 16 && event.y == 11 << 15);
    const PhxHandle gate = event.building, home = phx_sim_building_handle(sim, 0);
    PhxBuildingInfo info;
    CHECK(phx_sim_building(sim, gate, &info) && info.gate && info.open_teams == 1 && info.player == 1);
    CHECK(info.cells.x0 == 2 && info.cells.y0 == 3 && info.cells.x1 == 6 && info.cells.y1 == 8);
    CHECK(phx_sim_building_at(sim, 5, 7) == gate && phx_sim_building_at(sim, 6, 7) == PHX_HANDLE_NONE);
    check_refused(sim, 1, &place, PHX_PLACEMENT_OCCUPIED);
    PhxCommandData other = place;
    other.cell_x = SIDE - 3;
    check_refused(sim, 0, &other, PHX_PLACEMENT_OUTSIDE);
    other.cell_x = 10, other.cell_y = 20; /* over the wall in row 24 */
    check_refused(sim, 0, &other, PHX_PLACEMENT_GROUND);
    PhxCommandData gate_order = {.type = PHX_COMMAND_GATE, .building = gate, .open_teams = 3};
    check_refused(sim, 0, &gate_order, PHX_PLACEMENT_FOREIGN);
    CHECK_EQ(one(sim, 1, &gate_order, &event), 1);
    CHECK(event.kind == PHX_EVENT_GATE && event.building == gate && event.player == 1);
    CHECK_EQ(one(sim, 1, &gate_order, &event), 0); /* as it is already */
    PhxCommandData raze = {.type = PHX_COMMAND_RAZE, .building = home};
    check_refused(sim, 1, &raze, PHX_PLACEMENT_FOREIGN);
    raze.building = gate;
    CHECK_EQ(one(sim, 1, &raze, &event), 1);
    CHECK(event.kind == PHX_EVENT_RAZED && event.building == gate);
    check_refused(sim, 1, &raze, PHX_PLACEMENT_GONE);
    check_refused(sim, 1, &gate_order, PHX_PLACEMENT_GONE);
    other = place, other.gate = 0, other.height = 2;
    CHECK_EQ(one(sim, 2, &other, &event), 1);
    gate_order.building = event.building; /* in the slot of the old gate: another name */
    CHECK(event.building != gate && phx_handle_slot(event.building) == phx_handle_slot(gate));
    check_refused(sim, 2, &gate_order, PHX_PLACEMENT_NO_GATE);
    CHECK_EQ(one(sim, PHX_SLOT_HOST, &(PhxCommandData){.type = PHX_COMMAND_LEAVE, .slot = 2}, &event), 1);
    const uint32_t late = sim->world->match.commands_late[0];
    raze.building = event.building;
    CHECK_EQ(one(sim, 2, &raze, &event), 0); /* who has left is not heard */
    CHECK_EQ(sim->world->match.commands_late[0], late + 1);
    phx_sim_destroy(sim);
}

/* What stops a unit of the plain profile, and the ways that it has, are the same in both worlds. */
static void check_same_ground(const PhxSim *a, const PhxSim *b, uint32_t unit) {
    const uint32_t layer = phx_layers_of(a, unit), other = phx_layers_of(b, unit);
    const PhxNavGrid stops = phx_barriers_grid(a, unit), other_stops = phx_barriers_grid(b, unit);
    const PhxNavGrid plane = phx_routes_plane(a->layers.routes, layer),
                     other_plane = phx_routes_plane(b->layers.routes, other);
    for (uint32_t c = 0; c < SIDE * SIDE; c++) {
        CHECK_EQ(stops.cost[c], other_stops.cost[c]);
        CHECK_EQ(plane.cost[c], other_plane.cost[c]);
        CHECK_EQ(phx_routes_part(a->layers.routes, layer, c), phx_routes_part(b->layers.routes, other, c));
    }
}

PHX_TEST(building, a_full_table_refuses_and_razing_everything_leaves_the_world_as_it_was) {
    static PhxCommand list[PHX_TICK_COMMAND_LIMIT];
    static uint8_t bytes[PHX_TICK_COMMAND_LIMIT][16];
    static PhxHandle made[PHX_SIM_BUILDING_LIMIT];
    PhxSim *sim = make_sim(&(PhxSimConfig){0}, 9), *twin = make_sim(&(PhxSimConfig){0}, 9);
    uint32_t placed = 0, events_seen = 0;
    for (uint32_t i = 0; i < PHX_TICK_COMMAND_LIMIT; i++) {
        size_t size;
        const PhxCommandData place = {.type = PHX_COMMAND_PLACE,
                                      .cell_x = (uint16_t)(i % 71),
                                      .cell_y = (uint16_t)(i / 71),
                                      .width = 1,
                                      .height = 1};
        CHECK_OK(phx_command_encode(&place, bytes[i], sizeof bytes[i], &size));
        list[i] = (PhxCommand){0, i, (uint32_t)size, bytes[i]};
    }
    CHECK_OK(phx_sim_step(sim, list, PHX_TICK_COMMAND_LIMIT));
    const PhxEvent *events = phx_sim_events(sim, &events_seen);
    CHECK(events_seen >= PHX_TICK_COMMAND_LIMIT);
    for (uint32_t i = 0; i < events_seen; i++)
        if (events[i].kind == PHX_EVENT_BUILT) made[placed++] = events[i].building;
    CHECK(placed > 3000 && placed < PHX_SIM_BUILDING_LIMIT);
    for (uint32_t y = 60; placed < PHX_SIM_BUILDING_LIMIT - 1; y++) /* the rest, through the other door */
        for (int32_t x = 0; x < SIDE && placed < PHX_SIM_BUILDING_LIMIT - 1; x++) {
            const PhxBuildingInfo info = {.cells = {x, (int32_t)y, x + 1, (int32_t)y + 1}};
            placed += phx_sim_place_building(sim, &info, &made[placed]) == PHX_PLACEMENT_LEGAL;
        }
    const PhxCommandData last = {
        .type = PHX_COMMAND_PLACE, .cell_x = 71, .cell_y = 70, .width = 1, .height = 1};
    (void)phx_sim_set_ground(sim, (PhxCellRect){71, 70, 72, 71}, 1, 0);
    (void)phx_sim_set_ground(twin, (PhxCellRect){71, 70, 72, 71}, 1, 0);
    check_refused(sim, 0, &last, PHX_PLACEMENT_FULL);
    for (uint32_t i = 0; i < placed; i++) CHECK_EQ(phx_sim_raze_building(sim, made[i]), PHX_PLACEMENT_LEGAL);
    CHECK_EQ(phx_sim_raze_building(sim, made[0]), PHX_PLACEMENT_GONE);
    CHECK_EQ(sim->world->tables[PHX_TABLE_building].live, twin->world->tables[PHX_TABLE_building].live);
    CHECK_OK(phx_sim_step(sim, NULL, 0));
    CHECK_OK(phx_sim_step(twin, NULL, 0));
    for (uint32_t u = 1; u < 4; u++)
        check_same_ground(sim, twin, u); /* of each player; units 0 and 5 differ */
    phx_sim_destroy(sim);
    phx_sim_destroy(twin);
}

/* A game's own command: a dragon that spreads fear, moves it along, and takes
 * it away again. */
typedef struct Dragon {
    PhxHandle fear;
    int step;
} Dragon;

static PhxStatus check_dragon(const uint8_t *bytes, size_t size, uint8_t slot) {
    (void)bytes, (void)slot;
    return size == 1 ? PHX_OK : PHX_ERROR_FORMAT;
}

static void fly(const PhxPhaseContext *context, const uint8_t *bytes, size_t size, uint8_t slot, void *user) {
    Dragon *dragon = user;
    PhxSim *sim = context->sim;
    PhxCostModifier fear = {10 << 16, 12 << 16, 8 << 16, 200, 0xffff}, seen = fear;
    (void)bytes, (void)size, (void)slot;
    switch (dragon->step++) {
    case 0:
        dragon->fear = phx_sim_add_modifier(sim, &fear);
        CHECK(dragon->fear != PHX_HANDLE_NONE);
        break;
    case 1:
        fear.x += 5 << 16;
        CHECK(phx_sim_set_modifier(sim, dragon->fear, &fear));
        CHECK(phx_sim_modifier(sim, dragon->fear, &seen) && seen.x == 15 << 16 && seen.strength == 200);
        fear.radius = (64 << 16) + 1;
        CHECK(!phx_sim_set_modifier(sim, dragon->fear, &fear));
        CHECK(phx_sim_add_modifier(sim, &fear) == PHX_HANDLE_NONE);
        fear.radius = 1, fear.strength = -254;
        CHECK(phx_sim_add_modifier(sim, &fear) == PHX_HANDLE_NONE);
        break;
    case 2:
        CHECK(phx_sim_remove_modifier(sim, dragon->fear) && !phx_sim_remove_modifier(sim, dragon->fear));
        CHECK(!phx_sim_set_modifier(sim, dragon->fear, &fear) && !phx_sim_modifier(sim, dragon->fear, &seen));
        for (uint32_t i = sim->world->tables[PHX_TABLE_modifier].live; i < PHX_SIM_MODIFIER_LIMIT; i++)
            CHECK(phx_sim_add_modifier(sim, &seen) != PHX_HANDLE_NONE);
        CHECK(phx_sim_add_modifier(sim, &seen) == PHX_HANDLE_NONE);
        break;
    default:
        CHECK(!phx_sim_set_ground(sim, (PhxCellRect){0, 0, 5, 5}, 0, 1));
        CHECK(!phx_sim_set_ground(sim, (PhxCellRect){0, 0, 5, 5}, 1, 16));
        CHECK(phx_sim_set_ground(sim, (PhxCellRect){INT32_MIN, -3, 2, INT32_MAX}, 7, 1));
        CHECK(phx_sim_set_ground(sim, (PhxCellRect){SIDE, SIDE, INT32_MAX, INT32_MAX}, 9, 1));
        CHECK(phx_sim_set_ground(sim, (PhxCellRect){9, 9, 3, 3}, 9, 1));
        for (uint32_t c = 0; c < SIDE * SIDE; c++)
            CHECK((sim->world->terrain.cost[c] == 7) == (c % SIDE < 2));
        break;
    }
}

PHX_TEST(building, a_games_own_code_moves_fear_and_changes_ground) {
    const PhxGameCommand commands[] = {{200, "dragon", check_dragon, fly}};
    Dragon dragon = {0, 0};
    const PhxGame game = {.commands = commands, .command_count = 1, .user = &dragon};
    PhxSim *sim = make_sim(&(PhxSimConfig){.game = &game}, 11);
    const uint8_t byte = 200;
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_OK(phx_sim_step(sim, &(PhxCommand){0, i, 1, &byte}, 1));
        CHECK_EQ(dragon.step, i + 1);
    }
    for (int t = 0; t < 100; t++) CHECK_OK(phx_sim_step(sim, NULL, 0)); /* the audit sees every block */
    CHECK_EQ(phx_sim_audit_failures(sim), 0);
    phx_sim_destroy(sim);
}

/* How many discs overlap a cell, in doubles (exact), in steps of two. */
static uint32_t naive_density(const PhxSim *sim, uint32_t x, uint32_t y) {
    const PhxUnitView units = phx_sim_units(sim);
    uint32_t count = 0;
    for (uint32_t u = 0; u < units.used; u++) {
        PhxUnitTypeInfo type;
        CHECK(phx_sim_unit_type(sim, units.type[u], &type));
        const double px = units.prev_x[u] / 65536.0, py = units.prev_y[u] / 65536.0,
                     r = type.radius / 65536.0;
        const double nx = px < x ? x : px > x + 1 ? x + 1 : px, ny = py < y ? y : py > y + 1 ? y + 1 : py;
        count += (px - nx) * (px - nx) + (py - ny) * (py - ny) < r * r;
    }
    return count > 15 ? 14 : count / 2 * 2;
}

PHX_TEST(building, density_is_counted_anew_every_period_and_stands_in_between) {
    PhxSim *sim = make_sim(&(PhxSimConfig){0}, 13);
    uint8_t before[SIDE * SIDE] = {0};
    uint32_t crowded = 0;
    for (int t = 0; t < 480; t++) {
        Orders *orders = malloc(sizeof *orders);
        uint64_t seed = 5;
        orders->count = 0;
        for (uint8_t p = 0; p < PLAYERS && t == 0; p++) { /* all to one point */
            uint64_t same = seed;
            give_move(orders, sim, p, &same);
        }
        CHECK_OK(phx_sim_step(sim, orders->list, orders->count));
        free(orders);
        const uint8_t *now = sim->world->terrain.density;
        if (t % 8 != 0) CHECK(memcmp(before, now, sizeof before) == 0);
        for (uint32_t c = 0; c < SIDE * SIDE && t % 8 == 0; c++) {
            CHECK_THAT(now[c] == naive_density(sim, c % SIDE, c / SIDE), "tick %d cell %u,%u: %u", t,
                       c % SIDE, c / SIDE, now[c]);
            crowded += now[c] > 0;
        }
        memcpy(before, now, sizeof before);
    }
    CHECK(crowded > 100);
    CHECK_EQ(phx_sim_audit_failures(sim), 0);
    phx_sim_destroy(sim);
}
