/* host_mend.c: how a match goes on after a desync, where the host allows it: players outside of the majority
 * get the referee's state after the tick that differed, compute the ticks since then again from the commands,
 * and comparing hashes begins anew. The match doesn't wait for it: the state is sent beside the turns, a
 * little at a time. */
#include "host.h"

enum {
    QUEUED_MAX = 32 * 1024, /* bytes of the state that wait in a link, so that turns don't wait behind many */
    LIMIT_US = 120 * 1000000 /* until everybody has mended; else the desync stays */
};

void phx_host_begin_mending(PhxHost *host) {
    const PhxNetTree *tree = &host->config.tree;
    const uint32_t majority = phx_net_majority(&host->desync_event);
    if (!host->config.mend || host->mend_used || !host->referee || !(majority & PHX_NET_REFEREE_BIT)) return;
    host->mend_used = true;
    host->mend_total = tree->state_size ? tree->state_size(tree->user, host->desync.tick) : 0;
    if (host->mend_total == 0 || host->mend_total > PHX_NET_STATE_MAX) return;
    host->mending = host->desync.mask & ~majority & ((UINT32_C(1) << PHX_NET_PLAYERS_MAX) - 1);
    host->mended = host->mend_from = 0;
    host->mend_deadline = host->now + LIMIT_US;
    for (uint32_t i = 0; i < PHX_NET_PLAYERS_MAX; i++) host->mend_at[i] = 0;
}

static void send_state(PhxHost *host, PhxHostLink *link) {
    const PhxNetTree *tree = &host->config.tree;
    uint32_t *at = &host->mend_at[link->slot];
    uint8_t bytes[PHX_NET_STATE_PIECE_MAX];
    while (*at < host->mend_total && !link->broken && phx_link_room(&link->link) > PHX_HOST_TX - QUEUED_MAX) {
        const uint32_t left = host->mend_total - *at;
        const uint32_t part = left < PHX_NET_STATE_PIECE_MAX ? left : PHX_NET_STATE_PIECE_MAX;
        tree->state_read(tree->user, host->desync.tick, *at, part, bytes);
        PhxMessage state = {.type = PHX_MESSAGE_STATE};
        state.state.tick = host->desync.tick;
        state.state.total = host->mend_total;
        state.state.at = *at;
        state.state.bytes = (PhxBytes){bytes, part};
        phx_host_tell(link, &state);
        *at += part;
    }
}

static void finish(PhxHost *host) {
    const uint32_t reported = phx_agreement_reported(&host->agreement);
    PhxMessage message = {.type = PHX_MESSAGE_MENDED};
    message.mended.mask = host->mended;
    message.mended.tick = host->mend_from > reported ? host->mend_from : reported;
    phx_agreement_resume(&host->agreement, message.mended.tick);
    phx_host_tell_all(host, &message);
    PhxNetEvent *event = phx_event_push(&host->events, PHX_NET_EVENT_MENDED);
    event->mask = host->mended;
    event->tick = message.mended.tick;
    host->mending = 0;
}

void phx_host_step_mending(PhxHost *host) {
    if (host->mending == 0) return;
    uint32_t there = 0;
    for (uint32_t i = 0; i < host->link_count; i++) {
        PhxHostLink *link = &host->links[i];
        if (link->state != PHX_HOST_LINK_JOINED || !(host->mending >> link->slot & 1)) continue;
        there |= UINT32_C(1) << link->slot;
        send_state(host, link);
    }
    host->mending &= there; /* who left needs no mending */
    if (host->now >= host->mend_deadline || !host->referee)
        host->mending = 0;
    else if ((host->mending & ~host->mended) == 0)
        finish(host);
}

bool phx_host_take_mended(PhxHost *host, uint8_t slot, const PhxMessage *message) {
    const uint64_t sealed = (uint64_t)host->sequencer.next_turn * host->config.ticks_per_turn;
    if (!(host->mending >> slot & 1)) return true; /* too late */
    if (host->mend_at[slot] < host->mend_total || message->mended.tick > sealed) return false;
    host->mended |= UINT32_C(1) << slot;
    if (message->mended.tick > host->mend_from) host->mend_from = message->mended.tick;
    return true;
}
