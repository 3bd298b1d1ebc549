/* field_marks.c: what stands on a picture of a field: arrows, borders of sectors, portals with the cost of
 * the way from them, ways, goals.
 */
#include "picture/field_paint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { ARROW = 17, TEXT_LEAST = 3, GOALS_MOST = 4096 };

static const PhxDrawColor INK = 0x20242aff, WHITE = 0xffffffff, BORDER = 0x2a6fb0ff, GOAL = 0xd6182eff;

static double pixel_x(const PhxFieldSheet *sheet, double x) { return sheet->canvas.left + x * sheet->scale; }
static double pixel_y(const PhxFieldSheet *sheet, double y) { return sheet->canvas.top + y * sheet->scale; }

/* Arrows. */

static bool arrow_of(const PhxFieldPicture *picture, size_t cell, double *dx, double *dy) {
    const uint8_t code = picture->flow[cell];
    if (code >= 8) return false;
    *dx = phx_flow_dx[code], *dy = phx_flow_dy[code];
    if (picture->direction && (picture->direction[cell].x || picture->direction[cell].y))
        *dx = picture->direction[cell].x, *dy = picture->direction[cell].y;
    const double length = hypot(*dx, *dy);
    *dx /= length, *dy /= length;
    return true;
}

static void add_arrow(cairo_t *cairo, double x, double y, double dx, double dy, double length) {
    const double tip_x = x + dx * length / 2, tip_y = y + dy * length / 2, head = length * 0.36;
    cairo_move_to(cairo, x - dx * length / 2, y - dy * length / 2);
    cairo_line_to(cairo, tip_x, tip_y);
    for (int side = -1; side <= 1; side += 2) {
        cairo_move_to(cairo, tip_x, tip_y);
        cairo_line_to(cairo, tip_x - head * (dx + side * dy * 0.6), tip_y - head * (dy - side * dx * 0.6));
    }
}

/* One arrow for each square of so many cells that there is room for it, from the cell at its middle. */
static void paint_arrows(const PhxFieldSheet *sheet) {
    const PhxFieldPicture *picture = sheet->picture;
    cairo_t *cairo = sheet->canvas.cairo;
    const uint32_t every = (ARROW + sheet->scale - 1) / sheet->scale;
    const double length = 0.78 * every * sheet->scale;
    if (!picture->flow) return;
    for (uint32_t y = sheet->top + every / 2; y < sheet->top + sheet->rows; y += every)
        for (uint32_t x = sheet->left + every / 2; x < sheet->left + sheet->columns; x += every) {
            double dx, dy;
            if (!arrow_of(picture, (size_t)y * picture->grid.width + x, &dx, &dy)) continue;
            add_arrow(cairo, pixel_x(sheet, x + 0.5), pixel_y(sheet, y + 0.5), dx, dy, length);
        }
    phx_canvas_color(&sheet->canvas, INK, 0.85);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_width(cairo, 1.3);
    cairo_stroke(cairo);
}

/* Sectors and portals. */

static void paint_borders(const PhxFieldSheet *sheet) {
    cairo_t *cairo = sheet->canvas.cairo;
    const uint32_t side = sheet->picture->sector;
    const double right = pixel_x(sheet, sheet->left + sheet->columns),
                 low = pixel_y(sheet, sheet->top + sheet->rows);
    if (!side) return;
    for (uint32_t x = (sheet->left / side + 1) * side; x < sheet->left + sheet->columns; x += side) {
        cairo_move_to(cairo, pixel_x(sheet, x), pixel_y(sheet, sheet->top));
        cairo_line_to(cairo, pixel_x(sheet, x), low);
    }
    for (uint32_t y = (sheet->top / side + 1) * side; y < sheet->top + sheet->rows; y += side) {
        cairo_move_to(cairo, pixel_x(sheet, sheet->left), pixel_y(sheet, y));
        cairo_line_to(cairo, right, pixel_y(sheet, y));
    }
    phx_canvas_color(&sheet->canvas, BORDER, 0.6);
    cairo_set_line_width(cairo, 1);
    cairo_stroke(cairo);
}

/* The largest value of a portal, at least 1. */
static double largest_value(const PhxFieldPicture *picture) {
    uint64_t most = 1;
    for (uint32_t i = 0; i < picture->portal_count; i++)
        if (picture->portals[i].cost != UINT64_MAX && picture->portals[i].cost > most)
            most = picture->portals[i].cost;
    return (double)most;
}

static void portal_ends(const PhxFieldSheet *sheet, const PhxRoutesPortal *portal, double ends[4]) {
    const uint32_t width = sheet->picture->grid.width;
    ends[0] = pixel_x(sheet, portal->cell % width + 0.5);
    ends[1] = pixel_y(sheet, portal->cell / width + 0.5);
    ends[2] = pixel_x(sheet, portal->partner % width + 0.5);
    ends[3] = pixel_y(sheet, portal->partner / width + 0.5);
}

/* The value in cells, on the portal's own side of the border. */
static void write_value(const PhxFieldSheet *sheet, const PhxRoutesPortal *portal, const double ends[4]) {
    char text[24];
    if (portal->cost == UINT64_MAX) return;
    snprintf(text, sizeof text, "%.0f", (double)portal->cost / sheet->step);
    const double width = phx_canvas_text_width(&sheet->canvas, text);
    const double x = ends[0] < ends[2]   ? ends[0] - width - sheet->scale
                     : ends[0] > ends[2] ? ends[0] + sheet->scale
                                         : ends[0] - width / 2;
    const double y = ends[1] < ends[3]   ? ends[1] - sheet->scale - 2
                     : ends[1] > ends[3] ? ends[1] + sheet->scale + 9
                                         : ends[1] + 3;
    phx_canvas_text(&sheet->canvas, x, y, INK, text);
}

static void paint_portals(const PhxFieldSheet *sheet) {
    const PhxFieldPicture *picture = sheet->picture;
    cairo_t *cairo = sheet->canvas.cairo;
    const double size = sheet->scale < 4 ? 4 : sheet->scale;
    phx_canvas_font(&sheet->canvas, false, 9);
    const double most = largest_value(picture);
    for (uint32_t i = 0; i < picture->portal_count; i++) {
        const PhxRoutesPortal *portal = &picture->portals[i];
        double ends[4];
        portal_ends(sheet, portal, ends);
        const bool reached = portal->cost != UINT64_MAX;
        const PhxFieldColor color =
            reached ? phx_field_ramp((double)portal->cost / most) : (PhxFieldColor){0.6f, 0.62f, 0.66f};
        cairo_rectangle(cairo, ends[0] - size / 2, ends[1] - size / 2, size, size);
        cairo_set_source_rgb(cairo, (double)color.r, (double)color.g, (double)color.b);
        cairo_fill_preserve(cairo);
        phx_canvas_color(&sheet->canvas, INK, 0.8);
        cairo_set_line_width(cairo, 0.8);
        cairo_stroke(cairo);
        if (sheet->scale >= TEXT_LEAST) write_value(sheet, portal, ends);
    }
}

/* Ways and goals. */

static void paint_way(const PhxFieldSheet *sheet, const PhxFieldWay *way) {
    cairo_t *cairo = sheet->canvas.cairo;
    if (way->count == 0) return;
    cairo_new_path(cairo);
    for (uint32_t i = 0; i < way->count; i++)
        cairo_line_to(cairo, phx_canvas_x(&sheet->canvas, way->points[i].x),
                      phx_canvas_y(&sheet->canvas, way->points[i].y));
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    phx_canvas_color(&sheet->canvas, WHITE, 0.8);
    cairo_set_line_width(cairo, 4.6);
    cairo_stroke_preserve(cairo);
    phx_canvas_color(&sheet->canvas, way->color, 1);
    cairo_set_line_width(cairo, 2.2);
    cairo_stroke(cairo);
    cairo_arc(cairo, phx_canvas_x(&sheet->canvas, way->points[0].x),
              phx_canvas_y(&sheet->canvas, way->points[0].y), 4, 0, 6.2832);
    cairo_fill(cairo);
}

/* A ring with a dot: seen on any ground, at any scale. */
static void paint_goal(const PhxFieldSheet *sheet, uint32_t cell) {
    cairo_t *cairo = sheet->canvas.cairo;
    const uint32_t width = sheet->picture->grid.width;
    const double x = pixel_x(sheet, cell % width + 0.5), y = pixel_y(sheet, cell / width + 0.5);
    cairo_new_path(cairo);
    cairo_arc(cairo, x, y, 7, 0, 6.2832);
    phx_canvas_color(&sheet->canvas, WHITE, 1);
    cairo_set_line_width(cairo, 4.5);
    cairo_stroke_preserve(cairo);
    phx_canvas_color(&sheet->canvas, GOAL, 1);
    cairo_set_line_width(cairo, 2.2);
    cairo_stroke(cairo);
    cairo_arc(cairo, x, y, 2.4, 0, 6.2832);
    cairo_fill(cairo);
}

/* Cells of a goal area: filled. */
static void paint_goals(const PhxFieldSheet *sheet) {
    const PhxFieldPicture *picture = sheet->picture;
    cairo_t *cairo = sheet->canvas.cairo;
    const bool area = picture->goal_count > 64;
    for (uint32_t i = 0; i < picture->goal_count && i < GOALS_MOST; i++) {
        const uint32_t cell = picture->goals[i], width = picture->grid.width;
        cairo_rectangle(cairo, pixel_x(sheet, cell % width), pixel_y(sheet, cell / width), sheet->scale,
                        sheet->scale);
        phx_canvas_color(&sheet->canvas, GOAL, 0.55);
        cairo_fill(cairo);
        if (!area) paint_goal(sheet, cell);
    }
}

void phx_field_paint_marks(const PhxFieldSheet *sheet) {
    const PhxFieldPicture *picture = sheet->picture;
    paint_borders(sheet);
    if (picture->layer == PHX_FIELD_LAYER_FLOW) paint_arrows(sheet);
    if (picture->layer == PHX_FIELD_LAYER_PORTALS) paint_portals(sheet);
    for (uint32_t i = 0; i < picture->way_count; i++) paint_way(sheet, &picture->ways[i]);
    paint_goals(sheet);
}
