/* cmd_spline.h: what the files of phx spline share: a spline or points read from a text, and written again;
 * the picture of a spline.
 */
#ifndef PHX_CMD_SPLINE_H
#define PHX_CMD_SPLINE_H

#include "phx/cli.h"

#include <phalanx/spline.h>

#include "base/arena.h"

enum { PHX_SPLINE_TEXT_POINTS = 4096 };

/* What a text says: YAML with degree, kind, points and knots, or CSV with a point a line. */
typedef struct PhxSplineText {
    const char *path;
    bool csv;                             /* its name ends in .csv */
    bool has_degree, has_kind, has_space; /* said so; points have a z */
    uint32_t degree;                      /* 3 where it isn't said */
    PhxSplineKind kind;
    uint32_t count, knots; /* knots 0: there are none */
    bool has_knots;
    PhxSplinePoint point[PHX_SPLINE_TEXT_POINTS];
    fix16_t knot[PHX_SPLINE_TEXT_POINTS + PHX_SPLINE_DEGREE_MAX + 1];
} PhxSplineText;

/* A curve made of it. */
typedef struct PhxSplineCurve {
    PhxArena arena;
    PhxSpline spline;
    PhxSplineLengths lengths;
} PhxSplineCurve;

/* What the words of --help say of the file. */
#define PHX_SPLINE_TEXT_ABOUT                                                                                \
    "  degree: 3                   # 1 to 5\n"                                                               \
    "  kind: clamped               # begins and ends in its points; periodic: closed; given: with knots\n"   \
    "  points: [[0, 0], [10, 4]]   # x, y and perhaps z, within 8192\n"                                      \
    "  knots: [0, 0, 1, 1]         # kind given: degree + 1 more than points, never falling\n"

/* cmd_spline_read.c. Each returns PHX_CLI_GO, or a failure that was said, with file, line and remedy. */
int phx_spline_text_read(PhxCli *cli, const char *path, PhxSplineText *text);
/* Makes and measures the curve; phx_spline_curve_end frees it, after a failure too. */
int phx_spline_curve_make(PhxCli *cli, const PhxSplineText *text, PhxSplineCurve *curve);
void phx_spline_curve_end(PhxSplineCurve *curve);
/* The same kind of text, in malloc'ed memory with its length; null: no memory. */
char *phx_spline_text_write(const PhxSplineText *text, size_t *size);
/* To --out, or where that is null to standard output (not with --json). */
int phx_spline_text_out(PhxCli *cli, const char *out, const char *text, size_t size);

/* A curve that was read, with samples at equal lengths. */
typedef struct PhxSplinePicture {
    const PhxSpline *spline;
    uint32_t count; /* samples */
    const PhxSplineSample *samples;
    const uint32_t *pieces; /* of the samples: the left knot of the piece that each lies in */
    const char *title;
} PhxSplinePicture;

/* cmd_spline_picture.c: an SVG file where the path ends in ".svg", else a PNG. Errors: PHX_ERROR_ARGUMENT,
 * PHX_ERROR_IO, PHX_ERROR_MEMORY; each with the path and what is wrong. */
PHX_MUST_USE PhxStatus phx_spline_picture_write(const char *path, const PhxSplinePicture *view,
                                                PhxError *error);

/* cmd_spline_draw.c, cmd_spline_points.c, cmd_spline_sample.c */
int phx_spline_cmd_draw(PhxCli *cli, int argc, const char **argv);
int phx_spline_cmd_resample(PhxCli *cli, int argc, const char **argv);
int phx_spline_cmd_smooth(PhxCli *cli, int argc, const char **argv);
int phx_spline_cmd_sample(PhxCli *cli, int argc, const char **argv);

#endif
