/* base.c: the bounded reader and writer, the sort, the bit set, the hash and the arena. */
#include "base/arena.h"
#include "base/bitset.h"
#include "base/bytes.h"
#include "base/hash_stream.h"
#include "base/sort.h"
#include "harness.h"

PHX_TEST(bytes, what_is_written_is_read_back_at_every_cut) {
    uint8_t buffer[64];
    PhxWriter writer = phx_writer_make(buffer, sizeof buffer);
    phx_write_u8(&writer, 0xab);
    phx_write_u16(&writer, 0x1234);
    phx_write_u32(&writer, 0xdeadbeef);
    phx_write_u64(&writer, UINT64_C(0x0123456789abcdef));
    phx_write_varint(&writer, UINT64_MAX);
    phx_write_varint(&writer, 300);
    CHECK_EQ(writer.status, PHX_OK);
    CHECK_EQ(writer.at, 15 + 10 + 2);
    CHECK_EQ(buffer[1], 0x34); /* little-endian on every machine */
    for (size_t cut = 0; cut <= writer.at; cut++) {
        PhxReader reader = phx_reader_make(buffer, cut);
        const uint8_t a = phx_read_u8(&reader);
        const uint16_t b = phx_read_u16(&reader);
        const uint32_t c = phx_read_u32(&reader);
        const uint64_t d = phx_read_u64(&reader);
        const uint64_t e = phx_read_varint(&reader);
        const uint64_t f = phx_read_varint(&reader);
        if (cut < writer.at) {
            CHECK_EQ(phx_reader_finish(&reader), PHX_ERROR_TRUNCATED);
        } else {
            CHECK_OK(phx_reader_finish(&reader));
            CHECK(a == 0xab && b == 0x1234 && c == 0xdeadbeef && d == UINT64_C(0x0123456789abcdef));
            CHECK(e == UINT64_MAX && f == 300);
        }
    }
}

PHX_TEST(bytes, faults_stick_and_counts_are_checked_before_use) {
    const uint8_t huge_count[] = {0xff, 0xff, 0xff, 0x7f, 1, 2, 3, 4};
    PhxReader reader = phx_reader_make(huge_count, sizeof huge_count);
    CHECK_EQ(phx_read_count(&reader, 4, UINT32_MAX), 0);
    CHECK_EQ(reader.status, PHX_ERROR_TRUNCATED);
    CHECK_EQ(phx_read_u8(&reader), 0);
    reader = phx_reader_make(huge_count, sizeof huge_count);
    CHECK_EQ(phx_read_count(&reader, 1, 1000), 0);
    CHECK_EQ(reader.status, PHX_ERROR_LIMIT);
    const uint8_t padded[] = {0x80, 0x00};
    reader = phx_reader_make(padded, sizeof padded);
    CHECK_EQ(phx_read_varint(&reader), 0);
    CHECK_EQ(reader.status, PHX_ERROR_FORMAT);
    const uint8_t too_long[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    reader = phx_reader_make(too_long, sizeof too_long);
    phx_read_varint(&reader);
    CHECK_EQ(reader.status, PHX_ERROR_FORMAT);
    uint8_t small[3];
    PhxWriter writer = phx_writer_make(small, sizeof small);
    phx_write_u32(&writer, 1);
    CHECK_EQ(writer.status, PHX_ERROR_FULL);
    phx_write_u8(&writer, 1); /* sticks: a later piece that would fit is dropped too */
    CHECK_EQ(writer.at, 0);
}

typedef struct Item {
    uint32_t key, id;
} Item;
static bool item_less(const Item *a, const Item *b) {
    return a->key != b->key ? a->key < b->key : a->id < b->id;
}
PHX_DEFINE_SORT(sort_items, Item, item_less)

PHX_TEST(sort, result_does_not_depend_on_the_order_of_the_input) {
    uint64_t seed = 7;
    for (size_t count = 0; count < 200; count++) {
        Item items[200], shuffled[200];
        for (size_t i = 0; i < count; i++)
            items[i] = shuffled[i] = (Item){(uint32_t)test_range(&seed, 0, 9), (uint32_t)i};
        for (size_t i = count; i > 1; i--) {
            const size_t j = (size_t)test_range(&seed, 0, (int64_t)i - 1);
            const Item swap = shuffled[i - 1];
            shuffled[i - 1] = shuffled[j], shuffled[j] = swap;
        }
        sort_items(items, count);
        sort_items(shuffled, count);
        for (size_t i = 0; i < count; i++) {
            CHECK(items[i].id == shuffled[i].id);
            if (i > 0) CHECK(item_less(&items[i - 1], &items[i]));
        }
    }
}

PHX_TEST(bitset, next_finds_each_member_in_order) {
    uint64_t set[4] = {0};
    const size_t members[] = {0, 1, 63, 64, 127, 190};
    for (size_t i = 0; i < 6; i++) phx_bitset_add(set, members[i]);
    size_t at = 0;
    for (size_t i = 0; i < 6; i++, at++) CHECK_EQ(at = phx_bitset_next(set, 200, at), members[i]);
    CHECK_EQ(phx_bitset_next(set, 200, at), 200);
    phx_bitset_remove(set, 63);
    CHECK(!phx_bitset_get(set, 63) && phx_bitset_get(set, 64));
}

PHX_TEST(hash, equals_the_published_value_and_the_stream_equals_the_whole) {
    CHECK(phx_hash_bytes(NULL, 0) ==
          UINT64_C(0x2d06800538d394c2)); /* XXH3-64 of nothing, seed 0 (specification) */
    uint8_t data[5000];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 7 + 1);
    for (size_t cut = 0; cut < sizeof data; cut += 97) {
        PhxHashStream stream;
        phx_hash_stream_begin(&stream);
        phx_hash_stream_feed(&stream, data, cut);
        phx_hash_stream_feed(&stream, data + cut, sizeof data - cut);
        CHECK(phx_hash_stream_end(&stream) == phx_hash_bytes(data, sizeof data));
    }
}

PHX_TEST(arena, measures_then_hands_out_cleared_aligned_pieces) {
    PhxArena arena = phx_arena_measure();
    CHECK(!phx_arena_push(&arena, 3, 5));
    CHECK(!phx_arena_push(&arena, 100, 8));
    const size_t size = arena.used;
    CHECK_EQ(size, 64 + 832);
    CHECK_OK(phx_arena_create(&arena, phx_allocator_default(), size));
    unsigned char *a = phx_arena_push(&arena, 3, 5), *b = phx_arena_push(&arena, 100, 8);
    CHECK(a && b && (uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0 && b >= a + 15);
    for (size_t i = 0; i < 800; i++) CHECK_EQ(b[i], 0);
    phx_arena_destroy(&arena);
}
