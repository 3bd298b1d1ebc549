/* cli.c: dispatch, options, messages and exit codes of phx. */
#include "phx/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct CommandDesc {
    const char *name, *words;
    PhxCliRun run;
} CommandDesc;

static const CommandDesc commands[] = {
#define PHX_CLI_COMMAND(name, words) {#name, words, phx_cmd_##name},
#include "phx/commands.def"
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *to) {
    fprintf(to, "usage: phx COMMAND [OPTION...] [ARGUMENT...]\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].words);
    fprintf(to, "\n  phx COMMAND --help    options and examples of a command\n"
                "  phx --version         versions of the interface and of the simulation\n\n"
                "Begin with:\n"
                "  phx run tests/scenario/duel.yaml\n"
                "  phx run tests/scenario/clash.yaml --replay clash.phxr --png clash.png\n\n"
                "Exit: 0 done, 1 the thing checked is false, 2 wrong use or bad input. Besides, phx replay "
                "exits with 3\n"
                "for a replay that this program can't play (another simulation revision, other tables), and "
                "phx bisect\n"
                "with 125 where nothing can be told. With --json a command prints one object on standard "
                "output and\n"
                "nothing else there, {\"error\": {\"message\", \"exit\"}} if it fails; messages go to "
                "standard error.\n");
}

/* Whether --json is among the options. popt stops at the first wrong one, and a failure before --json has to
 * be told in JSON as well. */
static bool asks_json(int argc, const char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0) return true;
    return false;
}

static int run_unknown(PhxCli *cli, int argc, const char **argv) {
    (void)argc;
    return phx_cli_fail(cli, "%s: no such command; phx --help lists them", argv[0]);
}

/* False where standard output takes no more. */
static bool print_root(PhxCli *cli, int code) {
    json_t *error = json_object_get(cli->root, "error");
    if (error != NULL) json_object_set_new(error, "exit", json_integer(code));
    /* Six digits: more would be noise of the binary fraction. */
    return json_dumpf(cli->root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) == 0 &&
           putchar('\n') != EOF;
}

static int run_command(const CommandDesc *command, int argc, const char **argv, const PhxGame *game,
                       bool json) {
    PhxCli cli = {.command = command->name,
                  .game = game,
                  .json = json,
                  .terminal = isatty(STDERR_FILENO) == 1,
                  .root = json_object()};
    if (cli.root == NULL) return PHX_EXIT_WRONG;
    int code = command->run(&cli, argc, argv);
    if (cli.progress_at != 0) phx_cli_progress(&cli, 1, 1, "");
    errno = 0;
    const bool printed = !cli.json || print_root(&cli, code);
    /* A full disk behind standard output is an error too. */
    if ((!printed || fflush(stdout) != 0 || ferror(stdout)) && code == PHX_EXIT_OK)
        code = phx_cli_fail(&cli, "standard output: %s", strerror(errno));
    json_decref(cli.root);
    for (uint32_t i = 0; i < cli.owned_count; i++) free(cli.owned[i]);
    return code;
}

int phx_cli_main(int argc, const char **argv, const PhxGame *game) {
    if (argc < 2) {
        print_usage(stderr);
        return PHX_EXIT_WRONG;
    }
    const char *name = argv[1];
    const bool json = asks_json(argc, argv);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_usage(stdout);
        return PHX_EXIT_OK;
    }
    if (strcmp(name, "--version") == 0) {
        printf("phx %d.%d, simulation revision %u\n", PHX_API_VERSION_MAJOR, PHX_API_VERSION_MINOR,
               PHX_SIM_REVISION);
        return PHX_EXIT_OK;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(name, commands[i].name) == 0)
            return run_command(&commands[i], argc - 1, argv + 1, game, json);
    return run_command(&(CommandDesc){.run = run_unknown}, argc - 1, argv + 1, game, json);
}

/* Options. */

enum { OPTION_HELP = 0x7001 };

/* popt's text without its first line, which knows neither the program nor the arguments. */
static void print_options(poptContext context) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL) return;
    poptPrintHelp(context, memory, 0);
    fclose(memory);
    const char *first_end = text != NULL ? strchr(text, '\n') : NULL;
    if (first_end != NULL) fputs(first_end + 1, stdout);
    free(text);
}

static void print_help(poptContext context, const PhxCli *cli, const PhxCliUsage *usage) {
    printf("usage: phx %s [OPTION...]%s%s\n\n%s\n", cli->command, usage->synopsis[0] ? " " : "",
           usage->synopsis, usage->about);
    print_options(context);
    printf("\nExamples:\n%s", usage->examples);
}

/* popt's copies of strings live until the command ends. */
static void own_strings(PhxCli *cli, const struct poptOption *options) {
    for (; options->longName || options->shortName || options->arg; options++) {
        if ((options->argInfo & POPT_ARG_MASK) != POPT_ARG_STRING || options->arg == NULL) continue;
        char *text = *(char **)options->arg;
        if (text != NULL && cli->owned_count < PHX_CLI_OWNED_LIMIT) cli->owned[cli->owned_count++] = text;
    }
}

static int take_arguments(PhxCli *cli, poptContext context, const PhxCliUsage *usage) {
    const char *word;
    while ((word = poptGetArg(context)) != NULL) {
        if (cli->argument_count >= usage->most || cli->argument_count + 1 >= PHX_CLI_ARGUMENT_LIMIT ||
            cli->owned_count >= PHX_CLI_OWNED_LIMIT)
            return phx_cli_fail(cli, "%s: one argument too many; phx %s --help", word, cli->command);
        char *copy = strdup(word);
        if (copy == NULL) return phx_cli_fail_status(cli, "arguments", PHX_ERROR_MEMORY, NULL);
        cli->owned[cli->owned_count++] = copy;
        cli->arguments[cli->argument_count++] = copy;
    }
    if (cli->argument_count < usage->least)
        return phx_cli_fail(cli, "an argument is missing: phx %s %s; phx %s --help", cli->command,
                            usage->synopsis, cli->command);
    return PHX_CLI_GO;
}

int phx_cli_parse(PhxCli *cli, int argc, const char **argv, const struct poptOption *options,
                  const PhxCliUsage *usage) {
    int json = 0;
    const struct poptOption common[] = {
        {"json", 0, POPT_ARG_NONE, &json, 0, "print one JSON object on standard output, nothing else", NULL},
        {"quiet", 'q', POPT_ARG_NONE, &cli->quiet, 0, "no progress and no notes", NULL},
        {"help", 'h', POPT_ARG_NONE, NULL, OPTION_HELP, "this text", NULL},
        POPT_TABLEEND};
    const struct poptOption table[] = {
        {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)options, 0, "Options:", NULL},
        {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)common, 0, "Of every command:", NULL},
        POPT_TABLEEND};
    poptContext context = poptGetContext("phx", argc, argv, table, 0);
    if (context == NULL) return phx_cli_fail_status(cli, "options", PHX_ERROR_MEMORY, NULL);
    int code = PHX_CLI_GO, found;
    while ((found = poptGetNextOpt(context)) > 0) {
        if (found != OPTION_HELP) continue;
        print_help(context, cli, usage);
        json = 0;
        code = PHX_EXIT_OK;
        break;
    }
    /* Read to the end: popt knows better than a look at the words (--map --json). */
    if (found >= -1) cli->json = json;
    own_strings(cli, options);
    if (found < -1)
        code = phx_cli_fail(cli, "%s: %s; phx %s --help", poptBadOption(context, POPT_BADOPTION_NOALIAS),
                            poptStrerror(found), cli->command);
    if (code == PHX_CLI_GO) code = take_arguments(cli, context, usage);
    poptFreeContext(context);
    return code;
}

/* Messages. */

static void clear_progress(PhxCli *cli) {
    if (cli->progress_at == 0) return;
    fputs("\r\033[K", stderr);
    cli->progress_at = 0;
}

PHX_PRINTF(3, 0) static void say(PhxCli *cli, int code, const char *format, va_list list) {
    char text[2048];
    vsnprintf(text, sizeof text, format, list);
    clear_progress(cli);
    fprintf(stderr, "phx%s%s: %s\n", cli->command != NULL ? " " : "",
            cli->command != NULL ? cli->command : "", text);
    /* JSON holds UTF-8 alone, and a file's name may be anything. */
    json_t *message = json_string(text);
    for (char *at = text; message == NULL && *at != 0; at++)
        if ((unsigned char)*at >= 0x80) *at = '?';
    if (message == NULL) message = json_string(text);
    phx_cli_set(cli, "error", json_pack("{s:o, s:i}", "message", message, "exit", code));
}

int phx_cli_fail(PhxCli *cli, const char *format, ...) {
    va_list list;
    va_start(list, format);
    say(cli, PHX_EXIT_WRONG, format, list);
    va_end(list);
    return PHX_EXIT_WRONG;
}

int phx_cli_false(PhxCli *cli, const char *format, ...) {
    va_list list;
    va_start(list, format);
    say(cli, PHX_EXIT_FALSE, format, list);
    va_end(list);
    return PHX_EXIT_FALSE;
}

int phx_cli_fail_status(PhxCli *cli, const char *what, PhxStatus status, const PhxError *error) {
    const bool told = error != NULL && error->status == status && error->text[0] != 0;
    const char *words = told ? error->text : phx_status_text(status);
    const size_t length = strlen(what);
    if (strncmp(words, what, length) == 0 && strncmp(words + length, ": ", 2) == 0)
        return phx_cli_fail(cli, "%s", words);
    return phx_cli_fail(cli, "%s: %s", what, words);
}

void phx_cli_print(const PhxCli *cli, const char *format, ...) {
    if (cli->json) return;
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}

void phx_cli_note(PhxCli *cli, const char *format, ...) {
    if (cli->quiet) return;
    clear_progress(cli);
    va_list list;
    va_start(list, format);
    fprintf(stderr, "phx %s: ", cli->command);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

void phx_cli_progress(PhxCli *cli, uint64_t done, uint64_t total, const char *words) {
    if (!cli->terminal || cli->quiet) return;
    if (done >= total) {
        clear_progress(cli);
        return;
    }
    const uint64_t now = phx_cli_now();
    if (cli->progress_at != 0 && now - cli->progress_at < UINT64_C(100000000)) return;
    cli->progress_at = now;
    fprintf(stderr, "\r\033[K%s: %llu of %llu (%u%%)", words, (unsigned long long)done,
            (unsigned long long)total, (unsigned)(done * 100 / total));
    fflush(stderr);
}
