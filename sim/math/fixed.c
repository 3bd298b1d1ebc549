/* fixed.c: the kernels with a division, and the rounded square root. Contracts and determinism: fixed.h. */
#include <phalanx/fixed.h>

#include "base/assert.h"

int64_t phx_div_round(int64_t num, int64_t den) {
    PHX_ASSERT(den != 0, num, den);
    const bool negative = (num < 0) != (den < 0);
    const uint64_t n = phx_abs64(num), d = phx_abs64(den);
    const uint64_t quotient = n / d, rest = n - quotient * d;
    const uint64_t rounded = quotient + (uint64_t)(rest >= d - rest); /* 2 rest >= d, without overflow */
    if (negative) return (int64_t)(0u - rounded);
    return rounded > INT64_MAX ? INT64_MAX : (int64_t)rounded;
}

fix16_t phx_fix_div(fix16_t a, fix16_t b) {
    if (b == 0) return a > 0 ? INT32_MAX : a < 0 ? INT32_MIN : 0;
    const uint64_t n = phx_abs64(a) << PHX_FIX_BITS, d = phx_abs64(b);
    const int64_t rounded = (int64_t)((n + d / 2) / d); /* d odd: no tie; d even: d / 2 is the tie */
    return phx_fix_saturate((a < 0) != (b < 0) ? -rounded : rounded);
}

fix16_t phx_fix_sqrt(fix16_t x) {
    if (x <= 0) return 0;
    const uint64_t n = (uint64_t)x << PHX_FIX_BITS;
    const uint64_t root = phx_isqrt64(n);
    return (fix16_t)(root + (uint64_t)(n - root * root > root)); /* n > (root + 1/2)^2 */
}
