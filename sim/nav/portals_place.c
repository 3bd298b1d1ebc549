/* portals_place.c: where portals lie, and the vertices that they make.
 *
 * In: the grid. Out: for each border of two sectors a word of 64 bits, the positions of its portals; for each
 * sector its vertices. The rule is in portals.h. A position is the distance from the border's upper or left
 * end.
 *
 * Cost: some microseconds a sector. Determinism: a pure function of the grid; a border's portals depend on
 * the cells of its two sectors only, and on both alike.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bitset.h"
#include "nav/portals_data.h"

enum {
    SIDE = PHX_SECTOR_SIDE,
    DEPTH = PHX_PORTAL_DEPTH,
    STRIP_RUNS = DEPTH * SIDE / 2,
    SHUT = 0xffff,
    CHEAP_REACH = 10, /* cells within which a portal serves a place, */
    CHEAP_BELOW = 2,  /* if it costs at most 3/2 of what that place costs */
    CHEAP_ABOVE = 3
};

/* The strip along a border, as words: strip[0] is the border's own row, bit i its position i. */
static void load_strip(const PhxSectorFrame *frame, const PhxNavGrid *grid, unsigned side,
                       uint64_t strip[DEPTH]) {
    memset(strip, 0, DEPTH * sizeof *strip);
    const bool across = side % 2 == 0; /* rows of the strip are columns of the map */
    const uint32_t depth = across ? frame->width : frame->height;
    const uint32_t length = across ? frame->height : frame->width;
    for (uint32_t row = 0; row < DEPTH && row < depth; row++) {
        const uint32_t from_edge = side < 2 ? depth - 1 - row : row;
        const uint32_t x = frame->x0 + (across ? from_edge : 0), y = frame->y0 + (across ? 0 : from_edge);
        const uint8_t *cost = grid->cost + (size_t)y * grid->width + x;
        const size_t step = across ? grid->width : 1;
        for (uint32_t i = 0; i < length; i++)
            strip[row] |= (uint64_t)(cost[i * step] != PHX_NAV_IMPASSABLE) << i;
    }
}

/* The bits of `bits` that follow each other from `from` on. */
static uint64_t run_at(uint64_t bits, unsigned from) {
    const uint64_t shut = ~bits >> from << from;
    const uint64_t below = shut ? (shut & (~shut + 1)) - 1 : ~(uint64_t)0;
    return below >> from << from;
}

static uint16_t root_of(const uint16_t *parent, uint16_t run) {
    while (parent[run] != run) run = parent[run];
    return run;
}

/* Runs of a strip, as in sector_ground.c; the parts of the border's own row go into `label`. */
static void label_strip(const uint64_t strip[DEPTH], uint16_t label[SIDE]) {
    uint64_t bits[STRIP_RUNS];
    uint16_t parent[STRIP_RUNS];
    uint32_t count = 0, above = 0, above_end = 0, border_runs = 0;
    for (int row = 0; row < DEPTH; row++) {
        const uint32_t begin = count;
        for (uint64_t left = strip[row]; left; count++) {
            bits[count] = run_at(left, phx_bit_lowest(left));
            parent[count] = (uint16_t)count;
            left &= ~bits[count];
            for (uint32_t i = above; i < above_end; i++) {
                if (!(bits[i] & bits[count])) continue;
                const uint16_t a = root_of(parent, (uint16_t)i), b = root_of(parent, (uint16_t)count);
                parent[a < b ? b : a] = a < b ? a : b;
            }
        }
        above = begin;
        above_end = count;
        if (row == 0) border_runs = count;
    }
    for (int i = 0; i < SIDE; i++) label[i] = SHUT;
    for (uint32_t run = 0; run < border_runs; run++) {
        const uint16_t root = root_of(parent, (uint16_t)run);
        for (uint64_t left = bits[run]; left; left &= left - 1) label[phx_bit_lowest(left)] = root;
    }
}

void phx_portals_label(PhxPortals *portals, const PhxNavGrid *grid, uint32_t sector) {
    const PhxSectorFrame frame = phx_sector_frame(portals->width, portals->height, sector);
    for (unsigned side = 0; side < 4; side++) {
        uint64_t strip[DEPTH];
        load_strip(&frame, grid, side, strip);
        label_strip(strip, portals->label[sector][side]);
    }
}

static unsigned highest(uint64_t word) {
    unsigned n = 0;
    while (word >>= 1) n++;
    return n;
}

/* The portals of one contact, whose positions are `contact`. */
static uint64_t choose_of_contact(uint64_t contact) {
    const unsigned from = phx_bit_lowest(contact), to = highest(contact), span = to - from;
    if (span < PHX_PORTAL_NARROW) {
        const uint64_t upper = contact >> (from + span / 2);
        return (uint64_t)1 << (from + span / 2 + phx_bit_lowest(upper));
    }
    const unsigned parts = (span + PHX_PORTAL_SPACING - 1) / PHX_PORTAL_SPACING;
    const unsigned step = (span + parts - 1) / parts;
    uint64_t chosen = (uint64_t)1 << from;
    for (unsigned at = from; at != to;) {
        const uint64_t beyond = contact >> at >> 1, near = beyond & (((uint64_t)1 << step) - 1);
        at += 1 + (near ? highest(near) : phx_bit_lowest(beyond));
        chosen |= (uint64_t)1 << at;
    }
    return chosen;
}

/* What a crossing at each position costs: of the two cells that face each other. */
static void load_costs(const PhxNavGrid *grid, uint32_t sector, unsigned side, uint16_t cost[SIDE]) {
    const PhxSectorFrame frame = phx_sector_frame(grid->width, grid->height, sector);
    const size_t along = side ? 1 : grid->width, across = side ? grid->width : 1;
    const uint32_t x = frame.x0 + (side ? 0 : frame.width - 1), y = frame.y0 + (side ? frame.height - 1 : 0);
    const uint8_t *at = grid->cost + (size_t)y * grid->width + x;
    const uint32_t length = side ? frame.width : frame.height;
    for (uint32_t i = 0; i < length; i++) cost[i] = (uint16_t)(at[i * along] + at[i * along + across]);
}

/* Positions of a contact by rising cost, then place. */
static uint32_t sort_by_cost(uint64_t contact, const uint16_t cost[SIDE], uint8_t order[SIDE]) {
    uint32_t count = 0;
    for (; contact; contact &= contact - 1) {
        const unsigned i = phx_bit_lowest(contact);
        uint32_t at = count++;
        for (; at > 0 && cost[order[at - 1]] > cost[i]; at--) order[at] = order[at - 1];
        order[at] = (uint8_t)i;
    }
    return count;
}

/* A cheap place (a road, a clearing) that has no portal of about its cost near gets one. */
static uint64_t add_cheap(uint64_t contact, uint64_t chosen, const uint16_t cost[SIDE]) {
    uint8_t order[SIDE];
    const uint32_t count = sort_by_cost(contact, cost, order);
    if (cost[order[0]] == cost[order[count - 1]]) return chosen;
    for (uint32_t n = 0; n < count; n++) {
        const unsigned i = order[n], low = i < CHEAP_REACH ? 0 : i - CHEAP_REACH;
        uint64_t near = chosen >> low << low;
        if (i + CHEAP_REACH + 1 < SIDE) near &= ((uint64_t)1 << (i + CHEAP_REACH + 1)) - 1;
        bool served = false;
        for (; near && !served; near &= near - 1)
            served = cost[phx_bit_lowest(near)] * CHEAP_BELOW <= cost[i] * CHEAP_ABOVE;
        if (!served) chosen |= (uint64_t)1 << i;
    }
    return chosen;
}

uint64_t phx_portals_choose(const PhxPortals *portals, const PhxNavGrid *grid, uint32_t sector,
                            unsigned side) {
    const uint32_t other = phx_portals_neighbour(portals, sector, side);
    if (other == UINT32_MAX) return 0;
    const uint16_t *here = portals->label[sector][side], *there = portals->label[other][side + 2];
    uint16_t cost[SIDE];
    uint64_t left = 0, chosen = 0;
    for (unsigned i = 0; i < SIDE; i++) left |= (uint64_t)(here[i] != SHUT && there[i] != SHUT) << i;
    load_costs(grid, sector, side, cost);
    while (left) {
        const unsigned first = phx_bit_lowest(left);
        uint64_t contact = 0;
        for (uint64_t rest = left; rest; rest &= rest - 1) {
            const unsigned i = phx_bit_lowest(rest);
            if (here[i] == here[first] && there[i] == there[first]) contact |= (uint64_t)1 << i;
        }
        chosen |= add_cheap(contact, choose_of_contact(contact), cost);
        left &= ~contact;
    }
    return chosen;
}

static uint32_t count_bits(uint64_t word) {
    uint32_t n = 0;
    for (; word; word &= word - 1) n++;
    return n;
}

uint32_t phx_portals_count_vertices(const PhxPortals *portals, uint32_t sector) {
    uint32_t count = 0;
    for (unsigned side = 0; side < 4; side++) count += count_bits(phx_portals_mask(portals, sector, side));
    return count;
}

void phx_portals_fill_vertices(const PhxPortals *portals, const PhxNavGrid *grid, uint32_t sector,
                               PhxPortalVertex *vertex) {
    const PhxSectorFrame frame = phx_sector_frame(portals->width, portals->height, sector);
    for (unsigned side = 0; side < 4; side++) {
        const uint32_t other = phx_portals_neighbour(portals, sector, side);
        if (other == UINT32_MAX) continue;
        const bool across = side % 2 == 0;
        const uint32_t edge = side >= 2 ? 0 : (across ? frame.width : frame.height) - 1;
        uint32_t partner = 0;
        for (unsigned before = 0; before < (side ^ 2); before++)
            partner += count_bits(phx_portals_mask(portals, other, before));
        for (uint64_t left = phx_portals_mask(portals, sector, side); left; left &= left - 1) {
            const uint32_t i = phx_bit_lowest(left), lx = across ? edge : i, ly = across ? i : edge;
            const uint32_t cell = (frame.y0 + ly) * portals->width + frame.x0 + lx;
            const uint32_t facing = (uint32_t)((int64_t)cell + phx_flow_dx[side * 2] +
                                               (int64_t)phx_flow_dy[side * 2] * portals->width);
            *vertex++ = (PhxPortalVertex){
                .cell = (uint16_t)phx_sector_local(lx, ly),
                .region = PHX_SECTOR_REGION_NONE,
                .partner_sector = (uint16_t)other,
                .partner = (uint8_t)partner++,
                .side = (uint8_t)side,
                .out_cost = (uint32_t)portals->weights.straight * grid->cost[facing],
                .cost = grid->cost[cell],
            };
        }
    }
}
