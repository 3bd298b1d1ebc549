/* hash.h: the hash tree of a world: XXH3-64 of each column's canonical bytes -> table -> root.
 *
 * Rows: a column's hash is over its canonical bytes (schema.h). A table's hash is over `used` and its
 * columns' hashes; the root is over the tables' hashes; all as little-endian numbers in schema order. Grids:
 * a block's hash is over its cells, a column's over its blocks' hashes; blocks without a dirty mark keep the
 * hash they had. Determinism: bytes and order are canonical, so machines of either byte order agree; caching
 * can't show, because a block's hash is a pure function of its cells, and a rolling audit recomputes some
 * blocks every tick.
 */
#ifndef PHX_STATE_HASH_H
#define PHX_STATE_HASH_H

#include "state/world.h"

enum { PHX_AUDIT_BLOCKS = 16 }; /* blocks of each grid that the audit looks at in one tick */

/* Hash of one column; for a grid, of its block hashes, refreshed where dirty. */
uint64_t phx_world_hash_column(PhxWorld *world, uint32_t table, uint32_t column);

/* Fills table_hashes (world->table_count) from STATE columns, and returns the root. */
uint64_t phx_world_hash(PhxWorld *world, uint64_t *table_hashes);

/* Like the root, over SCRATCH columns too: what a phase left behind. */
uint64_t phx_world_hash_phase(PhxWorld *world);

/* Recomputes the next PHX_AUDIT_BLOCKS blocks of each grid and counts those whose cells changed unmarked. */
void phx_world_audit(PhxWorld *world);

#endif
