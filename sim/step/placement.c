/* placement.c: buildings as they stand, and the question what one more would do. See phalanx/building.h.
 *
 * Cost: a look at the cells of the footprint, at each building and each unit. Determinism: pure functions of
 * the state; the first reason in the order of the enumeration is the one that is told.
 */
#include "step/placement.h"
#include "base/bitset.h"

static const char *const reason_texts[PHX_PLACEMENT_REASON_COUNT] = {
    "nothing is in the way",
    "nobody plays in that slot",
    "a building has 1 to 64 cells a side",
    "the footprint leaves the map",
    "the ground is impassable",
    "another building stands there",
    "there is no room for one building more",
    "there is no such building any more",
    "it is another player's",
    "it is no gate",
};

const char *phx_placement_reason_text(PhxPlacementReason reason) {
    return (unsigned)reason < PHX_PLACEMENT_REASON_COUNT ? reason_texts[reason] : "unknown";
}

PhxCellRect phx_building_cells(const PhxWorld *world, uint32_t slot) {
    const PhxBuildingTable *rows = &world->building;
    return (PhxCellRect){rows->x[slot], rows->y[slot], rows->x[slot] + rows->width[slot],
                         rows->y[slot] + rows->height[slot]};
}

uint32_t phx_sim_building_used(const PhxSim *sim) { return sim->world->tables[PHX_TABLE_building].used; }

PhxHandle phx_sim_building_handle(const PhxSim *sim, uint32_t slot) {
    if (!phx_table_alive(&sim->world->tables[PHX_TABLE_building], slot)) return PHX_HANDLE_NONE;
    return phx_handle_make(slot, sim->world->building.generation[slot]);
}

bool phx_sim_building(const PhxSim *sim, PhxHandle building, PhxBuildingInfo *out) {
    const PhxBuildingTable *rows = &sim->world->building;
    const uint32_t slot = phx_table_find(&sim->world->tables[PHX_TABLE_building], building);
    if (slot == UINT32_MAX) return false;
    *out = (PhxBuildingInfo){phx_building_cells(sim->world, slot), rows->player[slot], rows->gate[slot] != 0,
                             rows->open_teams[slot]};
    return true;
}

static bool meet(PhxCellRect a, PhxCellRect b) {
    return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

/* The lowest building that a rectangle meets, or UINT32_MAX. */
static uint32_t building_in(const PhxWorld *world, PhxCellRect cells) {
    const PhxTable *table = &world->tables[PHX_TABLE_building];
    for (size_t slot = phx_bitset_next(table->alive, table->used, 0); slot < table->used;
         slot = phx_bitset_next(table->alive, table->used, slot + 1))
        if (meet(cells, phx_building_cells(world, (uint32_t)slot))) return (uint32_t)slot;
    return UINT32_MAX;
}

PhxHandle phx_sim_building_at(const PhxSim *sim, int32_t cx, int32_t cy) {
    const PhxTable *terrain = &sim->world->tables[PHX_TABLE_terrain];
    if (cx < 0 || cy < 0 || cx >= (int32_t)terrain->width || cy >= (int32_t)terrain->height)
        return PHX_HANDLE_NONE;
    const uint32_t slot = building_in(sim->world, (PhxCellRect){cx, cy, cx + 1, cy + 1});
    return slot == UINT32_MAX ? PHX_HANDLE_NONE : phx_sim_building_handle(sim, slot);
}

/* Whether phx_table_insert would find a slot. */
static bool has_room(const PhxTable *table) {
    for (uint32_t slot = table->first_free; slot < table->capacity; slot++)
        if (!phx_bitset_get(table->alive, slot) && table->generation[slot] < UINT32_MAX - 1) return true;
    return false;
}

static bool ground_is_open(const PhxWorld *world, PhxCellRect cells) {
    const uint32_t width = world->tables[PHX_TABLE_terrain].width;
    for (int32_t y = cells.y0; y < cells.y1; y++)
        for (int32_t x = cells.x0; x < cells.x1; x++)
            if (world->terrain.cost[(size_t)y * width + (size_t)x] == PHX_NAV_IMPASSABLE) return false;
    return true;
}

static bool side_is_good(int32_t low, int32_t high) {
    const int64_t side = (int64_t)high - low;
    return side >= 1 && side <= PHX_BUILDING_SIDE_LIMIT;
}

PhxPlacementReason phx_placement_check(const PhxWorld *world, const PhxBuildingInfo *building) {
    const PhxTable *terrain = &world->tables[PHX_TABLE_terrain];
    const PhxCellRect cells = building->cells;
    if (!phx_table_alive(&world->tables[PHX_TABLE_player], building->player) ||
        world->player.status[building->player] != 0)
        return PHX_PLACEMENT_PLAYER;
    if (!side_is_good(cells.x0, cells.x1) || !side_is_good(cells.y0, cells.y1)) return PHX_PLACEMENT_SIZE;
    if (cells.x0 < 0 || cells.y0 < 0 || cells.x1 > (int32_t)terrain->width ||
        cells.y1 > (int32_t)terrain->height)
        return PHX_PLACEMENT_OUTSIDE;
    if (!ground_is_open(world, cells)) return PHX_PLACEMENT_GROUND;
    if (building_in(world, cells) != UINT32_MAX) return PHX_PLACEMENT_OCCUPIED;
    if (!has_room(&world->tables[PHX_TABLE_building])) return PHX_PLACEMENT_FULL;
    return PHX_PLACEMENT_LEGAL;
}

/* How far `at` lies outside of [low, high) cells, raw. */
static int64_t outside(fix16_t at, int32_t low, int32_t high) {
    const int64_t first = (int64_t)low * PHX_FIX_ONE, last = (int64_t)high * PHX_FIX_ONE;
    return at < first ? first - at : at > last ? at - last : 0;
}

/* Does a unit's disc reach into the cells? Bound: distances below 2^31. */
static bool stands_in(const PhxWorld *world, uint32_t slot, PhxCellRect cells) {
    const int64_t radius = world->unit_type.radius[world->unit.type[slot]];
    const int64_t dx = outside(world->unit.pos_x[slot], cells.x0, cells.x1);
    const int64_t dy = outside(world->unit.pos_y[slot], cells.y0, cells.y1);
    return dx < radius && dy < radius && dx * dx + dy * dy < radius * radius;
}

static uint32_t find_displaced(const PhxWorld *world, const PhxPlacementQuestion *question) {
    const PhxTable *units = &world->tables[PHX_TABLE_unit];
    const uint32_t open = question->building.gate ? question->building.open_teams : 0;
    uint32_t count = 0;
    for (size_t s = phx_bitset_next(units->alive, units->used, 0); s < units->used;
         s = phx_bitset_next(units->alive, units->used, s + 1)) {
        const uint32_t slot = (uint32_t)s;
        if (open >> world->player.team[world->unit.player[slot]] & 1) continue;
        if (!stands_in(world, slot, question->building.cells)) continue;
        if (question->displaced && count < question->displaced_capacity)
            question->displaced[count] = phx_handle_make(slot, world->unit.generation[slot]);
        count++;
    }
    return count;
}

static PhxStatus check_question(const PhxWorld *world, const PhxPlacementQuestion *question) {
    const PhxTable *terrain = &world->tables[PHX_TABLE_terrain];
    const PhxNavGrid grid = {terrain->width, terrain->height, world->terrain.cost};
    if (question->place_count == 0) return PHX_OK;
    if (question->place_count > PHX_PLACEMENT_PLACE_LIMIT) return PHX_ERROR_LIMIT;
    if (!phx_table_alive(&world->tables[PHX_TABLE_unit_type], question->unit_type)) return PHX_ERROR_RANGE;
    if (question->team >= PHX_PLAYER_LIMIT) return PHX_ERROR_RANGE;
    for (uint32_t i = 0; i < question->place_count; i++)
        if (phx_nav_cell_at(&grid, question->places[i].x, question->places[i].y) == PHX_NAV_NO_CELL)
            return PHX_ERROR_RANGE;
    return PHX_OK;
}

PhxStatus phx_sim_placement(const PhxSim *sim, const PhxPlacementQuestion *question, PhxPlacement *out) {
    *out = (PhxPlacement){PHX_PLACEMENT_LEGAL, 0, 0};
    const PhxStatus status = check_question(sim->world, question);
    if (status != PHX_OK) return status;
    out->reason = phx_placement_check(sim->world, &question->building);
    if (out->reason != PHX_PLACEMENT_LEGAL) return PHX_OK;
    out->displaced_count = find_displaced(sim->world, question);
    if (question->place_count == 0) return PHX_OK;
    return phx_placement_ways(sim, question, &out->sealed);
}
