/* formation_bend.c: see formation_bend.h: the distances of a formation by the bend of its way. */
#include <phalanx/formation_bend.h>

enum { MOST = 64 * PHX_FIX_ONE, SHARP = 4 * PHX_FIX_ONE };

static int64_t limited(int64_t v, int64_t most) { return v < 0 ? 0 : v > most ? most : v; }

fix16_t phx_formation_bend(uint32_t curvature, fix16_t speed, fix16_t width) {
    const int64_t k = limited(curvature, SHARP), v = limited(speed, MOST), w = limited(width, MOST);
    /* k w / 2 in Q32, no more than what opens to the most; 2^18 * 2^22 */
    const int64_t one = (int64_t)1 << 32, inner = limited(k * w / 2, one - one / 4);
    const int64_t opened = phx_div_round((one << 16), one - inner); /* Q16 */
    /* v^2 k / FORCE in Q32: 2^44 / 2^16 * 2^18 / 2^4 */
    const int64_t force =
        limited((v * v >> PHX_FIX_BITS) * k / (PHX_FORMATION_BEND_FORCE / PHX_FIX_ONE), one);
    const int64_t factor = PHX_FORMATION_BEND_TIGHT - PHX_FIX_ONE + opened + phx_round_shift(force, 18);
    return (fix16_t)limited(factor, PHX_FORMATION_BEND_OPEN);
}

fix16_t phx_formation_bend_gap(fix16_t gap, fix16_t diameter, fix16_t factor) {
    const int64_t g = limited(gap, MOST), d = limited(diameter, MOST),
                  f = limited(factor, PHX_FORMATION_BEND_OPEN);
    return (fix16_t)limited(phx_round_shift((g + d) * f, PHX_FIX_BITS) - d, 2 * MOST + MOST);
}
