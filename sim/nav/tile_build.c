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
            const PhxTileSpot *spot = &work->spots[work->way[at] >> PHX_TILE_WAY_SPOT];
            ring->value[side][i] = work->base[work->ground.region[local]] + work->front.sum[local];
            ring->rest[side][i] = spot->rest;
            ring->aim[side][i] = spot->spot;
            ring->light[side][i] = (uint8_t)work->way[at];
        }
    }
}

/* Sums of one region may be told from `base` on. */
static bool fits(uint64_t base, uint64_t low, uint64_t high) {
    return low >= base && high - base < PHX_FIELD_UNREACHED;
}

/* Whether one base, the least value, is sure to fit all: no way within a region is longer than its cells. */
static bool one_base_fits(const PhxTileWork *work, PhxFieldWeights weights, uint64_t *least) {
    uint64_t low = PHX_ROUTE_UNREACHED, high = 0;
    for (uint32_t r = 0; r < work->ground.region_count; r++) {
        const uint64_t base = work->base[r]; /* the value of a cell */
        if (base == PHX_ROUTE_UNREACHED) continue;
        low = base < low ? base : low;
        high = base > high ? base : high;
    }
    *least = low;
    return fits(low, low, high + (uint64_t)PHX_SECTOR_CELLS * weights.straight * work->ground.max_cost);
}

/* Largest values of the regions, and of all. */
static uint64_t find_most(PhxTileWork *work) {
    uint64_t largest = 0;
    for (uint32_t r = 0; r < work->ground.region_count; r++) work->most[r] = 0;
    for (uint32_t i = 0; i < work->front.reached; i++) {
        const uint32_t cell = work->front.order[i], r = work->ground.region[cell];
        const uint64_t value = work->base[r] + work->front.sum[cell];
        if (value > work->most[r]) work->most[r] = value;
        if (value > largest) largest = value;
    }
    return largest;
}

/* Chooses bases, and for each region the number of its own. What fits none of PHX_TILE_BANDS keeps its arrows
 * and is told as farther than the last base by the most that a sum can count. */
static void choose_bands(PhxTile *tile, PhxTileWork *work, PhxFieldWeights weights) {
    uint8_t *band = work->band;
    const uint32_t regions = work->ground.region_count;
    memset(tile->base, 0, sizeof tile->base);
    memset(band, 0, regions);
    tile->bands = 1;
    if (work->front.reached == 0) return;
    const bool one = one_base_fits(work, weights, &tile->base[0]);
    if (one || fits(tile->base[0], tile->base[0], find_most(work))) return;
    for (uint32_t r = 0; r < regions; r++) {
        if (work->base[r] == PHX_ROUTE_UNREACHED) continue;
        uint32_t b = 0;
        while (b < tile->bands && !fits(tile->base[b], work->base[r], work->most[r])) b++;
        if (b == tile->bands && b < PHX_TILE_BANDS) tile->base[tile->bands++] = work->base[r];
        band[r] = (uint8_t)(b < PHX_TILE_BANDS ? b : PHX_TILE_BANDS - 1);
    }
}

/* Sums behind a step into each cell of a row, from index 1 on. */
typedef struct Stepped {
    uint32_t straight[PHX_TILE_STRIDE], diagonal[PHX_TILE_STRIDE];
} Stepped;

/* What no sum can count is unreached, as is what lies beyond the sector. */
static void step_into_row(const PhxTileBuild *build, uint32_t y, Stepped *row) {
    const uint32_t straight = build->task->weights.straight, diagonal = build->task->weights.diagonal;
    const uint32_t *restrict sum = build->work->front.sum + (size_t)y * PHX_SECTOR_SIDE;
    const uint8_t *restrict cost = build->work->cost + (size_t)(y + 1) * PHX_TILE_STRIDE + 1;
    for (uint32_t x = 0; x < PHX_SECTOR_SIDE; x++) {
        const uint32_t s = sum[x] + straight * cost[x], d = sum[x] + diagonal * cost[x];
        row->straight[x + 1] = s < sum[x] ? PHX_FIELD_UNREACHED : s;
        row->diagonal[x + 1] = d < sum[x] ? PHX_FIELD_UNREACHED : d;
    }
}

/* Directions of the steps within the sector whose sums equal the own one, of a row of cells. */
static void least_steps(const uint32_t *restrict sum, const uint32_t *restrict facts,
                        const Stepped *restrict up, const Stepped *restrict at, const Stepped *restrict down,
                        uint8_t *restrict steps) {
    for (uint32_t x = 0; x < PHX_SECTOR_SIDE; x++) {
        const uint32_t own = sum[x];
        const uint32_t found =
            (uint32_t)(at->straight[x + 2] == own) | (uint32_t)(down->diagonal[x + 2] == own) << 1 |
            (uint32_t)(down->straight[x + 1] == own) << 2 | (uint32_t)(down->diagonal[x] == own) << 3 |
            (uint32_t)(at->straight[x] == own) << 4 | (uint32_t)(up->diagonal[x] == own) << 5 |
            (uint32_t)(up->straight[x + 1] == own) << 6 | (uint32_t)(up->diagonal[x + 2] == own) << 7;
        steps[x] = (uint8_t)(found & facts[x] >> PHX_FACT_MOVES);
    }
}

/* Directions of the steps over the border whose values equal the own one. */
static uint32_t least_exits(const PhxTileBuild *build, uint32_t local, uint64_t own) {
    const PhxFieldWeights weights = build->task->weights;
    const uint32_t at = phx_tile_bordered(local);
    uint64_t beyond[8];
    uint32_t found = 0;
    for (uint32_t set = phx_tile_exits(build, local, beyond); set; set &= set - 1) {
        const uint32_t d = phx_bit_lowest(set);
        const uint64_t step = (uint64_t)(d % 2 ? weights.diagonal : weights.straight) *
                              build->work->cost[at + (uint32_t)build->offset[d]];
        if (beyond[d] + step == own) found |= 1u << d;
    }
    return found;
}

/* Of a set of directions the nearest to (x, y), which is shorter than 2^17: the largest part along it. */
static inline uint32_t nearest_direction(uint32_t set, int32_t x, int32_t y) {
    if (!set) return PHX_FLOW_NONE;
    uint32_t best = phx_bit_lowest(set);
    if (!(set &= set - 1)) return best;
    /* 128 / 181 is 1 / sqrt 2 within 2e-5 */
    int32_t most = (x * phx_flow_dx[best] + y * phx_flow_dy[best]) * (best % 2 ? 128 : 181);
    for (; set; set &= set - 1) {
        const uint32_t d = phx_bit_lowest(set);
        const int32_t along = (x * phx_flow_dx[d] + y * phx_flow_dy[d]) * (d % 2 ? 128 : 181);
        if (along > most) {
            most = along;
            best = d;
        }
    }
    return best;
}

/* The goal that a cell sees and whose straight way is no longer than the way known, or null. */
static const PhxTileView *seen_goal(const PhxTileBuild *build, uint32_t x, uint32_t y, uint64_t value) {
    const PhxTileTask *task = build->task;
    const PhxTileWork *work = build->work;
    const PhxTileView *best = NULL;
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
        best = view;
    }
    return best;
}

/* The cells of a row of the sector that see any goal. */
static uint64_t seen_row(const PhxTileBuild *build, uint32_t y) {
    const PhxTileWork *work = build->work;
    uint64_t seen = 0;
    for (uint32_t v = 0; v < work->view_count; v++) {
        const uint32_t bit_y = y - work->views[v].y + PHX_SIGHT_REACH;
        if (bit_y >= PHX_SIGHT_SIDE) continue;
        const uint64_t *row = build->task->sight->window[work->views[v].index].rows[bit_y];
        /* of the row's first cell: from -64, as the view isn't farther, to 126 */
        const int32_t first = (int32_t)(work->ground.frame.x0 - work->views[v].x) + PHX_SIGHT_REACH;
        if (first <= -PHX_SECTOR_SIDE || first >= 2 * PHX_SECTOR_SIDE) continue;
        if (first < 0)
            seen |= row[0] << -first;
        else if (first < 64)
            seen |= row[0] >> first | (first ? row[1] << (64 - first) : 0);
        else
            seen |= row[1] >> (first - 64);
    }
    return seen;
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

/* Sum and band of a reached cell; its value. */
static inline uint64_t write_sum(PhxTile *tile, const PhxTileWork *work, uint32_t local) {
    const uint32_t region = work->ground.region[local], band = work->band[region];
    const uint64_t value = work->base[region] + work->front.sum[local];
    const bool told = value >= tile->base[band] && value - tile->base[band] < PHX_FIELD_UNREACHED;
    tile->sum[local] = told ? (uint32_t)(value - tile->base[band]) : PHX_FIELD_UNREACHED - 1;
    tile->flow[local] = (uint8_t)(band << PHX_FLOW_BAND);
    return value;
}

/* A reached cell that sees a goal, and is none. */
static void write_seeing(PhxTile *tile, const PhxTileBuild *build, uint32_t local, uint32_t steps,
                         const PhxTileView *view) {
    const PhxSectorFrame *frame = &build->work->ground.frame;
    const uint32_t x = frame->x0 + (local & (PHX_SECTOR_SIDE - 1));
    const uint32_t y = frame->y0 + (local >> PHX_SECTOR_SHIFT);
    const uint32_t goal = build->task->sight->window[view->index].goal;
    tile->aim[local] = aim_word(tile, x, y, view->x, view->y, goal, &build->work->goal_number[view->index],
                                PHX_TILE_FAR_LIMIT);
    tile->flow[local] |= (uint8_t)(PHX_FLOW_SIGHT | nearest_direction(steps, (int32_t)view->x - (int32_t)x,
                                                                      (int32_t)view->y - (int32_t)y));
}

/* Any other reached cell that isn't a goal. */
static inline void write_aiming(PhxTile *tile, const PhxTileBuild *build, uint32_t local, uint32_t steps) {
    enum { FAR = PHX_TILE_FAR_LIMIT - PHX_SIGHT_GOALS }; /* some are kept for the goals in sight */
    PhxTileWork *work = build->work;
    const PhxSectorFrame *frame = &work->ground.frame;
    const uint32_t x = frame->x0 + (local & (PHX_SECTOR_SIDE - 1));
    const uint32_t y = frame->y0 + (local >> PHX_SECTOR_SHIFT);
    const uint32_t index = work->way[phx_tile_bordered(local)] >> PHX_TILE_WAY_SPOT;
    const PhxTileSpot *spot = &work->spots[index];
    if (spot->spot == PHX_NAV_NO_CELL) {
        tile->flow[local] |= (uint8_t)nearest_direction(steps, 0, 0);
        return;
    }
    tile->flow[local] |=
        (uint8_t)nearest_direction(steps, spot->x - ((int32_t)x * PHX_SPOT_UNIT + PHX_SPOT_UNIT / 2),
                                   spot->y - ((int32_t)y * PHX_SPOT_UNIT + PHX_SPOT_UNIT / 2));
    tile->aim[local] =
        aim_word(tile, x, y, (uint32_t)spot->x / PHX_SPOT_UNIT, (uint32_t)spot->y / PHX_SPOT_UNIT, spot->spot,
                 &work->spot_number[index], FAR);
}

/* What the tile says of a row; `steps`: those within the sector. */
static void write_row(PhxTile *tile, const PhxTileBuild *build, uint32_t y, const uint8_t *steps) {
    const PhxTileWork *work = build->work;
    const PhxSectorFrame *frame = &work->ground.frame;
    const uint64_t seen = seen_row(build, frame->y0 + y);
    const bool edge = y == 0 || y == frame->height - 1;
    for (uint32_t x = 0; x < PHX_SECTOR_SIDE; x++) {
        const uint32_t local = y * PHX_SECTOR_SIDE + x;
        if (work->front.sum[local] == PHX_FIELD_UNREACHED) {
            tile->sum[local] = PHX_FIELD_UNREACHED;
            tile->flow[local] =
                work->ground.region[local] != PHX_SECTOR_REGION_NONE ? PHX_FLOW_NONE : PHX_FLOW_WALL;
            continue;
        }
        const uint64_t value = write_sum(tile, work, local);
        if (value == 0) {
            tile->flow[local] |= PHX_FLOW_GOAL;
            continue;
        }
        uint32_t set = steps[x];
        if (edge || x == 0 || x == frame->width - 1) set |= least_exits(build, local, value);
        const PhxTileView *view =
            seen >> x & 1 ? seen_goal(build, frame->x0 + x, frame->y0 + y, value) : NULL;
        if (view)
            write_seeing(tile, build, local, set, view);
        else
            write_aiming(tile, build, local, set);
    }
}

static void write_rows(PhxTile *tile, const PhxTileBuild *build) {
    const PhxTileWork *work = build->work;
    Stepped rows[3];
    uint8_t steps[PHX_SECTOR_SIDE];
    memset(rows, 255, sizeof rows); /* PHX_FIELD_UNREACHED */
    step_into_row(build, 0, &rows[0]);
    for (uint32_t y = 0; y < PHX_SECTOR_SIDE; y++) {
        Stepped *down = &rows[(y + 1) % 3];
        if (y + 1 < PHX_SECTOR_SIDE)
            step_into_row(build, y + 1, down);
        else
            memset(down, 255, sizeof *down);
        least_steps(work->front.sum + (size_t)y * PHX_SECTOR_SIDE,
                    work->ground.facts + (size_t)y * PHX_SECTOR_SIDE, &rows[(y + 2) % 3], &rows[y % 3], down,
                    steps);
        write_row(tile, build, y, steps);
    }
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
    memset(work->spot_number, 0, work->spot_count * sizeof *work->spot_number);
    memset(work->goal_number, 0, sizeof work->goal_number);
    choose_bands(tile, work, task->weights);
    list_views(&build);
    write_rows(tile, &build);
}
