/* faults.c: matches in which somebody fails: forges a hash, stops, leaves, loads too slowly, sends rubbish.
 * What the others see must be the same everywhere, on the same tick. */
#include "driver.h"

static PhxFaultConfig bad_network(void) {
    return (PhxFaultConfig){.loss_permille = 100,
                            .duplicate_permille = 50,
                            .reorder_permille = 50,
                            .delay_min_us = 50000,
                            .delay_max_us = 250000};
}

typedef struct Trouble {
    uint32_t side, tick; /* who, and from which tick on */
    uint32_t table;
    bool root_only;
    uint32_t left_side;
} Trouble;

/* ---- desync ---- */

static void forge(void *user, uint32_t side, uint32_t tick, uint64_t *root, uint64_t *tables) {
    const Trouble *trouble = user;
    if (side != trouble->side || tick != trouble->tick) return;
    *root ^= 1;
    if (!trouble->root_only) tables[trouble->table] ^= UINT64_C(1) << 63;
}

static void check_desync(const Driver *driver, const Trouble *trouble, uint32_t sides) {
    for (uint32_t i = 0; i < DRIVER_SIDES_MAX; i++) {
        const DriverSide *side = &driver->sides[i];
        const PhxNetEvent *event = &side->last[PHX_NET_EVENT_DESYNC];
        if (!side->peer && i != driver_host_side(driver)) continue;
        CHECK_EQ(side->seen[PHX_NET_EVENT_DESYNC], 1);
        CHECK_EQ(event->tick, trouble->tick);
        CHECK_EQ(event->table, trouble->root_only ? PHX_NET_NO_TABLE : trouble->table);
        CHECK_EQ(event->mask, sides);
        CHECK_EQ(event->agreed_ticks <= trouble->tick, 1);
        for (uint32_t p = 0; p <= PHX_NET_PLAYERS_MAX; p++) {
            const uint32_t bit = p == PHX_NET_PLAYERS_MAX ? 31 : p;
            if (!(sides >> bit & 1)) continue;
            const uint64_t honest = driver->sides[trouble->side == 0 ? 1 : 0].roots[trouble->tick];
            CHECK_THAT(event->root[p] == (p == trouble->side ? honest ^ 1 : honest), "side %u about %u", i,
                       p);
            if (trouble->root_only) continue;
            const uint64_t other = event->values[trouble->side == 0 ? 1 : 0];
            CHECK((event->values[p] != other) == (p == trouble->side));
        }
        CHECK_EQ(side->last[PHX_NET_EVENT_ENDED].reason, PHX_NET_REASON_DESYNC);
        CHECK_EQ(side->last[PHX_NET_EVENT_ENDED].agreed_ticks, trouble->tick);
        if (side->peer) CHECK_EQ(side->ticks, driver->sides[0].ticks);
    }
}

PHX_TEST(desync, a_forged_hash_is_named_on_all_sides_with_tick_and_table) {
    for (uint32_t variant = 0; variant < 6; variant++) {
        const bool referee = variant % 2;
        Trouble trouble = {.side = variant % 4, .tick = 100 + variant * 7, .table = variant % 4};
        trouble.root_only = variant == 4;
        if (variant == 5) trouble.side = PHX_NET_PLAYERS_MAX; /* the referee itself */
        Driver driver;
        DriverConfig config = driver_config(4, 300);
        config.faults = true;
        config.fault = bad_network();
        config.host.referee = referee;
        config.host.ticks_per_turn = 1 + variant % 3;
        config.before_report = forge;
        config.hook_user = &trouble;
        config.seed = variant + 1;
        driver_create(&driver, &config);
        driver_run(&driver);
        check_desync(&driver, &trouble, referee ? 0xf | PHX_NET_REFEREE_BIT : 0xf);
        driver_destroy(&driver);
    }
}

/* ---- somebody stops ---- */

static bool dies(void *user, uint32_t side, uint32_t ticks) {
    const Trouble *trouble = user;
    return side == trouble->side && ticks >= trouble->tick;
}

/* Everybody but `gone` executed the same, to the end, and saw it leave on one tick. */
static void check_left(const Driver *driver, uint32_t gone, PhxNetReason reason, uint32_t ticks) {
    const DriverSide *first = &driver->sides[gone == 0 ? 1 : 0];
    CHECK(first->leave_tick[gone] != UINT32_MAX);
    for (uint32_t i = 0; i < DRIVER_SIDES_MAX; i++) {
        const DriverSide *side = &driver->sides[i];
        if (i == gone || (!side->peer && i != driver_host_side(driver))) continue;
        CHECK_EQ(side->seen[PHX_NET_EVENT_LEFT], 1);
        CHECK_EQ(side->last[PHX_NET_EVENT_LEFT].slot, gone);
        CHECK_EQ(side->last[PHX_NET_EVENT_LEFT].reason, reason);
        CHECK_EQ(side->last[PHX_NET_EVENT_LEFT].turn * driver->config.host.ticks_per_turn,
                 first->leave_tick[gone]);
        CHECK_EQ(side->seen[PHX_NET_EVENT_DESYNC], 0);
        CHECK_EQ(side->last[PHX_NET_EVENT_ENDED].agreed_ticks, ticks);
        if (!side->world || (!side->peer && !driver->config.host.referee)) continue;
        CHECK_EQ(side->ticks, ticks);
        CHECK_EQ(side->leave_tick[gone], first->leave_tick[gone]);
        CHECK(side->commands_hash == first->commands_hash);
        for (uint32_t tick = 0; tick < ticks; tick++) CHECK(side->roots[tick] == first->roots[tick]);
    }
}

PHX_TEST(leave, a_peer_that_stops_is_named_and_dropped_on_the_same_tick_everywhere) {
    for (uint32_t variant = 0; variant < 4; variant++) {
        Trouble trouble = {.side = variant, .tick = variant == 3 ? 0 : 120 + variant};
        Driver driver;
        DriverConfig config = driver_config(4, 400);
        config.faults = variant != 0;
        config.fault = bad_network();
        config.host.referee = variant == 1;
        config.host.ticks_per_turn = variant == 2 ? 5 : 1;
        config.host.delay = 4;
        config.host.times = (PhxNetTimes){.notice_ms = 400, .drop_ms = 3000, .silence_ms = 60000};
        if (variant == 1)
            config.host.times = (PhxNetTimes){.notice_ms = 400, .drop_ms = 60000, .silence_ms = 3000};
        config.is_dead = dies;
        config.hook_user = &trouble;
        config.seed = variant + 10;
        if (variant == 3) { /* never says that it is ready */
            trouble = (Trouble){.side = 2};
            config.host.times.load_ms = 2000;
        }
        driver_create(&driver, &config);
        if (variant == 3) /* it joins, and then does nothing any more */
            while (driver.sides[2].seen[PHX_NET_EVENT_JOINED] == 0) {
                driver.config.is_dead = NULL;
                driver_step(&driver);
                driver.config.is_dead = dies;
            }
        driver_run(&driver);
        check_left(&driver, trouble.side, variant == 1 ? PHX_NET_REASON_LOST : PHX_NET_REASON_TIMEOUT, 400);
        for (uint32_t i = 0; i < 4; i++) {
            const PhxNetEvent *word = &driver.sides[i].last[PHX_NET_EVENT_WAITING];
            if (i == trouble.side) continue;
            CHECK(driver.sides[i].seen[PHX_NET_EVENT_WAITING] > 0);
            CHECK(driver.sides[i].seen[PHX_NET_EVENT_RESUMED] > 0);
            CHECK(word->elapsed_ms >= 400 && word->limit_ms >= 2000);
        }
        if (variant == 3) CHECK_EQ(driver.sides[0].leave_tick[2], 0);
        driver_destroy(&driver);
    }
}

static void leave_then(void *user, Driver *driver) {
    const Trouble *trouble = user;
    DriverSide *side = &driver->sides[trouble->side];
    if (side->ticks >= trouble->tick && !side->ended) phx_peer_leave(side->peer);
}

PHX_TEST(leave, a_peer_that_leaves_is_told_goodbye_and_its_commands_count_until_then) {
    Trouble trouble = {.side = 1, .tick = 77};
    Driver driver;
    DriverConfig config = driver_config(3, 300);
    config.faults = true;
    config.fault = bad_network();
    config.host.referee = true;
    config.each_step = leave_then;
    config.hook_user = &trouble;
    driver_create(&driver, &config);
    driver_run(&driver);
    check_left(&driver, 1, PHX_NET_REASON_LEFT, 300);
    CHECK_EQ(driver.sides[1].last[PHX_NET_EVENT_ENDED].reason, PHX_NET_REASON_LEFT);
    CHECK(driver.sides[0].leave_tick[1] >= 77);
    driver_destroy(&driver);
}

static void all_leave(void *user, Driver *driver) {
    (void)user;
    for (uint32_t i = 0; i < 2; i++)
        if (driver->sides[i].ticks >= 50 + 10 * i && !driver->sides[i].ended)
            phx_peer_leave(driver->sides[i].peer);
}

PHX_TEST(leave, a_match_that_all_have_left_ends) {
    Driver driver;
    DriverConfig config = driver_config(2, 0);
    config.each_step = all_leave;
    config.host.referee = true;
    driver_create(&driver, &config);
    driver_run(&driver);
    const DriverSide *host = &driver.sides[PHX_NET_PLAYERS_MAX];
    CHECK_EQ(host->last[PHX_NET_EVENT_ENDED].reason, PHX_NET_REASON_LEFT);
    CHECK_EQ(host->seen[PHX_NET_EVENT_LEFT], 2);
    CHECK(host->leave_tick[0] != UINT32_MAX && host->leave_tick[1] != UINT32_MAX);
    CHECK_EQ(host->ticks, host->last[PHX_NET_EVENT_ENDED].tick);
    driver_destroy(&driver);
}

/* ---- end, own slots ---- */

static void host_speaks(void *user, Driver *driver) {
    const Trouble *trouble = user;
    const DriverSide *side = &driver->sides[0];
    uint32_t sequence;
    if (side->ticks == 20 && driver->sides[0].seen[PHX_NET_EVENT_STARTED] == 1) {
        driver->sides[0].seen[PHX_NET_EVENT_STARTED]++; /* once */
        CHECK_OK(phx_host_submit(driver->host, 1, "pause", 5, &sequence));
        CHECK_EQ(sequence, 0);
        CHECK_EQ(phx_host_submit(driver->host, 2, "x", 1, NULL), PHX_ERROR_ARGUMENT);
        CHECK_EQ(phx_host_submit(driver->host, 0, "x", 0, NULL), PHX_ERROR_ARGUMENT);
    }
    if (side->ticks >= trouble->tick && phx_host_stage(driver->host) == PHX_NET_STAGE_RUNNING)
        phx_host_end(driver->host, 161);
}

PHX_TEST(host, plays_itself_speaks_in_its_own_slot_and_ends_the_match) {
    Trouble trouble = {.tick = 100};
    Driver driver;
    DriverConfig config = driver_config(3, 0);
    config.faults = true;
    config.fault = bad_network();
    config.host.referee = true;
    config.host.own_slot = 1;
    config.host.ticks_per_turn = 2;
    config.each_step = host_speaks;
    config.hook_user = &trouble;
    driver_create(&driver, &config);
    driver_run(&driver);
    for (uint32_t i = 0; i < 3; i++) {
        const DriverSide *side = &driver.sides[i];
        CHECK_EQ(side->ticks, 161); /* an odd number: the last turn is cut */
        CHECK_EQ(side->last[PHX_NET_EVENT_ENDED].tick, 161);
        CHECK_EQ(side->last[PHX_NET_EVENT_ENDED].agreed_ticks, 161);
        CHECK(side->commands_hash == driver.sides[0].commands_hash);
        CHECK(side->roots[160] == driver.sides[0].roots[160]);
    }
    /* The oracle knows the players' commands, the host's own changed the state besides. */
    uint64_t *oracle = driver_oracle(&driver, 161);
    CHECK(oracle[19] == driver.sides[0].roots[19]);
    CHECK(oracle[160] != driver.sides[0].roots[160]);
    free(oracle);
    driver_destroy(&driver);
}

/* ---- bad commands ---- */

static size_t sometimes_bad_command(void *user, uint8_t slot, uint64_t *seed, uint8_t *out, size_t capacity) {
    const size_t size = fake_command(user, slot, seed, out, capacity);
    if (test_random(seed) % 4 == 0) out[1] = (uint8_t)(slot + 1); /* speaks for somebody else */
    return size;
}

PHX_TEST(host, refuses_and_counts_commands_that_the_game_calls_malformed) {
    Driver driver;
    DriverConfig config = driver_config(2, 200);
    config.sim.command = sometimes_bad_command;
    config.host.referee = true;
    driver_create(&driver, &config);
    /* Peers whose own check was tampered with; the host's is in force. */
    for (uint32_t i = 0; i < 2; i++) {
        PhxPeerConfig peer = phx_peer_config_default();
        phx_peer_destroy(driver.sides[i].peer);
        peer.contract = config.host.contract;
        peer.wanted_slot = (uint8_t)i;
        CHECK_OK(phx_peer_create(&peer, driver.transports[i + 1], phx_allocator_default(),
                                 &driver.sides[i].peer, NULL));
    }
    driver_run(&driver);
    uint32_t bad = 0, executed_limit = driver.submitted_count;
    for (uint32_t i = 0; i < driver.submitted_count;) {
        DriverCommand *command = &driver.submitted[i];
        bad += command->bytes[1] != command->slot;
        if (command->bytes[1] != command->slot || command->tick >= 200) {
            free(command->bytes);
            *command = driver.submitted[--driver.submitted_count];
        } else {
            i++;
        }
    }
    CHECK(bad > 5 && bad < executed_limit);
    PhxNetStatistics statistics;
    phx_host_statistics(driver.host, &statistics);
    CHECK(statistics.commands_refused > 0 && statistics.commands_refused <= bad);
    CHECK(driver.sides[PHX_NET_PLAYERS_MAX].seen[PHX_NET_EVENT_BAD_INPUT] > 0);
    uint64_t *oracle = driver_oracle(&driver, 200);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t tick = 0; tick < 200; tick++)
            CHECK_THAT(driver.sides[i].roots[tick] == oracle[tick], "tick %u", tick);
    free(oracle);
    driver_destroy(&driver);
}

/* ---- repeats ---- */

PHX_TEST(match, the_same_seed_gives_the_same_trace_of_events) {
    uint64_t traces[3], commands[3];
    for (uint32_t run = 0; run < 3; run++) {
        Trouble trouble = {.side = 2, .tick = 90};
        Driver driver;
        DriverConfig config = driver_config(4, 250);
        config.faults = true;
        config.fault = bad_network();
        config.fault.garble_permille = 30;
        config.seed = run == 2 ? 6 : 5;
        config.host.times = (PhxNetTimes){.notice_ms = 200, .drop_ms = 4000};
        config.is_dead = dies;
        config.hook_user = &trouble;
        driver_create(&driver, &config);
        driver_run(&driver);
        check_left(&driver, 2, PHX_NET_REASON_TIMEOUT, 250);
        traces[run] = driver.trace;
        commands[run] = driver.sides[0].commands_hash;
        driver_destroy(&driver);
    }
    CHECK(traces[0] == traces[1] && commands[0] == commands[1]);
    CHECK(traces[0] != traces[2] && commands[0] != commands[2]);
}
