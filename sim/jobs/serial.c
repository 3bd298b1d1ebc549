/* serial.c: the loop on the calling thread. Contract and determinism: jobs.h. */
#include <phalanx/jobs.h>
#include <stddef.h>

static void serial_for(void *user, uint32_t count, uint32_t grain, PhxRangeFn fn, void *context) {
    (void)user;
    if (grain == 0) grain = 1;
    for (uint32_t begin = 0; begin < count;) {
        const uint32_t end = count - begin > grain ? begin + grain : count;
        fn(context, begin, end, 0);
        begin = end;
    }
}

PhxJobs phx_jobs_serial(void) {
    const PhxJobs jobs = {.parallel_for = serial_for, .workers = 1, .user = NULL};
    return jobs;
}
