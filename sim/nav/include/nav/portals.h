/* portals.h: the portal graph of one layer: where one walks from sector to sector, and what the ways between
 * such places cost; and routes over it.
 *
 * A portal joins two facing cells on the border of two sectors, both passable. Where they lie: the strip of
 * PHX_PORTAL_DEPTH cells along either side of a border falls into 4-connected parts; for each pair of parts
 * that touch there are portals at both ends of the contact and so many between, evenly, that no two
 * neighbours are more than PHX_PORTAL_SPACING cells apart (if the contact has cells there); a contact
 * narrower than PHX_PORTAL_NARROW has one, in its middle. So doors beside each other that a long wall parts
 * have a portal each. Where costs differ, cheap places (roads) that have no portal of about their cost within
 * 10 cells get one more. Each portal is two vertices, one a side. Edges: between vertices of one sector and
 * region, the exact cost of the way within the sector (sector.h); across the portal, one step. Edges that a
 * way over a third vertex replaces at no more cost are left out. A route is, for one set of goals, the exact
 * least cost over this graph from each vertex to the nearest goal: 64 bits, so that no sum wraps on the
 * largest map at the highest cost.
 *
 * DERIVED: graph and routes are pure functions of (grid, weights, goals). An update after a change gives the
 * same as building anew. Memory: from the allocator, at building and where a change needs more.
 */
#ifndef PHX_NAV_PORTALS_H
#define PHX_NAV_PORTALS_H

#include <phalanx/allocator.h>
#include <phalanx/jobs.h>
#include <phalanx/nav.h>

#include "nav/sector.h"

enum {
    PHX_PORTAL_SPACING = 21,
    PHX_PORTAL_NARROW = 4,
    PHX_PORTAL_DEPTH = 8,
    PHX_PORTAL_STRAIGHT_MAX = 6000 /* highest weight of a straight step */
};
#define PHX_ROUTE_UNREACHED UINT64_MAX

typedef struct PhxPortals PhxPortals;

/* A vertex as its sector sees it; a sector has 256 at most. In order of side, then position along it. */
typedef struct PhxPortalVertex {
    uint16_t cell;           /* local index in its sector */
    uint16_t region;         /* label of its region */
    uint16_t partner_sector; /* the sector across */
    uint8_t partner;         /* index of the vertex across in that sector */
    uint8_t side;            /* 0 E, 1 S, 2 W, 3 N: the border it lies on */
    uint32_t out_cost;       /* of the step across: straight weight * cost of the cell across */
    uint8_t cost;            /* of its own cell */
    uint8_t live;            /* number of its region among the sector's regions that have vertices */
    uint16_t unused;         /* 0 */
} PhxPortalVertex;

/* An empty graph for maps of this size. `workers`: of the jobs that build it and of whoever solves routes.
 * Errors: PHX_ERROR_MEMORY, PHX_ERROR_ARGUMENT (weights that nav.h doesn't allow, or a straight step above
 * PHX_PORTAL_STRAIGHT_MAX: up to there, no way within a sector can pass the 32 bits of an edge, as a shortest
 * way enters 2800 of its cells at most). */
PHX_MUST_USE PhxStatus phx_portals_create(PhxPortals **out, PhxAllocator allocator, uint32_t width,
                                          uint32_t height, PhxFieldWeights weights, uint32_t workers);
void phx_portals_destroy(PhxPortals *portals);
/* Builds all sectors, on all threads. The grid has the graph's size. Errors: PHX_ERROR_RANGE (a cost of 0;
 * the graph stays as it was), PHX_ERROR_MEMORY (the graph can only be built again or destroyed). Cost: on two
 * threads about 1 s for 4096 x 4096 cells, half of them among walls. */
PHX_MUST_USE PhxStatus phx_portals_build(PhxPortals *portals, const PhxNavGrid *grid, const PhxJobs *jobs);
/* Rebuilds what depends on the `count` sectors (ascending) whose cells changed since the last build or
 * update: them, and neighbours whose shared border got other portals. *changed (sector_count bits,
 * base/bitset.h) gets the sectors of which vertices, edges or costs across differ from before; that a vertex
 * across got another number, or a region another label, isn't a difference. Errors as of a build. Cost: some
 * 0.2 ms a sector, and a pass over all vertices. */
PHX_MUST_USE PhxStatus phx_portals_update(PhxPortals *portals, const PhxNavGrid *grid,
                                          const uint32_t *sectors, uint32_t count, const PhxJobs *jobs,
                                          uint64_t *changed);
size_t phx_portals_bytes(const PhxPortals *portals);

uint32_t phx_portals_vertex_count(const PhxPortals *portals, uint32_t sector);
const PhxPortalVertex *phx_portals_vertices(const PhxPortals *portals, uint32_t sector);

/* The costs of one route: values of a sector's vertices, in their order. */
typedef struct PhxRoute PhxRoute;
PHX_MUST_USE PhxStatus phx_route_create(PhxRoute **out, PhxAllocator allocator, const PhxPortals *portals);
void phx_route_destroy(PhxRoute *route, PhxAllocator allocator);
/* Room for the graph's present size. Solving and repairing do it themselves; called beforehand (after each
 * update, on the thread that may use the allocator), it makes sure that they allocate nothing and so may run
 * on any thread, several routes at once with a worker each. Errors: PHX_ERROR_MEMORY (the route stays). */
PHX_MUST_USE PhxStatus phx_route_reserve(PhxRoute *route, const PhxPortals *portals);
/* Solves for goals (cells, passable, ascending, at least one): as far as the vertices of the sectors in
 * `wanted` (bits; null: everything) need it; what is given for them is exact, and the search can be continued
 * by a later call with the same goals and other wanted sectors (`again` false), or begun anew (true; also
 * what happens if the graph was updated and the route wasn't repaired). `worker`: whose scratch memory is
 * used. Errors: PHX_ERROR_MEMORY (see phx_route_reserve; the route stays as it was). Cost: a front a sector
 * with goals, and some 0.1 us a vertex. */
PHX_MUST_USE PhxStatus phx_route_solve(PhxRoute *route, const PhxPortals *portals, const PhxNavGrid *grid,
                                       const uint32_t *goals, uint32_t goal_count, bool again,
                                       const uint64_t *wanted, uint32_t worker);
/* After each phx_portals_update, with its `changed` and the same goals as before (still passable): repairs
 * the values. All sectors that were wanted are covered again, with the values of solving anew. *moved (sector
 * bits) gets the sectors of which a vertex has another value than before, or lies elsewhere; of sectors that
 * weren't covered, it says nothing. If an update was left out, the route is solved anew, and all have moved.
 * Errors: PHX_ERROR_MEMORY (the route can be solved anew or destroyed). Cost: a copy of the values; beyond
 * it, what the change moves. */
PHX_MUST_USE PhxStatus phx_route_repair(PhxRoute *route, const PhxPortals *portals, const PhxNavGrid *grid,
                                        const uint32_t *goals, uint32_t goal_count, const uint64_t *changed,
                                        uint64_t *moved, uint32_t worker);
/* Value of vertex i of a sector; PHX_ROUTE_UNREACHED. Only for sectors solved for. */
uint64_t phx_route_value(const PhxRoute *route, const PhxPortals *portals, uint32_t sector, uint32_t vertex);
/* Whether all vertices of a sector are solved for. */
bool phx_route_covers(const PhxRoute *route, const PhxPortals *portals, uint32_t sector);
size_t phx_route_bytes(const PhxRoute *route);

/* A name for the connected part of the layer that holds a cell: equal for two cells exactly if a way joins
 * them. PHX_NAV_NO_CELL for walls. It is the lowest cell index of the part's first region, in sector order.
 * Cost: one flood of the cell's sector, and a look-up. */
uint32_t phx_portals_part(const PhxPortals *portals, const PhxNavGrid *grid, uint32_t cell);

#endif
