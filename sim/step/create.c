/* create.c: the making and unmaking of a sim, from a content blob, in one piece of memory.
 * Determinism: a new sim's memory is cleared, and nothing survives from a sim that was destroyed before.
 */
#include <string.h>

#include "base/assert.h"
#include "state/codec.h"
#include "state/hash.h"
#include "step/content_format.h"
#include "step/sim_internal.h"

/* Memory that cached fields may take by default: enough for GOALS goals, but no more than 64 MiB. */
#define FIELD_CACHE_BYTES ((size_t)64 << 20)
enum { GOALS = 128, TILE_BYTES = 36 << 10 }; /* a tile, with its part of rings and tables */

void phx_sim_builtin_specs(PhxTableSpec *specs, uint32_t width, uint32_t height, uint32_t units,
                           uint32_t orders) {
    for (uint32_t t = 0; t < PHX_TABLE_BUILTIN_COUNT; t++)
        specs[t] = (PhxTableSpec){phx_schema_builtin(t), 0, 0, 0};
    specs[PHX_TABLE_match].rows = 1;
    specs[PHX_TABLE_player].rows = PHX_PLAYER_LIMIT;
    specs[PHX_TABLE_unit_type].rows = PHX_SIM_TYPE_LIMIT;
    specs[PHX_TABLE_cost_profile].rows = PHX_SIM_PROFILE_LIMIT;
    specs[PHX_TABLE_destination].rows = PHX_SIM_DESTINATION_LIMIT;
    specs[PHX_TABLE_march].rows = PHX_SIM_MARCH_LIMIT;
    specs[PHX_TABLE_formation].rows = PHX_SIM_FORMATION_LIMIT;
    specs[PHX_TABLE_formation_pattern].rows = PHX_SIM_PATTERN_LIMIT;
    specs[PHX_TABLE_building].rows = PHX_SIM_BUILDING_LIMIT;
    specs[PHX_TABLE_modifier].rows = PHX_SIM_MODIFIER_LIMIT;
    specs[PHX_TABLE_unit].rows = units;
    specs[PHX_TABLE_order].rows = orders;
    specs[PHX_TABLE_terrain].width = width;
    specs[PHX_TABLE_terrain].height = height;
}

PhxStatus phx_sim_check_references(const PhxWorld *world, PhxError *error) {
    const PhxTable *units = &world->tables[PHX_TABLE_unit];
    if (!phx_table_alive(&world->tables[PHX_TABLE_match], 0))
        return phx_error_set(error, PHX_ERROR_RANGE, 0, "the state has no row in table match");
    for (uint32_t type = 0; type < world->tables[PHX_TABLE_unit_type].used; type++)
        if (phx_table_alive(&world->tables[PHX_TABLE_unit_type], type) &&
            !phx_table_alive(&world->tables[PHX_TABLE_cost_profile], world->unit_type.profile[type]))
            return phx_error_set(error, PHX_ERROR_RANGE, type,
                                 "unit_type[%u].profile is %u, which is no cost profile", type,
                                 world->unit_type.profile[type]);
    for (uint32_t slot = 0; slot < units->used; slot++) {
        if (!phx_table_alive(units, slot)) continue;
        if (!phx_table_alive(&world->tables[PHX_TABLE_unit_type], world->unit.type[slot]))
            return phx_error_set(error, PHX_ERROR_RANGE, slot, "unit[%u].type is %u, which is no unit type",
                                 slot, world->unit.type[slot]);
        if (!phx_table_alive(&world->tables[PHX_TABLE_player], world->unit.player[slot]))
            return phx_error_set(error, PHX_ERROR_RANGE, slot, "unit[%u].player is %u, which is no player",
                                 slot, world->unit.player[slot]);
        if (world->unit.formation[slot] != PHX_HANDLE_NONE &&
            phx_table_find(&world->tables[PHX_TABLE_formation], world->unit.formation[slot]) == UINT32_MAX)
            return phx_error_set(error, PHX_ERROR_RANGE, slot, "unit[%u].formation is no formation", slot);
        if (world->unit.led[slot] != 0 && world->unit.formation[slot] == PHX_HANDLE_NONE)
            return phx_error_set(error, PHX_ERROR_RANGE, slot, "unit[%u] is led by no formation", slot);
    }
    return PHX_OK;
}

/* Decodes the tables of a blob into a world of the engine's own tables. */
static PhxStatus decode_content(PhxAllocator allocator, const PhxContentHead *head, PhxReader *reader,
                                PhxWorld **out, PhxError *error) {
    PhxTableSpec specs[PHX_TABLE_BUILTIN_COUNT];
    uint64_t root;
    phx_sim_builtin_specs(specs, head->width, head->height, head->unit_capacity, head->order_capacity);
    PhxStatus status = phx_world_create(allocator, specs, PHX_TABLE_BUILTIN_COUNT, out, error);
    if (status != PHX_OK) return status;
    status = phx_world_decode(*out, reader, &root, error);
    if (status == PHX_OK && phx_reader_left(reader) != 0)
        status = phx_error_set(error, PHX_ERROR_FORMAT, reader->at, "%zu bytes follow the content",
                               phx_reader_left(reader));
    if (status == PHX_OK) status = phx_sim_check_references(*out, error);
    if (status == PHX_OK && (*out)->match.tick[0] != 0)
        status = phx_error_set(error, PHX_ERROR_RANGE, 0, "content begins at tick 0, not %u",
                               (*out)->match.tick[0]);
    if (status != PHX_OK) {
        phx_world_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* The world of engine and game tables, with the content's rows in the engine's. */
static PhxStatus assemble_world(PhxSim *sim, const PhxWorld *content, PhxError *error) {
    PhxTableSpec specs[PHX_SCHEMA_TABLE_LIMIT];
    const uint32_t own = sim->game ? sim->game->table_count : 0;
    if (own > PHX_SCHEMA_TABLE_LIMIT - PHX_TABLE_BUILTIN_COUNT)
        return phx_error_set(error, PHX_ERROR_LIMIT, 0, "a game adds at most %d tables",
                             PHX_SCHEMA_TABLE_LIMIT - PHX_TABLE_BUILTIN_COUNT);
    memcpy(specs, content->specs, sizeof(PhxTableSpec) * PHX_TABLE_BUILTIN_COUNT);
    if (own > 0) memcpy(specs + PHX_TABLE_BUILTIN_COUNT, sim->game->tables, sizeof(PhxTableSpec) * own);
    const PhxStatus status =
        phx_world_create(sim->allocator, specs, PHX_TABLE_BUILTIN_COUNT + own, &sim->world, error);
    if (status != PHX_OK) return status;
    phx_world_copy_tables(sim->world, content, PHX_TABLE_BUILTIN_COUNT);
    sim->world->match.key[0] = sim->settings.match_key;
    sim->world->match.tick_rate[0] = sim->settings.tick_rate;
    return PHX_OK;
}

static size_t cache_bytes(size_t wanted, const PhxWorld *world) {
    const PhxTable *terrain = &world->tables[PHX_TABLE_terrain];
    const size_t sectors = (size_t)((terrain->width + 63) / 64) * ((terrain->height + 63) / 64);
    if (wanted != 0) return wanted;
    if (sectors > FIELD_CACHE_BYTES / ((size_t)GOALS * TILE_BYTES)) return FIELD_CACHE_BYTES;
    return (sectors + 1) * GOALS * TILE_BYTES; /* the routes take about a tile each */
}

/* Everything beside the world; the same function measures (arena without memory, `sim` null) and lays out. */
static PhxSim *lay_out(PhxArena *arena, const PhxContentHead *head, uint32_t tables, uint32_t workers) {
    PhxSim *sim = phx_arena_push(arena, 1, sizeof(PhxSim));
    PhxSim measured = {0};
    PhxSim *made = sim ? sim : &measured;
    const size_t units = head->unit_capacity;
    made->table_hashes = PHX_ARENA_ARRAY(arena, uint64_t, tables);
    made->event_capacity = PHX_SIM_EVENTS_A_UNIT * head->unit_capacity + PHX_SIM_EVENTS_BESIDES;
    made->events = PHX_ARENA_ARRAY(arena, PhxEvent, made->event_capacity);
    made->event_kinds = PHX_ARENA_ARRAY(arena, uint8_t, units);
    made->prev_x = PHX_ARENA_ARRAY(arena, fix16_t, units);
    made->prev_y = PHX_ARENA_ARRAY(arena, fix16_t, units);
    phx_layers_layout(&made->layers, arena);
    phx_barriers_layout(&made->barriers, arena, head->width, head->height, head->unit_capacity);
    phx_spatial_layout(&made->spatial, arena, head->unit_capacity);
    phx_orca_layout(&made->orca, arena, head->unit_capacity, PHX_SIM_TYPE_LIMIT);
    phx_crowd_layout(&made->crowd, arena, head->unit_capacity);
    phx_flock_layout(&made->flock, arena, head->unit_capacity);
    made->flock_of = PHX_ARENA_ARRAY(arena, uint32_t, units);
    phx_formations_layout(&made->formations, arena, head->unit_capacity);
    made->lane_routes = PHX_ARENA_ARRAY(arena, PhxLaneRoute, PHX_SIM_MARCH_LIMIT * PHX_SIM_ROUTES);
    made->asides = PHX_ARENA_ARRAY(arena, PhxLaneAside, units);
    made->walkers = PHX_ARENA_ARRAY(arena, PhxLaneWalker, units);
    made->living = PHX_ARENA_ARRAY(arena, uint32_t, units);
    made->moving = PHX_ARENA_ARRAY(arena, uint32_t, units);
    made->seekers = PHX_ARENA_ARRAY(arena, PhxSeeker, units);
    made->groups = PHX_ARENA_ARRAY(arena, uint32_t, units + 1);
    made->windows = PHX_ARENA_ARRAY(arena, PhxWindowWork, workers);
    made->group_room = PHX_ARENA_ARRAY(arena, uint8_t, units);
    for (uint32_t r = 0; r < PHX_SIM_ROOMS; r++) phx_room_layout(&made->rooms[r], arena);
    made->coasting = PHX_ARENA_ARRAY(arena, uint32_t, units);
    made->batch = PHX_ARENA_ARRAY(arena, uint32_t, units);
    made->tile = PHX_ARENA_ARRAY(arena, uint32_t, units);
    made->later = PHX_ARENA_ARRAY(arena, uint32_t, units);
    made->queue = PHX_ARENA_ARRAY(arena, PhxQueuedCommand, PHX_TICK_COMMAND_LIMIT);
    return sim;
}

static PhxStatus make_shell(const PhxSimConfig *config, const PhxContentHead *head, PhxSim **out,
                            PhxError *error) {
    const PhxAllocator allocator = config->allocator.allocate ? config->allocator : phx_allocator_default();
    const PhxJobs jobs = config->jobs.parallel_for ? config->jobs : phx_jobs_serial();
    const uint32_t tables = PHX_TABLE_BUILTIN_COUNT + (config->game ? config->game->table_count : 0);
    PhxArena arena = phx_arena_measure();
    (void)lay_out(&arena, head, tables, jobs.workers);
    const size_t size = arena.used;
    const PhxStatus status = phx_arena_create(&arena, allocator, size);
    if (status != PHX_OK) return phx_error_set(error, status, 0, "no memory for a sim of %zu bytes", size);
    PhxSim *sim = lay_out(&arena, head, tables, jobs.workers);
    sim->arena = arena;
    sim->allocator = allocator;
    sim->jobs = jobs;
    sim->game = config->game;
    sim->field_cache_bytes = config->field_cache_bytes;
    *out = sim;
    return PHX_OK;
}

static PhxStatus check_game(const PhxGame *game, PhxError *error) {
    for (uint32_t i = 0; game && i < game->command_count; i++) {
        const PhxGameCommand *command = &game->commands[i];
        if (command->type < PHX_COMMAND_GAME_FIRST || !command->check || !command->execute)
            return phx_error_set(error, PHX_ERROR_ARGUMENT, i,
                                 "game command %u: a type from %d on, check and execute", i,
                                 PHX_COMMAND_GAME_FIRST);
        for (uint32_t j = 0; j < i; j++)
            if (game->commands[j].type == command->type)
                return phx_error_set(error, PHX_ERROR_ARGUMENT, i, "two game commands have type %u",
                                     command->type);
    }
    return PHX_OK;
}

/* For the first time. */
static PhxStatus derive(PhxSim *sim) {
    const PhxStatus status = phx_layers_create(sim, cache_bytes(sim->field_cache_bytes, sim->world));
    return status != PHX_OK ? status : phx_sim_derive_terrain(sim);
}

static PhxStatus fill(PhxSim *sim, const PhxContentHead *head, const PhxSettings *settings, PhxReader *reader,
                      PhxError *error) {
    PhxWorld *content;
    PhxStatus status = decode_content(sim->allocator, head, reader, &content, error);
    if (status != PHX_OK) return status;
    sim->settings = settings ? *settings : head->settings;
    status = assemble_world(sim, content, error);
    phx_world_destroy(content);
    if (status == PHX_OK) status = phx_phases_collect(sim, error);
    if (status != PHX_OK) return status;
    status = derive(sim);
    if (status != PHX_OK) return phx_error_set(error, status, 0, "no memory for walls and ways of the map");
    const uint32_t used = sim->world->tables[PHX_TABLE_unit].used;
    memcpy(sim->prev_x, sim->world->unit.pos_x, used * sizeof *sim->prev_x);
    memcpy(sim->prev_y, sim->world->unit.pos_y, used * sizeof *sim->prev_y);
    phx_sim_refresh_hashes(sim);
    return PHX_OK;
}

PhxStatus phx_sim_create(const PhxSimConfig *config, const void *content, size_t content_size,
                         const PhxSettings *settings, PhxSim **out, PhxError *error) {
    PhxContentHead head;
    PhxReader reader = phx_reader_make(content, content_size);
    *out = NULL;
    PhxStatus status = phx_content_head_read(&reader, &head, error);
    if (status == PHX_OK) status = check_game(config->game, error);
    if (status == PHX_OK && settings) status = phx_settings_check(settings, error);
    if (status == PHX_OK) status = make_shell(config, &head, out, error);
    if (status != PHX_OK) return status;
    status = fill(*out, &head, settings, &reader, error);
    if (status != PHX_OK) {
        phx_sim_destroy(*out);
        *out = NULL;
    }
    return status;
}

void phx_sim_destroy(PhxSim *sim) {
    if (!sim) return;
    phx_barriers_drop(sim);
    phx_lanes_drop(sim);
    phx_world_destroy(sim->world);
    phx_world_destroy(sim->spare);
    phx_routes_destroy(sim->layers.routes);
    PhxArena arena = sim->arena; /* the sim lies inside its own arena */
    phx_arena_destroy(&arena);
}

PhxStatus phx_sim_clone(const PhxSim *sim, PhxSim **out) {
    const PhxTable *terrain = &sim->world->tables[PHX_TABLE_terrain];
    const PhxContentHead head = {sim->settings, terrain->width, terrain->height,
                                 sim->world->tables[PHX_TABLE_unit].capacity,
                                 sim->world->tables[PHX_TABLE_order].capacity};
    const PhxSimConfig config = {sim->allocator, sim->jobs, sim->game, sim->field_cache_bytes};
    PhxStatus status = make_shell(&config, &head, out, NULL);
    if (status != PHX_OK) return status;
    PhxSim *copy = *out;
    copy->settings = sim->settings;
    status = phx_world_create(sim->allocator, sim->world->specs, sim->world->table_count, &copy->world, NULL);
    if (status == PHX_OK) {
        phx_world_copy(copy->world, sim->world);
        status = phx_phases_collect(copy, NULL);
    }
    if (status == PHX_OK) {
        const uint32_t used = sim->world->tables[PHX_TABLE_unit].used;
        memcpy(copy->prev_x, sim->prev_x, used * sizeof *copy->prev_x);
        memcpy(copy->prev_y, sim->prev_y, used * sizeof *copy->prev_y);
        copy->event_count = sim->event_count;
        memcpy(copy->events, sim->events, sim->event_count * sizeof *copy->events);
        phx_sim_refresh_hashes(copy);
        status = derive(copy);
    }
    if (status != PHX_OK) {
        phx_sim_destroy(copy);
        *out = NULL;
    }
    return status;
}
