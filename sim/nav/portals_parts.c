/* portals_parts.c: which regions of all sectors hang together.
 *
 * In: the blocks. Out: for each region that has vertices the lowest one of its part (union-find, the lower
 * number being the root). A region without vertices is a part of its own, which needs no entry.
 * Cost: linear in the vertices. Determinism: a pure function of the blocks.
 */
#include "base/bitset.h"
#include "nav/portals_data.h"

enum { SIDE = PHX_SECTOR_SIDE };

static uint32_t root_of(uint32_t *part, uint32_t live) {
    while (part[live] != live) {
        part[live] = part[part[live]];
        live = part[live];
    }
    return live;
}

void phx_portals_find_parts(PhxPortals *portals) {
    uint32_t *part = portals->part;
    const uint32_t total = portals->first_live[portals->sectors];
    for (uint32_t i = 0; i < total; i++) part[i] = i;
    for (uint32_t sector = 0; sector < portals->sectors; sector++) {
        const PhxPortalBlock *block = &portals->block[sector];
        for (uint32_t v = 0; v < block->vertex_count; v++) {
            const PhxPortalVertex *vertex = &block->vertex[v];
            if (vertex->side >= 2) continue; /* joined from across */
            const PhxPortalBlock *other = &portals->block[vertex->partner_sector];
            const uint32_t a = root_of(part, portals->first_live[sector] + vertex->live);
            const uint32_t b = root_of(part, portals->first_live[vertex->partner_sector] +
                                                 other->vertex[vertex->partner].live);
            part[a < b ? b : a] = a < b ? a : b;
        }
    }
    for (uint32_t i = 0; i < total; i++) part[i] = root_of(part, i);
}

/* The cells of `open` that a row of `seen` reaches within the row. */
static uint64_t spread(uint64_t seen, uint64_t open) {
    uint64_t right = seen & open, left = right, way = open;
    for (unsigned n = 1; n < SIDE; n *= 2) {
        right |= way & right << n;
        way &= way << n;
    }
    way = open;
    for (unsigned n = 1; n < SIDE; n *= 2) {
        left |= way & left >> n;
        way &= way >> n;
    }
    return right | left;
}

/* Lowest local index of the region that holds a cell of the sector. */
static uint32_t lowest_of_region(const PhxNavGrid *grid, const PhxSectorFrame *frame, uint32_t local) {
    uint64_t open[SIDE] = {0}, seen[SIDE] = {0};
    for (uint32_t y = 0; y < frame->height; y++) {
        const uint8_t *cost = grid->cost + (size_t)(frame->y0 + y) * grid->width + frame->x0;
        for (uint32_t x = 0; x < frame->width; x++) open[y] |= (uint64_t)(cost[x] != PHX_NAV_IMPASSABLE) << x;
    }
    seen[local / SIDE] = (uint64_t)1 << local % SIDE;
    for (bool grew = true; grew;) {
        grew = false;
        for (uint32_t i = 0; i < 2 * SIDE; i++) {
            const uint32_t y = i < SIDE ? i : 2 * SIDE - 1 - i;
            const uint64_t above = y > 0 ? seen[y - 1] : 0, below = y + 1 < SIDE ? seen[y + 1] : 0;
            const uint64_t now = spread(seen[y] | above | below, open[y]);
            grew |= now != seen[y];
            seen[y] = now;
        }
    }
    uint32_t y = 0;
    while (!seen[y]) y++;
    return y * SIDE + phx_bit_lowest(seen[y]);
}

/* A local index as a cell of the map. */
static uint32_t cell_of(const PhxPortals *portals, uint32_t sector, uint32_t local) {
    const PhxSectorFrame frame = phx_sector_frame(portals->width, portals->height, sector);
    return (frame.y0 + local / SIDE) * portals->width + frame.x0 + local % SIDE;
}

uint32_t phx_portals_part(const PhxPortals *portals, const PhxNavGrid *grid, uint32_t cell) {
    if (grid->cost[cell] == PHX_NAV_IMPASSABLE) return PHX_NAV_NO_CELL;
    const uint32_t cx = cell % grid->width, cy = cell / grid->width;
    const uint32_t sector = phx_sector_at(grid->width, cx, cy);
    const PhxSectorFrame frame = phx_sector_frame(grid->width, grid->height, sector);
    const uint32_t lowest = lowest_of_region(grid, &frame, phx_sector_local(cx, cy));
    const PhxPortalBlock *block = &portals->block[sector];
    for (uint32_t i = 0; i < block->live_count; i++) {
        if (block->live_cell[i] != lowest) continue;
        const uint32_t root = portals->part[portals->first_live[sector] + i];
        uint32_t at = 0, end = portals->sectors; /* the sector that holds the root */
        while (end - at > 1) {
            const uint32_t middle = (at + end) / 2;
            if (portals->first_live[middle] <= root)
                at = middle;
            else
                end = middle;
        }
        return cell_of(portals, at, portals->block[at].live_cell[root - portals->first_live[at]]);
    }
    return cell_of(portals, sector, lowest);
}
