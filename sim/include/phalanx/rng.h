/* rng.h: random numbers without a generator: value = f(key, purpose, entity, tick, draw).
 *
 * In: the match's key and what the number is for. Out: 64 bits, uniform and independent for different
 * inputs as far as any test of ours can tell; not fit for cryptography.
 * Cost: four rounds of a 64-bit mixer, about 35 instructions.
 * Determinism: no state, so neither the order of draws nor how many others drew can matter.
 * Source: the finalizer of SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number
 * generators"), absorbed word by word as a keyed hash of a counter (Salmon et al. 2011, "Parallel random
 * numbers: as easy as 1, 2, 3").
 */
#ifndef PHALANX_RNG_H
#define PHALANX_RNG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One round: a bijection of 64 bits. */
static inline uint64_t phx_random_mix(uint64_t z) {
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The number of the `draw`-th draw for `purpose` (a constant of the caller's module or game) of `entity` (a
 * handle, or 0) in `tick`. `key` is the match's. */
static inline uint64_t phx_random(uint64_t key, uint32_t purpose, uint64_t entity, uint32_t tick,
                                  uint32_t draw) {
    const uint64_t step = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio: no input is a fixed point */
    uint64_t h = phx_random_mix(key + step);
    h = phx_random_mix((h ^ entity) + step);
    h = phx_random_mix((h ^ ((uint64_t)purpose << 32 | tick)) + step);
    return phx_random_mix((h ^ draw) + step);
}

/* A random value as a number in [0, bound): floor(value * bound / 2^64); 0 for bound 0. The bias is below
 * bound / 2^64. */
static inline uint32_t phx_random_below(uint64_t value, uint32_t bound) {
    const uint64_t low = (value & 0xffffffffu) * bound >> 32;
    return (uint32_t)(((value >> 32) * bound + low) >> 32);
}

#ifdef __cplusplus
}
#endif
#endif
