/* cmd_nav.c: phx nav WORD: finds the word, and what they all say of a map. */
#include "phx/cmd_nav.h"

#include <stdio.h>
#include <string.h>

typedef struct Word {
    const char *name, *full, *words;
    PhxCliRun run;
} Word;

static const Word words[] = {
#define PHX_NAV_COMMAND(name, words) {#name, "nav " #name, words, phx_nav_cmd_##name},
    PHX_NAV_COMMANDS(PHX_NAV_COMMAND)};
enum { WORD_COUNT = sizeof words / sizeof words[0] };

static void print_usage(FILE *to) {
    fprintf(to, "usage: phx nav WORD [OPTION...] MAP\n\n");
    for (size_t i = 0; i < WORD_COUNT; i++) fprintf(to, "  %-9s %s\n", words[i].name, words[i].words);
    fprintf(
        to,
        "\nMAP is a MovingAI .map file, a scenario, a content blob or a replay. Cells are counted from the\n"
        "upper left corner, 0,0; x to the right, y down. Of a match the ground alone counts, or, with "
        "--type,\n"
        "all that its units of that type meet: buildings, gates, slopes, fear. A field says for each cell of "
        "the map what the\n"
        "way to the nearest goal costs and which step to take; any number of units share it.\n"
        "`phx nav WORD --help` says more.\n\n"
        "Examples:\n"
        "  phx nav field tests/scenario/clash.map --goal 40,40 --layer integration --png field.png\n"
        "  phx nav field tests/scenario/duel.yaml --goal 9,9 --goal 50,50 --layer flow --png flow.png\n"
        "  phx nav check tests/scenario/clash.map --goal 40,40 --radius 1.5\n"
        "  phx nav path tests/scenario/clash.map --from 30,480 --to 480,40\n\n"
        "Exit: 0 done, 1 the field is at fault or there is no way, 2 wrong use or bad input.\n");
}

static const Word *find_word(const char *name) {
    for (size_t i = 0; i < WORD_COUNT; i++)
        if (strcmp(words[i].name, name) == 0) return &words[i];
    return NULL;
}

int phx_cmd_nav(PhxCli *cli, int argc, const char **argv) {
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        cli->json = 0;
        return PHX_EXIT_OK;
    }
    const Word *word = argc > 1 ? find_word(argv[1]) : NULL;
    if (word == NULL)
        return phx_cli_fail(cli, "%s: field, check or path is wanted; phx nav --help",
                            argc > 1 ? argv[1] : "a word is missing");
    cli->command = word->full;
    return word->run(cli, argc - 1, argv + 1);
}

PhxNavCounts phx_nav_count(const PhxNavInput *input, const PhxNavLayers *layers) {
    PhxNavCounts counts = {0};
    double sum = 0;
    for (uint32_t c = 0; c < input->grid.width * input->grid.height; c++) {
        counts.open += input->grid.cost[c] != PHX_NAV_IMPASSABLE;
        if (layers->cost == NULL || layers->cost[c] == UINT64_MAX) continue;
        counts.reached++;
        counts.seen += layers->sight != NULL && layers->sight[c] != 0;
        sum += (double)layers->cost[c];
        if (layers->cost[c] > counts.most) counts.most = layers->cost[c];
    }
    counts.mean_cost = counts.reached > 0 ? sum / counts.reached : 0;
    return counts;
}

void phx_nav_set_map(PhxNavInput *input) {
    PhxCli *cli = input->cli;
    const PhxNavLayers none = {0};
    phx_cli_set(cli, "map", json_string(input->path));
    phx_cli_set(cli, "width", json_integer(input->grid.width));
    phx_cli_set(cli, "height", json_integer(input->grid.height));
    phx_cli_set(cli, "open_cells", json_integer(phx_nav_count(input, &none).open));
    phx_cli_set(cli, "goals", json_integer(input->goal_count));
    phx_cli_set(cli, "block", json_integer(input->size));
    phx_cli_set(cli, "whom", json_string(input->whom));
}
