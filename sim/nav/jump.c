/* jump.c: which nodes a search reaches from one by jumping, where all passable cells cost the same.
 *
 * In: a node, and the straight directions in which best paths arrive at it. Out: the next nodes: cells where
 * a path may have to turn around a wall, and the goal. Source: Harabor, Grastien, Online Graph Pruning for
 * Pathfinding on Grid Maps, 2011, in the form that doesn't cut corners (as field_front.c, which gives the
 * proof that a best path is left), and Improving Jump Point Search, 2014: lines are looked at 64 cells at a
 * time (section 3), and of a path that turns from a diagonal into a straight line the turn is no node
 * (section 5: the pruning of intermediate points).
 *
 * Straight on: along a line a path has to stop only where a wall beside it ends: in the first cell whose side
 * is open while the one before had a wall there. In words of a line and of the two beside it (a bit set is a
 * wall), those are the bits of ~side & (side << 1). Diagonally: from each cell of the diagonal both straight
 * directions are looked along; the words of the next row and column are read once for each cell. A node's
 * parent is so a diagonal and a straight piece away, in this order.
 *
 * Paths of one cost that arrive in several directions count all, even when the node was expanded before;
 * then what the others leave unfollowed is followed.
 *
 * Cost: some 5 ns for each line looked along up to 63 cells. Determinism: a pure function of the boards; the
 * directions are followed in a fixed order.
 */
#include "base/bitset.h"
#include "base/prefetch.h"
#include "nav/astar.h"

/* For a function whose flags are constants where it is called: it is made once for each. */
#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

enum { REACH = 63, TOP = 63 }; /* cells that a window looks ahead; its highest bit */

/* How many cells from bit `at` of a line on, ahead or back, the next stop lies; 0 if a wall comes first. */
INLINE uint32_t look_along(const uint64_t *line, uint32_t stride, uint32_t at, uint32_t goal, bool ahead) {
    for (uint32_t far = 0;; far += REACH) {
        const uint32_t from = ahead ? at + far : at - far - REACH;
        const uint64_t middle = phx_path_window(line, from), left = phx_path_window(line - stride, from),
                       right = phx_path_window(line + stride, from);
        const uint64_t ends =
            ahead ? (~left & left << 1) | (~right & right << 1) : (~left & left >> 1) | (~right & right >> 1);
        uint64_t stops = (middle | ends) & ~(ahead ? (uint64_t)1 : (uint64_t)1 << TOP);
        const uint32_t to_goal = ahead ? goal - from : at - far - goal;
        if (PHX_UNLIKELY(to_goal - 1 < REACH)) stops |= (uint64_t)1 << (ahead ? to_goal : TOP - to_goal);
        if (!stops) continue;
        const unsigned bit = ahead ? phx_bit_lowest(stops) : TOP - phx_leading_zeros64(stops);
        return (far + (ahead ? bit : TOP - bit)) * (uint32_t)(~middle >> bit & 1);
    }
}

/* One line along x (a row) or y (a column). The goal's bit is 0, a bit of the rim, where it isn't on the
 * line. */
INLINE uint32_t look_row(const PhxPathSearch *search, int32_t x, int32_t y, bool east) {
    const PhxPathBoard *rows = &search->ground->rows;
    const uint32_t goal = y == search->goal_y ? (uint32_t)search->goal_x + PHX_PATH_RIM : 0;
    return look_along(phx_path_line(rows, y), rows->stride, (uint32_t)x + PHX_PATH_RIM, goal, east);
}
INLINE uint32_t look_column(const PhxPathSearch *search, int32_t x, int32_t y, bool south) {
    const PhxPathBoard *columns = &search->ground->columns;
    const uint32_t goal = x == search->goal_x ? (uint32_t)search->goal_y + PHX_PATH_RIM : 0;
    return look_along(phx_path_line(columns, x), columns->stride, (uint32_t)y + PHX_PATH_RIM, goal, south);
}

/* The node that a path begins at, and how far it has come. */
typedef struct From {
    uint32_t index;
    int32_t x, y;
    uint64_t g;
} From;

/* What was found from a node. It's collected first and reached afterwards, in the same order: meanwhile the
 * memory of what is known of these cells comes near. */
typedef struct Target {
    uint64_t g;
    int32_t x, y;
    uint32_t arrived;
} Target;
enum { TARGETS = 64 };
typedef struct Found {
    PhxPathSearch *search;
    uint32_t index, count;
    Target target[TARGETS];
} Found;

static void reach_all(Found *found) {
    PhxPathSearch *search = found->search;
    for (uint32_t i = 0; i < found->count; i++) {
        const Target *to = &found->target[i];
        PHX_PREFETCH(&search->node[search->slot[(uint32_t)to->y * search->width + (uint32_t)to->x]]);
    }
    for (uint32_t i = 0; i < found->count; i++) {
        const Target *to = &found->target[i];
        phx_astar_reach(search, found->index, to->x, to->y, to->g, (uint8_t)to->arrived);
    }
    found->count = 0;
}

/* Notes a target `far` cells on, if that isn't 0; without a branch, as there's no telling which. */
INLINE void note(Found *found, int32_t x, int32_t y, uint64_t g, uint32_t arrived, uint32_t far) {
    PHX_PREFETCH(&found->search->slot[(uint32_t)y * found->search->width + (uint32_t)x]);
    found->target[found->count] = (Target){g, x, y, arrived};
    found->count += far != 0;
}

INLINE void go_along_row(Found *found, From from, bool east) {
    const uint32_t far = look_row(found->search, from.x, from.y, east);
    note(found, from.x + (east ? (int32_t)far : -(int32_t)far), from.y, from.g + PHX_PATH_STRAIGHT * far,
         east ? 1 : 16, far);
}
INLINE void go_along_column(Found *found, From from, bool south) {
    const uint32_t far = look_column(found->search, from.x, from.y, south);
    note(found, from.x, from.y + (south ? (int32_t)far : -(int32_t)far), from.g + PHX_PATH_STRAIGHT * far,
         south ? 4 : 64, far);
}

/* Three neighbouring lines, as windows from the cell on where a diagonal began: bit k (or TOP - k, looking
 * back) is k cells on. */
typedef struct Band {
    uint64_t before, at, behind;
} Band;

INLINE uint64_t bit_of(uint32_t k, bool ahead) { return (uint64_t)1 << (ahead ? k : TOP - k); }
/* The next stop behind cell k: how many cells from cell 0; 0: a wall comes first; REACH + 1: none so far. */
INLINE uint32_t next_stop(const Band *band, uint32_t k, int64_t goal, bool ahead) {
    const uint64_t left = band->before, right = band->behind;
    const uint64_t ends =
        ahead ? (~left & left << 1) | (~right & right << 1) : (~left & left >> 1) | (~right & right >> 1);
    uint64_t stops = (band->at | ends) & (ahead ? ~(uint64_t)0 << (k + 1) : ~(uint64_t)0 >> (k + 1));
    if (PHX_UNLIKELY(goal > k && goal <= REACH)) stops |= bit_of((uint32_t)goal, ahead);
    if (!stops) return REACH + 1;
    const unsigned bit = ahead ? phx_bit_lowest(stops) : TOP - phx_leading_zeros64(stops);
    return (ahead ? bit : TOP - bit) * (uint32_t)(~band->at >> bit & 1);
}

/* From cell k of a diagonal's block along its row and column. */
INLINE void turn_into_row(Found *found, const From *block, uint32_t k, const Band *band, int64_t goal,
                          bool east, bool south) {
    const PhxPathSearch *search = found->search;
    const int32_t y = block->y + (south ? (int32_t)k : -(int32_t)k);
    uint32_t far = next_stop(band, k, y == search->goal_y ? goal : 0, east);
    if (far > REACH) {
        const uint32_t more = look_row(search, block->x + (east ? REACH : -REACH), y, east);
        far = more ? REACH + more : 0;
    }
    const uint64_t g = block->g + PHX_PATH_DIAGONAL * k + PHX_PATH_STRAIGHT * (far - k);
    note(found, block->x + (east ? (int32_t)far : -(int32_t)far), y, g, east ? 1 : 16, far);
}
INLINE void turn_into_column(Found *found, const From *block, uint32_t k, const Band *band, int64_t goal,
                             bool east, bool south) {
    const PhxPathSearch *search = found->search;
    const int32_t x = block->x + (east ? (int32_t)k : -(int32_t)k);
    uint32_t far = next_stop(band, k, x == search->goal_x ? goal : 0, south);
    if (far > REACH) {
        const uint32_t more = look_column(search, x, block->y + (south ? REACH : -REACH), south);
        far = more ? REACH + more : 0;
    }
    const uint64_t g = block->g + PHX_PATH_DIAGONAL * k + PHX_PATH_STRAIGHT * (far - k);
    note(found, x, block->y + (south ? (int32_t)far : -(int32_t)far), g, south ? 4 : 64, far);
}

/* Up to REACH - 1 cells of a diagonal from a block's beginning on. False: it ended. */
INLINE bool go_block(Found *found, const From *block, bool east, bool south) {
    const PhxPathSearch *search = found->search;
    const PhxPathBoard *rows = &search->ground->rows, *columns = &search->ground->columns;
    const size_t row_stride = rows->stride, column_stride = columns->stride;
    const uint32_t x = (uint32_t)block->x + PHX_PATH_RIM - (east ? 0 : REACH),
                   y = (uint32_t)block->y + PHX_PATH_RIM - (south ? 0 : REACH);
    const uint64_t *row = phx_path_line(rows, block->y), *column = phx_path_line(columns, block->x);
    const int64_t goal_x = east ? search->goal_x - block->x : block->x - search->goal_x,
                  goal_y = south ? search->goal_y - block->y : block->y - search->goal_y;
    Band a = {0, 0, phx_path_window(row, x)}, b = {0, 0, phx_path_window(column, y)};
    row = south ? row + row_stride : row - row_stride;
    column = east ? column + column_stride : column - column_stride;
    a = (Band){0, a.behind, phx_path_window(row, x)};
    b = (Band){0, b.behind, phx_path_window(column, y)};
    for (uint32_t k = 1; k < REACH; k++) {
        /* the cell, and those on both sides of the step to it */
        if ((a.behind & (bit_of(k, east) | bit_of(k - 1, east))) | (a.at & bit_of(k, east))) return false;
        if (goal_x == k && goal_y == k) {
            note(found, search->goal_x, search->goal_y, block->g + PHX_PATH_DIAGONAL * k, 0, k);
            return false;
        }
        row = south ? row + row_stride : row - row_stride;
        column = east ? column + column_stride : column - column_stride;
        a = (Band){a.at, a.behind, phx_path_window(row, x)};
        b = (Band){b.at, b.behind, phx_path_window(column, y)};
        if (PHX_UNLIKELY(found->count > TARGETS - 4)) reach_all(found);
        turn_into_row(found, block, k, &a, goal_x, east, south);
        turn_into_column(found, block, k, &b, goal_y, east, south);
    }
    return true;
}

INLINE void go_diagonally(Found *found, From from, bool east, bool south) {
    const int32_t step = REACH - 1;
    for (From block = from; go_block(found, &block, east, south);) {
        block.x += east ? step : -step;
        block.y += south ? step : -step;
        block.g += PHX_PATH_DIAGONAL * (REACH - 1);
    }
}

/* ---- nodes */

/* Bits of directions, turned to the right (clockwise, as codes rise) or to the left. */
static inline uint32_t turn_right(uint32_t set, unsigned n) { return (set << n | set >> (8 - n)) & 255u; }
static inline uint32_t turn_left(uint32_t set, unsigned n) { return (set >> n | set << (8 - n)) & 255u; }

/* The directions of the cells around one that are open. */
static uint32_t open_around(const PhxPathGround *ground, int32_t x, int32_t y) {
    const uint32_t at = (uint32_t)(x + PHX_PATH_RIM) - 1;
    const uint64_t *line = phx_path_line(&ground->rows, y);
    const uint32_t up = (uint32_t)phx_path_window(line - ground->rows.stride, at),
                   level = (uint32_t)phx_path_window(line, at),
                   down = (uint32_t)phx_path_window(line + ground->rows.stride, at);
    return ~((level >> 2 & 1) | (down >> 2 & 1) << 1 | (down >> 1 & 1) << 2 | (down & 1) << 3 |
             (level & 1) << 4 | (up & 1) << 5 | (up >> 1 & 1) << 6 | (up >> 2 & 1) << 7) &
           255u;
}

/* The directions in which a best path may go on that arrived straight in `arrived`: on, and where a wall
 * beside it has just ended, that way and diagonally past it. */
static uint32_t successors(uint32_t arrived, uint32_t open) {
    const uint32_t left = arrived & ~turn_right(open, 3) & turn_right(open, 2);
    const uint32_t right = arrived & ~turn_left(open, 3) & turn_left(open, 2);
    return (arrived | turn_left(left, 1) | turn_left(left, 2) | turn_right(right, 1) | turn_right(right, 2)) &
           open;
}

void phx_jump_expand(PhxPathSearch *search, uint32_t index) {
    PhxAstarNode *node = &search->node[index];
    const From from = {index, phx_astar_x(node->pos), phx_astar_y(node->pos),
                       node->g};
    const uint32_t open = open_around(search->ground, from.x, from.y);
    const uint32_t wanted = node->parent == index ? open : successors(node->arrived, open);
    const uint32_t ways = wanted & ~(uint32_t)node->explored;
    node->explored |= (uint8_t)ways;
    Found found = {.search = search, .index = index};
    if (ways & 1) go_along_row(&found, from, true);
    if (ways & 4) go_along_column(&found, from, true);
    if (ways & 16) go_along_row(&found, from, false);
    if (ways & 64) go_along_column(&found, from, false);
    if (ways & 2) go_diagonally(&found, from, true, true);
    if (ways & 8) go_diagonally(&found, from, false, true);
    if (ways & 32) go_diagonally(&found, from, false, false);
    if (ways & 128) go_diagonally(&found, from, true, false);
    reach_all(&found);
}
