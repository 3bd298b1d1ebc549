/* minimise.h: the fewest things that still fail: delta debugging (Zeller and Hildebrandt, Simplifying and
 * Isolating Failure-Inducing Input, 2002, section 3).
 *
 * In: n things, named 0 .. n - 1, and a test that says whether a choice of them fails. Out: a choice that
 * fails, and of which no single thing can be left out, unless the tests ran out first. Cost: about k log n
 * tests where k things matter each on its own, n squared at worst. Determinism: the same answers of the test
 * give the same result.
 */
#ifndef PHX_TOOLS_SOAK_MINIMISE_H
#define PHX_TOOLS_SOAK_MINIMISE_H

#include <phalanx/status.h>
#include <stdbool.h>
#include <stdint.h>

/* Does the choice fail? `kept`: `count` rising numbers. False ends nothing; it just isn't a failure. */
typedef bool (*PhxMinimiseTest)(void *user, const uint32_t *kept, uint32_t count);

typedef struct PhxMinimised {
    uint32_t *kept; /* for the caller to free() */
    uint32_t count;
    uint32_t tests; /* that were run */
    bool fails;     /* the whole fails; false: kept is the whole */
    bool minimal;   /* no single thing can be left out; false: `test_limit` was reached */
} PhxMinimised;

/* Errors: PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_minimise(uint32_t count, PhxMinimiseTest test, void *user, uint32_t test_limit,
                                    PhxMinimised *out);

#endif
