/* routes_reach.c: which cells of a layer a way joins, and the joined cell nearest to a wanted one.
 *
 * In: cells. Out: names of parts; a cell. Cost: a part is a look-up where a sector near by was asked for
 * shortly before, else some 15 us. The nearest cell: a look at the cells of the sectors that could hold it,
 * nearest sectors first. Determinism: parts are named by the graph; the search is ordered by (squared
 * distance, index). The memory of sectors asked for can't be seen in an answer.
 */
#include <phalanx/routes.h>

#include <string.h>

#include "base/assert.h"
#include "nav/routes_work.h"

void phx_routes_forget_parts(PhxRoutes *routes) {
    for (uint32_t i = 0; i < PHX_ROUTES_PARTS; i++) routes->parts[i].known = false;
}

/* What is known of a sector's regions. */
static PhxRoutesParts *parts_of(const PhxRoutes *routes, uint32_t layer, const PhxNavGrid *grid,
                                uint32_t sector) {
    const uint32_t place =
        (sector % routes->across % 4 + sector / routes->across % 4 * 4 + layer * 5) % PHX_ROUTES_PARTS;
    PhxRoutesParts *parts = &routes->parts[place];
    if (parts->known && parts->layer == layer && parts->sector == sector) return parts;
    PhxSectorGround *ground = &routes->scratch[0].tile.ground;
    phx_sector_ground(ground, grid, sector);
    parts->layer = layer;
    parts->sector = sector;
    parts->known = true;
    memcpy(parts->region, ground->region, sizeof parts->region);
    for (uint32_t r = 0; r < ground->region_count; r++) parts->part[r] = PHX_NAV_NO_CELL;
    return parts;
}

static uint32_t part_in(const PhxPortals *portals, const PhxNavGrid *grid, PhxRoutesParts *parts,
                        uint32_t cell) {
    const uint32_t region = parts->region[phx_sector_local(cell % grid->width, cell / grid->width)];
    if (region == PHX_SECTOR_REGION_NONE) return PHX_NAV_NO_CELL;
    if (parts->part[region] == PHX_NAV_NO_CELL) parts->part[region] = phx_portals_part(portals, grid, cell);
    return parts->part[region];
}

uint32_t phx_routes_part(const PhxRoutes *routes, uint32_t layer, uint32_t cell) {
    const PhxNavGrid grid = phx_routes_plane(routes, layer);
    PHX_ASSERT(cell / grid.width < grid.height, cell, grid.width);
    const uint32_t sector = phx_sector_at(grid.width, cell % grid.width, cell / grid.width);
    PhxRoutesParts *parts = parts_of(routes, layer, &grid, sector);
    return part_in(routes->layer[layer].portals, &grid, parts, cell);
}

/* The search: what is wanted, and the best found. */
typedef struct Nearest {
    const PhxPortals *portals;
    PhxRoutesParts *parts; /* of the sector at hand */
    PhxNavGrid grid;
    uint32_t part, x, y;
    uint64_t distance_sq;
    uint32_t cell;
} Nearest;

static uint64_t square(int64_t v) { return (uint64_t)(v * v); }

/* Distance along one axis from a cell to the cells [low, low + count). */
static int64_t gap(uint32_t at, uint32_t low, uint32_t count) {
    if (at < low) return (int64_t)low - at;
    return at >= low + count ? (int64_t)at - (low + count - 1) : 0;
}

/* The cells of a run of a row have the same part, so that its nearest one stands for all. */
static void look_at_row(Nearest *n, const PhxSectorFrame *frame, uint32_t y) {
    const uint8_t *cost = n->grid.cost + (size_t)y * n->grid.width;
    const uint64_t dy = square((int64_t)y - n->y);
    for (uint32_t x = frame->x0; x < frame->x0 + frame->width; x++) {
        if (cost[x] == PHX_NAV_IMPASSABLE) continue;
        uint32_t end = x + 1; /* of the run */
        while (end < frame->x0 + frame->width && cost[end] != PHX_NAV_IMPASSABLE) end++;
        const uint32_t best_x = n->x < x ? x : n->x >= end ? end - 1 : n->x;
        const uint64_t distance_sq = dy + square((int64_t)best_x - n->x);
        const uint32_t cell = y * n->grid.width + best_x;
        x = end;
        if (distance_sq > n->distance_sq || (distance_sq == n->distance_sq && cell > n->cell)) continue;
        if (part_in(n->portals, &n->grid, n->parts, cell) != n->part) continue;
        n->distance_sq = distance_sq;
        n->cell = cell;
    }
}

static void look_at_sector(Nearest *n, const PhxRoutes *routes, uint32_t layer, uint32_t sector) {
    const PhxSectorFrame frame = phx_sector_frame(n->grid.width, n->grid.height, sector);
    const uint64_t dx = square(gap(n->x, frame.x0, frame.width));
    if (dx + square(gap(n->y, frame.y0, frame.height)) > n->distance_sq) return;
    n->parts = parts_of(routes, layer, &n->grid, sector);
    for (uint32_t y = frame.y0; y < frame.y0 + frame.height; y++)
        if (dx + square((int64_t)y - n->y) <= n->distance_sq) look_at_row(n, &frame, y);
}

uint32_t phx_routes_nearest(const PhxRoutes *routes, uint32_t layer, uint32_t from, uint32_t wanted) {
    Nearest n = {.portals = routes->layer[layer].portals,
                 .grid = phx_routes_plane(routes, layer),
                 .distance_sq = UINT64_MAX,
                 .cell = PHX_NAV_NO_CELL};
    n.part = phx_routes_part(routes, layer, from);
    if (n.part == PHX_NAV_NO_CELL) return PHX_NAV_NO_CELL;
    if (phx_routes_part(routes, layer, wanted) == n.part) return wanted;
    n.x = wanted % n.grid.width;
    n.y = wanted / n.grid.width;
    const int32_t sx = (int32_t)(n.x >> PHX_SECTOR_SHIFT), sy = (int32_t)(n.y >> PHX_SECTOR_SHIFT);
    const int32_t across = (int32_t)phx_sectors_across(n.grid.width);
    const int32_t down = (int32_t)phx_sectors_across(n.grid.height), most = across > down ? across : down;
    /* Squares of growing half-width, in sectors. A cell of the r-th is at least (r - 1) sectors off. */
    for (int32_t r = 0; r <= most; r++) {
        if (r > 0 && square((int64_t)(r - 1) * PHX_SECTOR_SIDE) > n.distance_sq) break;
        for (int32_t y = sy - r; y <= sy + r; y++) {
            const int32_t step = y == sy - r || y == sy + r || r == 0 ? 1 : 2 * r;
            for (int32_t x = sx - r; x <= sx + r; x += step)
                if (x >= 0 && y >= 0 && x < across && y < down)
                    look_at_sector(&n, routes, layer, (uint32_t)(y * across + x));
        }
    }
    return n.cell;
}
