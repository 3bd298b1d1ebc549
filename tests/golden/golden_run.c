/* golden_run.c: re-simulates replays and compares every tick, on whatever platform it was compiled for.
 *
 *   golden_run [--threads N] [--check GOLDENS.txt] [--reload] [--drop] [--every N] REPLAY...
 *
 * For each replay one line on standard output: name, ticks, threads, root after the last tick as 16 hex
 * digits; the name is the file's, without folder and extension. Compared are root and table hashes of every
 * tick with those in the replay, and the line with those of GOLDENS.txt ("name ticks root", # begins a
 * comment).
 *   --reload  before every tick, the state is saved, and restored into a world that was just created
 *   --drop    before every tick, all that is derived is thrown away, and its memory poisoned
 *   --every   both before each Nth tick only: flow fields are computed anew each time, which costs more than
 * a tick Exit code: 0 all equal, 1 something differs, 2 wrong use or bad input. It needs neither net nor
 * tools.
 */
#include <inttypes.h>
#include <phalanx/replay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_EQUAL = 0, EXIT_DIFFERENT = 1, EXIT_BAD = 2, NAME_SIZE = 64 };

typedef struct Options {
    uint32_t threads, every;
    bool reload, drop;
    const char *goldens; /* path, or null */
    PhxSimConfig config;
} Options;

typedef struct Run {
    const Options *options;
    const PhxReplay *replay;
    const char *name;
    PhxSim *sim;
    void *snapshot;
    size_t snapshot_capacity;
} Run;

static int bad(const char *name, const char *what) {
    fprintf(stderr, "golden_run: %s: %s\n", name, what);
    return EXIT_BAD;
}

static PhxStatus create_sim(const Run *run, PhxSim **out, PhxError *error) {
    size_t size;
    const void *content = phx_replay_content(run->replay, &size);
    return phx_sim_create(&run->options->config, content, size, &phx_replay_info(run->replay)->settings, out,
                          error);
}

/* Goes on in a fresh world that was given the state of the old one. */
static PhxStatus reload(Run *run, PhxError *error) {
    const size_t needed = phx_sim_snapshot_size(run->sim);
    size_t size = 0;
    PhxSim *fresh = NULL;
    if (needed > run->snapshot_capacity) {
        void *larger = realloc(run->snapshot, needed);
        if (!larger) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "out of memory");
        run->snapshot = larger;
        run->snapshot_capacity = needed;
    }
    PhxStatus status = phx_sim_snapshot(run->sim, run->snapshot, run->snapshot_capacity, &size);
    if (status != PHX_OK) return phx_error_set(error, status, 0, "the state can't be saved");
    phx_sim_destroy(run->sim);
    run->sim = NULL;
    status = create_sim(run, &fresh, error);
    if (status == PHX_OK) status = phx_sim_restore(fresh, run->snapshot, size, error);
    if (status == PHX_OK)
        run->sim = fresh;
    else
        phx_sim_destroy(fresh);
    return status;
}

/* Compares the state with what was recorded after `tick` ("start" before the first); prints what differs. */
static int compare(const Run *run, const char *tick, uint64_t root, const uint64_t *tables) {
    const PhxReplayInfo *info = phx_replay_info(run->replay);
    const uint64_t *computed = phx_sim_table_hashes(run->sim);
    int result = EXIT_EQUAL;
    for (uint32_t t = 0; t < info->table_count; t++) {
        if (computed[t] == tables[t]) continue;
        result = EXIT_DIFFERENT;
        fprintf(stderr,
                "golden_run: %s: tick %s: table %s: %016" PRIx64 " here, %016" PRIx64 " in the replay\n",
                run->name, tick, info->table_names[t], computed[t], tables[t]);
    }
    if (phx_sim_root(run->sim) == root) return result;
    fprintf(stderr, "golden_run: %s: tick %s: root %016" PRIx64 " here, %016" PRIx64 " in the replay\n",
            run->name, tick, phx_sim_root(run->sim), root);
    return EXIT_DIFFERENT;
}

static int run_tick(Run *run, const PhxReplayTick *tick) {
    char number[16];
    PhxError error = {0};
    const bool disturb = tick->tick % run->options->every == 0;
    if (disturb && run->options->reload && reload(run, &error) != PHX_OK) return bad(run->name, error.text);
    if (disturb && run->options->drop) phx_sim_drop_derived(run->sim, (uint8_t)(tick->tick * 37 + 1));
    if (phx_sim_step(run->sim, tick->commands, tick->command_count) != PHX_OK)
        return bad(run->name, "a step failed");
    snprintf(number, sizeof number, "%" PRIu32, tick->tick);
    return compare(run, number, tick->root, tick->table_hashes);
}

static int run_ticks(Run *run) {
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    int result =
        compare(run, "start", phx_replay_info(run->replay)->start_root, phx_replay_start_hashes(run->replay));
    if (phx_replay_cursor_create(run->replay, &cursor) != PHX_OK) return bad(run->name, "out of memory");
    while (result == EXIT_EQUAL && phx_replay_cursor_next(cursor, &tick) && tick.complete)
        result = run_tick(run, &tick);
    phx_replay_cursor_destroy(cursor);
    return result;
}

/* Finds the line of `name`. Lines that don't read as "name ticks root" are bad input. */
static int check_goldens(const Run *run, uint32_t ticks, uint64_t root) {
    char line[256], name[NAME_SIZE];
    int result = EXIT_BAD;
    FILE *file = fopen(run->options->goldens, "r");
    if (!file) return bad(run->options->goldens, "can't be opened");
    while (fgets(line, sizeof line, file)) {
        uint32_t golden_ticks;
        uint64_t golden_root;
        if (line[0] == '#' || line[strspn(line, " \t\r\n")] == 0) continue;
        if (sscanf(line, "%63s %" SCNu32 " %" SCNx64, name, &golden_ticks, &golden_root) != 3) {
            fclose(file);
            return bad(run->options->goldens, "a line isn't \"name ticks root\"");
        }
        if (strcmp(name, run->name) != 0) continue;
        result = golden_ticks == ticks && golden_root == root ? EXIT_EQUAL : EXIT_DIFFERENT;
        if (result == EXIT_DIFFERENT)
            fprintf(stderr, "golden_run: %s: the golden is %" PRIu32 " ticks, root %016" PRIx64 "\n", name,
                    golden_ticks, golden_root);
    }
    fclose(file);
    if (result == EXIT_BAD) return bad(run->name, "has no line in the goldens");
    return result;
}

static void name_of(const char *path, char name[NAME_SIZE]) {
    const char *slash = strrchr(path, '/');
    snprintf(name, NAME_SIZE, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot != name) *dot = 0;
}

static int run_opened(const Options *options, const PhxReplay *replay, const char *name) {
    Run run = {.options = options, .replay = replay, .name = name};
    PhxReplayPlayback *playback; /* only asked whether this build can play the replay */
    PhxError error = {0};
    if (phx_replay_playback_create(replay, &options->config, &playback, &error) != PHX_OK)
        return bad(name, error.text);
    phx_replay_playback_destroy(playback);
    if (phx_replay_info(replay)->state != PHX_REPLAY_COMPLETE)
        return bad(name, phx_replay_info(replay)->fault.text);
    if (create_sim(&run, &run.sim, &error) != PHX_OK) return bad(name, error.text);
    int result = run_ticks(&run);
    if (run.sim) {
        const uint32_t ticks = phx_sim_tick(run.sim);
        const uint64_t root = phx_sim_root(run.sim);
        printf("%s %" PRIu32 " %" PRIu32 " %016" PRIx64 "\n", name, ticks, options->threads, root);
        fflush(stdout);
        if (result == EXIT_EQUAL && options->goldens) result = check_goldens(&run, ticks, root);
    }
    phx_sim_destroy(run.sim);
    free(run.snapshot);
    return result;
}

static int run_file(const Options *options, const char *path) {
    char name[NAME_SIZE];
    PhxReplay *replay;
    PhxError error = {0};
    name_of(path, name);
    if (phx_replay_load(path, 0, &replay, &error) != PHX_OK) return bad(name, error.text);
    const int result = run_opened(options, replay, name);
    phx_replay_close(replay);
    return result;
}

static int usage(void) {
    fprintf(
        stderr,
        "usage: golden_run [--threads N] [--check GOLDENS.txt] [--reload] [--drop] [--every N] REPLAY...\n");
    return EXIT_BAD;
}

/* Index of the first replay in argv, or 0 for wrong use. */
static int read_options(int argc, char **argv, Options *options) {
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        const bool more = i + 1 < argc;
        if (strcmp(argv[i], "--reload") == 0)
            options->reload = true;
        else if (strcmp(argv[i], "--drop") == 0)
            options->drop = true;
        else if (strcmp(argv[i], "--check") == 0 && more)
            options->goldens = argv[++i];
        else if (strcmp(argv[i], "--threads") == 0 && more)
            options->threads = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--every") == 0 && more)
            options->every = (uint32_t)strtoul(argv[++i], NULL, 10);
        else
            return 0;
    }
    return i < argc && options->every > 0 ? i : 0;
}

int main(int argc, char **argv) {
    Options options = {.threads = 1, .every = 1};
    int result = EXIT_EQUAL;
    const int first = read_options(argc, argv, &options);
    if (first == 0) return usage();
    if (phx_jobs_threads_create(options.threads, &options.config.jobs) != PHX_OK)
        return bad("--threads", "must be 1 to 64, and the system must give as many");
    for (int i = first; i < argc; i++) {
        const int one = run_file(&options, argv[i]);
        if (one > result) result = one;
    }
    phx_jobs_threads_destroy(&options.config.jobs);
    return result;
}
