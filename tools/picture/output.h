/* output.h: where a picture's bytes go: a file beside the wanted one that takes its name when it is whole.
 *
 * In: a path. Out: a file, or what the operating system says. A device or a pipe is written as it is. Cost:
 * that of writing.
 */
#ifndef PHX_TOOLS_PICTURE_OUTPUT_H
#define PHX_TOOLS_PICTURE_OUTPUT_H

#include <cairo.h>
#include <phalanx/status.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct PhxPictureOutput {
    const char *path; /* borrowed */
    char *beside;     /* PATH.part; null: the path itself is written */
    FILE *file;
    int fault; /* errno of the first failure; 0: none */
} PhxPictureOutput;

/* Errors: PHX_ERROR_ARGUMENT (an ending that is none of a picture's), PHX_ERROR_IO, PHX_ERROR_MEMORY; each
 * with the path and a text, and with nothing to close. */
PHX_MUST_USE PhxStatus phx_picture_output_open(PhxPictureOutput *output, const char *path, PhxError *error);
/* A cairo_write_func_t; `user` is the output. */
cairo_status_t phx_picture_output_write(void *user, const unsigned char *bytes, unsigned int size);
/* Closes. `keep`: the file takes its name; otherwise, or if that fails, nothing is left of it. Errors:
 * PHX_ERROR_IO, with the system's words, where this or any write before failed. */
PHX_MUST_USE PhxStatus phx_picture_output_close(PhxPictureOutput *output, bool keep, PhxError *error);

/* Ends a picture: writes the surface (a PNG only now, an SVG as it was painted), destroys it, and closes the
 * output; `painted` is how the painting went. Errors: PHX_ERROR_MEMORY, PHX_ERROR_IO, and what `painted`
 * says. */
PHX_MUST_USE PhxStatus phx_picture_finish(cairo_surface_t *surface, PhxPictureOutput *output,
                                          PhxStatus painted, PhxError *error);

/* The path ends in ".svg", in capitals or not. */
bool phx_picture_is_svg(const char *path);

#endif
