/* barriers.c: what stops bodies: impassable ground, buildings, and gates that are shut; a plane of cells and
 * its walls for each set of teams that all gates treat alike.
 *
 * In: the state, and the blocks of cells that were touched. Out: planes (1 open, 255 solid) and walls, up to
 * date. What a class of units can't cross though nothing stands there (kinds of ground, slopes) is the ways'
 * business (layers.c) and stops no body that others push. Cost: a look at each building; for each touched
 * block its cells; walls are made anew where cells of the plane really changed. Memory: a byte a cell for
 * each set that a player belongs to; walls of the others lie over those of set 0 and hold what differs.
 *
 * Determinism: DERIVED; pure functions of the state. A set is named by its lowest team. A set whose update
 * found no memory is thrown away and made anew by the next call.
 */
#include <string.h>

#include "base/bitset.h"
#include "step/placement.h"

enum { SOLID = PHX_NAV_IMPASSABLE, OPEN = 1 };

void phx_barriers_layout(PhxBarriers *barriers, PhxArena *arena, uint32_t width, uint32_t height,
                         uint32_t units) {
    const size_t across = (width + PHX_GRID_BLOCK - 1) / PHX_GRID_BLOCK;
    const size_t down = (height + PHX_GRID_BLOCK - 1) / PHX_GRID_BLOCK;
    barriers->touched = PHX_ARENA_ARRAY(arena, uint64_t, phx_bitset_words(across * down));
    barriers->set_of = PHX_ARENA_ARRAY(arena, uint8_t, units);
}

static PhxNavGrid grid_of(const PhxSim *sim, uint32_t set) {
    const PhxTable *terrain = &sim->world->tables[PHX_TABLE_terrain];
    return (PhxNavGrid){terrain->width, terrain->height, sim->barriers.cells[set]};
}

PhxNavGrid phx_barriers_grid(const PhxSim *sim, uint32_t unit) {
    const uint32_t set = sim->barriers.set_of[unit];
    return sim->barriers.cells[set] ? grid_of(sim, set) : phx_sim_grid(sim->world);
}

static void drop_set(PhxSim *sim, uint32_t set) {
    PhxBarriers *barriers = &sim->barriers;
    phx_walls_destroy(&barriers->walls[set]);
    if (barriers->cells[set])
        sim->allocator.release(sim->allocator.user, barriers->cells[set],
                               sim->world->tables[PHX_TABLE_terrain].capacity);
    barriers->cells[set] = NULL;
}

/* Set 0 last: the others lie over it. */
void phx_barriers_drop(PhxSim *sim) {
    for (uint32_t set = PHX_PLAYER_LIMIT; set-- > 0;) drop_set(sim, set);
}

size_t phx_barriers_bytes(const PhxSim *sim) {
    size_t bytes = 0;
    for (uint32_t set = 0; set < PHX_PLAYER_LIMIT; set++)
        if (sim->barriers.cells[set])
            bytes +=
                sim->world->tables[PHX_TABLE_terrain].capacity + phx_walls_bytes(&sim->barriers.walls[set]);
    return bytes;
}

void phx_barriers_touch(PhxSim *sim, PhxCellRect cells) {
    const PhxTable *terrain = &sim->world->tables[PHX_TABLE_terrain];
    const int32_t right = (int32_t)terrain->width, below = (int32_t)terrain->height;
    const int32_t x0 = cells.x0 < 0 ? 0 : cells.x0, x1 = cells.x1 < right ? cells.x1 : right;
    const int32_t y0 = cells.y0 < 0 ? 0 : cells.y0, y1 = cells.y1 < below ? cells.y1 : below;
    if (x0 >= x1 || y0 >= y1) return;
    for (int32_t by = y0 / PHX_GRID_BLOCK; by <= (y1 - 1) / PHX_GRID_BLOCK; by++)
        for (int32_t bx = x0 / PHX_GRID_BLOCK; bx <= (x1 - 1) / PHX_GRID_BLOCK; bx++)
            phx_bitset_add(sim->barriers.touched, (size_t)by * terrain->blocks_x + (size_t)bx);
}

/* The lowest team that every building treats like team t. */
static void note_teams(PhxSim *sim) {
    const PhxTable *table = &sim->world->tables[PHX_TABLE_building];
    uint16_t same[PHX_PLAYER_LIMIT];
    memset(same, 255, sizeof same);
    for (size_t s = phx_bitset_next(table->alive, table->used, 0); s < table->used;
         s = phx_bitset_next(table->alive, table->used, s + 1)) {
        const uint16_t mask = sim->world->building.open_teams[s];
        for (uint32_t t = 0; t < PHX_PLAYER_LIMIT && mask != 0; t++)
            same[t] &= mask >> t & 1 ? mask : (uint16_t)~mask;
    }
    for (uint32_t t = 0; t < PHX_PLAYER_LIMIT; t++)
        sim->barriers.team_set[t] = (uint8_t)phx_bit_lowest(same[t]);
}

static PhxCellRect block_rect(const PhxTable *terrain, size_t block) {
    const int32_t x = (int32_t)(block % terrain->blocks_x * PHX_GRID_BLOCK);
    const int32_t y = (int32_t)(block / terrain->blocks_x * PHX_GRID_BLOCK);
    const int32_t right = (int32_t)terrain->width, below = (int32_t)terrain->height;
    return (PhxCellRect){x, y, x + PHX_GRID_BLOCK < right ? x + PHX_GRID_BLOCK : right,
                         y + PHX_GRID_BLOCK < below ? y + PHX_GRID_BLOCK : below};
}

static PhxCellRect meet(PhxCellRect a, PhxCellRect b) {
    return (PhxCellRect){a.x0 > b.x0 ? a.x0 : b.x0, a.y0 > b.y0 ? a.y0 : b.y0, a.x1 < b.x1 ? a.x1 : b.x1,
                         a.y1 < b.y1 ? a.y1 : b.y1};
}

static bool is_empty(PhxCellRect rect) { return rect.x0 >= rect.x1 || rect.y0 >= rect.y1; }

/* The least rectangle around both. */
static PhxCellRect around(PhxCellRect a, PhxCellRect b) {
    if (is_empty(a)) return b;
    if (is_empty(b)) return a;
    return (PhxCellRect){a.x0 < b.x0 ? a.x0 : b.x0, a.y0 < b.y0 ? a.y0 : b.y0, a.x1 > b.x1 ? a.x1 : b.x1,
                         a.y1 > b.y1 ? a.y1 : b.y1};
}

/* What a set's plane is to hold in a block. */
static void compose_block(const PhxWorld *world, uint32_t set, PhxCellRect block,
                          uint8_t out[PHX_GRID_BLOCK][PHX_GRID_BLOCK]) {
    const PhxTable *terrain = &world->tables[PHX_TABLE_terrain], *table = &world->tables[PHX_TABLE_building];
    for (int32_t y = block.y0; y < block.y1; y++)
        for (int32_t x = block.x0; x < block.x1; x++)
            out[y - block.y0][x - block.x0] =
                world->terrain.cost[(size_t)y * terrain->width + (size_t)x] == SOLID ? SOLID : OPEN;
    for (size_t s = phx_bitset_next(table->alive, table->used, 0); s < table->used;
         s = phx_bitset_next(table->alive, table->used, s + 1)) {
        const PhxCellRect cells = meet(block, phx_building_cells(world, (uint32_t)s));
        if (is_empty(cells) || world->building.open_teams[s] >> set & 1) continue;
        for (int32_t y = cells.y0; y < cells.y1; y++)
            memset(&out[y - block.y0][cells.x0 - block.x0], SOLID, (size_t)(cells.x1 - cells.x0));
    }
}

/* Brings a block of a set's plane up to date; returns the rows that changed, as wide as the block. */
static PhxCellRect update_block(PhxSim *sim, uint32_t set, size_t index) {
    const PhxTable *terrain = &sim->world->tables[PHX_TABLE_terrain];
    const PhxCellRect block = block_rect(terrain, index);
    const size_t across = (size_t)(block.x1 - block.x0);
    uint8_t now[PHX_GRID_BLOCK][PHX_GRID_BLOCK];
    PhxCellRect changed = {block.x0, block.y1, block.x1, block.y0};
    compose_block(sim->world, set, block, now);
    for (int32_t y = block.y0; y < block.y1; y++) {
        uint8_t *cells = sim->barriers.cells[set] + (size_t)y * terrain->width + (size_t)block.x0;
        if (memcmp(cells, now[y - block.y0], across) == 0) continue;
        memcpy(cells, now[y - block.y0], across);
        if (y < changed.y0) changed.y0 = y;
        changed.y1 = y + 1;
    }
    return changed;
}

/* Makes a set that there isn't yet. */
static PhxStatus make_set(PhxSim *sim, uint32_t set) {
    PhxBarriers *barriers = &sim->barriers;
    const PhxTable *terrain = &sim->world->tables[PHX_TABLE_terrain];
    const size_t blocks = (size_t)terrain->blocks_x * terrain->blocks_y;
    const PhxCellRect all = {0, 0, (int32_t)terrain->width, (int32_t)terrain->height};
    if (barriers->cells[set]) return PHX_OK;
    barriers->cells[set] = sim->allocator.allocate(sim->allocator.user, terrain->capacity);
    if (!barriers->cells[set]) return PHX_ERROR_MEMORY;
    memset(barriers->cells[set], 0, terrain->capacity);
    for (size_t b = 0; b < blocks; b++) (void)update_block(sim, set, b);
    const PhxNavGrid grid = grid_of(sim, set);
    PhxStatus status =
        set == 0 ? phx_walls_create_grid(&barriers->walls[0], sim->allocator, &grid, &sim->jobs)
                 : phx_walls_create_over(&barriers->walls[set], sim->allocator, &barriers->walls[0]);
    if (status == PHX_OK && set > 0)
        status = phx_walls_update_grid(&barriers->walls[set], &grid, all, &sim->jobs);
    if (status != PHX_OK) drop_set(sim, set);
    return status;
}

/* Where the plane of set 0 changes, the walls that lie over its own are made anew too. */
static PhxStatus update_sets(PhxSim *sim, size_t block) {
    PhxBarriers *barriers = &sim->barriers;
    PhxCellRect below = {0, 0, 0, 0};
    for (uint32_t set = 0; set < PHX_PLAYER_LIMIT; set++) {
        if (!barriers->cells[set]) continue;
        const PhxCellRect changed = around(below, update_block(sim, set, block));
        const PhxNavGrid grid = grid_of(sim, set);
        if (set == 0) below = changed;
        if (is_empty(changed)) continue;
        const PhxStatus status = phx_walls_update_grid(&barriers->walls[set], &grid, changed, &sim->jobs);
        if (status == PHX_OK) continue;
        phx_barriers_drop(sim); /* whole: no set may lie over one that is out of date */
        return status;
    }
    return PHX_OK;
}

PhxStatus phx_barriers_update(PhxSim *sim) {
    PhxBarriers *barriers = &sim->barriers;
    const PhxWorld *world = sim->world;
    const PhxTable *terrain = &world->tables[PHX_TABLE_terrain], *units = &world->tables[PHX_TABLE_unit];
    const size_t blocks = (size_t)terrain->blocks_x * terrain->blocks_y;
    PhxStatus status = PHX_OK;
    note_teams(sim);
    for (size_t b = phx_bitset_next(barriers->touched, blocks, 0); b < blocks && status == PHX_OK;
         b = phx_bitset_next(barriers->touched, blocks, b + 1))
        status = update_sets(sim, b);
    memset(barriers->touched, 0, phx_bitset_words(blocks) * sizeof *barriers->touched);
    if (status == PHX_OK) status = make_set(sim, 0);
    for (uint32_t p = 0; p < world->tables[PHX_TABLE_player].used && status == PHX_OK; p++)
        if (phx_table_alive(&world->tables[PHX_TABLE_player], p))
            status = make_set(sim, barriers->team_set[world->player.team[p]]);
    for (uint32_t set = 0; set < PHX_PLAYER_LIMIT; set++) barriers->sets[set] = &barriers->walls[set];
    for (uint32_t slot = 0; slot < units->used; slot++)
        barriers->set_of[slot] = barriers->team_set[world->player.team[world->unit.player[slot]]];
    return status;
}
