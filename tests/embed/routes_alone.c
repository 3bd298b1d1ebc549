/* Sector routes without a world: a map, a goal, a unit that walks there, and a building in its way. */
#include <phalanx/routes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 512 };
static uint8_t ground[SIDE * SIDE];

static void must(PhxStatus status) {
    if (status != PHX_OK) exit((fprintf(stderr, "%s\n", phx_status_text(status)), 1));
}

/* What entering the cells of a rectangle costs: here the ground. phalanx/cost.h composes a good deal more. */
static void compose(void *user, uint32_t layer, PhxCellRect rect, uint8_t *plane) {
    (void)user, (void)layer;
    for (int32_t y = rect.y0; y < rect.y1; y++)
        memcpy(plane + y * SIDE + rect.x0, ground + y * SIDE + rect.x0, (size_t)(rect.x1 - rect.x0));
}

/* The number of a set of goals, which is the game's choice, is here its only cell. */
static uint32_t goals(void *user, uint32_t layer, uint64_t goal, uint32_t *cells) {
    (void)user, (void)layer;
    cells[0] = (uint32_t)goal;
    return 1;
}

int main(void) {
    const PhxJobs jobs = phx_jobs_serial();
    PhxRoutesConfig config = {.width = SIDE, .height = SIDE, .weights = PHX_FIELD_WEIGHTS_DEFAULT};
    config.allocator = phx_allocator_default();
    config.workers = jobs.workers;
    config.cache_bytes = 8 << 20; /* more or less of it never changes a result */
    config.compose = compose;
    config.goals = goals;
    const PhxCellRect building = {80, 90, 110, 120};
    const uint32_t goal = 400 * SIDE + 450; /* cell (450, 400) */
    PhxRoutes *routes;
    memset(ground, 1, sizeof ground); /* 1 to 254; 255 is a wall */
    must(phx_routes_create(&config, &routes));
    must(phx_routes_open(routes, 0, &jobs)); /* a layer: a size of unit, a team; and its portal graph */
    const PhxNavGrid plane = phx_routes_plane(routes, 0);
    const PhxVec2 to = phx_nav_cell_center(&plane, goal);
    PhxVec2 at = phx_nav_cell_center(&plane, 10 * SIDE + 20);
    uint32_t tick = 0, tile;
    for (; tick < 5000 && phx_nav_cell_at(&plane, at.x, at.y) != goal; tick++) {
        if (tick == 50) { /* every change of the ground: touch, then refresh */
            for (int32_t y = building.y0; y < building.y1; y++)
                memset(ground + y * SIDE + building.x0, 255, 30);
            phx_routes_touch(routes, building);
            must(phx_routes_refresh(routes, &jobs));
        }
        phx_routes_begin(routes); /* a batch: claim for all units, build once, then read */
        phx_routes_claim(routes, 0, goal, phx_nav_cell_at(&plane, at.x, at.y), &tile);
        must(phx_routes_build(routes, &jobs));
        const PhxDir dir = phx_tile_direction(phx_routes_tile(routes, tile), &plane, to, at.x, at.y);
        at.x += dir.x / 32768; /* a unit vector Q2.30 times half a cell */
        at.y += dir.y / 32768;
    }
    printf("there after %u ticks, %u tiles\n", (unsigned)tick, (unsigned)phx_routes_use(routes).tiles_built);
    phx_routes_destroy(routes);
}
