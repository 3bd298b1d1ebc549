/* crowd_cells.c: see crowd_cells.h. */
#include "motion/crowd_cells.h"

#include <string.h>

#include "base/arena.h"
#include "base/assert.h"

enum {
    SHIFT_MIN = 16, /* of cells: one unit */
    SHIFT_MAX = 22,
    CELLS_A_UNIT = 8, /* where units are few and far between, cells become larger */
    CELLS_MIN = 1024,
    WIDE = 6, /* radii of the largest unit that a cell is wide at least */
    PI_Q10 = 3217,
    RADIUS_MOST = 16 << 16
};

void phx_crowd_layout(PhxCrowdWork *work, PhxArena *arena, uint32_t capacity) {
    *work = (PhxCrowdWork){.capacity = capacity};
    work->cell = PHX_ARENA_ARRAY(arena, PhxCrowdCell, PHX_CROWD_CELLS);
    work->far = PHX_ARENA_ARRAY(arena, PhxCrowdCell, PHX_CROWD_CELLS);
    work->wish = PHX_ARENA_ARRAY(arena, PhxCrowdWish, capacity);
}

static uint64_t cells_of(uint64_t span_x, uint64_t span_y, uint32_t shift) {
    return ((span_x >> shift) + 1) * ((span_y >> shift) + 1);
}

static fix16_t body_of(const PhxOrcaClass *class) {
    return class->radius < RADIUS_MOST ? class->radius : RADIUS_MOST;
}

/* Cells over all that the spatial grid covers. */
static void fit_cells(const PhxCrowdScene *scene) {
    PhxCrowdWork *work = scene->work;
    const PhxSpatial *spatial = scene->spatial;
    const uint64_t span_x = (uint64_t)spatial->width << spatial->cell_shift;
    const uint64_t span_y = (uint64_t)spatial->height << spatial->cell_shift;
    fix16_t widest = 0;
    for (uint32_t i = 0; i < scene->class_count; i++)
        if (body_of(&scene->classes[i]) > widest) widest = body_of(&scene->classes[i]);
    uint32_t shift = SHIFT_MIN;
    while (shift < SHIFT_MAX && (int64_t)1 << shift < WIDE * (int64_t)widest) shift++;
    const uint64_t most = (uint64_t)spatial->count * CELLS_A_UNIT + CELLS_MIN;
    while (cells_of(span_x, span_y, shift) > (most < PHX_CROWD_CELLS ? most : PHX_CROWD_CELLS)) shift++;
    work->shift = shift;
    work->width = (uint32_t)(span_x >> shift) + 1;
    work->height = (uint32_t)(span_y >> shift) + 1;
    work->far_width = ((work->width - 1) >> PHX_CROWD_FAR) + 1;
    work->far_height = ((work->height - 1) >> PHX_CROWD_FAR) + 1;
    work->origin_x = spatial->origin_x;
    work->origin_y = spatial->origin_y;
}

/* Where a unit wants to go, how fast, and the part of that which it does. */
static PhxCrowdWish wish_of(const PhxCrowdScene *scene, uint32_t slot) {
    const PhxVec2 wish = {scene->pref_x[slot], scene->pref_y[slot]};
    PhxCrowdWish out = {.way = {0, 0}};
    const uint32_t speed = phx_vec2_normalize(wish, &out.way);
    if (speed < (uint32_t)phx_crowd_class(scene, slot)->max_speed / 8 || speed == 0)
        return (PhxCrowdWish){.way = {0, 0}};
    const int64_t done = phx_vec2_dot_dir(phx_vec2(scene->vel_x[slot], scene->vel_y[slot]), out.way);
    out.speed = (fix16_t)speed; /* < 2^31: |wish| is at most 64 units a second */
    out.pace = done <= 0           ? 0
               : done >= out.speed ? PHX_FIX_ONE
                                   : (fix16_t)((done << PHX_FIX_BITS) / out.speed);
    return out;
}

static void find_wishes(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxCrowdScene *scene = context;
    (void)worker;
    for (uint32_t row = begin; row < end; row++) {
        const uint32_t slot = scene->spatial->slot[row];
        scene->work->wish[slot] = wish_of(scene, slot);
    }
}

/* What a body covers of a cell: pi r^2 / L^2, at most 2^16 * pi / 36 (more where cells had to be small). */
static int64_t share_of(const PhxCrowdScene *scene, const PhxOrcaClass *class) {
    const int64_t radius = body_of(class); /* <= 2^20 */
    return (radius * radius * PI_Q10 >> 10) >> (2 * scene->work->shift - 16);
}

/* Adds the bodies of some rows to their cells. share <= 2^26, times a direction 2^56; 2^20 rows of them give
 * 2^46. */
static void add_rows(const PhxCrowdScene *scene, uint32_t begin, uint32_t end) {
    const PhxCrowdWork *work = scene->work;
    const PhxSpatial *spatial = scene->spatial;
    int64_t share = share_of(scene, &scene->classes[0]);
    for (uint32_t row = begin; row < end; row++) {
        const uint32_t slot = spatial->slot[row];
        const PhxVec2 at = spatial->position[row];
        const uint32_t cx = (uint32_t)((int64_t)at.x - work->origin_x) >> work->shift,
                       cy = (uint32_t)((int64_t)at.y - work->origin_y) >> work->shift;
        PhxCrowdCell *cell = &work->cell[cy * work->width + cx];
        const PhxCrowdWish *wish = &work->wish[slot];
        if (scene->class_of) share = share_of(scene, phx_crowd_class(scene, slot));
        cell->stirring += phx_crowd_stirs(scene, slot);
        cell->area += share;
        if (wish->speed == 0) {
            cell->rest += share;
            continue;
        }
        cell->x += phx_round_shift(wish->way.x * share, 30);
        cell->y += phx_round_shift(wish->way.y * share, 30);
        cell->held += phx_round_shift(share * (PHX_FIX_ONE - wish->pace), PHX_FIX_BITS);
    }
}

static int64_t bounded(int64_t sum) {
    return sum > PHX_CROWD_CELL_MOST    ? PHX_CROWD_CELL_MOST
           : sum < -PHX_CROWD_CELL_MOST ? -PHX_CROWD_CELL_MOST
                                        : sum;
}

/* The cells of the bands begin..end: a band is a row of cells, or more of them where a row of the spatial
 * grid has more. */
static void sum_bands(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxCrowdScene *scene = context;
    const PhxCrowdWork *work = scene->work;
    const PhxSpatial *spatial = scene->spatial;
    const uint32_t rows = work->band_shift - work->shift, wide = work->band_shift - spatial->cell_shift;
    const uint64_t last = (uint64_t)end << rows;
    const uint32_t first_cell = (begin << rows) * work->width,
                   last_cell = (last < work->height ? (uint32_t)last : work->height) * work->width;
    const uint64_t stop = (uint64_t)end << wide;
    const uint32_t first_row = begin << wide,
                   last_row = stop < spatial->height ? (uint32_t)stop : spatial->height;
    (void)worker;
    memset(&work->cell[first_cell], 0, sizeof *work->cell * (last_cell - first_cell));
    if (first_row >= last_row) return;
    add_rows(scene, spatial->cell_start[first_row * spatial->width],
             spatial->cell_start[last_row * spatial->width]);
    for (uint32_t i = first_cell; i < last_cell; i++) {
        PhxCrowdCell *cell = &work->cell[i];
        if (cell->area < PHX_CROWD_CELL_MOST) continue; /* no other sum is larger */
        *cell = (PhxCrowdCell){.area = bounded(cell->area),
                               .x = bounded(cell->x),
                               .y = bounded(cell->y),
                               .held = bounded(cell->held),
                               .rest = bounded(cell->rest),
                               .stirring = cell->stirring};
    }
}

static void sum_far(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxCrowdScene *scene = context;
    const PhxCrowdWork *work = scene->work;
    (void)worker;
    memset(&work->far[begin * work->far_width], 0, sizeof *work->far * work->far_width * (end - begin));
    const uint64_t last = (uint64_t)end << PHX_CROWD_FAR;
    for (uint32_t y = begin << PHX_CROWD_FAR; y < last && y < work->height; y++)
        for (uint32_t x = 0; x < work->width; x++) {
            const PhxCrowdCell *cell = &work->cell[y * work->width + x];
            if (cell->area == 0) continue;
            PhxCrowdCell *far = &work->far[(y >> PHX_CROWD_FAR) * work->far_width + (x >> PHX_CROWD_FAR)];
            far->area += cell->area, far->x += cell->x, far->y += cell->y;
        }
}

void phx_crowd_fill(const PhxCrowdScene *scene, const PhxJobs *jobs) {
    PhxCrowdScene copy = *scene; /* the context of a job isn't const */
    PhxCrowdWork *work = scene->work;
    const PhxSpatial *spatial = scene->spatial;
    PHX_ASSERT(spatial->capacity <= work->capacity, spatial->capacity, work->capacity);
    fit_cells(scene);
    work->band_shift = work->shift > spatial->cell_shift ? work->shift : spatial->cell_shift;
    const uint64_t span = (uint64_t)spatial->height << spatial->cell_shift;
    phx_parallel_for(jobs, spatial->count, PHX_CROWD_GRAIN * 4, find_wishes, &copy);
    phx_parallel_for(jobs, (uint32_t)(span >> work->band_shift) + 1, 1, sum_bands, &copy);
    phx_parallel_for(jobs, work->far_height, 1, sum_far, &copy);
}
