/* routes_layers.c: what sector routes say, as plain arrays of the whole map, for viewers and checkers.
 *
 * In: an open layer and a goal set. Out: a value a cell, copied from the tiles of all sectors, claimed in as
 * many batches as the cache has room for; and the portals, with the values of a route that is solved for this
 * call alone. Cost: that of all tiles, or of a whole route. Determinism: tiles and routes are pure functions
 * of planes and goals, so neither the batches nor the cache can be seen in the arrays.
 */
#include <phalanx/routes.h>

#include "nav/nearest.h"
#include "nav/routes_work.h"

/* Copies one tile's part of the map. */
static void copy_tile(const PhxRoutesLayers *out, const PhxNavGrid *plane, const PhxTile *tile,
                      const PhxSectorFrame *frame) {
    /* A point off the map: a cell in sight is told the middle of the goal's cell. */
    const PhxVec2 nowhere = {-65536, -65536};
    for (uint32_t y = frame->y0; y < frame->y0 + frame->height; y++)
        for (uint32_t x = frame->x0; x < frame->x0 + frame->width; x++) {
            const uint32_t cell = y * plane->width + x;
            bool seen = false;
            const uint8_t code = phx_tile_flow(tile, plane, cell, &seen);
            if (out->cost) out->cost[cell] = phx_tile_cost(tile, plane, cell);
            if (out->flow) out->flow[cell] = code;
            if (out->sight) out->sight[cell] = seen || code == PHX_FLOW_GOAL; /* a goal sees itself */
            if (out->direction)
                out->direction[cell] =
                    phx_tile_direction(tile, plane, nowhere, (fix16_t)(x * 65536 + PHX_NAV_HALF),
                                       (fix16_t)(y * 65536 + PHX_NAV_HALF));
        }
}

static void copy_sector(const PhxRoutes *routes, const PhxNavGrid *plane, uint32_t sector, uint32_t tile,
                        const PhxRoutesLayers *out) {
    const PhxSectorFrame frame = phx_sector_frame(plane->width, plane->height, sector);
    copy_tile(out, plane, phx_routes_tile(routes, tile), &frame);
}

PhxStatus phx_routes_layers(PhxRoutes *routes, uint32_t layer, uint64_t goal, const PhxJobs *jobs,
                            const PhxRoutesLayers *out) {
    const PhxNavGrid plane = phx_routes_plane(routes, layer);
    const uint32_t count = phx_sector_count(plane.width, plane.height);
    enum { BATCH = 64 };
    for (uint32_t first = 0; first < count;) {
        uint32_t tiles[BATCH], claimed = 0;
        phx_routes_begin(routes);
        while (claimed < BATCH && first + claimed < count) {
            const PhxSectorFrame frame = phx_sector_frame(plane.width, plane.height, first + claimed);
            const uint32_t cell = frame.y0 * plane.width + frame.x0;
            if (!phx_routes_claim(routes, layer, goal, cell, &tiles[claimed])) break;
            claimed++;
        }
        const PhxStatus status = phx_routes_build(routes, jobs);
        if (status != PHX_OK) return status;
        for (uint32_t i = 0; i < claimed; i++) copy_sector(routes, &plane, first + i, tiles[i], out);
        first += claimed;
    }
    return PHX_OK;
}

/* Portals. */

/* The goal set's passable cells, ascending, each once: a cell is kept where it is the least that is greater
 * than the last one kept, so that nothing has to be sorted. Sets are small. */
static uint32_t sort_goals(const PhxNavGrid *plane, const uint32_t *cells, uint32_t count, uint32_t *out) {
    uint32_t kept = 0;
    for (;;) {
        uint32_t least = PHX_NAV_NO_CELL;
        for (uint32_t i = 0; i < count; i++)
            if (cells[i] < least && (kept == 0 || cells[i] > out[kept - 1]) &&
                plane->cost[cells[i]] != PHX_NAV_IMPASSABLE)
                least = cells[i];
        if (least == PHX_NAV_NO_CELL) return kept;
        out[kept++] = least;
    }
}

/* Without a route (no goal) nothing is reached. */
static void list_portals(const PhxPortals *portals, const PhxNavGrid *plane, const PhxRoute *route,
                         PhxRoutesPortal *out, uint32_t limit, uint32_t *count) {
    const uint32_t sectors = phx_sector_count(plane->width, plane->height);
    for (uint32_t sector = 0; sector < sectors; sector++) {
        const PhxPortalVertex *vertex = phx_portals_vertices(portals, sector);
        const uint32_t vertices = phx_portals_vertex_count(portals, sector);
        const PhxSectorFrame frame = phx_sector_frame(plane->width, plane->height, sector);
        for (uint32_t i = 0; i < vertices; i++, (*count)++) {
            if (*count >= limit) continue;
            const uint32_t x = frame.x0 + vertex[i].cell % PHX_SECTOR_SIDE,
                           y = frame.y0 + vertex[i].cell / PHX_SECTOR_SIDE;
            const uint32_t d = vertex[i].side * 2u; /* E, S, W, N as flow codes */
            const uint32_t across = (uint32_t)((int32_t)y + phx_flow_dy[d]) * plane->width +
                                    (uint32_t)((int32_t)x + phx_flow_dx[d]);
            out[*count] = (PhxRoutesPortal){y * plane->width + x, across,
                                            route ? phx_route_value(route, portals, sector, i) : UINT64_MAX};
        }
    }
}

PhxStatus phx_routes_portals(const PhxRoutes *routes, uint32_t layer, uint64_t goal, PhxRoutesPortal *out,
                             uint32_t limit, uint32_t *count) {
    const PhxRoutesConfig *config = &routes->config;
    const PhxPortals *portals = routes->layer[layer].portals;
    const PhxNavGrid plane = phx_routes_plane(routes, layer);
    const size_t size = 2 * PHX_ROUTES_GOAL_LIMIT * sizeof(uint32_t);
    PhxRoute *route = NULL;
    *count = 0;
    if (limit == 0) {
        list_portals(portals, &plane, NULL, out, limit, count);
        return PHX_OK;
    }
    uint32_t *cells = config->allocator.allocate(config->allocator.user, size);
    if (!cells) return PHX_ERROR_MEMORY;
    uint32_t *goals = cells + PHX_ROUTES_GOAL_LIMIT;
    const uint32_t found = config->goals(config->user, layer, goal, cells);
    const uint32_t goal_count = sort_goals(&plane, cells, found, goals);
    PhxStatus status = goal_count > 0 ? phx_route_create(&route, config->allocator, portals) : PHX_OK;
    if (status == PHX_OK && route)
        status = phx_route_solve(route, portals, &plane, goals, goal_count, true, NULL, 0);
    if (status == PHX_OK) list_portals(portals, &plane, route, out, limit, count);
    phx_route_destroy(route, config->allocator);
    config->allocator.release(config->allocator.user, cells, size);
    return status;
}
