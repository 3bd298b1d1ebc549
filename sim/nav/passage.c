/* passage.c: the room on both sides of a route. See passage.h.
 *
 * In: boards, a polyline. Out: samples with room. Rays go exactly from cell to cell. Determinism: integers.
 */
#include "nav/passage.h"

#include <phalanx/trig.h>

#include "base/assert.h"

enum {
    ONE = 65536,
    STEP = ONE / 4,
    WAYS = 8,                  /* directions that are looked across in, over half a turn */
    IN_FRONT = 6 * ONE,        /* of a passage's mouth, a route is led into it */
    MARGIN = ONE / 16,         /* that is kept to the walls of a passage besides */
    MOUTH = 2 * ONE,           /* a narrow sample is no farther from its passage's mouth */
    OPENING = 16,              /* room grows by one in so many until there */
    NEAR = IN_FRONT + 3 * ONE, /* samples so near to a passage are replaced */
    SLACK = ONE / 2,           /* a line may promise so much more room than a sample found */
    ASTRAY = 3 * ONE / 4,      /* and pass a narrow sample's middle by so much */
    AHEAD = 128                /* samples that one line replaces at most */
};

static bool is_cell_shut(const PhxPathGround *ground, int32_t x, int32_t y) {
    if (x < 0 || y < 0 || x >= (int32_t)ground->width || y >= (int32_t)ground->height) return true;
    return phx_path_shut(ground, x, y);
}
static bool is_shut(const PhxPathGround *ground, PhxVec2 at) {
    return is_cell_shut(ground, at.x >> 16, at.y >> 16);
}

static PhxVec2 go(PhxVec2 at, PhxDir way, fix16_t far) { return phx_vec2_add(at, phx_dir_scale(way, far)); }

/* One axis of a ray: the cell that it is in, and how far it has come where it enters the next, in raw units.
 */
typedef struct Axis {
    int32_t cell, step;
    int64_t next, each; /* INT64_MAX: it stays in its column */
} Axis;

static Axis axis_of(fix16_t at, int32_t way) {
    const int32_t cell = at >> 16;
    if (way == 0) return (Axis){cell, 0, INT64_MAX, 0};
    const int64_t speed = way < 0 ? -(int64_t)way : way,
                  off = way < 0 ? at - (int64_t)cell * ONE : ((int64_t)cell + 1) * ONE - at;
    return (Axis){cell, way < 0 ? -1 : 1, (off << PHX_DIR_BITS) / speed,
                  ((int64_t)ONE << PHX_DIR_BITS) / speed};
}

/* How far it is to a wall, cell by cell along the ray (Amanatides, Woo, A Fast Voxel Traversal Algorithm for
 * Ray Tracing, 1987); PHX_PASSAGE_REACH units: farther. Through a corner it goes by way of a cell beside it.
 */
static fix16_t ray(const PhxPathGround *ground, PhxVec2 at, PhxDir way) {
    Axis x = axis_of(at.x, way.x), y = axis_of(at.y, way.y);
    for (;;) {
        Axis *first = x.next <= y.next ? &x : &y;
        const int64_t far = first->next;
        if (far >= PHX_PASSAGE_REACH * ONE) return PHX_PASSAGE_REACH * ONE;
        first->cell += first->step;
        first->next += first->each;
        if (is_cell_shut(ground, x.cell, y.cell)) return (fix16_t)far;
    }
}

static fix16_t room_of(fix16_t free, fix16_t rest) { return free > rest ? free - rest : 0; }

/* A point of a route that goes `way` there. */
static PhxPassage look(const PhxPathGround *ground, PhxVec2 at, PhxDir way, fix16_t rest, fix16_t need) {
    PhxPassage made = {.at = at};
    fix16_t least = INT32_MAX, one = 0, other = 0;
    for (uint32_t i = 0; i < WAYS; i++) {
        const PhxAngle angle = (PhxAngle)(i * (32768 / WAYS));
        const PhxDir across = phx_dir_of_angle(angle);
        const fix16_t ahead = ray(ground, at, across), behind = ray(ground, at, phx_dir_neg(across));
        if (ahead + behind >= least) continue;
        least = ahead + behind, one = ahead, other = behind, made.across = angle;
    }
    if (least - 2 * rest < need) {
        made.narrow = true;
        made.at = go(at, phx_dir_of_angle(made.across), (one - other) / 2);
        made.left = made.right = room_of(least / 2, rest + MARGIN);
        return made;
    }
    const PhxDir right = phx_dir_turn_quarter(way);
    made.right = room_of(ray(ground, at, right), rest);
    made.left = room_of(ray(ground, at, phx_dir_neg(right)), rest);
    return made;
}

uint32_t phx_passage_sample(const PhxPathGround *ground, const PhxVec2 *way, uint32_t count, fix16_t rest,
                            fix16_t need, PhxPassage sample[PHX_PASSAGE_SAMPLES]) {
    PHX_ASSERT(count >= 2, count, 0);
    uint64_t total = 0, from = 0; /* raw */
    uint32_t made = 0;
    for (uint32_t i = 1; i < count; i++) total += phx_vec2_length(phx_vec2_sub(way[i], way[i - 1]));
    const uint64_t sparse = total / (PHX_PASSAGE_SAMPLES - 2) + 1, step = sparse > ONE ? sparse : ONE;
    PhxDir along = {0, 0};
    for (uint32_t i = 1; i < count; i++) {
        const uint64_t length = phx_vec2_normalize(phx_vec2_sub(way[i], way[i - 1]), &along);
        for (; from < length && made < PHX_PASSAGE_SAMPLES - 1; from += step)
            sample[made++] = look(ground, go(way[i - 1], along, (fix16_t)from), along, rest, need);
        from -= from < length ? from : length;
    }
    sample[made++] = look(ground, way[count - 1], along, rest, need);
    return made;
}

/* ---- passages that are led into */

/* Where a narrow passage opens on the side of `towards`: as `narrow`, at its mouth; and the point in front of
 * it on its axis, with the room that opens up until there. False: neither can be had. */
static bool lead_in(const PhxPathGround *ground, const PhxPassage *narrow, PhxVec2 towards, fix16_t rest,
                    PhxPassage *mouth, PhxPassage *front) {
    const PhxNavGrid grid = phx_path_ground_grid(ground);
    const PhxDir across = phx_dir_of_angle(narrow->across);
    PhxDir axis = phx_dir_turn_quarter(across);
    if (phx_vec2_dot_dir(phx_vec2_sub(towards, narrow->at), axis) < 0) axis = phx_dir_neg(axis);
    *mouth = *narrow;
    for (fix16_t far = 0; far <= MOUTH; far += ONE / 8) {
        const PhxVec2 at = go(narrow->at, axis, far);
        if (is_shut(ground, at)) return false;
        mouth->at = at;
        if (ray(ground, at, across) > narrow->left + rest + SLACK &&
            ray(ground, at, phx_dir_neg(across)) > narrow->right + rest + SLACK)
            break;
    }
    mouth->at = go(mouth->at, axis, rest);
    *front = (PhxPassage){.at = go(mouth->at, axis, IN_FRONT)};
    if (is_shut(ground, front->at) || !phx_nav_line_of_sight(&grid, narrow->at, front->at)) return false;
    const fix16_t most = narrow->left + IN_FRONT / OPENING,
                  one = room_of(ray(ground, front->at, across), rest),
                  other = room_of(ray(ground, front->at, phx_dir_neg(across)), rest),
                  least = one < other ? one : other;
    front->left = front->right = least < most ? least : most;
    return true;
}

static bool is_near(const PhxPassage *a, const PhxPassage *b) {
    return phx_vec2_distance_sq(a->at, b->at) < (uint64_t)(NEAR * (int64_t)NEAR);
}

uint32_t phx_passage_align(const PhxPathGround *ground, PhxPassage *sample, uint32_t count, fix16_t rest) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const PhxPassage here = sample[i];
        PhxPassage mouth, front;
        if (here.narrow && kept > 0 && !sample[kept - 1].narrow &&
            lead_in(ground, &here, sample[kept - 1].at, rest, &mouth, &front)) {
            while (kept > 1 && !sample[kept - 1].narrow && is_near(&sample[kept - 1], &here)) kept--;
            if (kept < i) sample[kept++] = front;
            if (kept < i) sample[kept++] = mouth;
        }
        sample[kept++] = here;
        if (!here.narrow || i + 1 >= count || sample[i + 1].narrow ||
            !lead_in(ground, &here, sample[i + 1].at, rest, &mouth, &front))
            continue;
        uint32_t next = i + 1;
        while (next + 1 < count && !sample[next].narrow && is_near(&sample[next], &here)) next++;
        if (kept < next) sample[kept++] = mouth;
        if (kept < next) sample[kept++] = front;
        i = next - 1;
    }
    return kept;
}

/* ---- simplification */

/* Whether room that goes linearly from `a` to `b` (at 0 .. whole) is no more than `there` at `part`. */
static bool is_promised(fix16_t a, fix16_t b, int64_t part, int64_t whole, fix16_t there) {
    return a + (b - (int64_t)a) * part / whole <= there;
}

static bool fits(const PhxPassage *from, const PhxPassage *to, PhxDir way, int64_t length,
                 const PhxPassage *between) {
    const PhxVec2 off = phx_vec2_sub(between->at, from->at);
    int64_t along = phx_vec2_dot_dir(off, way);
    const int64_t beside = phx_vec2_det_dir(off, way); /* above 0: it lies to the left */
    along = along < 0 ? 0 : along > length ? length : along;
    if (between->narrow && (beside > ASTRAY || beside < -ASTRAY)) return false;
    const fix16_t slack = between->narrow ? SLACK / 8 : SLACK;
    return is_promised(from->left, to->left, along, length, (fix16_t)(between->left - beside) + slack) &&
           is_promised(from->right, to->right, along, length, (fix16_t)(between->right + beside) + slack);
}

/* Whether a line replaces the samples between two. */
static bool replaces(const PhxPathGround *ground, const PhxPassage *sample, uint32_t from, uint32_t to) {
    const PhxNavGrid grid = phx_path_ground_grid(ground);
    PhxDir way;
    const int64_t length = phx_vec2_normalize(phx_vec2_sub(sample[to].at, sample[from].at), &way);
    if (length == 0) return true;
    for (uint32_t i = from + 1; i < to; i++)
        if (!fits(&sample[from], &sample[to], way, length, &sample[i])) return false;
    return phx_nav_line_of_sight(&grid, sample[from].at, sample[to].at);
}

uint32_t phx_passage_simplify(const PhxPathGround *ground, PhxPassage *sample, uint32_t count,
                              uint32_t most) {
    PHX_ASSERT(most >= 2 && count >= 1, most, count);
    uint32_t kept = 1;
    for (uint32_t at = 0; at + 1 < count && kept < most;) {
        uint32_t next = at + 1;
        for (uint32_t to = at + 2; to < count && to <= at + AHEAD; to++)
            if (replaces(ground, sample, at, to)) next = to;
        at = next;
        sample[kept++] = sample[at]; /* kept <= at: what is still to be read lies at `at` or behind */
    }
    return kept;
}

/* ---- passages */

uint32_t phx_passage_narrowest(const PhxPassage *sample, uint32_t count) {
    uint32_t best = count;
    for (uint32_t i = 0; i < count; i++)
        if (sample[i].narrow && (best == count || sample[i].left < sample[best].left)) best = i;
    return best;
}

static void set_shut(PhxPathGround *ground, uint32_t cell, bool shut) {
    const uint32_t x = cell % ground->width, y = cell / ground->width;
    uint64_t *row = ground->rows.bits + (size_t)(y + 1) * ground->rows.stride + (PHX_PATH_RIM + x) / 64,
             *column =
                 ground->columns.bits + (size_t)(x + 1) * ground->columns.stride + (PHX_PATH_RIM + y) / 64;
    const uint64_t row_bit = (uint64_t)1 << (PHX_PATH_RIM + x) % 64,
                   column_bit = (uint64_t)1 << (PHX_PATH_RIM + y) % 64;
    *row = shut ? *row | row_bit : *row & ~row_bit;
    *column = shut ? *column | column_bit : *column & ~column_bit;
}

/* From the middle outwards until a wall. */
static uint32_t close_half(PhxPathGround *ground, PhxVec2 at, PhxDir way, uint32_t *cells, uint32_t count) {
    for (fix16_t far = 0; far <= PHX_PASSAGE_REACH * ONE; far += STEP) {
        const PhxVec2 there = go(at, way, far);
        const uint32_t x = (uint32_t)(there.x >> 16), y = (uint32_t)(there.y >> 16);
        if (x >= ground->width || y >= ground->height) break;
        const uint32_t cell = y * ground->width + x;
        if (count > 0 && cells[count - 1] == cell) continue;
        if (phx_path_shut(ground, (int32_t)x, (int32_t)y)) {
            if (far == 0) continue; /* the middle, which the other half has shut */
            break;
        }
        if (count == PHX_PASSAGE_CHORD) break;
        set_shut(ground, cell, true);
        cells[count++] = cell;
    }
    return count;
}

uint32_t phx_passage_close(PhxPathGround *ground, const PhxPassage *passage,
                           uint32_t cells[PHX_PASSAGE_CHORD]) {
    const PhxDir across = phx_dir_of_angle(passage->across);
    const uint32_t half = close_half(ground, passage->at, across, cells, 0);
    const uint32_t middle = half > 0 ? cells[0] : PHX_NAV_NO_CELL;
    uint32_t count = half;
    if (half > 1) /* so that the other half finds the middle as the last */
        cells[0] = cells[half - 1], cells[half - 1] = middle;
    count = close_half(ground, passage->at, phx_dir_neg(across), cells, count);
    return count;
}

void phx_passage_open(PhxPathGround *ground, const uint32_t *cells, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) set_shut(ground, cells[i], false);
}
