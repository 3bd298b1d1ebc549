/* save.c: snapshot, restore, clone, and the dropping of everything derived.
 * Cost: one copy of the state; restore decodes into a second world first, so that a bad snapshot changes
 * nothing. Determinism: what is derived is made again from the state; a sim that was restored goes on like
 * one that was not.
 */
#include <string.h>

#include "state/codec.h"
#include "state/hash.h"
#include "step/sim_internal.h"

size_t phx_sim_snapshot_size(const PhxSim *sim) { return phx_world_encoded_size(sim->world); }

PhxStatus phx_sim_snapshot(const PhxSim *sim, void *buffer, size_t capacity, size_t *size) {
    PhxWriter writer = phx_writer_make(buffer, capacity);
    if (!buffer) return PHX_ERROR_ARGUMENT;
    phx_world_encode(sim->world, sim->root, &writer);
    *size = writer.at;
    return writer.status;
}

/* After the world was replaced: results of the last tick are gone, and what is derived is made again. */
static PhxStatus settle(PhxSim *sim) {
    const uint32_t used = sim->world->tables[PHX_TABLE_unit].used;
    sim->event_count = 0;
    sim->chosen = false;
    memcpy(sim->prev_x, sim->world->unit.pos_x, used * sizeof *sim->prev_x);
    memcpy(sim->prev_y, sim->world->unit.pos_y, used * sizeof *sim->prev_y);
    phx_sim_refresh_hashes(sim);
    sim->settings.match_key = sim->world->match.key[0];
    sim->settings.tick_rate = sim->world->match.tick_rate[0];
    return phx_sim_derive_terrain(sim);
}

static PhxStatus make_spare(PhxSim *sim, PhxError *error) {
    if (sim->spare) return PHX_OK;
    return phx_world_create(sim->allocator, sim->world->specs, sim->world->table_count, &sim->spare, error);
}

PhxStatus phx_sim_restore(PhxSim *sim, const void *bytes, size_t size, PhxError *error) {
    PhxReader reader = phx_reader_make(bytes, size);
    uint64_t root;
    PhxStatus status = make_spare(sim, error);
    if (status == PHX_OK) status = phx_world_decode(sim->spare, &reader, &root, error);
    if (status == PHX_OK && phx_reader_left(&reader) != 0)
        status = phx_error_set(error, PHX_ERROR_FORMAT, reader.at, "%zu bytes follow the snapshot",
                               phx_reader_left(&reader));
    if (status == PHX_OK) status = phx_sim_check_references(sim->spare, error);
    if (status != PHX_OK) return status;
    phx_world_copy(sim->world, sim->spare);
    return settle(sim);
}

void phx_sim_drop_derived(PhxSim *sim, uint8_t poison) {
    phx_world_rederive(sim->world);
    phx_world_poison(sim->world, poison);
    /* The whole terrain is touched: walls are made again in the next tick, and so are the layers. */
    phx_routes_close(sim->layers.routes);
    phx_barriers_drop(sim);
    sim->chosen = false;
    const uint32_t capacity = sim->world->tables[PHX_TABLE_unit].capacity;
    memset(sim->living, poison, capacity * sizeof *sim->living);
    memset(sim->moving, poison, capacity * sizeof *sim->moving);
    memset(sim->batch, poison, capacity * sizeof *sim->batch);
    memset(sim->tile, poison, capacity * sizeof *sim->tile);
    memset(sim->later, poison, capacity * sizeof *sim->later);
    memset(sim->classes, poison, sizeof sim->classes);
    sim->living_count = sim->moving_count = sim->batch_count = sim->later_count = 0;
}
