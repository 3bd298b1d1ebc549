/* spline_points.h: given points made even and smooth, for editors: what a hand or an import drew becomes
 * control points that a spline likes.
 *
 * In: points (Q16.16, within +-8192 units). Out: points. Nothing is state of a match, yet the results are the
 * same on every machine, so that content made of them has the same bits. Cost: linear in the points, times
 * the passes. Determinism: integers, rounding symmetric about zero.
 */
#ifndef PHALANX_SPLINE_POINTS_H
#define PHALANX_SPLINE_POINTS_H

#include <phalanx/spline.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PHX_SPLINE_PASSES_MAX = 1000 };

/* The length of the line through the points, Q24 units; of a closed one with the way from the last to the
 * first. Each leg is rounded by 2^-24. */
int64_t phx_spline_line_length(const PhxSplinePoint *points, uint32_t count, bool closed);

/* How many points phx_spline_resample needs for steps of about `spacing` (raw, > 0): the number whose steps
 * are nearest to it, 2 or more (3 of a closed line). PHX_SPLINE_POINTS_MAX + 1 where that is too many. */
uint32_t phx_spline_resample_count(const PhxSplinePoint *points, uint32_t count, bool closed,
                                   fix16_t spacing);

/* Writes `wanted` points at equal distances along the line through `points`. Both ends of an open line are
 * kept; a closed one begins in its first point, and the step from the last point back to it is as long as
 * the others. Off by 3 raw units at most. `out` is another array. Errors, with nothing written:
 * PHX_ERROR_ARGUMENT (no array, fewer than 2 points, or 3 of a closed line; wanted below 2 or 3),
 * PHX_ERROR_LIMIT (more than PHX_SPLINE_POINTS_MAX points or wanted), PHX_ERROR_RANGE (a point beyond +-8192
 * units, a line without length). */
PHX_MUST_USE PhxStatus phx_spline_resample(const PhxSplinePoint *points, uint32_t count, bool closed,
                                           PhxSplinePoint *out, uint32_t wanted);

/* Smooths the points where they are, keeping the ends of an open line: each pass moves every point by half of
 * the way to the middle of its neighbours, and then back by 0.53 of what it would move again, so that waves
 * go and bends don't shrink (Taubin, "A signal processing approach to fair surface design", 1995, lambda
 * 1/2, mu -0.53). Each half of a pass rounds by half a raw unit. Errors, with nothing changed:
 * PHX_ERROR_ARGUMENT (no array, fewer than 2 points, or 3 of a closed line; more than PHX_SPLINE_PASSES_MAX
 * passes), PHX_ERROR_LIMIT (too many points), PHX_ERROR_RANGE (a point beyond +-8192 units). */
PHX_MUST_USE PhxStatus phx_spline_smooth(PhxSplinePoint *points, uint32_t count, bool closed,
                                         uint32_t passes);

#ifdef __cplusplus
}
#endif
#endif
