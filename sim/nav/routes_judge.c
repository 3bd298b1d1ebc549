/* routes_judge.c: which rings and tiles of a layer outlive a change, and in what form.
 *
 * In: the sectors in which cells, graph or route values became others. Out: rings and tiles that are as if
 * they were made anew, or doubted, or gone. What depends on what (nav/tile.h): a ring on the cells of its
 * sector and of the rows around it, the values of the sector's vertices, and at which of them the way leads
 * across; a tile on its cells and those around them, on the rings of the neighbours that it leads to, along
 * the border that it has with them, and on the view of the goals. After a change a ring is doubtful if one of
 * these differs; it is built anew when it is wanted, and then each border tells whether the change came
 * through. A tile is doubtful as long as a ring of it may be another; when it is wanted, the borders that it
 * was made from decide.
 *
 * Shifts: a detour far away moves all values of a sector by one amount. Sums, order and arrows follow from
 * differences of values, and so stay; only values move. A way's length (`rest`) moves with them if it ends in
 * the value of a vertex, and not at all if it ends at a goal that is aimed at straight; lengths are compared
 * with each other, so a ring in which both occur is built anew, and so is one of a sector that holds a goal,
 * whose value is always 0. What the values were before is told by the ring itself: on the cell of a vertex
 * the front within the sector has the vertex' value. A tile moves as its rings do, if they all move by the
 * same; cells that see a goal compare their value with the straight way, so tiles near a goal don't move.
 *
 * Cost: after a change a look at each ring and tile; where values moved, at the vertices of its sector. A
 * comparison of two rings: 1 us.
 *
 * Determinism: what stays equals what would be built anew, so that it doesn't matter what is there.
 */
#include <string.h>

#include "base/bitset.h"
#include "nav/routes_cache.h"

/* What is needed to judge the entries of one set of goals. */
typedef struct Judge {
    const PhxRoutes *routes;
    const PhxRoutesRoute *r;
    uint32_t layer;
} Judge;

/* Whether a ring may be another. */
static bool is_ring_hit(const Judge *judge, uint32_t sector) {
    return phx_bitset_get(judge->routes->near_changed, sector) || phx_bitset_get(judge->r->doubted, sector);
}

/* Whether a goal lies in a sector, or within `reach` cells of it. */
static bool is_goal_near(const Judge *judge, uint32_t sector, uint32_t reach) {
    const uint32_t width = judge->routes->config.width;
    const PhxSectorFrame f = phx_sector_frame(width, judge->routes->config.height, sector);
    for (uint32_t i = 0; i < judge->r->goal_count; i++) {
        const uint32_t x = judge->r->goals[i] % width, y = judge->r->goals[i] / width;
        if (x + reach >= f.x0 && x < f.x0 + f.width + reach && y + reach >= f.y0 &&
            y < f.y0 + f.height + reach)
            return true;
    }
    return false;
}

/* Whether a way that leaves its sector at a cell aims straight at a goal: the rule of tile_aim.c. */
static bool aims_at_goal(const Judge *judge, uint32_t cell, uint64_t value) {
    const PhxNavGrid grid = phx_routes_grid(judge->routes, judge->layer);
    const PhxFieldWeights weights = judge->routes->config.weights;
    uint64_t least = UINT64_MAX / 2;
    if (judge->r->goal_count > PHX_SIGHT_GOALS) return false;
    for (uint32_t i = 0; i < judge->r->goal_count; i++) {
        const int32_t dx = (int32_t)(judge->r->goals[i] % grid.width) - (int32_t)(cell % grid.width);
        const int32_t dy = (int32_t)(judge->r->goals[i] / grid.width) - (int32_t)(cell / grid.width);
        const uint32_t ax = (uint32_t)(dx < 0 ? -dx : dx), ay = (uint32_t)(dy < 0 ? -dy : dy);
        const uint32_t most = ax > ay ? ax : ay, both = ax > ay ? ay : ax;
        const uint64_t way =
            ((uint64_t)(most - both) * weights.straight + (uint64_t)both * weights.diagonal) *
            grid.cost[cell];
        if (way < least) least = way;
    }
    return value <= least + least / 32;
}

/* By how much a ring moves whose sector's vertices lie and lead where they did; false: not by one amount. */
static bool find_shift(const Judge *judge, const PhxRoutesEntry *entry, const PhxTileRing *ring,
                       PhxRoutesShift *shift) {
    const PhxPortals *portals = judge->routes->layer[judge->layer].portals;
    const uint32_t sector = entry->key.sector, width = judge->routes->config.width;
    const PhxSectorFrame f = phx_sector_frame(width, judge->routes->config.height, sector);
    const PhxPortalVertex *vertex = phx_portals_vertices(portals, sector);
    const uint32_t count = phx_portals_vertex_count(portals, sector);
    bool known = false, vertices = false, goals = false; /* of the last two: what is aimed at */
    if (is_goal_near(judge, sector, 0)) return false;
    for (uint32_t v = 0; v < count; v++) {
        const uint32_t lx = vertex[v].cell & (PHX_SECTOR_SIDE - 1), ly = vertex[v].cell >> PHX_SECTOR_SHIFT;
        const uint32_t at = vertex[v].side % 2 ? lx : ly;
        const uint64_t now = phx_route_value(judge->r->route, portals, sector, v);
        const uint64_t before = ring->value[vertex[v].side][at];
        if ((now == PHX_ROUTE_UNREACHED) != (before == PHX_ROUTE_UNREACHED)) return false;
        if (now == PHX_ROUTE_UNREACHED) continue;
        if (known && now - before != shift->value) return false;
        shift->value = now - before;
        known = true;
        if (!(entry->leads[vertex[v].side] >> at & 1)) continue;
        const uint32_t cell = (f.y0 + ly) * width + f.x0 + lx;
        const bool did = aims_at_goal(judge, cell, before), does = aims_at_goal(judge, cell, now);
        goals = goals || did || does;
        vertices = vertices || !did || !does;
    }
    shift->rest = goals ? 0 : shift->value << 8;
    return !(goals && vertices) || shift->value == 0;
}

/* Moves a ring; its strips tell. */
static void shift_ring(PhxRoutesEntry *entry, PhxTileRing *ring, PhxRoutesShift shift) {
    for (uint32_t side = 0; side < 4; side++) {
        for (uint32_t i = 0; i < PHX_SECTOR_SIDE; i++) {
            if (ring->value[side][i] != PHX_ROUTE_UNREACHED) ring->value[side][i] += shift.value;
            if (ring->rest[side][i] != PHX_ROUTE_UNREACHED) ring->rest[side][i] += shift.rest;
        }
        entry->strip[side].shift.value += shift.value;
        entry->strip[side].shift.rest += shift.rest;
    }
}

/* A ring is sure again if it moved by one amount, and stays so if nothing could reach it. */
static void judge_ring(const Judge *judge, PhxRoutesEntry *entry, PhxTileRing *ring) {
    const uint32_t sector = entry->key.sector;
    const bool moved = phx_bitset_get(judge->r->moved, sector);
    PhxRoutesShift shift = {0, 0};
    uint64_t leads[4];
    if (entry->doubtful || !is_ring_hit(judge, sector)) return;
    if (phx_bitset_get(judge->routes->near_changed, sector) ||
        phx_bitset_get(judge->routes->graph_changed, sector)) {
        entry->doubtful = true;
        return;
    }
    phx_routes_leads(judge->routes, judge->layer, judge->r, sector, leads);
    entry->doubtful =
        memcmp(leads, entry->leads, sizeof leads) != 0 || (moved && !find_shift(judge, entry, ring, &shift));
    if (!entry->doubtful && shift.value != 0) shift_ring(entry, ring, shift);
}

/* False: a tile has to be built anew, whatever its rings say. */
static bool judge_tile(const Judge *judge, PhxRoutesEntry *entry) {
    const PhxNavGrid grid = phx_routes_grid(judge->routes, judge->layer);
    const uint32_t sector = entry->key.sector;
    if (phx_bitset_get(judge->routes->near_changed, sector) || phx_bitset_get(judge->r->seen, sector))
        return false;
    if (phx_bitset_get(judge->r->doubted, sector)) {
        const PhxTileTask task = phx_routes_task(judge->routes, judge->layer, &grid, judge->r);
        if (phx_tile_neighbours(&task, sector) != entry->sides) return false;
    }
    for (uint32_t side = 0; side < 4 && !entry->doubtful; side++)
        if (entry->sides >> side & 1)
            entry->doubtful = is_ring_hit(judge, phx_tile_neighbour(&grid, sector, side));
    return true;
}

/* Judges an entry; false: it is of no use any more. */
static bool judge_entry(const Judge *judge, uint32_t slot) {
    PhxRoutesEntry *entry = &judge->routes->cache.entry[slot];
    if (!judge->r || judge->r->gone) return false; /* nobody knows what moved */
    if (!judge->r->solved)
        return !phx_bitset_get(judge->routes->near_changed, entry->key.sector); /* no goals */
    if (entry->key.kind == PHX_ROUTES_TILE) return judge_tile(judge, entry);
    judge_ring(judge, entry, phx_routes_cache_memory(&judge->routes->cache, slot));
    return true;
}

/* The route of a set of goals; null: not there. */
static const PhxRoutesRoute *find_route(const PhxRoutes *routes, uint32_t layer, uint64_t goal) {
    const PhxRoutesKey key = {.goal = goal, .layer = (uint16_t)layer, .kind = PHX_ROUTES_ROUTE};
    const uint32_t slot = phx_routes_cache_find(&routes->cache, key);
    return slot == PHX_ROUTES_NONE ? NULL : phx_routes_route_at(routes, phx_routes_chunk_of(slot));
}

void phx_routes_judge(PhxRoutes *routes, uint32_t layer) {
    PhxRoutesCache *cache = &routes->cache;
    Judge judge = {routes, NULL, layer};
    uint64_t goal = 0; /* of judge.r: entries of one set of goals often lie beside each other */
    bool known = false;
    for (uint32_t i = 0; i < cache->chunk_count; i++) {
        if (cache->chunk[i].kind != PHX_ROUTES_RING && cache->chunk[i].kind != PHX_ROUTES_TILE) continue;
        const uint32_t places = cache->chunk[i].kind == PHX_ROUTES_RING ? PHX_ROUTES_RINGS : 1;
        for (uint32_t slot = phx_routes_slot_of(i); slot < phx_routes_slot_of(i) + places; slot++) {
            const PhxRoutesKey key = cache->entry[slot].key;
            if (key.kind == PHX_ROUTES_FREE || key.layer != layer) continue;
            if (!known || key.goal != goal) judge.r = find_route(routes, layer, key.goal);
            goal = key.goal;
            known = true;
            if (!judge_entry(&judge, slot)) phx_routes_cache_drop(cache, slot);
        }
    }
}

/* Notes that a number became another; false: not by the same as those before. */
static bool is_shifted(uint64_t before, uint64_t now, uint64_t *shift, bool *known) {
    if (before == PHX_ROUTE_UNREACHED || now == PHX_ROUTE_UNREACHED) return before == now;
    if (*known) return now - before == *shift;
    *shift = now - before;
    *known = true;
    return true;
}

/* Whether two rings differ along a border by no more than a shift. */
static bool compare_strips(const PhxTileRing *before, const PhxTileRing *now, uint32_t side,
                           PhxRoutesShift *shift) {
    bool value_known = false, rest_known = false;
    if (memcmp(before->aim[side], now->aim[side], sizeof now->aim[side]) != 0 ||
        memcmp(before->light[side], now->light[side], sizeof now->light[side]) != 0)
        return false;
    for (uint32_t i = 0; i < PHX_SECTOR_SIDE; i++)
        if (!is_shifted(before->value[side][i], now->value[side][i], &shift->value, &value_known) ||
            !is_shifted(before->rest[side][i], now->rest[side][i], &shift->rest, &rest_known))
            return false;
    return true;
}

void phx_routes_renew_ring(PhxRoutesEntry *entry, PhxTileRing *ring, const PhxTileRing *built,
                           uint64_t version) {
    for (uint32_t side = 0; side < 4; side++) {
        PhxRoutesStrip *strip = &entry->strip[side];
        PhxRoutesShift shift = {0, 0};
        if (entry->filled && compare_strips(ring, built, side, &shift)) {
            strip->shift.value += shift.value;
            strip->shift.rest += shift.rest;
        } else {
            *strip = (PhxRoutesStrip){.version = version};
        }
    }
    *ring = *built;
    entry->filled = true;
}

PhxRoutesFate phx_routes_settle_tile(const PhxRoutes *routes, const PhxRoutesPending *pending) {
    const PhxRoutesCache *cache = &routes->cache;
    const PhxRoutesEntry *entry = &cache->entry[pending->slot];
    const Judge judge = {routes, phx_routes_route_at(routes, pending->route), entry->key.layer};
    PhxRoutesShift shift = {0, 0};
    bool known = false;
    for (uint32_t side = 0; side < 4; side++) {
        if (pending->rings[side] == PHX_ROUTES_NONE) continue;
        const PhxRoutesStrip *before = &entry->strip[side];
        const PhxRoutesStrip *now = &cache->entry[pending->rings[side]].strip[side ^ 2u];
        const PhxRoutesShift its = {now->shift.value - before->shift.value,
                                    now->shift.rest - before->shift.rest};
        if (now->version != before->version) return PHX_ROUTES_BUILD;
        if (known && (its.value != shift.value || its.rest != shift.rest)) return PHX_ROUTES_BUILD;
        shift = its;
        known = true;
    }
    if (shift.value == 0 && shift.rest == 0) return PHX_ROUTES_KEPT;
    const bool sight = shift.value != 0 && judge.r->goal_count <= PHX_SIGHT_GOALS;
    if (is_goal_near(&judge, entry->key.sector, sight ? PHX_SIGHT_REACH : 0)) return PHX_ROUTES_BUILD;
    if (shift.value == 0) return PHX_ROUTES_KEPT;
    /* Sums are told from bases. Where no cell has a way, the only base is 0, as no goal lies here. */
    PhxTile *tile = phx_routes_cache_memory(cache, pending->slot);
    for (uint32_t b = 0; b < tile->bands && tile->base[0] != 0; b++) tile->base[b] += shift.value;
    return PHX_ROUTES_SHIFTED;
}
