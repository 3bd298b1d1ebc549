/* cmd_bench_path.c: phx bench path: problems of the MovingAI grid benchmark, solved one after the other.
 *
 * A .scen file names problems; its map is the file beside it without ".scen". Each problem is a search and
 * its path cell by cell, as the benchmark's other programs give it; smoothing is measured apart. With --cells
 * the search goes from cell to cell, as it does over ground of unlike costs: the map gets a strip of dearer
 * ground behind a wall. Every length is compared with the file's; one that isn't equal ends the command with
 * code 1. Times are the processor's, the best of the runs for the whole file.
 */
#include "phx/cmd_bench.h"

#include <inttypes.h>
#include <math.h>
#include <phalanx/path.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "content/moving_ai.h"

enum { FILE_LIMIT = 1 << 28, WAYPOINTS = 4096, STRIP = 2 };

static const PhxCliUsage usage = {
    .synopsis = "path SCEN...",
    .about =
        "Solves the problems of .scen files of the MovingAI grid benchmark, the map of each being the file "
        "without\n"
        ".scen, and prints queries a second, nodes expanded a query, and what smoothing to waypoints costs "
        "besides.\n"
        "Every length is compared with the published one: a difference ends with code 1.",
    .examples = "  phx bench path maps/arena2.map.scen\n"
                "  phx bench path maps/*.scen --runs 5 --json | jq '.rows[] | [.map, .queries_per_s]'\n"
                "  phx bench path maps/arena2.map.scen --cells --most 100\n",
    .least = 2,
    .most = PHX_CLI_ARGUMENT_LIMIT - 1};

typedef struct Row {
    char map[64];
    uint32_t queries;
    uint64_t ns, smooth_ns, expanded, waypoints;
} Row;

typedef struct Bench {
    PhxCli *cli;
    int by_cells;
    long long runs, most;
    Row *rows;
    uint32_t row_count;
} Bench;

typedef struct Files {
    const char *scen_path;
    char map_path[512];
    PhxMovingAiMap map;
    PhxMovingAiScen scen;
    PhxArena arena;
    uint32_t width; /* of the searched grid */
    uint8_t *cost;
    PhxPathGround *ground;
    PhxPathSearch *search;
    uint32_t *cells;
    PhxVec2 *waypoints;
} Files;

/* ---- reading */

static int read_map(Bench *bench, Files *files) {
    void *bytes;
    size_t size;
    PhxError error = {0};
    int code = phx_cli_load(bench->cli, files->map_path, FILE_LIMIT, &bytes, &size);
    if (code != PHX_CLI_GO) return code;
    const PhxMovingAiCosts costs = {1, 1, PHX_NAV_IMPASSABLE, PHX_NAV_IMPASSABLE};
    const PhxStatus status = phx_moving_ai_read_map(bytes, size, files->map_path, costs,
                                                    phx_allocator_default(), &files->map, &error);
    free(bytes);
    return status == PHX_OK ? PHX_CLI_GO : phx_cli_fail_status(bench->cli, files->map_path, status, &error);
}

static int read_scen(Bench *bench, Files *files) {
    void *bytes;
    size_t size;
    PhxError error = {0};
    int code = phx_cli_load(bench->cli, files->scen_path, FILE_LIMIT, &bytes, &size);
    if (code != PHX_CLI_GO) return code;
    const PhxStatus status =
        phx_moving_ai_read_scen(bytes, size, files->scen_path, phx_allocator_default(), &files->scen, &error);
    free(bytes);
    if (status != PHX_OK) return phx_cli_fail_status(bench->cli, files->scen_path, status, &error);
    if (files->scen.count == 0) return phx_cli_fail(bench->cli, "%s: no problems in it", files->scen_path);
    for (uint32_t i = 0; i < files->scen.count; i++) {
        const PhxMovingAiProblem *problem = &files->scen.problems[i];
        if (problem->width == files->map.width && problem->height == files->map.height) continue;
        return phx_cli_fail(bench->cli,
                            "%s: problem %" PRIu32 " is for a map of %" PRIu32 " x %" PRIu32
                            ", but %s has %" PRIu32 " x %" PRIu32 ": it belongs to another map",
                            files->scen_path, i, problem->width, problem->height, files->map_path,
                            files->map.width, files->map.height);
    }
    return PHX_CLI_GO;
}

static void lay_out(Files *files, PhxArena *arena) {
    const uint32_t height = files->map.height, count = files->width * height;
    files->cost = PHX_ARENA_ARRAY(arena, uint8_t, count);
    files->ground = phx_path_ground_layout(arena, files->width, height);
    files->search = phx_path_search_layout(arena, count, 0);
    files->cells = PHX_ARENA_ARRAY(arena, uint32_t, count);
    files->waypoints = PHX_ARENA_ARRAY(arena, PhxVec2, WAYPOINTS);
}

/* The map's costs, and with --cells a wall and a strip of cost 2 on the right. */
static PhxStatus build(Files *files) {
    for (uint32_t y = 0; y < files->map.height; y++) {
        uint8_t *row = files->cost + (size_t)y * files->width;
        memcpy(row, files->map.cost + (size_t)y * files->map.width, files->map.width);
        if (files->width == files->map.width) continue;
        row[files->width - 2] = PHX_NAV_IMPASSABLE;
        row[files->width - 1] = 2;
    }
    return phx_path_ground_build(files->ground, &(PhxNavGrid){files->width, files->map.height, files->cost});
}

static void close_files(Files *files) {
    if (files->arena.base) phx_arena_destroy(&files->arena);
    phx_moving_ai_free_map(&files->map);
    phx_moving_ai_free_scen(&files->scen);
}

static int open_files(Bench *bench, const char *path, Files *files) {
    static const char ending[] = ".scen";
    const size_t length = strlen(path), tail = sizeof ending - 1;
    *files = (Files){.scen_path = path};
    if (length <= tail || strcmp(path + length - tail, ending) != 0 || length >= sizeof files->map_path)
        return phx_cli_fail(bench->cli, "%s: a .scen file is wanted, beside its map, such as arena2.map.scen",
                            path);
    snprintf(files->map_path, sizeof files->map_path, "%.*s", (int)(length - tail), path);
    int code = read_map(bench, files);
    if (code == PHX_CLI_GO) code = read_scen(bench, files);
    if (code != PHX_CLI_GO) {
        close_files(files);
        return code;
    }
    files->width = files->map.width + (bench->by_cells ? STRIP : 0);
    PhxStatus status = files->width <= PHX_NAV_MAX_SIDE ? PHX_OK : PHX_ERROR_LIMIT;
    PhxArena arena = phx_arena_measure();
    if (status == PHX_OK) lay_out(files, &arena);
    if (status == PHX_OK) status = phx_arena_create(&files->arena, phx_allocator_default(), arena.used);
    if (status == PHX_OK) lay_out(files, &files->arena);
    if (status == PHX_OK) status = build(files);
    if (status == PHX_OK) return PHX_CLI_GO;
    close_files(files);
    return phx_cli_fail_status(bench->cli, files->map_path, status, NULL);
}

/* ---- measuring */

static PhxPathQuery query_of(const Files *files, const PhxMovingAiProblem *problem) {
    return (PhxPathQuery){problem->start_y * files->width + problem->start_x,
                          problem->goal_y * files->width + problem->goal_x, PHX_PATH_PASS_RADIUS / 2, 0};
}

/* Solves problem `i`; a length that isn't the published one, or no path, is said. */
static int check(Bench *bench, const Files *files, uint32_t i, Row *row) {
    const PhxMovingAiProblem *problem = &files->scen.problems[i];
    const PhxPathQuery query = query_of(files, problem);
    PhxPath path = {.waypoints = files->waypoints, .waypoint_capacity = WAYPOINTS};
    const PhxStatus status = phx_path_find(files->search, files->ground, &query, &path);
    if (status != PHX_OK) {
        PhxError error = {0};
        (void)phx_error_set(&error, status, i, "problem %" PRIu32 " can't be put: is its start a wall?", i);
        return phx_cli_fail_status(bench->cli, files->scen_path, status, &error);
    }
    const double got = path.straights + path.diagonals * sqrt(2), want = (double)problem->length / 1e8;
    if (path.reach != PHX_PATH_WHOLE || fabs(got - want) > 0.005 + 1e-6 * want)
        return phx_cli_false(bench->cli, "%s: problem %" PRIu32 ": length %.6f, published %.6f",
                             files->scen_path, i, got, want);
    row->expanded += path.expanded;
    row->waypoints += path.waypoint_count;
    return PHX_CLI_GO;
}

/* Processor time of solving all; with waypoints or with cells. */
static uint64_t solve_all(const Files *files, uint32_t count, bool smooth) {
    const uint64_t begin = phx_cli_cpu();
    for (uint32_t i = 0; i < count; i++) {
        const PhxPathQuery query = query_of(files, &files->scen.problems[i]);
        PhxPath path = {.cells = files->cells, .cell_capacity = files->width * files->map.height};
        if (smooth) path.waypoints = files->waypoints, path.waypoint_capacity = WAYPOINTS;
        (void)!phx_path_find(files->search, files->ground, &query, &path);
    }
    return phx_cli_cpu() - begin;
}

static int measure(Bench *bench, const char *path) {
    Files files;
    int code = open_files(bench, path, &files);
    if (code != PHX_CLI_GO) return code;
    const char *slash = strrchr(files.map_path, '/');
    Row *row = &bench->rows[bench->row_count];
    *row = (Row){.ns = UINT64_MAX, .smooth_ns = UINT64_MAX};
    snprintf(row->map, sizeof row->map, "%.63s", slash ? slash + 1 : files.map_path);
    row->queries = bench->most && files.scen.count > bench->most ? (uint32_t)bench->most : files.scen.count;
    for (uint32_t i = 0; i < row->queries && code == PHX_CLI_GO; i++) {
        code = check(bench, &files, i, row);
        phx_cli_progress(bench->cli, i + 1, row->queries, row->map);
    }
    for (long long run = 0; run < bench->runs && code == PHX_CLI_GO; run++) {
        const uint64_t ns = solve_all(&files, row->queries, false),
                       smooth = solve_all(&files, row->queries, true);
        if (ns < row->ns) row->ns = ns;
        if (smooth < row->smooth_ns) row->smooth_ns = smooth;
    }
    bench->row_count += code == PHX_CLI_GO;
    close_files(&files);
    return code;
}

/* ---- what it says */

static double per_second(const Row *row, uint64_t ns) {
    return ns == 0 ? 0 : 1e9 * row->queries / (double)ns;
}

static void say(const Bench *bench) {
    json_t *list = json_array();
    if (bench->row_count)
        phx_cli_print(bench->cli, "%-28s %8s %12s %12s %12s %12s %10s\n", "map", "queries", "queries/s",
                      "us a query", "expanded", "smoothed/s", "waypoints");
    for (uint32_t i = 0; i < bench->row_count; i++) {
        const Row *row = &bench->rows[i];
        const double each = row->queries;
        phx_cli_print(bench->cli, "%-28s %8" PRIu32 " %12.0f %12.2f %12.1f %12.0f %10.1f\n", row->map,
                      row->queries, per_second(row, row->ns), (double)row->ns / 1e3 / each,
                      (double)row->expanded / each, per_second(row, row->smooth_ns),
                      (double)row->waypoints / each);
        json_array_append_new(list, json_pack("{s:s, s:i, s:f, s:f, s:f, s:f}", "map", row->map, "queries",
                                              (int)row->queries, "queries_per_s", per_second(row, row->ns),
                                              "smoothed_per_s", per_second(row, row->smooth_ns), "expanded",
                                              (double)row->expanded / each, "waypoints",
                                              (double)row->waypoints / each));
    }
    phx_cli_set(bench->cli, "rows", list);
    phx_cli_set(bench->cli, "by_cells", json_boolean(bench->by_cells));
}

int phx_bench_path(PhxCli *cli, int argc, const char **argv) {
    Bench bench = {.cli = cli, .runs = PHX_CLI_DEFAULT, .most = PHX_CLI_DEFAULT};
    const struct poptOption table[] = {
        {"cells", 0, POPT_ARG_NONE, &bench.by_cells, 0, "from cell to cell, as where costs are unlike", NULL},
        {"runs", 0, POPT_ARG_LONGLONG, &bench.runs, 0, "of each file, the best counts (default 3)", "N"},
        {"most", 0, POPT_ARG_LONGLONG, &bench.most, 0, "problems of each file (default: all)", "N"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO) code = phx_cli_optional(cli, "--runs", &bench.runs, 1, 1000, "3");
    if (code == PHX_CLI_GO) code = phx_cli_optional(cli, "--most", &bench.most, 1, 100000000, "all");
    if (code != PHX_CLI_GO) return code;
    if (bench.runs == 0) bench.runs = 3;
    bench.rows = calloc(cli->argument_count, sizeof *bench.rows);
    if (bench.rows == NULL) return phx_cli_fail_status(cli, "path", PHX_ERROR_MEMORY, NULL);
    for (uint32_t i = 1; i < cli->argument_count && code == PHX_CLI_GO; i++)
        code = measure(&bench, cli->arguments[i]);
    say(&bench);
    free(bench.rows);
    return code == PHX_CLI_GO ? PHX_EXIT_OK : code;
}
