/* cmd_bench_nav_edit.c: phx bench nav: buildings that come and go on a map of 1024 x 1024 while twenty armies
 * walk it. After each edit everything is made good again: planes, portals, routes, and the tiles under all
 * units. That is compared with twenty whole fields, and with a service made from nothing.
 */
#include "phx/cmd_bench_nav.h"

#include <phalanx/rng.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE = 1024,
    GOALS = 20,
    UNITS = 48, /* of a goal, all over the map */
    UNITS_BRIEF = 8,
    LEAST = 2, /* cells of a building's side */
    MOST = 6,
    EDITS = 1000,
    STANDING = 256, /* buildings at a time */
    CACHE = 128 << 20,
    SEED = 7
};

typedef struct Edit {
    PhxBenchMap map;
    PhxBenchService service;
    PhxCellRect buildings[STANDING];
    uint32_t standing;
    uint64_t ns[EDITS];
    uint32_t edits;
    uint64_t tiles;              /* built after edits */
    uint64_t fields_ns, anew_ns; /* twenty whole fields; a service from nothing */
} Edit;

static uint32_t draw(uint32_t edit, uint32_t what, uint32_t bound) {
    return phx_random_below(phx_random(SEED, 0x65646974, edit, 0, what), bound);
}

static bool is_free(const Edit *edit, PhxCellRect rect) {
    for (int32_t y = rect.y0; y < rect.y1; y++)
        for (int32_t x = rect.x0; x < rect.x1; x++) {
            const uint32_t cell = (uint32_t)y * SIDE + (uint32_t)x;
            if (edit->map.cost[cell] == PHX_NAV_IMPASSABLE) return false;
            for (uint32_t g = 0; g < GOALS; g++)
                if (edit->service.goals[g] == cell) return false;
        }
    return true;
}

static void fill(Edit *edit, PhxCellRect rect, uint8_t cost) {
    for (int32_t y = rect.y0; y < rect.y1; y++)
        memset(edit->map.cost + (size_t)y * SIDE + (size_t)rect.x0, cost, (size_t)(rect.x1 - rect.x0));
}

/* Places a building where there is room, or razes one; the map is mixed ground of cost 1 and walls. */
static PhxCellRect change(Edit *edit, uint32_t number) {
    const bool raze = edit->standing == STANDING || (edit->standing > 0 && draw(number, 0, 3) == 0);
    if (raze) {
        const uint32_t which = draw(number, 1, edit->standing);
        const PhxCellRect rect = edit->buildings[which];
        edit->buildings[which] = edit->buildings[--edit->standing];
        fill(edit, rect, 1);
        return rect;
    }
    for (uint32_t i = 0;; i += 4) {
        const int32_t width = LEAST + (int32_t)draw(number, 2 + i, MOST - LEAST + 1),
                      height = LEAST + (int32_t)draw(number, 3 + i, MOST - LEAST + 1);
        const int32_t x = (int32_t)draw(number, 4 + i, SIDE - MOST),
                      y = (int32_t)draw(number, 5 + i, SIDE - MOST);
        const PhxCellRect rect = {x, y, x + width, y + height};
        if (!is_free(edit, rect)) continue;
        edit->buildings[edit->standing++] = rect;
        fill(edit, rect, PHX_NAV_IMPASSABLE);
        return rect;
    }
}

static PhxStatus run_edits(const PhxBenchNav *nav, Edit *edit) {
    PhxStatus status = phx_bench_service_ask(&edit->service);
    const uint64_t before = phx_routes_use(edit->service.routes).tiles_built;
    for (uint32_t i = 0; i < edit->edits && status == PHX_OK; i++) {
        const PhxCellRect rect = change(edit, i);
        const uint64_t begin = phx_cli_cpu();
        phx_routes_touch(edit->service.routes, rect);
        status = phx_routes_refresh(edit->service.routes, &edit->service.jobs);
        if (status == PHX_OK) status = phx_bench_service_ask(&edit->service);
        edit->ns[i] = phx_cli_cpu() - begin;
        phx_cli_progress(nav->bench->cli, i, edit->edits, "building edits");
    }
    edit->tiles = phx_routes_use(edit->service.routes).tiles_built - before;
    return status;
}

/* Twenty whole fields of the same ground and goals; the best of a few rounds. */
static PhxStatus measure_fields(const PhxBenchNav *nav, Edit *edit) {
    void *memory = malloc(phx_field_size(SIDE, SIDE)), *scratch = malloc(phx_field_scratch_size(SIDE, SIDE));
    PhxStatus status = memory != NULL && scratch != NULL ? PHX_OK : PHX_ERROR_MEMORY;
    PhxField field;
    edit->fields_ns = UINT64_MAX;
    if (status == PHX_OK) phx_field_init(&field, SIDE, SIDE, memory);
    for (int round = 0; round < (nav->bench->brief ? 1 : 3) && status == PHX_OK; round++) {
        const uint64_t begin = phx_cli_cpu();
        for (uint32_t g = 0; g < GOALS && status == PHX_OK; g++)
            status = phx_field_build(&field, &edit->map.grid, PHX_FIELD_WEIGHTS_DEFAULT,
                                     &edit->service.goals[g], 1, scratch);
        const uint64_t spent = phx_cli_cpu() - begin;
        if (spent < edit->fields_ns) edit->fields_ns = spent;
    }
    free(memory);
    free(scratch);
    return status;
}

/* The same units and goals, with nothing there. */
static PhxStatus measure_anew(Edit *edit) {
    PhxBenchService anew;
    const uint64_t begin = phx_cli_cpu();
    PhxStatus status = phx_bench_service_open(&anew, &edit->map, phx_jobs_serial(), CACHE);
    if (status == PHX_OK) {
        memcpy(anew.goals, edit->service.goals, sizeof anew.goals);
        memcpy(anew.units, edit->service.units, sizeof anew.units);
        anew.goal_count = GOALS;
        anew.unit_count = edit->service.unit_count;
        status = phx_bench_service_ask(&anew);
    }
    edit->anew_ns = phx_cli_cpu() - begin;
    phx_bench_service_close(&anew);
    return status;
}

static void add_edits(const PhxBenchNav *nav, Edit *edit) {
    const double median = (double)phx_bench_median(edit->ns, edit->edits) / 1e6;
    const double worst = (double)edit->ns[edit->edits - 1] / 1e6; /* they are sorted now */
    const double fields = (double)edit->fields_ns / 1e6, anew = (double)edit->anew_ns / 1e6;
    const double tiles = (double)edit->tiles / edit->edits;
    json_t *values =
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "ms", median, "worst_ms", worst, "ratio",
                  median / fields, "worst_ratio", worst / fields, "fields_ms", fields, "anew_ms", anew,
                  "ratio_anew", median / anew, "worst_ratio_anew", worst / anew);
    json_object_set_new(values, "edits", json_integer(edit->edits));
    json_object_set_new(values, "goals", json_integer(GOALS));
    json_object_set_new(values, "units", json_integer((json_int_t)GOALS * edit->service.unit_count));
    json_object_set_new(values, "tiles_per_edit", json_real(tiles));
    json_object_set_new(values, "bytes", json_integer((json_int_t)edit->service.peak));
    json_object_set_new(values, "threads", json_integer(1));
    phx_bench_add(nav->bench, "edit_1024", values, median / fields, 0.02,
                  "%u edits, %.1f tiles each: median %.2f ms, %.2f%% of 20 fields; worst %.2f ms, %.2f%%",
                  edit->edits, tiles, median, 100 * median / fields, worst, 100 * worst / fields);
}

int phx_bench_nav_edit(const PhxBenchNav *nav) {
    Edit *edit = calloc(1, sizeof *edit);
    PhxStatus status = edit != NULL ? PHX_OK : PHX_ERROR_MEMORY;
    if (status == PHX_OK) {
        edit->map = phx_bench_map(SIDE, PHX_BENCH_MIXED, SEED);
        edit->edits = nav->bench->brief ? 5 : nav->bench->lengthy ? EDITS : 150;
        status = edit->map.cost != NULL ? PHX_OK : PHX_ERROR_MEMORY;
    }
    if (status == PHX_OK)
        status = phx_bench_service_open(&edit->service, &edit->map, phx_jobs_serial(), CACHE);
    if (status == PHX_OK) {
        phx_bench_service_people(&edit->service, GOALS, nav->bench->brief ? UNITS_BRIEF : UNITS, SEED);
        status = measure_fields(nav, edit);
    }
    if (status == PHX_OK) status = run_edits(nav, edit);
    if (status == PHX_OK) status = measure_anew(edit);
    if (status == PHX_OK) add_edits(nav, edit);
    if (edit != NULL) {
        phx_bench_service_close(&edit->service);
        phx_bench_map_free(&edit->map);
    }
    free(edit);
    return status == PHX_OK ? PHX_CLI_GO : phx_cli_fail_status(nav->bench->cli, "edit_1024", status, NULL);
}
