/* math_text.c: decimal text to fixed point and back, against exact integer arithmetic. */
#include <phalanx/fixed.h>
#include <stdlib.h>

#include "harness.h"

static PhxStatus parse(const char *text, fix16_t *out) { return phx_fix_parse(text, strlen(text), out); }

static void check_value(const char *text, int64_t raw) {
    fix16_t value = 12345;
    CHECK_THAT(parse(text, &value) == PHX_OK && value == raw, "\"%s\": %d, not %d", text, value, (int)raw);
}
static void check_refused(const char *text, size_t length, PhxStatus want) {
    fix16_t value = 12345;
    CHECK_THAT(phx_fix_parse(text, length, &value) == want && value == 12345, "\"%s\"", text);
}

PHX_TEST(math_text, parses_exactly_and_refuses_by_kind) {
    check_value("0", 0), check_value("-0", 0), check_value("-0.000", 0), check_value("+1.5", 98304);
    check_value("-1.5", -98304), check_value("007.25", 7 * 65536 + 16384),
        check_value("32767", 32767 * 65536);
    check_value("-32768", INT32_MIN), check_value("-32768.0", INT32_MIN);
    /* The half of a raw step, 2^-17, in its 17 decimals, and one less in each later place. */
    check_value("0.00000762939453125", 1), check_value("-0.00000762939453125", -1);
    check_value("0.00000762939453124", 0), check_value("0.000007629394531249999999999999999999999", 0);
    check_value("0.0000076293945312500000000000000000000000000000000001", 1);
    check_value("0.00002288818359375", 2), check_value("0.00002288818359374999", 1);
    check_value("32767.99999237060546874", INT32_MAX), check_value("-32768.00000762939453124", INT32_MIN);
    const char *range[] = {"32768",
                           "32767.99999237060546875",
                           "-32768.00000762939453125",
                           "65536",
                           "-65536",
                           "99999999999999999999999999999999999999",
                           "18446744073709551616",
                           "4294967296",
                           "-4294967296"};
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++)
        check_refused(range[i], strlen(range[i]), PHX_ERROR_RANGE);
    const char *format[] = {"",    "-",     "+",   ".",    ".5",       "5.",           "-.5",   "--1",
                            "+-1", "1.2.3", " 1",  "1 ",   "1e3",      "1,5",          "0x10",  "nan",
                            "inf", "1.5f",  "1_0", "1.-5", "\xd9\xa1", "99999999999.", "99999x"};
    for (size_t i = 0; i < sizeof format / sizeof format[0]; i++)
        check_refused(format[i], strlen(format[i]), PHX_ERROR_FORMAT);
    check_refused("1\0", 2, PHX_ERROR_FORMAT);
    fix16_t value;
    CHECK(phx_fix_parse("12345", 2, &value) == PHX_OK && value == 12 * 65536); /* the length rules */
    static char digits[100001]; /* very long text, whole and fraction */
    memset(digits, '0', 100000);
    digits[99999] = '7';
    check_value(digits, 7 * 65536);
    digits[1] = '.';
    check_value(digits, 0);
    memset(digits + 2, '9', 99998);
    check_value(digits, 65536);
}

/* round(whole.digits * 65536) by long division, one binary place after the other. */
static int64_t oracle(const char *digits, uint32_t whole) {
    unsigned char d[64];
    const size_t count = strlen(digits);
    for (size_t i = 0; i < count; i++) d[i] = (unsigned char)(digits[i] - '0');
    int64_t bits = 0;
    for (int place = 0; place < 17; place++) { /* doubles the fraction; the carry is the next bit */
        unsigned carry = 0;
        for (size_t i = count; i-- > 0;) {
            const unsigned doubled = d[i] * 2u + carry;
            d[i] = (unsigned char)(doubled % 10), carry = doubled / 10;
        }
        bits = bits * 2 + carry;
    }
    return (int64_t)whole * 65536 + (bits + 1) / 2;
}

PHX_TEST(math_text, random_digit_strings_equal_long_division) {
    uint64_t seed = 17;
    for (int i = 0; i < 200000; i++) {
        char digits[64], text[80];
        const int count = (int)test_range(&seed, 1, 40);
        for (int k = 0; k < count; k++) digits[k] = (char)('0' + test_range(&seed, 0, 9));
        digits[count] = 0;
        if (i % 3 == 0) { /* a tie or its neighbour: an odd multiple of 2^-17, its last digit moved */
            const uint64_t odd = (test_random(&seed) % 65536) * 2 + 1;
            snprintf(digits, sizeof digits, "%017" PRIu64,
                     odd * UINT64_C(762939453125) + test_random(&seed) % 3 - 1);
        }
        const uint32_t whole = (uint32_t)test_range(&seed, 0, 32766);
        snprintf(text, sizeof text, "%s%u.%s", i & 1 ? "-" : "", (unsigned)whole, digits);
        check_value(text, i & 1 ? -oracle(digits, whole) : oracle(digits, whole));
    }
}

/* The text reads back as the value, and no text with fewer decimals does. */
static void check_format(fix16_t value) {
    char text[PHX_FIX_TEXT], shorter[PHX_FIX_TEXT];
    const size_t length = phx_fix_format(value, text, sizeof text);
    CHECK(length == strlen(text) && length < PHX_FIX_TEXT);
    check_value(text, value);
    const char *point = strchr(text, '.');
    if (!point) return;
    const size_t decimals = length - (size_t)(point - text) - 1;
    CHECK_THAT(decimals >= 1 && decimals <= 5, "%s", text);
    /* Both neighbours of the value with one decimal less. */
    const uint64_t scale = (uint64_t[]){1, 10, 100, 1000, 10000}[decimals - 1];
    const uint64_t below = phx_abs64(value) * scale / 65536;
    for (uint64_t k = below; k <= below + 1; k++) {
        if (decimals == 1)
            snprintf(shorter, sizeof shorter, "%s%u", value < 0 ? "-" : "", (unsigned)k);
        else
            snprintf(shorter, sizeof shorter, "%s%u.%0*u", value < 0 ? "-" : "", (unsigned)(k / scale),
                     (int)decimals - 1, (unsigned)(k % scale));
        fix16_t back = 0;
        CHECK_THAT(parse(shorter, &back) != PHX_OK || back != value, "%s, but %s would do", text, shorter);
    }
}

PHX_TEST(math_text, format_is_the_shortest_that_reads_back) {
    for (int32_t fraction = -65536; fraction <= 65536; fraction++) {
        check_format(fraction);
        check_format(fraction + (fraction < 0 ? INT32_MIN + 65536 : INT32_MAX - 65536));
    }
    uint64_t seed = 3;
    const int count = getenv("PHX_LONG") ? 50000000 : 200000;
    for (int i = 0; i < count; i++) check_format((fix16_t)(uint32_t)test_random(&seed));
    char text[PHX_FIX_TEXT];
    const struct {
        fix16_t value;
        const char *text;
    } known[] = {{0, "0"},
                 {32768, "0.5"},
                 {-32768, "-0.5"},
                 {21845, "0.33333"},
                 {1, "0.00002"},
                 {655, "0.01"},
                 {INT32_MIN, "-32768"},
                 {INT32_MAX, "32767.99998"},
                 {-INT32_MAX, "-32767.99998"},
                 {6554, "0.1"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        CHECK_EQ(phx_fix_format(known[i].value, text, sizeof text), strlen(known[i].text));
        CHECK_STR(text, known[i].text);
    }
    char small[4] = "xyz";
    CHECK_EQ(phx_fix_format(INT32_MAX, small, sizeof small), 11);
    CHECK(small[0] == 0 && small[1] == 'y');
    CHECK_EQ(phx_fix_format(98304, small, sizeof small), 3);
    CHECK_STR(small, "1.5");
    CHECK_EQ(phx_fix_format(98304, NULL, 0), 3);
}
