/* crowded.c: the way of a unit that is held up where others rest: by a window of quarter or half cells
 * (nav/window.h) around the bodies that stand there, instead of straight into them.
 *
 * In: the unit, its tile, who rests near it. Out: a direction. Cost: a window, about as much as a hundred
 * looks at a tile; only for units that made no progress for a second and have someone at rest near them, and
 * only twice a second: between that they go on as they were told, which is state (unit.way_x, way_y).
 * Determinism: a pure function of columns that the phase `prefer` doesn't write; the bodies' order has no
 * influence.
 */
#include "step/sim_internal.h"

enum {
    QUARTERS = PHX_FIX_ONE * 3 / 4, /* radius up to which cells are cut in four */
    REACH = 6 * PHX_FIX_ONE,        /* resting bodies are looked for within */
    CROWD_COST = 60
};

/* Those at rest near a unit. */
static uint32_t resting_near(const PhxSim *sim, uint32_t slot, PhxWindowBody *bodies) {
    const PhxUnitTable *units = &sim->world->unit;
    PhxNear near[PHX_SPATIAL_MAX_NEAREST];
    const uint32_t count =
        phx_spatial_nearest(&sim->spatial, phx_vec2(units->pos_x[slot], units->pos_y[slot]), REACH, slot,
                            PHX_SPATIAL_MAX_NEAREST, near);
    uint32_t resting = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t other = near[i].slot;
        if (units->activity[other] != 0) continue;
        bodies[resting++] = (PhxWindowBody){phx_vec2(units->pos_x[other], units->pos_y[other]),
                                            sim->world->unit_type.radius[units->type[other]]};
    }
    return resting;
}

bool phx_crowded_direction(const PhxSim *sim, uint32_t slot, const PhxUnitField *field, uint32_t worker,
                           PhxDir *way) {
    const PhxWorld *world = sim->world;
    const uint32_t size = phx_layers_size(sim, phx_layers_of(sim, slot));
    const uint32_t period = world->match.tick_rate[0] / 2u + 1;
    PhxWindowBody bodies[PHX_SPATIAL_MAX_NEAREST];
    if (!field->tile || world->unit.stalled[slot] < world->match.tick_rate[0]) return false;
    if ((world->match.tick[0] + slot) % period != 0) {
        *way = phx_dir(world->unit.way_x[slot], world->unit.way_y[slot]);
        return way->x != 0 || way->y != 0;
    }
    const uint32_t count = resting_near(sim, slot, bodies);
    if (count == 0) return false;
    const PhxNavGrid solid = phx_barriers_grid(sim, slot);
    const PhxWindowView view = {.ground = size == 1 ? &field->plane : &solid,
                                .plane = &field->plane,
                                .size = size,
                                .tile = field->tile,
                                .goal = phx_cost_from_layer(size, field->goal),
                                .at = phx_cost_from_layer(size, field->at),
                                .radius = world->unit_type.radius[world->unit.type[slot]],
                                .level = world->unit_type.radius[world->unit.type[slot]] <= QUARTERS ? 2 : 1,
                                .bodies = bodies,
                                .body_count = count,
                                .crowd_cost = CROWD_COST};
    *way = phx_window_direction(&sim->windows[worker], &view);
    return way->x != 0 || way->y != 0;
}
