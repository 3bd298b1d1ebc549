/* canonical.h: runs of values to canonical bytes and back; private to this module.
 *
 * On a little-endian machine a run's memory is its canonical form; on a big-endian one each value is turned.
 * Which of the two is compiled follows from the compiler's own macro, and a test runs both kinds of machine.
 */
#ifndef PHX_STATE_CANONICAL_H
#define PHX_STATE_CANONICAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PHX_BIG_ENDIAN 1
#else
#define PHX_BIG_ENDIAN 0
#endif

/* Copies `count` values of `size` bytes, between native and canonical order (the same either way). */
static inline void canonical_copy(void *to, const void *from, size_t count, uint32_t size) {
    if (!PHX_BIG_ENDIAN || size == 1) {
        memcpy(to, from, count * size);
        return;
    }
    const unsigned char *source = from;
    unsigned char *target = to;
    for (size_t i = 0; i < count; i++, source += size, target += size)
        for (uint32_t b = 0; b < size; b++) target[b] = source[size - 1 - b];
}

#endif
