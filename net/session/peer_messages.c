/* peer_messages.c: what the host's messages do to a peer. A message that breaks the rules ends the
 * connection. */
#include <stdio.h>
#include <string.h>

#include "peer.h"

static bool take_welcome(PhxPeer *peer, const PhxMessage *message) {
    const uint8_t slot = message->welcome.slot, k = message->welcome.ticks_per_turn;
    const uint8_t players = message->welcome.players, delay = message->welcome.delay;
    if (peer->stage != PHX_NET_STAGE_CONNECTING || players > PHX_NET_PLAYERS_MAX || slot >= players)
        return false;
    if (k == 0 || k > PHX_NET_TICKS_PER_TURN_MAX || delay == 0 || delay > PHX_NET_DELAY_MAX) return false;
    if (message->welcome.first_tick != 0) return false; /* joining a running match needs its state first */
    peer->match = (PhxMatchInfo){.slot = slot,
                                 .players = players,
                                 .ticks_per_turn = k,
                                 .delay = delay,
                                 .tick_rate = message->welcome.tick_rate,
                                 .match_key = message->welcome.match_key};
    phx_follower_begin(&peer->follower, slot, k, delay);
    peer->stage = PHX_NET_STAGE_LOBBY;
    return true;
}

static bool take_refuse(PhxPeer *peer, const PhxMessage *message) {
    if (peer->stage != PHX_NET_STAGE_CONNECTING) return false;
    char text[PHX_NET_TEXT_MAX + 1];
    phx_wire_text_copy(message->refuse.text, text, sizeof text);
    PhxNetEvent *event = phx_event_push(&peer->events, PHX_NET_EVENT_REFUSED);
    event->status = (int32_t)message->refuse.status;
    event->reason = PHX_NET_REASON_REFUSED;
    snprintf(event->text, sizeof event->text, "%s", text);
    phx_peer_tell(peer, &(PhxMessage){.type = PHX_MESSAGE_BYE});
    phx_peer_finish(peer, PHX_NET_REASON_REFUSED, text);
    return true;
}

static bool take_lobby(PhxPeer *peer, const PhxMessage *message) {
    const uint8_t slot = message->lobby.slot;
    if (slot >= peer->match.players || peer->started) return false;
    phx_wire_text_copy(message->lobby.name, peer->names[slot], sizeof peer->names[slot]);
    PhxNetEvent *event = phx_event_push(&peer->events, PHX_NET_EVENT_JOINED);
    event->slot = slot;
    snprintf(event->text, sizeof event->text, "%s", peer->names[slot]);
    return true;
}

static bool take_load(PhxPeer *peer, const PhxMessage *message) {
    if (peer->stage != PHX_NET_STAGE_LOBBY) return false;
    peer->stage = PHX_NET_STAGE_LOADING;
    phx_event_push(&peer->events, PHX_NET_EVENT_LOADING)->mask = message->load.players;
    if (!peer->config.manual_ready) phx_peer_ready(peer);
    return true;
}

static bool take_start(PhxPeer *peer, const PhxMessage *message) {
    if (peer->stage != PHX_NET_STAGE_LOADING) return false;
    peer->stage = PHX_NET_STAGE_RUNNING;
    peer->started = true;
    peer->final_ticks = message->start.final_ticks;
    if (peer->final_ticks) peer->follower.final_ticks = peer->final_ticks;
    phx_event_push(&peer->events, PHX_NET_EVENT_STARTED)->mask = message->start.players;
    return true;
}

static bool take_end(PhxPeer *peer, const PhxMessage *message) {
    const uint64_t there = (uint64_t)peer->follower.next_in * peer->match.ticks_per_turn;
    const uint32_t ticks = message->end.ticks;
    /* The end may lie in or after the last turn that is here, not before it. */
    if (!peer->started || (uint64_t)ticks + peer->match.ticks_per_turn <= there) return false;
    peer->final_ticks = peer->follower.final_ticks = ticks;
    return true;
}

static bool take_turn(PhxPeer *peer, const PhxMessage *message, const uint8_t *bytes, size_t size) {
    if (!peer->started || phx_follower_turn(&peer->follower, bytes, size, message) != PHX_OK) return false;
    const uint64_t there = (uint64_t)peer->follower.next_in * peer->match.ticks_per_turn;
    if (there >= peer->follower.final_ticks) peer->stage = PHX_NET_STAGE_ENDING;
    return true;
}

static bool take_agreed(PhxPeer *peer, const PhxMessage *message) {
    if (!peer->started) return false;
    peer->agreed_ticks = message->agreed.ticks;
    peer->agreed_root = message->agreed.root;
    return true;
}

static bool take_query(PhxPeer *peer, const PhxMessage *message) {
    if (!peer->started) return false;
    PhxMessage tables = {.type = PHX_MESSAGE_TABLES};
    tables.tables.tick = message->query.tick;
    tables.tables.hashes = phx_follower_tables(&peer->follower, message->query.tick);
    phx_peer_tell(peer, &tables);
    const PhxNetTree *tree = &peer->config.tree;
    if (tree->keep && tables.tables.hashes.count) tree->keep(tree->user, message->query.tick);
    return true;
}

static bool take_tree_ask(PhxPeer *peer, const PhxMessage *message) {
    const PhxNetTree *tree = &peer->config.tree;
    if (!peer->started || message->tree_ask.level >= PHX_NET_TREE_LEVEL_COUNT) return false;
    if (message->tree_ask.level != PHX_NET_TREE_COLUMNS &&
        (message->tree_ask.count == 0 || message->tree_ask.span == 0))
        return false;
    peer->question = (PhxNetTreeQuestion){.tick = message->tree_ask.tick,
                                          .level = (PhxNetTreeLevel)message->tree_ask.level,
                                          .table = message->tree_ask.table,
                                          .column = message->tree_ask.column,
                                          .first = message->tree_ask.first,
                                          .count = message->tree_ask.count,
                                          .span = message->tree_ask.span};
    peer->question_round = message->tree_ask.round;
    peer->answer_total = tree->size ? tree->size(tree->user, &peer->question) : 0;
    if (peer->answer_total > PHX_NET_TREE_VALUES_MAX) peer->answer_total = 0;
    peer->answer_at = 0;
    peer->answering = true;
    return true;
}

void phx_peer_answer(PhxPeer *peer) {
    const PhxNetTree *tree = &peer->config.tree;
    uint64_t values[PHX_NET_HASH_BATCH];
    uint8_t bytes[sizeof values];
    while (peer->answering && phx_link_room(&peer->link) > PHX_PEER_ROOM) {
        const uint32_t left = peer->answer_total - peer->answer_at;
        const uint32_t part = left < PHX_NET_HASH_BATCH ? left : PHX_NET_HASH_BATCH;
        if (part) tree->values(tree->user, &peer->question, peer->answer_at, part, values);
        for (uint32_t i = 0; i < part; i++) phx_store_u64(bytes + (size_t)i * 8, values[i]);
        PhxMessage answer = {.type = PHX_MESSAGE_TREE_ANSWER};
        answer.tree_answer.round = peer->question_round;
        answer.tree_answer.total = peer->answer_total;
        answer.tree_answer.at = peer->answer_at;
        answer.tree_answer.values = (PhxU64s){bytes, part};
        phx_peer_tell(peer, &answer);
        peer->answer_at += part;
        peer->answering = peer->answer_at < peer->answer_total;
    }
}

/* One value for each bit of the mask, ascending; the referee's (bit 31) last. False: their number is another.
 */
static bool unpack_values(uint32_t mask, const PhxU64s *values, uint64_t *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < 32; i++) {
        if (!(mask >> i & 1)) continue;
        const uint32_t at = i == 31 ? PHX_NET_PLAYERS_MAX : i;
        if (at > PHX_NET_PLAYERS_MAX || (i >= PHX_NET_PLAYERS_MAX && i != 31) || count >= values->count)
            return false;
        out[at] = phx_wire_u64_at(values, count++);
    }
    return count == values->count;
}

static bool take_desync(PhxPeer *peer, const PhxMessage *message) {
    uint64_t roots[PHX_NET_PLAYERS_MAX + 1] = {0}, values[PHX_NET_PLAYERS_MAX + 1] = {0};
    if (!peer->started || !unpack_values(message->desync.mask, &message->desync.roots, roots) ||
        !unpack_values(message->desync.table_mask, &message->desync.values, values))
        return false;
    PhxNetEvent *event = phx_event_push(&peer->events, PHX_NET_EVENT_DESYNC);
    event->tick = message->desync.tick;
    event->table = message->desync.table;
    event->mask = message->desync.mask;
    event->value_mask = message->desync.table_mask;
    event->agreed_ticks = peer->agreed_ticks;
    event->agreed_root = peer->agreed_root;
    for (uint32_t i = 0; i <= PHX_NET_PLAYERS_MAX; i++) {
        event->root[i] = roots[i];
        event->values[i] = values[i];
    }
    peer->desync = *event;
    return true;
}

static bool take_located(PhxPeer *peer, const PhxMessage *message) {
    uint64_t values[PHX_NET_PLAYERS_MAX + 1] = {0};
    if (peer->desync.type != PHX_NET_EVENT_DESYNC || message->located.tick != peer->desync.tick ||
        !unpack_values(message->located.value_mask, &message->located.values, values))
        return false;
    PhxNetEvent *event = phx_event_push(&peer->events, PHX_NET_EVENT_LOCATED);
    *event = peer->desync;
    event->type = PHX_NET_EVENT_LOCATED;
    event->table = message->located.table;
    event->column = message->located.column;
    event->cell = message->located.cell;
    if (event->cell == PHX_NET_NO_CELL) return true;
    event->value_mask = message->located.value_mask;
    memcpy(event->values, values, sizeof event->values);
    return true;
}

/* One state after a desync; its pieces come in order. */
static bool take_state(PhxPeer *peer, const PhxMessage *message) {
    const PhxNetTree *tree = &peer->config.tree;
    const PhxBytes *bytes = &message->state.bytes;
    const uint32_t total = message->state.total, at = message->state.at;
    if (peer->desync.type != PHX_NET_EVENT_DESYNC || message->state.tick != peer->desync.tick) return false;
    if (at != peer->state_at || total > PHX_NET_STATE_MAX || (at != 0 && total != peer->state_total))
        return false;
    if (bytes->size == 0 || bytes->size > total - at) return false;
    peer->state_total = total;
    peer->state_at = at + bytes->size;
    if (!tree->state_take) return true;
    const bool taken = tree->state_take(tree->user, message->state.tick, total, at, bytes->data, bytes->size);
    if (!taken || peer->state_at < total) return true;
    PhxMessage mended = {.type = PHX_MESSAGE_MENDED};
    mended.mended.tick = peer->follower.hashed;
    phx_peer_tell(peer, &mended);
    return true;
}

static bool take_mended(PhxPeer *peer, const PhxMessage *message) {
    if (peer->desync.type != PHX_NET_EVENT_DESYNC) return false;
    PhxNetEvent *event = phx_event_push(&peer->events, PHX_NET_EVENT_MENDED);
    event->mask = message->mended.mask;
    event->tick = message->mended.tick;
    return true;
}

static bool take_waiting(PhxPeer *peer, const PhxMessage *message) {
    PhxNetEvent *event =
        phx_event_push(&peer->events, message->waiting.mask ? PHX_NET_EVENT_WAITING : PHX_NET_EVENT_RESUMED);
    event->mask = message->waiting.mask;
    event->turn = message->waiting.turn;
    event->elapsed_ms = message->waiting.elapsed_ms;
    event->limit_ms = message->waiting.limit_ms;
    return true;
}

static PhxNetReason reason_of(uint8_t number) {
    return number < PHX_NET_REASON_COUNT ? (PhxNetReason)number : PHX_NET_REASON_NONE;
}

static bool take_left(PhxPeer *peer, const PhxMessage *message) {
    const uint8_t slot = message->left.slot;
    if (slot >= peer->match.players) return false;
    PhxNetEvent *event = phx_event_push(&peer->events, PHX_NET_EVENT_LEFT);
    event->slot = slot;
    event->reason = reason_of(message->left.reason);
    event->turn = message->left.turn;
    snprintf(event->text, sizeof event->text, "%s", peer->names[slot]);
    return true;
}

static bool take_bye(PhxPeer *peer, const PhxMessage *message) {
    char text[PHX_NET_TEXT_MAX + 1];
    phx_wire_text_copy(message->bye.text, text, sizeof text);
    peer->final_ticks = message->bye.ticks;
    peer->agreed_ticks = message->bye.agreed_ticks;
    peer->agreed_root = message->bye.agreed_root;
    phx_peer_tell(peer, &(PhxMessage){.type = PHX_MESSAGE_BYE});
    phx_peer_finish(peer, reason_of(message->bye.reason), text);
    return true;
}

/* False: the host broke the protocol. */
static bool take_message(PhxPeer *peer, const PhxMessage *message, const uint8_t *bytes, size_t size) {
    switch (message->type) {
    case PHX_MESSAGE_WELCOME:
        return take_welcome(peer, message);
    case PHX_MESSAGE_REFUSE:
        return take_refuse(peer, message);
    case PHX_MESSAGE_LOBBY:
        return take_lobby(peer, message);
    case PHX_MESSAGE_LOAD:
        return take_load(peer, message);
    case PHX_MESSAGE_START:
        return take_start(peer, message);
    case PHX_MESSAGE_TURN:
        return take_turn(peer, message, bytes, size);
    case PHX_MESSAGE_AGREED:
        return take_agreed(peer, message);
    case PHX_MESSAGE_QUERY:
        return take_query(peer, message);
    case PHX_MESSAGE_DESYNC:
        return take_desync(peer, message);
    case PHX_MESSAGE_TREE_ASK:
        return take_tree_ask(peer, message);
    case PHX_MESSAGE_LOCATED:
        return take_located(peer, message);
    case PHX_MESSAGE_STATE:
        return take_state(peer, message);
    case PHX_MESSAGE_MENDED:
        return take_mended(peer, message);
    case PHX_MESSAGE_WAITING:
        return take_waiting(peer, message);
    case PHX_MESSAGE_LEFT:
        return take_left(peer, message);
    case PHX_MESSAGE_END:
        return take_end(peer, message);
    case PHX_MESSAGE_BYE:
        return take_bye(peer, message);
    default:
        return false; /* what only a peer says */
    }
}

void phx_peer_read(PhxPeer *peer) {
    const uint8_t *bytes;
    size_t size;
    PhxMessage message;
    while (!peer->finished && !phx_follower_full(&peer->follower)) {
        PhxStatus status = phx_link_read(&peer->link, &bytes, &size);
        if (status == PHX_ERROR_NOT_FOUND) return;
        if (status == PHX_OK) status = phx_message_decode(bytes, size, &message, NULL);
        if (status == PHX_OK && take_message(peer, &message, bytes, size)) continue;
        phx_peer_tell(peer, &(PhxMessage){.type = PHX_MESSAGE_BYE});
        phx_peer_finish(peer, PHX_NET_REASON_FAULT, "the host broke the protocol");
    }
}
