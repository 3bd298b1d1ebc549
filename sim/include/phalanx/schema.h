/* schema.h: the words in which state is declared, for the engine's own tables and for a game's.
 *
 * All that can influence a later tick lives in tables of columns. A table is declared once; storage,
 * canonical encoding, range checks, hashing, diff, dump and documentation follow from the declaration. A game
 * declares its tables with the same structures and hands them over in PhxGame (sim.h): hash, save, diff,
 * replay and bisection then cover them too.
 *
 * Canonical bytes of a value: little-endian, of the type's size. Canonical bytes of a column: rows by
 * ascending slot (up to the highest slot ever used), lanes within a row ascending; a grid's column: blocks of
 * 64 x 64 cells in row-major order, cells row-major within a block.
 */
#ifndef PHALANX_SCHEMA_H
#define PHALANX_SCHEMA_H

#include <phalanx/fixed.h>
#include <phalanx/handle.h>
#include <phalanx/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, C type, bytes, is signed) */
#define PHX_TYPE_LIST(X)                                                                                     \
    X(U8, uint8_t, 1, 0)                                                                                     \
    X(U16, uint16_t, 2, 0)                                                                                   \
    X(U32, uint32_t, 4, 0)                                                                                   \
    X(U64, uint64_t, 8, 0)                                                                                   \
    X(I32, int32_t, 4, 1)                                                                                    \
    X(FIX16, fix16_t, 4, 1)  /* Q16.16 */                                                                    \
    X(ANGLE, uint16_t, 2, 0) /* binary angle: 65536 to the turn */                                           \
    X(HANDLE, PhxHandle, 8, 0)

typedef enum PhxType {
#define PHX_TYPE_ENUM(name, ctype, bytes, is_signed) PHX_TYPE_##name,
    PHX_TYPE_LIST(PHX_TYPE_ENUM)
#undef PHX_TYPE_ENUM
        PHX_TYPE_COUNT
} PhxType;

#define PHX_TYPE_CTYPE(name, ctype, bytes, is_signed) typedef ctype PhxTypeOf_##name;
PHX_TYPE_LIST(PHX_TYPE_CTYPE)
#undef PHX_TYPE_CTYPE

typedef enum PhxColumnClass {
    PHX_CLASS_STATE,   /* saved, hashed, diffed, sent to a joiner */
    PHX_CLASS_DERIVED, /* never saved; a pure function of the STATE of this moment */
    PHX_CLASS_SCRATCH  /* lives within one tick: written before it is read in each tick; hashed in trace mode
                          only */
} PhxColumnClass;

typedef enum PhxTableKind {
    PHX_KIND_ROWS,  /* one row a thing; first column `generation` */
    PHX_KIND_CHILD, /* fixed-size blocks of a pool, linked from a row; first columns `generation`, `next` */
    PHX_KIND_GRID   /* a value a cell, row-major, hashed by blocks of 64 x 64 cells with dirty marks */
} PhxTableKind;

/* `low` and `high`: the values that a living row may hold, both included, as raw numbers (Q16.16 for FIX16);
 * for U64 and HANDLE every value is in range. `lanes`: elements a row, 1 to 256. `unit`: what it is, in
 * words. */
typedef struct PhxColumnDesc {
    const char *name;
    PhxType type;
    uint16_t lanes;
    PhxColumnClass klass;
    int64_t low, high;
    const char *unit;
} PhxColumnDesc;

typedef struct PhxTableDesc {
    const char *name;
    PhxTableKind kind;
    const PhxColumnDesc *columns;
    uint32_t column_count;
    const char *doc; /* a sentence */
} PhxTableDesc;

/* A table as a world holds it. ROWS and CHILD: `rows` is the capacity, width and height are 0. GRID: width
 * and height in cells, `rows` is 0. */
typedef struct PhxTableSpec {
    const PhxTableDesc *desc;
    uint32_t rows, width, height;
} PhxTableSpec;

enum {
    PHX_SCHEMA_TABLE_LIMIT = 64,
    PHX_SCHEMA_COLUMN_LIMIT = 128,
    PHX_SCHEMA_ROW_LIMIT = 1 << 20,
    PHX_SCHEMA_GRID_LIMIT = 4096, /* cells a side */
    PHX_GRID_BLOCK = 64           /* cells a side of a hashed block */
};

typedef struct PhxWorld PhxWorld;
typedef struct PhxTable PhxTable;

/* Finds a table or a column's storage by name, for game code that runs in a phase; null if there is none. The
 * storage has `used` rows times lanes elements and lives as long as the world. */
PhxTable *phx_world_table(PhxWorld *world, const char *table);
void *phx_world_column(PhxWorld *world, const char *table, const char *column);
/* The number of slots ever used (iterate 0 .. used - 1 and skip those that aren't alive). */
uint32_t phx_table_used(const PhxTable *table);
int phx_table_alive(const PhxTable *table, uint32_t slot);
/* A new row, cleared, in the lowest free slot; PHX_HANDLE_NONE when the table is full. */
PHX_MUST_USE PhxHandle phx_table_insert(PhxTable *table);
/* Ends a row: everything but its generation is cleared. The slot must be alive. */
void phx_table_remove(PhxTable *table, uint32_t slot);
/* The slot of a living row, or UINT32_MAX for none, a dead one, or one whose slot was taken by another. */
uint32_t phx_table_find(const PhxTable *table, PhxHandle handle);
/* Marks the block of a cell of a grid as changed; must follow each write to a cell. */
void phx_grid_touch(PhxTable *table, uint32_t x, uint32_t y);

#ifdef __cplusplus
}
#endif
#endif
