/* picture.h: the picture of a match: the map, the way that every unit went, and where the units stand.
 *
 * In: a world (const), the trails that were recorded while it ran, and a few words. Out: a PNG file, or an
 * SVG file where the path ends in ".svg". The recorder keeps bounded memory: when its samples are full it
 * drops every second one and samples half as often from then on. Nothing here is seen by the simulation.
 * Cost: recording is one pass over the units every few ticks; a picture of a 512 x 512 map takes about a
 * second.
 */
#ifndef PHX_TOOLS_PICTURE_H
#define PHX_TOOLS_PICTURE_H

#include <phalanx/sim.h>

typedef struct PhxTrails PhxTrails;

/* A recorder for the units that `sim` has room for, with the present positions as the first sample. At most
 * 32 MiB. Null: no memory. */
PhxTrails *phx_trails_create(const PhxSim *sim);
/* Call after each tick; takes a sample of all living units when one is due. Null is fine. */
void phx_trails_record(PhxTrails *trails, const PhxSim *sim);
void phx_trails_destroy(PhxTrails *trails); /* null is fine */

/* A zeroed structure is a good one. */
typedef struct PhxPictureOptions {
    const char *title;   /* headline, UTF-8; null: "Phalanx" */
    const char *note;    /* a second line, or null */
    const char *letters; /* the .map's letters, width x height, row-major; null: guessed from the costs */
    uint32_t size;       /* pixels of the map's longer side, 64 .. 8192; 0: 1160 */
} PhxPictureOptions;

/* Whether a picture can be written there, so that it is known before a match is played for it: the ending of
 * the name (.png, .svg, or none: PNG), the folder, the rights. Nothing is left behind. Errors:
 * PHX_ERROR_ARGUMENT, PHX_ERROR_IO, PHX_ERROR_MEMORY, each with the path and what is wrong. */
PHX_MUST_USE PhxStatus phx_picture_check(const char *path, PhxError *error);

/* Writes the picture to PATH.part and renames it, so that there never is half a picture. `trails`, `options`
 * and `error` may be null. Errors: those of phx_picture_check, with the system's words where the disk is
 * full.
 */
PHX_MUST_USE PhxStatus phx_picture_write_png(const char *path, const PhxSim *sim, const PhxTrails *trails,
                                             const PhxPictureOptions *options, PhxError *error);

#endif
