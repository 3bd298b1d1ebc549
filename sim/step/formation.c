/* formation.c: the phase `formation`: anchors go their ways, and members get the velocities of their slots.
 *
 * In: rows of table formation, their members' positions, the fields to their goals. Out: anchors and facings
 * a tick on, slots, and preferred velocities of the members that are led (those not led follow their field).
 * A formation that lost members, or whose width changes, gives its slots out anew; one that reaches a passage
 * narrower than itself takes the passage's width, and its own again when its last row is through. At its
 * goal it turns, waits until all stand in their slots, and then all arrive at once. It stays while its
 * members have no other order, so that the losses of those who stand close ranks, too.
 *
 * Cost: nothing without formations; else linear in the members, but for giving out slots (phalanx/assign.h).
 * Determinism: serial, rows ascending, members by ascending slot. Tiles are claimed in batches of their own:
 * a tile is a pure function of the ground and the goal, so the size of batches changes nothing.
 */
#include "base/assert.h"
#include "motion/unit_controller.h"
#include "step/sim_internal.h"

#define NO_TILE UINT32_MAX

enum {
    STAGE_MARCH = 0, /* formation.stage */
    STAGE_FORM = 1,
    STAGE_STAND = 2,
    EXACT = 1 << 11,         /* raw: the anchor is at its goal */
    SETTLED = 1 << 13,       /* raw: a member is in its slot */
    AHEAD = 8 * PHX_FIX_ONE, /* the room is looked at so far ahead */
    PATIENCE = 4,            /* seconds that it waits for stragglers that don't come */
    PATIENCE_AT_GOAL = 8
};

/* The anchor leaves a point each unit of its way. */
static void leave_trail(PhxFormationTable *rows, uint32_t row) {
    fix16_t *x = rows->trail_x + (size_t)row * PHX_FORMATION_TRAIL,
            *y = rows->trail_y + (size_t)row * PHX_FORMATION_TRAIL;
    const PhxVec2 at = {rows->x[row], rows->y[row]};
    if (rows->trail_count[row] > 0 &&
        phx_vec2_distance_sq(at, phx_vec2(x[0], y[0])) < (uint64_t)PHX_FIX_ONE * PHX_FIX_ONE)
        return;
    if (rows->trail_count[row] < PHX_FORMATION_TRAIL) rows->trail_count[row]++;
    for (uint32_t i = rows->trail_count[row]; --i > 0;) x[i] = x[i - 1], y[i] = y[i - 1];
    x[0] = at.x;
    y[0] = at.y;
}

/* Lists members by row. More than a formation holds can't be ordered; a forged state's are let go. */
static void gather(PhxSim *sim) {
    PhxFormationWork *work = &sim->formations;
    PhxWorld *world = sim->world;
    const PhxTable *rows = &world->tables[PHX_TABLE_formation];
    uint32_t count[PHX_SIM_FORMATION_LIMIT] = {0};
    for (uint32_t i = 0; i < sim->living_count; i++) {
        const uint32_t slot = sim->living[i], row = phx_table_find(rows, world->unit.formation[slot]);
        if (row == UINT32_MAX) continue;
        if (count[row] < PHX_FORMATION_UNITS)
            count[row]++;
        else
            phx_order_end(world, slot);
    }
    work->first[0] = 0;
    for (uint32_t row = 0; row < PHX_SIM_FORMATION_LIMIT; row++) {
        work->first[row + 1] = work->first[row] + count[row];
        count[row] = work->first[row];
    }
    for (uint32_t i = 0; i < sim->living_count; i++) {
        const uint32_t slot = sim->living[i], row = phx_table_find(rows, world->unit.formation[slot]);
        if (row != UINT32_MAX) work->member[count[row]++] = slot;
    }
}

static const uint32_t *members_of(const PhxSim *sim, uint32_t row) {
    return sim->formations.member + sim->formations.first[row];
}
static uint32_t count_of(const PhxSim *sim, uint32_t row) {
    return sim->formations.first[row + 1] - sim->formations.first[row];
}
static PhxVec2 anchor_of(const PhxWorld *world, uint32_t row) {
    return phx_vec2(world->formation.x[row], world->formation.y[row]);
}
static PhxVec2 goal_of(const PhxWorld *world, uint32_t row) {
    return phx_vec2(world->formation.goal_x[row], world->formation.goal_y[row]);
}

/* Whose layer the anchor goes by: the largest member, of equal ones that of the lowest slot. */
static uint32_t leader_of(const PhxSim *sim, uint32_t row) {
    const PhxWorld *world = sim->world;
    const uint32_t *members = members_of(sim, row);
    uint32_t leader = members[0];
    for (uint32_t i = 1; i < count_of(sim, row); i++)
        if (world->unit_type.radius[world->unit.type[members[i]]] >
            world->unit_type.radius[world->unit.type[leader]])
            leader = members[i];
    return leader;
}

/* Moves a goal that no way leads to from the anchor to the nearest cell that one leads to. */
static void check_goal(PhxSim *sim, uint32_t row, uint32_t leader, uint32_t layer, uint32_t from) {
    PhxFormationTable *rows = &sim->world->formation;
    const PhxRoutes *routes = sim->layers.routes;
    const PhxNavGrid plane = phx_routes_plane(routes, layer);
    const uint32_t size = phx_layers_size(sim, layer),
                   wanted = phx_cost_cell_of(&plane, size, rows->goal_x[row], rows->goal_y[row]);
    if (phx_routes_part(routes, layer, wanted) == phx_routes_part(routes, layer, from)) return;
    const PhxVec2 nearest = phx_cost_center_of(&plane, size, phx_routes_nearest(routes, layer, from, wanted));
    rows->goal_x[row] = nearest.x;
    rows->goal_y[row] = nearest.y;
    phx_sim_emit(sim, PHX_EVENT_UNREACHABLE, leader);
}

/* Claims the tile that the anchor is in. False: the batch is full. */
static bool claim(PhxSim *sim, uint32_t row) {
    const PhxWorld *world = sim->world;
    const PhxVec2 anchor = anchor_of(world, row);
    const uint32_t leader = leader_of(sim, row), layer = phx_layers_of(sim, leader);
    sim->formations.tile[row] = NO_TILE;
    if (!phx_layers_is_ready(sim, layer)) return true;
    const PhxNavGrid plane = phx_routes_plane(sim->layers.routes, layer);
    const uint32_t size = phx_layers_size(sim, layer),
                   cell = phx_cost_cell_of(&plane, size, anchor.x, anchor.y),
                   from = phx_nav_nearest_open(&plane, cell);
    if (from == PHX_NAV_NO_CELL) return true;
    check_goal(sim, row, leader, layer, from);
    const uint32_t goal =
        phx_cost_cell_of(&plane, size, world->formation.goal_x[row], world->formation.goal_y[row]);
    return phx_routes_claim(sim->layers.routes, layer, goal, cell, &sim->formations.tile[row]);
}

/* Which way the field leads the anchor; from a closed cell straight to the nearest open one. */
static PhxDir way_of(const PhxSim *sim, uint32_t row) {
    const PhxVec2 anchor = anchor_of(sim->world, row), goal = goal_of(sim->world, row);
    const uint32_t layer = phx_layers_of(sim, leader_of(sim, row)), size = phx_layers_size(sim, layer);
    const PhxNavGrid plane = phx_routes_plane(sim->layers.routes, layer);
    const uint32_t cell = phx_cost_cell_of(&plane, size, anchor.x, anchor.y);
    const PhxVec2 at = phx_cost_to_layer(size, anchor);
    PhxDir way = {0, 0};
    if (plane.cost[cell] == PHX_NAV_IMPASSABLE) {
        const PhxVec2 open = phx_nav_cell_center(&plane, phx_nav_nearest_open(&plane, cell));
        (void)phx_vec2_normalize(phx_vec2_sub(open, at), &way);
        return way;
    }
    if (cell == phx_cost_cell_of(&plane, size, goal.x, goal.y)) {
        (void)phx_vec2_normalize(phx_vec2_sub(goal, anchor), &way);
        return way;
    }
    return phx_tile_direction(phx_routes_tile(sim->layers.routes, sim->formations.tile[row]), &plane,
                              phx_cost_to_layer(size, goal), at.x, at.y);
}

/* The ways of all that march, as many at a time as the cache of tiles holds. */
static void find_ways(PhxSim *sim) {
    PhxFormationWork *work = &sim->formations;
    const PhxTable *rows = &sim->world->tables[PHX_TABLE_formation];
    uint32_t next = 0;
    while (next < rows->used) {
        const uint32_t begin = next;
        phx_routes_begin(sim->layers.routes);
        for (; next < rows->used; next++) {
            work->way[next] = phx_dir(0, 0);
            work->tile[next] = NO_TILE;
            if (!phx_table_alive(rows, next) || count_of(sim, next) == 0 ||
                sim->world->formation.stage[next] != STAGE_MARCH)
                continue;
            if (!claim(sim, next)) break;
        }
        const PhxStatus status = phx_routes_build(sim->layers.routes, &sim->jobs);
        PHX_ASSERT(status == PHX_OK, status, begin); /* it allocates nothing */
        for (uint32_t row = begin; row < next; row++)
            if (work->tile[row] != NO_TILE) work->way[row] = way_of(sim, row);
    }
}

/* Those who stood go to new slots. */
static void rouse(PhxSim *sim, uint32_t row) {
    PhxWorld *world = sim->world;
    for (uint32_t i = 0; i < count_of(sim, row); i++) {
        const uint32_t slot = members_of(sim, row)[i];
        const PhxHandle handle = world->unit.formation[slot];
        phx_order_begin(world, slot,
                        (PhxOrder){.goal_x = world->formation.goal_x[row],
                                   .goal_y = world->formation.goal_y[row],
                                   .arrive_radius = world->unit.arrive_radius[slot]});
        world->unit.formation[slot] = handle;
    }
    world->formation.stage[row] = STAGE_FORM;
    world->formation.waited[row] = 0;
    world->formation.left[row] = INT32_MAX;
}

/* The limit of its width for the ground beside its way. Returns whether it changed. */
static bool squeeze(PhxSim *sim, uint32_t row, const PhxFormationRoom *room,
                    const PhxFormationExtent *natural, const PhxFormationExtent *extent) {
    PhxFormationTable *rows = &sim->world->formation;
    const bool is_tight = room->width < 2 * natural->side;
    if (!is_tight && rows->hold[row] > 0) return false;
    if (!is_tight) {
        const bool was = rows->limit[row] != 0;
        rows->limit[row] = 0;
        return was;
    }
    const int64_t hold = (int64_t)extent->back + AHEAD + 2 * PHX_FIX_ONE;
    rows->hold[row] = (fix16_t)(hold < 4096 * PHX_FIX_ONE ? hold : 4096 * PHX_FIX_ONE);
    if (room->width >= 2 * extent->side) return false;
    const fix16_t limit = room->width > PHX_FIX_ONE / 8 ? room->width : PHX_FIX_ONE / 8;
    if (rows->limit[row] != 0 && rows->limit[row] <= limit) return false;
    rows->limit[row] = limit;
    return true;
}

/* The way, bent to the middle of the room where that is too narrow on one side. */
static PhxDir centred(PhxDir way, const PhxFormationRoom *room, fix16_t side) {
    if (room->left >= side && room->right >= side) return way;
    fix16_t shift = (room->right - room->left) / 2;
    const fix16_t need = room->left < side ? side - room->left : side - room->right;
    if (shift > need) shift = need;
    if (shift < -need) shift = -need;
    if (shift > PHX_FIX_ONE) shift = PHX_FIX_ONE;
    if (shift < -PHX_FIX_ONE) shift = -PHX_FIX_ONE;
    PhxDir bent = way;
    const PhxVec2 sum =
        phx_vec2_add(phx_dir_scale(way, PHX_FIX_ONE), phx_dir_scale(phx_dir_turn_quarter(way), shift));
    (void)phx_vec2_normalize(sum, &bent);
    return bent;
}

static fix16_t slowest_of(const PhxSim *sim, uint32_t row) {
    fix16_t least = 64 * PHX_FIX_ONE;
    for (uint32_t i = 0; i < count_of(sim, row); i++) {
        const fix16_t speed = phx_unit_limits(sim, members_of(sim, row)[i]).speed;
        if (speed < least) least = speed;
    }
    return least;
}

/* Stragglers that don't come aren't waited for for ever: after some seconds it goes on for half as many, as
 * if they were nearer. */
static fix16_t patient_lag(PhxSim *sim, uint32_t row, fix16_t lag, fix16_t pitch) {
    uint16_t *waited = &sim->world->formation.waited[row];
    const uint32_t patience = PATIENCE * (uint32_t)sim->world->match.tick_rate[0];
    if (sim->world->formation.stage[row] == STAGE_FORM) return *waited < patience ? lag : 0;
    if (*waited < patience && lag < pitch) {
        *waited = 0;
        return lag;
    }
    if (++*waited < patience) return lag;
    if (*waited >= patience + patience / 2) *waited = 0;
    return lag < pitch ? lag : pitch;
}

/* The anchor goes where nothing solid is between; else it waits for a better way. Returns how far it went. */
static fix16_t move_anchor(PhxSim *sim, uint32_t row, const PhxNavGrid *solid, PhxFormationStep *step) {
    PhxFormationTable *rows = &sim->world->formation;
    const uint32_t rate = sim->world->match.tick_rate[0];
    const PhxVec2 at = anchor_of(sim->world, row), way = phx_unit_displacement(step->velocity, rate),
                  to = phx_vec2_add(at, way);
    const bool inside = solid->cost[phx_nav_cell_clamped(solid, at.x, at.y)] == PHX_NAV_IMPASSABLE;
    if (!inside && !phx_nav_line_of_sight(solid, at, to)) {
        step->velocity = phx_vec2(0, 0);
        return 0;
    }
    rows->x[row] = phx_formation_within(to.x);
    rows->y[row] = phx_formation_within(to.y);
    return (fix16_t)phx_vec2_length(way);
}

/* While it waits, slots are given out anew each second: those who came in between stand in the way of others,
 * for whom another slot is nearer then. */
static bool is_reshuffled(const PhxSim *sim, uint32_t row) {
    const uint32_t waited = sim->world->formation.waited[row];
    return waited > 0 && waited % sim->world->match.tick_rate[0] == 0;
}

static PhxAngle wanted_facing(const PhxSim *sim, uint32_t row, PhxDir way) {
    const PhxFormationTable *rows = &sim->world->formation;
    if (rows->stage[row] == STAGE_MARCH && (way.x | way.y) != 0) return phx_angle_of(way.x, way.y);
    if (rows->stage[row] == STAGE_FORM && rows->turns[row] != 0) return rows->goal_facing[row];
    return rows->facing[row];
}

/* One tick of the frame, whose slots are in work->slots. */
static void march(PhxSim *sim, uint32_t row, const PhxNavGrid *solid, PhxDir plain, PhxDir bent,
                  const PhxFormationExtent *extent) {
    PhxFormationTable *rows = &sim->world->formation;
    const PhxVec2 anchor = anchor_of(sim->world, row);
    const PhxAngle facing = rows->facing[row];
    const fix16_t lag = phx_formation_lag(sim, row);
    PhxFormationMarch frame = {.facing = facing,
                               .wanted = wanted_facing(sim, row, plain),
                               .way = bent,
                               .distance = phx_vec2_length(phx_vec2_sub(goal_of(sim->world, row), anchor)),
                               .speed = slowest_of(sim, row),
                               .reach = sim->formations.trails ? extent->side : extent->reach,
                               .pitch = extent->pitch,
                               .lag = patient_lag(sim, row, lag, extent->pitch),
                               .tick_rate = sim->world->match.tick_rate[0]};
    PhxFormationStep step = phx_formation_march(&frame);
    fix16_t went = move_anchor(sim, row, solid, &step);
    if (went == 0 && (bent.x != plain.x || bent.y != plain.y)) {
        frame.way = plain;
        step = phx_formation_march(&frame);
        went = move_anchor(sim, row, solid, &step);
    }
    const PhxVec2 now = anchor_of(sim->world, row);
    rows->x[row] = anchor.x, rows->y[row] = anchor.y; /* slots are where they were before the step */
    phx_formation_lead(sim, row, &step);
    rows->x[row] = now.x, rows->y[row] = now.y;
    rows->facing[row] = (PhxAngle)(facing + step.turn);
    rows->hold[row] = rows->hold[row] > went ? rows->hold[row] - went : 0;
    leave_trail(rows, row);
}

static void finish(PhxSim *sim, uint32_t row) {
    PhxWorld *world = sim->world;
    PhxUnitTable *units = &world->unit;
    for (uint32_t i = 0; i < count_of(sim, row); i++) {
        const uint32_t slot = members_of(sim, row)[i];
        const PhxHandle handle = units->formation[slot];
        const uint16_t own = units->formation_slot[slot];
        PhxOrder next;
        if (units->led[slot] == 0) { /* it comes after the others, alone */
            units->formation[slot] = PHX_HANDLE_NONE;
            continue;
        }
        phx_sim_emit(sim, PHX_EVENT_ARRIVED, slot);
        world->player.arrived[units->player[slot]]++;
        if (phx_order_pop(world, slot, &next)) {
            phx_order_begin(world, slot, next);
            continue;
        }
        phx_order_end(world, slot);
        units->formation[slot] = handle;
        units->formation_slot[slot] = own;
        units->placed[slot] = 1;
        units->goal_x[slot] = units->place_x[slot] = units->pos_x[slot];
        units->goal_y[slot] = units->place_y[slot] = units->pos_y[slot];
    }
    world->formation.stage[row] = STAGE_STAND;
}

/* Whether all stand in their slots, or have had time enough for it. */
static bool has_formed(PhxSim *sim, uint32_t row, fix16_t pitch) {
    PhxFormationTable *rows = &sim->world->formation;
    const bool turned = rows->turns[row] == 0 || rows->facing[row] == rows->goal_facing[row];
    const fix16_t lag = phx_formation_lag(sim, row);
    if ((int64_t)lag + SETTLED <= rows->left[row] || (!turned && lag < pitch)) { /* it gets on */
        rows->left[row] = lag;
        rows->waited[row] = 0;
    }
    if (lag <= SETTLED) return turned;
    if (rows->waited[row] < UINT16_MAX) rows->waited[row]++;
    return turned && rows->waited[row] >= PATIENCE_AT_GOAL * (uint32_t)sim->world->match.tick_rate[0];
}

/* At its goal it takes what room there is behind its front. */
static void begin_forming(PhxSim *sim, uint32_t row, const PhxNavGrid *solid,
                          const PhxFormationExtent *natural) {
    PhxFormationTable *rows = &sim->world->formation;
    const PhxAngle facing = rows->turns[row] != 0 ? rows->goal_facing[row] : rows->facing[row];
    const PhxFormationRoom room =
        phx_formation_room(solid, anchor_of(sim->world, row), phx_dir_neg(phx_dir_of_angle(facing)),
                           natural->side + PHX_FIX_ONE, natural->back);
    const fix16_t half = room.left < room.right ? room.left : room.right;
    rows->stage[row] = STAGE_FORM;
    rows->limit[row] = half < natural->side ? 2 * (half > PHX_FIX_ONE / 8 ? half : PHX_FIX_ONE / 8) : 0;
    rows->hold[row] = 0;
    rows->waited[row] = 0;
    rows->left[row] = INT32_MAX;
    rows->members[row] = 0; /* slots are given out anew */
}

/* No shape that it could have: its members are free. */
static void dissolve(PhxSim *sim, uint32_t row) {
    for (uint32_t i = 0; i < count_of(sim, row); i++) phx_order_end(sim->world, members_of(sim, row)[i]);
    phx_table_remove(&sim->world->tables[PHX_TABLE_formation], row);
}

static void advance(PhxSim *sim, uint32_t row) {
    PhxFormationTable *rows = &sim->world->formation;
    const uint32_t *members = members_of(sim, row), count = count_of(sim, row);
    const bool lost = rows->members[row] != count;
    PhxFormationExtent natural, extent;
    if (rows->stage[row] == STAGE_STAND && !lost) return;
    if (rows->stage[row] == STAGE_STAND) rouse(sim, row);
    if (phx_formation_slots(sim, row, members, count, 0, &natural) != PHX_OK) {
        dissolve(sim, row);
        return;
    }
    extent = natural;
    if (rows->limit[row] > 0 &&
        phx_formation_slots(sim, row, members, count, rows->limit[row], &extent) != PHX_OK) {
        dissolve(sim, row);
        return;
    }
    const PhxNavGrid solid = phx_barriers_grid(sim, members[0]);
    const PhxDir way = sim->formations.way[row];
    PhxDir bent = way;
    bool changed = lost || is_reshuffled(sim, row);
    if ((way.x | way.y) != 0) {
        const PhxFormationRoom room =
            phx_formation_room(&solid, anchor_of(sim->world, row), way, natural.side + PHX_FIX_ONE, AHEAD);
        if (squeeze(sim, row, &room, &natural, &extent)) {
            changed = true;
            if (phx_formation_slots(sim, row, members, count, rows->limit[row], &extent) != PHX_OK) {
                dissolve(sim, row);
                return;
            }
        }
        bent = centred(way, &room, extent.side);
    }
    phx_formation_follow_trail(sim, row, &extent);
    if (changed) phx_formation_give_slots(sim, row);
    march(sim, row, &solid, way, bent, &extent);
    if (rows->stage[row] == STAGE_MARCH &&
        phx_vec2_distance_sq(anchor_of(sim->world, row), goal_of(sim->world, row)) <=
            (uint64_t)EXACT * EXACT) {
        begin_forming(sim, row, &solid, &natural);
    } else if (rows->stage[row] == STAGE_FORM && has_formed(sim, row, extent.pitch)) {
        finish(sim, row);
    }
}

void phx_phase_formation(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    PhxTable *rows = &context->world->tables[PHX_TABLE_formation];
    (void)user;
    if (rows->live == 0) return;
    gather(sim);
    find_ways(sim);
    for (uint32_t row = 0; row < rows->used; row++) {
        if (!phx_table_alive(rows, row)) continue;
        if (count_of(sim, row) == 0)
            phx_table_remove(rows, row);
        else
            advance(sim, row);
    }
}
