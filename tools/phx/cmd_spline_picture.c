/* cmd_spline_picture.c: the picture of a spline, seen from above: its control polygon, the curve with a
 * colour a piece, the control points with that of the first piece that needs them, tangents, and normals as
 * long as the bend is sharp.
 *
 * In: a view. Out: an SVG or a PNG. Doubles paint, and decide nothing. Cost: linear in samples and points.
 */
#include "phx/cmd_spline.h"
#include "picture/output.h"
#include "picture/paint.h"

#include <cairo-svg.h>
#include <math.h>

enum { MARGIN = 40, LEGEND = 36, MOST_PIXELS = 1100, LEAST_PIXELS = 360, MARKS = 24, NORMAL = 40 };

static const PhxDrawColor PAPER = 0xf8f5ecff, INK = 0x2c2e33ff, FAINT = 0x6d6a62ff;

typedef struct Bounds {
    double left, top, right, bottom; /* world units */
} Bounds;

static double real(fix16_t value) { return value / 65536.0; }

static void include(Bounds *bounds, PhxSplinePoint p) {
    bounds->left = fmin(bounds->left, real(p.x)), bounds->right = fmax(bounds->right, real(p.x));
    bounds->top = fmin(bounds->top, real(p.y)), bounds->bottom = fmax(bounds->bottom, real(p.y));
}

static PhxDrawColor color_of(const PhxSplinePicture *view, uint32_t piece) {
    return phx_draw_player_color((uint8_t)((piece - view->spline->degree) % 8));
}

static void move_to(const PhxCanvas *canvas, PhxSplinePoint p) {
    cairo_move_to(canvas->cairo, phx_canvas_x(canvas, p.x), phx_canvas_y(canvas, p.y));
}

static void line_to(const PhxCanvas *canvas, PhxSplinePoint p) {
    cairo_line_to(canvas->cairo, phx_canvas_x(canvas, p.x), phx_canvas_y(canvas, p.y));
}

static void paint_polygon(const PhxCanvas *canvas, const PhxSplinePicture *view) {
    const PhxSpline *spline = view->spline;
    move_to(canvas, spline->point[0]);
    for (uint32_t i = 1; i < spline->count; i++) line_to(canvas, spline->point[i]);
    phx_canvas_color(canvas, FAINT, 0.5);
    cairo_set_line_width(canvas->cairo, 1);
    cairo_stroke(canvas->cairo);
    for (uint32_t i = 0; i < spline->own; i++) {
        const uint32_t first = i > spline->degree ? i : spline->degree;
        cairo_arc(canvas->cairo, phx_canvas_x(canvas, spline->point[i].x),
                  phx_canvas_y(canvas, spline->point[i].y), 4, 0, 6.2832);
        phx_canvas_color(canvas, color_of(view, first), 1);
        cairo_fill(canvas->cairo);
    }
}

static void paint_curve(const PhxCanvas *canvas, const PhxSplinePicture *view) {
    cairo_set_line_width(canvas->cairo, 2.5);
    for (uint32_t i = 1; i < view->count; i++) {
        move_to(canvas, view->samples[i - 1].point);
        line_to(canvas, view->samples[i].point);
        phx_canvas_color(canvas, color_of(view, view->pieces[i]), 1);
        cairo_stroke(canvas->cairo);
    }
}

/* An arrow along the tangent, and a stroke to the side that the curve bends to. */
static void paint_mark(const PhxCanvas *canvas, const PhxSplineSample *s) {
    const double speed = hypot((double)s->first.x, (double)s->first.y);
    if (speed == 0) return;
    const double x = phx_canvas_x(canvas, s->point.x), y = phx_canvas_y(canvas, s->point.y),
                 dx = (double)s->first.x / speed, dy = (double)s->first.y / speed;
    const double turn = dx * (double)s->second.y - dy * (double)s->second.x;
    const double long_ = NORMAL * fmin(1, phx_spline_curvature(s) / 65536.0 * 4) * (turn < 0 ? -1 : 1);
    phx_canvas_color(canvas, INK, 0.9);
    cairo_set_line_width(canvas->cairo, 1.2);
    cairo_move_to(canvas->cairo, x, y);
    cairo_line_to(canvas->cairo, x + 12 * dx, y + 12 * dy);
    cairo_line_to(canvas->cairo, x + 8 * dx - 3 * dy, y + 8 * dy + 3 * dx);
    cairo_move_to(canvas->cairo, x + 12 * dx, y + 12 * dy);
    cairo_line_to(canvas->cairo, x + 8 * dx + 3 * dy, y + 8 * dy - 3 * dx);
    cairo_stroke(canvas->cairo);
    phx_canvas_color(canvas, FAINT, 0.9);
    cairo_move_to(canvas->cairo, x, y);
    cairo_line_to(canvas->cairo, x - long_ * dy, y + long_ * dx);
    cairo_stroke(canvas->cairo);
}

static void paint(const PhxSplinePicture *view, cairo_t *cairo, const Bounds *bounds, double scale,
                  double height) {
    PhxCanvas canvas = {.cairo = cairo,
                        .left = MARGIN - bounds->left * scale,
                        .top = MARGIN - bounds->top * scale,
                        .scale = scale};
    phx_canvas_color(&canvas, PAPER, 1);
    cairo_paint(cairo);
    paint_polygon(&canvas, view);
    paint_curve(&canvas, view);
    const uint32_t step = view->count > MARKS ? view->count / MARKS : 1;
    for (uint32_t i = 0; i < view->count; i += step) paint_mark(&canvas, &view->samples[i]);
    phx_canvas_font(&canvas, true, 13);
    (void)phx_canvas_text(&canvas, MARGIN, height - 14, INK, view->title);
}

PhxStatus phx_spline_picture_write(const char *path, const PhxSplinePicture *view, PhxError *error) {
    PhxPictureOutput output;
    Bounds bounds = {1e9, 1e9, -1e9, -1e9};
    for (uint32_t i = 0; i < view->spline->own; i++) include(&bounds, view->spline->point[i]);
    const double across = bounds.right - bounds.left, down = bounds.bottom - bounds.top;
    const double scale = fmin(40, MOST_PIXELS / fmax(1, fmax(across, down)));
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
