/* spline_walls.h: whether a disc slides along a straight line over a grid without touching a wall, exactly:
 * the question that phalanx/spline_path.h puts to the ground.
 *
 * In: a PhxNavGrid (a cell is one unit wide, PHX_NAV_IMPASSABLE is solid, and so is all beyond the map), a
 * line between any two points, a radius. Out: whether every point of the line is at least the radius away
 * from every solid cell (phx_walls_clear says it of one point). Cost: the cells of the rows that the disc
 * sweeps, each row only as far as it does.
 *
 * Determinism: exact integers; the same from b to a, mirrored and turned, as the question is of geometry
 * alone.
 */
#ifndef PHALANX_SPLINE_WALLS_H
#define PHALANX_SPLINE_WALLS_H

#include <phalanx/nav.h>
#include <phalanx/vec2.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `grid` is a const PhxNavGrid; a and b within +-8192 units; radius 1 raw .. 32 units. A PhxSplineClear. */
bool phx_spline_walls_clear(const void *grid, PhxVec2 a, PhxVec2 b, fix16_t radius);

#ifdef __cplusplus
}
#endif
#endif
