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

/* Bit `side`: a goal lies in the neighbour there; bit 4: in the sector. */
static uint32_t goals_around(const PhxTileTask *task, uint32_t sector) {
    const uint32_t width = task->grid->width;
    uint32_t around[5], found = 0;
    for (uint32_t side = 0; side < 4; side++) around[side] = phx_tile_neighbour(task->grid, sector, side);
    around[4] = sector;
    for (uint32_t i = 0; i < task->goal_count; i++) {
        const uint32_t holder = phx_sector_at(width, task->goals[i] % width, task->goals[i] / width);
        for (uint32_t k = 0; k < 5; k++) found |= (uint32_t)(holder == around[k]) << k;
    }
    return found;
}

uint8_t phx_tile_neighbours(const PhxTileTask *task, uint32_t sector) {
    const PhxPortalVertex *vertex = phx_portals_vertices(task->portals, sector);
    const uint32_t count = phx_portals_vertex_count(task->portals, sector);
    const uint32_t goals = goals_around(task, sector);
    uint32_t sides = 0;
    for (uint32_t v = 0; v < count; v++) {
        if (sides >> vertex[v].side & 1u) continue;
        const uint64_t value = phx_route_value(task->route, task->portals, sector, v);
        const uint64_t beyond =
            phx_route_value(task->route, task->portals, vertex[v].partner_sector, vertex[v].partner);
        if (value == PHX_ROUTE_UNREACHED || beyond == PHX_ROUTE_UNREACHED) continue;
        if (value == beyond + vertex[v].out_cost || (goals >> 4 | goals >> vertex[v].side) & 1u)
            sides |= 1u << vertex[v].side;
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
            const PhxTileSpot *spot = &work->spots[work->key[at] >> PHX_TILE_KEY_SPOT];
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
    uint64_t beyond[8];
    for (uint32_t set = phx_tile_exits(build, local, beyond); set; set &= set - 1) {
        const uint32_t d = phx_bit_lowest(set);
        const uint64_t step = (uint64_t)(d % 2 ? weights.diagonal : weights.straight) *
                              work->cost[at + (uint32_t)build->offset[d]];
        if (beyond[d] + step == value) found |= 1u << d;
    }
    return found;
}

/* Of a set of directions the nearest to (x, y): the largest part along it. */
static uint8_t nearest_direction(uint32_t set, int64_t x, int64_t y) {
    if ((set & (set - 1)) == 0) return (uint8_t)(set ? phx_bit_lowest(set) : PHX_FLOW_NONE);
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
    const PhxTileWork *work = build->work;
    uint32_t best = PHX_SIGHT_GOALS;
    uint64_t least = UINT64_MAX;
    for (uint32_t v = 0; v < work->view_count; v++) {
        const PhxTileView *view = &work->views[v];
        const uint32_t bit_x = x - view->x + PHX_SIGHT_REACH, bit_y = y - view->y + PHX_SIGHT_REACH;
        if (bit_x >= PHX_SIGHT_SIDE || bit_y >= PHX_SIGHT_SIDE) continue;
        if (!(task->sight->window[view->index].rows[bit_y][bit_x / 64] >> bit_x % 64 & 1)) continue;
        const uint32_t ax = x < view->x ? view->x - x : x - view->x,
                       ay = y < view->y ? view->y - y : y - view->y;
        const uint32_t both = ax < ay ? ax : ay, one = (ax < ay ? ay : ax) - both;
        const uint64_t way =
            ((uint64_t)both * task->weights.diagonal + (uint64_t)one * task->weights.straight) * view->cost;
        if (way > value || way >= least) continue;
        least = way;
        best = view->index;
    }
    return best;
}

/* Lists the goals that cells of the sector may see. */
static void list_views(PhxTileBuild *build) {
    PhxTileWork *work = build->work;
    const PhxTileTask *task = build->task;
    const PhxSectorFrame *frame = &work->ground.frame;
    work->view_count = 0;
    for (uint32_t g = 0; task->sight && g < task->sight->count; g++) {
        const uint32_t goal = task->sight->window[g].goal, x = goal % task->grid->width,
                       y = goal / task->grid->width;
        if (x + PHX_SIGHT_REACH < frame->x0 || y + PHX_SIGHT_REACH < frame->y0 ||
            x > frame->x0 + frame->width + PHX_SIGHT_REACH || y > frame->y0 + frame->height + PHX_SIGHT_REACH)
            continue;
        work->views[work->view_count++] = (PhxTileView){x, y, g, task->grid->cost[goal]};
    }
}

/* The tile's word for a spot in the cell (to_x, to_y), as the cell (x, y) aims at it. `number`: where that of
 * a far one is kept, plus 1; 0: none yet. No more than `limit` far ones. */
static uint16_t aim_word(PhxTile *tile, uint32_t x, uint32_t y, uint32_t to_x, uint32_t to_y, uint32_t spot,
                         uint16_t *number, uint32_t limit) {
    const uint32_t dx = to_x - x + PHX_AIM_NEAR, dy = to_y - y + PHX_AIM_NEAR;
    if (dx < 2 * PHX_AIM_NEAR && dy < 2 * PHX_AIM_NEAR)
        return (uint16_t)(spot >> PHX_SPOT_CORNER << PHX_AIM_CORNER | dy << PHX_AIM_Y | dx << PHX_AIM_X);
    if (!*number) {
        if (tile->aim_count >= limit) return PHX_TILE_AIM_NONE;
        tile->aims[tile->aim_count++] = spot;
        *number = (uint16_t)tile->aim_count;
    }
    return (uint16_t)(PHX_TILE_AIM_FAR | (*number - 1));
}

/* Sum and band of a reached cell. */
static uint64_t write_sum(PhxTile *tile, const PhxTileWork *work, uint32_t local) {
    const uint32_t region = work->ground.region[local], band = work->band[region];
    const uint64_t value = work->base[region] + work->front.sum[local];
    const bool told = value >= tile->base[band] && value - tile->base[band] < PHX_FIELD_UNREACHED;
    tile->sum[local] = told ? (uint32_t)(value - tile->base[band]) : PHX_FIELD_UNREACHED - 1;
    tile->flow[local] = (uint8_t)(band << PHX_FLOW_BAND);
    return value;
}

/* What the tile says of a reached cell. */
static void write_cell(PhxTile *tile, const PhxTileBuild *build, uint32_t local) {
    enum { FAR = PHX_TILE_FAR_LIMIT - PHX_SIGHT_GOALS }; /* some are kept for the goals in sight */
    PhxTileWork *work = build->work;
    const PhxSectorFrame *frame = &work->ground.frame;
    const uint32_t x = frame->x0 + (local & (PHX_SECTOR_SIDE - 1)),
                   y = frame->y0 + (local >> PHX_SECTOR_SHIFT);
    const uint64_t value = write_sum(tile, work, local);
    const int32_t at_x = (int32_t)x * PHX_SPOT_UNIT + PHX_SPOT_UNIT / 2;
    const int32_t at_y = (int32_t)y * PHX_SPOT_UNIT + PHX_SPOT_UNIT / 2;
    if (value == 0) {
        tile->flow[local] |= PHX_FLOW_GOAL;
        return;
    }
    const uint32_t steps = least_steps(build, local), seen = seen_goal(build, x, y, value);
    if (seen < PHX_SIGHT_GOALS) {
        const uint32_t goal = build->task->sight->window[seen].goal;
        const uint32_t to_x = goal % build->task->grid->width, to_y = goal / build->task->grid->width;
        tile->aim[local] =
            aim_word(tile, x, y, to_x, to_y, goal, &work->goal_number[seen], PHX_TILE_FAR_LIMIT);
        tile->flow[local] |=
            (uint8_t)(PHX_FLOW_SIGHT | nearest_direction(steps, (int64_t)to_x - x, (int64_t)to_y - y));
        return;
    }
    const uint32_t index = work->key[phx_tile_bordered(local)] >> PHX_TILE_KEY_SPOT;
    const PhxTileSpot *spot = &work->spots[index];
    if (spot->spot == PHX_NAV_NO_CELL) {
        tile->flow[local] |= nearest_direction(steps, 0, 0);
        return;
    }
    tile->flow[local] |= nearest_direction(steps, spot->x - at_x, spot->y - at_y);
    tile->aim[local] =
        aim_word(tile, x, y, (uint32_t)spot->x / PHX_SPOT_UNIT, (uint32_t)spot->y / PHX_SPOT_UNIT, spot->spot,
                 &work->spot_number[index], FAR);
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
    memset(tile->aim, 0xff, sizeof tile->aim); /* PHX_TILE_AIM_NONE */
    memset(tile->flow, PHX_FLOW_WALL, sizeof tile->flow);
    for (uint32_t i = 0; i < PHX_SECTOR_CELLS; i++) tile->sum[i] = PHX_FIELD_UNREACHED;
    memset(work->spot_number, 0, sizeof work->spot_number);
    memset(work->goal_number, 0, sizeof work->goal_number);
    choose_bands(tile, work);
    list_views(&build);
    for (uint32_t i = 0; i < PHX_SECTOR_CELLS; i++) {
        if (work->front.sum[i] != PHX_FIELD_UNREACHED)
            write_cell(tile, &build, i);
        else if (work->ground.region[i] != PHX_SECTOR_REGION_NONE)
            tile->flow[i] = PHX_FLOW_NONE;
    }
}
