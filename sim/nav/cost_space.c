/* cost_space.c: where a unit of some size stands in the layer made for its size, and how fast it goes there.
 *
 * In: radii, positions, cells. Out: sizes, cells, positions. Cost: constant. Determinism: integers; any value
 * is defined.
 */
#include <phalanx/cost.h>

#include "base/assert.h"
#include "nav/nearest.h"

uint32_t phx_cost_size_of(fix16_t radius) {
    if (radius <= 0) return 1;
    const uint32_t size = ((uint32_t)radius + PHX_NAV_HALF - 1) / PHX_NAV_HALF;
    return size < PHX_COST_SIZE_LIMIT ? size : PHX_COST_SIZE_LIMIT;
}

PhxVec2 phx_cost_to_layer(uint32_t size, PhxVec2 at) {
    if (size % 2) return at;
    return phx_vec2(phx_fix_sub(at.x, PHX_NAV_HALF), phx_fix_sub(at.y, PHX_NAV_HALF));
}

PhxVec2 phx_cost_from_layer(uint32_t size, PhxVec2 at) {
    if (size % 2) return at;
    return phx_vec2(phx_fix_add(at.x, PHX_NAV_HALF), phx_fix_add(at.y, PHX_NAV_HALF));
}

uint32_t phx_cost_cell_of(const PhxNavGrid *plane, uint32_t size, fix16_t x, fix16_t y) {
    const PhxVec2 at = phx_cost_to_layer(size, phx_vec2(x, y));
    return phx_nav_cell_clamped(plane, at.x, at.y);
}

PhxVec2 phx_cost_center_of(const PhxNavGrid *plane, uint32_t size, uint32_t cell) {
    return phx_cost_from_layer(size, phx_nav_cell_center(plane, cell));
}

uint32_t phx_cost_speed_percent(const PhxCostProfile *profile, uint8_t kind) {
    const uint32_t percent = profile->speed_percent[kind % PHX_COST_KINDS];
    return percent ? percent : 100;
}

PhxCellRect phx_cost_modifier_rect(const PhxCostModifier *modifier) {
    if (modifier->radius <= 0 || modifier->strength == 0) return (PhxCellRect){0, 0, 0, 0};
    const fix16_t r = modifier->radius < PHX_COST_RADIUS_LIMIT ? modifier->radius : PHX_COST_RADIUS_LIMIT;
    return (PhxCellRect){
        phx_nav_floor(phx_fix_sub(modifier->x, r)), phx_nav_floor(phx_fix_sub(modifier->y, r)),
        phx_nav_floor(phx_fix_add(modifier->x, r)) + 1, phx_nav_floor(phx_fix_add(modifier->y, r)) + 1};
}
