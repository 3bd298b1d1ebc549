/* minimise.c: delta debugging. See minimise.h. */
#include "soak/minimise.h"

#include <stdlib.h>
#include <string.h>

typedef struct Search {
    PhxMinimiseTest test;
    void *user;
    uint32_t limit, tests;
    uint32_t *kept, *trial;
    uint32_t count;
} Search;

/* Does what is kept fail without the part [begin, end)? If so, the part goes. */
static bool without(Search *search, uint32_t begin, uint32_t end) {
    memcpy(search->trial, search->kept, begin * sizeof *search->trial);
    memcpy(search->trial + begin, search->kept + end, (search->count - end) * sizeof *search->trial);
    const uint32_t count = search->count - (end - begin);
    search->tests++;
    if (!search->test(search->user, search->trial, count)) return false;
    memcpy(search->kept, search->trial, count * sizeof *search->trial);
    search->count = count;
    return true;
}

/* Tries to leave out each of about `parts` equal parts once. True when one could go. */
static bool pass(Search *search, uint32_t parts) {
    const uint32_t size = (search->count + parts - 1) / parts;
    bool gone = false;
    /* From the end: late commands seldom matter to an early failure, and what they need stands before them.
     */
    for (uint32_t end = search->count; end > 0 && search->tests < search->limit;) {
        const uint32_t begin = end > size ? end - size : 0;
        gone |= without(search, begin, end);
        end = begin;
    }
    return gone;
}

static bool reduce(Search *search) {
    uint32_t parts = 2;
    while (search->count > 0) {
        if (search->tests >= search->limit) return false;
        if (parts > search->count) parts = search->count;
        const bool single = parts == search->count, gone = pass(search, parts);
        /* A part went: what is left may now do without parts of the same size. */
        if (single && !gone) return search->tests < search->limit;
        if (!gone) parts *= 2;
    }
    return true;
}

PhxStatus phx_minimise(uint32_t count, PhxMinimiseTest test, void *user, uint32_t test_limit,
                       PhxMinimised *out) {
    Search search = {.test = test, .user = user, .limit = test_limit, .count = count};
    *out = (PhxMinimised){0};
    search.kept = malloc(((size_t)count + 1) * sizeof *search.kept);
    search.trial = malloc(((size_t)count + 1) * sizeof *search.trial);
    if (search.kept == NULL || search.trial == NULL) {
        free(search.kept);
        free(search.trial);
        return PHX_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) search.kept[i] = i;
    memcpy(search.trial, search.kept, count * sizeof *search.trial);
    search.tests = 1;
    out->fails = test(user, search.trial, count);
    if (out->fails) out->minimal = reduce(&search);
    free(search.trial);
    out->kept = search.kept;
    out->count = search.count;
    out->tests = search.tests;
    return PHX_OK;
}
