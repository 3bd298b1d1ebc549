/* orca.h: collision avoidance of many units at once, in fixed point.
 *
 * Each unit chooses the velocity nearest to the one it prefers among those that, for `horizon` seconds, hit
 * no other unit that does the same (half-planes with half responsibility) and no wall (full responsibility).
 * Source: van den Berg, Guy, Lin, Manocha, "Reciprocal n-body collision avoidance", 2011: sections 4
 * (half-planes), 5.1 (the 2D linear program), 5.3 (where no velocity will do: the one that minimises the
 * largest violation by units, walls kept), 6 (walls).
 *
 * In: positions (the spatial grid's copy), velocities, preferred velocities and classes by slot. Out: a new
 * velocity by slot, within the class' max_speed. Integrating it, and the guarantee against walls, are
 * phx_walls_move's. Cost: per unit O(k) half-planes and an expected O(k) linear program; no division where a
 * reciprocal kernel does.
 *
 * Determinism: integers only. A unit's result is a pure function of the old columns: neighbours are the k
 * first by (squared distance, slot), lines are processed in that order, and a call writes only the output
 * rows of its own units. So neither the split into ranges nor the order of the calls can change a bit.
 * Rounding is symmetric about zero: a scene turned by quarter turns gives the result turned likewise, bit for
 * bit; so does a mirrored scene but for ties and pairs that make straight for each other (within 2^-8 rad),
 * which keep right: turn from +x to -y.
 */
#ifndef PHALANX_ORCA_H
#define PHALANX_ORCA_H

#include <phalanx/jobs.h>
#include <phalanx/spatial.h>
#include <phalanx/vec2.h>
#include <phalanx/walls.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PHX_ORCA_MAX_NEIGHBOURS = 16,
    /* one more for the greatest speed, where a unit can't reach all below it */
    PHX_ORCA_MAX_LINES = PHX_ORCA_MAX_NEIGHBOURS + PHX_WALLS_MAX_NEAR + 1,
    PHX_ORCA_WEIGHT = 8,       /* of those that nothing else is said of */
    PHX_ORCA_IN_FILE = 2,      /* `close` of one that walks in a file */
    PHX_ORCA_FILE_HORIZON = 4, /* it looks ahead a fourth as far */
    PHX_ORCA_WEIGHT_MAX = 15,
    PHX_ORCA_GRAIN = 64, /* rows a job; has no influence on the result */
};

/* What the units of one class have in common. All fields are clamped to the ranges stated. */
typedef struct PhxOrcaClass {
    fix16_t radius;          /* units, 1/16..16 */
    fix16_t max_speed;       /* units a second, 0..64 */
    fix16_t neighbour_range; /* units between centres, 0..64; others at this distance or more are not seen */
    fix16_t horizon;         /* seconds, 1/16..1024: how far ahead of other units */
    fix16_t wall_horizon;    /* seconds, 1/16..1024: how far ahead of walls */
    uint32_t neighbours;     /* 0..PHX_ORCA_MAX_NEIGHBOURS; the nearest ones count */
    fix16_t acceleration;    /* units a second squared, 0..4096: no velocity is chosen that it can't reach
                                within the tick; 0: any can be reached */
} PhxOrcaClass;

/* Bits of PhxOrcaScene.flags. */
enum {
    PHX_ORCA_CROWDED =
        1,               /* the units' half-planes had no common point: the largest violation was minimised */
    PHX_ORCA_WALLED = 2, /* nor had the walls': theirs was minimised first */
    PHX_ORCA_CREPT = 4,  /* the unit's creep took it nearer to its preferred velocity */
};

/* Scratch that outlives a tick but carries nothing from one to the next. Fields are private to motion/. */
struct PhxOrcaBody;
struct PhxOrcaReach;
typedef struct PhxOrcaWork {
    uint32_t capacity, class_capacity;
    struct PhxOrcaBody *body;   /* by row of the spatial grid */
    struct PhxOrcaReach *reach; /* by class */
} PhxOrcaWork;

/* Takes the memory from `arena` (measuring or real), for grids of up to `capacity` rows and `class_capacity`
 * classes. */
void phx_orca_layout(PhxOrcaWork *work, struct PhxArena *arena, uint32_t capacity, uint32_t class_capacity);

/* One tick's task. Columns are by slot, raw Q16.16; velocities in units a second, |v| <= 64 each. */
typedef struct PhxOrcaScene {
    const PhxSpatial *spatial; /* built from this tick's positions; the rows in it are the units that count */
    const PhxWalls *walls;     /* null: none */
    /* Where gates make a difference: the walls that stop a unit are wall_sets[wall_set_of[slot]] (null:
     * none), each index < wall_set_count. wall_sets null: all units are stopped by `walls`. */
    const PhxWalls *const *wall_sets;
    const uint8_t *wall_set_of; /* by slot */
    uint32_t wall_set_count;
    const fix16_t *vel_x, *vel_y;
    const fix16_t *pref_x, *pref_y;
    const uint16_t *class_of; /* null: all of class 0; each < class_count */
    /* By slot, each column may be null. avoid: the radius that it keeps from other units, at least its body's
     * (so also where it's null), 0..16 units; walls always count by the body. close: not 0: it keeps its
     * body's alone, as it stands among others or goes to its place there;
     * PHX_ORCA_IN_FILE: and it looks ahead a fourth of its class's horizon, since a file leads it past the
     * others. weight: 0..PHX_ORCA_WEIGHT_MAX, its part in what two change for each other is own / (own +
     * other's), of equal ones half (null: all equal); 0: it avoids nobody, and the others leave it all its
     * room. top_speed: its greatest speed, 0..64, instead of its class's; 0: that. */
    const fix16_t *avoid;
    const uint8_t *close, *weight;
    const fix16_t *top_speed;
    /* By slot, null: nobody. Not 0: the unit sleeps: it stays as it is, and nothing is looked up for it; its
     * preferred velocity has to be zero. Others avoid it. */
    const uint8_t *asleep;
    /* By slot, 0..16; null: all 0. By how many sixteenths of its max_speed a unit may violate more than need
     * be, to get nearer to its preferred velocity, where others leave it none: so those that are wedged slide
     * out, and those at rest feel that it wants to pass. Nobody is pressed in farther than a sixth by that.
     */
    const uint8_t *creep;
    const PhxOrcaClass *classes;
    uint32_t class_count;   /* 1..class_capacity */
    uint32_t tick_rate;     /* Hz, 1..1000: overlapping units part within a tick */
    fix16_t *out_x, *out_y; /* may not alias the inputs; rows of slots outside of the grid are left alone */
    uint8_t *flags;         /* null: not wanted */
    PhxOrcaWork *work;
} PhxOrcaScene;

/* The whole task: prepare, gather and solve. */
void phx_orca_run(const PhxOrcaScene *scene, const PhxJobs *jobs);

/* Its three parts, for those who schedule by themselves. prepare: once, serially. gather: all rows of the
 * grid, in any ranges, before any solve. solve: rows begin..end-1 of the grid, in any ranges, in any order,
 * on any thread. */
void phx_orca_prepare(const PhxOrcaScene *scene);
void phx_orca_gather(const PhxOrcaScene *scene, uint32_t begin, uint32_t end);
void phx_orca_solve(const PhxOrcaScene *scene, uint32_t begin, uint32_t end);

/* The largest query radius of the classes: what phx_spatial_build wants as its range. */
fix16_t phx_orca_range(const PhxOrcaClass *classes, uint32_t class_count);

/* Looking at one unit's choice, for viewers and `phx orca explain`. */

typedef enum PhxOrcaSource { PHX_ORCA_FROM_WALL, PHX_ORCA_FROM_UNIT } PhxOrcaSource;

/* One half-plane of permitted velocities, and who made it. Raw Q16.16, units and units a second. */
typedef struct PhxOrcaHalfPlane {
    PhxDir normal;     /* unit: velocities v with normal . v >= offset are permitted */
    fix16_t offset;    /* as it was made: before walls were moved back */
    fix16_t violation; /* offset - normal . chosen: how far outside of it the chosen velocity is; <= 0: inside
                        */
    fix16_t distance;  /* to the other's centre or to the wall, rounded down */
    uint8_t source;    /* PhxOrcaSource */
    bool overlaps;     /* nearer than both radii (a wall: than the unit's own), or just as near */
    /* of a unit; else UINT32_MAX and zeros */
    uint32_t slot;
    fix16_t radius, avoid; /* of its body; that it keeps from others */
    fix16_t kept;          /* the sum of radii that the two keep at this distance */
    uint8_t weight;
    /* CROWDED: the half-plane beyond which it would be pressed into this unit too far, and which is kept;
     * normal zero: it can't within a tick, or contacts couldn't be kept */
    PhxDir contact_normal;
    fix16_t contact_offset;
    PhxVec2 position, velocity, relative; /* relative: the explained unit's velocity less this one's */
    /* of a wall; else zeros: its ends, as far as it is known (PHX_WALLS_SIGHT) */
    PhxVec2 start, end;
} PhxOrcaHalfPlane;

/* Everything that went into the choice, and what came out. Plain values: it outlives the scene. About 3 KiB.
 */
typedef struct PhxOrcaExplanation {
    uint32_t slot;
    uint8_t flags;  /* 0: the half-planes had a common point; else bits of PHX_ORCA_CROWDED.. */
    uint8_t weight; /* its part in what two change for each other is its weight's part of both */
    PhxVec2 position, velocity, preferred, chosen;
    fix16_t radius, avoid, max_speed; /* avoid: what it keeps from other units; >= radius */
    fix16_t horizon;                  /* ahead of units, seconds */
    fix16_t change;                   /* of its velocity within the tick, at most; 0: it can reach any */
    fix16_t creep;                    /* units a second that it may violate more than need be; 0: none */
    fix16_t walls_back; /* by how much walls' half-planes were moved back (PHX_ORCA_WALLED); else 0 */
    fix16_t violation;  /* largest of units' half-planes, at least 0 */
    fix16_t least; /* CROWDED: the least that could be; where the unit crept it allows itself `creep` more */
    fix16_t wall_violation; /* largest of walls' half-planes, at least 0 */
    uint32_t walls_met;     /* walls in reach; one that others cover leaves no half-plane */
    uint32_t count, walls;  /* half-planes, in the order in which they count; the first `walls` are of walls,
                               nearest first, then one of each neighbour, nearest first */
    PhxOrcaHalfPlane line[PHX_ORCA_MAX_LINES];
} PhxOrcaExplanation;

/* Solves for the unit of `slot` once more, by the same code, and says why. The scene is prepared and
 * gathered, and the slot is in its grid. Writes to *out alone: safe from any number of threads, beside
 * solving. out->chosen is what phx_orca_solve gives. Cost: that of one unit with all its half-planes made,
 * twice or so. */
void phx_orca_explain(const PhxOrcaScene *scene, uint32_t slot, PhxOrcaExplanation *out);

#ifdef __cplusplus
}
#endif
#endif
