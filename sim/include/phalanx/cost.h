/* cost.h: cost fields: how the layers of a map are composed to one byte a cell.
 *
 * Sources, each of which can change on its own: ground cost, kind of ground, height, density (grids),
 * buildings and gates, modifiers (fear, attraction). A profile says how a class of units weighs them. The
 * result is 1..254, or 255: impassable. What closes a cell: ground 255, a kind or a slope that the profile
 * can't pass, a building, a gate that is shut for the team. Nothing else ever closes or opens a cell: what
 * modifiers, density, margin and smoothing give is clamped to 1..254. A layer for units of size n (an n x n
 * block of cells, n = ceil(2 * radius)) is the greatest value under the block: for odd n around the cell, for
 * even n the block from the cell to the right and downwards, so that a unit's centre is at the middle of its
 * cell (odd) or at the cell's lower right corner (even). Determinism: integers; a pure function of the
 * sources.
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
    PHX_COST_REACH = 40       /* cells; no composed cell depends on a source farther off than this */
};

/* How a class of units weighs the sources. */
typedef struct PhxCostProfile {
    uint8_t kind_percent[PHX_COST_KINDS];  /* cost of each kind of ground, percent of the ground's cost; 0:
                                              100; 255: impassable */
    uint8_t speed_percent[PHX_COST_KINDS]; /* speed on each kind, percent; 0: 100 */
    uint8_t slope_cost;   /* added for each height step between a cell and its steepest neighbour */
    uint8_t slope_limit;  /* a steeper cell is impassable; 0: no limit */
    uint8_t margin_cost;  /* added beside a wall, */
    uint8_t margin_width; /* falling to 0 over so many cells, 0..4 */
    uint8_t density_cost; /* added for each step of density */
    uint8_t smoothing;    /* 0 none, 1 mean 3x3, 2 Gauss 3x3 (1 2 1) */
} PhxCostProfile;

/* A building: closed cells; a gate is open for the teams in its mask. */
typedef struct PhxCostBuilding {
    PhxCellRect cells;
    uint16_t open_teams; /* bit t: team t walks through */
} PhxCostBuilding;

/* Raises (fear) or lowers (attraction) the cost in a disc, falling linearly to 0 at its rim. */
typedef struct PhxCostModifier {
    fix16_t x, y, radius; /* world units; radius 0..64 */
    int16_t strength;     /* -253..253, at the centre */
    uint16_t teams;       /* whom it concerns, a bit each */
} PhxCostModifier;

typedef struct PhxCostSources {
    uint32_t width, height;
    const uint8_t *ground;     /* 1..255 */
    const uint8_t *kind;       /* 0..15; null: all 0 */
    const uint8_t *height_map; /* null: flat */
    const uint8_t *density;    /* 0..15; null: none */
    const PhxCostBuilding *buildings;
    uint32_t building_count;
    const PhxCostModifier *modifiers;
    uint32_t modifier_count;
} PhxCostSources;

/* Composes `rect` of the plane (row by row, the map's width) for a profile, a team and a size of 1..32. */
void phx_cost_compose(const PhxCostSources *sources, const PhxCostProfile *profile, uint32_t team,
                      uint32_t size, PhxCellRect rect, uint8_t *plane);
/* n of a unit of this radius. */
uint32_t phx_cost_size_of(fix16_t radius);
/* The cell of a layer of size n that stands for a unit at (x, y), clamped into the map; and back. */
uint32_t phx_cost_cell_of(const PhxNavGrid *plane, uint32_t size, fix16_t x, fix16_t y);
PhxVec2 phx_cost_center_of(const PhxNavGrid *plane, uint32_t size, uint32_t cell);
/* Percent of its speed that a unit has on a kind of ground. */
uint32_t phx_cost_speed_percent(const PhxCostProfile *profile, uint8_t kind);

#ifdef __cplusplus
}
#endif
#endif
