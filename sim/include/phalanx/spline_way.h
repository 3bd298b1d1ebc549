/* spline_way.h: the way of a group, which bends by itself around what moves, and comes back.
 *
 * A path made smooth (phalanx/spline_path.h) is the base; the bent way is the base with evasions for movers
 * that would come too near. In: the movers near the way, once a tick or once in some ticks. Out: the
 * bent way, and a follower who never jumps: an evasion begins only in front of it, and ends when it's past it
 * or not yet there.
 *
 * What is state is a small record (PhxSplineWayState); the way is derived from the waypoints and that record,
 * and phx_spline_way_restore makes the same bits of it again. Cost of a watch: a threat for each mover, and
 * what phx_spline_evade_threat costs for each that is one. Determinism: integers; movers are taken in the
 * order in which they come, which the caller keeps ascending by id.
 */
#ifndef PHALANX_SPLINE_WAY_H
#define PHALANX_SPLINE_WAY_H

#include <phalanx/spline_path.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PHX_SPLINE_WAY_BENDS = 4 /* at once */ };

/* State, of whoever keeps it; all zero: at the beginning, nothing is evaded. */
typedef struct PhxSplineWayBend {
    uint64_t id;  /* of the mover */
    int32_t side; /* 1, -1 */
    PhxSplineEvasion evasion;
} PhxSplineWayBend;
typedef struct PhxSplineWayState {
    int64_t at;     /* Q24, of the follower along the bent way */
    uint32_t count; /* of bends, in the order in which they were put in */
    PhxSplineWayBend bend[PHX_SPLINE_WAY_BENDS];
} PhxSplineWayState;

/* Derived. Fields are read-only outside of sim/spline. */
typedef struct PhxSplineWay {
    PhxSpline base, bent;
    PhxSplineLengths base_lengths, bent_lengths;
} PhxSplineWay;

typedef struct PhxSplineMover {
    uint64_t id; /* a handle; 0 is none */
    PhxSplineObstacle body;
} PhxSplineMover;

/* Takes the memory for ways of up to `capacity` control points before they bend. */
void phx_spline_way_layout(PhxSplineWay *way, struct PhxArena *arena, uint32_t capacity, uint32_t degree_max);

/* Makes the way of a path, without bends. `pieces` and errors: those of phx_spline_path_smooth; the way is as
 * it was then. */
PHX_MUST_USE PhxStatus phx_spline_way_set(PhxSplineWay *way, const PhxSplinePathSpec *spec, uint8_t *pieces);

/* Bends the way as a state says that was loaded, so that it has the bits that it had when that was saved.
 * Errors, with the way unbent: PHX_ERROR_MISMATCH (the record isn't one of this way), PHX_ERROR_RANGE (the
 * follower isn't on it; too many bends). */
PHX_MUST_USE PhxStatus phx_spline_way_restore(PhxSplineWay *way, const PhxSplineWayState *state);

/* Ends the evasions of movers that are gone or no longer too near, and begins those that are wanted, where
 * `ground` (null: no walls) allows it. `watch`: speed, radius, horizon, enter, leave and most; the rest isn't
 * read. The follower goes forwards. Returns how many began and ended; the follower's position is the same
 * before and after, within 1/256 unit. */
uint32_t phx_spline_way_watch(PhxSplineWay *way, PhxSplineWayState *state, const PhxSplineWatch *watch,
                              const PhxSplineMover *movers, uint32_t count, const PhxSplineGround *ground);

/* The follower goes on by `by` (Q24, >= 0); true: it stands at the end. */
bool phx_spline_way_walk(const PhxSplineWay *way, PhxSplineWayState *state, int64_t by);
/* Where it is. */
PhxSplineSample phx_spline_way_sample(const PhxSplineWay *way, const PhxSplineWayState *state);

#ifdef __cplusplus
}
#endif
#endif
