/* field.h: pictures of the ground that units walk on and of fields over it: costs, the cost of the way as
 * contours, arrows, what sees a goal, sectors with their portals.
 *
 * In: plain arrays, a value a cell, row by row (as phx_field_build and phx_routes_layers fill them), and what
 * to call the picture. Out: a PNG file, or an SVG file where the path ends in ".svg". Cost: some hundred
 * nanoseconds a pixel. Floating point is used for colours alone and reaches no state.
 */
#ifndef PHX_TOOLS_PICTURE_FIELD_H
#define PHX_TOOLS_PICTURE_FIELD_H

#include <phalanx/routes.h>

typedef enum PhxFieldLayer {
    PHX_FIELD_LAYER_COST,
    PHX_FIELD_LAYER_INTEGRATION,
    PHX_FIELD_LAYER_FLOW,
    PHX_FIELD_LAYER_LOS,
    PHX_FIELD_LAYER_PORTALS,
    PHX_FIELD_LAYER_COUNT
} PhxFieldLayer;

/* A way to draw on top: points in world units. */
typedef struct PhxFieldWay {
    const char *name; /* for the legend */
    const PhxVec2 *points;
    uint32_t count;
    uint32_t color; /* 0xRRGGBBAA */
} PhxFieldWay;

/* What a picture shows. Arrays that a layer doesn't need may be null. */
typedef struct PhxFieldPicture {
    PhxFieldLayer layer;
    PhxNavGrid grid;
    const uint64_t *integration; /* UINT64_MAX: no way. Integration, flow, los */
    const uint8_t *flow;         /* codes. Flow */
    const uint8_t *sight;        /* not 0: sees the goal. Los */
    const PhxDir *direction;     /* at the cells' centres; null: arrows follow the codes. Flow */
    const uint32_t *goals;       /* cells */
    uint32_t goal_count;
    const PhxRoutesPortal *portals;
    uint32_t portal_count;
    const PhxFieldWay *ways;
    uint32_t way_count;
    uint32_t sector;                             /* cells of a sector's side; 0: no borders are drawn */
    uint32_t step;                               /* what a straight step over ground of cost 1 costs */
    uint32_t left, top, view_width, view_height; /* cells to show; a width of 0: all */
    uint32_t scale;                              /* pixels a cell; 0: what suits the size */
    const char *title, *note;                    /* UTF-8; note may be null */
} PhxFieldPicture;

enum { PHX_FIELD_PICTURE_MOST = 16384 /* pixels of a side of the map's part */ };

/* The size of the picture that will be written, in pixels; false if it would be too large: take a smaller
 * scale. */
bool phx_field_picture_size(const PhxFieldPicture *picture, uint32_t *width, uint32_t *height);
/* Writes PATH.part and renames it. Errors: PHX_ERROR_ARGUMENT (the name's ending), PHX_ERROR_LIMIT (too
 * large), PHX_ERROR_MEMORY, PHX_ERROR_IO; each with the path and what is wrong. */
PHX_MUST_USE PhxStatus phx_field_picture_write(const char *path, const PhxFieldPicture *picture,
                                               PhxError *error);

#endif
