/* flock.c: the phase flock: units on their way prefer to keep together with others of their flock.
 *
 * In: the spatial grid, preferred velocities, whose units they are and of which flock. Out: unit.pref_x,
 * pref_y of those in a flock. Cost: a test for each unit of a world without flocks. See <phalanx/flock.h>. A
 * flock is one player's; who stands, goes to its place at the goal, makes a detour or is led in a formation
 * neither follows nor leads.
 *
 * Determinism: see phalanx/flock.h; a unit's number of a flock is a function of its own row.
 */
#include "step/sim_internal.h"

static PhxFlockClass class_of_type(const PhxUnitTypeTable *types, uint32_t t) {
    PhxFlockClass class = {.near_radius = types->flock_near[t],
                           .far_radius = types->flock_far[t],
                           .force = types->flock_force[t],
                           .speed = types->speed[t]};
    for (uint32_t r = 0; r < PHX_FLOCK_RULES; r++)
        class.weight[r] = types->flock_weight[t * PHX_FLOCK_RULES + r];
    return class;
}

/* Fills sim->flock_of and the greatest speeds of those that count. Returns whether there is any. */
static bool gather(PhxSim *sim) {
    const PhxUnitTable *units = &sim->world->unit;
    bool any = false;
    for (uint32_t i = 0; i < sim->living_count; i++) {
        const uint32_t slot = sim->living[i];
        sim->flock_of[slot] = 0;
        if (units->flock[slot] == 0 || units->activity[slot] == 0 || units->aim[slot] != 0 ||
            units->detour[slot] > 0 || units->led[slot] != 0)
            continue;
        sim->flock_of[slot] = (uint32_t)units->player[slot] << 16 | units->flock[slot];
        sim->flock.speed[slot] = phx_unit_ground_speed(sim->world, slot);
        any = true;
    }
    return any;
}

void phx_phase_flock(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    PhxWorld *world = context->world;
    PhxUnitTable *units = &world->unit;
    const uint32_t types = world->tables[PHX_TABLE_unit_type].used;
    (void)user;
    if (!gather(sim)) return;
    for (uint32_t t = 0; t < types; t++) sim->flocks[t] = class_of_type(&world->unit_type, t);
    PhxFlockScene scene = {.spatial = &sim->spatial,
                           .classes = sim->flocks,
                           .class_count = types,
                           .class_of = units->type,
                           .flock = sim->flock_of,
                           .vel_x = units->vel_x,
                           .vel_y = units->vel_y,
                           .speed = sim->flock.speed,
                           .pref_x = units->pref_x,
                           .pref_y = units->pref_y,
                           .work = &sim->flock};
    phx_flock_run(&scene, context->jobs);
}
