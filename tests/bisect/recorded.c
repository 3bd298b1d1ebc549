/* recorded.c: two replays of one match, by what they recorded: tick and table always, a value where a single
 * one accounts for the hashes, and which side this build reproduces; a replay against this build; other
 * input; what can't be compared.
 */
#include "match.h"

static const PhxSubjectOptions plain = {.threads = 1};
static const uint64_t SEED = 77;

static PhxBisectReport *compare(const char *left, const char *right) {
    PhxBisectReport *report = malloc(sizeof *report);
    const char *const paths[2] = {left, right};
    phx_bisect_recorded(paths, &plain, NULL, NULL, report);
    return report;
}

static void check_value(const PhxBisectReport *report, const char *column, uint32_t row, uint64_t left,
                        uint64_t right) {
    CHECK_EQ(report->column_count, 1);
    CHECK_EQ(report->value_count, 1);
    CHECK_STR(report->values[0].table, "unit");
    CHECK_STR(report->values[0].column, column);
    CHECK_EQ(report->values[0].row, row);
    CHECK_EQ(report->values[0].left, left);
    CHECK_EQ(report->values[0].right, right);
}

PHX_TEST(recorded, a_flip_that_stands_alone_is_named_with_its_row_from_either_side) {
    const char *clean = match_path("clean.phxr"), *other = match_path("other.phxr");
    match_record(clean, SEED, 80, UINT32_MAX);
    for (uint32_t bit = 0; bit < 20; bit += 5) {
        /* unit.vel_x of row 5 after the phase arrive: nothing of this tick reads it any more. */
        PhxFault fault = {.tick = 40 + bit,
                          .phase = MATCH_PHASE_arrive,
                          .table = PHX_TABLE_unit,
                          .column = MATCH_UNIT_vel_x,
                          .row = 5,
                          .bit = bit};
        CHECK(match_record_faulty(other, SEED, 80, UINT32_MAX, &fault));
        for (int turned = 0; turned < 2; turned++) {
            char text[2048];
            PhxBisectReport *report = turned ? compare(other, clean) : compare(clean, other);
            phx_bisect_paragraph(report, "two replays", text, sizeof text);
            CHECK_THAT(report->verdict == PHX_BISECT_DIVERGED && report->tick == fault.tick, "%s", text);
            CHECK_EQ(report->table_count, 1);
            CHECK_STR(report->tables[0].name, "unit");
            CHECK_EQ(report->reproduced, turned); /* the clean one */
            CHECK_EQ(report->column_count, 1);
            const uint64_t value = report->values[0].left;
            check_value(report, "vel_x", 5, value, report->values[0].right);
            CHECK_EQ(value ^ report->values[0].right, (uint64_t)1 << bit);
            CHECK(strstr(text, "this build computes what clean.phxr recorded"));
            free(report);
        }
        PhxBisectReport *report = compare(other, NULL);
        CHECK(report->verdict == PHX_BISECT_DIVERGED && report->tick == fault.tick);
        CHECK_EQ(report->reproduced, -2);
        check_value(report, "vel_x", 5, report->values[0].left, report->values[0].left ^ (uint64_t)1 << bit);
        free(report);
    }
}

PHX_TEST(recorded, what_cannot_be_known_is_said) {
    const char *clean = match_path("clean.phxr"), *other = match_path("other.phxr"),
               *third = match_path("third.phxr");
    char text[2048];
    match_record(clean, SEED, 60, UINT32_MAX);
    /* A position before the units move: it spreads over several columns before the hash is taken. */
    PhxFault fault = {.tick = 30,
                      .phase = MATCH_PHASE_goals,
                      .table = PHX_TABLE_unit,
                      .column = MATCH_UNIT_pos_x,
                      .row = 3,
                      .bit = 15};
    CHECK(match_record_faulty(other, SEED, 60, UINT32_MAX, &fault));
    fault.bit = 14;
    CHECK(match_record_faulty(third, SEED, 60, UINT32_MAX, &fault));
    PhxBisectReport *report = compare(clean, other);
    phx_bisect_paragraph(report, "two replays", text, sizeof text);
    CHECK_EQ(report->tick, 30);
    CHECK_EQ(report->reproduced, 0);
    CHECK(report->table_count >= 1);
    CHECK_EQ(report->value_count, 0);
    CHECK_THAT(strstr(text, "can't be known: of other.phxr there are hashes alone"), "%s", text);
    free(report);
    report = compare(third, other); /* neither is what this build computes */
    phx_bisect_paragraph(report, "two replays", text, sizeof text);
    CHECK_EQ(report->tick, 30);
    CHECK_EQ(report->reproduced, -1);
    CHECK_THAT(strstr(text, "this build computes what neither recorded"), "%s", text);
    free(report);
}

/* What differs after the tick, by two sims side by side. */
static uint32_t differences(uint32_t ticks, PhxFault *fault, PhxDifference out[64]) {
    PhxSim *clean = little_sim(&(PhxSimConfig){0}, SEED, MATCH_SIDE, MATCH_UNITS);
    PhxSim *faulty = little_sim(&(PhxSimConfig){0}, SEED, MATCH_SIDE, MATCH_UNITS);
    for (uint32_t t = 0; t < ticks; t++) {
        little_step(clean, SEED);
        phx_fault_plan(fault);
        little_step(faulty, SEED);
        phx_fault_plan(NULL);
    }
    const uint32_t count = phx_sim_diff(clean, faulty, out, 64);
    phx_sim_destroy(clean), phx_sim_destroy(faulty);
    return count;
}

PHX_TEST(recorded, kept_states_name_every_value_that_differs) {
    const char *clean = match_path("clean.phxr"), *kept = match_path("kept.phxr"),
               *other = match_path("other.phxr");
    PhxFault fault = {.tick = 30,
                      .phase = MATCH_PHASE_goals,
                      .table = PHX_TABLE_unit,
                      .column = MATCH_UNIT_pos_x,
                      .row = 3,
                      .bit = 15};
    PhxDifference want[64];
    match_record(clean, SEED, 60, UINT32_MAX);
    match_record_with(kept, SEED, 60, UINT32_MAX, 30);
    CHECK(match_record_faulty(other, SEED, 60, 30, &fault));
    const uint32_t count = differences(31, &fault, want);
    CHECK(count > 2 && count < 64);
    /* Both kept theirs; one did, and this build reproduces the other; one did, against this build. */
    const char *const pairs[3][2] = {{kept, other}, {clean, other}, {other, NULL}};
    for (int i = 0; i < 3; i++) {
        char text[4096];
        PhxBisectReport *report = compare(pairs[i][0], pairs[i][1]);
        phx_bisect_paragraph(report, "two replays", text, sizeof text);
        CHECK_THAT(report->verdict == PHX_BISECT_DIVERGED && report->tick == 30, "%s", text);
        CHECK_THAT(report->value_count == count, "%u, not %u: %s", report->value_count, count, text);
        for (uint32_t d = 0; d < count; d++) {
            const PhxBisectValue *value = &report->values[d];
            CHECK_STR(value->column, want[d].column);
            CHECK_EQ(value->row, want[d].row);
            CHECK_EQ(value->left, i == 2 ? want[d].right : want[d].left);
            CHECK_EQ(value->right, i == 2 ? want[d].left : want[d].right);
        }
        CHECK_THAT(strstr(text, "phases that declare to write unit.pos_x: integrate"), "%s", text);
        free(report);
    }
}

PHX_TEST(recorded, other_input_is_told_from_a_desync_and_located_too) {
    const char *left = match_path("left.phxr"), *right = match_path("right.phxr");
    char text[4096];
    match_record(left, SEED, 300, UINT32_MAX);
    match_record(right, SEED, 300, 20); /* other commands from tick 20 on */
    PhxBisectReport *report = compare(left, right);
    phx_bisect_paragraph(report, "two replays", text, sizeof text);
    CHECK_THAT(report->verdict == PHX_BISECT_DIVERGED && report->other_input && report->input_tick >= 20,
               "%s", text);
    CHECK_THAT(report->has_phase && strcmp(report->phase, "commands") == 0, "%s", text);
    CHECK_THAT(report->value_count > 0, "%s", text);
    CHECK(strstr(text, "other input, not a desync"));
    free(report);
}

PHX_TEST(recorded, what_is_not_one_match_or_no_replay_cannot_be_told) {
    const char *left = match_path("left.phxr"), *right = match_path("right.phxr");
    match_record(left, SEED, 20, UINT32_MAX);
    match_record(right, SEED + 1, 20, UINT32_MAX);
    PhxBisectReport *report = compare(left, right);
    CHECK_EQ(report->verdict, PHX_BISECT_CANNOT_TELL);
    CHECK_THAT(strstr(report->why, "content"), "%s", report->why);
    free(report);
    report = compare(left, match_path("missing.phxr"));
    CHECK_EQ(report->verdict, PHX_BISECT_CANNOT_TELL);
    free(report);
}

static void check_said(PhxBisectReport *report, PhxBisectVerdict verdict, uint32_t ticks, const char *first,
                       const char *second) {
    char text[4096];
    phx_bisect_paragraph(report, "replays", text, sizeof text);
    CHECK_THAT(report->verdict == verdict && report->ticks == ticks, "%s", text);
    CHECK_THAT(strstr(text, first) && strstr(text, second), "no \"%s\", \"%s\" in: %s", first, second, text);
    free(report);
}

PHX_TEST(recorded, what_is_cut_garbled_or_shorter_is_said_and_never_all) {
    const char *whole = match_path("whole.phxr"), *shorter = match_path("shorter.phxr"),
               *damaged = match_path("damaged.phxr");
    PhxReplay *replay;
    PhxError error = {0};
    match_record(whole, SEED, 60, UINT32_MAX);
    match_record(shorter, SEED, 40, UINT32_MAX);
    check_said(compare(whole, shorter), PHX_BISECT_EQUAL, 40,
               "agree on all 40 ticks that both have (whole.phxr: 60; shorter.phxr: 40).", "");
    const size_t size = match_file_size(whole);
    for (int garbled = 0; garbled < 2; garbled++) {
        char sides[200], fault[200];
        const char *state = garbled ? "garbled" : "cut";
        match_damage(whole, damaged, garbled ? 0 : size * 3 / 4, garbled ? size * 3 / 4 : 0);
        CHECK_OK(phx_replay_load(damaged, 0, &replay, &error));
        const PhxReplayInfo info = *phx_replay_info(replay);
        phx_replay_close(replay);
        CHECK_STR(phx_replay_state_name(info.state), state);
        CHECK(info.ticks > 0 && info.ticks < 60);
        const PhxBisectVerdict verdict = garbled ? PHX_BISECT_CANNOT_TELL : PHX_BISECT_EQUAL;
        snprintf(fault, sizeof fault,
                 "damaged.phxr: the replay is %s at byte %" PRIu64 ": %u ticks were kept, %" PRIu64
                 " bytes lost.",
                 state, info.fault.offset, info.ticks, info.lost_bytes);
        snprintf(sides, sizeof sides,
                 "agree on all %u ticks that both have (whole.phxr: 60; damaged.phxr: %u, %s)", info.ticks,
                 info.ticks, state);
        check_said(compare(whole, damaged), verdict, info.ticks, sides, fault);
        snprintf(sides, sizeof sides, "agree on all %u ticks that it has (damaged.phxr: %u, %s)", info.ticks,
                 info.ticks, state);
        check_said(compare(damaged, NULL), verdict, info.ticks, sides, fault);
        /* Two workers on it; and no more asked than there is. */
        PhxBisectPlan plan = match_plan(damaged, NULL);
        PhxBisectReport *report = malloc(sizeof *report);
        phx_bisect_sides(&plan, report);
        check_said(report, verdict, info.ticks, sides, fault);
        report = malloc(sizeof *report);
        plan.ticks = 5;
        phx_bisect_sides(&plan, report);
        check_said(report, PHX_BISECT_EQUAL, 5, "agree on all 5 ticks", fault);
    }
    /* No tick was kept. */
    uint32_t ticks = 1;
    for (size_t cut = size / 2; ticks > 0; cut -= cut / 16) {
        match_damage(whole, damaged, cut, 0);
        CHECK_OK(phx_replay_load(damaged, 0, &replay, &error));
        ticks = phx_replay_info(replay)->ticks;
        phx_replay_close(replay);
    }
    check_said(compare(whole, damaged), PHX_BISECT_CANNOT_TELL, 0, "cut", "");
}

/* A match of 60 ticks with a keyframe before tick 30 in which one position was changed; its root, and all
 * checksums, are right. */
static void record_false_keyframe(const char *path) {
    PhxReplayFile *file;
    PhxReplayWriter *writer;
    PhxCommand commands[4];
    PhxSim *sim;
    PhxError error = {0};
    size_t size;
    uint8_t *blob = little_content(SEED, MATCH_SIDE, MATCH_UNITS, &size);
    uint8_t *bytes = malloc((size_t)4 * PHX_COMMAND_SIZE_LIMIT);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &sim, &error));
    CHECK_OK(phx_replay_file_create(path, NULL, &file, &error));
    CHECK_OK(phx_replay_record_begin(phx_replay_file_sink(file), sim, blob, size, NULL, &writer, &error));
    phx_replay_writer_keyframes(writer, NULL);
    for (uint32_t t = 0; t < 60; t++) {
        if (t == 30) {
            PhxTable *units = phx_world_table(sim->world, "unit");
            const uint64_t value = phx_table_get(units, 1, 5, 0), root = phx_sim_root(sim);
            uint8_t *state = malloc(phx_sim_snapshot_size(sim));
            size_t used;
            phx_table_set(units, 1, 5, 0, value ^ 1);
            CHECK_OK(phx_sim_snapshot(sim, state, phx_sim_snapshot_size(sim), &used));
            phx_table_set(units, 1, 5, 0, value);
            CHECK_OK(phx_replay_writer_keyframe(writer, root, state, used));
            free(state);
        }
        const uint32_t count = little_commands(sim, SEED, commands, bytes);
        CHECK_OK(phx_replay_record_step(writer, sim, commands, count));
    }
    CHECK_OK(phx_replay_writer_end(writer));
    phx_replay_writer_destroy(writer);
    CHECK_OK(phx_replay_file_close(file));
    phx_sim_destroy(sim);
    free(bytes), free(blob);
}

PHX_TEST(recorded, a_false_keyframe_with_right_hashes_is_a_finding) {
    const char *path = match_path("false.phxr"), *other = match_path("other.phxr");
    PhxReplay *replay;
    PhxReplayVerification verified;
    PhxError error = {0};
    record_false_keyframe(path);
    CHECK_OK(phx_replay_load(path, 0, &replay, &error));
    CHECK_OK(phx_replay_verify(replay, NULL, NULL, NULL, &verified));
    CHECK(verified.keyframe_differs && verified.tick == 30);
    phx_replay_close(replay);
    PhxBisectReport *report = compare(path, NULL);
    CHECK(report->keyframe_differs && report->tick == 30);
    check_value(report, "pos_x", 5, report->values[0].left, report->values[0].left ^ 1);
    check_said(report, PHX_BISECT_DIVERGED, 60,
               "agree on the hashes of all 60 ticks. But the keyframe at byte ",
               "of false.phxr isn't the state at its tick 30");
    /* A divergence further on is the finding, and the keyframe a remark. */
    PhxFault fault = {.tick = 40,
                      .phase = MATCH_PHASE_arrive,
                      .table = PHX_TABLE_unit,
                      .column = MATCH_UNIT_vel_x,
                      .row = 5,
                      .bit = 2};
    CHECK(match_record_faulty(other, SEED, 60, UINT32_MAX, &fault));
    report = compare(path, other);
    check_value(report, "vel_x", 5, report->values[0].left, report->values[0].left ^ 4);
    CHECK(!report->keyframe_differs && report->tick == 40);
    check_said(report, PHX_BISECT_DIVERGED, 40,
               "part in tick 40 (the step from 40 to 41; the state after it is --tick 41 of phx replay",
               "Besides, the keyframe at byte ");
}

/* ---- a game's own table, and a cache that isn't in the state */

enum { HIDDEN_TICK = 70 };
static const PhxColumnDesc game_columns[] = {
    {"generation", PHX_TYPE_U32, 1, PHX_CLASS_STATE, 0, UINT32_MAX, ""},
    {"gold", PHX_TYPE_I32, 1, PHX_CLASS_STATE, INT32_MIN, INT32_MAX, "coins"},
};
static const PhxTableDesc game_table = {"economy", PHX_KIND_ROWS, game_columns, 2, ""};
static const PhxTableSpec game_spec = {&game_table, 4, 0, 0};

/* Pays a coin a tick into row 2; with a user, a cache: what it saw 64 ticks ago counts twice in one tick. */
static void pay(const PhxPhaseContext *context, void *user) {
    PhxTable *table = phx_world_table(context->world, "economy");
    int32_t *gold = phx_world_column(context->world, "economy", "gold");
    uint32_t *seen = user;
    while (phx_table_used(table) < 4)
        if (phx_table_insert(table) == PHX_HANDLE_NONE) break;
    gold[2]++;
    if (!seen) return;
    if (context->tick == 0) *seen = 0; /* a new match */
    if (++*seen == HIDDEN_TICK + 1) gold[2] += 5;
}

static const PhxPhaseDesc game_phase = {"pay", pay, "economy.gold", "economy.generation economy.gold",
                                        "arrive"};

PHX_TEST(recorded, what_hangs_on_a_cache_is_found_by_playing_straight) {
    const char *path = match_path("game.phxr");
    uint32_t calls = 0;
    const PhxGame straight = {
        .tables = &game_spec, .table_count = 1, .phases = &game_phase, .phase_count = 1};
    PhxGame hidden = straight;
    PhxReplayFile *file;
    PhxReplayWriter *writer;
    PhxSim *sim;
    PhxError error = {0};
    size_t size;
    char text[4096];
    hidden.user = &calls;
    uint8_t *blob = little_content(SEED, MATCH_SIDE, MATCH_UNITS, &size);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){.game = &straight}, blob, size, NULL, &sim, &error));
    CHECK_OK(phx_replay_file_create(path, NULL, &file, &error));
    CHECK_OK(phx_replay_record_begin(phx_replay_file_sink(file), sim, blob, size, NULL, &writer, &error));
    for (int t = 0; t < 90; t++) CHECK_OK(phx_replay_record_step(writer, sim, NULL, 0));
    phx_replay_writer_destroy(writer);
    CHECK_OK(phx_replay_file_close(file));
    phx_sim_destroy(sim);
    free(blob);

    PhxBisectReport *report = malloc(sizeof *report);
    PhxBisectPlan plan = match_plan(path, NULL);
    plan.sides[0].options.game = &straight;
    plan.sides[1].options.game = &hidden;
    phx_bisect_sides(&plan, report);
    phx_bisect_paragraph(report, "a replay", text, sizeof text);
    CHECK_THAT(report->verdict == PHX_BISECT_DIVERGED && report->tick == HIDDEN_TICK, "%s", text);
    CHECK_THAT(report->history && strcmp(report->phase, "pay") == 0, "%s", text);
    CHECK_THAT(report->value_count == 1 && strcmp(report->values[0].column, "gold") == 0, "%s", text);
    CHECK_EQ(report->values[0].row, 2);
    CHECK_EQ(report->values[0].left, HIDDEN_TICK + 1);
    CHECK_EQ(report->values[0].right, HIDDEN_TICK + 6);
    CHECK_EQ(report->agrees, 0);
    CHECK_THAT(report->input_count == 1 && report->inputs[0].left == HIDDEN_TICK, "%s", text);
    CHECK(strstr(text, "hangs on"));
    /* Another schema can't be compared. */
    plan.sides[1].options.game = NULL;
    phx_bisect_sides(&plan, report);
    CHECK_EQ(report->verdict, PHX_BISECT_CANNOT_TELL);
    free(report);
}

PHX_TEST(recorded, a_value_has_two_digits_a_byte_of_its_column) {
    static const struct {
        const char *type;
        uint64_t raw;
        const char *spelled;
    } cases[] = {{"U8", 7, "0x07"},
                 {"U16", 0x12, "0x0012"},
                 {"ANGLE", 0xc000, "0xc000"},
                 {"U32", 1, "0x00000001"},
                 {"I32", UINT64_MAX, "0xffffffff"}, /* raw values are sign-extended */
                 {"FIX16", (uint64_t)-0x18000, "0xfffe8000"},
                 {"U64", 0xab, "0x00000000000000ab"},
                 {"HANDLE", UINT64_MAX, "0xffffffffffffffff"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        PhxBisectValue value = {.row = 1};
        char text[PHX_BISECT_SPELLED];
        snprintf(value.type, sizeof value.type, "%s", cases[i].type);
        phx_bisect_spell(&value, cases[i].raw, text);
        CHECK_STR(text, cases[i].spelled);
    }
}
