/* tile_check.c: the proof of all tiles of one set of goals, for tests and tools.
 *
 * In: a tile for every sector, the plane. Out: PHX_OK, or the first cell that breaks a rule (tile.h). That no
 * circle exists follows: costs fall along each arrow. That every cell which a way joins with a goal has one
 * follows too: goals are reached, and no open cell beside a reached one is unreached. Written without the
 * code of the build. Cost: linear.
 */
#include "nav/tile.h"

typedef struct Check {
    const PhxTile *const *tiles;
    const PhxNavGrid *grid;
    PhxFieldWeights weights;
    PhxError *error;
    uint32_t cell;
    int32_t x, y;
} Check;

static PhxStatus fail(const Check *check, const char *what) {
    const PhxTile *tile =
        check->tiles[phx_sector_at(check->grid->width, (uint32_t)check->x, (uint32_t)check->y)];
    return phx_error_set(check->error, PHX_ERROR_MISMATCH, check->cell,
                         "cell (%d, %d), code %d, cost %llu: %s", (int)check->x, (int)check->y,
                         (int)phx_tile_flow(tile, check->grid, check->cell, NULL),
                         (unsigned long long)phx_tile_cost(tile, check->grid, check->cell), what);
}

static bool may_step(const Check *check, uint32_t d) {
    const int32_t dx = phx_flow_dx[d], dy = phx_flow_dy[d];
    return phx_nav_passable(check->grid, check->x + dx, check->y + dy) &&
           phx_nav_passable(check->grid, check->x + dx, check->y) &&
           phx_nav_passable(check->grid, check->x, check->y + dy);
}

/* The cost told for the cell a step away, and its sector. */
static uint64_t cost_beside(const Check *check, uint32_t d, uint32_t *cell, uint32_t *sector) {
    const uint32_t x = (uint32_t)(check->x + phx_flow_dx[d]), y = (uint32_t)(check->y + phx_flow_dy[d]);
    *cell = y * check->grid->width + x;
    *sector = phx_sector_at(check->grid->width, x, y);
    return phx_tile_cost(check->tiles[*sector], check->grid, *cell);
}

/* Whether a cell lies farther than its tile can tell. */
static bool is_beyond_told(const Check *check, uint32_t sector, uint32_t cell) {
    const uint32_t width = check->grid->width;
    return check->tiles[sector]->sum[phx_sector_local(cell % width, cell / width)] == PHX_FIELD_UNREACHED - 1;
}

static PhxStatus check_arrow(const Check *check, uint32_t sector, uint64_t own, uint32_t d) {
    if (!may_step(check, d)) return fail(check, "the arrow leads into a wall or through a corner");
    uint32_t next, next_sector;
    const uint64_t beyond = cost_beside(check, d, &next, &next_sector);
    if (beyond == UINT64_MAX) return fail(check, "the arrow leads to an unreached cell");
    if (is_beyond_told(check, sector, check->cell) || is_beyond_told(check, next_sector, next)) return PHX_OK;
    const uint64_t step =
        (uint64_t)(d % 2 ? check->weights.diagonal : check->weights.straight) * check->grid->cost[next];
    if (next_sector == sector && own != beyond + step)
        return fail(check, "the cost doesn't fall by the step along the arrow");
    if (own < beyond + step) return fail(check, "the cost falls by less than the step over the border");
    return PHX_OK;
}

static PhxStatus check_passable(const Check *check) {
    const uint32_t sector = phx_sector_at(check->grid->width, (uint32_t)check->x, (uint32_t)check->y);
    const PhxTile *tile = check->tiles[sector];
    const uint64_t own = phx_tile_cost(tile, check->grid, check->cell);
    bool in_sight;
    const uint8_t code = phx_tile_flow(tile, check->grid, check->cell, &in_sight);
    if (code == PHX_FLOW_WALL) return fail(check, "a passable cell that is marked as a wall");
    if (code == PHX_FLOW_GOAL) return own == 0 ? PHX_OK : fail(check, "a goal whose cost isn't 0");
    if (code < PHX_FLOW_GOAL) return check_arrow(check, sector, own, code);
    if (own != UINT64_MAX || in_sight) return fail(check, "a cell without way that has a cost");
    for (uint32_t d = 0; d < 8; d++) {
        uint32_t next, next_sector;
        if (may_step(check, d) && cost_beside(check, d, &next, &next_sector) != UINT64_MAX)
            return fail(check, "unreached beside a reached cell");
    }
    return PHX_OK;
}

PhxStatus phx_tiles_check(const PhxTile *const *tiles, const PhxNavGrid *grid, PhxFieldWeights weights,
                          const uint32_t *goals, uint32_t goal_count, PhxError *error) {
    Check check = {.tiles = tiles, .grid = grid, .weights = weights, .error = error};
    uint64_t goals_found = 0;
    for (check.cell = 0; check.cell < grid->width * grid->height; check.cell++) {
        check.x = (int32_t)(check.cell % grid->width);
        check.y = (int32_t)(check.cell / grid->width);
        const PhxTile *tile = tiles[phx_sector_at(grid->width, (uint32_t)check.x, (uint32_t)check.y)];
        PhxStatus status = PHX_OK;
        if (grid->cost[check.cell] != PHX_NAV_IMPASSABLE)
            status = check_passable(&check);
        else if (phx_tile_flow(tile, grid, check.cell, NULL) != PHX_FLOW_WALL)
            status = fail(&check, "a wall that isn't marked as one");
        if (status) return status;
        goals_found += phx_tile_flow(tile, grid, check.cell, NULL) == PHX_FLOW_GOAL;
    }
    uint64_t wanted = 0;
    for (uint32_t i = 0; i < goal_count; i++) {
        const uint32_t x = goals[i] % grid->width, y = goals[i] / grid->width;
        check.cell = goals[i], check.x = (int32_t)x, check.y = (int32_t)y;
        if (phx_tile_cost(tiles[phx_sector_at(grid->width, x, y)], grid, goals[i]) != 0)
            return fail(&check, "a goal that isn't one in the tile");
        bool again = false;
        for (uint32_t j = 0; j < i && !again; j++) again = goals[j] == goals[i];
        wanted += !again;
    }
    check.x = check.y = 0, check.cell = 0;
    return goals_found == wanted ? PHX_OK
                                 : fail(&check, "more goals than were given (the cell is none of them)");
}
