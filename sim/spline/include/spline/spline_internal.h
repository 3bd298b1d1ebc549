/* spline_internal.h: what the files of sim/spline share. */
#ifndef PHX_SPLINE_INTERNAL_H
#define PHX_SPLINE_INTERNAL_H

#include <phalanx/spline.h>

/* Makes the reciprocals anew that knots first..last are in. */
void phx_spline_rebuild(PhxSpline *spline, uint32_t first, uint32_t last);

#endif
