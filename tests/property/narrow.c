/* narrow.c: ways that are too narrow to pass each other. Units and whole files that meet in them head-on all
 * get through: some back out, those behind them too (sim/step/unstick.c), and nobody is walked through. At a
 * door the flow doesn't stop for long.
 *
 * The figures printed are ticks and the ticks of a straight walk; nobody promises more than the limits below.
 */
#include <math.h>
#include <phalanx/content.h>
#include <phalanx/walls.h>
#include <stdlib.h>

#include "harness.h"
#include "step/sim_internal.h"

enum { SIDE = 96, UNITS = 40, RATE = 20 };

typedef struct Walker {
    double x, y, goal_x, goal_y; /* world units */
} Walker;

typedef struct Scene {
    const char *name;
    uint32_t length, width; /* of the corridor, cells */
    uint32_t left, right;   /* units that come from either side */
    double gap, inside;     /* between two in a file; how far the first are in the corridor at the start */
    bool bay;               /* a place three cells wide in the middle */
    double radius;          /* world units */
    uint32_t ticks;         /* all are through by then */
    uint32_t pause; /* no longer than so many ticks passes without one leaving the passage; 0: isn't asked */
} Scene;

/* The times are a third above what was measured; a pause at the door may be as long again. */
static const Scene scenes[] = {
    {"one wide, 12 long", 12, 1, 1, 1, 1.2, 0, false, 0.4, 620, 0},
    {"one wide, 30 long", 30, 1, 1, 1, 1.2, 0, false, 0.4, 1500, 0},
    {"met inside", 30, 1, 1, 1, 1.2, 5, false, 0.4, 1450, 0},
    {"three and three", 12, 1, 3, 3, 1.2, 0, false, 0.4, 1100, 0},
    {"three and three, met inside", 30, 1, 3, 3, 1.2, 6, false, 0.4, 2400, 0},
    {"eight and eight", 12, 1, 8, 8, 1.2, 0, false, 0.4, 2800, 0},
    {"one and eight", 12, 1, 1, 8, 1.2, 0, false, 0.4, 1200, 0},
    {"eight and one", 12, 1, 8, 1, 1.2, 0, false, 0.4, 1000, 0},
    {"a bay", 30, 1, 1, 1, 1.2, 6, true, 0.4, 500, 0},
    {"a bay, three and three", 30, 1, 3, 3, 1.2, 6, true, 0.4, 700, 0},
    {"not two abreast", 12, 2, 3, 3, 1.6, 0, false, 0.7, 1200, 0},
    {"just two abreast", 12, 2, 8, 8, 1.6, 0, false, 0.45, 1450, 0},
    {"a door, ten and ten", 2, 1, 10, 10, 1.2, 0, false, 0.4, 2650, 400},
};

static fix16_t fixed(double v) { return (fix16_t)(v * 65536.0 + (v < 0 ? -0.5 : 0.5)); }

static void carve(uint8_t *cost, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1) {
    for (uint32_t y = y0; y < y1; y++) memset(cost + y * SIDE + x0, 1, x1 - x0);
}

/* Two rooms and the corridor between them; its left end. */
static uint32_t make_ground(const Scene *scene, uint8_t *cost) {
    const uint32_t x0 = 40 - scene->length / 2, x1 = x0 + scene->length;
    memset(cost, 255, SIDE * SIDE);
    carve(cost, 2, 30, x0, 50);
    carve(cost, x1, 30, SIDE - 2, 50);
    carve(cost, x0, 40, x1, 40 + scene->width);
    if (scene->bay) carve(cost, 39, 39, 42, 42);
    return x0;
}

static uint32_t make_walkers(const Scene *scene, uint32_t x0, Walker *walkers) {
    const double y = 40 + scene->width / 2.0, left = x0, right = x0 + scene->length;
    uint32_t count = 0;
    for (uint32_t i = 0; i < scene->left; i++)
        walkers[count++] =
            (Walker){left - 2 - scene->gap * i + scene->inside, y, right + 4 + scene->gap * i, 36.5 + i};
    for (uint32_t i = 0; i < scene->right; i++)
        walkers[count++] =
            (Walker){right + 2 + scene->gap * i - scene->inside, y, left - 4 - scene->gap * i, 36.5 + i};
    return count;
}

static PhxSim *make_sim(const uint8_t *cost, const Walker *walkers, uint32_t count, double radius) {
    const PhxSettings settings = {7, RATE, 1, 2};
    PhxUnitTypeDef def = phx_content_unit_type_default();
    PhxContentBuilder *builder;
    PhxError error = {0};
    PhxSim *sim;
    uint16_t type;
    def.name = "walker", def.radius = fixed(radius);
    CHECK_OK(phx_content_begin(&settings, SIDE, SIDE, cost, count, 16, &builder, &error));
    CHECK_OK(phx_content_add_player(builder, "one", 0, &error));
    CHECK_OK(phx_content_add_unit_type(builder, &def, &type, &error));
    for (uint32_t i = 0; i < count; i++)
        CHECK_OK(phx_content_add_unit(builder, type, 0, fixed(walkers[i].x), fixed(walkers[i].y), 0, &error));
    size_t size = phx_content_size(builder);
    uint8_t *blob = malloc(size);
    CHECK_OK(phx_content_write(builder, blob, size, &size));
    phx_content_end(builder);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &sim, &error));
    free(blob);
    return sim;
}

static void order_all(PhxSim *sim, const Walker *walkers, uint32_t count) {
    static uint8_t bytes[UNITS][32];
    PhxCommand commands[UNITS];
    for (uint32_t i = 0; i < count; i++) {
        const PhxHandle unit = phx_sim_unit_handle(sim, i);
        const PhxCommandData move = {.type = PHX_COMMAND_MOVE,
                                     .goal_x = fixed(walkers[i].goal_x),
                                     .goal_y = fixed(walkers[i].goal_y),
                                     .unit_count = 1,
                                     .units = &unit};
        size_t size;
        CHECK_OK(phx_command_encode(&move, bytes[i], sizeof bytes[i], &size));
        commands[i] = (PhxCommand){0, i, (uint32_t)size, bytes[i]};
    }
    CHECK_OK(phx_sim_step(sim, commands, count));
}

/* What a match showed so far. */
typedef struct Watch {
    double deepest;         /* overlap, radii: 2 where one centre lies on another */
    uint32_t through, idle; /* units that have left the corridor on their side; that have arrived */
    uint32_t last, pause;   /* the tick in which one last did; the longest time between two */
} Watch;

static void watch(const Scene *scene, const PhxSim *sim, uint32_t x0, uint32_t count, Watch *w) {
    const PhxUnitView units = phx_sim_units(sim);
    const PhxNavGrid map = phx_sim_map(sim);
    const uint32_t tick = phx_sim_tick(sim), before = w->through;
    w->through = w->idle = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double x = units.pos_x[i] / 65536.0, y = units.pos_y[i] / 65536.0;
        CHECK_THAT(phx_walls_clear(&map, phx_vec2(units.pos_x[i], units.pos_y[i]), fixed(scene->radius)),
                   "%s: tick %u unit %u is in a wall", scene->name, tick, i);
        w->idle += units.activity[i] == 0;
        w->through += i < scene->left ? x > x0 + scene->length : x < x0;
        for (uint32_t j = 0; j < i; j++)
            w->deepest =
                fmax(w->deepest,
                     2 - hypot(x - units.pos_x[j] / 65536.0, y - units.pos_y[j] / 65536.0) / scene->radius);
    }
    if (w->through != before) {
        if (before > 0 && tick - w->last > w->pause) w->pause = tick - w->last;
        w->last = tick;
    }
}

static void play(const Scene *scene) {
    static uint8_t cost[SIDE * SIDE];
    Walker walkers[UNITS];
    Watch w = {0};
    const uint32_t x0 = make_ground(scene, cost), count = make_walkers(scene, x0, walkers);
    PhxSim *sim = make_sim(cost, walkers, count, scene->radius);
    double longest = 0;
    for (uint32_t i = 0; i < count; i++)
        longest = fmax(longest, hypot(walkers[i].x - walkers[i].goal_x, walkers[i].y - walkers[i].goal_y));
    order_all(sim, walkers, count);
    while (w.idle < count && phx_sim_tick(sim) < scene->ticks) {
        CHECK_OK(phx_sim_step(sim, NULL, 0));
        watch(scene, sim, x0, count, &w);
    }
    printf("%-28s %2u units in %4u ticks (a straight walk: %3.0f), longest pause %3u, deepest overlap %.2f "
           "radii\n",
           scene->name, count, phx_sim_tick(sim),
           longest * RATE * 65536 / phx_content_unit_type_default().speed, w.pause, w.deepest);
    CHECK_THAT(w.idle == count && w.through == count, "%s: %u of %u through, %u arrived after %u ticks",
               scene->name, w.through, count, w.idle, scene->ticks);
    /* In a file others press from behind: bodies are pressed in by half and more, and never pass (2). */
    CHECK_THAT(w.deepest < 1.25, "%s: %g radii deep", scene->name, w.deepest);
    CHECK_THAT(scene->pause == 0 || w.pause <= scene->pause, "%s: nobody passed for %u ticks", scene->name,
               w.pause);
    phx_sim_destroy(sim);
}

PHX_TEST(narrow, who_cannot_pass_backs_out) {
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) play(&scenes[i]);
}
