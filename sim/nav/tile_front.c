/* tile_front.c: the sums of a tile or a ring: seeds, and the front over them.
 *
 * In: route values of the sector's vertices, or rings of its neighbours; goals. Out: the least cost of each
 * cell, as the base of its region plus 32 bits. Regions don't touch within the sector, so that each has a
 * base of its own, its least seed; only what lies farther above it than the front can count is left out, and
 * no least way uses that. Cost: the front's, and one look at each border cell. Determinism: least values of
 * 64 bits.
 */
#include <string.h>

#include "base/assert.h"
#include "nav/tile_spot.h"

void phx_tile_begin(PhxTileBuild *build, uint32_t sector) {
    PhxTileWork *work = build->work;
    const PhxNavGrid *grid = build->task->grid;
    phx_sector_ground(&work->ground, grid, sector);
    const PhxSectorFrame *frame = &work->ground.frame;
    memset(work->cost, PHX_NAV_IMPASSABLE, sizeof work->cost);
    const uint32_t left = frame->x0 > 0, right = frame->x0 + frame->width < grid->width;
    for (uint32_t row = 0; row < frame->height + 2; row++) {
        const uint32_t y = frame->y0 + row; /* one more than the row's */
        if (y == 0 || y > grid->height) continue;
        memcpy(work->cost + (size_t)row * PHX_TILE_STRIDE + 1 - left,
               grid->cost + (size_t)(y - 1) * grid->width + frame->x0 - left, frame->width + left + right);
    }
    for (int d = 0; d < 8; d++) build->offset[d] = phx_flow_dy[d] * PHX_TILE_STRIDE + phx_flow_dx[d];
    work->seed_count = 0;
}

static void add_seed(PhxTileWork *work, uint32_t local, uint64_t value) {
    PHX_ASSERT(work->seed_count < PHX_TILE_SEEDS, work->seed_count, local);
    work->seeds[work->seed_count].cell = (uint16_t)local;
    work->seed_values[work->seed_count++] = value;
}

void phx_tile_seed_goals(PhxTileBuild *build) {
    const PhxSectorFrame *frame = &build->work->ground.frame;
    const uint32_t width = build->task->grid->width;
    for (uint32_t i = 0; i < build->task->goal_count; i++) {
        const uint32_t x = build->task->goals[i] % width, y = build->task->goals[i] / width;
        if (x - frame->x0 < frame->width && y - frame->y0 < frame->height)
            add_seed(build->work, phx_sector_local(x, y), 0);
    }
}

void phx_tile_seed_vertices(PhxTileBuild *build) {
    const PhxTileTask *task = build->task;
    const uint32_t sector = build->work->ground.frame.sector;
    const PhxPortalVertex *vertices = phx_portals_vertices(task->portals, sector);
    const uint32_t count = phx_portals_vertex_count(task->portals, sector);
    for (uint32_t v = 0; v < count; v++) {
        const uint64_t value = phx_route_value(task->route, task->portals, sector, v);
        if (value != PHX_ROUTE_UNREACHED) add_seed(build->work, vertices[v].cell, value);
    }
}

/* Directions over each side to the cell before the straight one, the straight one and the one behind it. */
static const uint8_t over[4][3] = {{7, 0, 1}, {3, 2, 1}, {5, 4, 3}, {5, 6, 7}};

uint32_t phx_tile_exits(const PhxTileBuild *build, uint32_t local, uint64_t value[8]) {
    const PhxSectorFrame *frame = &build->work->ground.frame;
    const uint32_t at[2] = {local & (PHX_SECTOR_SIDE - 1), local >> PHX_SECTOR_SHIFT};
    const uint32_t size[2] = {frame->width, frame->height};
    uint32_t found = 0;
    for (uint32_t side = 0; side < 4; side++) {
        const uint32_t axis = side % 2, i = at[1 - axis];
        if (!build->rings[side] || at[axis] != (side < 2 ? size[axis] - 1 : 0)) continue;
        const uint64_t *beyond = build->rings[side]->value[side ^ 2u];
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t d = over[side][k];
            const uint32_t crossed = build->work->exits[side][i];
            if (!(crossed >> d & 1u)) continue;
            value[d] = beyond[i + k - 1];
            found |= 1u << d;
        }
    }
    return found;
}

/* The steps over a side from its i-th cell, and the least value of them. */
static void seed_cell(PhxTileBuild *build, uint32_t side, uint32_t index, uint32_t length) {
    const PhxFieldWeights weights = build->task->weights;
    PhxTileWork *work = build->work;
    const PhxSectorFrame *frame = &work->ground.frame;
    const uint32_t local = phx_tile_inner(frame, side, index);
    const uint64_t *beyond = build->rings[side]->value[side ^ 2u];
    work->exits[side][index] = 0;
    if (work->cost[phx_tile_bordered(local)] == PHX_NAV_IMPASSABLE) return;
    const bool open = work->cost[phx_tile_outer(frame, side, index)] != PHX_NAV_IMPASSABLE;
    uint64_t least = PHX_ROUTE_UNREACHED;
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t i = index + k - 1;
        if (i >= length || beyond[i] == PHX_ROUTE_UNREACHED) continue;
        const uint8_t cost = work->cost[phx_tile_outer(frame, side, i)];
        if (cost == PHX_NAV_IMPASSABLE || !open ||
            work->cost[phx_tile_bordered(phx_tile_inner(frame, side, i))] == PHX_NAV_IMPASSABLE)
            continue;
        const uint64_t value = beyond[i] + (uint64_t)(k == 1 ? weights.straight : weights.diagonal) * cost;
        work->exits[side][index] |= (uint8_t)(1u << over[side][k]);
        if (value < least) least = value;
    }
    if (least != PHX_ROUTE_UNREACHED) add_seed(work, local, least);
}

void phx_tile_seed_rings(PhxTileBuild *build) {
    for (uint32_t side = 0; side < 4; side++) {
        if (!build->rings[side]) continue;
        const uint32_t length = phx_tile_border_length(&build->work->ground.frame, side);
        for (uint32_t i = 0; i < length; i++) seed_cell(build, side, i, length);
    }
}

void phx_tile_run(PhxTileBuild *build) {
    PhxTileWork *work = build->work;
    const PhxSectorGround *ground = &work->ground;
    for (uint32_t r = 0; r < ground->region_count; r++) work->base[r] = PHX_ROUTE_UNREACHED;
    for (uint32_t s = 0; s < work->seed_count; s++) {
        const uint32_t region = ground->region[work->seeds[s].cell];
        if (work->seed_values[s] < work->base[region]) work->base[region] = work->seed_values[s];
    }
    uint32_t kept = 0;
    for (uint32_t s = 0; s < work->seed_count; s++) {
        const uint64_t above = work->seed_values[s] - work->base[ground->region[work->seeds[s].cell]];
        if (above >= PHX_FIELD_UNREACHED) continue;
        work->seeds[kept].cell = work->seeds[s].cell;
        work->seed_values[kept] = work->seed_values[s];
        work->seeds[kept++].value = (uint32_t)above;
    }
    work->seed_count = kept;
    phx_sector_front(&work->front, ground, build->task->weights, work->seeds, kept);
}
