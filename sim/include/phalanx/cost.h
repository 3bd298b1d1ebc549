/* cost.h: cost planes: how the layers of a map are composed to one byte a cell.
 *
 * Sources, each of which can change on its own: ground cost, kind of ground, height, density (grids),
 * buildings and gates, modifiers (fear, attraction). A profile says how a class of units weighs them. The
 * result is 1..254, or 255: impassable. How a cell's value comes about:
 *
 *   1. Closed (255): ground 255, a kind that the profile can't pass, a slope above its limit, a building, a
 *      gate that is shut for the team. Nothing else ever closes or opens a cell.
 *   2. ground * kind_percent / 100, half rounded up, clamped to 1..254.
 *   3. plus slope_cost * the greatest height step to a neighbour E, S, W, N in the map
 *      plus density_cost * density
 *      plus, for each modifier of the team, strength * (radius - d) / radius where the cell's centre is at a
 *        distance d < radius (rounded down to 1/65536), half rounded away from zero
 *      plus the margin: margin_cost * (width + 1 - d) / width where the nearest closed cell is at a
 *        distance d < width + 1, centre to centre, half rounded up;
 *      all added, then clamped to 1..254.
 *   4. Smoothed, if asked for: the weighted mean of the passable ones among the 3 x 3 cells, half rounded up.
 *   5. For a layer of size n: the greatest value under an n x n block of cells, where n = ceil(2 * radius).
 *
 * Whatever lies beyond the map is closed, for the margin and the block too. The block lies around the cell
 * for odd n; for even n it has one cell more to the right and downwards, so that a unit's centre is at the
 * middle of its cell (odd) or at the cell's lower right corner (even). So a disc of that radius on the centre
 * of a passable cell of its layer, or on a straight line between the centres of two that a step joins (nav.h:
 * diagonal steps need both side cells), touches no closed cell; and a corridor of just n cells is open to it.
 *
 * What stops a body is ground 255, buildings and shut gates alone. What only a profile closes (a kind, a
 * slope) no way leads over, but a unit that is pushed there isn't held: its field leads it out.
 *
 * Memory: no allocation; composing takes up to 16 KB of stack. Threads: nothing is shared; different
 * rectangles of one plane may be composed at once. Determinism: integers; a pure function of the sources, no
 * matter how the map is cut into rectangles, nor in which order buildings and modifiers are listed.
 */
#ifndef PHALANX_COST_H
#define PHALANX_COST_H

#include <phalanx/nav.h>
#include <phalanx/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PHX_COST_KINDS = 16,      /* kinds of ground */
    PHX_COST_SIZE_LIMIT = 32, /* n of the largest unit */
    PHX_COST_REACH = 40,      /* cells; no composed cell depends on a change of ground, kind, height, density,
                                 buildings, or of what phx_cost_modifier_rect gives, farther off than this */
    PHX_COST_RADIUS_LIMIT = 64 << 16, /* raw; of a modifier */
    PHX_COST_STRENGTH_LIMIT = 253
};

/* How a class of units weighs the sources. */
typedef struct PhxCostProfile {
    uint8_t kind_percent[PHX_COST_KINDS];  /* cost of each kind of ground, percent of the ground's cost; 0:
                                              100; 255: impassable */
    uint8_t speed_percent[PHX_COST_KINDS]; /* speed on each kind, percent; 0: 100 */
    uint8_t slope_cost;   /* added for each height step between a cell and its steepest neighbour */
    uint8_t slope_limit;  /* a cell with a greater height step is impassable; 0: no limit */
    uint8_t margin_cost;  /* added beside a wall, */
    uint8_t margin_width; /* falling to 0 over so many cells, 0..4; more: 4 */
    uint8_t density_cost; /* added for each step of density */
    uint8_t smoothing;    /* 1 mean 3x3, 2 Gauss 3x3 (1 2 1), else none */
} PhxCostProfile;

/* A building: closed cells; a gate is open for the teams in its mask. */
typedef struct PhxCostBuilding {
    PhxCellRect cells;
    uint16_t open_teams; /* bit t: team t walks through */
} PhxCostBuilding;

/* Raises (fear) or lowers (attraction) the cost in a disc, falling linearly to 0 at its rim. */
typedef struct PhxCostModifier {
    fix16_t x, y, radius; /* world units; radius 0..64, beyond: taken as the nearer of both */
    int16_t strength;     /* at the centre; -253..253, beyond: likewise */
    uint16_t teams;       /* whom it concerns, a bit each */
} PhxCostModifier;

/* Views of the layers; owns nothing. Grids hold width * height bytes, row by row. */
typedef struct PhxCostSources {
    uint32_t width, height;           /* cells, 1..PHX_NAV_MAX_SIDE */
    const uint8_t *ground;            /* cost, 1..255; 0 counts as 1 */
    const uint8_t *kind;              /* 0..15 (of larger values the low 4 bits); null: all 0 */
    const uint8_t *height_map;        /* steps; null: flat */
    const uint8_t *density;           /* 0..15; null: none */
    const PhxCostBuilding *buildings; /* may overlap, and reach beyond the map; null if there are none */
    uint32_t building_count;
    const PhxCostModifier *modifiers; /* null if there are none */
    uint32_t modifier_count;
} PhxCostSources;

/* Composes `rect` (clipped to the map) of a whole map's plane (row by row) for a profile, a team and a size
 * of 1..PHX_COST_SIZE_LIMIT. Teams are 0..15; for others no gate is open and no modifier counts. Bytes of the
 * plane outside of `rect` are neither read nor written. `plane` may not be one of the sources. Cost: about a
 * copy where the profile is plain; about 10 ns a cell with everything on; a look at each building and
 * modifier for every block of 64 x 64 cells, and 10 ns for each cell that a modifier reaches. */
void phx_cost_compose(const PhxCostSources *sources, const PhxCostProfile *profile, uint32_t team,
                      uint32_t size, PhxCellRect rect, uint8_t *plane);
/* The cells whose step 3 a modifier may change (perhaps beyond the map; empty if it changes nothing): what to
 * touch where one comes, goes or moves. */
PhxCellRect phx_cost_modifier_rect(const PhxCostModifier *modifier);

/* n of a unit of this radius: ceil(2 * radius), clamped to 1..PHX_COST_SIZE_LIMIT. */
uint32_t phx_cost_size_of(fix16_t radius);
/* A world position in the coordinates of a layer, where a cell's centre is at its middle for every size: for
 * even sizes half a cell less, else the same. For all that reads a layer by position (nav.h, routes.h). And
 * back. Saturating. */
PhxVec2 phx_cost_to_layer(uint32_t size, PhxVec2 at);
PhxVec2 phx_cost_from_layer(uint32_t size, PhxVec2 at);
/* The cell of a layer of size n that stands for a unit at (x, y), any values, clamped into the map; and where
 * the unit stands that is at the middle of it. `cell` is below width * height. */
uint32_t phx_cost_cell_of(const PhxNavGrid *plane, uint32_t size, fix16_t x, fix16_t y);
PhxVec2 phx_cost_center_of(const PhxNavGrid *plane, uint32_t size, uint32_t cell);
/* Percent of its speed that a unit has on a kind of ground (the low 4 bits count): 1..255. */
uint32_t phx_cost_speed_percent(const PhxCostProfile *profile, uint8_t kind);

#ifdef __cplusplus
}
#endif
#endif
