/* walls_buckets.h: a rectangle of buckets, first and last included. Internal to motion/. */
#ifndef PHX_MOTION_WALLS_BUCKETS_H
#define PHX_MOTION_WALLS_BUCKETS_H

#include <stdint.h>

typedef struct PhxWallsWindow {
    uint32_t first_x, last_x, first_y, last_y;
} PhxWallsWindow;

#endif
