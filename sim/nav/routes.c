/* routes.c: the service of sector routes: its making, its layers, and what they use.
 *
 * In: a config with callbacks. Out: planes and graphs of the layers that are opened. Cost: opening composes
 * the plane and builds the graph, on all threads, sector by sector. Determinism: a plane is what the callback
 * gives, and a graph a pure function of it; ranges of the loop write only their own sectors' cells.
 */
#include <phalanx/routes.h>

#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "nav/routes_cache.h"

/* Everything but planes, graphs and cache; the same function measures (null) and lays out. */
static PhxRoutes *lay_out(PhxArena *arena, const PhxRoutesConfig *config) {
    PhxRoutes *routes = phx_arena_push(arena, 1, sizeof(PhxRoutes));
    const uint32_t sectors = phx_sector_count(config->width, config->height);
    const size_t words = phx_bitset_words(sectors);
    PhxRoutesScratch *scratch = PHX_ARENA_ARRAY(arena, PhxRoutesScratch, config->workers);
    PhxRoutesParts *parts = PHX_ARENA_ARRAY(arena, PhxRoutesParts, PHX_ROUTES_PARTS);
    uint32_t *goal_cells = PHX_ARENA_ARRAY(arena, uint32_t, PHX_ROUTES_GOAL_LIMIT);
    PhxCellRect *touched = PHX_ARENA_ARRAY(arena, PhxCellRect, sectors);
    PhxCellRect *differs = PHX_ARENA_ARRAY(arena, PhxCellRect, sectors);
    uint32_t *boxes = PHX_ARENA_ARRAY(arena, uint32_t, sectors);
    uint32_t *changed = PHX_ARENA_ARRAY(arena, uint32_t, sectors);
    uint64_t *near_changed = PHX_ARENA_ARRAY(arena, uint64_t, words);
    uint64_t *graph_changed = PHX_ARENA_ARRAY(arena, uint64_t, words);
    if (!routes) return NULL;
    routes->config = *config;
    routes->sectors = sectors;
    routes->across = phx_sectors_across(config->width);
    routes->words = words;
    routes->scratch = scratch;
    routes->parts = parts;
    routes->goal_cells = goal_cells;
    routes->touched = touched;
    routes->differs = differs;
    routes->changed = changed;
    routes->boxes = boxes;
    routes->near_changed = near_changed;
    routes->graph_changed = graph_changed;
    return routes;
}

static bool is_config_good(const PhxRoutesConfig *config) {
    const PhxFieldWeights weights = config->weights;
    return config->width >= 1 && config->width <= PHX_NAV_MAX_SIDE && config->height >= 1 &&
           config->height <= PHX_NAV_MAX_SIDE && weights.straight >= 1 &&
           weights.straight <= PHX_PORTAL_STRAIGHT_MAX && weights.diagonal >= weights.straight &&
           weights.diagonal <= 2u * weights.straight && config->workers >= 1 && config->allocator.allocate &&
           config->allocator.release && config->compose && config->goals && config->reach <= PHX_NAV_MAX_SIDE;
}

PhxStatus phx_routes_create(const PhxRoutesConfig *config, PhxRoutes **out) {
    *out = NULL;
    if (!is_config_good(config)) return PHX_ERROR_ARGUMENT;
    PhxArena arena = phx_arena_measure();
    (void)lay_out(&arena, config);
    const PhxStatus status = phx_arena_create(&arena, config->allocator, arena.used);
    if (status != PHX_OK) return status;
    PhxRoutes *routes = lay_out(&arena, config);
    routes->arena = arena;
    if (phx_routes_fit_cache(routes) != PHX_OK) {
        phx_arena_destroy(&arena);
        return PHX_ERROR_MEMORY;
    }
    *out = routes;
    return PHX_OK;
}

static size_t plane_bytes(const PhxRoutes *routes) {
    return (size_t)routes->config.width * routes->config.height;
}

static void close_layer(PhxRoutes *routes, PhxRoutesLayer *layer) {
    const PhxAllocator allocator = routes->config.allocator;
    if (layer->plane) allocator.release(allocator.user, layer->plane, plane_bytes(routes));
    if (layer->portals) phx_portals_destroy(layer->portals);
    *layer = (PhxRoutesLayer){0};
}

void phx_routes_destroy(PhxRoutes *routes) {
    if (!routes) return;
    for (uint32_t i = 0; i < PHX_ROUTES_LAYER_LIMIT; i++) close_layer(routes, &routes->layer[i]);
    phx_routes_cache_destroy(&routes->cache);
    PhxArena arena = routes->arena; /* the service lies inside its own arena */
    phx_arena_destroy(&arena);
}

/* One tile, with the largest route that an open layer knows, and a chunk for its rings. */
PhxStatus phx_routes_fit_cache(PhxRoutes *routes) {
    uint32_t least = 3;
    for (uint32_t i = 0; i < PHX_ROUTES_LAYER_LIMIT; i++) {
        if (!routes->layer[i].plane) continue;
        /* Few goals take room for their views, many for themselves. */
        const uint32_t seen = phx_routes_run_length(routes, i, PHX_SIGHT_GOALS);
        const uint32_t many = phx_routes_run_length(routes, i, PHX_ROUTES_GOAL_LIMIT);
        const uint32_t length = seen > many ? seen : many;
        if (length + 2 > least) least = length + 2;
    }
    if (routes->cache.chunk_count >= least) return PHX_OK;
    const uint64_t evicted = routes->cache.tiles_evicted;
    phx_routes_cache_destroy(&routes->cache);
    routes->pending_count = routes->solve_count = 0;
    const PhxStatus status =
        phx_routes_cache_create(&routes->cache, routes->config.allocator, routes->config.cache_bytes, least);
    routes->cache.tiles_evicted = evicted;
    return status;
}

void phx_routes_compose(const PhxRoutes *routes, uint32_t layer, PhxCellRect rect) {
    uint8_t *plane = routes->layer[layer].plane;
    routes->config.compose(routes->config.user, layer, rect, plane);
    for (int32_t y = rect.y0; y < rect.y1; y++) {
        uint8_t *row = plane + (size_t)y * routes->config.width;
        for (int32_t x = rect.x0; x < rect.x1; x++) row[x] |= row[x] == 0;
    }
}

typedef struct Composing {
    const PhxRoutes *routes;
    uint32_t layer;
} Composing;

/* A row of sectors each. */
static void compose_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const Composing *c = context;
    const uint32_t height = c->routes->config.height, last = end * PHX_SECTOR_SIDE;
    const PhxCellRect rect = {0, (int32_t)(begin * PHX_SECTOR_SIDE), (int32_t)c->routes->config.width,
                              (int32_t)(last < height ? last : height)};
    (void)worker;
    phx_routes_compose(c->routes, c->layer, rect);
}

/* Counts what is asked of it. */
static void *probe_allocate(void *user, size_t size) {
    PhxRoutes *routes = user;
    routes->probed += (size + 63) / 64 * 64;
    return routes->config.allocator.allocate(routes->config.allocator.user, size);
}
static void probe_release(void *user, void *memory, size_t size) {
    const PhxRoutes *routes = user;
    routes->config.allocator.release(routes->config.allocator.user, memory, size);
}

PhxStatus phx_routes_measure_route(PhxRoutes *routes, uint32_t layer) {
    const PhxAllocator probe = {probe_allocate, probe_release, routes};
    PhxRoute *route;
    routes->probed = 0;
    const PhxStatus status = phx_route_create(&route, probe, routes->layer[layer].portals);
    if (status != PHX_OK) return status;
    phx_route_destroy(route, probe);
    routes->layer[layer].route_bytes = routes->probed;
    return PHX_OK;
}

PhxStatus phx_routes_build_layer(PhxRoutes *routes, uint32_t layer, const PhxJobs *jobs) {
    Composing composing = {routes, layer};
    const uint32_t down = (routes->config.height + PHX_SECTOR_SIDE - 1) / PHX_SECTOR_SIDE;
    phx_parallel_for(jobs, down, 1, compose_range, &composing);
    phx_routes_forget_parts(routes);
    const PhxNavGrid grid = phx_routes_grid(routes, layer);
    PhxStatus status = phx_portals_build(routes->layer[layer].portals, &grid, jobs);
    if (status == PHX_OK) status = phx_routes_measure_route(routes, layer);
    if (status == PHX_OK) status = phx_routes_fit_cache(routes);
    return status;
}

PhxStatus phx_routes_open(PhxRoutes *routes, uint32_t layer, const PhxJobs *jobs) {
    const PhxAllocator allocator = routes->config.allocator;
    if (layer >= PHX_ROUTES_LAYER_LIMIT) return PHX_ERROR_LIMIT;
    PhxRoutesLayer *opened = &routes->layer[layer];
    if (opened->plane && !opened->broken) return PHX_OK;
    if (opened->broken) phx_routes_drop(routes);
    PHX_ASSERT(jobs->workers <= routes->config.workers, jobs->workers, routes->config.workers);
    PhxStatus status = PHX_OK;
    if (!opened->plane) {
        opened->plane = allocator.allocate(allocator.user, plane_bytes(routes));
        if (!opened->plane) return PHX_ERROR_MEMORY;
        status = phx_portals_create(&opened->portals, allocator, routes->config.width, routes->config.height,
                                    routes->config.weights, routes->config.workers);
        if (status != PHX_OK) opened->portals = NULL;
    }
    if (status == PHX_OK) status = phx_routes_build_layer(routes, layer, jobs);
    opened->broken = false;
    if (status != PHX_OK) close_layer(routes, opened);
    return status;
}

PhxNavGrid phx_routes_plane(const PhxRoutes *routes, uint32_t layer) {
    PHX_ASSERT(phx_routes_is_open(routes, layer), layer, 0);
    return phx_routes_grid(routes, layer);
}

void phx_routes_drop(PhxRoutes *routes) {
    phx_routes_cache_clear(&routes->cache);
    routes->pending_count = routes->solve_count = 0;
}

void phx_routes_close(PhxRoutes *routes) {
    phx_routes_drop(routes);
    phx_routes_forget_parts(routes);
    for (uint32_t i = 0; i < PHX_ROUTES_LAYER_LIMIT; i++) close_layer(routes, &routes->layer[i]);
}

bool phx_routes_is_open(const PhxRoutes *routes, uint32_t layer) {
    return layer < PHX_ROUTES_LAYER_LIMIT && routes->layer[layer].plane && !routes->layer[layer].broken;
}

PhxRoutesUse phx_routes_use(const PhxRoutes *routes) {
    const PhxRoutesCache *cache = &routes->cache;
    const size_t tables = cache->bytes - (size_t)cache->chunk_count * PHX_ROUTES_CHUNK;
    PhxRoutesUse use = {.cache_bytes = tables + (size_t)cache->chunks_used * PHX_ROUTES_CHUNK,
                        .cache_peak = tables + (size_t)cache->chunks_peak * PHX_ROUTES_CHUNK,
                        .cache_limit = cache->bytes,
                        .tile_bytes = sizeof(PhxTile),
                        .ring_bytes = sizeof(PhxTileRing),
                        .tiles_built = routes->tiles_built,
                        .tiles_shifted = routes->tiles_shifted,
                        .routes_solved = routes->routes_solved,
                        .routes_repaired = routes->routes_repaired,
                        .tiles_evicted = cache->tiles_evicted,
                        .sectors = routes->sectors};
    for (uint32_t i = 0; i < PHX_ROUTES_LAYER_LIMIT; i++) {
        const PhxRoutesLayer *layer = &routes->layer[i];
        if (!layer->plane) continue;
        use.layers++;
        use.plane_bytes += plane_bytes(routes);
        use.graph_bytes += phx_portals_bytes(layer->portals);
        if (layer->route_bytes > use.route_bytes) use.route_bytes = layer->route_bytes;
        for (uint32_t s = 0; s < routes->sectors; s++)
            use.portals += phx_portals_vertex_count(layer->portals, s);
    }
    return use;
}
