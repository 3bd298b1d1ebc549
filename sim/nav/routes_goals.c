/* routes_goals.c: sets of goals, and the making of the routes to them.
 *
 * In: the name of a set. Out: its cells, sorted, and a route in the cache that isn't solved yet. Cost: one
 * sort of the cells. Determinism: a set of goals is what the callback gives without walls and repeats; the
 * order in which it gives them is lost.
 */
#include <string.h>

#include "base/assert.h"
#include "base/sort.h"
#include "nav/routes_cache.h"

static bool cell_less(const uint32_t *a, const uint32_t *b) { return *a < *b; }
PHX_DEFINE_SORT(sort_cells, uint32_t, cell_less)

uint32_t phx_routes_expand(PhxRoutes *routes, uint32_t layer, uint64_t goal) {
    const uint32_t cells = routes->config.width * routes->config.height;
    const uint8_t *plane = routes->layer[layer].plane;
    uint32_t *goals = routes->goal_cells, kept = 0, count = 0;
    const uint32_t given = routes->config.goals(routes->config.user, layer, goal, goals);
    PHX_ASSERT(given <= PHX_ROUTES_GOAL_LIMIT, given, PHX_ROUTES_GOAL_LIMIT);
    for (uint32_t i = 0; i < given; i++)
        if (goals[i] < cells && plane[goals[i]] != PHX_NAV_IMPASSABLE) goals[kept++] = goals[i];
    sort_cells(goals, kept);
    for (uint32_t i = 0; i < kept; i++)
        if (i == 0 || goals[i] != goals[i - 1]) goals[count++] = goals[i];
    return count;
}

static size_t align_up(size_t size) { return (size + 63) / 64 * 64; }

static size_t sight_bytes(uint32_t goal_count) {
    const uint32_t windows = goal_count <= PHX_SIGHT_GOALS ? goal_count : 0;
    return offsetof(PhxSight, window) + windows * sizeof(PhxSightWindow);
}

static size_t run_bytes(const PhxRoutes *routes, uint32_t layer, uint32_t goal_count) {
    const size_t sets = 4 * align_up(routes->words * sizeof(uint64_t));
    const size_t goals = align_up(goal_count * sizeof(uint32_t));
    return align_up(sizeof(PhxRoutesRoute)) + sets + goals + align_up(sight_bytes(goal_count)) +
           (goal_count ? routes->layer[layer].route_bytes : 0);
}

uint32_t phx_routes_run_length(const PhxRoutes *routes, uint32_t layer, uint32_t goal_count) {
    return (uint32_t)((run_bytes(routes, layer, goal_count) + PHX_ROUTES_CHUNK - 1) / PHX_ROUTES_CHUNK);
}

/* The allocator of a run's pieces. */
static void *take_piece(void *user, size_t size) {
    PhxRoutesPieces *pieces = user;
    const size_t bytes = align_up(size);
    if (bytes > (size_t)(pieces->end - pieces->at)) return NULL;
    unsigned char *piece = pieces->at;
    pieces->at += bytes;
    return piece;
}
static void keep_piece(void *user, void *memory, size_t size) {
    (void)user;
    (void)memory;
    (void)size;
}

uint32_t phx_routes_add_route(PhxRoutes *routes, uint32_t layer, uint64_t goal) {
    const PhxRoutesKey key = {.goal = goal, .layer = (uint16_t)layer, .kind = PHX_ROUTES_ROUTE};
    if (!phx_routes_cache_has_room(&routes->cache, 2)) return PHX_ROUTES_NONE; /* before any work */
    const uint32_t count = phx_routes_expand(routes, layer, goal);
    const uint32_t length = phx_routes_run_length(routes, layer, count);
    if (!phx_routes_cache_has_room(&routes->cache, length + 1)) return PHX_ROUTES_NONE;
    const uint32_t slot = phx_routes_cache_take(&routes->cache, key, length);
    if (slot == PHX_ROUTES_NONE) return PHX_ROUTES_NONE;
    const uint32_t chunk = phx_routes_chunk_of(slot);
    PhxRoutesRoute *r = phx_routes_route_at(routes, chunk);
    *r = (PhxRoutesRoute){.goal_count = count, .pending = PHX_ROUTES_NONE};
    r->pieces.at = (unsigned char *)r + align_up(sizeof *r);
    r->pieces.end = (unsigned char *)r + (size_t)length * PHX_ROUTES_CHUNK;
    r->goals = take_piece(&r->pieces, count * sizeof *r->goals);
    r->sight = take_piece(&r->pieces, sight_bytes(count));
    r->wanted = take_piece(&r->pieces, routes->words * sizeof *r->wanted);
    r->moved = take_piece(&r->pieces, routes->words * sizeof *r->moved);
    r->seen = take_piece(&r->pieces, routes->words * sizeof *r->seen);
    r->doubted = take_piece(&r->pieces, routes->words * sizeof *r->doubted);
    memcpy(r->goals, routes->goal_cells, count * sizeof *r->goals);
    r->sight->count = 0;
    if (count > 0) {
        const PhxAllocator allocator = {take_piece, keep_piece, &r->pieces};
        const PhxStatus status = phx_route_create(&r->route, allocator, routes->layer[layer].portals);
        PHX_ASSERT(status == PHX_OK, status, routes->layer[layer].route_bytes); /* it was measured */
    }
    return chunk;
}
