/* field_front.c: second stage of a field whose passable cells cost all the same: exact sums, by Dijkstra's
 * algorithm with pruning and a monotone bucket queue. Other costs: field_wave.c.
 *
 * In: allowed steps, the cost, goals. Out: for each cell the least sum to a goal.
 *
 * Queue: a ring of buckets (Dial, Algorithm 360: Shortest-Path Forest with Topological Ordering, 1969). A
 * bucket is as wide as the largest power of two that no step is shorter than; so a step leads out of its
 * bucket, every sum in the current bucket is final, and their order in it doesn't matter (Denardo, Fox:
 * Shortest-Route Methods: 1. Reaching, Pruning, and Buckets, 1979). A bucket is a list of chunks from a pool.
 * A cell whose sum fell to an earlier bucket stays behind in the later one and is skipped there; should such
 * remains fill the pool, the queue is built again from the sums (requeue), which costs a pass over the map
 * and can't happen often.
 *
 * Pruning: a step from c need not be tried if a way as good leads around c (Harabor, Grastien: Online Graph
 * Pruning for Pathfinding on Grid Maps, 2011, in the form without corner cutting). For a way p, c, n with c
 * in the middle:
 *
 * - p, c diagonal: only straight on and the two directions beside are kept. Both cells beside the step p, c
 *   are open; so to any other n straight steps over them are no longer.
 *
 * - p, c straight: only straight on, and, where the step from c diagonally back beside p isn't allowed
 *   (wall), the cells on that side beside and ahead. Else p reaches n by a diagonal step to the cell beside
 *   c, and if need be a straight one. Where there are no diagonal steps at all, only the step back is left
 *   out.
 *
 * Each replacement is no longer, and lowers (sum, number of steps, number of diagonals, how late the
 * diagonals come) in this order; that holds for straight <= diagonal <= 2 * straight. So it ends at a best
 * way of which no step is pruned, and the sums are exact. A cell keeps the set of all directions in which
 * best ways enter it, so that a tie never loses a successor. In the open, a cell is then looked at once
 * instead of eight times.
 *
 * Cost: linear in the cells plus sum / bucket width looks at the occupancy set. What a large map costs is
 * waiting for memory, so the lines that the front will come to next are asked for in advance.
 *
 * Determinism: a sum is the least over all ways, which no order of work can change. A sum above
 * UINT32_MAX - 1 is left out and noted; a cell that is then unreached beside a reached one tells that it was
 * needed.
 */
#include "nav/field_queue.h"

enum {
    FREE = 255 << PHX_FACT_MOVES, /* no wall in the 3x3 around */
    AHEAD = 16                    /* steps: how far memory is asked for in advance; cells in a line of it */
};

/* What the inner loop needs, in a form that the compiler may keep in registers: none of it changes in a
 * bucket. */
typedef struct Lane {
    PhxFieldWork *work;
    uint32_t *dist;
    uint16_t *facts;
    uint32_t *pool, *buckets;
    uint32_t shift, mask;
    uint32_t cells;
    int32_t offset[8];
    uint32_t step[8]; /* what a step costs */
} Lane;

/* Bits rotated towards higher directions (right turns) and lower ones. */
static inline uint32_t turn_right(uint32_t set, unsigned n) { return (set << n | set >> (8 - n)) & 255u; }
static inline uint32_t turn_left(uint32_t set, unsigned n) { return (set >> n | set << (8 - n)) & 255u; }

/* The steps worth trying from a cell. */
static inline uint32_t successors(uint32_t facts) {
    const uint32_t arrived = facts & 255u, moves = facts >> PHX_FACT_MOVES;
    const uint32_t diagonal = arrived & 0xaau;
    const uint32_t natural = arrived | turn_right(diagonal, 1) | turn_left(diagonal, 1);
    if (!(~facts & FREE)) return natural;
    const uint32_t straight = arrived & 0x55u;
    const uint32_t left = straight & ~turn_right(moves, 3), right = straight & ~turn_left(moves, 3);
    return moves &
           (natural | turn_left(left, 1) | turn_left(left, 2) | turn_right(right, 1) | turn_right(right, 2));
}

static void requeue(const Lane *lane);

/* The first cell of a bucket, or one more than its newest chunk holds. */
static void push_chunk(const Lane *lane, uint32_t cell, uint32_t slot) {
    PhxFieldWork *work = lane->work;
    if (phx_field_push_chunk(work, &work->buckets[slot], cell)) {
        phx_bitset_add(work->occupied, slot);
        return;
    }
    if (work->requeuing)
        work->full = true;
    else
        requeue(lane); /* takes up this cell too, whose sum stands already */
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
            phx_field_give_chunk(work, chunk);
            chunk = older;
        }
        work->buckets[slot] = 0;
    }
    memset(work->occupied, 0, PHX_FRONT_MAX_RING / 8);
    for (uint32_t i = 0; i < work->cells; i++) {
        const uint32_t dist = work->dist[i];
        if (dist != PHX_FIELD_UNREACHED && dist >> work->shift > work->bucket)
            push(lane, i, dist >> work->shift);
    }
    work->requeuing = false;
}

static inline void look_ahead(const Lane *lane, uint32_t at, int32_t offset) {
    const uint32_t ahead = at + (uint32_t)offset * AHEAD, known = ahead < lane->cells ? ahead : at;
    PHX_FIELD_AHEAD(lane->dist + known);
    PHX_FIELD_AHEAD(lane->facts + known);
}

/* Tries the steps from a cell. `careful`: sums may pass the limit here. */
static inline void expand(const Lane *lane, uint32_t at, bool careful) {
    const uint32_t base = lane->dist[at];
    for (uint32_t set = successors(lane->facts[at]); set; set &= set - 1) {
        const unsigned d = phx_bit_lowest(set);
        const uint32_t to = at + (uint32_t)lane->offset[d], sum = base + lane->step[d];
        if (careful && lane->step[d] > UINT32_MAX - 1 - base) {
            lane->work->overflow = true;
            continue;
        }
        const uint32_t old = lane->dist[to];
        if (sum > old) continue;
        const uint32_t kept = sum == old ? UINT32_MAX : ~(uint32_t)255;
        lane->facts[to] = (uint16_t)((lane->facts[to] & kept) | (uint32_t)1 << d);
        lane->dist[to] = sum;
        if (to % AHEAD == 0) look_ahead(lane, to, lane->offset[d]);
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
            if (lane->dist[at] >> lane->shift == bucket) expand(lane, at, careful);
        }
        const uint32_t older = lane->pool[(size_t)chunk * PHX_FRONT_CHUNK];
        phx_field_give_chunk(work, chunk);
        end = older ? (older + 1) * PHX_FRONT_CHUNK : 0;
    }
}

static void empty_bucket_plainly(const Lane *outer) {
    const Lane lane = *outer;
    empty_bucket(&lane, false);
}

static void empty_bucket_carefully(const Lane *lane) { empty_bucket(lane, true); }

static Lane make_lane(PhxFieldWork *work) {
    Lane lane = {
        .work = work, .dist = work->dist, .facts = work->facts, .pool = work->pool, .buckets = work->buckets};
    lane.cells = work->cells;
    lane.shift = work->shift;
    lane.mask = work->ring_mask;
    phx_field_work_offsets(work, lane.offset);
    for (int d = 0; d < 8; d++) lane.step[d] = (d % 2 ? work->diagonal : work->straight) * work->max_cost;
    return lane;
}

void phx_field_run_front(PhxFieldWork *work, const uint32_t *goals, uint32_t goal_count) {
    phx_field_prepare_queue(work);
    const Lane lane = make_lane(work);
    for (uint32_t i = 0; i < goal_count; i++) {
        const uint32_t at = phx_field_work_cell(work, goals[i]);
        if (work->dist[at] == 0) continue;
        work->dist[at] = 0;
        work->facts[at] |= 255u;
        push(&lane, at, 0);
    }
    while (phx_field_next_bucket(work)) {
        if (phx_field_is_safe(work))
            empty_bucket_plainly(&lane);
        else
            empty_bucket_carefully(&lane);
    }
}
