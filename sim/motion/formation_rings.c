/* formation_rings.c: the slots of circles and of a game's own patterns.
 *
 * A circle is made of rings of one rank each, from inside out: the last rank fills the middle, and rank 0 is
 * outside. In: how many of each rank, their largest bodies. Out: slots. A ring is a gap away from the one
 * inside it, and wide enough that neighbours on it are a pitch apart. A rank takes as many rings as it needs
 * and shares its units among them by how many each can hold, so that none is thin. Cost: linear in the units;
 * a pattern: a look at each pair. Determinism: integers; angles are whole binary angles, and whether
 * neighbours are far enough apart is asked of the rounded positions themselves.
 */
#include "motion/formation_rows.h"

enum {
    FARTHEST = 4096 * PHX_FIX_ONE,
    TURN = 65536,
    RINGS = 64, /* of one rank; the n-th holds some six times as many as the first */
    PI_Q20 = 3294199,
    ROUNDING = 2 /* raw, that rounding to positions may take */
};

static PhxVec2 point_at(fix16_t distance, uint32_t i, uint32_t count) {
    const PhxAngle angle = (PhxAngle)((uint64_t)i * TURN / count);
    return phx_dir_scale(phx_dir_of_angle(angle), distance);
}

/* Whether neighbours of `count` on a ring are a pitch apart: the least angle between two is that of whole
 * parts, and rounding takes at most two raw. */
static bool holds(fix16_t distance, uint32_t count, fix16_t pitch) {
    if (count == 1) return true;
    const PhxVec2 first = {distance, 0};
    const PhxVec2 next = phx_dir_scale(phx_dir_of_angle((PhxAngle)(TURN / count)), distance);
    return phx_vec2_length(phx_vec2_sub(next, first)) >= (uint32_t)pitch + 4;
}

/* How many a ring holds: the circumference in pitches, less what the chord is shorter by. */
static uint32_t capacity_of(fix16_t distance, fix16_t pitch) {
    if (distance == 0) return 1;
    uint64_t count = ((uint64_t)distance * 2 * PI_Q20 >> 20) / (uint64_t)pitch;
    if (count > PHX_FORMATION_UNITS) count = PHX_FORMATION_UNITS;
    while (count > 1 && !holds(distance, (uint32_t)count, pitch)) count--;
    return count < 1 ? 1 : (uint32_t)count;
}

/* Rings of one rank around a disc of the radius *inner. */
typedef struct Rings {
    fix16_t distance[RINGS];
    uint32_t capacity[RINGS], count, room;
} Rings;

/* The narrowest first ring inside which there is nothing: one in the middle, else enough for two to fit. */
static bool add_rings(const PhxFormationRank *rank, fix16_t gap, int64_t *inner, Rings *rings) {
    rings->count = rings->room = 0;
    while (rings->room < rank->count && rings->count < RINGS) {
        const int64_t distance = *inner == 0 ? 0 : *inner + gap + rank->radius + ROUNDING;
        if (distance > FARTHEST) return false;
        rings->distance[rings->count] = (fix16_t)distance;
        rings->capacity[rings->count] = capacity_of((fix16_t)distance, rank->pitch);
        rings->room += rings->capacity[rings->count++];
        *inner = distance + rank->radius;
    }
    return rings->room >= rank->count;
}

/* Writes a rank's slots, its outermost ring first. */
static void fill_rings(const Rings *rings, const PhxFormationRank *rank, uint8_t number,
                       PhxFormationSlot *slots) {
    uint32_t left = rank->count, room = rings->room, filled = 0;
    for (uint32_t k = rings->count; k-- > 0;) {
        uint32_t count = (left * rings->capacity[k] + room - 1) / room;
        if (count > rings->capacity[k]) count = rings->capacity[k];
        for (uint32_t i = 0; i < count; i++)
            slots[filled++] =
                (PhxFormationSlot){point_at(rings->distance[k], i, count), rank->radius, number};
        left -= count;
        room -= rings->capacity[k];
    }
}

bool phx_formation_rings(const PhxFormationRank ranks[PHX_FORMATION_RANKS], fix16_t gap,
                         PhxFormationSlot *slots) {
    int64_t inner = 0;
    uint32_t after = 0; /* slots of the ranks from here on */
    for (uint32_t r = 0; r < PHX_FORMATION_RANKS; r++) after += ranks[r].count;
    for (uint32_t r = PHX_FORMATION_RANKS; r-- > 0;) {
        Rings rings;
        if (ranks[r].count == 0) continue;
        after -= ranks[r].count;
        if (!add_rings(&ranks[r], gap, &inner, &rings)) return false;
        fill_rings(&rings, &ranks[r], (uint8_t)r, slots + after);
    }
    return true;
}

static bool is_near(const PhxFormationSlot *slot) {
    return slot->at.x >= -FARTHEST && slot->at.x <= FARTHEST && slot->at.y >= -FARTHEST &&
           slot->at.y <= FARTHEST;
}

/* Whether a slot of the pattern is among the first of its rank; `number`: how many of it came before. */
static bool is_used(const PhxFormationSpec *spec, uint32_t i,
                    const PhxFormationRank ranks[PHX_FORMATION_RANKS], uint32_t seen[PHX_FORMATION_RANKS]) {
    const uint8_t rank = spec->pattern[i].rank;
    return rank < PHX_FORMATION_RANKS && seen[rank]++ < ranks[rank].count;
}

/* Slots are checked as they would be written, before any is. */
static PhxStatus check_pattern(const PhxFormationSpec *spec,
                               const PhxFormationRank ranks[PHX_FORMATION_RANKS]) {
    uint32_t seen[PHX_FORMATION_RANKS] = {0};
    for (uint32_t i = 0; i < spec->pattern_count; i++) {
        const PhxFormationSlot *one = &spec->pattern[i];
        if (!is_used(spec, i, ranks, seen)) continue;
        if (!is_near(one)) return PHX_ERROR_RANGE;
        uint32_t again[PHX_FORMATION_RANKS] = {0};
        for (uint32_t k = 0; k < i; k++) {
            const PhxFormationSlot *other = &spec->pattern[k];
            if (!is_used(spec, k, ranks, again)) continue;
            const int64_t apart = (int64_t)ranks[one->rank].radius + ranks[other->rank].radius;
            if (phx_vec2_distance_sq(one->at, other->at) < (uint64_t)(apart * apart)) return PHX_ERROR_RANGE;
        }
    }
    for (uint32_t r = 0; r < PHX_FORMATION_RANKS; r++)
        if (seen[r] < ranks[r].count) return PHX_ERROR_FULL;
    return PHX_OK;
}

PhxStatus phx_formation_pattern(const PhxFormationSpec *spec,
                                const PhxFormationRank ranks[PHX_FORMATION_RANKS], PhxFormationSlot *slots) {
    const PhxStatus status = check_pattern(spec, ranks);
    uint32_t filled = 0;
    if (status != PHX_OK) return status;
    for (uint32_t r = 0; r < PHX_FORMATION_RANKS; r++) {
        uint32_t left = ranks[r].count;
        for (uint32_t i = 0; i < spec->pattern_count && left > 0; i++) {
            if (spec->pattern[i].rank != r) continue;
            slots[filled++] = (PhxFormationSlot){spec->pattern[i].at, ranks[r].radius, (uint8_t)r};
            left--;
        }
    }
    return PHX_OK;
}
