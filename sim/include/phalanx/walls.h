/* walls.h: the walls of a map as line segments, and the hard guarantee that no unit enters one.
 *
 * In: a PhxNavGrid (a cell is one unit wide, PHX_NAV_IMPASSABLE is solid, and so is everything beyond the
 * map), or polygons given by their vertices. Out: directed segments with the solid on the left and the open
 * side on the right (det(direction, point - start) < 0 is open), linked into closed outlines and bucketed for
 * queries. Runs of cell edges are merged to maximal axis-parallel segments. Where two solid cells touch only
 * by a corner, they count as joined: no outline passes between them, as no path does (a diagonal step needs
 * both side cells open). Cost: building is linear in cells; a query reads the buckets that its circle
 * touches.
 *
 * Determinism: DERIVED; a pure function of the grid's cells. Segments are numbered by a scan of the grid,
 * queries are ordered by (squared distance, index). phx_walls_move reads the grid itself and no derived data.
 */
#ifndef PHALANX_WALLS_H
#define PHALANX_WALLS_H

#include <phalanx/nav.h>
#include <phalanx/status.h>
#include <phalanx/vec2.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct PhxArena;

enum {
    PHX_WALLS_NONE = -1,
    PHX_WALLS_MAX_NEAR = 24, /* segments that one query gives */
};

/* A directed segment: from `start`, `length` raw units along `dir`, to the start of segment `next`. */
typedef struct PhxWall {
    PhxVec2 start;
    PhxDir dir;         /* unit, Q2.30 */
    fix16_t length;     /* raw Q16.16, > 0 */
    int32_t next, prev; /* neighbours in the outline */
    int32_t convex;     /* 1 where the solid's corner at `start` is convex (or straight), else 0 */
} PhxWall;

/* Fields are read-only outside of motion/. */
typedef struct PhxWalls {
    uint32_t count, capacity;
    PhxWall *wall;
    int32_t origin_x, origin_y; /* raw; corner of bucket (0,0) */
    uint32_t bucket_shift;      /* a bucket is 2^bucket_shift raw units wide */
    uint32_t buckets_x, buckets_y;
    uint32_t *bucket_start; /* buckets_x * buckets_y + 1 */
    uint32_t *bucket_item;  /* wall indices, ascending in each bucket */
    uint32_t bucket_capacity, item_capacity;
} PhxWalls;

/* How much memory the walls of a grid need: segments and bucket entries. Pure; reads each cell once or twice.
 */
typedef struct PhxWallsSize {
    uint32_t walls, buckets, items;
} PhxWallsSize;
PhxWallsSize phx_walls_size_grid(const PhxNavGrid *grid);
/* The same for `count` polygons with sizes[i] vertices each (>= 2; 2 is a thin wall with two sides). */
PhxWallsSize phx_walls_size_polygons(const PhxVec2 *vertices, const uint32_t *sizes, uint32_t count);

/* Takes the memory from `arena` (measuring or real). */
void phx_walls_layout(PhxWalls *walls, struct PhxArena *arena, PhxWallsSize size);

/* Builds the walls of a grid. Errors: PHX_ERROR_FULL where the layout was made for fewer (nothing is kept
 * then). */
PHX_MUST_USE PhxStatus phx_walls_build_grid(PhxWalls *walls, const PhxNavGrid *grid);

/* Builds the walls of closed polygons, vertices one polygon after the other, within +-8192 units, the open
 * side to the right of each edge (so a solid box lists its corners with rising angle: (0,0) (1,0) (1,1)
 * (0,1)). Edges shorter than 1/256 unit aren't allowed. Errors: PHX_ERROR_FULL, PHX_ERROR_ARGUMENT (such an
 * edge, less than 2 vertices). */
PHX_MUST_USE PhxStatus phx_walls_build_polygons(PhxWalls *walls, const PhxVec2 *vertices,
                                                const uint32_t *sizes, uint32_t count);

typedef struct PhxWallNear {
    uint64_t distance_sq; /* Q32.32, from the point to the segment, rounded down */
    uint32_t wall;
} PhxWallNear;

/* The at most `limit` (<= PHX_WALLS_MAX_NEAR) segments strictly closer to `at` than `range` (<= 64 units)
 * whose open side `at` is on, in ascending order of (squared distance, index). Returns how many. */
uint32_t phx_walls_nearest(const PhxWalls *walls, PhxVec2 at, fix16_t range, uint32_t limit,
                           PhxWallNear *out);

/* Moves a disc of `radius` (1/16..16 units) by `displacement` (|.| <= 64 units), stopping at and sliding
 * along solid cells of `grid`. The guarantee, whatever was asked for:
 *   - a disc that touched no solid cell (squared distance of centre and cell >= radius^2, exactly) touches
 * none after;
 *   - it doesn't pass through a wall, nor between two solid cells that touch by a corner;
 *   - a disc that begins inside a wall never ends deeper, and is pushed out by up to 2 min(radius, 1 unit) a
 * call, as far as the place is wide enough for it; a centre inside a solid cell only goes towards the centre
 * of the nearest open cell within 8 cells, by up to max(radius, 1 unit) a call. The step is cut into pieces
 * of at most min(radius, 1 unit) / 2. Cost: one look at the cells under the swept box where none of them is
 * solid. Returns the new position; compare it with from + displacement to see whether it was blocked. */
PhxVec2 phx_walls_move(const PhxNavGrid *grid, PhxVec2 from, PhxVec2 displacement, fix16_t radius);

/* Whether a disc at `at` touches no solid cell: the squared distance to each is >= radius^2. */
bool phx_walls_clear(const PhxNavGrid *grid, PhxVec2 at, fix16_t radius);

#ifdef __cplusplus
}
#endif
#endif
