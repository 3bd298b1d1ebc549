/* real.c: the real simulation over the bad network: eight peers and a referee in one process, ten thousand
 * ticks (two thousand under a sanitizer) with 10% loss, 50 to 250 ms delay, duplicates and reordering; each
 * root of each side equals a direct computation from the commands alone. And a peer whose state is changed
 * behind its back is named, with tick and table, at every side.
 */
#include "real.h"

static DriverConfig real_config(Content *content, uint32_t ticks) {
    DriverConfig config = driver_config(PLAYERS, ticks);
    config.sim = (DriverSim){.user = content,
                             .create = real_create,
                             .step = real_step,
                             .destroy = real_destroy,
                             .command = real_command,
                             .game = {.command_valid = real_valid, .leave_command = real_leave}};
    config.faults = true;
    config.fault = (PhxFaultConfig){.loss_permille = 100,
                                    .duplicate_permille = 50,
                                    .reorder_permille = 50,
                                    .delay_min_us = 50000,
                                    .delay_max_us = 250000};
    config.host.delay = 8;
    config.host.referee = true;
    config.command_permille = 20;
    return config;
}

PHX_TEST(real, eight_peers_and_a_referee_agree_on_ten_thousand_ticks_over_a_bad_network) {
    Content content = make_content();
    const uint32_t ticks = test_count(2000, 10000, 10000);
    DriverConfig config = real_config(&content, ticks);
    Driver driver;
    driver_create(&driver, &config);
    driver_run(&driver);
    uint64_t *oracle = driver_oracle(&driver, ticks), agreed;
    for (uint32_t i = 0; i < DRIVER_SIDES_MAX; i++) {
        const DriverSide *side = &driver.sides[i];
        if (!side->world) continue;
        CHECK_EQ(side->ticks, ticks);
        CHECK_EQ(side->seen[PHX_NET_EVENT_DESYNC], 0);
        for (uint32_t tick = 0; tick < ticks; tick++)
            CHECK_THAT(side->roots[tick] == oracle[tick], "side %u tick %u", i, tick);
    }
    CHECK_EQ(phx_host_agreed(driver.host, &agreed), ticks);
    CHECK(agreed == oracle[ticks - 1]);
    CHECK(driver.submitted_count > ticks / 10);
    const PhxSim *sim = driver.sides[0].world;
    PhxPlayerInfo info;
    CHECK(phx_sim_player(sim, 3, &info) && info.arrived > ticks / 500); /* and units did walk */
    free(oracle);
    driver_destroy(&driver);
    free(content.blob);
}

/* One value of one unit at one side, changed after tick 400. */
static void spoil(void *user, Driver *driver) {
    PhxSim *sim = driver->sides[5].world;
    bool *done = user;
    if (*done || phx_sim_tick(sim) != 400) return;
    sim->world->unit.pos_x[9] += 1;
    *done = true;
}

PHX_TEST(real, a_changed_state_is_named_with_tick_and_table_at_every_side) {
    Content content = make_content();
    DriverConfig config = real_config(&content, 600);
    Driver driver;
    bool done = false;
    config.each_step = spoil;
    config.hook_user = &done;
    driver_create(&driver, &config);
    driver_run(&driver);
    CHECK(done);
    for (uint32_t i = 0; i < DRIVER_SIDES_MAX; i++) {
        const DriverSide *side = &driver.sides[i];
        if (!side->world) continue;
        CHECK_THAT(side->seen[PHX_NET_EVENT_DESYNC] >= 1, "side %u", i);
        CHECK_EQ(side->last[PHX_NET_EVENT_DESYNC].tick, 400);
        CHECK_EQ(side->last[PHX_NET_EVENT_DESYNC].table, PHX_TABLE_unit);
    }
    driver_destroy(&driver);
    free(content.blob);
}
