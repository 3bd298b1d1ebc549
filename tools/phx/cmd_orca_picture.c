/* cmd_orca_picture.c: the picture of one unit's choice: at the left the plane of velocities with each
 * half-plane, at the right the place with who is near.
 *
 * In: an explanation and the sim after its tick. Out: an SVG or a PNG. Clipping is in doubles: it paints, and
 * decides nothing. Cost: half-planes times corners.
 */
#include "phx/cmd_orca.h"
#include "picture/output.h"
#include "picture/paint.h"

#include <cairo-svg.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "step/sim_internal.h"

enum {
    MARGIN = 22,
    SIDE = 467,      /* of a panel, pixels: two, and what lies between, fill the width */
    CORNERS = 256,   /* of a polygon: the disc's, and one more for each half-plane */
    DISC = 96,       /* corners that the disc is given */
    LABELS_MOST = 64 /* of a panel */
};

static const PhxDrawColor PAPER = 0xf8f5ecff, INK = 0x2c2e33ff, FAINT = 0x6d6a62ff, WHITE = 0xffffffff;
static const PhxDrawColor OF_UNIT = 0x1f6fc4ff, OF_WALL = 0x8a5a2bff, BROKEN = 0xd6182eff, LEFT = 0x2f8f4eff,
                          LITTLE = 0xe09a1aff, PREFERRED = 0x7a3fb0ff, CHOSEN = 0xd6182eff, NOW = 0x2c2e33ff;

typedef struct Point {
    double x, y;
} Point;

typedef struct Polygon {
    Point at[CORNERS];
    uint32_t count;
} Polygon;

typedef struct Box {
    double x, y, width, height;
} Box;

/* A square with its own scale, in which labels keep off each other. */
typedef struct Panel {
    const PhxOrcaView *view;
    PhxCanvas canvas; /* left, top: where the middle lies */
    double x, y;      /* of the upper left corner, pixels */
    double reach;     /* from the middle to a side, in the panel's units */
    double seconds;   /* what arrows show; of the place alone */
    Box labels[LABELS_MOST];
    uint32_t label_count;
} Panel;

static double real(fix16_t value) { return value / 65536.0; }
static Point point(PhxVec2 v) { return (Point){real(v.x), real(v.y)}; }
static double px(const Panel *panel, double x) { return panel->canvas.left + x * panel->canvas.scale; }
static double py(const Panel *panel, double y) { return panel->canvas.top + y * panel->canvas.scale; }

static Panel panel_of(const PhxOrcaView *view, cairo_t *cairo, double x, double reach) {
    Panel panel = {.view = view, .x = x, .y = MARGIN, .reach = reach};
    panel.canvas = (PhxCanvas){.cairo = cairo, .left = x + SIDE / 2.0, .top = MARGIN + SIDE / 2.0};
    panel.canvas.scale = SIDE / 2.0 / reach;
    return panel;
}

/* A half-plane in doubles: normal . v >= offset. */
typedef struct Half {
    Point normal;
    double offset;
} Half;

static double inside(const Half *half, Point v) {
    return half->normal.x * v.x + half->normal.y * v.y - half->offset;
}

/* Keeps the part of the polygon where the half-plane permits. */
static void clip(Polygon *polygon, const Half *half) {
    Polygon kept = {.count = 0};
    for (uint32_t i = 0; i < polygon->count; i++) {
        const Point from = polygon->at[i], to = polygon->at[(i + 1) % polygon->count];
        const double a = inside(half, from), b = inside(half, to);
        if (a >= 0 && kept.count < CORNERS) kept.at[kept.count++] = from;
        if ((a >= 0) == (b >= 0) || kept.count == CORNERS) continue;
        const double t = a / (a - b);
        kept.at[kept.count++] = (Point){from.x + t * (to.x - from.x), from.y + t * (to.y - from.y)};
    }
    *polygon = kept;
}

static Half half_from(PhxDir normal, fix16_t offset) {
    return (Half){{normal.x / 1073741824.0, normal.y / 1073741824.0}, real(offset)};
}

static Half half_of(const PhxOrcaHalfPlane *line) { return half_from(line->normal, line->offset); }

static Polygon disc(double radius) {
    Polygon polygon = {.count = DISC};
    for (uint32_t i = 0; i < DISC; i++) {
        const double angle = 6.283185307179586 * i / DISC;
        polygon.at[i] = (Point){radius * cos(angle), radius * sin(angle)};
    }
    return polygon;
}

static void path_of(const Panel *panel, const Polygon *polygon) {
    cairo_new_path(panel->canvas.cairo);
    for (uint32_t i = 0; i < polygon->count; i++)
        cairo_line_to(panel->canvas.cairo, px(panel, polygon->at[i].x), py(panel, polygon->at[i].y));
    cairo_close_path(panel->canvas.cairo);
}

/* Labels and marks. */

static bool overlaps(const Box *a, const Box *b) {
    return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
           b->y < a->y + a->height;
}

/* Writes with its middle at (x, y) pixels, if it has room there and in the panel. */
static bool put_label(Panel *panel, double x, double y, PhxDrawColor color, const char *text) {
    const double width = phx_canvas_text_width(&panel->canvas, text);
    const Box box = {x - width / 2 - 2, y - 7, width + 4, 14};
    if (panel->label_count == LABELS_MOST || box.x < panel->x + 1 || box.y < panel->y + 1 ||
        box.x + box.width > panel->x + SIDE - 1 || box.y + box.height > panel->y + SIDE - 1)
        return false;
    for (uint32_t i = 0; i < panel->label_count; i++)
        if (overlaps(&box, &panel->labels[i])) return false;
    panel->labels[panel->label_count++] = box;
    cairo_rectangle(panel->canvas.cairo, box.x, box.y, box.width, box.height);
    phx_canvas_color(&panel->canvas, PAPER, 0.8);
    cairo_fill(panel->canvas.cairo);
    phx_canvas_text(&panel->canvas, x - width / 2, y + 4, color, text);
    return true;
}

/* No label shall lie there. */
static void keep_free(Panel *panel, Point at, double pixels) {
    if (panel->label_count == LABELS_MOST) return;
    panel->labels[panel->label_count++] =
        (Box){px(panel, at.x) - pixels, py(panel, at.y) - pixels, 2 * pixels, 2 * pixels};
}

static void paint_dot(const Panel *panel, Point at, double pixels, PhxDrawColor color, bool filled) {
    cairo_t *cairo = panel->canvas.cairo;
    cairo_new_path(cairo);
    cairo_arc(cairo, px(panel, at.x), py(panel, at.y), pixels, 0, 6.2832);
    phx_canvas_color(&panel->canvas, filled ? color : WHITE, 1);
    cairo_fill_preserve(cairo);
    phx_canvas_color(&panel->canvas, filled ? WHITE : color, 1);
    cairo_set_line_width(cairo, filled ? 1 : 2);
    cairo_stroke(cairo);
}

static void paint_arrow(const Panel *panel, Point from, Point to, PhxDrawColor color, double width) {
    cairo_t *cairo = panel->canvas.cairo;
    const double x = px(panel, to.x), y = py(panel, to.y);
    const double dx = x - px(panel, from.x), dy = y - py(panel, from.y);
    if (hypot(dx, dy) < 2) return;
    const double angle = atan2(dy, dx), head = fmin(8, hypot(dx, dy) / 2);
    phx_canvas_color(&panel->canvas, color, 1);
    cairo_set_line_width(cairo, width);
    cairo_move_to(cairo, x - dx, y - dy);
    cairo_line_to(cairo, x, y);
    for (int side = -1; side <= 1; side += 2) {
        cairo_move_to(cairo, x, y);
        cairo_line_to(cairo, x - head * cos(angle + side * 0.45), y - head * sin(angle + side * 0.45));
    }
    cairo_stroke(cairo);
}

static void begin_panel(const Panel *panel) {
    cairo_t *cairo = panel->canvas.cairo;
    cairo_save(cairo);
    cairo_rectangle(cairo, panel->x, panel->y, SIDE, SIDE);
    cairo_clip(cairo);
    phx_canvas_color(&panel->canvas, WHITE, 1);
    cairo_paint(cairo);
    phx_canvas_font(&panel->canvas, false, 11);
}

static void end_panel(const Panel *panel, const char *caption) {
    cairo_t *cairo = panel->canvas.cairo;
    cairo_restore(cairo);
    phx_canvas_color(&panel->canvas, INK, 1);
    cairo_set_line_width(cairo, 1);
    cairo_rectangle(cairo, panel->x - 0.5, panel->y - 0.5, SIDE + 1, SIDE + 1);
    cairo_stroke(cairo);
    phx_canvas_font(&panel->canvas, false, 11);
    phx_canvas_text(&panel->canvas, panel->x, panel->y - 7, FAINT, caption);
}

/* The plane of velocities. */

static PhxDrawColor color_of(const PhxOrcaHalfPlane *line) {
    return line->source == PHX_ORCA_FROM_WALL ? OF_WALL : OF_UNIT;
}

static void shade(const Panel *panel, const PhxOrcaHalfPlane *line) {
    const double r = 1.5 * panel->reach;
    Polygon forbidden = {.at = {{-r, -r}, {r, -r}, {r, r}, {-r, r}}, .count = 4};
    const Half half = half_of(line);
    const Half other = {{-half.normal.x, -half.normal.y}, -half.offset};
    clip(&forbidden, &other);
    if (forbidden.count < 3) return;
    path_of(panel, &forbidden);
    phx_canvas_color(&panel->canvas, color_of(line), 0.07);
    cairo_fill(panel->canvas.cairo);
}

static void stroke_border(const Panel *panel, const Half *half, PhxDrawColor color, bool strong) {
    cairo_t *cairo = panel->canvas.cairo;
    const double x = half->normal.x * half->offset, y = half->normal.y * half->offset, far = 4 * panel->reach;
    if (fabs(half->offset) > 2 * panel->reach) return;
    cairo_move_to(cairo, px(panel, x - half->normal.y * far), py(panel, y + half->normal.x * far));
    cairo_line_to(cairo, px(panel, x + half->normal.y * far), py(panel, y - half->normal.x * far));
    phx_canvas_color(&panel->canvas, color, strong ? 1 : 0.55);
    cairo_set_line_width(cairo, strong ? 2.2 : 1);
    cairo_stroke(cairo);
}

/* The half-plane's, and dashed that of the contact with its unit. */
static void paint_border(const Panel *panel, uint32_t i) {
    const PhxOrcaExplanation *why = panel->view->why;
    const PhxOrcaHalfPlane *line = &why->line[i];
    const double dashes[] = {7, 4};
    const bool touches = phx_orca_touches(why, i);
    const Half half = half_of(line), contact = half_from(line->contact_normal, line->contact_offset);
    stroke_border(panel, &half, color_of(line), phx_orca_holds(why, i) && !touches);
    if ((line->contact_normal.x | line->contact_normal.y) == 0) return;
    cairo_set_dash(panel->canvas.cairo, dashes, 2, 0);
    stroke_border(panel, &contact, BROKEN, touches);
    cairo_set_dash(panel->canvas.cairo, dashes, 0, 0);
}

/* On the forbidden side of the border, from the point nearest to the middle outwards, where there is room. */
static void label_border(Panel *panel, uint32_t i) {
    const PhxOrcaHalfPlane *line = &panel->view->why->line[i];
    const Half half = half_of(line);
    char name[32], text[48];
    if (fabs(half.offset) > panel->reach) return;
    snprintf(text, sizeof text, "%u: %s", (unsigned)i, phx_orca_source_name(panel->view->why, i, name));
    const PhxDrawColor color = line->violation > PHX_ORCA_BINDS ? BROKEN : color_of(line);
    const double off = 10 + fabs(half.normal.x) * phx_canvas_text_width(&panel->canvas, text) / 2;
    for (int step = 0; step < 40; step++) {
        const double along = panel->reach * (0.62 - 0.045 * (step / 2)) * (step % 2 ? -1 : 1);
        const double x = px(panel, half.normal.x * half.offset - half.normal.y * along) - half.normal.x * off;
        const double y = py(panel, half.normal.y * half.offset + half.normal.x * along) - half.normal.y * off;
        if (put_label(panel, x, y, color, text)) return;
    }
}

/* Takes away what a unit can't reach within the tick, by tangents of the circle around its velocity. */
static void clip_reach(Polygon *polygon, const PhxOrcaExplanation *why) {
    enum { TANGENTS = 48 };
    const Point now = point(why->velocity);
    for (int i = 0; i < TANGENTS && why->change > 0; i++) {
        const double angle = 6.283185307 * i / TANGENTS;
        const Point out = {cos(angle), sin(angle)};
        const Half half = {.normal = {-out.x, -out.y},
                           .offset = -(out.x * now.x + out.y * now.y + real(why->change))};
        clip(polygon, &half);
    }
}

/* What all half-planes permit, moved back by what was allowed where that would be nothing, and contacts. */
static Polygon left_over(const PhxOrcaExplanation *why, double allowed) {
    Polygon polygon = disc(real(why->max_speed));
    clip_reach(&polygon, why);
    for (uint32_t i = 0; i < why->count; i++) {
        const PhxOrcaHalfPlane *line = &why->line[i];
        Half half = half_of(line);
        half.offset -= i < why->walls ? real(why->walls_back) : allowed;
        clip(&polygon, &half);
        if ((line->contact_normal.x | line->contact_normal.y) == 0) continue;
        half = half_from(line->contact_normal, line->contact_offset);
        clip(&polygon, &half);
    }
    return polygon;
}

static void paint_left(const Panel *panel) {
    const PhxOrcaExplanation *why = panel->view->why;
    const bool crowded = (why->flags & PHX_ORCA_CROWDED) != 0;
    const Polygon polygon = left_over(why, crowded ? real(phx_orca_allowed(why)) + 2e-4 : 0);
    if (polygon.count < 3) return;
    path_of(panel, &polygon);
    phx_canvas_color(&panel->canvas, crowded ? LITTLE : LEFT, 0.38);
    cairo_fill_preserve(panel->canvas.cairo);
    phx_canvas_color(&panel->canvas, crowded ? LITTLE : LEFT, 1);
    cairo_set_line_width(panel->canvas.cairo, 1.2);
    cairo_stroke(panel->canvas.cairo);
}

static void paint_axes(const Panel *panel) {
    cairo_t *cairo = panel->canvas.cairo;
    cairo_move_to(cairo, panel->x, panel->canvas.top);
    cairo_line_to(cairo, panel->x + SIDE, panel->canvas.top);
    cairo_move_to(cairo, panel->canvas.left, panel->y);
    cairo_line_to(cairo, panel->canvas.left, panel->y + SIDE);
    phx_canvas_color(&panel->canvas, FAINT, 0.35);
    cairo_set_line_width(cairo, 1);
    cairo_stroke(cairo);
    cairo_arc(cairo, panel->canvas.left, panel->canvas.top,
              real(panel->view->why->max_speed) * panel->canvas.scale, 0, 6.2832);
    phx_canvas_color(&panel->canvas, INK, 1);
    cairo_set_line_width(cairo, 1.2);
    cairo_stroke(cairo);
    if (panel->view->why->change == 0) return;
    const Point now = point(panel->view->why->velocity);
    cairo_arc(cairo, px(panel, now.x), py(panel, now.y), real(panel->view->why->change) * panel->canvas.scale,
              0, 6.2832);
    phx_canvas_color(&panel->canvas, INK, 0.5);
    cairo_stroke(cairo);
}

static void paint_velocities(Panel *panel) {
    const PhxOrcaExplanation *why = panel->view->why;
    const Point now = point(why->velocity), wish = point(why->preferred), chosen = point(why->chosen);
    begin_panel(panel);
    for (uint32_t i = 0; i < why->count; i++) shade(panel, &why->line[i]);
    paint_left(panel);
    paint_axes(panel);
    for (uint32_t i = 0; i < why->count; i++) paint_border(panel, i);
    cairo_move_to(panel->canvas.cairo, px(panel, wish.x), py(panel, wish.y));
    cairo_line_to(panel->canvas.cairo, px(panel, chosen.x), py(panel, chosen.y));
    const double dashes[] = {4, 3};
    cairo_set_dash(panel->canvas.cairo, dashes, 2, 0);
    phx_canvas_color(&panel->canvas, INK, 0.8);
    cairo_set_line_width(panel->canvas.cairo, 1.2);
    cairo_stroke(panel->canvas.cairo);
    cairo_set_dash(panel->canvas.cairo, dashes, 0, 0);
    keep_free(panel, now, 9), keep_free(panel, wish, 8), keep_free(panel, chosen, 8);
    for (uint32_t i = 0; i < why->count; i++) /* first those that hold the velocity */
        if (phx_orca_holds(why, i)) label_border(panel, i);
    for (uint32_t i = 0; i < why->count; i++)
        if (!phx_orca_holds(why, i)) label_border(panel, i);
    paint_dot(panel, now, 8.5, NOW, false); /* one in another where they are equal */
    paint_dot(panel, wish, 6.5, PREFERRED, true);
    paint_dot(panel, chosen, 4, CHOSEN, true);
    char caption[120];
    snprintf(caption, sizeof caption, "velocity; circles: the highest speed, %.3f; what it can reach",
             real(why->max_speed));
    end_panel(panel, caption);
}

/* The place. */

static Point beside(const Panel *panel, PhxVec2 at) {
    const Point middle = point(panel->view->why->position), p = point(at);
    return (Point){p.x - middle.x, p.y - middle.y};
}

static void paint_ground(const Panel *panel) {
    const PhxOrcaExplanation *why = panel->view->why;
    const PhxNavGrid grid = phx_barriers_grid(panel->view->sim, why->slot);
    const Point middle = point(why->position);
    const int32_t first_x = (int32_t)floor(middle.x - panel->reach),
                  last_x = (int32_t)floor(middle.x + panel->reach);
    const int32_t first_y = (int32_t)floor(middle.y - panel->reach),
                  last_y = (int32_t)floor(middle.y + panel->reach);
    cairo_new_path(panel->canvas.cairo);
    for (int32_t y = first_y; y <= last_y; y++)
        for (int32_t x = first_x; x <= last_x; x++) {
            if (phx_nav_passable(&grid, x, y)) continue;
            cairo_rectangle(panel->canvas.cairo, px(panel, x - middle.x), py(panel, y - middle.y),
                            panel->canvas.scale, panel->canvas.scale);
        }
    phx_canvas_color(&panel->canvas, 0xcdc4b0ff, 1);
    cairo_fill(panel->canvas.cairo);
}

static void paint_walls(Panel *panel) {
    const PhxOrcaExplanation *why = panel->view->why;
    for (uint32_t i = 0; i < why->walls; i++) {
        const PhxOrcaHalfPlane *line = &why->line[i];
        const Point from = beside(panel, line->start), to = beside(panel, line->end);
        cairo_move_to(panel->canvas.cairo, px(panel, from.x), py(panel, from.y));
        cairo_line_to(panel->canvas.cairo, px(panel, to.x), py(panel, to.y));
        phx_canvas_color(&panel->canvas, OF_WALL, 1);
        cairo_set_line_width(panel->canvas.cairo, phx_orca_holds(why, i) ? 3.5 : 2);
        cairo_stroke(panel->canvas.cairo);
    }
}

static void label_walls(Panel *panel) {
    const PhxOrcaExplanation *why = panel->view->why;
    char name[32];
    for (uint32_t i = 0; i < why->walls; i++) {
        const Point from = beside(panel, why->line[i].start), to = beside(panel, why->line[i].end);
        const double dx = to.x - from.x, dy = to.y - from.y;
        double t = -(from.x * dx + from.y * dy) / (dx * dx + dy * dy); /* the nearest point */
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        for (int step = 0; step < 20; step++) {
            const double at = t + (step % 2 ? -1 : 1) * (step / 2) * 0.1;
            if (at < 0 || at > 1) continue;
            if (put_label(panel, px(panel, from.x + at * dx), py(panel, from.y + at * dy), OF_WALL,
                          phx_orca_source_name(why, i, name)))
                break;
        }
    }
}

static void paint_body(const Panel *panel, Point at, double radius, PhxDrawColor fill, double alpha,
                       PhxDrawColor rim, double width) {
    cairo_t *cairo = panel->canvas.cairo;
    cairo_new_path(cairo);
    cairo_arc(cairo, px(panel, at.x), py(panel, at.y), radius * panel->canvas.scale, 0, 6.2832);
    phx_canvas_color(&panel->canvas, fill, alpha);
    cairo_fill_preserve(cairo);
    phx_canvas_color(&panel->canvas, rim, 1);
    cairo_set_line_width(cairo, width);
    cairo_stroke(cairo);
}

/* The rim that a unit keeps from others, where it is wider than its body. */
static void paint_shell(const Panel *panel, Point at, fix16_t radius, fix16_t avoid) {
    cairo_t *cairo = panel->canvas.cairo;
    const double dots[] = {1.5, 3};
    if (avoid <= radius) return;
    cairo_new_path(cairo);
    cairo_arc(cairo, px(panel, at.x), py(panel, at.y), real(avoid) * panel->canvas.scale, 0, 6.2832);
    cairo_set_dash(cairo, dots, 2, 0);
    phx_canvas_color(&panel->canvas, FAINT, 0.8);
    cairo_set_line_width(cairo, 1);
    cairo_stroke(cairo);
    cairo_set_dash(cairo, dots, 0, 0);
}

static PhxDrawColor player_color(const Panel *panel, uint32_t slot) {
    const PhxUnitView units = phx_sim_units(panel->view->sim);
    return phx_draw_player_color(slot < units.used ? units.player[slot] : 0);
}

/* Units that are no neighbours, where they stood before the tick: pale. */
static void paint_others(const Panel *panel) {
    const PhxUnitView units = phx_sim_units(panel->view->sim);
    for (uint32_t i = 0; i < units.used; i++) {
        PhxUnitTypeInfo type;
        if (!phx_generation_alive(units.generation[i]) || i == panel->view->why->slot ||
            !phx_sim_unit_type(panel->view->sim, units.type[i], &type))
            continue;
        const Point at = beside(panel, phx_vec2(units.prev_x[i], units.prev_y[i]));
        const double far = panel->reach + real(type.radius);
        if (fabs(at.x) > far || fabs(at.y) > far) continue;
        paint_body(panel, at, real(type.radius), player_color(panel, i), 0.12, 0xbdb8adff, 0.8);
    }
}

static double place_reach(const PhxOrcaExplanation *why) {
    double reach = 5 * real(why->radius);
    for (uint32_t i = 0; i < why->count; i++)
        reach = fmax(reach, real(why->line[i].distance) + real(why->line[i].radius));
    return 1.06 * reach + 0.2;
}

/* So many that the fastest arrow stays in the picture: 1, 0.5, 0.2, 0.1 ... */
static double arrow_seconds(double reach, double speed) {
    double seconds = 1;
    for (int step = 0; step < 12 && seconds * speed > 0.7 * reach; step++)
        seconds *= step % 3 == 1 ? 0.4 : 0.5;
    return seconds;
}

static void paint_way(const Panel *panel, Point from, PhxVec2 velocity, PhxDrawColor color, double width) {
    const Point v = point(velocity);
    paint_arrow(panel, from, (Point){from.x + v.x * panel->seconds, from.y + v.y * panel->seconds}, color,
                width);
}

static void paint_neighbours(Panel *panel) {
    const PhxOrcaExplanation *why = panel->view->why;
    char name[16];
    for (uint32_t i = why->walls; i < why->count; i++) {
        const PhxOrcaHalfPlane *line = &why->line[i];
        const bool binds = phx_orca_holds(why, i);
        paint_body(panel, beside(panel, line->position), real(line->radius), player_color(panel, line->slot),
                   0.45, line->overlaps ? BROKEN : INK, binds ? 2.4 : 1);
        paint_shell(panel, beside(panel, line->position), line->radius, line->avoid);
    }
    for (uint32_t i = why->walls; i < why->count; i++) {
        const PhxOrcaHalfPlane *line = &why->line[i];
        paint_way(panel, beside(panel, line->position), line->velocity, NOW, 1.2);
    }
    for (uint32_t i = why->walls; i < why->count; i++) {
        const PhxOrcaHalfPlane *line = &why->line[i];
        const Point at = beside(panel, line->position);
        const double below = fmin(real(line->radius) * panel->canvas.scale * 0.5, 9);
        snprintf(name, sizeof name, "%u", (unsigned)line->slot);
        if (!put_label(panel, px(panel, at.x), py(panel, at.y) + below, INK, name))
            (void)put_label(panel, px(panel, at.x), py(panel, at.y) - below, INK, name);
    }
}

static void paint_place(Panel *panel) {
    const PhxOrcaExplanation *why = panel->view->why;
    const Point here = {0, 0};
    begin_panel(panel);
    paint_ground(panel);
    paint_others(panel);
    paint_walls(panel);
    paint_body(panel, here, real(why->radius), player_color(panel, why->slot), 0.9, INK, 2);
    paint_shell(panel, here, why->radius, why->avoid);
    keep_free(panel, here, fmax(4, real(why->radius) * panel->canvas.scale));
    paint_neighbours(panel);
    label_walls(panel);
    paint_way(panel, here, why->velocity, NOW, 2);
    paint_way(panel, here, why->preferred, PREFERRED, 2);
    paint_way(panel, here, why->chosen, CHOSEN, 2.6);
    char caption[120];
    snprintf(caption, sizeof caption, "the place, %.2f units wide; arrows: the way of %g s", 2 * panel->reach,
             panel->seconds);
    end_panel(panel, caption);
}

/* The whole. */

static double key_dot(const Panel *panel, double x, double y, PhxDrawColor color, bool filled,
                      const char *text) {
    Panel flat = *panel;
    flat.canvas.left = flat.canvas.top = 0, flat.canvas.scale = 1;
    paint_dot(&flat, (Point){x + 6, y - 4}, 5, color, filled);
    return phx_canvas_text(&panel->canvas, x + 17, y, FAINT, text) + 16;
}

static double key_field(const Panel *panel, double x, double y, PhxDrawColor color, double alpha,
                        const char *text) {
    cairo_t *cairo = panel->canvas.cairo;
    cairo_rectangle(cairo, x + 0.5, y - 10.5, 16, 12);
    phx_canvas_color(&panel->canvas, WHITE, 1);
    cairo_fill_preserve(cairo);
    phx_canvas_color(&panel->canvas, color, alpha);
    cairo_fill_preserve(cairo);
    phx_canvas_color(&panel->canvas, color, 1);
    cairo_set_line_width(cairo, 1);
    cairo_stroke(cairo);
    return phx_canvas_text(&panel->canvas, x + 22, y, FAINT, text) + 16;
}

static void paint_legend(const Panel *panel) {
    const PhxOrcaView *view = panel->view;
    const PhxOrcaExplanation *why = view->why;
    const bool crowded = (why->flags & PHX_ORCA_CROWDED) != 0;
    const double top = MARGIN + SIDE;
    char line[160];
    phx_canvas_font(&panel->canvas, true, 19);
    phx_canvas_text(&panel->canvas, MARGIN, top + 30, INK, view->title);
    phx_canvas_font(&panel->canvas, false, 13);
    phx_canvas_text(&panel->canvas, MARGIN, top + 52, INK, view->note);
    int at = snprintf(line, sizeof line, "fallback: %s", phx_orca_fallback_name(why->flags));
    if (crowded)
        snprintf(line + at, sizeof line - (size_t)at, ", largest violation %.3f", real(why->violation));
    const double width = phx_canvas_text_width(&panel->canvas, line);
    phx_canvas_text(&panel->canvas, PHX_ORCA_PICTURE_WIDTH - MARGIN - width, top + 30, INK, line);
    phx_canvas_font(&panel->canvas, false, 12);
    double x = key_dot(panel, MARGIN, top + 80, NOW, false, "velocity before");
    x = key_dot(panel, x, top + 80, PREFERRED, true, "preferred");
    x = key_dot(panel, x, top + 80, CHOSEN, true, "chosen");
    x = key_field(panel, x, top + 80, crowded ? LITTLE : LEFT, 0.38,
                  crowded ? "violated little enough" : "permitted by all");
    x = key_field(panel, x, top + 80, OF_UNIT, 0.15, "forbidden by a unit");
    x = key_field(panel, x, top + 80, OF_WALL, 0.15, "by a wall");
    (void)phx_canvas_text(&panel->canvas, x, top + 80, FAINT,
                          crowded ? "bold: holds it; dashed: contact" : "bold: holds it; red rim: overlap");
}

static void paint(const PhxOrcaView *view, cairo_t *cairo) {
    const PhxOrcaExplanation *why = view->why;
    const double speeds = fmax(hypot(real(why->preferred.x), real(why->preferred.y)),
                               hypot(real(why->velocity.x), real(why->velocity.y)));
    const double fastest = fmax(fmax(real(why->max_speed), fmin(speeds, 2 * real(why->max_speed))), 0.05);
    Panel left = panel_of(view, cairo, MARGIN, 1.15 * fastest);
    Panel right = panel_of(view, cairo, PHX_ORCA_PICTURE_WIDTH - MARGIN - SIDE, place_reach(why));
    right.seconds = arrow_seconds(right.reach, real(why->max_speed));
    phx_canvas_color(&left.canvas, PAPER, 1);
    cairo_paint(cairo);
    paint_velocities(&left);
    paint_place(&right);
    paint_legend(&left);
}

PhxStatus phx_orca_picture_write(const char *path, const PhxOrcaView *view, PhxError *error) {
    PhxPictureOutput output;
    const PhxStatus opened = phx_picture_output_open(&output, path, error);
    if (opened) return opened;
    cairo_surface_t *surface =
        phx_picture_is_svg(path)
            ? cairo_svg_surface_create_for_stream(phx_picture_output_write, &output, PHX_ORCA_PICTURE_WIDTH,
                                                  PHX_ORCA_PICTURE_HEIGHT)
            : cairo_image_surface_create(CAIRO_FORMAT_RGB24, PHX_ORCA_PICTURE_WIDTH, PHX_ORCA_PICTURE_HEIGHT);
    cairo_t *cairo = cairo_create(surface);
    if (!cairo_status(cairo)) paint(view, cairo);
    cairo_destroy(cairo);
    return phx_picture_finish(surface, &output, PHX_OK, error);
}
