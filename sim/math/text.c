/* text.c: decimal text to Q16.16 and back, exactly. Contracts: fixed.h.
 *
 * Reading: the points where rounding changes are odd multiples of 2^-17, which have at most 17 decimals. So
 * the first 17 digits of a fraction decide, floor(fraction * 2^17) = digits * 2^17 / 10^17 = digits / 5^17,
 * and further digits can't change it. Writing tries ever more decimals, at most 5 (10^-5 < 2^-16).
 * Determinism: no locale, no double; the same bytes for the same value everywhere.
 */
#include <phalanx/fixed.h>

enum { FRACTION_DIGITS = 17, FORMAT_DIGITS = 5 };
#define FIVE_TO_17 UINT64_C(762939453125)

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Whole part: stops counting above 2^16, where every value is out of range. */
static uint64_t read_whole(const char *text, size_t length, size_t *at) {
    uint64_t value = 0;
    for (; *at < length && is_digit(text[*at]); (*at)++)
        if (value <= PHX_FIX_ONE) value = value * 10 + (uint64_t)(text[*at] - '0');
    return value;
}

/* The digits behind the point, as raw Q16.16 in 0..65536, half up. */
static uint64_t read_fraction(const char *text, size_t length, size_t *at) {
    uint64_t digits = 0;
    size_t count = 0;
    for (; *at < length && is_digit(text[*at]); (*at)++)
        if (count < FRACTION_DIGITS) digits = digits * 10 + (uint64_t)(text[*at] - '0'), count++;
    for (; count < FRACTION_DIGITS; count++) digits *= 10;
    return (digits / FIVE_TO_17 + 1) >> 1;
}

PhxStatus phx_fix_parse(const char *text, size_t length, fix16_t *out) {
    size_t at = 0;
    const bool negative = length > 0 && text[0] == '-';
    if (negative || (length > 0 && text[0] == '+')) at++;
    const size_t first = at;
    uint64_t raw = read_whole(text, length, &at) << PHX_FIX_BITS;
    if (at == first) return PHX_ERROR_FORMAT;
    if (at < length && text[at] == '.') {
        const size_t point = at++;
        raw += read_fraction(text, length, &at);
        if (at == point + 1) return PHX_ERROR_FORMAT;
    }
    if (at != length) return PHX_ERROR_FORMAT;
    if (raw > (uint64_t)INT32_MAX + (uint64_t)negative) return PHX_ERROR_RANGE;
    *out = (fix16_t)(negative ? -(int64_t)raw : (int64_t)raw);
    return PHX_OK;
}

/* The fewest decimals that round to `fraction` / 65536 (0..65535); their digits as a number in *digits. */
static unsigned shortest_fraction(uint32_t fraction, uint32_t *digits) {
    uint32_t scale = 1;
    for (unsigned count = 0; count < FORMAT_DIGITS; count++, scale *= 10) {
        *digits = (uint32_t)(((uint64_t)fraction * scale + 0x8000u) >> 16);
        if (*digits < scale && (((uint64_t)*digits << 17) / scale + 1) >> 1 == fraction) return count;
    }
    *digits = (uint32_t)(((uint64_t)fraction * scale + 0x8000u) >> 16);
    return FORMAT_DIGITS;
}

/* Writes `value` in decimal, right-aligned to `end`, with at least `least` digits; returns where it begins.
 */
static char *write_digits(char *end, uint32_t value, unsigned least) {
    for (unsigned count = 0; value != 0 || count < least; count++, value /= 10)
        *--end = (char)('0' + value % 10);
    return end;
}

size_t phx_fix_format(fix16_t value, char *buffer, size_t size) {
    char text[PHX_FIX_TEXT];
    const uint32_t magnitude = (uint32_t)phx_abs64(value);
    uint32_t digits;
    const unsigned decimals = shortest_fraction(magnitude & 0xffffu, &digits);
    char *const end = text + sizeof text - 1;
    char *begin = end;
    if (decimals > 0) {
        begin = write_digits(begin, digits, decimals);
        *--begin = '.';
    }
    begin = write_digits(begin, magnitude >> PHX_FIX_BITS, 1);
    if (value < 0) *--begin = '-';
    const size_t length = (size_t)(end - begin);
    if (size > 0) buffer[0] = 0;
    if (length >= size) return length;
    for (size_t i = 0; i < length; i++) buffer[i] = begin[i];
    buffer[length] = 0;
    return length;
}
