/* tables.h: the constant tables of the module, written by tools/trigtable (which proves the bounds that
 * trig.h states). phx_rsqrt_table is declared in phalanx/fixed.h, for the inlined kernels. 6 KiB in all.
 */
#ifndef PHX_MATH_TABLES_H
#define PHX_MATH_TABLES_H

#include <stdint.h>

enum {
    PHX_SINE_STEPS = 256, /* coarse steps of a quarter turn, each of 64 binary angles */
    PHX_SINE_FINE = 64,   /* binary angles of a coarse step */
    PHX_ATAN_STEPS = 256  /* steps of the ratio 0..1 */
};

/* sin(i * 90 / 256 degrees), Q31. */
extern const uint32_t phx_sine_coarse[PHX_SINE_STEPS + 1];
/* sin(b) in Q36 and 1 - cos(b) in Q46, for b = 0..63 binary angles. */
extern const uint32_t phx_sine_fine[PHX_SINE_FINE];
extern const uint32_t phx_versine_fine[PHX_SINE_FINE];
/* atan(i / 256) in binary angles, 16 fraction bits; the last entry repeats. */
extern const uint32_t phx_atan_table[PHX_ATAN_STEPS + 2];

#endif
