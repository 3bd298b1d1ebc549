/* states.c: see states.h. Cost: one pass over the cells of the columns that differ, one hash of the others.
 */
#include "bisect/states.h"

#include <stdlib.h>
#include <string.h>

#include "bundle/view.h"
#include "step/sim_internal.h"

enum { ROWS_A_COLUMN = 16 };

PhxKeptState phx_kept_snapshot(const PhxReplay *replay, const PhxSim *sim,
                               const PhxReplaySnapshot *snapshot) {
    PhxKeptState state = {NULL, snapshot->size};
    if (!snapshot->readable || snapshot->size > phx_sim_state_bytes(sim) + PHX_REPLAY_SNAPSHOT_EXTRA)
        return state;
    state.bytes = malloc(snapshot->size + (size_t)1);
    if (state.bytes && phx_replay_snapshot_read(replay, snapshot, state.bytes, snapshot->size) == PHX_OK)
        return state;
    free(state.bytes);
    state.bytes = NULL;
    return state;
}

PhxKeptState phx_kept_state(const PhxReplay *replay, const PhxSim *sim, uint32_t tick, uint64_t root) {
    PhxReplaySnapshot snapshot;
    PhxKeptState state = {NULL, 0};
    uint64_t position = 0;
    while (replay && !state.bytes && phx_replay_evidence_next(replay, &position, &snapshot))
        if (snapshot.tick == tick && snapshot.root == root) state = phx_kept_snapshot(replay, sim, &snapshot);
    return state;
}

PhxKeptState phx_own_state(const PhxSim *sim) {
    const size_t size = phx_sim_snapshot_size(sim);
    PhxKeptState state = {malloc(size), 0};
    if (state.bytes && phx_sim_snapshot(sim, state.bytes, size, &state.size) == PHX_OK) return state;
    free(state.bytes);
    return (PhxKeptState){NULL, 0};
}

static PhxBisectValue make_value(const PhxTableDesc *table, const PhxColumnDesc *column, uint64_t cell) {
    static const char *const types[] = {
#define TYPE_NAME(name, ctype, bytes, is_signed) #name,
        PHX_TYPE_LIST(TYPE_NAME)
#undef TYPE_NAME
    };
    PhxBisectValue value = {
        .row = (uint32_t)(cell / column->lanes), .lane = (uint32_t)(cell % column->lanes), .differs = true};
    snprintf(value.table, sizeof value.table, "%.39s", table->name);
    snprintf(value.column, sizeof value.column, "%.39s", column->name);
    snprintf(value.type, sizeof value.type, "%s", types[column->type]);
    return value;
}

static void compare_column(const PhxStateView views[2], uint32_t t, uint32_t c, PhxBisectReport *report) {
    const PhxTableDesc *table = views[0].sim->world->tables[t].desc;
    const PhxColumnDesc *column = &table->columns[c];
    const uint64_t cells = phx_state_cells(&views[0], t, c);
    PhxBisectColumn found = {.rows = 0};
    uint32_t last = UINT32_MAX;
    if (phx_state_hash(&views[0], t, c, 0, cells) == phx_state_hash(&views[1], t, c, 0, cells) ||
        report->column_count == PHX_BISECT_COLUMNS)
        return;
    for (uint64_t cell = 0; cell < cells && !found.more; cell++) {
        const uint64_t left = phx_state_value(&views[0], t, c, cell),
                       right = phx_state_value(&views[1], t, c, cell);
        if (left == right) continue;
        PhxBisectValue value = make_value(table, column, cell);
        value.left = left, value.right = right;
        found.more = value.row != last && found.rows == ROWS_A_COLUMN;
        if (found.more) break;
        found.rows += value.row != last;
        last = value.row;
        if (report->value_count < PHX_BISECT_VALUES) report->values[report->value_count++] = value;
    }
    snprintf(found.table, sizeof found.table, "%.39s", table->name);
    snprintf(found.column, sizeof found.column, "%.39s", column->name);
    report->columns[report->column_count++] = found;
}

bool phx_compare_states(const PhxSim *sim, const PhxKeptState states[2], PhxBisectReport *report) {
    PhxStateView views[2];
    for (int i = 0; i < 2; i++)
        if (!states[i].bytes ||
            phx_state_view(sim, states[i].bytes, states[i].size, &views[i], NULL) != PHX_OK)
            return false;
    for (uint32_t t = 0; t < views[0].tables; t++)
        for (uint32_t c = 0; c < phx_state_columns(&views[0], t); c++)
            if (phx_state_cells(&views[0], t, c) > 0) compare_column(views, t, c, report);
    return report->column_count > 0;
}

void phx_writers_of(const PhxSim *sim, const char *table, const char *column, char *text, size_t size) {
    char name[2 * PHX_BISECT_NAME + 2];
    size_t used = 0;
    const size_t length = (size_t)snprintf(name, sizeof name, "%s.%s", table, column);
    text[0] = 0;
    for (uint32_t p = 0; p < sim->phase_count; p++) {
        const char *list = sim->phases[p].writes ? sim->phases[p].writes : "";
        bool writes = false;
        for (const char *at = strstr(list, name); at && !writes; at = strstr(at + 1, name))
            writes = (at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0);
        if (!writes) continue;
        const int wrote = snprintf(text + used, size - used, "%s%s", used ? ", " : "", sim->phases[p].name);
        used += wrote > 0 ? (size_t)wrote : 0;
        if (used >= size) break;
    }
}
