/* cmd_replay_verify.c: phx replay verify: computes matches again and compares all that was recorded.
 *
 * Exit codes are PhxReplayVerdict: 0 verified, 1 diverged, 2 unreadable, 3 not verifiable by this revision;
 * of many files the first of 1, 2, 3 that there is. A replay that was cut by a crash is a good one up to the
 * cut: it is said, and isn't a failure. A garbled one is.
 *
 * Many files are shared out to -j threads, each file to one; lines come in the order of the files, whichever
 * is done first. Each match is its own sim, so that nothing is shared between them.
 */
#include "phx/cmd_replay.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const PhxCliUsage usage = {
    .synopsis = "FILE|FOLDER...",
    .about = "Computes each match again from its settings, content and commands, and compares the root and "
             "table hashes of\n"
             "every tick and every keyframe; none is trusted. A line a file; a folder stands for all .phxr "
             "files in it.\n"
             "Exits 0 (verified), 1 (diverged: the first tick and its tables are named), 2 (unreadable) or 3 "
             "(recorded by\n"
             "another revision of the simulation).",
    .examples = "  phx replay verify clash.phxr && echo the same match\n"
                "  phx replay verify -j 2 replays/ yesterday.phxr\n"
                "  phx replay verify --json --threads 4 clash.phxr | jq .verdict\n",
    .least = 1,
    .most = PHX_CLI_ARGUMENT_LIMIT - 2};

/* ---- one file */

/* Names the first tick that differs, and every table of it. */
static void describe_divergence(const PhxReplayVerification *result, char *text, size_t size) {
    char when[40], tables[256] = "no table (the recorded root contradicts its own tables)";
    size_t used = 0;
    if (result->keyframe_differs) {
        snprintf(text, size, "diverges: %s", result->error.text);
        return;
    }
    if (result->tick == PHX_REPLAY_BEFORE_FIRST)
        snprintf(when, sizeof when, "before tick 0");
    else
        snprintf(when, sizeof when, "at tick %" PRIu32, result->tick);
    for (uint32_t i = 0; i < result->difference_count && used + 1 < sizeof tables; i++)
        used += (size_t)snprintf(tables + used, sizeof tables - used, "%s%s", i ? ", " : "table ",
                                 result->differences[i].name);
    snprintf(text, size, "diverges %s in %s: recorded root %016" PRIx64 ", computed %016" PRIx64, when,
             tables, result->recorded_root, result->computed_root);
}

void phx_replay_cmd_verdict(const PhxReplayInfo *info, const PhxReplayVerification *result, char *text,
                            size_t size) {
    if (result->verdict == PHX_REPLAY_DIVERGED) {
        describe_divergence(result, text, size);
    } else if (result->verdict != PHX_REPLAY_VERIFIED) {
        snprintf(text, size, "%s: %s", phx_replay_verdict_name(result->verdict), result->error.text);
    } else {
        int used =
            snprintf(text, size, "verified: %" PRIu32 " ticks, root %016" PRIx64 ", %" PRIu32 " keyframes",
                     result->ticks, result->computed_root, result->keyframes);
        if (result->keyframes_passed > 0 && (size_t)used < size)
            used += snprintf(text + used, size - (size_t)used, " (%" PRIu32 " not readable here)",
                             result->keyframes_passed);
        if (info->state != PHX_REPLAY_COMPLETE && (size_t)used < size)
            snprintf(text + used, size - (size_t)used, "; %s at byte %" PRIu64 ", %" PRIu64 " bytes lost",
                     phx_replay_state_name(info->state), info->fault.offset, info->lost_bytes);
    }
}

static json_t *tables_json(const PhxReplayVerification *result) {
    json_t *tables = json_array();
    for (uint32_t i = 0; i < result->difference_count; i++) {
        const PhxReplayTableDifference *difference = &result->differences[i];
        json_array_append_new(tables, json_pack("{s:s, s:o, s:o}", "name", difference->name, "recorded",
                                                phx_cli_hash_json(difference->recorded), "computed",
                                                phx_cli_hash_json(difference->computed)));
    }
    return tables;
}

json_t *phx_replay_cmd_verdict_json(const PhxReplayInfo *info, const PhxReplayVerification *result) {
    json_t *object = json_object();
    json_object_set_new(object, "state", json_string(phx_replay_state_name(info->state)));
    json_object_set_new(object, "verdict", json_string(phx_replay_verdict_name(result->verdict)));
    json_object_set_new(object, "ticks", json_integer(result->ticks));
    json_object_set_new(object, "lost_bytes", json_integer((json_int_t)info->lost_bytes));
    json_object_set_new(object, "keyframes", json_integer(result->keyframes));
    json_object_set_new(object, "keyframes_passed", json_integer(result->keyframes_passed));
    if (result->error.text[0] != 0)
        json_object_set_new(object, result->verdict == PHX_REPLAY_VERIFIED ? "fault" : "reason",
                            json_string(result->error.text));
    if (result->verdict == PHX_REPLAY_VERIFIED)
        json_object_set_new(object, "root", phx_cli_hash_json(result->computed_root));
    if (result->verdict != PHX_REPLAY_DIVERGED) return object;
    json_object_set_new(
        object, "tick",
        json_integer(result->tick == PHX_REPLAY_BEFORE_FIRST ? -1 : (json_int_t)result->tick));
    json_object_set_new(object, "keyframe_differs", json_boolean(result->keyframe_differs));
    json_object_set_new(object, "recorded_root", phx_cli_hash_json(result->recorded_root));
    json_object_set_new(object, "computed_root", phx_cli_hash_json(result->computed_root));
    json_object_set_new(object, "tables", tables_json(result));
    return object;
}

/* ---- files */

typedef struct File {
    char *path;
    int code; /* exit code of this file */
    bool done;
    json_t *json;
    char line[900];
    char fault[300]; /* what a verified replay lacks, for a person; empty: nothing */
} File;

typedef struct Files {
    const PhxCli *cli;
    File *list;
    uint32_t count, capacity;
    uint32_t threads; /* of each match */
    /* Shared by the workers, under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t done;
    uint32_t next;
    uint32_t ticks_done, ticks; /* of the last file that said something */
} Files;

static int add_file(PhxCli *cli, Files *files, const char *path) {
    if (files->count == files->capacity) {
        const uint32_t capacity = 2 * files->capacity + 16;
        File *list = realloc(files->list, capacity * sizeof *list);
        if (list == NULL) return phx_cli_fail_status(cli, path, PHX_ERROR_MEMORY, NULL);
        files->list = list;
        files->capacity = capacity;
    }
    File *file = &files->list[files->count];
    *file = (File){.path = strdup(path)};
    if (file->path == NULL) return phx_cli_fail_status(cli, path, PHX_ERROR_MEMORY, NULL);
    files->count++;
    return PHX_CLI_GO;
}

static int is_replay(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".phxr") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(PhxCli *cli, Files *files, const char *path) {
    struct dirent **entries;
    const int count = scandir(path, &entries, is_replay, by_name);
    if (count < 0) return phx_cli_fail(cli, "%s: %s", path, strerror(errno));
    int code = count > 0 ? PHX_CLI_GO : phx_cli_fail(cli, "%s: there is no .phxr file in it", path);
    const size_t length = strlen(path);
    const char *slash = length > 0 && path[length - 1] == '/' ? "" : "/";
    for (int i = 0; i < count; i++) {
        char full[4096];
        snprintf(full, sizeof full, "%s%s%s", path, slash, entries[i]->d_name);
        if (code == PHX_CLI_GO) code = add_file(cli, files, full);
        free(entries[i]);
    }
    free(entries);
    return code;
}

static int list_files(PhxCli *cli, Files *files) {
    int code = PHX_CLI_GO;
    for (uint32_t i = 0; i < cli->argument_count && code == PHX_CLI_GO; i++) {
        struct stat status;
        const bool folder = stat(cli->arguments[i], &status) == 0 && S_ISDIR(status.st_mode);
        code = folder ? add_folder(cli, files, cli->arguments[i]) : add_file(cli, files, cli->arguments[i]);
    }
    return code;
}

static void free_files(Files *files) {
    for (uint32_t i = 0; i < files->count; i++) {
        free(files->list[i].path);
        json_decref(files->list[i].json);
    }
    free(files->list);
}

/* ---- the work */

static void tell_progress(void *user, uint32_t done, uint32_t ticks) {
    Files *files = user;
    if (done % 64 != 0) return;
    pthread_mutex_lock(&files->lock);
    files->ticks_done = done;
    files->ticks = ticks;
    pthread_cond_signal(&files->done);
    pthread_mutex_unlock(&files->lock);
}

static void fail_file(File *file, PhxStatus status, const PhxError *error) {
    file->code = PHX_EXIT_WRONG;
    snprintf(file->line, sizeof file->line, "%s",
             error != NULL && error->text[0] != 0 ? error->text : phx_status_text(status));
    file->json = json_pack("{s:s, s:s*}", "verdict", "unreadable", "reason", file->line);
}

static void verify_file(Files *files, File *file) {
    PhxReplay *replay;
    PhxError error = {0};
    PhxReplayVerification result;
    PhxSimConfig config = {.game = files->cli->game};
    PhxStatus status = phx_replay_load(file->path, 0, &replay, &error);
    if (status != PHX_OK) {
        fail_file(file, status, &error);
        return;
    }
    config.jobs = phx_jobs_serial();
    if (files->threads > 1) status = phx_jobs_threads_create(files->threads, &config.jobs);
    if (status == PHX_OK) {
        status = phx_replay_verify(replay, &config, tell_progress, files, &result);
        if (files->threads > 1) phx_jobs_threads_destroy(&config.jobs);
    }
    if (status == PHX_OK) {
        const int used = snprintf(file->line, sizeof file->line, "%.300s: ", file->path);
        phx_replay_cmd_verdict(phx_replay_info(replay), &result, file->line + used,
                               sizeof file->line - (size_t)used);
        file->json = phx_replay_cmd_verdict_json(phx_replay_info(replay), &result);
        file->code = (int)result.verdict;
        if (result.verdict == PHX_REPLAY_VERIFIED)
            snprintf(file->fault, sizeof file->fault, "%s", result.error.text);
    } else {
        fail_file(file, status, NULL);
    }
    phx_replay_close(replay);
}

static void *work(void *user) {
    Files *files = user;
    pthread_mutex_lock(&files->lock);
    while (files->next < files->count) {
        File *file = &files->list[files->next++];
        pthread_mutex_unlock(&files->lock);
        verify_file(files, file);
        pthread_mutex_lock(&files->lock);
        file->done = true;
        pthread_cond_signal(&files->done);
    }
    pthread_mutex_unlock(&files->lock);
    return NULL;
}

static void say(PhxCli *cli, const File *file, bool alone) {
    if (file->code == PHX_EXIT_OK || !alone)
        phx_cli_print(cli, "%s\n", file->line);
    else if (file->code == PHX_EXIT_FALSE)
        (void)phx_cli_false(cli, "%s", file->line);
    else
        (void)phx_cli_fail(cli, "%s", file->line);
    if (alone && file->fault[0] != 0)
        phx_cli_note(cli, "%.300s: the replay is cut: %s", file->path, file->fault);
}

/* Lines in order, each as soon as it and all before it are done. */
static void collect(PhxCli *cli, Files *files) {
    pthread_mutex_lock(&files->lock);
    for (uint32_t i = 0; i < files->count; i++) {
        while (!files->list[i].done) {
            pthread_cond_wait(&files->done, &files->lock);
            if (files->count == 1)
                phx_cli_progress(cli, files->ticks_done, files->ticks, "ticks verified");
            else
                phx_cli_progress(cli, i, files->count, "files verified");
        }
        phx_cli_progress(cli, 1, 1, "");
        say(cli, &files->list[i], files->count == 1);
    }
    pthread_mutex_unlock(&files->lock);
}

static int run_workers(PhxCli *cli, Files *files, uint32_t jobs) {
    pthread_t threads[PHX_CLI_THREAD_LIMIT];
    uint32_t started = 0;
    if (jobs > files->count) jobs = files->count;
    pthread_mutex_init(&files->lock, NULL);
    pthread_cond_init(&files->done, NULL);
    while (started < jobs && pthread_create(&threads[started], NULL, work, files) == 0) started++;
    if (started > 0) collect(cli, files);
    for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
    pthread_cond_destroy(&files->done);
    pthread_mutex_destroy(&files->lock);
    return started > 0 ? PHX_CLI_GO : phx_cli_fail(cli, "-j: no thread could be started");
}

static int report(PhxCli *cli, Files *files) {
    uint32_t counts[4] = {0};
    for (uint32_t i = 0; i < files->count; i++) counts[files->list[i].code & 3]++;
    const int code = counts[1] ? 1 : counts[2] ? 2 : counts[3] ? 3 : 0;
    if (files->count == 1) {
        phx_cli_set(cli, "file", json_string(files->list[0].path));
        json_object_update(cli->root, files->list[0].json);
        return code;
    }
    json_t *list = json_array();
    for (uint32_t i = 0; i < files->count; i++) {
        json_object_set_new(files->list[i].json, "file", json_string(files->list[i].path));
        json_array_append(list, files->list[i].json);
    }
    phx_cli_set(cli, "files", list);
    phx_cli_set(cli, "summary",
                json_pack("{s:i, s:i, s:i, s:i}", "verified", (int)counts[0], "diverged", (int)counts[1],
                          "unreadable", (int)counts[2], "not_verifiable", (int)counts[3]));
    phx_cli_print(cli,
                  "%" PRIu32 " files: %" PRIu32 " verified, %" PRIu32 " diverged, %" PRIu32
                  " unreadable, %" PRIu32 " not verifiable here\n",
                  files->count, counts[0], counts[1], counts[2], counts[3]);
    return code;
}

int phx_replay_cmd_verify(PhxCli *cli, int argc, const char **argv) {
    int threads = 1, jobs = 1;
    const struct poptOption options[] = {
        {"jobs", 'j', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &jobs, 0, "files verified at a time", "N"},
        {"threads", 0, POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &threads, 0, "threads of each match", "N"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, options, &usage);
    if (code == PHX_CLI_GO) code = phx_cli_range(cli, "--jobs", jobs, 1, PHX_CLI_THREAD_LIMIT);
    if (code == PHX_CLI_GO) code = phx_cli_range(cli, "--threads", threads, 1, PHX_JOBS_WORKERS_MAX);
    if (code != PHX_CLI_GO) return code;
    Files files = {.cli = cli, .threads = (uint32_t)threads};
    code = list_files(cli, &files);
    if (code == PHX_CLI_GO) code = run_workers(cli, &files, (uint32_t)jobs);
    if (code == PHX_CLI_GO) code = report(cli, &files);
    free_files(&files);
    return code;
}
