/* little_match.h: a small world for tests of the sim: two players on a made map with walls, units of two
 * types. Plain values in, a content blob or a running sim out; everything follows from the seed.
 */
#ifndef PHX_LITTLE_MATCH_H
#define PHX_LITTLE_MATCH_H

#include <phalanx/content.h>
#include <phalanx/sim.h>

/* A blob in malloc'ed memory; `units` of each of two players on a map of side x side cells. */
uint8_t *little_content(uint64_t seed, uint32_t side, uint32_t units, size_t *size);

/* A sim of that content. */
PhxSim *little_sim(const PhxSimConfig *config, uint64_t seed, uint32_t side, uint32_t units);

/* Commands of one tick: mostly none, sometimes moves (some queued, some off the map or into walls), stops,
 * pauses. Steps the sim with them. A pure function of (seed, tick, units alive). */
void little_step(PhxSim *sim, uint64_t seed);

/* Encodes the tick's commands into `commands`
 * (room for 4) over `bytes` (room for 4 x PHX_COMMAND_SIZE_LIMIT) and returns how many. */
uint32_t little_commands(const PhxSim *sim, uint64_t seed, PhxCommand commands[4], uint8_t *bytes);

#endif
