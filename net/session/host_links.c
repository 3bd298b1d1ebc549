/* host_links.c: a host's connections: datagrams in and out, the handshake, the lobby, goodbyes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host.h"

void phx_host_set_stage(PhxHost *host, PhxNetStage stage) {
    host->stage = stage;
    host->stage_since = host->now;
}

void phx_host_tell_bytes(PhxHostLink *link, const uint8_t *message, size_t size) {
    if (!phx_link_write(&link->link, message, size)) link->broken = true;
}

void phx_host_tell(PhxHostLink *link, const PhxMessage *message) {
    uint8_t bytes[2048]; /* more than any message has but INPUT and TURN */
    PhxWriter writer = phx_writer_make(bytes, sizeof bytes);
    phx_message_encode(&writer, message);
    if (writer.status == PHX_OK)
        phx_host_tell_bytes(link, bytes, writer.at);
    else
        link->broken = true;
}

void phx_host_tell_all(PhxHost *host, const PhxMessage *message) {
    for (uint32_t i = 0; i < host->link_count; i++)
        if (host->links[i].state == PHX_HOST_LINK_JOINED) phx_host_tell(&host->links[i], message);
}

PhxHostLink *phx_host_link_of(PhxHost *host, uint8_t slot) {
    for (uint32_t i = 0; i < host->link_count; i++)
        if (host->links[i].state == PHX_HOST_LINK_JOINED && host->links[i].slot == slot)
            return &host->links[i];
    return NULL;
}

void phx_host_add_statistics(PhxNetStatistics *sum, const PhxLink *link) {
    const PhxLinkStatistics *one = &link->statistics;
    sum->packets_in += one->packets_in;
    sum->packets_out += one->packets_out;
    sum->bytes_in += one->bytes_in;
    sum->bytes_out += one->bytes_out;
    sum->packets_bad += one->packets_bad;
    sum->resent_bytes += one->resent_bytes;
}

static void free_link(PhxHost *host, PhxHostLink *link) {
    phx_host_add_statistics(&host->closed, &link->link);
    link->state = PHX_HOST_LINK_FREE;
}

static void close_link(PhxHost *host, PhxHostLink *link) {
    host->transport.close(host->transport.user, host->now, (uint32_t)(link - host->links));
    free_link(host, link);
}

void phx_host_dismiss(PhxHost *host, PhxHostLink *link, PhxNetReason reason, const char *text) {
    PhxMessage bye = {.type = PHX_MESSAGE_BYE};
    bye.bye.reason = (uint8_t)reason;
    bye.bye.ticks = host->sequencer.next_turn * host->config.ticks_per_turn;
    if (phx_sequencer_finished(&host->sequencer)) bye.bye.ticks = host->sequencer.config.final_ticks;
    bye.bye.agreed_ticks = host->agreement.agreed;
    bye.bye.agreed_root = host->agreement.agreed_root;
    bye.bye.text = phx_wire_text(text);
    phx_host_tell(link, &bye);
    link->state = PHX_HOST_LINK_CLOSING;
    link->deadline = host->now + host->limits.end;
}

void phx_host_player_gone(PhxHost *host, uint8_t slot, PhxNetReason reason) {
    if (host->stage == PHX_NET_STAGE_LOBBY) {
        host->present &= ~(UINT32_C(1) << slot);
        PhxNetEvent *event = phx_event_push(&host->events, PHX_NET_EVENT_LEFT);
        event->slot = slot;
        event->reason = reason;
        snprintf(event->text, sizeof event->text, "%s", host->names[slot]);
        memset(host->names[slot], 0, sizeof host->names[slot]);
        PhxMessage left = {.type = PHX_MESSAGE_LEFT};
        left.left.slot = slot;
        left.left.reason = (uint8_t)reason;
        phx_host_tell_all(host, &left);
        return;
    }
    (void)phx_sequencer_leave(&host->sequencer, slot, reason);
    phx_agreement_remove(&host->agreement, slot);
}

/* ---- handshake ---- */

static void refuse(PhxHost *host, PhxHostLink *link, PhxStatus status, uint64_t ours, uint64_t theirs,
                   const char *text) {
    PhxMessage message = {.type = PHX_MESSAGE_REFUSE};
    message.refuse.status = (uint32_t)status;
    message.refuse.host = ours;
    message.refuse.peer = theirs;
    message.refuse.text = phx_wire_text(text);
    phx_host_tell(link, &message);
    link->state = PHX_HOST_LINK_CLOSING;
    link->deadline = host->now + host->limits.end;
    PhxNetEvent *event = phx_event_push(&host->events, PHX_NET_EVENT_REFUSED);
    event->status = (int32_t)status;
    snprintf(event->text, sizeof event->text, "%s", text);
}

/* Compares what must be equal; on a difference refuses with its name and both values. */
static bool contract_holds(PhxHost *host, PhxHostLink *link, const PhxMessage *hello) {
    const PhxNetContract *ours = &host->config.contract;
    const struct {
        const char *name;
        uint64_t ours, theirs;
        bool is_hash;
    } items[] = {
        {"protocol version", PHX_NET_PROTOCOL, hello->hello.protocol, false},
        {"simulation revision", ours->revision, hello->hello.revision, false},
        {"schema hash", ours->schema, hello->hello.schema, true},
        {"content hash", ours->content, hello->hello.content, true},
        {"settings hash", ours->settings, hello->hello.settings, true},
    };
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        if (items[i].ours == items[i].theirs) continue;
        char text[PHX_NET_TEXT_MAX + 1];
        snprintf(text, sizeof text,
                 items[i].is_hash ? "%s differs: host %016" PRIx64 ", peer %016" PRIx64
                                  : "%s differs: host %" PRIu64 ", peer %" PRIu64,
                 items[i].name, items[i].ours, items[i].theirs);
        refuse(host, link, items[i].is_hash ? PHX_ERROR_MISMATCH : PHX_ERROR_VERSION, items[i].ours,
               items[i].theirs, text);
        return false;
    }
    return true;
}

/* The slot that a newcomer gets; PHX_NET_NO_SLOT, and a refusal, where there is none. */
static uint8_t find_slot(PhxHost *host, PhxHostLink *link, const PhxMessage *hello) {
    const uint8_t wanted = hello->hello.wanted_slot;
    if (host->stage != PHX_NET_STAGE_LOBBY) {
        refuse(host, link, PHX_ERROR_STATE, 0, 0, "the match has begun");
    } else if (hello->hello.role != 0 || hello->hello.token != 0) {
        refuse(host, link, PHX_ERROR_ARGUMENT, 0, 0, "only new players can join");
    } else if (wanted != PHX_NET_NO_SLOT) {
        if (wanted < host->config.players && !(host->present >> wanted & 1)) return wanted;
        refuse(host, link, PHX_ERROR_FULL, host->config.players, wanted,
               "the wanted slot is taken or doesn't exist");
    } else {
        for (uint8_t i = 0; i < host->config.players; i++)
            if (!(host->present >> i & 1)) return i;
        refuse(host, link, PHX_ERROR_FULL, host->config.players, 0, "all slots are taken");
    }
    return PHX_NET_NO_SLOT;
}

static void tell_lobby(const PhxHost *host, PhxHostLink *link, uint8_t slot) {
    PhxMessage lobby = {.type = PHX_MESSAGE_LOBBY};
    lobby.lobby.slot = slot;
    lobby.lobby.name = phx_wire_text(host->names[slot]);
    phx_host_tell(link, &lobby);
}

static void welcome(PhxHost *host, PhxHostLink *link, uint8_t slot, PhxText name) {
    phx_wire_text_copy(name, host->names[slot], sizeof host->names[slot]);
    for (uint32_t i = 0; i < host->link_count; i++)
        if (host->links[i].state == PHX_HOST_LINK_JOINED) tell_lobby(host, &host->links[i], slot);
    host->present |= UINT32_C(1) << slot;
    link->slot = slot;
    link->ready = false;
    link->state = PHX_HOST_LINK_JOINED;
    PhxMessage message = {.type = PHX_MESSAGE_WELCOME};
    message.welcome.slot = slot;
    message.welcome.players = (uint8_t)host->config.players;
    message.welcome.ticks_per_turn = (uint8_t)host->config.ticks_per_turn;
    message.welcome.delay = (uint8_t)host->config.delay;
    message.welcome.tick_rate = host->config.tick_rate;
    message.welcome.match_key = host->config.match_key;
    phx_host_tell(link, &message);
    for (uint8_t i = 0; i < host->config.players; i++)
        if (host->present >> i & 1) tell_lobby(host, link, i);
    PhxNetEvent *event = phx_event_push(&host->events, PHX_NET_EVENT_JOINED);
    event->slot = slot;
    snprintf(event->text, sizeof event->text, "%s", host->names[slot]);
}

static void greet(PhxHost *host, PhxHostLink *link, const PhxMessage *hello) {
    if (!contract_holds(host, link, hello)) return;
    const uint8_t slot = find_slot(host, link, hello);
    if (slot != PHX_NET_NO_SLOT) welcome(host, link, slot, hello->hello.name);
}

/* ---- messages ---- */

/* False: the other side broke the protocol. */
static bool take_message(PhxHost *host, PhxHostLink *link, const uint8_t *bytes, size_t size) {
    PhxMessage message;
    const PhxStatus status = phx_message_decode(bytes, size, &message, NULL);
    if (link->state == PHX_HOST_LINK_CLOSING) {
        /* It was told goodbye; what it sent before it knew doesn't matter, and its own goodbye ends the link.
         */
        if (status == PHX_OK && message.type == PHX_MESSAGE_BYE) close_link(host, link);
        return true;
    }
    if (link->state == PHX_HOST_LINK_GREETING) {
        if (message.type != PHX_MESSAGE_HELLO) return false;
        greet(host, link, &message);
        return true;
    }
    if (status != PHX_OK) return false;
    if (message.type != PHX_MESSAGE_LEAVE && message.type != PHX_MESSAGE_BYE)
        return phx_host_match_message(host, link, &message);
    const uint8_t slot = link->slot;
    phx_host_dismiss(host, link, PHX_NET_REASON_LEFT, "");
    phx_host_player_gone(host, slot, PHX_NET_REASON_LEFT);
    return true;
}

static void drop_link(PhxHost *host, PhxHostLink *link, PhxNetReason reason) {
    const bool joined = link->state == PHX_HOST_LINK_JOINED;
    const uint8_t slot = link->slot;
    if (link->state == PHX_HOST_LINK_GREETING || link->broken)
        close_link(host, link);
    else
        phx_host_dismiss(host, link, reason, phx_net_reason_text(reason));
    if (joined) phx_host_player_gone(host, slot, reason);
}

static void read_messages(PhxHost *host, PhxHostLink *link) {
    const uint8_t *message;
    size_t size;
    while (link->state != PHX_HOST_LINK_FREE && !link->broken) {
        const PhxStatus status = phx_link_read(&link->link, &message, &size);
        if (status == PHX_ERROR_NOT_FOUND) return;
        if (status != PHX_OK || !take_message(host, link, message, size)) {
            drop_link(host, link, PHX_NET_REASON_FAULT);
            return;
        }
    }
}

static void transport_event(PhxHost *host, const PhxTransportEvent *event) {
    if (event->link >= host->link_count) {
        if (event->type != PHX_TRANSPORT_LOST)
            host->transport.close(host->transport.user, host->now, event->link);
        return;
    }
    PhxHostLink *link = &host->links[event->link];
    if (event->type == PHX_TRANSPORT_CONNECTED && (host->goodbye || host->stage == PHX_NET_STAGE_ENDED)) {
        host->transport.close(host->transport.user, host->now, event->link);
    } else if (event->type == PHX_TRANSPORT_CONNECTED) {
        if (link->state == PHX_HOST_LINK_JOINED) phx_host_player_gone(host, link->slot, PHX_NET_REASON_LOST);
        phx_link_init(&link->link, link->memory, PHX_HOST_TX, PHX_HOST_RX, host->now);
        link->state = PHX_HOST_LINK_GREETING;
        link->broken = false;
        link->deadline = host->now + host->limits.connect;
    } else if (link->state == PHX_HOST_LINK_FREE) {
        return;
    } else if (event->type == PHX_TRANSPORT_DATAGRAM) {
        if (phx_link_receive(&link->link, host->now, event->data, event->size)) read_messages(host, link);
    } else if (event->type == PHX_TRANSPORT_LOST) {
        const bool joined = link->state == PHX_HOST_LINK_JOINED;
        free_link(host, link);
        if (joined) phx_host_player_gone(host, link->slot, PHX_NET_REASON_LOST);
    }
}

void phx_host_receive(PhxHost *host) {
    PhxTransportEvent event;
    for (uint32_t i = 0; i < PHX_UPDATE_EVENTS_MAX; i++) {
        if (host->transport.poll(host->transport.user, host->now, &event) == PHX_TRANSPORT_NOTHING) return;
        transport_event(host, &event);
    }
}

void phx_host_check_links(PhxHost *host) {
    for (uint32_t i = 0; i < host->link_count; i++) {
        PhxHostLink *link = &host->links[i];
        if (link->state == PHX_HOST_LINK_FREE) continue;
        const bool overdue = link->state != PHX_HOST_LINK_JOINED && host->now >= link->deadline;
        if (link->broken)
            drop_link(host, link, PHX_NET_REASON_FAULT);
        else if (overdue)
            close_link(host, link);
        else if (link->state == PHX_HOST_LINK_JOINED &&
                 host->now - link->link.last_in >= host->limits.silence)
            drop_link(host, link, PHX_NET_REASON_LOST);
    }
}

void phx_host_transmit(PhxHost *host) {
    uint8_t datagram[PHX_NET_DATAGRAM_MAX];
    for (uint32_t i = 0; i < host->link_count; i++) {
        PhxHostLink *link = &host->links[i];
        if (link->state == PHX_HOST_LINK_FREE) continue;
        size_t size;
        while ((size = phx_link_send(&link->link, host->now, datagram)) != 0)
            host->transport.send(host->transport.user, host->now, i, datagram, size);
    }
    host->transport.flush(host->transport.user, host->now);
}
