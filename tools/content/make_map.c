/* make_map.c: the maker of the shipped map. See make_map.h.
 *
 * Heights are lattice noise, summed over octaves and displaced by other noise. A share of the cells, not a
 * height, decides how much becomes ridge, lake and wood, so that every seed gives a playable map. Each field
 * f is made symmetric as mix(f(p), f(turned p)) with a weight that runs from 0 to 1 across the diagonal: near
 * the river both halves blend.
 */
#include "content/make_map.h"

#include "content/ground.h"

#include <phalanx/rng.h>
#include <phalanx/trig.h>
#include <stdlib.h>
#include <string.h>

enum { ONE = 1 << 15, LEVELS = 4096 };
enum {
    LAYER_WARP_X,
    LAYER_WARP_Y,
    LAYER_HEIGHT,
    LAYER_RIDGE,
    LAYER_WOODS,
    LAYER_SWAMP,
    LAYER_RIM,
    LAYER_WIDTH,
    LAYER_BEND
};
#define ROADS 4

typedef struct Maker {
    uint64_t seed;
    int32_t size;
    char *letters;
    uint16_t *field; /* size x size, 0 .. LEVELS - 1 */
} Maker;

/* A fixed random height of a lattice point, -ONE .. ONE - 1. */
static int32_t lattice(const Maker *maker, uint32_t layer, int32_t x, int32_t y) {
    const uint64_t point = (uint64_t)(uint32_t)x << 32 | (uint32_t)y;
    return (int32_t)(phx_random(maker->seed, 0x4d415000u + layer, point, 0, 0) & 0xffff) - ONE;
}

/* 3t^2 - 2t^3 in Q15. */
static int64_t smooth(int64_t t) { return (t * t >> 15) * (3 * ONE - 2 * t) >> 15; }

static int64_t mix(int64_t a, int64_t b, int64_t t) { return a + phx_div_round((b - a) * t, ONE); }

/* Noise on a lattice of `step` 256ths of a cell; x and y in 256ths, not negative. */
static int64_t noise(const Maker *maker, uint32_t layer, int64_t x, int64_t y, int64_t step) {
    const int32_t lx = (int32_t)(x / step), ly = (int32_t)(y / step);
    const int64_t tx = smooth((x % step) * ONE / step), ty = smooth((y % step) * ONE / step);
    const int64_t top = mix(lattice(maker, layer, lx, ly), lattice(maker, layer, lx + 1, ly), tx);
    const int64_t bottom = mix(lattice(maker, layer, lx, ly + 1), lattice(maker, layer, lx + 1, ly + 1), tx);
    return mix(top, bottom, ty);
}

/* Octaves, each of half the step and half the height; `ridged` folds each at zero, which makes crests. */
static int64_t octaves(const Maker *maker, uint32_t layer, int64_t x, int64_t y, int64_t step, bool ridged) {
    int64_t sum = 0;
    for (uint32_t octave = 0; octave < 5 && step >= 512; octave++, step /= 2) {
        int64_t value = noise(maker, layer + 16 * octave, x, y, step);
        if (ridged) value = ONE - 2 * (value < 0 ? -value : value);
        sum += value >> octave;
    }
    return sum; /* within +-2 ONE */
}

/* One field at a cell, before it is made symmetric; coarse: the lattice is size / coarse. */
static int64_t field_at(const Maker *maker, uint32_t layer, int32_t cx, int32_t cy, int32_t coarse,
                        bool ridged) {
    const int64_t far = 4 * 256 * (int64_t)maker->size, step = 256 * (int64_t)maker->size / coarse;
    /* Turned by the angle of the 3-4-5 triangle, so that the lattice doesn't lie along the map's edges. */
    const int64_t x = (4 * (far + cx * 256) - 3 * (far + cy * 256)) / 5;
    const int64_t y = (3 * (far + cx * 256) + 4 * (far + cy * 256)) / 5;
    const int64_t wx = noise(maker, LAYER_WARP_X + 256, x, y, step) * step / (3 * ONE);
    const int64_t wy = noise(maker, LAYER_WARP_Y + 256, x, y, step) * step / (3 * ONE);
    return octaves(maker, layer, x + wx, y + wy, step, ridged);
}

/* 0 in the north-west, ONE in the south-east, smooth across a band around the other diagonal. */
static int64_t side_weight(const Maker *maker, int32_t x, int32_t y) {
    const int64_t band = maker->size / 6, across = (int64_t)x + y - (maker->size - 1);
    if (across <= -band) return 0;
    if (across >= band) return ONE;
    return smooth((across + band) * ONE / (2 * band));
}

/* Fills maker->field with the rank of each cell's height: 0 is the lowest, LEVELS - 1 the highest. */
static void make_field(Maker *maker, uint32_t layer, int32_t coarse, bool ridged, uint32_t *counts) {
    const int32_t size = maker->size;
    const uint32_t cells = (uint32_t)(size * size);
    enum { BINS = 1 << 14 };
    memset(counts, 0, BINS * sizeof *counts);
    /* The first half of the cells; the others are their images. */
    for (uint32_t at = 0; at < (cells + 1) / 2; at++) {
        const int32_t x = (int32_t)at % size, y = (int32_t)at / size;
        const int64_t weight = side_weight(maker, x, y);
        int64_t value = 0;
        if (weight < ONE) value += field_at(maker, layer, x, y, coarse, ridged) * (ONE - weight);
        if (weight > 0) value += field_at(maker, layer, size - 1 - x, size - 1 - y, coarse, ridged) * weight;
        const int64_t bin = (phx_div_round(value, ONE) + 2 * ONE) * BINS / (4 * ONE + 1);
        const uint16_t kept = (uint16_t)(bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin);
        maker->field[at] = maker->field[cells - 1 - at] = kept;
        counts[kept] += at == cells - 1 - at ? 1 : 2;
    }
    uint32_t below = 0;
    for (uint32_t bin = 0; bin < BINS; bin++) {
        const uint32_t own = counts[bin];
        counts[bin] = (uint32_t)((uint64_t)below * LEVELS / cells);
        below += own;
    }
    for (uint32_t i = 0; i < cells; i++) maker->field[i] = (uint16_t)counts[maker->field[i]];
}

/* Turns open cells whose rank is at least (or below) a share of the map into `letter`. */
static void cover(Maker *maker, char letter, uint32_t low, uint32_t high, const char *over) {
    const int32_t cells = maker->size * maker->size;
    for (int32_t i = 0; i < cells; i++)
        if (maker->field[i] >= low * LEVELS / 1000 && maker->field[i] < high * LEVELS / 1000 &&
            strchr(over, maker->letters[i]) != NULL)
            maker->letters[i] = letter;
}

/* A disc and its image under half a turn. */
static void stamp(Maker *maker, int32_t x, int32_t y, int32_t radius, char letter, const char *over) {
    const int32_t size = maker->size;
    for (int32_t cy = y - radius; cy <= y + radius; cy++)
        for (int32_t cx = x - radius; cx <= x + radius; cx++) {
            const int32_t dx = cx - x, dy = cy - y;
            if (cx < 0 || cy < 0 || cx >= size || cy >= size || dx * dx + dy * dy > radius * radius + radius)
                continue;
            const int32_t at = cy * size + cx, turned = size * size - 1 - at;
            if (strchr(over, maker->letters[at]) != NULL) maker->letters[at] = letter;
            if (strchr(over, maker->letters[turned]) != NULL) maker->letters[turned] = letter;
        }
}

/* The river's middle: how far it lies from the diagonal x + y = size - 1 where x - y = along. An odd
 * function, so that the river is its own image. Angles: a turn over twice the diagonal's length. */
static int32_t river_offset(const Maker *maker, int32_t along) {
    const int64_t size = maker->size;
    int64_t sum = 0;
    for (uint32_t wave = 2; wave <= 5; wave++) {
        const int64_t height = lattice(maker, LAYER_BEND, (int32_t)wave, 0) * size / (int64_t)(10 * wave);
        const PhxAngle angle = (PhxAngle)(((int64_t)along * wave * 32768 / size) & 0xffff);
        sum += phx_div_round(height * (phx_sin(angle) / ONE), ONE);
    }
    return (int32_t)(sum / ONE);
}

/* Where a road meets the river, as x - y: two on each side of the middle. The inner two are equally far for
 * both sides, so that crowds divide. */
static int32_t ford_along(const Maker *maker, int32_t road) { return (2 * road - 3) * maker->size * 11 / 50; }

static bool is_inner(int32_t road) { return road == 1 || road == 2; }

static bool at_ford(const Maker *maker, int32_t along) {
    for (int32_t road = 0; road < ROADS; road++) {
        const int32_t distance = along - ford_along(maker, road),
                      wide = maker->size / (is_inner(road) ? 42 : 60) + 1;
        if (distance <= wide && distance >= -wide) return true;
    }
    return false;
}

static void make_river(Maker *maker) {
    const int32_t size = maker->size;
    for (int32_t y = 0; y < size; y++)
        for (int32_t x = 0; x < size; x++) {
            const int32_t along = x - y, even = along < 0 ? -along : along;
            const int64_t swell =
                noise(maker, LAYER_WIDTH, even * 256 + 256 * size, 0, 256 * (int64_t)size / 8);
            const int32_t width = (int32_t)(size / 40 + swell * size / 110 / ONE) + 1;
            const int32_t across = x + y - (size - 1) - river_offset(maker, along);
            if (across > width || across < -width) continue;
            maker->letters[y * size + x] = at_ford(maker, along) ? 'S' : 'W';
        }
}

/* From the north-west camp to a ford, bent by noise; its image leads to the same or the opposite ford. The
 * river stays. */
static void make_road(Maker *maker, int32_t road) {
    const int32_t size = maker->size, along = ford_along(maker, road);
    const int32_t across = size - 1 + river_offset(maker, along);
    const int64_t x0 = size / 8, y0 = size / 8, x2 = (across + along) / 2, y2 = (across - along) / 2;
    const int64_t bow = (int64_t)lattice(maker, LAYER_BEND, road, 1) * size / 6 / ONE;
    /* The control point lies off the middle, at a right angle to the way. */
    const int64_t x1 = (x0 + x2) / 2 + bow * (y2 - y0) / size, y1 = (y0 + y2) / 2 - bow * (x2 - x0) / size;
    const int64_t steps = 4 * (int64_t)size;
    for (int64_t t = 0; t <= steps; t++) {
        const int64_t s = steps - t, all = steps * steps;
        const int64_t wobble =
            noise(maker, LAYER_BEND + 16 * ((uint32_t)road + 1), t * 256, 0, steps * 32) * size / 40 / ONE;
        const int64_t x = (s * s * x0 + 2 * s * t * x1 + t * t * x2) / all + wobble * s / steps;
        const int64_t y = (s * s * y0 + 2 * s * t * y1 + t * t * y2) / all - wobble * s / steps;
        const int32_t radius = size / (is_inner(road) ? 72 : 100) + 1;
        stamp(maker, (int32_t)x, (int32_t)y, radius, '.', "@T");
        stamp(maker, (int32_t)x, (int32_t)y, radius - 1, 'S', "L"); /* a causeway through a lake */
    }
}

/* A ragged rim of rock, but for the river's mouths. */
static void make_rim(Maker *maker) {
    const int32_t size = maker->size;
    for (int32_t y = 0; y < size; y++)
        for (int32_t x = 0; x < size; x++) {
            int32_t edge = x < y ? x : y;
            if (size - 1 - x < edge) edge = size - 1 - x;
            if (size - 1 - y < edge) edge = size - 1 - y;
            if (edge > size / 32) continue;
            const bool turned = x + y > size - 1 || (x + y == size - 1 && x > y);
            const int64_t nx = turned ? size - 1 - x : x, ny = turned ? size - 1 - y : y;
            const int64_t height = noise(maker, LAYER_RIM, nx * 256, ny * 256, 256 * (int64_t)size / 32);
            const int32_t depth = size / 128 + (int32_t)((height + ONE) * size / 96 / (2 * ONE)) + 1;
            char *letter = &maker->letters[y * size + x];
            if (edge < depth && *letter != 'W' && *letter != 'S') *letter = '@';
        }
}

static uint32_t alike(const Maker *maker, int32_t x, int32_t y) {
    uint32_t count = 0;
    for (int32_t dy = -1; dy <= 1; dy++)
        for (int32_t dx = -1; dx <= 1; dx++) {
            const int32_t cx = x + dx, cy = y + dy;
            if ((dx == 0 && dy == 0) || cx < 0 || cy < 0 || cx >= maker->size || cy >= maker->size) continue;
            count += maker->letters[cy * maker->size + cx] == maker->letters[y * maker->size + x];
        }
    return count;
}

/* Cells with fewer than three neighbours of their kind become open ground; field is the scratch. */
static void remove_specks(Maker *maker) {
    const int32_t size = maker->size;
    for (int32_t y = 0; y < size; y++)
        for (int32_t x = 0; x < size; x++) maker->field[y * size + x] = alike(maker, x, y) < 3;
    for (int32_t i = 0; i < size * size; i++)
        if (maker->field[i]) maker->letters[i] = '.';
}

/* Ground that no unit can reach from the rest becomes wood. */
static PhxStatus fill_pockets(Maker *maker, uint8_t *cost) {
    const int32_t cells = maker->size * maker->size;
    for (int32_t i = 0; i < cells; i++)
        cost[i] = maker->letters[i] == '.' || maker->letters[i] == 'S' ? 1 : PHX_NAV_IMPASSABLE;
    const PhxNavGrid grid = {.width = (uint32_t)maker->size, .height = (uint32_t)maker->size, .cost = cost};
    PhxGround *ground;
    const PhxStatus status = phx_ground_create(&grid, 0, &ground);
    if (status != PHX_OK) return status;
    for (int32_t i = 0; i < cells; i++)
        if (cost[i] == 1 && ground->piece[i] != ground->largest) maker->letters[i] = 'T';
    phx_ground_destroy(ground);
    return PHX_OK;
}

static void paint(Maker *maker, uint32_t *counts) {
    const int32_t size = maker->size;
    memset(maker->letters, '.', (size_t)size * (size_t)size);
    make_field(maker, LAYER_WOODS, 11, false, counts);
    cover(maker, 'T', 790, 1000, ".");
    make_field(maker, LAYER_RIDGE, 6, true, counts);
    cover(maker, '@', 815, 1000, ".T");
    make_field(maker, LAYER_HEIGHT, 7, false, counts);
    cover(maker, 'L', 0, 70, ".T");  /* lakes; L until the roads are through */
    cover(maker, 'B', 70, 115, "."); /* their banks */
    make_field(maker, LAYER_SWAMP, 9, false, counts);
    cover(maker, 'S', 450, 1000, "B");
    cover(maker, 'S', 955, 1000, ".");
    for (int32_t i = 0; i < 6; i++) /* the camps */
        stamp(maker, size / 12 + lattice(maker, LAYER_BEND, i, 2) * size / 26 / ONE,
              size / 12 + lattice(maker, LAYER_BEND, i, 3) * size / 26 / ONE, size / 14, '.', "@TLBS");
    make_rim(maker);
    make_river(maker);
    for (int32_t road = 0; road < ROADS; road++) make_road(maker, road);
    for (int32_t i = 0; i < size * size; i++)
        if (maker->letters[i] == 'L')
            maker->letters[i] = 'W';
        else if (maker->letters[i] == 'B')
            maker->letters[i] = '.';
    remove_specks(maker);
}

PhxStatus phx_make_map(uint64_t seed, uint32_t size, char *letters) {
    if (size < PHX_MAKE_MAP_LEAST || size > PHX_MAKE_MAP_MOST) return PHX_ERROR_RANGE;
    Maker maker = {.seed = seed, .size = (int32_t)size, .letters = letters};
    const size_t cells = (size_t)size * size;
    maker.field = malloc(cells * sizeof *maker.field);
    uint8_t *cost = malloc(cells);
    uint32_t *counts = malloc((1 << 14) * sizeof *counts);
    PhxStatus status = PHX_ERROR_MEMORY;
    if (maker.field != NULL && cost != NULL && counts != NULL) {
        paint(&maker, counts);
        status = fill_pockets(&maker, cost);
    }
    free(maker.field);
    free(cost);
    free(counts);
    return status;
}
