/* field.c: measures a picture of a field, has it painted, and writes it. See field.h. */
#include "picture/field.h"

#include "picture/field_paint.h"
#include "picture/output.h"

#include <cairo-svg.h>
#include <math.h>

enum {
    MARGIN = 22,
    FRAME = 6,
    LEGEND = 92,
    LEGEND_LEAST = 620,
    LONG_SIDE = 1160, /* pixels that a map fills if no scale is given */
    SCALE_MOST = 24,
    CONTOURS = 40
};

static const PhxDrawColor PAPER = 0xf8f5ecff, INK = 0x2c2e33ff;

/* The part of the map that is shown, clipped to it. */
static void measure_view(PhxFieldSheet *sheet) {
    const PhxFieldPicture *picture = sheet->picture;
    const uint32_t width = picture->grid.width, height = picture->grid.height;
    const bool whole = picture->view_width == 0 || picture->view_height == 0;
    sheet->left = whole ? 0 : picture->left < width ? picture->left : width - 1;
    sheet->top = whole ? 0 : picture->top < height ? picture->top : height - 1;
    const uint32_t columns = width - sheet->left, rows = height - sheet->top;
    sheet->columns = whole || picture->view_width > columns ? columns : picture->view_width;
    sheet->rows = whole || picture->view_height > rows ? rows : picture->view_height;
}

static bool measure(PhxFieldSheet *sheet) {
    measure_view(sheet);
    const uint32_t longer = sheet->columns > sheet->rows ? sheet->columns : sheet->rows;
    uint32_t scale = sheet->picture->scale;
    if (scale == 0) scale = LONG_SIDE / longer < 1 ? 1 : LONG_SIDE / longer;
    if (sheet->picture->scale == 0 && scale > SCALE_MOST) scale = SCALE_MOST;
    if ((uint64_t)longer * scale > PHX_FIELD_PICTURE_MOST) return false;
    sheet->scale = scale;
    sheet->map_width = sheet->columns * scale;
    sheet->map_height = sheet->rows * scale;
    const uint32_t inner = sheet->map_width < LEGEND_LEAST ? LEGEND_LEAST : sheet->map_width;
    sheet->width = inner + 2 * MARGIN;
    sheet->height = sheet->map_height + 2 * MARGIN + LEGEND;
    const double x = MARGIN + (inner - sheet->map_width) / 2;
    sheet->canvas = (PhxCanvas){.scale = scale};
    sheet->canvas.left = x - (double)sheet->left * scale;
    sheet->canvas.top = MARGIN - (double)sheet->top * scale;
    return true;
}

bool phx_field_picture_size(const PhxFieldPicture *picture, uint32_t *width, uint32_t *height) {
    PhxFieldSheet sheet = {.picture = picture};
    if (!measure(&sheet)) return false;
    *width = sheet.width;
    *height = sheet.height;
    return true;
}

/* The largest value in view, and contours at 1, 2 or 5 times a power of ten cells. */
static void measure_values(PhxFieldSheet *sheet) {
    const PhxFieldPicture *picture = sheet->picture;
    uint64_t most = 0;
    for (uint32_t y = sheet->top; picture->integration && y < sheet->top + sheet->rows; y++)
        for (uint32_t x = sheet->left; x < sheet->left + sheet->columns; x++) {
            const uint64_t value = picture->integration[(size_t)y * picture->grid.width + x];
            if (value != UINT64_MAX && value > most) most = value;
        }
    sheet->step = picture->step ? picture->step : 1;
    sheet->most = (double)most / sheet->step;
    if (sheet->most < 1) sheet->most = 1;
    const double wanted = sheet->most / CONTOURS, power = pow(10, floor(log10(wanted)));
    const double rest = wanted / power;
    sheet->contour = power * (rest > 5 ? 10 : rest > 2 ? 5 : rest > 1 ? 2 : 1);
}

static void paint_frame(const PhxFieldSheet *sheet, double x, double y) {
    cairo_t *cairo = sheet->canvas.cairo;
    phx_canvas_color(&sheet->canvas, INK, 1);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
    cairo_set_line_width(cairo, 1);
    cairo_rectangle(cairo, x - 0.5, y - 0.5, sheet->map_width + 1, sheet->map_height + 1);
    cairo_stroke(cairo);
    cairo_set_line_width(cairo, 2);
    cairo_rectangle(cairo, x - FRAME, y - FRAME, sheet->map_width + 2 * FRAME, sheet->map_height + 2 * FRAME);
    cairo_stroke(cairo);
}

static PhxStatus paint(PhxFieldSheet *sheet) {
    cairo_t *cairo = sheet->canvas.cairo;
    const double x = sheet->canvas.left + (double)sheet->left * sheet->scale, y = MARGIN;
    phx_canvas_color(&sheet->canvas, PAPER, 1);
    cairo_paint(cairo);
    cairo_surface_t *pixels = phx_field_paint_pixels(sheet);
    if (!pixels) return PHX_ERROR_MEMORY;
    cairo_set_source_surface(cairo, pixels, x, y);
    cairo_paint(cairo);
    cairo_surface_destroy(pixels);
    cairo_save(cairo);
    cairo_rectangle(cairo, x, y, sheet->map_width, sheet->map_height);
    cairo_clip(cairo);
    phx_field_paint_marks(sheet);
    cairo_restore(cairo);
    paint_frame(sheet, x, y);
    phx_field_paint_legend(sheet, MARGIN - FRAME, sheet->width - MARGIN + FRAME,
                           MARGIN + sheet->map_height + FRAME);
    return PHX_OK;
}

PhxStatus phx_field_picture_write(const char *path, const PhxFieldPicture *picture, PhxError *error) {
    PhxFieldSheet sheet = {.picture = picture};
    PhxPictureOutput output;
    if (!measure(&sheet))
        return phx_error_set(
            error, PHX_ERROR_LIMIT, 0,
            "%s: the map's part would be more than %d pixels wide or high: take a smaller scale", path,
            PHX_FIELD_PICTURE_MOST);
    measure_values(&sheet);
    const PhxStatus opened = phx_picture_output_open(&output, path, error);
    if (opened) return opened;
    cairo_surface_t *surface =
        phx_picture_is_svg(path)
            ? cairo_svg_surface_create_for_stream(phx_picture_output_write, &output, sheet.width,
                                                  sheet.height)
            : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)sheet.width, (int)sheet.height);
    sheet.canvas.cairo = cairo_create(surface);
    const PhxStatus painted = cairo_status(sheet.canvas.cairo) ? PHX_OK : paint(&sheet);
    cairo_destroy(sheet.canvas.cairo);
    return phx_picture_finish(surface, &output, painted, error);
}
