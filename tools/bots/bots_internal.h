/* bots_internal.h: what the bots' files share. */
#ifndef PHX_BOTS_INTERNAL_H
#define PHX_BOTS_INTERNAL_H

#include "bots/bots.h"

#define PHX_BOT(name, about)                                                                                 \
    void phx_bot_##name(const PhxSim *sim, uint8_t slot, uint32_t tick, PhxBotEmit emit, void *user);
#include "bots/bots.def"

/* Handles of the slot's living units by ascending unit slot, at most `limit` of them from the `skip`-th on.
 * Returns how many were written. */
uint32_t phx_bot_units(const PhxSim *sim, uint8_t slot, uint32_t skip, PhxHandle *out, uint32_t limit);
uint32_t phx_bot_unit_count(const PhxSim *sim, uint8_t slot);

/* Encodes and hands over a command; what can't be encoded (a goal out of range) isn't given. */
void phx_bot_give(const PhxCommandData *command, PhxBotEmit emit, void *user);

#endif
