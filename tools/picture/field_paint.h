/* field_paint.h: what the files that paint fields share: the picture's measures, colours, and its three
 * layers of paint.
 */
#ifndef PHX_TOOLS_PICTURE_FIELD_PAINT_H
#define PHX_TOOLS_PICTURE_FIELD_PAINT_H

#include "picture/field.h"
#include "picture/paint.h"

/* A picture with its measures. World position (x, y) lies at ((x - left) * scale, (y - top) * scale) pixels
 * of the map's part. */
typedef struct PhxFieldSheet {
    const PhxFieldPicture *picture;
    PhxCanvas canvas;
    uint32_t left, top, columns, rows; /* cells shown */
    uint32_t scale;                    /* pixels a cell */
    uint32_t map_width, map_height;    /* pixels */
    uint32_t width, height;            /* of the whole */
    double step;                       /* cost of a cell of cost 1 */
    double most;                       /* largest cost of a way within view, in such cells */
    double contour;                    /* such cells from one contour to the next */
} PhxFieldSheet;

typedef struct PhxFieldColor {
    float r, g, b; /* 0..1 */
} PhxFieldColor;

/* Colours of the legend and of the ground. `t` is 0..1. */
PhxFieldColor phx_field_ramp(double t);             /* cost of the way: pale, red, violet, nearly black */
PhxFieldColor phx_field_cost_color(uint8_t cost);   /* of passable ground, in the picture of costs */
PhxFieldColor phx_field_ground_color(uint8_t cost); /* the same, pale, below other things */
PhxFieldColor phx_field_hue(double angle);          /* a direction, radians from +x towards +y */
PhxFieldColor phx_field_wall_color(void);

/* field_pixels.c: the ground with its layer as an opaque image of map_width x map_height pixels. Null: no
 * memory. */
cairo_surface_t *phx_field_paint_pixels(const PhxFieldSheet *sheet);
/* field_marks.c: arrows, borders, portals, ways, goals; on the sheet's canvas. */
void phx_field_paint_marks(const PhxFieldSheet *sheet);
/* field_legend.c: title, note, what the colours mean. `top`: pixels. */
void phx_field_paint_legend(const PhxFieldSheet *sheet, double left, double right, double top);

/* Whether a way leads from a cell. */
static inline bool phx_field_reached(const PhxFieldPicture *picture, size_t cell) {
    return picture->integration != NULL && picture->integration[cell] != UINT64_MAX;
}

#endif
