/* field_legend.c: title, note, and what the colours of a picture of a field mean. */
#include "picture/field_paint.h"

#include <math.h>
#include <stdio.h>

static const PhxDrawColor INK = 0x2c2e33ff, FAINT = 0x6d6a62ff;

static void set_color(cairo_t *cairo, PhxFieldColor color) {
    cairo_set_source_rgb(cairo, (double)color.r, (double)color.g, (double)color.b);
}

/* A small field of colour with a word; returns where it ends. */
static double paint_key(const PhxFieldSheet *sheet, double x, double y, PhxFieldColor color,
                        const char *word) {
    cairo_t *cairo = sheet->canvas.cairo;
    cairo_rectangle(cairo, x + 0.5, y - 10.5, 18, 12);
    set_color(cairo, color);
    cairo_fill_preserve(cairo);
    phx_canvas_color(&sheet->canvas, FAINT, 1);
    cairo_set_line_width(cairo, 1);
    cairo_stroke(cairo);
    return phx_canvas_text(&sheet->canvas, x + 25, y, FAINT, word) + 18;
}

typedef PhxFieldColor (*ColorAt)(double t);

static PhxFieldColor cost_at(double t) { return phx_field_cost_color((uint8_t)(pow(254, t) + 0.5)); }
static PhxFieldColor hue_at(double t) { return phx_field_hue(t * 6.283185307179586); }

static double paint_bar(const PhxFieldSheet *sheet, double x, double y, const char *from, const char *to,
                        ColorAt at) {
    enum { WIDTH = 180 };
    cairo_t *cairo = sheet->canvas.cairo;
    x = phx_canvas_text(&sheet->canvas, x, y, FAINT, from) + 8;
    for (int i = 0; i < WIDTH; i++) {
        set_color(cairo, at((i + 0.5) / WIDTH));
        cairo_rectangle(cairo, x + i, y - 10, 1, 12);
        cairo_fill(cairo);
    }
    cairo_rectangle(cairo, x - 0.5, y - 10.5, WIDTH + 1, 13);
    phx_canvas_color(&sheet->canvas, FAINT, 1);
    cairo_set_line_width(cairo, 1);
    cairo_stroke(cairo);
    return phx_canvas_text(&sheet->canvas, x + WIDTH + 8, y, FAINT, to) + 18;
}

static double paint_layer(const PhxFieldSheet *sheet, double x, double y) {
    char most[32], contour[64];
    snprintf(most, sizeof most, "%.0f cells", sheet->most);
    switch (sheet->picture->layer) {
    case PHX_FIELD_LAYER_COST:
        return paint_bar(sheet, x, y, "cost 1", "254", cost_at);
    case PHX_FIELD_LAYER_FLOW:
        return paint_bar(sheet, x, y, "east", "south, west, north, east", hue_at);
    case PHX_FIELD_LAYER_LOS:
        x = paint_key(sheet, x, y, (PhxFieldColor){1, 0.9f, 0.55f}, "sees the goal");
        return paint_key(sheet, x, y, (PhxFieldColor){0.6f, 0.66f, 0.75f}, "goes around");
    case PHX_FIELD_LAYER_PORTALS:
        return paint_bar(sheet, x, y, "portal at the goal", "far", phx_field_ramp);
    default:
        x = paint_bar(sheet, x, y, "0", most, phx_field_ramp);
        snprintf(contour, sizeof contour, "a contour each %g, bold each %g", sheet->contour,
                 5 * sheet->contour);
        return phx_canvas_text(&sheet->canvas, x, y, FAINT, contour) + 18;
    }
}

static void paint_ways(const PhxFieldSheet *sheet, double x, double y) {
    const PhxFieldPicture *picture = sheet->picture;
    cairo_t *cairo = sheet->canvas.cairo;
    for (uint32_t i = 0; i < picture->way_count; i++) {
        if (picture->ways[i].name[0] == 0) continue; /* as the one before it */
        cairo_move_to(cairo, x, y - 4);
        cairo_line_to(cairo, x + 18, y - 4);
        phx_canvas_color(&sheet->canvas, picture->ways[i].color, 1);
        cairo_set_line_width(cairo, 2.4);
        cairo_stroke(cairo);
        x = phx_canvas_text(&sheet->canvas, x + 25, y, FAINT, picture->ways[i].name) + 18;
    }
}

void phx_field_paint_legend(const PhxFieldSheet *sheet, double left, double right, double top) {
    const PhxFieldPicture *picture = sheet->picture;
    char line[80];
    phx_canvas_font(&sheet->canvas, true, 21);
    const double end = phx_canvas_text(&sheet->canvas, left, top + 34, INK, picture->title);
    phx_canvas_font(&sheet->canvas, false, 13);
    snprintf(line, sizeof line, "%u x %u cells", picture->grid.width, picture->grid.height);
    const double x = right - phx_canvas_text_width(&sheet->canvas, line);
    if (end + 14 < x) phx_canvas_text(&sheet->canvas, x, top + 34, INK, line);
    if (picture->note) phx_canvas_text(&sheet->canvas, left, top + 56, FAINT, picture->note);
    phx_canvas_font(&sheet->canvas, false, 12);
    const double next = paint_layer(sheet, left, top + 82);
    paint_ways(sheet, paint_key(sheet, next, top + 82, phx_field_wall_color(), "wall"), top + 82);
}
