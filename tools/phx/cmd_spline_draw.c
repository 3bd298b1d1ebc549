/* cmd_spline_draw.c: phx spline draw: reads a spline from a YAML text, samples it at equal lengths, and says
 * or draws what came of it.
 */
#include "phx/cmd_spline.h"

#include <phalanx/fixed.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 10000 };

static const PhxCliUsage usage = {
    .synopsis = "FILE",
    .about =
        "Draws the B-spline of a YAML file, or of a CSV file with a point a line (degree "
        "3):\n\n" PHX_SPLINE_TEXT_ABOUT "\n"
        "The curve has a colour a piece, and so have the control points that a piece is the first to need; "
        "thin\n"
        "lines are the control polygon, arrows tangents, and strokes normals, as long as the bend is sharp.\n"
        "Samples lie at equal lengths along the curve.",
    .examples = "  phx spline draw road.yaml --out road.svg\n"
                "  phx spline draw road.yaml --samples 200 --json | jq .samples\n",
    .least = 1,
    .most = 1};

typedef struct Draw {
    PhxCli *cli;
    char *out, *samples;
    uint32_t count; /* samples */
    PhxSplineText text;
    PhxSplineCurve curve;
    PhxSplineSample sample[SAMPLES];
    uint32_t piece[SAMPLES];
} Draw;

static int make(Draw *draw) {
    const int code = phx_spline_curve_make(draw->cli, &draw->text, &draw->curve);
    if (code != PHX_CLI_GO) return code;
    const int64_t length = phx_spline_length(&draw->curve.lengths);
    for (uint32_t i = 0; i < draw->count; i++) {
        const int64_t at = i + 1 == draw->count ? length : length / (draw->count - 1) * i;
        const PhxSplinePlace place = phx_spline_place(&draw->curve.lengths, &draw->curve.spline, at);
        draw->sample[i] = phx_spline_sample_in(&draw->curve.spline, place.piece, place.u);
        draw->piece[i] = place.piece;
    }
    return PHX_CLI_GO;
}

static json_t *point_json(PhxSplinePoint p) {
    return json_pack("[f, f, f]", p.x / 65536.0, p.y / 65536.0, p.z / 65536.0);
}

static json_t *rate_json(PhxSplineRate r) {
    const double one = 1 << 24;
    return json_pack("[f, f, f]", (double)r.x / one, (double)r.y / one, (double)r.z / one);
}

static void tell(Draw *draw) {
    const double length = (double)phx_spline_length(&draw->curve.lengths) / (1 << 24);
    json_t *samples = json_array();
    for (uint32_t i = 0; i < draw->count; i++) {
        const PhxSplineSample *s = &draw->sample[i];
        json_array_append_new(samples, json_pack("{s:o, s:o, s:o, s:f, s:i}", "point", point_json(s->point),
                                                 "first", rate_json(s->first), "second", rate_json(s->second),
                                                 "curvature", phx_spline_curvature(s) / 65536.0, "piece",
                                                 (int)(draw->piece[i] - draw->curve.spline.degree)));
    }
    phx_cli_set(draw->cli, "degree", json_integer(draw->text.degree));
    phx_cli_set(draw->cli, "points", json_integer(draw->text.count));
    phx_cli_set(draw->cli, "pieces", json_integer(draw->curve.spline.count - draw->text.degree));
    phx_cli_set(draw->cli, "length", json_real(length));
    phx_cli_set(draw->cli, "samples", samples);
    phx_cli_print(draw->cli, "degree %u, %u points, %u pieces, %.3f units long\n",
                  (unsigned)draw->text.degree, (unsigned)draw->text.count,
                  (unsigned)(draw->curve.spline.count - draw->text.degree), length);
}

static int run(Draw *draw) {
    uint64_t count = 100;
    int code = PHX_CLI_GO;
    if (draw->samples) code = phx_cli_u64(draw->cli, "--samples", draw->samples, &count);
    if (code == PHX_CLI_GO && (count < 2 || count > SAMPLES))
        code =
            phx_cli_fail(draw->cli, "--samples %s: a number from 2 to %d is wanted", draw->samples, SAMPLES);
    draw->count = (uint32_t)count;
    if (code == PHX_CLI_GO) code = phx_spline_text_read(draw->cli, draw->cli->arguments[0], &draw->text);
    if (code == PHX_CLI_GO && draw->out) code = phx_cli_writable_picture(draw->cli, draw->out);
    if (code == PHX_CLI_GO) code = make(draw);
    if (code != PHX_CLI_GO) return code;
    tell(draw);
    if (draw->out == NULL) return PHX_EXIT_OK;
    const PhxSplinePicture view = {&draw->curve.spline, draw->count, draw->sample, draw->piece,
                                   draw->text.path};
    PhxError error = {0};
    const PhxStatus status = phx_spline_picture_write(draw->out, &view, &error);
    return status == PHX_OK ? PHX_EXIT_OK : phx_cli_fail_status(draw->cli, draw->out, status, &error);
}

int phx_spline_cmd_draw(PhxCli *cli, int argc, const char **argv) {
    Draw *draw = calloc(1, sizeof *draw);
    if (draw == NULL) return phx_cli_fail(cli, "no memory");
    draw->cli = cli;
    const struct poptOption table[] = {
        {"samples", 's', POPT_ARG_STRING, &draw->samples, 0, "at equal lengths, 2 to 10000 (default 100)",
         "N"},
        {"out", 'o', POPT_ARG_STRING, &draw->out, 0, "picture, .svg or .png", "FILE"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO) code = run(draw);
    phx_spline_curve_end(&draw->curve);
    free(draw);
    return code;
}
