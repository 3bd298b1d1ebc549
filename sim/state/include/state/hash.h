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

/* In every so many ticks the audit looks at one strip of each grid: the blocks of one row of blocks. A
 * strip's cells lie in as many pages as the strip is high, however wide it is, and reading those costs as
 * much as the rest of the hash of a large map at rest; so whole strips are read, and seldom. A round over a
 * map 512 cells high takes 128 ticks. */
enum { PHX_AUDIT_PERIOD = 16 };

/* Hash of one column; for a grid, of its block hashes, refreshed where dirty. */
uint64_t phx_world_hash_column(PhxWorld *world, uint32_t table, uint32_t column);

/* Fills table_hashes (world->table_count) from STATE columns, and returns the root. */
uint64_t phx_world_hash(PhxWorld *world, uint64_t *table_hashes);

/* Like the root, over SCRATCH columns too: what a phase left behind. */
uint64_t phx_world_hash_phase(PhxWorld *world);

/* To be called once a tick: recomputes the hashes of the next strip of each grid when it is due, and counts
 * those blocks whose cells changed unmarked. */
void phx_world_audit(PhxWorld *world);

#endif
