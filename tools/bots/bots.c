/* bots.c: the list of scripted players, and what they share. See bots.h. */
#include "bots/bots_internal.h"

#include <string.h>

static const PhxBot bots[] = {
#define PHX_BOT(name, about) {#name, about, phx_bot_##name},
#include "bots/bots.def"
};

const PhxBot *phx_bots(uint32_t *count) {
    *count = sizeof bots / sizeof bots[0];
    return bots;
}

const PhxBot *phx_bot_find(const char *name) {
    for (size_t i = 0; i < sizeof bots / sizeof bots[0]; i++)
        if (strcmp(bots[i].name, name) == 0) return &bots[i];
    return NULL;
}

void phx_bot_idle(const PhxSim *sim, uint8_t slot, uint32_t tick, PhxBotEmit emit, void *user) {
    (void)sim, (void)slot, (void)tick, (void)emit, (void)user;
}

uint32_t phx_bot_units(const PhxSim *sim, uint8_t slot, uint32_t skip, PhxHandle *out, uint32_t limit) {
    const PhxUnitView units = phx_sim_units(sim);
    uint32_t count = 0;
    for (uint32_t i = 0; i < units.used && count < limit; i++) {
        if (!phx_generation_alive(units.generation[i]) || units.player[i] != slot) continue;
        if (skip > 0)
            skip--;
        else
            out[count++] = phx_handle_make(i, units.generation[i]);
    }
    return count;
}

uint32_t phx_bot_unit_count(const PhxSim *sim, uint8_t slot) {
    const PhxUnitView units = phx_sim_units(sim);
    uint32_t count = 0;
    for (uint32_t i = 0; i < units.used; i++)
        count += phx_generation_alive(units.generation[i]) && units.player[i] == slot;
    return count;
}

void phx_bot_give(const PhxCommandData *command, PhxBotEmit emit, void *user) {
    uint8_t bytes[PHX_COMMAND_SIZE_LIMIT];
    size_t size;
    if (phx_command_encode(command, bytes, sizeof bytes, &size) == PHX_OK) emit(user, bytes, (uint32_t)size);
}
