/* sector_front.c: the exact front inside one sector, from weighted seeds.
 *
 * In: the ground of a sector, weights, seeds. Out: for each cell the least sum of a seed's value and the way
 * there, and the reached cells in an order in which each comes behind its best parent.
 *
 * Queue: a ring of buckets as wide as the largest power of two that no step is shorter than (field_front.c
 * has the sources), each a linked list in a pool that never runs out. Seeds may differ by more than the ring
 * spans: they wait in a sorted list, and each enters its bucket when that bucket's turn comes.
 *
 * Where all passable cells of the sector cost the same, few directions are tried from a cell (pruning;
 * field_front.c has the proof): in the open, behind a straight step only straight on, behind a diagonal one
 * also the two directions beside. Any other sector is run by a wave of events (field_wave.c explains it): a
 * cell has two, the straight and the diagonal, and the first event that meets a cell gives it its least sum.
 * The wave also minds the limit of sums, so that it serves where seeds lie near it.
 *
 * Cost: 6 ns a cell in the open, up to 17 among walls, 15 to 30 where costs differ; everything stays in the
 * second level's cache.
 *
 * Determinism: a sum is the least over all ways. The order in a bucket follows from ground, weights and the
 * sorted seeds.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "base/sort.h"
#include "nav/field_queue.h"
#include "nav/sector.h"

enum { RING = PHX_SECTOR_RING, FEW = 24 /* seeds that are sorted by insertion */ };

/* What the inner loops need, in a form that the compiler may keep in registers. */
typedef struct Lane {
    uint32_t *sum;
    uint8_t *arrived;
    uint32_t *pool;
    uint16_t *straight_ring, *diagonal_ring; /* newest entry of each bucket; 0: empty */
    uint16_t *list;                          /* reached cells, in order */
    const uint32_t *facts;
    uint64_t *occupied;
    uint32_t shift, mask, straight, diagonal;
    uint32_t fresh, reached; /* next entry of the pool; length of `list` */
} Lane;

static inline bool key_less(const uint64_t *a, const uint64_t *b) { return *a < *b; }
PHX_DEFINE_SORT(sort_keys, uint64_t, key_less)

/* Queues a cell if `wanted` is 1; does nothing if it is 0. An entry is a cell and the entry behind it in its
 * bucket, 16 bits each. Entry 0 isn't used. */
PHX_FIELD_INLINE void push(const Lane *lane, uint16_t *ring, uint32_t cell, uint32_t time, uint32_t wanted,
                           uint32_t *fresh) {
    const uint32_t slot = time >> lane->shift & lane->mask, older = ring[slot];
    lane->pool[*fresh] = cell | older << 16;
    ring[slot] = (uint16_t)(wanted ? *fresh : older);
    lane->occupied[slot / 64] |= (uint64_t)wanted << (slot % 64);
    *fresh += wanted;
}

/* Bits rotated towards higher directions (right turns) and lower ones. */
static inline uint32_t turn_right(uint32_t set, unsigned n) { return (set << n | set >> (8 - n)) & 255u; }
static inline uint32_t turn_left(uint32_t set, unsigned n) { return (set >> n | set << (8 - n)) & 255u; }

/* The steps worth trying from a cell; field_front.c says why. */
static inline uint32_t successors(uint32_t moves, uint32_t arrived) {
    const uint32_t diagonal = arrived & 0xaau, straight = arrived & 0x55u;
    const uint32_t natural = arrived | turn_right(diagonal, 1) | turn_left(diagonal, 1);
    if (moves == 255) return natural;
    const uint32_t left = straight & ~turn_right(moves, 3), right = straight & ~turn_left(moves, 3);
    return moves &
           (natural | turn_left(left, 1) | turn_left(left, 2) | turn_right(right, 1) | turn_right(right, 2));
}

/* Expands what lies in a bucket, where all costs are alike. A copy of the lane, and counters of its own, let
 * the compiler keep them in registers. */
static void expand_bucket(Lane *outer, uint32_t bucket) {
    const Lane lane = *outer;
    uint32_t fresh = outer->fresh, reached = outer->reached, step[8];
    int32_t offset[8];
    const uint32_t slot = bucket & lane.mask;
    for (int d = 0; d < 8; d++) {
        step[d] = d % 2 ? lane.diagonal : lane.straight;
        offset[d] = phx_flow_dy[d] * PHX_SECTOR_SIDE + phx_flow_dx[d];
    }
    uint32_t entry = lane.straight_ring[slot];
    lane.straight_ring[slot] = 0;
    while (entry) {
        const uint32_t word = lane.pool[entry], at = word & 0xffffu, base = lane.sum[at];
        entry = word >> 16;
        if (base >> lane.shift != bucket) continue;
        lane.list[reached++] = (uint16_t)at;
        const uint32_t moves = lane.facts[at] >> PHX_FACT_MOVES & 255u;
        for (uint32_t set = successors(moves, lane.arrived[at]); set; set &= set - 1) {
            const unsigned d = phx_bit_lowest(set);
            const uint32_t to = at + (uint32_t)offset[d], sum = base + step[d];
            const uint32_t old = lane.sum[to];
            if (sum > old) continue;
            lane.arrived[to] = (uint8_t)((sum == old ? lane.arrived[to] : 0u) | 1u << d);
            lane.sum[to] = sum;
            /* a cell is in a bucket once */
            if (sum >> lane.shift != old >> lane.shift) push(&lane, lane.straight_ring, to, sum, 1, &fresh);
        }
    }
    outer->fresh = fresh;
    outer->reached = reached;
}

/* The wave enters a cell. Returns 1 where it is new; the list's next entry is overwritten anyway. */
PHX_FIELD_INLINE uint32_t enter(const Lane *lane, uint32_t to, uint32_t time, uint16_t *list) {
    const uint32_t old = lane->sum[to];
    lane->sum[to] = old > time ? time : old;
    *list = (uint16_t)to;
    return old == PHX_FIELD_UNREACHED;
}

/* The cell that a step leads to; the cell itself where it isn't allowed, which no event of its own changes.
 */
PHX_FIELD_INLINE uint32_t beside(uint32_t at, uint32_t moves, unsigned d, int32_t offset) {
    return at + ((uint32_t)offset & (0 - (moves >> d & 1))); /* no branch */
}

/* The time of an event; PHX_FIELD_UNREACHED where it would pass the limit. */
PHX_FIELD_INLINE uint32_t time_of(uint32_t sum, uint32_t step, bool careful) {
    return !careful || step <= UINT32_MAX - 1 - sum ? sum + step : PHX_FIELD_UNREACHED;
}

enum { SOUTH = PHX_SECTOR_SIDE };

/* Straight events of a bucket; they queue diagonal ones that would find something new. */
PHX_FIELD_INLINE uint32_t run_straight(const Lane *lane, uint32_t entry, uint32_t n, uint32_t *fresh,
                                       bool careful) {
    while (entry) {
        const uint32_t word = lane->pool[entry], at = word & 0xffffu, facts = lane->facts[at];
        const uint32_t cost = facts & 255u, moves = facts >> PHX_FACT_MOVES, sum = lane->sum[at];
        const uint32_t time = sum + cost * lane->straight; /* it was queued: no overflow */
        entry = word >> 16;
        n += enter(lane, beside(at, moves, 6, -SOUTH), time, lane->list + n);
        n += enter(lane, beside(at, moves, 4, -1), time, lane->list + n);
        n += enter(lane, beside(at, moves, 0, 1), time, lane->list + n);
        n += enter(lane, beside(at, moves, 2, SOUTH), time, lane->list + n);
        const uint32_t then = time_of(sum, cost * lane->diagonal, careful);
        const uint32_t later = (uint32_t)(lane->sum[beside(at, moves, 1, SOUTH + 1)] > then) |
                               (uint32_t)(lane->sum[beside(at, moves, 3, SOUTH - 1)] > then) |
                               (uint32_t)(lane->sum[beside(at, moves, 5, -SOUTH - 1)] > then) |
                               (uint32_t)(lane->sum[beside(at, moves, 7, -SOUTH + 1)] > then);
        push(lane, lane->diagonal_ring, at, then, later, fresh);
    }
    return n;
}

PHX_FIELD_INLINE uint32_t run_diagonal(const Lane *lane, uint32_t entry, uint32_t n) {
    while (entry) {
        const uint32_t word = lane->pool[entry], at = word & 0xffffu, facts = lane->facts[at];
        const uint32_t moves = facts >> PHX_FACT_MOVES;
        const uint32_t time = lane->sum[at] + (facts & 255u) * lane->diagonal;
        entry = word >> 16;
        n += enter(lane, beside(at, moves, 5, -SOUTH - 1), time, lane->list + n);
        n += enter(lane, beside(at, moves, 7, -SOUTH + 1), time, lane->list + n);
        n += enter(lane, beside(at, moves, 3, SOUTH - 1), time, lane->list + n);
        n += enter(lane, beside(at, moves, 1, SOUTH + 1), time, lane->list + n);
    }
    return n;
}

/* Takes a bucket's events, then queues the straight events of the cells reached in it: those of `list` from
 * outer->reached on, of which `n` are seeds. Diagonal events may fall into the bucket of the straight one. */
PHX_FIELD_INLINE void run_bucket(Lane *outer, uint32_t bucket, uint32_t n, bool careful) {
    const Lane lane = *outer;
    const uint32_t slot = bucket & lane.mask, first = lane.reached;
    uint32_t fresh = lane.fresh;
    uint32_t end = run_straight(&lane, lane.straight_ring[slot], first + n, &fresh, careful);
    lane.straight_ring[slot] = 0;
    end = run_diagonal(&lane, lane.diagonal_ring[slot], end);
    lane.diagonal_ring[slot] = 0;
    phx_bitset_remove(lane.occupied, slot);
    for (uint32_t i = first; i < end; i++) {
        const uint32_t at = lane.list[i];
        const uint32_t time = time_of(lane.sum[at], (lane.facts[at] & 255u) * lane.straight, careful);
        push(&lane, lane.straight_ring, at, time, !careful || time != PHX_FIELD_UNREACHED, &fresh);
    }
    outer->fresh = fresh;
    outer->reached = end;
}

static void run_bucket_plainly(Lane *lane, uint32_t bucket, uint32_t n) {
    run_bucket(lane, bucket, n, false);
}
static void run_bucket_carefully(Lane *lane, uint32_t bucket, uint32_t n) {
    run_bucket(lane, bucket, n, true);
}

/* Each cell's least seed, sorted by value, then cell. All sums are unreached, and are again behind it.
 * Returns their count. */
static uint32_t sort_seeds(PhxSectorWork *work, const PhxSectorSeed *seeds, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const PhxSectorSeed seed = seeds[i];
        PHX_ASSERT(seed.cell < PHX_SECTOR_CELLS, seed.cell, i);
        if (seed.value == PHX_FIELD_UNREACHED) continue;
        if (work->sum[seed.cell] == PHX_FIELD_UNREACHED) work->seeds[kept++] = seed.cell;
        if (seed.value < work->sum[seed.cell]) work->sum[seed.cell] = seed.value;
    }
    for (uint32_t i = 0; i < kept; i++) {
        const uint64_t cell = work->seeds[i];
        work->seeds[i] |= (uint64_t)work->sum[cell] << 16;
        work->sum[cell] = PHX_FIELD_UNREACHED;
    }
    if (kept > FEW) {
        sort_keys(work->seeds, kept);
        return kept;
    }
    for (uint32_t i = 1; i < kept; i++) {
        const uint64_t key = work->seeds[i];
        uint32_t at = i;
        for (; at > 0 && work->seeds[at - 1] > key; at--) work->seeds[at] = work->seeds[at - 1];
        work->seeds[at] = key;
    }
    return kept;
}

static Lane make_lane(PhxSectorWork *work, const PhxSectorGround *ground, PhxFieldWeights weights) {
    Lane lane = {.sum = work->sum,
                 .arrived = work->arrived,
                 .pool = work->pool,
                 .straight_ring = work->ring[0],
                 .diagonal_ring = work->ring[1],
                 .list = work->list,
                 .facts = ground->facts,
                 .occupied = work->occupied,
                 .straight = weights.straight,
                 .diagonal = weights.diagonal,
                 .fresh = 1};
    const uint32_t shortest = (uint32_t)weights.straight * ground->min_cost;
    const uint32_t longest = (uint32_t)weights.diagonal * ground->max_cost;
    while (shortest >> lane.shift > 1) lane.shift++;
    uint32_t ring = 64;
    while (ring < (longest >> lane.shift) + 2) ring *= 2;
    PHX_ASSERT(ring <= RING, ring, longest);
    lane.mask = ring - 1;
    memset(work->ring[0], 0, ring * sizeof *work->ring[0]);
    memset(work->ring[1], 0, ring * sizeof *work->ring[1]);
    memset(work->occupied, 0, ring / 8);
    return lane;
}

/* Whether a bucket is occupied, and the next one at or behind *bucket. */
static bool next_bucket(const Lane *lane, uint32_t *bucket) {
    const size_t ring = (size_t)lane->mask + 1, from = *bucket & lane->mask;
    size_t found = phx_bitset_next(lane->occupied, ring, from);
    if (found == ring) found = phx_bitset_next(lane->occupied, from, 0);
    if (!phx_bitset_get(lane->occupied, found)) return false;
    *bucket += (uint32_t)(found - from) & lane->mask;
    return true;
}

static inline uint32_t seed_value(uint64_t key) { return (uint32_t)(key >> 16); }

/* The bucket to be run next, which is that of the next seed if this isn't behind; false at the end. */
static bool choose_bucket(const Lane *lane, const uint64_t *seed, const uint64_t *end, uint32_t *bucket) {
    const bool more = next_bucket(lane, bucket);
    if (seed == end) return more;
    const uint32_t own = seed_value(*seed) >> lane->shift;
    if (!more || own < *bucket) *bucket = own;
    return true;
}

/* The front where all costs are alike and no sum can pass the limit. */
static void run_even(PhxSectorWork *work, Lane *lane, const uint64_t *seed, const uint64_t *end,
                     uint32_t cost) {
    lane->straight *= cost;
    lane->diagonal *= cost;
    for (uint32_t bucket = 0; choose_bucket(lane, seed, end, &bucket);) {
        for (; seed < end && seed_value(*seed) >> lane->shift == bucket; seed++) {
            const uint32_t cell = (uint32_t)*seed & 0xffffu, value = seed_value(*seed);
            if (value > work->sum[cell]) continue;
            if (work->sum[cell] >> lane->shift != bucket)
                push(lane, lane->straight_ring, cell, value, 1, &lane->fresh);
            work->sum[cell] = value;
            work->arrived[cell] = 255;
        }
        phx_bitset_remove(lane->occupied, bucket & lane->mask);
        expand_bucket(lane, bucket);
    }
}

static void run_wave(PhxSectorWork *work, Lane *lane, const uint64_t *seed, const uint64_t *end,
                     uint32_t longest) {
    for (uint32_t bucket = 0; choose_bucket(lane, seed, end, &bucket);) {
        uint32_t n = 0;
        for (; seed < end && seed_value(*seed) >> lane->shift == bucket; seed++)
            n += enter(lane, (uint32_t)*seed & 0xffffu, seed_value(*seed), work->list + lane->reached + n);
        /* the largest sum that this bucket can give */
        const uint64_t most = (((uint64_t)bucket + 1) << lane->shift) + longest;
        (most < PHX_FIELD_UNREACHED ? run_bucket_plainly : run_bucket_carefully)(lane, bucket, n);
    }
}

void phx_sector_front(PhxSectorWork *work, const PhxSectorGround *ground, PhxFieldWeights weights,
                      const PhxSectorSeed *seeds, uint32_t count) {
    memset(work->sum, 255, sizeof work->sum);
    work->reached = 0;
    const uint32_t kept = sort_seeds(work, seeds, count);
    if (!kept) return;
    Lane lane = make_lane(work, ground, weights);
    const uint32_t longest = (uint32_t)weights.diagonal * ground->max_cost;
    const uint64_t farthest = seed_value(work->seeds[kept - 1]) + (uint64_t)longest * (PHX_SECTOR_CELLS + 1);
    if (ground->min_cost == ground->max_cost && farthest < PHX_FIELD_UNREACHED)
        run_even(work, &lane, work->seeds, work->seeds + kept, ground->min_cost);
    else
        run_wave(work, &lane, work->seeds, work->seeds + kept, longest);
    work->reached = lane.reached;
    memcpy(work->order, work->list, work->reached * sizeof *work->order);
}
