/* cmd_spline_read.c: points and splines read from YAML or CSV, and written again in the same form.
 *
 * In: a file. Out: numbers in fixed point, each the nearest to its text; texts that read back as the same
 * numbers.
 */
#include "phx/cmd_spline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "content/yaml_tree.h"

static const char *const kinds[] = {"clamped", "periodic", "given"};

typedef struct Reader {
    PhxCli *cli;
    PhxSplineText *text;
    PhxYamlTree *tree;
} Reader;

static int fail_at(Reader *r, const PhxYamlNode *node, const char *what) {
    return phx_cli_fail(r->cli, "%s:%u:%u: %s%s%s", r->text->path, (unsigned)node->line,
                        (unsigned)node->column, node->kind == PHX_YAML_SCALAR ? node->text : "",
                        node->kind == PHX_YAML_SCALAR ? ": " : "", what);
}

static const PhxYamlNode *child_of(const Reader *r, uint32_t i) {
    return i == PHX_YAML_NONE ? NULL : &r->tree->nodes[i];
}

static bool parse(const char *text, size_t length, fix16_t *out) {
    const fix16_t most = PHX_SPLINE_COORDINATE_MAX * PHX_FIX_ONE;
    return phx_fix_parse(text, length, out) == PHX_OK && *out >= -most && *out <= most;
}

static int read_number(Reader *r, const PhxYamlNode *node, fix16_t *out) {
    if (node->kind != PHX_YAML_SCALAR || !parse(node->text, node->length, out))
        return fail_at(r, node, "a number from -8192 to 8192 is wanted");
    return PHX_CLI_GO;
}

static int read_point(Reader *r, const PhxYamlNode *node) {
    PhxSplineText *text = r->text;
    if (node->kind != PHX_YAML_SEQUENCE || node->count < 2 || node->count > 3)
        return fail_at(r, node, "a point is [x, y] or [x, y, z]");
    if (text->count == PHX_SPLINE_TEXT_POINTS)
        return fail_at(r, node, "a spline here has at most 4096 points");
    PhxSplinePoint *p = &text->point[text->count++];
    fix16_t *parts[3] = {&p->x, &p->y, &p->z};
    int code = PHX_CLI_GO, k = 0;
    text->has_space |= node->count == 3;
    for (const PhxYamlNode *n = child_of(r, node->first); n && code == PHX_CLI_GO; n = child_of(r, n->next))
        code = read_number(r, n, parts[k++]);
    return code;
}

static int read_points(Reader *r, const PhxYamlNode *node) {
    int code = node->kind == PHX_YAML_SEQUENCE ? PHX_CLI_GO : fail_at(r, node, "a list of points is wanted");
    for (const PhxYamlNode *n = child_of(r, node->first); n && code == PHX_CLI_GO; n = child_of(r, n->next))
        code = read_point(r, n);
    return code;
}

static int read_knots(Reader *r, const PhxYamlNode *node) {
    PhxSplineText *text = r->text;
    int code = node->kind == PHX_YAML_SEQUENCE ? PHX_CLI_GO : fail_at(r, node, "a list of numbers is wanted");
    text->has_knots = true;
    for (const PhxYamlNode *n = child_of(r, node->first); n && code == PHX_CLI_GO; n = child_of(r, n->next)) {
        if (text->knots == PHX_SPLINE_TEXT_POINTS + PHX_SPLINE_DEGREE_MAX + 1)
            return fail_at(r, n, "too many knots");
        code = read_number(r, n, &text->knot[text->knots++]);
        if (code == PHX_CLI_GO && text->knots > 1 &&
            text->knot[text->knots - 1] < text->knot[text->knots - 2])
            code =
                fail_at(r, n, "knots don't fall; a number as large as the one before, or larger, is wanted");
    }
    return code;
}

static int read_kind(Reader *r, const PhxYamlNode *node) {
    for (uint32_t k = 0; k < 3; k++)
        if (node->kind == PHX_YAML_SCALAR && !strcmp(node->text, kinds[k])) {
            r->text->kind = (PhxSplineKind)k;
            r->text->has_kind = true;
            return PHX_CLI_GO;
        }
    return fail_at(r, node, "clamped, periodic or given is wanted");
}

static int read_degree(Reader *r, const PhxYamlNode *node) {
    if (node->kind != PHX_YAML_SCALAR || node->length != 1 || node->text[0] < '1' || node->text[0] > '5')
        return fail_at(r, node, "a degree from 1 to 5 is wanted");
    r->text->degree = (uint32_t)(node->text[0] - '0');
    r->text->has_degree = true;
    return PHX_CLI_GO;
}

static int read_key(Reader *r, const PhxYamlNode *node) {
    if (!strcmp(node->key, "degree")) return read_degree(r, node);
    if (!strcmp(node->key, "kind")) return read_kind(r, node);
    if (!strcmp(node->key, "points")) return read_points(r, node);
    if (!strcmp(node->key, "knots")) return read_knots(r, node);
    return phx_cli_fail(r->cli, "%s:%u:%u: %s: degree, kind, points or knots is wanted", r->text->path,
                        (unsigned)node->key_line, (unsigned)node->key_column, node->key);
}

static int read_yaml(Reader *r, const void *bytes, size_t size) {
    PhxYamlError error = {0};
    if (phx_yaml_parse(r->text->path, bytes, size, &r->tree, &error) != PHX_OK)
        return phx_cli_fail(r->cli, "%s", error.text);
    int code = PHX_CLI_GO;
    for (const PhxYamlNode *n = child_of(r, r->tree->nodes[0].first); n && code == PHX_CLI_GO;
         n = child_of(r, n->next))
        code = read_key(r, n);
    phx_yaml_destroy(r->tree);
    return code;
}

/* A line "x,y" or "x,y,z", spaces around numbers allowed. False: it isn't one. */
static bool read_row(PhxSplineText *text, const char *line, size_t length) {
    PhxSplinePoint p = {0, 0, 0};
    fix16_t *parts[3] = {&p.x, &p.y, &p.z};
    uint32_t k = 0;
    for (size_t at = 0; at <= length; k++) {
        const char *comma = memchr(line + at, ',', length - at);
        size_t end = comma ? (size_t)(comma - line) : length, from = at;
        at = end + 1;
        while (from < end && line[from] == ' ') from++;
        while (end > from && line[end - 1] == ' ') end--;
        if (k == 3 || !parse(line + from, end - from, parts[k])) return false;
    }
    if (k < 2) return false;
    text->has_space |= k == 3;
    text->point[text->count++] = p;
    return true;
}

static int read_csv(Reader *r, const char *bytes, size_t size) {
    PhxSplineText *text = r->text;
    uint32_t number = 0;
    for (size_t at = 0; at < size;) {
        const char *line = bytes + at, *feed = memchr(line, '\n', size - at);
        size_t length = feed ? (size_t)(feed - line) : size - at;
        at += length + 1;
        number++;
        if (length > 0 && line[length - 1] == '\r') length--;
        if (length == 0) continue;
        if (number == 1 && ((line[0] | 32) == 'x' || line[0] == '#')) continue; /* names of columns */
        if (text->count == PHX_SPLINE_TEXT_POINTS)
            return phx_cli_fail(r->cli, "%s:%u: a file here has at most 4096 points", text->path,
                                (unsigned)number);
        if (!read_row(text, line, length))
            return phx_cli_fail(r->cli, "%s:%u: %.*s: x,y or x,y,z is wanted, numbers from -8192 to 8192",
                                text->path, (unsigned)number, (int)(length < 60 ? length : 60), line);
    }
    return PHX_CLI_GO;
}

int phx_spline_text_read(PhxCli *cli, const char *path, PhxSplineText *text) {
    void *bytes;
    size_t size;
    const size_t length = strlen(path);
    *text = (PhxSplineText){.path = path, .degree = 3};
    text->csv = length >= 4 && !strcmp(path + length - 4, ".csv");
    int code = phx_cli_load(cli, path, PHX_YAML_SIZE_LIMIT, &bytes, &size);
    if (code != PHX_CLI_GO) return code;
    Reader reader = {cli, text, NULL};
    code = text->csv ? read_csv(&reader, bytes, size) : read_yaml(&reader, bytes, size);
    free(bytes);
    return code;
}

/* What no line alone is wrong about. */
static int check(PhxCli *cli, const PhxSplineText *text) {
    const unsigned points = text->count, degree = text->degree;
    if (points < degree + 1)
        return phx_cli_fail(cli, "%s: has %u points; degree %u needs %u or more", text->path, points, degree,
                            degree + 1);
    if (text->kind == PHX_SPLINE_GIVEN && text->knots != points + degree + 1)
        return phx_cli_fail(cli, "%s: has %u knots; %u points of degree %u need %u", text->path,
                            (unsigned)text->knots, points, degree, points + degree + 1);
    if (text->kind != PHX_SPLINE_GIVEN && text->has_knots)
        return phx_cli_fail(cli, "%s: knots are for kind: given; take them out, or say so", text->path);
    return PHX_CLI_GO;
}

int phx_spline_curve_make(PhxCli *cli, const PhxSplineText *text, PhxSplineCurve *curve) {
    const int code = check(cli, text);
    if (code != PHX_CLI_GO) return code;
    curve->arena = phx_arena_measure();
    for (int pass = 0; pass < 2; pass++) {
        phx_spline_layout(&curve->spline, &curve->arena, text->count, PHX_SPLINE_DEGREE_MAX);
        phx_spline_lengths_layout(&curve->lengths, &curve->arena, &curve->spline);
        if (pass == 1) break;
        const PhxStatus status = phx_arena_create(&curve->arena, phx_allocator_default(), curve->arena.used);
        if (status != PHX_OK) return phx_cli_fail_status(cli, "spline", status, NULL);
    }
    if (phx_spline_set(&curve->spline, text->kind, text->degree, text->point, text->count,
                       text->has_knots ? text->knot : NULL) != PHX_OK)
        return phx_cli_fail(
            cli,
            "%s: a knot is there too often (at most degree + 1 times at an end, degree times inside), or all "
            "knots between the ends are one; move some apart",
            text->path);
    phx_spline_measure(&curve->lengths, &curve->spline);
    return PHX_CLI_GO;
}

void phx_spline_curve_end(PhxSplineCurve *curve) { phx_arena_destroy(&curve->arena); }

static size_t put(char *to, const char *words) {
    const size_t length = strlen(words);
    memcpy(to, words, length);
    return length;
}

static size_t put_point(char *to, const PhxSplineText *text, PhxSplinePoint p) {
    size_t size = phx_fix_format(p.x, to, PHX_FIX_TEXT);
    size += put(to + size, text->csv ? "," : ", ");
    size += phx_fix_format(p.y, to + size, PHX_FIX_TEXT);
    if (!text->has_space) return size;
    size += put(to + size, text->csv ? "," : ", ");
    return size + phx_fix_format(p.z, to + size, PHX_FIX_TEXT);
}

char *phx_spline_text_write(const PhxSplineText *text, size_t *size) {
    char *to =
        malloc(((size_t)text->count + 2) * 4 * PHX_FIX_TEXT + ((size_t)text->knots + 2) * 2 * PHX_FIX_TEXT);
    size_t at = 0;
    if (to == NULL) return NULL;
    if (text->csv) at += put(to, text->has_space ? "x,y,z\n" : "x,y\n");
    if (!text->csv && text->has_degree)
        at += (size_t)sprintf(to + at, "degree: %u\n", (unsigned)text->degree);
    if (!text->csv && text->has_kind) at += (size_t)sprintf(to + at, "kind: %s\n", kinds[text->kind]);
    if (!text->csv) at += put(to + at, "points:\n");
    for (uint32_t i = 0; i < text->count; i++) {
        at += put(to + at, text->csv ? "" : "  - [");
        at += put_point(to + at, text, text->point[i]);
        at += put(to + at, text->csv ? "\n" : "]\n");
    }
    if (text->has_knots) at += put(to + at, "knots:\n");
    for (uint32_t i = 0; i < text->knots; i++) {
        at += put(to + at, "  - ");
        at += phx_fix_format(text->knot[i], to + at, PHX_FIX_TEXT);
        at += put(to + at, "\n");
    }
    *size = at;
    return to;
}

int phx_spline_text_out(PhxCli *cli, const char *out, const char *text, size_t size) {
    if (out) return phx_cli_store(cli, out, text, size);
    phx_cli_print(cli, "%.*s", (int)size, text);
    return PHX_CLI_GO;
}
