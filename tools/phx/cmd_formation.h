/* cmd_formation.h: what the files of phx formation share: a formation with who takes which slot, and its
 * picture.
 */
#ifndef PHX_CMD_FORMATION_H
#define PHX_CMD_FORMATION_H

#include "phx/cli.h"

#include <phalanx/formation.h>

/* A formation that stands somewhere. Arrays of `count`. */
typedef struct PhxFormationView {
    PhxFormationShape shape;
    uint32_t count;
    const PhxFormationSlot *slots;
    const PhxVec2 *places;   /* of the slots, in the world */
    const PhxVec2 *starts;   /* of the units; null: none are shown */
    const uint32_t *slot_of; /* of the units; read where there are starts */
    const fix16_t *radius;   /* of the units */
    PhxVec2 anchor;
    PhxAngle facing;
    const char *title;
} PhxFormationView;

/* cmd_formation_picture.c: an SVG file where the path ends in ".svg", else a PNG. Errors:
 * PHX_ERROR_ARGUMENT, PHX_ERROR_IO, PHX_ERROR_MEMORY; each with the path and what is wrong. */
PHX_MUST_USE PhxStatus phx_formation_picture_write(const char *path, const PhxFormationView *view,
                                                   PhxError *error);

/* cmd_formation_draw.c */
int phx_formation_cmd_draw(PhxCli *cli, int argc, const char **argv);

#endif
