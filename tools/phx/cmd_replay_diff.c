/* cmd_replay_diff.c: phx replay diff: where two recordings of one match part.
 *
 * Needs no simulation to name the first tick whose commands or hashes differ, and the tables. Where this
 * program can play both, it goes to that tick in both and names columns and rows; a divergence that the
 * commands don't explain it can't repeat, and then it says which of the two it computes itself.
 */
#include "phx/cmd_replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "step/sim_internal.h"

enum { SHOWN = 16 };

static const PhxCliUsage usage = {
    .synopsis = "A B",
    .about =
        "Compares two recordings of one match: settings, content, commands and hashes, and names the first "
        "tick and the\n"
        "tables that differ; then, where both can be played here, columns and rows. Exits 0 where all "
        "ticks that both\n"
        "have are equal, 1 where something differs, 2 where one can't be read.",
    .examples = "  phx replay diff host.phxr player1.phxr\n"
                "  phx replay diff clash.phxr fork.phxr --json | jq .tick\n",
    .least = 2,
    .most = 2};

typedef struct Diff {
    PhxCli *cli;
    const char *path[2];
    PhxReplay *replay[2];
    uint32_t common;        /* ticks that both have */
    uint32_t commands_tick; /* first tick with other commands; UINT32_MAX: none */
    uint32_t hashes_tick;   /* first tick with other hashes; UINT32_MAX: none */
    bool start_differs;
    uint32_t tables[PHX_REPLAY_TABLE_LIMIT], table_count; /* of that tick */
    uint64_t roots[2];                                    /* recorded, after it */
} Diff;

/* ---- the frame: settings, content, tables */

static const char *frame_difference(const PhxReplayInfo *a, const PhxReplayInfo *b) {
    if (!a->has_content || !b->has_content) return "one of them has lost its beginning";
    if (a->sim_revision != b->sim_revision) return "they are of different simulation revisions";
    if (a->content_hash != b->content_hash) return "their content differs";
    if (a->settings_hash != b->settings_hash) return "their settings differ";
    if (a->schema_hash != b->schema_hash || a->table_count != b->table_count) return "their tables differ";
    for (uint32_t t = 0; t < a->table_count; t++)
        if (strcmp(a->table_names[t], b->table_names[t]) != 0) return "their tables differ";
    return NULL;
}

/* ---- commands and hashes */

static bool commands_equal(const PhxReplayTick *a, const PhxReplayTick *b) {
    if (a->command_count != b->command_count) return false;
    for (uint32_t i = 0; i < a->command_count; i++) {
        const PhxCommand *x = &a->commands[i], *y = &b->commands[i];
        if (x->slot != y->slot || x->sequence != y->sequence || x->size != y->size) return false;
        if (x->size > 0 && memcmp(x->bytes, y->bytes, x->size) != 0) return false;
    }
    return true;
}

static bool hashes_equal(Diff *diff, const uint64_t *a, const uint64_t *b, uint64_t root_a, uint64_t root_b) {
    const uint32_t count = phx_replay_info(diff->replay[0])->table_count;
    diff->table_count = 0;
    for (uint32_t t = 0; t < count; t++)
        if (a[t] != b[t]) diff->tables[diff->table_count++] = t;
    diff->roots[0] = root_a;
    diff->roots[1] = root_b;
    return diff->table_count == 0 && root_a == root_b;
}

static PhxStatus walk(Diff *diff) {
    PhxReplayCursor *cursors[2] = {NULL, NULL};
    PhxReplayTick a, b;
    PhxStatus status = phx_replay_cursor_create(diff->replay[0], &cursors[0]);
    if (status == PHX_OK) status = phx_replay_cursor_create(diff->replay[1], &cursors[1]);
    diff->start_differs = !hashes_equal(
        diff, phx_replay_start_hashes(diff->replay[0]), phx_replay_start_hashes(diff->replay[1]),
        phx_replay_info(diff->replay[0])->start_root, phx_replay_info(diff->replay[1])->start_root);
    for (uint32_t t = 0; t < diff->common && status == PHX_OK && !diff->start_differs; t++) {
        if (!phx_replay_cursor_next(cursors[0], &a) || !phx_replay_cursor_next(cursors[1], &b)) break;
        if (diff->commands_tick == UINT32_MAX && !commands_equal(&a, &b)) diff->commands_tick = t;
        if (hashes_equal(diff, a.table_hashes, b.table_hashes, a.root, b.root)) continue;
        diff->hashes_tick = t;
        break;
    }
    phx_replay_cursor_destroy(cursors[0]);
    phx_replay_cursor_destroy(cursors[1]);
    return status;
}

/* ---- columns and rows */

/* The value's own bytes, two digits each. */
static void write_value(char text[20], PhxType type, uint64_t raw) {
    const unsigned bits = 8 * phx_type_size(type);
    if (bits < 64) raw &= (UINT64_C(1) << bits) - 1;
    snprintf(text, 20, "0x%0*" PRIx64, (int)(bits / 4), raw);
}

static void list_differences(PhxCli *cli, const PhxSim *a, const PhxSim *b) {
    PhxDifference differences[SHOWN];
    const uint32_t count = phx_sim_diff(a, b, differences, SHOWN);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count && i < SHOWN; i++) {
        const PhxDifference *d = &differences[i];
        const PhxType type = a->world->tables[d->table_index].desc->columns[d->column_index].type;
        char left[20], right[20];
        write_value(left, type, d->left);
        write_value(right, type, d->right);
        phx_cli_print(cli, "  %s.%s of row %" PRIu32 "%s%.0" PRIu32 ": %s in A, %s in B\n", d->table,
                      d->column, d->row, d->lane ? " lane " : "", d->lane, left, right);
        json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:I, s:s, s:s}", "table", d->table, "column",
                                              d->column, "row", (json_int_t)d->row, "lane",
                                              (json_int_t)d->lane, "a", left, "b", right));
    }
    if (count > SHOWN) phx_cli_print(cli, "  .. and %" PRIu32 " more\n", count - SHOWN);
    phx_cli_set(cli, "differences", list);
    phx_cli_set(cli, "difference_count", json_integer(count));
}

/* The commands are equal, and so is what this program computes from them: one of the two at most is its own
 * match. */
static void say_side(Diff *diff, uint64_t computed) {
    static const char *const sides[] = {"a", "b", "neither"};
    const int side = computed == diff->roots[0] ? 0 : computed == diff->roots[1] ? 1 : 2;
    phx_cli_set(diff->cli, "computed_here", json_string(sides[side]));
    const bool evidence =
        phx_replay_info(diff->replay[0])->evidence > 0 || phx_replay_info(diff->replay[1])->evidence > 0;
    phx_cli_set(diff->cli, "evidence", json_boolean(evidence));
    if (side == 2)
        phx_cli_print(diff->cli, "  this program computes neither: root %016" PRIx64 "\n", computed);
    else if (!evidence)
        phx_cli_print(diff->cli,
                      "  this program computes what %s says; the state of the other can't be known from its "
                      "hashes: phx bisect\n"
                      "  goes on with a bundle, or with the program that recorded it\n",
                      diff->path[side]);
    else
        phx_cli_print(diff->cli, "  this program computes what %s says\n", diff->path[side]);
    if (evidence)
        phx_cli_print(diff->cli,
                      "  states of the desync were recorded: phx bisect %s %s names columns and rows\n",
                      diff->path[0], diff->path[1]);
}

/* Plays both up to the tick that differs. Not being able to is no fault of the replays. */
static int resimulate(Diff *diff, uint32_t tick) {
    PhxReplayStage stages[2];
    PhxCli *cli = diff->cli;
    int code = phx_replay_cmd_stage(cli, diff->path[0], diff->replay[0], 1, &stages[0]);
    if (code != PHX_CLI_GO) return PHX_EXIT_FALSE;
    code = phx_replay_cmd_stage(cli, diff->path[1], diff->replay[1], 1, &stages[1]);
    if (code == PHX_CLI_GO) {
        for (int i = 0; i < 2 && code == PHX_CLI_GO; i++)
            code = phx_replay_cmd_goto(cli, diff->path[i], &stages[i], tick);
        if (code == PHX_CLI_GO && phx_sim_root(stages[0].sim) != phx_sim_root(stages[1].sim))
            list_differences(cli, stages[0].sim, stages[1].sim);
        else if (code == PHX_CLI_GO)
            say_side(diff, phx_sim_root(stages[0].sim));
        phx_replay_cmd_stage_close(&stages[1]);
    }
    phx_replay_cmd_stage_close(&stages[0]);
    return PHX_EXIT_FALSE;
}

/* ---- the report */

static void report_tables(Diff *diff) {
    const PhxReplayInfo *info = phx_replay_info(diff->replay[0]);
    json_t *list = json_array();
    for (uint32_t i = 0; i < diff->table_count; i++) {
        phx_cli_print(diff->cli, "%s %s", i ? "," : "", info->table_names[diff->tables[i]]);
        json_array_append_new(list, json_string(info->table_names[diff->tables[i]]));
    }
    phx_cli_print(diff->cli, "%s\n", diff->table_count ? "" : " the root alone");
    phx_cli_set(diff->cli, "tables", list);
    phx_cli_set(diff->cli, "root_a", phx_cli_hash_json(diff->roots[0]));
    phx_cli_set(diff->cli, "root_b", phx_cli_hash_json(diff->roots[1]));
}

static int report(Diff *diff) {
    PhxCli *cli = diff->cli;
    const PhxReplayInfo *a = phx_replay_info(diff->replay[0]), *b = phx_replay_info(diff->replay[1]);
    const bool hashes = diff->start_differs || diff->hashes_tick != UINT32_MAX;
    phx_cli_set(cli, "equal", json_boolean(!hashes && diff->commands_tick == UINT32_MAX));
    phx_cli_set(cli, "common_ticks", json_integer(diff->common));
    if (a->ticks != b->ticks)
        phx_cli_print(cli, "A has %" PRIu32 " ticks (%s), B has %" PRIu32 " (%s)\n", a->ticks,
                      phx_replay_state_name(a->state), b->ticks, phx_replay_state_name(b->state));
    if (diff->commands_tick != UINT32_MAX) {
        phx_cli_set(cli, "commands_tick", json_integer(diff->commands_tick));
        phx_cli_print(cli, "commands differ first at tick %" PRIu32 "\n", diff->commands_tick);
    }
    if (!hashes && diff->commands_tick != UINT32_MAX) {
        phx_cli_print(cli, "hashes are equal in all %" PRIu32 " ticks that both have\n", diff->common);
        return PHX_EXIT_FALSE;
    }
    if (!hashes) {
        phx_cli_print(cli, "equal: %" PRIu32 " ticks, root %016" PRIx64 "\n", diff->common, diff->roots[0]);
        return PHX_EXIT_OK;
    }
    const int64_t tick = diff->start_differs ? -1 : (int64_t)diff->hashes_tick;
    phx_cli_set(cli, "tick", json_integer(tick));
    if (diff->start_differs)
        phx_cli_print(cli, "the states before tick 0 differ in:");
    else
        phx_cli_print(cli, "hashes differ first at tick %" PRIu32 ", in:", diff->hashes_tick);
    report_tables(diff);
    return resimulate(diff, (uint32_t)(tick + 1));
}

static int compare(Diff *diff) {
    const PhxReplayInfo *a = phx_replay_info(diff->replay[0]), *b = phx_replay_info(diff->replay[1]);
    const char *frame = frame_difference(a, b);
    if (!a->has_content || !b->has_content)
        return phx_cli_fail(diff->cli, "%s: no tick was kept: %s", diff->path[a->has_content ? 1 : 0],
                            (a->has_content ? b : a)->fault.text);
    if (frame != NULL) {
        phx_cli_set(diff->cli, "equal", json_false());
        return phx_cli_false(diff->cli, "%s and %s are no recordings of one match: %s", diff->path[0],
                             diff->path[1], frame);
    }
    diff->common = a->ticks < b->ticks ? a->ticks : b->ticks;
    const PhxStatus status = walk(diff);
    return status == PHX_OK ? report(diff) : phx_cli_fail_status(diff->cli, diff->path[0], status, NULL);
}

int phx_replay_cmd_diff(PhxCli *cli, int argc, const char **argv) {
    const struct poptOption options[] = {POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, options, &usage);
    if (code != PHX_CLI_GO) return code;
    Diff diff = {.cli = cli,
                 .path = {cli->arguments[0], cli->arguments[1]},
                 .commands_tick = UINT32_MAX,
                 .hashes_tick = UINT32_MAX};
    for (int i = 0; i < 2 && code == PHX_CLI_GO; i++)
        code = phx_replay_cmd_load(cli, diff.path[i], &diff.replay[i]);
    if (code == PHX_CLI_GO) {
        phx_cli_set(cli, "a", json_string(diff.path[0]));
        phx_cli_set(cli, "b", json_string(diff.path[1]));
        json_object_del(cli->root, "file");
        code = compare(&diff);
    }
    phx_replay_close(diff.replay[0]);
    phx_replay_close(diff.replay[1]);
    return code;
}
