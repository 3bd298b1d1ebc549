/* way_out.c: the way out for a unit that something was built on, or that was left a gap that it doesn't fit
 * into.
 *
 * In: the unit's place, what stops its body, the plane of its layer, the ground. Out: where it stands after
 * this tick: straight towards the nearest place with room for all of it, by up to a body's or a cell's width.
 * The way leads over ground that was open before anything was built there: nobody is carried through a wall
 * of the map. Where there is no such place, the unit stays. Cost: rings of cells around the unit, and a line
 * of sight for each nearer candidate. Determinism: integers; the place is the first by (squared distance,
 * cell).
 */
#include "step/sim_internal.h"

enum { REACH = 160 }; /* cells; the largest building is 64 cells wide */

typedef struct Search {
    const PhxNavGrid *plane;
    const PhxNavGrid *ground; /* null: the unit is in a wall of the map, and any way out is right */
    uint32_t size, best;      /* of the layer; a cell of the plane */
    int32_t x, y;             /* the unit's cell in the plane */
    PhxVec2 at;
    uint64_t distance_sq;
} Search;

static void look_at(Search *search, int32_t x, int32_t y) {
    if (!phx_nav_passable(search->plane, x, y)) return;
    const int64_t dx = x - search->x, dy = y - search->y;
    const uint64_t distance_sq = (uint64_t)(dx * dx + dy * dy);
    const uint32_t cell = (uint32_t)y * search->plane->width + (uint32_t)x;
    if (distance_sq > search->distance_sq || (distance_sq == search->distance_sq && cell > search->best))
        return;
    const PhxVec2 place = phx_cost_center_of(search->plane, search->size, cell);
    if (search->ground && !phx_nav_line_of_sight(search->ground, search->at, place)) return;
    search->distance_sq = distance_sq;
    search->best = cell;
}

/* The nearest cell of the plane that a straight walk over open ground leads to, or PHX_NAV_NO_CELL. */
static uint32_t nearest_place(Search *search) {
    const uint32_t cell = phx_cost_cell_of(search->plane, search->size, search->at.x, search->at.y);
    search->x = (int32_t)(cell % search->plane->width);
    search->y = (int32_t)(cell / search->plane->width);
    search->best = PHX_NAV_NO_CELL;
    search->distance_sq = UINT64_MAX;
    for (int32_t r = 0; r <= REACH && (uint64_t)(r * r) <= search->distance_sq; r++) {
        for (int32_t x = search->x - r; x <= search->x + r; x++) {
            look_at(search, x, search->y - r);
            look_at(search, x, search->y + r);
        }
        for (int32_t y = search->y - r + 1; y < search->y + r; y++) {
            look_at(search, search->x - r, y);
            look_at(search, search->x + r, y);
        }
    }
    return search->best;
}

PhxVec2 phx_unit_way_out(const PhxSim *sim, uint32_t slot, const PhxNavGrid *solid, PhxVec2 at) {
    const fix16_t radius = sim->world->unit_type.radius[sim->world->unit.type[slot]];
    const uint32_t layer = phx_layers_of(sim, slot);
    const PhxNavGrid ground = phx_sim_grid(sim->world);
    const bool open = ground.cost[phx_nav_cell_clamped(&ground, at.x, at.y)] != PHX_NAV_IMPASSABLE;
    Search search = {.plane = solid, .ground = open ? &ground : NULL, .size = 1, .at = at};
    PhxNavGrid plane;
    if (phx_layers_is_ready(sim, layer)) {
        plane = phx_routes_plane(sim->layers.routes, layer);
        search.plane = &plane;
        search.size = phx_layers_size(sim, layer);
    }
    uint32_t cell = nearest_place(&search);
    if (cell == PHX_NAV_NO_CELL && search.plane != solid) {
        search.plane = solid; /* there is no room for all of it: a cell for its centre */
        search.size = 1;
        cell = nearest_place(&search);
    }
    if (cell == PHX_NAV_NO_CELL) return at;
    const PhxVec2 place = phx_cost_center_of(search.plane, search.size, cell);
    return phx_vec2_add(
        at, phx_vec2_clamp_length(phx_vec2_sub(place, at), radius > PHX_FIX_ONE ? radius : PHX_FIX_ONE));
}
