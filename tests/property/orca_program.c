/* orca_program.c: the linear program of ORCA against an oracle in doubles.
 *
 * The oracle knows no incremental method: the feasible set of half-planes in a disc is empty unless it holds
 * the centre or a piece of some line, so it cuts every line by every other one. The least largest violation
 * comes by bisection. Whole rows of crowds show what the fallback keeps besides: walls, and contacts.
 */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "harness.h"
#include "motion/orca_row.h"

enum { MAX_LINES = PHX_ORCA_MAX_LINES };

typedef struct OracleLine {
    double x, y, c;
} OracleLine;

typedef struct Instance {
    PhxOrcaLine line[MAX_LINES];
    uint32_t count, hard;
    PhxVec2 preferred;
    fix16_t speed;
} Instance;

static OracleLine exact(const PhxOrcaLine *line) {
    return (OracleLine){ldexp(line->normal.x, -30), ldexp(line->normal.y, -30), ldexp(line->offset, -16)};
}

static double unit(uint64_t *seed) { return (double)(test_random(seed) >> 11) * 0x1p-53; }

static PhxDir dir_at(double angle) {
    return phx_dir((int32_t)lround(cos(angle) * 0x1p30), (int32_t)lround(sin(angle) * 0x1p30));
}

/* The part of line i in the disc, with every other line moved back by `back` from index `hard` on. */
static bool interval(const OracleLine *l, uint32_t n, uint32_t hard, double back, double r, uint32_t i,
                     double *low, double *high) {
    const double size = l[i].x * l[i].x + l[i].y * l[i].y, c = (l[i].c - (i < hard ? 0 : back)) / size;
    const double room = r * r - c * c * size;
    if (room < 0) return false;
    *high = sqrt(room / size);
    *low = -*high;
    for (uint32_t j = 0; j < n; j++) {
        if (j == i) continue;
        const double den = l[j].x * l[i].y - l[j].y * l[i].x;
        const double num = l[j].c - (j < hard ? 0 : back) - c * (l[j].x * l[i].x + l[j].y * l[i].y);
        if (den == 0) {
            if (num > 0) return false;
        } else if (den > 0) {
            *low = fmax(*low, num / den);
        } else {
            *high = fmin(*high, num / den);
        }
    }
    return *low <= *high;
}

static double largest_violation(const OracleLine *l, uint32_t from, uint32_t to, double x, double y) {
    double largest = -1e9;
    for (uint32_t i = from; i < to; i++) largest = fmax(largest, l[i].c - l[i].x * x - l[i].y * y);
    return largest;
}

static bool feasible(const OracleLine *l, uint32_t n, uint32_t hard, double back, double r) {
    bool centre = true;
    for (uint32_t i = 0; i < n; i++) centre = centre && l[i].c - (i < hard ? 0 : back) <= 0;
    double low, high;
    for (uint32_t i = 0; !centre && i < n; i++)
        if (interval(l, n, hard, back, r, i, &low, &high)) return true;
    return centre;
}

/* The least `back` that makes the instance feasible; below zero where it is with room. */
static double least_back(const OracleLine *l, uint32_t n, uint32_t hard, double r) {
    double low = -200, high = 10000;
    for (int i = 0; i < 48; i++) {
        const double middle = (low + high) / 2;
        if (feasible(l, n, hard, middle, r))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Distance from p to the feasible set, which isn't empty. */
static double distance(const OracleLine *l, uint32_t n, double r, double px, double py) {
    double best = 1e9;
    const double size = hypot(px, py), k = size > r ? r / size : 1;
    if (largest_violation(l, 0, n, px * k, py * k) <= 0) best = size - size * k;
    for (uint32_t i = 0; i < n; i++) {
        double low, high;
        if (!interval(l, n, 0, 0, r, i, &low, &high)) continue;
        const double norm = l[i].x * l[i].x + l[i].y * l[i].y, c = l[i].c / norm;
        const double t = fmin(fmax((px * l[i].y - py * l[i].x) / norm, low), high);
        best = fmin(best, hypot(c * l[i].x + t * l[i].y - px, c * l[i].y - t * l[i].x - py));
    }
    return best;
}

/* Kinds: 0 any lines; 1 with a common point; 2 nearly parallel bundles, with a common point; 3 the same
 * without; 4 tangent to the disc and far away. */
static void make(uint64_t *seed, int kind, Instance *in) {
    *in = (Instance){.count = (uint32_t)test_range(seed, 1, MAX_LINES)};
    if (test_range(seed, 0, 1)) in->hard = (uint32_t)test_range(seed, 0, in->count);
    const double speed = test_range(seed, 0, 3) ? 0.25 + 4 * unit(seed) : 64 * unit(seed);
    in->speed = (fix16_t)lround(speed * 65536);
    const double most = test_range(seed, 0, 7) ? speed : speed * 1.5, wish = unit(seed) * most,
                 turn = unit(seed) * 6.3;
    in->preferred =
        phx_vec2((fix16_t)lround(cos(turn) * wish * 65536), (fix16_t)lround(sin(turn) * wish * 65536));
    const double at = unit(seed) * speed, around = unit(seed) * 6.3, wx = at * cos(around),
                 wy = at * sin(around);
    const double axis = unit(seed) * 6.3;
    for (uint32_t i = 0; i < in->count; i++) {
        double angle = unit(seed) * 6.3, narrow = unit(seed) - 0.5, low = unit(seed);
        const int bits = (int)test_range(seed, 0, 30);
        const bool flip = test_range(seed, 0, 1), thin = test_range(seed, 0, 1);
        if (kind == 2 || kind == 3) angle = axis + ldexp(narrow, -bits) + (flip ? 3.14159265358979 : 0);
        const PhxDir n = dir_at(angle);
        double c = (unit(seed) * 2 - 1.2) * speed;
        if (kind == 1 || kind == 2)
            c = ldexp(n.x, -30) * wx + ldexp(n.y, -30) * wy - low * (thin ? speed / 64 : speed);
        if (kind == 4) c = test_range(seed, 0, 1) ? speed : unit(seed) * 4000;
        in->line[i] = (PhxOrcaLine){n, (fix16_t)lround(c * 65536)};
    }
}

static const double margin = 0x1p-13;

typedef struct Tally {
    uint32_t feasible, crowded, walled, close;
    double worst_violation, worst_distance, worst_crowded;
} Tally;

/* So near to the edge of what is possible that the oracle can't say on which side: where something is
 * feasible, nothing is violated all the same; and no more than needs be where the walls leave room. */
static void check_close(const Instance *in, const OracleLine *l, double walls, PhxVec2 v, uint64_t seed) {
    if (in->hard == in->count || walls > 0) return;
    const double back = least_back(l, in->count, in->hard, ldexp(in->speed, -16));
    const double now = largest_violation(l, in->hard, in->count, ldexp(v.x, -16), ldexp(v.y, -16));
    CHECK_THAT(now <= fmax(back, 0) + 0x1p-10 || (back > 0 && walls > -margin),
               "seed %" PRIu64 " violation %g best %g", seed, now, back);
}

static void check_instance(const Instance *in, uint64_t seed, Tally *tally) {
    OracleLine l[MAX_LINES];
    for (uint32_t i = 0; i < in->count; i++) l[i] = exact(&in->line[i]);
    const double r = ldexp(in->speed, -16), px = ldexp(in->preferred.x, -16),
                 py = ldexp(in->preferred.y, -16);
    uint8_t flags;
    const PhxVec2 v = phx_orca_program(in->line, in->count, in->hard, in->preferred, in->speed, &flags);
    const double x = ldexp(v.x, -16), y = ldexp(v.y, -16);
    CHECK_THAT(phx_vec2_length_sq(v) <= (uint64_t)in->speed * (uint64_t)in->speed, "seed %" PRIu64, seed);
    const double walls = in->hard ? least_back(l, in->hard, 0, r) : -1;
    const double hard_back = fmax(walls, 0), hard_now = largest_violation(l, 0, in->hard, x, y);
    CHECK_THAT(in->hard == 0 || hard_now <= hard_back + 0x1p-10, "seed %" PRIu64 " walls %g best %g", seed,
               hard_now, walls);
    if (walls > margin) {
        CHECK_THAT(flags & PHX_ORCA_WALLED, "seed %" PRIu64, seed);
        tally->walled++;
        for (uint32_t i = 0; i < in->hard; i++)
            l[i].c -= walls + 0x1p-13; /* the price that the others may use */
    }
    if (walls > -margin && walls <= margin) {
        tally->close++;
        check_close(in, l, walls, v, seed);
        return;
    }
    if (in->count == in->hard && walls > margin) return;
    const double back = least_back(l, in->count, in->hard, r),
                 now = largest_violation(l, in->hard, in->count, x, y);
    if (back > margin) {
        CHECK_THAT(flags & PHX_ORCA_CROWDED, "seed %" PRIu64 " back %g", seed, back);
        tally->crowded++;
        const double above = now - back;
        tally->worst_crowded = fmax(tally->worst_crowded, walls > margin ? 0 : above);
        CHECK_THAT(above <= 0x1p-10 || walls > margin, "seed %" PRIu64 " violation %g best %g", seed, now,
                   back);
    } else if (back < -margin && walls < -margin && least_back(l, in->count, 0, r) < -margin) {
        CHECK_THAT(flags == 0, "seed %" PRIu64 " back %g flags %d", seed, back, flags);
        tally->feasible++;
        const double violation = largest_violation(l, 0, in->count, x, y);
        const double above = hypot(x - px, y - py) - distance(l, in->count, r, px, py);
        tally->worst_violation = fmax(tally->worst_violation, violation);
        tally->worst_distance = fmax(tally->worst_distance, above);
        CHECK_THAT(violation <= 0x1p-14, "seed %" PRIu64 " violation %g", seed, violation);
        CHECK_THAT(above <= 0x1p-10, "seed %" PRIu64 " distance above the optimum %g", seed, above);
    } else {
        tally->close++;
        check_close(in, l, walls, v, seed);
    }
}

PHX_TEST(orca_program, equals_the_oracle_in_doubles) {
    const int total = (int)test_count(5000, 20000, 100000);
    Tally tally = {0};
    for (int k = 0; k < total; k++) {
        uint64_t seed = 0x0ca0000u + (uint64_t)k;
        const uint64_t name = seed;
        Instance in;
        make(&seed, k % 5, &in);
        check_instance(&in, name, &tally);
    }
    printf("%d instances: %u feasible, %u crowded, %u walled, %u near the edge; worst violation %.3g, "
           "distance %.3g, "
           "crowded %.3g\n",
           total, tally.feasible, tally.crowded, tally.walled, tally.close, tally.worst_violation,
           tally.worst_distance, tally.worst_crowded);
    CHECK(tally.feasible > (uint32_t)total / 5 && tally.crowded > (uint32_t)total / 5 &&
          tally.walled > (uint32_t)total / 20);
}

enum { UNITS = 24, CLASSES = 3, ONE = 1 << 16 };

/* A crowd in a room, much too narrow now and then. */
typedef struct Crowd {
    PhxArena arena;
    PhxSpatial spatial;
    PhxOrcaWork work;
    PhxWalls walls;
    PhxOrcaClass classes[CLASSES];
    fix16_t x[UNITS], y[UNITS], vel_x[UNITS], vel_y[UNITS], pref_x[UNITS], pref_y[UNITS], out_x[UNITS],
        out_y[UNITS];
    uint16_t class_of[UNITS];
    uint8_t creep[UNITS];
} Crowd;

static void random_velocity(uint64_t *seed, fix16_t speed, fix16_t *x, fix16_t *y) {
    const fix16_t vx = (fix16_t)test_range(seed, -speed, speed),
                  vy = (fix16_t)test_range(seed, -speed, speed);
    const PhxVec2 v = phx_vec2_clamp_length(phx_vec2(vx, vy), speed);
    *x = v.x, *y = v.y;
}

static void make_crowd(uint64_t *seed, Crowd *c) {
    const fix16_t half = (fix16_t)test_range(seed, ONE, 12 * ONE),
                  wall = half + (fix16_t)test_range(seed, 0, 2 * ONE);
    const PhxVec2 corner[4] = {{-wall, -wall}, {-wall, wall}, {wall, wall}, {wall, -wall}};
    const uint32_t size = 4;
    CHECK_OK(phx_walls_create_polygons(&c->walls, phx_allocator_default(), corner, &size, 1));
    for (int k = 0; k < CLASSES; k++) {
        c->classes[k] = (PhxOrcaClass){
            .neighbour_range = 16 * ONE, .wall_horizon = ONE, .neighbours = PHX_ORCA_MAX_NEIGHBOURS};
        c->classes[k].radius = (fix16_t)test_range(seed, ONE / 4, 2 * ONE);
        c->classes[k].max_speed = (fix16_t)test_range(seed, ONE / 2, 6 * ONE);
        c->classes[k].horizon = (fix16_t)test_range(seed, ONE / 2, 8 * ONE);
    }
    for (int i = 0; i < UNITS; i++) {
        c->class_of[i] = (uint16_t)test_range(seed, 0, CLASSES - 1);
        const fix16_t speed = c->classes[c->class_of[i]].max_speed;
        c->x[i] = (fix16_t)test_range(seed, -half, half), c->y[i] = (fix16_t)test_range(seed, -half, half);
        if (i > 0 && test_range(seed, 0, 30) == 0) c->x[i] = c->x[i - 1], c->y[i] = c->y[i - 1];
        random_velocity(seed, speed, &c->vel_x[i], &c->vel_y[i]);
        random_velocity(seed, speed, &c->pref_x[i], &c->pref_y[i]);
        c->creep[i] = (uint8_t)(test_range(seed, 0, 1) ? test_range(seed, 1, 16) : 0);
    }
}

typedef struct Contacts {
    uint32_t crowded, crept, pressed; /* rows; pressed: up to a contact */
    double worst;
} Contacts;

static double length_of(PhxVec2 v) { return hypot(ldexp(v.x, -16), ldexp(v.y, -16)); }

/* The half-plane in which a row's unit comes no deeper into neighbour i within a tick than a `part`th of both
 * radii: if both keep to the mean of their velocities (`together`), or whatever the other does that gives its
 * half of the room. Distances are whole raw units, as there. False: none. */
static bool contact_of(const PhxOrcaRow *r, uint32_t i, int32_t part, bool together, uint32_t rate,
                       OracleLine *out) {
    const PhxOrcaBody *self = r->self, *other = &r->pairs.bodies[r->near[i].row];
    const int32_t reach = self->radius + other->radius;
    const double x = (double)self->position.x - other->position.x,
                 y = (double)self->position.y - other->position.y, d = hypot(x, y),
                 apart = ldexp((floor(d) - (reach - reach / part)) * rate, -17);
    if (d == 0 || apart > 1.99 * ldexp(r->max_speed, -16)) return false;
    *out = (OracleLine){x / d, y / d, fmin(-apart, 0)};
    const double mean = ldexp(out->x * ((double)self->velocity.x + other->velocity.x) +
                                  out->y * ((double)self->velocity.y + other->velocity.y),
                              -17);
    if (together) out->c = mean - apart;
    return true;
}

/* Whether all contacts of one kind are kept; l[*count..] becomes them. */
static bool keeps_contacts(const PhxOrcaRow *r, int32_t part, bool together, uint32_t rate, PhxVec2 v,
                           OracleLine *l, uint32_t *count, double *worst) {
    const uint32_t begin = *count;
    for (uint32_t i = 0; i < r->found; i++) *count += contact_of(r, i, part, together, rate, &l[*count]);
    const double by = largest_violation(l, begin, *count, ldexp(v.x, -16), ldexp(v.y, -16));
    *worst = fmin(*worst, by);
    return by <= 0x1p-12;
}

/* One row: what walls and contacts permit is kept, and what creeping costs is bounded. */
static void check_row(const PhxOrcaScene *scene, uint32_t row, uint32_t round, Contacts *tally) {
    PhxOrcaRow r, plain;
    uint8_t flags, plain_flags;
    OracleLine l[PHX_ORCA_MAX_LINES + PHX_ORCA_MAX_NEIGHBOURS];
    phx_orca_row_collect(scene, row, &r);
    phx_orca_row_collect(scene, row, &plain);
    plain.creep = 0;
    const uint32_t hard = r.hard;
    bool still = true; /* walls permit to stand still */
    for (uint32_t i = 0; i < hard; i++) l[i] = exact(&r.lines[i]), still = still && r.lines[i].offset <= 0;
    const PhxVec2 v = phx_orca_row_solve(&r, &flags), without = phx_orca_row_solve(&plain, &plain_flags);
    const double x = ldexp(v.x, -16), y = ldexp(v.y, -16), speed = ldexp(r.max_speed, -16);
    CHECK_THAT(phx_vec2_length_sq(v) <= (uint64_t)r.max_speed * (uint64_t)r.max_speed, "round %" PRIu32,
               round);
    const double walls = hard ? fmax(least_back(l, hard, 0, speed), 0) : 0;
    CHECK_THAT(hard == 0 || largest_violation(l, 0, hard, x, y) <= walls + 0x1p-10,
               "round %" PRIu32 " row %" PRIu32, round, row);
    if (!(flags & PHX_ORCA_CROWDED) || !still) return;
    tally->crowded++;
    const bool crept = flags & PHX_ORCA_CREPT;
    double best = -1, worst = 1e9, now = 0;
    for (int together = 0; together < 2; together++) {
        uint32_t kept = hard;
        const bool keeps =
            keeps_contacts(&r, crept ? 6 : 12, together, scene->tick_rate, v, l, &kept, &worst);
        for (uint32_t i = 0; i < r.found; i++)
            l[kept + i] = exact(&r.lines[hard + i]); /* all made: it's crowded */
        now = largest_violation(l, kept, kept + r.found, x, y);
        if (keeps) best = fmax(best, fmax(least_back(l, kept + r.found, kept, speed), 0));
    }
    CHECK_THAT(best >= 0, "round %" PRIu32 " row %" PRIu32 ": a contact is violated by %g", round, row,
               worst);
    tally->worst = fmax(tally->worst, worst);
    tally->pressed += worst > -0x1p-10;
    if (!crept) {
        CHECK_THAT(now <= best + 0x1p-10, "round %" PRIu32 " row %" PRIu32 ": violation %g best %g", round,
                   row, now, best);
        return;
    }
    tally->crept++;
    const OracleLine *soft = l + hard;
    uint32_t count = 0;
    for (; count < r.found; count++) l[hard + count] = exact(&r.lines[hard + count]);
    const double least = largest_violation(soft, 0, count, ldexp(without.x, -16), ldexp(without.y, -16));
    const double far = length_of(phx_vec2_sub(v, r.preferred)),
                 far_without = length_of(phx_vec2_sub(without, r.preferred));
    CHECK_THAT(now <= fmax(least, 0) + ldexp(r.creep, -16) + 0x1p-10,
               "round %" PRIu32 " row %" PRIu32 ": %g after %g", round, row, now, least);
    CHECK_THAT(far <= far_without + 0x1p-10, "round %" PRIu32 " row %" PRIu32 ": %g from the wish, not %g",
               round, row, far, far_without);
}

PHX_TEST(orca_program, keeps_walls_and_contacts_where_no_velocity_serves_all) {
    static Crowd c;
    Contacts tally = {0};
    c.arena = phx_arena_measure();
    for (int pass = 0; pass < 2; pass++) {
        phx_spatial_layout(&c.spatial, &c.arena, UNITS);
        phx_orca_layout(&c.work, &c.arena, UNITS, CLASSES);
        const size_t bytes = c.arena.used;
        if (pass == 0) CHECK_OK(phx_arena_create(&c.arena, phx_allocator_default(), bytes));
    }
    const PhxJobs serial = phx_jobs_serial();
    for (uint32_t round = 0; round < test_count(40, 200, 5000); round++) {
        uint64_t seed = 0xc0a7ac7 + round;
        make_crowd(&seed, &c);
        phx_spatial_build(&c.spatial, &serial, c.x, c.y, NULL, UNITS, 16 * ONE);
        const PhxOrcaScene scene = {.spatial = &c.spatial,
                                    .walls = &c.walls,
                                    .vel_x = c.vel_x,
                                    .vel_y = c.vel_y,
                                    .pref_x = c.pref_x,
                                    .pref_y = c.pref_y,
                                    .class_of = c.class_of,
                                    .creep = c.creep,
                                    .classes = c.classes,
                                    .class_count = CLASSES,
                                    .tick_rate = (uint32_t)test_range(&seed, 2, 60),
                                    .out_x = c.out_x,
                                    .out_y = c.out_y,
                                    .work = &c.work};
        phx_orca_prepare(&scene);
        phx_orca_gather(&scene, 0, UNITS);
        for (uint32_t row = 0; row < UNITS; row++) check_row(&scene, row, round, &tally);
        phx_walls_destroy(&c.walls);
    }
    printf("%u rows crowded, %u crept, %u up to a contact; worst %.3g\n", tally.crowded, tally.crept,
           tally.pressed, tally.worst);
    CHECK(tally.crowded > 500 && tally.crept > 100 && tally.pressed > 100);
    phx_arena_destroy(&c.arena);
}
