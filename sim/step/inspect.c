/* inspect.c: const views of a sim: hashes, events, units, types, players, map, dump, and questions about
 * ways. Determinism: nothing here changes the sim; what a query computes, it computes aside.
 */
#include <string.h>

#include "base/assert.h"
#include "state/diff.h"
#include "state/hash.h"
#include "step/sim_internal.h"

static const char *const event_names[PHX_EVENT_KIND_COUNT] = {
    "arrived",     "blocked", "unreachable", "left", "gave up",
    "target lost", "built",   "razed",       "gate", "refused"};

const char *phx_event_name(PhxEventKind kind) {
    return (unsigned)kind < PHX_EVENT_KIND_COUNT ? event_names[kind] : "unknown";
}

void phx_sim_emit(PhxSim *sim, PhxEventKind kind, uint32_t unit) {
    const PhxUnitTable *units = &sim->world->unit;
    const uint8_t kind_bit = (uint8_t)(1u << (unsigned)kind);
    if ((sim->event_kinds[unit] & kind_bit) != 0 || sim->event_count == sim->event_capacity) return;
    sim->event_kinds[unit] |= kind_bit;
    sim->events[sim->event_count++] = (PhxEvent){.kind = kind,
                                                 .player = units->player[unit],
                                                 .unit = phx_handle_make(unit, units->generation[unit]),
                                                 .x = units->pos_x[unit],
                                                 .y = units->pos_y[unit]};
}

/* So many at most that the units' events keep their room. */
void phx_sim_emit_besides(PhxSim *sim, PhxEvent event) {
    if (sim->event_besides == PHX_SIM_EVENTS_BESIDES || sim->event_count == sim->event_capacity) return;
    sim->event_besides++;
    sim->events[sim->event_count++] = event;
}

void phx_sim_refresh_hashes(PhxSim *sim) { sim->root = phx_world_hash(sim->world, sim->table_hashes); }

uint32_t phx_sim_tick(const PhxSim *sim) { return sim->world->match.tick[0]; }
uint64_t phx_sim_root(const PhxSim *sim) { return sim->root; }
uint32_t phx_sim_table_count(const PhxSim *sim) { return sim->world->table_count; }
const uint64_t *phx_sim_table_hashes(const PhxSim *sim) { return sim->table_hashes; }
uint64_t phx_sim_schema_hash(const PhxSim *sim) { return sim->world->schema_hash; }
PhxSettings phx_sim_settings(const PhxSim *sim) { return sim->settings; }
uint32_t phx_sim_phase_count(const PhxSim *sim) { return sim->phase_count; }
PhxNavGrid phx_sim_map(const PhxSim *sim) { return phx_sim_grid(sim->world); }
size_t phx_sim_state_bytes(const PhxSim *sim) { return phx_world_state_bytes(sim->world); }
uint64_t phx_sim_audit_failures(const PhxSim *sim) { return sim->world->audit_failures; }

size_t phx_sim_memory_bytes(const PhxSim *sim) {
    const size_t spare = sim->spare ? sim->spare->arena.size : 0;
    const PhxRoutesUse use = phx_routes_use(sim->layers.routes);
    return sim->arena.size + phx_barriers_bytes(sim) + phx_lanes_bytes(sim) + use.plane_bytes +
           use.graph_bytes + use.cache_limit + sim->world->arena.size + spare;
}

const char *phx_sim_table_name(const PhxSim *sim, uint32_t table) {
    return table < sim->world->table_count ? sim->world->tables[table].desc->name : NULL;
}

const char *phx_sim_phase_name(const PhxSim *sim, uint32_t phase) {
    return phase < sim->phase_count ? sim->phases[phase].name : NULL;
}

const PhxEvent *phx_sim_events(const PhxSim *sim, uint32_t *count) {
    *count = sim->event_count;
    return sim->events;
}

PhxUnitView phx_sim_units(const PhxSim *sim) {
    const PhxTable *table = &sim->world->tables[PHX_TABLE_unit];
    const PhxUnitTable *units = &sim->world->unit;
    return (PhxUnitView){
        .used = table->used,
        .live = table->live,
        .generation = units->generation,
        .pos_x = units->pos_x,
        .pos_y = units->pos_y,
        .prev_x = sim->prev_x,
        .prev_y = sim->prev_y,
        .vel_x = units->vel_x,
        .vel_y = units->vel_y,
        .goal_x = units->goal_x,
        .goal_y = units->goal_y,
        .heading = units->heading,
        .type = units->type,
        .player = units->player,
        .activity = units->activity,
        .mood = units->mood,
        .behaviour = units->behaviour,
        .flock = units->flock,
        .avoid = units->avoid,
    };
}

PhxHandle phx_sim_unit_handle(const PhxSim *sim, uint32_t slot) {
    if (!phx_table_alive(&sim->world->tables[PHX_TABLE_unit], slot)) return PHX_HANDLE_NONE;
    return phx_handle_make(slot, sim->world->unit.generation[slot]);
}

static void copy_name(char to[17], const uint8_t *from) {
    memcpy(to, from, 16);
    to[16] = 0;
}

bool phx_sim_unit_type(const PhxSim *sim, uint32_t type, PhxUnitTypeInfo *out) {
    const PhxUnitTypeTable *types = &sim->world->unit_type;
    if (!phx_table_alive(&sim->world->tables[PHX_TABLE_unit_type], type)) return false;
    copy_name(out->name, types->name + (size_t)16 * type);
    out->radius = types->radius[type];
    out->speed = types->speed[type];
    return true;
}

bool phx_sim_player(const PhxSim *sim, uint32_t slot, PhxPlayerInfo *out) {
    const PhxPlayerTable *players = &sim->world->player;
    if (!phx_table_alive(&sim->world->tables[PHX_TABLE_player], slot)) return false;
    copy_name(out->name, players->name + (size_t)16 * slot);
    out->team = players->team[slot];
    out->left = players->status[slot] != 0;
    out->arrived = players->arrived[slot];
    return true;
}

/* One field, built in memory of its own and thrown away: the sim's cache stays as it is. */
PhxStatus phx_sim_query_direction(const PhxSim *sim, fix16_t goal_x, fix16_t goal_y, fix16_t x, fix16_t y,
                                  PhxDir *out) {
    const PhxNavGrid grid = phx_sim_grid(sim->world);
    const uint32_t goal = phx_nav_cell_at(&grid, goal_x, goal_y), cell = phx_nav_cell_at(&grid, x, y);
    *out = phx_dir(0, 0);
    if (goal == PHX_NAV_NO_CELL || cell == PHX_NAV_NO_CELL) return PHX_ERROR_RANGE;
    if (grid.cost[goal] == PHX_NAV_IMPASSABLE || grid.cost[cell] == PHX_NAV_IMPASSABLE)
        return PHX_ERROR_NOT_FOUND;
    const size_t field_bytes = (phx_field_size(grid.width, grid.height) + 63) & ~(size_t)63;
    PhxArena arena;
    PhxStatus status = phx_arena_create(&arena, sim->allocator,
                                        field_bytes + phx_field_scratch_size(grid.width, grid.height));
    if (status != PHX_OK) return status;
    PhxField field;
    phx_field_init(&field, grid.width, grid.height, arena.base);
    status = phx_field_build(&field, &grid, PHX_FIELD_WEIGHTS_DEFAULT, &goal, 1, arena.base + field_bytes);
    if (status == PHX_OK && field.flow[cell] == PHX_FLOW_NONE) status = PHX_ERROR_NOT_FOUND;
    if (status == PHX_OK && field.flow[cell] == PHX_FLOW_GOAL)
        (void)phx_vec2_normalize(phx_vec2_sub(phx_vec2(goal_x, goal_y), phx_vec2(x, y)), out);
    else if (status == PHX_OK)
        *out = phx_field_direction(&field, x, y);
    phx_arena_destroy(&arena);
    return status;
}

/* What solving read is kept: bodies and grid as they were gathered, wishes in columns that no later phase
 * writes. */
bool phx_sim_explain_unit(const PhxSim *sim, uint32_t slot, PhxOrcaExplanation *out) {
    if (!sim->chosen || slot >= sim->spatial.capacity || sim->spatial.count == 0) return false;
    const uint32_t row = sim->spatial.row_of[slot];
    if (row >= sim->spatial.count || sim->spatial.slot[row] != slot) return false;
    PhxOrcaWork work = sim->orca;
    const PhxOrcaScene scene = phx_sim_orca_scene(sim, &work);
    phx_orca_explain(&scene, slot, out);
    return true;
}

void phx_sim_observe_phases(PhxSim *sim, PhxPhaseObserver observer, void *user, bool trace) {
    sim->observer = observer;
    sim->observer_user = user;
    sim->trace = trace;
}

uint32_t phx_sim_diff(const PhxSim *left, const PhxSim *right, PhxDifference *out, uint32_t capacity) {
    PhxValueDifference found[64];
    const uint32_t part = capacity < 64 ? capacity : 64;
    const uint32_t count = phx_world_diff(left->world, right->world, found, part);
    for (uint32_t i = 0; i < part && i < count; i++)
        out[i] = (PhxDifference){found[i].table, found[i].column, found[i].table_index, found[i].column_index,
                                 found[i].row,   found[i].lane,   found[i].left,        found[i].right};
    return count;
}

void phx_sim_dump(const PhxSim *sim, PhxTextSink sink, void *user) { phx_world_dump(sim->world, sink, user); }
