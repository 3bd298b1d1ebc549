/* cmd_synctest.c: phx synctest: a scenario, a blob or a replay in several worlds at once, compared after
 * every tick.
 */
#include "phx/solo.h"
#include "soak/synctest.h"

#include <inttypes.h>
#include <phalanx/replay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPLAY_LIMIT = INT32_MAX /* bytes of a replay's file */ };

static const PhxCliUsage usage = {
    .synopsis = "SCENARIO|BLOB|REPLAY",
    .about =
        "Plays a match tick by tick, and beside it the same match in worlds that differ in what must not\n"
        "matter: one is loaded from the first one's snapshot before each tick, others compute with other\n"
        "numbers of threads, without caches, or in memory full of a given byte. After every tick roots,\n"
        "tables, values and events are compared, and no unit may stand off the map or walk into a wall. The\n"
        "first difference is named by tick, table, column and row, with both values.\n"
        "Exit: 0 all equal, 1 a difference, 2 bad input.",
    .examples = "  phx synctest tests/scenario/duel.yaml\n"
                "  phx synctest tests/scenario/clash.yaml --every 10 --threads 2,3 --cold --poison 0xff\n"
                "  phx synctest match.phxr --ticks 500 --json\n",
    .least = 1,
    .most = 1};

typedef struct Options {
    long long ticks, field_cache;
    int every, cold;
    char *threads, *poison, *seed;
    PhxSyncOptions sync;
} Options;

typedef struct Test {
    PhxCli *cli;
    Options options;
    uint32_t ticks, played;
    /* The input is one or the other. */
    PhxSoloContent content;
    PhxSolo solo;
    bool has_solo;
    void *bytes; /* the replay's file */
    PhxReplay *replay;
    PhxReplayCursor *cursor;
    PhxSim *own; /* the replay's world */
    /* Both: */
    PhxSim *straight;
    PhxSync *sync;
    PhxSyncFault fault;
} Test;

static int read_poison(PhxCli *cli, Options *o) {
    uint64_t byte;
    if (o->poison == NULL) return PHX_CLI_GO;
    const int code = phx_cli_u64(cli, "--poison", o->poison, &byte);
    if (code != PHX_CLI_GO) return code;
    if (byte > 255) return phx_cli_fail(cli, "--poison: %s: a byte is wanted, 0 to 255", o->poison);
    o->sync.poison = true;
    o->sync.poison_byte = (uint8_t)byte;
    return PHX_CLI_GO;
}

static int parse(Test *test, int argc, const char **argv) {
    PhxCli *cli = test->cli;
    Options *o = &test->options;
    *o = (Options){.every = 1, .ticks = PHX_CLI_DEFAULT, .field_cache = PHX_CLI_DEFAULT};
    const struct poptOption table[] = {
        {"every", 'e', POPT_ARG_INT, &o->every, 0,
         "load, and drop caches, before every Nth tick (default 1; 0: load no world)", "N"},
        {"threads", 'j', POPT_ARG_STRING, &o->threads, 0, "also worlds with these numbers of threads",
         "LIST"},
        {"cold", 'c', POPT_ARG_NONE, &o->cold, 0, "also a world that throws away all that is derived", NULL},
        {"poison", 'p', POPT_ARG_STRING, &o->poison, 0,
         "also a world whose fresh memory and dropped caches are full of this byte", "BYTE"},
        {"field-cache", 0, POPT_ARG_LONGLONG, &o->field_cache, 0,
         "tiles of flow fields kept in the worlds beside the first (default: as many as there)", "N"},
        {"ticks", 't', POPT_ARG_LONGLONG, &o->ticks, 0, "play N ticks (default: to the end)", "N"},
        {"seed", 's', POPT_ARG_STRING, &o->seed, 0, "another seed, for a scenario or blob", "N"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO) code = phx_cli_range(cli, "--every", o->every, 0, 100000000);
    if (code == PHX_CLI_GO)
        code = phx_cli_optional(cli, "--ticks", &o->ticks, 1, 100000000, "the whole match");
    if (code == PHX_CLI_GO)
        code =
            phx_cli_optional(cli, "--field-cache", &o->field_cache, 1, 4096, "as many as in the first world");
    if (code == PHX_CLI_GO && o->threads != NULL)
        code = phx_cli_list(cli, "--threads", o->threads, 1, PHX_JOBS_WORKERS_MAX, o->sync.threads,
                            PHX_SYNC_THREADS_LIMIT, &o->sync.thread_count);
    if (code == PHX_CLI_GO) code = read_poison(cli, o);
    o->sync.every = (uint32_t)o->every;
    o->sync.cold = o->cold != 0;
    o->sync.game = cli->game;
    o->sync.field_cache = (uint32_t)o->field_cache;
    return code;
}

/* Input. */

static int begin_sync(Test *test, const void *blob, size_t size, const PhxSettings *settings) {
    PhxError error = {0};
    const PhxStatus status =
        phx_sync_create(test->straight, blob, size, settings, &test->options.sync, &test->sync, &error);
    if (status != PHX_OK) return phx_cli_fail_status(test->cli, test->cli->arguments[0], status, &error);
    return PHX_CLI_GO;
}

static int open_replay(Test *test, const char *path, size_t size) {
    PhxCli *cli = test->cli;
    PhxReplayPlayback *playback = NULL;
    PhxError error = {0};
    if (test->options.seed != NULL)
        return phx_cli_fail(cli, "--seed: %s is a replay, its seed was recorded", path);
    PhxStatus status = phx_replay_open(test->bytes, size, NULL, &test->replay, &error);
    if (status != PHX_OK) return phx_cli_fail_status(cli, path, status, &error);
    /* The player knows all reasons why a replay can't be played here. */
    status = phx_replay_playback_create(test->replay, &(PhxSimConfig){.game = cli->game}, &playback, &error);
    phx_replay_playback_destroy(playback);
    if (status != PHX_OK) return phx_cli_fail_status(cli, path, status, &error);
    const PhxReplayInfo *info = phx_replay_info(test->replay);
    const void *blob = phx_replay_content(test->replay, &size);
    if (info->state != PHX_REPLAY_COMPLETE)
        phx_cli_note(cli, "%s: the replay is %s at byte %" PRIu64 ": %s", path,
                     phx_replay_state_name(info->state), info->fault.offset, info->fault.text);
    status =
        phx_sim_create(&(PhxSimConfig){.game = cli->game}, blob, size, &info->settings, &test->own, &error);
    if (status == PHX_OK) status = phx_replay_cursor_create(test->replay, &test->cursor);
    if (status != PHX_OK) return phx_cli_fail_status(cli, path, status, &error);
    test->straight = test->own;
    test->ticks = info->ticks + (info->pending_commands > 0);
    return begin_sync(test, blob, size, &info->settings);
}

/* Takes the file's bytes. */
static int open_content(Test *test, const char *path, size_t size) {
    PhxCli *cli = test->cli;
    PhxScenarioChanges changes = {.has_seed = test->options.seed != NULL,
                                  .ticks = (uint32_t)test->options.ticks};
    int code = changes.has_seed ? phx_cli_u64(cli, "--seed", test->options.seed, &changes.seed) : PHX_CLI_GO;
    if (code != PHX_CLI_GO) return code;
    code = phx_solo_content_take(cli, path, test->bytes, size, &changes, &test->content);
    test->bytes = NULL;
    if (code == PHX_CLI_GO)
        code = phx_solo_open(&test->solo, cli, &test->content, &(PhxSoloOptions){.threads = 1});
    if (code != PHX_CLI_GO) return code;
    test->has_solo = true;
    test->straight = test->solo.sim;
    test->ticks = test->content.ticks;
    return begin_sync(test, test->content.blob, test->content.blob_size, &test->content.info.settings);
}

static bool is_replay(const void *bytes, size_t size) {
    return size >= 5 && memcmp(bytes, "\x89PHXR", 5) == 0;
}

static size_t limit_of(const void *head, size_t size) {
    return is_replay(head, size) ? REPLAY_LIMIT : phx_solo_content_limit(head, size);
}

/* Playing. */

static int next_commands(Test *test, const PhxCommand **commands, uint32_t *count, uint64_t *recorded) {
    PhxReplayTick tick;
    *recorded = 0;
    if (test->has_solo) return phx_solo_collect(&test->solo, commands, count);
    if (!phx_replay_cursor_next(test->cursor, &tick))
        return phx_cli_fail(test->cli, "%s: ends before tick %" PRIu32, test->cli->arguments[0],
                            test->played);
    *commands = tick.commands;
    *count = tick.command_count;
    *recorded = tick.complete ? tick.root : 0;
    return PHX_CLI_GO;
}

static int play(Test *test) {
    PhxCli *cli = test->cli;
    bool told = false;
    if (test->options.ticks > 0 && (uint32_t)test->options.ticks < test->ticks)
        test->ticks = (uint32_t)test->options.ticks;
    while (test->played < test->ticks) {
        const PhxCommand *commands;
        uint32_t count;
        uint64_t recorded;
        const int code = next_commands(test, &commands, &count, &recorded);
        if (code != PHX_CLI_GO) return code;
        const PhxStatus status = phx_sync_step(test->sync, commands, count, &test->fault);
        if (status != PHX_OK) return phx_cli_fail_status(cli, cli->arguments[0], status, NULL);
        if (test->fault.kind != PHX_SYNC_EQUAL) break;
        if (recorded != 0 && recorded != phx_sim_root(test->straight) && !told) {
            told = true; /* the worlds here may well be equal among each other */
            phx_cli_note(cli,
                         "%s: tick %" PRIu32 " was recorded with another root; phx replay verify says more",
                         cli->arguments[0], test->played);
        }
        test->played++;
        phx_cli_progress(cli, test->played, test->ticks, "ticks compared");
    }
    return PHX_CLI_GO;
}

/* Report. */

static void fault_json(PhxCli *cli, const PhxSyncFault *fault) {
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(phx_sync_kind_name(fault->kind)));
    json_object_set_new(object, "tick", json_integer(fault->tick));
    json_object_set_new(object, "world", json_string(fault->way));
    json_object_set_new(object, "straight_root", phx_cli_hash_json(fault->root));
    json_object_set_new(object, "root", phx_cli_hash_json(fault->other_root));
    json_object_set_new(object, "text", json_string(fault->text));
    if (fault->table[0] != 0) {
        json_object_set_new(object, "table", json_string(fault->table));
        json_object_set_new(object, "column", json_string(fault->column));
        json_object_set_new(object, "row", json_integer(fault->row));
        json_object_set_new(object, "lane", json_integer(fault->lane));
        json_object_set_new(object, "straight_value", phx_cli_hash_json(fault->value));
        json_object_set_new(object, "value", phx_cli_hash_json(fault->other_value));
        json_object_set_new(object, "differences", json_integer(fault->differences));
    }
    phx_cli_set(cli, "fault", object);
}

static int report(Test *test) {
    PhxCli *cli = test->cli;
    json_t *ways = json_array();
    for (uint32_t i = 0; i < phx_sync_world_count(test->sync); i++)
        json_array_append_new(ways, json_string(phx_sync_way(test->sync, i)));
    phx_cli_set(cli, "file", json_string(cli->arguments[0]));
    phx_cli_set(cli, "worlds", ways);
    phx_cli_set(cli, "ticks", json_integer(test->played));
    phx_cli_set(cli, "comparisons", json_integer((json_int_t)phx_sync_comparisons(test->sync)));
    phx_cli_set(cli, "equal", json_boolean(test->fault.kind == PHX_SYNC_EQUAL));
    phx_cli_set(cli, "root", phx_cli_hash_json(phx_sim_root(test->straight)));
    if (test->fault.kind != PHX_SYNC_EQUAL) {
        fault_json(cli, &test->fault);
        return phx_cli_false(cli, "%s: %s", cli->arguments[0], test->fault.text);
    }
    phx_cli_print(cli, "%s: equal: %" PRIu32 " ticks, root %016" PRIx64 "\n", cli->arguments[0], test->played,
                  phx_sim_root(test->straight));
    for (uint32_t i = 0; i < phx_sync_world_count(test->sync); i++)
        phx_cli_print(cli, "  %s\n", phx_sync_way(test->sync, i));
    return PHX_EXIT_OK;
}

int phx_cmd_synctest(PhxCli *cli, int argc, const char **argv) {
    Test test = {.cli = cli};
    int code = parse(&test, argc, argv);
    if (code != PHX_CLI_GO) return code;
    const char *path = cli->arguments[0];
    size_t size = 0;
    code = phx_cli_load_by(cli, path, limit_of, &test.bytes, &size);
    if (code != PHX_CLI_GO) return code;
    code = is_replay(test.bytes, size) ? open_replay(&test, path, size) : open_content(&test, path, size);
    if (code == PHX_CLI_GO) code = play(&test);
    if (code == PHX_CLI_GO) code = report(&test);
    phx_sync_destroy(test.sync);
    if (test.has_solo) phx_solo_close(&test.solo);
    phx_solo_content_close(&test.content);
    phx_sim_destroy(test.own);
    phx_replay_cursor_destroy(test.cursor);
    phx_replay_close(test.replay);
    free(test.bytes);
    return code;
}
