/* placer.h: finds room for bodies on a map: in a block, outwards from a place, or scattered. Internal to
 * tools/content.
 *
 * In: a grid and what was placed so far. Out: positions at which a whole body is on passable ground, apart
 * from the others by a given distance. Cost: a look at the neighbouring cells for each try. Determinism:
 * integers only, random draws are phx_random of a key and counters.
 */
#ifndef PHX_TOOLS_PLACER_H
#define PHX_TOOLS_PLACER_H

#include "content/ground.h"

typedef struct PhxPlacer {
    PhxNavGrid grid;
    PhxGround *ground; /* where auto-placed bodies may be: its largest piece; borrowed, may be null if only
                          blocks are placed */
    PhxVec2 *at;       /* positions so far */
    uint32_t count, capacity;
    uint32_t *head, *next; /* of the list of bodies by cell; indices, UINT32_MAX ends */
} PhxPlacer;

/* Errors: PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_placer_begin(PhxPlacer *placer, const PhxNavGrid *grid, PhxGround *ground,
                                        uint32_t capacity);
void phx_placer_end(PhxPlacer *placer);

/* Whether the whole body stands on passable cells; touching an edge from outside is allowed. */
bool phx_placer_fits(const PhxNavGrid *grid, PhxVec2 at, fix16_t radius);
/* Whether no body so far is nearer than `distance`. */
bool phx_placer_clear(const PhxPlacer *placer, PhxVec2 at, fix16_t distance);
/* Takes a position as it is. `at` must lie in the map; count < capacity. */
void phx_placer_put(PhxPlacer *placer, PhxVec2 at);

/* `count` bodies on centres of cells, in order of the steps from `from` (a cell of the largest piece), each
 * `distance` from all others. Errors: PHX_ERROR_NOT_FOUND (no room for all: as many as fit were placed),
 * PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_placer_spread(PhxPlacer *placer, uint32_t from, uint32_t count, fix16_t distance);

/* `count` bodies anywhere in [low, high) on the largest piece. Errors: PHX_ERROR_NOT_FOUND (no place found in
 * 4000 tries for one of them). */
PHX_MUST_USE PhxStatus phx_placer_scatter(PhxPlacer *placer, PhxVec2 low, PhxVec2 high, uint32_t count,
                                          fix16_t radius, fix16_t distance, uint64_t key, uint32_t purpose);

#endif
