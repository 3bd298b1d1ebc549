/* commands.c: the phase `commands`: the tick's commands in canonical order, each decoded and carried out, or
 * counted as malformed, late or without room.
 *
 * Cost: linear in the bytes. Determinism: commands run serially in the order (slot, sequence); ownership is
 * checked here, on every peer alike.
 */
#include "step/sim_internal.h"

static void count(uint32_t *counter) {
    if (*counter < UINT32_MAX) ++*counter;
}

uint32_t phx_command_own_unit(PhxWorld *world, const PhxCommandData *command, uint32_t i, uint8_t player) {
    const uint32_t slot = phx_table_find(&world->tables[PHX_TABLE_unit], phx_command_unit(command, i));
    if (slot != UINT32_MAX && world->unit.player[slot] == player) return slot;
    count(&world->match.commands_late[0]);
    return UINT32_MAX;
}

static void halt(PhxWorld *world, uint32_t slot) {
    phx_order_clear(world, slot);
    phx_order_end(world, slot);
}

static void execute_stop(PhxSim *sim, const PhxCommandData *command, uint8_t player) {
    for (uint32_t i = 0; i < command->unit_count; i++) {
        const uint32_t slot = phx_command_own_unit(sim->world, command, i, player);
        if (slot != UINT32_MAX) halt(sim->world, slot);
    }
}

static void execute_behave(PhxSim *sim, const PhxCommandData *command, uint8_t player) {
    PhxUnitTable *units = &sim->world->unit;
    for (uint32_t i = 0; i < command->unit_count; i++) {
        const uint32_t slot = phx_command_own_unit(sim->world, command, i, player);
        if (slot == UINT32_MAX) continue;
        if (command->mood != PHX_BEHAVE_KEEP) units->mood[slot] = command->mood;
        if (command->behaviour != PHX_BEHAVE_KEEP) units->behaviour[slot] = command->behaviour;
    }
}

static void execute_flock(PhxSim *sim, const PhxCommandData *command, uint8_t player) {
    for (uint32_t i = 0; i < command->unit_count; i++) {
        const uint32_t slot = phx_command_own_unit(sim->world, command, i, player);
        if (slot != UINT32_MAX) sim->world->unit.flock[slot] = command->flock;
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
    case PHX_COMMAND_MARCH:
    case PHX_COMMAND_MOVE_AREA:
    case PHX_COMMAND_MOVE_NEAREST:
    case PHX_COMMAND_MOVE_BLEND:
    case PHX_COMMAND_CHASE:
        phx_march_execute(sim, &data, command->slot);
        break;
    case PHX_COMMAND_STOP:
        execute_stop(sim, &data, command->slot);
        break;
    case PHX_COMMAND_BEHAVE:
        execute_behave(sim, &data, command->slot);
        break;
    case PHX_COMMAND_FLOCK:
        execute_flock(sim, &data, command->slot);
        break;
    case PHX_COMMAND_FORM:
        phx_form_execute(sim, &data, command->slot);
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
