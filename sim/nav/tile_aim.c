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
enum { HALF = PHX_SPOT_UNIT / 2, CHAINS = 256 };
#define UNKNOWN UINT64_MAX

/* The cell that is being looked at, and the best found for it. */
typedef struct Look {
    const PhxTileBuild *build;
    PhxTileWork *work;
    uint32_t at, cost, straight; /* bordered index; its cost; weight */
    int32_t cell_x, cell_y;      /* in the map */
    uint64_t length;
    uint32_t spot, turn_at, turn_from; /* turn_at: not 0: turns at that cell */
    uint32_t tried_count, tried_seen;  /* bits: which of them are seen */
    uint32_t light;
    uint32_t tried[8]; /* keys of the spots that were looked at */
} Look;

static int32_t map_x(const PhxTileWork *work, uint32_t at) {
    return (int32_t)(work->ground.frame.x0 + at % PHX_TILE_STRIDE) - 1;
}
static int32_t map_y(const PhxTileWork *work, uint32_t at) {
    return (int32_t)(work->ground.frame.y0 + at / PHX_TILE_STRIDE) - 1;
}
/* The place of a cell's centre along an axis, in 1/16. */
static int32_t centre(int32_t cell) { return cell * PHX_SPOT_UNIT + HALF; }

/* Adds the spot at a corner of a cell (tile_spot.h; 0: its centre). */
static uint32_t add_spot(const PhxTileBuild *build, int32_t cell_x, int32_t cell_y, uint32_t corner,
                         uint64_t rest) {
    PhxTileWork *work = build->work;
    const uint32_t cell = (uint32_t)cell_y * build->task->grid->width + (uint32_t)cell_x;
    PHX_ASSERT(work->spot_count < PHX_TILE_SPOTS, work->spot_count, cell);
    work->spots[work->spot_count] = (PhxTileSpot){cell | corner << PHX_SPOT_CORNER,
                                                  phx_spot_along(cell_x, corner, corner == 1 || corner == 4),
                                                  phx_spot_along(cell_y, corner, corner <= 2), rest};
    return work->spot_count++;
}

/* Cost of the straight way from (x, y) to a spot and on. */
static uint64_t length_over(const PhxTileSpot *spot, int32_t x, int32_t y, uint32_t straight, uint32_t cost) {
    const int64_t dx = spot->x - x, dy = spot->y - y;
    /* 1/16 squared times 256: the root is in 1/256 */
    const uint64_t distance = phx_isqrt64((uint64_t)(dx * dx + dy * dy) << 8);
    return spot->rest + distance * straight * cost;
}

/* The length of the way from a known cell; that of a straight one is found out when somebody asks. */
static uint64_t length_at(const PhxTileBuild *build, uint32_t n, int32_t cell_x, int32_t cell_y) {
    PhxTileWork *work = build->work;
    if (work->length[n] == UNKNOWN)
        work->length[n] =
            length_over(&work->spots[work->key[n] >> PHX_TILE_KEY_SPOT], centre(cell_x), centre(cell_y),
                        build->task->weights.straight, work->key[n] & PHX_TILE_KEY_COST);
    return work->length[n];
}

/* The light that a cell gets over its neighbour `n`. `key`: the cell's cost, and the spot. */
static inline uint32_t light_of(const PhxTileWork *work, uint32_t n, uint32_t key) {
    if (work->key[n] == key) return work->light[n];
    return work->key[n] == (key & PHX_TILE_KEY_COST) && work->light[n] == FULL &&
                   key >> PHX_TILE_KEY_SPOT <= work->outer_spots
               ? FULL
               : 0;
}

/* How much of a spot a cell sees. */
static inline uint32_t light_from(const PhxTileWork *work, uint32_t key, uint32_t at, int32_t cell_x,
                                  int32_t cell_y) {
    const PhxTileSpot *to = &work->spots[key >> PHX_TILE_KEY_SPOT];
    const int32_t dx = (int32_t)((uint32_t)to->x / PHX_SPOT_UNIT) - cell_x;
    const int32_t dy = (int32_t)((uint32_t)to->y / PHX_SPOT_UNIT) - cell_y;
    const int32_t sx = dx < 0 ? -1 : 1, sy = dy < 0 ? -PHX_TILE_STRIDE : PHX_TILE_STRIDE;
    const uint32_t ax = (uint32_t)(dx < 0 ? -dx : dx), ay = (uint32_t)(dy < 0 ? -dy : dy);
    const uint32_t major = ax > ay ? ax : ay, minor = ax > ay ? ay : ax;
    const uint32_t by_x = (uint32_t)((int32_t)at + sx), by_y = (uint32_t)((int32_t)at + sy);
    if (minor == 0) return major ? light_of(work, ax > ay ? by_x : by_y, key) : FULL;
    uint32_t across = 0;
    if (((work->key[by_x] ^ key) & PHX_TILE_KEY_COST) == 0 &&
        ((work->key[by_y] ^ key) & PHX_TILE_KEY_COST) == 0)
        across = light_of(work, (uint32_t)((int32_t)by_x + sy), key);
    if (minor == major) return across;
    const uint32_t along = light_of(work, ax > ay ? by_x : by_y, key);
    if (along == across) return along;
    return ((major - minor) * along + minor * across + major / 2) / major;
}

static void try_spot(Look *look, uint32_t spot, uint32_t light) {
    const uint64_t length = length_over(&look->work->spots[spot], centre(look->cell_x), centre(look->cell_y),
                                        look->straight, look->cost);
    if (length >= look->length) return;
    look->length = length;
    look->spot = spot;
    look->light = light;
    look->turn_at = 0;
}

/* Whether the cell sees a spot; a spot that wasn't looked at before is tried. */
static bool sees(Look *look, uint32_t key) {
    for (uint32_t i = 0; i < look->tried_count; i++)
        if (look->tried[i] == key) return look->tried_seen >> i & 1u;
    const uint32_t light = light_from(look->work, key, look->at, look->cell_x, look->cell_y);
    if (light >= ENOUGH) {
        try_spot(look, key >> PHX_TILE_KEY_SPOT, light);
        look->tried_seen |= 1u << look->tried_count;
    }
    look->tried[look->tried_count++] = key;
    return light >= ENOUGH;
}

/* Looks at the way over the known neighbour `n` in direction d. */
static void try_neighbour(Look *look, uint32_t n, uint32_t d) {
    const uint32_t key = look->work->key[n], cost = key & PHX_TILE_KEY_COST;
    if (cost == look->cost && sees(look, key)) return;
    const uint64_t length =
        length_at(look->build, n, look->cell_x + phx_flow_dx[d], look->cell_y + phx_flow_dy[d]) +
        (uint64_t)look->straight * (d % 2 ? ROOT_TWO : 256) * cost;
    if (length >= look->length) return;
    look->length = length;
    look->turn_at = n;
    look->turn_from = d;
}

/* The corner of cell n, whose centre is at (x, y), that a way goes around which comes in direction d and goes
 * on to its spot: 1..4 SE, SW, NW, NE; 0: none. */
static uint32_t corner_of(const PhxTileWork *work, uint32_t n, uint32_t d, int32_t x, int32_t y) {
    const PhxTileSpot *to = &work->spots[work->key[n] >> PHX_TILE_KEY_SPOT];
    const int32_t vx = to->x - x, vy = to->y - y;
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

/* The spot of turning at cell n, coming in direction d. */
static uint32_t turn_spot(const Look *look, uint32_t n, uint32_t d) {
    PhxTileWork *work = look->work;
    if (work->turn[n]) return work->turn[n];
    const PhxSectorFrame *frame = &work->ground.frame;
    const int32_t x = look->cell_x + phx_flow_dx[d], y = look->cell_y + phx_flow_dy[d];
    const bool inner = (uint32_t)x - frame->x0 < frame->width && (uint32_t)y - frame->y0 < frame->height;
    const uint32_t corner = inner ? corner_of(work, n, d, centre(x), centre(y)) : 0;
    const uint32_t spot = add_spot(look->build, x, y, corner, length_at(look->build, n, x, y));
    if (corner) {
        PhxTileSpot *own = &work->spots[spot];
        const uint32_t key = work->key[n];
        own->rest = length_over(&work->spots[key >> PHX_TILE_KEY_SPOT], own->x, own->y, look->straight,
                                key & PHX_TILE_KEY_COST);
    }
    work->turn[n] = (uint16_t)spot;
    return spot;
}

static void look_beyond(Look *look, uint32_t local) {
    const PhxTileBuild *build = look->build;
    const PhxTileWork *work = look->work;
    const uint64_t own = work->base[work->ground.region[local]] + work->front.sum[local];
    uint64_t value[8];
    for (uint32_t set = phx_tile_exits(build, local, value); set; set &= set - 1) {
        const uint32_t d = phx_bit_lowest(set), n = look->at + (uint32_t)build->offset[d];
        if (value[d] < own && work->key[n] > PHX_TILE_KEY_COST) try_neighbour(look, n, d);
    }
}

/* Directions of those of the eight cells around column lx that are known, which `rows` tell from the row
 * above on; what lies beyond the row's ends may be told wrong. */
static inline uint32_t known_around(const uint64_t *rows, uint32_t lx) {
    static const uint8_t below[8] = {0, 8, 4, 12, 2, 10, 6, 14}; /* SW, S, SE */
    const uint32_t right = (lx - 1) & 63u, left = (1 - lx) & 63u;
    const uint32_t n = (uint32_t)(rows[0] >> right | rows[0] << left) & 7u;
    const uint32_t m = (uint32_t)(rows[1] >> right | rows[1] << left) & 7u;
    const uint32_t s = (uint32_t)(rows[2] >> right | rows[2] << left) & 7u;
    return n << 5 | (m & 1u) << 4 | m >> 2 | below[s];
}

static inline void set_way(PhxTileWork *work, uint32_t at, uint32_t key, uint32_t light, uint64_t length) {
    work->key[at] = key;
    work->light[at] = (uint8_t)light;
    work->length[at] = length;
}

/* Looks at all ways of a cell, those over the neighbours `known` and those over the border. */
static bool look_closely(const PhxTileBuild *build, uint32_t local, uint32_t at, uint32_t known,
                         bool beyond) {
    PhxTileWork *work = build->work;
    const PhxSectorFrame *frame = &work->ground.frame;
    Look look;
    look.build = build;
    look.work = work;
    look.at = at;
    look.cost = work->key[at];
    look.straight = build->task->weights.straight;
    look.cell_x = (int32_t)(frame->x0 + (local & (PHX_SECTOR_SIDE - 1)));
    look.cell_y = (int32_t)(frame->y0 + (local >> PHX_SECTOR_SHIFT));
    look.length = UNKNOWN;
    look.spot = NO_SPOT;
    look.turn_at = look.turn_from = look.tried_count = look.tried_seen = look.light = 0;
    const uint32_t seed = work->turn[at];
    work->turn[at] = 0;
    if (seed) try_spot(&look, seed, FULL);
    for (; known; known &= known - 1) {
        const uint32_t d = phx_bit_lowest(known);
        try_neighbour(&look, at + (uint32_t)build->offset[d], d);
    }
    if (beyond) look_beyond(&look, local);
    if (look.turn_at) {
        look.spot = turn_spot(&look, look.turn_at, look.turn_from);
        look.light = FULL;
    }
    set_way(work, at, look.cost | look.spot << PHX_TILE_KEY_SPOT, look.light, look.length);
    return look.spot != NO_SPOT;
}

/* The key that the neighbours in the directions `known` have in common; 0: none. */
static inline uint32_t common_key(const PhxTileBuild *build, uint32_t at, uint32_t known) {
    if (!known) return 0;
    const uint32_t key = build->work->key[at + (uint32_t)build->offset[phx_bit_lowest(known)]];
    while ((known &= known - 1) != 0)
        if (build->work->key[at + (uint32_t)build->offset[phx_bit_lowest(known)]] != key) return 0;
    return key;
}

/* Most cells have neighbours that all aim at one spot, which the cell sees too: nothing is to be compared,
 * and the length of the way isn't asked for yet. */
static void look_at(const PhxTileBuild *build, uint32_t local) {
    PhxTileWork *work = build->work;
    const PhxSectorFrame *frame = &work->ground.frame;
    const uint32_t lx = local & (PHX_SECTOR_SIDE - 1), ly = local >> PHX_SECTOR_SHIFT;
    const uint32_t at = phx_tile_bordered(local), cost = work->key[at];
    if (cost > PHX_TILE_KEY_COST) return; /* a goal */
    const uint32_t known =
        known_around(work->known + ly, lx) & work->ground.facts[local] >> PHX_FACT_MOVES & 255u;
    const bool beyond =
        build->rings && (lx == 0 || ly == 0 || lx == frame->width - 1 || ly == frame->height - 1);
    bool found = false;
    if (!beyond && !work->turn[at]) {
        const uint32_t key = common_key(build, at, known);
        if (key && (key & PHX_TILE_KEY_COST) == cost) {
            const uint32_t light =
                light_from(work, key, at, (int32_t)(frame->x0 + lx), (int32_t)(frame->y0 + ly));
            found = light >= ENOUGH;
            if (found) set_way(work, at, key, light, UNKNOWN);
        }
    }
    if (!found) found = look_closely(build, local, at, known, beyond);
    work->known[ly + 1] |= (uint64_t)found << lx;
}

/* The spots of the rings, to be found by what they are. */
typedef struct Outer {
    uint16_t newest[CHAINS]; /* 0: none */
    uint16_t older[4 * PHX_SECTOR_SIDE + 1];
} Outer;

/* The spot of (spot, rest) among those of the rings. */
static uint32_t outer_spot(const PhxTileBuild *build, Outer *outer, uint32_t spot, uint64_t rest) {
    const PhxTileWork *work = build->work;
    const uint32_t chain = (uint32_t)((spot ^ (rest >> 8)) * 0x9e3779b1u) >> 24;
    for (uint32_t i = outer->newest[chain]; i; i = outer->older[i])
        if (work->spots[i].spot == spot && work->spots[i].rest == rest) return i;
    const uint32_t width = build->task->grid->width, cell = spot & PHX_SPOT_CELL;
    const uint32_t added =
        add_spot(build, (int32_t)(cell % width), (int32_t)(cell / width), spot >> PHX_SPOT_CORNER, rest);
    outer->older[added] = outer->newest[chain];
    outer->newest[chain] = (uint16_t)added;
    return added;
}

/* Lays what a ring says beside its border. */
static void lay_ring(const PhxTileBuild *build, Outer *outer, uint32_t side) {
    PhxTileWork *work = build->work;
    const PhxTileRing *ring = build->rings[side];
    const uint32_t count = phx_tile_border_length(&work->ground.frame, side), facing = side ^ 2u;
    for (uint32_t i = 0; i < count; i++) {
        if (ring->aim[facing][i] == PHX_NAV_NO_CELL) continue;
        const uint32_t at = phx_tile_outer(&work->ground.frame, side, i);
        const uint32_t spot = outer_spot(build, outer, ring->aim[facing][i], ring->rest[facing][i]);
        set_way(work, at, work->cost[at] | spot << PHX_TILE_KEY_SPOT, ring->light[facing][i], UNKNOWN);
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
static void aim_vertex(const PhxTileBuild *build, Outer *outer, uint32_t at, uint64_t value) {
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
        work->turn[at] = (uint16_t)outer_spot(build, outer, nearest, 0);
        return;
    }
    const uint32_t cell = (uint32_t)map_y(work, at) * task->grid->width + (uint32_t)map_x(work, at);
    work->turn[at] = (uint16_t)outer_spot(build, outer, cell, value << 8);
}

/* The vertices whose least way leaves the sector there. */
static void aim_vertices(const PhxTileBuild *build, Outer *outer) {
    const PhxTileTask *task = build->task;
    const uint32_t sector = build->work->ground.frame.sector;
    const PhxPortalVertex *vertex = phx_portals_vertices(task->portals, sector);
    const uint32_t count = phx_portals_vertex_count(task->portals, sector);
    for (uint32_t v = 0; v < count; v++) {
        const uint64_t value = phx_route_value(task->route, task->portals, sector, v);
        if (value == PHX_ROUTE_UNREACHED) continue;
        const uint64_t beyond =
            phx_route_value(task->route, task->portals, vertex[v].partner_sector, vertex[v].partner);
        if (beyond != PHX_ROUTE_UNREACHED && value == beyond + vertex[v].out_cost)
            aim_vertex(build, outer, phx_tile_bordered(vertex[v].cell), value);
    }
}

/* The goals of the sector; they were seeded with 0. */
static void aim_goals(const PhxTileBuild *build) {
    PhxTileWork *work = build->work;
    for (uint32_t s = 0; s < work->seed_count; s++) {
        if (work->seed_values[s] != 0) continue;
        const uint32_t local = work->seeds[s].cell, at = phx_tile_bordered(local);
        if (work->key[at] > PHX_TILE_KEY_COST) continue;
        const uint32_t spot = add_spot(build, map_x(work, at), map_y(work, at), 0, 0);
        work->turn[at] = (uint16_t)spot;
        set_way(work, at, work->key[at] | spot << PHX_TILE_KEY_SPOT, FULL, 0);
        work->known[(local >> PHX_SECTOR_SHIFT) + 1] |= (uint64_t)1 << (local & (PHX_SECTOR_SIDE - 1));
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
    Outer outer;
    memset(outer.newest, 0, sizeof outer.newest);
    work->spots[NO_SPOT] = (PhxTileSpot){.spot = PHX_NAV_NO_CELL, .rest = UNKNOWN};
    work->spot_count = 1;
    memset(work->known, 0, sizeof work->known);
    memset(work->turn, 0, sizeof work->turn);
    memset(work->light, 0, sizeof work->light);
    for (uint32_t i = 0; i < PHX_TILE_BORDERED; i++) work->key[i] = work->cost[i];
    for (uint32_t side = 0; side < 4 && build->rings; side++)
        if (build->rings[side]) lay_ring(build, &outer, side);
    if (!build->rings) {
        light_outside(work);
        aim_vertices(build, &outer);
    }
    work->outer_spots = work->spot_count - 1;
    aim_goals(build);
    for (uint32_t i = 0; i < work->front.reached; i++) look_at(build, work->front.order[i]);
}
