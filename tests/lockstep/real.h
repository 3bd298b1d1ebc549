/* real.h: the real simulation as the driver's: eight players with a few units each on a small map with walls.
 */
#ifndef PHX_TESTS_LOCKSTEP_REAL_H
#define PHX_TESTS_LOCKSTEP_REAL_H

#include <phalanx/command.h>
#include <phalanx/content.h>

#include "driver.h"
#include "step/sim_internal.h"

enum { PLAYERS = 8, UNITS_EACH = 4, SIDE = 40 };

_Static_assert((int)PHX_COMMAND_SIZE_LIMIT <= (int)PHX_NET_COMMAND_MAX,
               "any command of the sim fits into a message");
_Static_assert((int)PHX_SLOT_HOST == (int)PHX_NET_HOST_SLOT, "one number for the host's slot");
_Static_assert((int)PHX_PLAYER_LIMIT == (int)PHX_NET_PLAYERS_MAX, "as many slots here as there");

typedef struct Content {
    uint8_t *blob;
    size_t size;
} Content;

static inline Content make_content(void) {
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

static inline void *real_create(void *user) {
    const Content *content = user;
    PhxSim *sim;
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, content->blob, content->size, NULL, &sim, NULL));
    return sim;
}

static inline uint64_t real_step(void *world, uint32_t tick, const PhxNetCommand *commands, uint32_t count,
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

static inline void real_destroy(void *world) { phx_sim_destroy(world); }

/* Moves of some of the player's units, which are every eighth slot from its own on. */
static inline size_t real_command(void *user, uint8_t slot, uint64_t *seed, uint8_t *out, size_t capacity) {
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

static inline bool real_valid(void *user, uint8_t slot, const uint8_t *bytes, size_t size) {
    (void)user;
    return phx_command_check(bytes, size, slot, NULL) == PHX_OK;
}

static inline size_t real_leave(void *user, uint8_t slot, PhxNetReason reason, uint8_t *out,
                                size_t capacity) {
    const PhxCommandData leave = {.type = PHX_COMMAND_LEAVE, .slot = slot};
    size_t size = 0;
    (void)user, (void)reason;
    return phx_command_encode(&leave, out, capacity, &size) == PHX_OK ? size : 0;
}

#endif
