/* path_real_maps.c: paths on real game maps against the published optimal lengths.
 *
 * Every tenth problem of each .scen file (few under a sanitizer, all with PHX_LONG=1) is searched by jumping;
 * each path is proved cell by cell and line by line. Published lengths are rounded to 0.005 or finer. Each
 * fiftieth of them is searched cell by cell, too, over the same map with one dear cell in a corner where no
 * path leads: the costs must be equal. The game maps belong to others and lie outside of the project.
 */
#include <math.h>
#include <phalanx/path.h>
#include <stdlib.h>

#include "base/arena.h"
#include "content/moving_ai.h"
#include "harness.h"

enum {
    CELLS = 1 << 16,
    WAYPOINTS = 4096,
    CAUGHT = 3478 /* of maze512-8-0: its goal lies in the column that a diagonal begins in, which was once a
                     false stop */
};

typedef struct Run {
    const char *name;
    PhxMovingAiMap map;
    PhxMovingAiScen scen;
    PhxArena arena;
    PhxPathGround *ground, *uneven;
    PhxPathSearch *search;
    uint8_t *uneven_cost;
    uint32_t *cells;
    PhxVec2 *waypoints;
    uint64_t expanded, searched;
} Run;

static void *read_all(const char *name, const char *ending, size_t *size) {
    char path[256];
    snprintf(path, sizeof path, "maps/%s%s", name, ending);
    void *bytes = test_read_file(test_shared(path), size);
    CHECK_THAT(bytes, "%s", path);
    return bytes;
}

static void lay_out(Run *run, PhxArena *arena) {
    run->ground = phx_path_ground_layout(arena, run->map.width, run->map.height);
    run->uneven = phx_path_ground_layout(arena, run->map.width + 2, run->map.height);
    run->search = phx_path_search_layout(arena, (run->map.width + 2) * run->map.height, 0);
    run->uneven_cost = PHX_ARENA_ARRAY(arena, uint8_t, (size_t)(run->map.width + 2) * run->map.height);
    run->cells = PHX_ARENA_ARRAY(arena, uint32_t, CELLS);
    run->waypoints = PHX_ARENA_ARRAY(arena, PhxVec2, WAYPOINTS);
}

/* The map with a wall and a column of ground that costs 2 on its right. */
static void make_uneven(Run *run) {
    const uint32_t width = run->map.width + 2;
    for (uint32_t y = 0; y < run->map.height; y++) {
        memcpy(run->uneven_cost + (size_t)y * width, run->map.cost + (size_t)y * run->map.width,
               run->map.width);
        run->uneven_cost[y * width + width - 2] = PHX_NAV_IMPASSABLE;
        run->uneven_cost[y * width + width - 1] = 2;
    }
    CHECK_OK(phx_path_ground_build(run->uneven, &(PhxNavGrid){width, run->map.height, run->uneven_cost}));
}

static void open_files(Run *run) {
    size_t map_size, scen_size;
    void *map_bytes = read_all(run->name, ".map", &map_size),
         *scen_bytes = read_all(run->name, ".map.scen", &scen_size);
    PhxError error = {0};
    const PhxMovingAiCosts costs = {1, 1, PHX_NAV_IMPASSABLE, PHX_NAV_IMPASSABLE};
    if (phx_moving_ai_read_map(map_bytes, map_size, run->name, costs, phx_allocator_default(), &run->map,
                               &error))
        CHECK_STR(error.text, "");
    if (phx_moving_ai_read_scen(scen_bytes, scen_size, run->name, phx_allocator_default(), &run->scen,
                                &error))
        CHECK_STR(error.text, "");
    free(map_bytes), free(scen_bytes);
    run->arena = phx_arena_measure();
    lay_out(run, &run->arena);
    CHECK_OK(phx_arena_create(&run->arena, phx_allocator_default(), run->arena.used));
    lay_out(run, &run->arena);
    CHECK_OK(
        phx_path_ground_build(run->ground, &(PhxNavGrid){run->map.width, run->map.height, run->map.cost}));
    make_uneven(run);
}

static void check_problem(Run *run, uint32_t number, bool both) {
    const PhxMovingAiProblem *problem = &run->scen.problems[number];
    const uint32_t width = run->map.width;
    const PhxNavGrid grid = {width, run->map.height, run->map.cost};
    CHECK(problem->width == width && problem->height == run->map.height);
    const PhxPathQuery query = {problem->start_y * width + problem->start_x,
                                problem->goal_y * width + problem->goal_x, 26214, 0};
    PhxPath path = {.cells = run->cells,
                    .cell_capacity = CELLS,
                    .waypoints = run->waypoints,
                    .waypoint_capacity = WAYPOINTS};
    PhxError error = {0};
    CHECK_OK(phx_path_find(run->search, run->ground, &query, &path));
    CHECK(path.reach == PHX_PATH_WHOLE && !path.cells_cut && !path.waypoints_cut);
    CHECK_THAT(!phx_path_check(&grid, &query, &path, &error), "%s, problem %u: %s", run->name, number,
               error.text);
    const double got = path.straights + path.diagonals * sqrt(2), want = (double)problem->length / 1e8;
    CHECK_THAT(fabs(got - want) <= 0.005 + 1e-6 * want, "%s from (%u, %u) to (%u, %u): %.6f, published %.6f",
               run->name, problem->start_x, problem->start_y, problem->goal_x, problem->goal_y, got, want);
    run->expanded += path.expanded;
    run->searched++;
    if (!both) return;
    const uint64_t cost = path.cost;
    const PhxPathQuery same = {problem->start_y * (width + 2) + problem->start_x,
                               problem->goal_y * (width + 2) + problem->goal_x, 26214, 0};
    path.cell_capacity = path.waypoint_capacity = 0;
    CHECK_OK(phx_path_find(run->search, run->uneven, &same, &path));
    CHECK_EQ(path.cost, cost);
}

static uint64_t check_file(const char *name) {
    Run run = {.name = name};
    open_files(&run);
    const uint32_t step = test_count(200, 10, 1);
    for (uint32_t i = 0; i < run.scen.count; i += step) check_problem(&run, i, i / step % 50 == 0);
    if (strcmp(name, "mazes/maze512-8-0") == 0) check_problem(&run, CAUGHT, true);
    fprintf(stderr, "%-24s %6" PRIu64 " problems, %8.1f nodes expanded each\n", name, run.searched,
            (double)run.expanded / (double)run.searched);
    phx_arena_destroy(&run.arena);
    phx_moving_ai_free_map(&run.map);
    phx_moving_ai_free_scen(&run.scen);
    return run.searched;
}

PHX_TEST(path, published_lengths_hold_on_real_maps) {
    static const char *const names[] = {
        "bg512/AR0011SR",     "bg512/AR0700SR",     "da2/ht_chantry",        "da2/w_woundedcoast",
        "dao/arena2",         "dao/brc202d",        "dao/den000d",           "dao/orz900d",
        "mazes/maze512-32-0", "mazes/maze512-8-0",  "random/random512-20-0", "random/random512-40-0",
        "rooms/16room_000",   "rooms/64room_003",   "sc1/AcrosstheCape",     "sc1/Aftershock",
        "sc1/Archipelago",    "sc1/BigGameHunters", "sc1/Labyrinth",         "sc1/Octopus"};
    uint64_t searched = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) searched += check_file(names[i]);
    fprintf(stderr, "%" PRIu64 " problems\n", searched);
    CHECK(searched > 100);
}
