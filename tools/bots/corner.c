/* corner.c: a bot that sends all its units to the corner of the map opposite to where they stand, once, in
 * groups.
 *
 * The corner is that of the piece of ground on which its first unit stands. Each group has a goal of its own,
 * apart from the others by the room that a group takes, so that the groups arrive beside each other. Cost:
 * some passes over the map at tick 0, nothing later.
 */
#include "bots/bots_internal.h"
#include "content/ground.h"

enum { GROUP_SIZE = 50, GROUP_LIMIT = 1024 };

typedef struct Goals {
    const PhxGround *ground;
    const uint8_t *room; /* cells in which a whole group has room; null: any will do */
    uint32_t apart;      /* cells between two goals */
    uint32_t wanted, count;
    uint32_t cells[GROUP_LIMIT];
} Goals;

static bool take_goal(void *user, uint32_t cell) {
    Goals *goals = user;
    if (goals->room != NULL && !goals->room[cell]) return true;
    const int64_t x = cell % goals->ground->width, y = cell / goals->ground->width;
    for (uint32_t i = 0; i < goals->count; i++) {
        const int64_t dx = goals->cells[i] % goals->ground->width - x,
                      dy = goals->cells[i] / goals->ground->width - y;
        if (dx * dx + dy * dy < (int64_t)goals->apart * goals->apart) return true;
    }
    goals->cells[goals->count++] = cell;
    return goals->count < goals->wanted;
}

/* The widest body and the middle of the slot's units; the first of them. */
typedef struct Army {
    fix16_t radius;
    fix16_t x, y;
    uint32_t first;
} Army;

static Army look(const PhxSim *sim, uint8_t slot, uint32_t count) {
    const PhxUnitView units = phx_sim_units(sim);
    Army army = {.first = UINT32_MAX};
    int64_t x = 0, y = 0;
    for (uint32_t i = 0; i < units.used; i++) {
        if (!phx_generation_alive(units.generation[i]) || units.player[i] != slot) continue;
        PhxUnitTypeInfo type;
        if (phx_sim_unit_type(sim, units.type[i], &type) && type.radius > army.radius)
            army.radius = type.radius;
        if (army.first == UINT32_MAX) army.first = i;
        x += units.pos_x[i];
        y += units.pos_y[i];
    }
    army.x = (fix16_t)phx_div_round(x, count);
    army.y = (fix16_t)phx_div_round(y, count);
    return army;
}

/* The goals, as many as groups, or fewer where the ground is small. */
static PhxStatus choose_goals(const PhxSim *sim, const Army *army, uint32_t groups, Goals *goals,
                              PhxGround **ground) {
    const PhxNavGrid map = phx_sim_map(sim);
    const PhxStatus status = phx_ground_create(&map, army->radius, ground);
    if (status != PHX_OK) return status;
    const PhxUnitView units = phx_sim_units(sim);
    const uint32_t under = phx_nav_cell_clamped(&map, units.pos_x[army->first], units.pos_y[army->first]);
    const uint32_t piece = (*ground)->piece[under] ? (*ground)->piece[under] : (*ground)->largest;
    const bool east = 2 * (int64_t)army->x < (int64_t)map.width * PHX_FIX_ONE;
    const bool south = 2 * (int64_t)army->y < (int64_t)map.height * PHX_FIX_ONE;
    const PhxCorner corner = south ? (east ? PHX_CORNER_SOUTH_EAST : PHX_CORNER_SOUTH_WEST)
                                   : (east ? PHX_CORNER_NORTH_EAST : PHX_CORNER_NORTH_WEST);
    const uint32_t from = phx_ground_corner(*ground, piece, corner);
    if (from == PHX_NAV_NO_CELL) return PHX_ERROR_NOT_FOUND;
    /* The disc that holds a group: sqrt(50 / 0.8) radii, and a fifth of that to spare. */
    const fix16_t disc = phx_fix_mul(army->radius, 19 * PHX_FIX_ONE / 2);
    PhxGround *wide = NULL;
    *goals = (Goals){.ground = *ground, .apart = (uint32_t)(2 * disc / PHX_FIX_ONE) + 1, .wanted = groups};
    PhxStatus found = phx_ground_create(&map, disc < 16 * PHX_FIX_ONE ? disc : 16 * PHX_FIX_ONE, &wide);
    if (found == PHX_OK) {
        goals->room = wide->fits;
        found = phx_ground_spread(*ground, from, take_goal, goals);
        goals->room = NULL;
    }
    phx_ground_destroy(wide);
    /* Where the map is too narrow for that, wherever a body stands. */
    if (found == PHX_OK && goals->count < groups) found = phx_ground_spread(*ground, from, take_goal, goals);
    return found;
}

void phx_bot_corner(const PhxSim *sim, uint8_t slot, uint32_t tick, PhxBotEmit emit, void *user) {
    if (tick != 0) return;
    const uint32_t count = phx_bot_unit_count(sim, slot);
    if (count == 0) return;
    const Army army = look(sim, slot, count);
    uint32_t size = GROUP_SIZE;
    while ((count + size - 1) / size > GROUP_LIMIT && 2 * size <= PHX_COMMAND_UNIT_LIMIT) size *= 2;
    const uint32_t groups = (count + size - 1) / size;
    Goals goals = {.count = 0};
    PhxGround *ground = NULL;
    if (choose_goals(sim, &army, groups < GROUP_LIMIT ? groups : GROUP_LIMIT, &goals, &ground) == PHX_OK &&
        goals.count > 0) {
        const PhxNavGrid map = phx_sim_map(sim);
        for (uint32_t group = 0; group < groups; group++) {
            PhxHandle units[PHX_COMMAND_UNIT_LIMIT];
            const PhxVec2 at = phx_nav_cell_center(&map, goals.cells[group % goals.count]);
            const uint32_t own = phx_bot_units(sim, slot, group * size, units, size);
            phx_bot_give(&(PhxCommandData){.type = PHX_COMMAND_MOVE,
                                           .goal_x = at.x,
                                           .goal_y = at.y,
                                           .unit_count = (uint16_t)own,
                                           .units = units},
                         emit, user);
        }
    }
    phx_ground_destroy(ground);
}
