/* ground.h: where bodies can stand on a map, which places are joined, and the way outwards from a place.
 *
 * In: a grid and the radius of a body. Out: for each cell whether such a body stands there with its centre on
 * the cell's centre, and a number for each piece of ground within which it can walk (over edges of cells; a
 * diagonal step needs both side cells, so it joins nothing more). Used to place units on any map and by bots
 * that choose a goal. Cost: a few passes over the map; 9 bytes a cell. Determinism: integers only; pieces are
 * numbered by their first cell, every search ends in a cell index.
 */
#ifndef PHX_TOOLS_GROUND_H
#define PHX_TOOLS_GROUND_H

#include <phalanx/nav.h>

typedef struct PhxGround {
    uint32_t width, height;
    uint8_t *fits;   /* 1: a body stands here */
    uint32_t *piece; /* number of the cell's piece, from 1; 0: no body stands here */
    uint32_t *queue; /* scratch of the searches, width * height */
    uint8_t *seen;   /* scratch of the searches: null until the first */
    uint32_t largest,
        largest_cells; /* the piece of most cells (the first of equal ones), 0 if there is none */
} PhxGround;

/* `radius` in world units, up to 16. Errors: PHX_ERROR_ARGUMENT (a size outside 1 .. PHX_NAV_MAX_SIDE, a
 * radius out of range), PHX_ERROR_MEMORY; *out is then null. */
PHX_MUST_USE PhxStatus phx_ground_create(const PhxNavGrid *grid, fix16_t radius, PhxGround **out);
void phx_ground_destroy(PhxGround *ground); /* null is fine */

/* The cell of piece `piece` whose centre is nearest to (x, y), world units, on or off the map; equal
 * distances: the lowest index. PHX_NAV_NO_CELL if the piece has no cell. */
uint32_t phx_ground_nearest(const PhxGround *ground, uint32_t piece, fix16_t x, fix16_t y);

/* Calls `visit` for `from` and then for the other cells of its piece in order of the steps that they are
 * away, until it returns false. `from` must be a cell of a piece. Errors: PHX_ERROR_MEMORY. */
typedef bool (*PhxGroundVisit)(void *user, uint32_t cell);
PHX_MUST_USE PhxStatus phx_ground_spread(PhxGround *ground, uint32_t from, PhxGroundVisit visit, void *user);

/* The four corners of a map. */
typedef enum PhxCorner {
    PHX_CORNER_NORTH_WEST,
    PHX_CORNER_NORTH_EAST,
    PHX_CORNER_SOUTH_WEST,
    PHX_CORNER_SOUTH_EAST,
    PHX_CORNER_COUNT
} PhxCorner;

/* "north_west" and so on. */
const char *phx_corner_name(PhxCorner corner);
/* The cell of the piece nearest to a corner of the map. */
uint32_t phx_ground_corner(const PhxGround *ground, uint32_t piece, PhxCorner corner);

#endif
