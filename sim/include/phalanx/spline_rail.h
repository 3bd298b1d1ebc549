/* spline_rail.h: rails for a replay's camera and for effects: a place and a direction to look to, by time.
 *
 * Nothing of it is state, and no match depends on it; it is integers all the same, so that a film made of a
 * replay has the same frames on every machine. In: the curve of the eye, perhaps one of what it looks at, and
 * a time. Out: a view. Cost: a place at a length, a sample, two roots; nothing is kept between two views, so
 * that a film can be played from anywhere, backwards too.
 */
#ifndef PHALANX_SPLINE_RAIL_H
#define PHALANX_SPLINE_RAIL_H

#include <phalanx/spline.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Not owned: the curves, measured, must stay as long as the rail is used. */
typedef struct PhxSplineRail {
    const PhxSpline *eye;
    const PhxSplineLengths *eye_lengths;
    const PhxSpline *target; /* what it looks at, at the same share of its length; null: along the rail */
    const PhxSplineLengths *target_lengths;
    PhxSplineMode mode;
    fix16_t speed; /* units a second, > 0 */
    int64_t start; /* Q24: the length at time 0 */
} PhxSplineRail;

/* A unit direction in space, Q2.30. (0, 0, 0): none. */
typedef struct PhxSplineDir {
    int32_t x, y, z;
} PhxSplineDir;

typedef struct PhxSplineView {
    PhxSplinePoint at;
    PhxSplineDir along;   /* where it goes; on its way back too. None where the curve has no speed */
    PhxSplineDir look;    /* where it looks to: at the target, else along */
    PhxAngle heading;     /* of the look, in the plane; 0 where that leads straight up or down */
    int64_t length;       /* Q24, from the beginning of the rail */
    fix16_t u;            /* the parameter there */
    bool backwards, done; /* PHX_SPLINE_PING_PONG: on its way back; PHX_SPLINE_ONCE: at the end */
} PhxSplineView;

/* Errors: PHX_ERROR_ARGUMENT (no eye, a target without lengths, an unknown mode), PHX_ERROR_RANGE (speed
 * outside of 1 raw .. 16384 units a second, start outside of the rail). */
PHX_MUST_USE PhxStatus phx_spline_rail_check(const PhxSplineRail *rail);

/* The view at a time (microseconds, up to 2^42: 50 days), of a rail that was checked. */
PhxSplineView phx_spline_rail_at(const PhxSplineRail *rail, uint64_t time);
/* How long the rail is from end to end, in microseconds, rounded down; 0 for one without length. */
uint64_t phx_spline_rail_time(const PhxSplineRail *rail);

/* A direction of a vector of any size: each part at most 3 units of 2^-30 from the truth. */
PhxSplineDir phx_spline_dir(const PhxSplineRate *vector);

#ifdef __cplusplus
}
#endif
#endif
