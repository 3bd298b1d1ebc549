/* spline_rail.c: see spline_rail.h: a view by time.
 *
 * The length is speed times time, turned back or begun anew by phx_spline_follow, which a whole way is given
 * to at once: no view depends on the one before. Determinism: integers.
 */
#include <phalanx/spline_rail.h>
#include <phalanx/vec2.h>

enum { SECOND = 1000000, SPEED_MOST = 16384 * PHX_FIX_ONE, BITS = 30 };

PhxStatus phx_spline_rail_check(const PhxSplineRail *rail) {
    if (!rail->eye || !rail->eye_lengths || (rail->target && !rail->target_lengths) ||
        (unsigned)rail->mode > PHX_SPLINE_PING_PONG)
        return PHX_ERROR_ARGUMENT;
    if (rail->speed <= 0 || rail->speed > SPEED_MOST || rail->start < 0 ||
        rail->start > phx_spline_length(rail->eye_lengths))
        return PHX_ERROR_RANGE;
    return PHX_OK;
}

PhxSplineDir phx_spline_dir(const PhxSplineRate *vector) {
    const uint64_t x = phx_abs64(vector->x), y = phx_abs64(vector->y), z = phx_abs64(vector->z);
    const uint64_t size = x > y ? (x > z ? x : z) : y > z ? y : z;
    if (size == 0) return (PhxSplineDir){0, 0, 0};
    /* to 30 bits, so that the squares' sum fits with 2 bits more */
    const int shift = 64 - (int)phx_leading_zeros64(size) - BITS;
    int64_t v[3] = {vector->x, vector->y, vector->z};
    for (int i = 0; i < 3; i++)
        v[i] = shift > 0 ? phx_round_shift(v[i], (unsigned)shift) : v[i] * ((int64_t)1 << -shift);
    const uint64_t square = (uint64_t)(v[0] * v[0]) + (uint64_t)(v[1] * v[1]) + (uint64_t)(v[2] * v[2]);
    const int64_t length = (int64_t)phx_isqrt64(square << 2); /* Q1 */
    return (PhxSplineDir){(int32_t)phx_div_round(v[0] * ((int64_t)1 << (PHX_DIR_BITS + 1)), length),
                          (int32_t)phx_div_round(v[1] * ((int64_t)1 << (PHX_DIR_BITS + 1)), length),
                          (int32_t)phx_div_round(v[2] * ((int64_t)1 << (PHX_DIR_BITS + 1)), length)};
}

/* speed * time in Q24, whatever fits of it: speed < 2^31 raw, time < 2^42. */
static int64_t way_of(fix16_t speed, uint64_t time) {
    const uint64_t seconds = time / SECOND, rest = time % SECOND; /* 2^23, 2^20 */
    return (int64_t)(seconds * (uint64_t)speed * 256 + rest * (uint64_t)speed * 256 / SECOND);
}

static PhxSplinePoint point_at(const PhxSplineLengths *lengths, const PhxSpline *spline, int64_t length) {
    const PhxSplinePlace place = phx_spline_place(lengths, spline, length);
    return phx_spline_point_in(spline, place.piece, place.u);
}

/* Where the target is as the eye is at `at` of `whole`. */
static PhxSplinePoint target_at(const PhxSplineRail *rail, int64_t at, int64_t whole) {
    const int64_t length = phx_spline_length(rail->target_lengths);
    int64_t far = at, of = whole;
    while (of >= (int64_t)1 << 31) far >>= 1, of >>= 1;
    const int64_t part = of > 0 ? (far << 31) / of : 0; /* Q31 */
    const int64_t share = (length >> 31) * part + ((length & INT32_MAX) * part >> 31);
    return point_at(rail->target_lengths, rail->target, share);
}

static PhxSplineDir opposite(PhxSplineDir d) { return (PhxSplineDir){-d.x, -d.y, -d.z}; }

PhxSplineView phx_spline_rail_at(const PhxSplineRail *rail, uint64_t time) {
    PhxSplineFollower follower = {rail->start, false};
    const uint32_t events =
        phx_spline_follow(rail->eye_lengths, rail->mode, way_of(rail->speed, time), &follower);
    const PhxSplinePlace place = phx_spline_place(rail->eye_lengths, rail->eye, follower.at);
    const PhxSplineRate first = phx_spline_first_in(rail->eye, place.piece, place.u);
    PhxSplineView view = {.at = phx_spline_point_in(rail->eye, place.piece, place.u),
                          .along = phx_spline_dir(&first),
                          .length = follower.at,
                          .u = (fix16_t)(place.u >> PHX_FIX_BITS),
                          .backwards = follower.backwards,
                          .done = (events & PHX_SPLINE_DONE) != 0};
    if (view.backwards) view.along = opposite(view.along);
    view.look = view.along;
    if (rail->target) {
        const PhxSplinePoint to = target_at(rail, follower.at, phx_spline_length(rail->eye_lengths));
        const PhxSplineRate off = {(int64_t)to.x - view.at.x, (int64_t)to.y - view.at.y,
                                   (int64_t)to.z - view.at.z};
        if (off.x != 0 || off.y != 0 || off.z != 0) view.look = phx_spline_dir(&off);
    }
    if (view.look.x != 0 || view.look.y != 0) view.heading = phx_angle_of(view.look.x, view.look.y);
    return view;
}

uint64_t phx_spline_rail_time(const PhxSplineRail *rail) {
    const uint64_t length = (uint64_t)phx_spline_length(rail->eye_lengths),
                   speed = (uint64_t)rail->speed * 256;
    return length / speed * SECOND + length % speed * SECOND / speed;
}
