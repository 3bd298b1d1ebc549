/* orca_explain.c: an explanation is the choice that solving makes, bit for bit, and says truly who made each
 * half-plane: held against brute force, doubles, and each wall taken alone. Then the same of a whole sim.
 */
#include <math.h>
#include <phalanx/orca.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "harness.h"
#include "little_match.h"
#include "motion/orca_lines.h"
#include "step/sim_internal.h"

enum { ONE = 1 << 16, CAPACITY = 220, CLASSES = 3, SIDE = 24 };

typedef struct Scene {
    PhxArena arena;
    PhxSpatial spatial;
    PhxOrcaWork work;
    PhxWalls walls;
    PhxJobs jobs;
    PhxOrcaClass classes[CLASSES];
    uint8_t cost[SIDE * SIDE];
    fix16_t x[CAPACITY], y[CAPACITY], vel_x[CAPACITY], vel_y[CAPACITY], pref_x[CAPACITY], pref_y[CAPACITY],
        out_x[CAPACITY], out_y[CAPACITY];
    uint16_t class_of[CAPACITY];
    fix16_t avoid[CAPACITY], top_speed[CAPACITY];
    uint8_t creep[CAPACITY], flags[CAPACITY], close[CAPACITY], weight[CAPACITY];
    uint32_t slots[CAPACITY], count;
    PhxOrcaScene scene;
} Scene;

static void lay_out(Scene *s) {
    phx_spatial_layout(&s->spatial, &s->arena, CAPACITY);
    phx_orca_layout(&s->work, &s->arena, CAPACITY, CLASSES);
}

static Scene *scene_make(void) {
    Scene *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->jobs = phx_jobs_serial();
    s->arena = phx_arena_measure();
    lay_out(s);
    const size_t bytes = s->arena.used;
    CHECK_OK(phx_arena_create(&s->arena, phx_allocator_default(), bytes));
    lay_out(s);
    for (uint32_t c = 0; c < CLASSES; c++)
        s->classes[c] = (PhxOrcaClass){.radius = (fix16_t)(ONE / 4 + c * ONE / 4),
                                       .max_speed = (fix16_t)((1 + c) * ONE),
                                       .neighbour_range = (fix16_t)((5 + c) * ONE),
                                       .horizon = (fix16_t)((1 + c) * ONE),
                                       .wall_horizon = ONE,
                                       .neighbours = 4 + 6 * c};
    s->scene = (PhxOrcaScene){.spatial = &s->spatial,
                              .vel_x = s->vel_x,
                              .vel_y = s->vel_y,
                              .pref_x = s->pref_x,
                              .pref_y = s->pref_y,
                              .class_of = s->class_of,
                              .creep = s->creep,
                              .avoid = s->avoid,
                              .close = s->close,
                              .weight = s->weight,
                              .top_speed = s->top_speed,
                              .classes = s->classes,
                              .class_count = CLASSES,
                              .tick_rate = 20,
                              .out_x = s->out_x,
                              .out_y = s->out_y,
                              .flags = s->flags,
                              .work = &s->work};
    return s;
}

static void scene_free(Scene *s) {
    phx_walls_destroy(&s->walls);
    phx_arena_destroy(&s->arena);
    free(s);
}

static void scene_run(Scene *s) {
    phx_spatial_build(&s->spatial, &s->jobs, s->x, s->y, s->slots, s->count,
                      phx_orca_range(s->classes, CLASSES));
    phx_orca_run(&s->scene, &s->jobs);
}

/* Units with gaps between their slots, on ground with solid cells. */
static void scene_random(Scene *s, uint64_t seed) {
    const int64_t span = test_range(&seed, 3, SIDE) * ONE;
    const uint64_t solid = (uint64_t)test_range(&seed, 0, 12);
    for (uint32_t c = 0; c < SIDE * SIDE; c++)
        s->cost[c] = test_random(&seed) % 100 < solid ? PHX_NAV_IMPASSABLE : 1;
    const PhxNavGrid grid = {SIDE, SIDE, s->cost};
    phx_walls_destroy(&s->walls);
    CHECK_OK(phx_walls_create_grid(&s->walls, phx_allocator_default(), &grid, &s->jobs));
    s->scene.walls = solid > 0 ? &s->walls : NULL;
    s->count = 0;
    for (uint32_t i = 0; i < CAPACITY; i++) {
        if (test_random(&seed) % 4 == 0) continue;
        s->slots[s->count++] = i;
        s->class_of[i] = (uint16_t)(test_random(&seed) % CLASSES);
        s->creep[i] = (uint8_t)(test_random(&seed) % 3);
        s->avoid[i] = (fix16_t)test_range(&seed, 0, ONE), s->close[i] = test_random(&seed) % 4 == 0;
        s->weight[i] = (uint8_t)(seed % 3 ? PHX_ORCA_WEIGHT : test_random(&seed) % (PHX_ORCA_WEIGHT_MAX + 1));
        s->top_speed[i] = (fix16_t)(test_random(&seed) % 2 ? 0 : test_range(&seed, 1, 2 * ONE));
        s->x[i] = (fix16_t)test_range(&seed, 0, span), s->y[i] = (fix16_t)test_range(&seed, 0, span);
        s->vel_x[i] = (fix16_t)test_range(&seed, -ONE, ONE),
        s->vel_y[i] = (fix16_t)test_range(&seed, -ONE, ONE);
        s->pref_x[i] = (fix16_t)test_range(&seed, -2 * ONE, 2 * ONE);
        s->pref_y[i] = (fix16_t)test_range(&seed, -2 * ONE, 2 * ONE);
    }
}

static double real(fix16_t value) { return value / 65536.0; }

static double to_segment(PhxVec2 at, PhxVec2 start, PhxVec2 end) {
    const double dx = real(end.x) - real(start.x), dy = real(end.y) - real(start.y);
    const double px = real(at.x) - real(start.x), py = real(at.y) - real(start.y);
    double t = (px * dx + py * dy) / (dx * dx + dy * dy);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(px - t * dx, py - t * dy);
}

/* The wall is one that the unit meets, and alone leaves this very half-plane. */
static void check_wall(const Scene *s, const PhxOrcaExplanation *why, const PhxOrcaHalfPlane *line) {
    const PhxOrcaBody *self = &s->work.body[s->spatial.row_of[why->slot]];
    const PhxOrcaReach *reach = &s->work.reach[self->class_of];
    PhxWallNear near[PHX_WALLS_MAX_NEAR];
    const uint32_t met =
        phx_walls_nearest(&s->walls, why->position, reach->wall_range, PHX_WALLS_MAX_NEAR, near);
    CHECK_EQ(met, why->walls_met);
    for (uint32_t i = 0; i < met; i++) {
        const PhxWall wall = phx_walls_get(&s->walls, &near[i]);
        if (!phx_vec2_equal(wall.start, line->start) || !phx_vec2_equal(wall.end, line->end)) continue;
        PhxOrcaLine alone;
        CHECK_EQ(phx_orca_wall_lines(self, reach->inv_wall_horizon, &s->walls, &near[i], 1, &alone), 1);
        CHECK(alone.normal.x == line->normal.x && alone.normal.y == line->normal.y);
        CHECK_EQ(alone.offset, line->offset);
        CHECK(fabs(to_segment(why->position, line->start, line->end) - real(line->distance)) < 1e-4);
        CHECK_EQ(line->overlaps, near[i].distance_sq <= (uint64_t)why->radius * (uint64_t)why->radius);
        CHECK_EQ(line->slot, UINT32_MAX);
        return;
    }
    CHECK_THAT(false, "unit %u: a half-plane of no wall", why->slot);
}

/* The i-th neighbour is the one that brute force finds. */
static void check_unit(const Scene *s, const PhxOrcaExplanation *why, uint32_t i) {
    const PhxOrcaHalfPlane *line = &why->line[why->walls + i];
    const uint64_t distance_sq = phx_vec2_distance_sq(why->position, line->position);
    uint32_t nearer = 0;
    for (uint32_t k = 0; k < s->count; k++) {
        const uint32_t slot = s->slots[k];
        const uint64_t of = phx_vec2_distance_sq(why->position, phx_vec2(s->x[slot], s->y[slot]));
        nearer += slot != why->slot && (of < distance_sq || (of == distance_sq && slot < line->slot));
    }
    CHECK_EQ(nearer, i);
    const uint32_t slot = line->slot;
    CHECK(line->position.x == s->x[slot] && line->position.y == s->y[slot]);
    CHECK(line->velocity.x == s->vel_x[slot] && line->velocity.y == s->vel_y[slot]);
    CHECK(line->relative.x == s->vel_x[why->slot] - s->vel_x[slot] &&
          line->relative.y == s->vel_y[why->slot] - s->vel_y[slot]);
    CHECK_EQ(line->radius, s->classes[s->class_of[slot]].radius);
    const int64_t radii = (int64_t)why->radius + line->radius;
    CHECK_EQ(line->overlaps, distance_sq <= (uint64_t)(radii * radii));
    CHECK(fabs(sqrt((double)distance_sq) - line->distance) < 1.5);
    const double wide = real(why->avoid) + real(line->avoid),
                 kept = sqrt((double)distance_sq) / 65536 >= wide
                            ? wide
                            : fmax(2 * sqrt((double)distance_sq) / 65536 - wide, real((fix16_t)radii));
    CHECK(fabs(kept - real(line->kept)) < 1e-4);
    CHECK_EQ(line->avoid, s->close[slot] || s->avoid[slot] < line->radius ? line->radius : s->avoid[slot]);
    CHECK_EQ(line->weight, s->weight[slot]);
}

/* A velocity that crept is no worse than the least and the creep; and where contacts were kept, nobody is
 * pressed in too far: by a sixth of both radii, or a twelfth where it doesn't creep. Returns how many
 * contacts there are. */
static uint32_t check_creep(const PhxOrcaExplanation *why) {
    const bool crept = (why->flags & PHX_ORCA_CREPT) != 0;
    uint32_t contacts = 0;
    CHECK(crept ? why->creep > 0 && why->violation <= why->least + why->creep + 64
                : why->least == why->violation);
    for (uint32_t i = 0; i < why->count; i++) {
        const PhxOrcaHalfPlane *line = &why->line[i];
        const double x = line->contact_normal.x / 0x1p30, y = line->contact_normal.y / 0x1p30;
        if (x == 0 && y == 0) continue;
        contacts++;
        const double apart = hypot(real(why->position.x) - real(line->position.x),
                                   real(why->position.y) - real(line->position.y));
        const double gap = apart - (real(why->radius) + real(line->radius)) * (crept ? 5.0 / 6 : 11.0 / 12);
        CHECK(why->flags & PHX_ORCA_CROWDED && i >= why->walls && fabs(hypot(x, y) - 1) < 1e-6);
        CHECK(fabs(x * apart - (real(why->position.x) - real(line->position.x))) < 1e-3);
        CHECK(fabs(fmin(-gap * 20 / 2, 0) - real(line->contact_offset)) < 1e-3);
        CHECK(x * real(why->chosen.x) + y * real(why->chosen.y) > real(line->contact_offset) - 1e-3);
    }
    return contacts;
}

/* What is said of violations, and that it fits the flags. */
static void check_violations(const PhxOrcaExplanation *why) {
    double largest[2] = {0, 0};
    for (uint32_t i = 0; i < why->count; i++) {
        const PhxOrcaHalfPlane *line = &why->line[i];
        const double by = real(line->offset) - (line->normal.x / 0x1p30 * real(why->chosen.x) +
                                                line->normal.y / 0x1p30 * real(why->chosen.y));
        CHECK_EQ(line->source, i < why->walls ? PHX_ORCA_FROM_WALL : PHX_ORCA_FROM_UNIT);
        CHECK(fabs(by - real(line->violation)) < 2e-5);
        largest[line->source] = fmax(largest[line->source], by);
    }
    CHECK(fabs(largest[PHX_ORCA_FROM_WALL] - real(why->wall_violation)) < 2e-5);
    CHECK(fabs(largest[PHX_ORCA_FROM_UNIT] - real(why->violation)) < 2e-5);
    if (!(why->flags & (PHX_ORCA_CROWDED | PHX_ORCA_CREPT))) CHECK(why->violation <= 64);
    if (!(why->flags & PHX_ORCA_WALLED)) CHECK(why->wall_violation <= 64 && why->walls_back == 0);
}

PHX_TEST(orca_explain, is_what_solving_does_and_names_each_source) {
    Scene *s = scene_make();
    uint32_t kinds[8] = {0}, contacts[2] = {0}, walls = 0, overlaps = 0, covered = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        scene_random(s, seed * 977);
        scene_run(s);
        fix16_t before_x[CAPACITY], before_y[CAPACITY];
        memcpy(before_x, s->out_x, sizeof before_x), memcpy(before_y, s->out_y, sizeof before_y);
        for (uint32_t k = 0; k < s->count; k++) {
            const uint32_t slot = s->slots[k];
            PhxOrcaExplanation why;
            phx_orca_explain(&s->scene, slot, &why);
            CHECK_THAT(why.chosen.x == s->out_x[slot] && why.chosen.y == s->out_y[slot] &&
                           why.flags == s->flags[slot],
                       "seed %" PRIu64 " unit %u: %d %d %x, not %d %d %x", seed, slot, why.chosen.x,
                       why.chosen.y, why.flags, s->out_x[slot], s->out_y[slot], s->flags[slot]);
            CHECK_EQ(why.slot, slot);
            CHECK(why.position.x == s->x[slot] && why.velocity.y == s->vel_y[slot] &&
                  why.preferred.x == s->pref_x[slot]);
            const PhxOrcaClass *class = &s->classes[s->class_of[slot]];
            const fix16_t top = s->top_speed[slot] > 0 ? s->top_speed[slot] : class->max_speed;
            CHECK(why.radius == class->radius && why.max_speed == top && why.horizon == class->horizon &&
                  why.creep == top / 16 * s->creep[slot] && why.weight == s->weight[slot]);
            CHECK(why.count - why.walls <= (why.weight > 0 ? class->neighbours : 0) &&
                  why.walls <= why.walls_met);
            check_violations(&why);
            contacts[(why.flags & PHX_ORCA_CREPT) != 0] += check_creep(&why);
            for (uint32_t i = 0; i < why.walls; i++) check_wall(s, &why, &why.line[i]);
            for (uint32_t i = 0; i < why.count - why.walls; i++) check_unit(s, &why, i);
            for (uint32_t i = 0; i < why.count; i++) overlaps += why.line[i].overlaps;
            kinds[why.flags & 7]++;
            walls += why.walls;
            covered += why.walls_met - why.walls;
        }
        CHECK(memcmp(before_x, s->out_x, sizeof before_x) == 0 &&
              memcmp(before_y, s->out_y, sizeof before_y) == 0);
    }
    printf("free %u, crowded %u, crept %u, walled %u; %u walls, %u covered, %u overlaps\n", kinds[0],
           kinds[PHX_ORCA_CROWDED], kinds[PHX_ORCA_CROWDED | PHX_ORCA_CREPT],
           kinds[2] + kinds[3] + kinds[6] + kinds[7], walls, covered, overlaps);
    CHECK(kinds[0] > 100 && kinds[PHX_ORCA_CROWDED] > 100 && kinds[PHX_ORCA_CROWDED | PHX_ORCA_CREPT] > 100);
    CHECK(contacts[0] > 100 && contacts[1] > 100);
    CHECK(walls > 100 && covered > 10 && overlaps > 100);
    scene_free(s);
}

/* Scenes of one's own hand, whose answers are known. */
PHX_TEST(orca_explain, one_neighbour_one_wall_and_none) {
    Scene *s = scene_make();
    PhxOrcaExplanation why;
    memset(s->weight, PHX_ORCA_WEIGHT, sizeof s->weight);
    s->count = 1, s->slots[0] = 7;
    s->x[7] = 12 * ONE, s->y[7] = 12 * ONE, s->pref_x[7] = 3 * ONE;
    scene_run(s);
    phx_orca_explain(&s->scene, 7, &why);
    CHECK(why.count == 0 && why.walls_met == 0 && why.flags == 0 && why.chosen.x == ONE && why.chosen.y == 0);
    /* Another one, two units away, comes nearer at the speed of 2: within a second they would touch. */
    s->count = 2, s->slots[1] = 9;
    s->x[9] = 14 * ONE, s->y[9] = 12 * ONE, s->vel_x[7] = ONE, s->vel_x[9] = -ONE;
    scene_run(s);
    phx_orca_explain(&s->scene, 7, &why);
    CHECK(why.count == 1 && why.walls == 0 && why.line[0].slot == 9 && why.line[0].distance == 2 * ONE);
    CHECK(why.line[0].relative.x == 2 * ONE && !why.line[0].overlaps && why.line[0].normal.x < 0);
    CHECK(why.chosen.x < ONE && why.violation <= 64);
    s->x[9] = 12 * ONE + 2 * ONE / 5;
    scene_run(s);
    phx_orca_explain(&s->scene, 7, &why);
    CHECK(why.line[0].overlaps && why.line[0].offset > 0);
    /* A wall right of it, a quarter of a unit beyond its rim. */
    memset(s->cost, 1, sizeof s->cost);
    for (uint32_t y = 0; y < SIDE; y++) s->cost[y * SIDE + 15] = PHX_NAV_IMPASSABLE;
    const PhxNavGrid grid = {SIDE, SIDE, s->cost};
    CHECK_OK(phx_walls_create_grid(&s->walls, phx_allocator_default(), &grid, &s->jobs));
    s->scene.walls = &s->walls;
    s->count = 1, s->x[7] = 14 * ONE + ONE / 2;
    scene_run(s);
    phx_orca_explain(&s->scene, 7, &why);
    CHECK(why.count == 1 && why.walls == 1 && why.line[0].source == PHX_ORCA_FROM_WALL);
    CHECK(why.line[0].start.x == 15 * ONE && why.line[0].end.x == 15 * ONE);
    CHECK(why.line[0].distance == ONE / 2 && !why.line[0].overlaps && why.line[0].normal.x == -(1 << 30));
    CHECK(abs(why.chosen.x - ONE / 4) <= 2 && why.line[0].violation <= 1);
    scene_free(s);
}

typedef struct Watch {
    PhxSim *sim;
    uint32_t count;
    PhxOrcaExplanation *within; /* by slot, as the phase orca ended */
    bool *told, early;
} Watch;

static void watch(void *user, uint32_t tick, uint32_t phase, const char *name, bool begin, uint64_t hash) {
    Watch *w = user;
    (void)tick, (void)phase, (void)hash;
    PhxOrcaExplanation why;
    if (begin && strcmp(name, "orca") == 0)
        for (uint32_t i = 0; i < w->count; i++) w->early |= phx_sim_explain_unit(w->sim, i, &why);
    if (begin || strcmp(name, "orca") != 0) return;
    for (uint32_t i = 0; i < w->count; i++) w->told[i] = phx_sim_explain_unit(w->sim, i, &w->within[i]);
}

static bool same_line(const PhxOrcaHalfPlane *a, const PhxOrcaHalfPlane *b) {
    return a->normal.x == b->normal.x && a->normal.y == b->normal.y && a->offset == b->offset &&
           a->violation == b->violation && a->distance == b->distance && a->source == b->source &&
           a->overlaps == b->overlaps && a->slot == b->slot && a->radius == b->radius &&
           a->avoid == b->avoid && a->kept == b->kept && a->weight == b->weight &&
           a->contact_normal.x == b->contact_normal.x && a->contact_normal.y == b->contact_normal.y &&
           a->contact_offset == b->contact_offset && phx_vec2_equal(a->position, b->position) &&
           phx_vec2_equal(a->velocity, b->velocity) && phx_vec2_equal(a->relative, b->relative) &&
           phx_vec2_equal(a->start, b->start) && phx_vec2_equal(a->end, b->end);
}

/* Field by field: what lies between them is nothing. */
static bool same(const PhxOrcaExplanation *a, const PhxOrcaExplanation *b) {
    const fix16_t in[2][9] = {{a->radius, a->avoid, a->max_speed, a->horizon, a->creep, a->walls_back,
                               a->violation, a->least, a->wall_violation},
                              {b->radius, b->avoid, b->max_speed, b->horizon, b->creep, b->walls_back,
                               b->violation, b->least, b->wall_violation}};
    if (a->slot != b->slot || a->flags != b->flags || a->weight != b->weight || a->count != b->count ||
        a->walls != b->walls || a->walls_met != b->walls_met || memcmp(in[0], in[1], sizeof in[0]) != 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!same_line(&a->line[i], &b->line[i])) return false;
    return phx_vec2_equal(a->position, b->position) && phx_vec2_equal(a->velocity, b->velocity) &&
           phx_vec2_equal(a->preferred, b->preferred) && phx_vec2_equal(a->chosen, b->chosen);
}

PHX_TEST(orca_explain, a_sim_tells_after_the_tick_what_it_told_within_and_stays_what_it_is) {
    enum { UNITS = 120 };
    const PhxSimConfig config = {0};
    PhxSim *sim = little_sim(&config, 5, 48, UNITS / 2), *twin = little_sim(&config, 5, 48, UNITS / 2);
    PhxOrcaExplanation why;
    Watch w = {.sim = sim, .count = UNITS, .within = calloc(UNITS, sizeof why), .told = calloc(UNITS, 1)};
    CHECK(w.within != NULL && w.told != NULL && !phx_sim_explain_unit(sim, 0, &why));
    phx_sim_observe_phases(sim, watch, &w, false);
    uint32_t explained = 0, with_walls = 0;
    for (uint32_t tick = 0; tick < 150; tick++) {
        memset(w.told, 0, UNITS);
        little_step(sim, 5);
        little_step(twin, 5);
        CHECK_EQ(phx_sim_root(sim), phx_sim_root(twin));
        const PhxUnitTable *units = &sim->world->unit;
        for (uint32_t i = 0; i < UNITS; i++) {
            CHECK_EQ(phx_sim_explain_unit(sim, i, &why), w.told[i]);
            if (!w.told[i]) continue;
            CHECK_THAT(same(&why, &w.within[i]), "tick %u unit %u", tick, i);
            CHECK(why.chosen.x == units->next_x[i] && why.chosen.y == units->next_y[i]);
            CHECK(why.position.x == sim->prev_x[i] && why.position.y == sim->prev_y[i]);
            explained++;
            with_walls += why.walls > 0;
        }
    }
    printf("%u explained, %u with walls\n", explained, with_walls);
    CHECK(explained > 10000 && with_walls > 100 && !w.early);
    CHECK(!phx_sim_explain_unit(sim, UNITS, &why) && !phx_sim_explain_unit(sim, UINT32_MAX, &why));
    /* What was restored or dropped has no last tick. */
    size_t size;
    void *bytes = malloc(phx_sim_snapshot_size(sim));
    CHECK_OK(phx_sim_snapshot(sim, bytes, phx_sim_snapshot_size(sim), &size));
    CHECK_OK(phx_sim_restore(sim, bytes, size, NULL));
    CHECK(!phx_sim_explain_unit(sim, 0, &why));
    little_step(sim, 5);
    little_step(twin, 5);
    CHECK_EQ(phx_sim_root(sim), phx_sim_root(twin));
    CHECK(phx_sim_explain_unit(sim, 0, &why));
    phx_sim_drop_derived(sim, 0x5a);
    CHECK(!phx_sim_explain_unit(sim, 0, &why));
    free(bytes);
    free(w.within);
    free(w.told);
    phx_sim_destroy(sim);
    phx_sim_destroy(twin);
}
