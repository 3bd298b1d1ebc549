/* spline_clear.c: see spline_path.h: whether a disc keeps clear of walls along a piece.
 *
 * In: a piece, a ground, a radius. Out: yes, which is a proof, or no. The Bezier points in Q24 are halved by
 * de Casteljau's scheme; parts wait on a stack whose depth is that of the halving. Cost: a question to the
 * ground a part, two where it is halved. Determinism: integers; parts are asked from the front to the back.
 */
#include "spline/spline_internal.h"

enum {
    HALVINGS = 6,
    MARGIN = 6, /* raw: Bezier points, chords and points of the curve are rounded by 4 together */
    WIDEST = 32 * PHX_FIX_ONE /* of a question's radius */
};

typedef struct Part {
    PhxSplineRate point[PHX_SPLINE_DEGREE_MAX + 1];
    uint32_t depth;
} Part;

int64_t phx_spline_off_segment(PhxVec2 a, PhxVec2 b, PhxVec2 p) {
    PhxDir dir;
    const PhxVec2 v = phx_vec2_sub(p, a);
    const int64_t length = phx_vec2_normalize(phx_vec2_sub(b, a), &dir), along = phx_vec2_dot_dir(v, dir);
    if (along <= 0) return (int64_t)phx_vec2_length(v) + 1;
    if (along >= length) return (int64_t)phx_vec2_length(phx_vec2_sub(p, b)) + 1;
    return (int64_t)phx_abs64(phx_vec2_det_dir(v, dir)) + 2;
}

static PhxVec2 flat(const PhxSplineRate *p) {
    return phx_vec2((fix16_t)phx_round_shift(p->x, 8), (fix16_t)phx_round_shift(p->y, 8));
}

/* How far the points are from the chord, raw, rounded up. */
static int64_t width_of(const Part *part, uint32_t degree) {
    const PhxVec2 a = flat(&part->point[0]), b = flat(&part->point[degree]);
    int64_t most = 0;
    for (uint32_t i = 1; i < degree; i++) {
        const int64_t off = phx_spline_off_segment(a, b, flat(&part->point[i]));
        if (off > most) most = off;
    }
    return most;
}

static PhxSplineRate middle(const PhxSplineRate *a, const PhxSplineRate *b) {
    return (PhxSplineRate){phx_round_shift(a->x + b->x, 1), phx_round_shift(a->y + b->y, 1),
                           phx_round_shift(a->z + b->z, 1)};
}

/* `part` becomes its second half, `first` its first. */
static void halve(Part *part, Part *first, uint32_t degree) {
    first->depth = ++part->depth;
    for (uint32_t s = 0; s <= degree; s++) {
        first->point[s] = part->point[0];
        for (uint32_t i = 0; i + s < degree; i++)
            part->point[i] = middle(&part->point[i], &part->point[i + 1]);
    }
}

bool phx_spline_piece_clear(const PhxSpline *spline, uint32_t piece, const PhxSplineGround *ground,
                            fix16_t radius) {
    const uint32_t degree = spline->degree;
    Part stack[HALVINGS + 2];
    uint32_t waiting = 1;
    if (!ground->clear || spline->knot[piece] == spline->knot[piece + 1]) return true;
    stack[0].depth = 0;
    phx_spline_bezier(spline, piece, stack[0].point);
    while (waiting > 0) {
        Part *part = &stack[waiting - 1];
        const PhxVec2 a = flat(&part->point[0]), b = flat(&part->point[degree]);
        const int64_t wide = radius + width_of(part, degree) + MARGIN;
        if (wide <= WIDEST && ground->clear(ground->ground, a, b, (fix16_t)wide)) {
            waiting--;
            continue;
        }
        if (part->depth == HALVINGS || !ground->clear(ground->ground, b, b, radius)) return false;
        halve(part, part + 1, degree);
        waiting++;
    }
    return true;
}
