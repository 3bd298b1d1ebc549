/* terrain.c: the map as a shaded relief, in the manner of a printed map.
 *
 * In: movement costs, and the .map's letters where they are known. Out: an opaque image. The heights are an
 * ornament: smooth noise for the plain, ledges that rise from the edge for rock, crowns for woods, depth that
 * grows from the shore for water; light comes from the north-west. What the simulation knows, passable or not
 * and at which cost, is what the kinds of ground show, and their borders follow the cells'. Cost: some
 * hundred nanoseconds a pixel. Floating point is used here and reaches no state.
 */
#include "picture/paint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Color {
    float r, g, b;
} Color;

typedef struct Relief {
    uint32_t cells_x, cells_y; /* of the reduced map */
    uint8_t *cells;            /* kind of each */
    uint32_t width, height;    /* pixels */
    float cell;                /* pixels a cell of the reduced map */
    float grain;   /* pixels a pixel of the final image, a side: all lengths below are in the latter */
    uint8_t *kind; /* of each pixel */
    float *edge;   /* pixels to the nearest pixel of another kind */
    float *rise;   /* height in pixels */
} Relief;

static PhxGroundKind ground_of(char letter, uint8_t cost, uint8_t cheapest) {
    switch (letter) {
    case 'W':
        return PHX_GROUND_KIND_WATER;
    case 'T':
        return PHX_GROUND_KIND_WOODS;
    case 'S':
        return PHX_GROUND_KIND_SWAMP;
    default:
        break;
    }
    if (cost == PHX_NAV_IMPASSABLE) return PHX_GROUND_KIND_ROCK;
    return !letter && cost > cheapest ? PHX_GROUND_KIND_SWAMP : PHX_GROUND_KIND_PLAIN;
}

static uint8_t cheapest_of(const PhxNavGrid *map) {
    uint8_t cheapest = PHX_NAV_IMPASSABLE;
    for (size_t i = 0; i < (size_t)map->width * map->height; i++)
        if (map->cost[i] < cheapest) cheapest = map->cost[i];
    return cheapest;
}

uint32_t phx_terrain_kinds(const PhxSim *sim, const char *letters) {
    const PhxNavGrid map = phx_sim_map(sim);
    const uint8_t cheapest = cheapest_of(&map);
    uint32_t kinds = 0;
    for (size_t i = 0; i < (size_t)map.width * map.height; i++)
        kinds |= 1u << ground_of(letters ? letters[i] : 0, map.cost[i], cheapest);
    return kinds;
}

PhxDrawColor phx_terrain_color(PhxGroundKind kind) {
    static const uint32_t colors[PHX_GROUND_KIND_COUNT] = {0xdfdcbcff, 0xb4b98fff, 0x9dbcc6ff, 0x86a17aff,
                                                           0x9c9186ff};
    return colors[kind];
}

const char *phx_terrain_name(PhxGroundKind kind) {
    static const char *const names[PHX_GROUND_KIND_COUNT] = {"ground", "swamp", "water", "woods", "rock"};
    return names[kind];
}

/* Noise. A lattice of hashed values in [0, 1), smoothly interpolated, and sums of octaves of it. */
static float lattice(int32_t x, int32_t y, uint32_t seed) {
    uint32_t h = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)y * 0x85ebca77u ^ seed * 0xc2b2ae3du;
    h ^= h >> 15, h *= 0x2c1b3c6du, h ^= h >> 12, h *= 0x297a2d39u, h ^= h >> 15;
    return (float)(h >> 8) / 16777216.0f;
}

static float noise(float x, float y, uint32_t seed) {
    const float fx = floorf(x), fy = floorf(y);
    const int32_t ix = (int32_t)fx, iy = (int32_t)fy;
    float u = x - fx, v = y - fy;
    u = u * u * (3 - 2 * u), v = v * v * (3 - 2 * v);
    const float top = lattice(ix, iy, seed) * (1 - u) + lattice(ix + 1, iy, seed) * u;
    const float low = lattice(ix, iy + 1, seed) * (1 - u) + lattice(ix + 1, iy + 1, seed) * u;
    return top * (1 - v) + low * v;
}

static float octaves(float x, float y, uint32_t seed, int count) {
    float sum = 0, size = 0.5f;
    for (int i = 0; i < count; i++, size *= 0.5f, x *= 2.03f, y *= 2.03f)
        sum += size * noise(x, y, seed + (uint32_t)i);
    return sum;
}

static float clamp01(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
static Color mix(Color a, Color b, float t) {
    return (Color){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}
static Color rgb(uint32_t hex) {
    return (Color){(float)(hex >> 16) / 255, (float)(hex >> 8 & 255) / 255, (float)(hex & 255) / 255};
}

/* A map with more cells than pixels is reduced by a whole factor; of a square of cells the kind that is found
 * most counts, and of equally frequent ones the last. */
static bool reduce_cells(Relief *relief, const PhxNavGrid *map, const char *letters) {
    const uint32_t by_x = (map->width + relief->width - 1) / relief->width;
    const uint32_t by_y = (map->height + relief->height - 1) / relief->height;
    const uint32_t by = by_x > by_y ? by_x : by_y;
    const uint8_t cheapest = cheapest_of(map);
    relief->cells_x = (map->width + by - 1) / by, relief->cells_y = (map->height + by - 1) / by;
    relief->cells = malloc((size_t)relief->cells_x * relief->cells_y);
    if (!relief->cells) return false;
    for (uint32_t cy = 0; cy < relief->cells_y; cy++) {
        for (uint32_t cx = 0; cx < relief->cells_x; cx++) {
            uint32_t count[PHX_GROUND_KIND_COUNT] = {0}, best = 0;
            for (uint32_t y = cy * by; y < (cy + 1) * by && y < map->height; y++)
                for (uint32_t x = cx * by; x < (cx + 1) * by && x < map->width; x++) {
                    const size_t i = (size_t)y * map->width + x;
                    count[ground_of(letters ? letters[i] : 0, map->cost[i], cheapest)]++;
                }
            for (uint32_t k = 1; k < PHX_GROUND_KIND_COUNT; k++)
                if (count[k] >= count[best] && count[k]) best = k;
            relief->cells[(size_t)cy * relief->cells_x + cx] = (uint8_t)best;
        }
    }
    relief->cell = (float)relief->width * (float)by / (float)map->width;
    return true;
}

static uint32_t cell_kind(const Relief *relief, int32_t x, int32_t y) {
    const int32_t last_x = (int32_t)relief->cells_x - 1, last_y = (int32_t)relief->cells_y - 1;
    x = x < 0 ? 0 : x > last_x ? last_x : x, y = y < 0 ? 0 : y > last_y ? last_y : y;
    return relief->cells[(size_t)y * relief->cells_x + (size_t)x];
}

/* The kind of the ground at a point, in cells: the four cells around it vote with bilinear weights, which
 * rounds the corners by less than half a cell. */
static uint8_t kind_at(const Relief *relief, float x, float y) {
    const float fx = floorf(x - 0.5f), fy = floorf(y - 0.5f);
    const float u = x - 0.5f - fx, v = y - 0.5f - fy;
    float votes[PHX_GROUND_KIND_COUNT] = {0};
    votes[cell_kind(relief, (int32_t)fx, (int32_t)fy)] += (1 - u) * (1 - v);
    votes[cell_kind(relief, (int32_t)fx + 1, (int32_t)fy)] += u * (1 - v);
    votes[cell_kind(relief, (int32_t)fx, (int32_t)fy + 1)] += (1 - u) * v;
    votes[cell_kind(relief, (int32_t)fx + 1, (int32_t)fy + 1)] += u * v;
    uint8_t best = 0;
    for (uint8_t k = 1; k < PHX_GROUND_KIND_COUNT; k++)
        if (votes[k] > votes[best]) best = k;
    return best;
}

/* Distance to another kind, by two passes of a chamfer (1, sqrt 2); the image's rim counts as nothing. */
static void measure_edges(Relief *relief) {
    const int32_t w = (int32_t)relief->width, h = (int32_t)relief->height;
    for (int pass = 0; pass < 2; pass++) {
        const int32_t step = pass ? -1 : 1;
        for (int32_t j = 0; j < h; j++) {
            const int32_t y = pass ? h - 1 - j : j;
            for (int32_t i = 0; i < w; i++) {
                const int32_t x = pass ? w - 1 - i : i;
                const size_t at = (size_t)y * (size_t)w + (size_t)x;
                const int32_t near[4][2] = {
                    {x - step, y}, {x, y - step}, {x - step, y - step}, {x + step, y - step}};
                float least = pass ? relief->edge[at] : 1e6f;
                for (int n = 0; n < 4; n++) {
                    if (near[n][0] < 0 || near[n][0] >= w || near[n][1] < 0 || near[n][1] >= h) continue;
                    const size_t other = (size_t)near[n][1] * (size_t)w + (size_t)near[n][0];
                    const float length = n < 2 ? 1.0f : 1.41421f;
                    const float d = relief->kind[other] != relief->kind[at] ? 0.5f * length
                                                                            : relief->edge[other] + length;
                    if (d < least) least = d;
                }
                relief->edge[at] = least;
            }
        }
    }
}

/* The crown that stands over a point of woods, 0 (gap) to 1 (top); *hue gets a number of the tree's own. */
static float crown(float x, float y, float spacing, float *hue) {
    const float gx = x / spacing, gy = y / spacing;
    float best = 0;
    *hue = 0.5f;
    for (int32_t j = -1; j <= 1; j++) {
        for (int32_t i = -1; i <= 1; i++) {
            const int32_t tx = (int32_t)floorf(gx) + i, ty = (int32_t)floorf(gy) + j;
            const float dx = (float)tx + 0.2f + 0.6f * lattice(tx, ty, 71) - gx;
            const float dy = (float)ty + 0.2f + 0.6f * lattice(tx, ty, 72) - gy;
            const float size = 0.55f + 0.3f * lattice(tx, ty, 73);
            const float top = 1 - (dx * dx + dy * dy) / (size * size);
            if (top > best) best = top, *hue = lattice(tx, ty, 74);
        }
    }
    return sqrtf(best);
}

static float tree_spacing(const Relief *relief) {
    const float spacing = 1.7f * relief->cell / relief->grain;
    return spacing < 5 ? 5 : spacing;
}

static float rise_at(const Relief *relief, uint32_t px, uint32_t py) {
    const size_t at = (size_t)py * relief->width + px;
    const float x = (float)px / relief->grain, y = (float)py / relief->grain;
    const float edge = relief->edge[at] / relief->grain;
    const float span =
        (float)(relief->width > relief->height ? relief->width : relief->height) / (7 * relief->grain);
    const float hills = 26 * octaves(x / span, y / span, 1, 5);
    float hue;
    switch (relief->kind[at]) {
    case PHX_GROUND_KIND_WATER:
        return hills - 2.5f;
    case PHX_GROUND_KIND_SWAMP:
        return hills * 0.5f + 0.5f * noise(x / 3, y / 3, 9);
    case PHX_GROUND_KIND_WOODS:
        return hills + 1.5f + 3.4f * crown(x, y, tree_spacing(relief), &hue);
    case PHX_GROUND_KIND_ROCK: {
        const float inward = 1 - expf(-edge / 7);
        const float crags = fabsf(octaves(x / 17, y / 17, 21, 4) - 0.47f);
        return hills + 3 + 9 * inward + 34 * inward * (0.3f - crags);
    }
    default:
        return hills + 0.35f * octaves(x / 5, y / 5, 5, 2);
    }
}

static Color ground_color(const Relief *relief, uint32_t px, uint32_t py) {
    const size_t at = (size_t)py * relief->width + px;
    const float x = (float)px / relief->grain, y = (float)py / relief->grain;
    const float edge = relief->edge[at] / relief->grain;
    switch (relief->kind[at]) {
    case PHX_GROUND_KIND_WATER: {
        const float depth = 1 - expf(-edge / 26);
        /* Water lines: thin strokes that follow the shore and fade out from it. */
        const float lines = 0.5f + 0.5f * cosf(6.28319f * sqrtf(edge * 0.55f));
        const Color water = mix(rgb(0xb4d0d2), rgb(0x6f9bb0), depth);
        return mix(water, rgb(0x53809a), 0.35f * lines * lines * expf(-edge / 22));
    }
    case PHX_GROUND_KIND_SWAMP: {
        const float puddle = clamp01((octaves(x / 9, y / 6, 31, 3) - 0.47f) * 14);
        const Color moss = mix(rgb(0xbcbf94), rgb(0xa3ab7c), octaves(x / 40, y / 40, 33, 3));
        return mix(moss, rgb(0x8fb0a8), 0.75f * puddle);
    }
    case PHX_GROUND_KIND_WOODS: {
        float hue;
        const float top = crown(x, y, tree_spacing(relief), &hue);
        const Color leaves = mix(rgb(0x6f9468), rgb(0x93ab72), hue);
        return mix(rgb(0x55704f), leaves, 0.35f + 0.65f * top);
    }
    case PHX_GROUND_KIND_ROCK:
        return mix(rgb(0x8d847b), rgb(0xb0a698), octaves(x / 60, y / 60, 41, 4));
    default: {
        const float dry = clamp01((octaves(x / 120, y / 120, 51, 4) - 0.25f) * 2);
        return mix(rgb(0xd2d6b0), rgb(0xeae3c8), dry);
    }
    }
}

/* Light on a point: 1 is flat ground; less where something to the north-west throws its shadow. */
static float light_at(const Relief *relief, uint32_t px, uint32_t py) {
    const uint32_t w = relief->width, h = relief->height;
    const uint32_t x0 = px ? px - 1 : 0, x1 = px + 1 < w ? px + 1 : px, y0 = py ? py - 1 : 0,
                   y1 = py + 1 < h ? py + 1 : py;
    const float *rise = relief->rise;
    const float here = rise[(size_t)py * w + px];
    const float dx = (rise[(size_t)py * w + x1] - rise[(size_t)py * w + x0]) * relief->grain / 2;
    const float dy = (rise[(size_t)y1 * w + px] - rise[(size_t)y0 * w + px]) * relief->grain / 2;
    /* Normal (-dx, -dy, 1) with light from (-1, -1, 1.6). */
    const float lambert = (dx + dy + 1.6f) / sqrtf((dx * dx + dy * dy + 1) * 4.56f) / 0.7493f;
    const uint32_t reach = (uint32_t)(10 * relief->grain);
    float shadow = 0;
    for (uint32_t k = 1; k <= reach && k <= px && k <= py; k++) {
        const float over = rise[(size_t)(py - k) * w + px - k] - here - 1.1f * (float)k / relief->grain;
        if (over > shadow) shadow = over;
    }
    return (0.35f + 0.65f * lambert) * (1 - 0.38f * clamp01(shadow / 3));
}

static uint32_t pack(Color c) {
    const uint32_t r = (uint32_t)(clamp01(c.r) * 255 + 0.5f), g = (uint32_t)(clamp01(c.g) * 255 + 0.5f);
    return r << 16 | g << 8 | (uint32_t)(clamp01(c.b) * 255 + 0.5f);
}

static void paint_pixels(const Relief *relief, unsigned char *pixels, size_t stride) {
    for (uint32_t y = 0; y < relief->height; y++) {
        for (uint32_t x = 0; x < relief->width; x++) {
            const size_t at = (size_t)y * relief->width + x;
            const float light = light_at(relief, x, y);
            Color color = ground_color(relief, x, y);
            /* A darker seam at the border of what can't be walked on. */
            if (relief->kind[at] >= PHX_GROUND_KIND_WATER)
                color = mix(color, rgb(0x3c4648), 0.45f * expf(-relief->edge[at] / (1.1f * relief->grain)));
            color = light > 1 ? mix(color, rgb(0xfffaf0), clamp01((light - 1) * 1.3f))
                              : mix(rgb(0x2b3040), color, clamp01(light));
            const uint32_t value = pack(color);
            memcpy(pixels + y * stride + (size_t)x * 4, &value, 4);
        }
    }
}

static bool relief_build(Relief *relief, const PhxSim *sim, const char *letters) {
    const PhxNavGrid map = phx_sim_map(sim);
    const size_t pixels = (size_t)relief->width * relief->height;
    relief->kind = malloc(pixels);
    relief->edge = malloc(pixels * sizeof *relief->edge);
    relief->rise = malloc(pixels * sizeof *relief->rise);
    if (!relief->kind || !relief->edge || !relief->rise || !reduce_cells(relief, &map, letters)) return false;
    for (uint32_t y = 0; y < relief->height; y++)
        for (uint32_t x = 0; x < relief->width; x++)
            relief->kind[(size_t)y * relief->width + x] =
                kind_at(relief, ((float)x + 0.5f) / relief->cell, ((float)y + 0.5f) / relief->cell);
    measure_edges(relief);
    for (uint32_t y = 0; y < relief->height; y++)
        for (uint32_t x = 0; x < relief->width; x++)
            relief->rise[(size_t)y * relief->width + x] = rise_at(relief, x, y);
    return true;
}

/* Half as large, each pixel the mean of four: smooth edges. */
static cairo_surface_t *halve(cairo_surface_t *fine, uint32_t width, uint32_t height) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS) {
        cairo_surface_destroy(surface);
        return NULL;
    }
    const unsigned char *from = cairo_image_surface_get_data(fine);
    unsigned char *to = cairo_image_surface_get_data(surface);
    const size_t from_stride = (size_t)cairo_image_surface_get_stride(fine);
    const size_t to_stride = (size_t)cairo_image_surface_get_stride(surface);
    for (uint32_t y = 0; y < height; y++)
        for (size_t i = 0; i < (size_t)width * 4; i++) {
            const unsigned char *four = from + 2 * y * from_stride + (i / 4 * 2) * 4 + i % 4;
            to[y * to_stride + i] =
                (unsigned char)((four[0] + four[4] + four[from_stride] + four[from_stride + 4] + 2) / 4);
        }
    cairo_surface_mark_dirty(surface);
    return surface;
}

static cairo_surface_t *paint_at(const PhxSim *sim, const char *letters, uint32_t width, uint32_t height,
                                 float grain) {
    Relief relief = {.width = width, .height = height, .grain = grain};
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS || !relief_build(&relief, sim, letters)) {
        cairo_surface_destroy(surface);
        surface = NULL;
    } else {
        cairo_surface_flush(surface);
        paint_pixels(&relief, cairo_image_surface_get_data(surface),
                     (size_t)cairo_image_surface_get_stride(surface));
        cairo_surface_mark_dirty(surface);
    }
    free(relief.cells);
    free(relief.kind);
    free(relief.edge);
    free(relief.rise);
    return surface;
}

cairo_surface_t *phx_terrain_paint(const PhxSim *sim, const char *letters, uint32_t width, uint32_t height) {
    /* Pictures of a usual size are painted twice as fine; a giant one has no need of it. */
    if (width > 2048 || height > 2048) return paint_at(sim, letters, width, height, 1);
    cairo_surface_t *fine = paint_at(sim, letters, 2 * width, 2 * height, 2);
    if (!fine) return NULL;
    cairo_surface_t *surface = halve(fine, width, height);
    cairo_surface_destroy(fine);
    return surface;
}
