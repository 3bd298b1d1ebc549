/* spline_path.h: splines as ways of groups: a path smoothed where the walls allow it, bends around what
 * moves, followers that stay where they are while their way is edited, and how fine all this is.
 *
 * In: waypoints of a path that is walkable along straight lines, and a question about the ground ("does a
 * disc slide straight from here to there?"), which the caller answers; sim/motion has an exact answer for
 * grids (phalanx/spline_walls.h). Out: a PhxSpline in the plane (z is 0) and what each of its pieces is.
 *
 * A piece lies in the convex hull of its Bezier points, and that in the capsule around their chord whose
 * radius is that of the farthest of them; so a disc is free along a piece if a disc that is larger by so much
 * slides along the chord. Where that isn't so, the piece is halved by de Casteljau's scheme, up to 6 times: a
 * quarter of the width each time. No sample decides; what is said to be clear is clear.
 *
 * Cost: at each corner some pieces, each a question or a few. Determinism: integers; a pure function of the
 * arguments, if the answers are. Sources: de Boor 1972; Farin, "Curves and Surfaces for CAGD", 2002, chapters
 * 4 and 8 (convex hulls, Bezier points of B-splines).
 */
#ifndef PHALANX_SPLINE_PATH_H
#define PHALANX_SPLINE_PATH_H

#include <phalanx/spline.h>
#include <phalanx/vec2.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- walls */

/* Whether a disc of `radius` (raw, up to 32 units) slides straight from a to b (perhaps the same point)
 * without touching a wall. A pure function. */
typedef bool (*PhxSplineClear)(const void *ground, PhxVec2 a, PhxVec2 b, fix16_t radius);

/* Not owned. `clear` null: there are no walls. */
typedef struct PhxSplineGround {
    PhxSplineClear clear;
    const void *ground;
} PhxSplineGround;

/* Whether a disc of `radius` slides along a piece (degree .. count - 1) without touching a wall: true is a
 * proof, with room for the rounding of points; false where there's a wall, or less than about 1/1000 of the
 * piece's width of room. A piece without length: true. */
bool phx_spline_piece_clear(const PhxSpline *spline, uint32_t piece, const PhxSplineGround *ground,
                            fix16_t radius);

/* ---- a path made smooth */

typedef enum PhxSplinePieceKind {
    PHX_SPLINE_PIECE_EMPTY, /* two equal knots */
    PHX_SPLINE_PIECE_PATH,  /* lies on the path, within 3 raw units */
    PHX_SPLINE_PIECE_CURVE  /* cuts a corner, and keeps clear of walls */
} PhxSplinePieceKind;

typedef struct PhxSplinePathSpec {
    const PhxVec2 *waypoints; /* straight lines between them are walkable; 1/16 unit or more apart */
    uint32_t count;           /* 2 or more */
    uint32_t degree;          /* 1 .. the spline's degree_max; 1 is the path itself */
    fix16_t radius;           /* of the unit, raw, 1 .. 16 units */
    fix16_t reach;   /* so far from its corner a bend begins at most, raw, > 0; and at 3/8 of a leg at most */
    fix16_t spacing; /* control points of a leg are at most so far apart, 1/4 unit or more; 0: none are added.
                        The smaller, the more local is an edit */
    PhxSplineGround ground;
} PhxSplinePathSpec;

/* How many control points the spline of a path gets; 0 where the spec isn't right. */
uint32_t phx_spline_path_points(const PhxSplinePathSpec *spec);

/* Makes `spline` the smooth path. Each corner is rounded as far as `reach` allows, by a half and by a quarter
 * of that where walls stand in the way, and else left as it is: its knot is there `degree` times, so that the
 * curve goes straight to the corner and straight on. Every corner is decided by itself. pieces[k], for each
 * left knot k from degree to spline->count - 1, becomes a PhxSplinePieceKind; there must be room for
 * capacity + degree_max. Errors, with spline and pieces as they were: PHX_ERROR_ARGUMENT (fewer than two
 * waypoints, a degree out of range, a radius, reach or spacing out of range), PHX_ERROR_RANGE (a waypoint
 * beyond +-8192 units, two that follow one another less than 1/16 unit apart), PHX_ERROR_LIMIT (more control
 * points than the capacity, or than 8192). */
PHX_MUST_USE PhxStatus phx_spline_path_smooth(PhxSpline *spline, const PhxSplinePathSpec *spec,
                                              uint8_t *pieces);

/* ---- bends around what moves */

/* An evasion point: a knot with the control point that it brought, moved aside. All of it is state of whoever
 * keeps it. */
typedef struct PhxSplineEvasion {
    fix16_t u;      /* the knot */
    uint32_t point; /* the control point that was moved, counted from the first that is new */
    uint32_t degree;
    PhxSplinePoint was[PHX_SPLINE_DEGREE_MAX];   /* degree - 1 points that the knot made anew */
    PhxSplinePoint made[PHX_SPLINE_DEGREE_MAX];  /* degree points that came in their place */
    fix16_t knot[2 * PHX_SPLINE_DEGREE_MAX + 1]; /* `degree` knots before it, itself, and as many behind */
} PhxSplineEvasion;

/* Bends an open spline so that at u it lies `by` aside from where it lay, with a knot more (Boehm); between
 * knots before and behind it comes back. What changes lies in the degree + 1 pieces that the moved point
 * supports; besides, the knot's other new points are rounded, by half a raw unit, in the degree - 1 pieces
 * next to those. So a bend is as long as some pieces of the way, 2 to 4 of a cubic one: control points should
 * be about as far apart as the bodies that evade one another are wide. With a ground, the pieces that the
 * moved point supports must be clear for a disc of `radius`. Errors, with everything as it was: those of
 * phx_spline_insert; PHX_ERROR_RANGE (a control point beyond +-8192 units); PHX_ERROR_STATE (the spline is
 * periodic; a wall stands in the way). */
PHX_MUST_USE PhxStatus phx_spline_evade(PhxSpline *spline, fix16_t u, PhxVec2 by,
                                        const PhxSplineGround *ground, fix16_t radius,
                                        PhxSplineEvasion *evasion);
/* Takes it away again: the spline has the bits that it had. Errors, with everything as it was:
 * PHX_ERROR_NOT_FOUND (there's no such knot, or what it brought, or a knot that it hangs on, was edited
 * since: an evasion over it has to go first). */
PHX_MUST_USE PhxStatus phx_spline_evade_end(PhxSpline *spline, const PhxSplineEvasion *evasion);

/* Puts it in again, into a spline that has the bits that it had before: for a state that was loaded. Errors,
 * with everything as it was: those of phx_spline_insert; PHX_ERROR_MISMATCH (other control points or knots
 * were there than those that were kept). */
PHX_MUST_USE PhxStatus phx_spline_evade_again(PhxSpline *spline, const PhxSplineEvasion *evasion);

/* The parameters that it bends, [*from, *to]; u to u where the spline hasn't got it. A follower outside of
 * them doesn't move when it begins or ends; so let it begin in front of the follower, and end when it is past
 * it, or not yet there. */
void phx_spline_evade_support(const PhxSpline *spline, const PhxSplineEvasion *evasion, fix16_t *from,
                              fix16_t *to);

/* What moves. */
typedef struct PhxSplineObstacle {
    PhxVec2 at, velocity; /* units, units a second */
    fix16_t radius;
} PhxSplineObstacle;

/* Who follows the way, and how it looks ahead. */
typedef struct PhxSplineWatch {
    int64_t at;            /* Q24, along the way without its evasions */
    fix16_t speed, radius; /* units a second, 0..64; of the group, 0..64 */
    fix16_t horizon;       /* seconds, 0..60 */
    fix16_t enter, leave;  /* gap between the two below which an evasion begins, and from which on it ends;
                              0 <= enter <= leave <= 64 */
    fix16_t most;          /* aside, at most */
    int32_t side;          /* 0: isn't evading this one; 1, -1: is, to the right or the left. State */
} PhxSplineWatch;

typedef struct PhxSplineThreat {
    bool needed;  /* an evasion point is wanted, or still is */
    bool later;   /* the nearest moment is the last of the horizon: the two may come nearer still, and what
                     isn't there yet waits until it's known where */
    int32_t side; /* 1, -1; keeps that of the watch; 0 where not needed */
    fix16_t gap;  /* the least between the two within the horizon; negative: they overlap */
    int64_t at;   /* Q24: where on the way that is */
    fix16_t u;    /* the parameter there */
    PhxVec2 by;   /* how far aside, so that `leave` remains */
} PhxSplineThreat;

/* Whether who follows the way comes too near to an obstacle that keeps its velocity, within the horizon;
 * both are taken to move straight between 32 moments. `spline` and `lengths`: the way without its evasions
 * (parameters of it are those of the bent one), so that a bend doesn't end what made it. With enter below
 * leave an obstacle at the border doesn't make it flicker. It goes to the side on which the two pass anyway
 * if by half of what is wanted, else behind an obstacle that goes across, or to the right of one that comes
 * head-on, and keeps to that side while evading. Of equal gaps the earliest counts. */
PhxSplineThreat phx_spline_threat(const PhxSplineLengths *lengths, const PhxSpline *spline,
                                  const PhxSplineWatch *watch, const PhxSplineObstacle *obstacle);

/* A threat that is to be evaded, by who stands at `at` (Q24) of the way as it is bent now. Not owned. */
typedef struct PhxSplineBend {
    const PhxSplineThreat *threat;
    const PhxSplineWatch *watch;
    const PhxSplineObstacle *obstacle;
    const PhxSplineGround *ground; /* null: there are no walls; for a disc of watch->radius */
    int64_t at;
} PhxSplineBend;
/* Puts the evasion in that the threat asks for, and looks at what it brings: along the bent way, which takes
 * longer, the gap must be `enter` at least. Otherwise one and a half times, then twice as far aside is tried,
 * and the same to the other side; where none brings so much, the one with the widest gap stays, if that is
 * wider than without. `lengths` become those of the spline as it is then. Errors, with spline and lengths as
 * they were: PHX_ERROR_STATE (none is better, or walls stand in the way of all). Cost: up to seven times the
 * lengths measured and a threat. */
PHX_MUST_USE PhxStatus phx_spline_evade_threat(PhxSpline *spline, PhxSplineLengths *lengths,
                                               const PhxSplineBend *bend, PhxSplineEvasion *evasion);

/* ---- how fine */

/* By the number of units alone, so that every machine chooses alike, whatever its player looks at. */
typedef struct PhxSplineDetail {
    uint32_t degree;
    fix16_t spacing; /* of samples and control points, units */
} PhxSplineDetail;
/* Up to 64 units degree 3 and 1 unit, to 512 degree 3 and 2, to 4096 degree 2 and 4, beyond degree 1 and 8.
 */
PhxSplineDetail phx_spline_detail(uint32_t units);
/* Samples of a curve of `length` (Q24), both ends included, that are at most `spacing` (> 0) apart: 2 or
 * more, at most PHX_SPLINE_POINTS_MAX. */
uint32_t phx_spline_samples(int64_t length, fix16_t spacing);

#ifdef __cplusplus
}
#endif
#endif
