/* nav_goals.c: goal areas, sight of goals over whole fields, and sums at the limit on long ways. */
#include <phalanx/nav.h>
#include <stdlib.h>

#include "nav_random.h"

enum { ONE = 1 << 16 };

PHX_TEST(nav_goals, areas_hold_the_passable_cells_within) {
    uint64_t seed = 11;
    uint32_t listed = 0;
    for (int i = 0; i < 3000; i++) {
        const TestMap map = test_map_random(&seed, 40);
        const PhxNavGrid *grid = &map.grid;
        const uint32_t cells = grid->width * grid->height;
        uint32_t *got = malloc((cells + 1) * sizeof *got);
        const fix16_t x = (fix16_t)test_range(&seed, -20 * ONE, 60 * ONE),
                      y = (fix16_t)test_range(&seed, -20 * ONE, 60 * ONE);
        const fix16_t most = (fix16_t)test_range(&seed, 0, 40 * ONE),
                      radius = i % 7 ? most >> test_range(&seed, 0, 5) : 0;
        const int32_t x0 = (int32_t)test_range(&seed, -9, 45), y0 = (int32_t)test_range(&seed, -9, 45),
                      x1 = x0 + (int32_t)test_range(&seed, -2, 20),
                      y1 = y0 + (int32_t)test_range(&seed, -2, 20);
        const uint32_t limit = (uint32_t)(i % 3 ? cells : test_range(&seed, 0, 5));
        for (int kind = 0; kind < 2; kind++) {
            got[limit < cells ? limit : cells] = 0xabcdef;
            const uint32_t count = kind ? phx_nav_cells_in_rect(grid, x0, y0, x1, y1, limit, got)
                                        : phx_nav_cells_in_disc(grid, phx_vec2(x, y), radius, limit, got);
            uint32_t want = 0;
            for (uint32_t c = 0; c < cells; c++) {
                const int32_t cx = (int32_t)(c % grid->width), cy = (int32_t)(c / grid->width);
                const int64_t dx = cx * ONE + ONE / 2 - x, dy = cy * ONE + ONE / 2 - y;
                const bool own = x >= cx * ONE && x < (cx + 1) * ONE && y >= cy * ONE && y < (cy + 1) * ONE;
                const bool in = kind ? cx >= x0 && cx < x1 && cy >= y0 && cy < y1
                                     : own || dx * dx + dy * dy <= (int64_t)radius * radius;
                if (!in || map.cost[c] == PHX_NAV_IMPASSABLE) continue;
                if (want < limit) CHECK_THAT(got[want] == c, "map %d kind %d", i, kind);
                want++;
            }
            CHECK_THAT(count == want, "map %d kind %d: %u, not %u", i, kind, count, want);
            CHECK_EQ(got[limit < cells ? limit : cells], 0xabcdef);
            listed += count;
        }
        free(got);
        free(map.cost);
    }
    printf("%u cells listed\n", listed);
    CHECK(listed > 50000);
}

static PhxVec2 point_in(uint64_t *seed, const PhxNavGrid *grid, uint32_t cell) {
    /* not on its edge: from there a line may touch a wall's corner, which phx_nav_line_of_sight doesn't allow
     */
    static const fix16_t at[] = {1, 2, ONE / 3, ONE / 2, ONE / 3 * 2, ONE - 2, ONE - 1};
    const fix16_t x = at[test_range(seed, 0, 6)], y = at[test_range(seed, 0, 6)];
    return phx_vec2((fix16_t)(cell % grid->width) * ONE + x, (fix16_t)(cell / grid->width) * ONE + y);
}

/* From any inner point of a cell in sight to any one of its goal's cell there are cells of the goal's cost
 * only. And sight isn't rare: in the open each cell within reach has it. */
PHX_TEST(nav_goals, sight_is_clear_from_all_of_the_cell_to_all_of_the_goal) {
    uint64_t seed = 21;
    uint32_t seen = 0, walked = 0;
    for (int i = 0; i < 300; i++) {
        const TestMap map = test_map_random(&seed, 60);
        const PhxNavGrid *grid = &map.grid;
        const uint32_t cells = grid->width * grid->height;
        if (i % 2)
            for (uint32_t c = 0; c < cells; c++) map.cost[c] = test_range(&seed, 0, 29) ? 1 : 255;
        uint32_t goals[16];
        const uint32_t count = test_map_goals(&map, &seed, (uint32_t)test_range(&seed, 1, 16), goals);
        TestField made = test_field_make(grid, i);
        uint8_t *sight = malloc(cells), *even = malloc(cells);
        if (count) {
            CHECK_OK(
                phx_field_build(&made.field, grid, PHX_FIELD_WEIGHTS_DEFAULT, goals, count, made.scratch));
            CHECK_OK(phx_field_sight(grid, goals, count, sight, made.scratch));
            for (uint32_t k = 0; k < count; k++) CHECK_EQ(goals[sight[goals[k]]], goals[k]);
        }
        for (uint32_t c = 0; count && c < cells; c++) {
            const PhxVec2 from = point_in(&seed, grid, c);
            if (sight[c] == PHX_FIELD_SIGHT_NONE) {
                const PhxDir want = phx_field_direction(&made.field, from.x, from.y),
                             got = phx_field_direction_in_sight(&made.field, sight, goals, from, from.x,
                                                                from.y);
                CHECK(got.x == want.x && got.y == want.y);
                continue;
            }
            seen++;
            const uint32_t goal = goals[sight[c]];
            for (uint32_t k = 0; k < cells; k++) even[k] = map.cost[k] == map.cost[goal] ? 1 : 255;
            const PhxNavGrid alike = {grid->width, grid->height, even};
            for (int k = 0; k < 4; k++, walked++) {
                const PhxVec2 to = point_in(&seed, grid, goal), at = point_in(&seed, grid, c);
                CHECK_THAT(phx_nav_line_of_sight(&alike, at, to), "map %d cell %u goal %u", i, c, goal);
                PhxDir want, got;
                phx_vec2_normalize(phx_vec2_sub(to, at), &want);
                phx_field_directions(&made.field, sight, goals, 1, &to, &at, &got);
                CHECK(got.x == want.x && got.y == want.y);
            }
        }
        test_field_free(&made);
        free(sight), free(even), free(map.cost);
    }
    printf("%u cells in sight, %u lines\n", seen, walked);
    CHECK(seen > 20000);
    const uint32_t goal = 0;
    uint8_t open[4] = {1, 1, 1, 255}, sight[4];
    const PhxNavGrid grid = {2, 2, open};
    TestField made = test_field_make(&grid, 1);
    CHECK_OK(phx_field_sight(&grid, &goal, 1, sight, made.scratch));
    CHECK(sight[0] == 0 && sight[1] == 0 && sight[2] == 0 && sight[3] == PHX_FIELD_SIGHT_NONE);
    const uint32_t bad[] = {3, 4};
    CHECK_EQ(phx_field_sight(&grid, &bad[0], 1, sight, made.scratch), PHX_ERROR_STATE);
    CHECK_EQ(phx_field_sight(&grid, &bad[1], 1, sight, made.scratch), PHX_ERROR_RANGE);
    CHECK_EQ(phx_field_sight(&grid, bad, 0, sight, made.scratch), PHX_ERROR_ARGUMENT);
    test_field_free(&made);
}

/* Corridors of one cell that fill the map; the goal at their beginning. */
static PhxNavGrid serpentine(uint32_t side, uint8_t cost) {
    uint8_t *cells = malloc((size_t)side * side);
    memset(cells, cost, (size_t)side * side);
    for (uint32_t y = 1; y < side; y += 2) {
        memset(cells + (size_t)y * side, PHX_NAV_IMPASSABLE, side);
        cells[(size_t)y * side + (y / 2 % 2 ? 0 : side - 1)] = cost;
    }
    return (PhxNavGrid){side, side, cells};
}

/* The last cell of the corridor, and how many steps it is away. */
static uint64_t corridor_end(uint32_t side, uint32_t *cell) {
    const uint32_t rows = (side + 1) / 2, last = 2 * (rows - 1);
    *cell = last * side + (rows % 2 ? side - 1 : 0);
    uint64_t steps = (uint64_t)rows * side - 1 + (rows - 1);
    if (side % 2 == 0) { /* the turn below the last row is a dead end of one cell */
        *cell += side;
        steps++;
    }
    return steps;
}

/* The largest map's corridor is 8.4 million steps long; at cost 254 that passes 32 bits with the usual
 * weights. Half as long a way as fits is exact to the end. By default on a map of 256 with larger weights. */
PHX_TEST(nav_goals, case_long_corridors_are_exact_or_refused_and_never_wrap) {
    const bool large = getenv("PHX_LONG") != NULL;
    const uint32_t side = large ? PHX_NAV_MAX_SIDE : 256, goal = 0;
    const PhxNavGrid grid = serpentine(side, 254);
    TestField made = test_field_make(&grid, 3);
    uint32_t end;
    const uint64_t steps = corridor_end(side, &end);
    const PhxFieldWeights all[] = {{1, 1}, {1, 0}, {1, 2}, {10, 14}, {10, 0}, {5741, 8119}, {65535, 65535}};
    int refused = 0;
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++) {
        const uint64_t sum = steps * all[i].straight * 254;
        const PhxStatus status = phx_field_build(&made.field, &grid, all[i], &goal, 1, made.scratch);
        if (sum < UINT32_MAX) {
            CHECK_OK(status);
            CHECK_EQ(made.field.integration[end], sum);
            CHECK(made.field.flow[end] < PHX_FLOW_GOAL);
            continue;
        }
        refused++;
        CHECK_THAT(status == PHX_ERROR_LIMIT, "weights %u: %d", all[i].straight, status);
        for (uint32_t c = 0; c < side * side; c += 61)
            CHECK(made.field.integration[c] == PHX_FIELD_UNREACHED && made.field.flow[c] == PHX_FLOW_NONE);
    }
    CHECK(refused >= 2 && refused <= 5);
    /* the same with costs that differ */
    uint8_t *cost = malloc((size_t)side * side);
    memcpy(cost, grid.cost, (size_t)side * side);
    cost[end] = 1;
    const PhxNavGrid other = {side, side, cost};
    CHECK_OK(phx_field_build(&made.field, &other, all[0], &goal, 1, made.scratch));
    CHECK_EQ(made.field.integration[end], steps * 254);
    CHECK_EQ(phx_field_build(&made.field, &other, all[5], &goal, 1, made.scratch), PHX_ERROR_LIMIT);
    CHECK(made.field.integration[goal] == PHX_FIELD_UNREACHED);
    test_field_free(&made);
    free(cost), free((void *)grid.cost);
}
