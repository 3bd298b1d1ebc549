/* nav_input.h: a map as units of one size meet it, and cells given as words: what all of phx nav begins with.
 *
 * A map is a MovingAI .map file, a scenario, a content blob or a replay, told apart by the first bytes; the
 * last three give the ground as it stands at tick 0, or a replay at --tick; with --type as that type of unit
 * meets it, with its cost profile, buildings, gates and modifiers. Bad words are failures that name the
 * option, the value and the remedy.
 */
#ifndef PHX_NAV_INPUT_H
#define PHX_NAV_INPUT_H

#include "phx/cli.h"

#include <phalanx/cost.h>

typedef struct PhxNavInput {
    PhxCli *cli;
    const char *path;
    uint8_t *ground, *plane; /* costs, width * height; the plane is the ground as a unit's block meets it */
    PhxNavGrid grid;         /* of the plane */
    fix16_t radius;
    uint32_t size; /* cells of a unit's block */
    char whom[64]; /* "units of radius 0.5", "soldier of team 0" */
    PhxFieldWeights weights;
    uint32_t *goals, goal_count; /* cells, passable, ascending, each once */
} PhxNavInput;

/* The options that all of them have. */
typedef struct PhxNavWords {
    char *radius, *weights, *type, *team, *tick; /* null: not given */
    const char **goals; /* of POPT_ARG_ARGV; null: none. Freed by phx_nav_input_open */
} PhxNavWords;

/* clang-format off */
#define PHX_NAV_SETTINGS(words)                                                                              \
    {"radius", 0, POPT_ARG_STRING, &(words).radius, 0,                                                         \
     "radius of the units that walk, 1/16 to 16 cells (default 0.5)", "R"},                                  \
    {"weights", 0, POPT_ARG_STRING, &(words).weights, 0,                                                     \
     "of a straight and a diagonal step (default 10,14)", "S,D"},                                            \
    {"type", 0, POPT_ARG_STRING, &(words).type, 0,                                                           \
     "a type of unit of the match, whose costs and size count", "NAME"},                                     \
    {"team", 0, POPT_ARG_STRING, &(words).team, 0,                                                           \
     "its team, for gates and fear (default 0)", "N"},                                                       \
    {"tick", 0, POPT_ARG_STRING, &(words).tick, 0, "of a replay (default 0)", "N"}
#define PHX_NAV_OPTIONS(words)                                                                               \
    {"goal", 'g', POPT_ARG_ARGV, &(words).goals, 0,                                                          \
     "a goal's cell, or an area of W x H cells from X,Y on; may be repeated", "X,Y[,W,H]"},                  \
    PHX_NAV_SETTINGS(words)
/* clang-format on */

void phx_nav_words_free(PhxNavWords *words);

/* Reads the map and the options; goals may be none. PHX_CLI_GO, or a failure with nothing to close. */
int phx_nav_input_open(PhxCli *cli, const char *path, PhxNavWords *words, PhxNavInput *out);
void phx_nav_input_close(PhxNavInput *input);
/* PHX_CLI_GO if there is a goal, else a failure. */
int phx_nav_input_needs_goal(PhxNavInput *input);
/* A passable cell from "X,Y". PHX_CLI_GO, or a failure that names the nearest open cell. */
int phx_nav_input_cell(PhxNavInput *input, const char *option, const char *text, uint32_t *cell);
/* `count` whole numbers below 2^31 from "1,2"; false if it is anything else. */
bool phx_nav_input_numbers(const char *text, uint32_t *numbers, uint32_t count);
/* nav_ground.c: reads the file: ground, plane, grid, and with --type radius and size. PHX_CLI_GO or a
 * failure.
 */
int phx_nav_ground_read(PhxNavInput *input, const PhxNavWords *words);
/* Reads the words of an option without a map: radius and weights. */
int phx_nav_input_settings(PhxCli *cli, const PhxNavWords *words, PhxNavInput *out);

#endif
