/* nav_cost.c: cost planes worked out by hand, and the places of units of some size in their layer. */
#include <phalanx/cost.h>
#include <stdlib.h>

#include "harness.h"

enum { ONE = 65536, HALF = 32768 };

static const PhxCellRect ALL = {0, 0, 4096, 4096};

/* Composes a small map and compares it with what was worked out. */
static void check(const PhxCostSources *sources, const PhxCostProfile *profile, uint32_t size,
                  const uint8_t *want) {
    uint8_t plane[256];
    phx_cost_compose(sources, profile, 3, size, ALL, plane);
    for (uint32_t c = 0; c < sources->width * sources->height; c++)
        CHECK_THAT(plane[c] == want[c], "cell (%u, %u): %d, not %d", c % sources->width, c / sources->width,
                   plane[c], want[c]);
}

PHX_TEST(nav_cost, ground_and_kind_multiply_and_stay_between_1_and_254) {
    const uint8_t ground[] = {0, 1, 2, 3, 100, 254, 255, 50}, kind[] = {0, 1, 1, 1, 2, 2, 1, 3 + 16};
    const PhxCostProfile profile = {.kind_percent = {0, 49, 250, 255}};
    const PhxCostSources sources = {.width = 8, .height = 1, .ground = ground, .kind = kind};
    check(&sources, &profile, 1, (const uint8_t[]){1, 1, 1, 1, 250, 254, 255, 255});
    const PhxCostSources of_one_kind = {.width = 8, .height = 1, .ground = ground};
    check(&of_one_kind, &(PhxCostProfile){.kind_percent = {150}}, 1,
          (const uint8_t[]){2, 2, 3, 5, 150, 254, 255, 75});
    check(&of_one_kind, &(PhxCostProfile){.kind_percent = {255}}, 1,
          (const uint8_t[]){255, 255, 255, 255, 255, 255, 255, 255});
}

PHX_TEST(nav_cost, a_slope_is_the_steepest_step_and_may_close_a_cell) {
    const uint8_t ground[] = {10, 10, 10, 10, 10, 10}, height_map[] = {0, 3, 4, 0, 0, 9};
    const PhxCostSources sources = {.width = 3, .height = 2, .ground = ground, .height_map = height_map};
    check(&sources, &(PhxCostProfile){.slope_cost = 2}, 1, (const uint8_t[]){16, 16, 20, 10, 28, 28});
    check(&sources, &(PhxCostProfile){.slope_limit = 4}, 1, (const uint8_t[]){10, 10, 255, 10, 255, 255});
    check(&sources, &(PhxCostProfile){.slope_limit = 5}, 1, (const uint8_t[]){10, 10, 10, 10, 255, 255});
}

PHX_TEST(nav_cost, buildings_close_and_gates_let_their_teams_through) {
    const uint8_t ground[] = {1, 1, 1, 255, 1, 1};
    PhxCostBuilding buildings[] = {{{-5, 0, 1, 9}, 0}, {{2, 0, 4, 1}, 1u << 3}, {{4, 0, 5, 0}, 0}};
    const PhxCostSources sources = {
        .width = 6, .height = 1, .ground = ground, .buildings = buildings, .building_count = 3};
    const PhxCostProfile profile = {.density_cost = 1};
    check(&sources, &profile, 1, (const uint8_t[]){255, 1, 1, 255, 1, 1});
    buildings[1].open_teams = (uint16_t) ~(1u << 3);
    check(&sources, &profile, 1, (const uint8_t[]){255, 1, 255, 255, 1, 1});
    uint8_t plane[6];
    phx_cost_compose(&sources, &profile, 16, 1, ALL, plane); /* no team at all */
    CHECK_EQ(plane[2], 255);
}

PHX_TEST(nav_cost, modifiers_fall_linearly_and_density_and_they_are_added_before_the_clamp) {
    const uint8_t ground[] = {10, 10, 10, 10, 10, 255, 10};
    PhxCostModifier modifiers[] = {{3 * HALF, HALF, 4 * ONE, 100, 0xffff}, {3 * HALF, HALF, 4 * ONE, 100, 1}};
    PhxCostSources sources = {
        .width = 7, .height = 1, .ground = ground, .modifiers = modifiers, .modifier_count = 2};
    check(&sources, &(PhxCostProfile){.smoothing = 0}, 1, (const uint8_t[]){85, 110, 85, 60, 35, 255, 10});
    modifiers[0].strength = -10; /* -7.5 is rounded away from 0 */
    check(&sources, &(PhxCostProfile){.smoothing = 0}, 1, (const uint8_t[]){2, 1, 2, 5, 7, 255, 10});
    const uint8_t density[] = {0, 1, 2, 15, 0, 15, 15};
    sources.density = density;
    modifiers[0].strength = -253;
    check(&sources, &(PhxCostProfile){.density_cost = 20}, 1, (const uint8_t[]){1, 1, 1, 183, 1, 255, 254});
    CHECK_EQ(phx_cost_modifier_rect(&modifiers[0]).x0, -3);
    CHECK_EQ(phx_cost_modifier_rect(&modifiers[0]).x1, 6);
    modifiers[0].radius = -1;
    CHECK_EQ(phx_cost_modifier_rect(&modifiers[0]).x1, 0);
    check(&sources, &(PhxCostProfile){.smoothing = 0}, 1, (const uint8_t[]){10, 10, 10, 10, 10, 255, 10});
}

PHX_TEST(nav_cost, the_margin_falls_from_walls_and_the_map_edge_by_true_distance) {
    uint8_t ground[81], want[81];
    memset(ground, 1, sizeof ground);
    ground[40] = 255;
    const PhxCostSources sources = {.width = 9, .height = 9, .ground = ground};
    /* width 2: 30 at distance 1, 15 at 2; 24 at 1.414 (24, as 30 * 1.586 / 2 = 23.8), 11 at 2.236, 3 at 2.828
     */
    for (int y = 0; y < 9; y++)
        for (int x = 0; x < 9; x++) {
            const int dx = abs(x - 4), dy = abs(y - 4), d2 = dx * dx + dy * dy;
            const int edge = x < y ? (x < 8 - y ? x : 8 - y) : (y < 8 - x ? y : 8 - x);
            const int wall = d2 == 1 ? 30 : d2 == 2 ? 24 : d2 == 4 ? 15 : d2 == 5 ? 11 : d2 == 8 ? 3 : 0;
            const int side = edge == 0 ? 30 : edge == 1 ? 15 : 0;
            want[y * 9 + x] = (uint8_t)(d2 == 0 ? 255 : 1 + (wall > side ? wall : side));
        }
    check(&sources, &(PhxCostProfile){.margin_cost = 30, .margin_width = 2}, 1, want);
    memset(want, 1, sizeof want);
    want[40] = 255;
    check(&sources, &(PhxCostProfile){.margin_cost = 30}, 1, want);
}

PHX_TEST(nav_cost, smoothing_takes_the_mean_of_the_passable_neighbours) {
    const uint8_t ground[] = {10, 20, 255, 40, 100, 255, 255, 254, 1};
    const PhxCostSources sources = {.width = 3, .height = 3, .ground = ground};
    check(&sources, &(PhxCostProfile){.smoothing = 1}, 1,
          (const uint8_t[]){43, 43, 255, 85, 71, 255, 255, 99, 118});
    check(&sources, &(PhxCostProfile){.smoothing = 2}, 1,
          (const uint8_t[]){29, 38, 255, 65, 87, 255, 255, 140, 87});
}

PHX_TEST(nav_cost, a_large_unit_pays_the_dearest_cell_under_its_block) {
    const uint8_t ground[] = {1, 2, 3, 4, 5, 255, 1, 1, 1, 1, 1, 1, 9, 1, 1, 1, 1, 1};
    const PhxCostSources sources = {.width = 6, .height = 3, .ground = ground};
    check(&sources, &(PhxCostProfile){.smoothing = 0}, 2,
          (const uint8_t[]){2, 3, 4, 5, 255, 255, 9, 1, 1, 1, 1, 255, 255, 255, 255, 255, 255, 255});
    check(&sources, &(PhxCostProfile){.smoothing = 0}, 3,
          (const uint8_t[]){255, 255, 255, 255, 255, 255, 255, 9, 4, 5, 255, 255, 255, 255, 255, 255, 255,
                            255});
    uint8_t plane[18];
    phx_cost_compose(&sources, &(PhxCostProfile){.smoothing = 0}, 0, 32, ALL, plane);
    for (int c = 0; c < 18; c++) CHECK_EQ(plane[c], 255);
}

PHX_TEST(nav_cost, a_rectangle_beyond_the_map_is_clipped) {
    const uint8_t ground[] = {4, 5};
    const PhxCostSources sources = {.width = 2, .height = 1, .ground = ground};
    const PhxCostProfile profiles[] = {{.smoothing = 0}, {.smoothing = 2}};
    for (int i = 0; i < 2; i++) {
        uint8_t plane[2] = {9, 9};
        phx_cost_compose(&sources, &profiles[i], 0, 1, (PhxCellRect){1, 0, 1, 1}, plane);
        phx_cost_compose(&sources, &profiles[i], 0, 1, (PhxCellRect){2, -9, 9, 9}, plane);
        phx_cost_compose(&sources, &profiles[i], 0, 1, (PhxCellRect){INT32_MAX, 0, INT32_MIN, 1}, plane);
        CHECK(plane[0] == 9 && plane[1] == 9);
        phx_cost_compose(&sources, &profiles[i], 0, 1, (PhxCellRect){1, -9, INT32_MAX, 9}, plane);
        CHECK(plane[0] == 9 && plane[1] == 5);
    }
}

PHX_TEST(nav_cost, the_size_of_a_unit_is_its_diameter_rounded_up) {
    CHECK_EQ(phx_cost_size_of(INT32_MIN), 1);
    CHECK_EQ(phx_cost_size_of(0), 1);
    CHECK_EQ(phx_cost_size_of(HALF), 1);
    CHECK_EQ(phx_cost_size_of(HALF + 1), 2);
    CHECK_EQ(phx_cost_size_of(ONE), 2);
    CHECK_EQ(phx_cost_size_of(16 * ONE), 32);
    CHECK_EQ(phx_cost_size_of(16 * ONE - HALF), 31);
    CHECK_EQ(phx_cost_size_of(INT32_MAX), 32);
}

PHX_TEST(nav_cost, positions_map_to_cells_of_a_layer_and_back) {
    const uint8_t cost[12] = {0};
    const PhxNavGrid layer = {4, 3, cost};
    for (uint32_t size = 1; size <= 32; size++) {
        const fix16_t shift = size % 2 ? 0 : HALF;
        for (uint32_t cell = 0; cell < 12; cell++) {
            const fix16_t x = (fix16_t)(cell % 4) * ONE + shift, y = (fix16_t)(cell / 4) * ONE + shift;
            const PhxVec2 center = phx_cost_center_of(&layer, size, cell);
            CHECK(center.x == x + HALF && center.y == y + HALF);
            CHECK_EQ(phx_cost_cell_of(&layer, size, x, y), cell);
            CHECK_EQ(phx_cost_cell_of(&layer, size, x + ONE - 1, y + ONE - 1), cell);
            CHECK(phx_vec2_equal(phx_cost_to_layer(size, center), phx_nav_cell_center(&layer, cell)));
        }
        CHECK_EQ(phx_cost_cell_of(&layer, size, INT32_MIN, INT32_MIN), 0);
        CHECK_EQ(phx_cost_cell_of(&layer, size, INT32_MAX, INT32_MAX), 11);
        CHECK_EQ(phx_cost_cell_of(&layer, size, ONE + shift - 1, -1), 0);
        CHECK_EQ(phx_cost_cell_of(&layer, size, ONE + shift, -1), 1);
        CHECK_EQ(phx_cost_cell_of(&layer, size, -1, ONE + shift - 1), 0);
        const PhxVec2 below = phx_cost_to_layer(size, phx_vec2(-1, -ONE));
        CHECK(below.x == -1 - shift && below.y == -ONE - shift);
    }
}

PHX_TEST(nav_cost, kinds_of_ground_slow_units_down_or_speed_them_up) {
    const PhxCostProfile profile = {.speed_percent = {0, 50, 255}};
    CHECK_EQ(phx_cost_speed_percent(&profile, 0), 100);
    CHECK_EQ(phx_cost_speed_percent(&profile, 1), 50);
    CHECK_EQ(phx_cost_speed_percent(&profile, 2), 255);
    CHECK_EQ(phx_cost_speed_percent(&profile, 17), 50);
}
