/* spline_detail.c: see spline_path.h: degree and spacing by the number of units. A pure function of it. */
#include <phalanx/spline_path.h>

static const struct {
    uint32_t units, degree, spacing;
} details[] = {{64, 3, 1}, {512, 3, 2}, {4096, 2, 4}, {UINT32_MAX, 1, 8}};

PhxSplineDetail phx_spline_detail(uint32_t units) {
    uint32_t i = 0;
    while (units > details[i].units) i++;
    return (PhxSplineDetail){details[i].degree, (fix16_t)(details[i].spacing * PHX_FIX_ONE)};
}

uint32_t phx_spline_samples(int64_t length, fix16_t spacing) {
    const int64_t step = (int64_t)spacing * (1 << 8); /* Q24 */
    if (length <= step || step <= 0) return 2;
    const int64_t steps = (length - 1) / step + 1;
    return steps < PHX_SPLINE_POINTS_MAX ? (uint32_t)steps + 1 : PHX_SPLINE_POINTS_MAX;
}
