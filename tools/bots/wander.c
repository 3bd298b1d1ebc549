/* wander.c: a bot that gives random orders all the time: a run of its units goes to one of the match's
 * meeting places, or goes there later, or stops. The places are few, so that crowds form; some lie in walls,
 * which is meant. Cost: a look over the units at every twentieth tick.
 */
#include "bots/bots_internal.h"

#include <phalanx/rng.h>

enum {
    PERIOD = 20,                /* ticks from one order of a slot to its next */
    RUN = 8,                    /* units of one order, at most */
    PLACES = 10,                /* meeting places of a match */
    PURPOSE_PLACE = 0x424f5400, /* of the draws */
    PURPOSE_ORDER
};

static PhxVec2 meeting_place(const PhxSim *sim, uint64_t key, uint32_t index) {
    const PhxNavGrid map = phx_sim_map(sim);
    const uint32_t x = phx_random_below(phx_random(key, PURPOSE_PLACE, 0, 0, 2 * index), map.width);
    const uint32_t y = phx_random_below(phx_random(key, PURPOSE_PLACE, 0, 0, 2 * index + 1), map.height);
    return phx_nav_cell_center(&map, y * map.width + x);
}

void phx_bot_wander(const PhxSim *sim, uint8_t slot, uint32_t tick, PhxBotEmit emit, void *user) {
    if (tick % PERIOD != slot % PERIOD) return;
    const uint32_t count = phx_bot_unit_count(sim, slot);
    if (count == 0) return;
    const uint64_t key = phx_sim_settings(sim).match_key;
    uint32_t draws[4];
    const uint32_t bounds[4] = {count, RUN, PLACES, 10};
    for (uint32_t i = 0; i < 4; i++)
        draws[i] = phx_random_below(phx_random(key, PURPOSE_ORDER, slot, tick, i), bounds[i]);
    PhxHandle units[RUN];
    const uint32_t own = phx_bot_units(sim, slot, draws[0], units, 1 + draws[1]);
    const PhxVec2 at = meeting_place(sim, key, draws[2]);
    const bool stop = draws[3] == 9, queued = draws[3] >= 6 && !stop;
    phx_bot_give(&(PhxCommandData){.type = stop ? PHX_COMMAND_STOP : PHX_COMMAND_MOVE,
                                   .goal_x = at.x,
                                   .goal_y = at.y,
                                   .queued = queued,
                                   .unit_count = (uint16_t)own,
                                   .units = units},
                 emit, user);
}
