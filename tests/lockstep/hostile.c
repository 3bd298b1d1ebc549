/* hostile.c: the handshake's refusals, and sides that say anything at all: a host and a peer survive, name
 * what is wrong, and a match goes on for the others. */
#include "driver.h"
#include "script.h"

/* ---- handshake ---- */

static PhxNetEvent last_event(PhxPeer *peer, PhxHost *host, PhxNetEventType type, bool of_host) {
    PhxNetEvent event, found = {0};
    while (of_host ? phx_host_poll(host, &event) : phx_peer_poll(peer, &event))
        if (event.type == type) found = event;
    return found;
}

PHX_TEST(handshake, names_the_one_thing_that_differs_on_both_sides) {
    static const char *const names[] = {"simulation revision", "schema hash", "content hash",
                                        "settings hash"};
    for (uint32_t i = 0; i < 4; i++) {
        PhxTransport transports[2];
        PhxHost *host;
        PhxPeer *peer;
        CHECK_OK(phx_loopback_create(phx_allocator_default(), 2, transports));
        PhxHostConfig host_config = phx_host_config_default();
        PhxPeerConfig peer_config = phx_peer_config_default();
        host_config.contract = peer_config.contract = (PhxNetContract){1, 2, 3, 4};
        if (i == 0) peer_config.contract.revision = 8;
        if (i == 1) peer_config.contract.schema = 0xabc;
        if (i == 2) peer_config.contract.content = 0xabc;
        if (i >= 1) peer_config.contract.settings = 0xdef; /* a second difference: the first is named */
        CHECK_OK(phx_host_create(&host_config, transports[0], phx_allocator_default(), &host, NULL));
        CHECK_OK(phx_peer_create(&peer_config, transports[1], phx_allocator_default(), &peer, NULL));
        uint64_t now = 0;
        for (; now < 3000000 && phx_peer_stage(peer) != PHX_NET_STAGE_ENDED; now += 10000) {
            phx_peer_update(peer, now);
            phx_host_update(host, now);
        }
        CHECK_EQ(phx_peer_stage(peer), PHX_NET_STAGE_ENDED);
        const PhxNetEvent told = last_event(peer, host, PHX_NET_EVENT_REFUSED, false);
        const PhxNetEvent seen = last_event(peer, host, PHX_NET_EVENT_REFUSED, true);
        CHECK_THAT(strncmp(told.text, names[i], strlen(names[i])) == 0, "%s: '%s'", names[i], told.text);
        CHECK_STR(seen.text, told.text);
        CHECK_EQ(told.status, i == 0 ? PHX_ERROR_VERSION : PHX_ERROR_MISMATCH);
        CHECK(strstr(told.text, i == 0   ? "host 1, peer 8"
                                : i == 3 ? "host 0000000000000004, peer 0000000000000def"
                                         : "peer 0000000000000abc"));
        CHECK_EQ(phx_host_players(host), 0);
        phx_peer_destroy(peer);
        phx_host_destroy(host);
        phx_transport_destroy(&transports[0]);
        phx_transport_destroy(&transports[1]);
    }
}

/* ---- raw sides ---- */

/* One block, used again and again: thousands of machines are made here, and fresh pages would cost most of
 * the time. */
static void *block_allocate(void *user, size_t size) {
    (void)user;
    static _Alignas(64) uint8_t block[1 << 23];
    return size <= sizeof block ? block : NULL;
}
static void block_release(void *user, void *memory, size_t size) {
    (void)user;
    (void)memory;
    (void)size;
}
static PhxAllocator block_allocator(void) {
    return (PhxAllocator){.allocate = block_allocate, .release = block_release};
}

typedef struct Bench {
    Script script;
    RawSide raw[3];
    PhxHost *host;
    PhxPeer *peer;
    uint64_t now;
} Bench;

static void exchange(Bench *bench, uint32_t raws, uint32_t steps) {
    for (uint32_t step = 0; step < steps; step++) {
        bench->now += 20000;
        for (uint32_t i = 0; i < raws; i++) raw_send(&bench->raw[i], &bench->script, bench->now);
        if (bench->host) phx_host_update(bench->host, bench->now);
        if (bench->peer) phx_peer_update(bench->peer, bench->now);
        ScriptItem item;
        while (script_take(&bench->script.out, &item))
            for (uint32_t i = 0; i < raws; i++)
                if (bench->raw[i].number == item.link)
                    (void)phx_link_receive(&bench->raw[i].link, bench->now, item.data, item.size);
    }
}

static void bench_host(Bench *bench, uint32_t players) {
    PhxHostConfig config = phx_host_config_default();
    config.contract = (PhxNetContract){1, 2, 3, 4};
    config.players = players;
    memset(&bench->script, 0, sizeof bench->script);
    bench->now = 1000;
    CHECK_OK(
        phx_host_create(&config, script_transport(&bench->script), block_allocator(), &bench->host, NULL));
}

PHX_TEST(handshake, refuses_another_protocol_a_full_lobby_and_a_running_match) {
    static Bench bench;
    bench_host(&bench, 2);
    const PhxNetContract contract = {1, 2, 3, 4};
    PhxMessage hello = script_hello(&contract);
    for (uint32_t i = 0; i < 3; i++) raw_connect(&bench.raw[i], &bench.script, i, bench.now);
    hello.hello.protocol = PHX_NET_PROTOCOL + 5;
    raw_say(&bench.raw[2], &hello);
    exchange(&bench, 3, 2);
    PhxNetEvent event = last_event(NULL, bench.host, PHX_NET_EVENT_REFUSED, true);
    CHECK_STR(event.text, "protocol version differs: host 2, peer 7");
    raw_connect(&bench.raw[2], &bench.script, 2, bench.now);
    hello.hello.protocol = PHX_NET_PROTOCOL;
    hello.hello.wanted_slot = 1;
    raw_say(&bench.raw[0], &hello);
    exchange(&bench, 3, 2);
    raw_say(&bench.raw[2], &hello); /* the same slot */
    exchange(&bench, 3, 2);
    event = last_event(NULL, bench.host, PHX_NET_EVENT_REFUSED, true);
    CHECK_STR(event.text, "the wanted slot is taken or doesn't exist");
    CHECK_EQ(phx_host_players(bench.host), 2);
    hello.hello.wanted_slot = PHX_NET_NO_SLOT;
    raw_say(&bench.raw[1], &hello);
    exchange(&bench, 3, 2);
    CHECK_EQ(phx_host_players(bench.host), 3);
    raw_connect(&bench.raw[2], &bench.script, 2, bench.now);
    raw_say(&bench.raw[2], &hello);
    exchange(&bench, 3, 2);
    event = last_event(NULL, bench.host, PHX_NET_EVENT_REFUSED, true);
    CHECK_STR(event.text, "the match has begun");
    phx_host_destroy(bench.host);
    bench.host = NULL;
}

PHX_TEST(handshake, a_slot_of_the_lobby_is_freed_and_taken_again) {
    static Bench bench;
    PhxMessage hello = script_hello(&(PhxNetContract){1, 2, 3, 4}), left = {0};
    bench_host(&bench, 3);
    for (uint32_t i = 0; i < 2; i++) {
        raw_connect(&bench.raw[i], &bench.script, i, bench.now);
        raw_say(&bench.raw[i], &hello);
        exchange(&bench, 2, 2);
    }
    CHECK_EQ(phx_host_players(bench.host), 3);
    CHECK_STR(phx_host_player_name(bench.host, 0), "raw");
    script_put(&bench.script.in, PHX_TRANSPORT_LOST, 0, NULL, 0);
    exchange(&bench, 2, 2);
    CHECK_EQ(phx_host_players(bench.host), 2);
    CHECK_STR(phx_host_player_name(bench.host, 0), "");
    CHECK_EQ(last_event(NULL, bench.host, PHX_NET_EVENT_LEFT, true).reason, PHX_NET_REASON_LOST);
    (void)raw_receive(&bench.raw[1], &bench.script, bench.now, &left, PHX_MESSAGE_LEFT);
    CHECK(left.left.slot == 0 && left.left.reason == PHX_NET_REASON_LOST);
    raw_connect(&bench.raw[0], &bench.script, 0, bench.now);
    raw_say(&bench.raw[0], &hello);
    exchange(&bench, 2, 2);
    CHECK_EQ(phx_host_players(bench.host), 3);
    CHECK_OK(phx_host_drop(bench.host, 1, PHX_NET_REASON_TIMEOUT));
    CHECK_EQ(phx_host_drop(bench.host, 2, PHX_NET_REASON_TIMEOUT), PHX_ERROR_NOT_FOUND);
    CHECK_EQ(phx_host_players(bench.host), 1);
    /* An end before the beginning tells everybody; those who don't answer are let go after their limit. */
    phx_host_end(bench.host, 0);
    exchange(&bench, 2, 2);
    CHECK_EQ(phx_host_stage(bench.host), PHX_NET_STAGE_ENDING);
    bench.now += 10000000;
    exchange(&bench, 0, 2);
    CHECK_EQ(phx_host_stage(bench.host), PHX_NET_STAGE_ENDED);
    phx_host_destroy(bench.host);
    bench.host = NULL;
}

/* A host with a match of one raw player that has started. */
static void start_raw_match(Bench *bench) {
    const PhxNetContract contract = {1, 2, 3, 4};
    const PhxMessage hello = script_hello(&contract), ready = {.type = PHX_MESSAGE_READY};
    bench_host(bench, 1);
    raw_connect(&bench->raw[0], &bench->script, 0, bench->now);
    raw_say(&bench->raw[0], &hello);
    raw_say(&bench->raw[0], &ready);
    exchange(bench, 1, 2);
    CHECK_EQ(phx_host_stage(bench->host), PHX_NET_STAGE_RUNNING);
}

/* A peer whose raw host has started the match. */
static void start_raw_host(Bench *bench, const ScriptSample *sample) {
    PhxPeerConfig config = phx_peer_config_default();
    memset(&bench->script, 0, sizeof bench->script);
    bench->now = 1000;
    CHECK_OK(
        phx_peer_create(&config, script_transport(&bench->script), block_allocator(), &bench->peer, NULL));
    raw_connect(&bench->raw[0], &bench->script, 0, bench->now);
    raw_say(&bench->raw[0], &sample->messages[PHX_MESSAGE_WELCOME]);
    raw_say(&bench->raw[0], &sample->messages[PHX_MESSAGE_LOAD]);
    raw_say(&bench->raw[0], &sample->messages[PHX_MESSAGE_START]);
    exchange(bench, 1, 2);
    CHECK_EQ(phx_peer_stage(bench->peer), PHX_NET_STAGE_RUNNING);
}

/* Says a valid message, cut or flipped, with a right checksum; returns whether the machine still lives. */
static void say_spoiled(Bench *bench, const PhxMessage *message, uint32_t variant, uint64_t *seed) {
    uint8_t bytes[700];
    PhxWriter writer = phx_writer_make(bytes, sizeof bytes);
    phx_message_encode(&writer, message);
    size_t size = writer.at;
    if (variant < size && variant != 0)
        size = variant;
    else if (variant != 0)
        for (int64_t flips = test_range(seed, 1, 3); flips > 0; flips--)
            bytes[test_random(seed) % size] ^= (uint8_t)(1u << test_random(seed) % 8);
    CHECK(phx_link_write(&bench->raw[0].link, bytes, size));
}

PHX_TEST(hostile, no_message_cut_or_flipped_harms_a_host_or_a_peer) {
    static Bench bench;
    static ScriptSample sample;
    script_samples(&sample, 0);
    uint64_t seed = 12;
    uint32_t faults = 0;
    const bool is_long = getenv("PHX_LONG") != NULL;
    for (uint32_t type = 1; type < PHX_MESSAGE_COUNT; type++) {
        uint8_t bytes[700];
        PhxWriter writer = phx_writer_make(bytes, sizeof bytes);
        phx_message_encode(&writer, &sample.messages[type]);
        for (uint32_t variant = 0; variant < writer.at + (is_long ? 600 : 40); variant++) {
            start_raw_match(&bench);
            say_spoiled(&bench, &sample.messages[type], variant, &seed);
            exchange(&bench, 1, 2);
            faults += phx_host_players(bench.host) == 0;
            phx_host_destroy(bench.host);
            bench.host = NULL;
            start_raw_host(&bench, &sample);
            say_spoiled(&bench, &sample.messages[type], variant, &seed);
            exchange(&bench, 1, 2);
            PhxTurn turn;
            while (phx_peer_next_turn(bench.peer, &turn)) CHECK(turn.count <= PHX_WIRE_COMMANDS_MAX);
            faults += phx_peer_stage(bench.peer) >= PHX_NET_STAGE_ENDING;
            phx_peer_destroy(bench.peer);
            bench.peer = NULL;
        }
    }
    CHECK(faults > 500);
}

/* ---- spoiled datagrams in a running match ---- */

typedef struct Spoiler {
    PhxTransport inner;
    uint64_t seed;
    uint32_t *spoiled;
} Spoiler;

/* Sends the datagram and, beside it, one copy cut somewhere and one with flipped bits. */
static void spoiler_send(void *user, uint64_t now, uint32_t link, const uint8_t *data, size_t size) {
    Spoiler *spoiler = user;
    uint8_t copy[PHX_NET_DATAGRAM_MAX];
    spoiler->inner.send(spoiler->inner.user, now, link, data, test_random(&spoiler->seed) % size);
    memcpy(copy, data, size);
    for (int64_t flips = test_range(&spoiler->seed, 1, 3); flips > 0; flips--)
        copy[test_random(&spoiler->seed) % size] ^= (uint8_t)(1u << test_random(&spoiler->seed) % 8);
    if (memcmp(copy, data, size) != 0) spoiler->inner.send(spoiler->inner.user, now, link, copy, size);
    spoiler->inner.send(spoiler->inner.user, now, link, data, size);
    ++*spoiler->spoiled;
}
static PhxTransportEventType spoiler_poll(void *user, uint64_t now, PhxTransportEvent *out) {
    return ((Spoiler *)user)->inner.poll(((Spoiler *)user)->inner.user, now, out);
}
static void spoiler_flush(void *user, uint64_t now) {
    ((Spoiler *)user)->inner.flush(((Spoiler *)user)->inner.user, now);
}
static void spoiler_close(void *user, uint64_t now, uint32_t link) {
    ((Spoiler *)user)->inner.close(((Spoiler *)user)->inner.user, now, link);
}

PHX_TEST(hostile, a_match_goes_on_among_cut_and_flipped_datagrams) {
    enum { PLAYERS = 3, TICKS = 2500 };
    Driver driver;
    DriverConfig config = driver_config(PLAYERS, TICKS);
    static Spoiler spoilers[PLAYERS + 1];
    PhxTransport originals[PLAYERS + 1];
    uint32_t spoiled = 0;
    config.host.referee = true;
    driver_create(&driver, &config);
    /* The machines hold copies of the transports: put the spoilers under new ones. */
    phx_host_destroy(driver.host);
    for (uint32_t i = 0; i <= PLAYERS; i++) {
        originals[i] = driver.transports[i];
        spoilers[i] = (Spoiler){.inner = originals[i], .seed = i + 1, .spoiled = &spoiled};
        const PhxTransport spoiling = {.send = spoiler_send,
                                       .poll = spoiler_poll,
                                       .flush = spoiler_flush,
                                       .close = spoiler_close,
                                       .user = &spoilers[i]};
        if (i == 0) {
            CHECK_OK(
                phx_host_create(&driver.config.host, spoiling, phx_allocator_default(), &driver.host, NULL));
            continue;
        }
        PhxPeerConfig peer = phx_peer_config_default();
        phx_peer_destroy(driver.sides[i - 1].peer);
        peer.contract = config.host.contract;
        peer.wanted_slot = (uint8_t)(i - 1);
        CHECK_OK(phx_peer_create(&peer, spoiling, phx_allocator_default(), &driver.sides[i - 1].peer, NULL));
    }
    driver_run(&driver);
    uint64_t *oracle = driver_oracle(&driver, TICKS);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        PhxNetStatistics statistics;
        phx_peer_statistics(driver.sides[i].peer, &statistics);
        CHECK(statistics.packets_bad > 1000);
        CHECK_EQ(driver.sides[i].last[PHX_NET_EVENT_ENDED].agreed_ticks, TICKS);
        for (uint32_t tick = 0; tick < TICKS; tick++) CHECK(driver.sides[i].roots[tick] == oracle[tick]);
    }
    CHECK(spoiled * 2 > 10000);
    free(oracle);
    driver_destroy(&driver);
}

/* One of three breaks the protocol in the middle of the match: it alone goes, and the tables of waiting are
 * kept. */
PHX_TEST(hostile, the_others_play_on_when_one_breaks_the_protocol) {
    static Bench bench;
    PhxMessage hello = script_hello(&(PhxNetContract){1, 2, 3, 4}), ready = {.type = PHX_MESSAGE_READY};
    bench_host(&bench, 2);
    for (uint32_t i = 0; i < 2; i++) {
        raw_connect(&bench.raw[i], &bench.script, i, bench.now);
        raw_say(&bench.raw[i], &hello);
        raw_say(&bench.raw[i], &ready);
    }
    exchange(&bench, 2, 3);
    CHECK_EQ(phx_host_stage(bench.host), PHX_NET_STAGE_RUNNING);
    /* Player 0 states hashes of ticks that nobody can have executed. */
    uint8_t values[8] = {1};
    PhxMessage hashes = {.type = PHX_MESSAGE_HASHES}, input = {.type = PHX_MESSAGE_INPUT};
    hashes.hashes.first_tick = 0;
    hashes.hashes.roots = (PhxU64s){values, 1};
    for (uint32_t i = 0; i < 3; i++, hashes.hashes.first_tick++) raw_say(&bench.raw[0], &hashes);
    exchange(&bench, 2, 3);
    CHECK_EQ(phx_host_players(bench.host), 2);
    for (input.input.turn = 2; input.input.turn < 4; input.input.turn++) raw_say(&bench.raw[1], &input);
    exchange(&bench, 2, 3);
    PhxNetEvent event = last_event(NULL, bench.host, PHX_NET_EVENT_LEFT, true);
    CHECK(event.slot == 0 && event.reason == PHX_NET_REASON_FAULT && event.turn == 2);
    CHECK_EQ(phx_host_stage(bench.host), PHX_NET_STAGE_RUNNING);
    PhxMessage turn = {0};
    exchange(&bench, 2, 3);
    (void)raw_receive(&bench.raw[1], &bench.script, bench.now, &turn, PHX_MESSAGE_TURN);
    CHECK_EQ(turn.turn.turn, 3);
    phx_host_destroy(bench.host);
    bench.host = NULL;
}

/* ---- limits of waiting before the match ---- */

PHX_TEST(limits, every_stage_before_the_match_ends_by_itself) {
    static Bench bench;
    bench_host(&bench, 2);
    raw_connect(&bench.raw[0], &bench.script, 0, bench.now);
    raw_connect(&bench.raw[1], &bench.script, 40, bench.now); /* a link beyond those that there are */
    exchange(&bench, 1, 2);
    bench.now += 10000000; /* HELLO never comes */
    exchange(&bench, 0, 1);
    CHECK_EQ(bench.script.closed & 1, 1);
    bench.now += 600000000; /* nobody joins */
    exchange(&bench, 0, 2);
    CHECK_EQ(phx_host_stage(bench.host), PHX_NET_STAGE_ENDED);
    PhxNetEvent event = last_event(NULL, bench.host, PHX_NET_EVENT_ENDED, true);
    CHECK_EQ(event.reason, PHX_NET_REASON_TIMEOUT);
    phx_host_destroy(bench.host);
    bench.host = NULL;
    /* A peer whose host doesn't answer, and one whose host falls silent. */
    static ScriptSample sample;
    script_samples(&sample, 0);
    for (uint32_t i = 0; i < 2; i++) {
        if (i == 0) {
            PhxPeerConfig config = phx_peer_config_default();
            memset(&bench.script, 0, sizeof bench.script);
            CHECK_OK(phx_peer_create(&config, script_transport(&bench.script), phx_allocator_default(),
                                     &bench.peer, NULL));
            script_put(&bench.script.in, PHX_TRANSPORT_CONNECTED, 0, NULL, 0);
            exchange(&bench, 0, 2);
        } else {
            start_raw_host(&bench, &sample);
        }
        bench.now += 10000000;
        exchange(&bench, 0, 1);
        bench.now += 2000000;
        exchange(&bench, 0, 1);
        CHECK_EQ(phx_peer_stage(bench.peer), PHX_NET_STAGE_ENDED);
        event = last_event(bench.peer, NULL, PHX_NET_EVENT_ENDED, false);
        CHECK_EQ(event.reason, i == 0 ? PHX_NET_REASON_TIMEOUT : PHX_NET_REASON_LOST);
        CHECK_STR(event.text, i == 0 ? "no host answers" : "the host is silent");
        phx_peer_destroy(bench.peer);
        bench.peer = NULL;
    }
}

PHX_TEST(limits, wrong_arguments_are_refused_by_name) {
    PhxError error = {0};
    Script script = {0};
    PhxHost *host;
    PhxHostConfig config = phx_host_config_default();
    config.players = 17;
    CHECK_EQ(phx_host_create(&config, script_transport(&script), phx_allocator_default(), &host, &error),
             PHX_ERROR_ARGUMENT);
    CHECK_STR(error.text, "players is 17, not in 1..16");
    config = phx_host_config_default();
    config.own_slot = 0;
    CHECK_EQ(phx_host_create(&config, script_transport(&script), phx_allocator_default(), &host, &error),
             PHX_ERROR_ARGUMENT);
    CHECK(host == NULL && strstr(error.text, "referee"));
}
