/* harness.h: one way to write a test, two ways to run it.
 *
 *   PHX_TEST(fixed, mul_equals_the_128_bit_oracle) { ... CHECK_EQ(a, b, "seed %" PRIu64, seed); ... }
 *
 * With PHX_CRITERION the tests run under Criterion (one process each). Without it the same file gets a plain
 * main(), for sanitizers and emulators under which Criterion can't run: `prog [--list] [substring]`. Both
 * fail when no test ran. A test that needs what is absent calls PHX_SKIP, which is printed, or fails where
 * PHX_REQUIRE_SHARED=1.
 */
#ifndef PHX_HARNESS_H
#define PHX_HARNESS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PHX_CRITERION
#include <criterion/criterion.h>
#define PHX_TEST(module, behaviour) Test(module, behaviour)
#else
typedef struct PhxTestCase {
    const char *module, *behaviour;
    void (*run)(void);
    struct PhxTestCase *next;
} PhxTestCase;
void phx_test_register(PhxTestCase *test);
#define PHX_TEST(module, behaviour)                                                                          \
    static void module##_##behaviour(void);                                                                  \
    __attribute__((constructor)) static void module##_##behaviour##_register(void) {                         \
        static PhxTestCase test = {#module, #behaviour, module##_##behaviour, NULL};                         \
        phx_test_register(&test);                                                                            \
    }                                                                                                        \
    static void module##_##behaviour(void)
#endif

/* Ends the running test as failed, with a message. */
__attribute__((noreturn, format(printf, 3, 4))) void phx_test_fail(const char *file, int line,
                                                                   const char *format, ...);
/* Ends the running test as skipped, or as failed where PHX_REQUIRE_SHARED=1. */
__attribute__((noreturn)) void phx_test_skip(const char *why);
#define PHX_SKIP(why) phx_test_skip(why)

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) phx_test_fail(__FILE__, __LINE__, "%s", #condition);                               \
    } while (0)
/* CHECK_THAT(condition, "seed %d tick %d", seed, tick): with the values that a person needs to repeat it. */
#define CHECK_THAT(condition, ...)                                                                           \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: with ", __FILE__, __LINE__);                                             \
            fprintf(stderr, __VA_ARGS__);                                                                    \
            fputc('\n', stderr);                                                                             \
            phx_test_fail(__FILE__, __LINE__, "%s", #condition);                                             \
        }                                                                                                    \
    } while (0)
/* Integers of any width; both values are printed. */
#define CHECK_EQ(got, want)                                                                                  \
    do {                                                                                                     \
        const int64_t got_ = (int64_t)(got), want_ = (int64_t)(want);                                        \
        if (got_ != want_)                                                                                   \
            phx_test_fail(__FILE__, __LINE__,                                                                \
                          "%s is %" PRId64 " (0x%" PRIx64 "), not %" PRId64 " (0x%" PRIx64 ")", #got, got_,  \
                          (uint64_t)got_, want_, (uint64_t)want_);                                           \
    } while (0)
#define CHECK_STR(got, want)                                                                                 \
    do {                                                                                                     \
        const char *got_ = (got), *want_ = (want);                                                           \
        if (strcmp(got_, want_) != 0)                                                                        \
            phx_test_fail(__FILE__, __LINE__, "%s is \"%s\", not \"%s\"", #got, got_, want_);                \
    } while (0)
/* A PhxStatus that must be PHX_OK. */
#define CHECK_OK(call) CHECK_EQ((call), 0)

/* A seeded generator for tests only (splitmix64). */
static inline uint64_t test_random(uint64_t *seed) {
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
/* Uniform in [low, high], both included. */
static inline int64_t test_range(uint64_t *seed, int64_t low, int64_t high) {
    const uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    return (int64_t)((uint64_t)low + (span ? test_random(seed) % span : test_random(seed)));
}

/* Whether a sanitizer watches this program: each case costs ten times as much, and shows faults of memory and
 * threads, not of results. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TEST_WATCHED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
enum { TEST_WATCHED = 1 };
#else
enum { TEST_WATCHED = 0 };
#endif
#else
enum { TEST_WATCHED = 0 };
#endif
/* How often a campaign repeats its case: `usual`, `few` under a sanitizer, `all` with PHX_LONG=1. */
static inline uint32_t test_count(uint32_t few, uint32_t usual, uint32_t all) {
    const char *is_long = getenv("PHX_LONG");
    return is_long && strcmp(is_long, "1") == 0 ? all : TEST_WATCHED ? few : usual;
}

/* Whole file into malloc'ed memory with a zero behind it; null if it can't be read. `size` may be null. */
char *test_read_file(const char *path, size_t *size);
/* Path of a file below the shared reference data, or a skip if it isn't there. The result lives until the
 * next call. */
const char *test_shared(const char *relative);
/* Path of a file of the project's source tree. The result lives until the next call. */
const char *test_source(const char *relative);
/* A fresh, empty temporary folder; removed by nobody (it lies below the build folder). */
const char *test_scratch(const char *name);

#endif
