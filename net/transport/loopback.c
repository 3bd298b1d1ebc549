/* loopback.c: endpoints in one process that share one block of inboxes.
 *
 * In: datagrams sent by one endpoint. Out: the same at the other, in order. Cost: one copy in, none out.
 * Memory: a ring of datagrams for each endpoint, allocated at creation; a full ring drops.
 * Determinism: order of arrival is order of sending; time plays no part.
 */
#include <phalanx/net_transport.h>
#include <string.h>

enum { INBOX_MAX = 1024, ENDPOINTS_MAX = 64 };

typedef struct Datagram {
    uint32_t from; /* endpoint */
    uint16_t size;
    bool lost; /* not a datagram: the sender closed the link */
    uint8_t data[PHX_NET_DATAGRAM_MAX];
} Datagram;

typedef struct Hub Hub;
typedef struct Endpoint {
    Hub *hub;
    uint32_t index;
    uint32_t head, count;
    Datagram *inbox;
    bool up[ENDPOINTS_MAX]; /* links on which CONNECTED was given, by the other side's index */
} Endpoint;

struct Hub {
    PhxAllocator allocator;
    size_t size;
    uint32_t endpoints, alive;
    Endpoint endpoint[ENDPOINTS_MAX];
};

/* The star: a peer's only link leads to the host, the host's link i to endpoint i + 1. */
static uint32_t other_side(const Endpoint *endpoint, uint32_t link) {
    return endpoint->index == 0 ? link + 1 : 0;
}
static uint32_t link_of(const Endpoint *endpoint, uint32_t other) {
    return endpoint->index == 0 ? other - 1 : 0;
}

static Datagram *push(Hub *hub, uint32_t to, uint32_t from) {
    Endpoint *endpoint = &hub->endpoint[to];
    if (!endpoint->inbox || endpoint->count == INBOX_MAX) return NULL;
    Datagram *datagram = &endpoint->inbox[(endpoint->head + endpoint->count) % INBOX_MAX];
    endpoint->count++;
    datagram->from = from;
    datagram->size = 0;
    datagram->lost = false;
    return datagram;
}

static void loopback_send(void *user, uint64_t now, uint32_t link, const uint8_t *data, size_t size) {
    Endpoint *endpoint = user;
    (void)now;
    const uint32_t to = other_side(endpoint, link);
    if (to >= endpoint->hub->endpoints || size > PHX_NET_DATAGRAM_MAX) return;
    Datagram *datagram = push(endpoint->hub, to, endpoint->index);
    if (!datagram) return;
    datagram->size = (uint16_t)size;
    memcpy(datagram->data, data, size);
}

static PhxTransportEventType loopback_poll(void *user, uint64_t now, PhxTransportEvent *out) {
    Endpoint *endpoint = user;
    (void)now;
    *out = (PhxTransportEvent){0};
    if (endpoint->index != 0 && !endpoint->up[0]) {
        endpoint->up[0] = true;
        return out->type = PHX_TRANSPORT_CONNECTED;
    }
    while (endpoint->count != 0) {
        const Datagram *datagram = &endpoint->inbox[endpoint->head];
        out->link = link_of(endpoint, datagram->from);
        if (!endpoint->up[datagram->from] && !datagram->lost) {
            endpoint->up[datagram->from] = true;
            return out->type = PHX_TRANSPORT_CONNECTED;
        }
        endpoint->head = (endpoint->head + 1) % INBOX_MAX;
        endpoint->count--;
        if (datagram->lost) {
            if (!endpoint->up[datagram->from]) continue;
            endpoint->up[datagram->from] = false;
            return out->type = PHX_TRANSPORT_LOST;
        }
        out->data = datagram->data;
        out->size = datagram->size;
        return out->type = PHX_TRANSPORT_DATAGRAM;
    }
    return PHX_TRANSPORT_NOTHING;
}

static void loopback_flush(void *user, uint64_t now) {
    (void)user;
    (void)now;
}

static void loopback_close(void *user, uint64_t now, uint32_t link) {
    Endpoint *endpoint = user;
    (void)now;
    const uint32_t to = other_side(endpoint, link);
    if (to >= endpoint->hub->endpoints) return;
    Datagram *datagram = push(endpoint->hub, to, endpoint->index);
    if (datagram) datagram->lost = true;
    if (endpoint->index == 0) endpoint->up[to] = false;
}

static void loopback_destroy(void *user) {
    Endpoint *endpoint = user;
    Hub *hub = endpoint->hub;
    endpoint->inbox = NULL;
    if (--hub->alive == 0) hub->allocator.release(hub->allocator.user, hub, hub->size);
}

PhxStatus phx_loopback_create(PhxAllocator allocator, uint32_t endpoints, PhxTransport *out) {
    if (endpoints < 2 || endpoints > ENDPOINTS_MAX) return PHX_ERROR_ARGUMENT;
    const size_t size = sizeof(Hub) + (size_t)endpoints * INBOX_MAX * sizeof(Datagram);
    Hub *hub = allocator.allocate(allocator.user, size);
    if (!hub) return PHX_ERROR_MEMORY;
    memset(hub, 0, sizeof *hub);
    *hub = (Hub){.allocator = allocator, .size = size, .endpoints = endpoints, .alive = endpoints};
    Datagram *inboxes = (Datagram *)(hub + 1);
    for (uint32_t i = 0; i < endpoints; i++) {
        hub->endpoint[i].hub = hub;
        hub->endpoint[i].index = i;
        hub->endpoint[i].inbox = inboxes + (size_t)i * INBOX_MAX;
        out[i] = (PhxTransport){.send = loopback_send,
                                .poll = loopback_poll,
                                .flush = loopback_flush,
                                .close = loopback_close,
                                .destroy = loopback_destroy,
                                .user = &hub->endpoint[i]};
    }
    return PHX_OK;
}
