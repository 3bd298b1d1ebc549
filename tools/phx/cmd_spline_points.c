/* cmd_spline_points.c: phx spline resample and phx spline smooth: points of a file at equal distances, or
 * made smooth, written in the form in which they came. All numbers are fixed point, so that every machine
 * writes the same file.
 */
#include "phx/cmd_spline.h"

#include <phalanx/spline_points.h>
#include <stdlib.h>
#include <string.h>

static const PhxCliUsage resample_usage = {
    .synopsis = "FILE",
    .about =
        "Puts points at equal distances along the straight lines through the points of a file, YAML or, "
        "where\nits name ends in .csv, lines x,y or x,y,z. The file:\n\n" PHX_SPLINE_TEXT_ABOUT
        "\nBoth ends stay where they are; of kind: periodic the line is closed, and the step from the last "
        "point\nto the first is as long as the others.",
    .examples = "  phx spline resample road.yaml --spacing 2.5 --out even.yaml\n"
                "  phx spline resample drawn.csv --count 100\n",
    .least = 1,
    .most = 1};

static const PhxCliUsage smooth_usage = {
    .synopsis = "FILE",
    .about =
        "Smooths the points of a file, YAML or, where its name ends in .csv, lines x,y or x,y,z. The "
        "file:\n\n" PHX_SPLINE_TEXT_ABOUT
        "\nWaves go, bends don't shrink, both ends stay where they are (of kind: periodic there are none). "
        "Make\nthe points even first: phx spline resample.",
    .examples = "  phx spline smooth drawn.csv --passes 20 --out smooth.csv\n",
    .least = 1,
    .most = 1};

typedef struct Work {
    PhxCli *cli;
    char *out, *spacing, *count, *passes;
    PhxSplineText text;
    PhxSplinePoint made[PHX_SPLINE_TEXT_POINTS];
} Work;

static bool is_closed(const Work *work) { return work->text.kind == PHX_SPLINE_PERIODIC; }

static int read_file(Work *work) {
    const int code = phx_spline_text_read(work->cli, work->cli->arguments[0], &work->text);
    const unsigned least = is_closed(work) ? 3 : 2, has = work->text.count;
    if (code != PHX_CLI_GO || has >= least) return code;
    return phx_cli_fail(work->cli, "%s: has %u points; %u or more are wanted", work->text.path, has, least);
}

static int write_file(Work *work) {
    size_t size;
    json_t *points = json_array();
    for (uint32_t i = 0; i < work->text.count; i++) {
        const PhxSplinePoint p = work->text.point[i];
        json_array_append_new(points, json_pack("[f, f, f]", p.x / 65536.0, p.y / 65536.0, p.z / 65536.0));
    }
    phx_cli_set(work->cli, "points", points);
    char *text = phx_spline_text_write(&work->text, &size);
    if (text == NULL) return phx_cli_fail(work->cli, "no memory");
    const int code = phx_spline_text_out(work->cli, work->out, text, size);
    free(text);
    return code == PHX_CLI_GO ? PHX_EXIT_OK : code;
}

/* How many points are wanted. */
static int read_wanted(Work *work, uint32_t *wanted) {
    uint64_t count = 0;
    fix16_t spacing = 0;
    if ((work->spacing != NULL) == (work->count != NULL))
        return phx_cli_fail(work->cli, "either --spacing or --count is wanted");
    if (work->count) {
        const int code = phx_cli_u64(work->cli, "--count", work->count, &count);
        if (code != PHX_CLI_GO) return code;
        if (count < (is_closed(work) ? 3u : 2u) || count > PHX_SPLINE_TEXT_POINTS)
            return phx_cli_fail(work->cli, "--count %.40s: a number from %d to %d is wanted", work->count,
                                is_closed(work) ? 3 : 2, PHX_SPLINE_TEXT_POINTS);
        *wanted = (uint32_t)count;
        return PHX_CLI_GO;
    }
    if (phx_fix_parse(work->spacing, strlen(work->spacing), &spacing) != PHX_OK || spacing <= 0)
        return phx_cli_fail(work->cli, "--spacing %.40s: a number above 0 is wanted, in units",
                            work->spacing);
    *wanted = phx_spline_resample_count(work->text.point, work->text.count, is_closed(work), spacing);
    if (*wanted > PHX_SPLINE_TEXT_POINTS)
        return phx_cli_fail(work->cli,
                            "--spacing %.40s: that makes more than %d points; a larger one is wanted",
                            work->spacing, PHX_SPLINE_TEXT_POINTS);
    return PHX_CLI_GO;
}

static int resample(Work *work) {
    uint32_t wanted = 0;
    int code = read_file(work);
    if (code == PHX_CLI_GO) code = read_wanted(work, &wanted);
    if (code == PHX_CLI_GO && work->text.has_knots)
        code = phx_cli_fail(work->cli, "%s: knots belong to the points as they were; take them out",
                            work->text.path);
    if (code == PHX_CLI_GO && work->out) code = phx_cli_writable(work->cli, work->out);
    if (code != PHX_CLI_GO) return code;
    if (phx_spline_resample(work->text.point, work->text.count, is_closed(work), work->made, wanted) !=
        PHX_OK)
        return phx_cli_fail(work->cli, "%s: all points are one; a line with a length is wanted",
                            work->text.path);
    memcpy(work->text.point, work->made, wanted * sizeof *work->made);
    work->text.count = wanted;
    return write_file(work);
}

static int smooth(Work *work) {
    uint64_t passes = 10;
    int code = work->passes ? phx_cli_u64(work->cli, "--passes", work->passes, &passes) : PHX_CLI_GO;
    if (code == PHX_CLI_GO && passes > PHX_SPLINE_PASSES_MAX)
        code = phx_cli_fail(work->cli, "--passes %.40s: a number from 0 to %d is wanted", work->passes,
                            PHX_SPLINE_PASSES_MAX);
    if (code == PHX_CLI_GO) code = read_file(work);
    if (code == PHX_CLI_GO && work->out) code = phx_cli_writable(work->cli, work->out);
    if (code != PHX_CLI_GO) return code;
    const PhxStatus status =
        phx_spline_smooth(work->text.point, work->text.count, is_closed(work), (uint32_t)passes);
    return status == PHX_OK ? write_file(work)
                            : phx_cli_fail_status(work->cli, work->text.path, status, NULL);
}

int phx_spline_cmd_resample(PhxCli *cli, int argc, const char **argv) {
    Work *work = calloc(1, sizeof *work);
    if (work == NULL) return phx_cli_fail(cli, "no memory");
    work->cli = cli;
    const struct poptOption table[] = {
        {"spacing", 's', POPT_ARG_STRING, &work->spacing, 0, "about so far apart, in units", "X"},
        {"count", 'n', POPT_ARG_STRING, &work->count, 0, "so many points, 2 to 4096", "N"},
        {"out", 'o', POPT_ARG_STRING, &work->out, 0, "file to write (default: standard output)", "FILE"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &resample_usage);
    if (code == PHX_CLI_GO) code = resample(work);
    free(work);
    return code;
}

int phx_spline_cmd_smooth(PhxCli *cli, int argc, const char **argv) {
    Work *work = calloc(1, sizeof *work);
    if (work == NULL) return phx_cli_fail(cli, "no memory");
    work->cli = cli;
    const struct poptOption table[] = {
        {"passes", 'p', POPT_ARG_STRING, &work->passes, 0, "0 to 1000 (default 10)", "N"},
        {"out", 'o', POPT_ARG_STRING, &work->out, 0, "file to write (default: standard output)", "FILE"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &smooth_usage);
    if (code == PHX_CLI_GO) code = smooth(work);
    free(work);
    return code;
}
