/* orca_walls.c: the half-planes of permitted velocities that walls leave to a unit.
 *
 * In: a body, a horizon T, wall segments by rising distance. Out: at most one half-plane a segment, full
 * responsibility. Source: van den Berg et al. 2011, section 6. The velocity obstacle of a segment is its
 * Minkowski sum with the unit's disc, scaled by 1 / T, and all that lies behind: bounded by the scaled
 * segment moved by radius / T (the cut-off), by discs around its two ends, and by two legs from the origin,
 * tangents to the discs. The permitted half-plane touches it at the point nearest to the velocity. Outlines
 * of several segments: an end where the solid is not convex has no disc of its own (the leg goes on along the
 * segment), and a leg that would cut into the neighbouring segment follows that instead, and then leaves the
 * line to the neighbour ("foreign"). Cost: a reciprocal square root and a square root an end.
 *
 * Determinism: integers, symmetric rounding; walls are processed in the order given, which is total.
 * Bounds: ends further than 128 units along a segment are cut there, so that |position differences| < 2^24,
 * |cut-off points| < 2^28.3 and their products with directions < 2^60.
 */
#include "motion/kernels.h"
#include "motion/orca_lines.h"

enum {
    SIGHT = PHX_WALLS_SIGHT, /* how much of a segment counts, from the unit's projection each way */
    COVERED_SLACK = 2,       /* raw */
};

typedef struct Vec {
    int64_t x, y;
} Vec;

static inline int64_t dot(PhxDir d, Vec v) { return d.x * v.x + d.y * v.y; }
static inline int64_t det(PhxDir d, Vec v) { return d.x * v.y - d.y * v.x; }
static inline Vec scaled(Vec v, int64_t inv) {
    return (Vec){phx_round_shift(v.x * inv, 30), phx_round_shift(v.y * inv, 30)};
}
static inline Vec less(PhxVec2 a, Vec b) { return (Vec){a.x - b.x, a.y - b.y}; }

/* A segment as the unit sees it: the end it starts from is its left one. */
typedef struct Sight {
    PhxDir dir, prev_dir, next_dir;
    Vec left, right; /* ends, from the unit */
    bool convex_left, convex_right;
    int64_t along, length; /* the unit's projection, from the left end; raw */
    int64_t beside;        /* its distance from the segment's line, raw, > 0 on the open side */
} Sight;

static Sight sight_of(const PhxWall *wall, PhxVec2 at) {
    Sight s = {.dir = wall->dir,
               .prev_dir = wall->prev_dir,
               .next_dir = wall->next_dir,
               .left = {(int64_t)wall->start.x - at.x, (int64_t)wall->start.y - at.y},
               .right = {(int64_t)wall->end.x - at.x, (int64_t)wall->end.y - at.y},
               .convex_left = wall->at_start == PHX_WALL_CONVEX,
               .convex_right = wall->at_end == PHX_WALL_CONVEX,
               .length = wall->length};
    s.along = -phx_round_shift(dot(s.dir, s.left), 30); /* 2^30 * 2^30 twice */
    s.beside = phx_round_shift(det(s.dir, s.left), 30);
    const int64_t behind = s.along - SIGHT, ahead = s.length - s.along - SIGHT;
    if (behind > 0) {
        s.left.x += phx_round_shift(s.dir.x * behind, 30);
        s.left.y += phx_round_shift(s.dir.y * behind, 30);
        s.along -= behind, s.length -= behind;
        s.convex_left = false;
    }
    if (ahead > 0) {
        s.right.x -= phx_round_shift(s.dir.x * ahead, 30);
        s.right.y -= phx_round_shift(s.dir.y * ahead, 30);
        s.length -= ahead;
        s.convex_right = false;
    }
    return s;
}

static inline uint64_t size_sq(Vec v) { return (uint64_t)(v.x * v.x) + (uint64_t)(v.y * v.y); }

/* Away from an end that the disc touches. */
static PhxOrcaLine away_from(Vec end, PhxDir dir) {
    PhxDir n;
    if (!phx_orca_unit(-end.x, -end.y, &n)) n = phx_dir(dir.y, -dir.x);
    return (PhxOrcaLine){n, 0};
}

typedef enum Verdict { VERDICT_FREE, VERDICT_LINE, VERDICT_NOTHING } Verdict;

/* A disc that touches the segment may not move further in; VERDICT_FREE where it doesn't touch it. */
static Verdict touching_line(const Sight *s, uint64_t radius_sq, PhxOrcaLine *out) {
    if (s->along < 0 && size_sq(s->left) <= radius_sq) {
        *out = away_from(s->left, s->dir);
        return s->convex_left ? VERDICT_LINE : VERDICT_NOTHING;
    }
    if (s->along > s->length && size_sq(s->right) <= radius_sq) {
        *out = away_from(s->right, s->dir);
        /* beyond the next segment's start, its own end is that segment's business */
        return s->convex_right && det(s->next_dir, s->right) <= 0 ? VERDICT_LINE : VERDICT_NOTHING;
    }
    if (s->along >= 0 && s->along <= s->length && (uint64_t)(s->beside * s->beside) <= radius_sq) {
        *out = (PhxOrcaLine){phx_dir(s->dir.y, -s->dir.x), 0};
        return VERDICT_LINE;
    }
    return VERDICT_FREE;
}

typedef struct Legs {
    PhxDir left, right;
    bool foreign_left, foreign_right;
    bool single; /* both legs belong to one end: the segment is seen end on */
} Legs;

/* False where the segment leaves no line of its own. */
static bool find_legs(Sight *s, int64_t radius, Legs *legs) {
    const bool end_on = (uint64_t)(s->beside * s->beside) <= (uint64_t)(radius * radius);
    *legs = (Legs){.single = end_on};
    if (end_on && s->along < 0) {
        if (!s->convex_left) return false;
        s->right = s->left;
        s->convex_right = true;
        s->next_dir = s->dir;
    } else if (end_on) {
        if (!s->convex_right) return false;
        s->left = s->right;
        s->convex_left = true;
        s->prev_dir = s->dir;
    }
    const PhxDir back = phx_dir_neg(s->dir), back_prev = phx_dir_neg(s->prev_dir);
    legs->left = s->convex_left ? phx_orca_leg(s->left.x, s->left.y, radius, true) : back;
    legs->right = s->convex_right ? phx_orca_leg(s->right.x, s->right.y, radius, false) : s->dir;
    if (s->convex_left && phx_dir_det(legs->left, back_prev) >= 0) {
        legs->left = back_prev;
        legs->foreign_left = true;
    }
    if (s->convex_right && phx_dir_det(legs->right, s->next_dir) <= 0) {
        legs->right = s->next_dir;
        legs->foreign_right = true;
    }
    return true;
}

/* The half-plane with normal n that touches the disc of radius `reach` about `center`. */
static PhxOrcaLine beyond(PhxDir n, Vec center, int64_t reach) {
    return (PhxOrcaLine){n, phx_orca_clamp_offset(phx_round_shift(dot(n, center), 30) + reach)};
}

/* Where the obstacle's boundary is nearest to the velocity. `left` and `right` are the ends, divided by the
 * horizon. */
static bool nearest_line(const Sight *s, const Legs *legs, PhxVec2 velocity, Vec left, Vec right,
                         int64_t reach, PhxOrcaLine *out) {
    const Vec from_left = less(velocity, left), from_right = less(velocity, right);
    const bool before = !legs->single && dot(s->dir, from_left) < 0;
    const bool after = !legs->single && dot(s->dir, from_right) > 0;
    const bool behind_left = dot(legs->left, from_left) < 0, behind_right = dot(legs->right, from_right) < 0;
    PhxDir n;
    if ((before && behind_left) || (legs->single && behind_left && behind_right)) {
        if (!phx_orca_unit(from_left.x, from_left.y, &n))
            return false; /* can't be: it has a negative product */
        *out = beyond(n, left, reach);
        return true;
    }
    if (after && behind_right) {
        if (!phx_orca_unit(from_right.x, from_right.y, &n)) return false;
        *out = beyond(n, right, reach);
        return true;
    }
    const uint64_t far = UINT64_MAX;
    const uint64_t to_cutoff = before || after || legs->single ? far : phx_abs64(det(s->dir, from_left));
    const uint64_t to_left = behind_left ? far : phx_abs64(det(legs->left, from_left));
    const uint64_t to_right = behind_right ? far : phx_abs64(det(legs->right, from_right));
    if (to_cutoff <= to_left && to_cutoff <= to_right) {
        *out = beyond(phx_dir(s->dir.y, -s->dir.x), left, reach);
        return true;
    }
    if (to_left <= to_right) {
        *out = beyond(phx_dir(-legs->left.y, legs->left.x), left, reach);
        return !legs->foreign_left;
    }
    *out = beyond(phx_dir(legs->right.y, -legs->right.x), right, reach);
    return !legs->foreign_right;
}

/* Whether the segment's whole obstacle lies in what earlier lines forbid. */
static bool covered(const PhxOrcaLine *lines, uint32_t count, Vec left, Vec right, int64_t reach) {
    for (uint32_t i = 0; i < count; i++) {
        const int64_t limit = ((int64_t)lines[i].offset - reach + COVERED_SLACK) * ((int64_t)1 << 30);
        if (dot(lines[i].normal, left) <= limit && dot(lines[i].normal, right) <= limit) return true;
    }
    return false;
}

uint32_t phx_orca_wall_lines(const PhxOrcaBody *self, int64_t inv_horizon, const PhxWalls *walls,
                             const PhxWallNear *near, uint32_t count, PhxOrcaLine *out) {
    const int64_t radius = self->radius, reach = phx_round_shift(radius * inv_horizon, 30); /* 2^20 * 2^34 */
    uint32_t made = 0;
    for (uint32_t i = 0; i < count; i++) {
        const PhxWall wall = phx_walls_get(walls, &near[i]);
        Sight s = sight_of(&wall, self->position);
        if (covered(out, made, scaled(s.left, inv_horizon), scaled(s.right, inv_horizon), reach)) continue;
        const Verdict verdict = touching_line(&s, (uint64_t)(radius * radius), &out[made]);
        Legs legs;
        if (verdict == VERDICT_FREE)
            made += find_legs(&s, radius, &legs) &&
                    nearest_line(&s, &legs, self->velocity, scaled(s.left, inv_horizon),
                                 scaled(s.right, inv_horizon), reach, &out[made]);
        else
            made += verdict == VERDICT_LINE;
    }
    return made;
}
