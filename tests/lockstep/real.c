/* real.c: the real simulation over the bad network: eight peers and a referee in one process, ten thousand
 * ticks with 10% loss, 50 to 250 ms delay, duplicates and reordering; each root of each side equals a direct
 * computation from the commands alone. And a peer whose state is changed behind its back is named, with tick
 * and table, at every side.
 */
#include <phalanx/command.h>
#include <phalanx/content.h>

#include "driver.h"
#include "step/sim_internal.h"

enum { PLAYERS = 8, UNITS_EACH = 4, SIDE = 40, REAL_TICKS = 10000 };

_Static_assert((int)PHX_COMMAND_SIZE_LIMIT <= (int)PHX_NET_COMMAND_MAX,
               "any command of the sim fits into a message");
_Static_assert((int)PHX_SLOT_HOST == (int)PHX_NET_HOST_SLOT, "one number for the host's slot");
_Static_assert((int)PHX_PLAYER_LIMIT == (int)PHX_NET_PLAYERS_MAX, "as many slots here as there");

typedef struct Content {
    uint8_t *blob;
    size_t size;
} Content;

static Content make_content(void) {
    const PhxSettings settings = {11, 20, 1, 8};
    PhxUnitTypeDef def = phx_content_unit_type_default();
    PhxContentBuilder *builder;
    uint8_t cost[SIDE * SIDE];
    uint64_t seed = 21;
    uint16_t type;
    Content content;
    def.name = "footman";
    for (int c = 0; c < SIDE * SIDE; c++) cost[c] = test_random(&seed) % 12 == 0 ? 255 : 1;
    CHECK_OK(phx_content_begin(&settings, SIDE, SIDE, cost, PLAYERS * UNITS_EACH, 32, &builder, NULL));
    CHECK_OK(phx_content_add_unit_type(builder, &def, &type, NULL));
    for (uint8_t player = 0; player < PLAYERS; player++)
        CHECK_OK(phx_content_add_player(builder, "p", player, NULL));
    for (int placed = 0; placed < PLAYERS * UNITS_EACH;) {
        const fix16_t x = (fix16_t)test_range(&seed, 0, SIDE << 16),
                      y = (fix16_t)test_range(&seed, 0, SIDE << 16);
        placed += phx_content_add_unit(builder, type, (uint8_t)(placed % PLAYERS), x, y, 0, NULL) == PHX_OK;
    }
    content.size = phx_content_size(builder);
    content.blob = malloc(content.size);
    CHECK_OK(phx_content_write(builder, content.blob, content.size, &content.size));
    phx_content_end(builder);
    return content;
}

static void *real_create(void *user) {
    const Content *content = user;
    PhxSim *sim;
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, content->blob, content->size, NULL, &sim, NULL));
    return sim;
}

static uint64_t real_step(void *world, uint32_t tick, const PhxNetCommand *commands, uint32_t count,
                          uint64_t *tables, uint32_t *table_count) {
    PhxCommand ordered[256];
    PhxSim *sim = world;
    CHECK(count <= 256);
    CHECK_EQ(phx_sim_tick(sim), tick);
    for (uint32_t i = 0; i < count; i++)
        ordered[i] =
            (PhxCommand){commands[i].slot, commands[i].sequence, commands[i].size, commands[i].bytes};
    CHECK_OK(phx_sim_step(sim, ordered, count));
    *table_count = phx_sim_table_count(sim);
    memcpy(tables, phx_sim_table_hashes(sim), *table_count * sizeof *tables);
    return phx_sim_root(sim);
}

static void real_destroy(void *world) { phx_sim_destroy(world); }

/* Moves of some of the player's units, which are every eighth slot from its own on. */
static size_t real_command(void *user, uint8_t slot, uint64_t *seed, uint8_t *out, size_t capacity) {
    PhxHandle units[UNITS_EACH];
    PhxCommandData move = {.type = test_random(seed) % 10 ? PHX_COMMAND_MOVE : PHX_COMMAND_STOP,
                           .units = units};
    size_t size;
    (void)user;
    for (uint32_t i = 0; i < UNITS_EACH; i++)
        if (test_random(seed) % 2) units[move.unit_count++] = phx_handle_make(slot + i * PLAYERS, 1);
    move.goal_x = (fix16_t)test_range(seed, 0, SIDE << 16);
    move.goal_y = (fix16_t)test_range(seed, 0, SIDE << 16);
    move.queued = test_random(seed) % 3 == 0;
    CHECK_OK(phx_command_encode(&move, out, capacity, &size));
    return size;
}

static bool real_valid(void *user, uint8_t slot, const uint8_t *bytes, size_t size) {
    (void)user;
    return phx_command_check(bytes, size, slot, NULL) == PHX_OK;
}

static size_t real_leave(void *user, uint8_t slot, PhxNetReason reason, uint8_t *out, size_t capacity) {
    const PhxCommandData leave = {.type = PHX_COMMAND_LEAVE, .slot = slot};
    size_t size = 0;
    (void)user, (void)reason;
    return phx_command_encode(&leave, out, capacity, &size) == PHX_OK ? size : 0;
}

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
    DriverConfig config = real_config(&content, REAL_TICKS);
    Driver driver;
    driver_create(&driver, &config);
    driver_run(&driver);
    uint64_t *oracle = driver_oracle(&driver, REAL_TICKS), agreed;
    for (uint32_t i = 0; i < DRIVER_SIDES_MAX; i++) {
        const DriverSide *side = &driver.sides[i];
        if (!side->world) continue;
        CHECK_EQ(side->ticks, REAL_TICKS);
        CHECK_EQ(side->seen[PHX_NET_EVENT_DESYNC], 0);
        for (uint32_t tick = 0; tick < REAL_TICKS; tick++)
            CHECK_THAT(side->roots[tick] == oracle[tick], "side %u tick %u", i, tick);
    }
    CHECK_EQ(phx_host_agreed(driver.host, &agreed), REAL_TICKS);
    CHECK(agreed == oracle[REAL_TICKS - 1]);
    CHECK(driver.submitted_count > 1000);
    const PhxSim *sim = driver.sides[0].world;
    PhxPlayerInfo info;
    CHECK(phx_sim_player(sim, 3, &info) && info.arrived > 20); /* and units did walk */
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
