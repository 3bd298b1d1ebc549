/* path_smooth.h: from the corners of a path to waypoints. */
#ifndef PHX_NAV_PATH_SMOOTH_H
#define PHX_NAV_PATH_SMOOTH_H

#include <phalanx/path.h>

/* Fills the waypoints of `path`, whose capacity isn't 0, from `count` (1 or more) corners of a path over the
 * ground; sets `waypoints_cut` where they don't fit. */
void phx_path_smooth(const PhxPathGround *ground, const uint32_t *corner, uint32_t count, fix16_t radius,
                     PhxPath *path);

#endif
