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
enum { HALF = PHX_SPOT_UNIT / 2, CHAINS = 256, STRIDE = PHX_TILE_STRIDE };
#define UNKNOWN UINT64_MAX

/* Bordered offsets of the directions; costs of their steps in 1/256. */
static const int8_t offsets[8] = {1, STRIDE + 1, STRIDE, STRIDE - 1, -1, -STRIDE - 1, -STRIDE, -STRIDE + 1};
static const uint16_t step_of[8] = {256, ROOT_TWO, 256, ROOT_TWO, 256, ROOT_TWO, 256, ROOT_TWO};

static inline uint32_t moved(uint32_t at, int32_t offset) { return (uint32_t)((int32_t)at + offset); }

/* The cell that is being looked at. */
typedef struct Look {
    PhxTileWork *work;
    uint32_t at, cost; /* bordered index; its cost */
    uint64_t straight; /* weight */
    int32_t x, y;      /* of the cell, in the map */
} Look;

/* The best way found for it. */
typedef struct Best {
    uint64_t length;
    uint32_t spot, light;
    uint32_t turn; /* turns at the neighbour in this direction; NO_TURN: aims at `spot` */
} Best;
enum { NO_TURN = 8 };

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
static inline uint64_t length_over(const PhxTileSpot *spot, int32_t x, int32_t y, uint64_t scale) {
    const int64_t dx = spot->x - x, dy = spot->y - y;
    /* 1/16 squared times 256: the root is in 1/256 */
    return spot->rest + phx_isqrt64((uint64_t)(dx * dx + dy * dy) << 8) * scale;
}

/* The length of the way from a known cell; that of a straight one is found out when somebody asks. */
static uint64_t find_length(PhxTileWork *work, uint32_t n, int32_t x, int32_t y, uint64_t straight) {
    const uint32_t key = work->key[n];
    return work->length[n] = length_over(&work->spots[key >> PHX_TILE_KEY_SPOT], centre(x), centre(y),
                                         straight * (key & PHX_TILE_KEY_COST));
}
static inline uint64_t length_at(const Look *look, uint32_t n, uint32_t d) {
    const uint64_t known = look->work->length[n];
    if (known != UNKNOWN) return known;
    return find_length(look->work, n, look->x + phx_flow_dx[d], look->y + phx_flow_dy[d], look->straight);
}

/* The light that a cell gets over its neighbour `n`. `key`: the cell's cost, and the spot. */
static inline uint32_t light_of(const PhxTileWork *work, uint32_t n, uint32_t key) {
    if (work->key[n] == key) return work->light[n];
    return work->key[n] == (key & PHX_TILE_KEY_COST) && work->light[n] == FULL &&
                   key >> PHX_TILE_KEY_SPOT <= work->outer_spots
               ? FULL
               : 0;
}

/* How much of a spot a cell sees: of the two neighbours before it along the ray, those count which aim there
 * too. */
static inline uint32_t light_from(const Look *look, uint32_t key) {
    /* along, across: by signs of x and y, and whether y is longer */
    static const int8_t before[8][2] = {{1, STRIDE + 1},        {-1, STRIDE - 1},      {1, -STRIDE + 1},
                                        {-1, -STRIDE - 1},      {STRIDE, STRIDE + 1},  {STRIDE, STRIDE - 1},
                                        {-STRIDE, -STRIDE + 1}, {-STRIDE, -STRIDE - 1}};
    const PhxTileWork *work = look->work;
    const PhxTileSpot *to = &work->spots[key >> PHX_TILE_KEY_SPOT];
    const int32_t dx = to->cell_x - look->x, dy = to->cell_y - look->y;
    const uint32_t ax = (uint32_t)(dx < 0 ? -dx : dx), ay = (uint32_t)(dy < 0 ? -dy : dy);
    const int8_t *step = before[(uint32_t)(dx < 0) | (uint32_t)(dy < 0) << 1 | (uint32_t)(ax <= ay) << 2];
    const uint32_t across_at = moved(look->at, step[1]), along_at = moved(look->at, step[0]);
    const uint32_t beside = work->key[moved(look->at, step[1] - step[0])];
    const uint32_t major = ax > ay ? ax : ay, minor = ax > ay ? ay : ax;
    if (minor == 0) return major ? light_of(work, along_at, key) : FULL;
    const uint32_t open = (work->key[along_at] ^ key) | (beside ^ key);
    const uint32_t across = open & PHX_TILE_KEY_COST ? 0 : light_of(work, across_at, key);
    if (minor == major) return across;
    const uint32_t along = light_of(work, along_at, key);
    if (along == across) return along;
    return ((major - minor) * along + minor * across + major / 2) / major;
}

static inline void try_spot(const Look *look, Best *best, uint32_t spot, uint32_t light) {
    const uint64_t length =
        length_over(&look->work->spots[spot], centre(look->x), centre(look->y), look->straight * look->cost);
    if (length >= best->length) return;
    *best = (Best){length, spot, light, NO_TURN};
}

/* The spots that were looked at for a cell, as keys; bits: which of them it sees. */
typedef struct Tried {
    uint32_t count, seen;
    uint32_t keys[8];
} Tried;

/* Looks at the ways over the known neighbours in the directions `set`: to their spots where the cell sees
 * them, else with a turn at the neighbour. */
static inline void try_neighbours(const Look *look, Tried *tried, Best *best, uint32_t set) {
    for (; set; set &= set - 1) {
        const uint32_t d = phx_bit_lowest(set), n = moved(look->at, offsets[d]);
        const uint32_t key = look->work->key[n], cost = key & PHX_TILE_KEY_COST;
        if (cost == look->cost) {
            uint32_t i = 0;
            while (i < tried->count && tried->keys[i] != key) i++;
            if (i == tried->count) {
                tried->keys[tried->count++] = key;
                const uint32_t light = light_from(look, key);
                if (light >= ENOUGH) {
                    tried->seen |= 1u << i;
                    try_spot(look, best, key >> PHX_TILE_KEY_SPOT, light);
                }
            }
            if (tried->seen >> i & 1u) continue;
        }
        const uint64_t length = length_at(look, n, d) + look->straight * cost * step_of[d];
        if (length < best->length) *best = (Best){length, NO_SPOT, FULL, d};
    }
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

/* The spot of turning at the neighbour in direction d. */
static uint32_t turn_spot(const PhxTileBuild *build, const Look *look, uint32_t d) {
    PhxTileWork *work = look->work;
    const uint32_t n = moved(look->at, offsets[d]);
    if (work->turn[n]) return work->turn[n];
    const PhxSectorFrame *frame = &work->ground.frame;
    const int32_t x = look->x + phx_flow_dx[d], y = look->y + phx_flow_dy[d];
    const bool inner = (uint32_t)x - frame->x0 < frame->width && (uint32_t)y - frame->y0 < frame->height;
    const uint32_t corner = inner ? corner_of(work, n, d, centre(x), centre(y)) : 0;
    const uint32_t spot = add_spot(build, x, y, corner, length_at(look, n, d));
    if (corner) {
        PhxTileSpot *own = &work->spots[spot];
        const uint32_t key = work->key[n];
        own->rest = length_over(&work->spots[key >> PHX_TILE_KEY_SPOT], own->x, own->y,
                                look->straight * (key & PHX_TILE_KEY_COST));
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
        found |= (uint32_t)(value[d] < own && work->key[moved(look->at, offsets[d])] > PHX_TILE_KEY_COST)
                 << d;
    }
    return found;
}

/* Which cells of the sector are known, and which are to be looked at closely: what leads over the border, and
 * seeds with a spot of their own. Row y is word y + 1, bit lx. */
typedef struct Rows {
    uint64_t known[PHX_SECTOR_SIDE + 2], special[PHX_SECTOR_SIDE + 2];
} Rows;

static inline void row_add(uint64_t *rows, uint32_t local) {
    rows[(local >> PHX_SECTOR_SHIFT) + 1] |= (uint64_t)1 << (local & (PHX_SECTOR_SIDE - 1));
}

static inline uint32_t row_bits(uint64_t row, uint32_t from) {
    return (uint32_t)(row >> from | row << (-from & 63u)) & 7u; /* rotated */
}

/* Directions of those of the eight cells around column lx that are known, which `rows` tell from the row
 * above on; what lies beyond the row's ends may be told wrong. */
static inline uint32_t known_around(const uint64_t *rows, uint32_t lx) {
    static const uint8_t below[8] = {0, 8, 4, 12, 2, 10, 6, 14};   /* SW, S, SE */
    static const uint8_t beside[8] = {0, 16, 0, 16, 1, 17, 1, 17}; /* W, itself, E */
    const uint32_t from = (lx - 1) & 63u;
    return row_bits(rows[0], from) << 5 | beside[row_bits(rows[1], from)] | below[row_bits(rows[2], from)];
}

static inline void set_way(PhxTileWork *work, uint32_t at, uint32_t key, uint32_t light, uint64_t length) {
    work->key[at] = key;
    work->light[at] = (uint8_t)light;
    work->length[at] = length;
}

/* Notes the best way found; a cell without any keeps its key. */
static inline void take(const PhxTileBuild *build, const Look *look, Best best) {
    if (best.turn != NO_TURN) best.spot = turn_spot(build, look, best.turn);
    set_way(look->work, look->at, look->cost | best.spot << PHX_TILE_KEY_SPOT, best.light, best.length);
}

/* A cell with a seed of its own, or at the border: first the ways within the sector, then those beyond. */
static void look_at_special(const PhxTileBuild *build, const Look *look, uint32_t known, uint32_t local) {
    Best best = {UNKNOWN, NO_SPOT, 0, NO_TURN};
    Tried tried;
    tried.count = tried.seen = 0;
    if (look->cost > PHX_TILE_KEY_COST) return; /* a goal */
    const uint32_t seed = look->work->turn[look->at];
    look->work->turn[look->at] = 0;
    if (seed) try_spot(look, &best, seed, FULL);
    try_neighbours(look, &tried, &best, known);
    if (build->rings) try_neighbours(look, &tried, &best, ways_beyond(build, look, local));
    take(build, look, best);
}

/* Any other cell, with known neighbours. Most have some that all aim at one spot, which the cell sees too:
 * nothing is to be compared, and the length of the way isn't asked for yet. */
static inline void look_at_plain(const PhxTileBuild *build, const Look *look, uint32_t known) {
    const uint32_t first = look->work->key[moved(look->at, offsets[phx_bit_lowest(known)])];
    uint32_t others = known & (known - 1);
    while (others && look->work->key[moved(look->at, offsets[phx_bit_lowest(others)])] == first)
        others &= others - 1;
    if (!others && (first & PHX_TILE_KEY_COST) == look->cost) {
        const uint32_t light = light_from(look, first);
        if (light >= ENOUGH) {
            set_way(look->work, look->at, first, light, UNKNOWN);
            return;
        }
    }
    Best best = {UNKNOWN, NO_SPOT, 0, NO_TURN};
    Tried tried;
    tried.count = tried.seen = 0;
    try_neighbours(look, &tried, &best, known);
    take(build, look, best);
}

static void look_at_all(const PhxTileBuild *build, Rows *rows) {
    PhxTileWork *work = build->work;
    const PhxSectorFrame *frame = &work->ground.frame;
    Look look = {.work = work, .straight = build->task->weights.straight};
    for (uint32_t i = 0; i < work->front.reached; i++) {
        const uint32_t local = work->front.order[i];
        const uint32_t lx = local & (PHX_SECTOR_SIDE - 1), ly = local >> PHX_SECTOR_SHIFT;
        const uint32_t known =
            known_around(rows->known + ly, lx) & work->ground.facts[local] >> PHX_FACT_MOVES & 255u;
        look.at = local + 2 * ly + STRIDE + 1; /* bordered */
        look.cost = work->key[look.at];
        look.x = (int32_t)(frame->x0 + lx);
        look.y = (int32_t)(frame->y0 + ly);
        if (rows->special[ly + 1] >> lx & 1)
            look_at_special(build, &look, known, local);
        else if (known)
            look_at_plain(build, &look, known);
        rows->known[ly + 1] |= (uint64_t)(work->key[look.at] > PHX_TILE_KEY_COST) << lx;
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
static void aim_vertices(const PhxTileBuild *build, Outer *outer, Rows *rows) {
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
        row_add(rows->special, vertex[v].cell);
    }
}

/* The goals of the sector; they were seeded with 0. */
static void aim_goals(const PhxTileBuild *build, Rows *rows) {
    PhxTileWork *work = build->work;
    for (uint32_t s = 0; s < work->seed_count; s++) {
        if (work->seed_values[s] != 0) continue;
        const uint32_t local = work->seeds[s].cell, at = phx_tile_bordered(local);
        if (work->key[at] > PHX_TILE_KEY_COST) continue;
        const uint32_t spot = add_spot(build, map_x(work, at), map_y(work, at), 0, 0);
        work->turn[at] = (uint16_t)spot;
        set_way(work, at, work->key[at] | spot << PHX_TILE_KEY_SPOT, FULL, 0);
        row_add(rows->known, local);
        row_add(rows->special, local);
    }
}

/* For a ring, all that lies beyond the sector is bright. */
static void light_outside(PhxTileWork *work) {
    for (uint32_t side = 0; side < 4; side++)
        for (uint32_t i = 0; i < phx_tile_border_length(&work->ground.frame, side); i++)
            work->light[phx_tile_outer(&work->ground.frame, side, i)] = FULL;
}

/* The cells from which a step may lead to a ring. */
static void mark_borders(const PhxTileBuild *build, Rows *rows) {
    const PhxSectorFrame *frame = &build->work->ground.frame;
    for (uint32_t side = 0; side < 4; side++) {
        if (!build->rings[side]) continue;
        const uint32_t count = phx_tile_border_length(frame, side);
        for (uint32_t i = 0; i < count; i++) row_add(rows->special, phx_tile_inner(frame, side, i));
    }
}

void phx_tile_find_aims(PhxTileBuild *build) {
    PhxTileWork *work = build->work;
    Outer outer;
    Rows rows;
    memset(outer.newest, 0, sizeof outer.newest);
    memset(&rows, 0, sizeof rows);
    work->spots[NO_SPOT] = (PhxTileSpot){.spot = PHX_NAV_NO_CELL, .rest = UNKNOWN};
    work->spot_count = 1;
    memset(work->turn, 0, sizeof work->turn);
    memset(work->light, 0, sizeof work->light);
    for (uint32_t i = 0; i < PHX_TILE_BORDERED; i++) work->key[i] = work->cost[i];
    for (uint32_t side = 0; side < 4 && build->rings; side++)
        if (build->rings[side]) lay_ring(build, &outer, side);
    if (build->rings) {
        mark_borders(build, &rows);
    } else {
        light_outside(work);
        aim_vertices(build, &outer, &rows);
    }
    work->outer_spots = work->spot_count - 1;
    aim_goals(build, &rows);
    look_at_all(build, &rows);
}
