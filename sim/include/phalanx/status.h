/* status.h: how a function of Phalanx says that it failed.
 *
 * There are three kinds of failure and three mechanisms (DETERMINISM.md, rule on failures):
 *   - programmer error: PHX_ASSERT with values (base/assert.h), never reached by any input;
 *   - untrusted input or a full buffer: a PhxStatus, which the caller has to look at;
 *   - a command that came too late: a no-op that is counted in a column of the state.
 * A decoder may fill a PhxError besides, which says where and what, in words for a person.
 */
#ifndef PHALANX_STATUS_H
#define PHALANX_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__MINGW32__) && !defined(__clang__) /* the formats of C17, not those of msvcrt.dll */
#define PHX_MUST_USE        __attribute__((warn_unused_result))
#define PHX_PRINTF(fmt, va) __attribute__((format(gnu_printf, fmt, va)))
#elif defined(__GNUC__)
#define PHX_MUST_USE        __attribute__((warn_unused_result))
#define PHX_PRINTF(fmt, va) __attribute__((format(printf, fmt, va)))
#else
#define PHX_MUST_USE
#define PHX_PRINTF(fmt, va)
#endif

/* One line a status: name, and what it means to a person. */
#define PHX_STATUS_LIST(X)                                                                                   \
    X(OK, "success")                                                                                         \
    X(ERROR_ARGUMENT, "an argument is outside of what the function accepts")                                 \
    X(ERROR_MEMORY, "out of memory")                                                                         \
    X(ERROR_FULL, "a table, queue or buffer is full")                                                        \
    X(ERROR_RANGE, "a value is outside of its column's or field's range")                                    \
    X(ERROR_FORMAT, "bytes that break the format")                                                           \
    X(ERROR_TRUNCATED, "the bytes end too early")                                                            \
    X(ERROR_VERSION, "another version of a format or of the simulation")                                     \
    X(ERROR_MISMATCH, "two things that must be equal differ")                                                \
    X(ERROR_NOT_FOUND, "no such thing")                                                                      \
    X(ERROR_LIMIT, "a stated limit is exceeded")                                                             \
    X(ERROR_STATE, "not possible in the present state")                                                      \
    X(ERROR_IO, "reading or writing failed")                                                                 \
    X(ERROR_TIMEOUT, "an answer did not come in time")

typedef enum PhxStatus {
#define PHX_STATUS_ENUM(name, text) PHX_##name,
    PHX_STATUS_LIST(PHX_STATUS_ENUM)
#undef PHX_STATUS_ENUM
} PhxStatus;

enum { PHX_ERROR_TEXT = 240 };

/* What went wrong, for a person. `offset` is the byte (or, where the text says line, the line) at which the
 * fault lies. Filled only on failure; a null PhxError pointer is always allowed and means: not wanted. */
typedef struct PhxError {
    PhxStatus status;
    uint64_t offset;
    char text[PHX_ERROR_TEXT]; /* zero-terminated, no line feed */
} PhxError;

/* The name of a status ("PHX_ERROR_RANGE") and its meaning; never null. */
const char *phx_status_name(PhxStatus status);
const char *phx_status_text(PhxStatus status);

/* Fills `error` (may be null) and returns `status`, so that a decoder fails in one line. */
PhxStatus phx_error_set(PhxError *error, PhxStatus status, uint64_t offset, const char *format, ...)
    PHX_PRINTF(4, 5);

#ifdef __cplusplus
}
#endif
#endif
