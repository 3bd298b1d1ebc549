/* nav_layers.h: the two answers to "which way": the whole-map field, and sector routes with their tiles; and
 * both as plain arrays of the whole map.
 *
 * Everything here is of malloc, borrows its PhxNavInput, and says what failed. Times are the processor's.
 */
#ifndef PHX_NAV_LAYERS_H
#define PHX_NAV_LAYERS_H

#include "phx/nav_input.h"

#include <phalanx/routes.h>

typedef struct PhxNavWhole {
    PhxField field;
    void *memory;
    uint64_t ns; /* that the build took */
} PhxNavWhole;
/* Errors, with nothing to close: PHX_ERROR_MEMORY, PHX_ERROR_LIMIT (a way costs more than 32 bits hold). */
PHX_MUST_USE PhxStatus phx_nav_whole_build(PhxNavInput *input, PhxNavWhole *out);
/* PHX_CLI_GO, or a failure with nothing to close. */
int phx_nav_whole_open(PhxNavInput *input, PhxNavWhole *out);
void phx_nav_whole_close(PhxNavWhole *whole);

typedef struct PhxNavSectors {
    PhxNavInput *input;
    PhxRoutes *routes; /* layer 0 is open: the input's plane; goal set 0: the input's goals */
    PhxJobs jobs;
    uint32_t threads;
    uint64_t ns; /* that planes and graph took */
} PhxNavSectors;
/* `cache_bytes`: of tiles, rings and routes; 0: room for all tiles of the map at once. PHX_CLI_GO, or a
 * failure with nothing to close. */
int phx_nav_sectors_open(PhxNavInput *input, uint32_t threads, size_t cache_bytes, PhxNavSectors *out);
void phx_nav_sectors_close(PhxNavSectors *sectors);
uint32_t phx_nav_sectors_count(const PhxNavInput *input);
/* Bytes for the tiles, rings and routes of so many tiles. */
size_t phx_nav_sectors_bytes(const PhxNavInput *input, uint32_t tiles);

/* Arrays of width * height; null where they weren't asked for. */
typedef struct PhxNavLayers {
    uint64_t *cost; /* of the way; UINT64_MAX: none */
    uint8_t *flow, *sight;
    PhxDir *direction;
    PhxRoutesPortal *portals;
    uint32_t portal_count;
    uint64_t ns; /* that they took */
} PhxNavLayers;
typedef struct PhxNavWanted {
    bool sight, direction, portals;
} PhxNavWanted;
/* PHX_CLI_GO, or a failure with nothing to close. */
int phx_nav_layers_whole(PhxNavInput *input, const PhxNavWhole *whole, PhxNavWanted wanted,
                         PhxNavLayers *out);
int phx_nav_layers_sectors(PhxNavSectors *sectors, PhxNavWanted wanted, PhxNavLayers *out);
void phx_nav_layers_close(PhxNavLayers *layers);

/* Holds arrays against each other and the ground, without the code that made them: a goal costs 0; every
 * other reached cell's arrow makes a step that may be made, over which the cost falls by the step's cost or
 * more; no arrow elsewhere; a reached cell has no unreached one beside it. So there is no circle and no basin
 * but the goals. False: `text` says what is wrong where. */
bool phx_nav_layers_hold(const PhxNavInput *input, const PhxNavLayers *layers, char *text, size_t size);

#endif
