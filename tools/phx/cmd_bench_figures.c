/* cmd_bench_figures.c: phx bench hash|replay|nav|assign|flock|spline|all: one table of figures, or one JSON
 * object with a key a case. See cmd_bench.h. Cost: half a minute for all of them.
 */
#include "phx/cmd_bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char own_match[] = "tests/scenario/melee8.yaml";

static const PhxCliUsage usage = {
    .synopsis = "hash|replay|nav|assign|flock|spline|all",
    .about =
        "Measures parts of the engine, each in units of something else of the same session:\n\n"
        "  hash     the state's hash as a share of the tick, with 1,000 and 10,000 moving units; and on a "
        "map\n"
        "           of 4096 x 4096 cells at rest against one of 256 x 256\n"
        "  replay   bytes a minute of a match of eight, with keyframes and without; a verify; a random seek\n"
        "           and a bisection, in units of a verify on one core\n"
        "  nav      flow fields: ns a cell of whole maps beside the machine's memory copy; a hundred goals; "
        "a\n"
        "           building's edit with 20 live goals as a share of 20 whole fields; load and first order "
        "of a\n"
        "           map of 4096 x 4096; bytes\n"
        "  assign   units that take slots: ms, and percent above the optimum, with 64 and 1,024 of them\n"
        "  flock    units that flock: ns a unit, at several sizes and densities\n"
        "  spline   B-splines of 32 points: ns a point by degree, beside de Boor's scheme in doubles\n"
        "           and, with --peer PROGRAM, beside what another program measures\n"
        "  all      all of these\n\n"
        "Times are the processor's: medians, and the best of several runs. A target that isn't met is said;\n"
        "it doesn't change the exit code, for a busy machine may be the cause.",
    .examples = "  phx bench all\n"
                "  phx bench hash --json | jq .hash_1000.ratio\n"
                "  phx bench replay --scenario tests/scenario/duel.yaml --ticks 5000\n"
                "  phx bench spline --peer ./spline_bench\n"
                "  phx bench nav\n"
                "  phx bench nav --long --json | jq .edit_1024\n",
    .least = 1,
    .most = 1};

typedef struct Figure {
    const char *name;
    int (*run)(PhxBench *bench);
} Figure;

static const Figure figures[] = {{"hash", phx_bench_hash},   {"replay", phx_bench_replay},
                                 {"nav", phx_bench_nav},     {"assign", phx_bench_assign},
                                 {"flock", phx_bench_flock}, {"spline", phx_bench_spline}};
enum { FIGURE_COUNT = sizeof figures / sizeof figures[0] };

void phx_bench_add(PhxBench *bench, const char *name, json_t *values, double value, double target,
                   const char *format, ...) {
    if (bench->count == PHX_BENCH_CASES) {
        json_decref(values);
        return;
    }
    PhxBenchCase *made = &bench->cases[bench->count++];
    *made = (PhxBenchCase){.name = name, .target = target, .met = value <= target};
    va_list list;
    va_start(list, format);
    vsnprintf(made->line, sizeof made->line, format, list);
    va_end(list);
    if (target > 0) {
        json_object_set_new(values, "target", json_real(target));
        json_object_set_new(values, "met", json_boolean(made->met));
    }
    phx_cli_set(bench->cli, name, values);
}

static int by_size(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

uint64_t phx_bench_median(uint64_t *values, uint32_t count) {
    if (count == 0) return 0;
    qsort(values, count, sizeof *values, by_size);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void print_table(const PhxBench *bench) {
    phx_cli_print(bench->cli, "%-24s %-80s %s\n", "case", "figures", "at most");
    for (uint32_t i = 0; i < bench->count; i++) {
        const PhxBenchCase *one = &bench->cases[i];
        if (one->target > 0)
            phx_cli_print(bench->cli, "%-24s %-80s %g: %s\n", one->name, one->line, one->target,
                          one->met ? "met" : "NOT MET");
        else
            phx_cli_print(bench->cli, "%-24s %s\n", one->name, one->line);
    }
}

static bool is_figure(const char *word) {
    for (int i = 0; i < FIGURE_COUNT; i++)
        if (strcmp(word, figures[i].name) == 0) return true;
    return strcmp(word, "all") == 0;
}

/* Of phx bench's options those without a value may stand before the word. Null: there is none. */
static const char *first_word(int argc, const char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") != 0 && strcmp(argv[i], "--quiet") != 0 && strcmp(argv[i], "-q") != 0)
            return argv[i];
    return NULL;
}

bool phx_bench_asks(int argc, const char **argv, const char *word) {
    const char *first = first_word(argc, argv);
    return first != NULL && strcmp(first, word) == 0;
}

bool phx_bench_asks_figures(int argc, const char **argv) {
    const char *first = first_word(argc, argv);
    return first != NULL && is_figure(first);
}

static int parse(PhxBench *bench, int argc, const char **argv) {
    PhxCli *cli = bench->cli;
    long long ticks = PHX_CLI_DEFAULT;
    char *scenario = NULL, *peer = NULL;
    int brief = 0, lengthy = 0;
    const struct poptOption table[] = {
        {"scenario", 0, POPT_ARG_STRING, &scenario, 0,
         "the match that replay records (default: tests/scenario/melee8.yaml)", "FILE"},
        {"ticks", 't', POPT_ARG_LONGLONG, &ticks, 0, "its ticks (default: 20000)", "N"},
        {"brief", 0, POPT_ARG_NONE, &brief, 0, "see in a moment that it works; the figures are worth little",
         NULL},
        {"peer", 0, POPT_ARG_STRING, &peer, 0,
         "spline: a program that measures tinyspline, to be run between ours", "PROGRAM"},
        {"long", 0, POPT_ARG_NONE, &lengthy, 0, "nav: 1,000 building edits instead of 150", NULL},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO && brief && lengthy)
        code = phx_cli_fail(cli, "--brief and --long: one of them is wanted");
    if (code == PHX_CLI_GO) code = phx_cli_optional(cli, "--ticks", &ticks, 100, 1000000, "20000");
    if (code != PHX_CLI_GO) return code;
    const char *word = cli->arguments[0];
    if (!is_figure(word))
        return phx_cli_fail(
            cli, "%s: hash, replay, nav, assign, flock, spline or all is wanted; phx bench all --help", word);
    const bool records = strcmp(word, "replay") == 0 || strcmp(word, "all") == 0;
    if (!records && (scenario != NULL || ticks != 0))
        return phx_cli_fail(cli, "%s: plays no scenario: --scenario and --ticks are for replay and all",
                            word);
    if (peer != NULL && strcmp(word, "spline") != 0)
        return phx_cli_fail(cli, "%s: --peer is for spline", word);
    bench->peer = peer;
    bench->brief = brief != 0;
    bench->lengthy = lengthy != 0;
    bench->scenario = scenario != NULL ? scenario : own_match;
    bench->ticks = ticks != 0 ? (uint32_t)ticks : brief ? 400 : 20000;
    if (records && scenario == NULL && access(own_match, R_OK) != 0)
        return phx_cli_fail(cli,
                            "%s: %s; phx bench %s plays it from the project's folder: run it there, or name "
                            "a scenario: --scenario FILE",
                            own_match, strerror(errno), word);
    return PHX_CLI_GO;
}

int phx_bench_figures(PhxCli *cli, int argc, const char **argv) {
    PhxBench bench = {.cli = cli};
    int code = parse(&bench, argc, argv);
    if (code != PHX_CLI_GO) return code;
    const char *word = cli->arguments[0];
    for (int i = 0; i < FIGURE_COUNT && code == PHX_CLI_GO; i++)
        if (strcmp(word, "all") == 0 || strcmp(word, figures[i].name) == 0) code = figures[i].run(&bench);
    if (bench.count > 0) print_table(&bench);
    return code == PHX_CLI_GO ? PHX_EXIT_OK : code;
}
