/* cost_compose.c: composes cost planes from their layers.
 *
 * In: the sources, a profile, a team, a size. Out: a rectangle of the plane. Where no cell looks at others,
 * the stages work on the plane itself; else on blocks of 64 x 64 cells with a border, on the stack (12 KB).
 * Cost: about a copy for plain profiles; about 10 ns a cell with everything on; independent of the size but
 * for the border. Determinism: a cell's value is a function of the sources around it (PHX_COST_REACH), so
 * that it doesn't matter how the map is cut into rectangles and blocks. Threads: nothing is shared.
 */
#include <string.h>

#include "base/assert.h"
#include "nav/cost_work.h"

typedef struct Compose {
    const PhxCostSources *sources;
    const PhxCostProfile *profile;
    uint32_t team, size;
    bool smooth;
    uint8_t *plane;
} Compose;

static PhxCellRect widened(PhxCellRect rect, int32_t low, int32_t high) {
    return (PhxCellRect){rect.x0 - low, rect.y0 - low, rect.x1 + high, rect.y1 + high};
}

/* The part of `rect` in the block that begins at (x, y). */
static PhxCellRect block_at(PhxCellRect rect, int32_t x, int32_t y) {
    return (PhxCellRect){x, y, rect.x1 - x < PHX_COST_BLOCK ? rect.x1 : x + PHX_COST_BLOCK,
                         rect.y1 - y < PHX_COST_BLOCK ? rect.y1 : y + PHX_COST_BLOCK};
}

static void compose_block(const Compose *compose, PhxCellRect block) {
    const PhxCellRect map = phx_cost_map_rect(compose->sources);
    const int32_t size = (int32_t)compose->size, around = compose->smooth ? 1 : 0;
    const int32_t margin = phx_cost_margin_width(compose->profile);
    const PhxCellRect smoothed = widened(block, (size - 1) / 2, size / 2);
    const PhxCellRect values = widened(smoothed, around, around);
    uint8_t cells[PHX_COST_WINDOW * PHX_COST_WINDOW];
    const PhxCostWindow window = {.sources = compose->sources,
                                  .profile = compose->profile,
                                  .team = compose->team,
                                  .rect = widened(values, margin, margin),
                                  .cells = cells,
                                  .stride = PHX_COST_WINDOW};
    phx_cost_fill(&window);
    if (phx_cost_adds(compose->sources, compose->profile, compose->team, values))
        phx_cost_add(&window, phx_cost_rect_meet(values, map));
    if (compose->smooth) phx_cost_smooth(&window, phx_cost_rect_meet(smoothed, map));
    phx_cost_grow(&window, block, compose->size, compose->plane, compose->sources->width);
}

/* Where each cell depends on its own sources and heights only. */
static void compose_in_place(const Compose *compose, PhxCellRect rect) {
    const PhxCostWindow window = {.sources = compose->sources,
                                  .profile = compose->profile,
                                  .team = compose->team,
                                  .rect = rect,
                                  .cells = compose->plane + (size_t)rect.y0 * compose->sources->width +
                                           (size_t)rect.x0,
                                  .stride = compose->sources->width};
    phx_cost_fill(&window);
    if (!phx_cost_adds(compose->sources, compose->profile, compose->team, rect)) return;
    for (int32_t y = rect.y0; y < rect.y1; y += PHX_COST_BLOCK)
        for (int32_t x = rect.x0; x < rect.x1; x += PHX_COST_BLOCK)
            phx_cost_add(&window, block_at(rect, x, y));
}

void phx_cost_compose(const PhxCostSources *sources, const PhxCostProfile *profile, uint32_t team,
                      uint32_t size, PhxCellRect rect, uint8_t *plane) {
    PHX_ASSERT(size >= 1 && size <= PHX_COST_SIZE_LIMIT, size, PHX_COST_SIZE_LIMIT);
    rect = phx_cost_rect_meet(rect, phx_cost_map_rect(sources));
    if (phx_cost_rect_empty(rect)) return;
    const Compose compose = {.sources = sources,
                             .profile = profile,
                             .team = team,
                             .size = size,
                             .smooth = profile->smoothing == 1 || profile->smoothing == 2,
                             .plane = plane};
    if (size == 1 && !compose.smooth && !phx_cost_margin_width(profile)) {
        compose_in_place(&compose, rect);
        return;
    }
    for (int32_t y = rect.y0; y < rect.y1; y += PHX_COST_BLOCK)
        for (int32_t x = rect.x0; x < rect.x1; x += PHX_COST_BLOCK)
            compose_block(&compose, block_at(rect, x, y));
}
