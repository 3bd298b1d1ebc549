/* routes_cache.h: the cache of routes, rings and tiles (routes_work.h says how it is laid out): names to
 * slots, and room for new entries. For the files of nav only.
 */
#ifndef PHX_NAV_ROUTES_CACHE_H
#define PHX_NAV_ROUTES_CACHE_H

#include "nav/routes_work.h"

/* An empty cache of `bytes`, but of no fewer than `chunks` chunks. Errors: PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_routes_cache_create(PhxRoutesCache *cache, PhxAllocator allocator, size_t bytes,
                                               uint32_t chunks);
void phx_routes_cache_destroy(PhxRoutesCache *cache);
/* Drops everything. */
void phx_routes_cache_clear(PhxRoutesCache *cache);

/* The slot of an entry; PHX_ROUTES_NONE: not there. Cost: constant. */
uint32_t phx_routes_cache_find(const PhxRoutesCache *cache, PhxRoutesKey key);
/* Memory of a slot. */
void *phx_routes_cache_memory(const PhxRoutesCache *cache, uint32_t slot);
static inline uint32_t phx_routes_chunk_of(uint32_t slot) { return slot / PHX_ROUTES_RINGS; }
static inline uint32_t phx_routes_slot_of(uint32_t chunk) { return chunk * PHX_ROUTES_RINGS; }

/* Begins a batch: nothing is pinned. */
void phx_routes_cache_begin(PhxRoutesCache *cache);
/* Whether `chunks` more may be pinned: one always remains for rings. */
bool phx_routes_cache_has_room(const PhxRoutesCache *cache, uint32_t chunks);
bool phx_routes_cache_is_pinned(const PhxRoutesCache *cache, uint32_t chunk);
/* Pins the run that begins at `first`, which isn't pinned yet. */
void phx_routes_cache_pin(PhxRoutesCache *cache, uint32_t first);
/* Notes that a run was wanted in this batch, without pinning it. */
void phx_routes_cache_note(PhxRoutesCache *cache, uint32_t first);

/* Room for a route or a tile: a run of `length` chunks, pinned and in the index; what lay there is dropped,
 * the longest unwanted first. PHX_ROUTES_NONE: no such run is free of pinned chunks. */
uint32_t phx_routes_cache_take(PhxRoutesCache *cache, PhxRoutesKey key, uint32_t length);
/* Rings that are taken from here on don't make each other give way; older ones give way to them. */
void phx_routes_cache_begin_rings(PhxRoutesCache *cache);
/* Notes that a ring is wanted by what follows begin_rings. */
void phx_routes_cache_keep_ring(PhxRoutesCache *cache, uint32_t slot);
/* Room for a ring; PHX_ROUTES_NONE: full. The first four of each begin_rings succeed. */
uint32_t phx_routes_cache_take_ring(PhxRoutesCache *cache, PhxRoutesKey key);

/* Drops the entry of a slot (a route: its run). */
void phx_routes_cache_drop(PhxRoutesCache *cache, uint32_t slot);

#endif
