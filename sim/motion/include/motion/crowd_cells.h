/* crowd_cells.h: the coarse grid of a crowd: how much of each cell bodies cover, where they want to go, and
 * whether they get there. Internal to motion/ and its tests. See phalanx/crowd.h.
 *
 * Cells are 6 to 12 radii of the largest unit wide (one unit of the world at least), far cells four times
 * that. All sums are Q16, of a cell's area: 65536 is a cell that is covered wholly.
 *
 * Determinism: integers. A job sums the cells of one band of rows; the rows of the spatial grid lie in that
 * order, so that nobody else adds to these cells, and a sum doesn't depend on its order.
 */
#ifndef PHX_MOTION_CROWD_CELLS_H
#define PHX_MOTION_CROWD_CELLS_H

#include <phalanx/crowd.h>

enum {
    PHX_CROWD_FAR = 2,             /* a far cell is 4 by 4 cells */
    PHX_CROWD_CELL_MOST = 1 << 26, /* of a sum in a cell: products with a direction in Q30 fit 63 bits */
    PHX_CROWD_STILL = 256          /* raw: a 256th of a unit a second is no movement */
};

/* Fills work->wish, work->cell and work->far from the scene's columns. */
void phx_crowd_fill(const PhxCrowdScene *scene, const PhxJobs *jobs);

static inline const PhxOrcaClass *phx_crowd_class(const PhxCrowdScene *scene, uint32_t slot) {
    return &scene->classes[scene->class_of ? scene->class_of[slot] : 0];
}

static inline bool phx_crowd_is_still(fix16_t x, fix16_t y) {
    return phx_abs64(x) + phx_abs64(y) <= PHX_CROWD_STILL;
}

/* Moves, or wants to. */
static inline bool phx_crowd_stirs(const PhxCrowdScene *scene, uint32_t slot) {
    return (scene->pref_x[slot] | scene->pref_y[slot]) != 0 ||
           !phx_crowd_is_still(scene->vel_x[slot], scene->vel_y[slot]);
}

/* Null: beyond the crowd. */
static inline const PhxCrowdCell *phx_crowd_cell_at(const PhxCrowdWork *work, int64_t x, int64_t y) {
    const int64_t dx = x - work->origin_x, dy = y - work->origin_y;
    if (dx < 0 || dy < 0) return NULL;
    const uint64_t cx = (uint64_t)dx >> work->shift, cy = (uint64_t)dy >> work->shift;
    return cx < work->width && cy < work->height ? &work->cell[cy * work->width + cx] : NULL;
}

static inline const PhxCrowdCell *phx_crowd_far_at(const PhxCrowdWork *work, int64_t x, int64_t y) {
    const int64_t dx = x - work->origin_x, dy = y - work->origin_y;
    const uint32_t shift = work->shift + PHX_CROWD_FAR;
    if (dx < 0 || dy < 0) return NULL;
    const uint64_t cx = (uint64_t)dx >> shift, cy = (uint64_t)dy >> shift;
    return cx < work->far_width && cy < work->far_height ? &work->far[cy * work->far_width + cx] : NULL;
}

#endif
