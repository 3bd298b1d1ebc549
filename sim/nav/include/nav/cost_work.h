/* cost_work.h: the stages by which a cost plane is composed. For the cost_*.c files of nav only.
 *
 * A window is a rectangle of cells with its bytes: a piece of the plane itself, or a block with a border that
 * lies on the stack. Stages, in this order: fill (what closes cells, and the cost of ground and kind), add
 * (slope, density, modifiers, margin), smooth, grow (for large units). After fill no stage closes or opens a
 * cell, but grow. Determinism: each stage is a pure function of its window and the sources.
 */
#ifndef PHX_NAV_COST_WORK_H
#define PHX_NAV_COST_WORK_H

#include <phalanx/cost.h>

enum {
    PHX_COST_BLOCK = 64,                                          /* cells a side that are composed at once */
    PHX_COST_MARGIN_WIDTH = 4,                                    /* the widest margin */
    PHX_COST_VALUES = PHX_COST_BLOCK + PHX_COST_SIZE_LIMIT + 1,   /* side of a block with what grow and smooth
                                                                     look at */
    PHX_COST_WINDOW = PHX_COST_VALUES + 2 * PHX_COST_MARGIN_WIDTH /* and what the margin looks at */
};
_Static_assert(PHX_COST_SIZE_LIMIT / 2 + 1 + PHX_COST_MARGIN_WIDTH + 1 <= PHX_COST_REACH,
               "grow, smooth, margin and slope look no farther than the reach");

typedef struct PhxCostWindow {
    const PhxCostSources *sources;
    const PhxCostProfile *profile;
    uint32_t team;
    PhxCellRect rect; /* may go beyond the map */
    uint8_t *cells;   /* the byte of (rect.x0, rect.y0) */
    size_t stride;    /* bytes from row to row */
} PhxCostWindow;

/* The byte of a cell of the window. */
static inline uint8_t *phx_cost_window_at(const PhxCostWindow *window, int32_t x, int32_t y) {
    return window->cells + (size_t)(y - window->rect.y0) * window->stride + (size_t)(x - window->rect.x0);
}
static inline bool phx_cost_rect_empty(PhxCellRect rect) { return rect.x0 >= rect.x1 || rect.y0 >= rect.y1; }
static inline PhxCellRect phx_cost_rect_meet(PhxCellRect a, PhxCellRect b) {
    return (PhxCellRect){a.x0 > b.x0 ? a.x0 : b.x0, a.y0 > b.y0 ? a.y0 : b.y0, a.x1 < b.x1 ? a.x1 : b.x1,
                         a.y1 < b.y1 ? a.y1 : b.y1};
}
static inline PhxCellRect phx_cost_map_rect(const PhxCostSources *sources) {
    return (PhxCellRect){0, 0, (int32_t)sources->width, (int32_t)sources->height};
}
/* Width of the margin of a profile; 0: none. */
static inline int32_t phx_cost_margin_width(const PhxCostProfile *profile) {
    if (!profile->margin_cost) return 0;
    return profile->margin_width < PHX_COST_MARGIN_WIDTH ? profile->margin_width : PHX_COST_MARGIN_WIDTH;
}

/* Writes the whole window: walls (and all that lies beyond the map) 255, the others ground x kind. */
void phx_cost_fill(const PhxCostWindow *window);
/* Whether phx_cost_add would change anything in a rectangle. */
bool phx_cost_adds(const PhxCostSources *sources, const PhxCostProfile *profile, uint32_t team,
                   PhxCellRect rect);
/* Adds to the passable cells of `inner` (inside of the map, at most PHX_COST_VALUES a side, the margin's
 * width inside of the window). */
void phx_cost_add(const PhxCostWindow *window, PhxCellRect inner);
/* Smooths `inner` (as for add, and 1 cell inside of the window). */
void phx_cost_smooth(const PhxCostWindow *window, PhxCellRect inner);
/* Writes the greatest value under the block of each cell of `inner`, which lies (size - 1) / 2 cells off the
 * window's left and upper side and size / 2 off the others, to its place in `plane`, whose rows have `width`
 * bytes. Destroys the window. */
void phx_cost_grow(const PhxCostWindow *window, PhxCellRect inner, uint32_t size, uint8_t *plane,
                   uint32_t width);

#endif
