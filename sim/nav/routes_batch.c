/* routes_batch.c: batches: tiles are claimed, what is missing is built on all threads, tiles are read.
 *
 * In: names of tiles. Out: tiles. Cost: a look-up a claim; for what is missing: solving its route as far as
 * the tile's sector and its neighbours need it, the rings that the tile is made from, the tile. Rings that
 * don't fit beside the batch's tiles are made and given up group by group.
 *
 * Determinism: routes, rings and tiles are pure functions of planes and goals (nav/portals.h, nav/tile.h).
 * Each range of the three loops writes one route, ring or tile, and its worker's scratch; it reads routes and
 * rings that were finished by an earlier loop. Which are built together, and which were there already, can't
 * be told from what they hold.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "nav/routes_cache.h"

void phx_routes_abandon(PhxRoutes *routes) {
    for (uint32_t i = 0; i < routes->pending_count; i++)
        phx_routes_cache_drop(&routes->cache, routes->cache.pending[i].slot);
    routes->pending_count = 0;
    for (uint32_t i = 0; i < routes->solve_count; i++)
        phx_routes_route_at(routes, routes->cache.solve[i])->pending = PHX_ROUTES_NONE;
    routes->solve_count = 0;
}

void phx_routes_begin(PhxRoutes *routes) {
    phx_routes_abandon(routes);
    phx_routes_cache_begin(&routes->cache);
}

/* The chunk of a set's route, pinned; PHX_ROUTES_NONE: no room for it and a tile. */
static uint32_t claim_route(PhxRoutes *routes, uint32_t layer, uint64_t goal) {
    PhxRoutesCache *cache = &routes->cache;
    const PhxRoutesKey key = {.goal = goal, .layer = (uint16_t)layer, .kind = PHX_ROUTES_ROUTE};
    const uint32_t slot = phx_routes_cache_find(cache, key);
    if (slot == PHX_ROUTES_NONE) return phx_routes_add_route(routes, layer, goal);
    const uint32_t chunk = phx_routes_chunk_of(slot);
    if (phx_routes_cache_is_pinned(cache, chunk))
        return phx_routes_cache_has_room(cache, 1) ? chunk : PHX_ROUTES_NONE;
    if (!phx_routes_cache_has_room(cache, cache->chunk[chunk].length + 1)) return PHX_ROUTES_NONE;
    phx_routes_cache_pin(cache, chunk);
    return chunk;
}

static void list_tile(PhxRoutes *routes, uint32_t slot, uint32_t route, PhxRoutesFate fate) {
    PhxRoutesCache *cache = &routes->cache;
    PhxRoutesRoute *r = phx_routes_route_at(routes, route);
    if (r->pending == PHX_ROUTES_NONE) cache->solve[routes->solve_count++] = route;
    cache->pending[routes->pending_count] =
        (PhxRoutesPending){.slot = slot, .route = route, .next = r->pending, .fate = fate};
    r->pending = routes->pending_count++;
}

/* Room for a tile that isn't there, and its place among the pending ones. */
static uint32_t add_tile(PhxRoutes *routes, PhxRoutesKey key) {
    const uint32_t route = claim_route(routes, key.layer, key.goal);
    if (route == PHX_ROUTES_NONE) return PHX_ROUTES_NONE;
    const uint32_t slot = phx_routes_cache_take(&routes->cache, key, 1);
    if (slot != PHX_ROUTES_NONE) list_tile(routes, slot, route, PHX_ROUTES_BUILD);
    return slot;
}

/* The place of a doubtful tile among the pending ones. Without its route it is as good as not there: pinned,
 * it might lie in the way of one. */
static uint32_t recheck_tile(PhxRoutes *routes, uint32_t slot) {
    PhxRoutesCache *cache = &routes->cache;
    const PhxRoutesKey key = cache->entry[slot].key;
    const PhxRoutesKey its_route = {.goal = key.goal, .layer = key.layer, .kind = PHX_ROUTES_ROUTE};
    if (phx_routes_cache_find(cache, its_route) == PHX_ROUTES_NONE) {
        phx_routes_cache_drop(cache, slot);
        return add_tile(routes, key);
    }
    const uint32_t route = claim_route(routes, key.layer, key.goal), chunk = phx_routes_chunk_of(slot);
    if (route == PHX_ROUTES_NONE) return PHX_ROUTES_NONE;
    if (!phx_routes_cache_is_pinned(cache, chunk)) phx_routes_cache_pin(cache, chunk);
    cache->entry[slot].doubtful = false;
    list_tile(routes, slot, route, PHX_ROUTES_CHECK);
    return slot;
}

bool phx_routes_claim(PhxRoutes *routes, uint32_t layer, uint64_t goal, uint32_t cell, uint32_t *tile) {
    PhxRoutesCache *cache = &routes->cache;
    const uint32_t width = routes->config.width;
    PHX_ASSERT(phx_routes_is_open(routes, layer), layer, 0);
    PHX_ASSERT(cell / width < routes->config.height, cell, width);
    const PhxRoutesKey key = {goal, phx_sector_at(width, cell % width, cell / width), (uint16_t)layer,
                              PHX_ROUTES_TILE};
    const PhxRoutesKey route = {.goal = goal, .layer = (uint16_t)layer, .kind = PHX_ROUTES_ROUTE};
    uint32_t slot = phx_routes_cache_find(cache, key);
    if (slot == PHX_ROUTES_NONE) {
        slot = add_tile(routes, key);
    } else if (cache->entry[slot].doubtful) {
        slot = recheck_tile(routes, slot);
    } else if (!phx_routes_cache_is_pinned(cache, phx_routes_chunk_of(slot))) {
        if (!phx_routes_cache_has_room(cache, 1)) return false;
        phx_routes_cache_pin(cache, phx_routes_chunk_of(slot));
        const uint32_t its_route = phx_routes_cache_find(cache, route);
        if (its_route != PHX_ROUTES_NONE) phx_routes_cache_note(cache, phx_routes_chunk_of(its_route));
    }
    if (slot == PHX_ROUTES_NONE) return false;
    *tile = slot;
    return true;
}

const PhxTile *phx_routes_tile(const PhxRoutes *routes, uint32_t tile) {
    PHX_ASSERT(phx_routes_chunk_of(tile) < routes->cache.chunk_count, tile, routes->cache.chunk_count);
    return phx_routes_cache_memory(&routes->cache, tile);
}

/* Routes. */

static void want(const PhxNavGrid *grid, PhxRoutesRoute *r, uint32_t sector) {
    phx_bitset_add(r->wanted, sector);
    for (uint32_t side = 0; side < 4; side++) {
        const uint32_t other = phx_tile_neighbour(grid, sector, side);
        if (other != PHX_NAV_NO_CELL) phx_bitset_add(r->wanted, other);
    }
}

static bool is_covered(const PhxRoutes *routes, uint32_t layer, const PhxRoutesRoute *r) {
    for (size_t s = phx_bitset_next(r->wanted, routes->sectors, 0); s < routes->sectors;
         s = phx_bitset_next(r->wanted, routes->sectors, s + 1))
        if (!phx_route_covers(r->route, routes->layer[layer].portals, (uint32_t)s)) return false;
    return true;
}

static void solve_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    PhxRoutes *routes = context;
    const PhxRoutesCache *cache = &routes->cache;
    for (uint32_t i = begin; i < end; i++) {
        PhxRoutesRoute *r = phx_routes_route_at(routes, cache->solve[i]);
        if (!r->route) continue;
        const uint32_t layer = cache->entry[phx_routes_slot_of(cache->solve[i])].key.layer;
        const PhxNavGrid grid = phx_routes_grid(routes, layer);
        memset(r->wanted, 0, routes->words * sizeof *r->wanted);
        for (uint32_t p = r->pending; p != PHX_ROUTES_NONE; p = cache->pending[p].next)
            want(&grid, r, cache->entry[cache->pending[p].slot].key.sector);
        if (!r->solved) phx_sight_build(r->sight, &grid, r->goals, r->goal_count);
        if (!r->solved || !is_covered(routes, layer, r))
            r->status = phx_route_solve(r->route, routes->layer[layer].portals, &grid, r->goals,
                                        r->goal_count, !r->solved, r->wanted, worker);
        r->solved = r->status == PHX_OK;
    }
}

/* Rings and tiles. */

void phx_routes_leads(const PhxRoutes *routes, uint32_t layer, const PhxRoutesRoute *r, uint32_t sector,
                      uint64_t leads[4]) {
    const PhxPortals *portals = routes->layer[layer].portals;
    const PhxPortalVertex *vertex = phx_portals_vertices(portals, sector);
    const uint32_t count = phx_portals_vertex_count(portals, sector);
    memset(leads, 0, 4 * sizeof *leads);
    for (uint32_t v = 0; r->solved && v < count; v++) {
        const uint64_t value = phx_route_value(r->route, portals, sector, v);
        const uint64_t beyond =
            phx_route_value(r->route, portals, vertex[v].partner_sector, vertex[v].partner);
        if (value == PHX_ROUTE_UNREACHED || beyond == PHX_ROUTE_UNREACHED) continue;
        const uint32_t cell = vertex[v].cell;
        const uint32_t at = vertex[v].side % 2 ? cell & (PHX_SECTOR_SIDE - 1) : cell >> PHX_SECTOR_SHIFT;
        if (value == beyond + vertex[v].out_cost) leads[vertex[v].side] |= (uint64_t)1 << at;
    }
}

/* The ring of a sector: there and sure, or listed to be built; PHX_ROUTES_NONE: no room. */
static uint32_t claim_ring(PhxRoutes *routes, PhxRoutesKey key) {
    PhxRoutesCache *cache = &routes->cache;
    uint32_t slot = phx_routes_cache_find(cache, key);
    if (slot != PHX_ROUTES_NONE) {
        phx_routes_cache_keep_ring(cache, slot);
        if (!cache->entry[slot].doubtful) return slot;
        cache->entry[slot].doubtful = false;
    } else {
        slot = phx_routes_cache_take_ring(cache, key);
        if (slot == PHX_ROUTES_NONE) return slot;
    }
    cache->rings[routes->ring_count++] = slot;
    return slot;
}

/* Finds room for the rings of a pending tile; false: not beside those of its group. */
static bool claim_rings(PhxRoutes *routes, PhxRoutesPending *pending) {
    PhxRoutesCache *cache = &routes->cache;
    PhxRoutesEntry *entry = &cache->entry[pending->slot];
    const PhxRoutesRoute *r = phx_routes_route_at(routes, pending->route);
    const PhxNavGrid grid = phx_routes_grid(routes, entry->key.layer);
    const PhxTileTask task = phx_routes_task(routes, entry->key.layer, &grid, r);
    const uint8_t sides = r->solved ? phx_tile_neighbours(&task, entry->key.sector) : 0;
    if (sides != entry->sides) pending->fate = PHX_ROUTES_BUILD;
    entry->sides = sides;
    for (uint32_t side = 0; side < 4; side++) {
        pending->rings[side] = PHX_ROUTES_NONE;
        if (!(entry->sides >> side & 1)) continue;
        PhxRoutesKey key = entry->key;
        key.kind = PHX_ROUTES_RING;
        key.sector = phx_tile_neighbour(&grid, entry->key.sector, side);
        pending->rings[side] = claim_ring(routes, key);
        if (pending->rings[side] == PHX_ROUTES_NONE) return false;
    }
    return true;
}

static void ring_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxRoutes *routes = context;
    const PhxRoutesCache *cache = &routes->cache;
    for (uint32_t i = begin; i < end; i++) {
        PhxRoutesEntry *entry = &cache->entry[cache->rings[i]];
        const PhxRoutesKey key = {
            .goal = entry->key.goal, .layer = entry->key.layer, .kind = PHX_ROUTES_ROUTE};
        const uint32_t route = phx_routes_cache_find(cache, key);
        const PhxRoutesRoute *r = phx_routes_route_at(routes, phx_routes_chunk_of(route));
        const PhxNavGrid grid = phx_routes_grid(routes, entry->key.layer);
        const PhxTileTask task = phx_routes_task(routes, entry->key.layer, &grid, r);
        phx_routes_leads(routes, entry->key.layer, r, entry->key.sector, entry->leads);
        PhxRoutesScratch *scratch = &routes->scratch[worker];
        phx_tile_ring_build(&scratch->ring, &task, entry->key.sector, &scratch->tile);
        phx_routes_renew_ring(entry, phx_routes_cache_memory(cache, cache->rings[i]), &scratch->ring,
                              routes->versions + 1 + i);
    }
}

static void tile_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxRoutes *routes = context;
    const PhxRoutesCache *cache = &routes->cache;
    for (uint32_t i = begin; i < end; i++) {
        PhxRoutesPending *pending = &cache->pending[routes->first + i];
        PhxRoutesEntry *entry = &cache->entry[pending->slot];
        const PhxRoutesRoute *r = phx_routes_route_at(routes, pending->route);
        const PhxNavGrid grid = phx_routes_grid(routes, entry->key.layer);
        PhxTileTask task = phx_routes_task(routes, entry->key.layer, &grid, r);
        const PhxTileRing *rings[4] = {NULL, NULL, NULL, NULL};
        if (pending->fate == PHX_ROUTES_CHECK) pending->fate = phx_routes_settle_tile(routes, pending);
        for (uint32_t side = 0; side < 4; side++) {
            if (pending->rings[side] == PHX_ROUTES_NONE) continue;
            rings[side] = phx_routes_cache_memory(cache, pending->rings[side]);
            entry->strip[side] = cache->entry[pending->rings[side]].strip[side ^ 2u];
        }
        if (pending->fate != PHX_ROUTES_BUILD) continue;
        if (!r->solved) task.goal_count = 0; /* no goals: no way */
        phx_tile_build(phx_routes_cache_memory(cache, pending->slot), &task, entry->key.sector, rings,
                       &routes->scratch[worker].tile);
    }
}

/* Rings and tiles of the pending tiles from `first` on, as many as have room for their rings together. */
static void build_group(PhxRoutes *routes, const PhxJobs *jobs) {
    routes->ring_count = 0;
    phx_routes_cache_begin_rings(&routes->cache);
    routes->last = routes->first;
    while (routes->last < routes->pending_count && claim_rings(routes, &routes->cache.pending[routes->last]))
        routes->last++;
    PHX_ASSERT(routes->last > routes->first, routes->first, routes->cache.chunk_count);
    phx_parallel_for(jobs, routes->ring_count, 1, ring_range, routes);
    routes->versions += routes->ring_count;
    phx_parallel_for(jobs, routes->last - routes->first, 1, tile_range, routes);
    for (uint32_t i = routes->first; i < routes->last; i++) {
        routes->tiles_built += routes->cache.pending[i].fate == PHX_ROUTES_BUILD;
        routes->tiles_shifted += routes->cache.pending[i].fate == PHX_ROUTES_SHIFTED;
    }
    routes->first = routes->last;
}

PhxStatus phx_routes_build(PhxRoutes *routes, const PhxJobs *jobs) {
    PHX_ASSERT(jobs->workers <= routes->config.workers, jobs->workers, routes->config.workers);
    phx_parallel_for(jobs, routes->solve_count, 1, solve_range, routes);
    for (uint32_t i = 0; i < routes->solve_count; i++) {
        const PhxStatus status = phx_routes_route_at(routes, routes->cache.solve[i])->status;
        if (status != PHX_OK) return status;
    }
    for (routes->first = 0; routes->first < routes->pending_count;) build_group(routes, jobs);
    routes->routes_solved += routes->solve_count;
    for (uint32_t i = 0; i < routes->solve_count; i++)
        phx_routes_route_at(routes, routes->cache.solve[i])->pending = PHX_ROUTES_NONE;
    routes->pending_count = routes->solve_count = 0;
    return PHX_OK;
}
