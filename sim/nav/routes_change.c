/* routes_change.c: changes: what was touched is composed anew, and what depends on it is mended or dropped.
 *
 * In: touched rectangles. Out: planes, graphs and routes as if they were made anew; which rings and tiles
 * stay, routes_judge.c says. Cost: for each open layer, the touched cells and those within reach of
 * them; where cells became others, an update of the graph (some sectors), a repair of each route, and a look
 * at each ring and tile.
 *
 * Determinism: what stays equals what would be built anew, so that it doesn't matter what is there. Ranges of
 * the loops write only the cells of their own sector, or their own route.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "nav/routes_cache.h"

static int32_t clamp(int64_t value, uint32_t most) {
    return value < 0 ? 0 : value > (int64_t)most ? (int32_t)most : (int32_t)value;
}

static PhxCellRect clip(const PhxRoutes *routes, PhxCellRect rect, uint32_t grow) {
    return (PhxCellRect){clamp((int64_t)rect.x0 - grow, routes->config.width),
                         clamp((int64_t)rect.y0 - grow, routes->config.height),
                         clamp((int64_t)rect.x1 + grow, routes->config.width),
                         clamp((int64_t)rect.y1 + grow, routes->config.height)};
}

static bool is_empty(PhxCellRect rect) { return rect.x0 >= rect.x1 || rect.y0 >= rect.y1; }

static int32_t lower(int32_t a, int32_t b) { return a < b ? a : b; }
static int32_t higher(int32_t a, int32_t b) { return a > b ? a : b; }

/* The least rectangle that holds both. */
static PhxCellRect join(PhxCellRect a, PhxCellRect b) {
    if (is_empty(a)) return b;
    if (is_empty(b)) return a;
    return (PhxCellRect){lower(a.x0, b.x0), lower(a.y0, b.y0), higher(a.x1, b.x1), higher(a.y1, b.y1)};
}

static PhxCellRect sector_part(const PhxRoutes *routes, uint32_t sector, PhxCellRect rect) {
    const PhxSectorFrame f = phx_sector_frame(routes->config.width, routes->config.height, sector);
    return (PhxCellRect){higher(rect.x0, (int32_t)f.x0), higher(rect.y0, (int32_t)f.y0),
                         lower(rect.x1, (int32_t)(f.x0 + f.width)),
                         lower(rect.y1, (int32_t)(f.y0 + f.height))};
}

void phx_routes_touch(PhxRoutes *routes, PhxCellRect rect) {
    const PhxCellRect inside = clip(routes, rect, 0);
    if (is_empty(rect) || is_empty(inside)) return;
    const PhxCellRect wide = clip(routes, inside, routes->config.reach);
    const uint32_t left = (uint32_t)wide.x0 >> PHX_SECTOR_SHIFT, top = (uint32_t)wide.y0 >> PHX_SECTOR_SHIFT;
    const uint32_t right = (uint32_t)(wide.x1 - 1) >> PHX_SECTOR_SHIFT;
    const uint32_t bottom = (uint32_t)(wide.y1 - 1) >> PHX_SECTOR_SHIFT;
    for (uint32_t sy = top; sy <= bottom; sy++)
        for (uint32_t sx = left; sx <= right; sx++) {
            const uint32_t sector = sy * routes->across + sx;
            routes->touched[sector] = join(routes->touched[sector], sector_part(routes, sector, wide));
        }
    routes->any_touched = true;
}

/* Planes. */

typedef struct Change {
    PhxRoutes *routes;
    uint32_t layer;
} Change;

/* The cells of `rect` that differ from `old`, which holds its rows one after the other. */
static PhxCellRect difference(const PhxNavGrid *grid, PhxCellRect rect, const uint8_t *old) {
    PhxCellRect found = {0, 0, 0, 0};
    const size_t width = (size_t)(rect.x1 - rect.x0);
    for (int32_t y = rect.y0; y < rect.y1; y++, old += width) {
        const uint8_t *row = grid->cost + (size_t)y * grid->width + rect.x0;
        if (memcmp(row, old, width) == 0) continue;
        int32_t first = 0, last = rect.x1 - rect.x0 - 1;
        while (row[first] == old[first]) first++;
        while (row[last] == old[last]) last--;
        found = join(found, (PhxCellRect){rect.x0 + first, y, rect.x0 + last + 1, y + 1});
    }
    return found;
}

static void compose_boxes(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const Change *change = context;
    const PhxRoutes *routes = change->routes;
    const PhxNavGrid grid = phx_routes_grid(routes, change->layer);
    uint8_t *old = routes->scratch[worker].old;
    for (uint32_t i = begin; i < end; i++) {
        const PhxCellRect box = routes->touched[routes->boxes[i]];
        const size_t width = (size_t)(box.x1 - box.x0);
        for (int32_t y = box.y0; y < box.y1; y++)
            memcpy(old + (size_t)(y - box.y0) * width, grid.cost + (size_t)y * grid.width + box.x0, width);
        phx_routes_compose(routes, change->layer, box);
        routes->differs[i] = difference(&grid, box, old);
    }
}

/* Lists the sectors whose cells became others, and marks those that see it. */
static void list_changed(PhxRoutes *routes) {
    routes->changed_count = 0;
    memset(routes->near_changed, 0, routes->words * sizeof *routes->near_changed);
    for (uint32_t i = 0; i < routes->box_count; i++) {
        if (is_empty(routes->differs[i])) continue;
        routes->changed[routes->changed_count++] = routes->boxes[i];
        const PhxCellRect wide = clip(routes, routes->differs[i], 1);
        for (uint32_t sy = (uint32_t)wide.y0 >> PHX_SECTOR_SHIFT;
             sy <= (uint32_t)(wide.y1 - 1) >> PHX_SECTOR_SHIFT; sy++)
            for (uint32_t sx = (uint32_t)wide.x0 >> PHX_SECTOR_SHIFT;
                 sx <= (uint32_t)(wide.x1 - 1) >> PHX_SECTOR_SHIFT; sx++)
                phx_bitset_add(routes->near_changed, sy * routes->across + sx);
    }
}

/* Routes. */

/* Whether a cell that a goal's window looks at became another. */
static bool is_view_touched(const PhxRoutes *routes, uint32_t goal) {
    const int32_t x = (int32_t)(goal % routes->config.width), y = (int32_t)(goal / routes->config.width);
    const PhxCellRect window = clip(routes, (PhxCellRect){x, y, x + 1, y + 1}, PHX_SIGHT_REACH);
    for (uint32_t i = 0; i < routes->box_count; i++) {
        const PhxCellRect d = routes->differs[i];
        if (!is_empty(d) && d.x0 < window.x1 && window.x0 < d.x1 && d.y0 < window.y1 && window.y0 < d.y1)
            return true;
    }
    return false;
}

/* Marks the sectors in which two windows of a goal differ. */
static void compare_views(const PhxRoutes *routes, const PhxSightWindow *a, const PhxSightWindow *b,
                          uint64_t *seen) {
    const int32_t x = (int32_t)(a->goal % routes->config.width) - PHX_SIGHT_REACH;
    const int32_t y = (int32_t)(a->goal / routes->config.width) - PHX_SIGHT_REACH;
    for (int32_t row = 0; row < PHX_SIGHT_SIDE; row++)
        for (int32_t word = 0; word < 2; word++)
            for (uint64_t d = a->rows[row][word] ^ b->rows[row][word]; d; d &= d - 1) {
                const uint32_t cx = (uint32_t)(x + word * 64 + (int32_t)phx_bit_lowest(d));
                phx_bitset_add(seen, phx_sector_at(routes->config.width, cx, (uint32_t)(y + row)));
            }
}

static void mend_view(const PhxRoutes *routes, const PhxNavGrid *grid, PhxRoutesRoute *r, PhxSight *scratch) {
    memset(r->seen, 0, routes->words * sizeof *r->seen);
    for (uint32_t i = 0; i < r->sight->count; i++) {
        if (!is_view_touched(routes, r->goals[i])) continue;
        phx_sight_build(scratch, grid, &r->goals[i], 1);
        compare_views(routes, &r->sight->window[i], &scratch->window[0], r->seen);
        r->sight->window[i] = scratch->window[0];
    }
}

/* Marks the sectors in and beside which vertices or values became others. */
static void spread(const PhxRoutes *routes, const PhxNavGrid *grid, PhxRoutesRoute *r) {
    memset(r->doubted, 0, routes->words * sizeof *r->doubted);
    for (size_t w = 0; w < routes->words; w++)
        for (uint64_t left = routes->graph_changed[w] | r->moved[w]; left; left &= left - 1) {
            const uint32_t sector = (uint32_t)(w * 64 + phx_bit_lowest(left));
            if (sector >= routes->sectors) break;
            phx_bitset_add(r->doubted, sector);
            for (uint32_t side = 0; side < 4; side++) {
                const uint32_t other = phx_tile_neighbour(grid, sector, side);
                if (other != PHX_NAV_NO_CELL) phx_bitset_add(r->doubted, other);
            }
        }
}

static void repair_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const Change *change = context;
    const PhxRoutes *routes = change->routes;
    const PhxNavGrid grid = phx_routes_grid(routes, change->layer);
    for (uint32_t i = begin; i < end; i++) {
        PhxRoutesRoute *r = phx_routes_route_at(routes, routes->cache.solve[i]);
        if (!r->solved || r->gone) continue;
        mend_view(routes, &grid, r, &routes->scratch[worker].sight);
        memset(r->moved, 0, routes->words * sizeof *r->moved);
        r->status = phx_route_repair(r->route, routes->layer[change->layer].portals, &grid, r->goals,
                                     r->goal_count, routes->graph_changed, r->moved, worker);
        if (r->status != PHX_OK) r->gone = true;
        spread(routes, &grid, r);
    }
}

/* Lists a layer's routes, and notes those whose goals became others, or that were never solved. */
static uint32_t list_routes(PhxRoutes *routes, uint32_t layer) {
    PhxRoutesCache *cache = &routes->cache;
    uint32_t count = 0;
    for (uint32_t i = 0; i < cache->chunk_count; i += cache->chunk[i].length ? cache->chunk[i].length : 1) {
        if (cache->chunk[i].kind != PHX_ROUTES_ROUTE) continue;
        const PhxRoutesKey key = cache->entry[phx_routes_slot_of(i)].key;
        if (key.layer != layer) continue;
        PhxRoutesRoute *r = phx_routes_route_at(routes, i);
        const uint32_t goals = phx_routes_expand(routes, layer, key.goal);
        r->gone = goals != r->goal_count || (r->route && !r->solved) ||
                  memcmp(routes->goal_cells, r->goals, goals * sizeof *r->goals) != 0;
        cache->solve[count++] = i;
    }
    return count;
}

static void drop_gone(PhxRoutes *routes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (phx_routes_route_at(routes, routes->cache.solve[i])->gone)
            phx_routes_cache_drop(&routes->cache, phx_routes_slot_of(routes->cache.solve[i]));
}

static PhxStatus refresh_layer(PhxRoutes *routes, uint32_t layer, const PhxJobs *jobs) {
    Change change = {routes, layer};
    const uint64_t evicted = routes->cache.tiles_evicted;
    phx_parallel_for(jobs, routes->box_count, 1, compose_boxes, &change);
    list_changed(routes);
    if (routes->changed_count == 0) return PHX_OK;
    phx_routes_forget_parts(routes);
    const PhxNavGrid grid = phx_routes_grid(routes, layer);
    memset(routes->graph_changed, 0, routes->words * sizeof *routes->graph_changed);
    PhxStatus status = phx_portals_update(routes->layer[layer].portals, &grid, routes->changed,
                                          routes->changed_count, jobs, routes->graph_changed);
    if (status == PHX_OK) status = phx_routes_measure_route(routes, layer);
    if (status != PHX_OK) return status;
    const uint32_t count = list_routes(routes, layer);
    phx_parallel_for(jobs, count, 1, repair_range, &change);
    routes->routes_repaired += count;
    phx_routes_judge(routes, layer);
    drop_gone(routes, count);
    routes->cache.tiles_evicted = evicted;
    return phx_routes_fit_cache(routes);
}

/* A layer that can't be mended for want of memory is made from nothing the next time. */
static PhxStatus remake_layer(PhxRoutes *routes, uint32_t layer, const PhxJobs *jobs) {
    phx_routes_drop(routes);
    const PhxStatus status = phx_routes_build_layer(routes, layer, jobs);
    routes->layer[layer].broken = status != PHX_OK;
    return status;
}

static void list_boxes(PhxRoutes *routes) {
    routes->box_count = 0;
    for (uint32_t s = 0; s < routes->sectors; s++)
        if (!is_empty(routes->touched[s])) routes->boxes[routes->box_count++] = s;
}

PhxStatus phx_routes_refresh(PhxRoutes *routes, const PhxJobs *jobs) {
    PHX_ASSERT(jobs->workers <= routes->config.workers, jobs->workers, routes->config.workers);
    PhxStatus status = PHX_OK;
    phx_routes_abandon(routes);
    if (!routes->any_touched && !routes->any_broken) return PHX_OK;
    list_boxes(routes);
    for (uint32_t layer = 0; layer < PHX_ROUTES_LAYER_LIMIT; layer++) {
        if (!routes->layer[layer].plane) continue;
        PhxStatus done = PHX_OK;
        if (routes->layer[layer].broken)
            done = remake_layer(routes, layer, jobs);
        else if (routes->box_count > 0)
            done = refresh_layer(routes, layer, jobs);
        if (done == PHX_OK) continue;
        routes->layer[layer].broken = true;
        status = done;
    }
    routes->any_broken = status != PHX_OK;
    for (uint32_t i = 0; i < routes->box_count; i++)
        routes->touched[routes->boxes[i]] = (PhxCellRect){0, 0, 0, 0};
    routes->any_touched = false;
    return status;
}
