/* walls_stop.c: a disc among polygon walls (phx_walls_stop) never enters one and never jumps one, however
 * thin it is and however far the disc wants to go.
 *
 * The oracle measures distances in doubles to every segment. What no measure of distance shows, a wall that
 * was jumped, shows by where the disc is afterwards: inside the room it was in, outside of each polygon, on
 * its side of the walls that divide the room.
 */
#include <math.h>
#include <phalanx/walls.h>

#include "harness.h"

enum { ONE = 1 << 16, POLYGONS = 12, VERTICES = 8, ALL = POLYGONS * VERTICES };

static const double turn = 6.28318530717958647693;

/* Polygon 0 is the room, seen from the inside; the others are solid, or thin walls with two vertices. */
typedef struct Place {
    PhxVec2 vertex[ALL];
    uint32_t size[POLYGONS], count, total;
    PhxWalls walls;
} Place;

static double unit(uint64_t *seed) { return (double)(test_random(seed) >> 11) * 0x1p-53; }

static PhxVec2 raw(double x, double y) {
    return phx_vec2((fix16_t)lround(x * ONE), (fix16_t)lround(y * ONE));
}

/* A convex polygon about (x, y): angles rise, so that it's solid, or fall, so that it's a room. */
static void add_polygon(Place *place, uint64_t *seed, uint32_t size, double x, double y, double radius,
                        bool room) {
    const double begin = unit(seed) * turn;
    for (uint32_t i = 0; i < size; i++) {
        const double share = (i + 0.8 * unit(seed)) / size, angle = begin + (room ? -share : share) * turn;
        place->vertex[place->total++] = raw(x + cos(angle) * radius, y + sin(angle) * radius);
    }
    place->size[place->count++] = size;
}

static void add_thin(Place *place, PhxVec2 from, PhxVec2 to) {
    place->vertex[place->total++] = from;
    place->vertex[place->total++] = to;
    place->size[place->count++] = 2;
}

static double distance_to_segment(PhxVec2 at, PhxVec2 a, PhxVec2 b) {
    const double x = at.x - (double)a.x, y = at.y - (double)a.y, dx = b.x - (double)a.x,
                 dy = b.y - (double)a.y;
    const double t = fmin(fmax((x * dx + y * dy) / (dx * dx + dy * dy), 0), 1);
    return hypot(x - t * dx, y - t * dy);
}

static bool inside(const PhxVec2 *vertex, uint32_t size, PhxVec2 at) {
    bool odd = false;
    for (uint32_t i = 0; i < size; i++) {
        const PhxVec2 a = vertex[i], b = vertex[(i + 1) % size];
        if ((a.y > at.y) != (b.y > at.y) &&
            at.x < a.x + (double)(at.y - a.y) * ((double)b.x - a.x) / ((double)b.y - a.y))
            odd = !odd;
    }
    return odd;
}

/* Raw; -1: in the solid. */
static double clearance(const Place *place, PhxVec2 at) {
    double least = 1e18;
    const PhxVec2 *vertex = place->vertex;
    for (uint32_t p = 0; p < place->count; vertex += place->size[p++]) {
        if (place->size[p] > 2 && inside(vertex, place->size[p], at) != (p == 0)) return -1;
        for (uint32_t i = 0; i < place->size[p]; i++)
            least = fmin(least, distance_to_segment(at, vertex[i], vertex[(i + 1) % place->size[p]]));
    }
    return least;
}

/* On which side of the line through a thin wall; 0: on it, within a raw unit. */
static int side_of(const Place *place, uint32_t first, PhxVec2 at) {
    const PhxVec2 a = place->vertex[first], b = place->vertex[first + 1];
    const double dx = (double)b.x - a.x, dy = (double)b.y - a.y;
    const double beside = (dx * ((double)at.y - a.y) - dy * ((double)at.x - a.x)) / hypot(dx, dy);
    return beside > 1 ? 1 : beside < -1 ? -1 : 0;
}

/* A room with up to two thin walls right through it, and things in it. Returns how many divide it: polygons 1
 * and 2. */
static uint32_t make_place(uint64_t *seed, Place *place, double middle_x, double middle_y) {
    *place = (Place){0};
    const double size = 3 + 40 * unit(seed);
    add_polygon(place, seed, (uint32_t)test_range(seed, 3, VERTICES), middle_x, middle_y, size, true);
    const uint32_t dividers = (uint32_t)test_range(seed, 0, 2);
    for (uint32_t i = 0; i < dividers; i++) {
        const double angle = unit(seed) * turn, off = (unit(seed) - 0.5) * size, c = cos(angle),
                     s = sin(angle);
        add_thin(place, raw(middle_x - c * 3 * size - s * off, middle_y - s * 3 * size + c * off),
                 raw(middle_x + c * 3 * size - s * off, middle_y + s * 3 * size + c * off));
    }
    const uint32_t things = (uint32_t)test_range(seed, 0, POLYGONS - 1 - dividers);
    for (uint32_t i = 0; i < things; i++) {
        const double x = middle_x + (unit(seed) - 0.5) * 2 * size,
                     y = middle_y + (unit(seed) - 0.5) * 2 * size, r = 0.2 + size * 0.2 * unit(seed);
        if (test_range(seed, 0, 2)) {
            add_polygon(place, seed, (uint32_t)test_range(seed, 3, VERTICES), x, y, r, false);
        } else {
            const double angle =
                test_range(seed, 0, 1) ? unit(seed) * turn : turn / 4 * (double)test_range(seed, 0, 3);
            add_thin(place, raw(x, y), raw(x + cos(angle) * r * 3, y + sin(angle) * r * 3));
        }
    }
    CHECK_OK(phx_walls_create_polygons(&place->walls, phx_allocator_default(), place->vertex, place->size,
                                       place->count));
    return dividers;
}

static bool put(uint64_t *seed, const Place *place, double x, double y, fix16_t radius, PhxVec2 *at) {
    for (int tries = 0; tries < 100; tries++) {
        const double off_x = (unit(seed) - 0.5) * 80, off_y = (unit(seed) - 0.5) * 80;
        *at = raw(x + off_x, y + off_y);
        if (clearance(place, *at) >= radius + 1) return true;
    }
    return false;
}

typedef struct Tally {
    uint32_t moves, whole, stopped, slid;
    double deepest; /* raw */
} Tally;

static void walk(uint64_t *seed, const Place *place, uint32_t dividers, PhxVec2 at, fix16_t radius,
                 uint32_t round, Tally *tally) {
    int side[2] = {0};
    for (uint32_t d = 0; d < dividers; d++) side[d] = side_of(place, place->size[0] + 2 * d, at);
    for (int step = 0; step < 30; step++) {
        const double far = test_range(seed, 0, 2) ? 64 * unit(seed) : 2.0 * radius / ONE * unit(seed),
                     angle = unit(seed) * turn;
        const PhxVec2 by = raw(cos(angle) * far, sin(angle) * far);
        const PhxVec2 to = phx_walls_stop(&place->walls, at, by, radius);
        const double room = clearance(place, to), moved = hypot((double)to.x - at.x, (double)to.y - at.y);
        CHECK_THAT(room >= radius - 2.0, "round %" PRIu32 " step %d: %g of %" PRId32 " raw from a wall",
                   round, step, room, radius);
        /* around a corner a push may add a little */
        CHECK_THAT(moved <= 1.1 * far * ONE + 4, "round %" PRIu32 " step %d: moved %g instead of %g", round,
                   step, moved, far * ONE);
        for (uint32_t d = 0; d < dividers; d++)
            CHECK_THAT(side_of(place, place->size[0] + 2 * d, to) == side[d], "round %" PRIu32 " step %d",
                       round, step);
        tally->deepest = fmax(tally->deepest, radius - room);
        tally->moves++;
        tally->whole += phx_vec2_equal(to, phx_vec2_add(at, by));
        tally->stopped += phx_vec2_equal(to, at);
        tally->slid += !phx_vec2_equal(to, at) && !phx_vec2_equal(to, phx_vec2_add(at, by));
        at = to;
    }
}

PHX_TEST(walls_stop, a_clear_disc_stays_clear_and_where_it_belongs) {
    static Place place;
    Tally tally = {0};
    for (uint32_t round = 0; round < test_count(150, 600, 50000); round++) {
        uint64_t seed = 510000 + round;
        const double edge = 8192 - 140, x = (unit(&seed) - 0.5) * 2 * edge,
                     y = test_range(&seed, 0, 3) ? 0 : edge;
        const uint32_t dividers = make_place(&seed, &place, x, y);
        const fix16_t radius = (fix16_t)lround(ldexp(1 + unit(&seed), (int)test_range(&seed, -4, 1)) * ONE);
        PhxVec2 at;
        for (int disc = 0; disc < 3; disc++)
            if (put(&seed, &place, x, y, radius, &at))
                walk(&seed, &place, dividers, at, radius, round, &tally);
        phx_walls_destroy(&place.walls);
    }
    printf("%u moves: %u whole, %u not at all, %u cut or slid; deepest %.3f raw\n", tally.moves, tally.whole,
           tally.stopped, tally.slid, tally.deepest);
    CHECK(tally.moves > 5000 && tally.whole > tally.moves / 20 && tally.slid > tally.moves / 4);
}

static void box_room(Place *place, double half_x, double half_y) {
    *place = (Place){.count = 1, .size = {4}, .total = 4};
    place->vertex[0] = raw(-half_x, -half_y), place->vertex[1] = raw(-half_x, half_y);
    place->vertex[2] = raw(half_x, half_y), place->vertex[3] = raw(half_x, -half_y);
    CHECK_OK(
        phx_walls_create_polygons(&place->walls, phx_allocator_default(), place->vertex, place->size, 1));
}

/* In a room just as large: as good as no move, and none at all where the disc doesn't fit. In a corridor:
 * along it, and no further aside than it is wide. */
PHX_TEST(walls_stop, no_move_where_none_is_possible) {
    static Place place;
    for (uint32_t round = 0; round < 300; round++) {
        uint64_t seed = 88 + round;
        const fix16_t radius = (fix16_t)test_range(&seed, ONE / 16, 16 * ONE);
        const double r = (double)radius / ONE, far = 64 * unit(&seed), angle = unit(&seed) * turn;
        const PhxVec2 by = raw(cos(angle) * far, sin(angle) * far), middle = {0, 0};
        box_room(&place, r + 3.0 / ONE, r + 3.0 / ONE);
        PhxVec2 to = phx_walls_stop(&place.walls, middle, by, radius);
        CHECK_THAT(phx_abs64(to.x) <= 5 && phx_abs64(to.y) <= 5, "round %" PRIu32, round);
        phx_walls_destroy(&place.walls);
        const double half_x = r * (0.5 + 0.499 * unit(&seed)), half_y = r * (0.5 + 0.499 * unit(&seed));
        box_room(&place, half_x, half_y);
        to = phx_walls_stop(&place.walls, middle, by, radius);
        CHECK_THAT(phx_vec2_equal(to, middle), "round %" PRIu32 ": %d %d", round, to.x, to.y);
        phx_walls_destroy(&place.walls);
        box_room(&place, 200, r + 0.01);
        to = phx_walls_stop(&place.walls, middle, by, radius);
        CHECK_THAT(fabs((double)to.y) <= 0.01 * ONE + 2, "round %" PRIu32, round);
        CHECK_THAT(fabs(to.x - (double)by.x) <= 4 + 0.01 * fabs((double)by.x),
                   "round %" PRIu32 ": %d instead of %d", round, to.x, by.x);
        phx_walls_destroy(&place.walls);
    }
}

/* A disc that touches a wall is off it after a call where there is room. */
PHX_TEST(walls_stop, pushes_off_what_it_touches) {
    for (uint32_t round = 0; round < 2000; round++) {
        uint64_t seed = 4000 + round;
        Place place = {0};
        const fix16_t radius = (fix16_t)test_range(&seed, ONE / 16, 16 * ONE);
        const double angle = unit(&seed) * turn, reach = radius * (0.1 + 0.89 * unit(&seed));
        add_polygon(&place, &seed, 6, 0, 0, 200, true);
        add_polygon(&place, &seed, (uint32_t)test_range(&seed, 3, VERTICES), 0, 0, 1 + 20 * unit(&seed),
                    false);
        CHECK_OK(
            phx_walls_create_polygons(&place.walls, phx_allocator_default(), place.vertex, place.size, 2));
        double low = 0, high = 60; /* so far out that it is `reach` from the polygon */
        for (int i = 0; i < 40; i++) {
            const double middle = (low + high) / 2;
            if (clearance(&place, raw(cos(angle) * middle, sin(angle) * middle)) < reach)
                low = middle;
            else
                high = middle;
        }
        const PhxVec2 from = raw(cos(angle) * high, sin(angle) * high);
        const PhxVec2 to = phx_walls_stop(&place.walls, from, phx_vec2(0, 0), radius);
        const double room = clearance(&place, to);
        CHECK_THAT(room >= radius - 2.0, "round %" PRIu32 ": from %g to %g of %d", round, reach, room,
                   radius);
        phx_walls_destroy(&place.walls);
    }
}

/* Straight at a thin wall's end, on its line or a raw unit or more beside it. */
PHX_TEST(walls_stop, a_thin_wall_stops_who_comes_along_it) {
    for (uint32_t round = 0; round < 400; round++) {
        uint64_t seed = 1200 + round;
        const fix16_t radius = (fix16_t)test_range(&seed, ONE / 16, 2 * ONE);
        const int quarter = (int)(round % 4);
        const double x = (quarter == 0) - (quarter == 2), y = (quarter == 1) - (quarter == 3),
                     far = 30 * unit(&seed);
        Place place = {0};
        const fix16_t off = (fix16_t)test_range(&seed, 0, 3), beside = round % 8 < 4 ? off : -off;
        add_thin(&place, raw(3 * x, 3 * y), raw(20 * x, 20 * y));
        CHECK_OK(
            phx_walls_create_polygons(&place.walls, phx_allocator_default(), place.vertex, place.size, 1));
        const PhxVec2 from = phx_vec2((fix16_t)(y * beside), (fix16_t)(x * beside)),
                      by = raw(far * x, far * y);
        const PhxVec2 to = phx_walls_stop(&place.walls, from, by, radius);
        const double least = distance_to_segment(to, place.vertex[0], place.vertex[1]);
        CHECK_THAT(least >= radius - 2.0, "round %" PRIu32 ": %g of %d raw from the wall, %d raw beside it",
                   round, least, radius, beside);
        phx_walls_destroy(&place.walls);
    }
}

/* Two thin walls side by side, and a disc that lies in the one, in both, or between: however it is placed and
 * wherever it wants to go, its centre stays on its side of each. */
PHX_TEST(walls_stop, who_lies_deep_in_walls_isnt_pushed_through) {
    uint32_t freed = 0;
    for (uint32_t round = 0; round < 4000; round++) {
        uint64_t seed = 93000 + round;
        const fix16_t radius = (fix16_t)test_range(&seed, ONE / 16, 2 * ONE);
        const double r = (double)radius / ONE, angle = unit(&seed) * turn, c = cos(angle), s = sin(angle),
                     gap = r * 2.5 * unit(&seed) + 8.0 / ONE, wide = 100;
        Place place = {0};
        for (int side = 0; side < 2; side++)
            add_thin(&place, raw(-c * wide - s * gap * side, -s * wide + c * gap * side),
                     raw(c * wide - s * gap * side, s * wide + c * gap * side));
        CHECK_OK(
            phx_walls_create_polygons(&place.walls, phx_allocator_default(), place.vertex, place.size, 2));
        const double off = (unit(&seed) * 3 - 1) * gap, far = 2 * r * unit(&seed), way = unit(&seed) * turn;
        const PhxVec2 from = raw(-s * off, c * off), by = raw(cos(way) * far, sin(way) * far);
        const PhxVec2 to = phx_walls_stop(&place.walls, from, by, radius);
        for (uint32_t wall = 0; wall < 2; wall++) {
            const int before = side_of(&place, 2 * wall, from), after = side_of(&place, 2 * wall, to);
            CHECK_THAT(before == 0 || after == before,
                       "round %" PRIu32 ": wall %" PRIu32 ", radius %" PRId32 ", gap %g, off %g", round, wall,
                       radius, gap / r, off / r);
        }
        freed += clearance(&place, from) < radius && clearance(&place, to) >= radius - 2.0;
        phx_walls_destroy(&place.walls);
    }
    CHECK_THAT(freed > 400, "%" PRIu32 " of 4000 freed", freed);
}
