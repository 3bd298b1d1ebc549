/* threads.c: the loop on a pool of threads that sleep between loops. Contract and determinism: jobs.h.
 *
 * A loop is published under the mutex. A worker that wakes enters it (counted), takes ranges until none is
 * left and leaves; the caller does the same, then closes the loop, so that a worker that wakes late finds
 * nothing, and waits until those inside have left. Ranges are handed out by one atomic counter. What a
 * range wrote is visible to the caller, because its worker left under the mutex. Waking a sleeper takes
 * tens of microseconds, as long as a short loop. So who waits looks around for some 20 microseconds first,
 * and less each time that it was in vain: the loops of one tick follow each other without sleep, between
 * ticks nobody burns time, and where there are more threads than cores they soon stop looking.
 * Determinism: the counter decides who runs a range, never what its bounds are.
 */
#include <phalanx/allocator.h>
#include <phalanx/jobs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Loop {
    PhxRangeFn fn;
    void *context;
    uint32_t count, grain, ranges;
} Loop;

/* How often a waiting thread looks before it sleeps. */
typedef struct Patience {
    uint32_t looks, sleeps;
} Patience;

enum { LOOKS_MOST = 1024, LOOKS_LEAST = 16, SLEEPS_PER_RETRY = 16 };

typedef struct Pool Pool;

typedef struct Worker {
    Pool *pool;
    uint32_t index;
} Worker;

struct Pool {
    pthread_mutex_t mutex;
    pthread_cond_t wake;                     /* workers wait: a loop was opened, or the pool ends */
    pthread_cond_t idle;                     /* callers wait: the last worker left, or the pool is free */
    uint32_t started;                        /* threads that run */
    pthread_t threads[PHX_JOBS_WORKERS_MAX]; /* [1, started]: set before any loop is opened */
    Worker seats[PHX_JOBS_WORKERS_MAX];
    /* Guarded by the mutex. */
    pthread_t caller; /* worker 0 of the loop that is running; meaningful while `busy` */
    bool busy, open, ending;
    Patience caller_patience;
    Loop loop;
    /* Written under the mutex; read without it only to look whether taking the mutex is worth while. */
    atomic_uint_least32_t inside; /* workers, without the caller, that entered the loop and haven't left it */
    atomic_uint_least32_t opened; /* loops so far, so that no worker enters one twice; may wrap */
    /* Free of the mutex. */
    atomic_uint_least32_t next; /* the first range that nobody has taken, at most loop.ranges */
};

/* Takes the next range; false where none is left. The counter stops at `ranges`, so that it can't wrap. */
static bool take_range(Pool *pool, uint32_t ranges, uint32_t *range) {
    uint_least32_t next = atomic_load_explicit(&pool->next, memory_order_relaxed);
    while (next < ranges)
        if (atomic_compare_exchange_weak_explicit(&pool->next, &next, next + 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            *range = (uint32_t)next;
            return true;
        }
    return false;
}

static void run_range(const Loop *loop, uint32_t range, uint32_t worker) {
    const uint32_t begin = range * loop->grain;
    const uint32_t end = loop->count - begin > loop->grain ? begin + loop->grain : loop->count;
    loop->fn(loop->context, begin, end, worker);
}

static void run_ranges(Pool *pool, const Loop *loop, uint32_t worker) {
    uint32_t range;
    while (take_range(pool, loop->ranges, &range)) run_range(loop, range, worker);
}

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* Waits a little until *word differs from `value`; whether it does is for the caller to ask again. */
static void look_for_change(Patience *patience, const atomic_uint_least32_t *word, uint32_t value) {
    for (uint32_t i = 0; i < patience->looks; i++) {
        if (atomic_load_explicit(word, memory_order_relaxed) != value) {
            patience->looks = LOOKS_MOST;
            return;
        }
        relax();
    }
    patience->looks = patience->looks / 2 > LOOKS_LEAST ? patience->looks / 2 : LOOKS_LEAST;
    if (++patience->sleeps % SLEEPS_PER_RETRY == 0) patience->looks = LOOKS_MOST;
}

static uint32_t load(const atomic_uint_least32_t *word) {
    return (uint32_t)atomic_load_explicit(word, memory_order_relaxed);
}

static void *worker_main(void *argument) {
    const Worker *seat = argument;
    Pool *pool = seat->pool;
    Patience patience = {.looks = LOOKS_MOST};
    uint32_t seen = 0;
    for (;;) {
        look_for_change(&patience, &pool->opened, seen);
        pthread_mutex_lock(&pool->mutex);
        while (!pool->ending && !(pool->open && load(&pool->opened) != seen))
            pthread_cond_wait(&pool->wake, &pool->mutex);
        if (pool->ending) break;
        seen = load(&pool->opened);
        atomic_fetch_add_explicit(&pool->inside, 1, memory_order_relaxed);
        const Loop loop = pool->loop;
        pthread_mutex_unlock(&pool->mutex);
        run_ranges(pool, &loop, seat->index);
        pthread_mutex_lock(&pool->mutex);
        if (atomic_fetch_sub_explicit(&pool->inside, 1, memory_order_relaxed) == 1)
            pthread_cond_broadcast(&pool->idle);
        pthread_mutex_unlock(&pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* Whether the calling thread runs a range of this pool already; then *worker is its number. Called with the
 * mutex. */
static bool is_nested(const Pool *pool, uint32_t *worker) {
    const pthread_t self = pthread_self();
    *worker = 0;
    if (!pool->busy) return false;
    if (pthread_equal(pool->caller, self)) return true;
    for (uint32_t i = 1; i <= pool->started; i++)
        if (pthread_equal(pool->threads[i], self)) {
            *worker = i;
            return true;
        }
    return false;
}

/* Makes the calling thread the pool's worker 0, after any other caller; false where it is inside a range
 * already. */
static bool begin_loop(Pool *pool, const Loop *loop, uint32_t *worker) {
    pthread_mutex_lock(&pool->mutex);
    const bool nested = is_nested(pool, worker);
    if (!nested) {
        while (pool->busy) pthread_cond_wait(&pool->idle, &pool->mutex);
        pool->busy = true;
        pool->caller = pthread_self();
        pool->loop = *loop;
        atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
        if (loop->ranges > 1) { /* a single range wakes nobody */
            pool->open = true;
            atomic_fetch_add_explicit(&pool->opened, 1, memory_order_relaxed);
            pthread_cond_broadcast(&pool->wake);
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    return !nested;
}

/* Waits for the workers that are still inside. */
static void end_loop(Pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    pool->open = false;
    while (load(&pool->inside) > 0) {
        const uint32_t inside = load(&pool->inside);
        pthread_mutex_unlock(&pool->mutex);
        look_for_change(&pool->caller_patience, &pool->inside, inside);
        pthread_mutex_lock(&pool->mutex);
        if (load(&pool->inside) == inside) pthread_cond_wait(&pool->idle, &pool->mutex);
    }
    pool->busy = false;
    pthread_cond_broadcast(&pool->idle);
    pthread_mutex_unlock(&pool->mutex);
}

static void threads_for(void *user, uint32_t count, uint32_t grain, PhxRangeFn fn, void *context) {
    Pool *pool = user;
    if (count == 0) return;
    if (grain == 0) grain = 1;
    const Loop loop = {
        .fn = fn, .context = context, .count = count, .grain = grain, .ranges = (count - 1) / grain + 1};
    uint32_t worker;
    if (begin_loop(pool, &loop, &worker)) {
        run_ranges(pool, &loop, 0);
        end_loop(pool);
    } else {
        for (uint32_t range = 0; range < loop.ranges; range++) run_range(&loop, range, worker);
    }
}

static void pool_destroy(Pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    pool->ending = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (uint32_t i = 1; i <= pool->started; i++) pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    const PhxAllocator allocator = phx_allocator_default();
    allocator.release(allocator.user, pool, sizeof *pool);
}

PhxStatus phx_jobs_threads_create(uint32_t threads, PhxJobs *out) {
    *out = phx_jobs_serial();
    if (threads < 1 || threads > PHX_JOBS_WORKERS_MAX) return PHX_ERROR_ARGUMENT;
    const PhxAllocator allocator = phx_allocator_default();
    Pool *pool = allocator.allocate(allocator.user, sizeof *pool);
    if (!pool) return PHX_ERROR_MEMORY;
    *pool = (Pool){.caller_patience = {.looks = LOOKS_MOST}};
    atomic_init(&pool->next, 0);
    atomic_init(&pool->inside, 0);
    atomic_init(&pool->opened, 0);
    if (pthread_mutex_init(&pool->mutex, NULL) != 0 || pthread_cond_init(&pool->wake, NULL) != 0 ||
        pthread_cond_init(&pool->idle, NULL) != 0) {
        allocator.release(allocator.user, pool, sizeof *pool);
        return PHX_ERROR_MEMORY;
    }
    for (uint32_t i = 1; i < threads; i++) {
        pool->seats[i] = (Worker){.pool = pool, .index = i};
        if (pthread_create(&pool->threads[i], NULL, worker_main, &pool->seats[i]) != 0) {
            pool_destroy(pool);
            return PHX_ERROR_MEMORY;
        }
        pool->started = i;
    }
    *out = (PhxJobs){.parallel_for = threads_for, .workers = threads, .user = pool};
    return PHX_OK;
}

void phx_jobs_threads_destroy(PhxJobs *jobs) {
    if (jobs->parallel_for == threads_for) pool_destroy(jobs->user);
    *jobs = phx_jobs_serial();
}
