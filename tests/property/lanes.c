/* lanes.c: marches in lanes: groups that share two gaps, go round walls, and meet in a corridor; and what a
 * plan promises.
 *
 * Throughput is told in units a second between the first and the last tenth that pass, against files abreast
 * (room over 1.0, rounded down) times speed over 1.0. The limits are what is held; the figures are printed.
 */
#include <math.h>
#include <phalanx/content.h>
#include <phalanx/walls.h>

#include "harness.h"
#include "step/sim_internal.h"

enum { RATE = 20, SIDE = 160, MOST = 200 };
#define RADIUS 0.4
#define SPEED  2.0

typedef struct Walker {
    double x, y;
    uint32_t group;
} Walker;

typedef struct Scene {
    uint8_t cost[SIDE * SIDE];
    uint32_t side, count, groups;
    Walker walker[MOST];
    double goal_x[2], goal_y[2];
} Scene;

static fix16_t fixed(double v) { return (fix16_t)lrint(v * 65536); }

static void fill(Scene *scene, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1, uint8_t cost) {
    for (uint32_t y = y0; y < y1; y++) memset(scene->cost + y * scene->side + x0, cost, x1 - x0);
}

static void begin(Scene *scene, uint32_t side, uint8_t cost) {
    memset(scene, 0, sizeof *scene);
    scene->side = side;
    fill(scene, 0, 0, side, side, cost);
}

/* `count` units of a group, in rows of `across`, `gap` apart. */
static void put(Scene *scene, uint32_t count, uint32_t across, double x, double y, double dx, double dy) {
    for (uint32_t i = 0; i < count; i++)
        scene->walker[scene->count++] = (Walker){x + i / across * dx, y + i % across * dy, scene->groups};
    scene->groups++;
}

static PhxSim *make_sim(const Scene *scene, PhxJobs jobs) {
    const PhxSettings settings = {7, RATE, 1, 2};
    PhxUnitTypeDef def = phx_content_unit_type_default();
    PhxContentBuilder *builder;
    PhxError error = {0};
    PhxSim *sim;
    uint16_t type;
    def.name = "walker", def.radius = fixed(RADIUS), def.speed = fixed(SPEED);
    CHECK_OK(phx_content_begin(&settings, scene->side, scene->side, scene->cost, scene->count, 64, &builder,
                               &error));
    CHECK_OK(phx_content_add_player(builder, "one", 0, &error));
    CHECK_OK(phx_content_add_unit_type(builder, &def, &type, &error));
    for (uint32_t i = 0; i < scene->count; i++)
        CHECK_OK(phx_content_add_unit(builder, type, 0, fixed(scene->walker[i].x), fixed(scene->walker[i].y),
                                      0, &error));
    size_t size = phx_content_size(builder);
    uint8_t *blob = malloc(size);
    CHECK_OK(phx_content_write(builder, blob, size, &size));
    phx_content_end(builder);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){.jobs = jobs}, blob, size, NULL, &sim, &error));
    free(blob);
    return sim;
}

static void order_all(PhxSim *sim, const Scene *scene) {
    static uint8_t bytes[2][PHX_COMMAND_SIZE_LIMIT];
    PhxCommand commands[2];
    for (uint32_t g = 0; g < scene->groups; g++) {
        PhxHandle units[MOST];
        uint16_t count = 0;
        for (uint32_t i = 0; i < scene->count; i++)
            if (scene->walker[i].group == g) units[count++] = phx_sim_unit_handle(sim, i);
        const PhxCommandData march = {.type = PHX_COMMAND_MARCH,
                                      .goal_x = fixed(scene->goal_x[g]),
                                      .goal_y = fixed(scene->goal_y[g]),
                                      .lane_spread = PHX_LANE_SPREAD,
                                      .unit_count = count,
                                      .units = units};
        size_t size;
        CHECK_OK(phx_command_encode(&march, bytes[g], sizeof bytes[g], &size));
        commands[g] = (PhxCommand){0, g, (uint32_t)size, bytes[g]};
    }
    CHECK_OK(phx_sim_step(sim, commands, scene->groups));
}

static double at_x(const PhxUnitView *units, uint32_t i) { return units->pos_x[i] / 65536.0; }
static double at_y(const PhxUnitView *units, uint32_t i) { return units->pos_y[i] / 65536.0; }

/* The deepest overlap in radii, and how many don't move any more; nobody may touch a wall. */
static uint32_t watch(const PhxSim *sim, const Scene *scene, double *deepest) {
    const PhxUnitView units = phx_sim_units(sim);
    const PhxNavGrid map = phx_sim_map(sim);
    uint32_t idle = 0;
    for (uint32_t i = 0; i < scene->count; i++) {
        CHECK_THAT(phx_walls_clear(&map, phx_vec2(units.pos_x[i], units.pos_y[i]), fixed(RADIUS)),
                   "tick %u unit %u is in a wall", phx_sim_tick(sim), i);
        idle += units.activity[i] == 0;
        for (uint32_t j = 0; j < i; j++)
            *deepest = fmax(*deepest,
                            2 - hypot(at_x(&units, i) - at_x(&units, j), at_y(&units, i) - at_y(&units, j)) /
                                    RADIUS);
    }
    return idle;
}

/* ---- two gaps */

typedef struct Passing {
    bool done[MOST];
    uint32_t tick[MOST], count, upper; /* ticks in which units passed; how many by the upper gap */
} Passing;

static void note_passing(const PhxSim *sim, const Scene *scene, Passing *passing) {
    const PhxUnitView units = phx_sim_units(sim);
    for (uint32_t i = 0; i < scene->count; i++) {
        if (passing->done[i] || at_x(&units, i) < 51) continue;
        passing->done[i] = true;
        passing->tick[passing->count++] = phx_sim_tick(sim);
        passing->upper += at_y(&units, i) < 44;
    }
}

static void make_gaps(Scene *scene, uint32_t across, double gap) {
    begin(scene, 100, 1);
    fill(scene, 50, 0, 52, 100, 255);
    fill(scene, 50, 30, 52, 33, 1);
    fill(scene, 50, 54, 52, 60, 1);
    put(scene, 200, across, 31 - 200 / across * gap, 44.5 - across * gap / 2, gap, gap);
    scene->goal_x[0] = 85, scene->goal_y[0] = 45;
}

static void check_gaps(uint32_t across, double gap, double least) {
    static Scene scene;
    static Passing passing;
    double deepest = 0;
    make_gaps(&scene, across, gap);
    PhxSim *sim = make_sim(&scene, (PhxJobs){0});
    order_all(sim, &scene);
    memset(&passing, 0, sizeof passing);
    uint32_t idle = 0;
    while (idle < scene.count && phx_sim_tick(sim) < 2800) {
        CHECK_OK(phx_sim_step(sim, NULL, 0));
        note_passing(sim, &scene, &passing);
        idle = watch(sim, &scene, &deepest);
    }
    CHECK_THAT(idle == 200 && passing.count == 200, "%u passed, %u arrived", passing.count, idle);
    const double rate = 160.0 * RATE / (passing.tick[180] - passing.tick[20]);
    printf("two gaps, %2u abreast, %.1f apart: %u by the gap of three, %u by that of six; %.1f a second "
           "(%.0f%% of "
           "18), arrived after %u ticks; deepest overlap %.2f radii\n",
           across, gap, passing.upper, 200 - passing.upper, rate, rate / 0.18, phx_sim_tick(sim), deepest);
    /* in proportion, within 15% */
    CHECK(fabs(passing.upper - 200 / 3.0) <= 0.15 * 200 / 3);
    CHECK_THAT(rate >= least, "%.2f a second, %.2f wanted", rate, least);
    CHECK(deepest < 1);
    phx_sim_destroy(sim);
}

PHX_TEST(lanes, two_gaps_are_shared_in_proportion) {
    check_gaps(10, 1.1, 14);
    if (TEST_WATCHED) return;
    check_gaps(10, 1.4, 14);
    check_gaps(20, 1.1, 15.3);
    check_gaps(25, 1.1, 12.8);
}

/* The gap of six is built over while the group is on its way: it plans anew, and all go by the other one. */
PHX_TEST(lanes, what_is_built_across_is_planned_around) {
    static Scene scene;
    static Passing passing;
    make_gaps(&scene, 20, 1.1);
    PhxSim *sim = make_sim(&scene, (PhxJobs){0});
    order_all(sim, &scene);
    for (uint32_t t = 0; t < 150; t++) CHECK_OK(phx_sim_step(sim, NULL, 0));
    const PhxMarchTable *rows = &sim->world->march;
    CHECK(rows->stage[0] == 1 && rows->routes[0] == 2);
    uint8_t bytes[64];
    size_t size;
    const PhxCommandData place = {
        .type = PHX_COMMAND_PLACE, .cell_x = 50, .cell_y = 54, .width = 2, .height = 6};
    CHECK_OK(phx_command_encode(&place, bytes, sizeof bytes, &size));
    const PhxCommand command = {0, 0, (uint32_t)size, bytes};
    CHECK_OK(phx_sim_step(sim, &command, 1));
    memset(&passing, 0, sizeof passing);
    const uint32_t limit = test_count(600, 3000, 3000);
    uint32_t idle = 0;
    while (idle < scene.count && phx_sim_tick(sim) < limit) {
        CHECK_OK(phx_sim_step(sim, NULL, 0));
        note_passing(sim, &scene, &passing);
        const PhxUnitView units = phx_sim_units(sim);
        idle = 0;
        for (uint32_t i = 0; i < scene.count; i++) idle += units.activity[i] == 0;
    }
    printf("the gap of six built over after 150 ticks: %u through that of three, all %u at rest after %u "
           "ticks\n",
           passing.upper, idle, phx_sim_tick(sim));
    CHECK_EQ(passing.upper, passing.count);
    CHECK(rows->routes[0] == 1 || rows->stage[0] == 0);
    CHECK(TEST_WATCHED || (idle == 200 && passing.count == 200));
    phx_sim_destroy(sim);
}

/* ---- walls, and those that meet */

PHX_TEST(lanes, twenty_go_round_two_walls) {
    static Scene scene;
    double deepest = 0, on_the_way = 0;
    begin(&scene, 60, 1);
    fill(&scene, 21, 11, 24, 39, 255);
    fill(&scene, 36, 21, 39, 49, 255);
    put(&scene, 20, 5, 5, 5, 1.25, 1.25);
    scene.goal_x[0] = 55, scene.goal_y[0] = 55;
    PhxSim *sim = make_sim(&scene, (PhxJobs){0});
    order_all(sim, &scene);
    uint32_t idle = 0;
    while (idle < scene.count && phx_sim_tick(sim) < 1600) {
        CHECK_OK(phx_sim_step(sim, NULL, 0));
        idle = watch(sim, &scene, &deepest);
        if (phx_sim_tick(sim) < 600) on_the_way = deepest;
    }
    printf(
        "two walls: all 20 arrived after %u ticks; deepest overlap %.2f radii on the way, %.2f at the goal\n",
        phx_sim_tick(sim), on_the_way, deepest);
    CHECK_EQ(idle, 20);
    CHECK(on_the_way < 0.1 && deepest < 0.36);
    phx_sim_destroy(sim);
}

static void make_corridor(Scene *scene) {
    begin(scene, 160, 255);
    fill(scene, 5, 74, 155, 86, 1);
    put(scene, 100, 10, 20, 74.8, 1.15, 1.15);
    put(scene, 100, 10, 140, 74.8, -1.15, 1.15);
    scene->goal_x[0] = 140, scene->goal_x[1] = 20, scene->goal_y[0] = scene->goal_y[1] = 80;
}

PHX_TEST(lanes, two_groups_that_meet_keep_to_their_sides) {
    static Scene scene;
    double deepest = 0;
    make_corridor(&scene);
    PhxSim *sim = make_sim(&scene, (PhxJobs){0});
    order_all(sim, &scene);
    uint32_t idle = 0, through_at = 0;
    while (idle < scene.count && phx_sim_tick(sim) < 3600) {
        CHECK_OK(phx_sim_step(sim, NULL, 0));
        idle = watch(sim, &scene, &deepest);
        const PhxUnitView units = phx_sim_units(sim);
        uint32_t through = 0;
        for (uint32_t i = 0; i < 200; i++) through += i < 100 ? at_x(&units, i) > 129 : at_x(&units, i) < 31;
        if (through == 200 && through_at == 0) through_at = phx_sim_tick(sim);
    }
    /* the last of one group walk from where they stood to where the others did */
    const double alone = (140 - 11.5 + 11.5 - 20) / SPEED * RATE;
    printf("head-on: all through after %u ticks, %.2f times the free time, at rest after %u; deepest overlap "
           "%.2f "
           "radii\n",
           through_at, through_at / alone, phx_sim_tick(sim), deepest);
    CHECK_EQ(idle, 200);
    CHECK(through_at > 0 && through_at <= 1.5 * alone);
    CHECK(deepest < 1);
    phx_sim_destroy(sim);
}

/* ---- state */

/* A plan comes in a tick that the state decides, and a sim that is restored, or runs on threads, makes the
 * same. */
PHX_TEST(lanes, plans_are_state) {
    static Scene scene;
    make_corridor(&scene);
    PhxJobs threads;
    CHECK_OK(phx_jobs_threads_create(3, &threads));
    PhxSim *one = make_sim(&scene, (PhxJobs){0}), *other = make_sim(&scene, threads), *clone;
    order_all(one, &scene);
    order_all(other, &scene);
    for (uint32_t t = 0; t < 400; t++) {
        CHECK_OK(phx_sim_step(one, NULL, 0));
        CHECK_OK(phx_sim_step(other, NULL, 0));
        CHECK_THAT(phx_sim_root(one) == phx_sim_root(other), "tick %u", phx_sim_tick(one));
        if (t % 40 == 2) { /* also before the plan is there */
            CHECK_OK(phx_sim_clone(other, &clone));
            phx_sim_destroy(other);
            other = clone;
        }
    }
    const PhxMarchTable *rows = &one->world->march;
    CHECK(rows->stage[0] == 1 && rows->stage[1] == 1 && rows->routes[0] == 1);
    CHECK(rows->opposed[0] != 0 && rows->opposed[PHX_SIM_ROUTES] != 0);
    phx_sim_destroy(one);
    phx_sim_destroy(other);
    phx_jobs_threads_destroy(&threads);
}
