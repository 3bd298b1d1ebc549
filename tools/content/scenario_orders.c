/* scenario_orders.c: the scripted orders of a scenario as commands. See scenario.h. */
#include "content/scenario.h"

#include <phalanx/building.h>
#include <string.h>

typedef struct Emitter {
    const PhxScenario *scenario;
    const PhxSim *sim;
    PhxScenarioEmit emit;
    void *user;
    const PhxScenarioOrder *order;
    uint16_t count;
    PhxHandle units[PHX_COMMAND_UNIT_LIMIT];
} Emitter;

static void emit_command(const Emitter *emitter, const PhxCommandData *command) {
    uint8_t bytes[PHX_COMMAND_SIZE_LIMIT];
    size_t size;
    if (phx_command_encode(command, bytes, sizeof bytes, &size) == PHX_OK)
        emitter->emit(emitter->user, emitter->order->player, bytes, (uint32_t)size);
}

/* One command for the units that were collected. */
static void emit_batch(Emitter *emitter, PhxVec2 goal) {
    if (emitter->count == 0) return;
    static const uint8_t types[] = {PHX_COMMAND_MOVE,       PHX_COMMAND_MOVE_AREA, PHX_COMMAND_MOVE_NEAREST,
                                    PHX_COMMAND_MOVE_BLEND, PHX_COMMAND_CHASE,     PHX_COMMAND_STOP,
                                    PHX_COMMAND_BEHAVE,     PHX_COMMAND_FLOCK,     PHX_COMMAND_FORM,
                                    PHX_COMMAND_MARCH};
    const PhxScenarioOrder *order = emitter->order;
    const PhxScenarioGroup *target = &emitter->scenario->groups[order->target_group];
    PhxCommandData command = {.type = types[order->kind],
                              .goal_x = goal.x,
                              .goal_y = goal.y,
                              .queued = order->queued,
                              .radius = order->radius,
                              .target = phx_handle_make(target->first_unit + order->target_unit, 1),
                              .threshold = order->threshold,
                              .mood = order->mood,
                              .behaviour = order->behaviour,
                              .flock = order->flock,
                              .shape = order->shape,
                              .pattern = order->pattern,
                              .turns = order->turns,
                              .facing = order->facing,
                              .form_width = order->form_width,
                              .gap = order->gap,
                              .lane_spread = order->lane_spread,
                              .point_count = (uint8_t)order->point_count,
                              .unit_count = emitter->count,
                              .units = emitter->units};
    memcpy(command.points, order->points, sizeof command.points);
    emit_command(emitter, &command);
    emitter->count = 0;
}

static void emit_units(Emitter *emitter) {
    const PhxScenario *scenario = emitter->scenario;
    const PhxScenarioOrder *order = emitter->order;
    const bool own_goals = order->kind == PHX_SCENARIO_MOVE && order->goal.kind == PHX_PLACE_SCATTER;
    uint32_t next_goal = order->first_goal;
    PhxVec2 goal = {order->goal.x, order->goal.y};
    emitter->count = 0;
    for (uint32_t i = 0; i < order->group_count; i++) {
        const PhxScenarioGroup *group = &scenario->groups[scenario->group_list[order->first_group + i]];
        for (uint32_t k = 0; k < group->count; k++) {
            /* The first row of a table has generation 1. */
            emitter->units[emitter->count++] = phx_handle_make(group->first_unit + k, 1);
            if (own_goals) goal = scenario->goals[next_goal++];
            if (own_goals || emitter->count == PHX_COMMAND_UNIT_LIMIT) emit_batch(emitter, goal);
        }
    }
    emit_batch(emitter, goal);
}

/* Cells are those of the scenario's own map. */
static void emit_cells(const Emitter *emitter) {
    static const uint8_t types[] = {PHX_COMMAND_PLACE, PHX_COMMAND_RAZE, PHX_COMMAND_GATE,
                                    PHX_COMMAND_GROUND};
    const PhxScenarioOrder *order = emitter->order;
    if (emitter->scenario->foreign_map) return;
    const PhxCommandData command = {.type = types[order->kind - PHX_SCENARIO_PLACE],
                                    .cell_x = order->cell_x,
                                    .cell_y = order->cell_y,
                                    .width = order->width,
                                    .height = order->height,
                                    .gate = order->gate,
                                    .building =
                                        phx_sim_building_at(emitter->sim, order->cell_x, order->cell_y),
                                    .open_teams = order->open_teams,
                                    .ground_cost = order->ground_cost,
                                    .kind = order->ground_kind};
    emit_command(emitter, &command);
}

void phx_scenario_orders(const PhxScenario *scenario, const PhxSim *sim, uint32_t tick, PhxScenarioEmit emit,
                         void *user) {
    Emitter emitter = {.scenario = scenario, .sim = sim, .emit = emit, .user = user};
    uint32_t low = 0, high = scenario->order_count; /* the first order of this tick or later */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (scenario->orders[middle].tick < tick)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < scenario->order_count && scenario->orders[low].tick == tick; low++) {
        emitter.order = &scenario->orders[low];
        if (emitter.order->kind >= PHX_SCENARIO_PLACE)
            emit_cells(&emitter);
        else
            emit_units(&emitter);
    }
}
