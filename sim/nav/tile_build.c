/* tile_build.c: rings and tiles: what a neighbour needs, and what a unit is told.
 *
 * In: a task (grid, graph, route, goals), a sector, the rings of its neighbours. Out: a ring or a tile. Of
 * arrows that fit the sum the one nearest in direction to the cell's aim is taken, so that in the open they
 * look like a straight line; equal ones: the lowest code. Cost: tile_front.c, tile_aim.c, and a look at the
 * neighbours of each cell. Determinism: a pure function of the task and the sector; integers.
 */
#include <string.h>

#include "base/bitset.h"
#include "nav/tile_spot.h"

uint32_t phx_tile_neighbour(const PhxNavGrid *grid, uint32_t sector, uint32_t side) {
    const uint32_t across = phx_sectors_across(grid->width);
    const uint32_t x = sector % across + (side == 0) - (side == 2);
    const uint32_t y = sector / across + (side == 1) - (side == 3);
    if (x >= across || y >= phx_sectors_across(grid->height)) return PHX_NAV_NO_CELL;
    return y * across + x;
}

uint8_t phx_tile_neighbours(const PhxTileTask *task, uint32_t sector) {
    const PhxPortalVertex *vertex = phx_portals_vertices(task->portals, sector);
    const uint32_t count = phx_portals_vertex_count(task->portals, sector);
    uint32_t sides = 0;
    for (uint32_t v = 0; v < count; v++) {
        if (sides >> vertex[v].side & 1u) continue;
        const uint64_t value = phx_route_value(task->route, task->portals, sector, v);
        const uint64_t beyond =
            phx_route_value(task->route, task->portals, vertex[v].partner_sector, vertex[v].partner);
        if (value == PHX_ROUTE_UNREACHED || beyond == PHX_ROUTE_UNREACHED) continue;
        if (value == beyond + vertex[v].out_cost) sides |= 1u << vertex[v].side;
    }
    return (uint8_t)sides;
}

void phx_tile_ring_build(PhxTileRing *ring, const PhxTileTask *task, uint32_t sector, PhxTileWork *work) {
    PhxTileBuild build = {.task = task, .work = work};
    phx_tile_begin(&build, sector);
    phx_tile_seed_goals(&build);
    phx_tile_seed_vertices(&build);
    phx_tile_run(&build);
    phx_tile_find_aims(&build);
    for (uint32_t side = 0; side < 4; side++) {
        const uint32_t count = phx_tile_border_length(&work->ground.frame, side);
        for (uint32_t i = 0; i < PHX_SECTOR_SIDE; i++) {
            ring->value[side][i] = ring->rest[side][i] = PHX_ROUTE_UNREACHED;
            ring->aim[side][i] = PHX_NAV_NO_CELL;
            ring->light[side][i] = 0;
            if (i >= count) continue;
            const uint32_t local = phx_tile_inner(&work->ground.frame, side, i);
            if (work->front.sum[local] == PHX_FIELD_UNREACHED) continue;
            const uint32_t at = phx_tile_bordered(local);
            const PhxTileSpot *spot = &work->spots[work->aim[at]];
            ring->value[side][i] = work->base[work->ground.region[local]] + work->front.sum[local];
            ring->rest[side][i] = spot->rest;
            ring->aim[side][i] = spot->spot;
            ring->light[side][i] = work->light[at];
        }
    }
}

/* Sums of one region may be told from `base` on. */
static bool fits(uint64_t base, uint64_t low, uint64_t high) {
    return low >= base && high - base < PHX_FIELD_UNREACHED;
}

/* Chooses bases, and for each region the number of its own. What fits none of PHX_TILE_BANDS keeps its arrows
 * and is told as farther than the last base by the most that a sum can count. */
static void choose_bands(PhxTile *tile, PhxTileWork *work) {
    uint64_t *most = work->most;
    uint8_t *band = work->band;
    const uint32_t regions = work->ground.region_count;
    uint64_t least = PHX_ROUTE_UNREACHED, largest = 0;
    for (uint32_t r = 0; r < regions; r++) most[r] = 0;
    for (uint32_t i = 0; i < work->front.reached; i++) {
        const uint32_t cell = work->front.order[i], r = work->ground.region[cell];
        const uint64_t value = work->base[r] + work->front.sum[cell];
        if (value > most[r]) most[r] = value;
        if (value < least) least = value;
        if (value > largest) largest = value;
    }
    memset(tile->base, 0, sizeof tile->base);
    memset(band, 0, regions);
    tile->bands = 1;
    tile->base[0] = work->front.reached ? least : 0;
    if (work->front.reached == 0 || fits(least, least, largest)) return;
    for (uint32_t r = 0; r < regions; r++) {
        if (work->base[r] == PHX_ROUTE_UNREACHED) continue;
        uint32_t b = 0;
        while (b < tile->bands && !fits(tile->base[b], work->base[r], most[r])) b++;
        if (b == tile->bands && b < PHX_TILE_BANDS) tile->base[tile->bands++] = work->base[r];
        band[r] = (uint8_t)(b < PHX_TILE_BANDS ? b : PHX_TILE_BANDS - 1);
    }
}

/* Directions of the steps whose sums equal the cell's own. */
static uint32_t least_steps(const PhxTileBuild *build, uint32_t local) {
    const PhxTileWork *work = build->work;
    const PhxFieldWeights weights = build->task->weights;
    const PhxSectorFrame *frame = &work->ground.frame;
    const uint32_t at = phx_tile_bordered(local), own = work->front.sum[local];
    uint32_t found = 0;
    for (uint32_t set = work->ground.facts[local] >> PHX_FACT_MOVES & 255u; set; set &= set - 1) {
        const uint32_t d = phx_bit_lowest(set);
        const uint32_t n = (uint32_t)((int32_t)local + phx_flow_dy[d] * PHX_SECTOR_SIDE + phx_flow_dx[d]);
        const uint64_t step = (uint64_t)(d % 2 ? weights.diagonal : weights.straight) *
                              work->cost[at + (uint32_t)build->offset[d]];
        if (work->front.sum[n] + step == own) found |= 1u << d;
    }
    const uint32_t lx = local & (PHX_SECTOR_SIDE - 1), ly = local >> PHX_SECTOR_SHIFT;
    if (lx != 0 && ly != 0 && lx != frame->width - 1 && ly != frame->height - 1) return found;
    const uint64_t value = work->base[work->ground.region[local]] + own;
    for (uint32_t d = 0; d < 8; d++) {
        uint32_t side, i;
        if (!phx_tile_may_leave(build, at, d, &side, &i) || !build->rings[side]) continue;
        const uint64_t beyond = build->rings[side]->value[side ^ 2u][i];
        const uint64_t step = (uint64_t)(d % 2 ? weights.diagonal : weights.straight) *
                              work->cost[at + (uint32_t)build->offset[d]];
        if (beyond != PHX_ROUTE_UNREACHED && beyond + step == value) found |= 1u << d;
    }
    return found;
}

/* Of a set of directions the nearest to (x, y): the largest part along it. */
static uint8_t nearest_direction(uint32_t set, int64_t x, int64_t y) {
    uint32_t best = PHX_FLOW_NONE;
    int64_t most = INT64_MIN;
    for (; set; set &= set - 1) {
        const uint32_t d = phx_bit_lowest(set);
        /* 128 / 181 is 1 / sqrt 2 within 2e-5 */
        const int64_t along = (x * phx_flow_dx[d] + y * phx_flow_dy[d]) * (d % 2 ? 128 : 181);
        if (along > most) {
            most = along;
            best = d;
        }
    }
    return (uint8_t)best;
}

/* The goal that a cell sees and whose straight way is no longer than the way known: its index in the sight,
 * or PHX_SIGHT_GOALS. */
static uint32_t seen_goal(const PhxTileBuild *build, uint32_t x, uint32_t y, uint64_t value) {
    const PhxTileTask *task = build->task;
    uint32_t best = PHX_SIGHT_GOALS;
    uint64_t least = UINT64_MAX;
    for (uint32_t g = 0; task->sight && g < task->sight->count; g++) {
        const PhxSightWindow *window = &task->sight->window[g];
        if (!phx_sight_sees(window, task->grid->width, x, y)) continue;
        const int32_t dx = (int32_t)(window->goal % task->grid->width) - (int32_t)x;
        const int32_t dy = (int32_t)(window->goal / task->grid->width) - (int32_t)y;
        const uint32_t ax = (uint32_t)(dx < 0 ? -dx : dx), ay = (uint32_t)(dy < 0 ? -dy : dy);
        const uint32_t both = ax < ay ? ax : ay, one = (ax < ay ? ay : ax) - both;
        const uint64_t way =
            ((uint64_t)both * task->weights.diagonal + (uint64_t)one * task->weights.straight) *
            task->grid->cost[window->goal];
        if (way > value || way >= least) continue;
        least = way;
        best = g;
    }
    return best;
}

/* The tile's number of a spot; PHX_TILE_AIM_NONE if it has no room for another. `number`: where it is
 * kept, plus 1; 0: none yet. */
static uint8_t number_of(PhxTile *tile, uint32_t spot, uint16_t *number) {
    if (!*number) {
        if (tile->aim_count == PHX_TILE_AIM_LIMIT) return PHX_TILE_AIM_NONE;
        tile->aims[tile->aim_count++] = spot;
        *number = (uint16_t)tile->aim_count;
    }
    return (uint8_t)(*number - 1);
}

/* What the tile says of a reached cell. */
static void write_cell(PhxTile *tile, const PhxTileBuild *build, uint32_t local) {
    PhxTileWork *work = build->work;
    const PhxSectorFrame *frame = &work->ground.frame;
    const uint32_t spot_index = work->aim[phx_tile_bordered(local)], width = build->task->grid->width;
    const uint32_t x = frame->x0 + (local & (PHX_SECTOR_SIDE - 1)),
                   y = frame->y0 + (local >> PHX_SECTOR_SHIFT);
    const uint32_t region = work->ground.region[local], band = work->band[region];
    const uint64_t value = work->base[region] + work->front.sum[local];
    const bool told = value >= tile->base[band] && value - tile->base[band] < PHX_FIELD_UNREACHED;
    tile->sum[local] = told ? (uint32_t)(value - tile->base[band]) : PHX_FIELD_UNREACHED - 1;
    const PhxTileSpot *spot = &work->spots[spot_index];
    uint32_t at = spot->spot, code = PHX_FLOW_GOAL;
    uint16_t *number = &work->spot_number[spot_index];
    uint32_t seen = PHX_SIGHT_GOALS;
    if (value > 0) {
        seen = seen_goal(build, x, y, value);
        if (seen < PHX_SIGHT_GOALS) {
            at = build->task->sight->window[seen].goal;
            number = &work->goal_number[seen];
        }
        const int64_t to_x = phx_spot_x(at, width) - (int64_t)(x * PHX_SPOT_UNIT + PHX_SPOT_UNIT / 2);
        const int64_t to_y = phx_spot_y(at, width) - (int64_t)(y * PHX_SPOT_UNIT + PHX_SPOT_UNIT / 2);
        code = nearest_direction(least_steps(build, local), to_x, to_y);
    }
    tile->aim[local] = number_of(tile, at, number);
    if (seen < PHX_SIGHT_GOALS && tile->aim[local] != PHX_TILE_AIM_NONE) code |= PHX_FLOW_SIGHT;
    tile->flow[local] = (uint8_t)(code | band << PHX_FLOW_BAND);
}

void phx_tile_build(PhxTile *tile, const PhxTileTask *task, uint32_t sector,
                    const PhxTileRing *const rings[4], PhxTileWork *work) {
    PhxTileBuild build = {.task = task, .work = work, .rings = rings};
    phx_tile_begin(&build, sector);
    phx_tile_seed_goals(&build);
    phx_tile_seed_rings(&build);
    phx_tile_run(&build);
    phx_tile_find_aims(&build);
    tile->sector = sector;
    tile->aim_count = 0;
    memset(tile->aims, 0, sizeof tile->aims);
    memset(tile->aim, PHX_TILE_AIM_NONE, sizeof tile->aim);
    memset(tile->flow, PHX_FLOW_WALL, sizeof tile->flow);
    for (uint32_t i = 0; i < PHX_SECTOR_CELLS; i++) tile->sum[i] = PHX_FIELD_UNREACHED;
    memset(work->spot_number, 0, sizeof work->spot_number);
    memset(work->goal_number, 0, sizeof work->goal_number);
    choose_bands(tile, work);
    for (uint32_t i = 0; i < PHX_SECTOR_CELLS; i++) {
        if (work->front.sum[i] != PHX_FIELD_UNREACHED)
            write_cell(tile, &build, i);
        else if (work->ground.region[i] != PHX_SECTOR_REGION_NONE)
            tile->flow[i] = PHX_FLOW_NONE;
    }
}
