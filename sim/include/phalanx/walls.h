/* walls.h: the walls of a map as line segments, and the hard guarantee that no unit enters one.
 *
 * In: a PhxNavGrid (a cell is one unit wide, PHX_NAV_IMPASSABLE is solid, and so is everything beyond the
 * map), or polygons given by their vertices. Which grid: the plane that stops the units in question, one cell
 * wide: ground, buildings, and the gates that are shut for their team (phalanx/cost.h, size 1). Out: directed
 * segments with the solid on the left and the open side on the right (det(direction, point - start) < 0 is
 * open). Each knows how the outline goes on at its ends. Where two solid cells touch only by a corner, they
 * count as joined: no outline passes between them, as no path does (a diagonal step needs both side cells
 * open).
 *
 * The segments of a grid are kept by sectors of 64 x 64 cells, cut at their borders, so that a change costs
 * what the sectors cost that it touches; a query puts the pieces together again, so that nobody sees the
 * cuts. Cost: building is linear in cells, 8 cells at a time, sectors in parallel; a segment takes 4 bytes,
 * and 2 for each bucket of 4 x 4 cells that it touches; a sector with walls 516 besides; a query reads the
 * buckets that its circle touches.
 *
 * Determinism: DERIVED; a pure function of the grid's cells. Queries are ordered by (squared distance, axis,
 * line, lower end), for polygons by (squared distance, index). Sectors are made by any thread; each writes
 * its own. phx_walls_move reads the grid itself and no derived data.
 */
#ifndef PHALANX_WALLS_H
#define PHALANX_WALLS_H

#include <phalanx/allocator.h>
#include <phalanx/jobs.h>
#include <phalanx/nav.h>
#include <phalanx/routes.h>
#include <phalanx/status.h>
#include <phalanx/vec2.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PHX_WALLS_MAX_NEAR = 24,    /* segments that one query gives */
    PHX_WALLS_SECTOR_SHIFT = 6, /* a sector has 2^6 cells a side */
    PHX_WALLS_SIGHT = 128 << 16 /* raw: a segment is known for so far from the point that asks, and no more */
};

/* How the outline goes on at an end of a segment. */
typedef enum PhxWallJoint {
    PHX_WALL_CONCAVE,
    PHX_WALL_CONVEX, /* the solid's corner is convex (or straight: polygons only) */
    PHX_WALL_CUT     /* straight on; the segment is a piece of a longer one */
} PhxWallJoint;

/* A directed segment. */
typedef struct PhxWall {
    PhxVec2 start, end;
    PhxDir dir;                /* unit, Q2.30 */
    PhxDir prev_dir, next_dir; /* of the neighbours in the outline */
    fix16_t length;            /* raw Q16.16, > 0 */
    uint8_t at_start, at_end;  /* PhxWallJoint */
} PhxWall;

/* Fields are private to motion/; all zero: no walls. */
struct PhxWallSector;
typedef struct PhxWalls {
    uint32_t count; /* segments; of a grid: pieces in sectors of its own */
    PhxAllocator allocator;
    /* of a grid */
    uint32_t width, height; /* cells; 0: not of a grid */
    uint32_t sector_shift, sectors_x, sectors_y;
    struct PhxWallSector *sector; /* row by row */
    const struct PhxWalls *base;  /* whose sectors count where it has none of its own; null: none */
    /* of polygons */
    PhxWall *wall;
    int32_t origin_x, origin_y; /* raw; corner of bucket (0,0) */
    uint32_t bucket_shift;      /* a bucket is 2^bucket_shift raw units wide */
    uint32_t buckets_x, buckets_y, items;
    uint32_t *bucket_start; /* buckets_x * buckets_y + 1 */
    uint32_t *bucket_item;  /* wall indices, ascending in each bucket */
} PhxWalls;

/* Makes the walls of a grid. Errors: PHX_ERROR_MEMORY, PHX_ERROR_ARGUMENT (sides outside of
 * 1..PHX_NAV_MAX_SIDE); there are no walls then, and nothing to destroy. */
PHX_MUST_USE PhxStatus phx_walls_create_grid(PhxWalls *walls, PhxAllocator allocator, const PhxNavGrid *grid,
                                             const PhxJobs *jobs);
/* Walls that are those of `base`, a grid's, until an update finds other ones: for a team for which other
 * gates are open. Memory: 48 bytes a sector, and the sectors that differ. `base` must outlive it, and is
 * updated first. Errors: PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_walls_create_over(PhxWalls *walls, PhxAllocator allocator, const PhxWalls *base);
/* Makes the sectors anew that cells in `rect` (clipped to the map) have to do with; after it the walls are
 * what create makes of `grid`, if no other cells have changed. The grid has the size it had. Memory is asked
 * for only where a sector's walls have become more. Errors: PHX_ERROR_MEMORY; the walls are as they were. */
PHX_MUST_USE PhxStatus phx_walls_update_grid(PhxWalls *walls, const PhxNavGrid *grid, PhxCellRect rect,
                                             const PhxJobs *jobs);
/* Makes the walls of `count` closed polygons with sizes[i] vertices each (>= 2; 2 is a thin wall with two
 * sides), vertices one polygon after the other, within +-8192 units, the open side to the right of each edge
 * (so a solid box lists its corners with rising angle: (0,0) (1,0) (1,1) (0,1)). Edges shorter than 1/256
 * unit aren't allowed. Errors: PHX_ERROR_MEMORY, PHX_ERROR_ARGUMENT (such an edge, less than 2 vertices); as
 * above. */
PHX_MUST_USE PhxStatus phx_walls_create_polygons(PhxWalls *walls, PhxAllocator allocator,
                                                 const PhxVec2 *vertices, const uint32_t *sizes,
                                                 uint32_t count);
void phx_walls_destroy(PhxWalls *walls); /* leaves none; none is fine */
size_t phx_walls_bytes(const PhxWalls *walls);

/* The pieces that one sector of a grid holds, cut at its borders, as they are kept: by (axis, line, lower
 * end), horizontal ones first; or all polygons' segments (sector 0). At most `limit` are written; returns how
 * many there are. For viewers and tests. */
uint32_t phx_walls_of_sector(const PhxWalls *walls, uint32_t sector, PhxWall *out, uint32_t limit);

typedef struct PhxWallNear {
    uint64_t distance_sq; /* Q32.32, from the point to the segment, rounded down */
    uint32_t rank;        /* decides between equal distances */
    uint32_t place;       /* where it is kept; means something until the next change */
} PhxWallNear;

/* The at most `limit` (<= PHX_WALLS_MAX_NEAR) segments strictly closer to `at` than `range` (<= 64 units)
 * whose open side `at` is on, in ascending order. Pieces of one segment count as one. Returns how many. */
uint32_t phx_walls_nearest(const PhxWalls *walls, PhxVec2 at, fix16_t range, uint32_t limit,
                           PhxWallNear *out);
/* What a query found: the whole segment, or as much of it as lies within PHX_WALLS_SIGHT of the point (at
 * least: such an end is PHX_WALL_CUT). */
PhxWall phx_walls_get(const PhxWalls *walls, const PhxWallNear *near);

/* Moves a disc of `radius` (1/16..16 units) by `displacement` (|.| <= 64 units), stopping at and sliding
 * along solid cells of `grid`. The guarantee, whatever was asked for:
 *   - a disc that touched no solid cell (squared distance of centre and cell >= radius^2, exactly) touches
 * none after;
 *   - it doesn't pass through a wall, nor between two solid cells that touch by a corner;
 *   - a disc that begins inside a wall never ends deeper, and is pushed out by up to 2 min(radius, 1 unit) a
 * call, as far as the place is wide enough for it; a centre inside a solid cell (a building was placed on it,
 * a gate shut) only goes towards the centre of the nearest open cell, however far (ties: lower y, then x), by
 * up to max(radius, 1 unit) a call, until it is in an open cell. A map without open cells leaves it where it
 * is. The step is cut into pieces of at most min(radius, 1 unit) / 2. Cost: one look at the cells under the
 * swept box where none of them is solid; in a solid cell the square of the way out, 8 cells at a time.
 * Returns the new position; compare it with from + displacement to see whether it was blocked. */
PhxVec2 phx_walls_move(const PhxNavGrid *grid, PhxVec2 from, PhxVec2 displacement, fix16_t radius);

/* The same for any walls, polygons above all: moves a disc by `displacement` (|.| <= 64 units) along the
 * walls that it would touch. A disc that touches none (phx_walls_nearest finds none within its radius)
 * touches none after, and passes through none, however thin; one that touches some is pushed off where that's
 * possible, and stays where it isn't. The walls within |displacement| + radius have to be at most
 * PHX_WALLS_MAX_NEAR. */
PhxVec2 phx_walls_stop(const PhxWalls *walls, PhxVec2 from, PhxVec2 displacement, fix16_t radius);

/* Whether a disc at `at` touches no solid cell: the squared distance to each is >= radius^2. */
bool phx_walls_clear(const PhxNavGrid *grid, PhxVec2 at, fix16_t radius);

#ifdef __cplusplus
}
#endif
#endif
