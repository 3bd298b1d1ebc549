/* pack.c: see pack.h. */
#include "replay/pack.h"

#include <string.h>
#if defined(PHX_REPLAY_WITH_ZSTD)
#include <zstd.h>
#endif

enum {
    LITERALS = 255, /* most in a sequence */
    SHORTEST = 4,   /* a repetition */
    LONGEST = 258,  /* 255 + 3 */
    FARTHEST = 65535,
    TABLE_BITS = 12,
    LEVEL = 3 /* of Zstandard */
};

static uint32_t four_bytes(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

typedef struct Packer {
    uint8_t *to;
    size_t capacity, used;
    bool full;
} Packer;

static void put(Packer *packer, const uint8_t *bytes, size_t size) {
    if (packer->full || size > packer->capacity - packer->used) {
        packer->full = true;
        return;
    }
    if (size) memcpy(packer->to + packer->used, bytes, size);
    packer->used += size;
}

/* Literals, in as many sequences as they take, and the repetition (length 0: none) in the last. */
static void put_sequence(Packer *packer, const uint8_t *literals, size_t count, size_t length,
                         size_t distance) {
    const uint8_t none = 0;
    while (count > LITERALS) {
        put(packer, &(uint8_t){LITERALS}, 1);
        put(packer, literals, LITERALS);
        put(packer, &none, 1);
        literals += LITERALS;
        count -= LITERALS;
    }
    put(packer, &(uint8_t){(uint8_t)count}, 1);
    put(packer, literals, count);
    put(packer, &(uint8_t){(uint8_t)(length ? length - 3 : 0)}, 1);
    if (length) put(packer, (const uint8_t[]){(uint8_t)(distance & 255), (uint8_t)(distance >> 8)}, 2);
}

static size_t pack_pairs(const uint8_t *from, size_t size, uint8_t *to, size_t capacity) {
    uint32_t table[1 << TABLE_BITS] = {0}; /* where four bytes with this hash were last seen, plus one */
    Packer packer = {.to = to, .capacity = capacity};
    size_t done = 0, at = 0;
    if (size > UINT32_MAX - 1) return 0;
    while (size >= SHORTEST && at <= size - SHORTEST && !packer.full) {
        uint32_t *slot = &table[(uint32_t)(four_bytes(from + at) * 2654435761u) >> (32 - TABLE_BITS)];
        const size_t before = *slot;
        *slot = (uint32_t)at + 1;
        if (before == 0 || at - (before - 1) > FARTHEST ||
            four_bytes(from + before - 1) != four_bytes(from + at)) {
            at++;
            continue;
        }
        const size_t distance = at - (before - 1), most = size - at < LONGEST ? size - at : LONGEST;
        size_t length = SHORTEST;
        while (length < most && from[at + length] == from[at + length - distance]) length++;
        put_sequence(&packer, from + done, at - done, length, distance);
        done = at += length;
    }
    if (done < size) put_sequence(&packer, from + done, size - done, 0, 0);
    return packer.full ? 0 : packer.used;
}

static PhxStatus unpack_pairs(const uint8_t *from, size_t from_size, uint8_t *to, size_t size) {
    size_t at = 0, used = 0;
    while (used < size) {
        if (at >= from_size) return PHX_ERROR_FORMAT;
        const size_t literals = from[at++];
        if (literals >= from_size - at || literals > size - used) return PHX_ERROR_FORMAT;
        if (literals) memcpy(to + used, from + at, literals);
        at += literals;
        used += literals;
        const size_t length = from[at++];
        if (length == 0) continue;
        if (from_size - at < 2) return PHX_ERROR_FORMAT;
        const size_t distance = from[at] | (size_t)from[at + 1] << 8;
        at += 2;
        if (distance == 0 || distance > used || length + 3 > size - used) return PHX_ERROR_FORMAT;
        for (const size_t end = used + length + 3; used < end; used++) to[used] = to[used - distance];
    }
    return at == from_size ? PHX_OK : PHX_ERROR_FORMAT;
}

#if defined(PHX_REPLAY_WITH_ZSTD)

uint8_t phx_replay_pack_best(void) { return PHX_REPLAY_ZSTD; }
static size_t pack_zstd(const uint8_t *from, size_t size, uint8_t *to, size_t capacity) {
    const size_t used = ZSTD_compress(to, capacity, from, size, LEVEL);
    return ZSTD_isError(used) ? 0 : used;
}
static PhxStatus unpack_zstd(const uint8_t *from, size_t from_size, uint8_t *to, size_t size) {
    return ZSTD_decompress(to, size, from, from_size) == size ? PHX_OK : PHX_ERROR_FORMAT;
}

#else

uint8_t phx_replay_pack_best(void) { return PHX_REPLAY_PAIRS; }
static size_t pack_zstd(const uint8_t *from, size_t size, uint8_t *to, size_t capacity) {
    (void)from, (void)size, (void)to, (void)capacity;
    return 0;
}
static PhxStatus unpack_zstd(const uint8_t *from, size_t from_size, uint8_t *to, size_t size) {
    (void)from, (void)from_size, (void)to, (void)size;
    return PHX_ERROR_VERSION;
}

#endif

bool phx_replay_pack_known(uint8_t encoding) {
    return encoding == PHX_REPLAY_PLAIN || encoding == PHX_REPLAY_PAIRS ||
           (encoding == PHX_REPLAY_ZSTD && phx_replay_pack_best() == PHX_REPLAY_ZSTD);
}

size_t phx_replay_pack(uint8_t encoding, const uint8_t *from, size_t size, uint8_t *to, size_t capacity) {
    switch (encoding) {
    case PHX_REPLAY_PLAIN:
        if (size > capacity) return 0;
        if (size) memcpy(to, from, size);
        return size;
    case PHX_REPLAY_ZSTD:
        return pack_zstd(from, size, to, capacity);
    case PHX_REPLAY_PAIRS:
        return pack_pairs(from, size, to, capacity);
    default:
        return 0;
    }
}

PhxStatus phx_replay_unpack(uint8_t encoding, const uint8_t *from, size_t from_size, uint8_t *to,
                            size_t size) {
    switch (encoding) {
    case PHX_REPLAY_PLAIN:
        if (from_size != size) return PHX_ERROR_FORMAT;
        if (size) memcpy(to, from, size);
        return PHX_OK;
    case PHX_REPLAY_ZSTD:
        return unpack_zstd(from, from_size, to, size);
    case PHX_REPLAY_PAIRS:
        return unpack_pairs(from, from_size, to, size);
    default:
        return PHX_ERROR_VERSION;
    }
}
