/* room.c: see room.h.
 *
 * Method: a flood from the anchor by straight distance finds the least disc, cut by walls, whose open ground
 * holds the group (each lattice point stands for its square of ground); it goes on to a margin around it. A
 * Dijkstra search from all vacant points at once, each with its own distance from the anchor as its price,
 * gives the ways: what a unit follows downhill ends at the vacant point for which way and price together are
 * least. A vacant point outside of the limit costs so much that no one stops there while one inside is left.
 * Both searches use one array of buckets, so that they are linear.
 *
 * The flood is kept while no cell that it could have seen is another, the ways while the same occupants stand
 * at the same spots. The search stops where nothing more was asked for and goes on when something is: all
 * values below `level` are final, and a way from a point needs no others than its own and lower ones. So a
 * crowd that stands close by costs a small part of the room. Who takes a place while ways are asked for
 * changes which points are vacant, but no way: a bit of its own keeps the search as it began. Determinism:
 * see room.h; neither the order within a bucket nor how far the search has come has an influence on a value
 * that is read.
 */
#include "step/room.h"

#include <phalanx/walls.h>
#include <string.h>

#include "base/bitset.h"
#include "base/sort.h"

enum {
    OPEN = 1,     /* ground without wall, joined with the anchor inside of the disc */
    STANDS = 2,   /* a body can stand here without touching a wall */
    YIELDS = 4,   /* covered by places that can move up, and by no others */
    BLOCKED = 8,  /* covered by something that doesn't */
    REACHED = 16, /* by the flood */
    TAKEN = 32,   /* covered by a place that was taken when the ways were known */
    GROUND = OPEN | STANDS | REACHED,
    COVERED = YIELDS | BLOCKED | TAKEN,
    SPACING_MIN = 1 << 14,
    SLACK = 1 << 10,       /* raw: bodies may be told to stand so much too near; they settle side by side */
    PRICE = 15,            /* tenths of a step of way that a step nearer to the anchor is worth */
    FARTHER = 45,          /* what a step nearer is worth besides where that is outside of the limit */
    OUTSIDE = 20000,       /* price of a place outside of the limit */
    OVER_PLACES = 12,      /* a step over places costs so many steps */
    MARGIN = 64,           /* quarters of a step: around two discs, so that ways around walls are seen */
    STEPS_LIMIT = 181 * 4, /* the window's half diagonal, in quarters of a step */
    SOLID = 1,             /* bits of what is remembered of a cell: stops bodies; closed in the layer */
    CLOSED = 2
};
#define NO_VALUE UINT16_MAX

void phx_room_layout(PhxRoom *room, PhxArena *arena) {
    PhxRoom made = {.open = PHX_ARENA_ARRAY(arena, uint8_t, PHX_ROOM_POINTS)};
    made.price = PHX_ARENA_ARRAY(arena, uint16_t, PHX_ROOM_POINTS);
    made.reached = PHX_ARENA_ARRAY(arena, uint16_t, PHX_ROOM_POINTS);
    made.places = PHX_ARENA_ARRAY(arena, uint16_t, PHX_ROOM_POINTS);
    made.owner = PHX_ARENA_ARRAY(arena, uint32_t, PHX_ROOM_POINTS);
    made.gap = PHX_ARENA_ARRAY(arena, uint32_t, PHX_ROOM_POINTS);
    made.value = PHX_ARENA_ARRAY(arena, uint16_t, PHX_ROOM_POINTS);
    made.next = PHX_ARENA_ARRAY(arena, uint32_t, PHX_ROOM_POINTS);
    made.prev = PHX_ARENA_ARRAY(arena, uint32_t, PHX_ROOM_POINTS);
    made.head = PHX_ARENA_ARRAY(arena, uint32_t, PHX_ROOM_LEVELS);
    made.used = PHX_ARENA_ARRAY(arena, uint64_t, PHX_ROOM_LEVELS / 64);
    made.seen = PHX_ARENA_ARRAY(arena, uint8_t, PHX_ROOM_CELLS);
    made.occupants = PHX_ARENA_ARRAY(arena, PhxRoomOccupant, PHX_ROOM_OCCUPANTS);
    made.told = PHX_ARENA_ARRAY(arena, PhxRoomOccupant, PHX_ROOM_OCCUPANTS);
    if (!room) return;
    *room = made;
    if (!made.told) return;
    memset(made.head, 0xff, PHX_ROOM_LEVELS * sizeof *made.head);
    memset(made.used, 0, PHX_ROOM_LEVELS / 8);
    memset(made.open, 0, PHX_ROOM_POINTS);
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

/* The neighbour of a point by flow code, or none beyond the window. */
static uint32_t neighbour(uint32_t point, unsigned code) {
    const int32_t i = (int32_t)(point % PHX_ROOM_SIDE) + phx_flow_dx[code];
    const int32_t j = (int32_t)(point / PHX_ROOM_SIDE) + phx_flow_dy[code];
    return in_window(i, j) ? (uint32_t)(j * PHX_ROOM_SIDE + i) : PHX_ROOM_NONE;
}

/* Buckets. */
static void put(PhxRoom *room, uint32_t level, uint32_t point) {
    const uint32_t first = room->head[level];
    room->next[point] = first;
    room->prev[point] = PHX_ROOM_NONE;
    if (first != PHX_ROOM_NONE) room->prev[first] = point;
    room->head[level] = point;
}

static void pull(PhxRoom *room, uint32_t level, uint32_t point) {
    const uint32_t before = room->prev[point], behind = room->next[point];
    if (before == PHX_ROOM_NONE)
        room->head[level] = behind;
    else
        room->next[before] = behind;
    if (behind != PHX_ROOM_NONE) room->prev[behind] = before;
}

/* Forgets the ways: the buckets are empty then. */
static void forget_ways(PhxRoom *room) {
    for (size_t level = phx_bitset_next(room->used, PHX_ROOM_LEVELS, 0); level < PHX_ROOM_LEVELS;
         level = phx_bitset_next(room->used, PHX_ROOM_LEVELS, level + 1))
        room->head[level] = PHX_ROOM_NONE;
    memset(room->used, 0, PHX_ROOM_LEVELS / 8);
    room->ways_known = false;
}

/* Distance of a point from the anchor, in quarters of a step, rounded down; `guess`: that of a point beside
 * it, so that the root is found in a step or few. */
static uint32_t quarters_to_anchor(const PhxRoom *room, uint32_t point, uint32_t guess) {
    const uint64_t distance_sq = phx_vec2_distance_sq(phx_room_position(room, point), room->anchor);
    const uint32_t square = (uint32_t)(distance_sq >> (2 * room->spacing_shift - 4)); /* below 2^20 */
    uint32_t quarters = guess;
    while (quarters * quarters > square) quarters--;
    while ((quarters + 1) * (quarters + 1) <= square) quarters++;
    return quarters;
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

/* Takes a point into the window that holds all that the flood reached. */
static void widen(PhxRoom *room, uint32_t point) {
    const uint32_t i = point % PHX_ROOM_SIDE, j = point / PHX_ROOM_SIDE;
    if (i < room->i0) room->i0 = i;
    if (i > room->i1) room->i1 = i;
    if (j < room->j0) room->j0 = j;
    if (j > room->j1) room->j1 = j;
}

static void classify(PhxRoom *room, uint32_t point, uint32_t guess) {
    const PhxVec2 at = phx_room_position(room, point);
    const uint32_t cell = phx_nav_cell_at(&room->ground.solid, at.x, at.y);
    const bool solid = cell == PHX_NAV_NO_CELL || room->ground.solid.cost[cell] == PHX_NAV_IMPASSABLE;
    const bool open =
        !solid && (room->ground.size > 1 || room->ground.plane.cost[cell] != PHX_NAV_IMPASSABLE);
    const bool easy = open && room->ground.size == 1 && is_amid_open(&room->ground, cell);
    const bool stands = open && (easy || phx_room_can_stand(room, at));
    const bool fine = room->spacing <= PHX_FIX_ONE; /* coarse points don't see thin walls */
    room->open[point] = (uint8_t)((open && (fine || stands) ? OPEN : 0u) | (stands ? STANDS : 0u) | REACHED);
    room->price[point] = (uint16_t)quarters_to_anchor(room, point, guess);
    widen(room, point);
    room->reached[room->reached_count++] = (uint16_t)point;
}

/* Floods by distance from the anchor. Level L holds what is joined with the anchor within distance L: the
 * levels below are drained before it is compared, so the order doesn't matter. */
static void flood(PhxRoom *room, uint32_t from, uint64_t points_wanted) {
    uint64_t points = 0;
    uint32_t level = 0, last = STEPS_LIMIT, low;
    room->disc = STEPS_LIMIT;
    classify(room, from, 0);
    put(room, low = room->price[from], from);
    for (level = low; level <= last; level++) {
        for (uint32_t at = low < level ? low : level; at <= level;) {
            const uint32_t point = room->head[at];
            if (point == PHX_ROOM_NONE) {
                at++;
                continue;
            }
            pull(room, at, point);
            if ((room->open[point] & OPEN) == 0) continue;
            points++;
            for (unsigned code = 0; code < 8; code += 2) {
                const uint32_t n = neighbour(point, code);
                if (n == PHX_ROOM_NONE || (room->open[n] & REACHED) != 0) continue;
                classify(room, n, room->price[point]);
                const uint32_t where = room->price[n];
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

bool phx_room_outside(const PhxRoom *room, PhxVec2 at) {
    /* The limit is 1.25 discs; a distance, rounded down, is beyond L exactly if its square is (L + 1)^2 or
     * more. */
    const uint64_t beyond = 5 * (uint64_t)room->disc * room->spacing / 16 + 1;
    return phx_vec2_distance_sq(at, room->anchor) >= beyond * beyond;
}

static bool can_stand_at(const PhxRoom *room, uint32_t point) {
    const unsigned both = OPEN | STANDS;
    return (room->open[point] & both) == both;
}

/* What a way that ends at such a distance from the anchor costs besides: at most 20000 + 181 * 15 + 181 * 45
 * = 30860. */
static uint16_t price_at(const PhxRoom *room, uint32_t quarters, bool outside) {
    const uint32_t inside = quarters * PRICE / 4, limit = 5 * room->disc / 4;
    if (!outside) return (uint16_t)inside;
    return (uint16_t)(OUTSIDE + inside + (quarters > limit ? (quarters - limit) * FARTHER / 4 : 0));
}

/* Turns distances into prices, and lists the points where a body can stand by price: those inside of the
 * limit by distance, then those outside. */
static void price_places(PhxRoom *room) {
    uint32_t first[2 * (STEPS_LIMIT + 1) + 1] = {0};
    for (uint32_t i = 0; i < room->reached_count; i++) {
        const uint32_t point = room->reached[i];
        const bool outside = phx_room_outside(room, phx_room_position(room, point));
        if (outside) room->open[point] |= BLOCKED; /* until they are listed */
        if (can_stand_at(room, point)) first[room->price[point] + (outside ? STEPS_LIMIT + 1 : 0) + 1]++;
    }
    for (uint32_t key = 1; key <= 2 * (STEPS_LIMIT + 1); key++) first[key] += first[key - 1];
    room->place_count = first[2 * (STEPS_LIMIT + 1)];
    for (uint32_t i = 0; i < room->reached_count; i++) {
        const uint32_t point = room->reached[i], quarters = room->price[point];
        const bool outside = (room->open[point] & BLOCKED) != 0;
        room->open[point] &= GROUND;
        if (can_stand_at(room, point))
            room->places[first[quarters + (outside ? STEPS_LIMIT + 1 : 0)]++] = (uint16_t)point;
        room->price[point] = price_at(room, quarters, outside);
    }
}

/* The cell of a raw coordinate that may lie up to 2^30 below 0. */
static int32_t cell_of(int64_t raw) {
    return (int32_t)((raw + (1 << 30)) / PHX_FIX_ONE) - (1 << 30) / PHX_FIX_ONE;
}

/* Cells that the flood may have looked at, clipped to the map: those of its points, of bodies there, and
 * around them. */
static PhxCellRect cells_seen(const PhxRoom *room) {
    const int64_t steps =
        room->flooded / 4 + 2 < PHX_ROOM_SIDE / 2 ? room->flooded / 4 + 2 : PHX_ROOM_SIDE / 2;
    const int64_t reach = (steps + 2) * room->spacing + room->radius + 2 * PHX_FIX_ONE;
    const int32_t width = (int32_t)room->ground.solid.width, height = (int32_t)room->ground.solid.height;
    PhxCellRect cells = {cell_of(room->anchor.x - reach), cell_of(room->anchor.y - reach),
                         cell_of(room->anchor.x + reach) + 1, cell_of(room->anchor.y + reach) + 1};
    if (cells.x0 < 0) cells.x0 = 0;
    if (cells.y0 < 0) cells.y0 = 0;
    if (cells.x1 > width) cells.x1 = width;
    if (cells.y1 > height) cells.y1 = height;
    return cells;
}

static uint8_t look_at(const PhxRoomGround *ground, uint32_t cell) {
    return (uint8_t)((ground->solid.cost[cell] == PHX_NAV_IMPASSABLE ? SOLID : 0) |
                     (ground->plane.cost[cell] == PHX_NAV_IMPASSABLE ? CLOSED : 0));
}

/* Remembers the ground that was flooded; not where there is too much of it. */
static void remember_ground(PhxRoom *room) {
    const PhxCellRect cells = room->seen_cells = cells_seen(room);
    const PhxNavGrid *solid = &room->ground.solid, *plane = &room->ground.plane;
    room->ground_known = cells.x0 < cells.x1 && cells.y0 < cells.y1 && solid->width == plane->width &&
                         solid->height == plane->height &&
                         (int64_t)(cells.x1 - cells.x0) * (cells.y1 - cells.y0) <= PHX_ROOM_CELLS;
    if (!room->ground_known) return;
    uint8_t *seen = room->seen;
    for (int32_t y = cells.y0; y < cells.y1; y++)
        for (int32_t x = cells.x0; x < cells.x1; x++)
            *seen++ = look_at(&room->ground, (uint32_t)y * solid->width + (uint32_t)x);
}

/* Whether a flood of this ground would see what the last one saw. */
static bool is_same_ground(const PhxRoom *room, const PhxRoomGround *ground) {
    const PhxNavGrid *old = &room->ground.solid, *solid = &ground->solid, *plane = &ground->plane;
    if (!room->ground_known || ground->size != room->ground.size) return false;
    if (solid->width != old->width || solid->height != old->height) return false;
    if (plane->width != old->width || plane->height != old->height) return false;
    const PhxCellRect cells = room->seen_cells;
    const uint8_t *seen = room->seen;
    for (int32_t y = cells.y0; y < cells.y1; y++)
        for (int32_t x = cells.x0; x < cells.x1; x++)
            if (*seen++ != look_at(ground, (uint32_t)y * solid->width + (uint32_t)x)) return false;
    return true;
}

/* Where the lattice lies: on multiples of the spacing, or on centres of cells; positions stay far within 32
 * bits. */
static void place_lattice(PhxRoom *room) {
    const uint32_t spacing = spacing_of(room->radius);
    const int64_t half = (int64_t)spacing * (PHX_ROOM_SIDE / 2),
                  offset = spacing >= PHX_FIX_ONE ? PHX_FIX_ONE / 2 : 0;
    room->spacing = spacing;
    room->spacing_shift = 0;
    while (spacing >> room->spacing_shift > 1) room->spacing_shift++;
    room->base.x =
        (fix16_t)((((int64_t)room->anchor.x + (1 << 30)) / spacing) * spacing - (1 << 30) - half + offset);
    room->base.y =
        (fix16_t)((((int64_t)room->anchor.y + (1 << 30)) / spacing) * spacing - (1 << 30) - half + offset);
}

static void forget_ground(PhxRoom *room) {
    for (uint32_t j = room->j0; j <= room->j1; j++)
        memset(room->open + j * PHX_ROOM_SIDE + room->i0, 0, room->i1 - room->i0 + 1);
    room->reached_count = 0;
    room->i0 = room->j0 = PHX_ROOM_SIDE;
    room->i1 = room->j1 = 0;
}

void phx_room_begin(PhxRoom *room, const PhxRoomGround *ground, PhxVec2 anchor, fix16_t radius,
                    uint64_t area) {
    const uint64_t square = (uint64_t)spacing_of(radius) * spacing_of(radius);
    /* pi * area / 0.8, in squares of the lattice: 201 / 64 * 5 / 4 */
    const uint64_t wanted = area / square * 1005 / 256 + 1;
    const bool same = room->anchor.x == anchor.x && room->anchor.y == anchor.y && room->radius == radius &&
                      room->wanted == wanted && is_same_ground(room, ground);
    room->ground = *ground;
    room->told_count = 0;
    room->overflowed = false;
    if (same) return;
    room->anchor = anchor;
    room->radius = radius;
    room->wanted = wanted;
    place_lattice(room);
    forget_ways(room);
    forget_ground(room);
    const int64_t i = lattice_of(room, anchor.x, room->base.x), j = lattice_of(room, anchor.y, room->base.y);
    flood(room, (uint32_t)(j * PHX_ROOM_SIDE + i), wanted);
    room->start = nearest_to_anchor(room);
    price_places(room);
    remember_ground(room);
}

static bool occupant_less(const PhxRoomOccupant *a, const PhxRoomOccupant *b) { return a->slot < b->slot; }
PHX_DEFINE_SORT(sort_occupants, PhxRoomOccupant, occupant_less)

static bool is_same_occupant(const PhxRoomOccupant *a, const PhxRoomOccupant *b) {
    return a->slot == b->slot && a->spot.x == b->spot.x && a->spot.y == b->spot.y && a->radius == b->radius &&
           a->yields == b->yields;
}

/* Forgets the ways and who stood where; only the flood stays. */
static void vacate(PhxRoom *room) {
    const uint32_t width = room->i1 - room->i0 + 1;
    forget_ways(room);
    for (uint32_t j = room->j0; j <= room->j1; j++) {
        uint8_t *open = room->open + j * PHX_ROOM_SIDE + room->i0;
        for (uint32_t i = 0; i < width; i++) open[i] &= GROUND;
        memset(room->value + j * PHX_ROOM_SIDE + room->i0, 0xff, width * sizeof *room->value);
    }
    room->level = room->fresh = 0;
}

/* Says that a point is covered. The nearest place owns it; equally near: the lower slot. */
static void cover_point(PhxRoom *room, uint32_t point, unsigned bit, uint32_t gap, uint32_t slot) {
    const bool covered = (room->open[point] & COVERED) != 0;
    room->open[point] |= (uint8_t)bit;
    if (covered && (room->gap[point] < gap || (room->gap[point] == gap && room->owner[point] < slot))) return;
    room->owner[point] = slot;
    room->gap[point] = gap;
}

/* Marks the points around a place where no other body can stand, of those that the flood reached. */
static void cover(PhxRoom *room, const PhxRoomOccupant *by, unsigned bit) {
    const int64_t far = (int64_t)room->radius + by->radius - SLACK, far_sq = far * far;
    const int64_t ci = lattice_of(room, by->spot.x, room->base.x);
    const int64_t cj = lattice_of(room, by->spot.y, room->base.y);
    const int64_t reach = far / room->spacing + 1, spacing = room->spacing;
    const int64_t i0 = ci - reach > room->i0 ? ci - reach : room->i0;
    const int64_t j0 = cj - reach > room->j0 ? cj - reach : room->j0;
    const int64_t i1 = ci + reach < room->i1 ? ci + reach : room->i1;
    const int64_t j1 = cj + reach < room->j1 ? cj + reach : room->j1;
    for (int64_t j = j0; j <= j1; j++) {
        const int64_t dy = room->base.y + j * spacing - by->spot.y, dy_sq = dy * dy;
        int64_t dx = room->base.x + i0 * spacing - by->spot.x;
        for (int64_t i = i0; i <= i1; i++, dx += spacing) {
            const int64_t distance_sq = dx * dx + dy_sq;
            if (distance_sq >= far_sq) continue;
            cover_point(room, (uint32_t)(j * PHX_ROOM_SIDE + i), bit,
                        (uint32_t)(distance_sq >> 16) /* below 2^44 >> 16 */, by->slot);
        }
    }
}

/* Whether something has an influence on the room. */
static bool is_near(const PhxRoom *room, PhxVec2 spot, fix16_t radius) {
    const int64_t near = phx_room_flooded(room) + (int64_t)room->radius + radius - SLACK;
    return phx_vec2_distance_sq(spot, room->anchor) <= (uint64_t)(near * near);
}

static void cover_all(PhxRoom *room, const PhxRoomOccupant *all, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) cover(room, &all[i], all[i].yields ? YIELDS : BLOCKED);
}

void phx_room_tell(PhxRoom *room, PhxVec2 spot, fix16_t radius, uint32_t slot, bool yields) {
    const PhxRoomOccupant occupant = {slot, spot, radius, yields};
    if (!is_near(room, spot, radius)) return;
    if (room->told_count == PHX_ROOM_OCCUPANTS) { /* those remembered are covered first, and no more are */
        if (!room->overflowed) vacate(room);
        room->overflowed = true;
        cover_all(room, room->told, room->told_count);
        room->told_count = 0;
    }
    room->told[room->told_count++] = occupant;
}

/* Whether those told are those that the ways lead around. */
static bool is_as_told(const PhxRoom *room) {
    if (!room->ways_known || room->overflowed || room->told_count != room->occupant_count) return false;
    for (uint32_t i = 0; i < room->told_count; i++)
        if (!is_same_occupant(&room->told[i], &room->occupants[i])) return false;
    return true;
}

void phx_room_solve(PhxRoom *room) {
    sort_occupants(room->told, room->told_count);
    if (is_as_told(room)) return;
    if (!room->overflowed) vacate(room);
    cover_all(room, room->told, room->told_count);
    PhxRoomOccupant *before = room->occupants;
    room->occupants = room->told;
    room->occupant_count = room->told_count;
    room->told = before;
    room->ways_known = !room->overflowed;
}

void phx_room_take(PhxRoom *room, PhxVec2 place, uint32_t slot) {
    const PhxRoomOccupant occupant = {slot, place, room->radius, true};
    if (is_near(room, place, room->radius)) cover(room, &occupant, TAKEN);
    room->ways_known = false;
}

bool phx_room_vacant(const PhxRoom *room, uint32_t point) {
    return (room->open[point] & (OPEN | STANDS | COVERED)) == (OPEN | STANDS);
}

static bool passable(const PhxRoom *room, uint32_t point) {
    return (room->open[point] & (OPEN | STANDS | BLOCKED)) == (OPEN | STANDS);
}

/* Offsets of the neighbours of a point that isn't on the window's edge, by flow code. */
static const int32_t offsets[8] = {1,  PHX_ROOM_SIDE + 1,  PHX_ROOM_SIDE,  PHX_ROOM_SIDE - 1,
                                   -1, -PHX_ROOM_SIDE - 1, -PHX_ROOM_SIDE, -PHX_ROOM_SIDE + 1};

/* The directions, a bit each, in which a body can go from a point; none of them leaves the window. */
static unsigned steps_from(const PhxRoom *room, uint32_t point) {
    const uint32_t i = point % PHX_ROOM_SIDE, j = point / PHX_ROOM_SIDE;
    const uint8_t *at = room->open + point;
    unsigned open = 0;
    if (i > 0 && j > 0 && i < PHX_ROOM_SIDE - 1 && j < PHX_ROOM_SIDE - 1)
        for (unsigned code = 0; code < 8; code++)
            open |= (unsigned)((at[offsets[code]] & (OPEN | STANDS | BLOCKED)) == (OPEN | STANDS)) << code;
    else
        for (unsigned code = 0; code < 8; code++) {
            const uint32_t n = neighbour(point, code);
            open |= (unsigned)(n != PHX_ROOM_NONE && passable(room, n)) << code;
        }
    /* a diagonal one needs both of the straight ones beside it */
    const unsigned beside = (open << 1 | open >> 7) & (open >> 1 | open << 7);
    return open & (beside | 0x55u);
}

/* Value of a step onto a point whose bits are `onto`, in code's direction. */
static uint32_t step_value(unsigned onto, unsigned code) {
    const uint32_t step = code % 2 ? PHX_ROOM_SCALE * 7 / 5 : PHX_ROOM_SCALE;
    return onto ? OVER_PLACES * step : step;
}

static void relax(PhxRoom *room, uint32_t point, uint32_t value) {
    if (value >= PHX_ROOM_LEVELS || value >= room->value[point]) return;
    if (room->value[point] != NO_VALUE) pull(room, room->value[point], point);
    room->value[point] = (uint16_t)value;
    put(room, value, point);
    phx_bitset_add(room->used, value);
}

/* The points of `places` whose price is `level` begin a way, where they were vacant when the search began. */
static void begin_ways(PhxRoom *room, uint32_t level) {
    for (; room->fresh < room->place_count; room->fresh++) {
        const uint32_t point = room->places[room->fresh];
        if (room->price[point] != level) return;
        if ((room->open[point] & (YIELDS | BLOCKED)) == 0) relax(room, point, level);
    }
}

/* Makes the ways of the next value that any have final. */
static void seek_on(PhxRoom *room) {
    uint32_t level = (uint32_t)phx_bitset_next(room->used, PHX_ROOM_LEVELS, room->level);
    if (room->fresh < room->place_count && room->price[room->places[room->fresh]] < level)
        level = room->price[room->places[room->fresh]];
    room->level = PHX_ROOM_LEVELS;
    if (level >= PHX_ROOM_LEVELS) return;
    begin_ways(room, level);
    for (uint32_t point; (point = room->head[level]) != PHX_ROOM_NONE;) {
        pull(room, level, point);
        const unsigned onto = room->open[point] & YIELDS; /* ways are walked from the neighbours to here */
        const uint32_t straight = level + step_value(onto, 0), across = level + step_value(onto, 1);
        for (unsigned steps = steps_from(room, point); steps != 0; steps &= steps - 1) {
            const unsigned code = phx_bit_lowest(steps);
            relax(room, (uint32_t)((int32_t)point + offsets[code]), code % 2 ? across : straight);
        }
    }
    room->level = level + 1;
}

uint32_t phx_room_value(PhxRoom *room, uint32_t point) {
    while (room->level < PHX_ROOM_LEVELS && room->value[point] > room->level) seek_on(room);
    return room->value[point] == NO_VALUE ? PHX_ROOM_NONE : room->value[point];
}

uint32_t phx_room_next(PhxRoom *room, uint32_t point) {
    uint32_t best = point, least = phx_room_value(room, point);
    if (phx_room_vacant(room, point) && least == room->price[point]) return point;
    for (unsigned steps = steps_from(room, point); steps != 0; steps &= steps - 1) {
        const unsigned code = phx_bit_lowest(steps);
        const uint32_t n = (uint32_t)((int32_t)point + offsets[code]);
        if (room->value[n] == NO_VALUE) continue;
        const uint32_t value = room->value[n] + step_value(room->open[n] & (YIELDS | TAKEN), code);
        if (value <= least && (best == point || value < least)) least = value, best = n;
    }
    return best;
}

/* Whether any way leads from a point; seeks until one does. */
static bool leads_on(PhxRoom *room, uint32_t point) {
    while (room->level < PHX_ROOM_LEVELS && room->value[point] == NO_VALUE) seek_on(room);
    return room->value[point] != NO_VALUE;
}

uint32_t phx_room_point(PhxRoom *room, PhxVec2 at) {
    const int64_t ci = lattice_of(room, at.x, room->base.x);
    const int64_t cj = lattice_of(room, at.y, room->base.y);
    for (int vacant = 1; vacant >= 0; vacant--) {
        uint64_t best = UINT64_MAX;
        uint32_t found = PHX_ROOM_NONE;
        for (int64_t j = cj - 1; j <= cj + 1; j++)
            for (int64_t i = ci - 1; i <= ci + 1; i++) {
                if (!in_window(i, j)) continue;
                const uint32_t point = (uint32_t)(j * PHX_ROOM_SIDE + i);
                if (vacant ? !phx_room_vacant(room, point) : !passable(room, point)) continue;
                const uint64_t distance_sq = phx_vec2_distance_sq(phx_room_position(room, point), at);
                if (distance_sq >= best || (!vacant && !leads_on(room, point))) continue;
                best = distance_sq, found = point;
            }
        if (found != PHX_ROOM_NONE) return found;
    }
    return PHX_ROOM_NONE;
}

bool phx_room_has_place_inside(PhxRoom *room, PhxVec2 at) {
    const uint32_t point = phx_room_point(room, at);
    if (point == PHX_ROOM_NONE) return false;
    while (room->level < OUTSIDE && room->value[point] >= OUTSIDE) seek_on(room);
    return room->value[point] < OUTSIDE;
}
