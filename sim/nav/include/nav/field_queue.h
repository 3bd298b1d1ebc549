/* field_queue.h: the memory of the bucket queues of a field's front. For field_front.c and field_wave.c.
 *
 * A bucket is a list of chunks from a pool; a word that stands for it tells where its next entry goes: an
 * index into the pool, at the end of the newest chunk; 0: it is empty. The first word of a chunk is the
 * number of the next older one. Chunk 0 isn't used. Cost: a push is two stores but for one in 31.
 */
#ifndef PHX_NAV_FIELD_QUEUE_H
#define PHX_NAV_FIELD_QUEUE_H

#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "nav/field_work.h"

/* Asks the machine to have a line of memory ready; nothing more. */
#if defined(__GNUC__)
#define PHX_FIELD_AHEAD(address) __builtin_prefetch(address)
/* For a function whose flags are constants where it is called: it is made once for each. */
#define PHX_FIELD_INLINE static inline __attribute__((always_inline))
#else
#define PHX_FIELD_AHEAD(address) ((void)(address))
#define PHX_FIELD_INLINE         static inline
#endif

/* A chunk whose first word is `older`; 0 if the pool is empty. */
static inline uint32_t phx_field_take_chunk(PhxFieldWork *work, uint32_t older) {
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

static inline void phx_field_give_chunk(PhxFieldWork *work, uint32_t chunk) {
    work->pool[(size_t)chunk * PHX_FRONT_CHUNK] = work->freed;
    work->freed = chunk;
}

/* The first entry of a bucket, or one more than its newest chunk holds; false if the pool is empty. */
static inline bool phx_field_push_chunk(PhxFieldWork *work, uint32_t *bucket, uint32_t cell) {
    const uint32_t at = *bucket;
    const uint32_t chunk = phx_field_take_chunk(work, at ? at / PHX_FRONT_CHUNK - 1 : 0);
    if (!chunk) return false;
    work->pool[(size_t)chunk * PHX_FRONT_CHUNK + 1] = cell;
    *bucket = chunk * PHX_FRONT_CHUNK + 2;
    return true;
}

/* Moves on to the next bucket that isn't empty; false at the end. */
static inline bool phx_field_next_bucket(PhxFieldWork *work) {
    const size_t ring = (size_t)work->ring_mask + 1, from = work->bucket & work->ring_mask;
    size_t found = phx_bitset_next(work->occupied, ring, from);
    if (found == ring) found = phx_bitset_next(work->occupied, from, 0);
    if (!phx_bitset_get(work->occupied, found)) return false;
    work->bucket += (uint32_t)(found - from) & work->ring_mask;
    return true;
}

/* The most that one step adds to a sum. */
static inline uint32_t phx_field_longest(const PhxFieldWork *work) {
    return (work->diagonal > work->straight ? work->diagonal : work->straight) * work->max_cost;
}

/* Empty buckets, as wide as the largest power of two that no step is shorter than, and as many as the longest
 * step spans. */
static inline void phx_field_prepare_queue(PhxFieldWork *work) {
    const uint32_t shortest = work->straight * work->min_cost, longest = phx_field_longest(work);
    work->shift = 0;
    while (shortest >> work->shift > 1) work->shift++;
    uint32_t ring = PHX_FRONT_MIN_RING;
    while (ring < (longest >> work->shift) + 2) ring *= 2;
    PHX_ASSERT(ring <= PHX_FRONT_MAX_RING, ring, longest);
    work->ring_mask = ring - 1;
    work->bucket = work->requeues = work->freed = 0;
    work->fresh = 1;
    work->overflow = work->requeuing = work->full = false;
    memset(work->buckets, 0, 2 * PHX_FRONT_MAX_RING * sizeof *work->buckets);
    memset(work->occupied, 0, PHX_FRONT_MAX_RING / 8);
}

/* Whether no step from the bucket in work can pass the limit of a sum. */
static inline bool phx_field_is_safe(const PhxFieldWork *work) {
    const uint64_t most = (((uint64_t)work->bucket + 1) << work->shift) + phx_field_longest(work);
    return most >> work->shift < PHX_FIELD_UNREACHED >> work->shift;
}

#endif
