/* bots.h: scripted players. A bot is a pure function of (sim, slot, tick): it looks at a const world and
 * gives commands as bytes, which then pass the same door as a person's. It keeps nothing between calls, so
 * that the same match gives the same commands on every machine, and a bot may be asked about any tick at any
 * time.
 *
 * Cost: a look over the units of the world; most ticks end at once. Determinism: integers only; random draws
 * are phx_random of (match key, a purpose of the bots' own, slot, tick, draw).
 */
#ifndef PHX_BOTS_H
#define PHX_BOTS_H

#include <phalanx/sim.h>

/* Gets one encoded command; `bytes` is valid during the call only. */
typedef void (*PhxBotEmit)(void *user, const uint8_t *bytes, uint32_t size);

/* `tick`: phx_sim_tick(sim), from 0 on; to be called once a tick. In lockstep the commands are executed
 * later, by the input delay. */
typedef void (*PhxBotRun)(const PhxSim *sim, uint8_t slot, uint32_t tick, PhxBotEmit emit, void *user);

typedef struct PhxBot {
    const char *name;
    const char *about; /* a line for --help */
    PhxBotRun run;
} PhxBot;

/* All bots, from bots.def. */
const PhxBot *phx_bots(uint32_t *count);
/* By name; null if there is none. */
const PhxBot *phx_bot_find(const char *name);

#endif
