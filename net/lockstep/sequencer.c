/* sequencer.c: see sequencer.h. */
#include "lockstep/sequencer.h"

#include <string.h>

#include "base/sort.h"

enum { RECORD_MAX = 8 + PHX_WIRE_INPUT_MAX + PHX_QUEUE_RECORD_HEAD };

void phx_sequencer_init(PhxSequencer *sequencer, const PhxSequencerConfig *config, PhxArena *arena) {
    *sequencer = (PhxSequencer){.config = *config};
    const uint32_t k = config->ticks_per_turn;
    sequencer->final_turns = config->final_ticks ? (config->final_ticks - 1) / k + 1 : UINT32_MAX;
    sequencer->slots = PHX_ARENA_ARRAY(arena, PhxSequencerSlot, config->players);
    for (uint32_t i = 0; i < config->players; i++) {
        const size_t capacity = (size_t)(config->delay + 1) * RECORD_MAX;
        uint8_t *bytes = PHX_ARENA_ARRAY(arena, uint8_t, capacity);
        if (sequencer->slots) sequencer->slots[i].inputs = phx_queue_make(bytes, capacity);
    }
    sequencer->host_commands = PHX_ARENA_ARRAY(arena, uint8_t, PHX_WIRE_INPUT_MAX);
    sequencer->sorted = PHX_ARENA_ARRAY(arena, PhxNetCommand, PHX_WIRE_COMMANDS_MAX);
    sequencer->scratch = PHX_ARENA_ARRAY(arena, uint8_t, PHX_WIRE_MESSAGE_MAX);
    sequencer->leave_bytes = PHX_ARENA_ARRAY(arena, uint8_t, PHX_NET_PLAYERS_MAX * PHX_NET_LEAVE_MAX);
}

void phx_sequencer_start(PhxSequencer *sequencer, uint32_t mask, uint64_t now) {
    for (uint32_t i = 0; i < sequencer->config.players; i++) {
        PhxSequencerSlot *slot = &sequencer->slots[i];
        slot->state = mask >> i & 1 ? PHX_SEQUENCER_ACTIVE : PHX_SEQUENCER_ABSENT;
        slot->next_turn = sequencer->config.delay;
    }
    sequencer->blocked_since = now;
}

/* Whether the game knows the command; asked of everything before it is sealed. */
static bool well_formed(const PhxSequencer *sequencer, uint8_t slot, const PhxNetCommand *command) {
    const PhxSequencerConfig *config = &sequencer->config;
    return !config->command_valid || config->command_valid(config->user, slot, command->bytes, command->size);
}

/* Copies the commands that may be executed to `writer`; returns how many. */
static PhxStatus filter_input(PhxSequencer *sequencer, uint8_t number, const PhxCommands *commands,
                              PhxWriter *writer, uint32_t *kept) {
    PhxSequencerSlot *slot = &sequencer->slots[number];
    PhxReader reader = phx_wire_commands(commands);
    uint32_t bytes = 0;
    if (commands->count > PHX_NET_TURN_COMMANDS_MAX) return PHX_ERROR_LIMIT;
    for (uint32_t i = 0; i < commands->count; i++) {
        PhxNetCommand command;
        phx_wire_command_read(&reader, &command);
        if (reader.status != PHX_OK) return reader.status;
        if (command.slot != number || command.sequence != slot->next_sequence) return PHX_ERROR_FORMAT;
        if (command.tick >= sequencer->config.ticks_per_turn) return PHX_ERROR_FORMAT;
        bytes += command.size;
        if (bytes > PHX_NET_TURN_BYTES_MAX) return PHX_ERROR_LIMIT;
        slot->next_sequence++;
        if (well_formed(sequencer, number, &command)) {
            phx_wire_command_write(writer, &command);
            ++*kept;
        } else {
            slot->refused++;
        }
    }
    return writer->status;
}

PhxStatus phx_sequencer_input(PhxSequencer *sequencer, uint8_t number, uint32_t turn,
                              const PhxCommands *commands) {
    if (number >= sequencer->config.players) return PHX_ERROR_STATE;
    PhxSequencerSlot *slot = &sequencer->slots[number];
    if (slot->state != PHX_SEQUENCER_ACTIVE) return PHX_ERROR_STATE;
    if (turn != slot->next_turn) return PHX_ERROR_FORMAT;
    /* A side closes the input for turn T + delay when it takes turn T, which must have been sealed. */
    if (turn - sequencer->next_turn >= sequencer->config.delay) return PHX_ERROR_FULL;
    PhxWriter writer = phx_writer_make(sequencer->scratch, PHX_WIRE_MESSAGE_MAX);
    uint32_t kept = 0;
    phx_write_u32(&writer, turn);
    phx_write_u32(&writer, 0);
    const PhxStatus status = filter_input(sequencer, number, commands, &writer, &kept);
    if (status != PHX_OK) return status;
    phx_store_u32(sequencer->scratch + 4, kept);
    if (!phx_queue_push(&slot->inputs, sequencer->scratch, writer.at)) return PHX_ERROR_FULL;
    slot->next_turn++;
    return PHX_OK;
}

PhxStatus phx_sequencer_submit(PhxSequencer *sequencer, uint32_t offset, const uint8_t *bytes, size_t size,
                               uint32_t *sequence) {
    if (offset >= sequencer->config.ticks_per_turn || size == 0 || size > PHX_NET_COMMAND_MAX)
        return PHX_ERROR_ARGUMENT;
    const PhxNetCommand command = {.tick = offset,
                                   .sequence = sequencer->host_sequence,
                                   .bytes = bytes,
                                   .size = (uint16_t)size,
                                   .slot = PHX_NET_HOST_SLOT};
    if (!well_formed(sequencer, PHX_NET_HOST_SLOT, &command)) return PHX_ERROR_FORMAT;
    if (sequencer->host_count == PHX_NET_TURN_COMMANDS_MAX) return PHX_ERROR_FULL;
    PhxWriter writer = phx_writer_make(sequencer->host_commands, PHX_WIRE_INPUT_MAX);
    writer.at = sequencer->host_size;
    phx_wire_command_write(&writer, &command);
    if (writer.status != PHX_OK) return PHX_ERROR_FULL;
    sequencer->host_size = (uint32_t)writer.at;
    sequencer->host_count++;
    if (sequence) *sequence = sequencer->host_sequence;
    sequencer->host_sequence++;
    return PHX_OK;
}

bool phx_sequencer_leave(PhxSequencer *sequencer, uint8_t number, PhxNetReason reason) {
    if (number >= sequencer->config.players) return false;
    PhxSequencerSlot *slot = &sequencer->slots[number];
    if (slot->state != PHX_SEQUENCER_ACTIVE) return false;
    slot->state = PHX_SEQUENCER_LEAVING;
    slot->reason = reason;
    return true;
}

uint32_t phx_sequencer_last_leave(const PhxSequencer *sequencer) {
    uint32_t turns = sequencer->next_turn;
    for (uint32_t i = 0; i < sequencer->config.players; i++) {
        const PhxSequencerSlot *slot = &sequencer->slots[i];
        if (slot->state != PHX_SEQUENCER_LEAVING) continue;
        /* What is in is for turns up to next_turn - 1 of the slot; the leave command comes in the one behind.
         */
        const uint32_t last = slot->inputs.count ? slot->next_turn + 1 : sequencer->next_turn + 1;
        if (last > turns) turns = last;
    }
    return turns;
}

uint32_t phx_sequencer_end(PhxSequencer *sequencer, uint32_t ticks) {
    const uint32_t k = sequencer->config.ticks_per_turn, sealed = sequencer->next_turn * k;
    uint32_t final_ticks = ticks > sealed ? ticks : sealed;
    if (sequencer->final_turns != UINT32_MAX && final_ticks > sequencer->config.final_ticks)
        final_ticks = sequencer->config.final_ticks; /* an end that was told isn't put off */
    sequencer->config.final_ticks = final_ticks;
    sequencer->final_turns = final_ticks ? (final_ticks - 1) / k + 1 : 0;
    return final_ticks;
}

bool phx_sequencer_finished(const PhxSequencer *sequencer) {
    return sequencer->next_turn >= sequencer->final_turns;
}

/* The oldest input that is in, if it is for the next turn; the commands begin behind turn and count. */
static bool input_of_turn(const PhxSequencer *sequencer, const PhxSequencerSlot *slot, PhxCommands *out) {
    size_t size;
    const uint8_t *record = phx_queue_front(&slot->inputs, &size);
    if (!record) return false;
    PhxReader reader = phx_reader_make(record, size);
    const uint32_t turn = phx_read_u32(&reader), count = phx_read_u32(&reader);
    if (turn != sequencer->next_turn) return false;
    if (out) *out = (PhxCommands){record + reader.at, (uint32_t)(size - reader.at), count};
    return true;
}

uint32_t phx_sequencer_missing(const PhxSequencer *sequencer) {
    uint32_t mask = 0;
    if (sequencer->next_turn < sequencer->config.delay || phx_sequencer_finished(sequencer)) return 0;
    for (uint32_t i = 0; i < sequencer->config.players; i++) {
        const PhxSequencerSlot *slot = &sequencer->slots[i];
        if (slot->state == PHX_SEQUENCER_ACTIVE && !input_of_turn(sequencer, slot, NULL))
            mask |= UINT32_C(1) << i;
    }
    return mask;
}

uint32_t phx_sequencer_active(const PhxSequencer *sequencer) {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < sequencer->config.players; i++)
        if (sequencer->slots[i].state == PHX_SEQUENCER_ACTIVE) mask |= UINT32_C(1) << i;
    return mask;
}

static uint32_t collect(PhxSequencer *sequencer, const PhxCommands *commands, uint32_t count) {
    PhxReader reader = phx_wire_commands(commands);
    for (uint32_t i = 0; i < commands->count && count < PHX_WIRE_COMMANDS_MAX; i++)
        phx_wire_command_read(&reader, &sequencer->sorted[count++]);
    return count;
}

/* The leave command of a player into the host's slot, at the turn's first tick. */
static uint32_t collect_leave(PhxSequencer *sequencer, uint8_t number, uint32_t count) {
    const PhxSequencerConfig *config = &sequencer->config;
    uint8_t *bytes = sequencer->leave_bytes + (size_t)number * PHX_NET_LEAVE_MAX;
    size_t size = 0;
    if (config->leave_command)
        size = config->leave_command(config->user, number, sequencer->slots[number].reason, bytes,
                                     PHX_NET_LEAVE_MAX);
    if (size == 0 || size > PHX_NET_LEAVE_MAX || count == PHX_WIRE_COMMANDS_MAX) return count;
    sequencer->sorted[count] = (PhxNetCommand){.tick = 0,
                                               .sequence = sequencer->host_sequence++,
                                               .bytes = bytes,
                                               .size = (uint16_t)size,
                                               .slot = PHX_NET_HOST_SLOT};
    return count + 1;
}

PHX_DEFINE_SORT(sort_commands, PhxNetCommand, phx_wire_command_before)

/* Gathers the turn's commands, unsorted, and lets the players go whose input ends here. */
static uint32_t gather(PhxSequencer *sequencer, uint32_t *gone) {
    uint32_t count = 0;
    PhxCommands commands;
    for (uint32_t i = 0; i < sequencer->config.players; i++) {
        PhxSequencerSlot *slot = &sequencer->slots[i];
        const bool present = slot->state == PHX_SEQUENCER_ACTIVE || slot->state == PHX_SEQUENCER_LEAVING;
        if (present && input_of_turn(sequencer, slot, &commands))
            count = collect(sequencer, &commands, count);
        else if (slot->state == PHX_SEQUENCER_LEAVING && slot->inputs.count == 0)
            *gone |= UINT32_C(1) << i;
    }
    commands = (PhxCommands){sequencer->host_commands, sequencer->host_size, sequencer->host_count};
    count = collect(sequencer, &commands, count);
    for (uint32_t i = 0; i < sequencer->config.players; i++) {
        if (!(*gone >> i & 1)) continue;
        count = collect_leave(sequencer, (uint8_t)i, count);
        sequencer->slots[i].state = PHX_SEQUENCER_GONE;
        sequencer->slots[i].left_turn = sequencer->next_turn;
    }
    return count;
}

bool phx_sequencer_seal(PhxSequencer *sequencer, uint64_t now, PhxWriter *message, uint32_t *gone) {
    *gone = 0;
    if (phx_sequencer_finished(sequencer) || phx_sequencer_missing(sequencer)) return false;
    const uint32_t count = gather(sequencer, gone);
    const uint32_t k = sequencer->config.ticks_per_turn, turn = sequencer->next_turn;
    const bool last = turn + 1 == sequencer->final_turns;
    const uint32_t ticks = last ? sequencer->config.final_ticks - turn * k : k;
    sort_commands(sequencer->sorted, count);
    PhxWriter writer = phx_writer_make(sequencer->scratch, PHX_WIRE_MESSAGE_MAX);
    uint32_t written = 0;
    for (; written < count && sequencer->sorted[written].tick < ticks; written++)
        phx_wire_command_write(&writer, &sequencer->sorted[written]);
    PhxMessage sealed = {.type = PHX_MESSAGE_TURN};
    sealed.turn.turn = turn;
    sealed.turn.commands = (PhxCommands){sequencer->scratch, (uint32_t)writer.at, written};
    phx_message_encode(message, &sealed);
    for (uint32_t i = 0; i < sequencer->config.players; i++)
        if (input_of_turn(sequencer, &sequencer->slots[i], NULL)) phx_queue_pop(&sequencer->slots[i].inputs);
    sequencer->host_size = sequencer->host_count = 0;
    sequencer->next_turn++;
    sequencer->blocked_since = now;
    return true;
}
