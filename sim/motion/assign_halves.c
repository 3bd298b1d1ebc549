/* assign_halves.c: a first assignment of many units to slots, by halving both sets in turn.
 *
 * In: a part of any size. Out: a slot for each unit, far from optimal where units stand among their slots and
 * within a few percent where they come from elsewhere. Method: the slots are parted in halves along the axis
 * on which units and slots extend more, the units in the same proportion and along the same axis, and so on
 * until a single slot is left: a discrete form of the monotone rearrangement (Knothe, 1957; Rosenblatt,
 * 1952). Where there are more slots than units, the same is done with the slots nearest to the middle of the
 * units alone, and with those that units win in an auction (assign_cells.c); the cheapest is taken, the
 * auction's own result being one of them.
 *
 * Cost: linear sorts of both sets by x and by y, kept in order as they are parted: (n + m) log m steps.
 *
 * Determinism: integers; sorts are stable over ascending ids.
 */
#include <string.h>

#include "base/assert.h"
#include "motion/assign_parts.h"

enum { DIGIT = PHX_ASSIGN_NEAR_BITS / 2, BUCKETS = 1 << DIGIT, DEPTH = 16 };

static uint32_t coordinate(const PhxVec2 *at, uint32_t axis, uint32_t i) {
    return (uint32_t)(axis ? at[i].y : at[i].x);
}

/* One pass of a counting sort by a digit, from `in` to `out`. */
static void sort_digit(PhxAssignNear *work, const PhxVec2 *at, uint32_t axis, uint32_t shift,
                       const uint16_t *in, uint16_t *out, uint32_t count) {
    memset(work->bucket, 0, sizeof work->bucket);
    for (uint32_t i = 0; i < count; i++) work->bucket[coordinate(at, axis, in[i]) >> shift & (BUCKETS - 1)]++;
    uint16_t start = 0;
    for (uint32_t b = 0; b < BUCKETS; b++) {
        const uint16_t size = work->bucket[b];
        work->bucket[b] = start;
        start = (uint16_t)(start + size);
    }
    for (uint32_t i = 0; i < count; i++)
        out[work->bucket[coordinate(at, axis, in[i]) >> shift & (BUCKETS - 1)]++] = in[i];
}

/* `list`, which ascends, in order of (coordinate, number). */
static void sort_by(PhxAssignNear *work, const PhxVec2 *at, uint32_t axis, uint16_t *list, uint32_t count) {
    sort_digit(work, at, axis, 0, list, work->spare, count);
    sort_digit(work, at, axis, DIGIT, work->spare, list, count);
}

/* A set in order of x and in order of y. */
typedef struct Sorted {
    const PhxVec2 *at;
    uint16_t *by[2];
} Sorted;

static uint32_t extent(const Sorted *set, uint32_t axis, uint32_t begin, uint32_t end) {
    if (begin == end) return 0;
    return coordinate(set->at, axis, set->by[axis][end - 1]) -
           coordinate(set->at, axis, set->by[axis][begin]);
}

/* Parts [begin, end) so that the first `lower` along `axis` come first, in both orders. */
static void part_range(PhxAssignNear *work, const Sorted *set, uint32_t axis, uint32_t begin, uint32_t end,
                       uint32_t lower) {
    const uint16_t *along = set->by[axis];
    uint16_t *across = set->by[!axis];
    for (uint32_t i = begin; i < end; i++) work->side[along[i]] = i - begin >= lower;
    uint32_t first = begin, second = 0;
    for (uint32_t i = begin; i < end; i++) {
        if (work->side[across[i]])
            work->spare[second++] = across[i];
        else
            across[first++] = across[i];
    }
    memcpy(across + first, work->spare, sizeof *across * second);
}

typedef struct Range {
    uint32_t unit, units, slot, slots;
} Range;

static void halve(PhxAssignNear *work, const Sorted *units, const Sorted *slots, uint32_t n, uint32_t m,
                  uint16_t *slot_of) {
    Range stack[DEPTH];
    uint32_t top = 0;
    stack[top++] = (Range){0, n, 0, m};
    while (top > 0) {
        const Range r = stack[--top];
        if (r.units == 0) continue;
        if (r.slots == 1) {
            slot_of[units->by[0][r.unit]] = slots->by[0][r.slot];
            continue;
        }
        const uint32_t unit_end = r.unit + r.units, slot_end = r.slot + r.slots;
        const uint32_t axis = extent(units, 1, r.unit, unit_end) + extent(slots, 1, r.slot, slot_end) >
                              extent(units, 0, r.unit, unit_end) + extent(slots, 0, r.slot, slot_end);
        const uint32_t few = r.slots / 2, lower = r.units * few / r.slots;
        part_range(work, slots, axis, r.slot, slot_end, few);
        part_range(work, units, axis, r.unit, unit_end, lower);
        PHX_ASSERT(top + 2 <= DEPTH, top, r.slots);
        stack[top++] = (Range){r.unit + lower, r.units - lower, r.slot + few, r.slots - few};
        stack[top++] = (Range){r.unit, lower, r.slot, few};
    }
}

/* The n slots nearest to the middle of the units, ascending, into `kept`: of equal distances the least slots.
 * The distance of the n-th is found bit by bit. */
static void keep_nearest(PhxAssignNear *work, const PhxAssignPart *part) {
    int64_t x = 0, y = 0;
    for (uint32_t i = 0; i < part->n; i++) x += part->unit[i].x, y += part->unit[i].y;
    const PhxVec2 middle = {(fix16_t)(x / part->n), (fix16_t)(y / part->n)};
    int64_t limit = 0; /* fewer than n slots are nearer than this */
    for (int64_t bit = (int64_t)1 << (2 * PHX_ASSIGN_NEAR_BITS); bit > 0; bit /= 2) {
        uint32_t nearer = 0;
        for (uint32_t j = 0; j < part->m; j++) nearer += phx_assign_cost(middle, part->slot[j]) < limit + bit;
        if (nearer < part->n) limit += bit;
    }
    uint32_t room = part->n, count = 0;
    for (uint32_t j = 0; j < part->m; j++) room -= phx_assign_cost(middle, part->slot[j]) < limit;
    for (uint32_t j = 0; j < part->m; j++) {
        const int64_t cost = phx_assign_cost(middle, part->slot[j]);
        if (cost > limit || (cost == limit && room == 0)) continue;
        if (cost == limit) room--;
        work->kept[count++] = (uint16_t)j;
    }
}

static int64_t total(const PhxAssignPart *part, const uint16_t *slot_of) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < part->n; i++) sum += phx_assign_cost(part->unit[i], part->slot[slot_of[i]]);
    return sum;
}

/* Halves all slots, or those in `kept`. */
static void halve_slots(PhxAssignNear *work, const PhxAssignPart *part, bool all, uint16_t *slot_of) {
    const Sorted units = {part->unit, {work->unit_by[0], work->unit_by[1]}};
    const Sorted slots = {part->slot, {work->slot_by[0], work->slot_by[1]}};
    const uint32_t count = all ? part->m : part->n;
    for (uint32_t axis = 0; axis < 2; axis++) {
        for (uint32_t i = 0; i < part->n; i++) work->unit_by[axis][i] = (uint16_t)i;
        for (uint32_t j = 0; j < count; j++) work->slot_by[axis][j] = all ? (uint16_t)j : work->kept[j];
        sort_by(work, part->unit, axis, work->unit_by[axis], part->n);
        sort_by(work, part->slot, axis, work->slot_by[axis], count);
    }
    halve(work, &units, &slots, part->n, count, slot_of);
}

/* Takes what is in `other`, if it's cheaper. */
static void take_cheaper(const PhxAssignNear *work, const PhxAssignPart *part) {
    if (total(part, work->other) < total(part, part->slot_of))
        memcpy(part->slot_of, work->other, sizeof *work->other * part->n);
}

void phx_assign_halves(PhxAssignNear *work, const PhxAssignPart *part) {
    halve_slots(work, part, true, part->slot_of);
    if (part->n == part->m) return;
    keep_nearest(work, part);
    halve_slots(work, part, false, work->other);
    take_cheaper(work, part);
    if (!phx_assign_auction(work, part, work->other)) return;
    take_cheaper(work, part);
    uint32_t count = 0;
    for (uint32_t j = 0; j < part->m; j++)
        if (work->owner[j] != PHX_ASSIGN_NONE) work->kept[count++] = (uint16_t)j;
    halve_slots(work, part, false, work->other);
    take_cheaper(work, part);
}
