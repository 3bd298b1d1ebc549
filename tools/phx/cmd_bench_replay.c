/* cmd_bench_replay.c: phx bench replay: what a replay costs in bytes, and seeking and bisecting in units of
 * one verify.
 *
 * A scenario is played once and recorded into memory twice, with keyframes and without. For the bisections a
 * fault is planted near the end: a phase of its own flips a bit of a unit's velocity in one tick. Once one
 * of two sides that play the match has the fault, as two builds would; once a second recorder has, whose file
 * is compared with the first. All processes' time counts: it is the time on one core.
 */
#include "bisect/bisect.h"
#include "phx/cmd_bench.h"
#include "phx/solo.h"

#include <errno.h>
#include <inttypes.h>
#include <phalanx/replay.h>
#include <phalanx/rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SEEKS = 50, BEFORE_END = 100, PATH = 512 };
static const char fault_name[] = "planted_fault";

/* ---- bytes */

/* A sink into memory. */
typedef struct Bytes {
    uint8_t *data;
    size_t size, capacity;
} Bytes;

static PhxStatus write_bytes(void *user, const void *data, size_t size) {
    Bytes *bytes = user;
    if (bytes->size + size > bytes->capacity) {
        const size_t capacity = 2 * (bytes->size + size) + 65536;
        uint8_t *larger = realloc(bytes->data, capacity);
        if (larger == NULL) return PHX_ERROR_MEMORY;
        bytes->data = larger;
        bytes->capacity = capacity;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
    return PHX_OK;
}

static PhxReplaySink sink_of(Bytes *bytes) { return (PhxReplaySink){.write = write_bytes, .user = bytes}; }

typedef struct Recording {
    PhxBench *bench;
    PhxSoloContent content;
    Bytes full, bare; /* with keyframes; without */
    PhxReplay *replay, *bare_replay;
    double verify_ns;
    char paths[2][PATH]; /* of the files for phx bisect; empty: none */
} Recording;

static int fail(const Recording *r, const char *what, PhxStatus status, const PhxError *error) {
    return phx_cli_fail_status(r->bench->cli, what, status, error);
}

/* ---- recording */

static int record_tick(PhxSolo *solo, PhxReplayWriter *writers[2]) {
    const PhxCommand *commands;
    uint32_t count;
    const int code = phx_solo_collect(solo, &commands, &count);
    if (code != PHX_CLI_GO) return code;
    PhxStatus status = phx_sim_step(solo->sim, commands, count);
    for (int i = 0; i < 2 && status == PHX_OK; i++)
        status = phx_replay_record_tick(writers[i], solo->sim, commands, count);
    return status == PHX_OK ? PHX_CLI_GO : phx_cli_fail_status(solo->cli, "replay", status, NULL);
}

static int record_with(Recording *r, PhxSolo *solo) {
    Bytes *const bytes[2] = {&r->full, &r->bare};
    PhxReplayWriter *writers[2] = {NULL, NULL};
    PhxError error = {0};
    PhxStatus status = PHX_OK;
    for (int i = 0; i < 2 && status == PHX_OK; i++)
        status = phx_replay_record_begin(sink_of(bytes[i]), solo->sim, r->content.blob, r->content.blob_size,
                                         NULL, &writers[i], &error);
    int code = status == PHX_OK ? PHX_CLI_GO : fail(r, "replay", status, &error);
    if (code == PHX_CLI_GO)
        phx_replay_writer_keyframes(writers[1], &(PhxReplayKeyframeOptions){.none = true});
    for (uint32_t t = 0; t < r->bench->ticks && code == PHX_CLI_GO; t++) {
        code = record_tick(solo, writers);
        phx_cli_progress(r->bench->cli, t + 1, r->bench->ticks, "recording");
    }
    for (int i = 0; i < 2; i++) {
        status = code == PHX_CLI_GO ? phx_replay_writer_end(writers[i]) : PHX_OK;
        if (status != PHX_OK) code = fail(r, "replay", status, NULL);
        phx_replay_writer_destroy(writers[i]);
    }
    return code;
}

static int record(Recording *r) {
    PhxSolo solo;
    PhxError error = {0};
    int code = phx_solo_open(&solo, r->bench->cli, &r->content, &(PhxSoloOptions){.threads = 1});
    if (code != PHX_CLI_GO) return code;
    code = record_with(r, &solo);
    phx_solo_close(&solo);
    if (code != PHX_CLI_GO) return code;
    PhxStatus status = phx_replay_open(r->full.data, r->full.size, NULL, &r->replay, &error);
    if (status == PHX_OK) status = phx_replay_open(r->bare.data, r->bare.size, NULL, &r->bare_replay, &error);
    return status == PHX_OK ? PHX_CLI_GO : fail(r, "replay", status, &error);
}

static void add_bytes(Recording *r, const char *name, const PhxReplay *replay) {
    const PhxReplayInfo *info = phx_replay_info(replay);
    const double minutes = (double)info->milliseconds / 60000, a_minute = (double)info->bytes / minutes;
    json_t *kinds = json_object();
    for (uint32_t k = 0; k < PHX_REPLAY_KIND_LIMIT && phx_replay_kind_name(k) != NULL; k++)
        if (info->kinds[k].count > 0)
            json_object_set_new(kinds, phx_replay_kind_name(k),
                                json_integer((json_int_t)info->kinds[k].bytes));
    phx_bench_add(r->bench, name,
                  json_pack("{s:I, s:f, s:f, s:i, s:i, s:I, s:i, s:o}", "bytes", (json_int_t)info->bytes,
                            "bytes_per_minute", a_minute, "minutes", minutes, "players",
                            (int)info->player_count, "ticks", (int)info->ticks, "commands",
                            (json_int_t)info->commands, "keyframes", (int)info->keyframes, "bytes_by_kind",
                            kinds),
                  0, 0, "%.0f bytes a minute: %" PRIu32 " players, %" PRIu32 " ticks, %" PRIu32 " keyframes",
                  a_minute, info->player_count, info->ticks, info->keyframes);
}

/* ---- verify, seek */

static void say_verify(void *user, uint32_t done, uint32_t ticks) {
    phx_cli_progress(user, done, ticks, "verifying");
}

static int verify_once(Recording *r) {
    PhxReplay *replay = NULL;
    PhxError error = {0};
    PhxReplayVerification *result = malloc(sizeof *result);
    if (result == NULL) return fail(r, "verify", PHX_ERROR_MEMORY, NULL);
    const PhxSimConfig config = {.game = r->bench->cli->game};
    int code = PHX_CLI_GO;
    /* With opening the file, as phx replay verify does, and each side of a bisection. */
    const uint64_t begin = phx_cli_cpu();
    PhxStatus status = phx_replay_load(r->paths[0], 0, &replay, &error);
    if (status == PHX_OK) status = phx_replay_verify(replay, &config, say_verify, r->bench->cli, result);
    const double spent = (double)(phx_cli_cpu() - begin);
    phx_replay_close(replay);
    if (status != PHX_OK)
        code = fail(r, "verify", status, &error);
    else if (result->verdict != PHX_REPLAY_VERIFIED)
        code = phx_cli_false(r->bench->cli, "verify: the replay made just now is %s: %s",
                             phx_replay_verdict_name(result->verdict), result->error.text);
    free(result);
    if (r->verify_ns == 0 || spent < r->verify_ns) r->verify_ns = spent;
    return code;
}

static void add_verify(Recording *r) {
    const uint32_t ticks = phx_replay_info(r->replay)->ticks;
    phx_bench_add(r->bench, "replay_verify",
                  json_pack("{s:f, s:f, s:i, s:i}", "ms", r->verify_ns / 1e6, "ms_per_tick",
                            r->verify_ns / 1e6 / ticks, "ticks", (int)ticks, "threads", 1),
                  0, 0, "%.0f ms for %" PRIu32 " ticks, %.4f ms a tick", r->verify_ns / 1e6, ticks,
                  r->verify_ns / 1e6 / ticks);
}

/* Random jumps, forward and backward, each from where the last one ended. */
static int jump(Recording *r, PhxReplayPlayback *playback) {
    const uint32_t ticks = phx_replay_info(r->replay)->ticks;
    double sum = 0, worst = 0;
    uint64_t worst_ticks = 0;
    PhxError error = {0};
    for (uint32_t i = 0; i < SEEKS; i++) {
        const uint32_t goal = phx_random_below(phx_random(1, 0x7365656b, i, 0, 0), ticks + 1);
        const uint64_t stepped = phx_replay_playback_stepped(playback), begin = phx_cli_cpu();
        const PhxStatus status = phx_replay_playback_seek(playback, goal, &error);
        const double spent = (double)(phx_cli_cpu() - begin) / r->verify_ns;
        const uint64_t steps = phx_replay_playback_stepped(playback) - stepped;
        if (status != PHX_OK) return fail(r, "seek", status, &error);
        sum += spent;
        if (spent > worst) worst = spent;
        if (steps > worst_ticks) worst_ticks = steps;
        phx_cli_progress(r->bench->cli, i + 1, SEEKS, "jumps");
    }
    const double all = (double)phx_replay_playback_stepped(playback) / SEEKS;
    phx_bench_add(r->bench, "replay_seek",
                  json_pack("{s:f, s:f, s:f, s:f, s:I, s:i, s:i}", "ratio", sum / SEEKS, "worst_ratio", worst,
                            "ms", sum / SEEKS * r->verify_ns / 1e6, "ticks_mean", all, "ticks_worst",
                            (json_int_t)worst_ticks, "jumps", SEEKS, "threads", 1),
                  0, 0, "%.4f verifies, worst %.4f, of %d jumps; %.0f ticks computed, most %" PRIu64,
                  sum / SEEKS, worst, SEEKS, all, worst_ticks);
    return PHX_CLI_GO;
}

static int measure_seek(Recording *r) {
    PhxReplayPlayback *playback = NULL;
    PhxError error = {0};
    const PhxSimConfig config = {.game = r->bench->cli->game};
    const PhxStatus status = phx_replay_playback_create(r->replay, &config, &playback, &error);
    if (status != PHX_OK) return fail(r, "seek", status, &error);
    const int code = jump(r, playback);
    phx_replay_playback_destroy(playback);
    return code;
}

/* ---- bisect */

/* The tick whose state is changed; UINT32_MAX: none. Of the process, because a phase gets its game's pointer,
 * which belongs to the game that the program was started with. */
static uint32_t planted_tick = UINT32_MAX;

static void run_fault(const PhxPhaseContext *context, void *user) {
    (void)user;
    if (context->tick != planted_tick) return;
    fix16_t *velocity = phx_world_column(context->world, "unit", "vel_x");
    if (velocity != NULL) velocity[0] ^= 1;
}

/* The program's game, and the phase that can do wrong. */
typedef struct FaultyGame {
    PhxGame game;
    PhxPhaseDesc phases[PHX_CLI_PHASE_LIMIT + 1];
} FaultyGame;

static void make_faulty(FaultyGame *faulty, const PhxGame *game) {
    *faulty = (FaultyGame){0};
    if (game != NULL) faulty->game = *game;
    uint32_t count = 0;
    for (; count < faulty->game.phase_count && count < PHX_CLI_PHASE_LIMIT; count++)
        faulty->phases[count] = game->phases[count];
    faulty->phases[count++] = (PhxPhaseDesc){fault_name, run_fault, "unit.vel_x", "unit.vel_x", "arrive"};
    faulty->game.phases = faulty->phases;
    faulty->game.phase_count = count;
}

static void plant(void *user) { planted_tick = *(const uint32_t *)user; }

static double all_cpu(void) {
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    const double seconds = (double)children.ru_utime.tv_sec + (double)children.ru_stime.tv_sec;
    const double micros = (double)children.ru_utime.tv_usec + (double)children.ru_stime.tv_usec;
    return (double)phx_cli_cpu() + seconds * 1e9 + micros * 1e3;
}

static int make_path(Recording *r, int i) {
    const char *folder = getenv("TMPDIR");
    snprintf(r->paths[i], PATH, "%.400s/phx-bench-XXXXXX", folder != NULL && folder[0] ? folder : "/tmp");
    const int file = mkstemp(r->paths[i]);
    if (file >= 0) {
        close(file);
        return PHX_CLI_GO;
    }
    const int code = phx_cli_fail(r->bench->cli, "%s: %s", r->paths[i], strerror(errno));
    r->paths[i][0] = 0;
    return code;
}

/* The same commands, played by a recorder with the fault. */
static int record_faulty(Recording *r, const FaultyGame *faulty, uint32_t tick, Bytes *out) {
    PhxReplayPlayback *playback = NULL;
    PhxReplayWriter *writer = NULL;
    PhxReplayTick played;
    PhxError error = {0};
    const PhxSimConfig config = {.game = &faulty->game};
    PhxStatus status = phx_replay_playback_create(r->replay, &config, &playback, &error);
    if (status == PHX_OK)
        status = phx_replay_record_begin(sink_of(out), phx_replay_playback_sim(playback), r->content.blob,
                                         r->content.blob_size, NULL, &writer, &error);
    planted_tick = tick;
    while (status == PHX_OK && !phx_replay_playback_done(playback)) {
        status = phx_replay_playback_step(playback, &played);
        if (status == PHX_OK)
            status = phx_replay_record_tick(writer, phx_replay_playback_sim(playback), played.commands,
                                            played.command_count);
    }
    planted_tick = UINT32_MAX;
    if (status == PHX_OK) status = phx_replay_writer_end(writer);
    phx_replay_writer_destroy(writer);
    phx_replay_playback_destroy(playback);
    return status == PHX_OK ? PHX_CLI_GO : fail(r, "replay", status, &error);
}

static void say(void *user, const char *text, uint32_t done, uint32_t total) {
    if (total > 0) phx_cli_progress(user, done, total, text);
}

/* A way of bisecting, and the best of its runs. */
typedef struct Bisection {
    const char *name;
    uint32_t tick;         /* of the fault */
    double cpu_ns, now_ns; /* all processes' time; the clock's; 0: none yet */
} Bisection;

static int check_report(Recording *r, const Bisection *b, const PhxBisectReport *report, bool phase) {
    if (report->verdict == PHX_BISECT_DIVERGED && report->tick == b->tick &&
        (!phase || strcmp(report->phase, fault_name) == 0))
        return PHX_CLI_GO;
    return phx_cli_false(r->bench->cli, "%s: the fault of tick %" PRIu32 " wasn't found: %s", b->name,
                         b->tick, report->why);
}

static void take_time(Bisection *b, double cpu_ns, uint64_t now_ns) {
    if (b->cpu_ns == 0 || cpu_ns < b->cpu_ns) b->cpu_ns = cpu_ns;
    if (b->now_ns == 0 || (double)now_ns < b->now_ns) b->now_ns = (double)now_ns;
}

static void add_bisection(Recording *r, const Bisection *b) {
    const double ratio = b->cpu_ns / r->verify_ns;
    phx_bench_add(r->bench, b->name,
                  json_pack("{s:f, s:f, s:f, s:i, s:i}", "ratio", ratio, "ms", b->cpu_ns / 1e6, "clock_ms",
                            b->now_ns / 1e6, "tick", (int)b->tick, "threads", 1),
                  ratio, 2, "%.3f verifies, %.0f ms, to tick %" PRIu32 "; %.0f ms by the clock", ratio,
                  b->cpu_ns / 1e6, b->tick, b->now_ns / 1e6);
}

static int bisect_builds(Recording *r, const FaultyGame *faulty, Bisection *b, PhxBisectReport *report) {
    const PhxSubjectOptions options = {.game = &faulty->game, .threads = 1};
    const PhxBisectPlan plan = {
        .replays = {r->paths[0], r->paths[0]},
        .sides = {{.name = "straight", .options = options},
                  {.name = "faulty", .options = options, .prepare = plant, .user = &b->tick}},
        .say = say,
        .say_user = r->bench->cli};
    const double cpu = all_cpu();
    const uint64_t now = phx_cli_now();
    phx_bisect_sides(&plan, report);
    take_time(b, all_cpu() - cpu, phx_cli_now() - now);
    phx_cli_progress(r->bench->cli, 1, 1, "");
    return check_report(r, b, report, true);
}

static int bisect_files(Recording *r, Bisection *b, PhxBisectReport *report) {
    const char *const paths[2] = {r->paths[0], r->paths[1]};
    const PhxSubjectOptions options = {.game = r->bench->cli->game, .threads = 1};
    const double cpu = all_cpu();
    const uint64_t now = phx_cli_now();
    phx_bisect_recorded(paths, &options, say, r->bench->cli, report);
    take_time(b, all_cpu() - cpu, phx_cli_now() - now);
    phx_cli_progress(r->bench->cli, 1, 1, "");
    return check_report(r, b, report, false);
}

/* Verify and bisections take turns, so that a change of the machine's mood meets them all. */
static int take_turns(Recording *r, const FaultyGame *faulty, Bisection both[2], PhxBisectReport *report) {
    int code = PHX_CLI_GO;
    for (int run = 0; run < (r->bench->brief ? 1 : 3) && code == PHX_CLI_GO; run++) {
        code = verify_once(r);
        if (code == PHX_CLI_GO) code = bisect_builds(r, faulty, &both[0], report);
        if (code == PHX_CLI_GO) code = bisect_files(r, &both[1], report);
    }
    return code;
}

static int measure_all(Recording *r, Bisection both[2]) {
    PhxCli *cli = r->bench->cli;
    Bytes other = {0};
    FaultyGame *faulty = malloc(sizeof *faulty);
    PhxBisectReport *report = malloc(sizeof *report);
    int code = faulty != NULL && report != NULL ? PHX_CLI_GO : fail(r, "bisect", PHX_ERROR_MEMORY, NULL);
    if (code == PHX_CLI_GO) make_faulty(faulty, cli->game);
    if (code == PHX_CLI_GO) code = record_faulty(r, faulty, both[0].tick, &other);
    for (int i = 0; i < 2 && code == PHX_CLI_GO; i++) {
        const Bytes *bytes = i == 0 ? &r->full : &other;
        code = make_path(r, i);
        if (code == PHX_CLI_GO) code = phx_cli_store(cli, r->paths[i], bytes->data, bytes->size);
    }
    if (code == PHX_CLI_GO) code = take_turns(r, faulty, both, report);
    for (int i = 0; i < 2; i++)
        if (r->paths[i][0] != 0) unlink(r->paths[i]);
    free(other.data);
    free(report);
    free(faulty);
    return code;
}

int phx_bench_replay(PhxBench *bench) {
    Recording r = {.bench = bench};
    const PhxScenarioChanges changes = {.ticks = bench->ticks};
    int code = phx_solo_content_open(bench->cli, bench->scenario, &changes, &r.content);
    if (code != PHX_CLI_GO) return code;
    /* 100 ticks at least: phx_bench_figures sees to it. */
    Bisection both[2] = {{.name = "replay_bisect_builds", .tick = bench->ticks - BEFORE_END},
                         {.name = "replay_bisect_files", .tick = bench->ticks - BEFORE_END}};
    code = record(&r);
    if (code == PHX_CLI_GO) {
        add_bytes(&r, "replay_keyframes", r.replay);
        add_bytes(&r, "replay_plain", r.bare_replay);
        code = measure_all(&r, both);
    }
    if (code == PHX_CLI_GO) {
        add_verify(&r);
        code = measure_seek(&r);
    }
    for (int i = 0; i < 2 && code == PHX_CLI_GO; i++) add_bisection(&r, &both[i]);
    phx_replay_close(r.replay);
    phx_replay_close(r.bare_replay);
    free(r.full.data);
    free(r.bare.data);
    phx_solo_content_close(&r.content);
    return code;
}
