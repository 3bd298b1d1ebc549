/* net_tree.h: how a desync is narrowed down to one value: questions about a state's hash tree.
 *
 * This library knows no tables. To it a state is a tree of four levels: tables, whose hashes are reported
 * after each tick; the columns of a table; the cells of a column, numbered from 0 (row by row, the lanes of a
 * row together); and a cell's value, 64 bits. After the first tick whose roots differ, the host asks every
 * side the same question at each level, takes the lowest place at which the answers differ, and goes down
 * from there: tables, columns, ranges of cells, values, a round trip each. A column of up to
 * PHX_NET_TREE_VALUES_MAX cells needs no ranges; one of more than its square (16 million) one round trip
 * more.
 *
 * The game answers from a state that it has kept; without an answer the walk ends at the level above.
 */
#ifndef PHALANX_NET_TREE_H
#define PHALANX_NET_TREE_H

#include <phalanx/net_limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PHX_NET_NO_COLUMN = 0xffff };
#define PHX_NET_NO_CELL UINT32_MAX

typedef enum PhxNetTreeLevel {
    PHX_NET_TREE_COLUMNS, /* two values for each column of `table`: its hash, and how many cells it has */
    PHX_NET_TREE_RANGES,  /* cells first .. first + count - 1 of `column`: a hash for each `span` of them, the
                             last of which may be shorter */
    PHX_NET_TREE_VALUES,  /* the same cells: each one's value */
    PHX_NET_TREE_LEVEL_COUNT
} PhxNetTreeLevel;

typedef struct PhxNetTreeQuestion {
    uint32_t tick; /* of the state after this tick */
    PhxNetTreeLevel level;
    uint16_t table, column;
    uint32_t first, count, span; /* count and span are at least 1 where the level uses them */
} PhxNetTreeQuestion;

/* What a side can say of its past states. All-null: nothing. Called within an update, report or poll of the
 * host or peer, on the caller's thread; the host or peer must not be called from inside. */
typedef struct PhxNetTree {
    void *user;
    /* Sides differ after `tick`: keep the states before and after it. Called before the first question. May
     * be null. */
    void (*keep)(void *user, uint32_t tick);
    /* How many values the answer has; 0: none can be given. The question comes from the network: table,
     * column and cells may be any. At most PHX_NET_TREE_VALUES_MAX are taken; an answer of more is none. */
    uint32_t (*size)(void *user, const PhxNetTreeQuestion *question);
    /* Values at, at + 1 .. at + count - 1 of that answer. */
    void (*values)(void *user, const PhxNetTreeQuestion *question, uint32_t at, uint32_t count,
                   uint64_t *out);

    /* For mending (PhxHostConfig.mend); may be null. At a host that is a referee: bytes of its state after
     * the tick that was kept, at most PHX_NET_STATE_MAX; 0: it can't be given. And its bytes at .. at + count
     * - 1. */
    uint32_t (*state_size)(void *user, uint32_t tick);
    void (*state_read)(void *user, uint32_t tick, uint32_t at, uint32_t count, uint8_t *out);
    /* At a peer that differs: the same bytes, piece by piece, in order. With the last one the game goes over
     * to that state and computes again, from the commands, the ticks that it has executed since; true: done,
     * and the hashes of all ticks that it executes from now on are right. */
    bool (*state_take)(void *user, uint32_t tick, uint32_t total, uint32_t at, const uint8_t *bytes,
                       uint32_t count);
} PhxNetTree;

#ifdef __cplusplus
}
#endif
#endif
