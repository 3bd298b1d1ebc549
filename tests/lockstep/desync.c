/* desync.c: one value of the real simulation changed at one side, over a bad network: every side names tick,
 * table, column, row and lane with everybody's value, and who diverged, or nobody where there is no majority.
 * And matches without a fault, in which sides lag, drop their caches and run on threads, raise no alarm.
 * 40 matches with a fault, 12 that mend one, 100 without; under a sanitizer 20, 6 and 20, with PHX_LONG=1
 * 300, 12 and 1,000. */
#include "bundle/evidence.h"
#include "real.h"

typedef struct Fault {
    uint32_t side, tick, table, column, row, lane, bit;
} Fault;

typedef struct World {
    PhxSim *sim;
    PhxEvidence *evidence;
    const Content *content;
    size_t memory; /* of the evidence */
    const Fault *fault;
    bool struck, mended, lasting; /* lasting: the fault isn't taken back */
    uint8_t received[1 << 16];
    uint64_t value; /* struck: before */
    uint64_t seed;  /* not 0: caches are dropped now and then */
} World;

typedef struct Side Side;
typedef struct Match {
    Driver driver;
    DriverConfig config;
    Fault fault;
    Side *sides;
    uint64_t seed;
    uint32_t lag_side, lag_tick, lag_steps; /* a side that isn't updated for some steps */
} Match;
struct Side {
    Match *match;
    uint32_t side;
};

static World *world_of(void *user) {
    const Side *side = user;
    return side->match->driver.sides[side->side].world;
}

static void keep(void *user, uint32_t tick) { phx_evidence_keep(world_of(user)->evidence, tick); }

static uint32_t answer_size(void *user, const PhxNetTreeQuestion *question) {
    const PhxNetTree tree = phx_evidence_tree(world_of(user)->evidence);
    return tree.size(tree.user, question);
}

static void answer_values(void *user, const PhxNetTreeQuestion *question, uint32_t at, uint32_t count,
                          uint64_t *out) {
    const PhxNetTree tree = phx_evidence_tree(world_of(user)->evidence);
    tree.values(tree.user, question, at, count, out);
}

static uint32_t state_size(void *user, uint32_t tick) {
    PhxBundleContents contents;
    CHECK(phx_evidence_contents(world_of(user)->evidence, &contents) && contents.tick == tick);
    return (uint32_t)contents.after.size;
}

static void state_read(void *user, uint32_t tick, uint32_t at, uint32_t count, uint8_t *out) {
    PhxBundleContents contents;
    CHECK(phx_evidence_contents(world_of(user)->evidence, &contents) && contents.tick == tick);
    CHECK(at + count <= contents.after.size);
    memcpy(out, contents.after.bytes + at, count);
}

static bool state_take(void *user, uint32_t tick, uint32_t total, uint32_t at, const uint8_t *bytes,
                       uint32_t count) {
    World *world = world_of(user);
    PhxError error = {0};
    CHECK(world->fault && tick == world->fault->tick && total <= sizeof world->received);
    memcpy(world->received + at, bytes, count);
    if (at + count < total) return false;
    CHECK_OK(phx_evidence_mend(world->evidence, world->sim, world->received, total, &error));
    world->mended = true;
    return true;
}

static PhxNetTree side_tree(void *user, uint32_t side) {
    Match *match = user;
    match->sides[side] = (Side){match, side};
    return (PhxNetTree){.user = &match->sides[side],
                        .keep = keep,
                        .size = answer_size,
                        .values = answer_values,
                        .state_size = state_size,
                        .state_read = state_read,
                        .state_take = state_take};
}

static void *world_create(void *user) {
    World *world = calloc(1, sizeof *world);
    world->content = user;
    world->sim = real_create(user);
    return world;
}

static void world_destroy(void *user) {
    World *world = user;
    phx_evidence_destroy(world->evidence);
    phx_sim_destroy(world->sim);
    free(world);
}

static void set_cell(World *world, uint64_t value) {
    const Fault *fault = world->fault;
    PhxTable *table = &world->sim->world->tables[fault->table];
    phx_table_set(table, fault->column, fault->row, fault->lane, value);
    if (table->width) phx_grid_touch(table, fault->row % table->width, fault->row / table->width);
    phx_sim_refresh_hashes(world->sim);
}

/* The fault lasts for one tick, so that whatever it hits can't break the sim. */
static void strike(World *world, uint32_t tick) {
    const Fault *fault = world->fault;
    if (world->struck || tick != fault->tick) return;
    world->value =
        phx_table_get(&world->sim->world->tables[fault->table], fault->column, fault->row, fault->lane);
    set_cell(world, world->value ^ UINT64_C(1) << fault->bit);
    world->struck = true;
}

static uint64_t world_step(void *user, uint32_t tick, const PhxNetCommand *commands, uint32_t count,
                           uint64_t *tables, uint32_t *table_count) {
    World *world = user;
    PhxCommand ordered[256];
    PhxError error = {0};
    const PhxEvidenceOptions options = {.ticks = 200, .memory = world->memory};
    if (!world->evidence)
        CHECK_OK(phx_evidence_create(world->sim, world->content->blob, world->content->size, &options,
                                     &world->evidence, &error));
    if (world->struck && !world->lasting && tick == world->fault->tick + 1) set_cell(world, world->value);
    if (world->seed && test_random(&world->seed) % 4 == 0)
        phx_sim_drop_derived(world->sim, (uint8_t)test_random(&world->seed));
    (void)real_step(world->sim, tick, commands, count, tables, table_count);
    if (world->fault) strike(world, tick);
    for (uint32_t i = 0; i < count; i++)
        ordered[i] =
            (PhxCommand){commands[i].slot, commands[i].sequence, commands[i].size, commands[i].bytes};
    CHECK_OK(phx_evidence_tick(world->evidence, world->sim, ordered, count));
    memcpy(tables, phx_sim_table_hashes(world->sim), *table_count * sizeof *tables);
    return phx_sim_root(world->sim);
}

static bool lags(void *user, uint32_t side, uint32_t ticks) {
    Match *match = user;
    if (side != match->lag_side || ticks < match->lag_tick || match->lag_steps == 0) return false;
    match->lag_steps--;
    return true;
}

static void match_create(Match *match, Content *content, uint64_t seed, uint32_t players, uint32_t ticks) {
    static Side sides[DRIVER_SIDES_MAX];
    memset(match, 0, sizeof *match);
    match->seed = seed * 7919 + 1;
    match->sides = sides;
    match->lag_side = UINT32_MAX;
    DriverConfig *config = &match->config;
    *config = driver_config(players, ticks);
    config->sim = (DriverSim){.user = content,
                              .create = world_create,
                              .step = world_step,
                              .destroy = world_destroy,
                              .command = real_command,
                              .game = {.command_valid = real_valid, .leave_command = real_leave}};
    config->seed = seed;
    config->faults = true;
    config->fault = (PhxFaultConfig){.loss_permille = 50,
                                     .duplicate_permille = 20,
                                     .reorder_permille = 20,
                                     .delay_min_us = 10000,
                                     .delay_max_us = 60000};
    config->command_permille = 200;
    config->host.delay = 1 + (uint32_t)(test_random(&match->seed) % 6);
    config->host.ticks_per_turn = 1 + (uint32_t)(test_random(&match->seed) % 3);
    config->tree = side_tree;
    config->is_dead = lags;
    config->hook_user = match;
}

/* Any column that is saved but the clock and the generations; any used row, lane and bit. */
static Fault random_fault(Match *match, const PhxSim *sim, uint32_t side, uint32_t last_tick) {
    Fault fault = {.side = side, .tick = (uint32_t)test_range(&match->seed, 0, last_tick)};
    for (;;) {
        fault.table = (uint32_t)(test_random(&match->seed) % sim->world->table_count);
        const PhxTable *table = &sim->world->tables[fault.table];
        fault.column = (uint32_t)(test_random(&match->seed) % table->desc->column_count);
        const PhxColumnDesc *column = &table->desc->columns[fault.column];
        const bool first = table->generation && fault.column == 0;
        if (column->klass != PHX_CLASS_STATE || first || table->used == 0 || !strcmp(column->name, "tick"))
            continue;
        fault.row = (uint32_t)(test_random(&match->seed) % table->used);
        fault.lane = (uint32_t)(test_random(&match->seed) % column->lanes);
        fault.bit = (uint32_t)(test_random(&match->seed) % (8 * phx_type_size(column->type)));
        return fault;
    }
}

static void check_side(const Match *match, uint32_t i, uint32_t sides, uint32_t lanes) {
    const DriverSide *side = &match->driver.sides[i];
    const PhxNetEvent *event = &side->last[PHX_NET_EVENT_LOCATED];
    const Fault *fault = &match->fault;
    const uint64_t seed = match->driver.config.seed;
    CHECK_THAT(side->seen[PHX_NET_EVENT_DESYNC] == 1 && side->seen[PHX_NET_EVENT_LOCATED] == 1,
               "seed %" PRIu64 ", side %u", seed, i);
    CHECK_THAT(event->tick == fault->tick && event->table == fault->table && event->column == fault->column &&
                   event->cell == fault->row * lanes + fault->lane,
               "seed %" PRIu64 ", side %u: tick %u, table %u, column %u, cell %u; struck %u, %u, %u, %u[%u]",
               seed, i, event->tick, event->table, event->column, event->cell, fault->tick, fault->table,
               fault->column, fault->row, fault->lane);
    CHECK_EQ(event->mask, sides);
    CHECK_EQ(event->value_mask, sides);
    const World *world = match->driver.sides[fault->side].world;
    for (uint32_t p = 0; p <= PHX_NET_PLAYERS_MAX; p++) {
        const uint32_t bit = p < PHX_NET_PLAYERS_MAX ? p : 31;
        if (!(sides >> bit & 1)) continue;
        const uint64_t differs = event->values[p] ^ world->value;
        CHECK_THAT(p == fault->side ? differs >> fault->bit & 1 : differs == 0,
                   "seed %" PRIu64 ", side %u about %u", seed, i, p);
    }
    const uint32_t count = match->driver.config.host.players + (sides >> 31);
    const uint32_t guilty = UINT32_C(1) << (fault->side < PHX_NET_PLAYERS_MAX ? fault->side : 31);
    CHECK_EQ(phx_net_majority(event), count > 2 ? sides & ~guilty : 0);
}

/* Both states of a bundle lead from the one to the other, but at the side that was struck. */
static void check_bundle(World *world, bool struck, const Fault *fault) {
    const char *path = "phx_test_desync.bundle";
    PhxBundleContents contents;
    PhxBundle bundle;
    PhxError error = {0};
    uint8_t *before, *after, *again = malloc(phx_sim_snapshot_size(world->sim) + 4096);
    size_t before_size, after_size, size;
    CHECK(phx_evidence_contents(world->evidence, &contents));
    contents.slot = 3;
    contents.notes = &(PhxBundleNote){3, "where and who"};
    contents.note_count = 1;
    CHECK_OK(phx_evidence_write(world->evidence, path, &contents, &error));
    CHECK_OK(phx_bundle_open(path, &bundle, &error));
    CHECK(bundle.tick == fault->tick && bundle.slot == 3 && bundle.has_before && bundle.has_after);
    CHECK_EQ(phx_replay_info(bundle.replay)->ticks, fault->tick + 1);
    const size_t limit = phx_sim_state_bytes(world->sim) + PHX_REPLAY_SNAPSHOT_EXTRA;
    CHECK_EQ(phx_bundle_state(&bundle, &bundle.before, 10, &before, &before_size), PHX_ERROR_LIMIT);
    CHECK_OK(phx_bundle_state(&bundle, &bundle.before, limit, &before, &before_size));
    CHECK_OK(phx_bundle_state(&bundle, &bundle.after, limit, &after, &after_size));
    PhxSim *sim = real_create((void *)(uintptr_t)world->content);
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    CHECK_OK(phx_sim_restore(sim, before, before_size, &error));
    CHECK_OK(phx_replay_cursor_create(bundle.replay, &cursor));
    CHECK_OK(phx_replay_cursor_seek(cursor, bundle.tick));
    CHECK(phx_replay_cursor_next(cursor, &tick));
    CHECK_OK(phx_sim_step(sim, tick.commands, tick.command_count));
    CHECK_OK(phx_sim_snapshot(sim, again, phx_sim_snapshot_size(world->sim) + 4096, &size));
    CHECK_EQ(size == after_size && memcmp(again, after, size) == 0, !struck);
    PhxReplayVerification verified;
    CHECK_OK(phx_replay_verify(bundle.replay, NULL, NULL, NULL, &verified));
    CHECK_EQ(verified.verdict, struck ? PHX_REPLAY_DIVERGED : PHX_REPLAY_VERIFIED);
    CHECK_EQ(verified.tick, struck ? fault->tick : 0);
    phx_replay_cursor_destroy(cursor);
    phx_sim_destroy(sim);
    free(before), free(after), free(again);
    phx_bundle_close(&bundle);
    (void)remove(path);
}

PHX_TEST(desync, any_changed_value_is_named_with_everybodys_value_at_every_side) {
    Content content = make_content();
    static Match match;
    const uint32_t runs = test_count(20, 40, 300);
    for (uint32_t run = 0; run < runs; run++) {
        const uint32_t players = 2 + run % 3, ticks = 60;
        match_create(&match, &content, run + 1, players, ticks);
        match.config.host.referee = run % 2 == 0;
        driver_create(&match.driver, &match.config);
        const uint32_t sides =
            (UINT32_C(1) << players) - 1 + (match.config.host.referee ? PHX_NET_REFEREE_BIT : 0);
        const uint32_t side = match.config.host.referee && run % 5 == 0 ? PHX_NET_PLAYERS_MAX : run % players;
        World *struck = match.driver.sides[side].world;
        match.fault = random_fault(&match, struck->sim, side, ticks - 1);
        struck->fault = &match.fault;
        driver_run(&match.driver);
        CHECK(struck->struck);
        const uint32_t lanes =
            struck->sim->world->tables[match.fault.table].desc->columns[match.fault.column].lanes;
        for (uint32_t i = 0; i < DRIVER_SIDES_MAX; i++)
            if (match.driver.sides[i].peer || i == PHX_NET_PLAYERS_MAX) check_side(&match, i, sides, lanes);
        if (run % 8 == 0) {
            const World *other = match.driver.sides[side == 0 ? 1 : 0].world;
            check_bundle(struck, true, &match.fault);
            check_bundle((World *)(uintptr_t)other, false, &match.fault);
        }
        driver_destroy(&match.driver);
    }
    free(content.blob);
}

/* Lasting faults in columns that can't break the sim; with mending all agree again, to the last tick. */
PHX_TEST(desync, a_side_that_differs_goes_on_from_the_referees_state_where_the_host_allows_it) {
    Content content = make_content();
    static Match match;
    const uint32_t runs = test_count(6, 12, 12);
    for (uint32_t run = 0; run < runs; run++) {
        const uint32_t ticks = 120, columns[] = {1, 2, 5}; /* pos_x, pos_y, heading */
        match_create(&match, &content, 5000 + run, 3, ticks);
        match.config.host.referee = true;
        match.config.host.mend = run % 4 != 3;
        match.config.turn_us = 20000;
        driver_create(&match.driver, &match.config);
        World *struck = match.driver.sides[run % 3].world;
        match.fault = (Fault){.side = run % 3,
                              .tick = 20 + run,
                              .table = PHX_TABLE_unit,
                              .column = columns[run % 3],
                              .row = (run * 5) % 32,
                              .bit = 1};
        struck->fault = &match.fault;
        struck->lasting = true;
        driver_run(&match.driver);
        CHECK_EQ(struck->mended, match.config.host.mend);
        for (uint32_t i = 0; i < DRIVER_SIDES_MAX; i++) {
            const DriverSide *side = &match.driver.sides[i];
            if (!side->peer && i != PHX_NET_PLAYERS_MAX) continue;
            CHECK_EQ(side->seen[PHX_NET_EVENT_DESYNC], 1);
            CHECK_EQ(side->seen[PHX_NET_EVENT_MENDED], match.config.host.mend);
            if (!match.config.host.mend) continue;
            const PhxNetEvent *event = &side->last[PHX_NET_EVENT_MENDED];
            CHECK_EQ(event->mask, UINT32_C(1) << match.fault.side);
            CHECK_THAT(event->tick > match.fault.tick && event->tick < ticks, "run %u: tick %u", run,
                       event->tick);
            for (uint32_t tick = event->tick; tick < ticks; tick++)
                CHECK(side->roots[tick] == match.driver.sides[PHX_NET_PLAYERS_MAX].roots[tick]);
            CHECK_EQ(side->last[PHX_NET_EVENT_ENDED].reason, PHX_NET_REASON_FINISHED);
            CHECK_EQ(side->last[PHX_NET_EVENT_ENDED].agreed_ticks, ticks);
        }
        driver_destroy(&match.driver);
    }
    free(content.blob);
}

PHX_TEST(desync, matches_without_a_fault_raise_no_alarm) {
    Content content = make_content();
    static Match match;
    const uint32_t runs = test_count(20, 100, 1000);
    for (uint32_t run = 0; run < runs; run++) {
        const uint32_t players = 1 + run % 4, ticks = 40;
        match_create(&match, &content, 1000 + run, players, ticks);
        match.config.host.referee = run % 2 == 0;
        match.lag_side = (uint32_t)(test_random(&match.seed) % players);
        match.lag_tick = (uint32_t)test_range(&match.seed, 0, 30);
        match.lag_steps = (uint32_t)test_range(&match.seed, 0, 300);
        driver_create(&match.driver, &match.config);
        for (uint32_t i = 0; i < DRIVER_SIDES_MAX; i += 2) {
            World *world = match.driver.sides[i].world;
            if (world) world->seed = match.seed + i + 1;
        }
        driver_run(&match.driver);
        for (uint32_t i = 0; i < DRIVER_SIDES_MAX; i++) {
            const DriverSide *side = &match.driver.sides[i];
            CHECK_THAT(side->seen[PHX_NET_EVENT_DESYNC] == 0 && side->seen[PHX_NET_EVENT_LOCATED] == 0,
                       "seed %u, side %u", 1000 + run, i);
            if (side->peer) CHECK_EQ(side->last[PHX_NET_EVENT_ENDED].agreed_ticks, ticks);
        }
        CHECK_EQ(phx_host_agreed(match.driver.host, NULL), ticks);
        driver_destroy(&match.driver);
    }
    free(content.blob);
}
