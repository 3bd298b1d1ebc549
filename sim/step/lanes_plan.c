/* lanes_plan.c: plans of marches: the routes that a group takes, and the room along them.
 *
 * In: rows of table march that wait, the ground, positions. Out: their routes. The first route is the best
 * path from the middle of the group (phalanx/path.h), sampled for room (nav/passage.h). While the last one
 * found leads through a passage that is narrower than the group, that passage is shut, and the best path
 * without it is the next route, if it isn't twice as long. How many take which route: lanes_share.c.
 *
 * Work is bounded: a search expands no more than SEARCH nodes, and a plan is made only when the credit that
 * every tick adds pays for it; so the tick in which a plan comes, first asked first served, is a matter of
 * state alone, and so is the plan, which is made whole in that tick. Until then units follow their field.
 *
 * Cost: a plan builds the boards of the map (2 ns a cell), up to three searches of at most 2 ms, and up to a
 * thousand samples of 2 us. Determinism: all of it is a pure function of the state.
 */
#include <string.h>

#include "nav/passage.h"
#include "step/sim_internal.h"

enum {
    POINTS = PHX_SIM_ROUTE_POINTS,
    ROUTES = PHX_SIM_ROUTES,
    SEARCH = 8192, /* nodes */
    PRICE = ROUTES * SEARCH,
    CREDIT = 8192, /* a tick */
    CREDIT_MOST = 65536,
    WAYPOINTS = 512,
    HALF_MOST = 1024 * PHX_FIX_ONE, /* raw */
    DETOUR = 2,                     /* a route is at most so many times as dear as the first */
    WAITS = 0,                      /* march.stage */
    PLANNED = 1,
    UNPLANNED = 2
};

typedef struct PhxLanePlanner {
    PhxArena arena;
    PhxPathGround *ground;
    PhxPathSearch *search;
    PhxPassage *sample;
    PhxVec2 *way;
    uint32_t *member;
} PhxLanePlanner;

/* ---- memory */

static PhxLanePlanner *lay_out(PhxArena *arena, const PhxTable *terrain, uint32_t units) {
    PhxLanePlanner made = {0};
    PhxLanePlanner *planner = PHX_ARENA_ARRAY(arena, PhxLanePlanner, 1);
    made.ground = phx_path_ground_layout(arena, terrain->width, terrain->height);
    made.search = phx_path_search_layout(arena, terrain->width * terrain->height, 16 * SEARCH);
    made.sample = PHX_ARENA_ARRAY(arena, PhxPassage, PHX_PASSAGE_SAMPLES);
    made.way = PHX_ARENA_ARRAY(arena, PhxVec2, WAYPOINTS);
    made.member = PHX_ARENA_ARRAY(arena, uint32_t, units);
    if (planner) *planner = made;
    return planner;
}

static PhxStatus make_planner(PhxSim *sim) {
    const PhxTable *terrain = &sim->world->tables[PHX_TABLE_terrain];
    const uint32_t units = sim->world->tables[PHX_TABLE_unit].capacity;
    PhxArena arena = phx_arena_measure();
    if (sim->planner) return PHX_OK;
    (void)lay_out(&arena, terrain, units);
    const PhxStatus status = phx_arena_create(&arena, sim->allocator, arena.used);
    if (status != PHX_OK) return status;
    sim->planner = lay_out(&arena, terrain, units);
    sim->planner->arena = arena;
    return PHX_OK;
}

void phx_lanes_drop(PhxSim *sim) {
    if (!sim->planner) return;
    PhxArena arena = sim->planner->arena; /* the planner lies inside its own arena */
    phx_arena_destroy(&arena);
    sim->planner = NULL;
}

size_t phx_lanes_bytes(const PhxSim *sim) { return sim->planner ? sim->planner->arena.used : 0; }

/* ---- the group */

typedef struct Plan {
    PhxSim *sim;
    PhxLanePlanner *planner;
    uint32_t row, count; /* of members */
    uint32_t leader, layer, size;
    PhxPathQuery query;
    fix16_t rest, need;
} Plan;

static bool is_member(const PhxWorld *world, uint32_t row, uint32_t slot) {
    return world->unit.activity[slot] != 0 && phx_lanes_row_of(world, slot) == row;
}

static void list_members(Plan *plan) {
    const PhxSim *sim = plan->sim;
    const PhxWorld *world = sim->world;
    uint32_t *member = plan->planner->member;
    plan->count = 0;
    for (uint32_t i = 0; i < sim->living_count; i++) {
        const uint32_t slot = sim->living[i];
        if (world->unit.destination[slot] == world->march.destination[plan->row] &&
            is_member(world, plan->row, slot))
            member[plan->count++] = slot;
    }
    plan->leader = member[0];
    for (uint32_t i = 1; i < plan->count; i++)
        if (world->unit_type.radius[world->unit.type[member[i]]] >
            world->unit_type.radius[world->unit.type[plan->leader]])
            plan->leader = member[i];
}

static PhxVec2 middle_of(const Plan *plan) {
    const PhxUnitTable *units = &plan->sim->world->unit;
    int64_t x = 0, y = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        x += units->pos_x[plan->planner->member[i]];
        y += units->pos_y[plan->planner->member[i]];
    }
    return phx_vec2((fix16_t)phx_div_round(x, plan->count), (fix16_t)phx_div_round(y, plan->count));
}

/* From the middle of the group, or from the leader where no way joins the two. False: there is none. */
static bool set_query(Plan *plan) {
    const PhxSim *sim = plan->sim;
    const PhxUnitTable *units = &sim->world->unit;
    const PhxNavGrid plane = phx_path_ground_grid(plan->planner->ground);
    const PhxVec2 middle = middle_of(plan);
    const uint32_t leader = plan->leader, size = plan->size,
                   own = phx_nav_nearest_open(
                       &plane, phx_cost_cell_of(&plane, size, units->pos_x[leader], units->pos_y[leader])),
                   from = phx_nav_nearest_open(&plane, phx_cost_cell_of(&plane, size, middle.x, middle.y));
    if (own == PHX_NAV_NO_CELL) return false;
    plan->query =
        (PhxPathQuery){.start = phx_path_joined(plan->planner->ground, own, from) ? from : own,
                       .goal = phx_cost_cell_of(&plane, size, units->goal_x[leader], units->goal_y[leader]),
                       .radius = sim->world->unit_type.radius[units->type[leader]],
                       .limit = SEARCH};
    plan->rest = plan->query.radius - (fix16_t)(size - 1) * (PHX_FIX_ONE / 2);
    return true;
}

/* How far the group reaches to the sides of the way that it sets out on, and how much of it is kept. */
static void set_width(Plan *plan, PhxVec2 first) {
    PhxWorld *world = plan->sim->world;
    const PhxUnitTable *units = &world->unit;
    const PhxVec2 middle = middle_of(plan);
    PhxDir way;
    int64_t most = 0;
    (void)phx_vec2_normalize(phx_vec2_sub(first, middle), &way);
    for (uint32_t i = 0; i < plan->count; i++) {
        const uint32_t slot = plan->planner->member[i];
        const int64_t aside =
            phx_vec2_det_dir(phx_vec2_sub(phx_vec2(units->pos_x[slot], units->pos_y[slot]), middle), way);
        if (aside > most) most = aside;
        if (-aside > most) most = -aside;
    }
    const int64_t half = (int64_t)most * world->march.spread[plan->row] / 100;
    world->march.half[plan->row] = (fix16_t)(half < HALF_MOST ? half : HALF_MOST);
    world->march.radius[plan->row] = plan->query.radius;
    /* beside one wall, however near, there is always more room than this */
    const fix16_t need = 2 * world->march.half[plan->row], limit = (PHX_PASSAGE_REACH - 2) * PHX_FIX_ONE;
    plan->need = need < limit ? need : limit;
}

/* ---- routes */

static void store(const Plan *plan, uint32_t route, uint32_t count, const PhxPassage *point) {
    PhxMarchTable *rows = &plan->sim->world->march;
    uint32_t narrow = 0;
    for (uint32_t p = 0; p < count; p++) {
        const uint32_t at = phx_lanes_point(plan->row, route, p);
        const PhxVec2 there = phx_cost_from_layer(plan->size, point[p].at);
        rows->x[at] = there.x;
        rows->y[at] = there.y;
        rows->left[at] = point[p].left;
        rows->right[at] = point[p].right;
        narrow |= (uint32_t)point[p].narrow << p;
    }
    rows->points[plan->row * ROUTES + route] = (uint8_t)count;
    rows->narrow[plan->row * ROUTES + route] = narrow;
}

/* The best path on the ground as it is. False: none that leads anywhere; `path` has its cost. */
static bool find_way(const Plan *plan, PhxPath *path) {
    PhxLanePlanner *planner = plan->planner;
    *path = (PhxPath){.waypoints = planner->way, .waypoint_capacity = WAYPOINTS};
    if (phx_path_find(planner->search, planner->ground, &plan->query, path) != PHX_OK) return false;
    return path->waypoint_count >= 2;
}

/* Stores the path in planner->way as a route. True: its narrowest passage is in `narrowest`. */
static bool take_route(const Plan *plan, uint32_t route, uint32_t waypoints, PhxPassage *narrowest) {
    PhxLanePlanner *planner = plan->planner;
    PhxPassage *sample = planner->sample;
    for (uint32_t i = 0; i < waypoints; i++) planner->way[i] = phx_cost_to_layer(plan->size, planner->way[i]);
    uint32_t count =
        phx_passage_sample(planner->ground, planner->way, waypoints, plan->rest, plan->need, sample);
    const uint32_t least = phx_passage_narrowest(sample, count);
    if (least < count) *narrowest = sample[least];
    const bool found = least < count;
    count = phx_passage_align(planner->ground, sample, count, plan->rest);
    store(plan, route, phx_passage_simplify(planner->ground, sample, count, POINTS), sample);
    return found;
}

/* All routes; how many. */
static uint32_t find_routes(Plan *plan) {
    uint32_t shut[ROUTES * PHX_PASSAGE_CHORD], shut_count = 0, routes = 0;
    uint64_t first_cost = 0;
    PhxPath path;
    while (routes < ROUTES && find_way(plan, &path)) {
        PhxPassage narrowest;
        if (routes == 0) {
            set_width(plan, plan->planner->way[1]);
            first_cost = path.cost;
        } else if (path.reach != PHX_PATH_WHOLE || path.cost > DETOUR * first_cost) {
            break;
        }
        const bool is_narrow = take_route(plan, routes++, path.waypoint_count, &narrowest);
        if (!is_narrow || plan->count < 2 || path.reach != PHX_PATH_WHOLE) break;
        shut_count += phx_passage_close(plan->planner->ground, &narrowest, shut + shut_count);
    }
    phx_passage_open(plan->planner->ground, shut, shut_count);
    return routes;
}

static PhxStatus make_plan(PhxSim *sim, uint32_t row) {
    PhxStatus status = make_planner(sim);
    if (status != PHX_OK) return status;
    Plan plan = {.sim = sim, .planner = sim->planner, .row = row};
    list_members(&plan);
    plan.layer = phx_layers_of(sim, plan.leader);
    plan.size = phx_layers_size(sim, plan.layer);
    sim->world->march.stage[row] = UNPLANNED;
    if (!phx_layers_is_ready(sim, plan.layer)) return PHX_OK;
    const PhxNavGrid plane = phx_routes_plane(sim->layers.routes, plan.layer);
    status = phx_path_ground_build(plan.planner->ground, &plane);
    if (status != PHX_OK) return status;
    const uint32_t routes = set_query(&plan) ? find_routes(&plan) : 0;
    sim->world->march.routes[row] = (uint8_t)routes;
    if (routes == 0) return PHX_OK;
    sim->world->march.stage[row] = PLANNED;
    sim->world->march.layer[row] = plan.layer;
    for (uint32_t r = 0; r < routes; r++)
        sim->world->march.cut[row * ROUTES + r] = phx_lanes_cut_lines(sim, row, r);
    phx_lanes_share(sim, row, plan.planner->member, plan.count);
    return PHX_OK;
}

uint32_t phx_lanes_cut_lines(const PhxSim *sim, uint32_t row, uint32_t route) {
    const PhxMarchTable *rows = &sim->world->march;
    const uint32_t layer = rows->layer[row];
    if (layer >= PHX_ROUTES_LAYER_LIMIT || !phx_layers_is_ready(sim, layer)) return 0;
    const PhxNavGrid plane = phx_routes_plane(sim->layers.routes, layer);
    const uint32_t size = phx_layers_size(sim, layer);
    uint32_t cut = 0;
    for (uint32_t p = 1; p < rows->points[row * ROUTES + route]; p++) {
        const uint32_t at = phx_lanes_point(row, route, p);
        const PhxVec2 from = {rows->x[at - 1], rows->y[at - 1]}, to = {rows->x[at], rows->y[at]};
        if (!phx_nav_line_of_sight(&plane, phx_cost_to_layer(size, from), phx_cost_to_layer(size, to)))
            cut |= (uint32_t)1 << p;
    }
    return cut;
}

/* ---- requests */

/* The row that waits longest, of equal ones the lowest, of those that units go under now; or UINT32_MAX. */
static uint32_t next_request(const PhxSim *sim) {
    const PhxWorld *world = sim->world;
    const PhxTable *rows = &world->tables[PHX_TABLE_march];
    bool wanted[PHX_SIM_MARCH_LIMIT] = {false}, any = false;
    for (uint32_t row = 0; row < rows->used; row++)
        any = any || (phx_table_alive(rows, row) && world->march.stage[row] == WAITS);
    for (uint32_t i = 0; any && i < sim->living_count; i++) {
        const uint32_t slot = sim->living[i];
        if (world->unit.destination[slot] == PHX_HANDLE_NONE || world->unit.activity[slot] == 0) continue;
        const uint32_t row = phx_lanes_row_of(world, slot);
        if (row != UINT32_MAX) wanted[row] = true;
    }
    uint32_t best = UINT32_MAX;
    for (uint32_t row = 0; row < rows->used; row++)
        if (wanted[row] && world->march.stage[row] == WAITS &&
            (best == UINT32_MAX || world->march.asked[row] < world->march.asked[best]))
            best = row;
    return best;
}

PhxStatus phx_lanes_serve(PhxSim *sim) {
    uint32_t *credit = &sim->world->match.path_credit[0];
    PhxStatus status = PHX_OK;
    uint32_t row = next_request(sim);
    if (row == UINT32_MAX) return PHX_OK;
    *credit = *credit + CREDIT < CREDIT_MOST ? *credit + CREDIT : CREDIT_MOST;
    for (; row != UINT32_MAX && *credit >= PRICE && status == PHX_OK; row = next_request(sim)) {
        *credit -= PRICE;
        status = make_plan(sim, row);
    }
    return status;
}
