/* detector.c: a fault is planted, one bit of one value after one phase of one tick; bisect has to name just
 * that. What it should say comes from a run of its own that doesn't use tools/bisect: does the fault change
 * the hash of its phase, and the root of any tick? 60 faults that show and 20 runs without one; under a
 * sanitizer 40 and 8, with PHX_LONG=1 300 and 200.
 */
#include "match.h"

enum { LIMIT = MATCH_TICKS };

/* What one tick of the sim itself shows: its root, and the hash after each phase. */
typedef struct SeenTick {
    uint64_t root, phases[MATCH_PHASE_COUNT];
    uint64_t struck, before, now; /* of the fault, so far */
} SeenTick;
typedef struct Seen {
    SeenTick at[LIMIT];
    uint32_t ticks; /* < MATCH_TICKS: the process died */
} Seen;

static void watch(void *user, uint32_t tick, uint32_t phase, const char *name, bool begin, uint64_t hash) {
    SeenTick *seen = user;
    (void)name, (void)tick;
    CHECK(phase < MATCH_PHASE_COUNT);
    if (!begin) seen->phases[phase] = hash;
}

static void run_into(int to, const char *path, PhxFault *fault) {
    PhxReplay *replay;
    PhxReplayPlayback *playback;
    PhxReplayCursor *cursor;
    PhxReplayTick recorded;
    PhxError error;
    SeenTick seen = {0};
    phx_fault_plan(fault);
    CHECK_OK(phx_replay_load(path, 0, &replay, &error));
    CHECK_OK(phx_replay_playback_create(replay, NULL, &playback, &error));
    CHECK_OK(phx_replay_cursor_create(replay, &cursor));
    PhxSim *sim = phx_replay_playback_sim(playback);
    phx_sim_observe_phases(sim, watch, &seen, true);
    while (phx_replay_cursor_next(cursor, &recorded) &&
           phx_sim_step(sim, recorded.commands, recorded.command_count) == PHX_OK) {
        seen.root = phx_sim_root(sim);
        if (fault)
            seen.struck = fault->struck, seen.before = fault->value_before, seen.now = fault->value_now;
        if (write(to, &seen, sizeof seen) != (ssize_t)sizeof seen) break;
    }
    _exit(0); /* the process ends with all it holds */
}

static Seen run(const char *path, PhxFault *fault) {
    Seen seen = {0};
    int ends[2];
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(20); /* a fault may make an endless loop */
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(9);
        run_into(ends[1], path, fault);
    }
    close(ends[1]);
    while (seen.ticks < LIMIT &&
           read(ends[0], &seen.at[seen.ticks], sizeof seen.at[0]) == (ssize_t)sizeof seen.at[0])
        seen.ticks++;
    close(ends[0]);
    CHECK_EQ(waitpid(child, NULL, 0), child);
    return seen;
}

/* A world's shape at some tick, to draw faults from. */
typedef struct Shape {
    const PhxTableDesc *tables[PHX_TABLE_BUILTIN_COUNT];
    uint32_t used[PHX_TABLE_BUILTIN_COUNT], columns, phases;
} Shape;

static Shape shape_of(uint64_t seed) {
    Shape shape = {0};
    PhxSim *sim = little_sim(&(PhxSimConfig){0}, seed, MATCH_SIDE, MATCH_UNITS);
    for (int t = 0; t < MATCH_TICKS; t++) little_step(sim, seed);
    for (uint32_t t = 0; t < PHX_TABLE_BUILTIN_COUNT; t++) {
        shape.tables[t] = sim->world->tables[t].desc;
        shape.used[t] = sim->world->tables[t].used;
        shape.columns += shape.tables[t]->column_count;
    }
    shape.phases = phx_sim_phase_count(sim);
    phx_sim_destroy(sim);
    return shape;
}

/* Every column in turn, and with each round another phase; tick, row, lane and bit are drawn. */
static PhxFault draw_fault(const Shape *shape, uint32_t turn, uint64_t *seed) {
    PhxFault fault = {.phase = (turn + turn / shape->columns) % shape->phases,
                      .tick = (uint32_t)test_range(seed, 2, MATCH_TICKS - 10)};
    uint32_t column = turn % shape->columns;
    while (column >= shape->tables[fault.table]->column_count)
        column -= shape->tables[fault.table++]->column_count;
    fault.column = column;
    const PhxColumnDesc *desc = &shape->tables[fault.table]->columns[column];
    const uint32_t used = shape->used[fault.table] ? shape->used[fault.table] : 1;
    fault.row = (uint32_t)test_range(seed, 0, used - 1);
    fault.lane = (uint32_t)test_range(seed, 0, desc->lanes - 1);
    fault.bit = (uint32_t)test_range(seed, 0, 8 * (int64_t)phx_type_size(desc->type) - 1);
    return fault;
}

/* A value that its column can't hold would be read out of bounds by code that may rely on it. */
static bool in_range(const Shape *shape, const PhxFault *fault, uint64_t value) {
    const PhxColumnDesc *desc = &shape->tables[fault->table]->columns[fault->column];
    if (desc->type == PHX_TYPE_U64 || desc->type == PHX_TYPE_HANDLE) return true;
    return (int64_t)value >= desc->low && (int64_t)value <= desc->high;
}

static void describe(char *text, size_t size, const Shape *shape, const PhxFault *fault, uint32_t turn) {
    const PhxTableDesc *table = shape->tables[fault->table];
    snprintf(text, size, "fault %u: tick %u, phase %u, %s.%s[%u], lane %u, bit %u", turn, fault->tick,
             fault->phase, table->name, table->columns[fault->column].name, fault->row, fault->lane,
             fault->bit);
}

/* The flipped bit in a raw value, which is sign-extended. */
static uint64_t mask_of(const Shape *shape, const PhxFault *fault) {
    const PhxType type = shape->tables[fault->table]->columns[fault->column].type;
    const bool top = phx_type_signed(type) && fault->bit + 1 == 8 * phx_type_size(type);
    return top ? UINT64_MAX << fault->bit : (uint64_t)1 << fault->bit;
}

static void check_named(const PhxBisectReport *report, const Shape *shape, const PhxFault *fault,
                        const Seen *seen, const char *words) {
    const PhxTableDesc *table = shape->tables[fault->table];
    char text[4096];
    phx_bisect_paragraph(report, "a replay", text, sizeof text);
    CHECK_THAT(report->verdict == PHX_BISECT_DIVERGED, "%s: %s", words, text);
    CHECK_THAT(report->tick == fault->tick, "%s: %s", words, text);
    CHECK_THAT(report->has_phase && report->phase_index == fault->phase, "%s: %s", words, text);
    CHECK_THAT(report->column_count == 1 && report->columns[0].rows == 1 && !report->columns[0].more,
               "%s: %s", words, text);
    CHECK_THAT(report->value_count == 1, "%s: %s", words, text);
    const PhxBisectValue *value = &report->values[0];
    CHECK_THAT(strcmp(value->table, table->name) == 0 &&
                   strcmp(value->column, table->columns[fault->column].name) == 0,
               "%s: %s", words, text);
    CHECK_THAT(value->row == fault->row && value->lane == fault->lane, "%s: %s", words, text);
    if (seen->ticks == LIMIT) /* else the process died before it could tell */
        CHECK_THAT(value->left == seen->at[LIMIT - 1].before && value->right == seen->at[LIMIT - 1].now,
                   "%s: %s", words, text);
    CHECK_EQ(value->left ^ value->right, mask_of(shape, fault));
    CHECK_THAT(report->inputs_differ == 0, "%s: %s", words, text);
    CHECK_THAT(report->agrees == 0 || report->agrees == -2, "%s: %s", words, text);
    CHECK_THAT(strstr(text, value->column) != NULL, "%s: %s", words, text);
}

/* A scratch column that no phase of this tick has written yet: its value is nobody's. */
static bool is_dead_store(const Shape *shape, const PhxFault *fault, PhxSim *sim) {
    const PhxTableDesc *table = shape->tables[fault->table];
    char name[80];
    if (table->columns[fault->column].klass != PHX_CLASS_SCRATCH) return false;
    snprintf(name, sizeof name, "%s.%s", table->name, table->columns[fault->column].name);
    for (uint32_t p = 0; p <= fault->phase; p++)
        if (strstr(sim->phases[p].writes, name)) return false;
    return true;
}

typedef struct Tally {
    uint32_t shown, masked, dead, died;
} Tally;

static void try_fault(const char *path, const Shape *shape, PhxSim *sim, PhxFault *fault, uint32_t turn,
                      const Seen *clean, Tally *tally) {
    char words[200];
    describe(words, sizeof words, shape, fault, turn);
    const Seen seen = run(path, fault);
    const SeenTick *last = &seen.at[LIMIT - 1];
    const bool same =
        seen.at[fault->tick].phases[fault->phase] == clean->at[fault->tick].phases[fault->phase];
    if (seen.ticks == LIMIT && (last->struck == 0 || same)) return;
    if (seen.ticks == LIMIT && !in_range(shape, fault, last->now)) return;
    PhxBisectReport *report = malloc(sizeof *report);
    PhxBisectPlan plan = match_plan(path, fault);
    bool shows = seen.ticks < LIMIT;
    for (uint32_t t = 0; t < LIMIT; t++) shows |= seen.at[t].root != clean->at[t].root;
    phx_bisect_sides(&plan, report);
    if (shows) {
        check_named(report, shape, fault, &seen, words);
        tally->shown++;
        tally->died += seen.ticks < LIMIT;
    } else {
        /* Masked: no root of any tick tells; a look at each phase does, unless nobody could read the value.
         */
        const bool dead = is_dead_store(shape, fault, sim);
        CHECK_THAT(report->verdict == PHX_BISECT_EQUAL && report->ticks == LIMIT, "%s: alarm", words);
        plan.deep = true;
        phx_bisect_sides(&plan, report);
        if (dead)
            CHECK_THAT(report->verdict == PHX_BISECT_EQUAL, "%s: alarm", words);
        else
            check_named(report, shape, fault, &seen, words);
        tally->masked++;
        tally->dead += dead;
    }
    free(report);
}

PHX_TEST(detector, names_tick_phase_column_and_row_of_every_planted_fault) {
    const uint32_t wanted = test_count(40, 60, 300);
    uint64_t seed = 11, dice = 4242;
    const char *path = match_path("clean.phxr");
    match_record(path, seed, MATCH_TICKS, UINT32_MAX);
    const Shape shape = shape_of(seed);
    const Seen clean = run(path, NULL);
    PhxSim *sim = little_sim(&(PhxSimConfig){0}, seed, MATCH_SIDE, MATCH_UNITS);
    Tally tally = {0};
    CHECK_EQ(clean.ticks, LIMIT);
    uint32_t turn = 0;
    for (; tally.shown < wanted && turn < wanted * 10; turn++) {
        PhxFault fault = draw_fault(&shape, turn, &dice);
        try_fault(path, &shape, sim, &fault, turn, &clean, &tally);
    }
    fprintf(stderr,
            "%u faults drawn: %u named (%u of them killed their side), %u masked (%u where nobody reads)\n",
            turn, tally.shown, tally.died, tally.masked, tally.dead);
    CHECK_EQ(tally.shown, wanted);
    /* About one in forty is masked: among few there may be none. */
    CHECK(tally.masked > 0 || wanted < 300);
    phx_sim_destroy(sim);
}

PHX_TEST(detector, raises_no_alarm_without_a_fault) {
    const uint32_t runs = test_count(8, 20, 200);
    PhxBisectReport *report = malloc(sizeof *report);
    uint64_t dice = 9;
    for (uint32_t i = 0; i < runs; i++) {
        const char *path = match_path("quiet.phxr");
        const char *paths[2] = {path, i % 2 ? path : NULL};
        match_record(path, 500 + i, MATCH_TICKS / 2, UINT32_MAX);
        PhxBisectPlan plan = match_plan(path, NULL);
        for (int side = 0; side < 2; side++)
            plan.sides[side].options = (PhxSubjectOptions){.threads = (uint32_t)test_range(&dice, 1, 3),
                                                           .cold = test_range(&dice, 0, 2) == 0,
                                                           .reload = test_range(&dice, 0, 2) == 0};
        plan.deep = test_range(&dice, 0, 3) == 0;
        phx_bisect_sides(&plan, report);
        CHECK_THAT(report->verdict == PHX_BISECT_EQUAL && report->ticks == MATCH_TICKS / 2, "run %u: %s", i,
                   report->why);
        phx_bisect_recorded(paths, &plan.sides[0].options, NULL, NULL, report);
        CHECK_THAT(report->verdict == PHX_BISECT_EQUAL && report->ticks == MATCH_TICKS / 2, "run %u: %s", i,
                   report->why);
    }
    free(report);
}
