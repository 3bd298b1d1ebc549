/* nav_random.h: random terrains, and a field with its memory, for the tests of nav. */
#ifndef PHX_TEST_NAV_RANDOM_H
#define PHX_TEST_NAV_RANDOM_H

#include <phalanx/nav.h>
#include <stdlib.h>

#include "harness.h"

/* A terrain with its own memory. */
typedef struct TestMap {
    PhxNavGrid grid;
    uint8_t *cost;
} TestMap;

/* Sides 1..max_side, 0 to 60% walls; costs all alike, of two kinds in patches, or any. */
static inline TestMap test_map_random(uint64_t *seed, uint32_t max_side) {
    const uint32_t width = (uint32_t)test_range(seed, 1, max_side),
                   height = (uint32_t)test_range(seed, 1, max_side);
    const int64_t walls = test_range(seed, 0, 60), kind = test_range(seed, 0, 3);
    const uint8_t low = (uint8_t)test_range(seed, 1, 254), high = (uint8_t)test_range(seed, 1, 254);
    uint8_t *cost = malloc((size_t)width * height);
    const uint64_t patches = test_random(seed);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            uint8_t c = kind == 0 ? 1 : kind == 1 ? low : (uint8_t)test_range(seed, 1, 254);
            if (kind == 3) c = patches >> (y / 5 % 8 * 8 + x / 5 % 8) & 1 ? low : high;
            cost[y * width + x] = test_range(seed, 0, 99) < walls ? PHX_NAV_IMPASSABLE : c;
        }
    }
    return (TestMap){{width, height, cost}, cost};
}

/* Up to `most` passable cells into `goals`; 0 if the map has none. */
static inline uint32_t test_map_goals(const TestMap *map, uint64_t *seed, uint32_t most, uint32_t *goals) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < most; i++) {
        const uint32_t cell = (uint32_t)test_range(seed, 0, (int64_t)map->grid.width * map->grid.height - 1);
        const uint32_t open = phx_nav_nearest_open(&map->grid, cell);
        if (open == PHX_NAV_NO_CELL) return 0;
        goals[count++] = open;
    }
    return count;
}

/* Memory for a field of a grid's size and for its build; the scratch is filled with `poison`. */
typedef struct TestField {
    PhxField field;
    void *memory, *scratch;
} TestField;

static inline TestField test_field_make(const PhxNavGrid *grid, int poison) {
    TestField made;
    const size_t size = phx_field_size(grid->width, grid->height);
    const size_t scratch = phx_field_scratch_size(grid->width, grid->height);
    made.memory = malloc(size);
    made.scratch = malloc(scratch);
    memset(made.memory, poison, size);
    memset(made.scratch, poison, scratch);
    phx_field_init(&made.field, grid->width, grid->height, made.memory);
    return made;
}

static inline void test_field_free(TestField *field) {
    free(field->memory);
    free(field->scratch);
}

static inline bool test_field_equal(const PhxField *a, const PhxField *b) {
    const size_t cells = (size_t)a->width * a->height;
    return memcmp(a->integration, b->integration, cells * sizeof *a->integration) == 0 &&
           memcmp(a->flow, b->flow, cells) == 0;
}

#endif
