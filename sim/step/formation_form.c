/* formation_form.c: the command FORM: units get a formation, and it a goal.
 *
 * In: a command. Out: a row of table formation, and orders of its units. The frame begins where its units
 * are: its middle at theirs, facing their goal (of units that are in formation together already: its frame);
 * where that is closed ground, at the unit nearest to it. Cost: linear in the units. Determinism: units in
 * the command's order; ties by that order.
 */
#include "step/sim_internal.h"

static void count(uint32_t *counter) {
    if (*counter < UINT32_MAX) ++*counter;
}

/* The units of a command that are the player's, each once, into work->member. */
static uint32_t own_units(PhxSim *sim, const PhxCommandData *command, uint8_t player) {
    uint32_t *members = sim->formations.member, found = 0;
    for (uint32_t i = 0; i < command->unit_count; i++) {
        const uint32_t slot = phx_command_own_unit(sim->world, command, i, player);
        bool known = slot == UINT32_MAX || found == sim->world->tables[PHX_TABLE_unit].capacity;
        for (uint32_t k = 0; k < found && !known; k++) known = members[k] == slot;
        if (!known) members[found++] = slot;
    }
    return found;
}

static PhxVec2 position_of(const PhxWorld *world, uint32_t slot) {
    return phx_vec2(world->unit.pos_x[slot], world->unit.pos_y[slot]);
}

static PhxVec2 middle_of(const PhxWorld *world, const uint32_t *members, uint32_t found) {
    int64_t x = 0, y = 0;
    for (uint32_t i = 0; i < found; i++)
        x += world->unit.pos_x[members[i]], y += world->unit.pos_y[members[i]];
    return phx_vec2((fix16_t)phx_div_round(x, found), (fix16_t)phx_div_round(y, found));
}

static uint32_t nearest_to(const PhxWorld *world, const uint32_t *members, uint32_t found, PhxVec2 point) {
    uint32_t best = members[0];
    for (uint32_t i = 1; i < found; i++)
        if (phx_vec2_distance_sq(position_of(world, members[i]), point) <
            phx_vec2_distance_sq(position_of(world, best), point))
            best = members[i];
    return best;
}

static uint32_t largest_of(const PhxWorld *world, const uint32_t *members, uint32_t found) {
    uint32_t best = members[0];
    for (uint32_t i = 1; i < found; i++)
        if (world->unit_type.radius[world->unit.type[members[i]]] >
            world->unit_type.radius[world->unit.type[best]])
            best = members[i];
    return best;
}

/* The formation that the command's units are, all and alone, or UINT32_MAX. */
static uint32_t same_units(const PhxWorld *world, const uint32_t *members, uint32_t found) {
    const uint32_t row =
        phx_table_find(&world->tables[PHX_TABLE_formation], world->unit.formation[members[0]]);
    if (row == UINT32_MAX || world->formation.members[row] != found) return UINT32_MAX;
    for (uint32_t i = 1; i < found; i++)
        if (world->unit.formation[members[i]] != world->unit.formation[members[0]]) return UINT32_MAX;
    return row;
}

/* Where the frame begins: where it is, of units that are in formation together. */
static void place_frame(PhxSim *sim, uint32_t row, uint32_t found, const PhxFormationExtent *extent) {
    PhxFormationTable *rows = &sim->world->formation;
    const uint32_t *members = sim->formations.member, same = same_units(sim->world, members, found);
    if (same != UINT32_MAX) {
        rows->facing[row] = rows->facing[same];
        rows->x[row] = rows->rally_x[row] = rows->x[same];
        rows->y[row] = rows->rally_y[row] = rows->y[same];
        rows->trail_count[row] = rows->trail_count[same];
        for (uint32_t i = 0; i < PHX_FORMATION_TRAIL; i++) {
            rows->trail_x[row * PHX_FORMATION_TRAIL + i] = rows->trail_x[same * PHX_FORMATION_TRAIL + i];
            rows->trail_y[row * PHX_FORMATION_TRAIL + i] = rows->trail_y[same * PHX_FORMATION_TRAIL + i];
        }
        return;
    }
    const PhxVec2 middle = middle_of(sim->world, members, found),
                  goal = {rows->goal_x[row], rows->goal_y[row]}, way = phx_vec2_sub(goal, middle);
    const uint32_t nearest = nearest_to(sim->world, members, found, middle);
    const PhxNavGrid solid = phx_barriers_grid(sim, nearest);
    rows->facing[row] =
        phx_vec2_length(way) > PHX_FIX_ONE ? phx_angle_of(way.x, way.y) : rows->goal_facing[row];
    PhxVec2 anchor =
        phx_formation_to_world(middle, rows->facing[row], phx_vec2((extent->back - extent->front) / 2, 0));
    if (!phx_nav_line_of_sight(&solid, position_of(sim->world, nearest), anchor))
        anchor = position_of(sim->world, nearest);
    rows->x[row] = rows->rally_x[row] = anchor.x;
    rows->y[row] = rows->rally_y[row] = anchor.y;
    /* as if it had come straight to where it is */
    const PhxVec2 behind = phx_formation_to_world(anchor, rows->facing[row], phx_vec2(-PHX_FIX_ONE, 0));
    rows->trail_count[row] = 2;
    rows->trail_x[row * PHX_FORMATION_TRAIL] = anchor.x;
    rows->trail_y[row * PHX_FORMATION_TRAIL] = anchor.y;
    rows->trail_x[row * PHX_FORMATION_TRAIL + 1] = behind.x;
    rows->trail_y[row * PHX_FORMATION_TRAIL + 1] = behind.y;
}

static void order_units(PhxSim *sim, uint32_t row, PhxHandle handle, uint32_t found, bool reachable) {
    PhxWorld *world = sim->world;
    uint64_t area = 0;
    for (uint32_t i = 0; i < found; i++) {
        const uint64_t radius =
            (uint64_t)world->unit_type.radius[world->unit.type[sim->formations.member[i]]];
        area += radius * radius;
    }
    for (uint32_t i = 0; i < found; i++) {
        const uint32_t slot = sim->formations.member[i];
        phx_order_clear(world, slot);
        phx_order_begin(world, slot,
                        (PhxOrder){.goal_x = world->formation.goal_x[row],
                                   .goal_y = world->formation.goal_y[row],
                                   .arrive_radius = (fix16_t)phx_isqrt64(area + area / 4)});
        world->unit.formation[slot] = handle;
        if (!reachable) phx_sim_emit(sim, PHX_EVENT_UNREACHABLE, slot);
    }
}

/* Makes the row; PHX_HANDLE_NONE where there is no room for it. */
static PhxHandle make_row(PhxWorld *world, const PhxCommandData *command, const PhxAim *aim) {
    PhxFormationTable *rows = &world->formation;
    const PhxHandle handle = phx_table_insert(&world->tables[PHX_TABLE_formation]);
    if (handle == PHX_HANDLE_NONE) return handle;
    const uint32_t row = phx_handle_slot(handle);
    rows->shape[row] = command->shape;
    rows->pattern[row] = command->pattern;
    rows->gap[row] = command->gap;
    rows->width[row] = command->form_width;
    rows->goal_x[row] = aim->x;
    rows->goal_y[row] = aim->y;
    rows->turns[row] = command->turns;
    rows->goal_facing[row] = command->facing;
    return handle;
}

void phx_form_execute(PhxSim *sim, const PhxCommandData *command, uint8_t player) {
    PhxWorld *world = sim->world;
    PhxFormationExtent extent;
    PhxAim aim = {.part = PHX_NAV_NO_CELL};
    const uint32_t found = own_units(sim, command, player), *members = sim->formations.member;
    if (found == 0) return; /* counted, unit by unit */
    const uint32_t largest = largest_of(world, members, found);
    if (!phx_march_aim(sim, largest, phx_vec2(command->goal_x, command->goal_y), &aim)) return;
    const PhxHandle handle = make_row(world, command, &aim);
    if (handle == PHX_HANDLE_NONE) {
        count(&world->match.commands_full[0]);
        return;
    }
    const uint32_t row = phx_handle_slot(handle);
    if (phx_formation_slots(sim, row, members, found, 0, &extent) != PHX_OK) {
        phx_table_remove(&world->tables[PHX_TABLE_formation], row);
        count(&world->match.commands_full[0]);
        return;
    }
    place_frame(sim, row, found, &extent);
    order_units(sim, row, handle, found, aim.reachable);
}
