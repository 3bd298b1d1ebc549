/* arrival_real_maps.c: hundreds of units from random reachable cells of real maps, ordered to one point.
 *
 * Every unit must settle within 1.3 times the radius of the disc, cut by walls, that holds them all at a
 * packing of 80%: the least r at which the open cells that are joined with the goal inside of the disc of
 * radius r have room for them. None gives up, none is inside a wall at any tick, and when all have settled
 * they rest. Ticks are printed against the ideal time of the longest path: its cost over the speed. By
 * default two maps and fewer units; PHX_LONG=1: 500 units on all 20 maps (PHX_ARRIVAL_MAP: on the one of that
 * name). The game maps belong to others and lie outside of the project.
 */
#include <math.h>
#include <phalanx/content.h>
#include <phalanx/walls.h>
#include <stdlib.h>

#include "content/moving_ai.h"
#include "harness.h"

enum { UNITS = 500, FEW_UNITS = 150, RATE = 10, SPEED = 4, REST_TICKS = 20 * RATE };
static const double radius = 0.4, packing = 0.8, allowed = 1.3;

typedef struct Scene {
    const char *name;
    PhxMovingAiMap map;
    uint32_t goal, units;
    double disc;        /* radius of the cut disc, world units */
    double ideal_ticks; /* of the longest path */
    PhxSim *sim;
} Scene;

static fix16_t fixed(double v) { return (fix16_t)lround(v * 65536); }

static PhxVec2 center(const Scene *scene, uint32_t cell) {
    return phx_nav_cell_center(&(PhxNavGrid){scene->map.width, scene->map.height, scene->map.cost}, cell);
}

/* Cells within `r` of the goal that are joined with it inside of that disc. */
static uint32_t cells_of_disc(const Scene *scene, double r, uint8_t *seen, uint32_t *stack) {
    const int32_t width = (int32_t)scene->map.width, height = (int32_t)scene->map.height;
    const int32_t gx = (int32_t)scene->goal % width, gy = (int32_t)scene->goal / width;
    const PhxNavGrid grid = {scene->map.width, scene->map.height, scene->map.cost};
    uint32_t count = 0, depth = 0;
    memset(seen, 0, (size_t)width * (size_t)height);
    stack[depth++] = scene->goal;
    seen[scene->goal] = 1;
    while (depth > 0) {
        const int32_t cell = (int32_t)stack[--depth];
        count++;
        for (int code = 0; code < 8; code += 2) { /* straight steps: a diagonal one needs both of them */
            const int32_t x = cell % width + phx_flow_dx[code], y = cell / width + phx_flow_dy[code];
            if (!phx_nav_passable(&grid, x, y) || seen[y * width + x]) continue;
            if ((x - gx) * (x - gx) + (y - gy) * (y - gy) > r * r) continue;
            seen[y * width + x] = 1;
            stack[depth++] = (uint32_t)(y * width + x);
        }
    }
    return count;
}

static double radius_of_disc(const Scene *scene) {
    const size_t cells = (size_t)scene->map.width * scene->map.height;
    const double area = scene->units * 3.14159265358979 * radius * radius / packing;
    uint8_t *seen = malloc(cells);
    uint32_t *stack = malloc(cells * sizeof *stack);
    double r = 0.5;
    while (cells_of_disc(scene, r, seen, stack) < area) r += 0.125;
    free(seen), free(stack);
    return r;
}

static void load_map(Scene *scene, const char *name) {
    const PhxMovingAiCosts costs = {1, 1, PHX_NAV_IMPASSABLE, PHX_NAV_IMPASSABLE};
    char path[256];
    size_t size;
    PhxError error = {0};
    snprintf(path, sizeof path, "maps/%s.map", name);
    char *bytes = test_read_file(test_shared(path), &size);
    CHECK_THAT(bytes, "%s", path);
    const PhxStatus status =
        phx_moving_ai_read_map(bytes, size, name, costs, phx_allocator_default(), &scene->map, &error);
    CHECK_THAT(status == PHX_OK, "%s", error.text);
    free(bytes);
    scene->name = name;
}

/* A goal that at least half of the open cells lead to, and the cost of the way there from each cell. */
static PhxField choose_goal(Scene *scene, uint64_t *seed, void **memory) {
    const PhxNavGrid grid = {scene->map.width, scene->map.height, scene->map.cost};
    const uint32_t cells = grid.width * grid.height;
    void *scratch = malloc(phx_field_scratch_size(grid.width, grid.height));
    *memory = malloc(phx_field_size(grid.width, grid.height));
    PhxField field;
    phx_field_init(&field, grid.width, grid.height, *memory);
    for (;;) {
        uint32_t open = 0, reached = 0;
        scene->goal = (uint32_t)test_range(seed, 0, cells - 1);
        if (grid.cost[scene->goal] == PHX_NAV_IMPASSABLE) continue;
        CHECK_OK(phx_field_build(&field, &grid, PHX_FIELD_WEIGHTS_DEFAULT, &scene->goal, 1, scratch));
        for (uint32_t c = 0; c < cells; c++) {
            open += grid.cost[c] != PHX_NAV_IMPASSABLE;
            reached += field.integration[c] != PHX_FIELD_UNREACHED;
        }
        if (2 * reached > open) break;
    }
    free(scratch);
    return field;
}

static PhxSim *make_sim(Scene *scene, uint64_t *seed) {
    const PhxSettings settings = {11, RATE, 1, 2};
    PhxUnitTypeDef def = phx_content_unit_type_default();
    PhxContentBuilder *builder;
    PhxError error = {0};
    PhxSim *sim;
    uint16_t type;
    void *memory;
    const PhxField field = choose_goal(scene, seed, &memory);
    const uint32_t cells = scene->map.width * scene->map.height;
    uint8_t *taken = calloc(cells, 1);
    uint32_t longest = 0;
    def.name = "walker", def.radius = fixed(radius), def.speed = SPEED * 65536;
    CHECK_OK(phx_content_begin(&settings, scene->map.width, scene->map.height, scene->map.cost, scene->units,
                               16, &builder, &error));
    CHECK_OK(phx_content_add_player(builder, "one", 0, &error));
    CHECK_OK(phx_content_add_unit_type(builder, &def, &type, &error));
    for (uint32_t placed = 0; placed < scene->units;) {
        const uint32_t cell = (uint32_t)test_range(seed, 0, cells - 1);
        if (taken[cell] || field.integration[cell] == PHX_FIELD_UNREACHED) continue;
        const PhxVec2 at = center(scene, cell);
        CHECK_OK(phx_content_add_unit(builder, type, 0, at.x, at.y, (PhxAngle)test_random(seed), &error));
        if (field.integration[cell] > longest) longest = field.integration[cell];
        taken[cell] = 1, placed++;
    }
    scene->ideal_ticks = longest / 10.0 / SPEED * RATE;
    size_t size = phx_content_size(builder);
    uint8_t *blob = malloc(size);
    CHECK_OK(phx_content_write(builder, blob, size, &size));
    phx_content_end(builder);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &sim, &error));
    free(blob), free(taken), free(memory);
    return sim;
}

static void order_all(const Scene *scene) {
    static PhxHandle handles[UNITS];
    static uint8_t bytes[PHX_COMMAND_SIZE_LIMIT];
    const PhxVec2 at = center(scene, scene->goal);
    PhxCommandData move = {.type = PHX_COMMAND_MOVE,
                           .goal_x = at.x,
                           .goal_y = at.y,
                           .unit_count = (uint16_t)scene->units,
                           .units = handles};
    size_t size;
    for (uint32_t i = 0; i < scene->units; i++) handles[i] = phx_sim_unit_handle(scene->sim, i);
    CHECK_OK(phx_command_encode(&move, bytes, sizeof bytes, &size));
    CHECK_OK(phx_sim_step(scene->sim, &(PhxCommand){0, 0, (uint32_t)size, bytes}, 1));
}

typedef struct Outcome {
    uint32_t idle, outside, gave_up, in_wall;
    double farthest; /* from the goal, world units */
} Outcome;

static void look(const Scene *scene, Outcome *outcome) {
    const PhxUnitView units = phx_sim_units(scene->sim);
    const PhxNavGrid grid = phx_sim_map(scene->sim);
    const PhxVec2 goal = center(scene, scene->goal);
    uint32_t count;
    const PhxEvent *events = phx_sim_events(scene->sim, &count);
    for (uint32_t i = 0; i < count; i++) outcome->gave_up += events[i].kind == PHX_EVENT_GAVE_UP;
    outcome->idle = outcome->outside = 0;
    outcome->farthest = 0;
    for (uint32_t i = 0; i < scene->units; i++) {
        const PhxVec2 at = {units.pos_x[i], units.pos_y[i]};
        const double distance = hypot(at.x - goal.x, at.y - goal.y) / 65536;
        outcome->idle += units.activity[i] == 0;
        outcome->outside += distance > allowed * scene->disc;
        outcome->in_wall += !phx_walls_clear(&grid, at, fixed(radius));
        if (distance > outcome->farthest) outcome->farthest = distance;
    }
}

/* Farthest that a unit moves in one second of the following ones, world units. */
static double unrest(const Scene *scene, Outcome *outcome) {
    const PhxUnitView units = phx_sim_units(scene->sim);
    PhxVec2 before[UNITS] = {{0, 0}};
    double most = 0;
    for (int t = 0; t <= REST_TICKS; t++) {
        for (uint32_t i = 0; t % RATE == 0 && i < scene->units; i++) {
            const PhxVec2 at = {units.pos_x[i], units.pos_y[i]};
            if (t > REST_TICKS / 2) most = fmax(most, hypot(at.x - before[i].x, at.y - before[i].y) / 65536);
            before[i] = at;
        }
        CHECK_OK(phx_sim_step(scene->sim, NULL, 0));
        look(scene, outcome);
    }
    return most;
}

static void free_scene(Scene *scene) {
    phx_sim_destroy(scene->sim);
    phx_moving_ai_free_map(&scene->map);
}

/* Whether all went as it should. */
static bool run_map(const char *name, uint32_t units) {
    uint64_t seed = 2026;
    Scene scene = {.units = units};
    Outcome outcome = {0};
    load_map(&scene, name);
    scene.sim = make_sim(&scene, &seed);
    scene.disc = radius_of_disc(&scene);
    const uint32_t limit = (uint32_t)(8 * scene.ideal_ticks) + 300 * RATE;
    order_all(&scene);
    look(&scene, &outcome);
    while (outcome.idle < units && phx_sim_tick(scene.sim) < limit) {
        CHECK_OK(phx_sim_step(scene.sim, NULL, 0));
        look(&scene, &outcome);
    }
    const uint32_t ticks = phx_sim_tick(scene.sim), idle = outcome.idle;
    const double moved = unrest(&scene, &outcome);
    const bool good = idle == units && outcome.idle == units && outcome.outside == 0 &&
                      outcome.gave_up == 0 && outcome.in_wall == 0 && moved < 0.01 * radius;
    fprintf(stderr,
            "%-22s %u settled in %5u ticks, longest path %6.0f (%.2f); disc %5.2f, farthest %5.2f of %5.2f; "
            "outside %u, gave up %u, in walls %u, unrest %.4f%s\n",
            name, idle, ticks, scene.ideal_ticks, ticks / scene.ideal_ticks, scene.disc, outcome.farthest,
            allowed * scene.disc, outcome.outside, outcome.gave_up, outcome.in_wall, moved,
            good ? "" : "  <-- not as it should be");
    free_scene(&scene);
    return good;
}

PHX_TEST(arrival, crowds_settle_within_their_disc_on_real_maps) {
    static const char *const names[] = {
        "dao/arena2",       "da2/ht_chantry",          "dao/den000d",      "dao/brc202d",
        "dao/orz900d",      "da2/w_woundedcoast",      "bg512/AR0011SR",   "bg512/AR0700SR",
        "rooms/16room_000", "random/random512-20-0",   "rooms/64room_003", "mazes/maze512-32-0",
        "sc1/Labyrinth",    "sc1/AcrosstheCape",       "sc1/Aftershock",   "mazes/maze512-8-0",
        "sc1/Archipelago",  "wc3maps512/battleground", "sc1/Octopus",      "sc1/BigGameHunters"};
    const char *only = getenv("PHX_ARRIVAL_MAP"), *asked = getenv("PHX_LONG");
    const bool all = only || (asked && strcmp(asked, "1") == 0);
    uint32_t bad = 0, run = 0;
    for (size_t i = 0; i < (all ? sizeof names / sizeof names[0] : 2); i++) {
        if (only && !strstr(names[i], only)) continue;
        bad += !run_map(names[i], all ? UNITS : FEW_UNITS);
        run++;
    }
    CHECK_THAT(bad == 0 && run > 0, "%u of %u maps", bad, run);
}
