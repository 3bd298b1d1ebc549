/* nav.h: the grid that units walk on, lines of sight over it, and flow fields: for every cell the exact cost
 * to the nearest goal and the way there, read by any number of units.
 *
 * Units: a cell is 1 x 1 world unit, cell (cx, cy) covers [cx, cx+1) x [cy, cy+1), the map's origin is (0,
 * 0), y points down. Positions are Q16.16. A cell's index is cy * width + cx. One rule for diagonals
 * everywhere (fields, sight, directions): a diagonal step is allowed only when both cells beside it are
 * passable, so that nothing passes through a corner. Memory: nothing here allocates. The caller owns grids,
 * fields and scratch memory. Threads: no function has state of its own; different fields can be built on
 * different threads at once, each with its own scratch, and a built field can be read by any number of
 * threads. Determinism: integers only; each tie ends in a cell index or a direction code. The field is a pure
 * function of grid, weights and the set of goals (their order doesn't matter).
 */
#ifndef PHALANX_NAV_H
#define PHALANX_NAV_H

#include <phalanx/fixed.h>
#include <phalanx/status.h>
#include <phalanx/vec2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PHX_NAV_NO_CELL     UINT32_MAX
#define PHX_NAV_MAX_SIDE    4096u /* cells, of width and of height */
#define PHX_NAV_IMPASSABLE  255u  /* the cost of a wall; passable cells cost 1 (normal) to 254 */
#define PHX_FIELD_UNREACHED UINT32_MAX

/* A view of a terrain; owns nothing. `cost` holds width * height bytes, row by row; 0 is not a cost. */
typedef struct PhxNavGrid {
    uint32_t width, height; /* 1..PHX_NAV_MAX_SIDE */
    const uint8_t *cost;
} PhxNavGrid;

/* The cell that holds (x, y); PHX_NAV_NO_CELL outside of the map. */
uint32_t phx_nav_cell_at(const PhxNavGrid *grid, fix16_t x, fix16_t y);
/* The same, with the position moved to the nearest cell of the map first: always a cell. */
uint32_t phx_nav_cell_clamped(const PhxNavGrid *grid, fix16_t x, fix16_t y);
/* The centre of a cell. `cell` is below width * height. */
PhxVec2 phx_nav_cell_center(const PhxNavGrid *grid, uint32_t cell);
/* Whether (cx, cy) lies in the map and is no wall. Any values are allowed. */
bool phx_nav_passable(const PhxNavGrid *grid, int32_t cx, int32_t cy);
/* The passable cell whose centre is nearest to that of `cell` (itself, if passable); equal distances: the
 * lowest index. PHX_NAV_NO_CELL if `cell` is no cell of the map or the map has no passable cell. Cost: the
 * square of the distance found. */
uint32_t phx_nav_nearest_open(const PhxNavGrid *grid, uint32_t cell);
/* Whether the straight segment from a to b touches passable cells only. Exact; the same from b to a. A
 * segment that passes through a lattice point diagonally needs both cells beside that point, as a step does;
 * one that runs along a grid line lies in the cells right of or below it. Both ends must lie in the map, else
 * false. Cost: one step a cell. */
bool phx_nav_line_of_sight(const PhxNavGrid *grid, PhxVec2 a, PhxVec2 b);

/* Goal areas: the passable cells of a rectangle (x0 <= x < x1, y0 <= y < y1; empty: none), or those whose
 * centres are at most `radius` away from `center` and the one that holds `center`, by rising index; what lies
 * beyond the map is left out. At most `limit` are written to `cells`; returns how many there are. Cost: a
 * look at each cell of the area's box. */
uint32_t phx_nav_cells_in_rect(const PhxNavGrid *grid, int32_t x0, int32_t y0, int32_t x1, int32_t y1,
                               uint32_t limit, uint32_t *cells);
uint32_t phx_nav_cells_in_disc(const PhxNavGrid *grid, PhxVec2 center, fix16_t radius, uint32_t limit,
                               uint32_t *cells);

/* Weight of a straight and of a diagonal step. 1 <= straight <= diagonal <= 2 * straight; or diagonal 0: no
 * diagonal steps at all, four directions (whole fields only). The usual pair is PHX_FIELD_WEIGHTS_DEFAULT
 * (10, 14); 5741, 8119 has the ratio sqrt 2 within 1e-8. */
typedef struct PhxFieldWeights {
    uint16_t straight, diagonal;
} PhxFieldWeights;
#define PHX_FIELD_WEIGHTS_DEFAULT ((PhxFieldWeights){10, 14})

/* What a flow code means: 0..7 is the step to take, in order E, SE, S, SW, W, NW, N, NE (y points down). */
enum {
    PHX_FLOW_GOAL = 8, /* the cell is a goal */
    PHX_FLOW_NONE = 9, /* passable, but no way leads from it to a goal */
    PHX_FLOW_WALL = 10 /* impassable; so "no way from here" is code >= PHX_FLOW_NONE */
};
/* Cell offsets of the codes 0..7. */
extern const int8_t phx_flow_dx[8], phx_flow_dy[8];

/* A flow field. The arrays hold width * height elements, row by row, in memory that the caller gave. */
typedef struct PhxField {
    uint32_t width, height;
    PhxFieldWeights weights; /* of the last build */
    uint32_t
        *integration; /* cost of the way to the nearest goal; PHX_FIELD_UNREACHED in walls and without way */
    uint8_t *flow;    /* codes */
} PhxField;

/* Bytes of memory for a field, and of scratch memory for a build, of a map of this size (both sides 1..4096).
 */
size_t phx_field_size(uint32_t width, uint32_t height);
size_t phx_field_scratch_size(uint32_t width, uint32_t height);
/* Lays a field into `memory` (phx_field_size bytes, aligned to 8, kept by the caller as long as the field is
 * used) and marks every cell PHX_FLOW_NONE. Sides outside of 1..4096 are a programmer error. */
void phx_field_init(PhxField *field, uint32_t width, uint32_t height, void *memory);

/* Builds the field of the goals (cells; repeats are allowed, order doesn't matter).
 *
 * integration[c] is the least sum over all ways from c to a goal, where a step costs its weight times the
 * cost of the cell that it enters, walking towards the goal. flow[c] is the step to the neighbour n with the
 * least integration[n] + cost of that step; of equal ones the lowest code. `scratch`: phx_field_scratch_size
 * bytes, aligned to 8; its content matters neither before nor after. Errors, found before anything is
 * written: PHX_ERROR_ARGUMENT (no goals, weights outside of their bounds, grid and field of different sizes),
 * PHX_ERROR_RANGE (a goal that is no cell, a cost of 0), PHX_ERROR_STATE (a goal in a wall: see
 * phx_nav_nearest_open). PHX_ERROR_LIMIT: a sum would pass UINT32_MAX - 1; the field is then empty, as after
 * phx_field_init.
 * Cost: linear in the cells. Source: field.c. */
PHX_MUST_USE PhxStatus phx_field_build(PhxField *field, const PhxNavGrid *grid, PhxFieldWeights weights,
                                       const uint32_t *goals, uint32_t goal_count, void *scratch);

/* The direction in which a unit at (x, y) should walk: a unit vector Q2.30, or zero.
 *
 * The flow directions of the four cells whose centres surround the position, weighted bilinearly; only those
 * count that a step leads to from the unit's own cell and whose direction is within 90 degrees of its own.
 * Then what points into a wall is taken off. So from any position in a reached cell, a straight step of up to
 * 1 unit along the result touches passable cells only. In a goal's cell: zero (the unit walks straight to its
 * point). In a passable cell without way: zero. In a wall or outside of the map: straight to the centre of
 * the nearest passable cell (as phx_nav_nearest_open of the nearest cell of the map); zero if there is none.
 */
PhxDir phx_field_direction(const PhxField *field, fix16_t x, fix16_t y);

/* Line of sight over a whole field. sight[cell] becomes the index into `goals` of the nearest goal (ties: the
 * lowest cell) that all of the cell sees over cells of the goal's own cost, within 63 cells; else
 * PHX_FIELD_SIGHT_NONE. `sight` holds width * height bytes; `scratch`: phx_field_scratch_size bytes, aligned
 * to 8. Of more than 16 goals none is seen. Errors, found before anything is written: PHX_ERROR_ARGUMENT (no
 * goals), PHX_ERROR_RANGE (a goal that is no cell), PHX_ERROR_STATE (a goal in a wall). Cost: about 100 us a
 * goal, and a byte a cell. */
enum { PHX_FIELD_SIGHT_NONE = 255 };
PHX_MUST_USE PhxStatus phx_field_sight(const PhxNavGrid *grid, const uint32_t *goals, uint32_t goal_count,
                                       uint8_t *sight, void *scratch);
/* phx_field_direction, but in a cell in sight of a goal straight to `goal_point`, if that lies in the goal's
 * cell, else to its centre; zero in the very point. `goals` as given to phx_field_sight. */
PhxDir phx_field_direction_in_sight(const PhxField *field, const uint8_t *sight, const uint32_t *goals,
                                    PhxVec2 goal_point, fix16_t x, fix16_t y);
/* The same for many units; `sight` null: phx_field_direction (goals and points aren't read then). */
void phx_field_directions(const PhxField *field, const uint8_t *sight, const uint32_t *goals, uint32_t count,
                          const PhxVec2 *goal_points, const PhxVec2 *at, PhxDir *out);

/* Proves a built field: goals are 0, every arrow is the least step (ties: the lowest code), goes to a
 * passable cell and through no corner, the integration falls along it by exactly the step's cost (so there is
 * no circle), and no passable cell beside a reached one is unreached. `error` (may be null) names the cell;
 * error->offset is its index. Errors: PHX_ERROR_MISMATCH, PHX_ERROR_ARGUMENT (sizes differ). Cost: linear;
 * for tests and tools. */
PHX_MUST_USE PhxStatus phx_field_check(const PhxField *field, const PhxNavGrid *grid, PhxError *error);

#ifdef __cplusplus
}
#endif
#endif
