/* cmd_nav_field.c: phx nav field: one layer of a field as a picture, and its figures. */
#include "phx/cmd_nav.h"

#include "nav/sector.h"
#include "picture/field.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const PhxCliUsage usage = {
    .synopsis = "MAP --goal X,Y --layer LAYER --png OUT",
    .about =
        "Builds the field of one or more goals and draws one of its layers:\n\n"
        "  cost         what entering a cell costs (for units of --radius: with walls as wide as they are to "
        "them)\n"
        "  integration  the cost of the way to the nearest goal, with contours\n"
        "  flow         where to walk: colours and arrows; a unit between cells gets a blend of them\n"
        "  los          what sees a goal and walks straight to it\n"
        "  portals      the sectors, their portals, and what the way costs from each\n\n"
        "Units on large maps are led by sectors of 64 x 64 cells, each with a tile that is built when a unit "
        "is\n"
        "on the way through it: that is what is drawn, for all sectors. --whole draws one exact field of "
        "the\n"
        "whole map instead. Without --png the figures alone are printed.",
    .examples =
        "  phx nav field tests/scenario/clash.map --goal 40,40 --png field.png\n"
        "  phx nav field tests/scenario/clash.map --goal 40,40 --layer flow --view 0,0,96,96 --png near.png\n"
        "  phx nav field tests/scenario/clash.map --layer cost --radius 2 --png wide.png\n"
        "  phx nav field tests/scenario/siege.yaml --layer cost --type cart --team 1 --png cart.png\n"
        "  phx nav field match.phxr --goal 100,100,8,8 --layer los --whole --png los.png --json\n",
    .least = 1,
    .most = 1};

static const char *const layer_names[PHX_FIELD_LAYER_COUNT] = {"cost", "integration", "flow", "los",
                                                               "portals"};
static const char *const layer_titles[PHX_FIELD_LAYER_COUNT] = {
    "Costs of the ground", "Cost of the way", "Flow", "Line of sight", "Sectors and portals"};

/* Cells of a map of which every line of sight is looked along. */
enum { SIGHT_CELLS = 2048 * 2048 };

typedef struct FieldOptions {
    PhxNavWords words;
    char *layer, *png, *view, *scale;
    int whole, sectors, threads;
    PhxFieldLayer kind;
    PhxFieldPicture picture;
} FieldOptions;

static int read_layer(PhxCli *cli, FieldOptions *options) {
    options->kind = PHX_FIELD_LAYER_INTEGRATION;
    if (options->layer == NULL) return PHX_CLI_GO;
    for (int i = 0; i < PHX_FIELD_LAYER_COUNT; i++)
        if (strcmp(options->layer, layer_names[i]) == 0) return options->kind = (PhxFieldLayer)i, PHX_CLI_GO;
    return phx_cli_fail(cli,
                        "--layer: %.40s: no such layer; there are: cost, integration, flow, los, portals",
                        options->layer);
}

static int read_picture(PhxCli *cli, FieldOptions *options) {
    PhxFieldPicture *picture = &options->picture;
    uint32_t view[4] = {0, 0, 0, 0};
    if (options->view != NULL &&
        (!phx_nav_input_numbers(options->view, view, 4) || view[2] == 0 || view[3] == 0))
        return phx_cli_fail(cli,
                            "--view: %.40s: X,Y,W,H is wanted: a cell, and how many cells from it on, from 1",
                            options->view);
    picture->left = view[0], picture->top = view[1];
    picture->view_width = view[2], picture->view_height = view[3];
    if (options->scale != NULL && (!phx_nav_input_numbers(options->scale, &picture->scale, 1) ||
                                   picture->scale < 1 || picture->scale > 64))
        return phx_cli_fail(cli,
                            "--scale: %.40s: a number from 1 to 64 is wanted; leave the option out for what "
                            "suits the map",
                            options->scale);
    return phx_cli_writable_picture(cli, options->png);
}

static int parse(PhxCli *cli, int argc, const char **argv, FieldOptions *options) {
    const struct poptOption table[] = {
        PHX_NAV_OPTIONS(options->words),
        {"layer", 'l', POPT_ARG_STRING, &options->layer, 0,
         "cost, integration (default), flow, los or portals", "LAYER"},
        {"png", 'o', POPT_ARG_STRING, &options->png, 0, "the picture to write, .png or .svg", "OUT"},
        {"view", 0, POPT_ARG_STRING, &options->view, 0, "draw these cells only", "X,Y,W,H"},
        {"scale", 0, POPT_ARG_STRING, &options->scale, 0,
         "pixels a cell, 1 to 64 (default: what suits the map)", "N"},
        {"sectors", 0, POPT_ARG_NONE, &options->sectors, 0, "by sectors, as units are led (default)", NULL},
        {"whole", 0, POPT_ARG_NONE, &options->whole, 0, "one field of the whole map", NULL},
        {"threads", 'j', POPT_ARG_INT, &options->threads, 0, "that build tiles (default 1)", "N"},
        POPT_TABLEEND};
    options->threads = 1;
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO) code = read_layer(cli, options);
    if (code == PHX_CLI_GO && options->whole && options->sectors)
        code = phx_cli_fail(cli, "--whole and --sectors: one of them is wanted");
    if (code == PHX_CLI_GO && options->whole && options->kind == PHX_FIELD_LAYER_PORTALS)
        code = phx_cli_fail(cli, "--whole: a field of the whole map has no portals; leave --whole out");
    if (code == PHX_CLI_GO) code = phx_cli_range(cli, "--threads", options->threads, 1, PHX_JOBS_WORKERS_MAX);
    if (code == PHX_CLI_GO) code = read_picture(cli, options);
    return code;
}

/* Figures. */

static void say_layers(PhxNavInput *input, const PhxNavLayers *layers) {
    PhxCli *cli = input->cli;
    const PhxNavCounts counts = phx_nav_count(input, layers);
    const double step = input->weights.straight;
    phx_cli_set(cli, "reached", json_integer(counts.reached));
    phx_cli_set(cli, "unreached", json_integer(counts.open - counts.reached));
    phx_cli_set(cli, "largest_cost", json_real((double)counts.most / step));
    phx_cli_set(cli, "mean_cost", json_real(counts.mean_cost / step));
    phx_cli_print(cli,
                  "  reached   %" PRIu32 " of %" PRIu32
                  " open cells; ways cost up to %.1f cells, %.1f in the mean\n",
                  counts.reached, counts.open, (double)counts.most / step, counts.mean_cost / step);
    if (layers->sight == NULL) return;
    phx_cli_set(cli, "in_sight", json_integer(counts.seen));
    phx_cli_print(cli, "  in sight  %" PRIu32 " cells\n", counts.seen);
}

static void say_sectors(PhxNavInput *input, const PhxNavSectors *sectors, const PhxNavLayers *layers) {
    PhxCli *cli = input->cli;
    const PhxRoutesUse use = phx_routes_use(sectors->routes);
    phx_cli_set(cli, "sectors", json_integer(use.sectors));
    phx_cli_set(cli, "portals", json_integer(use.portals));
    phx_cli_set(cli, "tiles", json_integer((json_int_t)use.tiles_built));
    phx_cli_set(cli, "tile_bytes", json_integer((json_int_t)use.tile_bytes));
    phx_cli_set(cli, "graph_bytes", json_integer((json_int_t)use.graph_bytes));
    phx_cli_set(cli, "graph_ms", json_real((double)sectors->ns / 1e6));
    phx_cli_set(cli, "tiles_ms", json_real((double)layers->ns / 1e6));
    phx_cli_print(cli,
                  "  sectors   %" PRIu32 " with %" PRIu32
                  " portals, made in %.1f ms; all tiles in %.1f ms, %zu bytes each\n",
                  use.sectors, use.portals, (double)sectors->ns / 1e6, (double)layers->ns / 1e6,
                  use.tile_bytes);
}

static void say_map(PhxNavInput *input, const FieldOptions *options) {
    phx_nav_set_map(input);
    phx_cli_set(input->cli, "layer", json_string(layer_names[options->kind]));
    phx_cli_print(input->cli, "%s: %" PRIu32 " x %" PRIu32 " cells, %" PRIu32 " goal cell%s\n", input->path,
                  input->grid.width, input->grid.height, input->goal_count,
                  input->goal_count == 1 ? "" : "s");
}

/* The picture. */

static int draw(PhxNavInput *input, FieldOptions *options, const PhxNavLayers *layers, bool sectors) {
    PhxCli *cli = input->cli;
    PhxFieldPicture *picture = &options->picture;
    PhxError error = {0};
    char title[200], note[200];
    uint32_t width = 0, height = 0;
    if (options->png == NULL) return PHX_CLI_GO;
    const char *slash = strrchr(input->path, '/');
    snprintf(title, sizeof title, "%s  ·  %s", layer_titles[options->kind], slash ? slash + 1 : input->path);
    int at = snprintf(note, sizeof note, "%s, for %s",
                      options->kind == PHX_FIELD_LAYER_COST ? "what entering a cell costs"
                      : sectors                             ? "by sectors of 64 x 64 cells"
                                                            : "one field of the whole map",
                      input->whom);
    if (input->goal_count > 0)
        snprintf(note + at, sizeof note - (size_t)at, ", %" PRIu32 " goal cell%s", input->goal_count,
                 input->goal_count == 1 ? "" : "s");
    picture->layer = options->kind;
    picture->grid = input->grid;
    picture->integration = layers->cost;
    picture->flow = layers->flow;
    picture->sight = layers->sight;
    picture->direction = layers->direction;
    picture->goals = input->goals;
    picture->goal_count = input->goal_count;
    picture->portals = layers->portals;
    picture->portal_count = layers->portal_count;
    picture->sector = sectors ? PHX_SECTOR_SIDE : 0;
    picture->step = input->weights.straight;
    picture->title = title;
    picture->note = note;
    const PhxStatus status = phx_field_picture_write(options->png, picture, &error);
    if (status != PHX_OK) return phx_cli_fail_status(cli, options->png, status, &error);
    if (phx_field_picture_size(picture, &width, &height))
        phx_cli_set(
            cli, "png",
            json_pack("{s:s*, s:i, s:i}", "file", options->png, "width", (int)width, "height", (int)height));
    phx_cli_print(cli, "  picture   %s, %" PRIu32 " x %" PRIu32 " pixels\n", options->png, width, height);
    return PHX_CLI_GO;
}

/* The kinds of work. */

static PhxNavWanted wanted_of(const FieldOptions *options) {
    return (PhxNavWanted){.sight = options->kind == PHX_FIELD_LAYER_LOS,
                          .direction = options->kind == PHX_FIELD_LAYER_FLOW,
                          .portals = options->kind == PHX_FIELD_LAYER_PORTALS};
}

static int show_whole(PhxNavInput *input, FieldOptions *options) {
    const uint32_t cells = input->grid.width * input->grid.height;
    PhxNavWhole whole;
    PhxNavLayers layers;
    if (options->kind == PHX_FIELD_LAYER_LOS && cells > SIGHT_CELLS)
        return phx_cli_fail(input->cli,
                            "--whole: lines of sight over more than %d cells take too long; leave "
                            "--whole out",
                            SIGHT_CELLS);
    int code = phx_nav_whole_open(input, &whole);
    if (code != PHX_CLI_GO) return code;
    code = phx_nav_layers_whole(input, &whole, wanted_of(options), &layers);
    if (code == PHX_CLI_GO) {
        say_map(input, options);
        say_layers(input, &layers);
        phx_cli_set(input->cli, "field_ms", json_real((double)whole.ns / 1e6));
        phx_cli_print(input->cli, "  field     built in %.2f ms\n", (double)whole.ns / 1e6);
        code = draw(input, options, &layers, false);
        phx_nav_layers_close(&layers);
    }
    phx_nav_whole_close(&whole);
    return code;
}

static int show_sectors(PhxNavInput *input, FieldOptions *options) {
    PhxNavSectors sectors;
    PhxNavLayers layers;
    int code = phx_nav_sectors_open(input, (uint32_t)options->threads, 0, &sectors);
    if (code != PHX_CLI_GO) return code;
    code = phx_nav_layers_sectors(&sectors, wanted_of(options), &layers);
    if (code == PHX_CLI_GO) {
        say_map(input, options);
        say_layers(input, &layers);
        say_sectors(input, &sectors, &layers);
        code = draw(input, options, &layers, true);
        phx_nav_layers_close(&layers);
    }
    phx_nav_sectors_close(&sectors);
    return code;
}

static int show_cost(PhxNavInput *input, FieldOptions *options) {
    const PhxNavLayers none = {0};
    say_map(input, options);
    phx_cli_print(input->cli, "  open      %" PRIu32 " cells\n", phx_nav_count(input, &none).open);
    return draw(input, options, &none, false);
}

int phx_nav_cmd_field(PhxCli *cli, int argc, const char **argv) {
    FieldOptions options = {0};
    PhxNavInput input;
    int code = parse(cli, argc, argv, &options);
    if (code == PHX_CLI_GO)
        code = phx_nav_input_open(cli, cli->arguments[0], &options.words, &input);
    else
        phx_nav_words_free(&options.words);
    if (code != PHX_CLI_GO) return code;
    if (options.kind != PHX_FIELD_LAYER_COST) code = phx_nav_input_needs_goal(&input);
    if (code == PHX_CLI_GO)
        code = options.kind == PHX_FIELD_LAYER_COST ? show_cost(&input, &options)
               : options.whole                      ? show_whole(&input, &options)
                                                    : show_sectors(&input, &options);
    phx_nav_input_close(&input);
    return code == PHX_CLI_GO ? PHX_EXIT_OK : code;
}
