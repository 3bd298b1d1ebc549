/* jobs.h: one parallel loop over an index range, behind a small table of functions that a game may replace.
 *
 * In: a count, a grain, a function of a range. Out: the function was called for ranges that together cover
 * [0, count), each index once, and everything it wrote is visible to the caller.
 * Cost: threads: two mutex operations and a wake-up of the sleeping workers for a call (some microseconds),
 * one compare-and-swap for a range; idle workers sleep. Serial: a call for a range.
 * Determinism: which worker takes which range, and when, is left to the machine. It can't change a result
 * as long as the function keeps the rule: a range reads what no range of the same loop writes, and writes
 * only what belongs to its own indices. Whatever is scratch may be kept for each worker, where its content
 * doesn't outlive the range. Sums, minima and merges over ranges are done after the loop, in index order.
 * Ranges begin at multiples of `grain` whoever runs the loop, so that a piece for each range (index begin /
 * grain) is a safe place for partial results.
 */
#ifndef PHALANX_JOBS_H
#define PHALANX_JOBS_H

#include <phalanx/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most threads that phx_jobs_threads_create makes. */
enum { PHX_JOBS_WORKERS_MAX = 64 };

/* Works on [begin, end), begin < end. `worker` is in [0, workers) and no two ranges that run at one time
 * share it. */
typedef void (*PhxRangeFn)(void *context, uint32_t begin, uint32_t end, uint32_t worker);

/* Who runs loops. A game's own scheduler fills one of these. */
typedef struct PhxJobs {
    /* Calls fn for [0, grain), [grain, 2 grain) ...; returns when all have returned. Count 0 calls nothing;
     * grain 0 counts as 1. A call from inside fn runs at once, serially, under the same worker's number. */
    void (*parallel_for)(void *user, uint32_t count, uint32_t grain, PhxRangeFn fn, void *context);
    uint32_t workers; /* >= 1: how many worker numbers may be handed to fn */
    void *user;
} PhxJobs;

/* The calling thread alone; one worker, ranges by ascending index. Holds no resources. */
PhxJobs phx_jobs_serial(void);

/* A pool of `threads` workers, the thread that calls parallel_for being worker 0 (so threads - 1 are started;
 * they sleep between loops). Several threads may call it: their loops run one after the other. 1 starts no
 * thread. Errors: PHX_ERROR_ARGUMENT for threads outside 1..PHX_JOBS_WORKERS_MAX, PHX_ERROR_MEMORY where the
 * system gives no memory or thread; `out` is then the serial table. */
PHX_MUST_USE PhxStatus phx_jobs_threads_create(uint32_t threads, PhxJobs *out);

/* Ends the pool's threads and leaves the serial table in *jobs. No loop may be running. A serial table stays
 * as it is; a table that a game filled isn't accepted. */
void phx_jobs_threads_destroy(PhxJobs *jobs);

static inline void phx_parallel_for(const PhxJobs *jobs, uint32_t count, uint32_t grain, PhxRangeFn fn,
                                    void *context) {
    jobs->parallel_for(jobs->user, count, grain, fn, context);
}

#ifdef __cplusplus
}
#endif
#endif
