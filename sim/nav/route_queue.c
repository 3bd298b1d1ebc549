/* route_queue.c: the queue of a search over the portal graph: a radix heap.
 *
 * In: vertices, with values of 64 bits that are never below the last one taken. Out: them, by rising value.
 * Bucket 0 holds the vertices whose value is that of the last one taken, bucket b those whose value first
 * differs from it in bit b - 1 (Ahuja, Mehlhorn, Orlin, Tarjan: Faster Algorithms for the Shortest Path
 * Problem, 1990). When bucket 0 is empty, the lowest other bucket is dealt out anew around its least value.
 * Buckets are lists through the vertices, so that memory is fixed and a vertex can be moved.
 *
 * Cost: a vertex moves at most once for each bit of the longest edge. Determinism: which of several vertices
 * of one value comes first depends on the order of puts; values that a search gives don't.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "nav/portals_data.h"

enum { NONE = PHX_ROUTE_QUEUE_NONE };
#define END UINT32_MAX

static inline unsigned bucket_of(const PhxRouteQueue *queue, uint64_t value) {
    uint64_t differs = value ^ queue->last;
#if defined(__GNUC__)
    return differs ? 64 - (unsigned)__builtin_clzll(differs) : 0;
#else
    unsigned n = 0;
    for (; differs; differs >>= 1) n++;
    return n;
#endif
}

static inline void link_in(PhxRouteQueue *queue, uint32_t vertex, unsigned bucket) {
    const uint32_t head = queue->head[bucket];
    queue->next[vertex] = head;
    queue->prev[vertex] = END;
    if (head != END) queue->prev[head] = vertex;
    queue->head[bucket] = vertex;
    queue->where[vertex] = (uint8_t)bucket;
    queue->occupied |= (uint64_t)1 << bucket;
}

static inline void unlink_from(PhxRouteQueue *queue, uint32_t vertex, unsigned bucket) {
    const uint32_t next = queue->next[vertex], prev = queue->prev[vertex];
    if (next != END) queue->prev[next] = prev;
    if (prev != END) {
        queue->next[prev] = next;
    } else {
        queue->head[bucket] = next;
        if (next == END) queue->occupied &= ~((uint64_t)1 << bucket);
    }
}

void phx_route_queue_clear(PhxRouteQueue *queue, const uint64_t *value, uint32_t count, uint64_t last) {
    queue->value = value;
    queue->last = last;
    queue->occupied = 0;
    memset(queue->head, 255, sizeof queue->head);
    memset(queue->where, NONE, count);
}

void phx_route_queue_put(PhxRouteQueue *queue, uint32_t vertex) {
    const unsigned bucket = bucket_of(queue, queue->value[vertex]), before = queue->where[vertex];
    PHX_ASSERT(bucket < 64 && queue->value[vertex] >= queue->last, queue->value[vertex], queue->last);
    if (bucket == before) return;
    if (before != NONE) unlink_from(queue, vertex, before);
    link_in(queue, vertex, bucket);
}

/* Moves the vertices of the lowest bucket, none of which is in bucket 0, down. */
static void deal(PhxRouteQueue *queue) {
    const unsigned bucket = phx_bit_lowest(queue->occupied);
    uint64_t least = UINT64_MAX;
    for (uint32_t v = queue->head[bucket]; v != END; v = queue->next[v])
        if (queue->value[v] < least) least = queue->value[v];
    queue->last = least;
    uint32_t vertex = queue->head[bucket];
    queue->head[bucket] = END;
    queue->occupied &= ~((uint64_t)1 << bucket);
    while (vertex != END) {
        const uint32_t next = queue->next[vertex];
        link_in(queue, vertex, bucket_of(queue, queue->value[vertex]));
        vertex = next;
    }
}

uint32_t phx_route_queue_take(PhxRouteQueue *queue) {
    if (!queue->occupied) return UINT32_MAX;
    if (!(queue->occupied & 1)) deal(queue);
    const uint32_t vertex = queue->head[0];
    unlink_from(queue, vertex, 0);
    queue->where[vertex] = NONE;
    return vertex;
}
