/* spline_internal.h: what the files of sim/spline share. */
#ifndef PHX_SPLINE_INTERNAL_H
#define PHX_SPLINE_INTERNAL_H

#include <phalanx/spline_path.h>

/* Makes the reciprocals anew that knots first..last are in. */
void phx_spline_rebuild(PhxSpline *spline, uint32_t first, uint32_t last);

/* What the control points piece - degree .. piece weigh at u (Q32, in the piece): Q32, together 2^32. */
void phx_spline_weights(const PhxSpline *spline, uint32_t piece, int64_t u, uint64_t *weights);

/* How far p is from the segment a b, raw: at least the truth, at most 3 more. */
int64_t phx_spline_off_segment(PhxVec2 a, PhxVec2 b, PhxVec2 p);

bool phx_spline_is_inside(PhxSplinePoint p);

#endif
