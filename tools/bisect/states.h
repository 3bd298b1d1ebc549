/* states.h: compares two states of one tick that were kept as snapshots: in a bundle, in a replay whose
 * recorder saw the desync, or by a re-simulation. */
#ifndef PHX_BISECT_STATES_H
#define PHX_BISECT_STATES_H

#include "bisect/bisect.h"

/* Snapshot bytes in malloc'ed memory; null: there is none. */
typedef struct PhxKeptState {
    uint8_t *bytes;
    size_t size;
} PhxKeptState;

/* Evidence in a replay: a state before tick `tick` whose root is said to be `root`. `sim` bounds its size. */
PhxKeptState phx_kept_state(const PhxReplay *replay, const PhxSim *sim, uint32_t tick, uint64_t root);
/* The state that a keyframe or evidence holds; null bytes: it doesn't unpack, or is larger than any of this
 * sim. */
PhxKeptState phx_kept_snapshot(const PhxReplay *replay, const PhxSim *sim, const PhxReplaySnapshot *snapshot);
/* The sim's own state. */
PhxKeptState phx_own_state(const PhxSim *sim);

/* Fills the report's columns and values with what differs; false where a state can't be read. A snapshot that
 * no world takes (a value out of range, another root than it says) is read as it lies. */
bool phx_compare_states(const PhxSim *sim, const PhxKeptState states[2], PhxBisectReport *report);

/* Which phases declare to write a column, as "a, b"; empty: none. */
void phx_writers_of(const PhxSim *sim, const char *table, const char *column, char *text, size_t size);

#endif
