/* orca_lines.c: the half-planes of permitted velocities that neighbours leave to a unit.
 *
 * In: two bodies, a horizon. Out: a normal and an offset. Source: van den Berg et al. 2011, sections 3 and 4,
 * rewritten by normals. With p the relative position, v the relative velocity, R the sum of radii, T the
 * horizon, the velocity obstacle is a cone about p cut off by a disc of radius R / T at p / T. The boundary
 * nearest to v is
 *   - the cut-off disc, where w = v - p / T points back by more than the tangent: n = w / |w|, and v lies
 *     n . v - (n . p + R) / T above it;
 *   - else one of the legs, tangents through the origin: n . v above it.
 * Each of the two units takes half of the change: offset = (n . (v_self + v_other) + (n . p + R) / T) / 2,
 * the last term for the disc only. Overlapping units use the disc alone, with one tick for T. Cost: a
 * reciprocal square root, for the legs a square root too; no division.
 *
 * Determinism: integers, symmetric rounding; the two units of a pair compute opposite normals from opposite
 * vectors. Exact ties: between the legs, the one that makes both keep right; at equal positions and
 * velocities, a direction drawn from the two slots, opposite for the two.
 */
#include "motion/orca_lines.h"

#include <phalanx/rng.h>

#include "motion/kernels.h"

enum {
    PART_KEY = 0x70617274, /* of phx_random; any number would do */
    HEAD_ON = 8,           /* 2^-8 rad */
    TILT = 5,              /* 2^-5 rad */
};

/* A pair, seen from one of its units. Bounds within the query range: |p| < 2^22, |v| <= 2^23, R <= 2^21. */
typedef struct Pair {
    int64_t px, py; /* to the other, raw */
    int64_t vx, vy; /* own velocity less the other's, raw */
    int64_t radius; /* sum of both */
} Pair;

/* The direction in which two units on one spot part: a function of their slots, opposite for the two. */
static PhxDir drawn_normal(uint32_t slot, uint32_t other) {
    const uint32_t low = slot < other ? slot : other, high = slot < other ? other : slot;
    const uint64_t value = phx_random(PART_KEY, 0, (uint64_t)low << 32 | high, 0, 0);
    const PhxDir drawn = phx_dir_of_angle((PhxAngle)(value >> 48));
    return slot < other ? drawn : phx_dir_neg(drawn);
}

/* w / |w| of a vector with components up to 2^32; false for zero. */
bool phx_orca_unit(int64_t x, int64_t y, PhxDir *out) {
    if (phx_abs64(x) >= (uint64_t)1 << 30 || phx_abs64(y) >= (uint64_t)1 << 30)
        x = phx_round_shift(x, 2), y = phx_round_shift(y, 2);
    const uint64_t length_sq = (uint64_t)(x * x) + (uint64_t)(y * y);
    if (length_sq == 0) return false;
    const PhxReciprocal r = phx_reciprocal_sqrt(length_sq);
    *out = phx_dir((int32_t)phx_reciprocal_scale(x, r, 30), (int32_t)phx_reciprocal_scale(y, r, 30));
    return true;
}

PhxDir phx_orca_leg(int64_t px, int64_t py, int64_t radius, bool left) {
    const uint64_t distance_sq = (uint64_t)(px * px) + (uint64_t)(py * py),
                   radius_sq = (uint64_t)(radius * radius);
    const PhxReciprocal r = phx_reciprocal_sqrt(distance_sq);
    const int64_t ux = phx_reciprocal_scale(px, r, 30), uy = phx_reciprocal_scale(py, r, 30);
    int64_t sine = phx_reciprocal_scale(radius, r, 30);
    if (sine > (int64_t)1 << 30) sine = (int64_t)1 << 30;
    /* never the root of a negative. The root of leg^2 * 4^up has 32 bits, so that short legs are exact too */
    const uint64_t leg_sq = distance_sq > radius_sq ? distance_sq - radius_sq : 0;
    const unsigned up = leg_sq ? phx_leading_zeros64(leg_sq) / 2 : 31;
    const int64_t leg = phx_isqrt64(leg_sq << (2 * up));
    /* leg / 2^up / |p| in Q30; up >= r.half_shift, as leg <= |p|; 2^32 * 2^30 */
    const int64_t cosine = phx_round_shift(leg * (r.mantissa >> 2), 31 + up - r.half_shift);
    if (!left) sine = -sine;
    return phx_dir((int32_t)phx_round_shift(ux * cosine - uy * sine, 30),
                   (int32_t)phx_round_shift(uy * cosine + ux * sine, 30));
}

/* Two units that make straight for each other would brake for each other for ever, and any even number of
 * them on a circle too, as nothing says on which side to pass. So a normal of the disc that points back along
 * p within 2^-8 is turned by 2^-5, to the side on which both keep right. The half-plane still touches the
 * disc. */
static PhxDir keep_right(PhxDir n, const Pair *pair) {
    const int64_t across = n.x * pair->py - n.y * pair->px,
                  along = n.x * pair->px + n.y * pair->py; /* < 2^53 */
    if (along < 0 && phx_abs64(across) < phx_abs64(along) >> HEAD_ON)
        phx_orca_unit(n.x - phx_round_shift(n.y, TILT), n.y + phx_round_shift(n.x, TILT), &n);
    return n;
}

static PhxOrcaLine pair_line(const PhxOrcaBody *self, const PhxOrcaBody *other, uint32_t slot,
                             uint32_t other_slot, int64_t inv_horizon, int64_t inv_tick) {
    const Pair pair = {.px = other->position.x - self->position.x,
                       .py = other->position.y - self->position.y,
                       .vx = self->velocity.x - other->velocity.x,
                       .vy = self->velocity.y - other->velocity.y,
                       .radius = self->radius + other->radius};
    const uint64_t distance_sq = (uint64_t)(pair.px * pair.px) + (uint64_t)(pair.py * pair.py);
    const bool overlap = distance_sq <= (uint64_t)(pair.radius * pair.radius);
    /* 1 / T in Q30: <= 2^34, or <= 2^40 where |p| <= R: products with p below 2^61 */
    const int64_t inv = overlap ? inv_tick : inv_horizon;
    const int64_t wx = pair.vx - phx_round_shift(pair.px * inv, 30),
                  wy = pair.vy - phx_round_shift(pair.py * inv, 30);
    const int64_t sum_x = (int64_t)self->velocity.x + other->velocity.x;
    const int64_t sum_y = (int64_t)self->velocity.y + other->velocity.y;
    PhxDir n;
    if (overlap || wx * pair.px + wy * pair.py < 0) {
        if (!phx_orca_unit(wx, wy, &n) && !phx_orca_unit(-pair.px, -pair.py, &n))
            n = drawn_normal(slot, other_slot);
        if (!overlap) n = keep_right(n, &pair);
        const int64_t ahead =
            phx_round_shift(n.x * pair.px + n.y * pair.py, 30) + pair.radius; /* (n . p + R) */
        if (overlap || ahead < 0) {
            /* Q46: 2^30 * 2^24, and 2^22 * 2^40 at the most */
            const int64_t twice = n.x * sum_x + n.y * sum_y + ahead * inv;
            return (PhxOrcaLine){n, phx_orca_clamp_offset(phx_round_shift(twice, 31))};
        }
    }
    const bool left = pair.px * wy - pair.py * wx > 0;
    const PhxDir leg = phx_orca_leg(pair.px, pair.py, pair.radius, left);
    n = left ? phx_dir(-leg.y, leg.x) : phx_dir(leg.y, -leg.x);
    return (PhxOrcaLine){n, phx_orca_clamp_offset(phx_round_shift(n.x * sum_x + n.y * sum_y, 31))};
}

void phx_orca_unit_lines(const PhxOrcaBody *self, uint32_t slot, int64_t inv_horizon, uint32_t rate,
                         const PhxOrcaBody *bodies, const PhxNear *near, uint32_t count, PhxOrcaLine *out) {
    const int64_t inv_tick = (int64_t)rate << PHX_ORCA_INV_BITS;
    for (uint32_t i = 0; i < count; i++)
        out[i] = pair_line(self, &bodies[near[i].row], slot, near[i].slot, inv_horizon, inv_tick);
}
