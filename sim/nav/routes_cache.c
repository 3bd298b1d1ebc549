/* routes_cache.c: names to slots, and room for new entries. See nav/routes_cache.h.
 *
 * In: keys and lengths. Out: slots. Cost: finding is constant; making room looks at each chunk once (some
 * microseconds for the usual cache). What gives way: the run whose latest wish is the oldest; free chunks
 * count as never wanted; of equal runs the lowest for tiles and rings, the highest for routes, so that long
 * runs and single chunks keep apart. Determinism: the choice depends on the history of wishes, and so does
 * what is in the cache, but never what an entry holds; no caller asks what is there. Addresses play no part.
 */
#include "nav/routes_cache.h"

#include <string.h>

#include "base/assert.h"

_Static_assert(PHX_ROUTES_RINGS >= 4 && PHX_ROUTES_RINGS <= 8, "a chunk holds the rings of a tile");

/* Tables of a cache; the same function measures and lays out. */
static void lay_out(PhxRoutesCache *cache, PhxArena *arena, uint32_t chunks) {
    const size_t slots = (size_t)chunks * PHX_ROUTES_RINGS;
    size_t heads = 16;
    while (heads < slots / 2) heads *= 2;
    cache->chunk_count = chunks;
    cache->head_mask = (uint32_t)heads - 1;
    cache->chunk = PHX_ARENA_ARRAY(arena, PhxRoutesChunk, chunks);
    cache->entry = PHX_ARENA_ARRAY(arena, PhxRoutesEntry, slots);
    cache->head = PHX_ARENA_ARRAY(arena, uint32_t, heads);
    cache->pending = PHX_ARENA_ARRAY(arena, PhxRoutesPending, chunks);
    cache->solve = PHX_ARENA_ARRAY(arena, uint32_t, chunks);
    cache->rings = PHX_ARENA_ARRAY(arena, uint32_t, slots);
}

static size_t bytes_of(uint32_t chunks) {
    PhxArena measure = phx_arena_measure();
    PhxRoutesCache cache = {0};
    lay_out(&cache, &measure, chunks);
    return measure.used + (size_t)chunks * PHX_ROUTES_CHUNK;
}

/* The most chunks that fit into so many bytes together with their tables. */
static uint32_t chunks_within(size_t bytes) {
    const size_t limit = UINT32_MAX / PHX_ROUTES_RINGS / 2;
    size_t most = bytes / PHX_ROUTES_CHUNK < limit ? bytes / PHX_ROUTES_CHUNK : limit;
    while (most > 0 && bytes_of((uint32_t)most) > bytes) most -= most / 64 + 1;
    return (uint32_t)most;
}

void phx_routes_cache_clear(PhxRoutesCache *cache) {
    memset(cache->chunk, 0, cache->chunk_count * sizeof *cache->chunk);
    memset(cache->entry, 0, (size_t)cache->chunk_count * PHX_ROUTES_RINGS * sizeof *cache->entry);
    memset(cache->head, 255, ((size_t)cache->head_mask + 1) * sizeof *cache->head);
    cache->chunks_used = cache->chunks_pinned = cache->rings_free = 0;
}

PhxStatus phx_routes_cache_create(PhxRoutesCache *cache, PhxAllocator allocator, size_t bytes,
                                  uint32_t chunks) {
    const uint32_t fitting = chunks_within(bytes);
    const uint32_t count = fitting > chunks ? fitting : chunks;
    PhxArena measure = phx_arena_measure();
    *cache = (PhxRoutesCache){.clock = 2, .pin = 2};
    lay_out(cache, &measure, count);
    cache->bytes = bytes_of(count);
    const PhxStatus status = phx_arena_create(&cache->arena, allocator, measure.used);
    if (status != PHX_OK) return status;
    lay_out(cache, &cache->arena, count);
    /* Not from the arena, which clears: pages of a large cache that nobody needs are never touched. */
    cache->memory = allocator.allocate(allocator.user, (size_t)count * PHX_ROUTES_CHUNK);
    if (!cache->memory) {
        phx_arena_destroy(&cache->arena);
        *cache = (PhxRoutesCache){0};
        return PHX_ERROR_MEMORY;
    }
    phx_routes_cache_clear(cache);
    return PHX_OK;
}

void phx_routes_cache_destroy(PhxRoutesCache *cache) {
    const PhxAllocator allocator = cache->arena.allocator;
    if (cache->memory)
        allocator.release(allocator.user, cache->memory, (size_t)cache->chunk_count * PHX_ROUTES_CHUNK);
    phx_arena_destroy(&cache->arena);
    *cache = (PhxRoutesCache){0};
}

/* The index. */

static bool same_key(PhxRoutesKey a, PhxRoutesKey b) {
    return a.goal == b.goal && a.sector == b.sector && a.layer == b.layer && a.kind == b.kind;
}

/* Finalizer of splitmix64 (Steele, Lea, Flood 2014) over the parts of the key. */
static uint32_t *head_of(const PhxRoutesCache *cache, PhxRoutesKey key) {
    uint64_t z =
        key.goal ^ ((uint64_t)key.sector << 48 | (uint64_t)key.layer << 32 | (uint64_t)key.kind << 30);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return &cache->head[(uint32_t)z & cache->head_mask];
}

uint32_t phx_routes_cache_find(const PhxRoutesCache *cache, PhxRoutesKey key) {
    uint32_t slot = *head_of(cache, key);
    while (slot != PHX_ROUTES_NONE && !same_key(cache->entry[slot].key, key)) slot = cache->entry[slot].next;
    return slot;
}

static void link_entry(PhxRoutesCache *cache, uint32_t slot, PhxRoutesKey key) {
    uint32_t *head = head_of(cache, key);
    cache->entry[slot] = (PhxRoutesEntry){.key = key, .next = *head};
    *head = slot;
}

static void unlink_entry(PhxRoutesCache *cache, uint32_t slot) {
    uint32_t *link = head_of(cache, cache->entry[slot].key);
    while (*link != slot) {
        PHX_ASSERT(*link != PHX_ROUTES_NONE, slot, cache->entry[slot].key.kind);
        link = &cache->entry[*link].next;
    }
    *link = cache->entry[slot].next;
    cache->entry[slot] = (PhxRoutesEntry){0};
}

void *phx_routes_cache_memory(const PhxRoutesCache *cache, uint32_t slot) {
    return cache->memory + (size_t)(slot / PHX_ROUTES_RINGS) * PHX_ROUTES_CHUNK +
           slot % PHX_ROUTES_RINGS * sizeof(PhxTileRing);
}

/* Wishes. */

void phx_routes_cache_begin(PhxRoutesCache *cache) {
    cache->clock += 2;
    cache->pin = cache->ring_pin = cache->clock;
    cache->chunks_pinned = 0;
}

bool phx_routes_cache_has_room(const PhxRoutesCache *cache, uint32_t chunks) {
    return chunks < cache->chunk_count && cache->chunks_pinned < cache->chunk_count - chunks;
}

bool phx_routes_cache_is_pinned(const PhxRoutesCache *cache, uint32_t chunk) {
    const PhxRoutesChunk *c = &cache->chunk[chunk];
    return c->stamp >= (c->kind == PHX_ROUTES_RING ? cache->ring_pin : cache->pin);
}

static void stamp_run(PhxRoutesCache *cache, uint32_t first, uint64_t stamp) {
    for (uint32_t i = 0; i < cache->chunk[first].length; i++) cache->chunk[first + i].stamp = stamp;
}

void phx_routes_cache_pin(PhxRoutesCache *cache, uint32_t first) {
    stamp_run(cache, first, cache->pin);
    cache->chunks_pinned += cache->chunk[first].length;
}

void phx_routes_cache_note(PhxRoutesCache *cache, uint32_t first) {
    if (cache->chunk[first].stamp < cache->pin - 1) stamp_run(cache, first, cache->pin - 1);
}

/* Room. */

static void free_run(PhxRoutesCache *cache, uint32_t first) {
    const uint32_t length = cache->chunk[first].length;
    if (cache->chunk[first].kind != PHX_ROUTES_RING && phx_routes_cache_is_pinned(cache, first))
        cache->chunks_pinned -= length;
    memset(&cache->chunk[first], 0, length * sizeof *cache->chunk);
    cache->chunks_used -= length;
}

/* Drops all that the run with this chunk holds. */
static void evict(PhxRoutesCache *cache, uint32_t chunk) {
    const uint32_t first = cache->chunk[chunk].first, slot = phx_routes_slot_of(first);
    if (cache->chunk[chunk].kind == PHX_ROUTES_RING) {
        for (uint32_t i = 0; i < PHX_ROUTES_RINGS; i++)
            if (cache->chunk[first].used >> i & 1)
                unlink_entry(cache, slot + i);
            else
                cache->rings_free--;
    } else {
        cache->tiles_evicted += cache->chunk[chunk].kind == PHX_ROUTES_TILE;
        unlink_entry(cache, slot);
    }
    free_run(cache, first);
}

/* The latest wish in a run; UINT64_MAX and the last pinned chunk if one is pinned. */
static uint64_t latest_wish(const PhxRoutesCache *cache, uint32_t first, uint32_t length, bool from_top,
                            uint32_t *pinned) {
    uint64_t latest = 0;
    for (uint32_t i = 0; i < length; i++) {
        const uint32_t at = from_top ? first + i : first + length - 1 - i;
        if (phx_routes_cache_is_pinned(cache, at)) {
            *pinned = at;
            return UINT64_MAX;
        }
        if (cache->chunk[at].stamp > latest) latest = cache->chunk[at].stamp;
    }
    return latest;
}

/* The run of this length to use; a pinned chunk is jumped over at once. */
static uint32_t pick_run(const PhxRoutesCache *cache, uint32_t length, bool from_top) {
    uint64_t oldest = UINT64_MAX;
    uint32_t best = PHX_ROUTES_NONE, pinned = 0;
    if (length > cache->chunk_count) return PHX_ROUTES_NONE;
    const int64_t last = (int64_t)cache->chunk_count - length;
    for (int64_t at = from_top ? last : 0; at >= 0 && at <= last && oldest != 0;) {
        const uint64_t latest = latest_wish(cache, (uint32_t)at, length, from_top, &pinned);
        if (latest < oldest) oldest = latest, best = (uint32_t)at;
        if (latest == UINT64_MAX)
            at = from_top ? (int64_t)pinned - length : (int64_t)pinned + 1;
        else
            at += from_top ? -1 : 1;
    }
    return best;
}

/* Empties the picked run, and makes it one of this kind. */
static uint32_t take_chunks(PhxRoutesCache *cache, uint8_t kind, uint32_t length, uint64_t stamp) {
    const uint32_t first = pick_run(cache, length, kind == PHX_ROUTES_ROUTE);
    if (first == PHX_ROUTES_NONE) return first;
    for (uint32_t i = first; i < first + length; i++)
        if (cache->chunk[i].kind != PHX_ROUTES_FREE) evict(cache, i);
    for (uint32_t i = 0; i < length; i++)
        cache->chunk[first + i] =
            (PhxRoutesChunk){.stamp = stamp, .first = first, .length = length, .kind = kind};
    cache->chunks_used += length;
    if (cache->chunks_used > cache->chunks_peak) cache->chunks_peak = cache->chunks_used;
    return first;
}

uint32_t phx_routes_cache_take(PhxRoutesCache *cache, PhxRoutesKey key, uint32_t length) {
    const uint32_t first = take_chunks(cache, key.kind, length, cache->pin);
    if (first == PHX_ROUTES_NONE) return first;
    cache->chunks_pinned += length;
    link_entry(cache, phx_routes_slot_of(first), key);
    return phx_routes_slot_of(first);
}

void phx_routes_cache_begin_rings(PhxRoutesCache *cache) { cache->ring_pin = ++cache->clock; }

void phx_routes_cache_keep_ring(PhxRoutesCache *cache, uint32_t slot) {
    cache->entry[slot].stamp = cache->chunk[phx_routes_chunk_of(slot)].stamp = cache->ring_pin;
}

/* A chunk of rings with a free place, the lowest; PHX_ROUTES_NONE. */
static uint32_t find_ring_chunk(const PhxRoutesCache *cache) {
    for (uint32_t i = 0; i < cache->chunk_count && cache->rings_free > 0; i++)
        if (cache->chunk[i].kind == PHX_ROUTES_RING && cache->chunk[i].used != (1u << PHX_ROUTES_RINGS) - 1)
            return i;
    return PHX_ROUTES_NONE;
}

/* The ring that was wanted longest ago, but not by what is built now. */
static uint32_t find_old_ring(const PhxRoutesCache *cache) {
    uint64_t oldest = cache->ring_pin;
    uint32_t found = PHX_ROUTES_NONE;
    for (uint32_t i = 0; i < cache->chunk_count; i++) {
        if (cache->chunk[i].kind != PHX_ROUTES_RING) continue;
        for (uint32_t slot = phx_routes_slot_of(i); slot < phx_routes_slot_of(i + 1); slot++)
            if (cache->entry[slot].key.kind == PHX_ROUTES_RING && cache->entry[slot].stamp < oldest) {
                oldest = cache->entry[slot].stamp;
                found = slot;
            }
    }
    return found;
}

/* A chunk with room for a ring; PHX_ROUTES_NONE. */
static uint32_t make_ring_room(PhxRoutesCache *cache) {
    uint32_t chunk = find_ring_chunk(cache);
    if (chunk != PHX_ROUTES_NONE) return chunk;
    chunk = take_chunks(cache, PHX_ROUTES_RING, 1, cache->ring_pin);
    if (chunk != PHX_ROUTES_NONE) {
        cache->rings_free += PHX_ROUTES_RINGS;
        return chunk;
    }
    const uint32_t old = find_old_ring(cache);
    if (old == PHX_ROUTES_NONE) return old;
    unlink_entry(cache, old);
    chunk = phx_routes_chunk_of(old);
    cache->chunk[chunk].used &= (uint8_t) ~(1u << old % PHX_ROUTES_RINGS);
    cache->rings_free++;
    return chunk;
}

uint32_t phx_routes_cache_take_ring(PhxRoutesCache *cache, PhxRoutesKey key) {
    const uint32_t chunk = make_ring_room(cache);
    uint32_t place = 0;
    if (chunk == PHX_ROUTES_NONE) return chunk;
    while (cache->chunk[chunk].used >> place & 1) place++;
    cache->chunk[chunk].used |= (uint8_t)(1u << place);
    cache->rings_free--;
    const uint32_t slot = phx_routes_slot_of(chunk) + place;
    link_entry(cache, slot, key);
    phx_routes_cache_keep_ring(cache, slot);
    return slot;
}

void phx_routes_cache_drop(PhxRoutesCache *cache, uint32_t slot) {
    const uint32_t chunk = phx_routes_chunk_of(slot), place = slot % PHX_ROUTES_RINGS;
    const bool ring = cache->chunk[chunk].kind == PHX_ROUTES_RING;
    unlink_entry(cache, slot);
    if (!ring) {
        free_run(cache, chunk);
        return;
    }
    cache->chunk[chunk].used &= (uint8_t) ~(1u << place);
    cache->rings_free++;
    if (cache->chunk[chunk].used != 0) return;
    cache->rings_free -= PHX_ROUTES_RINGS;
    free_run(cache, chunk);
}
