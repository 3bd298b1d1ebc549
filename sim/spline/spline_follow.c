/* spline_follow.c: see spline.h: where followers begin, and where they are after an edit.
 *
 * An anchor holds what a follower's piece was made of. Where the same control points and knot differences are
 * there after the edit, the follower's length within its stretch is kept, and so every bit of its place; else
 * its parameter is, since an edit doesn't move parameters. Cost: a place; a measure of part of a stretch.
 * Determinism: integers; starts are a pure function of key and entity.
 */
#include <phalanx/rng.h>

#include "spline/spline_internal.h"

enum { PURPOSE_AT = 0x73706c61, PURPOSE_BACK = 0x73706c62, SHARE_BITS = 32 };

static bool is_piece(const PhxSpline *spline, uint32_t piece, const PhxSplineAnchor *anchor) {
    const uint32_t degree = spline->degree;
    if (degree != anchor->degree || piece < degree || piece >= spline->count) return false;
    for (uint32_t i = 0; i <= degree; i++) {
        const PhxSplinePoint a = spline->point[piece - degree + i], b = anchor->point[i];
        if (a.x != b.x || a.y != b.y || a.z != b.z) return false;
    }
    for (uint32_t i = 0; i < 2 * degree; i++)
        if (spline->knot[piece - degree + 1 + i] != anchor->knot[i]) return false;
    return true;
}

PhxSplineAnchor phx_spline_anchor(const PhxSplineLengths *lengths, const PhxSpline *spline, int64_t at) {
    const uint32_t degree = spline->degree;
    PhxSplineAnchor anchor = {.degree = degree};
    const PhxSplinePlace place = phx_spline_place(lengths, spline, at);
    uint32_t stretch = 0;
    const int64_t *begin = lengths->at + (size_t)(place.piece - lengths->first) * PHX_SPLINE_STRETCHES;
    while (stretch + 1 < PHX_SPLINE_STRETCHES && begin[stretch + 1] <= at) stretch++;
    anchor.u = place.u;
    anchor.stretch = stretch;
    anchor.left = at - begin[stretch];
    for (uint32_t i = 0; i <= degree; i++) anchor.point[i] = spline->point[place.piece - degree + i];
    for (uint32_t i = 0; i < 2 * degree; i++) anchor.knot[i] = spline->knot[place.piece - degree + 1 + i];
    return anchor;
}

int64_t phx_spline_anchor_find(const PhxSplineLengths *lengths, const PhxSpline *spline,
                               const PhxSplineAnchor *anchor) {
    const uint32_t same = phx_spline_piece(spline, anchor->knot[anchor->degree - 1], 0);
    if (is_piece(spline, same, anchor))
        return lengths->at[(size_t)(same - lengths->first) * PHX_SPLINE_STRETCHES + anchor->stretch] +
               anchor->left;
    const int64_t begin = (int64_t)phx_spline_begin(spline) * PHX_FIX_ONE,
                  end = (int64_t)phx_spline_end(spline) * PHX_FIX_ONE;
    const int64_t u = anchor->u < begin ? begin : anchor->u > end ? end : anchor->u;
    const fix16_t raw = (fix16_t)(u >= 0 ? u / PHX_FIX_ONE : -((-u + PHX_FIX_ONE - 1) / PHX_FIX_ONE));
    return phx_spline_length_at(lengths, spline, (PhxSplinePlace){phx_spline_piece(spline, raw, 0), u});
}

/* length * share / 2^32. */
static int64_t share_of(int64_t length, uint64_t share) {
    const uint64_t size = length > 0 ? (uint64_t)length : 0;
    return (int64_t)((size >> SHARE_BITS) * share + ((size & UINT32_MAX) * share >> SHARE_BITS));
}

static bool begins_backwards(PhxSplineMode mode, uint64_t key, uint64_t entity) {
    return mode == PHX_SPLINE_PING_PONG && phx_random(key, PURPOSE_BACK, entity, 0, 0) >> 63;
}

PhxSplineFollower phx_spline_start(const PhxSplineLengths *lengths, PhxSplineMode mode, uint64_t key,
                                   uint64_t entity) {
    const uint64_t share = phx_random(key, PURPOSE_AT, entity, 0, 0) >> (64 - SHARE_BITS);
    return (PhxSplineFollower){share_of(phx_spline_length(lengths), share),
                               begins_backwards(mode, key, entity)};
}

PhxSplineFollower phx_spline_start_spaced(const PhxSplineLengths *lengths, PhxSplineMode mode, uint64_t key,
                                          uint32_t index, uint32_t count, fix16_t scatter) {
    if (count == 0) return (PhxSplineFollower){0, false};
    const int64_t length = phx_spline_length(lengths), slot = length / count;
    const fix16_t part = scatter < 0 ? 0 : scatter > PHX_FIX_ONE ? PHX_FIX_ONE : scatter;
    const int64_t room = share_of(slot, (uint64_t)part << (SHARE_BITS - PHX_FIX_BITS));
    const uint64_t share = phx_random(key, PURPOSE_AT, index, 0, 0) >> (64 - SHARE_BITS);
    return (PhxSplineFollower){slot * (index % count) + share_of(room, share),
                               begins_backwards(mode, key, index)};
}
