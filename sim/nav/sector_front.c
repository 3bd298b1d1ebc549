/* sector_front.c: the exact front inside one sector, from weighted seeds.
 *
 * In: the ground of a sector, weights, seeds. Out: for each cell the least sum of a seed's value and the way
 * there, and the reached cells in an order in which each comes behind its best parent.
 *
 * Queue and pruning are those of the whole-map front (field_front.c has sources and proofs): a ring of
 * buckets as wide as the largest power of two that no step is shorter than, and fewer directions tried where
 * a cell is plain. Three things differ. Sums lie in an array without border, as no allowed step leaves the
 * sector. A bucket is a linked list: a cell enters one at most once for each neighbour, so that a pool of
 * fixed size never runs out. Seeds may differ by more than the ring spans: they wait in a sorted list, and
 * each enters its bucket when that bucket's turn comes.
 *
 * Cost: 4 to 10 ns a reached cell; everything stays in the cache of the second level.
 *
 * Determinism: a sum is the least over all ways. The order in a bucket follows from ground, weights and the
 * sorted seeds.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "base/sort.h"
#include "nav/field_work.h"
#include "nav/sector.h"

enum {
    PLAIN = 255 << PHX_FACT_PLAIN,
    FREE = PLAIN | 255 << PHX_FACT_MOVES, /* plain, and no wall in the 3x3 around */
    FEW = 24                              /* seeds that are sorted by insertion */
};

/* What the inner loop needs, in a form that the compiler may keep in registers. */
typedef struct Lane {
    uint32_t *sum;
    uint8_t *arrived;
    uint32_t *pool;
    uint16_t *buckets, *order;
    const uint32_t *facts;
    uint64_t *occupied;
    uint32_t shift, mask;
    int32_t offset[8];
    uint32_t weight[8];
    uint32_t fresh, reached; /* next entry of the pool; length of `order` */
} Lane;

static inline bool key_less(const uint64_t *a, const uint64_t *b) { return *a < *b; }
PHX_DEFINE_SORT(sort_keys, uint64_t, key_less)

/* Bits rotated towards higher directions (right turns) and lower ones. */
static inline uint32_t turn_right(uint32_t set, unsigned n) { return (set << n | set >> (8 - n)) & 255u; }
static inline uint32_t turn_left(uint32_t set, unsigned n) { return (set >> n | set << (8 - n)) & 255u; }

/* The steps worth trying from a cell; field_front.c says why. */
static inline uint32_t successors(uint32_t facts, uint32_t arrived) {
    const uint32_t moves = facts >> PHX_FACT_MOVES & 255u, diagonal = arrived & 0xaau;
    const uint32_t natural = arrived | turn_right(diagonal, 1) | turn_left(diagonal, 1);
    if (!(~facts & FREE)) return natural;
    if (!(facts & PLAIN)) return moves;
    const uint32_t straight = arrived & 0x55u;
    const uint32_t left = straight & ~turn_right(moves, 3), right = straight & ~turn_left(moves, 3);
    return moves &
           (natural | turn_left(left, 1) | turn_left(left, 2) | turn_right(right, 1) | turn_right(right, 2));
}

/* An entry is a cell and the entry behind it in its bucket, 16 bits each. Entry 0 isn't used. */
static inline void push(Lane *lane, uint32_t cell, uint32_t bucket) {
    const uint32_t slot = bucket & lane->mask, older = lane->buckets[slot];
    if (!older) phx_bitset_add(lane->occupied, slot);
    lane->pool[lane->fresh] = cell | older << 16;
    lane->buckets[slot] = (uint16_t)lane->fresh++;
}

/* Tries the steps from a cell. `careful`: sums may pass the limit here. */
static inline void expand(Lane *lane, uint32_t at, bool careful) {
    const uint32_t base = lane->sum[at], facts = lane->facts[at], cost = facts & 255u;
    for (uint32_t set = successors(facts, lane->arrived[at]); set; set &= set - 1) {
        const unsigned d = phx_bit_lowest(set);
        const uint32_t to = at + (uint32_t)lane->offset[d], step = cost * lane->weight[d], sum = base + step;
        if (careful && step > UINT32_MAX - 1 - base) continue;
        const uint32_t old = lane->sum[to];
        if (sum > old) continue;
        lane->arrived[to] = (uint8_t)((sum == old ? lane->arrived[to] : 0u) | 1u << d);
        lane->sum[to] = sum;
        /* a cell is in a bucket once; unreached cells are in none, though their mark has the number of the
         * last */
        if (sum >> lane->shift != old >> lane->shift || (careful && old == PHX_FIELD_UNREACHED))
            push(lane, to, sum >> lane->shift);
    }
}

static inline void empty_bucket(Lane *lane, uint32_t bucket, bool careful) {
    const uint32_t slot = bucket & lane->mask;
    uint32_t entry = lane->buckets[slot];
    lane->buckets[slot] = 0;
    phx_bitset_remove(lane->occupied, slot);
    while (entry) {
        const uint32_t word = lane->pool[entry], at = word & 0xffffu;
        entry = word >> 16;
        if (lane->sum[at] >> lane->shift != bucket) continue;
        lane->order[lane->reached++] = (uint16_t)at;
        expand(lane, at, careful);
    }
}

/* Copies of the lane let the compiler see that no store changes it. */
static void empty_bucket_plainly(Lane *outer, uint32_t bucket) {
    Lane lane = *outer;
    empty_bucket(&lane, bucket, false);
    outer->fresh = lane.fresh;
    outer->reached = lane.reached;
}
static void empty_bucket_carefully(Lane *lane, uint32_t bucket) { empty_bucket(lane, bucket, true); }

/* Each cell's least seed, sorted by value, then cell; sets their sums. Returns their count. */
static uint32_t sort_seeds(PhxSectorWork *work, const PhxSectorSeed *seeds, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const PhxSectorSeed seed = seeds[i];
        PHX_ASSERT(seed.cell < PHX_SECTOR_CELLS, seed.cell, i);
        if (seed.value == PHX_FIELD_UNREACHED) continue;
        if (work->sum[seed.cell] == PHX_FIELD_UNREACHED) work->seeds[kept++] = seed.cell;
        if (seed.value < work->sum[seed.cell]) work->sum[seed.cell] = seed.value;
        work->arrived[seed.cell] = 255;
    }
    for (uint32_t i = 0; i < kept; i++) work->seeds[i] |= (uint64_t)work->sum[work->seeds[i]] << 16;
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
                 .buckets = work->buckets,
                 .order = work->order,
                 .facts = ground->facts,
                 .occupied = work->occupied,
                 .fresh = 1};
    const uint32_t shortest = (uint32_t)weights.straight * ground->min_cost;
    const uint32_t longest = (uint32_t)weights.diagonal * ground->max_cost;
    while (shortest >> lane.shift > 1) lane.shift++;
    uint32_t ring = PHX_FRONT_MIN_RING;
    while (ring < (longest >> lane.shift) + 2) ring *= 2;
    PHX_ASSERT(ring <= PHX_FRONT_MAX_RING, ring, longest);
    lane.mask = ring - 1;
    for (int d = 0; d < 8; d++) {
        lane.offset[d] = phx_flow_dy[d] * PHX_SECTOR_SIDE + phx_flow_dx[d];
        lane.weight[d] = d % 2 ? weights.diagonal : weights.straight;
    }
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

void phx_sector_front(PhxSectorWork *work, const PhxSectorGround *ground, PhxFieldWeights weights,
                      const PhxSectorSeed *seeds, uint32_t count) {
    memset(work->sum, 255, sizeof work->sum);
    work->reached = 0;
    const uint32_t kept = sort_seeds(work, seeds, count);
    if (!kept) return;
    Lane lane = make_lane(work, ground, weights);
    memset(work->buckets, 0, (lane.mask + 1) * sizeof *work->buckets);
    memset(work->occupied, 0, sizeof work->occupied);
    const uint32_t longest = (uint32_t)weights.diagonal * ground->max_cost;
    uint32_t next = 0, bucket = 0;
    while (true) {
        uint32_t found = bucket;
        const bool more = next_bucket(&lane, &found);
        if (!more && next == kept) break;
        if (next < kept && (!more || work->seeds[next] >> 16 >> lane.shift <= found)) {
            found = (uint32_t)(work->seeds[next] >> 16) >> lane.shift;
            for (; next < kept && (uint32_t)(work->seeds[next] >> 16) >> lane.shift == found; next++) {
                const uint32_t cell = (uint32_t)work->seeds[next] & 0xffffu;
                if (work->sum[cell] >> lane.shift == found) push(&lane, cell, found);
            }
        }
        bucket = found;
        /* the largest sum that this bucket can give */
        const uint64_t most = (((uint64_t)bucket + 1) << lane.shift) + longest;
        if (most >> lane.shift < PHX_FIELD_UNREACHED >> lane.shift)
            empty_bucket_plainly(&lane, bucket);
        else
            empty_bucket_carefully(&lane, bucket);
    }
    work->reached = lane.reached;
}
