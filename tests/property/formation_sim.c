/* Formations in a world: how far units are from their slots on straights, in wheels and after gaps; that they
 * arrive, close ranks, and are state like any other.
 *
 * What a person watching would call kept, in bodies of radius 0.4 at 1.0 from centre to centre: a root mean
 * square of at most 0.15 on a straight, 0.3 in a wheel, and 0.15 again when a formation has come through a
 * gap and formed anew; at rest at most 0.1.
 */
#include <math.h>
#include <phalanx/content.h>
#include <phalanx/walls.h>

#include "harness.h"
#include "step/sim_internal.h"

enum { ONE = 65536, SIDE = 96, RATE = 30 };

typedef struct Scene {
    PhxSim *sim;
    uint32_t units;
    uint32_t sequence;
} Scene;

/* A map with walls that a predicate names; `archers` of the units are slower, smaller and of rank 1. */
static Scene raise(const PhxJobs *jobs, bool (*is_wall)(uint32_t x, uint32_t y), uint32_t units,
                   uint32_t archers, double x, double y) {
    static uint8_t cost[SIDE * SIDE];
    const PhxSettings settings = {.match_key = 7, .tick_rate = RATE, .ticks_per_turn = 1, .input_delay = 1};
    PhxContentBuilder *builder;
    PhxError error = {0};
    uint16_t types[2];
    size_t size;
    for (uint32_t c = 0; c < SIDE * SIDE; c++) cost[c] = is_wall && is_wall(c % SIDE, c / SIDE) ? 255 : 1;
    CHECK_OK(phx_content_begin(&settings, SIDE, SIDE, cost, units + 8, 64, &builder, &error));
    PhxUnitTypeDef def = phx_content_unit_type_default();
    def.name = "sword";
    CHECK_OK(phx_content_add_unit_type(builder, &def, &types[0], &error));
    def.name = "archer", def.radius = 22938, def.speed = 9 * ONE / 5, def.rank = 1;
    CHECK_OK(phx_content_add_unit_type(builder, &def, &types[1], &error));
    CHECK_OK(phx_content_add_player(builder, "North", 0, &error));
    const uint32_t columns = (uint32_t)ceil(sqrt(units));
    for (uint32_t i = 0; i < units; i++) /* archers among the others */
        CHECK_OK(phx_content_add_unit(builder, types[archers > 0 && i % (units / archers) == 0], 0,
                                      (fix16_t)((x + i % columns * 1.1) * ONE),
                                      (fix16_t)((y + i / columns * 1.1) * ONE), 0, &error));
    size = phx_content_size(builder);
    uint8_t *blob = malloc(size);
    CHECK_OK(phx_content_write(builder, blob, size, &size));
    phx_content_end(builder);
    Scene scene = {.units = units};
    CHECK_OK(phx_sim_create(&(PhxSimConfig){.jobs = *jobs}, blob, size, NULL, &scene.sim, &error));
    free(blob);
    return scene;
}

static void give(Scene *scene, PhxCommandData command) {
    uint8_t bytes[PHX_COMMAND_SIZE_LIMIT];
    PhxHandle handles[PHX_COMMAND_UNIT_LIMIT];
    size_t size;
    command.unit_count = 0;
    for (uint32_t i = 0; i < scene->units; i++) {
        const PhxHandle handle = phx_sim_unit_handle(scene->sim, i);
        if (handle != PHX_HANDLE_NONE) handles[command.unit_count++] = handle;
    }
    command.units = handles;
    CHECK_OK(phx_command_encode(&command, bytes, sizeof bytes, &size));
    const PhxCommand one = {.slot = 0, .sequence = scene->sequence++, .size = (uint32_t)size, .bytes = bytes};
    CHECK_OK(phx_sim_step(scene->sim, &one, 1));
}

static PhxCommandData form(PhxFormationShape shape, double x, double y, int turns, PhxAngle facing) {
    return (PhxCommandData){.type = PHX_COMMAND_FORM,
                            .goal_x = (fix16_t)(x * ONE),
                            .goal_y = (fix16_t)(y * ONE),
                            .shape = (uint8_t)shape,
                            .turns = (uint8_t)turns,
                            .facing = facing,
                            .gap = PHX_FORMATION_GAP};
}

/* How far the members of formation 0 are from their slots, root mean square; most: the last one. */
static double slot_error(const Scene *scene, double *most) {
    uint32_t member[PHX_FORMATION_UNITS] = {0}, count = 0;
    const PhxWorld *world = scene->sim->world;
    const PhxFormationTable *rows = &world->formation;
    uint32_t row = 0;
    for (uint32_t i = 0; i < scene->units; i++) {
        if (world->unit.formation[i] == PHX_HANDLE_NONE) continue;
        member[count++] = i;
        row = phx_handle_slot(world->unit.formation[i]);
    }
    PhxFormationExtent extent;
    CHECK_OK(phx_formation_slots(scene->sim, row, member, count, rows->limit[row], &extent));
    phx_formation_bend(scene->sim, row, &extent);
    double sum = 0;
    *most = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = world->unit.formation_slot[member[i]];
        PhxVec2 middle;
        PhxDir forward;
        const PhxVec2 at = phx_formation_place(scene->sim, row, slot, &middle, &forward);
        const double dx = (double)(at.x - world->unit.pos_x[member[i]]) / ONE,
                     dy = (double)(at.y - world->unit.pos_y[member[i]]) / ONE;
        sum += dx * dx + dy * dy;
        if (hypot(dx, dy) > *most) *most = hypot(dx, dy);
        CHECK_EQ(scene->sim->formations.slots[slot].rank, world->unit_type.rank[world->unit.type[member[i]]]);
    }
    return sqrt(sum / count);
}

static bool all_stand(const Scene *scene) {
    for (uint32_t i = 0; i < scene->units; i++)
        if (scene->sim->world->unit.activity[i] != 0) return false;
    return true;
}

static void check_bodies(const Scene *scene) {
    const PhxWorld *world = scene->sim->world;
    const PhxNavGrid map = phx_sim_map(scene->sim);
    for (uint32_t i = 0; i < scene->units; i++) {
        const fix16_t radius = world->unit_type.radius[world->unit.type[i]];
        CHECK_THAT(phx_walls_clear(&map, phx_vec2(world->unit.pos_x[i], world->unit.pos_y[i]), radius - 2),
                   "tick %u unit %u is in a wall", phx_sim_tick(scene->sim), i);
    }
}

/* What is seen on the way: errors from tick to tick. */
typedef struct Sight {
    double worst, worst_one, mean;
    uint32_t ticks;
} Sight;

static Sight watch(Scene *scene, uint32_t ticks) {
    Sight sight = {0};
    double most;
    for (uint32_t t = 0; t < ticks; t++) {
        CHECK_OK(phx_sim_step(scene->sim, NULL, 0));
        check_bodies(scene);
        const double error = slot_error(scene, &most);
        if (error > sight.worst) sight.worst = error;
        if (most > sight.worst_one) sight.worst_one = most;
        sight.mean += error / ticks;
        sight.ticks++;
        if (getenv("PHX_VERBOSE") && t % 30 == 0) {
            const PhxFormationTable *rows = &scene->sim->world->formation;
            uint32_t led = 0;
            for (uint32_t i = 0; i < scene->units; i++) led += scene->sim->world->unit.led[i];
            printf("  %4u at %.1f %.1f facing %.0f stage %u limit %.1f hold %.1f led %u rms %.3f most %.3f\n",
                   phx_sim_tick(scene->sim), rows->x[0] / 65536.0, rows->y[0] / 65536.0,
                   rows->facing[0] * 360 / 65536.0, rows->stage[0], rows->limit[0] / 65536.0,
                   rows->hold[0] / 65536.0, led, error, most);
        }
        if (all_stand(scene)) break;
    }
    return sight;
}

static void say(const char *what, PhxFormationShape shape, Sight sight) {
    if (getenv("PHX_VERBOSE"))
        printf("%-9s %s: rms worst %.3f mean %.3f, one at most %.3f, %u ticks\n",
               phx_formation_shape_name(shape), what, sight.worst, sight.mean, sight.worst_one, sight.ticks);
}

PHX_TEST(formation_sim, straights_and_wheels_are_kept) {
    const PhxJobs serial = phx_jobs_serial();
    for (uint32_t shape = 0; shape < PHX_FORMATION_PATTERN; shape++) {
        Scene scene = raise(&serial, NULL, 40, 10, 10, 40);
        give(&scene, form((PhxFormationShape)shape, 46, 44, 1, 0));
        double most;
        uint32_t forming = 0;
        while (slot_error(&scene, &most) > 0.15 && forming++ < 15 * RATE) (void)watch(&scene, 1);
        if (getenv("PHX_VERBOSE")) printf("formed after %u ticks\n", forming);
        const Sight straight = watch(&scene, 5 * RATE);
        say("straight", (PhxFormationShape)shape, straight);
        (void)watch(&scene, 60 * RATE);
        CHECK_THAT(all_stand(&scene), "shape %u", shape);
        /* a quarter turn where it stands */
        give(&scene, form((PhxFormationShape)shape, 46, 44, 1, PHX_ANGLE_QUARTER));
        const Sight wheel = watch(&scene, 60 * RATE);
        say("wheel", (PhxFormationShape)shape, wheel);
        const double rest = slot_error(&scene, &most);
        CHECK_THAT(all_stand(&scene) && rest < 0.1, "shape %u: rest %.3f", shape, rest);
        phx_sim_destroy(scene.sim);
    }
}

static bool gap_wall(uint32_t x, uint32_t y) { return x >= 44 && x < 47 && (y < 44 || y >= 49); }

PHX_TEST(formation_sim, gaps_are_squeezed_through) {
    const PhxJobs serial = phx_jobs_serial();
    for (uint32_t shape = 0; shape < PHX_FORMATION_PATTERN; shape++) {
        Scene scene = raise(&serial, gap_wall, 40, 10, 10, 40);
        give(&scene, form((PhxFormationShape)shape, 86, 46, 1, 0));
        const Sight way = watch(&scene, 90 * RATE);
        say("gap", (PhxFormationShape)shape, way);
        double most;
        const double rest = slot_error(&scene, &most);
        if (getenv("PHX_VERBOSE")) printf("rest %.3f most %.3f\n", rest, most);
        CHECK_THAT(all_stand(&scene) && rest < 0.1, "shape %u: rest %.3f", shape, rest);
        phx_sim_destroy(scene.sim);
    }
}

static bool corner_wall(uint32_t x, uint32_t y) {
    return !((y >= 36 && y < 50 && x < 60) || (x >= 46 && x < 60 && y >= 36));
}

PHX_TEST(formation_sim, corners) {
    const PhxJobs serial = phx_jobs_serial();
    for (uint32_t shape = 0; shape < PHX_FORMATION_PATTERN; shape++) {
        Scene scene = raise(&serial, corner_wall, 40, 10, 10, 40);
        give(&scene, form((PhxFormationShape)shape, 53, 90, 1, PHX_ANGLE_QUARTER));
        const Sight way = watch(&scene, 90 * RATE);
        say("corner", (PhxFormationShape)shape, way);
        double most;
        const double rest = slot_error(&scene, &most);
        if (getenv("PHX_VERBOSE")) printf("rest %.3f most %.3f\n", rest, most);
        CHECK_THAT(all_stand(&scene) && rest < 0.1, "shape %u: rest %.3f", shape, rest);
        phx_sim_destroy(scene.sim);
    }
}
