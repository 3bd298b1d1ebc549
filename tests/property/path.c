/* path.c: paths over the grid against an exhaustive search, on random maps.
 *
 * The oracle relaxes every step until nothing changes. What is checked: the least cost, the proof of every
 * path (phx_path_check), that slices, arrays and the cache change nothing, what a limit leaves, goals that
 * can't be reached, lines of sight against sliding a disc past every wall, and that waypoints are never
 * turned back to.
 */
#include <phalanx/path.h>

#include "base/arena.h"
#include "nav_random.h"

typedef struct Search {
    PhxArena arena;
    PhxPathGround *ground;
    PhxPathSearch *search;
    PhxPathCache *cache;
} Search;

enum { CACHED = 4, KEPT = 8 };

static void lay_out(Search *made, PhxArena *arena, const TestMap *map, uint32_t nodes) {
    const uint32_t cells = map->grid.width * map->grid.height;
    made->ground = phx_path_ground_layout(arena, map->grid.width, map->grid.height);
    made->search = phx_path_search_layout(arena, cells, nodes);
    made->cache = phx_path_cache_layout(arena, CACHED, KEPT);
}

static Search make(const TestMap *map, uint32_t nodes) {
    Search made = {.arena = phx_arena_measure()};
    lay_out(&made, &made.arena, map, nodes);
    const size_t size = made.arena.used;
    CHECK_OK(phx_arena_create(&made.arena, phx_allocator_default(), size));
    memset(made.arena.base, 0xa5, size); /* nothing may depend on what the memory held */
    lay_out(&made, &made.arena, map, nodes);
    return made;
}

/* ---- the oracle */

/* The least costs from `start` to every cell; UINT64_MAX where none leads. */
static void relax_all(const PhxNavGrid *grid, uint32_t start, uint64_t *least) {
    const uint32_t cells = grid->width * grid->height;
    for (uint32_t c = 0; c < cells; c++) least[c] = UINT64_MAX;
    least[start] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t c = 0; c < cells; c++) {
            if (least[c] == UINT64_MAX) continue;
            const int32_t x = (int32_t)(c % grid->width), y = (int32_t)(c / grid->width);
            for (int d = 0; d < 8; d++) {
                const int32_t nx = x + phx_flow_dx[d], ny = y + phx_flow_dy[d];
                if (!phx_nav_passable(grid, nx, ny) || !phx_nav_passable(grid, nx, y) ||
                    !phx_nav_passable(grid, x, ny))
                    continue;
                const uint32_t next = (uint32_t)ny * grid->width + (uint32_t)nx;
                const uint64_t sum =
                    least[c] + (d % 2 ? PHX_PATH_DIAGONAL : PHX_PATH_STRAIGHT) * grid->cost[next];
                if (sum < least[next]) least[next] = sum, changed = true;
            }
        }
    }
}

static uint32_t nearest_reached(const PhxNavGrid *grid, const uint64_t *least, uint32_t goal) {
    uint32_t best = PHX_NAV_NO_CELL;
    int64_t best_sq = INT64_MAX;
    for (uint32_t c = 0; c < grid->width * grid->height; c++) {
        const int64_t dx = (int64_t)(c % grid->width) - goal % grid->width,
                      dy = (int64_t)(c / grid->width) - goal / grid->width;
        if (least[c] == UINT64_MAX || dx * dx + dy * dy >= best_sq) continue;
        best = c, best_sq = dx * dx + dy * dy;
    }
    return best;
}

/* ---- searches */

static bool is_same(const PhxPath *a, const PhxPath *b) {
    return a->reach == b->reach && a->end == b->end && a->cost == b->cost && a->straights == b->straights &&
           a->diagonals == b->diagonals && a->expanded == b->expanded &&
           a->waypoint_count == b->waypoint_count && a->waypoints_cut == b->waypoints_cut &&
           memcmp(a->waypoints, b->waypoints, a->waypoint_count * sizeof *a->waypoints) == 0;
}

enum { ROOM = 2048 };
typedef struct Room {
    uint32_t cells[ROOM];
    PhxVec2 waypoints[ROOM];
    PhxPath path;
} Room;

static PhxPath *room_path(Room *room) {
    room->path = (PhxPath){
        .cells = room->cells, .cell_capacity = ROOM, .waypoints = room->waypoints, .waypoint_capacity = ROOM};
    return &room->path;
}

static void check_slices(Search *use, const PhxPathQuery *query, const PhxPath *want, uint64_t *seed,
                         Room *room) {
    CHECK_OK(phx_path_begin(use->search, use->ground, query));
    while (!phx_path_run(use->search, (uint32_t)test_range(seed, 0, 5))) {
    }
    PhxPath *path = room_path(room);
    phx_path_take(use->search, path);
    CHECK(is_same(path, want) && path->cell_count == want->cell_count &&
          memcmp(path->cells, want->cells, path->cell_count * sizeof *path->cells) == 0);
    /* arrays that are too small hold the beginning */
    CHECK_OK(phx_path_begin(use->search, use->ground, query));
    CHECK(phx_path_run(use->search, UINT32_MAX));
    path->cell_capacity = (uint32_t)test_range(seed, 1, 20);
    path->waypoint_capacity = (uint32_t)test_range(seed, 1, 4);
    phx_path_take(use->search, path);
    CHECK(path->cell_count ==
          (want->cell_count < path->cell_capacity ? want->cell_count : path->cell_capacity));
    CHECK(memcmp(path->cells, want->cells, path->cell_count * sizeof *path->cells) == 0);
    CHECK(path->cells_cut == (path->cell_count < want->cell_count));
    CHECK(path->cost == want->cost && path->end == want->end);
    CHECK_THAT(path->waypoints_cut == (path->waypoint_count < want->waypoint_count), "%u of %u waypoints",
               path->waypoint_count, want->waypoint_count);
    const uint32_t sure = path->waypoint_count - (path->waypoints_cut ? 1 : 0);
    CHECK(memcmp(path->waypoints, want->waypoints, sure * sizeof *path->waypoints) == 0);
}

static void check_cache(const Search *use, const PhxPathQuery *query, const PhxPath *want, Room *room) {
    PhxPath *path = room_path(room);
    path->waypoint_capacity = KEPT;
    CHECK(!phx_path_cache_get(use->cache, use->ground, query, path));
    phx_path_cache_put(use->cache, use->ground, query, want);
    CHECK(phx_path_cache_get(use->cache, use->ground, query, path));
    CHECK(path->cell_count == 0 && path->cost == want->cost && path->end == want->end &&
          path->expanded == want->expanded && path->reach == want->reach);
    CHECK(path->waypoint_count == (want->waypoint_count < KEPT ? want->waypoint_count : KEPT));
    CHECK(path->waypoints_cut == (want->waypoint_count > KEPT));
    CHECK(memcmp(path->waypoints, want->waypoints, path->waypoint_count * sizeof *path->waypoints) == 0);
    PhxPathQuery other = *query;
    other.limit = query->limit + 1;
    CHECK(!phx_path_cache_get(use->cache, use->ground, &other, path));
    phx_path_cache_drop(use->cache);
    CHECK(!phx_path_cache_get(use->cache, use->ground, query, path));
}

/* A walker who goes to each waypoint in turn, and overshoots, gets to the last. */
static void check_walk(const PhxPath *path) {
    uint32_t next = path->waypoint_count > 1 ? 1 : 0, steps = 0;
    PhxVec2 at = path->waypoints[0];
    while (next + 1 < path->waypoint_count) {
        const PhxVec2 to = path->waypoints[next];
        at = (PhxVec2){(fix16_t)(to.x + (to.x - at.x) / 8), (fix16_t)(to.y + (to.y - at.y) / 8)};
        const uint32_t after =
            phx_path_advance(path->waypoints, path->waypoint_count, next, at, PHX_PATH_PASS_RADIUS);
        CHECK_THAT(after > next, "waypoint %u of %u", next, path->waypoint_count);
        next = after;
        CHECK(++steps < ROOM);
    }
}

static void check_query(Search *use, const TestMap *map, const PhxPathQuery *query, uint64_t *seed,
                        uint64_t *least) {
    static Room room, other;
    PhxPath *path = room_path(&room);
    PhxError error = {0};
    CHECK_OK(phx_path_find(use->search, use->ground, query, path));
    CHECK_THAT(!phx_path_check(&map->grid, query, path, &error), "%s", error.text);
    relax_all(&map->grid, query->start, least);
    const bool is_wall = map->cost[query->goal] == PHX_NAV_IMPASSABLE;
    const PhxPathReach reach = least[query->goal] != UINT64_MAX ? PHX_PATH_WHOLE
                               : is_wall                        ? PHX_PATH_WALL
                                                                : PHX_PATH_UNREACHABLE;
    CHECK_EQ(path->reach, reach);
    const uint32_t end =
        reach == PHX_PATH_WHOLE ? query->goal : nearest_reached(&map->grid, least, query->goal);
    CHECK_EQ(path->end, end);
    CHECK_EQ(path->cost, least[end]);
    CHECK_EQ(phx_path_joined(use->ground, query->start, query->goal), reach == PHX_PATH_WHOLE);
    check_slices(use, query, path, seed, &other);
    check_cache(use, query, path, &other);
    check_walk(path);
    /* a limit: a path towards the goal, over costs that are right */
    PhxPathQuery limited = *query;
    limited.limit = (uint32_t)test_range(seed, 1, 30);
    const uint32_t needed = path->expanded;
    path = room_path(&other);
    CHECK_OK(phx_path_find(use->search, use->ground, &limited, path));
    CHECK_THAT(!phx_path_check(&map->grid, &limited, path, &error), "%s", error.text);
    if (needed <= limited.limit) CHECK(is_same(path, &room.path));
    if (needed > limited.limit)
        CHECK(path->reach == PHX_PATH_LIMIT && path->expanded == limited.limit &&
              path->cost >= least[path->end]);
}

PHX_TEST(path, costs_are_those_of_an_exhaustive_search) {
    uint64_t seed = 77;
    uint32_t queries = 0, partial = 0;
    const uint32_t maps = test_count(60, 400, 8000);
    for (uint32_t i = 0; i < maps; i++) {
        TestMap map = test_map_random(&seed, i % 16 == 0 ? 140 : 28);
        Search use = make(&map, 0);
        const uint32_t cells = map.grid.width * map.grid.height;
        uint64_t *least = malloc(cells * sizeof *least);
        CHECK_OK(phx_path_ground_build(use.ground, &map.grid));
        for (int q = 0; q < 3; q++) {
            uint32_t start;
            if (!test_map_goals(&map, &seed, 1, &start)) break;
            uint32_t goal = (uint32_t)test_range(&seed, 0, cells - 1);
            const uint32_t width = map.grid.width;
            if (q == 1)
                goal =
                    start / width * width + goal % width; /* in the row of the start, where diagonals begin */
            if (q == 2) goal = goal / width * width + start % width; /* in its column */
            const PhxPathQuery query = {start, goal, (fix16_t)test_range(&seed, 1, 3 * 65536), 0};
            check_query(&use, &map, &query, &seed, least);
            queries++;
            partial += !phx_path_joined(use.ground, query.start, query.goal);
        }
        phx_arena_destroy(&use.arena);
        free(least);
        free(map.cost);
    }
    fprintf(stderr, "%u queries, %u of them without a path to the goal\n", queries, partial);
    CHECK(queries > maps && partial > maps / 4);
}

/* ---- lines */

/* The squared distance, in halves of a cell, of the segment 0 .. (dx, dy) (halves) from the square of side 2
 * around (wx, wy), in doubles; 0 if they meet. */
static double distance_sq(double dx, double dy, double wx, double wy) {
    double low = 0, high = 1;
    const double d[2] = {dx, dy}, w[2] = {wx, wy};
    bool apart = false;
    for (int i = 0; i < 2; i++) {
        if (d[i] == 0) {
            apart = apart || w[i] - 1 >= 0 || w[i] + 1 <= 0;
            continue;
        }
        const double a = (w[i] - 1) / d[i], b = (w[i] + 1) / d[i];
        low = a < b ? (a > low ? a : low) : (b > low ? b : low);
        high = a < b ? (b < high ? b : high) : (a < high ? a : high);
    }
    if (!apart && low < high - 1e-12) return 0;
    double best = 1e300;
    for (int corner = 0; corner < 4; corner++) {
        const double x = wx + (corner & 1 ? 1 : -1), y = wy + (corner & 2 ? 1 : -1);
        const double length_sq = dx * dx + dy * dy;
        double t = length_sq > 0 ? (x * dx + y * dy) / length_sq : 0;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        const double ex = x - t * dx, ey = y - t * dy;
        if (ex * ex + ey * ey < best) best = ex * ex + ey * ey;
    }
    for (int end = 0; end < 2; end++) { /* from an end to a side */
        const double x = (end ? dx : 0) - wx, y = (end ? dy : 0) - wy;
        const double ox = x < -1 ? -1 - x : x > 1 ? x - 1 : 0, oy = y < -1 ? -1 - y : y > 1 ? y - 1 : 0;
        if (ox * ox + oy * oy < best) best = ox * ox + oy * oy;
    }
    return best;
}

/* The least distance in halves of a cell between the line and any wall or what lies beyond the map. */
static double least_distance(const PhxNavGrid *grid, int32_t ax, int32_t ay, int32_t bx, int32_t by) {
    double best = 1e300;
    for (int32_t y = -1; y <= (int32_t)grid->height; y++)
        for (int32_t x = -1; x <= (int32_t)grid->width; x++) {
            if (phx_nav_passable(grid, x, y)) continue;
            const double sq = distance_sq(2.0 * (bx - ax), 2.0 * (by - ay), 2.0 * (x - ax), 2.0 * (y - ay));
            if (sq < best) best = sq;
        }
    return best;
}

PHX_TEST(path, lines_are_clear_exactly_where_a_disc_slides) {
    uint64_t seed = 5;
    uint32_t clear = 0, shut = 0;
    const uint32_t maps = test_count(60, 600, 10000);
    for (uint32_t i = 0; i < maps; i++) {
        TestMap map = test_map_random(&seed, 24);
        Search use = make(&map, 0);
        CHECK_OK(phx_path_ground_build(use.ground, &map.grid));
        for (int q = 0; q < 40; q++) {
            uint32_t ends[2];
            if (!test_map_goals(&map, &seed, 2, ends)) break;
            const int32_t width = (int32_t)map.grid.width, ax = (int32_t)ends[0] % width,
                          ay = (int32_t)ends[0] / width, bx = (int32_t)ends[1] % width,
                          by = (int32_t)ends[1] / width;
            const fix16_t radius = (fix16_t)test_range(&seed, 1, 4 * 65536);
            const double rest = (radius - (phx_cost_size_of(radius) - 1) * 32768.0) / 32768,
                         distance = least_distance(&map.grid, ax, ay, bx, by), edge = distance - rest * rest;
            const bool got = phx_path_clear(use.ground, ends[0], ends[1], radius);
            CHECK_EQ(phx_path_clear(use.ground, ends[1], ends[0], radius), got);
            if (edge > 1e-9 || edge < -1e-9)
                CHECK_THAT(got == (edge > 0), "(%d, %d) to (%d, %d), radius %d, distance %.12g, rest %.12g",
                           ax, ay, bx, by, radius, distance, rest * rest);
            got ? clear++ : shut++;
            uint8_t most = 0;
            CHECK(phx_path_clear_within(use.ground, ends[0], ends[1], radius, 254) == got);
            CHECK(!phx_path_clear_within(use.ground, ends[0], ends[1], radius, most));
        }
        phx_arena_destroy(&use.arena);
        free(map.cost);
    }
    fprintf(stderr, "%u lines clear, %u not\n", clear, shut);
    CHECK(clear > maps && shut > maps);
}

/* ---- changes, memory, errors */

PHX_TEST(path, a_changed_map_is_that_map_built_anew) {
    uint64_t seed = 9;
    for (uint32_t i = 0; i < test_count(20, 100, 2000); i++) {
        TestMap map = test_map_random(&seed, 100);
        const int32_t width = (int32_t)map.grid.width, height = (int32_t)map.grid.height;
        Search use = make(&map, 0), fresh = make(&map, 0);
        static Room room, other;
        CHECK_OK(phx_path_ground_build(use.ground, &map.grid));
        for (int change = 0; change < 5; change++) {
            const int32_t x = (int32_t)test_range(&seed, -3, width),
                          y = (int32_t)test_range(&seed, -3, height);
            const PhxCellRect rect = {x, y, x + (int32_t)test_range(&seed, 0, 9),
                                      y + (int32_t)test_range(&seed, 0, 9)};
            const uint8_t cost =
                (uint8_t)test_range(&seed, 0, 3) == 0 ? 255 : (uint8_t)test_range(&seed, 1, 254);
            for (int32_t cy = rect.y0; cy < rect.y1; cy++)
                for (int32_t cx = rect.x0; cx < rect.x1; cx++)
                    if (cx >= 0 && cy >= 0 && cx < width && cy < height) map.cost[cy * width + cx] = cost;
            const uint64_t version = phx_path_ground_version(use.ground);
            CHECK_OK(phx_path_ground_update(use.ground, rect));
            CHECK(phx_path_ground_version(use.ground) >= version);
            CHECK_OK(phx_path_ground_build(fresh.ground, &map.grid));
            uint32_t ends[2];
            if (!test_map_goals(&map, &seed, 2, ends)) break;
            const PhxPathQuery query = {ends[0], ends[1], 32768, 0};
            CHECK_OK(phx_path_find(use.search, use.ground, &query, room_path(&room)));
            CHECK_OK(phx_path_find(fresh.search, fresh.ground, &query, room_path(&other)));
            CHECK_THAT(is_same(&room.path, &other.path), "map %u, change %d", i, change);
        }
        phx_arena_destroy(&use.arena);
        phx_arena_destroy(&fresh.arena);
        free(map.cost);
    }
}

PHX_TEST(path, what_is_wrong_is_a_status_and_little_memory_a_limit) {
    static uint8_t cost[30 * 20];
    memset(cost, 1, sizeof cost);
    cost[35] = PHX_NAV_IMPASSABLE;
    const TestMap map = {{30, 20, cost}, cost};
    Search use = make(&map, 4);
    static Room room;
    PhxPath *path = room_path(&room);
    CHECK_EQ(phx_path_find(use.search, use.ground, &(PhxPathQuery){0, 1, 32768, 0}, path), PHX_ERROR_STATE);
    CHECK_EQ(phx_path_ground_update(use.ground, (PhxCellRect){0, 0, 1, 1}), PHX_ERROR_STATE);
    CHECK_EQ(phx_path_ground_build(use.ground, &(PhxNavGrid){20, 30, cost}), PHX_ERROR_ARGUMENT);
    CHECK_OK(phx_path_ground_build(use.ground, &map.grid));
    const struct {
        PhxPathQuery query;
        PhxStatus status;
    } bads[] = {{{0, 1, 0, 0}, PHX_ERROR_ARGUMENT},       {{0, 1, -5, 0}, PHX_ERROR_ARGUMENT},
                {{600, 1, 1, 0}, PHX_ERROR_RANGE},        {{1, 600, 1, 0}, PHX_ERROR_RANGE},
                {{UINT32_MAX, 1, 1, 0}, PHX_ERROR_RANGE}, {{35, 1, 1, 0}, PHX_ERROR_STATE}};
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        CHECK_EQ(phx_path_find(use.search, use.ground, &bads[i].query, path), bads[i].status);
        CHECK(path->cell_count == 0 && path->waypoint_count == 0 && path->end == PHX_NAV_NO_CELL);
        CHECK(phx_path_run(use.search, 1)); /* there is nothing to run */
    }
    /* to oneself */
    CHECK_OK(phx_path_find(use.search, use.ground, &(PhxPathQuery){7, 7, 32768, 0}, path));
    CHECK(path->cell_count == 1 && path->waypoint_count == 1 && path->cost == 0 && path->end == 7);
    /* four nodes don't lead around the wall of a labyrinth */
    for (uint32_t y = 0; y < 19; y++) cost[y * 30 + 5] = cost[(19 - y) * 30 + 9] = PHX_NAV_IMPASSABLE;
    CHECK_OK(phx_path_ground_update(use.ground, (PhxCellRect){5, 0, 10, 20}));
    CHECK_OK(phx_path_find(use.search, use.ground, &(PhxPathQuery){0, 29, 32768, 0}, path));
    PhxError error = {0};
    CHECK_EQ(path->reach, PHX_PATH_LIMIT);
    CHECK_THAT(!phx_path_check(&map.grid, &(PhxPathQuery){0, 29, 32768, 0}, path, &error), "%s", error.text);
    cost[36] = 0;
    CHECK_EQ(phx_path_ground_update(use.ground, (PhxCellRect){0, 0, 30, 20}), PHX_ERROR_RANGE);
    phx_arena_destroy(&use.arena);
}

PHX_TEST(path, the_proof_finds_what_is_wrong) {
    static uint8_t cost[30 * 20];
    memset(cost, 1, sizeof cost);
    for (uint32_t y = 3; y < 20; y++) cost[y * 30 + 10] = PHX_NAV_IMPASSABLE;
    const TestMap map = {{30, 20, cost}, cost};
    Search use = make(&map, 0);
    static Room room;
    PhxPath *path = room_path(&room);
    const PhxPathQuery query = {15 * 30 + 2, 15 * 30 + 25, 26214, 0};
    CHECK_OK(phx_path_ground_build(use.ground, &map.grid));
    CHECK_OK(phx_path_find(use.search, use.ground, &query, path));
    CHECK_OK(phx_path_check(&map.grid, &query, path, NULL));
    CHECK(path->waypoint_count >= 3);
    PhxPath bad = *path;
    bad.cost++;
    CHECK_EQ(phx_path_check(&map.grid, &query, &bad, NULL), PHX_ERROR_MISMATCH);
    bad = *path, bad.straights++;
    CHECK_EQ(phx_path_check(&map.grid, &query, &bad, NULL), PHX_ERROR_MISMATCH);
    bad = *path, bad.end--;
    CHECK_EQ(phx_path_check(&map.grid, &query, &bad, NULL), PHX_ERROR_MISMATCH);
    bad = *path, bad.cell_count--;
    CHECK_EQ(phx_path_check(&map.grid, &query, &bad, NULL), PHX_ERROR_MISMATCH);
    /* a waypoint left out: the line cuts the wall's end */
    bad = *path;
    bad.waypoint_count--;
    bad.waypoints[1] = bad.waypoints[bad.waypoint_count];
    bad.waypoint_count = 2;
    CHECK_EQ(phx_path_check(&map.grid, &query, &bad, NULL), PHX_ERROR_MISMATCH);
    CHECK_OK(phx_path_find(use.search, use.ground, &query, path));
    path->cells[5] = path->cells[3];
    CHECK_EQ(phx_path_check(&map.grid, &query, path, NULL), PHX_ERROR_MISMATCH);
    phx_arena_destroy(&use.arena);
}

/* Long diagonals are gone along in blocks; a goal in the column or row in which one begins is none of its
 * stops. The same costs are found from cell to cell, on the map with a dear cell behind a wall in a corner.
 */
PHX_TEST(path, goals_beside_long_diagonals_are_met_once) {
    enum { SIDE = 300, CELLS = SIDE * SIDE };
    uint64_t seed = 3478;
    uint8_t *cost = malloc(CELLS), *uneven = malloc(CELLS);
    static Room room, other;
    for (uint32_t i = 0; i < test_count(4, 12, 200); i++) {
        const int64_t walls = test_range(&seed, 0, 12);
        memset(cost, 1, CELLS);
        for (int64_t bar = 0; bar < 10 * walls; bar++) { /* up and down or across, some cells long */
            const uint32_t from = (uint32_t)test_range(&seed, 0, CELLS - 1),
                           step = test_range(&seed, 0, 1) ? 1 : SIDE;
            const uint32_t length = (uint32_t)test_range(&seed, 1, 40);
            for (uint32_t k = 0; k < length && from + k * step < CELLS; k++)
                cost[from + k * step] = PHX_NAV_IMPASSABLE;
        }
        for (uint32_t c = 0; c < 3; c++) cost[c] = cost[SIDE + c] = PHX_NAV_IMPASSABLE;
        memcpy(uneven, cost, CELLS);
        uneven[0] = 9;
        const TestMap map = {{SIDE, SIDE, cost}, cost}, dear = {{SIDE, SIDE, uneven}, uneven};
        Search use = make(&map, 0), by_cells = make(&dear, 0);
        CHECK_OK(phx_path_ground_build(use.ground, &map.grid));
        CHECK_OK(phx_path_ground_build(by_cells.ground, &dear.grid));
        for (int q = 0; q < 40; q++) {
            const int32_t x = (int32_t)test_range(&seed, 3, SIDE - 1),
                          y = (int32_t)test_range(&seed, 3, SIDE - 1);
            const int32_t off = (int32_t)test_range(&seed, 60, 66) * (int32_t)test_range(&seed, -3, 3),
                          far = (int32_t)test_range(&seed, -SIDE, SIDE);
            const int32_t gx = q % 2 ? x + off : x + far, gy = q % 2 ? y + far : y + off;
            if (gx < 3 || gy < 3 || gx >= SIDE || gy >= SIDE) continue;
            const PhxPathQuery query = {(uint32_t)(y * SIDE + x), (uint32_t)(gy * SIDE + gx), 32768, 0};
            if (cost[query.start] == PHX_NAV_IMPASSABLE) continue;
            PhxError error = {0};
            CHECK_OK(phx_path_find(use.search, use.ground, &query, room_path(&room)));
            CHECK_OK(phx_path_find(by_cells.search, by_cells.ground, &query, room_path(&other)));
            CHECK_THAT(!phx_path_check(&map.grid, &query, &room.path, &error), "%s", error.text);
            CHECK_THAT(room.path.cost == other.path.cost && room.path.end == other.path.end,
                       "map %u: (%d, %d) to (%d, %d)", i, x, y, gx, gy);
        }
        phx_arena_destroy(&use.arena);
        phx_arena_destroy(&by_cells.arena);
    }
    free(cost);
    free(uneven);
}
