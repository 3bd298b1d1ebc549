/* cmd_nav.h: the words of phx nav. Each is a function like those of commands.def: it gets the words behind
 * `phx nav` (argv[0] is its name) and returns an exit code.
 */
#ifndef PHX_CMD_NAV_H
#define PHX_CMD_NAV_H

#include "phx/nav_layers.h"

#define PHX_NAV_COMMANDS(X)                                                                                  \
    X(field, "figures and pictures: costs, contours, arrows, sight, sectors and portals")                    \
    X(check, "prove the fields of a map and its goals, whole and by sectors")                                \
    X(path, "how long the way is: over cells, over sectors, and as a unit walks it")

#define PHX_NAV_COMMAND(name, words) int phx_nav_cmd_##name(PhxCli *cli, int argc, const char **argv);
PHX_NAV_COMMANDS(PHX_NAV_COMMAND)
#undef PHX_NAV_COMMAND

/* Cells without a wall, and those from which a way leads to a goal. */
typedef struct PhxNavCounts {
    uint32_t open, reached, seen;
    uint64_t most;    /* largest cost of a way */
    double mean_cost; /* of the ways */
} PhxNavCounts;
PhxNavCounts phx_nav_count(const PhxNavInput *input, const PhxNavLayers *layers);
/* Sets root.map, width, height, open_cells, goals. */
void phx_nav_set_map(PhxNavInput *input);

#endif
