/* feel.c: the phase `feel`: what moods, behaviours and company make of the wishes of this tick.
 *
 * In: preferred velocities, and the columns of moods and behaviours. Out: preferred velocities, avoidance
 * radii, weights, greatest speeds, for whoever avoids. Cost: see <phalanx/feelings.h>. Determinism: each
 * range of rows writes the rows of its own units only, and reads of others what no range writes.
 */
#include "motion/unit_controller.h"
#include "step/sim_internal.h"

static void copy_moods(const fix16_t *column, uint32_t type, fix16_t *out) {
    for (uint32_t m = 0; m < PHX_MOOD_COUNT; m++) out[m] = column[type * PHX_MOOD_COUNT + m];
}

static PhxFeelingsClass class_of_type(const PhxUnitTypeTable *types, uint32_t t) {
    PhxFeelingsClass class = {
        .radius = types->radius[t],
        .avoid_ratio = types->avoid_ratio[t],
        .speed = types->speed[t],
        .mood_rate = types->mood_rate[t],
        .range = types->feel_range[t],
        .cohesion = types->cohesion[t],
        .berth = types->berth[t],
        .spread = types->spread[t],
        .clip = types->force_clip[t],
        .spacing = {0, types->guard_spacing[t], types->patrol_spacing[t]},
        .neighbours = types->feel_neighbours[t],
        .weight = types->weight[t],
    };
    copy_moods(types->path_bias, t, class.path_bias);
    copy_moods(types->radius_factor, t, class.radius_factor);
    copy_moods(types->speed_factor, t, class.speed_factor);
    return class;
}

typedef struct Task {
    PhxSim *sim;
    PhxFeelingsScene scene;
} Task;

/* Who is driven by feelings alone turns to where it's driven; with an order, `prefer` has turned it. */
static void face_flight(PhxWorld *world, uint32_t slot) {
    PhxUnitTable *units = &world->unit;
    PhxDir way;
    if (units->activity[slot] != 0 || units->mood_level[slot] <= PHX_FIX_ONE) return;
    if (phx_vec2_normalize(phx_vec2(units->pref_x[slot], units->pref_y[slot]), &way) == 0) return;
    const PhxUnitLimits limits = {.speed = units->top_speed[slot],
                                  .acceleration = world->unit_type.acceleration[units->type[slot]],
                                  .turn_rate = world->unit_type.turn_rate[units->type[slot]],
                                  .tick_rate = world->match.tick_rate[0]};
    units->heading[slot] = phx_unit_steer(&limits, units->heading[slot], way, INT32_MAX).heading;
}

static void feel_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const Task *task = context;
    PhxWorld *world = task->sim->world;
    const uint32_t *slots = task->scene.spatial->slot;
    (void)worker;
    for (uint32_t row = begin; row < end; row++)
        world->unit.top_speed[slots[row]] =
            phx_feelings_stirred(&task->scene, slots[row]) ? phx_unit_ground_speed(world, slots[row]) : 0;
    phx_feelings_solve(&task->scene, begin, end);
    for (uint32_t row = begin; row < end; row++) face_flight(world, slots[row]);
}

void phx_phase_feel(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    PhxWorld *world = context->world;
    const PhxUnitTable *units = &world->unit;
    const uint32_t types = world->tables[PHX_TABLE_unit_type].used;
    (void)user;
    if (sim->living_count == 0) return;
    for (uint32_t t = 0; t < types; t++) sim->feelings[t] = class_of_type(&world->unit_type, t);
    Task task = {.sim = sim,
                 .scene = {
                     .spatial = &sim->spatial,
                     .classes = sim->feelings,
                     .class_count = types,
                     .tick_rate = world->match.tick_rate[0],
                     .class_of = units->type,
                     .mood = units->mood,
                     .behaviour = units->behaviour,
                     .owner = units->player,
                     .team = world->player.team,
                     .moving = units->activity,
                     .arriving = units->aim,
                     .vel_x = units->vel_x,
                     .vel_y = units->vel_y,
                     .post_x = units->goal_x,
                     .post_y = units->goal_y,
                     .mood_level = units->mood_level,
                     .avoid = units->avoid,
                     .pref_x = units->pref_x,
                     .pref_y = units->pref_y,
                     .speed = units->top_speed,
                     .weight = units->weight,
                 }};
    phx_feelings_prepare(&task.scene);
    phx_parallel_for(context->jobs, sim->spatial.count, PHX_SIM_UNIT_GRAIN, feel_range, &task);
}
