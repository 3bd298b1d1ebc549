/* host_desync.c: what a host does when roots differ: it fetches table hashes, reports, walks down the hash
 * tree, and reports again. */
#include <string.h>

#include "host.h"

enum { ANSWER_US = 3000000 }; /* how long the answers of a round are waited for */

static uint32_t referee_bit(void) { return UINT32_C(1) << PHX_AGREEMENT_REFEREE; }

/* Side masks have the referee at bit 16, public ones at bit 31. */
static uint32_t public_mask(uint32_t sides) {
    return (sides & (referee_bit() - 1)) | (sides & referee_bit() ? PHX_NET_REFEREE_BIT : 0);
}

static uint32_t pack_values(uint32_t sides, const uint64_t *values, uint8_t *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < PHX_AGREEMENT_SIDES; i++)
        if (sides >> i & 1) phx_store_u64(out + (size_t)count++ * 8, values[i]);
    return count;
}

/* ---- tables ---- */

void phx_host_ask_tables(PhxHost *host) {
    PhxMessage query = {.type = PHX_MESSAGE_QUERY};
    query.query.tick = host->agreement.tick;
    phx_host_tell_all(host, &query);
    host->desync_deadline = host->now + ANSWER_US;
    if (!(host->agreement.asked & referee_bit())) return;
    const PhxNetTree *tree = &host->config.tree;
    const PhxU64s tables = phx_follower_tables(&host->follower, host->agreement.tick);
    phx_agreement_tables(&host->agreement, PHX_AGREEMENT_REFEREE, host->agreement.tick, &tables);
    if (tree->keep) tree->keep(tree->user, host->agreement.tick);
}

static void report_desync(PhxHost *host) {
    PhxDesync *desync = &host->desync;
    uint8_t roots[PHX_AGREEMENT_SIDES * 8], values[PHX_AGREEMENT_SIDES * 8];
    phx_agreement_conclude(&host->agreement, desync);
    PhxMessage message = {.type = PHX_MESSAGE_DESYNC};
    message.desync.tick = desync->tick;
    message.desync.table = desync->table;
    message.desync.mask = public_mask(desync->mask);
    message.desync.table_mask = public_mask(desync->table_mask);
    message.desync.roots = (PhxU64s){roots, pack_values(desync->mask, desync->root, roots)};
    message.desync.values = (PhxU64s){values, pack_values(desync->table_mask, desync->table_hash, values)};
    phx_host_tell_all(host, &message);
    PhxNetEvent *event = phx_event_push(&host->events, PHX_NET_EVENT_DESYNC);
    event->tick = desync->tick;
    event->table = desync->table;
    event->mask = message.desync.mask;
    event->value_mask = message.desync.table_mask;
    event->agreed_ticks = host->agreement.agreed;
    event->agreed_root = host->agreement.agreed_root;
    memcpy(event->root, desync->root, sizeof event->root);
    memcpy(event->values, desync->table_hash, sizeof event->values);
    host->desync_event = *event;
}

/* ---- the tree ---- */

/* The referee's own answer. */
static void answer_here(PhxHost *host) {
    PhxDescent *descent = &host->descent;
    const PhxNetTree *tree = &host->config.tree;
    uint64_t values[PHX_NET_HASH_BATCH];
    uint8_t bytes[sizeof values];
    if (!(descent->asked & referee_bit())) return;
    uint32_t total = tree->size ? tree->size(tree->user, &descent->question) : 0;
    if (total > PHX_NET_TREE_VALUES_MAX) total = 0;
    uint32_t at = 0;
    do {
        const uint32_t left = total - at, part = left < PHX_NET_HASH_BATCH ? left : PHX_NET_HASH_BATCH;
        if (part) tree->values(tree->user, &descent->question, at, part, values);
        for (uint32_t i = 0; i < part; i++) phx_store_u64(bytes + (size_t)i * 8, values[i]);
        const PhxU64s piece = {bytes, part};
        if (!phx_descent_answer(descent, PHX_AGREEMENT_REFEREE, descent->round, total, at, &piece)) return;
        at += part;
    } while (at < total);
}

static void ask_tree(PhxHost *host) {
    const PhxNetTreeQuestion *question = &host->descent.question;
    PhxMessage ask = {.type = PHX_MESSAGE_TREE_ASK};
    ask.tree_ask.round = host->descent.round;
    ask.tree_ask.level = (uint8_t)question->level;
    ask.tree_ask.tick = question->tick;
    ask.tree_ask.table = question->table;
    ask.tree_ask.column = question->column;
    ask.tree_ask.first = question->first;
    ask.tree_ask.count = question->count;
    ask.tree_ask.span = question->span;
    phx_host_tell_all(host, &ask);
    host->desync_deadline = host->now + ANSWER_US;
    answer_here(host);
}

static void report_located(PhxHost *host) {
    const PhxDescent *descent = &host->descent;
    uint8_t values[PHX_AGREEMENT_SIDES * 8];
    PhxMessage message = {.type = PHX_MESSAGE_LOCATED};
    message.located.tick = host->desync.tick;
    message.located.table = host->desync.table;
    message.located.column = descent->column;
    message.located.cell = descent->cell;
    message.located.value_mask = public_mask(descent->value_mask);
    message.located.values = (PhxU64s){values, pack_values(descent->value_mask, descent->value, values)};
    phx_host_tell_all(host, &message);
    PhxNetEvent *event = phx_event_push(&host->events, PHX_NET_EVENT_LOCATED);
    *event = host->desync_event;
    event->type = PHX_NET_EVENT_LOCATED;
    event->column = descent->column;
    event->cell = descent->cell;
    if (descent->cell != PHX_NET_NO_CELL) {
        event->value_mask = message.located.value_mask;
        memcpy(event->values, descent->value, sizeof event->values);
    }
    phx_host_begin_mending(host);
}

/* Sides that can still answer. */
static uint32_t sides_there(const PhxHost *host) {
    uint32_t mask = host->referee ? referee_bit() : 0;
    for (uint32_t i = 0; i < host->link_count; i++)
        if (host->links[i].state == PHX_HOST_LINK_JOINED) mask |= UINT32_C(1) << host->links[i].slot;
    return mask;
}

static void begin_descent(PhxHost *host) {
    PhxDescent *descent = &host->descent;
    phx_descent_begin(descent, host->desync.tick, host->desync.table, host->desync.mask);
    if (host->desync.table == PHX_NET_NO_TABLE) descent->asking = false;
    if (descent->asking)
        ask_tree(host);
    else
        report_located(host);
}

static void step_descent(PhxHost *host) {
    PhxDescent *descent = &host->descent;
    while (descent->asking &&
           (phx_descent_complete(descent, sides_there(host)) || host->now >= host->desync_deadline)) {
        phx_descent_conclude(descent);
        if (descent->asking)
            ask_tree(host);
        else
            report_located(host);
    }
}

void phx_host_step_desync(PhxHost *host) {
    if (phx_agreement_advance(&host->agreement)) phx_host_ask_tables(host);
    if (host->agreement.state == PHX_AGREEMENT_ASKING &&
        (phx_agreement_complete(&host->agreement) || host->now >= host->desync_deadline)) {
        report_desync(host);
        begin_descent(host);
    }
    step_descent(host);
    phx_host_step_mending(host);
}

bool phx_host_take_tree_answer(PhxHost *host, uint8_t slot, const PhxMessage *message) {
    return phx_descent_answer(&host->descent, slot, message->tree_answer.round, message->tree_answer.total,
                              message->tree_answer.at, &message->tree_answer.values);
}
