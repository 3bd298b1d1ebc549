/* cmd_nav_path.c: phx nav path: how long the way from a cell to a cell is: the exact one over cells, the one
 * by sectors, what a unit walks that follows the smooth direction, and the waypoints that A* and smoothing
 * give; and the lanes of a group that marches there.
 */
#include "phx/cmd_nav.h"
#include "phx/nav_search.h"

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
        "with lines of sight; and the path that A* finds, with the nodes that it expanded, smoothed to "
        "waypoints.\n"
        "With --width the routes that a group of that width takes in lanes: how much room it has, and which "
        "other\n"
        "passages share the load where one is narrow. Costs are in steps over ground of cost 1. The exit "
        "code is 1\n"
        "if there is no way.",
    .examples = "  phx nav path tests/scenario/clash.map --from 30,480 --to 480,40\n"
                "  phx nav path tests/scenario/clash.map --from 30,480 --to 480,40 --radius 1 --png way.png\n"
                "  phx nav path tests/scenario/lanes.map --from 20,28 --to 84,28 --width 12 --png lanes.png\n"
                "  phx nav path tests/scenario/duel.yaml --from 5,5 --to 60,60 --json | jq .walked.length\n",
    .least = 1,
    .most = 1};

typedef enum WayKind { WAY_EXACT, WAY_SECTORS, WAY_WALKED, WAY_COUNT } WayKind;
static const char *const way_keys[WAY_COUNT] = {"exact", "sectors", "walked"};
static const char *const way_names[WAY_COUNT] = {"exact, cell by cell", "by sectors, cell by cell",
                                                 "walked by sectors"};
static const uint32_t way_colors[WAY_COUNT] = {0x1f6fc4ff, 0x2f8f4eff, 0xd6182eff};
enum { SMOOTH_COLOR = 0x8a2be2, LANE_COLOR = 0xe07b00, DRAWN = WAY_COUNT + 1 + 3 * PHX_NAV_ROUTES };

typedef struct PathOptions {
    PhxNavWords words;
    char *from, *to, *width, *png;
} PathOptions;

typedef struct Path {
    PhxNavInput input;
    PhxNavWhole whole;
    uint32_t from, to;
    PhxNavWay ways[WAY_COUNT];
    fix16_t width; /* of a group; 0: none */
    PhxNavSearch search;
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

static json_t *points_json(const PhxNavWay *way) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < way->count; i++)
        json_array_append_new(list,
                              json_pack("[f, f]", way->points[i].x / 65536.0, way->points[i].y / 65536.0));
    return list;
}

static void set_search(const Path *path) {
    const PhxNavSearch *search = &path->search;
    phx_cli_set(path->input.cli, "search",
                json_pack("{s:f, s:f, s:i, s:f, s:o}", "length", search->cells.length, "cost",
                          (double)search->cells.cost / path->input.weights.straight, "expanded",
                          (int)search->expanded, "smoothed", search->smooth.length, "waypoints",
                          points_json(&search->smooth)));
    if (path->width == 0) return;
    json_t *list = json_array();
    for (uint32_t r = 0; r < search->routes; r++)
        json_array_append_new(
            list, json_pack("{s:f, s:f, s:o, s:o, s:o}", "length", search->route[r].length, "narrowest",
                            search->narrowest[r], "points", points_json(&search->route[r]), "left",
                            points_json(&search->left[r]), "right", points_json(&search->right[r])));
    phx_cli_set(path->input.cli, "routes", list);
}

static void say_search(const Path *path) {
    const PhxNavSearch *search = &path->search;
    PhxCli *cli = path->input.cli;
    phx_cli_print(cli,
                  "A*: %.2f cells long, %" PRIu32 " nodes expanded; smoothed %.2f, %" PRIu32 " waypoints\n",
                  search->cells.length, search->expanded, search->smooth.length, search->smooth.count);
    for (uint32_t r = 0; r < search->routes; r++)
        if (search->narrowest[r] < 0)
            phx_cli_print(cli, "route %" PRIu32 ": %.2f cells long, wide all along\n", r + 1,
                          search->route[r].length);
        else
            phx_cli_print(cli,
                          "route %" PRIu32 ": %.2f cells long, room for centres where it is narrowest %.2f\n",
                          r + 1, search->route[r].length, search->narrowest[r]);
}

static int read_width(Path *path, const char *text) {
    fix16_t width;
    if (text == NULL) return PHX_CLI_GO;
    if (phx_fix_parse(text, strlen(text), &width) != PHX_OK || width <= 0 || width > 1024 * 65536)
        return phx_cli_fail(path->input.cli, "--width: %.40s: of a group, above 0 and at most 1024 cells",
                            text);
    path->width = width;
    return PHX_CLI_GO;
}

static void add_way(PhxFieldWay *ways, uint32_t *count, const char *name, const PhxNavWay *way,
                    uint32_t color) {
    ways[(*count)++] = (PhxFieldWay){name, way->points, way->count, color << 8 | 0xff};
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
    PhxFieldWay ways[DRAWN];
    uint32_t way_count = WAY_COUNT;
    PhxError error = {0};
    char title[200], note[200];
    for (int i = 0; i < WAY_COUNT; i++)
        ways[i] = (PhxFieldWay){way_names[i], path->ways[i].points, path->ways[i].count, way_colors[i]};
    add_way(ways, &way_count, "A*, smoothed", &path->search.smooth, SMOOTH_COLOR);
    for (uint32_t r = 0; r < path->search.routes; r++) {
        add_way(ways, &way_count, r == 0 ? "lanes" : "", &path->search.left[r], LANE_COLOR);
        add_way(ways, &way_count, "", &path->search.right[r], LANE_COLOR);
        add_way(ways, &way_count, "", &path->search.route[r], LANE_COLOR);
    }
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
                                     .way_count = way_count,
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
            const PhxStatus status = phx_nav_search(input, path->from, path->to, path->width, &path->search);
            if (status != PHX_OK) code = phx_cli_fail_status(input->cli, input->path, status, NULL);
        }
        if (code == PHX_CLI_GO) {
            phx_nav_set_map(input);
            set_ways(path);
            set_search(path);
            say(path, options);
            say_search(path);
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
        {"width", 0, POPT_ARG_STRING, &options.width, 0, "of a group that marches in lanes, cells", "W"},
        PHX_NAV_SETTINGS(options.words),
        {"png", 'o', POPT_ARG_STRING, &options.png, 0, "draw the ways, .png or .svg", "OUT"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO) code = phx_cli_writable_picture(cli, options.png);
    if (code == PHX_CLI_GO) code = phx_nav_input_open(cli, cli->arguments[0], &options.words, &path.input);
    if (code != PHX_CLI_GO) return code;
    code = read_width(&path, options.width);
    if (code == PHX_CLI_GO) code = read_ends(&path, &options);
    if (code == PHX_CLI_GO) code = measure(&path, &options);
    for (int i = 0; i < WAY_COUNT; i++) phx_nav_way_close(&path.ways[i]);
    phx_nav_search_close(&path.search);
    phx_nav_input_close(&path.input);
    return code == PHX_CLI_GO ? PHX_EXIT_OK : code;
}
