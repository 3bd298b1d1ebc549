/* path_cache.c: a cache of recent paths.
 *
 * In: queries and their paths. Out: the same paths again. An entry belongs to one ground, one version of it
 * and one query, all of which must be equal, and the path is a pure function of them; so whether something is
 * found here changes the work, never a result. That is why the cache isn't state. The oldest entry makes
 * room.
 *
 * Cost: a look at each entry. Determinism: see above; the pointer of the ground is compared, never ordered.
 */
#include <phalanx/path.h>

#include <string.h>

#include "base/arena.h"
#include "base/assert.h"

typedef struct Entry {
    const PhxPathGround *ground; /* null: empty */
    uint64_t version;
    PhxPathQuery query;
    PhxPath path; /* its arrays: none */
} Entry;

struct PhxPathCache {
    Entry *entry;
    PhxVec2 *waypoint; /* `waypoints` of each entry */
    uint32_t entries, waypoints;
    uint32_t next; /* the entry to put the next path into */
};

PhxPathCache *phx_path_cache_layout(PhxArena *arena, uint32_t entries, uint32_t waypoints) {
    PhxPathCache made = {.entries = entries, .waypoints = waypoints};
    PhxPathCache *cache = PHX_ARENA_ARRAY(arena, PhxPathCache, 1);
    made.entry = PHX_ARENA_ARRAY(arena, Entry, entries);
    made.waypoint = PHX_ARENA_ARRAY(arena, PhxVec2, (size_t)entries * waypoints);
    if (!cache) return NULL;
    *cache = made;
    phx_path_cache_drop(cache);
    return cache;
}

static bool is_equal(const PhxPathQuery *a, const PhxPathQuery *b) {
    return a->start == b->start && a->goal == b->goal && a->radius == b->radius && a->limit == b->limit;
}

/* The entry of a query; `entries` if there is none. */
static uint32_t find(const PhxPathCache *cache, const PhxPathGround *ground, const PhxPathQuery *query) {
    const uint64_t version = phx_path_ground_version(ground);
    uint32_t i = 0;
    for (; i < cache->entries; i++) {
        const Entry *entry = &cache->entry[i];
        if (entry->ground == ground && entry->version == version && is_equal(&entry->query, query)) break;
    }
    return i;
}

bool phx_path_cache_get(const PhxPathCache *cache, const PhxPathGround *ground, const PhxPathQuery *query,
                        PhxPath *path) {
    const uint32_t i = find(cache, ground, query);
    if (i == cache->entries) return false;
    PHX_ASSERT(path->waypoint_capacity <= cache->waypoints, path->waypoint_capacity, cache->waypoints);
    const PhxPath room = *path, *kept = &cache->entry[i].path;
    *path = *kept;
    path->cells = room.cells;
    path->cell_capacity = room.cell_capacity;
    path->waypoints = room.waypoints;
    path->waypoint_capacity = room.waypoint_capacity;
    path->waypoints_cut =
        room.waypoint_capacity != 0 && (kept->waypoints_cut || kept->waypoint_count > room.waypoint_capacity);
    if (path->waypoint_count > room.waypoint_capacity) path->waypoint_count = room.waypoint_capacity;
    if (path->waypoint_count)
        memcpy(path->waypoints, cache->waypoint + (size_t)i * cache->waypoints,
               path->waypoint_count * sizeof *path->waypoints);
    return true;
}

void phx_path_cache_put(PhxPathCache *cache, const PhxPathGround *ground, const PhxPathQuery *query,
                        const PhxPath *path) {
    PHX_ASSERT(path->waypoint_capacity >= cache->waypoints, path->waypoint_capacity, cache->waypoints);
    if (cache->entries == 0 || find(cache, ground, query) < cache->entries) return;
    const uint32_t i = cache->next, most = cache->waypoints;
    cache->next = (i + 1) % cache->entries;
    Entry *entry = &cache->entry[i];
    *entry = (Entry){ground, phx_path_ground_version(ground), *query, *path};
    entry->path.cells = NULL;
    entry->path.cell_count = entry->path.cell_capacity = 0;
    entry->path.cells_cut = false;
    entry->path.waypoints = NULL;
    entry->path.waypoints_cut = most != 0 && (path->waypoints_cut || path->waypoint_count > most);
    if (path->waypoint_count > most) entry->path.waypoint_count = most;
    if (entry->path.waypoint_count)
        memcpy(cache->waypoint + (size_t)i * most, path->waypoints,
               entry->path.waypoint_count * sizeof *path->waypoints);
}

void phx_path_cache_drop(PhxPathCache *cache) {
    for (uint32_t i = 0; i < cache->entries; i++) cache->entry[i].ground = NULL;
    cache->next = 0;
}
