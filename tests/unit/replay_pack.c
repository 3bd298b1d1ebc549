/* replay_pack.c: the encodings of large pieces: what was packed comes back, and what wasn't is refused
 * without touching a byte that isn't its own.
 */
#include "replay/pack.h"

#include <stdlib.h>

#include "harness.h"

enum { MOST = 70000 };

/* Bytes of many kinds: noise, flat, repeating with some period, noise within repetition. */
static size_t make(uint8_t *bytes, uint64_t *seed) {
    const size_t size = (size_t)test_range(seed, 1, test_range(seed, 0, 3) ? 600 : MOST);
    const int64_t kind = test_range(seed, 0, 4);
    const size_t period = (size_t)test_range(seed, 1, kind == 3 ? 40000 : 40);
    for (size_t i = 0; i < size; i++) {
        if (kind == 0 || (kind > 1 && i < period) || (kind == 4 && test_range(seed, 0, 30) == 0))
            bytes[i] = (uint8_t)test_random(seed);
        else
            bytes[i] = kind == 1 ? 7 : bytes[i - (i < period ? i : period)];
    }
    return size;
}

PHX_TEST(replay_pack, what_was_packed_comes_back_in_every_encoding) {
    uint8_t *bytes = malloc(MOST), *packed = malloc(2 * MOST), *back = malloc(MOST);
    uint64_t seed = 1;
    uint32_t smaller = 0;
    for (int round = 0; round < 1500; round++) {
        const uint64_t drawn = seed;
        const size_t size = make(bytes, &seed);
        for (uint8_t encoding = 0; encoding < 2; encoding++) {
            if (!phx_replay_pack_known(encoding)) continue;
            const size_t used = phx_replay_pack(encoding, bytes, size, packed, 2 * MOST);
            CHECK_THAT(used > 0 && (size < 100 || used <= size + size / 100 + 32),
                       "seed %" PRIu64 ", encoding %u: %zu of %zu", drawn, encoding, used, size);
            CHECK_THAT(phx_replay_pack_may_hold(encoding, packed, used, size), "seed %" PRIu64 ": %zu of %zu",
                       drawn, used, size);
            CHECK(!phx_replay_pack_may_hold(encoding, packed, used, size + 1));
            CHECK(!phx_replay_pack_may_hold(encoding, packed, used - 1, size));
            memset(back, 0, size);
            CHECK_THAT(phx_replay_unpack(encoding, packed, used, back, size) == PHX_OK &&
                           memcmp(bytes, back, size) == 0,
                       "seed %" PRIu64 ", encoding %u", drawn, encoding);
            smaller += encoding == PHX_REPLAY_ZSTD && used < size / 4;
            /* no room is no result; other sizes and other encodings are faults */
            CHECK_EQ(phx_replay_pack(encoding, bytes, size, packed, used - 1), 0);
            if (encoding != PHX_REPLAY_ZSTD) /* which may want room to work in */
                CHECK_EQ(phx_replay_pack(encoding, bytes, size, packed, used), used);
            CHECK_EQ(phx_replay_unpack(encoding, packed, used, back, size - 1), PHX_ERROR_FORMAT);
            CHECK_EQ(phx_replay_unpack(encoding, packed, used - 1, back, size), PHX_ERROR_FORMAT);
        }
    }
    CHECK(smaller > 200 || !phx_replay_pack_known(PHX_REPLAY_ZSTD));
    CHECK(phx_replay_pack_known(phx_replay_pack_best()));
    CHECK(!phx_replay_pack_known(2) && phx_replay_pack(2, bytes, 9, packed, 99) == 0);
    CHECK_EQ(phx_replay_unpack(2, packed, 9, back, 9), PHX_ERROR_VERSION);
    free(bytes), free(packed), free(back);
}

/* The buffers are exactly as large as they say, so that a sanitizer sees every step beyond. */
PHX_TEST(replay_pack, bytes_that_were_changed_stay_within_their_room) {
    uint8_t *bytes = malloc(MOST), *packed = malloc(2 * MOST);
    uint64_t seed = 2;
    uint32_t refused = 0, taken = 0;
    for (int round = 0; round < 6000; round++) {
        size_t size = make(bytes, &seed);
        const uint8_t encoding = PHX_REPLAY_ZSTD;
        const size_t used = phx_replay_pack(encoding, bytes, size, packed, 2 * MOST);
        if (used == 0) break; /* this build is without */
        for (int64_t n = test_range(&seed, 1, 3); n > 0; n--)
            packed[test_range(&seed, 0, (int64_t)used - 1)] = (uint8_t)test_random(&seed);
        if (test_range(&seed, 0, 3) == 0) size = (size_t)test_range(&seed, 1, MOST);
        uint8_t *from = malloc(used), *to = malloc(size);
        memcpy(from, packed, used);
        const PhxStatus status = phx_replay_unpack(encoding, from, used, to, size);
        CHECK(status == PHX_OK || status == PHX_ERROR_FORMAT);
        *(status == PHX_OK ? &taken : &refused) += 1;
        free(from), free(to);
    }
    CHECK(!phx_replay_pack_known(PHX_REPLAY_ZSTD) || (refused > 1000 && taken > 100));
    free(bytes), free(packed);
}
