/* codec.h: one encoding of the whole STATE, for content, join, save, seek and bisection.
 *
 * Layout (little-endian): "PHXS", u16 version, u16 tables, u64 schema hash; then each table in schema order:
 * u32 rows (capacity), u32 width, u32 height, u32 used; then each STATE column's canonical bytes over the
 * used rows; of a grid's column first u8 form: 0, then one value that all cells have, or 1, then all cells
 * row by row, not all equal; at the end u64 root hash of the state. Decoding checks everything (range of each
 * living value, zeroes in dead rows, `used` as the generations have it, the root) before the caller's world
 * is touched: it decodes into a second world.
 */
#ifndef PHX_STATE_CODEC_H
#define PHX_STATE_CODEC_H

#include "base/bytes.h"
#include "state/world.h"

enum { PHX_CODEC_VERSION = 2, PHX_CODEC_HEADER_BYTES = 16, PHX_CODEC_TABLE_BYTES = 16 };

/* How a grid's column is written: a map that is flat, or of one kind, is one value. */
enum { PHX_CODEC_EVEN = 0, PHX_CODEC_CELLS = 1 };

/* Size of the encoding of the state as it stands. */
size_t phx_world_encoded_size(const PhxWorld *world);

/* Appends the encoding. A writer that is too small gets PHX_ERROR_FULL (sticky). `root`: phx_world_hash's. */
void phx_world_encode(const PhxWorld *world, uint64_t root, PhxWriter *writer);

/* Decodes into `world`, whose specs must equal those encoded; its content is lost, on failure too (decode
 * into a spare world, then phx_world_copy). Errors: PHX_ERROR_FORMAT, _TRUNCATED, _VERSION, _MISMATCH
 * (schema, capacity, root), _RANGE (names table, column, row), with the offset. */
PHX_MUST_USE PhxStatus phx_world_decode(PhxWorld *world, PhxReader *reader, uint64_t *root, PhxError *error);

#endif
