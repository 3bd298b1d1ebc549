/* field_pixels.c: the ground and its layer, pixel by pixel.
 *
 * Costs of the way are sampled bilinearly between the centres of cells that have one, so that contours are
 * smooth; a pixel lies on a contour where its value and its right or lower neighbour's straddle a multiple.
 * Two rows of values are kept. Cost: a few dozen nanoseconds a pixel.
 */
#include "picture/field_paint.h"

#include <math.h>
#include <stdlib.h>

/* Colours. */

static PhxFieldColor color_of(uint32_t rgb) {
    return (PhxFieldColor){(float)(rgb >> 16 & 255) / 255, (float)(rgb >> 8 & 255) / 255,
                           (float)(rgb & 255) / 255};
}

static PhxFieldColor mix(PhxFieldColor a, PhxFieldColor b, double t) {
    const float f = (float)t;
    return (PhxFieldColor){a.r + (b.r - a.r) * f, a.g + (b.g - a.g) * f, a.b + (b.b - a.b) * f};
}

static PhxFieldColor ramp_of(const uint32_t *stops, int count, double t) {
    const double at = (t < 0 ? 0 : t > 1 ? 1 : t) * (count - 1);
    const int low = at >= count - 1 ? count - 2 : (int)at;
    return mix(color_of(stops[low]), color_of(stops[low + 1]), at - low);
}

PhxFieldColor phx_field_ramp(double t) {
    static const uint32_t stops[] = {0xfff9dc, 0xfde08a, 0xfbb061, 0xef7a57,
                                     0xcf4a67, 0x9a2f79, 0x5f2679, 0x2b1a55};
    return ramp_of(stops, 8, t);
}

PhxFieldColor phx_field_cost_color(uint8_t cost) {
    static const uint32_t stops[] = {0xeef2dc, 0xcfdca0, 0xd9c26b, 0xcf9247, 0xb05f35, 0x7c332c};
    return ramp_of(stops, 6, log2(cost) / log2(254));
}

PhxFieldColor phx_field_ground_color(uint8_t cost) {
    static const uint32_t stops[] = {0xf4f1e6, 0xe4dac0, 0xc9b795, 0xa08a69};
    return ramp_of(stops, 4, log2(cost) / log2(254));
}

PhxFieldColor phx_field_hue(double angle) {
    /* E, SE, S and so on; the first once more. */
    static const uint32_t stops[] = {0xe58f7b, 0xeabd6e, 0xcfd37c, 0x8bc98f, 0x74c4c9,
                                     0x82a3dc, 0xab90d8, 0xd98fc3, 0xe58f7b};
    const double turn = angle / 6.283185307179586 + 1;
    return ramp_of(stops, 9, turn - floor(turn));
}

PhxFieldColor phx_field_wall_color(void) { return color_of(0x363b45); }

static uint32_t packed(PhxFieldColor c) {
    const float r = c.r < 0   ? 0
                    : c.r > 1 ? 1
                              : c.r,
                g = c.g < 0   ? 0
                    : c.g > 1 ? 1
                              : c.g,
                b = c.b < 0   ? 0
                    : c.b > 1 ? 1
                              : c.b;
    return 0xff000000u | (uint32_t)(r * 255 + 0.5f) << 16 | (uint32_t)(g * 255 + 0.5f) << 8 |
           (uint32_t)(b * 255 + 0.5f);
}

/* Values. */

static double value_of(const PhxFieldSheet *sheet, size_t cell) {
    return (double)sheet->picture->integration[cell] / sheet->step;
}

/* The cost of the way at a pixel, in cells; negative: none. */
static float sample(const PhxFieldSheet *sheet, uint32_t px, uint32_t py) {
    const PhxFieldPicture *picture = sheet->picture;
    const uint32_t w = picture->grid.width, h = picture->grid.height;
    const double x = sheet->left + (px + 0.5) / sheet->scale, y = sheet->top + (py + 0.5) / sheet->scale;
    if (!phx_field_reached(picture, (size_t)y * w + (size_t)x)) return -1;
    const double u = x < 0.5 ? 0 : x - 0.5, v = y < 0.5 ? 0 : y - 0.5;
    const uint32_t cx = (uint32_t)u, cy = (uint32_t)v;
    double sum = 0, weights = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t nx = cx + (i & 1), ny = cy + (i >> 1);
        const size_t cell = (size_t)ny * w + nx;
        if (nx >= w || ny >= h || !phx_field_reached(picture, cell)) continue;
        const double weight = (i & 1 ? u - cx : 1 - (u - cx)) * (i >> 1 ? v - cy : 1 - (v - cy));
        sum += weight * value_of(sheet, cell);
        weights += weight;
    }
    return weights > 0 ? (float)(sum / weights) : -1;
}

static void sample_row(const PhxFieldSheet *sheet, uint32_t py, float *row) {
    for (uint32_t px = 0; px < sheet->map_width; px++)
        row[px] = py < sheet->map_height ? sample(sheet, px, py) : -1;
}

/* How much a contour covers the pixel, 0..1; each fifth one more. */
static double contour_at(const PhxFieldSheet *sheet, const float *row, const float *below, uint32_t px) {
    const float here = row[px];
    const float right = px + 1 < sheet->map_width ? row[px + 1] : -1, down = below[px];
    if (here < 0) return 0;
    const double at = here / sheet->contour;
    double cover = 0;
    for (int i = 0; i < 2; i++) {
        const float other = i == 0 ? right : down;
        if (other < 0) continue;
        const double low = floor(at), high = floor(other / sheet->contour);
        if (low == high) continue;
        const double line = low > high ? low : high;
        const double strength = fmod(line, 5) == 0 ? 0.8 : 0.42;
        if (strength > cover) cover = strength;
    }
    return cover;
}

/* Pixels. */

/* Walls: a light upper and a dark lower edge where open ground begins. */
static PhxFieldColor wall_pixel(const PhxFieldSheet *sheet, int32_t cx, int32_t cy, uint32_t in_x,
                                uint32_t in_y) {
    const PhxNavGrid *grid = &sheet->picture->grid;
    const uint32_t rim = sheet->scale >= 8 ? 2 : 1, last = sheet->scale - 1;
    const PhxFieldColor wall = phx_field_wall_color();
    if (sheet->scale < 3) return wall;
    if ((in_y < rim && phx_nav_passable(grid, cx, cy - 1)) ||
        (in_x < rim && phx_nav_passable(grid, cx - 1, cy)))
        return mix(wall, color_of(0x8b92a0), 0.8);
    if ((in_y + rim > last && phx_nav_passable(grid, cx, cy + 1)) ||
        (in_x + rim > last && phx_nav_passable(grid, cx + 1, cy)))
        return mix(wall, color_of(0x101216), 0.8);
    return wall;
}

/* Ground from which no way leads: hatched. */
static PhxFieldColor lost_pixel(uint8_t cost, uint32_t px, uint32_t py) {
    return mix(phx_field_ground_color(cost), color_of(0x5b6472), (px + py) % 8 < 2 ? 0.75 : 0.35);
}

static PhxFieldColor flow_pixel(const PhxFieldPicture *picture, size_t cell) {
    const uint8_t code = picture->flow ? picture->flow[cell] : PHX_FLOW_NONE;
    const PhxDir dir = picture->direction ? picture->direction[cell] : (PhxDir){0, 0};
    if (code >= 8) return phx_field_ground_color(picture->grid.cost[cell]);
    const bool smooth = dir.x != 0 || dir.y != 0;
    return phx_field_hue(smooth ? atan2((double)dir.y, (double)dir.x)
                                : atan2((double)phx_flow_dy[code], (double)phx_flow_dx[code]));
}

static PhxFieldColor sight_pixel(const PhxFieldSheet *sheet, size_t cell, float value) {
    const PhxFieldPicture *picture = sheet->picture;
    const PhxFieldColor ground = phx_field_ground_color(picture->grid.cost[cell]);
    const double t = value / sheet->most;
    if (picture->sight != NULL && picture->sight[cell] != 0)
        return mix(color_of(0xfff2a8), color_of(0xf0b441), t);
    return mix(mix(ground, color_of(0x7f93ad), 0.55), color_of(0x46536b), t);
}

static PhxFieldColor open_pixel(const PhxFieldSheet *sheet, size_t cell, const float *row, const float *below,
                                uint32_t px, uint32_t py) {
    const PhxFieldPicture *picture = sheet->picture;
    const uint8_t cost = picture->grid.cost[cell];
    if (picture->layer == PHX_FIELD_LAYER_COST) return phx_field_cost_color(cost);
    if (picture->integration != NULL && row[px] < 0) return lost_pixel(cost, px, py);
    const PhxFieldColor ink = color_of(0x1b1226);
    switch (picture->layer) {
    case PHX_FIELD_LAYER_INTEGRATION: {
        const double t = row[px] / sheet->most;
        const PhxFieldColor line = t > 0.62 ? color_of(0xffe9d0) : ink; /* on dark ground a light one */
        return mix(phx_field_ramp(t), line, contour_at(sheet, row, below, px));
    }
    case PHX_FIELD_LAYER_FLOW:
        return mix(flow_pixel(picture, cell), ink, 0.5 * contour_at(sheet, row, below, px));
    case PHX_FIELD_LAYER_LOS:
        return mix(sight_pixel(sheet, cell, row[px]), ink, 0.6 * contour_at(sheet, row, below, px));
    default:
        return phx_field_ground_color(cost);
    }
}

static void paint_row(const PhxFieldSheet *sheet, uint32_t py, const float *row, const float *below,
                      uint32_t *out) {
    const PhxNavGrid *grid = &sheet->picture->grid;
    const uint32_t cy = sheet->top + py / sheet->scale;
    for (uint32_t px = 0; px < sheet->map_width; px++) {
        const uint32_t cx = sheet->left + px / sheet->scale;
        const size_t cell = (size_t)cy * grid->width + cx;
        out[px] =
            packed(grid->cost[cell] == PHX_NAV_IMPASSABLE
                       ? wall_pixel(sheet, (int32_t)cx, (int32_t)cy, px % sheet->scale, py % sheet->scale)
                       : open_pixel(sheet, cell, row, below, px, py));
    }
}

cairo_surface_t *phx_field_paint_pixels(const PhxFieldSheet *sheet) {
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)sheet->map_width, (int)sheet->map_height);
    float *rows = malloc(2 * (size_t)sheet->map_width * sizeof *rows);
    if (cairo_surface_status(surface) || !rows) {
        cairo_surface_destroy(surface);
        free(rows);
        return NULL;
    }
    unsigned char *data = cairo_image_surface_get_data(surface);
    const int stride = cairo_image_surface_get_stride(surface);
    float *row = rows, *below = rows + sheet->map_width;
    sample_row(sheet, 0, row);
    for (uint32_t py = 0; py < sheet->map_height; py++) {
        sample_row(sheet, py + 1, below);
        paint_row(sheet, py, row, below, (uint32_t *)(void *)(data + (ptrdiff_t)py * stride));
        float *was = row;
        row = below;
        below = was;
    }
    free(rows);
    cairo_surface_mark_dirty(surface);
    return surface;
}
