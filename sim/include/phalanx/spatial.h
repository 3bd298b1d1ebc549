/* spatial.h: which rows are near a point. A uniform grid over the positions of this tick, rebuilt by counting
 * sort.
 *
 * In: positions by slot, the slots that live. Out: the rows in order of (cell, slot), with a copy of their
 * positions in that order, so that a query reads memory forwards: the cells of one grid row are neighbours in
 * memory. Cost: building is linear in rows and cells; a query reads the cells that its circle touches.
 *
 * Determinism: the grid is DERIVED. Origin, cell size and order are a pure function of (positions, slots,
 * range); the sort is stable over ascending slots, so that the order inside a cell is the order of slots. A
 * query's answer doesn't depend on the grid at all: it's the k first by (squared distance, slot), a total
 * order.
 */
#ifndef PHALANX_SPATIAL_H
#define PHALANX_SPATIAL_H

#include <phalanx/jobs.h>
#include <phalanx/vec2.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct PhxArena;

enum {
    PHX_SPATIAL_MAX_ROWS = 1 << 20,   /* a query's key is 44 bits of squared distance and 20 of slot */
    PHX_SPATIAL_MAX_CELLS = 1 << 18,  /* above that the cell size doubles until it fits */
    PHX_SPATIAL_MAX_RANGE = 64 << 16, /* of a query, raw Q16.16: 64 units */
    PHX_SPATIAL_MAX_NEAREST = 32,     /* of a query */
};

/* Fields are read-only outside of spatial/. Rows are numbered 0..count-1 in order of (cell, slot). */
typedef struct PhxSpatial {
    uint32_t capacity;          /* rows and slots: a slot is < capacity */
    uint32_t max_cells;         /* length of cell_start less one */
    uint32_t count;             /* rows in the grid */
    uint32_t width, height;     /* cells; both 0 when there are no rows */
    uint32_t cell_shift;        /* a cell is 2^cell_shift raw units wide */
    int32_t origin_x, origin_y; /* raw; the lowest position of all rows */
    uint32_t *cell_start;       /* width * height + 1: first row of each cell, row-major */
    uint32_t *slot;             /* by row */
    uint32_t *row_of;           /* by slot; only valid for slots that are in the grid */
    PhxVec2 *position;          /* by row */
    uint32_t *cell_of;          /* scratch of the build, by position in the list of slots */
    uint32_t *next_row;         /* scratch of the build, by piece of the list and cell: max_cells */
} PhxSpatial;

/* Takes the grid's memory from `arena` (measuring or real), for slots below `capacity` (<=
 * PHX_SPATIAL_MAX_ROWS). */
void phx_spatial_layout(PhxSpatial *spatial, struct PhxArena *arena, uint32_t capacity);

/* Builds the grid over `count` rows. `x` and `y` are by slot, raw Q16.16 within +-8192 units; `slots` lists
 * the rows in ascending order, null: 0..count-1. `range` is the largest query radius in raw Q16.16 (clamped
 * to 1..64 units); it sets the cell size and nothing else. A count above the capacity is a programmer error.
 */
void phx_spatial_build(PhxSpatial *spatial, const PhxJobs *jobs, const fix16_t *x, const fix16_t *y,
                       const uint32_t *slots, uint32_t count, fix16_t range);

typedef struct PhxNear {
    uint64_t distance_sq; /* Q32.32 */
    uint32_t slot, row;
} PhxNear;

/* The at most `limit` (<= PHX_SPATIAL_MAX_NEAREST) rows strictly closer to `at` than `range` (<= 64 units),
 * in ascending order of (squared distance, slot), into `out`. `exclude` is a slot to leave out, UINT32_MAX
 * for none. Returns how many. Safe from any number of threads at once. */
uint32_t phx_spatial_nearest(const PhxSpatial *spatial, PhxVec2 at, fix16_t range, uint32_t exclude,
                             uint32_t limit, PhxNear *out);

/* The cells that the square of half-width `range` around `at` touches: columns first_x..last_x and rows
 * first_y..last_y, clipped to the grid; empty (false) if none. The rows of cells (first_x..last_x, cy) are
 * cell_start[cy * width + first_x] up to cell_start[cy * width + last_x + 1], in one piece: for users who
 * scan. */
typedef struct PhxSpatialWindow {
    uint32_t first_x, last_x, first_y, last_y;
} PhxSpatialWindow;
bool phx_spatial_window(const PhxSpatial *spatial, PhxVec2 at, fix16_t range, PhxSpatialWindow *out);

#ifdef __cplusplus
}
#endif
#endif
