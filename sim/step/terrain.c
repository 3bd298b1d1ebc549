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
    const PhxWallsSize size = phx_walls_size_grid(grid);
    phx_arena_destroy(&sim->walls_arena);
    PhxArena measure = phx_arena_measure();
    phx_walls_layout(&sim->walls, &measure, size);
    const PhxStatus status = phx_arena_create(&sim->walls_arena, sim->allocator, measure.used);
    if (status != PHX_OK) return status;
    phx_walls_layout(&sim->walls, &sim->walls_arena, size);
    return phx_walls_build_grid(&sim->walls, grid);
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
