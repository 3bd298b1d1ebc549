/* spline_length.c: see spline.h: how long a curve is, the place at a length, and who goes along it.
 *
 * A stretch, an eighth of a piece, is measured by Gauss-Legendre quadrature of |r'| with five nodes (exact
 * for polynomials of degree 9; Abramowitz and Stegun, table 25.4). A place is found by the table, by
 * proportion within the stretch, and by two steps of Newton, whose derivative is the speed.
 */
#include <phalanx/spline.h>

#include "base/arena.h"

enum { NODES = 5, WEIGHT_BITS = 30, RATE_BITS = 24, STEPS = 2 };

/* Nodes in [0, 1] as Q32, weights as Q30; their sum is 2^30. */
static const uint64_t nodes[NODES] = {201473896, 991163072, 2147483648, 3303804224, 4093493400};
static const int64_t weights[NODES] = {127197882, 256956077, 305433906, 256956077, 127197882};

void phx_spline_lengths_layout(PhxSplineLengths *lengths, PhxArena *arena, const PhxSpline *spline) {
    *lengths = (PhxSplineLengths){.capacity = spline->capacity + spline->degree_max};
    lengths->at = PHX_ARENA_ARRAY(arena, int64_t, (size_t)lengths->capacity * PHX_SPLINE_STRETCHES + 1);
}

/* Where a stretch of a piece begins, Q32. */
static int64_t begin_of(const PhxSpline *spline, uint32_t piece, uint32_t stretch) {
    const int64_t from = (int64_t)spline->knot[piece] * PHX_FIX_ONE,
                  to = (int64_t)spline->knot[piece + 1] * PHX_FIX_ONE;
    return from + (to - from) / PHX_SPLINE_STRETCHES * stretch; /* an eighth of a multiple of 2^16 is exact */
}

/* |r'| in Q16 units for each unit of the parameter. */
static int64_t speed_at(const PhxSpline *spline, uint32_t piece, int64_t u) {
    const PhxSplineRate first = phx_spline_first_in(spline, piece, u);
    return phx_spline_speed(&first);
}

/* The length from a to b, both Q32 in one piece, in Q24. */
static int64_t measure(const PhxSpline *spline, uint32_t piece, int64_t a, int64_t b) {
    const int64_t wide = b - a; /* <= 2^46 */
    int64_t mean = 0;           /* 2^32 * 2^30 */
    for (int k = 0; k < NODES; k++) {
        const int64_t u =
            a + (wide >> 16) * (int64_t)(nodes[k] >> 16) + ((wide & 65535) * (int64_t)(nodes[k] >> 16) >> 16);
        mean += weights[k] * speed_at(spline, piece, u) >> 4;
    }
    mean = phx_round_shift(mean, WEIGHT_BITS - 4 - 8); /* Q24, below 2^40 */
    return (mean >> 16) * (wide >> 16) + ((mean & 65535) * (wide >> 16) >> 16) +
           ((mean >> 8) * (wide & 65535) >> 24);
}

static int64_t measure_stretch(const PhxSpline *spline, uint32_t piece, uint32_t stretch) {
    if (spline->knot[piece] == spline->knot[piece + 1]) return 0;
    return measure(spline, piece, begin_of(spline, piece, stretch), begin_of(spline, piece, stretch + 1));
}

void phx_spline_measure(PhxSplineLengths *lengths, const PhxSpline *spline) {
    int64_t sum = 0;
    lengths->first = spline->degree;
    lengths->pieces = spline->count - spline->degree;
    int64_t *at = lengths->at;
    *at = 0;
    for (uint32_t piece = spline->degree; piece < spline->count; piece++)
        for (uint32_t stretch = 0; stretch < PHX_SPLINE_STRETCHES; stretch++) {
            sum += measure_stretch(spline, piece, stretch);
            *++at = sum;
        }
}

void phx_spline_measure_again(PhxSplineLengths *lengths, const PhxSpline *spline, uint32_t i) {
    const uint32_t degree = spline->degree;
    int64_t shift = 0;
    for (uint32_t piece = degree; piece < spline->count; piece++) {
        /* the points of a piece are piece - degree .. piece; a periodic spline has some twice */
        bool touched = false;
        for (uint32_t k = piece - degree; k <= piece; k++) touched |= k % spline->own == i;
        int64_t *at = lengths->at + (size_t)(piece - degree) * PHX_SPLINE_STRETCHES;
        int64_t was = at[0] - shift; /* at[0] is new already */
        for (uint32_t stretch = 0; stretch < PHX_SPLINE_STRETCHES; stretch++) {
            const int64_t old = at[stretch + 1] - was;
            was = at[stretch + 1];
            at[stretch + 1] = at[stretch] + (touched ? measure_stretch(spline, piece, stretch) : old);
            shift = at[stretch + 1] - was;
        }
    }
}

int64_t phx_spline_length(const PhxSplineLengths *lengths) {
    return lengths->at[(size_t)lengths->pieces * PHX_SPLINE_STRETCHES];
}

/* The last stretch that begins at `length` or before, and has a length if any has. */
static uint32_t stretch_at(const PhxSplineLengths *lengths, int64_t length) {
    uint32_t low = 0, high = lengths->pieces * PHX_SPLINE_STRETCHES - 1;
    while (high > 0 && lengths->at[high] == lengths->at[high + 1]) high--;
    while (low < high) {
        const uint32_t middle = (low + high + 1) / 2;
        if (lengths->at[middle] <= length)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static int64_t clamped(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

/* a * b / c for a <= c < 2^62 (a quotient of at most 1 in 32 bits) and b < 2^47. */
static int64_t part_of(int64_t a, int64_t b, int64_t c) {
    while (c >= (int64_t)1 << 31) c >>= 1, a >>= 1;
    const int64_t part = c > 0 ? (a << 32) / c : 0; /* Q32 */
    return (b >> 16) * (part >> 16) + ((b >> 16) * (part & 65535) >> 16) + ((b & 65535) * (part >> 16) >> 16);
}

PhxSplinePlace phx_spline_place(const PhxSplineLengths *lengths, const PhxSpline *spline, int64_t length) {
    const int64_t at = clamped(length, 0, phx_spline_length(lengths));
    const uint32_t index = stretch_at(lengths, at), piece = lengths->first + index / PHX_SPLINE_STRETCHES;
    const int64_t from = begin_of(spline, piece, index % PHX_SPLINE_STRETCHES),
                  to = begin_of(spline, piece, index % PHX_SPLINE_STRETCHES + 1);
    const int64_t left = at - lengths->at[index], whole = lengths->at[index + 1] - lengths->at[index];
    int64_t u = from + part_of(clamped(left, 0, whole), to - from, whole);
    for (int step = 0; step < STEPS && left > 0 && left < whole; step++) {
        const int64_t off = left - measure(spline, piece, from, u), speed = speed_at(spline, piece, u);
        if (speed == 0) break;
        /* off / speed: Q24 / Q16 in Q32; a step isn't longer than the stretch */
        const int64_t most = to - from, size = off < 0 ? -off : off;
        const int64_t by = size < (int64_t)1 << 38 ? (size << 24) / speed : most;
        u = clamped(off < 0 ? u - (by < most ? by : most) : u + (by < most ? by : most), from, to);
    }
    return (PhxSplinePlace){piece, u};
}

int64_t phx_spline_length_at(const PhxSplineLengths *lengths, const PhxSpline *spline, PhxSplinePlace place) {
    uint32_t stretch = 0;
    while (stretch + 1 < PHX_SPLINE_STRETCHES && begin_of(spline, place.piece, stretch + 1) <= place.u)
        stretch++;
    const int64_t *at = lengths->at + (size_t)(place.piece - lengths->first) * PHX_SPLINE_STRETCHES + stretch;
    const int64_t from = begin_of(spline, place.piece, stretch);
    return at[0] +
           (place.u > from ? clamped(measure(spline, place.piece, from, place.u), 0, at[1] - at[0]) : 0);
}

uint32_t phx_spline_follow(const PhxSplineLengths *lengths, PhxSplineMode mode, int64_t way,
                           PhxSplineFollower *follower) {
    const int64_t length = phx_spline_length(lengths);
    if (length <= 0 || way < 0) return mode == PHX_SPLINE_ONCE ? PHX_SPLINE_DONE : 0;
    uint32_t events = 0;
    if (mode == PHX_SPLINE_ONCE) {
        const bool there = follower->at >= length;
        follower->at = way >= length - follower->at ? length : follower->at + way;
        if (follower->at < length) return 0;
        return PHX_SPLINE_DONE | (there ? 0 : PHX_SPLINE_AT_END);
    }
    if (mode == PHX_SPLINE_LOOP) {
        const int64_t rest = way % length;
        if (way >= length || rest >= length - follower->at) events = PHX_SPLINE_AT_END | PHX_SPLINE_AT_BEGIN;
        follower->at = rest >= length - follower->at ? rest - (length - follower->at) : follower->at + rest;
        return events;
    }
    /* there and back is one turn of twice the length */
    const int64_t turn = 2 * length, was = follower->backwards ? turn - follower->at : follower->at;
    const int64_t rest = way % turn, now = rest >= turn - was ? rest - (turn - was) : was + rest;
    if (way >= turn || (was < length && was + rest >= length) || was + rest >= turn + length)
        events |= PHX_SPLINE_AT_END;
    if (way >= turn || was + rest >= turn) events |= PHX_SPLINE_AT_BEGIN;
    follower->backwards = now >= length;
    follower->at = now >= length ? turn - now : now;
    return events;
}
