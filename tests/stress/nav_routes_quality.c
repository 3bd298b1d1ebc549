/* nav_routes_quality.c: how long the ways over sectors are, on real game maps, against the best ones.
 *
 * Along the arrows: against the integration of a field of the whole map, which equals the published lengths
 * (nav_real_maps.c). Walked at any angle in steps of a quarter unit: against the true shortest way of a point
 * (nav_euclid.h). A sample by default; PHX_LONG=1 takes 2,000 and 500 problems. The game maps belong to
 * others and lie outside of the project.
 */
#include <math.h>
#include <phalanx/routes.h>
#include <stdlib.h>

#include "../property/nav_tiles.h"
#include "content/moving_ai.h"
#include "harness.h"
#include "nav_euclid.h"

enum { MAPS = 20 };
static const char *const names[MAPS] = {
    "bg512/AR0011SR",     "bg512/AR0700SR",     "da2/ht_chantry",        "da2/w_woundedcoast",
    "dao/arena2",         "dao/brc202d",        "dao/den000d",           "dao/orz900d",
    "mazes/maze512-32-0", "mazes/maze512-8-0",  "random/random512-20-0", "random/random512-40-0",
    "rooms/16room_000",   "rooms/64room_003",   "sc1/AcrosstheCape",     "sc1/Aftershock",
    "sc1/Archipelago",    "sc1/BigGameHunters", "sc1/Labyrinth",         "sc1/Octopus"};
static const PhxFieldWeights root_two = {5741, 8119};

/* A map with its problems. */
typedef struct Scene {
    const char *name;
    void *map_bytes, *scen_bytes;
    PhxMovingAiMap map;
    PhxMovingAiScen scen;
    PhxNavGrid grid;
} Scene;

static void *read_all(const char *name, const char *ending, size_t *size) {
    char path[256];
    snprintf(path, sizeof path, "maps/%s%s", name, ending);
    void *bytes = test_read_file(test_shared(path), size);
    CHECK_THAT(bytes, "%s", path);
    return bytes;
}

static void scene_make(Scene *scene, const char *name) {
    size_t map_size, scen_size;
    PhxError error = {0};
    const PhxMovingAiCosts costs = {1, 1, PHX_NAV_IMPASSABLE, PHX_NAV_IMPASSABLE};
    scene->name = name;
    scene->map_bytes = read_all(name, ".map", &map_size);
    scene->scen_bytes = read_all(name, ".map.scen", &scen_size);
    if (phx_moving_ai_read_map(scene->map_bytes, map_size, name, costs, phx_allocator_default(), &scene->map,
                               &error) ||
        phx_moving_ai_read_scen(scene->scen_bytes, scen_size, name, phx_allocator_default(), &scene->scen,
                                &error))
        CHECK_STR(error.text, "");
    scene->grid = (PhxNavGrid){scene->map.width, scene->map.height, scene->map.cost};
}

static void scene_free(Scene *scene) {
    free(scene->map_bytes), free(scene->scen_bytes);
    phx_moving_ai_free_map(&scene->map);
    phx_moving_ai_free_scen(&scene->scen);
}

/* Ratios of found lengths to best ones. */
typedef struct Score {
    double sum, worst;
    int count;
    char where[160];
} Score;

static void score_add(Score *score, const Scene *scene, uint32_t start, uint32_t goal, double found,
                      double best) {
    const double ratio = best > 0 ? found / best : 1;
    score->sum += ratio;
    score->count++;
    if (ratio <= score->worst) return;
    score->worst = ratio;
    snprintf(score->where, sizeof score->where, "%s from (%u, %u) to (%u, %u): %.2f for %.2f", scene->name,
             start % scene->grid.width, start / scene->grid.width, goal % scene->grid.width,
             goal / scene->grid.width, found, best);
}

static void score_print(const char *what, const Score *score) {
    fprintf(stderr, "%s: %d problems, mean %.4f, worst %.4f (%s)\n", what, score->count,
            score->sum / score->count, score->worst, score->where);
}

/* Follows the arrows from a cell; what the steps cost together. */
static uint64_t follow(TestTiles *tiles, uint32_t cell) {
    uint64_t sum = 0;
    for (uint32_t steps = 0;; steps++) {
        const uint8_t code = phx_tile_flow(test_tiles_at(tiles, cell), &tiles->grid, cell, NULL);
        if (code == PHX_FLOW_GOAL) return sum;
        CHECK_THAT(code < 8 && steps < tiles->grid.width * tiles->grid.height, "cell %u", cell);
        cell = (uint32_t)((int32_t)cell + phx_flow_dy[code] * (int32_t)tiles->grid.width + phx_flow_dx[code]);
        CHECK(tiles->grid.cost[cell] != PHX_NAV_IMPASSABLE);
        sum +=
            (uint64_t)(code % 2 ? tiles->weights.diagonal : tiles->weights.straight) * tiles->grid.cost[cell];
    }
}

static void cells_of(const Scene *scene, uint32_t i, uint32_t count, uint32_t *start, uint32_t *goal) {
    const PhxMovingAiProblem *problem =
        &scene->scen.problems[(uint64_t)i * (scene->scen.count - 1) / (count > 1 ? count - 1 : 1)];
    *start = problem->start_y * scene->grid.width + problem->start_x;
    *goal = problem->goal_y * scene->grid.width + problem->goal_x;
}

static void score_arrows(Scene *scene, uint32_t count, Score *score) {
    const PhxNavGrid *grid = &scene->grid;
    void *memory = malloc(phx_field_size(grid->width, grid->height));
    void *scratch = malloc(phx_field_scratch_size(grid->width, grid->height));
    PhxField field;
    phx_field_init(&field, grid->width, grid->height, memory);
    TestTiles tiles;
    test_tiles_make(&tiles, grid, root_two);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t start, goal;
        cells_of(scene, i, count, &start, &goal);
        CHECK_OK(phx_field_build(&field, grid, root_two, &goal, 1, scratch));
        test_tiles_aim(&tiles, &goal, 1);
        const uint64_t found = follow(&tiles, start),
                       told = phx_tile_cost(test_tiles_at(&tiles, start), grid, start);
        CHECK_THAT(found >= field.integration[start] && found <= told,
                   "%s problem %u: %.3f, best %.3f, told %.3f", scene->name, i, (double)found / 5741,
                   field.integration[start] / 5741.0, (double)told / 5741);
        score_add(score, scene, start, goal, (double)found / 5741, field.integration[start] / 5741.0);
    }
    test_tiles_free(&tiles);
    free(memory), free(scratch);
}

static const char *wanted(void) { return getenv("PHX_LONG"); }

PHX_TEST(routes, ways_over_sectors_cost_little_more_than_the_best) {
    Score all = {0};
    for (int i = 0; i < MAPS; i++) {
        Scene scene;
        Score score = {0};
        scene_make(&scene, names[i]);
        score_arrows(&scene, wanted() ? 100 : 4, &score);
        if (getenv("PHX_VERBOSE")) score_print(names[i], &score);
        all.sum += score.sum, all.count += score.count;
        if (score.worst > all.worst)
            all.worst = score.worst, memcpy(all.where, score.where, sizeof all.where);
        scene_free(&scene);
    }
    score_print("cost of the arrows", &all);
    CHECK(all.sum / all.count <= 1.03);
    CHECK(all.worst <= 1.15);
}

enum { QUARTER = 16384 };

/* Walks from the centre of a cell to that of the goal; the length in units. */
static double walk(TestTiles *tiles, uint32_t start, uint32_t goal, double most) {
    const PhxVec2 goal_point = phx_nav_cell_center(&tiles->grid, goal);
    PhxVec2 at = phx_nav_cell_center(&tiles->grid, start);
    double length = 0;
    uint32_t cell = start;
    while (cell != goal && length < most) {
        const PhxDir d = phx_tile_direction(test_tiles_at(tiles, cell), &tiles->grid, goal_point, at.x, at.y);
        const PhxVec2 next = phx_vec2_add(at, phx_dir_scale(d, QUARTER));
        CHECK_THAT((d.x || d.y) && phx_nav_line_of_sight(&tiles->grid, at, next), "at (%d, %d)", at.x, at.y);
        at = next;
        length += 0.25;
        cell = phx_nav_cell_at(&tiles->grid, at.x, at.y);
    }
    return length + hypot(goal_point.x - at.x, goal_point.y - at.y) / 65536;
}

static void score_walks(Scene *scene, uint32_t count, Score *score) {
    TestTiles tiles;
    Euclid euclid;
    test_tiles_make(&tiles, &scene->grid, PHX_FIELD_WEIGHTS_DEFAULT);
    euclid_make(&euclid, &scene->grid);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t start, goal;
        cells_of(scene, i, count, &start, &goal);
        const double best = euclid_length(&euclid, start, goal);
        test_tiles_aim(&tiles, &goal, 1);
        const double found = walk(&tiles, start, goal, 2 * best + 20);
        CHECK_THAT(found >= best - 1e-3 - 1e-4 * best, "%s problem %u: walked %.3f, best %.3f", scene->name,
                   i, found, best);
        score_add(score, scene, start, goal, found, best);
    }
    test_tiles_free(&tiles);
    euclid_free(&euclid);
}

PHX_TEST(routes, walks_at_any_angle_are_little_longer_than_the_best) {
    Score all = {0};
    for (int i = 0; i < MAPS; i++) {
        Scene scene;
        Score score = {0};
        scene_make(&scene, names[i]);
        score_walks(&scene, wanted() ? 25 : 2, &score);
        if (getenv("PHX_VERBOSE")) score_print(names[i], &score);
        all.sum += score.sum, all.count += score.count;
        if (score.worst > all.worst)
            all.worst = score.worst, memcpy(all.where, score.where, sizeof all.where);
        scene_free(&scene);
    }
    score_print("walked length", &all);
    CHECK(all.sum / all.count <= 1.02);
    CHECK(all.worst <= 1.15);
}
