/* no_threads.c: the pool of jobs.h on a platform without threads (WebAssembly with WASI): one worker, the
 * caller. Contract and determinism: jobs.h. Asked for more, the system gives none: the results would be
 * equal, but whoever counts on workers has to hear of it. */
#include <phalanx/jobs.h>

PhxStatus phx_jobs_threads_create(uint32_t threads, PhxJobs *out) {
    *out = phx_jobs_serial();
    if (threads < 1 || threads > PHX_JOBS_WORKERS_MAX) return PHX_ERROR_ARGUMENT;
    return threads == 1 ? PHX_OK : PHX_ERROR_MEMORY;
}

void phx_jobs_threads_destroy(PhxJobs *jobs) { *jobs = phx_jobs_serial(); }
