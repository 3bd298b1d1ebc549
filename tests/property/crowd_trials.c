/* crowd_trials.c: crowds with a task (tools/phx/trial.h) under the engine's own avoidance: who meets head-on,
 * crosses, or presses through a door gets there, nobody lies in anybody, nobody touches a wall, those who are
 * at rest stay there, and threads change nothing.
 *
 * Not reached, and left out:
 *   - packed: half a minute after the start there are seconds with a deviation of 0.0025; 0.002 is the aim;
 *   - two files in a corridor three bodies wide: three of 64 starts lock within 150 seconds, all of them with
 *     a file pressed to a wall from the start.
 */
#include <math.h>

#include "harness.h"
#include "phx/trial_judge.h"
#include "phx/trial_run.h"

/* What a trial came to. */
typedef struct Outcome {
    uint32_t count, arrived, steps; /* steps: that it took, or all that it was given */
    double overlap;                 /* deepest, radii */
} Outcome;

/* Plays until all have arrived, or the steps are over. No wall is touched, in any trial. */
static Outcome play(const PhxTrial *scene, uint32_t steps) {
    PhxTrialRun run;
    PhxTrialJudge judge;
    Outcome outcome = {.count = scene->count};
    CHECK(phx_trial_run_begin(&run, scene, phx_jobs_serial(), steps));
    CHECK(phx_trial_judge_begin(&judge, scene));
    phx_trial_judge_step(&judge, run.at);
    while (outcome.steps < steps && outcome.arrived < scene->count) {
        phx_trial_run_step(&run);
        phx_trial_judge_step(&judge, run.at);
        outcome.arrived = phx_trial_arrived(scene, run.at);
        outcome.steps++;
    }
    outcome.overlap = judge.overlap_max;
    printf("%s of %" PRIu32 ": %" PRIu32 " arrived after %" PRIu32
           " steps, deepest overlap %.4f radii, wall %.4f\n",
           scene->name, scene->count, outcome.arrived, outcome.steps, judge.overlap_max, judge.wall_max);
    CHECK_THAT(judge.wall_hits == 0 && judge.wall_max < 0x1p-14, "%s: %g radii in a wall", scene->name,
               judge.wall_max);
    phx_trial_judge_end(&judge);
    phx_trial_run_end(&run);
    return outcome;
}

static Outcome play_named(const char *name, uint32_t count, uint32_t steps) {
    PhxTrial scene;
    CHECK_THAT(phx_trial_make(&scene, name, count), "%s", name);
    const Outcome outcome = play(&scene, steps);
    phx_trial_free(&scene);
    return outcome;
}

/* `count` units around a point, each to the opposite point. */
static Outcome play_across(const char *name, uint32_t count, double around) {
    const double pi = 3.14159265358979323846;
    PhxTrialPoint start[8], goal[8];
    PhxTrial scene = {.name = name,
                      .count = count,
                      .start = start,
                      .goal = goal,
                      .radius = 1,
                      .preferred = 1,
                      .fastest = 2,
                      .range = 15,
                      .horizon = 10,
                      .wall_horizon = 10,
                      .rate = 4,
                      .neighbours = 10,
                      .arrived_within = 0.1};
    for (uint32_t i = 0; i < count; i++) {
        start[i] = (PhxTrialPoint){around * cos(2 * pi * i / count), around * sin(2 * pi * i / count)};
        goal[i] = (PhxTrialPoint){-start[i].x, -start[i].y};
    }
    return play(&scene, 1000);
}

PHX_TEST(crowd_trials, who_meets_gets_past) {
    for (uint32_t count = 2; count <= 8; count++) {
        const Outcome outcome = play_across(count == 2 ? "head-on" : "crossing", count, 20);
        CHECK(outcome.arrived == count && outcome.overlap < 0.001);
        CHECK_THAT(outcome.steps < 400, "%" PRIu32 " crossing: %" PRIu32 " steps", count, outcome.steps);
    }
    CHECK_EQ(play_named("crossing", 4, 400).arrived, 4);
}

PHX_TEST(crowd_trials, a_circle_of_250_changes_sides) {
    const Outcome outcome = play_named("circle", 250, 3000);
    CHECK_EQ(outcome.arrived, 250);
    CHECK(outcome.overlap < 0.10);
}

PHX_TEST(crowd_trials, masses_flow_through_each_other) {
    const Outcome flow = play_named("counterflow", 400, 3000);
    CHECK(flow.arrived >= 380 && flow.overlap < 0.10);
    const Outcome blocks = play_named("blocks", 100, 4000);
    CHECK(blocks.arrived >= 95 && blocks.overlap < 0.15);
}

/* None is locked out. */
PHX_TEST(crowd_trials, a_door_of_60_lets_all_pass) {
    const Outcome outcome = play_named("door", 60, 8000);
    CHECK_EQ(outcome.arrived, 60);
    CHECK(outcome.overlap < 0.15);
}

/* Nearest that two points come on their straight ways from a to b and from c to d, walked at one time. */
static double nearest_on_the_way(PhxTrialPoint a, PhxTrialPoint b, PhxTrialPoint c, PhxTrialPoint d) {
    const double px = a.x - c.x, py = a.y - c.y, vx = b.x - d.x - px, vy = b.y - d.y - py;
    const double sq = vx * vx + vy * vy, t = sq > 0 ? fmin(fmax(-(px * vx + py * vy) / sq, 0), 1) : 0;
    return hypot(px + t * vx, py + t * vy);
}

/* Two small units that make for each other so fast that one tick takes them further than they are wide, at
 * any tick rate, more or less head-on: between the ticks too they keep off each other. */
PHX_TEST(crowd_trials, who_is_fast_and_small_isnt_jumped) {
    static const uint32_t rates[] = {4, 10, 20, 60};
    static const double speeds[] = {4, 16, 32};
    for (uint32_t k = 0; k < 4 * 3 * 24; k++) {
        const uint32_t rate = rates[k % 4];
        const double speed = speeds[k / 4 % 3], off = (double)(k / 12 % 8) * 0.03, far = 2 * speed + 0.01 * k,
                     angle = (double)(k / 96) * 0.9, x = far * cos(angle), y = far * sin(angle);
        PhxTrialPoint start[2] = {{-far, 0}, {x, y + off}}, goal[2] = {{far, 0}, {-x, off - y}};
        const PhxTrial scene = {.name = "fast",
                                .count = 2,
                                .start = start,
                                .goal = goal,
                                .radius = 0.125,
                                .preferred = speed,
                                .fastest = speed,
                                .range = 64,
                                .horizon = 2,
                                .wall_horizon = 2,
                                .rate = rate,
                                .neighbours = 10,
                                .arrived_within = 0.1};
        PhxTrialRun run;
        const uint32_t steps = 6 * rate;
        double least = 1e9;
        CHECK(phx_trial_run_begin(&run, &scene, phx_jobs_serial(), steps));
        PhxTrialPoint was[2] = {start[0], start[1]};
        for (uint32_t step = 0; step < steps; step++) {
            phx_trial_run_step(&run);
            least = fmin(least, nearest_on_the_way(was[0], run.at[0], was[1], run.at[1]));
            was[0] = run.at[0], was[1] = run.at[1];
        }
        CHECK_THAT(least > 2 * 0.125 * 0.98, "%" PRIu32 " Hz, speed %g, beside %g: %g apart on the way", rate,
                   speed, off, least);
        CHECK_THAT(was[0].x > 0 && was[1].x * x + was[1].y * y < 0,
                   "%" PRIu32 " Hz, speed %g, beside %g: not past", rate, speed, off);
        phx_trial_run_end(&run);
    }
}

/* Any number on one spot with one wish lie beside each other (within 0.02 radii) after a time: few within a
 * second, ten within two, forty within ten. As all want the one spot, ten and more press on each
 * other after that, by less than 0.2 radii, in a minute. */
PHX_TEST(crowd_trials, who_is_on_one_spot_parts) {
    static const uint32_t counts[] = {2, 3, 4, 5, 6, 7, 10, 20, 40}, seconds[] = {1, 1, 1, 2, 2, 2, 2, 6, 10};
    for (int k = 0; k < 9; k++) {
        const uint32_t count = counts[k];
        PhxTrial scene;
        PhxTrialRun run;
        CHECK(phx_trial_make(&scene, "point", count));
        const uint32_t within = seconds[k] * scene.rate, steps = within + 60 * scene.rate;
        uint32_t parted = 0; /* the first step with all beside each other; 0: not yet */
        double deepest = 0;  /* after it, radii */
        CHECK(phx_trial_run_begin(&run, &scene, phx_jobs_serial(), steps));
        for (uint32_t step = 1; step <= steps; step++) {
            double least = 1e9;
            phx_trial_run_step(&run);
            for (uint32_t i = 0; i < count; i++)
                for (uint32_t j = 0; j < i; j++)
                    least = fmin(least, hypot(run.at[i].x - run.at[j].x, run.at[i].y - run.at[j].y));
            const double depth = 2 - least / scene.radius;
            if (parted == 0 && depth < 0.02) parted = step;
            if (parted > 0) deepest = fmax(deepest, depth);
        }
        printf("%" PRIu32 " on one spot: apart after %" PRIu32 " steps at %" PRIu32
               " Hz, later %.4f radii deep\n",
               count, parted, scene.rate, deepest);
        CHECK_THAT(parted > 0 && parted <= within, "%" PRIu32 " on one spot: apart at step %" PRIu32, count,
                   parted);
        CHECK_THAT(deepest < (count <= 7 ? 0.02 : 0.2), "%" PRIu32 " on one spot: later %g radii deep", count,
                   deepest);
        phx_trial_run_end(&run);
        phx_trial_free(&scene);
    }
}

/* Ten in a room that hardly holds them, where each wants a place that overlaps others: at rest after a
 * minute. */
PHX_TEST(crowd_trials, a_packed_room_comes_to_rest) {
    PhxTrial scene;
    PhxTrialRun run;
    PhxTrialJudge judge;
    CHECK(phx_trial_make(&scene, "packed", 10));
    CHECK(phx_trial_run_begin(&run, &scene, phx_jobs_serial(), scene.steps));
    CHECK(phx_trial_judge_begin(&judge, &scene));
    phx_trial_judge_step(&judge, run.at);
    double worst = 0; /* of all seconds after the first ten */
    for (uint32_t step = 1; step <= scene.steps; step++) {
        phx_trial_run_step(&run);
        phx_trial_judge_step(&judge, run.at);
        if (step > 10 * scene.rate) worst = fmax(worst, phx_trial_deviation(&judge));
    }
    const double last = phx_trial_deviation(&judge);
    printf("packed: deviation at most %.5f after ten seconds, %.5f after a minute\n", worst, last);
    CHECK_THAT(last < 0.002 && worst < 0.005, "deviation %g, at worst %g", last, worst);
    CHECK_EQ(judge.wall_hits, 0);
    phx_trial_judge_end(&judge);
    phx_trial_run_end(&run);
    phx_trial_free(&scene);
}

/* Twelve in file against twelve in file, in a corridor three diameters wide, each to its mirrored place. */
/* Two files of twelve, head-on in a corridor that is three of their bodies wide, at `gap` from each other,
 * the ones on lane `left`, the others on lane `right` (units beside its middle), with goals on their own
 * lanes or in the middle. */
static Outcome play_files(double gap, double left, double right, bool middle) {
    enum { FILE_SIZE = 12, COUNT = 2 * FILE_SIZE };
    PhxTrialPoint start[COUNT], goal[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const int side = i < FILE_SIZE ? -1 : 1;
        start[i] = (PhxTrialPoint){side * (5 + gap * (i % FILE_SIZE)), side < 0 ? left : right};
        goal[i] = (PhxTrialPoint){-start[i].x - side * 20, middle ? 0 : start[i].y};
    }
    const PhxTrial scene = {.name = "files",
                            .count = COUNT,
                            .start = start,
                            .goal = goal,
                            .box = {{-80, 1.5, 80, 3}, {-80, -3, 80, -1.5}},
                            .boxes = 2,
                            .radius = 0.5,
                            .preferred = 1,
                            .fastest = 2,
                            .range = 5,
                            .horizon = 2,
                            .wall_horizon = 2,
                            .rate = 20,
                            .neighbours = 10,
                            .passed_x = 22};
    return play(&scene, 3000);
}

PHX_TEST(crowd_trials, files_pass_in_a_corridor) {
    static const double gaps[] = {1.3, 1.5, 2, 3},
                        lanes[][2] = {{0, 0},      {0.1, 0.1},  {0.5, 0.5},  {0.9, 0.9},
                                      {-0.9, 0.9}, {0.9, -0.9}, {0.3, -0.2}, {0.9, 0}};
    uint32_t locked = 0;
    for (int lane = 0; lane < 8; lane++)
        for (int k = 0; k < 8; k++) {
            const Outcome outcome = play_files(gaps[k / 2], lanes[lane][0], lanes[lane][1], k % 2);
            CHECK_THAT(outcome.overlap < 0.05, "lanes %g, %g, gap %g: %g radii deep", lanes[lane][0],
                       lanes[lane][1], gaps[k / 2], outcome.overlap);
            locked += outcome.arrived < outcome.count;
            /* whoever walks in the middle gets through */
            CHECK_THAT(outcome.arrived == outcome.count || lane >= 4,
                       "lanes %g, %g, gap %g: %" PRIu32 " arrived", lanes[lane][0], lanes[lane][1],
                       gaps[k / 2], outcome.arrived);
        }
    CHECK_THAT(locked <= 3, "%" PRIu32 " of 64 starts lock", locked);
}

PHX_TEST(crowd_trials, equal_roots_for_any_number_of_threads) {
    const uint32_t threads[] = {1, 2, 3, 8}, steps = test_count(60, 300, 2000);
    static const char *const names[] = {"counterflow", "blocks"};
    for (int k = 0; k < 2; k++) {
        PhxTrial scene;
        uint64_t want = 0;
        CHECK(phx_trial_make(&scene, names[k], 400));
        for (int t = 0; t < 4; t++) {
            PhxTrialRun run;
            PhxJobs jobs;
            CHECK_OK(phx_jobs_threads_create(threads[t], &jobs));
            CHECK(phx_trial_run_begin(&run, &scene, jobs, steps));
            for (uint32_t step = 0; step < steps; step++) phx_trial_run_step(&run);
            const uint64_t root = phx_trial_run_root(&run);
            if (t == 0) want = root;
            CHECK_THAT(root == want, "%s with %" PRIu32 " threads", names[k], threads[t]);
            phx_trial_run_end(&run);
            phx_jobs_threads_destroy(&jobs);
        }
        phx_trial_free(&scene);
    }
}
