/* paint.h: what the files of tools/picture share.
 *
 * A canvas is a cairo context with a map's place on it: world (0, 0) lies at (left, top) pixels, a world unit
 * is `scale` pixels.
 */
#ifndef PHX_TOOLS_PICTURE_PAINT_H
#define PHX_TOOLS_PICTURE_PAINT_H

#include "picture/picture.h"

#include <cairo.h>
#include <phalanx/draw.h>

typedef struct PhxCanvas {
    cairo_t *cairo;
    double left, top, scale; /* pixels, pixels, pixels a world unit */
} PhxCanvas;

/* A sink for phx_draw_*: lines, arrows, polygons and texts go to the canvas at once; cells aren't painted. */
PhxDrawSink phx_canvas_sink(PhxCanvas *canvas);
double phx_canvas_x(const PhxCanvas *canvas, fix16_t x);
double phx_canvas_y(const PhxCanvas *canvas, fix16_t y);
void phx_canvas_color(const PhxCanvas *canvas, PhxDrawColor color, double alpha);
/* Chooses the letters of what is written next; `size` in pixels. */
void phx_canvas_font(const PhxCanvas *canvas, bool bold, double size);
double phx_canvas_text_width(const PhxCanvas *canvas, const char *text);
/* Writes at x, with the baseline at y, and returns where it ends. */
double phx_canvas_text(const PhxCanvas *canvas, double x, double y, PhxDrawColor color, const char *text);

/* Terrain. */
typedef enum PhxGroundKind {
    PHX_GROUND_KIND_PLAIN,
    PHX_GROUND_KIND_SWAMP,
    PHX_GROUND_KIND_WATER,
    PHX_GROUND_KIND_WOODS,
    PHX_GROUND_KIND_ROCK,
    PHX_GROUND_KIND_COUNT
} PhxGroundKind;

/* Which kinds a map has, as a mask of 1 << PhxGroundKind. */
uint32_t phx_terrain_kinds(const PhxSim *sim, const char *letters);
/* A typical colour of a kind, 0xRRGGBBAA. */
PhxDrawColor phx_terrain_color(PhxGroundKind kind);
const char *phx_terrain_name(PhxGroundKind kind);
/* The map as an opaque image of width x height pixels (each >= 1). Null: no memory. */
cairo_surface_t *phx_terrain_paint(const PhxSim *sim, const char *letters, uint32_t width, uint32_t height);

/* Trails: all samples of one unit as lines on the canvas' current path; whether there are any. Breaks where
 * the slot was given to another unit. */
bool phx_trails_path(const PhxTrails *trails, const PhxCanvas *canvas, uint32_t unit);
/* Where a unit was first seen; false if never. */
bool phx_trails_start(const PhxTrails *trails, uint32_t unit, PhxVec2 *out);
/* The goal of the last order that it was seen to follow; false if none. */
bool phx_trails_goal(const PhxTrails *trails, uint32_t unit, PhxVec2 *out);
/* Whether it has reached a goal at least once. */
bool phx_trails_arrived(const PhxTrails *trails, uint32_t unit);

/* marks.c: what stands on the map besides terrain. Order of painting is by slot. */
typedef struct PhxMarks {
    const PhxCanvas *canvas;
    const PhxSim *sim;
    const PhxTrails *trails; /* null: no trails, starts and goals */
    PhxUnitView units;
    double width; /* of the map, pixels */
} PhxMarks;
void phx_marks_trails(const PhxMarks *marks);
void phx_marks_starts(const PhxMarks *marks); /* a ring for each unit */
void phx_marks_units(const PhxMarks *marks);
void phx_marks_goals(const PhxMarks *marks); /* a flag for each place that units were sent to */
void phx_marks_names(const PhxMarks *marks); /* each player's name where its units began */

#endif
