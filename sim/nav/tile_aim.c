/* tile_aim.c: the any-angle ways of a sector: at which spot each cell should aim.
 *
 * In: sums and order of a front; rings of the neighbours. Out: for each reached cell a spot that it sees in a
 * straight line over cells of its own cost, and the any-angle cost of the way over it.
 *
 * The cells are looked at in the front's order. A cell may take the spot of any neighbour that is done, if it
 * sees that spot too, or turn at the neighbour itself; it takes what gives the shortest way (as Theta* does;
 * Nash, Daniel, Koenig, Felner: Theta*: Any-Angle Path Planning on Grids, 2007, with the order left to the
 * exact front). Whether it sees a spot is told by light that spreads from the spot: a cell's light is that of
 * the two neighbours before it, weighted by where the ray passes between them, and of those only that aim at
 * the same spot; an eighth of it is enough, as a unit that grazes a corner slides along it. So a cell costs
 * the same however far the spot is. A turn is placed close to the wall's corner that it goes around.
 *
 * A ring may aim beyond its sector: where the route of a vertex is as short as the way without obstacles to
 * the goal, the goal itself is aimed at, so that armies cross open land straight and not from portal to
 * portal. Sight lines that turn out to be blocked are mended by the tiles farther on.
 *
 * Cost: about a root for each cell. Determinism: integers, in an order that is a pure function of the sums;
 * equal lengths: the lowest direction.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "nav/tile_spot.h"

enum { FULL = 255, ENOUGH = 32, NO_SPOT = 0, ROOT_TWO = 362 /* sqrt 2 in 1/256 */ };
#define UNKNOWN UINT64_MAX

/* The cell that is being looked at, and the best found for it. */
typedef struct Look {
    const PhxTileBuild *build;
    PhxTileWork *work;
    uint32_t at, cost, straight; /* bordered index; its cost; weight */
    int32_t x, y;                /* its centre, in 1/16 */
    int32_t cell_x, cell_y;
    uint64_t length;
    uint32_t spot, turn_at, turn_from; /* turn_at: not 0: turns at that cell */
    uint32_t tried[8], tried_count;    /* the spots that were looked at */
    uint32_t tried_seen;               /* bits: which of them are seen */
    uint8_t light;
} Look;

static int32_t map_x(const PhxTileWork *work, uint32_t at) {
    return (int32_t)(work->ground.frame.x0 + at % PHX_TILE_STRIDE) - 1;
}
static int32_t map_y(const PhxTileWork *work, uint32_t at) {
    return (int32_t)(work->ground.frame.y0 + at / PHX_TILE_STRIDE) - 1;
}

static uint32_t add_spot(const PhxTileBuild *build, uint32_t spot, uint64_t rest) {
    PhxTileWork *work = build->work;
    PHX_ASSERT(work->spot_count < PHX_TILE_SPOTS, work->spot_count, spot);
    const uint32_t width = build->task->grid->width;
    work->spots[work->spot_count] =
        (PhxTileSpot){spot, phx_spot_x(spot, width), phx_spot_y(spot, width), rest};
    return work->spot_count++;
}

/* Cost of the straight way from (x, y) to a spot and on. */
static uint64_t length_over(const PhxTileSpot *spot, int32_t x, int32_t y, uint32_t straight, uint32_t cost) {
    const int64_t dx = spot->x - x, dy = spot->y - y;
    /* 1/16 squared times 256: the root is in 1/256 */
    const uint64_t distance = phx_isqrt64((uint64_t)(dx * dx + dy * dy) << 8);
    return spot->rest + distance * straight * cost;
}

/* The light that a cell gets over its neighbour `n`, which costs what it costs. */
static inline uint32_t light_of(const Look *look, uint32_t n, uint32_t spot) {
    const PhxTileWork *work = look->work;
    if (work->cost[n] != look->cost) return 0;
    if (work->aim[n] == spot) return work->light[n];
    return work->light[n] == FULL && work->aim[n] == NO_SPOT && spot <= work->outer_spots ? FULL : 0;
}

/* How much of a spot the cell sees. */
static uint32_t light_from(const Look *look, uint32_t spot) {
    const PhxTileSpot *to = &look->work->spots[spot];
    const int32_t dx = (int32_t)((uint32_t)to->x / PHX_SPOT_UNIT) - look->cell_x;
    const int32_t dy = (int32_t)((uint32_t)to->y / PHX_SPOT_UNIT) - look->cell_y;
    const int32_t sx = dx > 0 ? 1 : dx < 0 ? -1 : 0, sy = dy > 0 ? 1 : dy < 0 ? -1 : 0;
    const int32_t ax = dx * sx, ay = dy * sy;
    const uint32_t major = (uint32_t)(ax > ay ? ax : ay), minor = (uint32_t)(ax > ay ? ay : ax);
    const uint32_t by_x = (uint32_t)((int32_t)look->at + sx);
    const uint32_t by_y = (uint32_t)((int32_t)look->at + sy * PHX_TILE_STRIDE);
    uint32_t light = 0;
    if (minor < major) light = (major - minor) * light_of(look, ax > ay ? by_x : by_y, spot);
    if (minor > 0 && look->work->cost[by_x] == look->cost && look->work->cost[by_y] == look->cost)
        light += minor * light_of(look, (uint32_t)((int32_t)by_x + sy * PHX_TILE_STRIDE), spot);
    return major ? (light + major / 2) / major : FULL;
}

static void try_spot(Look *look, uint32_t spot, uint32_t light) {
    const uint64_t length =
        length_over(&look->work->spots[spot], look->x, look->y, look->straight, look->cost);
    if (length >= look->length) return;
    look->length = length;
    look->spot = spot;
    look->light = (uint8_t)light;
    look->turn_at = 0;
}

/* Whether the cell sees a spot; a spot that wasn't looked at before is tried. */
static bool sees(Look *look, uint32_t spot) {
    for (uint32_t i = 0; i < look->tried_count; i++)
        if (look->tried[i] == spot) return look->tried_seen >> i & 1u;
    const uint32_t light = light_from(look, spot);
    if (light >= ENOUGH) {
        try_spot(look, spot, light);
        look->tried_seen |= 1u << look->tried_count;
    }
    look->tried[look->tried_count++] = spot;
    return light >= ENOUGH;
}

/* Looks at the way over the neighbour `n` in direction d. */
static void try_neighbour(Look *look, uint32_t n, uint32_t d) {
    const PhxTileWork *work = look->work;
    if (work->cost[n] == look->cost && sees(look, work->aim[n])) return;
    const uint64_t step = (uint64_t)look->straight * (d % 2 ? ROOT_TWO : 256) * work->cost[n];
    if (work->length[n] + step >= look->length) return;
    look->length = work->length[n] + step;
    look->turn_at = n;
    look->turn_from = d;
}

/* The corner of cell n that a way goes around which comes in direction d and goes on to its spot: 1..4 SE,
 * SW, NW, NE; 0: none. */
static uint32_t corner_of(const PhxTileWork *work, uint32_t n, uint32_t d) {
    const PhxTileSpot *to = &work->spots[work->aim[n]];
    const int32_t vx = to->x - (map_x(work, n) * PHX_SPOT_UNIT + PHX_SPOT_UNIT / 2);
    const int32_t vy = to->y - (map_y(work, n) * PHX_SPOT_UNIT + PHX_SPOT_UNIT / 2);
    const int32_t ux = phx_flow_dx[d], uy = phx_flow_dy[d];
    const int32_t turn = ux * vy - uy * vx;
    if (turn == 0) return 0;
    const int32_t side = turn > 0 ? 1 : -1;
    for (uint32_t k = 1; k < 8; k += 2) {
        const int32_t wx = phx_flow_dx[k], wy = phx_flow_dy[k];
        if (work->cost[(uint32_t)((int32_t)n + wy * PHX_TILE_STRIDE + wx)] == work->cost[n]) continue;
        if (work->cost[(uint32_t)((int32_t)n + wx)] != work->cost[n]) continue;
        if (work->cost[(uint32_t)((int32_t)n + wy * PHX_TILE_STRIDE)] != work->cost[n]) continue;
        if ((ux * wy - uy * wx) * side >= 0 && (vx * wy - vy * wx) * side >= 0) return (k + 1) / 2;
    }
    return 0;
}

/* Whether a bordered index lies in the sector. */
static bool is_inner(const PhxTileWork *work, uint32_t at) {
    return at % PHX_TILE_STRIDE - 1 < work->ground.frame.width &&
           at / PHX_TILE_STRIDE - 1 < work->ground.frame.height;
}

/* The spot of turning at cell n, coming in direction d. */
static uint32_t turn_spot(const Look *look, uint32_t n, uint32_t d) {
    PhxTileWork *work = look->work;
    if (work->turn[n]) return work->turn[n];
    const PhxNavGrid *grid = look->build->task->grid;
    const uint32_t cell = (uint32_t)map_y(work, n) * grid->width + (uint32_t)map_x(work, n);
    uint32_t corner = 0;
    uint64_t rest = work->length[n];
    if (work->aim[n] != NO_SPOT && is_inner(work, n) && (corner = corner_of(work, n, d)) != 0) {
        const uint32_t spot = cell | corner << PHX_SPOT_CORNER;
        rest = length_over(&work->spots[work->aim[n]], phx_spot_x(spot, grid->width),
                           phx_spot_y(spot, grid->width), look->straight, work->cost[n]);
    }
    work->turn[n] = (uint16_t)add_spot(look->build, cell | corner << PHX_SPOT_CORNER, rest);
    return work->turn[n];
}

static void look_beyond(Look *look, uint64_t own) {
    for (uint32_t d = 0; d < 8; d++) {
        uint32_t side, i;
        if (!phx_tile_may_leave(look->build, look->at, d, &side, &i) || !look->build->rings[side]) continue;
        const uint64_t value = look->build->rings[side]->value[side ^ 2u][i];
        const uint32_t n = look->at + (uint32_t)look->build->offset[d];
        if (value < own && look->work->length[n] != UNKNOWN) try_neighbour(look, n, d);
    }
}

static void look_at(const PhxTileBuild *build, uint32_t local) {
    PhxTileWork *work = build->work;
    const PhxSectorFrame *frame = &work->ground.frame;
    const uint32_t at = phx_tile_bordered(local);
    const uint32_t lx = local & (PHX_SECTOR_SIDE - 1), ly = local >> PHX_SECTOR_SHIFT;
    if (work->length[at] != UNKNOWN) return;
    Look look = {.build = build, .work = work, .at = at, .cost = work->cost[at], .length = UNKNOWN};
    look.straight = build->task->weights.straight;
    look.cell_x = (int32_t)(frame->x0 + lx);
    look.cell_y = (int32_t)(frame->y0 + ly);
    look.x = look.cell_x * PHX_SPOT_UNIT + PHX_SPOT_UNIT / 2;
    look.y = look.cell_y * PHX_SPOT_UNIT + PHX_SPOT_UNIT / 2;
    const uint32_t seed = work->turn[at];
    work->turn[at] = 0;
    if (seed) try_spot(&look, seed, FULL);
    for (uint32_t set = work->ground.facts[local] >> PHX_FACT_MOVES & 255u; set; set &= set - 1) {
        const uint32_t d = phx_bit_lowest(set), n = at + (uint32_t)build->offset[d];
        if (work->length[n] != UNKNOWN) try_neighbour(&look, n, d);
    }
    if (build->rings && (lx == 0 || ly == 0 || lx == frame->width - 1 || ly == frame->height - 1))
        look_beyond(&look, work->base[work->ground.region[local]] + work->front.sum[local]);
    if (look.turn_at) {
        look.spot = turn_spot(&look, look.turn_at, look.turn_from);
        look.light = FULL;
    }
    work->length[at] = look.length;
    work->aim[at] = (uint16_t)look.spot;
    work->light[at] = look.light;
}

/* The spot of (spot, rest) among those of the rings. */
static uint32_t outer_spot(const PhxTileBuild *build, uint32_t spot, uint64_t rest) {
    const PhxTileWork *work = build->work;
    for (uint32_t i = work->spot_count; i-- > 1;)
        if (work->spots[i].spot == spot && work->spots[i].rest == rest) return i;
    return add_spot(build, spot, rest);
}

/* Lays what a ring says beside its border. */
static void lay_ring(const PhxTileBuild *build, uint32_t side) {
    PhxTileWork *work = build->work;
    const PhxTileRing *ring = build->rings[side];
    const uint32_t count = phx_tile_border_length(&work->ground.frame, side), facing = side ^ 2u;
    for (uint32_t i = 0; i < count; i++) {
        if (ring->aim[facing][i] == PHX_NAV_NO_CELL) continue;
        const uint32_t at = phx_tile_outer(&work->ground.frame, side, i);
        work->aim[at] = (uint16_t)outer_spot(build, ring->aim[facing][i], ring->rest[facing][i]);
        work->light[at] = ring->light[facing][i];
        work->length[at] =
            length_over(&work->spots[work->aim[at]], map_x(work, at) * PHX_SPOT_UNIT + PHX_SPOT_UNIT / 2,
                        map_y(work, at) * PHX_SPOT_UNIT + PHX_SPOT_UNIT / 2, build->task->weights.straight,
                        work->cost[at]);
    }
}

/* Octile distance from the cell at a bordered index to a map cell, and the nearest goal by it. */
static uint64_t octile(const PhxTileBuild *build, uint32_t at, uint32_t cell) {
    const PhxTileTask *task = build->task;
    const int32_t dx = (int32_t)(cell % task->grid->width) - map_x(build->work, at);
    const int32_t dy = (int32_t)(cell / task->grid->width) - map_y(build->work, at);
    const uint32_t ax = (uint32_t)(dx < 0 ? -dx : dx), ay = (uint32_t)(dy < 0 ? -dy : dy);
    const uint32_t most = ax > ay ? ax : ay, least = ax > ay ? ay : ax;
    return (uint64_t)(most - least) * task->weights.straight + (uint64_t)least * task->weights.diagonal;
}

/* Where a way that leaves the sector at a vertex aims: at the goal, if the way is not much longer than one
 * without obstacles, else at the vertex itself. */
static void aim_vertex(const PhxTileBuild *build, uint32_t at, uint64_t value) {
    PhxTileWork *work = build->work;
    const PhxTileTask *task = build->task;
    uint32_t nearest = PHX_NAV_NO_CELL;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < task->goal_count && task->goal_count <= PHX_SIGHT_GOALS; i++) {
        const uint64_t way = octile(build, at, task->goals[i]) * work->cost[at];
        if (way < least || (way == least && task->goals[i] < nearest)) {
            least = way;
            nearest = task->goals[i];
        }
    }
    if (nearest != PHX_NAV_NO_CELL && value <= least + least / 32) {
        work->turn[at] = (uint16_t)outer_spot(build, nearest, 0);
        return;
    }
    const uint32_t cell = (uint32_t)map_y(work, at) * task->grid->width + (uint32_t)map_x(work, at);
    work->turn[at] = (uint16_t)outer_spot(build, cell, value << 8);
}

/* The vertices whose least way leaves the sector there. */
static void aim_vertices(const PhxTileBuild *build) {
    const PhxTileTask *task = build->task;
    PhxTileWork *work = build->work;
    const uint32_t sector = work->ground.frame.sector;
    const PhxPortalVertex *vertex = phx_portals_vertices(task->portals, sector);
    const uint32_t count = phx_portals_vertex_count(task->portals, sector);
    for (uint32_t v = 0; v < count; v++) {
        const uint64_t value = phx_route_value(task->route, task->portals, sector, v);
        if (value == PHX_ROUTE_UNREACHED) continue;
        const uint64_t beyond =
            phx_route_value(task->route, task->portals, vertex[v].partner_sector, vertex[v].partner);
        if (beyond != PHX_ROUTE_UNREACHED && value == beyond + vertex[v].out_cost)
            aim_vertex(build, phx_tile_bordered(vertex[v].cell), value);
    }
}

/* The goals of the sector; they were seeded with 0. */
static void aim_goals(const PhxTileBuild *build) {
    PhxTileWork *work = build->work;
    const uint32_t width = build->task->grid->width;
    for (uint32_t s = 0; s < work->seed_count; s++) {
        if (work->seed_values[s] != 0) continue;
        const uint32_t at = phx_tile_bordered(work->seeds[s].cell);
        if (work->length[at] == 0) continue;
        work->length[at] = 0;
        work->turn[at] =
            (uint16_t)add_spot(build, (uint32_t)map_y(work, at) * width + (uint32_t)map_x(work, at), 0);
        work->aim[at] = work->turn[at];
        work->light[at] = FULL;
    }
}

/* For a ring, all that lies beyond the sector is bright. */
static void light_outside(PhxTileWork *work) {
    for (uint32_t side = 0; side < 4; side++)
        for (uint32_t i = 0; i < phx_tile_border_length(&work->ground.frame, side); i++)
            work->light[phx_tile_outer(&work->ground.frame, side, i)] = FULL;
}

void phx_tile_find_aims(PhxTileBuild *build) {
    PhxTileWork *work = build->work;
    work->spots[NO_SPOT] = (PhxTileSpot){.spot = PHX_NAV_NO_CELL, .rest = UNKNOWN};
    work->spot_count = 1;
    memset(work->aim, 0, sizeof work->aim);
    memset(work->turn, 0, sizeof work->turn);
    memset(work->light, 0, sizeof work->light);
    for (uint32_t i = 0; i < PHX_TILE_BORDERED; i++) work->length[i] = UNKNOWN;
    for (uint32_t side = 0; side < 4 && build->rings; side++)
        if (build->rings[side]) lay_ring(build, side);
    if (!build->rings) {
        light_outside(work);
        aim_vertices(build);
    }
    work->outer_spots = work->spot_count - 1;
    aim_goals(build);
    for (uint32_t i = 0; i < work->front.reached; i++) look_at(build, work->front.order[i]);
}
