/* trial_judge.c: see trial_judge.h. */
#include "phx/trial_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least_overlap = 0.001; /* radii */

bool phx_trial_judge_begin(PhxTrialJudge *judge, const PhxTrial *scene) {
    uint32_t heads = 1;
    while (heads < 4 * scene->count) heads *= 2;
    *judge = (PhxTrialJudge){.scene = scene, .heads = heads};
    judge->mark = calloc(scene->count, sizeof *judge->mark);
    judge->head = malloc(heads * sizeof *judge->head);
    judge->next = malloc(scene->count * sizeof *judge->next);
    if (scene->stands) judge->recent = calloc((size_t)scene->rate * scene->count, sizeof *judge->recent);
    if (judge->mark && judge->head && judge->next && !scene->stands == !judge->recent) return true;
    phx_trial_judge_end(judge);
    return false;
}

void phx_trial_judge_end(PhxTrialJudge *judge) {
    free(judge->mark);
    free(judge->head);
    free(judge->next);
    free(judge->recent);
    judge->mark = NULL, judge->recent = NULL, judge->head = judge->next = NULL;
}

static uint32_t bucket_of(const PhxTrialJudge *judge, int64_t cx, int64_t cy) {
    const uint64_t mixed = ((uint64_t)cx * 0x9E3779B97F4A7C15ULL) ^ ((uint64_t)cy * 0xC2B2AE3D27D4EB4FULL);
    return (uint32_t)((mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9ULL >> 40) & (judge->heads - 1);
}

static void look_at_pair(PhxTrialJudge *judge, PhxTrialPoint a, PhxTrialPoint b) {
    const double radius = judge->scene->radius;
    const double deep = (2 * radius - hypot(a.x - b.x, a.y - b.y)) / radius;
    if (deep > least_overlap) judge->overlaps++;
    if (deep > judge->overlap_max) judge->overlap_max = deep;
}

/* Each unit looks at those before it in its cell and the eight around it: two cells may share a list, so the
 * cell is compared too. */
static void look_at_pairs(PhxTrialJudge *judge, const PhxTrialPoint *at) {
    const double wide = 2 * judge->scene->radius;
    memset(judge->head, -1, judge->heads * sizeof *judge->head);
    for (uint32_t i = 0; i < judge->scene->count; i++) {
        const int64_t cx = (int64_t)floor(at[i].x / wide), cy = (int64_t)floor(at[i].y / wide);
        for (int64_t y = cy - 1; y <= cy + 1; y++)
            for (int64_t x = cx - 1; x <= cx + 1; x++)
                for (int32_t k = judge->head[bucket_of(judge, x, y)]; k >= 0; k = judge->next[k])
                    if ((int64_t)floor(at[k].x / wide) == x && (int64_t)floor(at[k].y / wide) == y)
                        look_at_pair(judge, at[i], at[k]);
        const uint32_t own = bucket_of(judge, cx, cy);
        judge->next[i] = judge->head[own];
        judge->head[own] = (int32_t)i;
    }
}

static void look_at_walls(PhxTrialJudge *judge, PhxTrialPoint at) {
    const PhxTrial *scene = judge->scene;
    for (uint32_t b = 0; b < scene->boxes; b++) {
        const PhxTrialBox *box = &scene->box[b];
        const double dx = fmax(fmax(box->x0 - at.x, at.x - box->x1), 0),
                     dy = fmax(fmax(box->y0 - at.y, at.y - box->y1), 0);
        double deep = (scene->radius - hypot(dx, dy)) / scene->radius;
        if (dx == 0 && dy == 0) /* the centre is inside */
            deep += fmin(fmin(at.x - box->x0, box->x1 - at.x), fmin(at.y - box->y0, box->y1 - at.y)) /
                    scene->radius;
        if (deep > least_overlap) judge->wall_hits++;
        if (deep > judge->wall_max) judge->wall_max = deep;
    }
}

double phx_trial_threshold(const PhxTrial *scene) { return scene->preferred / 2; }

static void look_at_jitter(PhxTrialJudge *judge, uint32_t i, PhxTrialPoint at) {
    const PhxTrial *scene = judge->scene;
    PhxTrialMark *mark = &judge->mark[i];
    const double vel_x = (at.x - mark->x) * scene->rate, vel_y = (at.y - mark->y) * scene->rate;
    const double to_x = scene->goal[i].x - at.x, to_y = scene->goal[i].y - at.y, far = hypot(to_x, to_y);
    const bool rests = far <= scene->preferred;
    if (judge->steps >= 2) {
        const double acc_x = (vel_x - mark->vel_x) * scene->rate, acc_y = (vel_y - mark->vel_y) * scene->rate;
        const double lateral = rests ? acc_x : (to_x * acc_y - to_y * acc_x) / far;
        judge->seconds[rests] += 1.0 / scene->rate;
        if (fabs(lateral) > phx_trial_threshold(scene)) {
            const int8_t sign = lateral > 0 ? 1 : -1;
            if (mark->sign[rests] == -sign) judge->changes[rests]++;
            mark->sign[rests] = sign;
        }
    }
    mark->x = at.x, mark->y = at.y, mark->vel_x = vel_x, mark->vel_y = vel_y;
}

void phx_trial_judge_step(PhxTrialJudge *judge, const PhxTrialPoint *at) {
    if (judge->steps > 0) {
        const double before = judge->overlaps;
        look_at_pairs(judge, at);
        if (judge->overlaps == before && judge->apart == 0) judge->apart = judge->steps;
        for (uint32_t i = 0; i < judge->scene->count; i++) look_at_walls(judge, at[i]);
        judge->unit_steps += judge->scene->count;
    }
    for (uint32_t i = 0; i < judge->scene->count; i++) look_at_jitter(judge, i, at[i]);
    if (judge->recent)
        memcpy(judge->recent + (size_t)(judge->steps % judge->scene->rate) * judge->scene->count, at,
               judge->scene->count * sizeof *at);
    judge->steps++;
}

uint32_t phx_trial_arrived(const PhxTrial *scene, const PhxTrialPoint *at) {
    uint32_t arrived = 0;
    for (uint32_t i = 0; i < scene->count; i++) {
        const double side = scene->goal[i].x > 0 ? 1 : -1;
        if (scene->passed_x > 0)
            arrived += at[i].x * side >= scene->passed_x;
        else
            arrived += hypot(scene->goal[i].x - at[i].x, scene->goal[i].y - at[i].y) <= scene->arrived_within;
    }
    return arrived;
}

double phx_trial_arrivable(const PhxTrial *scene, uint32_t steps) {
    const double way = scene->preferred * steps / scene->rate;
    uint32_t able = 0;
    for (uint32_t i = 0; i < scene->count; i++) {
        const PhxTrialPoint from = scene->start[i], to = scene->goal[i];
        const double passed = fabs(from.x) + scene->passed_x;
        able += way >=
                (scene->passed_x > 0 ? passed : hypot(to.x - from.x, to.y - from.y) - scene->arrived_within);
    }
    return (double)able / scene->count;
}

double phx_trial_jitter(const PhxTrialJudge *judge, bool at_rest) {
    return judge->seconds[at_rest] > 0 ? judge->changes[at_rest] / judge->seconds[at_rest] : 0;
}

double phx_trial_deviation(const PhxTrialJudge *judge) {
    const uint32_t count = judge->scene->count, rate = judge->scene->rate;
    const uint32_t rows = judge->steps < rate ? judge->steps : rate;
    double largest = 0;
    for (uint32_t i = 0; judge->recent && rows > 0 && i < count; i++) {
        double x = 0, y = 0, squares = 0;
        for (uint32_t r = 0; r < rows; r++) {
            x += judge->recent[(size_t)r * count + i].x / rows;
            y += judge->recent[(size_t)r * count + i].y / rows;
        }
        for (uint32_t r = 0; r < rows; r++) {
            const PhxTrialPoint at = judge->recent[(size_t)r * count + i];
            squares += (at.x - x) * (at.x - x) + (at.y - y) * (at.y - y);
        }
        largest = fmax(largest, sqrt(squares / rows));
    }
    return largest;
}

double phx_trial_overlaps(const PhxTrialJudge *judge) {
    return judge->unit_steps > 0 ? judge->overlaps / judge->unit_steps : 0;
}
