/* recorded.c: two replays or bundles of a match, or one and this build, by what was recorded.
 *
 * A replay keeps root and table hashes of each tick: that names tick and table without a simulation. The
 * states of the sides after that tick are in a bundle or in a replay whose recorder saw the desync
 * (states.h). This build also plays the match up to there: where it comes to what one side recorded, that
 * side's state is known, and of the other at least the hashes: see explain.h. Where the commands differ, each
 * replay is played with its own, and the two are compared like two builds.
 */
#include <stdlib.h>
#include <string.h>

#include "bisect/bisect.h"
#include "bisect/explain.h"
#include "bisect/states.h"

typedef struct Records {
    const char *const *paths;
    const PhxSubjectOptions *options;
    PhxBisectSay say;
    void *user;
    PhxReplay *replay[2]; /* [1] null: this build */
    uint32_t keyframe[2]; /* the next one to look at */
    PhxBisectReport *report;
    uint64_t tables[2][PHX_REPLAY_TABLE_LIMIT]; /* after the tick that differs */
} Records;

static bool lost(Records *records, const char *what, const char *why) {
    records->report->verdict = PHX_BISECT_CANNOT_TELL;
    snprintf(records->report->why, sizeof records->report->why, "%.200s: %.240s", what, why);
    return false;
}

static void say(const Records *records, const char *text, uint32_t done, uint32_t total) {
    if (records->say) records->say(records->user, text, done, total);
}

/* Names for the paths: their last parts, told apart where they are alike. */
static void name_sides(PhxBisectReport *report, const char *const paths[2]) {
    static const char *const sides[] = {"left", "right"};
    const char *last[2];
    for (int i = 0; i < 2; i++) {
        const char *slash = paths[i] ? strrchr(paths[i], '/') : NULL;
        last[i] = !paths[i] ? "this build" : slash ? slash + 1 : paths[i];
    }
    const bool alike = strcmp(last[0], last[1]) == 0;
    for (int i = 0; i < 2; i++)
        snprintf(report->names[i], PHX_BISECT_NAME, "%s%s%.30s", alike ? sides[i] : "", alike ? " " : "",
                 last[i]);
}

static bool load(Records *records, int i) {
    PhxError error = {0};
    const char *path = records->paths[i];
    if (!path) return true;
    if (phx_replay_load(path, 0, &records->replay[i], &error) != PHX_OK)
        return lost(records, path, error.text);
    phx_bisect_file(records->replay[i], path, &records->report->files[i]);
    memcpy(records->report->files[i].name, records->report->names[i], PHX_BISECT_NAME);
    if (!phx_replay_info(records->replay[i])->has_content)
        return lost(records, path, "it was cut before the match could begin");
    return true;
}

/* Are they of one match? */
static bool comparable(Records *records) {
    const PhxReplayInfo *left = phx_replay_info(records->replay[0]),
                        *right = phx_replay_info(records->replay[1]);
    const char *what = left->sim_revision != right->sim_revision               ? "simulation revision"
                       : left->schema_hash != right->schema_hash               ? "schema"
                       : left->content_hash != right->content_hash             ? "content"
                       : left->settings.match_key != right->settings.match_key ? "match key"
                       : left->settings.tick_rate != right->settings.tick_rate ? "tick rate"
                       : left->table_count != right->table_count               ? "tables"
                                                                               : NULL;
    return !what || lost(records, "these are not two replays of one match; they differ in", what);
}

static void report_tables(Records *records, uint32_t tick) {
    PhxBisectReport *report = records->report;
    const PhxReplayInfo *info = phx_replay_info(records->replay[0]);
    report->verdict = PHX_BISECT_DIVERGED;
    report->tick = tick;
    report->before_first = tick == PHX_REPLAY_BEFORE_FIRST;
    for (uint32_t t = 0; t < info->table_count; t++) {
        if (records->tables[0][t] == records->tables[1][t]) continue;
        PhxBisectTable *table = &report->tables[report->table_count++];
        snprintf(table->name, sizeof table->name, "%.39s", info->table_names[t]);
        table->left = records->tables[0][t];
        table->right = records->tables[1][t];
    }
}

/* Takes the hashes of one moment; true where they are equal on both sides. */
static bool same(Records *records, uint64_t left, const uint64_t *left_tables, uint64_t right,
                 const uint64_t *right_tables) {
    const size_t size = phx_replay_info(records->replay[0])->table_count * sizeof(uint64_t);
    records->report->roots[0] = left;
    records->report->roots[1] = right;
    memcpy(records->tables[0], left_tables, size);
    memcpy(records->tables[1], right_tables, size);
    return left == right && memcmp(left_tables, right_tables, size) == 0;
}

static bool same_commands(const PhxReplayTick *left, const PhxReplayTick *right) {
    if (left->command_count != right->command_count) return false;
    for (uint32_t i = 0; i < left->command_count; i++) {
        const PhxCommand *a = &left->commands[i], *b = &right->commands[i];
        if (a->slot != b->slot || a->sequence != b->sequence || a->size != b->size ||
            memcmp(a->bytes, b->bytes, a->size) != 0)
            return false;
    }
    return true;
}

/* Walks over two replays side by side. */
static void compare_records(Records *records, PhxReplayCursor *const cursor[2]) {
    PhxBisectReport *report = records->report;
    const PhxReplayInfo *left = phx_replay_info(records->replay[0]),
                        *right = phx_replay_info(records->replay[1]);
    PhxReplayTick tick[2];
    if (!same(records, left->start_root, phx_replay_start_hashes(records->replay[0]), right->start_root,
              phx_replay_start_hashes(records->replay[1]))) {
        report_tables(records, PHX_REPLAY_BEFORE_FIRST);
        return;
    }
    while (phx_replay_cursor_next(cursor[0], &tick[0]) && phx_replay_cursor_next(cursor[1], &tick[1]) &&
           tick[0].complete && tick[1].complete) {
        if (!report->other_input && !same_commands(&tick[0], &tick[1])) {
            report->other_input = true;
            report->input_tick = tick[0].tick;
        }
        if (!same(records, tick[0].root, tick[0].table_hashes, tick[1].root, tick[1].table_hashes)) {
            report_tables(records, tick[0].tick);
            break;
        }
        report->ticks++;
    }
}

/* ---- re-simulation */

/* What can be said of a side whose state isn't there, from the state of the other one: `known` is the side
 * that the subject's sim reproduces. */
static void explain(Records *records, PhxSubject *subject, int known) {
    PhxBisectReport *report = records->report;
    uint64_t budget = PHX_EXPLAIN_BUDGET;
    uint32_t explained = 0;
    say(records, "looking for a single changed value that accounts for the other side's hashes", 0, 0);
    for (uint32_t t = 0; t < phx_sim_table_count(subject->sim); t++) {
        PhxBisectValue value;
        if (records->tables[0][t] == records->tables[1][t] || report->value_count == PHX_BISECT_VALUES ||
            report->column_count == PHX_BISECT_COLUMNS)
            continue;
        if (!phx_explain_table(subject->sim, t, records->tables[!known][t], &budget, &value)) continue;
        if (known == 1) {
            const uint64_t swap = value.left;
            value.left = value.right, value.right = swap;
        }
        PhxBisectColumn *column = &report->columns[report->column_count++];
        *column = (PhxBisectColumn){.rows = 1};
        memcpy(column->table, value.table, sizeof column->table);
        memcpy(column->column, value.column, sizeof column->column);
        report->values[report->value_count++] = value;
        explained++;
    }
    const char *other = report->names[!known];
    if (explained == report->table_count && explained > 0)
        snprintf(report->explained, sizeof report->explained,
                 "This single value for each table accounts for the hashes of %s.", other);
    else
        snprintf(report->explained, sizeof report->explained,
                 "Which columns and rows differ can't be known: of %s there are hashes alone, and %s "
                 "accounts for them.",
                 other,
                 budget == 0 ? "no single changed value that was tried (not all were)"
                             : "no single changed value");
}

/* The state of a side after the tick: kept in one of the files, or (`known` is that side) the sim's own. */
static PhxKeptState state_of(const Records *records, const PhxSubject *subject, int side, int known,
                             const char **from) {
    const PhxBisectReport *report = records->report;
    for (int i = 0; i < 2; i++) {
        const PhxKeptState kept =
            phx_kept_state(records->replay[i], subject->sim, report->tick + 1, report->roots[side]);
        *from = report->names[i];
        if (kept.bytes) return kept;
    }
    *from = "this build";
    return side == known ? phx_own_state(subject->sim) : (PhxKeptState){NULL, 0};
}

/* Columns, rows and values, where the states of both sides are there. `known`: the side that the subject's
 * sim reproduces, or -1. */
static bool compare_states(Records *records, const PhxSubject *subject, int known) {
    PhxBisectReport *report = records->report;
    const char *from[2];
    PhxKeptState states[2];
    if (report->before_first) return false;
    for (int i = 0; i < 2; i++) states[i] = state_of(records, subject, i, known, &from[i]);
    const bool compared = phx_compare_states(subject->sim, states, report);
    for (int i = 0; i < 2; i++) free(states[i].bytes);
    if (!compared) return false;
    char writers[200];
    phx_writers_of(subject->sim, report->columns[0].table, report->columns[0].column, writers,
                   sizeof writers);
    snprintf(report->explained, sizeof report->explained,
             "The states after the tick are those that %.39s and %.39s hold; phases that declare to write "
             "%.39s.%.39s: %.120s.",
             from[0], from[1], report->columns[0].table, report->columns[0].column,
             writers[0] ? writers : "none");
    return true;
}

/* The keyframe that a side's replay holds of this moment, if there is one, against the subject's state: a
 * snapshot is canonical, and a right root alone proves nothing. The first that is another state is kept in
 * the report, with its values. */
static void check_keyframe(Records *records, const PhxSubject *subject, int side) {
    PhxBisectReport *report = records->report;
    const PhxReplay *replay = records->replay[side];
    PhxReplaySnapshot keyframe;
    bool there;
    while ((there = replay && phx_replay_keyframe(replay, records->keyframe[side], &keyframe)) &&
           keyframe.tick < phx_sim_tick(subject->sim))
        records->keyframe[side]++;
    if (!there || keyframe.tick != phx_sim_tick(subject->sim) || report->keyframe[0]) return;
    PhxKeptState states[2] = {phx_kept_snapshot(replay, subject->sim, &keyframe),
                              phx_own_state(subject->sim)};
    const bool compared = keyframe.readable && states[1].bytes;
    const bool equal = keyframe.root == phx_sim_root(subject->sim) &&
                       (!compared || (states[0].bytes && states[0].size == states[1].size &&
                                      memcmp(states[0].bytes, states[1].bytes, states[0].size) == 0));
    if (!equal) {
        snprintf(
            report->keyframe, sizeof report->keyframe,
            "the keyframe at byte %llu of %.39s isn't the state at its tick %lu (--tick %lu of phx replay "
            "seek and dump)",
            (unsigned long long)keyframe.position, report->names[side], (unsigned long)keyframe.tick,
            (unsigned long)keyframe.tick);
        report->keyframe_tick = keyframe.tick;
        if (!records->replay[1]) (void)phx_compare_states(subject->sim, states, report);
    }
    free(states[0].bytes), free(states[1].bytes);
}

/* Two replays with equal commands: which of them does this build compute? */
static void resimulate_pair(Records *records, PhxSubject *subject) {
    PhxBisectReport *report = records->report;
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    PhxError error = {0};
    report->reproduced = -1;
    if (phx_replay_cursor_create(records->replay[0], &cursor) != PHX_OK) return;
    for (int i = 0; i < 2; i++) check_keyframe(records, subject, i);
    while (phx_replay_cursor_next(cursor, &tick) && tick.tick <= report->tick &&
           phx_subject_step(subject, NULL, NULL, &error) == PHX_OK) {
        if (tick.tick == report->tick) break;
        if (phx_sim_root(subject->sim) != tick.root) {
            snprintf(report->why, sizeof report->why, "this build parts from both of them, in tick %lu",
                     (unsigned long)tick.tick);
            break;
        }
        for (int i = 0; i < 2; i++) check_keyframe(records, subject, i);
        if (tick.tick % 64 == 0) say(records, "ticks played again", tick.tick, report->tick + 1);
    }
    phx_replay_cursor_destroy(cursor);
    for (int i = 0; i < 2 && subject->tick == report->tick + 1 && !report->why[0]; i++)
        if (phx_sim_root(subject->sim) == report->roots[i]) report->reproduced = i;
    if (!compare_states(records, subject, report->reproduced) && report->reproduced >= 0)
        explain(records, subject, report->reproduced);
}

/* A replay and this build. */
static void resimulate_one(Records *records, PhxSubject *subject) {
    PhxBisectReport *report = records->report;
    const PhxReplayInfo *info = phx_replay_info(records->replay[0]);
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    PhxError error = {0};
    if (phx_replay_cursor_create(records->replay[0], &cursor) != PHX_OK) return;
    bool equal = same(records, info->start_root, phx_replay_start_hashes(records->replay[0]),
                      phx_sim_root(subject->sim), phx_sim_table_hashes(subject->sim));
    if (!equal) report_tables(records, PHX_REPLAY_BEFORE_FIRST);
    if (equal) check_keyframe(records, subject, 0);
    while (equal && phx_replay_cursor_next(cursor, &tick) && tick.complete) {
        if (phx_subject_step(subject, NULL, NULL, &error) != PHX_OK) {
            (void)lost(records, "this build can't play on", error.text);
            break;
        }
        equal = same(records, tick.root, tick.table_hashes, phx_sim_root(subject->sim),
                     phx_sim_table_hashes(subject->sim));
        if (!equal) report_tables(records, tick.tick);
        if (equal) check_keyframe(records, subject, 0);
        report->ticks += equal;
        if (tick.tick % 64 == 0) say(records, "ticks played again", tick.tick, info->ticks);
    }
    phx_replay_cursor_destroy(cursor);
    if (report->verdict == PHX_BISECT_DIVERGED) {
        report->column_count = report->value_count = 0; /* of a keyframe before */
        if (!compare_states(records, subject, 1)) explain(records, subject, 1);
    } else if (report->verdict == PHX_BISECT_EQUAL && report->keyframe[0]) {
        report->verdict = PHX_BISECT_DIVERGED;
        report->keyframe_differs = true;
        report->tick = report->keyframe_tick;
    }
}

/* Each replay with its own commands, compared like two builds. */
static void compare_inputs(Records *records) {
    const PhxBisectReport seen = *records->report;
    const PhxSideSpec side = {.name = "left", .options = *records->options};
    PhxBisectPlan plan = {.replays = {records->paths[0], records->paths[1]},
                          .sides = {side, side},
                          .ticks = seen.tick + 1,
                          .say = records->say,
                          .say_user = records->user};
    for (int i = 0; i < 2; i++) plan.sides[i].name = seen.names[i];
    phx_bisect_sides(&plan, records->report);
    if (records->report->verdict != PHX_BISECT_DIVERGED || records->report->tick != seen.tick ||
        memcmp(records->report->roots, seen.roots, sizeof seen.roots) != 0) {
        *records->report = seen;
        snprintf(records->report->why, sizeof records->report->why,
                 "this build, with the commands of each, doesn't come to what they recorded");
    }
    memcpy(records->report->files, seen.files, sizeof seen.files);
    records->report->recorded = true;
    records->report->other_input = true;
    records->report->input_tick = seen.input_tick;
}

static void resimulate(Records *records) {
    PhxSubject subject;
    PhxError error = {0};
    if (records->replay[1] && records->report->other_input && !records->report->before_first) {
        compare_inputs(records);
        return;
    }
    const PhxStatus status = phx_subject_open(&subject, records->options, records->paths[0], &error);
    if (status != PHX_OK && !records->replay[1]) {
        (void)lost(records, records->paths[0], error.text);
    } else if (status != PHX_OK) {
        snprintf(records->report->why, sizeof records->report->why, "this build can't play them: %.240s",
                 error.text);
    } else {
        if (!records->replay[1])
            resimulate_one(records, &subject);
        else if (!records->report->before_first)
            resimulate_pair(records, &subject);
        phx_subject_close(&subject);
    }
}

void phx_bisect_recorded(const char *const paths[2], const PhxSubjectOptions *options, PhxBisectSay speak,
                         void *user, PhxBisectReport *report) {
    Records *records = calloc(1, sizeof *records);
    PhxReplayCursor *cursor[2] = {NULL, NULL};
    memset(report, 0, sizeof *report);
    report->died = -1;
    report->agrees = report->reproduced = -2;
    report->recorded = true;
    if (!records) {
        report->verdict = PHX_BISECT_CANNOT_TELL;
        snprintf(report->why, sizeof report->why, "out of memory");
        return;
    }
    *records = (Records){.paths = paths, .options = options, .say = speak, .user = user, .report = report};
    name_sides(report, paths);
    if (load(records, 0) && load(records, 1)) {
        if (!records->replay[1]) {
            resimulate(records);
        } else if (comparable(records) &&
                   phx_replay_cursor_create(records->replay[0], &cursor[0]) == PHX_OK &&
                   phx_replay_cursor_create(records->replay[1], &cursor[1]) == PHX_OK) {
            compare_records(records, cursor);
            if (report->verdict == PHX_BISECT_DIVERGED) resimulate(records);
        }
    }
    phx_bisect_weigh(report);
    for (int i = 0; i < 2; i++) {
        phx_replay_cursor_destroy(cursor[i]);
        phx_replay_close(records->replay[i]);
    }
    free(records);
}
