/* cmd_nav_check.c: phx nav check: proves the field of a map and its goals, as one whole field and by sectors.
 *
 * Each is held by its own checker (phx_field_check, phx_tiles_check), and by one that knows neither
 * (phx_nav_layers_hold); then the two are held against each other: a way leads from the same cells, and by
 * sectors it is never cheaper than the exact one. Where a way costs more than the 32 bits of a whole field
 * hold, the sectors are proved alone.
 */
#include "phx/cmd_nav.h"

#include "nav/sector.h"
#include "nav/tile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const PhxCliUsage usage = {
    .synopsis = "MAP --goal X,Y",
    .about =
        "Builds the fields of a map and proves them: the cost falls along every arrow by the step's cost, no "
        "arrow\n"
        "leads into a wall or through a corner, there is no circle and no basin but the goals, and every "
        "cell "
        "that\n"
        "a way joins with a goal has one. By sectors the cost of each way is compared with the exact one "
        "besides.\n"
        "What is wrong is said with its cell, and the exit code is 1.",
    .examples = "  phx nav check tests/scenario/clash.map --goal 40,40\n"
                "  phx nav check tests/scenario/clash.yaml --goal 40,40 --goal 400,470 --radius 1.5 --json\n",
    .least = 1,
    .most = 1};

/* By sectors against exact. */
typedef struct Compared {
    uint32_t cells;
    double mean, worst; /* cost by sectors / exact cost */
    uint32_t worst_cell;
} Compared;

static int check_arrays(PhxNavInput *input, const char *what, const PhxNavLayers *layers) {
    char text[160];
    if (phx_nav_layers_hold(input, layers, text, sizeof text)) return PHX_CLI_GO;
    return phx_cli_false(input->cli, "%s: %s: %s", input->path, what, text);
}

/* *layers stays empty where a whole field can't hold the costs. */
static int check_whole(PhxNavInput *input, PhxNavLayers *layers) {
    PhxNavWhole whole;
    PhxError error = {0};
    const PhxStatus status = phx_nav_whole_build(input, &whole);
    if (status == PHX_ERROR_LIMIT) return PHX_CLI_GO;
    if (status != PHX_OK) return phx_cli_fail_status(input->cli, input->path, status, NULL);
    int code = phx_nav_layers_whole(input, &whole, (PhxNavWanted){0}, layers);
    if (code == PHX_CLI_GO && phx_field_check(&whole.field, &input->grid, &error) != PHX_OK)
        code = phx_cli_false(input->cli, "%s: whole field: %s", input->path, error.text);
    if (code == PHX_CLI_GO) code = check_arrays(input, "whole field", layers);
    phx_nav_whole_close(&whole);
    return code;
}

/* Claims the tiles of all sectors at once, for the checker wants to see them together. */
static int check_tiles(PhxNavInput *input, PhxNavSectors *sectors) {
    const uint32_t count = phx_nav_sectors_count(input);
    const PhxTile **tiles = malloc(count * sizeof *tiles);
    uint32_t *ids = malloc(count * sizeof *ids);
    PhxStatus status = tiles != NULL && ids != NULL ? PHX_OK : PHX_ERROR_MEMORY;
    PhxError error = {0};
    if (status == PHX_OK) phx_routes_begin(sectors->routes);
    for (uint32_t i = 0; i < count && status == PHX_OK; i++) {
        const PhxSectorFrame frame = phx_sector_frame(input->grid.width, input->grid.height, i);
        const uint32_t cell = frame.y0 * input->grid.width + frame.x0;
        if (!phx_routes_claim(sectors->routes, 0, 0, cell, &ids[i])) status = PHX_ERROR_MEMORY;
    }
    if (status == PHX_OK) status = phx_routes_build(sectors->routes, &sectors->jobs);
    for (uint32_t i = 0; i < count && status == PHX_OK; i++)
        tiles[i] = phx_routes_tile(sectors->routes, ids[i]);
    int code = status == PHX_OK ? PHX_CLI_GO : phx_cli_fail_status(input->cli, input->path, status, NULL);
    if (code == PHX_CLI_GO && phx_tiles_check(tiles, &input->grid, input->weights, input->goals,
                                              input->goal_count, &error) != PHX_OK)
        code = phx_cli_false(input->cli, "%s: tiles: %s", input->path, error.text);
    free(tiles);
    free(ids);
    return code;
}

static int check_sectors(PhxNavInput *input, uint32_t threads, PhxNavLayers *layers) {
    PhxNavSectors sectors;
    int code = phx_nav_sectors_open(input, threads, 0, &sectors);
    if (code != PHX_CLI_GO) return code;
    code = check_tiles(input, &sectors);
    if (code == PHX_CLI_GO) code = phx_nav_layers_sectors(&sectors, (PhxNavWanted){0}, layers);
    if (code == PHX_CLI_GO) code = check_arrays(input, "by sectors", layers);
    phx_nav_sectors_close(&sectors);
    return code;
}

static int compare(PhxNavInput *input, const PhxNavLayers *whole, const PhxNavLayers *sectors,
                   Compared *out) {
    *out = (Compared){.worst = 1};
    double sum = 0;
    for (uint32_t c = 0; c < input->grid.width * input->grid.height; c++) {
        const uint64_t exact = whole->cost[c], cost = sectors->cost[c];
        if ((exact == UINT64_MAX) != (cost == UINT64_MAX))
            return phx_cli_false(input->cli, "%s: cell %" PRIu32 ",%" PRIu32 ": a way %s", input->path,
                                 c % input->grid.width, c / input->grid.width,
                                 exact == UINT64_MAX ? "by sectors, but none in the whole field"
                                                     : "in the whole field, but none by sectors");
        if (exact == UINT64_MAX || exact == 0) continue;
        if (cost < exact)
            return phx_cli_false(input->cli,
                                 "%s: cell %" PRIu32 ",%" PRIu32 ": the way by sectors costs %" PRIu64
                                 ", less than the exact %" PRIu64,
                                 input->path, c % input->grid.width, c / input->grid.width, cost, exact);
        const double ratio = (double)cost / (double)exact;
        sum += ratio;
        out->cells++;
        if (ratio > out->worst) out->worst = ratio, out->worst_cell = c;
    }
    out->mean = out->cells > 0 ? sum / out->cells : 1;
    return PHX_CLI_GO;
}

static void say(PhxNavInput *input, const PhxNavLayers *sectors, const Compared *compared) {
    PhxCli *cli = input->cli;
    const PhxNavCounts counts = phx_nav_count(input, sectors);
    phx_nav_set_map(input);
    phx_cli_set(cli, "holds", json_true());
    phx_cli_set(cli, "whole", json_boolean(compared != NULL));
    phx_cli_set(cli, "reached", json_integer(counts.reached));
    phx_cli_set(cli, "sectors", json_integer(phx_nav_sectors_count(input)));
    phx_cli_print(
        cli, "%s: %s: %" PRIu32 " of %" PRIu32 " open cells reach a goal, no fault in %" PRIu32 " tiles\n",
        input->path, compared ? "both fields hold" : "the sectors' tiles hold", counts.reached, counts.open,
        phx_nav_sectors_count(input));
    if (compared == NULL) {
        phx_cli_print(cli, "  costs pass the 32 bits of a whole field, so there is none to compare with\n");
        return;
    }
    phx_cli_set(cli, "ratio_mean", json_real(compared->mean));
    phx_cli_set(cli, "ratio_worst", json_real(compared->worst));
    phx_cli_print(cli,
                  "  by sectors a way costs %.4f of the exact one in the mean, %.4f at worst, from %" PRIu32
                  ",%" PRIu32 "\n",
                  compared->mean, compared->worst, compared->worst_cell % input->grid.width,
                  compared->worst_cell / input->grid.width);
}

static int check(PhxNavInput *input, uint32_t threads) {
    PhxNavLayers whole = {0}, sectors = {0};
    Compared compared;
    int code = check_whole(input, &whole);
    if (code == PHX_CLI_GO) code = check_sectors(input, threads, &sectors);
    const bool both = whole.cost != NULL;
    if (code == PHX_CLI_GO && both) code = compare(input, &whole, &sectors, &compared);
    if (code == PHX_CLI_GO) say(input, &sectors, both ? &compared : NULL);
    phx_nav_layers_close(&whole);
    phx_nav_layers_close(&sectors);
    return code;
}

int phx_nav_cmd_check(PhxCli *cli, int argc, const char **argv) {
    PhxNavWords words = {0};
    PhxNavInput input;
    int threads = 1;
    const struct poptOption table[] = {
        PHX_NAV_OPTIONS(words),
        {"threads", 'j', POPT_ARG_INT, &threads, 0, "that build tiles (default 1)", "N"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO) code = phx_cli_range(cli, "--threads", threads, 1, PHX_JOBS_WORKERS_MAX);
    if (code == PHX_CLI_GO)
        code = phx_nav_input_open(cli, cli->arguments[0], &words, &input);
    else
        phx_nav_words_free(&words);
    if (code != PHX_CLI_GO) return code;
    code = phx_nav_input_needs_goal(&input);
    if (code == PHX_CLI_GO) code = check(&input, (uint32_t)threads);
    phx_nav_input_close(&input);
    return code == PHX_CLI_GO ? PHX_EXIT_OK : code;
}
