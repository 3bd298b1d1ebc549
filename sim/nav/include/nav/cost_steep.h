/* cost_steep.h: small kernels that two stages of a cost plane share. For the cost_*.c files of nav only. */
#ifndef PHX_NAV_COST_STEEP_H
#define PHX_NAV_COST_STEEP_H

#include <phalanx/cost.h>

enum { PHX_COST_SPAN = 128 }; /* cells that have their slopes found at once */

/* Whether a team's bit is set. Teams from 16 on have none. */
static inline bool phx_cost_team_in(uint32_t team, uint16_t mask) { return team < 16 && mask >> team & 1; }

static inline uint8_t phx_cost_step(uint8_t a, uint8_t b) { return (uint8_t)(a > b ? a - b : b - a); }
static inline uint8_t phx_cost_steeper(uint8_t a, uint8_t b) { return a > b ? a : b; }

/* The greatest height step between a cell and its neighbours E, S, W, N in the map, for `count` cells from
 * (x, y) on, all in the map. */
static inline void phx_cost_steep(const PhxCostSources *sources, int32_t x, int32_t y, int32_t count,
                                  uint8_t *restrict steep) {
    const int32_t width = (int32_t)sources->width, height = (int32_t)sources->height;
    const uint8_t *row = sources->height_map + (size_t)y * sources->width;
    const uint8_t *up = y > 0 ? row - width : row, *down = y + 1 < height ? row + width : row;
    for (int32_t i = 0; i < count; i++)
        steep[i] =
            phx_cost_steeper(phx_cost_step(row[x + i], up[x + i]), phx_cost_step(row[x + i], down[x + i]));
    for (int32_t i = x == 0; i < count; i++)
        steep[i] = phx_cost_steeper(steep[i], phx_cost_step(row[x + i], row[x + i - 1]));
    const int32_t last = x + count == width ? count - 1 : count;
    for (int32_t i = 0; i < last; i++)
        steep[i] = phx_cost_steeper(steep[i], phx_cost_step(row[x + i], row[x + i + 1]));
}

#endif
