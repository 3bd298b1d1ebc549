/* canvas.c: debug draw's primitives on a cairo context. */
#include "picture/paint.h"

#include <math.h>
#include <string.h>

double phx_canvas_x(const PhxCanvas *canvas, fix16_t x) { return canvas->left + x / 65536.0 * canvas->scale; }
double phx_canvas_y(const PhxCanvas *canvas, fix16_t y) { return canvas->top + y / 65536.0 * canvas->scale; }

void phx_canvas_color(const PhxCanvas *canvas, PhxDrawColor color, double alpha) {
    cairo_set_source_rgba(canvas->cairo, (color >> 24) / 255.0, (color >> 16 & 255) / 255.0,
                          (color >> 8 & 255) / 255.0, (color & 255) / 255.0 * alpha);
}

void phx_canvas_font(const PhxCanvas *canvas, bool bold, double size) {
    cairo_select_font_face(canvas->cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(canvas->cairo, size);
}

double phx_canvas_text_width(const PhxCanvas *canvas, const char *text) {
    cairo_text_extents_t extents;
    cairo_text_extents(canvas->cairo, text, &extents);
    return extents.x_advance;
}

double phx_canvas_text(const PhxCanvas *canvas, double x, double y, PhxDrawColor color, const char *text) {
    phx_canvas_color(canvas, color, 1);
    cairo_move_to(canvas->cairo, x, y);
    cairo_show_text(canvas->cairo, text);
    return x + phx_canvas_text_width(canvas, text);
}

static void sink_line(void *user, PhxVec2 from, PhxVec2 to, PhxDrawColor color) {
    const PhxCanvas *canvas = user;
    phx_canvas_color(canvas, color, 1);
    cairo_move_to(canvas->cairo, phx_canvas_x(canvas, from.x), phx_canvas_y(canvas, from.y));
    cairo_line_to(canvas->cairo, phx_canvas_x(canvas, to.x), phx_canvas_y(canvas, to.y));
    cairo_stroke(canvas->cairo);
}

static void sink_arrow(void *user, PhxVec2 from, PhxVec2 to, PhxDrawColor color) {
    const PhxCanvas *canvas = user;
    const double x = phx_canvas_x(canvas, to.x), y = phx_canvas_y(canvas, to.y);
    const double angle = atan2(y - phx_canvas_y(canvas, from.y), x - phx_canvas_x(canvas, from.x));
    sink_line(user, from, to, color);
    for (int side = -1; side <= 1; side += 2) {
        cairo_move_to(canvas->cairo, x, y);
        cairo_line_to(canvas->cairo, x - 6 * cos(angle + side * 0.5), y - 6 * sin(angle + side * 0.5));
    }
    cairo_stroke(canvas->cairo);
}

static void sink_polygon(void *user, const PhxVec2 *points, uint32_t count, PhxDrawColor color) {
    const PhxCanvas *canvas = user;
    for (uint32_t i = 0; i < count; i++)
        cairo_line_to(canvas->cairo, phx_canvas_x(canvas, points[i].x), phx_canvas_y(canvas, points[i].y));
    cairo_close_path(canvas->cairo);
    phx_canvas_color(canvas, color, 1);
    cairo_fill(canvas->cairo);
}

static void sink_text(void *user, PhxVec2 at, const char *text, uint32_t length, PhxDrawColor color) {
    const PhxCanvas *canvas = user;
    char word[PHX_DRAW_TEXT_LIMIT + 1];
    if (length > PHX_DRAW_TEXT_LIMIT) length = PHX_DRAW_TEXT_LIMIT;
    memcpy(word, text, length);
    word[length] = 0;
    cairo_text_extents_t size;
    cairo_text_extents(canvas->cairo, word, &size);
    cairo_move_to(canvas->cairo, phx_canvas_x(canvas, at.x) - size.x_advance / 2, phx_canvas_y(canvas, at.y));
    phx_canvas_color(canvas, color, 1);
    cairo_show_text(canvas->cairo, word);
}

PhxDrawSink phx_canvas_sink(PhxCanvas *canvas) {
    return (PhxDrawSink){
        .line = sink_line, .arrow = sink_arrow, .polygon = sink_polygon, .text = sink_text, .user = canvas};
}
