/* formation.h: where the units of a group stand in a formation, and how its frame marches.
 *
 * Pure functions: bodies in, slots out; a frame and its way in, its next step out. phalanx/assign.h tells
 * which unit takes which slot; the engine's phase `formation` (sim/step/formation.c) ties them together.
 *
 * A formation has a frame: an anchor, and where it faces. Slots are told in it: x forward, y to the right.
 * The anchor is the middle of the first row; of a circle its centre; of a pattern the pattern's own origin.
 *
 * Ranks: units of rank 0 stand in front (melee), then those of rank 1 (archers), and so on; in a circle rank
 * 0 is the outermost ring. A row or a ring holds one rank only, and is spaced by the largest body of it: the
 * discs of any two slots are at least `gap` apart (a pattern's: don't overlap), so that within a rank anyone
 * may take any slot. Units: world units, Q16.16. Nothing here allocates.
 *
 * Determinism: integers only; each function is a pure function of its arguments. The order of the units
 * doesn't matter, only how many there are of a rank and the largest body of each.
 */
#ifndef PHALANX_FORMATION_H
#define PHALANX_FORMATION_H

#include <phalanx/nav.h>
#include <phalanx/status.h>
#include <phalanx/vec2.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PhxFormationShape {
    PHX_FORMATION_COLUMN,    /* two files, one rank after the other */
    PHX_FORMATION_LINE,      /* a row a rank, from 21 units of a rank on two */
    PHX_FORMATION_RECTANGLE, /* about twice as wide as deep */
    PHX_FORMATION_WEDGE,     /* rows of 1, 2, 3 ... behind the tip */
    PHX_FORMATION_CIRCLE,    /* rings, rank 0 outside */
    PHX_FORMATION_PATTERN,   /* a game's own template */
    PHX_FORMATION_SHAPE_COUNT
} PhxFormationShape;

enum {
    PHX_FORMATION_UNITS = 1024, /* at most */
    PHX_FORMATION_RANKS = 16,
    PHX_FORMATION_PATTERN_SLOTS = 2048, /* at most */
    PHX_FORMATION_GAP = 13107           /* 0.2 units: a usual gap between bodies */
};

typedef struct PhxFormationSlot {
    PhxVec2 at;     /* in the frame */
    fix16_t radius; /* of the largest body of its rank */
    uint8_t rank;
} PhxFormationSlot;

/* What is wanted. Not owned. */
typedef struct PhxFormationSpec {
    PhxFormationShape shape;
    uint32_t count;        /* units, 1 .. PHX_FORMATION_UNITS */
    const fix16_t *radius; /* of each, 1/16 .. 16 */
    const uint8_t *rank;   /* of each, 0 .. 15; null: all 0 */
    fix16_t gap;           /* between bodies, 0 .. 16 */
    fix16_t width;         /* from body to body; 0: the shape's own. A circle and a pattern have their own */
    fix16_t limit;         /* no wider than this, as far as one body a row allows; 0: no limit. What can't be
                              made narrower, a circle or a pattern, is a rectangle then */
    const PhxFormationSlot *pattern; /* PATTERN: slots in the order they are filled; radii don't count */
    uint32_t pattern_count;
} PhxFormationSpec;

/* How far it reaches from its anchor, bodies included. */
typedef struct PhxFormationExtent {
    fix16_t front, back; /* >= 0 */
    fix16_t side;        /* to the farther side */
    fix16_t reach;       /* of the farthest slot's centre from the anchor */
    fix16_t pitch;       /* largest body's diameter and gap */
} PhxFormationExtent;

/* "column" and so on; null out of range. */
const char *phx_formation_shape_name(PhxFormationShape shape);

/* Fills `slots` (room for spec->count) by rank, then row by row from the front (ring by ring from outside),
 * left to right; and *extent, unless null. Exactly as many slots of a rank as units of it, so that a unit
 * less changes its rank's last row alone (and of circles its ranks' rings). Cost: linear in the units; a
 * pattern: its square.
 * Errors, with nothing written: PHX_ERROR_ARGUMENT for no units or an unknown shape; PHX_ERROR_LIMIT for too
 * many units or slots of a pattern; PHX_ERROR_RANGE for a radius, rank, gap, width or limit out of range, a
 * width below the largest body, a formation that reaches beyond 4096 units, and a pattern whose slots are too
 * near each other for the bodies of their ranks; PHX_ERROR_FULL where a pattern has fewer slots of a rank
 * than there are units. */
PHX_MUST_USE PhxStatus phx_formation_layout(const PhxFormationSpec *spec, PhxFormationSlot *slots,
                                            PhxFormationExtent *extent);

/* A point of the frame in the world, and back; anchor and result within +-16384 units. */
PhxVec2 phx_formation_to_world(PhxVec2 anchor, PhxAngle facing, PhxVec2 at);
PhxVec2 phx_formation_to_frame(PhxVec2 anchor, PhxAngle facing, PhxVec2 world);

/* Where an anchor came along, and so what a deep formation follows around corners. `point[0]` is the anchor,
 * the others lie behind it one after the other; beyond the last it goes on straight. */
enum { PHX_FORMATION_TRAIL = 64 };
typedef struct PhxFormationTrail {
    uint32_t count; /* of points, 2 .. PHX_FORMATION_TRAIL + 1 */
    PhxVec2 point[PHX_FORMATION_TRAIL + 1];
    uint32_t length[PHX_FORMATION_TRAIL + 1]; /* from the anchor to the point, raw; set by measure */
} PhxFormationTrail;
void phx_formation_trail_measure(PhxFormationTrail *trail);
/* A slot behind the anchor, as if the frame were bent along the trail: `middle` (may be null) is where the
 * trail is there, and *forward the way it leads. Slots before the anchor lie beside it. */
PhxVec2 phx_formation_trail_place(const PhxFormationTrail *trail, PhxVec2 at, PhxVec2 *middle,
                                  PhxDir *forward);

/* The free ground to both sides of a way, as far as `reach` (at most 64 units), over the next `ahead` units
 * (at most 32). */
typedef struct PhxFormationRoom {
    fix16_t width;       /* of the narrowest place */
    fix16_t left, right; /* of the way there */
} PhxFormationRoom;
/* A look at a cell each half unit. Where the way itself is closed, what lies beyond isn't looked at. */
PhxFormationRoom phx_formation_room(const PhxNavGrid *grid, PhxVec2 at, PhxDir way, fix16_t reach,
                                    fix16_t ahead);

/* The frame's next step. */
typedef struct PhxFormationMarch {
    PhxAngle facing, wanted; /* where it faces, and should */
    PhxDir way;              /* of the anchor; (0, 0): it stands */
    uint32_t distance;       /* what is left of the way, raw */
    fix16_t speed;           /* of the slowest, units a second */
    fix16_t reach, pitch;    /* of its extent */
    fix16_t lag;             /* how far the last straggler is from its slot, units */
    uint32_t tick_rate;
} PhxFormationMarch;
typedef struct PhxFormationStep {
    PhxVec2 velocity; /* of the anchor, units a second */
    int32_t turn;     /* in this tick, binary angle */
} PhxFormationStep;
/* It marches at the slowest's speed, less as the last straggler falls back by more than an eighth of a
 * pitch, and
 * waits for one that is two pitches behind. It wheels so that no slot moves faster than the slowest can: what
 * turning takes of the speed, from nothing to all of it at a sixteenth of a turn, the way is short of. */
PhxFormationStep phx_formation_march(const PhxFormationMarch *march);

/* The velocity of a slot at `offset` (world) from an anchor that makes this step. */
PhxVec2 phx_formation_slot_velocity(const PhxFormationStep *step, PhxVec2 offset, uint32_t tick_rate);

#ifdef __cplusplus
}
#endif
#endif
