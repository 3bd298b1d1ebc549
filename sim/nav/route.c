/* route.c: routes over the portal graph: memory, and what they tell.
 *
 * In: a graph. Out: routes of its size; values. Memory: 8 bytes a vertex, and some bits. Determinism: see
 * route_solve.c.
 */
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/bitset.h"
#include "nav/route_data.h"

static PhxRoute *lay(PhxArena *arena, uint32_t sectors) {
    PhxRoute *route = PHX_ARENA_ARRAY(arena, PhxRoute, 1);
    PhxRoute unused, *at = route ? route : &unused;
    at->first = PHX_ARENA_ARRAY(arena, uint32_t, sectors + 1);
    at->asked = PHX_ARENA_ARRAY(arena, uint64_t, phx_bitset_words(sectors));
    return route;
}

static size_t lay_grown(PhxRoute *route, uint32_t vertices, uint32_t live, void *memory) {
    PhxArena arena = phx_arena_measure();
    arena.base = memory;
    if (memory) arena.size = route->grown_size;
    route->value = PHX_ARENA_ARRAY(&arena, uint64_t, vertices);
    route->settled = PHX_ARENA_ARRAY(&arena, uint64_t, phx_bitset_words(vertices));
    route->goal_part = PHX_ARENA_ARRAY(&arena, uint64_t, phx_bitset_words(live));
    return arena.used;
}

PhxStatus phx_route_reserve(PhxRoute *route, const PhxPortals *portals) {
    const uint32_t vertices = phx_portals_total(portals), live = portals->first_live[portals->sectors];
    if (route->grown && vertices <= route->vertex_room && live <= route->live_room) return PHX_OK;
    PhxRoute fresh = *route;
    fresh.vertex_room = vertices + vertices / 32 + 64;
    fresh.live_room = live + live / 32 + 64;
    fresh.grown_size = lay_grown(&fresh, fresh.vertex_room, fresh.live_room, NULL);
    fresh.grown = route->allocator.allocate(route->allocator.user, fresh.grown_size);
    if (!fresh.grown) return PHX_ERROR_MEMORY;
    memset(fresh.grown, 0, fresh.grown_size);
    (void)lay_grown(&fresh, fresh.vertex_room, fresh.live_room, fresh.grown);
    if (route->grown) {
        memcpy(fresh.value, route->value, route->first[route->sectors] * sizeof *fresh.value);
        memcpy(fresh.settled, route->settled,
               phx_bitset_words(route->first[route->sectors]) * sizeof *fresh.settled);
        route->allocator.release(route->allocator.user, route->grown, route->grown_size);
    }
    *route = fresh;
    return PHX_OK;
}

PhxStatus phx_route_create(PhxRoute **out, PhxAllocator allocator, const PhxPortals *portals) {
    *out = NULL;
    PhxArena arena = phx_arena_measure();
    (void)lay(&arena, portals->sectors);
    PhxStatus status = phx_arena_create(&arena, allocator, arena.used);
    if (status) return status;
    PhxRoute *route = lay(&arena, portals->sectors);
    route->allocator = allocator;
    route->sectors = portals->sectors;
    status = phx_route_reserve(route, portals);
    if (status) {
        phx_route_destroy(route, allocator);
        return status;
    }
    *out = route;
    return PHX_OK;
}

static size_t fixed_bytes(uint32_t sectors) {
    PhxArena arena = phx_arena_measure();
    (void)lay(&arena, sectors);
    return arena.used;
}

void phx_route_destroy(PhxRoute *route, PhxAllocator allocator) {
    if (!route) return;
    if (route->grown) allocator.release(allocator.user, route->grown, route->grown_size);
    allocator.release(allocator.user, route, fixed_bytes(route->sectors));
}

size_t phx_route_bytes(const PhxRoute *route) { return fixed_bytes(route->sectors) + route->grown_size; }

uint64_t phx_route_value(const PhxRoute *route, const PhxPortals *portals, uint32_t sector, uint32_t vertex) {
    PHX_ASSERT(route->version == portals->version, route->version, portals->version);
    return route->value[route->first[sector] + vertex];
}

/* A vertex is done if its value is settled or it can't get one. */
static bool is_done(const PhxRoute *route, const PhxPortals *portals, uint32_t sector, uint32_t v) {
    return phx_bitset_get(route->settled, route->first[sector] + v) ||
           !phx_bitset_get(route->goal_part,
                           portals->first_live[sector] + portals->block[sector].vertex[v].live);
}

bool phx_route_covers(const PhxRoute *route, const PhxPortals *portals, uint32_t sector) {
    if (route->version != portals->version) return false;
    if (route->exhausted) return true;
    for (uint32_t v = 0; v < portals->block[sector].vertex_count; v++)
        if (!is_done(route, portals, sector, v)) return false;
    return true;
}

uint32_t phx_route_count_undone(const PhxRoute *route, const PhxPortals *portals) {
    uint32_t count = 0;
    if (route->exhausted) return 0;
    for (size_t s = phx_bitset_next(route->asked, portals->sectors, 0); s < portals->sectors;
         s = phx_bitset_next(route->asked, portals->sectors, s + 1))
        for (uint32_t v = 0; v < portals->block[s].vertex_count; v++)
            count += !is_done(route, portals, (uint32_t)s, v);
    return count;
}
