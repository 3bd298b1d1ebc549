/* build.c: the ground changes: buildings, gates, cost and kind of cells, modifiers; by commands and by a
 * game's own code. See phalanx/building.h.
 *
 * In: the state, and a change. Out: the changed state, what is derived from it marked as touched, an event.
 * Cost: the cells of the change; placing also looks at every building once. Determinism: serial; a new row
 * takes the lowest free slot.
 */
#include "base/assert.h"
#include "step/placement.h"

/* What a row's columns may hold, as modifier.def has it. */
enum { POSITION_LIMIT = 8192 * 65536, RADIUS_LIMIT = 64 * 65536, STRENGTH_LIMIT = 253 };

static PhxEvent event_of(PhxEventKind kind, uint8_t player, PhxHandle building, PhxCellRect cells) {
    return (PhxEvent){.kind = kind,
                      .player = player,
                      .x = (cells.x0 + cells.x1) * (PHX_FIX_ONE / 2),
                      .y = (cells.y0 + cells.y1) * (PHX_FIX_ONE / 2),
                      .building = building};
}

PhxPlacementReason phx_sim_place_building(PhxSim *sim, const PhxBuildingInfo *building, PhxHandle *out) {
    PhxWorld *world = sim->world;
    const PhxPlacementReason reason = phx_placement_check(world, building);
    if (out) *out = PHX_HANDLE_NONE;
    if (reason != PHX_PLACEMENT_LEGAL) return reason;
    const PhxHandle handle = phx_table_insert(&world->tables[PHX_TABLE_building]);
    PHX_ASSERT(handle != PHX_HANDLE_NONE, world->tables[PHX_TABLE_building].live, 0);
    const uint32_t slot = phx_handle_slot(handle);
    const PhxCellRect cells = building->cells;
    world->building.x[slot] = (uint16_t)cells.x0;
    world->building.y[slot] = (uint16_t)cells.y0;
    world->building.width[slot] = (uint16_t)(cells.x1 - cells.x0);
    world->building.height[slot] = (uint16_t)(cells.y1 - cells.y0);
    world->building.player[slot] = building->player;
    world->building.gate[slot] = building->gate;
    world->building.open_teams[slot] = building->gate ? building->open_teams : 0;
    phx_sim_touch(sim, cells);
    phx_sim_emit_besides(sim, event_of(PHX_EVENT_BUILT, building->player, handle, cells));
    if (out) *out = handle;
    return PHX_PLACEMENT_LEGAL;
}

PhxPlacementReason phx_sim_raze_building(PhxSim *sim, PhxHandle building) {
    PhxTable *table = &sim->world->tables[PHX_TABLE_building];
    const uint32_t slot = phx_table_find(table, building);
    if (slot == UINT32_MAX) return PHX_PLACEMENT_GONE;
    const PhxCellRect cells = phx_building_cells(sim->world, slot);
    const uint8_t player = sim->world->building.player[slot];
    phx_table_remove(table, slot);
    phx_sim_touch(sim, cells);
    phx_sim_emit_besides(sim, event_of(PHX_EVENT_RAZED, player, building, cells));
    return PHX_PLACEMENT_LEGAL;
}

PhxPlacementReason phx_sim_set_gate(PhxSim *sim, PhxHandle building, uint16_t open_teams) {
    PhxBuildingTable *buildings = &sim->world->building;
    const uint32_t slot = phx_table_find(&sim->world->tables[PHX_TABLE_building], building);
    if (slot == UINT32_MAX) return PHX_PLACEMENT_GONE;
    if (!buildings->gate[slot]) return PHX_PLACEMENT_NO_GATE;
    if (buildings->open_teams[slot] == open_teams) return PHX_PLACEMENT_LEGAL;
    buildings->open_teams[slot] = open_teams;
    const PhxCellRect cells = phx_building_cells(sim->world, slot);
    phx_sim_touch(sim, cells);
    phx_sim_emit_besides(sim, event_of(PHX_EVENT_GATE, buildings->player[slot], building, cells));
    return PHX_PLACEMENT_LEGAL;
}

static int32_t clamp(int32_t value, int32_t low, int32_t high) {
    return value < low ? low : value > high ? high : value;
}

/* One row of cells; true if one of them changed. */
static bool set_row(PhxTerrainTable *terrain, size_t first, size_t count, uint8_t cost, uint8_t kind) {
    bool changed = false;
    for (size_t c = first; c < first + count; c++) {
        changed |= terrain->cost[c] != cost || terrain->kind[c] != kind;
        terrain->cost[c] = cost;
        terrain->kind[c] = kind;
    }
    return changed;
}

/* Block by block, as they are hashed: only those in which something changed are marked. */
bool phx_sim_set_ground(PhxSim *sim, PhxCellRect cells, uint8_t cost, uint8_t kind) {
    PhxTable *table = &sim->world->tables[PHX_TABLE_terrain];
    const int32_t width = (int32_t)table->width, height = (int32_t)table->height;
    const PhxCellRect in = {clamp(cells.x0, 0, width), clamp(cells.y0, 0, height), clamp(cells.x1, 0, width),
                            clamp(cells.y1, 0, height)};
    if (cost == 0 || kind >= PHX_COST_KINDS) return false;
    for (int32_t y0 = in.y0, y1; y0 < in.y1; y0 = y1) {
        y1 = clamp((y0 / PHX_GRID_BLOCK + 1) * PHX_GRID_BLOCK, 0, in.y1);
        for (int32_t x0 = in.x0, x1; x0 < in.x1; x0 = x1) {
            bool changed = false;
            x1 = clamp((x0 / PHX_GRID_BLOCK + 1) * PHX_GRID_BLOCK, 0, in.x1);
            for (int32_t y = y0; y < y1; y++)
                changed |= set_row(&sim->world->terrain, (size_t)y * table->width + (size_t)x0,
                                   (size_t)(x1 - x0), cost, kind);
            if (!changed) continue;
            phx_grid_mark(table, (uint32_t)x0, (uint32_t)y0);
            phx_sim_touch(sim, (PhxCellRect){x0, y0, x1, y1});
        }
    }
    return true;
}

static bool modifier_is_good(const PhxCostModifier *modifier) {
    return modifier->x >= -POSITION_LIMIT && modifier->x < POSITION_LIMIT && modifier->y >= -POSITION_LIMIT &&
           modifier->y < POSITION_LIMIT && modifier->radius >= 0 && modifier->radius <= RADIUS_LIMIT &&
           modifier->strength >= -STRENGTH_LIMIT && modifier->strength <= STRENGTH_LIMIT;
}

static PhxCostModifier modifier_of(const PhxWorld *world, uint32_t slot) {
    const PhxModifierTable *rows = &world->modifier;
    return (PhxCostModifier){rows->x[slot], rows->y[slot], rows->radius[slot], (int16_t)rows->strength[slot],
                             rows->teams[slot]};
}

static void touch_modifier(PhxSim *sim, uint32_t slot) {
    const PhxCostModifier modifier = modifier_of(sim->world, slot);
    phx_sim_touch(sim, phx_cost_modifier_rect(&modifier));
}

static void write_modifier(PhxSim *sim, uint32_t slot, const PhxCostModifier *modifier) {
    PhxModifierTable *rows = &sim->world->modifier;
    touch_modifier(sim, slot); /* where it was: nowhere, if the row is new */
    rows->x[slot] = modifier->x;
    rows->y[slot] = modifier->y;
    rows->radius[slot] = modifier->radius;
    rows->strength[slot] = modifier->strength;
    rows->teams[slot] = modifier->teams;
    touch_modifier(sim, slot);
}

PhxHandle phx_sim_add_modifier(PhxSim *sim, const PhxCostModifier *modifier) {
    if (!modifier_is_good(modifier)) return PHX_HANDLE_NONE;
    const PhxHandle handle = phx_table_insert(&sim->world->tables[PHX_TABLE_modifier]);
    if (handle != PHX_HANDLE_NONE) write_modifier(sim, phx_handle_slot(handle), modifier);
    return handle;
}

bool phx_sim_set_modifier(PhxSim *sim, PhxHandle handle, const PhxCostModifier *modifier) {
    const uint32_t slot = phx_table_find(&sim->world->tables[PHX_TABLE_modifier], handle);
    if (slot == UINT32_MAX || !modifier_is_good(modifier)) return false;
    write_modifier(sim, slot, modifier);
    return true;
}

bool phx_sim_remove_modifier(PhxSim *sim, PhxHandle handle) {
    PhxTable *table = &sim->world->tables[PHX_TABLE_modifier];
    const uint32_t slot = phx_table_find(table, handle);
    if (slot == UINT32_MAX) return false;
    touch_modifier(sim, slot);
    phx_table_remove(table, slot);
    return true;
}

bool phx_sim_modifier(const PhxSim *sim, PhxHandle handle, PhxCostModifier *out) {
    const uint32_t slot = phx_table_find(&sim->world->tables[PHX_TABLE_modifier], handle);
    if (slot != UINT32_MAX) *out = modifier_of(sim->world, slot);
    return slot != UINT32_MAX;
}

static void raise(uint32_t *counter) {
    if (*counter < UINT32_MAX) ++*counter;
}

/* Counts and says what wasn't done. */
static void refuse(PhxSim *sim, PhxPlacementReason reason, PhxEvent event) {
    PhxMatchTable *match = &sim->world->match;
    if (reason == PHX_PLACEMENT_LEGAL) return;
    raise(reason == PHX_PLACEMENT_FULL ? &match->commands_full[0] : &match->commands_late[0]);
    event.reason = (uint8_t)reason;
    phx_sim_emit_besides(sim, event);
}

static PhxCellRect cells_of(const PhxCommandData *command) {
    return (PhxCellRect){command->cell_x, command->cell_y, command->cell_x + command->width,
                         command->cell_y + command->height};
}

/* A new gate is open for its owner's team. */
static void execute_place(PhxSim *sim, const PhxCommandData *command, uint8_t player) {
    const uint8_t team = sim->world->player.team[player];
    const PhxBuildingInfo building = {.cells = cells_of(command),
                                      .player = player,
                                      .gate = command->gate != 0,
                                      .open_teams = (uint16_t)(1u << team)};
    refuse(sim, phx_sim_place_building(sim, &building, NULL),
           event_of(PHX_EVENT_REFUSED, player, PHX_HANDLE_NONE, building.cells));
}

/* Raze and gate: only what lives and is the player's. */
static void execute_own(PhxSim *sim, const PhxCommandData *command, uint8_t player) {
    const PhxWorld *world = sim->world;
    const uint32_t slot = phx_table_find(&world->tables[PHX_TABLE_building], command->building);
    PhxPlacementReason reason = PHX_PLACEMENT_GONE;
    PhxCellRect cells = {0, 0, 0, 0};
    if (slot != UINT32_MAX) {
        cells = phx_building_cells(world, slot);
        if (world->building.player[slot] != player)
            reason = PHX_PLACEMENT_FOREIGN;
        else if (command->type == PHX_COMMAND_RAZE)
            reason = phx_sim_raze_building(sim, command->building);
        else
            reason = phx_sim_set_gate(sim, command->building, command->open_teams);
    }
    refuse(sim, reason, event_of(PHX_EVENT_REFUSED, player, command->building, cells));
}

void phx_build_execute(PhxSim *sim, const PhxCommandData *command, uint8_t player) {
    if (command->type == PHX_COMMAND_PLACE)
        execute_place(sim, command, player);
    else if (command->type == PHX_COMMAND_GROUND)
        (void)phx_sim_set_ground(sim, cells_of(command), command->ground_cost, command->kind);
    else
        execute_own(sim, command, player);
}
