/* path.h: the best path of one unit from a cell to a cell, over the grid.
 *
 * Fields (nav.h, routes.h) serve many units with one goal; a path serves one unit, a group's leader, a bot's
 * plan. In: a ground, made from a grid, a start and a goal. Out: cells, and waypoints for straight walking.
 *
 * What is found is a path of the least cost, exactly: a step costs PHX_PATH_STRAIGHT or PHX_PATH_DIAGONAL
 * times the cost of the cell that it enters; diagonal steps need both side cells (nav.h). The ratio of the
 * two is so near to the root of 2 that no two paths of a map of up to 4096 x 4096 cells of one cost compare
 * otherwise than with the root itself (path.c says why), and no sum is ever rounded. Where all passable cells
 * cost the same the search jumps (jump.c), else it goes from cell to cell (astar.c); nodes are taken in the
 * order (f, h, cell), which is total. So among several best paths always the same one is found.
 *
 * A goal in a wall, on an island or behind a shut gate is replaced by the reachable cell nearest to it, and
 * the path says so. Work is counted in nodes expanded; a search can be run in slices, and stopped at a limit,
 * which gives a path towards the goal.
 *
 * Memory: grounds, searches and caches are laid into an arena; nothing allocates afterwards, and no search
 * clears what an earlier one left. Threads: a ground is only read; one search belongs to one thread at a
 * time. Determinism: integers; a result depends on ground, query and limit, and not on slices, on what the
 * search did before, or on threads.
 */
#ifndef PHALANX_PATH_H
#define PHALANX_PATH_H

#include <phalanx/cost.h>
#include <phalanx/nav.h>
#include <phalanx/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

struct PhxArena;

/* What a straight and a diagonal step over ground of cost 1 cost: neighbouring convergents of the root of 2.
 */
#define PHX_PATH_STRAIGHT UINT64_C(38613965)
#define PHX_PATH_DIAGONAL UINT64_C(54608393)

enum {
    PHX_PATH_SIGHT = 256,          /* cells of the longest shortcut that smoothing tries, along one axis */
    PHX_PATH_PASS_RADIUS = 1 << 16 /* raw; the usual distance at which a waypoint counts as passed */
};

/* ---- The ground: a grid as searches read it. */

/* A bit a cell by rows and by columns, the parts of the map that are joined, and whether all costs are equal.
 * DERIVED of the grid. */
typedef struct PhxPathGround PhxPathGround;

/* Takes the memory of a ground for a map of this size (sides 1..PHX_NAV_MAX_SIDE; a programmer's error
 * otherwise) from `arena`, measuring (null is returned) or real: about 4.3 bytes a cell. It is built later.
 */
PhxPathGround *phx_path_ground_layout(struct PhxArena *arena, uint32_t width, uint32_t height);
/* Makes the ground of a grid, whose costs must stay where they are, and as they are until the next update.
 * Errors, with the ground as it was: PHX_ERROR_ARGUMENT (another size), PHX_ERROR_RANGE (a cost of 0). Cost:
 * linear, some 2 ns a cell. */
PHX_MUST_USE PhxStatus phx_path_ground_build(PhxPathGround *ground, const PhxNavGrid *grid);
/* The same where no cell outside of `rect` (clipped to the map) has changed since. Errors: PHX_ERROR_RANGE;
 * PHX_ERROR_STATE (never built). Cost: linear in the rows of the rectangle, and a look at each run of open
 * cells in the map. */
PHX_MUST_USE PhxStatus phx_path_ground_update(PhxPathGround *ground, PhxCellRect rect);
/* Rises with each build and update: what was computed from another version is out of date. 0: never built. */
uint64_t phx_path_ground_version(const PhxPathGround *ground);
PhxNavGrid phx_path_ground_grid(const PhxPathGround *ground);
/* Whether a path joins two cells of the map; a wall isn't joined with anything. Cost: two bisections in a
 * row.
 */
bool phx_path_joined(const PhxPathGround *ground, uint32_t a, uint32_t b);
/* The cell nearest to `wanted` (centres) that a path joins with `from`, itself perhaps; equal distances: the
 * lowest index. PHX_NAV_NO_CELL if `from` is a wall. Cells of the map. Cost: a bisection for each row as near
 * as the cell found. */
uint32_t phx_path_nearest(const PhxPathGround *ground, uint32_t from, uint32_t wanted);

/* ---- The search. */

typedef struct PhxPathQuery {
    uint32_t start, goal; /* cells */
    fix16_t
        radius; /* of the unit, raw, above 0; the grid is the layer of phx_cost_size_of(radius) (cost.h) */
    uint32_t limit; /* nodes to expand at most; 0: as many as it takes */
} PhxPathQuery;

/* How far a path leads. */
typedef enum PhxPathReach {
    PHX_PATH_WHOLE,       /* to the goal */
    PHX_PATH_WALL,        /* the goal is a wall: to the reachable cell nearest to it */
    PHX_PATH_UNREACHABLE, /* no path joins start and goal: likewise */
    PHX_PATH_LIMIT /* the limit, or the search's memory, was used up: to the node that was nearest to the
                      goal, by octile distance, then by cost, then by cell */
} PhxPathReach;

/* A path, in arrays of the caller's. Either array may be null with a capacity of 0. What doesn't fit is left
 * out at the far end, and `cells_cut` or `waypoints_cut` says so: the beginning is always there. */
typedef struct PhxPath {
    uint32_t *cells; /* each step's, start and end included */
    uint32_t cell_capacity, cell_count;
    PhxVec2 *waypoints; /* world units, for the unit's centre: start, turns, end; straight lines between them
                           are free for the radius, however the unit is turned */
    uint32_t waypoint_capacity, waypoint_count;
    bool cells_cut, waypoints_cut; /* never for an array of capacity 0 */
    PhxPathReach reach;
    uint32_t end;                  /* the cell that it leads to, whether or not it was cut */
    uint64_t cost;                 /* of the whole path over the cells */
    uint32_t straights, diagonals; /* steps of the whole path */
    uint32_t expanded;             /* nodes: the work that it took, alike on every machine */
} PhxPath;

typedef struct PhxPathSearch PhxPathSearch;

/* Takes a search for maps of up to `cells` cells from `arena`, measuring (null is returned) or real: 4 bytes
 * a cell, and 56 for each of `nodes`, the most nodes that it remembers (0, or more than there are cells: as
 * many as cells, which always suffices). A search that needs more ends as one that met its limit; jumping
 * needs about one node for ten cells. */
PhxPathSearch *phx_path_search_layout(struct PhxArena *arena, uint32_t cells, uint32_t nodes);

/* Begins a search, and forgets the one before. The ground must stay as it is until the path was taken.
 * Errors: PHX_ERROR_ARGUMENT (the map has more cells than the search; a radius of 0 or less), PHX_ERROR_RANGE
 * (start or goal is no cell of the map), PHX_ERROR_STATE (the ground was never built, or the start is a wall:
 * see phx_nav_nearest_open). There is nothing to run then. */
PHX_MUST_USE PhxStatus phx_path_begin(PhxPathSearch *search, const PhxPathGround *ground,
                                      const PhxPathQuery *query);
/* Expands at most `budget` nodes more. True: it's done. */
bool phx_path_run(PhxPathSearch *search, uint32_t budget);
/* Nodes that the search has expanded so far. */
uint32_t phx_path_expanded(const PhxPathSearch *search);
/* The path of a search that is done (a programmer's error otherwise). */
void phx_path_take(PhxPathSearch *search, PhxPath *path);
/* Begin, run to the end and take in one. Errors: those of begin; the path is empty then. */
PHX_MUST_USE PhxStatus phx_path_find(PhxPathSearch *search, const PhxPathGround *ground,
                                     const PhxPathQuery *query, PhxPath *path);
/* For pictures: fills `cells` (room for `limit`) with the nodes that the search has made, in the order of
 * their making, and returns how many there are. */
uint32_t phx_path_nodes(const PhxPathSearch *search, uint32_t *cells, uint32_t limit);

/* ---- Walking. */

/* Whether a disc of `radius` slides on a straight line from the centre of `a` to that of `b` without
 * touching a wall of the layer of its size (cost.h), exactly; where it only just touches, it slides. Both
 * must be passable cells, else false. Cost: some cells for each column or row between them. */
bool phx_path_clear(const PhxPathGround *ground, uint32_t a, uint32_t b, fix16_t radius);
/* The same, over ground no dearer than `most` besides. */
bool phx_path_clear_within(const PhxPathGround *ground, uint32_t a, uint32_t b, fix16_t radius, uint8_t most);

/* Whether a unit at `at` has passed `waypoint` on its way there from `before`: it's at most `radius` (raw, 0
 * or more) away from it, or has crossed the line through it that stands at right angles on the way there. So
 * a unit that overshot, or was pushed past, isn't turned back. `before` equal to `waypoint`: passed. Points
 * within +-8192 units. */
bool phx_path_passed(PhxVec2 before, PhxVec2 waypoint, PhxVec2 at, fix16_t radius);
/* The waypoint to walk to: the first from `next` (1 or more) on that isn't passed; the last one is never
 * skipped. Returns at most count - 1. Count 0: 0. */
uint32_t phx_path_advance(const PhxVec2 *waypoints, uint32_t count, uint32_t next, PhxVec2 at,
                          fix16_t radius);

/* Proves what can be proved of a path without a search: it begins at the start and, unless cells are cut,
 * ends in `end`; each step may be made; cost and counts are those of the steps (likewise); each line between
 * waypoints is free for the radius, by another method than phx_path_clear. `error` (may be null) says what is
 * wrong; error->offset is the index of the step or waypoint. Errors: PHX_ERROR_MISMATCH. Cost: linear in the
 * cells, and in the area around the lines; for tests and tools. */
PHX_MUST_USE PhxStatus phx_path_check(const PhxNavGrid *grid, const PhxPathQuery *query, const PhxPath *path,
                                      PhxError *error);

/* ---- A cache of recent paths. */

typedef struct PhxPathCache PhxPathCache;

/* Takes a cache of `entries` paths with up to `waypoints` waypoints each from `arena`, measuring (null is
 * returned) or real. 0 entries: remembers nothing. */
PhxPathCache *phx_path_cache_layout(struct PhxArena *arena, uint32_t entries, uint32_t waypoints);
/* Fills `path` as phx_path_find would, without its cells, if the same query was put to the same ground and
 * version; expanded says what the search took then. `path` has room for as many waypoints as the cache keeps,
 * or fewer. False: not there. */
bool phx_path_cache_get(const PhxPathCache *cache, const PhxPathGround *ground, const PhxPathQuery *query,
                        PhxPath *path);
/* Remembers a path that has room for at least as many waypoints as the cache keeps; the entry that was put
 * there first goes. */
void phx_path_cache_put(PhxPathCache *cache, const PhxPathGround *ground, const PhxPathQuery *query,
                        const PhxPath *path);
/* Forgets everything. */
void phx_path_cache_drop(PhxPathCache *cache);

#ifdef __cplusplus
}
#endif
#endif
