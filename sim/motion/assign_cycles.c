/* assign_cycles.c: an assignment made better, by changes along cycles of neighbouring slots.
 *
 * In: an assignment. Out: one that is as good or better. Method: each slot is linked to some of the slots
 * nearest to it. First, units of linked slots change over in pairs where both together gain (2-opt). Then
 * negative cycles are cancelled (Klein, "A primal method for minimal cost flows", 1967): the weight of a link
 * is what it costs that a slot's unit moves along it, potentials are relaxed as Bellman and Ford do, and
 * where predecessors form a ring, the units on it move on. An empty slot moves for nothing. When nothing can
 * be relaxed, no assignment along the links is cheaper; potentials stay what they are after a change, which
 * is sound, as a ring of predecessors that were all set since is negative whatever they began with.
 *
 * It ends when what a sweep relaxed, in sum, is less than a 128th of the cost (about the most that could
 * still be gained), or when as many slots were relaxed as ROUNDS rounds of all would be: 8 links each, at
 * some 2.5 ns.
 *
 * Determinism: integers, steps are counted. Slots come in order of their numbers, forwards and backwards in
 * turn, links by (distance, number), rings by the least slot that leads into them. A weight is below 2^42
 * and a potential falls by no more than a weight a relaxation, of which there are less than 2^20: below 2^62.
 */
#include <string.h>

#include "motion/assign_parts.h"

enum {
    LINKS = PHX_ASSIGN_LINKS,
    NONE = PHX_ASSIGN_NONE,
    PER_CELL = 2,   /* slots in a cell, about */
    LOOKED_AT = 32, /* of more slots in three cells beside each other, only so many are looked at */
    PAIR_PASSES = 6,
    ROUNDS = 72,
    FIRST_SWEEPS = 2, /* before rings are looked for; doubled whenever none was found */
    GAIN_SHIFT = 7,
};

/* The cells of slots: 2^shift steps wide, about PER_CELL slots each or up to four times as many. */
typedef struct Cells {
    uint32_t shift, width, height;
} Cells;

static Cells sort_into_cells(PhxAssignNear *work, const PhxAssignPart *part) {
    const uint32_t most = part->m / PER_CELL;
    uint32_t x = 0, y = 0;
    for (uint32_t j = 0; j < part->m; j++) {
        if ((uint32_t)part->slot[j].x > x) x = (uint32_t)part->slot[j].x;
        if ((uint32_t)part->slot[j].y > y) y = (uint32_t)part->slot[j].y;
    }
    Cells cells = {0};
    while (cells.shift < PHX_ASSIGN_NEAR_BITS &&
           (uint64_t)((x >> cells.shift) + 1) * ((y >> cells.shift) + 1) > most)
        cells.shift++;
    cells.width = (x >> cells.shift) + 1, cells.height = (y >> cells.shift) + 1;
    uint16_t *start = work->cell_start;
    memset(start, 0, sizeof work->cell_start);
    for (uint32_t j = 0; j < part->m; j++) {
        const PhxVec2 at = part->slot[j];
        work->cell_of[j] =
            (uint16_t)(((uint32_t)at.y >> cells.shift) * cells.width + ((uint32_t)at.x >> cells.shift));
        start[work->cell_of[j]]++;
    }
    const uint32_t count = cells.width * cells.height;
    for (uint32_t c = 1; c <= count; c++) start[c] = (uint16_t)(start[c] + start[c - 1]);
    for (uint32_t j = part->m; j-- > 0;) work->in_cell[--start[work->cell_of[j]]] = (uint16_t)j;
    return cells;
}

/* The nearest slots found so far, by (distance, number). */
typedef struct Nearest {
    uint32_t count;
    int64_t distance[LINKS];
    uint16_t slot[LINKS];
} Nearest;

static void consider(Nearest *nearest, int64_t distance, uint16_t slot) {
    uint32_t i = nearest->count;
    if (i == LINKS) {
        if (distance > nearest->distance[i - 1] ||
            (distance == nearest->distance[i - 1] && slot > nearest->slot[i - 1]))
            return;
        i--;
    } else {
        nearest->count++;
    }
    for (; i > 0 && (nearest->distance[i - 1] > distance ||
                     (nearest->distance[i - 1] == distance && nearest->slot[i - 1] > slot));
         i--) {
        nearest->distance[i] = nearest->distance[i - 1];
        nearest->slot[i] = nearest->slot[i - 1];
    }
    nearest->distance[i] = distance;
    nearest->slot[i] = slot;
}

static void consider_row(const PhxAssignNear *work, const PhxAssignPart *part, uint32_t j, uint32_t begin,
                         uint32_t end, Nearest *nearest) {
    const uint32_t step = 1 + (end - begin) / LOOKED_AT;
    for (uint32_t i = begin; i < end; i += step) {
        const uint16_t slot = work->in_cell[i];
        if (slot != j) consider(nearest, phx_assign_cost(part->slot[j], part->slot[slot]), slot);
    }
}

/* Links of a slot: the nearest in its cell and those around it. Where that makes too few, also those before
 * and behind in the order of cells, so that none stays without links. */
static void link_slot(PhxAssignNear *work, const PhxAssignPart *part, const Cells *cells, uint32_t place) {
    Nearest nearest = {0};
    const uint32_t j = work->in_cell[place];
    const uint32_t cx = work->cell_of[j] % cells->width, cy = work->cell_of[j] / cells->width;
    const uint32_t first = cx > 0 ? cx - 1 : 0, last = cx + 1 < cells->width ? cx + 1 : cx;
    for (uint32_t y = cy > 0 ? cy - 1 : 0; y <= cy + 1 && y < cells->height; y++)
        consider_row(work, part, j, work->cell_start[y * cells->width + first],
                     work->cell_start[y * cells->width + last + 1], &nearest);
    for (uint32_t away = 1; nearest.count < LINKS; away++) {
        nearest.slot[nearest.count++] = work->in_cell[place >= away ? place - away : place];
        if (nearest.count < LINKS)
            nearest.slot[nearest.count++] = work->in_cell[place + away < part->m ? place + away : place];
    }
    memcpy(work->link[j], nearest.slot, sizeof nearest.slot);
}

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
        const int64_t potential = base + work->weight[j][k], lower = work->potential[to] - potential;
        if (lower <= 0) continue;
        work->potential[to] = potential;
        work->from[to] = (uint16_t)j;
        work->stale[to] = 1;
        if (lower > most) most = lower < GAIN_MAX ? lower : GAIN_MAX;
    }
    work->stale[j] = 0;
    return most;
}

/* One sweep over all slots whose potential fell or whose links were weighed anew since their last. */
static int64_t sweep(PhxAssignNear *work, uint32_t m, bool backwards, uint32_t *relaxed) {
    int64_t gain = 0;
    for (uint32_t i = 0; i < m; i++) {
        const uint32_t j = backwards ? m - 1 - i : i;
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

/* Turns all rings of predecessors; they have no slot in common. Returns how many. */
static uint32_t turn_rings(PhxAssignNear *work, const PhxAssignPart *part) {
    uint32_t rings = 0;
    memset(work->mark, 0, sizeof *work->mark * part->m);
    for (uint32_t j = 0; j < part->m; j++) {
        uint32_t slot = j;
        while (slot != NONE && work->mark[slot] == 0) {
            work->mark[slot] = (uint16_t)(j + 1);
            slot = work->from[slot];
        }
        if (slot == NONE || work->mark[slot] != j + 1) continue;
        turn_ring(work, part, slot);
        rings++;
    }
    return rings;
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
    const int64_t enough = total(work, part) >> GAIN_SHIFT;
    uint32_t relaxed = 0, sweeps = FIRST_SWEEPS;
    bool backwards = false;
    while (relaxed < ROUNDS * part->m) {
        int64_t gain = 0;
        for (uint32_t i = 0; i < sweeps && relaxed < ROUNDS * part->m; i++, backwards = !backwards) {
            gain = sweep(work, part->m, backwards, &relaxed);
            if (gain <= enough) break;
        }
        if (turn_rings(work, part) == 0) sweeps *= 2;
        if (gain <= enough) return;
    }
}

void phx_assign_cycles(PhxAssignNear *work, const PhxAssignPart *part) {
    const Cells cells = sort_into_cells(work, part);
    for (uint32_t i = 0; i < part->m; i++) link_slot(work, part, &cells, i);
    for (uint32_t j = 0; j < part->m; j++) work->owner[j] = NONE;
    for (uint32_t i = 0; i < part->n; i++) work->owner[part->slot_of[i]] = (uint16_t)i;
    change_pairs(work, part);
    cancel_rings(work, part);
    for (uint32_t j = 0; j < part->m; j++)
        if (work->owner[j] != NONE) part->slot_of[work->owner[j]] = (uint16_t)j;
}
