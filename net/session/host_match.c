/* host_match.c: a host's match: from the full lobby over loading, sealing, waiting and hashes to the end. */
#include <stdio.h>
#include <string.h>

#include "host.h"

enum {
    REFEREE_LEAD = 8,          /* turns, beyond the delay, that are sealed ahead of the referee */
    AGREED_PERIOD_US = 200000, /* how often the peers are told how far all agree */
    NO_HASH_GRACE_US = 300000, /* at the end, how long a match without any hash waits for a first one */
};

static uint32_t joined_players(const PhxHost *host) {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < host->link_count; i++)
        if (host->links[i].state == PHX_HOST_LINK_JOINED) mask |= UINT32_C(1) << host->links[i].slot;
    return mask;
}

/* ---- lobby and loading ---- */

static void begin_loading(PhxHost *host) {
    phx_host_set_stage(host, PHX_NET_STAGE_LOADING);
    phx_sequencer_start(&host->sequencer, host->present, host->now);
    phx_agreement_start(&host->agreement, host->present);
    if (host->config.own_slot != PHX_NET_NO_SLOT)
        phx_agreement_remove(&host->agreement, host->config.own_slot);
    if (host->referee) host->agreement.sides |= UINT32_C(1) << PHX_AGREEMENT_REFEREE;
    PhxMessage load = {.type = PHX_MESSAGE_LOAD};
    load.load.players = host->present;
    phx_host_tell_all(host, &load);
    phx_event_push(&host->events, PHX_NET_EVENT_LOADING)->mask = host->present;
}

static void begin_running(PhxHost *host) {
    phx_host_set_stage(host, PHX_NET_STAGE_RUNNING);
    host->sequencer.blocked_since = host->now;
    host->next_notice = 0;
    PhxMessage start = {.type = PHX_MESSAGE_START};
    start.start.players = host->present;
    start.start.final_ticks = host->config.final_ticks;
    phx_host_tell_all(host, &start);
    phx_event_push(&host->events, PHX_NET_EVENT_STARTED)->mask = host->present;
}

/* A word to everybody about who is waited for, at most once each notice period. */
static void tell_waiting(PhxHost *host, uint32_t mask, uint64_t since, uint64_t limit) {
    const uint64_t elapsed = host->now - since;
    if (mask == 0 ? !host->waiting_told : elapsed < host->limits.notice || host->now < host->next_notice)
        return;
    host->waiting_told = mask != 0;
    host->next_notice = host->now + host->limits.notice;
    PhxMessage waiting = {.type = PHX_MESSAGE_WAITING};
    waiting.waiting.mask = mask;
    waiting.waiting.turn = host->sequencer.next_turn;
    waiting.waiting.elapsed_ms = mask ? (uint32_t)(elapsed / 1000) : 0;
    waiting.waiting.limit_ms = mask ? (uint32_t)(limit / 1000) : 0;
    phx_host_tell_all(host, &waiting);
    PhxNetEvent *event = phx_event_push(&host->events, mask ? PHX_NET_EVENT_WAITING : PHX_NET_EVENT_RESUMED);
    event->mask = mask;
    event->turn = waiting.waiting.turn;
    event->elapsed_ms = waiting.waiting.elapsed_ms;
    event->limit_ms = waiting.waiting.limit_ms;
}

static void drop_players(PhxHost *host, uint32_t mask, PhxNetReason reason) {
    for (uint8_t slot = 0; slot < host->config.players; slot++) {
        if (!(mask >> slot & 1)) continue;
        PhxHostLink *link = phx_host_link_of(host, slot);
        if (link) phx_host_dismiss(host, link, reason, phx_net_reason_text(reason));
        phx_host_player_gone(host, slot, reason);
    }
}

static void step_loading(PhxHost *host) {
    uint32_t unready = 0;
    for (uint32_t i = 0; i < host->link_count; i++)
        if (host->links[i].state == PHX_HOST_LINK_JOINED && !host->links[i].ready)
            unready |= UINT32_C(1) << host->links[i].slot;
    tell_waiting(host, unready, host->stage_since, host->limits.load);
    if (unready != 0 && host->now - host->stage_since < host->limits.load) return;
    drop_players(host, unready, PHX_NET_REASON_TIMEOUT);
    begin_running(host);
}

/* ---- running ---- */

static void tell_left(PhxHost *host, uint32_t gone, uint32_t turn) {
    for (uint8_t slot = 0; slot < host->config.players; slot++) {
        if (!(gone >> slot & 1)) continue;
        const PhxNetReason reason = host->sequencer.slots[slot].reason;
        PhxMessage left = {.type = PHX_MESSAGE_LEFT};
        left.left.slot = slot;
        left.left.reason = (uint8_t)reason;
        left.left.turn = turn;
        phx_host_tell_all(host, &left);
        PhxNetEvent *event = phx_event_push(&host->events, PHX_NET_EVENT_LEFT);
        event->slot = slot;
        event->reason = reason;
        event->turn = turn;
        snprintf(event->text, sizeof event->text, "%s", host->names[slot]);
    }
}

static bool referee_is_behind(const PhxHost *host) {
    if (!host->referee) return false;
    if (phx_follower_full(&host->follower)) return true;
    return host->sequencer.next_turn - host->follower.next_out > host->config.delay + REFEREE_LEAD;
}

static void feed_referee(PhxHost *host, size_t size) {
    PhxMessage turn;
    if (!host->referee) return;
    if (phx_message_decode(host->scratch, size, &turn, NULL) != PHX_OK ||
        phx_follower_turn(&host->follower, host->scratch, size, &turn) != PHX_OK)
        host->referee = false; /* unreachable: the turn was made here */
}

static void seal_turns(PhxHost *host) {
    while (!referee_is_behind(host)) {
        uint32_t gone = 0;
        const uint32_t turn = host->sequencer.next_turn;
        PhxWriter writer = phx_writer_make(host->scratch, PHX_WIRE_MESSAGE_MAX);
        if (!phx_sequencer_seal(&host->sequencer, host->now, &writer, &gone)) return;
        for (uint32_t i = 0; i < host->link_count; i++)
            if (host->links[i].state == PHX_HOST_LINK_JOINED)
                phx_host_tell_bytes(&host->links[i], host->scratch, writer.at);
        feed_referee(host, writer.at);
        tell_left(host, gone, turn);
    }
}

/* Names who is missing, and drops them when their time is over. A referee that takes no turns stops counting.
 */
static void watch_waiting(PhxHost *host) {
    const uint32_t missing = phx_sequencer_missing(&host->sequencer);
    const bool referee = referee_is_behind(host);
    if (!referee) host->referee_since = 0;
    if (referee && host->referee_since == 0) host->referee_since = host->now;
    const uint64_t since = referee ? host->referee_since : host->sequencer.blocked_since;
    const uint32_t mask = referee ? PHX_NET_REFEREE_BIT : missing;
    tell_waiting(host, mask, since, host->limits.drop);
    if (mask == 0 || host->now - since < host->limits.drop) return;
    if (referee) {
        host->referee = false;
        phx_agreement_remove(&host->agreement, PHX_AGREEMENT_REFEREE);
    } else {
        drop_players(host, missing, PHX_NET_REASON_TIMEOUT);
    }
}

/* ---- hashes ---- */

static void step_hashes(PhxHost *host) {
    phx_host_step_desync(host);
    if (host->agreement.agreed == host->agreed_told || host->now < host->agreed_told_at + AGREED_PERIOD_US)
        return;
    host->agreed_told = host->agreement.agreed;
    host->agreed_told_at = host->now;
    PhxMessage agreed = {.type = PHX_MESSAGE_AGREED};
    agreed.agreed.ticks = host->agreement.agreed;
    agreed.agreed.root = host->agreement.agreed_root;
    phx_host_tell_all(host, &agreed);
}

static PhxStatus report_root(PhxHost *host, uint32_t side, uint32_t tick, uint64_t root) {
    host->hashing = true;
    PhxStatus status = phx_agreement_report(&host->agreement, side, tick, root);
    if (status != PHX_ERROR_FULL) return status;
    /* Somebody is so far behind with its hashes that they cannot be kept any longer: it no longer counts. */
    const uint32_t laggards = phx_agreement_laggards(&host->agreement);
    drop_players(host, laggards & ~(UINT32_C(1) << side), PHX_NET_REASON_TIMEOUT);
    if (laggards >> PHX_AGREEMENT_REFEREE & 1) phx_agreement_remove(&host->agreement, PHX_AGREEMENT_REFEREE);
    if (phx_agreement_advance(&host->agreement)) phx_host_ask_tables(host);
    return phx_agreement_report(&host->agreement, side, tick, root);
}

static bool take_hashes(PhxHost *host, uint8_t slot, const PhxMessage *message) {
    const PhxU64s *roots = &message->hashes.roots;
    const uint64_t executed = (uint64_t)host->sequencer.next_turn * host->config.ticks_per_turn;
    for (uint32_t i = 0; i < roots->count; i++) {
        const uint64_t tick = (uint64_t)message->hashes.first_tick + i;
        if (tick >= executed) return false; /* a state that nobody can have yet */
        if (report_root(host, slot, (uint32_t)tick, phx_wire_u64_at(roots, i)) != PHX_OK) return false;
    }
    return true;
}

PhxStatus phx_host_report_hash(PhxHost *host, uint32_t tick, uint64_t root, const uint64_t *tables,
                               uint32_t count) {
    if (!host->referee) return PHX_ERROR_STATE;
    const PhxStatus status = phx_follower_report(&host->follower, tick, root, tables, count);
    if (status != PHX_OK) return status;
    host->follower.sent = host->follower.hashed; /* goes straight into the comparison */
    return report_root(host, PHX_AGREEMENT_REFEREE, tick, root);
}

/* ---- messages ---- */

static bool take_input(PhxHost *host, const PhxHostLink *link, const PhxMessage *message) {
    if (link->slot >= host->config.players) return false;
    PhxSequencerSlot *slot = &host->sequencer.slots[link->slot];
    const uint32_t before = slot->refused;
    const PhxStatus status =
        phx_sequencer_input(&host->sequencer, link->slot, message->input.turn, &message->input.commands);
    if (slot->refused != before) {
        PhxNetEvent *event = phx_event_push(&host->events, PHX_NET_EVENT_BAD_INPUT);
        event->slot = link->slot;
        event->turn = message->input.turn;
        event->value = slot->refused;
    }
    return status == PHX_OK || status == PHX_ERROR_STATE;
}

bool phx_host_match_message(PhxHost *host, PhxHostLink *link, const PhxMessage *message) {
    const bool in_match = host->stage == PHX_NET_STAGE_RUNNING || host->stage == PHX_NET_STAGE_ENDING;
    switch (message->type) {
    case PHX_MESSAGE_READY:
        link->ready = true;
        return true;
    case PHX_MESSAGE_INPUT:
        return in_match && take_input(host, link, message);
    case PHX_MESSAGE_HASHES:
        return in_match && take_hashes(host, link->slot, message);
    case PHX_MESSAGE_TABLES:
        phx_agreement_tables(&host->agreement, link->slot, message->tables.tick, &message->tables.hashes);
        return in_match;
    case PHX_MESSAGE_TREE_ANSWER:
        return in_match && phx_host_take_tree_answer(host, link->slot, message);
    case PHX_MESSAGE_MENDED:
        return in_match && phx_host_take_mended(host, link->slot, message);
    default:
        return false; /* what only a host says, or a second HELLO */
    }
}

/* ---- end ---- */

void phx_host_begin_end(PhxHost *host, PhxNetReason reason) {
    if (host->stage >= PHX_NET_STAGE_ENDING) return;
    host->end_reason = reason;
    phx_host_set_stage(host, PHX_NET_STAGE_ENDING);
}

/* Everybody still there has taken the last turn: closing the input that lies `delay` behind it shows it. */
static bool all_taken(const PhxHost *host) {
    const PhxSequencer *sequencer = &host->sequencer;
    for (uint32_t i = 0; i < host->config.players; i++)
        if (sequencer->slots[i].state == PHX_SEQUENCER_ACTIVE &&
            sequencer->slots[i].next_turn < sequencer->final_turns + host->config.delay)
            return false;
    return !host->referee || host->follower.next_out >= sequencer->final_turns;
}

static bool all_done(PhxHost *host) {
    if (!phx_sequencer_finished(&host->sequencer)) return true; /* the match never ran */
    if (host->now - host->stage_since >= host->limits.end) return true;
    if (!all_taken(host)) return false;
    if (host->taken_since == 0) host->taken_since = host->now + 1;
    if (!host->hashing) return host->now - host->taken_since + 1 >= NO_HASH_GRACE_US;
    if (host->agreement.state == PHX_AGREEMENT_ASKING || host->descent.asking) return false;
    return phx_agreement_all_reported(&host->agreement, host->sequencer.config.final_ticks);
}

static void say_goodbye(PhxHost *host) {
    if (host->agreement.state != PHX_AGREEMENT_EQUAL) host->end_reason = PHX_NET_REASON_DESYNC;
    for (uint32_t i = 0; i < host->link_count; i++)
        if (host->links[i].state == PHX_HOST_LINK_JOINED || host->links[i].state == PHX_HOST_LINK_GREETING)
            phx_host_dismiss(host, &host->links[i], host->end_reason, phx_net_reason_text(host->end_reason));
    host->goodbye = true;
}

static void step_ending(PhxHost *host) {
    if (!host->goodbye && all_done(host)) say_goodbye(host);
    if (!host->goodbye) return;
    for (uint32_t i = 0; i < host->link_count; i++)
        if (host->links[i].state != PHX_HOST_LINK_FREE) return; /* each has its own limit */
    phx_host_set_stage(host, PHX_NET_STAGE_ENDED);
    PhxNetEvent *event = phx_event_push(&host->events, PHX_NET_EVENT_ENDED);
    event->reason = host->end_reason;
    event->tick = phx_sequencer_finished(&host->sequencer) ? host->sequencer.config.final_ticks : 0;
    event->agreed_ticks = host->agreement.agreed;
    event->agreed_root = host->agreement.agreed_root;
    snprintf(event->text, sizeof event->text, "%s", phx_net_reason_text(host->end_reason));
}

/* Nobody plays any more: the turn with the last leave command ends the match. (Without an end, turns
 * for which nobody's input is missing could be sealed for ever.) */
static void end_if_all_left(PhxHost *host) {
    if (phx_sequencer_active(&host->sequencer) != 0 || host->all_left) return;
    host->all_left = true;
    host->end_reason = PHX_NET_REASON_LEFT;
    phx_host_end(host, phx_sequencer_last_leave(&host->sequencer) * host->config.ticks_per_turn);
}

static void step_running(PhxHost *host) {
    watch_waiting(host);
    end_if_all_left(host);
    seal_turns(host);
    if (phx_sequencer_finished(&host->sequencer))
        phx_host_begin_end(host, host->end_reason ? host->end_reason : PHX_NET_REASON_FINISHED);
}

void phx_host_step(PhxHost *host) {
    if (host->stage == PHX_NET_STAGE_LOBBY) {
        const uint32_t all = (UINT32_C(1) << host->config.players) - 1;
        const uint32_t own =
            host->config.own_slot < PHX_NET_PLAYERS_MAX ? UINT32_C(1) << host->config.own_slot : 0;
        if ((joined_players(host) | own) == all)
            begin_loading(host);
        else if (host->now - host->stage_since >= host->limits.lobby)
            phx_host_begin_end(host, PHX_NET_REASON_TIMEOUT);
    }
    if (host->stage == PHX_NET_STAGE_LOADING) step_loading(host);
    if (host->stage == PHX_NET_STAGE_RUNNING) step_running(host);
    if (host->stage == PHX_NET_STAGE_RUNNING || host->stage == PHX_NET_STAGE_ENDING) step_hashes(host);
    if (host->stage == PHX_NET_STAGE_ENDING) step_ending(host);
}
