/* hunt.h: a bisection under way; shared by search.c and locate.c. */
#ifndef PHX_BISECT_HUNT_H
#define PHX_BISECT_HUNT_H

#include "bisect/bisect.h"

typedef struct HuntColumn {
    char name[PHX_BISECT_NAME], type[8];
    uint32_t lanes;
    bool scratch;
} HuntColumn;

typedef struct HuntTable {
    char name[PHX_BISECT_NAME];
    uint32_t capacity, column_count;
    HuntColumn columns[PHX_SCHEMA_COLUMN_LIMIT];
} HuntTable;

typedef struct HuntPhase {
    char name[PHX_BISECT_NAME];
    char reads[PHX_WORKER_LINE], writes[PHX_WORKER_LINE]; /* "table.column,table.column" */
} HuntPhase;

/* What a side says of itself when a replay is opened. */
typedef struct HuntOpened {
    uint32_t revision, ticks, phases, tables;
    uint64_t schema, content;
} HuntOpened;

/* Hashes of a state: root and tables, as `seek`, `trace` and `hash` end. */
typedef struct HuntState {
    uint32_t tick;
    uint64_t root, tables[PHX_SCHEMA_TABLE_LIMIT];
} HuntState;

/* One side's way through a tick. */
typedef struct HuntTrace {
    uint64_t all[PHX_TREE_PHASE_LIMIT], state[PHX_TREE_PHASE_LIMIT];
    uint64_t ended; /* a bit a phase */
    uint32_t begun; /* the last phase that began; UINT32_MAX: none */
    bool complete;  /* the tick ended; `after` holds */
    HuntState after;
} HuntTrace;

typedef struct HuntColumns {
    uint32_t used[PHX_SCHEMA_TABLE_LIMIT];
    uint64_t hash[PHX_SCHEMA_TABLE_LIMIT][PHX_SCHEMA_COLUMN_LIMIT];
} HuntColumns;

typedef struct Hunt {
    const PhxBisectPlan *plan;
    PhxBisectReport *report;
    PhxSide side[2];
    HuntOpened opened[2];
    HuntTable tables[PHX_SCHEMA_TABLE_LIMIT];
    uint32_t table_count;
    HuntPhase phases[PHX_TREE_PHASE_LIMIT];
    uint32_t phase_count;
    uint32_t ticks; /* to compare */
    uint32_t tick;  /* where the roots (or, deep, the phases) differ first */
    bool afresh;    /* go back by playing from tick 0, not from the mark */
    HuntTrace trace[2];
    HuntColumns columns[2];
    uint64_t roots[2][PHX_BISECT_WINDOW];
} Hunt;

/* search.c */
void hunt_say(const Hunt *hunt, uint32_t done, uint32_t total, const char *format, ...) PHX_PRINTF(4, 5);
/* Verdict "cannot tell", with a reason. Returns false. */
bool hunt_lost(Hunt *hunt, const char *format, ...) PHX_PRINTF(2, 3);
/* Asks both sides, then waits for both; replies (may be null) as phx_side_finish. */
bool hunt_ask(Hunt *hunt, char *replies[2], const char *format, ...) PHX_PRINTF(3, 4);
bool hunt_read_state(const char *text, HuntState *out);
/* Brings up a dead side again, at tick 0. */
bool hunt_revive(Hunt *hunt, int side);

/* locate.c: fills the report from `hunt->tick` on. */
void hunt_locate(Hunt *hunt);
void hunt_locate_start(Hunt *hunt); /* the states before tick 0 differ */

#endif
