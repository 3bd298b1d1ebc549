/* jobs.c: each index exactly once, whoever runs the loop; nesting; many callers. */
#include <phalanx/jobs.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "harness.h"

enum { MOST = 100000 };

typedef struct Tally {
    const PhxJobs *jobs;
    uint32_t count, grain;
    uint8_t *seen;       /* visits of each index, written by its range alone */
    atomic_uint *inside; /* for each worker's number, how many ranges run under it now */
    atomic_uint calls, faults;
} Tally;

static void visit(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    Tally *t = context;
    const bool fits = begin < end && end <= t->count && begin % t->grain == 0 &&
                      (end - begin == t->grain || end == t->count) && worker < t->jobs->workers;
    if (!fits || atomic_fetch_add(&t->inside[worker], 1) != 0) {
        atomic_fetch_add(&t->faults, 1);
        return;
    }
    for (uint32_t i = begin; i < end; i++) t->seen[i]++;
    if (begin % 64 == 0) sched_yield(); /* so that ranges of several threads meet */
    atomic_fetch_add(&t->calls, 1);
    atomic_fetch_sub(&t->inside[worker], 1);
}

static void check_loop(const PhxJobs *jobs, uint32_t count, uint32_t grain) {
    static uint8_t seen[MOST + 1];
    static atomic_uint inside[PHX_JOBS_WORKERS_MAX];
    static Tally t;
    memset(seen, 0, sizeof seen);
    t = (Tally){.jobs = jobs, .count = count, .grain = grain ? grain : 1, .seen = seen, .inside = inside};
    phx_parallel_for(jobs, count, grain, visit, &t);
    CHECK_THAT(atomic_load(&t.faults) == 0, "workers %u count %u grain %u", jobs->workers, count, grain);
    CHECK_EQ(atomic_load(&t.calls), count / t.grain + (count % t.grain != 0));
    for (uint32_t i = 0; i < count; i++) CHECK_THAT(seen[i] == 1, "index %u of %u: %u", i, count, seen[i]);
    CHECK_EQ(seen[count], 0);
}

static PhxJobs jobs_of(uint32_t threads) {
    PhxJobs jobs = phx_jobs_serial();
    if (threads > 0) CHECK_OK(phx_jobs_threads_create(threads, &jobs));
    return jobs;
}

static const uint32_t thread_counts[] = {0, 1, 2, 3, 8}; /* 0: the serial table */
enum { THREAD_COUNTS = sizeof thread_counts / sizeof thread_counts[0] };

PHX_TEST(jobs, each_index_runs_exactly_once_for_any_threads_count_and_grain) {
    const uint32_t counts[] = {0, 1, 2, 7, 63, 64, 65, 1000, 4097, MOST},
                   grains[] = {0, 1, 2, 3, 64, 1000, UINT32_MAX};
    const int repeats = (int)test_count(1, 3, 3);
    for (int k = 0; k < THREAD_COUNTS; k++) {
        PhxJobs jobs = jobs_of(thread_counts[k]);
        CHECK_EQ(jobs.workers, thread_counts[k] ? thread_counts[k] : 1);
        for (int repeat = 0; repeat < repeats; repeat++)
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
                for (size_t g = 0; g < sizeof grains / sizeof grains[0]; g++)
                    if (counts[c] <= 5000 || grains[g] > 3) check_loop(&jobs, counts[c], grains[g]);
        phx_jobs_threads_destroy(&jobs);
        CHECK_EQ(jobs.workers, 1);
        check_loop(&jobs, 100, 7); /* what is left is the serial table */
    }
}

PHX_TEST(jobs, thousands_of_short_loops_lose_nothing) {
    for (int k = 0; k < THREAD_COUNTS; k++) {
        PhxJobs jobs = jobs_of(thread_counts[k]);
        for (uint32_t i = 0; i < test_count(1000, 3000, 3000); i++) check_loop(&jobs, i % 37, 1 + i % 3);
        phx_jobs_threads_destroy(&jobs);
    }
    for (int i = 0; i < 50; i++) { /* pools come and go, used or not */
        PhxJobs jobs = jobs_of(1 + (uint32_t)i % 8);
        if (i % 2) check_loop(&jobs, 50, 1);
        phx_jobs_threads_destroy(&jobs);
    }
}

typedef struct Nest {
    const PhxJobs *jobs;
    uint32_t outer_worker[PHX_JOBS_WORKERS_MAX], sums[PHX_JOBS_WORKERS_MAX];
    atomic_uint arrived, faults;
} Nest;
typedef struct NestRow {
    Nest *nest;
    uint32_t row, next;
} NestRow;

static void inner(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    NestRow *row = context;
    if (worker != row->nest->outer_worker[row->row] || begin != row->next)
        atomic_fetch_add(&row->nest->faults, 1);
    row->next = end;
    for (uint32_t i = begin; i < end; i++) row->nest->sums[row->row] += i;
}
/* As many ranges as workers, and none goes on before all have begun: so each worker has exactly one. */
static void outer(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    Nest *nest = context;
    NestRow row = {nest, begin, 0};
    nest->outer_worker[begin] = worker;
    atomic_fetch_add(&nest->arrived, 1);
    while (atomic_load(&nest->arrived) < nest->jobs->workers) sched_yield();
    phx_parallel_for(nest->jobs, 100, 9, inner, &row);
    if (end != begin + 1 || row.next != 100) atomic_fetch_add(&nest->faults, 1);
}

PHX_TEST(jobs, all_workers_take_part_and_a_loop_within_a_loop_keeps_its_worker) {
    for (int k = 0; k < THREAD_COUNTS; k++) {
        PhxJobs jobs = jobs_of(thread_counts[k]);
        for (int repeat = 0; repeat < 50; repeat++) {
            static Nest nest;
            uint64_t workers = 0;
            memset(&nest, 0, sizeof nest);
            nest.jobs = &jobs;
            phx_parallel_for(&jobs, jobs.workers, 1, outer, &nest);
            CHECK_EQ(atomic_load(&nest.faults), 0);
            for (uint32_t i = 0; i < jobs.workers; i++) {
                CHECK_EQ(nest.sums[i], 4950);
                workers |= (uint64_t)1 << nest.outer_worker[i];
            }
            CHECK_EQ(workers, ((uint64_t)1 << jobs.workers) - 1);
        }
        phx_jobs_threads_destroy(&jobs);
    }
}

typedef struct Caller {
    const PhxJobs *jobs;
    atomic_uint *inside; /* shared by all callers */
    uint8_t seen[500];
    Tally tally;
} Caller;

static void *call_often(void *argument) {
    Caller *c = argument;
    for (int i = 0; i < 200; i++) {
        c->tally = (Tally){.jobs = c->jobs, .count = 500, .grain = 7, .seen = c->seen, .inside = c->inside};
        phx_parallel_for(c->jobs, 500, 7, visit, &c->tally);
        if (atomic_load(&c->tally.faults) != 0) return c;
    }
    return NULL;
}

PHX_TEST(jobs, several_threads_may_share_a_pool) {
    PhxJobs jobs = jobs_of(3);
    static Caller callers[4];
    static atomic_uint inside[PHX_JOBS_WORKERS_MAX];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        callers[i].jobs = &jobs;
        callers[i].inside = inside;
        CHECK_EQ(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
        for (int k = 0; k < 500; k++) CHECK_EQ(callers[i].seen[k], 200);
    }
    phx_jobs_threads_destroy(&jobs);
}

PHX_TEST(jobs, a_wrong_number_of_threads_is_refused_and_leaves_the_serial_table) {
    const uint32_t wrong[] = {0, PHX_JOBS_WORKERS_MAX + 1, UINT32_MAX};
    for (int i = 0; i < 3; i++) {
        PhxJobs jobs;
        CHECK_EQ(phx_jobs_threads_create(wrong[i], &jobs), PHX_ERROR_ARGUMENT);
        check_loop(&jobs, 10, 3);
    }
    PhxJobs most = jobs_of(PHX_JOBS_WORKERS_MAX);
    check_loop(&most, 1000, 1);
    phx_jobs_threads_destroy(&most);
}
