/* mason.c: a bot that wanders, and builds: near one of its units it places a building or a gate where that is
 * legal and cuts none of its units off from the others, opens and shuts its gates, and razes what it has too
 * much of. Cost: a look over units and buildings at every thirtieth tick, and a question about a placement.
 */
#include "bots/bots_internal.h"

#include <phalanx/building.h>
#include <phalanx/rng.h>

enum {
    PERIOD = 30,               /* ticks from one order of a slot to its next */
    OWNED = 12,                /* buildings of a slot, at most */
    WITNESSES = 16,            /* units that are to stay joined */
    PURPOSE_MASON = 0x424f5410 /* of the draws */
};

typedef struct Mason {
    const PhxSim *sim;
    uint8_t slot;
    uint32_t tick, drawn;
    PhxHandle own[OWNED + 1];
    uint32_t own_count;
} Mason;

static uint32_t draw(Mason *mason, uint32_t below) {
    const uint64_t key = phx_sim_settings(mason->sim).match_key;
    return phx_random_below(phx_random(key, PURPOSE_MASON, mason->slot, mason->tick, mason->drawn++), below);
}

static void look(Mason *mason) {
    for (uint32_t b = 0; b < phx_sim_building_used(mason->sim) && mason->own_count <= OWNED; b++) {
        PhxBuildingInfo info;
        const PhxHandle building = phx_sim_building_handle(mason->sim, b);
        if (phx_sim_building(mason->sim, building, &info) && info.player == mason->slot)
            mason->own[mason->own_count++] = building;
    }
}

/* Would every unit that is asked stay joined with the first one? */
static bool cuts_nobody_off(Mason *mason, const PhxBuildingInfo *building, uint32_t units) {
    const PhxUnitView view = phx_sim_units(mason->sim);
    PhxHandle some[WITNESSES];
    PhxVec2 at[WITNESSES];
    PhxPlayerInfo player;
    PhxPlacement answer;
    const uint32_t count = phx_bot_units(mason->sim, mason->slot, draw(mason, units), some, WITNESSES);
    if (count == 0 || !phx_sim_player(mason->sim, mason->slot, &player)) return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t unit = phx_handle_slot(some[i]);
        at[i] = phx_vec2(view.pos_x[unit], view.pos_y[unit]);
    }
    const PhxPlacementQuestion question = {.building = *building,
                                           .unit_type = view.type[phx_handle_slot(some[0])],
                                           .team = player.team,
                                           .places = at,
                                           .place_count = count};
    return phx_sim_placement(mason->sim, &question, &answer) == PHX_OK &&
           answer.reason == PHX_PLACEMENT_LEGAL && answer.sealed == 0;
}

static void build(Mason *mason, uint32_t units, PhxBotEmit emit, void *user) {
    const PhxUnitView view = phx_sim_units(mason->sim);
    PhxHandle near;
    if (phx_bot_units(mason->sim, mason->slot, draw(mason, units), &near, 1) == 0) return;
    const uint32_t unit = phx_handle_slot(near);
    const int32_t x = view.pos_x[unit] / PHX_FIX_ONE + (int32_t)draw(mason, 13) - 6,
                  y = view.pos_y[unit] / PHX_FIX_ONE + (int32_t)draw(mason, 13) - 6;
    const PhxBuildingInfo building = {
        .cells = {x, y, x + 1 + (int32_t)draw(mason, 4), y + 1 + (int32_t)draw(mason, 4)},
        .player = mason->slot,
        .gate = draw(mason, 3) == 0};
    if (!cuts_nobody_off(mason, &building, units)) return;
    phx_bot_give(&(PhxCommandData){.type = PHX_COMMAND_PLACE,
                                   .cell_x = (uint16_t)x,
                                   .cell_y = (uint16_t)y,
                                   .width = (uint16_t)(building.cells.x1 - x),
                                   .height = (uint16_t)(building.cells.y1 - y),
                                   .gate = building.gate},
                 emit, user);
}

void phx_bot_mason(const PhxSim *sim, uint8_t slot, uint32_t tick, PhxBotEmit emit, void *user) {
    Mason mason = {.sim = sim, .slot = slot, .tick = tick};
    const uint32_t units = phx_bot_unit_count(sim, slot);
    phx_bot_wander(sim, slot, tick, emit, user);
    if (tick % PERIOD != slot % PERIOD || units == 0) return;
    look(&mason);
    const uint32_t way = draw(&mason, 10);
    if (mason.own_count < OWNED && way < 7) {
        build(&mason, units, emit, user);
    } else if (mason.own_count > 0) {
        const PhxHandle building = mason.own[draw(&mason, mason.own_count)];
        PhxBuildingInfo info = {.gate = false};
        (void)phx_sim_building(sim, building, &info);
        phx_bot_give(&(PhxCommandData){.type = info.gate ? PHX_COMMAND_GATE : PHX_COMMAND_RAZE,
                                       .building = building,
                                       .open_teams = (uint16_t)(draw(&mason, 2) ? 0xffff : 0)},
                     emit, user);
    }
}
