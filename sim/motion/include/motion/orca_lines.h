/* orca_lines.h: half-planes of permitted velocities, and who makes them. Internal to motion/ and its tests.
 *
 * A half-plane is kept by its normal and offset: velocities v with normal . v >= offset are permitted.
 * Compared with a point and a direction this needs no point far away from the origin, and leaves mirror
 * images mirrored.
 */
#ifndef PHX_MOTION_ORCA_LINES_H
#define PHX_MOTION_ORCA_LINES_H

#include <phalanx/orca.h>

enum {
    PHX_ORCA_OFFSET_MAX =
        1 << 28,            /* raw: offsets saturate at 4096 units a second, 64 times the highest speed */
    PHX_ORCA_INV_BITS = 30, /* fraction bits of a reciprocal horizon */
};

typedef struct PhxOrcaLine {
    PhxDir normal;  /* unit, Q2.30, into the permitted side */
    fix16_t offset; /* units a second, |.| <= PHX_ORCA_OFFSET_MAX */
} PhxOrcaLine;

/* What a unit shows to its neighbours; in order of the spatial grid's rows. */
typedef struct PhxOrcaBody {
    PhxVec2 position, velocity;
    fix16_t radius, shell; /* of the body; what the avoidance radius is larger by, >= 0 */
    uint16_t class_of;
    uint8_t weight; /* 0..PHX_ORCA_WEIGHT_MAX */
} PhxOrcaBody;

/* What is derived from a class. */
typedef struct PhxOrcaReach {
    fix16_t radius, max_speed, range, wall_range, horizon;
    fix16_t change; /* of velocity, within a tick, at most, raw; 0: any */
    uint32_t neighbours;
    fix16_t file_horizon;                                    /* of one that walks in a file */
    int64_t inv_horizon, inv_file_horizon, inv_wall_horizon; /* Q30, <= 16 */
} PhxOrcaReach;

/* A unit and its neighbours, nearest first. */
typedef struct PhxOrcaPairs {
    const PhxOrcaBody *self, *bodies; /* bodies by row */
    const PhxNear *near;
    uint32_t slot; /* the unit's own */
    fix16_t horizon;
    int64_t inv_horizon, inv_tick; /* Q30; inv_tick = rate * 2^30 */
    fix16_t max_speed;             /* of its class: by what closing speeds are fast */
    PhxVec2 origin;                /* half-planes are of velocities less this one */
} PhxOrcaPairs;

/* The sum of the radii that two units keep. Beyond their avoidance radii: those. Nearer it gives way, twice
 * as fast as they come nearer, down to the bodies': so nothing pushes them apart there, none has a reason to
 * press on, and there's no border at which anything jumps. */
int64_t phx_orca_pair_radius(const PhxOrcaBody *self, const PhxOrcaBody *other, uint64_t distance_sq);

/* The half-plane that neighbour i leaves. Two units on the very same point with equal velocities part along a
 * direction drawn from their slots. */
PhxOrcaLine phx_orca_pair_line(const PhxOrcaPairs *pairs, uint32_t i);

/* Whether the half-plane of neighbour i surely permits every velocity within `change` (raw) of the unit's
 * own, with room to spare; much cheaper than the half-plane. False says nothing. */
bool phx_orca_pair_permits(const PhxOrcaPairs *pairs, uint32_t i, int64_t change);

/* The same half-plane, of velocities less `origin`. */
PhxOrcaLine phx_orca_line_from(PhxOrcaLine line, PhxVec2 origin);

/* At most one half-plane for each of `count` walls, in their order; those that earlier ones cover are left
 * out. Returns how many. */
uint32_t phx_orca_wall_lines(const PhxOrcaBody *self, int64_t inv_horizon, const PhxWalls *walls,
                             const PhxWallNear *near, uint32_t count, PhxOrcaLine *out);

/* The unit vector along (x, y), components up to 2^32; false, and nothing written, for zero. */
bool phx_orca_unit(int64_t x, int64_t y, PhxDir *out);

/* The direction of a tangent from the origin to the disc of `radius` about p: p turned by the angle whose
 * sine is radius / |p|, in the sense of +x to +y where `left`, else back. 0 < |p| < 2^24 raw; where |p| <
 * radius the angle counts as a right one. */
PhxDir phx_orca_leg(int64_t px, int64_t py, int64_t radius, bool left);

#endif
