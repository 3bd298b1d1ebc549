/* nav_sight.c: sight windows against their definition, cell by cell.
 *
 * The oracle clips the segment of the two centres to the open 2 x 2 square of every wall, in whole numbers.
 */
#include "nav/tile.h"
#include "nav_random.h"

/* Whether the segment from (0, 0) to (dx, dy) meets the open square (wx - 1, wx + 1) x (wy - 1, wy + 1): the
 * open intervals of t in which each axis lies within it, and [0, 1], have a common point. Fractions have the
 * denominator |dx| or |dy|. */
static bool meets(int dx, int dy, int wx, int wy) {
    int64_t low = 0, low_of = 1, high = 1, high_of = 1; /* t */
    bool low_open = false, high_open = false;
    const int d[2] = {dx, dy}, w[2] = {wx, wy};
    for (int i = 0; i < 2; i++) {
        if (d[i] == 0) {
            if (w[i] - 1 >= 0 || w[i] + 1 <= 0) return false;
            continue;
        }
        const int64_t size = d[i] < 0 ? -d[i] : d[i];
        const int64_t a = d[i] < 0 ? -(w[i] + 1) : w[i] - 1, b = a + 2;
        if (a * low_of >= low * size) low = a, low_of = size, low_open = true;
        if (b * high_of <= high * size) high = b, high_of = size, high_open = true;
    }
    const int64_t left = low * high_of, right = high * low_of;
    return left < right || (left == right && !low_open && !high_open);
}

static bool sees(const PhxNavGrid *grid, int gx, int gy, int cx, int cy) {
    const uint8_t cost = grid->cost[(uint32_t)gy * grid->width + (uint32_t)gx];
    for (int y = (cy < gy ? cy : gy) - 1; y <= (cy < gy ? gy : cy) + 1; y++) {
        for (int x = (cx < gx ? cx : gx) - 1; x <= (cx < gx ? gx : cx) + 1; x++) {
            const bool inside = x >= 0 && y >= 0 && x < (int)grid->width && y < (int)grid->height;
            if (inside && grid->cost[(uint32_t)y * grid->width + (uint32_t)x] == cost) continue;
            if (meets(cx - gx, cy - gy, x - gx, y - gy)) return false;
        }
    }
    return true;
}

PHX_TEST(sight, is_that_of_sliding_squares) {
    uint64_t seed = 41;
    PhxSight *sight = malloc(sizeof *sight);
    uint64_t seen = 0, hidden = 0;
    for (int i = 0; i < 300; i++) {
        TestMap map = test_map_random(&seed, i % 10 == 0 ? 90 : 24);
        /* sparse walls too, so that far cells count */
        const int64_t opened = test_range(&seed, 0, 4);
        const uint32_t cells = map.grid.width * map.grid.height;
        for (uint32_t c = 0; c < cells; c++)
            if (opened && test_range(&seed, 0, 9) >= 10 - opened * 2 - 1) map.cost[c] = 7;
        uint32_t goals[3];
        const uint32_t count = test_map_goals(&map, &seed, 3, goals);
        phx_sight_build(sight, &map.grid, goals, count);
        for (uint32_t g = 0; g < count; g++) {
            for (uint32_t c = 0; c < cells; c++) {
                const int gx = (int)(goals[g] % map.grid.width), gy = (int)(goals[g] / map.grid.width);
                const int cx = (int)(c % map.grid.width), cy = (int)(c / map.grid.width);
                const bool far = abs(cx - gx) > PHX_SIGHT_REACH || abs(cy - gy) > PHX_SIGHT_REACH;
                const bool want = !far && sees(&map.grid, gx, gy, cx, cy);
                CHECK_THAT(phx_sight_sees(&sight->window[g], map.grid.width, (uint32_t)cx, (uint32_t)cy) ==
                               want,
                           "map %d goal (%d, %d) cell (%d, %d)", i, gx, gy, cx, cy);
                want ? seen++ : hidden++;
            }
        }
        free(map.cost);
    }
    fprintf(stderr, "%" PRIu64 " cells in sight, %" PRIu64 " not\n", seen, hidden);
    CHECK(seen > 10000 && hidden > 10000);
    uint32_t many[PHX_SIGHT_GOALS + 1] = {0};
    const uint8_t cost = 1;
    phx_sight_build(sight, &(PhxNavGrid){1, 1, &cost}, many, PHX_SIGHT_GOALS + 1);
    CHECK_EQ(sight->count, 0);
    free(sight);
}
