/* field_front.c: second stage of a field: exact sums, by Dijkstra's algorithm with a monotone bucket queue.
 *
 * In: allowed steps, costs, goals. Out: for each cell the least sum to a goal.
 *
 * Queue: a ring of buckets (Dial, Algorithm 360: Shortest-Path Forest with Topological Ordering, 1969). A
 * bucket is as wide as the largest power of two that no step is shorter than; so a step leads out of its
 * bucket, every sum in the current bucket is final, and their order in it doesn't matter (Denardo, Fox:
 * Shortest-Route Methods: 1. Reaching, Pruning, and Buckets, 1979). That keeps the ring at 1024 buckets or
 * fewer for any weights and costs. A bucket is a list of chunks from a pool. A cell whose sum fell to an
 * earlier bucket stays behind in the later one and is skipped there; should such remains fill the pool, the
 * queue is built again from the sums (requeue), which costs a pass over the map and can't happen often.
 *
 * Pruning: where c is plain (its passable neighbours E, S, W, N cost the same as c), a step from c need not
 * be tried if a way as good leads around c (Harabor, Grastien: Online Graph Pruning for Pathfinding on Grid
 * Maps, 2011, in the form without corner cutting). For a way p, c, n with c in the middle (the search runs
 * from the goal outwards, so a step costs its weight times the cost of the cell that it leaves):
 *
 * - p, c diagonal: only straight on and the two directions beside are kept. Both cells beside the step p, c
 *   are open and cost what c costs; so to any other n straight steps over them are no longer, whatever p
 * costs.
 *
 * - p, c straight: only straight on, and, where the step from c diagonally back beside p isn't allowed
 * (wall), the cells on that side beside and ahead. Else p, which costs what c costs, reaches n by a diagonal
 * step to the cell beside c, which costs that too, and if need be a straight one.
 *
 * Each replacement is no longer, and lowers (sum, number of steps, number of diagonals, how late the
 * diagonals come) in this order; that holds for straight <= diagonal <= 2 * straight. So it ends at a best
 * way of which no step is pruned, and the sums are exact. A cell keeps the set of all directions in which
 * best ways enter it, so that a tie never loses a successor. In the open, a cell is then looked at once
 * instead of eight times.
 *
 * Cost: linear in the cells plus sum / bucket width looks at the occupancy set.
 *
 * Determinism: a sum is the least over all ways, which no order of work can change. A sum above
 * UINT32_MAX - 1 is left out and noted; a cell that is then unreached beside a reached one tells that it was
 * needed.
 */
#include "nav/field_work.h"

#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"

enum {
    PLAIN = 255 << PHX_FACT_PLAIN,
    FREE = PLAIN | 255 << PHX_FACT_MOVES /* plain, and no wall in the 3x3 around */
};

/* What the inner loop needs, in a form that the compiler may keep in registers: none of it changes in a
 * bucket. */
typedef struct Lane {
    PhxFieldWork *work;
    PhxFieldCell *cell;
    uint32_t *pool, *buckets;
    uint32_t shift, mask;
    int32_t offset[8];
    uint32_t weight[8];
} Lane;

/* Bits rotated towards higher directions (right turns) and lower ones. */
static inline uint32_t turn_right(uint32_t set, unsigned n) { return (set << n | set >> (8 - n)) & 255u; }
static inline uint32_t turn_left(uint32_t set, unsigned n) { return (set >> n | set << (8 - n)) & 255u; }

/* The steps worth trying from a cell. */
static inline uint32_t successors(uint32_t facts) {
    const uint32_t arrived = facts >> PHX_FACT_ARRIVED, moves = facts >> PHX_FACT_MOVES & 255u;
    const uint32_t diagonal = arrived & 0xaau;
    const uint32_t natural = arrived | turn_right(diagonal, 1) | turn_left(diagonal, 1);
    if (!(~facts & FREE)) return natural;
    if (!(facts & PLAIN)) return moves;
    const uint32_t straight = arrived & 0x55u;
    const uint32_t left = straight & ~turn_right(moves, 3), right = straight & ~turn_left(moves, 3);
    return moves &
           (natural | turn_left(left, 1) | turn_left(left, 2) | turn_right(right, 1) | turn_right(right, 2));
}

static void requeue(const Lane *lane);

/* A chunk whose first word is `older`; 0 if the pool is empty. Chunk 0 isn't used. */
static uint32_t take_chunk(PhxFieldWork *work, uint32_t older) {
    uint32_t chunk = work->freed;
    if (chunk) {
        work->freed = work->pool[(size_t)chunk * PHX_FRONT_CHUNK];
    } else {
        if (work->fresh == work->pool_chunks) return 0;
        chunk = work->fresh++;
    }
    work->pool[(size_t)chunk * PHX_FRONT_CHUNK] = older;
    return chunk;
}

static void give_chunk(PhxFieldWork *work, uint32_t chunk) {
    work->pool[(size_t)chunk * PHX_FRONT_CHUNK] = work->freed;
    work->freed = chunk;
}

/* The first cell of a bucket, or one more than its newest chunk holds. */
static void push_chunk(const Lane *lane, uint32_t cell, uint32_t slot) {
    PhxFieldWork *work = lane->work;
    const uint32_t at = work->buckets[slot];
    const uint32_t chunk = take_chunk(work, at ? at / PHX_FRONT_CHUNK - 1 : 0);
    if (!chunk) {
        PHX_ASSERT(!work->requeuing, work->pool_chunks, work->cells);
        requeue(lane); /* takes up this cell too, whose sum stands already */
        return;
    }
    phx_bitset_add(work->occupied, slot);
    work->pool[(size_t)chunk * PHX_FRONT_CHUNK + 1] = cell;
    work->buckets[slot] = chunk * PHX_FRONT_CHUNK + 2;
}

static inline void push(const Lane *lane, uint32_t cell, uint32_t bucket) {
    const uint32_t slot = bucket & lane->mask;
    const uint32_t at = lane->buckets[slot];
    if (PHX_UNLIKELY(at % PHX_FRONT_CHUNK == 0)) {
        push_chunk(lane, cell, slot);
    } else {
        lane->pool[at] = cell;
        lane->buckets[slot] = at + 1;
    }
}

/* Empties all buckets but the one in work, and fills them again from the sums. At most one entry a cell is
 * then in the queue (those of the bucket in work aren't taken up), so that the pool suffices. */
static void requeue(const Lane *lane) {
    PhxFieldWork *work = lane->work;
    work->requeues++;
    work->requeuing = true;
    for (uint32_t slot = 0; slot <= work->ring_mask; slot++) {
        uint32_t chunk = work->buckets[slot] ? (work->buckets[slot] - 1) / PHX_FRONT_CHUNK : 0;
        while (chunk) {
            const uint32_t older = work->pool[(size_t)chunk * PHX_FRONT_CHUNK];
            give_chunk(work, chunk);
            chunk = older;
        }
        work->buckets[slot] = 0;
    }
    memset(work->occupied, 0, PHX_FRONT_MAX_RING / 8);
    for (uint32_t i = 0; i < work->cells; i++) {
        const uint32_t dist = work->cell[i].dist;
        if (dist != PHX_FIELD_UNREACHED && dist >> work->shift > work->bucket)
            push(lane, i, dist >> work->shift);
    }
    work->requeuing = false;
}

/* Tries the steps from a cell. `careful`: sums may pass the limit here. */
static inline void expand(const Lane *lane, uint32_t at, bool careful) {
    const uint32_t base = lane->cell[at].dist, facts = lane->cell[at].facts, cost = facts & 255u;
    for (uint32_t set = successors(facts); set; set &= set - 1) {
        const unsigned d = phx_bit_lowest(set);
        const uint32_t to = at + (uint32_t)lane->offset[d], step = cost * lane->weight[d], sum = base + step;
        if (careful && step > UINT32_MAX - 1 - base) {
            lane->work->overflow = true;
            continue;
        }
        PhxFieldCell *next = &lane->cell[to];
        const uint32_t old = next->dist, entered = (uint32_t)1 << PHX_FACT_ARRIVED << d;
        if (sum > old) continue;
        const uint32_t kept = sum == old ? UINT32_MAX : ((uint32_t)1 << PHX_FACT_ARRIVED) - 1;
        next->facts = (next->facts & kept) | entered;
        next->dist = sum;
        /* a cell is in a bucket once; unreached cells are in none, though their mark has the number of the
         * last */
        if (sum >> lane->shift != old >> lane->shift || (careful && old == PHX_FIELD_UNREACHED))
            push(lane, to, sum >> lane->shift);
    }
}

/* Expands what lies in the bucket in work. */
static inline void empty_bucket(const Lane *lane, bool careful) {
    PhxFieldWork *work = lane->work;
    const uint32_t bucket = work->bucket, slot = bucket & lane->mask;
    uint32_t end = lane->buckets[slot];
    lane->buckets[slot] = 0;
    phx_bitset_remove(work->occupied, slot);
    while (end) {
        const uint32_t chunk = (end - 1) / PHX_FRONT_CHUNK;
        for (uint32_t i = chunk * PHX_FRONT_CHUNK + 1; i < end; i++) {
            const uint32_t at = lane->pool[i];
            if (lane->cell[at].dist >> lane->shift == bucket) expand(lane, at, careful);
        }
        const uint32_t older = lane->pool[(size_t)chunk * PHX_FRONT_CHUNK];
        give_chunk(work, chunk);
        end = older ? (older + 1) * PHX_FRONT_CHUNK : 0;
    }
}

/* Moves on to the next bucket that isn't empty; false at the end. */
static bool next_bucket(PhxFieldWork *work) {
    const size_t ring = (size_t)work->ring_mask + 1, from = work->bucket & work->ring_mask;
    size_t found = phx_bitset_next(work->occupied, ring, from);
    if (found == ring) found = phx_bitset_next(work->occupied, from, 0);
    if (!phx_bitset_get(work->occupied, found)) return false;
    work->bucket += (uint32_t)(found - from) & work->ring_mask;
    return true;
}

static void prepare_queue(PhxFieldWork *work) {
    const uint32_t shortest = work->straight * work->min_cost, longest = work->diagonal * work->max_cost;
    work->shift = 0;
    while (shortest >> work->shift > 1) work->shift++;
    uint32_t ring = PHX_FRONT_MIN_RING;
    while (ring < (longest >> work->shift) + 2) ring *= 2;
    PHX_ASSERT(ring <= PHX_FRONT_MAX_RING, ring, longest);
    work->ring_mask = ring - 1;
    work->bucket = work->requeues = work->freed = 0;
    work->fresh = 1;
    work->overflow = work->requeuing = false;
    memset(work->buckets, 0, PHX_FRONT_MAX_RING * sizeof *work->buckets);
    memset(work->occupied, 0, PHX_FRONT_MAX_RING / 8);
}

static void empty_bucket_plainly(const Lane *outer) {
    const Lane lane = *outer;
    empty_bucket(&lane, false);
}

static void empty_bucket_carefully(const Lane *lane) { empty_bucket(lane, true); }

static Lane make_lane(PhxFieldWork *work) {
    Lane lane = {.work = work, .cell = work->cell, .pool = work->pool, .buckets = work->buckets};
    lane.shift = work->shift;
    lane.mask = work->ring_mask;
    phx_field_work_offsets(work, lane.offset);
    for (int d = 0; d < 8; d++) lane.weight[d] = d % 2 ? work->diagonal : work->straight;
    return lane;
}

void phx_field_run_front(PhxFieldWork *work, const uint32_t *goals, uint32_t goal_count) {
    prepare_queue(work);
    const Lane lane = make_lane(work);
    for (uint32_t i = 0; i < goal_count; i++) {
        const uint32_t at = phx_field_work_cell(work, goals[i]);
        PhxFieldCell *goal = &work->cell[at];
        if (goal->dist == 0) continue;
        goal->dist = 0;
        goal->facts |= (uint32_t)255 << PHX_FACT_ARRIVED;
        push(&lane, at, 0);
    }
    const uint32_t longest = work->diagonal * work->max_cost;
    while (next_bucket(work)) {
        /* the largest sum that this bucket can give */
        const uint64_t most = (((uint64_t)work->bucket + 1) << work->shift) + longest;
        if (most >> work->shift < PHX_FIELD_UNREACHED >> work->shift)
            empty_bucket_plainly(&lane);
        else
            empty_bucket_carefully(&lane);
    }
}
