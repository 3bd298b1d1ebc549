/* nav_search.c: paths by A* and lanes along them. See nav_search.h. */
#include "phx/nav_search.h"

#include <math.h>
#include <phalanx/trig.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "nav/passage.h"

enum { WAYPOINTS = 4096, POINTS = 256, DETOUR = 2 };

typedef struct Work {
    const PhxNavInput *input;
    PhxArena arena;
    PhxPathGround *ground;
    PhxPathSearch *search;
    PhxVec2 *waypoints;
    uint32_t *cells;
    PhxPassage *sample;
} Work;

static void lay_out(Work *work, PhxArena *arena) {
    const PhxNavGrid *grid = &work->input->grid;
    const uint32_t count = grid->width * grid->height;
    work->ground = phx_path_ground_layout(arena, grid->width, grid->height);
    work->search = phx_path_search_layout(arena, count, 0);
    work->waypoints = PHX_ARENA_ARRAY(arena, PhxVec2, WAYPOINTS);
    work->cells = PHX_ARENA_ARRAY(arena, uint32_t, count);
    work->sample = PHX_ARENA_ARRAY(arena, PhxPassage, PHX_PASSAGE_SAMPLES);
}

static double distance(PhxVec2 a, PhxVec2 b) { return hypot((double)a.x - b.x, (double)a.y - b.y) / 65536; }

/* A way of `count` points; its length is theirs. */
static PhxStatus make_way(PhxNavWay *way, const PhxVec2 *points, uint32_t count) {
    way->points = malloc((count ? count : 1) * sizeof *way->points);
    if (way->points == NULL) return PHX_ERROR_MEMORY;
    way->count = way->capacity = count;
    for (uint32_t i = 0; i < count; i++) {
        way->points[i] = points[i];
        if (i > 0) way->length += distance(points[i - 1], points[i]);
    }
    return PHX_OK;
}

static PhxStatus take_path(Work *work, const PhxPath *path, PhxNavSearch *out) {
    const PhxNavInput *input = work->input;
    out->expanded = path->expanded;
    PhxVec2 *centers = malloc((path->cell_count + 1) * sizeof *centers);
    if (centers == NULL) return PHX_ERROR_MEMORY;
    for (uint32_t i = 0; i < path->cell_count; i++)
        centers[i] = phx_nav_cell_center(&input->grid, path->cells[i]);
    PhxStatus status = make_way(&out->cells, centers, path->cell_count);
    free(centers);
    if (status == PHX_OK) status = make_way(&out->smooth, work->waypoints, path->waypoint_count);
    out->cells.cost = path->cost / (PHX_PATH_STRAIGHT / input->weights.straight);
    out->cells.end = out->smooth.end = path->end;
    out->cells.arrived = out->smooth.arrived = path->reach == PHX_PATH_WHOLE;
    return status;
}

/* ---- lanes */

static PhxDir way_at(const PhxPassage *point, uint32_t count, uint32_t i) {
    PhxDir before = {0, 0}, behind = {0, 0}, way = {0, 0};
    if (i > 0) (void)phx_vec2_normalize(phx_vec2_sub(point[i].at, point[i - 1].at), &before);
    if (i + 1 < count) (void)phx_vec2_normalize(phx_vec2_sub(point[i + 1].at, point[i].at), &behind);
    (void)phx_vec2_normalize(phx_vec2(before.x / 2 + behind.x / 2, before.y / 2 + behind.y / 2), &way);
    return way;
}

static PhxStatus take_route(Work *work, uint32_t count, fix16_t half, PhxNavSearch *out) {
    PhxVec2 at[POINTS], left[POINTS], right[POINTS];
    const uint32_t route = out->routes++;
    for (uint32_t i = 0; i < count; i++) {
        const PhxPassage *point = &work->sample[i];
        const PhxDir aside = phx_dir_turn_quarter(way_at(work->sample, count, i));
        at[i] = point->at;
        left[i] = phx_vec2_sub(point->at, phx_dir_scale(aside, point->left < half ? point->left : half));
        right[i] = phx_vec2_add(point->at, phx_dir_scale(aside, point->right < half ? point->right : half));
    }
    PhxStatus status = make_way(&out->route[route], at, count);
    if (status == PHX_OK) status = make_way(&out->left[route], left, count);
    if (status == PHX_OK) status = make_way(&out->right[route], right, count);
    out->route[route].arrived = true;
    return status;
}

/* Routes as a march's plan finds them (sim/step/lanes_plan.c): each passage that is too narrow is shut for
 * the next. */
static PhxStatus find_routes(Work *work, const PhxPathQuery *query, fix16_t width, PhxNavSearch *out) {
    const fix16_t rest = query->radius - (fix16_t)(work->input->size - 1) * 32768,
                  most = (PHX_PASSAGE_REACH - 2) * 65536, need = width < most ? width : most;
    uint64_t first = 0;
    while (out->routes < PHX_NAV_ROUTES) {
        PhxPath path = {.waypoints = work->waypoints, .waypoint_capacity = WAYPOINTS};
        if (phx_path_find(work->search, work->ground, query, &path) != PHX_OK) break;
        if (path.reach != PHX_PATH_WHOLE || path.waypoint_count < 2) break;
        if (out->routes > 0 && path.cost > DETOUR * first) break;
        if (out->routes == 0) first = path.cost;
        for (uint32_t i = 0; i < path.waypoint_count; i++)
            work->waypoints[i] = phx_cost_to_layer(work->input->size, work->waypoints[i]);
        uint32_t count =
            phx_passage_sample(work->ground, work->waypoints, path.waypoint_count, rest, need, work->sample);
        const uint32_t least = phx_passage_narrowest(work->sample, count);
        const bool is_narrow = least < count;
        const PhxPassage narrowest = work->sample[is_narrow ? least : 0];
        out->narrowest[out->routes] = is_narrow ? 2 * narrowest.left / 65536.0 : -1;
        count = phx_passage_align(work->ground, work->sample, count, rest);
        count = phx_passage_simplify(work->ground, work->sample, count, POINTS);
        const PhxStatus status = take_route(work, count, width / 2, out);
        if (status != PHX_OK) return status;
        if (!is_narrow) break;
        uint32_t cells[PHX_PASSAGE_CHORD];
        (void)phx_passage_close(work->ground, &narrowest, cells); /* the ground is ours */
    }
    return PHX_OK;
}

PhxStatus phx_nav_search(const PhxNavInput *input, uint32_t from, uint32_t to, fix16_t width,
                         PhxNavSearch *out) {
    Work work = {.input = input, .arena = phx_arena_measure()};
    *out = (PhxNavSearch){0};
    lay_out(&work, &work.arena);
    PhxStatus status = phx_arena_create(&work.arena, phx_allocator_default(), work.arena.used);
    if (status != PHX_OK) return status;
    lay_out(&work, &work.arena);
    const PhxPathQuery query = {from, to, input->radius, 0};
    PhxPath path = {.cells = work.cells,
                    .cell_capacity = input->grid.width * input->grid.height,
                    .waypoints = work.waypoints,
                    .waypoint_capacity = WAYPOINTS};
    status = phx_path_ground_build(work.ground, &input->grid);
    if (status == PHX_OK) status = phx_path_find(work.search, work.ground, &query, &path);
    for (uint32_t i = 0; i < path.waypoint_count && status == PHX_OK; i++)
        work.waypoints[i] = phx_cost_to_layer(input->size, work.waypoints[i]);
    if (status == PHX_OK) status = take_path(&work, &path, out);
    if (status == PHX_OK && width > 0) status = find_routes(&work, &query, width, out);
    phx_arena_destroy(&work.arena);
    if (status != PHX_OK) phx_nav_search_close(out);
    return status;
}

void phx_nav_search_close(PhxNavSearch *search) {
    phx_nav_way_close(&search->cells);
    phx_nav_way_close(&search->smooth);
    for (uint32_t r = 0; r < PHX_NAV_ROUTES; r++) {
        phx_nav_way_close(&search->route[r]);
        phx_nav_way_close(&search->left[r]);
        phx_nav_way_close(&search->right[r]);
    }
    search->routes = 0;
}
