/* portals_edges.c: the edges between a sector's vertices.
 *
 * In: the grid, the sector's portals. Out: a block: vertices, edges, live regions. The cost of walking from
 * each vertex to each other of its region comes from a front at each cell that has vertices (sector.h), or,
 * in a sector without walls and with one cost, from the octile distance, which is the same. An edge a, b is
 * left out if for some third vertex c the way a, c, b costs no more; as all lengths are positive, both parts
 * are shorter than the whole, so that leaving out goes down to edges that stay. Vertices in one cell (at a
 * sector's corner) are at distance 0: the first of them has the edges, the others an edge of 0 from and to
 * it.
 *
 * Cost: a front a cell with vertices. Determinism: a pure function of the grid.
 */
#include <string.h>

#include "base/assert.h"
#include "nav/portals_data.h"

/* First vertex in the same cell. */
static uint32_t chief_of(const PhxPortalBlock *block, uint32_t vertex) {
    uint32_t chief = 0;
    while (block->vertex[chief].cell != block->vertex[vertex].cell) chief++;
    return chief;
}

static uint32_t octile(uint32_t a, uint32_t b, PhxFieldWeights weights, uint32_t cost) {
    const int ax = (int)(a % PHX_SECTOR_SIDE), ay = (int)(a / PHX_SECTOR_SIDE);
    const int bx = (int)(b % PHX_SECTOR_SIDE), by = (int)(b / PHX_SECTOR_SIDE);
    const uint32_t dx = (uint32_t)(ax < bx ? bx - ax : ax - bx), dy = (uint32_t)(ay < by ? by - ay : ay - by);
    const uint32_t minor = dx < dy ? dx : dy, major = dx < dy ? dy : dx;
    return cost * (weights.straight * (major - minor) + weights.diagonal * minor);
}

/* Row b of `toward`: what walking from each chief to b costs; PHX_FIELD_UNREACHED from the others. */
static void measure_row(const PhxPortals *portals, const PhxPortalBlock *block, const uint8_t *chief,
                        uint32_t b, PhxPortalScratch *scratch) {
    const uint32_t count = block->vertex_count;
    uint32_t *row = scratch->toward + (size_t)b * count;
    const uint32_t uniform = scratch->ground.uniform;
    if (!uniform) {
        const PhxSectorSeed seed = {block->vertex[b].cell, 0};
        phx_sector_front(&scratch->work, &scratch->ground, portals->weights, &seed, 1);
    }
    for (uint32_t a = 0; a < count; a++) {
        row[a] = PHX_FIELD_UNREACHED;
        if (chief[a] != a) continue;
        row[a] = uniform ? octile(block->vertex[a].cell, block->vertex[b].cell, portals->weights, uniform)
                         : scratch->work.sum[block->vertex[a].cell];
    }
}

/* Whether a way over a third vertex costs no more than the edge a, b. */
static bool is_replaced(const uint32_t *toward, uint32_t count, uint32_t a, uint32_t b) {
    const uint32_t *row = toward + (size_t)b * count, whole = row[a];
    for (uint32_t c = 0; c < count; c++) {
        if (c == a || c == b || row[c] >= whole) continue;
        if (toward[(size_t)c * count + a] <= whole - row[c]) return true;
    }
    return false;
}

static void add_edge(PhxPortalBlock *block, uint32_t from, uint32_t cost) {
    block->to[block->edge_count] = (uint8_t)from;
    block->cost[block->edge_count++] = cost;
}

static void fill_edges(PhxPortalBlock *block, const uint8_t *chief, const uint32_t *toward) {
    const uint32_t count = block->vertex_count;
    block->edge_count = 0;
    for (uint32_t b = 0; b < count; b++) {
        block->start[b] = (uint16_t)block->edge_count;
        for (uint32_t a = 0; a < count; a++) {
            if (a == b) continue;
            if (chief[a] == chief[b]) {
                if (chief[a] == a || chief[b] == b) add_edge(block, a, 0);
            } else if (chief[a] == a && chief[b] == b &&
                       toward[(size_t)b * count + a] != PHX_FIELD_UNREACHED &&
                       !is_replaced(toward, count, a, b)) {
                add_edge(block, a, toward[(size_t)b * count + a]);
            }
        }
    }
    block->start[count] = (uint16_t)block->edge_count;
}

/* Numbers the regions that have vertices, in order of their labels. */
static void fill_live(PhxPortalBlock *block, const PhxSectorGround *ground) {
    const uint32_t count = block->vertex_count;
    uint16_t label[PHX_PORTAL_MAX_VERTICES];
    uint32_t live = 0;
    for (uint32_t v = 0; v < count; v++) {
        const uint16_t region = ground->region[block->vertex[v].cell];
        block->vertex[v].region = region;
        uint32_t at = live;
        while (at > 0 && label[at - 1] > region) at--;
        if (at > 0 && label[at - 1] == region) continue;
        memmove(label + at + 1, label + at, (live - at) * sizeof *label);
        label[at] = region;
        live++;
    }
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t i = 0; i < live; i++)
            if (label[i] == block->vertex[v].region) block->vertex[v].live = (uint8_t)i;
    block->live_count = live;
    /* labels rise with the lowest cell, so that one pass finds the lowest cells of all */
    uint32_t found = 0;
    for (uint32_t c = 0; c < PHX_SECTOR_CELLS && found < live; c++)
        if (ground->region[c] == label[found]) block->live_cell[found++] = (uint16_t)c;
    PHX_ASSERT(found == live, found, live);
}

void phx_portals_fill_block(const PhxPortals *portals, const PhxNavGrid *grid, uint32_t sector,
                            PhxPortalBlock *block, PhxPortalScratch *scratch) {
    uint8_t chief[PHX_PORTAL_MAX_VERTICES];
    phx_portals_fill_vertices(portals, grid, sector, block->vertex);
    block->edge_count = block->live_count = 0;
    block->start[0] = 0;
    if (block->vertex_count == 0) return;
    phx_sector_ground(&scratch->ground, grid, sector);
    fill_live(block, &scratch->ground);
    for (uint32_t v = 0; v < block->vertex_count; v++) chief[v] = (uint8_t)chief_of(block, v);
    for (uint32_t v = 0; v < block->vertex_count; v++) {
        if (chief[v] == v)
            measure_row(portals, block, chief, v, scratch);
        else
            memset(scratch->toward + (size_t)v * block->vertex_count, 255,
                   block->vertex_count * sizeof *scratch->toward);
    }
    fill_edges(block, chief, scratch->toward);
}
