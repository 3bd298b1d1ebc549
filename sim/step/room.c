/* room.c: see room.h.
 *
 * Method: a flood from the anchor by straight distance finds the least disc, cut by walls, whose open ground
 * holds the group (each lattice point stands for its square of ground); it goes on to a margin around it. A
 * Dijkstra search from all vacant points at once, each with its own distance from the anchor as its price,
 * gives the ways: what a unit follows downhill ends at the vacant point for which way and price together are
 * least. A vacant point outside of the limit costs so much that no one stops there while one inside is left.
 * Both searches use one array of buckets, so that they are linear. Determinism: see room.h; the order within
 * a bucket has no influence on a value.
 */
#include "step/room.h"

#include <phalanx/walls.h>
#include <string.h>

#include "base/bitset.h"

enum {
    OPEN = 1,     /* ground without wall, joined with the anchor inside of the disc */
    STANDS = 2,   /* a body can stand here without touching a wall */
    YIELDS = 4,   /* covered by places that can move up, and by no others */
    BLOCKED = 8,  /* covered by something that doesn't */
    REACHED = 16, /* by the flood */
    SPACING_MIN = 1 << 14,
    SLACK = 1 << 10,      /* raw: bodies may be told to stand so much too near; they settle side by side */
    PRICE = 15,           /* tenths of a step of way that a step nearer to the anchor is worth */
    OUTSIDE = 20000,      /* price of a place outside of the limit */
    OVER_PLACES = 12,     /* a step over places costs so many steps */
    MARGIN = 64,          /* quarters of a step: around two discs, so that ways around walls are seen */
    STEPS_LIMIT = 181 * 4 /* the window's half diagonal, in quarters of a step */
};

void phx_room_layout(PhxRoom *room, PhxArena *arena) {
    PhxRoom made = {.open = PHX_ARENA_ARRAY(arena, uint8_t, PHX_ROOM_POINTS)};
    made.value = PHX_ARENA_ARRAY(arena, uint32_t, PHX_ROOM_POINTS);
    made.owner = PHX_ARENA_ARRAY(arena, uint32_t, PHX_ROOM_POINTS);
    made.gap = PHX_ARENA_ARRAY(arena, uint32_t, PHX_ROOM_POINTS);
    made.next = PHX_ARENA_ARRAY(arena, uint32_t, PHX_ROOM_POINTS);
    made.prev = PHX_ARENA_ARRAY(arena, uint32_t, PHX_ROOM_POINTS);
    made.head = PHX_ARENA_ARRAY(arena, uint32_t, PHX_ROOM_LEVELS);
    made.used = PHX_ARENA_ARRAY(arena, uint64_t, PHX_ROOM_LEVELS / 64);
    made.quarters = PHX_ARENA_ARRAY(arena, uint16_t, PHX_ROOM_POINTS);
    made.touched = PHX_ARENA_ARRAY(arena, uint32_t, PHX_ROOM_POINTS);
    if (!room) return;
    *room = made;
    if (!made.head) return;
    memset(made.head, 0xff, PHX_ROOM_LEVELS * sizeof *made.head);
    memset(made.owner, 0xff, PHX_ROOM_POINTS * sizeof *made.owner);
    memset(made.value, 0xff, PHX_ROOM_POINTS * sizeof *made.value);
}

/* Adds to what is known of a point, and remembers to clear it. */
static void mark(PhxRoom *room, uint32_t point, unsigned bits) {
    if (room->open[point] == 0) room->touched[room->touched_count++] = point;
    room->open[point] |= (uint8_t)bits;
}

/* As after layout: only what the last room touched has to be cleared. Its buckets are empty. */
static void clear(PhxRoom *room) {
    for (uint32_t i = 0; i < room->touched_count; i++) {
        const uint32_t point = room->touched[i];
        room->open[point] = 0;
        room->owner[point] = room->value[point] = PHX_ROOM_NONE;
    }
    room->touched_count = 0;
}

/* A power of two from 3/8 to 3/4 of the radius, but a quarter of a cell at least, so that some line of points
 * passes every gap that a body passes. */
static uint32_t spacing_of(fix16_t radius) {
    uint32_t spacing = SPACING_MIN;
    while (8 * (int64_t)spacing <= 3 * (int64_t)radius) spacing *= 2;
    return spacing;
}

fix16_t phx_room_reach(fix16_t radius) {
    return (fix16_t)(spacing_of(radius) * (uint32_t)(PHX_ROOM_SIDE / 2 - 2));
}

PhxVec2 phx_room_position(const PhxRoom *room, uint32_t point) {
    return phx_vec2((fix16_t)(room->base.x + (int64_t)(point % PHX_ROOM_SIDE) * room->spacing),
                    (fix16_t)(room->base.y + (int64_t)(point / PHX_ROOM_SIDE) * room->spacing));
}

/* The lattice's coordinates nearest to a raw coordinate; may lie outside of the window. */
static int64_t lattice_of(const PhxRoom *room, fix16_t at, fix16_t base) {
    return phx_div_round((int64_t)at - base, room->spacing);
}

static bool in_window(int64_t i, int64_t j) {
    return i >= 0 && j >= 0 && i < PHX_ROOM_SIDE && j < PHX_ROOM_SIDE;
}

/* Distance of a point from the anchor, in quarters of a step. */
static uint32_t quarters_to_anchor(const PhxRoom *room, uint32_t point) {
    const PhxVec2 to = phx_vec2_sub(phx_room_position(room, point), room->anchor);
    return (uint32_t)(4u * (uint64_t)phx_vec2_length(to) >> room->spacing_shift);
}

/* Buckets. */
static void put(PhxRoom *room, uint32_t level, uint32_t point) {
    const uint32_t first = room->head[level];
    room->next[point] = first;
    room->prev[point] = PHX_ROOM_NONE;
    if (first != PHX_ROOM_NONE) room->prev[first] = point;
    room->head[level] = point;
}

static void take(PhxRoom *room, uint32_t level, uint32_t point) {
    const uint32_t before = room->prev[point], behind = room->next[point];
    if (before == PHX_ROOM_NONE)
        room->head[level] = behind;
    else
        room->next[before] = behind;
    if (behind != PHX_ROOM_NONE) room->prev[behind] = before;
}

/* The neighbour of a point by flow code, or none beyond the window. */
static uint32_t neighbour(uint32_t point, int code) {
    const int32_t i = (int32_t)(point % PHX_ROOM_SIDE) + phx_flow_dx[code];
    const int32_t j = (int32_t)(point / PHX_ROOM_SIDE) + phx_flow_dy[code];
    return in_window(i, j) ? (uint32_t)(j * PHX_ROOM_SIDE + i) : PHX_ROOM_NONE;
}

bool phx_room_can_stand(const PhxRoom *room, PhxVec2 at) {
    const PhxRoomGround *ground = &room->ground;
    const uint32_t cell = phx_cost_cell_of(&ground->plane, ground->size, at.x, at.y);
    return ground->plane.cost[cell] != PHX_NAV_IMPASSABLE &&
           phx_walls_clear(&ground->solid, at, room->radius);
}

/* Whether the cell and the eight around it are open, so that no body of up to a cell's width touches a wall.
 */
static bool is_amid_open(const PhxRoomGround *ground, uint32_t cell) {
    const uint32_t width = ground->solid.width, x = cell % width, y = cell / width;
    if (x == 0 || y == 0 || x + 1 >= width || y + 1 >= ground->solid.height) return false;
    for (uint32_t row = cell - width; row <= cell + width; row += width)
        for (uint32_t c = row - 1; c <= row + 1; c++)
            if (ground->solid.cost[c] == PHX_NAV_IMPASSABLE) return false;
    return true;
}

static void classify(PhxRoom *room, uint32_t point) {
    const PhxVec2 at = phx_room_position(room, point);
    const uint32_t cell = phx_nav_cell_at(&room->ground.solid, at.x, at.y);
    const bool solid = cell == PHX_NAV_NO_CELL || room->ground.solid.cost[cell] == PHX_NAV_IMPASSABLE;
    const bool open =
        !solid && (room->ground.size > 1 || room->ground.plane.cost[cell] != PHX_NAV_IMPASSABLE);
    const bool easy = open && room->ground.size == 1 && is_amid_open(&room->ground, cell);
    const bool stands = open && (easy || phx_room_can_stand(room, at));
    const bool fine = room->spacing <= PHX_FIX_ONE; /* coarse points don't see thin walls */
    mark(room, point, (open && (fine || stands) ? OPEN : 0u) | (stands ? STANDS : 0u) | REACHED);
}

/* Floods by distance from the anchor. Level L holds what is joined with the anchor within distance L: the
 * levels below are drained before it is compared, so the order doesn't matter. */
static void flood(PhxRoom *room, uint32_t from, uint64_t points_wanted) {
    uint64_t points = 0;
    uint32_t level = 0, last = STEPS_LIMIT, low;
    room->disc = STEPS_LIMIT;
    classify(room, from);
    room->quarters[from] = (uint16_t)(low = quarters_to_anchor(room, from));
    put(room, low, from);
    for (level = low; level <= last; level++) {
        for (uint32_t at = low < level ? low : level; at <= level;) {
            const uint32_t point = room->head[at];
            if (point == PHX_ROOM_NONE) {
                at++;
                continue;
            }
            take(room, at, point);
            if ((room->open[point] & OPEN) == 0) continue;
            points++;
            for (int code = 0; code < 8; code += 2) {
                const uint32_t n = neighbour(point, code);
                if (n == PHX_ROOM_NONE || (room->open[n] & REACHED) != 0) continue;
                classify(room, n);
                const uint32_t where = room->quarters[n] = (uint16_t)quarters_to_anchor(room, n);
                if (where > last) continue;
                put(room, where, n);
                if (where < at) at = where;
            }
        }
        low = level;
        if (room->disc == STEPS_LIMIT && points >= points_wanted) {
            room->disc = level;
            last = 2 * level + MARGIN < STEPS_LIMIT ? 2 * level + MARGIN : STEPS_LIMIT;
        }
    }
    for (uint32_t l = 0; l <= STEPS_LIMIT; l++) room->head[l] = PHX_ROOM_NONE;
    room->flooded = last;
}

fix16_t phx_room_flooded(const PhxRoom *room) {
    return (fix16_t)((uint64_t)(room->flooded + 4) * room->spacing / 4);
}

/* The point nearest to the anchor, and where a body can stand; among those around it. */
static uint32_t nearest_to_anchor(const PhxRoom *room) {
    enum { AROUND = 4 };
    const int64_t ci = lattice_of(room, room->anchor.x, room->base.x);
    const int64_t cj = lattice_of(room, room->anchor.y, room->base.y);
    uint64_t best = UINT64_MAX;
    uint32_t found = PHX_ROOM_NONE;
    for (int64_t j = cj - AROUND; j <= cj + AROUND; j++)
        for (int64_t i = ci - AROUND; i <= ci + AROUND; i++) {
            if (!in_window(i, j)) continue;
            const uint32_t point = (uint32_t)(j * PHX_ROOM_SIDE + i);
            if ((room->open[point] & STANDS) == 0) continue;
            const uint64_t distance_sq = phx_vec2_distance_sq(phx_room_position(room, point), room->anchor);
            if (distance_sq < best) best = distance_sq, found = point;
        }
    return found;
}

void phx_room_begin(PhxRoom *room, const PhxRoomGround *ground, PhxVec2 anchor, fix16_t radius,
                    uint64_t area) {
    const uint32_t spacing = spacing_of(radius);
    const int64_t half = (int64_t)spacing * (PHX_ROOM_SIDE / 2),
                  offset = spacing >= PHX_FIX_ONE ? PHX_FIX_ONE / 2 : 0;
    room->ground = *ground;
    room->anchor = anchor;
    room->radius = radius;
    room->spacing = spacing;
    room->spacing_shift = 0;
    while (spacing >> room->spacing_shift > 1) room->spacing_shift++;
    /* on multiples of the spacing, or on centres of cells; positions stay far within 32 bits */
    room->base.x =
        (fix16_t)((((int64_t)anchor.x + (1 << 30)) / spacing) * spacing - (1 << 30) - half + offset);
    room->base.y =
        (fix16_t)((((int64_t)anchor.y + (1 << 30)) / spacing) * spacing - (1 << 30) - half + offset);
    clear(room);
    /* pi * area / 0.8, in squares of the lattice: 201 / 64 * 5 / 4 */
    const uint64_t square = (uint64_t)spacing * spacing;
    const uint64_t wanted = area / square * 1005 / 256 + 1;
    const int64_t i = lattice_of(room, anchor.x, room->base.x), j = lattice_of(room, anchor.y, room->base.y);
    flood(room, (uint32_t)(j * PHX_ROOM_SIDE + i), wanted);
    room->start = nearest_to_anchor(room);
}

void phx_room_occupy(PhxRoom *room, PhxVec2 spot, fix16_t radius, uint32_t slot, bool yields) {
    const int64_t cover = (int64_t)room->radius + radius - SLACK, near = phx_room_flooded(room) + cover;
    if (phx_vec2_distance_sq(spot, room->anchor) > (uint64_t)(near * near)) return;
    const int64_t ci = lattice_of(room, spot.x, room->base.x), cj = lattice_of(room, spot.y, room->base.y);
    const int64_t reach = cover / room->spacing + 1;
    for (int64_t j = cj - reach; j <= cj + reach; j++)
        for (int64_t i = ci - reach; i <= ci + reach; i++) {
            if (!in_window(i, j)) continue;
            const uint32_t point = (uint32_t)(j * PHX_ROOM_SIDE + i);
            const uint64_t distance_sq = phx_vec2_distance_sq(phx_room_position(room, point), spot);
            if (distance_sq >= (uint64_t)(cover * cover)) continue;
            const uint32_t gap = (uint32_t)(distance_sq >> 16); /* below 2^44 >> 16 */
            mark(room, point, yields ? YIELDS : BLOCKED);
            if (room->owner[point] != PHX_ROOM_NONE &&
                (room->gap[point] < gap || (room->gap[point] == gap && room->owner[point] < slot)))
                continue;
            room->owner[point] = slot;
            room->gap[point] = gap;
        }
}

bool phx_room_vacant(const PhxRoom *room, uint32_t point) {
    return (room->open[point] & (OPEN | STANDS | YIELDS | BLOCKED)) == (OPEN | STANDS);
}

static bool passable(const PhxRoom *room, uint32_t point) {
    return (room->open[point] & (OPEN | STANDS | BLOCKED)) == (OPEN | STANDS);
}

bool phx_room_outside(const PhxRoom *room, PhxVec2 at) {
    /* The limit is 1.25 discs; a distance, rounded down, is beyond L exactly if its square is (L + 1)^2 or
     * more. */
    const uint64_t beyond = 5 * (uint64_t)room->disc * room->spacing / 16 + 1;
    return phx_vec2_distance_sq(at, room->anchor) >= beyond * beyond;
}

bool phx_room_has_place_inside(const PhxRoom *room, PhxVec2 at) {
    const uint32_t point = phx_room_point(room, at);
    return point != PHX_ROOM_NONE && room->value[point] < OUTSIDE;
}

static uint32_t price_of(const PhxRoom *room, uint32_t point) {
    const uint32_t quarters =
        room->quarters[point]; /* whoever asks, asks of a point that the flood reached */
    return quarters * PRICE / 4 + (phx_room_outside(room, phx_room_position(room, point)) ? OUTSIDE : 0);
}

/* Value of a step onto a point, in code's direction. */
static uint32_t step_value(const PhxRoom *room, uint32_t onto, int code) {
    const uint32_t step = code % 2 ? PHX_ROOM_SCALE * 7 / 5 : PHX_ROOM_SCALE;
    return room->open[onto] & YIELDS ? OVER_PLACES * step : step;
}

/* The neighbour in code's direction that a body can go to, or none. */
static uint32_t step_from(const PhxRoom *room, uint32_t point, int code) {
    const uint32_t n = neighbour(point, code);
    if (n == PHX_ROOM_NONE || !passable(room, n)) return PHX_ROOM_NONE;
    if (code % 2 == 0) return n;
    const uint32_t a = neighbour(point, (code + 7) % 8), b = neighbour(point, (code + 1) % 8);
    return passable(room, a) && passable(room, b) ? n : PHX_ROOM_NONE;
}

static void relax(PhxRoom *room, uint32_t point, uint32_t value) {
    if (value >= PHX_ROOM_LEVELS || value >= room->value[point]) return;
    if (room->value[point] != PHX_ROOM_NONE) take(room, room->value[point], point);
    room->value[point] = value;
    put(room, value, point);
    phx_bitset_add(room->used, value);
}

void phx_room_solve(PhxRoom *room) {
    memset(room->used, 0, PHX_ROOM_LEVELS / 8);
    for (uint32_t i = 0; i < room->touched_count; i++)
        if (phx_room_vacant(room, room->touched[i]))
            relax(room, room->touched[i], price_of(room, room->touched[i]));
    for (uint32_t level = 0; level < PHX_ROOM_LEVELS;
         level = (uint32_t)phx_bitset_next(room->used, PHX_ROOM_LEVELS, level + 1))
        for (uint32_t point; (point = room->head[level]) != PHX_ROOM_NONE;) {
            take(room, level, point);
            for (int code = 0; code < 8; code++) {
                const uint32_t n = step_from(room, point, code);
                /* the way is walked from n to this point */
                if (n != PHX_ROOM_NONE) relax(room, n, level + step_value(room, point, code));
            }
        }
}

uint32_t phx_room_next(const PhxRoom *room, uint32_t point) {
    uint32_t best = point, least = room->value[point];
    if (phx_room_vacant(room, point) && least == price_of(room, point)) return point;
    for (int code = 0; code < 8; code++) {
        const uint32_t n = step_from(room, point, code);
        if (n == PHX_ROOM_NONE || room->value[n] == PHX_ROOM_NONE) continue;
        const uint32_t value = room->value[n] + step_value(room, n, code);
        if (value <= least && (best == point || value < least)) least = value, best = n;
    }
    return best;
}

uint32_t phx_room_point(const PhxRoom *room, PhxVec2 at) {
    const int64_t ci = lattice_of(room, at.x, room->base.x), cj = lattice_of(room, at.y, room->base.y);
    uint64_t best[2] = {UINT64_MAX, UINT64_MAX};
    uint32_t found[2] = {PHX_ROOM_NONE, PHX_ROOM_NONE};
    for (int64_t j = cj - 1; j <= cj + 1; j++)
        for (int64_t i = ci - 1; i <= ci + 1; i++) {
            if (!in_window(i, j)) continue;
            const uint32_t point = (uint32_t)(j * PHX_ROOM_SIDE + i);
            if (!passable(room, point) || room->value[point] == PHX_ROOM_NONE) continue;
            const int kind = phx_room_vacant(room, point) ? 0 : 1;
            const uint64_t distance_sq = phx_vec2_distance_sq(phx_room_position(room, point), at);
            if (distance_sq < best[kind]) best[kind] = distance_sq, found[kind] = point;
        }
    return found[0] != PHX_ROOM_NONE ? found[0] : found[1];
}
