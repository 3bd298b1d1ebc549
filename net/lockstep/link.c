/* link.c: see link.h.
 *
 * Datagram: u32 checksum (low half of XXH3-64 of the rest), u8 flags, u32 start (stream offset of the
 * payload), u32 ack (received without a gap), u16 stamp (sender's time in 100 us), u16 echo (the receiver's
 * last stamp plus the time that it lay here; valid with FLAG_ECHO), payload.
 */
#include "lockstep/link.h"

#include <phalanx/hash.h>
#include <string.h>

#include "base/assert.h"
#include "wire/message.h"

enum { FLAG_ECHO = 1, FLAG_HOLE = 2, STAMP_US = 100, INITIAL_ROUND_TRIP_US = 200000 };

void phx_link_init(PhxLink *link, uint8_t *memory, uint32_t tx_capacity, uint32_t rx_window, uint64_t now) {
    PHX_ASSERT((tx_capacity & (tx_capacity - 1)) == 0, tx_capacity, rx_window);
    *link = (PhxLink){.tx = memory,
                      .tx_capacity = tx_capacity,
                      .rx = memory + tx_capacity,
                      .rx_window = rx_window,
                      .resend_us = INITIAL_ROUND_TRIP_US,
                      .last_in = now,
                      .last_out = now};
}

uint32_t phx_link_room(const PhxLink *link) { return link->tx_capacity - (link->tx_end - link->tx_base); }

bool phx_link_drained(const PhxLink *link) { return link->tx_base == link->tx_end; }

static void ring_put(PhxLink *link, const uint8_t *data, uint32_t size) {
    const uint32_t at = link->tx_end & (link->tx_capacity - 1);
    const uint32_t first = size < link->tx_capacity - at ? size : link->tx_capacity - at;
    memcpy(link->tx + at, data, first);
    memcpy(link->tx, data + first, size - first);
    link->tx_end += size;
}

static void ring_get(const PhxLink *link, uint32_t offset, uint8_t *out, uint32_t size) {
    const uint32_t at = offset & (link->tx_capacity - 1);
    const uint32_t first = size < link->tx_capacity - at ? size : link->tx_capacity - at;
    memcpy(out, link->tx + at, first);
    memcpy(out + first, link->tx, size - first);
}

bool phx_link_write(PhxLink *link, const uint8_t *message, size_t size) {
    uint8_t length[PHX_WIRE_LENGTH_MAX];
    PhxWriter writer = phx_writer_make(length, sizeof length);
    phx_write_varint(&writer, size);
    if (writer.status != PHX_OK || size == 0 || size > PHX_WIRE_MESSAGE_MAX) return false;
    if (size + writer.at > phx_link_room(link)) return false;
    ring_put(link, length, (uint32_t)writer.at);
    ring_put(link, message, (uint32_t)size);
    return true;
}

/* Jacobson's estimator (RFC 6298): smoothed mean and deviation of the round trip. */
static void measure(PhxLink *link, uint64_t now, uint16_t echo) {
    const uint16_t ticks = (uint16_t)((uint16_t)(now / STAMP_US) - echo);
    if (ticks >= 0x8000) return; /* an echo from the future: two clocks' rounding, or an old duplicate */
    const uint32_t sample = (uint32_t)ticks * STAMP_US + 1;
    if (link->round_trip_us == 0) {
        link->round_trip_us = sample;
        link->round_trip_var_us = sample / 2;
    } else {
        const uint32_t mean = link->round_trip_us;
        const uint32_t off = sample > mean ? sample - mean : mean - sample;
        link->round_trip_var_us = (3 * link->round_trip_var_us + off) / 4;
        link->round_trip_us = (7 * mean + sample) / 8;
    }
}

/* How long to wait for an acknowledgement. A short tail is cheap to repeat, so it waits little more than one
 * round trip; a long one waits for the deviation too. */
static uint32_t resend_after(const PhxLink *link) {
    const uint32_t mean = link->round_trip_us ? link->round_trip_us : INITIAL_ROUND_TRIP_US;
    const bool is_short = link->tx_next - link->tx_base <= PHX_LINK_QUICK_MAX;
    const uint32_t wait = mean + PHX_LINK_ACK_DELAY_US + (is_short ? 0 : 4 * link->round_trip_var_us);
    if (wait < PHX_LINK_RESEND_MIN_US) return PHX_LINK_RESEND_MIN_US;
    return wait < PHX_LINK_RESEND_MAX_US ? wait : PHX_LINK_RESEND_MAX_US;
}

/* After a resend. Somebody waits for a short tail and it costs little, so it goes out twice a round trip for
 * a while; all else, and a tail to which nothing answers, at doubling intervals. */
static void back_off(PhxLink *link) {
    const bool is_short = link->tx_next - link->tx_base <= PHX_LINK_QUICK_MAX;
    if (link->resend_tries < UINT8_MAX) link->resend_tries++;
    if (is_short && link->resend_tries <= PHX_LINK_QUICK_TRIES) {
        const uint32_t half = link->round_trip_us ? link->round_trip_us / 2 : INITIAL_ROUND_TRIP_US;
        link->resend_us = half > PHX_LINK_RESEND_MIN_US ? half : PHX_LINK_RESEND_MIN_US;
    } else {
        link->resend_us *= 2;
    }
    if (link->resend_us > PHX_LINK_RESEND_MAX_US) link->resend_us = PHX_LINK_RESEND_MAX_US;
}

/* Begins to send again from what is acknowledged: the hole, where it is known; else a short tail whole, or
 * the first datagram of a long one. */
static void begin_again(PhxLink *link, uint64_t now) {
    const uint32_t flight = link->tx_next - link->tx_base;
    uint32_t size = flight <= PHX_LINK_QUICK_MAX ? flight : PHX_LINK_PAYLOAD_MAX;
    if (link->hole_known) size = link->hole_end - link->tx_base;
    link->again_at = link->tx_base;
    link->again_end = link->tx_base + (size < PHX_LINK_QUICK_MAX ? size : PHX_LINK_QUICK_MAX);
    link->base_sent_at = now;
    back_off(link);
    link->resend_at = now + link->resend_us;
}

static void take_ack(PhxLink *link, uint64_t now, uint32_t ack, bool hole, uint32_t hole_end) {
    const uint32_t newly = ack - link->tx_base, flight = link->tx_next - link->tx_base;
    if (newly > flight) return; /* older than what is known, or never sent */
    if (newly != 0) {
        if (link->again_at != link->again_end) { /* what of it has arrived needn't go out */
            if (link->again_end - link->tx_base <= newly)
                link->again_at = link->again_end;
            else if (link->again_at - link->tx_base < newly)
                link->again_at = ack;
        }
        link->tx_base = ack;
        link->resend_tries = 0;
        link->resend_us = resend_after(link);
        link->resend_at = now + link->resend_us;
        link->hole_known = false;
    }
    if (!hole || hole_end - link->tx_base > link->tx_next - link->tx_base || hole_end == link->tx_base)
        return;
    link->hole_known = true;
    link->hole_end = hole_end;
    /* Soon, but not for each datagram that arrives behind the hole. */
    if (now - link->base_sent_at >= link->round_trip_us / 2 + PHX_LINK_ACK_DELAY_US) begin_again(link, now);
}

/* Adds [begin, end) to the pieces beyond the gap; false where there is no room for one more. */
static bool add_span(PhxLink *link, uint32_t begin, uint32_t end) {
    const uint32_t have = link->rx_have;
    uint32_t i = 0;
    while (i < link->span_count && link->spans[i].end - have < begin - have) i++;
    if (i == link->span_count || link->spans[i].begin - have > end - have) {
        if (link->span_count == PHX_LINK_SPANS_MAX) return false;
        memmove(&link->spans[i + 1], &link->spans[i], (link->span_count - i) * sizeof link->spans[0]);
        link->spans[i] = (PhxLinkSpan){begin, end};
        link->span_count++;
        return true;
    }
    if (begin - have < link->spans[i].begin - have) link->spans[i].begin = begin;
    uint32_t last = i; /* the piece may bridge several */
    while (last + 1 < link->span_count && link->spans[last + 1].begin - have <= end - have) last++;
    const uint32_t reach = link->spans[last].end;
    link->spans[i].end = reach - have > end - have ? reach : end;
    memmove(&link->spans[i + 1], &link->spans[last + 1],
            (link->span_count - last - 1) * sizeof link->spans[0]);
    link->span_count -= last - i;
    return true;
}

/* Moves what isn't read yet to the front, once half of the buffer is used up. */
static void compact(PhxLink *link) {
    if (link->rx_head < link->rx_window) return;
    const uint32_t top = link->span_count ? link->spans[link->span_count - 1].end : link->rx_have;
    if (top != link->rx_read) memmove(link->rx, link->rx + link->rx_head, top - link->rx_read);
    link->rx_head = 0;
}

static void take_payload(PhxLink *link, uint64_t now, uint32_t start, const uint8_t *data, uint32_t size) {
    const uint32_t known =
        link->rx_have - start; /* bytes of it that are already here, if start lies behind */
    compact(link);
    if (!link->ack_due) link->ack_at = now + PHX_LINK_ACK_DELAY_US;
    link->ack_due = true;
    if (known < 0x80000000u) {
        if (known >= size) {
            link->ack_at = now; /* all old: the acknowledgement was lost */
            return;
        }
        start += known, data += known, size -= known;
    } else {
        link->ack_at = now; /* a gap */
    }
    const uint32_t offset = start - link->rx_read;
    if (offset > link->rx_window || size > link->rx_window - offset) return; /* beyond the window */
    if (start != link->rx_have && !add_span(link, start, start + size)) return;
    memcpy(link->rx + link->rx_head + offset, data, size);
    if (start != link->rx_have) return;
    link->rx_have += size;
    uint32_t used = 0;
    while (used < link->span_count && link->rx_have - link->spans[used].begin < 0x80000000u) {
        if (link->spans[used].end - link->rx_have < 0x80000000u) link->rx_have = link->spans[used].end;
        used++;
    }
    memmove(&link->spans[0], &link->spans[used], (link->span_count - used) * sizeof link->spans[0]);
    link->span_count -= used;
}

/* The newest stamp counts; one that was overtaken would make the round trip look longer. */
static void take_stamp(PhxLink *link, uint64_t now, uint16_t stamp) {
    const bool newer = (uint16_t)(stamp - link->peer_stamp) < 0x8000;
    if (link->peer_stamp_known && !newer && now - link->peer_stamp_at < 1000000) return;
    link->peer_stamp = stamp;
    link->peer_stamp_at = now;
    link->peer_stamp_known = true;
}

bool phx_link_receive(PhxLink *link, uint64_t now, const uint8_t *data, size_t size) {
    PhxReader reader = phx_reader_make(data, size);
    const uint32_t check = phx_read_u32(&reader);
    const uint8_t flags = phx_read_u8(&reader);
    const uint32_t start = phx_read_u32(&reader);
    const uint32_t ack = phx_read_u32(&reader);
    const uint16_t stamp = phx_read_u16(&reader);
    const uint16_t echo = phx_read_u16(&reader);
    const uint32_t hole_end = flags & FLAG_HOLE ? phx_read_u32(&reader) : 0;
    if (reader.status != PHX_OK || size > PHX_NET_DATAGRAM_MAX ||
        (uint32_t)phx_hash_bytes(data + 4, size - 4) != check) {
        link->statistics.packets_bad++;
        return false;
    }
    link->statistics.packets_in++;
    link->statistics.bytes_in += size;
    link->last_in = now;
    if (flags & FLAG_ECHO) measure(link, now, echo);
    take_stamp(link, now, stamp);
    take_ack(link, now, ack, flags & FLAG_HOLE, hole_end);
    const uint32_t left = (uint32_t)phx_reader_left(&reader);
    if (left) take_payload(link, now, start, data + reader.at, left);
    return true;
}

static size_t build(PhxLink *link, uint64_t now, uint32_t start, uint32_t size, uint8_t *out) {
    const uint64_t held = (now - link->peer_stamp_at) / STAMP_US;
    const bool echo = link->peer_stamp_known && held < 0x4000, hole = link->span_count != 0;
    PhxWriter writer = phx_writer_make(out, PHX_NET_DATAGRAM_MAX);
    phx_write_u32(&writer, 0);
    phx_write_u8(&writer, (uint8_t)((echo ? FLAG_ECHO : 0) | (hole ? FLAG_HOLE : 0)));
    phx_write_u32(&writer, start);
    phx_write_u32(&writer, link->rx_have);
    phx_write_u16(&writer, (uint16_t)(now / STAMP_US));
    phx_write_u16(&writer, (uint16_t)(echo ? link->peer_stamp + held : 0));
    if (hole) phx_write_u32(&writer, link->spans[0].begin);
    ring_get(link, start, out + writer.at, size);
    const size_t total = writer.at + size;
    phx_store_u32(out, (uint32_t)phx_hash_bytes(out + 4, total - 4));
    link->ack_due = false;
    link->last_out = now;
    link->statistics.packets_out++;
    link->statistics.bytes_out += total;
    return total;
}

static uint32_t at_most(uint32_t size, uint32_t limit) { return size < limit ? size : limit; }

/* The next piece of what is sent again; the last piece takes new bytes along. */
static size_t send_again(PhxLink *link, uint64_t now, uint8_t *out) {
    const uint32_t start = link->again_at, old = at_most(link->again_end - start, PHX_LINK_PAYLOAD_MAX);
    uint32_t size = old;
    if (start + old == link->tx_next) size = at_most(link->tx_end - start, PHX_LINK_PAYLOAD_MAX);
    link->statistics.resent_bytes += old;
    link->again_at += old;
    if (size > old) link->tx_next = start + size;
    return build(link, now, start, size, out);
}

/* New bytes; with a short tail that is under way, all of it again in front of them. */
static size_t send_new(PhxLink *link, uint64_t now, uint8_t *out) {
    const uint32_t flight = link->tx_next - link->tx_base;
    const bool repeat = flight <= PHX_LINK_REPEAT_MAX;
    const uint32_t start = repeat ? link->tx_base : link->tx_next;
    const uint32_t size = at_most(link->tx_end - start, PHX_LINK_PAYLOAD_MAX);
    if (repeat) {
        link->statistics.resent_bytes += flight;
        link->base_sent_at = now;
        if (flight == 0) link->resend_us = resend_after(link);
        link->resend_at = now + link->resend_us; /* all that waits went out anew */
    }
    link->tx_next = start + size;
    return build(link, now, start, size, out);
}

size_t phx_link_send(PhxLink *link, uint64_t now, uint8_t *out) {
    const uint32_t flight = link->tx_next - link->tx_base;
    if (flight != 0 && now >= link->resend_at) begin_again(link, now);
    if (link->again_at != link->again_end) return send_again(link, now, out);
    if (link->tx_end != link->tx_next && flight < PHX_LINK_FLIGHT_MAX) return send_new(link, now, out);
    if ((link->ack_due && now >= link->ack_at) || now - link->last_out >= PHX_LINK_KEEPALIVE_US)
        return build(link, now, link->tx_next, 0, out);
    return 0;
}

PhxStatus phx_link_read(PhxLink *link, const uint8_t **message, size_t *size) {
    compact(link);
    const uint32_t there = link->rx_have - link->rx_read;
    PhxReader reader = phx_reader_make(link->rx + link->rx_head, there);
    const uint64_t length = phx_read_varint(&reader);
    if (reader.status == PHX_ERROR_TRUNCATED)
        return there >= PHX_WIRE_LENGTH_MAX ? PHX_ERROR_FORMAT : PHX_ERROR_NOT_FOUND;
    if (reader.status != PHX_OK) return reader.status;
    if (length == 0 || length > link->rx_window - PHX_WIRE_LENGTH_MAX) return PHX_ERROR_LIMIT;
    if (length > phx_reader_left(&reader)) return PHX_ERROR_NOT_FOUND;
    *message = link->rx + link->rx_head + reader.at;
    *size = (size_t)length;
    const uint32_t used = (uint32_t)(reader.at + length);
    link->rx_read += used;
    link->rx_head += used;
    return PHX_OK;
}
