/* net_link.c: the reliable stream over lost, delayed, doubled, reordered and garbled datagrams; the byte
 * queue; the comparison of hashes when somebody lags. */
#include <stdlib.h>

#include "harness.h"
#include "lockstep/agreement.h"
#include "lockstep/link.h"
#include "lockstep/queue.h"
#include "wire/message.h"

enum { TX = 1 << 16, RX = 1 << 15, FLYING = 256, MESSAGES = 400 };

typedef struct Flying {
    bool used;
    uint64_t due;
    size_t size;
    uint8_t data[PHX_NET_DATAGRAM_MAX];
} Flying;

typedef struct Wire {
    Flying flying[2][FLYING]; /* towards side 0, side 1 */
    uint64_t seed;
    uint32_t loss, duplicate, garble; /* per thousand */
} Wire;

static void fly(Wire *wire, uint32_t to, uint64_t now, const uint8_t *data, size_t size) {
    const uint32_t copies = test_random(&wire->seed) % 1000 < wire->duplicate ? 2 : 1;
    for (uint32_t c = 0; c < copies; c++) {
        if (test_random(&wire->seed) % 1000 < wire->loss) continue;
        for (uint32_t i = 0; i < FLYING; i++) {
            Flying *one = &wire->flying[to][i];
            if (one->used) continue;
            *one = (Flying){
                .used = true, .due = now + (uint64_t)test_range(&wire->seed, 1000, 90000), .size = size};
            memcpy(one->data, data, size);
            if (test_random(&wire->seed) % 1000 < wire->garble)
                one->data[test_random(&wire->seed) % size] ^= (uint8_t)(1u << test_random(&wire->seed) % 8);
            break;
        }
    }
}

static size_t message_of(uint32_t side, uint32_t number, uint8_t *out) {
    uint64_t seed = side * 1000003u + number;
    const size_t size =
        (size_t)(number % 37 == 0 ? test_range(&seed, 2000, 20000) : test_range(&seed, 1, 90));
    for (size_t i = 0; i < size; i++) out[i] = (uint8_t)test_random(&seed);
    return size;
}

PHX_TEST(link, delivers_every_message_once_and_in_order_over_any_wire) {
    static Wire wire;
    static uint8_t memory[2][TX + 2 * RX], want[20000], datagram[PHX_NET_DATAGRAM_MAX];
    const uint32_t losses[] = {0, 100, 500};
    for (uint32_t variant = 0; variant < 3; variant++) {
        wire = (Wire){.seed = variant + 1, .loss = losses[variant], .duplicate = 100, .garble = variant * 20};
        PhxLink links[2];
        uint32_t written[2] = {0}, taken[2] = {0};
        uint64_t now = 77;
        /* Offsets near 2^32, so that they wrap on the way. */
        for (uint32_t s = 0; s < 2; s++) {
            phx_link_init(&links[s], memory[s], TX, RX, now);
            links[s].tx_base = links[s].tx_next = links[s].tx_end = 0xffff8000u;
            links[s].rx_read = links[s].rx_have = 0xffff8000u;
        }
        for (; taken[0] < MESSAGES || taken[1] < MESSAGES || !phx_link_drained(&links[0]); now += 2000) {
            CHECK_THAT(now < UINT64_C(2000000000), "variant %u: hung at %u, %u", variant, taken[0], taken[1]);
            for (uint32_t s = 0; s < 2; s++) {
                for (uint32_t i = 0; i < FLYING; i++) {
                    Flying *one = &wire.flying[s][i];
                    if (!one->used || one->due > now) continue;
                    one->used = false;
                    (void)phx_link_receive(&links[s], now, one->data, one->size);
                }
                const uint8_t *message;
                size_t size;
                PhxStatus status;
                while ((status = phx_link_read(&links[s], &message, &size)) == PHX_OK) {
                    CHECK_EQ(size, message_of(1 - s, taken[s], want));
                    CHECK_THAT(memcmp(message, want, size) == 0, "variant %u message %u", variant, taken[s]);
                    taken[s]++;
                }
                CHECK_EQ(status, PHX_ERROR_NOT_FOUND);
                if (written[s] < MESSAGES && now % 6000 < 2000) {
                    const size_t next = message_of(s, written[s], want);
                    if (phx_link_write(&links[s], want, next)) written[s]++;
                }
                while ((size = phx_link_send(&links[s], now, datagram)) != 0) {
                    CHECK(size <= PHX_NET_DATAGRAM_MAX);
                    fly(&wire, 1 - s, now, datagram, size);
                }
            }
        }
        CHECK_EQ(taken[0], MESSAGES);
        CHECK(links[0].round_trip_us > 2000 && links[0].round_trip_us < 400000);
        CHECK_EQ(links[0].statistics.packets_bad > 0, variant > 0);
    }
}

PHX_TEST(link, drops_garbled_datagrams_and_ends_on_a_broken_stream) {
    static uint8_t memory[2][TX + 2 * RX], datagram[PHX_NET_DATAGRAM_MAX], spoiled[PHX_NET_DATAGRAM_MAX];
    PhxLink from, to;
    phx_link_init(&from, memory[0], TX, RX, 0);
    phx_link_init(&to, memory[1], TX, RX, 0);
    CHECK(phx_link_write(&from, (const uint8_t *)"hello", 5));
    const size_t size = phx_link_send(&from, 10, datagram);
    for (size_t cut = 0; cut < size; cut++) CHECK(!phx_link_receive(&to, 20, datagram, cut));
    for (size_t bit = 0; bit < size * 8; bit++) {
        memcpy(spoiled, datagram, size);
        spoiled[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK(!phx_link_receive(&to, 20, spoiled, size));
    }
    CHECK_EQ(to.statistics.packets_bad, size * 9);
    CHECK(phx_link_receive(&to, 20, datagram, size));
    const uint8_t *message;
    size_t length;
    CHECK_OK(phx_link_read(&to, &message, &length));
    CHECK_EQ(length, 5);
    CHECK(!phx_link_write(&from, datagram, 0));
    /* A length of zero, one above the window, and one that is no shortest varint. */
    const uint8_t broken[][4] = {{0x00}, {0xff, 0xff, 0x7f}, {0x80, 0x00}, {0xff, 0xff, 0xff, 0x01}};
    for (size_t i = 0; i < 4; i++) {
        phx_link_init(&to, memory[1], TX, RX, 0);
        memcpy(to.rx, broken[i], 4);
        to.rx_have = 4;
        const PhxStatus status = phx_link_read(&to, &message, &length);
        CHECK(status != PHX_OK && status != PHX_ERROR_NOT_FOUND);
    }
    /* A full ring refuses a message whole. */
    phx_link_init(&from, memory[0], TX, RX, 0);
    uint32_t count = 0;
    while (phx_link_write(&from, spoiled, sizeof spoiled)) count++;
    CHECK_EQ(count, TX / (sizeof spoiled + 2));
    CHECK_EQ(phx_link_room(&from), TX - count * (sizeof spoiled + 2));
}

PHX_TEST(queue, keeps_order_and_bounds) {
    uint8_t block[100];
    PhxQueue queue = phx_queue_make(block, sizeof block);
    uint64_t seed = 3;
    uint8_t next_in = 0, next_out = 0;
    for (uint32_t round = 0; round < 5000; round++) {
        uint8_t record[40];
        size_t size = (size_t)test_range(&seed, 0, 40);
        memset(record, next_in, sizeof record);
        if (size) record[size - 1] = (uint8_t)size;
        const bool fits = size <= phx_queue_room(&queue) &&
                          phx_queue_room(&queue) + PHX_QUEUE_RECORD_HEAD >= PHX_QUEUE_RECORD_HEAD + size;
        if (size && test_random(&seed) % 2) {
            CHECK_EQ(phx_queue_push(&queue, record, size), fits);
            if (fits) next_in++;
            continue;
        }
        const uint8_t *front = phx_queue_front(&queue, &size);
        CHECK_EQ(front != NULL, next_in != next_out);
        if (!front) continue;
        CHECK_EQ(front[size - 1], size);
        if (size > 1) CHECK_EQ(front[0], next_out);
        next_out++;
        phx_queue_pop(&queue);
    }
    CHECK(!phx_queue_push(&queue, block, 200));
}

PHX_TEST(agreement, lagging_sides_raise_no_alarm_and_the_first_tick_is_named) {
    PhxArena arena = phx_arena_measure();
    PhxAgreement agreement;
    phx_agreement_init(&agreement, &arena);
    CHECK_OK(phx_arena_create(&arena, phx_allocator_default(), arena.used));
    phx_agreement_init(&agreement, &arena);
    phx_agreement_start(&agreement, 0x7);
    for (uint32_t tick = 0; tick < 100; tick++) {
        CHECK_OK(phx_agreement_report(&agreement, 0, tick, tick == 60 || tick == 50 ? 999 : tick));
        CHECK(!phx_agreement_advance(&agreement));
    }
    CHECK_EQ(phx_agreement_report(&agreement, 0, 101, 0), PHX_ERROR_FORMAT);
    for (uint32_t tick = 0; tick < 80; tick++) CHECK_OK(phx_agreement_report(&agreement, 2, tick, tick));
    CHECK(!phx_agreement_advance(&agreement)); /* side 1 said nothing yet */
    CHECK_EQ(agreement.agreed, 0);
    CHECK_EQ(phx_agreement_laggards(&agreement), 2);
    for (uint32_t tick = 0; tick < 50; tick++) CHECK_OK(phx_agreement_report(&agreement, 1, tick, tick));
    CHECK(!phx_agreement_advance(&agreement));
    CHECK_EQ(agreement.agreed, 50);
    CHECK_OK(phx_agreement_report(&agreement, 1, 50, 50));
    CHECK(phx_agreement_advance(&agreement));
    CHECK_EQ(agreement.tick, 50);
    uint8_t hashes[3][24] = {{0}};
    hashes[0][8] = 1; /* side 0 differs in table 1; side 2 has no table 2 */
    for (uint32_t side = 0; side < 3; side++) {
        CHECK(!phx_agreement_complete(&agreement));
        phx_agreement_tables(&agreement, side, 50, &(PhxU64s){hashes[side], side == 2 ? 2 : 3});
    }
    CHECK(phx_agreement_complete(&agreement));
    PhxDesync desync;
    phx_agreement_conclude(&agreement, &desync);
    CHECK(desync.tick == 50 && desync.table == 1 && desync.mask == 7 && desync.table_mask == 7);
    CHECK(desync.root[0] == 999 && desync.root[1] == 50 && desync.table_hash[0] == 1 &&
          desync.table_hash[2] == 0);
    /* Somebody who reports nothing at all holds the ring up, and is found. */
    PhxArena second = phx_arena_measure();
    phx_agreement_init(&agreement, &second);
    CHECK_OK(phx_arena_create(&second, phx_allocator_default(), second.used));
    phx_agreement_init(&agreement, &second);
    phx_agreement_start(&agreement, 0x3);
    uint32_t tick = 0;
    while (phx_agreement_report(&agreement, 0, tick, 5) == PHX_OK) tick++;
    CHECK_EQ(tick, PHX_NET_HASH_HISTORY);
    CHECK_EQ(phx_agreement_laggards(&agreement), 2);
    phx_agreement_remove(&agreement, 1);
    CHECK(!phx_agreement_advance(&agreement));
    CHECK_EQ(agreement.agreed, PHX_NET_HASH_HISTORY);
    phx_arena_destroy(&arena);
    phx_arena_destroy(&second);
}
