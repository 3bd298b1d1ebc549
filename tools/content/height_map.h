/* height_map.h: the heights of a map from a grey picture in PGM (the netpbm format, "P2" as text or "P5" as
 * bytes), from bytes in memory.
 *
 * A PGM has the word P2 or P5, width, height and the greatest value (1..255) between blanks, and remarks from
 * '#' to the end of a line; then a value a pixel, row by row: numbers between blanks (P2), or one blank and
 * then a byte each (P5). A pixel is a cell, its value the height in steps, whatever the greatest value is.
 * Bytes are untrusted; nothing is allocated. Errors name the line and say what to do; error->offset is the
 * line.
 */
#ifndef PHX_CONTENT_HEIGHT_MAP_H
#define PHX_CONTENT_HEIGHT_MAP_H

#include <phalanx/status.h>
#include <stddef.h>
#include <stdint.h>

/* Fills `out` (width * height bytes) from a picture of just that size. `name` (a path; may be null) is for
 * messages only. On failure `out` may be filled in part. Errors: PHX_ERROR_FORMAT, PHX_ERROR_TRUNCATED (it
 * ends too early), PHX_ERROR_RANGE (another size than the map's, a value above the greatest). */
PHX_MUST_USE PhxStatus phx_height_map_read(const void *bytes, size_t size, const char *name, uint32_t width,
                                           uint32_t height, uint8_t *out, PhxError *error);

#endif
