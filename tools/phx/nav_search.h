/* nav_search.h: paths by A* and lanes along them, for phx nav path.
 *
 * In: a map as units of one size meet it, two cells. Out: the path cell by cell and as waypoints, and the
 * routes that a group of a given width would be shared over, each with the room on both sides. Points are in
 * the layer's coordinates, as those of other ways.
 */
#ifndef PHX_NAV_SEARCH_H
#define PHX_NAV_SEARCH_H

#include "phx/nav_walk.h"

enum { PHX_NAV_ROUTES = 3 };

typedef struct PhxNavSearch {
    PhxNavWay cells, smooth;
    uint32_t expanded; /* nodes */
    uint32_t routes;   /* 0 without a width */
    PhxNavWay route[PHX_NAV_ROUTES], left[PHX_NAV_ROUTES], right[PHX_NAV_ROUTES];
    double narrowest[PHX_NAV_ROUTES]; /* room for centres in its narrowest passage, cells; below 0: it has
                                         none */
} PhxNavSearch;

/* `width` (raw): of the group; 0: no lanes. Errors: PHX_ERROR_MEMORY; nothing is to be closed then. A goal
 * that can't be reached: ways that didn't arrive, and no routes. */
PHX_MUST_USE PhxStatus phx_nav_search(const PhxNavInput *input, uint32_t from, uint32_t to, fix16_t width,
                                      PhxNavSearch *out);
void phx_nav_search_close(PhxNavSearch *search);

#endif
