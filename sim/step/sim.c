/* sim.c: the tick.
 *
 * In: the state and the commands of one tick. Out: the next state, its hash tree, events. The phases are
 * listed in phases.def. Cost: the phases' and one pass of hashing. Determinism: a pure function of (state,
 * commands); the caller's order of commands doesn't matter, for they are put into canonical order first.
 */
#include <string.h>

#include "state/hash.h"
#include "step/sim_internal.h"

static PhxStatus accept_commands(PhxSim *sim, const PhxCommand *commands, uint32_t count) {
    if (count > PHX_TICK_COMMAND_LIMIT) return PHX_ERROR_LIMIT;
    if (count > 0 && !commands) return PHX_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < count; i++) {
        if (!commands[i].bytes && commands[i].size > 0) return PHX_ERROR_ARGUMENT;
        sim->queue[i] = (PhxQueuedCommand){commands[i].slot, commands[i].sequence, i};
    }
    sim->commands = commands;
    sim->command_count = count;
    return phx_command_queue_order(sim->queue, count);
}

static void begin_tick(PhxSim *sim) {
    const uint32_t used = sim->world->tables[PHX_TABLE_unit].used;
    sim->event_count = sim->event_besides = 0;
    memset(sim->event_kinds, 0, used);
    memcpy(sim->prev_x, sim->world->unit.pos_x, used * sizeof *sim->prev_x);
    memcpy(sim->prev_y, sim->world->unit.pos_y, used * sizeof *sim->prev_y);
}

PhxStatus phx_sim_step(PhxSim *sim, const PhxCommand *commands, uint32_t count) {
    if (sim->world->match.tick[0] == UINT32_MAX) return PHX_ERROR_LIMIT;
    PhxStatus status = accept_commands(sim, commands, count);
    if (status != PHX_OK) return status;
    sim->chosen = false;
    status = phx_sim_derive_terrain(sim);
    if (status != PHX_OK) return status;
    begin_tick(sim);
    sim->trouble = PHX_OK;
    phx_phases_run(sim);
    sim->commands = NULL;
    sim->command_count = 0;
    return sim->trouble;
}

void phx_phase_clock(const PhxPhaseContext *context, void *user) {
    (void)user;
    context->world->match.tick[0]++;
}

/* The next part of the rolling audit of grids: a result for whoever asks (phx_sim_audit_failures), never
 * state. */
void phx_phase_audit(const PhxPhaseContext *context, void *user) {
    (void)user;
    phx_world_audit(context->world);
}

/* The hash tree of the new state; the last phase, which reads every column and writes none. */
void phx_phase_hash(const PhxPhaseContext *context, void *user) {
    (void)user;
    phx_sim_refresh_hashes(context->sim);
}
