/* bisect.h: where two ways of computing one match part: tick, table, phase, column, row, value.
 *
 * In: a replay and two sides (side.h), or the hashes that two replays recorded. Out: a report. Cost: each
 * side plays the match once up to the divergence, both at the same time; the look into the tick costs at most
 * three windows of 64 ticks more (or, where the divergence hangs on caches, the way there twice again).
 *
 * How: both play windows of ticks and tell the root after each; the first pair that differs is the tick. That
 * is a linear search, because no search by halves can be faster: the state before tick t is only to be had by
 * playing up to t (the recorder's keyframes would carry one side's state over to both), and a divergence that
 * heals again is found too. Then both step that tick once more and tell the hash after each phase; then stop
 * behind the first phase that differs, and compare columns, ranges of rows, and values.
 */
#ifndef PHX_BISECT_BISECT_H
#define PHX_BISECT_BISECT_H

#include "bisect/side.h"

enum {
    PHX_BISECT_VALUES = 64,  /* differing values that a report holds */
    PHX_BISECT_INPUTS = 64,  /* inputs of the phase */
    PHX_BISECT_COLUMNS = 32, /* differing columns */
    PHX_BISECT_NAME = 40,
    PHX_BISECT_TABLES = PHX_SCHEMA_TABLE_LIMIT,
    PHX_BISECT_WINDOW = 64 /* ticks, at most */
};

/* What a file holds, where that bears on the verdict. */
typedef struct PhxBisectFile {
    bool known; /* it was looked at */
    char name[PHX_BISECT_NAME];
    PhxReplayState state;
    uint32_t ticks;      /* that were kept */
    uint64_t byte, lost; /* not complete: where the fault lies, and the bytes from there on */
    char fault[120];     /* the same in words, as `phx replay` has them; complete: empty */
} PhxBisectFile;

/* In the order of what `phx bisect` returns: 0, 1, 125. */
typedef enum PhxBisectVerdict {
    PHX_BISECT_EQUAL,      /* no divergence in the ticks that could be compared; see `files` */
    PHX_BISECT_DIVERGED,   /* found */
    PHX_BISECT_CANNOT_TELL /* `why` says why */
} PhxBisectVerdict;

typedef struct PhxBisectTable {
    char name[PHX_BISECT_NAME];
    uint64_t left, right;
} PhxBisectTable;

typedef struct PhxBisectColumn {
    char table[PHX_BISECT_NAME], column[PHX_BISECT_NAME];
    uint32_t rows;   /* that differ, as far as they were counted */
    bool more;       /* there are more rows than that */
    bool scratch;    /* lives within the tick */
    bool used_alone; /* no row differs: the tables are of unlike length */
} PhxBisectColumn;

typedef struct PhxBisectValue {
    char table[PHX_BISECT_NAME], column[PHX_BISECT_NAME];
    char type[8]; /* "FIX16" .. */
    uint32_t row, lane;
    uint64_t left, right; /* raw, sign-extended */
    bool differs;
    bool whole; /* an input that stands for a whole column: left and right are its hashes */
} PhxBisectValue;

typedef struct PhxBisectReport {
    PhxBisectVerdict verdict;
    char why[512]; /* cannot tell: why. Else remarks, or empty */
    char names[2][PHX_BISECT_NAME];
    PhxBisectFile files[2]; /* [1] isn't known where there is one file */
    uint32_t ticks;         /* that were compared and are equal */
    bool before_first;      /* diverged in the state before tick 0 */
    uint32_t tick;     /* the first tick whose result differs: that step leads from `tick` to `tick` + 1 */
    uint64_t roots[2]; /* after that tick */
    int agrees;        /* with the hashes in the replay: 0 or 1 the side, -1 neither, -2 both or unknown */
    PhxBisectTable tables[PHX_BISECT_TABLES];
    uint32_t table_count;
    bool has_phase;                                            /* the phase is known */
    char phase[PHX_BISECT_NAME], state_phase[PHX_BISECT_NAME]; /* first to differ; first in saved state */
    uint32_t phase_index;
    int died;        /* the side that died in that phase; -1: none */
    bool undeclared; /* one of the columns is none that the phase declares to write */
    bool history;    /* seen only when played straight from tick 0: it hangs on what is derived */
    bool masked;     /* seen in the phases alone (deep): the root after the tick is equal */
    PhxBisectColumn columns[PHX_BISECT_COLUMNS];
    uint32_t column_count;
    PhxBisectValue values[PHX_BISECT_VALUES];
    uint32_t value_count;
    PhxBisectValue inputs[PHX_BISECT_INPUTS];
    uint32_t input_count, inputs_differ;
    bool inputs_cut;
    /* Of recorded replays: */
    bool recorded;    /* the sides are what two replays, or a replay and this build, say */
    bool other_input; /* their commands differ, first in `input_tick` */
    uint32_t input_tick;
    int reproduced;     /* the recorded side that this build computes too: 0, 1; -1: neither; -2: not tried */
    char keyframe[200]; /* a keyframe that isn't the state that this build computes, in words; or empty */
    uint32_t keyframe_tick;
    bool keyframe_differs; /* the hashes of all ticks are equal; a keyframe isn't the state before `tick` */
    char explained[400];   /* where columns and values are from, or why there are none; or empty */
} PhxBisectReport;

/* What is being done, a line for a person; `done` of `total` ticks where total isn't 0. */
typedef void (*PhxBisectSay)(void *user, const char *text, uint32_t done, uint32_t total);

typedef struct PhxBisectPlan {
    const char *replays[2]; /* the path each side opens; equal but for two replays with unlike commands */
    PhxSideSpec sides[2];
    bool deep;      /* compare what each phase of each tick leaves behind, not the roots alone */
    uint32_t ticks; /* compare at most so many; 0: all */
    PhxBisectSay say;
    void *say_user;
} PhxBisectPlan;

/* Compares two sides. The report is large: give it memory of its own. */
void phx_bisect_sides(const PhxBisectPlan *plan, PhxBisectReport *report);

/* Compares what two replays or bundles of a match recorded, or (paths[1] null) one with this build. A side's
 * state after the tick is had from the evidence in either file, or from a re-simulation by this build where
 * it reproduces that side. Of a side without a state only hashes are known, and a value is told where a
 * single changed value accounts for them. */
void phx_bisect_recorded(const char *const paths[2], const PhxSubjectOptions *options, PhxBisectSay say,
                         void *say_user, PhxBisectReport *report);

/* What a replay holds; `path` names it. */
void phx_bisect_file(const PhxReplay *replay, const char *path, PhxBisectFile *out);

/* Equal becomes "cannot tell" where no tick was compared or a file is garbled. The two functions above do
 * it, but for ticks that were asked for and are all there. */
void phx_bisect_weigh(PhxBisectReport *report);

/* A raw value as hexadecimal, two digits a byte of its column: "0x0001a3f0". */
enum { PHX_BISECT_SPELLED = 19 };
void phx_bisect_spell(const PhxBisectValue *value, uint64_t raw, char text[PHX_BISECT_SPELLED]);

/* One paragraph for a bug report, zero-terminated. */
void phx_bisect_paragraph(const PhxBisectReport *report, const char *replay, char *text, size_t size);

#endif
