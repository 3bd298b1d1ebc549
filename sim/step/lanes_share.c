/* lanes_share.c: who of a march goes along which route, in which file, and how far from its middle.
 *
 * In: a plan, and the units that march under it. Out: their columns lane_*. The last unit of a route arrives
 * when the route's length and the length of its files, one behind the other, have gone by: units are given
 * to the routes so that the latest of these is as early as it can be. That is the cost of congestion: equal
 * routes get units in proportion to how many files go through them abreast. Routes, units and files are taken
 * from left to right, so that ways don't cross.
 *
 * Cost: a sort. Determinism: ties end in the lower slot, or the lower route.
 */
#include "base/sort.h"
#include "step/sim_internal.h"

#define ONE PHX_FIX_ONE

enum {
    ROUTES = PHX_SIM_ROUTES,
    BESIDE = ONE / 5,      /* between bodies of two files */
    BEHIND = 3 * ONE / 10, /* between bodies of one file */
    FILES_MOST = 255
};

typedef PhxLaneAside Aside;

static bool is_left_of(const Aside *a, const Aside *b) {
    return a->aside != b->aside ? a->aside < b->aside : a->id < b->id;
}
PHX_DEFINE_SORT(sort_asides, Aside, is_left_of)

static PhxVec2 point_of(const PhxWorld *world, uint32_t row, uint32_t route, uint32_t point) {
    const uint32_t at = phx_lanes_point(row, route, point);
    return phx_vec2(world->march.x[at], world->march.y[at]);
}

static PhxVec2 position_of(const PhxWorld *world, uint32_t slot) {
    return phx_vec2(world->unit.pos_x[slot], world->unit.pos_y[slot]);
}

/* ---- routes */

/* The narrow point with the least room; the second point where there is none. */
static uint32_t narrowest_of(const PhxWorld *world, uint32_t row, uint32_t route) {
    uint32_t best = 0;
    for (uint32_t p = 1; p < world->march.points[row * ROUTES + route]; p++)
        if ((world->march.narrow[row * ROUTES + route] >> p & 1) &&
            (best == 0 || world->march.left[phx_lanes_point(row, route, p)] <
                              world->march.left[phx_lanes_point(row, route, best)]))
            best = p;
    return best == 0 ? 1 : best;
}

/* How many files go abreast where a route is narrowest, or on open ground. */
static uint32_t files_of(const PhxWorld *world, uint32_t row, uint32_t route) {
    const PhxMarchTable *rows = &world->march;
    const uint32_t at = phx_lanes_point(row, route, narrowest_of(world, row, route));
    const bool is_narrow = rows->narrow[row * ROUTES + route] != 0;
    const int64_t room = is_narrow ? (int64_t)rows->left[at] + rows->right[at] : 2 * (int64_t)rows->half[row];
    const int64_t files = room / (2 * rows->radius[row] + BESIDE) + 1;
    return files < FILES_MOST ? (uint32_t)files : FILES_MOST;
}

static int64_t length_of(const PhxWorld *world, uint32_t row, uint32_t route) {
    int64_t length = 0;
    for (uint32_t p = 1; p < world->march.points[row * ROUTES + route]; p++)
        length +=
            phx_vec2_length(phx_vec2_sub(point_of(world, row, route, p), point_of(world, row, route, p - 1)));
    return length;
}

/* How many of `count` units take each route. */
static void divide(PhxWorld *world, uint32_t row, uint32_t count, uint32_t given[ROUTES]) {
    const int64_t behind = 2 * (int64_t)world->march.radius[row] + BEHIND;
    int64_t length[ROUTES];
    for (uint32_t r = 0; r < world->march.routes[row]; r++) {
        given[r] = 0;
        length[r] = length_of(world, row, r);
        world->march.files[row * ROUTES + r] = (uint8_t)files_of(world, row, r);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t best = 0;
        int64_t least = INT64_MAX;
        for (uint32_t r = 0; r < world->march.routes[row]; r++) {
            const int64_t last = length[r] + behind * (given[r] + 1) / world->march.files[row * ROUTES + r];
            if (last < least) least = last, best = r;
        }
        given[best]++;
    }
}

/* ---- units */

/* The frame of a march: where it sets out from, and which way. */
typedef struct Frame {
    PhxVec2 from;
    PhxDir way;
} Frame;

static Frame frame_of(const PhxWorld *world, uint32_t row) {
    Frame frame = {.from = point_of(world, row, 0, 0)};
    (void)phx_vec2_normalize(phx_vec2_sub(point_of(world, row, 0, 1), frame.from), &frame.way);
    return frame;
}

static int64_t aside_of(const Frame *frame, PhxVec2 at) {
    return -(int64_t)phx_vec2_det_dir(phx_vec2_sub(at, frame->from), frame->way);
}

/* The share of the room that file i of `files` keeps to. */
static fix16_t share_of_file(uint32_t i, uint32_t files) {
    return files < 2 ? 0 : (fix16_t)((int64_t)i * 2 * ONE / (files - 1)) - ONE;
}

/* The share of a unit on a route without narrow passages: what it keeps of its own side offset. */
static fix16_t share_of_offset(const PhxWorld *world, uint32_t row, int64_t aside) {
    const int64_t half = world->march.half[row];
    if (half == 0) return 0;
    const int64_t share = aside * world->march.spread[row] / 100 * ONE / half;
    return (fix16_t)(share < -ONE ? -ONE : share > ONE ? ONE : share);
}

static void put(PhxWorld *world, uint32_t row, uint32_t route, uint32_t slot, uint32_t file, int64_t aside) {
    PhxUnitTable *units = &world->unit;
    const uint32_t files = world->march.files[row * ROUTES + route];
    units->lane_route[slot] = (uint8_t)(route + 1);
    units->lane_next[slot] = 0;
    units->lane_file[slot] = (uint8_t)file;
    units->lane_share[slot] = world->march.narrow[row * ROUTES + route] != 0
                                  ? share_of_file(file, files)
                                  : share_of_offset(world, row, aside);
}

/* Units of one route, by how far they have to go, in ranks of as many as go abreast; those of a rank from
 * left to right. So each file is as long as the others, and who stands in front goes first. */
static void make_ranks(PhxWorld *world, uint32_t row, uint32_t route, Aside *units, uint32_t count) {
    const uint32_t files = world->march.files[row * ROUTES + route];
    const PhxVec2 to = point_of(world, row, route, 1);
    const Frame frame = frame_of(world, row);
    for (uint32_t i = 0; i < count; i++)
        units[i].aside = (int64_t)phx_vec2_length(phx_vec2_sub(position_of(world, units[i].id), to));
    sort_asides(units, count);
    for (uint32_t first = 0; first < count; first += files) {
        const uint32_t rank = count - first < files ? count - first : files;
        for (uint32_t k = 0; k < rank; k++)
            units[first + k].aside = aside_of(&frame, position_of(world, units[first + k].id));
        sort_asides(units + first, rank);
        for (uint32_t k = 0; k < rank; k++)
            put(world, row, route, units[first + k].id, rank == files ? k : (2 * k + 1) * files / (2 * rank),
                units[first + k].aside);
    }
}

void phx_lanes_share(PhxSim *sim, uint32_t row, const uint32_t *members, uint32_t count) {
    PhxWorld *world = sim->world;
    const Frame frame = frame_of(world, row);
    Aside routes[ROUTES], *units = sim->asides;
    uint32_t given[ROUTES], at = 0;
    divide(world, row, count, given);
    for (uint32_t r = 0; r < world->march.routes[row]; r++)
        routes[r] = (Aside){aside_of(&frame, point_of(world, row, r, narrowest_of(world, row, r))), r};
    sort_asides(routes, world->march.routes[row]);
    for (uint32_t i = 0; i < count; i++)
        units[i] =
            (Aside){aside_of(&frame, phx_vec2(world->unit.pos_x[members[i]], world->unit.pos_y[members[i]])),
                    members[i]};
    sort_asides(units, count);
    for (uint32_t i = 0; i < world->march.routes[row]; i++) {
        const uint32_t r = routes[i].id;
        make_ranks(world, row, r, units + at, given[r]);
        at += given[r];
    }
}

void phx_lanes_join(PhxSim *sim, uint32_t row, uint32_t slot) {
    PhxWorld *world = sim->world;
    const Frame frame = frame_of(world, row);
    const PhxVec2 at = {world->unit.pos_x[slot], world->unit.pos_y[slot]};
    uint64_t least = UINT64_MAX;
    uint32_t best = 0;
    for (uint32_t r = 0; r < world->march.routes[row]; r++) {
        const uint64_t off = phx_vec2_distance_sq(at, point_of(world, row, r, narrowest_of(world, row, r)));
        if (off < least) least = off, best = r;
    }
    const uint32_t files = world->march.files[row * ROUTES + best];
    put(world, row, best, slot, files > 0 ? slot % files : 0, aside_of(&frame, at));
}
