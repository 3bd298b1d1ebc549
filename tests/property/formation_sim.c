/* Formations in a world: how far units are from their slots on straights, in wheels and after gaps; that they
 * arrive, close ranks, and are state like any other.
 *
 * What a person watching would call kept, in bodies of radius 0.4 at 1.0 from centre to centre: a root mean
 * square of at most 0.15 on a straight (0.05 on average), 0.3 in a wheel, and 0.15 again when a formation has
 * come through a gap and formed anew; at rest at most 0.1. Forming up out of a crowd takes less than 10
 * seconds; who is late then presses past others, and overlaps them by at most 0.3.
 */
#include <math.h>
#include <phalanx/content.h>
#include <phalanx/hash.h>
#include <phalanx/walls.h>

#include "harness.h"
#include "step/sim_internal.h"

enum { ONE = 65536, SIDE = 96, RATE = 30, OVERLAP = 3 * ONE / 10 /* of bodies that press past each other */ };

typedef struct Scene {
    PhxSim *sim;
    uint32_t units;
    uint32_t sequence;
} Scene;

/* A map with walls that a predicate names; `archers` of the units are slower, smaller and of rank 1; every
 * other unit stands `apart` from the rest. */
static Scene raise(const PhxJobs *jobs, bool (*is_wall)(uint32_t x, uint32_t y), uint32_t units,
                   uint32_t archers, double x, double y, double apart) {
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
                                      (fix16_t)((x + i % columns * 1.1 + i % 2 * apart) * ONE),
                                      (fix16_t)((y + i / columns * 1.1) * ONE), 0, &error));
    size = phx_content_size(builder);
    uint8_t *blob = malloc(size);
    CHECK_OK(phx_content_write(builder, blob, size, &size));
    phx_content_end(builder);
    Scene scene = {.units = units};
    /* on threads with few tiles besides, so that ways are found in batches */
    const PhxSimConfig config = {
        .jobs = *jobs, .field_cache_bytes = jobs->workers > 1 ? jobs->workers / 2 * PHX_FIELD_TILE_BYTES : 0};
    CHECK_OK(phx_sim_create(&config, blob, size, NULL, &scene.sim, &error));
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
    phx_formation_follow_trail(scene->sim, row, &extent);
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
        if (!phx_table_alive(&world->tables[PHX_TABLE_unit], i)) continue;
        const fix16_t radius = world->unit_type.radius[world->unit.type[i]];
        CHECK_THAT(phx_walls_clear(&map, phx_vec2(world->unit.pos_x[i], world->unit.pos_y[i]), radius - 2),
                   "tick %u unit %u is in a wall", phx_sim_tick(scene->sim), i);
        for (uint32_t k = 0; k < i; k++) {
            if (!phx_table_alive(&world->tables[PHX_TABLE_unit], k)) continue;
            const PhxVec2 apart = {world->unit.pos_x[i] - world->unit.pos_x[k],
                                   world->unit.pos_y[i] - world->unit.pos_y[k]};
            const int64_t touch = radius + world->unit_type.radius[world->unit.type[k]],
                          distance = phx_vec2_length(apart);
            CHECK_THAT(distance > touch - OVERLAP, "tick %u units %u and %u overlap by %.3f",
                       phx_sim_tick(scene->sim), i, k, (double)(touch - distance) / ONE);
        }
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
        Scene scene = raise(&serial, NULL, 40, 10, 10, 40, 0);
        give(&scene, form((PhxFormationShape)shape, 46, 44, 1, 0));
        double most;
        uint32_t forming = 0;
        while (slot_error(&scene, &most) > 0.15 && forming++ < 15 * RATE) (void)watch(&scene, 1);
        if (getenv("PHX_VERBOSE")) printf("formed after %u ticks\n", forming);
        const Sight straight = watch(&scene, 5 * RATE);
        say("straight", (PhxFormationShape)shape, straight);
        CHECK_THAT(forming < 10 * RATE && straight.worst < 0.15 && straight.mean < 0.05,
                   "shape %u: formed in %u ticks, rms %.3f, %.3f on average", shape, forming, straight.worst,
                   straight.mean);
        (void)watch(&scene, 60 * RATE);
        CHECK_THAT(all_stand(&scene), "shape %u", shape);
        /* a quarter turn where it stands */
        give(&scene, form((PhxFormationShape)shape, 46, 44, 1, PHX_ANGLE_QUARTER));
        const Sight wheel = watch(&scene, 60 * RATE);
        say("wheel", (PhxFormationShape)shape, wheel);
        CHECK_THAT(wheel.worst < 0.3 && wheel.worst_one < 0.8, "shape %u: rms %.3f, one %.3f", shape,
                   wheel.worst, wheel.worst_one);
        const double rest = slot_error(&scene, &most);
        CHECK_THAT(all_stand(&scene) && rest < 0.1, "shape %u: rest %.3f", shape, rest);
        phx_sim_destroy(scene.sim);
    }
}

static bool gap_wall(uint32_t x, uint32_t y) { return x >= 44 && x < 47 && (y < 44 || y >= 49); }

PHX_TEST(formation_sim, gaps_are_squeezed_through) {
    const PhxJobs serial = phx_jobs_serial();
    for (uint32_t shape = 0; shape < PHX_FORMATION_PATTERN; shape++) {
        Scene scene = raise(&serial, gap_wall, 40, 10, 10, 40, 0);
        give(&scene, form((PhxFormationShape)shape, 86, 46, 1, 0));
        const PhxFormationTable *rows = &scene.sim->world->formation;
        double most;
        bool narrow = false;
        uint32_t ticks = 0;
        for (; rows->x[0] < 80 * ONE && ticks < 2000; ticks++) {
            (void)watch(&scene, 1);
            narrow = narrow || (rows->x[0] > 43 * ONE && rows->x[0] < 48 * ONE && rows->limit[0] > 0);
        }
        const Sight after = watch(&scene, RATE);
        say("after a gap", (PhxFormationShape)shape, after);
        CHECK_THAT((narrow || shape == PHX_FORMATION_COLUMN) && ticks < 2000 && after.worst < 0.15,
                   "shape %u: %u ticks, rms %.3f", shape, ticks, after.worst);
        (void)watch(&scene, 30 * RATE);
        const double rest = slot_error(&scene, &most);
        if (getenv("PHX_VERBOSE")) printf("rest %.3f most %.3f\n", rest, most);
        CHECK_THAT(all_stand(&scene) && rest < 0.1, "shape %u: rest %.3f", shape, rest);
        phx_sim_destroy(scene.sim);
    }
}

static bool corner_wall(uint32_t x, uint32_t y) {
    return !((y >= 36 && y < 50 && x < 60) || (x >= 46 && x < 60 && y >= 36));
}

PHX_TEST(formation_sim, corners_of_a_road_are_turned) {
    const PhxJobs serial = phx_jobs_serial();
    for (uint32_t shape = 0; shape < PHX_FORMATION_PATTERN; shape++) {
        Scene scene = raise(&serial, corner_wall, 40, 10, 10, 40, 0);
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

/* ---- state */

enum { MATCH = 700 };

/* A match with formations of all kinds: formed anew, cut short, through a gap, with losses. */
static void play(Scene *scene, uint32_t tick) {
    if (tick == 0)
        give(scene, form(PHX_FORMATION_RECTANGLE, 80, 46, 1, PHX_ANGLE_QUARTER));
    else if (tick == 200)
        give(scene, form(PHX_FORMATION_COLUMN, 80, 20, 0, 0));
    else if (tick == 420)
        give(scene, form(PHX_FORMATION_WEDGE, 70, 70, 1, 40000));
    else if (tick == 500)
        give(scene,
             (PhxCommandData){.type = PHX_COMMAND_MOVE, .goal_x = 80 * ONE, .goal_y = 60 * ONE, .queued = 1});
    else
        CHECK_OK(phx_sim_step(scene->sim, NULL, 0));
    if (tick != 150 && tick != 300) return;
    for (uint32_t i = 3; i < 12; i += 8) { /* two fall */
        phx_order_clear(scene->sim->world, i + tick / 100);
        phx_order_end(scene->sim->world, i + tick / 100);
        phx_table_remove(&scene->sim->world->tables[PHX_TABLE_unit], i + tick / 100);
    }
    phx_sim_refresh_hashes(scene->sim);
}

PHX_TEST(formation_sim, threads_cache_and_reloading_before_every_tick_change_nothing) {
    static uint64_t roots[MATCH];
    PhxJobs jobs = phx_jobs_serial();
    Scene scene = raise(&jobs, gap_wall, 40, 10, 20, 40, 30);
    uint64_t led = 0, lost = 0;
    for (uint32_t t = 0; t < MATCH; t++) {
        play(&scene, t);
        roots[t] = phx_sim_root(scene.sim);
        for (uint32_t i = 0; i < scene.units; i++) {
            led += scene.sim->world->unit.led[i];
            lost += scene.sim->world->unit.formation[i] != 0 && scene.sim->world->unit.led[i] == 0;
        }
    }
    CHECK_THAT(led > 10000 && lost > 10, "led %" PRIu64 ", lost %" PRIu64, led, lost);
    phx_sim_destroy(scene.sim);
    for (uint32_t threads = 2; threads <= 8; threads += threads == 3 ? 5 : 1) {
        CHECK_OK(phx_jobs_threads_create(threads, &jobs));
        scene = raise(&jobs, gap_wall, 40, 10, 20, 40, 30);
        for (uint32_t t = 0; t < MATCH; t++) {
            play(&scene, t);
            CHECK_THAT(phx_sim_root(scene.sim) == roots[t], "threads %u tick %u", threads, t);
        }
        phx_sim_destroy(scene.sim);
        phx_jobs_threads_destroy(&jobs);
    }
    jobs = phx_jobs_serial();
    scene = raise(&jobs, gap_wall, 40, 10, 20, 40, 30);
    Scene other = raise(&jobs, NULL, 40, 10, 10, 40, 0);
    uint8_t *bytes = malloc(2 * phx_sim_snapshot_size(scene.sim));
    for (uint32_t t = 0; t < MATCH; t++) {
        size_t size;
        CHECK_OK(phx_sim_snapshot(scene.sim, bytes, 2 * phx_sim_snapshot_size(scene.sim), &size));
        PhxError error = {0};
        CHECK_THAT(phx_sim_restore(other.sim, bytes, size, &error) == PHX_OK, "tick %u: %s", t, error.text);
        phx_sim_drop_derived(other.sim, (uint8_t)t);
        PhxSim *swap = scene.sim;
        scene.sim = other.sim, other.sim = swap;
        play(&scene, t);
        CHECK_THAT(phx_sim_root(scene.sim) == roots[t], "reloaded, tick %u", t);
    }
    free(bytes);
    phx_sim_destroy(other.sim);
    phx_sim_destroy(scene.sim);
}

typedef struct Watch {
    const PhxSim *sim;
    uint64_t before[PHX_TABLE_BUILTIN_COUNT][128];
} Watch;

static bool declares(const char *columns, const char *table, const char *column) {
    char name[80];
    const int length = snprintf(name, sizeof name, "%s.%s", table, column);
    for (const char *at = columns; (at = strstr(at, name)); at += length)
        if ((at == columns || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
    return false;
}

static void watch_phase(void *user, uint32_t tick, uint32_t phase, const char *name, bool begin,
                        uint64_t hash) {
    Watch *watch_it = user;
    (void)hash;
    for (uint32_t t = 0; t < PHX_TABLE_BUILTIN_COUNT; t++) {
        const PhxTable *table = &watch_it->sim->world->tables[t];
        for (uint32_t c = 0; c < table->desc->column_count; c++) {
            const PhxColumnDesc *desc = &table->desc->columns[c];
            const uint64_t now = phx_hash_bytes(table->columns[c], (size_t)table->capacity * desc->lanes *
                                                                       phx_type_size(desc->type));
            CHECK_THAT(begin || now == watch_it->before[t][c] ||
                           declares(watch_it->sim->phases[phase].writes, table->desc->name, desc->name),
                       "tick %u: phase %s wrote %s.%s", tick, name, table->desc->name, desc->name);
            watch_it->before[t][c] = now;
        }
    }
}

PHX_TEST(formation_sim, phases_write_the_columns_they_declare) {
    const PhxJobs serial = phx_jobs_serial();
    static Watch watch_it;
    Scene scene = raise(&serial, gap_wall, 40, 10, 20, 40, 30);
    watch_it.sim = scene.sim;
    phx_sim_observe_phases(scene.sim, watch_phase, &watch_it, false);
    for (uint32_t t = 0; t < MATCH; t++) play(&scene, t);
    phx_sim_destroy(scene.sim);
}

/* Losses while it stands: those who are left close ranks, and few change their place by much. */
PHX_TEST(formation_sim, losses_close_the_ranks) {
    const PhxJobs serial = phx_jobs_serial();
    Scene scene = raise(&serial, NULL, 36, 0, 20, 40, 0);
    PhxVec2 was[36];
    double most, moved = 0;
    give(&scene, form(PHX_FORMATION_RECTANGLE, 40, 44, 1, 0));
    (void)watch(&scene, 60 * RATE);
    CHECK(all_stand(&scene));
    for (uint32_t i = 0; i < 36; i++)
        was[i] = phx_vec2(scene.sim->world->unit.pos_x[i], scene.sim->world->unit.pos_y[i]);
    for (uint32_t i = 5; i < 36; i += 15) phx_table_remove(&scene.sim->world->tables[PHX_TABLE_unit], i);
    scene.units = 36;
    (void)watch(&scene, 1);
    CHECK(!all_stand(&scene));
    (void)watch(&scene, 20 * RATE);
    CHECK(all_stand(&scene) && slot_error(&scene, &most) < 0.1);
    uint32_t far = 0;
    for (uint32_t i = 0; i < 36; i++) {
        if (i % 15 == 5) continue;
        const double dx = (double)(was[i].x - scene.sim->world->unit.pos_x[i]) / ONE,
                     dy = (double)(was[i].y - scene.sim->world->unit.pos_y[i]) / ONE;
        far += hypot(dx, dy) > 2.2;
        moved += hypot(dx, dy) / 33;
    }
    if (getenv("PHX_VERBOSE")) printf("losses: %u far, mean %.2f\n", far, moved);
    CHECK_THAT(far == 0 && moved < 0.8, "%u units went far, %.2f on average", far, moved);
    phx_sim_destroy(scene.sim);
}

PHX_TEST(formation_sim, orders_that_can_t_be_are_counted_and_others_leave_the_formation) {
    const PhxJobs serial = phx_jobs_serial();
    Scene scene = raise(&serial, gap_wall, 12, 0, 20, 40, 0);
    const PhxWorld *world = scene.sim->world;
    const PhxTable *rows = &world->tables[PHX_TABLE_formation];
    PhxCommandData thin = form(PHX_FORMATION_LINE, 40, 44, 0, 0);
    thin.form_width = ONE / 2;
    give(&scene, thin); /* less than a body */
    CHECK(rows->live == 0 && world->match.commands_full[0] == 1 && all_stand(&scene));
    scene.units = 0;
    give(&scene, form(PHX_FORMATION_LINE, 40, 44, 0, 0)); /* nobody */
    scene.units = 12;
    CHECK(rows->live == 0 && all_stand(&scene));
    give(&scene, form(PHX_FORMATION_LINE, 45, 10, 0, 0)); /* in the wall: as near as can be */
    CHECK(rows->live == 1 && world->formation.goal_x[0] != 45 * ONE);
    give(&scene, (PhxCommandData){.type = PHX_COMMAND_MOVE, .goal_x = 30 * ONE, .goal_y = 30 * ONE});
    CHECK_OK(phx_sim_step(scene.sim, NULL, 0));
    CHECK_EQ(rows->live, 0);
    for (uint32_t i = 0; i < 12; i++) CHECK(world->unit.formation[i] == PHX_HANDLE_NONE);
    give(&scene, form(PHX_FORMATION_CIRCLE, 30, 60, 0, 0));
    give(&scene, (PhxCommandData){.type = PHX_COMMAND_STOP});
    CHECK_OK(phx_sim_step(scene.sim, NULL, 0));
    CHECK(rows->live == 0 && all_stand(&scene));
    /* what a forged snapshot would have */
    scene.sim->world->unit.led[3] = 1;
    CHECK_EQ(phx_sim_check_references(world, NULL), PHX_ERROR_RANGE);
    scene.sim->world->unit.formation[3] = phx_handle_make(3, 1);
    CHECK_EQ(phx_sim_check_references(world, NULL), PHX_ERROR_RANGE);
    phx_sim_destroy(scene.sim);
}
