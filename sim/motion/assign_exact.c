/* assign_exact.c: the cheapest assignment of some units to slots, and of the cheapest the first.
 *
 * In: up to PHX_ASSIGN_EXACT units, at least as many slots. Out: the slot of each unit. Method: each unit
 * takes its nearest slot where that is free; the others are let in one by one along a shortest path of
 * changes, found as Dijkstra's algorithm does it on reduced costs (Jonker, Volgenant, "A shortest augmenting
 * path algorithm for dense and sparse linear assignment problems", 1987, the augmentation). Prices of slots
 * end up such that a unit's slot is one of the cheapest for it, cost plus price, and a free slot's price is
 * zero. Every assignment along such cheapest slots in which each slot of a price has an owner is of equal
 * cost, and no other is: among them the first in the order of ids is looked for, unit by unit.
 *
 * Cost: n units, m slots: n n m steps at most; 64 on 64 take some tens of microseconds.
 *
 * Determinism: integers. Of equal distances the least slot is taken, but the result doesn't hang on that.
 * Costs are below 2^59. As a free slot has price zero, no price is above the greatest cost, nor a distance
 * above twice that: no sum here exceeds 2^62.
 */
#include <string.h>

#include "base/assert.h"
#include "motion/assign_parts.h"

enum { OPEN, DONE, TO_OWN = DONE, TO_FREE };

static int64_t reduced(const PhxAssignExact *work, const PhxAssignPart *part, uint32_t unit, uint32_t slot) {
    return phx_assign_cost(part->unit[unit], part->slot[slot]) + work->price[slot];
}

/* The open slot of the least distance; of equal ones the least. */
static uint32_t nearest_open(const PhxAssignExact *work, uint32_t m) {
    uint32_t best = PHX_ASSIGN_NONE;
    for (uint32_t j = 0; j < m; j++)
        if (work->state[j] == OPEN && (best == PHX_ASSIGN_NONE || work->distance[j] < work->distance[best]))
            best = j;
    return best;
}

/* Owners along the path that ends in the free slot `end` move on by one. */
static void shift_owners(PhxAssignExact *work, const PhxAssignPart *part, uint32_t end, uint32_t entering) {
    for (uint32_t slot = end;;) {
        const uint32_t unit = work->from[slot], left = part->slot_of[unit];
        work->owner[slot] = (uint16_t)unit;
        part->slot_of[unit] = (uint16_t)slot;
        if (unit == entering) return;
        slot = left;
    }
}

static void let_in(PhxAssignExact *work, const PhxAssignPart *part, uint32_t entering) {
    for (uint32_t j = 0; j < part->m; j++) {
        work->distance[j] = reduced(work, part, entering, j);
        work->from[j] = (uint16_t)entering;
        work->state[j] = OPEN;
    }
    uint32_t slot, done = 0;
    while (slot = nearest_open(work, part->m), work->owner[slot] != PHX_ASSIGN_NONE) {
        const uint32_t unit = work->owner[slot];
        const int64_t saved = reduced(work, part, unit, slot) - work->distance[slot];
        work->state[slot] = DONE;
        work->list[done++] = (uint16_t)slot;
        for (uint32_t j = 0; j < part->m; j++) {
            if (work->state[j] == DONE) continue;
            const int64_t distance = reduced(work, part, unit, j) - saved;
            if (distance < work->distance[j]) work->distance[j] = distance, work->from[j] = (uint16_t)unit;
        }
    }
    for (uint32_t i = 0; i < done; i++)
        work->price[work->list[i]] += work->distance[slot] - work->distance[work->list[i]];
    shift_owners(work, part, slot, entering);
}

static void take_nearest(PhxAssignExact *work, const PhxAssignPart *part) {
    for (uint32_t i = 0; i < part->n; i++) {
        uint32_t best = 0;
        for (uint32_t j = 1; j < part->m; j++)
            if (reduced(work, part, i, j) < reduced(work, part, i, best)) best = j;
        part->slot_of[i] = PHX_ASSIGN_NONE;
        if (work->owner[best] != PHX_ASSIGN_NONE) continue;
        work->owner[best] = (uint16_t)i;
        part->slot_of[i] = (uint16_t)best;
    }
}

/* Whether the slot is one of the unit's cheapest. */
static bool tight(const PhxAssignExact *work, const PhxAssignPart *part, uint32_t unit, uint32_t slot) {
    return reduced(work, part, unit, slot) == reduced(work, part, unit, part->slot_of[unit]);
}

/* Marks whatever leads to the slots of the list from `begin` on: each slot whose unit, behind `unit`, may
 * enter one of those marked before, and notes which. Returns the end of the list. */
static uint32_t trace_back(PhxAssignExact *work, const PhxAssignPart *part, uint32_t unit, uint8_t mark,
                           uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; i++) {
        work->state[work->list[i]] = mark;
        for (uint32_t k = unit + 1; k < part->n; k++) {
            const uint32_t slot = part->slot_of[k];
            if (work->state[slot] != OPEN || !tight(work, part, k, work->list[i])) continue;
            work->state[slot] = mark;
            work->next[k] = work->list[i];
            work->list[end++] = (uint16_t)slot;
        }
    }
    return end;
}

/* Marks TO_OWN each slot from which units behind `unit` may move on in a chain to the unit's own slot, and
 * TO_FREE those from which only to a free one; the latter if a slot free of charge would then be left empty:
 * the own one, or, its owner and others moving up to the own one, another. Returns that slot. */
static uint32_t find_openings(PhxAssignExact *work, const PhxAssignPart *part, uint32_t unit) {
    memset(work->state, OPEN, part->m);
    work->list[0] = part->slot_of[unit];
    const uint32_t end = trace_back(work, part, unit, TO_OWN, 0, 1);
    uint32_t left = 0;
    while (left < end && work->price[work->list[left]] != 0) left++;
    if (left == end) return PHX_ASSIGN_NONE;
    uint32_t last = end;
    for (uint32_t j = 0; j < part->m; j++)
        if (work->owner[j] == PHX_ASSIGN_NONE) work->list[last++] = (uint16_t)j;
    (void)trace_back(work, part, unit, TO_FREE, end, last);
    return work->list[left];
}

/* The unit at `left` moves on, and whoever it meets, as find_openings noted, `unit` to `slot`. A chain that
 * leads to a free slot and one that leads to the own one have no slot in common, or the first would lead to
 * the own one, too. */
static void change_over(PhxAssignExact *work, const PhxAssignPart *part, uint32_t left, uint32_t unit,
                        uint32_t slot) {
    uint32_t mover = work->owner[left];
    work->owner[left] = PHX_ASSIGN_NONE;
    work->next[unit] = (uint16_t)slot;
    while (mover != PHX_ASSIGN_NONE) {
        const uint32_t to = work->next[mover], pushed = work->owner[to];
        work->owner[to] = (uint16_t)mover;
        part->slot_of[mover] = (uint16_t)to;
        mover = pushed;
    }
}

/* The unit takes the first slot that an assignment of equal cost gives it, units before it staying. */
static void take_first(PhxAssignExact *work, const PhxAssignPart *part, uint32_t unit) {
    const uint32_t own = part->slot_of[unit];
    uint32_t j = 0;
    while (j < own && !tight(work, part, unit, j)) j++;
    if (j == own) return;
    const uint32_t left = find_openings(work, part, unit);
    while (j < own && (work->state[j] == OPEN || !tight(work, part, unit, j))) j++;
    if (j < own) change_over(work, part, work->state[j] == TO_OWN ? own : left, unit, j);
}

void phx_assign_exact(PhxAssignExact *work, const PhxAssignPart *part) {
    PHX_ASSERT(part->n <= PHX_ASSIGN_EXACT && part->n <= part->m, part->n, part->m);
    memset(work->price, 0, sizeof *work->price * part->m);
    for (uint32_t j = 0; j < part->m; j++) work->owner[j] = PHX_ASSIGN_NONE;
    take_nearest(work, part);
    for (uint32_t i = 0; i < part->n; i++)
        if (part->slot_of[i] == PHX_ASSIGN_NONE) let_in(work, part, i);
    for (uint32_t i = 0; i < part->n; i++) take_first(work, part, i);
}
