/* net_transport.h: how datagrams get from a host to its peers and back.
 *
 * A transport may lose, delay, duplicate, reorder and (where nothing below checks) garble datagrams; the link
 * layer above repairs all of it, so that the same machines run over each. The form is a star: a host's links
 * are numbered 0..n-1, a peer's only link is 0. Time is microseconds from any origin, passed in by the caller
 * and never read from a clock here (ENet's own timers are below this border).
 */
#ifndef PHALANX_NET_TRANSPORT_H
#define PHALANX_NET_TRANSPORT_H

#include <phalanx/allocator.h>
#include <phalanx/net_limits.h>
#include <phalanx/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PhxTransportEventType {
    PHX_TRANSPORT_NOTHING,
    PHX_TRANSPORT_CONNECTED, /* a link came up */
    PHX_TRANSPORT_DATAGRAM,  /* data, size */
    PHX_TRANSPORT_LOST       /* a link went down; its number may be given out again by a later CONNECTED */
} PhxTransportEventType;

typedef struct PhxTransportEvent {
    PhxTransportEventType type;
    uint32_t link;
    const uint8_t *data; /* valid until the next call of `poll` */
    size_t size;         /* 0..PHX_NET_DATAGRAM_MAX; longer datagrams are dropped below */
} PhxTransportEvent;

/* All members are set. A transport is used from one thread. */
typedef struct PhxTransport {
    /* Sends or drops; never blocks. A failure that matters shows as LOST later. */
    void (*send)(void *user, uint64_t now, uint32_t link, const uint8_t *data, size_t size);
    /* The next thing that happened, or NOTHING. */
    PhxTransportEventType (*poll)(void *user, uint64_t now, PhxTransportEvent *out);
    /* Pushes out what was queued; called at the end of each update. */
    void (*flush)(void *user, uint64_t now);
    /* Takes a link down in good order: what was sent before still goes out. No LOST follows for it. */
    void (*close)(void *user, uint64_t now, uint32_t link);
    void (*destroy)(void *user); /* frees `user`; the machines above never call it */
    void *user;
} PhxTransport;

static inline void phx_transport_destroy(PhxTransport *transport) {
    if (transport->destroy) transport->destroy(transport->user);
    memset(transport, 0, sizeof *transport);
}

/* Loopback: `endpoints` endpoints in one process; endpoint 0 is the host, endpoint i > 0 a peer and the
 * host's link i - 1. Nothing is lost but what a full inbox (1024 datagrams) drops. The endpoints' transports
 * (`out`, an array of `endpoints`) share one block that goes with the last of them; single-threaded. Errors:
 * PHX_ERROR_ARGUMENT (fewer than 2 endpoints or more than 64), PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_loopback_create(PhxAllocator allocator, uint32_t endpoints, PhxTransport *out);

/* What the fault transport does to datagrams, each decided by a seeded draw, so that a run repeats exactly.
 */
typedef struct PhxFaultConfig {
    uint64_t seed;
    uint32_t loss_permille;              /* lost, 0..1000 */
    uint32_t duplicate_permille;         /* sent twice, each with its own delay */
    uint32_t reorder_permille;           /* held back for one more span of delay */
    uint32_t garble_permille;            /* one bit flipped */
    uint32_t delay_min_us, delay_max_us; /* uniform; min <= max */
} PhxFaultConfig;

/* Fault: wraps `inner` (which it then owns) and mistreats what is sent through it. Holds at most 4096
 * datagrams; more are lost. Errors: PHX_ERROR_ARGUMENT, PHX_ERROR_MEMORY (inner is then still the caller's).
 */
PHX_MUST_USE PhxStatus phx_fault_create(PhxAllocator allocator, const PhxFaultConfig *config,
                                        PhxTransport inner, PhxTransport *out);

/* ENet over UDP. `bind_address` null or "" = all interfaces; `port` 0 = any free one, to be read back.
 * ENet's global initialization is done (and counted) inside.
 * Errors: PHX_ERROR_ARGUMENT, PHX_ERROR_MEMORY, PHX_ERROR_IO (socket, address; `error` says which). */
PHX_MUST_USE PhxStatus phx_enet_host_create(PhxAllocator allocator, const char *bind_address, uint16_t port,
                                            uint32_t links, PhxTransport *out, PhxError *error);
/* The port that a host made by phx_enet_host_create listens on. */
uint16_t phx_enet_port(const PhxTransport *host);
/* Begins to connect to a host by name or address; CONNECTED or LOST follows. */
PHX_MUST_USE PhxStatus phx_enet_peer_create(PhxAllocator allocator, const char *address, uint16_t port,
                                            PhxTransport *out, PhxError *error);
/* Waits until a datagram comes in or `timeout_ms` passed, so that a loop need not spin. Only for ENet. */
void phx_enet_wait(const PhxTransport *transport, uint32_t timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
