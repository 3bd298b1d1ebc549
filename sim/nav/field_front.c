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
 * Pruning: where all passable cells around c cost the same, a step from c need not be tried if a way as good
 * leads around c (Harabor, Grastien: Online Graph Pruning for Pathfinding on Grid Maps, 2011, in the form
 * without corner cutting). For a way p, c, n with c in the middle:
 *   - p, c diagonal: only straight on and the two directions beside are kept: to any other n a way along the
 * ring is as short, since p, c being allowed has both cells beside it open;
 *   - p, c straight: only straight on, and, where the step from c diagonally back beside p isn't allowed
 * (wall), the cells on that side beside and ahead: else p reaches n by (diagonal) or (diagonal, straight).
 * Each replacement is no longer, and lowers (sum, number of steps, number of diagonals, how late the
 * diagonals come) in this order; that holds for straight <= diagonal <= 2 * straight. So it ends at a best
 * way of which no step is pruned, and the sums are exact. A cell keeps the set of all directions in which
 * best ways enter it, so that a tie never loses a successor. In the open, a cell is then looked at once
 * instead of eight times.
 *
 * Cost: linear in the cells plus sum / bucket width looks at the occupancy set.
 * Determinism: a sum is the least over all ways, which no order of work can change. A sum above UINT32_MAX -
 * 1 is left out and noted; a cell that is then unreached beside a reached one tells that it was needed.
 */
#include "nav/field_work.h"

#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"

/* Bits rotated towards higher directions (right turns) and lower ones. */
static inline uint32_t turn_right(uint32_t set, unsigned n) { return (set << n | set >> (8 - n)) & 255u; }
static inline uint32_t turn_left(uint32_t set, unsigned n) { return (set >> n | set << (8 - n)) & 255u; }

/* The steps worth trying from a cell entered in the directions `arrived`. */
static inline uint32_t successors(uint32_t arrived, uint32_t moves, uint32_t plain) {
    const uint32_t diagonal = arrived & 0xaau, straight = arrived & 0x55u;
    const uint32_t forced_left = straight & ~turn_right(moves, 3),
                   forced_right = straight & ~turn_left(moves, 3);
    const uint32_t natural = arrived | turn_right(diagonal, 1) | turn_left(diagonal, 1) |
                             turn_left(forced_left, 1) | turn_left(forced_left, 2) |
                             turn_right(forced_right, 1) | turn_right(forced_right, 2);
    return moves & (natural | (plain ^ 255u));
}

static void requeue(PhxFieldWork *work);

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
static void push_chunk(PhxFieldWork *work, uint32_t cell, uint32_t slot) {
    const uint32_t at = work->buckets[slot];
    const uint32_t chunk = take_chunk(work, at ? at / PHX_FRONT_CHUNK - 1 : 0);
    if (!chunk) {
        requeue(work); /* takes up this cell too, whose sum stands already */
        return;
    }
    phx_bitset_add(work->occupied, slot);
    work->pool[(size_t)chunk * PHX_FRONT_CHUNK + 1] = cell;
    work->buckets[slot] = chunk * PHX_FRONT_CHUNK + 2;
}

static inline void push(PhxFieldWork *work, uint32_t cell, uint32_t bucket) {
    const uint32_t slot = bucket & work->ring_mask;
    const uint32_t at = work->buckets[slot];
    if (PHX_UNLIKELY(at % PHX_FRONT_CHUNK == 0)) {
        push_chunk(work, cell, slot);
    } else {
        work->pool[at] = cell;
        work->buckets[slot] = at + 1;
    }
}

/* Empties all buckets but the one in work, and fills them again from the sums. At most one entry a cell is
 * then in the queue (those of the bucket in work aren't taken up), so that the pool suffices. */
static void requeue(PhxFieldWork *work) {
    work->requeues++;
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
    for (uint32_t cell = 0; cell < work->cells; cell++)
        if (work->dist[cell] != PHX_FIELD_UNREACHED && work->dist[cell] >> work->shift > work->bucket)
            push(work, cell, work->dist[cell] >> work->shift);
}

/* `careful`: sums may pass the limit here. */
static inline void expand(PhxFieldWork *work, const int32_t offset[8], uint32_t cell, bool careful) {
    uint32_t *const dist = work->dist;
    const uint32_t base = dist[cell], cost = work->cost[cell];
    const uint32_t step[2] = {work->straight * cost, work->diagonal * cost};
    uint32_t set = successors(work->arrived[cell], work->moves[cell], work->plain[cell]);
    for (; set; set &= set - 1) {
        const unsigned d = phx_bit_lowest(set);
        const uint32_t next = cell + (uint32_t)offset[d], old = dist[next];
        if (careful && step[d & 1] > UINT32_MAX - 1 - base) {
            work->overflow = true;
            continue;
        }
        const uint32_t sum = base + step[d & 1];
        if (sum > old) continue;
        work->arrived[next] = (uint8_t)((sum == old ? work->arrived[next] : 0u) | 1u << d);
        dist[next] = sum;
        /* a cell is in a bucket once; unreached cells are in none, though their mark has the number of the
         * last */
        if (sum >> work->shift != old >> work->shift || (careful && old == PHX_FIELD_UNREACHED))
            push(work, next, sum >> work->shift);
    }
}

/* Expands what lies in the bucket in work. */
static inline void empty_bucket(PhxFieldWork *work, const int32_t offset[8], bool careful) {
    const uint32_t slot = work->bucket & work->ring_mask, shift = work->shift, bucket = work->bucket;
    uint32_t end = work->buckets[slot];
    work->buckets[slot] = 0;
    phx_bitset_remove(work->occupied, slot);
    while (end) {
        const uint32_t chunk = (end - 1) / PHX_FRONT_CHUNK;
        for (uint32_t i = chunk * PHX_FRONT_CHUNK + 1; i < end; i++) {
            const uint32_t cell = work->pool[i];
            if (work->dist[cell] >> shift == bucket) expand(work, offset, cell, careful);
        }
        const uint32_t older = work->pool[(size_t)chunk * PHX_FRONT_CHUNK];
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
    work->overflow = false;
    memset(work->buckets, 0, PHX_FRONT_MAX_RING * sizeof *work->buckets);
    memset(work->occupied, 0, PHX_FRONT_MAX_RING / 8);
}

void phx_field_run_front(PhxFieldWork *work, const uint32_t *goals, uint32_t goal_count) {
    int32_t offset[8];
    phx_field_work_offsets(work, offset);
    prepare_queue(work);
    memset(work->dist, 255, work->cells * sizeof *work->dist);
    for (uint32_t i = 0; i < goal_count; i++) {
        const uint32_t cell = phx_field_work_cell(work, goals[i]);
        if (work->dist[cell] == 0) continue;
        work->dist[cell] = 0;
        work->arrived[cell] = 255;
        push(work, cell, 0);
    }
    const uint32_t longest = work->diagonal * work->max_cost;
    while (next_bucket(work)) {
        /* the largest sum that this bucket can give */
        const uint64_t most = (((uint64_t)work->bucket + 1) << work->shift) + longest;
        if (most >> work->shift < PHX_FIELD_UNREACHED >> work->shift)
            empty_bucket(work, offset, false);
        else
            empty_bucket(work, offset, true);
    }
}
