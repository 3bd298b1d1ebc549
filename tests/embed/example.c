/* A flat field, one soldier, one order, six hundred ticks, one hash. */
#include <inttypes.h>
#include <phalanx/content.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(PhxStatus status) {
    if (status != PHX_OK) exit((fprintf(stderr, "%s\n", phx_status_text(status)), 1));
}

int main(void) {
    static uint8_t ground[64 * 64], blob[1 << 16], bytes[64];
    const PhxSettings settings = {.match_key = 1, .tick_rate = 20, .ticks_per_turn = 2, .input_delay = 2};
    const fix16_t from = fix16_from_int(8), to = fix16_from_int(50);
    PhxUnitTypeDef soldier = phx_content_unit_type_default();
    PhxContentBuilder *content;
    PhxSim *sim;
    uint16_t type;
    size_t size;
    soldier.name = "soldier";
    must(phx_content_begin(&settings, 64, 64, memset(ground, 1, sizeof ground), 16, 16, &content, NULL));
    must(phx_content_add_player(content, "red", 0, NULL));
    must(phx_content_add_unit_type(content, &soldier, &type, NULL));
    must(phx_content_add_unit(content, type, 0, from, from, 0, NULL));
    must(phx_content_write(content, blob, sizeof blob, &size));
    phx_content_end(content);
    must(phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &sim, NULL));
    const PhxHandle unit = phx_sim_unit_handle(sim, 0);
    const PhxCommandData move = {PHX_COMMAND_MOVE, to, to, .unit_count = 1, .units = &unit};
    must(phx_command_encode(&move, bytes, sizeof bytes, &size));
    const PhxCommand command = {.slot = 0, .sequence = 1, .size = (uint32_t)size, .bytes = bytes};
    for (uint32_t tick = 0; tick < 600; tick++) must(phx_sim_step(sim, &command, tick == 0));
    printf("tick %" PRIu32 " root %016" PRIx64 "\n", phx_sim_tick(sim), phx_sim_root(sim));
    phx_sim_destroy(sim);
}
