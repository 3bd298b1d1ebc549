/* assert.c: the end of a program that broke its own rules. */
#include "base/assert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void phx_assert_fail(const char *file, int line, const char *condition, int64_t a, int64_t b) {
    fprintf(stderr, "%s:%d: assertion failed: %s (a = %" PRId64 ", b = %" PRId64 ")\n", file, line, condition,
            a, b);
    abort();
}
