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
#include "nav/field_queue.h"
#include "nav/tile_spot.h"

enum { FULL = 255, ENOUGH = 32, NO_SPOT = 0, ROOT_TWO = 362 /* sqrt 2 in 1/256 */ };
enum { HALF = PHX_SPOT_UNIT / 2, CHAINS = 256, STRIDE = PHX_TILE_STRIDE };
#define UNKNOWN UINT64_MAX

/* Bordered offsets of the directions; costs of their steps in 1/256. */
static const int8_t offsets[8] = {1, STRIDE + 1, STRIDE, STRIDE - 1, -1, -STRIDE - 1, -STRIDE, -STRIDE + 1};
static const uint16_t step_of[8] = {256, ROOT_TWO, 256, ROOT_TWO, 256, ROOT_TWO, 256, ROOT_TWO};

static inline uint32_t moved(uint32_t at, int32_t offset) { return (uint32_t)((int32_t)at + offset); }

/* The cell that is being looked at. */
typedef struct Look {
    PhxTileWork *work;
    uint32_t at, own;  /* bordered index; its way as yet, which is its cost alone */
    int32_t x, y;      /* of the cell, in the map */
    uint64_t straight; /* weight */
    uint32_t bright;   /* spots up to this one are seen from beyond the sector; 0: none */
} Look;

/* The best way found for it. */
typedef struct Best {
    uint64_t length;
    uint32_t spot, light;
    uint32_t turn; /* turns at the neighbour in this direction; NO_TURN: aims at `spot` */
} Best;
enum { NO_TURN = 8 };

static inline uint32_t spot_of(uint32_t way) { return way >> PHX_TILE_WAY_SPOT; }
static inline uint32_t cost_of(uint32_t way) { return way >> PHX_TILE_WAY_COST & 255u; }
static inline bool is_known(uint32_t way) { return way >> PHX_TILE_WAY_SPOT != NO_SPOT; }
/* Spot and cost of a way, without its light. */
static inline uint32_t key_of(uint32_t way) { return way & ~(uint32_t)FULL; }

static int32_t map_x(const PhxTileWork *work, uint32_t at) {
    return (int32_t)(work->ground.frame.x0 + at % PHX_TILE_STRIDE) - 1;
}
static int32_t map_y(const PhxTileWork *work, uint32_t at) {
    return (int32_t)(work->ground.frame.y0 + at / PHX_TILE_STRIDE) - 1;
}
/* The place of a cell's centre along an axis, in 1/16. */
static inline int32_t centre(int32_t cell) { return cell * PHX_SPOT_UNIT + HALF; }

/* Adds the spot at a corner of a cell (tile_spot.h; 0: its centre). */
static uint32_t add_spot(const PhxTileBuild *build, int32_t cell_x, int32_t cell_y, uint32_t corner,
                         uint64_t rest) {
    PhxTileWork *work = build->work;
    const uint32_t cell = (uint32_t)cell_y * build->task->grid->width + (uint32_t)cell_x;
    PHX_ASSERT(work->spot_count < PHX_TILE_SPOTS, work->spot_count, cell);
    work->spots[work->spot_count] =
        (PhxTileSpot){.spot = cell | corner << PHX_SPOT_CORNER,
                      .x = phx_spot_along(cell_x, corner, corner == 1 || corner == 4),
                      .y = phx_spot_along(cell_y, corner, corner <= 2),
                      .cell_x = (int16_t)cell_x,
                      .cell_y = (int16_t)cell_y,
                      .rest = rest};
    return work->spot_count++;
}

/* Cost of the straight way from (x, y) to a spot and on; a step of length 1 costs `scale`. */
PHX_FIELD_INLINE uint64_t length_over(const PhxTileSpot *spot, int32_t x, int32_t y, uint64_t scale) {
    const int64_t dx = spot->x - x, dy = spot->y - y;
    /* 1/16 squared times 256: the root is in 1/256 */
    return spot->rest + phx_isqrt64((uint64_t)(dx * dx + dy * dy) << 8) * scale;
}

/* The length of the way from the known cell n at (x, y); that of a straight one is found out when somebody
 * asks. */
static uint64_t find_length(PhxTileWork *work, uint32_t n, int32_t x, int32_t y, uint64_t straight) {
    const uint32_t way = work->way[n];
    return work->length[n] =
               length_over(&work->spots[spot_of(way)], centre(x), centre(y), straight * cost_of(way));
}
static inline uint64_t length_at(const Look *look, uint32_t n, uint32_t d) {
    const uint64_t known = look->work->length[n];
    if (known != UNKNOWN) return known;
    return find_length(look->work, n, look->x + phx_flow_dx[d], look->y + phx_flow_dy[d], look->straight);
}

/* The light that the cell gets over its neighbour `n`. */
PHX_FIELD_INLINE uint32_t light_over(const Look *look, uint32_t n, uint32_t key) {
    const uint32_t way = look->work->way[n], other = way ^ key;
    if (!look->bright) return other <= FULL ? other : 0;
    if (other <= FULL) return other;
    return (other & 0xffffu) == FULL && !is_known(way) && spot_of(key) <= look->bright ? FULL : 0;
}

/* How much the cell sees of the spot of a key with its own cost, times the steps to it: of the two neighbours
 * before it along the ray, those count which have that key too. */
typedef struct Light {
    uint32_t sum, steps;
} Light;
PHX_FIELD_INLINE Light light_from(const Look *look, uint32_t key) {
    const PhxTileSpot *to = &look->work->spots[spot_of(key)];
    const int32_t dx = to->cell_x - look->x, dy = to->cell_y - look->y;
    const uint32_t ax = (uint32_t)(dx < 0 ? -dx : dx), ay = (uint32_t)(dy < 0 ? -dy : dy);
    const uint32_t by_x = moved(look->at, dx < 0 ? -1 : 1), by_y = moved(look->at, dy < 0 ? -STRIDE : STRIDE);
    const uint32_t corner = by_x + by_y - look->at, along = ax > ay ? by_x : by_y;
    const uint32_t major = ax > ay ? ax : ay, minor = ax > ay ? ay : ax;
    const uint32_t sides = (look->work->way[by_x] ^ key) | (look->work->way[by_y] ^ key);
    const uint32_t across = cost_of(sides) ? 0 : light_over(look, corner, key);
    return (Light){(major - minor) * light_over(look, along, key) + minor * across + major / 2, major};
}
/* Where there are no steps the spot is in the cell itself. */
static inline bool is_enough(Light light) { return light.sum >= ENOUGH * light.steps; }
static inline uint32_t light_value(Light light) {
    if (light.sum - light.steps / 2 == FULL * light.steps) return FULL;
    return light.sum / light.steps;
}

PHX_FIELD_INLINE void try_spot(const Look *look, Best *best, uint32_t spot, Light light) {
    const uint64_t length = length_over(&look->work->spots[spot], centre(look->x), centre(look->y),
                                        look->straight * cost_of(look->own));
    if (length >= best->length) return;
    *best = (Best){length, spot, light_value(light), NO_TURN};
}

/* The keys whose spots were looked at for a cell; bits: which of them it sees. */
typedef struct Tried {
    uint32_t count, seen;
    uint32_t keys[8];
} Tried;

/* Looks at the ways over the known neighbours in the directions `set`: to their spots where the cell sees
 * them, else with a turn at the neighbour. */
PHX_FIELD_INLINE void try_neighbours(const Look *look, Tried *tried, Best *best, uint32_t set) {
    for (; set; set &= set - 1) {
        const uint32_t d = phx_bit_lowest(set), n = moved(look->at, offsets[d]);
        const uint32_t key = key_of(look->work->way[n]);
        if (cost_of(key ^ look->own) == 0) {
            uint32_t i = 0;
            while (i < tried->count && tried->keys[i] != key) i++;
            if (i == tried->count) {
                tried->keys[tried->count++] = key;
                const Light light = light_from(look, key);
                if (is_enough(light)) {
                    tried->seen |= 1u << i;
                    try_spot(look, best, spot_of(key), light);
                }
            }
            if (tried->seen >> i & 1u) continue;
        }
        const uint64_t length = length_at(look, n, d) + look->straight * cost_of(key) * step_of[d];
        if (length < best->length) *best = (Best){length, NO_SPOT, FULL, d};
    }
}

/* The corner of cell n, whose centre is at (x, y), that a way goes around which comes in direction d and goes
 * on to its spot: 1..4 SE, SW, NW, NE; 0: none. */
static uint32_t corner_of(const PhxTileWork *work, uint32_t n, uint32_t d, int32_t x, int32_t y) {
    const PhxTileSpot *to = &work->spots[spot_of(work->way[n])];
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

/* The spot of turning at the neighbour of cell `at` in direction d, which lies at (x, y) and whose way has a
 * length. */
static uint32_t turn_spot(const PhxTileBuild *build, uint32_t at, uint32_t d, int32_t x, int32_t y,
                          uint64_t length) {
    PhxTileWork *work = build->work;
    const uint32_t n = moved(at, offsets[d]), way = work->way[n];
    const PhxSectorFrame *frame = &work->ground.frame;
    const bool inner = (uint32_t)x - frame->x0 < frame->width && (uint32_t)y - frame->y0 < frame->height;
    const uint32_t corner = inner ? corner_of(work, n, d, centre(x), centre(y)) : 0;
    const uint32_t spot = add_spot(build, x, y, corner, length);
    if (corner) {
        PhxTileSpot *own = &work->spots[spot];
        own->rest = length_over(&work->spots[spot_of(way)], own->x, own->y,
                                (uint64_t)build->task->weights.straight * cost_of(way));
    }
    work->turn[n] = (uint16_t)spot;
    return spot;
}

/* Those of the steps over the border that lead to known cells of less value. */
static uint32_t ways_beyond(const PhxTileBuild *build, const Look *look, uint32_t local) {
    const PhxTileWork *work = look->work;
    const uint64_t own = work->base[work->ground.region[local]] + work->front.sum[local];
    uint64_t value[8];
    uint32_t found = 0;
    for (uint32_t set = phx_tile_exits(build, local, value); set; set &= set - 1) {
        const uint32_t d = phx_bit_lowest(set);
        if (value[d] < own && is_known(work->way[moved(look->at, offsets[d])])) found |= 1u << d;
    }
    return found;
}

static inline void set_way(PhxTileWork *work, uint32_t at, uint32_t way, uint64_t length) {
    work->way[at] = way;
    work->length[at] = length;
}

/* Notes the best way found. */
PHX_FIELD_INLINE void take(const PhxTileBuild *build, const Look *look, Best best) {
    if (best.turn != NO_TURN) {
        const uint32_t d = best.turn, n = moved(look->at, offsets[d]);
        best.spot = look->work->turn[n];
        if (!best.spot)
            best.spot = turn_spot(build, look->at, d, look->x + phx_flow_dx[d], look->y + phx_flow_dy[d],
                                  look->work->length[n]);
    }
    set_way(look->work, look->at, look->own | best.spot << PHX_TILE_WAY_SPOT | best.light, best.length);
}

/* Of a set of directions those that lead to cells whose way is known. */
static uint32_t known_of(const PhxTileWork *work, uint32_t at, uint32_t set) {
    uint32_t known = 0;
    for (; set; set &= set - 1) {
        const uint32_t d = phx_bit_lowest(set);
        known |= (uint32_t)is_known(work->way[moved(at, offsets[d])]) << d;
    }
    return known;
}

/* Any cell, also one with a seed of its own or at the border: first the ways within the sector, then those
 * beyond. */
static void look_at_special(const PhxTileBuild *build, uint32_t local) {
    PhxTileWork *work = build->work;
    const PhxSectorFrame *frame = &work->ground.frame;
    const uint32_t at = phx_tile_bordered(local), seed = work->turn[at];
    if (is_known(work->way[at])) return; /* a goal */
    const Look look = {.work = work,
                       .at = at,
                       .own = work->way[at],
                       .x = (int32_t)(frame->x0 + (local & (PHX_SECTOR_SIDE - 1))),
                       .y = (int32_t)(frame->y0 + (local >> PHX_SECTOR_SHIFT)),
                       .straight = build->task->weights.straight,
                       .bright = work->outer_spots};
    Best best = {UNKNOWN, NO_SPOT, 0, NO_TURN};
    Tried tried;
    tried.count = tried.seen = 0;
    work->turn[at] = 0;
    if (seed) try_spot(&look, &best, seed, (Light){FULL, 1});
    uint32_t known = known_of(work, at, work->ground.facts[local] >> PHX_FACT_MOVES & 255u);
    for (uint32_t round = 0; round < 2; round++) {
        try_neighbours(&look, &tried, &best, known);
        known = build->rings && round == 0 ? ways_beyond(build, &look, local) : 0;
    }
    take(build, &look, best);
}

/* Any other cell, with known neighbours. Most have some that all aim at one spot, which the cell sees too:
 * nothing is to be compared, and the length of the way isn't asked for yet. */
PHX_FIELD_INLINE void look_at_plain(const PhxTileBuild *build, const Look *look, uint32_t known) {
    const uint32_t *way = look->work->way + look->at;
    const uint32_t first = key_of(way[offsets[phx_bit_lowest(known)]]);
    Best best = {UNKNOWN, NO_SPOT, 0, NO_TURN};
    Tried tried;
    tried.count = tried.seen = 0;
    if (cost_of(first ^ look->own) == 0) {
        const Light light = light_from(look, first);
        tried.count = 1;
        tried.keys[0] = first;
        if (is_enough(light)) {
            known &= known - 1;
            while (known && (way[offsets[phx_bit_lowest(known)]] ^ first) <= FULL) known &= known - 1;
            if (!known) {
                set_way(look->work, look->at, first | light_value(light), UNKNOWN);
                return;
            }
            tried.seen = 1;
            try_spot(look, &best, spot_of(first), light);
        }
    }
    try_neighbours(look, &tried, &best, known);
    take(build, look, best);
}

/* Places in the front's order by local index, with a row before the first and behind the last one. */
enum { ORDER_CELLS = PHX_SECTOR_CELLS + 2 * PHX_SECTOR_SIDE + 2, ORDER_FIRST = PHX_SECTOR_SIDE + 1 };
typedef struct Order {
    int16_t place[ORDER_CELLS];
    uint8_t
        known[PHX_SECTOR_CELLS]; /* steps to cells that come before; 0: to be looked at as a special one */
} Order;

/* What lies beyond a row's ends is told wrong, but no step leads there. */
static void find_known_row(const int16_t *restrict up, const int16_t *restrict at,
                           const int16_t *restrict down, const uint32_t *restrict facts,
                           uint8_t *restrict known) {
    for (uint32_t x = 0; x < PHX_SECTOR_SIDE; x++) {
        const int16_t own = at[x + 1];
        const uint32_t before = (uint32_t)(at[x + 2] < own) | (uint32_t)(down[x + 2] < own) << 1 |
                                (uint32_t)(down[x + 1] < own) << 2 | (uint32_t)(down[x] < own) << 3 |
                                (uint32_t)(at[x] < own) << 4 | (uint32_t)(up[x] < own) << 5 |
                                (uint32_t)(up[x + 1] < own) << 6 | (uint32_t)(up[x + 2] < own) << 7;
        known[x] = (uint8_t)(before & facts[x] >> PHX_FACT_MOVES);
    }
}

/* Tells for all reached cells which neighbours come before them. */
static void find_known(const PhxTileWork *work, Order *order) {
    for (uint32_t i = 0; i < ORDER_CELLS; i++) order->place[i] = INT16_MAX;
    for (uint32_t i = 0; i < work->front.reached; i++)
        order->place[work->front.order[i] + ORDER_FIRST] = (int16_t)i;
    for (uint32_t y = 0; y < PHX_SECTOR_SIDE; y++) {
        const int16_t *up = order->place + (size_t)y * PHX_SECTOR_SIDE;
        find_known_row(up, up + PHX_SECTOR_SIDE, up + 2 * PHX_SECTOR_SIDE,
                       work->ground.facts + (size_t)y * PHX_SECTOR_SIDE,
                       order->known + (size_t)y * PHX_SECTOR_SIDE);
    }
}

static void look_at_all(const PhxTileBuild *build, const Order *order) {
    PhxTileWork *work = build->work;
    const int32_t x0 = (int32_t)work->ground.frame.x0, y0 = (int32_t)work->ground.frame.y0;
    const uint32_t reached = work->front.reached;
    const uint64_t straight = build->task->weights.straight;
    bool all_known = true; /* all reached cells so far */
    for (uint32_t i = 0; i < reached; i++) {
        const uint32_t local = work->front.order[i];
        const uint32_t lx = local & (PHX_SECTOR_SIDE - 1), ly = local >> PHX_SECTOR_SHIFT;
        const uint32_t at = local + 2 * ly + STRIDE + 1; /* bordered */
        if (order->known[local] && all_known) {
            const Look look = {work, at, work->way[at], x0 + (int32_t)lx, y0 + (int32_t)ly, straight, 0};
            look_at_plain(build, &look, order->known[local]);
        } else {
            look_at_special(build, local);
            all_known &= is_known(work->way[at]);
        }
    }
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
        set_way(work, at, key_of(work->way[at]) | spot << PHX_TILE_WAY_SPOT | ring->light[facing][i],
                UNKNOWN);
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
static void aim_vertices(const PhxTileBuild *build, Outer *outer, Order *order) {
    const PhxTileTask *task = build->task;
    const uint32_t sector = build->work->ground.frame.sector;
    const PhxPortalVertex *vertex = phx_portals_vertices(task->portals, sector);
    const uint32_t count = phx_portals_vertex_count(task->portals, sector);
    for (uint32_t v = 0; v < count; v++) {
        const uint64_t value = phx_route_value(task->route, task->portals, sector, v);
        if (value == PHX_ROUTE_UNREACHED) continue;
        const uint64_t beyond =
            phx_route_value(task->route, task->portals, vertex[v].partner_sector, vertex[v].partner);
        if (beyond == PHX_ROUTE_UNREACHED || value != beyond + vertex[v].out_cost) continue;
        aim_vertex(build, outer, phx_tile_bordered(vertex[v].cell), value);
        order->known[vertex[v].cell] = 0;
    }
}

/* The goals of the sector; they were seeded with 0. */
static void aim_goals(const PhxTileBuild *build, Order *order) {
    PhxTileWork *work = build->work;
    for (uint32_t s = 0; s < work->seed_count; s++) {
        if (work->seed_values[s] != 0) continue;
        const uint32_t local = work->seeds[s].cell, at = phx_tile_bordered(local);
        if (is_known(work->way[at])) continue;
        const uint32_t spot = add_spot(build, map_x(work, at), map_y(work, at), 0, 0);
        work->turn[at] = (uint16_t)spot;
        set_way(work, at, work->way[at] | spot << PHX_TILE_WAY_SPOT | FULL, 0);
        order->known[local] = 0;
    }
}

/* For a ring, all that lies beyond the sector is bright. */
static void light_outside(PhxTileWork *work) {
    for (uint32_t side = 0; side < 4; side++)
        for (uint32_t i = 0; i < phx_tile_border_length(&work->ground.frame, side); i++)
            work->way[phx_tile_outer(&work->ground.frame, side, i)] |= FULL;
}

/* The cells from which a step may lead to a ring; for a ring, those that see what lies beyond. */
static void mark_borders(const PhxTileBuild *build, Order *order) {
    const PhxSectorFrame *frame = &build->work->ground.frame;
    for (uint32_t side = 0; side < 4; side++) {
        if (build->rings && !build->rings[side]) continue;
        const uint32_t count = phx_tile_border_length(frame, side);
        for (uint32_t i = 0; i < count; i++) order->known[phx_tile_inner(frame, side, i)] = 0;
    }
}

void phx_tile_find_aims(PhxTileBuild *build) {
    PhxTileWork *work = build->work;
    Outer outer;
    Order order;
    memset(outer.newest, 0, sizeof outer.newest);
    find_known(work, &order);
    work->spots[NO_SPOT] = (PhxTileSpot){.spot = PHX_NAV_NO_CELL, .rest = UNKNOWN};
    work->spot_count = 1;
    memset(work->turn, 0, sizeof work->turn);
    for (uint32_t i = 0; i < PHX_TILE_BORDERED; i++)
        work->way[i] = (uint32_t)work->cost[i] << PHX_TILE_WAY_COST;
    for (uint32_t side = 0; side < 4 && build->rings; side++)
        if (build->rings[side]) lay_ring(build, &outer, side);
    mark_borders(build, &order);
    if (!build->rings) {
        light_outside(work);
        aim_vertices(build, &outer, &order);
    }
    work->outer_spots = work->spot_count - 1;
    aim_goals(build, &order);
    look_at_all(build, &order);
}
