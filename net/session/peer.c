/* peer.c: one player's side of a match: creation, the calls of the game, the order of one update. What the
 * host's messages do is in peer_messages.c. */
#include "peer.h"

#include <stdio.h>
#include <string.h>

PhxPeerConfig phx_peer_config_default(void) { return (PhxPeerConfig){.wanted_slot = PHX_NET_NO_SLOT}; }

static PhxPeer *lay_out(PhxArena *arena) {
    PhxPeer measured;
    PhxPeer *placed = PHX_ARENA_ARRAY(arena, PhxPeer, 1);
    PhxPeer *peer = placed ? placed : &measured;
    peer->link_memory = PHX_ARENA_ARRAY(arena, uint8_t, phx_link_memory(PHX_PEER_TX, PHX_PEER_RX));
    phx_follower_init(&peer->follower, arena);
    return placed;
}

PhxStatus phx_peer_create(const PhxPeerConfig *config, PhxTransport transport, PhxAllocator allocator,
                          PhxPeer **out, PhxError *error) {
    *out = NULL;
    if (!memchr(config->name, 0, sizeof config->name))
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "the name has no end");
    PhxArena arena = phx_arena_measure();
    (void)lay_out(&arena);
    const PhxStatus status = phx_arena_create(&arena, allocator, arena.used);
    if (status != PHX_OK) return phx_error_set(error, status, 0, "no memory for a peer");
    PhxPeer *peer = lay_out(&arena);
    peer->arena = arena;
    peer->transport = transport;
    peer->config = *config;
    peer->limits = phx_limits_of(&config->times);
    peer->stage = PHX_NET_STAGE_CONNECTING;
    *out = peer;
    return PHX_OK;
}

void phx_peer_destroy(PhxPeer *peer) {
    if (!peer) return;
    PhxArena arena = peer->arena; /* the peer lies inside */
    phx_arena_destroy(&arena);
}

void phx_peer_tell(PhxPeer *peer, const PhxMessage *message) {
    uint8_t bytes[2048]; /* more than any message has but INPUT and TURN */
    PhxWriter writer = phx_writer_make(bytes, sizeof bytes);
    phx_message_encode(&writer, message);
    if (writer.status != PHX_OK || !phx_link_write(&peer->link, bytes, writer.at))
        phx_peer_finish(peer, PHX_NET_REASON_FAULT, "the send queue is full");
}

void phx_peer_finish(PhxPeer *peer, PhxNetReason reason, const char *text) {
    if (peer->finished) return;
    peer->finished = true;
    peer->linger_until = peer->now + (peer->link_up ? PHX_PEER_LINGER_US : 0);
    peer->stage = PHX_NET_STAGE_ENDING;
    PhxNetEvent *event = phx_event_push(&peer->events, PHX_NET_EVENT_ENDED);
    event->reason = reason;
    event->tick = peer->final_ticks;
    event->agreed_ticks = peer->agreed_ticks;
    event->agreed_root = peer->agreed_root;
    snprintf(event->text, sizeof event->text, "%s", text);
}

static void end_now(PhxPeer *peer) {
    if (peer->link_up) peer->transport.close(peer->transport.user, peer->now, 0);
    peer->link_up = false;
    peer->stage = PHX_NET_STAGE_ENDED;
}

static void say_hello(PhxPeer *peer) {
    const PhxNetContract *contract = &peer->config.contract;
    PhxMessage hello = {.type = PHX_MESSAGE_HELLO};
    hello.hello.protocol = PHX_NET_PROTOCOL;
    hello.hello.revision = contract->revision;
    hello.hello.schema = contract->schema;
    hello.hello.content = contract->content;
    hello.hello.settings = contract->settings;
    hello.hello.wanted_slot = peer->config.wanted_slot;
    hello.hello.name = phx_wire_text(peer->config.name);
    phx_peer_tell(peer, &hello);
}

static void transport_event(PhxPeer *peer, const PhxTransportEvent *event) {
    if (event->link != 0) return;
    if (event->type == PHX_TRANSPORT_CONNECTED && !peer->link_up && peer->stage == PHX_NET_STAGE_CONNECTING) {
        phx_link_init(&peer->link, peer->link_memory, PHX_PEER_TX, PHX_PEER_RX, peer->now);
        peer->link_up = true;
        say_hello(peer);
    } else if (event->type == PHX_TRANSPORT_DATAGRAM && peer->link_up) {
        if (phx_link_receive(&peer->link, peer->now, event->data, event->size)) phx_peer_read(peer);
    } else if (event->type == PHX_TRANSPORT_LOST) {
        peer->link_up = false;
        const bool came_up = peer->stage != PHX_NET_STAGE_CONNECTING;
        phx_peer_finish(peer, PHX_NET_REASON_LOST, came_up ? "the host is gone" : "no host answers");
    }
}

static void receive(PhxPeer *peer) {
    PhxTransportEvent event;
    for (uint32_t i = 0; i < PHX_UPDATE_EVENTS_MAX; i++) {
        if (peer->transport.poll(peer->transport.user, peer->now, &event) == PHX_TRANSPORT_NOTHING) break;
        transport_event(peer, &event);
    }
    if (peer->link_up) phx_peer_read(peer); /* what waited for room among the turns */
}

static void check_limits(PhxPeer *peer) {
    const uint64_t elapsed = peer->now - peer->begun;
    if (peer->stage == PHX_NET_STAGE_CONNECTING && elapsed >= peer->limits.connect)
        phx_peer_finish(peer, PHX_NET_REASON_TIMEOUT, "no host answers");
    else if (peer->link_up && peer->now - peer->link.last_in >= peer->limits.silence)
        phx_peer_finish(peer, PHX_NET_REASON_LOST, "the host is silent");
    else if (peer->leaving && peer->now >= peer->leave_deadline)
        phx_peer_finish(peer, PHX_NET_REASON_LEFT, "left; the host did not answer");
}

static void send_hashes(PhxPeer *peer) {
    uint8_t bytes[PHX_NET_HASH_BATCH * 8 + 16];
    while (phx_link_room(&peer->link) > PHX_PEER_ROOM) {
        PhxWriter writer = phx_writer_make(bytes, sizeof bytes);
        if (!phx_follower_hashes(&peer->follower, &writer)) return;
        (void)phx_link_write(&peer->link, bytes, writer.at); /* fits: room was asked for */
    }
}

static void transmit(PhxPeer *peer) {
    uint8_t datagram[PHX_NET_DATAGRAM_MAX];
    size_t size;
    while (peer->link_up && (size = phx_link_send(&peer->link, peer->now, datagram)) != 0)
        peer->transport.send(peer->transport.user, peer->now, 0, datagram, size);
    peer->transport.flush(peer->transport.user, peer->now);
}

void phx_peer_update(PhxPeer *peer, uint64_t now) {
    if (!peer->clock_set) peer->begun = now;
    if (!peer->clock_set || now > peer->now) peer->now = now;
    peer->clock_set = true;
    if (peer->stage == PHX_NET_STAGE_ENDED) return;
    receive(peer);
    if (!peer->finished) check_limits(peer);
    if (peer->link_up && peer->started) send_hashes(peer);
    if (peer->link_up && peer->answering) phx_peer_answer(peer);
    transmit(peer);
    /* The goodbye was answered and the host took that in, or it never will. */
    if (peer->finished &&
        (!peer->link_up || phx_link_drained(&peer->link) || peer->now >= peer->linger_until))
        end_now(peer);
}

bool phx_peer_poll(PhxPeer *peer, PhxNetEvent *out) { return phx_event_poll(&peer->events, out); }
PhxNetStage phx_peer_stage(const PhxPeer *peer) { return peer->stage; }
PhxMatchInfo phx_peer_match(const PhxPeer *peer) { return peer->match; }

void phx_peer_ready(PhxPeer *peer) {
    if (peer->ready || peer->stage != PHX_NET_STAGE_LOADING) return;
    peer->ready = true;
    phx_peer_tell(peer, &(PhxMessage){.type = PHX_MESSAGE_READY});
}

PhxStatus phx_peer_submit(PhxPeer *peer, uint32_t offset, const void *bytes, size_t size,
                          uint32_t *sequence) {
    if (!peer->started || peer->finished || peer->leaving) return PHX_ERROR_STATE;
    const PhxNetGame *game = &peer->config.game;
    return phx_follower_submit(&peer->follower, game->command_valid, game->user, offset, bytes, size,
                               sequence);
}

bool phx_peer_next_turn(PhxPeer *peer, PhxTurn *out) {
    uint8_t bytes[16 + PHX_WIRE_INPUT_MAX];
    PhxWriter writer = phx_writer_make(bytes, sizeof bytes);
    const bool connected = peer->link_up && !peer->finished && !peer->leaving;
    if (!peer->started || (connected && phx_link_room(&peer->link) < PHX_PEER_ROOM)) return false;
    if (!phx_follower_next_turn(&peer->follower, out, &writer)) return false;
    if (connected && writer.at != 0)
        (void)phx_link_write(&peer->link, bytes, writer.at); /* fits: see above */
    return true;
}

uint32_t phx_peer_turns_waiting(const PhxPeer *peer) { return peer->follower.turns.count; }

PhxStatus phx_peer_report_hash(PhxPeer *peer, uint32_t tick, uint64_t root, const uint64_t *tables,
                               uint32_t count) {
    if (!peer->link_up || peer->finished)
        peer->follower.sent = peer->follower.hashed; /* nobody asks any more */
    return phx_follower_report(&peer->follower, tick, root, tables, count);
}

void phx_peer_leave(PhxPeer *peer) {
    if (peer->finished || peer->leaving) return;
    if (!peer->link_up) {
        phx_peer_finish(peer, PHX_NET_REASON_LEFT, "left");
        return;
    }
    peer->leaving = true;
    peer->leave_deadline = peer->now + peer->limits.end;
    phx_peer_tell(peer, &(PhxMessage){.type = PHX_MESSAGE_LEAVE});
}

uint32_t phx_peer_agreed(const PhxPeer *peer, uint64_t *root) {
    if (root) *root = peer->agreed_root;
    return peer->agreed_ticks;
}

void phx_peer_statistics(const PhxPeer *peer, PhxNetStatistics *out) {
    const PhxLinkStatistics *link = &peer->link.statistics;
    *out = (PhxNetStatistics){.packets_in = link->packets_in,
                              .packets_out = link->packets_out,
                              .bytes_in = link->bytes_in,
                              .bytes_out = link->bytes_out,
                              .packets_bad = link->packets_bad,
                              .resent_bytes = link->resent_bytes,
                              .events_dropped = peer->events.dropped,
                              .round_trip_us = peer->link.round_trip_us};
}
