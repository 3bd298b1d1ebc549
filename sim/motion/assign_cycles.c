/* assign_cycles.c: an assignment made better, by changes along cycles of neighbouring slots.
 *
 * In: an assignment. Out: one that is as good or better. Method: each slot is linked to some of the slots
 * nearest to it. First, units of linked slots change over in pairs where both together gain (2-opt). Then
 * negative cycles are cancelled (Klein, "A primal method for minimal cost flows", 1967): the weight of a link
 * is what it costs that a slot's unit moves along it, potentials are relaxed as Bellman and Ford do, and
 * where predecessors form a ring, the units on it move on. An empty slot moves for nothing. A potential falls
 * by more than a slack, a SLACK-th of the mean cost, or not at all: it would take long to find the last
 * gains. (When none can fall, no assignment along the links is cheaper by more than the slack a slot.)
 * Potentials stay what they are after a change, which is sound, as a ring of predecessors that were all set
 * since is negative whatever they began with.
 *
 * It ends when what a sweep relaxed, in sum, is less than a 128th of the cost, or when as many slots were
 * relaxed as ROUNDS rounds of all would be: 7 links each, at some 2.5 ns. Of 1,024 units at random among as
 * many slots that's 1.6 ms, and 1% above the optimum in the mean of 40, 1.4% at worst.
 *
 * Determinism: integers, steps are counted. Slots come in order of their cells, forwards and backwards in
 * turn, links by (distance, number), rings by the least slot that leads into them. A weight is below 2^42
 * and a potential falls by no more than a weight a relaxation, of which there are less than 2^20: below 2^62.
 */
#include <string.h>

#include "motion/assign_parts.h"

enum {
    LINKS = PHX_ASSIGN_LINKS,
    NONE = PHX_ASSIGN_NONE,
    PAIR_PASSES = 6,
    ROUNDS = 80,
    GAIN_SHIFT = 7, /* see above */
    SLACK = 5,
};

/* What it costs that the unit at a slot moves to another. */
static int64_t move_cost(const PhxAssignNear *work, const PhxAssignPart *part, uint32_t from, uint32_t to) {
    const uint32_t unit = work->owner[from];
    if (unit == NONE) return 0;
    return phx_assign_cost(part->unit[unit], part->slot[to]) -
           phx_assign_cost(part->unit[unit], part->slot[from]);
}

/* Linked units change over in pairs, until none gains or the passes are over. */
static void change_pairs(PhxAssignNear *work, const PhxAssignPart *part) {
    bool changed = true;
    for (uint32_t pass = 0; pass < PAIR_PASSES && changed; pass++) {
        changed = false;
        for (uint32_t j = 0; j < part->m; j++)
            for (uint32_t k = 0; k < LINKS; k++) {
                const uint32_t to = work->link[j][k];
                if (move_cost(work, part, j, to) + move_cost(work, part, to, j) >= 0) continue;
                const uint16_t unit = work->owner[j];
                work->owner[j] = work->owner[to];
                work->owner[to] = unit;
                changed = true;
            }
    }
}

static void weigh(PhxAssignNear *work, const PhxAssignPart *part, uint32_t j) {
    for (uint32_t k = 0; k < LINKS; k++) work->weight[j][k] = move_cost(work, part, j, work->link[j][k]);
    work->stale[j] = 1;
}

#define GAIN_MAX ((int64_t)1 << 50) /* of a slot: so that the sum over all fits 62 bits */

/* Relaxes the links of a slot. Returns by how much potentials fell at most. */
static int64_t relax_slot(PhxAssignNear *work, uint32_t j) {
    const int64_t base = work->potential[j];
    int64_t most = 0;
    for (uint32_t k = 0; k < LINKS; k++) {
        const uint32_t to = work->link[j][k];
        const int64_t potential = base + work->weight[j][k], fall = work->potential[to] - potential;
        if (fall <= work->slack) continue;
        work->potential[to] = potential;
        work->from[to] = (uint16_t)j;
        work->stale[to] = 1;
        if (fall > most) most = fall < GAIN_MAX ? fall : GAIN_MAX;
    }
    work->stale[j] = 0;
    return most;
}

/* One sweep over all slots whose potential fell or whose links were weighed anew since their last. */
static int64_t sweep(PhxAssignNear *work, uint32_t m, bool backwards, uint32_t *relaxed) {
    int64_t gain = 0;
    for (uint32_t i = 0; i < m; i++) {
        const uint32_t j = work->in_cell[backwards ? m - 1 - i : i];
        if (!work->stale[j]) continue;
        gain += relax_slot(work, j);
        ++*relaxed;
    }
    return gain;
}

/* Units move along the ring of predecessors that `last` is on. */
static void turn_ring(PhxAssignNear *work, const PhxAssignPart *part, uint32_t last) {
    const uint16_t unit = work->owner[last];
    uint32_t slot = last;
    for (; work->from[slot] != last; slot = work->from[slot])
        work->owner[slot] = work->owner[work->from[slot]];
    work->owner[slot] = unit;
    slot = last;
    do {
        const uint32_t before = work->from[slot];
        weigh(work, part, slot);
        work->from[slot] = NONE;
        slot = before;
    } while (slot != last);
}

/* Turns all rings of predecessors; they have no slot in common. (That's done after every sweep: around a ring
 * that isn't turned, potentials fall for nothing.) */
static void turn_rings(PhxAssignNear *work, const PhxAssignPart *part) {
    memset(work->mark, 0, sizeof *work->mark * part->m);
    for (uint32_t j = 0; j < part->m; j++) {
        uint32_t slot = j;
        while (slot != NONE && work->mark[slot] == 0) {
            work->mark[slot] = (uint16_t)(j + 1);
            slot = work->from[slot];
        }
        if (slot == NONE || work->mark[slot] != j + 1) continue;
        turn_ring(work, part, slot);
    }
}

static int64_t total(const PhxAssignNear *work, const PhxAssignPart *part) {
    int64_t sum = 0;
    for (uint32_t j = 0; j < part->m; j++)
        if (work->owner[j] != NONE) sum += phx_assign_cost(part->unit[work->owner[j]], part->slot[j]);
    return sum;
}

static void cancel_rings(PhxAssignNear *work, const PhxAssignPart *part) {
    memset(work->potential, 0, sizeof *work->potential * part->m);
    for (uint32_t j = 0; j < part->m; j++) {
        work->from[j] = NONE;
        weigh(work, part, j);
    }
    const int64_t cost = total(work, part), enough = cost >> GAIN_SHIFT;
    work->slack = cost / part->n / SLACK;
    uint32_t relaxed = 0;
    for (bool backwards = false; relaxed < ROUNDS * part->m; backwards = !backwards) {
        const int64_t gain = sweep(work, part->m, backwards, &relaxed);
        turn_rings(work, part);
        if (gain <= enough) return;
    }
}

void phx_assign_cycles(PhxAssignNear *work, const PhxAssignPart *part) {
    for (uint32_t j = 0; j < part->m; j++) work->owner[j] = NONE;
    for (uint32_t i = 0; i < part->n; i++) work->owner[part->slot_of[i]] = (uint16_t)i;
    change_pairs(work, part);
    cancel_rings(work, part);
    for (uint32_t j = 0; j < part->m; j++)
        if (work->owner[j] != NONE) part->slot_of[work->owner[j]] = (uint16_t)j;
}
