/* route_solve.c: routes: Dijkstra's algorithm from the goals outwards over the portal graph.
 *
 * In: goals, and the sectors that somebody wants to know about. Out: values of their vertices. A vertex in a
 * goal's sector begins with what the way within the sector costs (a front from all goals in it); the rest
 * follows over edges. The search stops once all that is wanted is settled; what it had come to stays in the
 * values, from which a later call fills the queue again and goes on.
 *
 * Cost: a front a goal sector; then some 120 ns a vertex settled. Determinism: a value is the least sum over
 * all ways, so that neither the order in the queue nor where the search paused can change one.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "nav/route_data.h"

static inline void offer(PhxRoute *route, uint32_t vertex, uint64_t value, PhxRouteQueue *queue) {
    if (value >= route->value[vertex]) return;
    route->value[vertex] = value;
    phx_route_queue_put(queue, vertex);
}

void phx_route_run_goals(const PhxPortals *portals, const PhxNavGrid *grid, const uint32_t *goals,
                         uint32_t goal_count, uint32_t sector, PhxPortalScratch *scratch) {
    const PhxSectorFrame frame = phx_sector_frame(grid->width, grid->height, sector);
    uint32_t seeds = 0;
    for (uint32_t i = 0; i < goal_count; i++) {
        const uint32_t cx = goals[i] % grid->width, cy = goals[i] / grid->width;
        if (phx_sector_at(grid->width, cx, cy) != sector || (i > 0 && goals[i] == goals[i - 1])) continue;
        PHX_ASSERT(seeds < PHX_SECTOR_CELLS, seeds, goal_count);
        scratch->seed[seeds++] = (PhxSectorSeed){(uint16_t)phx_sector_local(cx - frame.x0, cy - frame.y0), 0};
    }
    phx_sector_ground(&scratch->ground, grid, sector);
    phx_sector_front(&scratch->work, &scratch->ground, portals->weights, scratch->seed, seeds);
}

/* What the goals of one sector give to its vertices. */
static void seed_sector(PhxRoute *route, const PhxPortals *portals, uint32_t sector,
                        PhxPortalScratch *scratch) {
    const PhxPortalBlock *block = &portals->block[sector];
    for (uint32_t v = 0; v < block->vertex_count; v++) {
        const uint32_t sum = scratch->work.sum[block->vertex[v].cell];
        if (sum != PHX_FIELD_UNREACHED) offer(route, portals->first[sector] + v, sum, &scratch->queue);
    }
}

/* A goal's region gave all its vertices values; so the parts of those that have one are the goals' parts. */
static void mark_parts(PhxRoute *route, const PhxPortals *portals, uint32_t sector) {
    const PhxPortalBlock *block = &portals->block[sector];
    for (uint32_t v = 0; v < block->vertex_count; v++)
        if (route->value[portals->first[sector] + v] != PHX_ROUTE_UNREACHED)
            phx_bitset_add(route->goal_part,
                           portals->part[portals->first_live[sector] + block->vertex[v].live]);
}

/* Goals are ascending, so that those of one row of sectors follow each other. Their sectors' columns, as bits
 * (a map has 64 at most); *end gets the first goal behind the row. */
static uint64_t goal_columns(const PhxNavGrid *grid, const uint32_t *goals, uint32_t goal_count,
                             uint32_t begin, uint32_t *end) {
    const uint32_t row = goals[begin] / grid->width >> PHX_SECTOR_SHIFT;
    uint64_t columns = 0;
    uint32_t i = begin;
    for (; i < goal_count && goals[i] / grid->width >> PHX_SECTOR_SHIFT == row; i++)
        columns |= (uint64_t)1 << (goals[i] % grid->width >> PHX_SECTOR_SHIFT);
    *end = i;
    return columns;
}

void phx_route_seed(PhxRoute *route, const PhxPortals *portals, const PhxNavGrid *grid, const uint32_t *goals,
                    uint32_t goal_count, const uint64_t *only, PhxPortalScratch *scratch) {
    const uint32_t live = portals->first_live[portals->sectors];
    memset(route->goal_part, 0, phx_bitset_words(live) * sizeof *route->goal_part);
    for (uint32_t begin = 0, end = 0; begin < goal_count; begin = end) {
        const uint32_t row = goals[begin] / grid->width >> PHX_SECTOR_SHIFT;
        for (uint64_t left = goal_columns(grid, goals, goal_count, begin, &end); left; left &= left - 1) {
            const uint32_t sector = row * portals->across + phx_bit_lowest(left);
            if (!only || phx_bitset_get(only, sector)) {
                phx_route_run_goals(portals, grid, goals + begin, end - begin, sector, scratch);
                seed_sector(route, portals, sector, scratch);
            }
            mark_parts(route, portals, sector);
        }
    }
    /* from the lowest region of each part to all of them */
    for (uint32_t i = 0; i < live; i++)
        if (phx_bitset_get(route->goal_part, portals->part[i])) phx_bitset_add(route->goal_part, i);
}

static void relax(PhxRoute *route, const PhxPortals *portals, uint32_t sector, uint32_t vertex,
                  PhxRouteQueue *queue) {
    const PhxPortalBlock *block = &portals->block[sector];
    const uint32_t first = portals->first[sector], at = vertex - first;
    const uint64_t value = route->value[vertex];
    for (uint32_t k = block->start[at]; k < block->start[at + 1]; k++)
        offer(route, first + block->to[k], value + block->cost[k], queue);
    const PhxPortalVertex *here = &block->vertex[at];
    offer(route, portals->first[here->partner_sector] + here->partner,
          value + (uint64_t)portals->weights.straight * here->cost, queue);
}

void phx_route_search(PhxRoute *route, const PhxPortals *portals, uint64_t least_reach,
                      PhxPortalScratch *scratch) {
    PhxRouteQueue *queue = &scratch->queue;
    uint32_t undone = least_reach == PHX_ROUTE_UNREACHED ? 0 : phx_route_count_undone(route, portals);
    while (true) {
        const uint32_t vertex = phx_route_queue_take(queue);
        if (vertex == UINT32_MAX) {
            route->exhausted = true;
            return;
        }
        const uint64_t value = route->value[vertex];
        const uint32_t sector = portals->sector_of[vertex];
        if (undone == 0 && value > least_reach) return;
        if (value > route->reach) route->reach = value;
        if (!phx_bitset_get(route->settled, vertex)) {
            phx_bitset_add(route->settled, vertex);
            undone -= undone > 0 && phx_bitset_get(route->asked, sector);
        }
        relax(route, portals, sector, vertex, queue);
    }
}

/* Asked sectors from now on: those asked before, or none, and `wanted`. */
static void ask(PhxRoute *route, bool again, const uint64_t *wanted) {
    for (size_t i = 0; i < phx_bitset_words(route->sectors); i++)
        route->asked[i] = (again ? 0 : route->asked[i]) | (wanted ? wanted[i] : ~(uint64_t)0);
}

/* Puts the open vertices back into the queue. */
static void reopen(const PhxRoute *route, const PhxPortals *portals, PhxRouteQueue *queue) {
    const uint32_t total = phx_portals_total(portals);
    phx_route_queue_clear(queue, route->value, total, route->reach);
    for (uint32_t v = 0; v < total; v++)
        if (route->value[v] != PHX_ROUTE_UNREACHED && !phx_bitset_get(route->settled, v))
            phx_route_queue_put(queue, v);
}

PhxStatus phx_route_solve(PhxRoute *route, const PhxPortals *portals, const PhxNavGrid *grid,
                          const uint32_t *goals, uint32_t goal_count, bool again, const uint64_t *wanted,
                          uint32_t worker) {
    PHX_ASSERT(goal_count > 0 && worker < portals->workers, goal_count, worker);
    PhxPortalScratch *scratch = &portals->scratch[worker];
    const uint32_t total = phx_portals_total(portals);
    if (!again && route->version == portals->version) {
        ask(route, false, wanted);
        if (route->exhausted || (wanted && phx_route_count_undone(route, portals) == 0)) return PHX_OK;
        reopen(route, portals, &scratch->queue);
        phx_route_search(route, portals, wanted ? 0 : PHX_ROUTE_UNREACHED, scratch);
        return PHX_OK;
    }
    const PhxStatus status = phx_route_reserve(route, portals);
    if (status) return status;
    memcpy(route->first, portals->first, (portals->sectors + 1) * sizeof *route->first);
    memset(route->value, 255, total * sizeof *route->value);
    memset(route->settled, 0, phx_bitset_words(total) * sizeof *route->settled);
    route->reach = 0;
    route->version = portals->version;
    route->exhausted = false;
    ask(route, true, wanted);
    phx_route_queue_clear(&scratch->queue, route->value, total, 0);
    phx_route_seed(route, portals, grid, goals, goal_count, NULL, scratch);
    phx_route_search(route, portals, wanted ? 0 : PHX_ROUTE_UNREACHED, scratch);
    return PHX_OK;
}
