/* view.h: the values of a snapshot, without a world.
 *
 * A snapshot that was taken because something went wrong may hold what no world takes back: a value out of
 * its range, or another root than it says. Here it is read as it lies. In: the canonical bytes of
 * phx_sim_snapshot, and a sim of the same schema and capacities, which gives names and types only. Out:
 * values by (table, column, cell), hashes over cells. A cell is an element of a column: row * lanes + lane;
 * of a grid, y * width + x. Cost: O(cells asked for). Determinism: a pure function of the bytes; hashes are
 * over values widened to 64 bits, little-endian, so that machines of any byte order agree.
 */
#ifndef PHX_BUNDLE_VIEW_H
#define PHX_BUNDLE_VIEW_H

#include <phalanx/sim.h>

typedef struct PhxStateView {
    const PhxSim *sim;    /* schema and capacities; borrowed */
    const uint8_t *bytes; /* borrowed */
    size_t size;
    uint32_t tables;
    uint32_t used[PHX_SCHEMA_TABLE_LIMIT];     /* rows, or cells of a grid */
    size_t columns_at[PHX_SCHEMA_TABLE_LIMIT]; /* where a table's columns begin */
    uint64_t root;                             /* as the snapshot says */
} PhxStateView;

/* Errors: PHX_ERROR_FORMAT, _TRUNCATED, _VERSION, _MISMATCH (schema, capacities), with text. */
PHX_MUST_USE PhxStatus phx_state_view(const PhxSim *sim, const void *bytes, size_t size, PhxStateView *out,
                                      PhxError *error);
/* Columns of a table, of every class; 0 where there is no such table. */
uint32_t phx_state_columns(const PhxStateView *view, uint32_t table);
/* Null where there is no such column. */
const PhxColumnDesc *phx_state_column(const PhxSim *sim, uint32_t table, uint32_t column);
/* Cells that a column has room for; 0 where there is no such column or it isn't STATE. */
uint64_t phx_state_cells(const PhxStateView *view, uint32_t table, uint32_t column);
/* Raw bits, sign-extended; 0 for what was never used and for what doesn't exist. */
uint64_t phx_state_value(const PhxStateView *view, uint32_t table, uint32_t column, uint64_t cell);
/* XXH3-64 of the values of cells first .. first + count - 1, those beyond the column left out. */
uint64_t phx_state_hash(const PhxStateView *view, uint32_t table, uint32_t column, uint64_t first,
                        uint64_t count);

/* A cell in words: "unit.vel_x of unit 317", "order.goal_x[2] of order 5", "terrain.cost of cell (4, 7)"; and
 * the bits of a value in the width of its type: "0x0001a3f0". `text` gets at most `size` bytes. */
void phx_state_cell_words(const PhxSim *sim, uint32_t table, uint32_t column, uint32_t cell, char *text,
                          size_t size);
void phx_state_value_words(const PhxSim *sim, uint32_t table, uint32_t column, uint64_t value, char *text,
                           size_t size);

#endif
