/* cost_add.c: what makes open cells dearer or cheaper: slope, density, modifiers, and the margin of walls.
 *
 * In: a filled window. Out: its passable cells with all sums added at once, then clamped to 1..254, so that
 * the order of sources doesn't matter. Cost: a few ns a cell; modifiers about 10 ns for each cell that one
 * reaches. Distances are those of cell centres; those of a modifier are rounded down to 1/65536 of a cell.
 * Determinism: integers; sums of at most some thousand times 253; a cell's sum depends on its own sources and
 * on the walls within the margin's width.
 */
#include <string.h>

#include "base/assert.h"
#include "nav/cost_steep.h"
#include "nav/cost_work.h"
#include "nav/nearest.h"

enum {
    FAR = 64, /* a squared distance beyond every margin */
    FALLS = FAR + PHX_COST_MARGIN_WIDTH * PHX_COST_MARGIN_WIDTH + 1,
    LISTED = 256 /* modifiers that are noted for a window; more are looked for in each row */
};

typedef struct Add {
    const PhxCostWindow *window;
    PhxCellRect inner;
    int32_t margin;      /* its width; 0: none */
    uint8_t fall[FALLS]; /* what the margin costs at each squared distance */
    uint32_t listed;
    uint32_t rest; /* the first modifier that wasn't looked at */
    uint32_t list[LISTED];
} Add;

/* The whole cost at distance 1, 0 at distance width + 1. */
static void prepare_margin(Add *add) {
    const PhxCostProfile *profile = add->window->profile;
    const int64_t width = add->margin = phx_cost_margin_width(profile);
    for (int64_t d = 0; d < FALLS; d++) add->fall[d] = 0;
    if (!width) return;
    for (int64_t d = 1; d < (width + 1) * (width + 1); d++) {
        const int64_t left = (width + 1) * 65536 - phx_isqrt64((uint64_t)d << 32);
        add->fall[d] = (uint8_t)phx_div_round(profile->margin_cost * left, width * 65536);
    }
}

static bool concerns(const PhxCostModifier *modifier, uint32_t team, PhxCellRect rect) {
    return phx_cost_team_in(team, modifier->teams) &&
           !phx_cost_rect_empty(phx_cost_rect_meet(phx_cost_modifier_rect(modifier), rect));
}

static void prepare_modifiers(Add *add) {
    const PhxCostSources *sources = add->window->sources;
    add->listed = 0;
    for (add->rest = 0; add->rest < sources->modifier_count && add->listed < LISTED; add->rest++)
        if (concerns(&sources->modifiers[add->rest], add->window->team, add->inner))
            add->list[add->listed++] = add->rest;
}

/* One modifier, in one row. The division by 2 * radius is a product with a reciprocal rounded up; it is
 * exact, as 507 * radius * (2 * radius) < 2^54 for radii up to 64. */
static void add_modifier(const PhxCostModifier *modifier, int32_t y, int32_t x0, int32_t x1,
                         int32_t *restrict sum) {
    const PhxCellRect rect = phx_cost_modifier_rect(modifier);
    if (y < rect.y0 || y >= rect.y1) return;
    const int64_t radius =
        modifier->radius < PHX_COST_RADIUS_LIMIT ? modifier->radius : PHX_COST_RADIUS_LIMIT;
    const bool attracts = modifier->strength < 0;
    const int64_t asked = attracts ? -(int64_t)modifier->strength : modifier->strength;
    const uint64_t strength = (uint64_t)(asked < PHX_COST_STRENGTH_LIMIT ? asked : PHX_COST_STRENGTH_LIMIT);
    const uint64_t reciprocal = ((uint64_t)1 << 54) / (uint64_t)(2 * radius) + 1;
    const int64_t dy = (int64_t)y * 65536 + PHX_NAV_HALF - modifier->y;
    const int64_t left = radius * radius - dy * dy;
    const int32_t first = rect.x0 > x0 ? rect.x0 : x0, last = rect.x1 < x1 ? rect.x1 : x1;
    for (int32_t x = first; x < last; x++) {
        const int64_t dx = (int64_t)x * 65536 + PHX_NAV_HALF - modifier->x;
        if (dx * dx >= left) continue;
        const uint64_t near = (uint64_t)radius - phx_isqrt64((uint64_t)(dx * dx + dy * dy));
        const int32_t value = (int32_t)((2 * strength * near + (uint64_t)radius) * reciprocal >> 54);
        sum[x - x0] += attracts ? -value : value;
    }
}

static void add_modifiers(const Add *add, int32_t y, int32_t *restrict sum) {
    const PhxCostModifier *modifiers = add->window->sources->modifiers;
    const int32_t x0 = add->inner.x0, x1 = add->inner.x1;
    for (uint32_t i = 0; i < add->listed; i++) add_modifier(&modifiers[add->list[i]], y, x0, x1, sum);
    for (uint32_t i = add->rest; i < add->window->sources->modifier_count; i++)
        if (concerns(&modifiers[i], add->window->team, add->inner))
            add_modifier(&modifiers[i], y, x0, x1, sum);
}

/* A wall in either row of a column is `square` away from it. */
static inline void mark_walls(uint8_t *restrict column, const uint8_t *restrict above,
                              const uint8_t *restrict below, uint8_t square, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        const uint8_t wall = above[i] > below[i] ? above[i] : below[i];
        const uint8_t here = wall == 255 ? square : FAR;
        column[i] = here < column[i] ? here : column[i];
    }
}

/* The least of itself and what stands beside it, `square` farther off. */
static inline void look_beside(uint8_t *restrict nearest, const uint8_t *restrict beside, uint8_t square,
                               int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        const uint8_t far = (uint8_t)(beside[i] + square);
        nearest[i] = far < nearest[i] ? far : nearest[i];
    }
}

/* Squared distances to the nearest wall: first along columns, then over the columns. */
static void add_margin(const Add *add, int32_t y, int32_t count, int32_t *restrict sum) {
    const int32_t width = add->margin, wide = count + 2 * width, x = add->inner.x0 - width;
    uint8_t column[PHX_COST_WINDOW], nearest[PHX_COST_VALUES];
    memset(column, FAR, (size_t)wide);
    memset(nearest, FAR, (size_t)count);
    for (int32_t k = width; k >= 0; k--)
        mark_walls(column, phx_cost_window_at(add->window, x, y - k),
                   phx_cost_window_at(add->window, x, y + k), (uint8_t)(k * k), wide);
    for (int32_t k = -width; k <= width; k++)
        look_beside(nearest, column + width + k, (uint8_t)(k * k), count);
    for (int32_t i = 0; i < count; i++) sum[i] += add->fall[nearest[i]];
}

static void add_row(const Add *add, int32_t y) {
    const PhxCostSources *sources = add->window->sources;
    const PhxCostProfile *profile = add->window->profile;
    const int32_t x = add->inner.x0, count = add->inner.x1 - x;
    const size_t first = (size_t)y * sources->width + (size_t)x;
    int32_t sum[PHX_COST_VALUES];
    for (int32_t i = 0; i < count; i++) sum[i] = 0;
    if (sources->height_map && profile->slope_cost) {
        uint8_t steep[PHX_COST_SPAN];
        phx_cost_steep(sources, x, y, count, steep);
        for (int32_t i = 0; i < count; i++) sum[i] += steep[i] * profile->slope_cost;
    }
    if (sources->density && profile->density_cost)
        for (int32_t i = 0; i < count; i++)
            sum[i] += sources->density[first + (size_t)i] * profile->density_cost;
    if (add->margin) add_margin(add, y, count, sum);
    add_modifiers(add, y, sum);
    uint8_t *row = phx_cost_window_at(add->window, x, y);
    for (int32_t i = 0; i < count; i++) {
        const int32_t value = row[i] + sum[i];
        const int32_t least = value < 1 ? 1 : value, clamped = least > 254 ? 254 : least;
        row[i] = row[i] == 255 ? 255 : (uint8_t)clamped;
    }
}

bool phx_cost_adds(const PhxCostSources *sources, const PhxCostProfile *profile, uint32_t team,
                   PhxCellRect rect) {
    if (sources->height_map && profile->slope_cost) return true;
    if (sources->density && profile->density_cost) return true;
    if (phx_cost_margin_width(profile)) return true;
    for (uint32_t i = 0; i < sources->modifier_count; i++)
        if (concerns(&sources->modifiers[i], team, rect)) return true;
    return false;
}

void phx_cost_add(const PhxCostWindow *window, PhxCellRect inner) {
    if (phx_cost_rect_empty(inner)) return;
    PHX_ASSERT(inner.x1 - inner.x0 <= PHX_COST_VALUES, inner.x0, inner.x1);
    Add add;
    add.window = window;
    add.inner = inner;
    prepare_margin(&add);
    prepare_modifiers(&add);
    for (int32_t y = inner.y0; y < inner.y1; y++) add_row(&add, y);
}
