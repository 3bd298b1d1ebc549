/* cmd_formation.c: phx formation WORD: finds the word. */
#include "phx/cmd_formation.h"

#include <stdio.h>
#include <string.h>

static void print_usage(FILE *to) {
    fprintf(to, "usage: phx formation draw [OPTION...] SHAPE\n\n"
                "  draw      the slots of a formation, who takes which, and where it faces\n\n"
                "Units march in formations: slots in a frame, rank by rank, spaced by their bodies.\n"
                "`phx formation draw --help` says more.\n\n"
                "Examples:\n"
                "  phx formation draw rectangle --units 24,12 --out rectangle.svg\n"
                "  phx formation draw wedge --units 30 --scatter 7 --out wedge.png\n\n"
                "Exit: 0 done, 2 wrong use or bad input.\n");
}

int phx_cmd_formation(PhxCli *cli, int argc, const char **argv) {
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        cli->json = 0;
        return PHX_EXIT_OK;
    }
    if (argc < 2 || strcmp(argv[1], "draw") != 0)
        return phx_cli_fail(cli, "%s: draw is wanted; phx formation --help",
                            argc > 1 ? argv[1] : "a word is missing");
    cli->command = "formation draw";
    return phx_formation_cmd_draw(cli, argc - 1, argv + 1);
}
