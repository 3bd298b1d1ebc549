/* report.c: a report as one paragraph that a person can paste into a bug report. */
#include <inttypes.h>
#include <phalanx/fixed.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bisect/bisect.h"

typedef struct Text {
    char *text;
    size_t size, used;
} Text;

PHX_PRINTF(2, 3) static void put(Text *to, const char *format, ...) {
    va_list list;
    if (to->used + 1 >= to->size) return;
    va_start(list, format);
    const int length = vsnprintf(to->text + to->used, to->size - to->used, format, list);
    va_end(list);
    if (length > 0) to->used += (size_t)length;
    if (to->used >= to->size) to->used = to->size - 1;
}

/* A type of which nothing is known here, as of a hash, is shown whole. */
static uint32_t bytes_of(const PhxBisectValue *value) {
    static const struct {
        const char *name;
        uint32_t bytes;
    } types[] = {
#define TYPE_BYTES(name, ctype, bytes, is_signed) {#name, bytes},
        PHX_TYPE_LIST(TYPE_BYTES)
#undef TYPE_BYTES
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0] && !value->whole; i++)
        if (strcmp(types[i].name, value->type) == 0) return types[i].bytes;
    return 8;
}

void phx_bisect_spell(const PhxBisectValue *value, uint64_t raw, char text[PHX_BISECT_SPELLED]) {
    const uint32_t bytes = bytes_of(value);
    const uint64_t mask = UINT64_MAX >> (64 - 8 * bytes);
    snprintf(text, PHX_BISECT_SPELLED, "0x%0*" PRIx64, (int)(2 * bytes), raw & mask);
}

static void put_raw(Text *to, const PhxBisectValue *value, uint64_t raw) {
    char number[32];
    phx_bisect_spell(value, raw, number);
    put(to, "%s", number);
    if (bytes_of(value) == 8) return;
    if (strcmp(value->type, "FIX16") == 0) {
        (void)phx_fix_format((fix16_t)(uint32_t)raw, number, sizeof number);
        put(to, " (%s)", number);
    } else {
        put(to, " (%" PRId64 ")", (int64_t)raw);
    }
}

static void put_name(Text *to, const PhxBisectValue *value) {
    put(to, "%s.%s", value->table, value->column);
    if (value->whole) return;
    put(to, "[%" PRIu32 "]", value->row);
    if (value->lane > 0) put(to, " lane %" PRIu32, value->lane);
}

static void put_tables(Text *to, const PhxBisectReport *report) {
    put(to, report->table_count == 1 ? " Table: " : " Tables: ");
    for (uint32_t t = 0; t < report->table_count; t++) {
        const PhxBisectTable *table = &report->tables[t];
        put(to, "%s%s", t ? ", " : "", table->name);
        if (table->left != table->right)
            put(to, " (%016" PRIx64 ", %016" PRIx64 ")", table->left, table->right);
    }
    put(to, ".");
}

static void put_phase(Text *to, const PhxBisectReport *report) {
    if (report->died >= 0) {
        put(to, " %s died in it%s%s.", report->names[report->died], report->has_phase ? ", in phase " : "",
            report->has_phase ? report->phase : "");
        return;
    }
    if (!report->has_phase) return;
    put(to, " The first phase that leaves something else behind is %s", report->phase);
    if (report->state_phase[0] && strcmp(report->phase, report->state_phase) != 0)
        put(to, " (in scratch columns; in saved state, %s)", report->state_phase);
    put(to, report->column_count == 1 ? ", in column " : ", in columns ");
    for (uint32_t c = 0; c < report->column_count; c++)
        put(to, "%s%s.%s", c ? ", " : "", report->columns[c].table, report->columns[c].column);
    if (report->column_count == 0) put(to, "that could not be compared");
    put(to, ".");
    if (report->undeclared)
        put(to, " The phase doesn't declare to write there: a stray write, or memory that changed.");
}

/* Of recorded sides, where no phase is known. */
static void put_columns(Text *to, const PhxBisectReport *report) {
    if (report->has_phase || report->column_count == 0) return;
    put(to, report->column_count == 1 ? " Column: " : " Columns: ");
    for (uint32_t c = 0; c < report->column_count; c++)
        put(to, "%s%s.%s", c ? ", " : "", report->columns[c].table, report->columns[c].column);
    put(to, ".");
}

static void put_values(Text *to, const PhxBisectReport *report) {
    const uint32_t shown = report->value_count < 4 ? report->value_count : 4;
    for (uint32_t i = 0; i < shown; i++) {
        const PhxBisectValue *value = &report->values[i];
        put(to, "%s", i ? "; " : " ");
        put_name(to, value);
        put(to, " is ");
        put_raw(to, value, value->left);
        put(to, " at %s, ", report->names[0]);
        put_raw(to, value, value->right);
        put(to, " at %s", report->names[1]);
    }
    if (shown > 0) put(to, report->value_count > shown ? ", and more." : ".");
}

static void put_inputs(Text *to, const PhxBisectReport *report) {
    uint32_t shown = 0;
    if (report->input_count == 0) return;
    if (report->inputs_differ == 0)
        put(to, " What the phase declares to read for that row is equal on both sides");
    else
        put(to, " Of what the phase declares to read, %" PRIu32 " values differ", report->inputs_differ);
    for (uint32_t i = 0; i < report->input_count && shown < 24; i++) {
        const PhxBisectValue *value = &report->inputs[i];
        if (report->inputs_differ ? !value->differs : value->whole) continue;
        put(to, "%s ", shown++ ? "," : ":");
        put_name(to, value);
        put(to, " ");
        put_raw(to, value, value->left);
        if (!value->differs) continue;
        put(to, " and ");
        put_raw(to, value, value->right);
    }
    put(to, ".");
    if (report->inputs_differ == 0 && !report->undeclared)
        put(to, " So the phase itself, or what it uses of data derived from the state, differs.");
}

static void put_tick(Text *to, const PhxBisectReport *report) {
    put(to,
        "%s and %s agree on %" PRIu32 " ticks and part in tick %" PRIu32 " (the step from %" PRIu32
        " to %" PRIu64 "; the state after it is --tick %" PRIu64 " of phx replay seek and dump",
        report->names[0], report->names[1], report->ticks, report->tick, report->tick,
        (uint64_t)report->tick + 1, (uint64_t)report->tick + 1);
    if (report->roots[0] != report->roots[1])
        put(to, "; its roots are %016" PRIx64 " and %016" PRIx64, report->roots[0], report->roots[1]);
    put(to, ").");
}

static void put_diverged(Text *to, const PhxBisectReport *report) {
    const char *left = report->names[0], *right = report->names[1];
    if (report->before_first)
        put(to, "%s and %s differ before tick 0 (roots %016" PRIx64 ", %016" PRIx64 ").", left, right,
            report->roots[0], report->roots[1]);
    else if (report->keyframe_differs)
        put(to, "%s and %s agree on the hashes of all %" PRIu32 " ticks.", left, right, report->ticks);
    else
        put_tick(to, report);
    if (report->masked)
        put(to, " The root after that tick is equal: the hash was taken before, or what "
                "differed had no effect.");
    if (report->keyframe[0])
        put(to, " %s %s.", report->keyframe_differs ? "But" : "Besides,", report->keyframe);
    if (report->agrees >= 0) put(to, " The replay recorded what %s computes.", report->names[report->agrees]);
    if (report->agrees == -1) put(to, " The replay recorded what neither computes.");
    if (report->other_input)
        put(to, " Their commands differ, first in tick %" PRIu32 ": this is other input, not a desync.",
            report->input_tick);
    if (report->reproduced >= 0)
        put(to, " Played again, this build computes what %s recorded.", report->names[report->reproduced]);
    if (report->reproduced == -1) put(to, " Played again, this build computes what neither recorded.");
    if (report->table_count > 0) put_tables(to, report);
    put_phase(to, report);
    put_columns(to, report);
    put_values(to, report);
    put_inputs(to, report);
    if (report->history)
        put(to,
            " It shows only in a match played straight from tick 0, not from a restored state: it hangs on "
            "what is derived (caches).");
    if (report->explained[0]) put(to, " %s", report->explained);
    if (report->why[0]) put(to, " Note: %s.", report->why);
}

/* How many ticks there are, where "all" would promise more than was compared. */
static void put_files(Text *to, const PhxBisectReport *report) {
    const PhxBisectFile *files = report->files;
    const bool whole = files[0].state == PHX_REPLAY_COMPLETE && files[1].state == PHX_REPLAY_COMPLETE;
    if (!files[0].known || (whole && (!files[1].known || files[0].ticks == files[1].ticks))) return;
    put(to, files[1].known ? " that both have (" : " that it has (");
    for (int i = 0; i < 2 && files[i].known; i++) {
        put(to, "%s%s: %" PRIu32, i ? "; " : "", files[i].name, files[i].ticks);
        if (files[i].fault[0]) put(to, ", %s", phx_replay_state_name(files[i].state));
    }
    put(to, ")");
}

static void put_faults(Text *to, const PhxBisectReport *report) {
    for (int i = 0; i < 2; i++)
        if (report->files[i].fault[0]) put(to, " %s: %s.", report->files[i].name, report->files[i].fault);
}

static void put_equal(Text *to, const PhxBisectReport *report) {
    put(to, "%s and %s agree on all %" PRIu32 " ticks", report->names[0], report->names[1], report->ticks);
    put_files(to, report);
    put(to, ".");
}

/* "Agree" is said of ticks. Where none was compared, or where bytes of a file were changed, nobody knows what
 * was recorded. */
void phx_bisect_weigh(PhxBisectReport *report) {
    const PhxBisectFile *files = report->files;
    const bool garbled = files[0].state == PHX_REPLAY_GARBLED || files[1].state == PHX_REPLAY_GARBLED;
    if (report->verdict != PHX_BISECT_EQUAL || (!garbled && report->ticks > 0)) return;
    Text to = {report->why, sizeof report->why, 0};
    put(&to, report->ticks > 0 ? "they agree on all %" PRIu32 " ticks" : "there are %" PRIu32 " ticks",
        report->ticks);
    put_files(&to, report);
    if (report->ticks > 0) put(&to, ", and what else was recorded is lost");
    report->verdict = PHX_BISECT_CANNOT_TELL;
}

void phx_bisect_file(const PhxReplay *replay, const char *path, PhxBisectFile *out) {
    const PhxReplayInfo *info = phx_replay_info(replay);
    const char *slash = strrchr(path, '/');
    *out = (PhxBisectFile){.known = true, .state = info->state, .ticks = info->ticks};
    snprintf(out->name, sizeof out->name, "%.39s", slash ? slash + 1 : path);
    if (info->state == PHX_REPLAY_COMPLETE) return;
    out->byte = info->fault.offset;
    out->lost = info->lost_bytes;
    snprintf(out->fault, sizeof out->fault,
             "the replay is %s at byte %" PRIu64 ": %" PRIu32 " ticks were kept, %" PRIu64 " bytes lost",
             phx_replay_state_name(info->state), out->byte, info->ticks, out->lost);
}

void phx_bisect_paragraph(const PhxBisectReport *report, const char *replay, char *text, size_t size) {
    Text to = {text, size, 0};
    if (size > 0) text[0] = 0;
    put(&to, "phx bisect, simulation revision %u, %s: ", PHX_SIM_REVISION, replay);
    if (report->verdict == PHX_BISECT_DIVERGED)
        put_diverged(&to, report);
    else if (report->verdict == PHX_BISECT_EQUAL)
        put_equal(&to, report);
    else
        put(&to, "it can't be told whether %s and %s agree: %s.", report->names[0], report->names[1],
            report->why);
    put_faults(&to, report);
}
