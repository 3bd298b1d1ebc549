/* events.c: the event queue, and the words for what the enumerations of the public headers mean. */
#include "events.h"

PhxNetEvent *phx_event_push(PhxEventQueue *queue, PhxNetEventType type) {
    if (queue->count == PHX_NET_EVENTS_MAX) {
        queue->head = (queue->head + 1) % PHX_NET_EVENTS_MAX;
        queue->count--;
        queue->dropped++;
    }
    PhxNetEvent *event = &queue->ring[(queue->head + queue->count++) % PHX_NET_EVENTS_MAX];
    *event = (PhxNetEvent){.type = type,
                           .slot = PHX_NET_NO_SLOT,
                           .table = PHX_NET_NO_TABLE,
                           .column = PHX_NET_NO_COLUMN,
                           .cell = PHX_NET_NO_CELL};
    return event;
}

bool phx_event_poll(PhxEventQueue *queue, PhxNetEvent *out) {
    if (queue->count == 0) return false;
    *out = queue->ring[queue->head];
    queue->head = (queue->head + 1) % PHX_NET_EVENTS_MAX;
    queue->count--;
    return true;
}

PhxLimits phx_limits_of(const PhxNetTimes *times) {
    return (PhxLimits){.connect = phx_limit_us(times->connect_ms, 10000),
                       .lobby = phx_limit_us(times->lobby_ms, 600000),
                       .load = phx_limit_us(times->load_ms, 120000),
                       .notice = phx_limit_us(times->notice_ms, 500),
                       .drop = phx_limit_us(times->drop_ms, 30000),
                       .silence = phx_limit_us(times->silence_ms, 10000),
                       .end = phx_limit_us(times->end_ms, 10000)};
}

static const char *const reason_texts[] = {
    "none",    "left",           "connection lost", "time limit passed", "broke the protocol",
    "refused", "match finished", "states differ",
};
_Static_assert(sizeof reason_texts / sizeof reason_texts[0] == PHX_NET_REASON_COUNT,
               "a text for each reason");

const char *phx_net_reason_text(PhxNetReason reason) {
    return (unsigned)reason < PHX_NET_REASON_COUNT ? reason_texts[reason] : "unknown reason";
}

static const char *const event_names[] = {
    "none", "joined",    "refused", "loading", "started", "waiting", "resumed",
    "left", "bad input", "desync",  "located", "mended",  "ended",
};
_Static_assert(sizeof event_names / sizeof event_names[0] == PHX_NET_EVENT_COUNT, "a name for each event");

const char *phx_net_event_name(PhxNetEventType type) {
    return (unsigned)type < PHX_NET_EVENT_COUNT ? event_names[type] : "unknown";
}

static const char *const stage_names[] = {"connecting", "lobby", "loading", "running", "ending", "ended"};
_Static_assert(sizeof stage_names / sizeof stage_names[0] == PHX_NET_STAGE_COUNT, "a name for each stage");

const char *phx_net_stage_name(PhxNetStage stage) {
    return (unsigned)stage < PHX_NET_STAGE_COUNT ? stage_names[stage] : "unknown";
}

/* A root and the sides that have it; the referee is side PHX_NET_PLAYERS_MAX of the arrays, bit 31 of masks.
 */
static uint32_t side_bit(uint32_t side) {
    return side < PHX_NET_PLAYERS_MAX ? UINT32_C(1) << side : PHX_NET_REFEREE_BIT;
}

uint32_t phx_net_majority(const PhxNetEvent *desync) {
    uint32_t sides = 0;
    for (uint32_t i = 0; i <= PHX_NET_PLAYERS_MAX; i++) sides += (desync->mask & side_bit(i)) != 0;
    for (uint32_t i = 0; i <= PHX_NET_PLAYERS_MAX; i++) {
        uint32_t mask = 0, count = 0;
        for (uint32_t k = 0; k <= PHX_NET_PLAYERS_MAX; k++) {
            if (!(desync->mask & side_bit(k)) || desync->root[k] != desync->root[i]) continue;
            mask |= side_bit(k);
            count++;
        }
        if (desync->mask & side_bit(i) && 2 * count > sides) return mask;
    }
    return 0;
}
