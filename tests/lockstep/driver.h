/* driver.h: plays a whole match in one process: a host, N peers, any transport, virtual time, any simulation.
 *
 * The simulation is a small table of functions (DriverSim), so that a made-up one and the real one run over
 * the same driver. Peers submit random commands; the driver notes which tick each must be executed on by the
 * rules alone (the turn that was open, plus the delay), so that an oracle can compute the match without any
 * network.
 */
#ifndef PHX_TESTS_LOCKSTEP_DRIVER_H
#define PHX_TESTS_LOCKSTEP_DRIVER_H

#include <phalanx/hash.h>
#include <phalanx/net.h>
#include <stdlib.h>

#include "harness.h"

enum { DRIVER_SIDES_MAX = PHX_NET_PLAYERS_MAX + 1, DRIVER_TABLES_MAX = PHX_NET_TABLES_MAX };

typedef struct Driver Driver;

typedef struct DriverSim {
    void *user;
    void *(*create)(void *user);
    /* Executes one tick; fills the table hashes and their count; returns the root. */
    uint64_t (*step)(void *world, uint32_t tick, const PhxNetCommand *commands, uint32_t count,
                     uint64_t *tables, uint32_t *table_count);
    void (*destroy)(void *world);
    /* A random well-formed command of the slot; returns its size. */
    size_t (*command)(void *user, uint8_t slot, uint64_t *seed, uint8_t *out, size_t capacity);
    PhxNetGame game;
} DriverSim;

typedef struct DriverCommand {
    uint32_t tick, sequence;
    uint8_t slot;
    uint16_t size;
    uint8_t *bytes;
} DriverCommand;

typedef struct DriverConfig {
    DriverSim sim;
    PhxHostConfig host;
    PhxNetTimes peer_times;
    bool faults;
    PhxFaultConfig fault; /* the seed is varied for each endpoint */
    uint64_t seed;
    uint64_t step_us;          /* virtual time between updates */
    uint64_t turn_us;          /* least time between two turns of a side; 0: as fast as they come */
    uint32_t command_permille; /* chance of a command a turn and side */
    uint64_t limit_us;         /* virtual time after which the match counts as hung */
    /* Hooks; may be null. */
    void (*before_report)(void *user, uint32_t side, uint32_t tick, uint64_t *root, uint64_t *tables);
    bool (*is_dead)(void *user, uint32_t side, uint32_t ticks); /* a side that is no longer updated */
    void (*each_step)(void *user, Driver *driver);
    PhxNetTree (*tree)(void *user, uint32_t side); /* a side's answers about its hash tree */
    void *hook_user;
} DriverConfig;

/* One executing side: player i is side i (also when the host plays it), the referee side PHX_NET_PLAYERS_MAX.
 */
typedef struct DriverSide {
    PhxPeer *peer; /* null: the host itself */
    void *world;
    uint32_t turns, ticks; /* taken, executed */
    uint32_t submissions;  /* turns before whose taking commands were submitted */
    uint64_t next_turn_at, seed;
    uint64_t *roots;
    uint64_t commands_hash;                       /* over everything executed: tick, slot, sequence, bytes */
    uint32_t leave_tick[PHX_NET_PLAYERS_MAX + 1]; /* of a leave seen in the host's slot; UINT32_MAX: none */
    PhxNetEvent last[PHX_NET_EVENT_COUNT];        /* the newest of each type, and how many came */
    uint32_t seen[PHX_NET_EVENT_COUNT];
    bool ended;
} DriverSide;

struct Driver {
    DriverConfig config;
    uint64_t now;
    PhxTransport transports[DRIVER_SIDES_MAX]; /* 0: the host's */
    uint32_t transport_count;
    PhxHost *host;
    DriverSide sides[DRIVER_SIDES_MAX]; /* events of the host go to the referee's entry */
    DriverCommand *submitted;
    uint32_t submitted_count, submitted_capacity;
    uint32_t root_capacity;
    uint64_t trace; /* hash over every event of every side, with its time */
};

static inline void driver_trace(Driver *driver, const void *data, size_t size) {
    const uint64_t pair[2] = {driver->trace, phx_hash_bytes(data, size)};
    driver->trace = phx_hash_bytes(pair, sizeof pair);
}

static inline void driver_event(Driver *driver, uint32_t side, const PhxNetEvent *event) {
    const uint64_t words[] = {driver->now,       side,
                              event->type,       (uint64_t)event->reason,
                              event->slot,       event->table,
                              event->turn,       event->tick,
                              event->mask,       event->elapsed_ms,
                              event->value,      event->agreed_ticks,
                              event->agreed_root};
    driver_trace(driver, words, sizeof words);
    driver_trace(driver, event->text, strlen(event->text));
    driver->sides[side].last[event->type] = *event;
    driver->sides[side].seen[event->type]++;
    if (event->type == PHX_NET_EVENT_ENDED) driver->sides[side].ended = true;
}

static inline void driver_note(Driver *driver, const DriverCommand *command, const uint8_t *bytes) {
    if (driver->submitted_count == driver->submitted_capacity) {
        driver->submitted_capacity = driver->submitted_capacity ? driver->submitted_capacity * 2 : 1024;
        driver->submitted =
            realloc(driver->submitted, driver->submitted_capacity * sizeof *driver->submitted);
    }
    DriverCommand *noted = &driver->submitted[driver->submitted_count++];
    *noted = *command;
    noted->bytes = malloc(command->size);
    memcpy(noted->bytes, bytes, command->size);
}

static inline void driver_submit(Driver *driver, uint32_t side) {
    DriverSide *one = &driver->sides[side];
    const DriverSim *sim = &driver->config.sim;
    const PhxHostConfig *host = &driver->config.host;
    while (test_random(&one->seed) % 1000 < driver->config.command_permille) {
        uint8_t bytes[PHX_NET_COMMAND_MAX];
        const uint32_t offset = (uint32_t)(test_random(&one->seed) % host->ticks_per_turn);
        const size_t size = sim->command(sim->user, (uint8_t)side, &one->seed, bytes, sizeof bytes);
        DriverCommand command = {.slot = (uint8_t)side, .size = (uint16_t)size};
        const PhxStatus status =
            one->peer ? phx_peer_submit(one->peer, offset, bytes, size, &command.sequence)
                      : phx_host_submit_own(driver->host, offset, bytes, size, &command.sequence);
        if (status == PHX_ERROR_FULL) return;
        CHECK_OK(status);
        command.tick = (one->turns + host->delay) * host->ticks_per_turn + offset;
        driver_note(driver, &command, bytes);
    }
}

static inline void driver_see_commands(DriverSide *one, const PhxNetCommand *commands, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t words[] = {one->commands_hash, commands[i].tick, commands[i].slot,
                                  commands[i].sequence, phx_hash_bytes(commands[i].bytes, commands[i].size)};
        one->commands_hash = phx_hash_bytes(words, sizeof words);
        if (commands[i].slot == PHX_NET_HOST_SLOT && commands[i].size == 2 && commands[i].bytes[0] == 'L')
            one->leave_tick[commands[i].bytes[1] % (PHX_NET_PLAYERS_MAX + 1)] = commands[i].tick;
    }
}

static inline void driver_execute(Driver *driver, uint32_t side, const PhxTurn *turn) {
    DriverSide *one = &driver->sides[side];
    CHECK_EQ(turn->turn, one->turns);
    for (uint32_t tick = turn->first_tick; tick < turn->first_tick + turn->ticks; tick++) {
        const PhxNetCommand *commands;
        const uint32_t count = phx_turn_commands(turn, tick, &commands);
        uint64_t tables[DRIVER_TABLES_MAX];
        uint32_t table_count = 0;
        CHECK_EQ(tick, one->ticks);
        driver_see_commands(one, commands, count);
        uint64_t root = driver->config.sim.step(one->world, tick, commands, count, tables, &table_count);
        CHECK(one->ticks < driver->root_capacity);
        one->roots[one->ticks++] = root;
        if (driver->config.before_report)
            driver->config.before_report(driver->config.hook_user, side, tick, &root, tables);
        CHECK_OK(one->peer ? phx_peer_report_hash(one->peer, tick, root, tables, table_count)
                           : phx_host_report_hash(driver->host, tick, root, tables, table_count));
    }
    one->turns++;
}

static inline void driver_play(Driver *driver, uint32_t side) {
    DriverSide *one = &driver->sides[side];
    const bool running = one->peer ? phx_peer_stage(one->peer) >= PHX_NET_STAGE_RUNNING
                                   : phx_host_stage(driver->host) >= PHX_NET_STAGE_RUNNING;
    const bool plays =
        one->peer ? phx_peer_stage(one->peer) == PHX_NET_STAGE_RUNNING
                  : side < PHX_NET_PLAYERS_MAX && phx_host_stage(driver->host) == PHX_NET_STAGE_RUNNING;
    while (running && driver->now >= one->next_turn_at) {
        PhxTurn turn;
        if (plays && one->submissions == one->turns) {
            driver_submit(driver, side);
            one->submissions++;
        }
        if (!(one->peer ? phx_peer_next_turn(one->peer, &turn) : phx_host_next_turn(driver->host, &turn)))
            return;
        driver_execute(driver, side, &turn);
        one->next_turn_at = driver->now + driver->config.turn_us;
    }
}

/* The side that the host executes: its own player, or the referee. */
static inline uint32_t driver_host_side(const Driver *driver) {
    const uint8_t own = driver->config.host.own_slot;
    return own == PHX_NET_NO_SLOT ? PHX_NET_PLAYERS_MAX : own;
}

static inline void driver_create(Driver *driver, const DriverConfig *config) {
    *driver = (Driver){.config = *config};
    const PhxAllocator allocator = phx_allocator_default();
    const uint32_t players = config->host.players, own = config->host.own_slot;
    uint32_t endpoints = 1;
    for (uint32_t i = 0; i < players; i++) endpoints += i != own;
    CHECK_OK(phx_loopback_create(allocator, endpoints, driver->transports));
    driver->transport_count = endpoints;
    for (uint32_t i = 0; i < endpoints && config->faults; i++) {
        PhxFaultConfig fault = config->fault;
        PhxTransport inner = driver->transports[i];
        fault.seed = config->seed * 100 + i;
        CHECK_OK(phx_fault_create(allocator, &fault, inner, &driver->transports[i]));
    }
    driver->config.host.game = config->sim.game;
    if (config->tree) driver->config.host.tree = config->tree(config->hook_user, driver_host_side(driver));
    PhxError error = {0};
    CHECK_OK(phx_host_create(&driver->config.host, driver->transports[0], allocator, &driver->host, &error));
    driver->root_capacity = config->host.final_ticks ? config->host.final_ticks : 100000;
    uint32_t endpoint = 1;
    for (uint32_t i = 0; i < DRIVER_SIDES_MAX; i++) {
        DriverSide *side = &driver->sides[i];
        if (i >= players && i != driver_host_side(driver)) continue;
        for (uint32_t p = 0; p <= PHX_NET_PLAYERS_MAX; p++) side->leave_tick[p] = UINT32_MAX;
        side->world = config->sim.create(config->sim.user);
        side->roots = calloc(driver->root_capacity, sizeof *side->roots);
        side->seed = config->seed * 1000 + i;
        if (i == driver_host_side(driver)) continue;
        PhxPeerConfig peer = phx_peer_config_default();
        peer.contract = config->host.contract;
        peer.game = config->sim.game;
        if (config->tree) peer.tree = config->tree(config->hook_user, i);
        peer.times = config->peer_times;
        peer.wanted_slot = (uint8_t)i;
        snprintf(peer.name, sizeof peer.name, "player %u", i);
        CHECK_OK(phx_peer_create(&peer, driver->transports[endpoint++], allocator, &side->peer, &error));
    }
}

static inline void driver_destroy(Driver *driver) {
    for (uint32_t i = 0; i < DRIVER_SIDES_MAX; i++) {
        phx_peer_destroy(driver->sides[i].peer);
        if (driver->sides[i].world) driver->config.sim.destroy(driver->sides[i].world);
        free(driver->sides[i].roots);
    }
    phx_host_destroy(driver->host);
    for (uint32_t i = 0; i < driver->transport_count; i++) phx_transport_destroy(&driver->transports[i]);
    for (uint32_t i = 0; i < driver->submitted_count; i++) free(driver->submitted[i].bytes);
    free(driver->submitted);
}

static inline bool driver_dead(const Driver *driver, uint32_t side) {
    return driver->config.is_dead &&
           driver->config.is_dead(driver->config.hook_user, side, driver->sides[side].ticks);
}

/* One step of virtual time. False: everything that lives has ended. */
static inline bool driver_step(Driver *driver) {
    const uint32_t host_side = driver_host_side(driver);
    PhxNetEvent event;
    bool alive = false;
    driver->now += driver->config.step_us;
    phx_host_update(driver->host, driver->now);
    while (phx_host_poll(driver->host, &event)) driver_event(driver, host_side, &event);
    if (driver->config.host.referee) driver_play(driver, host_side);
    alive |= phx_host_stage(driver->host) != PHX_NET_STAGE_ENDED;
    for (uint32_t i = 0; i < driver->config.host.players; i++) {
        DriverSide *side = &driver->sides[i];
        if (!side->peer || driver_dead(driver, i)) continue;
        phx_peer_update(side->peer, driver->now);
        while (phx_peer_poll(side->peer, &event)) driver_event(driver, i, &event);
        driver_play(driver, i);
        alive |= phx_peer_stage(side->peer) != PHX_NET_STAGE_ENDED;
    }
    if (driver->config.each_step) driver->config.each_step(driver->config.hook_user, driver);
    return alive;
}

static inline void driver_run(Driver *driver) {
    while (driver_step(driver))
        CHECK_THAT(driver->now < driver->config.limit_us,
                   "seed %" PRIu64 ", host stage %s, ticks of side 0: %u", driver->config.seed,
                   phx_net_stage_name(phx_host_stage(driver->host)), driver->sides[0].ticks);
}

static inline int driver_command_order(const void *left, const void *right) {
    const DriverCommand *a = left, *b = right;
    if (a->tick != b->tick) return a->tick < b->tick ? -1 : 1;
    if (a->slot != b->slot) return a->slot < b->slot ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

/* The root after each tick, from the submitted commands alone: no network. The caller frees. */
static inline uint64_t *driver_oracle(Driver *driver, uint32_t ticks) {
    const DriverSim *sim = &driver->config.sim;
    uint64_t *roots = calloc(ticks, sizeof *roots);
    void *world = sim->create(sim->user);
    PhxNetCommand commands[PHX_NET_PLAYERS_MAX * PHX_NET_TURN_COMMANDS_MAX];
    qsort(driver->submitted, driver->submitted_count, sizeof *driver->submitted, driver_command_order);
    uint32_t at = 0;
    for (uint32_t tick = 0; tick < ticks; tick++) {
        uint32_t count = 0, table_count = 0;
        uint64_t tables[DRIVER_TABLES_MAX];
        for (; at < driver->submitted_count && driver->submitted[at].tick == tick; at++) {
            const DriverCommand *from = &driver->submitted[at];
            commands[count++] = (PhxNetCommand){.tick = tick,
                                                .sequence = from->sequence,
                                                .bytes = from->bytes,
                                                .size = from->size,
                                                .slot = from->slot};
        }
        roots[tick] = sim->step(world, tick, commands, count, tables, &table_count);
    }
    sim->destroy(world);
    return roots;
}

/* ---- the made-up simulation: a hash chain over everything it is given, in four tables ---- */

typedef struct FakeWorld {
    uint64_t tables[4];
} FakeWorld;

static inline void *fake_create(void *user) {
    (void)user;
    return calloc(1, sizeof(FakeWorld));
}

static inline uint64_t fake_step(void *world, uint32_t tick, const PhxNetCommand *commands, uint32_t count,
                                 uint64_t *tables, uint32_t *table_count) {
    FakeWorld *fake = world;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *table = &fake->tables[commands[i].slot % 4];
        const uint64_t words[] = {*table,
                                  tick,
                                  commands[i].tick,
                                  commands[i].slot,
                                  commands[i].sequence,
                                  phx_hash_bytes(commands[i].bytes, commands[i].size)};
        *table = phx_hash_bytes(words, sizeof words);
    }
    fake->tables[tick % 4] += tick;
    memcpy(tables, fake->tables, sizeof fake->tables);
    *table_count = 4;
    return phx_hash_bytes(fake->tables, sizeof fake->tables);
}

static inline size_t fake_command(void *user, uint8_t slot, uint64_t *seed, uint8_t *out, size_t capacity) {
    (void)user;
    (void)capacity;
    /* Mostly short, sometimes far longer than a datagram. */
    const size_t size =
        (size_t)(test_random(seed) % 50 == 0 ? test_range(seed, 1000, 4000) : test_range(seed, 3, 40));
    for (size_t i = 0; i < size; i++) out[i] = (uint8_t)test_random(seed);
    out[0] = 'C';
    out[1] = slot;
    return size;
}

static inline bool fake_valid(void *user, uint8_t slot, const uint8_t *bytes, size_t size) {
    (void)user;
    if (slot == PHX_NET_HOST_SLOT) return size >= 1;
    return size >= 2 && bytes[0] == 'C' && bytes[1] == slot;
}

static inline size_t fake_leave(void *user, uint8_t slot, PhxNetReason reason, uint8_t *out,
                                size_t capacity) {
    (void)user;
    (void)reason;
    if (capacity < 2) return 0;
    out[0] = 'L';
    out[1] = slot;
    return 2;
}

static inline DriverSim fake_sim(void) {
    return (DriverSim){.create = fake_create,
                       .step = fake_step,
                       .destroy = free,
                       .command = fake_command,
                       .game = {.command_valid = fake_valid, .leave_command = fake_leave}};
}

static inline DriverConfig driver_config(uint32_t players, uint32_t ticks) {
    DriverConfig config = {.sim = fake_sim(),
                           .host = phx_host_config_default(),
                           .seed = 1,
                           .step_us = 5000,
                           .command_permille = 300,
                           .limit_us = UINT64_C(3000000000)};
    config.host.players = players;
    config.host.final_ticks = ticks;
    config.host.contract =
        (PhxNetContract){.revision = 3, .schema = 0x1111, .content = 0x2222, .settings = 0x3333};
    return config;
}

#endif
