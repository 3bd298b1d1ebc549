/* picture.c: composes the picture: the relief, the trails, starts and goals, the units, a frame and a legend.
 *
 * In: a const world, trails, words. Out: a file. The order of painting follows unit slots, so that equal
 * matches give equal pictures on one machine.
 */
#include "picture/output.h"
#include "picture/paint.h"

#include <cairo-svg.h>
#include <inttypes.h>
#include <stdio.h>

/* fontconfig keeps what it parsed until the process ends, which the leak check of AddressSanitizer would
 * report as ours. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PICTURE_LEAK_CHECK
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define PICTURE_LEAK_CHECK
#endif
#ifdef PICTURE_LEAK_CHECK
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfontconfig\n"; }
#endif

enum {
    MARGIN = 22,
    FRAME = 6,
    LEGEND = 104,
    SIZE_DEFAULT = 1160,
    SIZE_LEAST = 64,
    SIZE_MOST = 8192,
    LEGEND_LEAST = 560
};

static const uint32_t PAPER = 0xf8f5ecff, INK = 0x2c2e33ff, FAINT = 0x6d6a62ff;

typedef struct Picture {
    PhxCanvas canvas;
    const PhxSim *sim;
    const PhxTrails *trails;
    const PhxPictureOptions *options;
    PhxUnitView units;
    PhxNavGrid map;
    uint32_t map_width, map_height; /* pixels */
    uint32_t width, height;         /* of the whole */
} Picture;

static void layout(Picture *picture) {
    uint32_t size = picture->options->size ? picture->options->size : SIZE_DEFAULT;
    size = size < SIZE_LEAST ? SIZE_LEAST : size > SIZE_MOST ? SIZE_MOST : size;
    const uint32_t longer =
        picture->map.width > picture->map.height ? picture->map.width : picture->map.height;
    picture->canvas.scale = (double)size / longer;
    picture->map_width = (uint32_t)(picture->map.width * picture->canvas.scale + 0.5);
    picture->map_height = (uint32_t)(picture->map.height * picture->canvas.scale + 0.5);
    if (!picture->map_width) picture->map_width = 1;
    if (!picture->map_height) picture->map_height = 1;
    const uint32_t inner = picture->map_width < LEGEND_LEAST ? LEGEND_LEAST : picture->map_width;
    picture->width = inner + 2 * MARGIN;
    picture->height = picture->map_height + 2 * MARGIN + LEGEND;
    picture->canvas.left = MARGIN + (inner - picture->map_width) / 2;
    picture->canvas.top = MARGIN;
}

static bool alive(const Picture *picture, uint32_t i) {
    return phx_generation_alive(picture->units.generation[i]);
}

static PhxStatus paint_terrain(const Picture *picture) {
    cairo_t *cairo = picture->canvas.cairo;
    cairo_surface_t *surface =
        phx_terrain_paint(picture->sim, picture->options->letters, picture->map_width, picture->map_height);
    if (!surface) return PHX_ERROR_MEMORY;
    cairo_set_source_surface(cairo, surface, picture->canvas.left, picture->canvas.top);
    cairo_paint(cairo);
    cairo_surface_destroy(surface);
    return PHX_OK;
}

static void paint_frame(const Picture *picture) {
    cairo_t *cairo = picture->canvas.cairo;
    const double x = picture->canvas.left, y = picture->canvas.top;
    phx_canvas_color(&picture->canvas, INK, 1);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
    cairo_set_line_width(cairo, 1);
    cairo_rectangle(cairo, x - 0.5, y - 0.5, picture->map_width + 1, picture->map_height + 1);
    cairo_stroke(cairo);
    cairo_set_line_width(cairo, 2);
    cairo_rectangle(cairo, x - FRAME, y - FRAME, picture->map_width + 2 * FRAME,
                    picture->map_height + 2 * FRAME);
    cairo_stroke(cairo);
}

/* 12345 -> "12,345". */
static const char *grouped(uint32_t value, char text[16]) {
    if (value >= 1000000)
        snprintf(text, 16, "%u,%03u,%03u", value / 1000000, value / 1000 % 1000, value % 1000);
    else if (value >= 1000)
        snprintf(text, 16, "%u,%03u", value / 1000, value % 1000);
    else
        snprintf(text, 16, "%u", value);
    return text;
}

static void paint_headline(const Picture *picture, double left, double right, double y) {
    char line[160], number[16];
    const uint32_t tick = phx_sim_tick(picture->sim);
    phx_canvas_font(&picture->canvas, true, 21);
    const double end = phx_canvas_text(&picture->canvas, left, y, INK,
                                       picture->options->title ? picture->options->title : "Phalanx");
    phx_canvas_font(&picture->canvas, false, 13);
    if (picture->options->note) phx_canvas_text(&picture->canvas, end + 14, y, FAINT, picture->options->note);
    const PhxSettings settings = phx_sim_settings(picture->sim);
    snprintf(line, sizeof line, "tick %s  ·  %.1f s at %u Hz", grouped(tick, number),
             (double)tick / settings.tick_rate, settings.tick_rate);
    phx_canvas_text(&picture->canvas, right - phx_canvas_text_width(&picture->canvas, line), y, INK, line);
    snprintf(line, sizeof line, "root %016" PRIx64, phx_sim_root(picture->sim));
    cairo_select_font_face(picture->canvas.cairo, "DejaVu Sans Mono", CAIRO_FONT_SLANT_NORMAL,
                           CAIRO_FONT_WEIGHT_NORMAL);
    phx_canvas_text(&picture->canvas, right - phx_canvas_text_width(&picture->canvas, line), y + 20, FAINT,
                    line);
}

static void paint_players(const Picture *picture, double left, double y) {
    cairo_t *cairo = picture->canvas.cairo;
    PhxPlayerInfo player;
    double x = left;
    for (uint8_t slot = 0; slot < PHX_PLAYER_LIMIT && phx_sim_player(picture->sim, slot, &player); slot++) {
        char line[80], arrived[16], units[16];
        uint32_t count = 0, there = 0;
        for (uint32_t i = 0; i < picture->units.used; i++) {
            if (!alive(picture, i) || picture->units.player[i] != slot) continue;
            count++;
            there += picture->trails && phx_trails_arrived(picture->trails, i);
        }
        if (!picture->trails) there = player.arrived < count ? player.arrived : count;
        phx_canvas_font(&picture->canvas, true, 14);
        if (x + 240 > picture->width - MARGIN) x = left, y += 20;
        cairo_arc(cairo, x + 6, y - 5, 6, 0, 6.2832);
        phx_canvas_color(&picture->canvas, phx_draw_player_color(slot), 1);
        cairo_fill(cairo);
        x = phx_canvas_text(&picture->canvas, x + 18, y, INK, player.name);
        phx_canvas_font(&picture->canvas, false, 14);
        snprintf(line, sizeof line, "%s of %s arrived%s", grouped(there, arrived), grouped(count, units),
                 player.left ? ", left" : "");
        x = phx_canvas_text(&picture->canvas, x + 8, y, INK, line) + 34;
    }
}

static void paint_grounds(const Picture *picture, double left, double y) {
    cairo_t *cairo = picture->canvas.cairo;
    const uint32_t kinds = phx_terrain_kinds(picture->sim, picture->options->letters);
    double x = left;
    phx_canvas_font(&picture->canvas, false, 12);
    for (uint32_t kind = 0; kind < PHX_GROUND_KIND_COUNT; kind++) {
        if (!(kinds >> kind & 1)) continue;
        cairo_rectangle(cairo, x + 0.5, y - 10.5, 18, 12);
        phx_canvas_color(&picture->canvas, phx_terrain_color((PhxGroundKind)kind), 1);
        cairo_fill_preserve(cairo);
        phx_canvas_color(&picture->canvas, FAINT, 1);
        cairo_set_line_width(cairo, 1);
        cairo_stroke(cairo);
        x = phx_canvas_text(&picture->canvas, x + 25, y, FAINT, phx_terrain_name((PhxGroundKind)kind)) + 20;
    }
}

/* Four fields, black and white by turns, of 1, 2 or 5 times a power of ten cells in all, about a sixth of the
 * map. */
static void paint_scale_bar(const Picture *picture, double right, double y) {
    cairo_t *cairo = picture->canvas.cairo;
    uint32_t length = 1;
    for (uint32_t step = 0; length * (step % 3 == 1 ? 5 : 4) / 2 <= picture->map.width / 5; step++)
        length = step % 3 == 1 ? length / 2 * 5 : length * 2;
    const double width = length * picture->canvas.scale, left = right - width;
    char line[32];
    cairo_set_line_width(cairo, 1);
    for (int i = 0; i < 4; i++) {
        cairo_rectangle(cairo, left + i * width / 4, y - 8.5, width / 4, 6);
        phx_canvas_color(&picture->canvas, i % 2 ? PAPER : INK, 1);
        cairo_fill_preserve(cairo);
        phx_canvas_color(&picture->canvas, INK, 1);
        cairo_stroke(cairo);
    }
    phx_canvas_font(&picture->canvas, false, 12);
    snprintf(line, sizeof line, "%u cells", length);
    phx_canvas_text(&picture->canvas, left - phx_canvas_text_width(&picture->canvas, line) - 10, y, FAINT,
                    line);
}

static void paint_legend(const Picture *picture) {
    const double left = MARGIN - FRAME, right = picture->width - MARGIN + FRAME;
    const double top = picture->canvas.top + picture->map_height + FRAME;
    paint_headline(picture, left, right, top + 34);
    paint_players(picture, left, top + 60);
    paint_grounds(picture, left, top + 96);
    paint_scale_bar(picture, right, top + 96);
}

static PhxStatus paint(Picture *picture) {
    cairo_t *cairo = picture->canvas.cairo;
    phx_canvas_color(&picture->canvas, PAPER, 1);
    cairo_paint(cairo);
    const PhxStatus status = paint_terrain(picture);
    if (status) return status;
    cairo_save(cairo);
    cairo_rectangle(cairo, picture->canvas.left, picture->canvas.top, picture->map_width,
                    picture->map_height);
    cairo_clip(cairo);
    const PhxMarks marks = {&picture->canvas, picture->sim, picture->trails, picture->units,
                            picture->map_width};
    const PhxDrawSink sink = phx_canvas_sink(&picture->canvas);
    phx_draw_buildings(picture->sim, &sink);
    phx_marks_trails(&marks);
    phx_marks_starts(&marks);
    phx_marks_units(&marks);
    phx_marks_goals(&marks);
    phx_marks_names(&marks);
    cairo_restore(cairo);
    paint_frame(picture);
    paint_legend(picture);
    return PHX_OK;
}

PhxStatus phx_picture_write_png(const char *path, const PhxSim *sim, const PhxTrails *trails,
                                const PhxPictureOptions *options, PhxError *error) {
    const PhxPictureOptions none = {0};
    Picture picture = {.sim = sim,
                       .trails = trails,
                       .options = options ? options : &none,
                       .units = phx_sim_units(sim),
                       .map = phx_sim_map(sim)};
    PhxPictureOutput output;
    const PhxStatus opened = phx_picture_output_open(&output, path, error);
    if (opened) return opened;
    layout(&picture);
    cairo_surface_t *surface =
        phx_picture_is_svg(path)
            ? cairo_svg_surface_create_for_stream(phx_picture_output_write, &output, picture.width,
                                                  picture.height)
            : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)picture.width, (int)picture.height);
    picture.canvas.cairo = cairo_create(surface);
    const PhxStatus painted = cairo_status(picture.canvas.cairo) ? PHX_OK : paint(&picture);
    cairo_destroy(picture.canvas.cairo);
    return phx_picture_finish(surface, &output, painted, error);
}
