/* terrain.c: what is derived from the terrain alone: wall segments, connected parts, and the emptiness of the
 * cache. Cost: linear in the cells, and only when the terrain changed. Determinism: pure functions of
 * terrain.cost.
 */
#include "nav/components.h"
#include "step/sim_internal.h"

PhxNavGrid phx_sim_grid(const PhxWorld *world) {
    const PhxTable *terrain = &world->tables[PHX_TABLE_terrain];
    return (PhxNavGrid){terrain->width, terrain->height, world->terrain.cost};
}

void phx_sim_touch(PhxSim *sim, PhxCellRect cells) {
    if (cells.x0 < cells.x1 && cells.y0 < cells.y1)
        sim->terrain_revision = sim->world->tables[PHX_TABLE_terrain].revision - 1;
}

static PhxStatus make_walls(PhxSim *sim, const PhxNavGrid *grid) {
    const PhxCellRect all = {0, 0, (int32_t)grid->width, (int32_t)grid->height};
    if (sim->walls.width == 0) return phx_walls_create_grid(&sim->walls, sim->allocator, grid, &sim->jobs);
    return phx_walls_update_grid(&sim->walls, grid, all, &sim->jobs);
}

PhxStatus phx_sim_derive_terrain(PhxSim *sim) {
    const uint32_t revision = sim->world->tables[PHX_TABLE_terrain].revision;
    if (sim->terrain_revision == revision) return PHX_OK;
    const PhxNavGrid grid = phx_sim_grid(sim->world);
    const PhxStatus status = make_walls(sim, &grid);
    if (status != PHX_OK) return status;
    uint32_t largest;
    (void)phx_components_build(&grid, sim->component, sim->component_stack, &largest);
    phx_fields_clear(sim);
    sim->terrain_revision = revision;
    return PHX_OK;
}
