/* cmd_bench_spline.c: phx bench spline: points of B-splines, beside de Boor's scheme in doubles, without
 * allocation, on the same curve and parameters in the same session; places at a length; what measuring an
 * edit costs; and, where a program is given that measures it, tinyspline.
 */
#include "phx/cmd_bench_spline.h"

#include <math.h>
#include <phalanx/rng.h>
#include <phalanx/spline.h>
#include <stdlib.h>

#include "base/arena.h"

enum { ONE = 65536, POINTS = 32, PARAMETERS = 20000, RUNS = 7, KEY = 0x73706c69 };

typedef struct Task {
    PhxSpline spline;
    PhxSplineLengths lengths;
    fix16_t u[PARAMETERS];
    double point[POINTS][3], knot[POINTS + PHX_SPLINE_DEGREE_MAX + 1], at[PARAMETERS];
    int64_t sum; /* so that nothing is left out */
    double double_sum;
} Task;

static void lay_out(Task *task, PhxArena *arena) {
    phx_spline_layout(&task->spline, arena, POINTS, PHX_SPLINE_DEGREE_MAX);
    phx_spline_lengths_layout(&task->lengths, arena, &task->spline);
}

/* A curve that goes on along x with bends aside, as the way of a group does. */
static PhxStatus make(Task *task, uint32_t degree) {
    PhxSplinePoint point[POINTS];
    for (uint32_t i = 0; i < POINTS; i++) {
        const uint64_t bits = phx_random(KEY, 0, i, 0, 0);
        point[i] = (PhxSplinePoint){(fix16_t)(i * 10 * ONE), (fix16_t)(bits % (20 * ONE)),
                                    (fix16_t)(bits / ONE % (20 * ONE))};
        task->point[i][0] = point[i].x, task->point[i][1] = point[i].y, task->point[i][2] = point[i].z;
    }
    const PhxStatus status = phx_spline_set(&task->spline, PHX_SPLINE_CLAMPED, degree, point, POINTS, NULL);
    if (status != PHX_OK) return status;
    for (uint32_t i = 0; i < POINTS + degree + 1; i++) task->knot[i] = task->spline.knot[i];
    const uint64_t wide = (uint64_t)phx_spline_end(&task->spline);
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        task->u[i] = (fix16_t)(phx_random(KEY, 1, i, 0, 0) % wide);
        task->at[i] = task->u[i];
    }
    return PHX_OK;
}

static void points(Task *task) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        const PhxSplinePoint p = phx_spline_point(&task->spline, task->u[i]);
        sum += p.x ^ p.y ^ p.z;
    }
    task->sum += sum;
}

static void cubic_doubles(Task *task) {
    enum { DEGREE = 3 };
    double sum = 0;
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        const double u = task->at[i];
        uint32_t low = DEGREE, high = POINTS - 1;
        while (low < high) {
            const uint32_t middle = (low + high + 1) / 2;
            if (task->knot[middle] <= u)
                low = middle;
            else
                high = middle - 1;
        }
        double d[DEGREE + 1][3];
        for (uint32_t j = 0; j <= DEGREE; j++)
            for (int c = 0; c < 3; c++) d[j][c] = task->point[low - DEGREE + j][c];
        for (uint32_t s = DEGREE; s >= 1; s--)
            for (uint32_t j = DEGREE; j > DEGREE - s; j--) {
                const double from = task->knot[low - DEGREE + j];
                const double part = (u - from) / (task->knot[low - DEGREE + j + s] - from);
                for (int c = 0; c < 3; c++) d[j][c] = d[j - 1][c] + part * (d[j][c] - d[j - 1][c]);
            }
        sum += d[DEGREE][0] + d[DEGREE][1] + d[DEGREE][2];
    }
    task->double_sum += sum;
}

static void samples(Task *task) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        const PhxSplineSample s = phx_spline_sample(&task->spline, task->u[i]);
        sum += s.point.x ^ s.first.y ^ s.second.z;
    }
    task->sum += sum;
}

static void places(Task *task) {
    const int64_t length = phx_spline_length(&task->lengths) >> 20;
    int64_t sum = 0;
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        const int64_t at = (int64_t)(phx_random(KEY, 2, i, 0, 0) % (1 << 20)) * length;
        sum += phx_spline_place(&task->lengths, &task->spline, at).u;
    }
    task->sum += sum;
}

static void edits(Task *task) {
    for (uint32_t i = 0; i < PARAMETERS / 100; i++)
        phx_spline_measure_again(&task->lengths, &task->spline, i % POINTS);
    task->sum += phx_spline_length(&task->lengths);
}

/* ns each, the median of some runs. */
static double each(Task *task, void (*run)(Task *task), uint32_t count) {
    uint64_t times[RUNS];
    for (int k = 0; k < RUNS; k++) {
        const uint64_t begin = phx_cli_cpu();
        run(task);
        times[k] = phx_cli_cpu() - begin;
    }
    return (double)phx_bench_median(times, RUNS) / count;
}

static void add(PhxBench *bench, const char *name, double ns, double ratio, double target, const char *what) {
    phx_bench_add(bench, name,
                  json_pack("{s:f, s:f, s:i, s:i}", "ns", ns, "ratio", ratio, "points", POINTS, "threads", 1),
                  ratio, target, "%.1f ns %s; %.2f of a cubic point in doubles by de Boor's scheme", ns, what,
                  ratio);
}

static PhxStatus measure(PhxBench *bench, Task *task) {
    static const char *const names[] = {"spline_degree_1", "spline_degree_2", "spline_cubic",
                                        "spline_degree_4", "spline_degree_5"};
    PhxStatus status = make(task, 3);
    if (status != PHX_OK) return status;
    for (uint32_t degree = 1; degree <= PHX_SPLINE_DEGREE_MAX; degree++) {
        status = make(task, 3);
        const double doubles = each(task, cubic_doubles, PARAMETERS);
        if (status == PHX_OK) status = make(task, degree);
        if (status != PHX_OK) return status;
        const double ns = each(task, points, PARAMETERS);
        add(bench, names[degree - 1], ns, ns / doubles, degree == 3 ? 1 : 0, "a point");
    }
    status = make(task, 3);
    phx_spline_measure(&task->lengths, &task->spline);
    const double doubles = each(task, cubic_doubles, PARAMETERS), sample = each(task, samples, PARAMETERS),
                 place = each(task, places, PARAMETERS), edit = each(task, edits, PARAMETERS / 100);
    add(bench, "spline_sample", sample, sample / doubles, 0, "a point with both derivatives");
    add(bench, "spline_place", place, place / doubles, 0, "a place at a length");
    add(bench, "spline_edit", edit, edit / doubles, 0, "the lengths after a moved point");
    return status;
}

/* Ours before and after the other program: what it's compared with is their mean. */
static int compare(PhxBench *bench, Task *task) {
    PhxSplinePeer peers[] = {
        {"spline_peer_eval", "ts_bspline_eval only", "of ts_bspline_eval", 1.0 / 3, 0},
        {"spline_peer_copy", "ts_bspline_eval + copy", "of ts_bspline_eval with its result", 1.0 / 3, 0},
        {"spline_peer_plain", "plain C de Boor", "of the plain de Boor in doubles of that program", 1, 0}};
    const uint32_t count = sizeof peers / sizeof *peers;
    if (make(task, 3) != PHX_OK) return phx_cli_fail(bench->cli, "spline: no curve");
    const double before = each(task, points, PARAMETERS);
    const int code = phx_bench_spline_peer(bench, peers, count);
    if (code != PHX_CLI_GO) return code;
    const double ours = (before + each(task, points, PARAMETERS)) / 2;
    for (uint32_t i = 0; i < count; i++)
        phx_bench_add(bench, peers[i].name,
                      json_pack("{s:f, s:f, s:f, s:f, s:i}", "ns", ours, "peer_ns", peers[i].ns, "ratio",
                                ours / peers[i].ns, "evaluations_per_second", 1e9 / ours, "threads", 1),
                      ours / peers[i].ns, peers[i].target, "%.1f ns a cubic point; %.2f %s (%.1f ns)", ours,
                      ours / peers[i].ns, peers[i].words, peers[i].ns);
    return PHX_CLI_GO;
}

int phx_bench_spline(PhxBench *bench) {
    Task *task = calloc(1, sizeof *task);
    PhxStatus status = PHX_ERROR_MEMORY;
    int code = PHX_CLI_GO;
    PhxArena arena = phx_arena_measure();
    if (task != NULL) {
        lay_out(task, &arena);
        status = phx_arena_create(&arena, phx_allocator_default(), arena.used);
    }
    if (status == PHX_OK) {
        lay_out(task, &arena);
        status = measure(bench, task);
        if (status == PHX_OK && bench->peer) code = compare(bench, task);
        phx_arena_destroy(&arena);
    }
    free(task);
    return status == PHX_OK ? code : phx_cli_fail_status(bench->cli, "spline", status, NULL);
}
