/* A flat field and one soldier who walks across it: make the content, create, command, step, print the hash.
 */
#include <phalanx/content.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    uint8_t cost[64 * 64], bytes[PHX_COMMAND_SIZE_LIMIT];
    memset(cost, 1, sizeof cost);
    const PhxSettings settings = {.match_key = 1, .tick_rate = 20, .ticks_per_turn = 2, .input_delay = 2};
    const fix16_t at = fix16_from_int(8), goal = fix16_from_int(50);
    PhxUnitTypeDef soldier = phx_content_unit_type_default();
    soldier.name = "soldier";
    PhxContentBuilder *content = NULL;
    PhxSim *sim = NULL;
    PhxError error = {0};
    uint16_t type = 0;
    size_t size = 0;
    if (phx_content_begin(&settings, 64, 64, cost, 16, 16, &content, &error) ||
        phx_content_add_player(content, "red", 0, &error) ||
        phx_content_add_unit_type(content, &soldier, &type, &error) ||
        phx_content_add_unit(content, type, 0, at, at, 0, &error))
        return fprintf(stderr, "content: %s\n", error.text), 1;
    void *blob = malloc(phx_content_size(content));
    if (!blob || phx_content_write(content, blob, phx_content_size(content), &size)) return 1;
    if (phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &sim, &error))
        return fprintf(stderr, "create: %s\n", error.text), 1;

    const PhxHandle unit = phx_sim_unit_handle(sim, 0);
    const PhxCommandData move = {
        .type = PHX_COMMAND_MOVE, .goal_x = goal, .goal_y = goal, .unit_count = 1, .units = &unit};
    if (phx_command_encode(&move, bytes, sizeof bytes, &size)) return 1;
    const PhxCommand command = {.slot = 0, .sequence = 1, .size = (uint32_t)size, .bytes = bytes};
    for (uint32_t tick = 0; tick < 600; tick++)
        if (phx_sim_step(sim, &command, tick == 0 ? 1 : 0)) return 1;
    printf("tick %" PRIu32 " root %016" PRIx64 "\n", phx_sim_tick(sim), phx_sim_root(sim));
    phx_sim_destroy(sim);
    phx_content_end(content);
    free(blob);
    return 0;
}
