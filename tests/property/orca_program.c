/* orca_program.c: the linear program of ORCA against an oracle in doubles.
 *
 * The oracle knows no incremental method: the feasible set of half-planes in a disc is empty unless it holds
 * the centre or a piece of some line, so it cuts every line by every other one. The least largest violation
 * comes by bisection.
 */
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "motion/orca_program.h"

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

typedef struct Tally {
    uint32_t feasible, crowded, walled, close;
    double worst_violation, worst_distance, worst_crowded;
} Tally;

static const double margin = 0x1p-13;

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
