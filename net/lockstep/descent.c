/* descent.c: see descent.h. */
#include "lockstep/descent.h"

#include <string.h>

void phx_descent_init(PhxDescent *descent, uint32_t players, PhxArena *arena) {
    *descent = (PhxDescent){.side_rows = players + 1};
    descent->values = PHX_ARENA_ARRAY(arena, uint64_t, (size_t)descent->side_rows * PHX_NET_TREE_VALUES_MAX);
}

/* The referee's row is the last. */
static uint64_t *row_of(const PhxDescent *descent, uint32_t side) {
    const uint32_t row = side == PHX_AGREEMENT_REFEREE ? descent->side_rows - 1 : side;
    return descent->values + (size_t)row * PHX_NET_TREE_VALUES_MAX;
}

static void ask(PhxDescent *descent, PhxNetTreeQuestion question) {
    descent->asking = true;
    descent->round++;
    descent->question = question;
    descent->answered = 0;
    memset(descent->totals, 0, sizeof descent->totals);
    memset(descent->received, 0, sizeof descent->received);
}

void phx_descent_begin(PhxDescent *descent, uint32_t tick, uint16_t table, uint32_t sides) {
    descent->round = 0;
    descent->asked = sides;
    descent->column = PHX_NET_NO_COLUMN;
    descent->cell = PHX_NET_NO_CELL;
    descent->value_mask = 0;
    ask(descent, (PhxNetTreeQuestion){.tick = tick, .level = PHX_NET_TREE_COLUMNS, .table = table});
}

bool phx_descent_answer(PhxDescent *descent, uint32_t side, uint8_t round, uint32_t total, uint32_t at,
                        const PhxU64s *values) {
    if (!descent->asking || round != descent->round || side >= PHX_AGREEMENT_SIDES) return true;
    if (!(descent->asked >> side & 1)) return true;
    if (descent->answered >> side & 1 || total > PHX_NET_TREE_VALUES_MAX) return false;
    if (at != descent->received[side] || (at != 0 && total != descent->totals[side])) return false;
    if (values->count > total - at || (values->count == 0 && total != 0)) return false;
    descent->totals[side] = total;
    for (uint32_t i = 0; i < values->count; i++) row_of(descent, side)[at + i] = phx_wire_u64_at(values, i);
    descent->received[side] += values->count;
    if (descent->received[side] == total) descent->answered |= UINT32_C(1) << side;
    return true;
}

bool phx_descent_complete(const PhxDescent *descent, uint32_t there) {
    return (descent->asked & there & ~descent->answered) == 0;
}

/* Sides whose answers can be compared: whole, and as long as that of the lowest side. */
static uint32_t comparable(const PhxDescent *descent, uint32_t *total) {
    uint32_t mask = 0;
    *total = 0;
    for (uint32_t side = 0; side < PHX_AGREEMENT_SIDES; side++) {
        if (!(descent->answered >> side & 1) || descent->totals[side] == 0) continue;
        if (mask == 0) *total = descent->totals[side];
        if (descent->totals[side] == *total) mask |= UINT32_C(1) << side;
    }
    return mask;
}

/* The lowest of values 0, step, 2 * step .. at which two sides differ; `total` where there is none. */
static uint32_t lowest_difference(const PhxDescent *descent, uint32_t mask, uint32_t total, uint32_t step) {
    for (uint32_t i = 0; i < total; i += step) {
        const uint64_t *first = NULL;
        for (uint32_t side = 0; side < PHX_AGREEMENT_SIDES; side++) {
            if (!(mask >> side & 1)) continue;
            const uint64_t *value = row_of(descent, side) + i;
            if (!first) first = value;
            if (*value != *first) return i;
        }
    }
    return total;
}

static uint32_t square_root(uint32_t n) {
    uint32_t root = 0;
    while ((uint64_t)(root + 1) * (root + 1) <= n) root++;
    return root;
}

/* Goes on with some cells of the column: with their values where those are few enough for one round. */
static void ask_cells(PhxDescent *descent, uint32_t first, uint32_t count) {
    PhxNetTreeQuestion next = descent->question;
    next.column = descent->column;
    next.first = first;
    next.count = count;
    next.span = 1;
    next.level = PHX_NET_TREE_VALUES;
    const bool few = next.count <= PHX_DESCENT_DIRECT_MAX ||
                     (descent->question.level == PHX_NET_TREE_RANGES && count <= PHX_NET_TREE_VALUES_MAX);
    if (!few) {
        const uint32_t least = (count - 1) / PHX_NET_TREE_VALUES_MAX + 1, root = square_root(count);
        next.level = PHX_NET_TREE_RANGES;
        next.span = root > least ? root : least;
    }
    ask(descent, next);
}

static void take_value(PhxDescent *descent, uint32_t mask, uint32_t i) {
    descent->cell = descent->question.first + i;
    descent->value_mask = mask;
    for (uint32_t side = 0; side < PHX_AGREEMENT_SIDES; side++)
        if (mask >> side & 1) descent->value[side] = row_of(descent, side)[i];
}

/* How many values the question's answer must have, for cells. */
static uint32_t expected(const PhxNetTreeQuestion *question) {
    if (question->level == PHX_NET_TREE_VALUES) return question->count;
    return (question->count - 1) / question->span + 1;
}

void phx_descent_conclude(PhxDescent *descent) {
    const PhxNetTreeQuestion question = descent->question;
    const bool columns = question.level == PHX_NET_TREE_COLUMNS;
    uint32_t total;
    const uint32_t mask = comparable(descent, &total);
    descent->asking = false;
    if (columns ? total % 2 != 0 : total != expected(&question)) return;
    const uint32_t found = lowest_difference(descent, mask, total, columns ? 2 : 1);
    if (found == total || descent->round >= PHX_DESCENT_ROUNDS_MAX) return;
    if (columns) {
        uint64_t cells = 0;
        for (uint32_t side = PHX_AGREEMENT_SIDES; side-- > 0;)
            if (mask >> side & 1) cells = row_of(descent, side)[found + 1];
        descent->column = (uint16_t)(found / 2);
        if (cells > 0 && cells < PHX_NET_NO_CELL) ask_cells(descent, 0, (uint32_t)cells);
    } else if (question.level == PHX_NET_TREE_RANGES) {
        const uint32_t first = found * question.span, left = question.count - first;
        ask_cells(descent, question.first + first, left < question.span ? left : question.span);
    } else {
        take_value(descent, mask, found);
    }
}
