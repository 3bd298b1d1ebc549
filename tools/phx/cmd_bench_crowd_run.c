/* cmd_bench_crowd_run.c: phx bench crowd: plays a scenario under the engine's avoidance, or reads another
 * program's positions, and has both judged alike.
 *
 * In: a scene, and a number of threads or a file. Out: a row. Cost: a judged step takes about as long as a
 * step.
 */
#include "phx/cmd_bench.h"
#include "phx/cmd_bench_crowd.h"
#include "phx/trial_run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FRAME_UNIT = 16 }; /* bytes of a unit in a frame */
static const double farthest = 1e6;

static void take_verdict(PhxBenchCrowdRow *row, const PhxTrialJudge *judge, const PhxTrialPoint *at) {
    const PhxTrial *scene = judge->scene;
    row->name = scene->name, row->count = scene->count;
    row->arrived = (double)phx_trial_arrived(scene, at) / scene->count;
    row->arrivable = phx_trial_arrivable(scene, row->steps);
    row->overlap_max = judge->overlap_max, row->overlaps = phx_trial_overlaps(judge);
    row->wall_max = judge->wall_max, row->wall_hits = judge->wall_hits;
    row->jitter_motion = phx_trial_jitter(judge, false), row->jitter_rest = phx_trial_jitter(judge, true);
    row->threshold = phx_trial_threshold(scene);
    row->stands = scene->stands, row->deviation = phx_trial_deviation(judge);
    row->apart = (double)judge->apart / scene->rate;
}

/* ---- ours */

static void take_times(PhxBenchCrowdRow *row, const PhxTrialRun *run) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < run->steps; i++) sum += run->ns[i];
    row->ms_mean = (double)sum / 1e6 / run->steps;
    row->ms_median = (double)phx_bench_median(run->ns, run->steps) / 1e6;
}

static void step_all(PhxCli *cli, PhxTrialRun *run, PhxTrialJudge *judge, uint32_t steps, bool until_all) {
    char words[80];
    snprintf(words, sizeof words, "%s %" PRIu32 ", threads %" PRIu32, run->scene->name, run->scene->count,
             run->jobs.workers > 1 ? run->jobs.workers : 1);
    phx_trial_judge_step(judge, run->at);
    for (uint32_t i = 0; i < steps; i++) {
        phx_trial_run_step(run);
        phx_trial_judge_step(judge, run->at);
        phx_cli_progress(cli, i + 1, steps, words);
        if (until_all && phx_trial_arrived(run->scene, run->at) == run->scene->count) break;
    }
    phx_cli_progress(cli, steps, steps, words);
}

int phx_bench_crowd_play(PhxCli *cli, const PhxTrial *scene, uint32_t steps, uint32_t threads, bool plain,
                         PhxBenchCrowdRow *row) {
    const bool until_all = steps == 0 && scene->steps == 0;
    if (steps == 0) steps = until_all ? PHX_BENCH_CROWD_STEPS : scene->steps;
    PhxTrialRun run = {0};
    PhxTrialJudge judge = {0};
    PhxJobs jobs;
    int code = phx_cli_jobs_begin(cli, threads, &jobs);
    if (code != PHX_CLI_GO) return code;
    if (phx_trial_run_begin(&run, scene, jobs, steps) && phx_trial_judge_begin(&judge, scene)) {
        run.plain = plain;
        step_all(cli, &run, &judge, steps, until_all);
        *row = (PhxBenchCrowdRow){.steps = run.steps, .threads = threads, .root = phx_trial_run_root(&run)};
        take_verdict(row, &judge, run.at);
        take_times(row, &run);
    } else {
        code = phx_cli_fail_status(cli, scene->name, PHX_ERROR_MEMORY, NULL);
    }
    phx_trial_judge_end(&judge);
    phx_trial_run_end(&run);
    phx_cli_jobs_end(&jobs, threads);
    return code;
}

/* ---- a file */

typedef struct Trace {
    PhxCli *cli;
    const char *path;
    FILE *file;
    const PhxTrial *scene;
    uint8_t *bytes; /* of a frame */
    PhxTrialPoint *at;
    uint32_t frames;
} Trace;

static double load_double(const uint8_t *from) {
    uint64_t bits = 0;
    double value;
    for (int i = 7; i >= 0; i--) bits = bits << 8 | from[i];
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int fail_size(const Trace *trace, uint64_t size) {
    return phx_cli_fail(trace->cli,
                        "%s: %" PRIu64 " bytes are not a whole number of frames: %s with %" PRIu32
                        " units takes %" PRIu64
                        " bytes a step (two doubles a unit); is --n the number of its units?",
                        trace->path, size, trace->scene->name, trace->scene->count,
                        (uint64_t)FRAME_UNIT * trace->scene->count);
}

/* A pipe has no size; it is told at its end. */
static int check_size(const Trace *trace, uint64_t *frames) {
    const uint64_t frame = (uint64_t)FRAME_UNIT * trace->scene->count;
    struct stat about;
    *frames = 0;
    if (fstat(fileno(trace->file), &about) != 0 || !S_ISREG(about.st_mode)) return PHX_CLI_GO;
    *frames = (uint64_t)about.st_size / frame;
    return (uint64_t)about.st_size % frame == 0 && *frames > 0 ? PHX_CLI_GO
                                                               : fail_size(trace, (uint64_t)about.st_size);
}

static int take_frame(Trace *trace) {
    for (uint32_t i = 0; i < trace->scene->count; i++) {
        const uint8_t *from = trace->bytes + (size_t)FRAME_UNIT * i;
        const PhxTrialPoint at = {load_double(from), load_double(from + 8)};
        if (!(fabs(at.x) <= farthest && fabs(at.y) <= farthest)) /* neither what is no number */
            return phx_cli_fail(trace->cli,
                                "%s: step %" PRIu32 ": unit %" PRIu32
                                ": (%g, %g) is no position; little-endian doubles within a "
                                "million are wanted",
                                trace->path, trace->frames + 1, i, at.x, at.y);
        trace->at[i] = at;
    }
    return PHX_CLI_GO;
}

static int read_all(Trace *trace, PhxTrialJudge *judge) {
    const size_t frame = (size_t)FRAME_UNIT * trace->scene->count;
    uint64_t total;
    int code = check_size(trace, &total);
    size_t got = 0;
    phx_trial_judge_step(judge, trace->scene->start);
    while (code == PHX_CLI_GO && (got = fread(trace->bytes, 1, frame, trace->file)) == frame) {
        code = take_frame(trace);
        if (code != PHX_CLI_GO) return code;
        if (++trace->frames == UINT32_MAX) break;
        phx_trial_judge_step(judge, trace->at);
        if (total > 0) phx_cli_progress(trace->cli, trace->frames, total, trace->path);
    }
    if (code != PHX_CLI_GO) return code;
    if (ferror(trace->file)) return phx_cli_fail(trace->cli, "%s: %s", trace->path, strerror(errno));
    return got != 0 || trace->frames == 0 ? fail_size(trace, (uint64_t)trace->frames * frame + got)
                                          : PHX_CLI_GO;
}

int phx_bench_crowd_judge(PhxCli *cli, const PhxTrial *scene, const char *path, PhxBenchCrowdRow *row) {
    Trace trace = {.cli = cli, .path = path, .scene = scene, .file = fopen(path, "rb")};
    PhxTrialJudge judge = {0};
    if (trace.file == NULL) return phx_cli_fail(cli, "%s: %s", path, strerror(errno));
    trace.bytes = malloc((size_t)FRAME_UNIT * scene->count);
    trace.at = calloc(scene->count, sizeof *trace.at);
    int code = PHX_CLI_GO;
    if (trace.bytes && trace.at && phx_trial_judge_begin(&judge, scene))
        code = read_all(&trace, &judge);
    else
        code = phx_cli_fail_status(cli, path, PHX_ERROR_MEMORY, NULL);
    if (code == PHX_CLI_GO) {
        *row = (PhxBenchCrowdRow){.steps = trace.frames};
        take_verdict(row, &judge, trace.at);
    }
    phx_trial_judge_end(&judge);
    free(trace.bytes);
    free(trace.at);
    fclose(trace.file);
    return code;
}
