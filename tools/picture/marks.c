/* marks.c: trails, starts, goals and units on the map. */
#include "picture/paint.h"

#include <string.h>

enum { FLAGS_MOST = 64 };

static const PhxDrawColor RIM = 0x22262cff, WHITE = 0xffffffff;

static bool alive(const PhxMarks *marks, uint32_t i) {
    return phx_generation_alive(marks->units.generation[i]);
}

/* Every unit's way twice: a wide pale stroke, which lifts it off the ground, and a narrow one in its player's
 * colour. The fewer units, the stronger the strokes. Units go by slot modulo a stride, so that no player lies
 * over all others. */
void phx_marks_trails(const PhxMarks *marks) {
    cairo_t *cairo = marks->canvas->cairo;
    if (!marks->trails) return;
    const double strength = marks->units.live > 60 ? 0.34 : 0.85;
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    enum { STRIDE = 61 };
    for (uint32_t first = 0; first < STRIDE; first++) {
        for (uint32_t i = first; i < marks->units.used; i += STRIDE) {
            if (!alive(marks, i)) continue;
            cairo_new_path(cairo);
            if (!phx_trails_path(marks->trails, marks->canvas, i)) continue;
            phx_canvas_color(marks->canvas, WHITE, strength * 0.25);
            cairo_set_line_width(cairo, 2.6);
            cairo_stroke_preserve(cairo);
            phx_canvas_color(marks->canvas, phx_draw_player_color(marks->units.player[i]), strength);
            cairo_set_line_width(cairo, 1.15);
            cairo_stroke(cairo);
        }
    }
}

/* A small open ring where each unit began. */
void phx_marks_starts(const PhxMarks *marks) {
    cairo_t *cairo = marks->canvas->cairo;
    PhxVec2 at;
    cairo_set_line_width(cairo, 0.9);
    for (uint32_t i = 0; marks->trails && i < marks->units.used; i++) {
        if (!alive(marks, i) || !phx_trails_start(marks->trails, i, &at)) continue;
        cairo_arc(cairo, phx_canvas_x(marks->canvas, at.x), phx_canvas_y(marks->canvas, at.y), 1.9, 0,
                  6.2832);
        phx_canvas_color(marks->canvas, WHITE, 0.55);
        cairo_fill_preserve(cairo);
        phx_canvas_color(marks->canvas, phx_draw_player_color(marks->units.player[i]), 0.9);
        cairo_stroke(cairo);
    }
}

/* A unit: a dot of its size, but at least 2 pixels, with a white rim and a nose. */
void phx_marks_units(const PhxMarks *marks) {
    cairo_t *cairo = marks->canvas->cairo;
    for (uint32_t i = 0; i < marks->units.used; i++) {
        PhxUnitTypeInfo type;
        if (!alive(marks, i) || !phx_sim_unit_type(marks->sim, marks->units.type[i], &type)) continue;
        const double x = phx_canvas_x(marks->canvas, marks->units.pos_x[i]);
        const double y = phx_canvas_y(marks->canvas, marks->units.pos_y[i]);
        double radius = type.radius / 65536.0 * marks->canvas->scale;
        if (radius < 2.1) radius = 2.1;
        const double cosine = phx_cos(marks->units.heading[i]) / 1073741824.0;
        const double sine = phx_sin(marks->units.heading[i]) / 1073741824.0;
        cairo_arc(cairo, x, y, radius + 0.8, 0, 6.2832);
        phx_canvas_color(marks->canvas, WHITE, 0.9);
        cairo_fill(cairo);
        cairo_arc(cairo, x, y, radius, 0, 6.2832);
        phx_canvas_color(marks->canvas, phx_draw_player_color(marks->units.player[i]), 1);
        cairo_fill(cairo);
        cairo_set_line_width(cairo, radius * 0.45);
        cairo_move_to(cairo, x + cosine * radius * 0.2, y + sine * radius * 0.2);
        cairo_line_to(cairo, x + cosine * radius * 1.7, y + sine * radius * 1.7);
        phx_canvas_color(marks->canvas, RIM, 1);
        cairo_stroke(cairo);
    }
}

/* A place that units were sent to; goals of one player within a few units of each other share a flag. */
typedef struct Flag {
    uint8_t player;
    double x, y; /* pixels: mean of the goals */
    uint32_t units;
} Flag;

static uint32_t gather_flags(const PhxMarks *marks, Flag *flags) {
    uint32_t count = 0;
    PhxVec2 at;
    for (uint32_t i = 0; marks->trails && i < marks->units.used; i++) {
        if (!alive(marks, i) || !phx_trails_goal(marks->trails, i, &at)) continue;
        const double x = phx_canvas_x(marks->canvas, at.x), y = phx_canvas_y(marks->canvas, at.y), near = 28;
        uint32_t f = 0;
        while (f < count && (flags[f].player != marks->units.player[i] || flags[f].x - x > near ||
                             x - flags[f].x > near || flags[f].y - y > near || y - flags[f].y > near))
            f++;
        if (f == FLAGS_MOST) continue;
        if (f == count) flags[count++] = (Flag){.player = marks->units.player[i], .x = x, .y = y};
        flags[f].units++;
        flags[f].x += (x - flags[f].x) / flags[f].units;
        flags[f].y += (y - flags[f].y) / flags[f].units;
    }
    return count;
}

void phx_marks_goals(const PhxMarks *marks) {
    cairo_t *cairo = marks->canvas->cairo;
    Flag flags[FLAGS_MOST];
    const uint32_t count = gather_flags(marks, flags);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    for (uint32_t f = 0; f < count; f++) {
        const double x = flags[f].x, y = flags[f].y;
        cairo_arc(cairo, x, y, 2.4, 0, 6.2832);
        phx_canvas_color(marks->canvas, RIM, 1);
        cairo_fill(cairo);
        cairo_set_line_width(cairo, 2);
        cairo_move_to(cairo, x, y);
        /* The pole stands up, or hangs where the map ends above. */
        const double up = y - 30 > marks->canvas->top ? -1 : 1;
        cairo_line_to(cairo, x, y + 26 * up);
        cairo_stroke(cairo);
        cairo_move_to(cairo, x, y + 26 * up);
        cairo_line_to(cairo, x + 17, y + 20.5 * up);
        cairo_line_to(cairo, x, y + 15 * up);
        cairo_close_path(cairo);
        phx_canvas_color(marks->canvas, phx_draw_player_color(flags[f].player), 1);
        cairo_fill_preserve(cairo);
        phx_canvas_color(marks->canvas, RIM, 1);
        cairo_set_line_width(cairo, 1.2);
        cairo_stroke(cairo);
    }
}

/* Centred at x, with a pale rim that keeps it readable over anything. */
static void write_name(const PhxMarks *marks, double x, double y, const char *name, PhxDrawColor color) {
    cairo_t *cairo = marks->canvas->cairo;
    cairo_text_extents_t size;
    cairo_text_extents(cairo, name, &size);
    /* Wholly on the map. */
    const double least = marks->canvas->left + 6, most = least + marks->width - 12 - size.x_advance;
    x -= size.x_advance / 2;
    cairo_move_to(cairo, x > most ? most : x < least ? least : x, y);
    cairo_text_path(cairo, name);
    phx_canvas_color(marks->canvas, WHITE, 0.88);
    cairo_set_line_width(cairo, 4.5);
    cairo_stroke_preserve(cairo);
    phx_canvas_color(marks->canvas, color, 1);
    cairo_fill(cairo);
}

void phx_marks_names(const PhxMarks *marks) {
    cairo_t *cairo = marks->canvas->cairo;
    PhxPlayerInfo player;
    cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    cairo_set_font_size(cairo, 15);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    for (uint8_t slot = 0; slot < PHX_PLAYER_LIMIT && phx_sim_player(marks->sim, slot, &player); slot++) {
        double x = 0, top = 1e9, low = 0, count = 0;
        PhxVec2 at;
        for (uint32_t i = 0; marks->trails && i < marks->units.used; i++) {
            if (!alive(marks, i) || marks->units.player[i] != slot ||
                !phx_trails_start(marks->trails, i, &at))
                continue;
            const double y = phx_canvas_y(marks->canvas, at.y);
            x += phx_canvas_x(marks->canvas, at.x);
            top = y < top ? y : top, low = y > low ? y : low;
            count++;
        }
        if (count == 0) continue;
        /* Above the block, or below where the map's edge is near. */
        const double y = top - 10 > marks->canvas->top + 14 ? top - 10 : low + 22;
        write_name(marks, x / count, y, player.name, phx_draw_player_color(slot));
    }
}
