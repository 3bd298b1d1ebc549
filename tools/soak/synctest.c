/* synctest.c: worlds beside each other. See synctest.h. */
#include "soak/synctest.h"

#include <inttypes.h>
#include <phalanx/content.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soak/invariants.h"

typedef struct World {
    PhxSim *sim;
    PhxJobs jobs;
    uint32_t threads; /* 0: serial, nothing to end */
    char way[48];
    bool loaded, dropped;
    bool fixed_poison; /* else another byte each time */
    uint8_t poison;
} World;

struct PhxSync {
    PhxSim *straight;
    const PhxGame *game;
    uint32_t every, field_cache;
    World worlds[PHX_SYNC_WORLD_LIMIT];
    uint32_t count;
    PhxInvariants invariants;
    uint8_t *snapshot;
    size_t snapshot_size;
    uint64_t comparisons;
};

static const char *const kind_names[PHX_SYNC_KIND_COUNT] = {"equal", "difference", "events", "restore",
                                                            "step",  "invariant",  "crash",  "planted"};

const char *phx_sync_kind_name(PhxSyncKind kind) {
    return (unsigned)kind < PHX_SYNC_KIND_COUNT ? kind_names[kind] : "unknown";
}

/* Fresh memory full of the world's poison. */
static void *poisoned_allocate(void *user, size_t size) {
    void *memory = NULL;
    if (posix_memalign(&memory, 64, size ? size : 1) != 0) return NULL;
    memset(memory, *(const uint8_t *)user, size);
    return memory;
}

static void poisoned_release(void *user, void *memory, size_t size) {
    (void)user, (void)size;
    free(memory);
}

typedef struct Content {
    const void *bytes;
    size_t size;
    const PhxSettings *settings;
} Content;

static PhxStatus add_world(PhxSync *sync, const World *world, const Content *content, PhxError *error) {
    if (sync->count == PHX_SYNC_WORLD_LIMIT)
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "too many worlds");
    World *own = &sync->worlds[sync->count++];
    *own = *world;
    PhxSimConfig config = {.game = sync->game, .field_cache_bytes = sync->field_cache * PHX_FIELD_TILE_BYTES};
    if (own->fixed_poison)
        config.allocator = (PhxAllocator){poisoned_allocate, poisoned_release, &own->poison};
    if (own->threads > 0) {
        const PhxStatus status = phx_jobs_threads_create(own->threads, &own->jobs);
        if (status != PHX_OK) {
            own->threads = 0;
            return phx_error_set(error, status, 0, "%s: %s", own->way, phx_status_text(status));
        }
        config.jobs = own->jobs;
    }
    return phx_sim_create(&config, content->bytes, content->size, content->settings, &own->sim, error);
}

static PhxStatus add_worlds(PhxSync *sync, const PhxSyncOptions *options, const Content *content,
                            PhxError *error) {
    PhxStatus status = PHX_OK;
    if (options->every > 0) {
        World world = {.loaded = true};
        if (options->every == 1)
            snprintf(world.way, sizeof world.way, "loaded every tick");
        else
            snprintf(world.way, sizeof world.way, "loaded every %" PRIu32 " ticks", options->every);
        status = add_world(sync, &world, content, error);
    }
    if (options->thread_count > PHX_SYNC_THREADS_LIMIT)
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "too many numbers of threads");
    for (uint32_t i = 0; i < options->thread_count && status == PHX_OK; i++) {
        World world = {.threads = options->threads[i]};
        snprintf(world.way, sizeof world.way, "%" PRIu32 " thread%s", world.threads,
                 world.threads == 1 ? "" : "s");
        status = add_world(sync, &world, content, error);
    }
    if (options->cold && status == PHX_OK)
        status = add_world(sync, &(World){.way = "caches dropped", .dropped = true}, content, error);
    if (options->poison && status == PHX_OK) {
        World world = {.dropped = true, .fixed_poison = true, .poison = options->poison_byte};
        snprintf(world.way, sizeof world.way, "memory full of 0x%02x", options->poison_byte);
        status = add_world(sync, &world, content, error);
    }
    return status;
}

PhxStatus phx_sync_create(PhxSim *straight, const void *content, size_t content_size,
                          const PhxSettings *settings, const PhxSyncOptions *options, PhxSync **out,
                          PhxError *error) {
    PhxContentInfo info;
    *out = NULL;
    PhxStatus status = phx_content_info(content, content_size, &info, error);
    if (status != PHX_OK) return status;
    PhxSync *sync = calloc(1, sizeof *sync);
    if (sync == NULL) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "no memory for a synctest");
    sync->straight = straight;
    sync->game = options->game;
    sync->every = options->every;
    sync->field_cache = options->field_cache;
    status = phx_invariants_begin(&sync->invariants, info.unit_capacity);
    if (status == PHX_OK)
        status = add_worlds(sync, options, &(Content){content, content_size, settings}, error);
    if (status != PHX_OK) {
        phx_sync_destroy(sync);
        return status;
    }
    *out = sync;
    return PHX_OK;
}

void phx_sync_destroy(PhxSync *sync) {
    if (sync == NULL) return;
    for (uint32_t i = 0; i < sync->count; i++) {
        phx_sim_destroy(sync->worlds[i].sim);
        if (sync->worlds[i].threads > 0) phx_jobs_threads_destroy(&sync->worlds[i].jobs);
    }
    phx_invariants_end(&sync->invariants);
    free(sync->snapshot);
    free(sync);
}

uint32_t phx_sync_world_count(const PhxSync *sync) { return sync->count; }
const char *phx_sync_way(const PhxSync *sync, uint32_t world) { return sync->worlds[world].way; }
uint64_t phx_sync_comparisons(const PhxSync *sync) { return sync->comparisons; }

/* Faults. */

static void begin_fault(PhxSyncFault *fault, PhxSyncKind kind, const World *world, uint32_t tick) {
    *fault = (PhxSyncFault){.kind = kind, .tick = tick};
    if (world != NULL) snprintf(fault->way, sizeof fault->way, "%s", world->way);
}

static void name_difference(const PhxSync *sync, const World *world, uint32_t tick, PhxSyncFault *fault) {
    PhxDifference first = {0};
    begin_fault(fault, PHX_SYNC_DIFFERENCE, world, tick);
    fault->root = phx_sim_root(sync->straight);
    fault->other_root = phx_sim_root(world->sim);
    fault->differences = phx_sim_diff(sync->straight, world->sim, &first, 1);
    size_t used = (size_t)snprintf(fault->text, sizeof fault->text,
                                   "tick %" PRIu32 ": the world '%s' differs: root %016" PRIx64
                                   ", straight %016" PRIx64 "; tables:",
                                   tick, world->way, fault->other_root, fault->root);
    const uint64_t *ours = phx_sim_table_hashes(sync->straight), *theirs = phx_sim_table_hashes(world->sim);
    for (uint32_t t = 0; t < phx_sim_table_count(sync->straight) && used < sizeof fault->text; t++)
        if (ours[t] != theirs[t])
            used += (size_t)snprintf(fault->text + used, sizeof fault->text - used, " %s",
                                     phx_sim_table_name(sync->straight, t));
    if (fault->differences == 0) {
        if (used < sizeof fault->text)
            snprintf(fault->text + used, sizeof fault->text - used, "; no value differs: a hash is stale");
        return;
    }
    snprintf(fault->table, sizeof fault->table, "%s", first.table);
    snprintf(fault->column, sizeof fault->column, "%s", first.column);
    fault->row = first.row, fault->lane = first.lane;
    fault->value = first.left, fault->other_value = first.right;
    if (used < sizeof fault->text)
        snprintf(fault->text + used, sizeof fault->text - used,
                 "; %s.%s of row %" PRIu32 ", lane %" PRIu32 ": 0x%" PRIx64 ", straight 0x%" PRIx64
                 " (%" PRIu32 " values differ)",
                 first.table, first.column, first.row, first.lane, first.right, first.left,
                 fault->differences);
}

static bool events_equal(const PhxSync *sync, const World *world, uint32_t tick, PhxSyncFault *fault) {
    uint32_t ours, theirs, i = 0;
    const PhxEvent *a = phx_sim_events(sync->straight, &ours), *b = phx_sim_events(world->sim, &theirs);
    while (i < ours && i < theirs && a[i].kind == b[i].kind && a[i].player == b[i].player &&
           a[i].unit == b[i].unit && a[i].x == b[i].x && a[i].y == b[i].y)
        i++;
    if (i == ours && i == theirs) return true;
    begin_fault(fault, PHX_SYNC_EVENTS, world, tick);
    fault->root = fault->other_root = phx_sim_root(sync->straight);
    snprintf(fault->text, sizeof fault->text,
             "tick %" PRIu32 ": the world '%s' gives %" PRIu32 " events, straight %" PRIu32
             "; the first that differs is number %" PRIu32 " (%s)",
             tick, world->way, theirs, ours, i, phx_event_name(i < ours ? a[i].kind : b[i].kind));
    return false;
}

/* Steps. */

/* PHX_ERROR_MEMORY, or PHX_OK with or without a fault. */
static PhxStatus load(PhxSync *sync, World *world, uint32_t tick, PhxSyncFault *fault) {
    size_t size = phx_sim_snapshot_size(sync->straight);
    if (size > sync->snapshot_size) {
        uint8_t *larger = realloc(sync->snapshot, size);
        if (larger == NULL) return PHX_ERROR_MEMORY;
        sync->snapshot = larger;
        sync->snapshot_size = size;
    }
    PhxError error = {0};
    PhxStatus status = phx_sim_snapshot(sync->straight, sync->snapshot, sync->snapshot_size, &size);
    if (status == PHX_OK) status = phx_sim_restore(world->sim, sync->snapshot, size, &error);
    if (status == PHX_ERROR_MEMORY) return status;
    if (status != PHX_OK) {
        begin_fault(fault, PHX_SYNC_RESTORE, world, tick);
        fault->root = phx_sim_root(sync->straight);
        snprintf(fault->text, sizeof fault->text,
                 "before tick %" PRIu32 ": the world's own snapshot is refused: %s", tick,
                 error.text[0] ? error.text : phx_status_text(status));
    } else if (phx_sim_root(world->sim) != phx_sim_root(sync->straight)) {
        name_difference(sync, world, tick, fault);
    }
    return PHX_OK;
}

static PhxStatus disturb(PhxSync *sync, uint32_t tick, PhxSyncFault *fault) {
    const uint32_t every = sync->every > 0 ? sync->every : 1;
    if (tick % every != 0) return PHX_OK;
    for (uint32_t i = 0; i < sync->count; i++) {
        World *world = &sync->worlds[i];
        if (world->dropped)
            phx_sim_drop_derived(world->sim,
                                 world->fixed_poison ? world->poison : (uint8_t)(tick * 37 + 0xff));
        if (!world->loaded) continue;
        const PhxStatus status = load(sync, world, tick, fault);
        if (status != PHX_OK || fault->kind != PHX_SYNC_EQUAL) return status;
    }
    return PHX_OK;
}

/* True when the world is still equal to the straight one, which gave `status`. */
static bool step_beside(PhxSync *sync, World *world, uint32_t tick, const PhxCommand *commands,
                        uint32_t count, PhxStatus status, PhxSyncFault *fault) {
    const PhxStatus own = phx_sim_step(world->sim, commands, count);
    sync->comparisons++;
    if (own != status) {
        begin_fault(fault, PHX_SYNC_STEP, world, tick);
        snprintf(fault->text, sizeof fault->text,
                 "tick %" PRIu32 ": the step gives %s in the world '%s', %s straight", tick,
                 phx_status_name(own), world->way, phx_status_name(status));
        return false;
    }
    if (phx_sim_root(world->sim) != phx_sim_root(sync->straight)) {
        name_difference(sync, world, tick, fault);
        return false;
    }
    return events_equal(sync, world, tick, fault);
}

PhxStatus phx_sync_step(PhxSync *sync, const PhxCommand *commands, uint32_t count, PhxSyncFault *fault) {
    const uint32_t tick = phx_sim_tick(sync->straight);
    *fault = (PhxSyncFault){.kind = PHX_SYNC_EQUAL};
    phx_invariants_note(&sync->invariants, sync->straight);
    PhxStatus status = disturb(sync, tick, fault);
    if (status != PHX_OK || fault->kind != PHX_SYNC_EQUAL) return status;
    status = phx_sim_step(sync->straight, commands, count);
    for (uint32_t i = 0; i < sync->count; i++)
        if (!step_beside(sync, &sync->worlds[i], tick, commands, count, status, fault)) return PHX_OK;
    char text[256];
    if (status == PHX_OK && !phx_invariants_hold(&sync->invariants, sync->straight, text, sizeof text)) {
        begin_fault(fault, PHX_SYNC_INVARIANT, NULL, tick);
        fault->root = fault->other_root = phx_sim_root(sync->straight);
        snprintf(fault->text, sizeof fault->text, "tick %" PRIu32 ": %s", tick, text);
    }
    return status;
}
