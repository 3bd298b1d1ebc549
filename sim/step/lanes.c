/* lanes.c: the phase `lanes`: groups march in lanes along the routes of their plans.
 *
 * In: rows of table march, the units that go under them. Out: for each of those the point of its lane that it
 * walks towards, and how fast it may go behind the one before it (columns lane*); the phase `prefer` does the
 * rest. Whoever has left the last point behind, looks for its place, makes a detour, is held up, or sees a
 * wall before its lane, is led by its field as without a plan.
 *
 * A lane is a share of the room on its side of the route, from -1 (all to the left) to 1, so that lanes
 * narrow where the route does and widen again. Units of one file go through a narrow passage one after the
 * other: from afar each keeps its distance, along the route, from the one before it, even when that one still
 * walks beside it (Rajamani, Vehicle Dynamics and Control, 2012, chapter 6, calls a follower's rule of
 * distance and speed a spacing policy). So a file is drawn out before the passage and not in it. Where groups
 * meet, both keep to the right half of the room.
 *
 * Cost: nothing without marches; else some 200 ns a unit and a sort. Determinism: serial; walkers are sorted
 * by row, route, file, way and slot.
 */
#include <string.h>

#include "base/bitset.h"
#include "base/sort.h"
#include "step/sim_internal.h"

#define ONE PHX_FIX_ONE

enum {
    POINTS = PHX_SIM_ROUTE_POINTS,
    ROUTES = PHX_SIM_ROUTES,
    LED = 1, /* unit.lane */
    LED_NARROW = 2,
    STAGE_WAITS = 0, /* march.stage */
    STAGE_PLANNED = 1,
    PASSED = ONE / 4, /* a point counts as passed so near, and wherever the line that halves its turn is */
    SIGHT = 4 * ONE,  /* how far ahead a walker looks */
    SIGHT_IN_FILE = 5 * ONE, /* and one whose file is to pass a narrow place */
    DISTANCE = 1 * ONE / 10, /* between bodies of a file */
    BEFORE = 5 * ONE,        /* nobody waits for others so near to a passage */
    LAG_MOST = 2 * ONE,      /* and one that lags counts for so much at the most */
    KEEN = 2,                /* how fast a gap is closed, its length a second */
    BEHIND = 3 * ONE,        /* so far behind the last passage files still keep together */
    MEET = 16                /* ticks from one look for others to the next */
};

uint32_t phx_lanes_row_of(const PhxWorld *world, uint32_t slot) {
    const uint32_t destination = phx_destination_of(world, slot);
    if (destination == UINT32_MAX || world->destination.mode[destination] != PHX_DESTINATION_LANES)
        return UINT32_MAX;
    return phx_table_find(&world->tables[PHX_TABLE_march], world->destination.march[destination]);
}

static PhxVec2 point_of(const PhxWorld *world, uint32_t row, uint32_t route, uint32_t point) {
    const uint32_t at = phx_lanes_point(row, route, point);
    return phx_vec2(world->march.x[at], world->march.y[at]);
}

/* ---- a route, as walkers use it */

typedef PhxLaneRoute Route;

static void read_route(const PhxWorld *world, uint32_t row, uint32_t route, Route *out) {
    *out = (Route){.row = row, .route = route, .count = world->march.points[row * ROUTES + route]};
    out->rear = out->count;
    for (uint32_t p = 1; p < out->count; p++) {
        const PhxVec2 line = phx_vec2_sub(point_of(world, row, route, p), point_of(world, row, route, p - 1));
        out->from[p] = out->from[p - 1] + (int32_t)phx_vec2_normalize(line, &out->way[p]);
        if (!(world->march.narrow[row * ROUTES + route] >> p & 1)) continue;
        if (out->narrow_end == 0) out->narrow_begin = out->from[p];
        out->narrow_end = out->from[p];
    }
    if (out->count > 1) out->way[0] = out->way[1];
    for (uint32_t p = 0; p < out->count; p++) {
        const PhxDir before = out->way[p], behind = out->way[p + 1 < out->count ? p + 1 : p];
        const PhxVec2 both = {before.x / 2 + behind.x / 2, before.y / 2 + behind.y / 2};
        if (phx_vec2_normalize(both, &out->side[p]) == 0) out->side[p] = before; /* it turns back */
        out->side[p] = phx_dir_turn_quarter(out->side[p]);
    }
}

/* How far in front of (below 0) or behind a point of a route a position lies, across the line that halves the
 * turn there. */
static int64_t beyond(const PhxWorld *world, const Route *route, uint32_t point, PhxVec2 at) {
    const PhxDir side = route->side[point], ahead = {side.y, -side.x};
    return phx_vec2_dot_dir(phx_vec2_sub(at, point_of(world, route->row, route->route, point)), ahead);
}

/* How far along the line to point `next` (1 or more), which isn't passed, a position lies: a measure that
 * goes on evenly around turns, on both sides of them. Before the first point it's below 0. */
static int32_t along_line(const PhxWorld *world, const Route *route, uint32_t next, PhxVec2 at) {
    const int64_t gone = beyond(world, route, next - 1, at), left = -beyond(world, route, next, at);
    if (gone < 0) return next == 1 ? (int32_t)gone : 0;
    return left <= 0 ? route->from[next] - route->from[next - 1]
                     : (int32_t)((route->from[next] - route->from[next - 1]) * gone / (gone + left));
}

static fix16_t between(fix16_t a, fix16_t b, int64_t part, int64_t whole) {
    return whole > 0 ? (fix16_t)(a + (b - (int64_t)a) * part / whole) : b;
}

/* The room of a lane at a place of the line to point `next`: from `low` to `high`, below 0 to the left. */
static void room_at(const PhxWorld *world, const Route *route, uint32_t next, int32_t along, fix16_t *low,
                    fix16_t *high) {
    const PhxMarchTable *rows = &world->march;
    const uint32_t to = phx_lanes_point(route->row, route->route, next);
    const int64_t whole = route->from[next] - route->from[next - 1];
    const fix16_t left = between(rows->left[to - 1], rows->left[to], along, whole),
                  right = between(rows->right[to - 1], rows->right[to], along, whole),
                  half = rows->half[route->row];
    *low = left < half ? -left : -half;
    *high = right < half ? right : half;
    if (!(rows->opposed[route->row * ROUTES + route->route] >> next & 1)) return;
    const fix16_t clear = rows->radius[route->row] + DISTANCE / 2; /* from the middle of the way */
    if (right < clear) return;                                     /* there are no two sides */
    *low = clear;
    *high = right < clear + 2 * half ? right : clear + 2 * half;
}

/* The point of a lane at a way along the route, on the line to `next` or a later one. */
static PhxVec2 lane_point(const PhxWorld *world, const Route *route, uint32_t next, int32_t way,
                          fix16_t share) {
    while (next + 1 < route->count && route->from[next] < way) next++;
    const int32_t length = route->from[next] - route->from[next - 1];
    int32_t along = way - route->from[next - 1];
    along = along < 0 ? 0 : along > length ? length : along;
    fix16_t low, high;
    room_at(world, route, next, along, &low, &high);
    const fix16_t aside = between(low, high, (int64_t)share + ONE, 2 * ONE);
    const PhxVec2 middle = phx_vec2_add(point_of(world, route->row, route->route, next - 1),
                                        phx_dir_scale(route->way[next], along));
    const PhxDir from = route->side[next - 1], to = route->side[next],
                 side = {between(from.x, to.x, along, length), between(from.y, to.y, along, length)};
    return phx_vec2_add(middle, phx_dir_scale(side, aside));
}

/* ---- one walker */

static PhxVec2 position_of(const PhxWorld *world, uint32_t slot) {
    return phx_vec2(world->unit.pos_x[slot], world->unit.pos_y[slot]);
}

static bool sees(const PhxSim *sim, uint32_t slot, PhxVec2 to) {
    const uint32_t layer = phx_layers_of(sim, slot);
    if (!phx_layers_is_ready(sim, layer)) return false;
    const PhxNavGrid plane = phx_routes_plane(sim->layers.routes, layer);
    const uint32_t size = phx_layers_size(sim, layer);
    return phx_nav_line_of_sight(&plane, phx_cost_to_layer(size, position_of(sim->world, slot)),
                                 phx_cost_to_layer(size, to));
}

/* Moves on past points, and sets the point that the unit walks towards. False: no lane leads it. */
static bool walk(const PhxSim *sim, const Route *route, uint32_t slot, int32_t *along) {
    PhxWorld *world = sim->world;
    PhxUnitTable *units = &world->unit;
    const PhxVec2 at = position_of(world, slot);
    uint32_t next = units->lane_next[slot];
    if (next == 0) next = 1;
    while (next < route->count && (beyond(world, route, next, at) >= 0 ||
                                   phx_vec2_distance_sq(at, point_of(world, route->row, route->route,
                                                                     next)) <= (uint64_t)PASSED * PASSED))
        next++;
    units->lane_next[slot] = (uint8_t)next;
    if (next >= route->count) return false;
    *along = route->from[next - 1] + along_line(world, route, next, at);
    const fix16_t sight = route->narrow_end > 0 ? SIGHT_IN_FILE : SIGHT;
    const fix16_t shares[] = {units->lane_share[slot], units->lane_share[slot] / 2, 0};
    for (uint32_t i = 0; i < 3; i++) {
        const PhxVec2 to = lane_point(world, route, next, *along + sight, shares[i]);
        if (phx_vec2_equal(to, at) || !sees(sim, slot, to)) continue;
        units->lane_x[slot] = to.x;
        units->lane_y[slot] = to.y;
        units->lane[slot] = route->narrow_end > 0 && *along < route->narrow_end + BEHIND ? LED_NARROW : LED;
        return true;
    }
    return false;
}

static bool may_be_led(const PhxWorld *world, uint32_t slot) {
    const PhxUnitTable *units = &world->unit;
    return units->activity[slot] != 0 && units->aim[slot] == 0 && units->detour[slot] == 0 &&
           units->stalled[slot] < 2 * world->match.tick_rate[0];
}

/* ---- files */

static bool goes_before(const PhxLaneWalker *a, const PhxLaneWalker *b) {
    if (a->row != b->row) return a->row < b->row;
    if (a->route != b->route) return a->route < b->route;
    if (a->file != b->file) return a->file < b->file;
    if (a->along != b->along) return a->along > b->along;
    return a->slot < b->slot;
}
PHX_DEFINE_SORT(sort_walkers, PhxLaneWalker, goes_before)

static bool is_of_file(const PhxLaneWalker *a, const PhxLaneWalker *b) {
    return a->row == b->row && a->route == b->route && a->file == b->file;
}

/* By how much the way between two of a file is longer than it's to be, raw. */
static int64_t gap_between(const PhxWorld *world, const PhxLaneWalker *before, const PhxLaneWalker *walker) {
    const PhxUnitTable *units = &world->unit;
    const fix16_t wanted = world->unit_type.radius[units->type[before->slot]] +
                           world->unit_type.radius[units->type[walker->slot]] + DISTANCE;
    return (int64_t)before->along - walker->along - wanted;
}

/* How fast a walker may go behind the one before it. */
static fix16_t pace_behind(const PhxWorld *world, const PhxLaneWalker *before, const PhxLaneWalker *walker) {
    const PhxUnitTable *units = &world->unit;
    const int64_t speed = phx_vec2_length(phx_vec2(units->vel_x[before->slot], units->vel_y[before->slot]));
    const int64_t pace = speed + gap_between(world, before, walker) * KEEN;
    return (fix16_t)(pace < 0 ? 0 : pace > 64 * ONE ? 64 * ONE : pace);
}

/* How fast one goes whose file is to be close when he comes to a passage `far` away, and is too long by
 * `excess`: so fast that he comes there when the last of it would have come there with its distance. */
static fix16_t gathering_pace(fix16_t speed, int64_t far, int64_t excess) {
    return (fix16_t)(speed * far / (far + excess));
}

static void set_paces(const PhxSim *sim, uint32_t count) {
    const PhxWorld *world = sim->world;
    PhxUnitTable *units = &sim->world->unit;
    int64_t excess = 0; /* by how much the file is too long behind the walker */
    for (uint32_t i = count; i-- > 0;) {
        const PhxLaneWalker *walker = &sim->walkers[i];
        const Route *route = &sim->lane_routes[walker->row * ROUTES + walker->route];
        fix16_t *pace = &units->lane_pace[walker->slot];
        const bool has_next = i + 1 < count && is_of_file(walker, walker + 1);
        const int64_t lag = has_next ? gap_between(world, walker, walker + 1) : 0;
        excess = has_next ? excess * 3 / 4 + (lag < 0 ? 0 : lag < LAG_MOST ? lag : LAG_MOST) : 0;
        *pace = 64 * ONE;
        if (walker->along >= route->narrow_end) continue;
        if (i > 0 && is_of_file(walker - 1, walker)) *pace = pace_behind(world, walker - 1, walker);
        const int64_t far = (int64_t)route->narrow_begin - walker->along;
        if (far <= BEFORE) continue;
        const fix16_t slow = gathering_pace(world->unit_type.speed[units->type[walker->slot]], far, excess);
        if (slow < *pace) *pace = slow;
    }
}

/* ---- groups that meet */

/* Whether two lines, given by their ends, run against each other within reach of each other. */
static bool meets(PhxVec2 a, PhxVec2 b, PhxDir way, PhxVec2 c, PhxVec2 d, PhxDir other, fix16_t reach) {
    if (phx_dir_dot(way, other) > -((int64_t)1 << 59)) return false; /* less than 120 degrees apart */
    const fix16_t length = (fix16_t)phx_vec2_dot_dir(phx_vec2_sub(b, a), way);
    const int64_t c_along = phx_vec2_dot_dir(phx_vec2_sub(c, a), way),
                  d_along = phx_vec2_dot_dir(phx_vec2_sub(d, a), way);
    if ((c_along < 0 && d_along < 0) || (c_along > length && d_along > length)) return false;
    const int64_t c_aside = phx_vec2_det_dir(phx_vec2_sub(c, a), way),
                  d_aside = phx_vec2_det_dir(phx_vec2_sub(d, a), way);
    return !((c_aside > reach && d_aside > reach) || (c_aside < -reach && d_aside < -reach));
}

static bool is_planned(const PhxWorld *world, uint32_t row) {
    return phx_table_alive(&world->tables[PHX_TABLE_march], row) && world->march.stage[row] == STAGE_PLANNED;
}

/* Whether somebody of another row still comes the other way along a line. */
static bool is_opposed(const PhxSim *sim, const Route *route, uint32_t point) {
    const PhxWorld *world = sim->world;
    const PhxVec2 a = point_of(world, route->row, route->route, point - 1),
                  b = point_of(world, route->row, route->route, point);
    for (uint32_t row = 0; row < PHX_SIM_MARCH_LIMIT; row++) {
        if (row == route->row || !is_planned(world, row)) continue;
        for (uint32_t r = 0; r < world->march.routes[row]; r++) {
            const Route *other = &sim->lane_routes[row * ROUTES + r];
            for (uint32_t p = other->rear; p < other->count; p++)
                if (meets(a, b, route->way[point], point_of(world, row, r, p - 1), point_of(world, row, r, p),
                          other->way[p], world->march.half[row] + world->march.half[route->row]))
                    return true;
        }
    }
    return false;
}

/* Something was built across a line of a plan that was free when it was made, and that somebody still has to
 * go: the group asks for another plan, and its fields lead meanwhile. */
static bool is_cut(const PhxSim *sim, uint32_t row) {
    const PhxWorld *world = sim->world;
    for (uint32_t r = 0; r < world->march.routes[row]; r++) {
        const Route *route = &sim->lane_routes[row * ROUTES + r];
        const uint32_t cut = phx_lanes_cut_lines(sim, row, r) & ~world->march.cut[row * ROUTES + r];
        if (route->rear < route->count && cut >> route->rear != 0) return true;
    }
    return false;
}

/* Each row looks for others, and at its plan, from time to time. */
static void note_meetings(const PhxSim *sim) {
    PhxWorld *world = sim->world;
    for (uint32_t row = 0; row < PHX_SIM_MARCH_LIMIT; row++) {
        if (!is_planned(world, row) || (world->match.tick[0] + row) % MEET != 0) continue;
        if (is_cut(sim, row)) {
            world->march.stage[row] = STAGE_WAITS;
            world->march.asked[row] = world->match.tick[0];
            continue;
        }
        for (uint32_t r = 0; r < world->march.routes[row]; r++) {
            const Route *route = &sim->lane_routes[row * ROUTES + r];
            uint32_t opposed = 0;
            for (uint32_t p = route->rear; p < route->count; p++)
                if (is_opposed(sim, route, p)) opposed |= (uint32_t)1 << p;
            world->march.opposed[row * ROUTES + r] = opposed;
        }
    }
}

/* ---- the phase */

/* A row ends with its destination. */
static void drop_rows(PhxWorld *world) {
    PhxTable *rows = &world->tables[PHX_TABLE_march];
    for (uint32_t row = 0; row < rows->used; row++)
        if (phx_table_alive(rows, row) && phx_table_find(&world->tables[PHX_TABLE_destination],
                                                         world->march.destination[row]) == UINT32_MAX)
            phx_table_remove(rows, row);
}

/* Lists those that a lane leads, and notes the last of each route. */
static uint32_t list_walkers(PhxSim *sim) {
    PhxWorld *world = sim->world;
    PhxUnitTable *units = &world->unit;
    uint32_t count = 0;
    for (uint32_t i = 0; i < sim->living_count; i++) {
        const uint32_t slot = sim->living[i];
        if (units->destination[slot] == PHX_HANDLE_NONE || units->activity[slot] == 0) continue;
        const uint32_t row = phx_lanes_row_of(world, slot);
        if (row == UINT32_MAX || !is_planned(world, row)) continue;
        if (units->lane_route[slot] == 0) phx_lanes_join(sim, row, slot);
        const uint32_t r = units->lane_route[slot] - 1u;
        if (r >= world->march.routes[row]) continue; /* a forged state's */
        Route *route = &sim->lane_routes[row * ROUTES + r];
        int32_t along = 0;
        if (may_be_led(world, slot) && walk(sim, route, slot, &along))
            sim->walkers[count++] =
                (PhxLaneWalker){(uint8_t)row, (uint8_t)r, units->lane_file[slot], along, slot};
        const uint32_t next = units->lane_next[slot] > 0 ? units->lane_next[slot] : 1;
        if (next < route->rear) route->rear = next;
    }
    return count;
}

static void clear_scratch(PhxWorld *world) {
    const size_t used = world->tables[PHX_TABLE_unit].used;
    memset(world->unit.lane, 0, used);
    memset(world->unit.lane_x, 0, used * sizeof *world->unit.lane_x);
    memset(world->unit.lane_y, 0, used * sizeof *world->unit.lane_y);
    memset(world->unit.lane_pace, 0, used * sizeof *world->unit.lane_pace);
}

void phx_phase_lanes(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    PhxWorld *world = context->world;
    const PhxTable *rows = &world->tables[PHX_TABLE_march];
    (void)user;
    clear_scratch(world);
    if (rows->live == 0) return;
    drop_rows(world);
    const PhxStatus status = phx_lanes_serve(sim);
    if (status != PHX_OK) sim->trouble = status;
    for (uint32_t row = 0; row < rows->used; row++)
        for (uint32_t r = 0; is_planned(world, row) && r < world->march.routes[row]; r++)
            read_route(world, row, r, &sim->lane_routes[row * ROUTES + r]);
    const uint32_t count = list_walkers(sim);
    sort_walkers(sim->walkers, count);
    set_paces(sim, count);
    note_meetings(sim);
}
