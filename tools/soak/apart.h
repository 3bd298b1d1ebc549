/* apart.h: work in a process of its own, so that a crash or an endless loop is an answer and no end.
 *
 * In: a function and its context, which the child sees as they stand. Out: the bytes that it fills in, or how
 * it died. Cost: a fork. Call it from a program without threads. Determinism: the answer is the function's.
 */
#ifndef PHX_TOOLS_SOAK_APART_H
#define PHX_TOOLS_SOAK_APART_H

#include <phalanx/status.h>
#include <stddef.h>
#include <stdint.h>

/* Fills `answer` (`size` bytes, zero at first). */
typedef void (*PhxApartWork)(void *context, void *answer);

/* PHX_OK: the answer is there. PHX_ERROR_STATE: the child died; `death` (at least 64 bytes) says of which
 * signal or with which exit code. PHX_ERROR_TIMEOUT: it was ended after `seconds` of processor time.
 * PHX_ERROR_IO: there could be no child. */
PHX_MUST_USE PhxStatus phx_apart(PhxApartWork work, void *context, void *answer, size_t size,
                                 uint32_t seconds, char *death);

#endif
