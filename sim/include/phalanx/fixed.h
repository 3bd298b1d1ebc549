/* fixed.h: numbers. Q16.16 arithmetic with 64-bit kernels, exact square roots, exact text.
 *
 * In and out: fix16_t (libfixmath's Q16.16: raw value / 65536, range -32768 .. 32767.99998), and 64-bit
 * products (Q32.32), which stay wide until the end of a formula. Of libfixmath only the type and its inline
 * helpers are used, none of its compiled functions: their build flags change results.
 * Cost: instructions on x86-64 (gcc -O2, inlined, counted with callgrind): mul 13, isqrt64 38, none divides;
 * div and div_round one 64-bit division and about 25 more.
 * Determinism: integers only, no table that is built at run time, no signed overflow. Each rounding is
 * symmetric about zero (half away from zero): f(-v) = -f(v), so that a mirrored match rounds alike.
 */
#ifndef PHALANX_FIXED_H
#define PHALANX_FIXED_H

#include <libfixmath/fix16.h>
#include <phalanx/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#else
/* What the kernels ask of the compiler; every one in use grants it, C leaves both to the implementation. */
_Static_assert((-5 >> 1) == -3, "a right shift of a negative number is arithmetic");
_Static_assert((int32_t)UINT32_C(0xfffffffe) == -2, "a conversion to a signed type wraps");
#endif

enum {
    PHX_FIX_BITS = 16,         /* fraction bits of fix16_t */
    PHX_FIX_ONE = 65536,       /* 1.0 */
    PHX_FIX_TEXT = 16,         /* bytes that hold any number that phx_fix_format writes, with its zero */
    PHX_RSQRT_TABLE_SIZE = 384 /* entries of phx_rsqrt_table */
};

/* |v|, for any v (2^63 for the smallest). */
static inline uint64_t phx_abs64(int64_t v) { return v < 0 ? 0u - (uint64_t)v : (uint64_t)v; }

/* Leading zero bits of a word that isn't zero. */
static inline unsigned phx_leading_zeros64(uint64_t v) {
#if defined(__GNUC__)
    return (unsigned)__builtin_clzll(v);
#else
    unsigned n = 0;
    while (!(v >> 63)) v <<= 1, n++;
    return n;
#endif
}

/* v / 2^bits to the nearest integer, half away from zero. bits in 1..62; |v| <= INT64_MAX - 2^(bits-1)
 * (beyond, the sum wraps: a wrong value, alike everywhere). */
static inline int64_t phx_round_shift(int64_t v, unsigned bits) {
    const uint64_t half = (uint64_t)1 << (bits - 1);
    return (int64_t)((uint64_t)v + half - (uint64_t)(v < 0)) >> bits;
}

/* num / den to the nearest integer, half away from zero. den != 0. Every pair is exact but one: INT64_MIN /
 * -1 doesn't fit and gives INT64_MAX. */
int64_t phx_div_round(int64_t num, int64_t den);

/* The nearest value in [fix16_minimum, fix16_maximum]. */
static inline fix16_t phx_fix_saturate(int64_t raw) {
    const int64_t above = raw < INT32_MIN ? INT32_MIN : raw;
    return (fix16_t)(above > INT32_MAX ? INT32_MAX : above);
}

/* a + b and a - b, saturating. */
static inline fix16_t phx_fix_add(fix16_t a, fix16_t b) { return phx_fix_saturate((int64_t)a + b); }
static inline fix16_t phx_fix_sub(fix16_t a, fix16_t b) { return phx_fix_saturate((int64_t)a - b); }

/* a * b, rounded to nearest (half away from zero), saturating; equals libfixmath's fix16_mul wherever
 * that doesn't report an overflow. */
static inline fix16_t phx_fix_mul(fix16_t a, fix16_t b) {
    return phx_fix_saturate(phx_round_shift((int64_t)a * b, PHX_FIX_BITS));
}

/* a / b, rounded to nearest (half away from zero), saturating. b = 0 gives fix16_maximum, fix16_minimum or 0,
 * by the sign of a. Equals libfixmath's fix16_div wherever that is correctly rounded: for |b| <= 16.0; for
 * larger divisors the library gives one raw too much now and then. */
fix16_t phx_fix_div(fix16_t a, fix16_t b);

/* A line a - b x below 1/sqrt(x), both Q28. */
typedef struct PhxRsqrtLine {
    uint32_t a, b;
} PhxRsqrtLine;

/* The tangents of 1/sqrt for each 9-bit prefix of x in [1/4, 1); written and proved by tools/trigtable. */
extern const PhxRsqrtLine phx_rsqrt_table[PHX_RSQRT_TABLE_SIZE];

/* 2^32 / sqrt(n) in Q20, for n in [2^62, 2^64): in [2^20, 2^21]. At most the true value, relative error below
 * 2^-17. */
static inline uint64_t phx_rsqrt_estimate(uint64_t n) {
    const PhxRsqrtLine *line = &phx_rsqrt_table[(n >> 55) - 128];
    return (line->a - ((n >> 32) * line->b >> 32)) >> 8;
}

/* 2^32 / sqrt(n) in Q32, for n in [2^62, 2^64): in [2^32, 2^33). Below the true value, by less than 1.8
 * units. One step of Newton from the estimate; the residue 1 - n r^2 is taken modulo 2^64, which it fits,
 * being small. */
static inline uint64_t phx_rsqrt(uint64_t n) {
    const uint64_t r = phx_rsqrt_estimate(n);
    const int64_t residue = (int64_t)((n >> 25) * (r * r)); /* n r^2 - 1 in Q79, in [-2^-16, 0] */
    const int64_t down = ((int64_t)r * (residue >> 43) + ((int64_t)9 << 22)) >> 25;
    return (r << 12) - (uint64_t)down;
}

/* floor(sqrt(v)), exact for every v. A first root s0 <= sqrt(n) from the estimate, one step of Newton (again
 * from below, less than 1.3 short), one comparison. */
static inline uint32_t phx_isqrt64(uint64_t v) {
    if (v == 0) return 0;
    const unsigned shift = phx_leading_zeros64(v) & ~1u;
    const uint64_t n = v << shift;
    const uint64_t r = phx_rsqrt_estimate(n);
    const uint64_t s0 = ((n >> 32) * r) >> 20;
    const uint64_t s = (s0 + (((n - s0 * s0) >> 12) * r >> 41)) >> (shift / 2);
    return (uint32_t)(s + (uint64_t)(v - s * s > 2 * s));
}

/* The square root, rounded to nearest; 0 for a negative number. Equals libfixmath's fix16_sqrt for
 * 0 <= x < 16384.0; above, the library gives one raw too little now and then. */
fix16_t phx_fix_sqrt(fix16_t x);

/* Reads a decimal number: an optional sign, one or more digits, and optionally '.' and one or more digits;
 * all of `length` bytes (no terminator, no spaces, no exponent). Any number of digits is read exactly; the
 * result is the nearest raw value, half away from zero. `out` is set on success only. Errors:
 * PHX_ERROR_FORMAT for other text, PHX_ERROR_RANGE where the nearest raw value doesn't fit. */
PHX_MUST_USE PhxStatus phx_fix_parse(const char *text, size_t length, fix16_t *out);

/* Writes the shortest decimal that phx_fix_parse reads back as the same value ("-0.5", "3", "0.33333"), and a
 * zero. Returns its length, at most PHX_FIX_TEXT - 1. Where `size` is too small nothing but an empty string
 * is written (nothing at all for size 0), and the length is returned all the same. */
size_t phx_fix_format(fix16_t value, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
