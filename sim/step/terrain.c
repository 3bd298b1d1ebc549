/* terrain.c: what is derived from the ground: walls, and the layers of the sector routes (layers.c). Cost:
 * that of what changed. Determinism: pure functions of the state at the moment of the call.
 */
#include <string.h>

#include "base/bitset.h"
#include "step/sim_internal.h"

PhxNavGrid phx_sim_grid(const PhxWorld *world) {
    const PhxTable *terrain = &world->tables[PHX_TABLE_terrain];
    return (PhxNavGrid){terrain->width, terrain->height, world->terrain.cost};
}

static int32_t lower(int32_t a, int32_t b) { return a < b ? a : b; }
static int32_t higher(int32_t a, int32_t b) { return a > b ? a : b; }

void phx_sim_touch(PhxSim *sim, PhxCellRect cells) {
    PhxCellRect *walls = &sim->walls_touched;
    if (cells.x0 >= cells.x1 || cells.y0 >= cells.y1) return;
    if (sim->layers.routes) phx_routes_touch(sim->layers.routes, cells);
    if (walls->x0 >= walls->x1)
        *walls = cells;
    else
        *walls = (PhxCellRect){lower(walls->x0, cells.x0), lower(walls->y0, cells.y0),
                               higher(walls->x1, cells.x1), higher(walls->y1, cells.y1)};
}

/* Blocks of cells that were written without a word on what depends on them. */
static void take_touched_blocks(PhxSim *sim) {
    PhxTable *terrain = &sim->world->tables[PHX_TABLE_terrain];
    const size_t blocks = (size_t)terrain->blocks_x * terrain->blocks_y;
    for (size_t b = phx_bitset_next(terrain->touched, blocks, 0); b < blocks;
         b = phx_bitset_next(terrain->touched, blocks, b + 1)) {
        const int32_t x = (int32_t)(b % terrain->blocks_x * PHX_GRID_BLOCK);
        const int32_t y = (int32_t)(b / terrain->blocks_x * PHX_GRID_BLOCK);
        phx_sim_touch(sim, (PhxCellRect){x, y, x + PHX_GRID_BLOCK, y + PHX_GRID_BLOCK});
    }
    memset(terrain->touched, 0, phx_bitset_words(blocks) * sizeof *terrain->touched);
}

static PhxStatus update_walls(PhxSim *sim) {
    const PhxNavGrid grid = phx_sim_grid(sim->world);
    PhxStatus status = PHX_OK;
    if (sim->walls.width == 0)
        status = phx_walls_create_grid(&sim->walls, sim->allocator, &grid, &sim->jobs);
    else if (sim->walls_touched.x0 < sim->walls_touched.x1)
        status = phx_walls_update_grid(&sim->walls, &grid, sim->walls_touched, &sim->jobs);
    if (status == PHX_OK) sim->walls_touched = (PhxCellRect){0, 0, 0, 0};
    return status;
}

PhxStatus phx_sim_derive_terrain(PhxSim *sim) {
    take_touched_blocks(sim);
    phx_layers_note(sim);
    const PhxStatus status = update_walls(sim);
    return status != PHX_OK ? status : phx_layers_update(sim);
}
