/* assert.h: programmer errors. An assert is for what no input can cause; it prints its values and aborts.
 * It is on in every build type unless PHX_NO_ASSERT is defined, and has no side effect: a match hashes alike
 * with and without it.
 */
#ifndef PHX_BASE_ASSERT_H
#define PHX_BASE_ASSERT_H

#include <stdint.h>

#if defined(__GNUC__)
#define PHX_NORETURN    __attribute__((noreturn))
#define PHX_LIKELY(x)   __builtin_expect(!!(x), 1)
#define PHX_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define PHX_NORETURN    _Noreturn
#define PHX_LIKELY(x)   (x)
#define PHX_UNLIKELY(x) (x)
#endif

/* Prints "file:line: condition (a = .., b = ..)" to standard error and aborts. */
PHX_NORETURN void phx_assert_fail(const char *file, int line, const char *condition, int64_t a, int64_t b);

#ifndef PHX_NO_ASSERT
/* PHX_ASSERT(condition, a, b): a and b are integers to print; pass 0 where there is none. */
#define PHX_ASSERT(condition, a, b)                                                                          \
    (PHX_LIKELY(condition) ? (void)0                                                                         \
                           : phx_assert_fail(__FILE__, __LINE__, #condition, (int64_t)(a), (int64_t)(b)))
#else
#define PHX_ASSERT(condition, a, b) ((void)sizeof(condition))
#endif

#endif
