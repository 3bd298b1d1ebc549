/* nav_real_maps.c: fields on real game maps against the published optimal lengths.
 *
 * Weights 5741 and 8119 stand for 1 and sqrt 2 within 1e-8, so that sum / 5741 is the octile length. From 20
 * problems spread evenly over each .scen file (8 under a sanitizer, 100 with PHX_LONG=1) a field of the goal
 * gives the length at the start; published lengths are rounded to 0.005 or finer. The game maps belong to
 * others and lie outside of the project.
 */
#include <math.h>
#include <phalanx/nav.h>
#include <stdlib.h>

#include "content/moving_ai.h"
#include "harness.h"

static const PhxFieldWeights root_two = {5741, 8119};

static void *read_all(const char *name, const char *ending, size_t *size) {
    char path[256];
    snprintf(path, sizeof path, "maps/%s%s", name, ending);
    void *bytes = test_read_file(test_shared(path), size);
    CHECK_THAT(bytes, "%s", path);
    return bytes;
}

/* Follows the arrows from a cell and sums what the steps cost: the same as the integration. */
static uint64_t walk(const PhxField *field, uint32_t cell) {
    uint64_t sum = 0;
    while (field->flow[cell] < PHX_FLOW_GOAL) {
        const uint8_t code = field->flow[cell];
        sum += code % 2 ? field->weights.diagonal : field->weights.straight;
        cell = (uint32_t)((int32_t)cell + phx_flow_dy[code] * (int32_t)field->width + phx_flow_dx[code]);
    }
    CHECK_EQ(field->flow[cell], PHX_FLOW_GOAL);
    return sum;
}

static void check_problem(PhxField *field, const PhxNavGrid *grid, const PhxMovingAiProblem *problem,
                          void *scratch, const char *name) {
    const uint32_t goal = problem->goal_y * grid->width + problem->goal_x;
    const uint32_t start = problem->start_y * grid->width + problem->start_x;
    CHECK_OK(phx_field_build(field, grid, root_two, &goal, 1, scratch));
    CHECK(field->integration[start] != PHX_FIELD_UNREACHED);
    const double got = field->integration[start] / 5741.0, want = (double)problem->length / 1e8;
    CHECK_THAT(fabs(got - want) <= 0.005 + 1e-6 * want, "%s from (%u, %u) to (%u, %u): %.6f, published %.6f",
               name, problem->start_x, problem->start_y, problem->goal_x, problem->goal_y, got, want);
    CHECK_EQ(walk(field, start), field->integration[start]);
}

static void check_file(const char *name) {
    size_t map_size, scen_size;
    void *map_bytes = read_all(name, ".map", &map_size),
         *scen_bytes = read_all(name, ".map.scen", &scen_size);
    PhxError error = {0};
    PhxMovingAiMap map;
    PhxMovingAiScen scen;
    const PhxMovingAiCosts costs = {1, 1, PHX_NAV_IMPASSABLE, PHX_NAV_IMPASSABLE};
    if (phx_moving_ai_read_map(map_bytes, map_size, name, costs, phx_allocator_default(), &map, &error))
        CHECK_STR(error.text, "");
    if (phx_moving_ai_read_scen(scen_bytes, scen_size, name, phx_allocator_default(), &scen, &error))
        CHECK_STR(error.text, "");
    const uint32_t starts = test_count(8, 20, 100);
    CHECK(scen.count >= starts);
    const PhxNavGrid grid = {map.width, map.height, map.cost};
    void *memory = malloc(phx_field_size(map.width, map.height));
    void *scratch = malloc(phx_field_scratch_size(map.width, map.height));
    PhxField field;
    phx_field_init(&field, map.width, map.height, memory);
    for (uint32_t i = 0; i < starts; i++) {
        const PhxMovingAiProblem *problem = &scen.problems[(uint64_t)i * (scen.count - 1) / (starts - 1)];
        CHECK(problem->width == map.width && problem->height == map.height);
        check_problem(&field, &grid, problem, scratch, name);
        if (i == 0 && phx_field_check(&field, &grid, &error)) CHECK_STR(error.text, "");
    }
    free(memory), free(scratch), free(map_bytes), free(scen_bytes);
    phx_moving_ai_free_map(&map);
    phx_moving_ai_free_scen(&scen);
}

PHX_TEST(field, published_lengths_hold_on_real_maps) {
    static const char *const names[] = {
        "bg512/AR0011SR",     "bg512/AR0700SR",     "da2/ht_chantry",        "da2/w_woundedcoast",
        "dao/arena2",         "dao/brc202d",        "dao/den000d",           "dao/orz900d",
        "mazes/maze512-32-0", "mazes/maze512-8-0",  "random/random512-20-0", "random/random512-40-0",
        "rooms/16room_000",   "rooms/64room_003",   "sc1/AcrosstheCape",     "sc1/Aftershock",
        "sc1/Archipelago",    "sc1/BigGameHunters", "sc1/Labyrinth",         "sc1/Octopus"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) check_file(names[i]);
    fprintf(stderr, "%zu maps, %u starts each\n", sizeof names / sizeof names[0], test_count(8, 20, 100));
}
