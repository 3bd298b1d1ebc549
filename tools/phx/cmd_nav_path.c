/* cmd_nav_path.c: phx nav path: how long the way from a cell to a cell is: the exact one over cells, the one
 * by sectors, and what a unit walks that follows the smooth direction.
 */
#include "phx/cmd_nav.h"
#include "phx/nav_walk.h"

#include "nav/sector.h"
#include "picture/field.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const PhxCliUsage usage = {
    .synopsis = "MAP --from X,Y --to X,Y",
    .about =
        "Walks from one cell to another and prints how far it is, in cells: over the cells by the exact "
        "field "
        "of\n"
        "the whole map, over the cells by sectors, and as a unit walks that follows the smooth direction by "
        "sectors,\n"
        "with lines of sight. Costs are in steps over ground of cost 1. The exit code is 1 if there is no "
        "way.",
    .examples = "  phx nav path tests/scenario/clash.map --from 30,480 --to 480,40\n"
                "  phx nav path tests/scenario/clash.map --from 30,480 --to 480,40 --radius 1 --png way.png\n"
                "  phx nav path tests/scenario/duel.yaml --from 5,5 --to 60,60 --json | jq .walked.length\n",
    .least = 1,
    .most = 1};

typedef enum WayKind { WAY_EXACT, WAY_SECTORS, WAY_WALKED, WAY_COUNT } WayKind;
static const char *const way_keys[WAY_COUNT] = {"exact", "sectors", "walked"};
static const char *const way_names[WAY_COUNT] = {"exact, cell by cell", "by sectors, cell by cell",
                                                 "walked by sectors"};
static const uint32_t way_colors[WAY_COUNT] = {0x1f6fc4ff, 0x2f8f4eff, 0xd6182eff};

typedef struct PathOptions {
    PhxNavWords words;
    char *from, *to, *png;
} PathOptions;

typedef struct Path {
    PhxNavInput input;
    PhxNavWhole whole;
    uint32_t from, to;
    PhxNavWay ways[WAY_COUNT];
} Path;

static double straight_line(const Path *path) {
    const uint32_t width = path->input.grid.width;
    return hypot((double)(path->from % width) - path->to % width,
                 (double)(path->from / width) - path->to / width);
}

static double cost_of(const Path *path, WayKind kind) {
    return (double)path->ways[kind].cost / path->input.weights.straight;
}

static void set_ways(const Path *path) {
    PhxCli *cli = path->input.cli;
    const double exact = path->ways[WAY_EXACT].length;
    for (int i = 0; i < WAY_COUNT; i++) {
        const PhxNavWay *way = &path->ways[i];
        json_t *entry = json_pack("{s:b, s:f, s:f}", "arrived", way->arrived, "length", way->length, "ratio",
                                  exact > 0 ? way->length / exact : 1.0);
        if (i != WAY_WALKED) json_object_set_new(entry, "cost", json_real(cost_of(path, (WayKind)i)));
        if (i != WAY_EXACT) json_object_set_new(entry, "tiles", json_integer(way->tiles));
        phx_cli_set(cli, way_keys[i], entry);
    }
    phx_cli_set(cli, "straight_line", json_real(straight_line(path)));
}

static void say(const Path *path, const PathOptions *options) {
    const PhxNavWay *exact = &path->ways[WAY_EXACT], *sectors = &path->ways[WAY_SECTORS],
                    *walked = &path->ways[WAY_WALKED];
    phx_cli_print(path->input.cli,
                  "%s to %s: exact %.2f cells long, cost %.1f; by sectors %.2f, cost %.1f (%" PRIu32
                  " tiles); walked %.2f; straight %.2f\n",
                  options->from, options->to, exact->length, cost_of(path, WAY_EXACT), sectors->length,
                  cost_of(path, WAY_SECTORS), sectors->tiles, walked->length, straight_line(path));
}

static int draw(Path *path, const PathOptions *options, const PhxNavLayers *layers) {
    PhxNavInput *input = &path->input;
    PhxFieldWay ways[WAY_COUNT];
    PhxError error = {0};
    char title[200], note[200];
    for (int i = 0; i < WAY_COUNT; i++)
        ways[i] = (PhxFieldWay){way_names[i], path->ways[i].points, path->ways[i].count, way_colors[i]};
    const char *slash = strrchr(input->path, '/');
    snprintf(title, sizeof title, "Ways  ·  %s", slash ? slash + 1 : input->path);
    snprintf(note, sizeof note, "from %s to %s, for %s: %.1f, %.1f and %.1f cells", options->from,
             options->to, input->whom, path->ways[WAY_EXACT].length, path->ways[WAY_SECTORS].length,
             path->ways[WAY_WALKED].length);
    const PhxFieldPicture picture = {.layer = PHX_FIELD_LAYER_LOS,
                                     .grid = input->grid,
                                     .integration = layers->cost,
                                     .flow = layers->flow,
                                     .sight = layers->sight,
                                     .goals = input->goals,
                                     .goal_count = input->goal_count,
                                     .ways = ways,
                                     .way_count = WAY_COUNT,
                                     .sector = PHX_SECTOR_SIDE,
                                     .step = input->weights.straight,
                                     .title = title,
                                     .note = note};
    const PhxStatus status = phx_field_picture_write(options->png, &picture, &error);
    if (status != PHX_OK) return phx_cli_fail_status(input->cli, options->png, status, &error);
    phx_cli_set(input->cli, "png", json_string(options->png));
    return PHX_CLI_GO;
}

static int walk(Path *path, PhxNavSectors *sectors) {
    PhxNavInput *input = &path->input;
    const PhxNavGuide whole = {.field = &path->whole.field}, parts = {.sectors = sectors};
    PhxStatus status = phx_nav_walk_cells(input, whole, path->from, &path->ways[WAY_EXACT]);
    if (status == PHX_OK) status = phx_nav_walk_cells(input, parts, path->from, &path->ways[WAY_SECTORS]);
    if (status == PHX_OK)
        status = phx_nav_walk_smooth(input, parts, path->from, path->to, &path->ways[WAY_WALKED]);
    if (status != PHX_OK) return phx_cli_fail_status(input->cli, input->path, status, NULL);
    for (int i = 0; i < WAY_COUNT; i++) {
        if (path->ways[i].arrived) continue;
        if (!path->ways[WAY_EXACT].arrived)
            return phx_cli_false(input->cli, "%s: no way leads there, for %s", input->path, input->whom);
        return phx_cli_false(input->cli, "%s: there is a way, but the one %s ends elsewhere", input->path,
                             way_names[i]);
    }
    return PHX_CLI_GO;
}

static int measure(Path *path, const PathOptions *options) {
    PhxNavInput *input = &path->input;
    PhxNavSectors sectors;
    PhxNavLayers layers;
    int code = phx_nav_whole_open(input, &path->whole);
    if (code != PHX_CLI_GO) return code;
    code = phx_nav_sectors_open(input, 1, 0, &sectors);
    if (code == PHX_CLI_GO) {
        code = walk(path, &sectors);
        if (code == PHX_CLI_GO) {
            phx_nav_set_map(input);
            set_ways(path);
            say(path, options);
        }
        if (code == PHX_CLI_GO && options->png != NULL) {
            code = phx_nav_layers_sectors(&sectors, (PhxNavWanted){.sight = true}, &layers);
            if (code == PHX_CLI_GO) {
                code = draw(path, options, &layers);
                phx_nav_layers_close(&layers);
            }
        }
        phx_nav_sectors_close(&sectors);
    }
    phx_nav_whole_close(&path->whole);
    return code;
}

/* The way's end is the only goal. */
static int read_ends(Path *path, const PathOptions *options) {
    PhxNavInput *input = &path->input;
    int code = phx_nav_input_cell(input, "--from", options->from, &path->from);
    if (code == PHX_CLI_GO) code = phx_nav_input_cell(input, "--to", options->to, &path->to);
    if (code == PHX_CLI_GO) {
        input->goals[0] = path->to;
        input->goal_count = 1;
    }
    return code;
}

int phx_nav_cmd_path(PhxCli *cli, int argc, const char **argv) {
    PathOptions options = {0};
    Path path = {0};
    const struct poptOption table[] = {
        {"from", 0, POPT_ARG_STRING, &options.from, 0, "where the way begins", "X,Y"},
        {"to", 0, POPT_ARG_STRING, &options.to, 0, "where it leads to", "X,Y"},
        PHX_NAV_SETTINGS(options.words),
        {"png", 'o', POPT_ARG_STRING, &options.png, 0, "draw the ways, .png or .svg", "OUT"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO) code = phx_cli_writable_picture(cli, options.png);
    if (code == PHX_CLI_GO) code = phx_nav_input_open(cli, cli->arguments[0], &options.words, &path.input);
    if (code != PHX_CLI_GO) return code;
    code = read_ends(&path, &options);
    if (code == PHX_CLI_GO) code = measure(&path, &options);
    for (int i = 0; i < WAY_COUNT; i++) phx_nav_way_close(&path.ways[i]);
    phx_nav_input_close(&path.input);
    return code == PHX_CLI_GO ? PHX_EXIT_OK : code;
}
