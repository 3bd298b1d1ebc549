/* nav.c: cells and positions, the nearest passable cell, lines of sight, fields on small maps drawn as text.
 */
#include <phalanx/nav.h>

#include "../property/nav_random.h"

enum { ONE = 65536, HALF = 32768 };

/* A map of '.' (cost 1), digits (their cost) and '#', its rows separated by line feeds. */
static TestMap drawn(const char *rows) {
    uint32_t width = 0, height = 0;
    for (const char *c = rows; *c; c++) height += *c == '\n';
    while (rows[width] != '\n') width++;
    uint8_t *cost = malloc((size_t)width * height);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            const char c = rows[y * (width + 1) + x];
            cost[y * width + x] = c == '#' ? 255 : c == '.' ? 1 : (uint8_t)(c - '0');
        }
    return (TestMap){{width, height, cost}, cost};
}

PHX_TEST(nav, positions_map_to_cells_and_back_and_outside_is_no_cell) {
    const TestMap map = drawn("..#\n...\n");
    CHECK_EQ(phx_nav_cell_at(&map.grid, 0, 0), 0);
    CHECK_EQ(phx_nav_cell_at(&map.grid, ONE - 1, ONE), 3);
    CHECK_EQ(phx_nav_cell_at(&map.grid, 3 * ONE - 1, 2 * ONE - 1), 5);
    const int32_t outside[] = {-1, 3 * ONE, INT32_MIN, INT32_MAX, -ONE, -ONE - 1};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        CHECK(phx_nav_cell_at(&map.grid, outside[i], 0) == PHX_NAV_NO_CELL);
        CHECK(phx_nav_cell_at(&map.grid, 0, outside[i]) == PHX_NAV_NO_CELL);
        CHECK_EQ(phx_nav_cell_clamped(&map.grid, outside[i], ONE), outside[i] < 0 ? 3 : 5);
    }
    for (uint32_t cell = 0; cell < 6; cell++) {
        const PhxVec2 center = phx_nav_cell_center(&map.grid, cell);
        CHECK_EQ(phx_nav_cell_at(&map.grid, center.x, center.y), cell);
        CHECK(center.x % ONE == HALF && center.y % ONE == HALF);
    }
    CHECK(phx_nav_passable(&map.grid, 1, 0) && !phx_nav_passable(&map.grid, 2, 0));
    CHECK(!phx_nav_passable(&map.grid, -1, 0) && !phx_nav_passable(&map.grid, 0, 2));
    CHECK(!phx_nav_passable(&map.grid, INT32_MIN, INT32_MAX) && !phx_nav_passable(&map.grid, 3, 1));
    free(map.cost);
}

PHX_TEST(nav, nearest_open_cell_equals_a_search_of_the_whole_map) {
    uint64_t seed = 11;
    for (int i = 0; i < 300; i++) {
        const TestMap map = test_map_random(&seed, 20);
        const uint32_t width = map.grid.width, cells = width * map.grid.height;
        for (uint32_t c = 0; c < cells && i % 2; c++) /* every other map: nearly all walls */
            if (test_range(&seed, 0, 9)) map.cost[c] = PHX_NAV_IMPASSABLE;
        for (uint32_t cell = 0; cell < cells; cell++) {
            uint32_t best = PHX_NAV_NO_CELL;
            int64_t least = INT64_MAX;
            for (uint32_t c = 0; c < cells; c++) {
                const int64_t dx = (int64_t)(c % width) - cell % width,
                              dy = (int64_t)(c / width) - cell / width;
                if (map.cost[c] == PHX_NAV_IMPASSABLE || dx * dx + dy * dy >= least) continue;
                least = dx * dx + dy * dy;
                best = c;
            }
            CHECK_THAT(phx_nav_nearest_open(&map.grid, cell) == best, "map %d cell %u", i, cell);
        }
        CHECK(phx_nav_nearest_open(&map.grid, cells) == PHX_NAV_NO_CELL);
        CHECK(phx_nav_nearest_open(&map.grid, PHX_NAV_NO_CELL) == PHX_NAV_NO_CELL);
        free(map.cost);
    }
}

/* ---- lines of sight: small integer coordinates (quarters of a cell), so that all is exact in rationals ----
 */

typedef struct Ratio {
    int64_t n, d; /* d > 0 */
} Ratio;

static int64_t floor_div(int64_t n, int64_t d) { return n >= 0 ? n / d : -((-n + d - 1) / d); }

/* The cell coordinate of from + (to - from) * t, in quarters. */
static int64_t cell_on(int64_t from, int64_t to, Ratio t) {
    return floor_div(from * t.d + (to - from) * t.n, 4 * t.d);
}
static bool on_line(int64_t from, int64_t to, Ratio t) {
    return (from * t.d + (to - from) * t.n) % (4 * t.d) == 0;
}

static bool open_at(const TestMap *map, int64_t x, int64_t y) {
    return phx_nav_passable(&map->grid, (int32_t)x, (int32_t)y);
}

/* By all crossings with grid lines: the cells between two of them, those at the ends, and all four around a
 * lattice point that is passed diagonally (at an end, only if the cell changes there in both directions). */
static bool sight_oracle(const TestMap *map, const int64_t a[2], const int64_t b[2]) {
    Ratio t[64];
    size_t count = 0;
    t[count++] = (Ratio){0, 1};
    t[count++] = (Ratio){1, 1};
    for (int axis = 0; axis < 2; axis++) {
        const int64_t span = b[axis] - a[axis];
        for (int64_t line = 0; line <= 48 && span; line += 4)
            if ((line >= a[axis] && line <= b[axis]) || (line >= b[axis] && line <= a[axis]))
                t[count++] = span > 0 ? (Ratio){line - a[axis], span} : (Ratio){a[axis] - line, -span};
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (t[j].n * t[i].d < t[i].n * t[j].d) {
                const Ratio swap = t[i];
                t[i] = t[j], t[j] = swap;
            }
    const bool up_right = b[0] > a[0] && b[1] > a[1], down_left = b[0] < a[0] && b[1] < a[1];
    for (size_t i = 0; i < count; i++) {
        const int64_t x = cell_on(a[0], b[0], t[i]), y = cell_on(a[1], b[1], t[i]);
        const bool first = t[i].n == 0, last = t[i].n == t[i].d;
        if ((first || last) && !open_at(map, x, y)) return false;
        const bool lattice =
            on_line(a[0], b[0], t[i]) && on_line(a[1], b[1], t[i]) && a[0] != b[0] && a[1] != b[1];
        if (lattice && (!first || down_left) && (!last || up_right))
            for (int k = 0; k < 4; k++)
                if (!open_at(map, x - k % 2, y - k / 2)) return false;
        if (i + 1 == count) break;
        const Ratio middle = {t[i].n * t[i + 1].d + t[i + 1].n * t[i].d, 2 * t[i].d * t[i + 1].d};
        if (!open_at(map, cell_on(a[0], b[0], middle), cell_on(a[1], b[1], middle))) return false;
    }
    return true;
}

PHX_TEST(nav, line_of_sight_equals_an_exact_walk_and_is_the_same_both_ways) {
    uint64_t seed = 5;
    int seen = 0;
    for (int i = 0; i < 200; i++) {
        const TestMap map = test_map_random(&seed, 12);
        for (int k = 0; k < 500; k++) {
            int64_t a[2], b[2];
            const int64_t grain = k % 3 == 0 ? 4 : 1; /* every third: lattice points only */
            for (int axis = 0; axis < 2; axis++) {
                const int64_t side = 4 * (axis ? map.grid.height : map.grid.width);
                a[axis] = test_range(&seed, -1, side / grain) * grain;
                b[axis] = test_range(&seed, -1, side / grain) * grain;
            }
            const bool want = sight_oracle(&map, a, b);
            const PhxVec2 from = {(fix16_t)(a[0] * 16384), (fix16_t)(a[1] * 16384)};
            const PhxVec2 to = {(fix16_t)(b[0] * 16384), (fix16_t)(b[1] * 16384)};
            seen += want;
            CHECK_THAT(phx_nav_line_of_sight(&map.grid, from, to) == want, "map %d line %d", i, k);
            CHECK_THAT(phx_nav_line_of_sight(&map.grid, to, from) == want, "map %d line %d back", i, k);
        }
        free(map.cost);
    }
    CHECK(seen > 5000);
    const TestMap map = drawn("....\n....\n");
    CHECK(!phx_nav_line_of_sight(&map.grid, (PhxVec2){HALF, HALF}, (PhxVec2){INT32_MAX, INT32_MIN}));
    CHECK(
        !phx_nav_line_of_sight(&map.grid, (PhxVec2){INT32_MIN, INT32_MIN}, (PhxVec2){INT32_MAX, INT32_MAX}));
    free(map.cost);
}

/* ---- fields ---- */

static PhxStatus build(TestField *field, const TestMap *map, const uint32_t *goals, uint32_t count) {
    return phx_field_build(&field->field, &map->grid, PHX_FIELD_WEIGHTS_DEFAULT, goals, count,
                           field->scratch);
}

PHX_TEST(field, refuses_wrong_arguments_and_leaves_the_field_alone) {
    TestMap map = drawn("..#\n...\n");
    TestField made = test_field_make(&map.grid, 0x5a);
    const uint32_t good = 0, wall = 2, outside = 6, mixed[2] = {0, 2};
    CHECK_OK(build(&made, &map, &good, 1));
    const uint32_t sum = made.field.integration[5];
    CHECK_EQ(sum, 24);
    CHECK_EQ(build(&made, &map, &good, 0), PHX_ERROR_ARGUMENT);
    CHECK_EQ(build(&made, &map, NULL, 0), PHX_ERROR_ARGUMENT);
    CHECK_EQ(build(&made, &map, &wall, 1), PHX_ERROR_STATE);
    CHECK_EQ(build(&made, &map, mixed, 2), PHX_ERROR_STATE);
    CHECK_EQ(build(&made, &map, &outside, 1), PHX_ERROR_RANGE);
    const PhxFieldWeights weights[] = {{0, 0}, {0, 1}, {10, 9}, {10, 21}, {65535, 1}, {10, 1}};
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++)
        CHECK_EQ(phx_field_build(&made.field, &map.grid, weights[i], &good, 1, made.scratch),
                 PHX_ERROR_ARGUMENT);
    const PhxNavGrid other = {2, 3, map.cost};
    CHECK_EQ(phx_field_build(&made.field, &other, PHX_FIELD_WEIGHTS_DEFAULT, &good, 1, made.scratch),
             PHX_ERROR_ARGUMENT);
    map.cost[4] = 0;
    CHECK_EQ(build(&made, &map, &good, 1), PHX_ERROR_RANGE);
    map.cost[4] = 1;
    CHECK(made.field.integration[5] == sum && made.field.flow[0] == PHX_FLOW_GOAL);
    CHECK_OK(phx_field_check(&made.field, &map.grid, NULL));
    test_field_free(&made);
    free(map.cost);
}

/* Public case 20: a step through the corner of two walls. One rule in the field, the direction and the sight.
 */
PHX_TEST(field, nothing_passes_between_two_walls_or_around_one_corner) {
    TestMap map = drawn(".#\n#.\n");
    TestField made = test_field_make(&map.grid, 0);
    const uint32_t goal = 3;
    CHECK_OK(build(&made, &map, &goal, 1));
    CHECK(made.field.integration[0] == PHX_FIELD_UNREACHED && made.field.flow[0] == PHX_FLOW_NONE);
    CHECK_EQ(made.field.flow[1], PHX_FLOW_WALL);
    const PhxVec2 a = phx_nav_cell_center(&map.grid, 0), b = phx_nav_cell_center(&map.grid, 3);
    CHECK(!phx_nav_line_of_sight(&map.grid, a, b));
    PhxDir direction = phx_field_direction(&made.field, a.x, a.y);
    CHECK(direction.x == 0 && direction.y == 0);
    map.cost[1] = 1; /* one of the two opens: around it, never across */
    CHECK_OK(build(&made, &map, &goal, 1));
    CHECK_EQ(made.field.integration[0], 20);
    CHECK_EQ(made.field.flow[0], 0);
    CHECK(!phx_nav_line_of_sight(&map.grid, a, b));
    for (int32_t y = 1; y < ONE; y += 4999)
        for (int32_t x = 1; x < ONE; x += 4999) {
            direction = phx_field_direction(&made.field, x, y);
            CHECK_THAT(direction.x > 0 && direction.y == 0, "at %d, %d", x, y);
        }
    map.cost[2] = 1;
    CHECK_OK(build(&made, &map, &goal, 1));
    CHECK(made.field.integration[0] == 14 && made.field.flow[0] == 1 &&
          phx_nav_line_of_sight(&map.grid, a, b));
    test_field_free(&made);
    free(map.cost);
}

/* The cell behind the corner wants to go west, but no step leads to it from the middle: no say there. */
PHX_TEST(direction, cells_around_a_corner_have_no_say) {
    TestMap map = drawn("..#\n..#\n...\n");
    TestField made = test_field_make(&map.grid, 0);
    const uint32_t goal = 1;
    CHECK_OK(build(&made, &map, &goal, 1));
    CHECK(made.field.flow[4] == 6 && made.field.flow[8] == 4);
    const PhxDir direction = phx_field_direction(&made.field, 2 * ONE - 3000, 2 * ONE - 3000);
    CHECK(direction.x == 0 && direction.y == -(1 << 30));
    test_field_free(&made);
    free(map.cost);
}

/* Public case 21: with diagonals as cheap as straight steps units walk detours of 45 degrees. */
PHX_TEST(field, ways_in_the_open_have_the_octile_length_and_straight_ones_are_straight) {
    TestMap map = {{41, 41, NULL}, malloc(41 * 41)};
    memset(map.cost, 1, 41 * 41);
    map.grid.cost = map.cost;
    TestField made = test_field_make(&map.grid, 0xff);
    const uint32_t goal = 20 * 41 + 20;
    CHECK_OK(build(&made, &map, &goal, 1));
    for (int32_t y = 0; y < 41; y++)
        for (int32_t x = 0; x < 41; x++) {
            const int32_t dx = abs(x - 20), dy = abs(y - 20), less = dx < dy ? dx : dy;
            const uint32_t cell = (uint32_t)(y * 41 + x);
            CHECK_EQ(made.field.integration[cell], 14 * less + 10 * (dx + dy - 2 * less));
            const uint8_t code = made.field.flow[cell];
            if (dx == 0 && dy == 0) continue;
            if (dx == 0 || dy == 0) CHECK_THAT(code % 2 == 0, "a detour at %d, %d", x, y);
            if (dx == dy) CHECK_THAT(code % 2 == 1, "a detour at %d, %d", x, y);
        }
    /* on the axes of the goal the blend is straight too, to the last bit */
    for (int32_t i = 0; i < 20; i++) {
        PhxDir direction = phx_field_direction(&made.field, i * ONE + HALF, 20 * ONE + HALF);
        CHECK(direction.x == 1 << 30 && direction.y == 0);
        direction = phx_field_direction(&made.field, 20 * ONE + HALF, (40 - i) * ONE + HALF);
        CHECK(direction.x == 0 && direction.y == -(1 << 30));
    }
    const PhxDir there = phx_field_direction(&made.field, 20 * ONE + 5, 20 * ONE + 77);
    CHECK(there.x == 0 && there.y == 0);
    test_field_free(&made);
    free(map.cost);
}

PHX_TEST(field, costs_are_those_of_the_cell_entered_and_ties_take_the_lowest_code) {
    /* walking towards the goal at the left: the goal's own cost is paid, the start's isn't */
    TestMap map = drawn("2319\n");
    TestField made = test_field_make(&map.grid, 0);
    uint32_t goals[3] = {0, 0, 0};
    CHECK_OK(build(&made, &map, goals, 1));
    const uint32_t want[4] = {0, 20, 50, 60};
    for (int i = 0; i < 4; i++) CHECK_EQ(made.field.integration[i], want[i]);
    test_field_free(&made);
    free(map.cost);
    map = drawn("...\n...\n...\n");
    made = test_field_make(&map.grid, 0);
    goals[0] = 1, goals[1] = 3, goals[2] = 1; /* N and W of the middle; a repeat */
    CHECK_OK(build(&made, &map, goals, 3));
    CHECK_EQ(made.field.flow[4], 4);
    CHECK_EQ(made.field.flow[8], 4); /* NW to the middle (24) against W, NW (10 + 14): W is the lower code */
    test_field_free(&made);
    free(map.cost);
}

/* Sums of 65534 a + 65535 b: the far end comes to UINT32_MAX - 1 exactly, or passes it, or has a cell behind.
 */
PHX_TEST(field, sums_up_to_the_limit_are_exact_and_beyond_it_the_build_fails) {
    enum { WIDTH = 262, END = WIDTH + 260 };
    const PhxFieldWeights weights = {65534, 65535};
    TestMap map = {{WIDTH, 2, NULL}, malloc(WIDTH * 2)};
    memset(map.cost, PHX_NAV_IMPASSABLE, WIDTH * 2);
    memset(map.cost, 254, 259);
    map.grid.cost = map.cost;
    map.cost[259] = 2;
    map.cost[260] = map.cost[END - 1] = map.cost[END] = 254;
    TestField made = test_field_make(&map.grid, 0x11);
    const uint32_t goal = 0;
    for (int i = 0; i < 3; i++) {
        map.cost[0] = i == 1 ? 5 : 4;
        map.cost[END + 1] = i == 2 ? 1 : PHX_NAV_IMPASSABLE;
        const PhxStatus status = phx_field_build(&made.field, &map.grid, weights, &goal, 1, made.scratch);
        if (i == 0) {
            CHECK_OK(status);
            CHECK_EQ(made.field.integration[END], UINT32_MAX - 1);
            CHECK_EQ(made.field.flow[END], 5);
            PhxError error;
            if (phx_field_check(&made.field, &map.grid, &error)) CHECK_STR(error.text, "");
            continue;
        }
        CHECK_EQ(status, PHX_ERROR_LIMIT);
        for (uint32_t cell = 0; cell < WIDTH * 2; cell++)
            CHECK(made.field.integration[cell] == PHX_FIELD_UNREACHED &&
                  made.field.flow[cell] == PHX_FLOW_NONE);
    }
    /* an island without way isn't an overflow */
    map.cost[258] = PHX_NAV_IMPASSABLE;
    CHECK_OK(phx_field_build(&made.field, &map.grid, weights, &goal, 1, made.scratch));
    CHECK(made.field.integration[259] == PHX_FIELD_UNREACHED);
    test_field_free(&made);
    free(map.cost);
}

PHX_TEST(field, check_finds_every_kind_of_damage) {
    TestMap map = drawn(".....\n.#.3.\n..#..\n.#...\n");
    TestField made = test_field_make(&map.grid, 0);
    const uint32_t goal = 14;
    CHECK_OK(build(&made, &map, &goal, 1));
    CHECK_OK(phx_field_check(&made.field, &map.grid, NULL));
    for (uint32_t cell = 0; cell < 20; cell++) {
        const uint8_t code = made.field.flow[cell];
        for (uint8_t other = 0; other <= PHX_FLOW_WALL; other++) {
            if (other == code) continue;
            made.field.flow[cell] = other;
            PhxError error = {0};
            CHECK_THAT(phx_field_check(&made.field, &map.grid, &error) == PHX_ERROR_MISMATCH,
                       "cell %u code %u", cell, other);
            CHECK(error.text[0] != 0);
        }
        made.field.flow[cell] = code;
        const uint32_t sum = made.field.integration[cell],
                       others[] = {sum + 1, sum - 1, 0, PHX_FIELD_UNREACHED};
        for (int i = 0; i < 4; i++) {
            if (others[i] == sum) continue;
            made.field.integration[cell] = others[i];
            CHECK_THAT(phx_field_check(&made.field, &map.grid, NULL) == PHX_ERROR_MISMATCH, "cell %u sum %d",
                       cell, i);
        }
        made.field.integration[cell] = sum;
    }
    test_field_free(&made);
    free(map.cost);
}
