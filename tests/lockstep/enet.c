/* enet.c: a match over real UDP sockets on 127.0.0.1, host and two peers in one process. Real time passes
 * here, and nothing is asserted about how much. */
#include <time.h>

#include "driver.h"

static uint64_t clock_us(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

typedef struct UdpMatch {
    Driver driver; /* its loopback is replaced */
    PhxTransport host, peers[2];
} UdpMatch;

static void update_all(UdpMatch *match) {
    PhxNetEvent event;
    Driver *driver = &match->driver;
    driver->now = clock_us();
    phx_host_update(driver->host, driver->now);
    while (phx_host_poll(driver->host, &event)) driver_event(driver, PHX_NET_PLAYERS_MAX, &event);
    driver_play(driver, PHX_NET_PLAYERS_MAX);
    for (uint32_t i = 0; i < 2; i++) {
        phx_peer_update(driver->sides[i].peer, driver->now);
        while (phx_peer_poll(driver->sides[i].peer, &event)) driver_event(driver, i, &event);
        driver_play(driver, i);
    }
    phx_enet_wait(&match->peers[0], 1);
}

PHX_TEST(enet, a_match_of_two_peers_over_udp_reaches_its_last_message) {
    static UdpMatch match;
    const PhxAllocator allocator = phx_allocator_default();
    PhxError error = {0};
    Driver *driver = &match.driver;
    DriverConfig config = driver_config(2, 200);
    config.host.referee = true;
    driver_create(driver, &config);
    phx_host_destroy(driver->host);
    CHECK_OK(phx_enet_host_create(allocator, "127.0.0.1", 0, 8, &match.host, &error));
    CHECK(phx_enet_port(&match.host) != 0);
    CHECK_OK(phx_host_create(&driver->config.host, match.host, allocator, &driver->host, &error));
    for (uint32_t i = 0; i < 2; i++) {
        PhxPeerConfig peer = phx_peer_config_default();
        phx_peer_destroy(driver->sides[i].peer);
        CHECK_OK(phx_enet_peer_create(allocator, "127.0.0.1", phx_enet_port(&match.host), &match.peers[i],
                                      &error));
        peer.contract = config.host.contract;
        peer.wanted_slot = (uint8_t)i;
        CHECK_OK(phx_peer_create(&peer, match.peers[i], allocator, &driver->sides[i].peer, &error));
    }
    const uint64_t begun = clock_us();
    while (phx_host_stage(driver->host) != PHX_NET_STAGE_ENDED || !driver->sides[0].ended ||
           !driver->sides[1].ended) {
        CHECK_THAT(clock_us() - begun < 60000000, "host stage %s, ticks %u %u",
                   phx_net_stage_name(phx_host_stage(driver->host)), driver->sides[0].ticks,
                   driver->sides[1].ticks);
        update_all(&match);
    }
    uint64_t *oracle = driver_oracle(driver, 200);
    for (uint32_t i = 0; i <= PHX_NET_PLAYERS_MAX; i += i == 1 ? PHX_NET_PLAYERS_MAX - 1 : 1) {
        CHECK_EQ(driver->sides[i].ticks, 200);
        CHECK_EQ(driver->sides[i].last[PHX_NET_EVENT_ENDED].reason, PHX_NET_REASON_FINISHED);
        CHECK_EQ(driver->sides[i].last[PHX_NET_EVENT_ENDED].agreed_ticks, 200);
        for (uint32_t tick = 0; tick < 200; tick++)
            CHECK_THAT(driver->sides[i].roots[tick] == oracle[tick], "tick %u", tick);
    }
    free(oracle);
    driver_destroy(driver);
    for (uint32_t i = 0; i < 2; i++) phx_transport_destroy(&match.peers[i]);
    phx_transport_destroy(&match.host);
}

PHX_TEST(enet, addresses_that_do_not_exist_are_refused_in_words) {
    PhxTransport transport = {0}, second = {0};
    PhxError error = {0};
    const PhxAllocator allocator = phx_allocator_default();
    CHECK_EQ(phx_enet_host_create(allocator, "127.0.0.1", 0, 0, &transport, &error), PHX_ERROR_ARGUMENT);
    CHECK_OK(phx_enet_host_create(allocator, "127.0.0.1", 0, 1, &transport, &error));
    CHECK_EQ(phx_enet_host_create(allocator, "127.0.0.1", phx_enet_port(&transport), 1, &second, &error),
             PHX_ERROR_IO);
    CHECK(strstr(error.text, "in use"));
    phx_transport_destroy(&transport);
    CHECK_EQ(phx_enet_peer_create(allocator, "no such host.invalid", 1, &second, &error), PHX_ERROR_IO);
    CHECK(strstr(error.text, "unknown address"));
}
