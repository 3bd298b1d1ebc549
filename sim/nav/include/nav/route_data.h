/* route_data.h: the inside of a route, for route_*.c only. */
#ifndef PHX_NAV_ROUTE_DATA_H
#define PHX_NAV_ROUTE_DATA_H

#include "nav/portals_data.h"

/* A search's state between calls. Each vertex whose value is at most `reach` is settled: its value is exact.
 * The others that have a value are open: it is the length of a way, perhaps not of the shortest. */
struct PhxRoute {
    PhxAllocator allocator; /* of what grows */
    uint32_t sectors;
    uint32_t *first; /* as of the graph at the last solve or repair */
    uint64_t *asked; /* sector bits: all that were wanted since the search began */
    void *grown;     /* of the arrays below */
    size_t grown_size;
    uint32_t vertex_room, live_room;
    uint64_t *value;     /* by vertex */
    uint64_t *settled;   /* bits by vertex */
    uint64_t *goal_part; /* bits by live region: those whose part holds a goal */
    uint64_t reach;
    uint32_t version; /* of the graph that the values belong to; 0: none */
    bool exhausted;   /* the search has come to its end: what has no value has no way */
};

/* Vertices of asked sectors that aren't settled but can be. */
uint32_t phx_route_count_undone(const PhxRoute *route, const PhxPortals *portals);

/* Leaves in `scratch->work` what ways to the goals within their sector cost. */
void phx_route_run_goals(const PhxPortals *portals, const PhxNavGrid *grid, const uint32_t *goals,
                         uint32_t goal_count, uint32_t sector, PhxPortalScratch *scratch);
/* Gives vertices of the goals' sectors what a way within their sector costs, if that is less than they have,
 * and puts them into the queue; only for sectors in `only` (bits; null: all). The others' vertices have
 * theirs. Marks the goals' parts. */
void phx_route_seed(PhxRoute *route, const PhxPortals *portals, const PhxNavGrid *grid, const uint32_t *goals,
                    uint32_t goal_count, const uint64_t *only, PhxPortalScratch *scratch);
/* Takes vertices from the queue until it is empty, or until all vertices of the asked sectors are settled and
 * the next one lies beyond `least_reach` (PHX_ROUTE_UNREACHED: to the end). */
void phx_route_search(PhxRoute *route, const PhxPortals *portals, uint64_t least_reach,
                      PhxPortalScratch *scratch);

#endif
