/* assign.c: who takes which slot: checks, the order of ids, ranks one by one.
 *
 * See <phalanx/assign.h> for what goes in and out, and for the tie rule. Cost: a sort of the ids where they
 * don't ascend, and the solvers' (assign_exact.c; assign_cells.c, assign_halves.c and assign_cycles.c).
 *
 * Determinism: integers, serial. The order of the ids within each rank is total, and solvers see no other.
 */
#include "base/arena.h"
#include "base/assert.h"
#include "base/sort.h"
#include "motion/assign_parts.h"

enum { POSITION_MAX = 8192 << 16 };

/* A unit or slot: its rank and id, and which one of the caller's it is. */
typedef struct Key {
    uint64_t value; /* rank, then id */
    uint32_t index;
} Key;

struct PhxAssignWork {
    Key units[PHX_ASSIGN_UNITS], slots[PHX_ASSIGN_SLOTS];
    PhxVec2 unit_at[PHX_ASSIGN_UNITS], slot_at[PHX_ASSIGN_SLOTS];
    uint16_t slot_of[PHX_ASSIGN_UNITS];
    union {
        PhxAssignExact exact;
        PhxAssignNear near;
    } solver;
};

PhxAssignWork *phx_assign_layout(PhxArena *arena) { return PHX_ARENA_ARRAY(arena, PhxAssignWork, 1); }

static bool key_less(const Key *a, const Key *b) {
    return a->value != b->value ? a->value < b->value : a->index < b->index;
}

PHX_DEFINE_SORT(sort_keys, Key, key_less)

/* Fills `keys` in ascending order. False for a position outside of the world or an id that comes twice. */
static bool list_keys(const PhxAssignSet *set, Key *keys) {
    bool ascending = true;
    for (uint32_t i = 0; i < set->count; i++) {
        const PhxVec2 at = set->at[i];
        if (at.x < -POSITION_MAX || at.x > POSITION_MAX || at.y < -POSITION_MAX || at.y > POSITION_MAX)
            return false;
        keys[i] =
            (Key){(uint64_t)(set->rank ? set->rank[i] : 0) << 32 | (set->id ? set->id[i] : i), .index = i};
        ascending = ascending && (i == 0 || keys[i - 1].value < keys[i].value);
    }
    if (ascending) return true;
    sort_keys(keys, set->count);
    for (uint32_t i = 1; i < set->count; i++)
        if (keys[i - 1].value == keys[i].value) return false;
    return true;
}

/* The end of the rank that begins at `begin`. */
static uint32_t rank_end(const Key *keys, uint32_t count, uint32_t begin) {
    uint32_t end = begin;
    while (end < count && keys[end].value >> 32 == keys[begin].value >> 32) end++;
    return end;
}

/* The rank's slots, as a range; empty where it has none. */
static void find_rank(const Key *keys, uint32_t count, uint64_t rank, uint32_t *begin, uint32_t *end) {
    *begin = 0;
    while (*begin < count && keys[*begin].value >> 32 < rank) ++*begin;
    *end = *begin;
    while (*end < count && keys[*end].value >> 32 == rank) ++*end;
}

static bool ranks_fit(const PhxAssignWork *work, uint32_t units, uint32_t slots) {
    for (uint32_t begin = 0, end; begin < units; begin = end) {
        uint32_t first, last;
        end = rank_end(work->units, units, begin);
        find_rank(work->slots, slots, work->units[begin].value >> 32, &first, &last);
        if (last - first < end - begin) return false;
    }
    return true;
}

typedef struct Box {
    int32_t low_x, low_y, high_x, high_y;
} Box;

static void enclose(Box *box, const PhxAssignSet *set, const Key *keys, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const PhxVec2 at = set->at[keys[i].index];
        if (at.x < box->low_x) box->low_x = at.x;
        if (at.y < box->low_y) box->low_y = at.y;
        if (at.x > box->high_x) box->high_x = at.x;
        if (at.y > box->high_y) box->high_y = at.y;
    }
}

/* Coordinates from the box's low corner on, in steps of 2^shift raw units, rounded down: a step less at most,
 * for all alike. */
static void place(PhxVec2 *out, const Box *box, uint32_t shift, const PhxAssignSet *set, const Key *keys,
                  uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const PhxVec2 at = set->at[keys[i].index];
        out[i].x = (int32_t)(((uint32_t)at.x - (uint32_t)box->low_x) >> shift);
        out[i].y = (int32_t)(((uint32_t)at.y - (uint32_t)box->low_y) >> shift);
    }
}

static void solve_part(PhxAssignWork *work, const PhxAssignPart *part) {
    if (part->n <= PHX_ASSIGN_EXACT) {
        phx_assign_exact(&work->solver.exact, part);
    } else {
        phx_assign_link(&work->solver.near, part);
        phx_assign_halves(&work->solver.near, part);
        phx_assign_cycles(&work->solver.near, part);
    }
}

PhxStatus phx_assign_solve(PhxAssignWork *work, const PhxAssignSet *units, const PhxAssignSet *slots,
                           uint32_t *slot_of) {
    if (units->count > PHX_ASSIGN_UNITS || slots->count > PHX_ASSIGN_SLOTS) return PHX_ERROR_LIMIT;
    if (units->count == 0 || !list_keys(units, work->units) || !list_keys(slots, work->slots))
        return PHX_ERROR_ARGUMENT;
    if (!ranks_fit(work, units->count, slots->count)) return PHX_ERROR_FULL;
    for (uint32_t begin = 0, end; begin < units->count; begin = end) {
        uint32_t first, last;
        end = rank_end(work->units, units->count, begin);
        find_rank(work->slots, slots->count, work->units[begin].value >> 32, &first, &last);
        const PhxAssignPart part = {end - begin, last - first, work->unit_at, work->slot_at, work->slot_of};
        Box box = {INT32_MAX, INT32_MAX, INT32_MIN, INT32_MIN};
        enclose(&box, units, work->units + begin, part.n);
        enclose(&box, slots, work->slots + first, part.m);
        const uint32_t bits = part.n <= PHX_ASSIGN_EXACT ? PHX_ASSIGN_EXACT_BITS : PHX_ASSIGN_NEAR_BITS;
        const uint32_t wide = (uint32_t)box.high_x - (uint32_t)box.low_x,
                       high = (uint32_t)box.high_y - (uint32_t)box.low_y;
        uint32_t shift = 0;
        while ((wide | high) >> shift >> bits) shift++;
        place(work->unit_at, &box, shift, units, work->units + begin, part.n);
        place(work->slot_at, &box, shift, slots, work->slots + first, part.m);
        solve_part(work, &part);
        for (uint32_t i = 0; i < part.n; i++)
            slot_of[work->units[begin + i].index] = work->slots[first + work->slot_of[i]].index;
    }
    return PHX_OK;
}
