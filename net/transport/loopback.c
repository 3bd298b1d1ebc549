/* loopback.c: endpoints in one process that share one block of inboxes.
 *
 * In: datagrams sent by one endpoint. Out: the same at the other, in order. Cost: one copy in, none out.
 * Memory: a ring of datagrams for each endpoint, allocated at creation; a full ring drops.
 * Determinism: order of arrival is order of sending; time plays no part.
 */
#include <phalanx/net_transport.h>
#include <string.h>

enum { INBOX_MAX = 1024, ENDPOINTS_MAX = 64 };

typedef enum RecordKind { RECORD_CONNECT, RECORD_DATAGRAM, RECORD_LOST } RecordKind;

typedef struct Record {
    RecordKind kind;
    uint32_t from; /* endpoint */
    uint32_t size;
    uint8_t data[PHX_NET_DATAGRAM_MAX];
} Record;

/* A link is idle until the peer first polls, then up; once down it stays so, and what still comes is dropped.
 */
typedef enum LinkState { LINK_IDLE, LINK_UP, LINK_DOWN } LinkState;

typedef struct Hub Hub;
typedef struct Endpoint {
    Hub *hub;
    uint32_t index;
    uint32_t head, count;
    Record *inbox;
    LinkState links[ENDPOINTS_MAX]; /* by the other side's index */
} Endpoint;

struct Hub {
    PhxAllocator allocator;
    size_t size;
    uint32_t endpoints, alive;
    Endpoint endpoint[ENDPOINTS_MAX];
};

/* The star: a peer's only link leads to the host, the host's link i to endpoint i + 1. Any other leads
 * nowhere. */
static uint32_t other_side(const Endpoint *endpoint, uint32_t link) {
    if (endpoint->index != 0) return link == 0 ? 0 : ENDPOINTS_MAX;
    return link < endpoint->hub->endpoints - 1 ? link + 1 : ENDPOINTS_MAX;
}
static uint32_t link_of(const Endpoint *endpoint, uint32_t other) {
    return endpoint->index == 0 ? other - 1 : 0;
}

static Record *push(Hub *hub, uint32_t to, uint32_t from, RecordKind kind) {
    Endpoint *endpoint = &hub->endpoint[to];
    if (!endpoint->inbox || endpoint->count == INBOX_MAX) return NULL;
    Record *record = &endpoint->inbox[(endpoint->head + endpoint->count) % INBOX_MAX];
    endpoint->count++;
    record->from = from;
    record->size = 0;
    record->kind = kind;
    return record;
}

static void loopback_send(void *user, uint64_t now, uint32_t link, const uint8_t *data, size_t size) {
    Endpoint *endpoint = user;
    (void)now;
    const uint32_t to = other_side(endpoint, link);
    if (to == ENDPOINTS_MAX || endpoint->links[to] != LINK_UP || size > PHX_NET_DATAGRAM_MAX) return;
    Record *record = push(endpoint->hub, to, endpoint->index, RECORD_DATAGRAM);
    if (!record) return;
    record->size = (uint32_t)size;
    memcpy(record->data, data, size);
}

/* What a record means to the endpoint; NOTHING: it comes over a link that isn't up. */
static PhxTransportEventType take(Endpoint *endpoint, const Record *record, PhxTransportEvent *out) {
    LinkState *state = &endpoint->links[record->from];
    out->link = link_of(endpoint, record->from);
    if (record->kind == RECORD_CONNECT) {
        if (*state != LINK_IDLE) return PHX_TRANSPORT_NOTHING;
        *state = LINK_UP;
        return PHX_TRANSPORT_CONNECTED;
    }
    if (*state != LINK_UP) return PHX_TRANSPORT_NOTHING;
    if (record->kind == RECORD_LOST) {
        *state = LINK_DOWN;
        return PHX_TRANSPORT_LOST;
    }
    out->data = record->data;
    out->size = record->size;
    return PHX_TRANSPORT_DATAGRAM;
}

static PhxTransportEventType loopback_poll(void *user, uint64_t now, PhxTransportEvent *out) {
    Endpoint *endpoint = user;
    (void)now;
    *out = (PhxTransportEvent){0};
    if (endpoint->index != 0 && endpoint->links[0] == LINK_IDLE &&
        push(endpoint->hub, 0, endpoint->index, RECORD_CONNECT)) {
        endpoint->links[0] = LINK_UP;
        return out->type = PHX_TRANSPORT_CONNECTED;
    }
    while (endpoint->count != 0 && out->type == PHX_TRANSPORT_NOTHING) {
        const Record *record = &endpoint->inbox[endpoint->head];
        endpoint->head = (endpoint->head + 1) % INBOX_MAX;
        endpoint->count--;
        out->type = take(endpoint, record, out);
    }
    return out->type;
}

static void loopback_flush(void *user, uint64_t now) {
    (void)user;
    (void)now;
}

static void loopback_close(void *user, uint64_t now, uint32_t link) {
    Endpoint *endpoint = user;
    (void)now;
    const uint32_t to = other_side(endpoint, link);
    if (to == ENDPOINTS_MAX || endpoint->links[to] != LINK_UP) return;
    endpoint->links[to] = LINK_DOWN;
    (void)push(endpoint->hub, to, endpoint->index, RECORD_LOST);
}

static void loopback_destroy(void *user) {
    Endpoint *endpoint = user;
    Hub *hub = endpoint->hub;
    endpoint->inbox = NULL;
    if (--hub->alive == 0) hub->allocator.release(hub->allocator.user, hub, hub->size);
}

PhxStatus phx_loopback_create(PhxAllocator allocator, uint32_t endpoints, PhxTransport *out) {
    if (endpoints < 2 || endpoints > ENDPOINTS_MAX) return PHX_ERROR_ARGUMENT;
    const size_t size = sizeof(Hub) + (size_t)endpoints * INBOX_MAX * sizeof(Record);
    Hub *hub = allocator.allocate(allocator.user, size);
    if (!hub) return PHX_ERROR_MEMORY;
    memset(hub, 0, sizeof *hub);
    *hub = (Hub){.allocator = allocator, .size = size, .endpoints = endpoints, .alive = endpoints};
    Record *inboxes = (Record *)(hub + 1);
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
