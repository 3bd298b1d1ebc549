/* net_tree.c: the walk down a hash tree: it finds the cell in at most four round trips, and no forged answer
 * leads it astray or past a limit. And the majority that may blame. */
#include <stdlib.h>

#include "harness.h"
#include "lockstep/descent.h"

enum { COLUMNS = 5, SIDES = 3 };

/* A made-up state of one table: column c has cells[c] cells; side 1's value differs in a few. */
typedef struct Tree {
    uint64_t cells[COLUMNS];
    uint32_t column, cell; /* the lowest that differs */
    uint32_t more;         /* further cells of this and later columns that differ */
} Tree;

static uint64_t tree_value(const Tree *tree, uint32_t side, uint32_t column, uint64_t cell) {
    const uint64_t honest = cell * UINT64_C(0x9E3779B97F4A7C15) + column;
    if (side != 1 || column < tree->column) return honest;
    const uint64_t first = column == tree->column ? tree->cell : 0;
    const bool differs = cell >= first && (cell - first) % 97 == 0 && (cell - first) / 97 <= tree->more;
    return differs ? honest ^ 0x10 : honest;
}

static uint64_t tree_hash(const Tree *tree, uint32_t side, uint32_t column, uint64_t first, uint64_t count) {
    uint64_t hash = column;
    for (uint64_t i = first; i < first + count && i < tree->cells[column]; i++)
        hash = hash * UINT64_C(6364136223846793005) + tree_value(tree, side, column, i) + 1;
    return hash;
}

static uint32_t answer(const Tree *tree, uint32_t side, const PhxNetTreeQuestion *question, uint64_t *out) {
    uint32_t total = 0;
    if (question->level == PHX_NET_TREE_COLUMNS) {
        for (uint32_t c = 0; c < COLUMNS; c++) {
            out[total++] = tree_hash(tree, side, c, 0, tree->cells[c]);
            out[total++] = tree->cells[c];
        }
    } else if (question->level == PHX_NET_TREE_VALUES) {
        for (; total < question->count; total++)
            out[total] = tree_value(tree, side, question->column, (uint64_t)question->first + total);
    } else {
        for (uint64_t at = 0; at < question->count; at += question->span) {
            const uint64_t left = question->count - at;
            out[total++] = tree_hash(tree, side, question->column, question->first + at,
                                     left < question->span ? left : question->span);
        }
    }
    return total;
}

static bool give(PhxDescent *descent, uint32_t side, uint32_t total, const uint64_t *values) {
    uint8_t bytes[PHX_NET_HASH_BATCH * 8];
    uint32_t at = 0;
    do {
        const uint32_t part = total - at < PHX_NET_HASH_BATCH ? total - at : PHX_NET_HASH_BATCH;
        for (uint32_t i = 0; i < part; i++) phx_store_u64(bytes + (size_t)i * 8, values[at + i]);
        if (!phx_descent_answer(descent, side, descent->round, total, at, &(PhxU64s){bytes, part}))
            return false;
        at += part;
    } while (at < total);
    return true;
}

/* Plays a whole walk with `sides` sides; returns its rounds. */
static uint32_t walk(PhxDescent *descent, const Tree *tree) {
    static uint64_t values[PHX_NET_TREE_VALUES_MAX];
    uint32_t rounds = 0;
    phx_descent_begin(descent, 40, 0, 7);
    while (descent->asking) {
        const PhxNetTreeQuestion question = descent->question;
        CHECK(++rounds < 10);
        for (uint32_t side = SIDES; side-- > 0;) {
            CHECK(!phx_descent_complete(descent, 7));
            CHECK(give(descent, side, answer(tree, side, &question, values), values));
        }
        CHECK(phx_descent_complete(descent, 7));
        phx_descent_conclude(descent);
    }
    return rounds;
}

static void descent_create(PhxDescent *descent, PhxArena *arena) {
    *arena = phx_arena_measure();
    phx_descent_init(descent, SIDES, arena);
    CHECK_OK(phx_arena_create(arena, phx_allocator_default(), arena->used));
    phx_descent_init(descent, SIDES, arena);
}

PHX_TEST(tree, the_lowest_cell_that_differs_is_found_in_four_round_trips) {
    PhxArena arena;
    PhxDescent descent;
    uint64_t seed = 77;
    const uint64_t sizes[] = {1, 2, 511, 512, 513, 4096, 4097, 70000, 1 << 20, 1 << 24};
    descent_create(&descent, &arena);
    for (uint32_t i = 0; i < 3 * sizeof sizes / sizeof sizes[0]; i++) {
        const uint64_t size = sizes[i / 3];
        Tree tree = {.cells = {3, 3, size, size < 100000 ? size : 9, 1}, .column = 2, .more = i % 4};
        tree.cell = i % 3 == 0 ? 0 : i % 3 == 1 ? (uint32_t)size - 1 : (uint32_t)(test_random(&seed) % size);
        const uint32_t rounds = walk(&descent, &tree);
        CHECK_THAT(descent.column == 2 && descent.cell == tree.cell, "%" PRIu64 " cells: %u.%u, not 2.%u",
                   size, descent.column, descent.cell, tree.cell);
        CHECK_EQ(descent.value_mask, 7);
        CHECK(descent.value[0] == descent.value[2] && descent.value[1] == (descent.value[0] ^ 0x10));
        CHECK_EQ(rounds, size <= PHX_DESCENT_DIRECT_MAX ? 2 : 3); /* and one for the tables before */
    }
    /* Beyond the square of what an answer holds it takes one more. */
    const Tree wide = {.cells = {1, (1 << 24) + 4096, 1, 1, 1}, .column = 1, .cell = (1 << 24) + 1};
    CHECK_EQ(walk(&descent, &wide), 4);
    CHECK(descent.column == 1 && descent.cell == wide.cell);
    phx_arena_destroy(&arena);
}

PHX_TEST(tree, forged_and_missing_answers_end_the_walk_or_are_left_out) {
    PhxArena arena;
    PhxDescent descent;
    static uint64_t values[PHX_NET_TREE_VALUES_MAX + 1];
    const Tree tree = {.cells = {4, 9, 2, 1, 1}, .column = 1, .cell = 5};
    const uint8_t bytes[16] = {0};
    descent_create(&descent, &arena);
    /* Pieces that break the rules. */
    phx_descent_begin(&descent, 40, 0, 7);
    const uint8_t round = descent.round;
    CHECK(!phx_descent_answer(&descent, 0, round, PHX_NET_TREE_VALUES_MAX + 1, 0, &(PhxU64s){bytes, 1}));
    CHECK(!phx_descent_answer(&descent, 0, round, 4, 1, &(PhxU64s){bytes, 1})); /* not from the beginning */
    CHECK(!phx_descent_answer(&descent, 0, round, 1, 0, &(PhxU64s){bytes, 2})); /* more than it said */
    CHECK(!phx_descent_answer(&descent, 0, round, 4, 0, &(PhxU64s){bytes, 0})); /* nothing, again and again */
    CHECK(phx_descent_answer(&descent, 0, round, 4, 0, &(PhxU64s){bytes, 1}));
    CHECK(!phx_descent_answer(&descent, 0, round, 5, 1, &(PhxU64s){bytes, 1}));    /* another length */
    CHECK(!phx_descent_answer(&descent, 0, round, 4, 3, &(PhxU64s){bytes, 1}));    /* a gap */
    CHECK(phx_descent_answer(&descent, 0, round + 1, 1, 0, &(PhxU64s){bytes, 1})); /* passed over */
    CHECK(phx_descent_answer(&descent, 9, round, 1, 0, &(PhxU64s){bytes, 1}));
    CHECK(phx_descent_answer(&descent, 99, round, 1, 0, &(PhxU64s){bytes, 1}));
    /* A side without an answer is left out; one alone finds nothing. */
    phx_descent_begin(&descent, 40, 0, 7);
    CHECK(give(&descent, 0, 0, values));
    CHECK(!give(&descent, 0, 0, values)); /* twice */
    for (uint32_t side = 1; side < 3; side++)
        CHECK(give(&descent, side, answer(&tree, side, &descent.question, values), values));
    phx_descent_conclude(&descent);
    CHECK(descent.asking && descent.column == 1 && descent.question.count == 9);
    CHECK(give(&descent, 2, answer(&tree, 2, &descent.question, values), values));
    CHECK(!phx_descent_complete(&descent, 7) && phx_descent_complete(&descent, 4));
    phx_descent_conclude(&descent);
    CHECK(!descent.asking && descent.column == 1 && descent.cell == PHX_NET_NO_CELL);
    /* A forged number of cells: nothing, or far more than an answer holds. The walk ends in few rounds. */
    for (uint32_t k = 0; k < 4; k++) {
        const uint64_t claims[] = {0, UINT64_MAX, UINT32_MAX, UINT32_MAX - 1};
        phx_descent_begin(&descent, 40, 0, 7);
        for (uint32_t rounds = 0; descent.asking; rounds++) {
            CHECK(rounds < PHX_DESCENT_ROUNDS_MAX + 1);
            const PhxNetTreeQuestion question = descent.question;
            uint32_t total = question.level == PHX_NET_TREE_COLUMNS ? 2
                             : question.level == PHX_NET_TREE_VALUES
                                 ? question.count
                                 : (question.count - 1) / question.span + 1;
            CHECK(total <= PHX_NET_TREE_VALUES_MAX);
            for (uint32_t side = 0; side < 3; side++) {
                for (uint32_t i = 0; i < total; i++) values[i] = i == total / 2 ? side : 0;
                values[0] = question.level == PHX_NET_TREE_COLUMNS ? side : values[0];
                if (question.level == PHX_NET_TREE_COLUMNS) values[1] = claims[k];
                CHECK(give(&descent, side, total, values));
            }
            phx_descent_conclude(&descent);
        }
        CHECK_EQ(descent.column, 0);
        CHECK_EQ(descent.cell != PHX_NET_NO_CELL, k == 3);
    }
    phx_arena_destroy(&arena);
}

PHX_TEST(tree, only_more_than_half_of_all_sides_is_a_majority) {
    const struct {
        uint32_t mask;
        uint64_t roots[4], referee;
        uint32_t majority;
    } cases[] = {
        {3, {1, 2}, 0, 0},
        {3 | PHX_NET_REFEREE_BIT, {1, 2}, 2, 2 | PHX_NET_REFEREE_BIT},
        {3 | PHX_NET_REFEREE_BIT, {1, 2}, 3, 0},
        {7, {1, 2, 1}, 0, 5},
        {15, {1, 1, 2, 2}, 0, 0},
        {15, {1, 1, 2, 1}, 0, 11},
        {15 | PHX_NET_REFEREE_BIT, {1, 1, 2, 2}, 1, 3 | PHX_NET_REFEREE_BIT},
        {10, {7, 5, 7, 7}, 0, 0}, /* those that aren't in the mask don't vote */
        {1, {9}, 0, 1},
        {0, {0}, 0, 0},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        PhxNetEvent event = {.type = PHX_NET_EVENT_DESYNC, .mask = cases[i].mask};
        memcpy(event.root, cases[i].roots, sizeof cases[i].roots);
        event.root[PHX_NET_PLAYERS_MAX] = cases[i].referee;
        CHECK_THAT(phx_net_majority(&event) == cases[i].majority, "case %u", i);
    }
}
