/* orca_lines.c: the half-planes of permitted velocities that neighbours leave to a unit.
 *
 * In: two bodies, a horizon. Out: a normal and an offset. Source: van den Berg et al. 2011, sections 3 and 4,
 * rewritten by normals. With p the relative position, v the relative velocity, R the sum of radii, T the
 * horizon, the velocity obstacle is a cone about p cut off by a disc of radius R / T at p / T. The boundary
 * nearest to v is
 *   - the cut-off disc, where w = v - p / T points back by more than the tangent: n = w / |w|, and v lies
 *     n . v - (n . p + R) / T above it;
 *   - else one of the legs, tangents through the origin: n . v above it.
 * Each of the two units takes its share of the change, half where they have equal weights: offset =
 * (n . (v_self + v_other) + (n . p + R) / T) / 2, the last term for the disc only; else n . v_self + share *
 * (2 offset - 2 n . v_self). Overlapping units use the disc alone, with one tick for T. Cost: a
 * reciprocal square root, for the legs a square root too; no division.
 *
 * T is longer by up to a half where two close in faster than one and a half times the unit's greatest speed.
 *
 * Determinism: integers, symmetric rounding; the two units of a pair compute opposite normals from opposite
 * vectors. Exact ties: between the legs, the one that makes both keep right; at equal positions and
 * velocities, the difference of directions drawn from the two slots, opposite for the two.
 */
#include "motion/orca_lines.h"

#include <phalanx/rng.h>

#include "base/assert.h"
#include "motion/kernels.h"

enum {
    PART_KEY = 0x70617274, /* of phx_random; any number would do */
    HEAD_ON = 8,           /* 2^-8 rad */
    TILT = 5,              /* 2^-5 rad */
};

bool phx_orca_unit(int64_t x, int64_t y, PhxDir *out) {
    if (phx_abs64(x) >= (uint64_t)1 << 30 || phx_abs64(y) >= (uint64_t)1 << 30)
        x = phx_round_shift(x, 2), y = phx_round_shift(y, 2);
    const uint64_t length_sq = (uint64_t)(x * x) + (uint64_t)(y * y);
    if (length_sq == 0) return false;
    *out = phx_reciprocal_dir(x, y, phx_reciprocal_sqrt(length_sq));
    return true;
}

static PhxDir drawn_dir(uint64_t id) {
    return phx_dir_of_angle((PhxAngle)(phx_random(PART_KEY, 0, id, 0, 0) >> 48));
}

/* The direction in which two units on one spot part, opposite for the two. Each has a direction of its own
 * and goes the way in which that differs from the other's: any number on one spot are then pulled apart as
 * points of a circle are, where directions drawn for pairs would hold one in the middle. Two with equal
 * directions draw one for their pair. */
static PhxDir drawn_normal(uint32_t slot, uint32_t other) {
    const PhxDir own = drawn_dir(slot), its = drawn_dir(other);
    PhxDir n;
    if (phx_orca_unit((int64_t)own.x - its.x, (int64_t)own.y - its.y, &n)) return n; /* < 2^32 */
    const uint32_t low = slot < other ? slot : other, high = slot < other ? other : slot;
    const PhxDir drawn = drawn_dir((uint64_t)low << 32 | high);
    return slot < other ? drawn : phx_dir_neg(drawn);
}

/* The leg with its reciprocal and squares known; radius_sq <= distance_sq. */
static inline PhxDir leg_of(int64_t px, int64_t py, int64_t radius, uint64_t distance_sq, uint64_t radius_sq,
                            bool left) {
    const PhxReciprocal r = phx_reciprocal_sqrt(distance_sq);
    const PhxDir u = phx_reciprocal_dir(px, py, r);
    /* The root of leg^2 scaled like |p|^2, so that the error of a short leg is 2^-31 of |p| too: < 2^32;
     * cosine and sine in Q30 */
    const uint64_t leg = phx_isqrt64((distance_sq - radius_sq) << (2 * r.half_shift));
    const int64_t cosine = (int64_t)(leg * (uint64_t)(r.mantissa >> 1) >> 32);
    int64_t sine = radius * ((int64_t)1 << r.half_shift) * (r.mantissa >> 1) >> 32;
    sine = left ? sine : -sine;
    return phx_dir((int32_t)phx_round_shift(u.x * cosine - u.y * sine, 30),
                   (int32_t)phx_round_shift(u.y * cosine + u.x * sine, 30));
}

PhxDir phx_orca_leg(int64_t px, int64_t py, int64_t radius, bool left) {
    const uint64_t distance_sq = (uint64_t)(px * px) + (uint64_t)(py * py),
                   radius_sq = (uint64_t)(radius * radius);
    /* never the root of a negative: a disc about the origin is seen under a right angle */
    if (distance_sq > radius_sq) return leg_of(px, py, radius, distance_sq, radius_sq, left);
    const PhxDir u = phx_reciprocal_dir(px, py, phx_reciprocal_sqrt(distance_sq));
    return left ? phx_dir(-u.y, u.x) : phx_dir(u.y, -u.x);
}

/* A pair, seen from one of its units. Bounds within the query range: |p| < 2^22, R <= 2^21, |v| <= 2^22 each.
 */
typedef struct Pair {
    int64_t px, py;       /* to the other, raw */
    int64_t vx, vy;       /* own velocity less the other's, raw */
    int64_t sum_x, sum_y; /* of both velocities */
    int64_t radius;       /* sum of both */
    uint64_t distance_sq, radius_sq;
} Pair;

/* The half-plane that touches the disc of radius R / T about p / T where its normal is n; `inv` = 1 / T in
 * Q30. */
static inline PhxOrcaLine disc_line(const Pair *pair, PhxDir n, int64_t inv) {
    const int64_t ahead = phx_round_shift(n.x * pair->px + n.y * pair->py, 30) + pair->radius; /* n . p + R */
    /* Q46: 2^30 * 2^24, and 2^22 * 2^40 at the most */
    const int64_t twice = n.x * pair->sum_x + n.y * pair->sum_y + ahead * inv;
    return (PhxOrcaLine){n, phx_orca_clamp_offset(phx_round_shift(twice, 31))};
}

/* |p| <= R: the disc alone, within one tick. 1 / T <= 1000 * 2^30 < 2^40, p <= 2^21. */
static PhxOrcaLine overlap_line(const Pair *pair, uint32_t slot, uint32_t other_slot, int64_t inv_tick) {
    const int64_t wx = pair->vx - phx_round_shift(pair->px * inv_tick, 30);
    const int64_t wy = pair->vy - phx_round_shift(pair->py * inv_tick, 30);
    PhxDir n;
    if (!phx_orca_unit(wx, wy, &n) && !phx_orca_unit(-pair->px, -pair->py, &n))
        n = drawn_normal(slot, other_slot);
    return disc_line(pair, n, inv_tick);
}

/* Two units that make straight for each other would brake for each other for ever, and any even number of
 * them on a circle too, as nothing says on which side to pass. So where w points back along p within 2^-8,
 * it's turned by 2^-5, to the side on which both keep right. The half-plane still touches the disc. */
static inline bool head_on(int64_t dot, int64_t det) {
    return dot < 0 && phx_abs64(det) < phx_abs64(dot) >> HEAD_ON;
}

/* |p| > R. 1 / T <= 2^34, p < 2^22: |w| < 2^27. */
static inline PhxOrcaLine cone_line(const Pair *pair, int64_t inv) {
    int64_t wx = pair->vx - phx_round_shift(pair->px * inv, 30),
            wy = pair->vy - phx_round_shift(pair->py * inv, 30);
    const int64_t dot = wx * pair->px + wy * pair->py, det = pair->px * wy - pair->py * wx; /* <= 2^50 */
    if (dot < 0) {
        if (head_on(dot, det)) {
            const int64_t x = wx;
            wx -= phx_round_shift(wy, TILT);
            wy += phx_round_shift(x, TILT);
        }
        const PhxReciprocal r = phx_reciprocal_sqrt((uint64_t)(wx * wx) + (uint64_t)(wy * wy));
        const PhxDir n = phx_reciprocal_dir(wx, wy, r);
        if (n.x * pair->px + n.y * pair->py < -pair->radius * ((int64_t)1 << 30))
            return disc_line(pair, n, inv);
    }
    const bool left = det > 0;
    const PhxDir leg = leg_of(pair->px, pair->py, pair->radius, pair->distance_sq, pair->radius_sq, left);
    const PhxDir n = left ? phx_dir(-leg.y, leg.x) : phx_dir(leg.y, -leg.x);
    return (PhxOrcaLine){n, (fix16_t)phx_round_shift(n.x * pair->sum_x + n.y * pair->sum_y, 31)};
}

int64_t phx_orca_pair_radius(const PhxOrcaBody *self, const PhxOrcaBody *other, uint64_t distance_sq) {
    const int64_t bodies = (int64_t)self->radius + other->radius;
    const int64_t wide = bodies + self->shell + other->shell; /* <= 2^22 */
    if (wide == bodies || distance_sq >= (uint64_t)(wide * wide)) return wide;
    const int64_t kept = 2 * (int64_t)phx_isqrt64(distance_sq) - wide;
    return kept > bodies ? kept : bodies;
}

/* Own share of the change against a neighbour of another weight, Q15: own / (own + other). */
static int64_t share_of(uint32_t own, uint32_t other) {
    return ((int64_t)own << 15) / (int64_t)(own + other);
}

/* From a half-plane for equal weights to one for others. */
static PhxOrcaLine weighted(PhxOrcaLine line, const PhxOrcaBody *self, const PhxOrcaBody *other) {
    const int64_t own = phx_round_shift(
        line.normal.x * (int64_t)self->velocity.x + line.normal.y * (int64_t)self->velocity.y, 30);
    const int64_t change = 2 * (line.offset - own); /* <= 2^30 */
    line.offset =
        phx_orca_clamp_offset(own + phx_round_shift(change * share_of(self->weight, other->weight), 15));
    return line;
}

/* How far beyond one and a half times its greatest speed the relative speed is, on the way to twice that:
 * Q16, 0..1. |v| <= 2^23. */
static int64_t fastness(const PhxOrcaPairs *pairs, int64_t vx, int64_t vy) {
    const int64_t max_sq = (int64_t)pairs->max_speed * pairs->max_speed; /* <= 2^44 */
    const int64_t beyond = 4 * (vx * vx + vy * vy) - 9 * max_sq, all = 7 * max_sq;
    if (beyond <= 0) return 0;
    return beyond >= all ? PHX_FIX_ONE : beyond / ((all >> 16) + 1); /* all > beyond > 0; <= 2^47 */
}

/* 1 / T: who closes in fast is seen from farther off, up to half again as far. */
static int64_t farther(const PhxOrcaPairs *pairs, int64_t vx, int64_t vy) {
    return pairs->inv_horizon - (pairs->inv_horizon * fastness(pairs, vx, vy) >> 16) / 3; /* 2^34 * 2^16 */
}

PhxOrcaLine phx_orca_line_from(PhxOrcaLine line, PhxVec2 origin) {
    if ((origin.x | origin.y) == 0) return line;
    const int64_t moved =
        phx_round_shift(line.normal.x * (int64_t)origin.x + line.normal.y * (int64_t)origin.y, 30);
    line.offset = phx_orca_clamp_offset(line.offset - moved);
    return line;
}

PhxOrcaLine phx_orca_pair_line(const PhxOrcaPairs *pairs, uint32_t i) {
    const PhxOrcaBody *self = pairs->self, *other = &pairs->bodies[pairs->near[i].row];
    Pair pair = {.px = other->position.x - self->position.x,
                 .py = other->position.y - self->position.y,
                 .vx = self->velocity.x - other->velocity.x,
                 .vy = self->velocity.y - other->velocity.y,
                 .sum_x = self->velocity.x + other->velocity.x,
                 .sum_y = self->velocity.y + other->velocity.y,
                 .distance_sq = pairs->near[i].distance_sq};
    pair.radius = phx_orca_pair_radius(self, other, pair.distance_sq);
    pair.radius_sq = (uint64_t)(pair.radius * pair.radius);

    const PhxOrcaLine line = PHX_UNLIKELY(pair.distance_sq <= pair.radius_sq)
                                 ? overlap_line(&pair, pairs->slot, pairs->near[i].slot, pairs->inv_tick)
                                 : cone_line(&pair, farther(pairs, pair.vx, pair.vy));
    return phx_orca_line_from(
        PHX_UNLIKELY(self->weight != other->weight) ? weighted(line, self, other) : line, pairs->origin);
}

/* |v|, or up to an eighth more. */
static inline int64_t length_bound(int64_t x, int64_t y) {
    const int64_t a = (int64_t)phx_abs64(x), b = (int64_t)phx_abs64(y);
    return a > b ? a + (b >> 1) + 1 : b + (a >> 1) + 1;
}

/* The half-plane permits v where 2 (v - v_self) + (v_self - v_other) is on the far side of the tangent
 * nearest to the relative velocity; so surely where the relative velocity is further from the obstacle than 2
 * |v - v_self| = m. The obstacle grown by m lies in that of the radius R + m T. And it doesn't hold the
 * relative velocity where the two discs, one of them grown so, keep off each other for the time T. Half a
 * thousandth is added for normals that were turned (keep right), and some raw units for rounding. */
bool phx_orca_pair_permits(const PhxOrcaPairs *pairs, uint32_t i, int64_t change) {
    const PhxOrcaBody *self = pairs->self, *other = &pairs->bodies[pairs->near[i].row];
    if (PHX_UNLIKELY(self->weight < other->weight)) /* a share below half: it may change by so much less */
        change = change * (self->weight + other->weight) / (2 * (int64_t)self->weight) + 1;
    const int64_t vx = self->velocity.x - other->velocity.x, vy = self->velocity.y - other->velocity.y;
    const int64_t horizon =
        fastness(pairs, vx, vy) > 0 ? pairs->horizon + (pairs->horizon >> 1) + 1 : pairs->horizon;
    const int64_t wide = (int64_t)self->radius + other->radius + self->shell + other->shell +
                         ((2 * change + 8) * horizon >> 16); /* 2^24 * 2^26 */
    const int64_t radius = wide + (wide >> 10) + 8;
    if (radius > (int64_t)1 << 23) return false;
    const int64_t px = other->position.x - self->position.x, py = other->position.y - self->position.y;
    const int64_t closing = px * vx + py * vy, speed_sq = vx * vx + vy * vy; /* < 2^46.5, <= 2^47 */
    if (closing <= 0) return pairs->near[i].distance_sq > (uint64_t)(radius * radius);
    if (closing >
        ((speed_sq >> 16) + 1) * horizon) { /* nearest at the end of the horizon: |v| T < |p| < 2^22 */
        const int64_t ex = px - (vx * horizon >> 16), ey = py - (vy * horizon >> 16);
        return ex * ex + ey * ey > radius * radius;
    }
    return (int64_t)phx_abs64(px * vy - py * vx) > radius * length_bound(vx, vy); /* 2^23 * 2^24 */
}
