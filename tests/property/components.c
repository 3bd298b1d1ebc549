/* components.c: connected parts against a naive flood over all eight directions, and the nearest cell by
 * brute force. */
#include <stdlib.h>

#include "harness.h"
#include "nav/components.h"

enum { LIMIT = 40 };

static void spread(const PhxNavGrid *grid, uint8_t *seen, uint32_t cell) {
    const int32_t x = (int32_t)(cell % grid->width), y = (int32_t)(cell / grid->width);
    if (seen[cell]) return;
    seen[cell] = 1;
    for (int32_t dy = -1; dy <= 1; dy++)
        for (int32_t dx = -1; dx <= 1; dx++)
            if (phx_nav_passable(grid, x + dx, y + dy) && phx_nav_passable(grid, x, y + dy) &&
                phx_nav_passable(grid, x + dx, y))
                spread(grid, seen, (uint32_t)(y + dy) * grid->width + (uint32_t)(x + dx));
}

PHX_TEST(components, equal_a_naive_flood_and_a_brute_force_search) {
    uint64_t seed = 17;
    for (int map = 0; map < 200; map++) {
        const uint32_t width = (uint32_t)test_range(&seed, 1, LIMIT),
                       height = (uint32_t)test_range(&seed, 1, LIMIT);
        const uint32_t cells = width * height;
        const int64_t density = test_range(&seed, 0, 70);
        uint8_t cost[LIMIT * LIMIT], seen[LIMIT * LIMIT] = {0};
        uint32_t label[LIMIT * LIMIT], stack[LIMIT * LIMIT], largest, sizes[LIMIT * LIMIT] = {0};
        for (uint32_t c = 0; c < cells; c++) cost[c] = test_range(&seed, 0, 99) < density ? 255 : 1;
        const PhxNavGrid grid = {width, height, cost};
        const uint32_t count = phx_components_build(&grid, label, stack, &largest);
        const uint32_t from = (uint32_t)test_range(&seed, 0, cells - 1),
                       goal = (uint32_t)test_range(&seed, 0, cells - 1);
        for (uint32_t c = 0; c < cells; c++) {
            CHECK_EQ(label[c] == PHX_COMPONENT_NONE, cost[c] == 255);
            if (cost[c] == 255) continue;
            CHECK(label[c] < count);
            sizes[label[c]]++;
        }
        for (uint32_t c = 0; c < count; c++) CHECK(sizes[c] > 0 && sizes[c] <= sizes[largest]);
        if (cost[from] == 255) continue;
        spread(&grid, seen, from);
        uint64_t best = UINT64_MAX;
        uint32_t nearest = 0;
        for (uint32_t c = 0; c < cells; c++) {
            CHECK_THAT(seen[c] == (label[c] == label[from]), "map %d cell %u", map, c);
            const int64_t dx = (int64_t)(c % width) - goal % width, dy = (int64_t)(c / width) - goal / width;
            if (seen[c] && (uint64_t)(dx * dx + dy * dy) < best)
                best = (uint64_t)(dx * dx + dy * dy), nearest = c;
        }
        CHECK_THAT(phx_components_nearest(&grid, label, label[from], goal) == nearest, "map %d", map);
    }
}
