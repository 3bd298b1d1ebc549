/* locate.c: within the tick that differs: the phase, the columns, the rows, the values, and what the phase
 * read.
 *
 * Both sides step the tick once more and tell a hash after each phase; then again, and stop behind the first
 * phase that differs; then once more, and stop before it, for what it read. Each time they come from the mark
 * of the last window, or, where the divergence doesn't show from there, straight from tick 0: then it hangs
 * on what is derived from older states.
 */
#include <stdlib.h>
#include <string.h>

#include "bisect/hunt.h"

enum { ROWS_A_COLUMN = 16, REQUESTS_A_COLUMN = 4096, WORDS = 256 };
#define NO_PHASE UINT32_MAX

/* ---- through the tick */

static bool seek(Hunt *hunt, uint32_t tick, HuntState states[2]) {
    char *replies[2];
    if (!hunt_ask(hunt, replies, "seek %lu%s", (unsigned long)tick, hunt->afresh ? " afresh" : ""))
        return false;
    return !states || (hunt_read_state(replies[0], &states[0]) && hunt_read_state(replies[1], &states[1]));
}

static void read_trace(PhxSide *side, HuntTrace *trace) {
    char *line;
    unsigned phase;
    unsigned long long all, state;
    *trace = (HuntTrace){.begun = NO_PHASE};
    while ((line = phx_side_line(side)) != NULL) {
        if (strncmp(line, "ok ", 3) == 0) {
            trace->complete = hunt_read_state(line + 3, &trace->after);
            return;
        }
        if (strncmp(line, "error ", 6) == 0) return;
        if (sscanf(line, "begin %u", &phase) == 1 && phase < PHX_TREE_PHASE_LIMIT) trace->begun = phase;
        if (sscanf(line, "end %u %llx %llx", &phase, &all, &state) == 3 && phase < PHX_TREE_PHASE_LIMIT) {
            trace->all[phase] = all;
            trace->state[phase] = state;
            trace->ended |= (uint64_t)1 << phase;
        }
    }
}

static void trace_both(Hunt *hunt) {
    for (int i = 0; i < 2; i++) (void)phx_side_ask(&hunt->side[i], "trace");
    for (int i = 0; i < 2; i++) read_trace(&hunt->side[i], &hunt->trace[i]);
}

/* The first phase that ran on one side alone or left something else behind; NO_PHASE: none. */
static uint32_t first_phase(const Hunt *hunt, bool state_alone) {
    const HuntTrace *left = &hunt->trace[0], *right = &hunt->trace[1];
    for (uint32_t p = 0; p < hunt->phase_count; p++) {
        const bool a = left->ended >> p & 1, b = right->ended >> p & 1;
        if (a != b) return p;
        if (left->state[p] != right->state[p] || (!state_alone && left->all[p] != right->all[p])) return p;
    }
    return NO_PHASE;
}

static bool read_columns(Hunt *hunt, int i) {
    PhxSide *side = &hunt->side[i];
    char *line;
    while ((line = phx_side_line(side)) != NULL && strcmp(line, "ok") != 0) {
        char *at, *end;
        if (strncmp(line, "columns ", 8) != 0) return false;
        const unsigned long table = strtoul(line + 8, &at, 10);
        if (table >= PHX_SCHEMA_TABLE_LIMIT) return false;
        hunt->columns[i].used[table] = (uint32_t)strtoul(at, &end, 10);
        for (uint32_t c = 0; c < PHX_SCHEMA_COLUMN_LIMIT && *end == ' '; c++)
            hunt->columns[i].hash[table][c] = strtoull(at = end, &end, 16);
    }
    return line != NULL;
}

static bool ask_columns(Hunt *hunt) {
    memset(hunt->columns, 0, sizeof hunt->columns);
    for (int i = 0; i < 2; i++) (void)phx_side_ask(&hunt->side[i], "columns");
    const bool left = read_columns(hunt, 0);
    return read_columns(hunt, 1) && left;
}

static bool columns_differ(const Hunt *hunt) {
    return memcmp(&hunt->columns[0], &hunt->columns[1], sizeof hunt->columns[0]) != 0;
}

/* ---- rows and values */

typedef struct Rows {
    uint32_t row[ROWS_A_COLUMN];
    uint32_t count, requests; /* so that a worker that contradicts itself can't keep the search going */
    bool more;
} Rows;

/* Rows begin .. end - 1 that differ, ascending, by halves; at most ROWS_A_COLUMN. The depth is that of the
 * number of rows, at most 24. */
static void find_rows(Hunt *hunt, uint32_t table, uint32_t column, uint32_t begin, uint32_t end, Rows *rows) {
    char *replies[2];
    if (begin >= end) return;
    if (rows->count == ROWS_A_COLUMN || rows->requests++ == REQUESTS_A_COLUMN) {
        rows->requests = REQUESTS_A_COLUMN;
        rows->more = true;
        return;
    }
    if (!hunt_ask(hunt, replies, "rows %lu %lu %lu %lu", (unsigned long)table, (unsigned long)column,
                  (unsigned long)begin, (unsigned long)end) ||
        strcmp(replies[0], replies[1]) == 0)
        return;
    if (end - begin == 1) {
        rows->row[rows->count++] = begin;
        return;
    }
    const uint32_t middle = begin + (end - begin) / 2;
    find_rows(hunt, table, column, begin, middle, rows);
    find_rows(hunt, table, column, middle, end, rows);
}

/* The lanes of a value on both sides; how many. */
static uint32_t ask_value(Hunt *hunt, uint32_t table, uint32_t column, uint32_t row,
                          uint64_t lanes[2][WORDS]) {
    char *replies[2];
    uint32_t count = 0;
    if (!hunt_ask(hunt, replies, "value %lu %lu %lu", (unsigned long)table, (unsigned long)column,
                  (unsigned long)row))
        return 0;
    for (int i = 0; i < 2; i++) {
        char *at = replies[i], *end;
        for (count = 0; count < WORDS; count++, at = end) {
            lanes[i][count] = strtoull(at, &end, 16);
            if (end == at) break;
        }
    }
    return count;
}

static PhxBisectValue make_value(const Hunt *hunt, uint32_t table, uint32_t column, uint32_t row,
                                 uint32_t lane) {
    const HuntColumn *of = &hunt->tables[table].columns[column];
    PhxBisectValue value = {.row = row, .lane = lane};
    memcpy(value.table, hunt->tables[table].name, sizeof value.table);
    memcpy(value.column, of->name, sizeof value.column);
    memcpy(value.type, of->type, sizeof value.type);
    return value;
}

static void add_values(Hunt *hunt, uint32_t table, uint32_t column, uint32_t row) {
    uint64_t lanes[2][WORDS];
    const uint32_t count = ask_value(hunt, table, column, row, lanes);
    for (uint32_t lane = 0; lane < count; lane++) {
        if (lanes[0][lane] == lanes[1][lane] || hunt->report->value_count == PHX_BISECT_VALUES) continue;
        PhxBisectValue value = make_value(hunt, table, column, row, lane);
        value.left = lanes[0][lane], value.right = lanes[1][lane], value.differs = true;
        hunt->report->values[hunt->report->value_count++] = value;
    }
}

static void add_column(Hunt *hunt, uint32_t table, uint32_t column) {
    PhxBisectReport *report = hunt->report;
    if (report->column_count == PHX_BISECT_COLUMNS) return;
    const uint32_t left = hunt->columns[0].used[table], right = hunt->columns[1].used[table];
    const uint32_t used = left > right ? left : right, capacity = hunt->tables[table].capacity;
    Rows rows = {.count = 0};
    find_rows(hunt, table, column, 0, used < capacity ? used : capacity, &rows);
    PhxBisectColumn *made = &report->columns[report->column_count++];
    *made = (PhxBisectColumn){.rows = rows.count,
                              .more = rows.more,
                              .scratch = hunt->tables[table].columns[column].scratch,
                              .used_alone = rows.count == 0};
    memcpy(made->table, hunt->tables[table].name, sizeof made->table);
    memcpy(made->column, hunt->tables[table].columns[column].name, sizeof made->column);
    for (uint32_t i = 0; i < rows.count; i++) add_values(hunt, table, column, rows.row[i]);
}

/* Both sides stand where they differ: fills columns and values. */
static void compare_columns(Hunt *hunt) {
    for (uint32_t t = 0; t < hunt->table_count; t++)
        for (uint32_t c = 0; c < hunt->tables[t].column_count; c++)
            if (hunt->columns[0].hash[t][c] != hunt->columns[1].hash[t][c]) add_column(hunt, t, c);
}

/* ---- what the phase read */

static bool find_column(const Hunt *hunt, const char *table, const char *column, uint32_t *t, uint32_t *c) {
    for (*t = 0; *t < hunt->table_count; ++*t) {
        if (strcmp(hunt->tables[*t].name, table) != 0) continue;
        for (*c = 0; *c < hunt->tables[*t].column_count; ++*c)
            if (strcmp(hunt->tables[*t].columns[*c].name, column) == 0) return true;
    }
    return false;
}

/* Which row of `table` belongs to `row` of table `from`? The same row of the same table; the one row of a
 * table that has one; or the row that a column names: unit.type the row of unit_type, unit.player that of
 * player. */
static bool related_row(Hunt *hunt, uint32_t from, uint32_t row, uint32_t table, uint32_t *out) {
    const HuntTable *source = &hunt->tables[from], *target = &hunt->tables[table];
    *out = row;
    if (table == from) return true;
    *out = 0;
    if (target->capacity == 1) return true;
    for (uint32_t c = 0; c < source->column_count; c++) {
        char joined[2 * PHX_BISECT_NAME + 1];
        uint64_t lanes[2][WORDS];
        snprintf(joined, sizeof joined, "%s_%s", source->name, source->columns[c].name);
        if (strcmp(target->name, source->columns[c].name) != 0 && strcmp(target->name, joined) != 0) continue;
        if (ask_value(hunt, from, c, row, lanes) != 1 || lanes[0][0] != lanes[1][0]) return false;
        *out = (uint32_t)lanes[0][0];
        return *out < target->capacity;
    }
    return false;
}

static void push_input(PhxBisectReport *report, PhxBisectValue value) {
    value.differs = value.left != value.right;
    report->inputs_differ += value.differs;
    if (report->input_count == PHX_BISECT_INPUTS)
        report->inputs_cut = true;
    else
        report->inputs[report->input_count++] = value;
}

static void add_input(Hunt *hunt, uint32_t from, uint32_t row, uint32_t table, uint32_t column) {
    uint64_t lanes[2][WORDS];
    uint32_t other;
    if (!related_row(hunt, from, row, table, &other)) {
        PhxBisectValue whole = make_value(hunt, table, column, 0, 0);
        whole.whole = true;
        whole.left = hunt->columns[0].hash[table][column];
        whole.right = hunt->columns[1].hash[table][column];
        push_input(hunt->report, whole);
        return;
    }
    const uint32_t count = ask_value(hunt, table, column, other, lanes);
    for (uint32_t lane = 0; lane < count; lane++) {
        PhxBisectValue value = make_value(hunt, table, column, other, lane);
        value.left = lanes[0][lane], value.right = lanes[1][lane];
        push_input(hunt->report, value);
    }
}

/* Both sides stand before the phase. */
static void compare_inputs(Hunt *hunt, uint32_t phase) {
    char reads[PHX_WORKER_LINE];
    uint32_t from = 0, column = 0, t, c;
    const PhxBisectValue *first = &hunt->report->values[0];
    if (hunt->report->value_count == 0 || !find_column(hunt, first->table, first->column, &from, &column))
        return;
    memcpy(reads, hunt->phases[phase].reads, sizeof reads);
    for (char *word = strtok(reads, ","); word; word = strtok(NULL, ",")) {
        char *dot = strchr(word, '.');
        if (!dot) continue;
        *dot = 0;
        if (find_column(hunt, word, dot + 1, &t, &c)) add_input(hunt, from, first->row, t, c);
    }
}

/* ---- the whole */

static void report_tables(Hunt *hunt, const HuntState states[2]) {
    PhxBisectReport *report = hunt->report;
    report->table_count = 0;
    for (uint32_t t = 0; t < hunt->table_count; t++) {
        if (states[0].tables[t] == states[1].tables[t]) continue;
        PhxBisectTable *table = &report->tables[report->table_count++];
        memcpy(table->name, hunt->tables[t].name, sizeof table->name);
        table->left = states[0].tables[t];
        table->right = states[1].tables[t];
    }
}

/* Where the hashes of the tick don't tell: the tables of the columns. */
static void report_tables_of_columns(Hunt *hunt) {
    for (uint32_t t = 0; t < hunt->table_count; t++) {
        bool differs = false;
        for (uint32_t c = 0; c < hunt->report->column_count; c++)
            if (strcmp(hunt->report->columns[c].table, hunt->tables[t].name) == 0) differs = true;
        if (differs)
            memcpy(hunt->report->tables[hunt->report->table_count++].name, hunt->tables[t].name,
                   PHX_BISECT_NAME);
    }
}

/* Which side computes what the replay recorded? */
static int agreeing_side(const Hunt *hunt) {
    PhxReplay *replay;
    PhxReplayCursor *cursor = NULL;
    PhxReplayTick tick;
    int agrees = -2;
    if (strcmp(hunt->plan->replays[0], hunt->plan->replays[1]) != 0 ||
        phx_replay_load(hunt->plan->replays[0], 0, &replay, NULL) != PHX_OK)
        return agrees;
    if (phx_replay_cursor_create(replay, &cursor) == PHX_OK)
        while (phx_replay_cursor_next(cursor, &tick) && tick.complete && tick.tick < hunt->report->tick)
            continue;
    if (cursor && tick.complete && tick.tick == hunt->report->tick) {
        const HuntTrace *traces = hunt->trace;
        const bool left = traces[0].complete && tick.root == traces[0].after.root;
        const bool right = traces[1].complete && tick.root == traces[1].after.root;
        const bool both_known = traces[0].complete && traces[1].complete;
        agrees = left && right ? -2 : left ? 0 : right ? 1 : both_known ? -1 : -2;
    }
    phx_replay_cursor_destroy(cursor);
    phx_replay_close(replay);
    return agrees;
}

/* Steps the tick with a look at each phase. False where the divergence doesn't show. */
static bool retrace(Hunt *hunt) {
    HuntState states[2];
    hunt->report->tick = hunt->tick;
    if (!seek(hunt, hunt->tick, states) || states[0].root != states[1].root || !ask_columns(hunt))
        return false;
    if (columns_differ(hunt) && hunt->tick > 0) {
        /* After the last tick's hash was taken. */
        hunt->report->tick = hunt->tick - 1;
        if (!seek(hunt, hunt->report->tick, states)) return false;
    }
    trace_both(hunt);
    const bool died = !hunt->trace[0].complete || !hunt->trace[1].complete;
    return died || first_phase(hunt, false) != NO_PHASE ||
           hunt->trace[0].after.root != hunt->trace[1].after.root;
}

static bool revive_dead(Hunt *hunt) {
    for (int i = 0; i < 2; i++)
        if (hunt->side[i].dead && !hunt_revive(hunt, i)) return false;
    return true;
}

static void report_phase(Hunt *hunt, uint32_t phase) {
    PhxBisectReport *report = hunt->report;
    const uint32_t state = first_phase(hunt, true);
    report->has_phase = true;
    report->phase_index = phase;
    memcpy(report->phase, hunt->phases[phase].name, sizeof report->phase);
    if (state != NO_PHASE) memcpy(report->state_phase, hunt->phases[state].name, sizeof report->state_phase);
}

/* Both sides to a moment of the tick, columns told. A side may die when it is let go from where it stands;
 * then it is brought up again. */
static bool reach(Hunt *hunt, uint32_t phase, const char *moment) {
    for (int attempt = 0; attempt < 2; attempt++) {
        if (!revive_dead(hunt)) return false;
        if (seek(hunt, hunt->report->tick, NULL) &&
            hunt_ask(hunt, NULL, "stop %lu %s", (unsigned long)phase, moment) && ask_columns(hunt))
            return true;
    }
    return false;
}

/* Is the column in a list "table.column,table.column"? */
static bool declares(const char *list, const PhxBisectColumn *column) {
    char name[2 * PHX_BISECT_NAME + 2];
    const int length = snprintf(name, sizeof name, "%s.%s", column->table, column->column);
    for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == 0)) return true;
    return false;
}

/* Columns, rows and values behind a phase, then what the phase read. */
static void look_at_phase(Hunt *hunt, uint32_t phase) {
    hunt_say(hunt, 0, 0, "tick %lu, phase %s: comparing columns and rows", (unsigned long)hunt->report->tick,
             hunt->phases[phase].name);
    if (!reach(hunt, phase, "end")) return;
    compare_columns(hunt);
    for (uint32_t c = 0; c < hunt->report->column_count; c++)
        if (!declares(hunt->phases[phase].writes, &hunt->report->columns[c])) hunt->report->undeclared = true;
    if (hunt->report->value_count == 0) return;
    hunt_say(hunt, 0, 0, "reading what the phase read");
    if (reach(hunt, phase, "begin")) compare_inputs(hunt, phase);
}

static void locate_in_tick(Hunt *hunt) {
    PhxBisectReport *report = hunt->report;
    const HuntState after[2] = {hunt->trace[0].after, hunt->trace[1].after};
    report->ticks = report->tick;
    report->died = -1; /* of the search, perhaps in the tick after this one */
    if (hunt->trace[0].complete && hunt->trace[1].complete) {
        report->roots[0] = after[0].root, report->roots[1] = after[1].root;
        report->masked = after[0].root == after[1].root;
        report_tables(hunt, after);
    }
    for (int i = 0; i < 2; i++)
        if (!hunt->trace[i].complete) {
            const uint32_t begun = hunt->trace[i].begun;
            report->died = i;
            snprintf(report->why, sizeof report->why, "%s ends in that tick, in phase %s: %.200s",
                     report->names[i], begun < hunt->phase_count ? hunt->phases[begun].name : "none",
                     hunt->side[i].why);
        }
    const uint32_t phase = first_phase(hunt, false);
    if (phase == NO_PHASE && report->died < 0) return;
    const uint32_t begun = report->died < 0 ? NO_PHASE : hunt->trace[report->died].begun;
    if (phase == NO_PHASE || (report->died >= 0 && phase == begun)) {
        /* It died in a phase that it began like the other side. */
        if (begun < hunt->phase_count) report_phase(hunt, begun);
        return;
    }
    report->died = -1;
    report_phase(hunt, phase);
    if ((hunt->trace[0].ended >> phase & 1) == (hunt->trace[1].ended >> phase & 1))
        look_at_phase(hunt, phase);
    if (report->table_count == 0) report_tables_of_columns(hunt);
}

void hunt_locate(Hunt *hunt) {
    PhxBisectReport *report = hunt->report;
    report->verdict = PHX_BISECT_DIVERGED;
    report->tick = hunt->tick;
    hunt_say(hunt, 0, 0, "tick %lu differs: stepping it again, phase by phase", (unsigned long)hunt->tick);
    for (int attempt = 0; attempt < 2; attempt++) {
        hunt->afresh = report->history = attempt == 1;
        if (attempt == 1)
            hunt_say(hunt, 0, 0, "it doesn't show from a restored state: playing straight from tick 0");
        if (!revive_dead(hunt)) break;
        if (!retrace(hunt)) continue;
        locate_in_tick(hunt);
        report->agrees = report->masked ? -2 : agreeing_side(hunt);
        return;
    }
    report->history = false;
    report->tick = hunt->tick;
    report->verdict = PHX_BISECT_DIVERGED;
    snprintf(
        report->why, sizeof report->why,
        "played again, the sides didn't part there: one of them isn't repeatable (a race, or memory that "
        "was never written)");
}

void hunt_locate_start(Hunt *hunt) {
    PhxBisectReport *report = hunt->report;
    char *replies[2];
    HuntState states[2];
    report->verdict = PHX_BISECT_DIVERGED;
    report->before_first = true;
    report->tick = PHX_REPLAY_BEFORE_FIRST;
    if (hunt_ask(hunt, replies, "hash") && hunt_read_state(replies[0], &states[0]) &&
        hunt_read_state(replies[1], &states[1])) {
        report->roots[0] = states[0].root, report->roots[1] = states[1].root;
        report_tables(hunt, states);
    }
    if (ask_columns(hunt)) compare_columns(hunt);
}
