/* cmd_formation_picture.c: the picture of a formation: slots by rank, its anchor and facing, and lines from
 * where units are to the slots they take.
 *
 * In: a view. Out: an SVG or a PNG. Doubles paint, and decide nothing. Cost: linear in the units.
 */
#include "phx/cmd_formation.h"
#include "picture/output.h"
#include "picture/paint.h"

#include <cairo-svg.h>
#include <math.h>
#include <stdio.h>

enum { MARGIN = 40, LEGEND = 44, MOST_PIXELS = 1100, LEAST_PIXELS = 360 };

static const PhxDrawColor PAPER = 0xf8f5ecff, INK = 0x2c2e33ff, FAINT = 0x6d6a62ff, WHITE = 0xffffffff;

typedef struct Bounds {
    double left, top, right, bottom; /* world units */
} Bounds;

static double real(fix16_t value) { return value / 65536.0; }

static void include(Bounds *bounds, PhxVec2 at, fix16_t radius) {
    bounds->left = fmin(bounds->left, real(at.x) - real(radius));
    bounds->right = fmax(bounds->right, real(at.x) + real(radius));
    bounds->top = fmin(bounds->top, real(at.y) - real(radius));
    bounds->bottom = fmax(bounds->bottom, real(at.y) + real(radius));
}

static PhxVec2 ahead(const PhxFormationView *view, double distance) {
    return phx_formation_to_world(view->anchor, view->facing, phx_vec2((fix16_t)(distance * 65536), 0));
}

static Bounds bounds_of(const PhxFormationView *view) {
    Bounds bounds = {1e9, 1e9, -1e9, -1e9};
    include(&bounds, view->anchor, PHX_FIX_ONE);
    include(&bounds, ahead(view, 3), PHX_FIX_ONE / 2);
    for (uint32_t i = 0; i < view->count; i++) {
        include(&bounds, view->places[i], view->slots[i].radius);
        if (view->starts) include(&bounds, view->starts[i], view->radius[i]);
    }
    return bounds;
}

static void disc(const PhxCanvas *canvas, PhxVec2 at, fix16_t radius) {
    cairo_new_path(canvas->cairo);
    cairo_arc(canvas->cairo, phx_canvas_x(canvas, at.x), phx_canvas_y(canvas, at.y),
              real(radius) * canvas->scale, 0, 6.2832);
}

static void paint_slot(const PhxCanvas *canvas, const PhxFormationView *view, uint32_t i) {
    const PhxDrawColor color = phx_draw_player_color(view->slots[i].rank);
    disc(canvas, view->places[i], view->slots[i].radius);
    phx_canvas_color(canvas, color, 0.35);
    cairo_fill_preserve(canvas->cairo);
    phx_canvas_color(canvas, color, 1);
    cairo_set_line_width(canvas->cairo, 1.2);
    cairo_stroke(canvas->cairo);
}

static void paint_unit(const PhxCanvas *canvas, const PhxFormationView *view, uint32_t i) {
    const uint32_t slot = view->slot_of[i];
    const PhxDrawColor color = phx_draw_player_color(view->slots[slot].rank);
    phx_canvas_color(canvas, color, 0.75);
    cairo_set_line_width(canvas->cairo, 1);
    cairo_move_to(canvas->cairo, phx_canvas_x(canvas, view->starts[i].x),
                  phx_canvas_y(canvas, view->starts[i].y));
    cairo_line_to(canvas->cairo, phx_canvas_x(canvas, view->places[slot].x),
                  phx_canvas_y(canvas, view->places[slot].y));
    cairo_stroke(canvas->cairo);
    disc(canvas, view->starts[i], view->radius[i]);
    phx_canvas_color(canvas, WHITE, 1);
    cairo_fill_preserve(canvas->cairo);
    phx_canvas_color(canvas, color, 1);
    cairo_stroke(canvas->cairo);
}

static void paint_frame(PhxCanvas *canvas, const PhxFormationView *view) {
    const double x = phx_canvas_x(canvas, view->anchor.x), y = phx_canvas_y(canvas, view->anchor.y);
    const PhxDrawSink sink = phx_canvas_sink(canvas);
    sink.arrow(sink.user, view->anchor, ahead(view, 3), INK);
    phx_canvas_color(canvas, INK, 1);
    cairo_set_line_width(canvas->cairo, 2);
    cairo_move_to(canvas->cairo, x - 6, y);
    cairo_line_to(canvas->cairo, x + 6, y);
    cairo_move_to(canvas->cairo, x, y - 6);
    cairo_line_to(canvas->cairo, x, y + 6);
    cairo_stroke(canvas->cairo);
}

static void paint_legend(const PhxCanvas *canvas, const PhxFormationView *view, double bottom) {
    bool seen[PHX_FORMATION_RANKS] = {false};
    phx_canvas_font(canvas, true, 13);
    double x = phx_canvas_text(canvas, MARGIN, bottom - 16, INK, view->title) + 18;
    phx_canvas_font(canvas, false, 12);
    for (uint32_t i = 0; i < view->count; i++) seen[view->slots[i].rank] = true;
    for (uint32_t r = 0; r < PHX_FORMATION_RANKS; r++) {
        char text[32];
        if (!seen[r]) continue;
        snprintf(text, sizeof text, "rank %u", (unsigned)r);
        cairo_rectangle(canvas->cairo, x, bottom - 26, 12, 12);
        phx_canvas_color(canvas, phx_draw_player_color((uint8_t)r), 1);
        cairo_fill(canvas->cairo);
        x = phx_canvas_text(canvas, x + 16, bottom - 16, FAINT, text) + 14;
    }
}

static void paint(const PhxFormationView *view, cairo_t *cairo, const Bounds *bounds, double scale,
                  double height) {
    PhxCanvas canvas = {.cairo = cairo,
                        .left = MARGIN - bounds->left * scale,
                        .top = MARGIN - bounds->top * scale,
                        .scale = scale};
    phx_canvas_color(&canvas, PAPER, 1);
    cairo_paint(cairo);
    for (uint32_t i = 0; i < view->count; i++) paint_slot(&canvas, view, i);
    for (uint32_t i = 0; view->starts && i < view->count; i++) paint_unit(&canvas, view, i);
    paint_frame(&canvas, view);
    paint_legend(&canvas, view, height);
}

PhxStatus phx_formation_picture_write(const char *path, const PhxFormationView *view, PhxError *error) {
    PhxPictureOutput output;
    const Bounds bounds = bounds_of(view);
    const double across = bounds.right - bounds.left, down = bounds.bottom - bounds.top;
    const double scale = fmin(40, MOST_PIXELS / fmax(across, down));
    const double width = fmax(LEAST_PIXELS, ceil(across * scale) + 2 * MARGIN),
                 height = ceil(down * scale) + 2 * MARGIN + LEGEND;
    const PhxStatus opened = phx_picture_output_open(&output, path, error);
    if (opened) return opened;
    cairo_surface_t *surface =
        phx_picture_is_svg(path)
            ? cairo_svg_surface_create_for_stream(phx_picture_output_write, &output, width, height)
            : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
    cairo_t *cairo = cairo_create(surface);
    if (!cairo_status(cairo)) paint(view, cairo, &bounds, scale, height);
    cairo_destroy(cairo);
    return phx_picture_finish(surface, &output, PHX_OK, error);
}
