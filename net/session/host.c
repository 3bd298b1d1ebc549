/* host.c: the host's interface: creation, the calls of the game, the order of one update. */
#include "host.h"

#include <string.h>

PhxHostConfig phx_host_config_default(void) {
    return (PhxHostConfig){
        .players = 2, .ticks_per_turn = 1, .delay = 2, .tick_rate = 20, .own_slot = PHX_NET_NO_SLOT};
}

static PhxStatus check_config(const PhxHostConfig *config, PhxError *error) {
    const struct {
        const char *name;
        uint32_t value, low, high;
    } fields[] = {
        {"players", config->players, 1, PHX_NET_PLAYERS_MAX},
        {"ticks_per_turn", config->ticks_per_turn, 1, PHX_NET_TICKS_PER_TURN_MAX},
        {"delay", config->delay, 1, PHX_NET_DELAY_MAX},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].value < fields[i].low || fields[i].value > fields[i].high)
            return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "%s is %u, not in %u..%u", fields[i].name,
                                 (unsigned)fields[i].value, (unsigned)fields[i].low,
                                 (unsigned)fields[i].high);
    if (config->own_slot == PHX_NET_NO_SLOT) return PHX_OK;
    if (config->own_slot >= config->players)
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "own_slot %u is no player's", config->own_slot);
    if (!config->referee)
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "a host that plays must be a referee too");
    return PHX_OK;
}

/* Lays the host's memory out; run once to measure and once to take. Null while measuring. */
static PhxHost *lay_out(const PhxHostConfig *config, PhxArena *arena) {
    PhxHost measured;
    PhxHost *placed = PHX_ARENA_ARRAY(arena, PhxHost, 1);
    PhxHost *host = placed ? placed : &measured;
    const uint32_t links = config->players + PHX_HOST_SPARE_LINKS;
    host->link_count = links;
    host->links = PHX_ARENA_ARRAY(arena, PhxHostLink, links);
    for (uint32_t i = 0; i < links; i++) {
        uint8_t *memory = PHX_ARENA_ARRAY(arena, uint8_t, phx_link_memory(PHX_HOST_TX, PHX_HOST_RX));
        if (placed) host->links[i].memory = memory;
    }
    const PhxSequencerConfig sequencer = {.players = config->players,
                                          .ticks_per_turn = config->ticks_per_turn,
                                          .delay = config->delay,
                                          .final_ticks = config->final_ticks,
                                          .command_valid = config->game.command_valid,
                                          .leave_command = config->game.leave_command,
                                          .user = config->game.user};
    phx_sequencer_init(&host->sequencer, &sequencer, arena);
    if (config->referee) phx_follower_init(&host->follower, arena);
    phx_agreement_init(&host->agreement, arena);
    phx_descent_init(&host->descent, config->players, arena);
    host->scratch = PHX_ARENA_ARRAY(arena, uint8_t, PHX_WIRE_MESSAGE_MAX);
    return placed;
}

PhxStatus phx_host_create(const PhxHostConfig *config, PhxTransport transport, PhxAllocator allocator,
                          PhxHost **out, PhxError *error) {
    *out = NULL;
    const PhxStatus checked = check_config(config, error);
    if (checked != PHX_OK) return checked;
    PhxArena arena = phx_arena_measure();
    (void)lay_out(config, &arena);
    const PhxStatus status = phx_arena_create(&arena, allocator, arena.used);
    if (status != PHX_OK) return phx_error_set(error, status, 0, "no memory for a host");
    PhxHost *host = lay_out(config, &arena);
    host->arena = arena;
    host->transport = transport;
    host->config = *config;
    host->limits = phx_limits_of(&config->times);
    host->stage = PHX_NET_STAGE_LOBBY;
    host->referee = config->referee;
    if (config->referee)
        phx_follower_begin(&host->follower, config->own_slot, config->ticks_per_turn, config->delay);
    if (config->referee && config->final_ticks) host->follower.final_ticks = config->final_ticks;
    if (config->own_slot != PHX_NET_NO_SLOT) {
        host->present |= UINT32_C(1) << config->own_slot;
        memcpy(host->names[config->own_slot], "host", 5);
    }
    *out = host;
    return PHX_OK;
}

void phx_host_destroy(PhxHost *host) {
    if (!host) return;
    PhxArena arena = host->arena; /* the host lies inside */
    phx_arena_destroy(&arena);
}

void phx_host_update(PhxHost *host, uint64_t now) {
    if (!host->clock_set) host->stage_since = now;
    if (!host->clock_set || now > host->now) host->now = now;
    host->clock_set = true;
    phx_host_receive(host);
    phx_host_check_links(host);
    phx_host_step(host);
    phx_host_transmit(host);
}

bool phx_host_poll(PhxHost *host, PhxNetEvent *out) { return phx_event_poll(&host->events, out); }

PhxNetStage phx_host_stage(const PhxHost *host) { return host->stage; }

uint32_t phx_host_players(const PhxHost *host) {
    return host->stage == PHX_NET_STAGE_LOBBY ? host->present : phx_sequencer_active(&host->sequencer);
}

const char *phx_host_player_name(const PhxHost *host, uint8_t slot) {
    return slot < PHX_NET_PLAYERS_MAX ? host->names[slot] : "";
}

PhxStatus phx_host_submit(PhxHost *host, uint32_t offset, const void *bytes, size_t size,
                          uint32_t *sequence) {
    if (host->stage != PHX_NET_STAGE_RUNNING) return PHX_ERROR_STATE;
    return phx_sequencer_submit(&host->sequencer, offset, bytes, size, sequence);
}

PhxStatus phx_host_submit_own(PhxHost *host, uint32_t offset, const void *bytes, size_t size,
                              uint32_t *sequence) {
    if (host->stage != PHX_NET_STAGE_RUNNING || host->config.own_slot == PHX_NET_NO_SLOT)
        return PHX_ERROR_STATE;
    const PhxNetGame *game = &host->config.game;
    return phx_follower_submit(&host->follower, game->command_valid, game->user, offset, bytes, size,
                               sequence);
}

bool phx_host_next_turn(PhxHost *host, PhxTurn *out) {
    uint8_t bytes[16 + PHX_WIRE_INPUT_MAX];
    PhxWriter writer = phx_writer_make(bytes, sizeof bytes);
    if (!host->config.referee || !phx_follower_next_turn(&host->follower, out, &writer)) return false;
    PhxMessage input;
    if (writer.at == 0 || phx_message_decode(bytes, writer.at, &input, NULL) != PHX_OK) return true;
    const PhxStatus status =
        phx_sequencer_input(&host->sequencer, host->config.own_slot, input.input.turn, &input.input.commands);
    if (status != PHX_OK)
        phx_host_player_gone(host, host->config.own_slot, PHX_NET_REASON_FAULT); /* or is already */
    return true;
}

PhxStatus phx_host_drop(PhxHost *host, uint8_t slot, PhxNetReason reason) {
    PhxHostLink *link = phx_host_link_of(host, slot);
    if (!link && (slot >= PHX_NET_PLAYERS_MAX || !(phx_host_players(host) >> slot & 1)))
        return PHX_ERROR_NOT_FOUND;
    if (link) phx_host_dismiss(host, link, reason, phx_net_reason_text(reason));
    phx_host_player_gone(host, slot, reason);
    return PHX_OK;
}

void phx_host_end(PhxHost *host, uint32_t ticks) {
    if (host->stage < PHX_NET_STAGE_RUNNING) {
        phx_host_begin_end(host, PHX_NET_REASON_FINISHED);
        return;
    }
    if (host->stage != PHX_NET_STAGE_RUNNING) return;
    PhxMessage end = {.type = PHX_MESSAGE_END};
    end.end.ticks = phx_sequencer_end(&host->sequencer, ticks);
    host->follower.final_ticks = end.end.ticks;
    phx_host_tell_all(host, &end);
}

uint32_t phx_host_agreed(const PhxHost *host, uint64_t *root) {
    if (root) *root = host->agreement.agreed_root;
    return host->agreement.agreed;
}

void phx_host_statistics(const PhxHost *host, PhxNetStatistics *out) {
    *out = host->closed;
    for (uint32_t i = 0; i < host->link_count; i++) {
        const PhxLink *link = &host->links[i].link;
        if (host->links[i].state == PHX_HOST_LINK_FREE) continue;
        phx_host_add_statistics(out, link);
        if (link->round_trip_us > out->round_trip_us) out->round_trip_us = link->round_trip_us;
    }
    for (uint32_t i = 0; i < host->config.players; i++)
        out->commands_refused += host->sequencer.slots[i].refused;
    out->events_dropped = host->events.dropped;
}
