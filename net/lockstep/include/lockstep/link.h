/* link.h: an ordered, reliable stream of messages over datagrams that may be lost, delayed, doubled,
 * reordered or garbled. One PhxLink is one side of one connection.
 *
 * In: messages to send, datagrams that arrived, the time. Out: datagrams to send, messages in order.
 * How: both directions are byte streams. Each datagram names the stream offset of its bytes and acknowledges
 * what was received. As long as little is unacknowledged, each datagram repeats all of it, so that the next
 * turn's datagram repairs the loss of the last one's without waiting for a timer; a timer covers the rest.
 * Receiving is idempotent by offsets. A 32-bit checksum drops garbled datagrams. Cost: O(bytes); memory is
 * what init got: the send ring and twice the receive window. Determinism: a pure state machine; no clock, no
 * random number, no allocation.
 */
#ifndef PHX_LOCKSTEP_LINK_H
#define PHX_LOCKSTEP_LINK_H

#include <phalanx/net_limits.h>

#include "base/bytes.h"

enum {
    PHX_LINK_HEAD = 21, /* most bytes of a datagram before its stream bytes */
    PHX_LINK_PAYLOAD_MAX = PHX_NET_DATAGRAM_MAX - PHX_LINK_HEAD,
    PHX_LINK_REPEAT_MAX = 512,     /* unacknowledged bytes that each datagram repeats */
    PHX_LINK_FLIGHT_MAX = 65536,   /* unacknowledged bytes at most */
    PHX_LINK_SPANS_MAX = 32,       /* separate pieces received ahead of a gap */
    PHX_LINK_ACK_DELAY_US = 10000, /* an acknowledgement waits this long for data to ride on */
    PHX_LINK_QUICK_MAX = 8192,     /* a tail up to this long is repeated soon and whole */
    PHX_LINK_QUICK_TRIES = 8,      /* resends of a short tail before the intervals grow */
    PHX_LINK_RESEND_MIN_US = 30000,
    PHX_LINK_RESEND_MAX_US = 1000000,
    PHX_LINK_KEEPALIVE_US = 250000, /* something is sent at least this often */
};

typedef struct PhxLinkSpan {
    uint32_t begin, end;
} PhxLinkSpan;

typedef struct PhxLinkStatistics {
    uint64_t packets_in, packets_out, bytes_in, bytes_out, packets_bad, resent_bytes;
} PhxLinkStatistics;

/* Offsets are stream bytes modulo 2^32; differences are taken before comparing. */
typedef struct PhxLink {
    uint8_t *tx; /* ring of tx_capacity (a power of two) bytes */
    uint32_t tx_capacity;
    uint32_t tx_base, tx_next, tx_end; /* acknowledged <= sent <= queued */
    uint32_t again_at, again_end;      /* what is being sent again; nothing where they are equal */
    uint32_t hole_end;                 /* the other side lacks tx_base .. hole_end and has what follows */
    bool hole_known;
    uint64_t base_sent_at; /* when the bytes at tx_base were last sent again, or first sent */
    uint64_t resend_at;
    uint32_t resend_us;
    uint8_t resend_tries; /* since the last acknowledgement of something new */

    uint8_t *rx; /* 2 * rx_window bytes; offset rx_read lies at rx_head */
    uint32_t rx_window, rx_head;
    uint32_t rx_read, rx_have; /* taken by the reader <= received without a gap */
    uint32_t span_count;       /* pieces beyond rx_have, ascending, apart from each other */
    PhxLinkSpan spans[PHX_LINK_SPANS_MAX];

    bool ack_due;
    uint64_t ack_at;
    uint64_t last_in, last_out;
    uint32_t round_trip_us, round_trip_var_us; /* smoothed; 0: not measured */
    uint16_t peer_stamp; /* the newest stamp of the other side, in 100 us, and when it came */
    bool peer_stamp_known;
    uint64_t peer_stamp_at;
    PhxLinkStatistics statistics;
} PhxLink;

/* Bytes of memory that a link needs. `tx_capacity` is a power of two. */
static inline size_t phx_link_memory(uint32_t tx_capacity, uint32_t rx_window) {
    return (size_t)tx_capacity + 2 * (size_t)rx_window;
}
/* (Re)starts a link at time `now` over phx_link_memory() bytes. The window must hold the longest message and
 * its length. Statistics start at zero. */
void phx_link_init(PhxLink *link, uint8_t *memory, uint32_t tx_capacity, uint32_t rx_window, uint64_t now);

/* Queues one message (length and bytes). False: no room, and nothing was queued. */
bool phx_link_write(PhxLink *link, const uint8_t *message, size_t size);
/* Bytes that can still be queued. */
uint32_t phx_link_room(const PhxLink *link);
/* Everything queued was acknowledged. */
bool phx_link_drained(const PhxLink *link);

/* Takes a datagram in. False: it was garbled and is dropped and counted. */
bool phx_link_receive(PhxLink *link, uint64_t now, const uint8_t *data, size_t size);
/* The next datagram to send now, at most PHX_NET_DATAGRAM_MAX bytes into `out`; 0: none. Call until it gives
 * 0. */
size_t phx_link_send(PhxLink *link, uint64_t now, uint8_t *out);

/* The next whole message, valid until the next call of receive or read. PHX_ERROR_NOT_FOUND: none yet;
 * PHX_ERROR_FORMAT or PHX_ERROR_LIMIT: the stream is broken for good. */
PHX_MUST_USE PhxStatus phx_link_read(PhxLink *link, const uint8_t **message, size_t *size);

#endif
