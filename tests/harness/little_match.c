/* little_match.c: see little_match.h. */
#include "little_match.h"

#include <stdlib.h>

#include "harness.h"

static uint8_t *make_terrain(uint64_t seed, uint32_t side) {
    uint8_t *cost = malloc((size_t)side * side);
    for (uint32_t c = 0; c < side * side; c++) {
        const uint64_t dice = test_random(&seed) % 100;
        cost[c] = dice < 8 ? 255 : dice < 20 ? 3 : 1;
    }
    return cost;
}

uint8_t *little_content(uint64_t seed, uint32_t side, uint32_t units, size_t *size) {
    const PhxSettings settings = {.match_key = seed, .tick_rate = 20, .ticks_per_turn = 2, .input_delay = 2};
    PhxContentBuilder *builder;
    PhxError error = {0};
    uint16_t type[2];
    uint8_t *cost = make_terrain(seed, side);
    CHECK_OK(phx_content_begin(&settings, side, side, cost, 2 * units + 8, 64, &builder, &error));
    free(cost);
    PhxUnitTypeDef def = phx_content_unit_type_default();
    def.name = "footman";
    CHECK_OK(phx_content_add_unit_type(builder, &def, &type[0], &error));
    def.name = "wagon", def.radius = 29491, def.speed = 3 * 65536, def.turn_rate = 16384;
    CHECK_OK(phx_content_add_unit_type(builder, &def, &type[1], &error));
    CHECK_OK(phx_content_add_player(builder, "North", 0, &error));
    CHECK_OK(phx_content_add_player(builder, "South", 1, &error));
    for (uint32_t placed = 0, tries = 0; placed < 2 * units; tries++) {
        CHECK_THAT(tries < 100000, "seed %" PRIu64 ": no place for %u units", seed, units);
        const fix16_t x = (fix16_t)test_range(&seed, 0, (int64_t)side << 16);
        const fix16_t y = (fix16_t)test_range(&seed, 0, (int64_t)side << 16);
        if (phx_content_add_unit(builder, type[placed % 8 == 7], placed & 1, x, y,
                                 (PhxAngle)test_random(&seed), NULL) == PHX_OK)
            placed++;
    }
    *size = phx_content_size(builder);
    uint8_t *blob = malloc(*size);
    CHECK_OK(phx_content_write(builder, blob, *size, size));
    phx_content_end(builder);
    return blob;
}

PhxSim *little_sim(const PhxSimConfig *config, uint64_t seed, uint32_t side, uint32_t units) {
    size_t size;
    PhxSim *sim;
    PhxError error = {0};
    uint8_t *blob = little_content(seed, side, units, &size);
    const PhxStatus status = phx_sim_create(config, blob, size, NULL, &sim, &error);
    CHECK_THAT(status == PHX_OK, "%s", error.text);
    free(blob);
    return sim;
}

static uint32_t random_units(const PhxSim *sim, uint64_t *seed, uint8_t player, PhxHandle *handles) {
    const PhxUnitView units = phx_sim_units(sim);
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < units.used && count < 200; slot++) {
        const uint64_t dice = test_random(seed) % 100;
        /* now and then a foreign unit, or one that never was */
        if (units.player[slot] == player ? dice < 60 : dice < 2)
            handles[count++] = phx_sim_unit_handle(sim, slot);
        if (dice == 99) handles[count++] = phx_handle_make(slot, 77);
    }
    return count;
}

static size_t random_command(const PhxSim *sim, uint64_t *seed, uint8_t player, uint8_t *bytes) {
    const PhxNavGrid map = phx_sim_map(sim);
    const uint64_t dice = test_random(seed) % 10;
    PhxHandle handles[512];
    size_t size;
    PhxCommandData command = {.type = dice < 8 ? PHX_COMMAND_MOVE : PHX_COMMAND_STOP, .units = handles};
    command.goal_x = (fix16_t)test_range(seed, -2 * 65536, ((int64_t)map.width + 2) << 16);
    command.goal_y = (fix16_t)test_range(seed, -2 * 65536, ((int64_t)map.height + 2) << 16);
    command.queued = dice < 4;
    command.unit_count = (uint16_t)random_units(sim, seed, player, handles);
    CHECK_OK(phx_command_encode(&command, bytes, PHX_COMMAND_SIZE_LIMIT, &size));
    return size;
}

uint32_t little_commands(const PhxSim *sim, uint64_t seed, PhxCommand commands[4], uint8_t *bytes) {
    const uint32_t tick = phx_sim_tick(sim);
    uint32_t count = 0;
    seed = seed * 1000003 + tick;
    for (uint8_t player = 0; player < 2; player++) {
        if (tick != 1 && test_random(&seed) % 90 != 0) continue;
        uint8_t *at = bytes + (size_t)count * PHX_COMMAND_SIZE_LIMIT;
        const size_t size = random_command(sim, &seed, player, at);
        commands[count++] = (PhxCommand){player, tick, (uint32_t)size, at};
    }
    if (test_random(&seed) % 60 == 0) { /* now and then the host pauses, and goes on */
        uint8_t *at = bytes + (size_t)count * PHX_COMMAND_SIZE_LIMIT;
        const PhxCommandData pause = {.type = PHX_COMMAND_PAUSE, .on = test_random(&seed) % 4 == 0};
        size_t size;
        CHECK_OK(phx_command_encode(&pause, at, PHX_COMMAND_SIZE_LIMIT, &size));
        commands[count++] = (PhxCommand){PHX_SLOT_HOST, tick, (uint32_t)size, at};
    }
    if (test_random(&seed) % 40 == 0) { /* now and then rubbish */
        uint8_t *at = bytes + (size_t)count * PHX_COMMAND_SIZE_LIMIT;
        for (int i = 0; i < 16; i++) at[i] = (uint8_t)test_random(&seed);
        commands[count++] = (PhxCommand){1, tick + 1000000, 16, at};
    }
    return count;
}

void little_step(PhxSim *sim, uint64_t seed) {
    PhxCommand commands[4];
    uint8_t *bytes = malloc((size_t)4 * PHX_COMMAND_SIZE_LIMIT);
    const uint32_t count = little_commands(sim, seed, commands, bytes);
    CHECK_OK(phx_sim_step(sim, commands, count));
    free(bytes);
}
