/* net.c: public bug reports about networks that most people don't have at home, as tests under their numbers
 * (tests/cases/README.md): tunnels, loss at the very end, a client that doesn't keep up.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../lockstep/driver.h"

/* A forwarder of UDP datagrams between a peer and a host on this machine, in this process: what is longer
 * than its path carries is lost, as in a tunnel that answers nothing, and what the dice say is lost too. */
typedef struct Forwarder {
    int front, back;         /* the peer sends to front; back sends to the host */
    uint16_t port;           /* of front */
    struct sockaddr_in peer; /* whom front answers; port 0: not heard of yet */
    size_t path, longest;    /* bytes */
    uint32_t loss_permille;
    uint64_t seed;
    uint32_t too_long, lost, passed;
} Forwarder;

static int udp_socket(uint16_t *port) {
    struct sockaddr_in own = {.sin_family = AF_INET};
    socklen_t size = sizeof own;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int made = socket(AF_INET, SOCK_DGRAM, 0);
    CHECK(made >= 0 && bind(made, (struct sockaddr *)&own, sizeof own) == 0);
    CHECK_EQ(getsockname(made, (struct sockaddr *)&own, &size), 0);
    *port = ntohs(own.sin_port);
    return made;
}

static Forwarder forwarder_begin(uint16_t host_port, size_t path, uint32_t loss_permille, uint64_t seed) {
    Forwarder forwarder = {.path = path, .loss_permille = loss_permille, .seed = seed};
    struct sockaddr_in host = {.sin_family = AF_INET, .sin_port = htons(host_port)};
    uint16_t unused;
    host.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    forwarder.front = udp_socket(&forwarder.port);
    forwarder.back = udp_socket(&unused);
    CHECK_EQ(connect(forwarder.back, (struct sockaddr *)&host, sizeof host), 0);
    return forwarder;
}

static void forwarder_end(Forwarder *forwarder) {
    close(forwarder->front);
    close(forwarder->back);
}

static bool passes(Forwarder *forwarder, size_t size) {
    if (size > forwarder->longest) forwarder->longest = size;
    forwarder->too_long += size > forwarder->path;
    if (size > forwarder->path) return false;
    const bool lost = test_random(&forwarder->seed) % 1000 < forwarder->loss_permille;
    forwarder->lost += lost;
    forwarder->passed += !lost;
    return !lost;
}

static void forwarder_pump(Forwarder *forwarder) {
    uint8_t bytes[4096];
    for (;;) {
        struct sockaddr_in from;
        socklen_t from_size = sizeof from;
        const ssize_t size = recvfrom(forwarder->front, bytes, sizeof bytes, MSG_DONTWAIT,
                                      (struct sockaddr *)&from, &from_size);
        if (size < 0) break;
        forwarder->peer = from;
        if (passes(forwarder, (size_t)size)) (void)!send(forwarder->back, bytes, (size_t)size, MSG_DONTWAIT);
    }
    for (;;) {
        const ssize_t size = recv(forwarder->back, bytes, sizeof bytes, MSG_DONTWAIT);
        if (size < 0) break;
        if (passes(forwarder, (size_t)size) && forwarder->peer.sin_port != 0)
            (void)!sendto(forwarder->front, bytes, (size_t)size, MSG_DONTWAIT,
                          (struct sockaddr *)&forwarder->peer, sizeof forwarder->peer);
    }
}

static uint64_t clock_us(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

enum { UDP_PEERS = 2 };
typedef struct UdpMatch {
    Driver driver; /* its loopback is replaced */
    PhxTransport host, peers[UDP_PEERS];
    Forwarder forwarders[UDP_PEERS];
} UdpMatch;

static void udp_begin(UdpMatch *match, const DriverConfig *config, size_t path, uint32_t loss_permille) {
    const PhxAllocator allocator = phx_allocator_default();
    PhxError error = {0};
    Driver *driver = &match->driver;
    driver_create(driver, config);
    phx_host_destroy(driver->host);
    CHECK_OK(phx_enet_host_create(allocator, "127.0.0.1", 0, 8, &match->host, &error));
    CHECK_OK(phx_host_create(&driver->config.host, match->host, allocator, &driver->host, &error));
    for (uint32_t i = 0; i < UDP_PEERS; i++) {
        PhxPeerConfig peer = phx_peer_config_default();
        match->forwarders[i] =
            forwarder_begin(phx_enet_port(&match->host), path, loss_permille, config->seed + i);
        phx_peer_destroy(driver->sides[i].peer);
        CHECK_OK(phx_enet_peer_create(allocator, "127.0.0.1", match->forwarders[i].port, &match->peers[i],
                                      &error));
        peer.contract = config->host.contract;
        peer.game = config->sim.game;
        peer.wanted_slot = (uint8_t)i;
        CHECK_OK(phx_peer_create(&peer, match->peers[i], allocator, &driver->sides[i].peer, &error));
    }
}

static void udp_run(UdpMatch *match) {
    Driver *driver = &match->driver;
    const uint64_t begun = clock_us();
    PhxNetEvent event;
    while (phx_host_stage(driver->host) != PHX_NET_STAGE_ENDED || !driver->sides[0].ended ||
           !driver->sides[1].ended) {
        CHECK_THAT(clock_us() - begun < 100000000, "host stage %s, ticks %u %u",
                   phx_net_stage_name(phx_host_stage(driver->host)), driver->sides[0].ticks,
                   driver->sides[1].ticks);
        driver->now = clock_us();
        phx_host_update(driver->host, driver->now);
        while (phx_host_poll(driver->host, &event)) driver_event(driver, PHX_NET_PLAYERS_MAX, &event);
        driver_play(driver, PHX_NET_PLAYERS_MAX);
        for (uint32_t i = 0; i < UDP_PEERS; i++) {
            phx_peer_update(driver->sides[i].peer, driver->now);
            while (phx_peer_poll(driver->sides[i].peer, &event)) driver_event(driver, i, &event);
            driver_play(driver, i);
            forwarder_pump(&match->forwarders[i]);
        }
        phx_enet_wait(&match->peers[0], 1);
    }
}

static void udp_end(UdpMatch *match) {
    driver_destroy(&match->driver);
    for (uint32_t i = 0; i < UDP_PEERS; i++) {
        phx_transport_destroy(&match->peers[i]);
        forwarder_end(&match->forwarders[i]);
    }
    phx_transport_destroy(&match->host);
}

/* All sides played all ticks, agreed on all of them, and were told so. */
static void check_finished(Driver *driver, uint32_t ticks) {
    uint64_t *oracle = driver_oracle(driver, ticks);
    const uint32_t sides[] = {0, 1, PHX_NET_PLAYERS_MAX};
    for (int i = 0; i < 3; i++) {
        const DriverSide *side = &driver->sides[sides[i]];
        CHECK_EQ(side->ticks, ticks);
        CHECK_EQ(side->last[PHX_NET_EVENT_ENDED].reason, PHX_NET_REASON_FINISHED);
        CHECK_EQ(side->last[PHX_NET_EVENT_ENDED].agreed_ticks, ticks);
        for (uint32_t tick = 0; tick < ticks; tick++)
            CHECK_THAT(side->roots[tick] == oracle[tick], "tick %u", tick);
    }
    free(oracle);
}

/* Case 17 (enet 132): joins hang behind a tunnel with the default MTU. A path of 1200 bytes, where many
 * commands alone are longer than that. */
PHX_TEST(case_17, a_join_and_a_match_pass_a_tunnel_of_1200_bytes) {
    static UdpMatch match;
    DriverConfig config = driver_config(UDP_PEERS, 120);
    config.host.referee = true;
    config.seed = 17;
    udp_begin(&match, &config, 1200, 0);
    udp_run(&match);
    check_finished(&match.driver, 120);
    size_t longest_command = 0;
    for (uint32_t i = 0; i < match.driver.submitted_count; i++)
        if (match.driver.submitted[i].size > longest_command)
            longest_command = match.driver.submitted[i].size;
    CHECK(longest_command > 2000);
    for (uint32_t i = 0; i < UDP_PEERS; i++) {
        CHECK_EQ(match.forwarders[i].too_long, 0);
        CHECK_THAT(match.forwarders[i].longest > 900, "the longest datagram has %zu bytes",
                   match.forwarders[i].longest);
    }
    udp_end(&match);
}

/* Case 18 (enet 59): the last messages vanish at the disconnect. A sixth of all datagrams is lost, the last
 * ones like any other; all sides still learn that all ticks were agreed on, and the host waits for nobody. */
PHX_TEST(case_18, last_messages_arrive_though_datagrams_are_lost) {
    static UdpMatch match;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        DriverConfig config = driver_config(UDP_PEERS, 25);
        config.host.referee = true;
        config.seed = 1800 + seed;
        udp_begin(&match, &config, 4096, 160);
        udp_run(&match);
        check_finished(&match.driver, 25);
        for (uint32_t i = 0; i < UDP_PEERS; i++) CHECK(match.forwarders[i].lost > 0);
        udp_end(&match);
    }
}

/* Case 19 (enet 218): a slow client with a long reliable queue slows the server down. What the host sends to
 * a link is counted; one peer stops taking anything in while the match runs. */
typedef struct Counting {
    PhxTransport inner;
    uint64_t sent[16], bytes[16];
} Counting;

static void counting_send(void *user, uint64_t now, uint32_t link, const uint8_t *data, size_t size) {
    Counting *counting = user;
    CHECK(link < 16);
    counting->sent[link]++;
    counting->bytes[link] += size;
    counting->inner.send(counting->inner.user, now, link, data, size);
}
static PhxTransportEventType counting_poll(void *user, uint64_t now, PhxTransportEvent *out) {
    const Counting *counting = user;
    return counting->inner.poll(counting->inner.user, now, out);
}
static void counting_flush(void *user, uint64_t now) {
    const Counting *counting = user;
    counting->inner.flush(counting->inner.user, now);
}
static void counting_close(void *user, uint64_t now, uint32_t link) {
    const Counting *counting = user;
    counting->inner.close(counting->inner.user, now, link);
}

enum { SLOW = 3, STOPS_AT = 100, PLAYERS = 4, DROP_SECONDS = 20 };

static bool stops(void *user, uint32_t side, uint32_t ticks) {
    return user != NULL && side == SLOW && ticks >= STOPS_AT;
}

/* Plays to the end; returns the virtual time. */
static uint64_t play_counted(bool slow, Counting *counting, uint32_t ticks) {
    static Driver driver;
    static int yes;
    DriverConfig config = driver_config(PLAYERS, ticks);
    PhxError error = {0};
    config.is_dead = stops;
    config.hook_user = slow ? &yes : NULL;
    config.turn_us = 50000;
    config.host.times = (PhxNetTimes){.drop_ms = DROP_SECONDS * 1000, .silence_ms = 60000};
    driver_create(&driver, &config);
    phx_host_destroy(driver.host);
    *counting = (Counting){.inner = driver.transports[0]};
    const PhxTransport transport = {.send = counting_send,
                                    .poll = counting_poll,
                                    .flush = counting_flush,
                                    .close = counting_close,
                                    .user = counting};
    CHECK_OK(phx_host_create(&driver.config.host, transport, phx_allocator_default(), &driver.host, &error));
    driver_run(&driver);
    for (uint32_t i = 0; i < PLAYERS; i++)
        if (!slow || i != SLOW) CHECK_EQ(driver.sides[i].ticks, ticks);
    CHECK_EQ(driver.sides[0].seen[PHX_NET_EVENT_LEFT], slow);
    const uint64_t took = driver.now;
    driver_destroy(&driver);
    return took;
}

PHX_TEST(case_19, a_peer_that_takes_nothing_in_costs_the_host_little_and_the_others_nothing) {
    enum { TICKS = 400 };
    Counting healthy, slow;
    const uint64_t fast = play_counted(false, &healthy, TICKS), late = play_counted(true, &slow, TICKS);
    const uint64_t waited = (late - fast) / 1000000;
    CHECK_THAT(waited >= DROP_SECONDS - 2 && waited <= DROP_SECONDS + 2, "waited %" PRIu64 " s", waited);
    /* While it waits, the host sends into the silence far less than it would to one that listens; the others
     * hear from it now and then that it waits, and else nothing that they would not have heard. */
    CHECK_THAT(slow.sent[SLOW] < healthy.sent[SLOW] && slow.bytes[SLOW] < healthy.bytes[SLOW],
               "%" PRIu64 " datagrams, %" PRIu64 " without the trouble", slow.sent[SLOW], healthy.sent[SLOW]);
    for (uint32_t link = 0; link < PLAYERS - 1; link++)
        CHECK_THAT(slow.sent[link] <= healthy.sent[link] + 8 * waited, "link %u: %" PRIu64 ", %" PRIu64, link,
                   slow.sent[link], healthy.sent[link]);
}

/* Case 32 (OpenFrontIO 3959): a forged hash branded both players of a duel. Without a majority nobody is
 * blamed, and what each side said is kept; the match computed from its commands says who was right. With a
 * referee the one who forged stands alone. */
enum { FORGED_AT = 40, DUEL_TICKS = 90 };

static void forge_once(void *user, uint32_t side, uint32_t tick, uint64_t *root, uint64_t *tables) {
    if (side != *(const uint32_t *)user || tick != FORGED_AT) return;
    *root ^= 1;
    tables[2] ^= 1;
}

static void check_duel(Driver *driver, uint32_t forger, bool referee) {
    const uint32_t sides = 3u | (referee ? PHX_NET_REFEREE_BIT : 0),
                   forger_bit = forger < 2 ? UINT32_C(1) << forger : PHX_NET_REFEREE_BIT;
    uint64_t *oracle = driver_oracle(driver, DUEL_TICKS);
    const uint32_t hearers[] = {0, 1, PHX_NET_PLAYERS_MAX};
    for (int i = 0; i < 3; i++) {
        const PhxNetEvent *event = &driver->sides[hearers[i]].last[PHX_NET_EVENT_DESYNC];
        CHECK_EQ(driver->sides[hearers[i]].seen[PHX_NET_EVENT_DESYNC], 1);
        CHECK_EQ(event->tick, FORGED_AT);
        CHECK_EQ(event->mask, sides);
        CHECK_EQ(phx_net_majority(event), referee ? sides & ~forger_bit : 0);
        for (uint32_t side = 0; side <= PHX_NET_PLAYERS_MAX; side++) {
            const uint32_t bit = side < PHX_NET_PLAYERS_MAX ? UINT32_C(1) << side : PHX_NET_REFEREE_BIT;
            if ((sides & bit) == 0) continue;
            CHECK_THAT(event->root[side] == (oracle[FORGED_AT] ^ (bit == forger_bit)), "side %u of %u", side,
                       forger);
        }
        CHECK_EQ(driver->sides[hearers[i]].seen[PHX_NET_EVENT_LEFT], 0);
    }
    free(oracle);
}

PHX_TEST(case_32, a_forged_hash_in_a_duel_blames_nobody_and_keeps_what_both_said) {
    for (uint32_t variant = 0; variant < 5; variant++) {
        static Driver driver;
        uint32_t forger = variant < 4 ? variant % 2 : PHX_NET_PLAYERS_MAX;
        const bool referee = variant >= 2;
        DriverConfig config = driver_config(2, DUEL_TICKS);
        config.host.referee = referee;
        config.before_report = forge_once;
        config.hook_user = &forger;
        config.seed = 3200 + variant;
        driver_create(&driver, &config);
        driver_run(&driver);
        check_duel(&driver, forger, referee);
        driver_destroy(&driver);
    }
}
