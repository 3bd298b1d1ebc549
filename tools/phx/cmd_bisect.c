/* cmd_bisect.c: phx bisect: where two ways of computing a match part. tools/bisect does the work; here are
 * its options, its words as it goes, the paragraph and the JSON object.
 */
#include "bisect/bisect.h"
#include "phx/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_CANNOT_TELL = 125, PARAGRAPH = 8192 };

static const PhxCliUsage usage = {
    .synopsis = "REPLAY [OTHER]",
    .about =
        "Finds where two ways of computing a match part: tick, table, phase, column, row and both values.\n\n"
        "  REPLAY OTHER                two replays or bundles of one match: what their recorders computed\n"
        "  REPLAY                      a replay and this build\n"
        "  REPLAY --left --right       two builds: commands that speak tools/bisect/PROTOCOL.md, such as\n"
        "                              'qemu-aarch64 ./phx-worker'; one that isn't given is this build\n"
        "  REPLAY --self HOW           this build against itself: threads=N, cold (caches thrown away "
        "before\n"
        "                              each tick), or reload (saved and loaded before each tick)\n\n"
        "A plain replay holds hashes alone: tick and tables are told always, column and row where this "
        "build\n"
        "reproduces one side and a single changed value accounts for the other. A bundle, or a replay whose\n"
        "recorder saw the desync, holds the state too. Says what it does on standard error, and ends with a\n"
        "paragraph for a bug report on standard output.\n\n"
        "Tick t is the step from t to t + 1: the state after it is --tick t+1 of phx replay seek and "
        "dump.\n\n"
        "A file that is cut or garbled is compared as far as it goes, and that is said on standard error, in "
        "the\n"
        "paragraph and in `faults` of --json.\n\n"
        "Exit, fit for `git bisect run`: 0 no divergence in the ticks that both have (also where a recorder "
        "died\n"
        "and its file is cut), 1 divergence, or with REPLAY alone a keyframe that isn't the computed state, "
        "125 it\n"
        "can't be told (no tick to compare; no divergence, but a garbled file, unless --ticks asked for no "
        "more\n"
        "than it has; a side doesn't start, other revision, other tables), 2 wrong use or a file that can't "
        "be read.",
    .examples =
        "  phx bisect mine.phxr theirs.phxr\n"
        "  phx bisect match.phxr --right 'qemu-s390x ./phx-worker'\n"
        "  phx bisect match.phxr --self threads=8 --json | jq .phase\n"
        "  git bisect run sh -c 'make worker && phx bisect match.phxr --left ./good --right ./worker'\n",
    .least = 1,
    .most = 2};

static void say(void *user, const char *text, uint32_t done, uint32_t total) {
    PhxCli *cli = user;
    if (total > 0)
        phx_cli_progress(cli, done, total, text);
    else
        phx_cli_note(cli, "%s", text);
}

/* ---- JSON */

static json_t *raw_json(const PhxBisectValue *value, uint64_t raw) {
    char text[PHX_BISECT_SPELLED];
    if (value->whole) return phx_cli_hash_json(raw);
    phx_bisect_spell(value, raw, text);
    return json_string(text);
}

static json_t *value_json(const PhxBisectValue *value) {
    json_t *made =
        json_pack("{s:s, s:s, s:s}", "table", value->table, "column", value->column, "type", value->type);
    if (!value->whole) {
        json_object_set_new(made, "row", json_integer(value->row));
        json_object_set_new(made, "lane", json_integer(value->lane));
    }
    json_object_set_new(made, value->whole ? "left_hash" : "left", raw_json(value, value->left));
    json_object_set_new(made, value->whole ? "right_hash" : "right", raw_json(value, value->right));
    json_object_set_new(made, "differs", json_boolean(value->differs));
    return made;
}

static json_t *values_json(const PhxBisectValue *values, uint32_t count) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) json_array_append_new(list, value_json(&values[i]));
    return list;
}

static void set_tables(PhxCli *cli, const PhxBisectReport *report) {
    json_t *list = json_array();
    for (uint32_t t = 0; t < report->table_count; t++)
        json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "table", report->tables[t].name, "left",
                                              phx_cli_hash_json(report->tables[t].left), "right",
                                              phx_cli_hash_json(report->tables[t].right)));
    phx_cli_set(cli, "tables", list);
}

static void set_columns(PhxCli *cli, const PhxBisectReport *report) {
    json_t *list = json_array();
    for (uint32_t c = 0; c < report->column_count; c++) {
        const PhxBisectColumn *column = &report->columns[c];
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:b, s:b}", "table", column->table, "column",
                                              column->column, "rows", (int)column->rows, "more", column->more,
                                              "scratch", column->scratch));
    }
    phx_cli_set(cli, "columns", list);
}

/* One object for each file that is cut or garbled. */
static void set_faults(PhxCli *cli, const PhxBisectReport *report) {
    json_t *list = json_array();
    for (int i = 0; i < 2; i++) {
        const PhxBisectFile *file = &report->files[i];
        if (!file->fault[0]) continue;
        json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:I, s:I, s:s}", "file", cli->arguments[i],
                                              "state", phx_replay_state_name(file->state), "ticks",
                                              (json_int_t)file->ticks, "byte", (json_int_t)file->byte,
                                              "lost_bytes", (json_int_t)file->lost, "text", file->fault));
    }
    phx_cli_set(cli, "faults", list);
}

static void set_json(PhxCli *cli, const PhxBisectReport *report) {
    static const char *const verdicts[] = {"equal", "diverged", "cannot tell"};
    phx_cli_set(cli, "verdict", json_string(verdicts[report->verdict]));
    phx_cli_set(cli, "left", json_string(report->names[0]));
    phx_cli_set(cli, "right", json_string(report->names[1]));
    phx_cli_set(cli, "ticks", json_integer(report->ticks));
    set_faults(cli, report);
    if (report->keyframe[0]) phx_cli_set(cli, "keyframe", json_string(report->keyframe));
    if (report->why[0]) phx_cli_set(cli, "why", json_string(report->why));
    if (report->verdict != PHX_BISECT_DIVERGED) return;
    phx_cli_set(cli, "tick", report->before_first ? json_integer(-1) : json_integer(report->tick));
    phx_cli_set(cli, "left_root", phx_cli_hash_json(report->roots[0]));
    phx_cli_set(cli, "right_root", phx_cli_hash_json(report->roots[1]));
    if (report->agrees >= -1)
        phx_cli_set(cli, "replay_agrees_with",
                    json_string(report->agrees < 0 ? "neither" : report->names[report->agrees]));
    if (report->reproduced >= -1)
        phx_cli_set(cli, "this_build_reproduces",
                    json_string(report->reproduced < 0 ? "neither" : report->names[report->reproduced]));
    set_tables(cli, report);
    if (report->has_phase) phx_cli_set(cli, "phase", json_string(report->phase));
    if (report->state_phase[0]) phx_cli_set(cli, "state_phase", json_string(report->state_phase));
    if (report->died >= 0) phx_cli_set(cli, "died", json_string(report->names[report->died]));
    if (report->other_input) phx_cli_set(cli, "other_input_tick", json_integer(report->input_tick));
    if (report->explained[0]) phx_cli_set(cli, "explained", json_string(report->explained));
    phx_cli_set(cli, "keyframe_differs", json_boolean(report->keyframe_differs));
    phx_cli_set(cli, "undeclared_write", json_boolean(report->undeclared));
    phx_cli_set(cli, "hangs_on_derived", json_boolean(report->history));
    set_columns(cli, report);
    phx_cli_set(cli, "values", values_json(report->values, report->value_count));
    phx_cli_set(cli, "inputs", values_json(report->inputs, report->input_count));
}

static int conclude(PhxCli *cli, const PhxBisectReport *report, const char *what) {
    char text[PARAGRAPH];
    phx_bisect_paragraph(report, what, text, sizeof text);
    phx_cli_progress(cli, 1, 1, "");
    set_json(cli, report);
    phx_cli_set(cli, "text", json_string(text));
    phx_cli_print(cli, "%s\n", text);
    if (report->verdict == PHX_BISECT_CANNOT_TELL) return EXIT_CANNOT_TELL;
    return report->verdict == PHX_BISECT_DIVERGED ? PHX_EXIT_FALSE : PHX_EXIT_OK;
}

/* ---- options */

typedef struct Options {
    char *left, *right, *self;
    long long ticks; /* 0: all */
    int deep, timeout;
} Options;

static int read_self(PhxCli *cli, const char *self, PhxSubjectOptions *options) {
    if (strcmp(self, "cold") == 0) {
        options->cold = true;
    } else if (strcmp(self, "reload") == 0) {
        options->reload = true;
    } else if (strncmp(self, "threads=", 8) == 0) {
        uint64_t threads;
        int code = phx_cli_u64(cli, "--self threads", self + 8, &threads);
        if (code == PHX_CLI_GO)
            code = phx_cli_range(cli, "--self threads", threads > 1000 ? 1000 : (long long)threads, 2,
                                 PHX_CLI_THREAD_LIMIT);
        if (code != PHX_CLI_GO) return code;
        options->threads = (uint32_t)threads;
    } else {
        return phx_cli_fail(cli, "--self %s: threads=N, cold or reload is wanted", self);
    }
    return PHX_CLI_GO;
}

static int check(PhxCli *cli, Options *options) {
    const bool sides = options->left || options->right;
    if (options->self && sides) return phx_cli_fail(cli, "--self goes without --left and --right");
    if (cli->argument_count == 2 && (options->self || sides))
        return phx_cli_fail(cli, "two replays are compared as they were recorded: without --self, --left and "
                                 "--right");
    if (options->deep && !options->self && !sides)
        return phx_cli_fail(cli, "--deep needs two sides that compute: --self, --left or --right");
    int code = phx_cli_optional(cli, "--ticks", &options->ticks, 1, INT32_MAX, "all that there are");
    if (code == PHX_CLI_GO) code = phx_cli_range(cli, "--timeout", options->timeout, 1, 86400);
    return code;
}

/* The replay has to be there and be one before any side is started; what it lacks is said. */
static int check_replay(PhxCli *cli, const char *path) {
    PhxReplay *replay;
    PhxError error = {0};
    const PhxStatus status = phx_replay_load(path, 0, &replay, &error);
    if (status != PHX_OK) return phx_cli_fail_status(cli, path, status, &error);
    PhxBisectFile file;
    phx_bisect_file(replay, path, &file);
    if (file.fault[0]) phx_cli_note(cli, "%s: %s", path, file.fault);
    phx_replay_close(replay);
    return PHX_CLI_GO;
}

static int bisect_sides(PhxCli *cli, const Options *options, PhxBisectReport *report) {
    const uint32_t timeout = (uint32_t)options->timeout * 1000;
    const PhxSubjectOptions plain = {.game = cli->game, .threads = 1};
    PhxBisectPlan plan = {.replays = {cli->arguments[0], cli->arguments[0]},
                          .deep = options->deep != 0,
                          .ticks = (uint32_t)options->ticks,
                          .say = say,
                          .say_user = cli};
    plan.sides[0] = plan.sides[1] =
        (PhxSideSpec){.name = "this build", .options = plain, .timeout_ms = timeout};
    if (options->self) {
        const int code = read_self(cli, options->self, &plan.sides[1].options);
        if (code != PHX_CLI_GO) return code;
        plan.sides[0].name = options->self[0] == 't' ? "one thread" : "straight";
        plan.sides[1].name = options->self;
    }
    if (options->left) plan.sides[0].name = "left", plan.sides[0].command = options->left;
    if (options->right) plan.sides[1].name = "right", plan.sides[1].command = options->right;
    phx_cli_set(cli, "left_command", json_string(options->left ? options->left : ""));
    phx_cli_set(cli, "right_command", json_string(options->right ? options->right : ""));
    phx_cli_note(cli, "playing %s on both sides: %s and %s", plan.replays[0], plan.sides[0].name,
                 plan.sides[1].name);
    phx_bisect_sides(&plan, report);
    return PHX_CLI_GO;
}

/* What was compared, for the paragraph. */
static void name_inputs(const PhxCli *cli, const Options *options, char *text, size_t size) {
    const char *other = cli->argument_count == 2 ? cli->arguments[1] : NULL;
    const char *left = options->left, *right = options->right;
    snprintf(text, size, "%.240s%s%.240s%s%.240s%s%s%.240s%s", cli->arguments[0], other ? " and " : "",
             other ? other : "", left ? ", left `" : "", left ? left : "", left ? "`" : "",
             right ? ", right `" : "", right ? right : "", right ? "`" : "");
}

int phx_cmd_bisect(PhxCli *cli, int argc, const char **argv) {
    Options options = {.timeout = 600, .ticks = PHX_CLI_DEFAULT};
    const struct poptOption table[] = {
        {"left", 0, POPT_ARG_STRING, &options.left, 0, "a worker's command", "CMD"},
        {"right", 0, POPT_ARG_STRING, &options.right, 0, "another worker's command", "CMD"},
        {"self", 0, POPT_ARG_STRING, &options.self, 0, "threads=N, cold or reload", "HOW"},
        {"deep", 0, POPT_ARG_NONE, &options.deep, 0,
         "compare what each phase of each tick leaves behind, also what no root shows", NULL},
        {"ticks", 0, POPT_ARG_LONGLONG, &options.ticks, 0, "compare at most so many", "N"},
        {"timeout", 0, POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &options.timeout, 0,
         "seconds that a side may be silent", "N"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO) code = check(cli, &options);
    for (uint32_t i = 0; i < cli->argument_count && code == PHX_CLI_GO; i++)
        code = check_replay(cli, cli->arguments[i]);
    if (code != PHX_CLI_GO) return code;
    PhxBisectReport *report = calloc(1, sizeof *report);
    if (!report) return phx_cli_fail_status(cli, "report", PHX_ERROR_MEMORY, NULL);
    if (options.self || options.left || options.right) {
        code = bisect_sides(cli, &options, report);
    } else {
        const char *const paths[2] = {cli->arguments[0], cli->argument_count == 2 ? cli->arguments[1] : NULL};
        const PhxSubjectOptions plain = {.game = cli->game, .threads = 1};
        phx_bisect_recorded(paths, &plain, say, cli, report);
    }
    if (code == PHX_CLI_GO) {
        char what[1024];
        name_inputs(cli, &options, what, sizeof what);
        code = conclude(cli, report, what);
    }
    free(report);
    return code;
}
