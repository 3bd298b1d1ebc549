/* commands.c: the phase `commands`: the tick's commands in canonical order, each decoded and carried out, or
 * counted as malformed, late or without room.
 *
 * Cost: linear in the bytes; a goal that can't be reached adds a search for the nearest reachable cell, once
 * for each layer and connected part that the command's units stand in. Determinism: commands run serially in
 * the order (slot, sequence); ownership is checked here, on every peer alike.
 */
#include "step/sim_internal.h"

/* Where units of one layer and one connected part of it are sent for the command's goal. */
typedef struct Aim {
    uint32_t layer, part;
    fix16_t x, y;
    bool reachable;
} Aim;

static void count(uint32_t *counter) {
    if (*counter < UINT32_MAX) ++*counter;
}

/* The slot of a unit that lives and belongs to the player, or UINT32_MAX, counted. */
static uint32_t own_unit(PhxWorld *world, const PhxCommandData *command, uint32_t i, uint8_t player) {
    const uint32_t slot = phx_table_find(&world->tables[PHX_TABLE_unit], phx_command_unit(command, i));
    if (slot != UINT32_MAX && world->unit.player[slot] == player) return slot;
    count(&world->match.commands_late[0]);
    return UINT32_MAX;
}

/* Radius of the disc that holds the command's units at a packing of 0.8: sqrt(sum of squared radii / 0.8).
 * Bound: 500 units of radius 2^20: below 2^49 / 0.8. */
static fix16_t group_radius(PhxWorld *world, const PhxCommandData *command, uint8_t player) {
    const PhxTable *units = &world->tables[PHX_TABLE_unit];
    uint64_t area = 0;
    for (uint32_t i = 0; i < command->unit_count; i++) {
        const uint32_t slot = phx_table_find(units, phx_command_unit(command, i));
        if (slot == UINT32_MAX || world->unit.player[slot] != player) continue;
        const uint64_t radius = (uint64_t)world->unit_type.radius[world->unit.type[slot]];
        area += radius * radius;
    }
    return (fix16_t)phx_isqrt64(area + area / 4);
}

/* `from`: a cell of the part. */
static Aim aim_for(const PhxSim *sim, const PhxCommandData *command, uint32_t layer, uint32_t part,
                   uint32_t from) {
    const PhxRoutes *routes = sim->layers.routes;
    const PhxNavGrid plane = phx_routes_plane(routes, layer);
    const uint32_t size = phx_layers_size(sim, layer);
    const uint32_t wanted = phx_cost_cell_of(&plane, size, command->goal_x, command->goal_y);
    const bool on_map = phx_nav_cell_at(&plane, command->goal_x, command->goal_y) != PHX_NAV_NO_CELL;
    if (on_map && phx_routes_part(routes, layer, wanted) == part)
        return (Aim){layer, part, command->goal_x, command->goal_y, true};
    const PhxVec2 center = phx_cost_center_of(&plane, size, phx_routes_nearest(routes, layer, from, wanted));
    return (Aim){layer, part, center.x, center.y, false};
}

/* The open cell of its layer that a unit stands in or next to; PHX_NAV_NO_CELL: none, on a map of walls. */
static uint32_t open_cell_of(const PhxSim *sim, uint32_t slot, uint32_t layer) {
    const PhxUnitTable *units = &sim->world->unit;
    const PhxNavGrid plane = phx_routes_plane(sim->layers.routes, layer);
    return phx_nav_nearest_open(&plane, phx_cost_cell_of(&plane, phx_layers_size(sim, layer),
                                                         units->pos_x[slot], units->pos_y[slot]));
}

static void order_unit(PhxSim *sim, uint32_t slot, const PhxCommandData *command, Aim aim, fix16_t radius) {
    PhxWorld *world = sim->world;
    const PhxOrder order = {aim.x, aim.y, radius};
    if (command->queued && world->unit.activity[slot] != 0) {
        if (!phx_order_push(world, slot, order)) count(&world->match.commands_full[0]);
    } else {
        phx_order_clear(world, slot);
        phx_order_begin(world, slot, order);
    }
    if (!aim.reachable) phx_sim_emit(sim, PHX_EVENT_UNREACHABLE, slot);
}

static void execute_move(PhxSim *sim, const PhxCommandData *command, uint8_t player) {
    const fix16_t radius = group_radius(sim->world, command, player);
    Aim aim = {.part = PHX_NAV_NO_CELL};
    for (uint32_t i = 0; i < command->unit_count; i++) {
        const uint32_t slot = own_unit(sim->world, command, i, player);
        if (slot == UINT32_MAX) continue;
        const uint32_t layer = phx_layers_of(sim, slot);
        if (!phx_layers_is_ready(sim, layer)) continue; /* the unit was born in this tick */
        const uint32_t cell = open_cell_of(sim, slot, layer);
        if (cell == PHX_NAV_NO_CELL) continue;
        const uint32_t part = phx_routes_part(sim->layers.routes, layer, cell);
        if (part != aim.part || layer != aim.layer) aim = aim_for(sim, command, layer, part, cell);
        order_unit(sim, slot, command, aim, radius);
    }
}

static void halt(PhxWorld *world, uint32_t slot) {
    phx_order_clear(world, slot);
    world->unit.activity[slot] = 0;
    world->unit.stalled[slot] = 0;
}

static void execute_stop(PhxSim *sim, const PhxCommandData *command, uint8_t player) {
    for (uint32_t i = 0; i < command->unit_count; i++) {
        const uint32_t slot = own_unit(sim->world, command, i, player);
        if (slot != UINT32_MAX) halt(sim->world, slot);
    }
}

/* The player's units stand from now on; they stay on the map. */
static void execute_leave(PhxSim *sim, uint8_t player) {
    PhxWorld *world = sim->world;
    const PhxTable *units = &world->tables[PHX_TABLE_unit];
    if (!phx_table_alive(&world->tables[PHX_TABLE_player], player) || world->player.status[player] != 0) {
        count(&world->match.commands_late[0]);
        return;
    }
    world->player.status[player] = 1;
    world->player.left_tick[player] = world->match.tick[0];
    for (uint32_t slot = 0; slot < units->used; slot++)
        if (phx_table_alive(units, slot) && world->unit.player[slot] == player) halt(world, slot);
    phx_sim_emit_besides(sim, (PhxEvent){.kind = PHX_EVENT_LEFT, .player = player});
}

static bool may_play(const PhxWorld *world, uint8_t slot) {
    if (slot == PHX_SLOT_HOST) return true;
    return phx_table_alive(&world->tables[PHX_TABLE_player], slot) && world->player.status[slot] == 0;
}

static bool execute_game(const PhxPhaseContext *context, const PhxCommand *command) {
    const PhxGame *game = context->sim->game;
    for (uint32_t i = 0; game && i < game->command_count; i++) {
        const PhxGameCommand *own = &game->commands[i];
        if (own->type != command->bytes[0]) continue;
        if (own->check(command->bytes, command->size, command->slot) != PHX_OK) return false;
        own->execute(context, command->bytes, command->size, command->slot, game->user);
        return true;
    }
    return false;
}

static bool execute_own(PhxSim *sim, const PhxCommand *command) {
    PhxCommandData data;
    if (phx_command_decode(command->bytes, command->size, &data, NULL) != PHX_OK) return false;
    switch (data.type) {
    case PHX_COMMAND_MOVE:
        execute_move(sim, &data, command->slot);
        break;
    case PHX_COMMAND_STOP:
        execute_stop(sim, &data, command->slot);
        break;
    case PHX_COMMAND_LEAVE:
        execute_leave(sim, data.slot);
        break;
    case PHX_COMMAND_PAUSE:
        sim->world->match.paused[0] = data.on;
        break;
    case PHX_COMMAND_PLACE:
    case PHX_COMMAND_RAZE:
    case PHX_COMMAND_GATE:
    case PHX_COMMAND_GROUND:
        phx_build_execute(sim, &data, command->slot);
        break;
    default:
        return false;
    }
    return true;
}

static void execute(const PhxPhaseContext *context, const PhxCommand *command) {
    PhxMatchTable *match = &context->world->match;
    if (phx_command_check(command->bytes, command->size, command->slot, NULL) != PHX_OK) {
        count(&match->commands_malformed[0]);
        return;
    }
    if (!may_play(context->world, command->slot)) {
        count(&match->commands_late[0]);
        return;
    }
    const bool done = command->bytes[0] >= PHX_COMMAND_GAME_FIRST ? execute_game(context, command)
                                                                  : execute_own(context->sim, command);
    count(done ? &match->commands_executed[0] : &match->commands_malformed[0]);
}

void phx_phase_commands(const PhxPhaseContext *context, void *user) {
    const PhxSim *sim = context->sim;
    (void)user;
    for (uint32_t i = 0; i < sim->command_count; i++) execute(context, &sim->commands[sim->queue[i].index]);
}
