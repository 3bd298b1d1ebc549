/* nav_walk.c: walks through fields. See nav_walk.h. */
#include "phx/nav_walk.h"

#include "nav/sector.h"

#include <math.h>
#include <stdlib.h>

enum { STEP = 16384 /* Q16.16, of a cell */ };

typedef struct Walk {
    PhxNavInput *input;
    PhxNavGuide guide;
    const PhxTile *tile; /* of the sector that it is in; null: none yet */
    uint32_t sector;
    PhxNavWay *way;
} Walk;

void phx_nav_way_close(PhxNavWay *way) {
    free(way->points);
    *way = (PhxNavWay){0};
}

static PhxStatus add_point(PhxNavWay *way, PhxVec2 at) {
    if (way->count == way->capacity) {
        const uint32_t capacity = 2 * way->capacity + 256;
        PhxVec2 *points = realloc(way->points, capacity * sizeof *points);
        if (points == NULL) return PHX_ERROR_MEMORY;
        way->points = points;
        way->capacity = capacity;
    }
    way->points[way->count++] = at;
    return PHX_OK;
}

/* The tile of a cell's sector, built when the walk comes there. */
static PhxStatus enter(Walk *walk, uint32_t cell) {
    const PhxNavGrid *grid = &walk->input->grid;
    const uint32_t sector = phx_sector_at(grid->width, cell % grid->width, cell / grid->width);
    PhxNavSectors *sectors = walk->guide.sectors;
    uint32_t id;
    if (sectors == NULL || (walk->tile != NULL && walk->sector == sector)) return PHX_OK;
    phx_routes_begin(sectors->routes);
    if (!phx_routes_claim(sectors->routes, 0, 0, cell, &id)) return PHX_ERROR_MEMORY;
    const PhxStatus status = phx_routes_build(sectors->routes, &sectors->jobs);
    if (status != PHX_OK) return status;
    walk->tile = phx_routes_tile(sectors->routes, id);
    walk->sector = sector;
    walk->way->tiles++;
    return PHX_OK;
}

static uint8_t code_at(const Walk *walk, uint32_t cell) {
    bool seen;
    return walk->guide.field ? walk->guide.field->flow[cell]
                             : phx_tile_flow(walk->tile, &walk->input->grid, cell, &seen);
}

PhxStatus phx_nav_walk_cells(PhxNavInput *input, PhxNavGuide guide, uint32_t from, PhxNavWay *out) {
    Walk walk = {.input = input, .guide = guide, .way = out};
    const PhxNavGrid *grid = &input->grid;
    uint32_t straight = 0, diagonal = 0, cell = from;
    *out = (PhxNavWay){0};
    /* No arrow is followed twice, as costs fall along each; a field at fault may have a circle. */
    while (out->count <= grid->width * grid->height) {
        PhxStatus status = enter(&walk, cell);
        if (status == PHX_OK) status = add_point(out, phx_nav_cell_center(grid, cell));
        if (status != PHX_OK) {
            phx_nav_way_close(out);
            return status;
        }
        const uint8_t code = code_at(&walk, cell);
        if (code >= 8) {
            out->arrived = code == PHX_FLOW_GOAL;
            break;
        }
        cell = (uint32_t)((int64_t)cell + phx_flow_dy[code] * (int64_t)grid->width + phx_flow_dx[code]);
        const uint32_t weight = code % 2 ? input->weights.diagonal : input->weights.straight;
        out->cost += (uint64_t)weight * grid->cost[cell];
        straight += code % 2 == 0;
        diagonal += code % 2;
    }
    out->end = cell;
    out->length = straight + diagonal * sqrt(2);
    return PHX_OK;
}

static PhxDir direction_at(const Walk *walk, PhxVec2 at, PhxVec2 goal) {
    return walk->guide.field ? phx_field_direction(walk->guide.field, at.x, at.y)
                             : phx_tile_direction(walk->tile, &walk->input->grid, goal, at.x, at.y);
}

/* One step in Q16.16; rounding is of no matter here. */
static fix16_t part_of(int32_t direction) { return (fix16_t)((int64_t)direction * STEP / (1 << 30)); }

/* One step; *done where the walk ends. */
static PhxStatus step(Walk *walk, PhxVec2 *at, PhxVec2 goal, bool *done) {
    const PhxNavGrid *grid = &walk->input->grid;
    const uint32_t cell = phx_nav_cell_clamped(grid, at->x, at->y);
    PhxNavWay *way = walk->way;
    PhxStatus status = enter(walk, cell);
    if (status != PHX_OK) return status;
    const PhxDir dir = direction_at(walk, *at, goal);
    const bool home = code_at(walk, cell) == PHX_FLOW_GOAL;
    const double rest = hypot((double)(goal.x - at->x), (double)(goal.y - at->y)) / 65536;
    *done = home || (dir.x == 0 && dir.y == 0);
    if (home) {
        way->arrived = true;
        way->end = cell;
        way->length += cell == phx_nav_cell_clamped(grid, goal.x, goal.y) ? rest : 0;
        return add_point(way, phx_nav_cell_center(grid, cell));
    }
    if (*done) return PHX_OK;
    at->x += part_of(dir.x);
    at->y += part_of(dir.y);
    way->length += STEP / 65536.0;
    return add_point(way, *at);
}

PhxStatus phx_nav_walk_smooth(PhxNavInput *input, PhxNavGuide guide, uint32_t from, uint32_t end,
                              PhxNavWay *out) {
    Walk walk = {.input = input, .guide = guide, .way = out};
    const PhxVec2 goal = phx_nav_cell_center(&input->grid, end);
    PhxVec2 at = phx_nav_cell_center(&input->grid, from);
    const double most = 4.0 * input->grid.width * input->grid.height + 16;
    bool done = false;
    *out = (PhxNavWay){0};
    PhxStatus status = add_point(out, at);
    while (status == PHX_OK && !done && out->length < most) status = step(&walk, &at, goal, &done);
    if (status != PHX_OK) phx_nav_way_close(out);
    return status;
}
