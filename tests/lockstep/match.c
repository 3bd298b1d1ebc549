/* match.c: whole matches over the loopback and the fault transport, against an oracle that needs no network.
 */
#include "driver.h"

/* Every side that executed has the oracle's root at every tick, and all agreed to the end. */
static void check_roots(Driver *driver, uint32_t ticks) {
    uint64_t *oracle = driver_oracle(driver, ticks);
    for (uint32_t i = 0; i < DRIVER_SIDES_MAX; i++) {
        const DriverSide *side = &driver->sides[i];
        const bool executes = side->peer || (i == driver_host_side(driver) && driver->config.host.referee);
        if (!executes) continue;
        CHECK_EQ(side->ticks, ticks);
        for (uint32_t tick = 0; tick < ticks; tick++)
            CHECK_THAT(side->roots[tick] == oracle[tick], "seed %" PRIu64 " side %u tick %u",
                       driver->config.seed, i, tick);
        CHECK_EQ(side->seen[PHX_NET_EVENT_DESYNC], 0);
        CHECK_EQ(side->seen[PHX_NET_EVENT_ENDED], 1);
        CHECK_EQ(side->last[PHX_NET_EVENT_ENDED].reason, PHX_NET_REASON_FINISHED);
        CHECK_EQ(side->last[PHX_NET_EVENT_ENDED].agreed_ticks, ticks);
        CHECK(side->last[PHX_NET_EVENT_ENDED].agreed_root == oracle[ticks - 1]);
    }
    uint64_t root;
    CHECK_EQ(phx_host_agreed(driver->host, &root), ticks);
    CHECK(root == oracle[ticks - 1]);
    free(oracle);
}

static PhxFaultConfig bad_network(void) {
    return (PhxFaultConfig){.loss_permille = 100,
                            .duplicate_permille = 50,
                            .reorder_permille = 50,
                            .delay_min_us = 50000,
                            .delay_max_us = 250000};
}

PHX_TEST(match, eight_peers_over_loopback_equal_the_direct_computation) {
    for (uint32_t referee = 0; referee < 2; referee++) {
        for (uint32_t k = 1; k <= 5; k += k == 2 ? 3 : 1) {
            Driver driver;
            DriverConfig config = driver_config(8, 303);
            config.host.ticks_per_turn = k;
            config.host.referee = referee;
            driver_create(&driver, &config);
            driver_run(&driver);
            CHECK(driver.submitted_count > 300 / k);
            check_roots(&driver, 303);
            driver_destroy(&driver);
        }
    }
}

PHX_TEST(match, ten_thousand_ticks_over_a_bad_network) {
    const uint64_t seeds = getenv("PHX_LONG") ? 20 : 1;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        Driver driver;
        DriverConfig config = driver_config(8, 10000);
        config.seed = seed;
        config.faults = true;
        config.fault = bad_network();
        config.host.delay = 8;
        config.host.referee = seed % 2;
        config.command_permille = 100;
        driver_create(&driver, &config);
        driver_run(&driver);
        check_roots(&driver, 10000);
        CHECK(driver.submitted_count > 5000);
        PhxNetStatistics statistics;
        phx_host_statistics(driver.host, &statistics);
        fprintf(stderr,
                "seed %" PRIu64 ": virtual %" PRIu64 " s, host out %" PRIu64 " KiB in %" PRIu64
                " packets, resent %" PRIu64 " KiB\n",
                seed, driver.now / 1000000, statistics.bytes_out / 1024, statistics.packets_out,
                statistics.resent_bytes / 1024);
        driver_destroy(&driver);
    }
}

/* Every turn as full as the limits allow, in count or in bytes. */
static size_t full_command(void *user, uint8_t slot, uint64_t *seed, uint8_t *out, size_t capacity) {
    const size_t size = *(const size_t *)user;
    (void)capacity;
    memset(out, (int)(test_random(seed) & 0xff), size);
    out[0] = 'C';
    out[1] = slot;
    return size;
}

PHX_TEST(match, turns_as_long_as_the_limits_allow) {
    size_t sizes[] = {PHX_NET_COMMAND_MAX, PHX_NET_TURN_BYTES_MAX / PHX_NET_TURN_COMMANDS_MAX};
    for (uint32_t i = 0; i < 2; i++) {
        Driver driver;
        DriverConfig config = driver_config(PHX_NET_PLAYERS_MAX, 40 * 16);
        config.sim.command = full_command;
        config.sim.user = &sizes[i];
        config.host.ticks_per_turn = PHX_NET_TICKS_PER_TURN_MAX;
        config.host.delay = 3;
        config.command_permille = 1000;
        driver_create(&driver, &config);
        driver_run(&driver);
        check_roots(&driver, 40 * 16);
        CHECK(driver.submitted_count >= 40u * 16 * (i == 0 ? 2 : PHX_NET_TURN_COMMANDS_MAX));
        driver_destroy(&driver);
    }
}
