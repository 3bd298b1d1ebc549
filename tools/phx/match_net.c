/* match_net.c: what phx host and phx join share of the network: contract, turns, outbox, events, signals and
 * pace. */
#include "phx/match.h"

#include <inttypes.h>
#include <phalanx/hash.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* ---- contract */

PhxNetContract phx_match_contract(const PhxMatch *match) {
    PhxSettings settings = match->plan.settings;
    uint8_t bytes[PHX_SETTINGS_BYTES];
    settings.match_key = 0;
    settings.ticks_per_turn = settings.input_delay = 1;
    phx_settings_encode(&settings, bytes);
    return (PhxNetContract){.revision = PHX_SIM_REVISION,
                            .schema = phx_sim_schema_hash(match->sim),
                            .content = match->content.content_hash,
                            .settings = phx_hash_bytes(bytes, sizeof bytes)};
}

static bool command_valid(void *user, uint8_t slot, const uint8_t *bytes, size_t size) {
    (void)user;
    return phx_command_check(bytes, size, slot, NULL) == PHX_OK;
}

static size_t leave_command(void *user, uint8_t slot, PhxNetReason reason, uint8_t *out, size_t capacity) {
    (void)user;
    (void)reason;
    const PhxCommandData leave = {.type = PHX_COMMAND_LEAVE, .slot = slot};
    size_t size;
    return phx_command_encode(&leave, out, capacity, &size) == PHX_OK ? size : 0;
}

PhxNetGame phx_match_game(void) {
    return (PhxNetGame){.command_valid = command_valid, .leave_command = leave_command};
}

/* ---- turns */

bool phx_match_turn_copy(PhxMatchTurn *out, const PhxTurn *turn) {
    size_t used = 0;
    out->first_tick = turn->first_tick, out->ticks = turn->ticks, out->count = turn->count;
    if (turn->count > PHX_MATCH_TURN_COMMANDS) return false;
    for (uint32_t i = 0; i < turn->count; i++) {
        const PhxNetCommand *command = &turn->commands[i];
        if (command->size > sizeof out->bytes - used) return false;
        memcpy(out->bytes + used, command->bytes, command->size);
        out->commands[i] = (PhxCommand){.slot = command->slot,
                                        .sequence = command->sequence,
                                        .size = command->size,
                                        .bytes = out->bytes + used};
        out->tick_of[i] = command->tick;
        used += command->size;
    }
    return true;
}

const PhxCommand *phx_match_turn_commands(const PhxMatchTurn *turn, uint32_t tick, uint32_t *count) {
    uint32_t first = 0;
    while (first < turn->count && turn->tick_of[first] < tick) first++;
    uint32_t end = first;
    while (end < turn->count && turn->tick_of[end] == tick) end++;
    *count = end - first;
    return turn->commands + first;
}

/* ---- outbox */

static void outbox_append(PhxMatchOutbox *outbox, const uint8_t *bytes, size_t size) {
    if (outbox->end + 2 + size > sizeof outbox->bytes) {
        memmove(outbox->bytes, outbox->bytes + outbox->begin, outbox->end - outbox->begin);
        outbox->end -= outbox->begin;
        outbox->begin = 0;
    }
    if (outbox->end + 2 + size > sizeof outbox->bytes || size > UINT16_MAX) {
        outbox->lost++;
        return;
    }
    outbox->bytes[outbox->end] = (uint8_t)size;
    outbox->bytes[outbox->end + 1] = (uint8_t)(size >> 8);
    memcpy(outbox->bytes + outbox->end + 2, bytes, size);
    outbox->end += 2 + size;
    outbox->given++;
}

/* A command for more units than the network's limit of bytes allows becomes several, each for some of the
 * units. */
void phx_match_outbox_add(void *user, const uint8_t *bytes, uint32_t size) {
    enum { PIECE = PHX_COMMAND_UNIT_LIMIT - (PHX_COMMAND_SIZE_LIMIT - PHX_NET_COMMAND_MAX + 7) / 8 };
    PhxMatchOutbox *outbox = user;
    PhxCommandData command;
    PhxHandle units[PIECE];
    uint8_t piece[PHX_NET_COMMAND_MAX];
    if (size <= PHX_NET_COMMAND_MAX || phx_command_decode(bytes, size, &command, NULL) != PHX_OK) {
        outbox_append(outbox, bytes, size);
        return;
    }
    PhxCommandData part = command;
    for (uint32_t i = 0; i < command.unit_count; i += part.unit_count) {
        size_t written;
        part.unit_count = (uint16_t)(command.unit_count - i < PIECE ? command.unit_count - i : PIECE);
        part.units = units;
        for (uint32_t k = 0; k < part.unit_count; k++) units[k] = phx_command_unit(&command, i + k);
        if (phx_command_encode(&part, piece, sizeof piece, &written) == PHX_OK)
            outbox_append(outbox, piece, written);
        else
            outbox->lost++;
    }
}

void phx_match_outbox_flush(PhxMatchOutbox *outbox, PhxMatchSubmit submit, void *user, uint32_t offset) {
    while (outbox->begin < outbox->end) {
        const uint8_t *at = outbox->bytes + outbox->begin;
        const size_t size = at[0] | (size_t)at[1] << 8;
        const PhxStatus status = submit(user, offset, at + 2, size);
        if (status == PHX_ERROR_FULL) return;
        if (status) outbox->lost++;
        outbox->begin += 2 + size;
    }
    outbox->begin = outbox->end = 0;
}

typedef struct Orders {
    PhxMatchOutbox *outbox;
    uint8_t slot;
} Orders;

static void add_order(void *user, uint8_t slot, const uint8_t *bytes, uint32_t size) {
    const Orders *orders = user;
    if (slot == orders->slot) phx_match_outbox_add(orders->outbox, bytes, size);
}

void phx_match_think(const PhxMatch *match, const PhxScenario *scenario, const PhxBot *bot, uint8_t slot,
                     PhxMatchOutbox *outbox) {
    Orders orders = {.outbox = outbox, .slot = slot};
    const uint32_t tick = phx_sim_tick(match->sim);
    phx_scenario_orders(scenario, match->sim, tick, add_order, &orders);
    if (bot) bot->run(match->sim, slot, tick, phx_match_outbox_add, outbox);
}

/* ---- events */

const char *phx_match_slot_name(const PhxMatch *match, uint32_t slot, char text[40]) {
    PhxPlayerInfo player;
    if (slot < PHX_PLAYER_LIMIT && phx_sim_player(match->sim, slot, &player))
        snprintf(text, 40, "player %" PRIu32 " (%s)", slot, player.name);
    else if (slot < PHX_PLAYER_LIMIT)
        snprintf(text, 40, "player %" PRIu32, slot);
    else
        snprintf(text, 40, "the host");
    return text;
}

const char *phx_match_why(const PhxNetEvent *event) {
    return event->text[0] ? event->text : phx_net_reason_text(event->reason);
}

/* At once, and again each time the wait has doubled. */
static void say_waiting(PhxMatch *match, const PhxNetEvent *event) {
    if (event->elapsed_ms < match->wait_said) return;
    match->wait_said = 2 * event->elapsed_ms;
    char names[400] = "", name[40];
    size_t used = 0;
    for (uint32_t slot = 0; slot < PHX_NET_PLAYERS_MAX && used + sizeof name + 2 < sizeof names; slot++)
        if (event->mask >> slot & 1)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     phx_match_slot_name(match, slot, name));
    if (event->mask & PHX_NET_REFEREE_BIT)
        snprintf(names + used, sizeof names - used, "%sthe host", used ? ", " : "");
    phx_cli_note(match->cli, "turn %" PRIu32 ": waiting for %s for %.1f s (limit %.0f s)", event->turn, names,
                 event->elapsed_ms / 1e3, event->limit_ms / 1e3);
}

void phx_match_event(PhxMatch *match, const PhxNetEvent *event) {
    char name[40];
    switch (event->type) {
    case PHX_NET_EVENT_WAITING:
        say_waiting(match, event);
        break;
    case PHX_NET_EVENT_RESUMED:
        match->wait_said = 0;
        break;
    case PHX_NET_EVENT_LEFT:
        phx_cli_note(match->cli, "%s is gone: %s", phx_match_slot_name(match, event->slot, name),
                     phx_net_reason_text(event->reason));
        phx_match_note(match, PHX_REPLAY_NOTE_LEFT, event->slot, phx_net_reason_text(event->reason));
        break;
    case PHX_NET_EVENT_BAD_INPUT:
        phx_cli_note(match->cli, "%s: a malformed command was refused (%" PRIu64 " so far)",
                     phx_match_slot_name(match, event->slot, name), event->value);
        break;
    case PHX_NET_EVENT_DESYNC:
    case PHX_NET_EVENT_LOCATED:
    case PHX_NET_EVENT_MENDED:
        phx_match_desync_event(match, event);
        break;
    default:
        break;
    }
}

void phx_match_report_wire(PhxMatch *match, const PhxNetStatistics *statistics, uint32_t ticks,
                           uint64_t milliseconds) {
    const double seconds = milliseconds ? (double)milliseconds / 1e3 : 1e-3;
    const double match_seconds = (double)ticks / match->plan.settings.tick_rate;
    const double bytes = (double)(statistics->bytes_in + statistics->bytes_out);
    phx_cli_set(match->cli, "wire",
                json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f}", "bytes_in",
                          (json_int_t)statistics->bytes_in, "bytes_out", (json_int_t)statistics->bytes_out,
                          "packets_in", (json_int_t)statistics->packets_in, "packets_out",
                          (json_int_t)statistics->packets_out, "packets_bad",
                          (json_int_t)statistics->packets_bad, "resent_bytes",
                          (json_int_t)statistics->resent_bytes, "round_trip_us",
                          (json_int_t)statistics->round_trip_us, "bytes_per_second", bytes / seconds,
                          "bytes_per_match_second", match_seconds > 0 ? bytes / match_seconds : 0.0));
    phx_cli_print(
        match->cli,
        "  wire      %.0f bytes a second as played (%.0f in, %.0f out), %.0f a second of match time; %" PRIu64
        " datagrams, %" PRIu64 " bytes sent again\n",
        bytes / seconds, (double)statistics->bytes_in / seconds, (double)statistics->bytes_out / seconds,
        match_seconds > 0 ? bytes / match_seconds : 0.0, statistics->packets_in + statistics->packets_out,
        statistics->resent_bytes);
}

/* ---- signals */

static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
    (void)number;
    interrupted = 1;
}

void phx_match_catch_signals(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool phx_match_interrupted(void) { return interrupted != 0; }

/* ---- pace */

PhxMatchPace phx_match_pace(uint32_t tick_rate, uint32_t ticks_per_turn) {
    return (PhxMatchPace){.turn_ns = tick_rate ? UINT64_C(1000000000) * ticks_per_turn / tick_rate : 0};
}

bool phx_match_due(const PhxMatchPace *pace, uint64_t now) { return now >= pace->next; }

void phx_match_took(PhxMatchPace *pace, uint64_t now) {
    if (!pace->turn_ns) return;
    pace->next = (pace->next ? pace->next : now) + pace->turn_ns;
    if (pace->next + UINT64_C(1000000000) < now) pace->next = now - UINT64_C(1000000000);
}

uint32_t phx_match_sleep(const PhxMatchPace *pace, uint64_t now) {
    if (!pace->turn_ns) return 20;
    if (now >= pace->next) return 1;
    const uint64_t left = (pace->next - now) / 1000000;
    return left < 20 ? (uint32_t)left + 1 : 20;
}
