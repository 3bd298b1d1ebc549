/* make_map.h: makes a map for two sides: ridges with passes, lakes, woods, swamps, and a river with five
 * fords between the north-west and the south-east, with roads that lead to them.
 *
 * In: a seed and a side length. Out: letters as in MovingAI's .map files. The map looks the same when it is
 * turned by half a turn, so that no side has the better ground, and all its open ground is one piece. Cost:
 * under a second for 512. Determinism: integers only (lattice noise from phx_random, sines from phx_sin), so
 * that a seed gives the same file everywhere.
 */
#ifndef PHX_TOOLS_MAKE_MAP_H
#define PHX_TOOLS_MAKE_MAP_H

#include <phalanx/status.h>
#include <stddef.h>
#include <stdint.h>

enum { PHX_MAKE_MAP_LEAST = 64, PHX_MAKE_MAP_MOST = 2048 };

/* Fills `letters`, size x size, row-major: '.', 'S', 'W', 'T', '@'. Errors: PHX_ERROR_RANGE (size),
 * PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_make_map(uint64_t seed, uint32_t size, char *letters);

#endif
