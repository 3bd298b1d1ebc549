/* spline.h: B-splines in space, in fixed point: made of given points, evaluated, derived, edited.
 *
 * A spline of degree p over n control points is r(u) = sum of N_i(u) P_i, where the basis functions N_i live
 * on knots t_i .. t_{i+p+1}. Its domain is [t_p, t_n]; between two knots it is a polynomial of degree p (a
 * piece). A value at a knot is that of the piece to its right, at the end of the domain that of the last
 * piece. Sources: de Boor, "On calculating with B-splines", 1972 (evaluation); Boehm, "Inserting new knots
 * into B-spline curves", 1980; Piegl and Tiller, "The NURBS Book", 1997, sections 3.3 (derivatives) and 5.2.
 *
 * In: control points (Q16.16, within +-8192 units), knots (Q16.16). Out: points to the nearest raw unit and
 * one more at most, derivatives in Q24. Cost: degree^2 / 2 interpolations an evaluation, without a division;
 * two divisions a point of each derivative. An edit touches what the moved points support and nothing else.
 * Determinism: integers; a value depends on the control points and knots of its piece alone, so that an edit
 * changes nothing, bit for bit, outside of the support of what it moved.
 */
#ifndef PHALANX_SPLINE_H
#define PHALANX_SPLINE_H

#include <phalanx/fixed.h>
#include <phalanx/status.h>
#include <phalanx/trig.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct PhxArena;

enum {
    PHX_SPLINE_DEGREE_MAX = 5,
    PHX_SPLINE_POINTS_MAX = 1 << 16, /* control points of a spline */
    PHX_SPLINE_COORDINATE_MAX = 8192 /* units, to both sides */
};

/* Raw Q16.16, world units. Plane users leave z at 0. */
typedef struct PhxSplinePoint {
    fix16_t x, y, z;
} PhxSplinePoint;

/* Q24: units for each unit of the parameter (its square, for the second derivative); saturated at +-2^57. */
typedef struct PhxSplineRate {
    int64_t x, y, z;
} PhxSplineRate;

typedef enum PhxSplineKind {
    PHX_SPLINE_CLAMPED,  /* knots 0 (p + 1 times), 1, 2 .. n - p (p + 1 times): begins and ends in its points
                          */
    PHX_SPLINE_PERIODIC, /* knots are the integers; closed: point n + i is point i */
    PHX_SPLINE_GIVEN     /* knots as given: never falling, none more than p + 1 times, at most p inside */
} PhxSplineKind;

/* Fields are read-only outside of sim/spline. */
typedef struct PhxSpline {
    uint32_t capacity; /* control points of its own */
    uint32_t degree_max;
    uint32_t degree;
    uint32_t own;   /* control points of its own */
    uint32_t count; /* with those that a periodic one has again at its end: own + degree */
    bool periodic;
    PhxSplinePoint *point; /* count */
    fix16_t *knot;         /* count + degree + 1 */
    uint64_t *inverse;     /* [knot i * degree_max + s - 1]: 2^63 / (t_{i+s} - t_i), 0 where that is 0 */
} PhxSpline;

/* Takes the memory from `arena` (measuring or real), for splines of up to `capacity`
 * (1..PHX_SPLINE_POINTS_MAX) control points and degrees 1..degree_max (1..5). */
void phx_spline_layout(PhxSpline *spline, struct PhxArena *arena, uint32_t capacity, uint32_t degree_max);

/* Makes the spline of `count` control points. `knots`: PHX_SPLINE_GIVEN alone, count + degree + 1 of them.
 * Errors, which change nothing: PHX_ERROR_ARGUMENT (degree outside of 1..degree_max, fewer than degree + 1
 * points, knots missing or given where none belong), PHX_ERROR_LIMIT (more points than the capacity),
 * PHX_ERROR_RANGE (a coordinate beyond +-8192 units, a knot beyond +-8192; knots that fall, one too often, a
 * domain of length 0). */
PHX_MUST_USE PhxStatus phx_spline_set(PhxSpline *spline, PhxSplineKind kind, uint32_t degree,
                                      const PhxSplinePoint *points, uint32_t count, const fix16_t *knots);

/* First and last parameter. */
fix16_t phx_spline_begin(const PhxSpline *spline);
fix16_t phx_spline_end(const PhxSpline *spline);

/* The piece that a parameter lies in, by its left knot: degree .. count - 1. u beyond the domain counts as
 * its end. A parameter with the piece that it was in before costs no search: `hint`, any value. */
uint32_t phx_spline_piece(const PhxSpline *spline, fix16_t u, uint32_t hint);

/* The point at u (clamped into the domain): at most 1 raw unit from the truth. */
PhxSplinePoint phx_spline_point(const PhxSpline *spline, fix16_t u);
/* Point and two derivatives. */
typedef struct PhxSplineSample {
    PhxSplinePoint point;
    PhxSplineRate first, second;
} PhxSplineSample;
PhxSplineSample phx_spline_sample(const PhxSpline *spline, fix16_t u);

/* The same in a known piece, with a parameter in Q32 (Q16.16 with 16 bits more) that lies in it: for who
 * moves along a curve by less than a raw unit of its parameter. */
PhxSplinePoint phx_spline_point_in(const PhxSpline *spline, uint32_t piece, int64_t u);
PhxSplineRate phx_spline_first_in(const PhxSpline *spline, uint32_t piece, int64_t u);
PhxSplineSample phx_spline_sample_in(const PhxSpline *spline, uint32_t piece, int64_t u);

/* The Bezier points of a piece that has a length, Q24 units, out[0..degree]: the piece lies in their convex
 * hull, begins in the first and ends in the last. Error: 2^-32 of the largest difference of control points,
 * and 2^-24 units, a degree. */
void phx_spline_bezier(const PhxSpline *spline, uint32_t piece, PhxSplineRate *out);

/* |r'|, Q16.16 units for each unit of the parameter, rounded down, saturated. */
uint32_t phx_spline_speed(const PhxSplineRate *first);
/* |r' x r''| / |r'|^3, Q16.16 of 1 / units, saturated; 0 where the speed is 0. Error: 2^-12 of it and one raw
 * unit. */
uint32_t phx_spline_curvature(const PhxSplineSample *sample);
/* Where the tangent leads in the plane; `otherwise` where it has no length there. */
PhxAngle phx_spline_heading(const PhxSplineRate *first, PhxAngle otherwise);

/* The parameters that control point i (of its own) has an influence on, [*from, *to]; of a periodic spline
 * they may lie in two stretches, which is said as the whole domain then. Nothing else changes when it moves.
 */
void phx_spline_support(const PhxSpline *spline, uint32_t i, fix16_t *from, fix16_t *to);

/* Moves a control point. Errors: PHX_ERROR_ARGUMENT (there is no such point), PHX_ERROR_RANGE (beyond
 * +-8192). */
PHX_MUST_USE PhxStatus phx_spline_move(PhxSpline *spline, uint32_t i, PhxSplinePoint to);

/* A knot more at u, and with it a control point: the curve stays what it is (but for rounding by one raw unit
 * of the points that are new, at most `degree` of them). Errors: PHX_ERROR_RANGE (u isn't inside of the
 * domain, or is a knot `degree` times already), PHX_ERROR_FULL (the capacity). */
PHX_MUST_USE PhxStatus phx_spline_insert(PhxSpline *spline, fix16_t u);

/* Takes control point i away, with the knot in the middle of its support: the curve changes within the
 * support of the points beside it. Errors: PHX_ERROR_ARGUMENT (there is no such point), PHX_ERROR_STATE (only
 * degree + 1 are left, or the spline is periodic, whose knots are all alike: set it anew). */
PHX_MUST_USE PhxStatus phx_spline_remove(PhxSpline *spline, uint32_t i);

/* ---- lengths along a curve */

enum { PHX_SPLINE_STRETCHES = 8 /* of a piece; the table has an entry for each end of one */ };

/* Lengths from the beginning to the ends of stretches, Q24 units. An eighth of a piece is measured by Gauss's
 * rule of five nodes: on the reference curves (512 units a coordinate, one unit of the parameter a piece) a
 * whole curve is within 2^-16 of its length. Fields are read-only outside of sim/spline. */
typedef struct PhxSplineLengths {
    uint32_t capacity; /* pieces */
    uint32_t pieces, first;
    int64_t *at; /* [(piece - first) * PHX_SPLINE_STRETCHES + stretch]: where the stretch begins; one more at
                    the end */
} PhxSplineLengths;

/* Takes the memory for splines that `spline`, laid out before, can become. */
void phx_spline_lengths_layout(PhxSplineLengths *lengths, struct PhxArena *arena, const PhxSpline *spline);
/* Measures the spline. Cost: 40 derivatives a piece. */
void phx_spline_measure(PhxSplineLengths *lengths, const PhxSpline *spline);
/* After control point i of its own moved: measures the pieces of its support anew, and adds the difference to
 * those behind. The same bits as phx_spline_measure. */
void phx_spline_measure_again(PhxSplineLengths *lengths, const PhxSpline *spline, uint32_t i);
/* Of the whole curve, Q24. */
int64_t phx_spline_length(const PhxSplineLengths *lengths);

/* A place on a curve. */
typedef struct PhxSplinePlace {
    uint32_t piece;
    int64_t u; /* Q32 */
} PhxSplinePlace;

/* The place at a length (Q24, clamped) from the beginning: so that who goes on by equal lengths has a
 * constant speed. */
PhxSplinePlace phx_spline_place(const PhxSplineLengths *lengths, const PhxSpline *spline, int64_t length);

/* The other way round: the length from the beginning to a place, u in its piece. */
int64_t phx_spline_length_at(const PhxSplineLengths *lengths, const PhxSpline *spline, PhxSplinePlace place);

/* ---- followers */

typedef enum PhxSplineMode { PHX_SPLINE_ONCE, PHX_SPLINE_LOOP, PHX_SPLINE_PING_PONG } PhxSplineMode;

enum {                          /* what happened in a step, together */
       PHX_SPLINE_AT_END = 1,   /* came to the end, or past it */
       PHX_SPLINE_AT_BEGIN = 2, /* came back to the beginning, or past it */
       PHX_SPLINE_DONE = 4      /* PHX_SPLINE_ONCE: it stands at the end */
};

/* Where a follower is: the length from the beginning, and whether it comes back. Both are state of whoever
 * keeps it. */
typedef struct PhxSplineFollower {
    int64_t at;     /* Q24, 0..length */
    bool backwards; /* PHX_SPLINE_PING_PONG */
} PhxSplineFollower;

/* Goes on by `way` (Q24, >= 0; more than a whole turn is allowed) and returns what happened. A curve without
 * length: nothing moves. */
uint32_t phx_spline_follow(const PhxSplineLengths *lengths, PhxSplineMode mode, int64_t way,
                           PhxSplineFollower *follower);

/* Where a follower begins: anywhere on the curve, evenly, by the match's key and its handle; with PING_PONG
 * it comes back as often as not. */
PhxSplineFollower phx_spline_start(const PhxSplineLengths *lengths, PhxSplineMode mode, uint64_t key,
                                   uint64_t entity);
/* Follower `index` of `count` that share the curve evenly: each has as much of it, and begins within the
 * first `scatter` (Q16.16, 0..1) of that; so two that go the same way are at least (1 - scatter) of it apart.
 * Count 0: at the beginning. */
PhxSplineFollower phx_spline_start_spaced(const PhxSplineLengths *lengths, PhxSplineMode mode, uint64_t key,
                                          uint32_t index, uint32_t count, fix16_t scatter);

/* What a follower's place hangs on, taken before an edit so that it's found again afterwards. */
typedef struct PhxSplineAnchor {
    int64_t u;    /* Q32 */
    int64_t left; /* from the beginning of its stretch */
    uint32_t stretch, degree;
    PhxSplinePoint point[PHX_SPLINE_DEGREE_MAX + 1];
    fix16_t knot[2 * PHX_SPLINE_DEGREE_MAX];
} PhxSplineAnchor;

/* The anchor of a follower at `at` (0..length). */
PhxSplineAnchor phx_spline_anchor(const PhxSplineLengths *lengths, const PhxSpline *spline, int64_t at);
/* Where it is after points were moved, inserted or taken away and the curve measured anew: a follower whose
 * piece has the control points and knots that it had stays where it was, bit for bit. Another one keeps its
 * parameter: it jumps by no more than the farthest that a control point of its piece moved, and 1/256 unit
 * besides. */
int64_t phx_spline_anchor_find(const PhxSplineLengths *lengths, const PhxSpline *spline,
                               const PhxSplineAnchor *anchor);

#ifdef __cplusplus
}
#endif
#endif
