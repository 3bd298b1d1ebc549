/* nav_layers.c: whole-map fields and sector routes of one map and set of goals. See nav_layers.h. */
#include "phx/nav_layers.h"

#include "nav/sector.h"
#include "nav/tile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The whole map. */

PhxStatus phx_nav_whole_build(PhxNavInput *input, PhxNavWhole *out) {
    const uint32_t width = input->grid.width, height = input->grid.height;
    *out = (PhxNavWhole){.memory = malloc(phx_field_size(width, height))};
    void *scratch = malloc(phx_field_scratch_size(width, height));
    PhxStatus status = out->memory != NULL && scratch != NULL ? PHX_OK : PHX_ERROR_MEMORY;
    if (status == PHX_OK) {
        phx_field_init(&out->field, width, height, out->memory);
        const uint64_t begin = phx_cli_cpu();
        status = phx_field_build(&out->field, &input->grid, input->weights, input->goals, input->goal_count,
                                 scratch);
        out->ns = phx_cli_cpu() - begin;
    }
    free(scratch);
    if (status != PHX_OK) phx_nav_whole_close(out);
    return status;
}

int phx_nav_whole_open(PhxNavInput *input, PhxNavWhole *out) {
    const PhxStatus status = phx_nav_whole_build(input, out);
    if (status == PHX_OK) return PHX_CLI_GO;
    if (status == PHX_ERROR_LIMIT)
        return phx_cli_fail(input->cli,
                            "%s: a way over this map costs more than the 32 bits of a whole field hold; give "
                            "smaller --weights, or leave it to the sectors",
                            input->path);
    return phx_cli_fail_status(input->cli, input->path, status, NULL);
}

void phx_nav_whole_close(PhxNavWhole *whole) {
    free(whole->memory);
    *whole = (PhxNavWhole){0};
}

/* Sectors. */

static void copy_plane(void *user, uint32_t layer, PhxCellRect rect, uint8_t *plane) {
    const PhxNavInput *input = user;
    (void)layer;
    for (int32_t y = rect.y0; y < rect.y1; y++) {
        const size_t at = (size_t)y * input->grid.width + (size_t)rect.x0;
        memcpy(plane + at, input->plane + at, (size_t)(rect.x1 - rect.x0));
    }
}

static uint32_t copy_goals(void *user, uint32_t layer, uint64_t goal, uint32_t *cells) {
    const PhxNavInput *input = user;
    (void)layer;
    (void)goal;
    if (input->goal_count > 0) memcpy(cells, input->goals, input->goal_count * sizeof *cells);
    return input->goal_count;
}

uint32_t phx_nav_sectors_count(const PhxNavInput *input) {
    return phx_sector_count(input->grid.width, input->grid.height);
}

size_t phx_nav_sectors_bytes(const PhxNavInput *input, uint32_t tiles) {
    const size_t cells = (size_t)input->grid.width * input->grid.height;
    /* A tile with its ring; a route over some hundred vertices a sector. */
    return (size_t)tiles * (sizeof(PhxTile) + 4 * sizeof(PhxTileRing)) + cells / 2 + (1 << 20);
}

int phx_nav_sectors_open(PhxNavInput *input, uint32_t threads, size_t cache_bytes, PhxNavSectors *out) {
    *out = (PhxNavSectors){.input = input, .threads = threads};
    int code = phx_cli_jobs_begin(input->cli, threads, &out->jobs);
    if (code != PHX_CLI_GO) return code;
    const PhxRoutesConfig config = {
        .width = input->grid.width,
        .height = input->grid.height,
        .weights = input->weights,
        .allocator = phx_allocator_default(),
        .workers = out->jobs.workers,
        .cache_bytes =
            cache_bytes > 0 ? cache_bytes : phx_nav_sectors_bytes(input, phx_nav_sectors_count(input)),
        .compose = copy_plane,
        .goals = copy_goals,
        .user = input};
    const uint64_t begin = phx_cli_cpu();
    PhxStatus status = phx_routes_create(&config, &out->routes);
    if (status == PHX_OK) status = phx_routes_open(out->routes, 0, &out->jobs);
    out->ns = phx_cli_cpu() - begin;
    if (status == PHX_OK) return PHX_CLI_GO;
    phx_nav_sectors_close(out);
    return phx_cli_fail_status(input->cli, input->path, status, NULL);
}

void phx_nav_sectors_close(PhxNavSectors *sectors) {
    phx_routes_destroy(sectors->routes);
    phx_cli_jobs_end(&sectors->jobs, sectors->threads);
    *sectors = (PhxNavSectors){0};
}

/* Arrays. */

static bool allocate(const PhxNavInput *input, PhxNavWanted wanted, PhxNavLayers *out) {
    const size_t cells = (size_t)input->grid.width * input->grid.height;
    out->cost = malloc(cells * sizeof *out->cost);
    out->flow = malloc(cells);
    if (wanted.sight) out->sight = calloc(cells, 1);
    if (wanted.direction) out->direction = malloc(cells * sizeof *out->direction);
    return out->cost != NULL && out->flow != NULL && (out->sight != NULL || !wanted.sight) &&
           (out->direction != NULL || !wanted.direction);
}

void phx_nav_layers_close(PhxNavLayers *layers) {
    free(layers->cost);
    free(layers->flow);
    free(layers->sight);
    free(layers->direction);
    free(layers->portals);
    *layers = (PhxNavLayers){0};
}

static int fail_layers(PhxNavInput *input, PhxNavLayers *out, PhxStatus status) {
    phx_nav_layers_close(out);
    return phx_cli_fail_status(input->cli, input->path, status, NULL);
}

/* The goal at which the arrows from a cell end. `ends` holds it for cells that were asked before. */
static uint32_t end_of(const PhxField *field, uint32_t cell, uint32_t *ends) {
    uint32_t at = cell;
    while (ends[at] == PHX_NAV_NO_CELL && field->flow[at] < 8)
        at = (uint32_t)((int64_t)at + phx_flow_dy[field->flow[at]] * (int64_t)field->width +
                        phx_flow_dx[field->flow[at]]);
    const uint32_t end = ends[at] != PHX_NAV_NO_CELL ? ends[at] : at;
    for (at = cell; ends[at] == PHX_NAV_NO_CELL && field->flow[at] < 8;
         at = (uint32_t)((int64_t)at + phx_flow_dy[field->flow[at]] * (int64_t)field->width +
                         phx_flow_dx[field->flow[at]]))
        ends[at] = end;
    return end;
}

/* Whether the middle of a cell sees the middle of the goal that its way leads to. */
static bool fill_sight(const PhxNavInput *input, const PhxField *field, uint8_t *sight) {
    const uint32_t cells = field->width * field->height;
    uint32_t *ends = malloc(cells * sizeof *ends);
    if (ends == NULL) return false;
    for (uint32_t c = 0; c < cells; c++) ends[c] = PHX_NAV_NO_CELL;
    for (uint32_t c = 0; c < cells; c++) {
        if (field->integration[c] == PHX_FIELD_UNREACHED) continue;
        const PhxVec2 from = phx_nav_cell_center(&input->grid, c),
                      to = phx_nav_cell_center(&input->grid, end_of(field, c, ends));
        sight[c] = phx_nav_line_of_sight(&input->grid, from, to);
        if (c % 65536 == 0) phx_cli_progress(input->cli, c, cells, "lines of sight");
    }
    phx_cli_progress(input->cli, cells, cells, "lines of sight");
    free(ends);
    return true;
}

int phx_nav_layers_whole(PhxNavInput *input, const PhxNavWhole *whole, PhxNavWanted wanted,
                         PhxNavLayers *out) {
    const PhxField *field = &whole->field;
    const uint32_t cells = field->width * field->height;
    *out = (PhxNavLayers){0};
    if (!allocate(input, wanted, out)) return fail_layers(input, out, PHX_ERROR_MEMORY);
    const uint64_t begin = phx_cli_cpu();
    for (uint32_t c = 0; c < cells; c++) {
        out->cost[c] = field->integration[c] == PHX_FIELD_UNREACHED ? UINT64_MAX : field->integration[c];
        out->flow[c] = field->flow[c];
        if (!wanted.direction) continue;
        const PhxVec2 at = phx_nav_cell_center(&input->grid, c);
        out->direction[c] = field->flow[c] < 8 ? phx_field_direction(field, at.x, at.y) : (PhxDir){0, 0};
    }
    if (wanted.sight && !fill_sight(input, field, out->sight))
        return fail_layers(input, out, PHX_ERROR_MEMORY);
    out->ns = phx_cli_cpu() - begin;
    return PHX_CLI_GO;
}

int phx_nav_layers_sectors(PhxNavSectors *sectors, PhxNavWanted wanted, PhxNavLayers *out) {
    PhxNavInput *input = sectors->input;
    *out = (PhxNavLayers){0};
    if (!allocate(input, wanted, out)) return fail_layers(input, out, PHX_ERROR_MEMORY);
    const PhxRoutesLayers arrays = {out->cost, out->flow, out->sight, out->direction};
    const uint64_t begin = phx_cli_cpu();
    PhxStatus status = phx_routes_layers(sectors->routes, 0, 0, &sectors->jobs, &arrays);
    out->ns = phx_cli_cpu() - begin;
    if (status == PHX_OK && wanted.portals)
        status = phx_routes_portals(sectors->routes, 0, 0, NULL, 0, &out->portal_count);
    if (status == PHX_OK && out->portal_count > 0) {
        const uint32_t count = out->portal_count;
        out->portals = malloc(count * sizeof *out->portals);
        status = out->portals == NULL
                     ? PHX_ERROR_MEMORY
                     : phx_routes_portals(sectors->routes, 0, 0, out->portals, count, &out->portal_count);
    }
    return status == PHX_OK ? PHX_CLI_GO : fail_layers(input, out, status);
}
