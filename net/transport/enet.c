/* enet.c: the transport over UDP, by ENet. The only file that includes ENet and, through it, meets a clock.
 *
 * ENet brings connections (with its anti-spoofing handshake, pings and time-outs) and puts several datagrams
 * into one packet. Its own reliability isn't used: datagrams go unsequenced, since the link layer above
 * repairs, and a second set of queues and timers would only add delay. From that follows what users of ENet
 * had to learn:
 *   - a small MTU: packets stay below 1100 bytes, so that nothing is fragmented on the way (VPNs, tunnels);
 *   - no queue grows: unsequenced datagrams leave with the next flush or not at all, so that a slow peer
 * costs nothing, and what it missed waits in the link's bounded ring;
 *   - last messages arrive: `close` flushes and disconnects after what is queued, and the session above
 * closes only when the other side has said that it got everything. ENet's throttle, which drops unreliable
 * packets when the round trip varies, is turned off.
 */
#include <enet/enet.h>
#include <errno.h>
#include <phalanx/net_transport.h>
#include <string.h>

enum {
    PACKET_MTU = 1100,       /* bytes of a UDP payload; a datagram and ENet's heads fit */
    WAITING_MAX = 1 << 20,   /* bytes that one peer may make ENet hold before they are polled */
    SOCKET_BUFFER = 1 << 20, /* bytes */
    TIMEOUT_MIN_MS = 10000,  /* ENet's own; the session's limits are usually shorter */
    TIMEOUT_MAX_MS = 30000,
    THROTTLE_INTERVAL_MS = 5000,
    GOODBYE_STEP_MS = 10,
    GOODBYE_STEPS = 30, /* destroy waits at most 0.3 s for disconnects to go through */
};

typedef struct EnetTransport {
    PhxAllocator allocator;
    ENetHost *host;
    ENetPacket *packet; /* what the last poll handed out */
} EnetTransport;

/* Marks a peer that was closed here: its events concern nobody any more. */
static const char closed_mark;

_Static_assert(PHX_NET_DATAGRAM_MAX + 64 < PACKET_MTU, "a datagram and ENet's heads fit into one packet");

static ENetPeer *peer_of(const EnetTransport *enet, uint32_t link) {
    if (link >= enet->host->peerCount) return NULL;
    ENetPeer *peer = &enet->host->peers[link];
    return peer->data == &closed_mark ? NULL : peer;
}

static void enet_transport_send(void *user, uint64_t now, uint32_t link, const uint8_t *data, size_t size) {
    EnetTransport *enet = user;
    (void)now;
    ENetPeer *peer = peer_of(enet, link);
    if (!peer || peer->state != ENET_PEER_STATE_CONNECTED || size > PHX_NET_DATAGRAM_MAX) return;
    ENetPacket *packet = enet_packet_create(data, size, ENET_PACKET_FLAG_UNSEQUENCED);
    if (packet && enet_peer_send(peer, 0, packet) < 0) enet_packet_destroy(packet);
}

static void drop_packet(EnetTransport *enet) {
    if (enet->packet) enet_packet_destroy(enet->packet);
    enet->packet = NULL;
}

/* Turns one event of ENet's into one of ours; NOTHING for one that concerns nobody. */
static PhxTransportEventType translate(EnetTransport *enet, const ENetEvent *event, PhxTransportEvent *out) {
    const bool closed = event->peer->data == &closed_mark;
    out->link = (uint32_t)(event->peer - enet->host->peers);
    switch (event->type) {
    case ENET_EVENT_TYPE_CONNECT:
        event->peer->data = NULL;
        enet_peer_throttle_configure(event->peer, THROTTLE_INTERVAL_MS, ENET_PEER_PACKET_THROTTLE_SCALE, 0);
        enet_peer_timeout(event->peer, 0, TIMEOUT_MIN_MS, TIMEOUT_MAX_MS);
        return out->type = PHX_TRANSPORT_CONNECTED;
    case ENET_EVENT_TYPE_DISCONNECT:
        event->peer->data = NULL;
        return out->type = closed ? PHX_TRANSPORT_NOTHING : PHX_TRANSPORT_LOST;
    case ENET_EVENT_TYPE_RECEIVE:
        enet->packet = event->packet;
        out->data = event->packet->data;
        out->size = event->packet->dataLength;
        if (closed || out->size > PHX_NET_DATAGRAM_MAX) return PHX_TRANSPORT_NOTHING;
        return out->type = PHX_TRANSPORT_DATAGRAM;
    case ENET_EVENT_TYPE_NONE:
        break;
    }
    return PHX_TRANSPORT_NOTHING;
}

static PhxTransportEventType enet_transport_poll(void *user, uint64_t now, PhxTransportEvent *out) {
    EnetTransport *enet = user;
    (void)now;
    ENetEvent event;
    drop_packet(enet);
    *out = (PhxTransportEvent){0};
    while (enet_host_service(enet->host, &event, 0) > 0) {
        if (translate(enet, &event, out) != PHX_TRANSPORT_NOTHING) return out->type;
        drop_packet(enet);
    }
    return PHX_TRANSPORT_NOTHING;
}

static void enet_transport_flush(void *user, uint64_t now) {
    EnetTransport *enet = user;
    (void)now;
    enet_host_flush(enet->host);
}

static void enet_transport_close(void *user, uint64_t now, uint32_t link) {
    EnetTransport *enet = user;
    (void)now;
    ENetPeer *peer = peer_of(enet, link);
    if (!peer || peer->state == ENET_PEER_STATE_DISCONNECTED) return;
    enet_host_flush(enet->host);
    enet_peer_disconnect_later(peer, 0);
    peer->data = (void *)&closed_mark;
}

static bool anybody_connected(const ENetHost *host) {
    for (size_t i = 0; i < host->peerCount; i++)
        if (host->peers[i].state != ENET_PEER_STATE_DISCONNECTED) return true;
    return false;
}

static void enet_transport_destroy(void *user) {
    EnetTransport *enet = user;
    drop_packet(enet);
    for (size_t i = 0; i < enet->host->peerCount; i++)
        if (enet->host->peers[i].state != ENET_PEER_STATE_DISCONNECTED)
            enet_peer_disconnect_later(&enet->host->peers[i], 0);
    ENetEvent event;
    for (int step = 0; step < GOODBYE_STEPS && anybody_connected(enet->host); step++)
        while (enet_host_service(enet->host, &event, GOODBYE_STEP_MS) > 0)
            if (event.type == ENET_EVENT_TYPE_RECEIVE) enet_packet_destroy(event.packet);
    enet_host_destroy(enet->host);
    enet_deinitialize();
    enet->allocator.release(enet->allocator.user, enet, sizeof *enet);
}

static PhxStatus create(PhxAllocator allocator, const ENetAddress *bind, size_t peers, PhxTransport *out,
                        PhxError *error) {
    EnetTransport *enet = allocator.allocate(allocator.user, sizeof *enet);
    if (!enet) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "no memory for the ENet transport");
    errno = 0;
    *enet = (EnetTransport){.allocator = allocator, .host = enet_host_create(bind, peers, 1, 0, 0)};
    if (!enet->host) {
        const int fault = errno;
        char where[64] = "";
        if (bind && bind->host != ENET_HOST_ANY && enet_address_get_host_ip(bind, where, sizeof where) != 0)
            where[0] = 0;
        allocator.release(allocator.user, enet, sizeof *enet);
        return phx_error_set(error, PHX_ERROR_IO, 0, "no UDP socket on %s%sport %u: %s", where,
                             where[0] ? ", " : "", bind ? (unsigned)bind->port : 0,
                             fault == EADDRNOTAVAIL ? "this machine has no such address"
                             : fault == EADDRINUSE  ? "the port is in use"
                             : fault == EACCES      ? "not allowed; ports below 1024 are the system's"
                             : fault != 0           ? strerror(fault)
                                                    : "the system gives no reason");
    }
    enet->host->mtu = PACKET_MTU;
    enet->host->maximumPacketSize = PHX_NET_DATAGRAM_MAX;
    enet->host->maximumWaitingData = WAITING_MAX;
    (void)enet_socket_set_option(enet->host->socket, ENET_SOCKOPT_RCVBUF, SOCKET_BUFFER);
    *out = (PhxTransport){.send = enet_transport_send,
                          .poll = enet_transport_poll,
                          .flush = enet_transport_flush,
                          .close = enet_transport_close,
                          .destroy = enet_transport_destroy,
                          .user = enet};
    return PHX_OK;
}

static PhxStatus initialize(PhxError *error) {
    if (enet_initialize() == 0) return PHX_OK;
    return phx_error_set(error, PHX_ERROR_IO, 0, "ENet cannot be initialized");
}

PhxStatus phx_enet_host_create(PhxAllocator allocator, const char *bind_address, uint16_t port,
                               uint32_t links, PhxTransport *out, PhxError *error) {
    ENetAddress address = {.host = ENET_HOST_ANY, .port = port};
    if (links == 0 || links > 64)
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "%u links: 1 to 64 are possible", (unsigned)links);
    PhxStatus status = initialize(error);
    if (status != PHX_OK) return status;
    if (bind_address && *bind_address && enet_address_set_host(&address, bind_address) != 0)
        status = phx_error_set(error, PHX_ERROR_IO, 0, "unknown address '%.100s'", bind_address);
    else
        status = create(allocator, &address, links, out, error);
    if (status != PHX_OK) enet_deinitialize();
    return status;
}

uint16_t phx_enet_port(const PhxTransport *host) {
    if (host->send != enet_transport_send) return 0;
    return ((const EnetTransport *)host->user)->host->address.port;
}

PhxStatus phx_enet_peer_create(PhxAllocator allocator, const char *address, uint16_t port, PhxTransport *out,
                               PhxError *error) {
    PhxStatus status = initialize(error);
    if (status != PHX_OK) return status;
    ENetAddress host = {.port = port};
    if (enet_address_set_host(&host, address) != 0)
        status = phx_error_set(error, PHX_ERROR_IO, 0, "unknown address '%.100s'", address);
    else
        status = create(allocator, NULL, 1, out, error);
    if (status == PHX_OK && !enet_host_connect(((EnetTransport *)out->user)->host, &host, 1, 0)) {
        phx_transport_destroy(out);
        return phx_error_set(error, PHX_ERROR_IO, 0, "no connection can be begun");
    }
    if (status != PHX_OK) enet_deinitialize();
    return status;
}

void phx_enet_wait(const PhxTransport *transport, uint32_t timeout_ms) {
    if (transport->send != enet_transport_send) return;
    const EnetTransport *enet = transport->user;
    enet_uint32 condition = ENET_SOCKET_WAIT_RECEIVE;
    (void)enet_socket_wait(enet->host->socket, &condition, timeout_ms);
}
