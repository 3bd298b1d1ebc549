/* cmd_spline.c: phx spline WORD: finds the word. */
#include "phx/cmd_spline.h"

#include <stdio.h>
#include <string.h>

static void print_usage(FILE *to) {
    fprintf(to,
            "usage: phx spline draw|sample|resample|smooth [OPTION...] FILE\n\n"
            "  draw      a B-spline: its control polygon, pieces, tangents and normals\n"
            "  sample    a rail for a camera: time, place and direction of each frame\n"
            "  resample  points at equal distances along those of a file\n"
            "  smooth    the points of a file without their waves\n\n"
            "Splines are the ways of groups and cameras: curves of degree 1 to 5 near their control points.\n"
            "`phx spline draw --help` says what the file holds.\n\n"
            "Examples:\n"
            "  phx spline draw road.yaml --out road.svg\n"
            "  phx spline draw road.yaml --samples 200 --json | jq .samples\n"
            "  phx spline sample flight.yaml --speed 8 --rate 60 --out flight.csv\n"
            "  phx spline resample drawn.csv --spacing 2 --out even.csv\n\n"
            "Exit: 0 done, 2 wrong use or bad input.\n");
}

int phx_cmd_spline(PhxCli *cli, int argc, const char **argv) {
    static const struct {
        const char *word, *command;
        PhxCliRun run;
    } words[] = {{"draw", "spline draw", phx_spline_cmd_draw},
                 {"sample", "spline sample", phx_spline_cmd_sample},
                 {"resample", "spline resample", phx_spline_cmd_resample},
                 {"smooth", "spline smooth", phx_spline_cmd_smooth}};
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        cli->json = 0;
        return PHX_EXIT_OK;
    }
    for (size_t i = 0; argc > 1 && i < sizeof words / sizeof *words; i++)
        if (strcmp(argv[1], words[i].word) == 0) {
            cli->command = words[i].command;
            return words[i].run(cli, argc - 1, argv + 1);
        }
    return phx_cli_fail(cli, "%s: draw, sample, resample or smooth is wanted; phx spline --help",
                        argc > 1 ? argv[1] : "a word is missing");
}
