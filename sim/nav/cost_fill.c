/* cost_fill.c: the first stage of a cost plane: what closes cells, and what ground of a kind costs.
 *
 * In: ground, kinds, heights (for the limit of slopes), buildings. Out: a window's bytes. Cost: for plain
 * profiles that of a copy; a few instructions a cell otherwise; a look at each building a window.
 * Determinism: integers; buildings only ever close cells, so that their order doesn't matter.
 */
#include <string.h>

#include "nav/cost_steep.h"
#include "nav/cost_work.h"

typedef struct Fill {
    const PhxCostSources *sources;
    uint8_t percent[PHX_COST_KINDS]; /* with 100 for 0 */
    bool plain;                      /* every kind costs what the ground costs */
    uint8_t slope_limit;             /* 255: none */
} Fill;

static Fill prepare(const PhxCostSources *sources, const PhxCostProfile *profile) {
    Fill fill = {.sources = sources, .plain = true, .slope_limit = 255};
    for (int k = 0; k < PHX_COST_KINDS; k++) {
        fill.percent[k] = profile->kind_percent[k] ? profile->kind_percent[k] : 100;
        if (fill.percent[k] != 100 && (sources->kind || k == 0)) fill.plain = false;
    }
    if (sources->height_map && profile->slope_limit) fill.slope_limit = profile->slope_limit;
    return fill;
}

/* ground * percent / 100, half rounded up, 1..254; 255 of either stays. */
static inline uint8_t weigh(uint32_t ground, uint32_t percent) {
    const uint32_t product = (ground * percent + 50) / 100;
    const uint32_t least = product < 1 ? 1 : product, value = least > 254 ? 254 : least;
    return (uint8_t)(ground == 255 || percent == 255 ? 255 : value);
}

static inline void close_steep(uint8_t *restrict out, const uint8_t *restrict steep, uint8_t limit,
                               int32_t count) {
    for (int32_t i = 0; i < count; i++) out[i] |= steep[i] > limit ? 255 : 0;
}

/* `count` cells from (x, y) on, all in the map. */
static void fill_cells(const Fill *fill, int32_t x, int32_t y, int32_t count, uint8_t *restrict out) {
    const size_t first = (size_t)y * fill->sources->width + (size_t)x;
    const uint8_t *ground = fill->sources->ground + first;
    for (int32_t i = 0; i < count; i++) out[i] = (uint8_t)(ground[i] + (ground[i] == 0));
    if (!fill->plain && !fill->sources->kind) {
        for (int32_t i = 0; i < count; i++) out[i] = weigh(out[i], fill->percent[0]);
    } else if (!fill->plain) {
        const uint8_t *kind = fill->sources->kind + first;
        for (int32_t i = 0; i < count; i++) out[i] = weigh(out[i], fill->percent[kind[i] % PHX_COST_KINDS]);
    }
    if (fill->slope_limit == 255) return;
    uint8_t steep[PHX_COST_SPAN];
    for (int32_t done = 0; done < count; done += PHX_COST_SPAN) {
        const int32_t some = count - done < PHX_COST_SPAN ? count - done : PHX_COST_SPAN;
        phx_cost_steep(fill->sources, x + done, y, some, steep);
        close_steep(out + done, steep, fill->slope_limit, some);
    }
}

static void fill_buildings(const PhxCostWindow *window, PhxCellRect inside) {
    const PhxCostSources *sources = window->sources;
    for (uint32_t b = 0; b < sources->building_count; b++) {
        const PhxCostBuilding *building = &sources->buildings[b];
        const PhxCellRect part = phx_cost_rect_meet(building->cells, inside);
        if (phx_cost_rect_empty(part) || phx_cost_team_in(window->team, building->open_teams)) continue;
        for (int32_t y = part.y0; y < part.y1; y++)
            memset(phx_cost_window_at(window, part.x0, y), 255, (size_t)(part.x1 - part.x0));
    }
}

void phx_cost_fill(const PhxCostWindow *window) {
    const Fill fill = prepare(window->sources, window->profile);
    const PhxCellRect rect = window->rect;
    const PhxCellRect inside = phx_cost_rect_meet(rect, phx_cost_map_rect(window->sources));
    const size_t side = (size_t)(rect.x1 - rect.x0);
    for (int32_t y = rect.y0; y < rect.y1; y++) {
        uint8_t *row = phx_cost_window_at(window, rect.x0, y);
        if (phx_cost_rect_empty(inside) || y < inside.y0 || y >= inside.y1) {
            memset(row, 255, side);
            continue;
        }
        memset(row, 255, (size_t)(inside.x0 - rect.x0));
        fill_cells(&fill, inside.x0, y, inside.x1 - inside.x0, row + (inside.x0 - rect.x0));
        memset(row + (inside.x1 - rect.x0), 255, (size_t)(rect.x1 - inside.x1));
    }
    if (!phx_cost_rect_empty(inside)) fill_buildings(window, inside);
}
