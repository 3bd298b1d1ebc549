/* density.c: the phase `density`: how crowded each cell is, counted anew every so many ticks.
 *
 * In: positions and radii. Out: terrain.density: how many discs overlap the cell, at most 15, in steps of two
 * (a unit by itself is no crowd, and changes nothing). Cost: on one tick in match.density_period, the cells
 * under the units, and a look at eight cells at once for the rest of the map; only blocks in which a cell
 * changed are marked. Determinism: serial; a sum doesn't depend on the order of units. While the phase runs,
 * the new count of a cell lies in the upper half of its byte, so that the column itself is all the memory
 * that is needed.
 */
#include <string.h>

#include "base/bitset.h"
#include "step/sim_internal.h"

enum { MOST = 15, STEP = 2, OLD = 15, SHIFT = 4 };

/* First and last cell that a disc can overlap along one side of the map. */
static void span(fix16_t at, fix16_t radius, uint32_t cells, int32_t *first, int32_t *last) {
    const int64_t low = (int64_t)at - radius, high = (int64_t)at + radius;
    *first = low <= 0 ? 0 : (int32_t)(low / PHX_FIX_ONE);
    *last = high < 0 ? -1 : (int32_t)(high / PHX_FIX_ONE);
    if (*last >= (int32_t)cells) *last = (int32_t)cells - 1;
}

/* How far `at` lies outside of cell `c`, raw. */
static int64_t outside(fix16_t at, int32_t c) {
    const int64_t first = (int64_t)c * PHX_FIX_ONE;
    return at < first ? first - at : at > first + PHX_FIX_ONE ? at - first - PHX_FIX_ONE : 0;
}

static void count_unit(PhxWorld *world, uint32_t slot) {
    const PhxTable *terrain = &world->tables[PHX_TABLE_terrain];
    const fix16_t x = world->unit.pos_x[slot], y = world->unit.pos_y[slot];
    const int64_t radius = world->unit_type.radius[world->unit.type[slot]];
    int32_t x0, x1, y0, y1;
    span(x, (fix16_t)radius, terrain->width, &x0, &x1);
    span(y, (fix16_t)radius, terrain->height, &y0, &y1);
    for (int32_t cy = y0; cy <= y1; cy++)
        for (int32_t cx = x0; cx <= x1; cx++) {
            const int64_t dx = outside(x, cx), dy = outside(y, cy);
            uint8_t *cell = &world->terrain.density[(size_t)cy * terrain->width + (size_t)cx];
            if (dx * dx + dy * dy < radius * radius && *cell >> SHIFT < MOST)
                *cell = (uint8_t)(*cell + (1 << SHIFT));
        }
}

/* Sets the new value of a cell; true if it is another than before. */
static bool settle_cell(uint8_t *cell) {
    const uint8_t was = *cell & OLD;
    *cell = (uint8_t)((*cell >> SHIFT) / STEP * STEP);
    return *cell != was;
}

/* The same for a row of cells; *first and *last (cells from `cells` on) are widened to those that changed. */
static bool settle_row(uint8_t *cells, int32_t count, int32_t *first, int32_t *last) {
    bool changed = false;
    for (int32_t i = 0; i < count; i += 8) {
        const int32_t end = i + 8 < count ? i + 8 : count;
        uint64_t eight = 1;
        if (end == i + 8) memcpy(&eight, cells + i, sizeof eight);
        if (eight == 0) continue;
        for (int32_t k = i; k < end; k++) {
            if (!settle_cell(&cells[k])) continue;
            changed = true;
            if (k < *first) *first = k;
            if (k >= *last) *last = k + 1;
        }
    }
    return changed;
}

static void settle_block(PhxSim *sim, uint32_t bx, uint32_t by) {
    PhxTable *terrain = &sim->world->tables[PHX_TABLE_terrain];
    const int32_t x0 = (int32_t)(bx * PHX_GRID_BLOCK), y0 = (int32_t)(by * PHX_GRID_BLOCK);
    const int32_t right = (int32_t)terrain->width - x0, below = (int32_t)terrain->height - y0;
    const int32_t across = right < PHX_GRID_BLOCK ? right : PHX_GRID_BLOCK;
    const int32_t down = below < PHX_GRID_BLOCK ? below : PHX_GRID_BLOCK;
    PhxCellRect changed = {across, down, 0, 0}; /* relative to the block's first cell */
    for (int32_t y = 0; y < down; y++) {
        uint8_t *cells = sim->world->terrain.density + (size_t)(y0 + y) * terrain->width + (size_t)x0;
        if (!settle_row(cells, across, &changed.x0, &changed.x1)) continue;
        if (y < changed.y0) changed.y0 = y;
        changed.y1 = y + 1;
    }
    if (changed.x0 >= changed.x1) return;
    phx_grid_mark(terrain, (uint32_t)x0, (uint32_t)y0);
    phx_sim_touch(sim, (PhxCellRect){x0 + changed.x0, y0 + changed.y0, x0 + changed.x1, y0 + changed.y1});
}

void phx_phase_density(const PhxPhaseContext *context, void *user) {
    PhxWorld *world = context->world;
    const PhxTable *units = &world->tables[PHX_TABLE_unit], *terrain = &world->tables[PHX_TABLE_terrain];
    const uint32_t period = world->match.density_period[0];
    (void)user;
    if (period == 0 || context->tick % period != 0) return;
    for (size_t s = phx_bitset_next(units->alive, units->used, 0); s < units->used;
         s = phx_bitset_next(units->alive, units->used, s + 1))
        count_unit(world, (uint32_t)s);
    for (uint32_t by = 0; by < terrain->blocks_y; by++)
        for (uint32_t bx = 0; bx < terrain->blocks_x; bx++) settle_block(context->sim, bx, by);
}
