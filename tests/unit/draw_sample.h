/* draw_sample.h: a small match for the tests of debug draw and of the picture: three players on a map with
 * every kind of ground, one of them without units. */
#ifndef PHX_TEST_DRAW_SAMPLE_H
#define PHX_TEST_DRAW_SAMPLE_H

#include <phalanx/content.h>
#include <stdlib.h>

#include "harness.h"

enum { SAMPLE_WIDTH = 48, SAMPLE_HEIGHT = 32, SAMPLE_UNITS = 9 };

/* Ground with a pond, a wood, a swamp and a rock; the way between the corners is open. */
static inline char sample_letter(uint32_t x, uint32_t y) {
    if (x >= 30 && x < 42 && y >= 4 && y < 14) return 'W';
    if (x >= 6 && x < 16 && y >= 18 && y < 28) return 'T';
    if (x >= 20 && x < 28 && y >= 12 && y < 20) return 'S';
    if (x >= 20 && x < 24 && y < 6) return '@';
    return '.';
}
static inline uint8_t sample_cost(uint32_t x, uint32_t y) {
    const char letter = sample_letter(x, y);
    return letter == '.' ? 1 : letter == 'S' ? 3 : PHX_NAV_IMPASSABLE;
}

static inline PhxSim *sample_sim(void) {
    static uint8_t cost[SAMPLE_WIDTH * SAMPLE_HEIGHT];
    const PhxSettings settings = {.match_key = 7, .tick_rate = 20, .ticks_per_turn = 2, .input_delay = 2};
    static const char *const names[3] = {"Red", "Blue", "Nobody"};
    PhxContentBuilder *builder;
    PhxError error;
    uint16_t foot, giant;
    for (uint32_t i = 0; i < SAMPLE_WIDTH * SAMPLE_HEIGHT; i++)
        cost[i] = sample_cost(i % SAMPLE_WIDTH, i / SAMPLE_WIDTH);
    CHECK_OK(phx_content_begin(&settings, SAMPLE_WIDTH, SAMPLE_HEIGHT, cost, 16, 64, &builder, &error));
    for (uint32_t p = 0; p < 3; p++) CHECK_OK(phx_content_add_player(builder, names[p], (uint8_t)p, &error));
    PhxUnitTypeDef def = phx_content_unit_type_default();
    def.name = "foot";
    CHECK_OK(phx_content_add_unit_type(builder, &def, &foot, &error));
    def.name = "giant", def.radius = fix16_one * 3 / 2;
    CHECK_OK(phx_content_add_unit_type(builder, &def, &giant, &error));
    for (int32_t i = 0; i < SAMPLE_UNITS; i++) {
        const uint8_t player = (uint8_t)(i % 2);
        const fix16_t x = player ? (45 - i) * fix16_one : (3 + i) * fix16_one;
        const fix16_t y = player ? (29 - i % 3) * fix16_one : (3 + i % 3) * fix16_one;
        const PhxStatus status =
            phx_content_add_unit(builder, i == 8 ? giant : foot, player, x, y, (PhxAngle)(i * 7000), &error);
        CHECK_THAT(status == PHX_OK, "unit %d: %s", (int)i, error.text);
    }
    size_t size = phx_content_size(builder);
    void *blob = malloc(size);
    CHECK_OK(phx_content_write(builder, blob, size, &size));
    phx_content_end(builder);
    PhxSim *sim;
    const PhxSimConfig config = {0};
    const PhxStatus status = phx_sim_create(&config, blob, size, NULL, &sim, &error);
    CHECK_THAT(status == PHX_OK, "%s", error.text);
    free(blob);
    return sim;
}

/* Steps once; at tick 0 each player's units are sent to the middle of the other's corner. */
static inline void sample_step(PhxSim *sim) {
    uint8_t bytes[2][PHX_COMMAND_SIZE_LIMIT];
    PhxCommand commands[2];
    uint32_t count = 0;
    for (uint8_t player = 0; phx_sim_tick(sim) == 0 && player < 2; player++) {
        PhxHandle units[SAMPLE_UNITS];
        uint16_t unit_count = 0;
        for (uint32_t i = player; i < SAMPLE_UNITS; i += 2) units[unit_count++] = phx_sim_unit_handle(sim, i);
        const PhxCommandData move = {.type = PHX_COMMAND_MOVE,
                                     .goal_x = player ? 6 * fix16_one : 40 * fix16_one,
                                     .goal_y = player ? 6 * fix16_one : 26 * fix16_one,
                                     .unit_count = unit_count,
                                     .units = units};
        size_t size;
        CHECK_OK(phx_command_encode(&move, bytes[player], sizeof bytes[player], &size));
        commands[count++] =
            (PhxCommand){.slot = player, .sequence = 0, .size = (uint32_t)size, .bytes = bytes[player]};
    }
    CHECK_OK(phx_sim_step(sim, commands, count));
}

#endif
