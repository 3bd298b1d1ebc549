/* golden_run.c: re-simulates replays and compares every tick, on whatever platform it was compiled for; hands
 * replays and snapshots on to other platforms, and takes those of others.
 *
 *   golden_run [OPTION...] REPLAY...
 *
 * For each replay one line on standard output: name, ticks, threads, root after the last tick as 16 hex
 * digits; the name is the file's, without folder and extension. Compared are root and table hashes of every
 * tick with those in the replay, and the line with those of the goldens.
 *   --threads N            workers of the sim's loops, 1 unless given
 *   --check FILE           goldens, a line "name ticks root" each; # begins a comment
 *   --reload               before every tick, the state is saved, and restored into a world just created
 *   --drop                 before every tick, all that is derived is thrown away, and its memory poisoned
 *   --every N              both before each Nth tick only: flow fields are computed anew each time, which
 *                          costs more than a tick
 *   --ticks N              the first N ticks only, of which the last isn't that of the goldens
 *   --record DIR           the match is recorded anew, into DIR/NAME.phxr, and not packed: for every platform
 *   --snapshot-at T DIR    after T ticks, or T% of the replay's, the state is saved into DIR/NAME.state
 *   --from-snapshot DIR    the match begins with the state in DIR/NAME.state, which is that after
 *   --at T                 T ticks, or T% of the replay's
 *   --verify               phx_replay_verify is asked instead, which compares the keyframes too
 * Exit code: 0 all equal, 1 something differs, 2 wrong use or bad input. It needs neither net nor tools.
 */
#include <inttypes.h>
#include <phalanx/replay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_EQUAL = 0, EXIT_DIFFERENT = 1, EXIT_BAD = 2, NAME_SIZE = 64, PATH_SIZE = 4096 };

/* Ticks, or hundredths of the replay's. */
typedef struct Moment {
    uint32_t number; /* 0: not given */
    bool percent;
} Moment;

typedef struct Options {
    uint32_t threads, every, ticks; /* ticks: UINT32_MAX for all */
    bool reload, drop, verify;
    const char *goldens;              /* path, or null */
    const char *record, *save, *from; /* folders, or null */
    Moment save_at, from_at;
    PhxSimConfig config;
} Options;

typedef struct Run {
    const Options *options;
    const PhxReplay *replay;
    const char *name;
    uint32_t save_at, from_at; /* in ticks of this replay; 0: not given */
    PhxSim *sim;
    void *snapshot; /* room for one */
    size_t snapshot_capacity;
    PhxReplayFile *file; /* of the recorder; null where nothing is recorded */
    PhxReplayWriter *writer;
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

static PhxStatus snapshot_room(Run *run, size_t needed, PhxError *error) {
    if (needed <= run->snapshot_capacity) return PHX_OK;
    void *larger = realloc(run->snapshot, needed);
    if (!larger) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "out of memory");
    run->snapshot = larger;
    run->snapshot_capacity = needed;
    return PHX_OK;
}

/* The state as it stands, into the run's room. */
static PhxStatus take_snapshot(Run *run, size_t *size, PhxError *error) {
    PhxStatus status = snapshot_room(run, phx_sim_snapshot_size(run->sim), error);
    if (status != PHX_OK) return status;
    status = phx_sim_snapshot(run->sim, run->snapshot, run->snapshot_capacity, size);
    return status == PHX_OK ? PHX_OK : phx_error_set(error, status, 0, "the state can't be saved");
}

static void path_of(const Run *run, const char *folder, const char *extension, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%s/%s.%s", folder, run->name, extension);
}

static PhxStatus save(Run *run, PhxError *error) {
    char path[PATH_SIZE];
    size_t size = 0;
    const PhxStatus status = take_snapshot(run, &size, error);
    if (status != PHX_OK) return status;
    path_of(run, run->options->save, "state", path);
    FILE *file = fopen(path, "wb");
    if (!file) return phx_error_set(error, PHX_ERROR_IO, 0, "%s can't be made", path);
    const bool written = fwrite(run->snapshot, 1, size, file) == size;
    return fclose(file) == 0 && written ? PHX_OK
                                        : phx_error_set(error, PHX_ERROR_IO, 0, "%s: not written", path);
}

/* Restores what another run has saved. */
static PhxStatus load(Run *run, PhxError *error) {
    char path[PATH_SIZE];
    /* No state of this match is larger. */
    PhxStatus status = snapshot_room(run, phx_sim_state_bytes(run->sim) + PHX_REPLAY_SNAPSHOT_EXTRA, error);
    if (status != PHX_OK) return status;
    path_of(run, run->options->from, "state", path);
    FILE *file = fopen(path, "rb");
    if (!file) return phx_error_set(error, PHX_ERROR_IO, 0, "%s can't be opened", path);
    const size_t size = fread(run->snapshot, 1, run->snapshot_capacity, file);
    const bool read = ferror(file) == 0 && fgetc(file) == EOF;
    fclose(file);
    if (!read) return phx_error_set(error, PHX_ERROR_LIMIT, size, "%s: not a state of this match", path);
    status = phx_sim_restore(run->sim, run->snapshot, size, error);
    if (status == PHX_OK && phx_sim_tick(run->sim) != run->from_at)
        status =
            phx_error_set(error, PHX_ERROR_MISMATCH, 0, "%s: of tick %" PRIu32, path, phx_sim_tick(run->sim));
    return status;
}

/* Goes on in a fresh world that was given the state of the old one. */
static PhxStatus reload(Run *run, PhxError *error) {
    size_t size = 0;
    PhxSim *fresh = NULL;
    PhxStatus status = take_snapshot(run, &size, error);
    if (status != PHX_OK) return status;
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
    if (run->writer &&
        phx_replay_record_tick(run->writer, run->sim, tick->commands, tick->command_count) != PHX_OK)
        return bad(run->name, "a tick could not be recorded");
    if (run->save_at == phx_sim_tick(run->sim) && save(run, &error) != PHX_OK)
        return bad(run->name, error.text);
    snprintf(number, sizeof number, "%" PRIu32, tick->tick);
    return compare(run, number, tick->root, tick->table_hashes);
}

/* Compares the state that the run begins with: that before the first tick, or a loaded one, with the hashes
 * that were recorded after the tick before. Leaves the cursor at the next tick. */
static int compare_start(const Run *run, PhxReplayCursor *cursor) {
    PhxReplayTick before;
    const uint32_t at = run->from_at;
    if (at == 0)
        return compare(run, "start", phx_replay_info(run->replay)->start_root,
                       phx_replay_start_hashes(run->replay));
    if (phx_replay_cursor_seek(cursor, at - 1) != PHX_OK || !phx_replay_cursor_next(cursor, &before) ||
        !before.complete)
        return bad(run->name, "the replay doesn't reach that tick");
    return compare(run, "loaded", before.root, before.table_hashes);
}

static int run_ticks(Run *run) {
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    if (phx_replay_cursor_create(run->replay, &cursor) != PHX_OK) return bad(run->name, "out of memory");
    int result = compare_start(run, cursor);
    while (result == EXIT_EQUAL && phx_sim_tick(run->sim) < run->options->ticks &&
           phx_replay_cursor_next(cursor, &tick) && tick.complete)
        result = run_tick(run, &tick);
    phx_replay_cursor_destroy(cursor);
    return result;
}

static PhxStatus record_begin(Run *run, PhxError *error) {
    char path[PATH_SIZE];
    size_t size;
    const void *content = phx_replay_content(run->replay, &size);
    path_of(run, run->options->record, "phxr", path);
    PhxStatus status =
        phx_replay_file_create(path, &(PhxReplayFileOptions){.flush_ticks = 1000}, &run->file, error);
    if (status == PHX_OK)
        status = phx_replay_record_begin_packed(phx_replay_file_sink(run->file), run->sim, content, size,
                                                PHX_REPLAY_PACK_NONE, NULL, &run->writer, error);
    return status;
}

/* Ends what was recorded, where anything was; the worse of `result` and what came of that. */
static int record_end(Run *run, int result) {
    bool whole = true;
    if (run->writer) whole = phx_replay_writer_end(run->writer) == PHX_OK;
    phx_replay_writer_destroy(run->writer);
    if (phx_replay_file_close(run->file) != PHX_OK || !whole)
        return bad(run->name, "the replay could not be written");
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

static void print_line(const Run *run, uint32_t ticks, uint64_t root) {
    printf("%s %" PRIu32 " %" PRIu32 " %016" PRIx64 "\n", run->name, ticks, run->options->threads, root);
    fflush(stdout);
}

/* The library's own verifier; it says the same as run_ticks, and compares the keyframes that are readable
 * here. */
static int verify(const Run *run) {
    static PhxReplayVerification found; /* large */
    if (phx_replay_verify(run->replay, &run->options->config, NULL, NULL, &found) != PHX_OK)
        return bad(run->name, "out of memory");
    if (found.verdict == PHX_REPLAY_VERIFIED) {
        print_line(run, found.ticks, found.computed_root);
        return run->options->goldens ? check_goldens(run, found.ticks, found.computed_root) : EXIT_EQUAL;
    }
    fprintf(stderr, "golden_run: %s: %s: %s\n", run->name, phx_replay_verdict_name(found.verdict),
            found.error.text);
    return found.verdict == PHX_REPLAY_DIVERGED ? EXIT_DIFFERENT : EXIT_BAD;
}

static uint32_t ticks_at(Moment moment, uint32_t ticks) {
    return moment.percent ? (uint32_t)((uint64_t)ticks * moment.number / 100) : moment.number;
}

/* Plays in a world of its own. */
static int play(Run *run) {
    PhxError error = {0};
    const Options *options = run->options;
    if (create_sim(run, &run->sim, &error) != PHX_OK) return bad(run->name, error.text);
    const uint32_t all = phx_replay_info(run->replay)->ticks;
    run->save_at = ticks_at(options->save_at, all), run->from_at = ticks_at(options->from_at, all);
    if (run->save_at > (options->ticks < all ? options->ticks : all))
        return bad(run->name, "the replay has fewer ticks than the state to save");
    if (options->from && load(run, &error) != PHX_OK) return bad(run->name, error.text);
    int result = EXIT_EQUAL;
    if (options->record && record_begin(run, &error) != PHX_OK) result = bad(run->name, error.text);
    if (result == EXIT_EQUAL) result = run_ticks(run);
    result = record_end(run, result);
    if (!run->sim) return result;
    const uint32_t ticks = phx_sim_tick(run->sim);
    const uint64_t root = phx_sim_root(run->sim);
    print_line(run, ticks, root);
    return result == EXIT_EQUAL && options->goldens && ticks == all ? check_goldens(run, ticks, root)
                                                                    : result;
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
    const int result = options->verify ? verify(&run) : play(&run);
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
    fprintf(stderr, "usage: golden_run [--threads N] [--check GOLDENS.txt] [--reload] [--drop] [--every N]\n"
                    "                  [--ticks N] [--record DIR] [--snapshot-at T DIR] [--from-snapshot DIR "
                    "--at T] REPLAY...\n"
                    "       golden_run --verify [--threads N] [--check GOLDENS.txt] REPLAY...\n");
    return EXIT_BAD;
}

static uint32_t number(const char *text) { return (uint32_t)strtoul(text, NULL, 10); }

static Moment moment(const char *text) { return (Moment){number(text), strchr(text, '%') != NULL}; }

/* Reads the option at argv[i], which has `left` arguments behind it; how many it takes, or -1. */
static int read_option(char **argv, int left, Options *options) {
    const char *name = argv[0];
    if (strcmp(name, "--reload") == 0) return options->reload = true, 0;
    if (strcmp(name, "--drop") == 0) return options->drop = true, 0;
    if (strcmp(name, "--verify") == 0) return options->verify = true, 0;
    if (left < 1) return -1;
    if (strcmp(name, "--check") == 0) return options->goldens = argv[1], 1;
    if (strcmp(name, "--threads") == 0) return options->threads = number(argv[1]), 1;
    if (strcmp(name, "--every") == 0) return options->every = number(argv[1]), 1;
    if (strcmp(name, "--ticks") == 0) return options->ticks = number(argv[1]), 1;
    if (strcmp(name, "--record") == 0) return options->record = argv[1], 1;
    if (strcmp(name, "--from-snapshot") == 0) return options->from = argv[1], 1;
    if (strcmp(name, "--at") == 0) return options->from_at = moment(argv[1]), 1;
    if (strcmp(name, "--snapshot-at") != 0 || left < 2) return -1;
    options->save_at = moment(argv[1]);
    options->save = argv[2];
    return 2;
}

/* Index of the first replay in argv, or 0 for wrong use. */
static int read_options(int argc, char **argv, Options *options) {
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        const int taken = read_option(argv + i, argc - i - 1, options);
        if (taken < 0) return 0;
        i += taken;
    }
    const bool changes = options->reload || options->drop || options->record || options->save ||
                         options->from || options->ticks != UINT32_MAX;
    const bool wrong = i >= argc || options->every == 0 || (options->verify && changes) ||
                       (options->save && options->save_at.number == 0) ||
                       (options->from && options->from_at.number == 0) ||
                       (options->from_at.number && !options->from) || options->ticks == 0 ||
                       (options->from && options->record);
    return wrong ? 0 : i;
}

int main(int argc, char **argv) {
    Options options = {.threads = 1, .every = 1, .ticks = UINT32_MAX};
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
