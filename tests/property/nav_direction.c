/* nav_direction.c: what a field's direction promises, at random positions of random maps. */
#include <phalanx/nav.h>

#include "nav_random.h"

typedef struct Scene {
    TestMap map;
    TestField made;
} Scene;

static bool scene_make(Scene *scene, uint64_t *seed, uint32_t side) {
    scene->map = test_map_random(seed, side);
    scene->made = test_field_make(&scene->map.grid, 0);
    uint32_t goals[3];
    const uint32_t count = test_map_goals(&scene->map, seed, (uint32_t)test_range(seed, 1, 3), goals);
    if (!count) return false;
    const PhxFieldWeights four = {10, 0}, weights = test_range(seed, 0, 3) ? PHX_FIELD_WEIGHTS_DEFAULT : four;
    CHECK_OK(
        phx_field_build(&scene->made.field, &scene->map.grid, weights, goals, count, scene->made.scratch));
    return true;
}

static void scene_free(Scene *scene) {
    test_field_free(&scene->made);
    free(scene->map.cost);
}

static PhxVec2 random_point(const Scene *scene, uint64_t *seed) {
    const int64_t width = scene->map.grid.width * (int64_t)65536,
                  height = scene->map.grid.height * (int64_t)65536;
    PhxVec2 p = {(fix16_t)test_range(seed, 0, width - 1), (fix16_t)test_range(seed, 0, height - 1)};
    if (test_range(seed, 0, 3) == 0) p.x &= ~32767; /* on a line or in the middle */
    if (test_range(seed, 0, 3) == 0) p.y &= ~32767;
    if (test_range(seed, 0, 7) == 0) p.x |= 65535; /* just before a line */
    if (test_range(seed, 0, 7) == 0) p.y |= 65535;
    return p;
}

static bool is_unit(PhxDir d) {
    const double x = d.x / 1073741824.0, y = d.y / 1073741824.0, off = x * x + y * y - 1;
    return off < 1e-6 && off > -1e-6;
}

static PhxVec2 moved(PhxVec2 p, PhxDir d, fix16_t length) {
    const PhxVec2 by = phx_dir_scale(d, length);
    return (PhxVec2){p.x + by.x, p.y + by.y};
}

PHX_TEST(direction, steps_of_up_to_one_unit_touch_passable_cells_only) {
    uint64_t seed = 21;
    int walked = 0;
    for (int i = 0; i < 400; i++) {
        Scene scene;
        if (scene_make(&scene, &seed, 30)) {
            const PhxField *field = &scene.made.field;
            for (int k = 0; k < 1000; k++) {
                const PhxVec2 p = random_point(&scene, &seed);
                const uint32_t cell = phx_nav_cell_at(&scene.map.grid, p.x, p.y);
                const PhxDir d = phx_field_direction(field, p.x, p.y);
                const uint8_t code = field->flow[cell];
                if (code == PHX_FLOW_GOAL || code == PHX_FLOW_NONE) CHECK(d.x == 0 && d.y == 0);
                if (code >= PHX_FLOW_GOAL) continue;
                CHECK_THAT(is_unit(d), "map %d point %d", i, k);
                CHECK_THAT((int64_t)d.x * phx_flow_dx[code] + (int64_t)d.y * phx_flow_dy[code] > 0,
                           "map %d point %d", i, k);
                const fix16_t lengths[] = {1, 100, 8192, 32768, 65536};
                for (int l = 0; l < 5; l++) {
                    const PhxVec2 q = moved(p, d, lengths[l]);
                    CHECK_THAT(phx_nav_line_of_sight(&scene.map.grid, p, q),
                               "map %d point %d (%d, %d) to (%d, %d)", i, k, p.x, p.y, q.x, q.y);
                    CHECK(field->integration[phx_nav_cell_at(&scene.map.grid, q.x, q.y)] !=
                          PHX_FIELD_UNREACHED);
                }
                walked++;
            }
        }
        scene_free(&scene);
    }
    CHECK(walked > 100000);
}

/* The number of cells on the way of the arrows. */
static int way_cells(const Scene *scene, uint32_t cell) {
    int count = 0;
    const PhxField *field = &scene->made.field;
    for (; field->flow[cell] < PHX_FLOW_GOAL; count++)
        cell = (uint32_t)((int32_t)cell + phx_flow_dy[field->flow[cell]] * (int32_t)field->width +
                          phx_flow_dx[field->flow[cell]]);
    return count;
}

PHX_TEST(direction, who_follows_it_arrives) {
    uint64_t seed = 22;
    int walks = 0;
    double worst = 0;
    for (int i = 0; i < 300; i++) {
        Scene scene;
        if (scene_make(&scene, &seed, 50)) {
            const PhxField *field = &scene.made.field;
            for (int k = 0; k < 20; k++) {
                PhxVec2 p = random_point(&scene, &seed);
                uint32_t cell = phx_nav_cell_at(&scene.map.grid, p.x, p.y);
                if (field->flow[cell] >= PHX_FLOW_GOAL) continue;
                const int cells = way_cells(&scene, cell), most = 8 * (3 * cells + 10);
                int steps = 0;
                for (; field->flow[cell] != PHX_FLOW_GOAL && steps < most; steps++) {
                    p = moved(p, phx_field_direction(field, p.x, p.y), 8192);
                    cell = phx_nav_cell_at(&scene.map.grid, p.x, p.y);
                }
                CHECK_THAT(field->flow[cell] == PHX_FLOW_GOAL,
                           "map %d walk %d: at (%d, %d) after %d steps for %d cells", i, k, p.x, p.y, steps,
                           cells);
                const double ratio = steps / 8.0 / (cells + 1);
                if (ratio > worst) worst = ratio;
                walks++;
            }
        }
        scene_free(&scene);
    }
    fprintf(stderr, "%d walks, at worst %.2f units a cell\n", walks, worst);
    CHECK(walks > 1000);
}

PHX_TEST(direction, from_walls_and_outside_it_leads_to_the_nearest_passable_cell) {
    uint64_t seed = 23;
    for (int i = 0; i < 200; i++) {
        Scene scene;
        if (scene_make(&scene, &seed, 20)) {
            for (int k = 0; k < 200; k++) {
                PhxVec2 p = random_point(&scene, &seed);
                if (k % 2) p = (PhxVec2){(fix16_t)test_range(&seed, INT32_MIN / 4, INT32_MAX / 4), p.y};
                const uint32_t cell = phx_nav_cell_clamped(&scene.map.grid, p.x, p.y);
                const bool inside = phx_nav_cell_at(&scene.map.grid, p.x, p.y) == cell;
                if (inside && scene.map.cost[cell] != PHX_NAV_IMPASSABLE) continue;
                const PhxVec2 to =
                    phx_nav_cell_center(&scene.map.grid, phx_nav_nearest_open(&scene.map.grid, cell));
                const PhxDir d = phx_field_direction(&scene.made.field, p.x, p.y);
                const double dx = (double)to.x - p.x, dy = (double)to.y - p.y;
                const double cross = (dx * d.y - dy * d.x) / 1073741824.0 / (dx * dx + dy * dy);
                CHECK_THAT(is_unit(d) && dx * d.x + dy * d.y > 0 && cross < 1e-4 && cross > -1e-4,
                           "map %d point %d", i, k);
            }
        }
        scene_free(&scene);
    }
    /* no passable cell at all, and a field that wasn't built */
    const uint8_t cost[4] = {255, 255, 255, 255};
    const PhxNavGrid walls = {2, 2, cost};
    TestField made = test_field_make(&walls, 0);
    memset(made.field.flow, PHX_FLOW_WALL, 4);
    PhxDir d = phx_field_direction(&made.field, 70000, 70000);
    CHECK(d.x == 0 && d.y == 0);
    phx_field_init(&made.field, 2, 2, made.memory);
    d = phx_field_direction(&made.field, 70000, 70000);
    CHECK(d.x == 0 && d.y == 0);
    test_field_free(&made);
}
