/* cmd_orca.h: the words of phx orca. Each is a function like those of commands.def: it gets the words behind
 * `phx orca` (argv[0] is its name) and returns an exit code.
 */
#ifndef PHX_CMD_ORCA_H
#define PHX_CMD_ORCA_H

#include "phx/cli.h"

#include <phalanx/orca.h>

#define PHX_ORCA_COMMANDS(X)                                                                                 \
    X(explain, "why a unit chose its velocity: half-planes, who made them, what was left")

#define PHX_ORCA_COMMAND(name, words) int phx_orca_cmd_##name(PhxCli *cli, int argc, const char **argv);
PHX_ORCA_COMMANDS(PHX_ORCA_COMMAND)
#undef PHX_ORCA_COMMAND

enum {
    PHX_ORCA_PICTURE_WIDTH = 1000, /* pixels */
    PHX_ORCA_PICTURE_HEIGHT = 588,
    PHX_ORCA_BINDS = 64 /* raw: a half-plane whose border is as near as that holds the chosen velocity */
};

/* A unit whose choice in the tick just stepped is explained. */
typedef struct PhxOrcaView {
    const PhxSim *sim;
    const PhxOrcaExplanation *why;
    const char *title, *note; /* UTF-8 */
} PhxOrcaView;

/* "unit 23" or "wall 2", i being an index of why->line. Walls are counted as half-planes are. */
const char *phx_orca_source_name(const PhxOrcaExplanation *why, uint32_t i, char text[32]);
/* By how much units' half-planes may be violated: 0 where no fallback was taken. */
fix16_t phx_orca_allowed(const PhxOrcaExplanation *why);
/* Whether half-plane i, or the contact with its unit, is one of those that keep the chosen velocity from
 * being better: the velocity lies on its border, moved back by what it may be violated. */
bool phx_orca_touches(const PhxOrcaExplanation *why, uint32_t i); /* the contact is */
bool phx_orca_holds(const PhxOrcaExplanation *why, uint32_t i);
/* What was done where not all half-planes could be kept, in a few words, and in a sentence. */
const char *phx_orca_fallback_name(uint8_t flags);
const char *phx_orca_fallback_words(uint8_t flags);

/* cmd_orca_picture.c: velocities and half-planes, and beside them the place; an SVG where the path ends in
 * .svg, else a PNG. Errors: those of phx_picture_write_png. */
PHX_MUST_USE PhxStatus phx_orca_picture_write(const char *path, const PhxOrcaView *view, PhxError *error);

#endif
