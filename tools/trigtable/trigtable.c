/* trigtable.c: writes sim/math/tables.c, and proves the error bounds that the headers state.
 *
 *   trigtable            prints the tables as C source
 *   trigtable --check    compares the tables that are linked in with what it would print, and proves the
 *                        bounds over all inputs; exit 0, or 1 with the first fault
 *
 * This program alone may use floating point (long double, 64 bits of mantissa or more); the simulation
 * never sees it, only the committed integers. Each value is the nearest integer of one that is known to
 * 2^-20 of a unit or better, so that any libm prints the same file.
 */
#include <math.h>
#include <phalanx/fixed.h>
#include <phalanx/trig.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "math/tables.h"

static const long double turn = 6.283185307179586476925286766559005768L;

static uint32_t nearest(long double value) { return (uint32_t)floorl(value + 0.5L); }
static long double radians(int binary_angle) { return turn * (long double)binary_angle / 65536; }

static uint32_t sine_coarse(int i) { return nearest(ldexpl(sinl(radians(i * PHX_SINE_FINE)), 31)); }
static uint32_t sine_fine(int i) { return nearest(ldexpl(sinl(radians(i)), 36)); }
static uint32_t versine_fine(int i) {
    const long double half = sinl(radians(i) / 2); /* 1 - cos b = 2 sin^2(b / 2), without cancellation */
    return nearest(ldexpl(2 * half * half, 46));
}
static uint32_t atan_entry(int i) {
    const long double ratio = (long double)(i < PHX_ATAN_STEPS ? i : PHX_ATAN_STEPS) / PHX_ATAN_STEPS;
    return nearest(ldexpl(atanl(ratio) * 65536 / turn, 16));
}
/* The tangent of 1/sqrt in the bucket [i, i+1) / 512, at the point where its relative error at both ends is
 * equal: y (3 - x y^2) / 2, which is Newton's step from y. `a` is rounded down by 2 more units, for what the
 * kernel cuts off the product, and `b` up, so that the line stays below. */
static long double tangent_value(int i) {
    const long double low = 1 / sqrtl((i + 128) / 512.0L), high = 1 / sqrtl((i + 129) / 512.0L);
    return 2 * low * high / (low + high);
}
static uint32_t rsqrt_entry(int i) {
    const long double y = tangent_value(i / 2);
    return i % 2 == 0 ? (uint32_t)floorl(ldexpl(1.5L * y, 28)) - 2
                      : (uint32_t)ceill(ldexpl(y * y * y / 2, 28));
}

typedef struct Table {
    const char *declaration;
    int count, per_line; /* numbers in all, numbers a line */
    uint32_t (*entry)(int i);
    const uint32_t *linked;
} Table;

static const Table tables[] = {
    {"const uint32_t phx_sine_coarse[PHX_SINE_STEPS + 1]", PHX_SINE_STEPS + 1, 8, sine_coarse,
     phx_sine_coarse},
    {"const uint32_t phx_sine_fine[PHX_SINE_FINE]", PHX_SINE_FINE, 8, sine_fine, phx_sine_fine},
    {"const uint32_t phx_versine_fine[PHX_SINE_FINE]", PHX_SINE_FINE, 8, versine_fine, phx_versine_fine},
    {"const uint32_t phx_atan_table[PHX_ATAN_STEPS + 2]", PHX_ATAN_STEPS + 2, 8, atan_entry, phx_atan_table},
    {"const PhxRsqrtLine phx_rsqrt_table[PHX_RSQRT_TABLE_SIZE]", 2 * PHX_RSQRT_TABLE_SIZE, 8, rsqrt_entry,
     &phx_rsqrt_table[0].a},
};
enum { TABLE_COUNT = sizeof tables / sizeof tables[0] };

/* A number of a table of structures of two stands in braces with its neighbour. */
static void print_tables(void) {
    printf("/* tables.c: written by tools/trigtable; don't edit. What the tables hold is said in "
           "math/tables.h. */\n"
           "#include \"math/tables.h\"\n\n#include <phalanx/fixed.h>\n\n/* clang-format off */\n");
    for (int t = 0; t < TABLE_COUNT; t++) {
        const Table *table = &tables[t];
        const bool pairs = table->entry == rsqrt_entry;
        printf("%s = {\n", table->declaration);
        for (int i = 0; i < table->count; i++)
            printf("%s%s%10u%s,%s", i % table->per_line == 0 ? "    " : " ", pairs && i % 2 == 0 ? "{" : "",
                   (unsigned)table->entry(i), pairs && i % 2 == 1 ? "}" : "",
                   i % table->per_line == table->per_line - 1 || i == table->count - 1 ? "\n" : "");
        printf("};\n");
    }
    printf("/* clang-format on */\n");
}

static int check_tables(void) {
    for (int t = 0; t < TABLE_COUNT; t++)
        for (int i = 0; i < tables[t].count; i++) {
            const uint32_t linked = tables[t].linked[i];
            if (linked == tables[t].entry(i)) continue;
            fprintf(stderr, "%s: entry %d is %u, not %u\n", tables[t].declaration, i, (unsigned)linked,
                    (unsigned)tables[t].entry(i));
            return 1;
        }
    return 0;
}

/* Over all angles: the largest error of the sine in units of 2^-30. */
static int check_sine(void) {
    long double worst = 0;
    for (int a = 0; a < 65536; a++) {
        const long double error = fabsl(phx_sin((PhxAngle)a) - ldexpl(sinl(radians(a)), 30));
        if (error > worst) worst = error;
    }
    fprintf(stderr, "sine: %.4Lf units of 2^-30 at most\n", worst);
    return worst > 0.76L;
}

/* Each of the 2^24 + 1 ratios that the kernel can form is tried. A vector's own ratio lies above the one
 * formed by less than 2^-24, and 2^-38 where the components were shortened: 0.0007 binary angles more. */
static int check_arctangent(void) {
    long double worst = 0;
    for (int64_t y = 0; y <= (int64_t)1 << 24; y++) {
        const long double truth = atanl(ldexpl((long double)y, -24)) * 65536 / turn;
        const long double error = fabsl(phx_angle_of((int64_t)1 << 24, y) - truth);
        if (error > worst) worst = error;
    }
    worst += 0.0007L;
    fprintf(stderr, "arctangent: %.4Lf binary angles at most, with the rounding\n", worst);
    return worst > 0.52L;
}

/* Within a bucket the line's error is largest at its ends and the step's cutting errors are bounded by its
 * constants; the ends are tried, and samples between. */
static int check_rsqrt(void) {
    long double worst = 0, worst_units = 0;
    for (uint64_t bucket = 128; bucket < 512; bucket++)
        for (uint64_t part = 0; part <= 4096; part++) {
            const uint64_t first = bucket << 55, span = ((uint64_t)1 << 55) - 1;
            const uint64_t n = first + (part == 4096 ? span : span / 4096 * part);
            const long double truth = ldexpl(1, 32) / sqrtl((long double)n);
            const long double estimate = ldexpl((long double)phx_rsqrt_estimate(n), -20);
            const long double units = ldexpl(truth, 32) - (long double)phx_rsqrt(n);
            if (estimate > truth || units <= 0)
                return fprintf(stderr, "rsqrt: above the truth at %llu\n", (unsigned long long)n), 1;
            if ((truth - estimate) / truth > worst) worst = (truth - estimate) / truth;
            if (units > worst_units) worst_units = units;
        }
    fprintf(stderr, "rsqrt: estimate 2^%.3Lf, then %.3Lf units of 2^-32 at most\n", log2l(worst),
            worst_units);
    return worst > ldexpl(1, -17) || worst_units > 1.8L;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--check") == 0)
        return check_tables() || check_sine() || check_arctangent() || check_rsqrt();
    if (argc != 1) return fprintf(stderr, "usage: trigtable [--check]\n"), 2;
    print_tables();
    return 0;
}
