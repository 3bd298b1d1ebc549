/* cmd_spline.h: what the files of phx spline share: a spline read from a text, and its picture. */
#ifndef PHX_CMD_SPLINE_H
#define PHX_CMD_SPLINE_H

#include "phx/cli.h"

#include <phalanx/spline.h>

/* A curve that was read, with samples at equal lengths. */
typedef struct PhxSplineView {
    const PhxSpline *spline;
    uint32_t count; /* samples */
    const PhxSplineSample *samples;
    const uint32_t *pieces; /* of the samples: the left knot of the piece that each lies in */
    const char *title;
} PhxSplineView;

/* cmd_spline_picture.c: an SVG file where the path ends in ".svg", else a PNG. Errors: PHX_ERROR_ARGUMENT,
 * PHX_ERROR_IO, PHX_ERROR_MEMORY; each with the path and what is wrong. */
PHX_MUST_USE PhxStatus phx_spline_picture_write(const char *path, const PhxSplineView *view, PhxError *error);

/* cmd_spline_draw.c */
int phx_spline_cmd_draw(PhxCli *cli, int argc, const char **argv);

#endif
