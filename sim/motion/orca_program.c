/* orca_program.c: the velocity nearest to a preferred one in a set of half-planes and a disc.
 *
 * In: half-planes (normal, offset), a preferred velocity, a maximal speed. Out: a velocity.
 * Method: van den Berg et al. 2011, section 5.1 (incremental linear program: where the optimum so far breaks
 * line i, the new optimum lies on line i, a one-dimensional program) and 5.3 (no common point: the least
 * largest violation, found line by line among the velocities that violate i as much as j, which is a line
 * again: (n_j - n_i) . v = c_j - c_i). Cost: O(count) expected, O(count^2) at worst; the fallback one power
 * more. A division only where a bound tightens.
 *
 * Determinism: integers; exact products, symmetric rounding. Precision: velocities are Q20 inside. The bound
 * of line j on line i is num / den with den = det(n_j, n_i), exact in Q60, so that nearly parallel lines need
 * no threshold: a bound beyond the disc either doesn't matter or decides, by the sign of num.
 */
#include "motion/orca_program.h"

#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "motion/kernels.h"

enum {
    FINE = 4,          /* Q16.16 to Q20 */
    OFFSET_SHIFT = 34, /* Q16.16 to Q50, where normals (Q30) times velocities (Q20) are compared */
    LIGHTEST = 12,     /* the same without */
    DEEPEST = 6,       /* part of both radii that units may be pressed into each other by creeping */
    SLACK_T = 16,      /* Q20: an interval that is empty by less than 1/65536 counts as a point */
};
static const int64_t slack_violation = (int64_t)1 << 33; /* Q50: half a raw unit */
static const int64_t slack_parallel = (int64_t)1 << 29;  /* Q46: half a raw unit */

/* A velocity in Q20: |components| <= 2^26. */
typedef struct Fine {
    int64_t x, y;
} Fine;

typedef struct Aim {
    Fine point;   /* the velocity to be near to; |.| <= 2^32 */
    Fine start;   /* the point of the disc nearest to it */
    PhxDir along; /* or the direction to be far along, where `directed` */
    bool directed;
    int64_t radius; /* of the disc, Q20, <= 2^26 */
} Aim;

/* offset - normal . v in Q50: how far v is outside. |.| <= 2^62 + 2^57. */
static inline int64_t violation(const PhxOrcaLine *line, Fine v) {
    return (int64_t)line->offset * ((int64_t)1 << OFFSET_SHIFT) -
           (line->normal.x * v.x + line->normal.y * v.y);
}

/* The part of line i inside of the disc, cut by the lines before it: parameters low..high along (n.y, -n.x),
 * from the line's point nearest to the origin, Q20. */
typedef struct Span {
    int64_t low, high;
} Span;

/* What of a line is the same for all that cut it. */
typedef struct Base {
    PhxDir n;
    int64_t c;       /* Q16, |c| <= 2^22: the line meets the disc */
    int64_t c_error; /* Q46: c * (1 - |n|^2), as rounded normals aren't of unit length; |.| <= 2^24 */
} Base;

static Base base_of(const PhxOrcaLine *line) {
    const PhxDir n = line->normal;
    /* 1 - |n|^2 in Q60 is below 2^32 in size, times 2^22 below 2^54 */
    const int64_t lack = ((int64_t)1 << 60) - ((int64_t)n.x * n.x + (int64_t)n.y * n.y);
    return (Base){.n = n, .c = line->offset, .c_error = phx_round_shift(line->offset * lack, 30)};
}

/* Cuts the span of `base` by one line; false where nothing is left.
 * A point of the base line is c n + t d. The other permits t (n_j . d) >= c_j - c (n_j . n): den and num. */
static inline bool cut(const Base *base, const PhxOrcaLine *by, Span *span) {
    const PhxDir n = base->n, m = by->normal;
    const int64_t den = (int64_t)m.x * n.y - (int64_t)m.y * n.x; /* Q60, <= 2^60 + 2^31 */
    const int64_t dot = (int64_t)m.x * n.x + (int64_t)m.y * n.y; /* Q60 */
    const int64_t dot_high = dot >> 30, dot_low = dot & (((int64_t)1 << 30) - 1);
    /* Q46: 2^22 * 2^30 and less each; c_j * 2^30 <= 2^58 */
    const int64_t projected =
        base->c * dot_high + phx_round_shift(base->c * dot_low + base->c_error * dot_high, 30);
    const int64_t num = by->offset * ((int64_t)1 << 30) - projected;
    const uint64_t den_size = phx_abs64(den), num_size = phx_abs64(num);
    /* the bound is 128 or more away, outside of the disc */
    if (num_size >= den_size >> 7) return num <= slack_parallel;
    /* |num| < |den| / 128. With |den| shifted up to 64 bits, b = num / den in Q20 = 4 (num << up) / (top half
     * of den), where 4 (num << up) < 2^59. |b| < 2^27 */
    const unsigned up = phx_leading_zeros64(den_size);
    const int64_t top = (int64_t)(den_size << up >> 32); /* in [2^31, 2^32) */
    const int64_t scaled = (int64_t)(num_size << up << 2);
    if (den > 0) {
        const int64_t b4 = num < 0 ? -scaled : scaled;
        if (b4 <= span->low * top) return true;
        if (b4 > (span->high + SLACK_T) * top) return false;
        span->low = b4 / top; /* towards zero, as the bound of the mirrored line is */
    } else {
        const int64_t b4 = num < 0 ? scaled : -scaled;
        if (b4 >= span->high * top) return true;
        if (b4 < (span->low - SLACK_T) * top) return false;
        span->high = b4 / top;
    }
    return true;
}

/* The point of lines[i], inside of the disc and of lines[..i), that serves the aim best; false where there is
 * none. */
static bool solve_on_line(const PhxOrcaLine *lines, uint32_t i, const Aim *aim, Fine *v) {
    const int64_t c = (int64_t)lines[i].offset * (1 << FINE); /* Q20, <= 2^32 */
    if (c > aim->radius || c < -aim->radius) return false;
    const Base base = base_of(&lines[i]);
    const int64_t half = phx_isqrt64((uint64_t)(aim->radius * aim->radius - c * c)); /* <= 2^26 */
    Span span = {-half, half};
    for (uint32_t j = 0; j < i; j++)
        if (!cut(&base, &lines[j], &span)) return false;
    const int64_t dx = base.n.y, dy = -(int64_t)base.n.x;
    int64_t t;
    if (span.low > span.high) {
        t = phx_round_shift(span.low + span.high, 1); /* empty by less than the slack */
    } else if (aim->directed) {
        t = dx * aim->along.x + dy * aim->along.y > 0 ? span.high : span.low;
    } else {
        t = phx_round_shift(dx * aim->point.x + dy * aim->point.y, 30); /* 2^30 * 2^32 twice */
        t = t < span.low ? span.low : t > span.high ? span.high : t;
    }
    v->x = phx_round_shift(c * base.n.x + t * dx, 30); /* |c|, |t| <= 2^26 */
    v->y = phx_round_shift(c * base.n.y + t * dy, 30);
    return true;
}

/* Works through the lines in order, from the furthest point of the disc along the aim. Returns count, or the
 * line that left nothing; v is then the optimum of the lines before it. */
static uint32_t solve_along(const PhxOrcaLine *lines, uint32_t count, const Aim *aim, Fine *v) {
    v->x = phx_round_shift(aim->along.x * aim->radius, 30);
    v->y = phx_round_shift(aim->along.y * aim->radius, 30);
    for (uint32_t i = 0; i < count; i++) {
        if (violation(&lines[i], *v) <= slack_violation) continue;
        if (!solve_on_line(lines, i, aim, v)) return i;
    }
    return count;
}

/* The velocities at which line j is violated no more than line i, as a half-plane; false where that is all or
 * nothing, the normals being equal. */
static bool balance(const PhxOrcaLine *i, const PhxOrcaLine *j, PhxOrcaLine *out) {
    int64_t dx = (int64_t)j->normal.x - i->normal.x, dy = (int64_t)j->normal.y - i->normal.y;
    int64_t dc = (int64_t)j->offset - i->offset;                    /* <= 2^29 */
    uint64_t length_sq = (uint64_t)(dx * dx) + (uint64_t)(dy * dy); /* <= 2^62 and a little */
    if (length_sq == 0) return false;
    if (length_sq >> 60) { /* the kernel takes components up to 2^30 */
        dx = phx_round_shift(dx, 1), dy = phx_round_shift(dy, 1), dc = phx_round_shift(dc, 1);
        length_sq = (uint64_t)(dx * dx) + (uint64_t)(dy * dy);
    }
    const PhxReciprocal r = phx_reciprocal_sqrt(length_sq);
    out->normal = phx_dir((int32_t)phx_reciprocal_scale(dx, r, 30), (int32_t)phx_reciprocal_scale(dy, r, 30));
    out->offset = phx_orca_clamp_offset(phx_reciprocal_scale(dc, r, 30));
    return true;
}

/* From v, which serves lines[..begin): reduces the largest violation of lines[hard..), lines[..hard) kept. */
static void solve_crowded(const PhxOrcaLine *lines, uint32_t count, uint32_t hard, uint32_t begin,
                          int64_t radius, Fine *v) {
    PhxOrcaLine among[PHX_ORCA_MAX_LINES + PHX_ORCA_MAX_NEIGHBOURS];
    if (hard > 0) memcpy(among, lines, sizeof *lines * hard);
    int64_t largest = 0;
    for (uint32_t i = begin; i < count; i++) {
        if (violation(&lines[i], *v) <= largest + slack_violation) continue;
        uint32_t n = hard;
        for (uint32_t j = hard; j < i; j++) n += balance(&lines[i], &lines[j], &among[n]);
        const Aim aim = {.along = lines[i].normal, .directed = true, .radius = radius};
        Fine better;
        if (solve_along(among, n, &aim, &better) == n) *v = better;
        largest = violation(&lines[i], *v);
    }
}

/* The walls alone leave nothing: least largest violation of theirs, then all are moved back by as much. */
static void relax_walls(PhxOrcaLine *lines, uint32_t hard, uint32_t begin, int64_t radius, Fine *v) {
    solve_crowded(lines, hard, 0, begin, radius, v);
    int64_t largest = 0;
    for (uint32_t i = 0; i < hard; i++) {
        const int64_t by = violation(&lines[i], *v);
        largest = by > largest ? by : largest;
    }
    const int64_t back = phx_round_shift(largest, OFFSET_SHIFT) + 2;
    for (uint32_t i = 0; i < hard; i++) lines[i].offset = phx_orca_clamp_offset(lines[i].offset - back);
}

/* The lines of one unit. Those of neighbours may be still to be made: bit i of `unmade`. */
typedef struct Planes {
    PhxOrcaLine *line;
    uint32_t count, hard;
    uint64_t unmade;
    const PhxOrcaPairs *pairs; /* null: all are made */
} Planes;

static void make_lines(Planes *planes, uint64_t which) {
    uint64_t left = planes->unmade & which;
    planes->unmade &= ~which;
    for (; left; left &= left - 1) {
        const uint32_t i = phx_bit_lowest(left);
        planes->line[i] = phx_orca_pair_line(planes->pairs, i - planes->hard);
    }
}

/* A bound of |v - v_self|, raw. */
static int64_t change_of(const Planes *planes, Fine v) {
    const PhxVec2 own = phx_vec2_sub(planes->pairs->self->velocity, planes->pairs->origin);
    const int64_t x = (int64_t)phx_abs64(v.x - (int64_t)own.x * (1 << FINE)) >> FINE;
    const int64_t y = (int64_t)phx_abs64(v.y - (int64_t)own.y * (1 << FINE)) >> FINE;
    return (x > y ? x + (y >> 1) : y + (x >> 1)) + 2;
}

/* The same for the velocity nearest to the aim's point; a line that surely permits v isn't made. */
static uint32_t solve_planes(Planes *planes, const Aim *aim, Fine *v) {
    *v = aim->start;
    int64_t change = planes->unmade ? change_of(planes, *v) : 0;
    for (uint32_t i = 0; i < planes->count; i++) {
        const uint64_t bit = (uint64_t)1 << i;
        if (planes->unmade & bit) {
            if (phx_orca_pair_permits(planes->pairs, i - planes->hard, change)) continue;
            make_lines(planes, bit);
        }
        if (violation(&planes->line[i], *v) <= slack_violation) continue;
        make_lines(planes, bit - 1);
        if (!solve_on_line(planes->line, i, aim, v)) return i;
        if (planes->unmade) change = change_of(planes, *v);
    }
    return planes->count;
}

bool phx_orca_contact_line(const PhxOrcaPairs *pairs, uint32_t i, int64_t max_speed, bool creeps,
                           PhxOrcaLine *out) {
    const PhxOrcaBody *self = pairs->self, *other = &pairs->bodies[pairs->near[i].row];
    const int64_t reach = self->radius + other->radius;
    const int64_t gap = (int64_t)phx_isqrt64(pairs->near[i].distance_sq) -
                        (reach - (creeps ? reach / DEEPEST : reach / LIGHTEST));
    const int64_t offset = -phx_round_shift(gap * pairs->inv_tick, PHX_ORCA_INV_BITS + 1); /* 2^22 * 2^40 */
    if (offset < -(int64_t)PHX_ORCA_OFFSET_MAX) return false;
    out->offset = offset < 0 ? (fix16_t)offset : 0;
    if (!phx_orca_unit((int64_t)self->position.x - other->position.x,
                       (int64_t)self->position.y - other->position.y, &out->normal))
        return false;
    *out = phx_orca_line_from(*out, pairs->origin);
    return out->offset >= -max_speed;
}

/* Copies the walls' half-planes, then those of contacts: what the fallback keeps besides. Returns how many.
 */
static uint32_t copy_hard(const Planes *planes, fix16_t max_speed, bool creeps, PhxOrcaLine *line) {
    uint32_t hard = planes->hard;
    if (hard > 0) memcpy(line, planes->line, sizeof *line * hard);
    for (uint32_t i = 0; planes->pairs && i < planes->count - planes->hard; i++)
        hard += phx_orca_contact_line(planes->pairs, i, max_speed, creeps, &line[hard]);
    return hard;
}

/* The least largest violation of the units' half-planes, the walls' kept, and contacts too where they can be:
 * nobody presses farther into another than it is, if that one does the same. */
static void fall_back(const Planes *planes, const Aim *aim, fix16_t max_speed, uint32_t solved, Fine *v) {
    PhxOrcaLine line[PHX_ORCA_MAX_LINES + PHX_ORCA_MAX_NEIGHBOURS];
    const uint32_t soft = planes->count - planes->hard;
    Planes kept = {.line = line, .hard = copy_hard(planes, max_speed, false, line)};
    kept.count = kept.hard;
    solve_crowded(planes->line, planes->count, planes->hard, solved, aim->radius, v);
    uint32_t i = planes->hard;
    while (i < kept.hard && violation(&line[i], *v) <= slack_violation) i++;
    Fine begin;
    if (i == kept.hard || solve_planes(&kept, aim, &begin) < kept.count) return;
    memcpy(line + kept.hard, planes->line + planes->hard, sizeof *line * soft);
    *v = begin;
    solve_crowded(line, kept.hard + soft, kept.hard, kept.hard, aim->radius, v);
}

/* Where others hold a unit that stands still, being too near on all sides or at rest in its way: the velocity
 * nearest to the wish among those that violate no half-plane by more than the largest violation and `creep`,
 * and press no neighbour farther in than a contact may be. So units that are wedged between each other and a
 * wall slide past each other in the end, and those at rest feel that someone wants to pass. False, and v
 * stays as it is, where that leaves nothing. */
static bool creep_along(const Planes *planes, const Aim *aim, fix16_t max_speed, fix16_t creep, Fine *v) {
    PhxOrcaLine line[PHX_ORCA_MAX_LINES + PHX_ORCA_MAX_NEIGHBOURS];
    Planes relaxed = {.line = line, .hard = copy_hard(planes, max_speed, true, line)};
    int64_t largest = 0;
    for (uint32_t i = planes->hard; i < planes->count; i++) {
        const int64_t by = violation(&planes->line[i], *v);
        largest = by > largest ? by : largest;
    }
    const int64_t back = phx_round_shift(largest, OFFSET_SHIFT) + creep;
    relaxed.count = relaxed.hard;
    for (uint32_t i = planes->hard; i < planes->count; i++) {
        line[relaxed.count] = planes->line[i];
        line[relaxed.count].offset = phx_orca_clamp_offset(planes->line[i].offset - back);
        relaxed.count++;
    }
    Fine nearer;
    if (solve_planes(&relaxed, aim, &nearer) != relaxed.count) return false;
    *v = nearer;
    return true;
}

static PhxVec2 solve(Planes *planes, PhxVec2 preferred, fix16_t max_speed, fix16_t creep, uint8_t *flags) {
    PHX_ASSERT(planes->count <= PHX_ORCA_MAX_LINES && planes->hard <= planes->count, planes->count,
               planes->hard);
    const PhxVec2 wish = phx_vec2_clamp_length(preferred, max_speed);
    const Aim aim = {.point = {(int64_t)preferred.x * (1 << FINE), (int64_t)preferred.y * (1 << FINE)},
                     .start = {(int64_t)wish.x * (1 << FINE), (int64_t)wish.y * (1 << FINE)},
                     .radius = (int64_t)max_speed * (1 << FINE)};
    Fine v;
    uint32_t solved = solve_planes(planes, &aim, &v);
    *flags = 0;
    if (solved < planes->hard) {
        *flags |= PHX_ORCA_WALLED;
        relax_walls(planes->line, planes->hard, solved, aim.radius, &v);
        const Fine fallback = v;
        solved = solve_planes(planes, &aim, &v);
        if (solved < planes->hard)
            v = fallback, solved = planes->hard; /* by a rounding: what serves the walls best */
    }
    if (solved < planes->count) {
        *flags |= PHX_ORCA_CROWDED;
        make_lines(planes, UINT64_MAX);
        fall_back(planes, &aim, max_speed, solved, &v);
    }
    if (creep > 0 && planes->pairs && !(*flags & PHX_ORCA_WALLED)) {
        make_lines(planes, UINT64_MAX);
        if (creep_along(planes, &aim, max_speed, creep, &v)) *flags |= PHX_ORCA_CREPT;
    }
    const PhxVec2 result = {(fix16_t)phx_round_shift(v.x, FINE), (fix16_t)phx_round_shift(v.y, FINE)};
    return phx_vec2_clamp_length(result, max_speed);
}

PhxVec2 phx_orca_program(const PhxOrcaLine *lines, uint32_t count, uint32_t hard, PhxVec2 preferred,
                         fix16_t max_speed, uint8_t *flags) {
    PhxOrcaLine copy[PHX_ORCA_MAX_LINES]; /* walls may have to be moved back */
    PHX_ASSERT(count <= PHX_ORCA_MAX_LINES, count, 0);
    if (count > 0) memcpy(copy, lines, sizeof *lines * count);
    Planes planes = {.line = copy, .count = count, .hard = hard};
    return solve(&planes, preferred, max_speed, 0, flags);
}

PhxVec2 phx_orca_program_pairs(PhxOrcaLine *lines, uint32_t count, uint32_t hard, const PhxOrcaPairs *pairs,
                               PhxVec2 preferred, fix16_t max_speed, fix16_t creep, uint8_t *flags) {
    Planes planes = {.line = lines, .count = count, .hard = hard, .pairs = pairs};
    planes.unmade = (((uint64_t)1 << count) - 1) & ~(((uint64_t)1 << hard) - 1);
    return solve(&planes, preferred, max_speed, creep, flags);
}
