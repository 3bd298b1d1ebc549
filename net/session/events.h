/* events.h: the bounded queue of events that a host or peer holds until they are polled. */
#ifndef PHX_SESSION_EVENTS_H
#define PHX_SESSION_EVENTS_H

#include <phalanx/net.h>

/* Datagrams that one update takes in: a flood delays its own sender, not the update. */
enum { PHX_UPDATE_EVENTS_MAX = 4096 };

typedef struct PhxEventQueue {
    uint32_t head, count;
    uint64_t dropped;
    PhxNetEvent ring[PHX_NET_EVENTS_MAX];
} PhxEventQueue;

/* A fresh event of the type at the end of the queue, with no slot, to be filled in place. Where the queue is
 * full the oldest is dropped and counted: what is new matters more, and the last event is always there. */
PhxNetEvent *phx_event_push(PhxEventQueue *queue, PhxNetEventType type);
bool phx_event_poll(PhxEventQueue *queue, PhxNetEvent *out);

/* Milliseconds of a limit, or its default, in microseconds. */
static inline uint64_t phx_limit_us(uint32_t ms, uint32_t default_ms) {
    return (uint64_t)(ms ? ms : default_ms) * 1000;
}

typedef struct PhxLimits {
    uint64_t connect, lobby, load, notice, drop, silence, end; /* microseconds */
} PhxLimits;
PhxLimits phx_limits_of(const PhxNetTimes *times);

#endif
