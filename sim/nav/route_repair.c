/* route_repair.c: a route after a change of the graph, without solving it anew.
 *
 * In: the values before, the changed sectors. Out: the values that solving anew would give.
 *
 * Method (after Ramalingam, Reps: An Incremental Algorithm for a Generalization of the Shortest-Path Problem,
 * 1996): vertices of changed sectors lose their value. By rising old value, a vertex at such a sector, or one
 * whose way led over a vertex that lost its value, is looked at: if another way of the same cost leads on
 * from it over vertices that kept theirs (or to a goal in its sector), it keeps its value, else it loses it.
 * What lost its value gets the least that its neighbours that kept theirs offer, and the search runs from
 * there; it may lower values that were kept, too. Vertices that weren't settled are treated as lost.
 * Vertices in one cell are at distance 0, and could each take the other for its way on: so they are judged
 * together, by steps that cost something.
 *
 * Cost: what loses its value or gets another, and a copy of the values. Determinism: the values are those of
 * the graph, however they came about.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "nav/route_data.h"

enum { ACROSS = PHX_NAV_MAX_SIDE / PHX_SECTOR_SIDE, SECTOR_WORDS = ACROSS * ACROSS / 64 };

typedef struct Repair {
    PhxRoute *route;
    const PhxPortals *portals;
    const PhxNavGrid *grid;
    const uint32_t *goals;
    uint32_t goal_count;
    const uint64_t *changed;
    PhxPortalScratch *scratch;
    uint64_t goal_sectors[SECTOR_WORDS], seed_sectors[SECTOR_WORDS]; /* with goals; to be seeded again */
    uint32_t front_of; /* the sector whose ways to goals are in scratch->work */
} Repair;

/* The values before, in the present numbering, into scratch->old, and the vertices that aren't settled into
 * scratch->lost. Of sectors whose vertices lie elsewhere now, nothing is kept. */
static void carry_over(const Repair *repair) {
    const PhxPortals *portals = repair->portals;
    PhxRoute *route = repair->route;
    uint64_t *old = repair->scratch->old, *lost = repair->scratch->lost;
    const uint32_t total = phx_portals_total(portals);
    if (phx_bitset_next(portals->renumbered, portals->sectors, 0) == portals->sectors) {
        memcpy(old, route->value, total * sizeof *old);
        for (size_t w = 0; w < phx_bitset_words(total); w++) lost[w] = ~route->settled[w];
        return;
    }
    memset(lost, 0, phx_bitset_words(total) * sizeof *lost);
    for (uint32_t s = 0; s < portals->sectors; s++) {
        const uint32_t from = route->first[s], to = portals->first[s], count = portals->first[s + 1] - to;
        if (phx_bitset_get(portals->renumbered, s)) {
            for (uint32_t v = to; v < to + count; v++) old[v] = PHX_ROUTE_UNREACHED, phx_bitset_add(lost, v);
            continue;
        }
        memcpy(old + to, route->value + from, count * sizeof *old);
        for (uint32_t v = 0; v < count; v++)
            if (!phx_bitset_get(route->settled, from + v)) phx_bitset_add(lost, to + v);
    }
    memcpy(route->first, portals->first, (portals->sectors + 1) * sizeof *route->first);
}

static void note_goal_sectors(Repair *repair) {
    memset(repair->goal_sectors, 0, sizeof repair->goal_sectors);
    const uint32_t width = repair->grid->width;
    for (uint32_t i = 0; i < repair->goal_count; i++)
        phx_bitset_add(repair->goal_sectors,
                       phx_sector_at(width, repair->goals[i] % width, repair->goals[i] / width));
    repair->front_of = UINT32_MAX;
}

/* Whether the way within the sector, from a cell to a goal, costs `value`. */
static bool leads_to_goal(Repair *repair, uint32_t sector, uint32_t cell, uint64_t value) {
    if (!phx_bitset_get(repair->goal_sectors, sector)) return false;
    if (repair->front_of != sector)
        phx_route_run_goals(repair->portals, repair->grid, repair->goals, repair->goal_count, sector,
                            repair->scratch);
    repair->front_of = sector;
    return repair->scratch->work.sum[cell] == value;
}

/* Whether a vertex that kept its value lies `cost` ahead of one with `value`. */
static inline bool kept_ahead(const Repair *repair, uint32_t vertex, uint64_t cost, uint64_t value) {
    return repair->scratch->old[vertex] + cost == value && !phx_bitset_get(repair->scratch->lost, vertex);
}

/* Whether a way of the same cost leads on from the cell of vertex `at` of a sector. */
static bool is_supported(Repair *repair, uint32_t sector, uint32_t at) {
    const PhxPortals *portals = repair->portals;
    const PhxPortalBlock *block = &portals->block[sector];
    const uint32_t first = portals->first[sector];
    const uint16_t cell = block->vertex[at].cell;
    const uint64_t value = repair->scratch->old[first + at];
    for (uint32_t v = 0; v < block->vertex_count; v++) {
        const PhxPortalVertex *vertex = &block->vertex[v];
        if (vertex->cell == cell &&
            kept_ahead(repair, portals->first[vertex->partner_sector] + vertex->partner, vertex->out_cost,
                       value))
            return true;
        for (uint32_t k = block->start[v]; k < block->start[v + 1]; k++)
            if (block->cost[k] > 0 && block->vertex[block->to[k]].cell == cell &&
                kept_ahead(repair, first + v, block->cost[k], value))
                return true;
    }
    return leads_to_goal(repair, sector, cell, value);
}

static void doubt(const Repair *repair, uint32_t vertex, uint64_t value) {
    if (repair->scratch->old[vertex] == value && !phx_bitset_get(repair->scratch->lost, vertex))
        phx_route_queue_put(&repair->scratch->queue, vertex);
}

/* A vertex loses its value; those whose way led over it are in doubt. */
static void lose(const Repair *repair, uint32_t sector, uint32_t at) {
    const PhxPortals *portals = repair->portals;
    const PhxPortalBlock *block = &portals->block[sector];
    const uint32_t first = portals->first[sector];
    const uint64_t value = repair->scratch->old[first + at];
    phx_bitset_add(repair->scratch->lost, first + at);
    for (uint32_t k = block->start[at]; k < block->start[at + 1]; k++)
        if (block->cost[k] > 0) doubt(repair, first + block->to[k], value + block->cost[k]);
    const PhxPortalVertex *vertex = &block->vertex[at];
    doubt(repair, portals->first[vertex->partner_sector] + vertex->partner,
          value + (uint64_t)portals->weights.straight * vertex->cost);
}

/* All vertices of a changed sector lose their value; those across are in doubt. */
static void lose_sector(const Repair *repair, uint32_t sector) {
    const PhxPortals *portals = repair->portals;
    const PhxPortalBlock *block = &portals->block[sector];
    for (uint32_t v = 0; v < block->vertex_count; v++) {
        const PhxPortalVertex *vertex = &block->vertex[v];
        phx_bitset_add(repair->scratch->lost, portals->first[sector] + v);
        const uint32_t across = portals->first[vertex->partner_sector] + vertex->partner;
        if (!phx_bitset_get(repair->changed, vertex->partner_sector) &&
            !phx_bitset_get(repair->scratch->lost, across))
            phx_route_queue_put(&repair->scratch->queue, across);
    }
}

/* In a goal's sector whose cells changed, the ways to the goal may have, though no edge did. */
static void doubt_touched(const Repair *repair) {
    const PhxPortals *portals = repair->portals;
    for (size_t w = 0; w < phx_bitset_words(portals->sectors); w++)
        for (uint64_t left = repair->goal_sectors[w] & portals->touched[w] & ~repair->changed[w]; left;
             left &= left - 1) {
            const size_t sector = w * 64 + phx_bit_lowest(left);
            for (uint32_t v = portals->first[sector]; v < portals->first[sector + 1]; v++)
                if (!phx_bitset_get(repair->scratch->lost, v))
                    phx_route_queue_put(&repair->scratch->queue, v);
        }
}

static void find_lost(Repair *repair) {
    const PhxPortals *portals = repair->portals;
    PhxRouteQueue *queue = &repair->scratch->queue;
    phx_route_queue_clear(queue, repair->scratch->old, phx_portals_total(portals), 0);
    for (size_t s = phx_bitset_next(repair->changed, portals->sectors, 0); s < portals->sectors;
         s = phx_bitset_next(repair->changed, portals->sectors, s + 1))
        lose_sector(repair, (uint32_t)s);
    doubt_touched(repair);
    for (uint32_t vertex; (vertex = phx_route_queue_take(queue)) != UINT32_MAX;) {
        const uint32_t sector = portals->sector_of[vertex], at = vertex - portals->first[sector];
        if (phx_bitset_get(repair->scratch->lost, vertex) || is_supported(repair, sector, at)) continue;
        const PhxPortalBlock *block = &portals->block[sector];
        for (uint32_t v = 0; v < block->vertex_count; v++)
            if (block->vertex[v].cell == block->vertex[at].cell) lose(repair, sector, v);
    }
}

/* The least that the neighbours that kept their values offer to the vertices of a sector that lost theirs. */
static void reseed_sector(const Repair *repair, uint32_t sector) {
    const PhxPortals *portals = repair->portals;
    const PhxPortalBlock *block = &portals->block[sector];
    const uint64_t *lost = repair->scratch->lost;
    const uint32_t first = portals->first[sector];
    uint64_t *value = repair->route->value;
    for (uint32_t v = 0; v < block->vertex_count; v++) {
        const PhxPortalVertex *vertex = &block->vertex[v];
        const uint32_t across = portals->first[vertex->partner_sector] + vertex->partner;
        if (phx_bitset_get(lost, first + v)) {
            if (!phx_bitset_get(lost, across) && value[across] + vertex->out_cost < value[first + v])
                value[first + v] = value[across] + vertex->out_cost;
            continue;
        }
        for (uint32_t k = block->start[v]; k < block->start[v + 1]; k++) {
            const uint32_t from = first + block->to[k];
            if (phx_bitset_get(lost, from) && value[first + v] + block->cost[k] < value[from])
                value[from] = value[first + v] + block->cost[k];
        }
    }
    for (uint32_t v = first; v < first + block->vertex_count; v++)
        if (phx_bitset_get(lost, v) && value[v] != PHX_ROUTE_UNREACHED)
            phx_route_queue_put(&repair->scratch->queue, v);
}

/* Values from the old ones, with what is lost taken out and reseeded; the queue holds what has to be run. */
static void reseed(Repair *repair) {
    const PhxPortals *portals = repair->portals;
    PhxPortalScratch *scratch = repair->scratch;
    PhxRoute *route = repair->route;
    const uint32_t total = phx_portals_total(portals);
    const size_t words = phx_bitset_words(total);
    for (size_t w = 0; w < words; w++) route->settled[w] = ~scratch->lost[w];
    memcpy(route->value, scratch->old, total * sizeof *route->value);
    for (size_t v = phx_bitset_next(scratch->lost, total, 0); v < total;
         v = phx_bitset_next(scratch->lost, total, v + 1))
        route->value[v] = PHX_ROUTE_UNREACHED;
    phx_route_queue_clear(&scratch->queue, route->value, total, 0);
    for (size_t w = 0; w < phx_bitset_words(portals->sectors); w++)
        repair->seed_sectors[w] = portals->touched[w] | repair->changed[w];
    for (uint32_t s = 0; s < portals->sectors; s++) {
        const uint32_t first = portals->first[s], end = portals->first[s + 1];
        if (phx_bitset_next(scratch->lost, end, first) >= end) continue;
        reseed_sector(repair, s);
        phx_bitset_add(repair->seed_sectors, s);
    }
    phx_route_seed(route, portals, repair->grid, repair->goals, repair->goal_count, repair->seed_sectors,
                   scratch);
}

static void note_moved(const Repair *repair, uint64_t *moved) {
    const PhxPortals *portals = repair->portals;
    for (uint32_t s = 0; s < portals->sectors; s++) {
        const uint32_t first = portals->first[s], count = portals->first[s + 1] - first;
        if (phx_bitset_get(portals->renumbered, s) ||
            memcmp(repair->scratch->old + first, repair->route->value + first,
                   count * sizeof *repair->scratch->old) != 0)
            phx_bitset_add(moved, s);
    }
}

PhxStatus phx_route_repair(PhxRoute *route, const PhxPortals *portals, const PhxNavGrid *grid,
                           const uint32_t *goals, uint32_t goal_count, const uint64_t *changed,
                           uint64_t *moved, uint32_t worker) {
    PHX_ASSERT(goal_count > 0 && worker < portals->workers, goal_count, worker);
    const size_t words = phx_bitset_words(portals->sectors) * sizeof *moved;
    if (route->version == 0 || route->version + 1 != portals->version) { /* nothing to start from */
        memset(moved, 255, words);
        return phx_route_solve(route, portals, grid, goals, goal_count, true, route->asked, worker);
    }
    memset(moved, 0, words);
    const PhxStatus status = phx_route_reserve(route, portals);
    if (status) return status;
    Repair repair = {.route = route,
                     .portals = portals,
                     .grid = grid,
                     .goals = goals,
                     .goal_count = goal_count,
                     .changed = changed,
                     .scratch = &portals->scratch[worker]};
    carry_over(&repair);
    note_goal_sectors(&repair);
    find_lost(&repair);
    route->version = portals->version;
    const uint64_t least_reach = route->exhausted ? PHX_ROUTE_UNREACHED : route->reach;
    route->exhausted = false;
    reseed(&repair);
    phx_route_search(route, portals, least_reach, repair.scratch);
    note_moved(&repair, moved);
    return PHX_OK;
}
