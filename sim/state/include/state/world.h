/* world.h: the world: every table of a match in one block of memory.
 *
 * In: table specs (the engine's, see phx_schema_builtin, then a game's). Out: storage, typed access to the
 * engine's tables (world->unit.pos_x[slot]), rows with generations, grids with dirty marks. Cost: creation
 * allocates once; nothing else allocates. Determinism: a new row takes the lowest free slot; a dead row is
 * all zero but for its generation; so the bytes of a table depend on what is alive and how often each slot
 * was used, and not on the order of births and deaths. What isn't in the schema (alive bits, dirty marks,
 * cached hashes) is recomputed from it at any moment by phx_world_rederive.
 */
#ifndef PHX_STATE_WORLD_H
#define PHX_STATE_WORLD_H

#include <phalanx/allocator.h>
#include <phalanx/schema.h>
#include <stdbool.h>

#include "base/arena.h"

struct PhxTable {
    const PhxTableDesc *desc;
    uint32_t capacity;      /* rows, or cells of a grid */
    uint32_t used;          /* rows: highest slot ever used + 1; grid: all cells */
    uint32_t live;          /* rows alive */
    uint32_t first_free;    /* no slot below it is free */
    uint32_t width, height; /* grid, in cells */
    uint32_t blocks_x, blocks_y;
    uint32_t
        revision; /* grid: rises with each touch; what is derived from the grid compares it. Not state. */
    bool any_dirty;
    uint32_t *generation;  /* rows: the first column */
    uint64_t *alive;       /* rows: bit set */
    uint64_t *dirty;       /* grid: bit set of blocks */
    uint64_t *touched;     /* grid: blocks touched, until whoever derives things from it clears them */
    uint64_t *block_hash;  /* grid: column-major, column_count x blocks */
    uint64_t *column_hash; /* grid: cached column hashes */
    void **columns;
};

#define PHX_TABLE_BEGIN(kind, name, Struct, doc)              typedef struct Struct {
#define PHX_COLUMN(type, name, lanes, klass, low, high, unit) PhxTypeOf_##type *name;
#define PHX_TABLE_END(name, Struct)                                                                          \
    }                                                                                                        \
    Struct;
#include "../../tables/schema.def"

/* Indices of the engine's tables, and of each table's columns: PHX_TABLE_unit, PHX_COLUMN_unit_pos_x needs
 * none. */
enum {
#define PHX_TABLE_BEGIN(kind, name, Struct, doc) PHX_TABLE_##name,
#define PHX_COLUMN(type, name, lanes, klass, low, high, unit)
#define PHX_TABLE_END(name, Struct)
#include "../../tables/schema.def"
    PHX_TABLE_BUILTIN_COUNT
};

struct PhxWorld {
    PhxArena arena;
    uint32_t table_count;
    PhxTable *tables;
    PhxTableSpec *specs;
    uint64_t schema_hash;
    uint32_t audit_turn;     /* rolling audit: calls so far. Not state. */
    uint64_t audit_failures; /* blocks whose cached hash was wrong: a write without a touch */
#define PHX_TABLE_BEGIN(kind, name, Struct, doc) Struct name;
#define PHX_COLUMN(type, name, lanes, klass, low, high, unit)
#define PHX_TABLE_END(name, Struct)
#include "../../tables/schema.def"
};

/* The descriptors of the engine's tables, PHX_TABLE_BUILTIN_COUNT of them, in hash order. */
const PhxTableDesc *phx_schema_builtin(uint32_t table);

/* Is a table well declared (names, lanes, ranges within the type, the columns its kind begins with)? */
PHX_MUST_USE PhxStatus phx_schema_check(const PhxTableDesc *desc, PhxError *error);

/* A number that changes with any table, column, type, class, range or order; capacities are not part of it.
 */
uint64_t phx_schema_hash(const PhxTableSpec *specs, uint32_t count);

uint32_t phx_type_size(PhxType type);
bool phx_type_signed(PhxType type);

/* The first PHX_TABLE_BUILTIN_COUNT specs must be the engine's, in order.
 * Errors: PHX_ERROR_ARGUMENT (a bad table, with text), PHX_ERROR_LIMIT, PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_world_create(PhxAllocator allocator, const PhxTableSpec *specs, uint32_t count,
                                        PhxWorld **out, PhxError *error);
void phx_world_destroy(PhxWorld *world);

/* Copies every column of `from` into `to`; both must have equal specs. Blocks of a grid that are equal
 * already are left alone, and so is what was derived from them. */
void phx_world_copy(PhxWorld *to, const PhxWorld *from);
/* The same for the first `count` tables, which both must have. */
void phx_world_copy_tables(PhxWorld *to, const PhxWorld *from, uint32_t count);

/* As phx_grid_touch, by a caller who says himself, and more exactly, what is to be derived anew. */
void phx_grid_mark(PhxTable *table, uint32_t x, uint32_t y);

/* Clears every row and cell, as after creation. */
void phx_world_clear(PhxWorld *world);

/* Recomputes all that is kept beside the schema, from the generations and cells. `used` is set from them too.
 */
void phx_world_rederive(PhxWorld *world);

/* Fills DERIVED and SCRATCH columns with `byte`: nobody may notice. */
void phx_world_poison(PhxWorld *world, uint8_t byte);

/* Bytes that the world holds: of STATE columns (capacity, not use), and of all memory. */
size_t phx_world_state_bytes(const PhxWorld *world);

/* Table index by name, or UINT32_MAX. Column index within a table by name, or UINT32_MAX. */
uint32_t phx_world_table_index(const PhxWorld *world, const char *table);
uint32_t phx_table_column_index(const PhxTable *table, const char *column);

/* One element as raw bits, sign-extended to 64; `row` counts rows or cells. For diff, dump and tests. */
uint64_t phx_table_get(const PhxTable *table, uint32_t column, uint32_t row, uint32_t lane);
void phx_table_set(PhxTable *table, uint32_t column, uint32_t row, uint32_t lane, uint64_t bits);

#endif
