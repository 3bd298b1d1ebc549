/* cli_phases.c: how long each phase of the tick takes. The clock is read outside of the simulation, between
 * its phases, and nothing that it says reaches it. Cost: two readings of the clock a phase, some 50 ns. */
#include "phx/cli.h"

#include <time.h>

static uint64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t phx_cli_now(void) { return read_clock(CLOCK_MONOTONIC); }

uint64_t phx_cli_cpu(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

static void observe(void *user, uint32_t tick, uint32_t phase, const char *name, bool begin, uint64_t hash) {
    PhxCliPhases *phases = user;
    const uint64_t now = phx_cli_now();
    if (phase < PHX_CLI_PHASE_LIMIT && !begin) {
        phases->ns[phase] += now - phases->begun;
        phases->names[phase] = name;
        if (phase >= phases->count) phases->count = phase + 1;
    }
    if (phases->next != NULL) phases->next(phases->next_user, tick, phase, name, begin, hash);
    phases->begun = phx_cli_now();
}

void phx_cli_phases_begin(PhxCliPhases *phases, PhxSim *sim, PhxPhaseObserver next, void *next_user,
                          bool trace) {
    *phases = (PhxCliPhases){.next = next, .next_user = next_user};
    phx_sim_observe_phases(sim, observe, phases, trace);
}

void phx_cli_phases_follow(PhxCliPhases *phases, PhxSim *sim, bool trace) {
    phx_sim_observe_phases(sim, observe, phases, trace);
}

static double per_tick(uint64_t ns, uint64_t ticks) {
    return ticks == 0 ? 0 : (double)ns / 1e6 / (double)ticks;
}

json_t *phx_cli_phases_json(const PhxCliPhases *phases, uint64_t ticks) {
    json_t *object = json_object();
    uint64_t total = 0;
    for (uint32_t i = 0; i < phases->count; i++) {
        if (phases->names[i] == NULL) continue;
        total += phases->ns[i];
        json_object_set_new(object, phases->names[i], json_real(per_tick(phases->ns[i], ticks)));
    }
    json_object_set_new(object, "total", json_real(per_tick(total, ticks)));
    return object;
}

void phx_cli_phases_print(const PhxCli *cli, const PhxCliPhases *phases, uint64_t ticks) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < phases->count; i++) total += phases->ns[i];
    for (uint32_t i = 0; i < phases->count; i++) {
        if (phases->names[i] == NULL) continue;
        phx_cli_print(cli, "  %-20s %9.4f ms a tick  %5.1f%%\n", phases->names[i],
                      per_tick(phases->ns[i], ticks),
                      total == 0 ? 0 : 100 * (double)phases->ns[i] / (double)total);
    }
    phx_cli_print(cli, "  %-20s %9.4f ms a tick\n", "total", per_tick(total, ticks));
}
