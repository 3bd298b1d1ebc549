/* field_wave.c: second stage of a field whose costs differ: exact sums, by a wave of events.
 *
 * In: allowed steps, costs, goals. Out: for each cell the least sum to a goal.
 *
 * The search runs from the goals outwards, so a step costs its weight times the cost of the cell that it
 * leaves, which is the same for all neighbours of one kind. So a cell c with the sum s has two events: at s +
 * straight * cost(c) the wave enters its four straight neighbours, at s + diagonal * cost(c) those diagonal
 * ones that a step may lead to. Taken in order of their time, the first event that meets a cell gives it its
 * least sum: each cell is queued once, where a search by sums (Dijkstra) tries eight steps into each and
 * lowers it several times. A diagonal event that would find nothing new, seen at the time of the straight
 * one, is left out.
 *
 * Queue: two rings of buckets (Dial, Algorithm 360: Shortest-Path Forest with Topological Ordering, 1969),
 * for straight and for diagonal events. A bucket is as wide as the largest power of two that no step is
 * shorter than; so an event in it belongs to a cell that was reached in an earlier one, and order within it
 * doesn't matter, if a cell that several of them meet takes the least time (Denardo, Fox: Shortest-Route
 * Methods: 1. Reaching, Pruning, and Buckets, 1979). The cells reached in a bucket are kept in a list until
 * its end; then their sums are final, and their straight events are queued. The pool of chunks always
 * suffices, as a cell has one event in the queue at most.
 *
 * Cost: linear in the cells, with hardly a branch that depends on the map, plus sum / bucket width looks at
 * the occupancy set. Walls have the sum 0 meanwhile, which no event lowers, and so has cell 0 of the border.
 *
 * Determinism: a sum is the least over all ways, which no order of work can change. An event above
 * UINT32_MAX - 1 is left out and noted; a cell that is then unreached beside a reached one tells that it was
 * needed.
 */
#include "nav/field_queue.h"

enum {
    AHEAD = 6,            /* entries: how far memory is asked for in advance */
    SET = 24,             /* shift: a diagonal event's directions (bits 1, 3, 5, 7) in its entry */
    CELL = (1 << 25) - 1, /* the cell in an entry; the largest map has 4098 x 4098 with its border */
};

/* What the inner loops need, in a form that the compiler may keep in registers. */
typedef struct Lane {
    PhxFieldWork *work;
    uint32_t *dist;
    const uint16_t *facts;
    uint32_t *pool, *reached;
    uint32_t *straight_ring, *diagonal_ring;
    uint32_t shift, mask, straight, diagonal, stride;
    int32_t offset[8];
} Lane;

/* Queues an event if `wanted` is 1; does nothing if it is 0. */
PHX_FIELD_INLINE void push(const Lane *lane, uint32_t *ring, uint32_t time, uint32_t cell, uint32_t wanted) {
    const uint32_t slot = time >> lane->shift & lane->mask, at = ring[slot];
    if (PHX_UNLIKELY(at % PHX_FRONT_CHUNK == 0)) {
        if (!wanted) return;
        phx_bitset_add(lane->work->occupied, slot);
        lane->work->full |= !phx_field_push_chunk(lane->work, &ring[slot], cell);
    } else {
        lane->pool[at] = cell;
        ring[slot] = at + wanted;
    }
}

/* The wave enters a cell. Returns 1 where it is new; the list's next entry is overwritten anyway. */
PHX_FIELD_INLINE uint32_t enter(const Lane *lane, uint32_t to, uint32_t time, uint32_t *list) {
    const uint32_t old = lane->dist[to];
    lane->dist[to] = old > time ? time : old;
    *list = to;
    return old == PHX_FIELD_UNREACHED;
}

/* The time of an event; `careful`: PHX_FIELD_UNREACHED, and noted, where it would pass the limit. */
PHX_FIELD_INLINE uint32_t time_of(const Lane *lane, uint32_t dist, uint32_t step, bool careful) {
    if (!careful || step <= UINT32_MAX - 1 - dist) return dist + step;
    lane->work->overflow = true;
    return PHX_FIELD_UNREACHED;
}

PHX_FIELD_INLINE uint32_t straight_event(const Lane *lane, uint32_t at, uint32_t *list, bool careful) {
    const uint32_t cost = lane->facts[at] & 255u, moves = lane->facts[at] >> PHX_FACT_MOVES;
    const uint32_t sum = lane->dist[at], time = sum + cost * lane->straight; /* it was queued: no overflow */
    uint32_t n = enter(lane, at - lane->stride, time, list);
    n += enter(lane, at - 1, time, list + n);
    n += enter(lane, at + 1, time, list + n);
    n += enter(lane, at + lane->stride, time, list + n);
    const uint32_t then = time_of(lane, sum, cost * lane->diagonal, careful);
    const uint32_t *above = lane->dist + (at - lane->stride), *below = lane->dist + (at + lane->stride);
    const uint32_t later = (uint32_t)(below[1] > then) << 1 | (uint32_t)(below[-1] > then) << 3 |
                           (uint32_t)(above[-1] > then) << 5 | (uint32_t)(above[1] > then) << 7;
    push(lane, lane->diagonal_ring, then, at | (later & moves) << SET, (later & moves) != 0);
    return n;
}

/* Only the neighbours that the entry names. */
PHX_FIELD_INLINE uint32_t diagonal_event(const Lane *lane, uint32_t entry, uint32_t *list) {
    const uint32_t at = entry & CELL, time = lane->dist[at] + (lane->facts[at] & 255u) * lane->diagonal;
    uint32_t n = 0;
    for (uint32_t set = entry >> SET & 0xaau; set; set &= set - 1)
        n += enter(lane, at + (uint32_t)lane->offset[phx_bit_lowest(set)], time, list + n);
    return n;
}

PHX_FIELD_INLINE void look_ahead(const Lane *lane, uint32_t cell) {
    PHX_FIELD_AHEAD(lane->facts + cell);
    PHX_FIELD_AHEAD(lane->dist + cell);
    PHX_FIELD_AHEAD(lane->dist + (cell - lane->stride));
    PHX_FIELD_AHEAD(lane->dist + (cell + lane->stride));
}

/* Takes the events of a bucket of one ring. `n` cells are in the list of reached ones; returns how many are
 * then. */
PHX_FIELD_INLINE uint32_t empty_bucket(const Lane *lane, uint32_t *bucket, uint32_t n, bool diagonal,
                                       bool careful) {
    uint32_t end = *bucket;
    *bucket = 0;
    while (end) {
        const uint32_t chunk = (end - 1) / PHX_FRONT_CHUNK;
        for (uint32_t i = chunk * PHX_FRONT_CHUNK + 1; i < end; i++) {
            look_ahead(lane, lane->pool[i + AHEAD < end ? i + AHEAD : i] & CELL);
            n += diagonal ? diagonal_event(lane, lane->pool[i], lane->reached + n)
                          : straight_event(lane, lane->pool[i], lane->reached + n, careful);
        }
        const uint32_t older = lane->pool[(size_t)chunk * PHX_FRONT_CHUNK];
        phx_field_give_chunk(lane->work, chunk);
        end = older ? (older + 1) * PHX_FRONT_CHUNK : 0;
    }
    return n;
}

/* Queues the straight events of the cells reached. */
PHX_FIELD_INLINE void follow(const Lane *lane, uint32_t n, bool careful) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = lane->reached[i], step = (lane->facts[at] & 255u) * lane->straight;
        const uint32_t time = time_of(lane, lane->dist[at], step, careful);
        push(lane, lane->straight_ring, time, at, !careful || time != PHX_FIELD_UNREACHED);
    }
}

/* The diagonal events of a cell may fall into the bucket of its straight one. */
PHX_FIELD_INLINE void run_bucket(const Lane *lane, bool careful) {
    PhxFieldWork *work = lane->work;
    const uint32_t slot = work->bucket & lane->mask;
    uint32_t n = empty_bucket(lane, &lane->straight_ring[slot], 0, false, careful);
    n = empty_bucket(lane, &lane->diagonal_ring[slot], n, true, careful);
    phx_bitset_remove(work->occupied, slot);
    follow(lane, n, careful);
}

static void run_bucket_plainly(const Lane *outer) {
    const Lane lane = *outer;
    run_bucket(&lane, false);
}

static void run_bucket_carefully(const Lane *lane) { run_bucket(lane, true); }

static Lane make_lane(PhxFieldWork *work) {
    Lane lane = {.work = work,
                 .dist = work->dist,
                 .facts = work->facts,
                 .pool = work->pool,
                 .reached = work->reached,
                 .straight_ring = work->buckets,
                 .diagonal_ring = work->buckets + PHX_FRONT_MAX_RING,
                 .shift = work->shift,
                 .mask = work->ring_mask,
                 .straight = work->straight,
                 .diagonal = work->diagonal,
                 .stride = work->stride};
    phx_field_work_offsets(work, lane.offset);
    return lane;
}

void phx_field_run_wave(PhxFieldWork *work, const uint32_t *goals, uint32_t goal_count) {
    phx_field_prepare_queue(work);
    const Lane lane = make_lane(work);
    uint32_t n = 0;
    for (uint32_t i = 0; i < goal_count; i++) {
        const uint32_t at = phx_field_work_cell(work, goals[i]);
        if (work->dist[at] == 0) continue;
        work->dist[at] = 0;
        work->reached[n++] = at;
    }
    follow(&lane, n, false); /* 254 times 65535 at most */
    while (phx_field_next_bucket(work)) {
        if (phx_field_is_safe(work))
            run_bucket_plainly(&lane);
        else
            run_bucket_carefully(&lane);
    }
}
