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

bool phx_tile_may_leave(const PhxTileBuild *build, uint32_t at, uint32_t d, uint32_t *side, uint32_t *i) {
    const uint8_t *cost = build->work->cost;
    const PhxSectorFrame *frame = &build->work->ground.frame;
    const int32_t x = (int32_t)(at % PHX_TILE_STRIDE) + phx_flow_dx[d] - 1;
    const int32_t y = (int32_t)(at / PHX_TILE_STRIDE) + phx_flow_dy[d] - 1;
    const bool in_x = x >= 0 && x < (int32_t)frame->width, in_y = y >= 0 && y < (int32_t)frame->height;
    if (in_x == in_y) return false;
    *side = in_y ? (x < 0 ? 2u : 0u) : y < 0 ? 3u : 1u;
    *i = (uint32_t)(in_y ? y : x);
    return cost[at + (uint32_t)build->offset[d]] != PHX_NAV_IMPASSABLE &&
           cost[(uint32_t)((int32_t)at + phx_flow_dx[d])] != PHX_NAV_IMPASSABLE &&
           cost[(uint32_t)((int32_t)at + phx_flow_dy[d] * PHX_TILE_STRIDE)] != PHX_NAV_IMPASSABLE;
}

/* The least step over a side from its i-th cell, whose straight direction is 2 * side. */
static void seed_cell(PhxTileBuild *build, uint32_t side, uint32_t index) {
    const PhxTileTask *task = build->task;
    PhxTileWork *work = build->work;
    const uint32_t local = phx_tile_inner(&work->ground.frame, side, index), at = phx_tile_bordered(local);
    if (work->cost[at] == PHX_NAV_IMPASSABLE) return;
    uint64_t least = PHX_ROUTE_UNREACHED;
    for (uint32_t turn = 7; turn <= 9; turn++) {
        const uint32_t d = (2 * side + turn) & 7u;
        uint32_t to_side, i;
        if (!phx_tile_may_leave(build, at, d, &to_side, &i) || to_side != side) continue;
        const uint64_t beyond = build->rings[side]->value[side ^ 2u][i];
        if (beyond == PHX_ROUTE_UNREACHED) continue;
        const uint64_t weight = d % 2 ? task->weights.diagonal : task->weights.straight;
        const uint64_t value = beyond + weight * work->cost[at + (uint32_t)build->offset[d]];
        if (value < least) least = value;
    }
    if (least != PHX_ROUTE_UNREACHED) add_seed(work, local, least);
}

void phx_tile_seed_rings(PhxTileBuild *build) {
    for (uint32_t side = 0; side < 4; side++) {
        if (!build->rings[side]) continue;
        const uint32_t length = phx_tile_border_length(&build->work->ground.frame, side);
        for (uint32_t i = 0; i < length; i++) seed_cell(build, side, i);
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
