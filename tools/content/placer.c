/* placer.c: room for bodies on a map. See placer.h. */
#include "content/placer.h"

#include <phalanx/rng.h>
#include <stdlib.h>
#include <string.h>

enum { SCATTER_TRIES = 4000 };

PhxStatus phx_placer_begin(PhxPlacer *placer, const PhxNavGrid *grid, PhxGround *ground, uint32_t capacity) {
    const size_t cells = (size_t)grid->width * grid->height;
    *placer = (PhxPlacer){.grid = *grid, .ground = ground, .capacity = capacity};
    placer->at = calloc(capacity + 1, sizeof *placer->at);
    placer->next = calloc(capacity + 1, sizeof *placer->next);
    placer->head = malloc(cells * sizeof *placer->head);
    if (placer->at == NULL || placer->next == NULL || placer->head == NULL) {
        phx_placer_end(placer);
        return PHX_ERROR_MEMORY;
    }
    memset(placer->head, 0xff, cells * sizeof *placer->head);
    return PHX_OK;
}

void phx_placer_end(PhxPlacer *placer) {
    free(placer->at);
    free(placer->next);
    free(placer->head);
    *placer = (PhxPlacer){0};
}

static int32_t cell_of(int64_t raw) {
    return (int32_t)((raw - (raw < 0 ? PHX_FIX_ONE - 1 : 0)) / PHX_FIX_ONE);
}

/* Distance on one axis from `at` to the span [cell, cell + 1). */
static int64_t gap_to_cell(int64_t at, int32_t cell) {
    const int64_t low = (int64_t)cell * PHX_FIX_ONE, high = low + PHX_FIX_ONE;
    return at < low ? low - at : at > high ? at - high : 0;
}

bool phx_placer_fits(const PhxNavGrid *grid, PhxVec2 at, fix16_t radius) {
    const int64_t square = (int64_t)radius * radius;
    for (int32_t cy = cell_of((int64_t)at.y - radius); cy <= cell_of((int64_t)at.y + radius); cy++)
        for (int32_t cx = cell_of((int64_t)at.x - radius); cx <= cell_of((int64_t)at.x + radius); cx++) {
            if (phx_nav_passable(grid, cx, cy)) continue;
            const int64_t dx = gap_to_cell(at.x, cx), dy = gap_to_cell(at.y, cy);
            if (dx * dx + dy * dy < square) return false;
        }
    return phx_nav_cell_at(grid, at.x, at.y) != PHX_NAV_NO_CELL;
}

bool phx_placer_clear(const PhxPlacer *placer, PhxVec2 at, fix16_t distance) {
    const int64_t square = (int64_t)distance * distance;
    const int32_t width = (int32_t)placer->grid.width, height = (int32_t)placer->grid.height;
    int32_t low_x = cell_of((int64_t)at.x - distance), high_x = cell_of((int64_t)at.x + distance);
    int32_t low_y = cell_of((int64_t)at.y - distance), high_y = cell_of((int64_t)at.y + distance);
    if (low_x < 0) low_x = 0;
    if (low_y < 0) low_y = 0;
    if (high_x >= width) high_x = width - 1;
    if (high_y >= height) high_y = height - 1;
    for (int32_t cy = low_y; cy <= high_y; cy++)
        for (int32_t cx = low_x; cx <= high_x; cx++)
            for (uint32_t i = placer->head[cy * width + cx]; i != UINT32_MAX; i = placer->next[i]) {
                const int64_t dx = (int64_t)placer->at[i].x - at.x, dy = (int64_t)placer->at[i].y - at.y;
                if (dx * dx + dy * dy < square) return false;
            }
    return true;
}

void phx_placer_put(PhxPlacer *placer, PhxVec2 at) {
    const uint32_t cell = phx_nav_cell_clamped(&placer->grid, at.x, at.y), index = placer->count++;
    placer->at[index] = at;
    placer->next[index] = placer->head[cell];
    placer->head[cell] = index;
}

typedef struct Spread {
    PhxPlacer *placer;
    uint32_t left;
    fix16_t distance;
} Spread;

static bool spread_visit(void *user, uint32_t cell) {
    Spread *spread = user;
    const PhxVec2 at = phx_nav_cell_center(&spread->placer->grid, cell);
    if (!phx_placer_clear(spread->placer, at, spread->distance)) return true;
    phx_placer_put(spread->placer, at);
    return --spread->left > 0;
}

PhxStatus phx_placer_spread(PhxPlacer *placer, uint32_t from, uint32_t count, fix16_t distance) {
    Spread spread = {placer, count, distance};
    if (count == 0) return PHX_OK;
    const PhxStatus status = phx_ground_spread(placer->ground, from, spread_visit, &spread);
    if (status != PHX_OK) return status;
    return spread.left == 0 ? PHX_OK : PHX_ERROR_NOT_FOUND;
}

/* A coordinate in [low, high), on steps of 1/256 unit. */
static fix16_t draw(uint64_t value, fix16_t low, fix16_t high) {
    const uint32_t steps = (uint32_t)(((int64_t)high - low) / 256);
    return low + (fix16_t)phx_random_below(value, steps) * 256;
}

PhxStatus phx_placer_scatter(PhxPlacer *placer, PhxVec2 low, PhxVec2 high, uint32_t count, fix16_t radius,
                             fix16_t distance, uint64_t key, uint32_t purpose) {
    const PhxGround *ground = placer->ground;
    for (uint32_t i = 0, tries = 0; i < count; tries++) {
        if (tries == SCATTER_TRIES) return PHX_ERROR_NOT_FOUND;
        const PhxVec2 at = {draw(phx_random(key, purpose, i, tries, 0), low.x, high.x),
                            draw(phx_random(key, purpose, i, tries, 1), low.y, high.y)};
        const uint32_t cell = phx_nav_cell_at(&placer->grid, at.x, at.y);
        if (cell == PHX_NAV_NO_CELL || ground->piece[cell] != ground->largest ||
            !phx_placer_fits(&placer->grid, at, radius) || !phx_placer_clear(placer, at, distance))
            continue;
        phx_placer_put(placer, at);
        i++, tries = UINT32_MAX;
    }
    return PHX_OK;
}
