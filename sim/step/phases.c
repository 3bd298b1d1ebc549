/* phases.c: the list of phases, the engine's and a game's, and the one loop that runs them. */
#include <string.h>

#include "state/hash.h"
#include "step/sim_internal.h"
#ifdef PHX_FAULT_HOOK
#include "step/fault.h"
#endif

static const PhxPhase builtin[] = {
#define PHX_PHASE(name, paused, reads, writes) {#name, reads, writes, phx_phase_##name, NULL, paused},
#include "phases.def"
};
enum { BUILTIN_COUNT = sizeof builtin / sizeof builtin[0] };

static uint32_t find_phase(const PhxSim *sim, const char *name) {
    for (uint32_t p = 0; p < sim->phase_count; p++)
        if (strcmp(sim->phases[p].name, name) == 0) return p;
    return sim->phase_count;
}

/* Inserts a game's phase behind the one it names, and behind those of the game that already follow it there.
 */
static PhxStatus insert_phase(PhxSim *sim, const PhxPhaseDesc *desc, void *user, PhxError *error) {
    if (!desc->name || !desc->run || !desc->after)
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0,
                             "a phase needs a name, a function and a phase that it follows");
    if (sim->phase_count == PHX_SIM_PHASE_LIMIT)
        return phx_error_set(error, PHX_ERROR_LIMIT, 0, "at most %d phases", PHX_SIM_PHASE_LIMIT);
    if (find_phase(sim, desc->name) < sim->phase_count)
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "there are two phases named %s", desc->name);
    uint32_t at = find_phase(sim, desc->after);
    if (at == sim->phase_count)
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "phase %s follows %s, which does not exist",
                             desc->name, desc->after);
    if (strcmp(desc->after, "hash") == 0)
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "phase %s: nothing follows the phase hash",
                             desc->name);
    at++;
    memmove(&sim->phases[at + 1], &sim->phases[at], (sim->phase_count - at) * sizeof(PhxPhase));
    sim->phases[at] = (PhxPhase){desc->name, desc->reads, desc->writes, desc->run, user, false};
    sim->phase_count++;
    return PHX_OK;
}

PhxStatus phx_phases_collect(PhxSim *sim, PhxError *error) {
    memcpy(sim->phases, builtin, sizeof builtin);
    sim->phase_count = BUILTIN_COUNT;
    if (!sim->game) return PHX_OK;
    for (uint32_t i = 0; i < sim->game->phase_count; i++) {
        const PhxStatus status = insert_phase(sim, &sim->game->phases[i], sim->game->user, error);
        if (status != PHX_OK) return status;
    }
    return PHX_OK;
}

void phx_phases_run(PhxSim *sim) {
    const PhxPhaseContext context = {sim, sim->world, &sim->jobs, sim->world->match.tick[0]};
    for (uint32_t p = 0; p < sim->phase_count; p++) {
        const PhxPhase *phase = &sim->phases[p];
        if (sim->world->match.paused[0] && !phase->runs_while_paused) continue;
        if (sim->observer) sim->observer(sim->observer_user, context.tick, p, phase->name, true, 0);
        phase->run(&context, phase->user);
#ifdef PHX_FAULT_HOOK
        phx_fault_strike(sim->world, context.tick, p);
#endif
        if (sim->observer)
            sim->observer(sim->observer_user, context.tick, p, phase->name, false,
                          sim->trace ? phx_world_hash_phase(sim->world) : 0);
    }
}
