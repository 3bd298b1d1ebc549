/* dice.h: a row of random values from a seed, the same on every machine. */
#ifndef PHX_TOOLS_SOAK_DICE_H
#define PHX_TOOLS_SOAK_DICE_H

#include <phalanx/rng.h>
#include <stdbool.h>

typedef struct PhxDice {
    uint64_t seed;
    uint32_t drawn;
} PhxDice;

static inline uint64_t phx_dice(PhxDice *dice) { return phx_random(dice->seed, 0, 0, 0, dice->drawn++); }
/* Uniform in low .. high, both included; high - low < 2^32. */
static inline int64_t phx_dice_range(PhxDice *dice, int64_t low, int64_t high) {
    const uint64_t span = (uint64_t)(high - low) + 1;
    return low + (int64_t)(phx_dice(dice) % span);
}
static inline bool phx_dice_percent(PhxDice *dice, uint32_t percent) {
    return phx_dice(dice) % 100 < percent;
}

#endif
