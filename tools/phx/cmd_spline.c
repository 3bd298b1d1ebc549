/* cmd_spline.c: phx spline WORD: finds the word. */
#include "phx/cmd_spline.h"

#include <stdio.h>
#include <string.h>

static void print_usage(FILE *to) {
    fprintf(to,
            "usage: phx spline draw [OPTION...] FILE\n\n"
            "  draw      a B-spline: its control polygon, pieces, tangents and normals\n\n"
            "Splines are the ways of groups and cameras: curves of degree 1 to 5 near their control points.\n"
            "`phx spline draw --help` says what the file holds.\n\n"
            "Examples:\n"
            "  phx spline draw road.yaml --out road.svg\n"
            "  phx spline draw road.yaml --samples 200 --json | jq .samples\n\n"
            "Exit: 0 done, 2 wrong use or bad input.\n");
}

int phx_cmd_spline(PhxCli *cli, int argc, const char **argv) {
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        cli->json = 0;
        return PHX_EXIT_OK;
    }
    if (argc < 2 || strcmp(argv[1], "draw") != 0)
        return phx_cli_fail(cli, "%s: draw is wanted; phx spline --help",
                            argc > 1 ? argv[1] : "a word is missing");
    cli->command = "spline draw";
    return phx_spline_cmd_draw(cli, argc - 1, argv + 1);
}
