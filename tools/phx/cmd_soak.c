/* cmd_soak.c: phx soak: random matches until the time is up, or one fails. */
#include "phx/cli.h"
#include "soak/soak.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MINIMISE_RUNS = 4000, MATCH_SECONDS = 120, DEFAULT_SECONDS = 60 };

static const PhxCliUsage usage = {
    .synopsis = "",
    .about =
        "Plays random matches: maps, types of unit at the ends of their ranges, players and capacities, and\n"
        "streams of commands of which many are wrong, all from a seed. Each match runs in several worlds as\n"
        "under phx synctest, in a process of its own. The first that fails is reduced to the fewest "
        "commands\n"
        "that still fail, and written as soak-SEED.phxr and soak-SEED.txt, which ends with the line that\n"
        "repeats it. Match number i has the seed S + i. By default it goes on for 60 seconds.\n"
        "Exit: 0 nothing failed, 1 a match failed, 2 wrong use.",
    .examples = "  phx soak --seed 1 --seconds 600\n"
                "  phx soak --seed 4711 --matches 1 --out /tmp\n",
    .least = 0,
    .most = 0};

typedef struct Soak {
    PhxCli *cli;
    long long seconds, matches; /* 0: no limit */
    char *seed_text, *out;
    uint64_t seed;
    uint64_t done, ticks, comparisons, agent_steps, commands, executed, malformed, late, full, arrived;
} Soak;

static int parse(Soak *soak, int argc, const char **argv) {
    PhxCli *cli = soak->cli;
    const struct poptOption table[] = {
        {"seed", 's', POPT_ARG_STRING, &soak->seed_text, 0, "seed of the first match (default 1)", "S"},
        {"seconds", 'T', POPT_ARG_LONGLONG, &soak->seconds, 0,
         "begin no match after T seconds (default 60, with --matches: no limit)", "T"},
        {"matches", 'n', POPT_ARG_LONGLONG, &soak->matches, 0, "at most N matches (default: no limit)", "N"},
        {"out", 'o', POPT_ARG_STRING, &soak->out, 0, "folder for what fails (default: this one)", "DIR"},
        POPT_TABLEEND};
    soak->seconds = soak->matches = PHX_CLI_DEFAULT;
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO)
        code = phx_cli_optional(cli, "--seconds", &soak->seconds, 1, 10000000,
                                "60 seconds, or no limit with --matches");
    if (code == PHX_CLI_GO)
        code = phx_cli_optional(cli, "--matches", &soak->matches, 1, 1000000000, "no limit");
    if (code == PHX_CLI_GO && soak->seed_text != NULL)
        code = phx_cli_u64(cli, "--seed", soak->seed_text, &soak->seed);
    if (code == PHX_CLI_GO && soak->out != NULL && access(soak->out, W_OK | X_OK) != 0)
        code = phx_cli_fail(cli, "--out: %s: %s", soak->out, strerror(errno));
    if (soak->seconds == 0 && soak->matches == 0) soak->seconds = DEFAULT_SECONDS;
    return code;
}

static void count(Soak *soak, const PhxSoakMatch *match, const PhxSoakRun *run) {
    soak->done++;
    soak->ticks += run->ticks;
    soak->comparisons += run->comparisons;
    soak->agent_steps += run->agent_steps;
    soak->commands += match->stream.count;
    soak->executed += run->executed;
    soak->malformed += run->malformed;
    soak->late += run->late;
    soak->full += run->full;
    soak->arrived += run->arrived;
}

static void say_reducing(void *user, uint32_t tests, uint32_t commands) {
    char words[64];
    snprintf(words, sizeof words, "reducing, %" PRIu32 " commands left", commands);
    phx_cli_progress(user, tests, MINIMISE_RUNS, words);
}

/* Reduces, writes and names a failure. */
static int failed(Soak *soak, const PhxSoakMatch *match, const PhxSoakRun *run) {
    PhxCli *cli = soak->cli;
    char prefix[900], line[1200];
    PhxSoakMinimised least;
    PhxError error = {0};
    phx_cli_note(cli, "seed %" PRIu64 ": %s", match->seed, run->fault.text);
    PhxStatus status = phx_soak_minimise(match, run, MINIMISE_RUNS, MATCH_SECONDS, say_reducing, cli, &least);
    if (status == PHX_ERROR_STATE)
        return phx_cli_false(cli, "seed %" PRIu64 ": %s; it didn't fail a second time", match->seed,
                             run->fault.text);
    if (status != PHX_OK) return phx_cli_fail_status(cli, "reducing", status, NULL);
    snprintf(prefix, sizeof prefix, "%s%ssoak-%" PRIu64, soak->out ? soak->out : "", soak->out ? "/" : "",
             match->seed);
    status = phx_soak_write(match, &least, prefix, &error);
    phx_soak_repeat_line(match, prefix, line, sizeof line);
    json_t *object = json_object();
    json_object_set_new(object, "seed", json_integer((json_int_t)match->seed));
    json_object_set_new(object, "kind", json_string(phx_sync_kind_name(least.run.fault.kind)));
    json_object_set_new(object, "world", json_string(least.run.fault.way));
    json_object_set_new(object, "text", json_string(least.run.fault.text));
    json_object_set_new(object, "tick", json_integer(least.run.fault.tick));
    json_object_set_new(object, "commands", json_integer(least.stream.count));
    json_object_set_new(object, "commands_before", json_integer(match->stream.count));
    json_object_set_new(object, "minimal", json_boolean(least.minimal));
    json_object_set_new(object, "runs", json_integer(least.tests));
    json_object_set_new(object, "repeat", json_string(line));
    phx_cli_set(cli, "failure", object);
    phx_cli_print(cli, "seed %" PRIu64 ": %s\n%" PRIu32 " of %" PRIu32 " commands are needed: %s.txt\n%s\n",
                  match->seed, least.run.fault.text, least.stream.count, match->stream.count, prefix, line);
    const int code = status != PHX_OK
                         ? phx_cli_fail_status(cli, prefix, status, &error)
                         : phx_cli_false(cli, "seed %" PRIu64 ": %s", match->seed, least.run.fault.text);
    phx_stream_free(&least.stream);
    return code;
}

static int play_one(Soak *soak, uint64_t seed) {
    PhxCli *cli = soak->cli;
    PhxSoakMatch match;
    PhxSoakRun run;
    PhxError error = {0};
    const PhxStatus status = phx_soak_make(seed, cli->game, &match, &error);
    if (status != PHX_OK) return phx_cli_fail_status(cli, "a random match", status, &error);
    phx_soak_run_apart(&match, &match.stream, match.ticks, MATCH_SECONDS, &run);
    count(soak, &match, &run);
    int code = PHX_CLI_GO;
    if (run.status != PHX_OK)
        code = phx_cli_fail_status(cli, "a random match", run.status, NULL);
    else if (run.fault.kind != PHX_SYNC_EQUAL)
        code = failed(soak, &match, &run);
    phx_soak_free(&match);
    return code;
}

static void report(const Soak *soak, uint64_t ns) {
    PhxCli *cli = soak->cli;
    const struct {
        const char *key;
        uint64_t value;
    } values[] = {{"matches", soak->done},
                  {"ticks", soak->ticks},
                  {"comparisons", soak->comparisons},
                  {"agent_steps", soak->agent_steps},
                  {"commands", soak->commands},
                  {"executed", soak->executed},
                  {"malformed", soak->malformed},
                  {"late_units", soak->late},
                  {"full", soak->full},
                  {"arrived", soak->arrived}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        phx_cli_set(cli, values[i].key, json_integer((json_int_t)values[i].value));
    phx_cli_set(cli, "seconds", json_real((double)ns / 1e9));
    phx_cli_set(cli, "first_seed", json_integer((json_int_t)soak->seed));
    phx_cli_print(cli,
                  "%" PRIu64 " matches from seed %" PRIu64 ", %" PRIu64 " ticks, %" PRIu64
                  " comparisons of worlds, %.0f s\n%" PRIu64 " commands: %" PRIu64 " executed, %" PRIu64
                  " malformed, %" PRIu64 " without room, %" PRIu64 " units dead or foreign; %" PRIu64
                  " arrivals\n",
                  soak->done, soak->seed, soak->ticks, soak->comparisons, (double)ns / 1e9, soak->commands,
                  soak->executed, soak->malformed, soak->full, soak->late, soak->arrived);
}

int phx_cmd_soak(PhxCli *cli, int argc, const char **argv) {
    Soak soak = {.cli = cli, .seed = 1};
    int code = parse(&soak, argc, argv);
    if (code != PHX_CLI_GO) return code;
    const uint64_t begin = phx_cli_now(), limit = (uint64_t)soak.seconds * UINT64_C(1000000000);
    while (code == PHX_CLI_GO) {
        const uint64_t spent = phx_cli_now() - begin;
        if ((soak.seconds > 0 && spent >= limit) || (soak.matches > 0 && soak.done >= (uint64_t)soak.matches))
            break;
        if (soak.matches > 0)
            phx_cli_progress(cli, soak.done, (uint64_t)soak.matches, "matches");
        else
            phx_cli_progress(cli, spent / 1000000000, (uint64_t)soak.seconds, "seconds");
        code = play_one(&soak, soak.seed + soak.done);
    }
    report(&soak, phx_cli_now() - begin);
    return code == PHX_CLI_GO ? PHX_EXIT_OK : code;
}
