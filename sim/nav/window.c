/* window.c: see nav/window.h.
 *
 * In: planes, a tile, bodies, a unit. Out: one direction. Cost: filling the fine cells, one front in 64 x 64
 * cells, and a walk of at most PHX_WINDOW_LOOK_AHEAD steps. Determinism: integers; bodies only ever raise a
 * cost to the same value, so that their order doesn't matter; steps of equal sums go by the lowest code.
 */
#include "nav/window.h"

#include <string.h>

#include "base/assert.h"
#include "nav/nearest.h"

/* The window's place: fine cells x0..x0 + width - 1, counted from the map's corner. */
typedef struct Frame {
    const PhxWindowView *view;
    uint32_t level;
    int32_t x0, y0, width, height;
    fix16_t side; /* of a fine cell, raw */
} Frame;

static int32_t later(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t earlier(int32_t a, int32_t b) { return a < b ? a : b; }

/* Around the unit, within the sector of its cell in the unit's layer. */
static Frame frame_make(const PhxWindowView *view) {
    const uint32_t cell = phx_cost_cell_of(view->plane, view->size, view->at.x, view->at.y);
    const PhxSectorFrame sector = phx_sector_frame(
        view->plane->width, view->plane->height,
        phx_sector_at(view->plane->width, cell % view->plane->width, cell / view->plane->width));
    const int32_t level = (int32_t)view->level, scale = 1 << level;
    const fix16_t side = PHX_FIX_ONE / scale;
    const int32_t cx = (int32_t)(cell % view->plane->width) * scale,
                  cy = (int32_t)(cell / view->plane->width) * scale;
    const int32_t x0 = later(cx - PHX_WINDOW_SIDE / 2, (int32_t)sector.x0 * scale);
    const int32_t y0 = later(cy - PHX_WINDOW_SIDE / 2, (int32_t)sector.y0 * scale);
    const int32_t x1 = earlier(cx + PHX_WINDOW_SIDE / 2, (int32_t)(sector.x0 + sector.width) * scale);
    const int32_t y1 = earlier(cy + PHX_WINDOW_SIDE / 2, (int32_t)(sector.y0 + sector.height) * scale);
    return (Frame){view, view->level, x0, y0, x1 - x0, y1 - y0, side};
}

/* The centre of a fine cell, in world units; a layer of even size stands half a cell to the right and below.
 */
static PhxVec2 center_of(const Frame *frame, int32_t fx, int32_t fy) {
    const fix16_t shift = frame->view->size % 2 == 0 ? PHX_NAV_HALF : 0;
    return (PhxVec2){(frame->x0 + fx) * frame->side + frame->side / 2 + shift,
                     (frame->y0 + fy) * frame->side + frame->side / 2 + shift};
}

/* A world position in fine cells of the window, Q16.16. */
static PhxVec2 to_fine(const Frame *frame, PhxVec2 at) {
    const fix16_t shift = frame->view->size % 2 == 0 ? PHX_NAV_HALF : 0;
    const int64_t scale = (int64_t)1 << frame->level;
    return (PhxVec2){phx_fix_saturate((at.x - shift) * scale - (int64_t)frame->x0 * PHX_FIX_ONE),
                     phx_fix_saturate((at.y - shift) * scale - (int64_t)frame->y0 * PHX_FIX_ONE)};
}

/* How far `at` lies outside of [low, low + 1), raw. */
static int64_t outside(fix16_t at, int32_t low) {
    const int64_t first = (int64_t)low * PHX_FIX_ONE;
    return at < first ? first - at : at > first + PHX_FIX_ONE ? at - first - PHX_FIX_ONE : 0;
}

/* Would a disc of `radius` at `at` touch a wall of the ground? */
static bool touches_wall(const PhxNavGrid *ground, PhxVec2 at, fix16_t radius) {
    const int32_t x0 = phx_nav_floor(at.x - radius), x1 = phx_nav_floor(at.x + radius);
    const int32_t y0 = phx_nav_floor(at.y - radius), y1 = phx_nav_floor(at.y + radius);
    for (int32_t y = y0; y <= y1; y++)
        for (int32_t x = x0; x <= x1; x++) {
            if (phx_nav_passable(ground, x, y)) continue;
            const int64_t dx = outside(at.x, x), dy = outside(at.y, y);
            if (dx * dx + dy * dy < (int64_t)radius * radius) return true;
        }
    return false;
}

/* Costs of the ground. Walls reach as far as the unit's disc, less half the diagonal of a fine cell, so that
 * a unit that leans on a wall isn't in it. */
static void fill_ground(const Frame *frame, uint8_t *cost) {
    const PhxNavGrid *ground = frame->view->ground;
    const fix16_t slack = frame->side * 3 / 4,
                  radius = frame->view->radius > slack ? frame->view->radius - slack : 1;
    for (int32_t fy = 0; fy < frame->height; fy++)
        for (int32_t fx = 0; fx < frame->width; fx++) {
            const PhxVec2 at = center_of(frame, fx, fy);
            const uint32_t cell = phx_nav_cell_at(ground, at.x, at.y);
            const bool closed = cell == PHX_NAV_NO_CELL || touches_wall(ground, at, radius);
            cost[fy * frame->width + fx] = closed ? PHX_NAV_IMPASSABLE : ground->cost[cell];
        }
}

/* Marks the fine cells in which the unit would overlap a body. */
static void mark_body(const Frame *frame, const PhxWindowBody *body, uint8_t *crowded) {
    const int64_t reach = (int64_t)body->radius + frame->view->radius;
    const PhxVec2 low =
        to_fine(frame, (PhxVec2){phx_fix_saturate(body->at.x - reach), phx_fix_saturate(body->at.y - reach)});
    const PhxVec2 high =
        to_fine(frame, (PhxVec2){phx_fix_saturate(body->at.x + reach), phx_fix_saturate(body->at.y + reach)});
    const int32_t x1 = earlier(phx_nav_floor(high.x), frame->width - 1);
    const int32_t y1 = earlier(phx_nav_floor(high.y), frame->height - 1);
    for (int32_t fy = later(phx_nav_floor(low.y), 0); fy <= y1; fy++)
        for (int32_t fx = later(phx_nav_floor(low.x), 0); fx <= x1; fx++) {
            const PhxVec2 at = center_of(frame, fx, fy);
            const int64_t dx = (int64_t)at.x - body->at.x, dy = (int64_t)at.y - body->at.y;
            if (dx * dx + dy * dy < reach * reach) crowded[fy * frame->width + fx] = 1;
        }
}

static void fill_costs(const Frame *frame, PhxWindowWork *work) {
    const uint32_t cells = (uint32_t)(frame->width * frame->height);
    fill_ground(frame, work->cost);
    memset(work->crowded, 0, cells);
    for (uint32_t b = 0; b < frame->view->body_count; b++)
        mark_body(frame, &frame->view->bodies[b], work->crowded);
    for (uint32_t c = 0; c < cells; c++) {
        const uint32_t raised = (uint32_t)work->cost[c] + (work->crowded[c] ? frame->view->crowd_cost : 0);
        const bool closed = work->cost[c] == PHX_NAV_IMPASSABLE;
        work->free[c] = closed || work->crowded[c] ? PHX_NAV_IMPASSABLE : 1;
        if (!closed) work->cost[c] = (uint8_t)(raised < PHX_NAV_IMPASSABLE ? raised : PHX_NAV_IMPASSABLE - 1);
    }
}

typedef struct Seeds {
    PhxWindowWork *work;
    uint32_t count;
    uint64_t least;
} Seeds;

static void add_seed(Seeds *seeds, int32_t fx, int32_t fy, uint64_t value) {
    seeds->work->seed[seeds->count].cell = (uint16_t)phx_sector_local((uint32_t)fx, (uint32_t)fy);
    seeds->work->seed_value[seeds->count++] = value;
    if (value < seeds->least) seeds->least = value;
}

/* A fine cell of the rim, if the tile knows a way from there. A fine step costs the cell's full weight, so
 * the tile's costs count 2^level times. */
static void add_rim(const Frame *frame, Seeds *seeds, int32_t fx, int32_t fy) {
    if (seeds->work->cost[fy * frame->width + fx] == PHX_NAV_IMPASSABLE) return;
    const PhxVec2 at = center_of(frame, fx, fy);
    const PhxWindowView *view = frame->view;
    const uint32_t cell = phx_cost_cell_of(view->plane, view->size, at.x, at.y);
    const uint64_t cost = phx_tile_cost(view->tile, view->plane, cell);
    if (cost < UINT64_MAX >> 3) add_seed(seeds, fx, fy, cost << frame->level);
}

/* The fine cell of a position, or -1. */
static int32_t fine_cell(const Frame *frame, PhxVec2 at) {
    const PhxVec2 fine = to_fine(frame, at);
    const int32_t fx = phx_nav_floor(fine.x), fy = phx_nav_floor(fine.y);
    if (fx < 0 || fy < 0 || fx >= frame->width || fy >= frame->height) return -1;
    return fy * frame->width + fx;
}

static uint32_t make_seeds(const Frame *frame, PhxWindowWork *work) {
    Seeds seeds = {work, 0, UINT64_MAX};
    const int32_t goal = fine_cell(frame, frame->view->goal);
    for (int32_t fx = 0; fx < frame->width; fx++) {
        add_rim(frame, &seeds, fx, 0);
        if (frame->height > 1) add_rim(frame, &seeds, fx, frame->height - 1);
    }
    for (int32_t fy = 1; fy + 1 < frame->height; fy++) {
        add_rim(frame, &seeds, 0, fy);
        if (frame->width > 1) add_rim(frame, &seeds, frame->width - 1, fy);
    }
    if (goal >= 0 && work->cost[goal] != PHX_NAV_IMPASSABLE)
        add_seed(&seeds, goal % frame->width, goal / frame->width, 0);
    for (uint32_t i = 0; i < seeds.count; i++) {
        const uint64_t value = work->seed_value[i] - seeds.least;
        work->seed[i].value = value < UINT32_MAX / 4 ? (uint32_t)value : UINT32_MAX / 4;
    }
    return seeds.count;
}

/* The neighbour to which a step is cheapest, by the lowest code; -1 where no step leads down. */
static int32_t next_cell(const Frame *frame, const PhxWindowWork *work, const PhxNavGrid *fine, int32_t cell,
                         PhxFieldWeights weights) {
    const int32_t fx = cell % frame->width, fy = cell / frame->width;
    uint64_t best = work->front.sum[phx_sector_local((uint32_t)fx, (uint32_t)fy)];
    int32_t found = -1;
    for (int d = 0; d < 8; d++) {
        const int32_t nx = fx + phx_flow_dx[d], ny = fy + phx_flow_dy[d];
        if (!phx_nav_passable(fine, nx, ny)) continue;
        if (d % 2 == 1 && (!phx_nav_passable(fine, nx, fy) || !phx_nav_passable(fine, fx, ny))) continue;
        const int32_t to = ny * frame->width + nx;
        const uint32_t sum = work->front.sum[phx_sector_local((uint32_t)nx, (uint32_t)ny)];
        if (sum == PHX_FIELD_UNREACHED) continue;
        const uint64_t through =
            sum + (uint64_t)(d % 2 == 1 ? weights.diagonal : weights.straight) * work->cost[to];
        if (through > best || (found >= 0 && through == best)) continue;
        best = through;
        found = to;
    }
    return found;
}

/* From the unit straight to the farthest cell of the way that it sees over free ground. */
static PhxDir follow(const Frame *frame, const PhxWindowWork *work, const PhxNavGrid *fine, int32_t from,
                     PhxFieldWeights weights) {
    const int32_t goal = fine_cell(frame, frame->view->goal);
    const PhxNavGrid free = {fine->width, fine->height, work->free};
    PhxVec2 target = frame->view->at;
    int32_t cell = from;
    for (int step = 0; step < PHX_WINDOW_LOOK_AHEAD && cell != goal; step++) {
        const int32_t next = next_cell(frame, work, fine, cell, weights);
        if (next < 0) break;
        const PhxVec2 at =
            next == goal ? frame->view->goal : center_of(frame, next % frame->width, next / frame->width);
        if (step > 0 && !phx_nav_line_of_sight(&free, to_fine(frame, frame->view->at), to_fine(frame, at)))
            break;
        target = at;
        cell = next;
    }
    if (cell == goal) target = frame->view->goal;
    PhxDir direction;
    (void)phx_vec2_normalize(phx_vec2_sub(target, frame->view->at), &direction);
    return direction;
}

PhxDir phx_window_direction(PhxWindowWork *work, const PhxWindowView *view) {
    const PhxFieldWeights weights = PHX_FIELD_WEIGHTS_DEFAULT;
    const PhxDir none = {0, 0};
    PHX_ASSERT(view->level >= 1 && view->level <= PHX_WINDOW_LEVEL_LIMIT, view->level,
               PHX_WINDOW_LEVEL_LIMIT);
    if (view->radius > PHX_WINDOW_RADIUS_LIMIT) return none;
    const Frame frame = frame_make(view);
    const int32_t at = fine_cell(&frame, view->at);
    if (at < 0) return none;
    fill_costs(&frame, work);
    const PhxNavGrid fine = {(uint32_t)frame.width, (uint32_t)frame.height, work->cost};
    const uint32_t open = phx_nav_nearest_open(&fine, (uint32_t)at);
    if (open == PHX_NAV_NO_CELL) return none;
    phx_sector_ground(&work->ground, &fine, 0);
    phx_sector_front(&work->front, &work->ground, weights, work->seed, make_seeds(&frame, work));
    const uint32_t local = phx_sector_local(open % fine.width, open / fine.width);
    if (work->front.sum[local] == PHX_FIELD_UNREACHED) return none;
    if (open == (uint32_t)at) return follow(&frame, work, &fine, at, weights);
    PhxDir direction;
    (void)phx_vec2_normalize(
        phx_vec2_sub(center_of(&frame, (int32_t)(open % fine.width), (int32_t)(open / fine.width)), view->at),
        &direction);
    return direction;
}
