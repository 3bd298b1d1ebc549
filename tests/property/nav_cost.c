/* nav_cost.c: composed cost planes against a naive composition cell by cell, on random layers.
 */
#include <phalanx/cost.h>
#include <phalanx/walls.h>
#include <stdlib.h>

#include "harness.h"

enum { MOST_MODIFIERS = 400, MOST_BUILDINGS = 40 };

typedef struct Scene {
    PhxCostSources sources;
    PhxCostProfile profile;
    uint8_t *ground, *kind, *height_map, *density;
    PhxCostBuilding buildings[MOST_BUILDINGS];
    PhxCostModifier modifiers[MOST_MODIFIERS];
    uint32_t team, size;
} Scene;

static uint8_t *random_grid(uint64_t *seed, size_t cells, int64_t low, int64_t high) {
    uint8_t *grid = malloc(cells);
    for (size_t i = 0; i < cells; i++) grid[i] = (uint8_t)test_range(seed, low, high);
    return grid;
}

/* A value that is often at an end of its range. */
static int64_t extreme(uint64_t *seed, int64_t low, int64_t high) {
    const int64_t kind = test_range(seed, 0, 5);
    return kind == 0 ? low : kind == 1 ? high : test_range(seed, low, high);
}

static PhxCostProfile random_profile(uint64_t *seed) {
    PhxCostProfile profile = {.slope_cost = (uint8_t)test_range(seed, 0, 3)};
    for (int k = 0; k < PHX_COST_KINDS; k++) {
        const int64_t of = test_range(seed, 0, 11);
        profile.kind_percent[k] = (uint8_t)(of < 3 ? 0 : of < 5 ? 100 : of == 5 ? 255 : test_random(seed));
        profile.speed_percent[k] = (uint8_t)test_random(seed);
    }
    if (test_range(seed, 0, 3) == 0) memset(profile.kind_percent, 100, sizeof profile.kind_percent);
    if (test_range(seed, 0, 2) == 0) profile.slope_limit = (uint8_t)test_range(seed, 1, 12);
    if (test_range(seed, 0, 1)) {
        profile.margin_cost = (uint8_t)extreme(seed, 0, 255);
        profile.margin_width = (uint8_t)test_range(seed, 0, 6);
    }
    if (test_range(seed, 0, 1)) profile.density_cost = (uint8_t)extreme(seed, 0, 255);
    profile.smoothing = (uint8_t)test_range(seed, 0, 3);
    return profile;
}

static PhxCostModifier random_modifier(uint64_t *seed, uint32_t width, uint32_t height) {
    return (PhxCostModifier){
        .x = (fix16_t)test_range(seed, -10 * 65536, ((int64_t)width + 10) * 65536),
        .y = (fix16_t)test_range(seed, -10 * 65536, ((int64_t)height + 10) * 65536),
        .radius = (fix16_t)(test_range(seed, 0, 20) == 0 ? extreme(seed, INT32_MIN, INT32_MAX)
                                                         : test_range(seed, 0, 14 * 65536)),
        .strength =
            (int16_t)(test_range(seed, 0, 20) == 0 ? extreme(seed, -32768, 32767) : extreme(seed, -253, 253)),
        .teams = (uint16_t)test_random(seed)};
}

static Scene *scene_make(uint64_t *seed, uint32_t width, uint32_t height) {
    Scene *scene = calloc(1, sizeof *scene);
    const size_t cells = (size_t)width * height;
    const int64_t walls = test_range(seed, 0, 1) ? 0 : test_range(seed, 0, 40);
    scene->ground = random_grid(seed, cells, test_range(seed, 0, 2), test_range(seed, 0, 1) ? 20 : 254);
    for (size_t i = 0; i < cells; i++)
        if (test_range(seed, 0, 99) < walls) scene->ground[i] = 255;
    scene->kind = random_grid(seed, cells, 0, test_range(seed, 0, 4) ? 15 : 255);
    scene->height_map = random_grid(seed, cells, 0, test_range(seed, 0, 2) ? 9 : 255);
    scene->density = random_grid(seed, cells, 0, 15);
    scene->sources = (PhxCostSources){.width = width,
                                      .height = height,
                                      .ground = scene->ground,
                                      .kind = test_range(seed, 0, 2) ? scene->kind : NULL,
                                      .height_map = test_range(seed, 0, 2) ? scene->height_map : NULL,
                                      .density = test_range(seed, 0, 2) ? scene->density : NULL,
                                      .buildings = scene->buildings,
                                      .building_count = (uint32_t)test_range(seed, 0, 6),
                                      .modifiers = scene->modifiers,
                                      .modifier_count = (uint32_t)test_range(seed, 0, 5)};
    if (test_range(seed, 0, 2) == 0) scene->sources.modifier_count = 0;
    for (uint32_t i = 0; i < MOST_BUILDINGS; i++) {
        const int32_t x = (int32_t)test_range(seed, -3, width), y = (int32_t)test_range(seed, -3, height);
        scene->buildings[i] = (PhxCostBuilding){
            {x, y, x + (int32_t)test_range(seed, 0, 4), y + (int32_t)test_range(seed, 0, 4)},
            (uint16_t)(test_range(seed, 0, 1) ? 0 : test_random(seed))};
    }
    for (uint32_t i = 0; i < MOST_MODIFIERS; i++) scene->modifiers[i] = random_modifier(seed, width, height);
    scene->profile = random_profile(seed);
    scene->team = (uint32_t)test_range(seed, 0, 17);
    scene->size = 1;
    return scene;
}

static void scene_free(Scene *scene) {
    free(scene->ground);
    free(scene->kind);
    free(scene->height_map);
    free(scene->density);
    free(scene);
}

/* ---- the oracle: straight from the header's five steps ---- */

static bool has_team(const Scene *scene, uint16_t mask) {
    for (uint32_t bit = 0; bit < 16; bit++)
        if (bit == scene->team) return (mask & (1u << bit)) != 0;
    return false;
}

static bool off_map(const Scene *scene, int64_t x, int64_t y) {
    return x < 0 || y < 0 || x >= scene->sources.width || y >= scene->sources.height;
}

static size_t index_of(const Scene *scene, int64_t x, int64_t y) {
    return (size_t)(y * scene->sources.width + x);
}

static int64_t percent_at(const Scene *scene, size_t cell) {
    const int kind = scene->sources.kind ? scene->sources.kind[cell] & 15 : 0;
    return scene->profile.kind_percent[kind] ? scene->profile.kind_percent[kind] : 100;
}

static int64_t slope_at(const Scene *scene, int64_t x, int64_t y) {
    const int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};
    int64_t most = 0;
    if (!scene->sources.height_map) return 0;
    for (int i = 0; i < 4; i++) {
        if (off_map(scene, x + dx[i], y + dy[i])) continue;
        const int64_t step = (int64_t)scene->sources.height_map[index_of(scene, x, y)] -
                             scene->sources.height_map[index_of(scene, x + dx[i], y + dy[i])];
        if (llabs(step) > most) most = llabs(step);
    }
    return most;
}

static bool oracle_closed(const Scene *scene, int64_t x, int64_t y) {
    if (off_map(scene, x, y)) return true;
    const size_t cell = index_of(scene, x, y);
    if (scene->sources.ground[cell] == 255 || percent_at(scene, cell) == 255) return true;
    if (scene->profile.slope_limit && slope_at(scene, x, y) > scene->profile.slope_limit) return true;
    for (uint32_t b = 0; b < scene->sources.building_count; b++) {
        const PhxCostBuilding *building = &scene->sources.buildings[b];
        if (x >= building->cells.x0 && x < building->cells.x1 && y >= building->cells.y0 &&
            y < building->cells.y1 && !has_team(scene, building->open_teams))
            return true;
    }
    return false;
}

/* The greatest number whose square is at most v, bit by bit. */
static int64_t root(uint64_t v) {
    uint64_t r = 0;
    for (int bit = 31; bit >= 0; bit--)
        if ((r | 1ull << bit) * (r | 1ull << bit) <= v) r |= 1ull << bit;
    return (int64_t)r;
}

static int64_t limited(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

static int64_t modifier_at(const PhxCostModifier *modifier, int64_t x, int64_t y) {
    const int64_t radius = limited(modifier->radius, 0, 64 * 65536);
    const int64_t strength = limited(modifier->strength, -253, 253);
    const int64_t dx = x * 65536 + 32768 - modifier->x, dy = y * 65536 + 32768 - modifier->y;
    if (llabs(dx) >= radius || llabs(dy) >= radius || dx * dx + dy * dy >= radius * radius) return 0;
    const int64_t d = root((uint64_t)(dx * dx + dy * dy));
    const int64_t size = (2 * llabs(strength) * (radius - d) + radius) / (2 * radius);
    return strength < 0 ? -size : size;
}

static int64_t margin_at(const Scene *scene, int64_t x, int64_t y) {
    const int64_t width = limited(scene->profile.margin_width, 0, 4), cost = scene->profile.margin_cost;
    int64_t most = 0;
    if (!width) return 0;
    for (int64_t dy = -5; dy <= 5; dy++)
        for (int64_t dx = -5; dx <= 5; dx++) {
            if (!oracle_closed(scene, x + dx, y + dy)) continue;
            const int64_t left = (width + 1) * 65536 - root((uint64_t)(dx * dx + dy * dy) << 32);
            if (left <= 0) continue;
            const int64_t value = (2 * cost * left + width * 65536) / (2 * width * 65536);
            if (value > most) most = value;
        }
    return most;
}

static int64_t oracle_value(const Scene *scene, int64_t x, int64_t y) {
    if (oracle_closed(scene, x, y)) return 255;
    const PhxCostSources *sources = &scene->sources;
    const size_t cell = index_of(scene, x, y);
    const int64_t ground = sources->ground[cell] ? sources->ground[cell] : 1;
    int64_t value = limited((ground * percent_at(scene, cell) + 50) / 100, 1, 254);
    value += slope_at(scene, x, y) * scene->profile.slope_cost;
    if (sources->density) value += sources->density[cell] * scene->profile.density_cost;
    for (uint32_t i = 0; i < sources->modifier_count; i++)
        if (has_team(scene, sources->modifiers[i].teams)) value += modifier_at(&sources->modifiers[i], x, y);
    return limited(value + margin_at(scene, x, y), 1, 254);
}

static int64_t smoothed_at(const Scene *scene, const uint8_t *values, int64_t x, int64_t y) {
    const int64_t own = values[index_of(scene, x, y)];
    const bool mean = scene->profile.smoothing == 1, gauss = scene->profile.smoothing == 2;
    if (own == 255 || !(mean || gauss)) return own;
    int64_t sum = 0, weights = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            if (off_map(scene, x + dx, y + dy)) continue;
            const int64_t value = values[index_of(scene, x + dx, y + dy)];
            const int64_t weight = mean ? 1 : (dx == 0 ? 2 : 1) * (dy == 0 ? 2 : 1);
            if (value == 255) continue;
            sum += weight * value;
            weights += weight;
        }
    return (2 * sum + weights) / (2 * weights);
}

static uint8_t *oracle_plane(const Scene *scene) {
    const int64_t width = scene->sources.width, height = scene->sources.height, n = scene->size;
    uint8_t *values = malloc((size_t)(width * height)), *smooth = malloc((size_t)(width * height));
    uint8_t *plane = malloc((size_t)(width * height));
    for (int64_t c = 0; c < width * height; c++)
        values[c] = (uint8_t)oracle_value(scene, c % width, c / width);
    for (int64_t c = 0; c < width * height; c++)
        smooth[c] = (uint8_t)smoothed_at(scene, values, c % width, c / width);
    for (int64_t c = 0; c < width * height; c++) {
        /* odd: as much on either side; even: one more to the right and downwards */
        const int64_t x0 = c % width - (n % 2 ? n / 2 : n / 2 - 1),
                      y0 = c / width - (n % 2 ? n / 2 : n / 2 - 1);
        plane[c] = 0;
        for (int64_t y = y0; y < y0 + n; y++)
            for (int64_t x = x0; x < x0 + n; x++) {
                const uint8_t value = off_map(scene, x, y) ? 255 : smooth[index_of(scene, x, y)];
                if (value > plane[c]) plane[c] = value;
            }
    }
    free(values);
    free(smooth);
    return plane;
}

/* ---- properties ---- */

static void compose(const Scene *scene, PhxCellRect rect, uint8_t *plane) {
    phx_cost_compose(&scene->sources, &scene->profile, scene->team, scene->size, rect, plane);
}

static uint8_t *composed(const Scene *scene) {
    uint8_t *plane = malloc((size_t)scene->sources.width * scene->sources.height);
    compose(scene, (PhxCellRect){0, 0, (int32_t)scene->sources.width, (int32_t)scene->sources.height}, plane);
    return plane;
}

static PhxCellRect random_rect(const Scene *scene, uint64_t *seed) {
    const int64_t width = scene->sources.width, height = scene->sources.height;
    PhxCellRect rect = {(int32_t)test_range(seed, -5, width), (int32_t)test_range(seed, -5, height), 0, 0};
    rect.x1 = (int32_t)test_range(seed, rect.x0, width + 5);
    rect.y1 = (int32_t)test_range(seed, rect.y0, height + 5);
    return rect;
}

/* A rectangle of the plane is the oracle's, and nothing else is written. */
static void check_rect(const Scene *scene, const uint8_t *want, PhxCellRect rect, int round) {
    const uint32_t width = scene->sources.width, cells = width * scene->sources.height;
    uint8_t *plane = malloc(cells);
    for (int poison = 0; poison < 2; poison++) {
        memset(plane, poison ? 0x5a : 0, cells);
        compose(scene, rect, plane);
        for (uint32_t c = 0; c < cells; c++) {
            const int32_t x = (int32_t)(c % width), y = (int32_t)(c / width);
            const bool in = x >= rect.x0 && x < rect.x1 && y >= rect.y0 && y < rect.y1;
            CHECK_THAT(plane[c] == (in       ? want[c]
                                    : poison ? 0x5a
                                             : 0),
                       "round %d size %u map %u x %u cell (%d, %d) rect (%d, %d)..(%d, %d): %d, not %d",
                       round, scene->size, width, scene->sources.height, x, y, rect.x0, rect.y0, rect.x1,
                       rect.y1, plane[c], want[c]);
        }
    }
    free(plane);
}

PHX_TEST(nav_cost, planes_equal_a_naive_composition_of_the_layers) {
    uint64_t seed = 41;
    int open = 0, closed = 0;
    for (int i = 0; i < 400; i++) {
        const bool thin = i % 8 == 0, wide = i % 20 == 1;
        Scene *scene = scene_make(&seed,
                                  (uint32_t)test_range(&seed, 1,
                                                       wide   ? 150
                                                       : thin ? 2
                                                              : 40),
                                  (uint32_t)test_range(&seed, 1, wide ? 100 : 40));
        scene->size = i % 3 ? 1 + (uint32_t)i % 32 : 1 + (uint32_t)i / 3 % 4;
        if (i % 3 == 2 && i % 2) { /* large units find no place among many walls */
            memset(scene->profile.kind_percent, 100, sizeof scene->profile.kind_percent);
            for (size_t c = 0; c < (size_t)scene->sources.width * scene->sources.height; c++)
                if (scene->ground[c] == 255) scene->ground[c] = 254;
            scene->profile.slope_limit = 0;
            scene->sources.building_count = 1;
        }
        if (i % 50 == 3) scene->sources.modifier_count = MOST_MODIFIERS;
        if (i % 50 == 4) scene->sources.building_count = MOST_BUILDINGS;
        uint8_t *want = oracle_plane(scene);
        check_rect(scene, want, (PhxCellRect){INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX}, i);
        for (int k = 0; k < 4; k++) check_rect(scene, want, random_rect(scene, &seed), i);
        for (uint32_t c = 0; c < scene->sources.width * scene->sources.height; c++)
            *(want[c] == 255 ? &closed : &open) += 1;
        free(want);
        scene_free(scene);
    }
    CHECK_THAT(open > 40000 && closed > 40000, "%d open, %d closed", open, closed);
}

/* Composes a rectangle cut at random into smaller ones, in random order. */
static void compose_cut(const Scene *scene, uint64_t *seed, PhxCellRect rect, uint8_t *plane) {
    const int32_t width = rect.x1 - rect.x0, height = rect.y1 - rect.y0;
    if (width < 2 || height < 2 || test_range(seed, 0, 6) == 0) {
        compose(scene, rect, plane);
        return;
    }
    PhxCellRect a = rect, b = rect;
    if (test_range(seed, 0, 1))
        a.x1 = b.x0 = rect.x0 + (int32_t)test_range(seed, 1, width - 1);
    else
        a.y1 = b.y0 = rect.y0 + (int32_t)test_range(seed, 1, height - 1);
    const bool swap = test_range(seed, 0, 1);
    compose_cut(scene, seed, swap ? b : a, plane);
    compose_cut(scene, seed, swap ? a : b, plane);
}

PHX_TEST(nav_cost, how_the_map_is_cut_into_rectangles_and_how_lists_are_ordered_does_not_matter) {
    uint64_t seed = 42;
    for (int i = 0; i < 60; i++) {
        Scene *scene =
            scene_make(&seed, (uint32_t)test_range(&seed, 60, 200), (uint32_t)test_range(&seed, 60, 200));
        scene->size = 1 + (uint32_t)test_range(&seed, 0, i % 2 ? 3 : 31);
        if (i % 10 == 0) scene->sources.modifier_count = MOST_MODIFIERS;
        const uint32_t cells = scene->sources.width * scene->sources.height;
        uint8_t *whole = composed(scene), *cut = malloc(cells);
        memset(cut, 0, cells);
        for (uint32_t k = 0; 2 * k + 1 < scene->sources.modifier_count; k++) {
            const PhxCostModifier kept = scene->modifiers[k];
            scene->modifiers[k] = scene->modifiers[scene->sources.modifier_count - 1 - k];
            scene->modifiers[scene->sources.modifier_count - 1 - k] = kept;
        }
        compose_cut(scene, &seed,
                    (PhxCellRect){0, 0, (int32_t)scene->sources.width, (int32_t)scene->sources.height}, cut);
        for (uint32_t c = 0; c < cells; c++) CHECK_THAT(cut[c] == whole[c], "round %d cell %u", i, c);
        free(whole);
        free(cut);
        scene_free(scene);
    }
}

static bool rects_meet(PhxCellRect a, PhxCellRect b) {
    return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

PHX_TEST(nav_cost, nothing_beyond_the_reach_matters) {
    uint64_t seed = 43;
    for (int i = 0; i < 60; i++) {
        const uint32_t side = 160, cells = side * side;
        Scene *scene = scene_make(&seed, side, side), *other = scene_make(&seed, side, side);
        scene->size = 1 + (uint32_t)test_range(&seed, 0, 31);
        const int32_t x = (int32_t)test_range(&seed, 0, side - 1),
                      y = (int32_t)test_range(&seed, 0, side - 1);
        const PhxCellRect rect = {x, y, x + 8, y + 8};
        const PhxCellRect near = {x - PHX_COST_REACH, y - PHX_COST_REACH, x + 8 + PHX_COST_REACH,
                                  y + 8 + PHX_COST_REACH};
        uint8_t *before = calloc(1, cells), *after = calloc(1, cells);
        scene->sources.modifier_count = scene->sources.building_count = 30;
        compose(scene, rect, before);
        for (uint32_t c = 0; c < cells; c++) {
            const int32_t cx = (int32_t)(c % side), cy = (int32_t)(c / side);
            if (rects_meet(near, (PhxCellRect){cx, cy, cx + 1, cy + 1})) continue;
            scene->ground[c] = other->ground[c];
            scene->kind[c] = other->kind[c];
            scene->height_map[c] = other->height_map[c];
            scene->density[c] = other->density[c];
        }
        for (uint32_t k = 0; k < 30; k++) {
            if (!rects_meet(near, phx_cost_modifier_rect(&scene->modifiers[k])) &&
                !rects_meet(near, phx_cost_modifier_rect(&other->modifiers[k])))
                scene->modifiers[k] = other->modifiers[k];
            if (!rects_meet(near, scene->buildings[k].cells) && !rects_meet(near, other->buildings[k].cells))
                scene->buildings[k] = other->buildings[k];
        }
        compose(scene, rect, after);
        for (uint32_t c = 0; c < cells; c++) CHECK_THAT(before[c] == after[c], "round %d cell %u", i, c);
        free(before);
        free(after);
        scene_free(scene);
        scene_free(other);
    }
}

PHX_TEST(nav_cost, weights_never_open_or_close_a_cell) {
    uint64_t seed = 44;
    for (int i = 0; i < 200; i++) {
        Scene *scene =
            scene_make(&seed, (uint32_t)test_range(&seed, 1, 90), (uint32_t)test_range(&seed, 1, 90));
        scene->size = 1 + (uint32_t)test_range(&seed, 0, i % 2 ? 0 : 5);
        scene->sources.modifier_count = (uint32_t)test_range(&seed, 0, 30);
        PhxCostProfile bare = {.slope_limit = scene->profile.slope_limit};
        for (int k = 0; k < PHX_COST_KINDS; k++)
            bare.kind_percent[k] = scene->profile.kind_percent[k] == 255 ? 255 : 100;
        uint8_t *with = composed(scene);
        scene->profile = bare;
        scene->sources.modifier_count = 0;
        scene->sources.density = NULL;
        uint8_t *without = composed(scene);
        for (uint32_t c = 0; c < scene->sources.width * scene->sources.height; c++) {
            CHECK_THAT((with[c] == 255) == (without[c] == 255), "round %d cell %u", i, c);
            CHECK_THAT(with[c] != 0 && without[c] != 0, "round %d cell %u", i, c);
        }
        free(with);
        free(without);
        scene_free(scene);
    }
}

/* ---- units of a size in the layer of their size ---- */

/* A map of open ground with blocks of walls. */
static Scene *blocky(uint64_t *seed, uint32_t size) {
    const uint32_t width = (uint32_t)test_range(seed, size, size * 4 + 20);
    const uint32_t height = (uint32_t)test_range(seed, size, size * 4 + 20);
    Scene *scene = scene_make(seed, width, height);
    memset(scene->ground, 1, (size_t)width * height);
    for (int64_t block = test_range(seed, 0, 12); block > 0; block--) {
        const uint32_t x = (uint32_t)test_range(seed, 0, width - 1),
                       y = (uint32_t)test_range(seed, 0, height - 1);
        const uint32_t w = (uint32_t)test_range(seed, 1, 4), h = (uint32_t)test_range(seed, 1, 4);
        for (uint32_t cy = y; cy < y + h && cy < height; cy++)
            for (uint32_t cx = x; cx < x + w && cx < width; cx++) scene->ground[cy * width + cx] = 255;
    }
    scene->profile = (PhxCostProfile){.margin_cost = 3, .margin_width = 2, .smoothing = 2};
    scene->sources.building_count = scene->sources.modifier_count = 0;
    scene->size = size;
    return scene;
}

/* Along the way from one centre to the next, ends included. */
static void check_clear(const PhxNavGrid *walls, PhxVec2 a, PhxVec2 b, fix16_t radius, int round) {
    for (int k = 0; k <= 16; k++) {
        const PhxVec2 at = {a.x + (b.x - a.x) / 16 * k, a.y + (b.y - a.y) / 16 * k};
        CHECK_THAT(phx_walls_clear(walls, at, radius), "round %d radius %d at (%d, %d)", round, radius, at.x,
                   at.y);
    }
}

PHX_TEST(nav_cost, a_disc_touches_no_wall_in_the_layer_of_its_size) {
    uint64_t seed = 45;
    int steps = 0;
    for (int i = 0; i < 160; i++) {
        const uint32_t size = 1 + (uint32_t)i % 32;
        Scene *scene = blocky(&seed, size);
        const fix16_t widest = (fix16_t)size * 32768,
                      radius = i % 2 ? widest : (fix16_t)test_range(&seed, widest - 32767, widest);
        CHECK_EQ(phx_cost_size_of(radius), size);
        uint8_t *plane = composed(scene);
        const PhxNavGrid layer = {scene->sources.width, scene->sources.height, plane};
        const PhxNavGrid walls = {scene->sources.width, scene->sources.height, scene->ground};
        for (uint32_t c = 0; c < layer.width * layer.height; c++) {
            if (plane[c] == 255) continue;
            const int32_t x = (int32_t)(c % layer.width), y = (int32_t)(c / layer.width);
            const PhxVec2 from = phx_cost_center_of(&layer, size, c);
            CHECK_EQ(phx_cost_cell_of(&layer, size, from.x, from.y), c);
            check_clear(&walls, from, from, radius, i);
            for (int d = 0; d < 4; d++) { /* the other four are the same, from the other end */
                const int32_t dx = phx_flow_dx[d], dy = phx_flow_dy[d];
                if (!phx_nav_passable(&layer, x + dx, y) || !phx_nav_passable(&layer, x, y + dy) ||
                    !phx_nav_passable(&layer, x + dx, y + dy) || (size > 8 && test_range(&seed, 0, 7)))
                    continue;
                const uint32_t next = (uint32_t)(y + dy) * layer.width + (uint32_t)(x + dx);
                check_clear(&walls, from, phx_cost_center_of(&layer, size, next), radius, i);
                steps++;
            }
        }
        free(plane);
        scene_free(scene);
    }
    CHECK_THAT(steps > 20000, "%d", steps);
}

PHX_TEST(nav_cost, a_corridor_of_its_width_is_open_to_a_unit_and_a_narrower_one_is_not) {
    uint64_t seed = 46;
    for (uint32_t size = 1; size <= 32; size++)
        for (uint32_t gap = size - 1; gap <= size; gap++) {
            const uint32_t length = 40, first = (uint32_t)test_range(&seed, 0, 5), side = first + gap + 3;
            uint8_t *ground = malloc((size_t)length * side), *plane = malloc((size_t)length * side);
            memset(ground, 255, (size_t)length * side);
            for (uint32_t y = first; y < first + gap; y++) memset(ground + y * length, 7, length);
            const PhxCostSources sources = {.width = length, .height = side, .ground = ground};
            phx_cost_compose(&sources, &(PhxCostProfile){.smoothing = 1}, 0, size,
                             (PhxCellRect){0, 0, (int32_t)length, (int32_t)side}, plane);
            uint32_t open = 0;
            for (uint32_t c = 0; c < length * side; c++) {
                if (plane[c] == 255) continue;
                CHECK_EQ(plane[c], 7);
                CHECK_EQ(c / length, first + (size - 1) / 2);
                open++;
            }
            CHECK_EQ(open, gap == size ? length - size + 1 : 0);
            free(ground);
            free(plane);
        }
}
