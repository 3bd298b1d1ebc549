/* assign_cells.c: which slots lie near each other, and near a unit.
 *
 * In: the slots. Out: a grid of cells over them, for each slot its links, the slots nearest to it; and, where
 * there are slots to spare, a first assignment by an auction for the slots near each unit (Bertsekas, "The
 * auction algorithm: a distributed relaxation method for the assignment problem", 1988): a unit takes the
 * slot that is cheapest to it, price and cost, and raises the price until another would be as cheap; whoever
 * was there bids anew. That's as good as optimal where units stand among slots of which many stay empty;
 * where few do, wars of prices don't end within the bids that are granted, and halves do better.
 *
 * Cost: linear in the slots and units; of crowded cells only a sample is looked at.
 *
 * Determinism: integers; slots in a cell ascend, the nearest are first by (distance, number), and units bid
 * in the order of their numbers, whoever was outbid first.
 */
#include <string.h>

#include "motion/assign_parts.h"

enum {
    LINKS = PHX_ASSIGN_LINKS,
    WANTED = PHX_ASSIGN_WANTED,
    NONE = PHX_ASSIGN_NONE,
    PER_CELL = 2,   /* slots in a cell, about */
    LOOKED_AT = 32, /* of more slots in three cells beside each other, only so many are looked at */
    MORE = 32,      /* a bid is raised by this part of the mean cost */
    BIDS = 32,      /* a unit, in the mean */
    WAITING = 4,    /* the part of the units that may be left without a slot then */
};

/* Cells are 2^shift steps wide, with about PER_CELL slots each or up to four times as many. */
static void sort_into_cells(PhxAssignNear *work, const PhxAssignPart *part) {
    const uint32_t most = part->m / PER_CELL;
    uint32_t x = 0, y = 0;
    for (uint32_t j = 0; j < part->m; j++) {
        if ((uint32_t)part->slot[j].x > x) x = (uint32_t)part->slot[j].x;
        if ((uint32_t)part->slot[j].y > y) y = (uint32_t)part->slot[j].y;
    }
    PhxAssignCells cells = {0};
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
    work->cells = cells;
}

/* The nearest slots found so far, by (distance, number). */
typedef struct Nearest {
    uint32_t count;
    uint32_t most; /* <= WANTED */
    int64_t distance[WANTED];
    uint16_t slot[WANTED];
} Nearest;

static void consider(Nearest *nearest, int64_t distance, uint16_t slot) {
    uint32_t i = nearest->count;
    if (i == nearest->most) {
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

static void consider_row(const PhxAssignNear *work, const PhxAssignPart *part, PhxVec2 at, uint32_t but,
                         uint32_t begin, uint32_t end, Nearest *nearest) {
    const uint32_t step = 1 + (end - begin) / LOOKED_AT;
    for (uint32_t i = begin; i < end; i += step) {
        const uint16_t slot = work->in_cell[i];
        if (slot != but) consider(nearest, phx_assign_cost(at, part->slot[slot]), slot);
    }
}

/* The slots nearest to a point in cell (cx, cy), but one, of that cell and those around it. */
static void consider_around(const PhxAssignNear *work, const PhxAssignPart *part, PhxVec2 at, uint32_t but,
                            uint32_t cx, uint32_t cy, Nearest *nearest) {
    const PhxAssignCells *cells = &work->cells;
    const uint32_t first = cx > 0 ? cx - 1 : 0, last = cx + 1 < cells->width ? cx + 1 : cx;
    for (uint32_t y = cy > 0 ? cy - 1 : 0; y <= cy + 1 && y < cells->height; y++)
        consider_row(work, part, at, but, work->cell_start[y * cells->width + first],
                     work->cell_start[y * cells->width + last + 1], nearest);
}

/* Links of a slot: the nearest in its cell and those around it. Where that makes too few, also those before
 * and behind in the order of cells, so that none stays without links. */
static void link_slot(PhxAssignNear *work, const PhxAssignPart *part, uint32_t place) {
    Nearest nearest = {.most = LINKS};
    const uint32_t j = work->in_cell[place], cell = work->cell_of[j];
    consider_around(work, part, part->slot[j], j, cell % work->cells.width, cell / work->cells.width,
                    &nearest);
    for (uint32_t away = 1; nearest.count < LINKS; away++) {
        nearest.slot[nearest.count++] = work->in_cell[place >= away ? place - away : place];
        if (nearest.count < LINKS)
            nearest.slot[nearest.count++] = work->in_cell[place + away < part->m ? place + away : place];
    }
    memcpy(work->link[j], nearest.slot, sizeof work->link[j]);
}

void phx_assign_link(PhxAssignNear *work, const PhxAssignPart *part) {
    sort_into_cells(work, part);
    for (uint32_t i = 0; i < part->m; i++) link_slot(work, part, i);
}

/* The slots nearest to a unit, of the cells around it, into its row of `wanted`. */
static void list_wanted(PhxAssignNear *work, const PhxAssignPart *part, uint32_t unit) {
    const PhxAssignCells *cells = &work->cells;
    const PhxVec2 at = part->unit[unit];
    uint32_t cx = (uint32_t)at.x >> cells->shift, cy = (uint32_t)at.y >> cells->shift;
    Nearest nearest = {.most = WANTED};
    if (cx >= cells->width) cx = cells->width - 1;
    if (cy >= cells->height) cy = cells->height - 1;
    consider_around(work, part, at, NONE, cx, cy, &nearest);
    for (uint32_t k = 0; k < WANTED; k++) work->wanted[unit][k] = k < nearest.count ? nearest.slot[k] : NONE;
}

/* A unit bids for the slot that is cheapest to it, by so much that it could do without it, and a little more.
 * Returns the unit that was there, or NONE; the unit itself where it wants none. */
static uint32_t bid(PhxAssignNear *work, const PhxAssignPart *part, uint32_t unit, int64_t more) {
    int64_t best = INT64_MAX, second = INT64_MAX;
    uint32_t slot = NONE;
    for (uint32_t k = 0; k < WANTED && work->wanted[unit][k] != NONE; k++) {
        const uint32_t to = work->wanted[unit][k];
        const int64_t cost = phx_assign_cost(part->unit[unit], part->slot[to]) + work->potential[to];
        if (cost < best)
            second = best, best = cost, slot = to;
        else if (cost < second)
            second = cost;
    }
    if (slot == NONE) return unit;
    work->potential[slot] += (second == INT64_MAX ? 0 : second - best) + more;
    const uint32_t before = work->owner[slot];
    work->owner[slot] = (uint16_t)unit;
    return before;
}

/* A unit takes the nearest slot that is free, of all. */
static void take_free(PhxAssignNear *work, const PhxAssignPart *part, uint16_t unit) {
    uint32_t best = NONE;
    int64_t least = INT64_MAX;
    for (uint32_t j = 0; j < part->m; j++) {
        const int64_t cost = phx_assign_cost(part->unit[unit], part->slot[j]);
        if (work->owner[j] == NONE && cost < least) best = j, least = cost;
    }
    work->owner[best] = unit;
}

bool phx_assign_auction(PhxAssignNear *work, const PhxAssignPart *part, uint16_t *slot_of) {
    int64_t least = 0;
    uint32_t waiting = 0, bids = 0;
    memset(work->potential, 0, sizeof *work->potential * part->m);
    for (uint32_t j = 0; j < part->m; j++) work->owner[j] = NONE;
    for (uint32_t i = part->n; i-- > 0;) {
        list_wanted(work, part, i);
        if (work->wanted[i][0] != NONE)
            least += phx_assign_cost(part->unit[i], part->slot[work->wanted[i][0]]);
        work->spare[waiting++] = (uint16_t)i;
    }
    const int64_t more = least / part->n / MORE + 1;
    while (waiting > 0 && bids++ < BIDS * part->n) {
        const uint32_t unit = work->spare[waiting - 1], out = bid(work, part, unit, more);
        if (out == unit) return false;
        waiting--;
        if (out != NONE) work->spare[waiting++] = (uint16_t)out;
    }
    if (waiting > part->n / WAITING) return false;
    for (uint32_t i = 0; i < waiting; i++) take_free(work, part, work->spare[i]);
    for (uint32_t j = 0; j < part->m; j++)
        if (work->owner[j] != NONE) slot_of[work->owner[j]] = (uint16_t)j;
    return true;
}
