/* fields.c: the phase `fields`: which tiles of which fields the units need, shared by all that go the same
 * way.
 *
 * In: goals and positions of the units under an order. Out: the tile of each. Cost: a look-up a unit; the
 * building of tiles that are new. If more tiles are wanted than the cache holds, the units are served in
 * batches, and tiles are built again in every tick: slower, never different.
 *
 * A set of goals is named by 64 bits: a cell of the unit's layer; or, with the highest bit set, a row of
 * table destination and the low 32 bits of its generation, so that a name never gets another meaning.
 * Determinism: a tile is a pure function of (layer, set of goals, sector) and the ground, so neither eviction
 * nor laziness nor the order of builds can change what a unit is told.
 */
#include "base/assert.h"
#include "base/bitset.h"
#include "nav/nearest.h"
#include "step/sim_internal.h"

enum { NO_TILE = -1, MODE_NEAREST = 0, MODE_AREA = 1, LANES = 8 };
#define GOAL_ROW ((uint64_t)1 << 63) /* the set is a row of table destination */

/* A unit's goal, or the point of its blend whose field is asked for. */
static PhxVec2 goal_point(const PhxSim *sim, uint32_t slot) {
    const PhxWorld *world = sim->world;
    const uint32_t row = sim->lane > 0 ? phx_destination_of(world, slot) : UINT32_MAX;
    if (row == UINT32_MAX) return phx_vec2(world->unit.goal_x[slot], world->unit.goal_y[slot]);
    return phx_vec2(world->destination.x[row * LANES + sim->lane],
                    world->destination.y[row * LANES + sim->lane]);
}

/* The name of a unit's goals in its layer. */
static uint64_t goal_of(const PhxSim *sim, uint32_t slot, const PhxNavGrid *plane, uint32_t size) {
    const PhxWorld *world = sim->world;
    const PhxTable *rows = &world->tables[PHX_TABLE_destination];
    const uint32_t row = phx_table_find(rows, world->unit.destination[slot]);
    if (row != UINT32_MAX && world->destination.mode[row] <= MODE_AREA)
        return GOAL_ROW | (uint64_t)row << 32 | world->destination.generation[row];
    const PhxVec2 point = goal_point(sim, slot);
    return phx_cost_cell_of(plane, size, point.x, point.y);
}

/* The cells whose centre lies within a disc. Bound: a radius of 32 gives at most 3,300. */
static uint32_t expand_area(const PhxNavGrid *plane, uint32_t size, PhxVec2 center, fix16_t radius,
                            uint32_t *cells) {
    const PhxVec2 at = phx_cost_to_layer(size, center);
    const int32_t reach = radius / PHX_FIX_ONE + 1;
    const uint32_t middle = phx_cost_cell_of(plane, size, center.x, center.y);
    const int32_t cx = (int32_t)(middle % plane->width), cy = (int32_t)(middle / plane->width);
    uint32_t count = 0;
    for (int32_t y = cy - reach; y <= cy + reach; y++)
        for (int32_t x = cx - reach; x <= cx + reach; x++) {
            if (!phx_nav_passable(plane, x, y) || count == PHX_ROUTES_GOAL_LIMIT) continue;
            const uint32_t cell = (uint32_t)y * plane->width + (uint32_t)x;
            if (phx_vec2_distance_sq(phx_nav_cell_center(plane, cell), at) <=
                (uint64_t)((int64_t)radius * radius))
                cells[count++] = cell;
        }
    if (count == 0) cells[count++] = phx_nav_nearest_open(plane, middle);
    return count;
}

uint32_t phx_goals_expand(const PhxSim *sim, uint32_t layer, uint64_t goal, uint32_t *cells) {
    const PhxDestinationTable *rows = &sim->world->destination;
    const PhxNavGrid plane = phx_routes_plane(sim->layers.routes, layer);
    const uint32_t size = phx_layers_size(sim, layer);
    if (!(goal & GOAL_ROW)) {
        cells[0] = phx_nav_nearest_open(&plane, (uint32_t)goal);
        return 1;
    }
    const uint32_t row = (uint32_t)(goal >> 32) & (PHX_SIM_DESTINATION_LIMIT - 1);
    if (rows->generation[row] != (uint32_t)goal) return 0; /* the set is no more */
    if (rows->mode[row] == MODE_AREA)
        return expand_area(&plane, size, phx_vec2(rows->x[row * LANES], rows->y[row * LANES]),
                           rows->radius[row], cells);
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->count[row] && i < LANES; i++)
        cells[count++] = phx_nav_nearest_open(
            &plane, phx_cost_cell_of(&plane, size, rows->x[row * LANES + i], rows->y[row * LANES + i]));
    return count;
}

PhxUnitField phx_fields_of(const PhxSim *sim, uint32_t slot) {
    const PhxUnitTable *units = &sim->world->unit;
    PhxUnitField field = {0};
    if (sim->tile[slot] == (uint32_t)NO_TILE) return field;
    const uint32_t layer = phx_layers_of(sim, slot), size = phx_layers_size(sim, layer);
    field.tile = phx_routes_tile(sim->layers.routes, sim->tile[slot]);
    field.plane = phx_routes_plane(sim->layers.routes, layer);
    field.at = phx_cost_to_layer(size, phx_vec2(units->pos_x[slot], units->pos_y[slot]));
    field.cx = (int32_t)phx_nav_clamp_axis(field.at.x, field.plane.width);
    field.cy = (int32_t)phx_nav_clamp_axis(field.at.y, field.plane.height);
    field.cell = (uint32_t)field.cy * field.plane.width + (uint32_t)field.cx;
    field.goal = phx_cost_to_layer(size, goal_point(sim, slot));
    return field;
}

/* Claims a unit's tile; false when the cache is full of this batch's. Without its layer (there was no memory
 * for it) a unit has none. */
static bool claim_tile(PhxSim *sim, uint32_t slot) {
    PhxRoutes *routes = sim->layers.routes;
    const PhxUnitTable *units = &sim->world->unit;
    const uint32_t layer = phx_layers_of(sim, slot);
    sim->tile[slot] = (uint32_t)NO_TILE;
    if (!phx_layers_is_ready(sim, layer)) return true;
    const PhxNavGrid plane = phx_routes_plane(routes, layer);
    const uint32_t size = phx_layers_size(sim, layer);
    const uint32_t cell = phx_cost_cell_of(&plane, size, units->pos_x[slot], units->pos_y[slot]);
    return phx_routes_claim(routes, layer, goal_of(sim, slot, &plane, size), cell, &sim->tile[slot]);
}

uint32_t phx_fields_prepare(PhxSim *sim, const uint32_t *pending, uint32_t count) {
    uint32_t later = 0;
    sim->batch_count = 0;
    phx_routes_begin(sim->layers.routes);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = pending[i];
        if (claim_tile(sim, slot))
            sim->batch[sim->batch_count++] = slot;
        else
            sim->later[later++] = slot; /* later <= i: reading and writing the same list is safe */
    }
    const PhxStatus status = phx_routes_build(sim->layers.routes, &sim->jobs);
    PHX_ASSERT(status == PHX_OK, status, sim->batch_count); /* it allocates nothing */
    return later;
}

/* What later phases of the tick write for some units and read of others: of a unit that they pass over, not
 * what was left of a tick before, which isn't state. One that the phase `settle` wakes has its way before it.
 */
static void clear_scratch(PhxUnitTable *units, size_t slot) { units->left[slot] = UINT32_MAX; }

/* Brings the ground up to date, lists the living and the moving units, and prepares the first batch of tiles:
 * in most matches, all. */
void phx_phase_fields(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    const PhxTable *units = &context->world->tables[PHX_TABLE_unit];
    (void)user;
    const PhxStatus status = phx_sim_derive_terrain(sim);
    if (status != PHX_OK) sim->trouble = status;
    uint32_t asking = 0;
    sim->living_count = sim->moving_count = sim->coasting_count = 0;
    for (size_t s = phx_bitset_next(units->alive, units->used, 0); s < units->used;
         s = phx_bitset_next(units->alive, units->used, s + 1)) {
        sim->living[sim->living_count++] = (uint32_t)s;
        clear_scratch(&context->world->unit, s);
        if (context->world->unit.activity[s] == 0) continue;
        sim->moving[sim->moving_count++] = (uint32_t)s;
        if (context->world->unit.led[s] != 0) continue;
        if (phx_unit_asks(context->world, (uint32_t)s))
            sim->later[asking++] = (uint32_t)s;
        else
            sim->coasting[sim->coasting_count++] = (uint32_t)s;
    }
    sim->later_count = phx_fields_prepare(sim, sim->later, asking);
}
