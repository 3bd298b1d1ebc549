/* layers.c: what units walk on: the layers of the sector routes, composed of terrain, buildings and
 * modifiers.
 *
 * In: the state. Out: for each type of unit and team that lives a layer (a cost plane with its graph), up to
 * date. Cost: a look at each building, modifier and unit a call; where something changed, what depends on it.
 *
 * A layer is for a profile, a size and a team. Types of one profile and size share the layers of the first of
 * them; teams that no building and no modifier tells apart share those of the lowest of them. What was
 * composed is remembered (rows of buildings and modifiers), so that every change is seen, whoever made it.
 *
 * Determinism: planes are pure functions of the state as it stood at the last call, and calls are made at
 * fixed places: before a tick, for the commands, and in the phase `fields`, for all that moves. So what is
 * known of the ground never depends on when a sim was restored, nor on which layers were open before.
 */
#include <string.h>

#include "base/bitset.h"
#include "step/sim_internal.h"

static uint32_t type_of(uint32_t layer) { return layer / PHX_PLAYER_LIMIT; }
static uint32_t team_of(uint32_t layer) { return layer % PHX_PLAYER_LIMIT; }

static void compose(void *user, uint32_t layer, PhxCellRect rect, uint8_t *plane) {
    const PhxSim *sim = user;
    const PhxLayers *layers = &sim->layers;
    const PhxTable *terrain = &sim->world->tables[PHX_TABLE_terrain];
    const uint32_t type = type_of(layer);
    const PhxCostSources sources = {
        .width = terrain->width,
        .height = terrain->height,
        .ground = sim->world->terrain.cost,
        .kind = sim->world->terrain.kind,
        .height_map = sim->world->terrain.height,
        .density = sim->world->terrain.density,
        .buildings = layers->buildings,
        .building_count = layers->building_count,
        .modifiers = layers->modifiers,
        .modifier_count = layers->modifier_count,
    };
    phx_cost_compose(&sources, &layers->profile[layers->type_profile[type]], team_of(layer),
                     layers->type_size[type], rect, plane);
}

static uint32_t expand(void *user, uint32_t layer, uint64_t goal, uint32_t *cells) {
    const PhxSim *sim = user;
    return phx_goals_expand(sim, layer, goal, cells);
}

void phx_layers_layout(PhxLayers *layers, PhxArena *arena) {
    layers->building_row = PHX_ARENA_ARRAY(arena, PhxCostBuilding, PHX_SIM_BUILDING_LIMIT);
    layers->buildings = PHX_ARENA_ARRAY(arena, PhxCostBuilding, PHX_SIM_BUILDING_LIMIT);
    layers->modifier_row = PHX_ARENA_ARRAY(arena, PhxCostModifier, PHX_SIM_MODIFIER_LIMIT);
    layers->modifiers = PHX_ARENA_ARRAY(arena, PhxCostModifier, PHX_SIM_MODIFIER_LIMIT);
}

PhxStatus phx_layers_create(PhxSim *sim, size_t cache_bytes) {
    const PhxTable *terrain = &sim->world->tables[PHX_TABLE_terrain];
    const PhxRoutesConfig config = {.width = terrain->width,
                                    .height = terrain->height,
                                    .weights = PHX_FIELD_WEIGHTS_DEFAULT,
                                    .allocator = sim->allocator,
                                    .workers = sim->jobs.workers,
                                    .cache_bytes = cache_bytes,
                                    .compose = compose,
                                    .reach = PHX_COST_REACH,
                                    .goals = expand,
                                    .user = sim};
    return phx_routes_create(&config, &sim->layers.routes);
}

/* Types. */

static PhxCostProfile profile_row(const PhxWorld *world, uint32_t slot) {
    const PhxCostProfileTable *rows = &world->cost_profile;
    PhxCostProfile profile = {.slope_cost = rows->slope_cost[slot],
                              .slope_limit = rows->slope_limit[slot],
                              .margin_cost = rows->margin_cost[slot],
                              .margin_width = rows->margin_width[slot],
                              .density_cost = rows->density_cost[slot],
                              .smoothing = rows->smoothing[slot]};
    memcpy(profile.kind_percent, rows->kind_percent + (size_t)slot * PHX_COST_KINDS, PHX_COST_KINDS);
    memcpy(profile.speed_percent, rows->speed_percent + (size_t)slot * PHX_COST_KINDS, PHX_COST_KINDS);
    return profile;
}

/* Profiles and types don't change during a match; another state may have other ones. */
static void note_types(PhxSim *sim) {
    PhxLayers *layers = &sim->layers;
    const PhxWorld *world = sim->world;
    bool changed = false;
    for (uint32_t p = 0; p < PHX_SIM_PROFILE_LIMIT; p++) {
        const PhxCostProfile profile = profile_row(world, p);
        if (memcmp(&profile, &layers->profile[p], sizeof profile) == 0) continue;
        layers->profile[p] = profile;
        changed = true;
    }
    for (uint32_t t = 0; t < PHX_SIM_TYPE_LIMIT; t++) {
        const uint8_t profile = world->unit_type.profile[t];
        const uint8_t size = (uint8_t)phx_cost_size_of(world->unit_type.radius[t]);
        if (profile == layers->type_profile[t] && size == layers->type_size[t]) continue;
        layers->type_profile[t] = profile;
        layers->type_size[t] = size;
        changed = true;
    }
    if (!changed) return;
    phx_routes_close(layers->routes);
    for (uint32_t t = 0; t < PHX_SIM_TYPE_LIMIT; t++) {
        uint32_t first = 0;
        while (layers->type_profile[first] != layers->type_profile[t] ||
               layers->type_size[first] != layers->type_size[t])
            first++;
        layers->type_first[t] = (uint16_t)first;
    }
}

/* Buildings and modifiers. */

static PhxCostBuilding building_row(const PhxWorld *world, uint32_t slot) {
    const PhxBuildingTable *rows = &world->building;
    if (!phx_table_alive(&world->tables[PHX_TABLE_building], slot)) return (PhxCostBuilding){{0, 0, 0, 0}, 0};
    return (PhxCostBuilding){
        {rows->x[slot], rows->y[slot], rows->x[slot] + rows->width[slot], rows->y[slot] + rows->height[slot]},
        rows->gate[slot] ? rows->open_teams[slot] : (uint16_t)0};
}

static bool same_rect(PhxCellRect a, PhxCellRect b) {
    return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1;
}

static bool note_buildings(PhxSim *sim) {
    PhxLayers *layers = &sim->layers;
    const uint32_t used = sim->world->tables[PHX_TABLE_building].used;
    const uint32_t rows = used > layers->building_rows ? used : layers->building_rows;
    bool changed = false;
    for (uint32_t slot = 0; slot < rows; slot++) {
        const PhxCostBuilding row = building_row(sim->world, slot), was = layers->building_row[slot];
        if (same_rect(row.cells, was.cells) && row.open_teams == was.open_teams) continue;
        phx_sim_touch(sim, was.cells);
        phx_sim_touch(sim, row.cells);
        layers->building_row[slot] = row;
        changed = true;
    }
    layers->building_rows = used;
    if (!changed) return false;
    layers->building_count = 0;
    for (uint32_t slot = 0; slot < used; slot++)
        if (layers->building_row[slot].cells.x1 > 0)
            layers->buildings[layers->building_count++] = layers->building_row[slot];
    return true;
}

static PhxCostModifier modifier_row(const PhxWorld *world, uint32_t slot) {
    const PhxModifierTable *rows = &world->modifier;
    if (!phx_table_alive(&world->tables[PHX_TABLE_modifier], slot)) return (PhxCostModifier){0, 0, 0, 0, 0};
    return (PhxCostModifier){rows->x[slot], rows->y[slot], rows->radius[slot], (int16_t)rows->strength[slot],
                             rows->teams[slot]};
}

static bool same_modifier(const PhxCostModifier *a, const PhxCostModifier *b) {
    return a->x == b->x && a->y == b->y && a->radius == b->radius && a->strength == b->strength &&
           a->teams == b->teams;
}

static bool note_modifiers(PhxSim *sim) {
    PhxLayers *layers = &sim->layers;
    const uint32_t used = sim->world->tables[PHX_TABLE_modifier].used;
    const uint32_t rows = used > layers->modifier_rows ? used : layers->modifier_rows;
    bool changed = false;
    for (uint32_t slot = 0; slot < rows; slot++) {
        const PhxCostModifier row = modifier_row(sim->world, slot), was = layers->modifier_row[slot];
        if (same_modifier(&row, &was)) continue;
        phx_sim_touch(sim, phx_cost_modifier_rect(&was));
        phx_sim_touch(sim, phx_cost_modifier_rect(&row));
        layers->modifier_row[slot] = row;
        changed = true;
    }
    layers->modifier_rows = used;
    if (!changed) return false;
    layers->modifier_count = 0;
    for (uint32_t slot = 0; slot < used; slot++)
        if (layers->modifier_row[slot].strength != 0)
            layers->modifiers[layers->modifier_count++] = layers->modifier_row[slot];
    return true;
}

/* same[t]: the teams that every mask so far treats like t. */
static void split_teams(uint16_t same[PHX_PLAYER_LIMIT], uint16_t mask) {
    for (uint32_t t = 0; t < PHX_PLAYER_LIMIT; t++) same[t] &= mask >> t & 1 ? mask : (uint16_t)~mask;
}

static void note_teams(PhxLayers *layers) {
    uint16_t same[PHX_PLAYER_LIMIT];
    memset(same, 255, sizeof same);
    for (uint32_t i = 0; i < layers->building_count; i++) split_teams(same, layers->buildings[i].open_teams);
    for (uint32_t i = 0; i < layers->modifier_count; i++) split_teams(same, layers->modifiers[i].teams);
    for (uint32_t t = 0; t < PHX_PLAYER_LIMIT; t++)
        layers->team_first[t] = (uint8_t)phx_bit_lowest(same[t]); /* t itself at most */
}

/* Layers. */

uint32_t phx_layers_find(const PhxSim *sim, uint32_t type, uint32_t team) {
    return (uint32_t)sim->layers.type_first[type] * PHX_PLAYER_LIMIT + sim->layers.team_first[team];
}

uint32_t phx_layers_of(const PhxSim *sim, uint32_t unit) {
    const PhxWorld *world = sim->world;
    return phx_layers_find(sim, world->unit.type[unit], world->player.team[world->unit.player[unit]]);
}

uint32_t phx_layers_size(const PhxSim *sim, uint32_t layer) { return sim->layers.type_size[type_of(layer)]; }

bool phx_layers_is_ready(const PhxSim *sim, uint32_t layer) {
    return phx_bitset_get(sim->layers.ready, layer);
}

/* Opens the layers of all living units. */
static PhxStatus open_layers(PhxSim *sim) {
    const PhxTable *units = &sim->world->tables[PHX_TABLE_unit];
    memset(sim->layers.ready, 0, sizeof sim->layers.ready);
    for (size_t s = phx_bitset_next(units->alive, units->used, 0); s < units->used;
         s = phx_bitset_next(units->alive, units->used, s + 1)) {
        const uint32_t layer = phx_layers_of(sim, (uint32_t)s);
        if (phx_bitset_get(sim->layers.ready, layer)) continue;
        const PhxStatus status = phx_routes_open(sim->layers.routes, layer, &sim->jobs);
        if (status != PHX_OK) return status;
        phx_bitset_add(sim->layers.ready, layer);
    }
    return PHX_OK;
}

void phx_layers_note(PhxSim *sim) {
    note_types(sim);
    const bool buildings = note_buildings(sim), modifiers = note_modifiers(sim);
    if (buildings || modifiers || !sim->layers.teams_known) note_teams(&sim->layers);
    sim->layers.teams_known = true;
}

PhxStatus phx_layers_update(PhxSim *sim) {
    const PhxStatus status = phx_routes_refresh(sim->layers.routes, &sim->jobs);
    if (status != PHX_OK) memset(sim->layers.ready, 0, sizeof sim->layers.ready);
    return status != PHX_OK ? status : open_layers(sim);
}
