/* cmd_spline_draw.c: phx spline draw: reads a spline from a YAML text, samples it at equal lengths, and says
 * or draws what came of it.
 */
#include "phx/cmd_spline.h"

#include <phalanx/fixed.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "content/yaml_tree.h"

enum { POINTS = 4096, SAMPLES = 10000 };

static const PhxCliUsage usage = {
    .synopsis = "FILE",
    .about =
        "Draws the B-spline of a YAML file:\n\n"
        "  degree: 3                   # 1 to 5\n"
        "  kind: clamped               # begins and ends in its points; periodic: closed; given: with knots\n"
        "  points: [[0, 0], [10, 4]]   # degree + 1 or more, x, y and perhaps z, within 8192\n"
        "  knots: [0, 0, 1, 1]         # kind given: degree + 1 more than points, never falling\n\n"
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
    const char *path;
    char *out, *samples;
    uint32_t count; /* samples */
    PhxYamlTree *tree;
    uint32_t degree, points, knots;
    PhxSplineKind kind;
    bool has_knots;
    PhxSplinePoint point[POINTS];
    fix16_t knot[POINTS + PHX_SPLINE_DEGREE_MAX + 1];
    PhxArena arena;
    PhxSpline spline;
    PhxSplineLengths lengths;
    PhxSplineSample sample[SAMPLES];
    uint32_t piece[SAMPLES];
} Draw;

static int fail_at(Draw *draw, const PhxYamlNode *node, const char *what) {
    return phx_cli_fail(draw->cli, "%s:%u:%u: %s%s%s", draw->path, (unsigned)node->line,
                        (unsigned)node->column, node->kind == PHX_YAML_SCALAR ? node->text : "",
                        node->kind == PHX_YAML_SCALAR ? ": " : "", what);
}

static const PhxYamlNode *child_of(const Draw *draw, uint32_t i) {
    return i == PHX_YAML_NONE ? NULL : &draw->tree->nodes[i];
}

static int read_number(Draw *draw, const PhxYamlNode *node, fix16_t *out) {
    const fix16_t most = PHX_SPLINE_COORDINATE_MAX * PHX_FIX_ONE;
    if (node->kind != PHX_YAML_SCALAR || phx_fix_parse(node->text, node->length, out) != PHX_OK ||
        *out < -most || *out > most)
        return fail_at(draw, node, "a number from -8192 to 8192 is wanted");
    return PHX_CLI_GO;
}

static int read_point(Draw *draw, const PhxYamlNode *node) {
    if (node->kind != PHX_YAML_SEQUENCE || node->count < 2 || node->count > 3)
        return fail_at(draw, node, "a point is [x, y] or [x, y, z]");
    if (draw->points == POINTS) return fail_at(draw, node, "a spline here has at most 4096 points");
    PhxSplinePoint *p = &draw->point[draw->points++];
    fix16_t *parts[3] = {&p->x, &p->y, &p->z};
    int code = PHX_CLI_GO, k = 0;
    for (const PhxYamlNode *n = child_of(draw, node->first); n && code == PHX_CLI_GO;
         n = child_of(draw, n->next))
        code = read_number(draw, n, parts[k++]);
    return code;
}

static int read_points(Draw *draw, const PhxYamlNode *node) {
    int code =
        node->kind == PHX_YAML_SEQUENCE ? PHX_CLI_GO : fail_at(draw, node, "a list of points is wanted");
    for (const PhxYamlNode *n = child_of(draw, node->first); n && code == PHX_CLI_GO;
         n = child_of(draw, n->next))
        code = read_point(draw, n);
    return code;
}

static int read_knots(Draw *draw, const PhxYamlNode *node) {
    int code =
        node->kind == PHX_YAML_SEQUENCE ? PHX_CLI_GO : fail_at(draw, node, "a list of numbers is wanted");
    draw->has_knots = true;
    for (const PhxYamlNode *n = child_of(draw, node->first); n && code == PHX_CLI_GO;
         n = child_of(draw, n->next)) {
        if (draw->knots == POINTS + PHX_SPLINE_DEGREE_MAX + 1) return fail_at(draw, n, "too many knots");
        code = read_number(draw, n, &draw->knot[draw->knots++]);
        if (code == PHX_CLI_GO && draw->knots > 1 &&
            draw->knot[draw->knots - 1] < draw->knot[draw->knots - 2])
            code = fail_at(draw, n,
                           "knots don't fall; a number as large as the one before, or larger, is wanted");
    }
    return code;
}

static int read_kind(Draw *draw, const PhxYamlNode *node) {
    static const char *const kinds[] = {"clamped", "periodic", "given"};
    for (uint32_t k = 0; k < 3; k++)
        if (node->kind == PHX_YAML_SCALAR && !strcmp(node->text, kinds[k])) {
            draw->kind = (PhxSplineKind)k;
            return PHX_CLI_GO;
        }
    return fail_at(draw, node, "clamped, periodic or given is wanted");
}

static int read_degree(Draw *draw, const PhxYamlNode *node) {
    if (node->kind != PHX_YAML_SCALAR || node->length != 1 || node->text[0] < '1' || node->text[0] > '5')
        return fail_at(draw, node, "a degree from 1 to 5 is wanted");
    draw->degree = (uint32_t)(node->text[0] - '0');
    return PHX_CLI_GO;
}

static int read_key(Draw *draw, const PhxYamlNode *node) {
    if (!strcmp(node->key, "degree")) return read_degree(draw, node);
    if (!strcmp(node->key, "kind")) return read_kind(draw, node);
    if (!strcmp(node->key, "points")) return read_points(draw, node);
    if (!strcmp(node->key, "knots")) return read_knots(draw, node);
    return phx_cli_fail(draw->cli, "%s:%u:%u: %s: degree, kind, points or knots is wanted", draw->path,
                        (unsigned)node->key_line, (unsigned)node->key_column, node->key);
}

static int read_file(Draw *draw) {
    void *bytes;
    size_t size;
    PhxYamlError error = {0};
    int code = phx_cli_load(draw->cli, draw->path, PHX_YAML_SIZE_LIMIT, &bytes, &size);
    if (code != PHX_CLI_GO) return code;
    const PhxStatus status = phx_yaml_parse(draw->path, bytes, size, &draw->tree, &error);
    free(bytes);
    if (status != PHX_OK) return phx_cli_fail(draw->cli, "%s", error.text);
    draw->degree = 3;
    for (const PhxYamlNode *n = child_of(draw, draw->tree->nodes[0].first); n && code == PHX_CLI_GO;
         n = child_of(draw, n->next))
        code = read_key(draw, n);
    return code;
}

/* What no line alone is wrong about. */
static int check(Draw *draw) {
    const unsigned points = draw->points, degree = draw->degree;
    if (points < degree + 1)
        return phx_cli_fail(draw->cli, "%s: has %u points; degree %u needs %u or more", draw->path, points,
                            degree, degree + 1);
    if (draw->kind == PHX_SPLINE_GIVEN && draw->knots != points + degree + 1)
        return phx_cli_fail(draw->cli, "%s: has %u knots; %u points of degree %u need %u", draw->path,
                            (unsigned)draw->knots, points, degree, points + degree + 1);
    if (draw->kind != PHX_SPLINE_GIVEN && draw->has_knots)
        return phx_cli_fail(draw->cli, "%s: knots are for kind: given; take them out, or say so", draw->path);
    return PHX_CLI_GO;
}

static int make(Draw *draw) {
    for (int pass = 0; pass < 2; pass++) {
        draw->arena = pass == 0 ? phx_arena_measure() : draw->arena;
        phx_spline_layout(&draw->spline, &draw->arena, draw->points, PHX_SPLINE_DEGREE_MAX);
        phx_spline_lengths_layout(&draw->lengths, &draw->arena, &draw->spline);
        if (pass == 1) break;
        const PhxStatus status = phx_arena_create(&draw->arena, phx_allocator_default(), draw->arena.used);
        if (status != PHX_OK) return phx_cli_fail_status(draw->cli, "spline", status, NULL);
    }
    const PhxStatus status = phx_spline_set(&draw->spline, draw->kind, draw->degree, draw->point,
                                            draw->points, draw->has_knots ? draw->knot : NULL);
    if (status != PHX_OK)
        return phx_cli_fail(
            draw->cli,
            "%s: a knot is there too often (at most degree + 1 times at an end, degree times inside), or all "
            "knots between the ends are one; move some apart",
            draw->path);
    phx_spline_measure(&draw->lengths, &draw->spline);
    const int64_t length = phx_spline_length(&draw->lengths);
    for (uint32_t i = 0; i < draw->count; i++) {
        const int64_t at = i + 1 == draw->count ? length : length / (draw->count - 1) * i;
        const PhxSplinePlace place = phx_spline_place(&draw->lengths, &draw->spline, at);
        draw->sample[i] = phx_spline_sample_in(&draw->spline, place.piece, place.u);
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
    const double length = (double)phx_spline_length(&draw->lengths) / (1 << 24);
    json_t *samples = json_array();
    for (uint32_t i = 0; i < draw->count; i++) {
        const PhxSplineSample *s = &draw->sample[i];
        json_array_append_new(samples, json_pack("{s:o, s:o, s:o, s:f, s:i}", "point", point_json(s->point),
                                                 "first", rate_json(s->first), "second", rate_json(s->second),
                                                 "curvature", phx_spline_curvature(s) / 65536.0, "piece",
                                                 (int)(draw->piece[i] - draw->spline.degree)));
    }
    phx_cli_set(draw->cli, "degree", json_integer(draw->degree));
    phx_cli_set(draw->cli, "points", json_integer(draw->points));
    phx_cli_set(draw->cli, "pieces", json_integer(draw->spline.count - draw->degree));
    phx_cli_set(draw->cli, "length", json_real(length));
    phx_cli_set(draw->cli, "samples", samples);
    phx_cli_print(draw->cli, "degree %u, %u points, %u pieces, %.3f units long\n", (unsigned)draw->degree,
                  (unsigned)draw->points, (unsigned)(draw->spline.count - draw->degree), length);
}

static int run(Draw *draw) {
    uint64_t count = 100;
    int code = PHX_CLI_GO;
    draw->path = draw->cli->arguments[0];
    if (draw->samples) code = phx_cli_u64(draw->cli, "--samples", draw->samples, &count);
    if (code == PHX_CLI_GO && (count < 2 || count > SAMPLES))
        code =
            phx_cli_fail(draw->cli, "--samples %s: a number from 2 to %d is wanted", draw->samples, SAMPLES);
    draw->count = (uint32_t)count;
    if (code == PHX_CLI_GO) code = read_file(draw);
    if (code == PHX_CLI_GO) code = check(draw);
    if (code == PHX_CLI_GO && draw->out) code = phx_cli_writable_picture(draw->cli, draw->out);
    if (code == PHX_CLI_GO) code = make(draw);
    if (code != PHX_CLI_GO) return code;
    tell(draw);
    if (draw->out == NULL) return PHX_EXIT_OK;
    const PhxSplineView view = {&draw->spline, draw->count, draw->sample, draw->piece, draw->path};
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
    phx_yaml_destroy(draw->tree);
    phx_arena_destroy(&draw->arena);
    free(draw);
    return code;
}
