/* terrain.c: what is derived from the ground: what stops bodies (barriers.c), and the
 * layers of the sector routes (layers.c). Cost:
 * that of what changed. Determinism: pure functions of the state at the moment of the call.
 */
#include <string.h>

#include "base/bitset.h"
#include "step/sim_internal.h"

PhxNavGrid phx_sim_grid(const PhxWorld *world) {
    const PhxTable *terrain = &world->tables[PHX_TABLE_terrain];
    return (PhxNavGrid){terrain->width, terrain->height, world->terrain.cost};
}

void phx_sim_touch(PhxSim *sim, PhxCellRect cells) {
    if (cells.x0 >= cells.x1 || cells.y0 >= cells.y1) return;
    if (sim->layers.routes) phx_routes_touch(sim->layers.routes, cells);
    phx_barriers_touch(sim, cells);
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

PhxStatus phx_sim_derive_terrain(PhxSim *sim) {
    take_touched_blocks(sim);
    phx_layers_note(sim);
    const PhxStatus status = phx_barriers_update(sim);
    return status != PHX_OK ? status : phx_layers_update(sim);
}
