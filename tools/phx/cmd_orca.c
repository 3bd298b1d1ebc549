/* cmd_orca.c: phx orca WORD: finds the word. */
#include "phx/cmd_orca.h"

#include <stdio.h>
#include <string.h>

typedef struct Word {
    const char *name, *full, *words;
    PhxCliRun run;
} Word;

static const Word words[] = {
#define PHX_ORCA_COMMAND(name, words) {#name, "orca " #name, words, phx_orca_cmd_##name},
    PHX_ORCA_COMMANDS(PHX_ORCA_COMMAND)};
enum { WORD_COUNT = sizeof words / sizeof words[0] };

static void print_usage(FILE *to) {
    fprintf(to, "usage: phx orca WORD [OPTION...] SCENARIO|BLOB|REPLAY\n\n");
    for (size_t i = 0; i < WORD_COUNT; i++) fprintf(to, "  %-9s %s\n", words[i].name, words[i].words);
    fprintf(to, "\nUnits avoid each other by half-planes: each neighbour and each wall forbids one side of a "
                "line in the\n"
                "plane of velocities, and a unit takes what is left nearest to the velocity it prefers.\n"
                "`phx orca WORD --help` says more.\n\n"
                "Examples:\n"
                "  phx orca explain tests/scenario/door.yaml --unit 17 --tick 200\n"
                "  phx orca explain match.phxr --unit 17 --tick 200 --svg why.svg\n\n"
                "Exit: 0 done, 2 wrong use or bad input, 3 a replay that this program can't play.\n");
}

static const Word *find_word(const char *name) {
    for (size_t i = 0; i < WORD_COUNT; i++)
        if (strcmp(words[i].name, name) == 0) return &words[i];
    return NULL;
}

int phx_cmd_orca(PhxCli *cli, int argc, const char **argv) {
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        cli->json = 0;
        return PHX_EXIT_OK;
    }
    const Word *word = argc > 1 ? find_word(argv[1]) : NULL;
    if (word == NULL)
        return phx_cli_fail(cli, "%s: explain is wanted; phx orca --help",
                            argc > 1 ? argv[1] : "a word is missing");
    cli->command = word->full;
    return word->run(cli, argc - 1, argv + 1);
}

const char *phx_orca_source_name(const PhxOrcaExplanation *why, uint32_t i, char text[32]) {
    if (why->line[i].source == PHX_ORCA_FROM_WALL)
        snprintf(text, 32, "wall %u", (unsigned)i);
    else
        snprintf(text, 32, "unit %u", (unsigned)why->line[i].slot);
    return text;
}

fix16_t phx_orca_allowed(const PhxOrcaExplanation *why) {
    if (!(why->flags & PHX_ORCA_CROWDED)) return 0;
    return why->least + (why->flags & PHX_ORCA_CREPT ? why->creep : 0);
}

bool phx_orca_touches(const PhxOrcaExplanation *why, uint32_t i) {
    const PhxOrcaHalfPlane *line = &why->line[i];
    if (line->contact_normal.x == 0 && line->contact_normal.y == 0) return false;
    return line->contact_offset - phx_vec2_dot_dir(why->chosen, line->contact_normal) > -PHX_ORCA_BINDS;
}

bool phx_orca_holds(const PhxOrcaExplanation *why, uint32_t i) {
    const fix16_t allowed = i < why->walls ? why->walls_back : phx_orca_allowed(why);
    return why->line[i].violation > allowed - PHX_ORCA_BINDS || phx_orca_touches(why, i);
}

const char *phx_orca_fallback_name(uint8_t flags) {
    switch (flags & (PHX_ORCA_CROWDED | PHX_ORCA_WALLED | PHX_ORCA_CREPT)) {
    case 0:
        return "none";
    case PHX_ORCA_CROWDED:
        return "crowded";
    case PHX_ORCA_WALLED:
        return "walled";
    case PHX_ORCA_CROWDED | PHX_ORCA_WALLED:
        return "walled and crowded";
    case PHX_ORCA_CROWDED | PHX_ORCA_CREPT:
        return "crept";
    default:
        return "walled and crept";
    }
}

const char *phx_orca_fallback_words(uint8_t flags) {
    if (flags & PHX_ORCA_CREPT)
        return "no velocity keeps all half-planes; it creeps towards what it prefers, violating a little "
               "more "
               "than need be";
    if (flags & PHX_ORCA_CROWDED)
        return "no velocity keeps all half-planes; the largest violation of units' is made as small as can "
               "be";
    if (flags & PHX_ORCA_WALLED)
        return "no velocity keeps the walls' half-planes; they were moved back as little as need be";
    return "the velocity nearest to the preferred one that keeps all half-planes";
}
