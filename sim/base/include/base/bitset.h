/* bitset.h: dense sets of small integers, 64 to a word. Iteration is by ascending index. */
#ifndef PHX_BASE_BITSET_H
#define PHX_BASE_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t phx_bitset_words(size_t bits) { return (bits + 63) / 64; }
static inline bool phx_bitset_get(const uint64_t *set, size_t i) { return set[i / 64] >> (i % 64) & 1; }
static inline void phx_bitset_add(uint64_t *set, size_t i) { set[i / 64] |= (uint64_t)1 << (i % 64); }
static inline void phx_bitset_remove(uint64_t *set, size_t i) { set[i / 64] &= ~((uint64_t)1 << (i % 64)); }

/* The index of the lowest set bit of a word that isn't zero. */
static inline unsigned phx_bit_lowest(uint64_t word) {
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(word);
#else
    unsigned n = 0;
    while (!(word & 1)) word >>= 1, n++;
    return n;
#endif
}

/* The lowest index >= from (and < bits) that is in the set, or `bits`. */
static inline size_t phx_bitset_next(const uint64_t *set, size_t bits, size_t from) {
    for (size_t w = from / 64; w < phx_bitset_words(bits); w++) {
        uint64_t word = set[w];
        if (w == from / 64) word &= ~(uint64_t)0 << (from % 64);
        if (word) {
            const size_t i = w * 64 + phx_bit_lowest(word);
            return i < bits ? i : bits;
        }
    }
    return bits;
}

#endif
