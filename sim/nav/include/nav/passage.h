/* passage.h: how much room a route has on both sides, and where passages narrow it. For groups in lanes.
 *
 * A sample of a route is a point with the room for a centre to its left and its right. Where less room is
 * left across it, in the direction in which there is least, than a group wants, the sample lies in a narrow
 * passage and is moved to its middle. Of the samples those are kept that straight lines between them, with
 * room growing and shrinking linearly, don't promise more room than there is; but in rubble, where the middle
 * of one passage may not see that of the next, so who walks looks where he goes.
 *
 * Positions are in the layer's coordinates (phalanx/cost.h). Threads: the ground is only read, but for
 * phx_passage_close. Determinism: integers; pure functions of the boards and the arguments.
 */
#ifndef PHX_NAV_PASSAGE_H
#define PHX_NAV_PASSAGE_H

#include "nav/path_ground.h"

enum {
    PHX_PASSAGE_SAMPLES = 1024,               /* of a route; longer ones are sampled more sparsely */
    PHX_PASSAGE_REACH = 16,                   /* units to each side in which walls are looked for */
    PHX_PASSAGE_CHORD = 4 * PHX_PASSAGE_REACH /* cells across a passage */
};

typedef struct PhxPassage {
    PhxVec2 at;
    fix16_t left, right; /* room for a centre, 0 .. PHX_PASSAGE_REACH units */
    PhxAngle across;     /* narrow: the direction in which it is narrowest */
    bool narrow;
} PhxPassage;

/* Samples a polyline of `count` (2 or more) points for discs that keep `rest` (raw, 0 .. 1/2) clear of the
 * layer's walls; narrow is what has less room than `need` (raw). Returns how many. Cost: some microseconds a
 * sample. */
uint32_t phx_passage_sample(const PhxPathGround *ground, const PhxVec2 *way, uint32_t count, fix16_t rest,
                            fix16_t need, PhxPassage sample[PHX_PASSAGE_SAMPLES]);

/* Leads the route straight into narrow passages and out of them: samples near the ends of one are replaced by
 * a point in front of it, along its axis, where that can be seen. In place; returns how many are left; at
 * most PHX_PASSAGE_SAMPLES. */
uint32_t phx_passage_align(const PhxPathGround *ground, PhxPassage *sample, uint32_t count, fix16_t rest);

/* Of `count` (1 or more) samples those that are needed, first and last included; in place. Returns how many:
 * `most` (2 or more) at most; if more would be needed, those at the far end are left out. Cost: quadratic in
 * the distance of samples that are kept. */
uint32_t phx_passage_simplify(const PhxPathGround *ground, PhxPassage *sample, uint32_t count, uint32_t most);

/* The narrow sample with the least room, of equal ones the first; `count` if none is narrow. */
uint32_t phx_passage_narrowest(const PhxPassage *sample, uint32_t count);

/* Shuts the open cells across a passage in the boards of the ground, and nothing else that is known of it;
 * lists them in `cells`, returns how many. Opening them again leaves the ground as it was. */
uint32_t phx_passage_close(PhxPathGround *ground, const PhxPassage *passage,
                           uint32_t cells[PHX_PASSAGE_CHORD]);
void phx_passage_open(PhxPathGround *ground, const uint32_t *cells, uint32_t count);

#endif
