/* follower.c: see follower.h. */
#include "lockstep/follower.h"

#include <string.h>

void phx_follower_init(PhxFollower *follower, PhxArena *arena) {
    *follower = (PhxFollower){.final_ticks = UINT32_MAX, .slot = PHX_NET_NO_SLOT};
    uint8_t *turns = PHX_ARENA_ARRAY(arena, uint8_t, PHX_FOLLOWER_TURNS_BYTES);
    follower->turns = phx_queue_make(turns, PHX_FOLLOWER_TURNS_BYTES);
    follower->current = PHX_ARENA_ARRAY(arena, uint8_t, PHX_WIRE_MESSAGE_MAX);
    follower->view = PHX_ARENA_ARRAY(arena, PhxNetCommand, PHX_WIRE_COMMANDS_MAX);
    follower->input = PHX_ARENA_ARRAY(arena, uint8_t, PHX_WIRE_INPUT_MAX);
    follower->roots = PHX_ARENA_ARRAY(arena, uint64_t, PHX_NET_HASH_HISTORY);
    follower->tables = PHX_ARENA_ARRAY(arena, uint64_t, PHX_NET_HASH_HISTORY * PHX_NET_TABLES_MAX);
    follower->table_counts = PHX_ARENA_ARRAY(arena, uint8_t, PHX_NET_HASH_HISTORY);
}

void phx_follower_begin(PhxFollower *follower, uint8_t slot, uint32_t ticks_per_turn, uint32_t delay) {
    follower->slot = slot;
    follower->ticks_per_turn = ticks_per_turn;
    follower->delay = delay;
}

PhxStatus phx_follower_submit(PhxFollower *follower, PhxCommandValidFn valid, void *user, uint32_t offset,
                              const void *bytes, size_t size, uint32_t *sequence) {
    if (offset >= follower->ticks_per_turn || size == 0 || size > PHX_NET_COMMAND_MAX || !bytes)
        return PHX_ERROR_ARGUMENT;
    if (valid && !valid(user, follower->slot, bytes, size)) return PHX_ERROR_FORMAT;
    if (follower->input_count == PHX_NET_TURN_COMMANDS_MAX) return PHX_ERROR_FULL;
    if (follower->input_bytes + size > PHX_NET_TURN_BYTES_MAX) return PHX_ERROR_FULL;
    const PhxNetCommand command = {.tick = offset,
                                   .sequence = follower->next_sequence,
                                   .bytes = bytes,
                                   .size = (uint16_t)size,
                                   .slot = follower->slot};
    PhxWriter writer = phx_writer_make(follower->input, PHX_WIRE_INPUT_MAX);
    writer.at = follower->input_size;
    phx_wire_command_write(&writer, &command);
    if (writer.status != PHX_OK) return PHX_ERROR_FULL;
    follower->input_size = (uint32_t)writer.at;
    follower->input_bytes += (uint32_t)size;
    follower->input_count++;
    if (sequence) *sequence = follower->next_sequence;
    follower->next_sequence++;
    return PHX_OK;
}

PhxStatus phx_follower_turn(PhxFollower *follower, const uint8_t *message, size_t size,
                            const PhxMessage *turn) {
    if (turn->turn.turn != follower->next_in) return PHX_ERROR_FORMAT;
    PhxReader reader = phx_wire_commands(&turn->turn.commands);
    PhxNetCommand before = {0}, command;
    for (uint32_t i = 0; i < turn->turn.commands.count; i++, before = command) {
        phx_wire_command_read(&reader, &command);
        if (command.tick >= follower->ticks_per_turn) return PHX_ERROR_FORMAT;
        if (i > 0 && !phx_wire_command_before(&before, &command)) return PHX_ERROR_FORMAT;
    }
    if (!phx_queue_push(&follower->turns, message, size)) return PHX_ERROR_FULL;
    follower->next_in++;
    return PHX_OK;
}

bool phx_follower_full(const PhxFollower *follower) {
    return phx_queue_room(&follower->turns) < PHX_WIRE_MESSAGE_MAX;
}

/* The commands of the turn that was taken, with their ticks counted from the beginning of the match. */
static uint32_t make_view(PhxFollower *follower, const PhxCommands *commands, uint32_t first_tick) {
    PhxReader reader = phx_wire_commands(commands);
    for (uint32_t i = 0; i < commands->count; i++) {
        phx_wire_command_read(&reader, &follower->view[i]);
        follower->view[i].tick += first_tick;
    }
    return commands->count;
}

static void close_input(PhxFollower *follower, uint32_t turn, PhxWriter *message) {
    if (follower->slot >= PHX_NET_PLAYERS_MAX) return;
    PhxMessage input = {.type = PHX_MESSAGE_INPUT};
    input.input.turn = turn;
    input.input.commands = (PhxCommands){follower->input, follower->input_size, follower->input_count};
    phx_message_encode(message, &input);
    follower->input_size = follower->input_count = follower->input_bytes = 0;
}

bool phx_follower_next_turn(PhxFollower *follower, PhxTurn *out, PhxWriter *input) {
    size_t size;
    const uint8_t *message = phx_queue_front(&follower->turns, &size);
    if (!message) return false;
    memcpy(follower->current, message, size);
    phx_queue_pop(&follower->turns);
    PhxMessage turn;
    if (phx_message_decode(follower->current, size, &turn, NULL) != PHX_OK)
        return false; /* was decoded before */
    const uint32_t first_tick = turn.turn.turn * follower->ticks_per_turn;
    const uint32_t left = follower->final_ticks > first_tick ? follower->final_ticks - first_tick : 0;
    *out = (PhxTurn){.turn = turn.turn.turn,
                     .first_tick = first_tick,
                     .ticks = left < follower->ticks_per_turn ? left : follower->ticks_per_turn,
                     .commands = follower->view,
                     .count = make_view(follower, &turn.turn.commands, first_tick)};
    close_input(follower, turn.turn.turn + follower->delay, input);
    follower->next_out++;
    return true;
}

PhxStatus phx_follower_report(PhxFollower *follower, uint32_t tick, uint64_t root, const uint64_t *tables,
                              uint32_t count) {
    if (tick != follower->hashed || count > PHX_NET_TABLES_MAX) return PHX_ERROR_ARGUMENT;
    if (follower->hashed - follower->sent == PHX_NET_HASH_HISTORY) return PHX_ERROR_FULL;
    const uint32_t at = tick % PHX_NET_HASH_HISTORY;
    follower->roots[at] = root;
    follower->table_counts[at] = (uint8_t)count;
    uint8_t *bytes = (uint8_t *)(follower->tables + (size_t)at * PHX_NET_TABLES_MAX);
    for (uint32_t i = 0; i < count; i++) phx_store_u64(bytes + (size_t)i * 8, tables[i]);
    follower->hashed++;
    return PHX_OK;
}

bool phx_follower_hashes(PhxFollower *follower, PhxWriter *message) {
    const uint32_t left = follower->hashed - follower->sent;
    if (left == 0) return false;
    const uint32_t count = left < PHX_NET_HASH_BATCH ? left : PHX_NET_HASH_BATCH;
    uint8_t bytes[PHX_NET_HASH_BATCH * 8];
    for (uint32_t i = 0; i < count; i++)
        phx_store_u64(bytes + (size_t)i * 8, follower->roots[(follower->sent + i) % PHX_NET_HASH_HISTORY]);
    PhxMessage hashes = {.type = PHX_MESSAGE_HASHES};
    hashes.hashes.first_tick = follower->sent;
    hashes.hashes.roots = (PhxU64s){bytes, count};
    phx_message_encode(message, &hashes);
    if (message->status != PHX_OK) return false;
    follower->sent += count;
    return true;
}

PhxU64s phx_follower_tables(const PhxFollower *follower, uint32_t tick) {
    if (tick >= follower->hashed || follower->hashed - tick > PHX_NET_HASH_HISTORY) return (PhxU64s){NULL, 0};
    const uint32_t at = tick % PHX_NET_HASH_HISTORY;
    return (PhxU64s){(const uint8_t *)(follower->tables + (size_t)at * PHX_NET_TABLES_MAX),
                     follower->table_counts[at]};
}

uint32_t phx_turn_commands(const PhxTurn *turn, uint32_t tick, const PhxNetCommand **first) {
    uint32_t begin = 0;
    while (begin < turn->count && turn->commands[begin].tick < tick) begin++;
    uint32_t end = begin;
    while (end < turn->count && turn->commands[end].tick == tick) end++;
    *first = turn->commands + begin;
    return end - begin;
}
